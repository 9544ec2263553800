/* studies/deepsensor/deepsensor_curves.c - how many neurons a swarm excites, by iteration: Figure 3
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "deepsensor/deepsensor_study.h"
#include "deepsensor/deepsensor_tables.h"

#include "base/memory.h"

#include <internal/picture.h>
#include <math.h>
#include <stdio.h>

static const double UNKNOWN = (double)NAN;

static const char *const curve_ids[] = {"deepsensor", "random", "ga"};

static study_figure curve_at(const px_study *study, size_t subject, size_t method, int iteration)
{
    char name[24];
    snprintf(name, sizeof name, "fitness%d", iteration);
    return ds_figure(study, subject, DS_CLEAN, method, name, 100.0, UNKNOWN);
}

static px_plot *curves_plot(const px_study *study, size_t subject)
{
    const px_plot_options options = {.title = ds_subjects[subject].title,
                                     .note = "mean over seeds of the best place",
                                     .x = {.label = "iteration"},
                                     .y = {.label = "excitable neurons", .unit = "%"}};
    px_plot *plot = NULL;
    px_status status = px_plot_new(&options, &plot, NULL);
    for (size_t i = 0; i < PX_LEN(curve_ids) && status == PX_OK; i++) {
        const size_t m = ds_method_find(curve_ids[i]);
        double x[DS_ITERATIONS], y[DS_ITERATIONS];
        size_t count = 0;
        for (int g = 1; g <= DS_ITERATIONS; g++) {
            const study_figure f = curve_at(study, subject, m, g);
            if (f.n > 0) {
                x[count] = g;
                y[count++] = f.mean;
            }
        }
        if (count > 0)
            status = px_plot_line(plot, ds_methods[m].title, x, y, count, PX_PLOT_DOTS, NULL);
    }
    if (status == PX_OK)
        return plot;
    px_plot_free(plot);
    return NULL;
}

void ds_table_curves(const px_study *study, study_document *doc)
{
    static const int at[] = {1, 2, 5, 10, 15, 20};
    char texts[PX_LEN(at)][24], buffer[120];
    const char *titles[PX_LEN(at)];
    for (size_t i = 0; i < PX_LEN(at); i++) {
        snprintf(texts[i], sizeof texts[i], "iteration %d", at[i]);
        titles[i] = texts[i];
    }
    pxi_doc_table(doc,
                  "Figure 3: share of excitable neurons (%), mean over seeds of the best place",
                  titles, PX_LEN(titles), 2);
    for (size_t s = 0; s < DS_SUBJECTS; s++)
        for (size_t i = 0; i < PX_LEN(curve_ids); i++) {
            const size_t m = ds_method_find(curve_ids[i]);
            if (s != DS_LENET5 && !ds_was_run(study, s, DS_CLEAN, m))
                continue;
            pxi_doc_row(doc, ds_row_note(study, s, DS_CLEAN, m, buffer), "%s, %s",
                        ds_subjects[s].title, ds_methods[m].title);
            for (size_t c = 0; c < PX_LEN(at); c++)
                pxi_doc_figure(doc, curve_at(study, s, m, at[c]));
        }
    for (size_t s = 0; s < DS_SUBJECTS; s++)
        if (curve_at(study, s, DS_SENSOR, 1).n > 0)
            pxi_doc_plot(doc, curves_plot(study, s), "Figure 3: excitable neurons by iteration",
                         "curves-%s-%s", ds_subjects[s].dataset, ds_subjects[s].arch);
}
