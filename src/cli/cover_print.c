/* src/cli/cover_print.c - coverage for people and for programs */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/cli_cover.h"
#include "cli/cover_dpd.h"

#include <internal/cover.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* NULL: no number, which a column shows as "-". */
static const char *share_text(double value, bool share, char buffer[CLI_NUMBER_TEXT])
{
    snprintf(buffer, CLI_NUMBER_TEXT, share ? "%.2f%%" : "%.6g", share ? 100.0 * value : value);
    return isnan(value) ? NULL : buffer;
}

/* --- criteria -------------------------------------------------------------------------------- */

typedef struct criterion_row {
    const char *id, *unit, *definition, *settings;
    px_coverage v;
    double seconds, prepare, random;
    int64_t observed, rejected;
    /* for people */
    char text[2][CLI_NUMBER_TEXT];
    const char *value_shown, *random_shown, *neurons_shown, *settings_shown;
    int64_t covered_shown, total_shown;
    bool has_random, is_share;
} criterion_row;

/* Whether all criteria are of the same neurons: then they are named once. */
static bool same_neurons(const px_cover *cover)
{
    for (size_t i = 1; i < px_cover_count(cover); i++)
        if (strcmp(px_cover_definition(cover, i), px_cover_definition(cover, 0)) != 0)
            return false;
    return px_cover_count(cover) > 0;
}

static const void *criterion_row_get(const void *of, size_t i, void *place)
{
    const cover_values *from = of;
    const px_cover *cover = from->cover;
    criterion_row *row = place;
    if (i >= px_cover_count(cover))
        return NULL;
    const px_criterion *c = px_cover_criterion(cover, i);
    *row = (criterion_row){.id = c->entry.id,
                           .unit = c->unit,
                           .definition = px_cover_definition(cover, i),
                           .settings = px_cover_settings_text(cover, i),
                           .v = px_cover_value(cover, i),
                           .observed = px_cover_observed(cover, i),
                           .rejected = px_cover_rejected(cover, i),
                           .has_random = from->baseline != NULL};
    row->seconds = px_cover_seconds(cover, i, &row->prepare);
    row->random = from->baseline ? from->baseline[i] : (double)NAN;
    row->value_shown = share_text(row->v.value, row->v.total > 0, row->text[0]);
    row->random_shown = share_text(row->random, row->v.total > 0, row->text[1]);
    row->neurons_shown = same_neurons(cover) ? NULL : row->definition;
    row->settings_shown = *row->settings ? row->settings : NULL;
    row->covered_shown = row->v.covered || row->v.total ? (int64_t)row->v.covered : -1;
    row->total_shown = row->v.total ? (int64_t)row->v.total : -1;
    return row;
}

static const px_field criterion_fields[] = {
    PX_FIELD(criterion_row, id, "criterion", "its id", .title = "CRITERION"),
    PX_FIELD(criterion_row, value_shown, NULL, NULL, .title = "VALUE", .align = 'r'),
    PX_INDEX(criterion_row, covered_shown, NULL, NULL, .title = "COVERED", .format = ","),
    PX_INDEX(criterion_row, total_shown, NULL, NULL, .title = "TOTAL", .format = ","),
    PX_FIELD(criterion_row, random_shown, NULL, NULL, .title = "RANDOM", .align = 'r',
             PX_IF(criterion_row, has_random)),
    PX_FIELD(criterion_row, v.value, "value", "coverage: a share where there is a total"),
    PX_FIELD(criterion_row, v.covered, "covered", "what was set in motion"),
    PX_FIELD(criterion_row, v.total, "total", "what there is; 0: the criterion has no total"),
    PX_FIELD(criterion_row, seconds, "seconds", "of observing", .unit = "s", .title = "TIME",
             .format = "%.2f s"),
    PX_FIELD(criterion_row, unit, NULL, NULL, .title = "OF", .none = ""),
    PX_FIELD(criterion_row, prepare, "prepare_seconds", "of preparing", .unit = "s"),
    PX_FIELD(criterion_row, observed, "observed", "inputs"),
    PX_FIELD(criterion_row, rejected, "rejected", "inputs with values that are not finite"),
    PX_FIELD(criterion_row, random, "random", "value of as many random images",
             PX_IF(criterion_row, has_random)),
    PX_FIELD(criterion_row, neurons_shown, NULL, NULL, .title = "NEURONS", .optional = true),
    PX_FIELD(criterion_row, settings, "settings", "as --set takes them"),
    PX_FIELD(criterion_row, settings_shown, NULL, NULL, .title = "SETTINGS"),
    PX_FIELD(criterion_row, definition, "neurons", "which ones"),
    PX_FIELDS_END,
};

const px_field cover_values_fields[] = {
    PX_MAP_MADE(criterion_row_get, criterion_fields, "criteria", "by id"),
    PX_FIELDS_END,
};

void cover_print_table(const cover_values *values)
{
    char a[CLI_NUMBER_TEXT];
    const px_cover *cover = values->cover;
    if (same_neurons(cover))
        cli_print("%s\n", px_cover_definition(cover, 0));
    cli_print_list(cover_values_fields, "criteria", values, "", 0);
    for (size_t i = 0; i < px_cover_count(cover); i++)
        if (px_cover_rejected(cover, i))
            cli_print("%s: %s inputs were left out: they, their neurons or scores are not finite\n",
                      px_cover_criterion(cover, i)->entry.id,
                      cli_number(px_cover_rejected(cover, i), a));
}

void cover_print_remarks(px_cover *cover, bool json)
{
    for (size_t i = 0; i < px_cover_count(cover); i++) {
        const px_criterion *c = px_cover_criterion(cover, i);
        px_text text = {0};
        if (c->remark)
            c->remark(px_cover_state(cover, i), &text);
        cli_print_remarks(c->entry.id, px_text_get(&text), json);
        px_text_done(&text);
    }
}

/* One value of a criterion where it stands beside others: of a class, a layer, some inputs. */
typedef struct value_cell {
    const char *id, *shown;
    double value;
    char text[CLI_NUMBER_TEXT];
} value_cell;

static const void *value_cell_fill(value_cell *cell, const px_cover *cover, size_t i, double value)
{
    *cell = (value_cell){.id = px_cover_criterion(cover, i)->entry.id, .value = value};
    cell->shown = share_text(value, px_cover_value(cover, i).total > 0, cell->text);
    return cell;
}

static const px_field value_fields[] = {
    PX_FIELD(value_cell, id, "criterion", "its id"),
    PX_FIELD(value_cell, value, "", "coverage"),
    PX_FIELDS_END,
};
static const px_field shown_fields[] = {
    PX_FIELD(value_cell, id, "criterion", "its id"),
    PX_FIELD(value_cell, shown, "", "coverage", .align = 'r'),
    PX_FIELDS_END,
};

/* --- per layer: for people one table per kind of neurons, as layers may differ --------------- */

typedef struct layers_of { /* a criterion with values per layer, or its kind of neurons */
    px_cover *cover;
    size_t criterion;
    const char *id;
    const px_extractor *rows;
} layers_of;

typedef struct layer_row {
    const layers_of *of;
    size_t layer;
    const char *name;
    int64_t neurons;
    px_coverage v;
} layer_row;

/* Criterion i counts among those of `rows`; NULL: any. */
static bool layer_has_value(const px_cover *cover, size_t i, const px_extractor *rows)
{
    return px_cover_criterion(cover, i)->layer_value &&
           (!rows || px_cover_extractor(cover, i) == rows);
}

static const void *layers_of_get(const void *of, size_t i, void *place)
{
    px_cover *cover = ((const cover_report *)of)->values.cover;
    for (size_t k = 0; k < px_cover_count(cover); k++)
        if (layer_has_value(cover, k, NULL) && i-- == 0) {
            *(layers_of *)place = (layers_of){cover, k, px_cover_criterion(cover, k)->entry.id,
                                              px_cover_extractor(cover, k)};
            return place;
        }
    return NULL;
}

static const void *layer_row_get(const void *of, size_t l, void *place)
{
    const layers_of *layers = of;
    if (l >= layers->rows->layer_count)
        return NULL;
    const px_row_layer *layer = &layers->rows->layers[l];
    *(layer_row *)place =
        (layer_row){layers, l, layer->name, layer->count,
                    px_cover_criterion(layers->cover, layers->criterion)
                        ->layer_value(px_cover_state(layers->cover, layers->criterion), l)};
    return place;
}

static const void *layer_cell_get(const void *of, size_t i, void *place)
{
    const layer_row *row = of;
    px_cover *cover = row->of->cover;
    for (size_t k = 0; k < px_cover_count(cover); k++)
        if (layer_has_value(cover, k, row->of->rows) && i-- == 0) {
            const px_coverage v =
                px_cover_criterion(cover, k)->layer_value(px_cover_state(cover, k), row->layer);
            value_cell *cell = place;
            *cell = (value_cell){.id = px_cover_criterion(cover, k)->entry.id};
            cell->shown = share_text(v.value, v.total > 0, cell->text);
            return cell;
        }
    return NULL;
}

static const px_field layer_fields[] = {
    PX_FIELD(layer_row, name, "layer", "its name"),
    PX_FIELD(layer_row, v.value, "value", "coverage of the layer"),
    PX_FIELD(layer_row, v.covered, "covered", "what was set in motion"),
    PX_FIELD(layer_row, v.total, "total", "what there is"),
    PX_FIELDS_END,
};
static const px_field layers_fields[] = {
    PX_FIELD(layers_of, id, "criterion", "its id"),
    PX_MAP_MADE(layer_row_get, layer_fields, "", "by name"),
    PX_FIELDS_END,
};
static const px_field layer_columns[] = {
    PX_FIELD(layer_row, name, NULL, NULL, .title = "LAYER"),
    PX_FIELD(layer_row, neurons, NULL, NULL, .title = "NEURONS", .format = ","),
    PX_MAP_MADE(layer_cell_get, shown_fields, NULL, NULL, .title = "%s"),
    PX_FIELDS_END,
};
static const px_field layer_table[] = {PX_LIST_MADE(layer_row_get, layer_columns, "layers", NULL),
                                       PX_FIELDS_END};

static void print_layers(const cover_report *r)
{
    layers_of of, before;
    for (size_t i = 0; layers_of_get(r, i, &of); i++) {
        bool seen = false;
        for (size_t k = 0; k < i && layers_of_get(r, k, &before); k++)
            seen = seen || before.rows == of.rows;
        if (seen)
            continue;
        cli_print("\n%s\n", of.rows->definition);
        cli_print_list(layer_table, "layers", &of, "  ", 0);
    }
}

/* --- per class ------------------------------------------------------------------------------- */

typedef struct class_row {
    const cover_report *r;
    int index;
    const char *name;
    px_cover_tally tally;
    char text[CLI_NUMBER_TEXT];
} class_row;

static const void *class_row_get(const void *of, size_t c, void *place)
{
    const cover_report *r = of;
    const cli_classes names = cli_classes_of(r->model, r->inputs->set);
    class_row *row = place;
    if (c >= (size_t)r->classes)
        return NULL;
    *row = (class_row){.r = r, .index = (int)c, .tally = r->class_tally[c]};
    row->name = cli_class_name(&names, (int)c, row->text);
    return row;
}

static const void *class_cell_get(const void *of, size_t i, void *place)
{
    const class_row *row = of;
    const size_t count = px_cover_count(row->r->values.cover);
    if (i >= count)
        return NULL;
    return value_cell_fill(place, row->r->values.cover, i,
                           row->tally.inputs ? row->r->class_values[(size_t)row->index * count + i]
                                             : (double)NAN);
}

static const px_field class_fields[] = {
    PX_FIELD(class_row, index, "class", "its number", .title = "CLASS"),
    PX_FIELD(class_row, name, NULL, NULL, .title = "NAME"),
    PX_FIELD(class_row, tally.inputs, "inputs", "of it", .title = "INPUTS"),
    PX_FIELD(class_row, tally.wrong, "wrong", "of these, classified wrongly", .title = "WRONG"),
    PX_MAP_MADE(class_cell_get, value_fields, "", "coverage by the inputs of the class"),
    PX_MAP_MADE(class_cell_get, shown_fields, NULL, NULL, .title = "%s"),
    PX_FIELDS_END,
};

/* --- uncovered neurons ----------------------------------------------------------------------- */

static const px_field gap_layer_fields[] = {
    PX_FIELD(px_cover_gap_layer, name, "layer", "its name"),
    PX_VALUES(px_cover_gap_layer, neurons, count, "", "neurons in it"),
    PX_FIELDS_END,
};
static const px_field gap_fields[] = {
    PX_FIELD(px_cover_gap, id, "criterion", "its id"),
    PX_MAP(px_cover_gap, layers, layer_count, gap_layer_fields, "", "by name"),
    PX_FIELDS_END,
};

static void print_uncovered(const cover_report *r)
{
    enum { SHOWN = 20 };
    for (size_t i = 0; i < r->gap_count; i++) {
        const px_cover_gap *gap = &r->gaps[i];
        cli_print("\n%s: %" PRId64 " of %" PRId64 " neurons are not covered%s\n", gap->id,
                  gap->missing, gap->neurons, gap->missing ? ":" : "");
        for (size_t l = 0; l < gap->layer_count; l++) {
            const px_cover_gap_layer *layer = &gap->layers[l];
            const int64_t shown = layer->count < SHOWN ? layer->count : SHOWN;
            if (layer->count == 0)
                continue;
            cli_print("  %s:", layer->name);
            for (int64_t n = 0; n < shown; n++)
                cli_print("%s%" PRId64, n ? "," : "", layer->neurons[n]);
            if (layer->count > shown)
                cli_print(" and %" PRId64 " more (--json has them all)", layer->count - shown);
            cli_print("\n");
        }
    }
}

/* --- all of it ------------------------------------------------------------------------------- */

typedef struct curve_row {
    const px_cover *cover;
    const px_cover_point *point;
    int64_t inputs;
} curve_row;

static const void *curve_row_get(const void *of, size_t i, void *place)
{
    const px_cover *cover = ((const cover_report *)of)->values.cover;
    size_t count = 0;
    const px_cover_point *points = px_cover_curve(cover, &count);
    if (i >= count)
        return NULL;
    *(curve_row *)place = (curve_row){cover, &points[i], points[i].inputs};
    return place;
}

static const void *curve_cell_get(const void *of, size_t i, void *place)
{
    const curve_row *row = of;
    return i < px_cover_count(row->cover)
               ? value_cell_fill(place, row->cover, i, row->point->values[i])
               : NULL;
}

static const px_field curve_fields[] = {
    PX_FIELD(curve_row, inputs, "inputs", "seen so far"),
    PX_MAP_MADE(curve_cell_get, value_fields, "", "coverage by these"),
    PX_FIELDS_END,
};

static bool is_dpd(const void *of)
{
    (void)of;
    return false; /* that one has a record of its own */
}

const px_field cover_fields[] = {
    PX_OBJECT(cover_report, origin, cli_origin_fields, ""),
    PX_OBJECT_AT(cover_report, inputs, cli_inputs_fields, ""),
    PX_FIELD(cover_report, tally.inputs, "count", "inputs"),
    PX_FIELD(cover_report, shard, "shard", "which part of the data", PX_IF(cover_report, is_part)),
    PX_FIELD(cover_report, shards, "shards", "of how many", PX_IF(cover_report, is_part)),
    PX_FIELD(cover_report, profile_name, "profile", "training data that it is measured against",
             .optional = true),
    PX_FIELD(cover_report, profile_count, "profile_count", "inputs of these",
             PX_IF(cover_report, profile_name)),
    PX_FIELD(cover_report, tally.wrong, "faults", "inputs that are classified wrongly",
             PX_IF(cover_report, has_labels)),
    PX_FIELD(cover_report, accuracy, "accuracy", "of inputs with a label",
             PX_IF(cover_report, has_labels)),
    PX_OBJECT(cover_report, values, cover_values_fields, ""),
    PX_MAP_MADE(layers_of_get, layers_fields, "per_layer", "of criteria with such values",
                PX_IF(cover_report, per_layer)),
    PX_LIST_MADE(class_row_get, class_fields, "per_class", "each by its inputs alone",
                 PX_IF(cover_report, classes)),
    PX_MAP(cover_report, gaps, gap_count, gap_fields, "uncovered", "neurons, by criterion",
           PX_IF(cover_report, uncovered)),
    PX_LIST_MADE(curve_row_get, curve_fields, "curve", "how coverage grew", .optional = true),
    PX_FIELD(cover_report, tally.forward_seconds, "forward_seconds",
             "of the network alone, on all workers together", .unit = "s"),
    PX_FIELD(cover_report, seconds, "seconds", "in all", .unit = "s"),
    PX_OBJECT_OF(cover_dpd_fields, "", .when = is_dpd),
    PX_FIELDS_END,
};

void cover_print(const void *of)
{
    const cover_report *r = of;
    char a[CLI_NUMBER_TEXT], b[CLI_NUMBER_TEXT];
    cli_print("%s inputs", cli_number(r->tally.inputs, a));
    if (r->is_part)
        cli_print(" (part %" PRId64 " of %" PRId64 ")", r->shard, r->shards);
    cli_print(" of %s\n", r->origin.data);
    if (r->profile_name)
        cli_print("measured against %s training inputs (%s)\n", cli_number(r->profile_count, a),
                  r->profile_name);
    cli_print("\n");
    cover_print_table(&r->values);
    cover_print_remarks(r->values.cover, /* json= */ false);
    if (r->per_layer)
        print_layers(r);
    if (r->classes) {
        cli_print("\n");
        cli_print_list(cover_fields, "per_class", r, "  ", 0);
    }
    print_uncovered(r);
    cli_print("\n");
    if (r->has_labels)
        cli_print("failures: %s of %s inputs are classified wrongly (%.2f%%); ",
                  cli_number(r->tally.wrong, a), cli_number(r->tally.labelled, b),
                  r->tally.labelled ? 100.0 * (double)r->tally.wrong / (double)r->tally.labelled
                                    : 0.0);
    cli_print("coverage counts what inputs set in motion, not how good they are\n");
    cli_print("%.1f s; the network alone: %.1f s on all workers together\n", r->seconds,
              r->tally.forward_seconds);
}
