/* src/doctor/doctor_preprocess.c - whether the network does better with its inputs made otherwise
 *
 * Measured, not guessed: ways that are in wide use are run on the same inputs as the way at hand. A
 * way is advised only where chance does not explain that it is better: the exact one-sided test of
 * McNemar (Psychometrika 12, 1947) on the inputs that only one of both gets right, times the number
 * of ways that were tried (Bonferroni), must be below ADVISED_P; and it must be worth it: mistakes
 * fall by a third, and by two points.
 *
 * Loss does not decide: a way with less contrast has less of it, right or wrong.
 *
 * First all ways on few inputs, then the three best, and the best with channels swapped, on more.
 */
#include "doctor/doctor_inside.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WAYS_MOST = 24, FIRST_INPUTS = 48, INPUTS = 200, CHEAP_INPUTS = 2000, LEAST_MISTAKES = 14 };
#define ADVISED_P 1e-3
#define CHEAP_FLOPS 2e10 /* of all trials together: a second or less */
#define PLAUSIBLE 0.6    /* accuracy below which preprocessing of its default is doubted */

typedef struct way {
    char words[64]; /* the options that give it */
    px_preprocess pre;
    const px_preprocess_preset *preset;
    bool swapped; /* channels in the other order than the preset has them */
    uint8_t *right;
    int64_t count;
} way;

typedef struct trials {
    px_doctor *d;
    way ways[WAYS_MOST];
    size_t count;
    uint8_t *right; /* of the way at hand */
    int64_t *indices, input_count;
} trials;

/* --- the ways ----------------------------------------------------------------------------------
 */

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

static void ways_add(trials *t, const way *w)
{
    for (size_t i = 0; i < t->count; i++)
        if (same_numbers(&t->ways[i].pre, &w->pre))
            return;
    if (t->count < WAYS_MOST && !same_numbers(t->d->o.pre, &w->pre))
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

static way way_of(const px_doctor *d, const px_preprocess_preset *preset, bool swapped)
{
    const bool bytes = floats_are_bytes(d), is_8bit = px_dataset_is_8bit(d->o.set);
    way w = {.pre = *d->o.pre, .preset = preset, .swapped = swapped};
    px_preprocess_set(&w.pre, preset, is_8bit || bytes);
    if (bytes)
        w.pre.range = 0.0f; /* the scale is said, not the data's */
    w.pre.bgr = preset->bgr != swapped;
    w.pre.scale_from = w.pre.mean_from = w.pre.std_from = "option";
    snprintf(w.words, sizeof w.words, "--preprocess %s%s", preset->id,
             !swapped      ? ""
             : preset->bgr ? ":rgb"
                           : ":bgr");
    if (bytes)
        snprintf(w.words + strlen(w.words), sizeof w.words - strlen(w.words), " --scale %s",
                 preset->range > 1.0 ? "1" : "1/255");
    return w;
}

static void ways_list(trials *t)
{
    const px_doctor *d = t->d;
    const px_shape shape = px_dataset_shape(d->o.set);
    if (floats_are_bytes(d)) {
        way w = {.words = "--scale 1/255", .pre = *d->o.pre};
        w.pre.scale = 1.0f / 255.0f;
        w.pre.range = 0.0f;
        ways_add(t, &w);
    }
    for (size_t i = 0; i < px_preprocess_preset_count(); i++) {
        const px_preprocess_preset *preset = px_preprocess_preset_get(i);
        const bool fits = preset->channels == 1 || shape.dim[0] == 3;
        const bool none = strcmp(preset->id, "none") == 0;
        if (fits && (none || !floats_are_normalised(d))) {
            const way w = way_of(d, preset, false);
            ways_add(t, &w);
        }
    }
}

/* --- running them ------------------------------------------------------------------------------
 */

static px_status way_run(trials *t, way *w, int64_t count, px_error *err)
{
    px_predict_options how = px_predict_options_default();
    px_predictions said = {0};
    int64_t *indices = pxi_calloc((size_t)count, sizeof *indices);
    free(w->right);
    w->right = pxi_calloc((size_t)count, 1);
    px_status status = w->right && indices ? PX_OK : px_fail(err, PX_E_NOMEM, "out of memory");
    for (int64_t i = 0; status == PX_OK && i < count; i++) /* the first round is spread as well */
        indices[i] = t->indices[i * t->input_count / count];
    how.indices = indices;
    how.index_count = count;
    how.threads = t->d->o.threads;
    how.progress = t->d->o.progress;
    how.context = t->d->o.context;
    if (status == PX_OK)
        status = px_predict(t->d->o.model, t->d->o.set, &w->pre, &how, &said, err);
    w->count = 0;
    for (int64_t i = 0; status == PX_OK && i < count; i++) {
        w->right[i] = said.label[i] >= 0 && said.predicted[i] == said.label[i];
        w->count += w->right[i];
    }
    px_predictions_done(&said);
    free(indices);
    return status;
}

static int way_better(const void *a, const void *b)
{
    const way *x = a, *y = b;
    return x->count != y->count ? (x->count < y->count ? 1 : -1) : strcmp(x->words, y->words);
}

static void ways_drop(trials *t, size_t from)
{
    for (size_t i = from; i < t->count; i++)
        free(t->ways[i].right);
    t->count = PX_MIN(t->count, from);
}

/* P(at least `wins` of n) where both sides are equally likely. */
static double sign_test(int64_t wins, int64_t n)
{
    double p = 0.0;
    for (int64_t k = wins; k <= n; k++)
        p += exp(lgamma((double)n + 1.0) - lgamma((double)k + 1.0) - lgamma((double)(n - k) + 1.0) -
                 (double)n * log(2.0));
    return fmin(p, 1.0);
}

/* One-sided, of inputs that only one of both gets right. */
static double paired_p(const uint8_t *better, const uint8_t *worse, int64_t n)
{
    int64_t wins = 0, losses = 0;
    for (int64_t i = 0; i < n; i++) {
        wins += better[i] && !worse[i];
        losses += !better[i] && worse[i];
    }
    return sign_test(wins, wins + losses);
}

/* --- whether to try ----------------------------------------------------------------------------
 */

static bool is_default(const char *from)
{
    return strcmp(from, "default") == 0;
}

static bool answers_look_wrong(const px_doctor *d)
{
    const double accuracy = (double)d->sum.correct / (double)d->sum.labelled;
    return accuracy < PLAUSIBLE || d->sum.loss > log((double)d->said->scores.classes) ||
           !isfinite(d->sum.loss);
}

static bool worth_trying(const trials *t)
{
    const px_doctor *d = t->d;
    const px_preprocess *pre = d->o.pre;
    const double cost = (double)d->said->flops * (FIRST_INPUTS * (double)t->count + 4.0 * INPUTS);
    const bool identity = pre->mean[0] == 0.0f && pre->stddev[0] == 1.0f;
    if (px_predictions_guess(d->said))
        return true;
    if (floats_are_normalised(d) && !identity)
        return true;
    return (is_default(pre->mean_from) || is_default(pre->std_from)) &&
           (answers_look_wrong(d) || cost < CHEAP_FLOPS);
}

/* Which of all predictions are those of the sample, and whether they are right. */
static px_status trials_sample(trials *t, px_error *err)
{
    const px_doctor *d = t->d;
    const double each = (double)d->said->flops * ((double)t->count + 4.0);
    const int64_t most = each * CHEAP_INPUTS < CHEAP_FLOPS ? CHEAP_INPUTS : INPUTS;
    t->indices = pxi_doctor_spread(d->said->count, most, &t->input_count);
    t->right = pxi_calloc((size_t)t->input_count, 1);
    if (!t->indices || !t->right)
        return px_fail(err, PX_E_NOMEM, "out of memory");
    for (int64_t i = 0; i < t->input_count; i++) {
        const int64_t at = t->indices[i];
        t->right[i] = d->said->label[at] >= 0 && d->said->predicted[at] == d->said->label[at];
        t->indices[i] = pxi_doctor_index(d, at);
    }
    return PX_OK;
}

static int64_t mistakes(const trials *t)
{
    int64_t wrong = t->input_count;
    for (int64_t i = 0; i < t->input_count; i++)
        wrong -= t->right[i];
    return wrong;
}

/* --- the verdict -------------------------------------------------------------------------------
 */

/* Whether accuracy tells a way from the best one. */
static bool is_tie(const trials *t, const way *best, const way *w)
{
    return (double)(best->count - w->count) <= 0.03 * (double)t->input_count &&
           paired_p(best->right, w->right, t->input_count) > 0.05;
}

static px_status advise(trials *t, const way *best, px_error *err)
{
    px_doctor *d = t->d;
    const double n = (double)t->input_count;
    const px_preprocess *pre = d->o.pre;
    const bool mean = strcmp(pre->mean_from, "option") == 0,
               std = strcmp(pre->std_from, "option") == 0;
    char range[96] = "", instead[40] = "", tie[96] = "";
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
        if (&t->ways[i] != best && t->ways[i].preset && is_tie(t, best, &t->ways[i]))
            snprintf(tie, sizeof tie, " (%s: %.0f%%)", t->ways[i].words,
                     100.0 * (double)t->ways[i].count / n);
    const double before = 100.0 * (n - (double)mistakes(t)) / n,
                 after = 100.0 * (double)best->count / n;
    const int digits = fabs(after - before) < 10.0 && after > 90.0 ? 1 : 0;
    char advice[128];
    snprintf(advice, sizeof advice, "give %s", best->words);
    d->advised = true;
    d->advice = best->pre;
    return pxi_doctor_add(
        d, "preprocess", PX_FINDING_ERROR, t->input_count, advice, err,
        "%swith %s%s accuracy on %" PRId64 " inputs is %.*f%% instead of %.*f%%%s", range,
        best->words, instead, t->input_count, digits, after, digits, before, tie);
}

static px_status trials_run(trials *t, px_error *err)
{
    const int64_t first = PX_MIN((int64_t)FIRST_INPUTS, t->input_count);
    const size_t tried = t->count;
    for (size_t i = 0; i < t->count; i++)
        PX_TRY(way_run(t, &t->ways[i], first, err));
    qsort(t->ways, t->count, sizeof *t->ways, way_better);
    ways_drop(t, 3);
    const px_shape shape = px_dataset_shape(t->d->o.set);
    if (t->count && t->ways[0].preset && shape.dim[0] == 3 && !floats_are_normalised(t->d)) {
        const way w = way_of(t->d, t->ways[0].preset, true);
        ways_add(t, &w);
    }
    for (size_t i = 0; i < t->count; i++)
        PX_TRY(way_run(t, &t->ways[i], t->input_count, err));
    qsort(t->ways, t->count, sizeof *t->ways, way_better);
    const way *best = &t->ways[0];
    const int64_t wrong = mistakes(t), gain = wrong - (t->input_count - best->count);
    if (t->count && 3 * gain >= wrong && 50 * gain >= t->input_count &&
        paired_p(best->right, t->right, t->input_count) * (double)(tried + 1) < ADVISED_P)
        return advise(t, best, err);
    return PX_OK;
}

/* What the values say by themselves, where nothing was measured that says more: without labels, and
 * where answers are right but far too sure, so that another way makes them no better. */
static px_status unmeasured(px_doctor *d, px_error *err)
{
    const px_preprocess *pre = d->o.pre;
    const bool identity = pre->mean[0] == 0.0f && pre->stddev[0] == 1.0f;
    if (d->advised || px_dataset_is_8bit(d->o.set) ||
        (d->sum.labelled && !(d->sum.loss > log((double)d->said->scores.classes))))
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
    trials t = {.d = d};
    if (!pxi_doctor_pictures(d) || d->o.failures)
        return PX_OK;
    if (!d->sum.labelled)
        return unmeasured(d, err);
    ways_list(&t);
    if (!worth_trying(&t))
        return unmeasured(d, err);
    px_status status = trials_sample(&t, err);
    if (status == PX_OK && mistakes(&t) >= LEAST_MISTAKES)
        status = trials_run(&t, err);
    ways_drop(&t, 0);
    free(t.indices);
    free(t.right);
    return status == PX_OK ? unmeasured(d, err) : status;
}
