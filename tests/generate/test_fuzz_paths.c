/* tests/generate/test_fuzz_paths.c - --guide nsgen: what is kept is on another path, and why */
/* SPDX-License-Identifier: Apache-2.0 */
#include "../data/data_helpers.h"
#include "fuzz_helpers.h"

#include <internal/decision_path.h>
#include <internal/fuzz.h>
#include <math.h>
#include <stdlib.h>

static void ok(px_status status, const px_error *err, const char *what)
{
    if (status != PX_OK)
        fail_msg("%s: %s", what, err->message);
}

/* The path of a stored input, found anew. */
static px_path path_of(fuzz_scene *s, int64_t id, int64_t label)
{
    px_error err = {0};
    px_campaign_input in = {0};
    const px_shape shape = px_dataset_shape(s->set);
    const size_t size = (size_t)px_shape_count(&shape);
    uint8_t *pixels = malloc(size);
    float *input = malloc(size * sizeof *input);
    px_path path;
    ok(px_campaign_read(s->campaign, id, &in, pixels, &err), &err, "read");
    for (size_t i = 0; i < size; i++)
        input[i] = pixels[i];
    ok(px_preprocess_apply(&s->pre, &shape, input, &err), &err, "preprocess");
    ok(px_paths_run(s->paths, input, &label, 1, &path, NULL, &err), &err, "path");
    free(pixels);
    free(input);
    return path;
}

static void check_all(fuzz_scene *s, bool root, int64_t *count)
{
    px_error err = {0};
    px_campaign_input in = {0};
    const px_tau *tau = &s->threshold.of[s->by_paths.mode];
    *count = 0;
    for (;;) {
        double similarity;
        ok(px_campaign_next(s->campaign, in.id, PX_INPUT_KEPT | PX_INPUT_FAULT, &in, NULL, NULL,
                            &err),
           &err, "next");
        if (!in.id)
            return;
        const px_path before = path_of(s, root ? in.root : in.parent, in.label);
        const px_path after = path_of(s, in.id, in.label);
        ok(px_path_judge_similarity(s->judge, s->by_paths.mode, &before, &after, &similarity, &err),
           &err, "similarity");
        if (!px_tau_keeps(tau, similarity))
            fail_msg("input %lld was kept with a similarity of %g, tau %g", (long long)in.id,
                     similarity, tau->tau);
        ++*count;
    }
}

/* Algorithm 1: every output is less similar to its parent (its seed) than tau. */
static void test_outputs_are_on_another_path(void **state)
{
    (void)state;
    static const char *const guides[] = {"nsgen", "nsgen-label-only", "nsgen-descr-only",
                                         "nsgen-no-cns", "nsgen-no-nldg"};
    px_error err = {0};
    for (size_t i = 0; i < sizeof guides / sizeof guides[0]; i++) {
        char folder[32];
        snprintf(folder, sizeof folder, "paths-%zu", i);
        const fuzz_case c = {
            .folder = folder, .guide = guides[i], .policy = "nsgen", .settings = {"energy=20"}};
        const px_fuzz_limits limits = {.turns = 60};
        fuzz_scene s;
        int64_t count;
        ok(fuzz_scene_open(&c, &s, &err), &err, guides[i]);
        ok(px_fuzz_run(s.fuzz, &limits, &err), &err, guides[i]);
        const px_fuzz_report report = px_fuzz_report_get(s.fuzz);
        assert_string_equal(report.guide, guides[i]);
        check_all(&s, false, &count);
        assert_int_equal(count, report.outputs);
        /* DPD as Table 3 has it: outputs over seeds. */
        assert_true(fabs(report.coverage.value - (double)count / (double)report.seeds) < 1e-12);
        if (strcmp(guides[i], "nsgen") == 0 && count == 0)
            fail_msg("nothing was kept by '%s'", guides[i]);
        fuzz_scene_close(&s);
    }
}

/* What label-only keeps has changed its class: its text has nothing else in it. */
static void test_label_only_sees_the_class(void **state)
{
    (void)state;
    px_error err = {0};
    const fuzz_case c = {.folder = "label",
                         .guide = "nsgen-label-only",
                         .policy = "nsgen",
                         .settings = {"energy=20"}};
    const px_fuzz_limits limits = {.turns = 120};
    fuzz_scene s;
    px_campaign_input in = {0}, before;
    ok(fuzz_scene_open(&c, &s, &err), &err, "open");
    /* Were tau 1 because most mutants keep their class, equal texts would still not be below. */
    assert_true(s.threshold.of[PX_PATH_LABEL_ONLY].tau <= 1.0);
    ok(px_fuzz_run(s.fuzz, &limits, &err), &err, "run");
    for (;;) {
        ok(px_campaign_next(s.campaign, in.id, PX_INPUT_KEPT | PX_INPUT_FAULT, &in, NULL, NULL,
                            &err),
           &err, "next");
        if (!in.id)
            break;
        ok(px_campaign_read(s.campaign, in.parent, &before, NULL, &err), &err, "parent");
        assert_int_not_equal(in.prediction, before.prediction);
    }
    fuzz_scene_close(&s);
}

/* The same guide with another tau, bank or mode is another campaign. */
static void test_identity(void **state)
{
    (void)state;
    px_error err = {0};
    fuzz_case c = {
        .folder = "identity", .guide = "nsgen", .policy = "nsgen", .settings = {"energy=5"}};
    const px_fuzz_limits limits = {.turns = 3};
    ok(fuzz_case_run(&c, &limits, NULL, &err), &err, "run");
    c.resume = true;
    ok(fuzz_case_run(&c, &limits, NULL, &err), &err, "resume");
    c.guide = "nsgen-no-nldg";
    assert_int_equal(fuzz_case_run(&c, &limits, NULL, &err), PX_E_MISMATCH);
}

static void test_names(void **state)
{
    (void)state;
    px_error err = {0};
    bool is;
    px_path_mode mode = PX_PATH_NO_CNS;
    for (int m = 0; m < PX_PATH_MODE_COUNT; m++) {
        ok(px_fuzz_paths_parse(px_fuzz_paths_name((px_path_mode)m), &is, &mode, &err), &err,
           "parse");
        assert_true(is && (int)mode == m);
    }
    ok(px_fuzz_paths_parse("kmnc", &is, &mode, &err), &err, "kmnc");
    assert_false(is);
    assert_int_equal(px_fuzz_paths_parse("nsgen-words", &is, &mode, &err), PX_E_USAGE);
    assert_non_null(strstr(err.message, "nsgen-label-only"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_outputs_are_on_another_path),
        cmocka_unit_test(test_label_only_sees_the_class),
        cmocka_unit_test(test_identity),
        cmocka_unit_test(test_names),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
