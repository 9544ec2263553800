/* studies/deepsensor/deepsensor_retrain.c - networks retrained with what was found: Figures 4, 5
 * and 6
 *
 * 500 seeds and what a method made of them, 20 epochs in batches of 32 (recipe `deepsensor`); for
 * PGD-AT what PGD made of them. Before and after, the network is attacked with inputs that are none
 * of the seeds, and CLEVER is estimated on some of those. The difference is in the cell: a network
 * is compared with itself, on the same inputs.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "deepsensor/deepsensor_rows.h"
#include "deepsensor/deepsensor_study.h"

#include "base/memory.h"

#include <internal/clever.h>
#include <internal/repair.h>
#include <inttypes.h>
#include <math.h>
#include <plexor/attack.h>
#include <plexor/system.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Inputs of CLEVER, and from how many pools of N_s points its batches are drawn (as ART does it):
 * 500 fresh batches of 1,024 for each of nine classes would take minutes an input. */
enum { CLEVER_INPUTS = 50, CLEVER_BATCHES = 500, CLEVER_SAMPLES = 1024, CLEVER_POOL = 10 };
static const double ATTACK_EPS = 0.3; /* MNIST and CIFAR-10 in the paper */

const char *const ds_remedies[DS_REMEDIES] = {
    "deepxplore", "dlfuzz", "deephunter", "deepsensor", [DS_NOTHING] = "none", [DS_PGD] = "pgd"};
const char *const ds_attacks[DS_ATTACKS] = {"pgd", "fgsm", "deepfool", "jsma"};

typedef struct remedy {
    px_study *study;
    const study_job *job;
    size_t subject, kind;
    int64_t count; /* seeds that are retrained with */
    px_model *model;
    study_data test;
    px_dataset *seeds, *made; /* the latter NULL: nothing is done */
    px_preprocess pre;        /* of both */
    char *seed_path, *made_path, *held_path;
    cell_list cell;
} remedy;

void ds_retrain_key(const px_study *study, size_t subject, size_t kind, int64_t run,
                    char key[CELL_KEY])
{
    char iters[32] = "";
    if (ds_iterations(study) != DS_ITERATIONS)
        snprintf(iters, sizeof iters, " iters=%" PRId64, ds_iterations(study));
    snprintf(key, CELL_KEY, "%s %s retrain %s%s run=%" PRId64 " n=%" PRId64,
             ds_subjects[subject].dataset, ds_subjects[subject].arch, ds_remedies[kind], iters, run,
             PX_MIN(ds_seeds(study), (int64_t)DS_RETRAIN));
}

static const px_shape *remedy_shape(const remedy *r)
{
    const px_graph *graph = px_model_graph(r->model);
    return &graph->values[graph->inputs[0]].shape;
}

static px_status remedy_open(remedy *r, const char *path, int64_t limit, px_dataset **out,
                             px_error *err)
{
    px_data_options options = px_model_data_options(r->model);
    options.limit = limit;
    r->pre = r->test.pre;
    return px_dataset_open_for(&r->pre, remedy_shape(r), path, &options, out, err);
}

/* --- inputs that are attacked ----------------------------------------------------------------- */

static px_status held_choose(const remedy *r, bool *taken, px_error *err)
{
    px_npz *npz = NULL;
    const int64_t count = px_dataset_count(r->test.set);
    PX_TRY(px_npz_open(r->seed_path, &npz, err));
    const px_tensor *indices = px_npz_get(npz, "indices");
    px_status status = PX_OK;
    if (!indices || indices->dtype != PX_INT64 || indices->shape.rank != 1)
        status =
            px_fail(err, PX_E_INPUT, "'%s' does not say where its inputs come from", r->seed_path);
    for (int64_t i = 0; status == PX_OK && i < indices->shape.dim[0]; i++) {
        const int64_t index = ((const int64_t *)indices->data)[i];
        if (index >= 0 && index < count)
            taken[index] = true;
    }
    px_npz_close(npz);
    return status;
}

/* The first test inputs that are no seeds, as a file. */
static px_status held_save(const remedy *r, const bool *taken, px_error *err)
{
    const int64_t all = px_dataset_count(r->test.set);
    const int64_t most = PX_MIN((int64_t)DS_ATTACKED, ds_seeds(r->study));
    int64_t *wanted = pxi_calloc((size_t)most, sizeof *wanted), count = 0;
    ds_rows rows;
    if (!wanted)
        return pxi_no_memory(err);
    for (int64_t i = 0; i < all && count < most; i++)
        if (!taken[i])
            wanted[count++] = i;
    px_status status =
        count == 0 ? px_fail(err, PX_E_INPUT, "all test inputs are seeds: none is left to attack")
                   : ds_rows_read(r->test.set, wanted, count, &rows, err);
    if (status == PX_OK) {
        status = ds_rows_save(&rows, r->held_path, err);
        ds_rows_free(&rows);
    }
    free(wanted);
    return status;
}

static px_status held_make(const remedy *r, px_error *err)
{
    bool *taken = pxi_calloc((size_t)px_dataset_count(r->test.set), sizeof *taken);
    px_status status = taken ? held_choose(r, taken, err) : pxi_no_memory(err);
    if (status == PX_OK)
        status = held_save(r, taken, err);
    free(taken);
    return status;
}

/* --- how a network withstands ----------------------------------------------------------------- */

void ds_attack_options(const px_study *study, int64_t run, size_t attack, px_attack_options *out)
{
    *out = px_attack_options_default();
    out->method = ds_attacks[attack];
    if (px_attack_method_find(out->method)->bounded)
        out->eps = ATTACK_EPS;
    if (attack == DS_ATTACK_PGD) {
        out->steps = 40;
        out->step_size = ATTACK_EPS / 30.0;
    }
    out->stop_early = true;
    out->seed = study->options.seed + (uint64_t)run;
    out->threads = study->options.threads;
    out->progress = study->options.progress;
    out->progress_context = study->options.context;
}

static px_status judge_attacks(remedy *r, const px_model *model, const px_dataset *held,
                               px_error *err)
{
    for (size_t i = 0; i < DS_ATTACKS; i++) {
        px_attack *attack = NULL;
        px_attack_options options;
        px_attack_summary sum;
        const px_attack_job job = {.model = model, .set = held, .pre = &r->pre};
        ds_attack_options(r->study, r->job->run, i, &options);
        PX_TRY(px_attack_run(&job, &options, &attack, err));
        const px_status status = px_attack_sum(attack, &sum, err);
        px_attack_free(attack);
        PX_TRY(status);
        pxi_cell_put(&r->cell, sum.exact.success_all, "asr_%s", ds_attacks[i]);
        pxi_cell_put(&r->cell, sum.exact.success, "asr_right_%s", ds_attacks[i]);
        pxi_cell_put(&r->cell, sum.stored.success_all, "asr_stored_%s", ds_attacks[i]);
        pxi_cell_put(&r->cell, sum.exact.l2.mean, "l2_%s", ds_attacks[i]);
        pxi_cell_put(&r->cell, (double)sum.count, "attacked_%s", ds_attacks[i]);
    }
    return PX_OK;
}

static px_status judge_clever(remedy *r, const px_model *model, px_error *err)
{
    px_dataset *set = NULL;
    px_clever *clever = NULL;
    px_clever_summary sum;
    px_clever_options options = px_clever_options_default();
    options.batches = CLEVER_BATCHES;
    options.samples = CLEVER_SAMPLES;
    options.pool = CLEVER_POOL;
    options.seed = r->study->options.seed + (uint64_t)r->job->run;
    options.threads = r->study->options.threads;
    options.progress = r->study->options.progress;
    options.progress_context = r->study->options.context;
    const int64_t inputs = PX_MAX(CLEVER_INPUTS * ds_seeds(r->study) / DS_SEEDS, (int64_t)1);
    PX_TRY(remedy_open(r, r->held_path, inputs, &set, err));
    const px_clever_job job = {.model = model, .set = set, .pre = &r->pre};
    px_status status = px_clever_run(&job, &options, &clever, err);
    if (status == PX_OK)
        status = px_clever_sum(clever, &sum, err);
    if (status == PX_OK) {
        pxi_cell_put(&r->cell, sum.mean_all, "clever");
        pxi_cell_put(&r->cell, (double)(sum.count + sum.wrong), "clever_inputs");
    }
    px_clever_free(clever);
    px_dataset_close(set);
    return status;
}

static px_status remedy_judge(remedy *r, const px_model *model, px_error *err)
{
    px_dataset *held = NULL;
    PX_TRY(remedy_open(r, r->held_path, 0, &held, err));
    px_status status = judge_attacks(r, model, held, err);
    px_dataset_close(held);
    return status == PX_OK ? judge_clever(r, model, err) : status;
}

/* --- what it is retrained with ---------------------------------------------------------------- */

static px_status pgd_make(const remedy *r, px_error *err)
{
    ds_rows rows;
    px_attack_options options;
    const px_attack_job job = {.model = r->model, .set = r->seeds, .pre = &r->pre};
    ds_attack_options(r->study, r->job->run, DS_ATTACK_PGD, &options);
    PX_TRY(ds_rows_attack(&job, &options, &rows, err));
    const px_status status = ds_rows_save(&rows, r->made_path, err);
    ds_rows_free(&rows);
    return status;
}

static bool remedy_progress(void *context, const px_train_progress *p)
{
    const px_study *study = context;
    return !study->options.progress ||
           study->options.progress(study->options.context, p->done, p->total);
}

static px_status remedy_train(remedy *r, px_model **out, px_error *err)
{
    px_repair *repair = NULL;
    px_repair_options o = px_repair_options_default();
    o.model = r->model;
    o.train = (px_feeder_set){.set = r->seeds, .pre = &r->pre};
    o.added = (px_feeder_set){.set = r->made, .pre = &r->pre};
    o.test = (px_judge_set){r->test.set, &r->test.pre};
    o.hold_out = 0.0;
    o.recipe = *px_repair_recipe_find("deepsensor");
    o.recipe.train_limit = o.recipe.add_limit = 0; /* the sets have as many, in pairs */
    o.threads = r->study->options.threads;
    o.seed = r->study->options.seed + (uint64_t)r->job->run;
    o.progress = remedy_progress;
    o.context = r->study;
    px_status status = px_repair_new(&o, &repair, err);
    if (status == PX_OK)
        status = px_repair_run(repair, err);
    if (status == PX_OK) {
        const px_repair_report *report = px_repair_get(repair);
        const px_eval *clean = report->clean.eval;
        const double before = clean[PX_BEFORE].all.accuracy, after = clean[PX_AFTER].all.accuracy;
        pxi_cell_put(&r->cell, after, "accuracy");
        pxi_cell_put(&r->cell, after - before, "delta_accuracy");
        pxi_cell_put(&r->cell, report->verdict == PX_REPAIR_REGRESSED, "regressed");
        pxi_cell_put(&r->cell, report->optimizer_guessed, "optimizer_guessed");
        status = px_repair_freeze(repair, NULL, 0, out, err);
    }
    px_repair_free(repair);
    return status;
}

/* --- the cell --------------------------------------------------------------------------------- */

/* What has changed against the network that nothing was done to. */
static px_status remedy_differences(remedy *r, px_error *err)
{
    char key[CELL_KEY], name[CELL_NAME];
    ds_retrain_key(r->study, r->subject, DS_NOTHING, r->job->run, key);
    const study_cell *before = pxi_cells_find(r->study->cells, key);
    if (!before)
        return px_fail(err, PX_E_INTERNAL, "'%s' is not there", key);
    const size_t count = r->cell.count;
    for (size_t i = 0; i < count; i++) {
        const cell_value *value = &r->cell.value[i];
        snprintf(name, sizeof name, "%s", value->name);
        if (strncmp(name, "asr_", 4) == 0)
            pxi_cell_put(&r->cell, pxi_cell_number(before, name) - value->number, "delta_%s", name);
        else if (strcmp(name, "clever") == 0)
            pxi_cell_put(&r->cell, value->number - pxi_cell_number(before, name), "delta_%s", name);
    }
    return PX_OK;
}

static px_status remedy_paths(remedy *r, px_error *err)
{
    px_text made = {0}, held = {0};
    const size_t method = r->kind < DS_PAPER_METHODS ? r->kind : DS_HUNTER;
    r->seed_path = ds_examples_path(r->study, r->subject, DS_CLEAN, method, r->job->run,
                                    /* seeds= */ true, err);
    if (!r->seed_path)
        return PX_E_NOMEM;
    px_text_format(&held, "%s/examples/%s_%s_held_%" PRId64 ".npz", r->study->folder,
                   ds_subjects[r->subject].dataset, ds_subjects[r->subject].arch, r->job->run);
    px_text_format(&made, "%s/examples/%s_%s_pgd_%" PRId64 ".npz", r->study->folder,
                   ds_subjects[r->subject].dataset, ds_subjects[r->subject].arch, r->job->run);
    r->held_path = px_text_take(&held);
    r->made_path = px_text_take(&made);
    if (r->kind < DS_PAPER_METHODS && r->made_path) {
        free(r->made_path);
        r->made_path = ds_examples_path(r->study, r->subject, DS_CLEAN, method, r->job->run,
                                        /* seeds= */ false, err);
    }
    if (!r->held_path || !r->made_path)
        return pxi_no_memory(err);
    PX_TRY(pxi_study_own(r->study, r->held_path, err));
    return pxi_study_own(r->study, r->made_path, err);
}

static px_status remedy_all(remedy *r, px_error *err)
{
    char arch[DS_ARCH];
    const study_network network = ds_network(r->subject, DS_CLEAN, arch);
    px_model *after = NULL;
    PX_TRY(remedy_paths(r, err));
    PX_TRY(pxi_network_load(r->study, &network, &r->model, err));
    PX_TRY(pxi_study_open(r->study, r->model, network.dataset, "test", 0.0, 0, &r->test, err));
    PX_TRY(remedy_open(r, r->seed_path, r->count, &r->seeds, err));
    PX_TRY(held_make(r, err));
    if (r->kind == DS_NOTHING)
        return remedy_judge(r, r->model, err);
    if (r->kind == DS_PGD)
        PX_TRY(pgd_make(r, err));
    PX_TRY(remedy_open(r, r->made_path, r->count, &r->made, err));
    PX_TRY(remedy_train(r, &after, err));
    const px_status status = remedy_judge(r, after, err);
    px_model_free(after);
    return status == PX_OK ? remedy_differences(r, err) : status;
}

px_status ds_run_retrain(px_study *study, const study_job *job, px_error *err)
{
    const double start = px_clock_s();
    char key[CELL_KEY];
    remedy r = {.study = study,
                .job = job,
                .subject = job->subject,
                .kind = job->a,
                .count = PX_MIN(ds_seeds(study), (int64_t)DS_RETRAIN)};
    px_status status = remedy_all(&r, err);
    if (status == PX_OK) {
        ds_retrain_key(study, r.subject, r.kind, job->run, key);
        status = pxi_study_put(study, key, px_clock_s() - start, &r.cell, err);
    }
    if (r.held_path)
        unlink(r.held_path);
    px_dataset_close(r.made);
    px_dataset_close(r.seeds);
    pxi_study_close(&r.test);
    px_model_free(r.model);
    free(r.seed_path);
    free(r.made_path);
    free(r.held_path);
    return status;
}
