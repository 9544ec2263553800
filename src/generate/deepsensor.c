/* src/generate/deepsensor.c - engine `deepsensor`: swarms that seek excitable neurons (LGR B.5)
 *
 * Jin et al., DeepSensor, Algorithm 1. Around each seed a swarm moves so that as many
 * neurons as possible become excitable. After every iteration the best place so far is an example:
 * rounded to what is stored, judged, and put whether it is misclassified or not, so that errors can
 * be counted as the paper does (px_campaign_count_errors()). Places are float and are rounded in
 * examples only, towards the seed where there is a bound.
 *
 * A turn is one iteration of a group of seeds, whose swarms share all batches. What is saved is how
 * far it is: on resuming, the swarms at work are led through their iterations again.
 *
 * Every place is judged too, as it is: an example tells which classes the places of its iteration
 * were taken for, since the paper keeps all particles (section 4.2) and counts their categories.
 *
 * Where the paper leaves something open or contradicts itself, LGR B.5 decides: value and
 * place of a best are apart, and there is a bound unless the preset `paper` is asked for.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "generate/deepsensor.h"
#include "generate/engines.h"

#include "base/memory.h"

#include <internal/text.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct ds_row { /* a seed at work */
    pxi_swarm swarm;
    size_t seed;
    float *levels;    /* the seed's */
    bool active;      /* its fitness is not above epsilon yet */
    pxi_excited best; /* of Gbest */
    bool *taken;      /* [classes]: places of this iteration were taken for it */
} ds_row;

typedef struct ds {
    px_fuzz *fuzz;
    pxi_swarm_rule rule;
    pxi_excite *excite;
    double epsilon;
    float *low, *high; /* range of each value, in levels */
    ds_row *rows;      /* [group] */
    size_t group, used;
    pxi_excite_row *places; /* [group * particles] */
    pxi_excited *worth;
    double *fits;
    uint8_t *pixels; /* [group] */
    pxi_fuzz_verdict *verdicts;

    /* How far it is; saved. */
    int64_t visits; /* of groups that are done */
    int64_t g;      /* iterations of the group at work; 0: there is none */
    int64_t tried, changed, kept, faults;
    double sum_fitness, sum_share; /* of visits that are done */
    px_fuzz_yield yield;
} ds;

/* --- opening --------------------------------------------------------------------------------- */

static void ds_close(void *state)
{
    ds *d = state;
    if (!d)
        return;
    for (size_t i = 0; d->rows && i < d->group; i++) {
        pxi_swarm_free(&d->rows[i].swarm);
        free(d->rows[i].levels);
        free(d->rows[i].taken);
    }
    pxi_excite_close(d->excite);
    free(d->rows);
    free(d->low);
    free(d->high);
    free(d->places);
    free(d->worth);
    free(d->fits);
    free(d->pixels);
    free(d->verdicts);
    free(d);
}

static px_status ds_rooms(ds *d, px_error *err)
{
    enum { GROUP_MOST = 4, ARRAYS = 3 };
    const px_fuzz *fuzz = d->fuzz;
    const pxi_deepsensor_config *config = fuzz->config;
    const size_t particles = d->rule.particles;
    const size_t fit = ((size_t)64 << 20) / (ARRAYS * particles * fuzz->size * sizeof(float) + 1);
    d->group = (size_t)config->group;
    if (d->group == 0)
        d->group = PX_MAX(PX_MIN(fit, (size_t)GROUP_MOST), (size_t)1);
    d->rows = pxi_calloc(d->group, sizeof *d->rows);
    d->low = pxi_calloc(fuzz->size, sizeof *d->low);
    d->high = pxi_calloc(fuzz->size, sizeof *d->high);
    d->places = pxi_calloc(d->group, particles * sizeof *d->places);
    d->worth = pxi_calloc(d->group, particles * sizeof *d->worth);
    d->fits = pxi_calloc(particles, sizeof *d->fits);
    d->pixels = pxi_calloc(d->group, fuzz->pixel_bytes);
    d->verdicts = pxi_calloc(d->group, sizeof *d->verdicts);
    if (!d->rows || !d->low || !d->high || !d->places || !d->worth || !d->fits || !d->pixels ||
        !d->verdicts)
        return pxi_no_memory_for(err, "%zu swarms", d->group);
    for (size_t i = 0; i < d->group; i++) {
        PX_TRY(pxi_swarm_room(&d->rows[i].swarm, &d->rule, fuzz->size, err));
        PX_TRY(PX_NEW(d->rows[i].levels, fuzz->size, err));
        PX_TRY(PX_NEW(d->rows[i].taken, fuzz->classes, err));
    }
    return PX_OK;
}

static px_status ds_open(px_fuzz *fuzz, void **state, px_error *err)
{
    pxi_excite_rule excite;
    const pxi_deepsensor_config *config = fuzz->config;
    ds *d = NULL;
    PX_TRY(PX_NEW(d, 1, err));
    d->fuzz = fuzz;
    d->yield.name = pxi_deepsensor_optimizer(config);
    pxi_deepsensor_rules(config, fuzz->seed, &d->rule, &excite);
    const bool share = excite.objective == PXI_OBJECTIVE_SHAPLEY; /* epsilon is of one */
    d->epsilon = share ? config->epsilon : INFINITY;
    px_status status = pxi_excite_open(fuzz, &excite, &d->excite, err);
    PX_THEN(status, ds_rooms(d, err));
    if (status == PX_OK)
        *state = d;
    else
        ds_close(d);
    return status;
}

/* --- a group of seeds ------------------------------------------------------------------------ */

/* Pictures have the range of pixels everywhere; of other data each value has its own, that of the
 * seeds (LGR 0.6). */
static void ds_range(ds *d)
{
    const px_fuzz *fuzz = d->fuzz;
    const bool picture = fuzz->rounds || (fuzz->low >= 0.0 && fuzz->high <= 1.0);
    for (size_t k = 0; k < fuzz->size; k++) {
        d->low[k] = picture ? (float)fuzz->low : INFINITY;
        d->high[k] = picture ? (float)fuzz->high : -INFINITY;
    }
    for (size_t i = 0; !picture && i < fuzz->seed_count; i++) {
        const float *values = fuzz->seeds[i].pixels;
        for (size_t k = 0; k < fuzz->size; k++) {
            d->low[k] = fminf(d->low[k], values[k]);
            d->high[k] = fmaxf(d->high[k], values[k]);
        }
    }
}

typedef struct swarm_run { /* every particle of every row, on all workers */
    ds *d;
    int64_t g; /* 0: they begin */
} swarm_run;

static px_status swarm_job(void *context, pxi_lane *lane, int64_t index, px_error *err)
{
    (void)lane, (void)err;
    const swarm_run *run = context;
    ds *d = run->d;
    ds_row *row = &d->rows[(size_t)index / d->rule.particles];
    const size_t particle = (size_t)index % d->rule.particles;
    if (run->g == 0)
        pxi_swarm_draw(&row->swarm, &d->rule, particle);
    else if (row->active)
        pxi_swarm_move(&row->swarm, &d->rule, run->g, particle);
    return PX_OK;
}

static px_status ds_particles(ds *d, int64_t g, px_error *err)
{
    swarm_run run = {d, g};
    return pxi_pass_each(d->fuzz->pass, (int64_t)(d->used * d->rule.particles), NULL, swarm_job,
                         &run, err);
}

/* How many visits are left; there may be no end to them. */
static int64_t ds_left(const ds *d)
{
    const int64_t passes = ((const pxi_deepsensor_config *)d->fuzz->config)->passes;
    const int64_t most = passes ? passes * (int64_t)d->fuzz->seed_count : UINT32_MAX;
    return PX_MIN(most, UINT32_MAX) - d->visits;
}

static px_status ds_group(ds *d, px_error *err)
{
    const px_fuzz *fuzz = d->fuzz;
    d->used = (size_t)PX_MIN((int64_t)d->group, ds_left(d));
    for (size_t i = 0; i < d->used; i++) {
        ds_row *row = &d->rows[i];
        const int64_t visit = d->visits + (int64_t)i;
        row->seed = (size_t)(visit % (int64_t)fuzz->seed_count);
        row->active = true;
        row->best = (pxi_excited){0};
        pxi_fuzz_levels(fuzz, fuzz->seeds[row->seed].pixels, row->levels);
        pxi_swarm_begin(&row->swarm, row->levels, d->low, d->high, (uint32_t)visit);
        d->places[i] = (pxi_excite_row){
            .levels = row->levels, .label = fuzz->seeds[row->seed].label, .seed = i};
    }
    PX_TRY(pxi_excite_seeds(d->excite, d->places, d->used, err));
    return ds_particles(d, 0, err);
}

/* --- an iteration ---------------------------------------------------------------------------- */

static px_status ds_measure(ds *d, px_error *err)
{
    int64_t count = 0;
    for (size_t i = 0; i < d->used; i++) {
        ds_row *row = &d->rows[i];
        for (size_t p = 0; row->active && p < d->rule.particles; p++)
            d->places[count++] =
                (pxi_excite_row){.levels = pxi_swarm_at(&row->swarm, p),
                                 .label = d->fuzz->seeds[row->seed].label,
                                 .seed = i,
                                 .chance = pxi_swarm_chance(&row->swarm, &d->rule, d->g, p)};
    }
    PX_TRY(pxi_excite_measure(d->excite, d->places, count, d->worth, err));
    count = 0;
    for (size_t i = 0; i < d->used; i++) {
        ds_row *row = &d->rows[i];
        if (!row->active)
            continue;
        const pxi_excited *worth = d->worth + count;
        count += (int64_t)d->rule.particles;
        memset(row->taken, 0, (size_t)d->fuzz->classes * sizeof *row->taken);
        for (size_t p = 0; p < d->rule.particles; p++) {
            d->fits[p] = worth[p].fitness;
            if (worth[p].answer >= 0)
                row->taken[worth[p].answer] = true;
        }
        if (pxi_swarm_judge(&row->swarm, d->fits)) /* then it leads by where it is now */
            row->best = worth[row->swarm.leader];
    }
    return PX_OK;
}

/* How an example was made, as JSON. `wrong` has the classes but the label that places of its
 * iteration were taken for. */
static void ds_chain(const ds *d, size_t at, px_text *chain)
{
    const ds_row *row = &d->rows[at];
    const int64_t label = d->fuzz->seeds[row->seed].label;
    char number[PX_REAL_TEXT];
    const char *comma = "";
    px_text_format(chain,
                   "{\"engine\":\"deepsensor\",\"optimizer\":\"%s\",\"visit\":%" PRId64
                   ",\"iteration\":%" PRId64 ",\"particle\":%zu,\"fitness\":%s",
                   d->yield.name, d->visits + (int64_t)at, d->g, row->swarm.leader,
                   px_real_text(row->best.fitness, number));
    if (row->best.neurons >= 0)
        px_text_format(chain, ",\"excitable\":%" PRId64 ",\"neurons\":%" PRId64, row->best.neurons,
                       pxi_excite_neurons(d->excite));
    px_text_add(chain, ",\"wrong\":[");
    for (int c = 0; c < d->fuzz->classes; c++)
        if (row->taken[c] && c != label) {
            px_text_format(chain, "%s%d", comma, c);
            comma = ",";
        }
    px_text_add(chain, "]}");
}

static px_status ds_put(ds *d, size_t at, const void *pixels, const pxi_fuzz_verdict *verdict,
                        px_error *err)
{
    ds_row *row = &d->rows[at];
    const pxi_fuzz_seed *seed = &d->fuzz->seeds[row->seed];
    const bool fault = verdict->prediction != seed->label;
    px_text chain = {0};
    int64_t id = 0;
    ds_chain(d, at, &chain);
    const pxi_fuzz_find find = {
        .kind = fault ? PX_INPUT_FAULT : PX_INPUT_KEPT,
        .parent = seed->id,
        .seed = row->seed,
        .prediction = verdict->prediction,
        .confidence = verdict->confidence,
        .chain = px_text_get(&chain),
        .pixels = pixels,
        .needed = true, /* every iteration's example counts, also one that nothing changed */
    };
    pxi_fuzz_count(d->fuzz, (int64_t)d->rule.particles);
    if (verdict->prediction < 0)
        pxi_fuzz_count_not_finite(d->fuzz);
    const px_status status =
        px_text_failed(&chain) ? pxi_no_memory(err) : pxi_fuzz_put(d->fuzz, &find, &id, err);
    px_text_done(&chain);
    d->tried += (int64_t)d->rule.particles;
    d->changed += memcmp(pixels, seed->pixels, d->fuzz->pixel_bytes) != 0;
    d->faults += fault;
    d->kept += !fault;
    return status;
}

/* The best place of each swarm as it is stored. */
static px_status ds_examples(ds *d, px_error *err)
{
    const px_fuzz *fuzz = d->fuzz;
    const bool bounded = !isinf(d->rule.bound);
    int64_t count = 0;
    for (size_t i = 0; i < d->used; i++)
        if (d->rows[i].active)
            pxi_fuzz_round(fuzz, pxi_swarm_best(&d->rows[i].swarm),
                           bounded ? fuzz->seeds[d->rows[i].seed].pixels : NULL,
                           d->pixels + (size_t)count++ * fuzz->pixel_bytes);
    PX_TRY(pxi_fuzz_judge(d->fuzz, d->pixels, NULL, count, d->verdicts, err));
    count = 0;
    for (size_t i = 0; i < d->used; i++)
        if (d->rows[i].active) {
            PX_TRY(ds_put(d, i, d->pixels + (size_t)count * fuzz->pixel_bytes, &d->verdicts[count],
                          err));
            count++;
        }
    return PX_OK;
}

/* One more iteration; *over: the group has come to its end. `again`: it was there before. */
static px_status ds_iterate(ds *d, bool again, bool *over, px_error *err)
{
    bool active = false;
    if (d->g == 0)
        PX_TRY(ds_group(d, err));
    d->g++;
    PX_TRY(ds_measure(d, err));
    if (!again)
        PX_TRY(ds_examples(d, err));
    for (size_t i = 0; i < d->used; i++) {
        ds_row *row = &d->rows[i];
        if (row->active && row->swarm.best_fits[row->swarm.leader] > d->epsilon)
            row->active = false;
        active |= row->active;
    }
    *over = !active || d->g >= d->rule.iters;
    if (*over)
        return PX_OK;
    PX_TRY(ds_particles(d, d->g, err));
    for (size_t i = 0; i < d->used; i++)
        if (d->rows[i].active)
            pxi_swarm_moved(&d->rows[i].swarm, &d->rule);
    return PX_OK;
}

static double ds_share(const ds *d, const ds_row *row)
{
    return (double)PX_MAX(row->best.neurons, (int64_t)0) / (double)pxi_excite_neurons(d->excite);
}

static void ds_tell(ds *d)
{
    d->yield.tried = d->tried;
    d->yield.valid = d->changed;
    d->yield.kept = d->kept;
    d->yield.faults = d->faults;
}

static px_status ds_turn(void *state, px_error *err)
{
    ds *d = state;
    bool over = false;
    if (d->g == 0 && ds_left(d) <= 0) {
        d->fuzz->exhausted = true;
        return PX_OK;
    }
    PX_TRY(ds_iterate(d, /* again= */ false, &over, err));
    if (over) {
        for (size_t i = 0; i < d->used; i++) {
            d->sum_fitness += d->rows[i].best.fitness;
            d->sum_share += ds_share(d, &d->rows[i]);
        }
        d->visits += (int64_t)d->used;
        d->g = 0;
    }
    ds_tell(d);
    return PX_OK;
}

/* --- what is saved --------------------------------------------------------------------------- */

static px_status ds_save(const void *state, px_text *bytes, px_error *err)
{
    const ds *d = state;
    (void)err;
    pxi_fuzz_save_int(bytes, d->visits);
    pxi_fuzz_save_int(bytes, d->g);
    pxi_fuzz_save_int(bytes, d->tried);
    pxi_fuzz_save_int(bytes, d->changed);
    pxi_fuzz_save_int(bytes, d->kept);
    pxi_fuzz_save_int(bytes, d->faults);
    pxi_fuzz_save_real(bytes, d->sum_fitness);
    pxi_fuzz_save_real(bytes, d->sum_share);
    return PX_OK;
}

static bool ds_load(ds *d, pxi_fuzz_bytes *from, int64_t *g)
{
    const int64_t most = INT64_MAX / 4;
    return pxi_fuzz_load_int(from, 0, UINT32_MAX, &d->visits) &&
           pxi_fuzz_load_int(from, 0, d->rule.iters - 1, g) &&
           pxi_fuzz_load_int(from, 0, most, &d->tried) &&
           pxi_fuzz_load_int(from, 0, most, &d->changed) &&
           pxi_fuzz_load_int(from, 0, most, &d->kept) &&
           pxi_fuzz_load_int(from, 0, most, &d->faults) &&
           pxi_fuzz_load_real(from, &d->sum_fitness) && pxi_fuzz_load_real(from, &d->sum_share) &&
           from->at == from->end && isfinite(d->sum_fitness) && isfinite(d->sum_share) &&
           (*g == 0 || ds_left(d) > 0);
}

static px_status ds_begin(void *state, const void *saved, size_t size, px_error *err)
{
    ds *d = state;
    ds_range(d);
    PX_TRY(pxi_excite_learn(d->excite, err));
    if (!saved)
        return PX_OK;
    int64_t g = 0;
    bool over = false;
    pxi_fuzz_bytes from = {saved, (const uint8_t *)saved + size};
    if (!ds_load(d, &from, &g))
        return pxi_fuzz_bad_state(d->fuzz, err);
    while (d->g < g && !over)
        PX_TRY(ds_iterate(d, /* again= */ true, &over, err));
    if (over)
        return pxi_fuzz_bad_state(d->fuzz, err);
    ds_tell(d);
    return PX_OK;
}

/* --- what is shown --------------------------------------------------------------------------- */

/* Means over all visits, those at work with what they have come to. */
static double ds_mean(const ds *d, bool fitness)
{
    double sum = fitness ? d->sum_fitness : d->sum_share;
    int64_t count = d->visits;
    for (size_t i = 0; d->g > 0 && i < d->used; i++, count++)
        sum += fitness ? d->rows[i].best.fitness : ds_share(d, &d->rows[i]);
    return count ? sum / (double)count : 0.0;
}

static px_coverage ds_coverage(const void *state)
{
    const ds *d = state;
    const int64_t neurons = pxi_excite_neurons(d->excite);
    const double share = ds_mean(d, /* fitness= */ false);
    return (px_coverage){
        .value = share, .covered = llround(share * (double)neurons), .total = neurons};
}

static double ds_fitness(const void *state)
{
    return ds_mean(state, /* fitness= */ true);
}

static px_fuzz_note *ds_note(px_fuzz_report *report, const char *name)
{
    px_fuzz_note *note = &report->notes[report->note_count++];
    note->name = name;
    return note;
}

static void ds_report(const void *state, px_fuzz_report *report)
{
    const ds *d = state;
    const px_fuzz *fuzz = d->fuzz;
    const int64_t seeds = (int64_t)fuzz->seed_count;
    report->yields = &d->yield;
    report->yield_count = 1;
    report->queue = seeds;
    report->pending = PX_MAX(seeds - d->visits, 0);
    report->current = seeds ? d->visits % seeds : 0;
    report->cycles = seeds ? d->visits / seeds : 0;
    report->depth = 1;
    report->stage = "iterations of swarms";
    report->stage_done = d->g;
    report->stage_total = d->rule.iters;
    px_fuzz_note *note = ds_note(report, "fitness");
    snprintf(note->value, sizeof note->value, "%.4f", ds_fitness(d));
    note = ds_note(report, "excitable");
    snprintf(note->value, sizeof note->value, "%.2f%%", 100.0 * ds_mean(d, /* fitness= */ false));
    note = ds_note(report, "bound");
    if (isinf(d->rule.bound))
        snprintf(note->value, sizeof note->value, "none");
    else if (fuzz->rounds)
        snprintf(note->value, sizeof note->value, "%.4g levels", 255.0 * d->rule.bound);
    else
        snprintf(note->value, sizeof note->value, "%.4g of the range", d->rule.bound);
}

const pxi_fuzz_engine pxi_fuzz_engine_deepsensor = {
    .shown = {.entry = {.id = "deepsensor",
                        .title = "particle swarms around seeds that seek excitable neurons",
                        .source = "Jin et al., DeepSensor",
                        .params = pxi_deepsensor_params,
                        .config_size = sizeof(pxi_deepsensor_config)},
              .presets = &pxi_deepsensor_presets,
              .least_models = 1,
              .most_models = 1},
    .open = ds_open,
    .begin = ds_begin,
    .turn = ds_turn,
    .save = ds_save,
    .report = ds_report,
    .close = ds_close,
    .criterion = "excitable",
    .coverage = ds_coverage,
    .second = "fitness",
    .second_value = ds_fitness,
};
