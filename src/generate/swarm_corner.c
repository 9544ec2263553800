/* src/generate/swarm_corner.c - values of neurons against boundaries, on all workers */
/* SPDX-License-Identifier: Apache-2.0 */
#include "generate/swarm_corner.h"

#include "base/memory.h"
#include <internal/lane_watch.h>
#include <internal/probe.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CORNER_BATCH = 16 };

struct pxi_corner {
    const px_probe *probe;
    pxi_pass *pass;
    size_t neurons;
    float *lows, *highs; /* per neuron */
    const float *inputs; /* of the run at hand */
    double *out;         /* NULL: learning */
};

typedef struct corner_lane {
    px_probe_watch watch; /* first */
    float *trace;         /* [batch][neurons] */
    float *lows, *highs;  /* per neuron, of what this lane has learned */
} corner_lane;

static px_status lane_open(pxi_lane *lane, px_error *err)
{
    const pxi_corner *c = lane->context;
    corner_lane *own = lane->state;
    (void)err;
    own->trace =
        pxi_lane_array(lane, (size_t)pxi_pass_batch(lane->pass), c->neurons * sizeof *own->trace);
    own->lows = pxi_lane_array(lane, c->neurons, sizeof *own->lows);
    own->highs = pxi_lane_array(lane, c->neurons, sizeof *own->highs);
    return PX_OK;
}

static px_status lane_fill(pxi_lane *lane, int64_t item, int view, float *input, px_error *err)
{
    const pxi_corner *c = lane->context;
    const size_t floats = pxi_pass_floats(lane->pass);
    (void)view, (void)err;
    memcpy(input, c->inputs + (size_t)item * floats, floats * sizeof *input);
    return PX_OK;
}

static px_status lane_begin(pxi_lane *lane, const pxi_batch *batch, px_error *err)
{
    const pxi_corner *c = lane->context;
    corner_lane *own = lane->state;
    (void)err;
    own->watch = (px_probe_watch){.probe = c->probe, .samples = batch->count, .trace = own->trace};
    return PX_OK;
}

static double corner_row(const pxi_corner *c, const float *values)
{
    size_t beyond = 0;
    for (size_t n = 0; n < c->neurons; n++)
        beyond += values[n] < c->lows[n] || values[n] > c->highs[n];
    return (double)beyond / (double)(2 * c->neurons);
}

static px_status lane_visit(pxi_lane *lane, const pxi_batch *batch, px_error *err)
{
    const pxi_corner *c = lane->context;
    const corner_lane *own = lane->state;
    (void)err;
    for (int64_t i = 0; i < batch->count; i++) {
        const float *values = own->trace + (size_t)i * c->neurons;
        if (c->out)
            c->out[batch->first + i] = corner_row(c, values);
        for (size_t n = 0; !c->out && n < c->neurons; n++) { /* NaN is no boundary */
            own->lows[n] = fminf(own->lows[n], values[n]);
            own->highs[n] = fmaxf(own->highs[n], values[n]);
        }
    }
    return PX_OK;
}

static px_status corner_init(pxi_corner *c, px_fuzz *fuzz, px_error *err)
{
    const pxi_task task = {.model = fuzz->models[0],
                           .pre = &fuzz->pre,
                           .sample = fuzz->shape,
                           .workers = pxi_pass_workers(fuzz->pass),
                           .batch = pxi_probe_batch(c->probe, fuzz->options.batch),
                           .max_batch = CORNER_BATCH};
    const pxi_visitor visitor = {.context = c,
                                 .state_size = sizeof(corner_lane),
                                 .open = lane_open,
                                 .fill = lane_fill,
                                 .begin = lane_begin,
                                 .observe = pxi_lane_observe,
                                 .visit = lane_visit};
    px_plan_options wants = pxi_wants_scores(&fuzz->scores); /* so that all of the network is run */
    wants.observe = px_probe_values(c->probe, &wants.observe_count);
    PX_TRY(PX_NEW(c->lows, c->neurons, err));
    PX_TRY(PX_NEW(c->highs, c->neurons, err));
    for (size_t n = 0; n < c->neurons; n++) {
        c->lows[n] = INFINITY;
        c->highs[n] = -INFINITY;
    }
    return pxi_pass_open(&task, &wants, &visitor, &c->pass, err);
}

px_status pxi_corner_open(px_fuzz *fuzz, const px_probe *probe, pxi_corner **out, px_error *err)
{
    pxi_corner *c = NULL;
    PX_TRY(PX_NEW(c, 1, err));
    c->probe = probe;
    c->neurons = (size_t)px_probe_neuron_count(probe);
    const px_status status = corner_init(c, fuzz, err);
    return PX_GIVE(status, c, out, pxi_corner_close);
}

void pxi_corner_close(pxi_corner *c)
{
    if (!c)
        return;
    pxi_pass_close(c->pass);
    free(c->lows);
    free(c->highs);
    free(c);
}

static px_status corner_all(pxi_corner *c, const float *inputs, int64_t count, double *out,
                            px_error *err)
{
    c->inputs = inputs;
    c->out = out;
    pxi_pass_over(c->pass, NULL, count);
    return pxi_pass_all(c->pass, err);
}

px_status pxi_corner_learn(pxi_corner *c, const float *inputs, int64_t count, px_error *err)
{
    const int lanes = pxi_pass_lanes(c->pass);
    for (int i = 0; i < lanes; i++) {
        const corner_lane *own = pxi_pass_lane(c->pass, i)->state;
        for (size_t n = 0; n < c->neurons; n++) {
            own->lows[n] = INFINITY;
            own->highs[n] = -INFINITY;
        }
    }
    PX_TRY(corner_all(c, inputs, count, NULL, err));
    for (int i = 0; i < lanes; i++) { /* in no order that matters: lowest and highest */
        const corner_lane *own = pxi_pass_lane(c->pass, i)->state;
        for (size_t n = 0; n < c->neurons; n++) {
            c->lows[n] = fminf(c->lows[n], own->lows[n]);
            c->highs[n] = fmaxf(c->highs[n], own->highs[n]);
        }
    }
    return PX_OK;
}

px_status pxi_corner_measure(pxi_corner *c, const float *inputs, int64_t count, double *out,
                             px_error *err)
{
    return corner_all(c, inputs, count, out, err);
}
