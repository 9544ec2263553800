/* src/select/wobble.c - pictures moved by whole pixels, and doubt about a class */
/* SPDX-License-Identifier: Apache-2.0 */
#include "select/wobble.h"

#include "base/memory.h"

#include <assert.h>
#include <math.h>

static int64_t wobble_clip(int64_t at, int64_t size)
{
    return PX_MIN(PX_MAX(at, 0), size - 1);
}

void pxi_wobble_move(const px_shape *shape, int64_t right, int64_t down, const float *in,
                     float *out)
{
    const int64_t planes = shape->dim[0], height = shape->dim[1], width = shape->dim[2];
    for (int64_t c = 0; c < planes; c++)
        for (int64_t y = 0; y < height; y++) {
            const float *from = in + (c * height + wobble_clip(y - down, height)) * width;
            float *to = out + (c * height + y) * width;
            for (int64_t x = 0; x < width; x++)
                to[x] = from[wobble_clip(x - right, width)];
        }
}

double pxi_wobble_doubt(const double *p, int classes, int c)
{
    assert(c >= 0 && c < classes);
    double doubt = 0.0;
    for (int k = 0; k < classes; k++)
        if (k != c)
            doubt += p[k];
    return isnan(p[c]) ? NAN : doubt;
}
