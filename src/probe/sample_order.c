/* src/probe/sample_order.c - whose rows are whose where places are folded into the batch axis
 *
 * Exporters do so for windows, one sample's after the other's (row = sample * places + place), and
 * for nn.MultiheadAttention's projections, the samples in turn (row = place * batch + sample).
 * Shapes tell how many places a sample has, not where. So two samples are run, then one of them is
 * another, then the other: the rows that move are its own. A layer has its order if just one
 * divisor of its places explains every row that moved.
 */
#include "probe/probe_inside.h"

#include "base/memory.h"

#include <internal/engine.h>
#include <internal/rng.h>
#include <internal/sample_plan.h>
#include <stdlib.h>
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
    folded_layer *layers;
    size_t count;
    bool changed; /* what is looked at now */
} sample_order;

static int layer_batch_axis(const px_layer *layer)
{
    for (int d = 0; d < layer->shape.rank; d++)
        if (layer->axis[d] == PX_AXIS_BATCH)
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
    sample_order *order = context;
    (void)err;
    for (size_t i = 0; i < order->count; i++) {
        folded_layer *f = &order->layers[i];
        if (f->layer->tap_value == value && view->shape.dim[f->axis] == f->rows)
            rows_digest(view, f->axis, order->changed ? f->changed : f->base);
    }
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

static void sample_fill(float *input, size_t floats, uint32_t which)
{
    px_random random = px_rng(/* seed= */ 1, PX_RNG_NOISE_INPUT, which, 0);
    for (size_t i = 0; i < floats; i++)
        input[i] = (float)px_rng_u01(&random);
}

static px_status order_try(sample_order *order, const px_plan *plan, px_error *err)
{
    px_session *session = NULL;
    PX_TRY(px_session_new(plan, &session, err));
    const int64_t batch = px_plan_batch(plan);
    const px_shape fed = px_plan_feed_shape(plan, 0);
    const size_t floats = (size_t)(px_shape_count(&fed) / batch);
    float *input = px_session_input(session, 0);
    px_session_observe(session, order_observe, order);
    for (int64_t s = 0; s < batch; s++)
        sample_fill(input + (size_t)s * floats, floats, (uint32_t)s);
    order->changed = false;
    px_status status = px_session_forward(session, err);
    order->changed = true;
    for (int64_t s = 0; s < batch && status == PX_OK; s++) {
        sample_fill(input + (size_t)s * floats, floats, (uint32_t)(batch + s));
        status = px_session_forward(session, err);
        sample_fill(input + (size_t)s * floats, floats, (uint32_t)s);
        for (size_t i = 0; i < order->count && status == PX_OK; i++) {
            folded_layer *f = &order->layers[i];
            for (int64_t run = 1; run <= f->rows / batch; run++)
                f->fits[run - 1] = f->fits[run - 1] && rows_fit(f, batch, s, run);
        }
    }
    px_session_free(session);
    return status;
}

static px_status order_layers(sample_order *order, const px_plan *plan, px_arena *arena,
                              px_error *err)
{
    const int64_t batch = px_plan_batch(plan);
    for (size_t i = 0; i < order->count; i++) {
        folded_layer *f = &order->layers[i];
        const int64_t places = f->layer->shape.dim[f->axis];
        f->rows = places * batch;
        f->base = pxi_arena_alloc(arena, (size_t)f->rows, sizeof *f->base);
        f->changed = pxi_arena_alloc(arena, (size_t)f->rows, sizeof *f->changed);
        f->fits = pxi_arena_alloc(arena, (size_t)places, sizeof *f->fits);
        if (!f->base || !f->changed || !f->fits)
            return pxi_no_memory(err);
        for (int64_t run = 1; run <= places; run++)
            f->fits[run - 1] = places % run == 0;
    }
    PX_TRY(order_try(order, plan, err));
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

static px_status order_plan(const px_probe *probe, const px_probe_options *options,
                            const int *observe, size_t count, px_plan **out, px_error *err)
{
    px_plan_options wants = px_plan_options_default();
    PX_TRY(pxi_sample_one_input(probe->model, err));
    wants.batch = ORDER_BATCH;
    wants.observe = observe;
    wants.observe_count = count;
    wants.no_outputs = true;
    px_feed feed;
    if (options->feed_count > 0 && pxi_sample_is_open(probe->model)) {
        feed = options->feeds[0];
        feed.shape.dim[0] = ORDER_BATCH;
        wants.feeds = &feed;
        wants.feed_count = 1;
    }
    return px_plan_new(probe->model, &wants, out, err);
}

px_status pxi_layers_order(px_probe *probe, const px_probe_options *options, px_error *err)
{
    sample_order order = {0};
    px_plan *plan = NULL;
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
    status = order_plan(probe, options, observe, values, &plan, &why);
    if (status == PX_OK)
        status = order_layers(&order, plan, arena, &why);
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
    px_plan_free(plan);
    pxi_arena_free(arena);
    return status;
}
