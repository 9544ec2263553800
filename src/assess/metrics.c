/* src/assess/metrics.c - the table of metrics */
/* SPDX-License-Identifier: Apache-2.0 */
#include "assess/metrics.h"

#include "base/memory.h"

static const px_entry *const metrics[] = {
#define METRIC_ROW(id) &pxi_metric_##id.shown.entry,
    PXI_METRICS(METRIC_ROW)
#undef METRIC_ROW
};
_Static_assert(PX_LEN(metrics) <= PXI_METRICS_MOST, "PXI_METRICS_MOST is too small");

const px_registry pxi_metrics = {.kind = "metric",
                                 .plural = "metrics",
                                 .example = "ric.quality=75",
                                 PX_REGISTRY_POINTERS(metrics)};

const char *px_better_name(px_better better)
{
    return better == PX_BETTER_LOW ? "low" : "high";
}
