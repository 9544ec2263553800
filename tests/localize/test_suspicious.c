/* tests/localize/test_suspicious.c - rankings: order, ties, classes without one, comparisons */
/* SPDX-License-Identifier: Apache-2.0 */
#include "localize_helpers.h"

#include "base/memory.h"

#include <internal/localize.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void test_example(void **state)
{
    (void)state;
    px_spectrum *spectrum = example_spectrum(1);
    static const struct {
        const char *measure, *order;
        int64_t k;
    } cases[] = {
        {"tarantula", "L0:1 L1:0", 2},       {"ochiai", "L0:1 L1:0", 2}, {"dstar", "L0:1 L1:0", 2},
        {"wong2", "L0:1 L1:0 L0:0 L1:1", 4}, /* n0 and n2 tie at -1: the deeper one first */
        {"op1", "L0:1 L1:0 L1:1 L0:0", 4},   /* n0 and n3 tie at -1 */
    };
    for (size_t i = 0; i < PX_LEN(cases); i++)
        for (int pooled = 0; pooled < 2; pooled++) {
            px_suspicious *list = rank(spectrum, cases[i].measure, cases[i].k, pooled);
            const char *got = neurons_text(list, pooled ? PX_POOLED : 0);
            if (strcmp(got, cases[i].order) != 0)
                fail_msg("%s: %s instead of %s", cases[i].measure, got, cases[i].order);
            assert_string_equal(list->measure, cases[i].measure);
            assert_int_equal(list->items[0].rank, 1);
            assert_int_equal(list->items[1].rank, 2);
            assert_int_equal(list->items[0].hits.af, 3);
            px_suspicious_free(list);
        }
    px_spectrum_free(spectrum);
}

/* D* is infinite for neurons that are active on all failing inputs and on no other. In one spectrum
 * they all have af = F, so the rule by af is looked at by itself. */
static void test_infinite_scores(void **state)
{
    (void)state;
    px_spectrum *spectrum = empty_spectrum((const int64_t[]){3, 2, 0}, 1);
    set_class(spectrum, 0, 4, 3, (const uint32_t[]){0, 1, 0, 4, 0},
              (const uint32_t[]){3, 3, 3, 3, 0});
    px_suspicious *list = rank(spectrum, "dstar", 5, false);
    /* L0:0 and L0:2 are infinite and tie; then L0:1 27/1, L1:0 27/4, L1:1 0 */
    assert_string_equal(neurons_text(list, 0), "L0:0 L0:2 L0:1 L1:0 L1:1");
    assert_true(isinf(list->items[0].score) && isinf(list->items[1].score));
    px_suspicious_free(list);
    px_spectrum_free(spectrum);

    const pxi_scored a = {.score = INFINITY, .af = 2}, b = {.score = INFINITY, .af = 5},
                     c = {.score = 1e300, .af = 9};
    assert_true(pxi_scored_compare(&b, &a) < 0); /* more failing inputs first */
    assert_true(pxi_scored_compare(&a, &c) < 0);
    assert_int_equal(pxi_scored_compare(&a, &a), 0);
}

static void test_ties(void **state)
{
    (void)state;
    px_spectrum *spectrum = empty_spectrum((const int64_t[]){2, 3, 1, 0}, 1);
    const uint32_t same[6] = {1, 1, 1, 1, 1, 1};
    set_class(spectrum, 0, 2, 2, same, same);
    px_suspicious *list = rank(spectrum, "ochiai", 6, false);
    assert_string_equal(neurons_text(list, 0), "L2:0 L1:0 L1:1 L1:2 L0:0 L0:1");
    px_suspicious_free(list);
    px_spectrum_free(spectrum);
}

/* Neurons that are active on (almost) all inputs, on none or on a few have a score and no place. */
static void test_uninformative(void **state)
{
    (void)state;
    static const struct {
        const char *what;
        px_hits hits;
        px_activity activity;
        bool ranked, suspect;
    } cases[] = {
        {"on all", {900, 100, 0, 0}, PX_ACTIVE_ALWAYS, false, false},
        {"on 99.1%", {891, 100, 9, 0}, PX_ACTIVE_ALWAYS, false, false},
        {"on 99%", {890, 100, 10, 0}, PX_ACTIVE_SOMETIMES, true, false},
        {"on none", {0, 0, 900, 100}, PX_ACTIVE_NEVER, false, false},
        {"on 0.9%", {0, 9, 900, 91}, PX_ACTIVE_NEVER, false, true},
        {"on 1%", {0, 10, 900, 90}, PX_ACTIVE_SOMETIMES, true, true},
        {"half, as often wrong as over all", {450, 50, 450, 50}, PX_ACTIVE_SOMETIMES, true, false},
        {"half, most of the wrong ones", {410, 90, 490, 10}, PX_ACTIVE_SOMETIMES, true, true},
        {"4 of 5 wrong, of 200", {1, 4, 179, 16}, PX_ACTIVE_SOMETIMES, false, true},
        {"3 of 4 wrong, of 30", {1, 3, 24, 2}, PX_ACTIVE_SOMETIMES, true, true},
        {"2 of 20 wrong, of 1000 with 3", {18, 2, 979, 1}, PX_ACTIVE_SOMETIMES, true, false},
        {"no input at all", {0, 0, 0, 0}, PX_ACTIVE_NEVER, false, false},
    };
    for (size_t i = 0; i < PX_LEN(cases); i++)
        if (px_hits_activity(&cases[i].hits) != cases[i].activity ||
            px_hits_ranked(&cases[i].hits) != cases[i].ranked ||
            px_hits_suspect(&cases[i].hits) != cases[i].suspect)
            fail_msg("%s: activity %d, ranked %d, suspect %d", cases[i].what,
                     (int)px_hits_activity(&cases[i].hits), px_hits_ranked(&cases[i].hits),
                     px_hits_suspect(&cases[i].hits));

    /* of 1000 inputs, 100 wrong: always, mostly right, never, mostly wrong, 9 of 9 */
    px_spectrum *spectrum = empty_spectrum((const int64_t[]){2, 3, 0}, 1);
    set_class(spectrum, 0, 900, 100, (const uint32_t[]){900, 500, 0, 400, 0},
              (const uint32_t[]){100, 10, 0, 90, 9});
    px_suspicious *all = rank(spectrum, "ochiai", 5, true), *list = NULL;
    px_rank_options options = px_rank_options_default();
    px_error err = {0};
    assert_string_equal(neurons_text(all, PX_POOLED), "L1:1 L0:0 L1:2 L0:1 L1:0");
    options.pooled = true;
    assert_int_equal(px_suspicious_rank(spectrum, &options, &list, &err), PX_OK);
    assert_string_equal(neurons_text(list, PX_POOLED), "L1:1 L0:1");
    assert_true(list->items[0].score == all->items[0].score); /* places differ, scores do not */
    assert_true(list->items[1].score == all->items[3].score);
    const px_activity_counts counts = px_spectrum_activity(spectrum, PX_POOLED);
    assert_int_equal(counts.always, 1);
    assert_int_equal(counts.never, 2);
    assert_int_equal(counts.sometimes, 2);
    px_suspicious_free(all);
    px_suspicious_free(list);
    px_spectrum_free(spectrum);

    list = NULL; /* where nothing is left, it says so */
    spectrum = empty_spectrum((const int64_t[]){2, 0}, 1);
    set_class(spectrum, 0, 90, 10, (const uint32_t[]){90, 0}, (const uint32_t[]){10, 0});
    assert_int_equal(px_suspicious_rank(spectrum, &options, &list, &err), PX_E_INPUT);
    assert_non_null(strstr(err.message, "no neuron tells right answers from wrong ones"));
    assert_null(list);
    px_spectrum_free(spectrum);
}

/* Reference: scipy.stats.binomtest(af, af + as).proportion_ci(method="wilson"). */
static void test_interval(void **state)
{
    (void)state;
    static const struct {
        px_hits hits;
        double low, high;
    } cases[] = {
        {{1, 4, 50, 5}, 0.375535, 0.963776}, {{0, 3, 50, 5}, 0.438503, 1.0},
        {{10, 0, 50, 5}, 0.0, 0.277533},     {{4126, 734, 4972, 168}, 0.141237, 0.161371},
        {{0, 0, 50, 5}, 0.0, 1.0},
    };
    for (size_t i = 0; i < PX_LEN(cases); i++) {
        double low = -1.0, high = -1.0;
        px_hits_interval(&cases[i].hits, &low, &high);
        if (fabs(low - cases[i].low) > 1e-6 || fabs(high - cases[i].high) > 1e-6)
            fail_msg("case %zu: %.6f to %.6f", i, low, high);
    }
}

static void test_classes(void **state)
{
    (void)state;
    const uint32_t as[2] = {1, 4}, af[2] = {2, 0}, none[2] = {0, 0};
    px_spectrum *spectrum = empty_spectrum((const int64_t[]){2, 0}, 5);
    set_class(spectrum, 1, 4, 2, as, af);
    set_class(spectrum, 2, 4, 0, as, none); /* none fails */
    set_class(spectrum, 3, 0, 2, none, af); /* none passes */
    set_class(spectrum, 4, 4, 2, as, af);
    static const bool ranks[5] = {false, true, false, false, true};
    for (int c = 0; c < 5; c++)
        assert_int_equal(px_spectrum_ranks(spectrum, c), ranks[c]);
    px_suspicious *list = rank(spectrum, "ochiai", 1000, false); /* more than there are: all */
    assert_int_equal(list->count, 4);
    for (int c = 0; c < 5; c++)
        assert_string_equal(neurons_text(list, c), ranks[c] ? "L0:0 L0:1" : "");
    px_suspicious_free(list);

    list = rank(spectrum, "ochiai", 1, true); /* all classes together */
    assert_int_equal(list->items[0].hits.as, 3);
    assert_int_equal(list->items[0].hits.af, 6);
    assert_int_equal(list->items[0].hits.ns, 9);
    assert_int_equal(list->items[0].hits.nf, 0);
    for (int c = PX_POOLED; c < 5; c++)
        assert_string_equal(neurons_text(list, c), "L0:0"); /* for every class */
    px_suspicious_free(list);
    px_spectrum_free(spectrum);
}

static void test_refusals(void **state)
{
    (void)state;
    const uint32_t some[2] = {1, 1}, none[2] = {0, 0};
    static const struct {
        const char *says;
        int64_t passed[2], failed[2]; /* of two classes */
    } cases[] = {
        {"the spectrum has not seen any input", {0, 0}, {0, 0}},
        {"no failing input: the network is right on all 5 inputs, so no neuron can be suspected; "
         "give more inputs, or harder ones ('plexor mutate' makes them)",
         {2, 3},
         {0, 0}},
        {"no passing input: the network is wrong on all 3 inputs; see what 'plexor eval' says "
         "about "
         "labels and preprocessing",
         {0, 0},
         {1, 2}},
        {"no class has both failing and passing inputs (1 and 1 in all); give more inputs, or rank "
         "over all classes (--pooled)",
         {1, 0},
         {0, 1}},
    };
    px_rank_options options = px_rank_options_default();
    for (size_t i = 0; i < PX_LEN(cases); i++) {
        px_spectrum *spectrum = empty_spectrum((const int64_t[]){2, 0}, 2);
        px_suspicious *list = NULL;
        px_error err = {0};
        for (int c = 0; c < 2; c++)
            set_class(spectrum, c, cases[i].passed[c], cases[i].failed[c],
                      cases[i].passed[c] ? some : none, cases[i].failed[c] ? some : none);
        assert_int_equal(px_suspicious_rank(spectrum, &options, &list, &err), PX_E_INPUT);
        assert_string_equal(err.message, cases[i].says);
        assert_null(list);
        px_spectrum_free(spectrum);
    }
    px_spectrum *spectrum = example_spectrum(1);
    px_suspicious *list = NULL;
    for (int i = 0; i < 4; i++) {
        px_rank_options wrong = px_rank_options_default();
        wrong.k = i == 0 ? 0 : 1;
        wrong.star = i == 1 ? 0.0 : i == 2 ? (double)NAN : 3.0;
        wrong.measure = i == 3 ? "x" : "dstar";
        assert_int_equal(px_suspicious_rank(spectrum, &wrong, &list, NULL), PX_E_USAGE);
    }
    px_spectrum_free(spectrum);
}

static void test_layers_text(void **state)
{
    (void)state;
    px_spectrum *spectrum = example_spectrum(1);
    px_suspicious *list = rank(spectrum, "ochiai", 4, false);
    char *layers = px_suspicious_layers(list);
    assert_string_equal(layers, "#0,#1");
    free(layers);
    px_suspicious_free(list);
    px_spectrum_free(spectrum);
}

/* A suspect is found in a probe with another tap, and only in the network it belongs to. */
static void test_find_in_probe(void **state)
{
    (void)state;
    px_model *model = small_net(3, 4);
    px_probe_options options = px_probe_options_default();
    px_probe *probe = NULL;
    px_error err = {0};
    size_t layer = 99;
    options.tap = PX_TAP_PRE;
    assert_int_equal(px_probe_new(model, &options, &probe, &err), PX_OK);
    const px_layer *second = px_probe_layer(probe, 1);
    px_suspect suspect = {.layer = second->name, .position = second->position, .unit = 5};
    assert_int_equal(px_suspect_find(&suspect, probe, &layer, &err), PX_OK);
    assert_int_equal(layer, 1);
    suspect.unit = second->neuron_count;
    assert_int_equal(px_suspect_find(&suspect, probe, &layer, &err), PX_E_MISMATCH);
    suspect.unit = 0;
    suspect.layer = "other";
    assert_int_equal(px_suspect_find(&suspect, probe, &layer, &err), PX_E_MISMATCH);
    suspect.position = 1000;
    assert_int_equal(px_suspect_find(&suspect, probe, &layer, &err), PX_E_MISMATCH);
    px_probe_free(probe);
    px_model_free(model);
}

static double overlap(const px_suspicious *a, const px_suspicious *b, int c)
{
    double out = 0.0;
    px_error err = {0};
    if (px_suspicious_overlap(a, b, c, &out, &err) != PX_OK)
        fail_msg("%s", err.message);
    return out;
}

static double matrix[32 * 32];

static void correlations(const px_spectrum *spectrum, int c)
{
    px_error err = {0};
    assert_true(px_measure_count() <= 32);
    if (px_measures_spearman(spectrum, c, 3.0, matrix, &err) != PX_OK)
        fail_msg("%s", err.message);
}

static double correlation(const char *a, const char *b)
{
    const size_t i = (size_t)(px_measure_find(a) - px_measure_get(0)),
                 j = (size_t)(px_measure_find(b) - px_measure_get(0));
    return matrix[i * px_measure_count() + j];
}

static void test_comparisons(void **state)
{
    (void)state;
    px_spectrum *spectrum = example_spectrum(2);
    px_suspicious *a = rank(spectrum, "ochiai", 2, false), *b = rank(spectrum, "ample", 2, false);
    assert_string_equal(neurons_text(b, 0), "L1:1 L0:1");
    assert_true(overlap(a, a, 0) == 1.0);
    assert_true(overlap(a, b, 0) == 0.5);
    assert_true(isnan(overlap(a, b, 1)));
    /* jaccard and dice rank alike; from the lowest, ochiai has n3 n0 n2 n1 and ample n0 n2 n1 n3 */
    correlations(spectrum, 0);
    assert_true(fabs(correlation("ochiai", "ochiai") - 1.0) < 1e-12);
    assert_true(fabs(correlation("jaccard", "dice") - 1.0) < 1e-12);
    assert_true(fabs(correlation("ochiai", "ample") - (1.0 - 6.0 * (1 + 1 + 1 + 9) / 60.0)) <
                1e-12);
    assert_true(correlation("ample", "ochiai") == correlation("ochiai", "ample"));
    correlations(spectrum, 1); /* no inputs */
    assert_true(isnan(correlation("ochiai", "ochiai")));
    px_suspicious_free(a);
    px_suspicious_free(b);
    px_spectrum_free(spectrum);

    /* infinite scores have ranks too; op1 is the same for all */
    spectrum = empty_spectrum((const int64_t[]){3, 0}, 1);
    set_class(spectrum, 0, 2, 2, (const uint32_t[]){0, 1, 2}, (const uint32_t[]){2, 2, 1});
    correlations(spectrum, 0);
    assert_true(fabs(correlation("dstar", "ochiai") - 1.0) < 1e-12);
    set_class(spectrum, 0, 2, 2, (const uint32_t[]){0, 1, 2}, (const uint32_t[]){1, 1, 1});
    correlations(spectrum, 0);
    assert_true(isnan(correlation("op1", "ochiai")));
    px_spectrum_free(spectrum);
}

/* Means over the classes that have a ranking: of one class those of that class; of two alike the
 * same again; a class without inputs does not count. */
static void test_rankings(void **state)
{
    (void)state;
    const px_rank_options options = {.star = 3.0, .k = 2, .include_uninformative = true};
    const size_t count = px_measure_count();
    const size_t ochiai = (size_t)(px_measure_find("ochiai") - px_measure_get(0));
    const size_t ample = (size_t)(px_measure_find("ample") - px_measure_get(0));
    for (int classes = 1; classes <= 2; classes++) {
        px_spectrum *spectrum = example_spectrum(classes);
        px_suspicious *list = rank(spectrum, "ochiai", 2, false);
        px_rankings r = {0};
        px_error err = {0};
        if (px_rankings_compare(spectrum, &options, list, &r, &err) != PX_OK)
            fail_msg("%s", err.message);
        correlations(spectrum, 0);
        assert_int_equal(r.overlap.rows, count);
        assert_int_equal(r.spearman.columns, count);
        for (size_t i = 0; i < count; i++) {
            assert_string_equal(r.overlap.names[i], px_measure_get(i)->entry.id);
            assert_string_equal(r.lists[i]->measure, px_measure_get(i)->entry.id);
            assert_true(r.overlap.values[i * count + i] == 1.0);
            assert_true(r.beside[i] == overlap(list, r.lists[i], 0));
            for (size_t j = 0; j < count; j++) {
                const double want = matrix[i * count + j], got = r.spearman.values[i * count + j];
                assert_true(got == want || (isnan(got) && isnan(want)));
            }
        }
        assert_true(r.overlap.values[ochiai * count + ample] == 0.5);
        assert_true(r.overlap.values[ample * count + ochiai] == 0.5);
        px_rankings_done(&r);
        assert_null(r.lists);
        px_rankings_done(&r); /* nothing is left */
        px_suspicious_free(list);
        px_spectrum_free(spectrum);
    }
}

static void test_in_layer(void **state)
{
    (void)state;
    px_spectrum *spectrum = example_spectrum(1);
    px_suspicious *list = rank(spectrum, "ochiai", 3, false);
    int64_t sum = 0;
    for (size_t l = 0; l < px_spectrum_layer_count(spectrum); l++) {
        const px_spectrum_layer *layer = px_spectrum_layer_get(spectrum, l);
        int64_t count = 0;
        for (size_t i = 0; i < list->count; i++)
            count += strcmp(list->items[i].layer, layer->name) == 0;
        assert_int_equal(px_suspicious_in_layer(list, layer), count);
        sum += count;
    }
    assert_int_equal(sum, 3);
    px_suspicious_free(list);
    px_spectrum_free(spectrum);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_example),       cmocka_unit_test(test_infinite_scores),
        cmocka_unit_test(test_ties),          cmocka_unit_test(test_uninformative),
        cmocka_unit_test(test_interval),      cmocka_unit_test(test_classes),
        cmocka_unit_test(test_refusals),      cmocka_unit_test(test_layers_text),
        cmocka_unit_test(test_find_in_probe), cmocka_unit_test(test_comparisons),
        cmocka_unit_test(test_rankings),      cmocka_unit_test(test_in_layer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
