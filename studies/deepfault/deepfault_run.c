/* studies/deepfault/deepfault_run.c - one network of DeepFault: every measure, k, step and run
 *
 * Spectra over the whole test set, post tap, theta 0, per class; gradients at the pre tap. The
 * inputs of a run are the same for every measure, k and step. Classes on which the network is never
 * wrong have no neurons, and no inputs.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "deepfault/deepfault_study.h"

#include "base/memory.h"

#include <internal/localize.h>
#include <internal/stats.h>
#include <internal/synthesize.h>
#include <internal/train.h>
#include <math.h>
#include <plexor/system.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct samples { /* of all runs, one per input */
    double *loss, *wrong;
    size_t count, room[2];
} samples;

typedef struct df_work {
    px_study *study;
    size_t subject;
    int64_t runs;
    px_model *model;
    study_data data;
    px_spectrum *spectrum;
    px_probe *probe; /* all hidden layers, pre */
    int64_t *predictions;
    bool wanted[DF_CLASSES];
    int64_t *inputs, count;           /* of this run */
    px_suspicious *lists[DF_CHOICES]; /* of this k; random: of this run */
    samples samples[DF_CHOICES];      /* of this k and step */
} df_work;

/* --- before the runs -------------------------------------------------------------------------- */

static px_status work_predict(df_work *w, px_error *err)
{
    px_predict_options how = px_predict_options_default();
    px_predictions said = {0};
    how.threads = w->study->options.threads;
    PX_TRY(px_predict(w->model, w->data.set, &w->data.pre, &how, &said, err));
    w->predictions = said.predicted;
    said.predicted = NULL;
    px_predictions_done(&said);
    return PX_OK;
}

static px_status work_open(df_work *w, px_error *err)
{
    const study_network network = df_network(w->subject);
    px_study *study = w->study;
    PX_TRY(pxi_network_load(study, &network, &w->model, err));
    PX_TRY(pxi_study_open(study, w->model, network.dataset, "test", 0.0, 0, &w->data, err));
    px_spectrum_options options = px_spectrum_options_default();
    options.threads = study->options.threads;
    PX_TRY(px_spectrum_new(w->model, NULL, &options, &w->spectrum, err));
    const px_spectrum_run_options run = {.progress = study->options.progress,
                                         .progress_context = study->options.context};
    PX_TRY(px_spectrum_run(w->spectrum, w->data.set, &w->data.pre, &run, err));
    px_probe_options probe = px_probe_options_default();
    probe.tap = PX_TAP_PRE;
    PX_TRY(px_probe_new(w->model, &probe, &w->probe, err));
    PX_TRY(work_predict(w, err));
    if (px_spectrum_classes(w->spectrum) != DF_CLASSES)
        return px_fail(err, PX_E_MISMATCH, "the network has %d classes, the paper's have %d",
                       px_spectrum_classes(w->spectrum), DF_CLASSES);
    for (int c = 0; c < DF_CLASSES; c++)
        w->wanted[c] = px_spectrum_ranks(w->spectrum, c);
    return PX_OK;
}

static px_status work_inputs(df_work *w, int64_t run, px_error *err)
{
    const px_synthesis_choice choice = {
        .predictions = w->predictions,
        .classes = DF_CLASSES,
        .wanted = w->wanted,
        .per_class = df_per_class(w->study),
        .seed = w->study->options.seed,
        .run = (uint32_t)run,
    };
    free(w->inputs);
    w->inputs = NULL;
    return px_synthesis_choose(w->data.set, &choice, &w->inputs, &w->count, err);
}

/* --- neurons ---------------------------------------------------------------------------------- */

static void lists_free(df_work *w)
{
    for (int i = 0; i < DF_CHOICES; i++) {
        px_suspicious_free(w->lists[i]);
        w->lists[i] = NULL;
    }
}

static px_status work_rank(df_work *w, int64_t k, px_error *err)
{
    lists_free(w);
    for (int i = 0; i < DF_MEASURES; i++) {
        px_rank_options options = px_rank_options_default();
        options.measure = df_choices[i].id;
        options.k = k;
        options.include_uninformative = true; /* as the paper does */
        PX_TRY(px_suspicious_rank(w->spectrum, &options, &w->lists[i], err));
    }
    return PX_OK;
}

static px_status work_random(df_work *w, int64_t k, int64_t run, px_error *err)
{
    const px_baseline_options options = {
        .k = k, .seed = w->study->options.seed, .run = (uint32_t)run};
    px_suspicious_free(w->lists[DF_RANDOM]);
    w->lists[DF_RANDOM] = NULL;
    return px_suspicious_random(w->spectrum, (const px_suspicious *const *)w->lists, DF_MEASURES,
                                &options, &w->lists[DF_RANDOM], err);
}

/* How many neurons of each layer the lists have, over all classes (RQ3). */
static px_status work_put_layers(df_work *w, px_error *err)
{
    for (int i = 0; i < DF_MEASURES; i++) {
        char key[CELL_KEY];
        cell_list cell = {.count = 0};
        const px_suspicious *list = w->lists[i];
        for (size_t l = 0; l < px_spectrum_layer_count(w->spectrum) && l < DF_LAYERS; l++) {
            const int position = px_spectrum_layer_get(w->spectrum, l)->position;
            double count = 0.0;
            for (size_t n = 0; n < list->count; n++)
                count += list->items[n].position == position;
            pxi_cell_put(&cell, count, "layer%zu", l + 1);
        }
        df_layers_prefix(w->subject, i, key);
        df_key_end(key, 1, (int64_t)list->count);
        PX_TRY(pxi_study_put(w->study, key, 0.0, &cell, err));
    }
    return PX_OK;
}

/* --- one measure, k, step and run ------------------------------------------------------------- */

static px_status samples_add(samples *s, const px_synthesis *made, px_error *err)
{
    const size_t count = (size_t)px_synthesis_count(made);
    const px_synthesis_row *rows = px_synthesis_rows(made);
    if (pxi_grow(&s->loss, &s->room[0], s->count + count, sizeof *s->loss) != 0 ||
        pxi_grow(&s->wrong, &s->room[1], s->count + count, sizeof *s->wrong) != 0)
        return pxi_no_memory(err);
    for (size_t i = 0; i < count; i++) {
        s->loss[s->count] = rows[i].exact.loss;
        s->wrong[s->count++] = rows[i].exact.predicted != rows[i].label;
    }
    return PX_OK;
}

/* Average over classes of class means. */
static double class_mean(const px_synthesis *made, bool stored, bool loss)
{
    const px_synthesis_row *rows = px_synthesis_rows(made);
    double sum[DF_CLASSES] = {0.0}, all = 0.0;
    int64_t count[DF_CLASSES] = {0};
    int classes = 0;
    for (int64_t i = 0; i < px_synthesis_count(made); i++) {
        const px_synthesis_form *form = stored ? &rows[i].stored : &rows[i].exact;
        sum[rows[i].label] += loss ? form->loss : form->predicted == rows[i].label;
        count[rows[i].label]++;
    }
    for (int c = 0; c < DF_CLASSES; c++)
        if (count[c]) {
            all += sum[c] / (double)count[c];
            classes++;
        }
    return all / classes; /* NaN without inputs */
}

/* Shares of neurons that rose among the first k' of the list, of which k were raised (RQ5). */
static void put_rose(const df_work *w, const px_synthesis *made,
                     const px_synthesis_targets *targets, int k, cell_list *cell)
{
    const int *ks = df_ks[df_dataset(w->subject)];
    for (int j = 0; j < DF_KS; j++) {
        int64_t rose = 0, all = 0;
        for (int64_t i = 0; ks[j] >= k && i < px_synthesis_count(made); i++) {
            const px_synthesis_list *list = &targets->lists[px_synthesis_rows(made)[i].list];
            const uint8_t *flags = px_synthesis_rose(made, i);
            for (size_t n = 0; n < list->count && n < (size_t)ks[j]; n++, all++)
                rose += (flags[n] & PX_ROSE_EXACT) != 0;
        }
        if (all)
            pxi_cell_put(cell, (double)rose / (double)all, "rose%d", ks[j]);
    }
}

static px_status put_made(df_work *w, const px_synthesis *made, const px_synthesis_targets *targets,
                          int choice, int k, double step, int64_t run, px_error *err)
{
    const px_synthesis_summary sum = px_synthesis_sum(made);
    const double each = 1.0 / (double)PX_MAX(sum.count, 1);
    const double spent =
        sum.forward_seconds + sum.backward_seconds + sum.judge_seconds + sum.other_seconds;
    char key[CELL_KEY];
    cell_list cell = {.count = 0};
    pxi_cell_put(&cell, (double)sum.count, "count");
    pxi_cell_put(&cell, (double)sum.classes, "classes");
    pxi_cell_put(&cell, class_mean(made, false, true), "loss");
    pxi_cell_put(&cell, class_mean(made, false, false), "accuracy");
    pxi_cell_put(&cell, class_mean(made, true, true), "loss_8bit");
    pxi_cell_put(&cell, class_mean(made, true, false), "accuracy_8bit");
    pxi_cell_put(&cell, sum.exact.l1, "l1");
    pxi_cell_put(&cell, sum.exact.l2, "l2");
    pxi_cell_put(&cell, sum.exact.linf, "linf");
    pxi_cell_put(&cell, fmax(sum.exact.linf_most, sum.stored.linf_most), "linf_most");
    pxi_cell_put(&cell, sum.exact.raised, "raised");
    pxi_cell_put(&cell, sum.stored.raised, "raised_8bit");
    pxi_cell_put(&cell, (double)sum.unchanged, "unchanged");
    pxi_cell_put(&cell, (double)w->lists[choice]->borrowed, "borrowed");
    pxi_cell_put(&cell, spent * each, "seconds");
    pxi_cell_put(&cell, sum.forward_seconds * each, "forward");
    pxi_cell_put(&cell, sum.backward_seconds * each, "backward");
    put_rose(w, made, targets, k, &cell);
    df_prefix(w->subject, choice, k, step, key);
    df_key_end(key, run, df_per_class(w->study) * DF_CLASSES);
    return pxi_study_put(w->study, key, sum.seconds, &cell, err);
}

static px_status work_make(df_work *w, int choice, int k, double step, int64_t run, px_error *err)
{
    const int most = df_ks[df_dataset(w->subject)][DF_KS - 1];
    px_synthesis_options options = px_synthesis_options_default();
    px_synthesis_targets targets = {0};
    px_synthesis *made = NULL;
    px_suspicious *whole = NULL; /* the list as long as the largest k, to be watched */
    size_t *list_of = NULL;
    PX_TRY(PX_NEW(list_of, (size_t)PX_MAX(w->count, 1), err));
    px_status status = PX_OK;
    if (choice < DF_MEASURES) {
        px_rank_options rank = px_rank_options_default();
        rank.measure = df_choices[choice].id;
        rank.k = most;
        rank.include_uninformative = true;
        status = px_suspicious_rank(w->spectrum, &rank, &whole, err);
    }
    if (status == PX_OK)
        status = px_synthesis_targets_init(&targets, whole ? whole : w->lists[choice], w->probe,
                                           DF_CLASSES, k, most, err);
    for (int64_t i = 0; status == PX_OK && i < w->count; i++)
        list_of[i] = (size_t)targets.of_class[px_dataset_label(w->data.set, w->inputs[i])];
    const px_synthesis_job job = {
        .model = w->model,
        .probe = w->probe,
        .set = w->data.set,
        .pre = &w->data.pre,
        .lists = targets.lists,
        .list_count = targets.count,
        .inputs = w->inputs,
        .list_of = list_of,
        .count = w->count,
    };
    options.step = step;
    options.threads = w->study->options.threads;
    if (status == PX_OK)
        status = px_synthesize(&job, &options, &made, err);
    if (status == PX_OK)
        status = put_made(w, made, &targets, choice, k, step, run, err);
    if (status == PX_OK)
        status = samples_add(&w->samples[choice], made, err);
    px_synthesis_free(made);
    px_synthesis_targets_done(&targets);
    px_suspicious_free(whole);
    free(list_of);
    return status;
}

/* --- all of them ------------------------------------------------------------------------------ */

static px_status put_tests(df_work *w, int k, double step, px_error *err)
{
    char key[CELL_KEY];
    cell_list cell = {.count = 0};
    for (int i = 0; i < DF_PAIRS; i++) {
        const samples *a = &w->samples[df_pairs[i].a], *b = &w->samples[df_pairs[i].b];
        px_mann_whitney_result loss, wrong;
        PX_TRY(px_mann_whitney(a->loss, a->count, b->loss, b->count, PX_TWO_SIDED, PX_U_AUTO, &loss,
                               err));
        PX_TRY(px_mann_whitney(a->wrong, a->count, b->wrong, b->count, PX_TWO_SIDED, PX_U_AUTO,
                               &wrong, err));
        pxi_cell_put(&cell, loss.p, "p_loss_%s", df_pairs[i].id);
        pxi_cell_put(&cell, loss.effect, "effect_loss_%s", df_pairs[i].id);
        pxi_cell_put(&cell, wrong.p, "p_wrong_%s", df_pairs[i].id);
        if (i == 0) {
            pxi_cell_put(&cell, loss.smallest_p, "smallest_p");
            pxi_cell_put(&cell, (double)a->count, "inputs");
        }
    }
    df_tests_prefix(w->subject, k, step, key);
    df_key_end(key, 1, w->runs * df_per_class(w->study) * DF_CLASSES);
    return pxi_study_put(w->study, key, 0.0, &cell, err);
}

static px_status work_step(df_work *w, int k, double step, px_error *err)
{
    for (int i = 0; i < DF_CHOICES; i++)
        w->samples[i].count = 0;
    for (int64_t run = 1; run <= w->runs; run++) {
        PX_TRY(work_inputs(w, run, err));
        PX_TRY(work_random(w, k, run, err));
        for (int i = 0; i < DF_CHOICES; i++)
            PX_TRY(work_make(w, i, k, step, run, err));
        const px_study_options *o = &w->study->options;
        if (o->progress && !o->progress(o->context, run, w->runs))
            return px_fail(err, PX_E_CANCELLED, "cancelled");
    }
    return put_tests(w, k, step, err);
}

static px_status work_all(df_work *w, px_error *err)
{
    double steps[DF_STEPS];
    const size_t step_count = df_steps(w->subject, steps);
    PX_TRY(work_open(w, err));
    for (size_t s = 0; s < step_count; s++)
        for (int i = 0; i < DF_KS; i++) {
            const int k = df_ks[df_dataset(w->subject)][i];
            PX_TRY(work_rank(w, k, err));
            if (s == 0 && i == DF_KS - 1)
                PX_TRY(work_put_layers(w, err));
            PX_TRY(work_step(w, k, steps[s], err));
        }
    return PX_OK;
}

px_status df_run_subject(px_study *study, const study_job *job, px_error *err)
{
    df_work w = {.study = study, .subject = job->subject, .runs = job->run};
    const px_status status = work_all(&w, err);
    for (int i = 0; i < DF_CHOICES; i++) {
        free(w.samples[i].loss);
        free(w.samples[i].wrong);
    }
    lists_free(&w);
    free(w.inputs);
    free(w.predictions);
    px_probe_free(w.probe);
    px_spectrum_free(w.spectrum);
    pxi_study_close(&w.data);
    px_model_free(w.model);
    return status;
}
