/* studies/fuzz/fuzz_cell.c - one campaign of the study: a network, a criterion, a run
 *
 * FOLDER/campaigns/DATASET_ARCH_GUIDE_R is a campaign like any other: a run that was stopped goes
 * on in it, and one that is to be longer goes on where the shorter one ended. It may be exported
 * and replayed, and deleted once its cells are there.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "nsgen/nsgen_study.h"

#include "base/memory.h"

#include <internal/decision_path.h>
#include <inttypes.h>
#include <math.h>
#include <plexor/fuzz.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct fz_work {
    px_study *study;
    const study_job *job;
    px_model *own;         /* NULL: that of the words */
    const px_model *model; /* one of the two */
    study_data test;
    px_profile *profile;
    px_cover *cover;  /* NULL: random, or paths */
    ng_words words;   /* of guides that read paths */
    px_fuzz_paths by; /* them */
    px_campaign *campaign;
    px_fuzz *fuzz;
    fz_measure measure;
    int64_t size; /* picks or seconds */
} fz_work;

/* --- the guide -------------------------------------------------------------------------------- */

/* Ranges and traces of the first training inputs, which are of all classes in turn. */
static px_status work_profile(fz_work *w, const px_cover_options *options, px_error *err)
{
    px_lessons lessons = {0};
    study_data train = {.set = NULL};
    px_profile_options profile = px_profile_options_default();
    profile.threads = w->study->options.threads;
    profile.seed = options->seed;
    px_status status = px_cover_lessons(w->model, NULL, options, &lessons, err);
    if (status == PX_OK && lessons.count > 0)
        status = pxi_study_open(w->study, w->model, fz_subjects[w->job->subject].dataset, "train",
                                0.0, FZ_PROFILE, &train, err);
    if (status == PX_OK && lessons.count > 0)
        status =
            px_profile_make(w->model, &lessons, train.set, &train.pre, &profile, &w->profile, err);
    px_lessons_free(&lessons);
    pxi_study_close(&train);
    return status;
}

/* All edges of a deep network take a second an input: its paper's CAC_m, the edges into a few
 * layers, then. */
static px_status work_cac_layers(const fz_work *w, char layers[64], px_error *err)
{
    enum { DEEP = 24 };
    px_probe *probe = NULL;
    const px_probe_options options = px_probe_options_default();
    PX_TRY(px_probe_new(w->model, &options, &probe, err));
    const size_t count = px_probe_layer_count(probe);
    if (count > DEEP)
        snprintf(layers, 64, "#%d,#%d,#%d", px_probe_layer(probe, count / 4)->position,
                 px_probe_layer(probe, count / 2)->position,
                 px_probe_layer(probe, 3 * count / 4)->position);
    px_probe_free(probe);
    return PX_OK;
}

static px_status work_cover(fz_work *w, px_error *err)
{
    char distance[32], layers[64] = "";
    const fz_guide *guide = &fz_guides[w->job->a];
    const char *const settings[] = {distance, guide->setting};
    px_cover_options options = px_cover_options_default();
    if (!guide->criterion)
        return PX_OK;
    snprintf(distance, sizeof distance, "cc.t=%d", fz_cc_distance[fz_dataset(w->job->subject)]);
    options.criteria = guide->criterion;
    options.preset = "nsgen";
    options.settings = settings;
    options.setting_count = guide->setting ? 2 : 1;
    options.seed = w->study->options.seed;
    options.threads = w->study->options.threads;
    if (strcmp(options.criteria, "cac") == 0)
        PX_TRY(work_cac_layers(w, layers, err));
    options.layers = *layers ? layers : NULL;
    PX_TRY(work_profile(w, &options, err));
    options.profile = w->profile;
    return px_cover_new(w->model, NULL, &options, &w->cover, err);
}

/* The network, and what the guide needs of it. Paths that do not exist: there are fewer layers. */
static px_status work_guide(fz_work *w, px_error *err)
{
    const fz_paths *paths = fz_guides[w->job->a].paths;
    const study_network network = fz_network(w->job->subject);
    if (!paths) {
        PX_TRY(pxi_network_load(w->study, &network, &w->own, err));
        w->model = w->own;
        return work_cover(w, err);
    }
    PX_TRY(ng_words_open(w->study, w->job->subject, paths, &w->words, err));
    w->model = w->words.model;
    if (!w->words.paths)
        return PX_OK;
    PX_TRY(ng_words_threshold(w->study, w->job->subject, paths, &w->words, err));
    w->by = (px_fuzz_paths){.paths = w->words.paths,
                            .judge = w->words.judge,
                            .threshold = &w->words.threshold,
                            .mode = paths->mode};
    return PX_OK;
}

/* --- the campaign ----------------------------------------------------------------------------- */

char *fz_campaign_path(const px_study *study, size_t subject, size_t guide, fz_measure measure,
                       int64_t run)
{
    const fz_subject *s = &fz_subjects[subject];
    px_text path = {0};
    px_text_format(&path, "%s/campaigns/%s_%s_%s_%" PRId64, study->folder, s->dataset, s->arch,
                   fz_guides[guide].id, run);
    if (fz_seeds(study) != FZ_SEEDS)
        px_text_format(&path, "_%" PRId64, fz_seeds(study));
    if (measure == FZ_BY_OUTPUTS) /* its coverage is forgotten now and then */
        px_text_add(&path, "_outputs");
    return px_text_take(&path);
}

/* `apart`: one of its own for this size. */
static px_status work_campaign(fz_work *w, bool apart, px_error *err)
{
    px_text path = {0};
    char *usual = fz_campaign_path(w->study, w->job->subject, w->job->a, w->measure, w->job->run);
    px_text_add(&path, usual ? usual : "");
    if (apart)
        px_text_format(&path, "_%" PRId64 "%s", w->size, fz_unit(w->measure));
    const px_status status =
        !usual || px_text_failed(&path)
            ? pxi_no_memory(err)
            : pxi_study_campaign(w->study, px_text_get(&path), &w->campaign, err);
    px_text_done(&path);
    free(usual);
    return status;
}

static int64_t work_done(const fz_work *w, const px_fuzz_report *report)
{
    return w->measure == FZ_BY_PICKS     ? report->turns
           : w->measure == FZ_BY_OUTPUTS ? report->outputs
                                         : (int64_t)report->run_s;
}

static bool work_progress(void *context, const px_fuzz_report *report)
{
    const fz_work *w = context;
    const px_study_options *o = &w->study->options;
    return !o->progress || o->progress(o->context, PX_MIN(work_done(w, report), w->size), w->size);
}

static px_fuzz_limits work_limits(const fz_work *w)
{
    return w->measure == FZ_BY_PICKS ? (px_fuzz_limits){.turns = w->size}
           : w->measure == FZ_BY_OUTPUTS
               ? (px_fuzz_limits){.outputs = w->size, .turns = FZ_OUTPUT_PICKS * w->size}
               : (px_fuzz_limits){.seconds = (double)w->size};
}

static px_status work_open(fz_work *w, bool apart, px_error *err)
{
    const px_study_options *o = &w->study->options;
    px_fuzz_options options = px_fuzz_options_default();
    char reset[32];
    const char *const settings[] = {reset};
    PX_TRY(work_campaign(w, apart, err));
    options.campaign = w->campaign;
    options.model = w->model;
    options.set = w->test.set;
    options.pre = &w->test.pre;
    options.guide.name = "random"; /* without these */
    options.cover = w->cover;
    options.paths = w->by.paths ? &w->by : NULL;
    options.profile = w->profile;
    options.policy = "nsgen"; /* alpha 0.2, beta 0.4, K = 64, the 95 rules */
    options.seeds = fz_seeds(w->study) == FZ_SEEDS ? FZ_SEEDS : 0; /* with --limit: all of them */
    options.seed = o->seed + (uint64_t)w->job->run;
    options.threads = o->threads;
    options.command = o->command;
    options.progress = work_progress;
    options.context = w;
    snprintf(reset, sizeof reset, "reset=%d", FZ_RESET);
    options.settings = settings;
    options.setting_count = w->measure == FZ_BY_OUTPUTS && w->cover;
    return px_fuzz_new(&options, &w->fuzz, err);
}

static void work_close(fz_work *w)
{
    px_fuzz_free(w->fuzz);
    px_campaign_close(w->campaign);
    w->fuzz = NULL;
    w->campaign = NULL;
}

/* A campaign that is already longer than what is asked for cannot tell what it had then: the cell
 * gets one of its own. */
static px_status work_fuzz(fz_work *w, px_error *err)
{
    PX_TRY(work_open(w, false, err));
    const px_fuzz_report before = px_fuzz_report_get(w->fuzz);
    if (work_done(w, &before) > w->size) {
        work_close(w);
        if (w->cover)
            PX_TRY(px_cover_reset(w->cover, err));
        PX_TRY(work_open(w, true, err));
    }
    const px_fuzz_limits limits = work_limits(w);
    return px_fuzz_run(w->fuzz, &limits, err);
}

/* --- what came of it -------------------------------------------------------------------------- */

typedef struct fz_fault {
    int64_t root, prediction;
} fz_fault;

typedef struct fz_tally {
    fz_fault *faults;
    size_t count, room;
    bool *is_fault; /* by id */
    int64_t last;
    double roots, pairs; /* with a fault; (root, wrong class) among faults */
    double sound;        /* faults whose parents were none */
} fz_tally;

static int fault_order(const void *a, const void *b)
{
    const fz_fault *x = a, *y = b;
    return x->root != y->root ? (x->root > y->root) - (x->root < y->root)
                              : (x->prediction > y->prediction) - (x->prediction < y->prediction);
}

static px_status tally_read(fz_tally *t, px_campaign *campaign, px_error *err)
{
    px_campaign_input in = {.id = 0};
    PX_TRY(px_campaign_last(campaign, &t->last, err));
    PX_TRY(PX_NEW(t->is_fault, (size_t)t->last + 1, err));
    for (;;) {
        PX_TRY(px_campaign_next(campaign, in.id, PX_INPUT_FAULT, &in, NULL, NULL, err));
        if (in.id == 0)
            return PX_OK;
        PX_TRY(PX_GROW(t->faults, t->room, t->count + 1, err));
        t->faults[t->count++] = (fz_fault){in.root, in.prediction};
        t->is_fault[in.id] = true; /* parents come before */
        t->sound += !t->is_fault[in.parent];
    }
}

static px_status tally_make(fz_tally *t, px_campaign *campaign, px_error *err)
{
    PX_TRY(tally_read(t, campaign, err));
    if (t->count)
        qsort(t->faults, t->count, sizeof *t->faults, fault_order);
    for (size_t i = 0; i < t->count; i++) {
        const bool same_root = i > 0 && t->faults[i].root == t->faults[i - 1].root;
        t->roots += !same_root;
        t->pairs += !same_root || t->faults[i].prediction != t->faults[i - 1].prediction;
    }
    return PX_OK;
}

static void work_key(const fz_work *w, char key[CELL_KEY])
{
    fz_prefix(w->study, w->job->subject, w->job->a, w->measure, key);
    const size_t used = strlen(key);
    snprintf(key + used, CELL_KEY - used, " run=%" PRId64 " n=%" PRId64, w->job->run, w->size);
}

/* Layers that a network does not have: nothing is known, and need not be asked again. */
static px_status work_put_none(fz_work *w, px_error *err)
{
    static const char *const names[] = {"faults", "outputs", "rft", "classes", "oi", "picks"};
    cell_list cell = {.count = 0};
    char key[CELL_KEY];
    for (size_t i = 0; i < PX_LEN(names); i++)
        pxi_cell_put(&cell, (double)NAN, "%s", names[i]);
    work_key(w, key);
    return pxi_study_put(w->study, key, 0.0, &cell, err);
}

static px_status work_put(fz_work *w, px_error *err)
{
    const px_fuzz_report report = px_fuzz_report_get(w->fuzz);
    px_campaign_counts counts;
    fz_tally tally = {.count = 0};
    cell_list cell = {.count = 0};
    char key[CELL_KEY];
    px_status status = px_campaign_count(w->campaign, &counts, err);
    if (status == PX_OK)
        status = tally_make(&tally, w->campaign, err);
    const double outputs = (double)report.outputs, faults = (double)report.faults;
    pxi_cell_put(&cell, faults, "faults");
    pxi_cell_put(&cell, outputs, "outputs");
    pxi_cell_put(&cell, outputs > 0.0 ? faults / outputs : (double)NAN, "rft");
    pxi_cell_put(&cell, report.coverage.value, "coverage");
    pxi_cell_put(&cell, report.coverage_seeds, "coverage_seeds");
    pxi_cell_put(&cell, (double)report.classes, "classes");
    pxi_cell_put(&cell, counts.oi, "oi");
    pxi_cell_put(&cell, counts.oi_outputs, "oi_outputs");
    pxi_cell_put(&cell, faults > 0.0 ? report.run_s / faults : (double)NAN, "fre");
    pxi_cell_put(&cell, report.run_s, "seconds");
    pxi_cell_put(&cell, (double)report.turns, "picks");
    pxi_cell_put(&cell, (double)report.executions, "executions");
    pxi_cell_put(&cell, (double)report.unique_faults, "unique");
    pxi_cell_put(&cell, tally.roots, "roots");
    pxi_cell_put(&cell, tally.pairs, "pairs");
    pxi_cell_put(&cell, tally.sound, "sound");
    pxi_cell_put(&cell, (double)counts.faults, "stored");
    pxi_cell_put(&cell, (double)report.seeds, "seeds");
    pxi_cell_put(&cell, (double)report.seeds_wrong, "seeds_wrong");
    pxi_cell_put(&cell, (double)report.resets, "resets");
    if (w->by.paths) {
        const px_path_judge_sums sums = px_path_judge_get_sums(w->words.judge);
        pxi_cell_put(&cell, report.paths.tau, "tau");
        pxi_cell_put(&cell, report.paths.similarity, "similarity");
        pxi_cell_put(&cell, 100.0 * report.paths.kept, "kept_percent");
        pxi_cell_put(&cell, 100.0 * report.paths.as_label, "as_label_percent");
        pxi_cell_put(&cell, (double)sums.tokens, "tokens");
        pxi_cell_put(&cell, (double)sums.dropped, "tokens_dropped");
    }
    work_key(w, key);
    if (status == PX_OK)
        status = pxi_study_put(w->study, key, report.run_s, &cell, err);
    free(tally.faults);
    free(tally.is_fault);
    return status;
}

static px_status work_all(fz_work *w, px_error *err)
{
    const study_network network = fz_network(w->job->subject);
    const int64_t limit = fz_seeds(w->study) == FZ_SEEDS ? 0 : fz_seeds(w->study);
    PX_TRY(work_guide(w, err));
    if (fz_guides[w->job->a].paths && !w->by.paths)
        return work_put_none(w, err);
    PX_TRY(pxi_study_open(w->study, w->model, network.dataset, "test", 0.0, limit, &w->test, err));
    PX_TRY(work_fuzz(w, err));
    return work_put(w, err);
}

px_status fz_run_cell(px_study *study, const study_job *job, px_error *err)
{
    fz_work w = {.study = study, .job = job, .measure = (fz_measure)job->b};
    w.size = fz_size(study, w.measure);
    const px_status status = work_all(&w, err);
    work_close(&w);
    ng_words_close(&w.words);
    px_cover_free(w.cover);
    px_profile_free(w.profile);
    pxi_study_close(&w.test);
    px_model_free(w.own);
    return status;
}
