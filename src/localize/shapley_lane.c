/* src/localize/shapley_lane.c - the network behind a layer, with some of the channels silent */
#include "localize/shapley_inside.h"

#include "base/memory.h"
#include "graph/reach.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* More floats than this for the parts of a layer, and it starts at the masked layer instead. */
static const size_t lane_most_parts = (size_t)1 << 26;

/* --- where its channels are
 * ---------------------------------------------------------------------- */

/* The tap of one sample as [outer][channels][inner]. */
static px_status lane_extents(pxi_lane *lane, const px_layer *layer, px_error *err)
{
    lane->axis = -1;
    for (int d = 0; d < layer->shape.rank; d++) {
        const bool channels = layer->axis[d] == PX_AXIS_CHANNEL && layer->shape.dim[d] > 1;
        if (layer->axis[d] == PX_AXIS_TIME ||
            (layer->axis[d] == PX_AXIS_BATCH && (d != 0 || layer->shape.dim[d] != 1)) ||
            (channels && lane->axis >= 0))
            return px_fail(err, PX_E_UNSUPPORTED,
                           "layer '%.100s': the channels of such a layer cannot be masked one by "
                           "one; leave it out with --layers '!%.100s'",
                           layer->name, layer->name);
        if (channels)
            lane->axis = d;
    }
    for (int d = 1; d < layer->shape.rank && lane->axis < 0; d++)
        if (layer->axis[d] == PX_AXIS_CHANNEL)
            lane->axis = d; /* of a single channel */
    if (lane->axis < 1)
        return px_fail(err, PX_E_UNSUPPORTED, "layer '%.100s' has no channels", layer->name);
    lane->outer = lane->inner = 1;
    for (int d = 1; d < layer->shape.rank; d++)
        if (d != lane->axis)
            *(d < lane->axis ? &lane->outer : &lane->inner) *= (size_t)layer->shape.dim[d];
    lane->channels = (size_t)layer->shape.dim[lane->axis];
    lane->size = lane->outer * lane->channels * lane->inner;
    return PX_OK;
}

/* What must be fed to start at `value`; shapes follow when the whole network is compiled. */
static px_status lane_feeds(const px_shapley *s, int value, pxi_feed_list *list, px_error *err)
{
    int *values = NULL;
    const int count = px_graph_restart(px_model_graph(s->model), value, &values);
    if (count > 0) {
        list->feeds = pxi_calloc((size_t)count, sizeof *list->feeds);
        list->sizes = pxi_calloc((size_t)count, sizeof *list->sizes);
    }
    const bool made = count > 0 && list->feeds && list->sizes;
    for (int i = 0; made && i < count; i++)
        list->feeds[list->count++].value = values[i];
    free(values);
    return made ? PX_OK : px_fail(err, PX_E_NOMEM, "out of memory");
}

px_status pxi_lane_init(px_shapley *s, pxi_lane *lane, const px_layer *layer, px_error *err)
{
    const px_graph *graph = px_model_graph(s->model);
    *lane = (pxi_lane){.tap = layer->tap_value,
                       .layer = {.name = layer->name,
                                 .position = layer->position,
                                 .offset = layer->neuron_offset,
                                 .count = layer->neuron_count}};
    PX_TRY(lane_extents(lane, layer, err));
    PX_TRY(pxi_graph_cuts(graph, lane->tap, s->scores.value, &lane->layer.cut, err));
    lane->null = pxi_calloc(lane->channels, sizeof *lane->null);
    if (!lane->null)
        return px_fail(err, PX_E_NOMEM, "out of memory");
    const int end = pxi_segment_end(graph, lane->tap, lane->axis, s->scores.value);
    lane->additive = end >= 0;
    PX_TRY(lane_feeds(s, lane->tap, &lane->slope, err));
    return lane_feeds(s, lane->additive ? end : lane->tap, &lane->start, err);
}

static void feed_list_done(pxi_feed_list *list)
{
    free(list->feeds);
    free(list->sizes);
}

void pxi_lane_done(pxi_lane *lane)
{
    pxi_crew_close(&lane->parts_crew);
    pxi_crew_close(&lane->start_crew);
    pxi_crew_close(&lane->slope_crew);
    for (int side = 0; side < 2; side++) {
        free(lane->full[side]);
        free(lane->parts[side]);
    }
    free(lane->base);
    free(lane->null);
    feed_list_done(&lane->start);
    feed_list_done(&lane->slope);
}

/* --- what each channel puts in
 * ------------------------------------------------------------------- */

static px_status lane_open_parts(px_shapley *s, pxi_lane *lane, px_error *err)
{
    if (lane->parts_crew.plan)
        return PX_OK;
    px_feed feed = lane->slope.feeds[0];
    feed.shape.dim[0] = pxi_rows_at_a_time(PX_MAX(lane->size, lane->start.sizes[0]));
    px_plan_options options = px_plan_options_default();
    options.batch = feed.shape.dim[0];
    options.feeds = &feed;
    options.feed_count = 1;
    options.keep = &lane->start.feeds[0].value;
    options.keep_count = 1;
    options.no_outputs = true;
    return pxi_crew_open(&lane->parts_crew, s->model, &options, 1, err);
}

px_status pxi_lane_base(px_shapley *s, pxi_lane *lane, px_error *err)
{
    if (lane->base)
        return PX_OK;
    PX_TRY(lane_open_parts(s, lane, err));
    px_session *session = lane->parts_crew.sessions[0];
    float *base = pxi_calloc(lane->start.sizes[0], sizeof *base);
    if (!base)
        return px_fail(err, PX_E_NOMEM, "out of memory");
    memset(px_session_input(session, 0), 0, lane->size * sizeof *base);
    px_status status = px_session_forward(session, err);
    if (status == PX_OK)
        status = px_session_read(session, lane->start.feeds[0].value, 1, base, err);
    if (status == PX_OK)
        lane->base = base;
    else
        free(base);
    return status;
}

static bool channel_is_zero(const pxi_lane *lane, const float *a, size_t channel)
{
    for (size_t o = 0; o < lane->outer; o++) {
        const float *place = a + (o * lane->channels + channel) * lane->inner;
        for (size_t i = 0; i < lane->inner; i++)
            if (!(place[i] == 0.0f))
                return false;
    }
    return true;
}

static void channel_copy(const pxi_lane *lane, const float *from, float *to, size_t channel)
{
    for (size_t o = 0; o < lane->outer; o++) {
        const size_t at = (o * lane->channels + channel) * lane->inner;
        memcpy(to + at, from + at, lane->inner * sizeof *to);
    }
}

/* parts[channel] = z with that channel alone, less z without any. */
static px_status lane_parts(pxi_lane *lane, const float *tap, float *parts, px_error *err)
{
    px_session *session = lane->parts_crew.sessions[0];
    const size_t size = lane->start.sizes[0], batch = (size_t)lane->parts_crew.batch;
    float *rows = px_session_input(session, 0);
    float *values = pxi_calloc(batch * size, sizeof *values);
    size_t *channels = pxi_calloc(batch, sizeof *channels);
    px_status status =
        values && channels ? PX_OK : px_fail(err, PX_E_NOMEM, "out of memory for a layer's parts");
    for (size_t c = 0; c < lane->channels && status == PX_OK;) {
        size_t count = 0;
        for (; c < lane->channels && count < batch; c++) {
            if (channel_is_zero(lane, tap, c)) {
                memset(parts + c * size, 0, size * sizeof *parts);
                continue;
            }
            memset(rows + count * lane->size, 0, lane->size * sizeof *rows);
            channel_copy(lane, tap, rows + count * lane->size, c);
            channels[count++] = c;
        }
        if (count > 0)
            status = px_session_forward(session, err);
        if (count > 0 && status == PX_OK)
            status =
                px_session_read(session, lane->start.feeds[0].value, (int64_t)count, values, err);
        for (size_t r = 0; r < count && status == PX_OK; r++)
            for (size_t i = 0; i < size; i++)
                parts[channels[r] * size + i] = values[r * size + i] - lane->base[i];
    }
    free(values);
    free(channels);
    return status;
}

/* --- a pair of inputs
 * ---------------------------------------------------------------------------- */

px_status pxi_shapley_load(px_shapley *s, const px_shapley_pair *pair, px_error *err)
{
    if (pair->label < 0 || pair->label >= s->scores.classes)
        return px_fail(err, PX_E_MISMATCH,
                       "label %" PRId64 " is outside the network's classes 0..%d", pair->label,
                       s->scores.classes - 1);
    float *input = px_session_input(s->whole.sessions[0], 0);
    memcpy(input, pair->x, s->input_size * sizeof *input);
    memcpy(input + s->input_size, pair->moved, s->input_size * sizeof *input);
    PX_TRY(px_session_forward(s->whole.sessions[0], err));
    s->pair++;
    return PX_OK;
}

/* Where masked rows start. */
static const pxi_feed_list *lane_start(const pxi_lane *lane)
{
    return lane->by_parts ? &lane->start : &lane->slope;
}

static px_status lane_allocate(pxi_lane *lane, px_error *err)
{
    const size_t size = lane_start(lane)->sizes[0];
    for (int side = 0; side < 2; side++) {
        if (!lane->full[side])
            lane->full[side] = pxi_calloc(size, sizeof *lane->full[side]);
        if (lane->by_parts && !lane->parts[side])
            lane->parts[side] = pxi_calloc(lane->channels, size * sizeof *lane->parts[side]);
        if (!lane->full[side] || (lane->by_parts && !lane->parts[side]))
            return px_fail(err, PX_E_NOMEM, "out of memory for layer '%.100s'", lane->layer.name);
    }
    return PX_OK;
}

static px_status lane_open(px_shapley *s, pxi_lane *lane, px_error *err)
{
    if (lane->start_crew.plan)
        return PX_OK;
    lane->by_parts = lane->additive && lane->start.sizes[0] <= lane_most_parts / lane->channels;
    const pxi_feed_list *start = lane_start(lane);
    PX_TRY(lane_allocate(lane, err));
    px_feed *feeds = NULL;
    px_plan_options options = px_plan_options_default();
    options.batch = pxi_rows_at_a_time(start->sizes[0]);
    PX_TRY(pxi_feeds_for(start, options.batch, &feeds, err));
    options.feeds = feeds;
    options.feed_count = start->count;
    options.keep = &s->scores.value;
    options.keep_count = 1;
    options.no_outputs = true;
    const px_status status = pxi_crew_open(&lane->start_crew, s->model, &options, s->workers, err);
    free(feeds);
    return status;
}

px_status pxi_lane_load(px_shapley *s, pxi_lane *lane, px_error *err)
{
    if (lane->pair == s->pair)
        return PX_OK;
    PX_TRY(lane_open(s, lane, err));
    const pxi_feed_list *start = lane_start(lane);
    const px_session *whole = s->whole.sessions[0];
    const size_t size = start->sizes[0];
    float *tap = pxi_calloc(2 * lane->size, sizeof *tap);
    float *both = pxi_calloc(2 * size, sizeof *both);
    px_status status = tap && both ? px_session_read(whole, lane->tap, 2, tap, err)
                                   : px_fail(err, PX_E_NOMEM, "out of memory");
    if (status == PX_OK)
        status = px_session_read(whole, start->feeds[0].value, 2, both, err);
    if (status == PX_OK && lane->by_parts)
        status = pxi_lane_base(s, lane, err);
    for (size_t c = 0; c < lane->channels && status == PX_OK; c++)
        lane->null[c] = channel_is_zero(lane, tap, c) && channel_is_zero(lane, tap + lane->size, c);
    for (size_t side = 0; side < 2 && status == PX_OK; side++) {
        memcpy(lane->full[side], both + side * size, size * sizeof *both);
        if (lane->by_parts)
            status = lane_parts(lane, tap + side * lane->size, lane->parts[side], err);
    }
    free(tap);
    free(both);
    if (status == PX_OK)
        lane->pair = s->pair;
    return status;
}

/* --- masked rows
 * --------------------------------------------------------------------------------- */

int64_t pxi_lane_rows(const pxi_lane *lane)
{
    return lane->start_crew.batch / 2;
}

/* Side 0 has the first half of the rows, side 1 the other. What is fed besides is the same in all
 * rows of a side. */
px_status pxi_mask_open(px_shapley *s, const pxi_lane *lane, int worker, int64_t label,
                        px_error *err)
{
    pxi_mask_seat *seat = &s->seats[worker];
    const pxi_feed_list *start = lane_start(lane);
    const size_t index = (size_t)(lane - s->lanes), batch = (size_t)lane->start_crew.batch;
    if (seat->pair == s->pair && seat->lane == index)
        return PX_OK;
    for (size_t i = 0; i < batch; i++)
        seat->labels[i] = label;
    px_session *session = lane->start_crew.sessions[worker];
    for (size_t f = 1; f < start->count; f++) {
        const size_t size = start->sizes[f], half = batch / 2;
        float *rows = px_session_input(session, f);
        float *both = pxi_calloc(2 * size, sizeof *both);
        if (!both)
            return px_fail(err, PX_E_NOMEM, "out of memory");
        const px_status status =
            px_session_read(s->whole.sessions[0], start->feeds[f].value, 2, both, err);
        for (size_t r = 0; r < batch && status == PX_OK; r++)
            memcpy(rows + r * size, both + (r < half ? 0 : size), size * sizeof *rows);
        free(both);
        PX_TRY(status);
    }
    seat->pair = s->pair;
    seat->lane = index;
    return PX_OK;
}

void pxi_mask_all(px_shapley *s, const pxi_lane *lane, int worker)
{
    const size_t size = lane_start(lane)->sizes[0];
    for (int side = 0; side < 2; side++)
        memcpy(s->seats[worker].now[side], lane->full[side], size * sizeof(float));
}

void pxi_mask_none(px_shapley *s, const pxi_lane *lane, int worker)
{
    const size_t size = lane_start(lane)->sizes[0];
    for (int side = 0; side < 2; side++) {
        if (lane->by_parts)
            memcpy(s->seats[worker].now[side], lane->base, size * sizeof(float));
        else
            memset(s->seats[worker].now[side], 0, size * sizeof(float));
    }
}

void pxi_mask_remove(px_shapley *s, const pxi_lane *lane, int worker, int64_t channel)
{
    const size_t size = lane_start(lane)->sizes[0], c = (size_t)channel;
    if (lane->null[c])
        return;
    for (int side = 0; side < 2; side++) {
        float *now = s->seats[worker].now[side];
        if (lane->by_parts) {
            const float *part = lane->parts[side] + c * size;
            for (size_t i = 0; i < size; i++)
                now[i] -= part[i];
            continue;
        }
        for (size_t o = 0; o < lane->outer; o++)
            memset(now + (o * lane->channels + c) * lane->inner, 0, lane->inner * sizeof *now);
    }
}

void pxi_mask_add(px_shapley *s, const pxi_lane *lane, int worker, int64_t channel)
{
    const size_t size = lane_start(lane)->sizes[0], c = (size_t)channel;
    if (lane->null[c])
        return;
    for (int side = 0; side < 2; side++) {
        float *now = s->seats[worker].now[side];
        if (lane->by_parts) {
            const float *part = lane->parts[side] + c * size;
            for (size_t i = 0; i < size; i++)
                now[i] += part[i];
        } else {
            channel_copy(lane, lane->full[side], now, c);
        }
    }
}

void pxi_mask_write(px_shapley *s, const pxi_lane *lane, int worker, int64_t row)
{
    const size_t size = lane_start(lane)->sizes[0], half = (size_t)pxi_lane_rows(lane);
    float *rows = px_session_input(lane->start_crew.sessions[worker], 0);
    for (size_t side = 0; side < 2; side++)
        memcpy(rows + ((size_t)row + side * half) * size, s->seats[worker].now[side],
               size * sizeof *rows);
}

px_status pxi_mask_run(px_shapley *s, const pxi_lane *lane, int worker, int64_t rows,
                       double *utilities, px_error *err)
{
    px_session *session = lane->start_crew.sessions[worker];
    const pxi_mask_seat *seat = &s->seats[worker];
    const int64_t half = pxi_lane_rows(lane);
    PX_TRY(px_session_forward(session, err));
    PX_TRY(px_session_judge(session, &s->scores, seat->labels, half + rows, seat->predictions,
                            seat->losses, err));
    for (int64_t r = 0; r < rows; r++)
        utilities[r] = seat->losses[half + r] - seat->losses[r];
    return PX_OK;
}
