/* src/ops/program_internal.h - a program while it is made (program.c, unroll.c, sequence.c) */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_OPS_PROGRAM_INTERNAL_H
#define PXI_OPS_PROGRAM_INTERNAL_H

#include <internal/program.h>

/* What all turns of an inner graph share: a turn must not cost the bytes of its weights. */
typedef struct inner_constants {
    const px_graph *graph;
    int *value; /* of the program, per value of the graph; -1: no constant */
    struct inner_constants *next;
} inner_constants;

typedef struct program_builder {
    pxi_program *program;
    const px_graph *graph; /* the model's */
    const pxi_program_request *request;
    bool *live;       /* per node */
    px_value *values; /* program->graph.values, where they are the program's own */
    int value_capacity, step_capacity;
    int node_count; /* that were added, with all turns of loops */
    inner_constants *constants;
    size_t constant_bytes; /* of the file, or what counts of them */
    size_t folded_bytes;
    int64_t folded_flops;
} program_builder;

/* A value of the program's own; `name` lives as long as the program. */
px_status pxi_program_value(program_builder *b, const char *name, int *out, px_error *err);
/* One that is a constant, whose data outlive the program. */
px_status pxi_program_constant(program_builder *b, const px_tensor *tensor, int *out,
                               px_error *err);

/* Refuses what is too much for a program: `count` nodes more, or what takes as much memory. */
px_status pxi_program_charge(program_builder *b, const px_node *node, int count, px_error *err);
/* Sets a node up and folds it, makes a step of it, or takes it apart. The node outlives the
 * program, and its inputs and outputs are values of the program. */
px_status pxi_program_add(program_builder *b, const px_node *node, px_error *err);

/* --- unroll.c -------------------------------------------------------------------------------- */

px_status pxi_program_expand(program_builder *b, const px_node *node, px_error *err);

/* `to` is another name of `from`, a tensor or a sequence. */
px_status pxi_program_alias(program_builder *b, int from, int to, px_error *err);

/* A node for what `around` is taken apart into, of an operator as it is in PXI_EMIT_OPSET. *out is
 * its output; -1: a new value, which it gets. */
enum { PXI_EMIT_OPSET = 9 };
px_status pxi_program_emit(program_builder *b, const px_node *around, const char *type,
                           const int *inputs, int input_count, const px_attr *attrs, int attr_count,
                           int *out, px_error *err);

/* Several tensors as one, along a new axis or an old one. */
px_status pxi_program_join(program_builder *b, const px_node *around, const int *parts, int count,
                           int64_t axis, bool new_axis, int out, px_error *err);
/* Entry `at` of an axis, which goes. */
px_status pxi_program_entry(program_builder *b, const px_node *around, int value, int64_t axis,
                            int64_t at, int *out, px_error *err);
/* A constant number. */
px_status pxi_program_number(program_builder *b, px_dtype dtype, int64_t number, int *out,
                             px_error *err);
/* The graph of an attribute, given values for its own inputs; `results` has room for its outputs.
 * `turn` tells its values apart from those of other turns. */
px_status pxi_program_inline(program_builder *b, const px_node *around, const px_attr *body,
                             const int *given, int64_t turn, int *results, px_error *err);

/* --- sequence.c ------------------------------------------------------------------------------ */

px_status pxi_program_feed_sequence(program_builder *b, const pxi_feed *feed, px_error *err);
/* Makes `value` the sequence of these. */
px_status pxi_program_sequence(program_builder *b, int value, const int *items, int64_t count,
                               px_error *err);
px_status pxi_program_expand_sequence(program_builder *b, const px_node *node, px_error *err);

#endif
