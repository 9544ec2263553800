/* src/engine/segments.h - parts of a network by themselves, forward and back
 *
 * A segment begins at some values and ends at others: seeds are set where it ends, and gradients
 * come to where it begins. The plans for a number of samples are made when that number is first
 * wanted, and shared by threads; a run has one worker's sessions of them.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_ENGINE_SEGMENTS_H
#define PXI_ENGINE_SEGMENTS_H

#include <plexor/engine.h>

typedef struct pxi_segment { /* {0}: nothing to run */
    const px_model *model;
    const int *in, *out; /* values */
    int in_count, out_count;
} pxi_segment;

/* Shapes of all values of the models for `batch` samples. Called by one thread at a time. */
typedef px_status (*pxi_segment_shapes)(const void *context, int64_t batch, px_shape *shapes,
                                        px_error *err);

typedef struct pxi_segments pxi_segments;
/* `segments` is copied; what it points to, and `context`, outlive the result. */
px_status pxi_segments_new(const pxi_segment *segments, size_t count, int value_count,
                           pxi_segment_shapes shapes, const void *context, pxi_segments **out,
                           px_error *err);
void pxi_segments_free(pxi_segments *segments); /* NULL is fine */

typedef struct pxi_segment_run { /* {0}: not open */
    px_plan *const *plans;
    px_session **sessions; /* per segment; NULL: nothing to run, or not begun */
    size_t count;
    const px_shape *shapes; /* per value, with the batch */
} pxi_segment_run;
px_status pxi_segment_run_open(pxi_segments *segments, int64_t batch, pxi_segment_run *out,
                               px_error *err);
/* Makes the sessions, unless they are there: where that one is run, which they go on from. */
px_status pxi_segment_run_begin(pxi_segment_run *run, const px_session *from, px_error *err);
void pxi_segment_run_close(pxi_segment_run *run);

#endif
