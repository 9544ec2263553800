/* tests/train/test_feeder.c - the order of training inputs: epochs, batches, mixes, identity */
/* SPDX-License-Identifier: Apache-2.0 */
#include "feeder_helpers.h"

#include "base/memory.h"

#include <internal/rng.h>
#include <math.h>
#include <pthread.h>

static made_set base, added, floats;

static int open_sets(void **state)
{
    (void)state;
    base = make_set(103, 5, PX_UINT8);
    added = make_set(17, 5, PX_UINT8);
    floats = make_set(17, 5, PX_FLOAT32);
    return 0;
}

static int close_sets(void **state)
{
    (void)state;
    px_dataset_close(base.set);
    px_dataset_close(added.set);
    px_dataset_close(floats.set);
    return 0;
}

/* --- what comes ------------------------------------------------------------------------------ */

static void test_permutation_per_epoch(void **state)
{
    (void)state;
    const px_feeder_options options = feed(&base, NULL, 25);
    px_feeder *feeder = make_feeder(&options);
    int64_t order[103];
    int times[103], differ = 0;
    assert_int_equal(px_feeder_steps(feeder), 5);
    assert_int_equal(px_feeder_samples(feeder, 3), 25);
    assert_int_equal(px_feeder_samples(feeder, 4), 3);
    for (int64_t epoch = 0; epoch < 4; epoch++) {
        begin(feeder, epoch);
        assert_int_equal(count_items(feeder, base.set, times, 103), 103);
        for (int i = 0; i < 103; i++)
            assert_int_equal(times[i], 1);
        /* the order is the one that the address of the stream gives */
        px_random random = px_rng(42, PX_RNG_EPOCH, 0, (uint32_t)epoch);
        px_rng_permutation(&random, order, 103);
        for (int i = 0; i < 103; i++) {
            const px_feeder_item item = px_feeder_item_at(feeder, i / 25, i % 25);
            assert_int_equal(item.index, order[i]);
            assert_int_equal(item.round, epoch);
            differ += order[i] != i;
        }
    }
    assert_true(differ > 300);
    px_feeder_free(feeder);
}

static void test_in_order_and_short_batches(void **state)
{
    (void)state;
    static const struct {
        int64_t batch;
        bool drop;
        int64_t steps, last;
    } cases[] = {{25, false, 5, 3},    {25, true, 4, 25},   {103, true, 1, 103},
                 {103, false, 1, 103}, {200, true, 1, 103}, {200, false, 1, 103},
                 {1, false, 103, 1}};
    for (size_t i = 0; i < PX_LEN(cases); i++) {
        px_feeder_options options = feed(&base, NULL, cases[i].batch);
        options.drop_short = cases[i].drop;
        options.in_order = true;
        px_feeder *feeder = make_feeder(&options);
        const int64_t steps = px_feeder_steps(feeder);
        if (steps != cases[i].steps || px_feeder_samples(feeder, steps - 1) != cases[i].last)
            fail_msg("batch %d: %d steps, the last of %d", (int)cases[i].batch, (int)steps,
                     (int)px_feeder_samples(feeder, steps - 1));
        begin(feeder, 7);
        for (int64_t s = 0, next = 0; s < steps; s++)
            for (int64_t p = 0; p < px_feeder_samples(feeder, s); p++)
                assert_int_equal(px_feeder_item_at(feeder, s, p).index, next++);
        px_feeder_free(feeder);
    }
}

static void test_inputs_are_preprocessed(void **state)
{
    (void)state;
    const made_set *sets[] = {&base, &floats};
    for (int k = 0; k < 2; k++) {
        const px_feeder_options options = feed(sets[k], NULL, 10);
        px_feeder *feeder = make_feeder(&options);
        float input[SIZE], expected[SIZE];
        px_error err = {0};
        int64_t label;
        assert_int_equal(px_feeder_floats(feeder), SIZE);
        for (int64_t s = 0; s < px_feeder_steps(feeder); s++)
            for (int64_t p = 0; p < px_feeder_samples(feeder, s); p++) {
                const px_feeder_item item = px_feeder_item_at(feeder, s, p);
                get(feeder, s, p, input, &label);
                assert_int_equal(
                    px_dataset_input(item.set, &sets[k]->pre, item.index, expected, &err), PX_OK);
                assert_memory_equal(input, expected, sizeof input);
                assert_int_equal(label, item.index % 5);
                assert_int_equal(item.label, label);
                /* and by hand, for one pixel */
                const float pixel = made_pixel(item.index, 2, 5, 6) / 255.0f;
                assert_true(fabs((double)(input[SIZE - 1] - (pixel - 0.3f) / 0.5f)) < 1e-6);
            }
        px_feeder_free(feeder);
    }
}

/* --- mixes ----------------------------------------------------------------------------------- */

static void test_append(void **state)
{
    (void)state;
    const px_feeder_options options = feed(&base, &floats, 32);
    px_feeder *feeder = make_feeder(&options);
    int times[103];
    assert_int_equal(px_feeder_steps(feeder), 4);
    for (int64_t epoch = 0; epoch < 3; epoch++) {
        begin(feeder, epoch);
        assert_int_equal(count_items(feeder, base.set, times, 103), 120);
        for (int i = 0; i < 103; i++)
            assert_int_equal(times[i], 1);
        count_items(feeder, floats.set, times, 17);
        for (int i = 0; i < 17; i++)
            assert_int_equal(times[i], 1);
    }
    /* 8-bit and float pictures come out alike: each set has its own preprocessing */
    float a[SIZE], b[SIZE];
    int64_t label;
    for (int64_t i = 0; i < 120; i++) {
        const px_feeder_item item = px_feeder_item_at(feeder, i / 32, i % 32);
        get(feeder, i / 32, i % 32, a, &label);
        px_error err = {0};
        assert_int_equal(px_dataset_input(base.set, &base.pre, item.index, b, &err), PX_OK);
        for (int k = 0; k < SIZE; k++)
            assert_true(fabs((double)(a[k] - b[k])) < 1e-6);
        assert_int_equal(item.added, item.set == floats.set);
    }
    px_feeder_free(feeder);
}

static void test_only(void **state)
{
    (void)state;
    px_feeder_options options = feed(NULL, &added, 8);
    options.mix = PX_MIX_ONLY;
    for (int with_base = 0; with_base < 2; with_base++) {
        if (with_base)
            options.base = (px_feeder_set){.set = base.set, .pre = &base.pre};
        px_feeder *feeder = make_feeder(&options);
        int times[17];
        assert_int_equal(px_feeder_steps(feeder), 3);
        assert_int_equal(px_feeder_samples(feeder, 2), 1);
        assert_int_equal(count_items(feeder, added.set, times, 17), 17);
        for (int i = 0; i < 17; i++)
            assert_int_equal(times[i], 1);
        assert_true(px_feeder_item_at(feeder, 0, 0).added);
        assert_int_equal(px_feeder_count(feeder).base, 0);
        px_feeder_free(feeder);
    }
}

/* Every batch is full and holds the same number of each; both sets are gone through evenly, over
 * the borders of epochs. */
static void test_fixed(void **state)
{
    (void)state;
    static const struct {
        double share;
        int64_t batch, slots, steps;
    } cases[] = {
        {0.5, 20, 10, 11}, {0.25, 30, 8, 5}, {0.9, 10, 9, 103}, {1.0, 5, 5, 4}, {0.01, 64, 1, 2}};
    enum { EPOCHS = 6 };
    for (size_t k = 0; k < PX_LEN(cases); k++) {
        px_feeder_options options = feed(&base, &added, cases[k].batch);
        options.mix = PX_MIX_FIXED;
        options.share = cases[k].share;
        px_feeder *feeder = make_feeder(&options);
        const int64_t steps = px_feeder_steps(feeder), slots = cases[k].slots;
        assert_int_equal(steps, cases[k].steps);
        assert_int_equal(px_feeder_count(feeder).added_per_batch, slots);
        int64_t seen[2] = {0};
        int times[2][103] = {{0}};
        for (int64_t epoch = 0; epoch < EPOCHS; epoch++) {
            begin(feeder, epoch);
            for (int64_t s = 0; s < steps; s++) {
                assert_int_equal(px_feeder_samples(feeder, s), cases[k].batch);
                for (int64_t p = 0; p < cases[k].batch; p++) {
                    const px_feeder_item item = px_feeder_item_at(feeder, s, p);
                    const int64_t count = item.added ? 17 : 103;
                    if (item.added != (p < slots))
                        fail_msg("share %g: position %d is not as it should be", cases[k].share,
                                 (int)p);
                    /* the n-th time that an item comes is in the n-th round, whose order is that
                     * of a stream of its own */
                    const int64_t place = seen[item.added]++ % count;
                    int64_t order[103];
                    px_random random =
                        px_rng(42, item.added ? PX_RNG_MIX : PX_RNG_EPOCH, 0, (uint32_t)item.round);
                    px_rng_permutation(&random, order, (uint32_t)count);
                    assert_int_equal(item.index, order[place]);
                    assert_int_equal(item.round, (seen[item.added] - 1) / count);
                    assert_int_equal(item.round, times[item.added][item.index]++);
                }
            }
        }
        assert_int_equal(seen[1], EPOCHS * steps * slots);
        assert_int_equal(seen[0], EPOCHS * steps * (cases[k].batch - slots));
        px_feeder_free(feeder);
    }
}

static void test_items_of_a_set(void **state)
{
    (void)state;
    static const int64_t items[] = {100, 3, 50, 4};
    px_feeder_options options = feed(&base, &added, 3);
    options.base.items = items;
    options.base.count = 4;
    px_feeder *feeder = make_feeder(&options);
    int times[103];
    assert_int_equal(count_items(feeder, base.set, times, 103), 21);
    for (int i = 0; i < 103; i++)
        assert_int_equal(times[i], i == 100 || i == 3 || i == 50 || i == 4);
    px_feeder_free(feeder);
}

/* --- who asks does not matter ---------------------------------------------------------------- */

typedef struct sweep { /* one thread's part of an epoch */
    const px_feeder *feeder;
    int64_t from, stride, count;
    float (*inputs)[SIZE];
    int64_t *labels;
} sweep;

static void *sweep_run(void *context)
{
    const sweep *s = context;
    const int64_t batch = px_feeder_batch(s->feeder);
    px_error err = {0};
    for (int64_t i = s->count - 1 - s->from; i >= 0; i -= s->stride) /* backwards, for a change */
        if (px_feeder_get(s->feeder, i / batch, i % batch, s->inputs[i], &s->labels[i], &err))
            return (void *)1;
    return NULL;
}

static px_feeder_options all_at_once(void)
{
    px_feeder_options options = feed(&base, &added, 16);
    options.mix = PX_MIX_FIXED;
    options.share = 0.3;
    options.augment = "crop:2,flip";
    options.pollute = 0.2;
    options.polluted_class = 3;
    options.patch_max = 4;
    options.label_noise = 0.1;
    return options;
}

static void test_threads_and_order_of_calls(void **state)
{
    (void)state;
    enum { THREADS = 5 };
    const px_feeder_options options = all_at_once();
    px_feeder *feeder = make_feeder(&options), *fresh = make_feeder(&options);
    const int64_t count = px_feeder_steps(feeder) * 16;
    float(*one)[SIZE] = calloc((size_t)count, sizeof *one);
    float(*many)[SIZE] = calloc((size_t)count, sizeof *many);
    int64_t *labels = calloc((size_t)count, sizeof *labels);
    int64_t *others = calloc((size_t)count, sizeof *others);
    assert_non_null(one);
    assert_non_null(many);
    assert_non_null(labels);
    assert_non_null(others);
    for (int64_t epoch = 0; epoch < 3; epoch++) { /* `fresh` jumps there and back */
        begin(feeder, epoch);
        begin(fresh, 9 - epoch);
        begin(fresh, epoch);
        for (int64_t i = 0; i < count; i++)
            get(feeder, i / 16, i % 16, one[i], &labels[i]);
        pthread_t thread[THREADS];
        sweep parts[THREADS];
        for (int t = 0; t < THREADS; t++) {
            parts[t] = (sweep){fresh, t, THREADS, count, many, others};
            assert_int_equal(pthread_create(&thread[t], NULL, sweep_run, &parts[t]), 0);
        }
        for (int t = 0; t < THREADS; t++) {
            void *failed;
            pthread_join(thread[t], &failed);
            assert_null(failed);
        }
        assert_memory_equal(one, many, (size_t)count * sizeof *one);
        assert_memory_equal(labels, others, (size_t)count * sizeof *labels);
    }
    free(one);
    free(many);
    free(labels);
    free(others);
    px_feeder_free(feeder);
    px_feeder_free(fresh);
}

static void test_hash(void **state)
{
    (void)state;
    static const int64_t items[] = {5, 6};
    const px_feeder_options plain = all_at_once();
    px_feeder_options other[10];
    for (size_t i = 0; i < PX_LEN(other); i++)
        other[i] = plain;
    other[1].seed++;
    other[2].batch++;
    other[3].share = 0.4;
    other[4].augment = "flip";
    other[5].pollute = 0.21;
    other[6].mix = PX_MIX_APPEND;
    other[7].base.items = items;
    other[7].base.count = 2;
    other[7].pollute = other[7].label_noise = 0.0;
    other[8].added = (px_feeder_set){.set = floats.set, .pre = &floats.pre};
    other[9].label_noise = 0.0;
    uint64_t hash[PX_LEN(other)];
    for (size_t i = 0; i < PX_LEN(other); i++) {
        px_feeder *feeder = make_feeder(&other[i]);
        hash[i] = px_feeder_hash(feeder);
        px_feeder_free(feeder);
        for (size_t k = 0; k < i; k++)
            if (hash[k] == hash[i])
                fail_msg("options %d and %d have the same hash", (int)k, (int)i);
    }
    px_feeder *again = make_feeder(&plain);
    assert_true(px_feeder_hash(again) == hash[0]);
    px_feeder_free(again);
}

/* --- bad options ----------------------------------------------------------------------------- */

static int64_t beyond[] = {3, 103};
#define SPOIL(name, ...)                           \
    static void spoil_##name(px_feeder_options *o) \
    {                                              \
        __VA_ARGS__;                               \
    }
SPOIL(batch, o->batch = 0)
SPOIL(no_base, o->base.set = NULL)
SPOIL(no_added, o->mix = PX_MIX_ONLY; o->added.set = NULL)
SPOIL(fixed_alone, o->mix = PX_MIX_FIXED; o->added.set = NULL)
SPOIL(share, o->mix = PX_MIX_FIXED; o->share = 0.01)
SPOIL(share_nan, o->mix = PX_MIX_FIXED; o->share = (double)NAN)
SPOIL(labels, o->classes = 4)
SPOIL(items, o->base.items = beyond; o->base.count = 2)
SPOIL(no_items, o->base.items = beyond; o->base.count = 0)
SPOIL(augment, o->augment = "crop:4,spin")
SPOIL(augment_empty, o->augment = "flip,,crop")
SPOIL(augment_end, o->augment = "flip,")
SPOIL(crop_large, o->augment = "crop:6")
SPOIL(crop_word, o->augment = "crop:x")
SPOIL(flip_word, o->augment = "flip:2")
SPOIL(patch, o->pollute = 0.1; o->patch_min = 3; o->patch_max = 2)
SPOIL(patch_large, o->pollute = 0.1; o->patch_max = 7)
SPOIL(class, o->pollute = 0.1; o->polluted_class = 5)
SPOIL(pollute, o->pollute = 1.5)
SPOIL(pollute_nan, o->pollute = (double)NAN)
SPOIL(noise, o->label_noise = -0.5)
SPOIL(both, o->pollute = 0.6; o->label_noise = 0.6)

static const struct {
    const char *name;
    void (*spoil)(px_feeder_options *options);
    px_status status;
    const char *words;
} bad[] = {
    {"batch", spoil_batch, PX_E_USAGE, "a batch of 0 inputs: expected at least 1"},
    {"no base", spoil_no_base, PX_E_USAGE, "mode 'append' needs a base set"},
    {"no added", spoil_no_added, PX_E_USAGE, "mode 'only' needs an added set"},
    {"fixed alone", spoil_fixed_alone, PX_E_USAGE, "mode 'fixed' needs an added set"},
    {"share", spoil_share, PX_E_USAGE, "a share of 0.01 is less than one added input in a batch"},
    {"share NaN", spoil_share_nan, PX_E_USAGE, "a share of nan"},
    {"labels", spoil_labels, PX_E_MISMATCH, "label 4 of sample '4' is out of range"},
    {"items", spoil_items, PX_E_USAGE, "item 103 is not in a data set of 103"},
    {"no items", spoil_no_items, PX_E_INPUT, "there is no input to train on"},
    {"augment", spoil_augment, PX_E_USAGE, "there is no augmentation 'spin'"},
    {"augment empty", spoil_augment_empty, PX_E_USAGE, "expected a comma list"},
    {"augment end", spoil_augment_end, PX_E_USAGE, "expected a comma list"},
    {"crop large", spoil_crop_large, PX_E_USAGE, "'crop:6': expected a border from 1 to 5"},
    {"crop word", spoil_crop_word, PX_E_USAGE, "'crop:x': expected a border"},
    {"flip word", spoil_flip_word, PX_E_USAGE, "flip takes no argument"},
    {"patch", spoil_patch, PX_E_USAGE, "patch size 3:2: expected MIN:MAX"},
    {"patch large", spoil_patch_large, PX_E_MISMATCH, "patch size 1:7 does not fit pictures"},
    {"class", spoil_class, PX_E_USAGE, "polluted class 5: the network's classes are 0..4"},
    {"pollute", spoil_pollute, PX_E_USAGE, "pollution of 1.5: expected a fraction"},
    {"pollute NaN", spoil_pollute_nan, PX_E_USAGE, "pollution of nan: expected a fraction"},
    {"noise", spoil_noise, PX_E_USAGE, "label noise of -0.5: expected a fraction"},
    {"both", spoil_both, PX_E_USAGE, "only 41 of 103 inputs are left that are not polluted"},
};

static void test_bad_options(void **state)
{
    (void)state;
    for (size_t i = 0; i < PX_LEN(bad); i++) {
        px_feeder_options options = feed(&base, &added, 16);
        px_feeder *feeder = NULL;
        px_error err = {0};
        bad[i].spoil(&options);
        const px_status status = px_feeder_new(&options, &feeder, &err);
        if (status != bad[i].status || !strstr(err.message, bad[i].words) || feeder)
            fail_msg("case '%s': status %d, '%s'", bad[i].name, (int)status, err.message);
    }
    px_feeder_options options = feed(&base, NULL, 16);
    px_feeder *feeder = make_feeder(&options);
    px_error err = {0};
    assert_int_equal(px_feeder_begin(feeder, -1, &err), PX_E_USAGE);
    assert_int_equal(px_feeder_begin(feeder, INT64_MAX, &err), PX_E_USAGE);
    px_feeder_free(feeder);
    px_feeder_free(NULL);
}

static void test_shapes_must_agree(void **state)
{
    (void)state;
    px_dataset *digits = NULL;
    px_feeder *feeder = NULL;
    px_error err = {0};
    px_data_options few = px_data_options_default();
    few.limit = 5;
    assert_int_equal(px_dataset_open("digits", &few, &digits, &err), PX_OK);
    px_feeder_options options = feed(&base, NULL, 16);
    options.added = (px_feeder_set){.set = digits, .pre = &base.pre};
    assert_int_equal(px_feeder_new(&options, &feeder, &err), PX_E_MISMATCH);
    assert_string_equal(err.message,
                        "the added samples are [1,28,28], those of the base set [3,6,7]");
    px_dataset_close(digits);
}

static void test_mix_texts(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool good;
        px_mix mix;
        double share;
    } cases[] = {
        {"append", true, PX_MIX_APPEND, 0.5},
        {"only", true, PX_MIX_ONLY, 0.5},
        {"fixed", true, PX_MIX_FIXED, 0.5},
        {"fixed:0.25", true, PX_MIX_FIXED, 0.25},
        {"fixed:1", true, PX_MIX_FIXED, 1.0},
        {"fixed:0", false, 0, 0},
        {"fixed:1.1", false, 0, 0},
        {"fixed:", false, 0, 0},
        {"fixed:nan", false, 0, 0},
        {"fixed:0.5x", false, 0, 0},
        {"only:0.5", false, 0, 0},
        {"", false, 0, 0},
        {"appendix", false, 0, 0},
        {"adversarial", false, 0, 0},
    };
    for (size_t i = 0; i < PX_LEN(cases); i++) {
        px_mix mix = PX_MIX_APPEND;
        double share = -1.0;
        px_error err = {0};
        const px_status status = px_mix_parse(cases[i].text, &mix, &share, &err);
        if (status != (cases[i].good ? PX_OK : PX_E_USAGE) ||
            (cases[i].good && (mix != cases[i].mix || share != cases[i].share)))
            fail_msg("'%s': status %d, mix %d, share %g", cases[i].text, (int)status, (int)mix,
                     share);
    }
    assert_string_equal(px_mix_name(PX_MIX_FIXED), "fixed");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_permutation_per_epoch),
        cmocka_unit_test(test_in_order_and_short_batches),
        cmocka_unit_test(test_inputs_are_preprocessed),
        cmocka_unit_test(test_append),
        cmocka_unit_test(test_only),
        cmocka_unit_test(test_fixed),
        cmocka_unit_test(test_items_of_a_set),
        cmocka_unit_test(test_threads_and_order_of_calls),
        cmocka_unit_test(test_hash),
        cmocka_unit_test(test_bad_options),
        cmocka_unit_test(test_shapes_must_agree),
        cmocka_unit_test(test_mix_texts),
    };
    return cmocka_run_group_tests(tests, open_sets, close_sets);
}
