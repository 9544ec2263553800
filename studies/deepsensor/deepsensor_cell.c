/* studies/deepsensor/deepsensor_cell.c - one campaign of the study: a network, a method, a run
 *
 * FOLDER/campaigns/DATASET_ARCH_METHOD_R_N is a campaign like any other: a run that was stopped
 * goes on in it. What later parts need of it is in FOLDER/examples, so that it may be deleted once
 * its cells are there.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "deepsensor/deepsensor_study.h"

#include "base/memory.h"

#include <inttypes.h>
#include <math.h>
#include <plexor/fuzz.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct ds_work {
    px_study *study;
    const study_job *job;
    const ds_method *method;
    size_t subject, state;
    px_model *model, *rivals[DS_RIVALS];
    size_t rival_count;
    study_data test;
    px_profile *profile;
    px_cover *cover; /* NULL: no guide */
    px_campaign *campaign;
    px_fuzz *fuzz;
    ds_trail trail;
    px_fuzz_limits limits;
} ds_work;

void ds_prefix(const px_study *study, size_t subject, size_t state, size_t method,
               char key[CELL_KEY])
{
    const int used =
        snprintf(key, CELL_KEY, "%s %s %s %s", ds_subjects[subject].dataset,
                 ds_subjects[subject].arch, ds_states[state].id, ds_methods[method].id);
    if (ds_iterations(study) != DS_ITERATIONS)
        snprintf(key + used, (size_t)(CELL_KEY - used), " iters=%" PRId64, ds_iterations(study));
}

/* --- files ------------------------------------------------------------------------------------ */

/* "FOLDER/WHERE/mnist_lenet5_clean_deephunter_1_1000" */
static void cell_path(const px_study *study, const char *where, size_t subject, size_t state,
                      size_t method, int64_t run, px_text *out)
{
    const ds_subject *s = &ds_subjects[subject];
    px_text_format(out, "%s/%s/%s_%s_%s_%s_%" PRId64 "_%" PRId64, study->folder, where, s->dataset,
                   s->arch, ds_states[state].id, ds_methods[method].id, run, ds_seeds(study));
    if (ds_iterations(study) != DS_ITERATIONS)
        px_text_format(out, "x%" PRId64, ds_iterations(study));
}

char *ds_examples_path(const px_study *study, size_t subject, size_t state, size_t method,
                       int64_t run, bool seeds, px_error *err)
{
    px_text path = {0};
    cell_path(study, "examples", subject, state, method, run, &path);
    px_text_format(&path, "%s.npz", seeds ? "_seeds" : "");
    char *taken = px_text_take(&path);
    if (!taken)
        pxi_no_memory(err);
    return taken;
}

/* --- what it needs ---------------------------------------------------------------------------- */

static px_status work_networks(ds_work *w, px_error *err)
{
    char arch[DS_ARCH];
    ds_rival rivals[DS_RIVALS];
    const study_network network = ds_network(w->subject, w->state, arch);
    PX_TRY(pxi_network_load(w->study, &network, &w->model, err));
    if (strcmp(w->method->engine, "deepxplore") != 0)
        return PX_OK;
    const size_t count = ds_rivals(w->subject, rivals);
    for (size_t i = 0; i < count; i++) {
        const study_network rival = ds_rival_network(w->subject, &rivals[i]);
        if (!pxi_network_done(w->study, &rival))
            continue;
        PX_TRY(pxi_network_load(w->study, &rival, &w->rivals[w->rival_count], err));
        w->rival_count++;
    }
    return PX_OK;
}

/* Ranges of the first training inputs, which are of all classes in turn. */
static px_status work_cover(ds_work *w, px_error *err)
{
    px_lessons lessons = {0};
    study_data train = {.set = NULL};
    px_cover_options options = px_cover_options_default();
    px_profile_options profile = px_profile_options_default();
    if (!w->method->guide)
        return PX_OK;
    options.criteria = w->method->guide;
    options.seed = profile.seed = w->study->options.seed;
    options.threads = profile.threads = w->study->options.threads;
    px_status status = px_cover_lessons(w->model, NULL, &options, &lessons, err);
    if (status == PX_OK)
        status = pxi_study_open(w->study, w->model, ds_subjects[w->subject].dataset, "train", 0.0,
                                DS_PROFILE, &train, err);
    if (status == PX_OK)
        status =
            px_profile_make(w->model, &lessons, train.set, &train.pre, &profile, &w->profile, err);
    px_lessons_free(&lessons);
    pxi_study_close(&train);
    options.profile = w->profile;
    return status == PX_OK ? px_cover_new(w->model, NULL, &options, &w->cover, err) : status;
}

static px_status work_campaign(ds_work *w, px_error *err)
{
    px_text path = {0};
    cell_path(w->study, "campaigns", w->subject, w->state, w->job->a, w->job->run, &path);
    px_status status = px_text_failed(&path) ? pxi_no_memory(err) : PX_OK;
    if (status == PX_OK)
        status = pxi_study_campaign(w->study, px_text_get(&path), &w->campaign, err);
    px_text_done(&path);
    return status;
}

/* --- the campaign ----------------------------------------------------------------------------- */

static bool work_progress(void *context, const px_fuzz_report *report)
{
    const ds_work *w = context;
    const px_study_options *o = &w->study->options;
    const bool swarm = w->method->clock == DS_BY_SWARM; /* which ends by itself */
    const int64_t all = swarm ? report->seeds * ds_iterations(w->study) : w->limits.turns;
    return !o->progress ||
           o->progress(o->context, PX_MIN(swarm ? report->outputs : report->turns, all), all);
}

enum { WORK_GROUP = 64 }; /* seeds of a turn of the engines that climb */

/* How many turns make the iterations of `seeds` seeds. */
static int64_t work_turns(const ds_work *w, int64_t seeds)
{
    const int64_t iterations = ds_iterations(w->study);
    switch (w->method->clock) {
    case DS_BY_EXECUTION:
        return seeds * iterations;
    case DS_BY_VISIT:
        return (seeds * iterations + WORK_GROUP - 1) / WORK_GROUP;
    case DS_BY_STEP:
        return (seeds + WORK_GROUP - 1) / WORK_GROUP;
    case DS_BY_SWARM:
        break;
    }
    return 0; /* it ends when every seed had its swarm */
}

static px_status work_fuzz(ds_work *w, px_error *err)
{
    const px_study_options *o = &w->study->options;
    const ds_method *m = w->method;
    const char *settings[DS_METHOD_SETTINGS + 2];
    char iters[32], group[32];
    size_t count = 0;
    while (m->settings[count]) {
        settings[count] = m->settings[count];
        count++;
    }
    snprintf(iters, sizeof iters, "iters=%" PRId64, ds_iterations(w->study));
    snprintf(group, sizeof group, "group=%d", WORK_GROUP);
    if (m->clock == DS_BY_STEP || m->clock == DS_BY_SWARM)
        settings[count++] = iters;
    if (m->clock == DS_BY_STEP || m->clock == DS_BY_VISIT)
        settings[count++] = group;
    px_fuzz_options options = px_fuzz_options_default();
    options.campaign = w->campaign;
    options.model = w->model;
    options.rivals = (const px_model *const *)w->rivals;
    options.rival_count = w->rival_count;
    options.set = w->test.set;
    options.pre = &w->test.pre;
    if (px_fuzz_engine_find(m->engine)->guided)
        options.guide.name = "random"; /* without a cover */
    options.cover = w->cover;
    options.profile = w->profile;
    options.engine = m->engine;
    options.preset = m->preset;
    options.policy = m->policy;
    options.settings = settings;
    options.setting_count = count;
    options.seeds = ds_is_audio(w->subject) && !o->limit ? 0 : ds_seeds(w->study);
    options.seed = o->seed + (uint64_t)w->job->run;
    options.threads = o->threads;
    options.command = o->command;
    options.progress = work_progress;
    options.context = w;
    PX_TRY(px_fuzz_new(&options, &w->fuzz, err));
    w->limits.turns = work_turns(w, px_fuzz_report_get(w->fuzz).seeds);
    return px_fuzz_run(w->fuzz, &w->limits, err);
}

/* --- what came of it -------------------------------------------------------------------------- */

static void put_counts(cell_list *cell, const ds_counts *c, const char *prefix)
{
    pxi_cell_put(cell, c->errors, "%serrors", prefix);
    pxi_cell_put(cell, c->categories, "%scategories", prefix);
    pxi_cell_put(cell, c->polluted, "%spolluted", prefix);
    pxi_cell_put(cell, c->last, "%sany", prefix);
    pxi_cell_put(cell, c->last_polluted, "%spol", prefix);
    pxi_cell_put(cell, c->l2, "%sl2", prefix);
    pxi_cell_put(cell, c->linf, "%slinf", prefix);
    if (!isnan(c->ssim))
        pxi_cell_put(cell, c->ssim, "%sssim", prefix);
    pxi_cell_put(cell, c->last_l2, "%slast_l2", prefix);
    pxi_cell_put(cell, c->last_linf, "%slast_linf", prefix);
}

/* Unbounded, as the method left them; cut to the common bound; and what changes of the same size do
 * that nobody looked for. */
static px_status work_count(ds_work *w, cell_list *cell, px_error *err)
{
    const int64_t polluted = ds_polluted_class(w->subject, w->state);
    px_text scratch = {0};
    ds_counts counts = {0};
    cell_path(w->study, "examples", w->subject, w->state, w->job->a, w->job->run, &scratch);
    px_text_add(&scratch, "_projected.npz");
    if (px_text_failed(&scratch))
        return pxi_no_memory(err);
    ds_bound bound = {.model = w->model,
                      .pre = &w->test.pre,
                      .linf = INFINITY,
                      .scratch = px_text_get(&scratch),
                      .threads = w->study->options.threads};
    px_status status = pxi_study_own(w->study, bound.scratch, err);
    if (status == PX_OK)
        status = ds_trail_project(&w->trail, w->campaign, &bound, polluted, &counts, err);
    if (!isnan(w->trail.place_categories)) { /* as the paper counts them, over all particles */
        pxi_cell_put(cell, counts.categories, "example_categories");
        counts.categories = w->trail.place_categories;
    }
    put_counts(cell, &counts, "");
    static const struct {
        ds_change change;
        const char *name;
    } others[] = {{DS_NOISE, "noise"}, {DS_SHUFFLED, "shuffled"}};
    bound.seed = w->study->options.seed + (uint64_t)w->job->run;
    for (size_t i = 0; i < PX_LEN(others) && status == PX_OK; i++) {
        bound.change = others[i].change;
        status = ds_trail_project(&w->trail, w->campaign, &bound, polluted, &counts, err);
        pxi_cell_put(cell, counts.errors, "%s_errors", others[i].name);
        pxi_cell_put(cell, counts.last_l2, "%s_last_l2", others[i].name); /* as last_l2, or less */
    }
    bound.change = DS_CUT;
    bound.linf = DS_BOUND;
    if (status == PX_OK)
        status = ds_trail_project(&w->trail, w->campaign, &bound, polluted, &counts, err);
    put_counts(cell, &counts, "near_");
    px_text_done(&scratch);
    return status;
}

static px_status work_examples(const ds_work *w, px_error *err)
{
    px_status status = PX_OK;
    for (int seeds = 0; seeds < 2 && status == PX_OK; seeds++) {
        char *path = ds_examples_path(w->study, w->subject, w->state, w->job->a, w->job->run,
                                      seeds != 0, err);
        status = path ? pxi_study_own(w->study, path, err) : (px_status)PX_E_NOMEM;
        if (status == PX_OK)
            status = ds_trail_save(&w->trail, w->campaign, seeds != 0, path, err);
        free(path);
    }
    return status;
}

static px_status work_put(ds_work *w, px_error *err)
{
    const px_fuzz_report report = px_fuzz_report_get(w->fuzz);
    cell_list cell = {.count = 0};
    char key[CELL_KEY];
    PX_TRY(ds_trail_read(w->campaign, w->method->clock, ds_iterations(w->study), &w->trail, err));
    PX_TRY(work_count(w, &cell, err));
    PX_TRY(work_examples(w, err));
    pxi_cell_put(&cell, w->trail.fresh, "fresh");
    pxi_cell_put(&cell, w->trail.pairs, "pairs");
    pxi_cell_put(&cell, (double)report.seeds, "seeds");
    pxi_cell_put(&cell, (double)report.seeds_wrong, "seeds_wrong");
    pxi_cell_put(&cell, (double)report.executions, "executions");
    pxi_cell_put(&cell, (double)report.faults, "faults");
    pxi_cell_put(&cell, report.run_s, "run_seconds");
    pxi_cell_put(&cell, 100.0 * report.run_s / (double)PX_MAX(report.seeds, (int64_t)1),
                 "seconds_per_100");
    for (int64_t g = 0; g < w->trail.iterations && g < DS_ITERATIONS; g++)
        if (!isnan(w->trail.fitness[g]))
            pxi_cell_put(&cell, w->trail.fitness[g], "fitness%" PRId64, g + 1);
    ds_prefix(w->study, w->subject, w->state, w->job->a, key);
    const size_t used = strlen(key);
    snprintf(key + used, CELL_KEY - used, " run=%" PRId64 " n=%" PRId64, w->job->run,
             ds_seeds(w->study));
    return pxi_study_put(w->study, key, report.run_s, &cell, err);
}

static px_status work_all(ds_work *w, px_error *err)
{
    PX_TRY(work_networks(w, err));
    PX_TRY(pxi_study_open(w->study, w->model, ds_subjects[w->subject].dataset, "test", 0.0, 0,
                          &w->test, err));
    PX_TRY(work_cover(w, err));
    PX_TRY(work_campaign(w, err));
    PX_TRY(work_fuzz(w, err));
    return work_put(w, err);
}

px_status ds_run_cell(px_study *study, const study_job *job, px_error *err)
{
    ds_work w = {.study = study,
                 .job = job,
                 .method = &ds_methods[job->a],
                 .subject = job->subject,
                 .state = job->b};
    const px_status status = work_all(&w, err);
    ds_trail_free(&w.trail);
    px_fuzz_free(w.fuzz);
    px_campaign_close(w.campaign);
    px_cover_free(w.cover);
    px_profile_free(w.profile);
    pxi_study_close(&w.test);
    for (size_t i = 0; i < w.rival_count; i++)
        px_model_free(w.rivals[i]);
    px_model_free(w.model);
    return status;
}
