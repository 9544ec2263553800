/* tests/data/test_digits.c - the procedural digits: fixed, distinct, told apart by a simple rule */
/* SPDX-License-Identifier: Apache-2.0 */
#include "data/data_helpers.h"
#include <plexor/data.h>

enum { PIXELS = 28 * 28 };

static px_dataset *open_digits(const char *spec, const char *split)
{
    px_dataset *set = NULL;
    px_error err = {0};
    const px_data_options options = {.split = split};
    if (px_dataset_open(spec, &options, &set, &err) != PX_OK)
        fail_msg("%s", err.message);
    return set;
}

static void read_digit(const px_dataset *set, int64_t index, float pixels[PIXELS])
{
    assert_int_equal(px_dataset_pixels(set, index, pixels, NULL), PX_OK);
}

static void test_counts(void **state)
{
    (void)state;
    px_dataset *test = open_digits("digits", NULL), *train = open_digits("digits", "train");
    assert_int_equal(px_dataset_count(test), 10000);
    assert_int_equal(px_dataset_count(train), 60000);
    assert_int_equal(px_dataset_class_count(test), 10);
    for (int i = 0; i < 50; i++)
        assert_int_equal(px_dataset_label(test, i), i % 10);
    px_dataset_close(test);
    px_dataset_close(train);
}

/* Drawn today as ever: a changed picture would change every result that used it. The sums were
 * noted when the digits were first drawn; libm may move a pixel by one level. */
static void test_fixed(void **state)
{
    (void)state;
    static const int sums[10] = {20951, 17158, 12894, 16517, 21972,
                                 36972, 32989, 15342, 21546, 39635};
    px_dataset *set = open_digits("digits", NULL);
    for (int i = 0; i < 10; i++) {
        float pixels[PIXELS], again[PIXELS];
        double sum = 0.0;
        read_digit(set, i, pixels);
        read_digit(set, 9 - i, again);
        read_digit(set, i, again); /* whatever was drawn before */
        assert_memory_equal(pixels, again, sizeof pixels);
        for (int k = 0; k < PIXELS; k++) {
            assert_true(pixels[k] >= 0 && pixels[k] <= 255 && pixels[k] == (float)(int)pixels[k]);
            sum += (double)pixels[k];
        }
        if (abs((int)sum - sums[i]) > 20)
            fail_msg("digit %d: the pixels add up to %d", i, (int)sum);
    }
    px_dataset_close(set);
}

static void test_distinct(void **state)
{
    (void)state;
    px_dataset *a = open_digits("digits", NULL), *b = open_digits("digits:1", NULL),
               *c = open_digits("digits", "train");
    float x[PIXELS], y[PIXELS];
    for (int i = 0; i < 200; i++) {
        read_digit(a, i, x);
        read_digit(b, i, y);
        assert_memory_not_equal(x, y, sizeof x);
        read_digit(c, i, y);
        assert_memory_not_equal(x, y, sizeof x);
        read_digit(a, i + 10, y); /* the same digit, written again */
        assert_memory_not_equal(x, y, sizeof x);
    }
    assert_int_not_equal(px_dataset_hash(a), px_dataset_hash(b));
    assert_int_not_equal(px_dataset_hash(a), px_dataset_hash(c));
    px_dataset_close(a);
    px_dataset_close(b);
    px_dataset_close(c);
}

/* A nearest-neighbour rule learns them: they look like what they are called. */
static void test_recognisable(void **state)
{
    (void)state;
    enum { TRAIN = 2000, TEST = 300 };
    px_dataset *train = open_digits("digits", "train"), *test = open_digits("digits", NULL);
    float *known = malloc(sizeof(float) * TRAIN * PIXELS), x[PIXELS];
    int right = 0;
    for (int i = 0; i < TRAIN; i++)
        read_digit(train, i, known + i * PIXELS);
    for (int i = 0; i < TEST; i++) {
        double best = 1e30;
        int label = -1;
        read_digit(test, i, x);
        for (int k = 0; k < TRAIN; k++) {
            double distance = 0.0;
            for (int p = 0; p < PIXELS; p++) {
                const double d = (double)(x[p] - known[k * PIXELS + p]);
                distance += d * d;
            }
            if (distance < best) {
                best = distance;
                label = k % 10;
            }
        }
        right += label == i % 10;
    }
    if (right < TEST * 85 / 100 || right == TEST)
        fail_msg("%d of %d by nearest neighbour", right, TEST);
    free(known);
    px_dataset_close(train);
    px_dataset_close(test);
}

static void test_refuses(void **state)
{
    (void)state;
    static const char *const specs[] = {"digits:", "digits:x", "digits:1x", "digits:-1"};
    px_dataset *set = NULL;
    px_error err = {0};
    for (size_t i = 0; i < sizeof specs / sizeof specs[0]; i++)
        assert_int_equal(px_dataset_open(specs[i], NULL, &set, &err), PX_E_USAGE);
    const px_data_options options = {.split = "val"};
    assert_int_equal(px_dataset_open("digits", &options, &set, &err), PX_E_USAGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counts),   cmocka_unit_test(test_fixed),
        cmocka_unit_test(test_distinct), cmocka_unit_test(test_recognisable),
        cmocka_unit_test(test_refuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
