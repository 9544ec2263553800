/* include/internal/op.h - what an operator is
 *
 * One descriptor per operator and version step. setup() is told the types and shapes of the inputs
 * (and the values of those that are constant), checks everything a stranger's file may have got
 * wrong, works out the outputs' types and shapes and whatever forward() needs, and asks for memory.
 * forward() and backward() then run many times, on many threads, and allocate nothing.
 *
 * The same forward() folds constants, interprets ONNX's node tests, and runs inside a plan
 * wherever no oneDNN kernel takes its place; it is the definition that fast paths are tested
 * against.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_INTERNAL_OP_H
#define PXI_INTERNAL_OP_H

#include <plexor/graph.h>

#include "base/arena.h"

typedef struct px_op_ctx {
    const px_node *node;
    int in_count, out_count;
    px_tensor *in;      /* a left-out optional input has dtype PX_NONE */
    px_tensor *out;     /* a left-out optional output has data NULL in forward(): do not write it */
    px_tensor *in_grad; /* backward: data NULL where no gradient is wanted; others are added to */
    px_tensor *out_grad; /* backward: data NULL where nothing flows back: means zero */
    void *params;        /* made by setup() in `arena`, read-only afterwards */
    void *saved;         /* saved_bytes written by forward(), read by backward() */
    void *scratch;       /* scratch_bytes of garbage, for the length of one call */
    size_t saved_bytes, scratch_bytes; /* set by setup() */
    bool copies; /* set by setup(): output 0 has input 0's bytes, for this node (see `view`) */
    px_arena *arena;                   /* setup() only */
    const px_graph *graph;             /* setup() only: what the file declares; NULL: no file */
} px_op_ctx;

typedef enum px_diff {
    PX_DIFF_NONE, /* not differentiable: asking for a gradient through it is an error that says so
                   */
    PX_DIFF_ZERO, /* derivative zero almost everywhere (Floor, Greater, Shape): nothing flows back
                   */
    PX_DIFF_YES,  /* backward() is there */
} px_diff;

typedef struct px_op {
    const char *name;
    const char *domain; /* NULL: ai.onnx */
    int since;          /* first opset this descriptor serves; the newest `since` <= opset wins */
    px_diff diff;

    /* Inputs with .data != NULL are constants. Sets ctx->out[i].dtype and .shape (which pass
     * px_shape_check() afterwards), ctx->params, ctx->saved_bytes, ctx->scratch_bytes. May be
     * called again on the same node with other shapes. */
    px_status (*setup)(px_op_ctx *ctx, px_error *err);

    /* May fail only on values (an index out of range). Inputs and outputs do not overlap, unless
     * `inplace`. */
    px_status (*forward)(const px_op_ctx *ctx, px_error *err);

    /* in_grad += J^T out_grad. Inputs and outputs of the forward run are there. */
    void (*backward)(const px_op_ctx *ctx);

    /* Rewrites ctx->params for tensors whose axes are stored in another order: stored axis i of
     * every full-rank input and output is logical axis perm[i]. Only for operators that treat axes
     * alike (Slice, Concat, Pad, Softmax ...); ctx's shapes are still logical when it is called and
     * are permuted by the caller afterwards. NULL: needs logical order. */
    px_status (*permute)(px_op_ctx *ctx, const int *perm, int rank, px_error *err);

    bool view; /* output 0 has input 0's bytes (Reshape, Identity): a plan makes it an alias */
    bool elementwise; /* out[i] depends on inputs at i only (after broadcasting), whatever the order
                       */
    bool inplace;     /* out[0] may share memory with in[0] of the same type and shape */
    bool random;      /* not to be folded (RandomNormal ...) */
    bool expands; /* a program takes it apart (If, Loop, SequenceAt ...): there is no setup() and no
                     forward() */
    bool
        shape_only; /* forward() reads input 0's shape but not its values (Shape, Size): foldable */

    /* Multiply-adds of one forward run times two; NULL: count the output's elements. */
    int64_t (*flops)(const px_op_ctx *ctx);
} px_op;

/* The descriptor that serves this node, or NULL. *known (may be NULL): whether the operator exists
 * here in any version. */
const px_op *pxi_op_find(const char *domain, const char *name, int opset, bool *known);

/* All descriptors, in no particular order; NULL-terminated. */
const px_op *const *pxi_op_all(void);

/* --- helpers for operator files --------------------------------------------------------------- */

/* The element type of PX_FLOAT32 tensors in operator code. The test build compiles base, graph,
 * onnx and ops once more with PXI_REAL_DOUBLE, so that gradients can be checked by finite
 * differences to double precision. Operator files therefore say px_real, not float, and take exp(),
 * sqrt() ... from <tgmath.h>. */
#ifdef PXI_REAL_DOUBLE
typedef double px_real;
#else
typedef float px_real;
#endif

#define PXI_F32(tensor) ((px_real *)(tensor).data)
#define PXI_I64(tensor) ((int64_t *)(tensor).data)

static inline bool pxi_op_has_in(const px_op_ctx *ctx, int i)
{
    return i < ctx->in_count && ctx->in[i].dtype != PX_NONE;
}

static inline bool pxi_op_wants_grad(const px_op_ctx *ctx, int i)
{
    return i < ctx->in_count && ctx->in_grad[i].data != NULL;
}

/* `node 'conv_1' (Conv)`: for the start of messages. Returns `buffer`. */
#define PXI_NODE_TEXT 192
const char *pxi_node_text(const px_node *node, char buffer[PXI_NODE_TEXT]);

/* px_fail with the node's name in front. */
px_status pxi_op_fail(const px_op_ctx *ctx, px_error *err, px_status status, const char *format,
                      ...) PX_PRINTF(4, 5);

/* Refuses node->input_count / output_count outside the bounds, and missing inputs below `min_in`.
 */
px_status pxi_op_arity(const px_op_ctx *ctx, int min_in, int max_in, int min_out, int max_out,
                       px_error *err);

/* -rank..rank-1 to 0..rank-1, or PX_E_INPUT. */
px_status pxi_op_axis(const px_op_ctx *ctx, int64_t axis, int rank, int *out, px_error *err);

/* Arena memory for params, zeroed; sets ctx->params. PX_E_NOMEM on failure. */
px_status pxi_op_params(px_op_ctx *ctx, size_t bytes, px_error *err);

/* A constant int32/int64 input as int64 values in arena memory; PX_E_UNSUPPORTED, naming the node,
 * when the input is not constant. Scalars count as one element. */
px_status pxi_op_const_ints(px_op_ctx *ctx, int input, const int64_t **values, int64_t *count,
                            px_error *err);

/* Numpy broadcasting of two shapes; PX_E_MISMATCH naming the node if they do not fit. */
px_status pxi_op_broadcast(const px_op_ctx *ctx, const px_shape *a, const px_shape *b,
                           px_shape *out, px_error *err);

/* setup() of operators with one input and one output of the same type and shape. */
px_status pxi_setup_same(px_op_ctx *ctx, px_error *err);

/* permute() of element-wise operators: nothing to rewrite, kernels read shapes from ctx. */
px_status pxi_permute_nothing(px_op_ctx *ctx, const int *perm, int rank, px_error *err);

#endif
