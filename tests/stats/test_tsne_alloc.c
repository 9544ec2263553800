/* tests/stats/test_tsne_alloc.c - every allocation fails in turn: an error, no leak, no crash */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"
#include "failing_alloc.h"

#include <internal/rng.h>
#include <internal/tsne.h>

enum { N = 40, D = 6 };
static float x[N * D];
static px_error err;

static px_status work(px_tsne_method method)
{
    px_tsne_options options = px_tsne_options_default();
    px_tsne_map map = {0};
    double trust = 0.0;
    options.method = method;
    options.perplexity = 5;
    options.iterations = 3;
    options.components = 4;
    options.threads = 1;
    px_status status = px_tsne(x, N, D, &options, &map, &err);
    if (status == PX_OK)
        status = px_trustworthiness(x, N, D, map.y, 5, 0, 1, &trust, &err);
    px_tsne_map_done(&map);
    return status;
}

static void test_each_fails_in_turn(void **state)
{
    (void)state;
    px_random random = px_rng(4, PX_RNG_TEST, 0, 0);
    for (size_t i = 0; i < N * D; i++)
        x[i] = (float)px_rng_normal(&random);
    for (int m = PX_TSNE_ALL_PAIRS; m <= PX_TSNE_BARNES_HUT; m++) {
        px_status status;
        long k = 0;
        for (; fail_at(k), status = work((px_tsne_method)m), fail_never(); k++)
            if (status != PX_E_NOMEM)
                fail_msg("method %d, allocation %ld: status %d", m, k, (int)status);
        assert_int_equal(status, PX_OK);
        assert_true(k > 20);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_each_fails_in_turn)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
