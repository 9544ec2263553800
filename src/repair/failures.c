/* src/repair/failures.c - mutants that a network gets wrong, to be trained on
 *
 * Three passes: all mutants are judged; those that are wrong are asked what each alone would add to
 * the coverage of D; those that would add something are walked through in order while D grows.
 * Coverage never falls, so whoever adds nothing to the first D adds nothing later, and only the
 * last pass, which is short, runs on one worker.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include <internal/data.h>
#include <internal/failures.h>
#include <internal/text.h>

#include "base/memory.h"
#include "repair/hold_out.h"
#include "train/augment.h"
#include <internal/pass.h>

#include <internal/cover.h>
#include <internal/mutate.h>
#include <math.h>
#include <plexor/predict.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct px_failures {
    px_mutant_set *mutants;
    px_preprocess pre;
    pxi_items kept;
    px_failures_counts counts;
};

/* --- names ----------------------------------------------------------------------------------- */

const char *px_generator_mutations(const char *id)
{
    for (size_t i = 0; i < PXI_GENERATOR_COUNT; i++)
        if (strcmp(pxi_generators[i].id, id) == 0)
            return pxi_generators[i].mutations;
    return NULL;
}

const char *px_failures_keep_name(px_failures_keep keep)
{
    static const char *const names[] = {
#define KEEP_NAME(enumerator, id, help) [enumerator] = id,
        PX_KEEPS(KEEP_NAME)
#undef KEEP_NAME
    };
    return names[keep];
}

px_failures_options px_failures_options_default(void)
{
    static const double threshold = 0.75;
    return (px_failures_options){
        .generator = "dh", .threshold = threshold, .iteration = PX_MUTATE_CANDIDATES};
}

/* --- coverage of rows ------------------------------------------------------------------------ */

typedef struct failures_work {
    const px_failures_options *o;
    const px_dataset *mutants;
    px_cover *cover; /* of D; of nothing with `pairwise` */
    pxi_pass *pass;
    pxi_items wrong;
    bool *improves; /* per wrong one: it adds to the cover as it was at first */
} failures_work;

static px_status work_cover(failures_work *w, px_error *err)
{
    const px_failures_options *o = w->o;
    const px_shape sample = px_dataset_shape(o->parents.set);
    px_shape input = {.rank = sample.rank + 1, .dim = {1}};
    char threshold[32 + PX_REAL_TEXT], number[PX_REAL_TEXT];
    const char *const settings[] = {threshold, "nc.variant=raw"};
    px_cover_options options = px_cover_options_default();
    for (int d = 0; d < sample.rank; d++)
        input.dim[d + 1] = sample.dim[d];
    snprintf(threshold, sizeof threshold, "nc.t=%s", px_real_text(o->threshold, number));
    options.criteria = "nc";
    options.settings = settings;
    options.setting_count = PX_LEN(settings);
    options.neurons = o->neurons;
    options.threads = o->threads;
    return px_cover_new(o->model, &input, &options, &w->cover, err);
}

/* Adds one part of D. */
static px_status work_observe_part(failures_work *w, const px_feeder_set *part, px_error *err)
{
    px_cover_run_options run = px_cover_run_options_default();
    const int64_t count = px_dataset_count(part->set);
    bool *only = NULL;
    if (part->items) {
        PX_TRY(PX_NEW(only, count, err));
        for (int64_t i = 0; i < part->count; i++)
            only[part->items[i]] = true;
    }
    run.only = only;
    run.progress = w->o->progress;
    run.progress_context = w->o->progress_context;
    const px_status status = px_cover_run(w->cover, part->set, part->pre, &run, NULL, err);
    free(only);
    return status;
}

static px_status work_observe(failures_work *w, px_error *err)
{
    const px_failures_options *o = w->o;
    if (o->pairwise)
        return PX_OK;
    if (!o->covered)
        return work_observe_part(w, &o->parents, err);
    for (size_t i = 0; i < o->covered_count; i++)
        if (!o->covered[i].items || o->covered[i].count > 0)
            PX_TRY(work_observe_part(w, &o->covered[i], err));
    return PX_OK;
}

typedef struct failures_lane {
    px_reader *reader;
    double *own; /* [batch]: what the parents would add */
} failures_lane;

static px_status lane_open(pxi_lane *lane, px_error *err)
{
    const failures_work *w = lane->context;
    failures_lane *own = lane->state;
    own->own = pxi_lane_array(lane, (size_t)pxi_pass_batch(lane->pass), sizeof *own->own);
    return px_reader_new(w->cover, pxi_pass_plan(lane->pass), &own->reader, err);
}

static void lane_close(pxi_lane *lane)
{
    px_reader_free(((failures_lane *)lane->state)->reader);
}

static px_status work_open(failures_work *w, px_error *err)
{
    const px_failures_options *o = w->o;
    const pxi_task task = {.model = o->model,
                           .set = o->parents.set,
                           .pre = o->parents.pre,
                           .count = w->wrong.count,
                           .threads = o->threads};
    const pxi_visitor visitor = {
        .context = w, .state_size = sizeof(failures_lane), .open = lane_open, .close = lane_close};
    px_plan_options wants = px_plan_options_default();
    wants.observe = px_cover_observe_values(w->cover, &wants.observe_count);
    wants.keep = px_cover_keep_values(w->cover, &wants.keep_count);
    wants.no_outputs = true;
    PX_TRY(PX_NEW(w->improves, (size_t)PX_MAX(w->wrong.count, 1), err));
    return pxi_pass_open(&task, &wants, &visitor, &w->pass, err);
}

/* Runs rows of a data set: what the reader has afterwards. */
static px_status work_forward(const failures_work *w, const pxi_lane *lane, const px_dataset *set,
                              const int64_t *index, int64_t rows, px_error *err)
{
    const failures_lane *own = lane->state;
    for (int64_t i = 0; i < rows; i++)
        PX_TRY(px_dataset_input(set, w->o->parents.pre, index[i], pxi_lane_input(lane, i), err));
    pxi_lane_pad(lane, rows);
    return px_reader_forward(own->reader, lane->session, rows, index, NULL, err);
}

/* What each wrong mutant of a micro-batch alone would add. */
static px_status work_ask(void *context, pxi_lane *lane, int64_t job, px_error *err)
{
    const failures_work *w = context;
    const failures_lane *own = lane->state;
    const int64_t batch = pxi_pass_batch(lane->pass), first = job * batch;
    const int64_t rows = PX_MIN(batch, w->wrong.count - first);
    const int64_t *index = w->wrong.index + first;
    if (w->o->pairwise)
        PX_TRY(work_forward(w, lane, w->o->parents.set, index, rows, err));
    for (int64_t i = 0; i < rows; i++)
        own->own[i] = w->o->pairwise ? px_cover_gain(w->cover, 0, own->reader, i) : 0.0;
    PX_TRY(work_forward(w, lane, w->mutants, index, rows, err));
    for (int64_t i = 0; i < rows; i++)
        w->improves[first + i] = px_cover_gain(w->cover, 0, own->reader, i) > own->own[i];
    return PX_OK;
}

/* Those that still add something when their turn comes; D grows by them. */
static px_status work_grow(failures_work *w, px_error *err)
{
    const pxi_lane *lane = pxi_pass_lane(w->pass, 0);
    const failures_lane *own = lane->state;
    for (int64_t i = 0; i < w->wrong.count; i++) {
        if (!w->improves[i])
            continue;
        PX_TRY(work_forward(w, lane, w->mutants, &w->wrong.index[i], 1, err));
        w->improves[i] = px_cover_gain(w->cover, 0, own->reader, 0) > 0.0;
        if (w->improves[i])
            PX_TRY(px_cover_observe(w->cover, own->reader, 0, 1, err));
    }
    return PX_OK;
}

static px_status work_improving(failures_work *w, px_failures_counts *counts, px_error *err)
{
    const px_failures_options *o = w->o;
    PX_TRY(work_cover(w, err));
    PX_TRY(work_observe(w, err));
    PX_TRY(work_open(w, err));
    const int64_t batch = pxi_pass_batch(w->pass);
    const pxi_left left = {
        .each = batch, .count = w->wrong.count, .array = {{w->improves, sizeof *w->improves}}};
    pxi_pass_leaves(w->pass, &left);
    PX_TRY(pxi_pass_each(w->pass, (w->wrong.count + batch - 1) / batch, NULL, work_ask, w, err));
    if (!o->pairwise)
        counts->coverage_before = px_cover_value(w->cover, 0).value;
    if (!o->pairwise && o->keep == PX_KEEP_IMPROVING)
        PX_TRY(work_grow(w, err));
    if (!o->pairwise)
        counts->coverage_after = px_cover_value(w->cover, 0).value;
    counts->improving = 0;
    for (int64_t i = 0; i < w->wrong.count; i++)
        counts->improving += w->improves[i];
    return PX_OK;
}

static void work_done(failures_work *w)
{
    pxi_pass_close(w->pass);
    free(w->improves);
    px_cover_free(w->cover);
    pxi_items_done(&w->wrong);
}

/* --- the run --------------------------------------------------------------------------------- */

/* Leaves in `items` the mutants that are wrong. */
static px_status failures_judge(const px_failures_options *o, const px_dataset *mutants,
                                pxi_items *items, px_error *err)
{
    px_predict_options how = px_predict_options_default();
    px_predictions said = {0};
    int64_t kept = 0;
    if (items->count == 0)
        return PX_OK;
    how.indices = items->index;
    how.index_count = items->count;
    how.threads = o->threads;
    how.progress = o->progress;
    how.context = o->progress_context;
    PX_TRY(px_predict(o->model, mutants, o->parents.pre, &how, &said, err));
    for (int64_t i = 0; i < items->count; i++)
        if (said.predicted[i] != said.label[i])
            items->index[kept++] = items->index[i];
    items->count = kept;
    px_predictions_done(&said);
    return PX_OK;
}

static px_status failures_choose(px_failures *f, failures_work *w, px_error *err)
{
    const px_failures_options *o = w->o;
    f->counts.wrong = w->wrong.count;
    f->counts.improving = -1;
    f->counts.coverage_before = f->counts.coverage_after = (double)NAN;
    if (o->keep != PX_KEEP_WRONG)
        PX_TRY(work_improving(w, &f->counts, err));
    int64_t kept = 0;
    for (int64_t i = 0; i < w->wrong.count; i++)
        if (o->keep == PX_KEEP_WRONG || w->improves[i] == (o->keep == PX_KEEP_IMPROVING))
            w->wrong.index[kept++] = w->wrong.index[i];
    w->wrong.count = f->counts.kept = kept;
    f->kept = w->wrong;
    w->wrong = (pxi_items){0};
    return PX_OK;
}

/* Items that are not in their set are the caller's mistake. */
static px_status failures_check(const px_feeder_set *from, px_error *err)
{
    const int64_t all = px_dataset_count(from->set);
    for (int64_t i = 0; from->items && i < from->count; i++)
        if (from->items[i] < 0 || from->items[i] >= all)
            return px_fail(err, PX_E_USAGE, "item %lld is not in a data set of %lld",
                           (long long)from->items[i], (long long)all);
    return PX_OK;
}

static px_status failures_fill(px_failures *f, const px_failures_options *o, px_error *err)
{
    px_scores scores;
    px_mutations from;
    const char *mutations = px_generator_mutations(o->generator);
    if (!mutations)
        return px_fail(err, PX_E_USAGE,
                       "there is no generator '%.60s'; there are dh, dh-d and dh-n", o->generator);
    PX_TRY(failures_check(&o->parents, err));
    for (size_t i = 0; o->covered && i < o->covered_count; i++)
        PX_TRY(failures_check(&o->covered[i], err));
    PX_TRY(px_model_scores(o->model, &scores, err));
    PX_TRY(px_dataset_check_labels(o->parents.set, scores.classes, err));
    PX_TRY(px_mutations_parse(mutations, &from, err));
    PX_TRY(px_mutant_set_new(o->parents.set, &from, o->seed, o->iteration, &f->mutants, err));
    f->pre = *o->parents.pre;
    failures_work w = {.o = o, .mutants = px_mutant_set_data(f->mutants)};
    px_status status = pxi_items_all(&o->parents, &w.wrong, err);
    f->counts.mutants = w.wrong.count;
    PX_THEN(status, failures_judge(o, w.mutants, &w.wrong, err));
    PX_THEN(status, failures_choose(f, &w, err));
    work_done(&w);
    return status;
}

px_status px_failures_make(const px_failures_options *options, px_failures **out, px_error *err)
{
    px_failures *f = NULL;
    PX_TRY(PX_NEW(f, 1, err));
    const px_status status = failures_fill(f, options, err);
    return PX_GIVE(status, f, out, px_failures_free);
}

void px_failures_free(px_failures *f)
{
    if (!f)
        return;
    pxi_items_done(&f->kept);
    px_mutant_set_free(f->mutants);
    free(f);
}

px_feeder_set px_failures_added(const px_failures *f)
{
    return (px_feeder_set){.set = px_mutant_set_data(f->mutants),
                           .pre = &f->pre,
                           .items = f->kept.index,
                           .count = f->kept.count};
}

px_failures_counts px_failures_count(const px_failures *f)
{
    return f->counts;
}
