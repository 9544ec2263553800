/* studies/revisit/revisit_rates.c - RQ3 in the report: rates on the paper's test sets and on its
 * package's
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "revisit/revisit_report.h"

#include "base/memory.h"

#include <math.h>
#include <stdio.h>

static const double UNKNOWN = (double)NAN;

/* Within so many points of the published rates is what this study calls the same. */
static const double SAME_RATES = 5.0;

const rv_reading rv_readings[RV_READINGS] = {
    {"", "mr_", RV_OF_PAPER},
    {", test sets as the package makes them", "mr_", RV_OF_PACKAGE},
    {", the same pictures by their own labels", "own_", RV_OF_PACKAGE},
};

/* Of FGSM, PGD and the inputs themselves there is one reading. */
static const rv_reading *reading_of(const rv_reading *reading, size_t set)
{
    return set >= RV_DHD && set <= RV_DH ? reading : &rv_readings[0];
}

void rv_rate_values(const px_study *study, const rv_reading *reading, size_t subject, size_t set,
                    rv_sample *out)
{
    const rv_reading *r = reading_of(reading, set);
    char name[CELL_NAME];
    snprintf(name, sizeof name, "%s%s", r->value, rv_set_ids[set]);
    rv_values(study, subject, name, out, "%s", rv_rq3_keys[r->cases]);
}

static study_figure rate(const px_study *study, size_t s, const char *value, rv_cases cases,
                         size_t set, double paper)
{
    char name[CELL_NAME];
    snprintf(name, sizeof name, "%s%s", value, rv_set_ids[set]);
    study_figure f = rv_figure(study, s, name, 100.0, paper, "%s", rv_rq3_keys[cases]);
    /* of the test inputs, which are fewer than those of training */
    const double count = rv_figure(study, s, "cases", 1.0, UNKNOWN, "%s", rv_rq3_keys[cases]).mean;
    f.reduced = f.reduced && count < RV_TEST_INPUTS;
    return f;
}

static void rates_of_paper(const px_study *study, study_document *doc)
{
    pxi_doc_table(doc, "misclassification rate (%)", rv_set_titles, RV_SETS, 2);
    for (size_t s = 0; s < RV_SUBJECTS; s++) {
        const rv_row *row = rv_row_of(s);
        const bool run = !isnan(rate(study, s, "mr_", RV_OF_PAPER, RV_BENIGN, UNKNOWN).mean);
        char buffer[STUDY_NOTE];
        pxi_doc_row(doc, run ? NULL : rv_cost_note(study, s, RV_RQ3, RV_OF_PAPER, 1, buffer), "%s",
                    rv_subjects[s].title);
        for (size_t set = 0; set < RV_SETS; set++)
            pxi_doc_figure(
                doc, rate(study, s, "mr_", RV_OF_PAPER, set, row ? row->rates[set] : UNKNOWN));
    }
}

static void package_row(const px_study *study, study_document *doc, size_t s, const char *value,
                        const char *words, bool paper)
{
    const rv_row *row = paper ? rv_row_of(s) : NULL;
    const bool run = !isnan(rate(study, s, value, RV_OF_PACKAGE, RV_DHD, UNKNOWN).mean);
    char buffer[STUDY_NOTE];
    pxi_doc_row(doc, run ? NULL : rv_cost_note(study, s, RV_RQ3, RV_OF_PACKAGE, 1, buffer), "%s%s",
                rv_subjects[s].title, words);
    for (size_t set = RV_DHD; set <= RV_DH; set++)
        pxi_doc_figure(doc,
                       rate(study, s, value, RV_OF_PACKAGE, set, row ? row->rates[set] : UNKNOWN));
}

static void rates_of_package(const px_study *study, study_document *doc)
{
    pxi_doc_heading(doc, 3,
                    "As the package makes them: mutants of training inputs under test labels");
    pxi_doc_paragraph(
        doc, "The package's script for the test sets (fuzzing_testset.py) mutates *training* input "
             "i, puts the mutant in the place of *test* input i where its NC is higher (each "
             "alone: units of all layers, before and after their activations, scaled per layer "
             "and input, above 0.75), leaves the other test inputs as they are, and the rate is "
             "taken by the *test* input's "
             "label. Nine of ten of the pictures put in then show another class than their label "
             "says, so that the rate follows the share that was put in, whatever the "
             "transformation. The same pictures by their own labels stand below each row.");
    pxi_doc_table(doc, "misclassification rate (%) on the package's test sets", &rv_set_titles[1],
                  RV_DH, 2);
    for (size_t s = 0; s < RV_SUBJECTS; s++) {
        const bool run = !isnan(rate(study, s, "mr_", RV_OF_PACKAGE, RV_DHD, UNKNOWN).mean);
        if (!run && !rv_row_of(s))
            continue;
        package_row(study, doc, s, "mr_", "", true);
        if (!run)
            continue;
        package_row(study, doc, s, "own_", ", own labels", false);
        package_row(study, doc, s, "put_", ", share put in (%)", false);
    }
}

void rv_report_rates(const px_study *study, study_document *doc)
{
    pxi_doc_heading(doc, 2, "RQ3: which test cases make networks fail?");
    pxi_doc_paragraph(
        doc,
        "Misclassification rates of the original networks on one test case per test input. DH "
        "applies one random transformation of DeepHunter's nine with one random parameter, DH-D "
        "one of the four differentiable ones, DH-N one of the other five. FGSM and PGD are by Linf "
        "with the paper's strengths in scaled units (MNIST and, here, Fashion-MNIST 0.3; CIFAR-10 "
        "and EuroSAT 16/255; SVHN 8/255), PGD without a random start (ART's default; the paper "
        "speaks of one); attacks are judged as stored in 8 bits. The paper's figures are the "
        "package's; those of DH-D, DH-N and DH are of test sets that are made in another way "
        "(below).");
    rates_of_paper(study, doc);
    rates_of_package(study, doc);
}

/* The farthest of a subject's rates from the published ones, in points; NaN: there is nothing to
 * compare. */
static double farthest(const px_study *study, size_t s, const char *value)
{
    const rv_row *row = rv_row_of(s);
    double most = UNKNOWN;
    for (size_t set = RV_DHD; row && set <= RV_DH; set++) {
        const double ours = rate(study, s, value, RV_OF_PACKAGE, set, UNKNOWN).mean;
        if (!isnan(ours))
            most = fmax(most, fabs(ours - row->rates[set])); /* fmax: NaN gives way */
    }
    return most;
}

void rv_report_package_claim(const px_study *study, study_document *doc)
{
    double most = UNKNOWN, own = UNKNOWN;
    size_t compared = 0, same = 0;
    for (size_t s = 0; s < RV_SUBJECTS; s++) {
        const double far = farthest(study, s, "mr_");
        if (isnan(far))
            continue;
        compared++;
        same += far <= SAME_RATES;
        most = fmax(most, far);
        own = fmax(own, farthest(study, s, "own_"));
    }
    if (compared == 0)
        pxi_doc_claim(doc, STUDY_OPEN, rv_package_claim, "It was not run.");
    else
        pxi_doc_claim(doc,
                      same == compared ? STUDY_HOLDS
                      : same > 0       ? STUDY_PARTLY
                                       : STUDY_FAILS,
                      rv_package_claim,
                      "Made in the package's way, all three rates are within %.0f points of the "
                      "published ones on %zu of %zu networks (the farthest is %.1f off); the same "
                      "pictures by their own labels are up to %.1f off.",
                      SAME_RATES, same, compared, most, own);
}
