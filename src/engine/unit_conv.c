/* src/engine/unit_conv.c - a convolution with what is fused behind it
 *
 * y = act(conv(x) * scale + shift + residual): BatchNormalization is folded into the weights
 * (unless their gradients are wanted), the residual is added by the kernel. The gradient of the
 * data with stride 1 is itself a convolution, with rotated and transposed weights, on the same fast
 * kernels; that of a depthwise convolution has a kernel of its own (depthwise.h).
 *
 * The derivative of the activation is a pass over the gradient before that, unless it happens on
 * the way: a depthwise kernel can mask what it reads, and what it writes with the derivative of the
 * activation that made x. Samples go through all of this one by one, so that the gradient stays in
 * the cache.
 *
 * Cells: in[0] x, in[1] residual (-1: none), in[2] weights, in[3] bias (-1: none); out[0] y.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/conv_kernel.h"

#include "base/memory.h"
#include "engine/act_bits.h"
#include "engine/conv_wgrad.h"
#include "engine/depthwise.h"
#include "engine/plain_loops.h"
#include "ops/conv.h"
#include <internal/norm.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct conv_impl {
    pxi_conv_shape shape;
    /* Folded, in plain order; weights are there while kernels are made of them, and for as long as
     * they may change. bias NULL: none. */
    float *weights, *bias;
    float *rotated; /* likewise, for the data gradient; NULL: it takes `weights` */
    int head, norm; /* steps of the program whose constants these are; norm -1: none */
    pxi_act act;
    pxi_gain gain; /* of the folded weights */
    pxi_conv_kernel forward;
    pxi_conv_kernel data,
        data_adds;              /* data_adds: added to what is there; may be empty, see `spare` */
    pxi_depthwise *depthwise;   /* makes the data gradient instead; NULL: they do */
    pxi_conv_wgrad weight_grad; /* empty: not wanted */
    bool wants_data, wants_weights, wants_bias, wants_residual;
    size_t words;      /* of bits per sample, in the unit's saved memory; 0: y is kept instead */
    bool masks_itself; /* `depthwise` masks the gradient that it reads: no pass before it */
    bool gradient_is_masked;  /* by the unit that reads y: no pass either */
    const pxi_unit *masks_of; /* the unit that made x, whose mask goes on dx; NULL: none */
    bool own_gradient;        /* the masked gradient needs a place of its own: y's is asked for */
    bool spare; /* the data gradient cannot be added in place: made apart, then added */
    size_t kernel_scratch, gradient_offset, spare_offset; /* in the unit's scratch */
} conv_impl;

typedef struct conv_state {
    pxi_conv_bound forward, data, data_adds;
    pxi_conv_wgrad_bound weight_grad;
} conv_state;

static int64_t conv_data_size(const conv_impl *impl) /* elements of a sample */
{
    return impl->shape.in_channels * impl->shape.in[0] * impl->shape.in[1];
}

static int64_t conv_result_size(const conv_impl *impl)
{
    return impl->shape.out_channels * impl->shape.out[0] * impl->shape.out[1];
}

static size_t conv_align(size_t bytes)
{
    return (bytes + 63) / 64 * 64;
}

/* Kernels, oneDNN's too, count in 32 bits, and every sample has memory handles of its own. What is
 * larger runs on plain C. Neither tensor is empty. */
static bool conv_is_sane(const px_op_ctx *ctx)
{
    const pxi_conv_params *p = ctx->params;
    const int64_t most = 1 << 14, elements = INT32_MAX / 4;
    for (int i = 0; i < p->window.spatial; i++)
        if (p->window.kernel[i] > most || p->window.stride[i] > most ||
            p->window.dilation[i] > most || p->window.pad_begin[i] > most ||
            p->window.pad_end[i] > most)
            return false;
    return p->batch <= most && px_shape_count(&ctx->in[0].shape) / p->batch < elements &&
           px_shape_count(&ctx->out[0].shape) / p->batch < elements;
}

bool pxi_conv_takes(const px_plan *plan, const pxi_step *step)
{
    const px_op_ctx *ctx = &step->ctx;
    if (plan->reference || plan->plain_linear || strcmp(ctx->node->type, "Conv") != 0 ||
        ctx->node->domain[0] || ctx->in[0].dtype != PX_FLOAT32 ||
        !pxi_shape_has_pixels(&ctx->in[0].shape))
        return false;
    if (!ctx->in[1].data || (pxi_op_has_in(ctx, 2) && !ctx->in[2].data) || ctx->in[0].data)
        return false;
    return px_shape_count(&ctx->in[0].shape) > 0 && px_shape_count(&ctx->out[0].shape) > 0 &&
           conv_is_sane(ctx) && pxi_weight_is_own(plan, step, 1) &&
           pxi_weight_is_own(plan, step, 2);
}

static pxi_conv_shape conv_shape(const pxi_conv_params *p)
{
    pxi_conv_shape s = {.batch = p->batch,
                        .group = p->group,
                        .in_channels = p->in_channels,
                        .out_channels = p->out_channels};
    const int first = 2 - p->window.spatial; /* one dimension is a row of height one */
    s.in[0] = s.out[0] = s.kernel[0] = s.stride[0] = s.dilation[0] = 1;
    for (int i = first; i < 2; i++) {
        s.in[i] = p->window.in[i - first];
        s.out[i] = p->window.out[i - first];
        s.kernel[i] = p->window.kernel[i - first];
        s.stride[i] = p->window.stride[i - first];
        s.dilation[i] = p->window.dilation[i - first];
        s.pad_begin[i] = p->window.pad_begin[i - first];
        s.pad_end[i] = p->window.pad_end[i - first];
    }
    return s;
}

/* weights *= scale per out channel; bias = bias * scale + shift (Ioffe & Szegedy 2015, inference).
 */
static void conv_fold_norm(conv_impl *impl, const px_op_ctx *norm, bool has_bias)
{
    const pxi_batch_norm_params *params = norm->params;
    const float *gamma = norm->in[1].data, *beta = norm->in[2].data;
    const float *mean = norm->in[3].data, *variance = norm->in[4].data;
    const int64_t each =
        impl->shape.in_channels / impl->shape.group * impl->shape.kernel[0] * impl->shape.kernel[1];
    for (int64_t o = 0; o < impl->shape.out_channels; o++) {
        const double scale = (double)gamma[o] / sqrt((double)variance[o] + params->epsilon);
        for (int64_t i = 0; i < each; i++)
            impl->weights[o * each + i] = (float)((double)impl->weights[o * each + i] * scale);
        const double bias = has_bias ? (double)impl->bias[o] : 0.0;
        impl->bias[o] = (float)((bias - (double)mean[o]) * scale + (double)beta[o]);
    }
}

static void conv_fill_weights(const px_plan *plan, conv_impl *impl)
{
    const px_op_ctx *ctx = &plan->program->steps[impl->head].ctx;
    const bool has_bias = pxi_op_has_in(ctx, 2);
    memcpy(impl->weights, ctx->in[1].data, px_tensor_bytes(&ctx->in[1]));
    if (has_bias)
        memcpy(impl->bias, ctx->in[2].data, px_tensor_bytes(&ctx->in[2]));
    if (impl->norm >= 0)
        conv_fold_norm(impl, &plan->program->steps[impl->norm].ctx, has_bias);
    const int64_t outs = impl->shape.out_channels;
    const int64_t each = px_shape_count(&ctx->in[1].shape) / outs;
    impl->gain = pxi_gain_of(impl->weights, outs, each, /* mixed= */ false, impl->bias);
}

static px_status conv_make_weights(const px_plan *plan, conv_impl *impl, px_error *err)
{
    const px_op_ctx *ctx = &plan->program->steps[impl->head].ctx;
    PX_TRY(PX_NEW(impl->weights, px_shape_count(&ctx->in[1].shape), err));
    conv_fill_weights(plan, impl);
    return PX_OK;
}

static void conv_drop_weights(conv_impl *impl)
{
    free(impl->weights);
    free(impl->rotated);
    impl->weights = impl->rotated = NULL;
}

px_status pxi_emit_conv(px_plan *plan, const pxi_group *group, px_error *err)
{
    const px_op_ctx *ctx = &plan->program->steps[group->head].ctx;
    const px_node *last = plan->program->steps[group->last].ctx.node;
    const int x = pxi_plan_as(plan, ctx->node->inputs[0], PXI_NHWC);
    const int residual = group->residual < 0 ? -1 : pxi_plan_as(plan, group->residual, PXI_NHWC);
    pxi_unit *unit = pxi_plan_add_unit(plan, &pxi_unit_conv, group->last, 4, 1);
    conv_impl *impl = pxi_arena_alloc(plan->arena, 1, sizeof *impl);
    if (x < 0 || (group->residual >= 0 && residual < 0) || !unit || !impl)
        return pxi_no_memory(err);
    impl->shape = conv_shape(ctx->params);
    impl->shape.direct = plan->direct;
    impl->act = group->fused;
    impl->head = group->head;
    impl->norm = group->norm;
    if (pxi_op_has_in(ctx, 2) || group->norm >= 0)
        PX_TRY(PX_ARENA_NEW(impl->bias, plan->arena, (size_t)impl->shape.out_channels, err));
    unit->in[0] = x;
    unit->in[1] = residual;
    unit->in[2] = ctx->node->inputs[1];
    unit->in[3] = pxi_op_has_in(ctx, 2) ? ctx->node->inputs[2] : -1;
    unit->out[0] = last->outputs[0];
    /* y may take over the residual's memory, unless the convolution reads it as well */
    if (residual >= 0 && plan->cells[residual].root != plan->cells[x].root)
        unit->donor = residual;
    plan->cells[unit->out[0]].layout = PXI_NHWC;
    unit->impl = impl;
    unit->flops = pxi_conv_flops(ctx);
    return PX_OK;
}

/* The convolution that computes the data gradient of a stride-1 convolution. */
static bool conv_rotated_shape(const pxi_conv_shape *s, pxi_conv_shape *out)
{
    *out = *s;
    out->in_channels = s->out_channels;
    out->out_channels = s->in_channels;
    for (int i = 0; i < 2; i++) {
        const int64_t reach = (s->kernel[i] - 1) * s->dilation[i];
        if (s->stride[i] != 1 || s->pad_begin[i] > reach)
            return false;
        out->in[i] = s->out[i];
        out->out[i] = s->in[i];
        out->pad_begin[i] = reach - s->pad_begin[i];
        out->pad_end[i] = s->in[i] - s->out[i] + s->pad_begin[i];
        if (out->pad_end[i] < 0)
            return false;
    }
    return true;
}

static void conv_rotate_weights(const conv_impl *impl)
{
    const pxi_conv_shape *s = &impl->shape;
    const int64_t g = s->group, oc = s->out_channels / g, ic = s->in_channels / g;
    const int64_t taps = s->kernel[0] * s->kernel[1];
    for (int64_t k = 0; k < g; k++)
        for (int64_t o = 0; o < oc; o++)
            for (int64_t i = 0; i < ic; i++)
                for (int64_t t = 0; t < taps; t++)
                    impl->rotated[((k * ic + i) * oc + o) * taps + taps - 1 - t] =
                        impl->weights[((k * oc + o) * ic + i) * taps + t];
}

/* Whether the derivative is 0 or 1, so that a mask is all there is to it. */
static bool conv_act_is_gate(const pxi_act *act)
{
    return act->kind == PXI_ACT_CLIP || (act->kind == PXI_ACT_RELU && act->alpha == 0.0f);
}

/* The convolution that made x, if this unit can apply the derivative of its activation to dx: it
 * kept bits, nobody else adds to that gradient, and nobody asked for it. It is told. */
static const pxi_unit *conv_find_masked(px_plan *plan, const pxi_unit *unit)
{
    const conv_impl *impl = unit->impl;
    const int root = plan->cells[unit->in[0]].root;
    pxi_unit *maker = NULL;
    int readers = 0;
    for (int c = 0; c < plan->cell_count; c++)
        if (plan->cells[c].root == root && (plan->cells[c].is_wrt || plan->cells[c].is_seed))
            return NULL;
    for (int u = 0; u < plan->unit_count; u++) {
        pxi_unit *other = &plan->units[u];
        for (int i = 0; other->backward && i < other->in_count; i++)
            readers += other->in[i] >= 0 && plan->cells[other->in[i]].root == root;
        if (other->kind == &pxi_unit_conv && other->backward && other->out[0] == root)
            maker = other;
    }
    if (!maker || readers != 1)
        return NULL;
    conv_impl *made = maker->impl;
    if (!made->words || !conv_act_is_gate(&made->act) || made->shape.batch != impl->shape.batch ||
        made->shape.out_channels != impl->shape.in_channels ||
        made->shape.out[0] != impl->shape.in[0] || made->shape.out[1] != impl->shape.in[1])
        return NULL;
    made->gradient_is_masked = true;
    return maker;
}

static px_status conv_build_data(px_plan *plan, const pxi_unit *unit, conv_impl *impl,
                                 px_error *err)
{
    if (pxi_depthwise_takes(&impl->shape)) {
        impl->depthwise = pxi_depthwise_new(plan->arena, &impl->shape, impl->weights);
        impl->masks_of = conv_find_masked(plan, unit);
        return impl->depthwise ? PX_OK : pxi_no_memory(err);
    }
    pxi_conv_shape rotated;
    if (!conv_rotated_shape(&impl->shape, &rotated)) {
        impl->spare = true;
        return pxi_conv_kernel_init_data(&impl->data, &impl->shape, impl->weights, err);
    }
    const px_tensor *weights = &plan->program->steps[impl->head].ctx.in[1];
    PX_TRY(PX_NEW(impl->rotated, px_shape_count(&weights->shape), err));
    conv_rotate_weights(impl);
    PX_TRY(pxi_conv_kernel_init(&impl->data, plan->arena, &rotated, impl->rotated, NULL, NULL,
                                false, err));
    if (pxi_conv_kernel_is_flexible(&impl->data))
        return PX_OK; /* it adds, too */
    return pxi_conv_kernel_init(&impl->data_adds, plan->arena, &rotated, impl->rotated, NULL, NULL,
                                true, err);
}

static px_status conv_build_kernels(px_plan *plan, pxi_unit *unit, px_error *err)
{
    conv_impl *impl = unit->impl;
    const bool residual = unit->in[1] >= 0;
    PX_TRY(pxi_conv_kernel_init(&impl->forward, plan->arena, &impl->shape, impl->weights,
                                impl->bias, &impl->act, residual, err));
    unit->kernel = pxi_conv_kernel_name(&impl->forward);
    unit->scratch_bytes = pxi_conv_kernel_scratch(&impl->forward);
    if (!unit->backward)
        return PX_OK;
    impl->wants_data = pxi_cell_wants_grad(plan, unit->in[0]);
    impl->wants_weights = pxi_cell_wants_grad(plan, unit->in[2]);
    impl->wants_bias = pxi_cell_wants_grad(plan, unit->in[3]);
    impl->wants_residual = pxi_cell_wants_grad(plan, unit->in[1]);
    if (!plan->weight_grads && pxi_act_bits_take(&impl->act)) /* those would keep y anyway */
        impl->words = pxi_act_bits_words((size_t)conv_result_size(impl));
    unit->saved.bytes = (size_t)impl->shape.batch * impl->words * sizeof(uint16_t);
    if (impl->wants_data)
        PX_TRY(conv_build_data(plan, unit, impl, err));
    if (impl->wants_weights || impl->wants_bias)
        PX_TRY(pxi_conv_wgrad_init(&impl->weight_grad, &impl->shape, impl->wants_weights,
                                   impl->wants_bias, err));
    unit->backward_reads_in = impl->wants_weights || impl->wants_bias;
    unit->backward_reads_out = impl->act.kind != PXI_ACT_NONE && !impl->words;
    impl->masks_itself = impl->depthwise && impl->words && conv_act_is_gate(&impl->act) &&
                         !impl->wants_weights && !impl->wants_bias && !impl->wants_residual;
    impl->own_gradient = !impl->masks_itself && pxi_act_needs_place(plan, &impl->act, unit->out[0]);

    const size_t kernels[] = {unit->scratch_bytes, pxi_conv_kernel_scratch(&impl->data),
                              pxi_conv_kernel_scratch(&impl->data_adds),
                              pxi_conv_wgrad_scratch(&impl->weight_grad)};
    for (size_t i = 0; i < PX_LEN(kernels); i++)
        impl->kernel_scratch = PX_MAX(impl->kernel_scratch, conv_align(kernels[i]));
    impl->gradient_offset = impl->kernel_scratch;
    impl->spare_offset =
        impl->gradient_offset +
        (impl->own_gradient ? conv_align(px_tensor_bytes(&plan->cells[unit->out[0]].tensor)) : 0);
    unit->scratch_bytes =
        impl->spare_offset +
        (impl->spare ? conv_align(px_tensor_bytes(&plan->cells[unit->in[0]].tensor)) : 0);
    return PX_OK;
}

static px_status conv_build(px_plan *plan, pxi_unit *unit, px_error *err)
{
    PX_TRY(conv_make_weights(plan, unit->impl, err));
    const px_status status = conv_build_kernels(plan, unit, err);
    if (!plan->weights)
        conv_drop_weights(unit->impl);
    return status;
}

static px_status conv_refresh(const px_plan *plan, pxi_unit *unit, px_error *err)
{
    conv_impl *impl = unit->impl;
    if (!impl->weights)
        return PX_OK; /* they do not change */
    conv_fill_weights(plan, impl);
    PX_TRY(pxi_conv_kernel_repack(&impl->forward, impl->weights, impl->bias, err));
    if (impl->rotated)
        conv_rotate_weights(impl);
    if (impl->depthwise)
        pxi_depthwise_repack(impl->depthwise, impl->weights);
    const float *data = impl->rotated ? impl->rotated : impl->weights;
    PX_TRY(pxi_conv_kernel_repack(&impl->data, data, NULL, err));
    return pxi_conv_kernel_repack(&impl->data_adds, data, NULL, err);
}

static void conv_bound(px_plan *plan, pxi_unit *unit)
{
    const conv_impl *impl = unit->impl;
    pxi_bound_linear(plan, unit, &impl->gain, &impl->act,
                     pxi_conv_kernel_hides(&impl->forward, &impl->act), unit->in[1]);
}

static char *conv_scratch(const px_session *session, size_t offset)
{
    return (char *)pxi_session_scratch(session) + offset;
}

static float *conv_gradient(const pxi_unit *unit, const px_session *session)
{
    const conv_impl *impl = unit->impl;
    return impl->own_gradient ? (float *)(void *)conv_scratch(session, impl->gradient_offset)
                              : pxi_cell_grad(session, unit->out[0]);
}

static px_status conv_attach(const pxi_unit *unit, px_session *session, void **out, px_error *err)
{
    const conv_impl *impl = unit->impl;
    conv_state *state = NULL;
    PX_TRY(PX_NEW(state, 1, err));
    *out = state;
    void *scratch = pxi_session_scratch(session);
    float *x = pxi_cell_data(session, unit->in[0]), *y = pxi_cell_data(session, unit->out[0]);
    PX_TRY(
        pxi_conv_bound_init(&state->forward, &impl->forward, session->stream, x, y, scratch, err));
    if (!unit->backward)
        return PX_OK;
    float *g = conv_gradient(unit, session);
    if (impl->wants_data) {
        float *dx = pxi_cell_grad(session, unit->in[0]);
        float *made = impl->spare ? (float *)(void *)conv_scratch(session, impl->spare_offset) : dx;
        PX_TRY(
            pxi_conv_bound_init(&state->data, &impl->data, session->stream, g, made, scratch, err));
        PX_TRY(pxi_conv_bound_init(&state->data_adds, &impl->data_adds, session->stream, g, dx,
                                   scratch, err));
    }
    state->weight_grad = (pxi_conv_wgrad_bound){
        .source = x,
        .result_gradient = g,
        .weights = impl->wants_weights ? pxi_cell_grad(session, unit->in[2]) : NULL,
        .bias = impl->wants_bias ? pxi_cell_grad(session, unit->in[3]) : NULL,
        .scratch = scratch};
    return pxi_conv_wgrad_bind(&impl->weight_grad, session->stream, &state->weight_grad, err);
}

/* Where the activation behind sample n lets the gradient through. */
static uint16_t *conv_bits(const pxi_unit *unit, const px_session *session, int64_t n)
{
    const conv_impl *impl = unit->impl;
    uint16_t *bits = (uint16_t *)(void *)(session->memory + unit->saved.offset);
    return bits + (size_t)n * impl->words;
}

/* Whether the kernel can take sample n, whose residual is in y. */
static bool conv_is_tame(const pxi_unit *unit, px_session *session, int64_t n)
{
    const conv_impl *impl = unit->impl;
    const int64_t x_size = conv_data_size(impl), y_size = conv_result_size(impl);
    const float *x = (const float *)pxi_cell_data(session, unit->in[0]) + n * x_size;
    const float *y = (const float *)pxi_cell_data(session, unit->out[0]) + n * y_size;
    return pxi_unit_is_tame(unit, session, x, (size_t)x_size, unit->in[1] >= 0 ? y : NULL,
                            (size_t)y_size);
}

/* A sample that no fast kernel can take: rare, so that its weights are made for it alone. */
static px_status conv_run_plain(const px_plan *plan, const conv_impl *impl, bool adds,
                                const float *x, float *y, px_error *err)
{
    conv_impl own = *impl;
    own.weights = own.rotated = NULL;
    PX_TRY(PX_NEW(own.bias, impl->shape.out_channels, err));
    px_status status = conv_make_weights(plan, &own, err);
    if (status == PX_OK)
        status = pxi_plain_conv(&impl->shape, own.weights, impl->bias ? own.bias : NULL, &impl->act,
                                adds, x, y, err);
    conv_drop_weights(&own);
    free(own.bias);
    return status;
}

/* Samples from `first` to before `end`; runs of those that the kernel can take go through it. */
static px_status conv_run(const pxi_unit *unit, px_session *session, const conv_state *state,
                          int64_t first, int64_t end, px_error *err)
{
    const conv_impl *impl = unit->impl;
    const bool adds = unit->in[1] >= 0;
    if (!unit->guards && !(session->wild && pxi_conv_kernel_hides(&impl->forward, &impl->act)))
        return pxi_conv_bound_run(&state->forward, first, end - first, adds, err);
    const float *x = pxi_cell_data(session, unit->in[0]);
    float *y = pxi_cell_data(session, unit->out[0]);
    for (int64_t n = first; n < end; n++) {
        if (conv_is_tame(unit, session, n))
            continue;
        if (first < n)
            PX_TRY(pxi_conv_bound_run(&state->forward, first, n - first, adds, err));
        PX_TRY(conv_run_plain(session->plan, impl, adds, x + n * conv_data_size(impl),
                              y + n * conv_result_size(impl), err));
        first = n + 1;
    }
    return first < end ? pxi_conv_bound_run(&state->forward, first, end - first, adds, err) : PX_OK;
}

static px_status conv_forward(const pxi_unit *unit, px_session *session, void *data, px_error *err)
{
    const conv_impl *impl = unit->impl;
    const conv_state *state = data;
    const int64_t size = conv_result_size(impl);
    float *y = pxi_cell_data(session, unit->out[0]);
    if (unit->in[1] >= 0) {
        const float *residual = pxi_cell_data(session, unit->in[1]);
        if (residual != y)
            memcpy(y, residual, px_tensor_bytes(&session->plan->cells[unit->out[0]].tensor));
    }
    const int64_t batch = impl->shape.batch, group = pxi_conv_kernel_group(&impl->forward);
    for (int64_t first = 0; first < batch; first += group) {
        const int64_t end = PX_MIN(first + group, batch);
        PX_TRY(conv_run(unit, session, state, first, end, err));
        for (int64_t n = first; impl->words && n < end; n++)
            pxi_act_bits_pack(&impl->act, y + n * size, conv_bits(unit, session, n), (size_t)size);
    }
    return PX_OK;
}

/* The gradient behind the activation of sample n, and the residual's, where a pass of its own has
 * to make them. */
static void conv_backward_act(const pxi_unit *unit, const px_session *session, int64_t n,
                              bool residual_adds)
{
    static const pxi_act none = {0};
    const conv_impl *impl = unit->impl;
    const pxi_act *act = impl->gradient_is_masked ? &none : &impl->act;
    if (impl->masks_itself || (act->kind == PXI_ACT_NONE && !impl->wants_residual))
        return;
    const int64_t size = conv_result_size(impl), at = n * size;
    const float *dy = pxi_cell_grad(session, unit->out[0]) + at;
    float *g = conv_gradient(unit, session) + at;
    float *residual = impl->wants_residual ? pxi_cell_grad(session, unit->in[1]) + at : NULL;
    if (impl->words && act->kind != PXI_ACT_NONE)
        pxi_act_bits_backward(act, conv_bits(unit, session, n), dy, g, residual, residual_adds,
                              (size_t)size);
    else
        pxi_act_backward(act, (const float *)pxi_cell_data(session, unit->out[0]) + at, dy, g,
                         residual, residual_adds, (size_t)size);
}

static px_status conv_backward_data(const pxi_unit *unit, const px_session *session,
                                    const conv_state *state, int64_t first, int64_t count,
                                    bool adds, px_error *err)
{
    const conv_impl *impl = unit->impl;
    const int64_t size = conv_data_size(impl), at = first * size;
    float *dx = pxi_cell_grad(session, unit->in[0]) + at;
    for (int64_t n = first; impl->depthwise && n < first + count; n++) {
        const bool masks = impl->masks_itself && !impl->gradient_is_masked;
        pxi_depthwise_run(impl->depthwise,
                          conv_gradient(unit, session) + n * conv_result_size(impl),
                          masks ? conv_bits(unit, session, n) : NULL,
                          impl->masks_of ? conv_bits(impl->masks_of, session, n) : NULL,
                          dx + (n - first) * size, adds);
    }
    if (impl->depthwise)
        return PX_OK;
    PX_TRY(pxi_conv_bound_run(adds && state->data_adds.kernel ? &state->data_adds : &state->data,
                              first, count, adds, err));
    if (impl->spare) {
        const pxi_act none = {0};
        float *made = (float *)(void *)conv_scratch(session, impl->spare_offset) + at;
        pxi_act_backward(&none, made, made, made, dx, adds, (size_t)(count * size));
    }
    return PX_OK;
}

static px_status conv_backward(const pxi_unit *unit, px_session *session, void *data, px_error *err)
{
    const conv_impl *impl = unit->impl;
    const conv_state *state = data;
    const bool residual_adds = impl->wants_residual && pxi_grad_adds(session, unit->in[1]);
    const bool data_adds = impl->wants_data && pxi_grad_adds(session, unit->in[0]);
    const int64_t batch = impl->shape.batch, group = pxi_conv_kernel_group(&impl->data);
    for (int64_t first = 0; first < batch; first += group) {
        const int64_t end = PX_MIN(first + group, batch);
        for (int64_t n = first; n < end; n++)
            conv_backward_act(unit, session, n, residual_adds);
        if (impl->wants_data)
            PX_TRY(conv_backward_data(unit, session, state, first, end - first, data_adds, err));
    }
    if (impl->wants_weights || impl->wants_bias)
        PX_TRY(pxi_conv_wgrad_run(&impl->weight_grad, &state->weight_grad, err));
    if (impl->wants_weights)
        pxi_grad_adds(session, unit->in[2]);
    if (impl->wants_bias)
        pxi_grad_adds(session, unit->in[3]);
    return PX_OK;
}

static void conv_detach(void *data)
{
    conv_state *state = data;
    if (!state)
        return;
    pxi_conv_bound_done(&state->forward);
    pxi_conv_bound_done(&state->data);
    pxi_conv_bound_done(&state->data_adds);
    pxi_bound_free(state->weight_grad.prim);
    free(state);
}

static void conv_release(pxi_unit *unit)
{
    conv_impl *impl = unit->impl;
    if (!impl)
        return;
    conv_drop_weights(impl);
    pxi_conv_kernel_done(&impl->forward);
    pxi_conv_kernel_done(&impl->data);
    pxi_conv_kernel_done(&impl->data_adds);
    pxi_conv_wgrad_done(&impl->weight_grad);
}

const pxi_unit_kind pxi_unit_conv = {
    .name = "conv",
    .build = conv_build,
    .refresh = conv_refresh,
    .bound = conv_bound,
    .attach = conv_attach,
    .forward = conv_forward,
    .backward = conv_backward,
    .detach = conv_detach,
    .release = conv_release,
};
