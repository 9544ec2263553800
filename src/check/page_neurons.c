/* src/check/page_neurons.c - neurons on the page: all of them as a map, the suspicious ones as rows
 */
#include "check/page_inside.h"

#include "check/check_suspects.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SHOWN_PER_CLASS = 3, MAP_SIDE = 16 };

typedef struct neurons {
    pxi_page *p;
    px_spectrum *spectrum;
    px_probe *probe; /* the same layers, for their shapes */
    double *scores;
    px_npz *npz;
    const uint8_t *maps; /* [neuron][top][MAP_SIDE * MAP_SIDE]; NULL: none */
    int64_t tops, map_count;
} neurons;

static px_status neurons_open(neurons *n, px_error *err)
{
    const px_check *c = n->p->c;
    px_probe_options options = px_probe_options_default();
    px_feed feed = {.value = px_model_graph(c->model)->inputs[0], .shape = c->shape};
    options.feeds = &feed;
    options.feed_count = 1;
    PX_TRY(pxi_spectrum_open(c, &n->spectrum, err));
    PX_TRY(px_probe_new(c->model, &options, &n->probe, err));
    const size_t count = (size_t)px_spectrum_neuron_count(n->spectrum);
    n->scores = pxi_calloc(count + 1, sizeof *n->scores);
    if (!n->scores)
        return pxi_check_nomem(err);
    const px_measure *measure = NULL;
    PX_TRY(px_measure_choose("ochiai", &measure, err));
    px_measure_scores(measure, PX_STAR_DEFAULT, n->spectrum, PX_POOLED, n->scores);
    if (!c->result[PXI_STAGE_describe])
        return PX_OK;
    char *path = pxi_check_path(c, "exemplars.npz");
    if (!path)
        return pxi_check_nomem(err);
    const px_status status = px_npz_open(path, &n->npz, err);
    free(path);
    PX_TRY(status);
    const px_tensor *maps = px_npz_get(n->npz, "maps");
    if (maps && maps->dtype == PX_UINT8 && maps->shape.rank == 3 &&
        maps->shape.dim[2] == MAP_SIDE * MAP_SIDE) {
        n->maps = maps->data;
        n->map_count = maps->shape.dim[0];
        n->tops = maps->shape.dim[1];
    }
    return PX_OK;
}

/* A letter for every kind of neuron, as web/src/data.ts has them. */
static char activity_letter(const px_hits *hits)
{
    switch (px_hits_activity(hits)) {
    case PX_ACTIVE_ALWAYS:
        return 'a';
    case PX_ACTIVE_NEVER:
        return 'n';
    case PX_ACTIVE_SOMETIMES:
        break;
    }
    return px_hits_ranked(hits) ? 's' : 'f';
}

/* Three digits are enough for a colour; neurons that say nothing have none. */
static void scores_json(neurons *n, const px_spectrum_layer *layer)
{
    px_json *json = &n->p->json;
    px_text letters = {0};
    px_json_array(json, "suspiciousness");
    for (int64_t i = 0; i < layer->count; i++) {
        const double score = n->scores[layer->offset + i];
        const px_hits hits = px_spectrum_hits(n->spectrum, PX_POOLED, layer->offset + i);
        const char letter = activity_letter(&hits);
        px_text_add_bytes(&letters, &letter, 1);
        if (letter == 's' && isfinite(score))
            px_json_real(json, NULL, round(score * 1000.0) / 1000.0);
        else
            px_json_null(json, NULL);
    }
    px_json_end(json);
    px_json_string(json, "activity", px_text_get(&letters));
    px_text_done(&letters);
}

/* The score of a neuron that is active on every input of a class: what says nothing has it. */
static double baseline_of(const neurons *n, int c)
{
    const px_measure *measure = px_measure_find("ochiai");
    const px_hits always = {.as = px_spectrum_passed(n->spectrum, c),
                            .af = px_spectrum_failed(n->spectrum, c)};
    return measure ? measure->score(&always, PX_STAR_DEFAULT) : (double)NAN;
}

static void layers_json(neurons *n)
{
    px_json *json = &n->p->json;
    px_json_array(json, "layers");
    for (size_t i = 0; i < px_spectrum_layer_count(n->spectrum); i++) {
        const px_spectrum_layer *layer = px_spectrum_layer_get(n->spectrum, i);
        px_json_object(json, NULL);
        px_json_string(json, "name", layer->name);
        for (size_t k = 0; k < px_probe_layer_count(n->probe); k++) {
            const px_layer *found = px_probe_layer(n->probe, k);
            px_text shape = {0};
            if (found->position != layer->position)
                continue;
            for (int d = 1; d < found->shape.rank; d++)
                px_text_format(&shape, "%s%" PRId64, d > 1 ? " x " : "", found->shape.dim[d]);
            px_json_string(json, "kind", px_layer_kind_name(found->kind));
            px_json_string(json, "shape", px_text_get(&shape));
            px_text_done(&shape);
        }
        px_json_int(json, "units", layer->count);
        scores_json(n, layer);
        px_json_end(json);
    }
    px_json_end(json);
}

static int64_t layer_of(const neurons *n, int64_t position)
{
    for (size_t i = 0; i < px_spectrum_layer_count(n->spectrum); i++)
        if (px_spectrum_layer_get(n->spectrum, i)->position == position)
            return (int64_t)i;
    return -1;
}

static void words_json(neurons *n, const px_json_value *found)
{
    static const char *const keys[] = {"words", "inactive"}, *const label_keys[] = {"label", "iou"};
    const px_json_value *labels = px_json_member(found, "labels");
    static const char *const shared_keys[] = {"class", "count", "of"};
    const px_json_value *shared = px_json_member(found, "shared");
    pxi_page_copy(n->p, found, keys, PX_LEN(keys));
    if (shared && shared->kind == PX_JSON_OBJECT) {
        px_json_object(&n->p->json, "shared");
        pxi_page_copy(n->p, shared, shared_keys, PX_LEN(shared_keys));
        px_json_end(&n->p->json);
    }
    if (!labels || labels->kind != PX_JSON_ARRAY)
        return;
    px_json_array(&n->p->json, "labels");
    for (size_t i = 0; i < labels->count; i++) {
        px_json_object(&n->p->json, NULL);
        pxi_page_copy(n->p, &labels->items[i], label_keys, PX_LEN(label_keys));
        px_json_end(&n->p->json);
    }
    px_json_end(&n->p->json);
}

/* What excites it, where the describe stage looked. */
static px_status top_json(neurons *n, int64_t position, int64_t unit, px_error *err)
{
    pxi_page *p = n->p;
    px_json *json = &p->json;
    const px_json_value *list = pxi_json_path(p->c->result[PXI_STAGE_describe], "neurons");
    if (!list || list->kind != PX_JSON_ARRAY)
        return PX_OK;
    for (size_t i = 0; i < list->count; i++) {
        const px_json_value *found = &list->items[i], *top = px_json_member(found, "top");
        if (pxi_json_int(found, "position", -1) != position ||
            pxi_json_int(found, "index", -1) != unit || !top || top->kind != PX_JSON_ARRAY)
            continue;
        const int64_t height = pxi_json_int(found, "map_height", 0);
        const int64_t width = pxi_json_int(found, "map_width", 0);
        const bool mapped = n->maps && (int64_t)i < n->map_count && height > 0 && width > 0 &&
                            height <= MAP_SIDE && width <= MAP_SIDE;
        words_json(n, found);
        px_json_array(json, "top");
        for (size_t k = 0; k < top->count; k++) {
            const int64_t input = pxi_json_int(&top->items[k], "input", -1);
            if (input < 0 || input >= p->c->count)
                continue;
            px_json_object(json, NULL);
            char name[256];
            px_json_int(json, "index", px_dataset_index(p->c->set, input));
            px_json_string(json, "name", px_dataset_name(p->c->set, input, name, sizeof name));
            pxi_page_class(p, "label", pxi_json_int(&top->items[k], "label", -1));
            pxi_page_class(p, "prediction", pxi_json_int(&top->items[k], "prediction", -1));
            px_json_real(json, "score", pxi_json_number(&top->items[k], "value"));
            PX_TRY(pxi_page_input(p, "picture", input, err));
            if (mapped && (int64_t)k < n->tops)
                PX_TRY(pxi_page_map(
                    p, "mask", n->maps + ((int64_t)i * n->tops + (int64_t)k) * MAP_SIDE * MAP_SIDE,
                    (int)height, (int)width, err));
            px_json_end(json);
        }
        px_json_end(json);
        return PX_OK;
    }
    return PX_OK;
}

static px_status row_json(neurons *n, const px_json_value *suspect, px_error *err)
{
    static const char *const counts[] = {"as", "af", "ns", "nf"}, *const flags[] = {"suspect"};
    px_json *json = &n->p->json;
    const int64_t position = pxi_json_int(suspect, "position", -1);
    const int64_t layer = layer_of(n, position), unit = pxi_json_int(suspect, "index", -1);
    if (layer < 0)
        return PX_OK;
    px_json_object(json, NULL);
    px_json_int(json, "layer", layer);
    px_json_int(json, "unit", unit);
    pxi_page_class(n->p, "class", pxi_json_int(suspect, "class", -1));
    px_json_real(json, "suspiciousness", pxi_json_number(suspect, "score"));
    px_json_int(json, "rank", pxi_json_int(suspect, "rank", 0));
    px_json_real(json, "baseline", baseline_of(n, (int)pxi_json_int(suspect, "class", PX_POOLED)));
    px_json_array(json, "interval");
    px_json_real(json, NULL, pxi_json_number(suspect, "low"));
    px_json_real(json, NULL, pxi_json_number(suspect, "high"));
    px_json_end(json);
    pxi_page_copy(n->p, suspect, flags, PX_LEN(flags));
    px_json_object(json, "spectrum");
    pxi_page_copy(n->p, suspect, counts, PX_LEN(counts));
    px_json_end(json);
    PX_TRY(top_json(n, position, unit, err));
    px_json_end(json);
    return PX_OK;
}

static px_status rows_json(neurons *n, px_error *err)
{
    const px_json_value *localize = n->p->c->result[PXI_STAGE_localize];
    const px_json_value *pooled = px_json_member(localize, "neurons");
    const px_json_value *classes = px_json_member(localize, "by_class");
    px_json_array(&n->p->json, "items");
    for (size_t i = 0; pooled && pooled->kind == PX_JSON_ARRAY && i < pooled->count; i++)
        PX_TRY(row_json(n, &pooled->items[i], err));
    for (size_t i = 0; classes && classes->kind == PX_JSON_ARRAY && i < classes->count; i++)
        if (pxi_json_int(&classes->items[i], "rank", SHOWN_PER_CLASS + 1) <= SHOWN_PER_CLASS)
            PX_TRY(row_json(n, &classes->items[i], err));
    px_json_end(&n->p->json);
    return PX_OK;
}

static void notes_json(neurons *n)
{
    const px_json_value *describe = n->p->c->result[PXI_STAGE_describe];
    px_json *json = &n->p->json;
    px_text words = {0};
    char count[PXI_COUNT_TEXT];
    px_json_array(json, "notes");
    px_json_string(json, NULL,
                   "That a neuron is active when the network is wrong does not show that it is "
                   "the cause; the synthesized failures try that out.");
    if (describe) {
        px_text_format(&words,
                       "The inputs beside a neuron excite it most, of %s; bright is where they "
                       "do.",
                       pxi_count_text(pxi_json_int(describe, "inputs", 0), count));
        px_json_string(json, NULL, px_text_get(&words));
        const px_json_value *sentences = px_json_member(describe, "sentences");
        for (size_t i = 0; sentences && sentences->kind == PX_JSON_ARRAY && i < sentences->count;
             i++)
            if (sentences->items[i].kind == PX_JSON_STRING)
                px_json_string(json, NULL, sentences->items[i].string);
        if (pxi_json_words(describe, "wordless"))
            px_json_string(json, NULL, pxi_json_words(describe, "wordless"));
    }
    px_json_end(json);
    px_text_done(&words);
}

px_status pxi_page_neurons(pxi_page *p, px_error *err)
{
    neurons n = {.p = p};
    const px_json_value *localize = p->c->result[PXI_STAGE_localize];
    if (!localize)
        return PX_OK;
    const px_measure *measure = px_measure_find("ochiai");
    px_status status = neurons_open(&n, err);
    if (status == PX_OK) {
        px_json_object(&p->json, "neurons");
        px_json_string(&p->json, "definition", px_spectrum_definition(n.spectrum));
        px_json_string(&p->json, "measure", "ochiai");
        px_json_string(&p->json, "measure_title", measure ? measure->title : NULL);
        if (p->c->result[PXI_STAGE_describe]) {
            static const char *const keys[] = {"describer", "validation"};
            pxi_page_copy(p, p->c->result[PXI_STAGE_describe], keys, PX_LEN(keys));
        }
        px_json_real(&p->json, "baseline", baseline_of(&n, PX_POOLED));
        px_json_object(&p->json, "uninformative");
        px_json_int(&p->json, "always", pxi_json_int(localize, "almost_always_active", 0));
        px_json_int(&p->json, "never", pxi_json_int(localize, "almost_never_active", 0));
        px_json_end(&p->json);
        px_json_int(&p->json, "suspects", pxi_json_int(localize, "suspects", 0));
        layers_json(&n);
        status = rows_json(&n, err);
        notes_json(&n);
        px_json_end(&p->json);
    }
    px_npz_close(n.npz);
    free(n.scores);
    px_probe_free(n.probe);
    px_spectrum_free(n.spectrum);
    return status;
}
