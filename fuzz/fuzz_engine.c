/* fuzz/fuzz_engine.c - the engine on networks that a stranger wrote
 *
 * Whatever the reader accepts is planned, fast and plain, with everything kept, observed, seeded
 * and differentiated; restarted in the middle; interpreted; and probed. Small plans run on zeros,
 * forward and backward. Mutations are mostly of the network and not of its bytes: another operator,
 * another extent, another edge.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "onnx/reader.h"

#include <internal/engine.h>
#include <plexor/probe.h>
#include <stdlib.h>
#include <string.h>

/* What is run has to be done in a moment. */
static const size_t run_bytes = (size_t)4 << 20;
static const int64_t run_flops = (int64_t)1 << 22;

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);

static void require(bool holds)
{
    if (!holds)
        abort();
}

/* --- running ---------------------------------------------------------------------------------- */

/* Touches every element through its strides. */
static float touch(const float *data, const px_shape *shape, const int64_t *stride)
{
    float sum = 0.0f;
    const int64_t count = px_shape_count(shape);
    for (int64_t i = 0; data && i < count; i++) {
        int64_t at = 0, rest = i;
        for (int d = shape->rank - 1; d >= 0; rest /= shape->dim[d], d--)
            at += rest % shape->dim[d] * stride[d];
        sum += data[at];
    }
    return sum;
}

static px_status look(void *context, int value, const px_view *view, px_error *err)
{
    (void)value, (void)err;
    *(float *)context += touch(view->data, &view->shape, view->stride);
    return PX_OK;
}

static void read_all(const px_plan *plan, const px_session *session)
{
    const px_graph *graph = px_model_graph(px_plan_model(plan));
    px_error err = {0};
    for (int v = 0; v < graph->value_count; v++) {
        const px_shape shape = px_plan_shape(plan, v);
        px_tensor copy = {0};
        if (px_plan_dtype(plan, v) != PX_NONE &&
            px_tensor_init(&copy, px_plan_dtype(plan, v), &shape, &err) == PX_OK)
            px_session_read(session, v, -1, copy.data, &err);
        px_tensor_done(&copy);
        const px_view view = px_session_view(session, v), grad = px_session_grad(session, v);
        touch(view.data, &view.shape, view.stride);
        touch(grad.data, &grad.shape, grad.stride);
    }
}

static void run_plan(const px_plan *plan, bool backward)
{
    px_session *session = NULL;
    px_error err = {0};
    float sum = 0.0f;
    if (px_plan_arena_bytes(plan) > run_bytes || px_plan_flops(plan) > run_flops ||
        px_session_new(plan, &session, &err) != PX_OK)
        return;
    px_session_observe(session, look, &sum);
    if (px_session_forward(session, &err) == PX_OK && backward) {
        px_session_seed_clear(session, &err);
        const int count = px_model_graph(px_plan_model(plan))->value_count;
        for (int v = 0; v < count; v++) {
            const px_place seed = px_session_seed(session, v);
            touch(seed.data, &seed.shape, seed.stride);
        }
        require(px_session_backward(session, &err) == PX_OK);
    }
    read_all(plan, session);
    px_session_free(session);
}

static void interpret(const px_plan *plan)
{
    const px_model *model = px_plan_model(plan);
    const px_graph *graph = px_model_graph(model);
    px_error err = {0};
    if (px_plan_arena_bytes(plan) > run_bytes || px_plan_flops(plan) > run_flops)
        return;
    px_tensor *inputs = calloc((size_t)graph->input_count + 1, sizeof *inputs);
    px_tensor *outputs = calloc((size_t)graph->output_count + 1, sizeof *outputs);
    require(inputs && outputs);
    bool whole = true;
    for (int i = 0; i < graph->input_count; i++) {
        const px_shape shape = px_plan_feed_shape(plan, (size_t)i);
        whole = whole && px_tensor_init(&inputs[i], px_plan_dtype(plan, graph->inputs[i]), &shape,
                                        &err) == PX_OK;
    }
    if (whole)
        px_model_interpret(model, inputs, outputs, &err);
    for (int i = 0; i < graph->input_count; i++)
        px_tensor_done(&inputs[i]);
    for (int i = 0; i < graph->output_count; i++)
        px_tensor_done(&outputs[i]);
    free(inputs);
    free(outputs);
}

/* Everything that was computed is asked for in every list that takes it. */
static void plan_everything(const px_plan *simple, bool reference)
{
    const px_model *model = px_plan_model(simple);
    const int count = px_model_graph(model)->value_count;
    int *all = calloc(2 * (size_t)count + 1, sizeof *all), *floats = all + count;
    require(all != NULL);
    px_plan_options options = px_plan_options_default();
    options.batch = 2;
    options.reference = reference;
    options.keep = all;
    options.observe = options.seeds = options.wrt = floats;
    for (int v = 0; v < count; v++) {
        if (px_plan_dtype(simple, v) != PX_NONE)
            all[options.keep_count++] = v;
        if (px_plan_dtype(simple, v) == PX_FLOAT32)
            floats[options.observe_count++] = v;
    }
    options.seed_count = options.wrt_count = options.observe_count;
    px_plan *plan = NULL;
    px_error err = {0};
    if (px_plan_new(model, &options, &plan, &err) == PX_OK)
        run_plan(plan, true);
    px_plan_free(plan);
    free(all);
}

static void restart(const px_plan *simple, int value)
{
    const px_model *model = px_plan_model(simple);
    int *values = NULL;
    const int count = px_graph_restart(px_model_graph(model), value, &values);
    px_feed *feeds = calloc((size_t)(count > 0 ? count : 1), sizeof *feeds);
    require(count > 0 && feeds != NULL);
    for (int i = 0; i < count; i++)
        feeds[i] = (px_feed){values[i], px_plan_shape(simple, values[i])};
    px_plan_options options = px_plan_options_default();
    options.feeds = feeds;
    options.feed_count = (size_t)count;
    px_plan *plan = NULL;
    px_error err = {0};
    if (px_plan_new(model, &options, &plan, &err) == PX_OK)
        run_plan(plan, false);
    px_plan_free(plan);
    free(feeds);
    free(values);
}

static void probe(const px_model *model)
{
    for (int view = PX_VIEW_CHAN; view <= PX_VIEW_UNIT; view++) {
        px_probe_options options = px_probe_options_default();
        options.layers = "all";
        options.neurons = (px_neurons)view;
        options.deepxplore = view == PX_VIEW_CHAN_MAX;
        px_probe *made = NULL;
        px_error err = {0};
        if (px_probe_new(model, &options, &made, &err) == PX_OK)
            require(px_probe_neuron_count(made) >= 0 && px_probe_describe(made) != NULL);
        else
            require(err.message[0] != '\0');
        px_probe_free(made);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    px_model *model = NULL;
    px_error err = {0};
    if (px_model_parse(bytes, size, "fuzz", &model, &err) != PX_OK)
        return 0;
    px_scores scores;
    px_plan *plan = NULL, *gradient = NULL;
    px_plan_options options = px_plan_options_default();
    free(px_model_unsupported(model));
    if (px_plan_new(model, &options, &plan, &err) == PX_OK) {
        run_plan(plan, false);
        interpret(plan);
        plan_everything(plan, false);
        plan_everything(plan, true);
        const int count = px_model_graph(model)->value_count;
        if (count)
            restart(plan, (int)(size % (size_t)count));
    } else {
        require(err.message[0] != '\0');
    }
    options.input_grad = true;
    options.batch = 3;
    if (px_model_scores(model, &scores, &err) == PX_OK &&
        px_plan_new(model, &options, &gradient, &err) == PX_OK)
        run_plan(gradient, true);
    probe(model);
    px_plan_free(gradient);
    px_plan_free(plan);
    px_model_free(model);
    return 0;
}

/* --- mutations of the network ----------------------------------------------------------------- */

static unsigned draw(unsigned *state, size_t below) /* a linear congruence will do */
{
    *state = *state * 1664525u + 1013904223u;
    return below ? (*state >> 8) % (unsigned)below : 0;
}

static int64_t draw_int(unsigned *state, int64_t old)
{
    static const int64_t numbers[] = {
        0,   1,  2,  3,  4,       5,         7,         8,         16,        33,
        255, -1, -2, -3, 1 << 20, INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN, 1ll << 40};
    const unsigned way = draw(state, 4);
    return way == 0   ? (int64_t)((uint64_t)old + 1)
           : way == 1 ? (int64_t)((uint64_t)old - 1)
                      : numbers[draw(state, sizeof numbers / sizeof *numbers)];
}

/* A text is borrowed for the time of packing only. */
typedef struct swap {
    char **where, *old;
} swap;

static void swap_text(swap *s, char **where, const char *text)
{
    *s = (swap){where, *where};
    memcpy(where, &text, sizeof text);
}

static void mutate_tensor(Onnx__TensorProto *t, unsigned *state)
{
    if (!t)
        return;
    if (t->n_dims > 1 && draw(state, 3) == 0) { /* another shape of as many elements */
        const size_t a = draw(state, t->n_dims), b = draw(state, t->n_dims);
        const int64_t dim = t->dims[a];
        t->dims[a] = t->dims[b];
        t->dims[b] = dim;
    } else if (t->has_raw_data && t->raw_data.len >= 8 && t->data_type == PX_INT64) {
        int64_t number;
        uint8_t *at = t->raw_data.data + 8 * draw(state, t->raw_data.len / 8);
        memcpy(&number, at, sizeof number);
        number = draw_int(state, number);
        memcpy(at, &number, sizeof number);
    } else if (t->has_raw_data && t->raw_data.len > 0) {
        LLVMFuzzerMutate(t->raw_data.data, t->raw_data.len, t->raw_data.len);
    }
}

static void mutate_attribute(Onnx__AttributeProto *a, unsigned *state)
{
    if (a->n_ints)
        a->ints[draw(state, a->n_ints)] = draw_int(state, a->ints[0]);
    else if (a->has_f)
        a->f = (float)draw_int(state, 1) / 4.0f;
    else if (a->has_i)
        a->i = draw_int(state, a->i);
    else
        mutate_tensor(a->t, state);
}

static void mutate_node(Onnx__GraphProto *g, unsigned *state, swap *s)
{
    Onnx__NodeProto *node = g->node[draw(state, g->n_node)];
    switch (draw(state, 4)) {
    case 0:
        swap_text(s, &node->op_type, px_operator_get(draw(state, px_operator_count())).name);
        break;
    case 1:
        if (node->n_attribute)
            mutate_attribute(node->attribute[draw(state, node->n_attribute)], state);
        break;
    case 2: { /* another edge */
        const Onnx__NodeProto *from = g->node[draw(state, g->n_node)];
        const char *text = from->n_output && draw(state, 4)
                               ? from->output[draw(state, from->n_output)]
                           : g->n_initializer && draw(state, 2)
                               ? g->initializer[draw(state, g->n_initializer)]->name
                           : g->n_input && draw(state, 4) ? g->input[0]->name
                                                          : "";
        if (node->n_input)
            swap_text(s, &node->input[draw(state, node->n_input)], text ? text : "");
        break;
    }
    default:
        if (node->n_input)
            swap_text(s, &node->input[node->n_input - 1], "");
        break;
    }
}

static void mutate_graph(Onnx__GraphProto *g, unsigned *state, swap *s)
{
    const unsigned way = draw(state, 8);
    if (way < 4 && g->n_node) {
        mutate_node(g, state, s);
    } else if (way < 6 && g->n_initializer) {
        mutate_tensor(g->initializer[draw(state, g->n_initializer)], state);
    } else if (way == 6 && g->n_input) {
        const Onnx__TypeProto *type = g->input[draw(state, g->n_input)]->type;
        Onnx__TensorShapeProto *shape =
            type && type->value_case == ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE
                ? type->tensor_type->shape
                : NULL;
        if (shape && shape->n_dim) {
            Onnx__TensorShapeProto__Dimension *dim = shape->dim[draw(state, shape->n_dim)];
            if (dim->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE)
                dim->dim_value = draw_int(state, dim->dim_value);
        }
    } else if (g->n_output && g->n_node) { /* another value comes out */
        const Onnx__NodeProto *node = g->node[draw(state, g->n_node)];
        if (node->n_output)
            swap_text(s, &g->output[draw(state, g->n_output)]->name,
                      node->output[draw(state, node->n_output)]);
    }
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed)
{
    unsigned state = seed;
    px_error err = {0};
    pxi_pb *pb = NULL;
    if (draw(&state, 8) == 0 ||
        pxi_pb_decode(&onnx__model_proto__descriptor, data, size, false, &pb, &err) != PX_OK)
        return LLVMFuzzerMutate(data, size, most);
    Onnx__ModelProto *model = (Onnx__ModelProto *)pb->message;
    size_t made = 0;
    if (model->graph) {
        swap swapped = {0};
        mutate_graph(model->graph, &state, &swapped);
        const size_t packed = protobuf_c_message_get_packed_size(pb->message);
        if (packed <= most)
            made = protobuf_c_message_pack(pb->message, data);
        if (swapped.where)
            *swapped.where = swapped.old;
    }
    pxi_pb_free(pb);
    return made ? made : LLVMFuzzerMutate(data, size, most);
}
