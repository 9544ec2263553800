/* tests/studies/test_deepsensor_study.c - what the study of DeepSensor plans, how it counts, and
 * what it makes of cells */
/* SPDX-License-Identifier: Apache-2.0 */
#include "study_helpers.h"

#include "failing_alloc.h"

#include "base/memory.h"
#include "deepsensor/deepsensor_study.h"

#include <internal/store.h>
#include <math.h>
#include <plexor/fuzz.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const data[] = {"mnist=digits", "cifar-10=digits"};
static const char *const models[] = {"lenet5=a.onnx", "resnet20=b.onnx"};

static px_study *opened(const char *parts, const char *arch, int64_t runs, int64_t limit,
                        int64_t *jobs)
{
    px_study_options o = STUDY_OPTIONS(data, models);
    o.parts = parts;
    o.arch = arch;
    o.runs = runs;
    o.limit = limit;
    return study_open("deepsensor", &o, jobs);
}

static int64_t jobs_of(const char *parts, const char *arch, int64_t runs)
{
    int64_t jobs = 0;
    px_study_free(opened(parts, arch, runs, 0, &jobs));
    return jobs;
}

static void put(px_study *study, const char *key, double errors, double categories, double pol)
{
    cell_list list = {.count = 0};
    pxi_cell_put(&list, errors, "errors");
    pxi_cell_put(&list, categories, "categories");
    pxi_cell_put(&list, pol, "pol");
    pxi_cell_put(&list, errors / 20.0, "any");
    pxi_cell_put(&list, 1000.0, "seeds");
    pxi_cell_put(&list, 2.0, "seconds_per_100");
    assert_int_equal(pxi_study_put(study, key, 1.0, &list, NULL), PX_OK);
}

/* Methods of a group whose engine there is. */
static int64_t methods(unsigned groups, bool xplore)
{
    int64_t count = 0;
    for (size_t m = 0; m < ds_method_count; m++)
        count += (groups & 1u << ds_methods[m].group) != 0 &&
                 (xplore || strcmp(ds_methods[m].engine, "deepxplore") != 0) &&
                 px_fuzz_engine_find(ds_methods[m].engine);
    return count;
}

static void test_plan(void **state)
{
    const unsigned main_groups = 1u << DS_GROUP_PAPER | 1u << DS_GROUP_CONTROL;
    (void)state;
    /* four networks of pictures, and LeNet-5 in five more states */
    assert_int_equal(jobs_of("networks", NULL, 1), 4 + 5);
    /* LeNet-5 needs two rivals; ResNet-20 has none that were given */
    assert_int_equal(jobs_of("table3", "lenet5", 2), 3 + 2 * methods(main_groups, true));
    assert_int_equal(jobs_of("table3", "resnet20", 1), 1 + methods(main_groups, false));
    assert_int_equal(jobs_of("default", "lenet5", 1), 1 + methods(1u << DS_GROUP_DEFAULT, true));
    assert_int_equal(jobs_of("search", "resnet20", 1), 1 + methods(1u << DS_GROUP_SEARCH, false));
    assert_int_equal(jobs_of("table4", NULL, 1), 5 + 3 * methods(1u << DS_GROUP_PAPER, true));
    assert_int_equal(jobs_of("table5", NULL, 1), 5 + 3 * methods(1u << DS_GROUP_PAPER, true));
    /* lambda, epsilon and the start, on the network as it is; on two faulty ones by themselves */
    const int64_t rq5 =
        1 + methods(1u << DS_GROUP_LAMBDA | 1u << DS_GROUP_EPSILON | 1u << DS_GROUP_INIT, true);
    assert_int_equal(jobs_of("rq5", NULL, 1), 1 + rq5);
    assert_int_equal(jobs_of("rq5-faulty", NULL, 1), 2 + 2 * rq5);
    assert_int_equal(jobs_of("table6", NULL, 1), 0); /* without data */
    int64_t jobs = 0;
    px_study *study = opened("table5", NULL, 1, 50, &jobs);
    assert_string_equal(study->jobs[0].label, "mnist lenet5: a network as it was given");
    put(study, "mnist lenet5 clean dlfuzz run=1 n=50", 1, 1, 1);
    px_study_free(study);
    px_study_free(opened("table5", NULL, 1, 50, &jobs));
    assert_int_equal(jobs, 5 + 3 * methods(1u << DS_GROUP_PAPER, true) - 1);
    assert_int_equal(jobs_of("table5", NULL, 1),
                     5 + 3 * methods(1u << DS_GROUP_PAPER, true)); /* more seeds are other cells */
}

static void test_missing(void **state)
{
    static const struct {
        size_t subject, state;
        const char *words;
    } cases[] = {
        {DS_LENET5, DS_POLLUTED20, NULL},
        {DS_RESNET20, DS_CLEAN, NULL},
        {DS_VGG16, DS_CLEAN, "not run: needs --model vgg16=PATH"},
        {DS_VGG16, DS_UNDER,
         "not run: needs models/cifar-10_vgg16-under_1.onnx, which takes days to train"},
        {DS_RESNET50, DS_CLEAN, "not run: needs ImageNet"},
        {DS_SPEAKER, DS_OVER, "not run: needs VCTK"},
    };
    (void)state;
    int64_t jobs = 0;
    char buffer[120];
    px_study *study = opened("networks", NULL, 1, 0, &jobs);
    for (size_t i = 0; i < PX_LEN(cases); i++) {
        const char *words = ds_missing(study, cases[i].subject, cases[i].state, buffer);
        if (!words != !cases[i].words || (words && strcmp(words, cases[i].words) != 0))
            fail_msg("%s: '%s'", ds_subjects[cases[i].subject].title, words ? words : "nothing");
    }
    px_study_free(study);
}

/* --- counting --------------------------------------------------------------------------------- */

static px_campaign *campaign_new(void)
{
    char path[64];
    px_campaign *campaign = NULL;
    const px_campaign_identity identity = {
        .dtype = PX_UINT8, .shape = {.rank = 3, .dim = {1, 1, 2}}, .classes = 5, .settings = "{}"};
    snprintf(path, sizeof path, "%s/c", folder);
    assert_int_equal(px_campaign_open(path, PX_CAMPAIGN_CREATE, &campaign, NULL), PX_OK);
    assert_int_equal(px_campaign_identify(campaign, &identity, NULL), PX_OK);
    return campaign;
}

static void campaign_put(px_campaign *campaign, int64_t root, int64_t label, int64_t prediction,
                         const char *chain, uint8_t value)
{
    const uint8_t pixels[2] = {value, 100};
    const px_campaign_input in = {.kind = root == 0             ? PX_INPUT_SEED
                                          : prediction == label ? PX_INPUT_KEPT
                                                                : PX_INPUT_FAULT,
                                  .parent = root,
                                  .root = root,
                                  .label = label,
                                  .prediction = prediction,
                                  .chain = chain};
    px_error err = {0};
    if (px_campaign_put(campaign, &in, pixels, NULL, &err) != PX_OK)
        fail_msg("%s", err.message);
}

/* Two seeds of classes 0 and 1, five iterations. */
static void test_trail(void **state)
{
    static const struct {
        const char *name;
        ds_clock clock;
        double errors, categories, last, polluted, fresh, pairs;
    } cases[] = {
        /* seed 1: kept at 1, 3 at 2, 2 at 4, kept at 5; seed 2: 3 at 3 */
        {"steps: a fault stands until the next one", DS_BY_STEP, 4 + 3, 2 + 1, 2, 2 + 3, 3, 3},
        {"swarms: the place as it is", DS_BY_SWARM, 3 + 3, 2 + 1, 1, 2 + 3, 3, 3},
    };
    (void)state;
    px_campaign *campaign = campaign_new();
    campaign_put(campaign, 0, 0, 0, NULL, 100);
    campaign_put(campaign, 0, 1, 1, NULL, 100);
    campaign_put(campaign, 1, 0, 0, "{\"visit\":0,\"steps\":1,\"iteration\":1}", 101);
    campaign_put(campaign, 1, 0, 3, "{\"visit\":0,\"steps\":2,\"iteration\":2,\"wrong\":[3,4]}",
                 110);
    campaign_put(campaign, 2, 1, 3, "{\"visit\":1,\"steps\":3,\"iteration\":3,\"wrong\":[3,99]}",
                 90);
    campaign_put(campaign, 1, 0, 2, "{\"visit\":0,\"steps\":4,\"iteration\":4,\"wrong\":[4,2]}",
                 200);
    campaign_put(campaign, 1, 0, 0, "{\"visit\":0,\"steps\":5,\"iteration\":5}", 120);
    campaign_put(campaign, 1, 0, 4, "{\"visit\":0,\"steps\":6,\"iteration\":6}", 0); /* too late */
    campaign_put(campaign, 1, 0, 4, "{\"visit\":2,\"steps\":1,\"iteration\":1}", 0); /* again */
    assert_int_equal(px_campaign_commit(campaign, NULL), PX_OK);
    for (size_t i = 0; i < PX_LEN(cases); i++) {
        ds_trail trail;
        ds_counts counts;
        px_error err = {0};
        if (ds_trail_read(campaign, cases[i].clock, 5, &trail, &err) != PX_OK)
            fail_msg("%s: %s", cases[i].name, err.message);
        ds_trail_count(&trail, 3, &counts);
        assert_true(trail.place_categories == 3 + 1); /* 3 4 2, and 3; 99 is no class */
        if (counts.errors != cases[i].errors || counts.categories != cases[i].categories ||
            counts.last != cases[i].last || counts.polluted != cases[i].polluted ||
            trail.fresh != cases[i].fresh || trail.pairs != cases[i].pairs)
            fail_msg("%s: %g errors, %g categories, %g at last, %g polluted, %g fresh, %g pairs",
                     cases[i].name, counts.errors, counts.categories, counts.last, counts.polluted,
                     trail.fresh, trail.pairs);
        ds_trail_free(&trail);
    }
    /* distances, which need no network: of the errors 10 twice, 100 twice (110, 200) and 10 thrice
     * from 100, in units of 255 */
    px_preprocess pre = {.scale = 1.0f / 255.0f, .channels = 1, .stddev = {1.0f}};
    const ds_bound bound = {.pre = &pre, .linf = INFINITY};
    ds_trail trail;
    ds_counts counts;
    assert_int_equal(ds_trail_read(campaign, DS_BY_STEP, 5, &trail, NULL), PX_OK);
    assert_int_equal(ds_trail_project(&trail, campaign, &bound, -1, &counts, NULL), PX_OK);
    assert_true(fabs(counts.linf * 255.0 - (2 * 10 + 2 * 100 + 3 * 10) / 7.0) < 1e-4);
    assert_true(fabs(counts.last_l2 * 255.0 - (100 + 10) / 2.0) < 1e-4);
    ds_trail_free(&trail);
    /* a visit of both seeds is an iteration */
    assert_int_equal(ds_trail_read(campaign, DS_BY_VISIT, 5, &trail, NULL), PX_OK);
    assert_int_equal(trail.examples[0].answer, 4); /* the last fault of visit 0 */
    assert_int_equal(trail.examples[1].answer, 4); /* of visit 2, the second of seed 1 */
    assert_true(trail.fresh == 3);
    ds_trail_free(&trail);
    px_campaign_close(campaign);
}

/* --- the report ------------------------------------------------------------------------------- */

static void put_cells(px_study *study, const char *name, double errors, double noise)
{
    char key[80];
    cell_list list = {.count = 0};
    snprintf(key, sizeof key, "mnist lenet5 clean %s run=1 n=1000", name);
    pxi_cell_put(&list, errors, "errors");
    pxi_cell_put(&list, 1000.0, "seeds");
    pxi_cell_put(&list, noise, "noise_errors");
    assert_int_equal(pxi_study_put(study, key, 1.0, &list, NULL), PX_OK);
}

/* What sensitivity adds is said in words that follow from the cells. */
static void test_adds(void **state)
{
    (void)state;
    int64_t jobs = 0;
    px_study *study = opened("networks", NULL, 1, 0, &jobs);
    put_cells(study, "deepsensor", 18000, 12000);
    put_cells(study, "chance", 8000, 0);
    put_cells(study, "loss", 19000, 0);
    put_cells(study, "default", 1000, 2000);
    put_cells(study, "default-chance", 400, 0);
    put_cells(study, "default-loss", 800, 0);
    px_study_free(study);
    study = opened("networks", NULL, 1, 0, &jobs);
    char *text = report_of(study, PX_STUDY_MARKDOWN);
    px_study_free(study);
    has(text, "numbers by chance in 1 of 2 cases; the same swarm on the loss alone");
    has(text, "finds more than it in 1. LeNet-5 on MNIST, by the paper's letter: 90.0% of the "
              "examples are wrong, 60.0% of noise as large, 40.0% by chance, 95.0% by the loss; "
              "LeNet-5 on MNIST, plexor's default: 5.0%");
    has(text, "**holds**: DeepSensor's share of misclassified examples (Table 3; read as: to five "
              "points, with a radius that was chosen for it). For 1 of 1. LeNet-5 on MNIST: 90.0%, "
              "the paper 91.7%.");
    has(text, "**does not hold**: plexor's own question: and better than the loss alone");
    has(text, "**does not hold**: the same with plexor's default: more than noise");
    free(text);
}

static void put_some(void)
{
    int64_t jobs = 0;
    px_study *study = opened("networks", NULL, 1, 0, &jobs);
    put(study, "mnist lenet5 clean deepsensor run=1 n=1000", 19000, 2000, 0);
    put(study, "mnist lenet5 clean deepsensor run=2 n=1000", 17000, 3000, 0);
    put(study, "mnist lenet5 clean deephunter run=1 n=1000", 10000, 2600, 0);
    put(study, "mnist lenet5 clean dlfuzz run=1 n=500", 9000, 1000, 0);
    put(study, "mnist lenet5 polluted10 deepsensor run=1 n=1000", 19000, 2000, 400);
    put(study, "mnist lenet5 polluted10 deephunter run=1 n=1000", 19000, 2000, 100);
    px_study_free(study);
}

static void test_report(void **state)
{
    (void)state;
    int64_t jobs = 0;
    put_some();
    px_study *study = opened("networks", NULL, 1, 0, &jobs);
    char *text = report_of(study, PX_STUDY_MARKDOWN);
    px_study_free(study);
    has(text, "| DeepHunter | 18323 / **10000** (1) | 2469 / **2600** (1) |");
    has(text, "| DLFuzz | 16914 / **9000** (1)* | 1509 / **1000** (1)* |");
    has(text, "| DeepXplore | 18076 / – | 2224 / – | not run: about 4 min |"); /* 1,000 x 0.2 s */
    has(text, "| DeepSensor | 91.745 / **90.000** ±7.071 (2) |"); /* 18,000 of 20,000 */
    has(text, "| LeNet-5 on MNIST, 10% polluted | 7.4 / – | 20.4 / – | 19.2 / **10.0** | 75.7 / "
              "**40.0** |");
    has(text, "- **holds**: DeepSensor finds more test errors than DeepXplore, DLFuzz and "
              "DeepHunter (pictures). For 2 of 2. LeNet-5 on MNIST: 90.00% against DLFuzz 45.00%, "
              "DeepHunter 50.00%.");
    has(text, "- **holds in part**: and they are of more categories (pictures). For 1 of 2.");
    has(text, "- **holds**: almost five times as many");
    free(text);
}

/* Methods are compared on as many seeds. */
static void test_sizes(void **state)
{
    (void)state;
    int64_t jobs = 0;
    px_study *study = opened("networks", NULL, 1, 0, &jobs);
    put(study, "mnist lenet5 clean deepsensor run=1 n=1000", 19000, 2000, 0);
    put(study, "mnist lenet5 clean deepsensor run=1 n=50", 10000, 2000, 0);
    put(study, "mnist lenet5 clean deepsensor run=1 n=20", 4000, 2000, 0);
    put(study, "mnist lenet5 clean random run=1 n=50", 12000, 1000, 0);
    put(study, "mnist lenet5 clean random run=1 n=10", 2000, 1000, 0);
    put(study, "mnist lenet5 clean lambda-0.1 run=1 n=20", 3000, 0, 0);
    put(study, "mnist lenet5 clean lambda-0.1 run=1 n=50", 9000, 0, 0);
    put(study, "mnist lenet5 clean lambda-0.6 run=1 n=20", 5000, 0, 0);
    put(study, "mnist lenet5 clean lambda-0.9 run=1 n=20", 5100, 0, 0);
    put(study, "mnist lenet5 clean epsilon-0.2 run=1 n=50", 10000, 0, 0);
    put(study, "mnist lenet5 clean init-fixed run=1 n=7", 0, 0, 0);
    char *text = report_of(study, PX_STUDY_MARKDOWN);
    px_study_free(study);
    has(text, "For 1 of 2. LeNet-5 on MNIST: errors 50.00% and 60.00% (50 seeds); LeNet-5 on "
              "MNIST: categories 2.00 and 1.00 (50 seeds).");
    has(text,
        "For 3 of 3. LeNet-5, 20 seeds each: 0.1: 15.0%, 0.5: 20.0%, 0.6: 25.0%, 0.9: 25.5%.");
    has(text, "**does not hold**: errors grow with epsilon. For 0 of 1. LeNet-5, 50 seeds each: "
              "0.2: 50.0%, 1: 50.0% (all alike: it never came into play).");
    has(text, "**not run**: particles that begin at random");
    free(text);
}

static px_status nomem_work(const void *context, px_error *err)
{
    (void)context;
    px_study *study = NULL;
    char *text = NULL;
    px_study_options o = px_study_options_default();
    o.folder = folder;
    o.models = models;
    o.model_count = PX_LEN(models);
    px_status status = px_study_new("deepsensor", &o, &study, err);
    if (status == PX_OK)
        status = px_study_report(study, PX_STUDY_TEXT, &text, err);
    free(text);
    px_study_free(study);
    return status;
}

static void test_memory(void **state)
{
    (void)state;
    put_some();
    fail_in_turn(nomem_work, NULL, 30, "the study of DeepSensor");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_plan, setup, teardown),
        cmocka_unit_test_setup_teardown(test_missing, setup, teardown),
        cmocka_unit_test_setup_teardown(test_trail, setup, teardown),
        cmocka_unit_test_setup_teardown(test_adds, setup, teardown),
        cmocka_unit_test_setup_teardown(test_report, setup, teardown),
        cmocka_unit_test_setup_teardown(test_sizes, setup, teardown),
        cmocka_unit_test_setup_teardown(test_memory, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
