/* studies/nss/nss_report.c - the NSS paper's tables, ours beside them */
/* SPDX-License-Identifier: Apache-2.0 */
#include "nss/nss_study.h"

#include "base/memory.h"

#include <inttypes.h>
#include <math.h>
#include <plexor/fault_curve.h>
#include <stdio.h>
#include <string.h>

static const double UNKNOWN = (double)NAN;

static bool report_has(const px_study *study, size_t subject, const char *words)
{
    char prefix[CELL_KEY];
    double value;
    nss_prefix(subject, prefix, "%s", words);
    return pxi_study_values(study, prefix, "fdr5", &value, 1) > 0;
}

/* NULL where there are cells with these words; else why there are none. */
static const char *report_missing(const px_study *study, size_t subject, const char *words,
                                  char buffer[64])
{
    return report_has(study, subject, words)
               ? NULL
               : pxi_study_missing(study, nss_subjects[subject].dataset, buffer);
}

static study_figure report_figure(const px_study *study, size_t subject, const char *words,
                                  const char *name, double scale, double paper)
{
    char prefix[CELL_KEY];
    nss_prefix(subject, prefix, "%s", words);
    return pxi_study_figure(study, prefix, name, scale, paper, nss_subjects[subject].candidates);
}

/* One row: the figure of each rate. */
static void report_rates(const px_study *study, study_document *doc, size_t subject,
                         const char *words, const double *paper)
{
    for (size_t r = 0; r < NSS_RATES; r++) {
        char name[16];
        snprintf(name, sizeof name, "fdr%d", nss_rates[r]);
        pxi_doc_figure(
            doc, report_figure(study, subject, words, name, 100.0, paper ? paper[r] : UNKNOWN));
    }
}

static const char *const rate_columns[] = {"5%", "10%", "15%", "20%"};

/* --- subjects --------------------------------------------------------------------------------- */

static void report_subjects(const px_study *study, study_document *doc)
{
    static const char *const columns[] = {"accuracy (%)", "epochs", "fault rate (%)",
                                          "fault types"};
    pxi_doc_heading(doc, 2, "Networks and candidates (Table 3)");
    pxi_doc_paragraph(
        doc, "Networks are trained on the first 80%% of the training set with plexor's recipe for "
             "the architecture until the accuracy on the test set is within half a point of the "
             "paper's. Candidates are one mutant of every test input (shift, rotation, scale, "
             "shear, contrast, brightness or blur). The paper's fault rate is its random column "
             "at 5%%.");
    if (pxi_study_is_jpeg(study, "cifar-10"))
        pxi_doc_paragraph(
            doc, "CIFAR-10 came as JPEGs, a lossy re-encoding of the original pictures (JPEG q75 "
                 "re-encoding in the copy that is in use), for training and for candidates.");
    pxi_doc_table(doc, "networks, and how many of the candidates they get wrong", columns,
                  PX_LEN(columns), 2);
    for (size_t s = 0; s < NSS_SUBJECTS; s++) {
        char buffer[64];
        pxi_doc_row(doc, report_missing(study, s, "select random", buffer), "%s",
                    nss_subjects[s].title);
        char prefix[CELL_KEY];
        nss_prefix(s, prefix, "network");
        pxi_doc_figure(
            doc, pxi_study_figure(study, prefix, "accuracy", 100.0, nss_subjects[s].accuracy, 0));
        pxi_doc_figure(doc, pxi_study_figure(study, prefix, "epochs", 1.0, UNKNOWN, 0));
        pxi_doc_figure(doc, report_figure(study, s, "select random", "fault_rate", 100.0,
                                          nss_table7[s][0][NSS_METHODS - 1]));
        pxi_doc_figure(doc, report_figure(study, s, "select random", "fault_types", 1.0, UNKNOWN));
    }
}

/* --- Tables 7 and 1 --------------------------------------------------------------------------- */

static void report_extras(const px_study *study, study_document *doc, size_t s)
{
    for (size_t m = 0; nss_extras[m]; m++) {
        char words[64];
        const double *paper = NULL;
        if (strcmp(nss_extras[m], "internal-gini") == 0 && s <= NSS_MNIST_L5)
            paper = nss_table1[s][0];
        snprintf(words, sizeof words, "select %s", nss_extras[m]);
        if (!paper && !report_has(study, s, words))
            continue;
        pxi_doc_row(doc, NULL, "%s", nss_extras[m]);
        report_rates(study, doc, s, words, paper);
    }
    for (size_t i = 0; i < NSS_OTHERS; i++) {
        const nss_variant v = nss_variant_of(s, NSS_OTHER, i);
        if (!report_has(study, s, v.words))
            continue;
        pxi_doc_row(doc, NULL, "%s", nss_other_titles[i]);
        report_rates(study, doc, s, v.words, NULL);
    }
}

static void report_table7(const px_study *study, study_document *doc)
{
    pxi_doc_heading(doc, 2, "Fault detection rate (Tables 7 and 1)");
    pxi_doc_paragraph(
        doc, "The share of wrong answers among the first 5, 10, 15 and 20%% of each ranking, in "
             "per cent. NSS compares each candidate with the test input it was made from "
             "(pair=original), which a pile of inputs without originals does not allow; the row "
             "`NSS, pair=fresh` is the letter of the paper's algorithm, a fresh mutant of the "
             "candidate. Rows below RS are not in the paper's table (internal-gini: its Table 1). "
             "The paper gives buckets for DSA and LSA and does not say how they order inputs: the "
             "rows DSA and LSA are by surprise, `order=sc-cam` takes one input of every bucket "
             "first.");
    for (size_t s = 0; s < NSS_SUBJECTS; s++) {
        char buffer[64];
        pxi_doc_heading(doc, 3, "%s", nss_subjects[s].title);
        pxi_doc_table(doc, "fault detection rate (%)", rate_columns, NSS_RATES, 1);
        for (size_t m = 0; m < NSS_METHODS; m++) {
            char words[64];
            double paper[NSS_RATES];
            snprintf(words, sizeof words, "select %s", nss_methods[m].id);
            for (size_t r = 0; r < NSS_RATES; r++)
                paper[r] = nss_table7[s][r][m];
            pxi_doc_row(doc, report_missing(study, s, words, buffer), "%s", nss_methods[m].title);
            report_rates(study, doc, s, words, paper);
        }
        report_extras(study, doc, s);
    }
}

/* --- Tables 8, 9 ------------------------------------------------------------------------------ */

/* Methods by subjects. */
static void report_by_method(const px_study *study, study_document *doc, const char *caption,
                             const char *name, const double (*paper)[NSS_METHODS])
{
    const char *columns[NSS_SUBJECTS];
    for (size_t s = 0; s < NSS_SUBJECTS; s++)
        columns[s] = nss_subjects[s].title;
    pxi_doc_table(doc, caption, columns, NSS_SUBJECTS, 1);
    for (size_t m = 0; m < NSS_METHODS; m++) {
        char words[64];
        snprintf(words, sizeof words, "select %s", nss_methods[m].id);
        pxi_doc_row(doc, NULL, "%s", nss_methods[m].title);
        for (size_t s = 0; s < NSS_SUBJECTS; s++)
            pxi_doc_figure(
                doc, report_figure(study, s, words, name, 100.0, paper ? paper[s][m] : UNKNOWN));
    }
}

static void report_table8_9(const px_study *study, study_document *doc)
{
    pxi_doc_heading(doc, 2, "Fault types found: RAUC (Table 8)");
    pxi_doc_paragraph(doc, "A fault's type is the pair of true and predicted class. The area below "
                           "the curve of types found in the first 20%%, over that of an order that "
                           "finds a new type with every input.");
    report_by_method(study, doc, "RAUC of fault types at 20% (%)", "rauc", nss_table8);
    pxi_doc_heading(doc, 2, "APFD (Table 9)");
    pxi_doc_paragraph(
        doc, "By the paper's own fault rates (Table 7) APFD cannot exceed 89.4, 85.6 and 85.6%% on "
             "MNIST L-1, CIFAR-10 R-20 and SVHN L-5, where it prints 99.18, 99.87 and 96.24: Table "
             "9 does not follow from its formula. Ours is the formula with one fault per wrong "
             "answer; the second table maps it to 0-100%% of what is possible; the third counts "
             "fault types.");
    report_by_method(study, doc, "APFD (%)", "apfd", nss_table9);
    report_by_method(study, doc, "APFD, normalised (%)", "apfd_normalised", NULL);
    report_by_method(study, doc, "APFD of fault types (%)", "apfd_types", NULL);
}

/* --- Table 6, stability ----------------------------------------------------------------------- */

static void report_table6(const px_study *study, study_document *doc)
{
    static const char *const columns[] = {"Pearson", "Spearman", "least kappa of 5 seeds",
                                          "neurons", "sensitive"};
    static const char *const tenths[] = {"1", "2", "3", "4", "5", "6", "7", "8", "9", "10"};
    pxi_doc_heading(doc, 2, "Score and accuracy (Table 6), stability of the identifier");
    pxi_doc_paragraph(
        doc, "Candidates by rising TNSScore in ten equal parts: the correlation of the part's "
             "number with the accuracy in it. Kappa is Cohen's, of the sets of sensitive neurons "
             "that stage 1 finds with five seeds; the paper says that all are above 0.95.");
    pxi_doc_table(doc, "correlation of tenth and accuracy", columns, PX_LEN(columns), 3);
    for (size_t s = 0; s < NSS_SUBJECTS; s++) {
        char buffer[64];
        pxi_doc_row(doc, report_missing(study, s, "select nss", buffer), "%s",
                    nss_subjects[s].title);
        pxi_doc_figure(doc, report_figure(study, s, "deciles", "pearson", 1.0, nss_table6[s][0]));
        pxi_doc_figure(doc, report_figure(study, s, "deciles", "spearman", 1.0, nss_table6[s][1]));
        pxi_doc_figure(doc, report_figure(study, s, "deciles", "kappa_least", 1.0, UNKNOWN));
        for (int i = 0; i < 2; i++) {
            const study_figure f =
                report_figure(study, s, "deciles", i ? "sensitive" : "units", 1.0, UNKNOWN);
            if (isnan(f.mean))
                pxi_doc_words(doc, "–");
            else
                pxi_doc_words(doc, "%.0f", f.mean);
        }
    }
    pxi_doc_table(doc, "accuracy (%) per tenth, from the lowest TNSScore to the highest", tenths,
                  PX_LEN(tenths), 1);
    for (size_t s = 0; s < NSS_SUBJECTS; s++) {
        if (!report_has(study, s, "select nss"))
            continue;
        pxi_doc_row(doc, NULL, "%s", nss_subjects[s].title);
        for (int d = 1; d <= NSS_DECILES; d++) {
            char name[16];
            snprintf(name, sizeof name, "decile%d", d);
            pxi_doc_figure(doc, report_figure(study, s, "deciles", name, 100.0, UNKNOWN));
        }
    }
}

/* --- Table 11 --------------------------------------------------------------------------------- */

static void report_table11(const px_study *study, study_document *doc)
{
    static const char *const columns[] = {"identifier (s)", "scores of all candidates (s)",
                                          "paper, all (s)"};
    const char *titles[NSS_SUBJECTS];
    pxi_doc_heading(doc, 2, "Time (Table 11)");
    pxi_doc_paragraph(doc, "The paper: four RTX 2080 Ti and two 20-core processors; its parts are "
                           "not the same as ours, and the last column is what it prints for the "
                           "full result. Ours: the cores of this machine, other work beside it.");
    pxi_doc_table(doc, "NSS", columns, PX_LEN(columns), 2);
    for (size_t s = 0; s < NSS_SUBJECTS; s++) {
        char buffer[64];
        titles[s] = nss_subjects[s].title;
        pxi_doc_row(doc, report_missing(study, s, "select nss", buffer), "%s", titles[s]);
        pxi_doc_figure(doc,
                       report_figure(study, s, "select nss", "learn_s", 1.0, nss_table11[s][1]));
        pxi_doc_figure(doc,
                       report_figure(study, s, "select nss", "pass_s", 1.0, nss_table11[s][0]));
        pxi_doc_words(doc, "%.2f", nss_table11[s][2]);
    }
    pxi_doc_table(doc, "seconds to rank all candidates, the pass over them and fitting included",
                  titles, NSS_SUBJECTS, 2);
    for (size_t m = 0; m < NSS_METHODS; m++) {
        char words[64];
        snprintf(words, sizeof words, "select %s", nss_methods[m].id);
        pxi_doc_row(doc, NULL, "%s", nss_methods[m].title);
        for (size_t s = 0; s < NSS_SUBJECTS; s++)
            pxi_doc_figure(doc, report_figure(study, s, words, "seconds", 1.0, UNKNOWN));
    }
}

/* --- Tables 12 to 15 -------------------------------------------------------------------------- */

static void report_ablations(const px_study *study, study_document *doc)
{
    static const char *const shares[] = {"1%", "5%", "10%", "20%", "100%"};
    char buffer[64];
    pxi_doc_heading(doc, 2, "Share of sensitive neurons (Table 12)");
    pxi_doc_table(doc, "fault detection rate (%) at 20%", shares, NSS_SHARES, 1);
    for (size_t s = 0; s < NSS_SUBJECTS; s++) {
        pxi_doc_row(doc, report_missing(study, s, "k=1", buffer), "%s", nss_subjects[s].title);
        for (size_t i = 0; i < NSS_SHARES; i++)
            pxi_doc_figure(doc, report_figure(study, s, nss_variant_of(s, NSS_K, i).words, "fdr20",
                                              100.0, nss_table12[s][i]));
    }
    pxi_doc_heading(doc, 2, "Layer (Table 13)");
    pxi_doc_paragraph(
        doc, "With 20%% of the neurons, as the paper's figures say. LeNets: first convolution, its "
             "pooling, second convolution, its pooling, logits; ResNet-20: the first two and the "
             "last two activations, logits.");
    pxi_doc_table(doc, "fault detection rate (%) at 20%", nss_layer_titles, NSS_LAYERS, 1);
    for (size_t s = 0; s < NSS_SUBJECTS; s++) {
        pxi_doc_row(doc, report_missing(study, s, nss_variant_of(s, NSS_LAYER, 0).words, buffer),
                    "%s", nss_subjects[s].title);
        for (size_t i = 0; i < NSS_LAYERS; i++)
            pxi_doc_figure(doc, report_figure(study, s, nss_variant_of(s, NSS_LAYER, i).words,
                                              "fdr20", 100.0, nss_table13[s][i]));
    }
    for (int t = 14; t <= 15; t++) {
        const nss_variant_kind kind = t == 14 ? NSS_IDENTIFY : NSS_SCORE;
        pxi_doc_heading(doc, 2,
                        t == 14 ? "One mutation in the identifier (Table 14)"
                                : "One mutation in the scoring step (Table 15)");
        pxi_doc_paragraph(
            doc, t == 14 ? "Stage 1 compares test inputs with fresh mutants of one kind; the "
                           "candidates are mutants of all kinds."
                         : "The candidates themselves are mutants of one kind, which stage 2 "
                           "compares with the test inputs; so the share of wrong answers among "
                           "them differs by row.");
        for (size_t n = 0; n < 2; n++) {
            const size_t s = n == 0 ? NSS_CIFAR_R20 : NSS_CIFAR_V16;
            const double(*paper)[NSS_RATES] = t == 14 ? nss_table14[n] : nss_table15[n];
            pxi_doc_heading(doc, 3, "%s", nss_subjects[s].title);
            pxi_doc_table(doc, "fault detection rate (%)", rate_columns, NSS_RATES, 1);
            for (size_t i = 0; i < NSS_MUTATIONS; i++) {
                const nss_variant v = nss_variant_of(s, kind, i);
                pxi_doc_row(doc, report_missing(study, s, v.words, buffer), "%s",
                            nss_mutation_ids[i]);
                report_rates(study, doc, s, v.words, paper[i]);
            }
            pxi_doc_row(doc, report_missing(study, s, "select nss", buffer), "all");
            report_rates(study, doc, s, "select nss", paper[NSS_MUTATIONS]);
        }
    }
}

/* --- Table 10 --------------------------------------------------------------------------------- */

static void report_table10(const px_study *study, study_document *doc)
{
    pxi_doc_heading(doc, 2, "Accuracy gain after repair (Table 10)");
    pxi_doc_paragraph(
        doc, "Retrained on the training set and the selected candidates, 40 epochs, SGD, lr 0.001, "
             "a tenth of it from epochs 20 and 30, batch 128. The paper does not say on what the "
             "gain is measured: ours is given on the untouched test set and on a second set of "
             "mutants, with momentum 0.9 and the paper's 0.99. Only NSS, Gini and RS are run.");
    for (size_t s = 0; s < NSS_SUBJECTS; s++) {
        char buffer[64], probe[CELL_KEY];
        double value;
        nss_prefix(s, probe, "repair nss rate=5 momentum=0.9");
        const bool run = pxi_study_values(study, probe, "test_gain", &value, 1) > 0;
        const char *note = run ? NULL : pxi_study_missing(study, nss_subjects[s].dataset, buffer);
        pxi_doc_heading(doc, 3, "%s", nss_subjects[s].title);
        pxi_doc_table(doc, "accuracy gain (points)", rate_columns, NSS_RATES, 2);
        for (size_t m = 0; m < NSS_METHODS; m++) {
            const char *id = nss_methods[m].id;
            bool ours = false;
            for (size_t i = 0; i < NSS_REPAIRERS; i++)
                ours = ours || strcmp(nss_repairers[i], id) == 0;
            for (size_t k = 0; k < (ours && run ? 2 * NSS_MOMENTA : 1); k++) {
                const char *on = k % 2 ? "mutants" : "test";
                if (ours && run)
                    pxi_doc_row(doc, note, "%s, on %s, momentum %s", nss_methods[m].title,
                                k % 2 ? "new mutants" : "the test set", nss_momenta[k / 2]);
                else
                    pxi_doc_row(doc, note ? note : "not run", "%s", nss_methods[m].title);
                for (size_t r = 0; r < NSS_RATES; r++) {
                    char words[80], name[24];
                    snprintf(words, sizeof words, "repair %s rate=%d momentum=%s", id, nss_rates[r],
                             nss_momenta[k / 2]);
                    snprintf(name, sizeof name, "%s_gain", on);
                    pxi_doc_figure(
                        doc, report_figure(study, s, words, name, 100.0, nss_table10[s][r][m]));
                }
            }
        }
    }
}

void nss_report(const px_study *study, study_document *doc)
{
    pxi_doc_heading(doc, 1, "NSS: neuron sensitivity guided test case selection");
    pxi_doc_paragraph(doc, "D. Huang, Q. Bu, Y. Fu, Y. Qing, B. Xiao and H. Cui, *Neuron "
                           "Sensitivity Guided Test Case Selection*. The paper's tables, and what "
                           "plexor finds with the paper's protocol.");
    pxi_doc_paragraph(
        doc,
        "Run r has candidates and selectors of seed r, and its own network unless the command "
        "says --networks. Ranges and traces (KMNC, NPC, DSA, LSA and kin) are learned from "
        "%d training inputs; PRIMA's ranker from %d of the 20%% of the training set that the "
        "network was not trained on, unmutated. No setting was chosen by the labels of the "
        "candidates.",
        NSS_PROFILED, NSS_LABELLED);
    pxi_doc_heading(doc, 2, "Claims");
    nss_claims(study, doc);
    report_subjects(study, doc);
    report_table7(study, doc);
    report_table8_9(study, doc);
    report_table6(study, doc);
    report_table11(study, doc);
    report_ablations(study, doc);
    report_table10(study, doc);
}
