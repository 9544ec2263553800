/* src/cli/select_print.c - selections for people and for programs */
#include "cli/select_print.h"

#include "cli/cli_terms.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SHOWN = 10 }; /* of a ranking that goes to no file */

double select_seconds(const px_select_times *t)
{
    return t->prepare + t->learn + t->pass + t->score + t->order;
}

static const char *name_of(const select_report *r, int64_t index, char *buffer, size_t size)
{
    return px_dataset_name(r->candidates, index, buffer, size);
}

static void print_ranking(const select_report *r, size_t i)
{
    int64_t count = 0;
    const px_ranked *ranked = px_select_ranked(r->select, i, &count);
    cli_classes names = cli_classes_of(r->model, r->candidates);
    cli_table *table = cli_table_new("rrlrlr");
    static const char *const titles[] = {"RANK", "INDEX", "NAME", "SCORE", "CLASS", "CONFIDENCE"};
    count = count < r->budget ? count : r->budget;
    for (size_t k = 0; k < sizeof titles / sizeof *titles; k++)
        cli_table_cell(table, "%s", titles[k]);
    for (int64_t k = 0; k < count && k < SHOWN; k++) {
        const px_ranked *e = &ranked[k];
        char name[512], class_name[CLI_NUMBER_TEXT];
        cli_table_cell(table, "%" PRId64, k + 1);
        cli_table_cell(table, "%" PRId64, px_dataset_index(r->candidates, e->index));
        cli_table_cell(table, "%s", name_of(r, e->index, name, sizeof name));
        cli_table_cell(table, "%.6g", e->score);
        cli_table_cell(table, "%s",
                       e->predicted < 0 ? "-" : cli_class_name(&names, e->predicted, class_name));
        cli_table_cell(table, e->predicted < 0 ? "-" : "%.4f", (double)e->confidence);
    }
    printf("\n%s\n", px_select_selector(r->select, i)->id);
    cli_table_print_free(table, "  ");
    if (count > SHOWN)
        printf("  and %" PRId64 " more; -o writes all of them\n", count - SHOWN);
}

static const char *percent_text(double share, char buffer[CLI_NUMBER_TEXT])
{
    if (isnan(share))
        snprintf(buffer, CLI_NUMBER_TEXT, "-");
    else
        snprintf(buffer, CLI_NUMBER_TEXT, "%.2f%%", 100.0 * share);
    return buffer;
}

static const char *real_text(double value, char buffer[CLI_NUMBER_TEXT])
{
    snprintf(buffer, CLI_NUMBER_TEXT, isnan(value) ? "-" : "%.4f", value);
    return buffer;
}

static void print_times(const select_report *r)
{
    cli_table *table = cli_table_new("lrrrrrll");
    static const char *const titles[] = {"SELECTOR", "TIME",  "PREPARE", "LEARN",
                                         "SCORE",    "ORDER", "NEURONS", "SETTINGS"};
    for (size_t k = 0; k < sizeof titles / sizeof *titles; k++)
        cli_table_cell(table, "%s", titles[k]);
    for (size_t i = 0; i < px_select_count(r->select); i++) {
        const px_select_times t = px_select_facts_of(r->select, i).times;
        const char *settings = px_select_settings_text(r->select, i);
        const char *neurons = px_select_definition(r->select, i);
        cli_table_cell(table, "%s", px_select_selector(r->select, i)->id);
        cli_table_cell(table, "%.2f s", select_seconds(&t));
        cli_table_cell(table, "%.2f", t.prepare);
        cli_table_cell(table, "%.2f", t.learn);
        cli_table_cell(table, "%.2f", t.pass + t.score);
        cli_table_cell(table, "%.2f", t.order);
        cli_table_cell(table, "%s", neurons ? neurons : "-");
        cli_table_cell(table, "%s", *settings ? settings : "-");
    }
    cli_table_print_free(table, "");
}

static void print_evaluation(const select_report *r)
{
    char a[CLI_NUMBER_TEXT], b[CLI_NUMBER_TEXT];
    const px_evaluation *all = r->evaluations;
    cli_table *table = cli_table_new("lrrrrrrrrrrrr");
    cli_table_cell(table, "SELECTOR");
    for (size_t k = 0; k < PX_EVALUATE_BUDGETS; k++)
        cli_table_cell(table, "FDR %d%%", px_evaluate_percent[k]);
    static const char *const titles[] = {"RAUC",  "FAILURE RAUC", "APFD",     "NORMALISED",
                                         "TYPES", "PEARSON",      "SPEARMAN", "TIME"};
    for (size_t k = 0; k < sizeof titles / sizeof *titles; k++)
        cli_table_cell(table, "%s", titles[k]);
    for (size_t i = 0; i < px_select_count(r->select); i++) {
        const px_evaluation *e = &all[i];
        const px_select_times t = px_select_facts_of(r->select, i).times;
        cli_table_cell(table, "%s", px_select_selector(r->select, i)->id);
        for (size_t k = 0; k < PX_EVALUATE_BUDGETS; k++)
            cli_table_cell(table, "%s", percent_text(e->fdr[k], a));
        const double values[] = {e->rauc,       e->fault_rauc, e->apfd,      e->apfd_normalised,
                                 e->apfd_types, e->pearson.r,  e->spearman.r};
        for (size_t k = 0; k < sizeof values / sizeof *values; k++)
            cli_table_cell(table, "%s", real_text(values[k], a));
        cli_table_cell(table, "%.2f s", select_seconds(&t));
    }
    printf("\n");
    cli_table_print_free(table, "");
    printf("%s of %s candidates are classified wrongly (%s): what chance finds at any budget; "
           "%" PRId64 " kinds of failure\n",
           cli_number(all[0].faults, a), cli_number(px_dataset_count(r->candidates), b),
           percent_text(all[0].fault_rate, (char[CLI_NUMBER_TEXT]){0}), all[0].types);
    cli_explain_heads("FDR RAUC APFD NORMALISED TYPES PEARSON SPEARMAN");
    table = cli_table_new("lrrrrrrrrrr");
    cli_table_cell(table, "ACCURACY BY TENTHS");
    for (int g = 0; g < PX_EVALUATE_GROUPS; g++)
        cli_table_cell(table, "%d", g + 1);
    for (size_t i = 0; i < px_select_count(r->select); i++) {
        cli_table_cell(table, "%s", px_select_selector(r->select, i)->id);
        for (int g = 0; g < PX_EVALUATE_GROUPS; g++)
            cli_table_cell(table, "%s", percent_text(all[i].accuracy[g], a));
    }
    printf("\n");
    cli_table_print_free(table, "");
}

static void print_remarks(const select_report *r, bool json)
{
    for (size_t i = 0; i < px_select_count(r->select); i++) {
        const px_selector *x = px_select_selector(r->select, i);
        const px_select_facts facts = px_select_facts_of(r->select, i);
        px_text text = {0};
        if (facts.constant)
            px_text_add(&text, "all scores are equal: the order is that of the data\n");
        if (facts.unscored)
            px_text_format(&text, "%" PRId64 " candidates have no score and come last\n",
                           facts.unscored);
        if (x->remark)
            x->remark(px_select_prepared(r->select, i), &text);
        cli_print_remarks(x->id, px_text_get(&text), json);
        px_text_done(&text);
    }
}

void select_print(const select_report *r)
{
    char a[CLI_NUMBER_TEXT], b[CLI_NUMBER_TEXT];
    printf("%s of %s candidates: %s%s%s%s\n\n", cli_number(r->budget, a),
           cli_number(px_dataset_count(r->candidates), b), px_dataset_describe(r->candidates),
           r->mutate ? ", a mutant of each: " : "", r->mutate ? r->mutate : "",
           r->stratify ? "; in turns over the predicted classes" : "");
    print_times(r);
    if (r->evaluations)
        print_evaluation(r);
    for (size_t i = 0; !r->files && i < px_select_count(r->select); i++)
        print_ranking(r, i);
    printf("\n");
    print_remarks(r, /* json= */ false);
    printf("%.2f s in all\n", r->seconds);
}

/* --- JSON
 * --------------------------------------------------------------------------------------------- */

static void json_evaluation(const px_evaluation *e, px_json *json)
{
    px_json_object(json, "fdr");
    for (size_t k = 0; k < PX_EVALUATE_BUDGETS; k++) {
        char key[CLI_NUMBER_TEXT];
        snprintf(key, sizeof key, "%d", px_evaluate_percent[k]);
        px_json_real(json, key, e->fdr[k]);
    }
    px_json_end(json);
    px_json_real(json, "rauc", e->rauc);
    px_json_real(json, "fault_rauc", e->fault_rauc);
    px_json_real(json, "apfd", e->apfd);
    px_json_real(json, "apfd_normalised", e->apfd_normalised);
    px_json_real(json, "apfd_types", e->apfd_types);
    px_json_array(json, "accuracy_by_tenth");
    for (int g = 0; g < PX_EVALUATE_GROUPS; g++)
        px_json_real(json, NULL, e->accuracy[g]);
    px_json_end(json);
    const struct {
        const char *key;
        px_correlation c;
    } correlations[] = {{"pearson", e->pearson}, {"spearman", e->spearman}};
    for (size_t k = 0; k < 2; k++) {
        px_json_object(json, correlations[k].key);
        px_json_real(json, "r", correlations[k].c.r);
        px_json_real(json, "p", correlations[k].c.p);
        px_json_end(json);
    }
}

static void json_ranking(const select_report *r, size_t i, px_json *json)
{
    int64_t count = 0;
    const px_ranked *ranked = px_select_ranked(r->select, i, &count);
    const cli_classes names = cli_classes_of(r->model, r->candidates);
    px_json_array(json, "selected");
    for (int64_t k = 0; k < count && k < r->budget; k++) {
        char name[4096], class_name[CLI_NUMBER_TEXT];
        px_json_object(json, NULL);
        px_json_int(json, "rank", k + 1);
        px_json_int(json, "index", px_dataset_index(r->candidates, ranked[k].index));
        px_json_string(json, "name", name_of(r, ranked[k].index, name, sizeof name));
        px_json_real(json, "score", ranked[k].score);
        if (ranked[k].predicted >= 0) {
            px_json_int(json, "predicted", ranked[k].predicted);
            px_json_string(json, "predicted_name",
                           cli_class_name(&names, ranked[k].predicted, class_name));
            px_json_real(json, "confidence", (double)ranked[k].confidence);
        }
        px_json_end(json);
    }
    px_json_end(json);
}

static void json_selector(const select_report *r, size_t i, px_json *json)
{
    const px_selector *x = px_select_selector(r->select, i);
    const px_select_facts facts = px_select_facts_of(r->select, i);
    px_json_object(json, x->id);
    px_json_string(json, "settings", px_select_settings_text(r->select, i));
    if (px_select_definition(r->select, i))
        px_json_string(json, "definition", px_select_definition(r->select, i));
    px_json_real(json, "seconds", select_seconds(&facts.times));
    px_json_object(json, "times");
    px_json_real(json, "prepare", facts.times.prepare);
    px_json_real(json, "learn", facts.times.learn);
    px_json_real(json, "pass", facts.times.pass);
    px_json_real(json, "score", facts.times.score);
    px_json_real(json, "order", facts.times.order);
    px_json_real(json, "check", facts.times.check);
    px_json_end(json);
    px_json_bool(json, "constant", facts.constant);
    px_json_int(json, "unscored", facts.unscored);
    if (r->evaluations)
        json_evaluation(&r->evaluations[i], json);
    if (x->report)
        x->report(px_select_prepared(r->select, i), json);
    if (!r->files)
        json_ranking(r, i, json);
    px_json_end(json);
}

void select_json(const select_report *r, px_json *json)
{
    px_json_int(json, "count", px_dataset_count(r->candidates));
    px_json_int(json, "budget", r->budget);
    px_json_bool(json, "stratified", r->stratify);
    if (r->mutate)
        px_json_string(json, "mutate", r->mutate);
    px_json_real(json, "seconds_in_all", r->seconds);
    if (r->evaluations) {
        px_json_real(json, "fault_rate", r->evaluations[0].fault_rate);
        px_json_int(json, "faults", r->evaluations[0].faults);
        px_json_int(json, "fault_types", r->evaluations[0].types);
    }
    px_json_object(json, "selectors");
    for (size_t i = 0; i < px_select_count(r->select); i++)
        json_selector(r, i, json);
    px_json_end(json);
    print_remarks(r, /* json= */ true);
}
