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

typedef px_status (*work)(const fixture *f, px_error *err);

static px_status count(const fixture *f, px_error *err)
{
    px_spectrum_options options = px_spectrum_options_default();
    px_spectrum *spectrum = NULL;
    options.threads = 1;
    PX_TRY(px_spectrum_new(f->model, NULL, &options, &spectrum, err));
    const px_status status = px_spectrum_run(spectrum, f->data.set, &f->data.pre, NULL, err);
    px_spectrum_free(spectrum);
    return status;
}

static px_status lists(const fixture *f, px_error *err)
{
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

static px_status files(const fixture *f, px_error *err)
{
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

/* Every allocation at first, then fewer and fewer: planning alone makes thousands. */
static void fail_in_turn(const fixture *f, work job, const char *what)
{
    bool failed = true;
    for (long k = 0; failed; k += 1 + k / 200) {
        px_error err = {0};
        fail_at(k);
        const px_status status = job(f, &err);
        failed = fail_never();
        if (status != (failed ? PX_E_NOMEM : PX_OK))
            fail_msg("%s, allocation %ld: status %d, '%s'", what, k, (int)status, err.message);
    }
}

static void test_count(void **state)
{
    fail_in_turn(*state, count, "counting");
}

static void test_lists(void **state)
{
    fail_in_turn(*state, lists, "lists");
}

static void test_files(void **state)
{
    fail_in_turn(*state, files, "files");
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
