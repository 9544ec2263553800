/* src/check/page_neurons.c - neurons on the page: the values of all for the map, and where those in
 * the table are active
 */
#include "check/page_inside.h"

#include "check/check_suspects.h"

#include <internal/localize.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { MAP_SIDE = 16 };

/* --- localize -------------------------------------------------------------------------------- */

typedef struct neurons {
    px_spectrum *spectrum;
    px_probe *probe; /* the same layers, for their shapes */
    const px_measure *measure;
    double *scores;
} neurons;

static px_status neurons_open(const px_check *c, neurons *n, px_error *err)
{
    px_probe_options options = px_probe_options_default();
    px_feed feed = {.value = px_model_graph(c->model)->inputs[0], .shape = c->shape};
    options.feeds = &feed;
    options.feed_count = 1;
    PX_TRY(px_measure_choose("ochiai", &n->measure, err));
    PX_TRY(pxi_spectrum_open(c, &n->spectrum, err));
    PX_TRY(px_probe_new(c->model, &options, &n->probe, err));
    PX_TRY(PX_NEW(n->scores, px_spectrum_neuron_count(n->spectrum) + 1, err));
    px_measure_scores(n->measure, PX_STAR_DEFAULT, n->spectrum, PX_POOLED, n->scores);
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
static void scores_json(const neurons *n, const px_spectrum_layer *layer, px_json *json)
{
    px_text letters = {0};
    px_json_array(json, "suspiciousness");
    for (int64_t i = 0; i < layer->count; i++) {
        const double score = n->scores[layer->offset + i];
        const px_hits hits = px_spectrum_hits(n->spectrum, PX_POOLED, layer->offset + i);
        const char letter = activity_letter(&hits);
        px_text_add_bytes(&letters, &letter, 1);
        px_json_real(json, NULL, letter == 's' ? round(score * 1000.0) / 1000.0 : (double)NAN);
    }
    px_json_end(json);
    px_json_string(json, "activity", px_text_get(&letters));
    px_text_done(&letters);
}

static void layer_json(const neurons *n, const px_spectrum_layer *layer, px_json *json)
{
    px_json_object(json, NULL);
    px_json_string(json, "name", layer->name);
    px_json_int(json, "position", layer->position);
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
    scores_json(n, layer, json);
    px_json_end(json);
}

/* The score of a neuron that is active on every input of a class: what says nothing has it. */
static double baseline_of(const neurons *n, int c)
{
    const px_hits always = {.as = px_spectrum_passed(n->spectrum, c),
                            .af = px_spectrum_failed(n->spectrum, c)};
    return n->measure->score(&always, PX_STAR_DEFAULT);
}

/* Of the classes that have rows; rows of one class follow each other. */
static void baselines_json(const neurons *n, const px_json_value *rows, px_json *json)
{
    int64_t before = -1;
    px_json_object(json, "baselines");
    for (size_t i = 0; rows && i < rows->count; i++) {
        const int64_t class = pxi_json_int(&rows->items[i], "class", -1);
        char key[24];
        if (class < 0 || class == before)
            continue;
        snprintf(key, sizeof key, "%" PRId64, class);
        px_json_real(json, key, baseline_of(n, (int)class));
        before = class;
    }
    px_json_end(json);
}

px_status pxi_page_localize(pxi_page *p, const px_json_value *localize, px_error *err)
{
    neurons n = {.scores = NULL};
    const px_status status = neurons_open(p->c, &n, err);
    if (status == PX_OK) {
        px_json_string(&p->json, "measure_title", n.measure->entry.title);
        px_json_real(&p->json, "baseline", baseline_of(&n, PX_POOLED));
        baselines_json(&n, pxi_json_list(localize, "by_class"), &p->json);
        px_json_array(&p->json, "layers");
        for (size_t i = 0; i < px_spectrum_layer_count(n.spectrum); i++)
            layer_json(&n, px_spectrum_layer_get(n.spectrum, i), &p->json);
        px_json_end(&p->json);
    }
    free(n.scores);
    px_probe_free(n.probe);
    px_spectrum_free(n.spectrum);
    return status;
}

/* --- describe -------------------------------------------------------------------------------- */

/* A picture for each of its inputs: bright where the neuron is active. */
static px_status masks_json(pxi_page *p, const px_json_value *neuron, const uint8_t *maps,
                            int64_t tops, px_error *err)
{
    const size_t count = pxi_json_count(neuron, "top");
    const int64_t height = pxi_json_int(neuron, "map_height", 0);
    const int64_t width = pxi_json_int(neuron, "map_width", 0);
    const bool mapped = height > 0 && width > 0 && height <= MAP_SIDE && width <= MAP_SIDE;
    px_json_array(&p->json, NULL);
    for (size_t k = 0; mapped && k < count && (int64_t)k < tops; k++)
        PX_TRY(pxi_page_map(p, maps + k * MAP_SIDE * MAP_SIDE, (int)height, (int)width, err));
    px_json_end(&p->json);
    return PX_OK;
}

/* The inputs that excite each neuron, and "masks": [neuron][input], in the order of the result. */
px_status pxi_page_describe(pxi_page *p, const px_json_value *describe, px_error *err)
{
    const px_json_value *list = pxi_json_list(describe, "neurons");
    char *path = pxi_check_path(p->c, PXI_MAPS_FILE);
    px_npz *npz = NULL;
    px_status status = path ? px_npz_open(path, &npz, err) : pxi_no_memory(err);
    free(path);
    PX_TRY(status);
    const px_tensor *maps = px_npz_get(npz, "maps"); /* [neuron][top][MAP_SIDE * MAP_SIDE] */
    const bool good = maps && maps->dtype == PX_UINT8 && maps->shape.rank == 3 &&
                      maps->shape.dim[2] == MAP_SIDE * MAP_SIDE;
    const int64_t tops = good ? maps->shape.dim[1] : 0;
    px_json_array(&p->json, "masks");
    for (size_t i = 0; list && i < list->count && status == PX_OK; i++) {
        const bool there = good && (int64_t)i < maps->shape.dim[0];
        pxi_page_show_list(p, pxi_json_list(&list->items[i], "top"), SIZE_MAX);
        status = masks_json(
            p, &list->items[i],
            there ? (const uint8_t *)maps->data + (int64_t)i * tops * MAP_SIDE * MAP_SIDE : NULL,
            there ? tops : 0, err);
    }
    px_json_end(&p->json);
    px_npz_close(npz);
    return status;
}
