/* src/train/train_loss.c - losses to train by, and their gradients at the class scores
 *
 * For scores z with p = softmax(z) and a target t over the classes, T = sum t:
 *
 *     cross-entropy  -sum t_j log p_j          d/dz_i = T p_i - t_i
 *     mse            mean (q_j - t_j)^2        d/dq_i = 2 (q_i - t_i) / classes
 *
 * A label is the target that has 1 there and 0 elsewhere; smoothing by s makes that (1 - s) t +
 * s / classes (Szegedy et al., Rethinking the Inception Architecture, CVPR 2016, section 7, and
 * PyTorch's label_smoothing). mse looks at q = p unless told otherwise, or where the network gives
 * probabilities, at those.
 *
 * Where the largest score is, 1 - p is the sum of the other probabilities, never a difference: in
 * T p_m - t_m = sum_{j != m} t_j - T sum_{j != m} p_j nothing is lost on confident inputs. NaN and
 * positively infinite scores give NaN, so that they are seen.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "train/choice.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

static const px_setting cross_entropy_settings[] = {
    {.name = "smoothing", .most = 1, .help = "share of the target spread over all classes"},
    {0},
};
static const px_setting mse_settings[] = {
    {.name = "softmax", .standard = 1, .most = 1, .whole = true, .help = "0: of the scores as is"},
    {0},
};
static const px_choice losses[] = {
    [PX_LOSS_CROSS_ENTROPY] = {.entry = {.id = "cross-entropy",
                                         .title =
                                             "of the softmax of the class scores and the target"},
                               .usage = "cross-entropy[:smoothing=S]",
                               .settings = cross_entropy_settings},
    [PX_LOSS_MSE] = {.entry = {.id = "mse",
                               .title =
                                   "mean squared difference of the probabilities and the target"},
                     .usage = "mse[:softmax=0]",
                     .settings = mse_settings},
};
const px_registry pxi_losses = {.kind = "loss", .plural = "losses", PX_REGISTRY_ARRAY(losses)};

px_status px_loss_parse(const char *spec, px_loss *out, px_error *err)
{
    pxi_chosen chosen;
    PX_TRY(pxi_choice_read(&pxi_losses, spec, strlen(spec), &chosen, err));
    *out = (px_loss){0};
    if (chosen.choice == &losses[PX_LOSS_CROSS_ENTROPY]) {
        out->kind = PX_LOSS_CROSS_ENTROPY;
        out->smoothing = chosen.values[0];
    } else {
        out->kind = PX_LOSS_MSE;
        out->softmax = chosen.values[0] != 0.0;
    }
    return PX_OK;
}

typedef struct loss_row { /* one sample: its scores, its target, where its gradient is added */
    const float *scores;
    int64_t step;
    int classes;
    int64_t label;
    const float *target;             /* NULL: the label */
    double keep, spread, target_sum; /* t_j = keep * target_j + spread */
    float *gradient;                 /* NULL: not wanted */
    int64_t gradient_step;
    double scale; /* of the gradient */
} loss_row;

static double row_score(const loss_row *row, int c)
{
    return (double)row->scores[c * row->step];
}

static double row_target(const loss_row *row, int c)
{
    const double t = row->target ? (double)row->target[c] : c == row->label ? 1.0 : 0.0;
    return row->keep * t + row->spread;
}

static void row_add(const loss_row *row, int c, double gradient)
{
    row->gradient[c * row->gradient_step] += (float)(row->scale * gradient);
}

/* Sets up t: the smoothed target and its sum. */
static void row_smooth(loss_row *row, double smoothing)
{
    double sum = row->target ? 0.0 : 1.0;
    for (int c = 0; row->target && c < row->classes; c++)
        sum += (double)row->target[c];
    row->keep = 1.0 - smoothing;
    row->spread = smoothing / row->classes;
    row->target_sum = row->keep * sum + smoothing;
}

typedef struct loss_softmax { /* p_c = exp(z_c - most) / (1 + others) */
    int at;                   /* the largest score, the first of equals */
    double most, others;      /* others: sum of exp(z_c - most) without that one */
} loss_softmax;

static loss_softmax row_softmax(const loss_row *row)
{
    loss_softmax s = {.at = 0, .most = -INFINITY};
    for (int c = 0; c < row->classes; c++)
        if (row_score(row, c) > s.most) {
            s.most = row_score(row, c);
            s.at = c;
        }
    for (int c = 0; c < row->classes; c++)
        if (c != s.at)
            s.others += exp(row_score(row, c) - s.most);
    if (!(s.most < INFINITY && s.most > -INFINITY)) /* inf - inf of the largest itself */
        s.others = NAN;
    return s;
}

static double row_probability(const loss_row *row, const loss_softmax *s, int c)
{
    return c == s->at ? 1.0 / (1.0 + s->others)
                      : exp(row_score(row, c) - s->most) / (1.0 + s->others);
}

static double cross_entropy_scores(const loss_row *row)
{
    const loss_softmax s = row_softmax(row);
    double loss = row->target_sum * log1p(s.others); /* small losses do not round to zero */
    double other_targets = 0.0;
    for (int c = 0; c < row->classes; c++) {
        const double t = row_target(row, c);
        if (c == s.at)
            continue;
        other_targets += t;
        if (t != 0.0) /* not 0 * inf where a class is impossible */
            loss += t * (s.most - row_score(row, c));
    }
    if (!row->gradient)
        return loss;
    for (int c = 0; c < row->classes; c++)
        row_add(row, c,
                c == s.at ? other_targets - row->target_sum * (s.others / (1.0 + s.others))
                          : row->target_sum * row_probability(row, &s, c) - row_target(row, c));
    return loss;
}

/* The network gives only probabilities; guarded at the least positive float. */
static double cross_entropy_probabilities(const loss_row *row)
{
    double loss = 0.0;
    for (int c = 0; c < row->classes; c++) {
        const double t = row_target(row, c), p = row_score(row, c);
        if (t == 0.0)
            continue;
        const double guarded = p < (double)FLT_MIN ? (double)FLT_MIN : p;
        loss -= t * log(guarded);
        if (row->gradient)
            row_add(row, c, -t / guarded);
    }
    return loss;
}

static double mse_plain(const loss_row *row)
{
    double sum = 0.0;
    for (int c = 0; c < row->classes; c++) {
        const double difference = row_score(row, c) - row_target(row, c);
        sum += difference * difference;
        if (row->gradient)
            row_add(row, c, 2.0 * difference / row->classes);
    }
    return sum / row->classes;
}

/* With d = p - t and m the largest score: d/dz_i = 2 / classes p_i (d_i - sum_j p_j d_j), where the
 * sum is formed as d_m + sum_j p_j (d_j - d_m), of which d_m leaves the bracket: for a confident p
 * nothing cancels. */
static double mse_softmax(const loss_row *row)
{
    const loss_softmax s = row_softmax(row);
    double top = 1.0 - row->target_sum - s.others / (1.0 + s.others); /* p - t of the largest */
    for (int c = 0; c < row->classes; c++)
        top += c == s.at ? 0.0 : row_target(row, c);
    double sum = 0.0, mean = 0.0; /* mean: of the differences to `top`, weighted by p */
    for (int c = 0; c < row->classes; c++) {
        const double p = row_probability(row, &s, c);
        const double difference = c == s.at ? top : p - row_target(row, c);
        sum += difference * difference;
        if (c != s.at)
            mean += p * (difference - top);
    }
    for (int c = 0; row->gradient && c < row->classes; c++) {
        const double p = row_probability(row, &s, c);
        const double difference = c == s.at ? 0.0 : p - row_target(row, c) - top;
        row_add(row, c, 2.0 / row->classes * p * (difference - mean));
    }
    return sum / row->classes;
}

static double loss_of_row(const px_loss *loss, bool probabilities, loss_row *row)
{
    if (loss->kind == PX_LOSS_CROSS_ENTROPY) {
        row_smooth(row, loss->smoothing);
        return probabilities ? cross_entropy_probabilities(row) : cross_entropy_scores(row);
    }
    row_smooth(row, 0.0);
    return loss->softmax && !probabilities ? mse_softmax(row) : mse_plain(row);
}

double px_loss_sample(const px_loss *loss, const float *scores, int classes, bool probabilities,
                      int64_t label, const float *target, float *gradient)
{
    for (int c = 0; gradient && c < classes; c++)
        gradient[c] = 0.0f;
    loss_row row = {.scores = scores,
                    .step = 1,
                    .classes = classes,
                    .label = label,
                    .target = target,
                    .gradient = gradient,
                    .gradient_step = 1,
                    .scale = 1.0};
    return loss_of_row(loss, probabilities, &row);
}

static px_status loss_check(const px_scores *scores, const px_shape *shape, const int64_t *labels,
                            int64_t samples, px_error *err)
{
    char text[PX_SHAPE_TEXT];
    if (shape->rank < 2 || samples > shape->dim[0] || scores->classes != shape->dim[1])
        return px_fail(err, PX_E_USAGE,
                       "%" PRId64 " samples of %d classes asked for, the class scores have shape "
                       "%s",
                       samples, scores->classes, px_shape_text(shape, text));
    for (int64_t i = 0; labels && i < samples; i++)
        if (labels[i] < 0 || labels[i] >= scores->classes)
            return px_fail(err, PX_E_MISMATCH,
                           "label %" PRId64 " is outside the network's classes 0..%d", labels[i],
                           scores->classes - 1);
    return PX_OK;
}

px_status px_loss_seed(const px_loss *loss, px_session *session, const px_scores *scores,
                       const int64_t *labels, const float *targets, int64_t samples, double scale,
                       double *sample_losses, int64_t *predictions, px_error *err)
{
    if (!labels == !targets)
        return px_fail(err, PX_E_USAGE, "a loss needs either labels or targets");
    const px_view view = px_session_view(session, scores->value);
    const px_place seed = px_session_seed(session, scores->value);
    if (!view.data || !seed.data)
        return px_fail(err, PX_E_USAGE, "the plan neither keeps nor seeds the class scores");
    PX_TRY(loss_check(scores, &view.shape, labels, samples, err));
    for (int64_t i = 0; i < samples; i++) {
        loss_row row = {
            .scores = view.data + i * view.stride[0],
            .step = view.stride[1],
            .classes = scores->classes,
            .label = labels ? labels[i] : -1,
            .target = targets ? targets + i * scores->classes : NULL,
            .gradient = seed.data + i * seed.stride[0],
            .gradient_step = seed.stride[1],
            .scale = scale,
        };
        const double value = loss_of_row(loss, scores->probabilities, &row);
        if (sample_losses)
            sample_losses[i] = value;
    }
    return predictions ? px_session_judge(session, scores, NULL, samples, predictions, NULL, err)
                       : PX_OK;
}
