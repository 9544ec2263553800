/* src/check/stage_cover.c - how much of the network's behaviour the inputs set in motion
 *
 * Beside it stands what as many random pictures cover: coverage is not quality.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "check/check_criteria.h"

#include <internal/cover.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { COVER_CURVE = 40, COVER_LAYERS_MOST = 400 };

/* Of covariances, which have a sum of 24 bytes per pair of neurons of a layer. */
static const double covariance_bytes = 24.0, covariance_most = 512.0 * (1 << 20);

static double cover_covariances(px_check *c)
{
    return pxi_check_covariances(c) / 2.0 * covariance_bytes;
}

void pxi_cover_announce(px_check *c)
{
    const double bytes = cover_covariances(c);
    if (bytes > covariance_most)
        pxi_check_note(
            c,
            "nlc is left out: covariances of all neurons of a layer would take %.0f MiB, "
            "more than %.0f; 'plexor cover --criteria nlc' takes them",
            bytes / (1 << 20), covariance_most / (1 << 20));
}

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

/* The values of a run as they grew, [criterion][point]; and after how many inputs. */
static px_status growth_take(const px_cover *cover, px_matrix *out, int64_t **inputs, px_error *err)
{
    const size_t criteria = px_cover_count(cover);
    double *values = NULL;
    size_t points = 0;
    const px_cover_point *curve = px_cover_curve(cover, &points);
    PX_TRY(PX_NEW(values, criteria * points + 1, err));
    *out = (px_matrix){.values = values, .rows = criteria, .columns = points};
    for (size_t i = 0; i < criteria; i++)
        for (size_t p = 0; p < points; p++)
            values[i * points + p] = curve[p].values[i];
    if (inputs)
        PX_TRY(PX_NEW(*inputs, points + 1, err));
    for (size_t p = 0; inputs && p < points; p++)
        (*inputs)[p] = curve[p].inputs;
    return PX_OK;
}

/* --- the result ------------------------------------------------------------------------------ */

typedef struct measured {
    const px_criterion *criterion;
    const px_extractor *extractor;
    px_cover *cover;
    size_t place;
    const char *id, *unit, *settings, *definition;
    px_coverage value;
    double random;
    int64_t rejected;
} measured;

static const void *measured_layer(const void *at, size_t l, void *row)
{
    const measured *m = at;
    const px_extractor *extractor = m->extractor;
    if (!m->criterion->layer_value || !extractor || !extractor->probe ||
        extractor->layer_count > COVER_LAYERS_MOST || l >= extractor->layer_count)
        return NULL;
    *(double *)row = m->criterion->layer_value(px_cover_state(m->cover, m->place), l).value;
    return row;
}

static const px_field criterion_fields[] = {
    PX_FIELD(px_criterion, entry.id, "id", "of the criterion"),
    PX_FIELD(px_criterion, entry.title, "title", "its name"),
    PX_FIELD(px_criterion, entry.source, "source", "where it was published"),
    PX_FIELDS_END,
};

static const px_field measured_fields[] = {
    PX_OBJECT_AT(measured, criterion, criterion_fields, "", "the criterion"),
    PX_FIELD(measured, settings, "settings", "that it has"),
    PX_FIELD(measured, definition, "definition", "what a neuron is to it"),
    PX_FIELD(measured, value.value, "value", "of the data; a share where something is counted"),
    PX_FIELD(measured, value.covered, "covered", "so many of ..."),
    PX_FIELD(measured, value.total, "total", "... so many; 0: nothing is counted"),
    PX_FIELD(measured, unit, "unit", "what is counted"),
    PX_FIELD(measured, random, "random", "value of as many random pictures"),
    PX_FIELD(measured, rejected, "rejected", "inputs with values that are not finite"),
    PX_VALUES_MADE(measured_layer, double, "layers", "value of each layer", .optional = true),
    PX_FIELDS_END,
};

static const px_field value_fields[] = {
    PX_FIELD(measured, id, "id", "of the criterion"),
    PX_FIELD(measured, value.value, "", "of the data"),
    PX_FIELDS_END,
};

typedef struct cover_result {
    px_cover_tally tally;
    bool labelled, profile;
    const px_extractor *extractor; /* of the layers; NULL: there are none */
    measured *criteria;
    size_t count;
    px_matrix growth, random_growth;
    int64_t *growth_inputs;
} cover_result;

typedef struct layer_row {
    const char *name, *kind;
    int64_t neurons;
} layer_row;

static const px_field layer_fields[] = {
    PX_FIELD(layer_row, name, "name", "of the layer"),
    PX_FIELD(layer_row, kind, "kind", "what it does"),
    PX_FIELD(layer_row, neurons, "neurons", "that it has"),
    PX_FIELDS_END,
};

static const void *cover_layer(const void *at, size_t l, void *row)
{
    const px_extractor *extractor = ((const cover_result *)at)->extractor;
    if (l >= extractor->layer_count)
        return NULL;
    *(layer_row *)row =
        (layer_row){.name = extractor->layers[l].name,
                    .kind = px_layer_kind_name(px_probe_layer(extractor->probe, l)->kind),
                    .neurons = extractor->layers[l].count};
    return row;
}

static const px_field extractor_fields[] = {
    PX_FIELD(px_extractor, definition, "definition", "what a neuron is here"),
    PX_FIELD(px_extractor, width, "neurons", "of all layers"),
    PX_FIELDS_END,
};

static const px_field cover_fields[] = {
    PX_FIELD(cover_result, random_growth, "random_growth", "as growth, of as many random pictures",
             PX_IF(cover_result, random_growth.rows)),
    PX_FIELD(cover_result, tally.inputs, "inputs", "that were looked at"),
    PX_FIELD(cover_result, tally.wrong, "wrong", "those that the network gets wrong",
             PX_IF(cover_result, labelled)),
    PX_FIELD(cover_result, profile, "profile", "there are ranges of training data"),
    PX_OBJECT_AT(cover_result, extractor, extractor_fields, "", "the layers",
                 PX_IF(cover_result, extractor)),
    PX_LIST_MADE(cover_layer, layer_fields, "layer_names", "the layers",
                 PX_IF(cover_result, extractor)),
    PX_LIST(cover_result, criteria, count, measured_fields, "criteria", "each with its value"),
    PX_MAP(cover_result, criteria, count, value_fields, "values", "the values by criterion"),
    PX_VALUES(cover_result, growth_inputs, growth.columns, "growth_inputs",
              "after how many inputs growth is known"),
    PX_FIELD(cover_result, growth, "growth", "values as they grew: [criterion][point]"),
    PX_FIELDS_END,
};

/* Values of as many random pictures and how they grew; nothing where the inputs are no pictures. */
static px_status cover_random(px_check *c, px_cover *cover, cover_result *out, px_error *err)
{
    const px_shape sample = px_dataset_shape(c->set);
    px_data_options options = px_data_options_default();
    px_preprocess pre = c->pre;
    px_dataset *noise = NULL;
    char spec[128];
    if (sample.rank != 3 || !px_dataset_is_8bit(c->set))
        return PX_OK;
    snprintf(spec, sizeof spec, "noise:%" PRId64 "x%" PRId64 "x%" PRId64 ":%" PRIu64, sample.dim[0],
             sample.dim[1], sample.dim[2], c->o.seed);
    options.limit = c->count;
    PX_TRY(px_dataset_open_for(&pre, px_model_input_shape(c->model), spec, &options, &noise, err));
    const px_status status = cover_observe(c, cover, noise, &pre, COVER_CURVE, NULL, err);
    px_dataset_close(noise);
    PX_TRY(status);
    PX_TRY(growth_take(cover, &out->random_growth, NULL, err));
    for (size_t i = 0; i < out->count; i++)
        out->criteria[i].random = px_cover_value(cover, i).value;
    return px_cover_reset(cover, err);
}

static void cover_take(px_cover *cover, cover_result *out)
{
    for (size_t i = 0; i < out->count; i++) {
        measured *m = &out->criteria[i];
        m->criterion = px_cover_criterion(cover, i);
        m->extractor = px_cover_extractor(cover, i);
        m->cover = cover;
        m->place = i;
        m->id = m->criterion->entry.id;
        m->unit = m->criterion->unit;
        m->settings = px_cover_settings_text(cover, i);
        m->definition = px_cover_definition(cover, i);
        m->value = px_cover_value(cover, i);
        m->rejected = px_cover_rejected(cover, i);
        /* those that read other layers than the first have no values here */
        if (!out->extractor && m->extractor && m->extractor->probe &&
            m->extractor->layer_count <= COVER_LAYERS_MOST)
            out->extractor = m->extractor;
    }
}

static px_status cover_run(px_check *c, px_json *out, px_error *err)
{
    px_cover *cover = NULL;
    PX_TRY(pxi_profile_need(c, err));
    const bool fits = cover_covariances(c) <= covariance_most;
    const px_cover_options wish = pxi_cover_wish(
        c, c->profile ? fits ? PXI_CRITERIA_ALL PXI_CRITERION_COVARIANCES : PXI_CRITERIA_ALL
           : fits     ? PXI_CRITERIA_UNTAUGHT PXI_CRITERION_COVARIANCES
                      : PXI_CRITERIA_UNTAUGHT);
    PX_TRY(px_cover_new(c->model, &c->shape, &wish, &cover, err));
    cover_result result = {
        .labelled = c->labelled, .profile = c->profile != NULL, .count = px_cover_count(cover)};
    px_status status = PX_NEW(result.criteria, result.count, err);
    for (size_t i = 0; i < result.count && status == PX_OK; i++)
        result.criteria[i].random = (double)NAN;
    PX_THEN(status, cover_random(c, cover, &result, err));
    PX_THEN(status, cover_observe(c, cover, c->set, &c->pre, COVER_CURVE, &result.tally, err));
    PX_THEN(status, growth_take(cover, &result.growth, &result.growth_inputs, err));
    if (status == PX_OK) {
        cover_take(cover, &result);
        px_fields_json(cover_fields, &result, out);
    }
    free((void *)result.growth.values);
    free((void *)result.random_growth.values);
    free(result.growth_inputs);
    free(result.criteria);
    px_cover_free(cover);
    return status;
}

static void cover_line(const px_check *c, const px_json_value *result, px_text *out)
{
    const px_json_value *criteria = pxi_json_list(result, "criteria");
    const char *definition = pxi_json_words(result, "definition");
    (void)c;
    for (size_t i = 0; criteria && i < criteria->count; i++) {
        const char *id = pxi_json_words(&criteria->items[i], "id");
        const double value = pxi_json_number(&criteria->items[i], "value");
        if (id && !isnan(value))
            px_text_format(out, "%s%s %.4g", i ? ", " : "", id, value);
    }
    if (definition)
        px_text_format(out, " (%s)", definition);
}

static void cover_command(const px_check *c, const px_json_value *result, px_text *out)
{
    const px_json_value *criteria = pxi_json_list(result, "criteria");
    pxi_command(c, "cover", /* range= */ false, out);
    px_text_add(out, " --criteria ");
    for (size_t i = 0; criteria && i < criteria->count; i++)
        px_text_format(out, "%s%s", i ? "," : "", pxi_json_words(&criteria->items[i], "id"));
    px_text_add(out, " --per-layer --baseline");
}

const pxi_stage pxi_stage_cover = {
    .public = {.entry = {.id = "cover", .title = "Coverage"},
               .help = "neuron coverage of the data, beside that of random pictures"},
    .version = 1,
    .after = PXI_AFTER(profile),
    .passes = 2.5,
    .covariances = 2.0,
    .laps = 2, /* the inputs, then random pictures */
    .run = cover_run,
    .gates = {PXI_GATE("nc", "neuron coverage", "cover", "values.nc", "share", false),
              PXI_GATE("kmnc", "k-multisection neuron coverage", "cover", "values.kmnc", "share",
                       false),
              PXI_GATE("nbc", "neuron boundary coverage", "cover", "values.nbc", "share", false),
              PXI_GATE("snac", "strong neuron activation coverage", "cover", "values.snac", "share",
                       false),
              PXI_GATE("tknc", "top-k neuron coverage", "cover", "values.tknc", "share", false)},
    .line = cover_line,
    .command = cover_command,
};
