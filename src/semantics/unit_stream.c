/* src/semantics/unit_stream.c - the maps of all units of some layers, input by input */
#include "semantics/unit_stream.h"

#include "base/memory.h"
#include "engine/sample_plan.h"
#include "semantics/mask.h"

#include <plexor/system.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct pxi_unit_stream {
    const px_dataset *set;
    const px_preprocess *pre;
    px_probe *probe;
    px_plan *plan;
    pxi_unit_layer *layers;
    size_t layer_count, floats; /* per input */
    int slots;
    float **planes; /* [slots]: of the largest layer */
    pthread_mutex_t lock;
    bool *taken; /* [slots], under the lock */
};

/* --- which axes ---------------------------------------------------------------------------------
 */

static px_status layer_axes(const px_layer *layer, pxi_unit_layer *out, px_error *err)
{
    pxi_unit_layer u = {.layer = layer, .h = 1, .w = 1, .channel = -1, .y = -1, .x = -1};
    bool fits = layer->shape.rank >= 1 && layer->axis[0] == PX_AXIS_BATCH;
    for (int d = 1; d < layer->shape.rank && fits; d++) {
        const int64_t extent = layer->shape.dim[d];
        if (layer->axis[d] == PX_AXIS_CHANNEL) {
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
    if (!fits || u.channel < 0 || u.units < 1 || u.h < 1 || u.w < 1) {
        char shape[PX_SHAPE_TEXT];
        return px_fail(err, PX_E_USAGE,
                       "layer '%s' of %s has no channels with maps; choose others with --layers",
                       layer->name, px_shape_text(&layer->shape, shape));
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
    const int64_t sy = layer->y >= 0 ? view->stride[layer->y] : 0;
    const int64_t sx = layer->x >= 0 ? view->stride[layer->x] : 0;
    const int64_t places = (int64_t)layer->h * layer->w;
    const float *from = view->data + sample * view->stride[0];
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

/* --- opening ------------------------------------------------------------------------------------
 */

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

static px_status stream_layers(pxi_unit_stream *s, size_t *largest, px_error *err)
{
    s->layer_count = px_probe_layer_count(s->probe);
    s->layers = pxi_calloc(s->layer_count, sizeof *s->layers);
    if (!s->layers)
        return px_fail(err, PX_E_NOMEM, "out of memory for %zu layers", s->layer_count);
    *largest = 1;
    for (size_t i = 0; i < s->layer_count; i++) {
        PX_TRY(layer_axes(px_probe_layer(s->probe, i), &s->layers[i], err));
        const size_t values = (size_t)s->layers[i].units * (size_t)s->layers[i].h *
                              (size_t)s->layers[i].w; /* a tensor's count: no overflow */
        *largest = PX_MAX(*largest, values);
    }
    return PX_OK;
}

static px_status stream_make(pxi_unit_stream *s, const px_model *model, const px_shape *sample,
                             int64_t count, const pxi_unit_stream_options *options, px_error *err)
{
    px_feed feed;
    size_t largest = 0;
    PX_TRY(pxi_sample_feed(model, sample, s->pre->channels_last, &feed, err));
    PX_TRY(stream_probe(s, model, &feed, options->layers, err));
    PX_TRY(stream_layers(s, &largest, err));
    px_plan_options plan = px_plan_options_default();
    plan.observe = px_probe_values(s->probe, &plan.observe_count);
    plan.no_outputs = true;
    plan.batch = options->batch;
    s->floats = (size_t)px_shape_count(sample);
    PX_TRY(pxi_sample_plan(model, &feed, plan, count, &s->plan, err));
    s->slots = options->threads > 0 ? options->threads : px_cpu_count();
    s->planes = pxi_calloc((size_t)s->slots, sizeof *s->planes);
    s->taken = pxi_calloc((size_t)s->slots, sizeof *s->taken);
    bool failed = !s->planes || !s->taken;
    for (int i = 0; i < s->slots && !failed; i++)
        failed = !(s->planes[i] = pxi_calloc(largest, sizeof **s->planes));
    return failed ? px_fail(err, PX_E_NOMEM, "out of memory for maps of %zu values", largest)
                  : PX_OK;
}

px_status pxi_unit_stream_open_for(const px_model *model, const px_shape *sample,
                                   const px_preprocess *pre, int64_t count,
                                   const pxi_unit_stream_options *options, pxi_unit_stream **out,
                                   px_error *err)
{
    pxi_unit_stream *s = pxi_calloc(1, sizeof *s);
    if (!s)
        return px_fail(err, PX_E_NOMEM, "out of memory for a network's layers");
    s->pre = pre;
    pthread_mutex_init(&s->lock, NULL);
    const px_status status = stream_make(s, model, sample, count, options, err);
    if (status == PX_OK)
        *out = s;
    else
        pxi_unit_stream_close(s);
    return status;
}

px_status pxi_unit_stream_open(const px_model *model, const px_dataset *set,
                               const px_preprocess *pre, const pxi_unit_stream_options *options,
                               pxi_unit_stream **out, px_error *err)
{
    const px_shape sample = px_dataset_shape(set);
    PX_TRY(pxi_unit_stream_open_for(model, &sample, pre, px_dataset_count(set), options, out, err));
    (*out)->set = set;
    return PX_OK;
}

void pxi_unit_stream_close(pxi_unit_stream *stream)
{
    if (!stream)
        return;
    for (int i = 0; stream->planes && i < stream->slots; i++)
        free(stream->planes[i]);
    free(stream->planes);
    free(stream->taken);
    free(stream->layers);
    px_plan_free(stream->plan);
    px_probe_free(stream->probe);
    pthread_mutex_destroy(&stream->lock);
    free(stream);
}

size_t pxi_unit_stream_layer_count(const pxi_unit_stream *stream)
{
    return stream->layer_count;
}

const pxi_unit_layer *pxi_unit_stream_layer(const pxi_unit_stream *stream, size_t layer)
{
    return &stream->layers[layer];
}

int pxi_unit_stream_slots(const pxi_unit_stream *stream)
{
    return stream->slots;
}

/* --- running ------------------------------------------------------------------------------------
 */

typedef struct stream_run {
    pxi_unit_stream *stream;
    const int64_t *items; /* NULL: all of the data set, in order */
    bool of_set;
    pxi_unit_fill fill; /* NULL: the data set's */
    pxi_unit_fn visit;
    void *context;
} stream_run;

typedef struct stream_batch { /* what the observer of one micro-batch needs */
    const stream_run *run;
    int slot;
    int64_t first, samples;
} stream_batch;

static int slot_take(pxi_unit_stream *s)
{
    int slot = 0;
    pthread_mutex_lock(&s->lock);
    while (s->taken[slot]) /* as many slots as workers: one is free */
        slot++;
    s->taken[slot] = true;
    pthread_mutex_unlock(&s->lock);
    return slot;
}

static void slot_give(pxi_unit_stream *s, int slot)
{
    pthread_mutex_lock(&s->lock);
    s->taken[slot] = false;
    pthread_mutex_unlock(&s->lock);
}

static int64_t run_item(const stream_run *run, int64_t at)
{
    return !run->of_set ? -1 : run->items ? run->items[at] : at;
}

static px_status batch_observe(void *context, int value, const px_view *view, px_error *err)
{
    const stream_batch *b = context;
    const stream_run *run = b->run;
    const pxi_unit_stream *s = run->stream;
    for (size_t l = 0; l < s->layer_count; l++) {
        if (s->layers[l].layer->tap_value != value)
            continue;
        for (int64_t i = 0; i < b->samples; i++) {
            sample_maps(&s->layers[l], view, i, s->planes[b->slot]);
            const pxi_unit_visit visit = {.slot = b->slot,
                                          .at = b->first + i,
                                          .item = run_item(run, b->first + i),
                                          .layer = l,
                                          .maps = s->planes[b->slot]};
            PX_TRY(run->visit(run->context, &visit, err));
        }
    }
    return PX_OK;
}

static px_status batch_fill(const stream_run *run, px_session *session, int64_t first,
                            int64_t samples, px_error *err)
{
    const pxi_unit_stream *s = run->stream;
    float *to = px_session_input(session, 0);
    for (int64_t i = 0; i < samples; i++, to += s->floats) {
        if (run->fill)
            PX_TRY(run->fill(run->context, first + i, to, err));
        else
            PX_TRY(px_dataset_input(s->set, s->pre, run_item(run, first + i), to, err));
    }
    memset(to, 0, (size_t)(px_plan_batch(s->plan) - samples) * s->floats * sizeof *to);
    return PX_OK;
}

static px_status run_batch(void *context, px_session *session, int64_t first, int64_t samples,
                           px_error *err)
{
    const stream_run *run = context;
    PX_TRY(batch_fill(run, session, first, samples, err));
    stream_batch b = {.run = run, .first = first, .samples = samples};
    b.slot = slot_take(run->stream);
    px_session_observe(session, batch_observe, &b);
    const px_status status = px_session_forward(session, err);
    px_session_observe(session, NULL, NULL);
    slot_give(run->stream, b.slot);
    return status;
}

px_status pxi_unit_stream_run(pxi_unit_stream *stream, const int64_t *items, int64_t count,
                              pxi_unit_fn visit, void *context, px_progress_fn progress,
                              void *progress_context, px_error *err)
{
    stream_run run = {
        .stream = stream, .items = items, .of_set = true, .visit = visit, .context = context};
    return px_plan_run(stream->plan, stream->slots, count, run_batch, &run, progress,
                       progress_context, err);
}

px_status pxi_unit_stream_feed(pxi_unit_stream *stream, int64_t count, pxi_unit_fill fill,
                               pxi_unit_fn visit, void *context, px_progress_fn progress,
                               void *progress_context, px_error *err)
{
    stream_run run = {.stream = stream, .fill = fill, .visit = visit, .context = context};
    return px_plan_run(stream->plan, stream->slots, count, run_batch, &run, progress,
                       progress_context, err);
}
