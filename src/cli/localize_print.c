/* src/cli/localize_print.c - suspicious neurons for people, for programs and as a chart */
#include "cli/localize_print.h"

#include "cli/cli_chart.h"
#include "cli/cli_terms.h"

#include <inttypes.h>
#include <math.h>
#include <plexor/picture.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PRINT_MOST_ROWS = 200 }; /* of the table; --json and -o have all */

void list_print_measures(void)
{
    static const char *const titles[] = {"MEASURE", "FORMULA", "WHAT IT IS", "SOURCE"};
    cli_table *table = cli_table_new("llll");
    for (size_t i = 0; i < sizeof titles / sizeof *titles; i++)
        cli_table_cell(table, "%s", titles[i]);
    for (size_t i = 0; i < px_measure_count(); i++) {
        const px_measure *m = px_measure_get(i);
        cli_table_cell(table, "%s", m->id);
        cli_table_cell(table, "%s", m->formula);
        cli_table_cell(table, "%s", m->title);
        cli_table_cell(table, "%s", m->source);
    }
    cli_table_print_free(table, "");
    printf(
        "\naf, as: inputs on which the neuron was active while the network failed, succeeded; "
        "nf, ns: not active\nF = af+nf, P = as+ns, N = F+P; a ratio 0/0 counts as 0\n"
        "besides: 'random', neurons to compare with, and 'shapley', what neurons have to do with "
        "a change of the loss\n");
}

void list_json_measures(px_json *json)
{
    px_json_array(json, "measures");
    for (size_t i = 0; i < px_measure_count(); i++) {
        const px_measure *m = px_measure_get(i);
        px_json_object(json, NULL);
        px_json_string(json, "name", m->id);
        px_json_string(json, "help", m->title);
        px_json_string(json, "formula", m->formula);
        px_json_string(json, "source", m->source);
        px_json_end(json);
    }
    px_json_end(json);
}

void localize_layers(const px_spectrum *spectrum, const px_suspicious *list, double *counts)
{
    const size_t layers = px_spectrum_layer_count(spectrum);
    memset(counts, 0, layers * sizeof *counts);
    for (size_t i = 0; i < list->count; i++)
        for (size_t l = 0; l < layers; l++)
            counts[l] += px_spectrum_layer_get(spectrum, l)->position == list->items[i].position;
}

/* --- for people
 * ---------------------------------------------------------------------------------- */

static void print_inputs(const localize_report *r)
{
    char a[CLI_NUMBER_TEXT], b[CLI_NUMBER_TEXT];
    const int64_t passed = px_spectrum_passed(r->spectrum, PX_POOLED);
    const int64_t failed = px_spectrum_failed(r->spectrum, PX_POOLED);
    const px_activity_counts active = px_spectrum_activity(r->spectrum, PX_POOLED);
    const int64_t neurons = px_spectrum_neuron_count(r->spectrum);
    printf("%s inputs, %s of them wrong (%.2f%%)%s%s\n", cli_number(passed + failed, a),
           cli_number(failed, b), 100.0 * (double)failed / (double)(passed + failed),
           r->inputs ? ": " : "", r->inputs ? px_dataset_describe(r->inputs->set) : "");
    printf("%s; active above %g\n", px_spectrum_definition(r->spectrum),
           px_spectrum_theta(r->spectrum));
    printf("%s of %s neurons are active on (almost) all inputs", cli_number(active.always, a),
           cli_number(neurons, b));
    if (active.never)
        printf(", %s on (almost) none", cli_number(active.never, a));
    printf(": they say nothing%s\n", r->all ? "" : " and are not ranked");
    if (2 * active.always > neurons)
        printf("most neurons are always active, which tells nothing apart: a higher --theta or "
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
                printf("no ranking for classes without %s input: %d", what, c);
            else
                printf(", %d", c);
        }
    if (shown)
        printf("\n");
}

/* "24.3%, 22.8-25.9": the share of wrong answers while it is active, and its interval. */
static void print_share(cli_table *table, const px_hits *hits)
{
    double low = 0.0, high = 1.0;
    const int64_t active = hits->af + hits->as;
    px_hits_interval(hits, &low, &high);
    if (active > 0)
        cli_table_cell(table, "%.1f%%, %.1f-%.1f%s", 100.0 * (double)hits->af / (double)active,
                       100.0 * low, 100.0 * high, px_hits_suspect(hits) ? " *" : "");
    else
        cli_table_cell(table, "-");
}

static void print_table(const localize_report *r, const cli_classes *names)
{
    const px_suspicious *list = r->list;
    static const char *const titles[] = {"CLASS", "NAME", "RANK", "LAYER", "NEURON",         "AS",
                                         "AF",    "NS",   "NF",   "SCORE", "WRONG IF ACTIVE"};
    const bool pooled = list->count > 0 && list->items[0].class_index == PX_POOLED;
    cli_table *table = cli_table_new(pooled ? "rlrrrrrrl" : "rlrlrrrrrrl");
    for (size_t i = pooled ? 2 : 0; i < sizeof titles / sizeof *titles; i++)
        cli_table_cell(table, "%s", titles[i]);
    for (size_t i = 0; i < list->count && i < PRINT_MOST_ROWS; i++) {
        const px_suspect *s = &list->items[i];
        char a[CLI_NUMBER_TEXT];
        if (!pooled) {
            cli_table_cell(table, "%d", s->class_index);
            cli_table_cell(table, "%s", cli_class_name(names, s->class_index, a));
        }
        cli_table_cell(table, "%" PRId64, s->rank);
        cli_table_cell(table, "%s", s->layer);
        cli_table_cell(table, "%" PRId64, s->unit);
        cli_table_cell(table, "%" PRId64, s->hits.as);
        cli_table_cell(table, "%" PRId64, s->hits.af);
        cli_table_cell(table, "%" PRId64, s->hits.ns);
        cli_table_cell(table, "%" PRId64, s->hits.nf);
        cli_table_cell(table, isnan(s->score) ? "-" : "%.6g", s->score);
        print_share(table, &s->hits);
    }
    cli_table_print_free(table, "");
    if (list->count > PRINT_MOST_ROWS)
        printf("and %zu more: -o and --json have them all\n", list->count - PRINT_MOST_ROWS);
    printf("* wrong more often while it is active than %s, beyond chance (95%% interval)\n",
           pooled ? "over all" : "over its class");
    cli_explain_heads("AS AF NS NF");
}

static void print_layers(const localize_report *r)
{
    const size_t layers = px_spectrum_layer_count(r->spectrum);
    double *counts = calloc(layers + 1, sizeof *counts);
    cli_bar *bars = calloc(layers + 1, sizeof *bars);
    char(*texts)[CLI_NUMBER_TEXT] = calloc(layers + 1, sizeof *texts);
    if (counts && bars && texts) {
        localize_layers(r->spectrum, r->list, counts);
        for (size_t l = 0; l < layers; l++) {
            snprintf(texts[l], sizeof texts[l], "%.0f (%.1f%%)", counts[l],
                     100.0 * counts[l] / (double)r->list->count);
            bars[l] = (cli_bar){px_spectrum_layer_get(r->spectrum, l)->name, counts[l], texts[l]};
        }
        printf("\nlayers of these %zu neurons, from the input\n", r->list->count);
        cli_chart_print(bars, layers, &(cli_chart_look){.indent = "  "});
    }
    free(counts);
    free(bars);
    free(texts);
}

static void print_real(cli_table *table, double value)
{
    cli_table_cell(table, isnan(value) ? "-" : "%.3f", value);
}

static void print_comparison(const localize_report *r)
{
    const size_t count = px_measure_count();
    const px_measure *own = px_measure_find(r->list->measure); /* NULL: random */
    cli_table *table = cli_table_new("lrr");
    cli_table_cell(table, "MEASURE");
    cli_table_cell(table, "OVERLAP@%" PRId64, r->k);
    cli_table_cell(table, "SPEARMAN");
    for (size_t i = 0; i < count; i++) {
        cli_table_cell(table, "%s", px_measure_get(i)->id);
        print_real(table, r->list_overlap[i]);
        print_real(table,
                   own ? r->spearman[(size_t)(own - px_measure_get(0)) * count + i] : (double)NAN);
    }
    printf("\n%s beside the others: neurons in common, and rank correlation over all neurons "
           "(means over classes; --json has all pairs)\n",
           r->list->measure);
    cli_table_print_free(table, "  ");
}

static void print_ranking(const localize_report *r, const cli_classes *names)
{
    const px_measure *measure = px_measure_find(r->list->measure);
    if (measure)
        printf("\n%s: %s\n", measure->id, measure->formula);
    else
        printf("\nrandom neurons, in the layers of those that tarantula, ochiai and dstar choose, "
               "and none of them\n");
    print_table(r, names);
    if (r->list->items[0].class_index != PX_POOLED) {
        print_unranked(r, "a failing", false, true);
        print_unranked(r, "a passing", true, false);
        print_unranked(r, "any", false, false);
    }
    if (r->list->borrowed)
        printf("%" PRId64 " of the random neurons are among those the measures choose: their "
               "layers have no others\n",
               r->list->borrowed);
    if (r->list->missing)
        printf("%" PRId64 " random neurons are missing: there are no more in those layers\n",
               r->list->missing);
    print_layers(r);
}

void localize_print(const localize_report *r)
{
    cli_classes names = cli_classes_of(r->model, r->inputs ? r->inputs->set : NULL);
    print_inputs(r);
    if (r->list)
        print_ranking(r, &names);
    if (r->lists)
        print_comparison(r);
    printf("\n%.1f s\n", r->seconds);
}

/* --- for programs
 * -------------------------------------------------------------------------------- */

static void localize_json_hits(const px_hits *hits, px_json *json)
{
    double low = 0.0, high = 1.0;
    px_hits_interval(hits, &low, &high);
    px_json_array(json, "interval"); /* of af / (af + as) */
    px_json_real(json, NULL, low);
    px_json_real(json, NULL, high);
    px_json_end(json);
    px_json_bool(json, "suspect", px_hits_suspect(hits));
    px_json_bool(json, "informative", px_hits_ranked(hits));
}

void localize_json_suspect(const px_suspect *s, px_json *json)
{
    if (s->class_index == PX_POOLED)
        px_json_null(json, "class");
    else
        px_json_int(json, "class", s->class_index);
    px_json_int(json, "rank", s->rank);
    px_json_string(json, "layer", s->layer);
    px_json_int(json, "position", s->position);
    px_json_int(json, "unit", s->unit);
    px_json_int(json, "as", s->hits.as);
    px_json_int(json, "af", s->hits.af);
    px_json_int(json, "ns", s->hits.ns);
    px_json_int(json, "nf", s->hits.nf);
    px_json_real(json, "score", s->score);
    px_json_bool(json, "infinite", isinf(s->score));
}

static void json_classes(const px_spectrum *spectrum, px_json *json)
{
    px_json_array(json, "classes");
    for (int c = 0; c < px_spectrum_classes(spectrum); c++) {
        px_json_object(json, NULL);
        px_json_int(json, "class", c);
        px_json_int(json, "passed", px_spectrum_passed(spectrum, c));
        px_json_int(json, "failed", px_spectrum_failed(spectrum, c));
        px_json_bool(json, "ranks", px_spectrum_ranks(spectrum, c));
        px_json_end(json);
    }
    px_json_end(json);
}

static void json_layers(const localize_report *r, px_json *json)
{
    const size_t layers = px_spectrum_layer_count(r->spectrum);
    double *counts = calloc(layers + 1, sizeof *counts);
    px_json_array(json, "layers");
    if (counts)
        localize_layers(r->spectrum, r->list, counts);
    for (size_t l = 0; l < layers && counts; l++) {
        const px_spectrum_layer *layer = px_spectrum_layer_get(r->spectrum, l);
        px_json_object(json, NULL);
        px_json_string(json, "name", layer->name);
        px_json_int(json, "position", layer->position);
        px_json_int(json, "neurons", layer->count);
        px_json_int(json, "suspicious", (int64_t)counts[l]);
        px_json_end(json);
    }
    px_json_end(json);
    free(counts);
}

static void json_matrix(px_json *json, const char *key, const double *matrix)
{
    const size_t count = px_measure_count();
    px_json_object(json, key);
    for (size_t i = 0; i < count; i++) {
        px_json_object(json, px_measure_get(i)->id);
        for (size_t j = 0; j < count; j++)
            px_json_real(json, px_measure_get(j)->id, matrix[i * count + j]);
        px_json_end(json);
    }
    px_json_end(json);
}

static void json_ranking(const localize_report *r, px_json *json)
{
    px_json_string(json, "measure", r->list->measure);
    px_json_real(json, "star", r->list->star);
    px_json_int(json, "k", r->k);
    px_json_bool(json, "per_class", r->list->items[0].class_index != PX_POOLED);
    px_json_array(json, "suspicious");
    for (size_t i = 0; i < r->list->count; i++) {
        px_json_object(json, NULL);
        localize_json_suspect(&r->list->items[i], json);
        localize_json_hits(&r->list->items[i].hits, json);
        px_json_end(json);
    }
    px_json_end(json);
    if (!px_measure_find(r->list->measure)) {
        px_json_int(json, "borrowed", r->list->borrowed);
        px_json_int(json, "missing", r->list->missing);
    }
    json_layers(r, json);
}

void localize_json(const localize_report *r, px_json *json)
{
    int64_t always = 0, never = 0;
    px_spectrum_extremes(r->spectrum, &always, &never);
    if (r->inputs)
        cli_inputs_json(r->inputs, json);
    px_json_int(json, "count",
                px_spectrum_passed(r->spectrum, PX_POOLED) +
                    px_spectrum_failed(r->spectrum, PX_POOLED));
    px_json_int(json, "failed", px_spectrum_failed(r->spectrum, PX_POOLED));
    px_json_string(json, "neurons", px_spectrum_definition(r->spectrum));
    px_json_int(json, "neuron_count", px_spectrum_neuron_count(r->spectrum));
    px_json_real(json, "theta", px_spectrum_theta(r->spectrum));
    px_json_int(json, "always_active", always);
    px_json_int(json, "never_active", never);
    const px_activity_counts active = px_spectrum_activity(r->spectrum, PX_POOLED);
    px_json_int(json, "almost_always_active", active.always);
    px_json_int(json, "almost_never_active", active.never);
    px_json_int(json, "uninformative", active.always + active.never);
    px_json_bool(json, "uninformative_ranked", r->all);
    json_classes(r->spectrum, json);
    if (r->list)
        json_ranking(r, json);
    if (r->lists) {
        json_matrix(json, "overlap", r->overlap);
        json_matrix(json, "spearman", r->spearman);
    }
    px_json_real(json, "seconds", r->seconds);
}

/* --- as a chart (DeepFault, Fig. 3)
 * -------------------------------------------------------------- */

static px_status plot_bars(const localize_report *r, px_plot *plot, double *counts,
                           const char **names, px_error *err)
{
    const size_t layers = px_spectrum_layer_count(r->spectrum);
    for (size_t l = 0; l < layers; l++)
        names[l] = px_spectrum_layer_get(r->spectrum, l)->name;
    PX_TRY(px_plot_groups(plot, names, layers, err));
    for (size_t i = 0; i < (r->lists ? px_measure_count() : 1); i++) {
        const px_suspicious *list = r->lists ? r->lists[i] : r->list;
        localize_layers(r->spectrum, list, counts);
        for (size_t l = 0; l < layers; l++)
            counts[l] *= 100.0 / (double)(list->count ? list->count : 1);
        PX_TRY(px_plot_bars(plot, list->measure, counts, NULL, layers, err));
    }
    return PX_OK;
}

px_status localize_plot(const localize_report *r, const char *path, px_error *err)
{
    const size_t layers = px_spectrum_layer_count(r->spectrum);
    const px_plot_options options = {
        .title = "Layers of suspicious neurons",
        .note = px_spectrum_definition(r->spectrum),
        .width = r->lists ? 1400 : 0,
        .x = {.label = "layer"},
        .y = {.label = "share of the suspicious neurons", .unit = "%"},
        .numbers = !r->lists,
    };
    double *counts = calloc(layers + 1, sizeof *counts);
    const char **names = calloc(layers + 1, sizeof *names);
    px_plot *plot = NULL;
    px_status status = counts && names ? px_plot_new(&options, &plot, err)
                                       : px_fail(err, PX_E_NOMEM, "out of memory");
    if (status == PX_OK)
        status = plot_bars(r, plot, counts, names, err);
    if (status == PX_OK)
        status = px_plot_save(plot, path, err);
    px_plot_free(plot);
    free(counts);
    free(names);
    return status;
}
