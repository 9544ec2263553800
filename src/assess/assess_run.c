/* src/assess/assess_run.c - a run over all pairs: the halves through the network, then the metrics
 *
 * A job is a micro-batch of pairs. It runs the originals and the adversarial inputs, asks every
 * metric for its term of each pair it is over, and runs what metrics change (blurred, compressed)
 * once more. Terms are kept by pair and metric and summed in order of pairs, whatever the number of
 * workers.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "assess/assess_internal.h"

#include "base/memory.h"
#include <internal/pass.h>
#include <internal/pixel_rule.h>
#include <internal/ssim.h>

#include <internal/data.h>
#include <internal/preprocess.h>
#include <inttypes.h>
#include <math.h>
#include <plexor/system.h>
#include <string.h>
#include <strings.h>

typedef struct side { /* how values of a data set become levels, and back */
    const px_dataset *set;
    const px_preprocess *pre;
    bool bytes;
} side;

typedef struct assess_lane {
    double *x, *a;   /* [batch][count], in levels */
    double *changed; /* [count] */
    double *p;       /* [batch][classes] */
    double *scratch;
    int64_t *again; /* rows of the micro-batch that are run once more */
} assess_lane;

typedef struct assess_run {
    const px_assess_job *job;
    px_assess *out;
    const px_assess_options *options;
    double low, high;
    px_shape shape;
    size_t count;    /* values of an input */
    pxi_pair sample; /* what all pairs have in common */
    side original, adversarial;
    px_scores scores;
} assess_run;

/* --- levels ---------------------------------------------------------------------------------- */

/* Floats of 8-bit data come back as whole levels: what a float cannot tell from one is one. */
static double snap(double level)
{
    const double whole = nearbyint(level);
    return fabs(level - whole) < 5e-5 ? whole : level;
}

static void to_levels(const assess_run *run, const side *s, const float *pixels, double *levels)
{
    const double unit = px_length_levels(s->pre, 1.0), range = run->high - run->low;
    const bool mixed = run->original.bytes != run->adversarial.bytes;
    const bool whole = s->bytes && fabs(unit * range - 255.0) < 1e-3 && run->low == 0.0;
    for (size_t i = 0; i < run->count; i++) {
        const double level =
            whole ? (double)pixels[i] : ((double)pixels[i] / unit - run->low) / range * 255.0;
        levels[i] = mixed ? snap(level) : level;
    }
}

static void from_levels(const assess_run *run, const side *s, const double *levels, float *pixels)
{
    const double range = run->high - run->low;
    for (size_t i = 0; i < run->count; i++)
        pixels[i] = (float)px_length_levels(s->pre, run->low + levels[i] / 255.0 * range);
}

/* --- a micro-batch --------------------------------------------------------------------------- */

/* The predicted class of row i, and the probabilities of all where `p` is given. */
static int batch_class(const assess_run *run, const pxi_lane *lane, int64_t i, double *p)
{
    const px_view view = px_session_view(lane->session, run->scores.value);
    const float *scores = view.data + i * view.stride[0];
    const int classes = run->scores.classes;
    int best = -1;
    double sum = 0.0;
    for (int k = 0; k < classes; k++) {
        const float score = scores[k * view.stride[1]];
        if (!isfinite(score))
            return -1;
        if (best < 0 || score > scores[best * view.stride[1]])
            best = k;
    }
    if (!p)
        return best;
    const double most = (double)scores[best * view.stride[1]];
    for (int k = 0; k < classes; k++) {
        const double score = (double)scores[k * view.stride[1]];
        p[k] = run->scores.probabilities ? score : exp(score - most);
        sum += p[k];
    }
    for (int k = 0; k < classes && !run->scores.probabilities; k++)
        p[k] /= sum;
    return best;
}

static px_status batch_load(const assess_run *run, pxi_lane *lane, const side *s, bool original,
                            int64_t first, int64_t samples, double *levels, px_error *err)
{
    for (int64_t i = 0; i < samples; i++) {
        const px_assess_row *row = &run->out->rows[first + i];
        float *to = pxi_lane_input(lane, i);
        PX_TRY(px_dataset_pixels(s->set, original ? row->original : row->adversarial, to, err));
        to_levels(run, s, to, levels + (size_t)i * run->count);
        PX_TRY(px_preprocess_apply(s->pre, &run->shape, to, err));
    }
    return pxi_lane_forward(lane, samples, err);
}

static bool row_wrong(const px_assess_row *row)
{
    return row->after >= 0 && row->truth >= 0 && row->after != row->truth;
}

static bool row_right(const px_assess_row *row)
{
    return row->before >= 0 && row->before == row->truth;
}

static bool metric_is_over(const pxi_metric *metric, const px_assess_row *row)
{
    return metric->over == PXI_OVER_PAIRS   ? row->truth >= 0
           : metric->over == PXI_OVER_RIGHT ? row_right(row)
                                            : row_wrong(row);
}

static const char *metric_cannot(const assess_run *run, const pxi_metric *metric)
{
    const size_t channels = run->sample.channels;
    if (metric->needs != PXI_NEEDS_NOTHING && channels == 0)
        return "the inputs are no pictures";
    if (metric->needs == PXI_NEEDS_PICTURE && channels != 1 && channels != 3)
        return "the inputs are no pictures of one or three channels";
    return NULL;
}

static pxi_pair batch_pair(const assess_run *run, const assess_lane *c, int64_t first, int64_t i)
{
    const px_assess_row *row = &run->out->rows[first + i];
    pxi_pair pair = run->sample;
    pair.x = c->x + (size_t)i * run->count;
    pair.a = c->a + (size_t)i * run->count;
    pair.p = c->p + i * run->scores.classes;
    pair.truth = (int)row->truth;
    pair.after = (int)row->after;
    pair.scratch = c->scratch;
    return pair;
}

/* Terms of a metric that looks at pairs as they are. */
static void batch_terms(const assess_run *run, const assess_lane *c, size_t m, int64_t first,
                        int64_t samples)
{
    px_assess *out = run->out;
    const pxi_metric *metric = pxi_metric_at(out->metrics[m]);
    for (int64_t i = 0; i < samples; i++) {
        const px_assess_row *row = &out->rows[first + i];
        double *term = &out->terms[(size_t)(first + i) * out->metric_count + m];
        if (!metric_is_over(metric, row) || (row->after < 0 && metric->over == PXI_OVER_WRONG))
            continue;
        const pxi_pair pair = batch_pair(run, c, first, i);
        *term = row->after < 0 ? 0.0 : metric->term(&pair, out->configs[m]);
    }
}

/* Terms of a metric that changes inputs and judges them again. */
static px_status batch_again(const assess_run *run, pxi_lane *lane, size_t m, int64_t first,
                             int64_t samples, px_error *err)
{
    px_assess *out = run->out;
    const assess_lane *c = lane->state;
    const pxi_metric *metric = pxi_metric_at(out->metrics[m]);
    int64_t count = 0;
    for (int64_t i = 0; i < samples; i++) {
        if (!metric_is_over(metric, &out->rows[first + i]))
            continue;
        const pxi_pair pair = batch_pair(run, c, first, i);
        float *to = pxi_lane_input(lane, count);
        PX_TRY(metric->change(&pair, out->configs[m], c->changed, err));
        from_levels(run, &run->adversarial, c->changed, to);
        PX_TRY(px_preprocess_apply(run->adversarial.pre, &run->shape, to, err));
        c->again[count++] = i;
    }
    if (count == 0)
        return PX_OK;
    PX_TRY(pxi_lane_forward(lane, count, err));
    for (int64_t i = 0; i < count; i++) {
        const int64_t row = first + c->again[i];
        const int after = batch_class(run, lane, i, NULL);
        out->terms[(size_t)row * out->metric_count + m] = after < 0 ? (double)NAN
                                                          : after != out->rows[row].truth ? 1.0
                                                                                          : 0.0;
    }
    return PX_OK;
}

static px_status batch_work(void *context, pxi_lane *lane, int64_t index, px_error *err)
{
    const assess_run *run = context;
    const assess_lane *c = lane->state;
    px_assess *out = run->out;
    const int64_t batch = pxi_pass_batch(lane->pass), first = index * batch;
    const int64_t samples = PX_MIN(batch, out->sum.pairs - first);
    PX_TRY(batch_load(run, lane, &run->original, true, first, samples, c->x, err));
    for (int64_t i = 0; i < samples; i++) {
        px_assess_row *row = &out->rows[first + i];
        row->before = batch_class(run, lane, i, NULL);
        row->truth = row->label >= 0 ? row->label : row->before;
    }
    PX_TRY(batch_load(run, lane, &run->adversarial, false, first, samples, c->a, err));
    for (int64_t i = 0; i < samples; i++) {
        px_assess_row *row = &out->rows[first + i];
        double *p = c->p + i * run->scores.classes;
        row->after = batch_class(run, lane, i, p);
        row->confidence = row->after < 0 ? (double)NAN : p[row->after];
    }
    for (size_t m = 0; m < out->metric_count; m++) {
        const pxi_metric *metric = pxi_metric_at(out->metrics[m]);
        if (metric_cannot(run, metric))
            continue;
        if (metric->change)
            PX_TRY(batch_again(run, lane, m, first, samples, err));
        else
            batch_terms(run, c, m, first, samples);
    }
    return PX_OK;
}

/* --- before the run -------------------------------------------------------------------------- */

static px_status choose_metrics(assess_run *run, px_error *err)
{
    px_assess *out = run->out;
    const char *text = run->options->metrics;
    bool wanted[PXI_METRICS_MOST] = {false};
    const bool all = !text || strcmp(text, "all") == 0;
    for (; !all && text; text = strchr(text, ',') ? strchr(text, ',') + 1 : NULL) {
        const size_t length = strcspn(text, ",");
        const px_entry *named = px_registry_word(&pxi_metrics, text, length);
        if (!named)
            return px_registry_unknown(&pxi_metrics, text, length, err);
        for (size_t i = 0; i < px_metric_count(); i++)
            wanted[i] |= px_registry_at(&pxi_metrics, i) == named;
    }
    for (size_t i = 0; i < px_metric_count(); i++) {
        if (!all && !wanted[i])
            continue;
        const size_t m = out->metric_count;
        const px_entry *metric = px_registry_at(&pxi_metrics, i);
        PX_TRY(px_entry_configure(&pxi_metrics, metric, run->options->settings,
                                  run->options->setting_count, &out->configs[m], err));
        out->texts[m] = px_params_text(metric->params, out->configs[m]);
        if (!out->texts[m])
            return pxi_no_memory(err);
        out->metrics[m] = i;
        out->metric_count++;
    }
    return PX_OK;
}

static px_status check_side(const assess_run *run, const side *s, px_error *err)
{
    if (px_dataset_has_labels(s->set))
        PX_TRY(px_dataset_check_labels(s->set, run->scores.classes, err));
    if (!(s->pre->scale > 0.0f))
        return px_fail(err, PX_E_USAGE, "--scale %g: comparing pixels needs a scale above 0",
                       (double)s->pre->scale);
    return PX_OK;
}

static px_status check_sides(assess_run *run, px_error *err)
{
    const px_shape other = px_dataset_shape(run->adversarial.set);
    char a[PX_SHAPE_TEXT], b[PX_SHAPE_TEXT];
    run->shape = px_dataset_shape(run->original.set);
    bool same = run->shape.rank == other.rank;
    for (int d = 0; same && d < other.rank; d++)
        same = run->shape.dim[d] == other.dim[d];
    if (!same)
        return px_fail(err, PX_E_MISMATCH,
                       "originals have the shape %s and adversarial inputs %s: they do not pair up",
                       px_shape_text(&run->shape, a), px_shape_text(&other, b));
    PX_TRY(check_side(run, &run->original, err));
    PX_TRY(check_side(run, &run->adversarial, err));
    run->count = (size_t)px_shape_count(&run->shape);
    run->low = run->options->low;
    run->high = run->options->high;
    const side *from = run->original.bytes ? &run->original : &run->adversarial;
    PX_TRY(pxi_pixel_range(from->set, from->pre, false, &run->low, &run->high, err));
    run->sample = (pxi_pair){
        .count = run->count, .classes = run->scores.classes, .low = run->low, .high = run->high};
    if (run->shape.rank == 3 && run->shape.dim[1] <= 65500 && run->shape.dim[2] <= 65500) {
        run->sample.channels = (size_t)run->shape.dim[0];
        run->sample.height = (int)run->shape.dim[1];
        run->sample.width = (int)run->shape.dim[2];
    }
    return PX_OK;
}

static bool is_jpeg(const px_dataset *set, int64_t index)
{
    char name[512];
    const char *text = px_dataset_name(set, index, name, sizeof name), *dot = strrchr(text, '.');
    return dot && (strcasecmp(dot, ".jpg") == 0 || strcasecmp(dot, ".jpeg") == 0);
}

static px_status run_rows(assess_run *run, px_error *err)
{
    px_assess *out = run->out;
    const px_dataset *original = run->original.set, *adversarial = run->adversarial.set;
    const int64_t pairs = out->sum.pairs = px_dataset_count(adversarial);
    out->rows = pxi_calloc((size_t)pairs, sizeof *out->rows);
    out->terms = pxi_calloc((size_t)pairs, PX_MAX(out->metric_count, 1) * sizeof *out->terms);
    if (!out->rows || !out->terms)
        return pxi_no_memory_for(err, "%" PRId64 " pairs", pairs);
    for (size_t i = 0; i < (size_t)pairs * out->metric_count; i++)
        out->terms[i] = (double)NAN;
    for (int64_t i = 0; i < pairs; i++) {
        const int64_t partner = run->job->partners ? run->job->partners[i] : i;
        char a[256], b[256];
        if (partner < 0 || partner >= px_dataset_count(original))
            return px_fail(err, PX_E_MISMATCH,
                           "adversarial input %" PRId64 " has no original: there are %" PRId64, i,
                           px_dataset_count(original));
        const int64_t label = px_dataset_label(original, partner);
        const int64_t other = px_dataset_label(adversarial, i);
        if (label >= 0 && other >= 0 && label != other)
            return px_fail(err, PX_E_MISMATCH,
                           "'%s' is of class %" PRId64 " and its original '%s' of class %" PRId64
                           ": they do not pair up; are the data, --split and order those that the "
                           "adversarial inputs were made from?",
                           px_dataset_name(adversarial, i, a, sizeof a), other,
                           px_dataset_name(original, partner, b, sizeof b), label);
        out->rows[i] = (px_assess_row){
            .original = partner, .adversarial = i, .label = label >= 0 ? label : other};
        out->sum.jpegs += is_jpeg(adversarial, i);
    }
    return PX_OK;
}

static px_status lane_open(pxi_lane *lane, px_error *err)
{
    const assess_run *run = lane->context;
    const size_t batch = (size_t)pxi_pass_batch(lane->pass);
    assess_lane *c = lane->state;
    (void)err;
    c->x = pxi_lane_array(lane, batch, run->count * sizeof *c->x);
    c->a = pxi_lane_array(lane, batch, run->count * sizeof *c->a);
    c->p = pxi_lane_array(lane, batch, (size_t)run->scores.classes * sizeof *c->p);
    c->changed = pxi_lane_array(lane, run->count, sizeof *c->changed);
    c->again = pxi_lane_array(lane, batch, sizeof *c->again);
    c->scratch = pxi_lane_array(lane, pxi_ssim_scratch(run->sample.height, run->sample.width),
                                sizeof *c->scratch);
    return PX_OK;
}

/* --- after the run --------------------------------------------------------------------------- */

static px_metric_value metric_value(const assess_run *run, size_t m)
{
    static const char *const none[] = {
        [PXI_OVER_PAIRS] = "no input has a true class",
        [PXI_OVER_RIGHT] = "no original is classified correctly",
        [PXI_OVER_WRONG] = "no adversarial input is misclassified",
    };
    const px_assess *out = run->out;
    const pxi_metric *metric = pxi_metric_at(out->metrics[m]);
    px_metric_value v = {.metric = &metric->shown,
                         .value = (double)NAN,
                         .why = metric_cannot(run, metric),
                         .settings = out->texts[m]};
    if (v.why)
        return v;
    double sum = 0.0;
    for (int64_t i = 0; i < out->sum.pairs; i++) {
        const double term = out->terms[(size_t)i * out->metric_count + m];
        if (!metric_is_over(metric, &out->rows[i]))
            continue;
        v.n += !isnan(term);
        v.left_out += isnan(term);
        sum += isnan(term) ? 0.0 : term;
    }
    if (v.n > 0)
        v.value = sum / (double)v.n;
    else
        v.why = v.left_out > 0 ? "no misclassified input has a value" : none[metric->over];
    return v;
}

static void run_values(assess_run *run)
{
    px_assess *out = run->out;
    for (int64_t i = 0; i < out->sum.pairs; i++) {
        const px_assess_row *row = &out->rows[i];
        out->sum.right += row_right(row);
        out->sum.wrong += row_wrong(row);
        out->sum.fooled += row_right(row) && row_wrong(row);
        out->sum.unlabelled += row->label < 0;
        out->sum.not_finite += row->before < 0 || row->after < 0;
    }
    for (size_t m = 0; m < out->metric_count; m++)
        out->values[m] = metric_value(run, m);
}

static px_status run_all(assess_run *run, px_error *err)
{
    PX_TRY(choose_metrics(run, err));
    PX_TRY(px_model_scores(run->job->model, &run->scores, err));
    PX_TRY(check_sides(run, err));
    PX_TRY(run_rows(run, err));
    const pxi_task task = {.model = run->job->model,
                           .set = run->original.set,
                           .pre = run->original.pre,
                           .count = run->out->sum.pairs,
                           .threads = run->options->threads,
                           .batch = run->options->batch,
                           .progress = run->options->progress,
                           .progress_context = run->options->progress_context};
    const pxi_visitor visitor = {
        .context = run, .state_size = sizeof(assess_lane), .open = lane_open};
    const px_plan_options wants = pxi_wants_scores(&run->scores);
    pxi_pass *pass = NULL;
    PX_TRY(pxi_pass_open(&task, &wants, &visitor, &pass, err));
    const int64_t batch = pxi_pass_batch(pass);
    const pxi_share share = {.each = batch, .total = task.count};
    const pxi_left left = {
        .each = batch,
        .count = task.count,
        .array = {{run->out->rows, sizeof *run->out->rows},
                  {run->out->terms, run->out->metric_count * sizeof *run->out->terms}}};
    pxi_pass_leaves(pass, &left);
    const px_status status =
        pxi_pass_each(pass, (task.count + batch - 1) / batch, &share, batch_work, run, err);
    pxi_pass_close(pass);
    if (status == PX_OK)
        run_values(run);
    return status;
}

static side side_of(px_assess_side from)
{
    return (side){from.set, from.pre, px_dataset_is_8bit(from.set)};
}

px_status px_assess_run(const px_assess_job *job, const px_assess_options *options, px_assess **out,
                        px_error *err)
{
    const double start = px_clock_s();
    assess_run run = {.job = job,
                      .options = options,
                      .original = side_of(job->original),
                      .adversarial = side_of(job->adversarial),
                      .out = pxi_calloc(1, sizeof *run.out)};
    if (!run.out)
        return pxi_no_memory(err);
    const px_status status = run_all(&run, err);
    run.out->sum.seconds = px_clock_s() - start;
    if (status == PX_OK)
        *out = run.out;
    else
        px_assess_free(run.out);
    return status;
}
