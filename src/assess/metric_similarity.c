/* src/assess/metric_similarity.c - ASS: structural similarity of failures and originals
 *
 * The mean over channels of what picture/ssim.h has of a plane.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "assess/metrics.h"

#include <internal/ssim.h>

typedef struct ass_config {
    double range;
} ass_config;

static const px_param ass_params[] = {
    PX_PARAM_REAL(ass_config, range, 255, 1e-3, 1e6,
                  "L of the constants (K L)^2, in levels; 2 is what float arrays got by default in "
                  "the library that DEEPSEC used"),
    PX_PARAM_END,
};

static double term_ssim(const pxi_pair *pair, const void *config)
{
    const size_t plane = (size_t)pair->height * (size_t)pair->width;
    double sum = 0.0;
    for (size_t c = 0; c < pair->channels; c++)
        sum += pxi_ssim(pair->x + c * plane, pair->a + c * plane, NULL, pair->height, pair->width,
                        ((const ass_config *)config)->range, pair->scratch);
    return sum / (double)pair->channels;
}

const pxi_metric pxi_metric_ass = {
    .shown = {.entry = {.id = "ass",
                        .title = "average structural similarity",
                        .source =
                            "Yang et al. (Revisiting neuron coverage), eq. 17; Wang et al. 2004, "
                            "eq. 13",
                        .params = ass_params,
                        .config_size = sizeof(ass_config)},
              .definition = "mean SSIM of an input and its original (1: the same), over "
                            "misclassified inputs",
              .better = PX_BETTER_LOW,
              .remark = "windows of 7 x 7, or the largest odd size that fits; levels of 0 to 255"},
    .over = PXI_OVER_WRONG,
    .needs = PXI_NEEDS_PLANES,
    .term = term_ssim,
};
