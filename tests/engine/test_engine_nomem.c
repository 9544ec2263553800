/* tests/engine/test_engine_nomem.c - each allocation fails in turn: planning, sessions, probing
 *
 * Whatever fails says PX_E_NOMEM and leaves nothing behind (the leak checker watches); running a
 * session allocates nothing at all.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"
#include "failing_alloc.h"

#include "base/memory.h"

#include <internal/engine.h>
#include <plexor/onnx.h>
#include <plexor/probe.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const files[] = {"conv_norm", "residual",  "slices_runnable",
                                    "lstm",      "attention", "quantised",
                                    "resize",    "shapes",    "choices"};

static px_model *load(const char *name)
{
    char path[1024];
    px_model *model = NULL;
    px_error err = {0};
    snprintf(path, sizeof path, "%s/%s.onnx", CORPUS, name);
    if (px_model_load(path, &model, &err) != PX_OK)
        fail_msg("%s", err.message);
    return model;
}

/* Returns false when the allocation to fail was never reached, in which case the work must be done.
 */
static bool judge(px_status status, const px_error *err, const char *file, const char *what, long k)
{
    const bool failed = fail_never();
    if (status != (failed ? PX_E_NOMEM : PX_OK))
        fail_msg("%s, %s, allocation %ld: status %d, '%s'", file, what, k, (int)status,
                 err->message);
    return failed;
}

static px_plan_options everything(const px_model *model, int *values, bool reference)
{
    const px_graph *graph = px_model_graph(model);
    px_plan_options options = px_plan_options_default();
    px_plan *plan = NULL;
    px_error err = {0};
    options.batch = 2;
    if (px_plan_new(model, &options, &plan, &err) != PX_OK)
        fail_msg("%s", err.message);
    options.reference = reference;
    options.keep = options.observe = values;
    for (int v = 0; v < graph->value_count; v++)
        if (px_plan_dtype(plan, v) == PX_FLOAT32)
            values[options.keep_count++] = v;
    options.observe_count = options.keep_count;
    px_plan_free(plan);
    return options;
}

static void test_plan(void **state)
{
    (void)state;
    for (size_t f = 0; f < PX_LEN(files); f++) {
        px_model *model = load(files[f]);
        int values[128];
        px_plan_options cases[4] = {px_plan_options_default(), everything(model, values, true),
                                    everything(model, values, false), px_plan_options_default()};
        px_scores scores;
        cases[3].input_grad = px_model_scores(model, &scores, NULL) == PX_OK;
        for (size_t c = 0; c < PX_LEN(cases); c++) {
            px_error err = {0};
            bool failed = true;
            for (long k = 0; failed; k++) {
                px_plan *plan = NULL;
                fail_at(k);
                const px_status status = px_plan_new(model, &cases[c], &plan, &err);
                failed = judge(status, &err, files[f], "plan", k);
                assert_true((plan == NULL) == failed);
                px_plan_free(plan);
                assert_true(failed || k > 10);
            }
        }
        px_model_free(model);
    }
}

static void test_session(void **state)
{
    (void)state;
    for (size_t f = 0; f < PX_LEN(files); f++) {
        px_model *model = load(files[f]);
        px_plan_options options = px_plan_options_default();
        px_scores scores;
        options.batch = 2;
        options.input_grad = px_model_scores(model, &scores, NULL) == PX_OK;
        px_plan *plan = NULL;
        px_error err = {0};
        if (px_plan_new(model, &options, &plan, &err) != PX_OK)
            fail_msg("%s: %s", files[f], err.message);
        bool failed = true;
        for (long k = 0; failed; k++) {
            px_session *session = NULL;
            fail_at(k);
            const px_status status = px_session_new(plan, &session, &err);
            failed = judge(status, &err, files[f], "session", k);
            assert_true((session == NULL) == failed);
            if (session) { /* from here on nothing is allocated */
                fail_at(0);
                assert_int_equal(px_session_forward(session, &err), PX_OK);
                assert_int_equal(px_session_seed_clear(session, &err), PX_OK);
                if (options.input_grad)
                    assert_non_null(px_session_seed(session, scores.value).data);
                assert_int_equal(px_session_backward(session, &err), PX_OK);
                assert_false(fail_never());
            }
            px_session_free(session);
        }
        px_plan_free(plan);
        px_model_free(model);
    }
}

static void test_run(void **state)
{
    (void)state;
    px_model *model = load("conv_norm");
    const px_graph *graph = px_model_graph(model);
    const px_run_options options = {.threads = 2};
    px_error err = {0};
    px_tensor input = {0}, output = {0};
    px_shape shape = graph->values[graph->inputs[0]].shape;
    shape.dim[0] = 100;
    assert_int_equal(px_tensor_init(&input, PX_FLOAT32, &shape, &err), PX_OK);
    bool failed = true;
    for (long k = 0; failed; k++) {
        fail_at(k);
        const px_status status =
            px_run(model, &input, &options, &graph->outputs[0], 1, &output, NULL, &err);
        failed = judge(status, &err, "conv_norm", "run", k);
        assert_true(!failed || !output.data);
        px_tensor_done(&output);
        output = (px_tensor){0};
    }
    px_tensor_done(&input);
    px_model_free(model);
}

static void test_interpret(void **state)
{
    (void)state;
    for (size_t f = 0; f < PX_LEN(files); f++) {
        px_model *model = load(files[f]);
        const px_graph *graph = px_model_graph(model);
        px_error err = {0};
        px_tensor input = {0}, outputs[8] = {0};
        px_shape shape = graph->values[graph->inputs[0]].shape;
        shape.dim[0] = shape.dim[0] < 0 ? 1 : shape.dim[0];
        assert_int_equal(px_tensor_init(&input, PX_FLOAT32, &shape, &err), PX_OK);
        bool failed = true;
        for (long k = 0; failed; k++) {
            fail_at(k);
            const px_status status = px_model_interpret(model, &input, outputs, &err);
            failed = judge(status, &err, files[f], "interpret", k);
            for (int i = 0; i < graph->output_count; i++) {
                assert_true(!failed || !outputs[i].data);
                px_tensor_done(&outputs[i]);
            }
        }
        px_tensor_done(&input);
        px_model_free(model);
    }
}

static void test_probe(void **state)
{
    (void)state;
    for (size_t f = 0; f < PX_LEN(files); f++) {
        px_model *model = load(files[f]);
        px_error err = {0};
        for (int view = PX_VIEW_CHAN; view <= PX_VIEW_UNIT; view++) {
            px_probe_options options = px_probe_options_default();
            options.layers = "all,!#999,*";
            options.neurons = (px_neurons)view;
            options.deepxplore = view == PX_VIEW_CHAN_MAX;
            px_probe *probe = NULL;
            if (px_probe_new(model, &options, &probe, &err) != PX_OK)
                options.layers = "all";
            else
                px_probe_free(probe);
            probe = NULL;
            if (px_probe_new(model, &options, &probe, &err) != PX_OK)
                continue; /* a network without layers */
            px_probe_free(probe);
            bool failed = true;
            for (long k = 0; failed; k++) {
                probe = NULL;
                fail_at(k);
                const px_status status = px_probe_new(model, &options, &probe, &err);
                failed = judge(status, &err, files[f], "probe", k);
                assert_true((probe == NULL) == failed);
                px_probe_free(probe);
            }
        }
        px_scores scores;
        bool failed = px_model_scores(model, &scores, &err) == PX_OK;
        for (long k = 0; failed; k++) {
            fail_at(k);
            const px_status status = px_model_scores(model, &scores, &err);
            failed = judge(status, &err, files[f], "scores", k);
        }
        px_model_free(model);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plan),  cmocka_unit_test(test_session),
        cmocka_unit_test(test_run),   cmocka_unit_test(test_interpret),
        cmocka_unit_test(test_probe),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
