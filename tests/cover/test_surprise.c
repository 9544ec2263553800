/* tests/cover/test_surprise.c - scores of surprise adequacy by hand: TV-A8 and the rules at its
 * edges */
/* SPDX-License-Identifier: Apache-2.0 */
#include "surprise_helpers.h"

static void option_from_input(px_surprise_options *o)
{
    o->from_input = true;
}

static void option_squared(px_surprise_options *o)
{
    o->squared = true;
}

static void option_pseudo(px_surprise_options *o)
{
    o->squared = o->pseudo = true;
}

static void option_top(px_surprise_options *o)
{
    o->filter = PX_FILTER_TOP; /* 300 columns are all there are */
}

static void option_global(px_surprise_options *o)
{
    o->filter = PX_FILTER_GLOBAL;
}

static void option_kernel(px_surprise_options *o)
{
    o->bandwidth = 0.2;
}

static const struct {
    const char *name;
    px_surprise_method method;
    void (*option)(px_surprise_options *options);
    double want[4]; /* NaN: not printed in CSM TV-A8 */
    double relative;
} a8_cases[] = {
    {"LSA", PX_LSA, NULL, {1.728352479, 13.243508981, 1.486617671, 4805.054286483}, 1e-9},
    {"LSA of the top columns",
     PX_LSA,
     option_top,
     {1.728352479, 13.243508981, 1.486617671, 4805.054286483},
     1e-9},
    {"DSA", PX_DSA, NULL, {0.125, 0.620173673, 0, -1}, 1e-9},
    {"DSA, global filter", PX_DSA, option_global, {0.125, 0.620173673, 0, -1}, 1e-9},
    {"DSA from x", PX_DSA, option_from_input, {0.142857143, 1.581138830, 0, -1}, 1e-9},
    {"DSA of squares", PX_DSA, option_squared, {0.015625, 5.0 / 13.0, 0, -1}, 1e-9},
    {"MDSA", PX_MDSA, NULL, {0.408248290, 5.099019514, 1.414213562, -1}, 1e-9},
    {"MDSA squared", PX_MDSA, option_squared, {1.0 / 6.0, 26, 2, -1}, 1e-9},
    {"MDSA by pseudo-inverse", PX_MDSA, option_pseudo, {1.0 / 6.0, 26, 2, -1}, 1e-9},
    {"LSA, fixed kernel",
     PX_LSA,
     option_kernel,
     {5.092144792851881, 62.72843915397524, 0.00528814936857902, -1},
     1e-9},
};

static void test_a8(void **state)
{
    (void)state;
    sample train = a8_train(), tests = a8_test();
    for (size_t i = 0; i < PX_LEN(a8_cases); i++) {
        px_surprise_options options = px_surprise_options_default(a8_cases[i].method);
        if (a8_cases[i].option)
            a8_cases[i].option(&options);
        double got[4];
        score_once(&train, &tests, 2, &options, got);
        for (int k = 0; k < 4; k++)
            if (a8_cases[i].want[k] >= 0 &&
                !close_to(got[k], a8_cases[i].want[k], a8_cases[i].relative))
                fail_msg("case '%s', test %d: %.12g, not %.12g", a8_cases[i].name, k, got[k],
                         a8_cases[i].want[k]);
    }
    sample_done(&train);
    sample_done(&tests);
}

static void test_a8_neighbours(void **state)
{
    (void)state;
    static const int64_t want[] = {0, 4, 8};
    static const double want_a[] = {0.707106781, 2.236067977, 0};
    static const double want_b[] = {5.656854249, 3.605551275, 5};
    sample train = a8_train(), tests = a8_test();
    const px_surprise_options options = px_surprise_options_default(PX_DSA);
    px_surprise *surprise = fit(&train, 2, &options);
    px_input_facts facts[3] = {{.predicted = 0}, {.predicted = 0}, {.predicted = 1}};
    const px_rows rows = {.count = 3, .width = 2, .values = tests.values, .facts = facts};
    int64_t nearest[3];
    double a[3], b[3];
    px_error err = {0};
    assert_int_equal(px_surprise_neighbours(surprise, &rows, 1, nearest, a, b, &err), PX_OK);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(nearest[i], want[i]); /* four tie for the first: the lowest index */
        assert_true(close_to(a[i], want_a[i], 1e-9) && close_to(b[i], want_b[i], 1e-9));
    }
    px_surprise_free(surprise);
    sample_done(&train);
    sample_done(&tests);
}

/* --- rules at the edges ---------------------------------------------------------------------- */

static void expect_failure(const sample *train, int classes, const px_surprise_options *options,
                           px_status want, const char *words)
{
    const px_traces traces = traces_of(train);
    px_surprise *surprise = NULL;
    px_error err = {0};
    const px_status status = px_surprise_new(&traces, classes, options, &surprise, &err);
    if (status != want || surprise || !strstr(err.message, words))
        fail_msg("status %d, '%s', not '%s'", (int)status, err.message, words);
}

static void test_unseen_and_rejected(void **state)
{
    (void)state;
    sample train = a8_train(), tests = a8_test();
    tests.predicted[0] = 2;  /* no traces */
    tests.predicted[1] = 7;  /* no such class */
    tests.predicted[2] = -1; /* no class */
    tests.values[6] = NAN;
    for (px_surprise_method method = PX_LSA; method <= PX_MLSA; method++) {
        const px_surprise_options options = px_surprise_options_default(method);
        double got[4];
        score_once(&train, &tests, 3, &options, got);
        assert_true(got[0] == INFINITY && got[1] == INFINITY && isnan(got[2]) && isnan(got[3]));
    }
    const px_surprise_options options = px_surprise_options_default(PX_MMDSA);
    double got[4]; /* goes by clusters, not by classes */
    score_once(&train, &tests, 3, &options, got);
    assert_true(isfinite(got[0]) && isfinite(got[2]) && isnan(got[3]));
    sample_done(&train);
    sample_done(&tests);
}

static void test_single_trace(void **state)
{
    (void)state;
    sample train = a8_train(), tests = a8_test();
    for (int i = 1; i < 5; i++)
        train.predicted[i] = 1;
    double got[4];
    px_surprise_options options = px_surprise_options_default(PX_LSA);
    score_once(&train, &tests, 2, &options, got);
    assert_true(got[0] == INFINITY && got[1] == INFINITY && isfinite(got[2]));
    options = px_surprise_options_default(PX_MLSA);
    score_once(&train, &tests, 2, &options, got);
    assert_true(got[0] == INFINITY && isfinite(got[2]));
    options = px_surprise_options_default(PX_MDSA);
    score_once(&train, &tests, 2, &options, got);
    assert_true(got[0] == INFINITY && isfinite(got[2]));
    tests.values[0] = tests.values[1] = 0.0f; /* the trace itself */
    score_once(&train, &tests, 2, &options, got);
    assert_true(got[0] == 0.0);
    sample_done(&train);
    sample_done(&tests);
}

static void test_zero_distance(void **state)
{
    (void)state;
    sample train = a8_train(), tests = a8_test();
    train.values[10] = train.values[11] = 1.0f; /* class 1 has a trace at (1, 1) too */
    tests.values[0] = tests.values[1] = 1.0f;
    tests.values[2] = tests.values[3] = 1.25f;
    px_surprise_options options = px_surprise_options_default(PX_DSA);
    double got[4];
    score_once(&train, &tests, 2, &options, got);
    assert_true(got[0] == 0.0 && got[1] == INFINITY);
    options.least_dist = 1e-6;
    score_once(&train, &tests, 2, &options, got);
    assert_true(got[0] == 0.0 && close_to(got[1], sqrt(0.125) * 1e6, 1e-12));
    sample_done(&train);
    sample_done(&tests);
}

static void test_refusals(void **state)
{
    (void)state;
    sample train = a8_train();
    px_surprise_options options = px_surprise_options_default(PX_DSA);
    for (int i = 0; i < 9; i++)
        train.predicted[i] = 1;
    expect_failure(&train, 2, &options, PX_E_INPUT, "all 9 traces are of one");
    for (int i = 0; i < 9; i++)
        train.predicted[i] = i % 2 ? -1 : 2;
    expect_failure(&train, 2, &options, PX_E_INPUT, "9 have no predicted class");
    options.filter = PX_FILTER_TOP;
    expect_failure(&train, 2, &options, PX_E_USAGE, "'top'");
    options = px_surprise_options_default(PX_LSA);
    expect_failure(&train, 0, &options, PX_E_INPUT, "no classifier");
    for (int i = 0; i < 9; i++)
        train.predicted[i] = 0;
    options.memory_bytes = 100;
    expect_failure(&train, 1, &options, PX_E_USAGE, "are allowed");
    options = px_surprise_options_default(PX_LSA);
    options.sample = 0.0;
    expect_failure(&train, 1, &options, PX_E_USAGE, "sample");
    train.count = 0;
    options.sample = 1.0;
    expect_failure(&train, 1, &options, PX_E_INPUT, "no training traces");
    sample_done(&train);
}

static void test_labels(void **state)
{
    (void)state;
    sample train = a8_train(), tests = a8_test();
    for (int i = 0; i < 4; i++) {
        tests.label[i] = tests.predicted[i];
        tests.predicted[i] = -1;
    }
    px_surprise_options options = px_surprise_options_default(PX_DSA);
    options.by = PX_SURPRISE_LABEL;
    double got[4];
    score_once(&train, &tests, 2, &options, got);
    assert_true(close_to(got[1], 0.620173673, 1e-9));

    px_surprise *surprise = fit(&train, 2, &options);
    px_input_facts facts = {.index = 17, .label = -1, .predicted = 0};
    const px_rows rows = {.count = 1, .width = 2, .values = tests.values, .facts = &facts};
    px_error err = {0};
    assert_int_equal(px_surprise_score(surprise, &rows, 1, got, &err), PX_E_INPUT);
    assert_non_null(strstr(err.message, "input 17 has no label"));
    const px_rows other = {.count = 1, .width = 3, .values = tests.values, .facts = &facts};
    assert_int_equal(px_surprise_score(surprise, &other, 1, got, &err), PX_E_MISMATCH);
    px_surprise_free(surprise);
    sample_done(&train);
    sample_done(&tests);
}

/* A column that does not vary in one class, and a class of one trace, which has no say. */
static void test_column_filter(void **state)
{
    (void)state;
    sample narrow = a8_train(), narrow_tests = a8_test();
    sample train = sample_new(10, 4), tests = sample_new(4, 4);
    for (int i = 0; i < 10; i++) {
        const int from = i < 9 ? i : 0;
        train.predicted[i] = i < 9 ? a8_class[i] : 2;
        train.values[i * 4 + 0] = a8_class[from] ? (float)i : 0.5f; /* constant in class 0 */
        train.values[i * 4 + 1] = a8_traces[from][0];
        train.values[i * 4 + 2] = 3.0f; /* constant */
        train.values[i * 4 + 3] = a8_traces[from][1];
    }
    for (int i = 0; i < 4; i++) {
        tests.predicted[i] = a8_predicted[i];
        tests.values[i * 4 + 0] = tests.values[i * 4 + 2] = 1000.0f;
        tests.values[i * 4 + 1] = a8_tests[i][0];
        tests.values[i * 4 + 3] = a8_tests[i][1];
    }
    px_surprise_options options = px_surprise_options_default(PX_LSA);
    double want[4], got[4];
    score_once(&narrow, &narrow_tests, 2, &options, want);
    score_once(&train, &tests, 3, &options, got);
    assert_memory_equal(got, want, sizeof got);

    options.variance = 100.0; /* nothing is left */
    px_surprise *surprise = fit(&train, 3, &options);
    score(surprise, &tests, 1, got);
    px_text text = {0};
    px_surprise_remark(surprise, &text);
    assert_true(got[0] == 0.0 && got[1] == 0.0 && got[2] == 0.0);
    assert_non_null(strstr(px_text_get(&text), "every input scores 0"));
    assert_non_null(strstr(px_text_get(&text), "single trace"));
    px_text_done(&text);
    px_surprise_free(surprise);

    options = px_surprise_options_default(PX_LSA);
    options.filter = PX_FILTER_TOP;
    options.columns = 2; /* class 0: as above; class 1: the one that counts up has most */
    score_once(&train, &tests, 3, &options, got);
    assert_true(got[0] == want[0] && got[1] == want[1] && got[2] > 1e3);
    sample_done(&narrow);
    sample_done(&narrow_tests);
    sample_done(&train);
    sample_done(&tests);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a8),
        cmocka_unit_test(test_a8_neighbours),
        cmocka_unit_test(test_unseen_and_rejected),
        cmocka_unit_test(test_single_trace),
        cmocka_unit_test(test_zero_distance),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_labels),
        cmocka_unit_test(test_column_filter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
