/* src/attribute/shapley_diagonal.c - Aumann-Shapley values along the diagonal
 *
 *     integral over q in [0, 1] of dL(q, ..., q) / dm_n, by Gauss and Legendre
 *
 * All layers at once: every layer goes through a gate of factor q, and one backward run gives the
 * gradient by all factors. Where the first layer is a cut and what follows it is a sum over
 * channels up to z (shapley_internal.h), z(q) = base + q (z - base): the network up to z, the
 * *trunk*, runs forward once for all nodes, and backward once, from the sum over the nodes of
 * weight times gradient at z; only what lies behind it, the *crown*, runs at every node. One layer
 * at a time: the same for each layer, whose *stem* leads from it to its z; where it has no such z
 * the network starts again at q times the layer.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "attribute/shapley_internal.h"

#include "base/memory.h"
#include <internal/gauss_nodes.h>

#include <internal/engine.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    DIAGONAL_INPUTS = 8,
    DIAGONAL_ROWS = 64
}; /* at a time: of the trunk, of the crown at most */

typedef struct diagonal_lane { /* of the pass whose jobs they are: the crown's, or the taps' */
    float *tap;                /* [DIAGONAL_INPUTS][most floats of a tap, z or input] */
    float *sum;                /* of gradients at z */
    int64_t labels[DIAGONAL_ROWS];
} diagonal_lane;

typedef struct diagonal_run {
    px_shapley *s;
    const float *inputs;
    const int64_t *labels;
    int64_t count;
    double *values;
    int nodes;
    double at[PX_SHAPLEY_MOST_NODES], weight[PX_SHAPLEY_MOST_NODES];
} diagonal_run;

px_diagonal px_diagonal_default(void)
{
    return (px_diagonal){.nodes = 8};
}

/* --- plans ----------------------------------------------------------------------------------- */

/* Whether the network up to z can run once for all nodes: z is behind the first layer, and no other
 * layer is before it. */
static bool diagonal_has_trunk(const px_shapley *s)
{
    const pxi_game *first = &s->games[0];
    const px_graph *graph = px_model_graph(s->model);
    bool can = first->additive && first->layer.cut;
    for (size_t i = 1; i < s->game_count && can; i++)
        can = !pxi_segment_has(graph, first->tap, first->start.feeds[0].value, s->games[i].tap);
    return can;
}

/* All factors of the trunk are 1: what is wanted is the gradient by them. */
static px_status trunk_lane_open(pxi_lane *lane, px_error *err)
{
    const pxi_game *game = lane->context;
    float *factors = px_session_gate(lane->session, 0);
    (void)err;
    for (size_t i = 0; i < DIAGONAL_INPUTS * game->channels; i++)
        factors[i] = 1.0f;
    return PX_OK;
}

static px_status diagonal_open_trunk(px_shapley *s, px_error *err)
{
    pxi_game *game = &s->games[0];
    const px_gate gate = {.value = game->tap, .axis = game->axis};
    const pxi_visitor visitor = {.context = game, .open = trunk_lane_open};
    px_plan_options wants = px_plan_options_default();
    wants.keep = wants.seeds = &game->start.feeds[0].value;
    wants.keep_count = wants.seed_count = 1;
    wants.gates = &gate;
    wants.gate_count = 1;
    wants.no_outputs = true;
    return pxi_shapley_start(s, &s->input, 1, DIAGONAL_INPUTS, &wants, &visitor, s->workers,
                             &s->trunk, err);
}

static px_status diagonal_lane_open(pxi_lane *lane, px_error *err)
{
    const px_shapley *s = lane->context;
    diagonal_lane *own = lane->state;
    size_t most = s->input_size;
    (void)err;
    for (size_t i = 0; i < s->game_count; i++) {
        for (size_t f = 0; f < s->games[i].start.count; f++)
            most = PX_MAX(most, s->games[i].start.sizes[f]);
        for (size_t f = 0; f < s->games[i].slope.count; f++)
            most = PX_MAX(most, s->games[i].slope.sizes[f]);
    }
    own->tap = pxi_lane_array(lane, DIAGONAL_INPUTS, most * sizeof *own->tap);
    own->sum = pxi_lane_array(lane, DIAGONAL_INPUTS, most * sizeof *own->sum);
    return PX_OK;
}

static pxi_visitor diagonal_visitor(px_shapley *s)
{
    return (pxi_visitor){
        .context = s, .state_size = sizeof(diagonal_lane), .open = diagonal_lane_open};
}

static px_status diagonal_open_crown(px_shapley *s, px_error *err)
{
    const size_t first = s->has_trunk ? 1 : 0;
    const px_feed *feed = s->has_trunk ? &s->games[0].start.feeds[0] : &s->input;
    const size_t size = s->has_trunk ? s->games[0].start.sizes[0] : s->input_size;
    const pxi_visitor visitor = diagonal_visitor(s);
    px_gate *gates = NULL;
    PX_TRY(PX_NEW(gates, s->game_count, err));
    for (size_t i = first; i < s->game_count; i++)
        gates[i - first] = (px_gate){.value = s->games[i].tap, .axis = s->games[i].axis};
    px_plan_options wants = pxi_wants_scores(&s->scores);
    wants.seeds = &s->scores.value;
    wants.seed_count = 1;
    wants.wrt = &feed->value;
    wants.wrt_count = s->has_trunk ? 1 : 0;
    wants.gates = gates;
    wants.gate_count = s->game_count - first;
    const px_status status =
        pxi_shapley_start(s, feed, 1, PX_MIN(pxi_rows_at_a_time(size), (int64_t)DIAGONAL_ROWS),
                          &wants, &visitor, s->workers, &s->crown, err);
    free(gates);
    return status;
}

/* From the layer to z, for the gradient at z to come back to the layer. */
static px_status diagonal_open_stem(px_shapley *s, pxi_game *game, px_error *err)
{
    px_plan_options wants = px_plan_options_default();
    wants.seeds = &game->start.feeds[0].value;
    wants.seed_count = 1;
    wants.wrt = &game->tap;
    wants.wrt_count = 1;
    wants.no_outputs = true;
    return pxi_shapley_start(s, game->slope.feeds, 1, DIAGONAL_INPUTS, &wants, &(pxi_visitor){0},
                             s->workers, &game->stem, err);
}

static px_status diagonal_open_slope(px_shapley *s, pxi_game *game, px_error *err)
{
    px_plan_options wants = pxi_wants_scores(&s->scores);
    wants.seeds = &s->scores.value;
    wants.seed_count = 1;
    wants.wrt = &game->start.feeds[0].value;
    wants.wrt_count = 1;
    if (game->additive) {
        PX_TRY(pxi_game_base(s, game, err));
        PX_TRY(diagonal_open_stem(s, game, err));
    }
    return pxi_shapley_start(
        s, game->start.feeds, game->start.count,
        PX_MIN(pxi_rows_at_a_time(game->start.sizes[0]), (int64_t)DIAGONAL_ROWS), &wants,
        &(pxi_visitor){0}, s->workers, &game->slopes, err);
}

/* --- runs ------------------------------------------------------------------------------------ */

/* Forward and backward of rows whose input is there, each with its own loss. */
static px_status diagonal_pass(const px_shapley *s, px_session *session, const int64_t *labels,
                               int64_t rows, px_error *err)
{
    PX_TRY(px_session_forward(session, err));
    PX_TRY(px_session_seed_clear(session, err));
    PX_TRY(px_session_seed_loss(session, &s->scores, labels, rows, NULL, err));
    return px_session_backward(session, err);
}

/* Row `row` of the crown is node row % nodes of input row / nodes. */
static px_status crown_rows(const diagonal_run *run, pxi_lane *lane, int64_t first, int64_t row,
                            int64_t rows, px_error *err)
{
    px_shapley *s = run->s;
    px_session *session = lane->session;
    diagonal_lane *own = lane->state;
    const size_t gates = s->has_trunk ? 1 : 0; /* the game of the first gate */
    const size_t size = s->has_trunk ? s->games[0].start.sizes[0] : s->input_size;
    const float *base = s->games[0].base;
    float *fed = px_session_input(session, 0);
    for (int64_t r = 0; r < rows; r++) {
        const int64_t t = (row + r) / run->nodes;
        const float q = (float)run->at[(row + r) % run->nodes];
        const float *from =
            s->has_trunk ? own->tap + (size_t)t * size : run->inputs + (size_t)(first + t) * size;
        float *to = fed + (size_t)r * size;
        own->labels[r] = run->labels[first + t];
        if (s->has_trunk)
            for (size_t i = 0; i < size; i++)
                to[i] = base[i] + q * (from[i] - base[i]);
        else
            memcpy(to, from, size * sizeof *to);
        for (size_t l = gates; l < s->game_count; l++) {
            const size_t channels = s->games[l].channels;
            float *factors = px_session_gate(session, l - gates) + (size_t)r * channels;
            for (size_t c = 0; c < channels; c++)
                factors[c] = q;
        }
    }
    PX_TRY(diagonal_pass(s, session, own->labels, rows, err));
    const px_view grad =
        s->has_trunk ? px_session_grad(session, s->games[0].start.feeds[0].value) : (px_view){0};
    for (int64_t r = 0; r < rows; r++) {
        const int64_t t = (row + r) / run->nodes;
        const double weight = run->weight[(row + r) % run->nodes];
        const float share = (float)weight;
        float *sum = own->sum + (size_t)t * size;
        for (size_t i = 0; s->has_trunk && i < size; i++)
            sum[i] += share * grad.data[(size_t)r * size + i];
        double *values = run->values + (first + t) * s->neuron_count;
        for (size_t l = gates; l < s->game_count; l++) {
            const size_t channels = s->games[l].channels;
            const float *slopes = px_session_gate_grad(session, l - gates) + (size_t)r * channels;
            for (size_t c = 0; c < channels; c++)
                values[(size_t)s->games[l].layer.offset + c] += weight * (double)slopes[c];
        }
    }
    return PX_OK;
}

/* Adds a tensor in logical order to a place that may lie otherwise, first `samples` rows. */
static void place_fill(const px_place *place, const float *from, int64_t samples)
{
    const px_shape *shape = &place->shape;
    int64_t at[PX_MAX_RANK] = {0};
    const int64_t inner = shape->dim[shape->rank - 1], step = place->stride[shape->rank - 1];
    const int64_t runs = px_shape_count(shape) / shape->dim[0] * samples / PX_MAX(inner, 1);
    for (int64_t k = 0; k < runs; k++, from += inner) {
        int64_t offset = 0;
        for (int d = 0; d < shape->rank - 1; d++)
            offset += at[d] * place->stride[d];
        for (int64_t i = 0; i < inner; i++)
            place->data[offset + i * step] = from[i];
        for (int d = shape->rank - 2; d >= 0 && ++at[d] == shape->dim[d]; d--)
            at[d] = 0;
    }
}

static px_status trunk_forward(const diagonal_run *run, pxi_lane *lane, int64_t first,
                               int64_t samples, px_error *err)
{
    px_shapley *s = run->s;
    px_session *session = pxi_pass_lane(s->trunk, lane->number)->session;
    const diagonal_lane *own = lane->state;
    const size_t size = s->games[0].start.sizes[0];
    memcpy(px_session_input(session, 0), run->inputs + (size_t)first * s->input_size,
           (size_t)samples * s->input_size * sizeof(float));
    PX_TRY(px_session_forward(session, err));
    memset(own->sum, 0, (size_t)samples * size * sizeof *own->sum);
    return px_session_read(session, s->games[0].start.feeds[0].value, samples, own->tap, err);
}

static px_status trunk_backward(const diagonal_run *run, pxi_lane *lane, int64_t first,
                                int64_t samples, px_error *err)
{
    px_shapley *s = run->s;
    const pxi_game *game = &s->games[0];
    px_session *session = pxi_pass_lane(s->trunk, lane->number)->session;
    const diagonal_lane *own = lane->state;
    PX_TRY(px_session_seed_clear(session, err));
    const px_place place = px_session_seed(session, game->start.feeds[0].value);
    place_fill(&place, own->sum, samples);
    PX_TRY(px_session_backward(session, err));
    const float *slopes = px_session_gate_grad(session, 0);
    for (int64_t t = 0; t < samples; t++)
        for (size_t c = 0; c < game->channels; c++)
            run->values[(first + t) * s->neuron_count + game->layer.offset + (int64_t)c] =
                (double)slopes[(size_t)t * game->channels + c];
    return PX_OK;
}

static px_status joint_job(void *context, pxi_lane *lane, int64_t index, px_error *err)
{
    const diagonal_run *run = context;
    const px_shapley *s = run->s;
    const int64_t first = index * DIAGONAL_INPUTS;
    const int64_t samples = PX_MIN((int64_t)DIAGONAL_INPUTS, run->count - first);
    memset(run->values + first * s->neuron_count, 0,
           (size_t)(samples * s->neuron_count) * sizeof *run->values);
    if (s->has_trunk)
        PX_TRY(trunk_forward(run, lane, first, samples, err));
    const int64_t all = samples * run->nodes, batch = pxi_pass_batch(lane->pass);
    for (int64_t row = 0; row < all; row += batch)
        PX_TRY(crown_rows(run, lane, first, row, PX_MIN(batch, all - row), err));
    return s->has_trunk ? trunk_backward(run, lane, first, samples, err) : PX_OK;
}

/* --- one layer at a time --------------------------------------------------------------------- */

/* values[c] = sum over the places of channel c of slope * a. */
static void game_values(const pxi_game *game, const float *slope, const float *a, double *values)
{
    for (size_t c = 0; c < game->channels; c++) {
        double sum = 0.0;
        for (size_t o = 0; o < game->outer; o++) {
            const size_t at = (o * game->channels + c) * game->inner;
            for (size_t i = 0; i < game->inner; i++)
                sum += (double)slope[at + i] * (double)a[at + i];
        }
        values[c] = sum;
    }
}

/* Adds weight times gradient, where the network starts again, to the sums of the rows' inputs. */
static px_status slope_rows(const diagonal_run *run, const pxi_game *game, pxi_lane *lane,
                            int64_t first, int64_t row, int64_t rows, px_error *err)
{
    px_shapley *s = run->s;
    px_session *session = pxi_pass_lane(game->slopes, lane->number)->session;
    diagonal_lane *own = lane->state;
    for (size_t f = 0; f < game->start.count; f++) {
        const size_t size = game->start.sizes[f];
        PX_TRY(px_session_read(lane->session, game->start.feeds[f].value, DIAGONAL_INPUTS, own->tap,
                               err));
        float *fed = px_session_input(session, f);
        for (int64_t r = 0; r < rows; r++) {
            const float *from = own->tap + (size_t)((row + r) / run->nodes) * size;
            const float q = f == 0 ? (float)run->at[(row + r) % run->nodes] : 1.0f;
            const float *base = f == 0 && game->additive ? game->base : NULL;
            for (size_t i = 0; i < size; i++)
                fed[(size_t)r * size + i] = base ? base[i] + q * (from[i] - base[i]) : q * from[i];
        }
    }
    for (int64_t r = 0; r < rows; r++)
        own->labels[r] = run->labels[first + (row + r) / run->nodes];
    PX_TRY(diagonal_pass(s, session, own->labels, rows, err));
    const px_view grad = px_session_grad(session, game->start.feeds[0].value);
    const size_t size = game->start.sizes[0];
    for (int64_t r = 0; r < rows; r++) {
        const float weight = (float)run->weight[(row + r) % run->nodes];
        float *sum = own->sum + (size_t)((row + r) / run->nodes) * size;
        for (size_t i = 0; i < size; i++)
            sum[i] += weight * grad.data[(size_t)r * size + i];
    }
    return PX_OK;
}

/* The sums, which are gradients at z, brought back to the layer. */
static px_status stem_backward(const pxi_game *game, pxi_lane *lane, int64_t samples,
                               const float **slopes, px_error *err)
{
    px_session *session = pxi_pass_lane(game->stem, lane->number)->session;
    const diagonal_lane *own = lane->state;
    memcpy(px_session_input(session, 0), own->tap, (size_t)samples * game->size * sizeof(float));
    PX_TRY(px_session_forward(session, err));
    PX_TRY(px_session_seed_clear(session, err));
    const px_place place = px_session_seed(session, game->start.feeds[0].value);
    place_fill(&place, own->sum, samples);
    PX_TRY(px_session_backward(session, err));
    *slopes = px_session_grad(session, game->tap).data;
    return PX_OK;
}

static px_status layer_values(const diagonal_run *run, const pxi_game *game, pxi_lane *lane,
                              int64_t first, int64_t samples, px_error *err)
{
    const px_shapley *s = run->s;
    const diagonal_lane *own = lane->state;
    const float *slopes = own->sum;
    const int64_t all = samples * run->nodes, batch = pxi_pass_batch(game->slopes);
    memset(own->sum, 0, (size_t)samples * game->start.sizes[0] * sizeof *own->sum);
    for (int64_t row = 0; row < all; row += batch)
        PX_TRY(slope_rows(run, game, lane, first, row, PX_MIN(batch, all - row), err));
    PX_TRY(px_session_read(lane->session, game->tap, DIAGONAL_INPUTS, own->tap, err));
    if (game->additive)
        PX_TRY(stem_backward(game, lane, samples, &slopes, err));
    for (int64_t t = 0; t < samples; t++)
        game_values(game, slopes + (size_t)t * game->size, own->tap + (size_t)t * game->size,
                    run->values + (first + t) * s->neuron_count + game->layer.offset);
    return PX_OK;
}

static px_status layers_job(void *context, pxi_lane *lane, int64_t index, px_error *err)
{
    const diagonal_run *run = context;
    px_shapley *s = run->s;
    const int64_t first = index * DIAGONAL_INPUTS;
    const int64_t samples = PX_MIN((int64_t)DIAGONAL_INPUTS, run->count - first);
    memcpy(pxi_lane_input(lane, 0), run->inputs + (size_t)first * s->input_size,
           (size_t)samples * s->input_size * sizeof(float));
    PX_TRY(px_session_forward(lane->session, err));
    for (size_t l = 0; l < s->game_count; l++)
        PX_TRY(layer_values(run, &s->games[l], lane, first, samples, err));
    return PX_OK;
}

/* --- the call -------------------------------------------------------------------------------- */

static px_status diagonal_open(px_shapley *s, bool per_layer, px_error *err)
{
    if (per_layer) {
        const pxi_visitor visitor = diagonal_visitor(s);
        PX_TRY(pxi_shapley_keep_all(s, DIAGONAL_INPUTS, &visitor, s->workers, &s->taps, err));
        for (size_t i = 0; i < s->game_count; i++)
            PX_TRY(diagonal_open_slope(s, &s->games[i], err));
        return PX_OK;
    }
    if (s->crown)
        return PX_OK;
    s->has_trunk = diagonal_has_trunk(s);
    if (s->has_trunk) {
        PX_TRY(pxi_game_base(s, &s->games[0], err));
        PX_TRY(diagonal_open_trunk(s, err));
    }
    return diagonal_open_crown(s, err);
}

px_status px_shapley_integrate(px_shapley *s, const px_diagonal *diagonal, const float *inputs,
                               const int64_t *labels, int64_t count, double *values, px_error *err)
{
    if (diagonal->nodes < 1 || diagonal->nodes > PX_SHAPLEY_MOST_NODES)
        return px_fail(err, PX_E_USAGE, "%d nodes are not possible: 1 to %d are", diagonal->nodes,
                       PX_SHAPLEY_MOST_NODES);
    if (count < 0)
        return px_fail(err, PX_E_USAGE, "%" PRId64 " inputs are not possible", count);
    for (int64_t i = 0; i < count; i++)
        if (labels[i] < 0 || labels[i] >= s->scores.classes)
            return px_fail(err, PX_E_MISMATCH,
                           "label %" PRId64 " is outside the network's classes 0..%d", labels[i],
                           s->scores.classes - 1);
    PX_TRY(diagonal_open(s, diagonal->per_layer, err));
    diagonal_run run = {.s = s,
                        .inputs = inputs,
                        .labels = labels,
                        .count = count,
                        .values = values,
                        .nodes = diagonal->nodes};
    pxi_gauss_nodes(run.nodes, run.at, run.weight);
    const int64_t jobs = count / DIAGONAL_INPUTS + (count % DIAGONAL_INPUTS != 0);
    return diagonal->per_layer ? pxi_pass_each(s->taps, jobs, NULL, layers_job, &run, err)
                               : pxi_pass_each(s->crown, jobs, NULL, joint_job, &run, err);
}
