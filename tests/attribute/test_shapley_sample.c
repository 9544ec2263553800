/* tests/attribute/test_shapley_sample.c - values by random orders, against those of all coalitions
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/plan_helpers.h"
#include "shapley_helpers.h"

#include <internal/rng.h>
#include <string.h>

enum { MOST = 8 };

typedef struct sampled { /* an estimate with its arrays */
    double values[MOST], errors[MOST];
    int64_t counts[MOST];
    px_shapley_estimate e;
} sampled;

static void sampled_run(sampled *made, px_shapley *s, size_t layer,
                        const px_shapley_sampling *options, const px_shapley_pair *pair)
{
    px_error err = {0};
    made->e = (px_shapley_estimate){
        .values = made->values, .errors = made->errors, .counts = made->counts};
    assert_true(px_shapley_layer_get(s, layer)->count <= MOST);
    check(px_shapley_sample(s, layer, options, pair, &made->e, &err), &err, "sample");
}

static void near(double got, double want, double most, const char *what)
{
    if (!(fabs(got - want) <= most))
        fail_msg("%s: %.9g instead of %.9g", what, got, want);
}

/* --- the worked example: one order and its reverse ------------------------------------------- */

static void test_worked_orders(void **state)
{
    (void)state;
    worked_example e = worked_open(2);
    px_shapley_sampling options = px_shapley_sampling_default();
    options.permutations = 2;
    options.truncation = 0.0;
    int64_t drawn[3] = {0};
    for (options.seed = 0; drawn[0] != 2 || drawn[1] != 0; options.seed++) {
        px_random r = px_rng(options.seed, PX_RNG_SHAPLEY, 0, 0);
        px_rng_permutation(&r, drawn, 3);
    }
    options.seed--;
    sampled got;
    sampled_run(&got, e.s, 0, &options, &e.pair);
    near(got.values[2], (0.07956468 + 0.15397795) / 2.0, 1e-6, "n2");
    near(got.values[0], (-0.12684762 - 0.04249037) / 2.0, 1e-6, "n0");
    near(got.values[1], (0.52670401 + 0.36793348) / 2.0, 1e-6, "n1");
    near(got.e.change, 0.47942106, 1e-6, "change");
    near(got.e.sum, got.e.change, 1e-12, "sum");
    assert_true(isnan(got.errors[0])); /* one pair has no spread */
    assert_int_equal(got.e.evaluated, 4);
    worked_close(&e);
}

static void test_radius(void **state)
{
    (void)state;
    near(px_shapley_radius(0.04, 50, 1.0, 0.2), 0.170344, 1e-6, "radius");
    assert_true(isinf(px_shapley_radius(0.04, 1, 1.0, 0.2)));
}

/* --- standard errors ------------------------------------------------------------------------- */

static void test_three_standard_errors(void **state)
{
    (void)state;
    int cases = 0, inside = 0;
    px_shapley_sampling options = px_shapley_sampling_default();
    options.permutations = 200;
    options.truncation = 0.0;
    for (int form = 0; form < SMALL_FORMS; form++)
        for (uint64_t seed = 0; seed < 12; seed++) {
            px_model *model = small_model(form, seed);
            px_shapley *s = small_shapley(model, 2);
            small_pair p;
            small_pair_init(&p, s, seed);
            options.seed = 1000 + seed;
            for (size_t l = 0; l < px_shapley_layer_count(s); l++) {
                double exact[MOST];
                sampled got;
                px_error err = {0};
                check(px_shapley_exact(s, l, &p.pair, exact, NULL, &err), &err, "exact");
                sampled_run(&got, s, l, &options, &p.pair);
                near(got.e.sum, got.e.change, 1e-9, small_form(form));
                assert_true(got.e.sum_error == 0.0);
                for (int64_t i = 0; i < px_shapley_layer_get(s, l)->count; i++) {
                    cases++;
                    /* the losses themselves are float32 */
                    inside += fabs(got.values[i] - exact[i]) <= 3.0 * got.errors[i] + 2e-5;
                }
            }
            px_shapley_free(s);
            px_model_free(model);
        }
    assert_true(cases > 500);
    if (inside < 0.99 * cases)
        fail_msg("%d of %d estimates are within three standard errors", inside, cases);
}

/* --- truncation and goals -------------------------------------------------------------------- */

static void test_stated_errors_of_sums(void **state)
{
    (void)state;
    static const px_shapley_goal goals[] = {PX_SHAPLEY_ALL, PX_SHAPLEY_EXCITABLE, PX_SHAPLEY_TOP};
    for (size_t g = 0; g < PX_LEN(goals); g++)
        for (uint64_t seed = 0; seed < 6; seed++) {
            px_model *model = small_model(1, seed);
            px_shapley *s = small_shapley(model, 2);
            small_pair p;
            small_pair_init(&p, s, seed);
            px_shapley_sampling options = px_shapley_sampling_default();
            options.permutations = 400;
            options.truncation = 0.2;
            options.goal = goals[g];
            options.top = 2;
            sampled got;
            for (size_t l = 0; l < px_shapley_layer_count(s); l++) {
                sampled_run(&got, s, l, &options, &p.pair);
                near(got.e.sum, got.e.change, got.e.sum_error + 1e-9, "sum");
            }
            px_shapley_free(s);
            px_model_free(model);
        }
}

/* A clear-cut question needs fewer rows, and gets the same answer. */
static void test_goals_save_rows(void **state)
{
    (void)state;
    int fewer = 0, right = 0, asked = 0;
    for (uint64_t seed = 0; seed < 10; seed++) {
        px_model *model = small_model(0, seed);
        px_shapley *s = small_shapley(model, 2);
        small_pair p;
        small_pair_init(&p, s, seed);
        px_shapley_sampling all = px_shapley_sampling_default(), goal;
        all.permutations = 2000;
        all.truncation = 0.0;
        goal = all;
        goal.goal = PX_SHAPLEY_EXCITABLE;
        double exact[MOST], scaled[2][MOST];
        px_error err = {0};
        sampled a, b;
        check(px_shapley_exact(s, 0, &p.pair, exact, NULL, &err), &err, "exact");
        sampled_run(&a, s, 0, &all, &p.pair);
        sampled_run(&b, s, 0, &goal, &p.pair);
        fewer += b.e.evaluated < a.e.evaluated;
        const int64_t count = px_shapley_layer_get(s, 0)->count;
        double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
        for (int k = 0; k < 2; k++)
            for (int64_t i = 0; i < count; i++) {
                scaled[k][i] = k ? b.values[i] : exact[i];
                low[k] = fmin(low[k], scaled[k][i]);
                high[k] = fmax(high[k], scaled[k][i]);
            }
        for (int64_t i = 0; i < count; i++) {
            asked++;
            right += (scaled[0][i] > (low[0] + high[0]) / 2.0) ==
                     (scaled[1][i] > (low[1] + high[1]) / 2.0);
        }
        px_shapley_free(s);
        px_model_free(model);
    }
    if (fewer < 8 || right < 0.95 * asked)
        fail_msg("fewer rows in %d of 10, right in %d of %d", fewer, right, asked);
}

static void test_truncation_ends_orders(void **state)
{
    (void)state;
    enum { WIDE = 400 };
    net n; /* many neurons, of which the first few make all the difference */
    float w[2 * WIDE], v[WIDE * 2];
    for (int i = 0; i < WIDE; i++) {
        w[i] = w[WIDE + i] = 1.0f;
        v[2 * i] = i < 3 ? 1.0f : 1e-7f;
        v[2 * i + 1] = 0.0f;
    }
    net_init(&n, 1, "1,2");
    const int hidden = net_add(
        &n, "Relu", "",
        IN(V(net_add(&n, "MatMul", "", IN(V(n.x), V(net_tensor(&n, PX_FLOAT32, "2,400", w)))))));
    px_model *model = net_take(
        &n, net_add(&n, "MatMul", "", IN(V(hidden), V(net_tensor(&n, PX_FLOAT32, "400,2", v)))));
    px_shapley *s = small_shapley(model, 2);
    const float x[] = {0.2f, 0.1f}, moved[] = {0.9f, 0.6f};
    const px_shapley_pair pair = {.x = x, .moved = moved, .label = 0};
    double values[WIDE], errors[WIDE];
    int64_t rows[2];
    for (int truncated = 0; truncated < 2; truncated++) {
        px_shapley_estimate e = {.values = values, .errors = errors};
        px_shapley_sampling options = px_shapley_sampling_default();
        options.truncation = truncated ? 0.01 : 0.0;
        px_error err = {0};
        check(px_shapley_sample(s, 0, &options, &pair, &e, &err), &err, "sample");
        near(e.sum, e.change, e.sum_error + 1e-9, "sum");
        assert_true((e.truncated > 0) == (truncated == 1));
        rows[truncated] = e.evaluated;
    }
    assert_true(rows[1] < rows[0]);
    px_shapley_free(s);
    px_model_free(model);
}

/* --- threads, refusals ----------------------------------------------------------------------- */

static void test_same_bytes(void **state)
{
    (void)state;
    static const px_shapley_goal goals[] = {PX_SHAPLEY_ALL, PX_SHAPLEY_EXCITABLE, PX_SHAPLEY_TOP};
    px_model *model = small_model(1, 3);
    px_shapley *one = small_shapley(model, 1), *two = small_shapley(model, 2);
    small_pair p;
    small_pair_init(&p, one, 4);
    for (size_t g = 0; g < PX_LEN(goals); g++)
        for (size_t l = 0; l < px_shapley_layer_count(one); l++) {
            px_shapley_sampling options = px_shapley_sampling_default();
            options.goal = goals[g];
            options.top = 2;
            sampled a = {0}, b = {0};
            sampled_run(&a, one, l, &options, &p.pair);
            sampled_run(&b, two, l, &options, &p.pair);
            assert_memory_equal(a.values, b.values, sizeof a.values);
            assert_memory_equal(a.errors, b.errors, sizeof a.errors);
            assert_int_equal(a.e.evaluated, b.e.evaluated);
        }
    px_shapley_free(one);
    px_shapley_free(two);
    px_model_free(model);
}

static void test_refusals(void **state)
{
    (void)state;
    worked_example e = worked_open(1);
    const px_shapley_sampling good = px_shapley_sampling_default();
    const struct {
        const char *name, *says;
        size_t layer;
        int64_t label;
        px_shapley_sampling options;
    } cases[] = {
        {"no such layer", "no layer 1", 1, 0, good},
        {"odd", "3 permutations", 0, 0, {.permutations = 3, .delta = 0.2}},
        {"none", "0 permutations", 0, 0, {.permutations = 0, .delta = 0.2}},
        {"truncation", "truncation", 0, 0, {.permutations = 2, .truncation = 1.0, .delta = 0.2}},
        {"delta", "delta", 0, 0, {.permutations = 2, .delta = 0.0}},
        {"lambda",
         "outside 0..1",
         0,
         0,
         {.permutations = 2,
          .delta = 0.2,
          .goal = PX_SHAPLEY_EXCITABLE,
          .norm = PX_SHAPLEY_LAYER_MAX,
          .lambda = 1.5}},
        {"top", "top 0", 0, 0, {.permutations = 2, .delta = 0.2, .goal = PX_SHAPLEY_TOP}},
        {"label", "label 2", 0, 2, good},
        {"no label", "label -1", 0, -1, good},
    };
    for (size_t i = 0; i < PX_LEN(cases); i++) {
        sampled got = {.e = {.values = got.values, .errors = got.errors}};
        px_error err = {0};
        px_shapley_pair pair = e.pair;
        pair.label = cases[i].label;
        if (px_shapley_sample(e.s, cases[i].layer, &cases[i].options, &pair, &got.e, &err) ==
                PX_OK ||
            !strstr(err.message, cases[i].says))
            fail_msg("case '%s': %s", cases[i].name, err.message);
    }
    worked_close(&e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_worked_orders),
        cmocka_unit_test(test_radius),
        cmocka_unit_test(test_three_standard_errors),
        cmocka_unit_test(test_stated_errors_of_sums),
        cmocka_unit_test(test_goals_save_rows),
        cmocka_unit_test(test_truncation_ends_orders),
        cmocka_unit_test(test_same_bytes),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
