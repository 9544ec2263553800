/* src/select/sel_ats.c - ATS: inputs that are unsure in different ways
 *
 * Gao et al., Adaptive Test Selection for Deep Neural Networks, ICSE 2022; CSM B.9; ats_lines.c has
 * the algorithm. With fewer than three classes there is no line between two others: then it is
 * DeepGini, and says so.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "select/ats_lines.h"
#include "select/lazy_greedy.h"
#include "select/selectors.h"
#include "select/softmax_scores.h"

#include "base/memory.h"

#include <internal/engine.h>
#include <internal/select.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

static const char *const ats_compats[] = {"none", "ats-code", NULL};

typedef struct ats_config {
    double up;
    double th;
    double radius;
    int compat;
} ats_config;

static const px_param ats_params[] = {
    PX_PARAM_REAL(ats_config, up, 0.99, 0, 1,
                  "inputs whose class has this probability come last, shuffled"),
    PX_PARAM_REAL(ats_config, th, 0.001, 0, 1e6,
                  "what an input has to add to the covered lines to be chosen"),
    PX_PARAM_REAL(ats_config, radius, 0.005, 0, 1,
                  "half of what an input covers of a line, per distance from up"),
    PX_PARAM_CHOICE(ats_config, compat, 0, ats_compats,
                    "ats-code: with the slips of the authors' program"),
    PX_PARAM_END,
};

typedef struct ats_selector {
    px_scores scores;
    pxi_ats_options options;
    int64_t count;
    float *p;           /* [count][classes]; NULL: too few classes */
    int32_t *predicted; /* [count] */
    pxi_ats_counts counts;
} ats_selector;

static px_status ats_extract(const px_model *model, const px_probe_options *options,
                             const void *settings, px_extractor **out, px_error *err)
{
    (void)options, (void)settings;
    return px_extractor_scores(model, out, err);
}

static int64_t ats_bytes(const px_selector_request *request)
{
    return request->count * (4 + 4 * (int64_t)request->classes);
}

static void ats_release(void *prepared)
{
    ats_selector *a = prepared;
    if (!a)
        return;
    free(a->p);
    free(a->predicted);
    free(a);
}

static px_status ats_prepare(const px_selector_request *request, void **out, px_error *err)
{
    const ats_config *config = request->config;
    ats_selector *a = NULL;
    PX_TRY(PX_NEW(a, 1, err));
    a->scores = request->scores;
    a->count = request->count;
    a->options = (pxi_ats_options){.up = config->up,
                                   .least = config->th,
                                   .radius = config->radius,
                                   .as_program = config->compat != 0,
                                   .seed = request->seed};
    if (a->scores.classes >= 3) {
        const size_t row = (size_t)a->scores.classes * sizeof *a->p;
        a->p = pxi_calloc((size_t)a->count, row);
        a->predicted = pxi_calloc((size_t)a->count, sizeof *a->predicted);
        if (!a->p || !a->predicted) {
            ats_release(a);
            return pxi_no_memory(err);
        }
    }
    *out = a;
    return PX_OK;
}

static px_status ats_open(void *prepared, void **worker, px_error *err)
{
    const ats_selector *a = prepared;
    *worker = pxi_calloc((size_t)a->scores.classes, sizeof(double));
    return *worker ? PX_OK : pxi_no_memory(err);
}

static px_status ats_score(void *prepared, void *worker, const px_rows *rows, double *scores,
                           px_error *err)
{
    (void)err;
    ats_selector *a = prepared;
    double *p = worker;
    const int classes = a->scores.classes;
    for (int64_t i = 0; i < rows->count; i++) {
        const int64_t index = rows->facts[i].index;
        px_scores_probabilities(&a->scores, rows->values + i * rows->width, p);
        scores[i] = rows->facts[i].predicted < 0 ? NAN : pxi_unsure_gini(p, classes);
        if (!a->p)
            continue;
        a->predicted[index] = rows->facts[i].predicted;
        for (int c = 0; c < classes; c++)
            a->p[index * classes + c] = (float)p[c];
    }
    return PX_OK;
}

static size_t ats_kept(void *prepared, size_t i, void **array)
{
    ats_selector *a = prepared;
    if (!a->p || i > 1)
        return 0;
    *array = i == 0 ? (void *)a->p : (void *)a->predicted;
    return i == 0 ? (size_t)a->scores.classes * sizeof *a->p : sizeof *a->predicted;
}

/* Scores become lengths; with too few classes they stay Gini's. */
static px_status ats_arrange(void *prepared, double *scores, int64_t count, int64_t *order,
                             px_error *err)
{
    ats_selector *a = prepared;
    int64_t *items = pxi_calloc((size_t)count + 1, sizeof *items);
    double *lengths = pxi_calloc((size_t)count + 1, sizeof *lengths);
    pxi_keyed *keyed = pxi_calloc((size_t)count + 1, sizeof *keyed);
    px_status status = items && lengths && keyed ? PX_OK : pxi_no_memory(err);
    if (status == PX_OK) {
        const int64_t scored = pxi_scored_items(scores, count, items);
        if (a->p) {
            status = pxi_ats_order(a->p, a->predicted, a->scores.classes, items, scored,
                                   &a->options, order, lengths, &a->counts, err);
        } else {
            for (int64_t i = 0; i < scored; i++)
                keyed[i] = (pxi_keyed){.key = scores[items[i]], .item = items[i]};
            pxi_keyed_sort(keyed, scored);
            for (int64_t i = 0; i < scored; i++) {
                order[i] = keyed[i].item;
                lengths[i] = keyed[i].key;
            }
        }
        for (int64_t i = 0; i < scored && status == PX_OK; i++)
            scores[order[i]] = lengths[i];
        if (status == PX_OK)
            pxi_append_unscored(scores, count, order, scored);
    }
    free(items);
    free(lengths);
    free(keyed);
    return status;
}

static void ats_remark(const void *prepared, px_text *text)
{
    const ats_selector *a = prepared;
    if (!a->p)
        px_text_format(text,
                       "ats: with %d classes there is no line between two others; this is the "
                       "order of gini\n",
                       a->scores.classes);
    else
        px_text_format(text,
                       "ats: %" PRId64 " inputs chosen for what they add, then %" PRId64
                       " others, then %" PRId64 " sure ones, shuffled\n",
                       a->counts.chosen, a->counts.others, a->counts.sure);
}

static const px_field ats_result[] = {
    PX_FIELD(ats_selector, counts.chosen, "chosen", "inputs, for what they add"),
    PX_FIELD(ats_selector, counts.others, "others", "inputs that add nothing"),
    PX_FIELD(ats_selector, counts.sure, "sure", "inputs that the network is sure of"),
    PX_FIELDS_END,
};

const px_selector px_selector_ats = {
    .entry = {.id = "ats",
              .title = "inputs that are unsure in different ways",
              .source = "Gao et al., Adaptive Test Selection for Deep Neural Networks, ICSE 2022",
              .params = ats_params,
              .config_size = sizeof(ats_config)},
    .needs = PX_NEEDS_CLASSES,
    .extract = ats_extract,
    .bytes = ats_bytes,
    .prepare = ats_prepare,
    .release = ats_release,
    .open = ats_open,
    .close = free,
    .score = ats_score,
    .kept = ats_kept,
    .arrange = ats_arrange,
    .remark = ats_remark,
    .result = ats_result,
};
