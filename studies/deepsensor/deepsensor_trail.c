/* studies/deepsensor/deepsensor_trail.c - one example per seed and iteration, and what is counted
 * of them */
/* SPDX-License-Identifier: Apache-2.0 */
#include "deepsensor/deepsensor_trail.h"

#include "base/memory.h"

#include <internal/store.h>
#include <math.h>
#include <plexor/json.h>
#include <stdlib.h>
#include <string.h>

void ds_trail_free(ds_trail *trail)
{
    free(trail->roots);
    free(trail->labels);
    free(trail->indices);
    free(trail->examples);
    free(trail->fitness);
    *trail = (ds_trail){0};
}

/* --- reading ---------------------------------------------------------------------------------- */

typedef struct trail_find { /* the one that stands for its seed and iteration */
    int64_t id, answer;
    bool fault;
} trail_find;

typedef struct trail_reader {
    px_campaign *campaign;
    ds_clock clock;
    ds_trail *trail;
    int64_t executions; /* of the campaign */
    int64_t last;
    int64_t *place;    /* by id: which seed it is; -1: none */
    trail_find *finds; /* [seeds][iterations]; id 0: none */
    bool *seen;        /* [seeds][classes]: that faults were taken for */
    bool *places;      /* likewise, of all places of swarms */
    int64_t *told;     /* [iterations]: how often a fitness was */
} trail_reader;

static double chain_number(const px_json_value *root, const char *key, double otherwise)
{
    const px_json_value *value = px_json_member(root, key);
    return value && value->kind == PX_JSON_NUMBER ? value->number : otherwise;
}

/* From 0; negative: it is none of those that count. */
static int64_t reader_iteration(const trail_reader *r, const px_campaign_input *in,
                                const px_json_value *chain)
{
    const ds_trail *t = r->trail;
    if (r->clock == DS_BY_EXECUTION) {
        const double share = (double)in->step / (double)PX_MAX(r->executions, (int64_t)1);
        return PX_MIN((int64_t)(share * (double)t->iterations), t->iterations - 1);
    }
    if (!chain || chain->kind != PX_JSON_OBJECT)
        return -1;
    const double visit = chain_number(chain, "visit", -1.0);
    if (visit < 0.0)
        return -1;
    double at = floor(visit / (double)t->seeds);
    if (r->clock != DS_BY_VISIT) {
        if (at > 0.0 || chain_number(chain, "element", 0.0) > 0.0)
            return -1;
        at = chain_number(chain, r->clock == DS_BY_STEP ? "steps" : "iteration", 1.0) - 1.0;
        at = fmax(at, 0.0); /* networks that differ from the outset */
    }
    return at < (double)t->iterations ? (int64_t)at : -1;
}

static void reader_put(trail_reader *r, const px_campaign_input *in, int64_t seed, int64_t at)
{
    ds_trail *t = r->trail;
    trail_find *find = &r->finds[seed * t->iterations + at];
    const bool fault = in->kind == PX_INPUT_FAULT;
    if (fault && in->prediction >= 0 && in->prediction < t->classes) {
        bool *seen = &r->seen[seed * t->classes + in->prediction];
        t->pairs += !*seen;
        *seen = true;
    }
    if (r->clock != DS_BY_SWARM && find->fault && !fault)
        return;
    t->fresh += fault && !find->fault;
    *find = (trail_find){in->id, in->prediction, fault};
}

/* The classes that places of a swarm's iteration were taken for. */
static void reader_places(trail_reader *r, int64_t seed, const px_json_value *chain)
{
    ds_trail *t = r->trail;
    const px_json_value *wrong = px_json_member(chain, "wrong");
    if (!wrong || wrong->kind != PX_JSON_ARRAY)
        return;
    if (isnan(t->place_categories))
        t->place_categories = 0.0;
    for (size_t i = 0; i < wrong->count; i++) {
        const px_json_value *v = &wrong->items[i];
        if (v->kind != PX_JSON_NUMBER || !(v->number >= 0.0 && v->number < (double)t->classes))
            continue;
        bool *seen = &r->places[seed * t->classes + (int64_t)v->number];
        t->place_categories += !*seen;
        *seen = true;
    }
}

static px_status reader_output(trail_reader *r, const px_campaign_input *in, px_error *err)
{
    px_json_document *document = NULL;
    const int64_t seed = in->root > 0 && in->root <= r->last ? r->place[in->root] : -1;
    if (seed < 0)
        return px_fail(err, PX_E_INPUT, "input %lld has no seed", (long long)in->id);
    if (r->clock != DS_BY_EXECUTION && in->chain && *in->chain)
        PX_TRY(px_json_parse(in->chain, strlen(in->chain), &document, err));
    const px_json_value *chain = document ? px_json_root(document) : NULL;
    const int64_t at = reader_iteration(r, in, chain);
    if (at >= 0) {
        reader_put(r, in, seed, at);
        if (chain && chain->kind == PX_JSON_OBJECT)
            reader_places(r, seed, chain);
        const double fitness = chain && chain->kind == PX_JSON_OBJECT
                                   ? chain_number(chain, "fitness", (double)NAN)
                                   : (double)NAN;
        if (!isnan(fitness)) {
            r->trail->fitness[at] += fitness;
            r->told[at]++;
        }
    }
    px_json_free(document);
    return PX_OK;
}

static px_status reader_seeds(trail_reader *r, px_error *err)
{
    px_campaign_input in = {.id = 0};
    ds_trail *t = r->trail;
    px_campaign_counts counts;
    PX_TRY(px_campaign_count(r->campaign, &counts, err));
    if (counts.seeds < 1)
        return px_fail(err, PX_E_INPUT, "'%s' has no seeds", px_campaign_folder(r->campaign));
    const size_t seeds = (size_t)counts.seeds;
    r->executions = counts.executions;
    PX_TRY(PX_NEW(t->roots, seeds, err));
    PX_TRY(PX_NEW(t->labels, seeds, err));
    PX_TRY(PX_NEW(t->indices, seeds, err));
    PX_TRY(PX_NEW(r->place, (size_t)r->last + 1, err));
    for (int64_t i = 0; i <= r->last; i++)
        r->place[i] = -1;
    for (;;) {
        PX_TRY(px_campaign_next(r->campaign, in.id, PX_INPUT_SEED, &in, NULL, NULL, err));
        if (in.id == 0 || t->seeds >= counts.seeds)
            return PX_OK;
        r->place[in.id] = t->seeds;
        t->roots[t->seeds] = in.id;
        t->indices[t->seeds] = in.data_index;
        t->labels[t->seeds++] = in.label;
    }
}

/* What was found until then stands where nothing new was. */
static void reader_fill(const trail_reader *r)
{
    ds_trail *t = r->trail;
    for (int64_t s = 0; s < t->seeds; s++) {
        trail_find now = {.answer = t->labels[s]}; /* seeds are right */
        for (int64_t g = 0; g < t->iterations; g++) {
            const trail_find *find = &r->finds[s * t->iterations + g];
            if (find->id && (r->clock == DS_BY_SWARM || find->fault || !now.fault))
                now = *find;
            t->examples[s * t->iterations + g] = (ds_example){now.id, now.answer};
        }
    }
    for (int64_t g = 0; g < t->iterations; g++)
        t->fitness[g] = r->told[g] ? t->fitness[g] / (double)r->told[g] : (double)NAN;
}

static px_status reader_all(trail_reader *r, px_error *err)
{
    ds_trail *t = r->trail;
    px_campaign_input in = {.id = 0};
    px_campaign_identity identity;
    if (!px_campaign_identity_get(r->campaign, &identity))
        return px_fail(err, PX_E_INPUT, "'%s' is empty", px_campaign_folder(r->campaign));
    t->classes = PX_MAX(identity.classes, 1);
    PX_TRY(px_campaign_last(r->campaign, &r->last, err));
    PX_TRY(reader_seeds(r, err));
    const size_t seeds = (size_t)t->seeds, iterations = (size_t)t->iterations;
    PX_TRY(PX_NEW(t->examples, seeds * iterations, err));
    PX_TRY(PX_NEW(t->fitness, iterations, err));
    PX_TRY(PX_NEW(r->finds, seeds * iterations, err));
    PX_TRY(PX_NEW(r->seen, seeds * (size_t)t->classes, err));
    PX_TRY(PX_NEW(r->places, seeds * (size_t)t->classes, err));
    PX_TRY(PX_NEW(r->told, iterations, err));
    for (;;) {
        PX_TRY(px_campaign_next(r->campaign, in.id, PX_INPUT_KEPT | PX_INPUT_FAULT, &in, NULL, NULL,
                                err));
        if (in.id == 0)
            break;
        PX_TRY(reader_output(r, &in, err));
    }
    reader_fill(r);
    return PX_OK;
}

px_status ds_trail_read(px_campaign *campaign, ds_clock clock, int64_t iterations, ds_trail *out,
                        px_error *err)
{
    ds_trail trail = {.iterations = iterations, .place_categories = (double)NAN};
    trail_reader r = {.campaign = campaign, .clock = clock, .trail = &trail};
    const px_status status = reader_all(&r, err);
    free(r.place);
    free(r.finds);
    free(r.seen);
    free(r.places);
    free(r.told);
    if (status == PX_OK)
        *out = trail;
    else
        ds_trail_free(&trail);
    return status;
}

/* --- counting --------------------------------------------------------------------------------- */

void ds_trail_count(const ds_trail *trail, int64_t polluted_class, ds_counts *out)
{
    ds_counts c = {.l2 = (double)NAN,
                   .linf = (double)NAN,
                   .ssim = (double)NAN,
                   .last_l2 = (double)NAN,
                   .last_linf = (double)NAN};
    const int64_t iterations = trail->iterations;
    for (int64_t s = 0; s < trail->seeds; s++) {
        const ds_example *row = &trail->examples[s * iterations];
        for (int64_t g = 0; g < iterations; g++) {
            const int64_t answer = row[g].answer;
            const bool wrong = answer != trail->labels[s];
            const bool polluted = wrong && answer == polluted_class && polluted_class >= 0;
            bool known = false; /* an iteration before has the same answer */
            for (int64_t h = 0; h < g && !known; h++)
                known = row[h].answer == answer;
            c.errors += wrong;
            c.polluted += polluted;
            c.categories += wrong && answer >= 0 && !known;
            c.last += wrong && g + 1 == iterations;
            c.last_polluted += polluted && g + 1 == iterations;
        }
    }
    *out = c;
}
