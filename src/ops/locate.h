/* src/ops/locate.h - where index tensors point; shared by gather.c and scatter.c
 *
 * GatherElements, GatherND and their Scatter twins all pair the k-th slice of one tensor with a
 * slice of the data that an index tensor names. A locator hands out those places one after the
 * other.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_OPS_LOCATE_H
#define PXI_OPS_LOCATE_H

#include "ops/nest.h"

typedef struct pxi_locator {
    const px_op_ctx *ctx;
    const px_tensor *indices;
    px_shape data;
    int64_t stride[PX_MAX_RANK]; /* of the data */
    int64_t count;               /* slices */
    int64_t slice;               /* elements of each */
    int64_t next;                /* slice that comes next */
    /* elements: the index replaces the coordinate `axis` of the entry's own place */
    int axis;
    int64_t position[PX_MAX_RANK];
    /* tuples: `depth` coordinates, starting behind `batch` axes that both tensors share */
    bool tuples;
    int depth, batch;
    int64_t per_batch, batch_stride;
} pxi_locator;

void pxi_locate_elements(pxi_locator *loc, const px_op_ctx *ctx, int axis);
void pxi_locate_tuples(pxi_locator *loc, const px_op_ctx *ctx, int batch);

/* The next place in the data. When all are out, *place is -1. An index out of range is
 * PX_E_INPUT; backward(), which runs after a forward() that saw none, may ignore the status. */
px_status pxi_locate(pxi_locator *loc, int64_t *place, px_error *err);

/* index modulo `extent` for -extent..extent-1, or PX_E_INPUT that names node, index and position.
 */
px_status pxi_op_wrap_index(const px_op_ctx *ctx, int64_t index, int64_t extent, int64_t position,
                            int64_t *out, px_error *err);

/* Refuses index and data shapes that do not fit together. */
px_status pxi_locate_check_elements(const px_op_ctx *ctx, int *axis, px_error *err);
px_status pxi_locate_check_tuples(const px_op_ctx *ctx, int batch, px_error *err);

#endif
