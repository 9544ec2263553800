/* src/cli/localize_shapley.c - plexor localize --measure shapley */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/localize_shapley.h"

#include "base/memory.h"
#include "cli/cli_terms.h"
#include "cli/localize_print.h"

#include <internal/shapley_tally.h>
#include <inttypes.h>
#include <math.h>
#include <plexor/attack.h>
#include <plexor/system.h>
#include <plexor/text.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PAIRS_AT_A_TIME = 32, SHOWN_ROWS = 200 };

typedef struct shapley_work {
    const shapley_job *job;
    px_model *model;
    assess_sides sides; /* adversarial: only with --adversarial */
    px_shapley *s;
    px_shapley_tally_options options;
    px_shapley_tally *tally;
    px_suspicious *list;
    char how[256]; /* the inputs were changed */
    /* pairs on their way to the tally */
    float *x, *moved;
    int64_t labels[PAIRS_AT_A_TIME];
    int64_t waiting;
    /* the result */
    cli_origin origin;
    cli_classes names;
    const char *definition, *estimator, *norm;
    char text[256]; /* what the numbers are */
    int64_t neurons, k;
    bool per_class;
    px_shapley_sums sums;
    double seconds;
} shapley_work;

bool shapley_args_given(const shapley_args *a)
{
    const shapley_args none = SHAPLEY_ARGS_DEFAULT;
    return a->perturb || a->adversarial || a->estimator >= 0 || a->norm >= 0 || a->goal >= 0 ||
           a->pair != none.pair || a->permutations != none.permutations || a->nodes != none.nodes ||
           !isnan(a->lambda) || !isnan(a->truncation);
}

/* --- settings -------------------------------------------------------------------------------- */

static px_status work_settings(shapley_work *w, px_error *err)
{
    const shapley_args *a = w->job->args;
    px_shapley_tally_options o = px_shapley_tally_options_default();
    if (a->estimator >= 0)
        o.method = (px_shapley_method)a->estimator;
    const bool code = o.method == PX_SHAPLEY_CODE;
    if (code)
        o.norm = PX_SHAPLEY_RAW; /* it is scaled already */
    if (a->norm >= 0)
        o.norm = (px_shapley_norm)a->norm;
    o.lambda = !isnan(a->lambda) ? a->lambda : code ? PX_SHAPLEY_CODE_LAMBDA : o.lambda;
    PX_TRY(px_shapley_check_lambda(o.norm, o.lambda, err));
    if (a->permutations % 2)
        return px_fail(err, PX_E_USAGE,
                       "--permutations %" PRId64 ": each goes with its reverse, so take an even "
                       "number",
                       a->permutations);
    if (o.method != PX_SHAPLEY_SAMPLED && (a->goal >= 0 || !isnan(a->truncation)))
        return px_fail(err, PX_E_USAGE, "--goal and --truncation go with --estimator sampled");
    o.nodes = (int)a->nodes;
    o.sampling.permutations = a->permutations;
    o.sampling.seed = (uint64_t)w->job->data->seed;
    o.sampling.norm = o.norm;
    o.sampling.lambda = o.lambda;
    o.sampling.top = w->job->k;
    if (!isnan(a->truncation))
        o.sampling.truncation = a->truncation;
    if (a->goal >= 0)
        o.sampling.goal = (px_shapley_goal)a->goal;
    if (w->job->neurons->view && strcmp(w->job->neurons->view, "chan") != 0)
        return px_fail(err, PX_E_USAGE,
                       "--neurons %.60s: with --measure shapley, players are the channels of "
                       "hidden layers (chan)",
                       w->job->neurons->view);
    w->options = o;
    return PX_OK;
}

/* --- pairs ----------------------------------------------------------------------------------- */

static px_status work_flush(shapley_work *w, px_error *err)
{
    int64_t predictions[PAIRS_AT_A_TIME];
    PX_TRY(px_shapley_judge(w->s, w->x, NULL, w->waiting, predictions, NULL, err));
    for (int64_t i = 0; i < w->waiting; i++)
        if (w->labels[i] < 0) /* what the network says stands in for a label */
            w->labels[i] = predictions[i] < 0 ? 0 : predictions[i];
    const int64_t count = w->waiting;
    w->waiting = 0;
    return px_shapley_tally_add(w->tally, w->x, w->moved, w->labels, count, err);
}

/* The places of the next pair; full: makes room first. */
static px_status work_next(shapley_work *w, int64_t label, float **x, float **moved, px_error *err)
{
    const size_t size = (size_t)px_shapley_input_size(w->s);
    if (w->waiting == PAIRS_AT_A_TIME)
        PX_TRY(work_flush(w, err));
    *x = w->x + (size_t)w->waiting * size;
    *moved = w->moved + (size_t)w->waiting * size;
    w->labels[w->waiting++] = label;
    return PX_OK;
}

static px_status work_emit(void *context, const px_attack_made *made, px_error *err)
{
    shapley_work *w = context;
    const px_shape shape = px_dataset_shape(w->sides.original.set);
    const size_t size = w->sides.original.floats;
    float *x = NULL, *moved = NULL;
    PX_TRY(work_next(w, made->row->truth, &x, &moved, err));
    memcpy(x, made->original, size * sizeof *x);
    if (made->bytes)
        for (size_t i = 0; i < size; i++)
            moved[i] = (float)made->bytes[i];
    else
        memcpy(moved, made->exact, size * sizeof *moved);
    PX_TRY(px_preprocess_apply(&w->sides.original.pre, &shape, x, err));
    return px_preprocess_apply(&w->sides.original.pre, &shape, moved, err);
}

/* "METHOD:EPS" */
static px_status work_perturb(shapley_work *w, px_attack_options *o, px_error *err)
{
    const char *text = w->job->args->perturb ? w->job->args->perturb : "fgsm";
    const char *colon = strchr(text, ':');
    char method[64];
    snprintf(method, sizeof method, "%.*s", (int)(colon ? colon - text : (long)strlen(text)), text);
    const px_attack_method *known = px_attack_method_find(method);
    if (!known)
        return px_fail(err, PX_E_USAGE,
                       "--perturb %.60s: there is no attack '%.60s'; 'plexor list attacks' names "
                       "them",
                       text, method);
    if (colon && !known->bounded)
        return px_fail(err, PX_E_USAGE, "--perturb %.60s: %s takes no eps", text, method);
    *o = px_attack_options_default();
    o->method = known->entry.id;
    o->stop_early = true; /* the nearest change that turns the answer is what is explained */
    o->seed = (uint64_t)w->job->data->seed;
    o->batch = w->job->workers->batch;
    o->threads = (int)w->job->workers->threads;
    px_attack_options ranged = *o;
    PX_TRY(px_attack_complete(&ranged, w->sides.original.set, &w->sides.original.pre, err));
    if (colon)
        PX_TRY(px_length_parse(colon + 1, "--perturb", ranged.low, ranged.high, &o->eps, err));
    PX_TRY(px_attack_complete(o, w->sides.original.set, &w->sides.original.pre, err));
    if (known->bounded)
        snprintf(w->how, sizeof w->how, "%s, eps %.6g", known->entry.id, o->eps);
    else
        snprintf(w->how, sizeof w->how, "%s", known->entry.id);
    return PX_OK;
}

static px_status work_attack(shapley_work *w, px_error *err)
{
    const px_attack_job job = {
        .model = w->model, .set = w->sides.original.set, .pre = &w->sides.original.pre};
    px_attack_options options;
    px_attack *attack = NULL;
    PX_TRY(work_perturb(w, &options, err));
    options.emit = work_emit;
    options.emit_context = w;
    options.progress = cli_tick;
    options.progress_context = CLI_WORDS("localize");
    px_status status = px_attack_run(&job, &options, &attack, err);
    px_attack_free(attack);
    return status;
}

static px_status work_pairs(shapley_work *w, px_error *err)
{
    const assess_sides *sides = &w->sides;
    const int64_t count = px_dataset_count(sides->adversarial.set);
    px_status status = PX_OK;
    snprintf(w->how, sizeof w->how, "%.160s, paired by %s",
             px_dataset_describe(sides->adversarial.set), sides->how);
    for (int64_t i = 0; i < count && status == PX_OK; i++) {
        float *x = NULL, *moved = NULL;
        const int64_t partner = sides->partners ? sides->partners[i] : i;
        if (!cli_tick(CLI_WORDS("localize"), i, count)) {
            status = px_fail(err, PX_E_CANCELLED, "stopped");
            break;
        }
        status = work_next(w, px_dataset_label(sides->original.set, partner), &x, &moved, err);
        PX_THEN(status,
                px_dataset_input(sides->original.set, &sides->original.pre, partner, x, err));
        PX_THEN(status,
                px_dataset_input(sides->adversarial.set, &sides->adversarial.pre, i, moved, err));
    }
    return status;
}

/* --- all of it ------------------------------------------------------------------------------- */

static px_status work_open(shapley_work *w, const char *path, px_error *err)
{
    const shapley_job *job = w->job;
    PX_TRY(cli_model_load(job->self, path, &w->model, err));
    if (job->args->adversarial) {
        const assess_wish wish = {
            .data = *job->data, .adversarial = job->args->adversarial, .pair = job->args->pair};
        PX_TRY(assess_sides_open(w->model, &wish, &w->sides, err));
    } else {
        PX_TRY(cli_inputs_open(w->model, job->data, &w->sides.original, err));
    }
    const px_shapley_options options = {.layers = job->neurons->layers,
                                        .tap = job->neurons->tap,
                                        .threads = (int)job->workers->threads};
    PX_TRY(px_shapley_new(w->model, &w->sides.original.shape, &options, &w->s, err));
    if (w->sides.original.floats != (size_t)px_shapley_input_size(w->s))
        return px_fail(err, PX_E_MISMATCH, "the data do not have the size of the network's input");
    const size_t floats = PAIRS_AT_A_TIME * w->sides.original.floats;
    PX_TRY(PX_NEW(w->x, floats, err));
    PX_TRY(PX_NEW(w->moved, floats, err));
    return px_shapley_tally_new(w->s, &w->options, &w->tally, err);
}

/* Layers with a way around them. */
static void work_note_cuts(const shapley_work *w)
{
    px_text names = {0};
    size_t others = 0;
    for (size_t l = 0; l < px_shapley_layer_count(w->s); l++) {
        const px_shapley_layer *layer = px_shapley_layer_get(w->s, l);
        if (!layer->cut)
            px_text_format(&names, "%s'%.60s'", others++ ? ", " : "", layer->name);
    }
    char *text = px_text_take(&names);
    if (others && text)
        cli_note(w->job->self,
                 "%s no cut of the graph: there are ways around, and the values there do not add "
                 "up to the change of the loss: %.600s",
                 others == 1 ? "one layer is" : "some layers are", text);
    free(text);
}

/* What the numbers are, never more than they are. */
static void method_text(const px_shapley_tally_options *o, char *text, size_t size)
{
    if (o->method == PX_SHAPLEY_SAMPLED)
        snprintf(text, size,
                 "Shapley values, layer by layer: %" PRId64
                 " permutations (each with its reverse), "
                 "truncation %g, all coalitions where those are fewer",
                 o->sampling.permutations, o->sampling.truncation);
    else if (o->method == PX_SHAPLEY_CODE)
        snprintf(text, size,
                 "scaled differences of activations, as in DeepSensor's published code; no Shapley "
                 "values");
    else
        snprintf(text, size, "Aumann-Shapley (Q=%d), %s", o->nodes,
                 o->method == PX_SHAPLEY_AUMANN ? "all layers in one pass" : "layer by layer");
}

static void work_sum(shapley_work *w)
{
    w->origin = cli_origin_of(w->model, w->sides.original.set);
    w->names = cli_classes_of(w->model, w->sides.original.set);
    w->definition = px_probe_describe(px_shapley_probe(w->s));
    w->estimator = px_shapley_method_name(w->options.method);
    w->norm = px_shapley_norm_name(w->options.norm);
    method_text(&w->options, w->text, sizeof w->text);
    w->neurons = px_shapley_neuron_count(w->s);
    w->k = w->job->k;
    w->per_class = !w->job->pooled;
    w->sums = px_shapley_tally_sums(w->tally);
}

static px_status work_all(shapley_work *w, const char *path, px_error *err)
{
    const double start = px_clock_s();
    const shapley_job *job = w->job;
    PX_TRY(work_settings(w, err));
    PX_TRY(work_open(w, path, err));
    px_status status = job->args->adversarial ? work_pairs(w, err) : work_attack(w, err);
    if (status == PX_E_CANCELLED && px_shapley_tally_sums(w->tally).used > 0) {
        cli_note(job->self, "stopped after %" PRId64 " pairs: what follows is about those",
                 px_shapley_tally_sums(w->tally).seen);
        w->waiting = 0;
        status = PX_OK;
    }
    PX_TRY(status);
    PX_TRY(work_flush(w, err));
    const int64_t neurons = px_shapley_neuron_count(w->s);
    if (job->k > neurons)
        cli_note(job->self, "there are %" PRId64 " neurons: -k %" PRId64 " takes all of them",
                 neurons, job->k);
    work_note_cuts(w);
    PX_TRY(px_shapley_rank(w->tally, job->k, job->pooled, &w->list, err));
    work_sum(w);
    w->seconds = px_clock_s() - start;
    return job->output_path ? px_suspicious_save(w->list, job->output_path, err) : PX_OK;
}

/* --- what a result is made of ---------------------------------------------------------------- */

typedef struct shapley_row {
    localize_row row;
    double value, error;
} shapley_row;

static int64_t suspect_neuron(const shapley_work *w, const px_suspect *suspect)
{
    for (size_t l = 0; l < px_shapley_layer_count(w->s); l++)
        if (px_shapley_layer_get(w->s, l)->position == suspect->position)
            return px_shapley_layer_get(w->s, l)->offset + suspect->unit;
    return 0;
}

static const void *shapley_row_get(const void *of, size_t i, void *place)
{
    const shapley_work *w = of;
    shapley_row *row = place;
    if (i >= w->list->count)
        return NULL;
    const px_suspect *s = &w->list->items[i];
    const px_shapley_neuron n =
        px_shapley_tally_neuron(w->tally, s->class_index, suspect_neuron(w, s));
    localize_row_fill(&row->row, s, &w->names);
    row->value = n.value;
    row->error = n.error;
    return row;
}

static const px_field row_fields[] = {
    PX_OBJECT(shapley_row, row, localize_row_fields, ""),
    PX_FIELD(shapley_row, value, "value", "mean value, not scaled", .title = "VALUE"),
    PX_FIELD(shapley_row, error, "error", "its standard error over inputs", .title = "ERROR",
             .format = "%.2g"),
    PX_FIELDS_END,
};

typedef struct shapley_layer {
    const px_shapley_layer *layer;
    const px_shapley_tally *tally;
} shapley_layer;

static const void *shapley_layer_get(const void *of, size_t i, void *place)
{
    const shapley_work *w = of;
    *(shapley_layer *)place = (shapley_layer){px_shapley_layer_get(w->s, i), w->tally};
    return i < px_shapley_layer_count(w->s) ? place : NULL;
}

static const void *layer_value_get(const void *of, size_t i, void *place)
{
    const shapley_layer *l = of;
    if (i >= (size_t)l->layer->count)
        return NULL;
    *(double *)place =
        px_shapley_tally_neuron(l->tally, PX_POOLED, l->layer->offset + (int64_t)i).value;
    return place;
}

static const px_field layer_facts[] = {
    PX_FIELD(px_shapley_layer, name, "name", "of the layer"),
    PX_FIELD(px_shapley_layer, position, "position", "#i of 'plexor info'"),
    PX_FIELD(px_shapley_layer, count, "neurons", "that it has"),
    PX_FIELD(px_shapley_layer, cut, "cut", "every way to the scores leads through it"),
    PX_FIELDS_END,
};

static const px_field layer_fields[] = {
    PX_OBJECT_AT(shapley_layer, layer, layer_facts, ""),
    PX_VALUES_MADE(layer_value_get, double, "values", "of its neurons, over all classes"),
    PX_FIELDS_END,
};

static const px_field list_fields[] = {
    PX_FIELD(px_suspicious, measure, "measure", "shapley"),
    PX_FIELDS_END,
};

static const px_field shapley_fields[] = {
    PX_OBJECT(shapley_work, origin, cli_origin_fields, ""),
    PX_OBJECT(shapley_work, sides.original, cli_inputs_fields, ""),
    PX_OBJECT_AT(shapley_work, list, list_fields, ""),
    PX_FIELD(shapley_work, definition, "neurons", "which ones"),
    PX_FIELD(shapley_work, neurons, "neuron_count", "that there are"),
    PX_CHARS(shapley_work, how, "perturbation", "how the inputs were changed"),
    PX_FIELD(shapley_work, estimator, "estimator", "id of the method"),
    PX_CHARS(shapley_work, text, "estimator_text", "what the values are"),
    PX_FIELD(shapley_work, norm, "norm", "scale of the scores"),
    PX_FIELD(shapley_work, options.lambda, "lambda", "a neuron is excitable above this"),
    PX_FIELD(shapley_work, k, "k", "neurons per class"),
    PX_FIELD(shapley_work, per_class, "per_class", "or one ranking over all classes"),
    PX_FIELD(shapley_work, sums.seen, "count", "pairs"),
    PX_FIELD(shapley_work, sums.used, "used", "pairs but those of the next two"),
    PX_FIELD(shapley_work, sums.wrong_before, "wrong_before", "the network errs before the change"),
    PX_FIELD(shapley_work, sums.odd, "odd", "pairs with values that are no numbers"),
    PX_FIELD(shapley_work, sums.failed, "failed", "of those used, the network errs after it"),
    PX_FIELD(shapley_work, sums.change, "change", "of the loss, mean"),
    PX_FIELD(shapley_work, sums.fitness, "excitable", "neurons, mean", .unit = PX_SHARE),
    PX_FIELD(shapley_work, sums.gap, "gap", "mean distance of a layer's sum from the change"),
    PX_FIELD(shapley_work, sums.stated, "gap_stated", "mean of the errors stated for it"),
    PX_LIST_MADE(shapley_row_get, row_fields, "suspicious", "neurons, class after class"),
    PX_LIST_MADE(shapley_layer_get, layer_fields, "layers", "from the input"),
    PX_FIELD(shapley_work, seconds, "seconds", "in all", .unit = "s"),
    PX_FIELDS_END,
};

/* --- for people ------------------------------------------------------------------------------ */

static void work_print(const void *of)
{
    const shapley_work *w = of;
    const px_shapley_sums *sums = &w->sums;
    char a[CLI_NUMBER_TEXT], b[CLI_NUMBER_TEXT], c[CLI_NUMBER_TEXT];
    cli_print("%s pairs: %s, changed by %s\n", cli_number(sums->seen, a), w->origin.data, w->how);
    cli_print("%s\n", w->definition);
    cli_print(
        "%s pairs used, the network is wrong on %s of them after the change; left out: %s that "
        "it gets wrong before",
        cli_number(sums->used, a), cli_number(sums->failed, b), cli_number(sums->wrong_before, c));
    if (sums->odd)
        cli_print(", %s with values that are no numbers", cli_number(sums->odd, a));
    cli_print("\nthe loss changes by %.6g on average\n", sums->change);
    if (!isnan(sums->gap))
        cli_print("sums of values are off that by %.2g on average%s\n", sums->gap,
                  w->options.method == PX_SHAPLEY_AUMANN ? ", over all layers together" : "");
    cli_print("\n%s: %s\nexcitable: above %g, scale %s; %.1f%% of the neurons on average; AS .. NF "
              "count pairs by that\n",
              w->estimator, w->text, w->options.lambda, w->norm, 100.0 * sums->fitness);
    if (cli_print_list(shapley_fields, "suspicious", w, "", SHOWN_ROWS) > SHOWN_ROWS)
        cli_print("and %zu more: -o and --json have them all\n", w->list->count - SHOWN_ROWS);
    cli_explain_heads("AS AF NS NF");
    cli_print("\n%.1f s\n", w->seconds);
}

int localize_shapley(const shapley_job *job, const char *model_path)
{
    px_error err = {0};
    shapley_work w = {.job = job};
    const px_status status = work_all(&w, model_path, &err);
    const int rc = status == PX_OK ? cli_show(job->self, shapley_fields, &w, work_print)
                                   : cli_fail(job->self, &err);
    px_suspicious_free(w.list);
    px_shapley_tally_free(w.tally);
    px_shapley_free(w.s);
    assess_sides_close(&w.sides);
    px_model_free(w.model);
    free(w.x);
    free(w.moved);
    return rc;
}
