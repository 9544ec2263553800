/* tests/cover/test_crit_surprise.c - LSC, DSC, MDSC: buckets of surprise */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "crit_helpers.h"

#include <internal/cover.h>
#include <internal/surprise.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Every class has 1 and -1: mean 0, variance 1, and MDSA is |x|. */
static const float unit_traces[][1] = {{1}, {1}, {1}, {-1}, {-1}, {-1}};

/* TV-A8d */
static const float a8d[][1] = {{.05f}, {.12f}, {.13f}, {.5f}, {1.999f}, {2.0f}, {2.3f}};

static const struct {
    const char *name;
    const char *settings[5];
    int64_t covered, total;
    double value;
} a8d_cases[] = {
    {"canonical", {"mdsc.u=2", "mdsc.m=10"}, 3, 10, 0.3},
    {"overflow", {"mdsc.u=2", "mdsc.m=10", "mdsc.overflow=yes"}, 4, 11, 4.0 / 11.0},
    {"sadl", {"mdsc.u=2", "mdsc.m=10", "mdsc.form=sadl"}, 4, 10, 0.4},
    {"bucket size", {"mdsc.form=size", "mdsc.t=0.1"}, 6, 0, 6},
    {"dnn-tip", {"mdsc.form=dnn-tip", "mdsc.m=10"}, 4, 10, 0.4}, /* 0, 2, 8, 9 of [0, 2.3] */
    {"one edge", {"mdsc.u=2", "mdsc.m=1", "mdsc.form=sadl"}, 1, 1, 1},
    {"all at or above u", {"mdsc.u=0.01", "mdsc.m=10", "mdsc.form=sadl"}, 1, 10, 0.1},
};

static void test_a8d(void **state)
{
    (void)state;
    for (size_t i = 0; i < PX_LEN(a8d_cases); i++) {
        crit *c = crit_new("mdsc", a8d_cases[i].settings, LAYERS(1), TABLE(unit_traces));
        crit_observe(c, TABLE(a8d));
        const px_coverage got = crit_value(c);
        if (got.covered != a8d_cases[i].covered || got.total != a8d_cases[i].total ||
            fabs(got.value - a8d_cases[i].value) > 1e-15)
            fail_msg("case '%s': %.17g (%d of %d)", a8d_cases[i].name, got.value, (int)got.covered,
                     (int)got.total);
        crit_free(c);
    }
}

/* Where buckets begin and end. */
static void test_edges(void **state)
{
    (void)state;
    static const struct {
        float x;
        int64_t covered;
    } cases[] = {{0.0f, 1}, {1.9999999f, 1}, {2.0f, 0}, {-0.5f, 1}, {1e30f, 0}};
    for (size_t i = 0; i < PX_LEN(cases); i++) {
        crit *c = crit_new("mdsc", (const char *[]){"mdsc.u=2", "mdsc.m=3", NULL}, LAYERS(1),
                           TABLE(unit_traces));
        crit_observe(c, (crit_table){.values = &cases[i].x, .count = 1});
        if (crit_value(c).covered != cases[i].covered)
            fail_msg("%g: %d buckets", (double)cases[i].x, (int)crit_value(c).covered);
        crit_free(c);
    }
}

/* Edges of SADL's code are lowest + k * step. Division by the step may round a score that is on one
 * below it, or one that is just below it onto it. */
static void test_sadl_edges(void **state)
{
    (void)state;
    static const struct {
        const char *name, *settings[4];
        float x[3]; /* the lowest, one between two edges, one at the upper of these */
        int64_t covered;
    } cases[] = {
        {"on an edge", {"mdsc.form=sadl", "mdsc.u=0.8", "mdsc.m=10"}, {.125f, .45f, .5f}, 3},
        {"just below one",
         {"mdsc.form=sadl", "mdsc.u=1.3", "mdsc.m=50"},
         {.15f, .955f, .9714286f},
         2},
    };
    for (size_t i = 0; i < PX_LEN(cases); i++) {
        crit *c = crit_new("mdsc", cases[i].settings, LAYERS(1), TABLE(unit_traces));
        crit_observe(c, (crit_table){.values = cases[i].x, .count = 3});
        if (crit_value(c).covered != cases[i].covered)
            fail_msg("case '%s': %d buckets", cases[i].name, (int)crit_value(c).covered);
        crit_free(c);
    }
}

/* LSA is negative where traces are dense: buckets begin at the lowest of the traces, which is in
 * the first bucket. */
static void test_lsc_low(void **state)
{
    (void)state;
    float *train = crit_random(5, 300, 4, false);
    for (int i = 0; i < 300 * 4; i++)
        train[i] *= 0.01f;
    const crit_table table = {.values = train, .count = 300};
    crit *low = crit_new("lsc", (const char *[]){"lsc.u=10", "lsc.m=100", NULL}, LAYERS(4), table);
    crit *zero = crit_new("lsc", (const char *[]){"lsc.u=10", "lsc.m=100", "lsc.low=zero", NULL},
                          LAYERS(4), table);
    crit_observe(low, table);
    crit_observe(zero, table);
    assert_true(crit_value(low).covered > crit_value(zero).covered);
    px_text text = {0};
    low->criterion->remark(low->state, &text);
    assert_null(strstr(px_text_get(&text), "below"));
    zero->criterion->remark(zero->state, &text);
    assert_non_null(strstr(px_text_get(&text), "inputs are below the buckets"));
    px_text_done(&text);
    crit_free(low);
    crit_free(zero);
    free(train);
}

static void test_infinite(void **state)
{
    (void)state;
    /* class 2 has no usable trace: its only rows are not finite */
    const float train[][1] = {{0}, {5}, {NAN}, {1}, {6}, {NAN}};
    const float tests[][1] = {{0.5f}, {5.5f}, {1.0f}};
    crit *c = crit_new("dsc", NULL, LAYERS(1), TABLE(train));
    crit_observe(c, TABLE(tests));
    assert_int_equal(crit_value(c).covered, 2); /* of 0.5 / 5 and 0.5 / 4 */
    px_text text = {0};
    c->criterion->remark(c->state, &text);
    assert_non_null(strstr(px_text_get(&text), "1 inputs are infinitely surprising"));
    assert_non_null(strstr(px_text_get(&text), "1 of 3 classes have no training traces"));
    px_text_done(&text);
    crit_free(c);
}

/* Numbers that a file must not bring. */
static void test_damaged(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int64_t axis[6];
        double bounds[3];
        uint64_t member;
        px_status want;
    } cases[] = {
        {"sound", {0, 10, 0, 0, 0, 0}, {0, 2, 1}, 0x4000000000000000, PX_OK}, /* 2.0 */
        {"no such form", {9, 10, 0, 0, 0, 0}, {0, 2, 1}, 0x4000000000000000, PX_E_INPUT},
        {"no buckets", {0, 0, 0, 0, 0, 0}, {0, 2, 1}, 0x4000000000000000, PX_E_INPUT},
        {"far too many", {0, INT64_MAX, 0, 0, 0, 0}, {0, 2, 1}, 0x4000000000000000, PX_E_INPUT},
        {"negative count", {0, 10, 0, -1, 0, 0}, {0, 2, 1}, 0x4000000000000000, PX_E_INPUT},
        {"bounds the wrong way", {0, 10, 0, 0, 0, 0}, {3, 2, 1}, 0x4000000000000000, PX_E_INPUT},
        {"bound not finite", {0, 10, 0, 0, 0, 0}, {0, INFINITY, 1}, 0x4000000000000000, PX_E_INPUT},
        {"width 0", {1, 10, 0, 0, 0, 0}, {0, 2, 0}, 0x4000000000000000, PX_E_INPUT},
        {"bucket 10 of 10", {0, 10, 0, 0, 0, 0}, {0, 2, 1}, 0x4024000000000000, PX_E_INPUT},
        {"the overflow bucket", {0, 10, 1, 0, 0, 0}, {0, 2, 1}, 0x4024000000000000, PX_OK},
        {"half a bucket", {0, 10, 0, 0, 0, 0}, {0, 2, 1}, 0x3fe0000000000000, PX_E_INPUT},
        {"not a number", {2, 10, 0, 0, 0, 0}, {0, 2, 1}, 0x7ff8000000000001, PX_E_INPUT},
    };
    const px_criterion *dsc = px_criterion_find("dsc");
    for (size_t i = 0; i < PX_LEN(cases); i++) {
        px_error err = {0};
        px_npz_writer *writer = NULL;
        const px_shape six = {.rank = 1, .dim = {6}}, three = {.rank = 1, .dim = {3}};
        const px_shape one = {.rank = 1, .dim = {1}}, pair = {.rank = 2, .dim = {1, 2}};
        const int64_t count = 1;
        const uint64_t pattern[2] = {cases[i].member, 0};
        assert_int_equal(px_npz_create(crit_file(), &writer, &err), PX_OK);
        px_npz_put(writer, "x", "axis", PX_INT64, &six, cases[i].axis, &err);
        px_npz_put(writer, "x", "bounds", PX_FLOAT64, &three, cases[i].bounds, &err);
        px_npz_put(writer, "x", "counts", PX_INT64, &one, &count, &err);
        px_npz_put(writer, "x", "patterns", PX_UINT64, &pair, pattern, &err);
        assert_int_equal(px_npz_commit(writer, &err), PX_OK);
        px_npz *file = NULL;
        void *loaded = NULL;
        assert_int_equal(px_npz_open(crit_file(), &file, &err), PX_OK);
        assert_int_equal(dsc->open(NULL, &loaded, &err), PX_OK);
        err = (px_error){0};
        const px_status status = dsc->load(loaded, file, "x", &err);
        if (status != cases[i].want)
            fail_msg("case '%s': %d, %s", cases[i].name, (int)status, err.message);
        if (status == PX_OK)
            assert_int_equal(dsc->value(loaded).covered, 1);
        dsc->close(loaded);
        px_npz_close(file);
        remove(crit_file());
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a8d),        cmocka_unit_test(test_edges),
        cmocka_unit_test(test_sadl_edges), cmocka_unit_test(test_lsc_low),
        cmocka_unit_test(test_infinite),   cmocka_unit_test(test_damaged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
