/* src/attack/descent.c - one step up the loss: what FGSM, BIM and PGD have in common (LGR E.1-E.3)
 *
 *     x' = clip(project(x + a direction(g)))
 *
 * Linf: direction is the sign (0 at 0), and the projection cuts each difference at eps. L2: the
 * direction is g/|g| and the projection shortens the difference to eps. Projecting comes first,
 * then the range. With a target the loss at the target goes down.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "attack/attack_internal.h"

#include <internal/engine.h>
#include <math.h>

bool pxi_descent_seed(const pxi_slot *slot, int pass, float *cotangent)
{
    const int64_t label = slot->target >= 0 ? slot->target : slot->truth;
    (void)pass;
    if (slot->run->scores.probabilities)
        px_probability_loss(slot->scores, slot->run->scores.classes, label, cotangent);
    else
        px_softmax_loss(slot->scores, slot->run->scores.classes, label, cotangent);
    return true;
}

static double cut(double value, double low, double high)
{
    return value < low ? low : value > high ? high : value;
}

static void descent_linf(const pxi_slot *slot, double step, const float *g)
{
    const pxi_pixel_rule *rule = &slot->run->rule;
    const double eps = slot->run->eps;
    for (size_t i = 0; i < rule->count; i++) {
        const double from = (double)slot->original[i];
        const double move = g[i] > 0.0f ? step : g[i] < 0.0f ? -step : 0.0;
        const double moved = cut((double)slot->x[i] + move, from - eps, from + eps);
        slot->x[i] = pxi_pixel_keep(rule, slot->original[i], cut(moved, rule->low, rule->high));
    }
}

/* A float is never further from the original than the double that it stands for: so the norm of a
 * difference in floats is within eps where that in doubles is. */
static float nearer(float original, double value)
{
    const float pixel = (float)value;
    return fabs((double)pixel - (double)original) > fabs(value - (double)original)
               ? nextafterf(pixel, original)
               : pixel;
}

void pxi_descent_project_l2(const pxi_attack_run *run, const float *original, float *x)
{
    const pxi_pixel_rule *rule = &run->rule;
    double squares = 0.0;
    for (size_t i = 0; i < rule->count; i++)
        squares += ((double)x[i] - (double)original[i]) * ((double)x[i] - (double)original[i]);
    const double norm = sqrt(squares), share = norm > run->eps ? run->eps / norm : 1.0;
    for (size_t i = 0; i < rule->count; i++) {
        const double from = (double)original[i];
        const double moved = from + share * ((double)x[i] - from);
        x[i] = nearer(original[i], cut(moved, rule->low, rule->high));
    }
}

static void descent_l2(const pxi_slot *slot, double step, const float *g)
{
    static const double LEAST_NORM = 1e-12;
    const pxi_pixel_rule *rule = &slot->run->rule;
    double squares = 0.0;
    for (size_t i = 0; i < rule->count; i++)
        squares += (double)g[i] * (double)g[i];
    /* FGSM has no guard: any gradient that is not 0 leads somewhere. */
    const double least = slot->run->method->shown.iterates ? LEAST_NORM : 0.0;
    const double norm = fmax(sqrt(squares), least);
    if (!(norm > 0.0))
        return;
    for (size_t i = 0; i < rule->count; i++)
        slot->x[i] = (float)((double)slot->x[i] + step * ((double)g[i] / norm));
    pxi_descent_project_l2(slot->run, slot->original, slot->x);
}

void pxi_descent_step(pxi_slot *slot, int pass, const float *g)
{
    const double step = slot->target >= 0 ? -slot->run->step : slot->run->step;
    (void)pass;
    if (slot->run->options.norm == PX_NORM_L2)
        descent_l2(slot, step, g);
    else
        descent_linf(slot, step, g);
}
