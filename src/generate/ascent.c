/* src/generate/ascent.c - one network's plans, sessions and micro-batches for climbing */
#include "generate/ascent.h"

#include "base/memory.h"
#include "data/pixel_rule.h"
#include "engine/gradient_reach.h"
#include "engine/sample_plan.h"
#include "engine/view_row.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct ascent_part { /* a plan with a session per worker */
    px_plan *plan;
    px_session **sessions;
} ascent_part;

struct pxi_ascent {
    px_preprocess pre;
    pxi_pixel_rule rule; /* where pixels lie in the network's input */
    px_shape shape;
    size_t size; /* values of an input */
    bool bytes;
    px_pool *pool;
    int workers;
    px_scores scores;
    px_probe *probe;  /* plain channel means, for gradients */
    px_probe *scaled; /* the same neurons as they are compared with thresholds */
    ascent_part climb, look;
    const px_model *model;
    px_feed feed;    /* one sample */
    int input;       /* value */
    float **scratch; /* per worker: a row of pixels */
};

const px_probe *pxi_ascent_probe(const pxi_ascent *ascent)
{
    return ascent->probe;
}

int64_t pxi_ascent_units(const pxi_ascent *ascent)
{
    return px_probe_neuron_count(ascent->probe);
}

int pxi_ascent_classes(const pxi_ascent *ascent)
{
    return ascent->scores.classes;
}

size_t pxi_ascent_layer(const pxi_ascent *ascent, int64_t unit)
{
    size_t low = 0, high = px_probe_layer_count(ascent->probe) - 1;
    while (low < high) { /* the last layer that begins at or before it */
        const size_t middle = (low + high + 1) / 2;
        if (px_probe_layer(ascent->probe, middle)->neuron_offset <= unit)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

px_status pxi_ascent_facts(const pxi_ascent *ascent, pxi_unit_facts *facts, px_error *err)
{
    return pxi_unit_facts_init(facts, ascent->model, ascent->probe, &ascent->feed, err);
}

const char *pxi_ascent_unit_text(const pxi_ascent *ascent, int64_t unit, char text[PXI_UNIT_TEXT])
{
    const px_layer *layer = px_probe_layer(ascent->probe, pxi_ascent_layer(ascent, unit));
    snprintf(text, PXI_UNIT_TEXT, "%.120s:%lld", layer->name,
             (long long)(unit - layer->neuron_offset));
    return text;
}

/* --- making one ---------------------------------------------------------------------------------
 */

static px_status part_open(ascent_part *part, int workers, px_error *err)
{
    part->sessions = pxi_calloc((size_t)workers, sizeof *part->sessions);
    if (!part->sessions)
        return px_fail(err, PX_E_NOMEM, "out of memory");
    for (int i = 0; i < workers; i++)
        PX_TRY(px_session_new(part->plan, &part->sessions[i], err));
    return PX_OK;
}

static void part_close(ascent_part *part, int workers)
{
    for (int i = 0; part->sessions && i < workers; i++)
        px_session_free(part->sessions[i]);
    free(part->sessions);
    px_plan_free(part->plan);
}

/* Gradients of the class scores have to come to the input, or nothing would ever climb. */
static px_status ascent_reach(const px_model *model, int scores, int input, px_error *err)
{
    pxi_reach reach = {0};
    px_status status = pxi_reach_init(&reach, model, scores, err);
    if (status == PX_OK && !reach.reached[input]) {
        const px_node *gap = pxi_reach_gap(&reach, input);
        status = gap ? px_fail(err, PX_E_UNSUPPORTED,
                               "'%.200s': operator '%s' (node '%s') has no gradient, so none leads "
                               "from the class scores to the input; engine loop needs none",
                               px_model_path(model), gap->type, gap->name)
                     : px_fail(err, PX_E_UNSUPPORTED,
                               "'%.200s': the class scores do not depend on the input",
                               px_model_path(model));
    }
    pxi_reach_done(&reach);
    return status;
}

static px_status ascent_probes(pxi_ascent *ascent, const px_model *model, const px_feed *feed,
                               px_error *err)
{
    px_probe_options options = px_probe_options_default();
    options.deepxplore = true;
    options.feeds = feed;
    options.feed_count = 1;
    PX_TRY(px_probe_new(model, &options, &ascent->probe, err));
    options.neurons = PX_VIEW_CHAN_SCALED;
    return px_probe_new(model, &options, &ascent->scaled, err);
}

static px_status ascent_plans(pxi_ascent *ascent, const pxi_ascent_options *from,
                              const px_feed *feed, px_error *err)
{
    size_t count = 0;
    const int *values = px_probe_values(ascent->probe, &count);
    int *seeds = pxi_calloc(count + 1, sizeof *seeds); /* with the class scores, each once */
    if (!seeds)
        return px_fail(err, PX_E_NOMEM, "out of memory");
    size_t seed_count = count;
    memcpy(seeds, values, count * sizeof *seeds);
    seeds[seed_count++] = ascent->scores.value;
    for (size_t i = 0; i < count; i++)
        if (values[i] == ascent->scores.value)
            seed_count = count;

    px_plan_options options = px_plan_options_default();
    options.batch = from->batch;
    options.no_outputs = true;
    options.keep = &ascent->scores.value;
    options.keep_count = 1;
    options.observe = values;
    options.observe_count = count;
    px_status status =
        pxi_sample_plan(from->model, feed, options, from->most, &ascent->look.plan, err);
    options.observe = NULL;
    options.observe_count = 0;
    options.seeds = seeds;
    options.seed_count = seed_count;
    options.wrt = &ascent->input;
    options.wrt_count = 1;
    if (status == PX_OK)
        status = pxi_sample_plan(from->model, feed, options, from->most, &ascent->climb.plan, err);
    free(seeds);
    return status;
}

static px_status ascent_init(pxi_ascent *ascent, const pxi_ascent_options *options, px_error *err)
{
    px_feed feed;
    PX_TRY(px_model_scores(options->model, &ascent->scores, err));
    PX_TRY(
        pxi_sample_feed(options->model, &options->shape, options->pre->channels_last, &feed, err));
    if (px_shape_count(&feed.shape) != (int64_t)ascent->size) {
        char sample[PX_SHAPE_TEXT], input[PX_SHAPE_TEXT];
        return px_fail(err, PX_E_MISMATCH, "'%.200s' takes inputs of shape %s, and the data are %s",
                       px_model_path(options->model), px_shape_text(&feed.shape, input),
                       px_shape_text(&options->shape, sample));
    }
    PX_TRY(ascent_reach(options->model, ascent->scores.value, feed.value, err));
    ascent->feed = feed;
    ascent->input = feed.value;
    PX_TRY(ascent_probes(ascent, options->model, &feed, err));
    PX_TRY(ascent_plans(ascent, options, &feed, err));
    PX_TRY(part_open(&ascent->look, ascent->workers, err));
    PX_TRY(part_open(&ascent->climb, ascent->workers, err));
    ascent->scratch = pxi_calloc((size_t)ascent->workers, sizeof *ascent->scratch);
    for (int i = 0; ascent->scratch && i < ascent->workers; i++) {
        ascent->scratch[i] = pxi_calloc(ascent->size, sizeof **ascent->scratch);
        if (!ascent->scratch[i])
            return px_fail(err, PX_E_NOMEM, "out of memory");
    }
    return ascent->scratch ? PX_OK : px_fail(err, PX_E_NOMEM, "out of memory");
}

px_status pxi_ascent_new(const pxi_ascent_options *options, pxi_ascent **out, px_error *err)
{
    pxi_ascent *ascent = pxi_calloc(1, sizeof *ascent);
    if (!ascent)
        return px_fail(err, PX_E_NOMEM, "out of memory");
    ascent->model = options->model;
    ascent->pre = *options->pre;
    pxi_pixel_rule_of(&ascent->rule, &options->shape, options->pre, &(pxi_pixel_bounds){0});
    ascent->shape = options->shape;
    ascent->size = (size_t)px_shape_count(&options->shape);
    ascent->bytes = options->bytes;
    ascent->pool = options->pool;
    ascent->workers = pxi_pool_threads(options->pool);
    const px_status status = ascent_init(ascent, options, err);
    if (status == PX_OK)
        *out = ascent;
    else
        pxi_ascent_free(ascent);
    return status;
}

void pxi_ascent_free(pxi_ascent *ascent)
{
    if (!ascent)
        return;
    part_close(&ascent->climb, ascent->workers);
    part_close(&ascent->look, ascent->workers);
    px_probe_free(ascent->probe);
    px_probe_free(ascent->scaled);
    for (int i = 0; ascent->scratch && i < ascent->workers; i++)
        free(ascent->scratch[i]);
    free(ascent->scratch);
    free(ascent);
}

/* --- gradients ----------------------------------------------------------------------------------
 */

typedef struct climb_job {
    pxi_ascent *ascent;
    const pxi_climber *climbers;
    int64_t count;
} climb_job;

static px_status climb_seed(pxi_ascent *ascent, px_session *session, const pxi_climber *climber,
                            int64_t row, px_error *err)
{
    const px_place scores = px_session_seed(session, ascent->scores.value);
    for (size_t i = 0; i < climber->class_count; i++)
        scores.data[row * scores.stride[0] + climber->classes[i].at * scores.stride[1]] +=
            climber->classes[i].weight;
    for (size_t i = 0; i < climber->unit_count; i++) {
        const size_t layer = pxi_ascent_layer(ascent, climber->units[i].at);
        const int64_t first = px_probe_layer(ascent->probe, layer)->neuron_offset;
        PX_TRY(px_probe_seed(ascent->probe, session, layer, climber->units[i].at - first, row,
                             climber->units[i].weight, err));
    }
    return PX_OK;
}

/* By scaled pixels instead of the network's own values, in the order of pixels. */
static void climb_add(const pxi_pixel_rule *rule, const float *from, float *gradient)
{
    for (size_t c = 0; c < rule->channels; c++) {
        size_t first, stride;
        const double stddev = pxi_pixel_channel(rule, c, &first, &stride);
        for (size_t i = 0; i < rule->plane; i++)
            gradient[c * rule->plane + i] += (float)((double)from[first + i * stride] / stddev);
    }
}

static px_status climb_batch(void *context, int worker, int64_t index, px_error *err)
{
    const climb_job *job = context;
    pxi_ascent *ascent = job->ascent;
    px_session *session = ascent->climb.sessions[worker];
    const int64_t batch = px_plan_batch(ascent->climb.plan), first = index * batch;
    const int64_t samples = PX_MIN(batch, job->count - first);
    const size_t size = ascent->size;
    float *input = px_session_input(session, 0);
    for (int64_t i = 0; i < samples; i++) {
        float *row = input + (size_t)i * size;
        memcpy(row, job->climbers[first + i].levels, size * sizeof *row);
        PX_TRY(px_preprocess_apply(&ascent->pre, &ascent->shape, row, err));
    }
    memset(input + (size_t)samples * size, 0, (size_t)(batch - samples) * size * sizeof *input);
    PX_TRY(px_session_forward(session, err));
    PX_TRY(px_session_seed_clear(session, err));
    for (int64_t i = 0; i < samples; i++)
        PX_TRY(climb_seed(ascent, session, &job->climbers[first + i], i, err));
    PX_TRY(px_session_backward(session, err));
    const px_view view = px_session_grad(session, ascent->input);
    for (int64_t i = 0; i < samples; i++) {
        pxi_view_row(&view, i, ascent->scratch[worker], size);
        climb_add(&ascent->rule, ascent->scratch[worker], job->climbers[first + i].gradient);
    }
    return PX_OK;
}

px_status pxi_ascent_gradients(pxi_ascent *ascent, const pxi_climber *climbers, int64_t count,
                               px_error *err)
{
    climb_job job = {ascent, climbers, count};
    const int64_t batch = px_plan_batch(ascent->climb.plan);
    return pxi_pool_run(ascent->pool, (count + batch - 1) / batch, climb_batch, &job, NULL, NULL,
                        err);
}

/* --- looking ------------------------------------------------------------------------------------
 */

typedef struct look_job {
    pxi_ascent *ascent;
    const uint8_t *pixels;
    int64_t count;
    const pxi_seen *seen;
} look_job;

/* A row of stored pixels as the network takes it. */
static px_status look_input(const pxi_ascent *ascent, const uint8_t *pixels, float *input,
                            px_error *err)
{
    if (ascent->bytes)
        for (size_t i = 0; i < ascent->size; i++)
            input[i] = (float)pixels[i];
    else
        memcpy(input, pixels, ascent->size * sizeof *input);
    return px_preprocess_apply(&ascent->pre, &ascent->shape, input, err);
}

static void look_scores(const pxi_ascent *ascent, const px_view *view, int64_t row, int64_t to,
                        const pxi_seen *seen, float *scores)
{
    const int classes = ascent->scores.classes;
    for (int c = 0; c < classes; c++)
        scores[c] = view->data[row * view->stride[0] + c * view->stride[1]];
    bool finite = true;
    for (int c = 0; c < classes; c++)
        finite &= isfinite(scores[c]) != 0;
    const int best = finite ? px_argmax(scores, classes) : -1;
    if (seen->predictions)
        seen->predictions[to] = best;
    if (seen->confidences)
        seen->confidences[to] = best < 0 ? (double)NAN
                                : ascent->scores.probabilities
                                    ? (double)scores[best]
                                    : exp(-px_softmax_loss(scores, classes, best, NULL));
    if (seen->scores)
        memcpy(seen->scores + (size_t)to * (size_t)classes, scores,
               (size_t)classes * sizeof *scores);
}

static px_status look_batch(void *context, int worker, int64_t index, px_error *err)
{
    const look_job *job = context;
    pxi_ascent *ascent = job->ascent;
    px_session *session = ascent->look.sessions[worker];
    const int64_t batch = px_plan_batch(ascent->look.plan), first = index * batch;
    const int64_t samples = PX_MIN(batch, job->count - first);
    const size_t size = ascent->size, bytes = size * (ascent->bytes ? 1 : sizeof(float));
    const int64_t units = pxi_ascent_units(ascent);
    float *input = px_session_input(session, 0);
    for (int64_t i = 0; i < samples; i++)
        PX_TRY(look_input(ascent, job->pixels + (size_t)(first + i) * bytes,
                          input + (size_t)i * size, err));
    memset(input + (size_t)samples * size, 0, (size_t)(batch - samples) * size * sizeof *input);
    float *values = job->seen->values ? job->seen->values + first * units : NULL;
    px_probe_watch watch = {.probe = ascent->scaled, .samples = samples, .trace = values};
    if (values)
        px_session_observe(session, px_probe_observer, &watch);
    const px_status status = px_session_forward(session, err);
    px_session_observe(session, NULL, NULL);
    PX_TRY(status);
    const px_view view = px_session_view(session, ascent->scores.value);
    float *scores = pxi_calloc((size_t)ascent->scores.classes, sizeof *scores);
    if (!scores)
        return px_fail(err, PX_E_NOMEM, "out of memory");
    for (int64_t i = 0; i < samples; i++)
        look_scores(ascent, &view, i, first + i, job->seen, scores);
    free(scores);
    return PX_OK;
}

px_status pxi_ascent_look(pxi_ascent *ascent, const void *pixels, int64_t count,
                          const pxi_seen *seen, px_error *err)
{
    look_job job = {ascent, pixels, count, seen};
    const int64_t batch = px_plan_batch(ascent->look.plan);
    return pxi_pool_run(ascent->pool, (count + batch - 1) / batch, look_batch, &job, NULL, NULL,
                        err);
}
