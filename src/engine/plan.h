/* src/engine/plan.h - the inside of a plan: values, units of work, memory
 *
 * A plan is made in one pass over a program's steps (lower.c), each becoming a *unit*: a fused
 * convolution, a dense product, a pooling, or one plain-C operator. A *cell* is a value inside the
 * plan: a graph value, or a copy of one in the other layout. Then gradients are planned (which
 * cells have one, which units run backward), units build their kernels, and memory is laid out.
 *
 * Activations of rank 4, and of rank 3 as if they had a height of one, are stored channels-last
 * (NHWC) wherever a unit prefers it; shapes are always logical (NCHW).
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_ENGINE_PLAN_H
#define PXI_ENGINE_PLAN_H

#include <plexor/engine.h>

#include "base/arena.h"
#include <internal/program.h>

typedef enum pxi_layout { PXI_PLAIN, PXI_NHWC } pxi_layout;

typedef struct pxi_span { /* when a piece of session memory is in use, and where it lies */
    int first, last;      /* unit times; first > last: never */
    size_t bytes, offset;
    struct pxi_span *heir_of; /* lies where this one lies; NULL: has a place of its own */
} pxi_span;

typedef struct pxi_cell {
    px_tensor tensor; /* type and logical shape; data: a constant in `layout` order */
    pxi_layout layout;
    int value;     /* of the graph; -1: a copy */
    int root;      /* the cell whose memory this one shares; itself if it has its own */
    int twin;      /* the same value in the other layout; -1: none yet */
    bool pinned;   /* a feed, kept or an output: not overwritten within a run */
    bool observed; /* shown to the session's observer */
    int gate;      /* 1 + the gate it goes through; 0: none */
    bool is_wrt, is_seed;
    bool is_weight; /* a constant that changes between runs: px_plan_options.weights */
    /* of the root only: */
    bool depends; /* on a value in wrt, through differentiable units */
    bool reached; /* from a seed */
    bool has_grad;
    pxi_span span, grad_span;
    float bound; /* no |value| is larger, unless the run is wild; INFINITY: not known */
} pxi_cell;

typedef struct pxi_unit pxi_unit;

typedef struct pxi_unit_kind {
    const char *name;
    /* After gradients are planned: makes kernels, sets scratch/saved sizes and what backward reads.
     */
    px_status (*build)(px_plan *plan, pxi_unit *unit, px_error *err);
    /* The plan's weights changed: packs them again. NULL: reads them where they are. */
    px_status (*refresh)(const px_plan *plan, pxi_unit *unit, px_error *err);
    /* Sets the bounds of what the unit makes. NULL: they are not known. */
    void (*bound)(px_plan *plan, pxi_unit *unit);
    /* Makes what a session needs to run the unit (memory handles); *state starts as NULL. */
    px_status (*attach)(const pxi_unit *unit, px_session *session, void **state, px_error *err);
    px_status (*forward)(const pxi_unit *unit, px_session *session, void *state, px_error *err);
    px_status (*backward)(const pxi_unit *unit, px_session *session, void *state, px_error *err);
    /* A unit that needs the whole batch, which many sessions share, does half its work in forward()
     * and backward(); then meet() joins the states of all of them, and the rest follows. NULL: it
     * needs no one. */
    void (*meet)(const pxi_unit *unit, void *const *states, int count, bool backward);
    /* What meet() reads of a state and other ranks have: *count doubles. */
    double *(*said)(const pxi_unit *unit, void *state, bool backward, size_t *count);
    px_status (*forward_rest)(const pxi_unit *unit, px_session *session, void *state,
                              px_error *err);
    px_status (*backward_rest)(const pxi_unit *unit, px_session *session, void *state,
                               px_error *err);
    /* Moves statistics in the plan's weights, a share of the way that they would go. */
    void (*commit)(const pxi_unit *unit, void *state, double share);
    void (*detach)(void *state);
    void (*release)(pxi_unit *unit); /* kernels made by build(); NULL impl is fine */
} pxi_unit_kind;

struct pxi_unit {
    const pxi_unit_kind *kind;
    int step; /* of the program: the last step of a fused group; -1: a layout copy */
    int in_count, out_count;
    int *in, *out; /* cells; -1: left out */
    void *impl;    /* the kind's own, in the plan's arena */
    const char *kernel;
    int64_t flops;
    size_t scratch_bytes; /* for the length of one call */
    pxi_span saved;       /* from forward to backward */
    bool backward;        /* takes part in the backward pass */
    bool backward_reads_in, backward_reads_out;
    int donor;   /* the input cell whose memory out[0] would like to take over; -1: none */
    bool guards; /* looks at what it reads, see bounds.c */
    float tame;  /* the largest |x| with which its kernel gives what plain loops would */
};

struct px_plan {
    const px_model *model;
    px_arena *arena;
    pxi_program *program;
    int64_t batch;
    bool batch_is_baked; /* the file's own, though another was wanted */
    bool reference;
    bool repeat;       /* backward more than once after a forward run */
    bool direct;       /* convolutions add up what they are made of, nothing else */
    bool plain_linear; /* oneDNN lacks a kernel for some shape: linear operators run on plain C */
    bool wants_gradients; /* there are seeds */
    bool weight_grads;    /* some constant is in wrt */
    px_weights *weights;  /* where changing constants are; NULL: nothing changes */
    bool training;        /* Dropout drops */
    bool batch_norms;     /* BatchNormalization takes the batch's statistics */
    uint32_t drop_blocks; /* of random numbers, given to Dropout units so far */
    pxi_cell *cells;      /* first program->graph.value_count of them are values */
    size_t cell_cap;
    int cell_count;
    pxi_unit *units;
    size_t unit_cap;
    int unit_count;
    int *feeds; /* cells */
    size_t feed_count;
    px_gate *gates;
    int *factors; /* cells of the gates' factors */
    size_t gate_count;
    int *given; /* observed cells that no unit makes: feeds, constants and what was folded */
    size_t given_count;
    size_t arena_bytes, scratch_offset;
    int64_t flops;
};

struct px_session {
    const px_plan *plan;
    struct pxi_workers *workers; /* whose it is, and on which lane; NULL: the caller's own */
    int lane;
    void *stream;   /* of prim.h */
    char *memory;   /* plan->arena_bytes */
    void **states;  /* per unit */
    bool *grad_set; /* per root cell: something was written since the last clear */
    px_observer observer;
    void *observer_context;
    /* In training: how many of the micro-batch's samples count, where they lie in the batch, and
     * what random numbers are drawn with. */
    int64_t samples, first, iteration;
    uint64_t seed;
    int at;    /* the unit whose meeting the session waits for; -1: none */
    bool wild; /* a guard found NaN, infinity or a value near it: no bound holds in this run */
};

/* Forward from the start, or from the meeting it waits for, to the next meeting (session->at) or
 * to the end (-1); backward likewise. */
px_status pxi_session_forward_on(px_session *session, px_error *err);
px_status pxi_session_backward_on(px_session *session, px_error *err);

/* --- lowering (lower.c, fuse.c) -------------------------------------------------------------- */

enum { PXI_ACT_PARTS = 5 };

typedef enum pxi_act_kind {
    PXI_ACT_NONE,
    PXI_ACT_RELU, /* alpha: slope below zero */
    PXI_ACT_CLIP, /* alpha, beta: bounds */
    PXI_ACT_SIGMOID,
    PXI_ACT_TANH,
    PXI_ACT_ELU,       /* alpha */
    PXI_ACT_HARDSWISH, /* these are forward only: their output does not tell their derivative */
    PXI_ACT_SILU,      /* x / (1 + exp(-x)) */
    PXI_ACT_GELU,      /* x Phi(x) */
} pxi_act_kind;

typedef struct pxi_act {
    pxi_act_kind kind;
    float alpha, beta;
} pxi_act;

/* What is fused behind a linear operator or a normalisation by the batch. Steps of the program; -1:
 * none. */
typedef struct pxi_group {
    int head, norm, add, act;
    int last;     /* the last of them: the unit is emitted there */
    int residual; /* value added by `add`; -1: none */
    int bias;     /* value added by `add` that is a constant bias (MatMul + Add); -1: none */
    pxi_act
        fused; /* what `act` and the steps before it, of which an activation may be made up, do */
    int parts[PXI_ACT_PARTS]; /* those steps; -1: none */
} pxi_group;

/* groups[i].head == i for heads; *group_of[i] is the head of the group that step i belongs to, or
 * -1. */
px_status pxi_fuse(const px_plan *plan, pxi_group *groups, int *group_of, px_error *err);

px_status pxi_lower(px_plan *plan, px_error *err);

/* The cell in the wanted layout, made by a layout copy where needed; -1 when out of memory. */
int pxi_plan_as(px_plan *plan, int cell, pxi_layout layout);
int pxi_plan_add_cell(px_plan *plan, pxi_cell cell); /* its index; -1 when out of memory */
/* Appends a unit with room for its cells; NULL when out of memory. */
pxi_unit *pxi_plan_add_unit(px_plan *plan, const pxi_unit_kind *kind, int step, int in_count,
                            int out_count);

/* --- activations that can be fused (activation.c) -------------------------------------------- */

/* Whether the step is an activation that can be fused; with `gradient`, whether its derivative can
 * be had from its output. */
bool pxi_act_from_step(const pxi_step *step, bool gradient, pxi_act *out);

/* g = dy * act'(y) (y may be NULL without an activation), and where `residual` is not NULL also
 * residual (+)= g. g may be dy. */
void pxi_act_backward(const pxi_act *act, const float *y, const float *dy, float *g,
                      float *residual, bool residual_adds, size_t count);

/* y = act(y). NaN stays NaN. */
void pxi_act_forward(const pxi_act *act, float *y, size_t count);

/* Whether the gradient behind an activation needs a place of its own, because that of the unit's
 * output, or of a view of it, was asked for and must not be masked in place. */
bool pxi_act_needs_place(const px_plan *plan, const pxi_act *act, int cell);

/* --- memory (layout.c) ----------------------------------------------------------------------- */

px_status pxi_plan_gradients(px_plan *plan, px_error *err); /* which cells and units take part */
px_status pxi_plan_memory(px_plan *plan, px_error *err);    /* spans to offsets */

/* --- values that are not finite (bounds.c) --------------------------------------------------- */

/* |y| <= gain * max |x| + bias; NaN where the weights have one. */
typedef struct pxi_gain {
    double gain, bias;
} pxi_gain;

/* Of `outs` results that have `each` weights in a row, or `mixed` with the others'. bias NULL:
 * none.
 */
pxi_gain pxi_gain_of(const float *weights, int64_t outs, int64_t each, bool mixed,
                     const float *bias);

/* All bounds and guards, after the units were built and whenever weights have changed. */
void pxi_plan_bounds(px_plan *plan);
float pxi_cell_bound(const px_plan *plan, int cell);
void pxi_cell_set_bound(px_plan *plan, int cell, double bound); /* too large ones are not known */
/* Whether oneDNN loses a NaN in the activation. */
bool pxi_act_hides(const pxi_act *act);
/* The bound of y = act(linear(x) + residual), and whether the unit has to guard; `residual` is a
 * cell, -1: none. */
void pxi_bound_linear(px_plan *plan, pxi_unit *unit, const pxi_gain *gain, const pxi_act *act,
                      bool hides, int residual);

/* The bound of a unit that makes nothing larger than its first input is. */
void pxi_bound_same(px_plan *plan, pxi_unit *unit);

bool pxi_is_tame(const float *x, size_t count, float limit); /* |x| <= limit, and no NaN */
/* Whether the unit's kernel can take a sample; if not, the run is wild. residual NULL: none. */
bool pxi_unit_is_tame(const pxi_unit *unit, px_session *session, const float *x, size_t count,
                      const float *residual, size_t residual_count);

/* --- kinds ---------------------------------------------------------------------------------------
 *
 * One file each; steps of a plan point at theirs. */

extern const pxi_unit_kind pxi_unit_plain, pxi_unit_copy, pxi_unit_view, pxi_unit_conv,
    pxi_unit_dense, pxi_unit_matmul, pxi_unit_pool, pxi_unit_scale, pxi_unit_norm, pxi_unit_drop,
    pxi_unit_gate, pxi_unit_chain;

/* A rank-4 tensor's elements, of any type, from one layout to the other. */
void pxi_copy_layout(const px_tensor *tensor, const void *from, void *to, bool to_nhwc);

/* Element-wise operators that run as one unit: chain_of[s] is the last step of the chain that step
 * s belongs to; -1: none. */
px_status pxi_find_chains(const px_plan *plan, const int *group_of, int *chain_of, px_error *err);
px_status pxi_emit_chain(px_plan *plan, const int *chain_of, int last, px_error *err);

/* Which layout a plain operator should run in: channels-last if its data already is and it can. */
pxi_layout pxi_plain_layout(const px_plan *plan, const pxi_step *step);
/* A constant operand of at most `rank` axes, in channels-last order; -1 when out of memory. */
int pxi_plain_constant_nhwc(px_plan *plan, int cell, int rank);
void pxi_stored_shape(px_shape *shape); /* from logical to channels-last order */
/* How large an operator's result can be, by its float inputs' bounds; negative ones are left out.
 */
double pxi_plain_bound(const px_node *node, const double *bounds, int count);

/* Emits a plain unit for a step, its inputs in `layout`. */
px_status pxi_emit_plain(px_plan *plan, int step, pxi_layout layout, px_error *err);
px_status pxi_emit_conv(px_plan *plan, const pxi_group *group, px_error *err);
px_status pxi_emit_dense(px_plan *plan, const pxi_group *group, px_error *err);
px_status pxi_emit_matmul(px_plan *plan, int step, px_error *err);
px_status pxi_emit_pool(px_plan *plan, int step, px_error *err);
px_status pxi_emit_scale(px_plan *plan, int step, px_error *err);
px_status pxi_emit_norm(px_plan *plan, const pxi_group *group, px_error *err);
px_status pxi_emit_drop(px_plan *plan, int step, px_error *err);
/* Behind the units that make `value`: they make another cell, and the gate makes the value's. */
px_status pxi_emit_gate(px_plan *plan, int step, int value, px_error *err);
/* Whether a weight's gradient comes from this step alone: fast kernels overwrite, they do not add.
 */
bool pxi_weight_is_own(const px_plan *plan, const pxi_step *step, int input);
/* Whether the fast kind can take the step (shapes, types, constant weights). */
bool pxi_conv_takes(const px_plan *plan, const pxi_step *step);
bool pxi_dense_takes(const px_plan *plan, const pxi_step *step);
bool pxi_matmul_takes(const px_plan *plan, const pxi_step *step);
bool pxi_pool_takes(const px_plan *plan, const pxi_step *step);
bool pxi_scale_takes(const px_plan *plan, const pxi_step *step);
/* In training only: */
bool pxi_norm_takes(const px_plan *plan, const pxi_step *step);
bool pxi_drop_takes(const px_plan *plan, const pxi_step *step);

/* --- session memory -------------------------------------------------------------------------- */

static inline const pxi_cell *pxi_cell_root(const px_plan *plan, int cell)
{
    return &plan->cells[plan->cells[cell].root];
}

static inline void *pxi_cell_data(const px_session *session, int cell)
{
    const pxi_cell *root = pxi_cell_root(session->plan, cell);
    return root->tensor.data ? root->tensor.data : session->memory + root->span.offset;
}

static inline float *pxi_cell_grad(const px_session *session, int cell)
{
    return (float *)(void *)(session->memory +
                             pxi_cell_root(session->plan, cell)->grad_span.offset);
}

static inline bool pxi_cell_wants_grad(const px_plan *plan, int cell)
{
    return cell >= 0 && pxi_cell_root(plan, cell)->depends && pxi_cell_root(plan, cell)->has_grad;
}

static inline void *pxi_session_scratch(const px_session *session)
{
    return session->memory + session->plan->scratch_offset;
}

/* Whether the cell's gradient already holds something: the next contribution must be added. Marks
 * it as set. */
static inline bool pxi_grad_adds(px_session *session, int cell)
{
    bool *set = &session->grad_set[session->plan->cells[cell].root];
    const bool adds = *set;
    *set = true;
    return adds;
}

/* Whether a tensor has channels and pixels, and so a channels-last layout: (N, C, W), (N, C, H, W).
 */
static inline bool pxi_shape_has_pixels(const px_shape *shape)
{
    return shape->rank == 3 || shape->rank == 4;
}

static inline int64_t pxi_shape_pixels(const px_shape *shape)
{
    return shape->dim[2] * (shape->rank == 4 ? shape->dim[3] : 1);
}

/* A view of a cell's memory with strides for logical axes. */
void pxi_cell_strides(const pxi_cell *cell, int64_t stride[PX_MAX_RANK]);

#endif
