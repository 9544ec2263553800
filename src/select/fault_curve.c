/* src/select/fault_curve.c - FDR, RAUC and APFD of an order */
/* SPDX-License-Identifier: Apache-2.0 */
#include <internal/fault_curve.h>

#include "base/memory.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

int64_t px_percent_count(double percent, int64_t count)
{
    if (count <= 0)
        return 0;
    const double wanted = ceil(percent * (double)count / 100.0 - 1e-9); /* 20% of 35 is 7, not 8 */
    return wanted >= (double)count ? count : wanted >= 1.0 ? (int64_t)wanted : 1;
}

typedef struct fault_type {
    int64_t label;
    int32_t predicted;
} fault_type;

static int type_compare(const void *a, const void *b)
{
    const fault_type *x = a, *y = b;
    if (x->label != y->label)
        return x->label < y->label ? -1 : 1;
    return (x->predicted > y->predicted) - (x->predicted < y->predicted);
}

static bool is_fault(const int64_t *labels, const int32_t *predicted, int64_t i)
{
    return labels[i] != predicted[i];
}

void px_fault_curve_done(px_fault_curve *curve)
{
    free(curve->met[PX_FAULTS]);
    free(curve->met[PX_FAULT_TYPES]);
    *curve = (px_fault_curve){0};
}

/* The types among all candidates, sorted, each once. */
static int64_t types_gather(fault_type *types, const int64_t *labels, const int32_t *predicted,
                            int64_t count)
{
    int64_t faults = 0, distinct = 0;
    for (int64_t i = 0; i < count; i++)
        if (is_fault(labels, predicted, i))
            types[faults++] = (fault_type){labels[i], predicted[i]};
    if (faults > 0)
        qsort(types, (size_t)faults, sizeof *types, type_compare);
    for (int64_t i = 0; i < faults; i++)
        if (i == 0 || type_compare(&types[i], &types[distinct - 1]) != 0)
            types[distinct++] = types[i];
    return distinct;
}

px_status px_fault_curve_init(px_fault_curve *curve, const int64_t *order, int64_t ranked,
                              const int64_t *labels, const int32_t *predicted, int64_t count,
                              px_error *err)
{
    px_status status = PX_OK;
    px_fault_curve c = {.count = count, .ranked = ranked};
    fault_type *types = NULL;
    bool *type_met = NULL, *seen = NULL;
    if (ranked < 0 || ranked > count)
        return px_fail(err, PX_E_INPUT,
                       "an order of %" PRId64 " inputs does not fit %" PRId64 " candidates", ranked,
                       count);
    for (int64_t i = 0; i < count; i++) {
        if (labels[i] < 0)
            return px_fail(err, PX_E_INPUT,
                           "input %" PRId64 " has no label: failures are counted against labels",
                           i);
        c.total[PX_FAULTS] += is_fault(labels, predicted, i);
    }
    types = pxi_calloc((size_t)c.total[PX_FAULTS], sizeof *types);
    type_met = pxi_calloc((size_t)c.total[PX_FAULTS], sizeof *type_met);
    seen = pxi_calloc((size_t)count, sizeof *seen);
    for (int unit = 0; unit < 2; unit++)
        c.met[unit] = pxi_calloc((size_t)ranked, sizeof *c.met[unit]);
    if (!types || !type_met || !seen || !c.met[0] || !c.met[1]) {
        status = pxi_no_memory_for(err, "the failures of %" PRId64 " inputs", count);
        goto done;
    }
    c.total[PX_FAULT_TYPES] = types_gather(types, labels, predicted, count);
    int64_t met[2] = {0, 0};
    for (int64_t t = 0; t < ranked; t++) {
        const int64_t i = order[t];
        if (i < 0 || i >= count || seen[i]) {
            status = px_fail(err, PX_E_INPUT,
                             "place %" PRId64 " of the order has input %" PRId64 ", %s", t + 1, i,
                             i < 0 || i >= count ? "which is not there" : "which it had before");
            goto done;
        }
        seen[i] = true;
        if (is_fault(labels, predicted, i)) {
            const fault_type key = {labels[i], predicted[i]};
            const fault_type *type =
                bsearch(&key, types, (size_t)c.total[PX_FAULT_TYPES], sizeof *types, type_compare);
            met[PX_FAULTS]++;
            met[PX_FAULT_TYPES] += !type_met[type - types];
            type_met[type - types] = true;
        }
        for (int unit = 0; unit < 2; unit++)
            c.met[unit][t] = met[unit];
    }
    *curve = c;
    c = (px_fault_curve){0};
done:
    px_fault_curve_done(&c);
    free(types);
    free(type_met);
    free(seen);
    return status;
}

double px_fault_rate(const px_fault_curve *curve)
{
    return curve->count > 0 ? (double)curve->total[PX_FAULTS] / (double)curve->count : NAN;
}

double px_fdr(const px_fault_curve *curve, int64_t t)
{
    if (t < 1 || t > curve->ranked)
        return NAN;
    return (double)curve->met[PX_FAULTS][t - 1] / (double)t;
}

double px_rauc(const px_fault_curve *curve, px_fault_unit unit, int64_t t)
{
    if (t < 1 || t > curve->ranked || curve->total[unit] == 0)
        return NAN;
    double area = 0.0, ideal = 0.0;
    for (int64_t i = 0; i < t; i++) {
        area += (double)curve->met[unit][i];
        ideal += (double)PX_MIN(i + 1, curve->total[unit]);
    }
    return area / ideal;
}

px_apfd_result px_apfd(const px_fault_curve *curve, px_fault_unit unit)
{
    px_apfd_result r = {NAN, NAN, NAN, NAN};
    if (curve->ranked < curve->count || curve->total[unit] == 0)
        return r;
    const double n = (double)curve->count, m = (double)curve->total[unit];
    double places = 0.0;
    for (int64_t t = 0; t < curve->ranked; t++) {
        const int64_t before = t > 0 ? curve->met[unit][t - 1] : 0;
        places += (double)(curve->met[unit][t] - before) * (double)(t + 1);
    }
    r.value = 1.0 - places / (n * m) + 0.5 / n;
    if (unit == PX_FAULTS) {
        r.least = m / (2.0 * n);
        r.most = 1.0 - m / (2.0 * n);
        if (r.most > r.least) /* all faulty: every order is the same */
            r.normalised = (r.value - r.least) / (r.most - r.least);
    }
    return r;
}

void px_accuracy_by_group(const px_fault_curve *curve, int groups, double *accuracy)
{
    const bool whole = curve->ranked == curve->count && curve->count > 0;
    const int64_t *met = curve->met[PX_FAULTS];
    int64_t from = 0;
    for (int g = 0; g < groups; g++) {
        const int64_t to = (int64_t)((__int128)curve->count * (g + 1) / groups);
        accuracy[g] = NAN;
        if (whole && to > from) {
            const int64_t faults = met[to - 1] - (from > 0 ? met[from - 1] : 0);
            accuracy[g] = 1.0 - (double)faults / (double)(to - from);
        }
        from = to;
    }
}
