/* src/train/optimizer_rmsprop.c - RMSprop
 *
 *     d = g + decay w;  a = rho a + (1 - rho) d^2;  w -= lr d / (sqrt(a) + eps)
 *
 * Tieleman, Hinton: lecture 6.5, Neural Networks for Machine Learning, 2012, with Keras' defaults.
 * PyTorch's are rho=0.99,eps=1e-8. TensorFlow divides by sqrt(a + eps): inside=1. centered (Graves:
 * Generating Sequences With Recurrent Neural Networks, 2013, eq. 38-45) takes the square of the
 * mean off a; the difference is not let below zero by rounding. momentum as in PyTorch: b = mu b +
 * d / (...), w -= lr b. Keras' inverse-time decay of the rate is the schedule `inverse`.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "train/optimizer_kind.h"

#include <math.h>

enum { RMSPROP_RHO, RMSPROP_EPS, RMSPROP_MOMENTUM, RMSPROP_CENTERED, RMSPROP_INSIDE };
enum { RMSPROP_SQUARE, RMSPROP_MEAN, RMSPROP_VELOCITY };

static const px_setting rmsprop_settings[] = {
    PXI_SETTINGS_DECAY(0.0),
    {.name = "rho", .standard = 0.9, .most = 1, .below = true, .help = "of the square"},
    {.name = "eps", .standard = 1e-7, .most = 1e6, .help = "added to the root"},
    {.name = "momentum", .most = 1, .below = true, .help = "share of the velocity that is kept"},
    {.name = "centered", .most = 1, .whole = true, .help = "1: variance in place of the square"},
    {.name = "inside", .most = 1, .whole = true, .help = "1: eps is added under the root"},
    {0},
};

typedef struct rmsprop_rates {
    float lr, scale, decay, rho, fresh, inner, outer;
} rmsprop_rates;

/* The step's directions d / (...) are left in `to`, by which the two kernels below go on. */
PXI_WIDE static void rmsprop_plain(size_t count, const rmsprop_rates *rates,
                                   const float *restrict w, const float *restrict g,
                                   float *restrict a, float *restrict to)
{
    const rmsprop_rates r = *rates;
    for (size_t i = 0; i < count; i++) {
        const float d = r.scale * g[i] + r.decay * w[i];
        a[i] = r.rho * a[i] + r.fresh * (d * d);
        to[i] = d / (sqrtf(a[i] + r.inner) + r.outer);
    }
}

PXI_WIDE static void rmsprop_centered(size_t count, const rmsprop_rates *rates,
                                      const float *restrict w, const float *restrict g,
                                      float *restrict a, float *restrict mean, float *restrict to)
{
    const rmsprop_rates r = *rates;
    for (size_t i = 0; i < count; i++) {
        const float d = r.scale * g[i] + r.decay * w[i];
        a[i] = r.rho * a[i] + r.fresh * (d * d);
        mean[i] = r.rho * mean[i] + r.fresh * d;
        const float variance = a[i] - mean[i] * mean[i];
        to[i] = d / (sqrtf((variance < 0.0f ? 0.0f : variance) + r.inner) + r.outer);
    }
}

PXI_WIDE static void rmsprop_go(size_t count, float lr, float *restrict w,
                                const float *restrict direction)
{
    for (size_t i = 0; i < count; i++)
        w[i] -= lr * direction[i];
}

PXI_WIDE static void rmsprop_roll(size_t count, float lr, float mu, float *restrict w,
                                  const float *restrict direction, float *restrict v)
{
    for (size_t i = 0; i < count; i++) {
        v[i] = mu * v[i] + direction[i];
        w[i] -= lr * v[i];
    }
}

static bool rmsprop_has_slot(const double *own, int slot)
{
    return slot == RMSPROP_SQUARE || (slot == RMSPROP_MEAN && own[RMSPROP_CENTERED] != 0.0) ||
           (slot == RMSPROP_VELOCITY && own[RMSPROP_MOMENTUM] > 0.0);
}

static void rmsprop_move(const pxi_motion *m, size_t count, float *weights, const float *gradient,
                         float *const slots[PXI_OPTIMIZER_SLOTS])
{
    enum { BLOCK = 1024 };
    float direction[BLOCK];
    const double rho = m->own[RMSPROP_RHO], eps = m->own[RMSPROP_EPS];
    const bool inside = m->own[RMSPROP_INSIDE] != 0.0;
    const double mu = isnan(m->momentum) ? m->own[RMSPROP_MOMENTUM] : m->momentum;
    const rmsprop_rates rates = {
        .lr = (float)m->lr,
        .scale = (float)m->scale,
        .decay = (float)m->decay,
        .rho = (float)rho,
        .fresh = (float)(1.0 - rho),
        .inner = inside ? (float)eps : 0.0f,
        .outer = inside ? 0.0f : (float)eps,
    };
    for (size_t i = 0; i < count; i += BLOCK) {
        const size_t n = count - i < BLOCK ? count - i : BLOCK;
        if (slots[RMSPROP_MEAN])
            rmsprop_centered(n, &rates, weights + i, gradient + i, slots[RMSPROP_SQUARE] + i,
                             slots[RMSPROP_MEAN] + i, direction);
        else
            rmsprop_plain(n, &rates, weights + i, gradient + i, slots[RMSPROP_SQUARE] + i,
                          direction);
        if (slots[RMSPROP_VELOCITY])
            rmsprop_roll(n, rates.lr, (float)mu, weights + i, direction,
                         slots[RMSPROP_VELOCITY] + i);
        else
            rmsprop_go(n, rates.lr, weights + i, direction);
    }
}

const pxi_optimizer_kind pxi_optimizer_rmsprop = {
    .choice =
        {.entry = {.id = "rmsprop",
                   .title =
                       "steps scaled by a running mean of the gradient's square, as Keras has it"},
         .usage = "rmsprop[:KEY=VALUE,...]",
         .settings = rmsprop_settings},
    .slots = {"square", "mean", "momentum"},
    .has_slot = rmsprop_has_slot,
    .momentum = RMSPROP_VELOCITY,
    .move = rmsprop_move,
};
