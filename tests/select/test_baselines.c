/* tests/select/test_baselines.c - selectors on rows that are written down */
/* SPDX-License-Identifier: Apache-2.0 */
#include "sel_helpers.h"

#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct expected {
    const char *id;
    const char *settings[4]; /* NULL-terminated */
    int64_t order[MOST];
    double scores[MOST]; /* by place; NaN: any */
} expected;

static void check(const expected *want, int64_t width, const table *train, const table *t,
                  int classes)
{
    sel s;
    px_error err = {0};
    double scores[MOST];
    int64_t order[MOST];
    sel_new(&s, want->id, want->settings, width, train, t->count, classes, false);
    if (sel_prepare(&s, &err) != PX_OK || sel_run(&s, t, scores, order, &err) != PX_OK)
        fail_msg("%s: %s", want->id, err.message);
    for (int64_t i = 0; i < t->count; i++) {
        const double got = scores[order[i]], wanted = want->scores[i];
        if (order[i] != want->order[i])
            fail_msg("%s %s: place %d has %d, not %d", want->id,
                     want->settings[0] ? want->settings[0] : "", (int)i, (int)order[i],
                     (int)want->order[i]);
        if (!isnan(wanted) && !(got == wanted || fabs(got - wanted) <= 1e-8 * fabs(wanted)))
            fail_msg("%s %s: place %d scores %.12g, not %.12g", want->id,
                     want->settings[0] ? want->settings[0] : "", (int)i, got, wanted);
    }
    px_text text = {0};
    if (s.selector->remark)
        s.selector->remark(s.prepared, &text);
    assert_false(px_text_failed(&text));
    px_text_done(&text);
    sel_done(&s);
}

/* CSM TV-A8 and B.5, with a class that training data lack and a row that is no number. */
static const table surprise_train = {
    .count = 9,
    .rows = {{0, 0}, {1, 0}, {0, 1}, {1, 1}, {2, 1}, {4, 4}, {5, 4}, {4, 5}, {5, 5}},
    .predicted = {0, 0, 0, 0, 0, 1, 1, 1, 1}};
static const table surprise_test = {.count = 5,
                                    .rows = {{.5f, .5f}, {3, 3}, {NAN, 1}, {5, 5}, {0, 0}},
                                    .predicted = {0, 0, 0, 1, 2}};

static void test_surprise(void **state)
{
    (void)state;
    static const expected cases[] = {
        {"dsa", {NULL}, {4, 1, 0, 3, 2}, {INFINITY, .6201736729, .125, 0, NAN}},
        {"lsa", {NULL}, {4, 1, 0, 3, 2}, {INFINITY, 13.243508981, 1.728352479, 1.486617671, NAN}},
        {"mdsa", {NULL}, {4, 1, 3, 0, 2}, {INFINITY, 5.099019514, 1.414213562, .408248290, NAN}},
        {"dsa", {"dsa.from=input"}, {4, 1, 0, 3, 2}, {INFINITY, 1.581138830, 1.0 / 7.0, 0, NAN}},
        /* one bucket: its first input, then the others by surprise; the infinite one is in none */
        {"dsa",
         {"dsa.order=sc-cam", "dsa.m=1"},
         {0, 4, 1, 3, 2},
         {.125, INFINITY, .6201736729, 0, NAN}},
        {"dsa",
         {"dsa.order=sc-cam", "dsa.m=8"},
         {0, 1, 4, 3, 2},
         {.125, .6201736729, INFINITY, 0, NAN}},
        {"lsa", {"lsa.order=sc-cam", "lsa.m=1"}, {0, 4, 1, 3, 2}, {NAN, INFINITY, NAN, NAN, NAN}},
    };
    for (size_t i = 0; i < PX_LEN(cases); i++)
        check(&cases[i], 2, &surprise_train, &surprise_test, 3);
}

static void test_same_data(void **state)
{
    (void)state;
    static const char *const ids[] = {"dsa", "lsa", "mdsa", "mlsa", "mmdsa"};
    for (size_t i = 0; i < PX_LEN(ids); i++) {
        sel s;
        px_error err = {0};
        sel_new(&s, ids[i], NULL, 2, &surprise_train, 9, 3, true);
        assert_int_equal(sel_prepare(&s, &err), PX_E_INPUT);
        assert_non_null(strstr(err.message, "--train"));
        sel_done(&s);
        sel_new(&s, ids[i], NULL, 2, &surprise_train, 9, 3, false);
        assert_int_equal(sel_prepare(&s, &err), PX_OK);
        sel_done(&s);
    }
}

/* The sets of CSM TV-B3 as neurons above 0.5, with a row that is no number. */
static void test_nac(void **state)
{
    (void)state;
    static const table rows = {.count = 6,
                               .rows = {{.6f, 1, 2, 0, 0, .5f},
                                        {1, 1, 1, -1, 0, 0},
                                        {NAN, 1, 1, 1, 1, 1},
                                        {0, 0, 0, 3, 4, 0},
                                        {0, 0, 0, 0, 0, .7f},
                                        {.1f, .2f, .3f, .4f, .45f, .49f}}};
    static const expected cases[] = {
        {"nac", {NULL}, {0, 3, 4, 1, 5, 2}, {3, 2, 1, 0, 0, NAN}},
        {"nac", {"nac.order=total"}, {0, 1, 3, 4, 5, 2}, {3, 3, 2, 1, 0, NAN}},
        {"nac", {"nac.rest=restart"}, {0, 3, 4, 1, 5, 2}, {3, 2, 1, 3, 0, NAN}},
        /* sigmoid above 0.5 is: above 0 */
        {"nac", {"nac.variant=sigmoid"}, {5, 0, 1, 3, 4, 2}, {6, 0, 0, 0, 0, NAN}},
        /* the most active neuron: 2; 0; 4; 5; 5 */
        {"nac", {"nac.elements=tknc"}, {0, 1, 3, 4, 5, 2}, {1, 1, 1, 1, 0, NAN}},
        {"nac", {"nac.elements=tknc", "nac.k=2"}, {0, 3, 4, 1, 5, 2}, {2, 2, 2, 0, 0, NAN}},
    };
    for (size_t i = 0; i < PX_LEN(cases); i++)
        check(&cases[i], 6, NULL, &rows, 0);
}

/* Two neurons of range 0..10 in five sections, as in CSM TV-A2, and one that never changes. */
static void test_kmnc(void **state)
{
    (void)state;
    static const table train = {.count = 2, .rows = {{0, 10, 1}, {10, 0, 1}}};
    static const table rows = {
        .count = 5, .rows = {{0, 12, 1}, {1, 3.9f, 1}, {1, 4, 1}, {10, 1, 2}, {-1, 13, 0}}};
    static const expected cases[] = {
        {"kmnc", {"kmnc.k=5"}, {1, 3, 2, 0, 4}, {2, 2, 1, 0, 0}},
        {"kmnc", {"kmnc.k=5", "kmnc.order=total"}, {1, 2, 3, 0, 4}, {2, 2, 2, 1, 0}},
        {"kmnc", {"kmnc.k=5", "kmnc.variant=half-open"}, {1, 2, 3, 0, 4}, {2, 1, 1, 0, 0}},
        /* corners: 1+; ; ; 2+; 0-, 1+, 2- */
        {"kmnc", {"kmnc.elements=nbc"}, {4, 3, 0, 1, 2}, {3, 1, 0, 0, 0}},
        {"kmnc", {"kmnc.elements=snac"}, {0, 3, 4, 1, 2}, {1, 1, 0, 0, 0}},
    };
    for (size_t i = 0; i < PX_LEN(cases); i++)
        check(&cases[i], 3, &train, &rows, 0);
}

static void test_ats(void **state)
{
    (void)state;
    static const table four = {.count = 4,
                               .rows = {{.5f, .3f, .1f, .1f},
                                        {.5f, .302f, .098f, .1f},
                                        {NAN, 0, 0, 1},
                                        {.45f, .4f, .1f, .05f}},
                               .predicted = {0, 0, 3, 0}};
    static const expected lines = {"ats", {NULL}, {3, 0, 1, 2}, {.01436, .01304, .00862, NAN}};
    check(&lines, 4, NULL, &four, 4);
    static const table two = {
        .count = 3, .rows = {{.5f, .5f}, {1, 0}, {.25f, .75f}}, .predicted = {0, 0, 1}};
    static const expected gini = {"ats", {NULL}, {0, 2, 1}, {.5, .375, 0}};
    check(&gini, 2, NULL, &two, 2);
    sel s;
    px_error err = {0};
    px_text text = {0};
    sel_new(&s, "ats", NULL, 2, NULL, 3, 2, false);
    assert_int_equal(sel_prepare(&s, &err), PX_OK);
    s.selector->remark(s.prepared, &text);
    assert_non_null(strstr(px_text_get(&text), "order of gini"));
    px_text_done(&text);
    sel_done(&s);
}

static void test_plain_scores(void **state)
{
    (void)state;
    static const table rows = {.count = 2, .rows = {{.7f, .2f, .1f}, {.4f, .35f, .25f}}};
    static const struct {
        const char *id, *setting;
        double want[2];
    } cases[] = {
        {"softmax", NULL, {.3, .6}},
        {"entropy", NULL, {1.156779649, 1.558871848}},
        {"pcs", NULL, {-.5, -.05}},
        {"gini", NULL, {.46, .655}},
        {"internal-gini", NULL, {.46, .655}},
        {"internal-gini", "internal-gini.norm=raw", {.46, .655}},
        {"internal-gini", "internal-gini.norm=softmax", {.640711764, .665403018}},
    };
    for (size_t i = 0; i < PX_LEN(cases); i++) {
        sel s;
        px_error err = {0};
        double scores[MOST];
        int64_t order[MOST];
        const char *const settings[] = {cases[i].setting, NULL};
        sel_new(&s, cases[i].id, settings, 3, NULL, 2, 3, false);
        assert_int_equal(sel_prepare(&s, &err), PX_OK);
        assert_int_equal(sel_run(&s, &rows, scores, order, &err), PX_OK);
        for (int k = 0; k < 2; k++)
            if (!(fabs(scores[k] - cases[i].want[k]) < 1e-6))
                fail_msg("%s: %.9g, not %.9g", cases[i].id, scores[k], cases[i].want[k]);
        sel_done(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_surprise), cmocka_unit_test(test_same_data),
        cmocka_unit_test(test_nac),      cmocka_unit_test(test_kmnc),
        cmocka_unit_test(test_ats),      cmocka_unit_test(test_plain_scores),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
