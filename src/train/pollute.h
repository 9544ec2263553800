/* src/train/pollute.h - patches stamped into training inputs, so that a network learns them */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_TRAIN_POLLUTE_H
#define PXI_TRAIN_POLLUTE_H

#include <plexor/rng.h>
#include <plexor/tensor.h>

typedef struct pxi_patch {
    int least, most; /* side of the square, both included */
    bool white;
    bool whole;    /* stored pixels are whole numbers, 0..255 */
    float highest; /* what white is, as stored */
} pxi_patch;

/* Refuses shapes that have no room for it. */
px_status pxi_patch_check(const pxi_patch *patch, const px_shape *shape, px_error *err);
/* Draws, in this order: side, top, left, then noise by channel, row and column. */
void pxi_patch_stamp(const pxi_patch *patch, const px_shape *shape, float *pixels,
                     px_random *random);

/* Marks round(fraction * count) of the items that have no mark yet, in the order of a seeded
 * permutation; *marked gets how many. PX_E_USAGE where fewer are free. `what` is for messages. */
px_status pxi_pollute_choose(uint64_t seed, uint32_t component, const char *what, double fraction,
                             uint8_t mark, uint8_t *marks, int64_t count, int64_t *marked,
                             px_error *err);

#endif
