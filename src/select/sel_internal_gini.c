/* src/select/sel_internal_gini.c - DeepGini of a hidden layer's values in place of probabilities
 *
 * Neuron Sensitivity Guided Test Case Selection; CSM B.7. The paper does not say how
 * values become a distribution, so there are three ways.
 */
#include "select/selectors.h"
#include "select/softmax_scores.h"

#include "base/memory.h"

#include <stdlib.h>

static const char *const gini_norms[] = {"l1", "softmax", "raw", NULL};
static const px_param gini_settings[] = {
    {.name = "norm",
     .choices = gini_norms,
     .help = "how values become shares: divided by the sum of the positive ones (l1), by softmax, "
             "or not at all (raw)"},
};

static px_status internal_gini_prepare(const px_selector_request *request, void **out,
                                       px_error *err)
{
    pxi_gini_norm *norm = pxi_calloc(1, sizeof *norm);
    if (!norm)
        return px_fail(err, PX_E_NOMEM, "out of memory");
    *norm = (pxi_gini_norm)request->settings[0];
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
    .id = "internal-gini",
    .title = "DeepGini of the last encoder layer's values",
    .source = "Neuron Sensitivity Guided Test Case Selection",
    .settings = gini_settings,
    .setting_count = PX_LEN(gini_settings),
    .layers = "last-encoder",
    .tap = PX_TAP_POST,
    .neurons = PX_VIEW_UNIT,
    .prepare = internal_gini_prepare,
    .release = free,
    .score = internal_gini_score,
};
