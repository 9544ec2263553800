/* src/assess/metrics.c - the table of metrics and their settings */
#include "assess/metrics.h"

#include "base/memory.h"
#include "base/param_texts.h"

#include <string.h>

static const pxi_metric *const metrics[] = {
#define METRIC_ROW(id) &pxi_metric_##id,
    PXI_METRICS(METRIC_ROW)
#undef METRIC_ROW
};
_Static_assert(PX_LEN(metrics) <= PXI_METRICS_MOST, "PXI_METRICS_MOST is too small");

const char *px_better_name(px_better better)
{
    return better == PX_BETTER_LOW ? "low" : "high";
}

size_t px_metric_count(void)
{
    return PX_LEN(metrics);
}

const px_metric *px_metric_get(size_t i)
{
    return i < PX_LEN(metrics) ? &metrics[i]->shown : NULL;
}

size_t pxi_metric_index(const char *id, size_t length)
{
    size_t i = 0;
    while (i < PX_LEN(metrics) && (strlen(metrics[i]->shown.id) != length ||
                                   strncmp(metrics[i]->shown.id, id, length) != 0))
        i++;
    return i;
}

const px_metric *px_metric_find(const char *id)
{
    return px_metric_get(pxi_metric_index(id, strlen(id)));
}

const pxi_metric *pxi_metric_at(size_t i)
{
    return metrics[i];
}

static pxi_settings metric_settings(const pxi_metric *metric)
{
    return (pxi_settings){.id = metric->shown.id,
                          .table = metric->shown.settings,
                          .count = metric->shown.setting_count};
}

static pxi_settings metric_settings_get(size_t i)
{
    return metric_settings(metrics[i]);
}

static const pxi_settings_family family = {.noun = "metric",
                                           .list = "metrics",
                                           .example = "ric.quality=75",
                                           .count = px_metric_count,
                                           .get = metric_settings_get};

px_status pxi_metric_settings(const pxi_metric *metric, const px_assess_options *options,
                              double *values, px_error *err)
{
    const pxi_settings own = metric_settings(metric);
    pxi_settings_fallback(&own, values);
    for (size_t i = 0; i < options->setting_count; i++)
        PX_TRY(pxi_settings_apply(&family, &own, options->settings[i], values, err));
    return PX_OK;
}

char *pxi_metric_settings_text(const pxi_metric *metric, const double *values)
{
    const pxi_settings own = metric_settings(metric);
    return pxi_settings_text(&own, values);
}
