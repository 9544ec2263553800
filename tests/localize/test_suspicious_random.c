/* tests/localize/test_suspicious_random.c - random neurons: layers, exclusion, seeds */
/* SPDX-License-Identifier: Apache-2.0 */
#include "localize_helpers.h"

#include "base/memory.h"

#include <internal/localize.h>
#include <math.h>
#include <string.h>

/* Layers of 6, 8 and 10 neurons; in class 0 `af` makes a neuron suspicious, in class 1 nothing
 * fails. */
static px_spectrum *layered(const uint32_t *af)
{
    static const uint32_t as[24] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
                                    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    px_spectrum *spectrum = empty_spectrum((const int64_t[]){6, 8, 10, 0}, 2);
    set_class(spectrum, 0, 5, 9, as, af);
    set_class(spectrum, 1, 5, 0, as, (const uint32_t[24]){0});
    return spectrum;
}

static px_suspicious *draw(const px_spectrum *spectrum, const px_suspicious *const *lists,
                           size_t count, px_baseline_options options)
{
    px_suspicious *list = NULL;
    px_error err = {0};
    if (px_suspicious_random(spectrum, lists, count, &options, &list, &err) != PX_OK)
        fail_msg("%s", err.message);
    return list;
}

static void layer_counts(const px_suspicious *list, int c, int counts[3])
{
    size_t count = 0;
    const px_suspect *items = px_suspicious_class(list, c, &count);
    memset(counts, 0, 3 * sizeof *counts);
    for (size_t i = 0; i < count; i++)
        counts[items[i].position]++;
}

static bool has(const px_suspicious *list, const px_suspect *suspect)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->items[i].class_index == suspect->class_index &&
            list->items[i].position == suspect->position && list->items[i].unit == suspect->unit)
            return true;
    return false;
}

/* The five most suspicious lie 1, 1, 3 in the layers; so do random ones. */
static const uint32_t spread[24] = {9, 0, 0, 0, 0, 0, 8, 0, 0, 0, 0, 0,
                                    0, 0, 7, 6, 5, 0, 0, 0, 0, 0, 0, 0};

static void test_matched(void **state)
{
    (void)state;
    px_spectrum *spectrum = layered(spread);
    for (int pooled = 0; pooled < 2; pooled++) {
        px_suspicious *top = rank(spectrum, "ochiai", 5, pooled);
        const int c = pooled ? PX_POOLED : 0;
        int want[3], got[3];
        layer_counts(top, c, want);
        assert_true(want[0] == 1 && want[1] == 1 && want[2] == 3);
        for (uint32_t run = 0; run < 50; run++) {
            const px_suspicious *lists[3] = {top, top, top};
            px_suspicious *list =
                draw(spectrum, lists, 3, (px_baseline_options){.k = 5, .seed = 3, .run = run});
            layer_counts(list, c, got);
            assert_memory_equal(got, want, sizeof got);
            assert_int_equal(list->count, 5); /* and none for the class without a ranking */
            assert_string_equal(list->measure, "random");
            assert_int_equal(list->borrowed + list->missing, 0);
            for (size_t i = 0; i < list->count; i++) {
                assert_true(isnan(list->items[i].score));
                assert_int_equal(list->items[i].rank, i + 1);
                assert_int_equal(list->items[i].class_index, c);
                assert_false(has(top, &list->items[i]));
                for (size_t j = 0; j < i; j++)
                    assert_false(list->items[i].position == list->items[j].position &&
                                 list->items[i].unit == list->items[j].unit);
            }
            px_suspicious_free(list);
        }
        px_suspicious_free(top);
    }
    px_spectrum_free(spectrum);
}

/* Largest remainder: lists with 1, 1, 3 neurons in the layers give k neurons so. */
static void test_quota(void **state)
{
    (void)state;
    static const struct {
        int64_t k;
        int counts[3];
    } cases[] = {
        {1, {0, 0, 1}}, /* .2 .2 .6 */
        {2, {0, 1, 1}}, /* .4 .4 1.2: the tie goes to the deeper layer */
        {3, {0, 1, 2}}, /* .6 .6 1.8: the third's is larger, then the deeper of the two */
        {4, {1, 1, 2}}, /* .8 .8 2.4 */
        {10, {2, 2, 6}},
    };
    px_spectrum *spectrum = layered(spread);
    px_suspicious *top = rank(spectrum, "ochiai", 5, false);
    const px_suspicious *lists[1] = {top};
    for (size_t i = 0; i < PX_LEN(cases); i++) {
        int got[3];
        px_suspicious *list =
            draw(spectrum, lists, 1, (px_baseline_options){.k = cases[i].k, .seed = 1});
        layer_counts(list, 0, got);
        if (memcmp(got, cases[i].counts, sizeof got) != 0)
            fail_msg("k %d: %d %d %d", (int)cases[i].k, got[0], got[1], got[2]);
        px_suspicious_free(list);
    }
    px_suspicious_free(top);
    px_spectrum_free(spectrum);
}

static void test_seeds(void **state)
{
    (void)state;
    px_spectrum *spectrum = layered(spread);
    px_suspicious *top = rank(spectrum, "ochiai", 5, false);
    const px_suspicious *lists[1] = {top};
    char first[64];
    int others = 0;
    for (int code = 0; code < 2; code++)
        for (uint32_t i = 0; i < 20; i++) {
            px_baseline_options options = {.k = 5, .seed = 9, .compat_code = code};
            if (i > 10)
                options.run = i;
            else if (i > 1)
                options.seed += i; /* 0 and 1 are the same */
            px_suspicious *list = draw(spectrum, lists, 1, options);
            if (i == 0)
                snprintf(first, sizeof first, "%s", neurons_text(list, 0));
            const bool same = strcmp(first, neurons_text(list, 0)) == 0;
            if (i < 2)
                assert_true(same);
            others += !same;
            px_suspicious_free(list);
        }
    assert_true(others > 30);
    px_suspicious_free(top);
    px_spectrum_free(spectrum);
}

/* A layer whose neurons are all listed lends them, and that is said. */
static void test_too_few(void **state)
{
    (void)state;
    static const uint32_t first_layer[24] = {9, 9, 9, 9, 9, 9, 0};
    px_spectrum *spectrum = layered(first_layer);
    px_suspicious *top = rank(spectrum, "ochiai", 4, false),
                  *all = rank(spectrum, "ochiai", 6, false);
    const px_suspicious *lists[1] = {top};
    int counts[3];
    px_suspicious *list = draw(spectrum, lists, 1, (px_baseline_options){.k = 4});
    layer_counts(list, 0, counts);
    assert_int_equal(counts[0], 4); /* two free, two of the listed */
    assert_int_equal(list->borrowed, 2);
    px_suspicious_free(list);
    list = draw(spectrum, lists, 1, (px_baseline_options){.k = 24});
    assert_int_equal(list->count, 6); /* the layer has no more */
    assert_int_equal(list->missing, 18);
    assert_int_equal(list->borrowed, 4);
    px_suspicious_free(list);
    list = draw(spectrum, lists, 1, (px_baseline_options){.k = 4, .compat_code = true});
    assert_int_equal(list->count, 2); /* never listed ones */
    assert_int_equal(list->missing, 2);
    assert_int_equal(list->borrowed, 0);
    px_suspicious_free(list);
    lists[0] = all;
    list = draw(spectrum, lists, 1, (px_baseline_options){.k = 3, .compat_code = true});
    assert_int_equal(list->count, 0);
    assert_int_equal(list->missing, 3);
    px_suspicious_free(list);
    px_suspicious_free(top);
    px_suspicious_free(all);
    px_spectrum_free(spectrum);
}

/* The published code's draw: layers of the first list as often as they are there, those of the
 * further lists once. Here 1, 1, 3 and once more 0, 1, 2: weights 2/8, 2/8, 4/8. */
static void test_as_the_code(void **state)
{
    (void)state;
    px_spectrum *spectrum = layered(spread);
    px_suspicious *top = rank(spectrum, "ochiai", 5, false);
    const px_suspicious *lists[2] = {top, top};
    int sum[3] = {0};
    for (uint32_t run = 0; run < 2000; run++) {
        int counts[3];
        px_suspicious *list = draw(spectrum, lists, 2,
                                   (px_baseline_options){.k = 1, .run = run, .compat_code = true});
        layer_counts(list, 0, counts);
        assert_false(has(top, &list->items[0]));
        for (int l = 0; l < 3; l++)
            sum[l] += counts[l];
        px_suspicious_free(list);
    }
    /* a draw that hits a listed neuron is thrown away: weights times the free share of the layer */
    const double weight[3] = {2 * 5 / 6.0, 2 * 7 / 8.0, 4 * 7 / 10.0};
    for (int l = 0; l < 3; l++) {
        const double want = 2000 * weight[l] / (weight[0] + weight[1] + weight[2]);
        if (fabs(sum[l] - want) > 5 * sqrt(want))
            fail_msg("layer %d: %d instead of about %g", l, sum[l], want);
    }
    px_suspicious_free(top);
    px_spectrum_free(spectrum);
}

/* The same as with the three lists made by hand; where they leave none, a sentence. */
static void test_beside(void **state)
{
    (void)state;
    static const char *const measures[] = {"tarantula", "ochiai", "dstar"};
    px_spectrum *spectrum = layered(spread);
    const px_suspicious *lists[PX_LEN(measures)];
    px_rank_options rank_by = px_rank_options_default();
    const px_baseline_options options = {.k = 5, .seed = 3};
    px_suspicious *beside = NULL;
    px_error err = {0};
    rank_by.k = 5;
    for (size_t i = 0; i < PX_LEN(measures); i++)
        lists[i] = rank(spectrum, measures[i], 5, false);
    px_suspicious *by_hand = draw(spectrum, lists, PX_LEN(measures), options);
    if (px_suspicious_random_beside(spectrum, &rank_by, &options, &beside, &err) != PX_OK)
        fail_msg("%s", err.message);
    assert_int_equal(beside->count, by_hand->count);
    for (size_t i = 0; i < beside->count; i++)
        assert_true(has(by_hand, &beside->items[i]));
    px_suspicious_free(beside);
    px_suspicious_free(by_hand);
    for (size_t i = 0; i < PX_LEN(measures); i++)
        px_suspicious_free((px_suspicious *)(uintptr_t)lists[i]);
    px_spectrum_free(spectrum);
}

static void test_refusals(void **state)
{
    (void)state;
    px_spectrum *spectrum = layered(spread);
    px_suspicious *top = rank(spectrum, "ochiai", 5, false), *list = NULL;
    px_spectrum *small = example_spectrum(1);
    const px_suspicious *lists[1] = {top};
    px_baseline_options options = {.k = 0};
    assert_int_equal(px_suspicious_random(spectrum, lists, 1, &options, &list, NULL), PX_E_USAGE);
    options.k = 1;
    assert_int_equal(px_suspicious_random(spectrum, lists, 0, &options, &list, NULL), PX_E_USAGE);
    assert_int_equal(px_suspicious_random(small, lists, 1, &options, &list, NULL), PX_E_MISMATCH);
    px_suspicious_free(top);
    px_spectrum_free(small);
    px_spectrum_free(spectrum);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_matched),     cmocka_unit_test(test_quota),
        cmocka_unit_test(test_seeds),       cmocka_unit_test(test_too_few),
        cmocka_unit_test(test_as_the_code), cmocka_unit_test(test_beside),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
