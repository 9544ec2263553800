/* tests/train/test_arch.c - the zoo: parameter counts of the papers, and every network once */
/* SPDX-License-Identifier: Apache-2.0 */
#include <internal/arch.h>
#include <internal/weights.h>
#include <plexor/engine.h>

#include "base/memory.h"
#include "cmocka_all.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- the papers' tables --------------------------------------------------------------------------
 *
 * Keras tells trainable parameters from all of them, which include the running statistics of batch
 * normalisation; the tables print either.
 */

enum { TRAINABLE, ALL };

#define DEEPSENSOR "DeepSensor Table 1"
#define DEEPFAULT "DeepFault Table 2"
#define NSS "NSS Table 3"
#define REVISITING "Revisiting Table I"
#define TORCHVISION "torchvision"
#define SHARED_MODEL "the trained network"

static const struct {
    const char *where, *subject, *arch;
    int channels, side, classes; /* 0: the architecture's own */
    int which;
    int64_t count;
} matching[] = {
    {DEEPSENSOR, "MNIST LeNet-1", "lenet1", 0, 0, 0, TRAINABLE, 7206},
    {DEEPSENSOR, "MNIST LeNet-4", "lenet4", 0, 0, 0, TRAINABLE, 69362},
    {DEEPSENSOR, "MNIST LeNet-5", "lenet5", 0, 0, 0, TRAINABLE, 107786},
    {DEEPSENSOR, "CIFAR-10 ResNet-20", "resnet20-keras", 0, 0, 0, TRAINABLE, 273066},
    {DEEPSENSOR, "CIFAR-10 VGG16", "vgg16-cifar", 0, 0, 0, TRAINABLE, 33663070},
    {DEEPSENSOR, "ImageNet MobileNet", "mobilenet", 0, 0, 0, TRAINABLE, 4231976},
    {DEEPSENSOR, "ImageNet ResNet-50", "resnet50-keras", 0, 0, 0, TRAINABLE, 25583592},
    {DEEPSENSOR, "VCTK ResNet-34", "resnet34-audio", 0, 0, 0, ALL, 21315166},
    {DEEPSENSOR, "VCTK DeepSpeaker", "deepspeaker", 0, 0, 0, ALL, 24201118},
    {DEEPFAULT, "MNIST_1", "mlp-5x30", 0, 0, 0, TRAINABLE, 27420},
    {DEEPFAULT, "MNIST_2", "mlp-6x25", 0, 0, 0, TRAINABLE, 22975},
    {DEEPFAULT, "MNIST_3", "mlp-8x20", 0, 0, 0, TRAINABLE, 18680},
    {DEEPFAULT, "CIFAR_1", "cifar-4x128", 0, 0, 0, TRAINABLE, 411434},
    {DEEPFAULT, "CIFAR_2", "cifar-2x256", 0, 0, 0, TRAINABLE, 724010},
    {DEEPFAULT, "CIFAR_3", "cifar-1x512", 0, 0, 0, TRAINABLE, 1250858},
    {NSS, "MNIST LeNet-5", "lenet5-valid", 0, 0, 0, TRAINABLE, 44426},
    {REVISITING, "MNIST LeNet-1", "lenet1-valid", 0, 0, 0, ALL, 3246},
    {REVISITING, "MNIST LeNet-4", "lenet4-valid", 0, 0, 0, ALL, 25010},
    {REVISITING, "MNIST LeNet-5", "lenet5-valid", 0, 0, 0, ALL, 44426},
    {REVISITING, "CIFAR-10 VGG-16", "vgg16-cifar", 0, 0, 0, ALL, 33687922},
    {REVISITING, "CIFAR-10 ResNet-20", "resnet20-keras", 0, 0, 0, ALL, 274442},
    {REVISITING, "CIFAR-10 ResNet-56", "resnet56-b", 0, 0, 0, ALL, 860026},
    {REVISITING, "SVHN SADL-1", "sadl-1", 0, 0, 0, ALL, 6531786},
    {REVISITING, "SVHN SADL-2", "sadl-2", 0, 0, 0, ALL, 1646794},
    {REVISITING, "SVHN SADL-3", "sadl-3", 0, 0, 0, ALL, 2923050},
    {REVISITING, "EuroSAT VGG-16, at 32x32", "vgg16-cifar", 3, 32, 10, ALL, 33687922},
    {REVISITING, "EuroSAT ResNet-20", "resnet20-keras", 3, 64, 10, ALL, 274442},
    {TORCHVISION, "resnet18", "resnet18", 0, 0, 0, TRAINABLE, 11689512},
    {TORCHVISION, "resnet34", "resnet34", 0, 0, 0, TRAINABLE, 21797672},
    {TORCHVISION, "resnet50", "resnet50", 0, 0, 0, TRAINABLE, 25557032},
    {TORCHVISION, "vgg16", "vgg16", 0, 0, 0, TRAINABLE, 138357544},
    {TORCHVISION, "vgg16_bn", "vgg16-bn", 0, 0, 0, TRAINABLE, 138365992},
    {TORCHVISION, "mobilenet_v2", "mobilenetv2", 0, 0, 0, TRAINABLE, 3504872},
    {SHARED_MODEL, "resnet20_cifar10", "resnet20", 0, 0, 0, TRAINABLE, 269722},
    {SHARED_MODEL, "resnet20_cifar10", "resnet20", 0, 0, 0, ALL, 269722 + 1376},
    {SHARED_MODEL, "resnet32_cifar10", "resnet32", 0, 0, 0, ALL, 464154 + 2272},
    {SHARED_MODEL, "mobilenetv2_cifar10", "mobilenetv2", 3, 32, 10, ALL, 2236682 + 34112},
    {SHARED_MODEL, "deepfault_mnist_3x50", "mlp-3x50", 0, 0, 0, TRAINABLE, 44700},
    {"Keras", "MobileNet, all", "mobilenet", 0, 0, 0, ALL, 4253864},
    {"Keras", "ResNet50, all", "resnet50-keras", 0, 0, 0, ALL, 25636712},
};

static px_arch_options options_for(int channels, int side, int classes)
{
    px_arch_options options = px_arch_options_default();
    options.channels = channels;
    options.height = options.width = side;
    options.classes = classes;
    return options;
}

static int64_t count_of(const char *arch, int channels, int side, int classes, int which)
{
    const px_arch_options options = options_for(channels, side, classes);
    int64_t parameters = 0, statistics = 0;
    px_error err = {0};
    if (px_arch_parameters(arch, &options, &parameters, &statistics, &err) != PX_OK)
        return -1;
    return parameters + (which == ALL ? statistics : 0);
}

static void test_counts_that_match(void **state)
{
    (void)state;
    for (size_t i = 0; i < PX_LEN(matching); i++) {
        const int64_t count = count_of(matching[i].arch, matching[i].channels, matching[i].side,
                                       matching[i].classes, matching[i].which);
        if (count != matching[i].count)
            fail_msg("%s, %s: '%s' has %lld, not %lld", matching[i].where, matching[i].subject,
                     matching[i].arch, (long long)count, (long long)matching[i].count);
    }
}

/* Rows that no known architecture gives on that data, with what comes nearest of those that go by
 * the row's name. */
static const struct {
    const char *where, *subject;
    int channels, side;
    int64_t count;
    const char *family, *nearest;
    int which;
    int64_t nearest_count;
} unmatched[] = {
    /* 104 more than LeNet-1 without padding: its first convolution, counted twice? */
    {NSS, "MNIST LeNet-1", 1, 28, 3350, "lenet1", "lenet1-valid", TRAINABLE, 3246},
    {NSS, "Fashion LeNet-1", 1, 28, 3350, "lenet1", "lenet1-valid", TRAINABLE, 3246},
    /* the count for one channel and 28x28, but SVHN has three and 32x32 */
    {NSS, "SVHN LeNet-5", 3, 32, 44426, "lenet5", "lenet5-valid", TRAINABLE, 62006},
    /* about twice a ResNet-20; the same for one channel and for three */
    {NSS, "CIFAR-10 ResNet-20", 3, 32, 543754, "resnet20", "resnet20-keras", ALL, 274442},
    {NSS, "Fashion ResNet-20", 1, 28, 543754, "resnet20", "resnet20-keras", ALL, 274154},
    /* vgg16-bn on 32x32 has 33,646,666; its first convolution, batch norm and dense layer counted
     * twice (1,792 + 128 + 2,101,248) make up the difference */
    {NSS, "CIFAR-10 VGG-16", 3, 32, 35749834, "vgg16", "vgg16-cifar", ALL, 33687922},
    {NSS, "SVHN VGG-16", 3, 32, 35749834, "vgg16", "vgg16-cifar", ALL, 33687922},
    /* these two rows look swapped, and one is another network's */
    {REVISITING, "EuroSAT ResNet-32", 3, 64, 860026, "resnet32", "resnet32-keras", ALL, 470218},
    {REVISITING, "EuroSAT ResNet-56", 3, 64, 274442, "resnet56", "resnet56", TRAINABLE, 853018},
};

static void test_counts_that_do_not(void **state)
{
    (void)state;
    const char *const more[] = {"resnet32-b", "resnet32-keras", "resnet20-b", "resnet56-keras"};
    for (size_t i = 0; i < PX_LEN(unmatched); i++) {
        int64_t nearest = -1;
        const char *name = "";
        for (size_t a = 0; a < px_arch_count() + PX_LEN(more); a++) {
            const char *arch =
                a < px_arch_count() ? px_arch_get(a)->entry.id : more[a - px_arch_count()];
            if (strncmp(arch, unmatched[i].family, strlen(unmatched[i].family)) != 0)
                continue;
            for (int which = TRAINABLE; which <= ALL; which++) {
                const int64_t count =
                    count_of(arch, unmatched[i].channels, unmatched[i].side, 10, which);
                if (nearest < 0 ||
                    llabs(count - unmatched[i].count) < llabs(nearest - unmatched[i].count)) {
                    nearest = count;
                    name = arch;
                }
            }
        }
        if (nearest == unmatched[i].count)
            fail_msg("%s, %s: '%s' has that many now", unmatched[i].where, unmatched[i].subject,
                     name);
        if (strcmp(name, unmatched[i].nearest) != 0 || nearest != unmatched[i].nearest_count)
            fail_msg("%s, %s: the nearest is '%s' with %lld", unmatched[i].where,
                     unmatched[i].subject, name, (long long)nearest);
    }
}

/* The first-layers-twice reading of NSS's VGG-16. */
static void test_vgg_of_nss(void **state)
{
    (void)state;
    assert_int_equal(count_of("vgg16-bn", 3, 32, 10, TRAINABLE), 33646666);
    assert_int_equal(33646666 + 1792 + 128 + 2101248, 35749834);
}

/* --- every network once ---------------------------------------------------------------------- */

static px_model *built(const char *name, const px_arch_options *options)
{
    px_model *model = NULL;
    px_error err = {0};
    if (px_arch_build(name, options, &model, &err) != PX_OK)
        fail_msg("%s: %s", name, err.message);
    return model;
}

static void check_built(const char *name, const px_arch_options *options)
{
    px_model *model = built(name, options);
    const px_graph *graph = px_model_graph(model);
    int64_t parameters, statistics, counted, counted_statistics;
    px_error err = {0};
    parameters = px_model_parameters(model, &statistics);
    assert_int_equal(px_arch_parameters(name, options, &counted, &counted_statistics, &err), PX_OK);
    if (parameters != counted || statistics != counted_statistics)
        fail_msg("%s: %lld + %lld in the graph, %lld + %lld counted", name, (long long)parameters,
                 (long long)statistics, (long long)counted, (long long)counted_statistics);

    px_scores scores;
    if (px_model_scores(model, &scores, &err) != PX_OK)
        fail_msg("%s: %s", name, err.message);
    assert_int_equal(scores.classes, options->classes);
    assert_string_equal(graph->values[scores.value].name, "logits");
    assert_string_equal(graph->values[graph->outputs[0]].name, "probs");
    assert_string_equal(graph->values[graph->inputs[0]].name, "input");
    assert_null(px_model_unsupported(model));
    assert_string_equal(px_model_property(model, "plexor.arch"), name);
    for (int n = 0; n < graph->node_count; n++)
        if (!*graph->nodes[n].name)
            fail_msg("%s: node %d has no name", name, n);

    px_weights *weights = NULL;
    if (px_weights_new(model, &weights, &err) != PX_OK)
        fail_msg("%s: %s", name, err.message);
    int64_t of_role[2] = {0, 0};
    for (size_t i = 0; i < px_weights_count(weights); i++) {
        const px_weight *weight = px_weights_get(weights, i);
        of_role[weight->role] += px_shape_count(&weight->tensor.shape);
    }
    if (of_role[0] != parameters || of_role[1] != statistics)
        fail_msg("%s: %lld + %lld are weights", name, (long long)of_role[0], (long long)of_role[1]);
    px_weights_free(weights);
    px_model_free(model);
}

/* Networks of up to that many parameters are built in full; the comparison with PyTorch builds the
 * others. */
enum { FEW = 5000000 };

static void test_builds(void **state)
{
    (void)state;
    int checked = 0;
    for (size_t i = 0; i < px_arch_count(); i++) {
        const px_arch arch = *px_arch_get(i);
        const px_arch_options options = options_for(2, 33, 7); /* odd on purpose */
        int64_t parameters;
        px_error err = {0};
        assert_true(*arch.entry.title && arch.classes > 1 && arch.channels > 0);
        if (px_arch_parameters(arch.entry.id, &options, &parameters, NULL, &err) != PX_OK)
            fail_msg("%s: %s", arch.entry.id, err.message);
        if (parameters > FEW)
            continue;
        check_built(arch.entry.id, &options);
        checked++;
    }
    assert_true(checked >= 15);
    const px_arch_options options = options_for(1, 9, 3);
    check_built("mlp-1x1", &options);
    check_built("resnet8", &options);
    check_built("resnet14-b", &options);
    check_built("resnet14-keras", &options);
}

static void test_seeds(void **state)
{
    (void)state;
    px_arch_options options = px_arch_options_default();
    px_model *first = built("lenet1", &options), *again = built("lenet1", NULL);
    options.seed = 1;
    px_model *other = built("lenet1", &options);
    assert_true(px_model_hash(first) == px_model_hash(again));
    assert_true(px_model_hash(first) != px_model_hash(other));
    px_model_free(first);
    px_model_free(again);
    px_model_free(other);
}

/* --- drawing --------------------------------------------------------------------------------- */

/* Deviation and largest magnitude of a weight as its framework would have them; a largest of 0
 * is not checked (a normal has none). */
static const struct {
    const char *arch, *weight;
    double deviation, largest;
} drawn[] = {
    {"lenet5", "fc1.weight", 0.0470, 0.08146}, /* Glorot: sqrt(6 / (784 + 120)) */
    {"lenet5", "fc1.bias", 0.0, 0.0},
    {"mlp-5x30", "fc1.weight", 0.04957, 0.08585},
    {"resnet20", "layer3.1.conv1.weight", 0.05893, 0.0},           /* sqrt(2 / 576) */
    {"resnet20", "linear.bias", 0.0722, 0.125},                    /* uniform, 1 / sqrt(64) */
    {"resnet20-keras", "layer3.1.conv1.weight", 0.05893, 0.13399}, /* cut at 2 / 0.8796 of it */
    {"mobilenetv2", "features.18.0.weight", 0.03953, 0.0},         /* sqrt(2 / 1280) */
    {"mobilenetv2", "classifier.1.weight", 0.01, 0.0},
    {"resnet20", "bn1.running_var", 0.0, 1.0},
    {"resnet20", "bn1.bias", 0.0, 0.0},
};

static void test_drawing(void **state)
{
    (void)state;
    for (size_t i = 0; i < PX_LEN(drawn); i++) {
        px_model *model = built(drawn[i].arch, NULL);
        const px_graph *graph = px_model_graph(model);
        const int value = px_graph_find_value(graph, drawn[i].weight);
        if (value < 0)
            fail_msg("'%s' has no '%s'", drawn[i].arch, drawn[i].weight);
        const px_tensor *tensor = graph->values[value].constant;
        const float *data = tensor->data;
        const double count = (double)px_shape_count(&tensor->shape);
        double sum = 0.0, squares = 0.0, largest = 0.0;
        for (int64_t k = 0; k < px_shape_count(&tensor->shape); k++)
            sum += (double)data[k];
        for (int64_t k = 0; k < px_shape_count(&tensor->shape); k++) {
            squares += ((double)data[k] - sum / count) * ((double)data[k] - sum / count);
            largest = fmax(largest, fabs((double)data[k]));
        }
        const double deviation = sqrt(squares / count);
        const double slack = count > 1000 ? 0.03 : 0.5; /* ten numbers say little */
        const bool bounded = drawn[i].largest > 0.0 || drawn[i].deviation == 0.0;
        if (fabs(deviation - drawn[i].deviation) > slack * drawn[i].deviation ||
            (bounded && (largest > drawn[i].largest * 1.001 ||
                         largest < drawn[i].largest * (count > 1000 ? 0.97 : 0.5))) ||
            (drawn[i].deviation > 0.0 && fabs(sum / count) > 5.0 * deviation / sqrt(count)))
            fail_msg("'%s' of '%s': deviation %g, largest %g, mean %g", drawn[i].weight,
                     drawn[i].arch, deviation, largest, sum / count);
        px_model_free(model);
    }
}

static void test_dropout(void **state)
{
    (void)state;
    static const struct {
        double rate;
        int nodes;
        float first;
    } cases[] = {{-1.0, 6, 0.25f}, {0.0, 0, 0.0f}, {0.125, 6, 0.125f}};
    for (size_t i = 0; i < PX_LEN(cases); i++) {
        px_arch_options options = px_arch_options_default();
        options.dropout = cases[i].rate;
        px_model *model = built("cifar-4x128", &options);
        const px_graph *graph = px_model_graph(model);
        int nodes = 0;
        for (int n = 0; n < graph->node_count; n++) {
            const px_node *node = &graph->nodes[n];
            if (strcmp(node->type, "Dropout") != 0 || nodes++)
                continue;
            const px_node *ratio = &graph->nodes[graph->values[node->inputs[1]].producer];
            const px_attr *value = px_node_attr(ratio, "value");
            assert_string_equal(node->name, "block1_dropout");
            assert_true(*(const float *)value->tensor.data == cases[i].first);
        }
        assert_int_equal(nodes, cases[i].nodes);
        px_model_free(model);
    }
}

/* --- what cannot be -------------------------------------------------------------------------- */

static const struct {
    const char *arch;
    px_arch_options options;
    px_status status;
    const char *message; /* part of it */
} refused[] = {
    {"lenet5-valid",
     {.height = 15, .width = 40, .dropout = -1},
     PX_E_INPUT,
     "images of 15x40 are too small for 'lenet5-valid'; it takes 16x16 and larger"},
    {"lenet1", {.height = 3, .width = 3, .dropout = -1}, PX_E_INPUT, "it takes 4x4 and larger"},
    {"vgg16", {.height = 31, .width = 31, .dropout = -1}, PX_E_INPUT, "it takes 32x32 and larger"},
    {"cifar-1x512",
     {.height = 8, .width = 8, .dropout = -1},
     PX_E_INPUT,
     "it takes 10x10 and larger"},
    {"sadl-3", {.height = 7, .width = 99, .dropout = -1}, PX_E_INPUT, "it takes 8x8 and larger"},
    {"lenet6",
     {.dropout = -1},
     PX_E_USAGE,
     "there is no architecture 'lenet6', did you mean 'lenet1'"},
    {"", {.dropout = -1}, PX_E_USAGE, "there is no architecture ''"},
    {"mlp-", {.dropout = -1}, PX_E_USAGE, "there is no architecture 'mlp-'"},
    {"mlp-5", {.dropout = -1}, PX_E_USAGE, "there is no architecture 'mlp-5'"},
    {"mlp-05x30", {.dropout = -1}, PX_E_USAGE, "there is no architecture"},
    {"mlp-5x30x", {.dropout = -1}, PX_E_USAGE, "there is no architecture"},
    {"mlp-5x-3", {.dropout = -1}, PX_E_USAGE, "there is no architecture"},
    {"mlp-99999999999x1", {.dropout = -1}, PX_E_USAGE, "there is no architecture"},
    {"mlp-1001x3", {.dropout = -1}, PX_E_USAGE, "1001 is not between 1 and 1000"},
    {"mlp-3x65537", {.dropout = -1}, PX_E_USAGE, "65537 is not between 1 and 65536"},
    {"resnet21", {.dropout = -1}, PX_E_USAGE, "21 is not 6 times a number plus 2"},
    {"resnet2", {.dropout = -1}, PX_E_USAGE, "2 is not between 8 and 1202"},
    {"resnet21-b", {.dropout = -1}, PX_E_USAGE, "of the family 'resnetN-b'"},
    {"lenet1", {.channels = -1, .dropout = -1}, PX_E_USAGE, "-1 channels are not possible"},
    {"lenet1", {.classes = 2000000, .dropout = -1}, PX_E_USAGE, "2000000 classes"},
    {"lenet1", {.height = 100000, .dropout = -1}, PX_E_USAGE, "100000 rows of pixels"},
    {"lenet1", {.width = INT64_MAX, .dropout = -1}, PX_E_USAGE, "columns of pixels"},
    {"lenet1", {.dropout = 1.0}, PX_E_USAGE, "a dropout rate of 1 would drop everything"},
    {"lenet1", {.dropout = NAN}, PX_E_USAGE, "a dropout rate of"},
    {"vgg16",
     {.height = 16384, .width = 16384, .dropout = -1},
     PX_E_UNSUPPORTED,
     "more than an ONNX file holds"},
    {"mlp-1000x65536", {.dropout = -1}, PX_E_UNSUPPORTED, "more than an ONNX file holds"},
    {"mlp-2x65536",
     {.channels = 4096, .height = 16384, .width = 16384, .dropout = -1},
     PX_E_UNSUPPORTED,
     "more than an ONNX file holds"},
};

static void test_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < PX_LEN(refused); i++) {
        px_model *model = NULL;
        px_error err = {0};
        const px_status status = px_arch_build(refused[i].arch, &refused[i].options, &model, &err);
        if (status != refused[i].status || model || !strstr(err.message, refused[i].message))
            fail_msg("case %zu, '%s': %s, '%s'", i, refused[i].arch, px_status_name(status),
                     err.message);
    }
}

/* The message's size is the least that works. */
static void test_least_size(void **state)
{
    (void)state;
    for (size_t i = 0; i < px_arch_count(); i++) {
        const px_arch arch = *px_arch_get(i);
        px_arch_options options = options_for(0, 1, 2);
        int64_t parameters;
        px_error err = {0};
        if (px_arch_parameters(arch.entry.id, &options, &parameters, NULL, &err) == PX_OK)
            continue; /* global pooling takes anything */
        const char *size = strstr(err.message, "it takes ");
        assert_non_null(size);
        options.height = options.width = atoi(size + 9);
        if (px_arch_parameters(arch.entry.id, &options, &parameters, NULL, &err) != PX_OK)
            fail_msg("%s: %s", arch.entry.id, err.message);
        options.height--;
        if (px_arch_parameters(arch.entry.id, &options, &parameters, NULL, &err) != PX_E_INPUT)
            fail_msg("%s takes less than it says", arch.entry.id);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counts_that_match),
        cmocka_unit_test(test_counts_that_do_not),
        cmocka_unit_test(test_vgg_of_nss),
        cmocka_unit_test(test_builds),
        cmocka_unit_test(test_seeds),
        cmocka_unit_test(test_drawing),
        cmocka_unit_test(test_dropout),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_least_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
