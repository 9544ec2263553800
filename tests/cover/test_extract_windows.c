/* tests/cover/test_extract_windows.c - `pre` channel means from the convolutions' inputs */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"

#include "base/memory.h"
#include "cover/extract_windows.h"
#include "cover/window_sums.h"
#include <internal/arch.h>
#include <internal/engine.h>
#include <internal/profile.h>
#include <internal/rng.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- one convolution, against its definition ------------------------------------------------- */

static const struct {
    const char *name;
    int64_t in[2], kernel[2], stride[2], dilation[2], begin[2], end[2];
    int64_t channels, outs, group;
    int spatial;
} cases[] = {
    {"3x3 same", {9, 11}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, 16, 32, 1, 2},
    {"3x3 stride 2", {10, 12}, {3, 3}, {2, 2}, {1, 1}, {1, 1}, {1, 1}, 16, 18, 1, 2},
    {"1x1", {6, 5}, {1, 1}, {1, 1}, {1, 1}, {0, 0}, {0, 0}, 21, 7, 1, 2},
    {"1x1 stride 2 misses rows", {9, 9}, {1, 1}, {2, 2}, {1, 1}, {0, 0}, {0, 0}, 4, 5, 1, 2},
    {"5x5 valid", {12, 9}, {5, 5}, {1, 1}, {1, 1}, {0, 0}, {0, 0}, 3, 6, 1, 2},
    {"dilated, uneven", {14, 13}, {3, 2}, {1, 2}, {3, 2}, {2, 0}, {3, 1}, 5, 9, 1, 2},
    {"padding beyond the kernel", {4, 5}, {2, 2}, {1, 1}, {1, 1}, {3, 3}, {3, 3}, 2, 3, 1, 2},
    {"depthwise", {8, 8}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, 12, 12, 12, 2},
    {"grouped", {8, 8}, {3, 3}, {2, 2}, {1, 1}, {1, 1}, {1, 1}, 12, 20, 4, 2},
    {"one axis", {40}, {7}, {2}, {1}, {3}, {3}, 6, 17, 1, 1},
};

static int64_t out_extent(size_t i, int d)
{
    const int64_t reach = (cases[i].kernel[d] - 1) * cases[i].dilation[d] + 1;
    return (cases[i].in[d] + cases[i].begin[d] + cases[i].end[d] - reach) / cases[i].stride[d] + 1;
}

static pxi_conv_params case_conv(size_t i)
{
    pxi_conv_params conv = {.window = {.spatial = cases[i].spatial},
                            .batch = 1,
                            .group = cases[i].group,
                            .in_channels = cases[i].channels,
                            .out_channels = cases[i].outs,
                            .has_bias = true};
    for (int d = 0; d < cases[i].spatial; d++) {
        conv.window.in[d] = cases[i].in[d];
        conv.window.out[d] = out_extent(i, d);
        conv.window.kernel[d] = cases[i].kernel[d];
        conv.window.stride[d] = cases[i].stride[d];
        conv.window.dilation[d] = cases[i].dilation[d];
        conv.window.pad_begin[d] = cases[i].begin[d];
        conv.window.pad_end[d] = cases[i].end[d];
    }
    return conv;
}

/* x is (channels, H, W) */
static double true_mean(size_t i, const float *x, const float *weights, const float *bias,
                        int64_t m)
{
    const bool flat = cases[i].spatial == 1; /* the one axis is W */
    const int64_t h = flat ? 1 : cases[i].in[0], w = cases[i].in[flat ? 0 : 1];
    const int64_t kh = flat ? 1 : cases[i].kernel[0], kw = cases[i].kernel[flat ? 0 : 1];
    const int64_t oh = flat ? 1 : out_extent(i, 0), ow = out_extent(i, flat ? 0 : 1);
    const int64_t per = cases[i].channels / cases[i].group;
    const int64_t first = m / (cases[i].outs / cases[i].group) * per;
    double sum = 0.0;
    for (int64_t p = 0; p < oh * ow; p++)
        for (int64_t c = 0; c < per; c++)
            for (int64_t k = 0; k < kh * kw; k++) {
                const int64_t y = flat ? 0
                                       : p / ow * cases[i].stride[0] +
                                             k / kw * cases[i].dilation[0] - cases[i].begin[0];
                const int64_t z = p % ow * cases[i].stride[!flat] +
                                  k % kw * cases[i].dilation[!flat] - cases[i].begin[!flat];
                if (y >= 0 && y < h && z >= 0 && z < w)
                    sum += (double)weights[(m * per + c) * kh * kw + k] *
                           (double)x[((first + c) * h + y) * w + z];
            }
    return (double)bias[m] + sum / (double)(oh * ow);
}

static float *random_floats(uint32_t item, int64_t count)
{
    px_random r = px_rng(1, PX_RNG_TEST, item, 5);
    float *x = calloc((size_t)count, sizeof *x);
    assert_non_null(x);
    for (int64_t i = 0; i < count; i++)
        x[i] = (float)px_rng_normal(&r);
    return x;
}

static void test_sums(void **state)
{
    (void)state;
    enum { SAMPLES = 6 };
    for (size_t i = 0; i < PX_LEN(cases); i++) {
        const pxi_conv_params conv = case_conv(i);
        const bool flat = cases[i].spatial == 1;
        const int64_t c = cases[i].channels, h = flat ? 1 : cases[i].in[0];
        const int64_t w = cases[i].in[flat ? 0 : 1], size = c * h * w, outs = cases[i].outs;
        float *x = random_floats(1, SAMPLES * size), *last = random_floats(1, SAMPLES * size);
        float *weights = random_floats(2, outs * c * 64), *bias = random_floats(3, outs);
        for (int64_t s = 0; s < SAMPLES; s++) /* the same with the channels last */
            for (int64_t k = 0; k < size; k++)
                last[s * size + k % (h * w) * c + k / (h * w)] = x[s * size + k];
        if (!pxi_window_sums_fit(&conv))
            fail_msg("'%s' is not taken", cases[i].name);
        pxi_window_sums sums;
        px_error err = {0};
        assert_int_equal(pxi_window_sums_init(&sums, &conv, weights, bias, &err), PX_OK);
        void *scratch = malloc(pxi_window_sums_scratch(&sums, SAMPLES));
        assert_non_null(scratch);
        px_view first = {.data = x,
                         .shape = {.rank = 4, .dim = {SAMPLES, c, h, w}},
                         .stride = {size, h * w, w, 1}};
        px_view second = {.data = last, .shape = first.shape, .stride = {size, 1, w * c, c}};
        if (flat) {
            first.shape = second.shape = (px_shape){.rank = 3, .dim = {SAMPLES, c, w}};
            first.stride[2] = 1;
            second.stride[2] = c;
        }
        float *one = calloc((size_t)(SAMPLES * (outs + 3)), sizeof *one);
        float *two = calloc((size_t)(SAMPLES * (outs + 3)), sizeof *two);
        pxi_window_sums_run(&sums, &first, SAMPLES, scratch, one, outs + 3);
        pxi_window_sums_run(&sums, &second, SAMPLES, scratch, two, outs + 3);
        assert_memory_equal(one, two, (size_t)(SAMPLES * (outs + 3)) * sizeof *one);
        for (int64_t s = 0; s < SAMPLES; s++) {
            for (int64_t m = 0; m < outs; m++) {
                const double wanted = true_mean(i, x + s * size, weights, bias, m);
                const double got = (double)one[s * (outs + 3) + m];
                if (fabs(got - wanted) > 2e-6 * fmax(1.0, fabs(wanted)))
                    fail_msg("'%s', sample %d, channel %d: %.9g instead of %.9g", cases[i].name,
                             (int)s, (int)m, got, wanted);
            }
            px_view alone = first; /* bytes do not depend on the neighbours */
            alone.data += s * size;
            pxi_window_sums_run(&sums, &alone, 1, scratch, two, outs + 3);
            assert_memory_equal(two, one + s * (outs + 3), (size_t)outs * sizeof *one);
        }
        pxi_window_sums_done(&sums);
        free(scratch);
        free(one);
        free(two);
        free(x);
        free(last);
        free(weights);
        free(bias);
    }
}

/* --- whole networks, against the direct tap -------------------------------------------------- */

typedef struct watch {
    const px_extractor *extractor;
    void *scratch;
    float *rows;
    int64_t samples;
} watch;

static px_status watch_look(void *context, int value, const px_view *view, px_error *err)
{
    const watch *w = context;
    return w->extractor->kind->look(w->extractor, w->scratch, value, view, w->samples, w->rows,
                                    err);
}

static size_t run_rows(const px_model *model, const px_extractor *extractor, int64_t samples,
                       float *rows)
{
    px_error err = {0};
    px_plan *plan = NULL;
    px_session *session = NULL;
    px_plan_options options = px_plan_options_default();
    options.batch = samples;
    options.observe = extractor->observe;
    options.observe_count = extractor->observe_count;
    if (px_plan_new(model, &options, &plan, &err) != PX_OK ||
        px_session_new(plan, &session, &err) != PX_OK)
        fail_msg("%s", err.message);
    watch w = {.extractor = extractor, .rows = rows, .samples = samples};
    if (extractor->kind->scratch_new)
        assert_int_equal(extractor->kind->scratch_new(extractor, samples, &w.scratch, &err), PX_OK);
    const px_shape shape = px_plan_feed_shape(plan, 0);
    float *x = random_floats(9, px_shape_count(&shape));
    memcpy(px_session_input(session, 0), x, (size_t)px_shape_count(&shape) * sizeof *x);
    free(x);
    px_session_observe(session, watch_look, &w);
    if (px_session_forward(session, &err) != PX_OK)
        fail_msg("%s", err.message);
    if (extractor->kind->scratch_free)
        extractor->kind->scratch_free(w.scratch);
    const size_t steps = px_plan_step_count(plan);
    px_session_free(session);
    px_plan_free(plan);
    return steps;
}

static void test_networks(void **state)
{
    (void)state;
    enum { SAMPLES = 5 };
    static const char *const names[] = {"resnet20", "lenet5", "mobilenetv2"};
#if defined(__x86_64__)
    const bool fuses = true;
#else
    const bool fuses = false; /* oneDNN has no kernels there that the engine would take */
#endif
    px_arch_options size = px_arch_options_default();
    size.height = size.width = 32;
    for (size_t i = 0; i < PX_LEN(names); i++) {
        px_error err = {0};
        px_model *model = NULL;
        if (px_arch_build(names[i], &size, &model, &err) != PX_OK)
            fail_msg("%s", err.message);
        px_probe_options options = px_probe_options_default();
        options.tap = PX_TAP_PRE;
        options.layers = "all";
        px_extractor *windows = NULL, *direct = NULL;
        assert_int_equal(pxi_extractor_windows(model, &options, &windows, &err), PX_OK);
        assert_int_equal(px_extractor_probe(model, &options, &direct, &err), PX_OK);
        assert_int_equal(windows->width, direct->width);
        assert_string_not_equal(windows->key, direct->key);
        const size_t count = (size_t)(SAMPLES * windows->width);
        float *one = calloc(count, sizeof *one), *two = calloc(count, sizeof *two);
        const size_t fused = run_rows(model, windows, SAMPLES, one);
        const size_t apart = run_rows(model, direct, SAMPLES, two);
        if (i == 0 && fuses && fused >= apart)
            fail_msg("%s: %zu steps with windows, %zu without: not fused", names[i], fused, apart);
        for (size_t l = 0; l < windows->layer_count; l++) {
            double scale = 0.0, worst = 0.0;
            for (int64_t s = 0; s < SAMPLES; s++)
                for (int64_t n = 0; n < windows->layers[l].count; n++) {
                    const int64_t at = s * windows->width + windows->layers[l].offset + n;
                    const double right = fabs((double)two[at]);
                    const double off = fabs((double)one[at] - (double)two[at]);
                    scale = PX_MAX(right, scale); /* not fmax(): gcc 12 for arm64 */
                    worst = PX_MAX(off, worst);
                }
            if (!(worst <= 1e-5 * scale) || scale == 0.0)
                fail_msg("%s, layer '%s': %g apart at %g", names[i], windows->layers[l].name, worst,
                         scale);
        }
        free(one);
        free(two);
        px_extractor_free(windows);
        px_extractor_free(direct);
        px_model_free(model);
    }
}

/* Other taps and views are the probe's own. */
static void test_other_views(void **state)
{
    (void)state;
    px_error err = {0};
    px_model *model = NULL;
    assert_int_equal(px_arch_build("lenet5", NULL, &model, &err), PX_OK);
    for (int i = 0; i < 2; i++) {
        px_probe_options options = px_probe_options_default();
        if (i)
            options.tap = PX_TAP_PRE;
        options.neurons = i ? PX_VIEW_UNIT : PX_VIEW_CHAN;
        px_extractor *windows = NULL, *direct = NULL;
        assert_int_equal(pxi_extractor_windows(model, &options, &windows, &err), PX_OK);
        assert_int_equal(px_extractor_probe(model, &options, &direct, &err), PX_OK);
        assert_string_equal(windows->key, direct->key);
        px_extractor_free(windows);
        px_extractor_free(direct);
    }
    px_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sums),
        cmocka_unit_test(test_networks),
        cmocka_unit_test(test_other_views),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
