/* studies/revisit/revisit_verdict.c - Mann-Whitney tests of the paper's hypotheses, and what they
 * say
 *
 * CSM D.8 and E.2. A hypothesis is one-sided, as it is stated; p is exact where it can be. Two
 * samples of which even the most extreme order has no p below 0.05 say nothing, whatever their
 * values: "inconclusive".
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "revisit/revisit_verdict.h"

#include "base/memory.h"

#include <internal/stats.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double LEVEL = 0.05;

/* --- samples ---------------------------------------------------------------------------------- */

void rv_sample_add(rv_sample *sample, double value)
{
    if (isnan(value) || sample->failed)
        return;
    if (pxi_grow(&sample->values, &sample->room, sample->count + 1, sizeof *sample->values) != 0)
        sample->failed = true;
    else
        sample->values[sample->count++] = value;
}

void rv_sample_done(rv_sample *sample)
{
    free(sample->values);
    *sample = (rv_sample){0};
}

/* --- one test --------------------------------------------------------------------------------- */

const char *rv_verdict_name(rv_verdict verdict)
{
    static const char *const names[] = {"not run",  "confirmed", "rejected",
                                        "opposite", "mixed",     "inconclusive"};
    return names[verdict];
}

px_status rv_test_of(const rv_sample *a, const rv_sample *b, px_alternative alternative,
                     rv_test *out, px_error *err)
{
    px_mann_whitney_result stated, other, legacy;
    const px_alternative opposite = alternative == PX_LESS ? PX_GREATER : PX_LESS;
    if (a->failed || b->failed)
        return pxi_no_memory(err);
    PX_TRY(px_mann_whitney(a->values, a->count, b->values, b->count, alternative, PX_U_AUTO,
                           &stated, err));
    PX_TRY(px_mann_whitney(a->values, a->count, b->values, b->count, opposite, PX_U_AUTO, &other,
                           err));
    PX_TRY(px_mann_whitney(a->values, a->count, b->values, b->count, alternative, PX_U_LEGACY,
                           &legacy, err));
    *out = (rv_test){.n1 = a->count,
                     .n2 = b->count,
                     .u = stated.u,
                     .effect = stated.effect,
                     .p = stated.p,
                     .opposite = other.p,
                     .legacy = legacy.p,
                     .smallest = stated.smallest_p};
    out->verdict = isnan(stated.p)                ? RV_NOT_RUN
                   : !(stated.smallest_p < LEVEL) ? RV_INCONCLUSIVE
                   : stated.p < LEVEL             ? RV_CONFIRMED
                   : other.p < LEVEL              ? RV_OPPOSITE
                                                  : RV_REJECTED;
    return PX_OK;
}

/* --- families --------------------------------------------------------------------------------- */

static int holm_order(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

size_t rv_holm(double *p, size_t count)
{
    size_t rejected = 0;
    if (count > 0)
        qsort(p, count, sizeof *p, holm_order);
    while (rejected < count && p[rejected] * (double)(count - rejected) < LEVEL)
        rejected++;
    return rejected;
}

px_status rv_family_of(const rv_test *tests, size_t count, rv_family *out, px_error *err)
{
    rv_family f = {.smallest = 0.0};
    size_t silent = 0;
    double *p = pxi_calloc(count + 1, 2 * sizeof *p);
    if (!p)
        return pxi_no_memory(err);
    double *other = p + count;
    for (size_t i = 0; i < count; i++) {
        silent += tests[i].verdict == RV_INCONCLUSIVE;
        if (tests[i].verdict == RV_NOT_RUN || tests[i].verdict == RV_INCONCLUSIVE)
            continue;
        f.significant += tests[i].verdict == RV_CONFIRMED;
        f.opposite += tests[i].verdict == RV_OPPOSITE;
        f.smallest = fmax(f.smallest, tests[i].smallest);
        p[f.tests] = tests[i].p;
        other[f.tests++] = tests[i].opposite;
    }
    f.holm = rv_holm(p, f.tests);
    f.holm_opposite = rv_holm(other, f.tests);
    f.verdict = f.tests == 0                          ? silent > 0 ? RV_INCONCLUSIVE : RV_NOT_RUN
                : f.holm == 0 && f.holm_opposite == 0 ? RV_REJECTED
                : 2 * f.holm > f.tests                ? RV_CONFIRMED
                : 2 * f.holm_opposite > f.tests       ? RV_OPPOSITE
                                                      : RV_MIXED;
    free(p);
    *out = f;
    return PX_OK;
}

/* --- H2 to H6 --------------------------------------------------------------------------------- */

/* Values after retraining, and as many before it. */
static void samples_of_defence(const rv_source *from, size_t network, size_t defence, size_t set,
                               bool before, rv_sample *a, rv_sample *b)
{
    const size_t had = a->count;
    from->add(from->context, network, defence, set, a);
    if (a->count > had && before)
        from->add(from->context, network, RV_BENIGN, set, b);
}

static void samples_of_network(const rv_source *from, size_t n, int h, bool once, rv_sample *a,
                               rv_sample *b)
{
    switch (h) {
    case 2:
        for (size_t set = RV_DHD; set <= RV_PGD; set++)
            from->add(from->context, n, RV_BENIGN, set, set >= RV_FGSM ? a : b);
        break;
    case 3:
        from->add(from->context, n, RV_BENIGN, RV_DHD, a);
        from->add(from->context, n, RV_BENIGN, RV_DHN, b);
        break;
    case 4:
        for (size_t d = RV_DHD; d <= RV_PGD; d++)
            samples_of_defence(from, n, d, RV_BENIGN, !once || d == RV_DHD, a, b);
        break;
    case 5:
        for (size_t d = RV_FGSM; d <= RV_PGD; d++)
            for (size_t set = RV_DHD; set <= RV_DH; set++)
                samples_of_defence(from, n, d, set, !once || d == RV_FGSM, a, b);
        break;
    default:
        for (size_t d = RV_FGSM; d <= RV_PGD; d++) {
            from->add(from->context, n, d, RV_DHD, a);
            from->add(from->context, n, d, RV_DHN, b);
        }
    }
}

px_status rv_hypothesis_test(const rv_source *source, int h, bool once, rv_test *out, px_error *err)
{
    rv_sample a = {0}, b = {0};
    for (size_t n = 0; n < source->networks; n++)
        samples_of_network(source, n, h, once, &a, &b);
    const px_status status = rv_test_of(&a, &b, h == 5 ? PX_LESS : PX_GREATER, out, err);
    rv_sample_done(&a);
    rv_sample_done(&b);
    return status;
}

/* --- the paper's own numbers ------------------------------------------------------------------ */

static void paper_rate(const void *context, size_t network, size_t defence, size_t set,
                       rv_sample *out)
{
    (void)context;
    (void)defence;
    rv_sample_add(out, rv_rows[network].rates[set]);
}

static void paper_accuracy(const void *context, size_t network, size_t defence, size_t set,
                           rv_sample *out)
{
    (void)context;
    rv_sample_add(out, rv_defences[network].accuracy[defence][set]);
}

px_status rv_paper_test(int h, rv_test *out, px_error *err)
{
    const rv_source rates = {.add = paper_rate, .networks = RV_ROWS};
    const rv_source accuracies = {.add = paper_accuracy, .networks = RV_DEFENDED};
    if (h == 4) {
        double defended[RV_H4_COUNT], original[RV_H4_COUNT];
        rv_paper_h4(defended, original);
        return rv_test_of(&(rv_sample){.values = defended, .count = RV_H4_COUNT},
                          &(rv_sample){.values = original, .count = RV_H4_COUNT}, PX_GREATER, out,
                          err);
    }
    return rv_hypothesis_test(h <= 3 ? &rates : &accuracies, h, /* once= */ false, out, err);
}
