/* src/describe/concepts.c - the attributes of a data set: what depends on all of its pictures
 *
 * Passes over the data, each with what the one before found: the range of values (float data), edge
 * maxima and the colour of the ink, the median width of strokes (glyphs), and three for the levels
 * of maps that are not two-valued. Workers count; counts and maxima are joined, which knows no
 * order.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "describe/concepts_internal.h"

#include "base/arena.h"
#include "base/memory.h"
#include "base/worker_pool.h"
#include "describe/exemplar_level.h"
#include "describe/mask.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#define LEVEL_QUANTILE 0.9 /* of maps that are not two-valued */
#define LEVEL_TWO_VALUED 0.5
#define LIMIT_DEFAULT 10000

px_concepts_options px_concepts_options_default(void)
{
    return (px_concepts_options){.limit = LIMIT_DEFAULT};
}

void pxi_concepts_values(const px_concepts *c, const float *pixels, float *values)
{
    const float offset = (float)c->offset, gain = (float)c->gain;
    for (size_t i = 0; i < c->floats; i++) {
        const float v = (pixels[i] - offset) * gain;
        values[i] = v > 0.0f ? PX_MIN(v, 1.0f) : 0.0f; /* NaN: 0 */
    }
}

/* --- one pass -------------------------------------------------------------------------------- */

typedef enum survey_pass { SURVEY_RANGE, SURVEY_EDGES, SURVEY_STROKES, SURVEY_LEVELS } survey_pass;

typedef struct survey_worker {
    pxi_look *look;
    float *pixels, *values, *plane;
    double least, most;
    double edge_most[PXI_EDGE_MAPS];
    int64_t frame, frame_bright;
    uint64_t *widths;         /* [h * h + w * w + 1]: ink pixels by squared distance */
    pxi_level_counts *counts; /* [maps] */
} survey_worker;

typedef struct survey {
    px_concepts *c;
    const px_dataset *set;
    const px_concepts_options *options;
    px_pool *pool;
    px_arena *memory;            /* of the arrays */
    int64_t images, step_images; /* all of the data; how many are looked at */
    survey_pass pass;
    int digit; /* of the levels */
    survey_worker *workers;
    int worker_count;
    pxi_level_total *totals; /* [maps] */
    pxi_level_pick *picks;
    int64_t done, all;
} survey;

static bool survey_tick(void *context, int64_t done, int64_t total)
{
    const survey *s = context;
    (void)total;
    return !s->options->progress ||
           s->options->progress(s->options->progress_context, s->done + done, s->all);
}

static size_t survey_widths(const px_concepts *c)
{
    return (size_t)c->h * (size_t)c->h + (size_t)c->w * (size_t)c->w + 1;
}

static void survey_range(survey_worker *w, const px_concepts *c)
{
    for (size_t i = 0; i < c->floats; i++) {
        const double v = (double)w->pixels[i];
        if (!isfinite(v))
            continue;
        w->least = PX_MIN(w->least, v);
        w->most = PX_MAX(w->most, v);
    }
}

static void survey_edges(survey_worker *w, const px_concepts *c)
{
    for (int e = 0; e < PXI_EDGE_MAPS; e++) {
        pxi_look_edges(w->look, e, w->plane);
        for (size_t i = 0; i < c->pixels; i++)
            w->edge_most[e] = PX_MAX(w->edge_most[e], (double)w->plane[i]);
    }
    const float *y = pxi_look_brightness(w->look);
    for (int v = 0; v < c->h; v++)
        for (int u = 0; u < c->w; u++)
            if (v == 0 || u == 0 || v == c->h - 1 || u == c->w - 1) {
                w->frame++;
                w->frame_bright += y[(size_t)v * (size_t)c->w + (size_t)u] > 0.5f;
            }
}

static void survey_levels(survey *s, survey_worker *w)
{
    const px_concepts *c = s->c;
    for (size_t m = 0; m < c->count; m++) {
        if (c->maps[m].two_valued)
            continue;
        pxi_look_map(w->look, &c->attributes[m], w->plane);
        pxi_level_observe(&s->picks[m], s->digit, &w->counts[m], w->plane, c->pixels);
    }
}

static px_status survey_image(void *context, int worker, int64_t index, px_error *err)
{
    survey *s = context;
    const px_concepts *c = s->c;
    survey_worker *w = &s->workers[worker];
    /* Evenly spaced, the first one included. */
    const int64_t item =
        s->step_images == s->images
            ? index
            : (int64_t)((double)index * (double)s->images / (double)s->step_images);
    PX_TRY(px_dataset_pixels(s->set, item, w->pixels, err));
    if (s->pass == SURVEY_RANGE) {
        survey_range(w, c);
        return PX_OK;
    }
    pxi_concepts_values(c, w->pixels, w->values);
    pxi_look_at(w->look, w->values, c->channels);
    if (s->pass == SURVEY_EDGES)
        survey_edges(w, c);
    else if (s->pass == SURVEY_LEVELS)
        survey_levels(s, w);
    else {
        const int32_t *distance = pxi_look_distance(w->look);
        for (size_t i = 0; i < c->pixels; i++)
            w->widths[distance[i]] += distance[i] > 0;
    }
    return PX_OK;
}

/* --- workers --------------------------------------------------------------------------------- */

static void survey_close(survey *s)
{
    for (int i = 0; s->workers && i < s->worker_count; i++)
        pxi_look_free(s->workers[i].look);
    pxi_arena_free(s->memory);
    pxi_pool_free(s->pool);
}

static px_status survey_open(survey *s, px_error *err)
{
    const px_concepts *c = s->c;
    PX_TRY(pxi_pool_new(s->options->threads, &s->pool, err));
    s->worker_count = pxi_pool_threads(s->pool);
    s->memory = pxi_arena_new();
    s->workers = pxi_arena_alloc(s->memory, (size_t)s->worker_count, sizeof *s->workers);
    s->totals = pxi_arena_alloc(s->memory, c->count, sizeof *s->totals);
    s->picks = pxi_arena_alloc(s->memory, c->count, sizeof *s->picks);
    for (int i = 0; s->workers && i < s->worker_count; i++) {
        survey_worker *w = &s->workers[i];
        w->least = INFINITY;
        w->most = -INFINITY;
        w->pixels = pxi_arena_alloc(s->memory, c->floats, sizeof *w->pixels);
        w->values = pxi_arena_alloc(s->memory, c->floats, sizeof *w->values);
        w->plane = pxi_arena_alloc(s->memory, c->pixels, sizeof *w->plane);
        w->widths = pxi_arena_alloc(s->memory, survey_widths(c), sizeof *w->widths);
        w->counts = pxi_arena_alloc(s->memory, c->count, sizeof *w->counts);
    }
    return pxi_arena_whole(s->memory) ? PX_OK : pxi_no_memory(err);
}

/* Looks have the facts in them: they are made anew when those have changed. */
static px_status survey_run(survey *s, survey_pass pass, px_error *err)
{
    s->pass = pass;
    for (int i = 0; i < s->worker_count; i++) {
        survey_worker *w = &s->workers[i];
        pxi_look_free(w->look);
        w->look = NULL;
        PX_TRY(pxi_look_new(s->c->h, s->c->w, &s->c->facts, &w->look, err));
        for (size_t m = 0; m < s->c->count; m++)
            pxi_level_zero(&w->counts[m]);
    }
    PX_TRY(pxi_pool_run(s->pool, s->step_images, survey_image, s, survey_tick, s, err));
    s->done += s->step_images;
    return PX_OK;
}

/* --- all passes ------------------------------------------------------------------------------ */

/* Values that leave 0..1 are brought there by the data's own range. */
static px_status survey_take_range(survey *s, px_error *err)
{
    px_concepts *c = s->c;
    double least = INFINITY, most = -INFINITY;
    for (int i = 0; i < s->worker_count; i++) {
        least = PX_MIN(least, s->workers[i].least);
        most = PX_MAX(most, s->workers[i].most);
    }
    if (!(least <= most))
        return px_fail(err, PX_E_INPUT, "the data have no finite values: nothing can be seen");
    if (least * c->gain < 0.0 || most * c->gain > 1.0) {
        c->offset = least;
        c->gain = most > least ? 1.0 / (most - least) : 1.0;
    }
    return PX_OK;
}

static void survey_take_edges(survey *s)
{
    px_concepts *c = s->c;
    int64_t frame = 0, bright = 0;
    for (int i = 0; i < s->worker_count; i++) {
        const survey_worker *w = &s->workers[i];
        for (int e = 0; e < PXI_EDGE_MAPS; e++)
            c->facts.edge_most[e] = PX_MAX(c->facts.edge_most[e], w->edge_most[e]);
        frame += w->frame;
        bright += w->frame_bright;
    }
    c->facts.dark_ink = 2 * bright > frame; /* frames are mostly ground */
}

static void survey_take_strokes(survey *s)
{
    px_concepts *c = s->c;
    const size_t widths = survey_widths(c);
    uint64_t all = 0, seen = 0;
    double low = 0.0, high = 0.0;
    for (int i = 1; i < s->worker_count; i++)
        for (size_t d = 0; d < widths; d++)
            s->workers[0].widths[d] += s->workers[i].widths[d];
    for (size_t d = 1; d < widths; d++)
        all += s->workers[0].widths[d];
    for (size_t d = 1; d < widths && all > 0; d++) {
        const uint64_t upto = seen + s->workers[0].widths[d];
        if (seen <= (all - 1) / 2 && (all - 1) / 2 < upto)
            low = sqrt((double)d);
        if (seen <= all / 2 && all / 2 < upto)
            high = sqrt((double)d);
        seen = upto;
    }
    c->facts.stroke_median = (low + high) / 2.0;
}

static px_status survey_all(survey *s, px_error *err)
{
    px_concepts *c = s->c;
    const bool ranged = !px_dataset_is_8bit(s->set), strokes = c->kind == PX_CONCEPTS_GLYPH;
    s->all = s->step_images * (ranged + 1 + strokes + PXI_LEVEL_PASSES);
    if (ranged) {
        PX_TRY(survey_run(s, SURVEY_RANGE, err));
        PX_TRY(survey_take_range(s, err));
    }
    PX_TRY(survey_run(s, SURVEY_EDGES, err));
    survey_take_edges(s);
    if (strokes) {
        PX_TRY(survey_run(s, SURVEY_STROKES, err));
        survey_take_strokes(s);
    }
    for (s->digit = 0; s->digit < PXI_LEVEL_PASSES; s->digit++) {
        PX_TRY(survey_run(s, SURVEY_LEVELS, err));
        for (size_t m = 0; m < c->count; m++) {
            if (c->maps[m].two_valued)
                continue;
            pxi_level_zero_total(&s->totals[m]);
            for (int i = 0; i < s->worker_count; i++)
                pxi_level_join(&s->totals[m], &s->workers[i].counts[m]);
            pxi_level_narrow(&s->picks[m], s->digit, LEVEL_QUANTILE, &s->totals[m]);
            c->maps[m].level = s->picks[m].level;
        }
    }
    return PX_OK;
}

/* --- the object ------------------------------------------------------------------------------ */

static px_status concepts_shape(const px_dataset *set, px_concept_kind kind, px_concepts *c,
                                px_error *err)
{
    const px_shape shape = px_dataset_shape(set);
    char text[PX_SHAPE_TEXT];
    const int64_t channels = shape.rank == 3 ? shape.dim[0] : 0;
    if ((channels != 1 && channels != 3) || shape.dim[1] < 1 || shape.dim[2] < 1 ||
        shape.dim[1] > PXI_MAP_SIDE_MOST || shape.dim[2] > PXI_MAP_SIDE_MOST)
        return px_fail(err, PX_E_MISMATCH,
                       "attributes are of pictures with one or three channels; these inputs are %s",
                       px_shape_text(&shape, text));
    if (kind == PX_CONCEPTS_COLOUR && channels != 3)
        return px_fail(err, PX_E_MISMATCH,
                       "pictures of one channel have no colours; leave the kind to plexor, or ask "
                       "for glyph");
    c->kind =
        kind == PX_CONCEPTS_AUTO ? channels == 3 ? PX_CONCEPTS_COLOUR : PX_CONCEPTS_GLYPH : kind;
    c->channels = (int)channels;
    c->h = (int)shape.dim[1];
    c->w = (int)shape.dim[2];
    c->pixels = (size_t)c->h * (size_t)c->w;
    c->floats = c->pixels * (size_t)channels;
    return PX_OK;
}

static px_status concepts_words(const px_dataset *set, const px_concepts_options *o, px_concepts *c,
                                px_error *err)
{
    const int count = o->classes ? o->class_count : px_dataset_class_count(set);
    const char **names = NULL;
    PX_TRY(PX_NEW(names, (size_t)PX_MAX(count, 1), err));
    for (int i = 0; i < count; i++)
        names[i] = o->classes ? o->classes[i] : px_dataset_class_name(set, i);
    const px_status status = pxi_lexicon_make(c, names, count, err);
    free(names);
    return status;
}

px_status px_concepts_new(const px_dataset *set, const px_preprocess *pre,
                          const px_concepts_options *options, px_concepts **out, px_error *err)
{
    const px_concepts_options fallback = px_concepts_options_default();
    survey s = {.set = set, .options = options ? options : &fallback};
    px_status status = PX_E_NOMEM;
    px_concepts *c = NULL;
    PX_TRY(PX_NEW(c, 1, err));
    s.c = c;
    s.images = px_dataset_count(set);
    c->gain = px_dataset_is_8bit(set) ? 1.0 / 255.0 : pre ? (double)pre->scale : 1.0;
    if ((status = concepts_shape(set, s.options->kind, c, err)) != PX_OK)
        goto done;
    s.step_images = s.options->limit > 0 ? PX_MIN(s.options->limit, s.images) : s.images;
    s.step_images =
        PX_MIN(s.step_images, PX_MAX((int64_t)(UINT32_MAX / c->pixels), 1)); /* counts */
    c->attributes = pxi_attributes_of(c->kind, &c->count);
    c->arena = pxi_arena_new();
    c->maps = pxi_calloc(c->count, sizeof *c->maps);
    if (!c->arena || !c->maps) {
        status = pxi_no_memory(err);
        goto done;
    }
    for (size_t i = 0; i < c->count; i++)
        c->maps[i] = (px_concept){.words = c->attributes[i].words,
                                  .group = c->attributes[i].group,
                                  .two_valued = c->attributes[i].two_valued,
                                  .level = LEVEL_TWO_VALUED};
    if ((status = concepts_words(set, s.options, c, err)) == PX_OK &&
        (status = survey_open(&s, err)) == PX_OK)
        status = survey_all(&s, err);
done:
    survey_close(&s);
    return PX_GIVE(status, c, out, px_concepts_free);
}

void px_concepts_free(px_concepts *c)
{
    if (!c)
        return;
    pxi_arena_free(c->arena);
    free(c->maps);
    free(c->terms);
    free(c->keys);
    free(c);
}

px_concept_kind px_concepts_kind(const px_concepts *c)
{
    return c->kind;
}

int px_concepts_height(const px_concepts *c)
{
    return c->h;
}

int px_concepts_width(const px_concepts *c)
{
    return c->w;
}

size_t px_concepts_count(const px_concepts *c)
{
    return c->count;
}

const px_concept *px_concepts_get(const px_concepts *c, size_t i)
{
    return i < c->count ? &c->maps[i] : NULL;
}

px_status px_concepts_maps(const px_concepts *c, const float *pixels, float *maps, px_error *err)
{
    pxi_look *look = NULL;
    float *values = pxi_calloc(c->floats, sizeof *values);
    px_status status =
        values ? pxi_look_new(c->h, c->w, &c->facts, &look, err) : pxi_no_memory(err);
    if (status == PX_OK) {
        pxi_concepts_values(c, pixels, values);
        pxi_look_at(look, values, c->channels);
        for (size_t i = 0; i < c->count; i++)
            pxi_look_map(look, &c->attributes[i], maps + i * c->pixels);
    }
    pxi_look_free(look);
    free(values);
    return status;
}
