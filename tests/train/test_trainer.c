/* tests/train/test_trainer.c - the loop: same bits always, what stays frozen, and ways to stop */
/* SPDX-License-Identifier: Apache-2.0 */
#include "train/trainer_helpers.h"
#include <internal/weights.h>

/* Trains to the end; numbers of the weights, to be freed. */
static float *train(const px_trainer_options *options, size_t *count, px_train_result *result)
{
    px_trainer *t = NULL;
    OK(px_trainer_new(options, &t, fault));
    OK(px_trainer_run(t, fault));
    if (result) {
        *result = px_trainer_result(t);
        result->history = NULL; /* dies with the trainer */
    }
    float *numbers = bench_numbers(px_trainer_weights(t), count);
    px_trainer_free(t);
    return numbers;
}

static void test_threads(void **state)
{
    (void)state;
    bench m = bench_open(100, 40);
    px_feeder *feeder = bench_feeder(&m, 24); /* a short last batch, and short micro-batches */
    px_trainer_options options = bench_options(&m, feeder);
    options.micro_batch = 7;
    size_t count = 0;
    float *first = NULL;
    for (int threads = 1; threads <= 3; threads++) {
        px_train_result r;
        options.threads = threads;
        float *got = train(&options, &count, &r);
        assert_int_equal(r.steps, 10);
        assert_true(isfinite(r.test_accuracy));
        if (first && memcmp(first, got, count * sizeof *got) != 0)
            fail_msg("%d threads give other weights than one", threads);
        if (first)
            free(got);
        else
            first = got;
    }
    options.seed++; /* of dropout: the test can fail */
    float *other = train(&options, &count, NULL);
    assert_true(memcmp(first, other, count * sizeof *other) != 0);
    free(other);
    free(first);
    px_feeder_free(feeder);
    bench_close(&m);
}

static void test_learns(void **state)
{
    (void)state;
    bench m = bench_open(1000, 200);
    px_feeder *feeder = bench_feeder(&m, 32);
    px_trainer_options options = bench_options(&m, feeder);
    options.epochs = 4;
    options.clip = 5.0;
    options.label_smoothing = 0.05;
    px_trainer *t = NULL;
    OK(px_trainer_new(&options, &t, fault));
    OK(px_trainer_run(t, fault));
    const px_train_result r = px_trainer_result(t);
    assert_int_equal(r.history_count, 4);
    assert_true(r.history[3].loss < 0.7 * r.history[0].loss);
    assert_true(r.test_accuracy > 0.8);
    assert_true(r.accuracy > 0.6 && r.images_per_s > 0.0);
    assert_true(r.parameters == 36 + 4 + 4 + 288 + 8 + 8 + 3920 + 10);

    /* The model that is written judges as the run did. */
    px_model *trained = NULL;
    px_predictions said = {0};
    const px_property set[] = {{"plexor.train", "{}"}};
    OK(px_trainer_freeze(t, set, 1, &trained, fault));
    OK(px_predict(trained, m.test, &m.pre, NULL, &said, fault));
    double sum = 0.0;
    int64_t correct = 0;
    for (int64_t i = 0; i < 200; i++) {
        correct += said.predicted[i] == px_dataset_label(m.test, i);
        sum += said.loss[i];
    }
    assert_int_equal(said.count, 200);
    assert_near((double)correct / 200.0, r.test_accuracy, 1e-12);
    assert_near(sum / 200.0, r.test_loss, 1e-6);
    px_predictions_done(&said);
    px_model_free(trained);
    px_trainer_free(t);
    px_feeder_free(feeder);
    bench_close(&m);
}

/* --- what stays ------------------------------------------------------------------------------ */

static const struct {
    const char *layers;
    const char *stay; /* initial letters of the weights that must not move */
    int64_t frozen;
} freezes[] = {
    {"conv", "a.weight a.scale a.bias b.weight b.scale b.bias", 36 + 8 + 288 + 16},
    {"#0", "a.weight a.scale a.bias", 36 + 8},
    {"logits", "fc.weight fc.bias", 3930},
    {"all,!#1", "a.weight a.scale a.bias fc.weight fc.bias", 36 + 8 + 3930},
};

static void test_freeze(void **state)
{
    (void)state;
    bench m = bench_open(48, 10);
    px_feeder *feeder = bench_feeder(&m, 16);
    px_trainer_options options = bench_options(&m, feeder);
    options.epochs = 1;
    for (size_t i = 0; i < sizeof freezes / sizeof freezes[0]; i++) {
        px_trainer *t = NULL;
        px_weights *before = NULL;
        OK(px_weights_new(m.model, &before, fault));
        options.freeze = freezes[i].layers;
        OK(px_trainer_new(&options, &t, fault));
        OK(px_trainer_run(t, fault));
        assert_int_equal(px_trainer_result(t).frozen, freezes[i].frozen);
        for (size_t k = 0; k < px_weights_count(before); k++) {
            const px_weight *was = px_weights_get(before, k);
            const px_weight *is = px_weights_get(px_trainer_weights(t), k);
            const bool moved =
                memcmp(was->tensor.data, is->tensor.data, px_tensor_bytes(&was->tensor)) != 0;
            if (was->role == PX_WEIGHT_PARAMETER && moved == !!strstr(freezes[i].stay, was->name))
                fail_msg("case '%s': '%s' %s", freezes[i].layers, was->name,
                         moved ? "moved" : "stayed");
        }
        px_weights_free(before);
        px_trainer_free(t);
    }
    px_feeder_free(feeder);
    bench_close(&m);
}

static void test_freeze_norms(void **state)
{
    (void)state;
    bench m = bench_open(48, 10);
    px_feeder *feeder = bench_feeder(&m, 16);
    px_trainer_options options = bench_options(&m, feeder);
    for (int frozen = 0; frozen <= 1; frozen++) {
        px_trainer *t = NULL;
        options.freeze_norms = frozen;
        options.epochs = 1;
        OK(px_trainer_new(&options, &t, fault));
        OK(px_trainer_run(t, fault));
        px_weights *weights = px_trainer_weights(t);
        for (size_t i = 0; i < px_weights_count(weights); i++) {
            const px_weight *w = px_weights_get(weights, i);
            if (strcmp(w->name, "a.mean") == 0)
                assert_true((((float *)w->tensor.data)[0] == 0.0f) == frozen);
        }
        px_trainer_free(t);
    }
    px_feeder_free(feeder);
    bench_close(&m);
}

/* A dense layer whose weights a Constant node holds, and a second head that the scores do not know
 * of: the first are trained, the second's stay, decay or not. */
static px_model *two_heads(void)
{
    px_builder *b = NULL;
    px_model *model = NULL;
    static float numbers[7840];
    const px_shape input = {.rank = 4, .dim = {-1, 1, 28, 28}};
    const px_shape dense = {.rank = 2, .dim = {784, 10}};
    const px_attr held = {
        .name = "value",
        .kind = PX_ATTR_TENSOR,
        .tensor = {.dtype = PX_FLOAT32, .shape = dense, .data = numbers},
    };
    for (int i = 0; i < 7840; i++)
        numbers[i] = (float)(i % 13 - 6) * 0.01f;
    OK(px_builder_new("heads", &b, fault));
    const int x = px_builder_input(b, "input", PX_FLOAT32, &input);
    const int flat = px_builder_node(b, "Flatten", "flat", &x, 1, NULL, 0);
    const int w = px_builder_node(b, "Constant", "w", NULL, 0, &held, 1);
    const int second = bench_weight(b, "second", &dense, 0.01);
    const int logits = px_builder_node(b, "Gemm", "fc", (int[]){flat, w}, 2, NULL, 0);
    const int other = px_builder_node(b, "Gemm", "other", (int[]){flat, second}, 2, NULL, 0);
    px_builder_rename(b, logits, "logits");
    px_builder_output(b, logits, PX_FLOAT32, NULL);
    px_builder_output(b, other, PX_FLOAT32, NULL);
    OK(px_builder_finish(b, &model, fault));
    return model;
}

static void test_heads(void **state)
{
    (void)state;
    bench m = bench_open(48, 10);
    px_feeder *feeder = bench_feeder(&m, 16);
    px_trainer *t = NULL;
    px_model_free(m.model);
    m.model = two_heads();
    px_trainer_options options = bench_options(&m, feeder);
    OK(px_trainer_new(&options, &t, fault));
    OK(px_trainer_run(t, fault));
    const px_train_result r = px_trainer_result(t);
    assert_int_equal(r.parameters, 7840);
    assert_int_equal(r.frozen, 7840);
    px_weights *weights = px_trainer_weights(t);
    assert_int_equal(px_weights_count(weights), 2);
    const px_graph *graph = px_model_graph(m.model);
    for (size_t i = 0; i < 2; i++) {
        const px_weight *w = px_weights_get(weights, i);
        const px_tensor *was = graph->values[px_graph_find_value(graph, w->name)].constant;
        assert_int_equal(strcmp(w->name, "second") == 0, was != NULL);
        assert_true(!was || memcmp(was->data, w->tensor.data, px_tensor_bytes(was)) == 0);
        assert_true(was || ((float *)w->tensor.data)[300] != (float)(300 % 13 - 6) * 0.01f);
    }
    px_trainer_free(t);
    px_feeder_free(feeder);
    bench_close(&m);
}

/* One step of plain SGD with rate 1 moves the weights by the gradient: its norm is the limit. */
static void test_clip(void **state)
{
    (void)state;
    bench m = bench_open(16, 10);
    px_feeder *feeder = bench_feeder(&m, 16);
    px_trainer_options options = bench_options(&m, feeder);
    options.optimizer = "sgd:momentum=0,nesterov=0,decay=0";
    options.schedule = "constant";
    options.lr = 1.0;
    options.epochs = 1;
    const double limits[] = {0.0, 1e6, 0.25};
    double norms[3];
    for (int i = 0; i < 3; i++) {
        px_trainer *t = NULL;
        px_weights *before = NULL;
        OK(px_weights_new(m.model, &before, fault));
        options.clip = limits[i];
        OK(px_trainer_new(&options, &t, fault));
        OK(px_trainer_run(t, fault));
        double sum = 0.0;
        for (size_t k = 0; k < px_weights_count(before); k++) {
            const px_weight *was = px_weights_get(before, k);
            const float *a = was->tensor.data;
            const float *b = px_weights_get(px_trainer_weights(t), k)->tensor.data;
            for (int64_t e = 0;
                 was->role == PX_WEIGHT_PARAMETER && e < px_shape_count(&was->tensor.shape); e++)
                sum += ((double)a[e] - (double)b[e]) * ((double)a[e] - (double)b[e]);
        }
        norms[i] = sqrt(sum);
        px_weights_free(before);
        px_trainer_free(t);
    }
    assert_true(norms[0] > 0.5);
    assert_near(norms[0], norms[1], 1e-9);
    assert_near(norms[2], 0.25, 1e-4);
    px_feeder_free(feeder);
    bench_close(&m);
}

/* --- ways to stop ---------------------------------------------------------------------------- */

static void test_diverges(void **state)
{
    (void)state;
    bench m = bench_open(64, 10);
    px_feeder *feeder = bench_feeder(&m, 16);
    px_trainer_options options = bench_options(&m, feeder);
    px_trainer *t = NULL;
    px_error err = {0};
    options.schedule = "constant";
    options.optimizer = "sgd:momentum=0,nesterov=0,decay=0";
    options.lr = 1e30;
    options.checkpoint = bench_path();
    OK(px_trainer_new(&options, &t, fault));
    assert_int_equal(px_trainer_run(t, &err), PX_E_INTERNAL);
    assert_true(px_trainer_result(t).diverged);
    assert_non_null(strstr(err.message, "not a number at epoch 1, step "));
    assert_non_null(strstr(err.message, "of 4"));
    px_trainer_free(t);
    assert_int_not_equal(access(options.checkpoint, F_OK), 0); /* no good state, no checkpoint */

    t = NULL; /* halved too seldom */
    options.retries = 2;
    OK(px_trainer_new(&options, &t, fault));
    assert_int_equal(px_trainer_run(t, &err), PX_E_INTERNAL);
    assert_int_equal(px_trainer_result(t).halvings, 2);
    px_trainer_free(t);

    t = NULL; /* until nothing overflows */
    options.retries = 200;
    options.epochs = 1;
    OK(px_trainer_new(&options, &t, fault));
    OK(px_trainer_run(t, fault));
    const px_train_result r = px_trainer_result(t);
    assert_false(r.diverged);
    assert_true(r.halvings > 2 && isfinite(r.loss));
    assert_int_equal(r.epochs, 1);
    OK(px_trainer_discard(t, fault));
    px_trainer_free(t);
    px_feeder_free(feeder);
    bench_close(&m);
}

static void test_until(void **state)
{
    (void)state;
    bench m = bench_open(1000, 400);
    px_feeder *feeder = bench_feeder(&m, 16);
    px_trainer_options options = bench_options(&m, feeder);
    const double goals[] = {0.5, 0.7, 0.85};
    options.schedule = "constant";
    options.epochs = 20;
    for (int i = 0; i < 3; i++) {
        px_train_result r, again;
        size_t count;
        options.until_accuracy = goals[i];
        options.threads = 1;
        float *a = train(&options, &count, &r);
        options.threads = 2;
        float *b = train(&options, &count, &again);
        if (!r.reached || fabs(r.test_accuracy - goals[i]) > 0.005 + 1e-9)
            fail_msg("goal %g: %g after %d steps", goals[i], r.test_accuracy, (int)r.steps);
        assert_int_equal(r.steps, again.steps);
        assert_memory_equal(a, b, count * sizeof *a);
        free(a);
        free(b);
    }
    px_trainer *t = NULL;
    px_error err = {0};
    options.until_accuracy = 0.01; /* guessing is better */
    OK(px_trainer_new(&options, &t, fault));
    assert_int_equal(px_trainer_run(t, &err), PX_E_MISMATCH);
    assert_non_null(strstr(err.message, "before any training"));
    px_trainer_free(t);
    options.until_accuracy = 0.999; /* too little time: an end like any other */
    options.epochs = 1;
    size_t count;
    px_train_result r;
    free(train(&options, &count, &r));
    assert_false(r.reached);
    assert_int_equal(r.epochs, 1);
    px_feeder_free(feeder);
    bench_close(&m);
}

/* Weights that stay, and statistics that come closer to them with every step. */
static void test_until_statistics(void **state)
{
    (void)state;
    bench m = bench_open(1000, 400);
    px_feeder *feeder = bench_feeder(&m, 16);
    px_trainer_options options = bench_options(&m, feeder);
    px_trainer *t = NULL;
    px_model *trained = NULL, *shifted = NULL;
    px_weights *weights = NULL;
    options.epochs = 4;
    OK(px_trainer_new(&options, &t, fault));
    OK(px_trainer_run(t, fault));
    OK(px_trainer_freeze(t, NULL, 0, &trained, fault));
    const double whole = px_trainer_result(t).test_accuracy;
    px_trainer_free(t);
    OK(px_weights_new(trained, &weights, fault));
    for (size_t i = 0; i < px_weights_count(weights); i++) {
        const px_weight *w = px_weights_get(weights, i);
        float *values = w->tensor.data;
        for (int64_t k = 0; w->role == PX_WEIGHT_STATISTIC && k < px_shape_count(&w->tensor.shape);
             k++)
            values[k] = 4.0f * values[k] + 3.0f;
    }
    OK(px_weights_freeze(weights, NULL, 0, &shifted, fault));
    options.model = shifted;
    options.schedule = "constant";
    options.lr = 1e-9;
    options.until_accuracy = 0.6;
    assert_true(whole > options.until_accuracy + 0.1);
    size_t count;
    px_train_result r;
    free(train(&options, &count, &r));
    assert_true(r.reached && fabs(r.test_accuracy - options.until_accuracy) <= 0.005 + 1e-9);
    px_weights_free(weights);
    px_model_free(shifted);
    px_model_free(trained);
    px_feeder_free(feeder);
    bench_close(&m);
}

static void test_keep_best(void **state)
{
    (void)state;
    bench m = bench_open(200, 100);
    px_feeder *feeder = bench_feeder(&m, 16);
    px_trainer_options options = bench_options(&m, feeder);
    options.keep_best = true;
    options.schedule = "constant";
    options.optimizer = "sgd:momentum=0.9,nesterov=1,decay=0";
    options.lr = 0.2; /* jumps about */
    options.epochs = 6;
    px_trainer *t = NULL;
    OK(px_trainer_new(&options, &t, fault));
    OK(px_trainer_run(t, fault));
    const px_train_result r = px_trainer_result(t);
    double best = -1.0;
    for (size_t i = 0; i < r.history_count; i++)
        best = fmax(best, r.history[i].test_accuracy);
    assert_near(r.test_accuracy, best, 0.0);
    px_predictions said = {0};
    px_predict_options how = px_predict_options_default();
    how.weights = px_trainer_weights(t);
    OK(px_predict(m.model, m.test, &m.pre, &how, &said, fault));
    assert_near(px_eval_slice(&said, NULL, said.count).accuracy, best, 0.0);
    px_predictions_done(&said);
    px_trainer_free(t);
    px_feeder_free(feeder);
    bench_close(&m);
}

/* --- what is refused ------------------------------------------------------------------------- */

static void refuse_epochs(px_trainer_options *o)
{
    o->epochs = 0;
}
static void refuse_lr(px_trainer_options *o)
{
    o->lr = -1.0;
}
static void refuse_optimizer(px_trainer_options *o)
{
    o->optimizer = "sdg";
}
static void refuse_schedule(px_trainer_options *o)
{
    o->schedule = "cosinus";
}
static void refuse_loss(px_trainer_options *o)
{
    o->loss = "hinge";
}
static void refuse_freeze(px_trainer_options *o)
{
    o->freeze = "nowhere";
}
static void refuse_all(px_trainer_options *o)
{
    o->freeze = "all";
}
static void refuse_until(px_trainer_options *o)
{
    o->until_accuracy = 0.5;
    o->test.set = NULL;
}

static const struct {
    void (*spoil)(px_trainer_options *options);
    const char *says;
} refusals[] = {
    {refuse_epochs, "0 epochs"},          {refuse_lr, "learning rate"}, {refuse_optimizer, "sdg"},
    {refuse_schedule, "cosinus"},         {refuse_loss, "hinge"},       {refuse_freeze, "nowhere"},
    {refuse_all, "freezes every weight"}, {refuse_until, "needs data"},
};

static void test_refuses(void **state)
{
    (void)state;
    bench m = bench_open(32, 10);
    px_feeder *feeder = bench_feeder(&m, 16);
    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
        px_trainer_options options = bench_options(&m, feeder);
        px_trainer *t = NULL;
        px_error err = {0};
        refusals[i].spoil(&options);
        const px_status status = px_trainer_new(&options, &t, &err);
        if (status < PX_E_USAGE || status > PX_E_MISMATCH || !strstr(err.message, refusals[i].says))
            fail_msg("case '%s': %s '%s'", refusals[i].says, px_status_name(status), err.message);
        assert_null(t);
    }
    px_feeder_free(feeder);
    bench_close(&m);
}

static void test_measure(void **state)
{
    (void)state;
    px_dataset *set = bench_set("train", 700); /* more than two blocks */
    px_preprocess one = {.scale = 1.0f / 255.0f}, many = one;
    float pixels[784];
    double sum = 0.0, squares = 0.0;
    for (int64_t i = 0; i < 700; i++) {
        OK(px_dataset_pixels(set, i, pixels, fault));
        for (int p = 0; p < 784; p++) {
            sum += (double)pixels[p] / 255.0;
            squares += (double)pixels[p] / 255.0 * (double)pixels[p] / 255.0;
        }
    }
    const double n = 700.0 * 784.0, mean = sum / n;
    OK(px_preprocess_measure(&one, set, 1, fault));
    OK(px_preprocess_measure(&many, set, 3, fault));
    assert_memory_equal(one.mean, many.mean, sizeof one.mean);
    assert_memory_equal(one.stddev, many.stddev, sizeof one.stddev);
    assert_near((double)one.mean[0], mean, 1e-4);
    assert_near((double)one.stddev[0], sqrt(squares / n - mean * mean), 1e-4);
    assert_int_equal(one.channels, 1);
    px_dataset_close(set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_learns),
        cmocka_unit_test(test_freeze),
        cmocka_unit_test(test_freeze_norms),
        cmocka_unit_test(test_clip),
        cmocka_unit_test(test_heads),
        cmocka_unit_test(test_diverges),
        cmocka_unit_test(test_until),
        cmocka_unit_test(test_until_statistics),
        cmocka_unit_test(test_keep_best),
        cmocka_unit_test(test_refuses),
        cmocka_unit_test(test_measure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
