/* src/check/stage_select.c - which twentieth of the inputs is worth a label
 *
 * The recommendation is DeepGini's: it needs no labels and no training data, and no selector was
 * measured to be better on unchanged inputs (docs/studies). Where there are labels, all are
 * compared by the faults they would have found.
 */
#include "check/check_inside.h"

#include <math.h>
#include <plexor/select.h>
#include <stdlib.h>

#define SELECTION_FILE "selection.csv"
enum { SELECT_TOP = 60, SELECT_CURVE = 50 };
static const double select_percent = 5.0;
static const char selectors[] = "gini,pcs,entropy,random";

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

/* Faults among the first so many of a ranking. */
static px_status json_curve(const selection *s, size_t i, px_json *out, px_error *err)
{
    px_fault_curve curve = {0};
    int64_t count = 0;
    const px_ranked *ranked = px_select_ranked(s->select, i, &count);
    for (int64_t r = 0; r < count; r++)
        s->order[r] = ranked[r].index;
    PX_TRY(px_fault_curve_init(&curve, s->order, count, s->labels, s->predicted, s->c->count, err));
    px_json_array(out, "found");
    for (int p = 0; p <= SELECT_CURVE; p++) {
        const int64_t t = curve_at(s->c, p);
        px_json_int(out, NULL, t > 0 ? curve.met[PX_FAULTS][t - 1] : 0);
    }
    px_json_end(out);
    px_fault_curve_done(&curve);
    return PX_OK;
}

static px_status json_selector(const selection *s, size_t i, px_json *out, px_error *err)
{
    static const char *const budgets[PX_EVALUATE_BUDGETS] = {"5", "10", "15", "20"};
    const px_selector *selector = px_select_selector(s->select, i);
    const px_select_facts facts = px_select_facts_of(s->select, i);
    px_json_object(out, NULL);
    px_json_string(out, "id", selector->id);
    px_json_string(out, "title", selector->title);
    px_json_string(out, "settings", px_select_settings_text(s->select, i));
    px_json_string(out, "definition", px_select_definition(s->select, i));
    px_json_int(out, "unscored", facts.unscored);
    px_json_bool(out, "constant", facts.constant);
    if (s->c->labelled) {
        px_evaluation e;
        PX_TRY(px_select_evaluate(s->select, i, &e, err));
        px_json_object(out, "fdr");
        for (int b = 0; b < PX_EVALUATE_BUDGETS; b++)
            px_json_real(out, budgets[b], e.fdr[b]);
        px_json_end(out);
        px_json_real(out, "rauc", e.rauc);
        px_json_real(out, "apfd", e.apfd);
        PX_TRY(json_curve(s, i, out, err));
    }
    px_json_end(out);
    return PX_OK;
}

static px_status json_compared(const selection *s, px_json *out, px_error *err)
{
    const px_check *c = s->c;
    px_json_array(out, "selectors");
    for (size_t i = 0; i < px_select_count(s->select); i++)
        PX_TRY(json_selector(s, i, out, err));
    px_json_end(out);
    if (!c->labelled)
        return PX_OK;
    px_evaluation first;
    PX_TRY(px_select_evaluate(s->select, 0, &first, err));
    px_json_int(out, "faults", first.faults);
    px_json_real(out, "fault_rate", first.fault_rate);
    px_json_real(out, "fdr", first.fdr[0]);
    px_json_array(out, "curve_inputs");
    for (int p = 0; p <= SELECT_CURVE; p++)
        px_json_int(out, NULL, curve_at(c, p));
    px_json_end(out);
    return PX_OK;
}

static void json_top(const selection *s, px_json *out)
{
    int64_t count = 0;
    const px_ranked *ranked = px_select_ranked(s->select, 0, &count);
    px_json_array(out, "top");
    for (int64_t r = 0; r < count && r < s->budget && r < SELECT_TOP; r++) {
        px_json_object(out, NULL);
        px_json_int(out, "input", ranked[r].index);
        px_json_int(out, "index", px_dataset_index(s->c->set, ranked[r].index));
        px_json_real(out, "score", ranked[r].score);
        px_json_int(out, "prediction", ranked[r].predicted);
        px_json_real(out, "confidence", (double)ranked[r].confidence);
        px_json_end(out);
    }
    px_json_end(out);
}

static px_status selection_new(selection *s, px_error *err)
{
    px_check *c = s->c;
    px_select_options options = px_select_options_default();
    options.selectors = selectors;
    options.batch = c->o.batch;
    options.seed = c->o.seed;
    options.threads = c->o.threads;
    s->budget = px_percent_count(select_percent, c->count);
    s->labels = pxi_calloc((size_t)c->count, sizeof *s->labels);
    s->order = pxi_calloc((size_t)c->count, sizeof *s->order);
    s->predicted = pxi_calloc((size_t)c->count, sizeof *s->predicted);
    if (!s->labels || !s->order || !s->predicted)
        return pxi_check_nomem(err);
    for (int64_t i = 0; c->labelled && i < c->count; i++) {
        s->labels[i] = px_dataset_label(c->set, i);
        s->predicted[i] = (int32_t)c->predictions[i];
    }
    return px_select_new(c->model, c->set, &c->pre, &options, &s->select, err);
}

static px_status select_run(px_check *c, px_json *out, px_error *err)
{
    static const char *const files[] = {SELECTION_FILE};
    selection s = {.c = c};
    char *path = pxi_check_path(c, SELECTION_FILE);
    px_status status = path ? selection_new(&s, err) : pxi_check_nomem(err);
    if (status == PX_OK)
        status = px_select_run(s.select, pxi_check_tick, c, err);
    if (status == PX_OK)
        status = px_select_save(s.select, 0, s.budget, path, err);
    if (status == PX_OK) {
        px_json_string(out, "selector", px_select_selector(s.select, 0)->id);
        px_json_string(out, "title", px_select_selector(s.select, 0)->title);
        px_json_int(out, "budget", s.budget);
        px_json_int(out, "count", c->count);
        json_top(&s, out);
        status = json_compared(&s, out, err);
    }
    if (status == PX_OK)
        status = pxi_check_files(c, files, PX_LEN(files), out, err);
    px_select_free(s.select);
    free(s.labels);
    free(s.order);
    free(s.predicted);
    free(path);
    return status;
}

const pxi_stage pxi_stage_select = {
    .public = {.id = "select",
               .title = "Selection",
               .help = "the 5% of the inputs to label first, and what that would find"},
    .version = 1,
    .after = PXI_AFTER(eval),
    .needs = PXI_AFTER(eval),
    .passes = 1.1,
    .run = select_run,
};
