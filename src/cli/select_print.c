/* src/cli/select_print.c - selections for people and for programs */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/select_print.h"

#include "cli/cli_terms.h"

#include <internal/select.h>
#include <inttypes.h>
#include <stdio.h>

enum { SHOWN = 10, NAME_MOST = 4096 }; /* of a ranking that goes to no file; of a file's name */

/* --- what a result is made of ---------------------------------------------------------------- */

typedef struct selector_row {
    const select_report *r;
    const px_selector *selector;
    const char *id, *settings, *definition, *settings_shown;
    size_t place;
    px_select_facts facts;
    double seconds, score_seconds;   /* without the check of stability; of passes and scores */
    const px_evaluation *evaluation; /* NULL: not asked for */
    bool ranks, reports;
} selector_row;

static const void *selector_get(const void *of, size_t i, void *place)
{
    const select_report *r = of;
    selector_row *row = place;
    if (i >= px_select_count(r->select))
        return NULL;
    const px_selector *selector = px_select_selector(r->select, i);
    *row = (selector_row){.r = r,
                          .selector = selector,
                          .id = selector->entry.id,
                          .settings = px_select_settings_text(r->select, i),
                          .definition = px_select_definition(r->select, i),
                          .place = i,
                          .facts = px_select_facts_of(r->select, i),
                          .evaluation = r->evaluations ? &r->evaluations[i] : NULL,
                          .ranks = !r->files,
                          .reports = selector->result != NULL};
    const px_select_times *t = &row->facts.times;
    row->settings_shown = *row->settings ? row->settings : NULL;
    row->score_seconds = t->pass + t->score;
    row->seconds = t->prepare + t->learn + t->pass + t->score + t->order;
    return row;
}

typedef struct ranked_row {
    int64_t rank, index;
    double score, confidence;
    int predicted; /* -1: none */
    bool has_class;
    const char *class_name;
    char text[CLI_NUMBER_TEXT], name[NAME_MOST];
} ranked_row;

static const void *ranked_get(const void *of, size_t i, void *place)
{
    const selector_row *selector = of;
    const select_report *r = selector->r;
    ranked_row *row = place;
    int64_t count = 0;
    const px_ranked *ranked = px_select_ranked(r->select, selector->place, &count);
    if ((int64_t)i >= count || (int64_t)i >= r->budget)
        return NULL;
    const px_ranked *e = &ranked[i];
    *row = (ranked_row){.rank = (int64_t)i + 1,
                        .index = px_dataset_index(r->candidates, e->index),
                        .score = e->score,
                        .confidence = (double)e->confidence,
                        .predicted = e->predicted,
                        .has_class = e->predicted >= 0};
    px_dataset_name(r->candidates, e->index, row->name, sizeof row->name);
    if (row->has_class)
        row->class_name = cli_class_name(&r->names, e->predicted, row->text);
    return row;
}

typedef struct budget_row {
    char percent[CLI_NUMBER_TEXT];
    double fdr;
} budget_row;

static const void *budget_get(const void *of, size_t i, void *place)
{
    budget_row *row = place;
    if (i >= PX_EVALUATE_BUDGETS)
        return NULL;
    snprintf(row->percent, sizeof row->percent, "%d", px_evaluate_percent[i]);
    row->fdr = ((const px_evaluation *)of)->fdr[i];
    return row;
}

static void write_report(const void *of, px_json *json)
{
    const selector_row *row = of;
    px_fields_json(row->selector->result, px_select_prepared(row->r->select, row->place), json);
}

static const px_field ranked_fields[] = {
    PX_FIELD(ranked_row, rank, "rank", "from 1", .title = "RANK"),
    PX_FIELD(ranked_row, index, "index", "in the data", .title = "INDEX"),
    PX_CHARS(ranked_row, name, "name", "of the input", .title = "NAME"),
    PX_FIELD(ranked_row, score, "score", "by the selector", .title = "SCORE"),
    PX_INDEX(ranked_row, predicted, "predicted", "class", .optional = true),
    PX_FIELD(ranked_row, class_name, "predicted_name", "its name", .optional = true),
    PX_FIELD(ranked_row, class_name, NULL, NULL, .title = "CLASS"),
    PX_FIELD(ranked_row, confidence, "confidence", "its probability", PX_IF(ranked_row, has_class)),
    PX_FIELD(ranked_row, confidence, NULL, NULL, .title = "CONFIDENCE", .format = "%.4f"),
    PX_FIELDS_END,
};

static const px_field budget_fields[] = {
    PX_CHARS(budget_row, percent, "percent", "of the candidates that are taken"),
    PX_FIELD(budget_row, fdr, "", "failures among them", .unit = PX_SHARE, .format = "%.2f%%"),
    PX_FIELDS_END,
};

static const px_field correlation_fields[] = {
    PX_FIELD(px_correlation, r, "r", "of accuracy and the number of the tenth"),
    PX_FIELD(px_correlation, p, "p", "its p-value"),
    PX_FIELDS_END,
};

#define COLUMN(member, name) \
    PX_FIELD(px_evaluation, member, NULL, NULL, .title = name, .format = "%.4f")
static const px_field evaluation_fields[] = {
    PX_MAP_MADE(budget_get, budget_fields, "fdr", "failures found", .title = "FDR %s%%"),
    PX_FIELD(px_evaluation, rauc, "rauc", "of kinds of failure, over the first 20%",
             .title = "RAUC", .format = "%.4f"),
    PX_FIELD(px_evaluation, fault_rauc, "fault_rauc", "of failures, over the first 20%",
             .title = "FAILURE RAUC", .format = "%.4f"),
    PX_FIELD(px_evaluation, apfd, "apfd", "how early failures come in the ranking", .title = "APFD",
             .format = "%.4f"),
    PX_FIELD(px_evaluation, apfd_normalised, "apfd_normalised", "0: the worst order, 1: the best",
             .title = "NORMALISED", .format = "%.4f"),
    PX_FIELD(px_evaluation, apfd_types, "apfd_types", "of kinds of failure", .title = "TYPES",
             .format = "%.4f"),
    PX_ARRAY(px_evaluation, accuracy, "accuracy_by_tenth",
             "of the ranking, the lowest-ranked first"),
    PX_OBJECT(px_evaluation, pearson, correlation_fields, "pearson", "correlation"),
    PX_OBJECT(px_evaluation, spearman, correlation_fields, "spearman", "rank correlation"),
    COLUMN(pearson.r, "PEARSON"),
    COLUMN(spearman.r, "SPEARMAN"),
    PX_FIELDS_END,
};
#undef COLUMN

static const px_field times_fields[] = {
    PX_FIELD(px_select_times, prepare, "prepare", "what does not depend on inputs", .unit = "s"),
    PX_FIELD(px_select_times, learn, "learn", "from training data", .unit = "s"),
    PX_FIELD(px_select_times, pass, "pass", "of the candidates", .unit = "s"),
    PX_FIELD(px_select_times, score, "score", "them", .unit = "s"),
    PX_FIELD(px_select_times, order, "order", "them", .unit = "s"),
    PX_FIELD(px_select_times, check, "check", "of stability, in no sum", .unit = "s"),
    PX_FIELDS_END,
};

static const px_field selector_fields[] = {
    PX_FIELD(selector_row, id, "selector", "its id"),
    PX_FIELD(selector_row, settings, "settings", "as --set takes them"),
    PX_FIELD(selector_row, definition, "definition", "of its neurons", .optional = true),
    PX_FIELD(selector_row, seconds, "seconds", "of selecting", .unit = "s"),
    PX_OBJECT(selector_row, facts.times, times_fields, "times", "where they went"),
    PX_FIELD(selector_row, facts.constant, "constant", "all scores are equal"),
    PX_FIELD(selector_row, facts.unscored, "unscored", "candidates without a score"),
    PX_OBJECT_AT(selector_row, evaluation, evaluation_fields, "", .optional = true),
    PX_WRITTEN(write_report, "", "what the selector itself has to say",
               PX_IF(selector_row, reports)),
    PX_LIST_MADE(ranked_get, ranked_fields, "selected", "inputs, best first",
                 PX_IF(selector_row, ranks)),
    PX_FIELDS_END,
};

static const px_field chance_fields[] = {
    PX_FIELD(px_evaluation, fault_rate, "fault_rate", "failures among all candidates",
             .unit = PX_SHARE),
    PX_FIELD(px_evaluation, faults, "faults", "these"),
    PX_FIELD(px_evaluation, types, "fault_types", "kinds of these"),
    PX_FIELDS_END,
};

const px_field select_fields[] = {
    PX_OBJECT(select_report, origin, cli_origin_fields, ""),
    PX_FIELD(select_report, count, "count", "candidates"),
    PX_FIELD(select_report, budget, "budget", "candidates that are taken"),
    PX_FIELD(select_report, stratify, "stratified", "in turns over the predicted classes"),
    PX_FIELD(select_report, mutate, "mutate", "set of mutants that are the candidates",
             .optional = true),
    PX_FIELD(select_report, seconds, "seconds_in_all", "of everything", .unit = "s"),
    PX_OBJECT_AT(select_report, evaluations, chance_fields, "", .optional = true),
    PX_MAP_MADE(selector_get, selector_fields, "selectors", "by id"),
    PX_FIELDS_END,
};

/* --- tables for people: each has the selectors as its rows ----------------------------------- */

static const px_field evaluation_columns[] = {
    PX_FIELD(selector_row, id, NULL, NULL, .title = "SELECTOR"),
    PX_OBJECT_AT(selector_row, evaluation, evaluation_fields, NULL),
    PX_FIELD(selector_row, seconds, NULL, NULL, .title = "TIME", .format = "%.2f s"),
    PX_FIELDS_END,
};

static const px_field share_cell[] = {{.kind = PX_FIELD_REAL,
                                       .size = sizeof(double),
                                       .key = "",
                                       .unit = PX_SHARE,
                                       .format = "%.2f%%"},
                                      PX_FIELDS_END};
static const px_field tenths[] = {
    {.kind = PX_FIELD_LIST,
     .fields = share_cell,
     .count = PX_EVALUATE_GROUPS,
     .title = "%s",
     PX_FIELD_PLACE(px_evaluation, accuracy[0])},
    PX_FIELDS_END,
};
static const px_field tenth_columns[] = {
    PX_FIELD(selector_row, id, NULL, NULL, .title = "ACCURACY BY TENTHS"),
    PX_OBJECT_AT(selector_row, evaluation, tenths, NULL),
    PX_FIELDS_END,
};

#define COLUMN(member, name) \
    PX_FIELD(selector_row, member, NULL, NULL, .title = name, .format = "%.2f")
static const px_field time_columns[] = {
    PX_FIELD(selector_row, id, NULL, NULL, .title = "SELECTOR"),
    PX_FIELD(selector_row, seconds, NULL, NULL, .title = "TIME", .format = "%.2f s"),
    COLUMN(facts.times.prepare, "PREPARE"),
    COLUMN(facts.times.learn, "LEARN"),
    COLUMN(score_seconds, "SCORE"),
    COLUMN(facts.times.order, "ORDER"),
    PX_FIELD(selector_row, definition, NULL, NULL, .title = "NEURONS"),
    PX_FIELD(selector_row, settings_shown, NULL, NULL, .title = "SETTINGS"),
    PX_FIELDS_END,
};
#undef COLUMN

static const px_field tables[] = {
    PX_LIST_MADE(selector_get, time_columns, "times", NULL),
    PX_LIST_MADE(selector_get, evaluation_columns, "evaluation", NULL),
    PX_LIST_MADE(selector_get, tenth_columns, "tenths", NULL),
    PX_FIELDS_END,
};

static void print_ranking(const select_report *r, size_t i)
{
    selector_row selector;
    selector_get(r, i, &selector);
    cli_print("\n%s\n", selector.id);
    const int64_t count = cli_print_list(selector_fields, "selected", &selector, "  ", SHOWN);
    if (count > SHOWN)
        cli_print("  and %" PRId64 " more; -o writes all of them\n", count - SHOWN);
}

static void print_evaluation(const select_report *r)
{
    char a[CLI_NUMBER_TEXT], b[CLI_NUMBER_TEXT];
    const px_evaluation *all = r->evaluations;
    cli_print("\n");
    cli_print_list(tables, "evaluation", r, "", 0);
    cli_print("%s of %s candidates are classified wrongly (%.2f%%): what chance finds at any "
              "budget; %" PRId64 " kinds of failure\n",
              cli_number(all[0].faults, a), cli_number(r->count, b), 100.0 * all[0].fault_rate,
              all[0].types);
    cli_explain_heads("FDR RAUC APFD NORMALISED TYPES PEARSON SPEARMAN");
    cli_print("\n");
    cli_print_list(tables, "tenths", r, "", 0);
}

void select_print_remarks(const select_report *r, bool json)
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
        cli_print_remarks(x->entry.id, px_text_get(&text), json);
        px_text_done(&text);
    }
}

void select_print(const void *of)
{
    const select_report *r = of;
    char a[CLI_NUMBER_TEXT], b[CLI_NUMBER_TEXT];
    cli_print("%s of %s candidates: %s%s%s%s\n\n", cli_number(r->budget, a),
              cli_number(r->count, b), r->origin.data, r->mutate ? ", a mutant of each: " : "",
              r->mutate ? r->mutate : "",
              r->stratify ? "; in turns over the predicted classes" : "");
    cli_print_list(tables, "times", r, "", 0);
    if (r->evaluations)
        print_evaluation(r);
    for (size_t i = 0; !r->files && i < px_select_count(r->select); i++)
        print_ranking(r, i);
    cli_print("\n");
    select_print_remarks(r, /* json= */ false);
    cli_print("%.2f s in all\n", r->seconds);
}
