/* tests/localize/test_localize_nomem.c - each allocation fails in turn: counting, ranking, random
 * neurons, files, Shapley values
 *
 * Whatever fails says PX_E_NOMEM and leaves nothing behind (the leak checker watches).
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "localize_helpers.h"

#include "failing_alloc.h"

#include <internal/localize.h>
#include <internal/shapley_tally.h>

typedef struct fixture {
    px_model *model;
    small_data data;
    px_spectrum *spectrum;
} fixture;

static int set_up(void **state)
{
    static fixture f;
    f.model = small_net(7, 2);
    f.data = small_digits(f.model, "test", 12, 0);
    f.spectrum = example_spectrum(3);
    *state = &f;
    return 0;
}

static int tear_down(void **state)
{
    fixture *f = *state;
    px_spectrum_free(f->spectrum);
    small_close(&f->data);
    px_model_free(f->model);
    return 0;
}

static px_status count(const void *context, px_error *err)
{
    const fixture *f = context;
    px_spectrum_options options = px_spectrum_options_default();
    px_spectrum *spectrum = NULL;
    options.threads = 1;
    PX_TRY(px_spectrum_new(f->model, NULL, &options, &spectrum, err));
    const px_status status = px_spectrum_run(spectrum, f->data.set, &f->data.pre, NULL, err);
    px_spectrum_free(spectrum);
    return status;
}

static px_status lists(const void *context, px_error *err)
{
    const fixture *f = context;
    const px_rank_options options = px_rank_options_default();
    px_suspicious *top = NULL, *random = NULL, *read = NULL;
    char path[TEST_PATH];
    static double matrix[32 * 32];
    test_path("nomem.csv", path);
    px_status status = px_suspicious_rank(f->spectrum, &options, &top, err);
    if (status == PX_OK)
        status = px_suspicious_random(f->spectrum, (const px_suspicious *const[]){top}, 1,
                                      &(px_baseline_options){.k = 2}, &random, err);
    if (status == PX_OK)
        status = px_suspicious_save(top, path, err);
    if (status == PX_OK)
        status = px_suspicious_open(path, &read, err);
    if (status == PX_OK)
        status = px_measures_spearman(f->spectrum, 0, 3.0, matrix, err);
    if (status == PX_OK)
        status = px_suspicious_overlap(top, random, 0, matrix, err);
    px_rankings rankings = {0};
    if (status == PX_OK)
        status = px_rankings_compare(f->spectrum, &options, top, &rankings, err);
    px_rankings_done(&rankings);
    px_suspicious_free(top);
    px_suspicious_free(random);
    px_suspicious_free(read);
    return status;
}

static px_status files(const void *context, px_error *err)
{
    const fixture *f = context;
    px_spectrum *read = NULL, *sum = NULL;
    char path[TEST_PATH];
    test_path("nomem.spectrum", path);
    px_status status = px_spectrum_save(f->spectrum, path, err);
    if (status == PX_OK)
        status = px_spectrum_open(path, &read, err);
    if (status == PX_OK)
        status = px_spectrum_open(path, &sum, err);
    if (status == PX_OK)
        status = px_spectrum_merge(sum, read, err); /* neither knows any data */
    px_spectrum_free(read);
    px_spectrum_free(sum);
    return status;
}

/* All ways to values, and their ranking. */
static px_status shapley(const void *context, px_error *err)
{
    const fixture *f = context;
    static const px_shapley_method methods[] = {PX_SHAPLEY_SAMPLED, PX_SHAPLEY_AUMANN,
                                                PX_SHAPLEY_AUMANN_LAYER, PX_SHAPLEY_CODE};
    static float x[2 * 784], moved[2 * 784];
    px_shapley_options options = px_shapley_options_default();
    px_shapley *s = NULL;
    int64_t labels[2];
    options.threads = 1;
    PX_TRY(px_shapley_new(f->model, NULL, &options, &s, err));
    assert_true(px_shapley_input_size(s) <= 784);
    for (int i = 0; i < 2 * 784; i++)
        moved[i] = x[i] + (float)(i % 7) * 0.02f;
    px_status status = px_shapley_judge(s, x, NULL, 2, labels, NULL, err);
    for (size_t m = 0; m < sizeof methods / sizeof *methods && status == PX_OK; m++) {
        px_shapley_tally_options o = px_shapley_tally_options_default();
        px_shapley_tally *tally = NULL;
        px_suspicious *list = NULL;
        o.method = methods[m];
        o.sampling.permutations = 2;
        status = px_shapley_tally_new(s, &o, &tally, err);
        if (status == PX_OK)
            status = px_shapley_tally_add(tally, x, moved, labels, 2, err);
        if (status == PX_OK)
            status = px_shapley_rank(tally, 3, false, &list, err);
        px_suspicious_free(list);
        px_shapley_tally_free(tally);
    }
    px_shapley_free(s);
    return status;
}

static void test_shapley(void **state)
{
    fail_in_turn(shapley, *state, 200, "Shapley values");
}

static void test_count(void **state)
{
    fail_in_turn(count, *state, 200, "counting");
}

static void test_lists(void **state)
{
    fail_in_turn(lists, *state, 200, "lists");
}

static void test_files(void **state)
{
    fail_in_turn(files, *state, 200, "files");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_count),
        cmocka_unit_test(test_lists),
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_shapley),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
