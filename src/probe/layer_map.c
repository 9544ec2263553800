/* src/probe/layer_map.c - inputs on a plane, near each other where a layer finds them alike */
/* SPDX-License-Identifier: Apache-2.0 */
#include "probe/layer_map.h"

#include "base/memory.h"
#include <internal/lane_watch.h>
#include <internal/sample_plan.h>

#include <assert.h>
#include <internal/probe.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NEIGHBOURS = 5 };
static const double trust_work = 2e10; /* products that trustworthiness may take */

px_map_options px_map_options_default(void)
{
    return (px_map_options){.layers = "last-hidden"};
}

void px_map_free(px_map *map)
{
    if (!map)
        return;
    px_probe_free(map->probe);
    pxi_arena_free(map->arena);
    free(map->rows);
    free(map->point);
    free(map->name);
    free(map->class_name);
    free(map);
}

/* NULL for NULL; *failed when memory ran out. */
static const char *map_text(px_map *map, const char *text, bool *failed)
{
    const char *copy = text ? pxi_arena_strndup(map->arena, text, strlen(text)) : NULL;
    *failed |= text && !copy;
    return copy;
}

px_status px_map_new(const px_model *model, const px_map_options *options, px_map **out,
                     px_error *err)
{
    const px_map_options o = options ? *options : px_map_options_default();
    px_map *map = pxi_calloc(1, sizeof *map);
    bool failed = !map || !(map->arena = pxi_arena_new());
    if (!failed) {
        map->model = model;
        map->options = o;
        map->options.layers = map_text(map, o.layers ? o.layers : "last-hidden", &failed);
        map->options.tap = map_text(map, o.tap, &failed);
        map->options.neurons = map_text(map, o.neurons, &failed);
        map->quality = (px_map_quality){.kl = NAN, .trustworthiness = NAN, .perplexity = NAN};
    }
    const px_status scored =
        failed ? pxi_no_memory(err) : px_model_scores(model, &map->scores, err);
    if (scored == PX_E_NOMEM) {
        px_map_free(map);
        return scored;
    }
    map->has_scores = scored == PX_OK;
    *out = map;
    return PX_OK;
}

/* --- inputs in ------------------------------------------------------------------------------- */

typedef struct map_run { /* one data set on its way through the network */
    px_map *map;
    const px_dataset *set;
    const px_preprocess *pre;
    float *rows; /* [count][width] */
    int64_t *predictions;
    bool *rejected;
} map_run;

static px_status map_begin(pxi_lane *lane, const pxi_batch *batch, px_error *err)
{
    const map_run *run = lane->context;
    (void)err;
    *(px_probe_watch *)lane->state =
        (px_probe_watch){.probe = run->map->probe,
                         .samples = batch->count,
                         .trace = run->rows + (size_t)batch->first * run->map->width};
    return PX_OK;
}

static px_status map_visit(pxi_lane *lane, const pxi_batch *batch, px_error *err)
{
    const map_run *run = lane->context;
    const px_probe_watch *watch = lane->state;
    px_probe_reject(run->map->probe, watch->trace, batch->count, run->rejected + batch->first);
    if (!run->map->has_scores)
        return PX_OK;
    return px_session_judge(lane->session, &run->map->scores, NULL, batch->count,
                            run->predictions + batch->first, NULL, err);
}

/* The neurons, which the first data set's shape completes. */
static px_status map_probe(px_map *map, const px_shape *sample, const px_feed *feed, px_error *err)
{
    px_probe_options options = px_probe_options_default();
    PX_TRY(px_probe_options_parse(&options, map->options.layers, map->options.tap,
                                  map->options.neurons, err));
    px_feed one = *feed;
    one.shape.dim[0] = 1;
    options.feeds = &one;
    options.feed_count = 1;
    PX_TRY(px_probe_new(map->model, &options, &map->probe, err));
    map->sample = *sample;
    map->width = (size_t)px_probe_neuron_count(map->probe);
    return PX_OK;
}

static px_status map_run_all(px_map *map, map_run *run, int64_t count, px_error *err)
{
    const px_shape sample = px_dataset_shape(run->set);
    px_feed feed;
    PX_TRY(pxi_sample_feed(map->model, &sample, run->pre->channels_last, &feed, err));
    if (!map->probe)
        PX_TRY(map_probe(map, &sample, &feed, err));
    if (sample.rank != map->sample.rank ||
        memcmp(sample.dim, map->sample.dim, (size_t)sample.rank * sizeof *sample.dim) != 0) {
        char here[PX_SHAPE_TEXT], before[PX_SHAPE_TEXT];
        return px_fail(err, PX_E_MISMATCH, "inputs of %s do not go on one map with those of %s",
                       px_shape_text(&sample, here), px_shape_text(&map->sample, before));
    }
    const pxi_task task = {.model = map->model,
                           .set = run->set,
                           .pre = run->pre,
                           .count = count,
                           .threads = map->options.threads,
                           .batch = pxi_probe_batch(map->probe, map->options.batch),
                           .progress = map->options.progress,
                           .progress_context = map->options.progress_context};
    pxi_left left = {0};
    const pxi_visitor visitor = {.context = run,
                                 .state_size = sizeof(px_probe_watch),
                                 .begin = map_begin,
                                 .observe = pxi_lane_observe,
                                 .visit = map_visit,
                                 .left = &left};
    px_plan_options wants = px_plan_options_default();
    wants.observe = px_probe_values(map->probe, &wants.observe_count);
    wants.keep = &map->scores.value;
    wants.keep_count = map->has_scores ? 1 : 0;
    wants.no_outputs = true;
    run->rows = pxi_calloc((size_t)count, map->width * sizeof *run->rows);
    run->predictions = pxi_calloc((size_t)count, sizeof *run->predictions);
    run->rejected = pxi_calloc((size_t)count, sizeof *run->rejected);
    if (!run->rows || !run->predictions || !run->rejected)
        return pxi_no_memory_for(err, "%zu neurons on %" PRId64 " inputs; see --limit", map->width,
                                 count);
    left = (pxi_left){.array = {{run->rows, map->width * sizeof *run->rows},
                                {run->predictions, sizeof *run->predictions},
                                {run->rejected, sizeof *run->rejected}}};
    return pxi_pass_once(&task, &wants, &visitor, err);
}

/* Takes over what was observed. */
static px_status map_take(px_map *map, const map_run *run, int64_t count, const char *name,
                          px_error *err)
{
    char buffer[4096];
    bool failed = false;
    px_map_origin origin = {.name = map_text(map, name, &failed)};
    const size_t want = map->count + (size_t)count;
    size_t bytes;
    if (__builtin_mul_overflow(map->width, sizeof *map->rows, &bytes) ||
        pxi_grow(&map->rows, &map->row_capacity, want, bytes) != 0 ||
        pxi_grow(&map->point, &map->point_capacity, want, sizeof *map->point) != 0 ||
        pxi_grow(&map->name, &map->name_capacity, want, sizeof *map->name) != 0)
        failed = true;
    size_t at = map->count;
    for (int64_t i = 0; i < count && !failed; i++) {
        if (run->rejected[i]) {
            origin.not_finite++;
            continue;
        }
        const px_map_point p = {.origin = map->origin_count,
                                .index = px_dataset_index(run->set, i),
                                .label = px_dataset_label(run->set, i),
                                .prediction = map->has_scores ? run->predictions[i] : -1,
                                .x = NAN,
                                .y = NAN};
        memcpy(map->rows + at * map->width, run->rows + (size_t)i * map->width, bytes);
        map->name[at] = map_text(map, px_dataset_name(run->set, i, buffer, sizeof buffer), &failed);
        map->point[at++] = p;
        origin.count++;
        origin.labelled += p.label >= 0 && map->has_scores;
        origin.right += p.label >= 0 && p.label == p.prediction;
    }
    if (failed)
        return pxi_no_memory_for(err, "a map of %zu inputs", want);
    map->count = at;
    map->origin[map->origin_count++] = origin;
    return PX_OK;
}

px_status px_map_add(px_map *map, const px_dataset *set, const px_preprocess *pre,
                     const char *origin, px_error *err)
{
    const int64_t count = px_dataset_count(set);
    map_run run = {.map = map, .set = set, .pre = pre};
    if (map->origin_count == PX_MAP_ORIGINS_MOST)
        return px_fail(err, PX_E_USAGE, "a map shows inputs of at most %d origins",
                       PX_MAP_ORIGINS_MOST);
    if ((uint64_t)count > PX_TSNE_POINTS_MOST - map->count)
        return px_fail(err, PX_E_USAGE, "a map shows at most %zu inputs; see --limit",
                       PX_TSNE_POINTS_MOST);
    px_status status = map_run_all(map, &run, count, err);
    PX_THEN(status, map_take(map, &run, count, origin, err));
    free(run.rows);
    free(run.predictions);
    free(run.rejected);
    return status;
}

/* --- the layout ------------------------------------------------------------------------------ */

double px_map_perplexity(const px_map *map)
{
    const double most = map->count > 1 ? (double)(map->count - 1) / 3.0 : 1.0;
    return fmax(1.0, fmin(px_tsne_options_default().perplexity, most));
}

static px_status map_some(const px_map *map, px_error *err)
{
    if (map->count == 0)
        return px_fail(err, PX_E_INPUT, "no input has finite neurons; there is nothing to lay out");
    return PX_OK;
}

/* Takes over where inputs lie, y [count][2], and finds out how far to trust that. */
static px_status map_laid(px_map *map, const double *y, px_map_quality q, px_error *err)
{
    q.neurons = map->width;
    q.neighbours = (int)PX_MIN((size_t)NEIGHBOURS, (map->count - 1) / 2);
    const double per_point = (double)map->count * (double)map->width;
    const size_t most = (size_t)fmax(200.0, trust_work / per_point);
    const size_t step = (map->count + most - 1) / most;
    q.trust_sample = (map->count + step - 1) / step;
    PX_TRY(px_trustworthiness(map->rows, map->count, map->width, y, q.neighbours, most,
                              map->options.threads, &q.trustworthiness, err));
    for (size_t i = 0; i < map->count; i++) {
        map->point[i].x = y[2 * i];
        map->point[i].y = y[2 * i + 1];
    }
    map->quality = q;
    return PX_OK;
}

px_status px_map_lay(px_map *map, const px_tsne_options *options, px_error *err)
{
    px_tsne_options o = options ? *options : px_tsne_options_default();
    px_tsne_map laid = {0};
    PX_TRY(map_some(map, err));
    if (!options)
        o.perplexity = px_map_perplexity(map);
    o.threads = map->options.threads;
    o.progress = map->options.progress;
    o.progress_context = map->options.progress_context;
    PX_TRY(px_tsne(map->rows, map->count, map->width, &o, &laid, err));
    const px_map_quality quality = {.kl = laid.kl,
                                    .perplexity = o.perplexity,
                                    .iterations = laid.iterations,
                                    .exact = laid.exact,
                                    .dimensions = laid.dimensions,
                                    .vague = laid.vague};
    const px_status status = map_laid(map, laid.y, quality, err);
    px_tsne_map_done(&laid);
    return status;
}

px_status px_map_lay_umap(px_map *map, const px_umap_options *options, px_error *err)
{
    px_umap_options o = options ? *options : px_umap_options_default();
    px_umap_map laid = {0};
    PX_TRY(map_some(map, err));
    o.threads = map->options.threads;
    o.progress = map->options.progress;
    o.progress_context = map->options.progress_context;
    PX_TRY(px_umap(map->rows, map->count, map->width, &o, &laid, err));
    const px_map_quality quality = {.kl = NAN,
                                    .perplexity = NAN,
                                    .umap = true,
                                    .iterations = laid.epochs,
                                    .graph_neighbours = laid.neighbours,
                                    .min_dist = o.min_dist,
                                    .dimensions = laid.dimensions,
                                    .vague = laid.vague};
    const px_status status = map_laid(map, laid.y, quality, err);
    px_umap_map_done(&laid);
    return status;
}

/* --- what came out --------------------------------------------------------------------------- */

size_t px_map_count(const px_map *map)
{
    return map->count;
}

px_map_point px_map_get(const px_map *map, size_t i)
{
    assert(i < map->count);
    return map->point[i];
}

int px_map_origin_count(const px_map *map)
{
    return map->origin_count;
}

px_map_origin px_map_origin_get(const px_map *map, int i)
{
    assert(i >= 0 && i < map->origin_count);
    return map->origin[i];
}

px_map_quality px_map_quality_get(const px_map *map)
{
    return map->quality;
}

const float *px_map_rows(const px_map *map, size_t *width)
{
    *width = map->width;
    return map->rows;
}

const px_probe *px_map_probe(const px_map *map)
{
    return map->probe;
}

px_status px_map_name_class(px_map *map, int c, const char *name, px_error *err)
{
    enum { CLASSES_MOST = 65536 };
    if (c < 0 || c >= CLASSES_MOST)
        return px_fail(err, PX_E_USAGE, "%d is no class", c);
    bool failed = false;
    const char *copy = map_text(map, name, &failed);
    if (failed ||
        pxi_grow(&map->class_name, &map->class_capacity, (size_t)c + 1, sizeof *map->class_name))
        return pxi_no_memory(err);
    while (map->class_count <= (size_t)c)
        map->class_name[map->class_count++] = NULL;
    map->class_name[c] = copy;
    return PX_OK;
}
