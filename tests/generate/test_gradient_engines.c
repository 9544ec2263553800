/* tests/generate/test_gradient_engines.c - deepxplore, dlfuzz and adapt from seeds to replay, on a
 * small network for the procedural digits
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "generate_helpers.h"

#include "base/memory.h"

#include <internal/arch.h>
#include <internal/rng.h>
#include <internal/store.h>
#include <internal/weights.h>
#include <math.h>
#include <plexor/fuzz.h>
#include <plexor/json.h>
#include <plexor/onnx.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static px_error err; /* what OK() tells */
#define OK(call)                                    \
    do {                                            \
        if ((call) != PX_OK)                        \
            fail_msg("%s: %s", #call, err.message); \
    } while (0)

typedef struct stage { /* networks and data that all tests share */
    px_model *model, *rival, *third;
    px_preprocess pre;
    px_dataset *set;
} stage;

static stage on;

/* The same network after a bad night: every weight is a little off. */
static px_model *disturbed(const px_model *model, uint32_t item)
{
    px_weights *weights = NULL;
    px_model *made = NULL;
    OK(px_weights_new(model, &weights, &err));
    for (size_t i = 0; i < px_weights_count(weights); i++) {
        px_tensor *tensor = &px_weights_get(weights, i)->tensor;
        px_random random = px_rng(7, PX_RNG_TEST, item, (uint32_t)i);
        float *values = tensor->data;
        for (int64_t k = 0; k < px_shape_count(&tensor->shape); k++)
            values[k] += (float)(0.02 * px_rng_normal(&random));
    }
    OK(px_weights_freeze(weights, NULL, 0, &made, &err));
    px_weights_free(weights);
    return made;
}

static px_dataset *data_for(const px_model *model, const char *spec, int64_t limit,
                            px_preprocess *pre)
{
    px_dataset *set = NULL;
    const px_graph *graph = px_model_graph(model);
    const px_shape *shape = &graph->values[graph->inputs[0]].shape;
    px_data_options options = px_data_options_default();
    options.limit = limit;
    OK(px_preprocess_init(pre, px_model_properties(model), px_model_property_count(model), shape,
                          NULL, &err));
    OK(px_dataset_open_for(pre, shape, spec, &options, &set, &err));
    return set;
}

static int stage_open(void **state)
{
    (void)state;
    OK(px_model_load(CLI_MODELS "/digits.onnx", &on.model, &err));
    on.rival = disturbed(on.model, 1);
    on.third = disturbed(on.model, 2);
    on.set = data_for(on.model, "digits", 200, &on.pre);
    return 0;
}

static int stage_close(void **state)
{
    (void)state;
    px_dataset_close(on.set);
    px_model_free(on.model);
    px_model_free(on.rival);
    px_model_free(on.third);
    test_folder_remove();
    return 0;
}

typedef struct job {
    const char *engine;
    size_t rivals;
    const char *settings[6];
    int64_t turns;
} job;

static const job jobs[] = {
    {"deepxplore", 1, {"constraint=light", "step=1", "group=16"}, 4},
    {"deepxplore",
     2,
     {"constraint=occl", "top=8", "left=8", "height=14", "width=14", "group=16"},
     3},
    {"deepxplore", 1, {"constraint=blackout", "iters=10", "group=16", "t=0.3"}, 4},
    {"deepxplore",
     1,
     {"constraint=none", "step=0.1", "clip=no", "target=random", "w_diff=2", "group=16"},
     3},
    {"dlfuzz", 0, {"group=16"}, 4},
    {"dlfuzz", 0, {"strategy=0123", "distance=1", "group=16", "iters=3"}, 4},
    {"dlfuzz", 0, {"strategy=none", "k=20", "w_n=0.1", "group=16", "t=0.25"}, 3},
    {"adapt", 0, {"group=16", "size=10", "history=20"}, 6},
    {"adapt", 0, {"group=4", "size=6", "history=8", "compat=code", "t=0.7", "lr=1"}, 7},
};

static px_fuzz_options job_options(const job *j, px_campaign *campaign, int threads)
{
    static const px_model *rivals[2];
    rivals[0] = on.rival;
    rivals[1] = on.third;
    px_fuzz_options options = px_fuzz_options_default();
    options.campaign = campaign;
    options.model = on.model;
    options.rivals = rivals;
    options.rival_count = j->rivals;
    options.set = on.set;
    options.pre = &on.pre;
    options.engine = j->engine;
    options.settings = j->settings;
    while (options.setting_count < PX_LEN(j->settings) && j->settings[options.setting_count])
        options.setting_count++;
    options.seeds = 40;
    options.seed = 5;
    options.threads = threads;
    return options;
}

typedef struct outcome {
    uint64_t digest;
    px_campaign_counts counts;
    px_fuzz_report report;
    px_fuzz_yield yield; /* report.yields belongs to what is gone */
    char folder[GENERATE_PATH];
} outcome;

/* Runs a job, stopping and going on after each of the turns in `stops` (0-terminated). */
static outcome job_run(const job *j, const char *name, int threads, const int64_t *stops)
{
    outcome out = {0};
    test_path(name, out.folder);
    for (size_t part = 0;; part++) {
        px_campaign *campaign = NULL;
        px_fuzz *fuzz = NULL;
        OK(px_campaign_open(out.folder, part ? PX_CAMPAIGN_RESUME : PX_CAMPAIGN_CREATE, &campaign,
                            &err));
        const px_fuzz_options options = job_options(j, campaign, threads);
        const px_fuzz_limits limits = {.turns = stops[part] ? stops[part] : j->turns};
        OK(px_fuzz_new(&options, &fuzz, &err));
        OK(px_fuzz_run(fuzz, &limits, &err));
        out.report = px_fuzz_report_get(fuzz);
        assert_int_equal(out.report.turns, limits.turns);
        assert_int_equal(out.report.yield_count, 1);
        out.yield = out.report.yields[0];
        px_fuzz_free(fuzz);
        OK(px_campaign_digest(campaign, &out.digest, &err));
        OK(px_campaign_count(campaign, &out.counts, &err));
        px_campaign_close(campaign);
        if (!stops[part])
            return out;
    }
}

/* --- what is stored -------------------------------------------------------------------------- */

/* What the network says, by a way of its own: one picture at a time. */
static int64_t ask(const px_model *model, const uint8_t *pixels, size_t size)
{
    px_plan_options options = px_plan_options_default();
    px_plan *plan = NULL;
    px_session *session = NULL;
    px_scores scores;
    int64_t prediction = -1;
    const px_shape shape = px_dataset_shape(on.set);
    OK(px_model_scores(model, &scores, &err));
    options.batch = 1;
    options.keep = &scores.value;
    options.keep_count = 1;
    OK(px_plan_new(model, &options, &plan, &err));
    OK(px_session_new(plan, &session, &err));
    float *input = px_session_input(session, 0);
    for (size_t i = 0; i < size; i++)
        input[i] = (float)pixels[i];
    OK(px_preprocess_apply(&on.pre, &shape, input, &err));
    OK(px_session_forward(session, &err));
    OK(px_session_judge(session, &scores, NULL, 1, &prediction, NULL, &err));
    px_session_free(session);
    px_plan_free(plan);
    return prediction;
}

static int64_t number(const px_json_value *object, const char *key)
{
    const px_json_value *value = px_json_member(object, key);
    assert_non_null(value);
    assert_int_equal(value->kind, PX_JSON_NUMBER);
    return (int64_t)value->number;
}

/* Every output is what it is said to be; returns how many differ from their root. */
static int64_t check_outputs(const job *j, const outcome *o)
{
    px_campaign *campaign = NULL;
    px_campaign_input in = {0};
    int64_t differ = 0;
    OK(px_campaign_open(o->folder, PX_CAMPAIGN_READ, &campaign, &err));
    OK(px_campaign_check(campaign, &err));
    const size_t size = px_campaign_size(campaign);
    uint8_t *pixels = malloc(size);
    assert_non_null(pixels);
    for (;;) {
        OK(px_campaign_next(campaign, in.id, PX_INPUT_KEPT | PX_INPUT_FAULT, &in, pixels, NULL,
                            &err));
        if (!in.id)
            break;
        px_json_document *chain = NULL;
        OK(px_json_parse(in.chain, strlen(in.chain), &chain, &err));
        const px_json_value *root = px_json_root(chain);
        assert_string_equal(px_json_member(root, "engine")->string, j->engine);
        assert_null(strchr(in.chain, '\n'));
        const int64_t steps = number(root, "steps");
        differ += in.l0 > 0;
        assert_int_equal(in.l0 > 0, steps > 0);
        const int64_t prediction = ask(on.model, pixels, size);
        if (prediction != in.prediction || (prediction != in.label) != (in.kind == PX_INPUT_FAULT))
            fail_msg("%s, input %d: stored as %d, judged %d, label %d", j->engine, (int)in.id,
                     (int)in.prediction, (int)prediction, (int)in.label);
        if (j->rivals) { /* and the networks do not agree, as the chain says */
            const px_json_value *all = px_json_member(root, "predictions");
            const px_model *models[3] = {on.model, on.rival, on.third};
            bool agree = true;
            assert_int_equal(all->count, 1 + j->rivals);
            for (size_t m = 0; m < all->count; m++) {
                assert_int_equal(ask(models[m], pixels, size), (int64_t)all->items[m].number);
                agree &= all->items[m].number == all->items[0].number;
            }
            assert_false(agree);
        }
        px_replayed replayed;
        px_json_free(chain);
        OK(px_campaign_replay(campaign, in.id, NULL, &replayed, &err));
        assert_int_equal(replayed, PX_REPLAY_STORED);
        OK(px_campaign_read(campaign, in.id, &in, NULL, &err));
    }
    free(pixels);
    px_campaign_close(campaign);
    return differ;
}

static void test_outputs(void **state)
{
    (void)state;
    for (size_t i = 0; i < PX_LEN(jobs); i++) {
        char name[32];
        snprintf(name, sizeof name, "outputs%zu", i);
        const outcome o = job_run(&jobs[i], name, 1, (const int64_t[]){0});
        const px_coverage coverage = o.report.coverage;
        if (o.counts.faults < 3 && o.counts.outputs < 6)
            fail_msg("job %zu (%s): %d faults and %d outputs of %d executions", i, jobs[i].engine,
                     (int)o.counts.faults, (int)o.counts.outputs, (int)o.report.executions);
        assert_int_equal(o.counts.outputs, o.report.outputs);
        assert_true(check_outputs(&jobs[i], &o) > 0);
        assert_string_equal(o.report.guide, "nc");
        assert_true(coverage.covered > 0 && coverage.covered <= coverage.total);
        assert_true(o.yield.tried >= o.yield.valid && o.yield.faults >= o.counts.faults);
        assert_int_equal(o.report.not_finite, 0);
    }
}

/* The same content for any number of threads, and for runs that were interrupted. */
static void test_same_content(void **state)
{
    (void)state;
    for (size_t i = 0; i < PX_LEN(jobs); i++) {
        char name[3][32];
        for (int k = 0; k < 3; k++)
            snprintf(name[k], sizeof name[k], "same%zu.%d", i, k);
        const outcome one = job_run(&jobs[i], name[0], 1, (const int64_t[]){0});
        const outcome two = job_run(&jobs[i], name[1], 2, (const int64_t[]){0});
        const outcome cut = job_run(&jobs[i], name[2], 2, (const int64_t[]){1, 2, 0});
        if (one.digest != two.digest)
            fail_msg("job %zu (%s): two threads give other content", i, jobs[i].engine);
        if (one.digest != cut.digest)
            fail_msg("job %zu (%s): an interrupted run gives other content", i, jobs[i].engine);
        assert_int_equal(one.report.executions, cut.report.executions);
        assert_int_equal(one.report.coverage.covered, cut.report.coverage.covered);
        assert_int_equal(one.yield.tried, cut.yield.tried);
        assert_true(one.digest != 0);
    }
}

/* Outputs that are kept start further steps: their children name them as parents. */
static void test_lists_grow(void **state)
{
    (void)state;
    int64_t grown[2] = {0, 0};
    const job cases[2] = {
        {"dlfuzz", 0, {"strategy=none", "distance=1", "gain=0", "t=0.6", "group=8"}, 5},
        {"adapt", 0, {"group=8", "size=8", "t=0.8", "lr=1"}, 5},
    };
    for (size_t i = 0; i < 2; i++) {
        const outcome o =
            job_run(&cases[i], i ? "grown.adapt" : "grown.dlfuzz", 1, (const int64_t[]){0});
        px_campaign *campaign = NULL;
        px_campaign_input in = {0};
        OK(px_campaign_open(o.folder, PX_CAMPAIGN_READ, &campaign, &err));
        for (;;) {
            OK(px_campaign_next(campaign, in.id, PX_INPUT_KEPT | PX_INPUT_FAULT, &in, NULL, NULL,
                                &err));
            if (!in.id)
                break;
            grown[i] += in.parent != in.root;
        }
        px_campaign_close(campaign);
        if (grown[i] == 0)
            fail_msg("%s: nothing was made of what was kept (%d outputs)", cases[i].engine,
                     (int)o.counts.outputs);
        assert_true(o.report.depth >= 2);
    }
}

/* Steps as long as published turn pictures black or white, which are nobody's fault. */
static void test_blank(void **state)
{
    (void)state;
    static const job j = {"deepxplore", 1, {"constraint=light", "step=10", "group=16"}, 4};
    const outcome o = job_run(&j, "blank", 1, (const int64_t[]){0});
    px_campaign *campaign = NULL;
    px_campaign_input in = {0};
    assert_string_equal(o.report.notes[1].name, "went blank");
    assert_true(atoi(o.report.notes[1].value) > 0);
    OK(px_campaign_open(o.folder, PX_CAMPAIGN_READ, &campaign, &err));
    const size_t size = px_campaign_size(campaign);
    uint8_t *pixels = malloc(size);
    assert_non_null(pixels);
    for (;;) {
        OK(px_campaign_next(campaign, in.id, PX_INPUT_ANY, &in, pixels, NULL, &err));
        if (!in.id)
            break;
        uint8_t low = 255, high = 0;
        for (size_t i = 0; i < size; i++) {
            low = pixels[i] < low ? pixels[i] : low;
            high = pixels[i] > high ? pixels[i] : high;
        }
        assert_true(high - low >= 20);
    }
    free(pixels);
    px_campaign_close(campaign);
}

/* Float inputs are judged and stored as they are. */
static void test_float(void **state)
{
    (void)state;
    static const job j = {"dlfuzz", 0, {"group=8"}, 2};
    char folder[GENERATE_PATH];
    px_campaign *campaign = NULL;
    px_fuzz *fuzz = NULL;
    OK(px_campaign_open(test_path("float", folder), PX_CAMPAIGN_CREATE, &campaign, &err));
    px_fuzz_options options = job_options(&j, campaign, 1);
    options.store_float = true;
    OK(px_fuzz_new(&options, &fuzz, &err));
    const px_fuzz_limits limits = {.turns = 2};
    OK(px_fuzz_run(fuzz, &limits, &err));
    assert_true(px_fuzz_report_get(fuzz).faults > 0);
    px_campaign_input in = {0};
    float *pixels = malloc(px_campaign_size(campaign) * sizeof *pixels);
    assert_non_null(pixels);
    OK(px_campaign_next(campaign, 0, PX_INPUT_FAULT, &in, pixels, NULL, &err));
    int64_t whole = 0;
    for (size_t i = 0; i < px_campaign_size(campaign); i++) {
        assert_true(pixels[i] >= 0.0f && pixels[i] <= 1.0f);
        whole += pixels[i] * 255.0f == roundf(pixels[i] * 255.0f);
    }
    assert_true(whole < (int64_t)px_campaign_size(campaign));
    free(pixels);
    px_fuzz_free(fuzz);
    px_campaign_close(campaign);
}

/* --- what does not fit ----------------------------------------------------------------------- */

static void refused(const char *name, const px_fuzz_options *given, px_status want,
                    const char *words)
{
    char folder[GENERATE_PATH];
    px_campaign *campaign = NULL;
    px_fuzz *fuzz = NULL;
    px_fuzz_options options = *given;
    OK(px_campaign_open(test_path(name, folder), PX_CAMPAIGN_CREATE, &campaign, &err));
    options.campaign = campaign;
    px_error why = {0};
    const px_status status = px_fuzz_new(&options, &fuzz, &why);
    if (status != want || !strstr(why.message, words))
        fail_msg("'%s': status %d, '%s'", name, (int)status, why.message);
    assert_null(fuzz);
    px_campaign_close(campaign);
}

static void test_refused(void **state)
{
    (void)state;
    static const job xplore = {"deepxplore", 1, {NULL}, 1}, alone = {"deepxplore", 0, {NULL}, 1};
    static const job dl = {"dlfuzz", 0, {NULL}, 1}, crowd = {"dlfuzz", 1, {NULL}, 1};
    px_fuzz_options options = job_options(&alone, NULL, 1);
    refused("one network", &options, PX_E_USAGE, "compares 2 to 3 networks");
    options = job_options(&crowd, NULL, 1);
    refused("two for dlfuzz", &options, PX_E_USAGE, "one network");

    px_model *two = NULL, *shape = NULL, *flat = NULL;
    OK(px_model_load(CLI_MODELS "/two_classes.onnx", &two, &err));
    const px_model *rivals[1] = {two};
    options = job_options(&xplore, NULL, 1);
    options.rivals = rivals;
    refused("other classes", &options, PX_E_MISMATCH, "10 and 2 classes");
    px_arch_options size = px_arch_options_default();
    size.channels = 1;
    size.height = size.width = 14;
    size.classes = 10;
    OK(px_arch_build("mlp-1x8", &size, &shape, &err));
    rivals[0] = shape;
    refused("other shape", &options, PX_E_MISMATCH, "the data are [1,28,28]");
    OK(px_model_load(CLI_MODELS "/no_gradient.onnx", &flat, &err));
    rivals[0] = flat;
    refused("a rival without gradients", &options, PX_E_UNSUPPORTED, "MatMulInteger");
    options = job_options(&xplore, NULL, 1);
    const char *const bad[] = {"target=third", "constraint=occl", "left=28"};
    options.settings = bad;
    options.setting_count = 1;
    refused("no third network", &options, PX_E_USAGE, "target=third");
    options.settings = bad + 1;
    options.setting_count = 2;
    refused("outside of the picture", &options, PX_E_USAGE, "outside");

    options = job_options(&dl, NULL, 1);
    options.model = flat;
    refused("no gradient", &options, PX_E_UNSUPPORTED, "MatMulInteger");
    static const job small = {"adapt", 0, {"size=100", "history=20"}, 1};
    options = job_options(&small, NULL, 1);
    refused("too few records", &options, PX_E_USAGE, "parents");
    const char *const unknown[] = {"strategy=4"};
    options = job_options(&dl, NULL, 1);
    options.settings = unknown;
    options.setting_count = 1;
    refused("no such strategy", &options, PX_E_USAGE, "strategy");
    px_model_free(two);
    px_model_free(shape);
    px_model_free(flat);
}

/* A network of 4 classes has 3 runners-up, whatever k asks for. */
static void test_few_classes(void **state)
{
    (void)state;
    px_model *model = NULL;
    px_preprocess pre;
    char folder[GENERATE_PATH];
    px_campaign *campaign = NULL;
    px_fuzz *fuzz = NULL;
    OK(px_model_load(MODELS "/raise.onnx", &model, &err));
    px_dataset *set = data_for(model, MODELS "/raise.npz", 0, &pre);
    OK(px_campaign_open(test_path("few", folder), PX_CAMPAIGN_CREATE, &campaign, &err));
    static const job j = {"dlfuzz", 0, {"group=4", "lr=0.1"}, 1};
    px_fuzz_options options = job_options(&j, campaign, 1);
    options.model = model;
    options.set = set;
    options.pre = &pre;
    const px_fuzz_limits limits = {.turns = 3};
    OK(px_fuzz_new(&options, &fuzz, &err));
    OK(px_fuzz_run(fuzz, &limits, &err));
    assert_true(px_fuzz_report_get(fuzz).faults > 0);
    px_fuzz_free(fuzz);
    px_campaign_close(campaign);
    px_dataset_close(set);
    px_model_free(model);
}

/* Another rival is another campaign; so is a damaged state. */
static void test_resume_refused(void **state)
{
    (void)state;
    static const job j = {"deepxplore", 1, {"group=8"}, 1};
    const outcome o = job_run(&j, "mine", 1, (const int64_t[]){0});
    px_campaign *campaign = NULL;
    px_fuzz *fuzz = NULL;
    px_error why = {0};
    OK(px_campaign_open(o.folder, PX_CAMPAIGN_RESUME, &campaign, &err));
    px_fuzz_options options = job_options(&j, campaign, 1);
    const px_model *rivals[1] = {on.third};
    options.rivals = rivals;
    assert_int_equal(px_fuzz_new(&options, &fuzz, &why), PX_E_MISMATCH);
    px_campaign_close(campaign);

    static const char *const engines[] = {"deepxplore", "dlfuzz", "adapt"};
    for (size_t e = 0; e < PX_LEN(engines); e++) {
        const job one = {engines[e], e == 0, {"group=8"}, 1};
        const outcome made = job_run(&one, engines[e], 1, (const int64_t[]){0});
        void *bytes = NULL;
        size_t size = 0;
        OK(px_campaign_open(made.folder, PX_CAMPAIGN_RESUME, &campaign, &err));
        OK(px_campaign_get_blob(campaign, "fuzz", &bytes, &size, &err));
        assert_non_null(bytes);
        const size_t cuts[] = {size - 1, size - 8, size * 3 / 4, size / 2};
        for (size_t c = 0; c < PX_LEN(cuts); c++) {
            OK(px_campaign_put_blob(campaign, "fuzz", bytes, cuts[c], &err));
            OK(px_campaign_commit(campaign, &err));
            options = job_options(&one, campaign, 1);
            fuzz = NULL;
            const px_status status = px_fuzz_new(&options, &fuzz, &why);
            if (status != PX_E_INPUT)
                fail_msg("%s: %zu of %zu bytes: status %d '%s'", engines[e], cuts[c], size,
                         (int)status, why.message);
        }
        free(bytes);
        px_campaign_close(campaign);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_outputs),     cmocka_unit_test(test_same_content),
        cmocka_unit_test(test_lists_grow),  cmocka_unit_test(test_float),
        cmocka_unit_test(test_blank),       cmocka_unit_test(test_refused),
        cmocka_unit_test(test_few_classes), cmocka_unit_test(test_resume_refused),
    };
    return cmocka_run_group_tests(tests, stage_open, stage_close);
}
