/* src/assess/metric_blur.c - RGB: failures that a slight blur does not cure
 *
 * A Gaussian of sigma 0.5 on five taps, borders mirrored. PIL's GaussianBlur(0.5), which DEEPSEC
 * calls, is three passes of a box of 24/22 values per axis, rounded after each, borders repeated.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "assess/metrics.h"

#include "base/memory.h"
#include <internal/mutation.h>

#include <math.h>
#include <string.h>

enum { KERNEL_EXACT, KERNEL_PIL };

static const char *const kernels[] = {"exact", "pil", NULL};
typedef struct rgb_config {
    int kernel;
} rgb_config;

static const px_param rgb_params[] = {
    PX_PARAM_CHOICE(rgb_config, kernel, KERNEL_EXACT, kernels,
                    "exact: a Gaussian of sigma 0.5; pil: as PIL approximates it, in whole levels"),
    PX_PARAM_END,
};

typedef struct line { /* along a row or a column */
    int count;
    size_t stride;
} line;

static void exact_line(const double *in, double *out, line along)
{
    const double far = exp(-8.0), near = exp(-2.0), all = 1.0 + 2.0 * (near + far);
    const double taps[5] = {far / all, near / all, 1.0 / all, near / all, far / all};
    for (int i = 0; i < along.count; i++) {
        double sum = 0.0;
        for (int k = -2; k <= 2; k++)
            sum += taps[k + 2] * in[(size_t)pxi_reflect(i + k, along.count) * along.stride];
        out[(size_t)i * along.stride] = sum;
    }
}

/* PIL's fixed point: 22/24 and 1/24 of 2^24, cut; then half a level, and cut. */
static void pil_line(const double *in, double *out, line along)
{
    enum { CENTRE = 15379114, SIDE = 699051 };
    for (int i = 0; i < along.count; i++) {
        const int64_t before = (int64_t)in[(size_t)PX_MAX(i - 1, 0) * along.stride];
        const int64_t here = (int64_t)in[(size_t)i * along.stride];
        const int64_t after = (int64_t)in[(size_t)PX_MIN(i + 1, along.count - 1) * along.stride];
        out[(size_t)i * along.stride] =
            (double)((here * CENTRE + (before + after) * SIDE + (1 << 23)) >> 24);
    }
}

static void pass(bool pil, bool rows, const double *in, double *out, int height, int width)
{
    const int lines = rows ? height : width;
    const line along = {rows ? width : height, rows ? 1 : (size_t)width};
    for (int i = 0; i < lines; i++) {
        const size_t first = (size_t)i * (rows ? (size_t)width : 1);
        (pil ? pil_line : exact_line)(in + first, out + first, along);
    }
}

void pxi_blur_half(bool pil, const double *in, double *out, int height, int width, double *scratch)
{
    const size_t count = (size_t)height * (size_t)width;
    const int passes = pil ? 3 : 1;
    double *from = scratch, *to = scratch + count;
    for (size_t i = 0; i < count; i++)
        from[i] = pil ? floor(in[i] + 0.5) : in[i];
    for (int i = 0; i < 2 * passes; i++) {
        pass(pil, /* rows= */ i < passes, from, to, height, width);
        double *old = from;
        from = to;
        to = old;
    }
    memcpy(out, from, count * sizeof *out);
}

static px_status change_blur(const pxi_pair *pair, const void *config, double *out, px_error *err)
{
    const size_t plane = (size_t)pair->height * (size_t)pair->width;
    (void)err;
    for (size_t c = 0; c < pair->channels; c++)
        pxi_blur_half(((const rgb_config *)config)->kernel == KERNEL_PIL, pair->a + c * plane,
                      out + c * plane, pair->height, pair->width, pair->scratch);
    return PX_OK;
}

const pxi_metric pxi_metric_rgb = {
    .shown = {.entry = {.id = "rgb",
                        .title = "robustness to Gaussian blur",
                        .source = "Yang et al. (Revisiting neuron coverage), eq. 20",
                        .params = rgb_params,
                        .config_size = sizeof(rgb_config)},
              .definition = "share of misclassified inputs that still are after a Gaussian blur of "
                            "sigma 0.5",
              .better = PX_BETTER_LOW},
    .over = PXI_OVER_WRONG,
    .needs = PXI_NEEDS_PLANES,
    .change = change_blur,
};
