/* src/assess/metric_confidence.c - MR, ASR, ACAC, ACTC, NTE: from classes and confidences alone */
/* SPDX-License-Identifier: Apache-2.0 */
#include "assess/metrics.h"

#include <math.h>

static double term_wrong(const pxi_pair *pair, const void *config)
{
    (void)config;
    return pair->after != pair->truth ? 1.0 : 0.0;
}

static double term_predicted(const pxi_pair *pair, const void *config)
{
    (void)config;
    return pair->p[pair->after];
}

static double term_true(const pxi_pair *pair, const void *config)
{
    (void)config;
    return pair->p[pair->truth];
}

static double term_lead(const pxi_pair *pair, const void *config)
{
    (void)config;
    double second = 0.0;
    for (int k = 0; k < pair->classes; k++)
        if (k != pair->after)
            second = fmax(second, pair->p[k]);
    return pair->p[pair->after] - second;
}

const pxi_metric pxi_metric_mr = {
    .shown = {.entry = {.id = "mr",
                        .title = "misclassification rate",
                        .source = "Yang et al. (Revisiting neuron coverage), eq. 13"},
              .definition = "share of adversarial inputs whose predicted class is not the true one",
              .better = PX_BETTER_LOW,
              .stated = true},
    .over = PXI_OVER_PAIRS,
    .term = term_wrong,
};

const pxi_metric pxi_metric_asr = {
    .shown = {.entry = {.id = "asr",
                        .title = "attack success rate",
                        .source = "Jin et al. (DeepSensor), evaluation metrics, (2)"},
              .definition = "share of the inputs that were classified correctly before that are "
                            "misclassified after",
              .better = PX_BETTER_LOW,
              .stated = true,
              .remark = "the paper divides by all inputs: that is mr, which is shown beside"},
    .over = PXI_OVER_RIGHT,
    .term = term_wrong,
};

const pxi_metric pxi_metric_acac = {
    .shown = {.entry = {.id = "acac",
                        .title = "average confidence of the adversarial class",
                        .source = "Yang et al. (Revisiting neuron coverage), eq. 14"},
              .definition = "mean probability of the predicted class, over misclassified inputs",
              .better = PX_BETTER_LOW,
              .stated = true},
    .over = PXI_OVER_WRONG,
    .term = term_predicted,
};

const pxi_metric pxi_metric_actc = {
    .shown = {.entry = {.id = "actc",
                        .title = "average confidence of the true class",
                        .source = "Yang et al. (Revisiting neuron coverage), eq. 15"},
              .definition = "mean probability of the true class, over misclassified inputs",
              .better = PX_BETTER_HIGH,
              .stated = true},
    .over = PXI_OVER_WRONG,
    .term = term_true,
};

const pxi_metric pxi_metric_nte = {
    .shown = {.entry = {.id = "nte",
                        .title = "noise tolerance estimation",
                        .source = "Yang et al. (Revisiting neuron coverage), eq. 19"},
              .definition = "mean of the highest probability less the second, over misclassified "
                            "inputs",
              .better = PX_BETTER_LOW},
    .over = PXI_OVER_WRONG,
    .term = term_lead,
};
