/* studies/fuzz/fuzz_tables.c - the NSGen paper's Tables 1, 3 and 4, ours beside them */
/* SPDX-License-Identifier: Apache-2.0 */
#include "nsgen/nsgen_paper.h"

#include "base/memory.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double UNKNOWN = (double)NAN;

/* --- figures ---------------------------------------------------------------------------------- */

study_figure fz_figure_of(const px_study *study, size_t subject, size_t guide, fz_measure measure,
                          int64_t size, const char *name, double paper)
{
    char prefix[CELL_KEY];
    fz_prefix(study, subject, guide, measure, prefix);
    const int64_t full = measure == FZ_BY_PICKS     ? FZ_PICKS
                         : measure == FZ_BY_SECONDS ? FZ_SECONDS
                                                    : FZ_OUTPUT_COUNT;
    study_figure figure = pxi_study_figure_of(study, prefix, size, name, 1.0, paper, full);
    figure.reduced |= figure.n > 0 && fz_seeds(study) != FZ_SEEDS;
    return figure;
}

/* The longest campaigns of a guide that are shorter than `below`. */
static int64_t size_below(const px_study *study, size_t subject, size_t guide, fz_measure measure,
                          int64_t below)
{
    char prefix[CELL_KEY];
    fz_prefix(study, subject, guide, measure, prefix);
    return pxi_study_size(study, prefix, below);
}

study_figure fz_figure(const px_study *study, size_t subject, size_t guide, fz_measure measure,
                       const char *name, double paper)
{
    const int64_t most = size_below(study, subject, guide, measure, INT64_MAX);
    return fz_figure_of(study, subject, guide, measure, most, name, paper);
}

double fz_value(const px_study *study, size_t subject, size_t guide, fz_measure measure,
                const char *name)
{
    return fz_figure(study, subject, guide, measure, name, UNKNOWN).mean;
}

double fz_value_of(const px_study *study, size_t subject, size_t guide, fz_measure measure,
                   int64_t size, const char *name)
{
    return fz_figure_of(study, subject, guide, measure, size, name, UNKNOWN).mean;
}

static bool has_size(const px_study *study, size_t subject, size_t guide, fz_measure measure,
                     int64_t size)
{
    return size >= 0 && size_below(study, subject, guide, measure, size + 1) == size;
}

int64_t fz_common_size(const px_study *study, size_t subject, fz_measure measure,
                       const size_t *guides, size_t guide_count)
{
    int64_t best = -1;
    size_t most = 0;
    for (size_t i = 0; i < guide_count; i++) {
        int64_t size = INT64_MAX;
        while ((size = size_below(study, subject, guides[i], measure, size)) >= 0) {
            size_t have = 0;
            for (size_t k = 0; k < guide_count; k++)
                have += has_size(study, subject, guides[k], measure, size);
            if (have > most || (have == most && size > best)) {
                most = have;
                best = size;
            }
        }
    }
    return best;
}

bool fz_was_run(const px_study *study, size_t subject, fz_measure measure)
{
    for (size_t g = 0; g < FZ_ALL_GUIDES; g++)
        if (fz_figure(study, subject, g, measure, "faults", UNKNOWN).n > 0)
            return true;
    return false;
}

fz_measure fz_measure_of(const px_study *study, size_t subject)
{
    return fz_was_run(study, subject, FZ_BY_SECONDS) && !fz_was_run(study, subject, FZ_BY_PICKS)
               ? FZ_BY_SECONDS
               : FZ_BY_PICKS;
}

static bool was_run_any(const px_study *study, fz_measure measure)
{
    for (size_t s = 0; s < FZ_SUBJECTS; s++)
        if (fz_was_run(study, s, measure))
            return true;
    return false;
}

/* Why a row has no figures of ours; NULL: it has. */
static const char *row_note(const px_study *study, size_t subject, size_t guide, fz_measure measure,
                            char buffer[96])
{
    const fz_paths *paths = fz_guides[guide].paths;
    if (fz_figure(study, subject, guide, measure, "faults", UNKNOWN).n > 0)
        return NULL;
    if (size_below(study, subject, guide, measure, INT64_MAX) >= 0)
        return "its paths have fewer layers"; /* a cell without figures */
    if (paths && study->plan == &pxi_study_fuzz)
        return "not run in this study; it is in 'plexor study nsgen'";
    const char *missing = fz_missing(study, subject, buffer);
    if (!missing && paths && paths->file && !pxi_study_model(study, paths->file)) {
        snprintf(buffer, 96, "not run: needs --model %s=SPEC", paths->file);
        return buffer;
    }
    return missing ? missing : "not run";
}

/* What the cells of a subject were given, in words. */
static void budget_words(const px_study *study, size_t subject, fz_measure measure,
                         const size_t *guides, const int64_t *sizes, size_t guide_count,
                         px_text *out)
{
    double least = INFINITY, most = 0.0;
    const char *unit = fz_unit(measure);
    for (size_t i = 0; i < guide_count; i++) {
        const study_figure f =
            fz_figure_of(study, subject, guides[i], measure, sizes[i], unit, UNKNOWN);
        if (f.n > 0) {
            least = fmin(least, f.mean);
            most = fmax(most, f.mean);
        }
    }
    if (most == 0.0)
        return;
    if (floor(least + 0.5) == floor(most + 0.5))
        px_text_format(out, ", %.0f %s a cell", most, unit);
    else
        px_text_format(out, ", %.0f to %.0f %s a cell", least, most, unit);
}

/* --- tables ----------------------------------------------------------------------------------- */

typedef struct fz_layout { /* columns: what cells call a value, and people */
    const char *const *names, *const *titles;
    size_t count;
    int digits;
    bool paper; /* the paper's numbers beside, and its rows that were not run */
} fz_layout;

static void table_of(const px_study *study, study_document *doc, size_t subject, fz_measure measure,
                     const size_t *guides, const int64_t *sizes, size_t guide_count,
                     const char *what, const fz_layout *layout)
{
    px_text caption = {0};
    px_text_format(&caption, "%s%s: %s", fz_subjects[subject].title,
                   subject == FZ_RESNET ? " (ours: ResNet-20)" : "", what);
    budget_words(study, subject, measure, guides, sizes, guide_count, &caption);
    if (px_text_failed(&caption))
        pxi_document_fail(doc);
    pxi_doc_table(doc, px_text_get(&caption), layout->titles, layout->count, layout->digits);
    px_text_done(&caption);
    for (size_t i = 0; i < guide_count; i++) {
        const size_t g = guides[i];
        char buffer[96];
        const char *note = row_note(study, subject, g, measure, buffer);
        if (note && !layout->paper)
            continue;
        pxi_doc_row(doc, note, "%s", fz_guides[g].title);
        for (size_t c = 0; c < layout->count; c++) {
            const char *name = layout->names[c];
            const double paper =
                layout->paper ? ng_paper_value(subject, g, measure, name) : UNKNOWN;
            pxi_doc_figure(doc, fz_figure_of(study, subject, g, measure, sizes[i], name, paper));
        }
    }
}

void fz_report_guides(const px_study *study, study_document *doc, size_t subject,
                      fz_measure measure, const size_t *guides, size_t guide_count,
                      const char *what)
{
    static const char *const counts[] = {"faults", "outputs", "classes"};
    static const char *const shares[] = {"rft", "coverage", "oi"};
    static const char *const share_titles[] = {"RFT", "coverage", "OI"};
    static const char *const more[] = {"executions", "roots", "pairs", "sound", "unique"};
    static const char *const more_titles[] = {"executions", "roots with a fault",
                                              "(root, wrong class)", "faults of sound parents",
                                              "faults without a twin"};
    static const char *const times[] = {"fre", "coverage_seeds", "oi_outputs"};
    static const char *const time_titles[] = {"seconds per fault", "coverage of the seeds",
                                              "OI of all outputs"};
    const fz_layout layouts[] = {{counts, counts, PX_LEN(counts), 0, true},
                                 {shares, share_titles, PX_LEN(shares), 4, true},
                                 {more, more_titles, PX_LEN(more), 0, false},
                                 {times, time_titles, PX_LEN(times), 4, false}};
    const char *const parts[] = {", counts", ", shares", ": ours, what the faults are made of",
                                 ": ours, time and seeds"};
    /* Of the size that most have; a guide that has no such cell shows its longest. */
    const int64_t common = fz_common_size(study, subject, measure, guides, guide_count);
    int64_t sizes[FZ_ALL_GUIDES];
    for (size_t i = 0; i < guide_count; i++)
        sizes[i] = has_size(study, subject, guides[i], measure, common)
                       ? common
                       : size_below(study, subject, guides[i], measure, INT64_MAX);
    for (size_t i = 0; i < PX_LEN(layouts); i++) {
        char words[160];
        if (!layouts[i].paper && !fz_was_run(study, subject, measure))
            continue;
        snprintf(words, sizeof words, "%s%s", what, parts[i]);
        table_of(study, doc, subject, measure, guides, sizes, guide_count, words, &layouts[i]);
    }
}

static void report_subject(const px_study *study, study_document *doc, size_t subject,
                           fz_measure measure)
{
    size_t guides[FZ_GUIDES];
    for (size_t g = 0; g < FZ_GUIDES; g++)
        guides[g] = g;
    fz_report_guides(study, doc, subject, measure, guides, FZ_GUIDES, "Tables 3 and 4");
}

void fz_report_networks(const px_study *study, study_document *doc)
{
    static const char *const columns[] = {"accuracy (%)"};
    char key[CELL_KEY], buffer[96];
    pxi_doc_heading(doc, 2, "Networks (Table 1)");
    pxi_doc_paragraph(
        doc,
        "ours: accuracy of what was fuzzed, on the whole test set. In place of the paper's "
        "ResNet50 "
        "on CIFAR-10 there is a ResNet-20: its published weights are of the original pictures and "
        "lose ten points on pictures that went through JPEG, so they are first fine-tuned on the "
        "training set that is at hand (%d epochs, learning rate 0.01, cosine, crop and flip); "
        "without --model resnet20=PATH one is trained from nothing. Other networks are taken as "
        "given.%s",
        FZ_TUNE_EPOCHS,
        pxi_study_is_jpeg(study, "cifar-10") ? " CIFAR-10 is a copy in JPEG q75 re-encoding." : "");
    pxi_doc_table(doc, "networks", columns, PX_LEN(columns), 2);
    for (size_t s = 0; s < FZ_SUBJECTS; s++) {
        const study_network network = fz_network(s);
        pxi_network_key(&network, key);
        const study_cell *cell = pxi_cells_find(study->cells, key);
        const char *missing = cell ? NULL : fz_missing(study, s, buffer);
        pxi_doc_row(doc,
                    cell      ? NULL
                    : missing ? missing
                              : "not run",
                    "%s%s", fz_subjects[s].title, s == FZ_RESNET ? " (ours: ResNet-20)" : "");
        pxi_doc_figure(
            doc, (study_figure){.paper = fz_subjects[s].accuracy,
                                .mean = cell ? 100.0 * pxi_cell_number(cell, "accuracy") : UNKNOWN,
                                .sd = UNKNOWN,
                                .n = cell != NULL});
    }
}

static void report_tables(const px_study *study, study_document *doc)
{
    const bool seconds = was_run_any(study, FZ_BY_SECONDS);
    const bool picks = was_run_any(study, FZ_BY_PICKS) || !seconds;
    for (fz_measure m = FZ_BY_PICKS; m < FZ_MEASURES; m++) {
        if (m == FZ_BY_PICKS ? !picks : !seconds)
            continue;
        pxi_doc_heading(doc, 2,
                        m == FZ_BY_PICKS ? "Faults by criterion (Tables 3 and 4), by picks"
                                         : "Faults by criterion (Tables 3 and 4), in equal time");
        if (m == FZ_BY_PICKS)
            pxi_doc_paragraph(doc,
                              "The paper: 10,000 picks or six hours, what ends first. Cells of "
                              "fewer picks are marked as reduced: their totals are not to be "
                              "compared with the paper's, and their shares with care, since a "
                              "queue fills with faults as it grows.");
        else
            pxi_doc_paragraph(doc, "Every cell had the same time on the same machine, other work "
                                   "beside it: what a criterion costs counts here. The paper's six "
                                   "hours are the full size; totals of less are not to be compared "
                                   "with the paper's, shares with care.");
        for (size_t s = 0; s < FZ_SUBJECTS; s++)
            if (s < FZ_NETWORKS || (m == FZ_BY_PICKS && picks) || fz_was_run(study, s, m))
                report_subject(study, doc, s, m);
    }
}

void fz_report(const px_study *study, study_document *doc)
{
    pxi_doc_heading(doc, 1, "Coverage criteria as guides of a fuzzer");
    pxi_doc_paragraph(
        doc, "L. Huang, W. Sun, M. Yan, Z. Liu, Y. Lei and D. Lo, *Neuron Semantic-Guided Test "
             "Generation for Deep Neural Networks Fuzzing* (NSGen), sections 5 and 6.1. The "
             "paper's tables, and what plexor finds with the paper's protocol and its baselines; "
             "NSGen itself is not in it.");
    pxi_doc_paragraph(
        doc,
        "Variants where the paper leaves a choice. Seeds: %d drawn at random, of each class as "
        "many, and only those that the network gets right; the published code takes the first "
        "files by name, right or not, so that all descendants of a wrong one are its faults. "
        "Mutants: the 95 rules without style transfer; alpha 0.2, beta 0.4, either one suffices "
        "(the published code; the text asks for both); 64 mutants a pick, the first that the "
        "criterion gains by is an output and ends the pick. Judged are 8-bit pictures. Criteria "
        "have the preset nsgen (`plexor list presets`): NC 0.75 of values scaled per layer, KMNC "
        "100, TKNC 10, TKNP 50, CC 10, surprise in buckets of 10, 0.1 and 10, CAC 8; ranges and "
        "traces are of %d training inputs, for the surprise criteria too. CAC is run without its "
        "floor of five expected counts in every pair of bins: with it no edge of these networks is "
        "ever covered, and nothing kept; in networks of more than 24 layers with the edges into "
        "three of them (its paper's CAC_m). Coverage of CC, LSC, "
        "DSC and MDSC is a number of entries, of NLC a sum. `random` is not in the paper: the "
        "first valid mutant of a pick is an output. Nor is `NC (code)`: its text scales the units "
        "of a "
        "layer and then takes a channel's mean, its code rescales the means, so that one of them "
        "is "
        "always 1. OI is the normalised entropy of what faults "
        "are predicted as.",
        FZ_SEEDS, FZ_PROFILE);
    pxi_doc_heading(doc, 2, "Claims");
    fz_claims(study, doc);
    pxi_doc_heading(doc, 2, "Slips of the paper");
    pxi_doc_paragraph(
        doc,
        "Printed as they are: CAC on VGG16-BN and CIFAR-10 has 2,628 faults of 3,293 outputs, "
        "which is no RFT of 0.4965; TKNP there has 10 classes with a single output; MDSC there "
        "has classes and OI in Table 4 and nothing in Table 3 (the same 0.9613 stands under "
        "MobileNetV2). TKNP has one output everywhere because the published code never writes "
        "its state back. The denominator printed in Equation 15 would give an OI above 1; its "
        "tables are the normalised entropy. Coverage of NSGen is outputs per seed.");
    fz_report_networks(study, doc);
    report_tables(study, doc);
}
