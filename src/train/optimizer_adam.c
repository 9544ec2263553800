/* src/train/optimizer_adam.c - Adam and AdamW
 *
 *     m = b1 m + (1 - b1) d;  v = b2 v + (1 - b2) d^2
 *     w -= lr / (1 - b1^t) * m / (sqrt(v / (1 - b2^t)) + eps)
 *
 * Kingma, Ba: Adam, ICLR 2015, algorithm 1; there d = g + decay w. AdamW (Loshchilov, Hutter:
 * Decoupled Weight Decay Regularization, ICLR 2019, algorithm 2, as PyTorch has it) takes d = g and
 * first shrinks the weights: w *= 1 - lr decay. amsgrad (Reddi, Kale, Kumar, ICLR 2018) divides by
 * the largest v so far.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "train/optimizer_kind.h"

#include <math.h>

enum { ADAM_BETA1, ADAM_BETA2, ADAM_EPS, ADAM_AMSGRAD };
enum { ADAM_FIRST, ADAM_SECOND, ADAM_MOST };

#define ADAM_SETTINGS(standard_decay)                                                            \
    PXI_SETTINGS_DECAY(standard_decay),                                                          \
        {.name = "beta1", .standard = 0.9, .most = 1, .below = true, .help = "of the mean"},     \
        {.name = "beta2", .standard = 0.999, .most = 1, .below = true, .help = "of the square"}, \
        {.name = "eps", .standard = 1e-8, .most = 1e6, .help = "added to the root"},             \
        {.name = "amsgrad", .most = 1, .whole = true, .help = "1: the largest square so far"},   \
    {                                                                                            \
        0                                                                                        \
    }

static const px_setting adam_settings[] = {ADAM_SETTINGS(0.0)};
static const px_setting adamw_settings[] = {ADAM_SETTINGS(0.01)};

typedef struct adam_rates {
    float step, scale, decay, shrink; /* step: lr over the first correction */
    float b1, c1, b2, c2;             /* c: 1 - b, formed in double */
    float correction, eps;            /* correction: of the root */
} adam_rates;

PXI_WIDE static void adam_plain(size_t count, const adam_rates *rates, float *restrict w,
                                const float *restrict g, float *restrict m, float *restrict v)
{
    const adam_rates r = *rates;
    for (size_t i = 0; i < count; i++) {
        const float d = r.scale * g[i] + r.decay * w[i];
        m[i] = r.b1 * m[i] + r.c1 * d;
        v[i] = r.b2 * v[i] + r.c2 * (d * d);
        w[i] = w[i] * r.shrink - r.step * (m[i] / (sqrtf(v[i]) / r.correction + r.eps));
    }
}

PXI_WIDE static void adam_most(size_t count, const adam_rates *rates, float *restrict w,
                               const float *restrict g, float *restrict m, float *restrict v,
                               float *restrict most)
{
    const adam_rates r = *rates;
    for (size_t i = 0; i < count; i++) {
        const float d = r.scale * g[i] + r.decay * w[i];
        m[i] = r.b1 * m[i] + r.c1 * d;
        v[i] = r.b2 * v[i] + r.c2 * (d * d);
        most[i] = most[i] >= v[i] ? most[i] : v[i]; /* v that is NaN is taken, and stays NaN */
        w[i] = w[i] * r.shrink - r.step * (m[i] / (sqrtf(most[i]) / r.correction + r.eps));
    }
}

static bool adam_has_slot(const double *own, int slot)
{
    return slot != ADAM_MOST || own[ADAM_AMSGRAD] != 0.0;
}

static void adam_run(const pxi_motion *m, bool decoupled, size_t count, float *weights,
                     const float *gradient, float *const slots[PXI_OPTIMIZER_SLOTS])
{
    const double b1 = isnan(m->momentum) ? m->own[ADAM_BETA1] : m->momentum;
    const double b2 = m->own[ADAM_BETA2];
    const adam_rates rates = {
        .step = (float)(m->lr / (1.0 - pow(b1, (double)m->step))),
        .scale = (float)m->scale,
        .decay = decoupled ? 0.0f : (float)m->decay,
        .shrink = decoupled ? (float)(1.0 - m->lr * m->decay) : 1.0f,
        .b1 = (float)b1,
        .c1 = (float)(1.0 - b1),
        .b2 = (float)b2,
        .c2 = (float)(1.0 - b2),
        .correction = (float)sqrt(1.0 - pow(b2, (double)m->step)),
        .eps = (float)m->own[ADAM_EPS],
    };
    if (slots[ADAM_MOST])
        adam_most(count, &rates, weights, gradient, slots[ADAM_FIRST], slots[ADAM_SECOND],
                  slots[ADAM_MOST]);
    else
        adam_plain(count, &rates, weights, gradient, slots[ADAM_FIRST], slots[ADAM_SECOND]);
}

static void adam_move(const pxi_motion *m, size_t count, float *weights, const float *gradient,
                      float *const slots[PXI_OPTIMIZER_SLOTS])
{
    adam_run(m, /* decoupled= */ false, count, weights, gradient, slots);
}

static void adamw_move(const pxi_motion *m, size_t count, float *weights, const float *gradient,
                       float *const slots[PXI_OPTIMIZER_SLOTS])
{
    adam_run(m, /* decoupled= */ true, count, weights, gradient, slots);
}

const pxi_optimizer_kind pxi_optimizer_adam = {
    .choice =
        {.entry = {.id = "adam",
                   .title =
                       "steps scaled by the gradient's own mean and square; decay in the gradient"},
         .usage = "adam[:KEY=VALUE,...]",
         .settings = adam_settings},
    .slots = {"mean", "square", "most"},
    .has_slot = adam_has_slot,
    .momentum = ADAM_FIRST,
    .move = adam_move,
};

const pxi_optimizer_kind pxi_optimizer_adamw = {
    .choice = {.entry = {.id = "adamw", .title = "Adam with weight decay apart from the gradient"},
               .usage = "adamw[:KEY=VALUE,...]",
               .settings = adamw_settings},
    .slots = {"mean", "square", "most"},
    .has_slot = adam_has_slot,
    .momentum = ADAM_FIRST,
    .move = adamw_move,
};
