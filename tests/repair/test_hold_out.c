/* tests/repair/test_hold_out.c - which inputs are trained on, and which are held back */
/* SPDX-License-Identifier: Apache-2.0 */
#include "repair_helpers.h"

#include "base/memory.h"
#include "repair/repair_state.h"

#include <math.h>
#include <string.h>

enum { COUNT = 237, CLASSES = 10 };

static pxi_items all_of(const px_dataset *set)
{
    const px_feeder_set from = {.set = set};
    pxi_items items = {0};
    px_error err = {0};
    assert_int_equal(pxi_items_all(&from, &items, &err), PX_OK);
    return items;
}

static void test_each_class_gives_its_share(void **state)
{
    (void)state;
    static const double fractions[] = {0.0, 0.02, 0.2, 0.5, 1.0};
    px_dataset *set = open_digits("test", 0, COUNT); /* 24 of the classes 0..6, 23 of the others */
    px_error err = {0};
    for (size_t f = 0; f < PX_LEN(fractions); f++) {
        pxi_items kept = all_of(set), held = {0};
        int seen[COUNT] = {0}, classes[CLASSES] = {0};
        assert_int_equal(pxi_items_hold_out(set, CLASSES, fractions[f], 1, &kept, &held, &err),
                         PX_OK);
        assert_int_equal(kept.count + held.count, COUNT);
        for (int64_t i = 0; i < kept.count; i++)
            seen[kept.index[i]]++;
        for (int64_t i = 0; i < held.count; i++) {
            seen[held.index[i]]++;
            classes[px_dataset_label(set, held.index[i])]++;
            assert_true(i == 0 || held.index[i] > held.index[i - 1]);
        }
        for (int i = 0; i < COUNT; i++)
            assert_int_equal(seen[i], 1);
        for (int c = 0; c < CLASSES; c++)
            if (classes[c] != (int)(fractions[f] * (c < 7 ? 24 : 23) + 0.5))
                fail_msg("fraction %g: %d of class %d", fractions[f], classes[c], c);
        pxi_items_done(&kept);
        pxi_items_done(&held);
    }
    px_dataset_close(set);
}

static void test_seed_decides(void **state)
{
    (void)state;
    px_dataset *set = open_digits("test", 0, COUNT);
    px_error err = {0};
    int64_t first[COUNT];
    for (int run = 0; run < 3; run++) {
        pxi_items kept = all_of(set), held = {0};
        assert_int_equal(pxi_items_hold_out(set, CLASSES, 0.3, run == 2, &kept, &held, &err),
                         PX_OK);
        const size_t bytes = (size_t)held.count * sizeof *first;
        if (run == 0)
            memcpy(first, held.index, bytes);
        assert_int_equal(memcmp(first, held.index, bytes) == 0, run < 2);
        pxi_items_done(&kept);
        pxi_items_done(&held);
    }
    px_dataset_close(set);
}

static void test_limit(void **state)
{
    (void)state;
    static const int64_t limits[] = {0, 1, 50, 236, 237, 1000};
    px_dataset *set = open_digits("test", 0, COUNT);
    px_error err = {0};
    for (size_t k = 0; k < PX_LEN(limits); k++) {
        pxi_items items = all_of(set);
        assert_int_equal(pxi_items_limit(&items, limits[k], 3, 1, &err), PX_OK);
        assert_int_equal(items.count, limits[k] && limits[k] < COUNT ? limits[k] : COUNT);
        for (int64_t i = 0; i < items.count; i++)
            assert_true(items.index[i] < COUNT && (i == 0 || items.index[i] > items.index[i - 1]));
        pxi_items_done(&items);
    }
    px_dataset_close(set);
}

static void test_bad_fractions(void **state)
{
    (void)state;
    static const double bad[] = {-0.1, 1.1, (double)NAN};
    px_dataset *set = open_digits("test", 0, COUNT);
    for (size_t i = 0; i < PX_LEN(bad); i++) {
        pxi_items kept = all_of(set), held = {0};
        px_error err = {0};
        assert_int_equal(pxi_items_hold_out(set, CLASSES, bad[i], 0, &kept, &held, &err),
                         PX_E_USAGE);
        assert_non_null(strstr(err.message, "expected a fraction from 0 to 1"));
        pxi_items_done(&kept);
    }
    px_dataset_close(set);
}

/* Test inputs that are trained on are found by what they look like, whatever set they are in. */
static void test_overlap(void **state)
{
    (void)state;
    px_dataset *test = open_digits("test", 0, 100), *added = open_digits("test", 90, 40);
    px_preprocess pre = {.scale = 1.0f / 255.0f, .channels = 1, .stddev = {1.0f}};
    const px_judge_set test_data = {test, &pre}, added_data = {added, &pre};
    pxi_items items = all_of(test), trained = all_of(added);
    px_error err = {0};
    int64_t overlap = -1;
    assert_int_equal(
        pxi_items_drop_added(&items, &test_data, &trained, &added_data, &overlap, &err), PX_OK);
    assert_int_equal(overlap, 10);
    assert_int_equal(items.count, 90);
    for (int64_t i = 0; i < items.count; i++)
        assert_int_equal(items.index[i], i);
    pxi_items_done(&items);
    pxi_items_done(&trained);
    px_dataset_close(test);
    px_dataset_close(added);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_class_gives_its_share),
        cmocka_unit_test(test_seed_decides),
        cmocka_unit_test(test_limit),
        cmocka_unit_test(test_bad_fractions),
        cmocka_unit_test(test_overlap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
