/* src/mutate/cv_warp.c - OpenCV's warpAffine() for 8-bit pictures, bit for bit
 *
 * Linear interpolation, zeros around. The map is inverted in double; coordinates are then sums of
 * two numbers rounded to 1/1024 pixel, taken to 1/32, and blended with weights of 1/1024.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "mutate/warp.h"

#include "base/memory.h"
#include <internal/mutation.h>

#include <stdlib.h>

enum { CV_ONE = 1024, CV_HALF_STEP = 16 }; /* units per pixel; half of 1/32 pixel */

/* Far outside is as good as just outside: there is nothing there. */
static inline int32_t cv_fixed(double v)
{
    const double far = 0x1p29;
    v = v < -far ? -far : v > far ? far : v;
    return (int32_t)pxi_round_even(v);
}

PXI_WIDE static void cv_points(const int32_t *restrict step_x, const int32_t *restrict step_y,
                               int32_t x0, int32_t y0, int height, int width, int32_t *restrict at,
                               int32_t *restrict fraction)
{
    const int stride = pxi_quad_width(width);
    for (int x = 0; x < width; x++) {
        const int32_t sx = (step_x[x] + x0) >> 5, sy = (step_y[x] + y0) >> 5;
        int32_t ix = sx >> 5, iy = sy >> 5;
        ix = ix < -2 ? -2 : ix;
        ix = ix > width ? width : ix;
        iy = iy < -2 ? -2 : iy;
        iy = iy > height ? height : iy;
        at[x] = (iy + 2) * stride + ix + 2;
        fraction[x] = (sy & 31) << 5 | (sx & 31);
    }
}

PXI_WIDE static void cv_blend(const uint32_t *restrict quads, const int32_t *restrict at,
                              const int32_t *restrict fraction, int width, uint8_t *restrict out)
{
    for (int x = 0; x < width; x++) {
        const uint32_t quad = quads[at[x]];
        const int32_t fx = fraction[x] & 31, fy = fraction[x] >> 5;
        const int32_t top = (int32_t)(quad & 255) * (32 - fx) + (int32_t)(quad >> 8 & 255) * fx;
        const int32_t bottom = (int32_t)(quad >> 16 & 255) * (32 - fx) + (int32_t)(quad >> 24) * fx;
        out[x] = (uint8_t)((top * (32 - fy) + bottom * fy + 512) >> 10);
    }
}

px_status pxi_cv_warp_apply(const double m[6], const uint8_t *in, uint8_t *out, int height,
                            int width, int channels, px_error *err)
{
    double inverse[6];
    const size_t w = (size_t)width, plane = (size_t)height * w;
    const size_t quad_count = (size_t)(height + 3) * (size_t)pxi_quad_width(width);
    const size_t words = 4 * w * sizeof(int32_t);
    const size_t quad_bytes = quad_count * (size_t)channels * sizeof(uint32_t);
    char *memory = pxi_alloc_aligned(words + quad_bytes + 2 * (w + 4));
    if (!memory)
        return pxi_no_memory_for(err, "a picture of %d x %d", width, height);
    int32_t *step_x = (int32_t *)(void *)memory, *step_y = step_x + w, *at = step_y + w,
            *fraction = at + w;
    uint32_t *quads = (uint32_t *)(void *)(memory + words);
    uint8_t *rows = (uint8_t *)(memory + words + quad_bytes);

    pxi_map_invert(m, inverse);
    for (int c = 0; c < channels; c++)
        pxi_quads_make(in + (size_t)c * plane, height, width, 0, rows,
                       quads + (size_t)c * quad_count);
    for (int x = 0; x < width; x++) {
        step_x[x] = cv_fixed(inverse[0] * x * CV_ONE);
        step_y[x] = cv_fixed(inverse[3] * x * CV_ONE);
    }
    for (int y = 0; y < height; y++) {
        const int32_t x0 = cv_fixed((inverse[1] * y + inverse[2]) * CV_ONE) + CV_HALF_STEP;
        const int32_t y0 = cv_fixed((inverse[4] * y + inverse[5]) * CV_ONE) + CV_HALF_STEP;
        cv_points(step_x, step_y, x0, y0, height, width, at, fraction);
        for (int c = 0; c < channels; c++)
            cv_blend(quads + (size_t)c * quad_count, at, fraction, width,
                     out + (size_t)c * plane + (size_t)y * w);
    }
    free(memory);
    return PX_OK;
}
