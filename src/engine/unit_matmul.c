/* src/engine/unit_matmul.c - a batch of products of two run-time matrices (attention)
 *
 * y = a b for each of `count` matrices, a (m, k), b (k, n). An operand of rank 3 may lie
 * channels-last in memory: that is its matrices transposed, which the kernel reads as they are.
 * oneDNN is called once per sample, with the matrices of that sample, so that results do not depend
 * on the micro-batch. Shapes it has no kernel for run on the plain operator's loop.
 *
 * Cells: in[0] a, in[1] b; out[0] y.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/prim.h"

#include "base/memory.h"
#include <internal/gemm.h>
#include <internal/nn_check.h>

#include <stdlib.h>
#include <string.h>

typedef struct matmul_product { /* c (m, n) = op(a) op(b) */
    int64_t m, k, n;
    bool trans_a, trans_b;
    pxi_prim *prim; /* for `each` matrices; NULL: the plain loop */
} matmul_product;

enum { FORWARD, LEFT, RIGHT, PRODUCTS }; /* y, the gradient of a, the gradient of b */

typedef struct matmul_impl {
    int64_t count, each; /* matrices in all, and per call */
    matmul_product product[PRODUCTS];
    bool wanted[PRODUCTS];
    size_t spare_offset; /* where gradients are made, before they are added */
} matmul_impl;

typedef struct matmul_state {
    pxi_bound **bound[PRODUCTS]; /* per call */
    int64_t calls;
} matmul_state;

/* How many matrices belong to one sample; 1 where that cannot be told. */
static int64_t matmul_per_call(const px_plan *plan, const pxi_matmul_params *p)
{
    return p->batch_count > 0 && p->batch_count % plan->batch == 0 ? p->batch_count / plan->batch
                                                                   : 1;
}

bool pxi_matmul_takes(const px_plan *plan, const pxi_step *step)
{
    const px_op_ctx *ctx = &step->ctx;
    if (plan->plain_linear || strcmp(ctx->node->type, "MatMul") != 0 || ctx->node->domain[0] ||
        ctx->in[0].dtype != PX_FLOAT32 || ctx->in[0].shape.rank < 2 || ctx->in[1].shape.rank < 2)
        return false;
    const pxi_matmul_params *p = ctx->params;
    const int64_t most = 1 << 14; /* every call has memory handles of its own */
    if (p->batch_count / matmul_per_call(plan, p) > most)
        return false;
    return px_shape_count(&ctx->out[0].shape) > 0 && p->k > 0 && /* and nothing is broadcast */
           px_shape_count(&ctx->in[0].shape) == p->batch_count * p->m * p->k &&
           px_shape_count(&ctx->in[1].shape) == p->batch_count * p->k * p->n;
}

/* The cell as matrices that lie in rows or, where that is how they are already, in columns. */
static int matmul_operand(px_plan *plan, int cell, bool *transposed)
{
    *transposed = plan->cells[cell].layout == PXI_NHWC && plan->cells[cell].tensor.shape.rank == 3;
    return *transposed ? cell : pxi_plan_as(plan, cell, PXI_PLAIN);
}

px_status pxi_emit_matmul(px_plan *plan, int step, px_error *err)
{
    const px_op_ctx *ctx = &plan->program->steps[step].ctx;
    const pxi_matmul_params *p = ctx->params;
    bool ta, tb;
    const int a = matmul_operand(plan, ctx->node->inputs[0], &ta);
    const int b = a < 0 ? -1 : matmul_operand(plan, ctx->node->inputs[1], &tb);
    if (b < 0)
        return pxi_no_memory(err);
    pxi_unit *unit = pxi_plan_add_unit(plan, &pxi_unit_matmul, step, 2, 1);
    matmul_impl *impl = pxi_arena_alloc(plan->arena, 1, sizeof *impl);
    if (!unit || !impl)
        return pxi_no_memory(err);
    const int64_t m = p->m, k = p->k, n = p->n;
    impl->count = p->batch_count;
    impl->each = matmul_per_call(plan, p);
    impl->product[FORWARD] = (matmul_product){m, k, n, ta, tb, NULL};
    /* da = dy b^T, or da^T = b dy^T; db = a^T dy, or db^T = dy^T a */
    impl->product[LEFT] = ta ? (matmul_product){k, n, m, tb, true, NULL}
                             : (matmul_product){m, n, k, false, !tb, NULL};
    impl->product[RIGHT] = tb ? (matmul_product){n, m, k, true, ta, NULL}
                              : (matmul_product){k, m, n, !ta, false, NULL};
    unit->in[0] = a;
    unit->in[1] = b;
    unit->out[0] = ctx->node->outputs[0];
    unit->impl = impl;
    unit->flops = pxi_nn_flops(2.0 * (double)impl->count * (double)m * (double)k * (double)n);
    return PX_OK;
}

static px_status matmul_build(px_plan *plan, pxi_unit *unit, px_error *err)
{
    matmul_impl *impl = unit->impl;
    impl->wanted[FORWARD] = true;
    impl->wanted[LEFT] = unit->backward && pxi_cell_wants_grad(plan, unit->in[0]);
    impl->wanted[RIGHT] = unit->backward && pxi_cell_wants_grad(plan, unit->in[1]);
    size_t spare = 0;
    unit->kernel = "plain";
    for (int i = 0; i < PRODUCTS; i++) {
        matmul_product *p = &impl->product[i];
        if (!impl->wanted[i])
            continue;
        px_error failure = {0};
        const px_status status = pxi_prim_matmul(impl->each, p->m, p->k, p->n, p->trans_a,
                                                 p->trans_b, &p->prim, &failure);
        if (status != PX_OK && status != PX_E_UNSUPPORTED)
            return px_fail(err, status, "%s", failure.message);
        if (p->prim && i == FORWARD)
            unit->kernel = pxi_prim_name(p->prim);
        unit->scratch_bytes = PX_MAX(unit->scratch_bytes, pxi_prim_scratch(p->prim));
        if (i != FORWARD)
            spare = PX_MAX(spare, (size_t)(impl->count * p->m * p->n) * sizeof(float));
    }
    impl->spare_offset = (unit->scratch_bytes + 63) / 64 * 64;
    if (spare)
        unit->scratch_bytes = impl->spare_offset + spare;
    unit->backward_reads_in = true;
    return PX_OK;
}

static float *matmul_spare(const matmul_impl *impl, const px_session *session)
{
    return (float *)(void *)((char *)pxi_session_scratch(session) + impl->spare_offset);
}

/* The operands and the result of a product. */
static void matmul_places(const pxi_unit *unit, const px_session *session, int which,
                          float *place[3])
{
    const matmul_impl *impl = unit->impl;
    float *a = pxi_cell_data(session, unit->in[0]), *b = pxi_cell_data(session, unit->in[1]);
    if (which == FORWARD) {
        place[0] = a;
        place[1] = b;
        place[2] = pxi_cell_data(session, unit->out[0]);
        return;
    }
    float *dy = pxi_cell_grad(session, unit->out[0]), *other = which == LEFT ? b : a;
    const bool dy_first =
        which == LEFT ? !impl->product[FORWARD].trans_a : impl->product[FORWARD].trans_b;
    place[0] = dy_first ? dy : other;
    place[1] = dy_first ? other : dy;
    place[2] = matmul_spare(impl, session);
}

static px_status matmul_attach(const pxi_unit *unit, px_session *session, void **out, px_error *err)
{
    const matmul_impl *impl = unit->impl;
    matmul_state *state = NULL;
    PX_TRY(PX_NEW(state, 1, err));
    *out = state;
    state->calls = impl->count / impl->each;
    for (int i = 0; i < PRODUCTS; i++) {
        const matmul_product *p = &impl->product[i];
        if (!impl->wanted[i] || !p->prim)
            continue;
        float *place[3];
        matmul_places(unit, session, i, place);
        PX_TRY(PX_NEW(state->bound[i], state->calls, err));
        for (int64_t c = 0; c < state->calls; c++) {
            const int64_t first = c * impl->each;
            void *slots[] = {place[0] + first * p->m * p->k, place[1] + first * p->k * p->n,
                             place[2] + first * p->m * p->n};
            PX_TRY(pxi_bound_new(p->prim, session->stream, slots, pxi_session_scratch(session),
                                 &state->bound[i][c], err));
        }
    }
    return PX_OK;
}

static px_status matmul_run(const pxi_unit *unit, px_session *session, const matmul_state *state,
                            int which, px_error *err)
{
    const matmul_impl *impl = unit->impl;
    const matmul_product *p = &impl->product[which];
    for (int64_t c = 0; p->prim && c < state->calls; c++)
        PX_TRY(pxi_bound_run(state->bound[which][c], err));
    if (p->prim)
        return PX_OK;
    float *place[3];
    matmul_places(unit, session, which, place);
    memset(place[2], 0, (size_t)(impl->count * p->m * p->n) * sizeof(float));
    for (int64_t i = 0; i < impl->count; i++)
        pxi_gemm_add(p->trans_a, p->trans_b, p->m, p->n, p->k, 1.0f, place[0] + i * p->m * p->k,
                     place[1] + i * p->k * p->n, place[2] + i * p->m * p->n);
    return PX_OK;
}

static px_status matmul_forward(const pxi_unit *unit, px_session *session, void *state,
                                px_error *err)
{
    return matmul_run(unit, session, state, FORWARD, err);
}

static px_status matmul_backward(const pxi_unit *unit, px_session *session, void *state,
                                 px_error *err)
{
    const matmul_impl *impl = unit->impl;
    const pxi_act none = {0};
    float *made = matmul_spare(impl, session);
    for (int i = LEFT; i <= RIGHT; i++) {
        if (!impl->wanted[i])
            continue;
        PX_TRY(matmul_run(unit, session, state, i, err));
        const int cell = unit->in[i == RIGHT];
        pxi_act_backward(&none, NULL, made, made, pxi_cell_grad(session, cell),
                         pxi_grad_adds(session, cell),
                         (size_t)(impl->count * impl->product[i].m * impl->product[i].n));
    }
    return PX_OK;
}

static void matmul_detach(void *data)
{
    matmul_state *state = data;
    if (!state)
        return;
    for (int i = 0; i < PRODUCTS; i++) {
        for (int64_t c = 0; state->bound[i] && c < state->calls; c++)
            pxi_bound_free(state->bound[i][c]);
        free(state->bound[i]);
    }
    free(state);
}

static void matmul_release(pxi_unit *unit)
{
    matmul_impl *impl = unit->impl;
    for (int i = 0; impl && i < PRODUCTS; i++)
        pxi_prim_free(impl->product[i].prim);
}

const pxi_unit_kind pxi_unit_matmul = {
    .name = "matmul",
    .build = matmul_build,
    .attach = matmul_attach,
    .forward = matmul_forward,
    .backward = matmul_backward,
    .detach = matmul_detach,
    .release = matmul_release,
};
