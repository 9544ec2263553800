/* src/train/optimizer_sgd.c - stochastic gradient descent with momentum
 *
 *     d = g + decay w;  v = mu v + (1 - dampening) d  (first step: v = d)
 *     w -= lr v, or with Nesterov  w -= lr (d + mu v)
 *
 * Sutskever, Martens, Dahl, Hinton: On the importance of initialization and momentum in deep
 * learning, ICML 2013, in PyTorch's form: the rate multiplies the velocity, so a change of rate
 * acts at once.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "train/optimizer_kind.h"

#include <math.h>

enum { SGD_MOMENTUM, SGD_DAMPENING, SGD_NESTEROV };

static const px_setting sgd_settings[] = {
    PXI_SETTINGS_DECAY(0.0),
    {.name = "momentum", .most = 1, .below = true, .help = "share of the velocity that is kept"},
    {.name = "dampening", .most = 1, .help = "share of the gradient that does not enter it"},
    {.name = "nesterov", .most = 1, .whole = true, .help = "1: look ahead along the velocity"},
    {0},
};

PXI_WIDE static void sgd_plain(size_t count, float lr, float scale, float decay, float *restrict w,
                               const float *restrict g)
{
    for (size_t i = 0; i < count; i++)
        w[i] -= lr * (scale * g[i] + decay * w[i]);
}

PXI_WIDE static void sgd_momentum(size_t count, float lr, float scale, float decay, float mu,
                                  float fresh, float *restrict w, const float *restrict g,
                                  float *restrict v)
{
    for (size_t i = 0; i < count; i++) {
        v[i] = mu * v[i] + fresh * (scale * g[i] + decay * w[i]);
        w[i] -= lr * v[i];
    }
}

PXI_WIDE static void sgd_nesterov(size_t count, float lr, float scale, float decay, float mu,
                                  float fresh, float *restrict w, const float *restrict g,
                                  float *restrict v)
{
    for (size_t i = 0; i < count; i++) {
        const float d = scale * g[i] + decay * w[i];
        v[i] = mu * v[i] + fresh * d;
        w[i] -= lr * (d + mu * v[i]);
    }
}

static bool sgd_has_slot(const double *own, int slot)
{
    return slot == 0 && own[SGD_MOMENTUM] > 0.0;
}

static void sgd_move(const pxi_motion *m, size_t count, float *weights, const float *gradient,
                     float *const slots[PXI_OPTIMIZER_SLOTS])
{
    const float lr = (float)m->lr, scale = (float)m->scale, decay = (float)m->decay;
    if (!slots[0]) {
        sgd_plain(count, lr, scale, decay, weights, gradient);
        return;
    }
    const float mu = (float)(isnan(m->momentum) ? m->own[SGD_MOMENTUM] : m->momentum);
    const float fresh = m->step == 1 ? 1.0f : (float)(1.0 - m->own[SGD_DAMPENING]);
    (m->own[SGD_NESTEROV] != 0.0 ? sgd_nesterov : sgd_momentum)(count, lr, scale, decay, mu, fresh,
                                                                weights, gradient, slots[0]);
}

const pxi_optimizer_kind pxi_optimizer_sgd = {
    .choice = {.entry = {.id = "sgd",
                         .title = "gradient descent, with (Nesterov) momentum where that is given"},
               .usage = "sgd[:KEY=VALUE,...]",
               .settings = sgd_settings},
    .slots = {"momentum"},
    .has_slot = sgd_has_slot,
    .momentum = 0,
    .move = sgd_move,
};
