/* src/generate/ascent.c - one network's passes for climbing: gradients, and looking */
/* SPDX-License-Identifier: Apache-2.0 */
#include "generate/ascent.h"

#include "base/memory.h"
#include <internal/gradient_reach.h>
#include <internal/lane_watch.h>
#include <internal/pixel_rule.h>
#include <internal/probe.h>
#include <internal/sample_plan.h>
#include <internal/view_row.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct pxi_ascent {
    px_preprocess pre;
    pxi_pixel_rule rule; /* where pixels lie in the network's input */
    px_shape shape;
    size_t size; /* values of an input */
    bool bytes;
    px_scores scores;
    px_probe *probe;  /* plain channel means, for gradients */
    px_probe *scaled; /* the same neurons as they are compared with thresholds */
    pxi_pass *climb, *look;
    const px_model *model;
    px_feed feed; /* one sample */
    int input;    /* value */
    /* the rows at hand */
    const pxi_climber *climbers;
    const uint8_t *pixels;
    const pxi_seen *seen;
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

/* --- gradients ------------------------------------------------------------------------------- */

static px_status climb_open(pxi_lane *lane, px_error *err)
{
    const pxi_ascent *ascent = lane->context;
    float **scratch = lane->state; /* a row of pixels */
    (void)err;
    *scratch = pxi_lane_array(lane, ascent->size, sizeof **scratch);
    return PX_OK;
}

static px_status climb_fill(pxi_lane *lane, int64_t item, int view, float *input, px_error *err)
{
    const pxi_ascent *ascent = lane->context;
    (void)view;
    memcpy(input, ascent->climbers[item].levels, ascent->size * sizeof *input);
    return px_preprocess_apply(&ascent->pre, &ascent->shape, input, err);
}

static px_status climb_seed(const pxi_ascent *ascent, px_session *session,
                            const pxi_climber *climber, int64_t row, px_error *err)
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

static px_status climb_visit(pxi_lane *lane, const pxi_batch *batch, px_error *err)
{
    const pxi_ascent *ascent = lane->context;
    const pxi_climber *climbers = ascent->climbers + batch->first;
    float *scratch = *(float **)lane->state;
    PX_TRY(px_session_seed_clear(lane->session, err));
    for (int64_t i = 0; i < batch->count; i++)
        PX_TRY(climb_seed(ascent, lane->session, &climbers[i], i, err));
    PX_TRY(px_session_backward(lane->session, err));
    const px_view view = px_session_grad(lane->session, ascent->input);
    for (int64_t i = 0; i < batch->count; i++) {
        pxi_view_row(&view, i, scratch, ascent->size);
        climb_add(&ascent->rule, scratch, climbers[i].gradient);
    }
    return PX_OK;
}

px_status pxi_ascent_gradients(pxi_ascent *ascent, const pxi_climber *climbers, int64_t count,
                               px_error *err)
{
    ascent->climbers = climbers;
    pxi_pass_over(ascent->climb, NULL, count);
    return pxi_pass_all(ascent->climb, err);
}

/* --- looking --------------------------------------------------------------------------------- */

typedef struct look_lane {
    px_probe_watch watch; /* first */
    float *scores;        /* [classes] */
} look_lane;

static px_status look_open(pxi_lane *lane, px_error *err)
{
    const pxi_ascent *ascent = lane->context;
    look_lane *own = lane->state;
    (void)err;
    own->scores = pxi_lane_array(lane, (size_t)ascent->scores.classes, sizeof *own->scores);
    return PX_OK;
}

/* A row of stored pixels as the network takes it. */
static px_status look_fill(pxi_lane *lane, int64_t item, int view, float *input, px_error *err)
{
    const pxi_ascent *ascent = lane->context;
    const size_t size = ascent->size;
    (void)view;
    if (ascent->bytes)
        for (size_t i = 0; i < size; i++)
            input[i] = (float)ascent->pixels[(size_t)item * size + i];
    else
        memcpy(input, ascent->pixels + (size_t)item * size * sizeof *input, size * sizeof *input);
    return px_preprocess_apply(&ascent->pre, &ascent->shape, input, err);
}

static px_status look_begin(pxi_lane *lane, const pxi_batch *batch, px_error *err)
{
    const pxi_ascent *ascent = lane->context;
    float *values = ascent->seen->values;
    (void)err;
    ((look_lane *)lane->state)->watch =
        (px_probe_watch){.probe = ascent->scaled,
                         .samples = batch->count,
                         .trace = values ? values + batch->first * pxi_ascent_units(ascent) : NULL};
    return PX_OK;
}

static px_status look_visit(pxi_lane *lane, const pxi_batch *batch, px_error *err)
{
    const pxi_ascent *ascent = lane->context;
    const pxi_seen *seen = ascent->seen;
    const int classes = ascent->scores.classes;
    float *scores = ((look_lane *)lane->state)->scores;
    for (int64_t i = 0; i < batch->count; i++) {
        const int64_t to = batch->first + i;
        bool finite = true;
        PX_TRY(pxi_scores_row(lane->session, &ascent->scores, i, scores, err));
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
            memcpy(seen->scores + to * classes, scores, (size_t)classes * sizeof *scores);
    }
    return PX_OK;
}

px_status pxi_ascent_look(pxi_ascent *ascent, const void *pixels, int64_t count,
                          const pxi_seen *seen, px_error *err)
{
    ascent->pixels = pixels;
    ascent->seen = seen;
    pxi_pass_over(ascent->look, NULL, count);
    return pxi_pass_all(ascent->look, err);
}

/* --- making one ------------------------------------------------------------------------------ */

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

static px_status ascent_passes(pxi_ascent *ascent, const pxi_ascent_options *from, px_error *err)
{
    const pxi_task task = {.model = from->model,
                           .pre = &ascent->pre,
                           .sample = from->shape,
                           .count = from->most,
                           .threads = from->threads,
                           .workers = from->workers,
                           .batch = pxi_probe_batch(ascent->probe, from->batch),
                           .max_batch = from->most};
    const pxi_visitor look = {.context = ascent,
                              .state_size = sizeof(look_lane),
                              .open = look_open,
                              .fill = look_fill,
                              .begin = look_begin,
                              .observe = pxi_lane_observe,
                              .visit = look_visit};
    const pxi_visitor climb = {.context = ascent,
                               .state_size = sizeof(float *),
                               .open = climb_open,
                               .fill = climb_fill,
                               .visit = climb_visit};
    size_t count = 0;
    const int *values = px_probe_values(ascent->probe, &count);
    int *seeds = pxi_calloc(count + 1, sizeof *seeds); /* with the class scores, each once */
    if (!seeds)
        return pxi_no_memory(err);
    size_t seed_count = count;
    memcpy(seeds, values, count * sizeof *seeds);
    seeds[seed_count++] = ascent->scores.value;
    for (size_t i = 0; i < count; i++)
        if (values[i] == ascent->scores.value)
            seed_count = count;

    px_plan_options wants = pxi_wants_scores(&ascent->scores);
    wants.observe = values;
    wants.observe_count = count;
    px_status status = pxi_pass_open(&task, &wants, &look, &ascent->look, err);
    wants = pxi_wants_scores(&ascent->scores);
    wants.seeds = seeds;
    wants.seed_count = seed_count;
    wants.wrt = &ascent->input;
    wants.wrt_count = 1;
    PX_THEN(status, pxi_pass_open(&task, &wants, &climb, &ascent->climb, err));
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
    return ascent_passes(ascent, options, err);
}

px_status pxi_ascent_new(const pxi_ascent_options *options, pxi_ascent **out, px_error *err)
{
    pxi_ascent *ascent = NULL;
    PX_TRY(PX_NEW(ascent, 1, err));
    ascent->model = options->model;
    ascent->pre = *options->pre;
    pxi_pixel_rule_of(&ascent->rule, &options->shape, options->pre, &(pxi_pixel_bounds){0});
    ascent->shape = options->shape;
    ascent->size = (size_t)px_shape_count(&options->shape);
    ascent->bytes = options->bytes;
    const px_status status = ascent_init(ascent, options, err);
    return PX_GIVE(status, ascent, out, pxi_ascent_free);
}

void pxi_ascent_free(pxi_ascent *ascent)
{
    if (!ascent)
        return;
    pxi_pass_close(ascent->climb);
    pxi_pass_close(ascent->look);
    px_probe_free(ascent->probe);
    px_probe_free(ascent->scaled);
    free(ascent);
}
