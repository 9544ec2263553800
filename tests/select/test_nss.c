/* tests/select/test_nss.c - NSS: the paper's example, and its passes beside plain loops */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cover_helpers.h"

#include "base/memory.h"
#include "select/nss.h"

#include <internal/arch.h>
#include <internal/fault_curve.h>
#include <internal/mutate.h>
#include <internal/rng.h>
#include <internal/select.h>
#include <internal/stats.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- the worked example: Table 2 of the paper, CSM TV-B1 ------------------------------------- */

enum { EXAMPLES = 6, UNITS = 3 };
static const float original[EXAMPLES][UNITS] = {{.4f, .5f, .6f}, {.2f, .4f, .2f}, {.4f, .5f, .3f},
                                                {.8f, .5f, .7f}, {.5f, .3f, .4f}, {.3f, .6f, .4f}};
static const float mutant[EXAMPLES][UNITS] = {{.3f, .4f, .4f},  {.2f, .4f, .2f},
                                              {.3f, .3f, .3f},  {.7f, .45f, .6f},
                                              {.4f, .2f, .35f}, {.25f, .55f, .4f}};

static void assert_scores(const int64_t *units, int64_t count, const double *scores,
                          const int64_t *order, const char *what)
{
    px_ranked ranked[EXAMPLES];
    for (int64_t i = 0; i < EXAMPLES; i++) {
        const double score = pxi_nss_score(original[i], mutant[i], units, count);
        if (fabs(score - scores[i]) > 1e-6)
            fail_msg("%s: input %lld scores %g, not %g", what, (long long)i, score, scores[i]);
        ranked[i] = (px_ranked){.index = i, .score = round(score * 1e6)}; /* ties as printed */
    }
    for (int64_t i = 0; i < EXAMPLES; i++) {
        int64_t before = 0;
        for (int64_t k = 0; k < EXAMPLES; k++)
            before += ranked[k].score > ranked[order[i]].score ||
                      (ranked[k].score == ranked[order[i]].score && k < order[i]);
        if (before != i)
            fail_msg("%s: place %lld is not %lld's", what, (long long)i, (long long)order[i]);
    }
}

static void test_example(void **state)
{
    (void)state;
    static const int64_t all[] = {0, 1, 2}, two[] = {0, 1};
    assert_scores(all, 3, (double[]){.4, 0, .3, .25, .25, .1}, (int64_t[]){0, 2, 3, 4, 5, 1},
                  "all neurons");
    assert_scores(two, 2, (double[]){.2, 0, .3, .15, .2, .1}, (int64_t[]){2, 0, 4, 3, 5, 1},
                  "two neurons");
}

static void test_example_neurons(void **state)
{
    (void)state;
    pxi_exact sums[UNITS] = {{{0}}};
    double scratch[UNITS], values[UNITS];
    static const double expected[UNITS] = {.45, .5, .35};
    bool lost = false;
    int64_t top[UNITS];
    for (int i = 0; i < EXAMPLES; i++)
        pxi_nss_add(sums, original[i], mutant[i], UNITS, scratch, &lost);
    assert_false(lost);
    for (int n = 0; n < UNITS; n++) {
        values[n] = pxi_exact_value(&sums[n]);
        assert_true(fabs(values[n] - expected[n]) < 1e-6);
    }
    assert_int_equal(px_percent_count(34, UNITS), 2);
    assert_int_equal(pxi_nss_top(values, UNITS, 2, top, NULL), PX_OK);
    assert_int_equal(top[0], 1);
    assert_int_equal(top[1], 0);
    assert_int_equal(pxi_nss_top((double[]){1, 2, 2, 1}, 4, 3, (int64_t[4]){0}, NULL), PX_OK);
    int64_t tied[3];
    assert_int_equal(pxi_nss_top((double[]){1, 2, 2, 1}, 4, 3, tied, NULL), PX_OK);
    assert_int_equal(tied[0], 1); /* ties to the lower index */
    assert_int_equal(tied[1], 2);
    assert_int_equal(tied[2], 0);
}

/* TV-B1b, and the closed form for sets of equal size. */
static void test_agreement(void **state)
{
    (void)state;
    assert_true(fabs(px_kappa_sets(3, 3, 2, 10) - 0.523809524) < 1e-9);
    for (int64_t size = 1; size < 10; size++)
        for (int64_t both = PX_MAX(0, 2 * size - 10); both <= size; both++) {
            const double share = (double)size / 10.0;
            const double closed = ((double)both / (double)size - share) / (1.0 - share);
            assert_true(fabs(px_kappa_sets(size, size, both, 10) - closed) < 1e-12);
        }
}

/* --- the selector beside plain loops --------------------------------------------------------- */

enum { CANDIDATES = 90 };

typedef struct fixture {
    px_model *model;
    small_data data;
    px_mutant_set *mutants;
    px_probe *probe;
} fixture;

static int set_up(void **state)
{
    static fixture f;
    px_error err = {0};
    px_mutations from;
    px_probe_options options = px_probe_options_default();
    f.model = small_net(7, 4);
    f.data = small_digits(f.model, "test", CANDIDATES, 0);
    options.layers = "last-encoder";
    options.neurons = PX_VIEW_UNIT;
    *state = &f;
    return px_mutations_parse("nss", &from, &err) != PX_OK ||
           px_mutant_set_new(f.data.set, &from, 5, PX_MUTATE_CANDIDATES, &f.mutants, &err) !=
               PX_OK ||
           px_probe_new(f.model, &options, &f.probe, &err) != PX_OK;
}

static int tear_down(void **state)
{
    fixture *f = *state;
    px_probe_free(f->probe);
    px_mutant_set_free(f->mutants);
    small_close(&f->data);
    px_model_free(f->model);
    return 0;
}

/* Neuron values of single inputs, one after the other. */
typedef struct tracer {
    const fixture *f;
    px_plan *plan;
    px_session *session;
} tracer;

static tracer tracer_new(const fixture *f)
{
    tracer t = {.f = f};
    px_error err = {0};
    px_plan_options options = px_plan_options_default();
    options.batch = 1;
    options.keep = px_probe_values(f->probe, &options.keep_count);
    if (px_plan_new(f->model, &options, &t.plan, &err) != PX_OK ||
        px_session_new(t.plan, &t.session, &err) != PX_OK)
        fail_msg("%s", err.message);
    return t;
}

static void tracer_free(tracer *t)
{
    px_session_free(t->session);
    px_plan_free(t->plan);
}

static void tracer_read(tracer *t, const px_dataset *set, int64_t index, const px_drawn *drawn,
                        float *trace)
{
    px_error err = {0};
    float *input = px_session_input(t->session, 0);
    const px_shape shape = px_dataset_shape(set);
    px_status status = px_dataset_pixels(set, index, input, &err);
    if (status == PX_OK && drawn)
        status = px_mutation_apply_values(drawn, &shape, false, input, input, &err);
    if (status == PX_OK)
        status = px_preprocess_apply(&t->f->data.pre, &shape, input, &err);
    if (status == PX_OK)
        status = px_session_forward(t->session, &err);
    if (status == PX_OK)
        status = px_probe_trace(t->f->probe, t->session, 1, trace, NULL, &err);
    if (status != PX_OK)
        fail_msg("%s", err.message);
}

static px_select *nss_ran(const fixture *f, const char *const *settings, size_t count, bool pairs,
                          int threads, int64_t batch)
{
    px_error err = {0};
    px_select *select = NULL;
    px_select_options options = px_select_options_default();
    options.selectors = "nss";
    options.settings = settings;
    options.setting_count = count;
    options.originals = pairs ? f->data.set : NULL;
    options.seed = 11;
    options.threads = threads;
    options.batch = batch;
    if (px_select_new(f->model, pairs ? px_mutant_set_data(f->mutants) : f->data.set, &f->data.pre,
                      &options, &select, &err) != PX_OK ||
        px_select_run(select, NULL, NULL, &err) != PX_OK)
        fail_msg("%s", err.message);
    return select;
}

/* Scores by hand, given the sensitive neurons; and these by hand, as the subset is everything. */
static void check_by_hand(const fixture *f, bool pairs)
{
    static const char *const settings[] = {"nss.subset=100", "nss.k=7"};
    px_select *select = nss_ran(f, settings, 2, pairs, 2, 0);
    const pxi_nss_facts facts = pxi_nss_facts_of(px_select_prepared(select, 0));
    const size_t units = (size_t)px_probe_neuron_count(f->probe);
    float *x = pxi_calloc(units, sizeof *x), *y = pxi_calloc(units, sizeof *y);
    double *sums = pxi_calloc(units, sizeof *sums), scores[CANDIDATES];
    px_mutations from;
    tracer t = tracer_new(f);
    assert_int_equal(px_mutations_parse("nss", &from, NULL), PX_OK);
    assert_int_equal(facts.original, pairs);
    assert_int_equal(facts.units, units);
    assert_int_equal(facts.sampled, CANDIDATES);
    assert_int_equal(facts.count, px_percent_count(7, (int64_t)units));
    for (int stage = 0; stage < 2; stage++)
        for (int64_t i = 0; i < CANDIDATES; i++) {
            px_random random = px_rng(11, PX_RNG_MUTATE, (uint32_t)i,
                                      stage == 0 ? PX_MUTATE_IDENTIFY : PX_MUTATE_SCORE);
            const px_drawn drawn =
                pairs ? px_mutant_set_drawn(f->mutants, i) : px_mutation_draw(&from, &random);
            tracer_read(&t, f->data.set, i, NULL, x);
            tracer_read(&t, f->data.set, i, &drawn, y);
            for (size_t n = 0; stage == 0 && n < units; n++)
                sums[n] += fabs((double)x[n] - (double)y[n]);
            scores[i] = pxi_nss_score(x, y, facts.neuron, facts.count);
        }
    int64_t *top = pxi_calloc((size_t)facts.count, sizeof *top), count = 0;
    assert_int_equal(pxi_nss_top(sums, (int64_t)units, facts.count, top, NULL), PX_OK);
    for (int64_t k = 0; k < facts.count; k++) {
        if (top[k] != facts.neuron[k])
            fail_msg("sensitive neuron %lld is %lld, not %lld", (long long)k,
                     (long long)facts.neuron[k], (long long)top[k]);
        assert_true(fabs(facts.sum[k] - sums[top[k]]) < 1e-6 * (1 + sums[top[k]]));
    }
    const px_ranked *ranked = px_select_ranked(select, 0, &count);
    assert_int_equal(count, CANDIDATES);
    for (int64_t k = 0; k < count; k++)
        if (fabs(ranked[k].score - scores[ranked[k].index]) > 1e-9 * (1 + ranked[k].score))
            fail_msg("input %lld scores %.12g, not %.12g", (long long)ranked[k].index,
                     ranked[k].score, scores[ranked[k].index]);
    tracer_free(&t);
    free(top);
    free(x);
    free(y);
    free(sums);
    px_select_free(select);
}

static void test_fresh_by_hand(void **state)
{
    check_by_hand(*state, false);
}

static void test_original_by_hand(void **state)
{
    check_by_hand(*state, true);
}

/* Threads, and batches that are odd (a pair in two runs), change nothing. */
static void test_threads_and_batches(void **state)
{
    const fixture *f = *state;
    for (int pairs = 0; pairs < 2; pairs++) {
        px_select *first = nss_ran(f, NULL, 0, pairs, 1, 8);
        int64_t count = 0;
        const px_ranked *a = px_select_ranked(first, 0, &count);
        for (int64_t batch = 1; batch <= 7; batch += 2) {
            px_select *other = nss_ran(f, NULL, 0, pairs, (int)batch, batch);
            const px_ranked *b = px_select_ranked(other, 0, &count);
            for (int64_t k = 0; k < count; k++)
                if (a[k].index != b[k].index || a[k].score != b[k].score ||
                    a[k].predicted != b[k].predicted || a[k].confidence != b[k].confidence)
                    fail_msg("batch %lld: place %lld differs", (long long)batch, (long long)k);
            px_select_free(other);
        }
        px_select_free(first);
    }
}

static void test_stability(void **state)
{
    const fixture *f = *state;
    px_select *select =
        nss_ran(f, (const char *[]){"nss.seeds=5", "nss.subset=50"}, 2, false, 2, 0);
    const pxi_nss_facts facts = pxi_nss_facts_of(px_select_prepared(select, 0));
    assert_true(facts.least_kappa <= facts.mean_kappa && facts.mean_kappa < 1.0);
    assert_true(facts.least_kappa > 0.3); /* the same network, the same kind of inputs */
    assert_true(px_select_facts_of(select, 0).times.check > 0.0);
    px_select_free(select);
    /* The whole set and the same pairs: nothing to disagree about. */
    select = nss_ran(f, (const char *[]){"nss.seeds=3", "nss.subset=100"}, 2, true, 2, 0);
    assert_true(pxi_nss_facts_of(px_select_prepared(select, 0)).least_kappa == 1.0);
    px_select_free(select);
}

static void test_single_mutations(void **state)
{
    const fixture *f = *state;
    px_select *all = nss_ran(f, NULL, 0, false, 1, 0);
    px_select *one = nss_ran(f, (const char *[]){"nss.identify=blur"}, 1, false, 1, 0);
    px_select *two = nss_ran(f, (const char *[]){"nss.score=contrast"}, 1, false, 1, 0);
    int64_t count = 0, same = 0;
    const px_ranked *a = px_select_ranked(all, 0, &count), *b = px_select_ranked(two, 0, &count);
    for (int64_t k = 0; k < count; k++)
        same += a[k].index == b[k].index;
    assert_true(same < count / 2);
    const pxi_nss_facts x = pxi_nss_facts_of(px_select_prepared(all, 0));
    const pxi_nss_facts y = pxi_nss_facts_of(px_select_prepared(one, 0));
    const pxi_nss_facts z = pxi_nss_facts_of(px_select_prepared(two, 0));
    assert_memory_not_equal(x.sum, y.sum, (size_t)x.count * sizeof *x.sum);
    assert_memory_equal(x.sum, z.sum, (size_t)x.count * sizeof *x.sum);
    px_select_free(all);
    px_select_free(one);
    px_select_free(two);
}

static void test_refusals(void **state)
{
    const fixture *f = *state;
    static const struct {
        const char *setting, *says;
        bool pairs;
    } cases[] = {
        {"nss.pair=original", "these candidates have none", false},
        {"nss.score=blur", "score=blur is for pair=fresh", true},
        {"nss.k=0", "it must be between", false},
        {"nss.k=101", "it must be between", false},
        {"nss.identify=noise", "it can be all, shift", false},
    };
    for (size_t i = 0; i < PX_LEN(cases); i++) {
        px_error err = {0};
        px_select *select = NULL;
        px_select_options options = px_select_options_default();
        options.selectors = "nss";
        options.settings = &cases[i].setting;
        options.setting_count = 1;
        options.originals = cases[i].pairs ? f->data.set : NULL;
        const px_status status =
            px_select_new(f->model, f->data.set, &f->data.pre, &options, &select, &err);
        if (status != PX_E_USAGE || !strstr(err.message, cases[i].says))
            fail_msg("'%s': %s", cases[i].setting, err.message);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_example),          cmocka_unit_test(test_example_neurons),
        cmocka_unit_test(test_agreement),        cmocka_unit_test(test_fresh_by_hand),
        cmocka_unit_test(test_original_by_hand), cmocka_unit_test(test_threads_and_batches),
        cmocka_unit_test(test_stability),        cmocka_unit_test(test_single_mutations),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
