/* tests/studies/test_nsgen_study.c - what the study of NSGen plans, and what it makes of cells */
/* SPDX-License-Identifier: Apache-2.0 */
#include "study_helpers.h"

#include "base/memory.h"
#include "nsgen/nsgen_study.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const data[] = {"cifar-10=digits"};
static const char *const models[] = {"mobilenetv2=a.onnx", "encoder/glove=glove:vectors.txt"};

static px_study *opened(const char *parts, int64_t runs, int64_t pieces, int64_t *jobs)
{
    px_study_options o = STUDY_OPTIONS(data, models);
    o.parts = parts;
    o.runs = runs;
    o.each_pieces = pieces;
    return study_open("nsgen", &o, jobs);
}

/* ResNet-20 can be made and MobileNetV2 is given: two networks first, whatever is asked for. */
static void test_plan(void **state)
{
    (void)state;
    static const struct {
        const char *parts;
        int64_t runs, jobs;
    } cases[] = {
        {"networks", 1, 2},
        {"words", 3, 2 + 2},
        {"nsgen", 3, 2 + 2 * 3 * 2},
        {"criteria", 1, 2 + 2 * 14},
        {"ablation", 1, 2 + 2 * 3},
        {"outputs", 1, 2 + 2 * 16},
        {"encoders", 1, 2 + 2 * 2}, /* plexor's own, and the file that is given */
        {"layers:2", 1, 2 + 2 * 4 * 2},
        {"labels", 1, 2 + 2 * 3},
    };
    for (size_t i = 0; i < PX_LEN(cases); i++) {
        int64_t jobs = 0;
        px_study_free(opened(cases[i].parts, cases[i].runs, 2000, &jobs));
        if (jobs != cases[i].jobs)
            fail_msg("%s: %d jobs instead of %d", cases[i].parts, (int)jobs, (int)cases[i].jobs);
    }
}

static void put(px_study *study, const char *key, double faults, double outputs, double agree)
{
    cell_list list = {.count = 0};
    pxi_cell_put(&list, faults, "faults");
    pxi_cell_put(&list, outputs, "outputs");
    pxi_cell_put(&list, faults / outputs, "rft");
    pxi_cell_put(&list, faults, "pairs");
    pxi_cell_put(&list, 2000.0, "picks");
    pxi_cell_put(&list, agree, "as_label_percent");
    assert_int_equal(pxi_study_put(study, key, 1.0, &list, NULL), PX_OK);
}

/* Cells of picks and of outputs are apart, those of the study fuzz count, fewer than the paper's
 * are reduced. */
static void test_figures(void **state)
{
    (void)state;
    int64_t jobs = 0;
    px_study *study = opened("nsgen,criteria", 1, 2000, &jobs);
    const int64_t before = jobs;
    put(study, "cifar-10 resnet20 fuzz nsgen picks run=1 n=2000", 800, 1000, 20.0);
    put(study, "cifar-10 resnet20 fuzz nsgen picks run=2 n=2000", 900, 1000, 30.0);
    put(study, "cifar-10 resnet20 fuzz kmnc picks run=1 n=2000", 1000, 4000, NAN);
    put(study, "cifar-10 resnet20 fuzz nsgen outputs run=1 n=1000", 7, 1000, 1.0);
    study_figure f = fz_figure(study, FZ_RESNET, FZ_NSGEN, FZ_BY_PICKS, "faults", 1.0);
    assert_true(f.mean == 850.0 && f.n == 2 && f.reduced);
    f = fz_figure(study, FZ_RESNET, FZ_NSGEN, FZ_BY_OUTPUTS, "faults", 1.0);
    assert_true(f.mean == 7.0 && f.n == 1 && !f.reduced);
    px_study_free(study);
    study = opened("nsgen,criteria", 1, 2000, &jobs);
    assert_int_equal(jobs, before - 2);
    char *text = report_of(study, PX_STUDY_MARKDOWN);
    static const char *const lines[] = {
        "- **does not hold**: NSGen finds more faults than every criterion at equal picks (Table "
        "3). For 0 of 1. cifar-10 resnet20: NSGen 850, above 0 of 1, the highest of which is KMNC "
        "1000.",
        "- **holds**: and more of its outputs are faults (Table 3; criteria with 50 outputs or "
        "more). For 1 of 1. cifar-10 resnet20: NSGen 0.8500, above 1 of 1, the highest of which is "
        "KMNC 0.2500.",
        "of what NSGen or the class alone keep of the same mutants both keep 25.0%.",
        "- **not run**: of equal outputs, more are faults",
        "| NSGen | 8075 / **850** ±71 (2)* |",
        "| NSGen | 800 / **7** |",
        "| BERT | 1297 / – | 1417 / – | 10 / – | not run: needs --model encoder/bert=SPEC |",
        "| GloVe | 2415 / – | 2626 / – | 10 / – | not run |",
    };
    for (size_t i = 0; i < PX_LEN(lines); i++)
        if (!strstr(text, lines[i]))
            fail_msg("'%s' is not in the report", lines[i]);
    free(text);
    px_study_free(study);
}

/* Cells of 500 picks say nothing about one of 2000. */
static void test_unequal(void **state)
{
    (void)state;
    int64_t jobs = 0;
    px_study *study = opened("nsgen", 1, 2000, &jobs);
    put(study, "cifar-10 resnet20 fuzz nsgen picks run=1 n=2000", 800, 1000, 20.0);
    put(study, "cifar-10 resnet20 fuzz nsgen-layers-1 picks run=1 n=500", 200, 300, 20.0);
    put(study, "cifar-10 resnet20 fuzz nsgen-layers-2 picks run=1 n=500", 250, 300, 20.0);
    char *text = report_of(study, PX_STUDY_MARKDOWN);
    has(text, "- **not run**: more layers find more faults");
    free(text);
    put(study, "cifar-10 resnet20 fuzz nsgen picks run=1 n=500", 220, 300, 20.0);
    put(study, "cifar-10 resnet20 fuzz nsgen-layers-3 picks run=1 n=500", NAN, NAN, NAN);
    text = report_of(study, PX_STUDY_MARKDOWN);
    has(text, "more layers find more faults (Figure 6: all against fewer). For 1 of 2. cifar-10 "
              "resnet20: NSGen 220, above 1 of 2, the highest of which is 2 layers 250.");
    has(text, "| 3 layers | – / – | – / – | – / – | its paths have fewer layers |");
    has(text, "| 4 layers | – / – | – / – | – / – | not run |");
    has(text, "Figure 6, counts, 2000 picks a cell"); /* `put` says so of each */
    free(text);
    px_study_free(study);
}

/* Folders of campaigns by picks and by time are one, which goes on; those by outputs forget. */
static void test_campaigns(void **state)
{
    (void)state;
    int64_t jobs = 0;
    px_study *study = opened("networks", 1, 0, &jobs);
    char expected[96];
    char *picks = fz_campaign_path(study, FZ_MOBILENET, FZ_LABEL_ONLY, FZ_BY_PICKS, 2);
    char *outputs = fz_campaign_path(study, FZ_MOBILENET, FZ_LABEL_ONLY, FZ_BY_OUTPUTS, 2);
    snprintf(expected, sizeof expected, "%s/campaigns/cifar-10_mobilenetv2_nsgen-label-only_2",
             folder);
    assert_string_equal(picks, expected);
    assert_int_equal(strncmp(outputs, expected, strlen(expected)), 0);
    assert_string_equal(outputs + strlen(expected), "_outputs");
    assert_int_equal(fz_size(study, FZ_BY_PICKS), 10000);
    assert_int_equal(fz_size(study, FZ_BY_OUTPUTS), 1000);
    free(picks);
    free(outputs);
    px_study_free(study);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_plan, setup, teardown),
        cmocka_unit_test_setup_teardown(test_figures, setup, teardown),
        cmocka_unit_test_setup_teardown(test_unequal, setup, teardown),
        cmocka_unit_test_setup_teardown(test_campaigns, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
