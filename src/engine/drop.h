/* src/engine/drop.h - the masks of Dropout */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_ENGINE_DROP_H
#define PXI_ENGINE_DROP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct pxi_drop {
    uint64_t seed;
    uint32_t block;     /* the first Philox block of this Dropout */
    uint32_t threshold; /* of 24 random bits: below it, an element is dropped */
    float scale;        /* of what is left */
} pxi_drop;

/* 0 <= ratio <= 1. */
pxi_drop pxi_drop_of(double ratio);

/* to (+)= from * mask for the `count` elements of one sample. */
void pxi_drop_row(const pxi_drop *drop, uint32_t sample, uint32_t iteration, const float *from,
                  float *to, size_t count, bool adds);

#endif
