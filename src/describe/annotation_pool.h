/* src/describe/annotation_pool.h - masked sums and means of maps (LGR C.2, Eq 6) */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_DESCRIBE_ANNOTATION_POOL_H
#define PXI_DESCRIBE_ANNOTATION_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct pxi_weights { /* of a mask at the size of a map: the places that are not 0 */
    int32_t *at;             /* with room for all places; so has `weight` */
    float *weight;
    size_t count;
    double sum;
} pxi_weights;

/* Brings a mask of H x W to h x w and keeps what is not 0. `scratch` has h * w floats. */
void pxi_weights_set(pxi_weights *weights, const uint8_t *mask, int H, int W, int h, int w,
                     float *scratch);

/* out[c] = sum of weight * maps[c][place], divided by the sum of the weights unless `sum`; zeros
 * where the mask is empty. maps is [channels][places]. */
void pxi_pool_masked(const pxi_weights *weights, const float *maps, int64_t channels, size_t places,
                     bool sum, float *out);

#endif
