/* tests/probe/test_probe_run.c - traces and neuron gradients of networks that run */
/* SPDX-License-Identifier: Apache-2.0 */
#include "probe_helpers.h"

#include "base/memory.h"

#include <internal/engine.h>
#include <math.h>
#include <plexor/data.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const networks[] = {"squeeze_excite", "residual",       "channels_last",
                                       "transformer",    "lstm",           "gru_last",
                                       "windows",        "baked_batch",    "squeeze_net",
                                       "folded_encoder", "folded_windows", "folded_halves"};
static const char *const views[] = {"chan", "chan-max", "unit", "chan-scaled", "chan-rescaled"};

typedef struct run {
    px_model *model;
    px_probe *probe;
    px_plan *plan;
    px_session *session;
    int64_t batch, input_size;
} run;

static void must(px_status status, const px_error *err)
{
    if (status != PX_OK)
        fail_msg("%s", err->message);
}

static float draw(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (float)((double)(*seed >> 33) / 2147483648.0 - 0.5);
}

/* A plan that keeps, observes and seeds what the probe wants; batch 1 where that is baked in. */
static run run_open(const char *network, const char *layers, const char *tap, const char *neurons,
                    int64_t batch, bool reference)
{
    run r = {.model = probe_model(network)};
    r.probe = probe_make(r.model, layers, tap, neurons);
    px_plan_options options = px_plan_options_default();
    options.batch = strcmp(network, "baked_batch") == 0 ? 1 : batch;
    options.reference = reference;
    options.keep = options.observe = options.seeds = px_probe_values(r.probe, &options.keep_count);
    options.observe_count = options.seed_count = options.keep_count;
    options.input_grad = true;
    px_error err = {0};
    must(px_plan_new(r.model, &options, &r.plan, &err), &err);
    must(px_session_new(r.plan, &r.session, &err), &err);
    r.batch = px_plan_batch(r.plan);
    const px_shape shape = px_plan_feed_shape(r.plan, 0);
    r.input_size = px_shape_count(&shape) / r.batch;
    return r;
}

static void run_close(run *r)
{
    px_session_free(r->session);
    px_plan_free(r->plan);
    px_probe_free(r->probe);
    px_model_free(r->model);
}

/* Sample s of the batch is number first + s of an endless series. */
static void run_forward(run *r, int64_t first)
{
    float *x = px_session_input(r->session, 0);
    for (int64_t s = 0; s < r->batch; s++) {
        uint64_t seed = (uint64_t)(first + s) * 977 + 5;
        for (int64_t i = 0; i < r->input_size; i++)
            x[s * r->input_size + i] = draw(&seed);
    }
    px_error err = {0};
    must(px_session_forward(r->session, &err), &err);
}

static float *run_trace(run *r, int64_t first, int64_t samples)
{
    float *trace = pxi_calloc((size_t)(samples * px_probe_neuron_count(r->probe)), sizeof *trace);
    px_error err = {0};
    assert_non_null(trace);
    run_forward(r, first);
    must(px_probe_trace(r->probe, r->session, samples, trace, NULL, &err), &err);
    return trace;
}

/* Kept or observed, early or late in a batch, alone or not: the same bytes; plain kernels come
 * close. */
static void test_traces_agree(void **state)
{
    (void)state;
    for (size_t n = 0; n < PX_LEN(networks); n++)
        for (size_t v = 0; v < PX_LEN(views); v++) {
            run one = run_open(networks[n], "all", NULL, views[v], 1, false);
            run many = run_open(networks[n], "all", NULL, views[v], 5, false);
            run plain = run_open(networks[n], "all", NULL, views[v], 5, true);
            const int64_t row = px_probe_neuron_count(one.probe);
            for (int64_t first = 0; first < 3; first += 2) {
                float *alone = run_trace(&one, first + many.batch - 1, 1);
                float *kept = run_trace(&many, first, many.batch);
                float *slow = run_trace(&plain, first, many.batch);
                float *seen = pxi_calloc((size_t)(many.batch * row), sizeof *seen);
                assert_non_null(seen);
                px_probe_watch watch = {
                    .probe = many.probe, .samples = many.batch - 1, .trace = seen};
                px_session_observe(many.session, px_probe_observer, &watch);
                run_forward(&many, first);
                px_session_observe(many.session, NULL, NULL);
                const size_t bytes = (size_t)row * sizeof *kept;
                if (memcmp(alone, kept + (many.batch - 1) * row, bytes) != 0)
                    fail_msg("%s %s: depends on the batch", networks[n], views[v]);
                if (memcmp(seen, kept, (size_t)(many.batch - 1) * bytes) != 0)
                    fail_msg("%s %s: observed and kept differ", networks[n], views[v]);
                for (int64_t i = 0; i < row; i++) /* the last row was not asked for */
                    assert_true(seen[(many.batch - 1) * row + i] == 0.0f);
                for (int64_t i = 0; i < many.batch * row; i++)
                    if (!(fabsf(slow[i] - kept[i]) <= 1e-4f * (1.0f + fabsf(slow[i]))))
                        fail_msg("%s %s: neuron %lld: plain %g, fast %g", networks[n], views[v],
                                 (long long)(i % row), (double)slow[i], (double)kept[i]);
                free(alone);
                free(kept);
                free(slow);
                free(seen);
            }
            run_close(&one);
            run_close(&many);
            run_close(&plain);
        }
}

/* Gradient of one neuron, summed over the batch's own terms, in graph order. */
static float *neuron_gradient(run *r, size_t layer, int64_t neuron)
{
    px_error err = {0};
    const px_shape shape = px_plan_feed_shape(r->plan, 0);
    float *out = pxi_calloc((size_t)px_shape_count(&shape), sizeof *out);
    assert_non_null(out);
    must(px_session_seed_clear(r->session, &err), &err);
    must(px_probe_seed(r->probe, r->session, layer, neuron, -1, 1.0f, &err), &err);
    must(px_session_backward(r->session, &err), &err);
    const px_view view = px_session_grad(r->session, px_model_graph(r->model)->inputs[0]);
    assert_non_null(view.data);
    for (int64_t i = 0; i < px_shape_count(&shape); i++) {
        int64_t rest = i, offset = 0;
        for (int d = shape.rank - 1; d >= 0; d--) {
            offset += rest % shape.dim[d] * view.stride[d];
            rest /= shape.dim[d];
        }
        out[i] = view.data[offset];
    }
    return out;
}

/* A step along the gradient changes each sample's neuron as much as the gradient says. */
static void test_gradients(void **state)
{
    (void)state;
    static const char *const gradient_views[] = {"chan", "chan-max", "unit"};
    for (size_t n = 0; n < PX_LEN(networks); n++)
        for (size_t v = 0; v < PX_LEN(gradient_views); v++) {
            run r = run_open(networks[n], "all", NULL, gradient_views[v], 3, true);
            const int64_t row = px_probe_neuron_count(r.probe);
            for (size_t layer = 0; layer < px_probe_layer_count(r.probe); layer++) {
                const px_layer *which = px_probe_layer(r.probe, layer);
                const int64_t neuron = which->neuron_count / 2;
                run_forward(&r, 7);
                float *gradient = neuron_gradient(&r, layer, neuron);
                float *x = px_session_input(r.session, 0);
                float *up = pxi_calloc((size_t)(r.batch * row), sizeof *up);
                float *down = pxi_calloc((size_t)(r.batch * row), sizeof *down);
                px_error err = {0};
                assert_true(up && down);
                const float h = 1e-3f;
                for (int64_t i = 0; i < r.batch * r.input_size; i++)
                    x[i] += h * gradient[i];
                must(px_session_forward(r.session, &err), &err);
                must(px_probe_trace(r.probe, r.session, r.batch, up, NULL, &err), &err);
                for (int64_t i = 0; i < r.batch * r.input_size; i++)
                    x[i] -= 2.0f * h * gradient[i];
                must(px_session_forward(r.session, &err), &err);
                must(px_probe_trace(r.probe, r.session, r.batch, down, NULL, &err), &err);
                for (int64_t s = 0; s < r.batch; s++) {
                    double square = 0.0;
                    for (int64_t i = 0; i < r.input_size; i++)
                        square += pow((double)gradient[s * r.input_size + i], 2.0);
                    const int64_t at = s * row + which->neuron_offset + neuron;
                    const double change = ((double)up[at] - (double)down[at]) / (2.0 * (double)h);
                    if (!(fabs(change - square) <= 0.02 * square + 1e-3))
                        fail_msg("%s %s %s:%lld sample %lld: changes by %g, gradient says %g",
                                 networks[n], gradient_views[v], which->name, (long long)neuron,
                                 (long long)s, change, square);
                }
                free(gradient);
                free(up);
                free(down);
            }
            run_close(&r);
        }
}

/* The mean's gradient is the mean of its units' gradients; one sample's seed moves that one only.
 */
static void test_seeds(void **state)
{
    (void)state;
    run chan = run_open("residual", "relu1", NULL, "chan", 2, false);
    run unit = run_open("residual", "relu1", NULL, "unit", 2, false);
    px_error err = {0};
    run_forward(&chan, 0);
    run_forward(&unit, 0);
    float *whole = neuron_gradient(&chan, 0, 2);
    must(px_session_seed_clear(unit.session, &err), &err);
    for (int i = 0; i < 36; i++)
        must(px_probe_seed(unit.probe, unit.session, 0, 2 * 36 + i, 1, 1.0f / 36, &err), &err);
    must(px_session_backward(unit.session, &err), &err);
    const px_view view = px_session_grad(unit.session, px_model_graph(unit.model)->inputs[0]);
    bool any = false;
    for (int64_t i = 0; i < 2 * 3 * 64; i++) {
        const int64_t s = i / 192, c = i / 64 % 3, y = i / 8 % 8, x = i % 8;
        const float got = view.data[s * view.stride[0] + c * view.stride[1] + y * view.stride[2] +
                                    x * view.stride[3]];
        if (s == 0)
            assert_true(got == 0.0f);
        else
            assert_float_equal(got, whole[i], 1e-6f);
        any = any || got != 0.0f;
    }
    assert_true(any);
    free(whole);
    run_close(&chan);
    run_close(&unit);
}

static void test_seed_refusals(void **state)
{
    (void)state;
    static const struct {
        const char *neurons, *message;
        int64_t neuron, sample;
    } bad[] = {
        {"chan-scaled", "neurons 'chan-scaled' have no gradient", 0, 0},
        {"chan-rescaled", "neurons 'chan-rescaled' have no gradient", 0, 0},
        {"chan", "layer 'relu1' has neurons 0 to 3, not 4", 4, 0},
        {"chan", "there is no sample 2 in a batch of 2", 0, 2},
    };
    for (size_t i = 0; i < PX_LEN(bad); i++) {
        run r = run_open("residual", "relu1", NULL, bad[i].neurons, 2, false);
        px_error err = {0};
        assert_int_equal(
            px_probe_seed(r.probe, r.session, 0, bad[i].neuron, bad[i].sample, 1.0f, &err),
            PX_E_USAGE);
        if (strncmp(err.message, bad[i].message, strlen(bad[i].message)) != 0)
            fail_msg("%s", err.message);
        run_close(&r);
    }
}

/* Where places are folded into the batch axis: what PyTorch's hooks saw, for any batch. */
static void test_folded(void **state)
{
    (void)state;
    static const struct {
        const char *network, *layer;
        int64_t run;
    } layers[] = {
        {"folded_encoder", "/layers/layers.0/self_attn/Gemm", 1},
        {"folded_encoder", "/layers/layers.1/self_attn/Gemm", 1},
        {"folded_windows", "/Relu", 64},
        {"folded_halves", "/Relu", 4},
    };
    char path[1024], key[128];
    px_npz *npz = NULL;
    px_error err = {0};
    const char *folder = getenv("PLEXOR_TEST_DIR");
    snprintf(path, sizeof path, "%s/models/folded.npz", folder ? folder : ".");
    must(px_npz_open(path, &npz, &err), &err);
    const px_tensor *x = px_npz_get(npz, "x");
    assert_non_null(x);
    for (size_t i = 0; i < PX_LEN(layers); i++)
        for (int64_t batch = 1; batch <= x->shape.dim[0]; batch += 2) {
            run r = run_open(layers[i].network, layers[i].layer, NULL, "chan", batch, false);
            snprintf(key, sizeof key, "%s.%s", layers[i].network, layers[i].layer);
            const px_tensor *want = px_npz_get(npz, key);
            const int64_t neurons = px_probe_neuron_count(r.probe);
            assert_non_null(want);
            assert_int_equal(r.batch, batch);
            assert_int_equal(px_probe_layer(r.probe, 0)->run, layers[i].run);
            assert_int_equal(want->shape.dim[1], neurons);
            float got[64], largest = 0.0f;
            assert_true(batch * neurons <= (int64_t)PX_LEN(got));
            for (int64_t k = 0; k < px_shape_count(&want->shape); k++)
                largest = fmaxf(largest, fabsf(((const float *)want->data)[k]));
            for (int64_t first = 0; first + batch <= x->shape.dim[0]; first += batch) {
                memcpy(px_session_input(r.session, 0),
                       (const float *)x->data + first * r.input_size,
                       (size_t)(batch * r.input_size) * sizeof(float));
                must(px_session_forward(r.session, &err), &err);
                must(px_probe_trace(r.probe, r.session, batch, got, NULL, &err), &err);
                for (int64_t k = 0; k < batch * neurons; k++) {
                    const float torch = ((const float *)want->data)[first * neurons + k];
                    if (!(fabsf(got[k] - torch) <= 1e-5f * largest))
                        fail_msg("%s, batch %lld: sample %lld, neuron %lld is %g, not %g", key,
                                 (long long)batch, (long long)(first + k / neurons),
                                 (long long)(k % neurons), (double)got[k], (double)torch);
                }
            }
            run_close(&r);
        }
    px_npz_close(npz);
}

/* Samples that act on each other have no rows of their own: alone they are read, in a batch not. */
static void test_mixed(void **state)
{
    (void)state;
    run one = run_open("folded_mixed", "/Relu", NULL, "chan", 1, false);
    run two = run_open("folded_mixed", "/Relu", NULL, "chan", 2, false);
    px_error err = {0};
    float row[12];
    assert_int_equal(px_probe_layer(two.probe, 0)->run, 0);
    free(run_trace(&one, 0, 1));
    run_forward(&two, 0);
    assert_int_equal(px_probe_trace(two.probe, two.session, 2, row, NULL, &err), PX_E_UNSUPPORTED);
    if (!strstr(err.message, "use --batch 1, or leave it out with --layers '!/Relu'"))
        fail_msg("%s", err.message);
    run_close(&one);
    run_close(&two);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_traces_agree), cmocka_unit_test(test_gradients),
        cmocka_unit_test(test_seeds),        cmocka_unit_test(test_seed_refusals),
        cmocka_unit_test(test_folded),       cmocka_unit_test(test_mixed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
