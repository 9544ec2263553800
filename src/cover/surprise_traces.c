/* src/cover/surprise_traces.c - training traces by class, and the neurons of them that take part */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/ascending.h"
#include "base/memory.h"
#include "cover/surprise_method.h"

#include <internal/rng.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

px_status pxi_sa_no_memory(px_error *err)
{
    return pxi_no_memory_for(err, "surprise adequacy; fewer traces "
                                  "(--train-limit) or fewer neurons (--layers) need less");
}

void pxi_sa_read(const float *values, const pxi_sa_columns *columns, const double *centre,
                 double *out)
{
    for (int64_t j = 0; j < columns->count; j++)
        out[j] = (double)values[columns->at ? columns->at[j] : j];
    for (int64_t j = 0; centre && j < columns->count; j++)
        out[j] -= centre[j];
}

void pxi_sa_mean(const pxi_sa_set *set, const int64_t *positions, int64_t first, int64_t n,
                 const pxi_sa_columns *columns, double *mean)
{
    const int64_t d = columns->count;
    memset(mean, 0, (size_t)d * sizeof *mean);
    for (int64_t i = 0; i < n; i++) {
        const float *values = pxi_sa_trace(set, positions ? positions[i] : first + i);
        for (int64_t j = 0; j < d; j++)
            mean[j] += (double)values[columns->at ? columns->at[j] : j];
    }
    for (int64_t j = 0; j < d; j++)
        mean[j] /= (double)n;
}

/* Population variances of positions first .. first + n - 1, all neurons; two passes. */
static void set_variance(const pxi_sa_set *set, int64_t first, int64_t n, double *mean,
                         double *variance)
{
    const int64_t width = set->traces.width;
    const pxi_sa_columns all = {.count = width};
    pxi_sa_mean(set, NULL, first, n, &all, mean);
    memset(variance, 0, (size_t)width * sizeof *variance);
    for (int64_t i = 0; i < n; i++) {
        const float *values = pxi_sa_trace(set, first + i);
        for (int64_t j = 0; j < width; j++)
            variance[j] += ((double)values[j] - mean[j]) * ((double)values[j] - mean[j]);
    }
    for (int64_t j = 0; j < width; j++)
        variance[j] /= (double)n;
}

typedef struct ranked {
    double variance;
    int64_t column;
} ranked;

static int ranked_compare(const void *a, const void *b)
{
    const ranked *x = a, *y = b;
    if (x->variance != y->variance)
        return x->variance > y->variance ? -1 : 1;
    return x->column < y->column ? -1 : x->column > y->column;
}

/* The `most` columns of highest variance, ascending; ties to the lower index. */
static void columns_top(const double *variance, int64_t width, int64_t most, ranked *scratch,
                        int64_t *out)
{
    for (int64_t j = 0; j < width; j++)
        scratch[j] = (ranked){variance[j], j};
    qsort(scratch, (size_t)width, sizeof *scratch, ranked_compare);
    for (int64_t j = 0; j < most; j++)
        out[j] = scratch[j].column;
    qsort(out, (size_t)most, sizeof *out, pxi_order_int64);
}

static px_status set_filter_top(pxi_sa_set *set, int64_t most, double *mean, double *variance,
                                px_error *err)
{
    const int64_t width = set->traces.width;
    most = PX_MIN(most, width);
    ranked *scratch = pxi_calloc((size_t)width, sizeof *scratch);
    size_t elements;
    set->memory = __builtin_mul_overflow((size_t)set->classes, (size_t)most, &elements)
                      ? NULL
                      : pxi_calloc(elements, sizeof *set->memory);
    if (!scratch || !set->memory) {
        free(scratch);
        return pxi_sa_no_memory(err);
    }
    for (int c = 0; c < set->classes; c++) {
        int64_t *at = set->memory + c * most;
        const int64_t n = set->start[c + 1] - set->start[c];
        set->columns[c] = (pxi_sa_columns){.count = most, .at = at};
        if (n > 0) {
            set_variance(set, set->start[c], n, mean, variance);
            columns_top(variance, width, most, scratch, at);
        }
    }
    free(scratch);
    return PX_OK;
}

/* A class with a single trace has no variance, and no say. */
static px_status set_filter_common(pxi_sa_set *set, const px_surprise_options *options,
                                   double *mean, double *variance, px_error *err)
{
    const int64_t width = set->traces.width;
    bool *out = pxi_calloc((size_t)width, sizeof *out);
    set->memory = pxi_calloc((size_t)width, sizeof *set->memory);
    if (!out || !set->memory) {
        free(out);
        return pxi_sa_no_memory(err);
    }
    const bool global = options->filter == PX_FILTER_GLOBAL;
    for (int c = 0; c < (global ? 1 : set->classes); c++) {
        const int64_t first = global ? 0 : set->start[c];
        const int64_t n = (global ? set->count : set->start[c + 1]) - first;
        if (n < 2)
            continue;
        set_variance(set, first, n, mean, variance);
        for (int64_t j = 0; j < width; j++)
            out[j] |= variance[j] < options->variance;
    }
    int64_t kept = 0;
    for (int64_t j = 0; j < width; j++)
        if (!out[j])
            set->memory[kept++] = j;
    for (int c = 0; c < set->classes; c++)
        set->columns[c] = (pxi_sa_columns){.count = kept, .at = kept == width ? NULL : set->memory};
    free(out);
    return PX_OK;
}

static px_status set_filter(pxi_sa_set *set, const px_surprise_options *options, px_error *err)
{
    set->columns = pxi_calloc((size_t)set->classes, sizeof *set->columns);
    if (!set->columns)
        return pxi_sa_no_memory(err);
    for (int c = 0; c < set->classes; c++)
        set->columns[c].count = set->traces.width;
    if (options->filter == PX_FILTER_NONE)
        return PX_OK;
    double *mean = pxi_calloc((size_t)set->traces.width, sizeof *mean);
    double *variance = pxi_calloc((size_t)set->traces.width, sizeof *variance);
    px_status status;
    if (!mean || !variance)
        status = pxi_sa_no_memory(err);
    else if (options->filter == PX_FILTER_TOP)
        status = set_filter_top(set, options->columns, mean, variance, err);
    else
        status = set_filter_common(set, options, mean, variance, err);
    free(mean);
    free(variance);
    return status;
}

static bool row_finite(const float *values, int64_t width)
{
    for (int64_t j = 0; j < width; j++)
        if (!isfinite(values[j]))
            return false;
    return true;
}

/* keep[i]: trace i is drawn. */
static px_status set_sample(const px_surprise_options *options, int64_t count, bool *keep,
                            px_error *err)
{
    if (options->sample >= 1.0) {
        memset(keep, true, (size_t)count);
        return PX_OK;
    }
    int64_t *order = pxi_calloc((size_t)count, sizeof *order);
    if (!order)
        return pxi_sa_no_memory(err);
    const double wanted = ceil(options->sample * (double)count - 1e-9);
    const int64_t drawn = wanted < 1.0 ? 1 : (int64_t)wanted;
    px_random random = px_rng(options->seed, PX_RNG_SAMPLE, /* item= */ 0, /* iteration= */ 0);
    px_rng_permutation(&random, order, (uint32_t)count);
    memset(keep, false, (size_t)count);
    for (int64_t i = 0; i < drawn; i++)
        keep[order[i]] = true;
    free(order);
    return PX_OK;
}

/* class_of[i]: of trace i, or -1. Counts what is left out. */
static void set_classes(pxi_sa_set *set, const int64_t *class_of_trace, const bool *keep,
                        int *class_of)
{
    for (int64_t i = 0; i < set->traces.count; i++) {
        class_of[i] = -1;
        if (!keep[i])
            continue;
        const int64_t c = set->whole ? 0 : class_of_trace ? class_of_trace[i] : -1;
        if (c < 0 || c >= set->classes)
            set->no_class++;
        else if (!row_finite(set->traces.values + i * set->traces.width, set->traces.width))
            set->not_finite++;
        else {
            class_of[i] = (int)c;
            set->start[c + 1]++;
        }
    }
}

px_status pxi_sa_set_init(pxi_sa_set *set, const px_traces *traces, int classes, bool whole,
                          const px_surprise_options *options, px_error *err)
{
    const int64_t n = traces->count;
    px_status status;
    *set = (pxi_sa_set){.traces = *traces, .classes = classes, .whole = whole};
    int *class_of = pxi_calloc((size_t)n, sizeof *class_of);
    bool *keep = pxi_calloc((size_t)n, sizeof *keep);
    set->row = pxi_calloc((size_t)n, sizeof *set->row);
    set->start = pxi_calloc((size_t)classes + 1, sizeof *set->start);
    if (!class_of || !keep || !set->row || !set->start) {
        status = pxi_sa_no_memory(err);
        goto done;
    }
    status = set_sample(options, n, keep, err);
    if (status != PX_OK)
        goto done;
    set_classes(set, options->by == PX_SURPRISE_LABEL ? traces->labels : traces->predictions, keep,
                class_of);
    for (int c = 0; c < classes; c++)
        set->start[c + 1] += set->start[c];
    set->count = set->start[classes];
    if (set->count == 0) {
        status = px_fail(err, PX_E_INPUT,
                         "none of the %lld traces can be used: %lld have no %s, %lld have values "
                         "that are not numbers",
                         (long long)n, (long long)set->no_class,
                         options->by == PX_SURPRISE_LABEL ? "label" : "predicted class",
                         (long long)set->not_finite);
        goto done;
    }
    for (int64_t i = 0; i < n; i++) /* start[c] is where the next one goes, for now */
        if (class_of[i] >= 0)
            set->row[set->start[class_of[i]]++] = i;
    for (int c = classes; c > 0; c--)
        set->start[c] = set->start[c - 1];
    set->start[0] = 0;
    status = set_filter(set, options, err);
done:
    free(class_of);
    free(keep);
    if (status != PX_OK)
        pxi_sa_set_done(set);
    return status;
}

void pxi_sa_set_done(pxi_sa_set *set)
{
    free(set->row);
    free(set->start);
    free(set->memory);
    free(set->columns);
    *set = (pxi_sa_set){0};
}
