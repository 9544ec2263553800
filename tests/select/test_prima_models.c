/* tests/select/test_prima_models.c - changed networks: which weights, what it does, and features
 * of a pass beside those of networks that were really made */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cover_helpers.h"
#include "engine/net.h"

#include "base/memory.h"
#include "select/prima.h"

#include <internal/engine.h>
#include <internal/weights.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define IN(...) ((net_in[]){__VA_ARGS__, {.value = -1}})
#define V(number)         \
    {                     \
        .value = (number) \
    }

static pxi_prima_net *net_of(const px_model *model)
{
    pxi_prima_net *prima = NULL;
    px_error err = {0};
    if (pxi_prima_net_new(model, &prima, &err) != PX_OK)
        fail_msg("%s", err.message);
    return prima;
}

/* A network that has the mutated weights for its own. */
static px_model *freeze(pxi_prima_net *prima)
{
    px_model *model = NULL;
    px_error err = {0};
    assert_int_equal(px_weights_freeze(pxi_prima_net_weights(prima), NULL, 0, &model, &err), PX_OK);
    return model;
}

static void run_net(const px_model *model, const float *x, size_t floats, float *y, size_t outs)
{
    px_plan_options options = px_plan_options_default();
    px_plan *plan = NULL;
    px_session *session = NULL;
    px_error err = {0};
    options.batch = 1;
    if (px_plan_new(model, &options, &plan, &err) != PX_OK ||
        px_session_new(plan, &session, &err) != PX_OK)
        fail_msg("%s", err.message);
    memcpy(px_session_input(session, 0), x, floats * sizeof *x);
    assert_int_equal(px_session_forward(session, &err), PX_OK);
    assert_int_equal(px_session_read(session, px_model_graph(model)->outputs[0], -1, y, &err),
                     PX_OK);
    (void)outs;
    px_session_free(session);
    px_plan_free(plan);
}

/* Conv, BatchNormalization; the bias of a MatMul as an Add; shared input, groups, flattening. */
static px_model *normed(void)
{
    net n;
    net_init(&n, 3, "1,2,6,6");
    int y = net_add(&n, "Conv", "pads=1,1,1,1",
                    IN(V(n.x), {.weight = "4,2,3,3"}, {.weight = "4", .low = -1, .high = 1}));
    y = net_add(&n, "BatchNormalization", "",
                IN(V(y), {.weight = "4", .low = .5, .high = 2},
                   {.weight = "4", .low = -1, .high = 1}, {.weight = "4", .low = -1, .high = 1},
                   {.weight = "4", .low = .5, .high = 2}));
    return net_take(&n, y);
}

static px_model *deep(void)
{
    net n;
    net_init(&n, 4, "1,2,6,6");
    int y = net_add(&n, "Conv", "pads=1,1,1,1", IN(V(n.x), {.weight = "4,2,3,3"}, {.weight = "4"}));
    y = net_add(&n, "Relu", "", IN(V(y)));
    const int a = net_add(&n, "Conv", "group=2 pads=1,1,1,1", IN(V(y), {.weight = "6,2,3,3"}));
    const int b = net_add(&n, "Conv", "", IN(V(y), {.weight = "6,4,1,1"}));
    y = net_add(&n, "Add", "", IN(V(a), V(b)));
    y = net_add(&n, "Relu", "", IN(V(y)));
    y = net_add(&n, "MaxPool", "kernel_shape=2,2 strides=2,2", IN(V(y)));
    y = net_add(&n, "Flatten", "", IN(V(y)));
    y = net_add(&n, "MatMul", "", IN(V(y), {.weight = "54,5"}));
    y = net_add(&n, "Add", "", IN(V(y), {.weight = "5", .low = -1, .high = 1}));
    return net_take(&n, y);
}

static void test_units(void **state)
{
    (void)state;
    px_model *model = deep();
    pxi_prima_net *prima = net_of(model);
    assert_int_equal(pxi_prima_net_units(prima, PXI_PRIMA_GF), 72 + 108 + 24 + 270);
    assert_int_equal(pxi_prima_net_units(prima, PXI_PRIMA_NAI), 4 + 6 + 6 + 5);
    assert_int_equal(pxi_prima_net_units(prima, PXI_PRIMA_WS), 4 + 6 + 6 + 5);
    assert_int_equal(pxi_prima_net_units(prima, PXI_PRIMA_NEB),
                     4 + 6); /* two convs share one input */
    pxi_prima_net_free(prima);
    px_model_free(model);
    net n;
    net_init(&n, 4, "1,2,6,6");
    model = net_take(&n, net_add(&n, "Flatten", "", IN(V(n.x))));
    px_error err = {0};
    assert_int_equal(pxi_prima_net_new(model, &prima, &err), PX_E_UNSUPPORTED);
    px_model_free(model);
}

/* How many numbers of weight k differ from the network's own. */
static int64_t changed(pxi_prima_net *prima, size_t k)
{
    px_weight *weight = px_weights_get(pxi_prima_net_weights(prima), k);
    const px_graph *graph = px_model_graph(pxi_prima_net_model(prima));
    const float *now = weight->tensor.data, *own = graph->values[weight->value].constant->data;
    int64_t count = 0;
    for (int64_t i = 0; i < px_shape_count(&weight->tensor.shape); i++)
        count += now[i] != own[i];
    return count;
}

static void test_counts(void **state)
{
    (void)state;
    px_model *model = deep();
    pxi_prima_net *prima = net_of(model);
    const size_t weights = px_weights_count(pxi_prima_net_weights(prima));
    int64_t last[PXI_PRIMA_MODEL_RULES] = {0};
    for (int rule = 0; rule < PXI_PRIMA_MODEL_RULES; rule++) {
        int distinct = 0;
        for (uint32_t m = 0; m < 8; m++) {
            pxi_prima_net_mutate(prima, (pxi_prima_rule)rule, 0.1, 1.0, 1, m);
            int64_t all = 0, kernels = 0, mark = 0;
            for (size_t k = 0; k < weights; k++) {
                const int64_t c = changed(prima, k);
                const px_shape *shape =
                    &px_weights_get(pxi_prima_net_weights(prima), k)->tensor.shape;
                all += c;
                kernels += shape->rank > 1 ? c : 0;
                mark += c * (int64_t)(k + 1);
            }
            if (rule == PXI_PRIMA_GF)
                assert_true(all == 48 && kernels == 48); /* ceil of 47.4 */
            if (rule == PXI_PRIMA_WS || rule == PXI_PRIMA_NEB)
                assert_true(all == kernels && all > 0);
            if (rule == PXI_PRIMA_NAI)
                assert_true(kernels > 0);
            distinct += mark != last[rule];
            last[rule] = mark;
        }
        assert_true(rule == PXI_PRIMA_GF || distinct > 1);
        pxi_prima_net_mutate(prima, (pxi_prima_rule)rule, 0.1, 1.0, 1, 7); /* the same again */
        int64_t mark = 0;
        for (size_t k = 0; k < weights; k++)
            mark += changed(prima, k) * (int64_t)(k + 1);
        assert_int_equal(mark, last[rule]);
    }
    pxi_prima_net_free(prima);
    px_model_free(model);
}

/* Inverting every neuron turns the sign of what comes out of the normalisation, and of logits. */
static void test_inverse(void **state)
{
    (void)state;
    float x[72], y[144], z[144];
    net_fill(x, 72, 9, -1, 1);
    px_model *model = normed();
    pxi_prima_net *prima = net_of(model);
    run_net(model, x, 72, y, 144);
    pxi_prima_net_mutate(prima, PXI_PRIMA_NAI, 1.0, 1.0, 1, 0);
    px_model *inverse = freeze(prima);
    run_net(inverse, x, 72, z, 144);
    for (int i = 0; i < 144; i++)
        assert_true(fabsf(y[i] + z[i]) <= 1e-5f * (1.0f + fabsf(y[i])));
    px_model_free(inverse);
    pxi_prima_net_free(prima);
    px_model_free(model);
}

/* Blocking every neuron leaves what the bias says; blocking one takes it out of all its readers. */
static void test_block(void **state)
{
    (void)state;
    float x[72], y[5], z[5];
    net_fill(x, 72, 9, -1, 1);
    px_model *model = deep();
    pxi_prima_net *prima = net_of(model);
    pxi_prima_net_mutate(prima, PXI_PRIMA_NEB, 1.0, 1.0, 1, 0);
    px_model *blocked = freeze(prima);
    run_net(blocked, x, 72, y, 5);
    net_fill(x, 72, 10, -1, 1);
    run_net(blocked, x, 72, z, 5);
    assert_memory_equal(y, z, sizeof y);
    px_model_free(blocked);
    /* weights in the order of the graph: 4,2,3,3 / 4 / 6,2,3,3 / 6,4,1,1 / 54,5 / 5 */
    px_weights *now = pxi_prima_net_weights(prima);
    for (uint32_t m = 0; m < 20; m++) {
        pxi_prima_net_mutate(prima, PXI_PRIMA_NEB, 0.01, 1.0, 1, m); /* one neuron */
        const float *grouped = px_weights_get(now, 2)->tensor.data;
        const float *point = px_weights_get(now, 3)->tensor.data;
        const float *dense = px_weights_get(now, 4)->tensor.data;
        int columns = 0, channels = 0;
        for (int c = 0; c < 4; c++) {
            bool a = true, b = true;
            for (int o = 0; o < 3; o++)
                for (int t = 0; t < 9; t++)
                    a &= grouped[((c / 2 * 3 + o) * 2 + c % 2) * 9 + t] == 0.0f;
            for (int o = 0; o < 6; o++)
                b &= point[o * 4 + c] == 0.0f;
            assert_true(a == b);
            channels += a;
        }
        for (int c = 0; c < 6; c++) {
            bool all = true;
            for (int i = 0; i < 9 * 5; i++)
                all &= dense[c * 45 + i] == 0.0f;
            columns += all;
        }
        assert_int_equal(channels + columns, 1);
        assert_int_equal(changed(prima, 2), channels * 27);
        assert_int_equal(changed(prima, 3), channels * 6);
        assert_int_equal(changed(prima, 4), columns * 45);
    }
    pxi_prima_net_free(prima);
    px_model_free(model);
}

static int float_compare(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* A neuron's weights are the same ones, elsewhere. */
static void test_shuffle(void **state)
{
    (void)state;
    px_model *model = deep();
    pxi_prima_net *prima = net_of(model);
    pxi_prima_net_mutate(prima, PXI_PRIMA_WS, 1.0, 1.0, 1, 0);
    px_weight *weight = px_weights_get(pxi_prima_net_weights(prima), 4); /* 54,5: columns */
    const float *own = px_model_graph(model)->values[weight->value].constant->data;
    assert_true(changed(prima, 4) > 200);
    for (int o = 0; o < 5; o++) {
        float a[54], b[54];
        for (int i = 0; i < 54; i++) {
            a[i] = own[i * 5 + o];
            b[i] = ((float *)weight->tensor.data)[i * 5 + o];
        }
        qsort(a, 54, sizeof *a, float_compare);
        qsort(b, 54, sizeof *b, float_compare);
        assert_memory_equal(a, b, sizeof a);
    }
    pxi_prima_net_free(prima);
    px_model_free(model);
}

/* --- a pass beside the long way round -------------------------------------------------------- */

enum { INPUTS = 5 };
static const pxi_prima_settings few = {
    .mutants = 3, .ratio = 0.3, .gf_scale = 1, .patch = 3, .patches = 7, .noise = 0.1, .seed = 6};

typedef struct rows {
    float features[INPUTS][PXI_PRIMA_WIDTH];
    int predicted[INPUTS];
    int count;
} rows;

static px_status rows_visit(void *context, const pxi_prima_row *row, px_error *err)
{
    rows *r = context;
    (void)err;
    assert_int_equal(row->index, r->count);
    memcpy(r->features[r->count], row->features, sizeof r->features[0]);
    r->predicted[r->count++] = row->predicted;
    return PX_OK;
}

static void outcome_of(const px_model *model, const px_scores *scores, const float *x,
                       const double *p, int c, pxi_prima_sum *sum, int32_t *wrong)
{
    float y[10];
    double q[10];
    run_net(model, x, 784, y, 10);
    px_scores_probabilities(scores, y, q);
    const pxi_prima_outcome outcome = pxi_prima_compare(p, q, 10, c);
    pxi_prima_add(sum, wrong, &outcome, c);
}

static void test_pass(void **state)
{
    (void)state;
    px_model *model = small_net(7, 4);
    small_data data = small_digits(model, "test", INPUTS, 0);
    pxi_prima_net *prima = net_of(model);
    static rows got;
    px_error err = {0};
    pxi_prima_pass pass = {.net = prima,
                           .settings = &few,
                           .set = data.set,
                           .pre = &data.pre,
                           .count = INPUTS,
                           .batch = 4,
                           .threads = 2,
                           .visit = rows_visit,
                           .context = &got};
    assert_int_equal(px_model_scores(model, &pass.scores, &err), PX_OK);
    if (pxi_prima_run(&pass, &err) != PX_OK)
        fail_msg("%s", err.message);
    assert_int_equal(got.count, INPUTS);
    const px_shape shape = px_dataset_shape(data.set);
    pxi_prima_patch *patches = NULL;
    int64_t patch_count = 0;
    assert_int_equal(
        pxi_prima_patches(&shape, few.patch, few.patches, few.seed, &patches, &patch_count, &err),
        PX_OK);
    for (int64_t i = 0; i < INPUTS; i++) {
        float pixels[784], x[784], y[10], want[PXI_PRIMA_WIDTH];
        static float variants[PXI_PRIMA_INPUT_RULES * 784];
        double p[10];
        assert_int_equal(px_dataset_pixels(data.set, i, pixels, &err), PX_OK);
        assert_int_equal(px_dataset_input(data.set, &data.pre, i, x, &err), PX_OK);
        run_net(model, x, 784, y, 10);
        px_scores_probabilities(&pass.scores, y, p);
        const int c = px_argmax(y, 10);
        assert_int_equal(got.predicted[i], c);
        pxi_prima_variants(&shape, pixels, few.patch, few.noise, 255.0f, true, few.seed,
                           (uint32_t)px_dataset_index(data.set, i), variants);
        for (int rule = 0; rule < PXI_PRIMA_RULES; rule++) {
            pxi_prima_sum sum = {0};
            int32_t wrong[10] = {0};
            for (uint32_t m = 0; rule < PXI_PRIMA_MODEL_RULES && m < (uint32_t)few.mutants; m++) {
                pxi_prima_net_mutate(prima, (pxi_prima_rule)rule, few.ratio, few.gf_scale, few.seed,
                                     m);
                px_model *mutant = freeze(prima);
                outcome_of(mutant, &pass.scores, x, p, c, &sum, wrong);
                px_model_free(mutant);
            }
            for (int64_t k = 0; rule >= PXI_PRIMA_MODEL_RULES && k < patch_count; k++) {
                float mutant[784];
                memcpy(mutant, pixels, sizeof mutant);
                for (int py = patches[k].top; py < patches[k].top + patches[k].height; py++)
                    for (int px = patches[k].left; px < patches[k].left + patches[k].width; px++)
                        mutant[py * 28 + px] =
                            variants[(rule - PXI_PRIMA_MODEL_RULES) * 784 + py * 28 + px];
                assert_int_equal(px_preprocess_apply(&data.pre, &shape, mutant, &err), PX_OK);
                outcome_of(model, &pass.scores, mutant, p, c, &sum, wrong);
            }
            pxi_prima_features(&sum, wrong, 10, want + rule * PXI_PRIMA_FEATURES);
        }
        for (int k = 0; k < PXI_PRIMA_WIDTH; k++)
            if (!(fabsf(got.features[i][k] - want[k]) <= 1e-4f))
                fail_msg("input %d, rule %s, feature %d: %g, not %g", (int)i,
                         pxi_prima_rule_names[k / PXI_PRIMA_FEATURES], k % PXI_PRIMA_FEATURES,
                         (double)got.features[i][k], (double)want[k]);
    }
    free(patches);
    pxi_prima_net_free(prima);
    small_close(&data);
    px_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_units),   cmocka_unit_test(test_counts),
        cmocka_unit_test(test_inverse), cmocka_unit_test(test_block),
        cmocka_unit_test(test_shuffle), cmocka_unit_test(test_pass),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
