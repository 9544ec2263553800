/* studies/revisit/revisit_tests.c - the hypotheses H1 to H6, of the cells and of the paper's
 * numbers
 *
 * H1 is a family: every metric of every network is a test of its own, 11 states of one arm against
 * 11 of the other, as in the paper. What holds for the family is said after Holm's correction. The
 * states of an arm come one from the other, so that these p are smaller than they ought to be; over
 * networks, which do not, Wilcoxon's test of the arms' means stands beside them.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "revisit/revisit_report.h"

#include "base/memory.h"

#include <internal/assess.h>
#include <internal/stats.h>
#include <math.h>
#include <plexor/text.h>
#include <stdio.h>
#include <stdlib.h>

/* --- H1 --------------------------------------------------------------------------------------- */

static bool better_high(size_t metric)
{
    const px_metric *m = px_metric_find(rv_metrics[metric].id);
    return m && m->better == PX_BETTER_HIGH;
}

/* States `first` to k of an arm, those that are better being greater. */
static void arm_states(const px_study *study, size_t subject, rv_rule rule, rv_arm arm,
                       size_t metric, int first, rv_sample *out)
{
    for (int k = first; k < RV_STATES; k++)
        rv_values(study, subject, rv_metrics[metric].cell, out, RV_RQ2_KEY, rv_arm_ids[arm],
                  rv_rule_ids[rule], k);
    for (size_t i = 0; i < out->count && !better_high(metric); i++)
        out->values[i] = -out->values[i];
}

static void h1_samples(const px_study *study, size_t subject, rv_rule rule, bool matched,
                       size_t metric, int first, rv_sample *a, rv_sample *b)
{
    arm_states(study, subject, rule, matched ? RV_IMPROVING_MATCHED : RV_IMPROVING, metric, first,
               a);
    arm_states(study, subject, rule, matched ? RV_REMAINING_MATCHED : RV_REMAINING, metric, first,
               b);
}

px_status rv_h1_test(const px_study *study, size_t subject, rv_rule rule, bool matched,
                     size_t metric, rv_test *out, px_error *err)
{
    rv_sample a = {0}, b = {0};
    h1_samples(study, subject, rule, matched, metric, 0, &a, &b);
    const px_status status = rv_test_of(&a, &b, PX_GREATER, out, err);
    rv_sample_done(&a);
    rv_sample_done(&b);
    return status;
}

px_status rv_h1_paired(const px_study *study, rv_rule rule, bool matched, size_t metric,
                       px_wilcoxon_result *out, px_error *err)
{
    rv_sample differences = {0};
    for (size_t s = 0; s < RV_SUBJECTS; s++) {
        rv_sample a = {0}, b = {0};
        h1_samples(study, s, rule, matched, metric, 1, &a, &b);
        rv_sample_add(&differences, px_mean(a.values, a.count) - px_mean(b.values, b.count));
        differences.failed = differences.failed || a.failed || b.failed;
        rv_sample_done(&a);
        rv_sample_done(&b);
    }
    const px_status status = differences.failed
                                 ? pxi_no_memory(err)
                                 : px_wilcoxon(differences.values, NULL, differences.count,
                                               PX_GREATER, /* normal= */ false, out, err);
    rv_sample_done(&differences);
    return status;
}

px_status rv_h1_family(const px_study *study, rv_rule rule, bool matched, rv_family *out,
                       px_error *err)
{
    rv_test tests[RV_SUBJECTS * RV_METRICS];
    for (size_t s = 0; s < RV_SUBJECTS; s++)
        for (size_t m = 0; m < RV_METRICS; m++)
            PX_TRY(rv_h1_test(study, s, rule, matched, m, &tests[s * RV_METRICS + m], err));
    return rv_family_of(tests, PX_LEN(tests), out, err);
}

/* --- H2 to H6 --------------------------------------------------------------------------------- */

typedef struct our_rates {
    const px_study *study;
    const rv_reading *reading;
} our_rates;

static void our_rate(const void *context, size_t network, size_t defence, size_t set,
                     rv_sample *out)
{
    const our_rates *rates = context;
    (void)defence;
    rv_rate_values(rates->study, rates->reading, network, set, out);
}

static void our_accuracy(const void *context, size_t network, size_t defence, size_t set,
                         rv_sample *out)
{
    char name[CELL_NAME];
    snprintf(name, sizeof name, "acc_%s", rv_set_ids[set]);
    rv_values(context, network, name, out, "rq4 %s",
              defence == RV_BENIGN ? "none" : rv_set_ids[defence]);
}

static px_status our_test(const px_study *study, int h, bool once, rv_test *out, px_error *err)
{
    const rv_source source = {.add = our_accuracy, .context = study, .networks = RV_SUBJECTS};
    return rv_hypothesis_test(&source, h, once, out, err);
}

/* H2 and H3, of the rates on one kind of test sets. */
static px_status our_rate_test(const px_study *study, int h, const rv_reading *reading,
                               rv_test *out, px_error *err)
{
    const our_rates rates = {.study = study, .reading = reading};
    const rv_source source = {.add = our_rate, .context = &rates, .networks = RV_SUBJECTS};
    return rv_hypothesis_test(&source, h, /* once= */ false, out, err);
}

/* --- the table of verdicts -------------------------------------------------------------------- */

const char *rv_p_text(double p, char text[16])
{
    if (isnan(p))
        snprintf(text, 16, "–");
    else
        snprintf(text, 16, p >= 0.1 ? "%.2f" : p >= 0.001 ? "%.4f" : "%.1e", p);
    return text;
}

static void verdict_cells(study_document *doc, const rv_test *t)
{
    char p[16], other[16], smallest[16];
    if (t->verdict == RV_NOT_RUN) {
        for (int i = 0; i < 6; i++)
            pxi_doc_words(doc, "–");
        return;
    }
    pxi_doc_words(doc, "%zu, %zu", t->n1, t->n2);
    pxi_doc_words(doc, "%.1f", t->u);
    pxi_doc_words(doc, "%.2f", t->effect);
    pxi_doc_words(doc, "%s", rv_p_text(t->p, p));
    pxi_doc_words(doc, "%s", rv_p_text(t->opposite, other));
    pxi_doc_words(doc, "%s", rv_p_text(t->smallest, smallest));
}

static void verdict_family(const px_study *study, study_document *doc, rv_rule rule, bool matched)
{
    rv_family f;
    rv_test test = {.n1 = 0};
    char smallest[16];
    if (rv_h1_family(study, rule, matched, &f, NULL) != PX_OK) {
        pxi_document_fail(doc);
        return;
    }
    for (size_t s = RV_SUBJECTS; s-- > 0 && test.n1 == 0;) /* as the others: 11 and 11 per run */
        if (rv_h1_test(study, s, rule, matched, 0, &test, NULL) != PX_OK)
            pxi_document_fail(doc);
    pxi_doc_row(doc, NULL, "H1, improving %s%s", rule == RV_BY_PAIR ? "pairwise" : "by set",
                matched ? ", arms of one size" : "");
    pxi_doc_words(doc, "%s", rv_hypotheses[0].verdict);
    pxi_doc_words(doc, "%s", rv_hypotheses[0].p);
    if (f.tests == 0) {
        for (int i = 0; i < 6; i++)
            pxi_doc_words(doc, "–");
    } else {
        pxi_doc_words(doc, "%zu, %zu; %zu tests", test.n1, test.n2, f.tests);
        pxi_doc_words(doc, "below");
        pxi_doc_words(doc, "below");
        pxi_doc_words(doc, "%zu of %zu below 0.05, %zu after Holm", f.significant, f.tests, f.holm);
        pxi_doc_words(doc, "%zu of %zu below 0.05, %zu after Holm", f.opposite, f.tests,
                      f.holm_opposite);
        pxi_doc_words(doc, "%s", rv_p_text(f.smallest, smallest));
    }
    pxi_doc_words(doc, "**%s**", rv_verdict_name(f.verdict));
}

static void verdict_row(study_document *doc, int h, const char *words, const rv_test *t)
{
    pxi_doc_row(doc, NULL, "H%d%s", h, words);
    pxi_doc_words(doc, "%s", rv_hypotheses[h - 1].verdict);
    pxi_doc_words(doc, "%s", rv_hypotheses[h - 1].p);
    verdict_cells(doc, t);
    pxi_doc_words(doc, "**%s**", rv_verdict_name(t->verdict));
}

static void verdict_rows(const px_study *study, study_document *doc, int h)
{
    rv_test t;
    px_status status = PX_OK;
    if (h <= 3)
        for (size_t r = 0; r < RV_READINGS && status == PX_OK; r++) {
            status = our_rate_test(study, h, &rv_readings[r], &t, NULL);
            if (status == PX_OK)
                verdict_row(doc, h, rv_readings[r].words, &t);
        }
    else
        for (int once = 0; once < 1 + (h == 4 || h == 5) && status == PX_OK; once++) {
            status = our_test(study, h, once, &t, NULL);
            if (status == PX_OK)
                verdict_row(doc, h, once ? ", originals once each" : "", &t);
        }
    if (status != PX_OK)
        pxi_document_fail(doc);
}

/* What our tests make of the numbers that the paper's tests were of. */
static void report_paper_tests(study_document *doc)
{
    static const char *const columns[] = {
        "paper", "paper's p",          "n1, n2",     "U",      "A12",
        "p",     "p of the other way", "smallest p", "verdict"};
    pxi_doc_table(doc, "the same tests of the package's numbers", columns, PX_LEN(columns), 0);
    for (int h = 2; h <= RV_HYPOTHESES; h++) {
        rv_test t;
        if (rv_paper_test(h, &t, NULL) != PX_OK) {
            pxi_document_fail(doc);
            return;
        }
        pxi_doc_row(doc, NULL, "H%d", h);
        pxi_doc_words(doc, "%s", rv_hypotheses[h - 1].verdict);
        pxi_doc_words(doc, "%s", rv_hypotheses[h - 1].p);
        verdict_cells(doc, &t);
        pxi_doc_words(doc, "%s", rv_verdict_name(t.verdict));
    }
    pxi_doc_paragraph(
        doc,
        "H2 and H3 are of the misclassification rates of 13 networks; H4 of the lists behind the "
        "published test, which have a fifth network; H5 and H6 of the four networks whose rows are "
        "in the package, which is why H5 is not the paper's. The rule of H1 gives the p-values of "
        "its Table II by the normal approximation, with 11 and 11 states that share M_0.");
    pxi_doc_paragraph(
        doc,
        "Of these, H3, H5 and H6 rest on mislabelled test cases altogether, and H2 on its side of "
        "coverage-driven ones: the package's sets DH-D, DH-N and DH are mutants of training "
        "inputs under test labels (RQ3), made anew in the same way for every defended network. "
        "H2 is not in danger: by right labels the coverage-driven rates are lower still. H4 is of "
        "benign inputs. H1 and RQ1 are of other test cases, mutants of test inputs under their "
        "own labels.");
}

void rv_report_verdicts(const px_study *study, study_document *doc)
{
    static const char *const columns[] = {"paper", "paper's p",          "n1, n2",     "U",   "A12",
                                          "p",     "p of the other way", "smallest p", "ours"};
    pxi_doc_heading(doc, 2, "Verdicts");
    for (int h = 1; h <= RV_HYPOTHESES; h++)
        pxi_doc_paragraph(doc, "**H%d**: %s.", h, rv_hypotheses[h - 1].text);
    pxi_doc_paragraph(
        doc,
        "Mann-Whitney's U test, one-sided as the hypothesis says it, exact without ties and up to "
        "20 values on either side. U and A12, the share of pairs in which it is above, are of the "
        "first sample. *Confirmed*: p below 0.05. *Opposite*: p of the other way below 0.05. "
        "*Inconclusive*: no samples of these sizes have a p below 0.05. *Rejected*: none of these. "
        "H1 has a test for each metric of each network (below); its verdict counts those that "
        "remain after Holm's correction, each way: confirmed or opposite if these are more than "
        "half of the tests, rejected if there are none, else *mixed*. H4 and H5 have a network's "
        "value before retraining as often as after it, as the paper does, and once. H2 and H3 are "
        "tested on test cases as the paper's text has them, as its package makes them (RQ3), and "
        "on the latter by their own labels.");
    pxi_doc_table(doc, "the paper's verdicts and ours", columns, PX_LEN(columns), 0);
    for (rv_rule rule = RV_BY_SET; rule < RV_RULES; rule++)
        for (int matched = 0; matched < 2; matched++)
            verdict_family(study, doc, rule, matched);
    for (int h = 2; h <= RV_HYPOTHESES; h++)
        verdict_rows(study, doc, h);
    report_paper_tests(doc);
}

/* --- Table III -------------------------------------------------------------------------------- */

/* The findings, each with the verdicts under which it holds. */
static study_verdict finding_of(int h, rv_verdict verdict)
{
    if (verdict == RV_NOT_RUN || verdict == RV_INCONCLUSIVE)
        return STUDY_OPEN;
    if (verdict == RV_MIXED)
        return STUDY_PARTLY;
    switch (h) {
    case 1: /* not more effective; H5: does not defend */
        return verdict == RV_CONFIRMED ? STUDY_FAILS : STUDY_HOLDS;
    case 2:
        return verdict == RV_CONFIRMED ? STUDY_HOLDS : STUDY_FAILS;
    case 4: /* can harm */
        return verdict == RV_OPPOSITE ? STUDY_HOLDS : STUDY_FAILS;
    case 5: /* "cannot defend": not more accurate than before */
        return verdict == RV_OPPOSITE ? STUDY_FAILS : STUDY_HOLDS;
    default: /* alike */
        return verdict == RV_REJECTED ? STUDY_HOLDS : STUDY_FAILS;
    }
}

static void finding_h1(const px_study *study, study_document *doc)
{
    px_text evidence = {0};
    study_verdict all = STUDY_OPEN;
    for (rv_rule rule = RV_BY_SET; rule < RV_RULES; rule++)
        for (int matched = 0; matched < 2; matched++) {
            rv_family f;
            if (rv_h1_family(study, rule, matched, &f, NULL) != PX_OK)
                evidence.failed = true;
            else {
                const study_verdict v = finding_of(1, f.verdict);
                all = v == STUDY_OPEN ? all : all == STUDY_OPEN || all == v ? v : STUDY_PARTLY;
                px_text_format(&evidence, "%s%s%s: %s", evidence.length ? "; " : "",
                               rule == RV_BY_PAIR ? "pairwise" : "by set",
                               matched ? ", arms of one size" : "", rv_verdict_name(f.verdict));
            }
        }
    pxi_doc_claim(doc, all, rv_hypotheses[0].finding, "H1 is %s.", px_text_get(&evidence));
    if (px_text_failed(&evidence))
        pxi_document_fail(doc);
    px_text_done(&evidence);
}

void rv_report_findings(const px_study *study, study_document *doc)
{
    pxi_doc_heading(doc, 2, "Findings (Table III)");
    finding_h1(study, doc);
    for (int h = 2; h <= RV_HYPOTHESES; h++) {
        rv_test t;
        char p[16], other[16];
        const px_status status = h <= 3 ? our_rate_test(study, h, &rv_readings[0], &t, NULL)
                                        : our_test(study, h, /* once= */ false, &t, NULL);
        if (status != PX_OK) {
            pxi_document_fail(doc);
            return;
        }
        const study_verdict verdict = finding_of(h, t.verdict);
        if (t.verdict == RV_NOT_RUN)
            pxi_doc_claim(doc, verdict, rv_hypotheses[h - 1].finding, "H%d was not run.", h);
        else
            pxi_doc_claim(doc, verdict, rv_hypotheses[h - 1].finding,
                          "H%d is %s: p %s, the other way %s, A12 %.2f (%s).", h,
                          rv_verdict_name(t.verdict), rv_p_text(t.p, p),
                          rv_p_text(t.opposite, other), t.effect, px_a12_size(t.effect));
        if (h == 3)
            rv_report_package_claim(study, doc);
    }
}
