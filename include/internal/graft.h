/* include/internal/graft.h - nodes put before and behind those of a network that was read
 *
 * The network is changed in place, before anybody else has it: values keep their indices, nodes
 * move back by how many are put before them, and weights stay where they lie. As with a builder the
 * first failure is remembered, and graft_finish() reports it.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_INTERNAL_GRAFT_H
#define PXI_INTERNAL_GRAFT_H

#include <internal/model.h>

enum { PXI_GRAFT_NODES = 256 };

typedef struct pxi_graft {
    px_model *model;
    px_value *values;
    px_node *front, *back;
    int value_count, front_count, back_count;
    int redirected; /* -1: none */
    const int *redirected_to;
    bool failed;
} pxi_graft;

/* Room for `values` new ones. */
px_status pxi_graft_begin(px_model *model, int values, pxi_graft *out, px_error *err);
/* A new value, of which nothing need be known. */
int pxi_graft_value(pxi_graft *graft, const char *name, px_dtype dtype, const px_shape *shape);
/* A constant; the numbers are copied. */
int pxi_graft_constant(pxi_graft *graft, const char *name, px_dtype dtype, const px_shape *shape,
                       const void *numbers);
/* A node with one output, named like that one; before all of the network's nodes, or behind them.
 * `opset` is the version of the operator that is meant. */
void pxi_graft_node(pxi_graft *graft, bool front, const char *type, int opset, const int *inputs,
                    int input_count, int output, const px_attr *attrs, int attr_count);
/* Node `node` of the network makes another value from now on; its own may become an input. */
void pxi_graft_redirect(pxi_graft *graft, int node, int output);
/* What the network takes and gives from now on; NULL: as it was. */
px_status pxi_graft_finish(pxi_graft *graft, const int *inputs, int input_count, const int *outputs,
                           int output_count, px_error *err);

#endif
