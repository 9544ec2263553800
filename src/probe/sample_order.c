/* src/probe/sample_order.c - whose rows are whose where places are folded into the batch axis
 *
 * Exporters do so for windows, one sample's after the other's (row = sample * places + place), and
 * for nn.MultiheadAttention's projections, the samples in turn (row = place * batch + sample).
 * Shapes tell how many places a sample has, not where. So two samples are run, then one of them is
 * another, then the other: the rows that move are its own. A layer has its order if just one
 * divisor of its places explains every row that moved.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "probe/probe_internal.h"

#include "base/memory.h"

#include <internal/graph.h>
#include <internal/pass.h>
#include <internal/sample_plan.h>
#include <string.h>

enum { ORDER_BATCH = 2 };

typedef struct folded_layer {
    px_layer *layer;
    int axis;
    int64_t rows;             /* of the batch: places times samples */
    uint64_t *base, *changed; /* per row: a digest of its values */
    bool *fits;               /* per run, from 1: whether it explains all that moved */
} folded_layer;

typedef struct sample_order {
    const px_model *model;
    folded_layer *layers;
    size_t count;
    int64_t batch;
    int64_t changed; /* the sample that is another in this run; -1: none */
} sample_order;

static int layer_batch_axis(const px_layer *layer)
{
    for (int d = 0; d < layer->shape.rank; d++)
        if (layer->axis[d] == PX_AXIS_BATCH || layer->axis[d] == PX_AXIS_HEADS)
            return d;
    return -1;
}

/* Every row of the batch axis, through whatever strides. */
static void rows_digest(const px_view *view, int axis, uint64_t *digest)
{
    const px_shape *shape = &view->shape;
    int64_t at[PX_MAX_RANK] = {0}, offset = 0;
    for (int64_t row = 0; row < shape->dim[axis]; row++)
        digest[row] = 0;
    for (int64_t left = px_shape_count(shape); left > 0; left--) {
        uint32_t bits;
        memcpy(&bits, view->data + offset, sizeof bits);
        digest[at[axis]] = (digest[at[axis]] ^ bits) * UINT64_C(0x9e3779b97f4a7c15);
        digest[at[axis]] ^= digest[at[axis]] >> 29;
        for (int d = shape->rank - 1; d >= 0; d--) {
            offset += view->stride[d];
            if (++at[d] < shape->dim[d])
                break;
            offset -= at[d] * view->stride[d];
            at[d] = 0;
        }
    }
}

static px_status order_observe(void *context, int value, const px_view *view, px_error *err)
{
    const sample_order *order = ((const pxi_lane *)context)->context;
    (void)err;
    for (size_t i = 0; i < order->count; i++) {
        folded_layer *f = &order->layers[i];
        if (f->layer->tap_value == value && view->shape.dim[f->axis] == f->rows)
            rows_digest(view, f->axis, order->changed < 0 ? f->base : f->changed);
    }
    return PX_OK;
}

/* Run 0 has all samples as they are; in run 1 + s, sample s is another. */
static px_status order_fill(pxi_lane *lane, int64_t item, int view, float *input, px_error *err)
{
    const int64_t batch = pxi_pass_batch(lane->pass), sample = item % batch;
    const bool other = item / batch == 1 + sample;
    (void)view, (void)err;
    px_model_try_sample(((const sample_order *)lane->context)->model,
                        (uint32_t)(other ? batch + sample : sample), input,
                        pxi_pass_floats(lane->pass));
    return PX_OK;
}

static px_status order_begin(pxi_lane *lane, const pxi_batch *batch, px_error *err)
{
    sample_order *order = lane->context;
    (void)err;
    order->changed = batch->first / order->batch - 1;
    return PX_OK;
}

/* Whether the rows that moved are all of sample `which`, in runs of `run`. */
static bool rows_fit(const folded_layer *f, int64_t batch, int64_t which, int64_t run)
{
    for (int64_t row = 0; row < f->rows; row++)
        if (f->base[row] != f->changed[row] && row / run % batch != which)
            return false;
    return true;
}

static px_status order_visit(pxi_lane *lane, const pxi_batch *batch, px_error *err)
{
    const sample_order *order = lane->context;
    (void)batch, (void)err;
    for (size_t i = 0; i < order->count && order->changed >= 0; i++) {
        folded_layer *f = &order->layers[i];
        for (int64_t run = 1; run <= f->rows / order->batch; run++)
            f->fits[run - 1] = f->fits[run - 1] && rows_fit(f, order->batch, order->changed, run);
    }
    return PX_OK;
}

static px_status order_layers(sample_order *order, pxi_pass *pass, px_arena *arena, px_error *err)
{
    order->batch = pxi_pass_batch(pass);
    for (size_t i = 0; i < order->count; i++) {
        folded_layer *f = &order->layers[i];
        const int64_t places = f->layer->shape.dim[f->axis];
        f->rows = places * order->batch;
        f->base = pxi_arena_alloc(arena, (size_t)f->rows, sizeof *f->base);
        f->changed = pxi_arena_alloc(arena, (size_t)f->rows, sizeof *f->changed);
        f->fits = pxi_arena_alloc(arena, (size_t)places, sizeof *f->fits);
        if (!f->base || !f->changed || !f->fits)
            return pxi_no_memory(err);
        for (int64_t run = 1; run <= places; run++)
            f->fits[run - 1] = places % run == 0;
    }
    pxi_pass_over(pass, NULL, (1 + order->batch) * order->batch);
    PX_TRY(pxi_pass_all(pass, err));
    for (size_t i = 0; i < order->count; i++) {
        px_layer *layer = order->layers[i].layer;
        int64_t fitting = 0;
        for (int64_t run = 1; run <= layer->shape.dim[order->layers[i].axis]; run++)
            if (order->layers[i].fits[run - 1]) {
                layer->run = run;
                fitting++;
            }
        if (fitting != 1)
            layer->run = 0;
    }
    return PX_OK;
}

static px_status order_open(const px_probe *probe, const px_probe_options *options,
                            sample_order *order, const int *observe, size_t count, pxi_pass **out,
                            px_error *err)
{
    pxi_task task = {.model = probe->model, .threads = 1, .batch = ORDER_BATCH};
    px_plan_options wants = px_plan_options_default();
    const pxi_visitor visitor = {.context = order,
                                 .fill = order_fill,
                                 .observe = order_observe,
                                 .begin = order_begin,
                                 .visit = order_visit};
    px_feed feed;
    PX_TRY(pxi_sample_one_input(probe->model, err));
    wants.observe = observe;
    wants.observe_count = count;
    wants.no_outputs = true;
    if (options->feed_count > 0 && pxi_sample_is_open(probe->model)) {
        feed = options->feeds[0];
        feed.shape.dim[0] = ORDER_BATCH;
        task.feeds = &feed;
        task.feed_count = 1;
    }
    return pxi_pass_open(&task, &wants, &visitor, out, err);
}

px_status pxi_layers_order(px_probe *probe, const px_probe_options *options, px_error *err)
{
    sample_order order = {.model = probe->model};
    pxi_pass *pass = NULL;
    px_error why = {0};
    px_status status = PX_OK;
    size_t values = 0;
    px_arena *arena = pxi_arena_new();
    order.layers = arena ? pxi_arena_alloc(arena, probe->layer_count, sizeof *order.layers) : NULL;
    int *observe = arena ? pxi_arena_alloc(arena, probe->layer_count, sizeof *observe) : NULL;
    if (!order.layers || !observe) {
        status = pxi_no_memory(err);
        goto done;
    }
    for (size_t i = 0; i < probe->layer_count; i++) {
        px_layer *layer = &probe->layers[i];
        const int axis = layer_batch_axis(layer);
        if (axis < 0 || layer->shape.dim[axis] == 1)
            continue;
        size_t v = 0;
        while (v < values && observe[v] != layer->tap_value)
            v++;
        if (v == values)
            observe[values++] = layer->tap_value;
        order.layers[order.count++] = (folded_layer){.layer = layer, .axis = axis};
        layer->run = 0;
    }
    if (order.count == 0)
        goto done;
    status = order_open(probe, options, &order, observe, values, &pass, &why);
    PX_THEN(status, order_layers(&order, pass, arena, &why));
    if (status == PX_E_NOMEM || status == PX_E_CANCELLED) {
        if (err)
            *err = why;
    } else {
        status = PX_OK; /* what cannot be run so is read one sample at a time */
    }
    for (size_t i = 0; i < order.count && !probe->alone; i++)
        if (order.layers[i].layer->run == 0)
            probe->alone = 1 + (int)(order.layers[i].layer - probe->layers);
done:
    pxi_pass_close(pass);
    pxi_arena_free(arena);
    return status;
}
