/* src/engine/depthwise.c - the data gradient of depthwise convolutions, with masks
 *
 * dx at (y, x) is the sum of w(ky, kx) dy(oy, ox) over all taps with y = stride oy - pad + ky and x
 * likewise. For one row of dx, or two at stride 1, and sixteen channels, the rows of dy that it
 * needs are swept from left to right: each element of dy is loaded and masked once and added to the
 * `kernel` sums that it belongs to; the `stride` leftmost of them are then complete. Sums and, for
 * 3x3, weights stay in registers. The order of additions for one result is fixed: column of dy,
 * then row.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/depthwise.h"

#include "base/memory.h"

struct pxi_depthwise {
    pxi_conv_shape shape;
    float *weights; /* [ky][kx][channel] */
};

void pxi_depthwise_repack(pxi_depthwise *depthwise, const float *weights)
{
    const int64_t channels = depthwise->shape.in_channels;
    const int64_t taps = depthwise->shape.kernel[0] * depthwise->shape.kernel[1];
    for (int64_t c = 0; c < channels; c++)
        for (int64_t t = 0; t < taps; t++)
            depthwise->weights[t * channels + c] = weights[c * taps + t];
}

pxi_depthwise *pxi_depthwise_new(px_arena *arena, const pxi_conv_shape *shape, const float *weights)
{
    const size_t taps = (size_t)(shape->kernel[0] * shape->kernel[1]);
    pxi_depthwise *made = pxi_arena_alloc(arena, 1, sizeof *made);
    float *packed = pxi_arena_alloc(arena, taps * (size_t)shape->in_channels, sizeof *packed);
    if (!made || !packed)
        return NULL;
    *made = (pxi_depthwise){.shape = *shape, .weights = packed};
    pxi_depthwise_repack(made, weights);
    return made;
}

#if defined(__x86_64__)

#include <immintrin.h>

#define DEPTHWISE_TARGET __attribute__((target("avx512f")))
#define DEPTHWISE_INLINE static inline __attribute__((always_inline, target("avx512f")))

#define DEPTHWISE_UNROLL _Pragma("GCC unroll 8") /* sums in registers, not in an array */

enum { LANES = 16, MAX_KERNEL = 5 };

bool pxi_depthwise_takes(const pxi_conv_shape *s)
{
    for (int i = 0; i < 2; i++)
        if (s->kernel[i] != s->kernel[0] || s->stride[i] != s->stride[0] || s->dilation[i] != 1 ||
            s->pad_begin[i] < 0)
            return false;
    return (s->kernel[0] == 3 || s->kernel[0] == 5) && (s->stride[0] == 1 || s->stride[0] == 2) &&
           s->group == s->in_channels && s->group == s->out_channels && s->group % LANES == 0 &&
           pxi_prim_has_avx512();
}

/* Bits of a tensor from some pixel and channel on; one word for all of it where it has no mask, but
 * another tensor has. */
typedef struct depthwise_mask {
    const uint16_t *words;
    int64_t step, row; /* words from a pixel, a row, to the next */
} depthwise_mask;

static depthwise_mask depthwise_mask_at(const uint16_t *bits, int64_t y, int64_t width,
                                        int64_t channels, int64_t c)
{
    static const uint16_t all = 0xffff;
    const int64_t step = channels / LANES, row = width * step;
    return bits ? (depthwise_mask){bits + y * row + c / LANES, step, row}
                : (depthwise_mask){&all, 0, 0};
}

/* One or two rows of dx, sixteen channels of them. */
typedef struct depthwise_job {
    const float *weights; /* of the tap at which the first row of dy meets the first row of dx */
    const float *from;    /* the first of the rows of dy */
    float *to;            /* the first row of dx */
    depthwise_mask from_pass, to_pass;
    int64_t channels, in_width, out_width, pad;
    bool adds;
    bool masks; /* there are some: putting bits to use takes a quarter of the time */
} depthwise_job;

DEPTHWISE_INLINE void depthwise_store(const uint16_t *pass, float *to, bool adds, __m512 sum,
                                      const bool masks)
{
    if (masks)
        sum = _mm512_maskz_mov_ps((__mmask16)*pass, sum);
    _mm512_storeu_ps(to, adds ? _mm512_add_ps(_mm512_loadu_ps(to), sum) : sum);
}

/* `results` rows of dx from `rows` rows of dy. Taps go up by one from a row of dx to the next, and
 * down by `stride` from a row of dy to the next. With two results there are kernel + 1 rows, of
 * which the first belongs to the first result only, the last to the second. The last five arguments
 * are constants after inlining. */
DEPTHWISE_INLINE void depthwise_sweep(const depthwise_job *job, const int rows, const int results,
                                      const int kernel, const int stride, const bool masks)
{
    const int64_t channels = job->channels, width = job->in_width, columns = job->out_width;
    const int64_t from_row = columns * channels, to_row = width * channels;
    const depthwise_mask from_pass = job->from_pass, to_pass = job->to_pass;
    const bool adds = job->adds;
    const int taps = rows - results + 1; /* rows of the kernel that take part */
    __m512 weight[MAX_KERNEL][MAX_KERNEL], sum[2][MAX_KERNEL];
    DEPTHWISE_UNROLL
    for (int t = 0; t < taps; t++) {
        DEPTHWISE_UNROLL
        for (int k = 0; k < kernel; k++)
            weight[t][k] = _mm512_loadu_ps(job->weights + (k - t * stride * kernel) * channels);
    }
    DEPTHWISE_UNROLL
    for (int y = 0; y < results; y++) {
        DEPTHWISE_UNROLL
        for (int k = 0; k < kernel; k++)
            sum[y][k] = _mm512_setzero_ps();
    }
    const float *from = job->from;
    const uint16_t *from_word = from_pass.words;
    for (int64_t ox = 0, x = -job->pad; x < width; ox++, x += stride) {
        if (ox < columns) {
            DEPTHWISE_UNROLL
            for (int r = 0; r < rows; r++) {
                __m512 v = _mm512_loadu_ps(from + r * from_row);
                if (masks)
                    v = _mm512_maskz_mov_ps((__mmask16)from_word[r * from_pass.row], v);
                DEPTHWISE_UNROLL
                for (int y = 0; y < results; y++) {
                    if (r - y < 0 || r - y >= taps)
                        continue;
                    DEPTHWISE_UNROLL
                    for (int k = 0; k < kernel; k++)
                        sum[y][k] = _mm512_fmadd_ps(v, weight[r - y][k], sum[y][k]);
                }
            }
            from += channels;
            from_word += from_pass.step;
        }
        DEPTHWISE_UNROLL
        for (int y = 0; y < results; y++) {
            DEPTHWISE_UNROLL
            for (int s = 0; s < stride; s++)
                if (x + s >= 0 && x + s < width)
                    depthwise_store(to_pass.words + y * to_pass.row + (x + s) * to_pass.step,
                                    job->to + y * to_row + (x + s) * channels, adds, sum[y][s],
                                    masks);
            DEPTHWISE_UNROLL
            for (int k = 0; k < kernel; k++)
                sum[y][k] = k + stride < kernel ? sum[y][k + stride] : _mm512_setzero_ps();
        }
    }
}

#define DEPTHWISE_CASE(rows, kernel, stride)                      \
    case rows:                                                    \
        if (job->masks)                                           \
            depthwise_sweep(job, rows, 1, kernel, stride, true);  \
        else                                                      \
            depthwise_sweep(job, rows, 1, kernel, stride, false); \
        break;

DEPTHWISE_TARGET static void depthwise_3x3(const depthwise_job *job, int64_t rows, int64_t results,
                                           int64_t stride)
{
    if (results == 2) {
        if (job->masks)
            depthwise_sweep(job, 4, 2, 3, 1, true);
        else
            depthwise_sweep(job, 4, 2, 3, 1, false);
        return;
    }
    if (stride == 1)
        switch (rows) {
            DEPTHWISE_CASE(0, 3, 1)
            DEPTHWISE_CASE(1, 3, 1)
            DEPTHWISE_CASE(2, 3, 1)
            DEPTHWISE_CASE(3, 3, 1)
        }
    else
        switch (rows) {
            DEPTHWISE_CASE(0, 3, 2)
            DEPTHWISE_CASE(1, 3, 2)
            DEPTHWISE_CASE(2, 3, 2)
        }
}

DEPTHWISE_TARGET static void depthwise_5x5(const depthwise_job *job, int64_t rows, int64_t stride)
{
    if (stride == 1)
        switch (rows) {
            DEPTHWISE_CASE(0, 5, 1)
            DEPTHWISE_CASE(1, 5, 1)
            DEPTHWISE_CASE(2, 5, 1)
            DEPTHWISE_CASE(3, 5, 1)
            DEPTHWISE_CASE(4, 5, 1)
            DEPTHWISE_CASE(5, 5, 1)
        }
    else
        switch (rows) {
            DEPTHWISE_CASE(0, 5, 2)
            DEPTHWISE_CASE(1, 5, 2)
            DEPTHWISE_CASE(2, 5, 2)
            DEPTHWISE_CASE(3, 5, 2)
        }
}

/* How many rows of dy reach row y of dx, from *first on at tap *tap. */
static int64_t depthwise_reach(const pxi_conv_shape *s, int64_t y, int64_t *first, int64_t *tap)
{
    const int64_t at = y + s->pad_begin[0], reach = s->kernel[0] - 1, stride = s->stride[0];
    const int64_t last = PX_MIN(at / stride, s->out[0] - 1);
    *first = at > reach ? (at - reach + stride - 1) / stride : 0;
    *tap = at - stride * *first;
    if (*first <= last)
        return last - *first + 1;
    *first = *tap = 0;
    return 0;
}

void pxi_depthwise_run(const pxi_depthwise *depthwise, const float *dy, const uint16_t *pass_y,
                       const uint16_t *pass_x, float *dx, bool adds)
{
    const pxi_conv_shape *s = &depthwise->shape;
    const int64_t channels = s->in_channels, kernel = s->kernel[0], stride = s->stride[0];
    int64_t results;
    for (int64_t y = 0; y < s->in[0]; y += results) {
        int64_t first, tap;
        const int64_t rows = depthwise_reach(s, y, &first, &tap);
        const bool pair =
            kernel == 3 && stride == 1 && rows == 3 && first + 3 < s->out[0] && y + 1 < s->in[0];
        results = pair ? 2 : 1;
        for (int64_t c = 0; c < channels; c += LANES) {
            const depthwise_job job = {
                .weights = depthwise->weights + tap * kernel * channels + c,
                .from = dy + first * s->out[1] * channels + c,
                .to = dx + y * s->in[1] * channels + c,
                .from_pass = depthwise_mask_at(pass_y, first, s->out[1], channels, c),
                .to_pass = depthwise_mask_at(pass_x, y, s->in[1], channels, c),
                .channels = channels,
                .in_width = s->in[1],
                .out_width = s->out[1],
                .pad = s->pad_begin[1],
                .adds = adds,
                .masks = pass_x || pass_y};
            if (kernel == 3)
                depthwise_3x3(&job, rows, results, stride);
            else
                depthwise_5x5(&job, rows, stride);
        }
    }
}

#else /* no AVX-512 to be had */

bool pxi_depthwise_takes(const pxi_conv_shape *shape)
{
    (void)shape;
    return false;
}

void pxi_depthwise_run(const pxi_depthwise *depthwise, const float *dy, const uint16_t *pass_y,
                       const uint16_t *pass_x, float *dx, bool adds)
{
    (void)depthwise, (void)dy, (void)pass_y, (void)pass_x, (void)dx, (void)adds;
}

#endif
