/* src/assess/metric_similarity.c - ASS: structural similarity of failures and originals
 *
 * The mean over channels of what picture/ssim.h has of a plane.
 */
#include "assess/metrics.h"

#include "picture/ssim.h"

enum { ASS_RANGE, ASS_SETTINGS };

static const px_param ass_settings[ASS_SETTINGS] = {
    [ASS_RANGE] =
        {"range", 255, 1e-3, 1e6, false, NULL,
         "L of the constants (K L)^2, in levels; 2 is what float arrays got by default in "
         "the library that DEEPSEC used"},
};

static double term_ssim(const pxi_pair *pair, const double *settings)
{
    const size_t plane = (size_t)pair->height * (size_t)pair->width;
    double sum = 0.0;
    for (size_t c = 0; c < pair->channels; c++)
        sum += pxi_ssim(pair->x + c * plane, pair->a + c * plane, NULL, pair->height, pair->width,
                        settings[ASS_RANGE], pair->scratch);
    return sum / (double)pair->channels;
}

const pxi_metric pxi_metric_ass = {
    .shown = {.id = "ass",
              .title = "average structural similarity",
              .definition = "mean SSIM of an input and its original (1: the same), over "
                            "misclassified inputs",
              .equation = "Yang et al. (Revisiting neuron coverage), eq. 17; Wang et al. 2004, "
                          "eq. 13",
              .better = PX_BETTER_LOW,
              .remark = "windows of 7 x 7, or the largest odd size that fits; levels of 0 to 255",
              .settings = ass_settings,
              .setting_count = ASS_SETTINGS},
    .over = PXI_OVER_WRONG,
    .needs = PXI_NEEDS_PLANES,
    .term = term_ssim,
};
