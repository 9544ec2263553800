/* src/assess/metric_confidence.c - MR, ASR, ACAC, ACTC, NTE: from classes and confidences alone */
#include "assess/metrics.h"

#include <math.h>

static double term_wrong(const pxi_pair *pair, const double *settings)
{
    (void)settings;
    return pair->after != pair->truth ? 1.0 : 0.0;
}

static double term_predicted(const pxi_pair *pair, const double *settings)
{
    (void)settings;
    return pair->p[pair->after];
}

static double term_true(const pxi_pair *pair, const double *settings)
{
    (void)settings;
    return pair->p[pair->truth];
}

static double term_lead(const pxi_pair *pair, const double *settings)
{
    (void)settings;
    double second = 0.0;
    for (int k = 0; k < pair->classes; k++)
        if (k != pair->after)
            second = fmax(second, pair->p[k]);
    return pair->p[pair->after] - second;
}

const pxi_metric pxi_metric_mr = {
    .shown = {.id = "mr",
              .title = "misclassification rate",
              .definition = "share of adversarial inputs whose predicted class is not the true one",
              .equation = "Yang et al. (Revisiting neuron coverage), eq. 13",
              .better = PX_BETTER_LOW,
              .stated = true},
    .over = PXI_OVER_PAIRS,
    .term = term_wrong,
};

const pxi_metric pxi_metric_asr = {
    .shown = {.id = "asr",
              .title = "attack success rate",
              .definition = "share of the inputs that were classified correctly before that are "
                            "misclassified after",
              .equation = "Jin et al. (DeepSensor), evaluation metrics, (2)",
              .better = PX_BETTER_LOW,
              .stated = true,
              .remark = "the paper divides by all inputs: that is mr, which is shown beside"},
    .over = PXI_OVER_RIGHT,
    .term = term_wrong,
};

const pxi_metric pxi_metric_acac = {
    .shown = {.id = "acac",
              .title = "average confidence of the adversarial class",
              .definition = "mean probability of the predicted class, over misclassified inputs",
              .equation = "Yang et al. (Revisiting neuron coverage), eq. 14",
              .better = PX_BETTER_LOW,
              .stated = true},
    .over = PXI_OVER_WRONG,
    .term = term_predicted,
};

const pxi_metric pxi_metric_actc = {
    .shown = {.id = "actc",
              .title = "average confidence of the true class",
              .definition = "mean probability of the true class, over misclassified inputs",
              .equation = "Yang et al. (Revisiting neuron coverage), eq. 15",
              .better = PX_BETTER_HIGH,
              .stated = true},
    .over = PXI_OVER_WRONG,
    .term = term_true,
};

const pxi_metric pxi_metric_nte = {
    .shown = {.id = "nte",
              .title = "noise tolerance estimation",
              .definition = "mean of the highest probability less the second, over misclassified "
                            "inputs",
              .equation = "Yang et al. (Revisiting neuron coverage), eq. 19",
              .better = PX_BETTER_LOW},
    .over = PXI_OVER_WRONG,
    .term = term_lead,
};
