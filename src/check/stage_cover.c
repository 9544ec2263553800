/* src/check/stage_cover.c - how much of the network's behaviour the inputs set in motion
 *
 * Beside it stands what as many random pictures cover: coverage is not quality.
 */
#include "check/check_criteria.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { COVER_CURVE = 40, COVER_LAYERS_MOST = 400 };

static px_status cover_observe(px_check *c, px_cover *cover, const px_dataset *set,
                               const px_preprocess *pre, size_t points, px_cover_tally *tally,
                               px_error *err)
{
    px_cover_run_options run = px_cover_run_options_default();
    run.batch = c->o.batch;
    run.curve_points = points;
    run.progress = pxi_check_tick;
    run.progress_context = c;
    return px_cover_run(cover, set, pre, &run, tally, err);
}

/* Values of as many random pictures and how they grew; nothing where the inputs are no pictures. */
static px_status cover_random(px_check *c, px_cover *cover, px_json *out, double *values,
                              px_error *err)
{
    const px_graph *graph = px_model_graph(c->model);
    const px_shape sample = px_dataset_shape(c->set);
    const size_t criteria = px_cover_count(cover);
    px_data_options options = px_data_options_default();
    px_preprocess pre = c->pre;
    px_dataset *noise = NULL;
    char spec[128];
    for (size_t i = 0; i < criteria; i++)
        values[i] = NAN;
    if (sample.rank != 3 || !px_dataset_is_8bit(c->set))
        return PX_OK;
    snprintf(spec, sizeof spec, "noise:%" PRId64 "x%" PRId64 "x%" PRId64 ":%" PRIu64, sample.dim[0],
             sample.dim[1], sample.dim[2], c->o.seed);
    options.limit = c->count;
    PX_TRY(px_dataset_open_for(&pre, &graph->values[graph->inputs[0]].shape, spec, &options, &noise,
                               err));
    const px_status status = cover_observe(c, cover, noise, &pre, COVER_CURVE, NULL, err);
    px_dataset_close(noise);
    PX_TRY(status);
    size_t points = 0;
    const px_cover_point *curve = px_cover_curve(cover, &points);
    px_json_array(out, "random_growth");
    for (size_t i = 0; i < criteria; i++) {
        values[i] = px_cover_value(cover, i).value;
        px_json_array(out, NULL);
        for (size_t p = 0; p < points; p++)
            px_json_real(out, NULL, curve[p].values[i]);
        px_json_end(out);
    }
    px_json_end(out);
    return px_cover_reset(cover, err);
}

static void json_layers(px_cover *cover, size_t i, px_json *out)
{
    const px_criterion *criterion = px_cover_criterion(cover, i);
    const px_extractor *extractor = px_cover_extractor(cover, i);
    if (!criterion->layer_value || !extractor || !extractor->probe ||
        extractor->layer_count > COVER_LAYERS_MOST)
        return;
    px_json_array(out, "layers");
    for (size_t l = 0; l < extractor->layer_count; l++)
        px_json_real(out, NULL, criterion->layer_value(px_cover_state(cover, i), l).value);
    px_json_end(out);
}

static void json_criteria(px_cover *cover, const double *random, px_json *out)
{
    px_json_array(out, "criteria");
    for (size_t i = 0; i < px_cover_count(cover); i++) {
        const px_criterion *criterion = px_cover_criterion(cover, i);
        const px_coverage value = px_cover_value(cover, i);
        px_json_object(out, NULL);
        px_json_string(out, "id", criterion->id);
        px_json_string(out, "title", criterion->title);
        px_json_string(out, "source", criterion->source);
        px_json_string(out, "settings", px_cover_settings_text(cover, i));
        px_json_string(out, "definition", px_cover_definition(cover, i));
        px_json_real(out, "value", value.value);
        px_json_int(out, "covered", value.covered);
        px_json_int(out, "total", value.total);
        px_json_string(out, "unit", criterion->unit);
        px_json_real(out, "random", random[i]);
        px_json_int(out, "rejected", px_cover_rejected(cover, i));
        json_layers(cover, i, out);
        px_json_end(out);
    }
    px_json_end(out);
}

/* By id, for gates. */
static void json_values(const px_cover *cover, px_json *out)
{
    px_json_object(out, "values");
    for (size_t i = 0; i < px_cover_count(cover); i++)
        px_json_real(out, px_cover_criterion(cover, i)->id, px_cover_value(cover, i).value);
    px_json_end(out);
}

static void json_growth(const px_cover *cover, px_json *out)
{
    size_t points = 0;
    const px_cover_point *curve = px_cover_curve(cover, &points);
    px_json_array(out, "growth_inputs");
    for (size_t p = 0; p < points; p++)
        px_json_int(out, NULL, curve[p].inputs);
    px_json_end(out);
    px_json_array(out, "growth");
    for (size_t i = 0; i < px_cover_count(cover); i++) {
        px_json_array(out, NULL);
        for (size_t p = 0; p < points; p++)
            px_json_real(out, NULL, curve[p].values[i]);
        px_json_end(out);
    }
    px_json_end(out);
}

/* The layers of the first criterion that has some; those that read others have no values here. */
static void json_layer_names(const px_cover *cover, px_json *out)
{
    for (size_t i = 0; i < px_cover_count(cover); i++) {
        const px_extractor *extractor = px_cover_extractor(cover, i);
        if (!extractor || !extractor->probe || extractor->layer_count > COVER_LAYERS_MOST)
            continue;
        px_json_string(out, "definition", extractor->definition);
        px_json_int(out, "neurons", extractor->width);
        px_json_array(out, "layer_names");
        for (size_t l = 0; l < extractor->layer_count; l++) {
            const px_layer *layer = px_probe_layer(extractor->probe, l);
            px_json_object(out, NULL);
            px_json_string(out, "name", extractor->layers[l].name);
            px_json_string(out, "kind", px_layer_kind_name(layer->kind));
            px_json_int(out, "neurons", extractor->layers[l].count);
            px_json_end(out);
        }
        px_json_end(out);
        return;
    }
}

static px_status cover_run(px_check *c, px_json *out, px_error *err)
{
    px_cover *cover = NULL;
    px_cover_tally tally = {0};
    double *random = NULL;
    PX_TRY(pxi_profile_need(c, err));
    const px_cover_options wish =
        pxi_cover_wish(c, c->profile ? PXI_CRITERIA_ALL : PXI_CRITERIA_UNTAUGHT);
    px_status status = px_cover_new(c->model, &c->shape, &wish, &cover, err);
    if (status == PX_OK && !(random = pxi_calloc(px_cover_count(cover) + 1, sizeof *random)))
        status = pxi_check_nomem(err);
    if (status == PX_OK)
        status = cover_random(c, cover, out, random, err);
    if (status == PX_OK)
        status = cover_observe(c, cover, c->set, &c->pre, COVER_CURVE, &tally, err);
    if (status == PX_OK) {
        px_json_int(out, "inputs", tally.inputs);
        if (c->labelled)
            px_json_int(out, "wrong", tally.wrong);
        px_json_bool(out, "profile", c->profile != NULL);
        json_layer_names(cover, out);
        json_criteria(cover, random, out);
        json_values(cover, out);
        json_growth(cover, out);
    }
    free(random);
    px_cover_free(cover);
    return status;
}

const pxi_stage pxi_stage_cover = {
    .public = {.id = "cover",
               .title = "Coverage",
               .help = "neuron coverage of the data, beside that of random pictures"},
    .version = 1,
    .after = PXI_AFTER(profile),
    .passes = 2.5,
    .covariances = 2.0,
    .laps = 2, /* the inputs, then random pictures */
    .run = cover_run,
};
