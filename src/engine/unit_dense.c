/* src/engine/unit_dense.c - a product with constant weights (Gemm, MatMul), bias and activation
 *
 * Where the machine has the vectors, by panel.h, which reads large weights as they lie in the
 * network, forward and back, without a copy; small ones are packed once. Elsewhere by oneDNN.
 *
 * Cells: in[0] x (rows, k), in[1] weights, in[2] bias (-1: none); out[0] y (rows, n).
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/panel.h"
#include "engine/plain_loops.h"

#include "base/memory.h"
#include <internal/gemm.h>
#include <internal/nn_check.h>
#include <internal/norm.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Below AVX-512, oneDNN multiplies the rows that do not fill a block by other kernels, whose last
 * bits differ. Rows are padded to whole blocks, so that a row's result does not depend on how many
 * others there are. */
enum { DENSE_ROW_BLOCK = 6 };

/* Weights of more bytes are packed each time they are used, which takes a few percent of it. */
static const size_t dense_pack_most = (size_t)64 << 20;

typedef struct dense_impl {
    int64_t rows, k, n;
    int64_t run_rows;     /* what oneDNN's kernels are made for: rows, maybe padded */
    const float *weights; /* (k, n), or (n, k) if `transposed` */
    float *folded; /* `weights`, where a normalisation is folded in; NULL: the network's own */
    float *bias;   /* NULL: none */
    bool panels;   /* by panel.h */
    float *packed, *packed_back; /* for y and for dx; NULL: read as they lie */
    bool transposed;
    pxi_group group; /* whose constants these are */
    pxi_act act;
    pxi_gain gain; /* of the folded weights */
    pxi_prim *forward, *data, *data_adds, *weight_grad;
    bool wants_data, wants_weights, wants_bias, own_gradient;
    size_t gradient_offset, pad_offset; /* in the unit's scratch */
} dense_impl;

typedef struct dense_state {
    pxi_bound *forward, *data, *data_adds, *weight_grad;
} dense_state;

static bool dense_gemm_takes(const px_op_ctx *ctx)
{
    const pxi_gemm_params *p = ctx->params;
    if (p->trans_a || p->alpha != 1.0)
        return false;
    /* C: one number per column, for the plain sum */
    return !p->has_c || (ctx->in[2].data && p->beta == 1.0 && p->c_row == 0 && p->c_column == 1);
}

bool pxi_dense_takes(const px_plan *plan, const pxi_step *step)
{
    const px_op_ctx *ctx = &step->ctx;
    if (plan->reference || plan->plain_linear || ctx->node->domain[0] || ctx->in_count < 2 ||
        ctx->in[0].dtype != PX_FLOAT32 || !ctx->in[1].data || ctx->in[1].shape.rank != 2 ||
        ctx->in[0].data || px_shape_count(&ctx->out[0].shape) == 0 ||
        px_shape_count(&ctx->in[1].shape) == 0)
        return false;
    if (!pxi_weight_is_own(plan, step, 1) || !pxi_weight_is_own(plan, step, 2))
        return false;
    if (strcmp(ctx->node->type, "Gemm") == 0)
        return dense_gemm_takes(ctx);
    return strcmp(ctx->node->type, "MatMul") == 0 && ctx->in[0].shape.rank >= 2;
}

/* A scale and a shift per column. */
static void dense_fold_norm(dense_impl *impl, const px_op_ctx *norm, bool has_bias)
{
    const size_t n = (size_t)impl->n, k = (size_t)impl->k;
    const pxi_batch_norm_params *p = norm->params;
    const float *gamma = norm->in[1].data, *beta = norm->in[2].data;
    const float *mean = norm->in[3].data, *variance = norm->in[4].data;
    for (size_t j = 0; j < n; j++) {
        const double scale = (double)gamma[j] / sqrt((double)variance[j] + p->epsilon);
        const double bias = has_bias ? (double)impl->bias[j] : 0.0;
        for (size_t i = 0; i < k; i++) {
            float *w = &impl->folded[impl->transposed ? j * k + i : i * n + j];
            *w = (float)((double)*w * scale);
        }
        impl->bias[j] = (float)((bias - (double)mean[j]) * scale + (double)beta[j]);
    }
}

/* Weights and bias as the kernels take them, BatchNormalization of (rows, n) folded in. */
static void dense_fill_weights(const px_plan *plan, dense_impl *impl)
{
    const pxi_group *group = &impl->group;
    const px_op_ctx *ctx = &plan->program->steps[group->head].ctx;
    const size_t n = (size_t)impl->n, k = (size_t)impl->k;
    const void *given = group->bias >= 0        ? plan->cells[group->bias].tensor.data
                        : pxi_op_has_in(ctx, 2) ? ctx->in[2].data
                                                : NULL;
    impl->weights = ctx->in[1].data;
    if (impl->folded) {
        memcpy(impl->folded, impl->weights, k * n * sizeof *impl->folded);
        impl->weights = impl->folded;
    }
    if (given)
        memcpy(impl->bias, given, n * sizeof *impl->bias);
    if (group->norm >= 0)
        dense_fold_norm(impl, &plan->program->steps[group->norm].ctx, given != NULL);
    impl->gain =
        pxi_gain_of(impl->weights, impl->n, impl->k, /* mixed= */ !impl->transposed, impl->bias);
}

static px_status dense_fill(px_plan *plan, const pxi_group *group, dense_impl *impl, px_error *err)
{
    const px_op_ctx *ctx = &plan->program->steps[group->head].ctx;
    const bool gemm = strcmp(ctx->node->type, "Gemm") == 0;
    const pxi_gemm_params *params = gemm ? ctx->params : NULL;
    impl->transposed = gemm && params->trans_b;
    impl->k = ctx->in[1].shape.dim[impl->transposed ? 1 : 0];
    impl->n = ctx->in[1].shape.dim[impl->transposed ? 0 : 1];
    impl->rows = px_shape_count(&ctx->out[0].shape) / impl->n;
    impl->group = *group;
    if (group->norm >= 0)
        impl->folded =
            pxi_arena_alloc(plan->arena, (size_t)(impl->k * impl->n), sizeof *impl->folded);
    const bool biased = group->bias >= 0 || group->norm >= 0 || pxi_op_has_in(ctx, 2);
    if (biased)
        impl->bias = pxi_arena_alloc(plan->arena, (size_t)impl->n, sizeof *impl->bias);
    if ((group->norm >= 0 && !impl->folded) || (biased && !impl->bias))
        return pxi_no_memory(err);
    dense_fill_weights(plan, impl);
    return PX_OK;
}

px_status pxi_emit_dense(px_plan *plan, const pxi_group *group, px_error *err)
{
    const px_op_ctx *ctx = &plan->program->steps[group->head].ctx;
    const int x = pxi_plan_as(plan, ctx->node->inputs[0], PXI_PLAIN);
    pxi_unit *unit = pxi_plan_add_unit(plan, &pxi_unit_dense, group->last, 3, 1);
    dense_impl *impl = pxi_arena_alloc(plan->arena, 1, sizeof *impl);
    if (x < 0 || !unit || !impl)
        return pxi_no_memory(err);
    impl->act = group->fused;
    PX_TRY(dense_fill(plan, group, impl, err));
    unit->in[0] = x;
    unit->in[1] = ctx->node->inputs[1];
    unit->in[2] = pxi_op_has_in(ctx, 2) ? ctx->node->inputs[2] : -1;
    unit->out[0] = plan->program->steps[group->last].ctx.node->outputs[0];
    unit->impl = impl;
    unit->flops = pxi_nn_flops(2.0 * (double)impl->rows * (double)impl->k * (double)impl->n);
    return PX_OK;
}

static void dense_bound(px_plan *plan, pxi_unit *unit)
{
    const dense_impl *impl = unit->impl;
    pxi_bound_linear(plan, unit, &impl->gain, &impl->act,
                     !impl->panels && pxi_act_hides(&impl->act), -1);
}

/* y (+)= x W, or with `back` dx (+)= g W^T. */
static void dense_run_panels(const pxi_unit *unit, const px_session *session, bool back,
                             const float *from, float *to, bool adds)
{
    const dense_impl *impl = unit->impl;
    const int64_t k = back ? impl->n : impl->k, n = back ? impl->k : impl->n;
    const bool rows = impl->transposed == back; /* of the right side lie side by side */
    pxi_panel_run(&(pxi_panel_job){.rows = impl->rows,
                                   .k = k,
                                   .n = n,
                                   .a = from,
                                   .a_row = k,
                                   .packed = back ? impl->packed_back : impl->packed,
                                   .b = impl->weights,
                                   .b_row = rows ? n : 1,
                                   .b_column = rows ? 1 : k,
                                   .c = to,
                                   .c_row = n,
                                   .bias = back ? NULL : impl->bias,
                                   .adds = adds,
                                   .act = back ? NULL : &impl->act,
                                   .scratch = pxi_session_scratch(session)});
}

static void dense_pack(const dense_impl *impl)
{
    const int64_t k = impl->k, n = impl->n;
    if (impl->packed)
        pxi_panel_pack(k, n, impl->weights, impl->transposed ? 1 : n, impl->transposed ? k : 1,
                       impl->packed);
    if (impl->packed_back)
        pxi_panel_pack(n, k, impl->weights, impl->transposed ? k : 1, impl->transposed ? 1 : n,
                       impl->packed_back);
}

static px_status dense_build_panels(px_plan *plan, pxi_unit *unit, px_error *err)
{
    dense_impl *impl = unit->impl;
    const int64_t k = impl->k, n = impl->n;
    const bool packs = (size_t)(k * n) * sizeof(float) <= dense_pack_most;
    unit->kernel = "panels";
    if (packs)
        PX_TRY(PX_ARENA_NEW(impl->packed, plan->arena, pxi_panel_floats(k, n), err));
    if (packs && impl->wants_data)
        PX_TRY(PX_ARENA_NEW(impl->packed_back, plan->arena, pxi_panel_floats(n, k), err));
    if (!packs)
        unit->scratch_bytes =
            PX_MAX(pxi_panel_scratch(k), impl->wants_data ? pxi_panel_scratch(n) : 0) *
            sizeof(float);
    dense_pack(impl);
    return PX_OK;
}

static size_t dense_pad_size(const dense_impl *impl) /* elements of one padded matrix */
{
    return (size_t)(impl->run_rows * PX_MAX(impl->k, impl->n));
}

/* Room behind the unit's scratch for a padded source and a padded result. */
static px_status dense_place_padding(dense_impl *impl, pxi_unit *unit)
{
    impl->pad_offset = (unit->scratch_bytes + 63) / 64 * 64;
    if (impl->run_rows != impl->rows)
        unit->scratch_bytes = impl->pad_offset + 2 * dense_pad_size(impl) * sizeof(float);
    return PX_OK;
}

static px_status dense_build(px_plan *plan, pxi_unit *unit, px_error *err)
{
    dense_impl *impl = unit->impl;
    const int64_t block = pxi_prim_has_avx512() ? 1 : DENSE_ROW_BLOCK;
    impl->run_rows = (impl->rows + block - 1) / block * block;
    impl->panels = pxi_panel_takes();
    if (unit->backward) {
        impl->wants_data = pxi_cell_wants_grad(plan, unit->in[0]);
        impl->wants_weights = pxi_cell_wants_grad(plan, unit->in[1]);
        impl->wants_bias = pxi_cell_wants_grad(plan, unit->in[2]);
    }
    if (impl->panels) {
        PX_TRY(dense_build_panels(plan, unit, err));
    } else {
        PX_TRY(pxi_prim_product(impl->run_rows, impl->k, impl->n, impl->weights, impl->transposed,
                                impl->bias, &impl->act, false, &impl->forward, err));
        unit->kernel = pxi_prim_name(impl->forward);
        unit->scratch_bytes = pxi_prim_scratch(impl->forward);
    }
    if (!unit->backward)
        return dense_place_padding(impl, unit);
    if (impl->wants_data && !impl->panels) { /* dx = g W^T */
        PX_TRY(pxi_prim_product(impl->run_rows, impl->n, impl->k, impl->weights, !impl->transposed,
                                NULL, NULL, false, &impl->data, err));
        if (impl->run_rows == impl->rows)
            PX_TRY(pxi_prim_product(impl->rows, impl->n, impl->k, impl->weights, !impl->transposed,
                                    NULL, NULL, true, &impl->data_adds, err));
    }
    if (impl->wants_weights) /* dW = x^T g, or its transpose */
        PX_TRY(pxi_prim_matmul(1, impl->transposed ? impl->n : impl->k, impl->rows,
                               impl->transposed ? impl->k : impl->n, true, false,
                               &impl->weight_grad, err));
    unit->backward_reads_in = impl->wants_weights;
    unit->backward_reads_out = impl->act.kind != PXI_ACT_NONE;
    impl->own_gradient = pxi_act_needs_place(plan, &impl->act, unit->out[0]);
    const pxi_prim *prims[] = {impl->data, impl->data_adds, impl->weight_grad};
    for (size_t i = 0; i < PX_LEN(prims); i++)
        unit->scratch_bytes = PX_MAX(unit->scratch_bytes, pxi_prim_scratch(prims[i]));
    impl->gradient_offset = (unit->scratch_bytes + 63) / 64 * 64;
    if (impl->own_gradient)
        unit->scratch_bytes =
            impl->gradient_offset + px_tensor_bytes(&plan->cells[unit->out[0]].tensor);
    return dense_place_padding(impl, unit);
}

static px_status dense_refresh(const px_plan *plan, pxi_unit *unit, px_error *err)
{
    dense_impl *impl = unit->impl;
    dense_fill_weights(plan, impl);
    dense_pack(impl);
    PX_TRY(pxi_prim_repack(impl->forward, impl->weights, impl->bias, err));
    PX_TRY(pxi_prim_repack(impl->data, impl->weights, NULL, err));
    return pxi_prim_repack(impl->data_adds, impl->weights, NULL, err);
}

static float *dense_gradient(const pxi_unit *unit, const px_session *session)
{
    const dense_impl *impl = unit->impl;
    return impl->own_gradient
               ? (float *)(void *)((char *)pxi_session_scratch(session) + impl->gradient_offset)
               : pxi_cell_grad(session, unit->out[0]);
}

static px_status dense_bind(const pxi_prim *prim, px_session *session, void *a, void *b, void *c,
                            pxi_bound **out, px_error *err)
{
    void *slots[] = {a, b, c};
    return prim
               ? pxi_bound_new(prim, session->stream, slots, pxi_session_scratch(session), out, err)
               : PX_OK;
}

static float *dense_padding(const dense_impl *impl, const px_session *session)
{
    return (float *)(void *)((char *)pxi_session_scratch(session) + impl->pad_offset);
}

/* Runs a kernel that was made for more rows than there are: result (+)= rows of a padded product.
 */
static px_status dense_run_padded(const dense_impl *impl, px_session *session,
                                  const pxi_bound *bound, const float *source, int64_t width,
                                  float *result, int64_t result_width, bool adds, px_error *err)
{
    static const pxi_act none;
    float *padded = dense_padding(impl, session), *made = padded + dense_pad_size(impl);
    memset(padded, 0, dense_pad_size(impl) * sizeof *padded);
    memcpy(padded, source, (size_t)(impl->rows * width) * sizeof *padded);
    PX_TRY(pxi_bound_run(bound, err));
    pxi_act_backward(&none, made, made, made, result, adds, (size_t)(impl->rows * result_width));
    return PX_OK;
}

static px_status dense_attach(const pxi_unit *unit, px_session *session, void **out, px_error *err)
{
    const dense_impl *impl = unit->impl;
    dense_state *state = NULL;
    PX_TRY(PX_NEW(state, 1, err));
    *out = state;
    const bool padded = impl->run_rows != impl->rows;
    float *pad = dense_padding(impl, session), *pad_result = pad + dense_pad_size(impl);
    float *x = pxi_cell_data(session, unit->in[0]), *y = pxi_cell_data(session, unit->out[0]);
    PX_TRY(dense_bind(impl->forward, session, padded ? pad : x, padded ? pad_result : y, NULL,
                      &state->forward, err));
    if (!unit->backward)
        return PX_OK;
    float *g = dense_gradient(unit, session);
    float *dx = impl->wants_data ? pxi_cell_grad(session, unit->in[0]) : NULL;
    PX_TRY(dense_bind(impl->data, session, padded ? pad : g, padded ? pad_result : dx, NULL,
                      &state->data, err));
    PX_TRY(dense_bind(impl->data_adds, session, g, dx, NULL, &state->data_adds, err));
    return dense_bind(
        impl->weight_grad, session, impl->transposed ? g : x, impl->transposed ? x : g,
        impl->wants_weights ? pxi_cell_grad(session, unit->in[1]) : NULL, &state->weight_grad, err);
}

static px_status dense_forward(const pxi_unit *unit, px_session *session, void *state,
                               px_error *err)
{
    const dense_impl *impl = unit->impl;
    const pxi_bound *bound = ((dense_state *)state)->forward;
    const float *x = pxi_cell_data(session, unit->in[0]);
    float *y = pxi_cell_data(session, unit->out[0]);
    if (impl->panels) {
        dense_run_panels(unit, session, /* back= */ false, x, y, /* adds= */ false);
        return PX_OK;
    }
    if (impl->run_rows == impl->rows)
        PX_TRY(pxi_bound_run(bound, err));
    else
        PX_TRY(
            dense_run_padded(impl, session, bound, x, impl->k, y, impl->n, /* adds= */ false, err));
    if (!unit->guards && !(session->wild && pxi_act_hides(&impl->act)))
        return PX_OK;
    for (int64_t r = 0; r < impl->rows; r++, x += impl->k, y += impl->n)
        if (!pxi_unit_is_tame(unit, session, x, (size_t)impl->k, NULL, 0))
            pxi_plain_product(impl->k, impl->n, impl->weights, impl->transposed, impl->bias,
                              &impl->act, x, y);
    return PX_OK;
}

static px_status dense_backward(const pxi_unit *unit, px_session *session, void *data,
                                px_error *err)
{
    const dense_impl *impl = unit->impl;
    const dense_state *state = data;
    const size_t count = (size_t)(impl->rows * impl->n);
    float *g = dense_gradient(unit, session);
    if (impl->act.kind != PXI_ACT_NONE)
        pxi_act_backward(&impl->act, pxi_cell_data(session, unit->out[0]),
                         pxi_cell_grad(session, unit->out[0]), g, NULL, false, count);
    if (impl->wants_weights) {
        pxi_grad_adds(session, unit->in[1]);
        PX_TRY(pxi_bound_run(state->weight_grad, err));
    }
    if (impl->wants_bias) {
        float *db = pxi_cell_grad(session, unit->in[2]);
        pxi_grad_adds(session, unit->in[2]);
        for (int64_t j = 0; j < impl->n; j++) {
            double sum = 0.0;
            for (int64_t i = 0; i < impl->rows; i++)
                sum += (double)g[i * impl->n + j];
            db[j] = (float)sum;
        }
    }
    if (!impl->wants_data)
        return PX_OK;
    if (impl->panels) {
        dense_run_panels(unit, session, /* back= */ true, g, pxi_cell_grad(session, unit->in[0]),
                         pxi_grad_adds(session, unit->in[0]));
        return PX_OK;
    }
    if (impl->run_rows != impl->rows)
        return dense_run_padded(impl, session, state->data, g, impl->n,
                                pxi_cell_grad(session, unit->in[0]), impl->k,
                                pxi_grad_adds(session, unit->in[0]), err);
    return pxi_bound_run(pxi_grad_adds(session, unit->in[0]) ? state->data_adds : state->data, err);
}

static void dense_detach(void *data)
{
    dense_state *state = data;
    if (!state)
        return;
    pxi_bound_free(state->forward);
    pxi_bound_free(state->data);
    pxi_bound_free(state->data_adds);
    pxi_bound_free(state->weight_grad);
    free(state);
}

static void dense_release(pxi_unit *unit)
{
    dense_impl *impl = unit->impl;
    if (!impl)
        return;
    pxi_prim_free(impl->forward);
    pxi_prim_free(impl->data);
    pxi_prim_free(impl->data_adds);
    pxi_prim_free(impl->weight_grad);
}

const pxi_unit_kind pxi_unit_dense = {
    .name = "dense",
    .build = dense_build,
    .refresh = dense_refresh,
    .bound = dense_bound,
    .attach = dense_attach,
    .forward = dense_forward,
    .backward = dense_backward,
    .detach = dense_detach,
    .release = dense_release,
};
