/* src/assess/assess.c - options and results of an assessment */
/* SPDX-License-Identifier: Apache-2.0 */
#include "assess/assess_internal.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

px_assess_options px_assess_options_default(void)
{
    return (px_assess_options){.low = (double)NAN, .high = (double)NAN};
}

void px_assess_free(px_assess *assess)
{
    if (!assess)
        return;
    for (size_t i = 0; i < PXI_METRICS_MOST; i++) {
        free(assess->texts[i]);
        free(assess->configs[i]);
    }
    free(assess->rows);
    free(assess->terms);
    free(assess);
}

size_t px_assess_metric_count(const px_assess *assess)
{
    return assess->metric_count;
}

px_metric_value px_assess_metric(const px_assess *assess, size_t i)
{
    assert(i < assess->metric_count);
    return assess->values[i];
}

px_assess_summary px_assess_sum(const px_assess *assess)
{
    return assess->sum;
}
