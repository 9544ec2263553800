/* src/repair/hold_out.h - which inputs are trained on, and which are held back */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_REPAIR_HOLD_OUT_H
#define PXI_REPAIR_HOLD_OUT_H

#include <internal/feeder.h>

typedef struct pxi_items { /* indices in a data set, ascending */
    int64_t *index;
    int64_t count;
} pxi_items;

void pxi_items_done(pxi_items *items);

/* All of a set, or those of it that `from` names. */
px_status pxi_items_all(const px_feeder_set *from, pxi_items *out, px_error *err);

/* Takes round(fraction * n) of the n items of each class out of `from` and into `held`, drawn by
 * the seed. */
px_status pxi_items_hold_out(const px_dataset *set, int classes, double fraction, uint64_t seed,
                             pxi_items *from, pxi_items *held, px_error *err);

/* Leaves at most `limit` of them (0: all), drawn by the seed; `which` tells draws apart. */
px_status pxi_items_limit(pxi_items *items, int64_t limit, uint64_t seed, uint32_t which,
                          px_error *err);

#endif
