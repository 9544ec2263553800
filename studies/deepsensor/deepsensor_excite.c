/* studies/deepsensor/deepsensor_excite.c - excitable neurons of examples: Figures 1 and 7
 *
 * Figure 1: digits of class 9 and what PGD makes of them. An input that did not change excites
 * nothing, by definition; so the same changes at other places of the same picture stand beside it,
 * which are as large and aim at nothing. Figure 7: the ten neurons with the highest values for what
 * PGD, JSMA, DeepFool and the swarm make of the same seed, and how many of them two have in common
 * (LGR B.9). Values are Aumann-Shapley values along the diagonal, 8 nodes, all layers in one pass.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "deepsensor/deepsensor_rows.h"
#include "deepsensor/deepsensor_study.h"

#include "base/memory.h"

#include <internal/rng.h>
#include <internal/shapley.h>
#include <internal/train.h>
#include <inttypes.h>
#include <math.h>
#include <plexor/system.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIGURE1_CLASS = 9 };
static const double LAMBDA = 0.5;

const char *const ds_sources[DS_SOURCES] = {"pgd", "jsma", "deepfool", "deepsensor", "noise"};

typedef struct excite {
    px_study *study;
    const study_job *job;
    size_t subject;
    px_model *model;
    study_data test;
    px_shapley *shapley;
    int64_t neurons;
    ds_rows seeds, made[DS_SOURCES];
    double *before;             /* [count][neurons] */
    double *values[DS_SOURCES]; /* the same: of the change */
    cell_list cell;
} excite;

static void excite_free(excite *e)
{
    ds_rows_free(&e->seeds);
    for (size_t i = 0; i < DS_SOURCES; i++) {
        ds_rows_free(&e->made[i]);
        free(e->values[i]);
    }
    free(e->before);
    px_shapley_free(e->shapley);
    pxi_study_close(&e->test);
    px_model_free(e->model);
}

void ds_excite_key(const px_study *study, size_t subject, const char *what, int64_t run,
                   int64_t count, char key[CELL_KEY])
{
    char iters[32] = "";
    if (ds_iterations(study) != DS_ITERATIONS && strcmp(what, "overlap") == 0)
        snprintf(iters, sizeof iters, " iters=%" PRId64, ds_iterations(study));
    snprintf(key, CELL_KEY, "%s %s %s%s run=%" PRId64 " n=%" PRId64, ds_subjects[subject].dataset,
             ds_subjects[subject].arch, what, iters, run, PX_MIN(count, ds_seeds(study)));
}

static px_status excite_open(excite *e, px_error *err)
{
    char arch[DS_ARCH];
    const study_network network = ds_network(e->subject, DS_CLEAN, arch);
    px_shapley_options options = px_shapley_options_default();
    options.threads = e->study->options.threads;
    PX_TRY(pxi_network_load(e->study, &network, &e->model, err));
    PX_TRY(pxi_study_open(e->study, e->model, network.dataset, "test", 0.0, 0, &e->test, err));
    PX_TRY(px_shapley_new(e->model, NULL, &options, &e->shapley, err));
    e->neurons = px_shapley_neuron_count(e->shapley);
    return PX_OK;
}

/* The first rows of a file in examples/. */
static px_status excite_read(const excite *e, bool seeds, int64_t most, ds_rows *out, px_error *err)
{
    px_dataset *set = NULL;
    px_data_options options = px_data_options_default();
    options.limit = most;
    char *path =
        ds_examples_path(e->study, e->subject, DS_CLEAN, DS_SENSOR, e->job->run, seeds, err);
    if (!path)
        return PX_E_NOMEM;
    px_status status = px_dataset_open(path, &options, &set, err);
    free(path);
    if (status == PX_OK)
        status = ds_rows_read(set, NULL, px_dataset_count(set), out, err);
    px_dataset_close(set);
    return status;
}

/* What an attack makes of the seeds, which it takes from a file. */
static px_status excite_attack(excite *e, const px_dataset *set, size_t attack, ds_rows *out,
                               px_error *err)
{
    px_attack_options options;
    const px_attack_job job = {.model = e->model, .set = set, .pre = &e->test.pre};
    ds_attack_options(e->study, e->job->run, attack, &options);
    return ds_rows_attack(&job, &options, out, err);
}

/* Every change of `from` at another place of the same input, as far as the range of values lets
 * it. */
static px_status excite_noise(const excite *e, const ds_rows *from, ds_rows *out, px_error *err)
{
    PX_TRY(ds_rows_new(from->dtype, &from->shape, from->count, out, err));
    const bool whole = from->dtype == PX_UINT8;
    int64_t *order = pxi_calloc(from->size, sizeof *order);
    float *seed = pxi_calloc(from->size, 2 * sizeof *seed);
    if (!order || !seed) {
        free(order);
        free(seed);
        return pxi_no_memory(err);
    }
    float *moved = seed + from->size;
    for (int64_t i = 0; i < from->count; i++) {
        px_random random =
            px_rng(e->study->options.seed + (uint64_t)e->job->run, PX_RNG_STUDY, (uint32_t)i, 0);
        ds_rows_values(&e->seeds, i, seed);
        ds_rows_values(from, i, moved);
        px_rng_permutation(&random, order, (uint32_t)from->size);
        uint8_t *row = ds_rows_at(out, i);
        for (size_t k = 0; k < from->size; k++) {
            const float value = seed[k] + moved[order[k]] - seed[order[k]];
            if (whole)
                row[k] = (uint8_t)fminf(fmaxf(value, 0.0f), 255.0f);
            else
                ((float *)(void *)row)[k] = value;
        }
        out->labels[i] = e->seeds.labels[i];
    }
    free(order);
    free(seed);
    return PX_OK;
}

/* --- values ----------------------------------------------------------------------------------- */

/* Values of each neuron for each row; *wrong (may be NULL): the share that is misclassified. */
static px_status excite_integrate(excite *e, const ds_rows *rows, double **out, double *wrong,
                                  px_error *err)
{
    const px_diagonal diagonal = px_diagonal_default();
    float *inputs = pxi_calloc((size_t)rows->count, rows->size * sizeof *inputs);
    double *values = pxi_calloc((size_t)rows->count, (size_t)e->neurons * sizeof *values);
    int64_t *answers = pxi_calloc((size_t)rows->count, sizeof *answers), errors = 0;
    px_status status = inputs && values && answers ? PX_OK : pxi_no_memory(err);
    if (status == PX_OK)
        status = ds_rows_inputs(rows, &e->test.pre, inputs, err);
    if (status == PX_OK)
        status = px_shapley_integrate(e->shapley, &diagonal, inputs, e->seeds.labels, rows->count,
                                      values, err);
    if (status == PX_OK && wrong)
        status =
            px_shapley_judge(e->shapley, inputs, e->seeds.labels, rows->count, answers, NULL, err);
    for (int64_t i = 0; i < rows->count && status == PX_OK; i++)
        errors += answers[i] != e->seeds.labels[i];
    if (wrong)
        *wrong = (double)errors / (double)rows->count;
    free(inputs);
    free(answers);
    if (status == PX_OK)
        *out = values;
    else
        free(values);
    return status;
}

static px_status excite_values(excite *e, size_t source, px_error *err)
{
    double wrong = 0.0;
    PX_TRY(excite_integrate(e, &e->made[source], &e->values[source], &wrong, err));
    for (int64_t i = 0; i < e->seeds.count * e->neurons; i++)
        e->values[source][i] -= e->before[i];
    pxi_cell_put(&e->cell, wrong, "wrong_%s", ds_sources[source]);
    return PX_OK;
}

/* --- Figure 1 --------------------------------------------------------------------------------- */

/* The first digits of the class that the network gets right. */
static px_status figure_seeds(excite *e, int64_t most, px_error *err)
{
    int64_t *wanted = pxi_calloc((size_t)most, sizeof *wanted), count = 0;
    px_predict_options how = px_predict_options_default();
    px_predictions said = {0};
    px_status status = wanted ? PX_OK : pxi_no_memory(err);
    how.threads = e->study->options.threads;
    how.progress = e->study->options.progress;
    how.context = e->study->options.context;
    if (status == PX_OK)
        status = px_predict(e->model, e->test.set, &e->test.pre, &how, &said, err);
    for (int64_t i = 0; i < said.count && count < most && status == PX_OK; i++)
        if (said.predicted[i] == FIGURE1_CLASS && said.label[i] == FIGURE1_CLASS)
            wanted[count++] = i;
    if (status == PX_OK && count == 0)
        status =
            px_fail(err, PX_E_INPUT, "the network gets no input of class %d right", FIGURE1_CLASS);
    if (status == PX_OK)
        status = ds_rows_read(e->test.set, wanted, count, &e->seeds, err);
    if (status == PX_OK) {
        px_attack_options options;
        const px_attack_job job = {.model = e->model,
                                   .set = e->test.set,
                                   .pre = &e->test.pre,
                                   .inputs = wanted,
                                   .count = count};
        ds_attack_options(e->study, e->job->run, DS_ATTACK_PGD, &options);
        status = ds_rows_attack(&job, &options, &e->made[DS_BY_PGD], err);
    }
    px_predictions_done(&said);
    free(wanted);
    return status;
}

/* Excitable neurons of PGD's pictures and of noise, by normalisation. */
static void figure_count(excite *e)
{
    static const px_shapley_norm norms[] = {PX_SHAPLEY_LAYER_MINMAX, PX_SHAPLEY_RAW,
                                            PX_SHAPLEY_LAYER_MAX, PX_SHAPLEY_GLOBAL_MINMAX};
    for (size_t n = 0; n < PX_LEN(norms); n++) {
        double sums[2] = {0.0, 0.0}, more = 0.0;
        for (int64_t i = 0; i < e->seeds.count; i++) {
            double counts[2];
            const size_t sources[2] = {DS_BY_PGD, DS_BY_NOISE};
            for (size_t k = 0; k < 2; k++) {
                counts[k] =
                    (double)e->neurons * px_shapley_fitness(e->shapley, norms[n], LAMBDA,
                                                            e->values[sources[k]] + i * e->neurons);
                sums[k] += counts[k];
            }
            more += counts[0] > counts[1];
        }
        const double count = (double)e->seeds.count;
        const char *name = px_shapley_norm_name(norms[n]);
        pxi_cell_put(&e->cell, sums[0] / count, "pgd_%s", name);
        pxi_cell_put(&e->cell, sums[1] / count, "noise_%s", name);
        pxi_cell_put(&e->cell, more / count, "more_%s", name);
    }
    pxi_cell_put(&e->cell, (double)e->neurons, "neurons");
    pxi_cell_put(&e->cell, (double)e->seeds.count, "pairs");
}

static px_status figure_all(excite *e, px_error *err)
{
    PX_TRY(excite_open(e, err));
    PX_TRY(figure_seeds(e, PX_MIN((int64_t)DS_PAIRS, ds_seeds(e->study)), err));
    PX_TRY(excite_noise(e, &e->made[DS_BY_PGD], &e->made[DS_BY_NOISE], err));
    PX_TRY(excite_integrate(e, &e->seeds, &e->before, NULL, err));
    PX_TRY(excite_values(e, DS_BY_PGD, err));
    PX_TRY(excite_values(e, DS_BY_NOISE, err));
    figure_count(e);
    return PX_OK;
}

/* --- Figure 7 --------------------------------------------------------------------------------- */

/* The neurons with the highest values, of equal ones the first. */
static void overlap_top(const double *values, int64_t neurons, bool *top)
{
    memset(top, 0, (size_t)neurons * sizeof *top);
    for (int k = 0; k < DS_TOP && k < neurons; k++) {
        int64_t best = -1;
        for (int64_t n = 0; n < neurons; n++)
            if (!top[n] && !isnan(values[n]) && (best < 0 || values[n] > values[best]))
                best = n;
        if (best >= 0)
            top[best] = true;
    }
}

static px_status overlap_count(excite *e, px_error *err)
{
    double sums[DS_SOURCES][DS_SOURCES] = {{0.0}};
    bool *tops = pxi_calloc(DS_SOURCES, (size_t)e->neurons * sizeof *tops);
    if (!tops)
        return pxi_no_memory(err);
    for (int64_t i = 0; i < e->seeds.count; i++) {
        for (size_t a = 0; a < DS_SOURCES; a++)
            overlap_top(e->values[a] + i * e->neurons, e->neurons, tops + (int64_t)a * e->neurons);
        for (size_t a = 0; a < DS_SOURCES; a++)
            for (size_t b = 0; b < DS_SOURCES; b++)
                for (int64_t n = 0; n < e->neurons; n++)
                    sums[a][b] +=
                        tops[(int64_t)a * e->neurons + n] && tops[(int64_t)b * e->neurons + n];
    }
    for (size_t a = 0; a < DS_SOURCES; a++)
        for (size_t b = 0; b < DS_SOURCES; b++)
            pxi_cell_put(&e->cell, sums[a][b] / (double)e->seeds.count, "%s_%s", ds_sources[a],
                         ds_sources[b]);
    pxi_cell_put(&e->cell, (double)e->neurons, "neurons");
    pxi_cell_put(&e->cell, (double)e->seeds.count, "pairs");
    free(tops);
    return PX_OK;
}

static px_status overlap_attacks(excite *e, int64_t most, px_error *err)
{
    static const size_t attacks[] = {[DS_BY_PGD] = DS_ATTACK_PGD,
                                     [DS_BY_JSMA] = DS_ATTACK_JSMA,
                                     [DS_BY_DEEPFOOL] = DS_ATTACK_DEEPFOOL};
    px_dataset *set = NULL;
    px_data_options options = px_data_options_default();
    options.limit = most;
    char *path = ds_examples_path(e->study, e->subject, DS_CLEAN, DS_SENSOR, e->job->run,
                                  /* seeds= */ true, err);
    px_status status = path ? px_dataset_open(path, &options, &set, err) : PX_E_NOMEM;
    for (size_t i = 0; i < PX_LEN(attacks) && status == PX_OK; i++)
        status = excite_attack(e, set, attacks[i], &e->made[i], err);
    px_dataset_close(set);
    free(path);
    return status;
}

static px_status overlap_all(excite *e, px_error *err)
{
    const int64_t most = PX_MIN((int64_t)DS_OVERLAP, ds_seeds(e->study));
    PX_TRY(excite_open(e, err));
    PX_TRY(excite_read(e, /* seeds= */ true, most, &e->seeds, err));
    PX_TRY(excite_read(e, /* seeds= */ false, most, &e->made[DS_BY_SENSOR], err));
    PX_TRY(overlap_attacks(e, most, err));
    PX_TRY(excite_noise(e, &e->made[DS_BY_SENSOR], &e->made[DS_BY_NOISE], err));
    PX_TRY(excite_integrate(e, &e->seeds, &e->before, NULL, err));
    for (size_t i = 0; i < DS_SOURCES; i++)
        PX_TRY(excite_values(e, i, err));
    return overlap_count(e, err);
}

/* --- cells ------------------------------------------------------------------------------------ */

static px_status excite_run(px_study *study, const study_job *job, const char *what, int64_t count,
                            px_status (*run)(excite *e, px_error *err), px_error *err)
{
    const double start = px_clock_s();
    char key[CELL_KEY];
    excite e = {.study = study, .job = job, .subject = job->subject};
    px_status status = run(&e, err);
    if (status == PX_OK) {
        ds_excite_key(study, e.subject, what, job->run, count, key);
        status = pxi_study_put(study, key, px_clock_s() - start, &e.cell, err);
    }
    excite_free(&e);
    return status;
}

px_status ds_run_figure1(px_study *study, const study_job *job, px_error *err)
{
    return excite_run(study, job, "fig1", DS_PAIRS, figure_all, err);
}

px_status ds_run_overlap(px_study *study, const study_job *job, px_error *err)
{
    return excite_run(study, job, "overlap", DS_OVERLAP, overlap_all, err);
}
