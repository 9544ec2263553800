/* tests/studies/test_revisit_verdict.c - the hypothesis tests of `study revisit`
 *
 * The paper's own numbers give the paper's p-values (CSM E.2 and TV-E2); verdicts of
 * samples worked by hand. `--print` writes all published numbers for revisit_spec.py, which has
 * the specification's.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"

#include "revisit/revisit_verdict.h"

#include <internal/assess.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static void print_all(void)
{
    for (int m = 0; m < RV_METRICS; m++)
        printf("II|p|%s|%.17g\n", rv_metrics[m].title, rv_metrics[m].p);
    for (int r = 0; r < RV_ROWS; r++) {
        printf("I|%s|layers|%ld\n", rv_rows[r].title, rv_rows[r].layers);
        printf("I|%s|parameters|%ld\n", rv_rows[r].title, rv_rows[r].parameters);
        printf("I|%s|accuracy_pct|%.17g\n", rv_rows[r].title, rv_rows[r].accuracy);
        for (int s = 0; s < RV_SETS; s++)
            printf("MR|%s|%s|%.17g\n", rv_rows[r].title, rv_set_titles[s], rv_rows[r].rates[s]);
    }
    for (int m = 0; m < RV_DEFENDED; m++)
        for (int d = 0; d < RV_SETS; d++)
            for (int s = 0; s < RV_SETS; s++)
                printf("AT|%s, %s|%s|%.17g\n", rv_defences[m].title,
                       d == RV_BENIGN ? "none" : rv_set_titles[d], rv_set_titles[s],
                       rv_defences[m].accuracy[d][s]);
}

static rv_test test_of(const double *a, size_t n1, const double *b, size_t n2,
                       px_alternative alternative)
{
    rv_test test;
    px_error err = {0};
    rv_sample first = {0}, second = {0};
    for (size_t i = 0; i < n1; i++)
        rv_sample_add(&first, a[i]);
    for (size_t i = 0; i < n2; i++)
        rv_sample_add(&second, b[i]);
    assert_int_equal(rv_test_of(&first, &second, alternative, &test, &err), PX_OK);
    rv_sample_done(&first);
    rv_sample_done(&second);
    return test;
}

static bool near(double x, double y, double relative)
{
    return fabs(x - y) <= relative * fabs(y);
}

/* --- the paper's ------------------------------------------------------------------------------ */

/* 11 and 11 states, one common to both (M_0), that have this U. */
static void states_with(double u, double a[RV_STATES], double b[RV_STATES])
{
    double left = u - 5.5; /* the common state is above five of b and equal to one */
    for (int i = 0; i < RV_STATES; i++)
        b[i] = i;
    a[0] = b[5];
    for (int i = 1; i < RV_STATES; i++) {
        const double above = floor(left / (RV_STATES - i));
        a[i] = above - 0.5 + 0.01 * i;
        left -= above;
    }
}

static void test_table2(void **state)
{
    (void)state;
    for (int m = 0; m < RV_METRICS; m++) {
        for (int mirror = 0; mirror < 2; mirror++) {
            double a[RV_STATES], b[RV_STATES];
            states_with(rv_metrics[m].u, a, b);
            const rv_test t = mirror ? test_of(b, RV_STATES, a, RV_STATES, PX_GREATER)
                                     : test_of(a, RV_STATES, b, RV_STATES, PX_GREATER);
            if (t.u != (mirror ? 121.0 - rv_metrics[m].u : rv_metrics[m].u) ||
                fabs(t.legacy - rv_metrics[m].p) > 0.00051)
                fail_msg("%s: U %g, p %.5f, the paper has %.3f", rv_metrics[m].title, t.u, t.legacy,
                         rv_metrics[m].p);
            if (t.verdict != RV_REJECTED)
                fail_msg("%s is %s", rv_metrics[m].title, rv_verdict_name(t.verdict));
        }
    }
}

static const struct {
    int h;
    size_t n1, n2;
    double u, p, relative;
    enum { STATED, OPPOSITE, LEGACY } which; /* p it is */
    rv_verdict verdict;
} published[] = {
    {2, 26, 39, 1000.5, 2.023399613826e-11, 1e-9, STATED, RV_CONFIRMED},
    {3, 13, 13, 92, 0.35980713557990285, 1e-9, LEGACY, RV_REJECTED},
    {4, 25, 25, 165, 0.0021242792, 3e-8, OPPOSITE, RV_OPPOSITE}, /* TV-E2 */
    {5, 24, 24, 222, 0.08833746974920054, 1e-9, STATED, RV_REJECTED},
    {6, 8, 8, 31, 0.5607614607614606, 1e-9, STATED, RV_REJECTED},
};

static void test_published(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof published / sizeof *published; i++) {
        rv_test t;
        px_error err = {0};
        assert_int_equal(rv_paper_test(published[i].h, &t, &err), PX_OK);
        const double p[] = {t.p, t.opposite, t.legacy};
        if (t.n1 != published[i].n1 || t.n2 != published[i].n2 || t.u != published[i].u ||
            !near(p[published[i].which], published[i].p, published[i].relative) ||
            t.verdict != published[i].verdict)
            fail_msg("H%d: %zu and %zu, U %.1f, p %.10g, %s", published[i].h, t.n1, t.n2, t.u,
                     p[published[i].which], rv_verdict_name(t.verdict));
        if (!near(t.effect, t.u / (double)(t.n1 * t.n2), 1e-12))
            fail_msg("H%d: A12 %g", published[i].h, t.effect);
    }
}

/* --- verdicts --------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    size_t n1, n2;
    double a[8], b[8];
    px_alternative alternative;
    double p, smallest;
    rv_verdict verdict;
} cases[] = {
    {"above", 4, 4, {5, 6, 7, 8}, {1, 2, 3, 4}, PX_GREATER, 1.0 / 70, 1.0 / 70, RV_CONFIRMED},
    {"below", 4, 4, {1, 2, 3, 4}, {5, 6, 7, 8}, PX_LESS, 1.0 / 70, 1.0 / 70, RV_CONFIRMED},
    {"the other way", 4, 4, {5, 6, 7, 8}, {1, 2, 3, 4}, PX_LESS, 1, 1.0 / 70, RV_OPPOSITE},
    {"in between",
     4,
     4,
     {1, 4, 6, 7},
     {2, 3, 5, 8},
     PX_GREATER,
     0.5571428571,
     1.0 / 70,
     RV_REJECTED},
    {"three and three just do not",
     3,
     3,
     {4, 5, 6},
     {1, 2, 3},
     PX_GREATER,
     0.05,
     0.05,
     RV_INCONCLUSIVE},
    {"one and six do not",
     1,
     6,
     {9},
     {1, 2, 3, 4, 5, 6},
     PX_GREATER,
     1.0 / 7,
     1.0 / 7,
     RV_INCONCLUSIVE},
    {"NaN is no value",
     5,
     4,
     {5, NAN, 6, 7, 8},
     {1, 2, 3, 4},
     PX_GREATER,
     1.0 / 70,
     1.0 / 70,
     RV_CONFIRMED},
    {"nothing", 0, 4, {0}, {1, 2, 3, 4}, PX_GREATER, NAN, NAN, RV_NOT_RUN},
    {"all the same", 4, 4, {1, 1, 1, 1}, {1, 1, 1, 1}, PX_GREATER, 1, 1.0 / 70, RV_REJECTED},
};

static void test_verdicts(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const rv_test t =
            test_of(cases[i].a, cases[i].n1, cases[i].b, cases[i].n2, cases[i].alternative);
        const bool same = isnan(cases[i].p) ? isnan(t.p)
                                            : near(t.p, cases[i].p, 1e-9) &&
                                                  near(t.smallest, cases[i].smallest, 1e-9);
        if (!same || t.verdict != cases[i].verdict)
            fail_msg("case '%s': p %.10g, smallest %.10g, %s", cases[i].name, t.p, t.smallest,
                     rv_verdict_name(t.verdict));
    }
}

static const struct {
    const char *name;
    size_t count;
    double p[6];
    size_t rejected;
} holm[] = {
    {"none", 0, {0}, 0},
    {"one", 1, {0.049}, 1},
    {"two, one too many", 2, {0.04, 0.026}, 0},
    {"the second is compared with less", 3, {0.2, 0.016, 0.02}, 2},
    {"all", 4, {0.04, 0.012, 0.016, 0.024}, 4},
    {"a small one behind a large one does not count", 3, {0.017, 0.018, 0.019}, 0},
};

static void test_holm(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof holm / sizeof *holm; i++) {
        double p[6];
        memcpy(p, holm[i].p, sizeof p);
        const size_t got = rv_holm(p, holm[i].count);
        if (got != holm[i].rejected)
            fail_msg("case '%s': %zu", holm[i].name, got);
    }
}

static void test_families(void **state)
{
    static const rv_test yes = {.verdict = RV_CONFIRMED, .p = 0.001, .opposite = 0.999},
                         weak = {.verdict = RV_CONFIRMED, .p = 0.04, .opposite = 0.96},
                         no = {.verdict = RV_REJECTED, .p = 0.5, .opposite = 0.5},
                         back = {.verdict = RV_OPPOSITE, .p = 0.999, .opposite = 0.001},
                         silent = {.verdict = RV_INCONCLUSIVE, .p = 0.2, .opposite = 0.8},
                         none = {.verdict = RV_NOT_RUN, .p = NAN, .opposite = NAN};
    const struct {
        const char *name;
        rv_test tests[4];
        size_t count, told, significant, holm;
        rv_verdict verdict;
    } families[] = {
        {"no tests", {none, none}, 2, 0, 0, 0, RV_NOT_RUN},
        {"none at all", {none}, 0, 0, 0, 0, RV_NOT_RUN},
        {"silent", {silent, none}, 2, 0, 0, 0, RV_INCONCLUSIVE},
        {"one of three", {yes, no, silent, no}, 4, 3, 1, 1, RV_MIXED},
        {"two of three", {yes, no, yes}, 3, 3, 2, 2, RV_CONFIRMED},
        {"by chance", {weak, no, no, no}, 4, 4, 1, 0, RV_REJECTED},
        {"opposite", {back, back, weak}, 3, 3, 1, 0, RV_OPPOSITE},
        {"half is not most", {yes, no}, 2, 2, 1, 1, RV_MIXED},
        {"both", {back, yes, no}, 3, 3, 1, 1, RV_MIXED},
    };
    (void)state;
    for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
        rv_family f;
        px_error err = {0};
        assert_int_equal(rv_family_of(families[i].tests, families[i].count, &f, &err), PX_OK);
        if (f.tests != families[i].told || f.significant != families[i].significant ||
            f.holm != families[i].holm || f.verdict != families[i].verdict)
            fail_msg("family '%s': %zu tests, %zu significant, %zu after Holm, %s",
                     families[i].name, f.tests, f.significant, f.holm, rv_verdict_name(f.verdict));
    }
}

/* Defences that were not run leave their "before" out too. */
static void partial_add(const void *context, size_t network, size_t defence, size_t set,
                        rv_sample *out)
{
    (void)context;
    (void)set;
    if (defence == RV_BENIGN || defence == RV_PGD)
        rv_sample_add(out, 10.0 * (double)network + (double)defence);
}

static void test_partial(void **state)
{
    const rv_source source = {.add = partial_add, .networks = 3};
    const size_t wanted[][2] = {{3, 3}, {9, 9}};
    (void)state;
    for (int i = 0; i < 2; i++) {
        rv_test t;
        px_error err = {0};
        assert_int_equal(rv_hypothesis_test(&source, 4 + i, false, &t, &err), PX_OK);
        if (t.n1 != wanted[i][0] || t.n2 != wanted[i][1])
            fail_msg("H%d: %zu and %zu", 4 + i, t.n1, t.n2);
    }
}

/* Every metric of Table II has a direction. */
static void test_metrics(void **state)
{
    (void)state;
    for (int m = 0; m < RV_METRICS; m++)
        if (!px_metric_find(rv_metrics[m].id))
            fail_msg("there is no metric '%s'", rv_metrics[m].id);
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "--print") == 0) {
        print_all();
        return 0;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table2),   cmocka_unit_test(test_published),
        cmocka_unit_test(test_verdicts), cmocka_unit_test(test_holm),
        cmocka_unit_test(test_families), cmocka_unit_test(test_partial),
        cmocka_unit_test(test_metrics),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
