/* studies/deepsensor/deepsensor_figures.c - Figures 1 and 4 to 7 of the DeepSensor paper as tables,
 * and what it says of them
 *
 * The paper prints no numbers in its figures, only what it reads from them.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "deepsensor/deepsensor_study.h"
#include "deepsensor/deepsensor_tables.h"
#include "frame/study_claim.h"

#include "base/memory.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const double UNKNOWN = (double)NAN;

/* A key up to " run=". */
static void key_prefix(char key[CELL_KEY])
{
    char *end = strstr(key, " run=");
    if (end)
        *end = '\0';
}

static study_figure figure_of(const px_study *study, char key[CELL_KEY], const char *name,
                              double scale, int64_t full)
{
    key_prefix(key);
    study_figure f = pxi_study_figure(study, key, name, scale, UNKNOWN, full);
    f.reduced |= f.n > 0 && ds_iterations(study) != DS_ITERATIONS;
    return f;
}

static study_figure retrain_figure(const px_study *study, size_t subject, size_t remedy,
                                   const char *name, double scale)
{
    char key[CELL_KEY];
    ds_retrain_key(study, subject, remedy, 1, key);
    return figure_of(study, key, name, scale, DS_RETRAIN);
}

static study_figure excite_figure(const px_study *study, size_t subject, const char *what,
                                  const char *name, double scale)
{
    const int64_t full = strcmp(what, "fig1") == 0 ? DS_PAIRS : DS_OVERLAP;
    char key[CELL_KEY];
    ds_excite_key(study, subject, what, 1, full, key);
    return figure_of(study, key, name, scale, full);
}

static const char *note_of(const px_study *study, size_t subject, const char *what,
                           const study_figure *figure, char buffer[STUDY_NOTE])
{
    if (figure->n > 0)
        return NULL;
    const char *missing = ds_missing(study, subject, DS_CLEAN, buffer);
    return missing ? missing : ds_cost_note(ds_figure_seconds(subject, what), buffer);
}

/* --- Figure 1 --------------------------------------------------------------------------------- */

void ds_table_excited(const px_study *study, study_document *doc)
{
    static const char *const norms[] = {"layer-minmax", "raw", "layer-max", "global-minmax"};
    static const char *const titles[] = {"benign", "corner case (PGD)", "noise as large",
                                         "corner case has more (% of pairs)"};
    char buffer[STUDY_NOTE], name[48];
    pxi_doc_table(doc, "Figure 1, LeNet-5: excitable neurons of digits of class 9, mean", titles,
                  PX_LEN(titles), 2);
    for (size_t n = 0; n < PX_LEN(norms); n++) {
        snprintf(name, sizeof name, "pgd_%s", norms[n]);
        const study_figure pgd = excite_figure(study, DS_LENET5, "fig1", name, 1.0);
        pxi_doc_row(doc, note_of(study, DS_LENET5, "fig1", &pgd, buffer), "%s", norms[n]);
        if (pgd.n > 0)
            pxi_doc_words(doc, "0");
        else
            pxi_doc_words(doc, "–");
        pxi_doc_figure(doc, pgd);
        snprintf(name, sizeof name, "noise_%s", norms[n]);
        pxi_doc_figure(doc, excite_figure(study, DS_LENET5, "fig1", name, 1.0));
        snprintf(name, sizeof name, "more_%s", norms[n]);
        pxi_doc_figure(doc, excite_figure(study, DS_LENET5, "fig1", name, 100.0));
    }
}

/* --- Figure 7 --------------------------------------------------------------------------------- */

void ds_table_overlap(const px_study *study, study_document *doc)
{
    static const char *const titles[DS_SOURCES] = {"PGD", "JSMA", "DeepFool", "DeepSensor",
                                                   "noise as large"};
    for (size_t s = 0; s < DS_PICTURES; s++) {
        char caption[160], name[48], buffer[STUDY_NOTE];
        if (s != DS_LENET5 && excite_figure(study, s, "overlap", "pgd_pgd", 1.0).n == 0)
            continue;
        snprintf(caption, sizeof caption, "Figure 7, %s: neurons that two top tens have in common",
                 ds_subjects[s].title);
        pxi_doc_table(doc, caption, titles, DS_SOURCES, 2);
        for (size_t a = 0; a < DS_SOURCES; a++) {
            const study_figure first = excite_figure(study, s, "overlap", "pgd_pgd", 1.0);
            pxi_doc_row(doc, note_of(study, s, "overlap", &first, buffer), "%s", titles[a]);
            for (size_t b = 0; b < DS_SOURCES; b++) {
                snprintf(name, sizeof name, "%s_%s", ds_sources[a], ds_sources[b]);
                pxi_doc_figure(doc, excite_figure(study, s, "overlap", name, 1.0));
            }
        }
    }
}

/* --- Figures 4 to 6 --------------------------------------------------------------------------- */

static const char *const remedy_titles[DS_REMEDIES] = {
    "DeepXplore",       "DLFuzz", "DeepHunter", "DeepSensor", [DS_NOTHING] = "as it is",
    [DS_PGD] = "PGD-AT"};

static bool retrain_was_run(const px_study *study, size_t subject)
{
    for (size_t r = 0; r < DS_REMEDIES; r++)
        if (retrain_figure(study, subject, r, "asr_pgd", 1.0).n > 0)
            return true;
    return false;
}

/* With the campaign whose examples it takes, which are no cells: reports do not know of them. */
static const char *remedy_note(const px_study *study, size_t subject, size_t remedy,
                               const study_figure *figure, char buffer[STUDY_NOTE])
{
    if (figure->n > 0)
        return NULL;
    const char *missing = ds_missing(study, subject, DS_CLEAN, buffer);
    const double campaign =
        remedy < DS_PAPER_METHODS ? DS_SEEDS * ds_cell_seconds(subject, remedy) : 0.0;
    return missing ? missing
                   : ds_cost_note(ds_figure_seconds(subject, "retrain") + campaign, buffer);
}

void ds_table_retrained(const px_study *study, study_document *doc)
{
    static const char *const changes[] = {"PGD",  "FGSM",   "DeepFool",
                                          "JSMA", "CLEVER", "accuracy (points)"};
    static const char *const rates[] = {"PGD",   "FGSM", "DeepFool", "JSMA", "DeepFool, mean L2",
                                        "CLEVER"};
    for (size_t s = 0; s < DS_PICTURES; s++) {
        char caption[200], name[48], buffer[STUDY_NOTE];
        if (s != DS_LENET5 && !retrain_was_run(study, s))
            continue;
        snprintf(caption, sizeof caption,
                 "Figures 4 to 6, %s: decrease of attacks' success (points), increase of CLEVER",
                 ds_subjects[s].title);
        pxi_doc_table(doc, caption, changes, PX_LEN(changes), 3);
        for (size_t r = 0; r < DS_REMEDIES; r++) {
            const study_figure first = retrain_figure(study, s, r, "asr_pgd", 1.0);
            if (r == DS_NOTHING)
                continue;
            pxi_doc_row(doc, remedy_note(study, s, r, &first, buffer), "%s", remedy_titles[r]);
            for (size_t a = 0; a < DS_ATTACKS; a++) {
                snprintf(name, sizeof name, "delta_asr_%s", ds_attacks[a]);
                pxi_doc_figure(doc, retrain_figure(study, s, r, name, 100.0));
            }
            pxi_doc_figure(doc, retrain_figure(study, s, r, "delta_clever", 1.0));
            pxi_doc_figure(doc, retrain_figure(study, s, r, "delta_accuracy", 100.0));
        }
        if (!retrain_was_run(study, s))
            continue;
        snprintf(caption, sizeof caption, "ours, %s: attacks' success (%% of all inputs)",
                 ds_subjects[s].title);
        pxi_doc_table(doc, caption, rates, PX_LEN(rates), 3);
        for (size_t i = 0; i < DS_REMEDIES; i++) {
            const size_t r = i == 0 ? DS_NOTHING : i <= DS_NOTHING ? i - 1 : i;
            const study_figure first = retrain_figure(study, s, r, "asr_pgd", 1.0);
            pxi_doc_row(doc, remedy_note(study, s, r, &first, buffer), "%s", remedy_titles[r]);
            for (size_t a = 0; a < DS_ATTACKS; a++) {
                snprintf(name, sizeof name, "asr_%s", ds_attacks[a]);
                pxi_doc_figure(doc, retrain_figure(study, s, r, name, 100.0));
            }
            pxi_doc_figure(doc, retrain_figure(study, s, r, "l2_deepfool", 1.0));
            pxi_doc_figure(doc, retrain_figure(study, s, r, "clever", 1.0));
        }
    }
}

/* --- claims ----------------------------------------------------------------------------------- */

static void claim_subject(study_claim *c, size_t subject)
{
    px_text_format(&c->evidence, "%s%s: ", c->evidence.length ? "; " : "",
                   ds_subjects[subject].title);
}

/* "LeNet-5 on MNIST, 100 of 500 seeds: ": fewer teach less. */
static void claim_retrain_subject(const px_study *study, study_claim *c, size_t subject)
{
    char prefix[CELL_KEY];
    ds_retrain_key(study, subject, DS_SENSOR, 1, prefix);
    key_prefix(prefix);
    const int64_t seeds = pxi_study_size(study, prefix, INT64_MAX);
    px_text_format(&c->evidence, "%s%s", c->evidence.length ? "; " : "",
                   ds_subjects[subject].title);
    if (seeds < DS_RETRAIN)
        px_text_format(&c->evidence, ", %" PRId64 " of %d seeds", seeds, DS_RETRAIN);
    px_text_add(&c->evidence, ": ");
}

/* Retraining with DeepSensor's examples changes `name` more than with others'. */
static void claim_retrained(const px_study *study, study_document *doc, const char *name,
                            double scale, size_t first, size_t last, const char *text)
{
    study_claim c = {0};
    for (size_t s = 0; s < DS_PICTURES; s++) {
        const double own = retrain_figure(study, s, DS_SENSOR, name, scale).mean;
        bool told = false;
        for (size_t r = first; r <= last; r++) {
            const double other = retrain_figure(study, s, r, name, scale).mean;
            if (r == DS_SENSOR || isnan(own) || isnan(other))
                continue;
            if (!told) {
                claim_retrain_subject(study, &c, s);
                px_text_format(&c.evidence, "%.3f", own);
            }
            px_text_format(&c.evidence, "%s%s %.3f", told ? ", " : " against ", remedy_titles[r],
                           other);
            told = true;
            c.run++;
            c.held += own > other;
        }
    }
    pxi_claim_end(&c, doc, text);
}

static void claim_seventy(const px_study *study, study_document *doc)
{
    study_claim c = {0};
    for (size_t s = 0; s < DS_PICTURES; s++)
        for (size_t a = 0; a < DS_ATTACKS; a++) {
            char name[48];
            snprintf(name, sizeof name, "delta_asr_%s", ds_attacks[a]);
            const double value = retrain_figure(study, s, DS_SENSOR, name, 100.0).mean;
            if (isnan(value))
                continue;
            claim_retrain_subject(study, &c, s);
            px_text_format(&c.evidence, "%s %.1f", ds_attacks[a], value);
            c.run++;
            c.held += value > 70.0;
        }
    pxi_claim_end(&c, doc,
                  "after retraining with DeepSensor's examples every attack's success is lower by "
                  "more than 70 points (Figure 5)");
}

static void claim_excited(const px_study *study, study_document *doc)
{
    static const char *const norms[] = {"layer-minmax", "raw", "layer-max", "global-minmax"};
    study_claim c = {0};
    for (size_t n = 0; n < PX_LEN(norms); n++) {
        char name[48];
        snprintf(name, sizeof name, "pgd_%s", norms[n]);
        const double pgd = excite_figure(study, DS_LENET5, "fig1", name, 1.0).mean;
        snprintf(name, sizeof name, "noise_%s", norms[n]);
        const double noise = excite_figure(study, DS_LENET5, "fig1", name, 1.0).mean;
        if (isnan(pgd) || isnan(noise))
            continue;
        px_text_format(&c.evidence, "%s%s: %.2f against %.2f", c.evidence.length ? "; " : "",
                       norms[n], pgd, noise);
        c.run++;
        c.held += pgd > noise;
    }
    pxi_claim_end(&c, doc,
                  "corner cases excite more neurons than benign inputs (Figure 1; an input that "
                  "did not change excites none by definition, so: more than noise as large)");
}

/* Most of what an attack excites, the swarm excites too; and more than noise does. */
static void claim_overlap(const px_study *study, study_document *doc, bool noise, const char *text)
{
    study_claim c = {0};
    for (size_t s = 0; s < DS_PICTURES; s++)
        for (size_t a = DS_BY_PGD; a <= DS_BY_DEEPFOOL; a++) {
            char name[48];
            snprintf(name, sizeof name, "%s_deepsensor", ds_sources[a]);
            const double own = excite_figure(study, s, "overlap", name, 1.0).mean;
            snprintf(name, sizeof name, "%s_noise", ds_sources[a]);
            const double other = excite_figure(study, s, "overlap", name, 1.0).mean;
            if (isnan(own))
                continue;
            claim_subject(&c, s);
            px_text_format(&c.evidence, "%s %.2f", ds_sources[a], own);
            if (noise)
                px_text_format(&c.evidence, " against %.2f", other);
            c.run++;
            c.held += noise ? own > other : own >= 0.8 * DS_TOP;
        }
    pxi_claim_end(&c, doc, text);
}

void ds_claims_figures(const px_study *study, study_document *doc)
{
    claim_excited(study, doc);
    claim_retrained(study, doc, "delta_asr_pgd", 100.0, 0, DS_SENSOR,
                    "retraining with DeepSensor's examples lowers PGD's success more than with its "
                    "rivals' (Figure 4)");
    claim_seventy(study, doc);
    claim_retrained(study, doc, "delta_asr_deepfool", 100.0, DS_PGD, DS_PGD,
                    "it helps more against DeepFool than PGD-AT does (Figure 5)");
    claim_retrained(study, doc, "delta_asr_jsma", 100.0, DS_PGD, DS_PGD,
                    "and more against JSMA (Figure 5)");
    claim_retrained(study, doc, "delta_clever", 1.0, 0, DS_SENSOR,
                    "it raises CLEVER more than its rivals' do (Figure 6; the paper: by 0.12 on "
                    "average)");
    claim_overlap(study, doc, false,
                  "DeepSensor excites almost all neurons that attacks excite (Figure 7; read as: "
                  "eight of their top ten)");
    claim_overlap(study, doc, true, "plexor's own question: more of them than noise as large does");
}
