/* src/check/stage_select.c - which twentieth of the inputs is worth a label
 *
 * The recommendation is DeepGini's: it needs no labels and no training data, and no selector was
 * measured to be better on unchanged inputs (docs/studies). Where there are labels, all are
 * compared by the faults they would have found.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "check/check_internal.h"

#include <internal/fault_curve.h>
#include <internal/graph.h>
#include <internal/select.h>
#include <stdlib.h>

#define SELECTION_FILE "selection.csv"
enum { SELECT_TOP = 60, SELECT_CURVE = 50 };
static const double select_percent = 5.0;
/* Numbers have no uncertainty that is read from them: what neurons do has to say it. */
static const char selectors[] = "gini,pcs,entropy,random", of_numbers[] = "internal-gini,random";

static const char *selectors_of(const px_check *c)
{
    return px_model_regression(c->model) ? of_numbers : selectors;
}

typedef struct selection {
    px_check *c;
    px_select *select;
    int64_t budget;
    int64_t *labels, *order;
    int32_t *predicted;
} selection;

static int64_t curve_at(const px_check *c, int point)
{
    return (c->count * point + SELECT_CURVE / 2) / SELECT_CURVE;
}

/* --- the result ------------------------------------------------------------------------------ */

typedef struct compared { /* a selector */
    const char *id, *title, *settings, *definition;
    px_select_facts facts;
    bool labelled;
    px_evaluation e;
    int64_t found[SELECT_CURVE + 1];
} compared;

static const px_field fdr_fields[] = {
    PX_FIELD(compared, e.fdr[0], "5", "of the first 5%", .unit = PX_SHARE),
    PX_FIELD(compared, e.fdr[1], "10", "of the first 10%", .unit = PX_SHARE),
    PX_FIELD(compared, e.fdr[2], "15", "of the first 15%", .unit = PX_SHARE),
    PX_FIELD(compared, e.fdr[3], "20", "of the first 20%", .unit = PX_SHARE),
    PX_FIELDS_END,
};

static const px_field compared_fields[] = {
    PX_FIELD(compared, id, "id", "of the selector"),
    PX_FIELD(compared, title, "title", "its name"),
    PX_FIELD(compared, settings, "settings", "that it has"),
    PX_FIELD(compared, definition, "definition", "what a neuron is to it"),
    PX_FIELD(compared, facts.unscored, "unscored", "inputs without a score"),
    PX_FIELD(compared, facts.constant, "constant", "all others have the same"),
    PX_OBJECT_OF(fdr_fields, "fdr", "share of failures among those chosen first",
                 PX_IF(compared, labelled)),
    PX_FIELD(compared, e.rauc, "rauc", "area under the failure curve, of that of the best",
             PX_IF(compared, labelled)),
    PX_FIELD(compared, e.apfd, "apfd", "average percentage of failures detected",
             PX_IF(compared, labelled)),
    PX_ARRAY(compared, found, "found", "failures among the first so many: see curve_inputs",
             PX_IF(compared, labelled)),
    PX_FIELDS_END,
};

typedef struct chosen_input {
    px_ranked ranked;
    int64_t index;
} chosen_input;

static const px_field chosen_fields[] = {
    PX_FIELD(chosen_input, ranked.index, "input", "its place in the data"),
    PX_FIELD(chosen_input, index, "index", "in the file or folder it is from"),
    PX_FIELD(chosen_input, ranked.score, "score", "the higher the sooner"),
    PX_FIELD(chosen_input, ranked.predicted, "prediction", "the network's answer"),
    PX_FIELD(chosen_input, ranked.confidence, "confidence", "its probability", .unit = PX_SHARE),
    PX_FIELDS_END,
};

typedef struct select_result {
    const char *selector, *title;
    int64_t budget, count;
    const chosen_input *top;
    size_t top_count, selector_count;
    compared *selectors;
    bool labelled;
    int64_t curve_inputs[SELECT_CURVE + 1];
} select_result;

static const px_field first_fields[] = {
    PX_FIELD(compared, e.faults, "faults", "inputs that the network gets wrong"),
    PX_FIELD(compared, e.fault_rate, "fault_rate", "their share", .unit = PX_SHARE),
    PX_FIELD(compared, e.fdr[0], "fdr", "share of failures among those to be labelled first",
             .unit = PX_SHARE),
    PX_FIELDS_END,
};

static const px_field select_fields[] = {
    PX_FIELD(select_result, selector, "selector", "the one that chooses"),
    PX_FIELD(select_result, title, "title", "its name"),
    PX_FIELD(select_result, budget, "budget", "inputs that are chosen"),
    PX_FIELD(select_result, count, "count", "of so many"),
    PX_LIST(select_result, top, top_count, chosen_fields, "top", "the first of them"),
    PX_LIST(select_result, selectors, selector_count, compared_fields, "selectors",
            "the one that chooses, and others to compare it with"),
    PX_OBJECT_AT(select_result, selectors, first_fields, "", "what the labels say of the choice",
                 PX_IF(select_result, labelled)),
    PX_ARRAY(select_result, curve_inputs, "curve_inputs", "how many are first in `found`",
             PX_IF(select_result, labelled)),
    PX_FIELDS_END,
};

/* Faults among the first so many of a ranking. */
static px_status curve_count(const selection *s, size_t i, int64_t *found, px_error *err)
{
    px_fault_curve curve = {0};
    int64_t count = 0;
    const px_ranked *ranked = px_select_ranked(s->select, i, &count);
    for (int64_t r = 0; r < count; r++)
        s->order[r] = ranked[r].index;
    PX_TRY(px_fault_curve_init(&curve, s->order, count, s->labels, s->predicted, s->c->count, err));
    for (int p = 0; p <= SELECT_CURVE; p++) {
        const int64_t t = curve_at(s->c, p);
        found[p] = t > 0 ? curve.met[PX_FAULTS][t - 1] : 0;
    }
    px_fault_curve_done(&curve);
    return PX_OK;
}

static px_status compare(const selection *s, size_t i, compared *out, px_error *err)
{
    const px_selector *selector = px_select_selector(s->select, i);
    *out = (compared){.id = selector->entry.id,
                      .title = selector->entry.title,
                      .settings = px_select_settings_text(s->select, i),
                      .definition = px_select_definition(s->select, i),
                      .facts = px_select_facts_of(s->select, i),
                      .labelled = s->c->labelled};
    if (!out->labelled)
        return PX_OK;
    PX_TRY(px_select_evaluate(s->select, i, &out->e, err));
    return curve_count(s, i, out->found, err);
}

static px_status select_write(const selection *s, px_json *out, px_error *err)
{
    const px_check *c = s->c;
    int64_t count = 0;
    chosen_input top[SELECT_TOP];
    const px_ranked *ranked = px_select_ranked(s->select, 0, &count);
    select_result result = {.selector = px_select_selector(s->select, 0)->entry.id,
                            .title = px_select_selector(s->select, 0)->entry.title,
                            .budget = s->budget,
                            .count = c->count,
                            .top = top,
                            .selector_count = px_select_count(s->select),
                            .labelled = c->labelled};
    for (int64_t r = 0; r < count && r < s->budget && r < SELECT_TOP; r++)
        top[result.top_count++] =
            (chosen_input){ranked[r], px_dataset_index(c->set, ranked[r].index)};
    for (int p = 0; p <= SELECT_CURVE; p++)
        result.curve_inputs[p] = curve_at(c, p);
    px_status status = PX_NEW(result.selectors, result.selector_count, err);
    for (size_t i = 0; i < result.selector_count && status == PX_OK; i++)
        status = compare(s, i, &result.selectors[i], err);
    if (status == PX_OK)
        px_fields_json(select_fields, &result, out);
    free(result.selectors);
    return status;
}

static px_status selection_new(selection *s, px_error *err)
{
    px_check *c = s->c;
    px_select_options options = px_select_options_default();
    options.selectors = selectors_of(c);
    options.batch = c->o.batch;
    options.seed = c->o.seed;
    options.threads = c->o.threads;
    s->budget = px_percent_count(select_percent, c->count);
    PX_TRY(PX_NEW(s->labels, c->count, err));
    PX_TRY(PX_NEW(s->order, c->count, err));
    PX_TRY(PX_NEW(s->predicted, c->count, err));
    for (int64_t i = 0; c->labelled && i < c->count; i++) {
        s->labels[i] = px_dataset_label(c->set, i);
        s->predicted[i] = (int32_t)c->predictions[i];
    }
    return px_select_new(c->model, c->set, &c->pre, &options, &s->select, err);
}

static px_status select_run(px_check *c, px_json *out, px_error *err)
{
    selection s = {.c = c};
    char *path = pxi_check_path(c, SELECTION_FILE);
    px_status status = path ? selection_new(&s, err) : pxi_no_memory(err);
    PX_THEN(status, px_select_run(s.select, pxi_check_tick, c, err));
    PX_THEN(status, px_select_save(s.select, 0, s.budget, path, err));
    PX_THEN(status, select_write(&s, out, err));
    px_select_free(s.select);
    free(s.labels);
    free(s.order);
    free(s.predicted);
    free(path);
    return status;
}

static void select_line(const px_check *c, const px_json_value *result, px_text *out)
{
    char count[PXI_COUNT_TEXT];
    const double rate = pxi_json_number(result, "fdr");
    (void)c;
    px_text_format(out, "%s inputs to label first, by %s",
                   pxi_count_text(pxi_json_int(result, "budget", 0), count),
                   pxi_json_words(result, "selector"));
    if (rate >= 0.0)
        px_text_format(out, ": %.1f%% of them are failures", 100.0 * rate);
}

static void select_command(const px_check *c, const px_json_value *result, px_text *out)
{
    (void)result;
    pxi_command(c, "select", /* range= */ false, out);
    px_text_format(out, " --by %s --budget %g%%%s", selectors_of(c), select_percent,
                   c->labelled ? " --evaluate" : "");
}

const pxi_stage pxi_stage_select = {
    .public = {.entry = {.id = "select", .title = "Selection"},
               .help = "the 5% of the inputs to label first, and what that would find"},
    .version = 1,
    .after = PXI_AFTER(eval),
    .needs = PXI_AFTER(eval),
    .passes = 1.1,
    .run = select_run,
    .files = {{SELECTION_FILE, "the inputs to label", false}},
    .gates = {PXI_GATE("fdr", "share of failures among the 5% to be labelled first", "select",
                       "fdr", "share", false)},
    .headlines = {{"selected", "budget"}, {"fdr", "fdr"}},
    .line = select_line,
    .command = select_command,
    .page = pxi_page_select,
};
