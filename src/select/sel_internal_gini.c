/* src/select/sel_internal_gini.c - DeepGini of a hidden layer's values in place of probabilities
 *
 * Neuron Sensitivity Guided Test Case Selection; CSM B.7. The paper does not say how
 * values become a distribution, so there are three ways.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "select/selectors.h"
#include "select/softmax_scores.h"

#include "base/memory.h"

#include <stdlib.h>

static const char *const gini_norms[] = {"l1", "softmax", "raw", NULL};
typedef struct gini_config {
    pxi_gini_norm norm;
} gini_config;

static const px_param gini_params[] = {
    PX_PARAM_CHOICE(
        gini_config, norm, 0, gini_norms,
        "how values become shares: divided by the sum of the positive ones (l1), by softmax, "
        "or not at all (raw)"),
    PX_PARAM_END,
};

static px_status internal_gini_prepare(const px_selector_request *request, void **out,
                                       px_error *err)
{
    pxi_gini_norm *norm = NULL;
    PX_TRY(PX_NEW(norm, 1, err));
    *norm = ((const gini_config *)request->config)->norm;
    *out = norm;
    return PX_OK;
}

static px_status internal_gini_score(void *prepared, void *worker, const px_rows *rows,
                                     double *scores, px_error *err)
{
    (void)worker, (void)err;
    const pxi_gini_norm *norm = prepared;
    for (int64_t i = 0; i < rows->count; i++)
        scores[i] = pxi_internal_gini(rows->values + i * rows->width, rows->width, *norm);
    return PX_OK;
}

const px_selector px_selector_internal_gini = {
    .entry = {.id = "internal-gini",
              .title = "DeepGini of the last encoder layer's values",
              .source = "Neuron Sensitivity Guided Test Case Selection",
              .params = gini_params,
              .config_size = sizeof(gini_config)},
    .layers = "last-encoder",
    .tap = PX_TAP_POST,
    .neurons = PX_VIEW_UNIT,
    .prepare = internal_gini_prepare,
    .release = free,
    .score = internal_gini_score,
};
