/* src/train/optimizer_adagrad.c - AdaGrad
 *
 *     d = g + decay w;  s += d^2;  w -= lr d / (sqrt(s) + eps)
 *
 * Duchi, Hazan, Singer: Adaptive Subgradient Methods for Online Learning and Stochastic
 * Optimization, JMLR 2011, the diagonal form. PyTorch's lr_decay is the schedule `inverse`.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "train/optimizer_kind.h"

#include <math.h>

enum { ADAGRAD_EPS, ADAGRAD_INITIAL };

static const px_setting adagrad_settings[] = {
    PXI_SETTINGS_DECAY(0.0),
    {.name = "eps", .standard = 1e-10, .most = 1e6, .help = "added to the root"},
    {.name = "initial", .most = 1e6, .help = "what the sum of squares starts from"},
    {0},
};

PXI_WIDE static void adagrad_run(size_t count, float lr, float scale, float decay, float eps,
                                 float *restrict w, const float *restrict g, float *restrict s)
{
    for (size_t i = 0; i < count; i++) {
        const float d = scale * g[i] + decay * w[i];
        s[i] += d * d;
        w[i] -= lr * (d / (sqrtf(s[i]) + eps));
    }
}

static double adagrad_initial(const double *own)
{
    return own[ADAGRAD_INITIAL];
}

static bool adagrad_has_slot(const double *own, int slot)
{
    (void)own;
    return slot == 0;
}

static void adagrad_move(const pxi_motion *m, size_t count, float *weights, const float *gradient,
                         float *const slots[PXI_OPTIMIZER_SLOTS])
{
    adagrad_run(count, (float)m->lr, (float)m->scale, (float)m->decay, (float)m->own[ADAGRAD_EPS],
                weights, gradient, slots[0]);
}

const pxi_optimizer_kind pxi_optimizer_adagrad = {
    .choice = {.entry = {.id = "adagrad",
                         .title = "steps scaled by the sum of all squared gradients so far"},
               .usage = "adagrad[:KEY=VALUE,...]",
               .settings = adagrad_settings},
    .slots = {"sum"},
    .initial = adagrad_initial,
    .has_slot = adagrad_has_slot,
    .momentum = -1,
    .move = adagrad_move,
};
