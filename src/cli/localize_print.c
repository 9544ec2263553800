/* src/cli/localize_print.c - suspicious neurons for people, for programs and as a chart */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/localize_print.h"

#include "base/memory.h"
#include "cli/cli_chart.h"
#include "cli/cli_terms.h"

#include <internal/field.h>
#include <internal/localize.h>
#include <internal/picture.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { PRINT_MOST_ROWS = 200 }; /* of the table; --json and -o have all */

void localize_report_fill(localize_report *r, const px_model *model, const px_spectrum *spectrum)
{
    const px_dataset *set = r->inputs ? r->inputs->set : NULL;
    r->origin = cli_origin_of(model, set);
    r->names = cli_classes_of(model, set);
    r->spectrum = spectrum;
    r->definition = px_spectrum_definition(spectrum);
    r->theta = px_spectrum_theta(spectrum);
    r->failed = px_spectrum_failed(spectrum, PX_POOLED);
    r->count = r->failed + px_spectrum_passed(spectrum, PX_POOLED);
    r->neurons = px_spectrum_neuron_count(spectrum);
    px_spectrum_extremes(spectrum, &r->always, &r->never);
    r->active = px_spectrum_activity(spectrum, PX_POOLED);
    r->uninformative = r->active.always + r->active.never;
}

/* --- what a result is made of ---------------------------------------------------------------- */

void localize_row_fill(localize_row *row, const px_suspect *suspect, const cli_classes *names)
{
    *row = (localize_row){.suspect = suspect, .class_index = suspect->class_index};
    if (row->class_index >= 0)
        row->class_name = cli_class_name(names, row->class_index, row->text);
}

static px_datum score_infinite(const void *score, char *text)
{
    (void)text;
    return px_datum_bool(isinf(*(const double *)score));
}

static const px_field suspect_fields[] = {
    PX_INDEX(px_suspect, class_index, "class", "null: of all classes together"),
    PX_FIELD(px_suspect, rank, "rank", "in its class, from 1", .title = "RANK"),
    PX_FIELD(px_suspect, layer, "layer", "its name", .title = "LAYER"),
    PX_FIELD(px_suspect, position, "position", "of the layer: #i of 'plexor info'"),
    PX_FIELD(px_suspect, unit, "unit", "in the layer", .title = "NEURON"),
    PX_FIELD(px_suspect, hits.as, "as", "inputs: active, and the answer is right", .title = "AS"),
    PX_FIELD(px_suspect, hits.af, "af", "active, and the answer is wrong", .title = "AF"),
    PX_FIELD(px_suspect, hits.ns, "ns", "not active, and the answer is right", .title = "NS"),
    PX_FIELD(px_suspect, hits.nf, "nf", "not active, and the answer is wrong", .title = "NF"),
    PX_FIELD(px_suspect, score, "score", "null: infinite, or a random neuron's", .title = "SCORE"),
    PX_MADE_OF(BOOL, score_infinite, px_suspect, score, "infinite", "the score is"),
    PX_FIELDS_END,
};

const px_field localize_row_fields[] = {
    PX_INDEX(localize_row, class_index, NULL, NULL, .title = "CLASS", .optional = true),
    PX_FIELD(localize_row, class_name, NULL, NULL, .title = "NAME", .optional = true),
    PX_OBJECT_AT(localize_row, suspect, suspect_fields, ""),
    PX_FIELDS_END,
};

typedef struct ranked_row {
    localize_row row;
    double interval[2];
    bool suspect, informative;
    char wrong[64];
} ranked_row;

static const void *ranked_row_get(const void *of, size_t i, void *place)
{
    const localize_report *r = of;
    ranked_row *row = place;
    if (i >= r->list->count)
        return NULL;
    const px_hits *hits = &r->list->items[i].hits;
    const int64_t active = hits->af + hits->as;
    *row = (ranked_row){.interval = {0.0, 1.0},
                        .suspect = px_hits_suspect(hits),
                        .informative = px_hits_ranked(hits),
                        .wrong = "-"};
    localize_row_fill(&row->row, &r->list->items[i], &r->names);
    px_hits_interval(hits, &row->interval[0], &row->interval[1]);
    if (active > 0)
        snprintf(row->wrong, sizeof row->wrong, "%.1f%%, %.1f-%.1f%s",
                 100.0 * (double)hits->af / (double)active, 100.0 * row->interval[0],
                 100.0 * row->interval[1], row->suspect ? " *" : "");
    return row;
}

static const px_field ranked_fields[] = {
    PX_OBJECT(ranked_row, row, localize_row_fields, ""),
    PX_ARRAY(ranked_row, interval, "interval", "95% interval of af / (af + as), low and high"),
    PX_FIELD(ranked_row, suspect, "suspect", "wrong more often while it is active, beyond chance"),
    PX_FIELD(ranked_row, informative, "informative", "it is not active almost always or never"),
    PX_CHARS(ranked_row, wrong, NULL, NULL, .title = "WRONG IF ACTIVE"),
    PX_FIELDS_END,
};

typedef struct class_row {
    int class_index;
    int64_t passed, failed;
    bool ranks;
} class_row;

static const void *class_row_get(const void *of, size_t i, void *place)
{
    const px_spectrum *s = ((const localize_report *)of)->spectrum;
    const int c = (int)i;
    if (c >= px_spectrum_classes(s))
        return NULL;
    *(class_row *)place =
        (class_row){c, px_spectrum_passed(s, c), px_spectrum_failed(s, c), px_spectrum_ranks(s, c)};
    return place;
}

static const px_field class_fields[] = {
    PX_FIELD(class_row, class_index, "class", "its number"),
    PX_FIELD(class_row, passed, "passed", "inputs of it that the network gets right"),
    PX_FIELD(class_row, failed, "failed", "inputs of it that the network gets wrong"),
    PX_FIELD(class_row, ranks, "ranks", "both are there, so that it has a ranking"),
    PX_FIELDS_END,
};

typedef struct layer_row {
    const px_spectrum_layer *layer;
    int64_t suspicious;
} layer_row;

static const void *layer_row_get(const void *of, size_t i, void *place)
{
    const localize_report *r = of;
    if (i >= px_spectrum_layer_count(r->spectrum))
        return NULL;
    const px_spectrum_layer *layer = px_spectrum_layer_get(r->spectrum, i);
    *(layer_row *)place = (layer_row){layer, px_suspicious_in_layer(r->list, layer)};
    return place;
}

static const px_field spectrum_layer_fields[] = {
    PX_FIELD(px_spectrum_layer, name, "name", "of the layer"),
    PX_FIELD(px_spectrum_layer, position, "position", "#i of 'plexor info'"),
    PX_FIELD(px_spectrum_layer, count, "neurons", "that it has"),
    PX_FIELDS_END,
};

static const px_field layer_fields[] = {
    PX_OBJECT_AT(layer_row, layer, spectrum_layer_fields, ""),
    PX_FIELD(layer_row, suspicious, "suspicious", "of its neurons, over all classes"),
    PX_FIELDS_END,
};

static bool is_random(const void *of)
{
    return !px_measure_find(((const localize_report *)of)->list->measure);
}

static const px_field list_fields[] = {
    PX_FIELD(px_suspicious, measure, "measure", "id of the measure, or random"),
    PX_FIELD(px_suspicious, star, "star", "the exponent of dstar"),
    PX_FIELDS_END,
};

static const px_field random_fields[] = {
    PX_FIELD(px_suspicious, borrowed, "borrowed", "random neurons that the measures choose too"),
    PX_FIELD(px_suspicious, missing, "missing", "random neurons that there are none for"),
    PX_FIELDS_END,
};

static const px_field ranking_fields[] = {
    PX_OBJECT_AT(localize_report, list, list_fields, ""),
    PX_FIELD(localize_report, k, "k", "neurons per class"),
    PX_FIELD(localize_report, per_class, "per_class", "or one ranking over all classes"),
    PX_LIST_MADE(ranked_row_get, ranked_fields, "suspicious", "neurons, class after class"),
    PX_OBJECT_AT(localize_report, list, random_fields, "", .when = is_random),
    PX_LIST_MADE(layer_row_get, layer_fields, "layers", "from the input"),
    PX_FIELDS_END,
};

const px_field localize_fields[] = {
    PX_OBJECT(localize_report, origin, cli_origin_fields, ""),
    PX_OBJECT_AT(localize_report, inputs, cli_inputs_fields, "", .optional = true),
    PX_FIELD(localize_report, count, "count", "inputs"),
    PX_FIELD(localize_report, failed, "failed", "inputs that the network gets wrong"),
    PX_FIELD(localize_report, definition, "neurons", "what is counted as one"),
    PX_FIELD(localize_report, neurons, "neuron_count", "that there are"),
    PX_FIELD(localize_report, theta, "theta", "a neuron is active above this"),
    PX_FIELD(localize_report, always, "always_active", "neurons: on all inputs"),
    PX_FIELD(localize_report, never, "never_active", "neurons: on no input"),
    PX_FIELD(localize_report, active.always, "almost_always_active", "on more than 99% of them"),
    PX_FIELD(localize_report, active.never, "almost_never_active", "on less than 1% of them"),
    PX_FIELD(localize_report, uninformative, "uninformative", "neurons of these two kinds"),
    PX_FIELD(localize_report, all, "uninformative_ranked", "they may be in the ranking"),
    PX_LIST_MADE(class_row_get, class_fields, "classes", "of the network"),
    PX_OBJECT_OF(ranking_fields, "", PX_IF(localize_report, list)),
    PX_FIELD(localize_report, rankings.overlap, "overlap",
             "neurons that the rankings of two measures have in common, share",
             PX_IF(localize_report, rankings.lists)),
    PX_FIELD(localize_report, rankings.spearman, "spearman",
             "rank correlation of two measures over all neurons",
             PX_IF(localize_report, rankings.lists)),
    PX_FIELD(localize_report, seconds, "seconds", "in all", .unit = "s"),
    PX_FIELDS_END,
};

/* --- for people ------------------------------------------------------------------------------ */

static void print_inputs(const localize_report *r)
{
    char a[CLI_NUMBER_TEXT], b[CLI_NUMBER_TEXT];
    cli_print("%s inputs, %s of them wrong (%.2f%%)%s%s\n", cli_number(r->count, a),
              cli_number(r->failed, b), 100.0 * (double)r->failed / (double)r->count,
              r->inputs ? ": " : "", r->inputs ? r->origin.data : "");
    cli_print("%s; active above %g\n", r->definition, r->theta);
    cli_print("%s of %s neurons are active on (almost) all inputs", cli_number(r->active.always, a),
              cli_number(r->neurons, b));
    if (r->active.never)
        cli_print(", %s on (almost) none", cli_number(r->active.never, a));
    cli_print(": they say nothing%s\n", r->all ? "" : " and are not ranked");
    if (2 * r->active.always > r->neurons)
        cli_print("most neurons are always active, which tells nothing apart: a higher --theta or "
                  "--tap pre may\n");
}

/* "no ranking for classes without a failing input: 0, 4" */
static void print_unranked(const localize_report *r, const char *what, bool failing, bool passing)
{
    int shown = 0;
    for (int c = 0; c < px_spectrum_classes(r->spectrum); c++)
        if ((px_spectrum_failed(r->spectrum, c) > 0) == failing &&
            (px_spectrum_passed(r->spectrum, c) > 0) == passing) {
            if (shown++ == 0)
                cli_print("no ranking for classes without %s input: %d", what, c);
            else
                cli_print(", %d", c);
        }
    if (shown)
        cli_print("\n");
}

static void print_layers(const localize_report *r)
{
    const size_t layers = px_spectrum_layer_count(r->spectrum);
    cli_bar *bars = calloc(layers + 1, sizeof *bars);
    char(*texts)[CLI_NUMBER_TEXT] = calloc(layers + 1, sizeof *texts);
    layer_row row;
    for (size_t l = 0; bars && texts && layer_row_get(r, l, &row); l++) {
        const double count = (double)row.suspicious;
        snprintf(texts[l], sizeof texts[l], "%.0f (%.1f%%)", count,
                 100.0 * count / (double)r->list->count);
        bars[l] = (cli_bar){row.layer->name, count, texts[l]};
    }
    if (bars && texts) {
        cli_print("\nlayers of these %zu neurons, from the input\n", r->list->count);
        cli_chart_print(bars, layers, &(cli_chart_look){.indent = "  "});
    }
    free(bars);
    free(texts);
}

typedef struct beside_row { /* a measure beside the list */
    const char *id;
    double overlap, spearman;
} beside_row;

static const void *beside_row_get(const void *of, size_t i, void *place)
{
    const localize_report *r = of;
    const px_measure *m = px_measure_get(i), *own = px_measure_find(r->list->measure);
    if (!m)
        return NULL;
    const size_t at = own ? (size_t)(own - px_measure_get(0)) * px_measure_count() + i : 0;
    *(beside_row *)place =
        (beside_row){m->entry.id, r->rankings.beside[i],
                     own ? r->rankings.spearman.values[at] : (double)NAN}; /* NaN: random */
    return place;
}

static void print_comparison(const localize_report *r)
{
    char overlap[CLI_NUMBER_TEXT];
    snprintf(overlap, sizeof overlap, "OVERLAP@%" PRId64, r->k);
    const px_field columns[] = {
        PX_FIELD(beside_row, id, NULL, NULL, .title = "MEASURE"),
        PX_FIELD(beside_row, overlap, NULL, NULL, .title = overlap, .format = "%.3f"),
        PX_FIELD(beside_row, spearman, NULL, NULL, .title = "SPEARMAN", .format = "%.3f"),
        PX_FIELDS_END,
    };
    const px_field table[] = {PX_LIST_MADE(beside_row_get, columns, "beside", NULL), PX_FIELDS_END};
    cli_print("\n%s beside the others: neurons in common, and rank correlation over all neurons "
              "(means over classes; --json has all pairs)\n",
              r->list->measure);
    cli_print_list(table, "beside", r, "  ", 0);
}

static void print_ranking(const localize_report *r)
{
    const px_measure *measure = px_measure_find(r->list->measure);
    if (measure)
        cli_print("\n%s: %s\n", measure->entry.id, measure->formula);
    else
        cli_print(
            "\nrandom neurons, in the layers of those that tarantula, ochiai and dstar choose, "
            "and none of them\n");
    if (cli_print_list(localize_fields, "suspicious", r, "", PRINT_MOST_ROWS) > PRINT_MOST_ROWS)
        cli_print("and %zu more: -o and --json have them all\n", r->list->count - PRINT_MOST_ROWS);
    cli_print("* wrong more often while it is active than %s, beyond chance (95%% interval)\n",
              r->per_class ? "over its class" : "over all");
    cli_explain_heads("AS AF NS NF");
    if (r->per_class) {
        print_unranked(r, "a failing", false, true);
        print_unranked(r, "a passing", true, false);
        print_unranked(r, "any", false, false);
    }
    if (r->list->borrowed)
        cli_print("%" PRId64 " of the random neurons are among those the measures choose: their "
                  "layers have no others\n",
                  r->list->borrowed);
    if (r->list->missing)
        cli_print("%" PRId64 " random neurons are missing: there are no more in those layers\n",
                  r->list->missing);
    print_layers(r);
}

void localize_print(const void *of)
{
    const localize_report *r = of;
    print_inputs(r);
    if (r->list)
        print_ranking(r);
    if (r->rankings.lists)
        print_comparison(r);
    cli_print("\n%.1f s\n", r->seconds);
}

/* --- as a chart (DeepFault, Fig. 3) ---------------------------------------------------------- */

static px_status plot_bars(const localize_report *r, px_plot *plot, double *counts,
                           const char **names, px_error *err)
{
    const size_t layers = px_spectrum_layer_count(r->spectrum);
    for (size_t l = 0; l < layers; l++)
        names[l] = px_spectrum_layer_get(r->spectrum, l)->name;
    PX_TRY(px_plot_groups(plot, names, layers, err));
    px_suspicious *const *lists = r->rankings.lists;
    for (size_t i = 0; i < (lists ? px_measure_count() : 1); i++) {
        const px_suspicious *list = lists ? lists[i] : r->list;
        for (size_t l = 0; l < layers; l++)
            counts[l] =
                (double)px_suspicious_in_layer(list, px_spectrum_layer_get(r->spectrum, l)) *
                (100.0 / (double)(list->count ? list->count : 1));
        PX_TRY(px_plot_bars(plot, list->measure, counts, NULL, layers, err));
    }
    return PX_OK;
}

px_status localize_plot(const localize_report *r, const char *path, px_error *err)
{
    const size_t layers = px_spectrum_layer_count(r->spectrum);
    const px_plot_options options = {
        .title = "Layers of suspicious neurons",
        .note = r->definition,
        .width = r->rankings.lists ? 1400 : 0,
        .x = {.label = "layer"},
        .y = {.label = "share of the suspicious neurons", .unit = "%"},
        .numbers = !r->rankings.lists,
    };
    double *counts = calloc(layers + 1, sizeof *counts);
    const char **names = calloc(layers + 1, sizeof *names);
    px_plot *plot = NULL;
    px_status status = counts && names ? px_plot_new(&options, &plot, err) : pxi_no_memory(err);
    PX_THEN(status, plot_bars(r, plot, counts, names, err));
    PX_THEN(status, px_plot_save(plot, path, err));
    px_plot_free(plot);
    free(counts);
    free(names);
    return status;
}
