/* tests/probe/test_neuron_values.c - views of given tensors: test vectors, layouts, NaN */
/* SPDX-License-Identifier: Apache-2.0 */
#include "probe_helpers.h"

#include "probe/neuron_values.h"
#include "probe/probe_internal.h"

#include <internal/probe.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Lays out x (N, C, H, W) plainly or channels-last. */
static px_view lay(const float *x, float *memory, const int64_t dim[4], bool channels_last)
{
    px_view view = {.data = memory, .shape = {.rank = 4}};
    for (int d = 0; d < 4; d++)
        view.shape.dim[d] = dim[d];
    const int64_t c = dim[1], h = dim[2], w = dim[3];
    const int64_t last[4] = {h * w * c, 1, w * c, c}, plain[4] = {c * h * w, h * w, w, 1};
    memcpy(view.stride, channels_last ? last : plain, sizeof last);
    for (int64_t i = 0; i < dim[0] * c * h * w; i++) {
        const int64_t n = i / (c * h * w), k = i / (h * w) % c, y = i / w % h, z = i % w;
        memory[n * view.stride[0] + k * view.stride[1] + y * view.stride[2] + z * view.stride[3]] =
            x[i];
    }
    return view;
}

/* Test vector TV-A1: two inputs, a 2x2 convolution layer with two channels and a dense layer. */
static const float tv_conv[2][8] = {{0, 2, 4, 2, -2, 0, 0, 6}, {1, 1, 1, 1, 3, -1, -1, 3}};
static const float tv_dense[2][3] = {{-1.0f, 0.5f, 2.0f}, {0.9f, -0.5f, 1.9f}};

static const struct {
    const char *neurons;
    int64_t conv_count;
    float conv[2][8], dense[2][3];
} views[] = {
    {"chan", 2, {{2, 1}, {1, 1}}, {{-1, 0.5f, 2}, {0.9f, -0.5f, 1.9f}}},
    {"chan-max", 2, {{4, 6}, {1, 3}}, {{-1, 0.5f, 2}, {0.9f, -0.5f, 1.9f}}},
    {"unit",
     8,
     {{0, 2, 4, 2, -2, 0, 0, 6}, {1, 1, 1, 1, 3, -1, -1, 3}},
     {{-1, 0.5f, 2}, {0.9f, -0.5f, 1.9f}}},
    {"chan-scaled", 2, {{0.5f, 0.375f}, {0.5f, 0.5f}}, {{0, 0.5f, 1}, {0.583333f, 0, 1}}},
    {"chan-rescaled", 2, {{1, 0}, {0, 0}}, {{0, 0.5f, 1}, {0.583333f, 0, 1}}},
};

static void test_views(void **state)
{
    (void)state;
    px_model *model = probe_model("vector");
    for (size_t v = 0; v < sizeof views / sizeof *views; v++)
        for (int channels_last = 0; channels_last < 2; channels_last++) {
            px_probe *probe = probe_make(model, NULL, NULL, views[v].neurons);
            const int64_t row = px_probe_neuron_count(probe), dim[4] = {2, 2, 2, 2};
            assert_int_equal(row, views[v].conv_count + 3);
            float memory[16], trace[2 * 11];
            const px_view conv = lay(tv_conv[0], memory, dim, channels_last);
            const px_view dense = {
                .data = tv_dense[0], .shape = {.rank = 2, .dim = {2, 3}}, .stride = {3, 1}};
            px_error err = {0};
            assert_int_equal(px_probe_trace_layer(probe, 0, &conv, 2, trace, row, &err), PX_OK);
            assert_int_equal(
                px_probe_trace_layer(probe, 1, &dense, 2, trace + views[v].conv_count, row, &err),
                PX_OK);
            for (int n = 0; n < 2; n++)
                for (int64_t i = 0; i < row; i++) {
                    const float want = i < views[v].conv_count
                                           ? views[v].conv[n][i]
                                           : views[v].dense[n][i - views[v].conv_count];
                    if (!(fabsf(trace[n * row + i] - want) < 1e-6f))
                        fail_msg("%s, layout %d, input %d, neuron %d: %g, not %g", views[v].neurons,
                                 channels_last, n, (int)i, (double)trace[n * row + i],
                                 (double)want);
                }
            px_probe_free(probe);
        }
    px_model_free(model);
}

static float draw(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (float)((double)(*seed >> 33) / 4294967296.0 - 0.2);
}

/* The same bits whatever the layout, the channel count and the place in the batch, and close to a
 * sum in double. */
static void test_layouts_agree(void **state)
{
    (void)state;
    static const int64_t dims[][4] = {{3, 1, 28, 28},  {2, 6, 14, 14}, {2, 7, 7, 7},
                                      {2, 16, 8, 8},   {1, 33, 3, 5},  {2, 64, 4, 4},
                                      {1, 96, 16, 16}, {2, 100, 1, 1}, {1, 5, 1, 17}};
    for (size_t i = 0; i < sizeof dims / sizeof *dims; i++) {
        const int64_t *d = dims[i], count = d[0] * d[1] * d[2] * d[3];
        px_layer layer = {.name = "x",
                          .shape = {.rank = 4, .dim = {1, d[1], d[2], d[3]}},
                          .axis = {PX_AXIS_BATCH, PX_AXIS_CHANNEL, PX_AXIS_SPACE, PX_AXIS_SPACE},
                          .step = -1};
        float *x = malloc((size_t)count * sizeof *x), *memory = malloc((size_t)count * sizeof *x);
        float *out[2] = {calloc((size_t)d[1], sizeof *x), calloc((size_t)d[1], sizeof *x)};
        float *most[2] = {calloc((size_t)d[1], sizeof *x), calloc((size_t)d[1], sizeof *x)};
        float low[2], high[2];
        uint64_t seed = i + 1;
        for (int64_t k = 0; k < count; k++)
            x[k] = draw(&seed);
        for (int64_t n = 0; n < d[0]; n++) {
            for (int last = 0; last < 2; last++) {
                const px_view view = lay(x, memory, d, last);
                pxi_neuron_layout layout;
                assert_int_equal(
                    pxi_neuron_layout_init(&layout, &layer, &view.shape, view.stride, NULL), PX_OK);
                const float *sample = memory + n * layout.sample_stride;
                pxi_neuron_means(&layout, sample, out[last]);
                pxi_neuron_maxima(&layout, sample, most[last]);
                pxi_neuron_range(&layout, sample, &low[last], &high[last]);
            }
            assert_memory_equal(out[0], out[1], (size_t)d[1] * sizeof *x);
            assert_memory_equal(most[0], most[1], (size_t)d[1] * sizeof *x);
            assert_true(low[0] == low[1] && high[0] == high[1]);
            for (int64_t c = 0; c < d[1]; c++) {
                double sum = 0.0;
                for (int64_t p = 0; p < d[2] * d[3]; p++)
                    sum += (double)x[(n * d[1] + c) * d[2] * d[3] + p];
                assert_float_equal(out[0][c], (float)(sum / (double)(d[2] * d[3])), 1e-6f);
            }
        }
        for (int last = 0; last < 2; last++) {
            free(out[last]);
            free(most[last]);
        }
        free(x);
        free(memory);
    }
}

static void test_not_finite(void **state)
{
    (void)state;
    static const struct {
        const char *neurons;
        float bad;
        bool rejected;
    } bad[] = {
        {"chan", NAN, true},
        {"chan", INFINITY, true},
        {"chan-max", NAN, true},
        {"chan-max", INFINITY, true},
        {"chan-max", -INFINITY, false}, /* some place of the channel is larger */
        {"unit", -INFINITY, true},
        {"chan-scaled", NAN, true},
        {"chan-rescaled", NAN, true},
        {"chan-scaled", INFINITY, true},
        {"chan-rescaled", INFINITY, true},
    };
    px_model *model = probe_model("vector");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        for (int channels_last = 0; channels_last < 2; channels_last++) {
            px_probe *probe = probe_make(model, "conv", NULL, bad[i].neurons);
            float x[16], memory[16], trace[16];
            memcpy(x, tv_conv, sizeof x);
            x[8 + 5] = bad[i].bad; /* second input, second channel */
            const int64_t dim[4] = {2, 2, 2, 2}, row = px_probe_neuron_count(probe);
            const px_view view = lay(x, memory, dim, channels_last);
            bool rejected[2];
            assert_int_equal(px_probe_trace_layer(probe, 0, &view, 2, trace, row, NULL), PX_OK);
            px_probe_reject(probe, trace, 2, rejected);
            if (rejected[0] || rejected[1] != bad[i].rejected)
                fail_msg("%s with %g: rejected %d %d", bad[i].neurons, (double)bad[i].bad,
                         rejected[0], rejected[1]);
            px_probe_free(probe);
        }
    px_model_free(model);
}

static void test_refusals(void **state)
{
    (void)state;
    px_model *model = probe_model("vector");
    px_probe *probe = probe_make(model, "conv", NULL, NULL);
    float x[16] = {0}, memory[16], trace[16];
    const int64_t dim[4] = {2, 2, 2, 2};
    px_view view = lay(x, memory, dim, false);
    px_error err = {0};
    assert_int_equal(px_probe_trace_layer(probe, 0, &view, 3, trace, 2, &err), PX_E_USAGE);
    view.shape.dim[1] = 1;
    assert_int_equal(px_probe_trace_layer(probe, 0, &view, 2, trace, 2, &err), PX_E_MISMATCH);
    view.data = NULL;
    assert_int_equal(px_probe_trace_layer(probe, 0, &view, 2, trace, 2, &err), PX_E_USAGE);
    px_probe_free(probe);
    px_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_views),
        cmocka_unit_test(test_layouts_agree),
        cmocka_unit_test(test_not_finite),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
