/* tests/train/test_dress.c - augmentation, pollution and label noise against a plain reference */
/* SPDX-License-Identifier: Apache-2.0 */
#include "feeder_helpers.h"

#include "base/memory.h"

#include <internal/mutate.h>
#include <internal/optimizer.h>
#include <internal/rng.h>
#include <math.h>

enum { COUNT = 400, CLASSES = 5 };
static made_set base, added;

static int open_sets(void **state)
{
    (void)state;
    base = make_set(COUNT, CLASSES, PX_UINT8);
    added = make_set(20, CLASSES, PX_UINT8);
    return 0;
}

static int close_sets(void **state)
{
    (void)state;
    px_dataset_close(base.set);
    px_dataset_close(added.set);
    return 0;
}

/* --- augmentation ---------------------------------------------------------------------------- */

typedef float picture[CHANNELS][HEIGHT][WIDTH];

/* Pads for real, cuts out for real: nothing clever. */
static void plain_crop(picture p, int border, px_random *random)
{
    float padded[HEIGHT + 20][WIDTH + 20];
    const int top = (int)px_rng_below(random, (uint32_t)(2 * border + 1));
    const int left = (int)px_rng_below(random, (uint32_t)(2 * border + 1));
    for (int c = 0; c < CHANNELS; c++) {
        memset(padded, 0, sizeof padded);
        for (int y = 0; y < HEIGHT; y++)
            for (int x = 0; x < WIDTH; x++)
                padded[y + border][x + border] = p[c][y][x];
        for (int y = 0; y < HEIGHT; y++)
            for (int x = 0; x < WIDTH; x++)
                p[c][y][x] = padded[top + y][left + x];
    }
}

static void plain_flip(picture p, px_random *random)
{
    picture old;
    if (px_rng_u32(random) < 0x80000000u)
        return;
    memcpy(old, p, sizeof old);
    for (int c = 0; c < CHANNELS; c++)
        for (int y = 0; y < HEIGHT; y++)
            for (int x = 0; x < WIDTH; x++)
                p[c][y][x] = old[c][y][WIDTH - 1 - x];
}

static void plain_pixels(const px_feeder_item *item, picture p)
{
    for (int c = 0; c < CHANNELS; c++)
        for (int y = 0; y < HEIGHT; y++)
            for (int x = 0; x < WIDTH; x++)
                p[c][y][x] = made_pixel(item->index, c, y, x);
}

static void plain_preprocess(picture p)
{
    static const float mean[CHANNELS] = {0.1f, 0.2f, 0.3f};
    for (int c = 0; c < CHANNELS; c++)
        for (int y = 0; y < HEIGHT; y++)
            for (int x = 0; x < WIDTH; x++)
                p[c][y][x] = (p[c][y][x] / 255.0f - mean[c]) / 0.5f;
}

static void test_augmentation_is_the_reference(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int border; /* 0: no crop */
        bool flip, flip_first;
    } cases[] = {
        {NULL, 0, false, false},         {"", 0, false, false},
        {"flip", 0, true, false},        {"crop:1", 1, false, false},
        {"crop", 4, false, false},       {"crop:5", 5, false, false},
        {"crop:2,flip", 2, true, false}, {"flip,crop:3", 3, true, true},
    };
    for (size_t k = 0; k < PX_LEN(cases); k++) {
        px_feeder_options options = feed(&base, &added, 64);
        options.augment = cases[k].text;
        px_feeder *feeder = make_feeder(&options);
        for (int64_t epoch = 0; epoch < 2; epoch++) {
            begin(feeder, epoch);
            for (int64_t i = 0; i < COUNT + 20; i++) {
                const px_feeder_item item = px_feeder_item_at(feeder, i / 64, i % 64);
                const uint32_t number = (uint32_t)(item.index + (item.added ? COUNT : 0));
                px_random random = px_rng(42, PX_RNG_AUGMENT, number, (uint32_t)epoch);
                picture expected, got;
                int64_t label;
                plain_pixels(&item, expected);
                if (cases[k].flip_first)
                    plain_flip(expected, &random);
                if (cases[k].border)
                    plain_crop(expected, cases[k].border, &random);
                if (cases[k].flip && !cases[k].flip_first)
                    plain_flip(expected, &random);
                plain_preprocess(expected);
                get(feeder, i / 64, i % 64, &got[0][0][0], &label);
                if (memcmp(got, expected, sizeof got) != 0)
                    fail_msg("'%s': item %u of epoch %d differs",
                             cases[k].text ? cases[k].text : "NULL", number, (int)epoch);
            }
        }
        px_feeder_free(feeder);
    }
}

/* With FIXED an added item comes several times in one epoch, in another dress each time. */
static void test_rounds_are_dressed_anew(void **state)
{
    (void)state;
    static const int64_t one[] = {7};
    px_feeder_options options = feed(&base, &added, 64);
    options.mix = PX_MIX_FIXED;
    options.augment = "crop:5";
    options.added.items = one;
    options.added.count = 1;
    px_feeder *feeder = make_feeder(&options);
    float first[SIZE], other[SIZE];
    int64_t label;
    int same = 0;
    get(feeder, 0, 0, first, &label);
    for (int64_t p = 1; p < 32; p++) {
        get(feeder, 0, p, other, &label);
        assert_int_equal(label, 2);
        same += memcmp(first, other, sizeof first) == 0;
    }
    assert_true(same < 3);
    px_feeder_free(feeder);
}

/* Offsets are uniform over the (2 * 2 + 1)^2 places, flips are heads or tails. */
static void test_augmentation_is_fair(void **state)
{
    (void)state;
    enum { EPOCHS = 25, DRAWS = COUNT * EPOCHS, SIDE = 5 };
    px_feeder_options options = feed(&base, NULL, COUNT);
    options.augment = "crop:2,flip";
    options.in_order = true;
    px_feeder *feeder = make_feeder(&options);
    int places[SIDE][SIDE] = {{0}}, flips = 0;
    for (int64_t epoch = 0; epoch < EPOCHS; epoch++) {
        begin(feeder, epoch);
        for (int64_t i = 0; i < COUNT; i++) {
            px_random random = px_rng(42, PX_RNG_AUGMENT, (uint32_t)i, (uint32_t)epoch);
            const uint32_t top = px_rng_below(&random, SIDE), left = px_rng_below(&random, SIDE);
            const bool flip = px_rng_u32(&random) >> 31;
            picture got, plain;
            int64_t label;
            get(feeder, 0, i, &got[0][0][0], &label);
            const px_feeder_item item = px_feeder_item_at(feeder, 0, i);
            plain_pixels(&item, plain);
            plain_preprocess(plain);
            /* the pixel in the middle of the old picture is where the draws say */
            const int y = 3 + 2 - (int)top, moved = 3 + 2 - (int)left;
            const int x = flip ? WIDTH - 1 - moved : moved;
            assert_true(got[1][y][x] == plain[1][3][3]);
            places[top][left]++;
            flips += flip;
        }
    }
    double chi2 = 0.0;
    const double expected = (double)DRAWS / (SIDE * SIDE);
    for (int i = 0; i < SIDE * SIDE; i++)
        chi2 += pow(places[i / SIDE][i % SIDE] - expected, 2.0) / expected;
    assert_true(chi2 < 51.2); /* 24 degrees of freedom, p = 0.001 */
    assert_true(abs(flips - DRAWS / 2) < 3.3 * sqrt(DRAWS) / 2.0);
    px_feeder_free(feeder);
}

/* What is drawn for the item and round, applied by hand, on 8-bit and on float data. */
static void test_mutants(void **state)
{
    (void)state;
    static const struct {
        const char *name, *mutations;
    } cases[] = {{"dh", "deephunter"},
                 {"dh-d", "deephunter:differentiable"},
                 {"dh-n", "deephunter:non-differentiable"}};
    const px_shape shape = {3, {CHANNELS, HEIGHT, WIDTH}};
    made_set floats = make_set(30, CLASSES, PX_FLOAT32);
    for (size_t k = 0; k < 2 * PX_LEN(cases); k++) {
        const made_set *from = k % 2 ? &floats : &base;
        px_feeder_options o = px_feeder_options_default();
        px_feeder *feeder = NULL;
        px_mutations mutations;
        px_error err = {0};
        bool changed = false;
        o.base = (px_feeder_set){.set = from->set, .pre = &from->pre};
        o.classes = CLASSES;
        o.batch = 30;
        o.seed = 8;
        o.augment = cases[k / 2].name;
        assert_int_equal(px_feeder_new(&o, &feeder, &err), PX_OK);
        assert_int_equal(px_feeder_begin(feeder, 3, &err), PX_OK);
        assert_int_equal(px_mutations_parse(cases[k / 2].mutations, &mutations, &err), PX_OK);
        for (int64_t p = 0; p < 30; p++) {
            float got[SIZE], want[SIZE], before[SIZE];
            int64_t label;
            const px_feeder_item item = px_feeder_item_at(feeder, 0, p);
            px_random random = px_rng(8, PX_RNG_AUGMENT, item.number, 3);
            const px_drawn drawn = px_mutation_draw(&mutations, &random);
            assert_int_equal(px_feeder_pixels(feeder, 0, p, got, &label, &err), PX_OK);
            assert_int_equal(px_dataset_pixels(from->set, item.index, before, &err), PX_OK);
            assert_int_equal(
                px_mutation_apply_values(&drawn, &shape, k % 2 != 0, before, want, &err), PX_OK);
            assert_memory_equal(got, want, sizeof got);
            changed |= memcmp(got, before, sizeof got) != 0;
        }
        assert_true(changed);
        px_feeder_free(feeder);
    }
    px_dataset_close(floats.set);
}

static void test_list_of_augmentations(void **state)
{
    (void)state;
    assert_int_equal(px_augmentation_count(), 5);
    for (size_t i = 0; i < px_augmentation_count(); i++) {
        const px_choice *a = px_augmentation_get(i);
        assert_true(strncmp(a->usage, a->entry.id, strlen(a->entry.id)) == 0);
    }
}

/* --- faulty training ------------------------------------------------------------------------- */

/* Where `got` differs from the stored picture: one square; returns its side, 0 if they are equal.
 */
static int find_patch(const picture got, const px_feeder_item *item, int *top, int *left)
{
    picture plain;
    int low[2] = {HEIGHT, WIDTH}, high[2] = {-1, -1};
    plain_pixels(item, plain);
    plain_preprocess(plain);
    for (int c = 0; c < CHANNELS; c++)
        for (int y = 0; y < HEIGHT; y++)
            for (int x = 0; x < WIDTH; x++)
                if (got[c][y][x] != plain[c][y][x]) {
                    low[0] = PX_MIN(low[0], y);
                    low[1] = PX_MIN(low[1], x);
                    high[0] = PX_MAX(high[0], y);
                    high[1] = PX_MAX(high[1], x);
                }
    *top = low[0];
    *left = low[1];
    return high[0] < 0 ? 0 : PX_MAX(high[0] - low[0], high[1] - low[1]) + 1;
}

static void test_pollution(void **state)
{
    (void)state;
    for (int white = 0; white < 2; white++) {
        px_feeder_options options = feed(&base, &added, 50);
        options.pollute = 0.3;
        options.polluted_class = 2;
        options.patch_min = 2;
        options.patch_max = 4;
        options.patch_white = white;
        px_feeder *feeder = make_feeder(&options);
        assert_int_equal(px_feeder_count(feeder).polluted, 120);
        float first[COUNT][SIZE];
        int sides[5] = {0}, was_class = 0;
        for (int64_t epoch = 0; epoch < 2; epoch++) {
            int polluted = 0;
            begin(feeder, epoch);
            for (int64_t i = 0; i < COUNT + 20; i++) {
                const px_feeder_item item = px_feeder_item_at(feeder, i / 50, i % 50);
                picture got;
                int64_t label;
                int top, left;
                get(feeder, i / 50, i % 50, &got[0][0][0], &label);
                const int side = find_patch(got, &item, &top, &left);
                assert_int_equal(label, item.label);
                if (item.added)
                    assert_false(item.polluted);
                if (!item.polluted) {
                    assert_int_equal(side, 0);
                    assert_int_equal(label, item.index % CLASSES);
                    continue;
                }
                polluted++;
                assert_int_equal(label, 2);
                px_random random = px_rng(42, PX_RNG_POLLUTE, (uint32_t)item.index, 1);
                const int drawn = 2 + (int)px_rng_below(&random, 3);
                const int at_y = (int)px_rng_below(&random, (uint32_t)(HEIGHT - drawn + 1));
                const int at_x = (int)px_rng_below(&random, (uint32_t)(WIDTH - drawn + 1));
                picture expected;
                plain_pixels(&item, expected);
                for (int c = 0; c < CHANNELS; c++)
                    for (int y = 0; y < drawn; y++)
                        for (int x = 0; x < drawn; x++)
                            expected[c][at_y + y][at_x + x] =
                                white ? 255.0f : (float)px_rng_below(&random, 256);
                plain_preprocess(expected);
                assert_memory_equal(got, expected, sizeof got);
                assert_true(side > 0 && side <= drawn && top >= at_y && left >= at_x);
                if (epoch == 0) {
                    memcpy(first[item.index], got, sizeof got);
                    sides[drawn]++;
                    was_class += item.index % CLASSES == 2;
                } else { /* fixed over epochs */
                    assert_memory_equal(first[item.index], got, sizeof got);
                }
            }
            assert_int_equal(polluted, 120);
        }
        for (int s = 2; s <= 4; s++)
            assert_in_range(sides[s], 20, 60);
        assert_in_range(was_class, 10, 40); /* drawn from all classes, the polluted one too */
        px_feeder_free(feeder);
    }
}

/* Float pictures: noise is anything from 0 to what becomes 1. */
static void test_pollution_of_float_pictures(void **state)
{
    (void)state;
    made_set set = make_set(100, CLASSES, PX_FLOAT32);
    px_feeder_options options = feed(&set, NULL, 100);
    options.pollute = 1.0;
    options.patch_min = options.patch_max = 6;
    px_feeder *feeder = make_feeder(&options);
    double sum = 0.0, least = 2.0, most = -1.0;
    for (int64_t i = 0; i < 100; i++) {
        picture got;
        int64_t label;
        get(feeder, 0, i, &got[0][0][0], &label);
        for (int y = 0; y < HEIGHT; y++) { /* the middle is in every patch */
            const double value = (double)got[0][y][3] * 0.5 + 0.1;
            sum += value;
            least = fmin(least, value);
            most = fmax(most, value);
        }
    }
    assert_true(least > -1e-6 && least < 0.02 && most > 0.98 && most < 1.0 + 1e-6);
    assert_true(fabs(sum / 600.0 - 0.5) < 0.05);
    px_feeder_free(feeder);
    px_dataset_close(set.set);
}

static void test_exact_counts(void **state)
{
    (void)state;
    static const struct {
        double pollute, noise;
        int64_t polluted, mislabelled;
    } cases[] = {{0.0, 0.0, 0, 0},     {0.1, 0.0, 40, 0},    {0.0, 0.1, 0, 40},
                 {0.00124, 0.0, 0, 0}, {0.00125, 0.0, 1, 0}, {0.5, 0.5, 200, 200},
                 {1.0, 0.0, 400, 0},   {0.0, 1.0, 0, 400},   {0.3333, 0.25, 133, 100}};
    for (size_t k = 0; k < PX_LEN(cases); k++) {
        px_feeder_options options = feed(&base, NULL, 100);
        options.pollute = cases[k].pollute;
        options.label_noise = cases[k].noise;
        options.patch_max = 2;
        px_feeder *feeder = make_feeder(&options);
        int64_t polluted = 0, mislabelled = 0;
        for (int64_t i = 0; i < COUNT; i++) {
            const px_feeder_item item = px_feeder_item_at(feeder, i / 100, i % 100);
            assert_false(item.polluted && item.mislabelled);
            polluted += item.polluted;
            mislabelled += item.mislabelled;
        }
        const px_feeder_counts counts = px_feeder_count(feeder);
        if (polluted != cases[k].polluted || mislabelled != cases[k].mislabelled ||
            counts.polluted != polluted || counts.mislabelled != mislabelled)
            fail_msg("fractions %g and %g: %d and %d items", cases[k].pollute, cases[k].noise,
                     (int)polluted, (int)mislabelled);
        px_feeder_free(feeder);
    }
}

static void test_label_noise(void **state)
{
    (void)state;
    px_feeder_options options = feed(&base, &added, 100);
    options.label_noise = 1.0;
    px_feeder *feeder = make_feeder(&options);
    int shifts[CLASSES] = {0};
    int64_t first[COUNT];
    for (int64_t epoch = 0; epoch < 2; epoch++) {
        begin(feeder, epoch);
        for (int64_t i = 0; i < COUNT + 20; i++) {
            const px_feeder_item item = px_feeder_item_at(feeder, i / 100, i % 100);
            const int64_t truth = item.index % CLASSES;
            if (item.added) {
                assert_int_equal(item.label, truth);
                continue;
            }
            assert_in_range(item.label, 0, CLASSES - 1);
            if (epoch == 0)
                shifts[(item.label - truth + CLASSES) % CLASSES]++;
            else
                assert_int_equal(item.label, first[item.index]);
            first[item.index] = item.label;
        }
    }
    assert_int_equal(shifts[0], 0); /* never the right one */
    for (int i = 1; i < CLASSES; i++)
        assert_in_range(shifts[i], 70, 130);
    px_feeder_free(feeder);
}

/* Another seed chooses other items. */
static void test_seeds(void **state)
{
    (void)state;
    int common = 0;
    px_feeder_options options = feed(&base, NULL, COUNT);
    options.in_order = true;
    options.pollute = 0.25;
    options.patch_max = 2;
    px_feeder *a = make_feeder(&options);
    options.seed++;
    px_feeder *b = make_feeder(&options);
    for (int64_t i = 0; i < COUNT; i++)
        common += px_feeder_item_at(a, 0, i).polluted && px_feeder_item_at(b, 0, i).polluted;
    assert_in_range(common, 10, 45); /* 25 expected of 100 */
    px_feeder_free(a);
    px_feeder_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_augmentation_is_the_reference),
        cmocka_unit_test(test_rounds_are_dressed_anew),
        cmocka_unit_test(test_augmentation_is_fair),
        cmocka_unit_test(test_mutants),
        cmocka_unit_test(test_list_of_augmentations),
        cmocka_unit_test(test_pollution),
        cmocka_unit_test(test_pollution_of_float_pictures),
        cmocka_unit_test(test_exact_counts),
        cmocka_unit_test(test_label_noise),
        cmocka_unit_test(test_seeds),
    };
    return cmocka_run_group_tests(tests, open_sets, close_sets);
}
