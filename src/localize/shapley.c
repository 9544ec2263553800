/* src/localize/shapley.c - players, plans and workers of px_shapley */
#include "localize/shapley_inside.h"

#include "base/memory.h"
#include "engine/gradient_reach.h"

#include <stdlib.h>
#include <string.h>

enum { ROWS_LEAST = 8, ROWS_MOST = 256 };

px_shapley_options px_shapley_options_default(void)
{
    return (px_shapley_options){0};
}

/* --- plans
 * --------------------------------------------------------------------------------------- */

px_status pxi_feeds_for(const pxi_feed_list *list, int64_t batch, px_feed **out, px_error *err)
{
    px_feed *feeds = pxi_calloc(list->count, sizeof *feeds);
    if (!feeds)
        return px_fail(err, PX_E_NOMEM, "out of memory");
    for (size_t i = 0; i < list->count; i++) {
        feeds[i] = list->feeds[i];
        feeds[i].shape.dim[0] = batch;
    }
    *out = feeds;
    return PX_OK;
}

int64_t pxi_rows_at_a_time(size_t floats)
{
    const int64_t budget = (256 << 10) / (int64_t)sizeof(float); /* a share of a core's L2 cache */
    const int64_t rows = budget / (int64_t)PX_MAX(floats, (size_t)1);
    return PX_MAX(PX_MIN(rows / 2 * 2, (int64_t)ROWS_MOST), (int64_t)ROWS_LEAST);
}

/* --- making one
 * ---------------------------------------------------------------------------------- */

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

static px_status shapley_lanes(px_shapley *s, const px_shapley_options *options, px_error *err)
{
    px_probe_options probe = px_probe_options_default();
    PX_TRY(px_probe_options_parse(&probe, options->layers, options->tap, NULL, err));
    s->tap = probe.tap;
    probe.feeds = &s->input;
    probe.feed_count = 1;
    PX_TRY(px_probe_new(s->model, &probe, &s->probe, err));
    const size_t count = px_probe_layer_count(s->probe);
    s->lanes = pxi_calloc(count, sizeof *s->lanes);
    if (!s->lanes)
        return px_fail(err, PX_E_NOMEM, "out of memory");
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
            status = pxi_lane_init(s, &s->lanes[i], layer, err);
            s->lane_count = i + 1; /* what is half made is freed too */
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
    for (size_t i = 0; i < s->lane_count; i++)
        most += s->lanes[i].start.count + s->lanes[i].slope.count;
    s->kept = pxi_calloc(most, sizeof *s->kept);
    if (!s->kept)
        return px_fail(err, PX_E_NOMEM, "out of memory");
    kept_add(s, s->scores.value);
    for (size_t i = 0; i < s->lane_count; i++) {
        const pxi_lane *lane = &s->lanes[i];
        for (size_t f = 0; f < lane->start.count; f++)
            kept_add(s, lane->start.feeds[f].value);
        for (size_t f = 0; f < lane->slope.count; f++)
            kept_add(s, lane->slope.feeds[f].value);
    }
    return PX_OK;
}

static px_status feed_list_shapes(const px_shapley *s, pxi_feed_list *list, px_error *err)
{
    for (size_t i = 0; i < list->count; i++) {
        px_feed *feed = &list->feeds[i];
        const char *name = px_model_graph(s->model)->values[feed->value].name;
        feed->shape = px_plan_shape(s->whole.plan, feed->value);
        if (px_plan_dtype(s->whole.plan, feed->value) != PX_FLOAT32)
            return px_fail(err, PX_E_UNSUPPORTED,
                           "the network cannot be started behind '%.100s': it is not float32",
                           name);
        if (feed->shape.rank < 1 || feed->shape.dim[0] != s->whole.batch)
            return px_fail(err, PX_E_UNSUPPORTED,
                           "the network cannot be started behind '%.100s': its first axis is not "
                           "the batch",
                           name);
        feed->shape.dim[0] = 1;
        list->sizes[i] = (size_t)px_shape_count(&feed->shape);
    }
    return PX_OK;
}

static px_status shapley_seats(px_shapley *s, px_error *err)
{
    size_t most = 1;
    for (size_t i = 0; i < s->lane_count; i++)
        most = PX_MAX(most, PX_MAX(s->lanes[i].start.sizes[0], s->lanes[i].slope.sizes[0]));
    s->seats = pxi_calloc((size_t)s->workers, sizeof *s->seats);
    for (int w = 0; s->seats && w < s->workers; w++) {
        pxi_mask_seat *seat = &s->seats[w];
        seat->now[0] = pxi_calloc(most, sizeof *seat->now[0]);
        seat->now[1] = pxi_calloc(most, sizeof *seat->now[1]);
        seat->labels = pxi_calloc(ROWS_MOST, sizeof *seat->labels);
        seat->predictions = pxi_calloc(ROWS_MOST, sizeof *seat->predictions);
        seat->losses = pxi_calloc(ROWS_MOST, sizeof *seat->losses);
        if (!seat->now[0] || !seat->now[1] || !seat->labels || !seat->predictions || !seat->losses)
            return px_fail(err, PX_E_NOMEM, "out of memory");
    }
    return s->seats ? PX_OK : px_fail(err, PX_E_NOMEM, "out of memory");
}

static px_status shapley_make(px_shapley *s, const px_shape *shape,
                              const px_shapley_options *options, px_error *err)
{
    PX_TRY(px_model_scores(s->model, &s->scores, err));
    PX_TRY(shapley_input(s, shape, err));
    PX_TRY(shapley_lanes(s, options, err));
    PX_TRY(shapley_kept(s, err));
    PX_TRY(pxi_pool_new(options->threads, &s->pool, err));
    s->workers = pxi_pool_threads(s->pool);
    PX_TRY(pxi_shapley_keep_all(s, &s->whole, /* batch= */ 2, /* workers= */ 1, err));
    for (size_t i = 0; i < s->lane_count; i++) {
        PX_TRY(feed_list_shapes(s, &s->lanes[i].start, err));
        PX_TRY(feed_list_shapes(s, &s->lanes[i].slope, err));
    }
    return shapley_seats(s, err);
}

px_status pxi_shapley_keep_all(px_shapley *s, pxi_crew *crew, int64_t batch, int workers,
                               px_error *err)
{
    px_feed feed = s->input;
    feed.shape.dim[0] = batch;
    px_plan_options options = px_plan_options_default();
    options.batch = batch;
    options.feeds = &feed;
    options.feed_count = 1;
    options.keep = s->kept;
    options.keep_count = s->kept_count;
    options.no_outputs = true;
    return pxi_crew_open(crew, s->model, &options, workers, err);
}

px_status px_shapley_new(const px_model *model, const px_shape *input_shape,
                         const px_shapley_options *options, px_shapley **out, px_error *err)
{
    const px_shapley_options defaults = px_shapley_options_default();
    px_shapley *s = pxi_calloc(1, sizeof *s);
    if (!s)
        return px_fail(err, PX_E_NOMEM, "out of memory");
    s->model = model;
    const px_status status = shapley_make(s, input_shape, options ? options : &defaults, err);
    if (status == PX_OK)
        *out = s;
    else
        px_shapley_free(s);
    return status;
}

void px_shapley_free(px_shapley *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->lane_count; i++)
        pxi_lane_done(&s->lanes[i]);
    for (int w = 0; s->seats && w < s->workers; w++) {
        free(s->seats[w].now[0]);
        free(s->seats[w].now[1]);
        free(s->seats[w].labels);
        free(s->seats[w].predictions);
        free(s->seats[w].losses);
    }
    pxi_diagonal_close(s);
    pxi_crew_close(&s->whole);
    pxi_crew_close(&s->judged);
    pxi_crew_close(&s->taps);
    pxi_crew_close(&s->trunk);
    pxi_crew_close(&s->crown);
    pxi_pool_free(s->pool);
    px_probe_free(s->probe);
    free(s->seats);
    free(s->kept);
    free(s->lanes);
    free(s);
}

/* --- looking at one
 * ------------------------------------------------------------------------------ */

size_t px_shapley_layer_count(const px_shapley *s)
{
    return s->lane_count;
}

const px_shapley_layer *px_shapley_layer_get(const px_shapley *s, size_t i)
{
    return i < s->lane_count ? &s->lanes[i].layer : NULL;
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

/* --- the whole network
 * --------------------------------------------------------------------------- */

typedef struct judge_run {
    px_shapley *s;
    const float *inputs;
    const int64_t *labels;
    int64_t count;
    int64_t *predictions;
    double *losses;
} judge_run;

static px_status judge_job(void *context, int worker, int64_t index, px_error *err)
{
    const judge_run *run = context;
    const px_shapley *s = run->s;
    px_session *session = s->judged.sessions[worker];
    const int64_t first = index * s->judged.batch;
    const int64_t samples = PX_MIN(s->judged.batch, run->count - first);
    memcpy(px_session_input(session, 0), run->inputs + (size_t)first * s->input_size,
           (size_t)samples * s->input_size * sizeof *run->inputs);
    PX_TRY(px_session_forward(session, err));
    return px_session_judge(session, &s->scores, run->losses ? run->labels + first : NULL, samples,
                            run->predictions ? run->predictions + first
                                             : s->seats[worker].predictions,
                            run->losses ? run->losses + first : NULL, err);
}

px_status px_shapley_judge(px_shapley *s, const float *inputs, const int64_t *labels, int64_t count,
                           int64_t *predictions, double *losses, px_error *err)
{
    if (count < 0 || (losses && !labels))
        return px_fail(err, PX_E_USAGE, "losses need labels, and a count of at least 0");
    px_feed feed = s->input;
    feed.shape.dim[0] = PX_MIN(pxi_rows_at_a_time(s->input_size), (int64_t)16);
    px_plan_options options = px_plan_options_default();
    options.batch = feed.shape.dim[0];
    options.feeds = &feed;
    options.feed_count = 1;
    options.keep = &s->scores.value;
    options.keep_count = 1;
    options.no_outputs = true;
    PX_TRY(pxi_crew_open(&s->judged, s->model, &options, s->workers, err));
    judge_run run = {.s = s,
                     .inputs = inputs,
                     .labels = labels,
                     .count = count,
                     .predictions = predictions,
                     .losses = losses};
    const int64_t jobs = count / s->judged.batch + (count % s->judged.batch != 0);
    return pxi_pool_run(s->pool, jobs, judge_job, &run, NULL, NULL, err);
}
