/* src/attribute/shapley_game.c - Shapley: the network behind a layer, some channels silent */
/* SPDX-License-Identifier: Apache-2.0 */
#include "attribute/shapley_internal.h"

#include "base/memory.h"
#include <internal/reach.h>

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* More floats than this for the parts of a layer, and it starts at the masked layer instead. */
static const size_t game_most_parts = (size_t)1 << 26;

/* --- where its channels are ------------------------------------------------------------------ */

/* The tap of one sample as [outer][channels][inner]. */
static px_status game_extents(pxi_game *game, const px_layer *layer, px_error *err)
{
    game->axis = -1;
    for (int d = 0; d < layer->shape.rank; d++) {
        const bool channels = layer->axis[d] == PX_AXIS_CHANNEL && layer->shape.dim[d] > 1;
        if (layer->axis[d] == PX_AXIS_TIME ||
            (layer->axis[d] == PX_AXIS_BATCH && (d != 0 || layer->shape.dim[d] != 1)) ||
            (channels && game->axis >= 0))
            return px_fail(err, PX_E_UNSUPPORTED,
                           "layer '%.100s': the channels of such a layer cannot be masked one by "
                           "one; leave it out with --layers '!%.100s'",
                           layer->name, layer->name);
        if (channels)
            game->axis = d;
    }
    for (int d = 1; d < layer->shape.rank && game->axis < 0; d++)
        if (layer->axis[d] == PX_AXIS_CHANNEL)
            game->axis = d; /* of a single channel */
    if (game->axis < 1)
        return px_fail(err, PX_E_UNSUPPORTED, "layer '%.100s' has no channels", layer->name);
    game->outer = game->inner = 1;
    for (int d = 1; d < layer->shape.rank; d++)
        if (d != game->axis)
            *(d < game->axis ? &game->outer : &game->inner) *= (size_t)layer->shape.dim[d];
    game->channels = (size_t)layer->shape.dim[game->axis];
    game->size = game->outer * game->channels * game->inner;
    return PX_OK;
}

/* What must be fed to start at `value`; shapes follow when the whole network is compiled. */
static px_status game_feeds(const px_shapley *s, int value, pxi_feed_list *list, px_error *err)
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
    return made ? PX_OK : pxi_no_memory(err);
}

px_status pxi_game_init(px_shapley *s, pxi_game *game, const px_layer *layer, px_error *err)
{
    const px_graph *graph = px_model_graph(s->model);
    *game = (pxi_game){.tap = layer->tap_value,
                       .layer = {.name = layer->name,
                                 .position = layer->position,
                                 .offset = layer->neuron_offset,
                                 .count = layer->neuron_count}};
    PX_TRY(game_extents(game, layer, err));
    PX_TRY(pxi_graph_cuts(graph, game->tap, s->scores.value, &game->layer.cut, err));
    PX_TRY(PX_NEW(game->null, game->channels, err));
    const int end = pxi_segment_end(graph, game->tap, game->axis, s->scores.value);
    game->additive = end >= 0;
    PX_TRY(game_feeds(s, game->tap, &game->slope, err));
    return game_feeds(s, game->additive ? end : game->tap, &game->start, err);
}

static void feed_list_done(pxi_feed_list *list)
{
    free(list->feeds);
    free(list->sizes);
}

void pxi_game_done(pxi_game *game)
{
    pxi_pass_close(game->alone);
    pxi_pass_close(game->masked);
    pxi_pass_close(game->stem);
    pxi_pass_close(game->slopes);
    for (int side = 0; side < 2; side++) {
        free(game->full[side]);
        free(game->parts[side]);
    }
    free(game->base);
    free(game->null);
    feed_list_done(&game->start);
    feed_list_done(&game->slope);
}

/* --- what each channel puts in --------------------------------------------------------------- */

/* On a lane of its own: channels by themselves are few runs. */
static px_status game_open_alone(px_shapley *s, pxi_game *game, px_error *err)
{
    px_plan_options wants = px_plan_options_default();
    wants.keep = &game->start.feeds[0].value;
    wants.keep_count = 1;
    wants.no_outputs = true;
    return pxi_shapley_start(s, game->slope.feeds, 1,
                             pxi_rows_at_a_time(PX_MAX(game->size, game->start.sizes[0])), &wants,
                             &(pxi_visitor){0}, pxi_pass_workers(s->whole), &game->alone, err);
}

static px_status base_job(void *context, pxi_lane *lane, int64_t job, px_error *err)
{
    const pxi_game *game = context;
    (void)job;
    memset(pxi_lane_input(lane, 0), 0, game->size * sizeof(float));
    PX_TRY(px_session_forward(lane->session, err));
    return px_session_read(lane->session, game->start.feeds[0].value, 1, game->base, err);
}

px_status pxi_game_base(px_shapley *s, pxi_game *game, px_error *err)
{
    if (game->base)
        return PX_OK;
    PX_TRY(game_open_alone(s, game, err));
    PX_TRY(PX_NEW(game->base, game->start.sizes[0], err));
    const px_status status = pxi_pass_each(game->alone, 1, NULL, base_job, game, err);
    if (status != PX_OK) {
        free(game->base);
        game->base = NULL;
    }
    return status;
}

static bool channel_is_zero(const pxi_game *game, const float *a, size_t channel)
{
    for (size_t o = 0; o < game->outer; o++) {
        const float *place = a + (o * game->channels + channel) * game->inner;
        for (size_t i = 0; i < game->inner; i++)
            if (!(place[i] == 0.0f))
                return false;
    }
    return true;
}

static void channel_copy(const pxi_game *game, const float *from, float *to, size_t channel)
{
    for (size_t o = 0; o < game->outer; o++) {
        const size_t at = (o * game->channels + channel) * game->inner;
        memcpy(to + at, from + at, game->inner * sizeof *to);
    }
}

typedef struct parts_run {
    const pxi_game *game;
    const float *tap;
    float *parts;
    float *values;    /* [batch][size of z] */
    size_t *channels; /* [batch] */
} parts_run;

/* parts[channel] = z with that channel alone, less z without any. */
static px_status parts_job(void *context, pxi_lane *lane, int64_t job, px_error *err)
{
    const parts_run *run = context;
    const pxi_game *game = run->game;
    const size_t size = game->start.sizes[0], batch = (size_t)pxi_pass_batch(lane->pass);
    float *rows = pxi_lane_input(lane, 0);
    (void)job;
    for (size_t c = 0; c < game->channels;) {
        size_t count = 0;
        for (; c < game->channels && count < batch; c++) {
            if (channel_is_zero(game, run->tap, c)) {
                memset(run->parts + c * size, 0, size * sizeof *run->parts);
                continue;
            }
            memset(rows + count * game->size, 0, game->size * sizeof *rows);
            channel_copy(game, run->tap, rows + count * game->size, c);
            run->channels[count++] = c;
        }
        if (count == 0)
            break;
        PX_TRY(px_session_forward(lane->session, err));
        PX_TRY(px_session_read(lane->session, game->start.feeds[0].value, (int64_t)count,
                               run->values, err));
        for (size_t r = 0; r < count; r++)
            for (size_t i = 0; i < size; i++)
                run->parts[run->channels[r] * size + i] = run->values[r * size + i] - game->base[i];
    }
    return PX_OK;
}

static px_status game_parts(const pxi_game *game, const float *tap, float *parts, px_error *err)
{
    const size_t batch = (size_t)pxi_pass_batch(game->alone);
    parts_run run = {.game = game, .tap = tap, .parts = parts};
    run.values = pxi_calloc(batch * game->start.sizes[0], sizeof *run.values);
    run.channels = pxi_calloc(batch, sizeof *run.channels);
    const px_status status = run.values && run.channels
                                 ? pxi_pass_each(game->alone, 1, NULL, parts_job, &run, err)
                                 : pxi_no_memory(err);
    free(run.values);
    free(run.channels);
    return status;
}

/* --- a pair of inputs ------------------------------------------------------------------------ */

static px_status load_job(void *context, pxi_lane *lane, int64_t job, px_error *err)
{
    const px_shapley_pair *pair = context;
    const size_t floats = pxi_pass_floats(lane->pass);
    (void)job;
    memcpy(pxi_lane_input(lane, 0), pair->x, floats * sizeof(float));
    memcpy(pxi_lane_input(lane, 1), pair->moved, floats * sizeof(float));
    return px_session_forward(lane->session, err);
}

px_status pxi_shapley_load(px_shapley *s, const px_shapley_pair *pair, px_error *err)
{
    if (pair->label < 0 || pair->label >= s->scores.classes)
        return px_fail(err, PX_E_MISMATCH,
                       "label %" PRId64 " is outside the network's classes 0..%d", pair->label,
                       s->scores.classes - 1);
    PX_TRY(pxi_pass_each(s->whole, 1, NULL, load_job, (void *)pair, err));
    s->pair++;
    return PX_OK;
}

/* Where masked rows start. */
static const pxi_feed_list *game_start(const pxi_game *game)
{
    return game->by_parts ? &game->start : &game->slope;
}

static px_status game_allocate(pxi_game *game, px_error *err)
{
    const size_t size = game_start(game)->sizes[0];
    for (int side = 0; side < 2; side++) {
        if (!game->full[side])
            game->full[side] = pxi_calloc(size, sizeof *game->full[side]);
        if (game->by_parts && !game->parts[side])
            game->parts[side] = pxi_calloc(game->channels, size * sizeof *game->parts[side]);
        if (!game->full[side] || (game->by_parts && !game->parts[side]))
            return pxi_no_memory_for(err, "layer '%.100s'", game->layer.name);
    }
    return PX_OK;
}

typedef struct mask_lane { /* of a pass over masked rows */
    float *now[2];         /* the start of the current coalition */
    uint64_t pair;         /* whose skipped values the session holds */
    int64_t *labels, *predictions;
    double *losses;
} mask_lane;

static px_status mask_lane_open(pxi_lane *lane, px_error *err)
{
    const pxi_game *game = lane->context;
    const size_t size = game_start(game)->sizes[0], batch = (size_t)pxi_pass_batch(lane->pass);
    mask_lane *own = lane->state;
    (void)err;
    for (int side = 0; side < 2; side++)
        own->now[side] = pxi_lane_array(lane, size, sizeof *own->now[side]);
    own->labels = pxi_lane_array(lane, batch, sizeof *own->labels);
    own->predictions = pxi_lane_array(lane, batch, sizeof *own->predictions);
    own->losses = pxi_lane_array(lane, batch, sizeof *own->losses);
    return PX_OK;
}

static px_status game_open(px_shapley *s, pxi_game *game, px_error *err)
{
    if (game->masked)
        return PX_OK;
    game->by_parts = game->additive && game->start.sizes[0] <= game_most_parts / game->channels;
    const pxi_feed_list *start = game_start(game);
    const px_plan_options wants = pxi_wants_scores(&s->scores);
    const pxi_visitor visitor = {
        .context = game, .state_size = sizeof(mask_lane), .open = mask_lane_open};
    PX_TRY(game_allocate(game, err));
    return pxi_shapley_start(s, start->feeds, start->count, pxi_rows_at_a_time(start->sizes[0]),
                             &wants, &visitor, s->workers, &game->masked, err);
}

px_status pxi_game_load(px_shapley *s, pxi_game *game, px_error *err)
{
    if (game->pair == s->pair)
        return PX_OK;
    PX_TRY(game_open(s, game, err));
    const pxi_feed_list *start = game_start(game);
    const px_session *whole = pxi_pass_lane(s->whole, 0)->session;
    const size_t size = start->sizes[0];
    float *tap = pxi_calloc(2 * game->size, sizeof *tap);
    float *both = pxi_calloc(2 * size, sizeof *both);
    px_status status =
        tap && both ? px_session_read(whole, game->tap, 2, tap, err) : pxi_no_memory(err);
    PX_THEN(status, px_session_read(whole, start->feeds[0].value, 2, both, err));
    PX_THEN_IF(status, game->by_parts, pxi_game_base(s, game, err));
    for (size_t c = 0; c < game->channels && status == PX_OK; c++)
        game->null[c] = channel_is_zero(game, tap, c) && channel_is_zero(game, tap + game->size, c);
    for (size_t side = 0; side < 2 && status == PX_OK; side++) {
        memcpy(game->full[side], both + side * size, size * sizeof *both);
        if (game->by_parts)
            status = game_parts(game, tap + side * game->size, game->parts[side], err);
    }
    free(tap);
    free(both);
    if (status == PX_OK)
        game->pair = s->pair;
    return status;
}

/* --- masked rows ----------------------------------------------------------------------------- */

int64_t pxi_game_rows(const pxi_game *game)
{
    return pxi_pass_batch(game->masked) / 2;
}

/* Side 0 has the first half of the rows, side 1 the other. What is fed besides is the same in all
 * rows of a side. */
px_status pxi_mask_open(const px_shapley *s, const pxi_game *game, pxi_lane *lane, int64_t label,
                        px_error *err)
{
    mask_lane *own = lane->state;
    const pxi_feed_list *start = game_start(game);
    const size_t batch = (size_t)pxi_pass_batch(lane->pass);
    if (own->pair == s->pair)
        return PX_OK;
    for (size_t i = 0; i < batch; i++)
        own->labels[i] = label;
    for (size_t f = 1; f < start->count; f++) {
        const size_t size = start->sizes[f], half = batch / 2;
        float *rows = px_session_input(lane->session, f);
        float *both = NULL;
        PX_TRY(PX_NEW(both, 2 * size, err));
        const px_status status = px_session_read(pxi_pass_lane(s->whole, 0)->session,
                                                 start->feeds[f].value, 2, both, err);
        for (size_t r = 0; r < batch && status == PX_OK; r++)
            memcpy(rows + r * size, both + (r < half ? 0 : size), size * sizeof *rows);
        free(both);
        PX_TRY(status);
    }
    own->pair = s->pair;
    return PX_OK;
}

void pxi_mask_all(const pxi_game *game, pxi_lane *lane)
{
    const mask_lane *own = lane->state;
    const size_t size = game_start(game)->sizes[0];
    for (int side = 0; side < 2; side++)
        memcpy(own->now[side], game->full[side], size * sizeof(float));
}

void pxi_mask_none(const pxi_game *game, pxi_lane *lane)
{
    const mask_lane *own = lane->state;
    const size_t size = game_start(game)->sizes[0];
    for (int side = 0; side < 2; side++) {
        if (game->by_parts)
            memcpy(own->now[side], game->base, size * sizeof(float));
        else
            memset(own->now[side], 0, size * sizeof(float));
    }
}

void pxi_mask_remove(const pxi_game *game, pxi_lane *lane, int64_t channel)
{
    assert(channel >= 0 && (size_t)channel < game->channels);
    const mask_lane *own = lane->state;
    const size_t size = game_start(game)->sizes[0], c = (size_t)channel;
    if (game->null[c])
        return;
    for (int side = 0; side < 2; side++) {
        float *now = own->now[side];
        if (game->by_parts) {
            const float *part = game->parts[side] + c * size;
            for (size_t i = 0; i < size; i++)
                now[i] -= part[i];
            continue;
        }
        for (size_t o = 0; o < game->outer; o++)
            memset(now + (o * game->channels + c) * game->inner, 0, game->inner * sizeof *now);
    }
}

void pxi_mask_add(const pxi_game *game, pxi_lane *lane, int64_t channel)
{
    assert(channel >= 0 && (size_t)channel < game->channels);
    const mask_lane *own = lane->state;
    const size_t size = game_start(game)->sizes[0], c = (size_t)channel;
    if (game->null[c])
        return;
    for (int side = 0; side < 2; side++) {
        float *now = own->now[side];
        if (game->by_parts) {
            const float *part = game->parts[side] + c * size;
            for (size_t i = 0; i < size; i++)
                now[i] += part[i];
        } else {
            channel_copy(game, game->full[side], now, c);
        }
    }
}

void pxi_mask_write(const pxi_game *game, pxi_lane *lane, int64_t row)
{
    assert(row >= 0 && row < pxi_game_rows(game));
    const mask_lane *own = lane->state;
    const size_t size = game_start(game)->sizes[0];
    for (int side = 0; side < 2; side++)
        memcpy(pxi_lane_input(lane, row + side * pxi_game_rows(game)), own->now[side],
               size * sizeof(float));
}

px_status pxi_mask_run(const px_shapley *s, const pxi_game *game, pxi_lane *lane, int64_t rows,
                       double *utilities, px_error *err)
{
    const mask_lane *own = lane->state;
    const int64_t half = pxi_game_rows(game);
    PX_TRY(px_session_forward(lane->session, err));
    PX_TRY(px_session_judge(lane->session, &s->scores, own->labels, half + rows, own->predictions,
                            own->losses, err));
    for (int64_t r = 0; r < rows; r++)
        utilities[r] = own->losses[half + r] - own->losses[r];
    return PX_OK;
}
