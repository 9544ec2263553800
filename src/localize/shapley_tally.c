/* src/localize/shapley_tally.c - Shapley values of neurons over many inputs, ranked */
/* SPDX-License-Identifier: Apache-2.0 */
#include "attribute/shapley_internal.h"
#include "localize/suspicious.h"
#include <internal/shapley_tally.h>

#include "base/memory.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct tally_class {
    int64_t passed, failed;
    int64_t *as, *af; /* per neuron: excitable while right, wrong; NULL: no inputs yet */
    double *score, *value, *square; /* per neuron: sums */
} tally_class;

struct px_shapley_tally {
    px_shapley *s;
    px_shapley_tally_options options;
    tally_class *classes;
    px_shapley_sums sums;
    int64_t gaps;
    double *values, *scaled, *errors; /* per neuron, of one pair */
};

static const char *const method_names[] = {
#define METHOD_NAME(enumerator, id, help) [enumerator] = id,
    PX_SHAPLEY_METHODS(METHOD_NAME)
#undef METHOD_NAME
};

const char *px_shapley_method_name(px_shapley_method method)
{
    return (size_t)method < PX_LEN(method_names) ? method_names[method] : "?";
}

px_shapley_tally_options px_shapley_tally_options_default(void)
{
    return (px_shapley_tally_options){.nodes = px_diagonal_default().nodes,
                                      .sampling = px_shapley_sampling_default(),
                                      .norm = PX_SHAPLEY_LAYER_MINMAX,
                                      .lambda = 0.5};
}

px_status px_shapley_tally_new(px_shapley *s, const px_shapley_tally_options *options,
                               px_shapley_tally **out, px_error *err)
{
    PX_TRY(px_shapley_check_lambda(options->norm, options->lambda, err));
    if (options->nodes < 1 || options->nodes > PX_SHAPLEY_MOST_NODES)
        return px_fail(err, PX_E_USAGE, "%d nodes are not possible: 1 to %d are", options->nodes,
                       PX_SHAPLEY_MOST_NODES);
    px_shapley_tally *tally = NULL;
    PX_TRY(PX_NEW(tally, 1, err));
    const size_t neurons = (size_t)s->neuron_count;
    tally->s = s;
    tally->options = *options;
    tally->classes = pxi_calloc((size_t)s->scores.classes, sizeof *tally->classes);
    tally->values = pxi_calloc(neurons, sizeof *tally->values);
    tally->scaled = pxi_calloc(neurons, sizeof *tally->scaled);
    tally->errors = pxi_calloc(neurons, sizeof *tally->errors);
    if (!tally->classes || !tally->values || !tally->scaled || !tally->errors) {
        px_shapley_tally_free(tally);
        return pxi_no_memory(err);
    }
    *out = tally;
    return PX_OK;
}

void px_shapley_tally_free(px_shapley_tally *tally)
{
    if (!tally)
        return;
    for (int c = 0; tally->classes && c < tally->s->scores.classes; c++) {
        free(tally->classes[c].as);
        free(tally->classes[c].af);
        free(tally->classes[c].score);
        free(tally->classes[c].value);
        free(tally->classes[c].square);
    }
    free(tally->classes);
    free(tally->values);
    free(tally->scaled);
    free(tally->errors);
    free(tally);
}

/* --- one pair -------------------------------------------------------------------------------- */

/* Whether trying all coalitions costs no more rows than the random orders would. */
static bool tally_tries_all(const px_shapley_sampling *o, const px_shapley_layer *layer)
{
    return layer->count <= PX_SHAPLEY_MOST_EXACT &&
           (int64_t)1 << layer->count <= o->permutations * layer->count;
}

static px_status tally_sampled(px_shapley_tally *tally, const px_shapley_pair *pair, double change,
                               px_error *err)
{
    px_shapley *s = tally->s;
    PX_TRY(pxi_shapley_load(s, pair, err));
    for (size_t l = 0; l < s->game_count; l++) {
        const px_shapley_layer *layer = &s->games[l].layer;
        px_shapley_estimate e = {.values = tally->values + layer->offset,
                                 .errors = tally->errors + layer->offset};
        if (tally_tries_all(&tally->options.sampling, layer)) {
            PX_TRY(pxi_shapley_exact(s, l, pair, e.values, NULL, err));
            for (int64_t n = 0; n < layer->count; n++)
                e.sum += e.values[n];
        } else {
            PX_TRY(pxi_shapley_sample(s, l, &tally->options.sampling, pair, &e, err));
        }
        if (layer->cut && isfinite(e.sum)) {
            tally->sums.gap += fabs(e.sum - change);
            tally->sums.stated += e.sum_error;
            tally->gaps++;
        }
    }
    return PX_OK;
}

/* The integrals of both sides of a pair become its values. */
static void tally_diagonal(px_shapley_tally *tally, const double *before, const double *after,
                           double change)
{
    const px_shapley *s = tally->s;
    const bool per_layer = tally->options.method == PX_SHAPLEY_AUMANN_LAYER;
    double all = 0.0;
    bool cuts = false;
    for (size_t l = 0; l < s->game_count; l++) {
        const px_shapley_layer *layer = &s->games[l].layer;
        double sum = 0.0;
        for (int64_t n = layer->offset; n < layer->offset + layer->count; n++)
            sum += tally->values[n] = after[n] - before[n];
        all += sum;
        cuts = cuts || layer->cut;
        if (per_layer && layer->cut && isfinite(sum)) {
            tally->sums.gap += fabs(sum - change);
            tally->gaps++;
        }
    }
    if (!per_layer && cuts && isfinite(all)) {
        tally->sums.gap += fabs(all - change);
        tally->gaps++;
    }
}

static px_status tally_open(tally_class *of, size_t neurons, px_error *err)
{
    if (of->as)
        return PX_OK;
    of->af = pxi_calloc(neurons, sizeof *of->af);
    of->score = pxi_calloc(neurons, sizeof *of->score);
    of->value = pxi_calloc(neurons, sizeof *of->value);
    of->square = pxi_calloc(neurons, sizeof *of->square);
    int64_t *as = pxi_calloc(neurons, sizeof *as);
    if (!as || !of->af || !of->score || !of->value || !of->square) {
        free(as);
        free(of->af);
        free(of->score);
        free(of->value);
        free(of->square);
        *of = (tally_class){0};
        return pxi_no_memory_for(err, "the values of %zu neurons", neurons);
    }
    of->as = as;
    return PX_OK;
}

/* `sides`: the integrals before and after, where the method has them. */
static px_status tally_pair(px_shapley_tally *tally, const px_shapley_pair *pair,
                            const double *const sides[2], double change, bool failed, px_error *err)
{
    px_shapley *s = tally->s;
    const px_shapley_tally_options *o = &tally->options;
    if (o->method == PX_SHAPLEY_SAMPLED)
        PX_TRY(tally_sampled(tally, pair, change, err));
    else if (o->method == PX_SHAPLEY_CODE)
        PX_TRY(px_shapley_differences(s, pair->x, pair->moved, 1, tally->values, err));
    else
        tally_diagonal(tally, sides[0], sides[1], change);
    for (int64_t n = 0; n < s->neuron_count; n++)
        if (!isfinite(tally->values[n])) {
            tally->sums.odd++;
            return PX_OK;
        }
    tally_class *of = &tally->classes[pair->label];
    PX_TRY(tally_open(of, (size_t)s->neuron_count, err));
    px_shapley_normalise(s, o->norm, tally->values, tally->scaled);
    for (int64_t n = 0; n < s->neuron_count; n++) {
        of->score[n] += tally->scaled[n];
        of->value[n] += tally->values[n];
        of->square[n] += tally->values[n] * tally->values[n];
        (failed ? of->af : of->as)[n] += tally->scaled[n] > o->lambda;
    }
    *(failed ? &of->failed : &of->passed) += 1;
    tally->sums.used++;
    tally->sums.failed += failed;
    tally->sums.change += change;
    tally->sums.fitness += px_shapley_fitness(s, o->norm, o->lambda, tally->values);
    return PX_OK;
}

typedef struct tally_batch { /* what is had for all pairs of a call at once */
    int64_t *predictions;    /* [2][count]: before and after */
    double *losses;
    double *sides; /* [2][count][neurons]; NULL: the method has none */
} tally_batch;

static void batch_done(tally_batch *batch)
{
    free(batch->predictions);
    free(batch->losses);
    free(batch->sides);
}

static px_status batch_fill(px_shapley_tally *tally, const float *x, const float *moved,
                            const int64_t *labels, int64_t count, tally_batch *batch, px_error *err)
{
    px_shapley *s = tally->s;
    const size_t room = (size_t)PX_MAX(count, (int64_t)1), neurons = (size_t)s->neuron_count;
    const px_diagonal diagonal = {.nodes = tally->options.nodes,
                                  .per_layer = tally->options.method == PX_SHAPLEY_AUMANN_LAYER};
    const bool sides = diagonal.per_layer || tally->options.method == PX_SHAPLEY_AUMANN;
    batch->predictions = pxi_calloc(2 * room, sizeof *batch->predictions);
    batch->losses = pxi_calloc(2 * room, sizeof *batch->losses);
    batch->sides = sides ? pxi_calloc(2 * room, neurons * sizeof *batch->sides) : NULL;
    if (!batch->predictions || !batch->losses || (sides && !batch->sides))
        return pxi_no_memory(err);
    for (int side = 0; side < 2; side++) {
        const float *inputs = side ? moved : x;
        PX_TRY(px_shapley_judge(s, inputs, labels, count, batch->predictions + side * count,
                                batch->losses + side * count, err));
        if (sides)
            PX_TRY(px_shapley_integrate(s, &diagonal, inputs, labels, count,
                                        batch->sides + side * count * s->neuron_count, err));
    }
    return PX_OK;
}

px_status px_shapley_tally_add(px_shapley_tally *tally, const float *x, const float *moved,
                               const int64_t *labels, int64_t count, px_error *err)
{
    px_shapley *s = tally->s;
    tally_batch batch = {0};
    for (int64_t i = 0; i < count; i++)
        if (labels[i] < 0 || labels[i] >= s->scores.classes)
            return px_fail(err, PX_E_MISMATCH,
                           "label %" PRId64 " is outside the network's classes 0..%d", labels[i],
                           s->scores.classes - 1);
    px_status status = batch_fill(tally, x, moved, labels, count, &batch, err);
    for (int64_t i = 0; i < count && status == PX_OK; i++) {
        const px_shapley_pair pair = {.x = x + (size_t)i * s->input_size,
                                      .moved = moved + (size_t)i * s->input_size,
                                      .label = labels[i],
                                      .item = (uint32_t)tally->sums.seen};
        const double change = batch.losses[count + i] - batch.losses[i];
        const double *const sides[2] = {batch.sides ? batch.sides + i * s->neuron_count : NULL,
                                        batch.sides ? batch.sides + (count + i) * s->neuron_count
                                                    : NULL};
        tally->sums.seen++;
        if (batch.predictions[i] != labels[i])
            tally->sums.wrong_before++;
        else if (!isfinite(change))
            tally->sums.odd++;
        else
            status = tally_pair(tally, &pair, sides, change,
                                batch.predictions[count + i] != labels[i], err);
    }
    batch_done(&batch);
    return status;
}

/* --- what came of it ------------------------------------------------------------------------- */

px_shapley_sums px_shapley_tally_sums(const px_shapley_tally *tally)
{
    px_shapley_sums sums = tally->sums;
    const double used = (double)sums.used;
    sums.change = sums.used ? sums.change / used : (double)NAN;
    sums.fitness = sums.used ? sums.fitness / used : (double)NAN;
    sums.gap = tally->gaps ? sums.gap / (double)tally->gaps : (double)NAN;
    sums.stated = tally->gaps ? sums.stated / (double)tally->gaps : (double)NAN;
    return sums;
}

px_shapley_neuron px_shapley_tally_neuron(const px_shapley_tally *tally, int c, int64_t neuron)
{
    px_shapley_neuron made = {0};
    double square = 0.0;
    int64_t passed = 0, failed = 0;
    for (int k = 0; k < tally->s->scores.classes; k++) {
        const tally_class *of = &tally->classes[k];
        if ((c != PX_POOLED && c != k) || !of->as)
            continue;
        passed += of->passed;
        failed += of->failed;
        made.hits.as += of->as[neuron];
        made.hits.af += of->af[neuron];
        made.score += of->score[neuron];
        made.value += of->value[neuron];
        square += of->square[neuron];
    }
    const double count = (double)(passed + failed);
    made.hits.ns = passed - made.hits.as;
    made.hits.nf = failed - made.hits.af;
    made.score = count > 0.0 ? made.score / count : (double)NAN;
    made.value = count > 0.0 ? made.value / count : (double)NAN;
    const double variance = (square - count * made.value * made.value) / (count - 1.0);
    made.error = count > 1.0 ? sqrt(PX_MAX(variance, 0.0) / count) : (double)NAN;
    return made;
}

/* The facts that a list of suspicious neurons takes from a spectrum. */
static px_status tally_facts(const px_shapley_tally *tally, px_spectrum *facts, px_error *err)
{
    const px_shapley *s = tally->s;
    PX_TRY(PX_NEW(facts->layers, s->game_count, err));
    for (size_t l = 0; l < s->game_count; l++) {
        const px_shapley_layer *layer = &s->games[l].layer;
        facts->layers[l] = (px_spectrum_layer){.name = layer->name,
                                               .position = layer->position,
                                               .offset = layer->offset,
                                               .count = layer->count};
    }
    facts->layer_count = s->game_count;
    facts->theta = tally->options.lambda;
    facts->tap = s->tap;
    facts->neurons = PX_VIEW_CHAN;
    facts->model_hash = px_model_hash(s->model);
    return PX_OK;
}

static void tally_rank_class(const px_shapley_tally *tally, const px_spectrum *facts,
                             const char *const *names, int c, int64_t k, pxi_scored *scored,
                             px_suspicious *list)
{
    for (size_t l = 0; l < facts->layer_count; l++)
        for (int64_t n = facts->layers[l].offset;
             n < facts->layers[l].offset + facts->layers[l].count; n++)
            scored[n] = (pxi_scored){
                .score = px_shapley_tally_neuron(tally, c, n).score, .layer = l, .neuron = n};
    pxi_ranking_sort(scored, (size_t)tally->s->neuron_count);
    for (int64_t i = 0; i < k; i++) {
        const px_spectrum_layer *layer = &facts->layers[scored[i].layer];
        list->items[list->count++] =
            (px_suspect){.class_index = c,
                         .rank = i + 1,
                         .layer = names[scored[i].layer],
                         .position = layer->position,
                         .unit = scored[i].neuron - layer->offset,
                         .hits = px_shapley_tally_neuron(tally, c, scored[i].neuron).hits,
                         .score = scored[i].score};
    }
}

px_status px_shapley_rank(const px_shapley_tally *tally, int64_t k, bool pooled,
                          px_suspicious **out, px_error *err)
{
    const px_shapley *s = tally->s;
    if (k < 1)
        return px_fail(err, PX_E_USAGE, "k, the number of neurons, must be at least 1");
    if (tally->sums.used == 0)
        return px_fail(err, PX_E_INPUT,
                       "no input to rank neurons by: of %" PRId64 " pairs the network is wrong on "
                       "%" PRId64 " before the change, and %" PRId64 " give values that are no "
                       "numbers",
                       tally->sums.seen, tally->sums.wrong_before, tally->sums.odd);
    k = PX_MIN(k, s->neuron_count);
    size_t ranked = pooled ? 1 : 0;
    for (int c = 0; c < s->scores.classes && !pooled; c++)
        ranked += tally->classes[c].as != NULL;
    px_spectrum facts = {0};
    px_suspicious *list = NULL;
    const char **names = NULL;
    pxi_scored *scored = pxi_calloc((size_t)s->neuron_count, sizeof *scored);
    px_status status = scored ? tally_facts(tally, &facts, err) : pxi_no_memory(err);
    PX_THEN(status, pxi_suspicious_start(&facts, PXI_SHAPLEY, PX_STAR_DEFAULT, ranked * (size_t)k,
                                         &list, &names, err));
    if (status == PX_OK && pooled)
        tally_rank_class(tally, &facts, names, PX_POOLED, k, scored, list);
    for (int c = 0; c < s->scores.classes && !pooled && status == PX_OK; c++)
        if (tally->classes[c].as)
            tally_rank_class(tally, &facts, names, c, k, scored, list);
    free(scored);
    free(facts.layers);
    free(names);
    if (status == PX_OK)
        *out = list;
    return status;
}
