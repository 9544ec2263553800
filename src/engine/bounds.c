/* src/engine/bounds.c - which values cannot become NaN or infinite, and where to look
 *
 * Two kinds of fast kernels are right for finite results only: oneDNN's, which take NaN for 0 in
 * the activation behind a product, and Winograd's, which spreads what is not finite over a whole
 * tile. They *hide* it. Looking at every value costs some percent, so a plan reckons with bounds
 * instead: |y| <= gain * |x| + bias from the weights alone, unit by unit. Only where a bound is not
 * known (the network's input, what a division or an exponential made) or has grown past what
 * float can hold (after some twenty layers) a unit *guards* what it reads at run time: every sample
 * is looked at, and one that is not tame runs on the plain loops of plain_loops.c. From then on the
 * run is *wild*: no bound holds, and every unit that hides looks for itself, sample by sample, so
 * that a sample's result does not depend on its neighbours.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/plan.h"

#include "base/wide.h"

#include <math.h>

/* Far enough below FLT_MAX for what Winograd adds up on the way to a result. */
static const double bound_limit = 1e33;
/* What a guard lets through: much, but leaves room for the layers that follow. */
static const float bound_tame = 1e10f;

PXI_WIDE static bool bound_all_within(const float *x, size_t count, float limit)
{
    int beyond = 0;
    for (size_t i = 0; i < count; i++)
        beyond |= !((x[i] <= limit) & (x[i] >= -limit)); /* true for NaN */
    return !beyond;
}

bool pxi_is_tame(const float *x, size_t count, float limit)
{
    return bound_all_within(x, count, limit);
}

bool pxi_unit_is_tame(const pxi_unit *unit, px_session *session, const float *x, size_t count,
                      const float *residual, size_t residual_count)
{
    const bool tame = pxi_is_tame(x, count, unit->tame) &&
                      (!residual || pxi_is_tame(residual, residual_count, bound_tame));
    session->wild |= !tame;
    return tame;
}

/* The larger, or NaN. */
static double bound_max(double a, double b)
{
    return a > b || isnan(a) ? a : b;
}

pxi_gain pxi_gain_of(const float *weights, int64_t outs, int64_t each, bool mixed,
                     const float *bias)
{
    pxi_gain made = {0};
    double most = 0.0; /* of one weight: times `each`, a looser bound that reads them in order */
    for (int64_t i = 0; mixed && i < outs * each; i++)
        most = bound_max(fabs((double)weights[i]), most);
    made.gain = most * (double)each;
    for (int64_t o = 0; o < outs; o++) {
        double sum = 0.0;
        for (int64_t i = 0; !mixed && i < each; i++)
            sum += fabs((double)weights[o * each + i]);
        made.gain = bound_max(sum, made.gain);
        made.bias = bound_max(bias ? fabs((double)bias[o]) : 0.0, made.bias);
    }
    return made;
}

float pxi_cell_bound(const px_plan *plan, int cell)
{
    return pxi_cell_root(plan, cell)->bound;
}

void pxi_cell_set_bound(px_plan *plan, int cell, double bound)
{
    plan->cells[plan->cells[cell].root].bound = bound <= bound_limit ? (float)bound : INFINITY;
}

static double bound_of_act(const pxi_act *act, double x)
{
    switch (act->kind) {
    case PXI_ACT_RELU:
    case PXI_ACT_ELU:
        return x * fmax(1.0, fabs((double)act->alpha));
    case PXI_ACT_CLIP:
        return fmin(x, fmax(fabs((double)act->alpha), fabs((double)act->beta)));
    case PXI_ACT_SIGMOID:
    case PXI_ACT_TANH:
        return 1.0;
    default:
        return x;
    }
}

bool pxi_act_hides(const pxi_act *act)
{
    return act->kind != PXI_ACT_NONE && !(act->kind == PXI_ACT_RELU && act->alpha != 0.0f);
}

void pxi_bound_linear(px_plan *plan, pxi_unit *unit, const pxi_gain *gain, const pxi_act *act,
                      bool hides, int residual)
{
    const double part = bound_limit / 4.0; /* for the product, the bias, the residual */
    double x = (double)pxi_cell_bound(plan, unit->in[0]);
    double r = residual < 0 ? 0.0 : (double)pxi_cell_bound(plan, residual);
    unit->guards = false;
    if (hides) {
        const bool is_finite = gain->gain <= part && gain->bias <= part; /* false for NaN */
        const double most = gain->gain > 1.0 ? part / gain->gain : part;
        unit->tame = is_finite ? (float)fmin(most, (double)bound_tame) : -1.0f; /* nothing is */
        unit->guards = !is_finite || !(x <= most) || !(r <= part);
        if (unit->guards) {
            x = is_finite ? fmin(x, (double)unit->tame) : INFINITY;
            r = fmin(r, (double)bound_tame);
        }
    }
    const double y = gain->gain * x + gain->bias + r;
    pxi_cell_set_bound(plan, unit->out[0], y <= bound_limit ? bound_of_act(act, y) : INFINITY);
}

void pxi_bound_same(px_plan *plan, pxi_unit *unit)
{
    pxi_cell_set_bound(plan, unit->out[0], (double)pxi_cell_bound(plan, unit->in[0]));
}

static float bound_of_constant(const px_tensor *tensor)
{
    if (tensor->dtype != PX_FLOAT32)
        return INFINITY;
    const float *data = tensor->data;
    const size_t count = (size_t)px_shape_count(&tensor->shape);
    double most = 0.0;
    for (size_t i = 0; i < count; i++) {
        if (!isfinite(data[i]))
            return INFINITY;
        most = fmax(most, fabs((double)data[i]));
    }
    return (float)most;
}

void pxi_plan_bounds(px_plan *plan)
{
    for (int c = 0; c < plan->cell_count; c++) {
        pxi_cell *cell = &plan->cells[c];
        cell->bound =
            cell->tensor.data && !cell->is_weight ? bound_of_constant(&cell->tensor) : INFINITY;
    }
    for (int u = 0; u < plan->unit_count; u++)
        if (plan->units[u].kind->bound)
            plan->units[u].kind->bound(plan, &plan->units[u]);
}
