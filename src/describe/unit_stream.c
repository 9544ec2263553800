/* src/describe/unit_stream.c - the maps of all units of some layers, input by input */
/* SPDX-License-Identifier: Apache-2.0 */
#include "describe/unit_stream.h"

#include "base/memory.h"
#include "describe/mask.h"
#include <internal/pass.h>
#include <internal/probe.h>
#include <internal/ranks.h>
#include <internal/sample_plan.h>

#include <assert.h>
#include <stdlib.h>

struct pxi_unit_stream {
    px_probe *probe;
    pxi_pass *pass;
    pxi_unit_layer *layers;
    size_t layer_count, largest; /* values of one input in the largest layer */
    /* of the run at hand */
    const int64_t *items; /* NULL: all of the data set, in order */
    pxi_unit_fill fill;   /* NULL: the data set's */
    pxi_unit_fn visit;
    void *context;
};

/* --- which axes ------------------------------------------------------------------------------ */

static px_status layer_axes(const px_probe *probe, const px_layer *layer, pxi_unit_layer *out,
                            px_error *err)
{
    pxi_unit_layer u = {
        .layer = layer, .h = 1, .w = 1, .batch = -1, .channel = -1, .y = -1, .x = -1};
    bool fits = true;
    for (int d = 0; d < layer->shape.rank && fits; d++) {
        const int64_t extent = layer->shape.dim[d];
        if (layer->axis[d] == PX_AXIS_BATCH) {
            fits = u.batch < 0 && extent == 1; /* places folded into the batch are no map */
            u.batch = d;
        } else if (layer->axis[d] == PX_AXIS_CHANNEL) {
            fits = u.channel < 0;
            u.channel = d;
            u.units = extent;
        } else if (layer->axis[d] == PX_AXIS_SPACE) {
            fits = u.x < 0 && extent <= PXI_MAP_SIDE_MOST;
            if (u.y < 0) {
                u.y = d;
                u.h = (int)extent;
            } else {
                u.x = d;
                u.w = (int)extent;
            }
        } else {
            fits = false;
        }
    }
    if (!fits || u.batch < 0 || u.channel < 0 || u.units < 1 || u.h < 1 || u.w < 1) {
        char shape[PX_SHAPE_TEXT];
        return px_fail(err, PX_E_USAGE,
                       "layer '%s' of %s has no channels with maps; choose others with --layers",
                       layer->name, px_shape_text(&layer->shape, shape));
    }
    if (u.y >= 0 && u.x < 0 && pxi_probe_patches(probe, u.h, &u.first, &u.h, &u.w)) {
        u.x = u.y;
        u.patches = true;
    }
    *out = u;
    return PX_OK;
}

/* One sample's maps, row by row, whatever the layout. Channels-last, the usual one, is read in
 * blocks that stay in the nearest cache while they are turned. */
static void sample_maps(const pxi_unit_layer *layer, const px_view *view, int64_t sample, float *to)
{
    enum { block = 32 };
    const int64_t sc = view->stride[layer->channel];
    const int64_t sx = layer->x >= 0 ? view->stride[layer->x] : 0;
    const int64_t sy = layer->patches ? layer->w * sx : layer->y >= 0 ? view->stride[layer->y] : 0;
    const int64_t places = (int64_t)layer->h * layer->w;
    const float *from = view->data + sample * view->stride[layer->batch] + layer->first * sx;
    for (int64_t c = 0; c < layer->units; c += block) {
        const int64_t end = PX_MIN(c + block, layer->units);
        int64_t p = 0;
        for (int y = 0; y < layer->h; y++)
            for (int x = 0; x < layer->w; x++, p++) {
                const float *place = from + y * sy + x * sx;
                for (int64_t k = c; k < end; k++)
                    to[k * places + p] = place[k * sc];
            }
    }
}

/* --- opening --------------------------------------------------------------------------------- */

static px_status stream_probe(pxi_unit_stream *s, const px_model *model, const px_feed *feed,
                              const char *layers, px_error *err)
{
    px_feed one = *feed;
    one.shape.dim[0] = 1;
    px_probe_options options = px_probe_options_default();
    options.layers = layers ? layers : "stages";
    options.feeds = &one;
    options.feed_count = 1;
    return px_probe_new(model, &options, &s->probe, err);
}

static px_status stream_layers(pxi_unit_stream *s, px_error *err)
{
    s->layer_count = px_probe_layer_count(s->probe);
    PX_TRY(PX_NEW(s->layers, s->layer_count, err));
    s->largest = 1;
    for (size_t i = 0; i < s->layer_count; i++) {
        PX_TRY(layer_axes(s->probe, px_probe_layer(s->probe, i), &s->layers[i], err));
        const size_t values = (size_t)s->layers[i].units * (size_t)s->layers[i].h *
                              (size_t)s->layers[i].w; /* a tensor's count: no overflow */
        s->largest = PX_MAX(s->largest, values);
    }
    return PX_OK;
}

/* --- running --------------------------------------------------------------------------------- */

typedef struct stream_lane {
    float *maps; /* of one input in the largest layer */
    pxi_batch batch;
} stream_lane;

static px_status lane_open(pxi_lane *lane, px_error *err)
{
    const pxi_unit_stream *s = lane->context;
    stream_lane *own = lane->state;
    (void)err;
    own->maps = pxi_lane_array(lane, s->largest, sizeof *own->maps);
    return PX_OK;
}

static px_status lane_fill(pxi_lane *lane, int64_t item, int view, float *input, px_error *err)
{
    const pxi_unit_stream *s = lane->context;
    (void)view;
    return s->fill ? s->fill(s->context, item, input, err) : pxi_lane_read(lane, item, input, err);
}

static px_status lane_begin(pxi_lane *lane, const pxi_batch *batch, px_error *err)
{
    (void)err;
    ((stream_lane *)lane->state)->batch = *batch;
    return PX_OK;
}

static px_status lane_observe(void *context, int value, const px_view *view, px_error *err)
{
    const pxi_lane *lane = context;
    const pxi_unit_stream *s = lane->context;
    const stream_lane *own = lane->state;
    for (size_t l = 0; l < s->layer_count; l++) {
        if (s->layers[l].layer->tap_value != value)
            continue;
        for (int64_t i = 0; i < own->batch.count; i++) {
            const int64_t at = own->batch.first + i;
            sample_maps(&s->layers[l], view, i, own->maps);
            const pxi_unit_visit visit = {.slot = lane->number,
                                          .at = at,
                                          .item = s->fill    ? -1
                                                  : s->items ? s->items[at]
                                                             : at,
                                          .layer = l,
                                          .maps = own->maps};
            PX_TRY(s->visit(s->context, &visit, err));
        }
    }
    return PX_OK;
}

static px_status stream_run(pxi_unit_stream *s, const int64_t *items, int64_t count,
                            pxi_unit_fill fill, pxi_unit_fn visit, void *context,
                            px_progress_fn progress, void *progress_context, px_error *err)
{
    s->items = items;
    s->fill = fill;
    s->visit = visit;
    s->context = context;
    pxi_pass_over(s->pass, items, count);
    pxi_pass_watch(s->pass, progress, progress_context);
    return pxi_pass_run(s->pass, err);
}

bool pxi_unit_stream_divide(pxi_unit_stream *stream)
{
    static const pxi_left nothing = {0};
    pxi_pass_leaves(stream->pass, &nothing);
    return pxi_ranks_together();
}

px_status pxi_unit_stream_run(pxi_unit_stream *stream, const int64_t *items, int64_t count,
                              pxi_unit_fn visit, void *context, px_progress_fn progress,
                              void *progress_context, px_error *err)
{
    return stream_run(stream, items, count, NULL, visit, context, progress, progress_context, err);
}

px_status pxi_unit_stream_feed(pxi_unit_stream *stream, int64_t count, pxi_unit_fill fill,
                               pxi_unit_fn visit, void *context, px_progress_fn progress,
                               void *progress_context, px_error *err)
{
    return stream_run(stream, NULL, count, fill, visit, context, progress, progress_context, err);
}

/* --- the whole ------------------------------------------------------------------------------- */

static px_status stream_make(pxi_unit_stream *s, const pxi_task *task, const char *layers,
                             px_error *err)
{
    const pxi_visitor visitor = {.context = s,
                                 .state_size = sizeof(stream_lane),
                                 .open = lane_open,
                                 .fill = lane_fill,
                                 .begin = lane_begin,
                                 .observe = lane_observe};
    px_plan_options wants = px_plan_options_default();
    px_feed feed;
    PX_TRY(pxi_sample_feed(task->model, &task->sample, task->pre->channels_last, &feed, err));
    PX_TRY(stream_probe(s, task->model, &feed, layers, err));
    PX_TRY(stream_layers(s, err));
    wants.observe = px_probe_values(s->probe, &wants.observe_count);
    wants.no_outputs = true;
    return pxi_pass_open(task, &wants, &visitor, &s->pass, err);
}

static px_status stream_open(const pxi_task *task, const char *layers, pxi_unit_stream **out,
                             px_error *err)
{
    pxi_unit_stream *s = NULL;
    PX_TRY(PX_NEW(s, 1, err));
    const px_status status = stream_make(s, task, layers, err);
    return PX_GIVE(status, s, out, pxi_unit_stream_close);
}

px_status pxi_unit_stream_open_for(const px_model *model, const px_shape *sample,
                                   const px_preprocess *pre, int64_t count,
                                   const pxi_unit_stream_options *options, pxi_unit_stream **out,
                                   px_error *err)
{
    const pxi_task task = {.model = model,
                           .pre = pre,
                           .sample = *sample,
                           .count = count,
                           .threads = options->threads,
                           .batch = options->batch};
    return stream_open(&task, options->layers, out, err);
}

px_status pxi_unit_stream_open(const px_model *model, const px_dataset *set,
                               const px_preprocess *pre, const pxi_unit_stream_options *options,
                               pxi_unit_stream **out, px_error *err)
{
    const pxi_task task = {.model = model,
                           .set = set,
                           .pre = pre,
                           .sample = px_dataset_shape(set),
                           .count = px_dataset_count(set),
                           .threads = options->threads,
                           .batch = options->batch};
    return stream_open(&task, options->layers, out, err);
}

void pxi_unit_stream_close(pxi_unit_stream *stream)
{
    if (!stream)
        return;
    pxi_pass_close(stream->pass);
    free(stream->layers);
    px_probe_free(stream->probe);
    free(stream);
}

size_t pxi_unit_stream_layer_count(const pxi_unit_stream *stream)
{
    return stream->layer_count;
}

const pxi_unit_layer *pxi_unit_stream_layer(const pxi_unit_stream *stream, size_t layer)
{
    assert(layer < stream->layer_count);
    return &stream->layers[layer];
}

int pxi_unit_stream_slots(const pxi_unit_stream *stream)
{
    return pxi_pass_lanes(stream->pass);
}
