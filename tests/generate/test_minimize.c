/* tests/generate/test_minimize.c - few inputs that cover as much; faults that differ less */
/* SPDX-License-Identifier: Apache-2.0 */
#include "minimize_helpers.h"

#include <internal/store.h>
#include <math.h>
#include <plexor/system.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static judge j;
static char folder[GENERATE_PATH];

static void check(px_status status, const px_error *err)
{
    if (status != PX_OK)
        fail_msg("%s", err->message);
}

static int scene_make(void **state)
{
    (void)state;
    j = judge_open();
    faulty_campaign(&j, test_path("run.campaign", folder), 12, 40);
    return 0;
}

static int scene_remove(void **state)
{
    (void)state;
    judge_close(&j);
    test_folder_remove();
    return 0;
}

static px_campaign *campaign_open(const char *path)
{
    px_campaign *campaign = NULL;
    px_error err = {0};
    check(px_campaign_open(path, PX_CAMPAIGN_READ, &campaign, &err), &err);
    return campaign;
}

static px_cover *cover_new(const char *criteria, int threads)
{
    const char *const settings[] = {"tknc.k=2"};
    const px_shape shape = {4, {1, 1, DIGIT_SIDE, DIGIT_SIDE}};
    px_cover_options options = px_cover_options_default();
    px_cover *cover = NULL;
    px_error err = {0};
    options.criteria = criteria;
    options.settings = settings;
    options.setting_count = 1;
    options.threads = threads;
    check(px_cover_new(j.model, &shape, &options, &cover, &err), &err);
    return cover;
}

/* --- inputs ---------------------------------------------------------------------------------- */

static px_minimized minimize(const char *criteria, const char *split, bool types, int threads)
{
    px_campaign *campaign = campaign_open(folder);
    px_dataset *set = campaign_set(&j, folder, split);
    px_minimize_options options = px_minimize_options_default();
    px_minimized few = {0};
    px_error err = {0};
    options.cover = criteria ? cover_new(criteria, threads) : NULL;
    options.fault_types = types;
    check(px_minimize_inputs(campaign, set, &j.pre, &options, &few, &err), &err);
    px_cover_free(options.cover);
    px_dataset_close(set);
    px_campaign_close(campaign);
    return few;
}

/* What the chosen ones cover, `without` one of them: elements of all criteria and fault types. */
static int64_t elements(const char *criteria, const char *split, const px_minimized *few,
                        size_t without, bool types)
{
    px_campaign *campaign = campaign_open(folder);
    px_dataset *set = campaign_set(&j, folder, split);
    const int64_t count = px_dataset_count(set);
    bool *only = calloc((size_t)count, sizeof *only), seen[10][10] = {{false}};
    int64_t total = 0;
    px_error err = {0};
    assert_non_null(only);
    for (size_t k = 0; k < few->count; k++) {
        px_campaign_input in;
        char name[32];
        check(px_campaign_read(campaign, few->ids[k], &in, NULL, &err), &err);
        for (int64_t i = 0; k != without && i < count; i++)
            only[i] |= atoll(px_dataset_name(set, i, name, sizeof name)) == few->ids[k];
        if (k != without && types && in.kind == PX_INPUT_FAULT) {
            total += !seen[in.label][in.prediction];
            seen[in.label][in.prediction] = true;
        }
    }
    px_cover *cover = cover_new(criteria, 1);
    px_cover_run_options run = px_cover_run_options_default();
    run.only = only;
    check(px_cover_run(cover, set, &j.pre, &run, NULL, &err), &err);
    for (size_t c = 0; c < px_cover_count(cover); c++)
        total += px_cover_value(cover, c).covered;
    px_cover_free(cover);
    px_dataset_close(set);
    px_campaign_close(campaign);
    free(only);
    return total;
}

static void test_inputs(void **state)
{
    (void)state;
    static const struct {
        const char *criteria, *split;
        bool types;
    } cases[] = {
        {"nc", "generated", true},
        {"nc,tknc,tknp", "generated", true},
        {"tknc", "all", true},
        {"nc,tknc", "all", false},
    };
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        const char *criteria = cases[c].criteria, *split = cases[c].split;
        px_minimized few = minimize(criteria, split, cases[c].types, 1);
        px_minimized again = minimize(criteria, split, cases[c].types, 2);
        assert_true(few.count > 0 && (int64_t)few.count <= few.from);
        assert_int_equal(few.count, again.count);
        assert_memory_equal(few.ids, again.ids, few.count * sizeof *few.ids);
        assert_memory_equal(few.gains, again.gains, few.count * sizeof *few.gains);
        for (size_t i = 0; i < few.criteria; i++)
            assert_int_equal(few.before[i].covered, few.after[i].covered);
        if (cases[c].types)
            assert_int_equal(few.fault_types, few.fault_types_left);
        assert_true(few.fault_types > 1 && few.from_faults > few.fault_types);
        const int64_t all = elements(criteria, split, &few, few.count, cases[c].types);
        for (size_t k = 0; k < few.count; k++)
            if (elements(criteria, split, &few, k, cases[c].types) >= all)
                fail_msg("case %zu: input %d is superfluous", c, (int)few.ids[k]);
        px_minimized_done(&few);
        px_minimized_done(&again);
    }
}

/* A type each, and nothing more. */
static void test_types_only(void **state)
{
    (void)state;
    px_minimized few = minimize(NULL, "generated", true, 1);
    assert_int_equal(few.count, few.fault_types);
    assert_int_equal(few.faults, few.fault_types);
    assert_int_equal(few.criteria, 0);
    px_minimized_done(&few);
}

static void test_campaign(void **state)
{
    (void)state;
    char path[GENERATE_PATH], csv[GENERATE_PATH];
    px_error err = {0};
    px_minimized few = minimize("nc,tknc", "generated", true, 2);
    px_campaign *campaign = campaign_open(folder);
    check(px_minimized_campaign(campaign, &few, test_path("few.campaign", path), false, &err),
          &err);
    check(px_minimized_csv(campaign, &few, test_path("few.csv", csv), &err), &err);
    assert_int_equal(px_minimized_campaign(campaign, &few, path, false, &err), PX_E_USAGE);
    px_campaign *made = campaign_open(path);
    px_campaign_counts before, after;
    px_campaign_identity identity;
    check(px_campaign_check(made, &err), &err);
    check(px_campaign_count(campaign, &before, &err), &err);
    check(px_campaign_count(made, &after, &err), &err);
    assert_int_equal(after.outputs, few.count);
    assert_int_equal(after.faults, few.faults);
    assert_int_equal(after.fault_types, before.fault_types);
    assert_true(after.seeds > 0 && after.seeds <= before.seeds);
    assert_true(px_campaign_identity_get(made, &identity));
    assert_non_null(strstr(identity.settings, "\"minimized\""));
    assert_non_null(strstr(identity.settings, "\"guide\""));
    int64_t last = 0;
    check(px_campaign_last(made, &last, &err), &err);
    for (int64_t id = 1; id <= last; id++) {
        px_replayed replayed;
        px_campaign_input in;
        check(px_campaign_read(made, id, &in, NULL, &err), &err);
        check(px_campaign_replay(made, id, NULL, &replayed, &err), &err);
        assert_int_equal(replayed, in.kind == PX_INPUT_SEED ? PX_REPLAY_STORED : PX_REPLAY_SAME);
    }
    px_campaign_close(made);
    px_campaign_close(campaign);
    px_minimized_done(&few);
}

/* A network whose hidden neurons are the pixels: what an input covers is what is white. */
static px_model *pixels_model(void)
{
    enum { N = 6 };
    const px_shape in = {4, {-1, 1, 1, N}}, square = {2, {N, N}}, two = {2, {N, 2}};
    float identity[N * N] = {0}, any[N * 2];
    px_builder *b = NULL;
    px_model *model = NULL;
    px_error err = {0};
    for (int i = 0; i < N; i++) {
        identity[i * N + i] = 1;
        any[2 * i] = 1;
        any[2 * i + 1] = -1;
    }
    check(px_builder_new("pixels", &b, &err), &err);
    int x = px_builder_input(b, "x", PX_FLOAT32, &in);
    x = px_builder_node(b, "Flatten", "flat", &x, 1, NULL, 0);
    const int w = px_builder_constant(b, "w", PX_FLOAT32, &square, identity);
    const int v = px_builder_constant(b, "v", PX_FLOAT32, &two, any);
    x = px_builder_node(b, "MatMul", "fc", (int[]){x, w}, 2, NULL, 0);
    x = px_builder_node(b, "Relu", "hidden", &x, 1, NULL, 0);
    x = px_builder_node(b, "MatMul", "scores", (int[]){x, v}, 2, NULL, 0);
    px_builder_rename(b, x, "logits");
    px_builder_output(b, x, PX_FLOAT32, NULL);
    check(px_builder_finish(b, &model, &err), &err);
    return model;
}

/* Greedy takes the first one of the three, which the others then make superfluous. */
static void test_superfluous(void **state)
{
    (void)state;
    static const uint8_t rows[][6] = {{0, 0, 0, 0, 0, 0},
                                      {255, 255, 255, 255, 0, 0},
                                      {255, 255, 0, 0, 255, 0},
                                      {0, 0, 255, 255, 0, 255},
                                      {0, 0, 0, 0, 255, 0}};
    px_model *model = pixels_model();
    const px_shape shape = {4, {1, 1, 1, 6}};
    const px_campaign_identity identity = {.model_hash = px_model_hash(model),
                                           .dtype = PX_UINT8,
                                           .shape = {3, {1, 1, 6}},
                                           .classes = 2,
                                           .settings = "{}"};
    px_campaign *campaign = NULL;
    px_preprocess pre;
    px_dataset *set = NULL;
    px_minimized few = {0};
    px_error err = {0};
    char path[GENERATE_PATH];
    check(px_campaign_open(test_path("pixels", path), PX_CAMPAIGN_CREATE, &campaign, &err), &err);
    check(px_campaign_identify(campaign, &identity, &err), &err);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const px_campaign_input in = {.kind = i ? PX_INPUT_KEPT : PX_INPUT_SEED,
                                      .parent = i ? 1 : 0,
                                      .root = i ? 1 : 0,
                                      .data_index = 0};
        check(px_campaign_put(campaign, &in, rows[i], NULL, &err), &err);
    }
    check(px_campaign_commit(campaign, &err), &err);
    const px_data_options data = {.split = "generated"};
    check(px_preprocess_init(&pre, NULL, 0, &shape, NULL, &err), &err);
    check(px_dataset_open_for(&pre, &shape, path, &data, &set, &err), &err);
    px_cover_options options = px_cover_options_default();
    px_minimize_options how = px_minimize_options_default();
    options.criteria = "nc";
    check(px_cover_new(model, &shape, &options, &how.cover, &err), &err);
    check(px_minimize_inputs(campaign, set, &pre, &how, &few, &err), &err);
    assert_int_equal(few.before[0].covered, 6);
    assert_int_equal(few.after[0].covered, 6);
    assert_int_equal(few.count, 2);
    assert_int_equal(few.ids[0], 3);
    assert_int_equal(few.ids[1], 4);
    px_minimized_done(&few);
    px_cover_free(how.cover);
    px_dataset_close(set);
    px_campaign_close(campaign);
    px_model_free(model);
}

static px_status try_inputs(const char *spec, px_cover *cover, int64_t memory, px_error *err)
{
    px_campaign *campaign = campaign_open(folder);
    px_dataset *set = campaign_set(&j, spec, spec == folder ? "all" : NULL);
    px_minimize_options options = px_minimize_options_default();
    px_minimized few = {0};
    options.cover = cover;
    options.memory_bytes = memory;
    const px_status status = px_minimize_inputs(campaign, set, &j.pre, &options, &few, err);
    px_minimized_done(&few);
    px_cover_free(cover);
    px_dataset_close(set);
    px_campaign_close(campaign);
    return status;
}

static void test_inputs_refused(void **state)
{
    (void)state;
    px_error err = {0};
    assert_int_equal(try_inputs(folder, cover_new("nlc", 1), 0, &err), PX_E_UNSUPPORTED);
    assert_non_null(strstr(err.message, "nlc"));
    assert_int_equal(try_inputs(folder, cover_new("nc,cc", 1), 0, &err), PX_E_UNSUPPORTED);
    assert_non_null(strstr(err.message, "cc depends on the order"));
    assert_int_equal(try_inputs(folder, cover_new("nc", 1), 1000, &err), PX_E_USAGE);
    assert_non_null(strstr(err.message, "--mem"));
    assert_int_equal(try_inputs("digits", cover_new("nc", 1), 0, &err), PX_E_USAGE);
}

/* --- faults ---------------------------------------------------------------------------------- */

enum { FAULTS = 4 };

static size_t fault_ids(px_campaign *campaign, int64_t ids[FAULTS])
{
    px_campaign_input in = {0};
    px_error err = {0};
    size_t count = 0;
    while (count < FAULTS) {
        check(px_campaign_next(campaign, in.id, PX_INPUT_FAULT, &in, NULL, NULL, &err), &err);
        assert_true(in.id > 0);
        ids[count++] = in.id;
    }
    return count;
}

static void fault_check(px_campaign *campaign, const px_shrunk_fault *fault, bool same_class,
                        bool complete)
{
    uint8_t root[DIGIT_SIZE], trial[DIGIT_SIZE];
    px_campaign_input in;
    px_error err = {0};
    check(px_campaign_read(campaign, fault->id, &in, NULL, &err), &err);
    assert_true(fault->errs);
    assert_int_equal(fault->prediction_before, in.prediction);
    const int64_t answer = judge_answer(&j, fault->pixels);
    assert_int_equal(answer, fault->prediction);
    assert_int_not_equal(answer, fault->label);
    if (same_class)
        assert_int_equal(answer, fault->prediction_before);
    assert_true(fault->confidence > 0 && fault->confidence <= 1);
    assert_true(fault->after.l2 <= fault->before.l2 && fault->after.l2 > 0);
    assert_true(fault->links <= fault->links_before && fault->links >= 1 && fault->chain);
    check(px_campaign_read(campaign, fault->root, &in, root, &err), &err);
    /* No level of what is left can be taken away. */
    for (int i = 0; complete && i < DIGIT_SIZE; i++) {
        if (fault->pixels[i] == root[i])
            continue;
        memcpy(trial, fault->pixels, sizeof trial);
        trial[i] = (uint8_t)(trial[i] + (trial[i] < root[i] ? 1 : -1));
        const int64_t less = judge_answer(&j, trial);
        if (less != fault->label && (!same_class || less == fault->prediction_before))
            fail_msg("fault %d: value %d need not be so far", (int)fault->id, i);
    }
}

static void test_faults(void **state)
{
    (void)state;
    px_campaign *campaign = campaign_open(folder);
    int64_t ids[FAULTS];
    px_shrunk_fault one[FAULTS], two[FAULTS];
    px_error err = {0};
    fault_ids(campaign, ids);
    for (int same = 0; same < 2; same++) {
        px_shrink_options options = px_shrink_options_default();
        options.same_class = same;
        options.threads = 1;
        check(px_shrink_faults(campaign, j.model, &j.pre, ids, FAULTS, &options, one, &err), &err);
        options.threads = 2;
        check(px_shrink_faults(campaign, j.model, &j.pre, ids, FAULTS, &options, two, &err), &err);
        for (int i = 0; i < FAULTS; i++) {
            fault_check(campaign, &one[i], same, one[i].executions < options.executions);
            assert_memory_equal(one[i].pixels, two[i].pixels, DIGIT_SIZE);
            assert_int_equal(one[i].executions, two[i].executions);
            assert_string_equal(one[i].chain, two[i].chain);
            px_shrunk_done(&one[i]);
            px_shrunk_done(&two[i]);
        }
    }
    px_campaign_close(campaign);
}

static void test_faults_folder(void **state)
{
    (void)state;
    px_campaign *campaign = campaign_open(folder);
    int64_t ids[FAULTS];
    px_shrunk_fault faults[FAULTS];
    px_shrink_options options = px_shrink_options_default();
    char path[GENERATE_PATH], file[GENERATE_PATH + 40];
    px_error err = {0};
    px_dataset *set = NULL;
    options.executions = 50;
    fault_ids(campaign, ids);
    check(px_shrink_faults(campaign, j.model, &j.pre, ids, FAULTS, &options, faults, &err), &err);
    faults[1].errs = false; /* as if: it is left out */
    check(px_shrunk_save(campaign, faults, FAULTS, test_path("small", path), false, &err), &err);
    assert_int_equal(px_shrunk_save(campaign, faults, FAULTS, path, false, &err), PX_E_USAGE);
    for (int i = 0; i < FAULTS; i++) {
        snprintf(file, sizeof file, "%s/%d.png", path, (int)ids[i]);
        assert_int_equal(access(file, R_OK) == 0, i != 1);
        assert_true(faults[i].executions <= 52);
    }
    const px_shrunk_means means = px_shrunk_sum(faults, FAULTS);
    int64_t executions = 0;
    double l0 = 0.0, linf = 0.0;
    for (int i = 0; i < FAULTS; i++) {
        executions += faults[i].executions;
        l0 += i == 1 ? 0.0 : (double)faults[i].before.l0;
        linf += i == 1 ? 0.0 : faults[i].after.linf;
    }
    assert_int_equal(means.count, FAULTS - 1);
    assert_int_equal(means.executions, executions);
    assert_true(fabs(means.l0[0] - l0 / (FAULTS - 1)) < 1e-9);
    assert_true(fabs(means.linf[1] - linf / (FAULTS - 1)) < 1e-9);
    assert_int_equal(px_shrunk_sum(faults, 0).count, 0);
    snprintf(file, sizeof file, "%s/inputs.npz", path);
    check(px_dataset_open(file, NULL, &set, &err), &err);
    assert_int_equal(px_dataset_count(set), FAULTS - 1);
    assert_int_equal(px_dataset_label(set, 0), faults[0].label);
    px_dataset_close(set);
    for (int i = 0; i < FAULTS; i++)
        px_shrunk_done(&faults[i]);
    px_campaign_close(campaign);
}

static px_status shrink_one(const char *path, const px_model *model, int64_t id, px_error *err)
{
    px_campaign *campaign = campaign_open(path);
    px_shrunk_fault fault;
    px_shrink_options options = px_shrink_options_default();
    options.executions = 1;
    const px_status status =
        px_shrink_faults(campaign, model, &j.pre, &id, 1, &options, &fault, err);
    if (status == PX_OK)
        px_shrunk_done(&fault);
    px_campaign_close(campaign);
    return status;
}

static void other_campaign(const char *path, uint64_t hash, px_dtype dtype)
{
    px_campaign *campaign = NULL;
    px_error err = {0};
    const px_campaign_identity identity = {.model_hash = hash,
                                           .dtype = dtype,
                                           .shape = {3, {1, 4, 4}},
                                           .classes = 10,
                                           .settings = "{}"};
    check(px_campaign_open(path, PX_CAMPAIGN_CREATE, &campaign, &err), &err);
    check(px_campaign_identify(campaign, &identity, &err), &err);
    px_campaign_close(campaign);
}

static void test_faults_refused(void **state)
{
    (void)state;
    const uint64_t hash = px_model_hash(j.model);
    char path[GENERATE_PATH];
    px_error err = {0};
    assert_int_equal(shrink_one(folder, j.model, 1, &err), PX_E_USAGE);
    assert_non_null(strstr(err.message, "input 1 is no failure, it is a seed"));
    assert_int_equal(shrink_one(folder, j.model, 123456, &err), PX_E_USAGE);
    other_campaign(test_path("other", path), hash + 1, PX_UINT8);
    assert_int_equal(shrink_one(path, j.model, 1, &err), PX_E_MISMATCH);
    other_campaign(test_path("float", path), hash, PX_FLOAT32);
    assert_int_equal(shrink_one(path, j.model, 1, &err), PX_E_UNSUPPORTED);
    other_campaign(test_path("small-pictures", path), hash, PX_UINT8);
    assert_int_equal(shrink_one(path, j.model, 1, &err), PX_E_MISMATCH);
    assert_non_null(strstr(err.message, "16 values"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_superfluous),    cmocka_unit_test(test_inputs),
        cmocka_unit_test(test_types_only),     cmocka_unit_test(test_campaign),
        cmocka_unit_test(test_inputs_refused), cmocka_unit_test(test_faults),
        cmocka_unit_test(test_faults_folder),  cmocka_unit_test(test_faults_refused),
    };
    return cmocka_run_group_tests(tests, scene_make, scene_remove);
}
