/* tests/attribute/shapley_helpers.c - small networks whose coalitions can all be tried */
/* SPDX-License-Identifier: Apache-2.0 */
#include "shapley_helpers.h"

#include "engine/plan_helpers.h"

#include <internal/engine.h>
#include <string.h>

static px_shapley *shapley_open(const px_model *model, int threads)
{
    px_error err = {0};
    px_shapley *s = NULL;
    px_shapley_options options = px_shapley_options_default();
    options.threads = threads;
    check(px_shapley_new(model, NULL, &options, &s, &err), &err, "px_shapley_new");
    return s;
}

worked_example worked_open(int threads)
{
    static const float x[] = {0.5f, 0.4f}, moved[] = {0.3f, 0.7f};
    static const float w[] = {1.0f, 0.5f, -1.0f, 1.0f, 0.5f, -0.5f}, b[] = {0.0f, 0.05f, 0.25f};
    static const float v[] = {1.0f, -1.0f, 0.5f, 0.0f, 1.0f, -1.0f}, c[] = {0.1f, 0.0f};
    net n;
    net_init(&n, 1, "1,2");
    const int weights = net_tensor(&n, PX_FLOAT32, "3,2", w),
              bias = net_tensor(&n, PX_FLOAT32, "3", b);
    const int hidden = net_add(
        &n, "Relu", "", IN(V(net_add(&n, "Gemm", "transB=1", IN(V(n.x), V(weights), V(bias))))));
    const int logits = net_add(&n, "Gemm", "transB=1",
                               IN(V(hidden), V(net_tensor(&n, PX_FLOAT32, "2,3", v)),
                                  V(net_tensor(&n, PX_FLOAT32, "2", c))));
    worked_example made = {.model = net_take(&n, logits),
                           .pair = {.x = x, .moved = moved, .label = 0}};
    made.s = shapley_open(made.model, threads);
    return made;
}

void worked_close(worked_example *example)
{
    px_shapley_free(example->s);
    px_model_free(example->model);
}

static const char *const forms[SMALL_FORMS] = {
    "dense, dense",       "conv, pool, conv, dense",  "conv, batch norm, average pool, dense",
    "residual block",     "sigmoid behind the layer", "one layer, two readers",
    "tanh, leaky, dense",
};

const char *small_form(int form)
{
    return forms[form];
}

static int small_relu(net *n, int value)
{
    return net_add(n, "Relu", "", IN(V(value)));
}

static int small_conv(net *n, int value, const char *shape, const char *bias)
{
    return net_add(n, "Conv", "pads=1,1,1,1", IN(V(value), {.weight = shape}, {.weight = bias}));
}

px_model *small_model(int form, uint64_t seed)
{
    net n;
    int y;
    net_init(&n, seed * 1000 + 17, form == 0 || form == 4 || form == 6 ? "1,8" : "1,1,8,8");
    if (form == 0) {
        y = small_relu(&n, net_add(&n, "Gemm", "", IN(V(n.x), {.weight = "8,6"}, {.weight = "6"})));
        y = small_relu(&n, net_add(&n, "Gemm", "", IN(V(y), {.weight = "6,5"}, {.weight = "5"})));
        y = net_add(&n, "Gemm", "", IN(V(y), {.weight = "5,3"}, {.weight = "3"}));
    } else if (form == 1) {
        y = small_relu(&n, small_conv(&n, n.x, "4,1,3,3", "4"));
        y = net_add(&n, "MaxPool", "kernel_shape=2,2 strides=2,2", IN(V(y)));
        y = small_relu(&n, small_conv(&n, y, "6,4,3,3", "6"));
        y = net_add(&n, "Flatten", "", IN(V(y)));
        y = small_relu(&n, net_add(&n, "Gemm", "", IN(V(y), {.weight = "96,6"}, {.weight = "6"})));
        y = net_add(&n, "Gemm", "", IN(V(y), {.weight = "6,4"}, {.weight = "4"}));
    } else if (form == 2) {
        y = small_relu(&n, small_conv(&n, n.x, "5,1,3,3", "5"));
        y = small_conv(&n, y, "4,5,3,3", "4");
        y = net_add(&n, "BatchNormalization", "",
                    IN(V(y), {.weight = "4"}, {.weight = "4"}, {.weight = "4"},
                       {.weight = "4", .low = 0.5, .high = 2.0}));
        y = small_relu(&n, y);
        y = net_add(&n, "GlobalAveragePool", "", IN(V(y)));
        y = net_add(&n, "Flatten", "", IN(V(y)));
        y = net_add(&n, "Gemm", "", IN(V(y), {.weight = "4,3"}, {.weight = "3"}));
    } else if (form == 3) {
        const int stem = small_relu(&n, small_conv(&n, n.x, "4,1,3,3", "4"));
        const int inner = small_relu(&n, small_conv(&n, stem, "5,4,3,3", "5"));
        const int sum =
            net_add(&n, "Add", "", IN(V(small_conv(&n, inner, "4,5,3,3", "4")), V(stem)));
        y = net_add(&n, "GlobalAveragePool", "", IN(V(small_relu(&n, sum))));
        y = net_add(&n, "Flatten", "", IN(V(y)));
        y = net_add(&n, "Gemm", "", IN(V(y), {.weight = "4,3"}, {.weight = "3"}));
    } else if (form == 4) {
        y = net_add(&n, "Sigmoid", "",
                    IN(V(net_add(&n, "Gemm", "", IN(V(n.x), {.weight = "8,6"}, {.weight = "6"})))));
        y = net_add(&n, "Exp", "", IN(V(y))); /* not a sum over channels behind the layer */
        y = net_add(&n, "Gemm", "", IN(V(y), {.weight = "6,3"}, {.weight = "3"}));
    } else if (form == 5) {
        const int one = small_relu(&n, small_conv(&n, n.x, "4,1,3,3", "4"));
        const int a = small_conv(&n, one, "3,4,3,3", "3"), b = small_conv(&n, one, "3,4,3,3", "3");
        y = net_add(&n, "Mul", "", IN(V(a), V(b)));
        y = net_add(&n, "GlobalAveragePool", "", IN(V(y)));
        y = net_add(&n, "Flatten", "", IN(V(y)));
    } else {
        y = net_add(&n, "Tanh", "",
                    IN(V(net_add(&n, "Gemm", "", IN(V(n.x), {.weight = "8,5"}, {.weight = "5"})))));
        y = net_add(&n, "LeakyRelu", "alpha=0.1",
                    IN(V(net_add(&n, "Gemm", "", IN(V(y), {.weight = "5,6"}, {.weight = "6"})))));
        y = net_add(&n, "Gemm", "", IN(V(y), {.weight = "6,3"}, {.weight = "3"}));
    }
    return net_take(&n, y);
}

px_shapley *small_shapley(const px_model *model, int threads)
{
    return shapley_open(model, threads);
}

void small_pair_init(small_pair *made, const px_shapley *s, uint64_t seed)
{
    const size_t size = (size_t)px_shapley_input_size(s);
    float change[SMALL_INPUT];
    net_fill(made->x, size, 2 * seed + 100, -1.0, 1.0);
    net_fill(change, size, 2 * seed + 101, -0.5, 0.5);
    for (size_t i = 0; i < size; i++)
        made->moved[i] = made->x[i] + change[i];
    made->pair = (px_shapley_pair){
        .x = made->x, .moved = made->moved, .label = (int64_t)(seed % 3), .item = (uint32_t)seed};
}

double gated_utility(const px_model *model, const px_shapley *s, size_t layer,
                     const px_shapley_pair *pair, uint32_t bits)
{
    const px_scores *scores = px_shapley_scores(s);
    const px_layer *l = px_probe_layer(px_shapley_probe(s), layer);
    const px_gate gate = {.value = l->tap_value, .axis = 1};
    px_plan_options options = px_plan_options_default();
    options.batch = 2;
    options.gates = &gate;
    options.gate_count = 1;
    px_plan *plan = NULL;
    px_session *session = open_plan(model, &options, &plan, "gated");
    const size_t size = (size_t)px_shapley_input_size(s), channels = (size_t)l->neuron_count;
    float *input = px_session_input(session, 0), *factors = px_session_gate(session, 0);
    memcpy(input, pair->x, size * sizeof *input);
    memcpy(input + size, pair->moved, size * sizeof *input);
    for (size_t c = 0; c < channels; c++)
        factors[c] = factors[channels + c] = (float)(bits >> c & 1);
    px_error err = {0};
    int64_t predictions[2];
    const int64_t labels[2] = {pair->label, pair->label};
    double losses[2];
    check(px_session_forward(session, &err), &err, "gated");
    check(px_session_judge(session, scores, labels, 2, predictions, losses, &err), &err, "judge");
    close_plan(plan, session);
    return losses[1] - losses[0];
}
