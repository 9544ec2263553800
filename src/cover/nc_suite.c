/* src/cover/nc_suite.c - neuron coverage with values scaled by what the whole suite reaches */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cover/nc_suite.h"

#include "base/memory.h"
#include "base/vector_math.h"
#include "cover/slots.h"

#include <assert.h>
#include <internal/cover.h>
#include <inttypes.h>
#include <stdlib.h>

static px_status suite_make(pxi_nc_suite *suite, int64_t neurons, int64_t layers, px_error *err)
{
    *suite = (pxi_nc_suite){.neurons = neurons, .layers = layers};
    suite->counts = pxi_calloc((size_t)layers, sizeof *suite->counts);
    suite->low = pxi_calloc((size_t)layers, sizeof *suite->low);
    suite->high = pxi_calloc((size_t)layers, sizeof *suite->high);
    suite->top = pxi_calloc((size_t)neurons, sizeof *suite->top);
    if (!suite->counts || !suite->low || !suite->high || !suite->top) {
        pxi_nc_suite_done(suite);
        return pxi_no_memory(err);
    }
    return PX_OK;
}

px_status pxi_nc_suite_init(pxi_nc_suite *suite, const px_extractor *extractor, double t,
                            px_error *err)
{
    PX_TRY(suite_make(suite, extractor->width, (int64_t)extractor->layer_count, err));
    suite->t = t;
    for (int64_t l = 0; l < suite->layers; l++) {
        suite->counts[l] = extractor->layers[l].count;
        suite->low[l] = INFINITY;
        suite->high[l] = -INFINITY;
    }
    for (int64_t n = 0; n < suite->neurons; n++)
        suite->top[n] = -INFINITY;
    return PX_OK;
}

void pxi_nc_suite_done(pxi_nc_suite *suite)
{
    free(suite->counts);
    free(suite->low);
    free(suite->high);
    free(suite->top);
    *suite = (pxi_nc_suite){0};
}

/* Least and largest of x[0..count), starting from what *low and *high are. */
PXI_WIDE static void suite_range(const float *x, int64_t count, float *low, float *high)
{
    float least = *low, most = *high;
    for (int64_t n = 0; n < count; n++) {
        least = x[n] < least ? x[n] : least;
        most = x[n] > most ? x[n] : most;
    }
    *low = least;
    *high = most;
}

PXI_WIDE static void suite_tops(const float *restrict x, int64_t count, float *restrict top)
{
    for (int64_t n = 0; n < count; n++)
        top[n] = x[n] > top[n] ? x[n] : top[n];
}

void pxi_nc_suite_observe(pxi_nc_suite *suite, const px_rows *rows)
{
    for (int64_t i = 0; i < rows->count; i++) {
        if (rows->rejected[i])
            continue;
        const float *x = pxi_row(rows, i);
        suite_tops(x, suite->neurons, suite->top);
        for (int64_t l = 0; l < suite->layers; x += suite->counts[l++])
            suite_range(x, suite->counts[l], &suite->low[l], &suite->high[l]);
    }
}

/* Nothing is above a range that nobody has stretched yet: it is NaN. */
static double suite_cut(const pxi_nc_suite *suite, float low, float high)
{
    return (double)low + suite->t * ((double)high - (double)low);
}

static int64_t suite_above(const float *top, int64_t count, double cut)
{
    int64_t above = 0;
    for (int64_t n = 0; n < count; n++)
        above += (double)top[n] > cut;
    return above;
}

int64_t pxi_nc_suite_gain(const pxi_nc_suite *suite, const px_rows *rows, int64_t i)
{
    const float *x = pxi_row(rows, i), *top = suite->top;
    int64_t gain = 0;
    for (int64_t l = 0; l < suite->layers; l++) {
        float low = suite->low[l], high = suite->high[l];
        const double before = suite_cut(suite, low, high);
        suite_range(x, suite->counts[l], &low, &high);
        const double after = suite_cut(suite, low, high);
        for (int64_t n = 0; n < suite->counts[l]; n++)
            gain += ((double)(x[n] > top[n] ? x[n] : top[n]) > after) - ((double)top[n] > before);
        x += suite->counts[l];
        top += suite->counts[l];
    }
    return gain;
}

px_status pxi_nc_suite_merge(pxi_nc_suite *suite, const pxi_nc_suite *other, px_error *err)
{
    bool same =
        suite->neurons == other->neurons && suite->layers == other->layers && suite->t == other->t;
    for (int64_t l = 0; same && l < suite->layers; l++)
        same = suite->counts[l] == other->counts[l];
    if (!same)
        return px_fail(err, PX_E_MISMATCH, "the two states are of other neurons or thresholds");
    suite_tops(other->top, suite->neurons, suite->top);
    for (int64_t l = 0; l < suite->layers; l++) {
        suite->low[l] = PX_MIN(suite->low[l], other->low[l]);
        suite->high[l] = PX_MAX(suite->high[l], other->high[l]);
    }
    return PX_OK;
}

int64_t pxi_nc_suite_covered(const pxi_nc_suite *suite, int64_t layer)
{
    assert(layer < suite->layers);
    int64_t covered = 0, first = 0;
    for (int64_t l = 0; l < suite->layers; first += suite->counts[l++])
        if (layer < 0 || l == layer)
            covered += suite_above(suite->top + first, suite->counts[l],
                                   suite_cut(suite, suite->low[l], suite->high[l]));
    return covered;
}

void pxi_nc_suite_neurons(const pxi_nc_suite *suite, bool *covered)
{
    const float *top = suite->top;
    for (int64_t l = 0; l < suite->layers; l++) {
        const double cut = suite_cut(suite, suite->low[l], suite->high[l]);
        for (int64_t n = 0; n < suite->counts[l]; n++)
            *covered++ = (double)*top++ > cut;
    }
}

px_status pxi_nc_suite_save(const pxi_nc_suite *suite, px_npz_writer *to, const char *prefix,
                            px_error *err)
{
    const px_shape layers = {.rank = 1, .dim = {suite->layers}};
    const px_shape neurons = {.rank = 1, .dim = {suite->neurons}}, one = {.rank = 1, .dim = {1}};
    PX_TRY(px_npz_put(to, prefix, "t", PX_FLOAT64, &one, &suite->t, err));
    PX_TRY(px_npz_put(to, prefix, "counts", PX_INT64, &layers, suite->counts, err));
    PX_TRY(px_npz_put(to, prefix, "low", PX_FLOAT32, &layers, suite->low, err));
    PX_TRY(px_npz_put(to, prefix, "high", PX_FLOAT32, &layers, suite->high, err));
    return px_npz_put(to, prefix, "top", PX_FLOAT32, &neurons, suite->top, err);
}

/* Either no input was seen, and all is infinite the wrong way round, or lo <= top <= hi. */
static bool suite_is_sound(const pxi_nc_suite *suite)
{
    if (!isfinite(suite->t))
        return false;
    const float *top = suite->top;
    const bool empty = suite->layers > 0 && suite->low[0] == INFINITY;
    for (int64_t l = 0; l < suite->layers; l++)
        for (int64_t n = -1; n < suite->counts[l]; n++) {
            const float value = n < 0 ? suite->low[l] : *top++;
            if (empty ? !(suite->low[l] == INFINITY && suite->high[l] == -INFINITY &&
                          (n < 0 || value == -INFINITY))
                      : !(isfinite(value) && isfinite(suite->high[l]) && value >= suite->low[l] &&
                          value <= suite->high[l]))
                return false;
        }
    return true;
}

px_status pxi_nc_suite_load(pxi_nc_suite *suite, const px_npz *from, const char *prefix,
                            px_error *err)
{
    const px_shape any = {.rank = 1, .dim = {-1}}, one = {.rank = 1, .dim = {1}};
    const void *t, *counts, *low, *high, *top;
    px_shape layers, neurons;
    PX_TRY(px_npz_take(from, prefix, "t", PX_FLOAT64, &one, &t, NULL, err));
    PX_TRY(px_npz_take(from, prefix, "counts", PX_INT64, &any, &counts, &layers, err));
    PX_TRY(px_npz_take(from, prefix, "low", PX_FLOAT32, &layers, &low, NULL, err));
    PX_TRY(px_npz_take(from, prefix, "high", PX_FLOAT32, &layers, &high, NULL, err));
    PX_TRY(px_npz_take(from, prefix, "top", PX_FLOAT32, &any, &top, &neurons, err));
    pxi_nc_suite read = {0};
    PX_TRY(suite_make(&read, neurons.dim[0], layers.dim[0], err));
    memcpy(&read.t, t, sizeof read.t);
    px_status status = PX_OK;
    int64_t left = read.neurons;
    for (int64_t l = 0; l < read.layers && left >= 0; l++) {
        memcpy(&read.counts[l], (const int64_t *)counts + l, sizeof read.counts[l]);
        left = read.counts[l] < 1 || read.counts[l] > left ? -1 : left - read.counts[l];
    }
    memcpy(read.low, low, (size_t)read.layers * sizeof *read.low);
    memcpy(read.high, high, (size_t)read.layers * sizeof *read.high);
    memcpy(read.top, top, (size_t)read.neurons * sizeof *read.top);
    if (left != 0 || read.layers == 0 || !suite_is_sound(&read))
        status = px_fail(err, PX_E_INPUT, "'%.100s' is damaged: its maxima make no sense", prefix);
    else if (suite->counts && suite->t != read.t)
        status = px_fail(err, PX_E_MISMATCH, "'%.100s' has threshold %g, not %g", prefix, read.t,
                         suite->t);
    else if (suite->counts) /* also checks that the layers are the same */
        status = pxi_nc_suite_merge(suite, &read, err);
    if (status != PX_OK || suite->counts)
        pxi_nc_suite_done(&read);
    else
        *suite = read;
    return status;
}
