/* tests/inputs/test_inputs.c - networks of several inputs, of texts and of numbers, beside PyTorch
 *
 * train_models.py made models/ and golden.npz.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"

#include "base/memory.h"
#include "text/token_inputs.h"

#include <internal/data.h>
#include <internal/engine.h>
#include <internal/graph.h>
#include <internal/nearest_tokens.h>
#include <math.h>
#include <plexor/attack.h>
#include <plexor/eval.h>
#include <plexor/onnx.h>
#include <plexor/task.h>
#include <plexor/trace.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct scene {
    px_model *model;
    px_task task;
} scene;

static void check(px_status status, const px_error *err)
{
    if (status != PX_OK)
        fail_msg("%s", err->message);
}

static px_npz *golden;

static const px_tensor *golden_array(const char *name)
{
    px_error err = {0};
    if (!golden)
        check(px_npz_open(MODELS "/golden.npz", &golden, &err), &err);
    const px_tensor *t = px_npz_get(golden, name);
    if (!t)
        fail_msg("golden.npz has no '%s'", name);
    return t;
}

static scene scene_open(const char *net, const char *data, double tolerance, bool cut)
{
    scene s = {0};
    px_error err = {0};
    char path[256], spec[256];
    snprintf(path, sizeof path, "%s/%s", MODELS, net);
    snprintf(spec, sizeof spec, "%s/%s", MODELS, data);
    check(px_model_load(path, &s.model, &err), &err);
    check(px_model_join_inputs(s.model, &err), &err);
    if (strncmp(net, "language", 8) == 0)
        check(px_model_set_tokenizer(s.model, NULL, 24, &err), &err);
    if (!isnan(tolerance))
        check(px_model_set_regression(s.model, tolerance, &err), &err);
    if (cut)
        check(px_model_embed(s.model, &err), &err);
    check(px_task_open(s.model, spec, NULL, &s.task, &err), &err);
    return s;
}

static void scene_close(scene *s)
{
    px_task_close(&s->task);
    px_model_free(s->model);
}

/* --- neurons --------------------------------------------------------------------------------- */

static const struct {
    const char *net, *data, *layer, *golden;
} neurons[] = {
    {"language.onnx", "language.npz", "/layers.0/out/Add", "language/out"},
    {"language.onnx", "language.csv", "/layers.0/out/Add", "language/out"},
    {"language_b1.onnx", "language.npz", "/layers.0/out/Add", "language/out"},
    {"language_b1.onnx", "language.csv", "/layers.0/out/Add", "language/out"},
    {"language.onnx", "language.npz", "/classifier/Gemm", "language/output"},
    {"language_b1.onnx", "language.csv", "/classifier/Gemm", "language/output"},
    {"mixed.onnx", "mixed.npz", "/head/Gemm", "mixed/output"},
    {"angle.onnx", "angle.npz", "/body/body.7/Gemm", "angle/output"},
};

/* The largest difference by the largest value, over the inputs that the golden values are of. */
static double neurons_apart(size_t i, int64_t batch)
{
    px_error err = {0};
    scene s = scene_open(neurons[i].net, neurons[i].data,
                         strncmp(neurons[i].net, "angle", 5) == 0 ? 0.01 : (double)NAN, false);
    px_probe_options options = px_probe_options_default();
    const px_feed feed = {.value = px_model_graph(s.model)->inputs[0], .shape = s.task.shape};
    px_probe *probe = NULL;
    px_npz *npz = NULL;
    px_trace_facts facts;
    char path[] = "/tmp/plexor-inputs-XXXXXX";
    const int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    options.layers = neurons[i].layer;
    options.neurons = PX_VIEW_UNIT;
    options.feeds = &feed;
    options.feed_count = 1;
    check(px_probe_new(s.model, &options, &probe, &err), &err);
    const px_trace_job job = {.model = s.model,
                              .probe = probe,
                              .set = s.task.set,
                              .pre = &s.task.pre,
                              .path = path,
                              .run = {.threads = 2, .batch = batch}};
    check(px_trace(&job, &facts, &err), &err);
    check(px_npz_open(path, &npz, &err), &err);
    const px_tensor *want = golden_array(neurons[i].golden),
                    *got = px_npz_get(npz, neurons[i].layer);
    assert_non_null(got);
    const int64_t width = px_shape_count(&want->shape) / want->shape.dim[0];
    assert_int_equal(px_shape_count(&got->shape), got->shape.dim[0] * width);
    double apart = 0.0, most = 0.0;
    for (int64_t k = 0; k < px_shape_count(&want->shape); k++) {
        const double w = (double)((const float *)want->data)[k];
        apart = fmax(apart, fabs((double)((const float *)got->data)[k] - w));
        most = fmax(most, fabs(w));
    }
    px_npz_close(npz);
    px_probe_free(probe);
    scene_close(&s);
    unlink(path);
    return apart / most;
}

static void test_neurons(void **state)
{
    (void)state;
    for (size_t i = 0; i < PX_LEN(neurons); i++)
        for (int64_t batch = 0; batch < 4; batch += 3) {
            const double apart = neurons_apart(i, batch);
            if (!(apart < 1e-5))
                fail_msg("%s of %s, %s, batch %d: off by %g", neurons[i].layer, neurons[i].net,
                         neurons[i].data, (int)batch, apart);
        }
}

/* --- answers --------------------------------------------------------------------------------- */

static void test_accuracy(void **state)
{
    static const char *const nets[] = {"language.onnx", "language_b1.onnx"};
    (void)state;
    for (size_t i = 0; i < PX_LEN(nets); i++) {
        px_error err = {0};
        px_predictions said = {0};
        px_eval eval = {0};
        scene s = scene_open(nets[i], "language.npz", (double)NAN, false);
        check(px_predict(s.model, s.task.set, &s.task.pre, NULL, &said, &err), &err);
        check(px_eval_make(&said, &eval, &err), &err);
        const double accuracy = *(const double *)golden_array("language/accuracy")->data;
        const double loss = *(const double *)golden_array("language/loss")->data;
        assert_true(fabs(eval.all.accuracy - accuracy) < 1e-12);
        assert_true(fabs(eval.all.loss - loss) < 1e-6);
        px_eval_done(&eval);
        px_predictions_done(&said);
        scene_close(&s);
    }
}

/* --- in the embedding ------------------------------------------------------------------------ */

typedef struct steps {
    const float *embedded, *fgsm; /* PyTorch's */
    size_t width, differ, count;
} steps;

static px_status steps_compare(void *context, const px_attack_made *made, px_error *err)
{
    steps *s = context;
    const size_t at = (size_t)made->place * s->width;
    (void)err;
    for (size_t k = 0; k < s->width; k++) {
        assert_true(fabsf(made->original[k] - s->embedded[at + k]) < 1e-6f);
        if (s->fgsm[at + k] == s->embedded[at + k])
            continue; /* what fills up has no gradient */
        s->count++;
        s->differ += fabsf(made->exact[k] - s->fgsm[at + k]) > 1e-5f;
    }
    return PX_OK;
}

static void test_fgsm(void **state)
{
    px_error err = {0};
    px_attack *attack = NULL;
    px_attack_options o = px_attack_options_default();
    const px_tensor *embedded = golden_array("language/embedded");
    const int64_t count = embedded->shape.dim[0];
    steps s = {.embedded = embedded->data,
               .fgsm = golden_array("language/fgsm")->data,
               .width = (size_t)(px_shape_count(&embedded->shape) / count)};
    (void)state;
    scene net = scene_open("language.onnx", "language.csv", (double)NAN, true);
    int64_t inputs[] = {0, 1, 2, 3};
    const px_attack_job job = {.model = net.model,
                               .set = net.task.set,
                               .pre = &net.task.pre,
                               .inputs = inputs,
                               .count = count};
    assert_int_equal(count, PX_LEN(inputs));
    o.method = "fgsm";
    o.eps = 0.05;
    o.low = -9.0;
    o.high = 9.0;
    o.emit = steps_compare;
    o.emit_context = &s;
    check(px_attack_run(&job, &o, &attack, &err), &err);
    assert_true(s.count > 500);
    if (s.differ * 200 > s.count) /* signs of gradients that are next to nothing */
        fail_msg("%zu of %zu values differ", s.differ, s.count);
    px_attack_free(attack);
    scene_close(&net);
}

/* Rows of the table are nearest to themselves; a vector moved onto another's becomes that one. */
static void test_nearest(void **state)
{
    enum { TOKENS = 24 };
    px_error err = {0};
    px_nearest *nearest = NULL;
    px_nearest_answer same, other;
    float parts[2 * TOKENS], original[2 * TOKENS];
    (void)state;
    scene plain = scene_open("language.onnx", "language.csv", (double)NAN, false);
    scene cut = scene_open("language.onnx", "language.csv", (double)NAN, true);
    const px_inputs *in = px_model_inputs(cut.model);
    const int64_t width = in->table->shape.dim[1];
    float *vectors = malloc(cut.task.floats * sizeof *vectors);
    assert_non_null(vectors);
    assert_null(px_model_inputs(plain.model)->table);
    check(px_dataset_pixels(cut.task.set, 0, vectors, &err), &err);
    check(px_dataset_beside(cut.task.set, 0, original, &err), &err);
    check(px_nearest_new(plain.model, in, TOKENS, &nearest, &err), &err);
    check(px_nearest_ask(nearest, vectors, original, parts, &same, &err), &err);
    assert_int_equal(same.changed, 0);
    assert_memory_equal(parts, original, sizeof parts);
    memcpy(vectors + 2 * width, (const float *)in->table->data + 40 * width,
           (size_t)width * sizeof *vectors);
    check(px_nearest_ask(nearest, vectors, original, parts, &other, &err), &err);
    assert_int_equal(other.changed, original[2] != 40.0f);
    assert_true(parts[2] == 40.0f);
    assert_true(same.predicted >= 0 && other.confidence > 0.0);
    free(vectors);
    px_nearest_free(nearest);
    scene_close(&plain);
    scene_close(&cut);
}

/* --- regression ------------------------------------------------------------------------------ */

static void test_regression(void **state)
{
    px_error err = {0};
    px_predictions said = {0};
    px_eval eval = {0};
    px_eval_errors e;
    const double tolerance = 0.005;
    (void)state;
    scene s = scene_open("angle.onnx", "angle.npz", tolerance, false);
    check(px_predict(s.model, s.task.set, &s.task.pre, NULL, &said, &err), &err);
    check(px_eval_make(&said, &eval, &err), &err);
    check(px_eval_regression(&said, tolerance, &e, &err), &err);
    const float *want = golden_array("angle/output")->data;
    double sum = 0.0, squares = 0.0, most = 0.0;
    int64_t within = 0;
    assert_int_equal(said.outputs, 1);
    for (int64_t i = 0; i < said.count; i++) {
        const double apart = fabs((double)want[i] - (double)said.target[i]);
        assert_true(fabsf(said.output[i] - want[i]) < 1e-5f);
        sum += apart;
        squares += apart * apart;
        most = fmax(most, apart);
        within += apart <= tolerance;
        if (fabs(apart - tolerance) > 1e-5) /* else float32 decides */
            assert_int_equal(said.predicted[i], apart > tolerance);
    }
    const double n = (double)said.count;
    assert_int_equal(e.count, said.count);
    assert_true(within > 0 && within < said.count);
    assert_true(fabs(e.mae - sum / n) < 1e-6 && fabs(e.rmse - sqrt(squares / n)) < 1e-6);
    assert_true(fabs(e.most - most) < 1e-5 && fabs(e.far[0].error - e.most) < 1e-12);
    assert_true(e.r2 > 0.9 && e.r2 <= 1.0);
    assert_true(fabs(eval.all.accuracy - (double)within / n) < 1.5 / n);
    px_eval_done(&eval);
    px_predictions_done(&said);
    scene_close(&s);
}

/* Without targets nothing is right or wrong, and what the network gives is there all the same. */
static void test_no_targets(void **state)
{
    px_error err = {0};
    px_predictions said = {0};
    (void)state;
    scene s = scene_open("angle.onnx", "angle_x.npy", 0.1, false);
    check(px_predict(s.model, s.task.set, &s.task.pre, NULL, &said, &err), &err);
    for (int64_t i = 0; i < said.count; i++) {
        assert_int_equal(said.label[i], -1);
        assert_int_equal(said.predicted[i], -1);
        assert_true(isfinite(said.output[i]) && isnan(said.target[i]));
    }
    px_predictions_done(&said);
    scene_close(&s);
}

static void test_no_classes(void **state)
{
    px_error err = {0};
    px_scores scores;
    (void)state;
    scene s = scene_open("angle.onnx", "angle.npz", 0.1, false);
    check(px_model_scores(s.model, &scores, &err), &err);
    assert_int_equal(scores.classes, 2);
    assert_int_equal(px_model_classes(s.model, &scores, &err), PX_E_UNSUPPORTED);
    assert_int_equal(px_model_embed(s.model, &err), PX_E_UNSUPPORTED);
    assert_int_equal(px_model_set_tokenizer(s.model, "vocab.txt", 0, &err), PX_E_UNSUPPORTED);
    scene_close(&s);
}

static int teardown(void **state)
{
    (void)state;
    px_npz_close(golden);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_neurons),    cmocka_unit_test(test_accuracy),
        cmocka_unit_test(test_fgsm),       cmocka_unit_test(test_nearest),
        cmocka_unit_test(test_regression), cmocka_unit_test(test_no_targets),
        cmocka_unit_test(test_no_classes),
    };
    pxi_source_register_texts(pxi_text_coder_open); /* a static library has what is named */
    return cmocka_run_group_tests(tests, NULL, teardown);
}
