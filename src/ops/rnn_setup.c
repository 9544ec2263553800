/* src/ops/rnn_setup.c - what RNN, GRU and LSTM check before they run */
/* SPDX-License-Identifier: Apache-2.0 */
#include "ops/rnn.h"
#include <internal/nn_check.h>

#include <internal/tensor.h>
#include <string.h>

static px_status rnn_direction(const px_op_ctx *ctx, pxi_rnn_params *p, px_error *err)
{
    const char *text = px_node_string(ctx->node, "direction", "forward");
    p->directions = 1;
    if (strcmp(text, "bidirectional") == 0)
        p->directions = 2;
    else if (strcmp(text, "reverse") == 0)
        p->reverse = true;
    else if (strcmp(text, "forward") != 0 && strcmp(text, "foward") != 0) /* opset 1's misprint */
        return pxi_op_fail(ctx, err, PX_E_INPUT,
                           "its direction '%.40s' is none of forward, reverse, bidirectional",
                           text);
    return PX_OK;
}

static px_status rnn_shapes(px_op_ctx *ctx, const pxi_rnn_kind *kind, pxi_rnn_params *p,
                            px_error *err)
{
    const px_shape *x = &ctx->in[0].shape;
    PX_TRY(pxi_nn_rank(ctx, 0, 3, 3, err));
    PX_TRY(pxi_nn_rank(ctx, 2, 3, 3, err));
    p->seq = x->dim[p->batch_first ? 1 : 0];
    p->batch = x->dim[p->batch_first ? 0 : 1];
    p->input = x->dim[2];
    p->hidden = ctx->in[2].shape.dim[2];
    const int64_t named = px_node_int(ctx->node, "hidden_size", p->hidden);
    if (named != p->hidden)
        return pxi_op_fail(ctx, err, PX_E_MISMATCH,
                           "hidden_size says %lld where the recurrence weights have %lld",
                           (long long)named, (long long)p->hidden);
    if (p->hidden > INT32_MAX)
        return pxi_op_fail(ctx, err, PX_E_INPUT, "a hidden size of %lld is too large",
                           (long long)p->hidden);
    const int64_t directions = p->directions, rows = kind->gates * p->hidden;
    const int64_t weights[] = {directions, rows, p->input};
    const int64_t recurrence[] = {directions, rows, p->hidden};
    const int64_t bias[] = {directions, 2 * rows}, peepholes[] = {directions, 3 * p->hidden};
    const int64_t state[] = {p->batch_first ? p->batch : directions,
                             p->batch_first ? directions : p->batch, p->hidden};
    PX_TRY(pxi_nn_shape(ctx, 1, "the weights' tensor", 3, weights, err));
    PX_TRY(pxi_nn_shape(ctx, 2, "the recurrence weights' tensor", 3, recurrence, err));
    PX_TRY(pxi_nn_shape(ctx, 3, "the bias", 2, bias, err));
    PX_TRY(pxi_nn_shape(ctx, 4, "sequence_lens", 1, &p->batch, err));
    PX_TRY(pxi_nn_shape(ctx, 5, "initial_h", 3, state, err));
    if (kind->has_cell) {
        PX_TRY(pxi_nn_shape(ctx, 6, "initial_c", 3, state, err));
        PX_TRY(pxi_nn_shape(ctx, 7, "the peepholes' tensor", 2, peepholes, err));
    }
    const px_shape last = {.rank = 3, .dim = {state[0], state[1], state[2]}};
    const px_shape all = {.rank = 4,
                          .dim = {p->batch_first ? p->batch : p->seq,
                                  p->batch_first ? p->seq : directions,
                                  p->batch_first ? directions : p->batch, p->hidden}};
    for (int i = 0; i < ctx->out_count; i++)
        ctx->out[i] = (px_tensor){.dtype = PX_FLOAT32, .shape = i == 0 ? all : last};
    return px_shape_check(&all, err); /* before its parts are multiplied below */
}

px_status pxi_rnn_setup(px_op_ctx *ctx, const pxi_rnn_kind *kind, px_error *err)
{
    PX_TRY(pxi_op_arity(ctx, 3, kind->has_cell ? 8 : 6, 0, kind->has_cell ? 3 : 2, err));
    PX_TRY(pxi_nn_float(ctx, 0, 3, err));
    PX_TRY(pxi_nn_float(ctx, 5, 7, err));
    if (pxi_op_has_in(ctx, 4) && ctx->in[4].dtype != PX_INT32)
        return pxi_op_fail(ctx, err, PX_E_INPUT, "its sequence_lens are %s, expected int32",
                           px_dtype_name(ctx->in[4].dtype));
    PX_TRY(pxi_op_params(ctx, sizeof(pxi_rnn_params), err));
    pxi_rnn_params *p = ctx->params;
    p->gates = kind->gates;
    p->batch_first = px_node_int(ctx->node, "layout", 0) != 0;
    p->linear_before_reset = px_node_int(ctx->node, "linear_before_reset", 0) != 0;
    p->input_forget = px_node_int(ctx->node, "input_forget", 0) != 0;
    PX_TRY(rnn_direction(ctx, p, err));
    PX_TRY(rnn_shapes(ctx, kind, p, err));
    PX_TRY(pxi_rnn_read_activations(ctx, kind->function_count, kind->functions, p->directions,
                                    p->activation, err));
    /* slots; then a cell's work, and the vectors that the driver needs */
    const int64_t steps = p->directions * p->batch * p->seq * p->hidden;
    PX_TRY(
        pxi_nn_bytes(ctx, steps, (size_t)(p->gates + 2) * sizeof(px_real), &ctx->saved_bytes, err));
    return pxi_nn_bytes(ctx, p->hidden, (size_t)(p->gates + 5) * sizeof(px_real),
                        &ctx->scratch_bytes, err);
}

int64_t pxi_rnn_flops(const px_op_ctx *ctx)
{
    const pxi_rnn_params *p = ctx->params;
    return pxi_nn_flops(2.0 * p->directions * (double)p->batch * (double)p->seq * p->gates *
                        (double)p->hidden * ((double)p->input + (double)p->hidden));
}
