/* src/check/page_neurons.c - neurons on the page: the values of all for the map, and where those in
 * the table are active
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "check/page_internal.h"

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
    const px_json_value *rows; /* of the result, by class; NULL: there are none */
    const char *title;
    double baseline;
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

typedef struct layer_row {
    const neurons *n;
    const px_spectrum_layer *layer;
    const char *kind, *activity; /* kind NULL: the probe has no such layer */
    char shape[256];
    px_text letters;
} layer_row;

/* Three digits are enough for a colour; neurons that say nothing have none. */
static const void *score_item(const void *at, size_t i, void *row)
{
    const layer_row *r = at;
    if ((int64_t)i == r->layer->count)
        return NULL;
    const double score = r->n->scores[r->layer->offset + (int64_t)i];
    *(double *)row = r->activity[i] == 's' ? round(score * 1000.0) / 1000.0 : (double)NAN;
    return row;
}

static const void *layer_item(const void *at, size_t i, void *row)
{
    const neurons *n = at;
    layer_row *r = row;
    if (i > 0)
        px_text_done(&r->letters);
    if (i == px_spectrum_layer_count(n->spectrum))
        return NULL;
    *r = (layer_row){.n = n, .layer = px_spectrum_layer_get(n->spectrum, i)};
    for (int64_t k = 0; k < r->layer->count; k++) {
        const px_hits hits = px_spectrum_hits(n->spectrum, PX_POOLED, r->layer->offset + k);
        const char letter = activity_letter(&hits);
        px_text_add_bytes(&r->letters, &letter, 1);
    }
    r->activity = px_text_get(&r->letters);
    for (size_t k = 0; k < px_probe_layer_count(n->probe); k++) {
        const px_layer *found = px_probe_layer(n->probe, k);
        px_text shape = {0};
        if (found->position != r->layer->position)
            continue;
        for (int d = 1; d < found->shape.rank; d++)
            px_text_format(&shape, "%s%" PRId64, d > 1 ? " x " : "", found->shape.dim[d]);
        r->kind = px_layer_kind_name(found->kind);
        snprintf(r->shape, sizeof r->shape, "%s", px_text_get(&shape));
        px_text_done(&shape);
    }
    return r;
}

static const px_field place_fields[] = {
    PX_FIELD(px_spectrum_layer, name, "name", "of the layer"),
    PX_FIELD(px_spectrum_layer, position, "position", "among the network's layers"),
    PX_FIELDS_END,
};

static const px_field units_fields[] = {
    PX_FIELD(px_spectrum_layer, count, "units", "neurons"),
    PX_FIELDS_END,
};

static const px_field layer_fields[] = {
    PX_OBJECT_AT(layer_row, layer, place_fields, ""),
    PX_FIELD(layer_row, kind, "kind", "of the layer", .optional = true),
    PX_CHARS(layer_row, shape, "shape", "of its output", PX_IF(layer_row, kind)),
    PX_OBJECT_AT(layer_row, layer, units_fields, ""),
    PX_VALUES_MADE(score_item, double, "suspiciousness", "of each neuron"),
    PX_FIELD(layer_row, activity, "activity", "a letter for each neuron"),
    PX_FIELDS_END,
};

/* The score of a neuron that is active on every input of a class: what says nothing has it. */
static double baseline_of(const neurons *n, int c)
{
    const px_hits always = {.as = px_spectrum_passed(n->spectrum, c),
                            .af = px_spectrum_failed(n->spectrum, c)};
    return n->measure->score(&always, PX_STAR_DEFAULT);
}

typedef struct baseline_row {
    size_t next; /* row of the result */
    int64_t class;
    double value;
    char key[24];
} baseline_row;

/* Of the classes that have rows; rows of one class follow each other. */
static const void *baseline_item(const void *at, size_t i, void *row)
{
    const neurons *n = at;
    baseline_row *r = row;
    if (i == 0)
        *r = (baseline_row){.class = -1};
    while (n->rows && r->next < n->rows->count) {
        const int64_t class = pxi_json_int(&n->rows->items[r->next++], "class", -1);
        if (class < 0 || class == r->class)
            continue;
        r->class = class;
        r->value = baseline_of(n, (int)class);
        snprintf(r->key, sizeof r->key, "%" PRId64, class);
        return r;
    }
    return NULL;
}

static const px_field baseline_fields[] = {
    PX_CHARS(baseline_row, key, "class", "its number"),
    PX_FIELD(baseline_row, value, "", "what a neuron has that is always active"),
    PX_FIELDS_END,
};

static const px_field neurons_fields[] = {
    PX_FIELD(neurons, title, "measure_title", "the measure"),
    PX_FIELD(neurons, baseline, "baseline", "what a neuron has that is always active"),
    PX_MAP_MADE(baseline_item, baseline_fields, "baselines", "of classes"),
    PX_LIST_MADE(layer_item, layer_fields, "layers", "with all their neurons"),
    PX_FIELDS_END,
};

px_status pxi_page_localize(pxi_page *p, const px_json_value *localize, px_error *err)
{
    neurons n = {.rows = pxi_json_list(localize, "by_class")};
    const px_status status = neurons_open(p->c, &n, err);
    if (status == PX_OK) {
        n.title = n.measure->entry.title;
        n.baseline = baseline_of(&n, PX_POOLED);
        px_fields_json(neurons_fields, &n, &p->json);
    }
    free(n.scores);
    px_probe_free(n.probe);
    px_spectrum_free(n.spectrum);
    return status;
}

/* --- describe -------------------------------------------------------------------------------- */

typedef struct masks {
    pxi_page *p;
    const px_json_value *list;
    const px_tensor *maps; /* uint8 [neuron][top][MAP_SIDE * MAP_SIDE]; NULL: there are none */
} masks;

typedef struct mask_row {
    const masks *m;
    const px_json_value *neuron;
    const uint8_t *maps; /* NULL: it has none */
    pxi_page_tile tile;
} mask_row;

/* A picture for each of its inputs: bright where the neuron is active. */
static const void *mask_item(const void *at, size_t k, void *row)
{
    const mask_row *of = at;
    mask_row *r = row;
    const int64_t height = pxi_json_int(of->neuron, "map_height", 0);
    const int64_t width = pxi_json_int(of->neuron, "map_width", 0);
    const bool mapped = height > 0 && width > 0 && height <= MAP_SIDE && width <= MAP_SIDE;
    if (!mapped || !of->maps || k >= pxi_json_count(of->neuron, "top") ||
        (int64_t)k >= of->m->maps->shape.dim[1] ||
        pxi_page_failed(of->m->p, pxi_page_map(of->m->p, of->maps + k * MAP_SIDE * MAP_SIDE,
                                               (int)height, (int)width, &r->tile, of->m->p->err)))
        return NULL;
    return r;
}

static const void *masked_item(const void *at, size_t i, void *row)
{
    const masks *m = at;
    mask_row *r = row;
    if (!m->list || i == m->list->count || pxi_page_failed(m->p, PX_OK))
        return NULL;
    *r = (mask_row){.m = m, .neuron = &m->list->items[i]};
    pxi_page_show_list(m->p, pxi_json_list(r->neuron, "top"), SIZE_MAX);
    if (m->maps && (int64_t)i < m->maps->shape.dim[0])
        r->maps = (const uint8_t *)m->maps->data +
                  (int64_t)i * m->maps->shape.dim[1] * MAP_SIDE * MAP_SIDE;
    return r;
}

static const px_field mask_fields[] = {
    PX_FIELD(mask_row, tile.at, "", "its tile"),
    PX_FIELDS_END,
};

static const px_field masked_fields[] = {
    PX_LIST_MADE(mask_item, mask_fields, "", "of its inputs"),
    PX_FIELDS_END,
};

static const px_field masks_fields[] = {
    PX_LIST_MADE(masked_item, masked_fields, "masks", "of neurons, in the order of the result"),
    PX_FIELDS_END,
};

/* The inputs that excite each neuron, and where. */
px_status pxi_page_describe(pxi_page *p, const px_json_value *describe, px_error *err)
{
    masks m = {.p = p, .list = pxi_json_list(describe, "neurons")};
    char *path = pxi_check_path(p->c, PXI_MAPS_FILE);
    px_npz *npz = NULL;
    px_status status = path ? px_npz_open(path, &npz, err) : pxi_no_memory(err);
    free(path);
    PX_TRY(status);
    const px_tensor *maps = px_npz_get(npz, "maps");
    if (maps && maps->dtype == PX_UINT8 && maps->shape.rank == 3 &&
        maps->shape.dim[2] == MAP_SIDE * MAP_SIDE)
        m.maps = maps;
    px_fields_json(masks_fields, &m, &p->json);
    px_npz_close(npz);
    return *p->status;
}
