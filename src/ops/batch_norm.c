/* src/ops/batch_norm.c - BatchNormalization (ONNX, since opset 1)
 *
 *     y = (x - mean) / sqrt(var + epsilon) * scale + bias          per channel
 *
 * with the statistics that are given, or in training those of the batch (population variance), in
 * which case the running ones move on: running * momentum + batch * (1 - momentum).
 *
 * Training is asked for by training_mode since opset 14, and by naming further outputs before
 * (unless is_test, opsets 1 and 6, forbids it). Those outputs were mean, var, saved_mean, saved_var
 * up to opset 9 and are running_mean, running_var since. `spatial = 0` (up to opset 7) normalises
 * every feature by itself, which is the same with C * D1 * ... channels and nothing else.
 *
 * Backward works from x and the statistics; in training the batch's own are in ctx->saved.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include <internal/norm.h>

#include <internal/nn_check.h>

#include <tgmath.h>

typedef enum batch_norm_version {
    BATCH_NORM_1,
    BATCH_NORM_14,
} batch_norm_version;

static px_status batch_norm_read(px_op_ctx *ctx, batch_norm_version version,
                                 pxi_batch_norm_params *p, px_error *err)
{
    const px_shape *x = &ctx->in[0].shape;
    PX_TRY(pxi_nn_rank(ctx, 0, 1, PX_MAX_RANK, err));
    p->batch = x->dim[0];
    p->channels = x->rank > 1 ? x->dim[1] : 1;
    p->area = 1;
    for (int i = 2; i < x->rank; i++)
        p->area *= x->dim[i];
    if (version == BATCH_NORM_1 && ctx->node->opset < 9 &&
        px_node_int(ctx->node, "spatial", 1) == 0) {
        p->channels *= p->area;
        p->area = 1;
    }
    static const char *const names[] = {"the scale", "the bias", "the mean", "the variance"};
    for (int i = 0; i < 4; i++) { /* without `spatial` their shape may be (C, D1, ...) */
        if (px_shape_count(&ctx->in[1 + i].shape) != p->channels)
            PX_TRY(pxi_nn_shape(ctx, 1 + i, names[i], 1, &p->channels, err));
    }
    p->epsilon = (double)px_node_float(ctx->node, "epsilon", 1e-5f);
    p->momentum = (double)px_node_float(ctx->node, "momentum", 0.9f);
    if (!(p->epsilon >= 0.0))
        return pxi_op_fail(ctx, err, PX_E_INPUT, "its epsilon is %g, expected at least 0",
                           p->epsilon);
    return PX_OK;
}

static px_status batch_norm_setup(px_op_ctx *ctx, batch_norm_version version, px_error *err)
{
    PX_TRY(pxi_op_arity(ctx, 5, 5, 1, version == BATCH_NORM_14 ? 3 : 5, err));
    PX_TRY(pxi_nn_float(ctx, 0, 4, err));
    PX_TRY(pxi_op_params(ctx, sizeof(pxi_batch_norm_params), err));
    pxi_batch_norm_params *p = ctx->params;
    PX_TRY(batch_norm_read(ctx, version, p, err));
    if (version == BATCH_NORM_14) {
        p->training = px_node_int(ctx->node, "training_mode", 0) != 0;
    } else {
        for (int i = 1; i < ctx->out_count; i++)
            p->training |= pxi_nn_names_output(ctx, i);
        if (ctx->node->opset < 7 && px_node_int(ctx->node, "is_test", 0) != 0)
            p->training = false;
    }
    int *const outputs[] = {&p->running_mean, &p->running_var, &p->saved_mean, &p->saved_var};
    ctx->out[0] = (px_tensor){.dtype = PX_FLOAT32, .shape = ctx->in[0].shape};
    for (int i = 1; i <= 4; i++) {
        *outputs[i - 1] = i < ctx->out_count ? i : -1;
        if (i < ctx->out_count)
            ctx->out[i] = (px_tensor){.dtype = PX_FLOAT32, .shape = ctx->in[3].shape};
    }
    if (!p->training)
        return PX_OK;
    if (p->batch * p->area == 0)
        return pxi_op_fail(ctx, err, PX_E_MISMATCH, "an empty batch has no statistics");
    return pxi_nn_bytes(ctx, 2 * p->channels, sizeof(double), &ctx->saved_bytes, err);
}

static px_status batch_norm_setup_1(px_op_ctx *ctx, px_error *err)
{
    return batch_norm_setup(ctx, BATCH_NORM_1, err);
}

static px_status batch_norm_setup_14(px_op_ctx *ctx, px_error *err)
{
    return batch_norm_setup(ctx, BATCH_NORM_14, err);
}

/* Mean and population variance of channel c over the batch, in two passes. */
static void batch_norm_statistics(const pxi_batch_norm_params *p, const px_real *x, int64_t c,
                                  double *mean, double *var)
{
    const double count = (double)p->batch * (double)p->area;
    double sum = 0.0, squares = 0.0;
    for (int64_t n = 0; n < p->batch; n++) {
        const px_real *plane = x + (n * p->channels + c) * p->area;
        for (int64_t i = 0; i < p->area; i++)
            sum += (double)plane[i];
    }
    *mean = sum / count;
    for (int64_t n = 0; n < p->batch; n++) {
        const px_real *plane = x + (n * p->channels + c) * p->area;
        for (int64_t i = 0; i < p->area; i++)
            squares += ((double)plane[i] - *mean) * ((double)plane[i] - *mean);
    }
    *var = squares / count;
}

static void batch_norm_store(const px_op_ctx *ctx, int output, int64_t c, double value)
{
    if (output >= 0 && ctx->out[output].data)
        PXI_F32(ctx->out[output])[c] = (px_real)value;
}

static px_status batch_norm_forward(const px_op_ctx *ctx, px_error *err)
{
    (void)err;
    const pxi_batch_norm_params *p = ctx->params;
    const px_real *x = PXI_F32(ctx->in[0]);
    px_real *y = PXI_F32(ctx->out[0]);
    double *saved = ctx->saved;
    for (int64_t c = 0; c < p->channels; c++) {
        const double given_mean = (double)PXI_F32(ctx->in[3])[c];
        const double given_var = (double)PXI_F32(ctx->in[4])[c];
        double mean = given_mean, var = given_var;
        if (p->training) {
            batch_norm_statistics(p, x, c, &mean, &var);
            saved[2 * c] = mean, saved[2 * c + 1] = var;
        }
        const double keep = p->training ? p->momentum : 1.0;
        batch_norm_store(ctx, p->running_mean, c, given_mean * keep + mean * (1.0 - keep));
        batch_norm_store(ctx, p->running_var, c, given_var * keep + var * (1.0 - keep));
        batch_norm_store(ctx, p->saved_mean, c, mean);
        batch_norm_store(ctx, p->saved_var, c, var);
        const double slope = (double)PXI_F32(ctx->in[1])[c] / sqrt(var + p->epsilon);
        const double bias = (double)PXI_F32(ctx->in[2])[c];
        for (int64_t n = 0; y && n < p->batch; n++) {
            const int64_t at = (n * p->channels + c) * p->area;
            for (int64_t i = at; i < at + p->area; i++)
                y[i] = (px_real)(((double)x[i] - mean) * slope + bias);
        }
    }
    return PX_OK;
}

static double batch_norm_pull(const px_op_ctx *ctx, int output, int64_t c)
{
    return output >= 0 && ctx->out_grad[output].data ? (double)PXI_F32(ctx->out_grad[output])[c]
                                                     : 0.0;
}

static void batch_norm_push(const px_op_ctx *ctx, int input, int64_t c, double value)
{
    if (pxi_op_wants_grad(ctx, input))
        PXI_F32(ctx->in_grad[input])[c] += (px_real)value;
}

typedef struct batch_norm_sums {
    double mean, inverse, scale; /* inverse: 1 / sqrt(var + epsilon) */
    double dbias, dscale;        /* sum of dy, sum of dy * xhat */
    double dmean, dvar;          /* what flows into the statistics used, y's part not counted */
} batch_norm_sums;

static batch_norm_sums batch_norm_sums_of(const px_op_ctx *ctx, int64_t c)
{
    const pxi_batch_norm_params *p = ctx->params;
    const double *saved = ctx->saved;
    const px_real *x = PXI_F32(ctx->in[0]), *dy = PXI_F32(ctx->out_grad[0]);
    const double var = p->training ? saved[2 * c + 1] : (double)PXI_F32(ctx->in[4])[c];
    const double move = p->training ? 1.0 - p->momentum : 0.0;
    batch_norm_sums s = {
        .mean = p->training ? saved[2 * c] : (double)PXI_F32(ctx->in[3])[c],
        .inverse = 1.0 / sqrt(var + p->epsilon),
        .scale = (double)PXI_F32(ctx->in[1])[c],
        .dmean = move * batch_norm_pull(ctx, p->running_mean, c) +
                 batch_norm_pull(ctx, p->saved_mean, c),
        .dvar =
            move * batch_norm_pull(ctx, p->running_var, c) + batch_norm_pull(ctx, p->saved_var, c),
    };
    for (int64_t n = 0; dy && n < p->batch; n++) {
        const int64_t at = (n * p->channels + c) * p->area;
        for (int64_t i = at; i < at + p->area; i++) {
            s.dbias += (double)dy[i];
            s.dscale += (double)dy[i] * ((double)x[i] - s.mean) * s.inverse;
        }
    }
    return s;
}

/* dx of channel c. With xhat = (x - mean) / s, s = sqrt(var + epsilon):
 *     dx = scale / s * dy                                                     statistics given
 *     dx = scale / s * (dy - mean of dy - xhat * mean of (dy xhat))           of the batch,
 * and then the batch's mean and variance pass on what flowed into them. */
static void batch_norm_data_gradient(const px_op_ctx *ctx, const batch_norm_sums *s, int64_t c)
{
    const pxi_batch_norm_params *p = ctx->params;
    const px_real *x = PXI_F32(ctx->in[0]), *dy = PXI_F32(ctx->out_grad[0]);
    px_real *dx = PXI_F32(ctx->in_grad[0]);
    const double count = (double)p->batch * (double)p->area, slope = s->scale * s->inverse;
    const double shift = p->training ? (s->dmean - slope * s->dbias) / count : 0.0;
    const double lean =
        p->training ? (2.0 * s->dvar - slope * s->inverse * s->dscale) / count : 0.0;
    for (int64_t n = 0; n < p->batch; n++) {
        const int64_t at = (n * p->channels + c) * p->area;
        for (int64_t i = at; i < at + p->area; i++)
            dx[i] += (px_real)((dy ? slope * (double)dy[i] : 0.0) + shift +
                               ((double)x[i] - s->mean) * lean);
    }
}

static void batch_norm_backward(const px_op_ctx *ctx)
{
    const pxi_batch_norm_params *p = ctx->params;
    for (int64_t c = 0; c < p->channels; c++) {
        const batch_norm_sums s = batch_norm_sums_of(ctx, c);
        const double keep = p->training ? p->momentum : 1.0;
        double dmean = keep * batch_norm_pull(ctx, p->running_mean, c);
        double dvar = keep * batch_norm_pull(ctx, p->running_var, c);
        if (!p->training) { /* y and all statistics follow from those that are given */
            dmean += s.dmean - s.scale * s.inverse * s.dbias;
            dvar += s.dvar - 0.5 * s.scale * s.inverse * s.inverse * s.dscale;
        }
        batch_norm_push(ctx, 1, c, s.dscale);
        batch_norm_push(ctx, 2, c, s.dbias);
        batch_norm_push(ctx, 3, c, dmean);
        batch_norm_push(ctx, 4, c, dvar);
        if (pxi_op_wants_grad(ctx, 0))
            batch_norm_data_gradient(ctx, &s, c);
    }
}

const px_op px_op_batchnormalization_1 = {
    .name = "BatchNormalization",
    .since = 1,
    .diff = PX_DIFF_YES,
    .setup = batch_norm_setup_1,
    .forward = batch_norm_forward,
    .backward = batch_norm_backward,
};

const px_op px_op_batchnormalization_14 = {
    .name = "BatchNormalization",
    .since = 14,
    .diff = PX_DIFF_YES,
    .setup = batch_norm_setup_14,
    .forward = batch_norm_forward,
    .backward = batch_norm_backward,
};
