/* tests/cover/test_surprise_sets.c - surprise adequacy on random sets: brute force, threads, ridges
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "surprise_helpers.h"

/* By definition, in double. */
static double dsa_brute(const sample *train, const float *row, int64_t predicted, int64_t *nearest)
{
    double near2 = INFINITY, other2 = INFINITY;
    *nearest = -1;
    for (int pass = 0; pass < 2; pass++) {
        const float *from = pass ? train->values + *nearest * train->width : row;
        for (int64_t i = 0; i < train->count; i++) {
            if ((train->predicted[i] == predicted) != (pass == 0))
                continue;
            double d2 = 0.0;
            for (int64_t j = 0; j < train->width; j++) {
                const double by = (double)from[j] - (double)train->values[i * train->width + j];
                d2 += by * by;
            }
            if (pass == 0 && d2 < near2 * (1 - 1e-14)) {
                near2 = d2;
                *nearest = i;
            } else if (pass == 1 && d2 < other2)
                other2 = d2;
        }
    }
    return other2 == 0.0 ? (near2 == 0.0 ? 0.0 : INFINITY) : sqrt(near2) / sqrt(other2);
}

static const struct {
    const char *name;
    int64_t traces, tests, width;
    int classes, duplicates;
    double offset, scale;
} random_cases[] = {
    {"plain", 700, 150, 20, 5, 0, 0, 1},
    {"one neuron", 500, 100, 1, 3, 0, 0, 1},
    {"wide", 300, 60, 700, 4, 0, 0, 1},
    {"more than a block of traces", 3000, 300, 9, 2, 0, 0, 1},
    {"far from 0", 600, 100, 30, 4, 1e6, 1, 1},
    {"duplicates", 1500, 200, 6, 3, 300, 0, 1},
    {"tiny", 400, 80, 12, 3, 0, 0, 1e-30},
    {"huge", 400, 80, 12, 3, 0, 0, 1e30},
    {"two traces", 2, 20, 3, 2, 0, 0, 1},
};

static void test_dsa_is_exact(void **state)
{
    (void)state;
    for (size_t c = 0; c < PX_LEN(random_cases); c++) {
        const char *name = random_cases[c].name;
        const int classes = random_cases[c].classes;
        sample train = random_sample((uint32_t)(2 * c), random_cases[c].traces,
                                     random_cases[c].width, classes, random_cases[c].offset,
                                     random_cases[c].scale, random_cases[c].duplicates);
        sample tests =
            random_sample((uint32_t)(2 * c + 1), random_cases[c].tests, random_cases[c].width,
                          classes, random_cases[c].offset, random_cases[c].scale, 0);
        if (random_cases[c].traces == 2)
            train.predicted[0] = 0, train.predicted[1] = 1;
        if (strcmp(name, "plain") == 0) /* a test far beyond all traces: too far for floats */
            for (int j = 0; j < 20; j++)
                tests.values[j] = 3e37f;
        memcpy(tests.values + random_cases[c].width, train.values,
               (size_t)random_cases[c].width * sizeof(float)); /* one is a trace */
        const px_surprise_options options = px_surprise_options_default(PX_DSA);
        px_surprise *surprise = fit(&train, classes, &options);
        double got[MOST], one[MOST], two[MOST];
        score(surprise, &tests, 1, got);
        for (int64_t i = 0; i < tests.count; i++) {
            int64_t nearest;
            const double want =
                dsa_brute(&train, tests.values + i * tests.width, tests.predicted[i], &nearest);
            if (nearest >= 0 && !close_to(got[i], want, 1e-12))
                fail_msg("case '%s', test %d: %.17g, not %.17g", name, (int)i, got[i], want);
        }
        score(surprise, &tests, 2, two); /* threads, and all memoised by now */
        for (int64_t i = 0; i < tests.count; i++) {
            sample single = tests;
            single.count = 1;
            single.values += i * tests.width;
            single.predicted += i;
            single.label += i;
            score(surprise, &single, 1, &one[i]);
        }
        assert_memory_equal(two, got, (size_t)tests.count * sizeof *got);
        assert_memory_equal(one, got, (size_t)tests.count * sizeof *got);
        px_surprise_free(surprise);
        sample_done(&train);
        sample_done(&tests);
    }
}

/* Every method: threads of fitting and scoring, and rows alone or together, give the same bits. */
static void test_independence(void **state)
{
    (void)state;
    sample train = random_sample(100, 900, 24, 4, 2, 1, 0);
    sample tests = random_sample(101, 333, 24, 4, 2, 1.5, 0);
    for (px_surprise_method method = PX_LSA; method <= PX_MMDSA; method++)
        for (int variant = 0; variant < 3; variant++) {
            px_surprise_options options = px_surprise_options_default(method);
            options.threads = 1;
            options.from_input = options.pseudo = variant == 1;
            options.sample = variant == 2 ? 0.5 : 1.0;
            px_surprise *a = fit(&train, 4, &options);
            options.threads = 3;
            px_surprise *b = fit(&train, 4, &options);
            double first[MOST], other[MOST];
            score(a, &tests, 1, first);
            score(b, &tests, 3, other);
            assert_memory_equal(first, other, 333 * sizeof *first);
            for (int64_t i = 0; i < tests.count; i++) {
                sample single = tests;
                single.count = 1;
                single.values += i * tests.width;
                single.predicted += i;
                single.label += i;
                score(b, &single, 1, &other[i]);
                assert_true(isfinite(first[i]) || method == PX_DSA);
            }
            if (memcmp(first, other, 333 * sizeof *first) != 0)
                fail_msg("%s: a row alone differs from the row among others",
                         px_surprise_id(method));
            px_surprise_free(a);
            px_surprise_free(b);
        }
    sample_done(&train);
    sample_done(&tests);
}

/* Fewer traces than neurons, and neurons that are copies: a ridge, and it is said. */
static void test_ridge(void **state)
{
    (void)state;
    static const px_surprise_method methods[] = {PX_LSA, PX_MDSA, PX_MMDSA};
    for (size_t k = 0; k < PX_LEN(methods); k++)
        for (int copies = 0; copies < 2; copies++) {
            sample train = random_sample(200, copies ? 300 : 12, 16, 2, 0, 1, 0);
            sample tests = random_sample(201, 50, 16, 2, 0, 1, 0);
            for (int64_t i = 0; copies && i < train.count; i++)
                train.values[i * 16 + 9] = train.values[i * 16 + 3];
            const px_surprise_options options = px_surprise_options_default(methods[k]);
            px_surprise *surprise = fit(&train, 2, &options);
            double got[MOST];
            score(surprise, &tests, 1, got);
            for (int64_t i = 0; i < tests.count; i++)
                assert_true(isfinite(got[i]));
            px_text text = {0};
            px_surprise_remark(surprise, &text);
            assert_non_null(strstr(px_text_get(&text), "ridge"));
            px_text_done(&text);
            px_surprise_free(surprise);
            sample_done(&train);
            sample_done(&tests);
        }
}

/* The pseudo-inverse forgets what the copy of a neuron says, the ridge does not. */
static void test_pseudo(void **state)
{
    (void)state;
    sample train = random_sample(300, 400, 9, 1, 0, 1, 0), plain = sample_new(400, 8);
    sample tests = random_sample(301, 40, 9, 1, 0, 1, 0), plain_tests = sample_new(40, 8);
    for (int64_t i = 0; i < 400; i++) {
        train.values[i * 9 + 8] = train.values[i * 9 + 2];
        memcpy(plain.values + i * 8, train.values + i * 9, 8 * sizeof(float));
    }
    for (int64_t i = 0; i < 40; i++) {
        tests.values[i * 9 + 8] = tests.values[i * 9 + 2];
        memcpy(plain_tests.values + i * 8, tests.values + i * 9, 8 * sizeof(float));
    }
    px_surprise_options options = px_surprise_options_default(PX_MDSA);
    double want[40], got[40];
    score_once(&plain, &plain_tests, 1, &options, want);
    options.pseudo = true;
    score_once(&train, &tests, 1, &options, got);
    for (int i = 0; i < 40; i++)
        assert_true(close_to(got[i], want[i], 1e-9));
    sample_done(&train);
    sample_done(&tests);
    sample_done(&plain);
    sample_done(&plain_tests);
}

static void test_not_finite(void **state)
{
    (void)state;
    sample train = random_sample(400, 200, 5, 2, 0, 1, 0), clean = sample_new(198, 5);
    sample tests = random_sample(401, 30, 5, 2, 0, 1, 0);
    train.values[3] = NAN;
    train.values[199 * 5] = INFINITY;
    memcpy(clean.values, train.values + 5, 198 * 5 * sizeof(float));
    memcpy(clean.predicted, train.predicted + 1, 198 * sizeof *clean.predicted);
    for (px_surprise_method method = PX_LSA; method <= PX_MDSA; method++) {
        const px_surprise_options options = px_surprise_options_default(method);
        double got[30], want[30];
        score_once(&clean, &tests, 2, &options, want);
        score_once(&train, &tests, 2, &options, got);
        assert_memory_equal(got, want, sizeof got);
    }
    sample_done(&train);
    sample_done(&clean);
    sample_done(&tests);
}

static void test_lowest(void **state)
{
    (void)state;
    sample train = random_sample(500, 300, 4, 2, 0, 1, 0);
    const px_surprise_options options = px_surprise_options_default(PX_LSA);
    px_surprise *surprise = fit(&train, 2, &options);
    double scores[300], want = INFINITY, got;
    score(surprise, &train, 1, scores);
    for (int i = 0; i < 300; i++)
        want = fmin(want, scores[i]);
    px_error err = {0};
    assert_int_equal(px_surprise_lowest(surprise, 2, &got, &err), PX_OK);
    assert_true(got == want);
    px_surprise_free(surprise);
    sample_done(&train);
}

/* Two clouds that are far apart are two clusters, and both have their own shape. */
static void test_mmdsa_clusters(void **state)
{
    (void)state;
    sample train = random_sample(600, 800, 6, 3, 0, 1, 0);
    for (int64_t i = 0; i < 800; i += 2)
        for (int j = 0; j < 6; j++)
            train.values[i * 6 + j] = train.values[i * 6 + j] * 0.1f + 50.0f;
    const px_surprise_options options = px_surprise_options_default(PX_MMDSA);
    px_surprise *surprise = fit(&train, 3, &options);
    assert_int_equal(px_surprise_clusters(surprise), 2);
    double scores[MOST];
    score(surprise, &train, 1, scores);
    double mean2 = 0.0; /* of squared Mahalanobis distances to the own cloud: d, exactly */
    for (int i = 0; i < 800; i++)
        mean2 += scores[i] * scores[i] / 800.0;
    assert_true(fabs(mean2 - 6.0) < 1e-6);
    px_surprise_free(surprise);
    for (int64_t i = 0; i < 800 * 6; i++)
        train.values[i] = 1.5f; /* nothing to tell apart */
    surprise = fit(&train, 3, &options);
    assert_int_equal(px_surprise_clusters(surprise), 1);
    score(surprise, &train, 1, scores);
    assert_true(scores[0] == 0.0);
    px_surprise_free(surprise);
    sample_done(&train);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dsa_is_exact),   cmocka_unit_test(test_independence),
        cmocka_unit_test(test_ridge),          cmocka_unit_test(test_pseudo),
        cmocka_unit_test(test_not_finite),     cmocka_unit_test(test_lowest),
        cmocka_unit_test(test_mmdsa_clusters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
