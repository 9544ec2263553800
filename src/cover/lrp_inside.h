/* src/cover/lrp_inside.h - what the files of layer-wise relevance share */
#ifndef PXI_COVER_LRP_INSIDE_H
#define PXI_COVER_LRP_INSIDE_H

#include "cover/lrp.h"

/* Makes lrp->positive and lrp->negative from the weights of its linear steps (lrp_weights.c). */
px_status pxi_lrp_split_weights(pxi_lrp *lrp, px_error *err);

/* Plans of the steps by batch size, made when first wanted. */
px_status pxi_lrp_shelves_new(pxi_lrp *lrp, px_error *err);
void pxi_lrp_shelves_free(void *shelves);

typedef struct pxi_lrp_plans {
    px_plan *first, *second; /* positive and negative weights; second NULL: there are none */
} pxi_lrp_plans;

typedef struct pxi_lrp_shelf {
    int64_t batch;
    pxi_lrp_plans *plans; /* per step */
    size_t step_count;
    px_shape *shapes; /* per value, with the batch */
    struct pxi_lrp_shelf *next;
} pxi_lrp_shelf;

enum { PXI_LRP_SPARES = 4 }; /* P, N, S+, S- of values that may be negative */

typedef struct pxi_lrp_block {
    size_t count; /* floats */
    bool busy;
} pxi_lrp_block;

struct pxi_lrp_run {
    const pxi_lrp *lrp;
    const pxi_lrp_shelf *shelf;
    px_session **first, **second; /* per step */
    int *block;                   /* per value; -1: carries nothing */
    int *complete;                /* per value: the last step that adds to it; -1: none */
    int *born;                    /* per value: the first one */
    bool *begun;                  /* per value: something was added to it */
    pxi_lrp_block *blocks;
    float **memory; /* per block */
    int block_count;
    float *spare[PXI_LRP_SPARES]; /* NULL: nothing may be negative */
};

/* Where the engine puts such a shape: pictures and sequences channels-last. */
px_place pxi_lrp_place(float *data, const px_shape *shape);

/* Whether step s hands its relevance on as it is: nobody else adds to that value. */
bool pxi_lrp_hands_on(const pxi_lrp_run *run, int s);

#endif
