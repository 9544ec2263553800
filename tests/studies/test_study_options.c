/* tests/studies/test_study_options.c - what a study plans for what it is asked */
/* SPDX-License-Identifier: Apache-2.0 */
#include "study_helpers.h"

#include "base/memory.h"
#include "frame/study_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static px_study_options options(void)
{
    px_study_options o = px_study_options_default();
    o.folder = folder;
    return o;
}

static void test_refused(void **state)
{
    (void)state;
    static const char *const no_spec[] = {"mnist"}, *const unknown[] = {"imagenet=x"};
    static const struct {
        const char *name, *parts, *dataset;
        const char *const *data;
        int64_t runs;
        const char *message;
    } cases[] = {
        {"nsx", NULL, NULL, NULL, 1, "there is no study 'nsx'"},
        {"nss", "select,repairs", NULL, NULL, 1, "--parts 'repairs': the study 'nss' has select,"},
        {"nss", "select:0", NULL, NULL, 1, "--parts 'select:0'"},
        {"nss", "select:x", NULL, NULL, 1, "--parts 'select:x'"},
        {"nss", NULL, "mnist,imagenet", NULL, 1, "--dataset 'imagenet': the study"},
        {"nss", NULL, NULL, no_spec, 1, "--data 'mnist': expected NAME=SPEC"},
        {"nss", NULL, NULL, unknown, 1, "--data 'imagenet': the study"},
        {"nss", NULL, NULL, NULL, 0, "at least one run"},
    };
    for (size_t i = 0; i < PX_LEN(cases); i++) {
        px_study *study = NULL;
        px_error err = {0};
        px_study_options o = options();
        o.parts = cases[i].parts;
        o.dataset = cases[i].dataset;
        o.data = cases[i].data;
        o.data_count = cases[i].data != NULL;
        o.runs = cases[i].runs;
        if (px_study_new(cases[i].name, &o, &study, &err) != PX_E_USAGE ||
            !strstr(err.message, cases[i].message))
            fail_msg("case %zu: '%s'", i, err.message);
    }
}

static void put(px_study *study, const char *key, double value, double seconds)
{
    cell_list list = {.count = 0};
    pxi_cell_put(&list, value, "fdr20");
    assert_int_equal(pxi_study_put(study, key, seconds, &list, NULL), PX_OK);
}

static px_study *open_study(const char *parts, const char *arch, int64_t runs, int64_t *jobs,
                            double *seconds)
{
    px_study *study = NULL;
    px_error err = {0};
    px_study_options o = options();
    o.dataset = "fashion-mnist";
    o.arch = arch;
    o.parts = parts;
    o.runs = runs;
    if (px_study_new("nss", &o, &study, &err) != PX_OK)
        fail_msg("%s", err.message);
    px_study_left(study, jobs, seconds);
    return study;
}

/* What has its cell is not planned again, and what jobs took before is what they are thought to
 * take. Reduced cells are not those of all inputs. */
static void test_resumes(void **state)
{
    (void)state;
    int64_t jobs = 0;
    double seconds = 0.0, before = 0.0;
    px_study *study = open_study("k:2", "lenet1", 2, &jobs, &before);
    assert_int_equal(jobs, 2 * 5 + 2); /* two networks */
    put(study, "fashion-mnist lenet1 k=20 run=1 n=10000", 0.5, 1.0);
    put(study, "fashion-mnist lenet1 k=1 run=2 n=500", 0.5, 1.0);
    put(study, "job fashion-mnist lenet1 variant of nss #1", 0.0, 1000.0);
    px_study_free(study);
    study = open_study("k:2", "lenet1", 2, &jobs, &seconds);
    assert_int_equal(jobs, 2 * 5 + 2 - 1);
    assert_true(seconds > 9000.0 && seconds < 9000.0 + before);
    px_study_free(study);
    study = open_study("k:2", "vgg16", 2, &jobs, &seconds); /* not with these data */
    assert_int_equal(jobs, 0);
    px_study_free(study);
}

static void test_figures(void **state)
{
    (void)state;
    int64_t jobs = 0;
    double seconds = 0.0;
    px_study *study = open_study("k", "lenet1", 2, &jobs, &seconds);
    const char *prefix = "fashion-mnist lenet1 k=20";
    put(study, "fashion-mnist lenet1 k=20 run=1 n=500", 0.9, 1.0);
    study_figure f = pxi_study_figure(study, prefix, "fdr20", 100.0, 61.2, 10000);
    assert_true(f.reduced && f.n == 1 && f.mean == 90.0 && isnan(f.sd) && f.paper == 61.2);
    put(study, "fashion-mnist lenet1 k=20 run=1 n=10000", 0.5, 1.0);
    put(study, "fashion-mnist lenet1 k=20 run=2 n=10000", 0.7, 1.0);
    put(study, "fashion-mnist lenet1 k=20 run=3 n=10000 more", 0.0, 1.0); /* another key */
    f = pxi_study_figure(study, prefix, "fdr20", 100.0, 61.2, 10000);
    assert_true(!f.reduced && f.n == 2);
    assert_true(fabs(f.mean - 60.0) < 1e-12 && fabs(f.sd - 14.142135623730951) < 1e-12);
    f = pxi_study_figure(study, prefix, "fdr5", 100.0, 61.2, 10000);
    assert_true(f.n == 0 && isnan(f.mean));
    px_study_free(study);
}

/* All of the paper's rows are there before anything was run. */
static void test_empty_report(void **state)
{
    (void)state;
    int64_t jobs = 0;
    double seconds = 0.0;
    px_error err = {0};
    char *text = NULL;
    px_study *study = open_study("k", "lenet1", 1, &jobs, &seconds);
    for (px_study_format f = PX_STUDY_TEXT; f <= PX_STUDY_JSON; f++) {
        assert_int_equal(px_study_report(study, f, &text, &err), PX_OK);
        assert_non_null(strstr(text, "CIFAR-10 (V-16)"));
        assert_non_null(strstr(text, "not run: needs SVHN"));
        assert_non_null(strstr(text, f == PX_STUDY_JSON ? "99.87" : "99.9 / –"));
        free(text);
    }
    px_study_free(study);
}

/* A study of other data is not continued with these. */
static void test_data_change(void **state)
{
    (void)state;
    int64_t jobs = 0;
    double seconds = 0.0;
    px_error err = {0};
    px_dataset *set = NULL;
    px_data_options o = px_data_options_default();
    o.limit = 20;
    px_study *study = open_study("k", "lenet1", 1, &jobs, &seconds);
    assert_int_equal(px_dataset_open("digits:1", &o, &set, &err), PX_OK);
    for (int i = 0; i < 2; i++)
        assert_int_equal(pxi_study_check_data(study, "fashion-mnist", "test", set, &err), PX_OK);
    px_dataset_close(set);
    o.shuffle = true; /* other labels */
    assert_int_equal(px_dataset_open("digits:2", &o, &set, &err), PX_OK);
    assert_int_equal(pxi_study_check_data(study, "fashion-mnist", "test", set, &err),
                     PX_E_MISMATCH);
    assert_non_null(strstr(err.message, "use another folder"));
    px_dataset_close(set);
    px_study_free(study);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(test_resumes, setup, teardown),
        cmocka_unit_test_setup_teardown(test_figures, setup, teardown),
        cmocka_unit_test_setup_teardown(test_empty_report, setup, teardown),
        cmocka_unit_test_setup_teardown(test_data_change, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
