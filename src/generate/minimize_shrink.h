/* src/generate/minimize_shrink.h - one fault on its way back to its seed
 *
 * Delta debugging (Zeller and Hildebrandt, Simplifying and Isolating Failure-Inducing Input, TSE
 * 2002) of a difference between two pictures. A *move* makes the difference smaller in some
 * *units*: links of a chain, blocks of pixels, pixels, values. It is tried for all units at once,
 * and where the network then no longer errs, for each half of them, and so on: what is not needed
 * goes in few tries, what is needed costs about log2(units) tries each. Units with the largest
 * difference come first. What comes out errs, and is nowhere farther from the seed than the fault.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_GENERATE_MINIMIZE_SHRINK_H
#define PXI_GENERATE_MINIMIZE_SHRINK_H

#include <plexor/mutate.h>

typedef struct pxi_shrink {
    int channels, height, width; /* planes */
    const uint8_t *root;
    uint8_t *now; /* the fault; becomes what is found */
    /* Whether the network errs on these pixels. */
    px_status (*errs)(void *context, const uint8_t *pixels, bool *out, px_error *err);
    void *context;
    int64_t executions, most; /* done, and allowed */
    uint8_t *trial, *spare;   /* scratch, made by pxi_shrink_run() */
} pxi_shrink;

/* Drops links (kept[i] becomes false) where the shorter chain still errs, and is not farther from
 * the root than what there is; `now` becomes what the chain gives. A chain that does not give `now`
 * to begin with stays as it is. Then everything else. */
px_status pxi_shrink_run(pxi_shrink *shrink, const px_drawn *links, size_t link_count, bool *kept,
                         px_error *err);

#endif
