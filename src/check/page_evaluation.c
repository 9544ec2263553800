/* src/check/page_evaluation.c - how right the network is, on the page */
#include "check/label_suspects.h"
#include "check/page_inside.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { SHOWN_WRONG = 12, SHOWN_SUSPECTS = 24, SHOWN_CLASSES = 100 };

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
        status = pxi_page_shown(p, list[i].input, err);
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
    const px_json_value *items = pxi_json_list(suspects, "items");
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
        status = pxi_page_shown(p, input, err);
        px_json_real(&p->json, "given", pxi_json_number(&items->items[i], "given"));
        px_json_end(&p->json);
    }
    px_json_end(&p->json);
    pxi_page_more(p, "more", total - (int64_t)shown, PXI_SUSPECTS_FILE);
    px_json_array(&p->json, "notes");
    px_json_string(&p->json, NULL, pxi_json_words(suspects, "rule"));
    px_json_end(&p->json);
    px_json_end(&p->json);
    return status;
}

/* Where there are many classes: those it is worst at, or without labels those it answers most. */
static int class_compare(const void *a, const void *b)
{
    const px_json_value *x = *(const px_json_value *const *)a;
    const px_json_value *y = *(const px_json_value *const *)b;
    const double ax = pxi_json_number(x, "accuracy"), ay = pxi_json_number(y, "accuracy");
    if (isnan(ax) != isnan(ay)) /* no input has that label */
        return isnan(ax) ? 1 : -1;
    if (ax < ay || ax > ay)
        return ax < ay ? -1 : 1;
    const char *key = isnan(ax) ? "predicted" : "count";
    const int64_t nx = pxi_json_int(x, key, 0), ny = pxi_json_int(y, key, 0);
    if (nx != ny)
        return nx < ny ? 1 : -1;
    return x < y ? -1 : x > y; /* both are of one list */
}

static px_status evaluation_classes(pxi_page *p, const px_json_value *eval, px_error *err)
{
    static const char *const keys[] = {"class",     "count",     "correct",
                                       "predicted", "precision", "confidence"};
    const px_json_value *rows = pxi_json_list(eval, "per_class");
    const size_t count = rows ? rows->count : 0, shown = PX_MIN(count, (size_t)SHOWN_CLASSES);
    const px_json_value **order = pxi_calloc(count + 1, sizeof *order);
    if (!order)
        return pxi_check_nomem(err);
    for (size_t i = 0; i < count; i++)
        order[i] = &rows->items[i];
    if (shown < count)
        qsort(order, count, sizeof *order, class_compare);
    px_json_array(&p->json, "per_class");
    for (size_t i = 0; i < shown; i++) {
        px_json_object(&p->json, NULL);
        pxi_page_copy(p, order[i], keys, PX_LEN(keys));
        if (!px_json_member(order[i], "count"))
            px_json_int(&p->json, "count", 0);
        px_json_real(&p->json, "recall", pxi_json_number(order[i], "accuracy"));
        px_json_end(&p->json);
    }
    px_json_end(&p->json);
    pxi_page_more(p, "classes_more", (int64_t)(count - shown), "eval.json");
    free(order);
    return PX_OK;
}

px_status pxi_page_evaluation(pxi_page *p, px_error *err)
{
    static const char *const keys[] = {"count", "accuracy", "top5", "loss", "confidence"};
    static const char *const bin_keys[] = {"low", "high", "count", "confidence", "accuracy"};
    const px_json_value *eval = p->c->result[PXI_STAGE_eval];
    if (!eval)
        return PX_OK;
    const px_json_value *calibration = px_json_member(eval, "calibration");
    const px_json_value *bins = pxi_json_list(calibration, "bins"),
                        *cells = pxi_json_list(eval, "confusion");
    px_json_object(&p->json, "evaluation");
    pxi_page_copy(p, eval, keys, PX_LEN(keys));
    if (pxi_json_list(eval, "interval"))
        pxi_page_numbers(p, "interval", pxi_json_list(eval, "interval"));
    px_json_real(&p->json, "ece", pxi_json_number(eval, "calibration.ece"));
    PX_TRY(evaluation_classes(p, eval, err));
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
            pxi_page_numbers(p, NULL, &cells->items[i]);
        px_json_end(&p->json);
        px_json_int(&p->json, "confusion_left_out", pxi_json_int(eval, "confusion_left_out", 0));
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
