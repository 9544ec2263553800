/* src/engine/loss.c - class scores, cross-entropy and its gradient
 *
 * With m the largest logit and S = sum exp(z_j - m): loss = log S - (z_y - m), dloss/dz_j = p_j for
 * j != y, and dloss/dz_y = -sum_{j != y} p_j. NaN and infinite logits give NaN, so that they are
 * seen.
 */
#include <plexor/engine.h>

#include <float.h>
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
