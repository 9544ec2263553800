/* src/check/page_inputs.c - inputs of the data on the page, with their names and pictures
 *
 * Results name inputs by their place. Which of them the page shows, a stage's view says.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "check/page_internal.h"

#include <internal/graph.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { SHOWN_MISTAKES = 12, SHOWN_SUSPECTS = 24 };

void pxi_page_show(pxi_page *p, int64_t input)
{
    if (input >= 0 && input < p->c->count)
        p->shown[input] = true;
}

void pxi_page_show_list(pxi_page *p, const px_json_value *list, size_t most)
{
    for (size_t i = 0; list && i < list->count && i < most; i++)
        pxi_page_show(p, pxi_json_int(&list->items[i], "input", -1));
}

typedef struct input_row {
    int64_t at, index, label, prediction;
    double confidence;
    const char *name;
    pxi_page_tile picture;
    char key[24], buffer[256];
} input_row;

const void *pxi_page_input_item(const void *page, size_t i, void *row)
{
    const pxi_page *p = page;
    const px_check *c = p->c;
    input_row *r = row;
    r->at = i ? r->at + 1 : 0;
    while (r->at < c->count && !p->shown[r->at])
        r->at++;
    if (r->at == c->count || pxi_page_failed(p, pxi_page_input(p, r->at, &r->picture, p->err)))
        return NULL;
    snprintf(r->key, sizeof r->key, "%" PRId64, r->at);
    r->index = px_dataset_index(c->set, r->at);
    r->name = px_dataset_name(c->set, r->at, r->buffer, sizeof r->buffer);
    r->label = c->labelled ? pxi_page_class(p, px_dataset_label(c->set, r->at)) : -1;
    r->prediction = c->predictions ? pxi_page_class(p, c->predictions[r->at]) : -1;
    r->confidence = c->confidence ? (double)c->confidence[r->at] : (double)NAN;
    return r;
}

const px_field pxi_page_input_fields[] = {
    PX_CHARS(input_row, key, "input", "its place in the data as they were read"),
    PX_FIELD(input_row, index, "index", "in the file or folder it is from"),
    PX_FIELD(input_row, name, "name", "its file, or what else the data call it"),
    PX_INDEX(input_row, label, "label", "that it has"),
    PX_INDEX(input_row, prediction, "prediction", "the network's answer"),
    PX_FIELD(input_row, confidence, "confidence", "probability of the answer", .unit = PX_SHARE),
    PXI_PAGE_TILE(input_row, picture, "picture", "its tile"),
    PX_FIELDS_END,
};

/* --- views ----------------------------------------------------------------------------------- */

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

typedef struct mistakes {
    int64_t inputs[SHOWN_MISTAKES];
    size_t count;
} mistakes;

static const px_field mistakes_fields[] = {
    PX_ARRAY_USED(mistakes, inputs, count, "mistakes", "the surest wrong answers"),
    PX_FIELDS_END,
};

/* Inputs whose label may be wrong; where there are none, those it gets wrong although it is sure.
 */
px_status pxi_page_eval(pxi_page *p, const px_json_value *eval, px_error *err)
{
    const px_check *c = p->c;
    size_t wrong = 0;
    if (!c->labelled)
        return PX_OK;
    if (px_model_regression(c->model)) {
        pxi_page_show_list(p, pxi_json_list(eval, "regression.worst"), SIZE_MAX);
        return PX_OK;
    }
    if (pxi_json_int(eval, "label_suspects.total", 0) > 0) {
        pxi_page_show_list(p, pxi_json_list(eval, "label_suspects.items"), SHOWN_SUSPECTS);
        return PX_OK;
    }
    sure *list = NULL;
    PX_TRY(PX_NEW(list, c->count, err));
    for (int64_t i = 0; i < c->count; i++)
        if (c->predictions[i] >= 0 && px_dataset_label(c->set, i) != c->predictions[i])
            list[wrong++] = (sure){i, c->confidence[i]};
    qsort(list, wrong, sizeof *list, sure_compare);
    mistakes shown = {.count = PX_MIN(wrong, (size_t)SHOWN_MISTAKES)};
    for (size_t i = 0; i < shown.count; i++) {
        shown.inputs[i] = list[i].input;
        pxi_page_show(p, list[i].input);
    }
    px_fields_json(mistakes_fields, &shown, &p->json);
    free(list);
    return PX_OK;
}

/* Where all have labels there is nothing to choose. */
px_status pxi_page_select(pxi_page *p, const px_json_value *select, px_error *err)
{
    (void)err;
    if (!p->c->labelled)
        pxi_page_show_list(p, pxi_json_list(select, "top"), SIZE_MAX);
    return PX_OK;
}
