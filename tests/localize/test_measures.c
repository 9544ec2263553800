/* tests/localize/test_measures.c - the 19 measures: the example of LGR A.11 and the
 * rules for zeros (LGR A.3) */
/* SPDX-License-Identifier: Apache-2.0 */
#include "localize_helpers.h"

#include "base/memory.h"

#include <internal/localize.h>
#include <math.h>
#include <string.h>

/* What LGR A.11 prints; the measures that it leaves out were worked by hand. */
static const struct {
    const char *id;
    double score[4];
} example[] = {
    {"tarantula", {.526316, .625, .555556, .294118}},
    {"ochiai", {.516398, .707107, .654654, .258199}},
    {"dstar", {2, 9, 6.75, .166667}},
    {"barinel", {.4, .5, .428571, .2}},
    {"op2", {1.5, 2.5, 2.333333, .333333}},
    {"op1", {-1, 2, 1, -1}},
    {"jaccard", {.333333, .5, .428571, .142857}},
    {"dice", {.5, .666667, .6, .25}},
    {"zoltar", {.00013328, .5, .42857143, .0000125}},
    {"kulczynski2", {.533333, .75, .714286, .266667}},
    {"overlap", {.666667, 1, 1, .333333}},
    {"ample", {.066667, .4, .2, .466667}},
    {"wong2", {-1, 0, -1, -3}},
    {"wong3", {-.1, .9, .8, -1.2}},
    {"gp13", {2.25, 3.333333, 3.272727, 1.111111}},
    {"mccon", {.066667, .5, .428571, -.466667}},
    {"rogers-tanimoto", {.333333, .454545, .333333, .142857}},
    {"simple-matching", {.5, .625, .5, .25}},
    {"m2", {.166667, .272727, .25, .071429}},
};

static void test_example(void **state)
{
    (void)state;
    static const px_hits hits[4] = {{3, 2, 2, 1}, {3, 3, 2, 0}, {4, 3, 1, 0}, {4, 1, 1, 2}};
    px_spectrum *spectrum = example_spectrum(1);
    for (int64_t n = 0; n < 4; n++) {
        const px_hits got = px_spectrum_hits(spectrum, 0, n);
        if (got.as != hits[n].as || got.af != hits[n].af || got.ns != hits[n].ns ||
            got.nf != hits[n].nf)
            fail_msg("neuron %d: as %d af %d ns %d nf %d", (int)n, (int)got.as, (int)got.af,
                     (int)got.ns, (int)got.nf);
    }
    assert_int_equal(px_measure_count(), PX_LEN(example)); /* every measure has its row */
    for (size_t i = 0; i < PX_LEN(example); i++) {
        const px_measure *measure = px_measure_find(example[i].id);
        double scores[4];
        if (!measure)
            fail_msg("there is no '%s'", example[i].id);
        px_measure_scores(measure, PX_STAR_DEFAULT, spectrum, 0, scores);
        for (int n = 0; n < 4; n++)
            if (fabs(scores[n] - example[i].score[n]) > 1e-6)
                fail_msg("%s of neuron %d: %.9g instead of %g", example[i].id, n, scores[n],
                         example[i].score[n]);
    }
    px_spectrum_free(spectrum);
}

/* Score of every measure where counts are 0, in the order of the table above. */
static const struct {
    const char *name;
    px_hits hits;
    double score[PX_LEN(example)];
} zeros[] = {
    {"never active",
     {0, 0, 5, 3},
     {0, 0, 0, 0, 0, -1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 5.0 / 11, 5.0 / 8, 0}},
    {"active on every passing input and no failing one",
     {5, 0, 0, 3},
     {0, 0, 0, 0, -5.0 / 6, -1, 0, 0, 0, 0, 0, 1, -5, -2.3, 0, -1, 0, 0, 0}},
    {"active on exactly the failing ones",
     {0, 3, 5, 0},
     {1, 1, INFINITY, 1, 3, 5, 1, 1, 1, 1, 1, 1, 3, 3, 4, 1, 1, 1, 3.0 / 8}},
    {"always active",
     {5, 3, 0, 0},
     {.5, 0.612372435695794, 27.0 / 5, 3.0 / 8, 3 - 5.0 / 6, 0, 3.0 / 8, 6.0 / 11, 3.0 / 8,
      (1 + 3.0 / 8) / 2, 1, 0, -2, 3 - 2.3, 3 * (1 + 1.0 / 13), 3.0 / 8, 3.0 / 13, 3.0 / 8,
      3.0 / 13}},
    {"nothing at all", {0, 0, 0, 0}, {0}},
};

static void test_zeros(void **state)
{
    (void)state;
    for (size_t i = 0; i < PX_LEN(zeros); i++)
        for (size_t m = 0; m < PX_LEN(example); m++) {
            const double got =
                px_measure_find(example[m].id)->score(&zeros[i].hits, PX_STAR_DEFAULT);
            const double want = zeros[i].score[m];
            if (isinf(want) ? got != want : !(fabs(got - want) < 1e-12))
                fail_msg("%s, %s: %.17g instead of %.17g", example[m].id, zeros[i].name, got, want);
        }
}

static void test_steps_of_wong3(void **state)
{
    (void)state;
    static const double h[][2] = {{1, 1}, {2, 2}, {3, 2.1}, {10, 2.8}, {11, 2.801}, {110, 2.9}};
    for (size_t i = 0; i < PX_LEN(h); i++) {
        const px_hits hits = {.as = (int64_t)h[i][0], .af = 4};
        const double got = 4 - px_measure_find("wong3")->score(&hits, 1.0);
        if (fabs(got - h[i][1]) > 1e-12)
            fail_msg("h(%g) is %g", h[i][0], got);
    }
}

static void test_star(void **state)
{
    (void)state;
    const px_hits hits = {.as = 3, .af = 2, .ns = 2, .nf = 1};
    assert_true(px_measure_find("dstar")->score(&hits, 2.0) == 1.0);
    assert_true(px_measure_find("dstar")->score(&hits, 4.0) == 4.0);
}

/* Hits in the same proportions have the same score to the bit, or ties would be broken by rounding:
 * 1/sqrt(7 * 3) and 3/sqrt(7 * 27) are the same number. */
static void test_ties_are_exact(void **state)
{
    (void)state;
    static const struct {
        const char *id;
        px_hits a, b;
    } cases[] = {
        {"ochiai", {2, 1, 40, 6}, {24, 3, 18, 4}},
        {"tarantula", {2, 1, 19, 6}, {6, 3, 15, 4}},
        {"barinel", {2, 1, 19, 6}, {6, 3, 15, 4}},
        {"kulczynski2", {2, 2, 5, 2}, {8, 4, 5, 2}}, /* (1/2 + 1/2) / 2; (2/3 + 1/3) / 2 */
        {"ample", {3, 1, 7, 4}, {5, 2, 5, 3}},       /* |1/5 - 3/10| = |2/5 - 5/10| */
    };
    for (size_t i = 0; i < PX_LEN(cases); i++) {
        const px_measure *m = px_measure_find(cases[i].id);
        const double x = m->score(&cases[i].a, 3.0), y = m->score(&cases[i].b, 3.0);
        if (x != y)
            fail_msg("%s: %.17g and %.17g", cases[i].id, x, y);
    }
}

static void test_names(void **state)
{
    (void)state;
    const px_measure *found = NULL;
    px_error err = {0};
    assert_null(px_measure_find("ochai"));
    assert_int_equal(px_measure_choose("ochai", &found, &err), PX_E_USAGE);
    assert_string_equal(err.message,
                        "there is no measure 'ochai', did you mean 'ochiai'; 'plexor list "
                        "measures' names them");
    assert_int_equal(px_measure_choose("dstar", &found, &err), PX_OK);
    assert_ptr_equal(found, px_measure_find("dstar"));
    assert_null(px_measure_get(px_measure_count()));
    for (size_t i = 0; i < px_measure_count(); i++) {
        const px_measure *m = px_measure_get(i);
        assert_ptr_equal(px_measure_find(m->entry.id), m); /* ids are unique */
        assert_true(*m->entry.title && *m->formula && *m->entry.source);
    }
}

static void test_undefined(void **state)
{
    (void)state;
    px_spectrum *spectrum = example_spectrum(2);
    double scores[4];
    px_measure_scores(px_measure_find("ochiai"), 3.0, spectrum, 1, scores); /* no inputs */
    for (int n = 0; n < 4; n++)
        assert_true(isnan(scores[n]));
    px_measure_scores(px_measure_find("ochiai"), 3.0, spectrum, PX_POOLED, scores);
    assert_true(fabs(scores[1] - .707107) < 1e-6);
    px_spectrum_free(spectrum);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_example),        cmocka_unit_test(test_zeros),
        cmocka_unit_test(test_steps_of_wong3), cmocka_unit_test(test_star),
        cmocka_unit_test(test_ties_are_exact), cmocka_unit_test(test_names),
        cmocka_unit_test(test_undefined),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
