/* tests/generate/test_fuzz_guide.c - the guide that a campaign makes itself, pairs by paths, replay
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "../data/data_helpers.h"
#include "fuzz_helpers.h"

#include <internal/decision_path.h>
#include <internal/dpd.h>
#include <internal/replay.h>
#include <internal/weights.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define OK(call)                                    \
    do {                                            \
        if ((call) != PX_OK)                        \
            fail_msg("%s: %s", #call, err.message); \
    } while (0)

typedef struct bench {
    px_model *model;
    px_preprocess pre;
    px_shape input;
    px_dataset *set;
} bench;

static void open_digits(const bench *b, const char *split, int64_t limit, bool shuffle,
                        px_preprocess *pre, px_dataset **out)
{
    px_data_options options = px_data_options_default();
    px_error err = {0};
    options.split = split;
    options.limit = limit;
    options.shuffle = shuffle;
    OK(px_dataset_open_for(pre, &b->input, "digits", &options, out, &err));
}

static bench bench_open(void)
{
    bench b = {0};
    px_error err = {0};
    OK(px_model_load(DIGITS, &b.model, &err));
    const px_graph *graph = px_model_graph(b.model);
    b.input = graph->values[graph->inputs[0]].shape;
    OK(px_preprocess_init(&b.pre, px_model_properties(b.model), px_model_property_count(b.model),
                          &b.input, NULL, &err));
    open_digits(&b, "test", 200, false, &b.pre, &b.set);
    return b;
}

static void bench_close(bench *b)
{
    px_dataset_close(b->set);
    px_model_free(b->model);
}

static px_fuzz_options options_for(const bench *b, px_campaign *campaign)
{
    px_fuzz_options o = px_fuzz_options_default();
    o.campaign = campaign;
    o.model = b->model;
    o.set = b->set;
    o.pre = &b->pre;
    o.seeds = 30;
    return o;
}

/* A campaign of some turns with these options; its digest, and the guide's name. */
static uint64_t fuzz_it(const char *folder, const px_fuzz_options *options, char guide[32])
{
    const px_fuzz_limits limits = {.turns = 15};
    px_fuzz *fuzz = NULL;
    px_error err = {0};
    uint64_t digest = 0;
    OK(px_fuzz_new(options, &fuzz, &err));
    OK(px_fuzz_run(fuzz, &limits, &err));
    snprintf(guide, 32, "%s", px_fuzz_report_get(fuzz).guide);
    px_fuzz_free(fuzz);
    px_campaign_close(options->campaign);
    OK(fuzz_digest(folder, &digest, &err));
    return digest;
}

static px_campaign *new_campaign(const char *folder)
{
    px_campaign *campaign = NULL;
    px_error err = {0};
    OK(px_campaign_open(folder, PX_CAMPAIGN_CREATE, &campaign, &err));
    return campaign;
}

/* What a program gets that says nothing: kmnc, with ranges of 1,000 inputs of the train part. */
static void test_default_is_kmnc(void **state)
{
    (void)state;
    bench b = bench_open();
    char guide[32];
    px_error err = {0};
    px_fuzz_options o = options_for(&b, new_campaign("guide-default"));
    const uint64_t got = fuzz_it("guide-default", &o, guide);
    assert_string_equal(guide, "kmnc");

    px_preprocess pre = b.pre;
    px_dataset *train = NULL;
    px_lessons lessons = {0};
    px_profile *profile = NULL;
    px_cover *cover = NULL;
    const px_shape shape = {4, {1, 1, 28, 28}};
    px_cover_options how = px_cover_options_default();
    const px_profile_options make = px_profile_options_default();
    how.criteria = "kmnc";
    open_digits(&b, "train", 1000, true, &pre, &train);
    OK(px_cover_lessons(b.model, &shape, &how, &lessons, &err));
    OK(px_profile_make(b.model, &lessons, train, &pre, &make, &profile, &err));
    how.profile = profile;
    OK(px_cover_new(b.model, &shape, &how, &cover, &err));
    o = options_for(&b, new_campaign("guide-by-hand"));
    o.cover = cover;
    o.profile = profile;
    assert_int_equal(fuzz_it("guide-by-hand", &o, guide), got);
    px_cover_free(cover);
    px_profile_free(profile);
    px_lessons_free(&lessons);
    px_dataset_close(train);
    bench_close(&b);
}

/* A criterion's settings go to it, all others to the engine. */
static void test_settings_apart(void **state)
{
    (void)state;
    static const char *const settings[] = {"nc.t=0.75", "energy=7"};
    bench b = bench_open();
    char guide[32];
    px_error err = {0};
    px_fuzz_options o = options_for(&b, new_campaign("guide-settings"));
    o.guide.name = "nc";
    o.settings = settings;
    o.setting_count = 2;
    const uint64_t got = fuzz_it("guide-settings", &o, guide);
    assert_string_equal(guide, "nc");

    px_cover *cover = NULL;
    const px_shape shape = {4, {1, 1, 28, 28}};
    px_cover_options how = px_cover_options_default();
    how.criteria = "nc";
    how.settings = settings;
    how.setting_count = 1;
    OK(px_cover_new(b.model, &shape, &how, &cover, &err));
    o = options_for(&b, new_campaign("guide-settings-by-hand"));
    o.cover = cover;
    o.settings = settings + 1;
    o.setting_count = 1;
    assert_int_equal(fuzz_it("guide-settings-by-hand", &o, guide), got);
    px_cover_free(cover);
    bench_close(&b);
}

static void test_refused(void **state)
{
    (void)state;
    static const struct {
        const char *engine, *guide, *says;
    } cases[] = {
        {"loop", "nothing", "there is no guide 'nothing'"},
        {"dlfuzz", "nc", "engine 'dlfuzz' has a guide of its own"},
        {"loop", "nsgen", "compares words of units"},
        {"none", NULL, "there is no engine 'none'"},
    };
    bench b = bench_open();
    px_campaign *campaign = new_campaign("guide-refused");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        px_fuzz_options o = options_for(&b, campaign);
        px_fuzz *fuzz = NULL;
        px_error err = {0};
        o.engine = cases[i].engine;
        o.guide.name = cases[i].guide;
        assert_int_equal(px_fuzz_new(&o, &fuzz, &err), PX_E_USAGE);
        if (!strstr(err.message, cases[i].says))
            fail_msg("case %zu: %s", i, err.message);
    }
    px_campaign_close(campaign);
    bench_close(&b);
}

/* --- pairs by decision paths ----------------------------------------------------------------- */

static void test_pairs(void **state)
{
    (void)state;
    enum { N = 20 };
    bench b = bench_open();
    px_error err = {0};
    px_path_tools tools;
    px_threshold threshold = {0};
    px_dpd_result got;
    px_dpd wanted = {{{0}}};
    px_dataset *some = NULL;
    px_preprocess pre = b.pre;
    int64_t partners[N], failed = 0;
    px_path_tools_options how = px_path_tools_options_default();
    how.paths.steps = how.paths.most_steps = 8;
    open_digits(&b, "test", N, false, &pre, &some);
    OK(px_path_tools_open(b.model, b.set, &b.pre, &how, &tools, &err));
    assert_int_equal(px_dpd_mode_of(&tools), PX_PATH_NO_NLDG);
    threshold.of[PX_PATH_NO_NLDG] = (px_tau){.known = true, .tau = 0.5};
    for (int i = 0; i < N; i++)
        partners[i] = (i * 7 + 30) % 200;
    const px_dpd_pairs pairs = {.before = b.set,
                                .after = some,
                                .before_pre = &b.pre,
                                .after_pre = &pre,
                                .partners = partners};
    OK(px_dpd_run(&tools, &threshold, &pairs, &got, &err));
    for (int i = 0; i < N; i++) { /* one pair after the other */
        float inputs[2][28 * 28];
        px_path found[2];
        const int64_t label = px_dataset_label(b.set, partners[i]), labels[] = {label, label};
        OK(px_dataset_input(b.set, &b.pre, partners[i], inputs[0], &err));
        OK(px_dataset_input(some, &pre, i, inputs[1], &err));
        OK(px_paths_run(tools.paths, inputs[0], labels, 2, found, NULL, &err));
        OK(px_dpd_add(&wanted, tools.judge, &threshold, &found[0], &found[1], NULL, &err));
        failed += found[1].classes[0] != label;
    }
    assert_int_equal(got.count, N);
    assert_int_equal(got.labelled, N);
    assert_int_equal(got.failed, failed);
    assert_int_equal(got.dpd.of[PX_PATH_NO_NLDG].pairs, N);
    assert_int_equal(got.dpd.of[PX_PATH_NO_NLDG].apart, wanted.of[PX_PATH_NO_NLDG].apart);
    assert_true(got.dpd.of[PX_PATH_NO_NLDG].sum == wanted.of[PX_PATH_NO_NLDG].sum);
    assert_true(isnan(got.with_failures[PX_PATH_FULL].r));
    assert_true(got.with_failures[PX_PATH_NO_NLDG].r < 0.0); /* apart, and wrong */
    px_path_tools_close(&tools);
    px_dataset_close(some);
    bench_close(&b);
}

/* --- replay ---------------------------------------------------------------------------------- */

/* The same network with other weights. */
static px_model *another(const px_model *model)
{
    px_weights *weights = NULL;
    px_model *made = NULL;
    px_error err = {0};
    OK(px_weights_new(model, &weights, &err));
    const size_t last = px_weights_count(weights) - 1;
    for (size_t w = 0; w <= last; w++) {
        px_weight *of = px_weights_get(weights, w);
        float *data = of->tensor.data;
        for (int64_t k = 0; k < px_shape_count(&of->tensor.shape); k += 5)
            data[k] *= 0.2f;
    }
    OK(px_weights_freeze(weights, NULL, 0, &made, &err));
    px_weights_free(weights);
    return made;
}

static int64_t interpret(const px_model *model, const px_dataset *set, const px_preprocess *pre,
                         int64_t index)
{
    const px_shape shape = {4, {1, 1, 28, 28}};
    px_tensor input = {0}, output = {0};
    px_error err = {0};
    OK(px_tensor_init(&input, PX_FLOAT32, &shape, &err));
    OK(px_dataset_input(set, pre, index, input.data, &err));
    OK(px_model_interpret(model, &input, &output, &err));
    const int best = px_argmax(output.data, 10);
    px_tensor_done(&input);
    px_tensor_done(&output);
    return best;
}

/* One more fault, whose pixels are not what its chain gives. */
static void add_forged(px_campaign *campaign)
{
    px_campaign_input in;
    px_error err = {0};
    uint8_t pixels[28 * 28];
    OK(px_campaign_next(campaign, 0, PX_INPUT_FAULT, &in, pixels, NULL, &err));
    assert_true(in.id > 0);
    pixels[100] ^= 1;
    OK(px_campaign_put(campaign, &in, pixels, NULL, &err));
    OK(px_campaign_commit(campaign, &err));
}

static void test_replay(void **state)
{
    (void)state;
    bench b = bench_open();
    char guide[32];
    px_error err = {0};
    px_fuzz_options o = options_for(&b, new_campaign("replayed"));
    px_campaign *campaign = NULL;
    px_replay replay = {0};
    int64_t last = 0, seeds = 0;
    o.guide.name = "random";
    fuzz_it("replayed", &o, guide);
    assert_string_equal(guide, "random");
    OK(px_campaign_open("replayed", PX_CAMPAIGN_RESUME, &campaign, &err));
    add_forged(campaign);
    OK(px_campaign_last(campaign, &last, &err));
    for (int64_t id = 1; id <= last; id++) {
        px_campaign_input in;
        OK(px_campaign_read(campaign, id, &in, NULL, &err));
        seeds += in.kind == PX_INPUT_SEED;
    }
    OK(px_replay_check(campaign, 0, NULL, NULL, &replay, &err));
    assert_int_equal(replay.checked, last);
    assert_int_equal(replay.stored, seeds);
    assert_int_equal(replay.differ.count, 1);
    assert_int_equal(replay.differ.first[0], last);
    OK(px_replay_check(campaign, 1, NULL, NULL, &replay, &err)); /* adds */
    assert_int_equal(replay.checked, last + 1);
    px_replay_done(&replay);

    px_model *other = another(b.model);
    px_preprocess pre = b.pre;
    px_dataset *all = NULL;
    px_data_options data = px_data_options_default();
    data.split = "all";
    OK(px_dataset_open_for(&pre, &b.input, "replayed", &data, &all, &err));
    OK(px_replay_judge(campaign, b.model, all, &pre, NULL, &replay, &err));
    assert_true(replay.judged && !replay.judged_anew);
    assert_int_equal(replay.otherwise.count, 0);
    px_replay_done(&replay);

    int64_t failures = 0, still[10][10] = {{0}}, of[10][10] = {{0}}, left = 0;
    OK(px_replay_judge(campaign, other, all, &pre, NULL, &replay, &err));
    for (int64_t i = 0; i < last; i++) {
        px_campaign_input in;
        OK(px_campaign_read(campaign, i + 1, &in, NULL, &err));
        if (in.kind != PX_INPUT_FAULT)
            continue;
        failures++;
        of[in.label][in.prediction]++;
        if (interpret(other, all, &pre, i) != in.label) {
            assert_int_equal(replay.ids[left], in.id);
            left++;
            still[in.label][in.prediction]++;
        }
    }
    assert_true(!replay.judged && replay.judged_anew);
    assert_true(left > 0 && left < failures);
    assert_int_equal(replay.failures, failures);
    assert_int_equal(replay.still, left);
    assert_true(fabs(px_replay_fixed(&replay) - (double)(failures - left) / (double)failures) <
                1e-12);
    for (size_t k = 0; k < replay.kind_count; k++) {
        const px_replay_kind *kind = &replay.kinds[k];
        assert_int_equal(kind->count, of[kind->label][kind->prediction]);
        assert_int_equal(kind->still, still[kind->label][kind->prediction]);
        failures -= kind->count;
        assert_true(k == 0 || kind->still <= replay.kinds[k - 1].still);
    }
    assert_int_equal(failures, 0);
    px_replay_done(&replay);
    px_dataset_close(all);
    px_model_free(other);
    px_campaign_close(campaign);
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_default_is_kmnc), cmocka_unit_test(test_settings_apart),
        cmocka_unit_test(test_refused),         cmocka_unit_test(test_pairs),
        cmocka_unit_test(test_replay),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
