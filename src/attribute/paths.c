/* src/attribute/paths.c - layers and the pass of px_paths */
/* SPDX-License-Identifier: Apache-2.0 */
#include "attribute/paths_internal.h"

#include "base/memory.h"
#include <internal/gradient_reach.h>
#include <internal/reach.h>
#include <internal/sample_plan.h>

#include <internal/bank.h>
#include <internal/decision_path.h>
#include <internal/probe.h>
#include <internal/text.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

px_paths_options px_paths_options_default(void)
{
    return (px_paths_options){
        .steps = 50, .most_steps = 400, .tolerance = 0.05, .rule = PX_PATH_BALANCED};
}

static px_status paths_check(const px_paths_options *options, const px_preprocess *pre,
                             px_error *err)
{
    if (options->steps < 1 || options->steps > PX_PATH_STEPS_MOST ||
        options->most_steps > PX_PATH_STEPS_MOST)
        return px_fail(err, PX_E_USAGE, "%d steps are not possible: 1 to %d are",
                       options->steps < 1 ? options->steps
                                          : PX_MAX(options->steps, options->most_steps),
                       PX_PATH_STEPS_MOST);
    if (!(options->tolerance > 0.0))
        return px_fail(err, PX_E_USAGE, "a tolerance of %g is not possible: it is above 0",
                       options->tolerance);
    if (options->baseline == PX_PATH_BLACK && !pre)
        return px_fail(err, PX_E_USAGE, "what black is needs the preprocessing");
    return PX_OK;
}

/* --- layers ---------------------------------------------------------------------------------- */

static void layer_extents(const px_layer *layer, px_path_layer *out)
{
    int64_t side[2] = {1, 1}, places = 1;
    int sides = 0;
    for (int d = 0; d < layer->shape.rank; d++)
        if (layer->axis[d] == PX_AXIS_SPACE ||
            (layer->axis[d] == PX_AXIS_BATCH && layer->shape.dim[d] > 1)) {
            if (sides < 2)
                side[sides] = layer->shape.dim[d];
            sides++;
            places *= layer->shape.dim[d];
        }
    out->height = sides == 2 ? side[0] : 1;
    out->width = sides == 2 ? side[1] : places;
}

static px_status paths_layers(px_paths *paths, const char *layers, const char *tap, px_error *err)
{
    px_probe_options probe = px_probe_options_default();
    PX_TRY(px_probe_options_parse(&probe, layers ? layers : "stages", tap, NULL, err));
    probe.feeds = &paths->input;
    probe.feed_count = 1;
    PX_TRY(px_probe_new(paths->model, &probe, &paths->probe, err));
    const size_t count = px_probe_layer_count(paths->probe);
    if (count > PX_PATH_LAYERS_MOST)
        return px_fail(err, PX_E_USAGE,
                       "%zu layers are too many for a decision path: %d are possible; --layers "
                       "chooses among them",
                       count, PX_PATH_LAYERS_MOST);
    if (count < (size_t)PX_MAX(paths->options.least_layers, 0))
        return px_fail(err, PX_E_MISMATCH,
                       "%d layers were asked for, and the network has %zu to choose from; "
                       "--layers takes others, 'plexor info' lists them",
                       paths->options.least_layers, count);
    PX_TRY(PX_NEW(paths->layers, count, err));
    PX_TRY(PX_NEW(paths->taps, count, err));
    pxi_reach reach = {0};
    px_status status = pxi_reach_init(&reach, paths->model, paths->scores.value, err);
    for (size_t i = 0; i < count && status == PX_OK; i++) {
        const px_layer *layer = px_probe_layer(paths->probe, i);
        px_path_layer *own = &paths->layers[i];
        *own = (px_path_layer){.name = layer->name,
                               .position = layer->position,
                               .offset = layer->neuron_offset,
                               .units = layer->neuron_count,
                               .described = layer->neuron_count};
        layer_extents(layer, own);
        status = pxi_graph_cuts(px_model_graph(paths->model), layer->tap_value, paths->scores.value,
                                &own->cut, err);
        paths->taps[i] = (pxi_path_tap){.layer = layer, .value = layer->tap_value};
        if (status == PX_OK && !reach.reached[layer->tap_value]) {
            const px_node *gap = pxi_reach_gap(&reach, layer->tap_value);
            status = px_fail(err, PX_E_UNSUPPORTED,
                             "the class scores do not depend on layer '%.100s'%s%.60s in a way "
                             "that has a gradient",
                             layer->name, gap ? ", because of " : "", gap ? gap->type : "");
        }
    }
    pxi_reach_done(&reach);
    paths->layer_count = count;
    paths->unit_count = px_probe_neuron_count(paths->probe);
    return status;
}

/* Only units with a description compete. */
static px_status paths_competitors(px_paths *paths, px_error *err)
{
    const px_bank *bank = paths->options.bank;
    PX_TRY(PX_NEW(paths->competes, paths->unit_count, err));
    if (!bank) {
        memset(paths->competes, true, (size_t)paths->unit_count * sizeof *paths->competes);
        return PX_OK;
    }
    PX_TRY(px_bank_check_model(bank, paths->model, err));
    for (size_t l = 0; l < paths->layer_count; l++) {
        px_path_layer *layer = &paths->layers[l];
        int64_t known = 0;
        layer->described = 0;
        for (int64_t u = 0; u < layer->units; u++) {
            const px_bank_unit *unit = px_bank_find(bank, layer->name, u);
            known += unit != NULL;
            paths->competes[layer->offset + u] = unit && px_bank_described(unit);
            layer->described += paths->competes[layer->offset + u];
        }
        if (known == 0)
            return px_fail(err, PX_E_MISMATCH,
                           "the bank says nothing about layer '%.100s'; 'plexor describe' with "
                           "the same --layers makes one that does",
                           layer->name);
    }
    return PX_OK;
}

/* --- what runs ------------------------------------------------------------------------------- */

static px_status paths_baseline(px_paths *paths, const px_shape *sample, const px_preprocess *pre,
                                px_error *err)
{
    PX_TRY(PX_NEW(paths->baseline, paths->input_size, err));
    return paths->options.baseline == PX_PATH_BLACK
               ? px_preprocess_apply(pre, sample, paths->baseline, err)
               : PX_OK;
}

/* Floats from a sample's first to its last, both included. */
static size_t layout_span(const pxi_neuron_layout *layout)
{
    int64_t span = 1;
    for (int d = 0; d < layout->channel_rank; d++)
        span += (layout->channel[d].count - 1) * layout->channel[d].stride;
    for (int d = 0; d < layout->space_rank; d++)
        span += (layout->space[d].count - 1) * layout->space[d].stride;
    return (size_t)span;
}

/* Where the layers' values lie is the same in all sessions. */
static px_status paths_taps(px_paths *paths, const pxi_lane *lane, px_error *err)
{
    const int64_t batch = pxi_pass_batch(lane->pass);
    size_t carry = 0;
    for (size_t l = 0; l < paths->layer_count; l++) {
        pxi_path_tap *tap = &paths->taps[l];
        const px_view h = px_session_view(lane->session, tap->value);
        const px_view g = px_session_grad(lane->session, tap->value);
        PX_TRY(pxi_neuron_layout_init(&tap->values, tap->layer, &h.shape, h.stride, err));
        PX_TRY(pxi_neuron_layout_init(&tap->grads, tap->layer, &g.shape, g.stride, err));
        if (tap->values.samples < batch || tap->grads.samples < batch)
            return px_fail(err, PX_E_UNSUPPORTED,
                           "layer '%.100s' does not have a place for every input of a batch",
                           tap->layer->name);
        tap->value_span = layout_span(&tap->values);
        tap->grad_span = layout_span(&tap->grads);
        tap->carry = carry;
        carry += tap->value_span + tap->grad_span;
    }
    return PX_OK;
}

static px_status paths_lane_open(pxi_lane *lane, px_error *err)
{
    px_paths *paths = lane->context;
    pxi_path_lane *own = lane->state;
    if (lane->number == 0)
        PX_TRY(paths_taps(paths, lane, err));
    const pxi_path_tap *last = &paths->taps[paths->layer_count - 1];
    const size_t carry = last->carry + last->value_span + last->grad_span;
    const size_t points = (size_t)pxi_path_most_points(&paths->options);
    const size_t units = (size_t)paths->unit_count;
    own->carry = pxi_lane_array(lane, carry, sizeof *own->carry);
    own->sums = pxi_lane_array(lane, units, sizeof *own->sums);
    own->scores = pxi_lane_array(lane, (size_t)paths->scores.classes, sizeof *own->scores);
    own->points = pxi_lane_array(lane, points, sizeof *own->points);
    own->along = pxi_lane_array(lane, points, sizeof *own->along);
    own->step = pxi_lane_array(lane, 2 * units, sizeof *own->step);
    return PX_OK;
}

static px_status paths_pass(px_paths *paths, const px_shape *sample, const px_preprocess *pre,
                            px_error *err)
{
    const int rows = pxi_path_most_points(
        &(px_paths_options){.rule = paths->options.rule, .steps = paths->options.steps});
    const pxi_task task = {.model = paths->model,
                           .pre = pre,
                           .sample = *sample,
                           .threads = paths->options.threads,
                           .batch = pxi_probe_batch(paths->probe, paths->options.batch),
                           .max_batch = rows,
                           .even = true};
    const pxi_visitor visitor = {
        .context = paths, .state_size = sizeof(pxi_path_lane), .open = paths_lane_open};
    size_t count;
    const int *values = px_probe_values(paths->probe, &count);
    int *kept = NULL;
    PX_TRY(PX_NEW(kept, count + 1, err));
    memcpy(kept, values, count * sizeof *kept);
    kept[count] = paths->scores.value;
    bool listed = false; /* the logits may be a layer */
    for (size_t i = 0; i < count; i++)
        listed = listed || values[i] == paths->scores.value;
    px_plan_options wants = px_plan_options_default();
    wants.keep = kept;
    wants.keep_count = count + !listed;
    wants.seeds = &paths->scores.value;
    wants.seed_count = 1;
    wants.wrt = values;
    wants.wrt_count = count;
    wants.no_outputs = true;
    const px_status status = pxi_pass_open(&task, &wants, &visitor, &paths->pass, err);
    free(kept);
    return status;
}

/* --- what it is called ----------------------------------------------------------------------- */

static px_status paths_describe(px_paths *paths, const char *layers, const char *tap, px_error *err)
{
    const px_paths_options *o = &paths->options;
    px_text text = {0}, exact = {0};
    px_text_format(&text,
                   "layers=%s tap=%s: %zu layers, %lld units; %s, %d steps%s, target %s, baseline "
                   "%s",
                   layers ? layers : "stages", tap ? tap : "post", paths->layer_count,
                   (long long)paths->unit_count, px_path_rule_name(o->rule), o->steps,
                   o->rule != PX_PATH_CODE && o->most_steps > o->steps ? " and more where needed"
                                                                       : "",
                   px_path_target_name(o->target), px_path_baseline_name(o->baseline));
    char real[PX_REAL_TEXT];
    px_text_format(&exact, "%s|%s|%d|%d|%s|%s", tap ? tap : "post", px_path_rule_name(o->rule),
                   o->steps, o->rule == PX_PATH_CODE ? 0 : PX_MAX(o->most_steps, o->steps),
                   px_real_text(o->tolerance, real), px_path_target_name(o->target));
    for (size_t l = 0; l < paths->layer_count; l++)
        px_text_format(&exact, "|%s", paths->layers[l].name);
    const bool failed = px_text_failed(&text) || px_text_failed(&exact);
    paths->id =
        failed
            ? 0
            : XXH3_64bits_withSeed(px_text_get(&exact), exact.length,
                                   XXH3_64bits(paths->baseline, paths->input_size * sizeof(float)));
    px_text_done(&exact);
    paths->description = px_text_take(&text);
    return failed || !paths->description ? pxi_no_memory(err) : PX_OK;
}

static px_status paths_make(px_paths *paths, const px_shape *sample, const px_preprocess *pre,
                            px_error *err)
{
    const char *layers = paths->options.layers, *tap = paths->options.tap;
    PX_TRY(paths_check(&paths->options, pre, err));
    PX_TRY(px_model_scores(paths->model, &paths->scores, err));
    PX_TRY(pxi_sample_feed(paths->model, sample, pre && pre->channels_last, &paths->input, err));
    paths->input_size = (size_t)px_shape_count(&paths->input.shape);
    PX_TRY(paths_layers(paths, layers, tap, err));
    PX_TRY(paths_competitors(paths, err));
    PX_TRY(paths_baseline(paths, sample, pre, err));
    PX_TRY(paths_pass(paths, sample, pre, err));
    PX_TRY(paths_describe(paths, layers, tap, err));
    paths->options.layers = paths->options.tap = NULL; /* the caller's */
    return PX_OK;
}

px_status px_paths_new(const px_model *model, const px_shape *sample, const px_preprocess *pre,
                       const px_paths_options *options, px_paths **out, px_error *err)
{
    px_paths *paths = NULL;
    PX_TRY(PX_NEW(paths, 1, err));
    paths->model = model;
    paths->options = options ? *options : px_paths_options_default();
    const px_status status = paths_make(paths, sample, pre, err);
    return PX_GIVE(status, paths, out, px_paths_free);
}

void px_paths_free(px_paths *paths)
{
    if (!paths)
        return;
    pxi_pass_close(paths->pass);
    px_probe_free(paths->probe);
    free(paths->description);
    free(paths->baseline);
    free(paths->competes);
    free(paths->layers);
    free(paths->taps);
    free(paths);
}

/* --- looking at one -------------------------------------------------------------------------- */

size_t px_paths_layer_count(const px_paths *paths)
{
    return paths->layer_count;
}

const px_path_layer *px_paths_layer(const px_paths *paths, size_t i)
{
    return i < paths->layer_count ? &paths->layers[i] : NULL;
}

int64_t px_paths_unit_count(const px_paths *paths)
{
    return paths->unit_count;
}

int64_t px_paths_input_size(const px_paths *paths)
{
    return (int64_t)paths->input_size;
}

const px_scores *px_paths_scores(const px_paths *paths)
{
    return &paths->scores;
}

const px_model *px_paths_model(const px_paths *paths)
{
    return paths->model;
}

const px_bank *px_paths_bank(const px_paths *paths)
{
    return paths->options.bank;
}

const char *px_paths_describe(const px_paths *paths)
{
    return paths->description;
}

uint64_t px_paths_id(const px_paths *paths)
{
    return paths->id;
}
