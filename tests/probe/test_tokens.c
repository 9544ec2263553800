/* tests/probe/test_tokens.c - neurons of transformers, against PyTorch's hooks */
/* SPDX-License-Identifier: Apache-2.0 */
#include "probe_helpers.h"

#include "base/memory.h"

#include <internal/probe.h>
#include <math.h>
#include <plexor/data.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const networks[] = {"tokens_vit", "tokens_encoder"};

static void must(px_status status, const px_error *err)
{
    if (status != PX_OK)
        fail_msg("%s", err->message);
}

static px_npz *golden(void)
{
    char path[1024];
    px_npz *npz = NULL;
    px_error err = {0};
    const char *folder = getenv("PLEXOR_TEST_DIR");
    snprintf(path, sizeof path, "%s/models/tokens.npz", folder ? folder : ".");
    must(px_npz_open(path, &npz, &err), &err);
    return npz;
}

/* Traces of the samples from `first` on, as many as the batch has. */
static float *trace_of(const px_model *model, const px_probe *probe, int64_t batch,
                       const px_tensor *x, int64_t first)
{
    px_plan *plan = NULL;
    px_session *session = NULL;
    px_error err = {0};
    px_plan_options options = px_plan_options_default();
    options.batch = batch;
    options.keep = px_probe_values(probe, &options.keep_count);
    must(px_plan_new(model, &options, &plan, &err), &err);
    must(px_session_new(plan, &session, &err), &err);
    assert_int_equal(px_plan_batch(plan), batch);
    const int64_t size = px_shape_count(&x->shape) / x->shape.dim[0];
    memcpy(px_session_input(session, 0), (const float *)x->data + first * size,
           (size_t)(batch * size) * sizeof(float));
    float *trace = pxi_calloc((size_t)(batch * px_probe_neuron_count(probe)), sizeof *trace);
    assert_non_null(trace);
    must(px_session_forward(session, &err), &err);
    must(px_probe_trace(probe, session, batch, trace, NULL, &err), &err);
    px_session_free(session);
    px_plan_free(plan);
    return trace;
}

static void compare(const px_probe *probe, const float *trace, int64_t batch, int64_t first,
                    const px_npz *npz, const char *network, const char *view)
{
    const int64_t row = px_probe_neuron_count(probe);
    for (size_t l = 0; l < px_probe_layer_count(probe); l++) {
        const px_layer *layer = px_probe_layer(probe, l);
        char key[256];
        snprintf(key, sizeof key, "%s:%s#%s", network, layer->name, view);
        const px_tensor *want = px_npz_get(npz, key);
        if (!want)
            fail_msg("no golden values for %s", key);
        assert_int_equal(want->shape.dim[1], layer->neuron_count);
        float largest = 0.0f;
        for (int64_t k = 0; k < px_shape_count(&want->shape); k++)
            largest = fmaxf(largest, fabsf(((const float *)want->data)[k]));
        for (int64_t s = 0; s < batch; s++)
            for (int64_t n = 0; n < layer->neuron_count; n++) {
                const float got = trace[s * row + layer->neuron_offset + n];
                const float torch =
                    ((const float *)want->data)[(first + s) * layer->neuron_count + n];
                if (!(fabsf(got - torch) <= 1e-5f * largest))
                    fail_msg("%s, batch %lld: sample %lld, neuron %lld is %g, not %g", key,
                             (long long)batch, (long long)(first + s), (long long)n, (double)got,
                             (double)torch);
            }
    }
}

/* Every layer there is, one sample at a time and eight. */
static void test_hooks(void **state)
{
    (void)state;
    static const struct {
        const char *neurons, *view;
    } views[] = {{"chan", "mean"}, {"token-mean", "mean"}, {"class-token", "class"}};
    px_npz *npz = golden();
    const px_tensor *x = px_npz_get(npz, "x");
    assert_non_null(x);
    for (size_t n = 0; n < PX_LEN(networks); n++)
        for (size_t v = 0; v < PX_LEN(views); v++) {
            px_model *model = probe_model(networks[n]);
            px_probe *probe = probe_make(model, "all", NULL, views[v].neurons);
            for (int64_t batch = 1; batch <= 8; batch += 7)
                for (int64_t first = 0; first + batch <= x->shape.dim[0]; first++) {
                    float *trace = trace_of(model, probe, batch, x, first);
                    compare(probe, trace, batch, first, npz, networks[n], views[v].view);
                    free(trace);
                }
            px_probe_free(probe);
            px_model_free(model);
        }
    px_npz_close(npz);
}

static void test_words(void **state)
{
    (void)state;
    static const struct {
        const char *network, *layers, *names;
    } cases[] = {
        {"tokens_vit", "last-hidden", "/Gather_4"},
        {"tokens_vit", "stages",
         "/encoder/layers/encoder_layer_0/Add_1 /encoder/layers/encoder_layer_1/Add_1"},
        {"tokens_vit", "heads",
         "/encoder/layers/encoder_layer_0/self_attention/MatMul_2 "
         "/encoder/layers/encoder_layer_1/self_attention/MatMul_2"},
        {"tokens_encoder", "last-hidden", "/Gather"},
        {"tokens_encoder", "stages", "/layers/layers.0/norm2/Add_1 /layers/layers.1/norm2/Add_1"},
        {"tokens_encoder", "heads",
         "/layers/layers.0/self_attn/MatMul_2 /layers/layers.1/self_attn/MatMul_2"},
    };
    for (size_t i = 0; i < PX_LEN(cases); i++) {
        px_model *model = probe_model(cases[i].network);
        px_probe *probe = probe_make(model, cases[i].layers, NULL, NULL);
        char names[512] = "";
        for (size_t l = 0; l < px_probe_layer_count(probe); l++) {
            strcat(names, l > 0 ? " " : "");
            strcat(names, px_probe_layer(probe, l)->name);
        }
        assert_string_equal(names, cases[i].names);
        px_probe_free(probe);
        px_model_free(model);
    }
}

/* Convolutions have no tokens; a mean over them is as good a word as any, one of them is not. */
static void test_no_token(void **state)
{
    (void)state;
    px_model *model = probe_model("residual");
    px_probe_options options = px_probe_options_default();
    px_probe *probe = NULL;
    px_error err = {0};
    must(px_probe_options_parse(&options, "all", NULL, "class-token", &err), &err);
    assert_int_equal(px_probe_new(model, &options, &probe, &err), PX_E_USAGE);
    if (!strstr(err.message, "are not read from one token"))
        fail_msg("%s", err.message);
    px_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hooks),
        cmocka_unit_test(test_words),
        cmocka_unit_test(test_no_token),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
