/* src/check/page_parts.c - evaluation, coverage, selection and quality on the page */
#include "check/label_suspects.h"
#include "check/page_inside.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHOWN_WRONG = 12, SHOWN_SUSPECTS = 24 };

static const px_json_value *list_of(const px_json_value *from, const char *key)
{
    const px_json_value *list = from ? px_json_member(from, key) : NULL;
    return list && list->kind == PX_JSON_ARRAY ? list : NULL;
}

/* --- evaluation ---------------------------------------------------------------------------------
 */

typedef struct sure {
    int64_t input;
    float confidence;
} sure;

static int sure_compare(const void *a, const void *b)
{
    const sure *x = a, *y = b;
    if (x->confidence != y->confidence)
        return x->confidence < y->confidence ? 1 : -1;
    return (x->input > y->input) - (x->input < y->input);
}

static px_status shown_input(pxi_page *p, int64_t input, px_error *err)
{
    const px_check *c = p->c;
    char name[256];
    px_json_int(&p->json, "index", px_dataset_index(c->set, input));
    px_json_string(&p->json, "name", px_dataset_name(c->set, input, name, sizeof name));
    pxi_page_class(p, "label", c->labelled ? px_dataset_label(c->set, input) : -1);
    pxi_page_class(p, "prediction", c->predictions[input]);
    px_json_real(&p->json, "confidence", (double)c->confidence[input]);
    return pxi_page_input(p, "picture", input, err);
}

/* What it gets wrong although it is sure. */
static px_status evaluation_wrong(pxi_page *p, px_error *err)
{
    const px_check *c = p->c;
    size_t wrong = 0;
    px_status status = PX_OK;
    sure *list = pxi_calloc((size_t)c->count, sizeof *list);
    if (!list)
        return pxi_check_nomem(err);
    for (int64_t i = 0; i < c->count; i++)
        if (c->predictions[i] >= 0 && px_dataset_label(c->set, i) != c->predictions[i])
            list[wrong++] = (sure){i, c->confidence[i]};
    qsort(list, wrong, sizeof *list, sure_compare);
    px_json_array(&p->json, "wrong");
    for (size_t i = 0; i < wrong && i < SHOWN_WRONG && status == PX_OK; i++) {
        px_json_object(&p->json, NULL);
        status = shown_input(p, list[i].input, err);
        px_json_end(&p->json);
    }
    px_json_end(&p->json);
    free(list);
    return status;
}

/* What is left of it under attack; of data without labels nothing can be said. */
static void evaluation_robust(pxi_page *p)
{
    const px_json_value *attack = p->c->result[PXI_STAGE_attack];
    const double accuracy = pxi_json_number(attack, "robust_accuracy");
    const char *method = pxi_json_words(attack, "method");
    char settings[80], eps[PXI_FRACTION_TEXT];
    if (!attack || !p->c->labelled || isnan(accuracy))
        return;
    snprintf(settings, sizeof settings, "%.20s, eps %s", method ? method : "attack",
             pxi_fraction_text(pxi_json_number(attack, "eps"), eps));
    px_json_object(&p->json, "robust");
    px_json_real(&p->json, "accuracy", accuracy);
    px_json_int(&p->json, "count", pxi_json_int(attack, "count", 0));
    px_json_string(&p->json, "settings", settings);
    px_json_end(&p->json);
}

static px_status evaluation_suspects(pxi_page *p, const px_json_value *eval, px_error *err)
{
    const px_json_value *suspects = px_json_member(eval, "label_suspects");
    const px_json_value *items = list_of(suspects, "items");
    px_status status = PX_OK;
    if (!items)
        return PX_OK;
    const int64_t total = pxi_json_int(suspects, "total", 0);
    const size_t shown = PX_MIN(items->count, (size_t)SHOWN_SUSPECTS);
    px_json_object(&p->json, "label_suspects");
    px_json_int(&p->json, "total", total);
    px_json_array(&p->json, "items");
    for (size_t i = 0; i < shown && status == PX_OK; i++) {
        const int64_t input = pxi_json_int(&items->items[i], "input", -1);
        if (input < 0 || input >= p->c->count)
            continue;
        px_json_object(&p->json, NULL);
        status = shown_input(p, input, err);
        px_json_real(&p->json, "given", pxi_json_number(&items->items[i], "given"));
        px_json_end(&p->json);
    }
    px_json_end(&p->json);
    if (total > (int64_t)shown) {
        char *path = pxi_page_path(p->c, PXI_SUSPECTS_FILE);
        px_json_object(&p->json, "more");
        px_json_int(&p->json, "count", total - (int64_t)shown);
        px_json_string(&p->json, "where", path);
        px_json_end(&p->json);
        free(path);
    }
    px_json_array(&p->json, "notes");
    px_json_string(&p->json, NULL, pxi_json_words(suspects, "rule"));
    px_json_end(&p->json);
    px_json_end(&p->json);
    return status;
}

static void evaluation_classes(pxi_page *p, const px_json_value *eval)
{
    static const char *const keys[] = {"class",     "count",     "correct",
                                       "predicted", "precision", "confidence"};
    const px_json_value *rows = list_of(eval, "per_class");
    px_json_array(&p->json, "per_class");
    for (size_t i = 0; rows && i < rows->count; i++) {
        px_json_object(&p->json, NULL);
        pxi_page_copy(p, &rows->items[i], keys, PX_LEN(keys));
        if (!px_json_member(&rows->items[i], "count"))
            px_json_int(&p->json, "count", 0);
        px_json_real(&p->json, "recall", pxi_json_number(&rows->items[i], "accuracy"));
        px_json_end(&p->json);
    }
    px_json_end(&p->json);
}

static void numbers(pxi_page *p, const char *key, const px_json_value *list)
{
    px_json_array(&p->json, key);
    for (size_t i = 0; list && i < list->count; i++) {
        if (list->items[i].kind == PX_JSON_NUMBER)
            px_json_real(&p->json, NULL, list->items[i].number);
        else
            px_json_null(&p->json, NULL);
    }
    px_json_end(&p->json);
}

px_status pxi_page_evaluation(pxi_page *p, px_error *err)
{
    static const char *const keys[] = {"count", "accuracy", "top5", "loss", "confidence"};
    static const char *const bin_keys[] = {"low", "high", "count", "confidence", "accuracy"};
    const px_json_value *eval = p->c->result[PXI_STAGE_eval];
    if (!eval)
        return PX_OK;
    const px_json_value *calibration = px_json_member(eval, "calibration");
    const px_json_value *bins = list_of(calibration, "bins"), *cells = list_of(eval, "confusion");
    px_json_object(&p->json, "evaluation");
    pxi_page_copy(p, eval, keys, PX_LEN(keys));
    if (list_of(eval, "interval"))
        numbers(p, "interval", list_of(eval, "interval"));
    px_json_real(&p->json, "ece", pxi_json_number(eval, "calibration.ece"));
    evaluation_classes(p, eval);
    if (bins) {
        px_json_array(&p->json, "calibration");
        for (size_t i = 0; i < bins->count; i++) {
            px_json_object(&p->json, NULL);
            pxi_page_copy(p, &bins->items[i], bin_keys, PX_LEN(bin_keys));
            px_json_end(&p->json);
        }
        px_json_end(&p->json);
    }
    if (cells) {
        px_json_array(&p->json, "confusion");
        for (size_t i = 0; i < cells->count; i++)
            numbers(p, NULL, &cells->items[i]);
        px_json_end(&p->json);
    }
    if (p->c->labelled && pxi_json_int(eval, "label_suspects.total", 0) == 0)
        PX_TRY(evaluation_wrong(p, err)); /* else they are the same inputs */
    evaluation_robust(p);
    PX_TRY(evaluation_suspects(p, eval, err));
    const int64_t lost = pxi_json_int(eval, "not_numbers", 0);
    px_json_array(&p->json, "notes");
    if (lost > 0) {
        px_text note = {0};
        px_text_format(&note, "%lld inputs have no prediction: their scores are not numbers.",
                       (long long)lost);
        px_json_string(&p->json, NULL, px_text_get(&note));
        px_text_done(&note);
    }
    px_json_end(&p->json);
    px_json_end(&p->json);
    return PX_OK;
}

/* --- coverage -----------------------------------------------------------------------------------
 */

static void coverage_criterion(pxi_page *p, const px_json_value *c, size_t layer_count)
{
    static const char *const keys[] = {"id", "title", "settings", "value", "random"};
    const px_json_value *layers = list_of(c, "layers");
    const int64_t total = pxi_json_int(c, "total", 0);
    px_json_object(&p->json, NULL);
    pxi_page_copy(p, c, keys, PX_LEN(keys));
    px_json_string(&p->json, "help", pxi_json_words(c, "definition"));
    px_json_string(&p->json, "unit", total > 0 ? "share" : "real");
    if (total > 0) {
        px_json_int(&p->json, "covered", pxi_json_int(c, "covered", 0));
        px_json_int(&p->json, "total", total);
    }
    if (layers && layers->count == layer_count)
        numbers(p, "layers", layers);
    px_json_end(&p->json);
}

static void coverage_growth(pxi_page *p, const px_json_value *cover)
{
    const px_json_value *criteria = list_of(cover, "criteria");
    const px_json_value *inputs = list_of(cover, "growth_inputs");
    const px_json_value *growth = list_of(cover, "growth");
    const px_json_value *random = list_of(cover, "random_growth");
    if (!criteria || !inputs || !growth)
        return;
    px_json_array(&p->json, "growth");
    for (size_t i = 0; i < criteria->count && i < growth->count; i++) {
        const px_json_value *own = &growth->items[i];
        const px_json_value *other = random && i < random->count ? &random->items[i] : NULL;
        const char *id = pxi_json_words(&criteria->items[i], "id");
        if (own->kind != PX_JSON_ARRAY || own->count != inputs->count)
            continue;
        px_json_object(&p->json, NULL);
        px_json_string(&p->json, "criterion", id);
        px_json_string(&p->json, "x_title", "inputs");
        px_json_string(&p->json, "y_title", "covered");
        px_json_string(&p->json, "y_unit",
                       pxi_json_int(&criteria->items[i], "total", 0) > 0 ? "share" : "real");
        numbers(p, "x", inputs);
        px_json_array(&p->json, "series");
        for (int k = 0; k < 2; k++) {
            const px_json_value *line = k ? other : own;
            if (!line || line->kind != PX_JSON_ARRAY || line->count != inputs->count)
                continue;
            px_json_object(&p->json, NULL);
            px_json_string(&p->json, "name", k ? "random pictures" : "the data");
            px_json_string(&p->json, "role", k ? "random" : "main");
            numbers(p, "y", line);
            px_json_end(&p->json);
        }
        px_json_end(&p->json);
        px_json_end(&p->json);
    }
    px_json_end(&p->json);
}

void pxi_page_coverage(pxi_page *p)
{
    static const char *const keys[] = {"definition", "inputs", "neurons"};
    static const char *const layer_keys[] = {"name", "kind", "neurons"};
    const px_json_value *cover = p->c->result[PXI_STAGE_cover];
    const px_json_value *criteria = list_of(cover, "criteria");
    const px_json_value *layers = list_of(cover, "layer_names");
    if (!criteria)
        return;
    px_json_object(&p->json, "coverage");
    pxi_page_copy(p, cover, keys, PX_LEN(keys));
    px_json_array(&p->json, "layers");
    for (size_t i = 0; layers && i < layers->count; i++) {
        px_json_object(&p->json, NULL);
        pxi_page_copy(p, &layers->items[i], layer_keys, PX_LEN(layer_keys));
        px_json_end(&p->json);
    }
    px_json_end(&p->json);
    px_json_array(&p->json, "criteria");
    for (size_t i = 0; i < criteria->count; i++)
        coverage_criterion(p, &criteria->items[i], layers ? layers->count : 0);
    px_json_end(&p->json);
    coverage_growth(p, cover);
    px_json_array(&p->json, "notes");
    if (!p->c->result[PXI_STAGE_profile])
        px_json_string(&p->json, NULL,
                       "Without training data, criteria that measure against ranges are left "
                       "out: kmnc, nbc, snac.");
    px_json_end(&p->json);
    px_json_end(&p->json);
}

/* --- selection ----------------------------------------------------------------------------------
 */

px_status pxi_page_selection(pxi_page *p, px_error *err)
{
    static const char *const keys[] = {"selector", "title", "budget", "count", "fault_rate"};
    const px_json_value *select = p->c->result[PXI_STAGE_select];
    const px_json_value *top = list_of(select, "top");
    px_status status = PX_OK;
    if (!select || !top || p->c->labelled) /* where all have labels there is nothing to choose */
        return PX_OK;
    px_json_object(&p->json, "selection");
    pxi_page_copy(p, select, keys, PX_LEN(keys));
    px_json_array(&p->json, "top");
    for (size_t i = 0; i < top->count && status == PX_OK; i++) {
        const int64_t input = pxi_json_int(&top->items[i], "input", -1);
        if (input < 0 || input >= p->c->count)
            continue;
        px_json_object(&p->json, NULL);
        status = shown_input(p, input, err);
        px_json_real(&p->json, "score", pxi_json_number(&top->items[i], "score"));
        px_json_end(&p->json);
    }
    px_json_end(&p->json);
    const int64_t more = pxi_json_int(select, "budget", 0) - (int64_t)top->count;
    if (more > 0) {
        char *path = pxi_page_path(p->c, "selection.csv");
        px_json_object(&p->json, "more");
        px_json_int(&p->json, "count", more);
        px_json_string(&p->json, "where", path);
        px_json_end(&p->json);
        free(path);
    }
    px_json_end(&p->json);
    return status;
}

/* --- quality ------------------------------------------------------------------------------------
 */

void pxi_page_quality(pxi_page *p)
{
    static const char *const keys[] = {"id", "title", "definition", "better"};
    static const char *const value_keys[] = {"value", "n", "why"};
    const px_json_value *sets = list_of(p->c->result[PXI_STAGE_assess], "sets");
    if (!sets || sets->count == 0)
        return;
    const px_json_value *first = list_of(&sets->items[0], "values");
    px_json_object(&p->json, "quality");
    px_json_array(&p->json, "metrics");
    for (size_t i = 0; first && i < first->count; i++) {
        px_json_object(&p->json, NULL);
        pxi_page_copy(p, &first->items[i], keys, PX_LEN(keys));
        px_json_end(&p->json);
    }
    px_json_end(&p->json);
    px_json_array(&p->json, "sets");
    for (size_t s = 0; s < sets->count; s++) {
        const px_json_value *values = list_of(&sets->items[s], "values");
        px_json_object(&p->json, NULL);
        px_json_string(&p->json, "name", pxi_json_words(&sets->items[s], "name"));
        px_json_int(&p->json, "pairs", pxi_json_int(&sets->items[s], "pairs", 0));
        px_json_array(&p->json, "values");
        for (size_t i = 0; values && i < values->count; i++) {
            px_json_object(&p->json, NULL);
            pxi_page_copy(p, &values->items[i], value_keys, PX_LEN(value_keys));
            px_json_end(&p->json);
        }
        px_json_end(&p->json);
        px_json_end(&p->json);
    }
    px_json_end(&p->json);
    px_json_array(&p->json, "notes");
    px_json_string(&p->json, NULL,
                   "Over failures only, the first 300 of each way of making them: the values "
                   "compare ways, not their success.");
    px_json_end(&p->json);
    px_json_end(&p->json);
}
