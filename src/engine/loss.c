/* src/engine/loss.c - class scores, cross-entropy and its gradient
 *
 * With m the largest logit and S = sum exp(z_j - m): loss = log S - (z_y - m), dloss/dz_j = p_j for
 * j != y, and dloss/dz_y = -sum_{j != y} p_j. NaN and infinite logits give NaN, so that they are
 * seen.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include <internal/engine.h>

#include "base/memory.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>

int px_argmax(const float *scores, int classes)
{
    int best = -1;
    for (int c = 0; c < classes; c++)
        if (!isnan(scores[c]) && (best < 0 || scores[c] > scores[best]))
            best = c;
    return best;
}

/* The rows of a micro-batch lie with a stride, so both kinds of loss read and write through one. */
static double loss_softmax(const float *z, int64_t step, int classes, int64_t label, float *g,
                           int64_t g_step)
{
    double most = -INFINITY;
    for (int c = 0; c < classes; c++)
        if ((double)z[c * step] > most)
            most = (double)z[c * step];
    double sum = 0.0, others = 0.0;
    for (int c = 0; c < classes; c++) {
        const double e = exp((double)z[c * step] - most);
        sum += e;
        others += c == label ? 0.0 : e;
    }
    for (int c = 0; g && c < classes; c++)
        g[c * g_step] +=
            (float)(c == label ? -others / sum : exp((double)z[c * step] - most) / sum);
    const double margin = most - (double)z[label * step];
    /* log(1 + others) where the label has the maximum: log(sum) would round small losses to zero */
    return margin == 0.0 ? log1p(others) : log(sum) + margin;
}

static double loss_probability(const float *p, int64_t step, int64_t label, float *g,
                               int64_t g_step)
{
    const double at_label = (double)p[label * step];
    const double guarded = at_label < (double)FLT_MIN ? (double)FLT_MIN : at_label;
    if (g)
        g[label * g_step] += (float)(-1.0 / guarded);
    return -log(guarded);
}

double px_softmax_loss(const float *logits, int classes, int64_t label, float *gradient)
{
    for (int c = 0; gradient && c < classes; c++)
        gradient[c] = 0.0f;
    return loss_softmax(logits, 1, classes, label, gradient, 1);
}

double px_probability_loss(const float *probabilities, int classes, int64_t label, float *gradient)
{
    for (int c = 0; gradient && c < classes; c++)
        gradient[c] = 0.0f;
    return loss_probability(probabilities, 1, label, gradient, 1);
}

void px_scores_probabilities(const px_scores *scores, const float *row, double *p)
{
    double most = -INFINITY, sum = 0.0;
    for (int c = 0; c < scores->classes; c++) {
        p[c] = (double)row[c];
        most = PX_MAX(p[c], most); /* as fmax(), which gcc 12 cannot compile here for arm64 */
    }
    if (scores->probabilities)
        return;
    for (int c = 0; c < scores->classes; c++)
        sum += p[c] = exp(p[c] - most); /* at least one is exp(0): the sum is not 0 */
    for (int c = 0; c < scores->classes; c++)
        p[c] /= sum;
}

static px_status loss_check_label(int64_t label, const px_scores *scores, px_error *err)
{
    if (label >= 0 && label < scores->classes)
        return PX_OK;
    return px_fail(err, PX_E_MISMATCH, "label %" PRId64 " is outside the network's classes 0..%d",
                   label, scores->classes - 1);
}

/* Rows and classes that the scores' tensor really has. */
static px_status loss_check_shape(const px_shape *shape, const px_scores *scores, int64_t samples,
                                  px_error *err)
{
    char text[PX_SHAPE_TEXT];
    if (shape->rank >= 2 && samples <= shape->dim[0] && scores->classes == shape->dim[1])
        return PX_OK;
    return px_fail(err, PX_E_USAGE,
                   "%lld samples of %d classes asked for, the class scores have shape %s",
                   (long long)samples, scores->classes, px_shape_text(shape, text));
}

px_status px_session_judge(const px_session *session, const px_scores *scores,
                           const int64_t *labels, int64_t samples, int64_t *predictions,
                           double *losses, px_error *err)
{
    const px_view view = px_session_view(session, scores->value);
    if (!view.data)
        return px_fail(err, PX_E_USAGE, "the plan does not keep the class scores");
    PX_TRY(loss_check_shape(&view.shape, scores, samples, err));
    const int64_t row = view.stride[0], step = view.stride[1];
    for (int64_t i = 0; i < samples; i++) {
        const float *z = view.data + i * row;
        int64_t best = -1;
        for (int64_t c = 0; c < scores->classes; c++) /* px_argmax() with a stride */
            if (!isnan(z[c * step]) && (best < 0 || z[c * step] > z[best * step]))
                best = c;
        predictions[i] = best;
        if (!labels || !losses)
            continue;
        losses[i] = NAN;
        if (labels[i] < 0)
            continue;
        PX_TRY(loss_check_label(labels[i], scores, err));
        losses[i] = scores->probabilities
                        ? loss_probability(z, step, labels[i], NULL, 0)
                        : loss_softmax(z, step, scores->classes, labels[i], NULL, 0);
    }
    return PX_OK;
}

px_status px_session_seed_loss(px_session *session, const px_scores *scores, const int64_t *labels,
                               int64_t samples, double *losses, px_error *err)
{
    const px_view view = px_session_view(session, scores->value);
    const px_place seed = px_session_seed(session, scores->value);
    if (!view.data || !seed.data)
        return px_fail(err, PX_E_USAGE, "the plan neither keeps nor seeds the class scores");
    PX_TRY(loss_check_shape(&view.shape, scores, samples, err));
    const int64_t row = view.stride[0], step = view.stride[1];
    const int64_t seed_row = seed.stride[0], seed_step = seed.stride[1];
    for (int64_t i = 0; i < samples; i++) {
        PX_TRY(loss_check_label(labels[i], scores, err));
        const float *z = view.data + i * row;
        float *g = seed.data + i * seed_row;
        const double loss = scores->probabilities
                                ? loss_probability(z, step, labels[i], g, seed_step)
                                : loss_softmax(z, step, scores->classes, labels[i], g, seed_step);
        if (losses)
            losses[i] = loss;
    }
    return PX_OK;
}
