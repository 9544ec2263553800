/* tests/generate/test_ascent.c - one step of each gradient engine against PyTorch (make_ascent.py)
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "generate_helpers.h"

#include "base/memory.h"
#include "generate/ascent.h"
#include "generate/deepxplore_rules.h"
#include "generate/unit_facts.h"

#include <math.h>
#include <plexor/onnx.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 6, SIZE = 3 * 8 * 8, UNITS = 26, CLASSES = 4 };

typedef struct part { /* of an objective: PLAN of make_ascent.py */
    bool rival;
    pxi_term classes[4], units[5];
    size_t class_count, unit_count;
} part;

static const struct plan {
    const char *engine;
    part parts[2];
    size_t part_count;
    double step;
    bool normalised, light;
} plans[] = {
    {"deepxplore",
     {{false, {{2, -1.0f}}, {{3, 0.1f}}, 1, 1}, {true, {{2, 1.0f}}, {{12, 0.1f}}, 1, 1}},
     2,
     0.3,
     true,
     true},
    {"dlfuzz",
     {{false,
       {{0, -1.0f}, {1, 0.5f}, {2, 0.5f}, {3, 0.5f}},
       {{1, 0.5f}, {7, 0.5f}, {15, -0.5f}, {23, 0.5f}},
       4,
       4}},
     1,
     0.02,
     true,
     false},
    {"adapt",
     {{false, {{1, -0.5f}}, {{0, 0.5f}, {6, 0.5f}, {11, 0.5f}, {20, 0.5f}, {25, 0.5f}}, 1, 5}},
     1,
     0.1,
     false,
     false},
};

typedef struct bench { /* the networks, the pictures, and what PyTorch says */
    scene scene;
    px_model *rival;
    px_preprocess rival_pre;
    pxi_ascent *own, *other;
    float levels[ROWS][SIZE];
    uint8_t pixels[ROWS][SIZE];
    px_npz *golden;
} bench;

static void check(px_status status, const px_error *err)
{
    if (status != PX_OK)
        fail_msg("%s", err->message);
}

static bench bench_open(int threads, int64_t batch)
{
    bench b = {.scene = raise_scene(NULL)};
    px_error err = {0};
    check(px_model_load(MODELS "/rival.onnx", &b.rival, &err), &err);
    const px_graph *graph = px_model_graph(b.rival);
    check(px_preprocess_init(&b.rival_pre, px_model_properties(b.rival),
                             px_model_property_count(b.rival),
                             &graph->values[graph->inputs[0]].shape, NULL, &err),
          &err);
    b.rival_pre.scale = b.scene.pre.scale;
    pxi_ascent_options options = {.model = b.scene.model,
                                  .pre = &b.scene.pre,
                                  .shape = px_dataset_shape(b.scene.set),
                                  .bytes = true,
                                  .threads = threads,
                                  .batch = batch,
                                  .most = ROWS};
    check(pxi_ascent_new(&options, &b.own, &err), &err);
    options.model = b.rival;
    options.pre = &b.rival_pre;
    check(pxi_ascent_new(&options, &b.other, &err), &err);
    check(px_npz_open(MODELS "/ascent_golden.npz", &b.golden, &err), &err);
    for (int i = 0; i < ROWS; i++) {
        check(px_dataset_pixels(b.scene.set, i, b.levels[i], &err), &err);
        for (int k = 0; k < SIZE; k++)
            b.pixels[i][k] = (uint8_t)b.levels[i][k];
    }
    return b;
}

static void bench_close(bench *b)
{
    pxi_ascent_free(b->own);
    pxi_ascent_free(b->other);
    px_npz_close(b->golden);
    px_model_free(b->rival);
    scene_close(&b->scene);
}

static const void *golden(const bench *b, const char *name, int64_t count)
{
    const px_tensor *tensor = px_npz_get(b->golden, name);
    assert_non_null(tensor);
    assert_int_equal(px_shape_count(&tensor->shape), count);
    return tensor->data;
}

static void compare(const char *what, const float *got, const float *want, size_t count,
                    double within)
{
    double scale = 0.0;
    for (size_t i = 0; i < count; i++)
        scale = PX_MAX(fabs((double)want[i]), scale); /* not fmax(): gcc 12 for arm64 */
    for (size_t i = 0; i < count; i++)
        if (!(fabs((double)got[i] - (double)want[i]) <= within * scale))
            fail_msg("%s, value %zu: %g, PyTorch has %g", what, i, (double)got[i], (double)want[i]);
}

static void climb(bench *b, const struct plan *plan, float gradient[ROWS][SIZE])
{
    px_error err = {0};
    memset(gradient, 0, sizeof(float[ROWS][SIZE]));
    for (size_t p = 0; p < plan->part_count; p++) {
        const part *one = &plan->parts[p];
        pxi_climber climbers[ROWS];
        for (int i = 0; i < ROWS; i++)
            climbers[i] = (pxi_climber){.levels = b->levels[i],
                                        .classes = one->classes,
                                        .units = one->units,
                                        .class_count = one->class_count,
                                        .unit_count = one->unit_count,
                                        .gradient = gradient[i]};
        check(pxi_ascent_gradients(one->rival ? b->other : b->own, climbers, ROWS, &err), &err);
    }
}

static void test_steps(void **state)
{
    (void)state;
    bench b = bench_open(1, 4);
    for (size_t p = 0; p < PX_LEN(plans); p++) {
        char name[64];
        float gradient[ROWS][SIZE];
        climb(&b, &plans[p], gradient);
        snprintf(name, sizeof name, "%s_gradient", plans[p].engine);
        compare(name, gradient[0], golden(&b, name, ROWS * SIZE), ROWS * SIZE, 2e-5);
        for (int i = 0; i < ROWS; i++) {
            const pxi_box none = {0, 0, 0, 0};
            if (plans[p].normalised)
                assert_true(pxi_ascent_normalise(gradient[i], SIZE));
            if (plans[p].light)
                pxi_xplore_constrain(PXI_XPLORE_LIGHT, &none, 3, 8, 8, gradient[i]);
            pxi_ascent_move(gradient[i], plans[p].step * 255.0, 0.0, 255.0, b.levels[i], SIZE);
        }
        snprintf(name, sizeof name, "%s_moved", plans[p].engine);
        compare(name, b.levels[0], golden(&b, name, ROWS * SIZE), ROWS * SIZE, 2e-5);
        for (int i = 0; i < ROWS; i++)
            for (int k = 0; k < SIZE; k++)
                b.levels[i][k] = (float)b.pixels[i][k];
    }
    bench_close(&b);
}

static void test_look(void **state)
{
    (void)state;
    bench b = bench_open(2, 4);
    px_error err = {0};
    float scores[ROWS][CLASSES], values[ROWS][UNITS];
    int64_t predictions[ROWS];
    double confidences[ROWS];
    const pxi_seen seen = {predictions, confidences, scores[0], values[0]};
    assert_int_equal(pxi_ascent_units(b.own), UNITS);
    assert_int_equal(pxi_ascent_classes(b.own), CLASSES);
    check(pxi_ascent_look(b.own, b.pixels, ROWS, &seen, &err), &err);
    compare("scores", scores[0], golden(&b, "scores", ROWS * CLASSES), ROWS * CLASSES, 2e-5);
    compare("scaled values", values[0], golden(&b, "scaled", ROWS * UNITS), ROWS * UNITS, 2e-5);
    for (int i = 0; i < ROWS; i++) {
        double sum = 0.0;
        for (int c = 0; c < CLASSES; c++)
            sum += exp((double)scores[i][c] - (double)scores[i][predictions[i]]);
        assert_int_equal(predictions[i], px_argmax(scores[i], CLASSES));
        assert_true(fabs(confidences[i] - 1.0 / sum) < 1e-6);
    }
    char text[PXI_UNIT_TEXT];
    assert_string_equal(pxi_ascent_unit_text(b.own, 3, text), "act1:3");
    assert_string_equal(pxi_ascent_unit_text(b.own, 9, text), "pool1:4");
    assert_string_equal(pxi_ascent_unit_text(b.own, 25, text), "fc2:3");
    bench_close(&b);
}

/* Rows do not depend on their neighbours, the micro-batch or the number of threads. */
static void test_same_bytes(void **state)
{
    (void)state;
    static const struct {
        int threads;
        int64_t batch;
    } cases[] = {{1, 1}, {2, 1}, {1, 5}, {2, 4}, {2, 16}};
    float first[PX_LEN(plans)][ROWS][SIZE], again[ROWS][SIZE];
    for (size_t i = 0; i < PX_LEN(cases); i++) {
        bench b = bench_open(cases[i].threads, cases[i].batch);
        for (size_t p = 0; p < PX_LEN(plans); p++) {
            climb(&b, &plans[p], i ? again : first[p]);
            if (i && memcmp(again, first[p], sizeof again) != 0)
                fail_msg("%s differs with %d threads and batches of %d", plans[p].engine,
                         cases[i].threads, (int)cases[i].batch);
        }
        bench_close(&b);
    }
}

/* A network that wants blue first: the same as pixels with their planes swapped. */
static void test_bgr(void **state)
{
    (void)state;
    bench b = bench_open(1, 4);
    px_error err = {0};
    float plain[ROWS][SIZE], swapped[ROWS][SIZE];
    climb(&b, &plans[1], plain);
    px_preprocess pre = b.scene.pre;
    pre.bgr = true;
    pxi_ascent_free(b.own);
    b.own = NULL;
    const pxi_ascent_options options = {.model = b.scene.model,
                                        .pre = &pre,
                                        .shape = px_dataset_shape(b.scene.set),
                                        .bytes = true,
                                        .threads = 1,
                                        .batch = 4,
                                        .most = ROWS};
    check(pxi_ascent_new(&options, &b.own, &err), &err);
    for (int i = 0; i < ROWS; i++)
        for (int k = 0; k < SIZE; k++)
            b.levels[i][(2 - k / 64) * 64 + k % 64] = (float)b.pixels[i][k];
    climb(&b, &plans[1], swapped);
    for (int i = 0; i < ROWS; i++)
        for (int c = 0; c < 3; c++)
            assert_memory_equal(&swapped[i][64 * (2 - c)], &plain[i][64 * c], 64 * sizeof(float));
    bench_close(&b);
}

static void test_weights(void **state)
{
    (void)state;
    bench b = bench_open(1, 4);
    px_error err = {0};
    pxi_unit_facts facts;
    const px_graph *graph = px_model_graph(b.scene.model);
    const px_feed sample = {graph->inputs[0], {4, {1, 3, 8, 8}}};
    check(pxi_unit_facts_init(&facts, b.scene.model, pxi_ascent_probe(b.own), &sample, &err), &err);
    const double *want = golden(&b, "weights", UNITS);
    static const uint8_t kinds[5] = {PXI_UNIT_CONV, PXI_UNIT_POOL, PXI_UNIT_CONV, PXI_UNIT_DENSE,
                                     PXI_UNIT_DENSE};
    for (int i = 0; i < UNITS; i++) {
        if (!(fabs(facts.weight[i] - want[i]) < 1e-6))
            fail_msg("unit %d: mean weight %g, expected %g", i, facts.weight[i], want[i]);
        assert_int_equal(facts.kind[i], kinds[facts.layer[i]]);
    }
    assert_int_equal(facts.layers, 5);
    pxi_unit_facts_done(&facts);
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_steps),      cmocka_unit_test(test_look),
        cmocka_unit_test(test_same_bytes), cmocka_unit_test(test_bgr),
        cmocka_unit_test(test_weights),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
