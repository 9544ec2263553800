/* src/generate/synthesis_pixels.c - the step of Algorithm 2 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "generate/synthesis_internal.h"

static double cut(double value, double low, double high)
{
    return value < low ? low : value > high ? high : value;
}

void pxi_pixels_step(const pxi_pixel_rule *rule, const float *original, const float *gradient,
                     float *pixels)
{
    const double d = rule->distance;
    for (size_t c = 0; c < rule->channels; c++) {
        size_t first, stride;
        const double stddev = pxi_pixel_channel(rule, c, &first, &stride);
        for (size_t i = 0; i < rule->plane; i++) {
            const size_t at = c * rule->plane + i;
            const double from = (double)original[at];
            const double move =
                cut(rule->step * ((double)gradient[first + i * stride] / stddev), -d, d);
            if (move == 0.0)
                continue; /* also keeps what lies a hair outside the range */
            const double moved = cut((double)pixels[at] + move, from - d, from + d);
            pixels[at] = pxi_pixel_keep(rule, original[at], cut(moved, rule->low, rule->high));
        }
    }
}
