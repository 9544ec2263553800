/* src/generate/swarm.c - places, speeds and bests of a swarm */
/* SPDX-License-Identifier: Apache-2.0 */
#include "generate/swarm.h"

#include "base/memory.h"

#include <internal/rng.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

px_status pxi_swarm_room(pxi_swarm *swarm, const pxi_swarm_rule *rule, size_t size, px_error *err)
{
    pxi_swarm_free(swarm);
    swarm->particles = rule->particles;
    swarm->size = size;
    const size_t bytes = size * sizeof(float);
    swarm->places = pxi_calloc(rule->particles, bytes);
    swarm->speeds = pxi_calloc(rule->particles, bytes);
    swarm->bests = pxi_calloc(rule->particles, bytes);
    swarm->fits = pxi_calloc(rule->particles, sizeof *swarm->fits);
    swarm->best_fits = pxi_calloc(rule->particles, sizeof *swarm->best_fits);
    return swarm->places && swarm->speeds && swarm->bests && swarm->fits && swarm->best_fits
               ? PX_OK
               : pxi_no_memory_for(err, "a swarm of %zu particles", rule->particles);
}

void pxi_swarm_free(pxi_swarm *swarm)
{
    free(swarm->places);
    free(swarm->speeds);
    free(swarm->bests);
    free(swarm->fits);
    free(swarm->best_fits);
    *swarm = (pxi_swarm){0};
}

/* --- arithmetic ------------------------------------------------------------------------------ */

double pxi_swarm_inertia(const pxi_swarm_rule *rule, int64_t g)
{
    const double left = (double)(rule->iters - g) / (double)rule->iters;
    return (rule->w_init - rule->w_end) * left + rule->w_end;
}

/* A share of the range of value k; infinite stays so, also where there is no range. */
static double swarm_length(const pxi_swarm *swarm, double share, size_t k)
{
    return isinf(share) ? share : share * ((double)swarm->high[k] - (double)swarm->low[k]);
}

/* Into the range, and into the ball around the seed. */
static float swarm_inside(const pxi_swarm *swarm, const pxi_swarm_rule *rule, double x, size_t k)
{
    const double middle = (double)swarm->seed[k], bound = swarm_length(swarm, rule->bound, k);
    const double cut = pxi_swarm_cut(x, (double)swarm->low[k], (double)swarm->high[k]);
    return (float)pxi_swarm_cut(cut, middle - bound, middle + bound);
}

static double swarm_between(px_random *random, double length)
{
    return (2.0 * px_rng_u01(random) - 1.0) * length;
}

static px_random swarm_random(const pxi_swarm *swarm, const pxi_swarm_rule *rule, int64_t g,
                              size_t i)
{
    const uint64_t address = (uint64_t)g * PXI_SWARM_MOST + i;
    return px_rng(rule->seed, PX_RNG_SWARM, swarm->visit, (uint32_t)address);
}

double pxi_swarm_chance(const pxi_swarm *swarm, const pxi_swarm_rule *rule, int64_t g, size_t i)
{
    const uint64_t address = (uint64_t)g * PXI_SWARM_MOST + i;
    px_random random = px_rng(rule->seed, PX_RNG_SWARM_CHANCE, swarm->visit, (uint32_t)address);
    return px_rng_u01(&random);
}

/* --- beginning ------------------------------------------------------------------------------- */

void pxi_swarm_begin(pxi_swarm *swarm, const float *seed, const float *low, const float *high,
                     uint32_t visit)
{
    swarm->visit = visit;
    swarm->seed = seed;
    swarm->low = low;
    swarm->high = high;
    swarm->leader = 0;
    for (size_t i = 0; i < swarm->particles; i++)
        swarm->best_fits[i] = -INFINITY;
}

/* Anywhere within reach: all that `random` ever does. */
static void swarm_anywhere(pxi_swarm *swarm, const pxi_swarm_rule *rule, px_random *random,
                           double share, float *x)
{
    for (size_t k = 0; k < swarm->size; k++)
        x[k] = swarm_inside(
            swarm, rule,
            (double)swarm->seed[k] + swarm_between(random, swarm_length(swarm, share, k)), k);
}

void pxi_swarm_draw(pxi_swarm *swarm, const pxi_swarm_rule *rule, size_t i)
{
    float *x = swarm->places + i * swarm->size, *v = swarm->speeds + i * swarm->size;
    px_random random = swarm_random(swarm, rule, 0, i);
    const double bound = isinf(rule->bound) ? rule->radius : rule->bound;
    if (rule->fixed && rule->kind != PXI_SWARM_RANDOM)
        memcpy(x, swarm->seed, swarm->size * sizeof *x);
    else
        swarm_anywhere(swarm, rule, &random, rule->kind == PXI_SWARM_RANDOM ? bound : rule->radius,
                       x);
    for (size_t k = 0; k < swarm->size; k++)
        v[k] = (float)swarm_between(&random, swarm_length(swarm, rule->radius, k));
}

/* --- an iteration ---------------------------------------------------------------------------- */

bool pxi_swarm_judge(pxi_swarm *swarm, const double *fits)
{
    bool led = false;
    for (size_t i = 0; i < swarm->particles; i++) {
        const double fit = isnan(fits[i]) ? 0.0 : fits[i];
        swarm->fits[i] = fit;
        if (!(fit > swarm->best_fits[i]))
            continue;
        swarm->best_fits[i] = fit;
        memcpy(swarm->bests + i * swarm->size, pxi_swarm_at(swarm, i),
               swarm->size * sizeof *swarm->bests);
        led |= i == swarm->leader;
    }
    size_t leader = 0;
    for (size_t i = 1; i < swarm->particles; i++)
        if (swarm->best_fits[i] > swarm->best_fits[leader])
            leader = i;
    led |= leader != swarm->leader;
    swarm->leader = leader;
    return led;
}

static void swarm_fly(pxi_swarm *swarm, const pxi_swarm_rule *rule, int64_t g, size_t i)
{
    float *x = swarm->places + i * swarm->size, *v = swarm->speeds + i * swarm->size;
    const float *own = swarm->bests + i * swarm->size, *best = pxi_swarm_best(swarm);
    const double inertia = pxi_swarm_inertia(rule, g);
    px_random random = swarm_random(swarm, rule, g, i);
    double own_pull = rule->c1 * px_rng_u01(&random), pull = rule->c2 * px_rng_u01(&random);
    for (size_t k = 0; k < swarm->size; k++) {
        if (k > 0 && !rule->scalar) {
            own_pull = rule->c1 * px_rng_u01(&random);
            pull = rule->c2 * px_rng_u01(&random);
        }
        const double most = swarm_length(swarm, rule->vmax, k);
        const double speed =
            pxi_swarm_cut(pxi_swarm_speed(inertia, (double)v[k], own_pull, (double)own[k], pull,
                                          (double)best[k], (double)x[k]),
                          -most, most);
        v[k] = (float)speed;
        x[k] = swarm_inside(swarm, rule, (double)x[k] + speed, k);
    }
}

/* The better of two that are drawn; of equals the first of them. */
static const float *swarm_parent(const pxi_swarm *swarm, px_random *random)
{
    const size_t a = px_rng_below(random, (uint32_t)swarm->particles);
    const size_t b = px_rng_below(random, (uint32_t)swarm->particles);
    return pxi_swarm_at(swarm, swarm->fits[b] > swarm->fits[a] ? b : a);
}

/* The next generation is written beside this one. Its first is the best place so far. */
static void swarm_breed(pxi_swarm *swarm, const pxi_swarm_rule *rule, int64_t g, size_t i)
{
    float *child = swarm->speeds + i * swarm->size;
    px_random random = swarm_random(swarm, rule, g, i);
    const double step = isinf(rule->vmax) ? rule->radius : rule->vmax;
    if (i == 0) {
        memcpy(child, pxi_swarm_best(swarm), swarm->size * sizeof *child);
        return;
    }
    const float *mother = swarm_parent(swarm, &random), *father = swarm_parent(swarm, &random);
    for (size_t k = 0; k < swarm->size; k++) {
        double x = (double)(px_rng_u01(&random) < 0.5 ? mother : father)[k];
        if (px_rng_u01(&random) < rule->mutate)
            x += swarm_between(&random, swarm_length(swarm, step, k));
        child[k] = swarm_inside(swarm, rule, x, k);
    }
}

static void swarm_scatter(pxi_swarm *swarm, const pxi_swarm_rule *rule, int64_t g, size_t i)
{
    px_random random = swarm_random(swarm, rule, g, i);
    swarm_anywhere(swarm, rule, &random, isinf(rule->bound) ? rule->radius : rule->bound,
                   swarm->places + i * swarm->size);
}

static void (*const swarm_moves[])(pxi_swarm *, const pxi_swarm_rule *, int64_t, size_t) = {
    [PXI_SWARM_PSO] = swarm_fly, [PXI_SWARM_RANDOM] = swarm_scatter, [PXI_SWARM_GA] = swarm_breed};

void pxi_swarm_move(pxi_swarm *swarm, const pxi_swarm_rule *rule, int64_t g, size_t i)
{
    swarm_moves[rule->kind](swarm, rule, g, i);
}

void pxi_swarm_moved(pxi_swarm *swarm, const pxi_swarm_rule *rule)
{
    if (rule->kind != PXI_SWARM_GA)
        return;
    float *before = swarm->places;
    swarm->places = swarm->speeds;
    swarm->speeds = before;
}
