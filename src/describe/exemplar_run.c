/* src/describe/exemplar_run.c - the passes over the data that find exemplars and levels
 *
 * First pass: the best inputs of each unit, extremes, and the first digits of the level. Later
 * passes: the maps of the exemplars, which are known by then, and further digits. What workers
 * count is summed; which inputs are best is a matter of a total order (score, then index); so
 * neither depends on who saw which input when.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "describe/exemplar_internal.h"

#include "base/memory.h"
#include "describe/exemplar_level.h"
#include "describe/unit_stream.h"
#include <internal/ranks.h>

#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define GRIDS_MOST ((uint64_t)2 << 30) /* bytes of histograms, of all workers */

typedef struct best { /* of one unit, best first */
    float *score;     /* [k] */
    int64_t *item;    /* [k] */
    int64_t filled;
} best;

typedef struct tally { /* one layer, of one worker or of all */
    best *best;        /* [units] */
    float *least, *most;
    int64_t *not_finite;
    pxi_level_counts *counts; /* [units]; exact */
    pxi_level_grid *grids;    /* [units]; approximate */
    float *scores;            /* memory of `best` */
    int64_t *items;
    uint64_t pending; /* values counted per unit since counts were joined */
} tally;

typedef struct place { /* where the map of an input in a layer is wanted */
    int64_t item;
    size_t layer;
    float *to;
    int64_t unit;
} place;

typedef struct search {
    const px_exemplar_options *options;
    pxi_unit_stream *stream;
    px_exemplars *out;
    int64_t inputs, k;
    int pass, slots;
    tally *tallies;          /* [slots][layers] */
    pxi_level_total **total; /* [layers][units]; under the lock */
    pxi_level_pick **pick;   /* [layers][units] */
    pthread_mutex_t lock;
    place *places; /* sorted by item and layer */
    size_t place_count;
    int64_t done, all; /* inputs, for the progress */
} search;

static bool search_tick(void *context, int64_t done, int64_t total)
{
    const search *s = context;
    (void)total;
    return !s->options->progress ||
           s->options->progress(s->options->progress_context, s->done + done, s->all);
}

/* --- one input ------------------------------------------------------------------------------- */

static bool better(float score, int64_t item, float than, int64_t than_item)
{
    return score > than || (score == than && item < than_item);
}

static void best_add(best *b, int64_t k, float score, int64_t item)
{
    if (b->filled == k && !better(score, item, b->score[k - 1], b->item[k - 1]))
        return;
    int64_t at = b->filled < k ? b->filled++ : k - 1;
    for (; at > 0 && better(score, item, b->score[at - 1], b->item[at - 1]); at--) {
        b->score[at] = b->score[at - 1];
        b->item[at] = b->item[at - 1];
    }
    b->score[at] = score;
    b->item[at] = item;
}

static void unit_extremes(tally *t, int64_t unit, int64_t k, int64_t item, const float *map,
                          size_t count)
{
    float least = INFINITY, most = -INFINITY;
    int64_t odd = 0;
    for (size_t i = 0; i < count; i++) {
        if (!isfinite(map[i])) {
            odd++;
            continue;
        }
        least = map[i] < least ? map[i] : least;
        most = map[i] > most ? map[i] : most;
    }
    t->not_finite[unit] += odd;
    if ((size_t)odd == count)
        return;
    t->least[unit] = PX_MIN(t->least[unit], least);
    t->most[unit] = PX_MAX(t->most[unit], most);
    best_add(&t->best[unit], k, most, item);
}

static void counts_flush(search *s, tally *t, size_t layer)
{
    pthread_mutex_lock(&s->lock);
    for (int64_t u = 0; u < s->out->layers[layer].info.units; u++) {
        pxi_level_join(&s->total[layer][u], &t->counts[u]);
        pxi_level_zero(&t->counts[u]);
    }
    pthread_mutex_unlock(&s->lock);
    t->pending = 0;
}

static int place_order(const void *a, const void *b)
{
    const place *p = a, *q = b;
    if (p->item != q->item)
        return p->item < q->item ? -1 : 1;
    if (p->layer != q->layer)
        return p->layer < q->layer ? -1 : 1;
    return (p->unit > q->unit) - (p->unit < q->unit);
}

/* Copies the maps of an input that is an exemplar. */
static void maps_copy(const search *s, const pxi_unit_visit *visit, size_t count)
{
    size_t low = 0, high = s->place_count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const place *p = &s->places[middle];
        if (p->item < visit->item || (p->item == visit->item && p->layer < visit->layer))
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < s->place_count && s->places[low].item == visit->item &&
           s->places[low].layer == visit->layer;
         low++)
        memcpy(s->places[low].to, visit->maps + (size_t)s->places[low].unit * count,
               count * sizeof(float));
}

static px_status search_visit(void *context, const pxi_unit_visit *visit, px_error *err)
{
    search *s = context;
    (void)err;
    const px_exemplar_layer *info = &s->out->layers[visit->layer].info;
    const size_t count = (size_t)info->h * (size_t)info->w;
    tally *t = &s->tallies[(size_t)visit->slot * s->out->layer_count + visit->layer];
    if (s->pass == 1)
        maps_copy(s, visit, count);
    if (t->counts && t->pending + count > PXI_LEVEL_FULL)
        counts_flush(s, t, visit->layer);
    t->pending += count;
    for (int64_t u = 0; u < info->units; u++) {
        const float *map = visit->maps + (size_t)u * count;
        if (s->pass == 0)
            unit_extremes(t, u, s->k, visit->item, map, count);
        if (t->counts)
            pxi_level_observe(&s->pick[visit->layer][u], s->pass, &t->counts[u], map, count);
        else if (s->pass == 0)
            pxi_grid_observe(&t->grids[u], map, count);
    }
    return PX_OK;
}

/* --- before and after a pass ----------------------------------------------------------------- */

static px_status tally_init(const search *s, tally *t, int64_t units, px_error *err)
{
    const size_t n = (size_t)units, k = (size_t)s->k;
    t->best = pxi_calloc(n, sizeof *t->best);
    t->least = pxi_calloc(n, sizeof *t->least);
    t->most = pxi_calloc(n, sizeof *t->most);
    t->not_finite = pxi_calloc(n, sizeof *t->not_finite);
    t->scores = pxi_calloc(n, k * sizeof *t->scores);
    t->items = pxi_calloc(n, k * sizeof *t->items);
    if (s->options->approximate)
        t->grids = pxi_calloc(n, sizeof *t->grids);
    else
        t->counts = pxi_calloc(n, sizeof *t->counts);
    if (!t->best || !t->least || !t->most || !t->not_finite || !t->scores || !t->items ||
        (!t->grids && !t->counts))
        return pxi_no_memory_for(err, "the counters of %zu units", n);
    for (size_t u = 0; u < n; u++) {
        t->least[u] = INFINITY;
        t->most[u] = -INFINITY;
        t->best[u] = (best){.score = t->scores + u * k, .item = t->items + u * k};
        if (t->grids)
            pxi_grid_zero(&t->grids[u]);
        else
            pxi_level_zero(&t->counts[u]);
    }
    return PX_OK;
}

static void tally_done(tally *t)
{
    free(t->best);
    free(t->least);
    free(t->most);
    free(t->not_finite);
    free(t->counts);
    free(t->grids);
    free(t->scores);
    free(t->items);
}

/* The first slot gets what the others found. */
static void tallies_join(search *s, size_t layer)
{
    tally *into = &s->tallies[layer];
    const int64_t units = s->out->layers[layer].info.units;
    for (int slot = 1; slot < s->slots; slot++) {
        tally *t = &s->tallies[(size_t)slot * s->out->layer_count + layer];
        for (int64_t u = 0; u < units; u++) {
            for (int64_t j = 0; j < t->best[u].filled; j++)
                best_add(&into->best[u], s->k, t->best[u].score[j], t->best[u].item[j]);
            into->least[u] = PX_MIN(into->least[u], t->least[u]);
            into->most[u] = PX_MAX(into->most[u], t->most[u]);
            into->not_finite[u] += t->not_finite[u];
            if (t->grids)
                pxi_grid_join(&into->grids[u], &t->grids[u]);
        }
    }
}

/* --- on several ranks ------------------------------------------------------------------------ */

/* What this rank's share of a pass found in a layer. */
static void layer_pack(const search *s, size_t layer, px_text *to)
{
    const tally *t = &s->tallies[layer];
    const pxi_exemplar_units *l = &s->out->layers[layer];
    const size_t units = (size_t)l->info.units, k = (size_t)s->k;
    px_text_add_bytes(to, (const char *)s->total[layer], units * sizeof **s->total);
    for (size_t u = 0; u < units && s->pass == 0; u++) {
        px_text_add_bytes(to, (const char *)&t->least[u], sizeof *t->least);
        px_text_add_bytes(to, (const char *)&t->most[u], sizeof *t->most);
        px_text_add_bytes(to, (const char *)&t->not_finite[u], sizeof *t->not_finite);
        px_text_add_bytes(to, (const char *)&t->best[u].filled, sizeof t->best[u].filled);
        px_text_add_bytes(to, (const char *)t->best[u].score, k * sizeof *t->best[u].score);
        px_text_add_bytes(to, (const char *)t->best[u].item, k * sizeof *t->best[u].item);
    }
    if (s->pass == 1) /* each map is one rank's, and zeros the others' */
        px_text_add_bytes(to, (const char *)l->maps,
                          units * k * (size_t)l->info.h * (size_t)l->info.w * sizeof *l->maps);
}

/* Where it is as long as it was packed. */
static bool layer_unpack(search *s, size_t layer, const char *from, size_t size)
{
    tally *t = &s->tallies[layer];
    pxi_exemplar_units *l = &s->out->layers[layer];
    const size_t units = (size_t)l->info.units, k = (size_t)s->k;
    bool good = true;
    for (size_t u = 0; good && u < units; u++) {
        pxi_level_total other, *total = &s->total[layer][u];
        good = pxi_ranks_take(&other, sizeof other, &from, &size);
        for (size_t i = 0; good && i < PXI_LEVEL_BINS; i++)
            total->bin[i] += other.bin[i];
        if (good)
            total->beyond = PX_MIN(total->beyond, other.beyond);
    }
    for (size_t u = 0; good && u < units && s->pass == 0; u++) {
        float least, most, score;
        int64_t not_finite, filled, item;
        good = pxi_ranks_take(&least, sizeof least, &from, &size) &&
               pxi_ranks_take(&most, sizeof most, &from, &size) &&
               pxi_ranks_take(&not_finite, sizeof not_finite, &from, &size) &&
               pxi_ranks_take(&filled, sizeof filled, &from, &size) && filled <= s->k &&
               size >= k * (sizeof score + sizeof item);
        for (int64_t j = 0; good && j < filled; j++) {
            memcpy(&score, from + (size_t)j * sizeof score, sizeof score);
            memcpy(&item, from + k * sizeof score + (size_t)j * sizeof item, sizeof item);
            best_add(&t->best[u], s->k, score, item);
        }
        if (!good)
            break;
        from += k * (sizeof score + sizeof item);
        size -= k * (sizeof score + sizeof item);
        t->least[u] = PX_MIN(t->least[u], least);
        t->most[u] = PX_MAX(t->most[u], most);
        t->not_finite[u] += not_finite;
    }
    const size_t floats = s->pass == 1 ? units * k * (size_t)l->info.h * (size_t)l->info.w : 0;
    for (size_t i = 0; good && i < floats; i++) {
        uint32_t bits, own;
        good = pxi_ranks_take(&bits, sizeof bits, &from, &size);
        memcpy(&own, &l->maps[i], sizeof own);
        if (good)
            own |= bits;
        memcpy(&l->maps[i], &own, sizeof own);
    }
    return good && size == 0;
}

static px_status layer_swap(search *s, size_t layer, px_error *err)
{
    px_text mine = {0};
    size_t *sizes = NULL;
    char *all = NULL;
    layer_pack(s, layer, &mine);
    px_status status = px_text_failed(&mine) ? pxi_no_memory(err) : PX_OK;
    PX_THEN(status, PX_NEW(sizes, pxi_rank_count(), err));
    status = pxi_ranks_swap("what units show", status, 0, px_text_get(&mine), mine.length, &all,
                            sizes, err);
    for (int r = 0; status == PX_OK && r < pxi_rank_count(); r++)
        if (r != pxi_rank() && !layer_unpack(s, layer, all + (size_t)r * mine.length, sizes[r]))
            status = px_fail(err, PX_E_INTERNAL, "what another rank's units show cannot be read");
    px_text_done(&mine);
    free(sizes);
    free(all);
    return status;
}

/* --- the end of a pass ----------------------------------------------------------------------- */

/* Puts what the first pass found where it stays, and notes where maps go. */
static void layer_settle(search *s, size_t layer, const px_dataset *set)
{
    const tally *t = &s->tallies[layer];
    pxi_exemplar_units *l = &s->out->layers[layer];
    const size_t map = (size_t)l->info.h * (size_t)l->info.w;
    for (int64_t u = 0; u < l->info.units; u++) {
        px_unit *unit = &l->units[u];
        const best *b = &t->best[u];
        unit->count = b->filled;
        unit->not_finite = t->not_finite[u];
        unit->least = b->filled ? (double)t->least[u] : NAN;
        unit->most = b->filled ? (double)t->most[u] : NAN;
        for (int64_t j = 0; j < b->filled; j++) {
            const size_t at = (size_t)(u * s->k + j);
            px_exemplar *e = &l->top[at];
            e->index = b->item[j];
            e->source = px_dataset_index(set, b->item[j]);
            e->score = (double)b->score[j];
            s->places[s->place_count++] =
                (place){.item = e->index, .layer = layer, .to = l->maps + at * map, .unit = u};
        }
    }
}

static void unit_level(px_unit *unit, double level)
{
    if (!isnan(level) && !isnan(unit->most)) /* a histogram's level may lie beyond the values */
        level = PX_MIN(PX_MAX(level, unit->least), unit->most);
    unit->level = level;
    unit->inactive = !(unit->most > level);
}

static void pass_start(search *s)
{
    for (size_t l = 0; l < s->out->layer_count && s->total; l++)
        for (int64_t u = 0; u < s->out->layers[l].info.units; u++)
            pxi_level_zero_total(&s->total[l][u]);
}

static px_status pass_end(search *s, const px_dataset *set, bool divided, px_error *err)
{
    for (size_t l = 0; l < s->out->layer_count; l++) {
        for (int slot = 0; slot < s->slots && !s->options->approximate; slot++)
            counts_flush(s, &s->tallies[(size_t)slot * s->out->layer_count + l], l);
        if (s->pass == 0)
            tallies_join(s, l);
        if (divided)
            PX_TRY(layer_swap(s, l, err));
        if (s->pass == 0)
            layer_settle(s, l, set);
        for (int64_t u = 0; u < s->out->layers[l].info.units; u++) {
            px_unit *unit = &s->out->layers[l].units[u];
            if (s->options->approximate) {
                if (s->pass == 0)
                    unit_level(unit, pxi_grid_level(&s->tallies[l].grids[u], s->options->quantile));
                continue;
            }
            pxi_level_narrow(&s->pick[l][u], s->pass, s->options->quantile, &s->total[l][u]);
            if (s->pass == PXI_LEVEL_PASSES - 1)
                unit_level(unit, s->pick[l][u].level);
        }
    }
    if (s->pass == 0)
        qsort(s->places, s->place_count, sizeof *s->places, place_order);
    return PX_OK;
}

/* --- all of it ------------------------------------------------------------------------------- */

static px_status layers_init(search *s, const px_model *model, const px_dataset *set, px_error *err)
{
    px_exemplars *e = s->out;
    const px_shape shape = px_dataset_shape(set);
    const size_t count = pxi_unit_stream_layer_count(s->stream);
    uint64_t bytes = 0, grids = 0;
    e->facts = (px_exemplar_facts){.model_hash = px_model_hash(model),
                                   .data_hash = px_dataset_hash(set),
                                   .inputs = s->inputs,
                                   .count = s->k,
                                   .quantile = s->options->quantile,
                                   .zero_padded = s->options->zero_padded,
                                   .approximate = s->options->approximate};
    e->facts.height = shape.rank == 3 ? (int)shape.dim[1] : 1;
    e->facts.width = shape.rank == 3 ? (int)shape.dim[2] : 1;
    e->arena = pxi_arena_new();
    e->layers = pxi_calloc(count, sizeof *e->layers);
    if (!e->arena || !e->layers)
        return pxi_no_memory_for(err, "%zu layers", count);
    e->layer_count = count;
    for (size_t i = 0; i < count; i++) {
        const pxi_unit_layer *from = pxi_unit_stream_layer(s->stream, i);
        px_exemplar_layer *to = &e->layers[i].info;
        to->name = pxi_arena_strdup(e->arena, from->layer->name);
        if (!to->name)
            return pxi_no_memory_for(err, "%zu layers", count);
        to->units = from->units;
        to->h = from->h;
        to->w = from->w;
        bytes += (uint64_t)from->units * (uint64_t)s->k * (uint64_t)from->h * (uint64_t)from->w *
                 sizeof(float);
        grids += (uint64_t)from->units * (uint64_t)s->slots * sizeof(pxi_level_grid);
    }
    if (bytes > (uint64_t)PX_EXEMPLAR_MAPS_MOST)
        return px_fail(err, PX_E_USAGE,
                       "the maps of %" PRId64 " exemplars per unit would take %" PRIu64
                       " MiB; choose fewer layers with --layers, or fewer exemplars",
                       s->k, bytes >> 20);
    if (s->options->approximate && grids > GRIDS_MOST)
        return px_fail(err, PX_E_USAGE,
                       "approximate levels of so many units would take %" PRIu64
                       " MiB of histograms; exact ones take a sixteenth of it",
                       grids >> 20);
    for (size_t i = 0; i < count; i++)
        PX_TRY(pxi_exemplar_units_init(&e->layers[i], s->k, /* with_maps= */ true, err));
    return PX_OK;
}

static px_status search_init(search *s, px_error *err)
{
    const size_t layers = s->out->layer_count;
    size_t units = 0;
    s->tallies = pxi_calloc((size_t)s->slots * layers, sizeof *s->tallies);
    s->total = pxi_calloc(layers, sizeof *s->total);
    s->pick = pxi_calloc(layers, sizeof *s->pick);
    bool failed = !s->tallies || !s->total || !s->pick;
    for (size_t l = 0; l < layers && !failed; l++) {
        const int64_t n = s->out->layers[l].info.units;
        units += (size_t)n;
        for (int slot = 0; slot < s->slots; slot++)
            PX_TRY(tally_init(s, &s->tallies[(size_t)slot * layers + l], n, err));
        s->pick[l] = pxi_calloc((size_t)n, sizeof **s->pick);
        s->total[l] = s->options->approximate ? NULL : pxi_calloc((size_t)n, sizeof **s->total);
        failed = !s->pick[l] || (!s->options->approximate && !s->total[l]);
    }
    if (!failed)
        failed = !(s->places = pxi_calloc(units, (size_t)s->k * sizeof *s->places));
    if (s->options->approximate) {
        free(s->total);
        s->total = NULL;
    }
    return failed ? pxi_no_memory_for(err, "the counters of %zu units", units) : PX_OK;
}

/* The inputs that are exemplars, each once, for the second pass of approximate runs. */
static px_status exemplar_items(const search *s, int64_t **items, int64_t *count, px_error *err)
{
    *items = pxi_calloc(PX_MAX(s->place_count, 1), sizeof **items);
    if (!*items)
        return pxi_no_memory_for(err, "%zu exemplars", s->place_count);
    for (size_t i = 0; i < s->place_count; i++)
        if (i == 0 || s->places[i].item != s->places[i - 1].item)
            (*items)[(*count)++] = s->places[i].item;
    return PX_OK;
}

static px_status search_run(search *s, const px_dataset *set, px_error *err)
{
    const int passes = s->options->approximate ? 2 : PXI_LEVEL_PASSES;
    s->all = passes * s->inputs;
    for (s->pass = 0; s->pass < passes; s->pass++) {
        int64_t *items = NULL, count = 0;
        if (s->options->approximate && s->pass == 1) {
            PX_TRY(exemplar_items(s, &items, &count, err));
            s->all = s->inputs + count;
        } else {
            count = s->inputs;
        }
        pass_start(s);
        /* Histograms are too large to send about: each rank makes its own of all. */
        const bool divided = !s->options->approximate && pxi_unit_stream_divide(s->stream);
        const px_status status =
            pxi_unit_stream_run(s->stream, items, count, search_visit, s, search_tick, s, err);
        free(items);
        PX_TRY(status);
        PX_TRY(pass_end(s, set, divided, err));
        s->done += count;
    }
    return PX_OK;
}

static void search_done(search *s)
{
    for (size_t i = 0; s->tallies && i < (size_t)s->slots * s->out->layer_count; i++)
        tally_done(&s->tallies[i]);
    for (size_t l = 0; s->out && l < s->out->layer_count; l++) {
        if (s->total)
            free(s->total[l]);
        if (s->pick)
            free(s->pick[l]);
    }
    free(s->tallies);
    free(s->total);
    free(s->pick);
    free(s->places);
    pxi_unit_stream_close(s->stream);
    pthread_mutex_destroy(&s->lock);
}

static px_status check_options(const px_exemplar_options *o, px_error *err)
{
    if (o->count < 1 || o->count > PX_EXEMPLARS_MOST)
        return px_fail(err, PX_E_USAGE, "%" PRId64 " exemplars per unit: expected 1 to %d",
                       o->count, PX_EXEMPLARS_MOST);
    if (!(o->quantile >= 0.0 && o->quantile <= 1.0))
        return px_fail(err, PX_E_USAGE, "a level at quantile %g: expected 0 to 1", o->quantile);
    return PX_OK;
}

px_status px_exemplars_collect(const px_model *model, const px_dataset *set,
                               const px_preprocess *pre, const px_exemplar_options *options,
                               px_exemplars **out, px_error *err)
{
    const px_exemplar_options o = options ? *options : px_exemplar_options_default();
    const pxi_unit_stream_options stream = {
        .layers = o.layers, .threads = o.threads, .batch = o.batch};
    search s = {.options = &o, .inputs = px_dataset_count(set)};
    PX_TRY(check_options(&o, err));
    s.k = PX_MIN(o.count, s.inputs);
    PX_TRY(pxi_unit_stream_open(model, set, pre, &stream, &s.stream, err));
    pthread_mutex_init(&s.lock, NULL);
    s.slots = pxi_unit_stream_slots(s.stream);
    px_status status = PX_NEW(s.out, 1, err);
    PX_THEN(status, layers_init(&s, model, set, err));
    PX_THEN(status, search_init(&s, err));
    PX_THEN(status, search_run(&s, set, err));
    search_done(&s);
    if (status == PX_OK)
        *out = s.out;
    else
        px_exemplars_free(s.out);
    return status;
}
