/* src/attack/attack_start.c - random points of the ball around an input (LGR E.3)
 *
 * Linf: every value moves by U(-eps, eps). L2: eps U^(1/D) z/|z| with z normal, which is uniform in
 * the ball; z comes first, then U. Then the range.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "attack/attack_internal.h"

#include <internal/rng.h>
#include <math.h>

static void start_l2(const pxi_attack_run *run, px_random *r, const float *original, float *x)
{
    const size_t count = run->rule.count;
    double squares = 0.0;
    for (size_t i = 0; i < count; i++) {
        x[i] = (float)px_rng_normal(r);
        squares += (double)x[i] * (double)x[i];
    }
    const double radius = run->eps * pow(px_rng_u01(r), 1.0 / (double)count);
    const double share = squares > 0.0 ? radius / sqrt(squares) : 0.0;
    for (size_t i = 0; i < count; i++)
        x[i] = (float)((double)original[i] + share * (double)x[i]);
    pxi_descent_project_l2(run, original, x);
}

void pxi_attack_start(const pxi_attack_run *run, const float *original, int64_t item,
                      int64_t restart, float *x)
{
    px_random r = px_rng(run->options.seed, PX_RNG_ATTACK, (uint32_t)item, (uint32_t)restart);
    pxi_attack_draw(run, &r, original, x);
}

void pxi_attack_draw(const pxi_attack_run *run, px_random *r, const float *original, float *x)
{
    const pxi_pixel_rule *rule = &run->rule;
    if (run->options.norm == PX_NORM_L2) {
        start_l2(run, r, original, x);
        return;
    }
    for (size_t i = 0; i < rule->count; i++) {
        const double moved = (double)original[i] + run->eps * (2.0 * px_rng_u01(r) - 1.0);
        const double kept = moved < rule->low ? rule->low : moved > rule->high ? rule->high : moved;
        x[i] = pxi_pixel_keep(rule, original[i], kept);
    }
}
