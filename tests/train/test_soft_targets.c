/* tests/train/test_soft_targets.c - training towards probabilities instead of labels */
/* SPDX-License-Identifier: Apache-2.0 */
#include "train/trainer_helpers.h"
#include <internal/data.h>

enum { SAMPLES = 60, CLASSES = 10, PIXELS = 784 };

/* How sure target i is of its label i % 10; the rest goes to the next class. */
static float sureness(int64_t i)
{
    return 0.5f + 0.125f * (float)(i % 4);
}

/* An 8-bit data set with targets, or without. */
static px_dataset *soft_set(bool targets, int classes)
{
    char path[] = "/tmp/plexor-soft-XXXXXX.npz";
    const px_shape pictures = {4, {SAMPLES, 1, 28, 28}}, line = {1, {SAMPLES}},
                   table = {2, {SAMPLES, classes}};
    px_tensor x = {0}, y = {0}, t = {0};
    px_npz_writer *writer = NULL;
    px_dataset *set = NULL;
    const int file = mkstemps(path, 4);
    assert_true(file >= 0);
    close(file);
    OK(px_tensor_init(&x, PX_UINT8, &pictures, fault));
    OK(px_tensor_init(&y, PX_INT64, &line, fault));
    OK(px_tensor_init(&t, PX_FLOAT32, &table, fault));
    for (int64_t i = 0; i < SAMPLES; i++) {
        float *row = (float *)t.data + i * classes;
        ((int64_t *)y.data)[i] = i % CLASSES;
        row[i % CLASSES] = sureness(i);
        row[(i + 1) % CLASSES] = 1.0f - sureness(i);
        for (int64_t k = 0; k < PIXELS; k++)
            ((uint8_t *)x.data)[i * PIXELS + k] = (uint8_t)((i % CLASSES * 97 + k * (i + 3)) % 251);
    }
    OK(px_npz_create(path, &writer, fault));
    OK(px_npz_add(writer, "x", &x, fault));
    OK(px_npz_add(writer, "y", &y, fault));
    if (targets)
        OK(px_npz_add(writer, "targets", &t, fault));
    OK(px_npz_commit(writer, fault));
    OK(px_dataset_open(path, NULL, &set, fault));
    remove(path); /* it stays readable while it is open */
    px_tensor_done(&x);
    px_tensor_done(&y);
    px_tensor_done(&t);
    return set;
}

static bench soft_open(bool targets)
{
    bench m = bench_open(10, 10);
    px_dataset_close(m.train);
    m.train = soft_set(targets, CLASSES);
    return m;
}

static px_feeder_options soft_feed(const bench *m)
{
    px_feeder_options options = px_feeder_options_default();
    options.base = (px_feeder_set){.set = m->train, .pre = &m->pre};
    options.classes = CLASSES;
    options.batch = 16;
    options.seed = 3;
    return options;
}

static void test_what_each_input_is_trained_towards(void **state)
{
    (void)state;
    bench m = soft_open(true), plain = soft_open(false);
    px_feeder_options options = soft_feed(&m);
    options.added = (px_feeder_set){.set = plain.train, .pre = &plain.pre};
    options.pollute = options.label_noise = 0.2;
    options.polluted_class = 4;
    px_feeder *feeder = NULL;
    OK(px_feeder_new(&options, &feeder, fault));
    assert_true(px_feeder_is_soft(feeder));
    int soft = 0, hard = 0;
    for (int64_t step = 0; step < px_feeder_steps(feeder); step++)
        for (int64_t i = 0; i < px_feeder_samples(feeder, step); i++) {
            const px_feeder_item item = px_feeder_item_at(feeder, step, i);
            const bool own = !item.added && !item.polluted && !item.mislabelled;
            float got[CLASSES], want[CLASSES] = {0};
            want[item.label] = own ? sureness(item.index) : 1.0f;
            if (own)
                want[(item.index + 1) % CLASSES] = 1.0f - sureness(item.index);
            OK(px_feeder_target(feeder, step, i, got, fault));
            if (memcmp(got, want, sizeof got) != 0)
                fail_msg("step %d, position %d", (int)step, (int)i);
            *(own ? &soft : &hard) += 1;
        }
    assert_int_equal(soft, 36);
    assert_int_equal(hard, 84);
    px_feeder_free(feeder);
    bench_close(&m);
    bench_close(&plain);
}

static void test_choice_is_part_of_the_identity(void **state)
{
    (void)state;
    bench m = soft_open(true), plain = soft_open(false);
    const px_feeder_options cases[] = {soft_feed(&m), soft_feed(&m), soft_feed(&plain)};
    uint64_t hash[3];
    for (int i = 0; i < 3; i++) {
        px_feeder_options options = cases[i];
        px_feeder *feeder = NULL;
        options.hard_labels = i == 1;
        OK(px_feeder_new(&options, &feeder, fault));
        assert_int_equal(px_feeder_is_soft(feeder), i == 0);
        hash[i] = px_feeder_hash(feeder);
        px_feeder_free(feeder);
    }
    assert_true(hash[0] != hash[1] && hash[0] != hash[2]);
    bench_close(&m);
    bench_close(&plain);
}

static void test_class_counts_must_agree(void **state)
{
    (void)state;
    bench m = soft_open(true);
    px_feeder_options options = soft_feed(&m);
    px_feeder *feeder = NULL;
    px_error err = {0};
    px_dataset_close(m.train);
    options.base.set = m.train = soft_set(true, CLASSES + 2);
    assert_int_equal(px_feeder_new(&options, &feeder, &err), PX_E_MISMATCH);
    assert_string_equal(err.message, "the data have targets for 12 classes, the network 10");
    options.hard_labels = true;
    OK(px_feeder_new(&options, &feeder, fault));
    px_feeder_free(feeder);
    bench_close(&m);
}

/* --- whole runs ------------------------------------------------------------------------------ */

static bool stop_at_seventh(void *context, const px_train_progress *progress)
{
    (void)progress;
    return ++*(int *)context != 7;
}

/* Trains; with a checkpoint it is stopped once and resumed. */
static float *soft_train(const bench *m, bool hard, int threads, bool parts, size_t *count)
{
    float *numbers = NULL;
    const char *path = bench_path();
    for (int turn = parts ? 0 : 1; turn < 2; turn++) {
        px_feeder_options feed = soft_feed(m);
        px_feeder *feeder = NULL;
        px_trainer *t = NULL;
        int calls = 0;
        feed.hard_labels = hard;
        OK(px_feeder_new(&feed, &feeder, fault));
        px_trainer_options options = bench_options(m, feeder);
        options.threads = threads;
        options.checkpoint = parts ? path : NULL;
        options.resume = parts;
        options.progress = turn == 0 ? stop_at_seventh : NULL;
        options.context = &calls;
        OK(px_trainer_new(&options, &t, fault));
        assert_int_equal(px_trainer_result(t).resumed_step >= 0, parts && turn == 1);
        assert_int_equal(px_trainer_run(t, fault), turn == 0 ? PX_E_CANCELLED : PX_OK);
        if (turn == 1)
            numbers = bench_numbers(px_trainer_weights(t), count);
        px_trainer_free(t);
        px_feeder_free(feeder);
    }
    unlink(path);
    return numbers;
}

static void test_same_bits(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        bool hard, parts;
        int threads;
        bool same; /* as one thread, in one go, with targets */
    } cases[] = {{"two threads", false, false, 2, true},
                 {"three threads", false, false, 3, true},
                 {"stopped and resumed", false, true, 2, true},
                 {"labels", true, false, 1, false}};
    bench m = soft_open(true);
    size_t count;
    float *first = soft_train(&m, false, 1, false, &count);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        float *got = soft_train(&m, cases[i].hard, cases[i].threads, cases[i].parts, &count);
        if ((memcmp(first, got, count * sizeof *got) == 0) != cases[i].same)
            fail_msg("case '%s': %s weights", cases[i].name, cases[i].same ? "other" : "the same");
        free(got);
    }
    free(first);
    bench_close(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_each_input_is_trained_towards),
        cmocka_unit_test(test_choice_is_part_of_the_identity),
        cmocka_unit_test(test_class_counts_must_agree),
        cmocka_unit_test(test_same_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
