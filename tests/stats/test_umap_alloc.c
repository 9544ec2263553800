/* tests/stats/test_umap_alloc.c - every allocation fails in turn: an error, no leak, no crash */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"
#include "failing_alloc.h"

#include <internal/rng.h>
#include <internal/umap.h>

enum { N = 40, D = 6 };
static float x[N * D];
static px_error err;

static px_status work(void)
{
    px_umap_options options = px_umap_options_default();
    px_umap_map map = {0};
    options.epochs = 3;
    options.components = 4;
    options.threads = 1;
    const px_status status = px_umap(x, N, D, &options, &map, &err);
    px_umap_map_done(&map);
    return status;
}

static void test_each_fails_in_turn(void **state)
{
    (void)state;
    px_random random = px_rng(4, PX_RNG_TEST, 0, 0);
    for (size_t i = 0; i < N * D; i++)
        x[i] = (float)px_rng_normal(&random);
    px_status status;
    long k = 0;
    for (; fail_at(k), status = work(), fail_never(); k++)
        if (status != PX_E_NOMEM)
            fail_msg("allocation %ld: status %d", k, (int)status);
    assert_int_equal(status, PX_OK);
    assert_true(k > 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_each_fails_in_turn)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
