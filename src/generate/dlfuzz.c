/* src/generate/dlfuzz.c - engine `dlfuzz`: away from the class, towards neurons (LGR D.10)
 *
 * Guo et al., DLFuzz, ESEC/FSE 2018. A visit is a list that begins with its seed. Each element,
 * with classes c1 (its own), c2 ... by falling score, climbs w_p (z[c2] + ... + z[c_k+1]) - z[c1] +
 * w_n (sum of chosen neurons) for `iters` steps of the normalised gradient. Every step on which the
 * class differs from that at the element's start is an output. Where coverage gains more than
 * gain/(visit + 1) and the relative distance from the seed is below `distance`, what was reached
 * becomes another element. z are the logits; coverage is that of neurons whose channel mean, the
 * layer scaled to 0..1 on the input, is above `t`.
 *
 * Where we differ from the published program: elements are copies (there they change afterwards),
 * pictures are clipped in every step, elements start from what is stored, and the lists of a group
 * grow side by side.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "generate/climb.h"
#include "generate/dlfuzz_neurons.h"
#include "generate/engines.h"

#include "base/memory.h"

#include <internal/rng.h>
#include <stdlib.h>

/* Digits as in the paper's program: 0 often, 1 rarely, 2 large weights, 3 near the threshold. */
static const char *const strategies[] = {"2",   "0",   "1",    "3",    "01",  "02",
                                         "03",  "12",  "13",   "23",   "012", "013",
                                         "023", "123", "0123", "none", NULL};

typedef struct dl_config {
    int strategy;
    int64_t neurons;
    int64_t k;
    double w_p;
    double w_n;
    double lr;
    int64_t iters;
    double t;
    double gain;
    double distance;
    int64_t group;
} dl_config;

static const px_param dl_params[] = {
    PX_PARAM_CHOICE(dl_config, strategy, 0, strategies,
                    "which neurons to raise: that fired often (0), rarely (1), with large "
                    "incoming weights (2), near the threshold (3), several of these, or "
                    "any that never fired (none)"),
    PX_PARAM_INT(dl_config, neurons, 10, 0, 10000,
                 "how many of them, split evenly among the strategies"),
    PX_PARAM_INT(dl_config, k, 4, 1, 1000,
                 "runner-up classes that are raised; fewer where there are fewer"),
    PX_PARAM_REAL(dl_config, w_p, 0.5, 0, 1e6, "weight of the runners-up"),
    PX_PARAM_REAL(dl_config, w_n, 0.5, 0, 1e6, "weight of the neurons"),
    PX_PARAM_REAL(dl_config, lr, 0.02, 1e-6, 1e6,
                  "length of a step, in scaled pixel units per unit of the normalised gradient"),
    PX_PARAM_INT(dl_config, iters, 5, 1, 1e6, "steps of an element"),
    PX_PARAM_REAL(dl_config, t, 0.5, -1, 1, "a neuron fires when its scaled value is above this"),
    PX_PARAM_REAL(dl_config, gain, 0.01, 0, 1,
                  "coverage that a new element must gain, divided by the number of the visit"),
    PX_PARAM_REAL(dl_config, distance, 0.02, 0, 1e6,
                  "relative L2 distance from the seed that a new element stays below"),
    PX_PARAM_INT(dl_config, group, 64, 1, PXI_CLIMB_GROUP_MOST,
                 "seeds whose lists grow side by side in a turn"),
    PX_PARAM_END,
};

static const char *const strategy_names[] = {
    "strategy 2",   "strategy 0",   "strategy 1",    "strategy 3",   "strategy 01",  "strategy 02",
    "strategy 03",  "strategy 12",  "strategy 13",   "strategy 23",  "strategy 012", "strategy 013",
    "strategy 023", "strategy 123", "strategy 0123", "strategy none"};

static int dl_strategies(int choice)
{
    int sum = 0;
    for (const char *c = strategies[choice]; *c >= '0' && *c <= '3'; c++)
        sum |= 1 << (*c - '0');
    return sum;
}

typedef struct dl {
    px_fuzz *fuzz;
    pxi_climb climb;
    int64_t *from; /* per row: the class at the start of its element */
    int64_t *heavy, heavy_count;
    double *weights; /* scratch, [units] */
    int64_t *places;
    int *ranking; /* scratch, [k + 1] */
    float *levels;
} dl;

/* --- opening --------------------------------------------------------------------------------- */

static void dl_close(void *state)
{
    dl *d = state;
    if (!d)
        return;
    pxi_climb_close(&d->climb);
    free(d->from);
    free(d->heavy);
    free(d->weights);
    free(d->places);
    free(d->ranking);
    free(d->levels);
    free(d);
}

static px_status dl_init(dl *d, px_fuzz *fuzz, px_error *err)
{
    const dl_config *config = fuzz->config;
    const size_t k = (size_t)PX_MIN(config->k, (int64_t)fuzz->classes - 1);
    const pxi_climb_options options = {.group = config->group,
                                       .class_terms = k + 1,
                                       .unit_terms = (size_t)config->neurons + 1,
                                       .what = strategy_names[config->strategy],
                                       .pres = &fuzz->pre};
    PX_TRY(pxi_climb_open(&d->climb, fuzz, &options, err));
    const size_t units = (size_t)d->climb.tallies[0].count;
    PX_TRY(PX_NEW(d->from, options.group, err));
    PX_TRY(PX_NEW(d->weights, units, err));
    PX_TRY(PX_NEW(d->places, units, err));
    PX_TRY(PX_NEW(d->ranking, k + 1, err));
    PX_TRY(PX_NEW(d->levels, fuzz->size, err));
    pxi_unit_facts facts;
    PX_TRY(pxi_ascent_facts(d->climb.nets[0], &facts, err));
    const px_status status = pxi_dlfuzz_heavy(&facts, &d->heavy, &d->heavy_count, err);
    pxi_unit_facts_done(&facts);
    return status;
}

static px_status dl_open(px_fuzz *fuzz, void **state, px_error *err)
{
    if (fuzz->classes < 2)
        return px_fail(err, PX_E_MISMATCH,
                       "engine 'dlfuzz' goes from one class to others, and the network has one");
    dl *d = NULL;
    PX_TRY(PX_NEW(d, 1, err));
    d->fuzz = fuzz;
    const px_status status = dl_init(d, fuzz, err);
    if (status == PX_OK)
        *state = d;
    else
        dl_close(d);
    return status;
}

static px_status dl_begin(void *state, const void *saved, size_t size, px_error *err)
{
    dl *d = state;
    if (!saved)
        return PX_OK;
    pxi_fuzz_bytes from = {saved, (const uint8_t *)saved + size};
    return pxi_climb_load(&d->climb, &from) && from.at == from.end
               ? PX_OK
               : pxi_fuzz_bad_state(d->fuzz, err);
}

static px_status dl_save(const void *state, px_text *bytes, px_error *err)
{
    (void)err;
    pxi_climb_save(&((const dl *)state)->climb, bytes); /* lists are empty between turns */
    return PX_OK;
}

/* --- a turn ---------------------------------------------------------------------------------- */

/* An element's objective, from how it is seen at its start. */
static void dl_objective(dl *d, int64_t at)
{
    pxi_climb_row *row = &d->climb.rows[at];
    const dl_config *config = d->fuzz->config;
    const int classes = d->fuzz->classes;
    const int ranked = PX_MIN((int)config->k + 1, classes);
    pxi_ascent_ranking(pxi_climb_scores(&d->climb, 0, row), classes, d->ranking, ranked);
    for (int i = 0; i < ranked; i++)
        row->classes[0][i] = (pxi_term){d->ranking[i], i == 0 ? -1.0f : (float)config->w_p};
    row->class_count[0] = (size_t)ranked;
    const pxi_dlfuzz_choice choice = {
        .strategies = dl_strategies(config->strategy),
        .neurons = (int)config->neurons,
        .threshold = config->t,
        .tally = &d->climb.tallies[0],
        .values = pxi_climb_values(&d->climb, 0, row),
        .heavy = d->heavy,
        .heavy_count = d->heavy_count,
        .weights = d->weights,
        .places = d->places,
    };
    px_random random =
        px_rng(d->fuzz->seed, PX_RNG_DLFUZZ, (uint32_t)row->visit, (uint32_t)row->entry);
    row->unit_count[0] = pxi_dlfuzz_choose(&choice, (float)config->w_n, &random, row->units[0]);
}

static void dl_start(dl *d, int64_t at)
{
    const dl_config *config = d->fuzz->config;
    pxi_climb_row *row = &d->climb.rows[at];
    row->fresh = false;
    d->from[at] = pxi_climb_prediction(&d->climb, 0, row);
    pxi_unit_tally_add(&d->climb.tallies[0], pxi_climb_values(&d->climb, 0, row), config->t);
    dl_objective(d, at);
}

static px_status dl_output(dl *d, int64_t at, bool element, px_error *err)
{
    const dl_config *config = d->fuzz->config;
    pxi_climb_row *row = &d->climb.rows[at];
    px_json chain = {0};
    int64_t id = 0;
    pxi_climb_chain(&d->climb, row, &chain);
    px_json_string(&chain, "strategy", strategies[(int)config->strategy]);
    px_json_int(&chain, "element", row->entry);
    px_json_int(&chain, "steps", row->steps);
    px_json_int(&chain, "from", d->from[at]);
    pxi_climb_chain_units(&d->climb, row, 0, "neurons", &chain);
    PX_TRY(pxi_climb_put(&d->climb, row, &chain, element, &id, err));
    return element ? pxi_climb_push(&d->climb, row, id, err) : PX_OK;
}

static px_status dl_walk(dl *d, int64_t at, px_error *err)
{
    pxi_climb_row *row = &d->climb.rows[at];
    const dl_config *config = d->fuzz->config;
    pxi_unit_tally *tally = &d->climb.tallies[0];
    if (!pxi_climb_count(&d->climb, row)) {
        pxi_climb_next(&d->climb, row);
        return PX_OK;
    }
    const bool changed = pxi_climb_changed(&d->climb, row);
    const int64_t fresh = pxi_unit_tally_add(tally, pxi_climb_values(&d->climb, 0, row), config->t);
    const double gain = (double)fresh / (double)tally->count;
    const bool element = changed && gain > config->gain / (double)(row->visit + 1) &&
                         pxi_climb_distance(&d->climb, row, d->levels) < config->distance;
    if (element || (changed && pxi_climb_prediction(&d->climb, 0, row) != d->from[at]))
        PX_TRY(dl_output(d, at, element, err));
    if ((double)row->steps >= (double)config->iters)
        pxi_climb_next(&d->climb, row);
    return PX_OK;
}

static px_status dl_turn(void *state, px_error *err)
{
    dl *d = state;
    const dl_config *config = d->fuzz->config;
    pxi_climb *climb = &d->climb;
    pxi_climb_begin(climb, climb->group);
    while (pxi_climb_active(climb)) {
        PX_TRY(pxi_climb_look(climb, /* fresh= */ true, err));
        for (int64_t i = 0; i < climb->rows_used; i++)
            if (climb->rows[i].active && climb->rows[i].fresh)
                dl_start(d, i);
        PX_TRY(pxi_climb_gradients(climb, err));
        for (int64_t i = 0; i < climb->rows_used; i++) {
            pxi_climb_row *row = &climb->rows[i];
            if (!row->active)
                continue;
            row->stuck = !pxi_ascent_normalise(row->gradient, d->fuzz->size);
            if (!row->stuck)
                pxi_climb_move(climb, row, config->lr,
                               /* free= */ false);
        }
        PX_TRY(pxi_climb_look(climb, /* fresh= */ false, err));
        for (int64_t i = 0; i < climb->rows_used; i++)
            if (climb->rows[i].active)
                PX_TRY(dl_walk(d, i, err));
    }
    pxi_climb_tell(climb);
    return PX_OK;
}

static void dl_report(const void *state, px_fuzz_report *report)
{
    const dl *d = state;
    pxi_climb_report(&d->climb, report);
}

static px_coverage dl_coverage(const void *state)
{
    return pxi_climb_coverage(&((const dl *)state)->climb);
}

const pxi_fuzz_engine pxi_fuzz_engine_dlfuzz = {
    .shown = {.entry = {.id = "dlfuzz",
                        .title = "gradients away from the class and towards chosen neurons",
                        .source = "DLFuzz (ESEC/FSE 2018)",
                        .params = dl_params,
                        .config_size = sizeof(dl_config)},
              .least_models = 1,
              .most_models = 1},
    .open = dl_open,
    .begin = dl_begin,
    .turn = dl_turn,
    .save = dl_save,
    .report = dl_report,
    .close = dl_close,
    .criterion = "nc",
    .coverage = dl_coverage,
};
