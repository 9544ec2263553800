/* studies/revisit/revisit_plot.c - Figures 1 and 2: trends over D_0 to D_k, relative to one of them
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "revisit/revisit_report.h"

#include <math.h>
#include <stdio.h>

px_plot *rv_plot_trends(const char *title, const char *what, const rv_trend *trends, size_t count,
                        size_t base)
{
    char label[80];
    snprintf(label, sizeof label, "%s, relative to D_%zu", what, base);
    const px_plot_options options = {
        .title = title, .x = {.label = "training set D_i"}, .y = {.label = label}};
    px_plot *plot = NULL;
    px_status status = px_plot_new(&options, &plot, NULL);
    for (size_t t = 0; t < count && status == PX_OK; t++) {
        double y[RV_STATES];
        const double unit = trends[t].values[base];
        if (isnan(unit) || unit == 0.0)
            continue;
        for (size_t i = 0; i < RV_STATES; i++)
            y[i] = trends[t].values[i] / unit;
        status = px_plot_line(plot, trends[t].title, NULL, y, RV_STATES, PX_PLOT_DOTS, NULL);
    }
    if (status == PX_OK)
        return plot;
    px_plot_free(plot);
    return NULL;
}
