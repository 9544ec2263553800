/* tests/localize/test_localize_nomem.c - each allocation fails in turn: counting, ranking, random
 * neurons, files
 *
 * Whatever fails says PX_E_NOMEM and leaves nothing behind (the leak checker watches).
 */
#include "localize_helpers.h"

#include "failing_alloc.h"

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
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
