/* src/assess/clever_ball.c - uniform points of a ball, and lengths of gradients by the dual norm
 *
 * L2: a normal vector has a direction without preference, and U^(1/D) of the radius a volume
 * without preference. L1: D + 1 exponential numbers by their sum are uniform on a simplex; the last
 * is left out, and each gets a sign (Barthe et al., Annals of Probability 33, 2005). Linf: each
 * value by itself.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "assess/clever_internal.h"

#include <internal/rng.h>
#include <math.h>

static double cut(const pxi_pixel_rule *rule, double x)
{
    return x < rule->low ? rule->low : x > rule->high ? rule->high : x;
}

static void draw_l2(double radius, const pxi_pixel_rule *rule, px_random *r, const float *original,
                    float *x)
{
    double squares = 0.0;
    for (size_t i = 0; i < rule->count; i++) {
        x[i] = (float)px_rng_normal(r);
        squares += (double)x[i] * (double)x[i];
    }
    const double length = radius * pow(px_rng_u01(r), 1.0 / (double)rule->count);
    const double share = squares > 0.0 ? length / sqrt(squares) : 0.0;
    for (size_t i = 0; i < rule->count; i++)
        x[i] = (float)cut(rule, (double)original[i] + share * (double)x[i]);
}

static void draw_l1(double radius, const pxi_pixel_rule *rule, px_random *r, const float *original,
                    float *x)
{
    double sum = 0.0;
    for (size_t i = 0; i < rule->count; i++) {
        const double length = -log(1.0 - px_rng_u01(r));
        sum += length;
        x[i] = (float)(px_rng_u32(r) & 1 ? length : -length);
    }
    sum -= log(1.0 - px_rng_u01(r));
    const double share = sum > 0.0 ? radius / sum : 0.0;
    for (size_t i = 0; i < rule->count; i++)
        x[i] = (float)cut(rule, (double)original[i] + share * (double)x[i]);
}

static void draw_linf(double radius, const pxi_pixel_rule *rule, px_random *r,
                      const float *original, float *x)
{
    for (size_t i = 0; i < rule->count; i++)
        x[i] = (float)cut(rule, (double)original[i] + radius * (2.0 * px_rng_u01(r) - 1.0));
}

void pxi_ball_draw(px_ball ball, double radius, const pxi_pixel_rule *rule, px_random *r,
                   const float *original, float *x)
{
    static void (*const draws[])(double, const pxi_pixel_rule *, px_random *, const float *,
                                 float *) = {
        [PX_BALL_L2] = draw_l2, [PX_BALL_LINF] = draw_linf, [PX_BALL_L1] = draw_l1};
    draws[ball](radius, rule, r, original, x);
}

/* Of one channel: its sum of squares, of sizes, or its largest size, as the ball's dual has it. */
static double channel_sum(px_ball ball, const float *g, size_t count, size_t stride)
{
    double sum = 0.0;
    if (ball == PX_BALL_L2) {
#pragma omp simd reduction(+ : sum)
        for (size_t i = 0; i < count; i++)
            sum += (double)g[i * stride] * (double)g[i * stride];
    } else if (ball == PX_BALL_LINF) {
#pragma omp simd reduction(+ : sum)
        for (size_t i = 0; i < count; i++)
            sum += fabs((double)g[i * stride]);
    } else {
        for (size_t i = 0; i < count; i++) { /* NaN stays */
            const double size = fabs((double)g[i * stride]);
            sum = size > sum || size != size ? size : sum;
        }
    }
    return sum;
}

/* The same, slowly, where some values are no numbers. */
static double channel_mend(px_ball ball, const float *g, size_t count, size_t stride, int64_t *odd)
{
    double sum = 0.0;
    for (size_t i = 0; i < count; i++) {
        const double x = (double)g[i * stride];
        if (!isfinite(x)) {
            ++*odd;
            continue;
        }
        sum = ball == PX_BALL_L2     ? sum + x * x
              : ball == PX_BALL_LINF ? sum + fabs(x)
                                     : fmax(sum, fabs(x));
    }
    return sum;
}

double pxi_ball_dual(px_ball ball, const pxi_pixel_rule *rule, const float *net, int64_t *odd)
{
    double total = 0.0;
    for (size_t c = 0; c < rule->channels; c++) {
        size_t first, stride;
        const double stddev = pxi_pixel_channel(rule, c, &first, &stride);
        double sum = channel_sum(ball, net + first, rule->plane, stride);
        if (!isfinite(sum))
            sum = channel_mend(ball, net + first, rule->plane, stride, odd);
        if (ball == PX_BALL_L2)
            total += sum / (stddev * stddev);
        else if (ball == PX_BALL_LINF)
            total += sum / fabs(stddev);
        else
            total = fmax(total, sum / fabs(stddev));
    }
    return ball == PX_BALL_L2 ? sqrt(total) : total;
}
