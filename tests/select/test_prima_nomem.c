/* tests/select/test_prima_nomem.c - each allocation of PRIMA, its ranker, the statistics and the
 * fault curve fails in turn */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cover_helpers.h"
#include "failing_alloc.h"

#include "base/memory.h"
#include "select/prima.h"
#include "stats/boosted_trees.h"

#include <internal/fault_curve.h>
#include <internal/stats.h>

static px_model *model;
static small_data data;

static px_status try_curve(px_error *err)
{
    static const int64_t order[] = {2, 0, 1}, labels[] = {0, 1, 1};
    static const int32_t predicted[] = {1, 1, 0};
    px_fault_curve curve;
    PX_TRY(px_fault_curve_init(&curve, order, 3, labels, predicted, 3, err));
    px_fault_curve_done(&curve);
    return PX_OK;
}

static const double numbers[] = {3, 1, 2, 5}, others[] = {1, 4, 2, 2};

static px_status try_spearman(px_error *err)
{
    px_correlation r;
    return px_spearman(numbers, others, 4, &r, err);
}

static px_status try_mann_whitney(px_error *err)
{
    px_mann_whitney_result r;
    return px_mann_whitney(numbers, 4, others, 4, PX_TWO_SIDED, PX_U_AUTO, &r, err);
}

static px_status try_trees(px_error *err)
{
    static const float x[] = {0, 3, 1, 2, 2, 1, 3, 0};
    static const bool y[] = {false, false, true, true};
    pxi_boost_options options = pxi_boost_options_default();
    pxi_boosted *trees = NULL;
    options.trees = 3;
    options.min_hessian = 0.1;
    options.threads = 1;
    PX_TRY(pxi_boosted_fit(x, y, 4, 2, &options, &trees, err));
    pxi_boosted_free(trees);
    return PX_OK;
}

static px_status ignore(void *context, const pxi_prima_row *row, px_error *err)
{
    (void)context;
    (void)row;
    (void)err;
    return PX_OK;
}

static px_status try_prima(px_error *err)
{
    static const pxi_prima_settings settings = {
        .mutants = 1, .ratio = 0.1, .gf_scale = 1, .patch = 2, .patches = 2, .noise = 0.1};
    pxi_prima_net *net = NULL;
    px_scores scores;
    PX_TRY(px_model_scores(model, &scores, err));
    PX_TRY(pxi_prima_net_new(model, &net, err));
    const pxi_prima_pass pass = {.net = net,
                                 .settings = &settings,
                                 .scores = scores,
                                 .set = data.set,
                                 .pre = &data.pre,
                                 .count = 2,
                                 .batch = 2,
                                 .threads = 1,
                                 .visit = ignore};
    const px_status status = pxi_prima_run(&pass, err);
    pxi_prima_net_free(net);
    return status;
}

static const struct {
    const char *name;
    px_status (*work)(px_error *err);
    long least; /* allocations */
} cases[] = {
    {"curve", try_curve, 5},  {"spearman", try_spearman, 3}, {"u test", try_mann_whitney, 3},
    {"trees", try_trees, 14}, {"prima", try_prima, 40},
};

static void test_nomem(void **state)
{
    (void)state;
    for (size_t i = 0; i < PX_LEN(cases); i++) {
        bool failed = true;
        for (long k = 0; failed; k++) {
            px_error err = {0};
            fail_at(k);
            const px_status status = cases[i].work(&err);
            failed = fail_never();
            /* kernels may do without what an optimisation could not have */
            if (failed ? status != PX_E_NOMEM && status != PX_OK : status != PX_OK)
                fail_msg("%s, allocation %ld: %s '%s'", cases[i].name, k, px_status_name(status),
                         err.message);
            assert_true(failed || k >= cases[i].least);
        }
    }
}

int main(void)
{
    model = small_net(7, 2);
    data = small_digits(model, "test", 2, 0);
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_nomem)};
    const int failures = cmocka_run_group_tests(tests, NULL, NULL);
    small_close(&data);
    px_model_free(model);
    return failures;
}
