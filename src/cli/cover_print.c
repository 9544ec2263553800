/* src/cli/cover_print.c - coverage for people and for programs */
#include "cli/cli_cover.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *share_text(double value, bool share, char buffer[CLI_NUMBER_TEXT])
{
    if (isnan(value))
        snprintf(buffer, CLI_NUMBER_TEXT, "-");
    else if (share)
        snprintf(buffer, CLI_NUMBER_TEXT, "%.2f%%", 100.0 * value);
    else
        snprintf(buffer, CLI_NUMBER_TEXT, "%.6g", value);
    return buffer;
}

/* Whether all criteria are of the same neurons: then they are named once. */
static bool same_neurons(const px_cover *cover)
{
    for (size_t i = 1; i < px_cover_count(cover); i++)
        if (strcmp(px_cover_definition(cover, i), px_cover_definition(cover, 0)) != 0)
            return false;
    return px_cover_count(cover) > 0;
}

void cover_print_table(const px_cover *cover, const double *baseline)
{
    char a[CLI_NUMBER_TEXT];
    static const char *const titles[] = {"CRITERION", "VALUE", "COVERED", "TOTAL",
                                         "RANDOM",    "TIME",  "OF",      "NEURONS"};
    const bool same = same_neurons(cover);
    if (same)
        printf("%s\n", px_cover_definition(cover, 0));
    char columns[] = "lrrrrrlll";
    if (!baseline)
        memmove(&columns[1], &columns[2], sizeof columns - 2);
    columns[strlen(columns) - same] = '\0';
    cli_table *table = cli_table_new(columns);
    for (size_t i = 0; i < sizeof titles / sizeof *titles; i++)
        if ((baseline || strcmp(titles[i], "RANDOM") != 0) &&
            !(same && strcmp(titles[i], "NEURONS") == 0))
            cli_table_cell(table, "%s", titles[i]);
    cli_table_cell(table, "SETTINGS"); /* last: they may be long */
    for (size_t i = 0; i < px_cover_count(cover); i++) {
        const px_criterion *c = px_cover_criterion(cover, i);
        const px_coverage v = px_cover_value(cover, i);
        const char *settings = px_cover_settings_text(cover, i);
        cli_table_cell(table, "%s", c->id);
        cli_table_cell(table, "%s", share_text(v.value, v.total > 0, a));
        cli_table_cell(table, v.covered || v.total ? "%s" : "-", cli_number(v.covered, a));
        cli_table_cell(table, v.total ? "%s" : "-", cli_number(v.total, a));
        if (baseline)
            cli_table_cell(table, "%s", share_text(baseline[i], v.total > 0, a));
        cli_table_cell(table, "%.2f s", px_cover_seconds(cover, i, NULL));
        cli_table_cell(table, "%s", c->unit ? c->unit : "");
        if (!same)
            cli_table_cell(table, "%s", px_cover_definition(cover, i));
        cli_table_cell(table, "%s", *settings ? settings : "-");
    }
    cli_table_print_free(table, "");
    for (size_t i = 0; i < px_cover_count(cover); i++)
        if (px_cover_rejected(cover, i))
            printf("%s: %s inputs were left out: they, their neurons or scores are not finite\n",
                   px_cover_criterion(cover, i)->id, cli_number(px_cover_rejected(cover, i), a));
}

static void print_remarks(px_cover *cover, bool json)
{
    for (size_t i = 0; i < px_cover_count(cover); i++) {
        const px_criterion *c = px_cover_criterion(cover, i);
        px_text text = {0};
        if (c->remark)
            c->remark(px_cover_state(cover, i), &text);
        cli_print_remarks(c->id, px_text_get(&text), json);
        px_text_done(&text);
    }
}

/* --- per layer: one table per kind of neurons, as layers may differ
 * ------------------------------ */

static bool layer_has_value(const px_cover *cover, size_t i)
{
    return px_cover_criterion(cover, i)->layer_value != NULL;
}

static void print_layers(px_cover *cover)
{
    const size_t count = px_cover_count(cover);
    for (size_t first = 0; first < count; first++) {
        const px_extractor *rows = px_cover_extractor(cover, first);
        bool seen = !layer_has_value(cover, first);
        for (size_t i = 0; i < first; i++)
            seen |= layer_has_value(cover, i) && px_cover_extractor(cover, i) == rows;
        if (seen)
            continue;
        char *columns = calloc(count + 3, 1), a[CLI_NUMBER_TEXT];
        if (!columns)
            return;
        memset(columns, 'r', count + 2);
        columns[0] = 'l';
        size_t used = 2;
        for (size_t i = first; i < count; i++)
            used += layer_has_value(cover, i) && px_cover_extractor(cover, i) == rows;
        columns[used] = '\0';
        cli_table *table = cli_table_new(columns);
        cli_table_cell(table, "LAYER");
        cli_table_cell(table, "NEURONS");
        for (size_t i = first; i < count; i++)
            if (layer_has_value(cover, i) && px_cover_extractor(cover, i) == rows)
                cli_table_cell(table, "%s", px_cover_criterion(cover, i)->id);
        for (size_t l = 0; l < rows->layer_count; l++) {
            cli_table_cell(table, "%s", rows->layers[l].name);
            cli_table_cell(table, "%s", cli_number(rows->layers[l].count, a));
            for (size_t i = first; i < count; i++)
                if (layer_has_value(cover, i) && px_cover_extractor(cover, i) == rows) {
                    const px_coverage v =
                        px_cover_criterion(cover, i)->layer_value(px_cover_state(cover, i), l);
                    cli_table_cell(table, "%s", share_text(v.value, v.total > 0, a));
                }
        }
        printf("\n%s\n", rows->definition);
        cli_table_print_free(table, "  ");
        free(columns);
    }
}

static void print_classes(const cover_report *r)
{
    const size_t count = px_cover_count(r->cover);
    char *columns = calloc(count + 5, 1), a[CLI_NUMBER_TEXT];
    if (!columns)
        return;
    memset(columns, 'r', count + 4);
    columns[1] = 'l';
    cli_classes names = cli_classes_of(r->model, r->inputs->set);
    cli_table *table = cli_table_new(columns);
    static const char *const titles[] = {"CLASS", "NAME", "INPUTS", "WRONG"};
    for (size_t i = 0; i < 4; i++)
        cli_table_cell(table, "%s", titles[i]);
    for (size_t i = 0; i < count; i++)
        cli_table_cell(table, "%s", px_cover_criterion(r->cover, i)->id);
    for (int c = 0; c < r->classes; c++) {
        const px_cover_tally *tally = &r->class_tally[c];
        cli_table_cell(table, "%d", c);
        cli_table_cell(table, "%s", cli_class_name(&names, c, a));
        cli_table_cell(table, "%" PRId64, tally->inputs);
        cli_table_cell(table, "%" PRId64, tally->wrong);
        for (size_t i = 0; i < count; i++) {
            const bool share = px_cover_value(r->cover, i).total > 0;
            const double value =
                tally->inputs ? r->class_values[(size_t)c * count + i] : (double)NAN;
            cli_table_cell(table, "%s", share_text(value, share, a));
        }
    }
    printf("\n");
    cli_table_print_free(table, "  ");
    free(columns);
}

/* --- uncovered neurons
 * --------------------------------------------------------------------------- */

static bool *uncovered_get(px_cover *cover, size_t i)
{
    const px_criterion *c = px_cover_criterion(cover, i);
    const px_extractor *rows = px_cover_extractor(cover, i);
    bool *covered =
        c->neurons_covered && rows ? calloc((size_t)rows->width, sizeof *covered) : NULL;
    if (covered)
        c->neurons_covered(px_cover_state(cover, i), covered);
    return covered;
}

static void print_uncovered(px_cover *cover)
{
    enum { SHOWN = 20 };
    for (size_t i = 0; i < px_cover_count(cover); i++) {
        bool *covered = uncovered_get(cover, i);
        if (!covered)
            continue;
        const px_extractor *rows = px_cover_extractor(cover, i);
        int64_t missing = 0;
        for (int64_t n = 0; n < rows->width; n++)
            missing += !covered[n];
        printf("\n%s: %" PRId64 " of %" PRId64 " neurons are not covered%s\n",
               px_cover_criterion(cover, i)->id, missing, rows->width, missing ? ":" : "");
        for (size_t l = 0; l < rows->layer_count; l++) {
            const px_row_layer *layer = &rows->layers[l];
            int64_t count = 0;
            for (int64_t n = 0; n < layer->count; n++)
                count += !covered[layer->offset + n];
            if (count == 0)
                continue;
            printf("  %s:", layer->name);
            int64_t shown = 0;
            for (int64_t n = 0; n < layer->count && shown < SHOWN; n++)
                if (!covered[layer->offset + n])
                    printf("%s%" PRId64, shown++ ? "," : "", n);
            if (count > shown)
                printf(" and %" PRId64 " more (--json has them all)", count - shown);
            printf("\n");
        }
        free(covered);
    }
}

void cover_print(const cover_report *r)
{
    char a[CLI_NUMBER_TEXT], b[CLI_NUMBER_TEXT];
    printf("%s inputs", cli_number(r->tally.inputs, a));
    if (r->shards > 1)
        printf(" (part %" PRId64 " of %" PRId64 ")", r->shard, r->shards);
    printf(" of %s\n", px_dataset_describe(r->inputs->set));
    if (r->profile)
        printf("measured against %s training inputs (%s)\n",
               cli_number(px_profile_count(r->profile), a), px_profile_name(r->profile));
    printf("\n");
    cover_print_table(r->cover, r->baseline);
    print_remarks(r->cover, /* json= */ false);
    if (r->per_layer)
        print_layers(r->cover);
    if (r->classes)
        print_classes(r);
    if (r->uncovered)
        print_uncovered(r->cover);
    printf("\n");
    if (r->has_labels)
        printf("failures: %s of %s inputs are classified wrongly (%.2f%%); ",
               cli_number(r->tally.wrong, a), cli_number(r->tally.labelled, b),
               r->tally.labelled ? 100.0 * (double)r->tally.wrong / (double)r->tally.labelled
                                 : 0.0);
    printf("coverage counts what inputs set in motion, not how good they are\n");
    printf("%.1f s; the network alone: %.1f s on all workers together\n", r->seconds,
           r->tally.forward_seconds);
}

/* --- for programs
 * -------------------------------------------------------------------------------- */

void cover_json_criteria(const px_cover *cover, const double *baseline, px_json *json)
{
    px_json_object(json, "criteria");
    for (size_t i = 0; i < px_cover_count(cover); i++) {
        const px_coverage v = px_cover_value(cover, i);
        double prepare = 0.0;
        const double seconds = px_cover_seconds(cover, i, &prepare);
        px_json_object(json, px_cover_criterion(cover, i)->id);
        px_json_real(json, "value", v.value);
        px_json_int(json, "covered", v.covered);
        px_json_int(json, "total", v.total);
        px_json_real(json, "seconds", seconds);
        px_json_real(json, "prepare_seconds", prepare);
        px_json_int(json, "observed", px_cover_observed(cover, i));
        px_json_int(json, "rejected", px_cover_rejected(cover, i));
        if (baseline)
            px_json_real(json, "random", baseline[i]);
        px_json_string(json, "settings", px_cover_settings_text(cover, i));
        px_json_string(json, "neurons", px_cover_definition(cover, i));
        px_json_end(json);
    }
    px_json_end(json);
}

static void json_layers(px_cover *cover, px_json *json)
{
    px_json_object(json, "per_layer");
    for (size_t i = 0; i < px_cover_count(cover); i++) {
        const px_criterion *c = px_cover_criterion(cover, i);
        const px_extractor *rows = px_cover_extractor(cover, i);
        if (!c->layer_value)
            continue;
        px_json_object(json, c->id);
        for (size_t l = 0; l < rows->layer_count; l++) {
            const px_coverage v = c->layer_value(px_cover_state(cover, i), l);
            px_json_object(json, rows->layers[l].name);
            px_json_real(json, "value", v.value);
            px_json_int(json, "covered", v.covered);
            px_json_int(json, "total", v.total);
            px_json_end(json);
        }
        px_json_end(json);
    }
    px_json_end(json);
}

static void json_uncovered(px_cover *cover, px_json *json)
{
    px_json_object(json, "uncovered");
    for (size_t i = 0; i < px_cover_count(cover); i++) {
        bool *covered = uncovered_get(cover, i);
        if (!covered)
            continue;
        const px_extractor *rows = px_cover_extractor(cover, i);
        px_json_object(json, px_cover_criterion(cover, i)->id);
        for (size_t l = 0; l < rows->layer_count; l++) {
            px_json_array(json, rows->layers[l].name);
            for (int64_t n = 0; n < rows->layers[l].count; n++)
                if (!covered[rows->layers[l].offset + n])
                    px_json_int(json, NULL, n);
            px_json_end(json);
        }
        px_json_end(json);
        free(covered);
    }
    px_json_end(json);
}

static void json_classes(const cover_report *r, px_json *json)
{
    const size_t count = px_cover_count(r->cover);
    px_json_array(json, "per_class");
    for (int c = 0; c < r->classes; c++) {
        px_json_object(json, NULL);
        px_json_int(json, "class", c);
        px_json_int(json, "inputs", r->class_tally[c].inputs);
        px_json_int(json, "wrong", r->class_tally[c].wrong);
        for (size_t i = 0; i < count; i++)
            px_json_real(json, px_cover_criterion(r->cover, i)->id,
                         r->class_tally[c].inputs ? r->class_values[(size_t)c * count + i]
                                                  : (double)NAN);
        px_json_end(json);
    }
    px_json_end(json);
}

void cover_json(const cover_report *r, px_json *json)
{
    cli_inputs_json(r->inputs, json);
    px_json_int(json, "count", r->tally.inputs);
    if (r->shards > 1) {
        px_json_int(json, "shard", r->shard);
        px_json_int(json, "shards", r->shards);
    }
    if (r->profile) {
        px_json_string(json, "profile", px_profile_name(r->profile));
        px_json_int(json, "profile_count", px_profile_count(r->profile));
    }
    if (r->has_labels) {
        px_json_int(json, "faults", r->tally.wrong);
        px_json_real(json, "accuracy",
                     r->tally.labelled ? 1.0 - (double)r->tally.wrong / (double)r->tally.labelled
                                       : (double)NAN);
    }
    cover_json_criteria(r->cover, r->baseline, json);
    print_remarks(r->cover, /* json= */ true);
    if (r->per_layer)
        json_layers(r->cover, json);
    if (r->classes)
        json_classes(r, json);
    if (r->uncovered)
        json_uncovered(r->cover, json);
    size_t count = 0;
    const px_cover_point *points = px_cover_curve(r->cover, &count);
    if (count > 0) {
        px_json_array(json, "curve");
        for (size_t p = 0; p < count; p++) {
            px_json_object(json, NULL);
            px_json_int(json, "inputs", points[p].inputs);
            for (size_t i = 0; i < px_cover_count(r->cover); i++)
                px_json_real(json, px_cover_criterion(r->cover, i)->id, points[p].values[i]);
            px_json_end(json);
        }
        px_json_end(json);
    }
    px_json_real(json, "forward_seconds", r->tally.forward_seconds);
    px_json_real(json, "seconds", r->seconds);
}
