/* src/attribute/conductance.c - conductance: contributions of all units to a class score
 *
 * Dhamdhere, Sundararajan, Yan: *How Important Is a Neuron?*, ICLR 2019; NSGen, Eq 9 to 11. The sum
 * over pixels of (x - x') dh_i/dx is the derivative of h_i along the way, so no unit needs an input
 * gradient of its own: differences of h between neighbouring points, times the gradient of the
 * score by h there, are all there is to add up.
 *
 * The points of one input are rows of micro-batches, from the input itself down to the baseline:
 * the first run tells the predicted class, whose score the gradients may be of. A lane keeps the
 * last row of a micro-batch for the first difference of the next.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "attribute/paths_internal.h"

#include "base/memory.h"
#include <internal/gauss_nodes.h>
#include <internal/view_row.h>

#include <assert.h>
#include <internal/decision_path.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

typedef struct conductance_run {
    px_paths *paths;
    const float *inputs;
    const int64_t *labels;
    px_path *out;
    double *contributions;
} conductance_run;

/* --- points ---------------------------------------------------------------------------------- */

int pxi_path_points(px_path_rule rule, int steps, double *points, int *first, int *last)
{
    assert(steps > 0);
    if (rule == PX_PATH_CODE) { /* between the ends, which it does not take differences with */
        double nodes[PX_PATH_STEPS_MOST + 1], weights[PX_PATH_STEPS_MOST + 1];
        pxi_gauss_nodes(steps + 1, nodes, weights);
        points[0] = 1.0;
        for (int t = 0; t <= steps; t++)
            points[1 + t] = nodes[steps - t];
        points[steps + 2] = 0.0;
        *first = 1;
        *last = steps + 1;
        return steps + 3;
    }
    for (int t = 0; t <= steps; t++)
        points[t] = (double)(steps - t) / steps;
    *first = 0;
    *last = steps;
    return steps + 1;
}

int pxi_path_most_points(const px_paths_options *options)
{
    return options->rule == PX_PATH_CODE ? options->steps + 3
                                         : PX_MAX(options->steps, options->most_steps) + 1;
}

/* --- one input ------------------------------------------------------------------------------- */

static void point_fill(const px_paths *paths, const float *input, double w, float *to)
{
    const float *baseline = paths->baseline, share = (float)w;
    if (w == 1.0)
        memcpy(to, input, paths->input_size * sizeof *to);
    else
        for (size_t i = 0; i < paths->input_size; i++)
            to[i] = baseline[i] + share * (input[i] - baseline[i]);
}

px_status pxi_path_seed(const px_paths *paths, px_session *session, int64_t rows, int64_t target,
                        px_error *err)
{
    PX_TRY(px_session_seed_clear(session, err));
    const px_place seed = px_session_seed(session, paths->scores.value);
    if (!seed.data || seed.shape.rank < 2 || seed.shape.dim[0] < rows)
        return px_fail(err, PX_E_INTERNAL, "the class scores cannot be seeded");
    for (int64_t r = 0; r < rows; r++)
        seed.data[r * seed.stride[0] + target * seed.stride[1]] = 1.0f;
    return px_session_backward(session, err);
}

/* The classes with the highest scores, the lowest of equals first. */
static void path_classes(px_path *path, const float *scores, int classes)
{
    for (int k = 0; k < PX_PATH_CLASSES_MOST; k++) {
        int best = -1;
        for (int c = 0; c < classes; c++) {
            bool taken = isnan(scores[c]);
            for (int j = 0; j < k && !taken; j++)
                taken = path->classes[j] == c;
            if (!taken && (best < 0 || scores[c] > scores[best]))
                best = c;
        }
        path->classes[k] = best;
    }
}

/* -1: no label, and no score is a number. */
static int32_t path_target(const px_paths *paths, int64_t label, const px_path *path)
{
    const bool labelled = paths->options.target == PX_PATH_LABEL && label >= 0;
    return labelled ? (int32_t)label : path->classes[0];
}

static bool rule_takes_both(px_path_rule rule)
{
    return rule == PX_PATH_TRAPEZOID || rule == PX_PATH_BALANCED;
}

/* Adds what the rows of one micro-batch give, row 0 of which is point `point`; differences are
 * taken between the points first and last. */
static void points_add(const px_paths *paths, const px_session *session, pxi_path_lane *own,
                       int point, int rows, int first, int last)
{
    const px_path_rule rule = paths->options.rule;
    for (size_t l = 0; l < paths->layer_count; l++) {
        const pxi_path_tap *tap = &paths->taps[l];
        const px_view h = px_session_view(session, tap->value);
        const px_view g = px_session_grad(session, tap->value);
        float *kept = own->carry + tap->carry;
        pxi_point from = {.value = kept, .grad = kept + tap->value_span};
        for (int r = 0; r < rows; r++) {
            const pxi_point to = {
                .value = h.data + tap->values.offset + r * tap->values.sample_stride,
                .grad = g.data + tap->grads.offset + r * tap->grads.sample_stride};
            double *sums = own->sums + paths->layers[l].offset;
            if (point + r <= first || point + r > last) {
                from = to;
                continue;
            }
            if (rule == PX_PATH_BALANCED && paths->layers[l].cut)
                pxi_conductance_balance(tap, from, to,
                                        own->along[point + r - 1] - own->along[point + r],
                                        own->step, sums);
            else
                pxi_conductance_add(tap, from, to, rule_takes_both(rule), sums);
            from = to;
        }
        memcpy(kept, from.value, tap->value_span * sizeof *kept);
        memcpy(kept + tap->value_span, from.grad, tap->grad_span * sizeof *kept);
    }
}

/* All points of one input. Sums over places are left in the lane's state. */
static px_status path_run(const px_paths *paths, pxi_lane *lane, const float *input, int64_t label,
                          px_path *path, px_error *err)
{
    px_session *session = lane->session;
    pxi_path_lane *own = lane->state;
    const int64_t batch = pxi_pass_batch(lane->pass);
    int first, last;
    const int points =
        pxi_path_points(paths->options.rule, path->steps, own->points, &first, &last);
    memset(own->sums, 0, (size_t)paths->unit_count * sizeof *own->sums);
    for (int at = 0; at < points; at += (int)batch) {
        const int rows = PX_MIN((int)batch, points - at);
        float *fed = px_session_input(session, 0);
        for (int r = 0; r < rows; r++)
            point_fill(paths, input, own->points[at + r], fed + (size_t)r * paths->input_size);
        PX_TRY(px_session_forward(session, err));
        const px_view scores = px_session_view(session, paths->scores.value);
        if (at == 0) {
            pxi_view_row(&scores, 0, own->scores, (size_t)paths->scores.classes);
            path_classes(path, own->scores, paths->scores.classes);
            path->target = path_target(paths, label, path);
            if (path->target < 0)
                return PX_OK; /* no score is a number: there is nothing to explain */
            path->score = (double)own->scores[path->target];
        }
        for (int r = 0; r < rows; r++) {
            pxi_view_row(&scores, r, own->scores, (size_t)paths->scores.classes);
            own->along[at + r] = (double)own->scores[path->target];
        }
        PX_TRY(pxi_path_seed(paths, session, rows, path->target, err));
        points_add(paths, session, own, at, rows, first, last);
    }
    path->baseline = own->along[points - 1];
    if (rule_takes_both(paths->options.rule))
        for (int64_t u = 0; u < paths->unit_count; u++)
            own->sums[u] *= 0.5;
    return PX_OK;
}

/* Whether every cut layer's sum is the change of the score, as far as it should be. */
static bool path_is_complete(const px_paths *paths, const double *sums, px_path *path)
{
    /* What float32 cannot tell from a sum that is right, where the scores themselves are close. */
    const double slack = 1e-6 * (fabs(path->score) + fabs(path->baseline));
    const double change = path->score - path->baseline;
    bool complete = true;
    path->gap = NAN;
    for (size_t l = 0; l < paths->layer_count; l++) {
        if (!paths->layers[l].cut)
            continue;
        double sum = 0.0;
        for (int64_t u = 0; u < paths->layers[l].units; u++)
            sum += sums[paths->layers[l].offset + u];
        const double off = fabs(sum - change);
        if (!isfinite(off)) {
            path->gap = NAN;
            return true; /* more steps would not mend that */
        }
        const double gap = off == 0.0 ? 0.0 : off / fabs(change);
        path->gap = isnan(path->gap) ? gap : PX_MAX(path->gap, gap);
        complete = complete && off <= paths->options.tolerance * fabs(change) + slack;
    }
    return complete;
}

static px_status conductance_job(void *context, pxi_lane *lane, int64_t index, px_error *err)
{
    const conductance_run *run = context;
    const px_paths *paths = run->paths;
    const px_paths_options *options = &paths->options;
    const float *input = run->inputs + (size_t)index * paths->input_size;
    double *sums = ((pxi_path_lane *)lane->state)->sums;
    const int64_t label = run->labels ? run->labels[index] : -1;
    const bool doubles = options->rule != PX_PATH_CODE;
    px_path path = {.steps = options->steps, .layers = (int32_t)paths->layer_count, .gap = NAN};
    for (;; path.steps *= 2) {
        PX_TRY(path_run(paths, lane, input, label, &path, err));
        path.incomplete = path.target >= 0 && !path_is_complete(paths, sums, &path);
        if (!path.incomplete || !doubles || path.steps > options->most_steps / 2)
            break;
    }
    for (size_t l = 0; l < paths->layer_count; l++) {
        const px_path_layer *layer = &paths->layers[l];
        double *mean = sums + layer->offset;
        for (int64_t u = 0; u < layer->units; u++)
            mean[u] /= (double)paths->taps[l].values.places;
        px_path_step *step = &path.step[l];
        step->unit = path.target < 0
                         ? -1
                         : pxi_critical_unit(mean, paths->competes + layer->offset, layer->units);
        step->contribution = step->unit >= 0 ? mean[step->unit] : 0.0;
    }
    if (run->contributions)
        memcpy(run->contributions + index * paths->unit_count, sums,
               (size_t)paths->unit_count * sizeof *sums);
    run->out[index] = path;
    return PX_OK;
}

/* --- many ------------------------------------------------------------------------------------ */

static px_status labels_check(const px_paths *paths, const int64_t *labels, int64_t count,
                              px_error *err)
{
    for (int64_t i = 0; labels && i < count; i++)
        if (labels[i] >= paths->scores.classes)
            return px_fail(err, PX_E_MISMATCH,
                           "label %" PRId64 " is outside the network's classes 0..%d", labels[i],
                           paths->scores.classes - 1);
    return PX_OK;
}

px_status px_paths_run(px_paths *paths, const float *inputs, const int64_t *labels, int64_t count,
                       px_path *out, double *contributions, px_error *err)
{
    conductance_run run = {.paths = paths,
                           .inputs = inputs,
                           .labels = labels,
                           .out = out,
                           .contributions = contributions};
    PX_TRY(labels_check(paths, labels, count, err));
    const pxi_share share = {.each = 1, .total = count};
    const pxi_left left = {
        .each = 1,
        .count = count,
        .array = {{out, sizeof *out},
                  {contributions, (size_t)paths->unit_count * sizeof *contributions}}};
    pxi_pass_leaves(paths->pass, &left);
    PX_TRY(pxi_pass_each(paths->pass, count, paths->progress ? &share : NULL, conductance_job, &run,
                         err));
    for (int64_t i = 0; i < count; i++) {
        px_paths_sums *sums = &paths->sums;
        sums->inputs++;
        sums->doubled += out[i].steps > paths->options.steps;
        sums->incomplete += out[i].incomplete;
        sums->odd += out[i].target < 0 || !isfinite(out[i].score);
        for (int64_t steps = paths->options.steps; steps <= out[i].steps; steps *= 2)
            sums->rows += steps + (paths->options.rule == PX_PATH_CODE ? 3 : 1);
    }
    return PX_OK;
}

typedef struct classes_run {
    const px_paths *paths;
    const float *inputs;
    const int64_t *labels;
    int64_t count;
    px_path *out;
} classes_run;

/* One micro-batch, whose rows are inputs instead of points. */
static px_status classes_job(void *context, pxi_lane *lane, int64_t index, px_error *err)
{
    const classes_run *run = context;
    const px_paths *paths = run->paths;
    const pxi_path_lane *own = lane->state;
    const int64_t batch = pxi_pass_batch(lane->pass), first = index * batch;
    const int64_t rows = PX_MIN(batch, run->count - first);
    memcpy(pxi_lane_input(lane, 0), run->inputs + (size_t)first * paths->input_size,
           (size_t)rows * paths->input_size * sizeof(float));
    PX_TRY(px_session_forward(lane->session, err));
    const px_view scores = px_session_view(lane->session, paths->scores.value);
    for (int64_t r = 0; r < rows; r++) {
        px_path path = {.layers = (int32_t)paths->layer_count, .gap = NAN};
        const int64_t label = run->labels ? run->labels[first + r] : -1;
        pxi_view_row(&scores, r, own->scores, (size_t)paths->scores.classes);
        path_classes(&path, own->scores, paths->scores.classes);
        path.target = path_target(paths, label, &path);
        if (path.target >= 0)
            path.score = (double)own->scores[path.target];
        for (size_t l = 0; l < paths->layer_count; l++)
            path.step[l].unit = -1;
        run->out[first + r] = path;
    }
    return PX_OK;
}

px_status px_paths_classes(px_paths *paths, const float *inputs, const int64_t *labels,
                           int64_t count, px_path *out, px_error *err)
{
    classes_run run = {
        .paths = paths, .inputs = inputs, .labels = labels, .count = count, .out = out};
    PX_TRY(labels_check(paths, labels, count, err));
    const int64_t batch = pxi_pass_batch(paths->pass);
    const pxi_left left = {.each = batch, .count = count, .array = {{out, sizeof *out}}};
    pxi_pass_leaves(paths->pass, &left);
    PX_TRY(pxi_pass_each(paths->pass, (count + batch - 1) / batch, NULL, classes_job, &run, err));
    for (int64_t i = 0; i < count; i++)
        paths->sums.odd += out[i].target < 0 || !isfinite(out[i].score);
    paths->sums.inputs += count;
    paths->sums.rows += count;
    return PX_OK;
}

void px_paths_progress(px_paths *paths, px_progress_fn progress, void *context)
{
    paths->progress = progress;
    paths->progress_context = context;
    pxi_pass_watch(paths->pass, progress, context);
}

px_paths_sums px_paths_get_sums(const px_paths *paths)
{
    return paths->sums;
}
