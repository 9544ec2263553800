/* tests/engine/test_golden.c - small networks against values that PyTorch computed in double
 *
 * golden/make_golden.py makes the networks and the values. Each is run through plans with plain
 * and with fast kernels and several batch sizes; rows must not depend on the batch, to the bit.
 */
#include "base/memory.h"
#include "cmocka_all.h"

#include <internal/engine.h>
#include <math.h>
#include <plexor/data.h>
#include <plexor/onnx.h>
#include <plexor/probe.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double tolerance = 1e-5; /* of the 2-norm, relative */

static const char *const networks[] = {"tiny_lenet", "tiny_residual", "tiny_mobile"};
static const int64_t batches[] = {1, 3, 8, 32};

enum { golden_samples = 4 };

typedef struct golden {
    const char *name;
    px_model *model;
    const px_graph *graph;
    px_npz *npz;
    px_probe *probe;
    px_scores scores;
    px_plan *plan;
    px_session *session;
    int64_t batch, input_size;
    bool reference;
} golden;

static void must(const golden *g, px_status status, const px_error *err)
{
    if (status != PX_OK)
        fail_msg("%s, batch %lld: %s", g->name, (long long)g->batch, err->message);
}

static const px_tensor *array(const golden *g, const char *name)
{
    const px_tensor *tensor = px_npz_get(g->npz, name);
    if (!tensor)
        fail_msg("%s.npz has no '%s'", g->name, name);
    return tensor;
}

static void golden_open(golden *g, const char *name)
{
    char path[1024];
    px_error err = {0};
    const char *folder = getenv("PLEXOR_TEST_DIR");
    *g = (golden){.name = name};
    snprintf(path, sizeof path, "%s/golden/%s.onnx", folder ? folder : ".", name);
    must(g, px_model_load(path, &g->model, &err), &err);
    snprintf(path, sizeof path, "%s/golden/%s.npz", folder ? folder : ".", name);
    must(g, px_npz_open(path, &g->npz, &err), &err);
    g->graph = px_model_graph(g->model);
    px_probe_options options = px_probe_options_default();
    options.layers = "all";
    must(g, px_probe_new(g->model, &options, &g->probe, &err), &err);
    must(g, px_model_scores(g->model, &g->scores, &err), &err);
    g->input_size = px_shape_count(&array(g, "x")->shape) / golden_samples;
}

static void golden_close(golden *g)
{
    px_probe_free(g->probe);
    px_npz_close(g->npz);
    px_model_free(g->model);
}

/* Is it a weight whose gradient the file has? */
static const px_tensor *weight_gradient(const golden *g, int value)
{
    char key[300];
    snprintf(key, sizeof key, "loss/%s", g->graph->values[value].name);
    return g->graph->values[value].constant ? px_npz_get(g->npz, key) : NULL;
}

static void golden_compile(golden *g, int64_t batch, bool reference)
{
    px_plan_options options = px_plan_options_default();
    size_t tap_count;
    const int *taps = px_probe_values(g->probe, &tap_count);
    int *wrt = pxi_calloc((size_t)g->graph->value_count + 1, sizeof *wrt);
    int *seeds = pxi_calloc(tap_count + 1, sizeof *seeds);
    assert_true(wrt && seeds);
    wrt[options.wrt_count++] = g->graph->inputs[0];
    for (int v = 0; v < g->graph->value_count; v++)
        if (weight_gradient(g, v))
            wrt[options.wrt_count++] = v;
    assert_true(options.wrt_count > 5);
    for (; options.seed_count < tap_count; options.seed_count++)
        seeds[options.seed_count] = taps[options.seed_count];
    seeds[options.seed_count++] = g->scores.value;
    options.batch = batch;
    options.reference = reference;
    options.keep = seeds, options.keep_count = options.seed_count;
    options.seeds = seeds;
    options.wrt = wrt;
    g->batch = batch;
    g->reference = reference;
    px_error err = {0};
    must(g, px_plan_new(g->model, &options, &g->plan, &err), &err);
    must(g, px_session_new(g->plan, &g->session, &err), &err);
    free(wrt);
    free(seeds);
}

static void golden_release(golden *g)
{
    px_session_free(g->session);
    px_plan_free(g->plan);
    g->session = NULL;
    g->plan = NULL;
}

/* Fills the batch with samples first, first + 1, ... in a circle, and runs forward. */
static void golden_forward(golden *g, int64_t first)
{
    const float *x = array(g, "x")->data;
    float *input = px_session_input(g->session, 0);
    for (int64_t i = 0; i < g->batch; i++)
        memcpy(input + i * g->input_size, x + (first + i) % golden_samples * g->input_size,
               (size_t)g->input_size * sizeof *x);
    px_error err = {0};
    must(g, px_session_forward(g->session, &err), &err);
}

static double distance(const float *got, const float *want, int64_t count)
{
    double above = 0.0, below = 0.0;
    for (int64_t i = 0; i < count; i++) {
        const double difference = (double)got[i] - (double)want[i];
        above += difference * difference;
        below += (double)want[i] * (double)want[i];
    }
    return below > 0.0 ? sqrt(above / below) : sqrt(above);
}

static void compare(const golden *g, const char *what, const float *got, const float *want,
                    int64_t count)
{
    const double error = distance(got, want, count);
    if (!(error < tolerance))
        fail_msg("%s, %s, batch %lld: '%s' is off by %g", g->name, g->reference ? "plain" : "fast",
                 (long long)g->batch, what, error);
}

/* Copies a strided view in logical order; the first `rows` of its leading axis (< 0: all). */
static void view_read(const px_view *view, int64_t rows, float *out)
{
    assert_non_null(view->data);
    int64_t count = 1;
    for (int d = 0; d < view->shape.rank; d++)
        count *= d == 0 && rows >= 0 ? rows : view->shape.dim[d];
    for (int64_t i = 0; i < count; i++) {
        int64_t rest = i, offset = 0;
        for (int d = view->shape.rank - 1; d >= 0; d--) {
            offset += rest % view->shape.dim[d] * view->stride[d];
            rest /= view->shape.dim[d];
        }
        out[i] = view->data[offset];
    }
}

/* Rows of all samples, one after the other, from as many runs as the batch size needs. */
typedef void (*seed_fn)(golden *g, int64_t first, int64_t samples, const void *context);

static void gather_input_gradient(golden *g, seed_fn seed, const void *context, float *out)
{
    for (int64_t first = 0; first < golden_samples; first += g->batch) {
        const int64_t samples = PX_MIN(g->batch, golden_samples - first);
        px_error err = {0};
        golden_forward(g, first);
        must(g, px_session_seed_clear(g->session, &err), &err);
        seed(g, first, samples, context);
        must(g, px_session_backward(g->session, &err), &err);
        const px_view view = px_session_grad(g->session, g->graph->inputs[0]);
        view_read(&view, samples, out + first * g->input_size);
    }
}

static void seed_loss(golden *g, int64_t first, int64_t samples, const void *context)
{
    (void)context;
    const int64_t *labels = array(g, "labels")->data;
    const px_place place = px_session_seed(g->session, g->scores.value);
    const px_view logits = px_session_view(g->session, g->scores.value);
    assert_true(place.data && logits.data);
    for (int64_t s = 0; s < samples; s++) {
        float row[16], gradient[16];
        for (int c = 0; c < g->scores.classes; c++)
            row[c] = logits.data[s * logits.stride[0] + c * logits.stride[1]];
        px_softmax_loss(row, g->scores.classes, labels[first + s], gradient);
        for (int c = 0; c < g->scores.classes; c++)
            place.data[s * place.stride[0] + c * place.stride[1]] += gradient[c];
    }
}

static void seed_neuron(golden *g, int64_t first, int64_t samples, const void *context)
{
    (void)first;
    size_t layer;
    int64_t neuron;
    px_error err = {0};
    must(g, px_probe_find(g->probe, context, &layer, &neuron, &err), &err);
    for (int64_t s = 0; s < samples; s++)
        must(g, px_probe_seed(g->probe, g->session, layer, neuron, s, 1.0f, &err), &err);
}

static void check_outputs(golden *g, float *logits)
{
    const int64_t classes = g->scores.classes;
    float probs[golden_samples * 16];
    assert_true(classes <= 16);
    for (int64_t first = 0; first < golden_samples; first += g->batch) {
        const int64_t samples = PX_MIN(g->batch, golden_samples - first);
        px_error err = {0};
        golden_forward(g, first);
        must(g,
             px_session_read(g->session, g->scores.value, samples, logits + first * classes, &err),
             &err);
        must(g,
             px_session_read(g->session, g->graph->outputs[0], samples, probs + first * classes,
                             &err),
             &err);
    }
    compare(g, "logits", logits, array(g, "logits")->data, golden_samples * classes);
    compare(g, "probs", probs, array(g, "probs")->data, golden_samples * classes);
}

static void check_weight_gradients(golden *g)
{
    for (int v = 0; v < g->graph->value_count; v++) {
        const px_tensor *want = weight_gradient(g, v);
        if (!want)
            continue;
        const int64_t count = px_shape_count(&want->shape);
        float *part = pxi_calloc((size_t)count, sizeof *part);
        float *sum = pxi_calloc((size_t)count, sizeof *sum);
        assert_true(part && sum);
        for (int64_t first = 0; first < golden_samples; first += g->batch) {
            px_error err = {0};
            golden_forward(g, first);
            must(g, px_session_seed_clear(g->session, &err), &err);
            seed_loss(g, first, PX_MIN(g->batch, golden_samples - first), NULL);
            must(g, px_session_backward(g->session, &err), &err);
            const px_view view = px_session_grad(g->session, v);
            view_read(&view, -1, part);
            for (int64_t i = 0; i < count; i++)
                sum[i] += part[i];
        }
        compare(g, g->graph->values[v].name, sum, want->data, count);
        free(part);
        free(sum);
    }
}

/* What the first batch size gave, for the others to equal. */
typedef struct record {
    float *data;
    size_t count, capacity, at;
} record;

static void record_check(const golden *g, record *r, const char *what, const float *data,
                         int64_t count)
{
    if (g->batch == batches[0]) {
        assert_int_equal(
            pxi_grow(&r->data, &r->capacity, r->count + (size_t)count, sizeof *r->data), 0);
        memcpy(r->data + r->count, data, (size_t)count * sizeof *data);
        r->count += (size_t)count;
        return;
    }
    assert_true(r->at + (size_t)count <= r->count);
    if (memcmp(r->data + r->at, data, (size_t)count * sizeof *data) != 0)
        fail_msg("%s, %s: '%s' differs between batch %lld and %lld", g->name,
                 g->reference ? "plain" : "fast", what, (long long)batches[0], (long long)g->batch);
    r->at += (size_t)count;
}

static void check_network(const char *name, bool reference)
{
    golden g;
    golden_open(&g, name);
    record r = {0};
    float *rows = pxi_calloc((size_t)(golden_samples * g.input_size), sizeof *rows);
    float logits[golden_samples * 16];
    assert_non_null(rows);
    for (size_t b = 0; b < PX_LEN(batches); b++) {
        golden_compile(&g, batches[b], reference);
        r.at = 0;
        check_outputs(&g, logits);
        record_check(&g, &r, "logits", logits, golden_samples * g.scores.classes);
        gather_input_gradient(&g, seed_loss, NULL, rows);
        compare(&g, "loss/input", rows, array(&g, "loss/input")->data,
                golden_samples * g.input_size);
        record_check(&g, &r, "loss/input", rows, golden_samples * g.input_size);
        int neurons = 0;
        for (size_t i = 0; i < px_npz_count(g.npz); i++) {
            const char *key = px_npz_name(g.npz, i);
            if (strncmp(key, "neuron/", 7) != 0)
                continue;
            neurons++;
            gather_input_gradient(&g, seed_neuron, key + 7, rows);
            for (int64_t s = 0; s < golden_samples; s++)
                compare(&g, key, rows + s * g.input_size,
                        (const float *)array(&g, key)->data + s * g.input_size, g.input_size);
            record_check(&g, &r, key, rows, golden_samples * g.input_size);
        }
        assert_true(neurons >= 3);
        check_weight_gradients(&g);
        golden_release(&g);
    }
    free(rows);
    free(r.data);
    golden_close(&g);
}

static void test_plain(void **state)
{
    (void)state;
    for (size_t i = 0; i < PX_LEN(networks); i++)
        check_network(networks[i], true);
}

static void test_fast(void **state)
{
    (void)state;
    for (size_t i = 0; i < PX_LEN(networks); i++)
        check_network(networks[i], false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain),
        cmocka_unit_test(test_fast),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
