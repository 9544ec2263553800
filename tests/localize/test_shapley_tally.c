/* tests/localize/test_shapley_tally.c - values over many inputs: what is left out, means, hits,
 * rankings */
/* SPDX-License-Identifier: Apache-2.0 */
#include "attribute/shapley_helpers.h"
#include "engine/plan_helpers.h"

#include <internal/localize.h>
#include <internal/shapley_tally.h>
#include <plexor/text.h>
#include <stdio.h>
#include <string.h>

enum { INPUTS = 24, NEURONS = 16 };

typedef struct tallied {
    px_model *model;
    px_shapley *s;
    float x[INPUTS * SMALL_INPUT], moved[INPUTS * SMALL_INPUT];
    int64_t labels[INPUTS], before[INPUTS], after[INPUTS];
    double losses[2][INPUTS];
} tallied;

/* Inputs of the labels that the network gives them, but every fifth. */
static void tallied_open(tallied *t)
{
    px_error err = {0};
    t->model = small_model(1, 7);
    t->s = small_shapley(t->model, 2);
    assert_int_equal(px_shapley_neuron_count(t->s), NEURONS);
    const size_t size = (size_t)px_shapley_input_size(t->s);
    net_fill(t->x, INPUTS * size, 21, -1.0, 1.0);
    net_fill(t->moved, INPUTS * size, 22, -0.6, 0.6);
    for (size_t i = 0; i < INPUTS * size; i++)
        t->moved[i] += t->x[i];
    check(px_shapley_judge(t->s, t->x, NULL, INPUTS, t->before, NULL, &err), &err, "judge");
    check(px_shapley_judge(t->s, t->moved, NULL, INPUTS, t->after, NULL, &err), &err, "judge");
    for (int i = 0; i < INPUTS; i++)
        t->labels[i] = i % 5 == 4 ? (t->before[i] + 1) % 4 : t->before[i];
    for (int side = 0; side < 2; side++)
        check(px_shapley_judge(t->s, side ? t->moved : t->x, t->labels, INPUTS, NULL,
                               t->losses[side], &err),
              &err, "judge");
}

static void tallied_close(tallied *t)
{
    px_shapley_free(t->s);
    px_model_free(t->model);
}

static px_shapley_tally *tally_run(tallied *t, const px_shapley_tally_options *options, int pieces)
{
    px_error err = {0};
    px_shapley_tally *tally = NULL;
    const size_t size = (size_t)px_shapley_input_size(t->s);
    check(px_shapley_tally_new(t->s, options, &tally, &err), &err, "tally");
    for (int p = 0; p < pieces; p++) {
        const size_t first = (size_t)(INPUTS / pieces * p);
        check(px_shapley_tally_add(tally, t->x + first * size, t->moved + first * size,
                                   t->labels + first, INPUTS / pieces, &err),
              &err, "add");
    }
    return tally;
}

/* Means and hits over the diagonal's own values, which other tests look at. */
static void test_means_and_hits(void **state)
{
    (void)state;
    tallied t;
    tallied_open(&t);
    px_shapley_tally_options o = px_shapley_tally_options_default();
    o.method = PX_SHAPLEY_AUMANN;
    px_shapley_tally *tally = tally_run(&t, &o, 3);
    double before[INPUTS * NEURONS], after[INPUTS * NEURONS], mean[NEURONS] = {0};
    px_hits hits[NEURONS] = {{0}};
    px_error err = {0};
    const px_diagonal d = px_diagonal_default();
    check(px_shapley_integrate(t.s, &d, t.x, t.labels, INPUTS, before, &err), &err, "before");
    check(px_shapley_integrate(t.s, &d, t.moved, t.labels, INPUTS, after, &err), &err, "after");
    int64_t used = 0, failed = 0;
    double change = 0.0;
    for (int i = 0; i < INPUTS; i++) {
        double psi[NEURONS], scaled[NEURONS];
        if (t.before[i] != t.labels[i])
            continue;
        used++;
        const bool wrong = t.after[i] != t.labels[i];
        failed += wrong;
        change += t.losses[1][i] - t.losses[0][i];
        for (int n = 0; n < NEURONS; n++) {
            psi[n] = after[i * NEURONS + n] - before[i * NEURONS + n];
            mean[n] += psi[n];
        }
        px_shapley_normalise(t.s, o.norm, psi, scaled);
        for (int n = 0; n < NEURONS; n++)
            *(scaled[n] > 0.5 ? (wrong ? &hits[n].af : &hits[n].as)
                              : (wrong ? &hits[n].nf : &hits[n].ns)) += 1;
    }
    const px_shapley_sums sums = px_shapley_tally_sums(tally);
    assert_int_equal(sums.seen, INPUTS);
    assert_int_equal(sums.used, used);
    assert_int_equal(sums.wrong_before, INPUTS - used);
    assert_int_equal(sums.failed, failed);
    assert_true(failed > 0 && failed < used);
    assert_true(fabs(sums.change - change / (double)used) < 1e-12);
    for (int n = 0; n < NEURONS; n++) {
        const px_shapley_neuron got = px_shapley_tally_neuron(tally, PX_POOLED, n);
        assert_true(fabs(got.value - mean[n] / (double)used) < 1e-12);
        assert_memory_equal(&got.hits, &hits[n], sizeof hits[n]);
    }
    px_shapley_tally_free(tally);
    tallied_close(&t);
}

/* Whatever the pieces, and for every method; sums of cuts hold within what is stated. */
static void test_methods_and_pieces(void **state)
{
    (void)state;
    static const px_shapley_method methods[] = {PX_SHAPLEY_SAMPLED, PX_SHAPLEY_AUMANN,
                                                PX_SHAPLEY_AUMANN_LAYER, PX_SHAPLEY_CODE};
    tallied t;
    tallied_open(&t);
    for (size_t m = 0; m < PX_LEN(methods); m++) {
        px_shapley_tally_options o = px_shapley_tally_options_default();
        o.method = methods[m];
        o.sampling.permutations = 10; /* so that some layers are sampled, some tried out */
        px_shapley_tally *whole = tally_run(&t, &o, 1), *parts = tally_run(&t, &o, 8);
        for (int n = 0; n < NEURONS; n++) {
            const px_shapley_neuron a = px_shapley_tally_neuron(whole, PX_POOLED, n);
            const px_shapley_neuron b = px_shapley_tally_neuron(parts, PX_POOLED, n);
            assert_memory_equal(&a.hits, &b.hits, sizeof a.hits);
            if (a.value != b.value || a.score != b.score)
                fail_msg("method '%s', neuron %d", px_shapley_method_name(methods[m]), n);
        }
        const px_shapley_sums sums = px_shapley_tally_sums(whole);
        assert_true(isnan(sums.gap) == (methods[m] == PX_SHAPLEY_CODE));
        if (methods[m] == PX_SHAPLEY_SAMPLED)
            assert_true(sums.gap <= sums.stated + 1e-5);
        px_shapley_tally_free(whole);
        px_shapley_tally_free(parts);
    }
    tallied_close(&t);
}

static void test_ranking(void **state)
{
    (void)state;
    tallied t;
    tallied_open(&t);
    px_shapley_tally_options o = px_shapley_tally_options_default();
    o.method = PX_SHAPLEY_AUMANN;
    px_shapley_tally *tally = tally_run(&t, &o, 1);
    px_error err = {0};
    for (int pooled = 0; pooled < 2; pooled++) {
        px_suspicious *list = NULL;
        check(px_shapley_rank(tally, 5, pooled, &list, &err), &err, "rank");
        assert_string_equal(list->measure, "shapley");
        assert_true(list->theta == 0.5);
        for (size_t i = 0; i < list->count; i++) {
            const px_suspect *s = &list->items[i];
            if (pooled)
                assert_int_equal(s->class_index, PX_POOLED);
            if (s->rank > 1)
                assert_true(list->items[i - 1].score >= s->score);
        }
        assert_true(pooled ? list->count == 5 : list->count % 5 == 0 && list->count > 0);
        char path[512];
        snprintf(path, sizeof path, "%s/shapley_list.csv", getenv("TEST_SCRATCH"));
        check(px_suspicious_save(list, path, &err), &err, "save");
        px_suspicious *again = NULL;
        check(px_suspicious_open(path, &again, &err), &err, "open");
        assert_int_equal(again->count, list->count);
        assert_string_equal(again->measure, "shapley");
        check(px_suspicious_check(again, t.model, &err), &err, "check");
        px_suspicious_free(again);
        px_suspicious_free(list);
    }
    px_shapley_tally_free(tally);
    tallied_close(&t);
}

static void test_nothing_to_rank(void **state)
{
    (void)state;
    tallied t;
    tallied_open(&t);
    px_shapley_tally_options o = px_shapley_tally_options_default();
    px_shapley_tally *tally = NULL;
    px_suspicious *list = NULL;
    px_error err = {0};
    check(px_shapley_tally_new(t.s, &o, &tally, &err), &err, "tally");
    assert_int_equal(px_shapley_rank(tally, 5, true, &list, &err), PX_E_INPUT);
    for (int i = 0; i < INPUTS; i++)
        t.labels[i] = (t.before[i] + 1) % 4;
    check(px_shapley_tally_add(tally, t.x, t.moved, t.labels, INPUTS, &err), &err, "add");
    assert_int_equal(px_shapley_tally_sums(tally).wrong_before, INPUTS);
    assert_int_equal(px_shapley_rank(tally, 5, true, &list, &err), PX_E_INPUT);
    assert_non_null(strstr(err.message, "wrong on 24"));
    t.labels[3] = 4;
    assert_int_equal(px_shapley_tally_add(tally, t.x, t.moved, t.labels, INPUTS, &err),
                     PX_E_MISMATCH);
    t.x[0] = NAN; /* its scores are no numbers: predicted as nothing */
    t.labels[3] = t.before[3];
    check(px_shapley_tally_add(tally, t.x, t.moved, t.labels, 4, &err), &err, "odd");
    o.lambda = -0.1;
    px_shapley_tally *bad = NULL;
    assert_int_equal(px_shapley_tally_new(t.s, &o, &bad, &err), PX_E_USAGE);
    o.norm = PX_SHAPLEY_RAW; /* raw values may be compared with anything */
    check(px_shapley_tally_new(t.s, &o, &bad, &err), &err, "raw");
    px_shapley_tally_free(bad);
    px_shapley_tally_free(tally);
    tallied_close(&t);
}

/* --- scales ---------------------------------------------------------------------------------- */

static void test_norms(void **state)
{
    (void)state;
    static const struct {
        px_shapley_norm norm;
        double values[3], want[3];
        double fitness; /* above 0.5 */
    } cases[] = {
        {PX_SHAPLEY_RAW, {-1.0, 0.6, 0.5}, {-1.0, 0.6, 0.5}, 1.0 / 3.0},
        {PX_SHAPLEY_LAYER_MINMAX, {-1.0, 1.0, 0.5}, {0.0, 1.0, 0.75}, 2.0 / 3.0},
        {PX_SHAPLEY_LAYER_MINMAX, {0.2, 0.2, 0.2}, {0.0, 0.0, 0.0}, 0.0},
        {PX_SHAPLEY_LAYER_MAX, {-1.0, 2.0, 0.5}, {-0.5, 1.0, 0.25}, 1.0 / 3.0},
        {PX_SHAPLEY_LAYER_MAX, {-1.0, -2.0, 0.0}, {0.0, 0.0, 0.0}, 0.0},
        {PX_SHAPLEY_GLOBAL_MINMAX, {3.0, 1.0, 5.0}, {0.5, 0.0, 1.0}, 1.0 / 3.0},
        {PX_SHAPLEY_LAYER_MINMAX, {3.0, NAN, 5.0}, {0.0, 0.0, 0.0}, 0.0},
        {PX_SHAPLEY_RAW, {3.0, NAN, 5.0}, {3.0, NAN, 5.0}, 0.0},
    };
    worked_example e = worked_open(1);
    for (size_t i = 0; i < PX_LEN(cases); i++) {
        double got[3];
        px_shapley_normalise(e.s, cases[i].norm, cases[i].values, got);
        for (int n = 0; n < 3; n++)
            if (!(fabs(got[n] - cases[i].want[n]) < 1e-12) && !isnan(cases[i].want[n]))
                fail_msg("case %zu, value %d: %g", i, n, got[n]);
        if (!(fabs(px_shapley_fitness(e.s, cases[i].norm, 0.5, cases[i].values) -
                   cases[i].fitness) < 1e-12))
            fail_msg("case %zu: fitness", i);
    }
    /* dx = 0: nothing is excitable */
    const double zero[3] = {0.0};
    for (int norm = 0; norm <= PX_SHAPLEY_GLOBAL_MINMAX; norm++)
        assert_true(px_shapley_fitness(e.s, (px_shapley_norm)norm, 0.5, zero) == 0.0);
    /* what the published code has: h(moved) - h(x) = (-.05, .45, -.25), scaled within the layer */
    double code[3];
    px_error err = {0};
    check(px_shapley_differences(e.s, e.pair.x, e.pair.moved, 1, code, &err), &err, "code");
    assert_true(fabs(code[0] - 0.2 / 0.7) < 1e-6 && fabs(code[1] - 1.0) < 1e-6 &&
                fabs(code[2]) < 1e-6);
    worked_close(&e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_means_and_hits), cmocka_unit_test(test_methods_and_pieces),
        cmocka_unit_test(test_ranking),        cmocka_unit_test(test_nothing_to_rank),
        cmocka_unit_test(test_norms),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
