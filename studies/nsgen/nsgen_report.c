/* studies/nsgen/nsgen_report.c - the NSGen paper's tables, ours beside them */
/* SPDX-License-Identifier: Apache-2.0 */
#include "nsgen/nsgen_paper.h"
#include "nsgen/nsgen_study.h"

#include "base/memory.h"

#include <math.h>
#include <stdio.h>

static const double UNKNOWN = (double)NAN;

/* --- words ----------------------------------------------------------------------------------- */

static void report_steps(const px_study *study, study_document *doc)
{
    static const char *const columns[] = {"same unit (%)", "same path (%)", "gap (%)",
                                          "gap of many steps (%)"};
    static const char *const names[] = {"same_unit", "same_path", "gap", "gap_full"};
    char caption[200];
    snprintf(caption, sizeof caption,
             "paths of %d steps against 50, doubled where contributions miss the change of the "
             "score by over 5%% (%d training pictures)",
             NG_STEPS, NG_COMPARED);
    pxi_doc_table(doc, caption, columns, PX_LEN(columns), 1);
    for (size_t s = 0; s < FZ_SUBJECTS; s++) {
        char prefix[CELL_KEY];
        snprintf(prefix, sizeof prefix, "%s %s steps", fz_subjects[s].dataset, fz_subjects[s].arch);
        if (pxi_study_figure(study, prefix, names[0], 1.0, UNKNOWN, 0).n == 0)
            continue;
        pxi_doc_row(doc, NULL, "%s", fz_subjects[s].title);
        for (size_t c = 0; c < PX_LEN(columns); c++)
            pxi_doc_figure(doc, pxi_study_figure(study, prefix, names[c], 100.0, UNKNOWN, 0));
    }
}

static study_figure word_figure(const study_cell *cell, const char *name)
{
    return (study_figure){.paper = UNKNOWN,
                          .mean = cell ? pxi_cell_number(cell, name) : UNKNOWN,
                          .sd = UNKNOWN,
                          .n = cell != NULL};
}

static const study_cell *word_cell(const px_study *study, size_t subject)
{
    char key[CELL_KEY];
    snprintf(key, sizeof key, "%s %s words run=1 n=%d", fz_subjects[subject].dataset,
             fz_subjects[subject].arch, NG_PICTURES);
    return pxi_cells_find(study->cells, key);
}

void ng_words_report(const px_study *study, study_document *doc)
{
    static const char *const columns[] = {"units",     "phrases", "precision", "recall", "top-1",
                                          "by chance", "named",   "by chance", "verdict"};
    static const char *const names[] = {"units", "distinct",    "precision", "recall",
                                        "top1",  "top1_chance", "named",     "named_chance"};
    enum { WORD_COUNTS = 2 }; /* the first ones are numbers of things */
    pxi_doc_heading(doc, 2, "Words");
    pxi_doc_paragraph(
        doc,
        "No annotated units, no ImageNet encoder and no CLIP are at hand; words are those of "
        "plexor's default describer (docs/describe.md): a decoder trained on virtual units, whose "
        "captions a program writes, on the first %d training pictures. It names the nearest of a "
        "closed list (colours, edges, textures, positions, classes), whatever a unit detects. "
        "Precision and recall are of attributes in captions of virtual units held out; top-1 is "
        "the "
        "share of dissected units whose phrase has the measured label, named that of "
        "class-selective "
        "units whose phrase names the class, each beside what permuted phrases have. Texts are "
        "compared by plexor's own encoder (PPMI and SVD over these phrases and a table of "
        "glosses), "
        "a bag of words. So similarities and tau are not comparable with the paper's; faults of "
        "guides in one run are.",
        NG_PICTURES);
    pxi_doc_table(doc, "banks of words, gates of C.12", columns, PX_LEN(columns), 3);
    for (size_t s = 0; s < FZ_SUBJECTS; s++) {
        const study_cell *cell = word_cell(study, s);
        char buffer[96];
        const char *missing = cell ? NULL : fz_missing(study, s, buffer);
        if (!cell && s >= FZ_NETWORKS)
            continue;
        pxi_doc_row(doc, cell ? NULL : missing ? missing : "not run", "%s", fz_subjects[s].title);
        for (size_t c = 0; c < PX_LEN(names); c++)
            if (c < WORD_COUNTS && cell)
                pxi_doc_words(doc, "%.0f", pxi_cell_number(cell, names[c]));
            else
                pxi_doc_figure(doc, word_figure(cell, names[c]));
        if (cell)
            pxi_doc_words(doc, "%s",
                          pxi_cell_number(cell, "validated") == 1.0  ? "validated"
                          : pxi_cell_number(cell, "measured") == 1.0 ? "measured labels"
                                                                     : "not validated");
    }
    report_steps(study, doc);
}

/* --- campaigns ------------------------------------------------------------------------------- */

static bool any_run(const px_study *study, size_t subject, fz_measure measure, const size_t *guides,
                    size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (fz_figure(study, subject, guides[i], measure, "faults", UNKNOWN).n > 0)
            return true;
    return false;
}

/* How the guide and its control judged the same mutants. */
static void report_control(const px_study *study, study_document *doc)
{
    static const size_t guides[] = {FZ_NSGEN, FZ_LABEL_ONLY, FZ_DESCR_ONLY, FZ_NO_CNS, FZ_NO_NLDG};
    static const char *const columns[] = {"tau", "mean similarity", "kept of judged (%)",
                                          "also kept by the class alone (%)", "tokens dropped"};
    static const char *const names[] = {"tau", "similarity", "kept_percent", "as_label_percent",
                                        "tokens_dropped"};
    for (size_t s = 0; s < FZ_SUBJECTS; s++) {
        const fz_measure m = fz_measure_of(study, s);
        if (!any_run(study, s, m, guides, PX_LEN(guides)))
            continue;
        char caption[160];
        snprintf(caption, sizeof caption, "%s: ours, how mutants were judged",
                 fz_subjects[s].title);
        pxi_doc_table(doc, caption, columns, PX_LEN(columns), 3);
        for (size_t i = 0; i < PX_LEN(guides); i++) {
            if (!any_run(study, s, m, &guides[i], 1))
                continue;
            pxi_doc_row(doc, NULL, "%s", fz_guides[guides[i]].title);
            for (size_t c = 0; c < PX_LEN(columns); c++)
                pxi_doc_figure(doc, fz_figure(study, s, guides[i], m, names[c], UNKNOWN));
        }
    }
}

static bool paper_has(size_t subject, const size_t *guides, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!isnan(ng_paper_value(subject, guides[i], FZ_BY_PICKS, "faults")))
            return true;
    return false;
}

/* Rows `first` to `last`, NSGen before them; of networks that the paper has, or that were run. */
static void report_variants(const px_study *study, study_document *doc, size_t first, size_t last,
                            const char *what)
{
    size_t guides[FZ_ALL_GUIDES], count = 0;
    guides[count++] = FZ_NSGEN;
    for (size_t g = first; g <= last; g++)
        guides[count++] = g;
    for (size_t s = 0; s < FZ_SUBJECTS; s++)
        if (paper_has(s, guides + 1, count - 1) ||
            any_run(study, s, fz_measure_of(study, s), guides + 1, count - 1))
            fz_report_guides(study, doc, s, fz_measure_of(study, s), guides, count, what);
}

static void report_tables(const px_study *study, study_document *doc)
{
    size_t guides[FZ_LABEL_ONLY + 1];
    for (size_t g = 0; g < PX_LEN(guides); g++)
        guides[g] = g;
    pxi_doc_heading(doc, 2, "Faults by guide (Tables 3 and 4)");
    pxi_doc_paragraph(
        doc,
        "The paper: 10,000 picks or six hours, what ends first. Cells of fewer are marked as "
        "reduced: their totals are not to be compared with the paper's, and their shares with "
        "care, since a queue fills with faults as it grows. `The class alone` is NSGen with the "
        "predicted class as the whole text (label-only): what it keeps are the mutants that are "
        "classified otherwise than what they were made from.");
    for (size_t s = 0; s < FZ_SUBJECTS; s++)
        fz_report_guides(study, doc, s, fz_measure_of(study, s), guides, PX_LEN(guides),
                         "Tables 3 and 4");
    report_control(study, doc);
    pxi_doc_heading(doc, 2, "Ablation (Table 11)");
    pxi_doc_paragraph(
        doc, "w/o CNS: the words of all units of the layers, critical or not, so that the class is "
             "all that differs between two texts; w/o NLDG: no words, the critical units that two "
             "paths share (Jaccard). `The words alone` is plexor's: no class in the text. Each has "
             "a tau of its own, from the same pictures.");
    report_variants(study, doc, FZ_LABEL_ONLY, FZ_NO_NLDG, "Table 11");
    pxi_doc_heading(doc, 2, "Equal outputs (Table 12)");
    pxi_doc_paragraph(doc,
                      "%d outputs of every guide; coverage is forgotten after %d picks in a row "
                      "without an output (the paper: when it is saturated). A campaign ends at %d "
                      "picks per output.",
                      FZ_OUTPUT_COUNT, FZ_RESET, FZ_OUTPUT_PICKS);
    for (size_t s = 0; s < FZ_SUBJECTS; s++)
        fz_report_guides(study, doc, s, FZ_BY_OUTPUTS, guides, PX_LEN(guides), "Table 12");
    pxi_doc_heading(doc, 2, "Text encoders (Table 5)");
    pxi_doc_paragraph(doc, "NSGen is here with plexor's default encoder, PPMI with SIF; in the "
                           "paper with CLIP. Encoders that are files are the user's: --model "
                           "encoder/glove=glove:FILE and the like, as `plexor embed` takes them.");
    report_variants(study, doc, FZ_ENCODER_FIRST, FZ_ENCODER_LAST, "Table 5");
    pxi_doc_heading(doc, 2, "Layers and classes (Figure 6, Table 8)");
    pxi_doc_paragraph(doc,
                      "The first layers of those that paths have, which are the last "
                      "convolutions of every spatial size; NSGen has all of them. Figure 6 has "
                      "no numbers in the text.");
    report_variants(study, doc, FZ_LAYERS_FIRST, FZ_LAYERS_LAST, "Figure 6");
    report_variants(study, doc, FZ_TOP_FIRST, FZ_TOP_LAST, "Table 8");
}

void ng_report(const px_study *study, study_document *doc)
{
    pxi_doc_heading(doc, 1, "Neurons in words, and fuzzing guided by decision paths");
    pxi_doc_paragraph(
        doc, "L. Huang, W. Sun, M. Yan, Z. Liu, Y. Lei and D. Lo, *Neuron Semantic-Guided Test "
             "Generation for Deep Neural Networks Fuzzing* (NSGen). The paper's tables, and what "
             "plexor finds with the paper's protocol.");
    pxi_doc_paragraph(
        doc,
        "Variants where the paper leaves a choice. Seeds, mutants, criteria: as in the study "
        "`fuzz`, whose cells are these. Paths: the last convolution of every spatial size, its "
        "unit "
        "with the largest mean conductance to the true class's score; trapezoids over %d steps "
        "from "
        "a mean-coloured picture (the paper: 50; what that changes is measured below). Texts: `a "
        "photo of a CLASS with "
        "PHRASES`, layers in order. A mutant is kept where its text is less similar to that of the "
        "queue entry it was made from than tau, the lower quartile over %d training pictures with "
        "all 95 mutations (the paper: 1%% of each class, which are 500).",
        NG_STEPS, NG_IMAGES);
    pxi_doc_heading(doc, 2, "Claims");
    ng_claims(study, doc);
    pxi_doc_heading(doc, 2, "Slips of the paper");
    pxi_doc_paragraph(
        doc, "Printed as they are, beside those that the study `fuzz` names: BERT on ResNet50 and "
             "CIFAR-10 has more faults (3,490) than outputs (3,449), probably transposed digits. "
             "The published code compares with the true label's score, takes differences between "
             "quadrature points without their weights, and loses the order of layers in a set.");
    fz_report_networks(study, doc);
    ng_words_report(study, doc);
    report_tables(study, doc);
#define NG_PART_REPORT(name) ng_##name##_report(study, doc);
    NG_PARTS(NG_PART_REPORT)
#undef NG_PART_REPORT
    pxi_doc_heading(doc, 2, "People's ratings (section 7.7)");
    pxi_doc_paragraph(doc,
                      "The paper: people rate 100 descriptions with 0.8561 on average. "
                      "`plexor describe --rate 100 -o FOLDER` writes such a sheet, blind, with "
                      "as many phrases of other units; nobody has filled one in, and no rating "
                      "is invented.");
}
