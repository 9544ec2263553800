/* tests/repair/test_failures.c - mutants that a network gets wrong, against the plain definition */
/* SPDX-License-Identifier: Apache-2.0 */
#include "repair_helpers.h"

#include "base/memory.h"

#include <internal/arch.h>
#include <internal/failures.h>
#include <internal/mutate.h>
#include <internal/train.h>
#include <math.h>
#include <plexor/cover.h>
#include <plexor/predict.h>
#include <stdlib.h>
#include <string.h>

#define OK(call)                           \
    do {                                   \
        if ((call) != PX_OK)               \
            fail_msg("%s", fault.message); \
    } while (0)

static px_error fault;

typedef struct bench {
    px_model *model;
    px_dataset *train;
    px_preprocess pre;
} bench;

static bench bench_open(int64_t offset, int64_t limit)
{
    bench b = {.train = open_digits("train", offset, limit)};
    const px_shape input = {.rank = 4, .dim = {-1, 1, 28, 28}};
    px_arch_options arch = px_arch_options_default();
    arch.classes = 10;
    arch.seed = 5;
    OK(px_arch_build("mlp-2x60", &arch, &b.model, &fault)); /* fresh weights: mostly wrong */
    OK(px_preprocess_init(&b.pre, NULL, 0, &input,
                          &(px_preprocess_options){.scale = "1/255", .mean = "0.1", .std = "0.3"},
                          &fault));
    return b;
}

static void bench_close(bench *b)
{
    px_dataset_close(b->train);
    px_model_free(b->model);
}

static px_failures_options bench_options(const bench *b)
{
    px_failures_options o = px_failures_options_default();
    o.model = b->model;
    o.parents = (px_feeder_set){.set = b->train, .pre = &b->pre};
    o.seed = 3;
    o.threshold = 2.0; /* that training inputs leave something to cover */
    o.threads = 2;
    return o;
}

/* --- the plain definition -------------------------------------------------------------------- */

static px_cover *plain_cover(const bench *b, double threshold)
{
    char text[64];
    const char *const settings[] = {text, "nc.variant=raw"};
    const px_shape input = {.rank = 4, .dim = {1, 1, 28, 28}};
    px_cover_options o = px_cover_options_default();
    px_cover *cover = NULL;
    snprintf(text, sizeof text, "nc.t=%g", threshold);
    o.criteria = "nc";
    o.settings = settings;
    o.setting_count = 2;
    OK(px_cover_new(b->model, &input, &o, &cover, &fault));
    return cover;
}

/* Coverage once more inputs are in. */
static double plain_add(px_cover *cover, const px_dataset *set, const px_preprocess *pre,
                        int64_t one)
{
    px_cover_run_options run = px_cover_run_options_default();
    bool *only = one < 0 ? NULL : calloc((size_t)px_dataset_count(set), sizeof *only);
    if (only)
        only[one] = true;
    run.only = only;
    OK(px_cover_run(cover, set, pre, &run, NULL, &fault));
    free(only);
    return px_cover_value(cover, 0).value;
}

typedef struct plain {
    bool *kept;
    int64_t count, wrong, improving;
} plain;

static plain plain_make(const bench *b, const px_failures_options *o, const char *mutations)
{
    const int64_t count = px_dataset_count(b->train);
    plain p = {.kept = calloc((size_t)count, sizeof *p.kept)};
    px_mutations from;
    px_mutant_set *mutants = NULL;
    px_predictions said = {0};
    OK(px_mutations_parse(mutations, &from, &fault));
    OK(px_mutant_set_new(b->train, &from, o->seed, o->iteration, &mutants, &fault));
    const px_dataset *set = px_mutant_set_data(mutants);
    OK(px_predict(b->model, set, &b->pre, NULL, &said, &fault));
    px_cover *d = plain_cover(b, o->threshold), *single = plain_cover(b, o->threshold);
    double now = plain_add(d, b->train, &b->pre, -1);
    for (int64_t i = 0; i < count; i++) {
        if (said.predicted[i] == px_dataset_label(b->train, i))
            continue;
        p.wrong++;
        bool improves;
        if (o->pairwise) {
            OK(px_cover_reset(single, &fault));
            const double own = plain_add(single, b->train, &b->pre, i);
            OK(px_cover_reset(single, &fault));
            improves = plain_add(single, set, &b->pre, i) > own;
        } else if (o->keep == PX_KEEP_IMPROVING) {
            const double after = plain_add(d, set, &b->pre, i);
            improves = after > now;
            now = after;
        } else { /* against D as it is */
            OK(px_cover_reset(single, &fault));
            plain_add(single, b->train, &b->pre, -1);
            improves = plain_add(single, set, &b->pre, i) > now;
        }
        p.improving += improves;
        p.kept[i] = o->keep == PX_KEEP_WRONG || improves == (o->keep == PX_KEEP_IMPROVING);
        p.count += p.kept[i];
    }
    px_cover_free(single);
    px_cover_free(d);
    px_predictions_done(&said);
    px_mutant_set_free(mutants);
    return p;
}

static void test_definition(void **state)
{
    (void)state;
    static const struct {
        const char *generator, *mutations;
        px_failures_keep keep;
        bool pairwise;
    } cases[] = {
        {"dh", "deephunter", PX_KEEP_IMPROVING, false},
        {"dh", "deephunter", PX_KEEP_REMAINING, false},
        {"dh", "deephunter", PX_KEEP_IMPROVING, true},
        {"dh", "deephunter", PX_KEEP_REMAINING, true},
        {"dh", "deephunter", PX_KEEP_WRONG, false},
        {"dh-d", "deephunter:differentiable", PX_KEEP_WRONG, false},
        {"dh-n", "deephunter:non-differentiable", PX_KEEP_IMPROVING, true},
    };
    bench b = bench_open(100, 60);
    for (size_t k = 0; k < PX_LEN(cases); k++) {
        px_failures_options o = bench_options(&b);
        o.generator = cases[k].generator;
        o.keep = cases[k].keep;
        o.pairwise = cases[k].pairwise;
        plain want = plain_make(&b, &o, cases[k].mutations);
        for (int threads = 1; threads <= 3; threads += 2) {
            px_failures *got = NULL;
            o.threads = threads;
            OK(px_failures_make(&o, &got, &fault));
            const px_failures_counts n = px_failures_count(got);
            const px_feeder_set added = px_failures_added(got);
            if (n.mutants != 60 || n.wrong != want.wrong || n.kept != want.count ||
                added.count != want.count ||
                n.improving != (o.keep == PX_KEEP_WRONG ? -1 : want.improving))
                fail_msg("case %zu: %d wrong, %d improving, %d kept", k, (int)n.wrong,
                         (int)n.improving, (int)n.kept);
            for (int64_t i = 0; i < added.count; i++)
                if (!want.kept[added.items[i]] || (i > 0 && added.items[i] <= added.items[i - 1]))
                    fail_msg("case %zu: item %d", k, (int)added.items[i]);
            assert_int_equal(px_dataset_count(added.set), 60);
            px_failures_free(got);
        }
        /* or nothing would be tested */
        if (want.wrong == 0 ||
            (o.keep != PX_KEEP_WRONG && (want.improving == 0 || want.improving == want.wrong)))
            fail_msg("case %zu: %d wrong, %d improve", k, (int)want.wrong, (int)want.improving);
        free(want.kept);
    }
    bench_close(&b);
}

/* D may be more than the parents, and the parents fewer than their set. */
static void test_parts(void **state)
{
    (void)state;
    static const int64_t some[] = {7, 3, 55, 20, 41};
    bench b = bench_open(100, 60);
    px_dataset *rest = open_digits("train", 1000, 400);
    px_failures_options o = bench_options(&b);
    px_failures *got = NULL;
    o.keep = PX_KEEP_REMAINING;
    o.parents.items = some;
    o.parents.count = PX_LEN(some);
    OK(px_failures_make(&o, &got, &fault));
    const px_failures_counts alone = px_failures_count(got);
    px_failures_free(got);
    const px_feeder_set covered[] = {o.parents, {.set = rest, .pre = &b.pre}};
    o.covered = covered;
    o.covered_count = 2;
    OK(px_failures_make(&o, &got, &fault));
    const px_failures_counts more = px_failures_count(got);
    assert_true(alone.mutants == 5 && more.mutants == 5 && alone.wrong == more.wrong);
    assert_true(more.improving <= alone.improving && more.coverage_before > alone.coverage_before);
    for (int64_t i = 0; i < px_failures_added(got).count; i++)
        assert_true(px_failures_added(got).items[i] <= 55);
    px_failures_free(got);
    px_dataset_close(rest);
    bench_close(&b);
}

static void test_refusals(void **state)
{
    (void)state;
    bench b = bench_open(0, 10);
    px_failures *got = NULL;
    px_error err = {0};
    px_failures_options o = bench_options(&b);
    o.generator = "dh-x";
    assert_int_equal(px_failures_make(&o, &got, &err), PX_E_USAGE);
    assert_non_null(strstr(err.message, "'dh-x'"));
    o = bench_options(&b);
    o.neurons = "nothing";
    assert_int_equal(px_failures_make(&o, &got, &err), PX_E_USAGE);
    const int64_t beyond = 10;
    const px_feeder_set outside = {.set = b.train, .pre = &b.pre, .items = &beyond, .count = 1};
    o = bench_options(&b);
    o.parents = outside;
    assert_int_equal(px_failures_make(&o, &got, &err), PX_E_USAGE);
    o = bench_options(&b);
    o.covered = &outside;
    o.covered_count = 1;
    assert_int_equal(px_failures_make(&o, &got, &err), PX_E_USAGE);
    assert_non_null(strstr(err.message, "item 10"));
    for (const char *const *id = (const char *const[]){"dh", "dh-d", "dh-n", NULL}; *id; id++)
        assert_non_null(px_generator_mutations(*id));
    assert_null(px_generator_mutations("dh-x"));
    assert_string_equal(px_failures_keep_name(PX_KEEP_WRONG), "wrong");
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_definition),
        cmocka_unit_test(test_parts),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
