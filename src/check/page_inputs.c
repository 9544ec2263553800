/* src/check/page_inputs.c - inputs of the data on the page, with their names and pictures
 *
 * Results name inputs by their place. Which of them the page shows, a stage's view says.
 */
#include "check/page_inside.h"

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

px_status pxi_page_inputs(pxi_page *p, px_error *err)
{
    const px_check *c = p->c;
    px_status status = PX_OK;
    px_json_object(&p->json, "inputs");
    for (int64_t i = 0; i < c->count && status == PX_OK; i++) {
        char key[24], name[256];
        if (!p->shown[i])
            continue;
        snprintf(key, sizeof key, "%" PRId64, i);
        px_json_object(&p->json, key);
        px_json_int(&p->json, "index", px_dataset_index(c->set, i));
        px_json_string(&p->json, "name", px_dataset_name(c->set, i, name, sizeof name));
        pxi_page_class(p, "label", c->labelled ? px_dataset_label(c->set, i) : -1);
        pxi_page_class(p, "prediction", c->predictions ? c->predictions[i] : -1);
        px_json_real(&p->json, "confidence",
                     c->confidence ? (double)c->confidence[i] : (double)NAN);
        status = pxi_page_input(p, "picture", i, err);
        px_json_end(&p->json);
    }
    px_json_end(&p->json);
    return status;
}

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

/* Inputs whose label may be wrong; where there are none, those it gets wrong although it is sure.
 */
px_status pxi_page_eval(pxi_page *p, const px_json_value *eval, px_error *err)
{
    const px_check *c = p->c;
    size_t wrong = 0;
    if (!c->labelled)
        return PX_OK;
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
    px_json_array(&p->json, "mistakes");
    for (size_t i = 0; i < wrong && i < SHOWN_MISTAKES; i++) {
        px_json_int(&p->json, NULL, list[i].input);
        pxi_page_show(p, list[i].input);
    }
    px_json_end(&p->json);
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
