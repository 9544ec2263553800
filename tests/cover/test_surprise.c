/* tests/cover/test_surprise.c - scores of the surprise-adequacy methods, by hand and by brute force
 */
#include "base/memory.h"
#include "cmocka_all.h"

#include <math.h>
#include <plexor/rng.h>
#include <plexor/surprise.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 4096 };

typedef struct sample { /* traces or tests with their classes */
    int64_t count, width;
    float *values;
    int64_t *label, *predicted;
} sample;

static sample sample_new(int64_t count, int64_t width)
{
    sample s = {.count = count, .width = width};
    s.values = pxi_calloc((size_t)(count * width), sizeof *s.values);
    s.label = pxi_calloc((size_t)count, sizeof *s.label);
    s.predicted = pxi_calloc((size_t)count, sizeof *s.predicted);
    assert_true(s.values && s.label && s.predicted);
    for (int64_t i = 0; i < count; i++)
        s.label[i] = -1;
    return s;
}

static void sample_done(sample *s)
{
    free(s->values);
    free(s->label);
    free(s->predicted);
}

static px_traces traces_of(const sample *s)
{
    return (px_traces){.count = s->count,
                       .width = s->width,
                       .values = s->values,
                       .labels = s->label,
                       .predictions = s->predicted};
}

static px_surprise *fit(const sample *train, int classes, const px_surprise_options *options)
{
    const px_traces traces = traces_of(train);
    px_surprise *surprise = NULL;
    px_error err = {0};
    if (px_surprise_new(&traces, classes, options, &surprise, &err) != PX_OK)
        fail_msg("%s: %s", px_surprise_id(options->method), err.message);
    return surprise;
}

/* scores[tests->count]; threads as given. */
static void score(const px_surprise *surprise, const sample *tests, int threads, double *scores)
{
    px_input_facts *facts = pxi_calloc((size_t)tests->count, sizeof *facts);
    for (int64_t i = 0; i < tests->count; i++)
        facts[i] = (px_input_facts){
            .index = i, .label = tests->label[i], .predicted = (int)tests->predicted[i]};
    const px_rows rows = {
        .count = tests->count, .width = tests->width, .values = tests->values, .facts = facts};
    px_error err = {0};
    if (px_surprise_score(surprise, &rows, threads, scores, &err) != PX_OK)
        fail_msg("%s", err.message);
    free(facts);
}

static void score_once(const sample *train, const sample *tests, int classes,
                       const px_surprise_options *options, double *scores)
{
    px_surprise *surprise = fit(train, classes, options);
    score(surprise, tests, 1, scores);
    px_surprise_free(surprise);
}

static bool close_to(double got, double want, double relative)
{
    if (isnan(want) || isinf(want))
        return isnan(want) ? isnan(got) : got == want;
    return fabs(got - want) <= relative * fmax(1.0, fabs(want)) * (want == 0.0 ? 0.0 : 1.0) ||
           got == want;
}

/* --- TV-A8
 * -------------------------------------------------------------------------------------- */

static const float a8_traces[][2] = {
    {0, 0}, {1, 0}, {0, 1}, {1, 1}, {2, 1}, {4, 4}, {5, 4}, {4, 5}, {5, 5},
};
static const int a8_class[] = {0, 0, 0, 0, 0, 1, 1, 1, 1};
static const float a8_tests[][2] = {{.5f, .5f}, {3, 3}, {5, 5}, {40, 40}};
static const int a8_predicted[] = {0, 0, 1, 0};

static sample a8_train(void)
{
    sample s = sample_new(PX_LEN(a8_traces), 2);
    memcpy(s.values, a8_traces, sizeof a8_traces);
    for (size_t i = 0; i < PX_LEN(a8_class); i++)
        s.predicted[i] = s.label[i] = a8_class[i];
    return s;
}

static sample a8_test(void)
{
    sample s = sample_new(PX_LEN(a8_tests), 2);
    memcpy(s.values, a8_tests, sizeof a8_tests);
    for (size_t i = 0; i < PX_LEN(a8_predicted); i++)
        s.predicted[i] = a8_predicted[i];
    return s;
}

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

static void option_label(px_surprise_options *o)
{
    o->by = PX_SURPRISE_LABEL;
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
    double want[4]; /* NaN: not printed in the specification */
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

/* --- rules at the edges
 * ---------------------------------------------------------------------------- */

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
    option_label(&options);
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

/* --- random sets
 * ----------------------------------------------------------------------------------- */

static sample random_sample(uint32_t item, int64_t count, int64_t width, int classes, double offset,
                            double scale, int duplicates)
{
    sample s = sample_new(count, width);
    px_random random = px_rng(7, PX_RNG_TEST, item, 0);
    for (int64_t i = 0; i < count; i++) {
        s.predicted[i] = s.label[i] = px_rng_below(&random, (uint32_t)classes);
        const bool copy = i > 0 && duplicates > 0 && i % duplicates != 0;
        for (int64_t j = 0; j < width; j++)
            s.values[i * width + j] =
                copy ? s.values[(i - 1) * width + j]
                     : (float)(offset + scale * (px_rng_normal(&random) +
                                                 0.5 * (double)s.predicted[i] * (double)(j % 3)));
    }
    return s;
}

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
        cmocka_unit_test(test_a8),
        cmocka_unit_test(test_a8_neighbours),
        cmocka_unit_test(test_unseen_and_rejected),
        cmocka_unit_test(test_single_trace),
        cmocka_unit_test(test_zero_distance),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_labels),
        cmocka_unit_test(test_column_filter),
        cmocka_unit_test(test_dsa_is_exact),
        cmocka_unit_test(test_independence),
        cmocka_unit_test(test_ridge),
        cmocka_unit_test(test_pseudo),
        cmocka_unit_test(test_not_finite),
        cmocka_unit_test(test_lowest),
        cmocka_unit_test(test_mmdsa_clusters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
