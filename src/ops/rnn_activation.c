/* src/ops/rnn_activation.c - the activation functions of RNN, GRU and LSTM */
/* SPDX-License-Identifier: Apache-2.0 */
#include "ops/rnn.h"

#include "base/memory.h"

#include <math.h>
#include <strings.h>

/* Defaults are those of the operators of the same names; alpha and beta are only taken from the
 * lists of the node by functions that have them. */
static const struct {
    const char *name;
    bool has_alpha, has_beta;
    double alpha, beta;
} functions[] = {
    [PXI_RNN_AFFINE] = {"Affine", true, true, 1.0, 0.0},
    [PXI_RNN_ELU] = {"Elu", true, false, 1.0, 0.0},
    [PXI_RNN_HARD_SIGMOID] = {"HardSigmoid", true, true, 0.2, 0.5},
    [PXI_RNN_LEAKY_RELU] = {"LeakyRelu", true, false, 0.01, 0.0},
    [PXI_RNN_RELU] = {"Relu", false, false, 0.0, 0.0},
    [PXI_RNN_SCALED_TANH] = {"ScaledTanh", true, true, 1.0, 1.0},
    [PXI_RNN_SIGMOID] = {"Sigmoid", false, false, 0.0, 0.0},
    [PXI_RNN_SOFTPLUS] = {"Softplus", false, false, 0.0, 0.0},
    [PXI_RNN_SOFTSIGN] = {"Softsign", false, false, 0.0, 0.0},
    [PXI_RNN_TANH] = {"Tanh", false, false, 0.0, 0.0},
    [PXI_RNN_THRESHOLDED_RELU] = {"ThresholdedRelu", true, false, 1.0, 0.0},
};

static double clipped(const pxi_rnn_activation *activation, double x)
{
    return x > activation->clip ? activation->clip : x < -activation->clip ? -activation->clip : x;
}

static double sigmoid(double x)
{
    return x < 0.0 ? exp(x) / (1.0 + exp(x)) : 1.0 / (1.0 + exp(-x));
}

double pxi_rnn_apply(const pxi_rnn_activation *activation, double x)
{
    const double a = activation->alpha, b = activation->beta;
    x = clipped(activation, x);
    switch (activation->function) {
    case PXI_RNN_AFFINE:
        return a * x + b;
    case PXI_RNN_ELU:
        return x >= 0.0 ? x : a * expm1(x);
    case PXI_RNN_HARD_SIGMOID:
        return a * x + b < 0.0 ? 0.0 : a * x + b > 1.0 ? 1.0 : a * x + b;
    case PXI_RNN_LEAKY_RELU:
        return x >= 0.0 ? x : a * x;
    case PXI_RNN_RELU:
        return x < 0.0 ? 0.0 : x;
    case PXI_RNN_SCALED_TANH:
        return a * tanh(b * x);
    case PXI_RNN_SIGMOID:
        return sigmoid(x);
    case PXI_RNN_SOFTPLUS:
        return (x > 0.0 ? x : 0.0) + log1p(exp(-fabs(x)));
    case PXI_RNN_SOFTSIGN:
        return x / (1.0 + fabs(x));
    case PXI_RNN_TANH:
        return tanh(x);
    case PXI_RNN_THRESHOLDED_RELU:
        return x >= a ? x : 0.0;
    }
    return x;
}

double pxi_rnn_slope(const pxi_rnn_activation *activation, double x)
{
    const double a = activation->alpha, b = activation->beta;
    if (fabs(x) > activation->clip)
        return 0.0;
    switch (activation->function) {
    case PXI_RNN_AFFINE:
        return a;
    case PXI_RNN_ELU:
        return x >= 0.0 ? 1.0 : a * exp(x);
    case PXI_RNN_HARD_SIGMOID:
        return a * x + b > 0.0 && a * x + b < 1.0 ? a : 0.0;
    case PXI_RNN_LEAKY_RELU:
        return x >= 0.0 ? 1.0 : a;
    case PXI_RNN_RELU:
        return x > 0.0 ? 1.0 : 0.0;
    case PXI_RNN_SCALED_TANH:
        return a * b * (1.0 - tanh(b * x) * tanh(b * x));
    case PXI_RNN_SIGMOID:
        return sigmoid(x) * sigmoid(-x);
    case PXI_RNN_SOFTPLUS:
        return sigmoid(x);
    case PXI_RNN_SOFTSIGN:
        return 1.0 / ((1.0 + fabs(x)) * (1.0 + fabs(x)));
    case PXI_RNN_TANH:
        return 1.0 - tanh(x) * tanh(x);
    case PXI_RNN_THRESHOLDED_RELU:
        return x >= a ? 1.0 : 0.0;
    }
    return 1.0;
}

static px_status function_of(const px_op_ctx *ctx, const char *name, pxi_rnn_function *out,
                             px_error *err)
{
    for (size_t i = 0; i < PX_LEN(functions); i++)
        if (strcasecmp(name, functions[i].name) == 0) {
            *out = (pxi_rnn_function)i;
            return PX_OK;
        }
    return pxi_op_fail(ctx, err, PX_E_UNSUPPORTED, "the activation '%.40s' is not supported", name);
}

static px_status floats_of(const px_op_ctx *ctx, const char *name, const px_attr **out,
                           px_error *err)
{
    *out = px_node_attr(ctx->node, name);
    if (*out && (*out)->kind != PX_ATTR_FLOATS)
        return pxi_op_fail(ctx, err, PX_E_INPUT, "attribute '%s' should be a list of numbers",
                           name);
    return PX_OK;
}

px_status pxi_rnn_read_activations(const px_op_ctx *ctx, int count,
                                   const pxi_rnn_function *defaults, int directions,
                                   pxi_rnn_activation out[2][pxi_rnn_max_functions], px_error *err)
{
    const px_attr *names = px_node_attr(ctx->node, "activations"), *alphas, *betas;
    const px_attr *clip = px_node_attr(ctx->node, "clip");
    PX_TRY(floats_of(ctx, "activation_alpha", &alphas, err));
    PX_TRY(floats_of(ctx, "activation_beta", &betas, err));
    if (names && (names->kind != PX_ATTR_STRINGS || names->count != (size_t)(count * directions)))
        return pxi_op_fail(ctx, err, PX_E_INPUT, "attribute 'activations' should name %d functions",
                           count * directions);
    const double limit = clip ? (double)clip->f : (double)INFINITY;
    if (clip && (clip->kind != PX_ATTR_FLOAT || !(limit >= 0.0)))
        return pxi_op_fail(ctx, err, PX_E_INPUT, "attribute 'clip' should be a positive number");
    size_t alpha = 0, beta = 0;
    for (int d = 0; d < directions; d++)
        for (int i = 0; i < count; i++) {
            pxi_rnn_activation *a = &out[d][i];
            a->function = defaults[i];
            if (names)
                PX_TRY(function_of(ctx, names->strings[d * count + i], &a->function, err));
            a->alpha = functions[a->function].alpha;
            a->beta = functions[a->function].beta;
            a->clip = limit;
            if (functions[a->function].has_alpha && alphas && alpha < alphas->count)
                a->alpha = (double)alphas->floats[alpha++];
            if (functions[a->function].has_beta && betas && beta < betas->count)
                a->beta = (double)betas->floats[beta++];
        }
    return PX_OK;
}
