/* src/describe/annotation_pool.c - masked sums and means of maps (LGR C.2, Eq 6) */
/* SPDX-License-Identifier: Apache-2.0 */
#include "describe/annotation_pool.h"

#include "describe/mask.h"

void pxi_weights_set(pxi_weights *weights, const uint8_t *mask, int H, int W, int h, int w,
                     float *scratch)
{
    weights->count = 0;
    weights->sum = 0.0;
    pxi_mask_downsample(mask, H, W, h, w, scratch);
    for (int32_t i = 0; i < h * w; i++)
        if (scratch[i] != 0.0f) {
            weights->at[weights->count] = i;
            weights->weight[weights->count++] = scratch[i];
            weights->sum += (double)scratch[i];
        }
}

void pxi_pool_masked(const pxi_weights *weights, const float *maps, int64_t channels, size_t places,
                     bool sum, float *out)
{
    const double by = sum ? 1.0 : weights->sum;
    for (int64_t c = 0; c < channels; c++) {
        const float *map = maps + (size_t)c * places;
        double total = 0.0;
        for (size_t i = 0; i < weights->count; i++)
            total += (double)weights->weight[i] * (double)map[weights->at[i]];
        out[c] = weights->count ? (float)(total / by) : 0.0f;
    }
}
