/* src/engine/narrow.c - convolutions with few result channels, stride 1
 *
 * Per sample, the data is copied into zero-padded planes, so that the inner loop has no borders;
 * then strips of 16 neighbouring results are computed for all result channels at once. The order of
 * additions for one result is fixed: input channel, row, column.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/narrow.h"

#include "base/memory.h"

#include <string.h>

/* Multiply and add in one instruction: every result takes the same path, whatever its position. */
#ifdef __clang__
#pragma STDC FP_CONTRACT ON
#else
#pragma GCC optimize("fp-contract=fast")
#endif

enum { NARROW_MAX = 8, LANES = 16 };

typedef float lanes __attribute__((vector_size(64), aligned(4), may_alias));
typedef int32_t lanes_mask __attribute__((vector_size(64)));
#define NARROW_SELECT(mask, yes, no) \
    ((lanes)(((lanes_mask)(yes) & (mask)) | ((lanes_mask)(no) & ~(mask))))

static bool narrow_has_vectors(void);

bool pxi_narrow_takes(const pxi_conv_shape *s, const pxi_act *act, bool adds)
{
    const pxi_act_kind kind = act ? act->kind : PXI_ACT_NONE;
    return s->group == 1 && s->out_channels <= NARROW_MAX && s->stride[0] == 1 &&
           s->stride[1] == 1 && s->dilation[0] == 1 && s->dilation[1] == 1 && s->out[1] >= 8 &&
           s->kernel[0] <= 11 && s->kernel[1] <= 11 && s->pad_begin[0] >= 0 &&
           s->pad_begin[1] >= 0 &&
           (kind == PXI_ACT_NONE || (!adds && (kind == PXI_ACT_RELU || kind == PXI_ACT_CLIP))) &&
           narrow_has_vectors();
}

size_t pxi_narrow_planes_row(const pxi_conv_shape *s) /* strips may overrun */
{
    return ((size_t)s->out[1] + LANES - 1) / LANES * LANES + (size_t)s->kernel[1] - 1;
}

static size_t narrow_rows(const pxi_conv_shape *s)
{
    return (size_t)s->out[0] + (size_t)s->kernel[0] - 1;
}

size_t pxi_narrow_planes_size(const pxi_conv_shape *s)
{
    return (size_t)s->in_channels * narrow_rows(s) * pxi_narrow_planes_row(s);
}

pxi_narrow *pxi_narrow_new(px_arena *arena, const pxi_conv_shape *shape, const float *weights,
                           const float *bias, const pxi_act *act)
{
    const int64_t oc = shape->out_channels, taps = shape->kernel[0] * shape->kernel[1];
    pxi_narrow *made = pxi_arena_alloc(arena, 1, sizeof *made);
    float *packed =
        pxi_arena_alloc(arena, (size_t)(oc * shape->in_channels * taps), sizeof *packed);
    float *own_bias = pxi_arena_alloc(arena, (size_t)oc, sizeof *own_bias);
    if (!made || !packed || !own_bias)
        return NULL;
    *made = (pxi_narrow){.shape = *shape,
                         .weights = packed,
                         .bias = bias ? own_bias : NULL,
                         .act = act ? *act : (pxi_act){0}};
    pxi_narrow_repack(made, weights, bias);
    return made;
}

void pxi_narrow_repack(pxi_narrow *narrow, const float *weights, const float *bias)
{
    const pxi_conv_shape *s = &narrow->shape;
    const int64_t oc = s->out_channels, each = s->in_channels * s->kernel[0] * s->kernel[1];
    for (int64_t o = 0; o < oc; o++)
        for (int64_t i = 0; i < each; i++)
            narrow->weights[i * oc + o] = weights[o * each + i];
    if (narrow->bias)
        memcpy(narrow->bias, bias, (size_t)oc * sizeof *bias);
}

size_t pxi_narrow_scratch(const pxi_narrow *narrow)
{
    const pxi_conv_shape *s = &narrow->shape;
    return (pxi_narrow_planes_size(s) + NARROW_MAX * 2 * LANES) * sizeof(float);
}

void pxi_narrow_split(const pxi_conv_shape *s, const float *source, float *planes)
{
    const int64_t c = s->in_channels, w = s->in[1];
    const size_t stride = pxi_narrow_planes_row(s), rows = narrow_rows(s);
    const size_t used_w = PX_MIN((size_t)w, stride - (size_t)s->pad_begin[1]);
    memset(planes, 0, (size_t)c * rows * stride * sizeof *planes);
    for (size_t r = 0; r < rows; r++) {
        const int64_t y = (int64_t)r - s->pad_begin[0];
        if (y < 0 || y >= s->in[0])
            continue;
        const float *from = source + y * w * c;
        float *to = planes + r * stride + s->pad_begin[1];
        if (c == 1) {
            memcpy(to, from, used_w * sizeof *to);
            continue;
        }
        for (int64_t k = 0; k < c; k++) {
            float *row = to + (size_t)k * rows * stride;
            for (size_t x = 0; x < used_w; x++)
                row[x] = from[(int64_t)x * c + k];
        }
    }
}

typedef struct narrow_job {
    const pxi_narrow *narrow;
    const float *planes;
    float *strip; /* [row][out_channel][LANES] */
    bool adds;
} narrow_job;

/* One strip of 16 results in `rows` consecutive rows. `oc` and `rows` are constants after inlining,
 * so that all sums stay in registers; the activation is applied before they leave them. */
static inline __attribute__((always_inline)) void
narrow_strip(const narrow_job *job, size_t y, size_t x, const int oc, const int rows)
{
    const pxi_conv_shape *s = &job->narrow->shape;
    const size_t stride = pxi_narrow_planes_row(s), plane = narrow_rows(s) * stride;
    const size_t kh = (size_t)s->kernel[0], kw = (size_t)s->kernel[1];
    lanes sum[2 * NARROW_MAX];
    for (int r = 0; r < rows; r++)
        for (int o = 0; o < oc; o++)
            sum[r * oc + o] = (lanes){0} + (job->narrow->bias ? job->narrow->bias[o] : 0.0f);
    const float *weights = job->narrow->weights;
    for (size_t c = 0; c < (size_t)s->in_channels; c++)
        for (size_t ky = 0; ky < kh; ky++) {
            const float *row = job->planes + c * plane + (y + ky) * stride + x;
            for (size_t kx = 0; kx < kw; kx++, weights += oc)
                for (int r = 0; r < rows; r++) {
                    const lanes v = *(const lanes *)(const void *)(row + (size_t)r * stride + kx);
                    for (int o = 0; o < oc; o++)
                        sum[r * oc + o] += v * weights[o];
                }
        }
    const pxi_act *act = &job->narrow->act;
    for (int i = 0; i < rows * oc; i++) {
        lanes v = sum[i];
        if (act->kind == PXI_ACT_RELU) {
            lanes low = {0}; /* not -inf * 0, which is NaN */
            if (act->alpha != 0.0f)
                low = v * act->alpha;
            v = NARROW_SELECT(v < 0.0f, low, v);
        } else if (act->kind == PXI_ACT_CLIP) {
            v = NARROW_SELECT(v < act->alpha, (lanes){0} + act->alpha, v);
            v = NARROW_SELECT(v > act->beta, (lanes){0} + act->beta, v);
        }
        *(lanes *)(void *)(job->strip + i * LANES) = v;
    }
}

/* Strips to channels-last rows. Results that are added to have no activation behind them. */
static inline __attribute__((always_inline)) void
narrow_store(const narrow_job *job, float *out, size_t n, const int oc, const int rows)
{
    const size_t row_size = (size_t)job->narrow->shape.out[1] * (size_t)oc;
    for (int r = 0; r < rows; r++, out += row_size) {
        const float *strip = job->strip + r * oc * LANES;
        if (job->adds) {
            for (size_t i = 0; i < n; i++)
                for (int o = 0; o < oc; o++)
                    out[i * (size_t)oc + (size_t)o] += strip[o * LANES + (int)i];
        } else if (n == LANES) {
            for (int i = 0; i < LANES; i++)
                for (int o = 0; o < oc; o++)
                    out[i * oc + o] = strip[o * LANES + i];
        } else {
            for (size_t i = 0; i < n; i++)
                for (int o = 0; o < oc; o++)
                    out[i * (size_t)oc + (size_t)o] = strip[o * LANES + (int)i];
        }
    }
}

static inline __attribute__((always_inline)) void narrow_block(const narrow_job *job, size_t y,
                                                               size_t x, size_t n, float *out,
                                                               int rows, const int oc)
{
    if (rows == 2) {
        narrow_strip(job, y, x, oc, 2);
        narrow_store(job, out, n, oc, 2);
    } else {
        narrow_strip(job, y, x, oc, 1);
        narrow_store(job, out, n, oc, 1);
    }
}

#define NARROW_CASE(channels)                            \
    case channels:                                       \
        narrow_block(job, y, x, n, out, rows, channels); \
        break;

static inline __attribute__((always_inline)) void narrow_rows_of(const narrow_job *job,
                                                                 float *destination)
{
    const pxi_conv_shape *s = &job->narrow->shape;
    const size_t height = (size_t)s->out[0], width = (size_t)s->out[1];
    const size_t channels = (size_t)s->out_channels;
    for (size_t y = 0; y < height; y += 2) {
        const int rows = y + 1 < height ? 2 : 1;
        for (size_t x = 0; x < width; x += LANES) {
            const size_t n = PX_MIN((size_t)LANES, width - x);
            float *out = destination + (y * width + x) * channels;
            switch (channels) {
                NARROW_CASE(1)
                NARROW_CASE(2)
                NARROW_CASE(3)
                NARROW_CASE(4)
                NARROW_CASE(5)
                NARROW_CASE(6)
                NARROW_CASE(7)
                NARROW_CASE(8)
            default:
                break;
            }
        }
    }
}

#if defined(__x86_64__)

/* Not clones: a third one, without vectors to speak of, would take most of the compiler's time and
 * never be the best choice. */
__attribute__((target("avx512f"))) static void narrow_sample_512(const narrow_job *job,
                                                                 float *destination)
{
    narrow_rows_of(job, destination);
}

__attribute__((target("avx2,fma"))) static void narrow_sample_256(const narrow_job *job,
                                                                  float *destination)
{
    narrow_rows_of(job, destination);
}

static bool narrow_has_vectors(void)
{
    return pxi_prim_has_avx512() ||
           (pxi_prim_has_avx2() && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"));
}

static void narrow_sample(const narrow_job *job, float *destination)
{
    if (pxi_prim_has_avx512())
        narrow_sample_512(job, destination);
    else
        narrow_sample_256(job, destination);
}

#else

static bool narrow_has_vectors(void)
{
    return true;
}

static void narrow_sample(const narrow_job *job, float *destination)
{
    narrow_rows_of(job, destination);
}

#endif

void pxi_narrow_run(const pxi_narrow *narrow, const float *source, float *destination, bool adds,
                    float *scratch)
{
    const pxi_conv_shape *s = &narrow->shape;
    const narrow_job job = {.narrow = narrow,
                            .planes = scratch + NARROW_MAX * 2 * LANES,
                            .strip = scratch,
                            .adds = adds};
    for (int64_t n = 0; n < s->batch; n++) {
        pxi_narrow_split(s, source + n * s->in_channels * s->in[0] * s->in[1],
                         scratch + NARROW_MAX * 2 * LANES);
        narrow_sample(&job, destination + n * s->out_channels * s->out[0] * s->out[1]);
    }
}
