/* src/describe/virtual_corpus.c - a corpus of virtual units: the pictures, the workers, the splits
 *
 * Pictures are held in memory, as every unit looks at hundreds of them. Whatever is random is
 * addressed by the unit's number, so threads and their order change nothing.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "describe/virtual_unit.h"

#include "base/arena.h"
#include "base/ascending.h"
#include "base/memory.h"
#include "describe/smooth.h"

#include <assert.h>
#include <internal/rng.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define POOL_BYTES_MOST ((size_t)512 << 20)
#define DRAWN_MOST 0.3 /* share of units */
#define PICTURES_BYTES_MOST ((size_t)1 << 30)
#define MAPS_BYTES_MOST ((size_t)128 << 20) /* of a unit's maps, per worker */

px_virtual_options px_virtual_options_default(void)
{
    return (px_virtual_options){.count = 2400,
                                .images = 800,
                                .pool = 10000,
                                .exemplars = 15,
                                .quantile = 0.99,
                                .held_out = 0.08,
                                .unseen = 0.1};
}

/* --- the pool of pictures -------------------------------------------------------------------- */

static px_status pool_load(void *context, int worker, int64_t index, px_error *err)
{
    pxi_maker *m = context;
    (void)worker;
    float *values = m->pool.values + (size_t)index * m->c->floats;
    PX_TRY(px_dataset_pixels(m->set, m->pool.items[index], values, err));
    pxi_concepts_values(m->c, values, values);
    m->pool.labels[index] = px_dataset_label(m->set, m->pool.items[index]);
    return PX_OK;
}

static px_status pool_open(pxi_maker *m, px_error *err)
{
    const px_concepts *c = m->c;
    const int64_t all = px_dataset_count(m->set);
    const size_t each = c->floats * sizeof(float);
    int64_t count = PX_MIN(all, PX_MAX(m->o.pool, m->o.exemplars));
    count = PX_MIN(count, PX_MAX((int64_t)(POOL_BYTES_MOST / each), m->o.exemplars));
    m->o.images = PX_MIN(m->o.images, PXI_DRAWN_IMAGES_MOST);
    const int64_t maps = (int64_t)(MAPS_BYTES_MOST / (2 * c->pixels * sizeof(float)));
    m->o.images = PX_MIN(PX_MIN(m->o.images, count), PX_MAX(maps, m->o.exemplars));
    if (count < m->o.exemplars)
        return px_fail(err, PX_E_INPUT,
                       "virtual units need at least as many pictures as exemplars: %" PRId64
                       ", there are %" PRId64,
                       m->o.exemplars, count);
    int64_t *order = pxi_calloc((size_t)all, sizeof *order);
    m->pool.items = pxi_calloc((size_t)count, sizeof *m->pool.items);
    m->pool.labels = pxi_calloc((size_t)count, sizeof *m->pool.labels);
    m->pool.values = pxi_calloc((size_t)count * c->floats, sizeof *m->pool.values);
    if (!order || !m->pool.items || !m->pool.labels || !m->pool.values) {
        free(order);
        return pxi_no_memory_for(err, "%" PRId64 " pictures", count);
    }
    px_random r = px_rng(m->o.seed, PX_RNG_VIRTUAL, PXI_CORPUS_ITEM, 1);
    px_rng_permutation(&r, order, (uint32_t)all);
    memcpy(m->pool.items, order, (size_t)count * sizeof *order);
    free(order);
    qsort(m->pool.items, (size_t)count, sizeof *m->pool.items, pxi_order_int64);
    m->pool.count = count;
    return pxi_pool_run(m->threads, count, pool_load, m, pxi_pool_unwatched, NULL, err);
}

/* Terms of the classes that some picture of the pool has. */
static px_status pool_classes(pxi_maker *m, px_error *err)
{
    const px_concepts *c = m->c;
    const size_t classes = c->first_drawn - c->first_class;
    bool *seen = pxi_calloc(classes + 1, sizeof *seen);
    m->classes = pxi_calloc(classes + 1, sizeof *m->classes);
    if (!seen || !m->classes) {
        free(seen);
        return pxi_no_memory(err);
    }
    for (int64_t i = 0; i < m->pool.count; i++)
        if (m->pool.labels[i] >= 0 && (size_t)m->pool.labels[i] < classes)
            seen[m->pool.labels[i]] = true;
    for (size_t i = 0; i < classes; i++)
        if (seen[i])
            m->classes[m->class_count++] = c->first_class + i;
    free(seen);
    return PX_OK;
}

/* --- the corpus ------------------------------------------------------------------------------ */

static px_status workers_open(pxi_maker *m, px_error *err)
{
    const px_concepts *c = m->c;
    const size_t n = c->pixels, maps = (size_t)m->o.images * n;
    m->worker_count = pxi_pool_threads(m->threads);
    m->memory = pxi_arena_new();
    m->workers = pxi_arena_alloc(m->memory, (size_t)m->worker_count, sizeof *m->workers);
    for (int i = 0; m->workers && i < m->worker_count; i++) {
        pxi_maker_worker *w = &m->workers[i];
        PX_TRY(pxi_look_new(c->h, c->w, &c->facts, &w->look, err));
        w->plane = pxi_arena_alloc(m->memory, n, sizeof *w->plane);
        w->colour = pxi_arena_alloc(m->memory, n, sizeof *w->colour);
        w->window = pxi_arena_alloc(m->memory, n, sizeof *w->window);
        w->picture = pxi_arena_alloc(m->memory, c->floats, sizeof *w->picture);
        w->scratch = pxi_arena_alloc(m->memory, pxi_smooth_scratch(c->h, c->w), sizeof *w->scratch);
        w->main = pxi_arena_alloc(m->memory, maps, sizeof *w->main);
        w->other = pxi_arena_alloc(m->memory, maps, sizeof *w->other);
        w->mask = pxi_arena_alloc(m->memory, n, 1);
        w->order = pxi_arena_alloc(m->memory, (size_t)m->pool.count, sizeof *w->order);
        w->best = pxi_arena_alloc(m->memory, (size_t)m->o.exemplars, sizeof *w->best);
        w->score = pxi_arena_alloc(m->memory, (size_t)m->o.exemplars, sizeof *w->score);
        w->counts = pxi_arena_alloc(m->memory, 1, sizeof *w->counts);
        w->total = pxi_arena_alloc(m->memory, 1, sizeof *w->total);
    }
    return pxi_arena_whole(m->memory) ? PX_OK : pxi_no_memory(err);
}

static void maker_done(pxi_maker *m)
{
    for (int i = 0; m->workers && i < m->worker_count; i++)
        pxi_look_free(m->workers[i].look);
    pxi_arena_free(m->memory);
    free(m->pool.items);
    free(m->pool.labels);
    free(m->pool.values);
    free(m->classes);
    free(m->made);
    pxi_pool_free(m->threads);
}

static px_status corpus_open(pxi_maker *m, px_error *err)
{
    px_virtual_units *out = NULL;
    PX_TRY(PX_NEW(out, 1, err));
    m->out = out;
    const size_t count = (size_t)m->o.count, all = count * (size_t)m->o.exemplars;
    out->count = count;
    out->exemplars = m->o.exemplars;
    out->pixels = m->c->pixels;
    out->mask_bytes = (m->c->pixels + 7) / 8;
    out->arena = pxi_arena_new();
    out->units = pxi_calloc(count, sizeof *out->units);
    out->images = pxi_calloc(all, sizeof *out->images);
    out->masks = pxi_calloc(all, out->mask_bytes);
    out->drawn = pxi_calloc(count, sizeof *out->drawn);
    m->made = pxi_calloc(count, sizeof *m->made);
    return out->arena && out->units && out->images && out->masks && out->drawn && m->made
               ? PX_OK
               : pxi_no_memory_for(err, "%zu virtual units", count);
}

/* Which units are drawn, and room for their pictures. */
static px_status corpus_drawn(pxi_maker *m, px_error *err)
{
    px_virtual_units *out = m->out;
    const size_t each = (size_t)m->o.exemplars * 3 * m->c->pixels;
    px_random r = px_rng(m->o.seed, PX_RNG_DRAWN, PXI_CORPUS_ITEM, 0);
    for (size_t i = 0; i < out->count; i++)
        out->drawn[i] = px_rng_u01(&r) < m->o.drawn ? out->drawn_count++ : PXI_NONE;
    if (out->drawn_count == 0)
        return PX_OK;
    if (out->drawn_count > PICTURES_BYTES_MOST / each)
        return px_fail(err, PX_E_USAGE,
                       "the pictures of %zu drawn units would take more than %zu bytes; draw fewer",
                       out->drawn_count, PICTURES_BYTES_MOST);
    out->pictures = pxi_calloc(out->drawn_count, each);
    return out->pictures ? PX_OK : pxi_no_memory_for(err, "%zu drawn units", out->drawn_count);
}

static px_status corpus_words(pxi_maker *m, size_t i, px_error *err)
{
    px_virtual_units *out = m->out;
    const pxi_made_unit *made = &m->made[i];
    px_virtual_unit *u = &out->units[i];
    size_t *terms = NULL;
    PX_TRY(PX_ARENA_NEW(terms, out->arena, 3, err));
    u->term_count = pxi_recipe_terms(m->c, &made->recipe, terms);
    u->terms = terms;
    u->level = made->level;
    u->drawn = out->drawn[i] != PXI_NONE;
    u->images = out->images + i * (size_t)out->exemplars;
    u->exemplar_count = out->exemplars;
    for (int form = 0; form < PX_VIRTUAL_CAPTIONS; form++) {
        px_text text = {0};
        pxi_recipe_caption(m->c, &made->recipe, form, &text);
        u->captions[form] =
            px_text_failed(&text) ? NULL : pxi_arena_strdup(out->arena, px_text_get(&text));
        px_text_done(&text);
        if (!u->captions[form])
            return pxi_no_memory(err);
    }
    return PX_OK;
}

/* Units with a reserved pair first; of all units in random order, the first that have none are held
 * out until there are enough. */
static px_status corpus_split(pxi_maker *m, px_error *err)
{
    const px_concepts *c = m->c;
    px_virtual_units *out = m->out;
    bool *reserved = pxi_calloc(c->first_position * PXI_POSITIONS, sizeof *reserved);
    int64_t *order = pxi_calloc(out->count, sizeof *order);
    if (!reserved || !order) {
        free(reserved);
        free(order);
        return pxi_no_memory(err);
    }
    pxi_pairs_reserve(c, m->o.unseen, m->o.seed, reserved);
    px_random r = px_rng(m->o.seed, PX_RNG_VIRTUAL, PXI_CORPUS_ITEM, 2);
    px_rng_permutation(&r, order, (uint32_t)out->count);
    int64_t left = llround(m->o.held_out * (double)out->count);
    for (size_t k = 0; k < out->count; k++) {
        const size_t i = (size_t)order[k];
        if (pxi_recipe_is_reserved(c, &m->made[i].recipe, reserved))
            out->units[i].split = PX_VIRTUAL_UNSEEN;
        else if (left-- > 0)
            out->units[i].split = PX_VIRTUAL_HELD_OUT;
    }
    free(reserved);
    free(order);
    return PX_OK;
}

static px_status options_check(const px_concepts *c, const px_dataset *set,
                               const px_virtual_options *o, px_error *err)
{
    const px_shape shape = px_dataset_shape(set);
    if (shape.rank != 3 || shape.dim[0] != c->channels || shape.dim[1] != c->h ||
        shape.dim[2] != c->w)
        return px_fail(err, PX_E_MISMATCH,
                       "the attributes were made for pictures of another shape");
    if (o->count < 1 || o->count > (int64_t)PX_BANK_UNITS_MOST)
        return px_fail(err, PX_E_USAGE, "%" PRId64 " virtual units are not possible: 1 to %zu are",
                       o->count, PX_BANK_UNITS_MOST);
    if (o->exemplars < 1 || o->exemplars > PX_EXEMPLARS_MOST || o->images < o->exemplars)
        return px_fail(err, PX_E_USAGE,
                       "%" PRId64 " exemplars of %" PRId64
                       " pictures are not possible: at most %d, and no more than pictures",
                       o->exemplars, o->images, PX_EXEMPLARS_MOST);
    if (!(o->quantile > 0.0 && o->quantile < 1.0) || !(o->held_out >= 0.0 && o->held_out < 1.0) ||
        !(o->unseen >= 0.0 && o->unseen < 1.0))
        return px_fail(err, PX_E_USAGE, "the quantile and the shares held out lie between 0 and 1");
    if (!(o->drawn >= 0.0 && o->drawn < DRAWN_MOST))
        return px_fail(
            err, PX_E_USAGE,
            "drawn concepts may be less than %g of the corpus: they did not transfer when "
            "used alone",
            DRAWN_MOST);
    if (px_dataset_count(set) > UINT32_MAX - 1)
        return px_fail(err, PX_E_UNSUPPORTED, "virtual units are made of at most 2^32 pictures");
    return PX_OK;
}

px_status px_virtual_units_make(const px_concepts *concepts, const px_dataset *set,
                                const px_virtual_options *options, px_virtual_units **out,
                                px_error *err)
{
    pxi_maker m = {
        .c = concepts, .set = set, .o = options ? *options : px_virtual_options_default()};
    PX_TRY(options_check(concepts, set, &m.o, err));
    px_status status = pxi_pool_new(m.o.threads, &m.threads, err);
    PX_THEN(status, pool_open(&m, err));
    PX_THEN(status, pool_classes(&m, err));
    PX_THEN(status, corpus_open(&m, err));
    PX_THEN(status, corpus_drawn(&m, err));
    PX_THEN(status, workers_open(&m, err));
    PX_THEN(status, pxi_pool_run(m.threads, m.o.count, pxi_virtual_unit_make, &m, m.o.progress,
                                 m.o.progress_context, err));
    for (size_t i = 0; status == PX_OK && i < m.out->count; i++)
        status = corpus_words(&m, i, err);
    PX_THEN(status, corpus_split(&m, err));
    if (status == PX_OK)
        *out = m.out;
    else
        px_virtual_units_free(m.out);
    maker_done(&m);
    return status;
}

void px_virtual_units_free(px_virtual_units *units)
{
    if (!units)
        return;
    pxi_arena_free(units->arena);
    free(units->units);
    free(units->images);
    free(units->masks);
    free(units->pictures);
    free(units->drawn);
    free(units);
}

size_t px_virtual_units_count(const px_virtual_units *units)
{
    return units->count;
}

const px_virtual_unit *px_virtual_units_get(const px_virtual_units *units, size_t i)
{
    return i < units->count ? &units->units[i] : NULL;
}

void px_virtual_units_mask(const px_virtual_units *units, size_t i, int64_t j, uint8_t *mask)
{
    assert(i < units->count && j >= 0 && j < units->exemplars);
    const uint8_t *bits =
        units->masks + (i * (size_t)units->exemplars + (size_t)j) * units->mask_bytes;
    for (size_t p = 0; p < units->pixels; p++)
        mask[p] = (uint8_t)((unsigned)bits[p / 8] >> (p % 8) & 1u);
}

const uint8_t *px_virtual_units_picture(const px_virtual_units *units, size_t i, int64_t j)
{
    assert(i < units->count && j >= 0 && j < units->exemplars);
    if (!units->pictures || units->drawn[i] == PXI_NONE)
        return NULL;
    return units->pictures +
           (units->drawn[i] * (size_t)units->exemplars + (size_t)j) * 3 * units->pixels;
}
