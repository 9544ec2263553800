/* tests/stats/stats_cases.c - statistics of cases on stdin, for compare_scipy.py
 *
 * A case is one line: NAME ALTERNATIVE NORMAL N1 N2, then N1 + N2 numbers. The answer is one line
 * of numbers.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include <internal/stats.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 4096 };

typedef struct stat_case {
    px_alternative alternative;
    bool normal;
    size_t n1, n2;
    double a[MOST], b[MOST];
} stat_case;

static void say(double x)
{
    printf("%.17g ", x);
}

static void correlation(px_correlation c)
{
    say(c.r);
    say(c.p);
}

static void case_pearson(const stat_case *c)
{
    correlation(px_pearson(c->a, c->b, c->n1));
}

static void case_spearman(const stat_case *c)
{
    px_correlation r;
    if (px_spearman(c->a, c->b, c->n1, &r, NULL) == PX_OK)
        correlation(r);
}

static void case_pointbiserial(const stat_case *c)
{
    static bool flags[MOST];
    for (size_t i = 0; i < c->n1; i++)
        flags[i] = c->a[i] > 0.5;
    correlation(px_point_biserial(flags, c->b, c->n1));
}

static void case_mannwhitneyu(const stat_case *c)
{
    px_mann_whitney_result r;
    if (px_mann_whitney(c->a, c->n1, c->b, c->n2, c->alternative,
                        c->normal ? PX_U_NORMAL : PX_U_AUTO, &r, NULL) != PX_OK)
        return;
    say(r.u);
    say(r.p);
}

static void case_wilcoxon(const stat_case *c)
{
    px_wilcoxon_result r;
    if (px_wilcoxon(c->a, c->b, c->n1, c->alternative, c->normal, &r, NULL) != PX_OK)
        return;
    say(c->alternative == PX_TWO_SIDED ? fmin(r.plus, r.minus) : r.plus);
    say(r.p);
}

static void case_a12(const stat_case *c)
{
    px_mann_whitney_result r;
    if (px_mann_whitney(c->a, c->n1, c->b, c->n2, PX_TWO_SIDED, PX_U_NORMAL, &r, NULL) == PX_OK)
        say(r.effect);
}

static void case_mcnemar(const stat_case *c)
{
    const px_mcnemar_result r = px_mcnemar((int64_t)c->a[0], (int64_t)c->a[1]);
    say(r.chi2_p);
    say(r.exact_p);
}

static void case_weibull(const stat_case *c)
{
    px_weibull fit;
    if (px_weibull_fit(c->a, c->n1, &fit, NULL) != PX_OK)
        return;
    say(fit.shape);
    say(fit.scale);
    say(fit.log_likelihood);
}

/* The end of the tail, and how good it is: likelihood, distance, p. */
static void case_reverse(const stat_case *c)
{
    px_reverse_weibull fit;
    if (px_reverse_weibull_fit(c->a, c->n1, false, &fit, NULL) != PX_OK)
        return;
    say(fit.note);
    say(fit.end);
    say(fit.shape);
    say(fit.scale);
    say(fit.log_likelihood);
    say(fit.ks);
    say(fit.ks_p);
}

static void case_kolmogorov(const stat_case *c)
{
    double p;
    if (px_kolmogorov_survival(c->a[0], (size_t)c->a[1], &p, NULL) == PX_OK)
        say(p);
}

static void case_quantile(const stat_case *c)
{
    static double sorted[MOST];
    memcpy(sorted, c->a, c->n1 * sizeof *sorted);
    say(px_quantile(sorted, c->n1, c->b[0]));
}

static const struct {
    const char *name;
    void (*run)(const stat_case *c);
} kinds[] = {
    {"pearson", case_pearson},
    {"spearman", case_spearman},
    {"pointbiserial", case_pointbiserial},
    {"mannwhitneyu", case_mannwhitneyu},
    {"wilcoxon", case_wilcoxon},
    {"a12", case_a12},
    {"mcnemar", case_mcnemar},
    {"weibull", case_weibull},
    {"reverse", case_reverse},
    {"kolmogorov", case_kolmogorov},
    {"quantile", case_quantile},
};

static bool read_values(double *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (scanf("%lf", &values[i]) != 1)
            return false;
    return true;
}

int main(void)
{
    static stat_case c;
    char name[32];
    int alternative, normal;
    while (scanf("%31s %d %d %zu %zu", name, &alternative, &normal, &c.n1, &c.n2) == 5) {
        c.alternative = (px_alternative)alternative;
        c.normal = normal != 0;
        if (c.n1 > MOST || c.n2 > MOST || !read_values(c.a, c.n1) || !read_values(c.b, c.n2))
            return EXIT_FAILURE;
        for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
            if (strcmp(kinds[i].name, name) == 0)
                kinds[i].run(&c);
        puts("");
    }
    return EXIT_SUCCESS;
}
