/* src/describe/dissect.c - which attributes the masks of units overlap with
 *
 * Bau, Zhou, Khosla, Oliva, Torralba, Network Dissection, CVPR 2017; LGR C.12.2. Masks and
 * attributes are sets of bits, a picture at a time; what is kept are counts of pixels, which are
 * added up in any order. A micro-batch comes layer by layer, so the attributes of its pictures are
 * kept for a while: each worker has places for PLACES of them.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "describe/dissect_internal.h"

#include "base/arena.h"
#include "base/memory.h"
#include "describe/mask.h"
#include "describe/unit_stream.h"
#include <internal/ranks.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { PLACES = 64 };

typedef struct slot {
    pxi_look *look;
    px_arena *memory; /* of the arrays */
    float *pixels, *plane;
    uint8_t *mask;
    uint64_t *bits;   /* of the mask */
    uint64_t *places; /* [PLACES][maps][words]: attributes of pictures */
    int64_t held[PLACES];
    pxi_upsampler **upsamplers; /* [layers] */
    uint64_t *area;             /* [maps]: pixels that have the attribute */
    uint64_t *units;            /* [all units][1 + maps]: pixels of masks, and shared ones */
} slot;

typedef struct dissect_run {
    const px_dataset *set;
    const px_concepts *c;
    const px_exemplars *e;
    const px_dissect_options *o;
    pxi_unit_stream *stream;
    px_dissection *out;
    size_t words; /* of a set of pixels */
    slot *slots;
    int slot_count;
    int64_t *items;
    int64_t count;
} dissect_run;

/* --- sets of pixels -------------------------------------------------------------------------- */

static void bits_of_bytes(const uint8_t *bytes, size_t count, uint64_t *bits)
{
    for (size_t first = 0, word = 0; first < count; first += 64, word++) {
        const size_t n = PX_MIN((size_t)64, count - first);
        uint64_t set = 0;
        for (size_t i = 0; i < n; i++)
            set |= (uint64_t)(bytes[first + i] != 0) << i;
        bits[word] = set;
    }
}

static void bits_above(const float *values, size_t count, float level, uint64_t *bits)
{
    for (size_t first = 0, word = 0; first < count; first += 64, word++) {
        const size_t n = PX_MIN((size_t)64, count - first);
        uint64_t set = 0;
        for (size_t i = 0; i < n; i++)
            set |= (uint64_t)(values[first + i] > level) << i;
        bits[word] = set;
    }
}

static uint64_t bits_both(const uint64_t *a, const uint64_t *b, size_t words)
{
    uint64_t count = 0;
    for (size_t i = 0; i < words; i++)
        count += (uint64_t)__builtin_popcountll(a[i] & b[i]);
    return count;
}

/* --- one picture in one layer ---------------------------------------------------------------- */

/* The attributes of a picture as sets of pixels. */
static px_status slot_attributes(const dissect_run *run, slot *s, const pxi_unit_visit *visit,
                                 const uint64_t **out, px_error *err)
{
    const px_concepts *c = run->c;
    const size_t place = (size_t)(visit->at % PLACES);
    uint64_t *bits = s->places + place * c->count * run->words;
    *out = bits;
    if (s->held[place] == visit->at)
        return PX_OK;
    PX_TRY(px_dataset_pixels(run->set, visit->item, s->pixels, err));
    pxi_concepts_values(c, s->pixels, s->pixels);
    pxi_look_at(s->look, s->pixels, c->channels);
    for (size_t m = 0; m < c->count; m++) {
        pxi_look_map(s->look, &c->attributes[m], s->plane);
        bits_above(s->plane, c->pixels, (float)c->maps[m].level, bits + m * run->words);
    }
    s->held[place] = visit->at;
    return PX_OK;
}

static bool map_exceeds(const float *map, size_t count, float level)
{
    for (size_t i = 0; i < count; i++)
        if (map[i] > level)
            return true;
    return false;
}

static px_status dissect_visit(void *context, const pxi_unit_visit *visit, px_error *err)
{
    const dissect_run *run = context;
    const px_concepts *c = run->c;
    slot *s = &run->slots[visit->slot];
    const px_exemplar_layer *layer = px_exemplars_layer(run->e, visit->layer);
    const pxi_unit_layer *from = pxi_unit_stream_layer(run->stream, visit->layer);
    const size_t n = (size_t)from->h * (size_t)from->w;
    const uint64_t *attributes = NULL;
    PX_TRY(slot_attributes(run, s, visit, &attributes, err));
    if (visit->layer == 0) /* once for each picture */
        for (size_t m = 0; m < c->count; m++)
            s->area[m] +=
                bits_both(attributes + m * run->words, attributes + m * run->words, run->words);
    for (int64_t u = 0; u < layer->units; u++) {
        const float level = (float)px_exemplars_unit(run->e, visit->layer, u).level;
        const float *map = visit->maps + (size_t)(layer->numbers ? layer->numbers[u] : u) * n;
        if (!map_exceeds(map, n, level)) /* nor does anything between its values */
            continue;
        const int64_t ones =
            pxi_upsampler_mask(s->upsamplers[visit->layer], map, 1, level, s->mask);
        if (ones == 0)
            continue;
        uint64_t *counts =
            s->units + (run->out->layers[visit->layer].first + (size_t)u) * (1 + c->count);
        bits_of_bytes(s->mask, c->pixels, s->bits);
        counts[0] += (uint64_t)ones;
        for (size_t m = 0; m < c->count; m++)
            counts[1 + m] += bits_both(s->bits, attributes + m * run->words, run->words);
    }
    return PX_OK;
}

/* --- workers --------------------------------------------------------------------------------- */

static px_status slot_open(const dissect_run *run, slot *s, px_error *err)
{
    const px_concepts *c = run->c;
    const size_t layers = run->out->layer_count;
    PX_TRY(pxi_look_new(c->h, c->w, &c->facts, &s->look, err));
    s->memory = pxi_arena_new();
    s->pixels = pxi_arena_alloc(s->memory, c->floats, sizeof *s->pixels);
    s->plane = pxi_arena_alloc(s->memory, c->pixels, sizeof *s->plane);
    s->mask = pxi_arena_alloc(s->memory, c->pixels, 1);
    s->bits = pxi_arena_alloc(s->memory, run->words, sizeof *s->bits);
    s->places = pxi_arena_alloc(s->memory, PLACES * c->count * run->words, sizeof *s->places);
    s->upsamplers = pxi_arena_alloc(s->memory, layers, sizeof(pxi_upsampler *));
    s->area = pxi_arena_alloc(s->memory, c->count, sizeof *s->area);
    s->units = pxi_arena_alloc(s->memory, run->out->unit_count, (1 + c->count) * sizeof *s->units);
    if (!pxi_arena_whole(s->memory))
        return pxi_no_memory_for(err, "dissecting %zu units", run->out->unit_count);
    for (size_t i = 0; i < PLACES; i++)
        s->held[i] = -1;
    for (size_t l = 0; l < layers; l++) {
        const pxi_unit_layer *layer = pxi_unit_stream_layer(run->stream, l);
        PX_TRY(pxi_upsampler_new(layer->h, layer->w, c->h, c->w,
                                 px_exemplars_facts(run->e).zero_padded, &s->upsamplers[l], err));
    }
    return PX_OK;
}

static void slots_close(dissect_run *run)
{
    for (int i = 0; run->slots && i < run->slot_count; i++) {
        slot *s = &run->slots[i];
        for (size_t l = 0; s->upsamplers && l < run->out->layer_count; l++)
            pxi_upsampler_free(s->upsamplers[l]);
        pxi_look_free(s->look);
        pxi_arena_free(s->memory);
    }
    free(run->slots);
}

/* --- the pass -------------------------------------------------------------------------------- */

/* The exemplars are of the same layers as the network's that are run now. */
static px_status layers_match(const dissect_run *run, px_error *err)
{
    const size_t layers = px_exemplars_layer_count(run->e);
    if (layers != pxi_unit_stream_layer_count(run->stream))
        return px_fail(err, PX_E_MISMATCH,
                       "the exemplars are of %zu layers, %zu are dissected; give the --layers they "
                       "were collected with",
                       layers, pxi_unit_stream_layer_count(run->stream));
    for (size_t l = 0; l < layers; l++) {
        const px_exemplar_layer *e = px_exemplars_layer(run->e, l);
        const pxi_unit_layer *s = pxi_unit_stream_layer(run->stream, l);
        bool fits = strcmp(e->name, s->layer->name) == 0 && e->units <= s->units &&
                    (e->numbers || e->units == s->units);
        for (int64_t u = 0; fits && e->numbers && u < e->units; u++)
            fits = e->numbers[u] >= 0 && e->numbers[u] < s->units;
        if (!fits)
            return px_fail(err, PX_E_MISMATCH,
                           "the exemplars' layer '%.120s' (%" PRId64
                           " units) is not the network's layer '%.120s' (%" PRId64 " units)",
                           e->name, e->units, s->layer->name, s->units);
    }
    return PX_OK;
}

static px_status run_items(dissect_run *run, px_error *err)
{
    const int64_t all = px_dataset_count(run->set), limit = run->o->limit;
    run->count = limit > 0 ? PX_MIN(limit, all) : all;
    PX_TRY(PX_NEW(run->items, run->count, err));
    for (int64_t i = 0; i < run->count; i++)
        run->items[i] = (int64_t)((double)i * (double)all / (double)run->count);
    return PX_OK;
}

/* IoU = shared / (mask + attribute - shared); 0 where neither has a pixel. */
static px_status run_finish(dissect_run *run, bool divided, px_error *err)
{
    const size_t maps = run->c->count, units = run->out->unit_count;
    slot *sum = &run->slots[0];
    for (int i = 1; i < run->slot_count; i++) {
        for (size_t m = 0; m < maps; m++)
            sum->area[m] += run->slots[i].area[m];
        for (size_t k = 0; k < units * (1 + maps); k++)
            sum->units[k] += run->slots[i].units[k];
    }
    if (divided) {
        PX_TRY(pxi_ranks_add("the areas of concepts", PX_OK, sum->area, maps, err));
        PX_TRY(pxi_ranks_add("the masks of units", PX_OK, sum->units, units * (1 + maps), err));
    }
    for (size_t u = 0; u < units; u++)
        for (size_t m = 0; m < maps; m++) {
            const uint64_t *counts = sum->units + u * (1 + maps);
            const uint64_t any = counts[0] + sum->area[m] - counts[1 + m];
            run->out->iou[u * maps + m] = any ? (double)counts[1 + m] / (double)any : 0.0;
        }
    return PX_OK;
}

px_status px_dissect(const px_model *model, const px_dataset *set, const px_preprocess *pre,
                     const px_exemplars *exemplars, const px_concepts *concepts,
                     const px_dissect_options *options, px_dissection **out, px_error *err)
{
    const px_dissect_options none = {0};
    dissect_run run = {.set = set, .c = concepts, .e = exemplars, .o = options ? options : &none};
    const pxi_unit_stream_options stream = {
        .layers = run.o->layers, .threads = run.o->threads, .batch = run.o->batch};
    const px_shape shape = px_dataset_shape(set);
    if (shape.rank != 3 || shape.dim[0] != concepts->channels || shape.dim[1] != concepts->h ||
        shape.dim[2] != concepts->w)
        return px_fail(err, PX_E_MISMATCH,
                       "the attributes were made for pictures of another shape");
    run.words = (concepts->pixels + 63) / 64;
    px_status status = pxi_unit_stream_open(model, set, pre, &stream, &run.stream, err);
    PX_THEN(status, layers_match(&run, err));
    PX_THEN(status, run_items(&run, err));
    PX_THEN(status, pxi_dissection_new(exemplars, concepts, set, &run.out, err));
    if (status != PX_OK)
        goto done;
    run.slot_count = pxi_unit_stream_slots(run.stream);
    run.slots = pxi_calloc((size_t)run.slot_count, sizeof *run.slots);
    if (!run.slots)
        status = pxi_no_memory(err);
    for (int i = 0; status == PX_OK && i < run.slot_count; i++)
        status = slot_open(&run, &run.slots[i], err);
    const bool divided = status == PX_OK && pxi_unit_stream_divide(run.stream);
    PX_THEN(status, pxi_unit_stream_run(run.stream, run.items, run.count, dissect_visit, &run,
                                        run.o->progress, run.o->progress_context, err));
    PX_THEN(status, run_finish(&run, divided, err));
    if (status == PX_OK)
        pxi_dissection_rank(run.out);
done:
    slots_close(&run);
    free(run.items);
    pxi_unit_stream_close(run.stream);
    if (status == PX_OK)
        *out = run.out;
    else
        px_dissection_free(run.out);
    return status;
}
