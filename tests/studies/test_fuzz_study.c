/* tests/studies/test_fuzz_study.c - what the study of fuzzing plans, and what it makes of cells */
/* SPDX-License-Identifier: Apache-2.0 */
#include "study_helpers.h"

#include "failing_alloc.h"

#include "base/memory.h"
#include "fuzz/fuzz_study.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const data[] = {"cifar-10=digits", "imagenet=digits"};
static const char *const models[] = {"mobilenetv2=a.onnx", "imagenet/vgg16=b.onnx"};

static px_study *opened(const char *parts, int64_t runs, int64_t pieces, double seconds,
                        int64_t *jobs)
{
    px_study_options o = STUDY_OPTIONS(data, models);
    o.parts = parts;
    o.runs = runs;
    o.each_pieces = pieces;
    o.each_s = seconds;
    return study_open("fuzz", &o, jobs);
}

static void put(px_study *study, const char *key, double faults, double outputs, double pairs)
{
    cell_list list = {.count = 0};
    pxi_cell_put(&list, faults, "faults");
    pxi_cell_put(&list, outputs, "outputs");
    pxi_cell_put(&list, faults / outputs, "rft");
    pxi_cell_put(&list, pairs, "pairs");
    pxi_cell_put(&list, 2000.0, "picks");
    assert_int_equal(pxi_study_put(study, key, 1.0, &list, NULL), PX_OK);
}

/* Three networks are at hand: one to be trained, two given. Twelve criteria, one of them
 * twice, and random. */
static void test_plan(void **state)
{
    (void)state;
    int64_t jobs = 0;
    px_study_free(opened("networks", 1, 0, 0.0, &jobs));
    assert_int_equal(jobs, 3);
    px_study_free(opened(NULL, 2, 0, 0.0, &jobs));
    assert_int_equal(jobs, 3 + 2 * 14 * 3);
    px_study *study = opened("kmnc:3,random", 1, 2000, 0.0, &jobs);
    assert_int_equal(jobs, 3 + (3 + 1) * 3);
    /* networks, then run by run */
    assert_string_equal(study->jobs[0].label, "cifar-10 resnet20: train a network");
    assert_string_equal(study->jobs[3].label, "cifar-10 resnet20: KMNC, run 1, 2000 picks");
    assert_int_equal(study->jobs[9].run, 2);
    put(study, "cifar-10 resnet20 fuzz kmnc picks run=2 n=2000", 1, 2, 1);
    px_study_free(study);
    px_study_free(opened("kmnc:3,random", 1, 2000, 0.0, &jobs));
    assert_int_equal(jobs, 3 + (3 + 1) * 3 - 1);
    px_study_free(opened("kmnc:3,random", 1, 0, 0.0, &jobs)); /* more picks are other cells */
    assert_int_equal(jobs, 3 + (3 + 1) * 3);
    px_study_free(opened("kmnc:3,random", 1, 0, 300.0, &jobs)); /* and so is time */
    assert_int_equal(jobs, 3 + (3 + 1) * 3);
}

static void test_missing(void **state)
{
    static const struct {
        size_t subject;
        const char *words;
    } cases[] = {{FZ_RESNET, NULL},
                 {FZ_VGG, "not run: needs --model vgg16=PATH"},
                 {FZ_MOBILENET, NULL},
                 {FZ_CIFAR100 * FZ_NETWORKS, "not run: needs CIFAR-100"},
                 {FZ_IMAGENET * FZ_NETWORKS + FZ_VGG, NULL},
                 {FZ_IMAGENET * FZ_NETWORKS, "not run: needs --model imagenet/resnet50=PATH"}};
    (void)state;
    int64_t jobs = 0;
    char buffer[96];
    px_study *study = opened("networks", 1, 0, 0.0, &jobs);
    for (size_t i = 0; i < PX_LEN(cases); i++) {
        const char *words = fz_missing(study, cases[i].subject, buffer);
        if (!words != !cases[i].words || (words && strcmp(words, cases[i].words) != 0))
            fail_msg("%s: '%s'", fz_subjects[cases[i].subject].title, words ? words : "nothing");
    }
    px_study_free(study);
}

/* Picks and seconds are apart, the largest size counts, and less than the paper's is reduced. */
static void test_figures(void **state)
{
    (void)state;
    int64_t jobs = 0;
    px_study *study = opened("networks", 1, 0, 0.0, &jobs);
    assert_false(fz_was_run(study, FZ_RESNET, FZ_BY_PICKS));
    put(study, "cifar-10 resnet20 fuzz kmnc picks run=1 n=500", 9, 10, 1);
    put(study, "cifar-10 resnet20 fuzz kmnc picks run=1 n=2000", 40, 100, 1);
    put(study, "cifar-10 resnet20 fuzz kmnc picks run=2 n=2000", 60, 100, 1);
    put(study, "cifar-10 resnet20 fuzz kmnc seconds run=1 n=21600", 7, 100, 1);
    study_figure f = fz_figure(study, FZ_RESNET, 1, FZ_BY_PICKS, "faults", 5157.0);
    assert_true(f.n == 2 && f.mean == 50.0 && f.reduced && f.paper == 5157.0);
    f = fz_figure(study, FZ_RESNET, 1, FZ_BY_SECONDS, "faults", NAN);
    assert_true(f.n == 1 && f.mean == 7.0 && !f.reduced);
    assert_false(fz_was_run(study, FZ_MOBILENET, FZ_BY_PICKS));
    px_study_free(study);
}

/* Guides are compared at the size that most of them have, and at no other. */
static void test_sizes(void **state)
{
    (void)state;
    int64_t jobs = 0;
    const size_t guides[] = {0, 1, 2, FZ_NSGEN};
    px_study *study = opened("networks", 1, 0, 0.0, &jobs);
    assert_int_equal(fz_common_size(study, FZ_RESNET, FZ_BY_PICKS, guides, 4), -1);
    put(study, "cifar-10 resnet20 fuzz nsgen picks run=1 n=2000", 90, 100, 1);
    assert_int_equal(fz_common_size(study, FZ_RESNET, FZ_BY_PICKS, guides, 4), 2000);
    put(study, "cifar-10 resnet20 fuzz nc picks run=1 n=500", 30, 100, 1);
    assert_int_equal(fz_common_size(study, FZ_RESNET, FZ_BY_PICKS, guides, 4), 2000);
    put(study, "cifar-10 resnet20 fuzz kmnc picks run=1 n=500", 20, 100, 1);
    put(study, "cifar-10 resnet20 fuzz kmnc picks run=1 n=10000", 500, 600, 1);
    assert_int_equal(fz_common_size(study, FZ_RESNET, FZ_BY_PICKS, guides, 4), 500);
    assert_true(isnan(fz_value_of(study, FZ_RESNET, FZ_NSGEN, FZ_BY_PICKS, 500, "faults")));
    put(study, "cifar-10 resnet20 fuzz nsgen picks run=1 n=500", 25, 50, 1);
    assert_true(fz_value_of(study, FZ_RESNET, FZ_NSGEN, FZ_BY_PICKS, 500, "faults") == 25.0);
    assert_true(fz_value(study, FZ_RESNET, FZ_NSGEN, FZ_BY_PICKS, "faults") == 90.0);
    px_study_free(study);
}

static char *report(px_study_format format)
{
    int64_t jobs = 0;
    px_study *study = opened("networks", 1, 0, 0.0, &jobs);
    char *text = report_of(study, format);
    px_study_free(study);
    return text;
}

static void test_report(void **state)
{
    (void)state;
    int64_t jobs = 0;
    px_study *study = opened("networks", 1, 0, 0.0, &jobs);
    put(study, "cifar-10 resnet20 fuzz nc picks run=1 n=2000", 90, 100, 5); /* no part of "kmnc" */
    put(study, "cifar-10 resnet20 fuzz kmnc picks run=1 n=2000", 80, 1900, 30);
    put(study, "cifar-10 resnet20 fuzz tknp picks run=1 n=2000", 1, 1, 1);
    put(study, "cifar-10 resnet20 fuzz random picks run=1 n=2000", 50, 2000, 20);
    px_study_free(study);
    char *text = report(PX_STUDY_MARKDOWN);
    has(text, "| NC | 1252 / **90*** | 1897 / **100*** |");
    has(text, "| random | – / **50*** | – / **2000*** |");
    has(text, "| NSGen | 8075 / – | 10000 / – | 10 / – | not run in this study");
    has(text, "- **does not hold**: the most faults of all criteria are those of KMNC or NLC");
    has(text, "- **holds**: KMNC and NLC give an output at four picks of five or more");
    has(text, "- **does not hold**: of criteria with 50 outputs or more, DSC has");
    has(text, "- **holds**: TKNP has a single output");
    has(text, "1 of 3 criteria (KMNC 30); random 20");
    assert_null(strstr(text, "in equal time"));
    free(text);
    text = report(PX_STUDY_JSON);
    has(text, "0.4965");
    free(text);
}

static px_status nomem_work(const void *context, px_error *err)
{
    (void)context;
    px_study *study = NULL;
    char *text = NULL;
    px_study_options o = px_study_options_default();
    o.folder = folder;
    o.mean = o.std = "imagenet";
    o.models = models;
    o.model_count = PX_LEN(models);
    px_status status = px_study_new("fuzz", &o, &study, err);
    if (status == PX_OK)
        status = px_study_report(study, PX_STUDY_TEXT, &text, err);
    free(text);
    px_study_free(study);
    return status;
}

static void test_memory(void **state)
{
    (void)state;
    int64_t jobs = 0;
    px_study *study = opened("networks", 1, 0, 0.0, &jobs);
    put(study, "cifar-10 resnet20 fuzz kmnc picks run=1 n=2000", 80, 1900, 30);
    put(study, "cifar-10 resnet20 fuzz random picks run=1 n=2000", 50, 2000, 20);
    px_study_free(study);
    fail_in_turn(nomem_work, NULL, 30, "the study of fuzzing");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_plan, setup, teardown),
        cmocka_unit_test_setup_teardown(test_missing, setup, teardown),
        cmocka_unit_test_setup_teardown(test_figures, setup, teardown),
        cmocka_unit_test_setup_teardown(test_sizes, setup, teardown),
        cmocka_unit_test_setup_teardown(test_report, setup, teardown),
        cmocka_unit_test_setup_teardown(test_memory, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
