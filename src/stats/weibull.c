/* src/stats/weibull.c - Weibull distributions by maximum likelihood, and the end of a tail
 *
 * With known location, the shape c of positive values v solves
 *
 *     sum v^c ln v / sum v^c - 1/c - mean ln v = 0,     scale s = (mean v^c)^(1/c),
 *
 * whose left side grows with c: Newton's method on ln c inside a bracket. Powers are taken of
 * v / max v, so that none overflows.
 *
 * The reverse Weibull distribution, F(g) = exp(-((a - g) / s)^c) for g < a, is what maxima of
 * samples with a finite right end a tend to (Weng et al., Evaluating the robustness of neural
 * networks: an extreme value theory approach, ICLR 2018, Theorem 4.1). Its likelihood has no bound
 * where c < 1 (a may come as near to the largest value as it likes), so a is searched on a grid of
 * a = max + range t and only shapes c >= 1 are taken. The penalised form is that of their code as
 * it is mostly read: 0.01 c^2 is taken off the likelihood, which keeps c and a from running away
 * together where the likelihood is nearly flat.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include <internal/stats.h>

#include "base/memory.h"
#include "base/ascending.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double PENALTY = 0.01, KS_LEAST = 0.001;

typedef struct profile { /* the likelihood as a function of t alone */
    size_t count;
    double penalty, least_shape; /* shapes below are cut off; 0: none are */
    double below, above;         /* log10 t of the grid's ends */
    int points;
    double *y, *logs; /* (max - g) / range; of y + t */
    double shape;     /* of the last t: where the next search starts */
} profile;

typedef struct shape_fit {
    double shape, scale, likelihood;
} shape_fit;

/* The equation and its derivative at shape c. */
static double slope(const double *logs, size_t count, double most, double mean, double penalty,
                    double c, double *derivative)
{
    double w = 0.0, wl = 0.0, wll = 0.0;
    for (size_t i = 0; i < count; i++) {
        const double l = logs[i] - most, power = exp(c * l);
        w += power;
        wl += power * l;
        wll += power * l * l;
    }
    const double centre = wl / w, n = (double)count;
    *derivative = fmax(0.0, wll / w - centre * centre) + 1.0 / (c * c) + 2.0 * penalty / n;
    return centre - 1.0 / c - (mean - most) + 2.0 * penalty * c / n;
}

/* `start` is a guess of the shape. */
static shape_fit shape_of(const double *logs, size_t count, double penalty, double least,
                          double start)
{
    enum { STEPS = 200 };
    double most = -INFINITY, mean = 0.0, derivative;
    for (size_t i = 0; i < count; i++) {
        most = fmax(most, logs[i]);
        mean += logs[i];
    }
    const double n = (double)count, sum = mean;
    mean /= n;
    double low = log(1e-3), high = log(1e8), u = log(start), c = start;
    for (int i = 0; i < STEPS; i++) {
        c = exp(u);
        const double f = slope(logs, count, most, mean, penalty, c, &derivative);
        *(f > 0.0 ? &high : &low) = u;
        double next = u - f / (c * derivative);
        if (!(next > low && next < high))
            next = 0.5 * (low + high);
        const bool near = fabs(next - u) < 1e-13 || high - low < 1e-13;
        u = next;
        if (near)
            break;
    }
    c = fmax(exp(u), least);
    double power = 0.0;
    for (size_t i = 0; i < count; i++)
        power += exp(c * (logs[i] - most));
    const double log_scale = most + log(power / n) / c;
    return (shape_fit){c, exp(log_scale),
                       n * log(c) - n * c * log_scale + (c - 1.0) * sum - n - penalty * c * c};
}

px_status px_weibull_fit(const double *values, size_t count, px_weibull *out, px_error *err)
{
    *out = (px_weibull){NAN, NAN, NAN};
    bool same = true;
    for (size_t i = 0; i < count; i++) {
        same &= values[i] == values[0];
        if (!(values[i] > 0.0) || isinf(values[i]))
            return PX_OK;
    }
    if (same)
        return PX_OK;
    double *logs = NULL;
    PX_TRY(PX_NEW(logs, count, err));
    for (size_t i = 0; i < count; i++)
        logs[i] = log(values[i]);
    const shape_fit fit = shape_of(logs, count, 0.0, 0.0, 1.0);
    *out = (px_weibull){fit.shape, fit.scale, fit.likelihood};
    free(logs);
    return PX_OK;
}

/* --- the right end --------------------------------------------------------------------------- */

/* The best fit with a = max + range 10^power. Likelihood -inf: its shape is not admitted. */
static shape_fit profile_at(profile *p, double power)
{
    const double t = pow(10.0, power);
    for (size_t i = 0; i < p->count; i++)
        p->logs[i] = log(p->y[i] + t);
    shape_fit fit = shape_of(p->logs, p->count, p->penalty, p->least_shape, p->shape);
    p->shape = fit.shape;
    if (fit.shape < 1.0)
        fit.likelihood = -INFINITY;
    return fit;
}

static double grid_power(const profile *p, int i)
{
    return p->below + (p->above - p->below) * i / (p->points - 1);
}

/* The place of the highest likelihood; -1: none is admitted, or it lies at an end. */
static int profile_best(profile *p)
{
    double best = -INFINITY, before = -INFINITY;
    int at = -1;
    bool inside = false;
    for (int i = 0; i < p->points; i++) {
        const double now = profile_at(p, grid_power(p, i)).likelihood;
        if (now > best) {
            best = now;
            at = i;
            inside = isfinite(before);
        }
        before = now;
    }
    const bool upper_end = at == p->points - 1 && p->penalty == 0.0;
    return inside && !upper_end ? at : -1;
}

static double profile_golden(profile *p, double low, double high)
{
    static const double ratio = 0.61803398874989484820;
    double a = high - ratio * (high - low), b = low + ratio * (high - low);
    double at_a = profile_at(p, a).likelihood, at_b = profile_at(p, b).likelihood;
    while (high - low > 1e-9) {
        if (at_a >= at_b) {
            high = b;
            b = a;
            at_b = at_a;
            a = high - ratio * (high - low);
            at_a = profile_at(p, a).likelihood;
        } else {
            low = a;
            a = b;
            at_a = at_b;
            b = low + ratio * (high - low);
            at_b = profile_at(p, b).likelihood;
        }
    }
    return 0.5 * (low + high);
}

/* Kolmogorov's distance of the values, which are sorted, from the fit. */
static double distance(double *values, size_t count, const px_reverse_weibull *fit)
{
    double most = 0.0;
    qsort(values, count, sizeof *values, pxi_order_double);
    for (size_t i = 0; i < count; i++) {
        const double f = exp(-pow((fit->end - values[i]) / fit->scale, fit->shape));
        most = fmax(most, fmax((double)(i + 1) / (double)count - f, f - (double)i / (double)count));
    }
    return most;
}

static px_status end_fit(profile *p, double *values, double range, bool penalised,
                         px_reverse_weibull *r, px_error *err)
{
    const int at = profile_best(p);
    if (at < 0) {
        r->note = PX_END_OPEN;
        return PX_OK;
    }
    const double high = grid_power(p, at + 1 < p->points ? at + 1 : at);
    const double power = profile_golden(p, grid_power(p, at - 1), high);
    const shape_fit fit = profile_at(p, power);
    r->end = r->largest + range * pow(10.0, power);
    r->shape = fit.shape;
    r->scale = fit.scale * range;
    r->log_likelihood =
        fit.likelihood + p->penalty * fit.shape * fit.shape - (double)p->count * log(range);
    r->ks = distance(values, p->count, r);
    PX_TRY(px_kolmogorov_survival(r->ks, p->count, &r->ks_p, err));
    if (!penalised && r->ks_p < KS_LEAST)
        r->note = PX_END_POOR;
    return PX_OK;
}

px_status px_reverse_weibull_fit(const double *maxima, size_t count, bool penalised,
                                 px_reverse_weibull *out, px_error *err)
{
    px_reverse_weibull r = {NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, PX_END_FITTED};
    px_status status = PX_OK;
    double low = INFINITY, high = -INFINITY, *room = NULL;
    for (size_t i = 0; i < count; i++) {
        if (!isfinite(maxima[i]))
            goto done;
        low = fmin(low, maxima[i]);
        high = fmax(high, maxima[i]);
    }
    if (count == 0)
        goto done;
    r.largest = r.end = high;
    const double range = high - low;
    if (!(range > 1e-12 * fabs(high))) {
        r.note = PX_END_CONSTANT;
        r.location = high;
        goto done;
    }
    room = pxi_calloc(count, 3 * sizeof *room);
    if (!room) {
        status = pxi_no_memory_for(err, "%zu values", count);
        goto done;
    }
    for (size_t i = 0; i < count; i++)
        room[i] = (high - maxima[i]) / range;
    memcpy(room + 2 * count, maxima, count * sizeof *maxima);
    profile p = {.count = count,
                 .penalty = penalised ? PENALTY : 0.0,
                 .least_shape = penalised ? 1.0 : 0.0,
                 .below = penalised ? -3.0 : -4.0,
                 .above = penalised ? 3.0 : 1.0,
                 .points = penalised ? 601 : 401,
                 .y = room,
                 .logs = room + count,
                 .shape = 1.0};
    status = end_fit(&p, room + 2 * count, range, penalised, &r, err);
    r.location = r.note == PX_END_FITTED ? r.end : high;
done:
    free(room);
    if (status == PX_OK)
        *out = r;
    return status;
}
