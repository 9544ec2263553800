/* src/mutate/cv_resize.c - OpenCV's cubic resize() of 8-bit pictures by a factor
 *
 * Four taps per axis (a = -0.75), the border repeated, weights in 1/2048, both axes in whole
 * numbers, one rounding at the end. OpenCV's own vector code goes through float here and differs
 * by one level in about one pixel of 40,000.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "mutate/warp.h"

#include "base/memory.h"
#include <internal/mutation.h>

#include <assert.h>
#include <math.h>
#include <stdlib.h>

typedef struct resize_taps {
    int32_t first;     /* may lie outside, as may the next three */
    int32_t weight[4]; /* in 1/2048 */
} resize_taps;

int pxi_cv_resized(double factor, int length)
{
    assert(factor > 0.0 && length > 0);
    const double side = pxi_round_even(factor * length);
    return side < 1.0 ? 1 : (int)side;
}

/* In single precision, as OpenCV has it: the weights' last bit depends on that. */
static resize_taps resize_taps_at(double factor, int at)
{
    const float a = -0.75f;
    float x = (float)((at + 0.5) / factor - 0.5), w[4];
    const float whole = floorf(x);
    resize_taps taps = {.first = (int32_t)whole - 1};
    x -= whole;
    w[0] = ((a * (x + 1) - 5 * a) * (x + 1) + 8 * a) * (x + 1) - 4 * a;
    w[1] = ((a + 2) * x - (a + 3)) * x * x + 1;
    w[2] = ((a + 2) * (1 - x) - (a + 3)) * (1 - x) * (1 - x) + 1;
    w[3] = 1.0f - w[0] - w[1] - w[2];
    for (int k = 0; k < 4; k++)
        taps.weight[k] = (int32_t)pxi_round_even((double)(w[k] * 2048.0f));
    return taps;
}

static inline int resize_inside(int i, int n)
{
    return i < 0 ? 0 : i >= n ? n - 1 : i;
}

/* The column numbers of the four taps and their weights, tap by tap. */
static void resize_columns(double factor, int width, int out_width, int32_t *columns,
                           int32_t *weights)
{
    for (int x = 0; x < out_width; x++) {
        const resize_taps taps = resize_taps_at(factor, x);
        for (int k = 0; k < 4; k++) {
            columns[k * out_width + x] = resize_inside(taps.first + k, width);
            weights[k * out_width + x] = taps.weight[k];
        }
    }
}

PXI_WIDE static void resize_row(const int32_t *restrict row, const int32_t *restrict columns,
                                const int32_t *restrict weights, int count, int32_t *restrict out)
{
    const int32_t *c1 = columns + count, *c2 = c1 + count, *c3 = c2 + count;
    const int32_t *w1 = weights + count, *w2 = w1 + count, *w3 = w2 + count;
    for (int x = 0; x < count; x++)
        out[x] = row[columns[x]] * weights[x] + row[c1[x]] * w1[x] + row[c2[x]] * w2[x] +
                 row[c3[x]] * w3[x];
}

PXI_WIDE static void resize_join(const int32_t *const rows[4], const int32_t weight[4], int count,
                                 uint8_t *restrict out)
{
    const int32_t *restrict a = rows[0], *restrict b = rows[1], *restrict c = rows[2],
                            *restrict d = rows[3];
    for (int x = 0; x < count; x++) {
        int32_t v = (a[x] * weight[0] + b[x] * weight[1] + c[x] * weight[2] + d[x] * weight[3] +
                     (1 << 21)) >>
                    22;
        v = v < 0 ? 0 : v;
        out[x] = (uint8_t)(v > 255 ? 255 : v);
    }
}

px_status pxi_cv_resize(double factor, const uint8_t *in, int height, int width, uint8_t *out,
                        px_error *err)
{
    const int out_height = pxi_cv_resized(factor, height),
              out_width = pxi_cv_resized(factor, width);
    const size_t ow = (size_t)out_width, w = (size_t)width, h = (size_t)height;
    int32_t *memory = NULL;
    PX_TRY(PX_NEW(memory, 8 * ow + w + h * ow, err));
    int32_t *columns = memory, *weights = columns + 4 * ow, *row = weights + 4 * ow;
    int32_t *across = row + w; /* every row of the picture, resized across */
    resize_columns(factor, width, out_width, columns, weights);
    for (size_t y = 0; y < h; y++) {
        for (size_t x = 0; x < w; x++)
            row[x] = in[y * w + x];
        resize_row(row, columns, weights, out_width, across + y * ow);
    }
    for (int y = 0; y < out_height; y++) {
        const resize_taps taps = resize_taps_at(factor, y);
        const int32_t *rows[4];
        for (int k = 0; k < 4; k++)
            rows[k] = across + (size_t)resize_inside(taps.first + k, height) * ow;
        resize_join(rows, taps.weight, out_width, out + (size_t)y * ow);
    }
    free(memory);
    return PX_OK;
}
