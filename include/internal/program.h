/* include/internal/program.h - a graph specialised to concrete input shapes
 *
 * Walks the graph once: finds every node's operator, calls setup(), folds whatever depends on
 * constants only, and leaves out what nobody asked for. Half and bfloat16 do not exist inside a
 * program: constants and feeds of those types are widened to float32, and so is Cast's target.
 *
 * If, Loop, Scan, and what makes and reads sequences are taken apart on the way (unroll.c): the
 * branch that is taken, every turn of a loop, the elements. What is inside of them gets values and
 * nodes of the program's own, behind the graph's.
 *
 * Immutable once made; the engine compiles plans from it, `info` prints from it, and when all feeds
 * have data it is an interpreter: every wanted value ends up folded.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_INTERNAL_PROGRAM_H
#define PXI_INTERNAL_PROGRAM_H

#include <internal/op.h>
#include <internal/tensor.h>

#include <plexor/weights.h>

typedef struct pxi_feed {
    int value;        /* of the graph: an input, or any inner value (a restart) */
    px_tensor tensor; /* type and shape; data NULL: known at run time only; borrowed if not */
} pxi_feed;           /* of a PX_SEQUENCE all data are known */

typedef struct pxi_slot { /* one per graph value */
    px_tensor tensor; /* data != NULL: a constant; dtype PX_NONE: not computed in this program */
    bool is_feed, is_wanted, varies;
    int producer;     /* step index; -1: feed, constant or not computed */
    const int *items; /* a PX_SEQUENCE's values, shape.dim[0] of them; it has no data */
} pxi_slot;

typedef struct pxi_step { /* one live node */
    const px_op *op;
    px_op_ctx ctx; /* in/out hold types, shapes and constants' data; no other data */
} pxi_step;

typedef struct pxi_program {
    const px_model *model;
    px_arena *arena;
    /* The model's, with the program's own values behind its own: their nodes are those of steps. */
    px_graph graph;
    pxi_slot *slots; /* graph.value_count of them */
    pxi_step *steps; /* in topological order */
    int step_count;
    bool chooses; /* what is computed hangs on values known at run time only, of all samples */
} pxi_program;

typedef struct pxi_program_request {
    const pxi_feed *feeds;
    size_t feed_count;
    const int *wanted; /* value indices to compute; NULL: the graph's outputs */
    size_t wanted_count;
    const int *varying; /* constants to treat as variables: what depends on them stays a step */
    size_t varying_count;
    px_weights *weights; /* NULL, or where constants that change are read: all of them vary */
    bool interpret;      /* fold whatever can be folded; without, what takes long stays a step */
} pxi_program_request;

/* On failure *err names all unsupported operators (as many as fit), not just the first. */
px_status pxi_program_make(const px_model *model, const pxi_program_request *request,
                           pxi_program **out, px_error *err);
/* The same with nothing varying, for who is after types and shapes. */
px_status pxi_program_new(const px_model *model, const pxi_feed *feeds, size_t feed_count,
                          const int *wanted, size_t wanted_count, pxi_program **out, px_error *err);
void pxi_program_free(pxi_program *program);

#endif
