/* studies/revisit/revisit_report.c - the document: what was run, verdicts, the paper's tables
 * beside ours
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "revisit/revisit_report.h"

#include "base/memory.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const double UNKNOWN = (double)NAN;
enum { REPORT_RUNS = 1000 };

/* --- cells ------------------------------------------------------------------------------------ */

static void prefix_of(size_t subject, char key[CELL_KEY], const char *format, va_list words)
{
    char rest[CELL_KEY / 2];
    vsnprintf(rest, sizeof rest, format, words);
    rv_prefix(subject, key, "%s", rest);
}

study_figure rv_figure(const px_study *study, size_t subject, const char *name, double scale,
                       double paper, const char *format, ...)
{
    char key[CELL_KEY];
    va_list words;
    va_start(words, format);
    prefix_of(subject, key, format, words);
    va_end(words);
    return pxi_study_figure(study, key, name, scale, paper, RV_INPUTS);
}

void rv_values(const px_study *study, size_t subject, const char *name, rv_sample *out,
               const char *format, ...)
{
    char key[CELL_KEY];
    double values[REPORT_RUNS];
    va_list words;
    va_start(words, format);
    prefix_of(subject, key, format, words);
    va_end(words);
    const size_t count = pxi_study_values(study, key, name, values, REPORT_RUNS);
    for (size_t i = 0; i < count; i++)
        rv_sample_add(out, values[i]);
}

const rv_row *rv_row_of(size_t subject)
{
    for (size_t r = 0; r < RV_ROWS; r++)
        if (strcmp(rv_rows[r].dataset, rv_subjects[subject].dataset) == 0 &&
            strcmp(rv_rows[r].arch, rv_subjects[subject].arch) == 0)
            return &rv_rows[r];
    return NULL;
}

const rv_defended *rv_defended_of(size_t subject)
{
    for (size_t i = 0; i < RV_DEFENDED; i++)
        if (strcmp(rv_defences[i].dataset, rv_subjects[subject].dataset) == 0 &&
            strcmp(rv_defences[i].arch, rv_subjects[subject].arch) == 0)
            return &rv_defences[i];
    return NULL;
}

void rv_words(study_document *doc, double value, int digits)
{
    if (isnan(value))
        pxi_doc_words(doc, "–");
    else
        pxi_doc_words(doc, "%.*f", digits, value);
}

void rv_report_left_out(const px_study *study, study_document *doc, rv_part part, size_t jobs,
                        const bool ran[RV_SUBJECTS])
{
    px_text list = {0};
    for (size_t s = 0; s < RV_SUBJECTS; s++) {
        char note[STUDY_NOTE];
        if (!ran[s])
            px_text_format(&list, "%s%s (%s)", list.length ? "; " : "", rv_subjects[s].title,
                           rv_cost_note(study, s, part, 0, jobs, note) + strlen("not run: "));
    }
    if (px_text_failed(&list))
        pxi_document_fail(doc);
    else if (list.length)
        pxi_doc_paragraph(doc, "Left out: %s.", px_text_get(&list));
    px_text_done(&list);
}

static const char *defence_id(size_t defence)
{
    return defence == RV_BENIGN ? "none" : rv_set_ids[defence];
}

/* --- Table I ---------------------------------------------------------------------------------- */

static void report_networks(const px_study *study, study_document *doc)
{
    static const char *const columns[] = {"accuracy (%)", "layers", "parameters"};
    pxi_doc_heading(doc, 2, "Networks (Table I)");
    pxi_doc_paragraph(
        doc, "Trained by plexor with its recipe for the architecture on the whole training set, "
             "those aside that were put into the folder; "
             "LeNets are those without padding, which have the paper's numbers of parameters. "
             "Layers and parameters are as the paper prints them; those of ResNet-32 and ResNet-56 "
             "on EuroSAT look exchanged there. Fashion-MNIST is not in the paper.");
    if (pxi_study_is_jpeg(study, "cifar-10"))
        pxi_doc_paragraph(doc, "CIFAR-10 came as JPEGs (JPEG q75 re-encoding in the copy that is "
                               "in use), for training and for tests.");
    pxi_doc_table(doc, "networks", columns, PX_LEN(columns), 2);
    for (size_t s = 0; s < RV_SUBJECTS; s++) {
        const rv_row *row = rv_row_of(s);
        char prefix[CELL_KEY], buffer[STUDY_NOTE];
        rv_prefix(s, prefix, "network");
        const study_figure f =
            pxi_study_figure(study, prefix, "accuracy", 100.0, row ? row->accuracy : UNKNOWN, 0);
        const bool given =
            f.n > 0 && isnan(pxi_study_figure(study, prefix, "seed", 1.0, UNKNOWN, 0).mean);
        pxi_doc_row(doc,
                    given     ? "put into the folder"
                    : f.n > 0 ? NULL
                              : rv_cost_note(study, s, RV_NETWORK, 0, 1, buffer),
                    "%s", rv_subjects[s].title);
        pxi_doc_figure(doc, f);
        if (row) {
            pxi_doc_words(doc, "%ld", row->layers);
            pxi_doc_words(doc, "%ld", row->parameters);
        }
    }
}

/* --- RQ4 -------------------------------------------------------------------------------------- */

static study_figure defended_figure(const px_study *study, size_t s, size_t defence, size_t set)
{
    const rv_defended *paper = rv_defended_of(s);
    const double epochs =
        rv_figure(study, s, "epochs", 1.0, UNKNOWN, "rq4 %s", defence_id(defence)).mean;
    char name[CELL_NAME];
    snprintf(name, sizeof name, "acc_%s", rv_set_ids[set]);
    study_figure f =
        rv_figure(study, s, name, 100.0, paper ? paper->accuracy[defence][set] : UNKNOWN, "rq4 %s",
                  defence_id(defence));
    f.reduced = f.reduced || ((defence == RV_FGSM || defence == RV_PGD) && epochs < RV_AT_EPOCHS);
    return f;
}

static void report_defended(const px_study *study, study_document *doc, size_t s)
{
    char note[STUDY_NOTE] = "";
    pxi_doc_heading(doc, 3, "%s", rv_subjects[s].title);
    pxi_doc_table(doc, "accuracy (%) by what the network was retrained with, on", rv_set_titles,
                  RV_SETS, 2);
    for (size_t d = 0; d < RV_SETS; d++) {
        const double added =
            rv_figure(study, s, "added", 1.0, UNKNOWN, "rq4 %s", defence_id(d)).mean;
        const double epochs =
            rv_figure(study, s, "epochs", 1.0, UNKNOWN, "rq4 %s", defence_id(d)).mean;
        const bool run = !isnan(defended_figure(study, s, d, RV_BENIGN).mean);
        if (run && d != RV_BENIGN && d < RV_FGSM)
            snprintf(note, sizeof note, "%.0f added, %.0f epochs", added, epochs);
        else if (run && d != RV_BENIGN)
            snprintf(note, sizeof note, "%.0f epochs", epochs);
        else if (!run)
            rv_cost_note(study, s, RV_RQ4, d, 1, note);
        else
            note[0] = '\0';
        pxi_doc_row(doc, note[0] ? note : NULL, "%s",
                    d == RV_BENIGN ? "nothing" : rv_set_titles[d]);
        for (size_t set = 0; set < RV_SETS; set++)
            pxi_doc_figure(doc, defended_figure(study, s, d, set));
    }
}

static void report_defences(const px_study *study, study_document *doc)
{
    pxi_doc_heading(doc, 2, "RQ4: does retraining repair?");
    pxi_doc_paragraph(
        doc,
        "M_0 retrained with each generator and judged on test cases of all, made of the test "
        "inputs. DH-D, DH-N, DH: the mutants of D_0 that M_0 gets wrong and that improve coverage "
        "pairwise, as in the package, are appended to it; Adam, "
        "rate %g, batches of %d, %d epochs. "
        "FGSM, PGD: adversarial training, every input of every batch attacked on the network as it "
        "is then (PGD without a random start, as it is judged); Adam, rate %g, batches of %d, %d "
        "epochs unless --each says otherwise (the paper: rate 0.01, %d epochs), the strength "
        "growing in %d stages of equal length: all of it at once makes such networks give one "
        "answer to nearly everything. A loss that is not a number goes "
        "back to the epoch's start with half the rate, three times at most. FGSM and PGD test "
        "cases are made anew on each network with its own gradients; those of DH are the same for "
        "all. The paper's figures are the package's.",
        RV_RATE, RV_BATCH, RV_DH_EPOCHS, RV_AT_RATE, RV_AT_BATCH, RV_AT_EPOCHS_HERE, RV_AT_EPOCHS,
        RV_AT_STAGES);
    pxi_doc_paragraph(
        doc,
        "The paper's columns DH-D, DH-N and DH are not comparable with ours: the package makes "
        "these sets anew for every defended network, as it does for RQ3, of mutants of training "
        "inputs under test labels. Where half of the inputs are put in, nine of ten of those are "
        "wrong whatever the network answers, and no retraining can mend that: its accuracies of 50 "
        "to "
        "63%% of LeNet-5 say little about the network. Published H5 and H6 are "
        "tests of these columns.");
    for (size_t s = 0; s < RV_SUBJECTS; s++)
        if (rv_defended_of(s) || !isnan(defended_figure(study, s, RV_BENIGN, RV_BENIGN).mean))
            report_defended(study, doc, s);
}

/* --- all of it -------------------------------------------------------------------------------- */

static void report_differences(study_document *doc)
{
    pxi_doc_heading(doc, 2, "Where this differs from the paper");
    pxi_doc_paragraph(
        doc,
        "Data: D_0 is the first 50,000 training inputs, or the first --limit N of them, which also "
        "bounds the test inputs; such figures are marked with *. Ten parts of a tenth each. "
        "Networks: MNIST's and Fashion-MNIST's LeNets, CIFAR-10's ResNet-20 where there is time; "
        "the paper's other rows say what they need. Inputs are in [0, 1] and standardised within "
        "the network's preprocessing, the paper's in [-0.5, 0.5]; strengths are the same numbers. "
        "Coverage-improving: by set is Algorithm 1 with D as it has grown so far, NC of raw values "
        "above 0.75, a unit of a feature map being a neuron; pairwise compares a mutant "
        "with its original as the package does, which scales values first; ours are raw. The "
        "matched arms draw as many of the larger arm's mutants as the "
        "smaller one has, round by round. Metrics are those of `plexor assess`, with RIC at JPEG "
        "quality 90 (the package: 1), ALD divided by the norm of the input, and PSD as its code "
        "has it. "
        "Adversarial training: %d epochs in place of %d, Adam at %g in place of 0.01, and strength "
        "that grows in %d stages. Every "
        "p-value of Table II is from one network (11 and 11 states); ours are given for each.",
        RV_AT_EPOCHS_HERE, RV_AT_EPOCHS, RV_AT_RATE, RV_AT_STAGES);
}

void rv_report(const px_study *study, study_document *doc)
{
    pxi_doc_heading(doc, 1, "Neuron coverage and the quality of networks, revisited");
    pxi_doc_paragraph(
        doc, "Z. Yang, J. Shi, M. H. Asyrofi and D. Lo, *Revisiting Neuron Coverage Metrics and "
             "Quality of Deep Neural Networks*, SANER 2022, itself a replication of Yan et al., "
             "ESEC/FSE 2020. The paper's tables, those of its package, and what plexor finds with "
             "the paper's protocol.");
    rv_report_verdicts(study, doc);
    rv_report_findings(study, doc);
    report_differences(doc);
    report_networks(study, doc);
    rv_report_trends(study, doc);
    pxi_doc_heading(doc, 2, "RQ2: do coverage-improving examples teach more? (Table II)");
    pxi_doc_paragraph(
        doc,
        "Algorithm 1: in each of ten rounds the mutants of one part of D_0 that the network of the "
        "round before gets wrong, and that improve coverage or do not, are added, and that network "
        "is retrained (Adam, rate %g, batches of %d, %d epochs). M_0 to M_10 of one arm against "
        "those of the other, per metric; M_0 is common to both, which ties.",
        RV_RATE, RV_BATCH, RV_EPOCHS);
    rv_report_table2(study, doc);
    rv_report_arms(study, doc);
    rv_report_rates(study, doc);
    report_defences(study, doc);
}
