/* src/doctor/doctor_preprocess.c - whether the network does better with its inputs made otherwise
 *
 * Measured, not guessed: ways that are in wide use are run on the same inputs as the way at hand,
 * and compared (doctor_compare.c). First all ways on few inputs, with their channels in either
 * order, then the three best on more.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "doctor/doctor_ways.h"

#include <internal/preprocess.h>
#include <internal/stats.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    FINALISTS = 4, /* one of them the way at hand */
    FIRST_INPUTS = 48,
    INPUTS = 200,
    CHEAP_INPUTS = 10000,
    LEAST_MISTAKES = 14 /* a difference that k inputs make cannot pass t = sqrt(k) by much */
};
#define CHEAP_FLOPS 4e10 /* of all trials together: a second or two */
#define CLASS_FLOPS 8e3  /* what calibrating costs per class and input, in time of the others */
#define PLAUSIBLE 0.6    /* accuracy below which preprocessing of its default is doubted */

/* --- the ways -------------------------------------------------------------------------------- */

static bool same_numbers(const px_preprocess *a, const px_preprocess *b)
{
    bool same = fabsf(a->scale - b->scale) < 1e-6f * fabsf(a->scale) && a->bgr == b->bgr;
    for (int c = 0; c < 3; c++) {
        const int i = a->channels == 1 ? 0 : c, k = b->channels == 1 ? 0 : c;
        same = same && fabsf(a->mean[i] - b->mean[k]) < 1e-5f &&
               fabsf(a->stddev[i] - b->stddev[k]) < 1e-5f;
    }
    return same;
}

static void ways_add(pxi_trials *t, const pxi_way *w)
{
    for (size_t i = 0; i < t->count; i++)
        if (same_numbers(&t->ways[i].pre, &w->pre))
            return;
    if (t->count < PXI_WAYS_MOST && !same_numbers(t->d->o.pre, &w->pre))
        t->ways[t->count++] = *w;
}

/* Float values that run to 255 are bytes in another coat. */
static bool floats_are_bytes(const px_doctor *d)
{
    return !px_dataset_is_8bit(d->o.set) && d->low >= 0.0 && d->high > 2.0 && d->high <= 255.0;
}

static bool floats_are_normalised(const px_doctor *d)
{
    return !px_dataset_is_8bit(d->o.set) && d->low < -0.01;
}

static pxi_way way_of(const px_doctor *d, const px_preprocess_preset *preset, bool swapped)
{
    const bool bytes = floats_are_bytes(d), is_8bit = px_dataset_is_8bit(d->o.set);
    pxi_way w = {.pre = *d->o.pre, .preset = preset, .swapped = swapped};
    px_preprocess_set(&w.pre, preset, is_8bit || bytes);
    if (bytes)
        w.pre.range = 0.0f; /* the scale is said, not the data's */
    w.pre.bgr = preset->bgr != swapped;
    w.pre.scale_from = w.pre.mean_from = w.pre.std_from = "option";
    snprintf(w.words, sizeof w.words, "--preprocess %s%s", preset->entry.id,
             !swapped      ? ""
             : preset->bgr ? ":rgb"
                           : ":bgr");
    if (bytes)
        snprintf(w.words + strlen(w.words), sizeof w.words - strlen(w.words), " --scale %s",
                 preset->range > 1.0 ? "1" : "1/255");
    return w;
}

static void ways_list(pxi_trials *t)
{
    const px_doctor *d = t->d;
    const px_shape shape = px_dataset_shape(d->o.set);
    if (floats_are_bytes(d)) {
        pxi_way w = {.words = "--scale 1/255", .pre = *d->o.pre};
        w.pre.scale = 1.0f / 255.0f;
        w.pre.range = 0.0f;
        ways_add(t, &w);
    }
    for (size_t i = 0; i < px_preprocess_preset_count(); i++) {
        const px_preprocess_preset *preset = px_preprocess_preset_get(i);
        const bool fits = preset->channels == 1 || shape.dim[0] == 3;
        const bool none = strcmp(preset->entry.id, "none") == 0;
        if (fits && (none || !floats_are_normalised(d))) {
            const pxi_way as_is = way_of(d, preset, false), swapped = way_of(d, preset, true);
            ways_add(t, &as_is);
            if (shape.dim[0] == 3 && !floats_are_normalised(d))
                ways_add(t, &swapped);
        }
    }
}

/* --- running them ---------------------------------------------------------------------------- */

static void way_done(pxi_way *w)
{
    free(w->raw.each);
    free(w->calibrated.each);
    free(w->right);
    w->raw.each = w->calibrated.each = NULL;
    w->right = NULL;
}

static px_status way_run(const pxi_trials *t, pxi_way *w, int64_t count, px_error *err)
{
    px_predict_options how = px_predict_options_default();
    px_predictions said = {0};
    int64_t *indices = pxi_calloc((size_t)count, sizeof *indices);
    way_done(w);
    w->raw.each = pxi_calloc((size_t)count, sizeof(double));
    w->calibrated.each = pxi_calloc((size_t)count, sizeof(double));
    w->right = pxi_calloc((size_t)count, 1);
    px_status status =
        w->raw.each && w->calibrated.each && w->right && indices ? PX_OK : pxi_no_memory(err);
    for (int64_t i = 0; status == PX_OK && i < count; i++) /* the first round is spread as well */
        indices[i] = t->indices[i * t->input_count / count];
    how.indices = indices;
    how.index_count = count;
    how.probabilities = true;
    how.threads = t->d->o.threads;
    how.progress = t->d->o.progress;
    how.context = t->d->o.context;
    PX_THEN(status, px_predict(t->d->o.model, t->d->o.set, &w->pre, &how, &said, err));
    PX_THEN(status, pxi_calibrated_loss(&said, w->calibrated.each, err));
    w->right_count = 0;
    for (int64_t i = 0; status == PX_OK && i < count; i++) {
        w->raw.each[i] = said.loss[i];
        w->right[i] = said.predicted[i] == said.label[i];
        w->right_count += w->right[i];
    }
    if (status == PX_OK) {
        w->raw.mean = px_mean(w->raw.each, (size_t)count);
        w->calibrated.mean = px_mean(w->calibrated.each, (size_t)count);
    }
    px_predictions_done(&said);
    free(indices);
    return status;
}

static int way_better(const void *a, const void *b)
{
    const pxi_way *x = a, *y = b;
    const double loss_x = x->calibrated.mean, loss_y = y->calibrated.mean;
    return loss_x != loss_y ? (loss_x > loss_y ? 1 : -1) : strcmp(x->words, y->words);
}

static void ways_drop(pxi_trials *t, size_t from)
{
    for (size_t i = from; i < t->count; i++)
        way_done(&t->ways[i]);
    t->count = PX_MIN(t->count, from);
}

/* --- whether to try -------------------------------------------------------------------------- */

static bool is_default(const char *from)
{
    return strcmp(from, "default") == 0;
}

static bool answers_look_wrong(const px_doctor *d)
{
    const px_eval_sum *sum = &d->eval.all;
    return sum->accuracy < PLAUSIBLE || sum->loss > log((double)sum->classes) ||
           !isfinite(sum->loss);
}

static bool worth_trying(const pxi_trials *t)
{
    const px_doctor *d = t->d;
    const px_preprocess *pre = d->o.pre;
    const double cost =
        (double)d->said->flops * (FIRST_INPUTS * (double)t->count + FINALISTS * INPUTS);
    const bool identity = pre->mean[0] == 0.0f && pre->stddev[0] == 1.0f;
    if (px_eval_is_guessing(&d->eval.all))
        return true;
    if (floats_are_normalised(d) && !identity)
        return true;
    if (is_default(pre->mean_from) != is_default(pre->std_from))
        return true; /* who knows one of them knows of the other */
    return (is_default(pre->mean_from) || is_default(pre->std_from)) &&
           (answers_look_wrong(d) || cost < CHEAP_FLOPS);
}

/* Which inputs: labelled ones of the whole set, and more of them where a network costs little. */
static px_status trials_sample(pxi_trials *t, px_error *err)
{
    const px_doctor *d = t->d;
    const double each = (double)d->said->flops + CLASS_FLOPS * d->said->scores.classes;
    const double affordable = CHEAP_FLOPS / (each * FINALISTS);
    const int64_t most = (int64_t)fmax(INPUTS, fmin(CHEAP_INPUTS, affordable));
    int64_t count = 0;
    t->indices = pxi_doctor_spread(px_dataset_count(d->o.set), most, &count);
    if (!t->indices)
        return pxi_no_memory(err);
    for (int64_t i = 0; i < count; i++) {
        const int64_t label = px_dataset_label(d->o.set, t->indices[i]);
        if (label >= 0 && label < d->said->scores.classes)
            t->indices[t->input_count++] = t->indices[i];
    }
    return PX_OK;
}

/* --- the verdict ----------------------------------------------------------------------------- */

static px_status advise(pxi_trials *t, const pxi_way *best, px_error *err)
{
    px_doctor *d = t->d;
    const double n = (double)t->input_count;
    const px_preprocess *pre = d->o.pre;
    const bool mean = strcmp(pre->mean_from, "option") == 0,
               std = strcmp(pre->std_from, "option") == 0;
    char range[96] = "", instead[40] = "", tie[96] = "", loss[64] = "";
    if (!px_dataset_is_8bit(d->o.set) && (d->low < -0.01 || d->high > 2.0))
        snprintf(range, sizeof range, "values run from %.3g to %.3g%s; ", d->low, d->high,
                 floats_are_normalised(d) && (pre->mean[0] != 0.0f || pre->stddev[0] != 1.0f)
                     ? ", and mean and std are applied to them again"
                     : "");
    if (best->preset && (mean || std))
        snprintf(instead, sizeof instead, " instead of %s",
                 mean && std ? "--mean and --std"
                 : mean      ? "--mean"
                             : "--std");
    for (size_t i = 0; i < t->count && !*tie; i++)
        if (pxi_way_tie(t, best, &t->ways[i]))
            snprintf(tie, sizeof tie, " (or %s: %.0f%%)", t->ways[i].words,
                     100.0 * (double)t->ways[i].right_count / n);
    const double before = 100.0 * (double)t->at_hand.right_count / n,
                 after = 100.0 * (double)best->right_count / n;
    const int digits = fabs(after - before) < 10.0 && after > 90.0 ? 1 : 0;
    if (after - before < 2.0 && best->raw.mean < t->at_hand.raw.mean)
        snprintf(loss, sizeof loss, ", and loss %.3g instead of %.3g", best->raw.mean,
                 t->at_hand.raw.mean);
    char advice[128];
    snprintf(advice, sizeof advice, "give %s", best->words);
    d->advised = true;
    d->advice = best->pre;
    return pxi_doctor_add(
        d, "preprocess", PX_FINDING_ERROR, t->input_count, advice, err,
        "%swith %s%s accuracy on %" PRId64 " inputs is %.*f%% instead of %.*f%%%s%s", range,
        best->words, instead, t->input_count, digits, after, digits, before, loss, tie);
}

static px_status trials_run(pxi_trials *t, px_error *err)
{
    const size_t tried = t->count;
    PX_TRY(trials_sample(t, err));
    const int64_t first = PX_MIN((int64_t)FIRST_INPUTS, t->input_count);
    if (first < LEAST_MISTAKES)
        return PX_OK;
    PX_TRY(way_run(t, &t->at_hand, t->input_count, err));
    if (t->input_count - t->at_hand.right_count < LEAST_MISTAKES)
        return PX_OK;
    for (size_t i = 0; i < t->count; i++)
        PX_TRY(way_run(t, &t->ways[i], first, err));
    qsort(t->ways, t->count, sizeof *t->ways, way_better);
    ways_drop(t, FINALISTS - 1);
    for (size_t i = 0; i < t->count; i++)
        PX_TRY(way_run(t, &t->ways[i], t->input_count, err));
    qsort(t->ways, t->count, sizeof *t->ways, way_better);
    const pxi_way *best = pxi_ways_best(t);
    return t->count && pxi_way_better(t, best, tried + 1) ? advise(t, best, err) : PX_OK;
}

/* What the values say by themselves, where nothing was measured that says more: without labels, and
 * where answers are right but far too sure, so that another way makes them no better. */
static px_status unmeasured(px_doctor *d, px_error *err)
{
    const px_preprocess *pre = d->o.pre;
    const bool identity = pre->mean[0] == 0.0f && pre->stddev[0] == 1.0f;
    if (d->advised || px_dataset_is_8bit(d->o.set) ||
        (d->eval.all.labelled && !(d->eval.all.loss > log((double)d->said->scores.classes))))
        return PX_OK;
    if (floats_are_normalised(d) && !identity)
        return pxi_doctor_add(d, "values", PX_FINDING_WARNING, 0,
                              "give --preprocess none if they are normalised already", err,
                              "values run from %.3g to %.3g, and mean and std are applied to them",
                              d->low, d->high);
    if (floats_are_bytes(d) && is_default(pre->scale_from))
        return pxi_doctor_add(d, "values", PX_FINDING_WARNING, 0,
                              "give --scale 1/255 if the network takes 0 to 1", err,
                              "values are float and run from %.3g to %.3g", d->low, d->high);
    return PX_OK;
}

px_status pxi_doctor_preprocess(px_doctor *d, px_error *err)
{
    pxi_trials t = {.d = d, .at_hand = {.pre = *d->o.pre}};
    if (!pxi_doctor_pictures(d) || d->o.failures)
        return PX_OK;
    if (!d->eval.all.labelled)
        return unmeasured(d, err);
    ways_list(&t);
    if (!worth_trying(&t))
        return unmeasured(d, err);
    const px_status status = trials_run(&t, err);
    ways_drop(&t, 0);
    way_done(&t.at_hand);
    free(t.indices);
    return status == PX_OK ? unmeasured(d, err) : status;
}
