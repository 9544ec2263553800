/* tests/attribute/test_shapley.c - exact values and the diagonal
 *
 * The worked example has the numbers of LGR B.11. Elsewhere coalitions are compared
 * with the whole network run with gates, and values with their definition.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/plan_helpers.h"
#include "shapley_helpers.h"

#include <internal/engine.h>
#include <math.h>
#include <string.h>

static void near(double got, double want, double most, const char *what, int64_t at)
{
    if (!(fabs(got - want) <= most))
        fail_msg("%s, %lld: %.9g instead of %.9g", what, (long long)at, got, want);
}

/* --- the worked example ---------------------------------------------------------------------- */

static void test_worked_exact(void **state)
{
    (void)state;
    static const double u[] = {0.0,        0.01577034, 0.52670401, 0.39985638,
                               0.15397795, 0.11148758, 0.66446735, 0.47942106};
    static const double psi[] = {-0.08464832, 0.44730840, 0.11676097};
    worked_example e = worked_open(2);
    double values[3], utilities[8], losses[2], sum = 0.0;
    px_error err = {0};
    check(px_shapley_exact(e.s, 0, &e.pair, values, utilities, &err), &err, "exact");
    for (int i = 0; i < 8; i++)
        near(utilities[i], u[i], 1e-6, "u", i);
    for (int i = 0; i < 3; i++) {
        near(values[i], psi[i], 1e-6, "psi", i);
        sum += values[i];
    }
    const float inputs[] = {e.pair.x[0], e.pair.x[1], e.pair.moved[0], e.pair.moved[1]};
    check(px_shapley_judge(e.s, inputs, (int64_t[]){0, 0}, 2, NULL, losses, &err), &err, "judge");
    near(losses[0], 0.25192908, 1e-6, "loss", 0);
    near(losses[1], 0.73135014, 1e-6, "loss", 1);
    near(sum, losses[1] - losses[0], 1e-6, "sum", 0);
    worked_close(&e);
}

static void test_worked_diagonal(void **state)
{
    (void)state;
    static const double psi[] = {-0.08407676, 0.44718933, 0.11630849};
    static const double scaled[] = {0.0, 1.0, 0.37861969};
    worked_example e = worked_open(2);
    px_error err = {0};
    const float inputs[] = {e.pair.x[0], e.pair.x[1], e.pair.moved[0], e.pair.moved[1]};
    const int64_t labels[] = {0, 0};
    for (int per_layer = 0; per_layer < 2; per_layer++) {
        double sides[2][3], values[3], sum = 0.0;
        const px_diagonal diagonal = {.nodes = 8, .per_layer = per_layer};
        check(px_shapley_integrate(e.s, &diagonal, inputs, labels, 2, sides[0], &err), &err,
              "integrate");
        for (int i = 0; i < 3; i++) {
            values[i] = sides[1][i] - sides[0][i];
            near(values[i], psi[i], 1e-6, per_layer ? "per layer" : "joint", i);
            sum += values[i];
        }
        near(sum, 0.47942106, 1e-6, "sum", per_layer);
    }
    double exact[3], normed[3];
    check(px_shapley_exact(e.s, 0, &e.pair, exact, NULL, &err), &err, "exact");
    px_shapley_normalise(e.s, PX_SHAPLEY_LAYER_MINMAX, exact, normed);
    for (int i = 0; i < 3; i++)
        near(normed[i], scaled[i], 1e-5, "layer-minmax", i);
    near(px_shapley_fitness(e.s, PX_SHAPLEY_LAYER_MINMAX, 0.5, exact), 1.0 / 3.0, 1e-12, "fitness",
         0);
    worked_close(&e);
}

/* --- coalitions against the whole network ---------------------------------------------------- */

static double factorial(int n)
{
    return n < 2 ? 1.0 : n * factorial(n - 1);
}

/* Eq. 5 by the letter. */
static double by_definition(const double *u, int n, int player)
{
    double sum = 0.0;
    for (uint32_t s = 0; s < 1u << n; s++) {
        const int size = __builtin_popcount(s);
        if (s >> player & 1)
            sum += factorial(size - 1) * factorial(n - size) / factorial(n) *
                   (u[s] - u[s & ~(1u << player)]);
    }
    return sum;
}

static void check_layer(const px_model *model, px_shapley *s, size_t layer, const small_pair *p,
                        const char *form)
{
    const px_shapley_layer *l = px_shapley_layer_get(s, layer);
    double values[6], utilities[64], sum = 0.0;
    px_error err = {0};
    assert_true(l->count <= 6);
    check(px_shapley_exact(s, layer, &p->pair, values, utilities, &err), &err, form);
    for (uint32_t bits = 0; bits < 1u << l->count; bits++)
        near(utilities[bits], gated_utility(model, s, layer, &p->pair, bits), 2e-5, form, bits);
    for (int i = 0; i < l->count; i++) {
        near(values[i], by_definition(utilities, (int)l->count, i), 1e-12, form, i);
        sum += values[i];
    }
    near(sum, utilities[(1 << l->count) - 1] - utilities[0], 1e-12, form, -1);
    if (l->cut)
        near(utilities[0], 0.0, 1e-12, "nothing comes through", (int64_t)layer);
}

static void test_coalitions(void **state)
{
    (void)state;
    for (int form = 0; form < SMALL_FORMS; form++)
        for (uint64_t seed = 0; seed < 3; seed++) {
            px_model *model = small_model(form, seed);
            px_shapley *s = small_shapley(model, 2);
            small_pair p;
            small_pair_init(&p, s, seed);
            for (size_t l = 0; l < px_shapley_layer_count(s); l++)
                check_layer(model, s, l, &p, small_form(form));
            px_shapley_free(s);
            px_model_free(model);
        }
}

/* The inner layer of a residual block is no cut, and no sum is claimed for it. */
static void test_cuts(void **state)
{
    (void)state;
    static const bool cuts[] = {true, false, true};
    px_model *model = small_model(3, 1);
    px_shapley *s = small_shapley(model, 1);
    assert_int_equal(px_shapley_layer_count(s), 3);
    for (size_t l = 0; l < 3; l++)
        assert_int_equal(px_shapley_layer_get(s, l)->cut, cuts[l]);
    px_shapley_free(s);
    px_model_free(model);
}

/* --- the diagonal against finite differences and its sum ------------------------------------- */

/* The loss of x with all layers in [first, end) scaled by q, but neuron `n` of layer `layer` by m.
 */
static double scaled_loss(const px_model *model, const px_shapley *s, size_t first, size_t end,
                          const float *x, int64_t label, double q, size_t layer, int64_t n,
                          double m)
{
    enum { MOST = 4 };
    px_gate gates[MOST];
    const px_probe *probe = px_shapley_probe(s);
    px_plan_options options = px_plan_options_default();
    assert_true(end - first <= MOST);
    for (size_t l = first; l < end; l++)
        gates[l - first] = (px_gate){.value = px_probe_layer(probe, l)->tap_value, .axis = 1};
    options.batch = 1;
    options.gates = gates;
    options.gate_count = end - first;
    options.reference = true;
    px_plan *plan = NULL;
    px_session *session = open_plan(model, &options, &plan, "scaled");
    memcpy(px_session_input(session, 0), x, (size_t)px_shapley_input_size(s) * sizeof *x);
    for (size_t l = first; l < end; l++) {
        float *factors = px_session_gate(session, l - first);
        for (int64_t i = 0; i < px_probe_layer(probe, l)->neuron_count; i++)
            factors[i] = (float)(l == layer && i == n ? m : q);
    }
    px_error err = {0};
    int64_t prediction;
    double loss;
    check(px_session_forward(session, &err), &err, "scaled");
    check(px_session_judge(session, px_shapley_scores(s), &label, 1, &prediction, &loss, &err),
          &err, "scaled");
    close_plan(plan, session);
    return loss;
}

static void check_diagonal(const px_model *model, px_shapley *s, const small_pair *p,
                           bool per_layer, const char *form)
{
    const px_diagonal fine = {.nodes = 64, .per_layer = per_layer};
    const size_t layers = px_shapley_layer_count(s);
    double values[32];
    px_error err = {0};
    assert_true(px_shapley_neuron_count(s) <= 32);
    check(px_shapley_integrate(s, &fine, p->x, &p->pair.label, 1, values, &err), &err, form);
    double all = 0.0;
    for (size_t l = 0; l < layers; l++) {
        const px_shapley_layer *layer = px_shapley_layer_get(s, l);
        double sum = 0.0;
        for (int64_t i = 0; i < layer->count; i++)
            sum += values[layer->offset + i];
        all += sum;
        const double ends[2] = {
            scaled_loss(model, s, l, l + 1, p->x, p->pair.label, 0.0, layers, 0, 0.0),
            scaled_loss(model, s, l, l + 1, p->x, p->pair.label, 1.0, layers, 0, 0.0)};
        if (per_layer) /* kinks of the rectifiers leave an error of the quadrature */
            near(sum, ends[1] - ends[0], 3e-2, form, (int64_t)l);
    }
    if (!per_layer)
        near(all,
             scaled_loss(model, s, 0, layers, p->x, p->pair.label, 1.0, layers, 0, 0.0) -
                 scaled_loss(model, s, 0, layers, p->x, p->pair.label, 0.0, layers, 0, 0.0),
             3e-2, form, -1);
    const px_diagonal one = {.nodes = 1, .per_layer = per_layer};
    check(px_shapley_integrate(s, &one, p->x, &p->pair.label, 1, values, &err), &err, form);
    for (size_t l = 0; l < layers; l++) { /* one node: the gradient at a half */
        const px_shapley_layer *layer = px_shapley_layer_get(s, l);
        const size_t first = per_layer ? l : 0, end = per_layer ? l + 1 : layers;
        for (int64_t i = 0; i < layer->count; i++) {
            const double h = 2e-3;
            const double slope =
                (scaled_loss(model, s, first, end, p->x, p->pair.label, 0.5, l, i, 0.5 + h) -
                 scaled_loss(model, s, first, end, p->x, p->pair.label, 0.5, l, i, 0.5 - h)) /
                (2.0 * h);
            near(values[layer->offset + i], slope, 1e-3 + 0.005 * fabs(slope), form, i);
        }
    }
}

static void test_diagonal(void **state)
{
    (void)state;
    for (int form = 0; form < SMALL_FORMS; form++)
        for (uint64_t seed = 0; seed < 2; seed++) {
            px_model *model = small_model(form, seed);
            px_shapley *s = small_shapley(model, 2);
            small_pair p;
            small_pair_init(&p, s, seed);
            check_diagonal(model, s, &p, false, small_form(form));
            check_diagonal(model, s, &p, true, small_form(form));
            px_shapley_free(s);
            px_model_free(model);
        }
}

/* --- threads, and what is handed over together ----------------------------------------------- */

static void test_same_bytes(void **state)
{
    (void)state;
    enum { INPUTS = 21, MOST = 32 };
    px_model *model = small_model(1, 5);
    px_shapley *one = small_shapley(model, 1), *two = small_shapley(model, 2);
    const size_t size = (size_t)px_shapley_input_size(one);
    const size_t neurons = (size_t)px_shapley_neuron_count(one);
    float x[INPUTS * SMALL_INPUT];
    int64_t labels[INPUTS];
    double a[INPUTS * MOST], b[INPUTS * MOST];
    px_error err = {0};
    net_fill(x, INPUTS * size, 3, -1.0, 1.0);
    for (int i = 0; i < INPUTS; i++)
        labels[i] = i % 4;
    for (int per_layer = 0; per_layer < 2; per_layer++) {
        const px_diagonal d = {.nodes = 5, .per_layer = per_layer};
        check(px_shapley_integrate(one, &d, x, labels, INPUTS, a, &err), &err, "one");
        check(px_shapley_integrate(two, &d, x, labels, INPUTS, b, &err), &err, "two");
        assert_memory_equal(a, b, INPUTS * neurons * sizeof *a);
        for (size_t i = 0; i < INPUTS; i++)
            check(px_shapley_integrate(two, &d, x + i * size, labels + i, 1, b + i * neurons, &err),
                  &err, "alone");
        assert_memory_equal(a, b, INPUTS * neurons * sizeof *a);
    }
    px_shapley_free(one);
    px_shapley_free(two);
    px_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_worked_exact), cmocka_unit_test(test_worked_diagonal),
        cmocka_unit_test(test_coalitions),   cmocka_unit_test(test_cuts),
        cmocka_unit_test(test_diagonal),     cmocka_unit_test(test_same_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
