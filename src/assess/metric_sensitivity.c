/* src/assess/metric_sensitivity.c - PSD: how much a change shows, given what is around it
 *
 * Eq. 18 as printed sums x itself; the text and DEEPSEC mean the change |x' - x|. Its weight is
 * 1 / std of the 3 x 3 values of the original around it, which has no value where these are all the
 * same; published code has 1 - std instead, with values of 0 to 1.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "assess/metrics.h"

#include <internal/mutation.h>

#include <math.h>

enum { FORM_CODE, FORM_PAPER };

static const char *const forms[] = {"code", "paper", NULL};
typedef struct psd_config {
    int form;
} psd_config;

static const px_param psd_params[] = {
    PX_PARAM_CHOICE(psd_config, form, FORM_CODE, forms,
                    "code: changes weigh 1 - std; paper: 1 / std, without values whose std is 0"),
    PX_PARAM_END,
};

/* Of the 3 x 3 values around a place, borders mirrored, in levels. */
static double deviation(const double *plane, int height, int width, int row, int column)
{
    double values[9], mean = 0.0, squares = 0.0;
    int n = 0;
    for (int r = row - 1; r <= row + 1; r++)
        for (int c = column - 1; c <= column + 1; c++) {
            values[n] = plane[(size_t)pxi_reflect(r, height) * (size_t)width +
                              (size_t)pxi_reflect(c, width)];
            mean += values[n++] / 9.0;
        }
    for (n = 0; n < 9; n++)
        squares += (values[n] - mean) * (values[n] - mean);
    return sqrt(squares / 9.0);
}

static double plane_sum(const double *x, const double *a, int height, int width, bool paper)
{
    double sum = 0.0;
    for (int r = 0; r < height; r++)
        for (int c = 0; c < width; c++) {
            const size_t i = (size_t)r * (size_t)width + (size_t)c;
            const double change = fabs(a[i] - x[i]) / 255.0;
            if (change == 0.0)
                continue;
            const double std = deviation(x, height, width, r, c) / 255.0;
            if (!paper)
                sum += change * (1.0 - std);
            else if (std > 0.0)
                sum += change / std;
        }
    return sum;
}

static double term_sensitivity(const pxi_pair *pair, const void *config)
{
    const size_t plane = (size_t)pair->height * (size_t)pair->width;
    double sum = 0.0;
    for (size_t c = 0; c < pair->channels; c++)
        sum += plane_sum(pair->x + c * plane, pair->a + c * plane, pair->height, pair->width,
                         ((const psd_config *)config)->form == FORM_PAPER);
    return sum;
}

const pxi_metric pxi_metric_psd = {
    .shown = {.entry = {.id = "psd",
                        .title = "perturbation sensitivity distance",
                        .source = "Yang et al. (Revisiting neuron coverage), eq. 18",
                        .params = psd_params,
                        .config_size = sizeof(psd_config)},
              .definition = "mean of the sum of changes, each weighed by 1 - std of the 3 x 3 "
                            "values around it, over misclassified inputs",
              .better = PX_BETTER_HIGH,
              .remark = "the printed equation sums the input instead of the change"},
    .over = PXI_OVER_WRONG,
    .needs = PXI_NEEDS_PLANES,
    .term = term_sensitivity,
};
