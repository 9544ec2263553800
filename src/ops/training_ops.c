/* src/ops/training_ops.c - Adagrad and Momentum (ai.onnx.preview.training, since 1)
 *
 * One optimiser step: inputs are the learning rate R, the step number T, then for k tensors all X,
 * all gradients G, and all states (Adagrad H, Momentum V); outputs are the new X and states. Not to
 * be differentiated. Adam is left out: ONNX's own test of it contradicts its text (a default
 * epsilon).
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include <internal/nn_check.h>

#include <math.h>
#include <string.h>

#define TRAINING_DOMAIN "ai.onnx.preview.training"

typedef struct training_params {
    int tensors;
    double alpha, beta, decay, epsilon, norm;
    bool nesterov;
} training_params;

static px_status training_setup(px_op_ctx *ctx, px_error *err)
{
    const int per_tensor = 3;
    PX_TRY(pxi_op_params(ctx, sizeof(training_params), err));
    training_params *p = ctx->params;
    p->tensors = (ctx->in_count - 2) / per_tensor;
    if (p->tensors < 1 || ctx->in_count != 2 + p->tensors * per_tensor ||
        ctx->out_count != p->tensors * 2)
        return pxi_op_fail(ctx, err, PX_E_INPUT, "has %d inputs and %d outputs, which do not match",
                           ctx->in_count, ctx->out_count);
    PX_TRY(pxi_op_arity(ctx, ctx->in_count, ctx->in_count, 1, ctx->out_count, err));
    PX_TRY(pxi_nn_float(ctx, 0, 0, err));
    PX_TRY(pxi_nn_float(ctx, 2, ctx->in_count - 1, err));
    if (px_shape_count(&ctx->in[0].shape) != 1 || px_shape_count(&ctx->in[1].shape) != 1 ||
        ctx->in[1].dtype != PX_INT64)
        return pxi_op_fail(ctx, err, PX_E_INPUT,
                           "its learning rate and step should be single numbers");
    for (int i = 0; i < ctx->in_count - 2; i++) {
        const px_shape *x = &ctx->in[2 + i % p->tensors].shape;
        PX_TRY(pxi_nn_shape(ctx, 2 + i, "an input", x->rank, x->dim, err));
    }
    for (int i = 0; i < ctx->out_count; i++)
        ctx->out[i] = (px_tensor){.dtype = PX_FLOAT32, .shape = ctx->in[2 + i % p->tensors].shape};
    p->norm = (double)px_node_float(ctx->node, "norm_coefficient", 0.0f);
    p->epsilon = (double)px_node_float(ctx->node, "epsilon", 1e-6f);
    p->decay = (double)px_node_float(ctx->node, "decay_factor", 0.0f);
    return PX_OK;
}

static px_status adagrad_setup(px_op_ctx *ctx, px_error *err)
{
    return training_setup(ctx, err);
}

static px_status momentum_setup(px_op_ctx *ctx, px_error *err)
{
    PX_TRY(training_setup(ctx, err));
    training_params *p = ctx->params;
    p->alpha = (double)px_node_float(ctx->node, "alpha", 0.0f);
    p->beta = (double)px_node_float(ctx->node, "beta", 0.0f);
    p->nesterov = strcmp(px_node_string(ctx->node, "mode", "standard"), "nesterov") == 0;
    return PX_OK;
}

/* What one element of one tensor sees. */
typedef struct training_element {
    double rate, step, x, gradient; /* gradient: with the norm's share */
    double state;
} training_element;

static double adagrad_element(const training_params *p, training_element *e)
{
    e->state += e->gradient * e->gradient;
    return e->x -
           e->rate / (1.0 + e->step * p->decay) * e->gradient / (sqrt(e->state) + p->epsilon);
}

static double momentum_element(const training_params *p, training_element *e)
{
    const double beta = e->step > 0.0 ? p->beta : 1.0;
    e->state = p->alpha * e->state + beta * e->gradient;
    return e->x - e->rate * (p->nesterov ? e->gradient + p->alpha * e->state : e->state);
}

typedef double element_function(const training_params *p, training_element *e);

static px_status training_run(const px_op_ctx *ctx, element_function *element)
{
    const training_params *p = ctx->params;
    const int k = p->tensors;
    for (int t = 0; t < k; t++)
        for (int64_t i = 0; i < px_shape_count(&ctx->in[2 + t].shape); i++) {
            training_element e = {.rate = (double)PXI_F32(ctx->in[0])[0],
                                  .step = (double)PXI_I64(ctx->in[1])[0],
                                  .x = (double)PXI_F32(ctx->in[2 + t])[i],
                                  .state = (double)PXI_F32(ctx->in[2 + 2 * k + t])[i]};
            e.gradient = p->norm * e.x + (double)PXI_F32(ctx->in[2 + k + t])[i];
            const double x = element(p, &e);
            if (ctx->out[t].data)
                PXI_F32(ctx->out[t])[i] = (px_real)x;
            if (ctx->out[k + t].data)
                PXI_F32(ctx->out[k + t])[i] = (px_real)e.state;
        }
    return PX_OK;
}

static px_status adagrad_forward(const px_op_ctx *ctx, px_error *err)
{
    (void)err;
    return training_run(ctx, adagrad_element);
}

static px_status momentum_forward(const px_op_ctx *ctx, px_error *err)
{
    (void)err;
    return training_run(ctx, momentum_element);
}

const px_op px_op_adagrad_1 = {
    .name = "Adagrad",
    .domain = TRAINING_DOMAIN,
    .since = 1,
    .setup = adagrad_setup,
    .forward = adagrad_forward,
};

const px_op px_op_momentum_1 = {
    .name = "Momentum",
    .domain = TRAINING_DOMAIN,
    .since = 1,
    .setup = momentum_setup,
    .forward = momentum_forward,
};
