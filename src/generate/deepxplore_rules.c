/* src/generate/deepxplore_rules.c - light, occlusion and blackout */
/* SPDX-License-Identifier: Apache-2.0 */
#include "generate/deepxplore_rules.h"

#include "base/memory.h"

#include <stdbool.h>

static double box_mean(const pxi_box *box, int64_t channels, int64_t height, int64_t width,
                       const float *gradient)
{
    const int64_t bottom = PX_MIN(box->top + box->height, height);
    const int64_t right = PX_MIN(box->left + box->width, width);
    double sum = 0.0, count = 0.0;
    for (int64_t c = 0; c < channels; c++)
        for (int64_t y = box->top; y < bottom; y++)
            for (int64_t x = box->left; x < right; x++) {
                sum += (double)gradient[(c * height + y) * width + x];
                count += 1.0;
            }
    return count > 0.0 ? sum / count : 0.0;
}

void pxi_xplore_constrain(pxi_xplore_rule rule, const pxi_box *box, int64_t channels,
                          int64_t height, int64_t width, float *gradient)
{
    if (rule == PXI_XPLORE_NONE)
        return;
    const pxi_box all = {0, 0, height, width};
    const bool light = rule == PXI_XPLORE_LIGHT;
    const double mean = box_mean(light ? &all : box, channels, height, width, gradient);
    for (int64_t c = 0; c < channels; c++)
        for (int64_t y = 0; y < height; y++)
            for (int64_t x = 0; x < width; x++) {
                float *g = &gradient[(c * height + y) * width + x];
                const bool inside = y >= box->top && y < box->top + box->height && x >= box->left &&
                                    x < box->left + box->width;
                if (light)
                    *g = (float)mean;
                else if (rule == PXI_XPLORE_BLACKOUT)
                    *g = inside && mean < 0.0 ? -1.0f : 0.0f;
                else if (!inside)
                    *g = 0.0f;
            }
}
