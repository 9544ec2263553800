/* studies/nsgen/nsgen_search.c - the faults that networks are retrained with: a campaign, and a
 * control
 *
 * FOLDER/campaigns/..._retrain is a campaign like any other. NSGen looks for as many faults as
 * there are seeds, in at most ten times as many picks; without a guide as many are looked for as
 * NSGen has found, with no more executions.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "nsgen/nsgen_stats.h"

#include "base/memory.h"

#include <plexor/fuzz.h>
#include <plexor/system.h>
#include <stdlib.h>
#include <string.h>

enum { TURNS_PER_FAULT = 10 };

px_status ng_search_path(const px_study *study, const study_job *job, size_t arm, char **out,
                         px_error *err)
{
    px_text path = {0};
    char *other = fz_campaign_path(study, job->subject, arm == NG_FAULTS ? FZ_NSGEN : FZ_RANDOM,
                                   FZ_BY_PICKS, job->run);
    px_text_format(&path, "%s_retrain", other ? other : "");
    *out = other ? px_text_take(&path) : NULL;
    px_text_done(&path);
    free(other);
    return *out ? PX_OK : pxi_no_memory(err);
}

typedef struct search {
    px_study *study;
    const study_job *job;
    px_model *model; /* borrowed */
    ng_words words;
    px_model *own; /* where there are no words */
    study_data seeds;
    px_campaign *campaign;
    px_fuzz *fuzz;
    px_fuzz_limits limits;
} search;

static bool search_progress(void *context, const px_fuzz_report *report)
{
    const search *s = context;
    const px_study_options *o = &s->study->options;
    return !o->progress || o->progress(o->context, PX_MIN(report->faults, s->limits.faults),
                                       PX_MAX(s->limits.faults, 1));
}

static px_status search_limits(search *s, px_error *err)
{
    char key[CELL_KEY];
    s->limits.faults = ng_inputs(s->study, FZ_SEEDS);
    s->limits.turns = s->limits.faults * TURNS_PER_FAULT;
    if (s->job->b == NG_FAULTS)
        return PX_OK;
    ng_search_key(s->study, s->job->subject, NG_FAULTS, s->job->run, key);
    const study_cell *cell = pxi_cells_find(s->study->cells, key);
    if (!cell)
        return px_fail(err, PX_E_INTERNAL, "'%s' is not there", key);
    s->limits = (px_fuzz_limits){.faults = (int64_t)pxi_cell_number(cell, "faults"),
                                 .executions = (int64_t)pxi_cell_number(cell, "executions")};
    return PX_OK;
}

static px_status search_open(search *s, px_error *err)
{
    const size_t subject = s->job->subject;
    const study_network network = fz_network(subject);
    const fz_paths *setting = fz_guides[FZ_NSGEN].paths;
    if (s->job->b == NG_FAULTS) {
        PX_TRY(ng_words_open(s->study, subject, setting, &s->words, err));
        PX_TRY(ng_words_threshold(s->study, subject, setting, &s->words, err));
        s->model = s->words.model;
    } else {
        PX_TRY(pxi_network_load(s->study, &network, &s->own, err));
        s->model = s->own;
    }
    return pxi_study_open(s->study, s->model, network.dataset, "test", 0.5,
                          ng_inputs(s->study, FZ_SEEDS), &s->seeds, err);
}

static px_status search_campaign(search *s, px_error *err)
{
    char *path = NULL;
    px_status status = ng_search_path(s->study, s->job, s->job->b, &path, err);
    if (status == PX_OK)
        status = pxi_study_campaign(s->study, path, &s->campaign, err);
    free(path);
    return status;
}

static px_status search_run(search *s, px_error *err)
{
    const px_study_options *o = &s->study->options;
    const px_fuzz_paths paths = {.paths = s->words.paths,
                                 .judge = s->words.judge,
                                 .threshold = &s->words.threshold,
                                 .mode = PX_PATH_FULL};
    px_fuzz_options options = px_fuzz_options_default();
    options.campaign = s->campaign;
    options.model = s->model;
    options.set = s->seeds.set;
    options.pre = &s->seeds.pre;
    options.paths = s->job->b == NG_FAULTS ? &paths : NULL;
    options.guide.name = "random"; /* without paths */
    options.policy = "nsgen";
    options.seeds = 0; /* all that it gets right */
    options.seed = o->seed + (uint64_t)s->job->run;
    options.threads = o->threads;
    options.command = o->command;
    options.progress = search_progress;
    options.context = s;
    PX_TRY(px_fuzz_new(&options, &s->fuzz, err));
    return s->limits.faults > 0 ? px_fuzz_run(s->fuzz, &s->limits, err) : PX_OK;
}

static px_status search_put(search *s, double start, px_error *err)
{
    const px_fuzz_report report = px_fuzz_report_get(s->fuzz);
    cell_list cell = {.count = 0};
    char key[CELL_KEY];
    pxi_cell_put(&cell, (double)PX_MIN(report.faults, s->limits.faults), "faults");
    pxi_cell_put(&cell, (double)s->limits.faults, "wanted");
    pxi_cell_put(&cell, (double)report.outputs, "outputs");
    pxi_cell_put(&cell, (double)report.turns, "picks");
    pxi_cell_put(&cell, (double)report.executions, "executions");
    pxi_cell_put(&cell, (double)report.seeds, "seeds");
    pxi_cell_put(&cell, report.run_s, "seconds");
    ng_search_key(s->study, s->job->subject, s->job->b, s->job->run, key);
    return pxi_study_put(s->study, key, px_clock_s() - start, &cell, err);
}

px_status ng_search_run(px_study *study, const study_job *job, px_error *err)
{
    const double start = px_clock_s();
    search s = {.study = study, .job = job};
    px_status status = search_limits(&s, err);
    if (status == PX_OK)
        status = search_open(&s, err);
    if (status == PX_OK)
        status = search_campaign(&s, err);
    if (status == PX_OK)
        status = search_run(&s, err);
    if (status == PX_OK)
        status = search_put(&s, start, err);
    px_fuzz_free(s.fuzz);
    px_campaign_close(s.campaign);
    pxi_study_close(&s.seeds);
    px_model_free(s.own);
    ng_words_close(&s.words);
    return status;
}
