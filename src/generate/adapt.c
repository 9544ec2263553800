/* src/generate/adapt.c - engine `adapt`: strategies of choosing neurons that learn (LGR D.11)
 *
 * Lee et al., Effective White-Box Testing of Deep Neural Networks with Adaptive Neuron-Selection
 * Strategy, ISSTA 2020. A strategy is a vector of weights for 29 features of neurons. A visit uses
 * one vector for one worklist that begins with the seed: of each entry the k best-scoring neurons
 * are raised,
 *     w_n (sum of them) - w_c z[c],  c the seed's class,
 * in `trails` steps along the gradient as it is. What raises coverage and stays within `distance`
 * joins the worklist; what is misclassified is a fault. The vector and all neurons that its inputs
 * fired are a record. When the vectors are used up, the records make the next ones: adapt_evolve.h.
 *
 * Where we differ from the published program: coverage is the campaign's, not one input's; a
 * record begins empty for every vector (there, the first of a generation inherits the last one's);
 * feature 7 exists (compat=code: it does not); pictures are clipped in every step, and entries of
 * worklists are what is stored. z are the logits.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "generate/adapt_evolve.h"
#include "generate/climb.h"
#include "generate/engines.h"

#include "base/memory.h"

#include <internal/rng.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const compats[] = {"none", "code", NULL};

typedef struct adapt_config {
    int64_t k;
    double w_n;
    double w_c;
    double lr;
    int64_t trails;
    double distance;
    double t;
    int64_t size;
    int64_t history;
    double sigma;
    int compat;
    int64_t group;
} adapt_config;

static const px_param adapt_params[] = {
    PX_PARAM_INT(adapt_config, k, 10, 1, 10000, "neurons that are raised at a time"),
    PX_PARAM_REAL(adapt_config, w_n, 0.5, 0, 1e6, "weight of the neurons"),
    PX_PARAM_REAL(adapt_config, w_c, 0.5, 0, 1e6, "weight of the class left"),
    PX_PARAM_REAL(adapt_config, lr, 0.1, 1e-9, 1e6,
                  "length of a step, in scaled pixel units per unit of the gradient"),
    PX_PARAM_INT(adapt_config, trails, 3, 1, 1e6, "steps with the same neurons"),
    PX_PARAM_REAL(adapt_config, distance, 0.5, 0, 1e6,
                  "relative L2 distance from the seed that entries stay below"),
    PX_PARAM_REAL(adapt_config, t, 0.5, -1, 1,
                  "a neuron fires when its scaled value is above this"),
    PX_PARAM_INT(adapt_config, size, 100, 2, 10000,
                 "vectors of a generation; half as many records are parents"),
    PX_PARAM_INT(adapt_config, history, 300, 1, 10000,
                 "latest records that parents are chosen from"),
    PX_PARAM_REAL(adapt_config, sigma, 1, 0, 100, "deviation of the noise that children get"),
    PX_PARAM_CHOICE(adapt_config, compat, 0, compats,
                    "code: no feature for weights from 30 to 40 %, as published"),
    PX_PARAM_INT(adapt_config, group, 64, 1, PXI_CLIMB_GROUP_MOST,
                 "vectors whose worklists grow side by side in a turn"),
    PX_PARAM_END,
};

typedef struct adapt_row {
    bool select; /* wants new neurons */
    size_t vector;
    uint64_t *fired; /* neurons of all its inputs; [words] */
} adapt_row;

typedef struct adapt {
    px_fuzz *fuzz;
    pxi_climb climb;
    adapt_row *rows;
    size_t words;
    uint64_t *fired; /* of the rows */

    size_t size, used; /* vectors of this generation, and those that had their worklist */
    int64_t generation;
    pxi_adapt_vector *vectors;
    size_t history, record_count, record_next; /* a ring */
    pxi_adapt_vector *record_vectors;
    uint64_t *record_fired;
    bool *faulty; /* neurons that fired on a fault */

    uint32_t *fixed, *features; /* of neurons */
    int64_t *best;              /* scratch, [k] */
    float *levels;
} adapt;

/* --- opening --------------------------------------------------------------------------------- */

static void adapt_close(void *state)
{
    adapt *a = state;
    if (!a)
        return;
    pxi_climb_close(&a->climb);
    free(a->rows);
    free(a->fired);
    free(a->vectors);
    free(a->record_vectors);
    free(a->record_fired);
    free(a->faulty);
    free(a->fixed);
    free(a->features);
    free(a->best);
    free(a->levels);
    free(a);
}

static px_status adapt_room(adapt *a, px_error *err)
{
    const adapt_config *config = a->fuzz->config;
    const size_t group = (size_t)a->climb.group, units = (size_t)a->climb.tallies[0].count;
    a->words = (units + 63) / 64;
    a->rows = pxi_calloc(group, sizeof *a->rows);
    a->fired = pxi_calloc(group, a->words * sizeof *a->fired);
    a->vectors = pxi_calloc(a->size, sizeof *a->vectors);
    a->record_vectors = pxi_calloc(a->history, sizeof *a->record_vectors);
    a->record_fired = pxi_calloc(a->history, a->words * sizeof *a->record_fired);
    a->faulty = pxi_calloc(units, sizeof *a->faulty);
    a->fixed = pxi_calloc(units, sizeof *a->fixed);
    a->features = pxi_calloc(units, sizeof *a->features);
    a->best = pxi_calloc((size_t)config->k, sizeof *a->best);
    a->levels = pxi_calloc(a->fuzz->size, sizeof *a->levels);
    if (!a->rows || !a->fired || !a->vectors || !a->record_vectors || !a->record_fired ||
        !a->faulty || !a->fixed || !a->features || !a->best || !a->levels)
        return pxi_no_memory_for(err, "%zu vectors and their records", a->size);
    for (size_t i = 0; i < group; i++)
        a->rows[i].fired = a->fired + i * a->words;
    return PX_OK;
}

static px_status adapt_init(adapt *a, px_fuzz *fuzz, px_error *err)
{
    const adapt_config *config = fuzz->config;
    a->size = (size_t)config->size;
    a->history = (size_t)config->history;
    if (a->history < (a->size + 1) / 2)
        return px_fail(err, PX_E_USAGE,
                       "history=%zu: %zu vectors have %zu parents, and as many records are needed",
                       a->history, a->size, (a->size + 1) / 2);
    const pxi_climb_options options = {.group = config->group,
                                       .class_terms = 1,
                                       .unit_terms = (size_t)config->k,
                                       .what = "best neurons",
                                       .pres = &fuzz->pre};
    PX_TRY(pxi_climb_open(&a->climb, fuzz, &options, err));
    PX_TRY(adapt_room(a, err));
    pxi_unit_facts facts;
    PX_TRY(pxi_ascent_facts(a->climb.nets[0], &facts, err));
    const bool made = pxi_adapt_fixed(&facts, config->compat != 0, a->fixed);
    pxi_unit_facts_done(&facts);
    return made ? PX_OK : pxi_no_memory(err);
}

static px_status adapt_open(px_fuzz *fuzz, void **state, px_error *err)
{
    adapt *a = NULL;
    PX_TRY(PX_NEW(a, 1, err));
    a->fuzz = fuzz;
    const px_status status = adapt_init(a, fuzz, err);
    if (status == PX_OK)
        *state = a;
    else
        adapt_close(a);
    return status;
}

/* --- what is saved --------------------------------------------------------------------------- */

static void save_vectors(px_text *bytes, const pxi_adapt_vector *vectors, size_t count)
{
    for (size_t i = 0; i < count; i++)
        for (int w = 0; w < PXI_ADAPT_FEATURES; w++)
            pxi_fuzz_save_real(bytes, vectors[i].w[w]);
}

static bool load_vectors(pxi_fuzz_bytes *from, pxi_adapt_vector *vectors, size_t count)
{
    for (size_t i = 0; i < count; i++)
        for (int w = 0; w < PXI_ADAPT_FEATURES; w++)
            if (!pxi_fuzz_load_real(from, &vectors[i].w[w]) ||
                !(fabs(vectors[i].w[w]) <= PXI_ADAPT_BOUND))
                return false;
    return true;
}

static px_status adapt_save(const void *state, px_text *bytes, px_error *err)
{
    const adapt *a = state;
    (void)err;
    pxi_climb_save(&a->climb, bytes); /* worklists are empty between turns */
    pxi_fuzz_save_int(bytes, a->generation);
    pxi_fuzz_save_int(bytes, (int64_t)a->used);
    save_vectors(bytes, a->vectors, a->size);
    pxi_fuzz_save_int(bytes, (int64_t)a->record_count);
    pxi_fuzz_save_int(bytes, (int64_t)a->record_next);
    save_vectors(bytes, a->record_vectors, a->record_count);
    for (size_t i = 0; i < a->record_count * a->words; i++)
        pxi_fuzz_save_int(bytes, (int64_t)a->record_fired[i]);
    for (int64_t i = 0; i < a->climb.tallies[0].count; i += 32) {
        int64_t word = 0;
        for (int64_t k = i; k < PX_MIN(i + 32, a->climb.tallies[0].count); k++)
            word |= (int64_t)a->faulty[k] << (k - i);
        pxi_fuzz_save_int(bytes, word);
    }
    return PX_OK;
}

static bool adapt_load(adapt *a, pxi_fuzz_bytes *from)
{
    int64_t used, count, next, word;
    if (!pxi_climb_load(&a->climb, from) ||
        !pxi_fuzz_load_int(from, 0, UINT32_MAX, &a->generation) ||
        !pxi_fuzz_load_int(from, 0, (int64_t)a->size, &used) ||
        !load_vectors(from, a->vectors, a->size) ||
        !pxi_fuzz_load_int(from, 0, (int64_t)a->history, &count) ||
        !pxi_fuzz_load_int(from, 0, (int64_t)a->history - 1, &next) ||
        !load_vectors(from, a->record_vectors, (size_t)count))
        return false;
    if (count < (int64_t)a->history && next != count)
        return false;
    a->used = (size_t)used;
    a->record_count = (size_t)count;
    a->record_next = (size_t)next;
    for (size_t i = 0; i < a->record_count * a->words; i++) {
        if (!pxi_fuzz_load_int(from, INT64_MIN, INT64_MAX, &word))
            return false;
        a->record_fired[i] = (uint64_t)word;
    }
    for (int64_t i = 0; i < a->climb.tallies[0].count; i += 32) {
        if (!pxi_fuzz_load_int(from, 0, UINT32_MAX, &word))
            return false;
        for (int64_t k = i; k < PX_MIN(i + 32, a->climb.tallies[0].count); k++)
            a->faulty[k] = word >> (k - i) & 1;
    }
    return from->at == from->end;
}

static px_status adapt_begin(void *state, const void *saved, size_t size, px_error *err)
{
    adapt *a = state;
    if (saved) {
        pxi_fuzz_bytes from = {saved, (const uint8_t *)saved + size};
        return adapt_load(a, &from) ? PX_OK : pxi_fuzz_bad_state(a->fuzz, err);
    }
    for (size_t i = 0; i < a->size; i++) {
        px_random random = px_rng(a->fuzz->seed, PX_RNG_ADAPT, (uint32_t)i, 0);
        a->vectors[i] = pxi_adapt_random(&random);
    }
    return PX_OK;
}

/* --- learning -------------------------------------------------------------------------------- */

static void adapt_record(adapt *a, const adapt_row *row)
{
    a->record_vectors[a->record_next] = a->vectors[row->vector];
    memcpy(a->record_fired + a->record_next * a->words, row->fired, a->words * sizeof *row->fired);
    a->record_next = (a->record_next + 1) % a->history;
    a->record_count = PX_MIN(a->record_count + 1, a->history);
}

/* The next generation. The ring is turned so that the oldest record is its first: ties go to it. */
static px_status adapt_evolve(adapt *a, px_error *err)
{
    const adapt_config *config = a->fuzz->config;
    const size_t count = a->record_count, parents = PX_MIN((a->size + 1) / 2, count);
    const size_t oldest = count < a->history ? 0 : a->record_next;
    uint64_t *sets = pxi_calloc(count, a->words * sizeof *sets);
    uint64_t *seen = pxi_calloc(a->words, sizeof *seen);
    bool *taken = pxi_calloc(count, sizeof *taken);
    size_t *chosen = pxi_calloc(parents, sizeof *chosen);
    int64_t *order = pxi_calloc(2 * parents, sizeof *order);
    pxi_adapt_vector *from = pxi_calloc(parents, sizeof *from);
    px_status status = PX_OK;
    if (sets && seen && taken && chosen && order && from) {
        px_random random = px_rng(a->fuzz->seed, PX_RNG_ADAPT, (uint32_t)a->generation, 1);
        for (size_t i = 0; i < count; i++)
            memcpy(sets + i * a->words, a->record_fired + (oldest + i) % a->history * a->words,
                   a->words * sizeof *sets);
        pxi_adapt_greedy(sets, count, a->words, parents, seen, taken, chosen);
        for (size_t i = 0; i < parents; i++)
            from[i] = a->record_vectors[(oldest + chosen[i]) % a->history];
        pxi_adapt_children(from, parents, config->sigma, &random, order, a->vectors, a->size);
        a->generation++;
        a->used = 0;
    } else {
        status = pxi_no_memory(err);
    }
    free(sets);
    free(seen);
    free(taken);
    free(chosen);
    free(order);
    free(from);
    return status;
}

/* --- a turn ---------------------------------------------------------------------------------- */

/* On to the next entry, which was looked at when it was made. */
static void adapt_next(adapt *a, int64_t at)
{
    pxi_climb_next(&a->climb, &a->climb.rows[at]);
    a->climb.rows[at].fresh = false;
    a->rows[at].select = true;
}

static void adapt_start(adapt *a, int64_t at)
{
    const adapt_config *config = a->fuzz->config;
    pxi_climb_row *row = &a->climb.rows[at];
    row->fresh = false;
    pxi_unit_tally_add(&a->climb.tallies[0], pxi_climb_values(&a->climb, 0, row), config->t);
    a->rows[at].select = true;
}

/* New neurons for all rows that want some, by what is known now. */
static px_status adapt_select(adapt *a, px_error *err)
{
    const pxi_unit_tally *tally = &a->climb.tallies[0];
    const adapt_config *config = a->fuzz->config;
    const int64_t k = PX_MIN(config->k, tally->count);
    bool known = false;
    for (int64_t i = 0; i < a->climb.rows_used; i++) {
        pxi_climb_row *row = &a->climb.rows[i];
        if (!row->active || !a->rows[i].select)
            continue;
        if (!known &&
            !pxi_adapt_features(a->fixed, tally->times, a->faulty, tally->count, a->features))
            return pxi_no_memory(err);
        known = true;
        pxi_adapt_best(a->features, tally->count, a->vectors[a->rows[i].vector].w, k, a->best);
        for (int64_t n = 0; n < k; n++)
            row->units[0][n] = (pxi_term){a->best[n], (float)config->w_n};
        row->unit_count[0] = (size_t)k;
        row->classes[0][0] = (pxi_term){row->label, -(float)config->w_c};
        row->class_count[0] = 1;
        a->rows[i].select = false;
    }
    return PX_OK;
}

static void adapt_move(adapt *a, pxi_climb_row *row)
{
    const adapt_config *config = a->fuzz->config;
    double sum = 0.0;
    for (size_t i = 0; i < a->fuzz->size; i++)
        sum += fabs((double)row->gradient[i]);
    row->stuck = !isfinite(sum);
    if (!row->stuck)
        pxi_climb_move(&a->climb, row, config->lr,
                       /* free= */ false);
}

/* Counts the neurons that fired; true: some did for the first time. */
static bool adapt_fire(adapt *a, int64_t at, bool fault)
{
    const adapt_config *config = a->fuzz->config;
    pxi_unit_tally *tally = &a->climb.tallies[0];
    const float *values = pxi_climb_values(&a->climb, 0, &a->climb.rows[at]);
    const double t = config->t;
    for (int64_t i = 0; i < tally->count; i++)
        if ((double)values[i] > t) {
            a->rows[at].fired[i / 64] |= UINT64_C(1) << (i % 64);
            a->faulty[i] |= fault;
        }
    return pxi_unit_tally_add(tally, values, t) > 0;
}

static px_status adapt_output(adapt *a, int64_t at, bool entry, px_error *err)
{
    pxi_climb_row *row = &a->climb.rows[at];
    px_json chain = {0};
    int64_t id = 0;
    pxi_climb_chain(&a->climb, row, &chain);
    px_json_int(&chain, "generation", a->generation);
    px_json_int(&chain, "vector", (int64_t)a->rows[at].vector);
    px_json_int(&chain, "entry", row->entry);
    px_json_int(&chain, "steps", row->steps);
    pxi_climb_chain_units(&a->climb, row, 0, "neurons", &chain);
    PX_TRY(pxi_climb_put(&a->climb, row, &chain, entry, &id, err));
    return entry ? pxi_climb_push(&a->climb, row, id, err) : PX_OK;
}

static px_status adapt_walk(adapt *a, int64_t at, px_error *err)
{
    pxi_climb_row *row = &a->climb.rows[at];
    const adapt_config *config = a->fuzz->config;
    if (!pxi_climb_count(&a->climb, row)) {
        adapt_next(a, at);
        return PX_OK;
    }
    const bool changed = pxi_climb_changed(&a->climb, row);
    const bool fault = changed && pxi_climb_prediction(&a->climb, 0, row) != row->label;
    const bool raised = adapt_fire(a, at, fault);
    const bool entry =
        changed && raised && pxi_climb_distance(&a->climb, row, a->levels) < config->distance;
    if (entry || fault)
        PX_TRY(adapt_output(a, at, entry, err));
    if ((double)row->steps >= (double)config->trails)
        adapt_next(a, at);
    return PX_OK;
}

static px_status adapt_climb(adapt *a, px_error *err)
{
    pxi_climb *climb = &a->climb;
    PX_TRY(pxi_climb_look(climb, /* fresh= */ true, err));
    for (int64_t i = 0; i < climb->rows_used; i++)
        adapt_start(a, i);
    while (pxi_climb_active(climb)) {
        PX_TRY(adapt_select(a, err));
        PX_TRY(pxi_climb_gradients(climb, err));
        for (int64_t i = 0; i < climb->rows_used; i++)
            if (climb->rows[i].active)
                adapt_move(a, &climb->rows[i]);
        PX_TRY(pxi_climb_look(climb, /* fresh= */ false, err));
        for (int64_t i = 0; i < climb->rows_used; i++)
            if (climb->rows[i].active)
                PX_TRY(adapt_walk(a, i, err));
    }
    return PX_OK;
}

static px_status adapt_turn(void *state, px_error *err)
{
    adapt *a = state;
    if (a->used == a->size)
        PX_TRY(adapt_evolve(a, err));
    pxi_climb_begin(&a->climb, (int64_t)(a->size - a->used));
    for (int64_t i = 0; i < a->climb.rows_used; i++) {
        adapt_row *own = &a->rows[i];
        own->select = false;
        own->vector = a->used + (size_t)i;
        memset(own->fired, 0, a->words * sizeof *own->fired);
    }
    PX_TRY(adapt_climb(a, err));
    for (int64_t i = 0; i < a->climb.rows_used; i++)
        adapt_record(a, &a->rows[i]);
    a->used += (size_t)a->climb.rows_used;
    pxi_climb_tell(&a->climb);
    return PX_OK;
}

static void adapt_report(const void *state, px_fuzz_report *report)
{
    const adapt *a = state;
    pxi_climb_report(&a->climb, report);
    pxi_climb_note(report, "generation", a->generation);
    pxi_climb_note(report, "vector", (int64_t)a->used);
}

static px_coverage adapt_coverage(const void *state)
{
    return pxi_climb_coverage(&((const adapt *)state)->climb);
}

const pxi_fuzz_engine pxi_fuzz_engine_adapt = {
    .shown = {.entry = {.id = "adapt",
                        .title = "gradients towards neurons, chosen by strategies that evolve",
                        .source = "ADAPT (ISSTA 2020)",
                        .params = adapt_params,
                        .config_size = sizeof(adapt_config)},
              .least_models = 1,
              .most_models = 1},
    .open = adapt_open,
    .begin = adapt_begin,
    .turn = adapt_turn,
    .save = adapt_save,
    .report = adapt_report,
    .close = adapt_close,
    .criterion = "nc",
    .coverage = adapt_coverage,
};
