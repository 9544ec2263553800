/* src/attribute/shapley_sample.c - Shapley values by random orders
 *
 * Channels are taken out one after the other; what each takes with it is one sample of its value.
 * An order goes with its reverse (antithetic), and the mean of the two is what counts, so that
 * standard errors are those of independent numbers. The first and the last row of an order are the
 * same in all of them. A channel that is zero on both inputs changes nothing and is never run.
 *
 * Orders that have used up the change end early (Ghorbani, Zou: Data Shapley, ICML 2019), and
 * channels about which the question is settled are no longer looked at (Ghorbani, Zou: Neuron
 * Shapley, NeurIPS 2020): both are decided from numbers that do not depend on threads or batches.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "attribute/shapley_internal.h"

#include "base/arena.h"
#include "base/memory.h"

#include <internal/rng.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

enum {
    TRUNCATION_HITS = 5, /* in a row */
    ROUND_PAIRS = 64,    /* between two looks at the figures */
    BANDIT_PAIRS = 8,    /* the same with a goal */
    MOST_PAIRS = 1 << 19,
};

px_shapley_sampling px_shapley_sampling_default(void)
{
    return (px_shapley_sampling){.permutations = 100,
                                 .truncation = 0.01,
                                 .norm = PX_SHAPLEY_LAYER_MINMAX,
                                 .lambda = 0.5,
                                 .top = 100,
                                 .delta = 0.2};
}

double px_shapley_radius(double variance, int64_t count, double range, double delta)
{
    if (count < 2)
        return (double)INFINITY;
    const double odds = log(2.0 / delta);
    return sqrt(2.0 * variance * odds / (double)count) +
           7.0 * range * odds / (3.0 * (double)(count - 1));
}

typedef struct sample_unit { /* Welford's running mean and sum of squares over pairs */
    double mean, m2;
    int64_t count;
    bool active;
} sample_unit;

typedef struct sample_scratch { /* of one worker: the orders of one job */
    int64_t *drawn;             /* a permutation of all channels */
    int64_t *units;             /* [orders][players]: without those that are zero */
    double *u;                  /* [orders][players + 1]; NaN: not run */
    double *utilities;
    struct sample_row {
        int64_t order, step;
    } * rows;
} sample_scratch;

typedef struct sample_run {
    px_shapley *s;
    pxi_game *game;
    const px_shapley_sampling *options;
    const px_shapley_pair *pair;
    px_arena *memory; /* of all arrays */
    sample_unit *units;
    sample_scratch *scratch;
    int64_t players;      /* channels that are not zero */
    double all, none;     /* u of the first and of the last row */
    int64_t first, pairs; /* of the round */
    int64_t pairs_per_job;
    double *means;      /* [pairs of the round][channels]; NaN: not looked at */
    double *largest;    /* per pair: of the absolute marginals */
    int64_t *run, *cut; /* per pair: rows that were run, orders that ended early */
} sample_run;

/* --- one job: some pairs of orders ----------------------------------------------------------- */

static void sample_draw(const sample_run *run, sample_scratch *t, int64_t pair, int64_t order)
{
    const pxi_game *game = run->game;
    const uint32_t layer = (uint32_t)(game - run->s->games);
    px_random random = px_rng(run->options->seed, PX_RNG_SHAPLEY, run->pair->item,
                              layer * (2 * (uint32_t)MOST_PAIRS) + (uint32_t)pair);
    px_rng_permutation(&random, t->drawn, (uint32_t)game->channels);
    int64_t *there = t->units + order * run->players, *back = there + run->players;
    int64_t count = 0;
    for (size_t i = 0; i < game->channels; i++)
        if (!game->null[t->drawn[i]])
            there[count++] = t->drawn[i];
    for (int64_t i = 0; i < count; i++)
        back[i] = there[count - 1 - i];
    double *u = t->u + order * (run->players + 1);
    for (int64_t k = 0; k < 2 * (run->players + 1); k++)
        u[k] = (double)NAN;
    u[0] = u[run->players + 1] = run->all;
    u[run->players] = u[2 * run->players + 1] = run->none;
}

/* How many steps of an order count: up to where it was truncated, or all. Rows that were not run
 * are passed over. */
static int64_t sample_end(const sample_run *run, const double *u, int64_t steps)
{
    const double close = run->options->truncation * fabs(run->all - run->none);
    int hits = 0;
    for (int64_t k = 1; run->options->truncation > 0.0 && k < steps; k++) {
        if (isnan(u[k]))
            continue;
        hits = fabs(u[k] - run->none) <= close ? hits + 1 : 0;
        if (hits == TRUNCATION_HITS)
            return k;
    }
    return steps;
}

/* The row behind step k has to be run for the one that was taken out or for the next one. */
static bool sample_needs(const sample_run *run, const int64_t *units, int64_t k)
{
    return run->units[units[k - 1]].active || run->units[units[k]].active;
}

/* Fills the session's rows with what comes next; *order and *step are where it stopped. */
static int64_t sample_fill(const sample_run *run, sample_scratch *t, pxi_lane *lane, int64_t orders,
                           int64_t *order, int64_t *step)
{
    const int64_t room = pxi_game_rows(run->game), last = run->players - 1;
    int64_t rows = 0;
    while (*order < orders && rows < room) {
        const int64_t *units = t->units + *order * run->players;
        if (*step == 0)
            pxi_mask_all(run->game, lane);
        while (*step < last && rows < room) {
            pxi_mask_remove(run->game, lane, units[*step]);
            ++*step;
            if (!sample_needs(run, units, *step))
                continue;
            pxi_mask_write(run->game, lane, rows);
            t->rows[rows++] = (struct sample_row){*order, *step};
        }
        if (*step < last)
            break;
        ++*order;
        *step = 0;
    }
    return rows;
}

static void sample_settle(const sample_run *run, const sample_scratch *t, int64_t pair,
                          int64_t order)
{
    const size_t channels = run->game->channels;
    double *means = run->means + (size_t)(pair - run->first) * channels, largest = 0.0;
    int64_t cut = 0;
    for (size_t c = 0; c < channels; c++)
        means[c] = run->units[c].active ? 0.0 : (double)NAN;
    for (int64_t o = order; o < order + 2; o++) {
        const int64_t *units = t->units + o * run->players;
        const double *u = t->u + o * (run->players + 1);
        const int64_t end = sample_end(run, u, run->players);
        cut += end < run->players;
        for (int64_t k = 0; k < end; k++) {
            if (!run->units[units[k]].active)
                continue;
            const double marginal = u[k] - u[k + 1];
            means[units[k]] += 0.5 * marginal;
            largest = PX_MAX(largest, fabs(marginal));
        }
    }
    run->largest[pair - run->first] = largest;
    run->cut[pair - run->first] = cut;
}

static px_status sample_job(void *context, pxi_lane *lane, int64_t index, px_error *err)
{
    sample_run *run = context;
    sample_scratch *t = &run->scratch[lane->number];
    const int64_t first = run->first + index * run->pairs_per_job;
    const int64_t pairs = PX_MIN(run->pairs_per_job, run->first + run->pairs - first);
    PX_TRY(pxi_mask_open(run->s, run->game, lane, run->pair->label, err));
    for (int64_t p = 0; p < pairs; p++) {
        run->run[first + p - run->first] = 0;
        sample_draw(run, t, first + p, 2 * p);
    }
    int64_t order = 0, step = 0;
    while (order < 2 * pairs) {
        const int64_t rows = sample_fill(run, t, lane, 2 * pairs, &order, &step);
        if (rows == 0)
            continue; /* nothing in between has to be run */
        PX_TRY(pxi_mask_run(run->s, run->game, lane, rows, t->utilities, err));
        for (int64_t r = 0; r < rows; r++) {
            t->u[t->rows[r].order * (run->players + 1) + t->rows[r].step] = t->utilities[r];
            run->run[first + t->rows[r].order / 2 - run->first]++;
        }
        if (step > 0 && sample_end(run, t->u + order * (run->players + 1), step + 1) <= step) {
            order++;
            step = 0;
        }
    }
    for (int64_t p = 0; p < pairs; p++)
        sample_settle(run, t, first + p, 2 * p);
    return PX_OK;
}

/* --- rounds ---------------------------------------------------------------------------------- */

static void sample_observe(sample_run *run, px_shapley_estimate *estimate, double *range)
{
    for (int64_t p = 0; p < run->pairs; p++) {
        const double *means = run->means + (size_t)p * run->game->channels;
        for (size_t c = 0; c < run->game->channels; c++) {
            sample_unit *unit = &run->units[c];
            if (!unit->active)
                continue;
            const double off = means[c] - unit->mean;
            unit->count++;
            unit->mean += off / (double)unit->count;
            unit->m2 += off * (means[c] - unit->mean);
        }
        *range = PX_MAX(*range, run->largest[p]);
        estimate->evaluated += run->run[p];
        estimate->truncated += run->cut[p];
    }
}

static int descending(const void *left, const void *right)
{
    const double a = *(const double *)left, b = *(const double *)right;
    return (a < b) - (a > b);
}

/* The mean that decides: lambda on the scale of the means, or the first that is not among the top.
 */
static double sample_threshold(const sample_run *run, double *means)
{
    const px_shapley_sampling *o = run->options;
    const size_t count = run->game->channels;
    double low = INFINITY, high = -INFINITY;
    for (size_t c = 0; c < count; c++) {
        means[c] = run->units[c].mean;
        low = PX_MIN(low, means[c]);
        high = PX_MAX(high, means[c]);
    }
    if (o->goal == PX_SHAPLEY_TOP) {
        qsort(means, count, sizeof *means, descending);
        return (size_t)o->top < count ? means[o->top] : -(double)INFINITY;
    }
    if (o->norm == PX_SHAPLEY_RAW)
        return o->lambda;
    if (o->norm == PX_SHAPLEY_LAYER_MAX)
        return o->lambda * PX_MAX(high, 0.0);
    return low + o->lambda * (high - low);
}

/* Looks at all figures and says who needs more; false: nobody. */
static bool sample_decide(sample_run *run, double range, double *means)
{
    const double threshold = sample_threshold(run, means);
    bool open = false;
    for (size_t c = 0; c < run->game->channels; c++) {
        sample_unit *unit = &run->units[c];
        const double variance =
            unit->count > 1 ? unit->m2 / (double)(unit->count - 1) : (double)INFINITY;
        const double radius = px_shapley_radius(variance, unit->count, range, run->options->delta);
        unit->active = !run->game->null[c] && fabs(unit->mean - threshold) < radius;
        open = open || unit->active;
    }
    return open;
}

static void sample_report(const sample_run *run, px_shapley_estimate *estimate)
{
    double squares = 0.0;
    estimate->change = run->all - run->none;
    estimate->sum = 0.0;
    for (size_t c = 0; c < run->game->channels; c++) {
        const sample_unit *unit = &run->units[c];
        const double variance =
            unit->count > 1 ? unit->m2 / (double)(unit->count - 1) : (double)NAN;
        estimate->values[c] = unit->mean;
        estimate->errors[c] = sqrt(variance / (double)PX_MAX(unit->count, (int64_t)1));
        if (estimate->counts)
            estimate->counts[c] = unit->count;
        estimate->sum += unit->mean;
        squares += estimate->errors[c] * estimate->errors[c];
    }
    estimate->sum_error =
        (estimate->truncated ? run->options->truncation * fabs(estimate->change) : 0.0) +
        (run->options->goal == PX_SHAPLEY_ALL ? 0.0 : 3.0 * sqrt(squares));
}

static px_status sample_rounds(sample_run *run, px_shapley_estimate *estimate, px_error *err)
{
    const px_shapley_sampling *o = run->options;
    const int64_t all = o->permutations / 2;
    const int64_t round = o->goal == PX_SHAPLEY_ALL ? ROUND_PAIRS : BANDIT_PAIRS;
    double range = 0.0;
    bool open = run->players > 0;
    while (open && run->first < all) {
        run->pairs = PX_MIN(round, all - run->first);
        const int64_t jobs = (run->pairs + run->pairs_per_job - 1) / run->pairs_per_job;
        const pxi_left left = {.each = run->pairs_per_job,
                               .count = run->pairs,
                               .array = {{run->means, run->game->channels * sizeof *run->means},
                                         {run->largest, sizeof *run->largest},
                                         {run->run, sizeof *run->run},
                                         {run->cut, sizeof *run->cut}}};
        pxi_pass_leaves(run->game->masked, &left);
        PX_TRY(pxi_pass_each(run->game->masked, jobs, NULL, sample_job, run, err));
        sample_observe(run, estimate, &range);
        run->first += run->pairs;
        if (o->goal != PX_SHAPLEY_ALL)
            open = sample_decide(run, range, run->means);
    }
    for (size_t c = 0; c < run->game->channels; c++)
        if (run->game->null[c])
            run->units[c].count = all; /* zero, whatever the order */
    sample_report(run, estimate);
    return PX_OK;
}

/* --- the call -------------------------------------------------------------------------------- */

static px_status sample_allocate(sample_run *run, px_error *err)
{
    const size_t channels = run->game->channels, rows = (size_t)pxi_game_rows(run->game);
    const size_t orders = 2 * (size_t)run->pairs_per_job;
    run->memory = pxi_arena_new();
    run->units = pxi_arena_alloc(run->memory, channels, sizeof *run->units);
    run->means = pxi_arena_alloc(run->memory, ROUND_PAIRS * channels, sizeof *run->means);
    run->largest = pxi_arena_alloc(run->memory, ROUND_PAIRS, sizeof *run->largest);
    run->run = pxi_arena_alloc(run->memory, ROUND_PAIRS, sizeof *run->run);
    run->cut = pxi_arena_alloc(run->memory, ROUND_PAIRS, sizeof *run->cut);
    const int lanes = pxi_pass_lanes(run->game->masked);
    run->scratch = pxi_arena_alloc(run->memory, (size_t)lanes, sizeof *run->scratch);
    for (int w = 0; run->scratch && w < lanes; w++) {
        sample_scratch *t = &run->scratch[w];
        t->drawn = pxi_arena_alloc(run->memory, channels, sizeof *t->drawn);
        t->units = pxi_arena_alloc(run->memory, orders * (channels + 1), sizeof *t->units);
        t->u = pxi_arena_alloc(run->memory, orders * (channels + 1), sizeof *t->u);
        t->utilities = pxi_arena_alloc(run->memory, rows, sizeof *t->utilities);
        t->rows = pxi_arena_alloc(run->memory, rows, sizeof *t->rows);
    }
    return pxi_arena_whole(run->memory) ? PX_OK : pxi_no_memory(err);
}

/* The first row, with everything, and the last, with nothing. */
static px_status ends_job(void *context, pxi_lane *lane, int64_t job, px_error *err)
{
    sample_run *run = context;
    double both[2];
    (void)job;
    PX_TRY(pxi_mask_open(run->s, run->game, lane, run->pair->label, err));
    pxi_mask_all(run->game, lane);
    pxi_mask_write(run->game, lane, 0);
    pxi_mask_none(run->game, lane);
    pxi_mask_write(run->game, lane, 1);
    PX_TRY(pxi_mask_run(run->s, run->game, lane, 2, both, err));
    run->all = both[0];
    run->none = both[1];
    return PX_OK;
}

static px_status sample_check(const px_shapley *s, size_t layer, const px_shapley_sampling *o,
                              px_error *err)
{
    if (layer >= s->game_count || layer >= 1 << 12)
        return px_fail(err, PX_E_USAGE, "there is no layer %zu to sample", layer);
    if (o->permutations < 2 || o->permutations % 2 || o->permutations > 2 * (int64_t)MOST_PAIRS)
        return px_fail(err, PX_E_USAGE,
                       "%" PRId64 " permutations are not possible: each goes with its reverse, so "
                       "an even number from 2 to %d",
                       o->permutations, 2 * MOST_PAIRS);
    if (!(o->truncation >= 0.0 && o->truncation < 1.0))
        return px_fail(err, PX_E_USAGE, "truncation %g is outside 0..1", o->truncation);
    if (!(o->delta > 0.0 && o->delta < 1.0))
        return px_fail(err, PX_E_USAGE, "delta %g is not between 0 and 1", o->delta);
    if (o->goal == PX_SHAPLEY_TOP && o->top < 1)
        return px_fail(err, PX_E_USAGE, "the top %" PRId64 " neurons: at least 1", o->top);
    return o->goal == PX_SHAPLEY_EXCITABLE ? px_shapley_check_lambda(o->norm, o->lambda, err)
                                           : PX_OK;
}

px_status px_shapley_sample(px_shapley *s, size_t layer, const px_shapley_sampling *options,
                            const px_shapley_pair *pair, px_shapley_estimate *estimate,
                            px_error *err)
{
    PX_TRY(sample_check(s, layer, options, err));
    PX_TRY(pxi_shapley_load(s, pair, err));
    return pxi_shapley_sample(s, layer, options, pair, estimate, err);
}

px_status pxi_shapley_sample(px_shapley *s, size_t layer, const px_shapley_sampling *options,
                             const px_shapley_pair *pair, px_shapley_estimate *estimate,
                             px_error *err)
{
    sample_run run = {.s = s, .game = &s->games[layer], .options = options, .pair = pair};
    PX_TRY(sample_check(s, layer, options, err));
    PX_TRY(pxi_game_load(s, run.game, err));
    for (size_t c = 0; c < run.game->channels; c++)
        run.players += !run.game->null[c];
    /* enough orders that the rows of a job fill the session, but some jobs for every worker */
    const int64_t rows = pxi_game_rows(run.game);
    run.pairs_per_job = PX_MIN(PX_MAX(rows / (2 * PX_MAX(run.players, (int64_t)1)), (int64_t)1),
                               (int64_t)(ROUND_PAIRS / 8));
    estimate->evaluated = estimate->truncated = 0;
    px_status status = sample_allocate(&run, err);
    for (size_t c = 0; c < run.game->channels && status == PX_OK; c++)
        run.units[c].active = !run.game->null[c];
    PX_THEN(status, pxi_pass_each(run.game->masked, 1, NULL, ends_job, &run, err));
    PX_THEN(status, sample_rounds(&run, estimate, err));
    pxi_arena_free(run.memory);
    return status;
}
