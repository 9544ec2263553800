/* tests/probe/test_layers.c - which layers a network has */
/* SPDX-License-Identifier: Apache-2.0 */
#include "probe_helpers.h"

#include <plexor/text.h>
#include <stdio.h>
#include <string.h>

/* name kind channels pre-tensor pool-tensor; h: hidden, L: logits, s: `post` has spatial extent. */
static const struct {
    const char *model, *layers;
} cases[] = {
    {"silu", "silu conv 4 pre=conv pool=gap h | logits dense 5 L"},
    {"quick_gelu", "act conv 4 pre=conv pool=gap h | logits dense 5 L"},
    {"mish", "mish conv 4 pre=conv pool=gap h | logits dense 5 L"},
    {"hard_swish", "act conv 4 pre=conv pool=gap h | logits dense 5 L"},
    {"keras_relu6", "relu6 conv 4 pre=conv pool=gap h | logits dense 5 L"},
    {"relu_after_pool", "relu conv 4 pre=conv pool=gap h | logits dense 5 L"},
    {"squeeze_excite", "silu conv 4 pre=conv h | reduced conv 2 pre=reduce h | "
                       "excite conv 4 pre=expand h | projected conv 4 pre=project h | "
                       "logits dense 5 L"},
    {"residual", "relu0 conv 4 pre=stem h | relu1 conv 4 pre=conv1 h | "
                 "relu2 conv 4 pre=conv2 pool=gap h | logits dense 5 L"},
    {"pre_activation",
     "relu1 conv 4 pre=stem h | relu2 conv 4 pre=conv1 pool=gap h | logits dense 5 L"},
    {"dense_block", "relu1 conv 4 pre=conv1 h | conv2 conv 2 h | "
                    "relu2 conv 6 pre=joined pool=gap h | logits dense 5 L"},
    {"highway", "gate conv 4 pre=conv h | tanh conv 4 pre=feature h | logits dense 5 L"},
    {"channels_last", "relu conv 4 pre=conv h | logits dense 5 L"},
    {"names", "b conv 4 pre=a h | again conv 4 pre=c h | f conv 4 pre=e pool=gap h | "
              "logits dense 5 L"},
    {"squeeze_net", "relu1 conv 4 pre=conv1 h | relu2 conv 5 pre=conv2 pool=gap L"},
    {"binary", "tanh dense 4 pre=dense1 h | y dense 1 pre=dense2 L"},
    {"transformer", "q dense 6 h | k dense 6 h | v dense 6 h | mixed heads 1 | o dense 6 h | "
                    "residual1 stream 6 h | gelu dense 8 pre=fc1 h | fc2 dense 6 h | "
                    "residual2 stream 6 h | token dense 6 h | logits dense 5 L"},
    {"gelu_tanh", "gelu dense 4 pre=dense h | logits dense 5 L"},
    {"lstm", "lstm@0 recurrent 4 h | lstm@1 recurrent 4 h | lstm@2 recurrent 4 h | "
             "logits dense 5 L"},
    {"gru_last", "gru recurrent 8 h | logits dense 5 L"},
    {"baked_batch", "relu conv 4 pre=conv h | logits dense 5 L"},
    {"windows", "relu conv 4 pre=conv h | logits dense 5 L"},
    {"vector", "conv conv 2 h | dense dense 3 h | logits dense 2 L"},
};

static void describe(const px_model *model, px_text *text)
{
    px_probe *probe = probe_make(model, "all", NULL, NULL);
    const px_graph *graph = px_model_graph(model);
    for (size_t i = 0; i < px_probe_layer_count(probe); i++) {
        const px_layer *layer = px_probe_layer(probe, i);
        px_text_format(text, "%s%s %s %lld", i > 0 ? " | " : "", layer->name,
                       px_layer_kind_name(layer->kind), (long long)layer->neuron_count);
        if (layer->pre != layer->post)
            px_text_format(text, " pre=%s", graph->values[layer->pre].name);
        if (layer->pool >= 0)
            px_text_format(text, " pool=%s", graph->values[layer->pool].name);
        px_text_add(text, layer->hidden ? " h" : "");
        px_text_add(text, layer->logits ? " L" : "");
        assert_int_equal(layer->position, (int)i);
    }
    px_probe_free(probe);
}

static void test_patterns(void **state)
{
    (void)state;
    int wrong = 0;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        px_model *model = probe_model(cases[i].model);
        px_text text = {0};
        describe(model, &text);
        if (strcmp(px_text_get(&text), cases[i].layers) != 0) {
            print_error("%s:\n  got  %s\n  want %s\n", cases[i].model, px_text_get(&text),
                        cases[i].layers);
            wrong++;
        }
        px_text_done(&text);
        px_model_free(model);
    }
    assert_int_equal(wrong, 0);
}

/* The axes that `chan` averages over, and what belongs to one sample. */
static void test_axes(void **state)
{
    (void)state;
    static const struct {
        const char *model, *layer, *axes, *shape;
        int64_t units;
    } axes[] = {
        {"silu", "silu", "bcss", "[1,4,6,6]", 144},
        {"channels_last", "relu", "bssc", "[1,6,6,4]", 144},
        {"transformer", "gelu", "bsc", "[1,3,8]", 24},
        {"lstm", "lstm@1", "tcbc", "[3,1,1,4]", 4},
        {"gru_last", "gru", "cbc", "[2,1,4]", 8},
        {"windows", "relu", "bcss", "[4,4,4,4]", 256}, /* four windows make one sample */
        {"baked_batch", "relu", "bcss", "[1,4,6,6]", 144},
        {"gelu_tanh", "gelu", "bc", "[1,4]", 4},
    };
    for (size_t i = 0; i < sizeof axes / sizeof *axes; i++) {
        px_model *model = probe_model(axes[i].model);
        px_probe *probe = probe_make(model, axes[i].layer, NULL, "unit");
        const px_layer *layer = px_probe_layer(probe, 0);
        char text[PX_MAX_RANK + 1] = {0}, shape[PX_SHAPE_TEXT];
        for (int d = 0; d < layer->shape.rank; d++)
            text[d] = "sbct"[layer->axis[d]];
        if (strcmp(text, axes[i].axes) != 0 || layer->neuron_count != axes[i].units ||
            strcmp(px_shape_text(&layer->shape, shape), axes[i].shape) != 0)
            fail_msg("%s: axes %s shape %s units %lld", axes[i].model, text,
                     px_shape_text(&layer->shape, shape), (long long)layer->neuron_count);
        px_probe_free(probe);
        px_model_free(model);
    }
}

static void test_taps(void **state)
{
    (void)state;
    static const struct {
        const char *model, *tap, *layer, *tensor;
    } taps[] = {
        {"residual", "post", "relu2", "relu2"}, {"residual", "pre", "relu2", "conv2"},
        {"residual", "pool", "relu2", "gap"},   {"residual", "pool", "relu1", "relu1"},
        {"transformer", "pre", "q", "q"},       {"squeeze_excite", "pre", "projected", "project"},
        {"lstm", "pre", "lstm@2", "states"},
    };
    for (size_t i = 0; i < sizeof taps / sizeof *taps; i++) {
        px_model *model = probe_model(taps[i].model);
        px_probe *probe = probe_make(model, taps[i].layer, taps[i].tap, NULL);
        const char *tensor =
            px_model_graph(model)->values[px_probe_layer(probe, 0)->tap_value].name;
        if (strcmp(tensor, taps[i].tensor) != 0)
            fail_msg("%s %s of %s is '%s'", taps[i].model, taps[i].tap, taps[i].layer, tensor);
        px_probe_free(probe);
        px_model_free(model);
    }
}

static void test_real_networks(void **state)
{
    (void)state;
    static const struct {
        const char *file, *layers, *neurons;
        size_t layer_count;
        int64_t neuron_count;
    } real[] = {
        {"lenet5", NULL, NULL, 4, 226},
        {"lenet5", "all", NULL, 5, 236},
        {"lenet5", "dense", NULL, 2, 204},
        {"lenet5", NULL, "unit", 4, 4704 + 3136 + 204},
        {"resnet20_cifar10", NULL, NULL, 19, 688},
        {"resnet32_cifar10", NULL, NULL, 31, 1136},
        {"mobilenetv2_cifar10", NULL, NULL, 52, 17056},
        {"mobilenetv2_cifar10", "last-encoder", NULL, 1, 1280},
        {"deepfault_mnist_1", NULL, NULL, 5, 150},
        {"lenet1", NULL, "deepxplore", 6, 52},
        {"lenet4", NULL, "deepxplore", 7, 148},
        {"lenet5", NULL, "deepxplore", 8, 268},
    };
    const char *folder = probe_shared();
    if (!folder)
        skip();
    for (size_t i = 0; i < sizeof real / sizeof *real; i++) {
        char path[1200];
        snprintf(path, sizeof path, "%s/%s.onnx", folder, real[i].file);
        px_model *model = NULL;
        px_error err = {0};
        if (px_model_load(path, &model, &err) != PX_OK)
            fail_msg("%s", err.message);
        px_probe *probe = probe_make(model, real[i].layers, NULL, real[i].neurons);
        if (px_probe_layer_count(probe) != real[i].layer_count ||
            px_probe_neuron_count(probe) != real[i].neuron_count)
            fail_msg("%s: %s", real[i].file, px_probe_describe(probe));
        px_probe_free(probe);
        px_model_free(model);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_patterns),
        cmocka_unit_test(test_axes),
        cmocka_unit_test(test_taps),
        cmocka_unit_test(test_real_networks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
