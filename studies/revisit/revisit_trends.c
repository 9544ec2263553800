/* studies/revisit/revisit_trends.c - RQ1: coverage of growing training sets, and quality beside it
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "revisit/revisit_report.h"

#include "base/memory.h"

#include <internal/assess.h>
#include <internal/stats.h>
#include <math.h>
#include <stdio.h>

static const double UNKNOWN = (double)NAN;
static const char *const state_titles[RV_STATES] = {"D_0", "D_1", "D_2", "D_3", "D_4", "D_5",
                                                    "D_6", "D_7", "D_8", "D_9", "D_10"};
enum { COVERAGE_BASE = 0, QUALITY_BASE = 5 };

static const char *rule_words(rv_rule rule)
{
    return rule == RV_BY_PAIR ? " pairwise" : "";
}

static study_figure trend_figure(const px_study *study, size_t subject, rv_rule rule, int k,
                                 const char *name)
{
    return rv_figure(study, subject, name, 1.0, UNKNOWN, RV_RQ1_KEY, rule_words(rule), k);
}

static rv_trend trend_of(const px_study *study, size_t subject, rv_rule rule, const char *name,
                         const char *title)
{
    rv_trend trend = {.title = title};
    for (int k = 0; k < RV_STATES; k++)
        trend.values[k] = trend_figure(study, subject, rule, k, name).mean;
    return trend;
}

static bool trend_was_run(const px_study *study, size_t subject, rv_rule rule)
{
    return !isnan(trend_figure(study, subject, rule, 0, "size").mean);
}

/* --- monotone? -------------------------------------------------------------------------------- */

typedef struct trend_course {
    int states; /* that have a value */
    int up, down;
    double rho; /* Spearman's, of the step and the value; NaN: constant */
} trend_course;

/* Of the retrained networks: D_0 was not retrained on. */
static px_status course_of(const rv_trend *trend, trend_course *out, px_error *err)
{
    double steps[RV_STATES], values[RV_STATES];
    trend_course c = {.states = 0, .rho = UNKNOWN};
    for (int k = 1; k < RV_STATES; k++) {
        if (isnan(trend->values[k]))
            continue;
        if (c.states > 0) {
            c.up += trend->values[k] > values[c.states - 1];
            c.down += trend->values[k] < values[c.states - 1];
        }
        steps[c.states] = k;
        values[c.states++] = trend->values[k];
    }
    px_correlation r;
    PX_TRY(px_spearman(steps, values, (size_t)c.states, &r, err));
    c.rho = r.r;
    *out = c;
    return PX_OK;
}

static const char *course_name(const trend_course *c)
{
    return c->states < 2                ? "–"
           : c->up == 0 && c->down == 0 ? "constant"
           : c->down == 0               ? "rises"
           : c->up == 0                 ? "falls"
                                        : "no";
}

static void report_courses(const px_study *study, study_document *doc, rv_rule rule)
{
    const char *columns[RV_METRICS];
    size_t run = 0, monotone = 0, constant = 0;
    for (size_t m = 0; m < RV_METRICS; m++)
        columns[m] = rv_metrics[m].title;
    pxi_doc_table(doc,
                  "is the metric monotone over D_1 to D_10? In brackets Spearman's correlation of "
                  "step and value",
                  columns, RV_METRICS, 0);
    for (size_t s = 0; s < RV_SUBJECTS; s++) {
        if (!trend_was_run(study, s, rule))
            continue;
        pxi_doc_row(doc, NULL, "%s", rv_subjects[s].title);
        for (size_t m = 0; m < RV_METRICS; m++) {
            const rv_trend t = trend_of(study, s, rule, rv_metrics[m].cell, rv_metrics[m].title);
            trend_course c = {.states = 0};
            if (course_of(&t, &c, NULL) != PX_OK)
                pxi_document_fail(doc);
            run += c.states > 1;
            constant += c.states > 1 && c.up == 0 && c.down == 0;
            monotone += c.states > 1 && (c.up == 0) != (c.down == 0);
            if (isnan(c.rho))
                pxi_doc_words(doc, "%s", course_name(&c));
            else
                pxi_doc_words(doc, "%s (%+.2f)", course_name(&c), c.rho);
        }
    }
    pxi_doc_paragraph(doc,
                      "Of %zu metrics of networks %zu are monotone, and %zu are constant because "
                      "nothing was added. The paper: none is monotone.",
                      run, monotone, constant);
}

/* --- tables ----------------------------------------------------------------------------------- */

/* Values at all states, over the one at `base`; as they are where that is 0. */
static void trend_row(study_document *doc, const rv_trend *t, size_t base)
{
    const double unit = t->values[base];
    const bool whole = unit == 0.0 || isnan(unit);
    pxi_doc_row(doc, NULL, "%s%s", t->title, whole ? " (not relative)" : "");
    for (size_t k = 0; k < RV_STATES; k++)
        rv_words(doc, whole ? t->values[k] : t->values[k] / unit, 4);
}

/* Whether any mutant was added at all. */
static bool trend_moves(const px_study *study, size_t subject, rv_rule rule)
{
    double added = 0.0;
    for (int k = 1; k < RV_STATES; k++)
        added += fmax(0.0, trend_figure(study, subject, rule, k, "added").mean);
    return added > 0.0;
}

static void report_subject(const px_study *study, study_document *doc, size_t s, rv_rule rule)
{
    static const char *const sizes[] = {"size", "added", "wrong"};
    static const char *const titles[] = {"inputs", "added", "wrong mutants of the part"};
    const rv_subject *subject = &rv_subjects[s];
    rv_trend coverage[RV_COVERAGES], quality[RV_METRICS];
    char title[120];
    pxi_doc_heading(doc, 4, "%s", subject->title);
    pxi_doc_table(doc, "training sets, and their coverage of M_0 relative to D_0", state_titles,
                  RV_STATES, 4);
    for (size_t i = 0; i < PX_LEN(sizes); i++) {
        pxi_doc_row(doc, NULL, "%s", titles[i]);
        for (int k = 0; k < RV_STATES; k++)
            rv_words(doc, trend_figure(study, s, rule, k, sizes[i]).mean, 0);
    }
    for (size_t c = 0; c < RV_COVERAGES; c++) {
        coverage[c] = trend_of(study, s, rule, rv_coverages[c].cell, rv_coverages[c].title);
        trend_row(doc, &coverage[c], COVERAGE_BASE);
    }
    pxi_doc_table(doc, "networks retrained on them: metrics relative to D_5; accuracy as it is",
                  state_titles, RV_STATES, 4);
    for (size_t m = 0; m < RV_METRICS; m++) {
        quality[m] = trend_of(study, s, rule, rv_metrics[m].cell, rv_metrics[m].title);
        trend_row(doc, &quality[m], QUALITY_BASE);
    }
    pxi_doc_row(doc, NULL, "accuracy on the test inputs (%%)");
    for (int k = 0; k < RV_STATES; k++)
        rv_words(doc, 100.0 * trend_figure(study, s, rule, k, "accuracy").mean, 2);
    if (!trend_moves(study, s, rule))
        return;
    snprintf(title, sizeof title, "%s: coverage of the training sets", subject->title);
    pxi_doc_plot(doc, rv_plot_trends(title, "coverage", coverage, RV_COVERAGES, COVERAGE_BASE),
                 title, "coverage-%s-%s-%s", rv_rule_ids[rule], subject->dataset, subject->arch);
    snprintf(title, sizeof title, "%s: quality of the networks", subject->title);
    pxi_doc_plot(doc, rv_plot_trends(title, "metric", quality, RV_METRICS, QUALITY_BASE), title,
                 "quality-%s-%s-%s", rv_rule_ids[rule], subject->dataset, subject->arch);
}

void rv_report_trends(const px_study *study, study_document *doc)
{
    static const char *const headings[RV_RULES] = {
        "Improving by set: with the mutant, D_i covers more than without it",
        "Improving pairwise: the mutant alone covers more than its original alone"};
    pxi_doc_heading(doc, 2, "RQ1: do networks improve as coverage grows? (Figures 1 and 2)");
    pxi_doc_paragraph(
        doc,
        "D_i is D_(i-1) with those mutants (DH, one of every input) of part i of D_0 that M_0 gets "
        "wrong and that improve coverage; M_0 is retrained on each D_i (Adam, rate %g, batches of "
        "%d, %d epochs). Coverage is that of D_i under M_0: NC of raw values, KMNC with 10 "
        "sections, TKNC and TKNP with the two highest; ranges are those of D_0, so that NBC and "
        "SNAC begin at 0 and are given as they are. Metrics are over DH mutants of the test "
        "inputs.",
        RV_RATE, RV_BATCH, RV_EPOCHS);
    bool ran[RV_SUBJECTS] = {false};
    for (rv_rule rule = RV_BY_SET; rule < RV_RULES; rule++) {
        bool run = false;
        for (size_t s = 0; s < RV_SUBJECTS; s++)
            if (trend_was_run(study, s, rule))
                run = ran[s] = true;
        if (!run)
            continue;
        pxi_doc_heading(doc, 3, "%s", headings[rule]);
        report_courses(study, doc, rule);
        for (size_t s = 0; s < RV_SUBJECTS; s++)
            if (trend_was_run(study, s, rule))
                report_subject(study, doc, s, rule);
    }
    rv_report_left_out(study, doc, RV_RQ1, RV_RULES, ran);
}
