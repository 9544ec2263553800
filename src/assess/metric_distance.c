/* src/assess/metric_distance.c - ALD_p: how far failures are from where they came from
 *
 * Eq. 16 divides |x' - x|_p by |x|_p. With p = 0 both count values: those that differ, and those
 * that are not 0. DEEPSEC's code, which the paper's package calls, divides by the number of values
 * for p = 0 and by nothing for 2 and infinity.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "assess/metrics.h"

#include <math.h>

enum { FORM_EQUATION, FORM_DEEPSEC };

static const char *const forms[] = {"equation", "deepsec", NULL};
typedef struct ald_config {
    int form;
} ald_config;

static const px_param ald_params[] = {
    PX_PARAM_CHOICE(
        ald_config, form, FORM_EQUATION, forms,
        "equation: relative to the norm of the original; deepsec: absolute, and for p = 0 "
        "a share of all values"),
    PX_PARAM_END,
};

static double scaled(const pxi_pair *pair, double level)
{
    return pair->low + level / 255.0 * (pair->high - pair->low);
}

/* NaN where it should divide by the norm of an input that has none. */
static double relative(double difference, double norm, const ald_config *config)
{
    if (config->form == FORM_DEEPSEC)
        return difference;
    return norm > 0.0 ? difference / norm : (double)NAN;
}

static double term_l0(const pxi_pair *pair, const void *config)
{
    double changed = 0.0, there = 0.0;
    for (size_t i = 0; i < pair->count; i++) {
        changed += pair->a[i] != pair->x[i];
        there += scaled(pair, pair->x[i]) != 0.0;
    }
    if (((const ald_config *)config)->form == FORM_DEEPSEC) {
        changed = 0.0;
        for (size_t i = 0; i < pair->count; i++)
            changed += floor(pair->a[i] + 0.5) != floor(pair->x[i] + 0.5);
        return changed / (double)pair->count;
    }
    return relative(changed, there, config);
}

static double term_l2(const pxi_pair *pair, const void *config)
{
    double difference = 0.0, norm = 0.0;
    for (size_t i = 0; i < pair->count; i++) {
        const double x = scaled(pair, pair->x[i]), d = scaled(pair, pair->a[i]) - x;
        difference += d * d;
        norm += x * x;
    }
    return relative(sqrt(difference), sqrt(norm), config);
}

static double term_linf(const pxi_pair *pair, const void *config)
{
    double difference = 0.0, norm = 0.0;
    for (size_t i = 0; i < pair->count; i++) {
        const double x = scaled(pair, pair->x[i]);
        difference = fmax(difference, fabs(scaled(pair, pair->a[i]) - x));
        norm = fmax(norm, fabs(x));
    }
    return relative(difference, norm, config);
}

#define ALD_METRIC(name, norm, function)                                                     \
    const pxi_metric pxi_metric_##name = {                                                   \
        .shown = {.entry = {.id = #name,                                                     \
                            .title = "average " norm " distortion",                          \
                            .source = "Yang et al. (Revisiting neuron coverage), eq. 16",    \
                            .params = ald_params,                                            \
                            .config_size = sizeof(ald_config)},                              \
                  .definition = "mean " norm " norm of the change, as a share of the " norm  \
                                " norm of the original, over misclassified inputs",          \
                  .better = PX_BETTER_HIGH,                                                  \
                  .remark = "an original that is 0 everywhere has no term and is left out"}, \
        .over = PXI_OVER_WRONG,                                                              \
        .term = function,                                                                    \
    }

ALD_METRIC(ald_0, "L0", term_l0);
ALD_METRIC(ald_2, "L2", term_l2);
ALD_METRIC(ald_inf, "Linf", term_linf);
