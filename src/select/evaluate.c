/* src/select/evaluate.c - a ranking beside the labels: faults found, and their curves */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/ascending.h"
#include "base/file.h"
#include "base/memory.h"
#include "select/select_internal.h"

#include <internal/data.h>
#include <internal/fault_curve.h>
#include <internal/picture.h>
#include <internal/select.h>
#include <internal/stats.h>
#include <internal/text.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

const int px_evaluate_percent[PX_EVALUATE_BUDGETS] = {5, 10, 15, 20};

typedef struct judged { /* all candidates, by index */
    int64_t *labels;
    int32_t *predicted;
    int64_t *order; /* of one selector */
} judged;

static void judged_done(judged *j)
{
    free(j->labels);
    free(j->predicted);
    free(j->order);
}

static px_status judged_check(const px_select *s, size_t i, px_error *err)
{
    int64_t count = 0;
    px_select_ranked(s, i, &count);
    if (count != s->count)
        return px_fail(err, PX_E_USAGE,
                       "only %" PRId64 " of %" PRId64 " candidates were kept in order; keep all",
                       count, s->count);
    if (!s->has_scores)
        return px_fail(err, PX_E_INPUT, "the network is no classifier: it has no wrong answers");
    return px_dataset_check_labels(s->set, s->scores.classes, err);
}

static px_status judged_init(const px_select *s, size_t i, judged *j, px_error *err)
{
    int64_t count = 0;
    const px_ranked *ranked = px_select_ranked(s, i, &count);
    PX_TRY(judged_check(s, i, err));
    *j = (judged){.labels = pxi_calloc((size_t)count, sizeof *j->labels),
                  .predicted = pxi_calloc((size_t)count, sizeof *j->predicted),
                  .order = pxi_calloc((size_t)count, sizeof *j->order)};
    if (!j->labels || !j->predicted || !j->order) {
        judged_done(j);
        return pxi_no_memory(err);
    }
    for (int64_t k = 0; k < count; k++) {
        j->labels[k] = px_dataset_label(s->set, k);
        j->predicted[ranked[k].index] = ranked[k].predicted;
        j->order[k] = ranked[k].index;
    }
    return PX_OK;
}

static px_status select_fault_curve(const px_select *s, size_t i, px_fault_curve *out,
                                    px_error *err)
{
    judged j = {0};
    PX_TRY(judged_init(s, i, &j, err));
    const px_status status =
        px_fault_curve_init(out, j.order, s->count, j.labels, j.predicted, s->count, err);
    judged_done(&j);
    return status;
}

px_status px_select_evaluate(const px_select *s, size_t i, px_evaluation *out, px_error *err)
{
    px_fault_curve curve = {0};
    PX_TRY(select_fault_curve(s, i, &curve, err));
    const int64_t fifth = px_percent_count(20, s->count);
    const px_apfd_result apfd = px_apfd(&curve, PX_FAULTS);
    px_evaluation e = {.faults = curve.total[PX_FAULTS],
                       .types = curve.total[PX_FAULT_TYPES],
                       .fault_rate = px_fault_rate(&curve),
                       .rauc = px_rauc(&curve, PX_FAULT_TYPES, fifth),
                       .fault_rauc = px_rauc(&curve, PX_FAULTS, fifth),
                       .apfd = apfd.value,
                       .apfd_normalised = apfd.normalised,
                       .apfd_types = px_apfd(&curve, PX_FAULT_TYPES).value};
    for (size_t b = 0; b < PX_EVALUATE_BUDGETS; b++)
        e.fdr[b] = px_fdr(&curve, px_percent_count(px_evaluate_percent[b], s->count));
    double from_best[PX_EVALUATE_GROUPS], number[PX_EVALUATE_GROUPS];
    px_accuracy_by_group(&curve, PX_EVALUATE_GROUPS, from_best);
    for (int g = 0; g < PX_EVALUATE_GROUPS; g++) {
        e.accuracy[g] = from_best[PX_EVALUATE_GROUPS - 1 - g];
        number[g] = g + 1;
    }
    e.pearson = px_pearson(number, e.accuracy, PX_EVALUATE_GROUPS);
    const px_status status = px_spearman(number, e.accuracy, PX_EVALUATE_GROUPS, &e.spearman, err);
    px_fault_curve_done(&curve);
    if (status == PX_OK)
        *out = e;
    return status;
}

/* --- curves ---------------------------------------------------------------------------------- */

enum { CURVE_POINTS = 400 };

typedef struct curves {
    const px_select *select;
    px_fault_unit unit;
    size_t points;
    int64_t *taken;  /* how many of the ranking, per point */
    double *percent; /* the same as a share of all, in percent */
    double *ideal, *chance;
    double *found; /* [selector][point], in percent of all there are */
} curves;

static void curves_done(curves *c)
{
    free(c->taken);
    free(c->percent);
    free(c->ideal);
    free(c->chance);
    free(c->found);
}

/* What a random order finds on average: of faults their share; of types, one of c inputs is among t
 * of n unless all are among the other n - t. */
static px_status curves_chance(curves *c, px_error *err)
{
    const px_select *s = c->select;
    judged j = {0};
    PX_TRY(judged_init(s, 0, &j, err));
    int64_t faults = 0, types = 0;
    for (int64_t i = 0; i < s->count; i++) /* the order is not needed: type numbers go there */
        if (j.labels[i] != j.predicted[i])
            j.order[faults++] = j.labels[i] * ((int64_t)s->scores.classes + 1) + j.predicted[i];
    if (faults > 0)
        qsort(j.order, (size_t)faults, sizeof *j.order, pxi_order_int64);
    for (int64_t i = 0, size; i < faults; i += size, types++) {
        size = 1;
        while (i + size < faults && j.order[i + size] == j.order[i])
            size++;
        for (size_t p = 0; p < c->points; p++) {
            double missed = 1.0;
            for (int64_t k = 0; k < size; k++) /* negative once t leaves no room: then 0 */
                missed *= fmax((double)(s->count - c->taken[p] - k), 0.0) / (double)(s->count - k);
            c->chance[p] += 1.0 - missed;
        }
    }
    const bool by_type = c->unit == PX_FAULT_TYPES;
    const int64_t total = by_type ? types : faults;
    for (size_t p = 0; p < c->points; p++) {
        c->chance[p] = by_type ? 100.0 * c->chance[p] / (double)PX_MAX(types, 1) : c->percent[p];
        c->ideal[p] = 100.0 * fmin((double)c->taken[p] / (double)PX_MAX(total, 1), 1.0);
    }
    judged_done(&j);
    return PX_OK;
}

static px_status curves_init(curves *c, double percent, px_error *err)
{
    const px_select *s = c->select;
    const int64_t most = px_percent_count(percent, s->count);
    c->points = (size_t)PX_MIN(most, CURVE_POINTS) + 1;
    PX_TRY(PX_NEW(c->taken, c->points, err));
    PX_TRY(PX_NEW(c->percent, c->points, err));
    PX_TRY(PX_NEW(c->ideal, c->points, err));
    PX_TRY(PX_NEW(c->chance, c->points, err));
    PX_TRY(PX_NEW(c->found, c->points * s->slot_count, err));
    for (size_t p = 0; p < c->points; p++) {
        c->taken[p] = (int64_t)((double)most * (double)p / (double)(c->points - 1) + 0.5);
        c->percent[p] = 100.0 * (double)c->taken[p] / (double)s->count;
    }
    for (size_t i = 0; i < s->slot_count; i++) {
        px_fault_curve curve = {0};
        PX_TRY(select_fault_curve(s, i, &curve, err));
        for (size_t p = 0; p < c->points; p++)
            c->found[i * c->points + p] =
                c->taken[p] == 0 ? 0.0
                                 : 100.0 * (double)curve.met[c->unit][c->taken[p] - 1] /
                                       (double)PX_MAX(curve.total[c->unit], 1);
        px_fault_curve_done(&curve);
    }
    return curves_chance(c, err);
}

static px_status curves_csv(const curves *c, const char *path, px_error *err)
{
    char number[PX_REAL_TEXT];
    px_text text = {0};
    px_text_add(&text, "selected,percent,ideal,chance");
    for (size_t i = 0; i < c->select->slot_count; i++)
        px_text_format(&text, ",%s", c->select->slots[i].selector->entry.id);
    px_text_add(&text, "\n");
    for (size_t p = 0; p < c->points; p++) {
        px_text_format(&text, "%" PRId64, c->taken[p]);
        px_text_format(&text, ",%s", px_real_text(c->percent[p], number));
        px_text_format(&text, ",%s", px_real_text(c->ideal[p], number));
        px_text_format(&text, ",%s", px_real_text(c->chance[p], number));
        for (size_t i = 0; i < c->select->slot_count; i++)
            px_text_format(&text, ",%s", px_real_text(c->found[i * c->points + p], number));
        px_text_add(&text, "\n");
    }
    const px_status status = px_text_failed(&text)
                                 ? pxi_no_memory(err)
                                 : pxi_file_write(path, text.data, text.length, err);
    px_text_done(&text);
    return status;
}

static px_status curves_chart(const curves *c, const char *path, px_error *err)
{
    const bool types = c->unit == PX_FAULT_TYPES;
    const px_plot_options options = {
        .title = types ? "Kinds of failure found" : "Failures found",
        .note = types ? "a type is a pair of label and wrong answer" : NULL,
        .x = {.label = "candidates selected", .unit = "%"},
        .y = {.label = types ? "of all kinds" : "of all failures", .unit = "%"},
    };
    px_plot *plot = NULL;
    PX_TRY(px_plot_new(&options, &plot, err));
    px_status status = PX_OK;
    for (size_t i = 0; i < c->select->slot_count && status == PX_OK; i++)
        status = px_plot_line(plot, c->select->slots[i].selector->entry.id, c->percent,
                              c->found + i * c->points, c->points, 0, err);
    PX_THEN(status,
            px_plot_line(plot, "ideal", c->percent, c->ideal, c->points, PX_PLOT_DASHED, err));
    PX_THEN(status,
            px_plot_line(plot, "chance", c->percent, c->chance, c->points, PX_PLOT_DASHED, err));
    PX_THEN(status, px_plot_save(plot, path, err));
    px_plot_free(plot);
    return status;
}

px_status px_select_save_curve(const px_select *s, px_fault_unit unit, double percent,
                               const char *path, px_error *err)
{
    const bool csv = pxi_has_suffix(path, ".csv");
    if (!csv && !pxi_has_suffix(path, ".svg"))
        return px_fail(err, PX_E_USAGE, "'%.200s': a curve needs a name that ends in .svg or .csv",
                       path);
    curves c = {.select = s, .unit = unit};
    px_status status = curves_init(&c, percent, err);
    PX_THEN(status, csv ? curves_csv(&c, path, err) : curves_chart(&c, path, err));
    curves_done(&c);
    return status;
}
