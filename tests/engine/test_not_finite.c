/* tests/engine/test_not_finite.c - NaN and infinity come out as PyTorch has them
 *
 * golden/make_not_finite.py makes the networks and the values: every operator that could hide what
 * is not finite, each activation behind each kind of product, and small whole networks. They run
 * with plain and with fast kernels, with every value kept and with the outputs alone, so that all
 * that can be fused is. What is finite must not depend on neighbours that are not, to the bit.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "cmocka_all.h"

#include <math.h>
#include <plexor/data.h>
#include <plexor/engine.h>
#include <plexor/onnx.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLES = 6, ALL_NAN = 5, MOST_VALUES = 512 };

static const char *const networks[] = {"wild_operators", "wild_fused",    "wild_narrow",
                                       "tiny_lenet",     "tiny_residual", "tiny_mobile"};
static const int64_t batches[] = {1, 4, 6};

typedef struct wild {
    const char *name;
    px_model *model;
    const px_graph *graph;
    px_npz *npz;
    px_plan *plan;
    px_session *session;
    int64_t batch;
    bool reference;
} wild;

static void must(const wild *w, px_status status, const px_error *err)
{
    if (status != PX_OK)
        fail_msg("%s, batch %lld: %s", w->name, (long long)w->batch, err->message);
}

static void wild_open(wild *w, const char *name)
{
    char path[1024];
    px_error err = {0};
    const char *folder = getenv("PLEXOR_TEST_DIR");
    *w = (wild){.name = name};
    snprintf(path, sizeof path, "%s/golden/%s.onnx", folder ? folder : ".", name);
    must(w, px_model_load(path, &w->model, &err), &err);
    snprintf(path, sizeof path, "%s/golden/not_finite_%s.npz", folder ? folder : ".", name);
    must(w, px_npz_open(path, &w->npz, &err), &err);
    w->graph = px_model_graph(w->model);
}

static void wild_close(wild *w)
{
    px_npz_close(w->npz);
    px_model_free(w->model);
}

static const px_tensor *wild_want(const wild *w, int value)
{
    char key[300];
    snprintf(key, sizeof key, "value/%s", w->graph->values[value].name);
    return px_npz_get(w->npz, key);
}

/* A plan that keeps all values the file knows, or the outputs alone. */
static void wild_compile(wild *w, int64_t batch, bool reference, bool keeps, bool gradient)
{
    int keep[MOST_VALUES], seeds[1], wrt[1];
    px_plan_options options = px_plan_options_default();
    options.batch = w->batch = batch;
    options.reference = w->reference = reference;
    options.keep = keep;
    for (int v = 0; v < w->graph->value_count && v < MOST_VALUES && keeps; v++)
        if (wild_want(w, v))
            keep[options.keep_count++] = v;
    if (gradient) {
        seeds[0] = w->graph->outputs[0];
        wrt[0] = w->graph->inputs[0];
        options.seeds = seeds, options.seed_count = 1;
        options.wrt = wrt, options.wrt_count = 1;
    }
    px_error err = {0};
    must(w, px_plan_new(w->model, &options, &w->plan, &err), &err);
    must(w, px_session_new(w->plan, &w->session, &err), &err);
}

static void wild_release(wild *w)
{
    px_session_free(w->session);
    px_plan_free(w->plan);
}

static void wild_forward(const wild *w, int64_t first)
{
    const px_tensor *x = px_npz_get(w->npz, "x");
    const size_t size = (size_t)px_shape_count(&x->shape) / SAMPLES;
    float *input = px_session_input(w->session, 0);
    for (int64_t i = 0; i < w->batch; i++)
        memcpy(input + (size_t)i * size,
               (const float *)x->data + (size_t)((first + i) % SAMPLES) * size,
               size * sizeof *input);
    px_error err = {0};
    must(w, px_session_forward(w->session, &err), &err);
}

static bool same(float got, float want)
{
    if (isnan(got) || isnan(want))
        return isnan(got) && isnan(want);
    if (isinf(got) || isinf(want))
        return got == want;
    return fabs((double)got - (double)want) <= 2e-5 * (1.0 + fabs((double)want));
}

static void wild_check_value(const wild *w, int value, int64_t first, const char *how)
{
    const px_tensor *want = wild_want(w, value);
    const size_t size = (size_t)px_shape_count(&want->shape) / SAMPLES;
    float *got = pxi_calloc(size * (size_t)w->batch, sizeof *got);
    px_error err = {0};
    assert_non_null(got);
    must(w, px_session_read(w->session, value, w->batch, got, &err), &err);
    for (int64_t i = 0; i < w->batch; i++) {
        const size_t sample = (size_t)((first + i) % SAMPLES);
        const float *row = (const float *)want->data + sample * size;
        for (size_t k = 0; k < size; k++)
            if (!same(got[(size_t)i * size + k], row[k]))
                fail_msg("%s (%s, batch %lld), '%s' of sample %zu, element %zu: %g, PyTorch has %g",
                         w->name, how, (long long)w->batch, w->graph->values[value].name, sample, k,
                         (double)got[(size_t)i * size + k], (double)row[k]);
    }
    free(got);
}

static bool is_output(const wild *w, int value)
{
    for (int i = 0; i < w->graph->output_count; i++)
        if (w->graph->outputs[i] == value)
            return true;
    return false;
}

static void test_values(void **state)
{
    (void)state;
    for (size_t n = 0; n < PX_LEN(networks); n++) {
        wild w;
        wild_open(&w, networks[n]);
        for (size_t b = 0; b < PX_LEN(batches); b++)
            for (int mode = 0; mode < 6; mode++) {
                const bool reference = mode % 3 == 0, keeps = mode < 3, gradient = mode % 3 == 2;
                char how[64];
                int checked = 0;
                snprintf(how, sizeof how, "%s%s%s", reference ? "plain" : "fast",
                         keeps ? ", values kept" : "", gradient ? ", with gradient" : "");
                wild_compile(&w, batches[b], reference, keeps, gradient);
                for (int64_t first = 0; first < SAMPLES; first += w.batch) {
                    wild_forward(&w, first);
                    for (int v = 0; v < w.graph->value_count; v++)
                        if (wild_want(&w, v) && (keeps || is_output(&w, v))) {
                            wild_check_value(&w, v, first, how);
                            checked++;
                        }
                }
                assert_true(checked > 0);
                wild_release(&w);
            }
        wild_close(&w);
    }
}

/* A finite sample among others that are not, against the same sample alone. */
static void test_neighbours(void **state)
{
    (void)state;
    for (size_t n = 0; n < PX_LEN(networks); n++) {
        wild w;
        wild_open(&w, networks[n]);
        const int value = w.graph->outputs[0];
        const size_t size = (size_t)px_shape_count(&wild_want(&w, value)->shape) / SAMPLES;
        float *alone = pxi_calloc(size, sizeof *alone), *among = pxi_calloc(size, sizeof *among);
        px_error err = {0};
        assert_true(alone && among);
        wild_compile(&w, SAMPLES, /* reference= */ false, /* keeps= */ false, false);
        wild_forward(&w, 0);
        must(&w, px_session_read(w.session, value, 1, among, &err), &err);
        float *input = px_session_input(w.session, 0);
        const px_tensor *x = px_npz_get(w.npz, "x");
        const size_t each = (size_t)px_shape_count(&x->shape) / SAMPLES;
        memset(input + each, 0, (SAMPLES - 1) * each * sizeof *input);
        must(&w, px_session_forward(w.session, &err), &err);
        must(&w, px_session_read(w.session, value, 1, alone, &err), &err);
        if (memcmp(alone, among, size * sizeof *alone) != 0)
            fail_msg("%s: a finite sample depends on its neighbours", w.name);
        wild_release(&w);
        wild_close(&w);
        free(alone);
        free(among);
    }
}

/* The gradient of a score that is NaN is NaN somewhere, as PyTorch's is: an attack that got zeros
 * would take the input for one that cannot be moved. */
static void test_gradients(void **state)
{
    (void)state;
    for (size_t n = 3; n < PX_LEN(networks); n++)
        for (int reference = 0; reference < 2; reference++) {
            wild w;
            wild_open(&w, networks[n]);
            wild_compile(&w, SAMPLES, reference, /* keeps= */ false, /* gradient= */ true);
            wild_forward(&w, 0);
            px_error err = {0};
            must(&w, px_session_seed_clear(w.session, &err), &err);
            const px_place seed = px_session_seed(w.session, w.graph->outputs[0]);
            for (int64_t i = 0; i < px_shape_count(&seed.shape); i++)
                seed.data[i] = 1.0f;
            must(&w, px_session_backward(w.session, &err), &err);
            const px_view got = px_session_grad(w.session, w.graph->inputs[0]);
            const px_tensor *want = px_npz_get(w.npz, "loss/input");
            const size_t size = (size_t)px_shape_count(&want->shape) / SAMPLES;
            for (size_t s = 0; s < SAMPLES; s++) {
                size_t wanted = 0, there = 0;
                for (size_t k = 0; k < size; k++) {
                    wanted += (size_t)isnan(((const float *)want->data)[s * size + k]);
                    there += (size_t)isnan(got.data[s * size + k]);
                }
                if (wanted > 0 && there == 0)
                    fail_msg("%s%s, sample %zu: the gradient has %zu NaN, PyTorch's has %zu",
                             w.name, reference ? " (plain)" : "", s, there, wanted);
            }
            wild_release(&w);
            wild_close(&w);
        }
}

/* NaN among the weights is found without a value to show it. */
static void test_weights(void **state)
{
    (void)state;
    wild w;
    wild_open(&w, "tiny_residual");
    for (int v = 0; v < w.graph->value_count; v++) {
        const px_value *value = &w.graph->values[v];
        if (!value->constant || strcmp(value->name, "conv0.weight") != 0)
            continue;
        ((float *)value->constant->data)[0] = NAN;
    }
    wild_compile(&w, 1, /* reference= */ false, /* keeps= */ false, false);
    wild_forward(&w, 0);
    float probs[5];
    px_error err = {0};
    must(&w, px_session_read(w.session, w.graph->outputs[0], 1, probs, &err), &err);
    for (size_t i = 0; i < PX_LEN(probs); i++)
        assert_true(isnan(probs[i]));
    wild_release(&w);
    wild_close(&w);
}

/* Finite inputs whose sums overflow: infinity minus infinity inside the network. */
static void test_overflow(void **state)
{
    (void)state;
    for (size_t n = 3; n < PX_LEN(networks); n++) {
        wild w;
        wild_open(&w, networks[n]);
        wild_compile(&w, 1, /* reference= */ false, /* keeps= */ false, false);
        const px_tensor *x = px_npz_get(w.npz, "x");
        const size_t size = (size_t)px_shape_count(&x->shape) / SAMPLES;
        float *input = px_session_input(w.session, 0);
        for (size_t i = 0; i < size; i++)
            input[i] = i % 2 ? 3e38f : -3e38f;
        px_error err = {0};
        must(&w, px_session_forward(w.session, &err), &err);
        float fast[5], plain[5];
        must(&w, px_session_read(w.session, w.graph->outputs[0], 1, fast, &err), &err);
        wild_release(&w);
        wild_compile(&w, 1, /* reference= */ true, /* keeps= */ false, false);
        input = px_session_input(w.session, 0);
        for (size_t i = 0; i < size; i++)
            input[i] = i % 2 ? 3e38f : -3e38f;
        must(&w, px_session_forward(w.session, &err), &err);
        must(&w, px_session_read(w.session, w.graph->outputs[0], 1, plain, &err), &err);
        for (int i = 0; i < 5; i++)
            if (isnan(fast[i]) != isnan(plain[i]))
                fail_msg("%s: %g, plain C has %g", w.name, (double)fast[i], (double)plain[i]);
        wild_release(&w);
        wild_close(&w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),    cmocka_unit_test(test_neighbours),
        cmocka_unit_test(test_gradients), cmocka_unit_test(test_weights),
        cmocka_unit_test(test_overflow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
