/* src/attribute/lrp_internal.h - what the files of LRP, layer-wise relevance propagation, share */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_ATTRIBUTE_LRP_INTERNAL_H
#define PXI_ATTRIBUTE_LRP_INTERNAL_H

#include "attribute/lrp.h"

/* Makes lrp->positive and lrp->negative from the weights of its linear steps (lrp_weights.c). */
px_status pxi_lrp_split_weights(pxi_lrp *lrp, px_error *err);

/* Makes lrp->segments from its steps (lrp_run.c). */
px_status pxi_lrp_segments(pxi_lrp *lrp, px_error *err);

enum { PXI_LRP_SPARES = 4 }; /* P, N, S+, S- of values that may be negative */

typedef struct pxi_lrp_block {
    size_t count; /* floats */
    bool busy;
} pxi_lrp_block;

struct pxi_lrp_run {
    const pxi_lrp *lrp;
    pxi_segment_run segments;
    struct px_arena *arrays;
    int *block;    /* per value; -1: carries nothing */
    int *complete; /* per value: the last step that adds to it; -1: none */
    int *born;     /* per value: the first one */
    bool *begun;   /* per value: something was added to it */
    pxi_lrp_block *blocks;
    float **memory; /* per block */
    int block_count;
    float *spare[PXI_LRP_SPARES]; /* NULL: nothing may be negative */
};

/* Step s with positive weights, and with negative ones (NULL: there are none). */
px_session *pxi_lrp_first(const pxi_lrp_run *run, size_t s);
px_session *pxi_lrp_second(const pxi_lrp_run *run, size_t s);

/* Where the engine puts such a shape: pictures and sequences channels-last. */
px_place pxi_lrp_place(float *data, const px_shape *shape);

/* Whether step s hands its relevance on as it is: nobody else adds to that value. */
bool pxi_lrp_hands_on(const pxi_lrp_run *run, int s);

#endif
