/* studies/frame/study_figures.c - from cells to figures, and where the cells come from */
/* SPDX-License-Identifier: Apache-2.0 */
#include "frame/study_internal.h"

#include <internal/system.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIGURE_RUNS = 1000 };

/* "PREFIX run=R n=N": the N; -1: another key. */
static int64_t figure_inputs(const char *key, const char *prefix)
{
    const size_t length = strlen(prefix);
    int used = 0;
    long long run = 0, n = 0;
    if (strncmp(key, prefix, length) != 0 ||
        sscanf(key + length, " run=%lld n=%lld%n", &run, &n, &used) != 2 ||
        key[length + (size_t)used] != '\0')
        return -1;
    return n;
}

int64_t pxi_study_size(const px_study *study, const char *prefix, int64_t below)
{
    int64_t most = -1;
    for (size_t i = 0; i < pxi_cells_count(study->cells); i++) {
        const int64_t n = figure_inputs(pxi_cells_at(study->cells, i)->key, prefix);
        most = n > most && n < below ? n : most;
    }
    return most;
}

static size_t values_of(const px_study *study, const char *prefix, int64_t size, const char *name,
                        double *values, size_t room)
{
    size_t count = 0;
    for (size_t i = 0; size >= 0 && count < room && i < pxi_cells_count(study->cells); i++) {
        const study_cell *cell = pxi_cells_at(study->cells, i);
        const double value = pxi_cell_number(cell, name);
        if (figure_inputs(cell->key, prefix) == size && !isnan(value))
            values[count++] = value;
    }
    return count;
}

size_t pxi_study_values(const px_study *study, const char *prefix, const char *name, double *values,
                        size_t room)
{
    return values_of(study, prefix, pxi_study_size(study, prefix, INT64_MAX), name, values, room);
}

study_figure pxi_study_figure_of(const px_study *study, const char *prefix, int64_t size,
                                 const char *name, double scale, double paper, int64_t full)
{
    double values[FIGURE_RUNS];
    const size_t n = values_of(study, prefix, size, name, values, FIGURE_RUNS);
    study_figure figure = {.paper = paper, .mean = (double)NAN, .sd = (double)NAN, .n = (int64_t)n};
    double sum = 0.0, squares = 0.0;
    for (size_t i = 0; i < n; i++)
        sum += values[i];
    if (n == 0)
        return figure;
    for (size_t i = 0; i < n; i++)
        squares += (values[i] - sum / (double)n) * (values[i] - sum / (double)n);
    figure.mean = scale * sum / (double)n;
    if (n > 1)
        figure.sd = fabs(scale) * sqrt(squares / (double)(n - 1));
    figure.reduced = size < full;
    return figure;
}

study_figure pxi_study_figure(const px_study *study, const char *prefix, const char *name,
                              double scale, double paper, int64_t full)
{
    const int64_t most = pxi_study_size(study, prefix, INT64_MAX);
    return pxi_study_figure_of(study, prefix, most, name, scale, paper, full);
}

/* Whether some of a data set was used, and a cell of it has this number, where one is asked for. */
static bool data_was(const px_study *study, const char *dataset, const char *name, double number)
{
    char prefix[CELL_KEY];
    snprintf(prefix, sizeof prefix, "data %s ", dataset);
    for (size_t i = 0; i < pxi_cells_count(study->cells); i++) {
        const study_cell *cell = pxi_cells_at(study->cells, i);
        if (strncmp(cell->key, prefix, strlen(prefix)) == 0 &&
            (!name || pxi_cell_number(cell, name) == number))
            return true;
    }
    return false;
}

bool pxi_study_had(const px_study *study, const char *dataset)
{
    return pxi_study_spec(study, dataset) || data_was(study, dataset, NULL, 0.0);
}

const char *pxi_study_cost(double seconds, char buffer[STUDY_COST])
{
    const bool hours = seconds >= 5400.0;
    snprintf(buffer, STUDY_COST, "%.*f %s", hours && seconds < 36000.0,
             hours ? seconds / 3600.0 : ceil(seconds / 60.0), hours ? "h" : "min");
    return buffer;
}

const char *pxi_study_missing(const px_study *study, const char *dataset, char buffer[64])
{
    const char *title = dataset;
    for (size_t i = 0; i < study->plan->kind.dataset_count; i++)
        if (strcmp(study->plan->kind.datasets[i].id, dataset) == 0)
            title = study->plan->kind.datasets[i].title;
    if (pxi_study_had(study, dataset))
        snprintf(buffer, 64, "not run");
    else
        snprintf(buffer, 64, "not run: needs %s", title);
    return buffer;
}

bool pxi_study_is_jpeg(const px_study *study, const char *dataset)
{
    return data_was(study, dataset, "jpeg", 1.0);
}

void pxi_study_provenance(const px_study *study, study_document *doc)
{
    const size_t count = pxi_cells_command_count(study->cells);
    px_text lines = {0};
    pxi_doc_heading(doc, 2, "Where this is from");
    char first[11] = "", last[11] = "";
    for (size_t i = 0; i < count; i++) {
        const study_command *command = pxi_cells_command_at(study->cells, i);
        px_text_format(&lines, "%s\n", command->text);
        if (i == 0 || strncmp(command->first, first, 10) < 0)
            snprintf(first, sizeof first, "%.10s", command->first);
        if (i == 0 || strncmp(command->last, last, 10) > 0)
            snprintf(last, sizeof last, "%.10s", command->last);
    }
    if (count == 0) {
        pxi_doc_paragraph(doc, "Nothing was run yet.");
    } else {
        const bool one_day = strcmp(first, last) == 0;
        pxi_doc_paragraph(doc,
                          "Written by `plexor study %s`, version %s, from what these commands "
                          "found %s %s%s%s:",
                          study->plan->kind.id, px_version(), one_day ? "on" : "between", first,
                          one_day ? "" : " and ", one_day ? "" : last);
        pxi_doc_code(doc, px_text_get(&lines));
    }
    if (px_text_failed(&lines))
        pxi_document_fail(doc);
    px_text_done(&lines);
}
