/* src/check/page_parts.c - coverage, selection and quality on the page, and what parts share */
#include "check/page_inside.h"

#include <stdlib.h>

/* --- what parts share ---------------------------------------------------------------------------
 */

px_status pxi_page_shown(pxi_page *p, int64_t input, px_error *err)
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

void pxi_page_numbers(pxi_page *p, const char *key, const px_json_value *list)
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

void pxi_page_more(pxi_page *p, const char *key, int64_t count, const char *file)
{
    if (count <= 0)
        return;
    char *path = pxi_page_path(p->c, file);
    px_json_object(&p->json, key);
    px_json_int(&p->json, "count", count);
    px_json_string(&p->json, "where", path);
    px_json_end(&p->json);
    free(path);
}

/* --- coverage -----------------------------------------------------------------------------------
 */

static void coverage_criterion(pxi_page *p, const px_json_value *c, size_t layer_count)
{
    static const char *const keys[] = {"id", "title", "settings", "value", "random"};
    const px_json_value *layers = pxi_json_list(c, "layers");
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
        pxi_page_numbers(p, "layers", layers);
    px_json_end(&p->json);
}

static void coverage_growth(pxi_page *p, const px_json_value *cover)
{
    const px_json_value *criteria = pxi_json_list(cover, "criteria");
    const px_json_value *inputs = pxi_json_list(cover, "growth_inputs");
    const px_json_value *growth = pxi_json_list(cover, "growth");
    const px_json_value *random = pxi_json_list(cover, "random_growth");
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
        pxi_page_numbers(p, "x", inputs);
        px_json_array(&p->json, "series");
        for (int k = 0; k < 2; k++) {
            const px_json_value *line = k ? other : own;
            if (!line || line->kind != PX_JSON_ARRAY || line->count != inputs->count)
                continue;
            px_json_object(&p->json, NULL);
            px_json_string(&p->json, "name", k ? "random pictures" : "the data");
            px_json_string(&p->json, "role", k ? "random" : "main");
            pxi_page_numbers(p, "y", line);
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
    const px_json_value *criteria = pxi_json_list(cover, "criteria");
    const px_json_value *layers = pxi_json_list(cover, "layer_names");
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
    const px_json_value *top = pxi_json_list(select, "top");
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
        status = pxi_page_shown(p, input, err);
        px_json_real(&p->json, "score", pxi_json_number(&top->items[i], "score"));
        px_json_end(&p->json);
    }
    px_json_end(&p->json);
    pxi_page_more(p, "more", pxi_json_int(select, "budget", 0) - (int64_t)top->count,
                  "selection.csv");
    px_json_end(&p->json);
    return status;
}

/* --- quality ------------------------------------------------------------------------------------
 */

void pxi_page_quality(pxi_page *p)
{
    static const char *const keys[] = {"id", "title", "definition", "better"};
    static const char *const value_keys[] = {"value", "n", "why"};
    const px_json_value *sets = pxi_json_list(p->c->result[PXI_STAGE_assess], "sets");
    if (!sets || sets->count == 0)
        return;
    const px_json_value *first = pxi_json_list(&sets->items[0], "values");
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
        const px_json_value *values = pxi_json_list(&sets->items[s], "values");
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
