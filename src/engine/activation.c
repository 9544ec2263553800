/* src/engine/activation.c - activations that are fused behind linear operators
 *
 * Their derivatives are taken from the output, so that the value before the activation need not be
 * kept. At a kink the derivative is that of PyTorch's module: 0 at Relu's zero and at both ends of
 * Clip (ReLU6), alpha at LeakyRelu's zero. (A Clip that is not fused passes the gradient inside the
 * closed interval; the two differ only where a linear operator's result is exactly a bound.) Where
 * the output is NaN the gradient passes, as PyTorch's does.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/plan.h"

#include "base/vector_math.h"

#include <math.h>
#include <string.h>

static bool act_scalar(const pxi_step *step, int input, float fallback, float *out)
{
    *out = fallback;
    if (!pxi_op_has_in(&step->ctx, input))
        return true;
    const px_tensor *t = &step->ctx.in[input];
    if (!t->data || t->dtype != PX_FLOAT32 || px_shape_count(&t->shape) != 1)
        return false;
    *out = ((const float *)t->data)[0];
    return true;
}

bool pxi_act_from_step(const pxi_step *step, bool gradient, pxi_act *out)
{
    const px_node *node = step->ctx.node;
    const char *type = node->type;
    if (step->ctx.in[0].dtype != PX_FLOAT32 || node->domain[0])
        return false;
    *out = (pxi_act){0};
    if (strcmp(type, "Relu") == 0) {
        out->kind = PXI_ACT_RELU;
    } else if (strcmp(type, "LeakyRelu") == 0) {
        out->kind = PXI_ACT_RELU;
        out->alpha = px_node_float(node, "alpha", 0.01f);
        return out->alpha > 0.0f; /* the output's sign must tell the input's */
    } else if (strcmp(type, "Clip") == 0) {
        out->kind = PXI_ACT_CLIP;
        if (node->opset < 11) {
            out->alpha = px_node_float(node, "min", -INFINITY);
            out->beta = px_node_float(node, "max", INFINITY);
        } else if (!act_scalar(step, 1, -INFINITY, &out->alpha) ||
                   !act_scalar(step, 2, INFINITY, &out->beta)) {
            return false;
        }
        return out->alpha < out->beta;
    } else if (strcmp(type, "Sigmoid") == 0) {
        out->kind = PXI_ACT_SIGMOID;
    } else if (strcmp(type, "Tanh") == 0) {
        out->kind = PXI_ACT_TANH;
    } else if (strcmp(type, "Elu") == 0) {
        out->kind = PXI_ACT_ELU;
        out->alpha = px_node_float(node, "alpha", 1.0f);
        return out->alpha > 0.0f;
    } else if (strcmp(type, "HardSwish") == 0) {
        out->kind = PXI_ACT_HARDSWISH;
        return !gradient; /* not monotonic: its output does not tell its derivative */
    } else if (strcmp(type, "Gelu") == 0) {
        out->kind = PXI_ACT_GELU;
        return !gradient && strcmp(px_node_string(node, "approximate", "none"), "none") == 0;
    } else if (strcmp(type, "Swish") == 0) {
        out->kind = PXI_ACT_SILU;
        return !gradient && px_node_float(node, "alpha", 1.0f) == 1.0f;
    } else {
        return false;
    }
    return true;
}

/* One loop per activation: `d` is the derivative at output value v. */
#define ACT_LOOP(derivative)                 \
    for (size_t i = 0; i < count; i++) {     \
        const float v = y[i];                \
        (void)v;                             \
        const float d = (derivative);        \
        g[i] = d == 0.0f ? 0.0f : dy[i] * d; \
    }

PXI_WIDE static void act_gradient(const pxi_act *act, const float *y, const float *dy, float *g,
                                  size_t count)
{
    const float alpha = act->alpha, beta = act->beta;
    switch (act->kind) {
    case PXI_ACT_NONE:
    case PXI_ACT_HARDSWISH:
    case PXI_ACT_SILU:
    case PXI_ACT_GELU:
        if (g != dy)
            memcpy(g, dy, count * sizeof *g);
        break;
    case PXI_ACT_RELU:
        if (alpha == 0.0f) {
            for (size_t i = 0; i < count; i++)
                g[i] = y[i] <= 0.0f ? 0.0f : dy[i];
        } else {
            for (size_t i = 0; i < count; i++)
                g[i] = y[i] <= 0.0f ? alpha * dy[i] : dy[i];
        }
        break;
    case PXI_ACT_CLIP:
        for (size_t i = 0; i < count; i++)
            g[i] = ((y[i] <= alpha) | (y[i] >= beta)) ? 0.0f : dy[i];
        break;
    case PXI_ACT_SIGMOID:
        ACT_LOOP(v * (1.0f - v))
        break;
    case PXI_ACT_TANH:
        ACT_LOOP(1.0f - v * v)
        break;
    case PXI_ACT_ELU:
        ACT_LOOP(v > 0.0f ? 1.0f : v + alpha)
        break;
    }
}

#define ACT_VALUES(value)                                  \
    _Pragma("omp simd") for (size_t i = 0; i < count; i++) \
    {                                                      \
        const float x = y[i];                              \
        y[i] = (value);                                    \
    }

PXI_WIDE static void act_values(const pxi_act *act, float *y, size_t count)
{
    const float alpha = act->alpha, beta = act->beta;
    switch (act->kind) {
    case PXI_ACT_NONE:
        break;
    case PXI_ACT_RELU: /* 0 times infinity is no number */
        ACT_VALUES(x < 0.0f ? (alpha == 0.0f ? 0.0f : alpha * x) : x)
        break;
    case PXI_ACT_CLIP:
        ACT_VALUES(x < alpha ? alpha : x > beta ? beta : x)
        break;
    case PXI_ACT_SIGMOID:
        ACT_VALUES(1.0f / (1.0f + pxi_exp(-x)))
        break;
    case PXI_ACT_TANH:
        ACT_VALUES(pxi_tanh(x))
        break;
    case PXI_ACT_ELU:
        ACT_VALUES(x < 0.0f ? alpha * expm1f(x) : x)
        break;
    case PXI_ACT_HARDSWISH:
        ACT_VALUES(x * (x <= -3.0f ? 0.0f : x >= 3.0f ? 1.0f : x / 6.0f + 0.5f))
        break;
    case PXI_ACT_SILU:
        ACT_VALUES(x / (1.0f + pxi_exp(-x)))
        break;
    case PXI_ACT_GELU:
        ACT_VALUES(x * (0.5f * (1.0f + pxi_erf(x * 0.70710678118654752440f))))
        break;
    }
}

void pxi_act_forward(const pxi_act *act, float *y, size_t count)
{
    act_values(act, y, count); /* clones have no declaration elsewhere */
}

PXI_WIDE static void act_add(const float *from, float *to, size_t count)
{
    for (size_t i = 0; i < count; i++)
        to[i] += from[i];
}

void pxi_act_backward(const pxi_act *act, const float *y, const float *dy, float *g,
                      float *residual, bool residual_adds, size_t count)
{
    enum { BLOCK = 4096 }; /* both passes over a block find it in the first-level cache */
    for (size_t i = 0; i < count; i += BLOCK) {
        const size_t n = count - i < BLOCK ? count - i : BLOCK;
        act_gradient(act, y ? y + i : NULL, dy + i, g + i, n);
        if (residual && residual_adds)
            act_add(g + i, residual + i, n);
        else if (residual)
            memcpy(residual + i, g + i, n * sizeof *g);
    }
}

bool pxi_act_needs_place(const px_plan *plan, const pxi_act *act, int cell)
{
    if (act->kind == PXI_ACT_NONE)
        return false;
    for (int c = 0; c < plan->cell_count; c++)
        if (plan->cells[c].root == plan->cells[cell].root && plan->cells[c].is_wrt)
            return true;
    return false;
}
