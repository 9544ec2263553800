/* studies/nsgen/nsgen_threshold.c - Table 9: does tau depend on how many images it is found from?
 *
 * The paper takes 1, 2, 3, 4 and 5% of each class of the training set, one sample within the next
 * (section 6.4.5). Here the largest is gone through once; since px_calibrate() takes the k-th image
 * of every class in turn, its first fifth is a sample of 1%, and so on. Samples within each other
 * agree by construction: so the five fifths, which share no image, are compared as well.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "frame/study_claim.h"
#include "nsgen/nsgen_stats.h"

#include "base/memory.h"

#include <internal/decision_path.h>
#include <internal/stats.h>
#include <inttypes.h>
#include <math.h>
#include <plexor/system.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double UNKNOWN = (double)NAN;
static const double MARGIN = 0.01;
static const double SHARE = 0.05; /* of each class */
enum { TAU_DATASETS = 2 };        /* the paper has CIFAR-10 and CIFAR-100 alone */

static const double paper_tau[TAU_DATASETS][NG_RATES] = {
    {0.8097, 0.8059, 0.8042, 0.8063, 0.8142},
    {0.7073, 0.7112, 0.7167, 0.7066, 0.7125},
};

const px_path_mode ng_modes[NG_MODES] = {PX_PATH_FULL, PX_PATH_LABEL_ONLY, PX_PATH_DESCR_ONLY,
                                         PX_PATH_NO_NLDG};
const char *const ng_mode_titles[NG_MODES] = {"class and words", "the class alone",
                                              "the words alone", "no words, units alone"};

void ng_threshold_prefix(size_t subject, char prefix[CELL_KEY])
{
    snprintf(prefix, CELL_KEY, "%s %s threshold", fz_subjects[subject].dataset,
             fz_subjects[subject].arch);
}

/* --- planning -------------------------------------------------------------------------------- */

px_status ng_threshold_plan(px_study *study, px_error *err)
{
    const int64_t images = ng_inputs(study, NG_TAU_IMAGES);
    for (size_t s = 0; s < TAU_DATASETS * FZ_NETWORKS; s++) {
        char prefix[CELL_KEY], key[CELL_KEY];
        if (pxi_study_runs(study, "threshold") == 0 || !ng_planned(study, s))
            continue;
        ng_threshold_prefix(s, prefix);
        snprintf(key, sizeof key, "%.300s run=1 n=%" PRId64, prefix, images);
        if (pxi_cells_find(study->cells, key))
            continue;
        study_job job = {.kind = "threshold", .subject = s, .run = 1, .network = 1};
        snprintf(job.label, sizeof job.label, "%s %s: tau of %" PRId64 " images",
                 fz_subjects[s].dataset, fz_subjects[s].arch, images);
        snprintf(job.cost, sizeof job.cost, "%s %s threshold %" PRId64, fz_subjects[s].dataset,
                 fz_subjects[s].arch, images);
        job.seconds = (double)images * (s == FZ_RESNET ? 1.5 : 6.0);
        PX_TRY(pxi_study_add_job(study, &job, err));
    }
    return PX_OK;
}

/* --- running --------------------------------------------------------------------------------- */

/* Tau of images `from` to `to` - 1. */
static px_status tau_of(const double *similarities, int64_t rules, int64_t from, int64_t to,
                        double *out, px_error *err)
{
    const size_t count = (size_t)((to - from) * rules);
    double *copy = NULL;
    PX_TRY(PX_NEW(copy, PX_MAX(count, (size_t)1), err));
    memcpy(copy, similarities + from * rules, count * sizeof *copy);
    *out = px_quantile(copy, count, 0.25);
    free(copy);
    return PX_OK;
}

static px_status threshold_put(const px_threshold *found, const double *similarities,
                               cell_list *cell, px_error *err)
{
    for (size_t m = 0; m < NG_MODES; m++) {
        const double *of = similarities + ng_modes[m] * found->pairs;
        const char *name = px_path_mode_name(ng_modes[m]);
        for (int64_t r = 0; r < NG_RATES && found->of[ng_modes[m]].known; r++) {
            const int64_t from = found->images * r / NG_RATES;
            const int64_t to = found->images * (r + 1) / NG_RATES;
            double nested = UNKNOWN, apart = UNKNOWN;
            PX_TRY(tau_of(of, found->rules, 0, to, &nested, err));
            PX_TRY(tau_of(of, found->rules, from, to, &apart, err));
            pxi_cell_put(cell, nested, "%s_%d", name, (int)r + 1);
            pxi_cell_put(cell, apart, "%s_fifth_%d", name, (int)r + 1);
        }
    }
    pxi_cell_put(cell, (double)found->images, "images");
    pxi_cell_put(cell, (double)found->pairs, "pairs");
    return PX_OK;
}

px_status ng_threshold_run(px_study *study, const study_job *job, px_error *err)
{
    const double start = px_clock_s();
    const int64_t images = ng_inputs(study, NG_TAU_IMAGES);
    char prefix[CELL_KEY], key[CELL_KEY];
    ng_words words = {0};
    study_data train = {.set = NULL};
    px_threshold found;
    double *similarities = NULL;
    cell_list cell = {.count = 0};
    px_calibration how = px_calibration_default();
    how.images = images;
    how.per_class = images == NG_TAU_IMAGES ? SHARE : 0.0;
    how.seed = study->options.seed + (uint64_t)job->run;
    how.progress = study->options.progress;
    how.progress_context = study->options.context;
    px_status status = ng_words_open(study, job->subject, NULL, &words, err);
    if (status == PX_OK)
        status = pxi_study_open(study, words.model, fz_subjects[job->subject].dataset, "train", 0.0,
                                0, &train, err);
    if (status == PX_OK)
        status = px_calibrate(words.paths, words.judge, train.set, &train.pre, &how, &found,
                              &similarities, err);
    if (status == PX_OK)
        status = threshold_put(&found, similarities, &cell, err);
    if (status == PX_OK) {
        ng_threshold_prefix(job->subject, prefix);
        snprintf(key, sizeof key, "%.300s run=%" PRId64 " n=%" PRId64, prefix, job->run, images);
        status = pxi_study_put(study, key, px_clock_s() - start, &cell, err);
    }
    free(similarities);
    pxi_study_close(&train);
    ng_words_close(&words);
    return status;
}

/* --- reporting ------------------------------------------------------------------------------- */

static study_figure tau_figure(const px_study *study, size_t subject, const char *name,
                               double paper)
{
    char prefix[CELL_KEY];
    ng_threshold_prefix(subject, prefix);
    return pxi_study_figure(study, prefix, name, 1.0, paper, NG_TAU_IMAGES);
}

static bool tau_was_run(const px_study *study, size_t subject)
{
    return tau_figure(study, subject, "images", UNKNOWN).n > 0;
}

typedef struct tau_spread { /* NaN: there is a value that is none */
    double least, most, mean;
    double first;   /* of 1%, or of the first fifth */
    double margin;  /* the largest distance from `first` */
    double centred; /* the largest distance from `mean` */
} tau_spread;

static tau_spread spread_of(const px_study *study, size_t subject, size_t mode, const char *what)
{
    double values[NG_RATES];
    char name[CELL_NAME];
    tau_spread s = {.least = INFINITY, .most = -INFINITY};
    for (int r = 0; r < NG_RATES; r++) {
        snprintf(name, sizeof name, "%s_%s%d", px_path_mode_name(ng_modes[mode]), what, r + 1);
        values[r] = tau_figure(study, subject, name, UNKNOWN).mean;
        if (isnan(values[r]))
            return (tau_spread){UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN};
        s.least = fmin(s.least, values[r]);
        s.most = fmax(s.most, values[r]);
    }
    s.mean = px_mean(values, NG_RATES);
    s.first = values[0];
    s.margin = fmax(s.most - s.first, s.first - s.least);
    s.centred = fmax(s.most - s.mean, s.mean - s.least);
    return s;
}

static void report_rates(const px_study *study, study_document *doc)
{
    static const char *const columns[NG_RATES] = {"1%", "2%", "3%", "4%", "5%"};
    char buffer[96], name[CELL_NAME];
    pxi_doc_table(doc, "Table 9: tau by the share of each class that it is found from", columns,
                  NG_RATES, 4);
    for (size_t s = 0; s < TAU_DATASETS * FZ_NETWORKS; s++) {
        const char *missing = tau_was_run(study, s) ? NULL : fz_missing(study, s, buffer);
        pxi_doc_row(doc,
                    tau_was_run(study, s) ? NULL
                    : missing             ? missing
                                          : "not run",
                    "%s%s", fz_subjects[s].title, ng_ours(s));
        for (int r = 0; r < NG_RATES; r++) {
            snprintf(name, sizeof name, "%s_%d", px_path_mode_name(PX_PATH_FULL), r + 1);
            pxi_doc_figure(doc, tau_figure(study, s, name, paper_tau[fz_dataset(s)][r]));
        }
    }
}

static void spread_row(study_document *doc, const tau_spread *s, const study_figure *like)
{
    const double values[] = {s->least, s->mean, s->most};
    for (size_t i = 0; i < PX_LEN(values); i++)
        pxi_doc_figure(doc, (study_figure){.paper = UNKNOWN,
                                           .mean = values[i],
                                           .sd = UNKNOWN,
                                           .n = isnan(values[i]) ? 0 : like->n,
                                           .reduced = like->reduced});
}

static void report_spread(const px_study *study, study_document *doc, size_t subject)
{
    static const char *const columns[] = {"nested: least", "mean", "most",
                                          "apart: least",  "mean", "most"};
    const study_figure images = tau_figure(study, subject, "images", UNKNOWN);
    const study_figure pairs = tau_figure(study, subject, "pairs", UNKNOWN);
    char caption[240];
    snprintf(caption, sizeof caption,
             "%s%s: tau of samples within each other, and of fifths that share no image; %.0f "
             "images, %.0f pairs",
             fz_subjects[subject].title, ng_ours(subject), images.mean, pairs.mean);
    pxi_doc_table(doc, caption, columns, PX_LEN(columns), 4);
    for (size_t m = 0; m < NG_MODES; m++) {
        const tau_spread nested = spread_of(study, subject, m, "");
        const tau_spread apart = spread_of(study, subject, m, "fifth_");
        pxi_doc_row(doc, NULL, "%s (%s)", ng_mode_titles[m], px_path_mode_name(ng_modes[m]));
        spread_row(doc, &nested, &images);
        spread_row(doc, &apart, &images);
    }
}

static void claim_margin(const px_study *study, study_document *doc, bool apart)
{
    study_claim c = {0};
    for (size_t s = 0; s < TAU_DATASETS * FZ_NETWORKS; s++) {
        const tau_spread spread = spread_of(study, s, 0, apart ? "fifth_" : "");
        if (isnan(spread.mean))
            continue;
        fz_claim_subject(&c.evidence, s);
        px_text_format(&c.evidence, "%.4f to %.4f", spread.least, spread.most);
        c.run++;
        c.held += (apart ? spread.centred : spread.margin) <= MARGIN;
    }
    pxi_claim_end(&c, doc,
                  apart ? "plexor's own question: samples that share no image, each a fifth of the "
                          "largest, have thresholds within 0.01 of their mean"
                        : "thresholds of 2 to 5% of each class are within 0.01 of that of 1%");
}

void ng_threshold_report(const px_study *study, study_document *doc)
{
    pxi_doc_heading(doc, 2, "How many images tau needs (section 6.4.5, Table 9)");
    pxi_doc_paragraph(
        doc,
        "Tau is the lower quartile of the similarities of training images with all 95 mutants of "
        "each. The paper's numbers belong to CLIP and to its descriptions: only how far tau moves "
        "from column to column is to be compared, not where it is. Ours are of one sample of 5%% "
        "of each class (%d images), the k-th image of every class in turn, and of its beginnings; "
        "with --limit of so many images, and the columns are its fifths. Samples within each other "
        "agree the more the longer the shorter one is; the fifths of the sample share no image, "
        "and each of them is what the paper takes.",
        NG_TAU_IMAGES);
    report_rates(study, doc);
    for (size_t s = 0; s < TAU_DATASETS * FZ_NETWORKS; s++)
        if (tau_was_run(study, s))
            report_spread(study, doc, s);
    claim_margin(study, doc, /* apart= */ false);
    claim_margin(study, doc, /* apart= */ true);
}
