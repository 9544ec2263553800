/* src/cover/learn_ranges.c - range, mean and spread of every neuron over training data
 *
 * Sums of values and of their squares are formed per piece of a block in the order of the rows, and
 * the pieces are added exactly, so that the moments do not depend on who saw which block.
 * m2 = sum x^2 - (sum x)^2 / n loses digits where the mean is far larger than the spread: both sums
 * are taken to 106 bits there.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/exact.h"
#include "base/memory.h"
#include "cover/profile_internal.h"

#include <internal/cover.h>
#include <internal/profile.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct ranges_state {
    const px_extractor *extractor;
    int64_t width, count;
    float *low, *high;
    pxi_exact *sum, *squares;
    double *piece; /* scratch: sums of a piece of a block, then of squares */
    bool lost;     /* a sum left the range of exact sums */
} ranges_state;

static void ranges_close(void *state)
{
    ranges_state *s = state;
    if (!s)
        return;
    free(s->low);
    free(s->high);
    free(s->sum);
    free(s->squares);
    free(s->piece);
    free(s);
}

static px_status ranges_open(const px_learner_request *request, void **state, px_error *err)
{
    const size_t width = (size_t)request->extractor->width;
    ranges_state *s = pxi_calloc(1, sizeof *s);
    if (s) {
        *s = (ranges_state){.extractor = request->extractor, .width = request->extractor->width};
        s->low = pxi_calloc(width, sizeof *s->low);
        s->high = pxi_calloc(width, sizeof *s->high);
        s->sum = pxi_calloc(width, sizeof *s->sum);
        s->squares = pxi_calloc(width, sizeof *s->squares);
        s->piece = pxi_calloc(2 * width, sizeof *s->piece);
    }
    if (!s || !s->low || !s->high || !s->sum || !s->squares || !s->piece) {
        ranges_close(s);
        return pxi_no_memory_for(err, "the ranges of %zu neurons", width);
    }
    for (size_t i = 0; i < width; i++) {
        s->low[i] = INFINITY;
        s->high[i] = -INFINITY;
    }
    *state = s;
    return PX_OK;
}

static px_status ranges_observe(void *state, const px_rows *rows, px_error *err)
{
    (void)err;
    ranges_state *s = state;
    const int64_t width = s->width;
    double *sum = s->piece, *squares = s->piece + width;
    memset(s->piece, 0, 2 * (size_t)width * sizeof *s->piece);
    for (int64_t r = 0; r < rows->count; r++) {
        if (rows->rejected[r])
            continue;
        const float *x = rows->values + r * width;
        for (int64_t i = 0; i < width; i++) {
            s->low[i] = x[i] < s->low[i] ? x[i] : s->low[i];
            s->high[i] = x[i] > s->high[i] ? x[i] : s->high[i];
            sum[i] += (double)x[i];
            squares[i] += (double)x[i] * (double)x[i];
        }
        s->count++;
    }
    pxi_exact_add_all(s->sum, sum, (size_t)width, &s->lost);
    pxi_exact_add_all(s->squares, squares, (size_t)width, &s->lost);
    return PX_OK;
}

static px_status ranges_merge(void *state, void *other, px_error *err)
{
    (void)err;
    ranges_state *s = state;
    const ranges_state *o = other;
    for (int64_t i = 0; i < s->width; i++) {
        s->low[i] = fminf(s->low[i], o->low[i]);
        s->high[i] = fmaxf(s->high[i], o->high[i]);
    }
    pxi_exact_join_all(s->sum, o->sum, (size_t)s->width, &s->lost);
    pxi_exact_join_all(s->squares, o->squares, (size_t)s->width, &s->lost);
    s->count += o->count;
    s->lost |= o->lost;
    return PX_OK;
}

/* Each sum as its three words. */
static px_status ranges_save(const void *state, px_npz_writer *to, const char *prefix,
                             px_error *err)
{
    const ranges_state *s = state;
    const px_shape each = {.rank = 1, .dim = {s->width}}, two = {.rank = 1, .dim = {2}};
    const px_shape sums = {.rank = 2, .dim = {s->width, PXI_EXACT_LIMBS}};
    PX_TRY(px_npz_put(to, prefix, "seen", PX_INT64, &two, (int64_t[]){s->count, s->lost}, err));
    PX_TRY(px_npz_put(to, prefix, "min", PX_FLOAT32, &each, s->low, err));
    PX_TRY(px_npz_put(to, prefix, "max", PX_FLOAT32, &each, s->high, err));
    PX_TRY(px_npz_put(to, prefix, "sum", PX_UINT64, &sums, s->sum, err));
    return px_npz_put(to, prefix, "squares", PX_UINT64, &sums, s->squares, err);
}

static px_status ranges_load(void *state, const px_npz *from, const char *prefix, px_error *err)
{
    ranges_state *s = state;
    const size_t width = (size_t)s->width;
    const px_shape each = {.rank = 1, .dim = {s->width}}, two = {.rank = 1, .dim = {2}};
    const px_shape sums = {.rank = 2, .dim = {s->width, PXI_EXACT_LIMBS}};
    const void *seen, *low, *high, *sum, *squares;
    PX_TRY(px_npz_take(from, prefix, "seen", PX_INT64, &two, &seen, NULL, err));
    PX_TRY(px_npz_take(from, prefix, "min", PX_FLOAT32, &each, &low, NULL, err));
    PX_TRY(px_npz_take(from, prefix, "max", PX_FLOAT32, &each, &high, NULL, err));
    PX_TRY(px_npz_take(from, prefix, "sum", PX_UINT64, &sums, &sum, NULL, err));
    PX_TRY(px_npz_take(from, prefix, "squares", PX_UINT64, &sums, &squares, NULL, err));
    s->count = ((const int64_t *)seen)[0];
    s->lost = ((const int64_t *)seen)[1] != 0;
    memcpy(s->low, low, width * sizeof *s->low);
    memcpy(s->high, high, width * sizeof *s->high);
    memcpy(s->sum, sum, width * sizeof *s->sum);
    memcpy(s->squares, squares, width * sizeof *s->squares);
    return PX_OK;
}

/* sum x^2 - (sum x)^2 / n, in pairs of doubles; never below 0. */
static double ranges_m2(const pxi_exact *sum, const pxi_exact *squares, int64_t count)
{
    const double s = pxi_exact_value(sum), s_rest = pxi_exact_rest(sum);
    const double product = s * s, n = (double)count;
    const double product_rest = fma(s, s, -product) + 2.0 * s * s_rest;
    const double quotient = product / n;
    const double quotient_rest = (fma(-quotient, n, product) + product_rest) / n;
    const double q = pxi_exact_value(squares), q_rest = pxi_exact_rest(squares);
    return fmax((q - quotient) + (q_rest - quotient_rest), 0.0);
}

/* A layer's name as a part of an array's; such that the reader of archives would take for hidden
 * files or folders go by number. */
static char *ranges_array(const px_extractor *extractor, size_t layer, const char *what)
{
    const char *name = extractor->layers[layer].name;
    bool plain = *name && *name != '.' && !strstr(name, "/.") &&
                 strncmp(name, "__MACOSX", 8) != 0 && strlen(name) < 1000;
    px_text text = {0};
    if (plain)
        px_text_format(&text, "%s/%s", name, what);
    else
        px_text_format(&text, "#%zu/%s", layer, what);
    return px_text_take(&text);
}

static px_status ranges_put(px_profile *to, const char *section, const px_extractor *extractor,
                            size_t layer, const char *what, px_dtype dtype, const void *values,
                            px_error *err)
{
    const px_row_layer *l = &extractor->layers[layer];
    const px_shape shape = {.rank = 1, .dim = {l->count}};
    const size_t item = px_dtype_size(dtype);
    px_tensor tensor = {0};
    char *name = ranges_array(extractor, layer, what);
    px_status status = name ? px_tensor_init(&tensor, dtype, &shape, err) : pxi_no_memory(err);
    if (status == PX_OK) {
        memcpy(tensor.data, (const char *)values + (size_t)l->offset * item,
               (size_t)l->count * item);
        status = px_profile_put(to, section, name, &tensor, err);
    }
    free(name);
    return status;
}

static px_status ranges_finish(void *state, px_profile *to, const char *section, px_error *err)
{
    const ranges_state *s = state;
    if (s->lost)
        return px_fail(err, PX_E_INPUT,
                       "neuron values are too large (over 1e9) for their moments to be kept");
    if (s->count == 0)
        return px_fail(err, PX_E_INPUT, "every training input has neurons that are not finite");
    double *mean = s->piece, *m2 = s->piece + s->width;
    for (int64_t i = 0; i < s->width; i++) {
        mean[i] = pxi_exact_value(&s->sum[i]) / (double)s->count;
        m2[i] = ranges_m2(&s->sum[i], &s->squares[i], s->count);
    }
    for (size_t l = 0; l < s->extractor->layer_count; l++) {
        PX_TRY(ranges_put(to, section, s->extractor, l, "min", PX_FLOAT32, s->low, err));
        PX_TRY(ranges_put(to, section, s->extractor, l, "max", PX_FLOAT32, s->high, err));
        PX_TRY(ranges_put(to, section, s->extractor, l, "mean", PX_FLOAT64, mean, err));
        PX_TRY(ranges_put(to, section, s->extractor, l, "m2", PX_FLOAT64, m2, err));
    }
    px_tensor count = {0};
    const px_shape one = {.rank = 1, .dim = {1}};
    PX_TRY(px_tensor_init(&count, PX_INT64, &one, err));
    *(int64_t *)count.data = s->count;
    return px_profile_put(to, section, "ranges_count", &count, err);
}

const px_learner px_learner_ranges = {
    .id = "ranges",
    .help = "least, largest and mean value and spread of every neuron",
    .open = ranges_open,
    .close = ranges_close,
    .observe = ranges_observe,
    .merge = ranges_merge,
    .save = ranges_save,
    .load = ranges_load,
    .finish = ranges_finish,
};

/* --- reading them ---------------------------------------------------------------------------- */

void px_ranges_done(px_ranges *ranges)
{
    free(ranges->low);
    free(ranges->high);
    free(ranges->mean);
    free(ranges->deviation);
    *ranges = (px_ranges){0};
}

static px_status ranges_get(const px_profile *profile, const char *section,
                            const px_extractor *extractor, size_t layer, const char *what,
                            px_dtype dtype, void *to, px_error *err)
{
    const px_row_layer *l = &extractor->layers[layer];
    const px_shape shape = {.rank = 1, .dim = {l->count}};
    const px_tensor *found = NULL;
    char *name = ranges_array(extractor, layer, what);
    if (!name)
        return pxi_no_memory(err);
    const px_status status = px_profile_get(profile, section, name, dtype, &shape, &found, err);
    free(name);
    PX_TRY(status);
    memcpy((char *)to + (size_t)l->offset * px_dtype_size(dtype), found->data,
           px_tensor_bytes(found));
    return PX_OK;
}

static px_status ranges_fill(const px_profile *profile, const char *section,
                             const px_extractor *extractor, px_ranges *r, px_error *err)
{
    const px_tensor *count = NULL;
    const px_shape one = {.rank = 1, .dim = {1}};
    PX_TRY(px_profile_get(profile, section, "ranges_count", PX_INT64, &one, &count, err));
    r->count = *(const int64_t *)count->data;
    if (r->count < 1)
        return px_fail(err, PX_E_INPUT, "'%s' has ranges of no inputs; make it again",
                       px_profile_name(profile));
    for (size_t l = 0; l < extractor->layer_count; l++) {
        PX_TRY(ranges_get(profile, section, extractor, l, "min", PX_FLOAT32, r->low, err));
        PX_TRY(ranges_get(profile, section, extractor, l, "max", PX_FLOAT32, r->high, err));
        PX_TRY(ranges_get(profile, section, extractor, l, "mean", PX_FLOAT64, r->mean, err));
        PX_TRY(ranges_get(profile, section, extractor, l, "m2", PX_FLOAT64, r->deviation, err));
    }
    for (int64_t i = 0; i < extractor->width; i++) {
        if (!isfinite(r->low[i]) || !isfinite(r->high[i]) || r->low[i] > r->high[i] ||
            !isfinite(r->mean[i]) || !isfinite(r->deviation[i]) || r->deviation[i] < 0.0)
            return px_fail(err, PX_E_INPUT,
                           "'%s': the range of neuron %" PRId64 " is impossible; make it again",
                           px_profile_name(profile), i);
        r->deviation[i] = sqrt(r->deviation[i] / (double)r->count);
    }
    return PX_OK;
}

px_status px_profile_ranges(const px_profile *profile, const char *section,
                            const px_extractor *extractor, px_ranges *out, px_error *err)
{
    const size_t width = (size_t)extractor->width;
    px_ranges r = {
        .low = pxi_calloc(width, sizeof *r.low),
        .high = pxi_calloc(width, sizeof *r.high),
        .mean = pxi_calloc(width, sizeof *r.mean),
        .deviation = pxi_calloc(width, sizeof *r.deviation),
    };
    px_status status = r.low && r.high && r.mean && r.deviation
                           ? ranges_fill(profile, section, extractor, &r, err)
                           : pxi_no_memory(err);
    if (status == PX_OK)
        *out = r;
    else
        px_ranges_done(&r);
    return status;
}
