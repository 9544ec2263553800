/* studies/nsgen/nsgen_robust.c - what retrained networks withstand: S2, PGD->S2, BIM->S2
 *
 * S2 is the second half of the test set. The paper makes PGD->S2 and BIM->S2 once, with the
 * original network, and asks whether the retrained one still falls for them; it does not state
 * their strengths, which cannot be the same (LGR E.3): hence five of each. Inputs that were made
 * for one network lose some of their effect on any other. So each network is attacked anew as well,
 * with its own gradients, on the first of S2.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "deepsensor/deepsensor_rows.h"
#include "nsgen/nsgen_stats.h"

#include "base/memory.h"

#include <internal/train.h>
#include <inttypes.h>
#include <plexor/attack.h>
#include <plexor/system.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

const int ng_strengths[NG_STRENGTHS] = {1, 2, 4, 8, 16};
const char *const ng_attacks[NG_ATTACKS] = {"pgd", "bim"};

typedef struct trial {
    px_study *study;
    const study_job *job;
    px_model *models[NG_ARMS];
    study_data s2;
    char *s2_path, *made_path; /* files while it runs */
    cell_list cells[NG_ARMS];
    int64_t done, total; /* attacks, for progress */
} trial;

static bool trial_progress(void *context, int64_t done, int64_t total)
{
    const trial *t = context;
    const px_study_options *o = &t->study->options;
    const int64_t parts = 100;
    return !o->progress ||
           o->progress(o->context, t->done * parts + parts * done / PX_MAX(total, (int64_t)1),
                       t->total * parts);
}

static px_status trial_open(const trial *t, const char *path, int64_t limit, study_data *out,
                            px_error *err)
{
    const px_graph *graph = px_model_graph(t->models[NG_ORIGINAL]);
    px_data_options options = px_model_data_options(t->models[NG_ORIGINAL]);
    options.limit = limit;
    out->pre = t->s2.pre;
    return px_dataset_open_for(&out->pre, &graph->values[graph->inputs[0]].shape, path, &options,
                               &out->set, err);
}

static px_status rows_written(ds_rows *rows, const char *path, px_error *err)
{
    const px_status status = ds_rows_save(rows, path, err);
    ds_rows_free(rows);
    return status;
}

/* The second half of the test set, fewer with --limit, as a file. */
static px_status trial_s2(trial *t, px_error *err)
{
    study_data test = {.set = NULL};
    ds_rows rows;
    PX_TRY(pxi_study_open(t->study, t->models[NG_ORIGINAL], fz_subjects[t->job->subject].dataset,
                          "test", 0.0, 0, &test, err));
    const int64_t all = px_dataset_count(test.set), half = all - all / 2;
    const int64_t limit = t->study->options.limit;
    const int64_t count = limit > 0 && limit < all - half ? limit : all - half;
    int64_t *wanted = NULL;
    px_status status = PX_NEW(wanted, (size_t)PX_MAX(count, (int64_t)1), err);
    if (status == PX_OK && count < 1)
        status = px_fail(err, PX_E_INPUT, "the test set has no second half");
    for (int64_t i = 0; status == PX_OK && i < count; i++)
        wanted[i] = half + i;
    if (status == PX_OK)
        status = ds_rows_read(test.set, wanted, count, &rows, err);
    if (status == PX_OK)
        status = rows_written(&rows, t->s2_path, err);
    t->s2.pre = test.pre;
    free(wanted);
    pxi_study_close(&test);
    return status == PX_OK ? trial_open(t, t->s2_path, 0, &t->s2, err) : status;
}

/* Accuracy of all networks on a set, as value `name`. */
static px_status trial_judge(trial *t, const study_data *data, const char *name, px_error *err)
{
    for (size_t arm = 0; arm < NG_ARMS; arm++) {
        px_eval_sum got;
        PX_TRY(pxi_study_eval(t->study, t->models[arm], data->set, &data->pre, &got, err));
        pxi_cell_put(&t->cells[arm], got.accuracy, "%s", name);
    }
    return PX_OK;
}

static px_attack_options trial_attack(trial *t, size_t attack, size_t strength)
{
    px_attack_options o = px_attack_options_default();
    o.method = ng_attacks[attack];
    o.eps = (double)ng_strengths[strength] / 255.0;
    o.steps = attack == NG_PGD ? 40 : 10;
    o.step_size = attack == NG_PGD ? o.eps / 30.0 : 0.2 * o.eps;
    o.seed = t->study->options.seed + (uint64_t)t->job->run;
    o.threads = t->study->options.threads;
    o.progress = trial_progress;
    o.progress_context = t;
    return o;
}

/* What the attack makes of S2 with the original network, and how all of them take it. */
static px_status trial_transfer(trial *t, size_t attack, size_t strength, px_error *err)
{
    char name[CELL_NAME];
    study_data made = {.set = NULL};
    ds_rows rows;
    const px_attack_options options = trial_attack(t, attack, strength);
    const px_attack_job job = {
        .model = t->models[NG_ORIGINAL], .set = t->s2.set, .pre = &t->s2.pre};
    snprintf(name, sizeof name, "%s_%d", ng_attacks[attack], ng_strengths[strength]);
    PX_TRY(ds_rows_attack(&job, &options, &rows, err));
    PX_TRY(rows_written(&rows, t->made_path, err));
    px_status status = trial_open(t, t->made_path, 0, &made, err);
    if (status == PX_OK)
        status = trial_judge(t, &made, name, err);
    pxi_study_close(&made);
    t->done++;
    return status;
}

/* Every network's own gradients; as it is computed, and in whole levels. */
static px_status trial_anew(trial *t, const study_data *first, size_t attack, size_t strength,
                            px_error *err)
{
    const px_attack_options options = trial_attack(t, attack, strength);
    for (size_t arm = 0; arm < NG_ARMS; arm++, t->done++) {
        const px_attack_job job = {.model = t->models[arm], .set = first->set, .pre = &first->pre};
        px_attack *made = NULL;
        px_attack_summary sum;
        PX_TRY(px_attack_run(&job, &options, &made, err));
        const px_status status = px_attack_sum(made, &sum, err);
        px_attack_free(made);
        PX_TRY(status);
        pxi_cell_put(&t->cells[arm], 1.0 - sum.stored.success_all, "anew_%s_%d", ng_attacks[attack],
                     ng_strengths[strength]);
        pxi_cell_put(&t->cells[arm], 1.0 - sum.exact.success_all, "exact_%s_%d", ng_attacks[attack],
                     ng_strengths[strength]);
    }
    return PX_OK;
}

static px_status trial_attacks(trial *t, px_error *err)
{
    study_data first = {.set = NULL};
    px_status status = trial_open(t, t->s2_path, NG_ANEW, &first, err);
    t->total = NG_ATTACKS * NG_STRENGTHS * (1 + NG_ARMS);
    for (size_t a = 0; a < NG_ATTACKS && status == PX_OK; a++)
        for (size_t s = 0; s < NG_STRENGTHS && status == PX_OK; s++) {
            status = trial_transfer(t, a, s, err);
            if (status == PX_OK)
                status = trial_anew(t, &first, a, s, err);
        }
    if (status == PX_OK)
        for (size_t arm = 0; arm < NG_ARMS; arm++) {
            pxi_cell_put(&t->cells[arm], (double)px_dataset_count(t->s2.set), "inputs");
            pxi_cell_put(&t->cells[arm], (double)px_dataset_count(first.set), "inputs_anew");
        }
    pxi_study_close(&first);
    return status;
}

/* What was added, as the cell of its training has it. */
static void trial_facts(trial *t)
{
    for (size_t arm = NG_NOTHING; arm < NG_ARMS; arm++) {
        char key[CELL_KEY], arch[NG_ARCH];
        const study_network network =
            ng_retrain_network(t->study, t->job->subject, arm, t->job->run, arch);
        pxi_network_key(&network, key);
        const study_cell *cell = pxi_cells_find(t->study->cells, key);
        if (cell) {
            pxi_cell_put(&t->cells[arm], pxi_cell_number(cell, "added"), "added");
            pxi_cell_put(&t->cells[arm], pxi_cell_number(cell, "train_inputs"), "train_inputs");
        }
    }
}

static px_status trial_all(trial *t, px_error *err)
{
    const fz_subject *s = &fz_subjects[t->job->subject];
    px_text path = {0};
    px_text_format(&path, "%s/%s_%s_s2_%" PRId64 ".npz", t->study->folder, s->dataset, s->arch,
                   t->job->run);
    t->s2_path = px_text_take(&path);
    px_text_format(&path, "%s/%s_%s_attacked_%" PRId64 ".npz", t->study->folder, s->dataset,
                   s->arch, t->job->run);
    t->made_path = px_text_take(&path);
    if (!t->s2_path || !t->made_path)
        return pxi_no_memory(err);
    PX_TRY(pxi_study_own(t->study, t->s2_path, err));
    PX_TRY(pxi_study_own(t->study, t->made_path, err));
    for (size_t arm = 0; arm < NG_ARMS; arm++) {
        char arch[NG_ARCH];
        const study_network network =
            ng_retrain_network(t->study, t->job->subject, arm, t->job->run, arch);
        PX_TRY(pxi_network_load(t->study, &network, &t->models[arm], err));
    }
    PX_TRY(trial_s2(t, err));
    PX_TRY(trial_judge(t, &t->s2, "s2", err));
    PX_TRY(trial_attacks(t, err));
    trial_facts(t);
    return PX_OK;
}

px_status ng_retrain_judge(px_study *study, const study_job *job, px_error *err)
{
    const double start = px_clock_s();
    trial t = {.study = study, .job = job};
    px_status status = trial_all(&t, err);
    for (size_t arm = 0; arm < NG_ARMS && status == PX_OK; arm++) {
        char key[CELL_KEY];
        ng_retrain_key(study, job->subject, arm, job->run, key);
        status = pxi_study_put(study, key, px_clock_s() - start, &t.cells[arm], err);
    }
    pxi_study_close(&t.s2);
    if (t.s2_path)
        unlink(t.s2_path);
    if (t.made_path)
        unlink(t.made_path);
    for (size_t arm = 0; arm < NG_ARMS; arm++)
        px_model_free(t.models[arm]);
    free(t.s2_path);
    free(t.made_path);
    return status;
}
