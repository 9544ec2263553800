/* src/describe/mask.c - bilinear resampling of maps and masks, and their levels
 *
 * Values are blended along x first, then along y, as a + t (b - a): equal neighbours give that very
 * value, so that a flat map at its level never peeps over it by a rounding error. The functions for
 * one map are the definition; the upsampler takes the same steps with the blends along x kept.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "describe/mask.h"

#include "base/memory.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

typedef struct tap { /* where an output place reads: two neighbours and the way between them */
    int low, high;   /* -1: outside, a zero */
    float t;
} tap;

static tap tap_at(int i, int in, int out, bool zero_padded)
{
    const double at = ((double)i + 0.5) * (double)in / (double)out - 0.5;
    const double base = floor(at);
    const int low = (int)base;
    tap p = {.low = low, .high = low + 1, .t = (float)(at - base)};
    if (zero_padded) {
        p.high = p.high < in ? p.high : -1; /* low is -1 before the first place by itself */
    } else {
        p.low = PX_MAX(p.low, 0);
        p.high = PX_MIN(p.high, in - 1);
    }
    return p;
}

static float blend(float a, float b, float t)
{
    return a + t * (b - a);
}

static float place(const float *map, int w, tap y, tap x)
{
    const float *top = y.low < 0 ? NULL : map + (size_t)y.low * (size_t)w;
    const float *bottom = y.high < 0 ? NULL : map + (size_t)y.high * (size_t)w;
    const float a = top && x.low >= 0 ? top[x.low] : 0.0f;
    const float b = top && x.high >= 0 ? top[x.high] : 0.0f;
    const float c = bottom && x.low >= 0 ? bottom[x.low] : 0.0f;
    const float d = bottom && x.high >= 0 ? bottom[x.high] : 0.0f;
    return blend(blend(a, b, x.t), blend(c, d, x.t), y.t);
}

void pxi_upsample(const float *map, int h, int w, int H, int W, bool zero_padded, float *out)
{
    assert(h > 0 && w > 0 && H > 0 && W > 0);
    for (int i = 0; i < H; i++) {
        const tap y = tap_at(i, h, H, zero_padded);
        for (int j = 0; j < W; j++)
            *out++ = place(map, w, y, tap_at(j, w, W, zero_padded));
    }
}

/* Whether a mask can have ones at all. The zeros around a padded map may exceed a level below 0. */
static bool reaches(const float *map, size_t count, int64_t step, float level, bool zero_padded)
{
    if (zero_padded && level < 0.0f)
        return true;
    for (size_t i = 0; i < count; i++)
        if (map[(int64_t)i * step] > level)
            return true;
    return false;
}

int64_t pxi_mask(const float *map, int h, int w, float level, int H, int W, bool zero_padded,
                 uint8_t *out)
{
    assert(h > 0 && w > 0 && H > 0 && W > 0);
    int64_t ones = 0;
    const bool any = reaches(map, (size_t)h * (size_t)w, 1, level, zero_padded);
    for (int i = 0; i < H; i++) {
        const tap y = tap_at(i, h, H, zero_padded);
        for (int j = 0; j < W; j++) {
            const bool one = any && place(map, w, y, tap_at(j, w, W, zero_padded)) > level;
            *out++ = one;
            ones += one;
        }
    }
    return ones;
}

void pxi_mask_downsample(const uint8_t *mask, int H, int W, int h, int w, float *out)
{
    assert(h > 0 && w > 0 && H > 0 && W > 0);
    for (int i = 0; i < h; i++) {
        const tap y = tap_at(i, H, h, false);
        const uint8_t *top = mask + (size_t)y.low * (size_t)W;
        const uint8_t *bottom = mask + (size_t)y.high * (size_t)W;
        for (int j = 0; j < w; j++) {
            const tap x = tap_at(j, W, w, false);
            const float a = blend(top[x.low] != 0, top[x.high] != 0, x.t);
            const float b = blend(bottom[x.low] != 0, bottom[x.high] != 0, x.t);
            *out++ = blend(a, b, y.t);
        }
    }
}

/* --- many maps ------------------------------------------------------------------------------- */

struct pxi_upsampler {
    int h, w, H, W;
    bool zero_padded;
    tap *rows, *columns; /* [H], [W] */
    float *wide;         /* [h + 1][W]: blended along x; the last row is the zeros outside */
    float *line;         /* [W] */
};

px_status pxi_upsampler_new(int h, int w, int H, int W, bool zero_padded, pxi_upsampler **out,
                            px_error *err)
{
    assert(h > 0 && w > 0 && H > 0 && W > 0);
    pxi_upsampler *u = pxi_calloc(1, sizeof *u);
    if (u) {
        *u = (pxi_upsampler){.h = h, .w = w, .H = H, .W = W, .zero_padded = zero_padded};
        u->rows = pxi_calloc((size_t)H, sizeof *u->rows);
        u->columns = pxi_calloc((size_t)W, sizeof *u->columns);
        u->wide = pxi_calloc((size_t)(h + 1) * (size_t)W, sizeof *u->wide);
        u->line = pxi_calloc((size_t)W, sizeof *u->line);
    }
    if (!u || !u->rows || !u->columns || !u->wide || !u->line) {
        pxi_upsampler_free(u);
        return pxi_no_memory_for(err, "maps of %d x %d", H, W);
    }
    for (int i = 0; i < H; i++)
        u->rows[i] = tap_at(i, h, H, zero_padded);
    for (int j = 0; j < W; j++)
        u->columns[j] = tap_at(j, w, W, zero_padded);
    *out = u;
    return PX_OK;
}

void pxi_upsampler_free(pxi_upsampler *upsampler)
{
    if (!upsampler)
        return;
    free(upsampler->rows);
    free(upsampler->columns);
    free(upsampler->wide);
    free(upsampler->line);
    free(upsampler);
}

static void widen(pxi_upsampler *u, const float *map, int64_t step)
{
    for (int i = 0; i < u->h; i++) {
        const float *row = map + (int64_t)i * u->w * step;
        float *to = u->wide + (size_t)i * (size_t)u->W;
        for (int j = 0; j < u->W; j++) {
            const tap x = u->columns[j];
            const float a = x.low >= 0 ? row[x.low * step] : 0.0f;
            const float b = x.high >= 0 ? row[x.high * step] : 0.0f;
            to[j] = blend(a, b, x.t);
        }
    }
}

static const float *wide_row(const pxi_upsampler *u, int row)
{
    return u->wide + (size_t)(row < 0 ? u->h : row) * (size_t)u->W;
}

static void output_row(const pxi_upsampler *u, int i, float *out)
{
    const tap y = u->rows[i];
    const float *top = wide_row(u, y.low), *bottom = wide_row(u, y.high);
#pragma omp simd
    for (int j = 0; j < u->W; j++)
        out[j] = top[j] + y.t * (bottom[j] - top[j]);
}

void pxi_upsampler_run(pxi_upsampler *upsampler, const float *map, int64_t step, float *out)
{
    widen(upsampler, map, step);
    for (int i = 0; i < upsampler->H; i++)
        output_row(upsampler, i, out + (size_t)i * (size_t)upsampler->W);
}

int64_t pxi_upsampler_mask(pxi_upsampler *upsampler, const float *map, int64_t step, float level,
                           uint8_t *out)
{
    const pxi_upsampler *u = upsampler;
    int64_t ones = 0;
    if (!reaches(map, (size_t)u->h * (size_t)u->w, step, level, u->zero_padded)) {
        for (size_t i = 0; i < (size_t)u->H * (size_t)u->W; i++)
            out[i] = 0;
        return 0;
    }
    widen(upsampler, map, step);
    for (int i = 0; i < u->H; i++) {
        output_row(u, i, u->line);
        uint8_t *row = out + (size_t)i * (size_t)u->W;
        int64_t count = 0;
#pragma omp simd reduction(+ : count)
        for (int j = 0; j < u->W; j++) {
            row[j] = u->line[j] > level;
            count += row[j];
        }
        ones += count;
    }
    return ones;
}
