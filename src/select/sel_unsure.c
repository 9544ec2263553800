/* src/select/sel_unsure.c - softmax, entropy, pcs, gini: how unsure the network is of its answer
 *
 * CSM B.7; the scores themselves are in softmax_scores.c.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "select/selectors.h"
#include "select/softmax_scores.h"

#include "base/memory.h"

#include <internal/engine.h>
#include <internal/select.h>
#include <stdlib.h>

static px_status unsure_extract(const px_model *model, const px_probe_options *options,
                                const void *config, px_extractor **out, px_error *err)
{
    (void)options, (void)config;
    return px_extractor_scores(model, out, err);
}

static px_status unsure_prepare(const px_selector_request *request, void **out, px_error *err)
{
    px_scores *scores = NULL;
    PX_TRY(PX_NEW(scores, 1, err));
    *scores = request->scores;
    *out = scores;
    return PX_OK;
}

/* Probabilities of one input. */
static px_status unsure_open(void *prepared, void **worker, px_error *err)
{
    const px_scores *scores = prepared;
    *worker = pxi_calloc((size_t)scores->classes, sizeof(double));
    return *worker ? PX_OK : pxi_no_memory(err);
}

static void unsure_score(const px_scores *of, double *p, const px_rows *rows, pxi_unsure_fn unsure,
                         double *scores)
{
    for (int64_t i = 0; i < rows->count; i++) {
        px_scores_probabilities(of, rows->values + i * rows->width, p);
        scores[i] = unsure(p, of->classes);
    }
}

#define UNSURE_SELECTOR(ID, TITLE, SOURCE)                                                         \
    static px_status ID##_score(void *prepared, void *worker, const px_rows *rows, double *scores, \
                                px_error *err)                                                     \
    {                                                                                              \
        (void)err;                                                                                 \
        unsure_score(prepared, worker, rows, pxi_unsure_##ID, scores);                             \
        return PX_OK;                                                                              \
    }                                                                                              \
    const px_selector px_selector_##ID = {                                                         \
        .entry = {.id = #ID, .title = TITLE, .source = SOURCE},                                    \
        .needs = PX_NEEDS_CLASSES,                                                                 \
        .extract = unsure_extract,                                                                 \
        .prepare = unsure_prepare,                                                                 \
        .release = free,                                                                           \
        .open = unsure_open,                                                                       \
        .close = free,                                                                             \
        .score = ID##_score,                                                                       \
    };

UNSURE_SELECTOR(softmax, "1 - the largest class probability",
                "Hendrycks and Gimpel, A Baseline for Detecting Misclassified Examples, ICLR 2017")
UNSURE_SELECTOR(entropy, "entropy of the class probabilities, in bits",
                "Shannon, A Mathematical Theory of Communication, 1948")
UNSURE_SELECTOR(pcs, "how close the two most probable classes are",
                "Zhang et al., Towards Characterizing Adversarial Defects, ICSE 2020")
UNSURE_SELECTOR(gini, "1 - the sum of squared class probabilities",
                "Feng et al., DeepGini, ISSTA 2020")
