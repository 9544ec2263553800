/* studies/nsgen/nsgen_map.c - Figure 8 of the NSGen paper: faults that only NSGen finds, on a map
 *
 * The paper shows faults of NSGen, KMNC, DSC and NLC on a UMAP, NSGen's as red dots that lie apart.
 * A look is no measure, so two are taken in the last hidden layer itself, not on the map. Error
 * types are pairs of a true and a predicted class: those that a guide's faults have and no rival's.
 * And regions: faults whose 15 nearest are all of the same guide, beside what permuted guides give.
 * The class alone and no guide at all take NSGen's place in turn, to show what any guide gets.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "nsgen/nsgen_map.h"

#include "base/file.h"
#include "base/memory.h"

#include <internal/text.h>
#include <inttypes.h>
#include <math.h>
#include <plexor/store.h>
#include <plexor/system.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const ng_map_guides[NG_MAP_ALL] = {"nsgen", "kmnc", "dsc", "nlc", "nsgen-label-only",
                                               "random"};

bool ng_map_rival(size_t guide, size_t other)
{
    if (other == guide || other >= NG_MAP_LABEL)
        return false;
    return other != NG_MAP_NSGEN || (guide >= NG_MAP_KMNC && guide <= NG_MAP_NLC);
}

static void map_key(const px_study *study, size_t subject, int64_t run, char key[CELL_KEY])
{
    ng_map_prefix(study, subject, key);
    const size_t used = strlen(key);
    snprintf(key + used, CELL_KEY - used, " run=%" PRId64 " n=%d", run, NG_MAP_FAULTS);
}

/* --- the plan --------------------------------------------------------------------------------- */

static fz_measure measure_of(const px_study *study)
{
    return study->options.each_s > 0.0 ? FZ_BY_SECONDS : FZ_BY_PICKS;
}

/* The campaign is there, or a job before this one makes it. */
static px_status has_campaign(const px_study *study, size_t subject, size_t guide, int64_t run,
                              bool *out, px_error *err)
{
    const size_t g = fz_guide_find(ng_map_guides[guide]);
    const fz_measure measure = measure_of(study);
    char *path = fz_campaign_path(study, subject, g, measure, run);
    if (!path)
        return pxi_no_memory(err);
    *out = px_campaign_is(path);
    free(path);
    for (size_t i = 0; i < study->job_count && !*out; i++) {
        const study_job *job = &study->jobs[i];
        *out = strcmp(job->kind, "cell") == 0 && job->subject == subject && job->a == g &&
               job->b == (size_t)measure && job->run == run;
    }
    return PX_OK;
}

/* The campaign was run, or went on, since the map was made. */
static bool has_more(const px_study *study, size_t subject, size_t guide, int64_t run,
                     const study_cell *map)
{
    char key[CELL_KEY], name[CELL_NAME];
    const fz_measure measure = measure_of(study);
    fz_prefix(study, subject, fz_guide_find(ng_map_guides[guide]), measure, key);
    const size_t used = strlen(key);
    snprintf(key + used, CELL_KEY - used, " run=%" PRId64 " n=%" PRId64, run,
             fz_size(study, measure));
    snprintf(name, sizeof name, "faults_%s", ng_map_guides[guide]);
    const double shown = map ? pxi_cell_number(map, name) : (double)NAN;
    const study_cell *cell = pxi_cells_find(study->cells, key);
    return isnan(shown) || (cell && pxi_cell_number(cell, "stored") > shown);
}

/* A map is made of NSGen's faults and a rival's, and again where there are more. */
static px_status map_wanted(const px_study *study, size_t subject, int64_t run, bool *out,
                            px_error *err)
{
    char key[CELL_KEY];
    bool rivals = false, more = false, own = false;
    map_key(study, subject, run, key);
    const study_cell *cell = pxi_cells_find(study->cells, key);
    for (size_t g = 0; g < NG_MAP_ALL; g++) {
        bool there = false;
        PX_TRY(has_campaign(study, subject, g, run, &there, err));
        own |= there && g == NG_MAP_NSGEN;
        rivals |= there && ng_map_rival(NG_MAP_NSGEN, g);
        more |= there && has_more(study, subject, g, run, cell);
    }
    *out = own && rivals && more;
    return PX_OK;
}

px_status ng_map_plan(px_study *study, px_error *err)
{
    const int64_t runs = pxi_study_runs(study, "map");
    for (int64_t run = 1; run <= runs; run++)
        for (size_t subject = 0; subject < FZ_SUBJECTS; subject++) {
            const fz_subject *s = &fz_subjects[subject];
            study_job job = {.kind = "map", .subject = subject, .run = run, .network = 1};
            bool wanted = false;
            if (ng_planned(study, subject))
                PX_TRY(map_wanted(study, subject, run, &wanted, err));
            if (!wanted)
                continue;
            snprintf(job.label, sizeof job.label, "%s %s: a map of faults, run %" PRId64,
                     s->dataset, s->arch, run);
            snprintf(job.cost, sizeof job.cost, "%s %s map", s->dataset, s->arch);
            job.seconds = subject == FZ_RESNET ? 20.0 : 60.0;
            PX_TRY(pxi_study_add_job(study, &job, err));
        }
    return PX_OK;
}

/* --- faults ----------------------------------------------------------------------------------- */

static void work_done(ng_map_work *w)
{
    for (size_t g = 0; g < NG_MAP_ALL; g++)
        free(w->guide[g].pair);
    free(w->only);
    free(w->alone);
    px_map_free(w->map);
    px_model_free(w->model);
}

static px_status guide_pairs(ng_map_guide *guide, px_campaign *campaign, px_error *err)
{
    px_campaign_input in = {.id = 0};
    guide->faults = 0.0;
    for (;;) {
        PX_TRY(px_campaign_next(campaign, in.id, PX_INPUT_FAULT, &in, NULL, NULL, err));
        if (in.id == 0)
            break;
        const int64_t pair = ng_map_pair(in.label, in.prediction);
        guide->faults += 1.0;
        if (pair < 0)
            continue;
        if (pxi_grow(&guide->pair, &guide->pair_room, guide->pair_count + 1, sizeof pair) != 0)
            return pxi_no_memory(err);
        guide->pair[guide->pair_count++] = pair;
    }
    guide->pair_count = ng_map_pairs_sort(guide->pair, guide->pair_count);
    return PX_OK;
}

/* Some of the faults, through the network. */
static px_status guide_features(ng_map_work *w, size_t g, const char *path, px_error *err)
{
    const px_graph *graph = px_model_graph(w->model);
    const px_shape *input = &graph->values[graph->inputs[0]].shape;
    px_preprocess pre;
    px_dataset *set = NULL;
    px_data_options options = px_model_data_options(w->model);
    options.split = "faults";
    options.shuffle = true;
    options.seed = w->study->options.seed + (uint64_t)w->job->run;
    options.limit = NG_MAP_FAULTS;
    w->guide[g].first = px_map_count(w->map);
    PX_TRY(px_preprocess_init(&pre, px_model_properties(w->model),
                              px_model_property_count(w->model), input, NULL, err));
    PX_TRY(px_dataset_open_for(&pre, input, path, &options, &set, err));
    const px_status status = px_map_add(w->map, set, &pre, ng_map_guides[g], err);
    px_dataset_close(set);
    w->guide[g].count = px_map_count(w->map) - w->guide[g].first;
    return status;
}

static px_status work_guide(ng_map_work *w, size_t g, px_error *err)
{
    px_campaign *campaign = NULL;
    w->guide[g].faults = (double)NAN;
    char *path = fz_campaign_path(w->study, w->job->subject, fz_guide_find(ng_map_guides[g]),
                                  measure_of(w->study), w->job->run);
    if (!path)
        return pxi_no_memory(err);
    px_status status = PX_OK;
    if (px_campaign_is(path)) {
        status = px_campaign_open(path, PX_CAMPAIGN_READ, &campaign, err);
        if (status == PX_OK)
            status = guide_pairs(&w->guide[g], campaign, err);
        px_campaign_close(campaign);
        if (status == PX_OK && w->guide[g].faults > 0.0)
            status = guide_features(w, g, path, err);
    }
    free(path);
    return status;
}

/* --- what came of it -------------------------------------------------------------------------- */

static px_status work_save(const ng_map_work *w, px_error *err)
{
    px_text text = {0};
    char *path = ng_map_path(w->study, w->job->subject, w->job->run);
    char x[PX_REAL_TEXT], y[PX_REAL_TEXT];
    px_text_add(&text, NG_MAP_HEADER "\n");
    for (size_t i = 0; i < px_map_count(w->map); i++) {
        const px_map_point p = px_map_get(w->map, i);
        px_text_format(&text, "%s,%" PRId64 ",%" PRId64 ",%d,%d,%s,%s\n",
                       px_map_origin_get(w->map, p.origin).name, p.label, p.prediction, w->only[i],
                       w->alone[i], px_real_text(p.x, x), px_real_text(p.y, y));
    }
    px_status status =
        !path || px_text_failed(&text) ? pxi_no_memory(err) : pxi_study_own(w->study, path, err);
    if (status == PX_OK)
        status = pxi_file_write(path, px_text_get(&text), text.length, err);
    px_text_done(&text);
    free(path);
    return status;
}

/* As many of NSGen and of what stands in its place; of rivals all that were drawn. */
static void work_equal(ng_map_work *w)
{
    size_t least = SIZE_MAX;
    for (size_t g = 0; g < NG_MAP_ALL; g++)
        if (!ng_map_rival(NG_MAP_NSGEN, g) && w->guide[g].count > 0)
            least = PX_MIN(least, w->guide[g].count);
    for (size_t g = 0; g < NG_MAP_ALL; g++)
        w->guide[g].used =
            ng_map_rival(NG_MAP_NSGEN, g) ? w->guide[g].count : PX_MIN(w->guide[g].count, least);
}

static px_status work_measure(ng_map_work *w, double start, px_error *err)
{
    const size_t count = px_map_count(w->map);
    char key[CELL_KEY];
    px_pool *workers = NULL;
    PX_TRY(PX_NEW(w->only, count, err));
    PX_TRY(PX_NEW(w->alone, count, err));
    work_equal(w);
    px_status status = pxi_pool_new(w->study->options.threads, &workers, err);
    for (size_t g = 0; g < NG_MAP_ALL && status == PX_OK; g++) {
        if (isnan(w->guide[g].faults))
            continue;
        status = ng_map_types(w, g, err);
        if (status == PX_OK)
            status = ng_map_regions(w, g, workers, err);
    }
    pxi_pool_free(workers);
    PX_TRY(status);
    const px_map_quality quality = px_map_quality_get(w->map);
    pxi_cell_put(&w->cell, quality.trustworthiness, "trustworthiness");
    pxi_cell_put(&w->cell, (double)quality.neurons, "neurons");
    pxi_cell_put(&w->cell, (double)count, "points");
    PX_TRY(work_save(w, err));
    map_key(w->study, w->job->subject, w->job->run, key);
    return pxi_study_put(w->study, key, px_clock_s() - start, &w->cell, err);
}

static px_status work_all(ng_map_work *w, px_error *err)
{
    const double start = px_clock_s();
    const px_study_options *o = &w->study->options;
    const study_network network = fz_network(w->job->subject);
    px_map_options options = px_map_options_default();
    px_umap_options umap = px_umap_options_default();
    size_t rivals = 0;
    options.threads = o->threads;
    options.progress = o->progress;
    options.progress_context = o->context;
    PX_TRY(pxi_network_load(w->study, &network, &w->model, err));
    PX_TRY(px_map_new(w->model, &options, &w->map, err));
    for (size_t g = 0; g < NG_MAP_ALL; g++) {
        PX_TRY(work_guide(w, g, err));
        rivals += ng_map_rival(NG_MAP_NSGEN, g) ? w->guide[g].count : 0;
    }
    if (w->guide[NG_MAP_NSGEN].count == 0 || rivals == 0 || px_map_count(w->map) < PX_UMAP_LEAST) {
        pxi_study_tell(w->study, "%s %s: no faults to put on a map", network.dataset, network.arch);
        return PX_OK;
    }
    umap.seed = o->seed + (uint64_t)w->job->run;
    PX_TRY(px_map_lay_umap(w->map, &umap, err));
    return work_measure(w, start, err);
}

px_status ng_map_run(px_study *study, const study_job *job, px_error *err)
{
    ng_map_work w = {.study = study, .job = job};
    const px_status status = work_all(&w, err);
    work_done(&w);
    return status;
}
