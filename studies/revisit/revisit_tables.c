/* studies/revisit/revisit_tables.c - RQ2: Table II, its tests one by one, and how large the arms
 * were */
/* SPDX-License-Identifier: Apache-2.0 */
#include "revisit/revisit_report.h"

#include "base/memory.h"

#include <internal/assess.h>
#include <math.h>
#include <stdio.h>

static const double UNKNOWN = (double)NAN;

static const char *variant_name(rv_rule rule, bool matched)
{
    static const char *const names[RV_RULES][2] = {{"by set", "by set, arms of one size"},
                                                   {"pairwise", "pairwise, arms of one size"}};
    return names[rule][matched];
}

static bool arms_were_run(const px_study *study, study_document *doc, size_t subject, rv_rule rule,
                          bool matched)
{
    rv_test t;
    if (rv_h1_test(study, subject, rule, matched, 0, &t, NULL) == PX_OK)
        return t.verdict != RV_NOT_RUN;
    pxi_document_fail(doc);
    return false;
}

/* --- Table II --------------------------------------------------------------------------------- */

/* As the paper computed them: half the two-sided p of the normal approximation, whichever side. */
void rv_report_table2(const px_study *study, study_document *doc)
{
    const char *columns[RV_METRICS];
    for (size_t m = 0; m < RV_METRICS; m++)
        columns[m] = rv_metrics[m].title;
    pxi_doc_table(doc, "p-values as the paper computed them: the tail on whichever side U lies",
                  columns, RV_METRICS, 0);
    pxi_doc_row(doc, NULL, "paper");
    for (size_t m = 0; m < RV_METRICS; m++)
        pxi_doc_words(doc, "%.3f", rv_metrics[m].p);
    pxi_doc_row(doc, NULL, "U that gives it, or 121 - U");
    for (size_t m = 0; m < RV_METRICS; m++)
        pxi_doc_words(doc, "%.1f", rv_metrics[m].u);
    for (rv_rule rule = RV_BY_SET; rule < RV_RULES; rule++)
        for (int matched = 0; matched < 2; matched++)
            for (size_t s = 0; s < RV_SUBJECTS; s++) {
                if (!arms_were_run(study, doc, s, rule, matched))
                    continue;
                pxi_doc_row(doc, NULL, "%s, %s", rv_subjects[s].title, variant_name(rule, matched));
                for (size_t m = 0; m < RV_METRICS; m++) {
                    rv_test t;
                    if (rv_h1_test(study, s, rule, matched, m, &t, NULL) != PX_OK)
                        pxi_document_fail(doc);
                    else if (isnan(t.legacy))
                        pxi_doc_words(doc, "–");
                    else
                        pxi_doc_words(doc, "%.3f", t.legacy);
                }
            }
}

/* --- the tests -------------------------------------------------------------------------------- */

static void tests_row(const px_study *study, study_document *doc, size_t s, rv_rule rule,
                      bool matched)
{
    rv_test tests[RV_METRICS];
    size_t least = SIZE_MAX, most = 0;
    double smallest = 0.0;
    char note[80], p[16];
    for (size_t m = 0; m < RV_METRICS; m++) {
        if (rv_h1_test(study, s, rule, matched, m, &tests[m], NULL) != PX_OK) {
            pxi_document_fail(doc);
            return;
        }
        least = PX_MIN(least, PX_MIN(tests[m].n1, tests[m].n2));
        most = PX_MAX(most, PX_MAX(tests[m].n1, tests[m].n2));
        if (tests[m].verdict != RV_NOT_RUN)
            smallest = fmax(smallest, tests[m].smallest);
    }
    if (least == most)
        snprintf(note, sizeof note, "%zu and %zu states; smallest p %s", most, most,
                 rv_p_text(smallest, p));
    else
        snprintf(note, sizeof note, "%zu to %zu states that are defined; smallest p %s", least,
                 most, rv_p_text(smallest, p));
    pxi_doc_row(doc, note, "%s", rv_subjects[s].title);
    for (size_t m = 0; m < RV_METRICS; m++) {
        if (tests[m].verdict == RV_NOT_RUN)
            pxi_doc_words(doc, "–");
        else
            pxi_doc_words(doc, "%s, %.2f%s", rv_p_text(tests[m].p, p), tests[m].effect,
                          tests[m].verdict == RV_CONFIRMED      ? " ↑"
                          : tests[m].verdict == RV_OPPOSITE     ? " ↓"
                          : tests[m].verdict == RV_INCONCLUSIVE ? " ?"
                                                                : "");
    }
}

static void paired_row(const px_study *study, study_document *doc, rv_rule rule, bool matched)
{
    px_wilcoxon_result r[RV_METRICS];
    char note[80], p[16];
    for (size_t m = 0; m < RV_METRICS; m++)
        if (rv_h1_paired(study, rule, matched, m, &r[m], NULL) != PX_OK) {
            pxi_document_fail(doc);
            return;
        }
    snprintf(note, sizeof note, "%zu networks; smallest p %s", r[0].n + r[0].zeros,
             rv_p_text(r[0].smallest_p, p));
    pxi_doc_row(doc, note, "over networks, Wilcoxon");
    for (size_t m = 0; m < RV_METRICS; m++)
        pxi_doc_words(doc, "%s", rv_p_text(r[m].p, p));
}

static void report_tests(const px_study *study, study_document *doc, rv_rule rule, bool matched)
{
    char titles[RV_METRICS][40], caption[200];
    const char *columns[RV_METRICS];
    for (size_t m = 0; m < RV_METRICS; m++) {
        const px_metric *metric = px_metric_find(rv_metrics[m].id);
        snprintf(titles[m], sizeof titles[m], "%s (%s)", rv_metrics[m].title,
                 metric ? px_better_name(metric->better) : "?");
        columns[m] = titles[m];
    }
    snprintf(caption, sizeof caption,
             "improving %s: one-sided p that the improving arm is better, A12 (U is A12 n1 n2); ↑ "
             "better, "
             "↓ worse at 0.05, ? cannot tell",
             variant_name(rule, matched));
    pxi_doc_table(doc, caption, columns, RV_METRICS, 0);
    for (size_t s = 0; s < RV_SUBJECTS; s++)
        if (arms_were_run(study, doc, s, rule, matched))
            tests_row(study, doc, s, rule, matched);
    paired_row(study, doc, rule, matched);
}

/* --- sizes ------------------------------------------------------------------------------------ */

static double arm_value(const px_study *study, size_t s, rv_rule rule, rv_arm arm, int k,
                        const char *name)
{
    return rv_figure(study, s, name, 1.0, UNKNOWN, RV_RQ2_KEY, rv_arm_ids[arm], rv_rule_ids[rule],
                     k)
        .mean;
}

static void report_sizes(const px_study *study, study_document *doc, rv_rule rule)
{
    static const char *const columns[] = {"1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "all"};
    char caption[160];
    snprintf(caption, sizeof caption,
             "improving %s: mutants added per round; in brackets those that the network of the "
             "round got wrong",
             variant_name(rule, false));
    pxi_doc_table(doc, caption, columns, PX_LEN(columns), 0);
    for (size_t s = 0; s < RV_SUBJECTS; s++)
        for (rv_arm arm = 0; arm < RV_ARMS; arm++) {
            double all = 0.0;
            if (isnan(arm_value(study, s, rule, arm, 0, "size")))
                continue;
            pxi_doc_row(doc, NULL, "%s, %s", rv_subjects[s].title, rv_arm_ids[arm]);
            for (int k = 1; k < RV_STATES; k++) {
                const double added = arm_value(study, s, rule, arm, k, "added");
                const double wrong = arm_value(study, s, rule, arm, k, "wrong");
                all += added;
                if (isnan(added))
                    pxi_doc_words(doc, "–");
                else if (isnan(wrong))
                    pxi_doc_words(doc, "%.0f", added);
                else
                    pxi_doc_words(doc, "%.0f (%.0f)", added, wrong);
            }
            rv_words(doc, all, 0);
        }
}

static void report_ends(const px_study *study, study_document *doc, rv_rule rule)
{
    static const char *const columns[] = {"accuracy, M_0 (%)", "accuracy, M_10 (%)",
                                          "MR, M_0 (%)",       "MR, M_10 (%)",
                                          "NC, D_0 (%)",       "NC, D_10 (%)"};
    static const char *const names[] = {"accuracy", "mr", "coverage"};
    char caption[120];
    snprintf(caption, sizeof caption, "improving %s: what the arms come to",
             variant_name(rule, false));
    pxi_doc_table(doc, caption, columns, PX_LEN(columns), 2);
    for (size_t s = 0; s < RV_SUBJECTS; s++)
        for (rv_arm arm = 0; arm < RV_ARMS; arm++) {
            if (isnan(arm_value(study, s, rule, arm, 0, "size")))
                continue;
            pxi_doc_row(doc, NULL, "%s, %s", rv_subjects[s].title, rv_arm_ids[arm]);
            for (size_t i = 0; i < PX_LEN(names); i++)
                for (int k = 0; k <= RV_STEPS; k += RV_STEPS)
                    pxi_doc_figure(doc, rv_figure(study, s, names[i], 100.0, UNKNOWN, RV_RQ2_KEY,
                                                  rv_arm_ids[arm], rv_rule_ids[rule], k));
        }
}

void rv_report_arms(const px_study *study, study_document *doc)
{
    bool ran[RV_SUBJECTS] = {false};
    for (rv_rule rule = RV_BY_SET; rule < RV_RULES; rule++) {
        bool run = false;
        for (size_t s = 0; s < RV_SUBJECTS; s++)
            if (arms_were_run(study, doc, s, rule, false) ||
                arms_were_run(study, doc, s, rule, true))
                run = ran[s] = true;
        if (!run)
            continue;
        pxi_doc_heading(doc, 3, "Improving %s", variant_name(rule, false));
        report_tests(study, doc, rule, false);
        report_tests(study, doc, rule, true);
        report_sizes(study, doc, rule);
        report_ends(study, doc, rule);
    }
    rv_report_left_out(study, doc, RV_RQ2, RV_RULES, ran);
}
