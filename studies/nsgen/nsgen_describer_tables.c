/* studies/nsgen/nsgen_describer_tables.c - Tables 6 and 7 of the NSGen paper, ours beside them */
/* SPDX-License-Identifier: Apache-2.0 */
#include "nsgen/nsgen_describers.h"

#include "base/memory.h"
#include "frame/study_claim.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const double UNKNOWN = (double)NAN;

/* clang-format off */
const ng_setting ng_settings[NG_SETTINGS] = {
    {"exemplars-1",   "k = 1",    1,   0,    0, {{.8330, .3426}, {.7842, .2666}, {.6587, .3388}, {.7163, .2518}}},
    {"exemplars-5",   "k = 5",    5,   0,    0, {{.8213, .3296}, {.7788, .2551}, {.6675, .3670}, {.7222, .2674}}},
    {"exemplars-10",  "k = 10",  10,   0,    0, {{.8184, .3521}, {.7837, .2613}, {.6660, .3653}, {.7237, .2704}}},
    {"exemplars-15",  "k = 15",  15,   0,    0, {{.8286, .3873}, {.7856, .2546}, {.6675, .3659}, {.7241, .2701}}},
    {"exemplars-20",  "k = 20",  20,   0,    0, {{.8242, .3717}, {.7847, .2696}, {.6670, .3661}, {.7231, .2703}}},
    {"lstm-128-512",  "128, 512",  0, 128,  512, {{.8286, .3873}, {.7856, .2546}, {.6675, .3659}, {.7241, .2701}}},
    {"lstm-128-128",  "128, 128",  0, 128,  128, {{.8018, .2469}, {.7856, .2369}, {.6670, .3620}, {.7285, .2650}}},
    {"lstm-128-256",  "128, 256",  0, 128,  256, {{.8340, .3676}, {.7949, .2717}, {.6675, .3339}, {.7266, .2579}}},
    {"lstm-128-1024", "128, 1024", 0, 128, 1024, {{.8286, .2508}, {.7905, .2297}, {.6616, .3407}, {.7144, .2145}}},
    {"lstm-64-512",   "64, 512",   0,  64,  512, {{.8232, .3315}, {.7837, .2213}, {.6670, .3618}, {.7256, .2718}}},
    {"lstm-256-512",  "256, 512",  0, 256,  512, {{.7832, .2790}, {.7827, .2154}, {.6660, .3623}, {.7207, .2754}}},
    {"lstm-512-512",  "512, 512",  0, 512,  512, {{.8408, .3376}, {.7925, .2201}, {.6646, .3593}, {.7251, .2542}}},
};
/* clang-format on */

static const char *const paper_networks[FZ_DATASETS] = {"VGG16-BN", "ResNet50", "MobileNetV2",
                                                        "ResNet50"};

void ng_describers_prefix(size_t subject, size_t s, char key[CELL_KEY])
{
    snprintf(key, CELL_KEY, "%s %s describers %s", fz_subjects[subject].dataset,
             fz_subjects[subject].arch, ng_settings[s].id);
}

/* --- tables ----------------------------------------------------------------------------------- */

static study_figure figure_of(const px_study *study, size_t subject, size_t s, const char *name)
{
    char prefix[CELL_KEY];
    ng_describers_prefix(subject, s, prefix);
    return pxi_study_figure(study, prefix, name, 1.0, UNKNOWN, NG_PICTURES);
}

static study_figure paper_only(double value)
{
    return (study_figure){.paper = value, .mean = UNKNOWN, .sd = UNKNOWN};
}

static bool was_run(const px_study *study, size_t subject)
{
    for (size_t s = 0; s < NG_SETTINGS; s++)
        if (figure_of(study, subject, s, "units").n > 0)
            return true;
    return false;
}

static const char *row_note(const px_study *study, size_t subject, size_t s, char buffer[96])
{
    if (figure_of(study, subject, s, "units").n > 0)
        return NULL;
    const char *missing = fz_missing(study, subject, buffer);
    return missing ? missing : "not run";
}

static void table_cosines(const px_study *study, study_document *doc, size_t subject, size_t first,
                          size_t end)
{
    static const char *const titles[] = {
        "CLIP", "mpnet",          "ours, same units",       "ours, own units",
        "gate", "gate, permuted", "class named, same units"};
    static const char *const names[] = {"cosine_same", "cosine_own", "cosine", "cosine_chance",
                                        "named_same"};
    char caption[240], buffer[96];
    snprintf(caption, sizeof caption,
             "%s%s: Table %d, cosine of description and class name (paper: %s)",
             fz_subjects[subject].title, subject == FZ_RESNET ? " (ours: ResNet-20)" : "",
             first == NG_TABLE6 ? 6 : 7, paper_networks[fz_dataset(subject)]);
    pxi_doc_table(doc, caption, titles, PX_LEN(titles), 4);
    for (size_t s = first; s < end; s++) {
        const double *paper = ng_settings[s].paper[fz_dataset(subject)];
        pxi_doc_row(doc, row_note(study, subject, s, buffer), "%s", ng_settings[s].title);
        pxi_doc_figure(doc, paper_only(paper[0]));
        pxi_doc_figure(doc, paper_only(paper[1]));
        for (size_t i = 0; i < PX_LEN(names); i++)
            pxi_doc_figure(doc, figure_of(study, subject, s, names[i]));
    }
}

static void table_gates(const px_study *study, study_document *doc, size_t subject, size_t first,
                        size_t end)
{
    static const char *const titles[] = {
        "class-selective units", "top-1",       "top-3", "precision", "recall",
        "training (s)",          "descriptions"};
    static const char *const names[] = {"units_own", "top1",   "top3",
                                        "precision", "recall", "train_seconds"};
    char caption[200], buffer[96];
    snprintf(caption, sizeof caption, "%s: Table %d, ours, what else the gates say",
             fz_subjects[subject].title, first == NG_TABLE6 ? 6 : 7);
    pxi_doc_table(doc, caption, titles, PX_LEN(titles), 3);
    for (size_t s = first; s < end; s++) {
        const study_figure valid = figure_of(study, subject, s, "validated");
        pxi_doc_row(doc, row_note(study, subject, s, buffer), "%s", ng_settings[s].title);
        for (size_t i = 0; i < PX_LEN(names); i++)
            pxi_doc_figure(doc, figure_of(study, subject, s, names[i]));
        if (valid.n == 0)
            pxi_doc_words(doc, "–");
        else if (valid.n == 1)
            pxi_doc_words(doc, "%s", valid.mean == 1.0 ? "validated" : "not validated");
        else
            pxi_doc_words(doc, "%.0f of %" PRId64 " validated", valid.mean * (double)valid.n,
                          valid.n);
    }
}

/* --- claims ----------------------------------------------------------------------------------- */

/* A describer that has not learnt its corpus says nothing about its setting: 0.8 is the gate. */
static bool has_learnt(const px_study *study, size_t subject, size_t setting)
{
    const double recall = figure_of(study, subject, setting, "recall").mean;
    return isnan(recall) || recall >= 0.8;
}

/* One row is the best of a table, or nearly. */
static void claim_best(const px_study *study, study_document *doc, size_t favourite, size_t first,
                       size_t end, const char *text)
{
    study_claim c = {0};
    for (size_t subject = 0; subject < FZ_SUBJECTS; subject++) {
        const bool learnt = has_learnt(study, subject, favourite);
        const double own =
            learnt ? figure_of(study, subject, favourite, "cosine_same").mean : (double)NAN;
        size_t best = favourite, others = 0;
        double most = own;
        for (size_t s = first; s < end; s++) {
            if (!has_learnt(study, subject, s))
                continue;
            const double value = figure_of(study, subject, s, "cosine_same").mean;
            others += s != favourite && !isnan(value);
            if (value > most) {
                most = value;
                best = s;
            }
        }
        if (isnan(own) || others == 0)
            continue;
        fz_claim_subject(&c.evidence, subject);
        px_text_format(&c.evidence, "%.3f", own);
        if (best == favourite)
            px_text_add(&c.evidence, ", the best");
        else
            px_text_format(&c.evidence, ", the best is %s with %.3f", ng_settings[best].title,
                           most);
        c.run++;
        c.held += own >= most - 0.01;
    }
    pxi_claim_end(&c, doc, text);
}

static void claim_chance(const px_study *study, study_document *doc)
{
    study_claim c = {0};
    for (size_t subject = 0; subject < FZ_SUBJECTS; subject++) {
        int held = 0, run = 0;
        for (size_t s = 0; s < NG_SETTINGS; s++) {
            const double value = figure_of(study, subject, s, "cosine").mean;
            const double chance = figure_of(study, subject, s, "cosine_chance").mean;
            const double sd = figure_of(study, subject, s, "cosine_sd").mean;
            if (isnan(value) || isnan(chance) || isnan(sd))
                continue;
            run++;
            held += value > chance + 2.0 * sd;
        }
        if (run == 0)
            continue;
        fz_claim_subject(&c.evidence, subject);
        px_text_format(&c.evidence, "%d of %d settings", held, run);
        c.run += run;
        c.held += held;
    }
    pxi_claim_end(&c, doc,
                  "plexor's own question: whatever the setting, descriptions are nearer to the "
                  "class name than permuted ones, by two standard deviations");
}

void ng_describers_report(const px_study *study, study_document *doc)
{
    bool any = false;
    pxi_doc_heading(doc, 2, "Exemplars and sizes of the LSTM (Tables 6 and 7)");
    pxi_doc_paragraph(
        doc,
        "Each row is a describer trained anew on virtual units, changed in this one respect: k is "
        "the number of exemplars of a unit, sizes are those of a word's embedding and of the "
        "LSTM's state, which the attention's follows. The paper scores the units of the last "
        "layer with CLIP's and mpnet's text encoders; ours are the units whose exemplars share a "
        "class (nine of 15), and plexor's default text encoder. **Values of different encoders "
        "cannot be compared, only the order of rows can.** *Own units* are class-selective by the "
        "exemplars of the row, which with one exemplar is every unit; *same units* are so in the "
        "study's own bank, with the classes they have there: the rows are to be compared by "
        "these. *Gate* is the bank's own g3 with its permutation level. Top-1 and top-3: units "
        "with a measured label whose description says it; precision and recall: of captions that "
        "were held out. With --limit N describers have N training pictures and N / %d of the "
        "virtual units, at least %d; with the fewest many do not learn their corpus at all, and "
        "claims leave out rows whose recall is below 0.8. A row and the next differ by the seed's "
        "luck too: what one "
        "run says of a hundredth is little.",
        NG_PICTURES, NG_VIRTUAL_LEAST);
    for (size_t subject = 0; subject < FZ_SUBJECTS; subject++)
        any |= was_run(study, subject);
    for (size_t subject = 0; subject < FZ_SUBJECTS; subject++) {
        const bool run = was_run(study, subject);
        if (!run && (any || subject != FZ_RESNET))
            continue;
        table_cosines(study, doc, subject, NG_TABLE6, NG_TABLE7);
        table_cosines(study, doc, subject, NG_TABLE7, NG_SETTINGS);
        if (!run)
            continue;
        table_gates(study, doc, subject, NG_TABLE6, NG_TABLE7);
        table_gates(study, doc, subject, NG_TABLE7, NG_SETTINGS);
    }
    claim_best(study, doc, NG_K15, NG_TABLE6, NG_TABLE7,
               "15 exemplars are the best number, or within 0.01 of it (Table 6)");
    claim_best(study, doc, NG_TABLE7, NG_TABLE7, NG_SETTINGS,
               "sizes of 128 and 512 are the best, or within 0.01 of it (Table 7)");
    claim_chance(study, doc);
    pxi_doc_paragraph(
        doc,
        "In the paper's own tables the claims hold for some columns only: on CIFAR-10 CLIP prefers "
        "one exemplar (0.8330; 15 have 0.8286) and sizes of 512 and 512 (0.8408; 128 and 512 have "
        "0.8286), where the text sees a gain with the embedding that 256 (0.7832, the least of "
        "all) does not have.");
    ng_concepts_report(study, doc);
}
