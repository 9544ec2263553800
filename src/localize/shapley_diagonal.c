/* src/localize/shapley_diagonal.c - Aumann-Shapley values along the diagonal
 *
 *     integral over q in [0, 1] of dL(q, ..., q) / dm_n, by Gauss and Legendre
 *
 * All layers at once: every layer goes through a gate of factor q, and one backward run gives the
 * gradient by all factors. Where the first layer is a cut and what follows it is a sum over
 * channels up to z (shapley_inside.h), z(q) = base + q (z - base): the network up to z, the
 * *trunk*, runs forward once for all nodes, and backward once, from the sum over the nodes of
 * weight times gradient at z; only what lies behind it, the *crown*, runs at every node. One layer
 * at a time: the network starts again at q times the layer.
 */
#include "localize/shapley_inside.h"

#include "base/memory.h"
#include "stats/gauss_nodes.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    DIAGONAL_INPUTS = 8,
    DIAGONAL_ROWS = 64
}; /* at a time: of the trunk, of the crown at most */

typedef struct pxi_diagonal_seat { /* per worker */
    float *tap;                    /* [DIAGONAL_INPUTS][most floats of a tap, z or input] */
    float *sum;                    /* of gradients at z */
    int64_t labels[DIAGONAL_ROWS];
} diagonal_seat;

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

/* --- plans
 * --------------------------------------------------------------------------------------- */

/* Whether the network up to z can run once for all nodes: z is behind the first layer, and no other
 * layer is before it. */
static bool diagonal_has_trunk(const px_shapley *s)
{
    const pxi_lane *first = &s->lanes[0];
    const px_graph *graph = px_model_graph(s->model);
    bool can = first->additive && first->layer.cut;
    for (size_t i = 1; i < s->lane_count && can; i++)
        can = !pxi_segment_has(graph, first->tap, first->start.feeds[0].value, s->lanes[i].tap);
    return can;
}

static px_status diagonal_open_trunk(px_shapley *s, px_error *err)
{
    const pxi_lane *lane = &s->lanes[0];
    const int kept[] = {lane->start.feeds[0].value};
    const px_gate gate = {.value = lane->tap, .axis = lane->axis};
    px_feed feed = s->input;
    feed.shape.dim[0] = DIAGONAL_INPUTS;
    px_plan_options options = px_plan_options_default();
    options.batch = DIAGONAL_INPUTS;
    options.feeds = &feed;
    options.feed_count = 1;
    options.keep = options.seeds = kept;
    options.keep_count = options.seed_count = 1;
    options.gates = &gate;
    options.gate_count = 1;
    options.no_outputs = true;
    PX_TRY(pxi_crew_open(&s->trunk, s->model, &options, s->workers, err));
    for (int w = 0; w < s->workers; w++) {
        float *factors = px_session_gate(s->trunk.sessions[w], 0);
        for (size_t i = 0; i < DIAGONAL_INPUTS * lane->channels; i++)
            factors[i] = 1.0f;
    }
    return PX_OK;
}

static px_status diagonal_open_crown(px_shapley *s, px_error *err)
{
    const size_t first = s->has_trunk ? 1 : 0;
    px_feed feed = s->has_trunk ? s->lanes[0].start.feeds[0] : s->input;
    const size_t size = s->has_trunk ? s->lanes[0].start.sizes[0] : s->input_size;
    px_gate *gates = pxi_calloc(s->lane_count, sizeof *gates);
    if (!gates)
        return px_fail(err, PX_E_NOMEM, "out of memory");
    for (size_t i = first; i < s->lane_count; i++)
        gates[i - first] = (px_gate){.value = s->lanes[i].tap, .axis = s->lanes[i].axis};
    px_plan_options options = px_plan_options_default();
    options.batch = PX_MIN(pxi_rows_at_a_time(size), (int64_t)DIAGONAL_ROWS);
    feed.shape.dim[0] = options.batch;
    options.feeds = &feed;
    options.feed_count = 1;
    options.keep = options.seeds = &s->scores.value;
    options.keep_count = options.seed_count = 1;
    options.wrt = &feed.value;
    options.wrt_count = s->has_trunk ? 1 : 0;
    options.gates = gates;
    options.gate_count = s->lane_count - first;
    options.no_outputs = true;
    const px_status status = pxi_crew_open(&s->crown, s->model, &options, s->workers, err);
    free(gates);
    return status;
}

static px_status diagonal_open_slope(px_shapley *s, pxi_lane *lane, px_error *err)
{
    px_feed *feeds = NULL;
    px_plan_options options = px_plan_options_default();
    options.batch = PX_MIN(pxi_rows_at_a_time(lane->size), (int64_t)DIAGONAL_ROWS);
    PX_TRY(pxi_feeds_for(&lane->slope, options.batch, &feeds, err));
    options.feeds = feeds;
    options.feed_count = lane->slope.count;
    options.keep = options.seeds = &s->scores.value;
    options.keep_count = options.seed_count = 1;
    options.wrt = &lane->tap;
    options.wrt_count = 1;
    options.no_outputs = true;
    const px_status status = pxi_crew_open(&lane->slope_crew, s->model, &options, s->workers, err);
    free(feeds);
    return status;
}

static px_status diagonal_seats(px_shapley *s, px_error *err)
{
    if (s->diagonal)
        return PX_OK;
    size_t most = s->input_size;
    for (size_t i = 0; i < s->lane_count; i++) {
        most = PX_MAX(most, s->lanes[i].start.sizes[0]);
        for (size_t f = 0; f < s->lanes[i].slope.count; f++)
            most = PX_MAX(most, s->lanes[i].slope.sizes[f]);
    }
    s->diagonal = pxi_calloc((size_t)s->workers, sizeof *s->diagonal);
    for (int w = 0; s->diagonal && w < s->workers; w++) {
        s->diagonal[w].tap = pxi_calloc(DIAGONAL_INPUTS, most * sizeof(float));
        s->diagonal[w].sum = pxi_calloc(DIAGONAL_INPUTS, most * sizeof(float));
        if (!s->diagonal[w].tap || !s->diagonal[w].sum)
            return px_fail(err, PX_E_NOMEM, "out of memory");
    }
    return s->diagonal ? PX_OK : px_fail(err, PX_E_NOMEM, "out of memory");
}

void pxi_diagonal_close(px_shapley *s)
{
    for (int w = 0; s->diagonal && w < s->workers; w++) {
        free(s->diagonal[w].tap);
        free(s->diagonal[w].sum);
    }
    free(s->diagonal);
}

/* --- runs
 * ---------------------------------------------------------------------------------------- */

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
static px_status crown_rows(const diagonal_run *run, int worker, int64_t first, int64_t row,
                            int64_t rows, px_error *err)
{
    px_shapley *s = run->s;
    px_session *session = s->crown.sessions[worker];
    diagonal_seat *seat = &s->diagonal[worker];
    const size_t gates = s->has_trunk ? 1 : 0; /* the lane of the first gate */
    const size_t size = s->has_trunk ? s->lanes[0].start.sizes[0] : s->input_size;
    const float *base = s->lanes[0].base;
    float *fed = px_session_input(session, 0);
    for (int64_t r = 0; r < rows; r++) {
        const int64_t t = (row + r) / run->nodes;
        const float q = (float)run->at[(row + r) % run->nodes];
        const float *from =
            s->has_trunk ? seat->tap + (size_t)t * size : run->inputs + (size_t)(first + t) * size;
        float *to = fed + (size_t)r * size;
        seat->labels[r] = run->labels[first + t];
        if (s->has_trunk)
            for (size_t i = 0; i < size; i++)
                to[i] = base[i] + q * (from[i] - base[i]);
        else
            memcpy(to, from, size * sizeof *to);
        for (size_t l = gates; l < s->lane_count; l++) {
            const size_t channels = s->lanes[l].channels;
            float *factors = px_session_gate(session, l - gates) + (size_t)r * channels;
            for (size_t c = 0; c < channels; c++)
                factors[c] = q;
        }
    }
    PX_TRY(diagonal_pass(s, session, seat->labels, rows, err));
    const px_view grad =
        s->has_trunk ? px_session_grad(session, s->lanes[0].start.feeds[0].value) : (px_view){0};
    for (int64_t r = 0; r < rows; r++) {
        const int64_t t = (row + r) / run->nodes;
        const double weight = run->weight[(row + r) % run->nodes];
        const float share = (float)weight;
        float *sum = seat->sum + (size_t)t * size;
        for (size_t i = 0; s->has_trunk && i < size; i++)
            sum[i] += share * grad.data[(size_t)r * size + i];
        double *values = run->values + (first + t) * s->neuron_count;
        for (size_t l = gates; l < s->lane_count; l++) {
            const size_t channels = s->lanes[l].channels;
            const float *slopes = px_session_gate_grad(session, l - gates) + (size_t)r * channels;
            for (size_t c = 0; c < channels; c++)
                values[(size_t)s->lanes[l].layer.offset + c] += weight * (double)slopes[c];
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

static px_status trunk_forward(const diagonal_run *run, int worker, int64_t first, int64_t samples,
                               px_error *err)
{
    px_shapley *s = run->s;
    px_session *session = s->trunk.sessions[worker];
    diagonal_seat *seat = &s->diagonal[worker];
    const size_t size = s->lanes[0].start.sizes[0];
    memcpy(px_session_input(session, 0), run->inputs + (size_t)first * s->input_size,
           (size_t)samples * s->input_size * sizeof(float));
    PX_TRY(px_session_forward(session, err));
    memset(seat->sum, 0, (size_t)samples * size * sizeof *seat->sum);
    return px_session_read(session, s->lanes[0].start.feeds[0].value, samples, seat->tap, err);
}

static px_status trunk_backward(const diagonal_run *run, int worker, int64_t first, int64_t samples,
                                px_error *err)
{
    px_shapley *s = run->s;
    const pxi_lane *lane = &s->lanes[0];
    px_session *session = s->trunk.sessions[worker];
    PX_TRY(px_session_seed_clear(session, err));
    const px_place place = px_session_seed(session, lane->start.feeds[0].value);
    place_fill(&place, s->diagonal[worker].sum, samples);
    PX_TRY(px_session_backward(session, err));
    const float *slopes = px_session_gate_grad(session, 0);
    for (int64_t t = 0; t < samples; t++)
        for (size_t c = 0; c < lane->channels; c++)
            run->values[(first + t) * s->neuron_count + lane->layer.offset + (int64_t)c] =
                (double)slopes[(size_t)t * lane->channels + c];
    return PX_OK;
}

static px_status joint_job(void *context, int worker, int64_t index, px_error *err)
{
    const diagonal_run *run = context;
    const px_shapley *s = run->s;
    const int64_t first = index * DIAGONAL_INPUTS;
    const int64_t samples = PX_MIN((int64_t)DIAGONAL_INPUTS, run->count - first);
    memset(run->values + first * s->neuron_count, 0,
           (size_t)(samples * s->neuron_count) * sizeof *run->values);
    if (s->has_trunk)
        PX_TRY(trunk_forward(run, worker, first, samples, err));
    const int64_t all = samples * run->nodes;
    for (int64_t row = 0; row < all; row += s->crown.batch)
        PX_TRY(crown_rows(run, worker, first, row, PX_MIN(s->crown.batch, all - row), err));
    return s->has_trunk ? trunk_backward(run, worker, first, samples, err) : PX_OK;
}

/* --- one layer at a time
 * ------------------------------------------------------------------------- */

/* values[c] += weight * sum over the places of channel c of slope * a. */
static void lane_slopes(const pxi_lane *lane, const float *slope, const float *a, double weight,
                        double *values)
{
    for (size_t c = 0; c < lane->channels; c++) {
        double sum = 0.0;
        for (size_t o = 0; o < lane->outer; o++) {
            const size_t at = (o * lane->channels + c) * lane->inner;
            for (size_t i = 0; i < lane->inner; i++)
                sum += (double)slope[at + i] * (double)a[at + i];
        }
        values[c] += weight * sum;
    }
}

static px_status slope_rows(const diagonal_run *run, const pxi_lane *lane, int worker,
                            int64_t first, int64_t row, int64_t rows, px_error *err)
{
    px_shapley *s = run->s;
    px_session *session = lane->slope_crew.sessions[worker];
    diagonal_seat *seat = &s->diagonal[worker];
    const px_session *taps = s->taps.sessions[worker];
    for (size_t f = lane->slope.count; f-- > 0;) { /* the tap comes last, and stays in seat->tap */
        const size_t size = lane->slope.sizes[f];
        PX_TRY(px_session_read(taps, lane->slope.feeds[f].value, DIAGONAL_INPUTS, seat->tap, err));
        float *fed = px_session_input(session, f);
        for (int64_t r = 0; r < rows; r++) {
            const float *from = seat->tap + (size_t)((row + r) / run->nodes) * size;
            const float q = f == 0 ? (float)run->at[(row + r) % run->nodes] : 1.0f;
            for (size_t i = 0; i < size; i++)
                fed[(size_t)r * size + i] = q * from[i];
        }
    }
    for (int64_t r = 0; r < rows; r++)
        seat->labels[r] = run->labels[first + (row + r) / run->nodes];
    PX_TRY(diagonal_pass(s, session, seat->labels, rows, err));
    const px_view grad = px_session_grad(session, lane->tap);
    for (int64_t r = 0; r < rows; r++) {
        const int64_t t = (row + r) / run->nodes;
        lane_slopes(lane, grad.data + (size_t)r * lane->size, seat->tap + (size_t)t * lane->size,
                    run->weight[(row + r) % run->nodes],
                    run->values + (first + t) * s->neuron_count + lane->layer.offset);
    }
    return PX_OK;
}

static px_status layers_job(void *context, int worker, int64_t index, px_error *err)
{
    const diagonal_run *run = context;
    px_shapley *s = run->s;
    const int64_t first = index * DIAGONAL_INPUTS;
    const int64_t samples = PX_MIN((int64_t)DIAGONAL_INPUTS, run->count - first);
    px_session *taps = s->taps.sessions[worker];
    memset(run->values + first * s->neuron_count, 0,
           (size_t)(samples * s->neuron_count) * sizeof *run->values);
    memcpy(px_session_input(taps, 0), run->inputs + (size_t)first * s->input_size,
           (size_t)samples * s->input_size * sizeof(float));
    PX_TRY(px_session_forward(taps, err));
    for (size_t l = 0; l < s->lane_count; l++) {
        const pxi_lane *lane = &s->lanes[l];
        const int64_t all = samples * run->nodes, batch = lane->slope_crew.batch;
        for (int64_t row = 0; row < all; row += batch)
            PX_TRY(slope_rows(run, lane, worker, first, row, PX_MIN(batch, all - row), err));
    }
    return PX_OK;
}

/* --- the call
 * ------------------------------------------------------------------------------------ */

static px_status diagonal_open(px_shapley *s, bool per_layer, px_error *err)
{
    PX_TRY(diagonal_seats(s, err));
    if (per_layer) {
        PX_TRY(pxi_shapley_keep_all(s, &s->taps, DIAGONAL_INPUTS, s->workers, err));
        for (size_t i = 0; i < s->lane_count; i++)
            PX_TRY(diagonal_open_slope(s, &s->lanes[i], err));
        return PX_OK;
    }
    if (s->crown.plan)
        return PX_OK;
    s->has_trunk = diagonal_has_trunk(s);
    if (s->has_trunk) {
        PX_TRY(pxi_lane_base(s, &s->lanes[0], err));
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
    return pxi_pool_run(s->pool, jobs, diagonal->per_layer ? layers_job : joint_job, &run, NULL,
                        NULL, err);
}
