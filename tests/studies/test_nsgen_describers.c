/* tests/studies/test_nsgen_describers.c - the parts `describers` and `mutants` of the study of
 * NSGen: what they plan, what they make of cells, and both on procedural digits */
/* SPDX-License-Identifier: Apache-2.0 */
#include "study_helpers.h"

#include "failing_alloc.h"

#include "base/memory.h"
#include "nsgen/nsgen_describers.h"

#include <internal/bank.h>
#include <internal/probe.h>
#include <internal/store.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const data[] = {"cifar-10=digits"};
static const char *const models[] = {"mobilenetv2=" DIGITS};

static px_study *opened(const char *parts, int64_t limit)
{
    px_study_options o = STUDY_OPTIONS(data, models);
    o.arch = "mobilenetv2";
    o.parts = parts;
    o.runs = 2;
    o.limit = limit;
    o.threads = 2;
    return study_open("nsgen", &o, NULL);
}

static size_t jobs_of(const px_study *study, const char *kind)
{
    size_t count = 0;
    for (size_t i = 0; i < study->job_count; i++)
        count += strcmp(study->jobs[i].kind, kind) == 0;
    return count;
}

static const study_job *job_of(const px_study *study, const char *label)
{
    for (size_t i = 0; i < study->job_count; i++)
        if (strcmp(study->jobs[i].label, label) == 0)
            return &study->jobs[i];
    fail_msg("there is no job '%s'", label);
    return NULL;
}

static void put_row(px_study *study, const char *key, double cosine)
{
    cell_list list = {.count = 0};
    pxi_cell_put(&list, cosine, "cosine_same");
    pxi_cell_put(&list, cosine, "cosine");
    pxi_cell_put(&list, 0.3, "cosine_chance");
    pxi_cell_put(&list, 0.1, "cosine_sd");
    pxi_cell_put(&list, 112.0, "units");
    pxi_cell_put(&list, cosine > 0.5, "validated");
    assert_int_equal(pxi_study_put(study, key, 7.0, &list, NULL), PX_OK);
}

/* --- plans ------------------------------------------------------------------------------------ */

/* Twelve describers a run, the concepts once; fewer pictures are other cells, and cheaper. */
static void test_plan(void **state)
{
    (void)state;
    px_study *study = opened("describers", 0);
    assert_int_equal(jobs_of(study, "describers"), 2 * NG_SETTINGS);
    assert_int_equal(jobs_of(study, NG_CONCEPTS_KIND), 1);
    assert_int_equal(jobs_of(study, "mutants"), 0);
    const study_job *small =
        job_of(study, "cifar-10 mobilenetv2: a describer of an LSTM of 128, 128, run 1");
    const study_job *large =
        job_of(study, "cifar-10 mobilenetv2: a describer of an LSTM of 128, 1024, run 2");
    assert_true(large->run == 2 && large->seconds > 2.0 * small->seconds);
    const double seconds =
        job_of(study, "cifar-10 mobilenetv2: a describer of k = 15, run 1")->seconds;
    put_row(study, "cifar-10 mobilenetv2 describers exemplars-15 run=1 n=5000", 0.5);
    px_study_free(study);

    study = opened("describers", 0);
    assert_int_equal(jobs_of(study, "describers"), 2 * NG_SETTINGS - 1);
    px_study_free(study);
    study = opened("describers", 1000);
    assert_int_equal(jobs_of(study, "describers"), 2 * NG_SETTINGS);
    assert_true(job_of(study, "cifar-10 mobilenetv2: a describer of k = 15, run 1")->seconds <
                0.5 * seconds);
    px_study_free(study);
}

static void put_campaign(px_study *study, const char *guide, int mutants, int step)
{
    enum { SIDE = 12, SEEDS = 2 };
    uint8_t pixels[SIDE * SIDE];
    const px_campaign_identity about = {.model_hash = 1,
                                        .data_hash = 2,
                                        .dtype = PX_UINT8,
                                        .shape = {.rank = 3, .dim = {1, SIDE, SIDE}},
                                        .classes = 10,
                                        .settings = "{}"};
    px_campaign *campaign = NULL;
    char path[200];
    char *own = fz_campaign_path(study, FZ_MOBILENET, fz_guide_find(guide), FZ_BY_PICKS, 1);
    snprintf(path, sizeof path, "%s/campaigns", folder);
    mkdir(path, 0777);
    assert_non_null(own);
    assert_int_equal(px_campaign_open(own, PX_CAMPAIGN_CREATE, &campaign, NULL), PX_OK);
    assert_int_equal(px_campaign_identify(campaign, &about, NULL), PX_OK);
    for (int s = 0; s < SEEDS; s++) {
        const px_campaign_input in = {.kind = PX_INPUT_SEED, .label = s, .prediction = s};
        for (int i = 0; i < SIDE * SIDE; i++)
            pixels[i] = (uint8_t)(i * (7 + s) % 200);
        assert_int_equal(px_campaign_put(campaign, &in, pixels, NULL, NULL), PX_OK);
    }
    for (int m = 0; m < mutants; m++) { /* of the second seed; every fourth is a fault */
        const bool fault = m % 4 == 0;
        const px_campaign_input in = {.kind = fault ? PX_INPUT_FAULT : PX_INPUT_KEPT,
                                      .parent = 2,
                                      .root = 2,
                                      .label = 1,
                                      .prediction = fault ? 3 : 1};
        for (int i = 0; i < SIDE * SIDE; i++)
            pixels[i] = (uint8_t)(i * 8 % 200 + (i % 2 ? step : 0));
        assert_int_equal(px_campaign_put(campaign, &in, pixels, NULL, NULL), PX_OK);
    }
    assert_int_equal(px_campaign_commit(campaign, NULL), PX_OK);
    px_campaign_close(campaign);
    free(own);
}

static void run_jobs(px_study *study, const char *kind)
{
    px_error err = {0};
    for (size_t i = 0; i < study->job_count; i++)
        if (strcmp(study->jobs[i].kind, kind) == 0 &&
            study->plan->run(study, &study->jobs[i], &err) != PX_OK)
            fail_msg("%s", err.message);
}

static const study_cell *cell_of(const px_study *study, const char *key)
{
    const study_cell *cell = pxi_cells_find(study->cells, key);
    if (!cell)
        fail_msg("there is no cell '%s'", key);
    return cell;
}

/* --- mutants ---------------------------------------------------------------------------------- */

/* A job where a campaign is there without a cell, or is going to be; the first 20 outputs of it. */
static void test_mutants(void **state)
{
    (void)state;
    px_study *study = opened("mutants", 0);
    assert_int_equal(jobs_of(study, "mutants"), 0);
    put_campaign(study, "nsgen", 25, 6);
    put_campaign(study, "dsc", 8, 50);
    px_study_free(study);

    study = opened("mutants", 0);
    assert_int_equal(jobs_of(study, "mutants"), 1);
    run_jobs(study, "mutants");
    const study_cell *cell = cell_of(study, "cifar-10 mobilenetv2 mutants nsgen run=1 n=20");
    assert_true(pxi_cell_number(cell, "count") == 20.0);
    assert_true(pxi_cell_number(cell, "faults") == 0.25);
    assert_true(fabs(pxi_cell_number(cell, "linf") - 6.0 / 255.0) < 1e-12);
    assert_true(fabs(pxi_cell_number(cell, "l2") - sqrt(72.0) * 6.0 / 255.0) < 1e-12);
    const double near = pxi_cell_number(cell, "ssim");
    assert_true(near > 0.9 && near < 0.999 && pxi_cell_number(cell, "ssim_20") == near);
    cell = cell_of(study, "cifar-10 mobilenetv2 mutants dsc run=1 n=20");
    assert_true(pxi_cell_number(cell, "count") == 8.0 && pxi_cell_number(cell, "ssim") < near);
    assert_true(isnan(pxi_cell_number(cell, "ssim_9")));
    char path[96];
    snprintf(path, sizeof path, "%s/figures/cifar-10_mobilenetv2_mutants.png", folder);
    assert_int_equal(access(path, F_OK), 0);

    char *text = report_of(study, PX_STUDY_MARKDOWN);
    has(text, "| NSGen | 20 | 0.9");
    has(text, "| DSC | 8 | 0.");
    has(text, "| NLC | – | ");
    has(text, "no campaign");
    has(text, "- **holds**: mutants that NSGen keeps look more natural than those of DSC and NLC");
    has(text, "For 1 of 1.");
    free(text);
    px_study_free(study);

    study = opened("mutants", 0);
    assert_int_equal(jobs_of(study, "mutants"), 0);
    put_campaign(study, "nlc", 1, 1);
    px_study_free(study);
    study = opened("mutants", 0);
    assert_int_equal(jobs_of(study, "mutants"), 1);
    px_study_free(study);
    study = opened("mutants", 60); /* other seeds, other campaigns */
    assert_int_equal(jobs_of(study, "mutants"), 0);
    px_study_free(study);
}

/* --- describers ------------------------------------------------------------------------------- */

static void test_claims(void **state)
{
    (void)state;
    px_study *study = opened("describers", 0);
    put_row(study, "cifar-10 resnet20 describers exemplars-1 run=1 n=5000", 0.4);
    put_row(study, "cifar-10 resnet20 describers exemplars-10 run=1 n=5000", 0.795);
    put_row(study, "cifar-10 resnet20 describers exemplars-15 run=1 n=1000", 0.2); /* smaller */
    put_row(study, "cifar-10 resnet20 describers exemplars-15 run=1 n=5000", 0.785);
    put_row(study, "cifar-10 resnet20 describers exemplars-15 run=2 n=5000", 0.795);
    put_row(study, "cifar-10 resnet20 describers lstm-128-512 run=1 n=1000", 0.6);
    put_row(study, "cifar-10 resnet20 describers lstm-64-512 run=1 n=1000", 0.7);
    char *text = report_of(study, PX_STUDY_MARKDOWN);
    has(text, "| k = 1 | 0.8330 / – | 0.3426 / – | – / **0.4000");
    has(text, "| k = 15 | 0.8286 / – | 0.3873 / – | – / **0.7900** ±0.0071 (2)");
    has(text, "| 128, 512 | 0.8286 / – | 0.3873 / – | – / **0.6000*");
    has(text, "| 512, 512 | 0.8408 / – | 0.3376 / – | – / – |");
    has(text, "2 of 2 validated");
    has(text, "not validated");
    has(text, "- **holds**: 15 exemplars are the best number");
    has(text, "0.790, the best is k = 10 with 0.795");
    has(text, "- **does not hold**: sizes of 128 and 512 are the best");
    has(text, "0.600, the best is 64, 512 with 0.700");
    has(text, "4 of 5 settings"); /* 0.4 is not two deviations above 0.3 */
    free(text);
    text = report_of(study, PX_STUDY_JSON);
    has(text, "0.8408");
    free(text);
    px_study_free(study);
}

/* A bank of the network, measured: making words would take long, and one that is there is used. */
static void put_bank(px_study *study)
{
    const study_network network = fz_network(FZ_MOBILENET);
    px_model *model = NULL;
    px_bank *bank = NULL;
    char *path = NULL;
    assert_int_equal(pxi_network_load(study, &network, &model, NULL), PX_OK);
    const px_bank_about about = {
        .model = px_model_hash(model), .images = 5000, .describer = PX_DESCRIBER_DISSECT};
    assert_int_equal(px_bank_new(&about, &bank, NULL), PX_OK);
    px_probe *probe = NULL;
    px_probe_options options = px_probe_options_default();
    assert_int_equal(px_probe_options_parse(&options, "stages", NULL, NULL, NULL), PX_OK);
    assert_int_equal(px_probe_new(model, &options, &probe, NULL), PX_OK);
    for (size_t l = 0; l < px_probe_layer_count(probe); l++)
        for (int64_t u = 0; u < 6; u++) {
            /* the first layer: three of one label, one of another, one that is inactive */
            const px_bank_unit unit = {
                .layer = px_probe_layer(probe, l)->name,
                .unit = u,
                .phrase = u % 2 ? "loops" : "thick strokes",
                .inactive = u == 5,
                .labels = {{l > 0 || u == 4 ? "loops" : "thick strokes", u == 3 ? 0.01 : 0.2}},
                .label_count = 1,
                .class_name = u % 2 ? "3" : "7",
                .class_share = l > 0 ? 0.8 : 0.2};
            assert_int_equal(px_bank_add(bank, &unit, NULL), PX_OK);
        }
    px_probe_free(probe);
    assert_int_equal(ng_words_path(study, FZ_MOBILENET, "bank.jsonl", &path, NULL), PX_OK);
    assert_int_equal(px_bank_save(bank, path, NULL), PX_OK);
    free(path);
    px_bank_free(bank);
    px_model_free(model);
}

static void test_concepts(void **state)
{
    (void)state;
    px_study *study = opened("describers", 0);
    run_jobs(study, "network");
    put_bank(study);
    run_jobs(study, NG_CONCEPTS_KIND);
    const study_cell *cell =
        cell_of(study, "cifar-10 mobilenetv2 describers concepts-1 run=1 n=5000");
    static const struct {
        const char *name;
        double number;
    } values[] = {{"units", 6},  {"labelled", 4}, {"selective", 0},
                  {"either", 4}, {"shared", 3},   {"label thick strokes", 3},
                  {"labels", 2}, {"classes", 0},  {"label loops", 1}};
    for (size_t i = 0; i < PX_LEN(values); i++)
        if (pxi_cell_number(cell, values[i].name) != values[i].number)
            fail_msg("'%s' is %g", values[i].name, pxi_cell_number(cell, values[i].name));
    cell = cell_of(study, "cifar-10 mobilenetv2 describers concepts-2 run=1 n=5000");
    assert_true(pxi_cell_number(cell, "class 7") == 3.0 && pxi_cell_number(cell, "shared") == 5.0);
    char *text = report_of(study, PX_STUDY_MARKDOWN);
    has(text, "| 6 | 4 | 0 | 3 | thick strokes 3, loops 1 | – |");
    has(text, "| 6 | 4 | 5 | 5 | loops 4 | 7 3, 3 2 |");
    has(text, "- **holds**: several units of a layer encode the same concept");
    free(text);
    px_study_free(study);
    study = opened("describers", 40); /* the bank is the same one */
    assert_int_equal(jobs_of(study, NG_CONCEPTS_KIND), 0);
    px_study_free(study);
}

/* One describer is trained; one that another table has already is not. */
static void test_run(void **state)
{
    (void)state;
    px_study *study = opened("describers", 40);
    run_jobs(study, "network");
    put_bank(study);
    put_row(study, "cifar-10 mobilenetv2 describers exemplars-15 run=2 n=40", 0.625);
    px_error err = {0};
    const study_job *twin =
        job_of(study, "cifar-10 mobilenetv2: a describer of an LSTM of 128, 256, run 2");
    assert_int_equal(study->plan->run(study, twin, NULL), PX_OK);
    const study_cell *cell =
        cell_of(study, "cifar-10 mobilenetv2 describers lstm-128-256 run=2 n=40");
    assert_true(pxi_cell_number(cell, "cosine_same") == 0.625 && cell->seconds == 7.0);
    const study_job *small =
        job_of(study, "cifar-10 mobilenetv2: a describer of an LSTM of 128, 128, run 1");
    if (study->plan->run(study, small, &err) != PX_OK)
        fail_msg("%s", err.message);
    cell = cell_of(study, "cifar-10 mobilenetv2 describers lstm-128-128 run=1 n=40");
    assert_true(pxi_cell_number(cell, "pictures") == 40.0);
    assert_true(pxi_cell_number(cell, "virtual_units") == NG_VIRTUAL_LEAST);
    assert_true(pxi_cell_number(cell, "epochs") > 0.0);
    assert_true(pxi_cell_number(cell, "units_same") > 0.0);
    assert_true(fabs(pxi_cell_number(cell, "cosine_same")) <= 1.0);
    assert_true(pxi_cell_number(cell, "recall") >= 0.0);
    px_study_free(study);
}

/* --- memory ----------------------------------------------------------------------------------- */

static px_status nomem_work(const void *context, px_error *err)
{
    (void)context;
    px_study *study = NULL;
    study_document *doc = NULL;
    px_text text = {0};
    px_study_options o = px_study_options_default();
    o.folder = folder;
    o.data = data;
    o.data_count = PX_LEN(data);
    o.models = models;
    o.model_count = PX_LEN(models);
    o.arch = "mobilenetv2";
    o.parts = "describers:1,mutants:1";
    o.runs = 1;
    px_status status = px_study_new("nsgen", &o, &study, err);
    if (status == PX_OK) {
        doc = pxi_document_new();
        ng_describers_report(study, doc);
        ng_mutants_report(study, doc);
        status = pxi_doc_print(doc, PX_STUDY_TEXT, &text, err);
    }
    if (status == PX_OK)
        for (size_t i = 0; i < study->job_count && status == PX_OK; i++)
            if (strcmp(study->jobs[i].kind, "mutants") == 0)
                status = ng_mutants_run(study, &study->jobs[i], err);
    px_text_done(&text);
    pxi_document_free(doc);
    px_study_free(study);
    return status;
}

static void test_memory(void **state)
{
    (void)state;
    cell_list list = {.count = 0};
    px_study *study = opened("describers", 0);
    put_row(study, "cifar-10 mobilenetv2 describers exemplars-15 run=1 n=5000", 0.7);
    put_row(study, "cifar-10 mobilenetv2 describers exemplars-1 run=1 n=5000", 0.6);
    pxi_cell_put(&list, 1.0, "layer conv");
    pxi_cell_put(&list, 4.0, "label loops");
    pxi_cell_put(&list, 2.0, "class 7");
    assert_int_equal(pxi_study_put(study, "cifar-10 mobilenetv2 describers concepts-1 run=1 n=5000",
                                   1.0, &list, NULL),
                     PX_OK);
    put_campaign(study, "nsgen", 3, 2);
    px_study_free(study);
    fail_in_turn(nomem_work, NULL, 30, "describers and mutants");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_plan, setup, teardown),
        cmocka_unit_test_setup_teardown(test_mutants, setup, teardown),
        cmocka_unit_test_setup_teardown(test_claims, setup, teardown),
        cmocka_unit_test_setup_teardown(test_concepts, setup, teardown),
        cmocka_unit_test_setup_teardown(test_run, setup, teardown),
        cmocka_unit_test_setup_teardown(test_memory, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
