/* src/attribute/shapley.c - Shapley values: players, plans and workers of px_shapley */
/* SPDX-License-Identifier: Apache-2.0 */
#include "attribute/shapley_internal.h"

#include "base/memory.h"
#include <internal/gradient_reach.h>

#include <internal/engine.h>
#include <internal/probe.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS_LEAST = 8, ROWS_MOST = 256 };

px_shapley_options px_shapley_options_default(void)
{
    return (px_shapley_options){0};
}

/* --- plans ----------------------------------------------------------------------------------- */

px_status pxi_shapley_start(px_shapley *s, const px_feed *from, size_t count, int64_t batch,
                            const px_plan_options *wants, const pxi_visitor *visitor,
                            pxi_workers *workers, pxi_pass **pass, px_error *err)
{
    if (*pass)
        return PX_OK;
    px_feed *feeds = NULL;
    PX_TRY(PX_NEW(feeds, count, err));
    for (size_t i = 0; i < count; i++) {
        feeds[i] = from[i];
        feeds[i].shape.dim[0] = batch;
    }
    const pxi_task task = {.model = s->model,
                           .feeds = feeds,
                           .feed_count = count,
                           .threads = 1,
                           .workers = workers,
                           .batch = batch};
    const px_status status = pxi_pass_open(&task, wants, visitor, pass, err);
    free(feeds);
    return status;
}

int64_t pxi_rows_at_a_time(size_t floats)
{
    const int64_t budget = (256 << 10) / (int64_t)sizeof(float); /* a share of a core's L2 cache */
    const int64_t rows = budget / (int64_t)PX_MAX(floats, (size_t)1);
    return PX_MAX(PX_MIN(rows / 2 * 2, (int64_t)ROWS_MOST), (int64_t)ROWS_LEAST);
}

/* --- making one ------------------------------------------------------------------------------ */

static px_status shapley_input(px_shapley *s, const px_shape *shape, px_error *err)
{
    const px_graph *graph = px_model_graph(s->model);
    if (graph->input_count != 1)
        return px_fail(err, PX_E_UNSUPPORTED,
                       "the network has %d inputs; the neurons of networks with one can be looked "
                       "at",
                       graph->input_count);
    const px_value *value = &graph->values[graph->inputs[0]];
    if (!shape && !value->has_shape)
        return px_fail(err, PX_E_UNSUPPORTED, "the file declares no shape for input '%s'",
                       value->name);
    s->input =
        (px_feed){.value = graph->inputs[0], .shape = value->has_shape ? value->shape : *shape};
    bool open = false;
    for (int d = 1; d < s->input.shape.rank; d++)
        open = open || s->input.shape.dim[d] < 1;
    if (open && shape) /* what is declared stays: a flat input takes pictures too */
        s->input.shape = *shape;
    s->input.shape.dim[0] = 1;
    for (int d = 1; d < s->input.shape.rank; d++)
        if (s->input.shape.dim[d] < 1) {
            char text[PX_SHAPE_TEXT];
            return px_fail(err, PX_E_UNSUPPORTED,
                           "input '%s' has shape %s; every axis but the first must be fixed",
                           value->name, px_shape_text(&value->shape, text));
        }
    s->input_size = (size_t)px_shape_count(&s->input.shape);
    return PX_OK;
}

static px_status shapley_games(px_shapley *s, const px_shapley_options *options, px_error *err)
{
    px_probe_options probe = px_probe_options_default();
    PX_TRY(px_probe_options_parse(&probe, options->layers, options->tap, NULL, err));
    s->tap = probe.tap;
    probe.feeds = &s->input;
    probe.feed_count = 1;
    PX_TRY(px_probe_new(s->model, &probe, &s->probe, err));
    const size_t count = px_probe_layer_count(s->probe);
    PX_TRY(PX_NEW(s->games, count, err));
    pxi_reach reach = {0};
    px_status status = pxi_reach_init(&reach, s->model, s->scores.value, err);
    for (size_t i = 0; i < count && status == PX_OK; i++) {
        const px_layer *layer = px_probe_layer(s->probe, i);
        if (!layer->hidden)
            status = px_fail(err, PX_E_USAGE,
                             "layer '%.100s' is not hidden: only the channels of hidden layers are "
                             "players",
                             layer->name);
        else if (!reach.reached[layer->tap_value]) {
            const px_node *gap = pxi_reach_gap(&reach, layer->tap_value);
            status = px_fail(err, PX_E_UNSUPPORTED,
                             "the class scores do not depend on layer '%.100s'%s%.60s in a way "
                             "that has a gradient",
                             layer->name, gap ? ", because of " : "", gap ? gap->type : "");
        } else {
            status = pxi_game_init(s, &s->games[i], layer, err);
            s->game_count = i + 1; /* what is half made is freed too */
        }
    }
    pxi_reach_done(&reach);
    s->neuron_count = px_probe_neuron_count(s->probe);
    return status;
}

static void kept_add(px_shapley *s, int value)
{
    for (size_t i = 0; i < s->kept_count; i++)
        if (s->kept[i] == value)
            return;
    s->kept[s->kept_count++] = value;
}

/* All that restarts are fed with. */
static px_status shapley_kept(px_shapley *s, px_error *err)
{
    size_t most = 1;
    for (size_t i = 0; i < s->game_count; i++)
        most += s->games[i].start.count + s->games[i].slope.count;
    PX_TRY(PX_NEW(s->kept, most, err));
    kept_add(s, s->scores.value);
    for (size_t i = 0; i < s->game_count; i++) {
        const pxi_game *game = &s->games[i];
        for (size_t f = 0; f < game->start.count; f++)
            kept_add(s, game->start.feeds[f].value);
        for (size_t f = 0; f < game->slope.count; f++)
            kept_add(s, game->slope.feeds[f].value);
    }
    return PX_OK;
}

static px_status feed_list_shapes(const px_shapley *s, pxi_feed_list *list, px_error *err)
{
    for (size_t i = 0; i < list->count; i++) {
        px_feed *feed = &list->feeds[i];
        const char *name = px_model_graph(s->model)->values[feed->value].name;
        feed->shape = px_plan_shape(pxi_pass_plan(s->whole), feed->value);
        if (px_plan_dtype(pxi_pass_plan(s->whole), feed->value) != PX_FLOAT32)
            return px_fail(err, PX_E_UNSUPPORTED,
                           "the network cannot be started behind '%.100s': it is not float32",
                           name);
        if (feed->shape.rank < 1 || feed->shape.dim[0] != pxi_pass_batch(s->whole))
            return px_fail(err, PX_E_UNSUPPORTED,
                           "the network cannot be started behind '%.100s': its first axis is not "
                           "the batch",
                           name);
        feed->shape.dim[0] = 1;
        list->sizes[i] = (size_t)px_shape_count(&feed->shape);
    }
    return PX_OK;
}

static px_status shapley_make(px_shapley *s, const px_shape *shape,
                              const px_shapley_options *options, px_error *err)
{
    PX_TRY(px_model_scores(s->model, &s->scores, err));
    PX_TRY(shapley_input(s, shape, err));
    PX_TRY(shapley_games(s, options, err));
    PX_TRY(shapley_kept(s, err));
    PX_TRY(pxi_workers_open(options->threads, &s->workers, err));
    PX_TRY(pxi_shapley_keep_all(s, /* batch= */ 2, &(pxi_visitor){0}, NULL, &s->whole, err));
    for (size_t i = 0; i < s->game_count; i++) {
        PX_TRY(feed_list_shapes(s, &s->games[i].start, err));
        PX_TRY(feed_list_shapes(s, &s->games[i].slope, err));
    }
    return PX_OK;
}

px_status pxi_shapley_keep_all(px_shapley *s, int64_t batch, const pxi_visitor *visitor,
                               pxi_workers *workers, pxi_pass **pass, px_error *err)
{
    px_plan_options wants = px_plan_options_default();
    wants.keep = s->kept;
    wants.keep_count = s->kept_count;
    wants.no_outputs = true;
    return pxi_shapley_start(s, &s->input, 1, batch, &wants, visitor, workers, pass, err);
}

px_status px_shapley_new(const px_model *model, const px_shape *input_shape,
                         const px_shapley_options *options, px_shapley **out, px_error *err)
{
    const px_shapley_options defaults = px_shapley_options_default();
    px_shapley *s = NULL;
    PX_TRY(PX_NEW(s, 1, err));
    s->model = model;
    const px_status status = shapley_make(s, input_shape, options ? options : &defaults, err);
    return PX_GIVE(status, s, out, px_shapley_free);
}

void px_shapley_free(px_shapley *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->game_count; i++)
        pxi_game_done(&s->games[i]);
    pxi_pass_close(s->whole);
    pxi_pass_close(s->judged);
    pxi_pass_close(s->taps);
    pxi_pass_close(s->trunk);
    pxi_pass_close(s->crown);
    pxi_workers_close(s->workers);
    px_probe_free(s->probe);
    free(s->kept);
    free(s->games);
    free(s);
}

/* --- looking at one -------------------------------------------------------------------------- */

size_t px_shapley_layer_count(const px_shapley *s)
{
    return s->game_count;
}

const px_shapley_layer *px_shapley_layer_get(const px_shapley *s, size_t i)
{
    return i < s->game_count ? &s->games[i].layer : NULL;
}

int64_t px_shapley_neuron_count(const px_shapley *s)
{
    return s->neuron_count;
}

int64_t px_shapley_input_size(const px_shapley *s)
{
    return (int64_t)s->input_size;
}

const px_scores *px_shapley_scores(const px_shapley *s)
{
    return &s->scores;
}

const px_probe *px_shapley_probe(const px_shapley *s)
{
    return s->probe;
}

/* --- the whole network ----------------------------------------------------------------------- */

typedef struct judge_run {
    px_shapley *s;
    const float *inputs;
    const int64_t *labels;
    int64_t count;
    int64_t *predictions;
    double *losses;
} judge_run;

static px_status judge_open(pxi_lane *lane, px_error *err)
{
    int64_t **predictions = lane->state; /* where nobody wants them */
    (void)err;
    *predictions = pxi_lane_array(lane, (size_t)pxi_pass_batch(lane->pass), sizeof **predictions);
    return PX_OK;
}

static px_status judge_job(void *context, pxi_lane *lane, int64_t job, px_error *err)
{
    const judge_run *run = context;
    const px_shapley *s = run->s;
    const int64_t batch = pxi_pass_batch(lane->pass), first = job * batch;
    const int64_t samples = PX_MIN(batch, run->count - first);
    memcpy(pxi_lane_input(lane, 0), run->inputs + (size_t)first * s->input_size,
           (size_t)samples * s->input_size * sizeof *run->inputs);
    PX_TRY(px_session_forward(lane->session, err));
    return px_session_judge(lane->session, &s->scores, run->losses ? run->labels + first : NULL,
                            samples,
                            run->predictions ? run->predictions + first : *(int64_t **)lane->state,
                            run->losses ? run->losses + first : NULL, err);
}

px_status px_shapley_judge(px_shapley *s, const float *inputs, const int64_t *labels, int64_t count,
                           int64_t *predictions, double *losses, px_error *err)
{
    if (count < 0 || (losses && !labels))
        return px_fail(err, PX_E_USAGE, "losses need labels, and a count of at least 0");
    const int64_t batch = PX_MIN(pxi_rows_at_a_time(s->input_size), (int64_t)16);
    const px_plan_options wants = pxi_wants_scores(&s->scores);
    const pxi_visitor visitor = {.state_size = sizeof(int64_t *), .open = judge_open};
    PX_TRY(
        pxi_shapley_start(s, &s->input, 1, batch, &wants, &visitor, s->workers, &s->judged, err));
    judge_run run = {.s = s,
                     .inputs = inputs,
                     .labels = labels,
                     .count = count,
                     .predictions = predictions,
                     .losses = losses};
    const int64_t jobs = count / batch + (count % batch != 0);
    const pxi_left left = {.each = batch,
                           .count = count,
                           .array = {{predictions, sizeof *predictions}, {losses, sizeof *losses}}};
    pxi_pass_leaves(s->judged, &left);
    return pxi_pass_each(s->judged, jobs, NULL, judge_job, &run, err);
}
