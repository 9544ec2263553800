/* src/generate/swarm_corner.c - values of neurons against boundaries, on all workers */
#include "generate/swarm_corner.h"

#include "base/memory.h"
#include "engine/sample_plan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CORNER_BATCH = 16 };

struct pxi_corner {
    px_fuzz *fuzz;
    const px_probe *probe;
    px_plan *plan;
    px_session **sessions; /* per worker */
    float **traces;        /* the same: [batch][neurons] */
    size_t size, neurons;
    float *lows, *highs; /* per neuron: of all, */
    float *own;          /* and of each worker: [workers][2][neurons] */
};

/* --- opening -----------------------------------------------------------------------------------
 */

static px_status corner_init(pxi_corner *c, px_error *err)
{
    px_fuzz *fuzz = c->fuzz;
    px_feed feed;
    px_plan_options options = px_plan_options_default();
    options.batch = fuzz->options.batch;
    options.no_outputs = true;
    options.observe = px_probe_values(c->probe, &options.observe_count);
    options.keep = &fuzz->scores.value; /* so that all of the network is run */
    options.keep_count = 1;
    PX_TRY(pxi_sample_feed(fuzz->models[0], &fuzz->shape, fuzz->pre.channels_last, &feed, err));
    PX_TRY(pxi_sample_plan(fuzz->models[0], &feed, options, CORNER_BATCH, &c->plan, err));
    const size_t workers = (size_t)fuzz->workers, batch = (size_t)px_plan_batch(c->plan);
    c->sessions = pxi_calloc(workers, sizeof *c->sessions);
    c->traces = pxi_calloc(workers, sizeof *c->traces);
    c->lows = pxi_calloc(c->neurons, sizeof *c->lows);
    c->highs = pxi_calloc(c->neurons, sizeof *c->highs);
    c->own = pxi_calloc(workers, 2 * c->neurons * sizeof *c->own);
    if (!c->sessions || !c->traces || !c->lows || !c->highs || !c->own)
        return px_fail(err, PX_E_NOMEM, "out of memory");
    for (size_t w = 0; w < workers; w++) {
        PX_TRY(px_session_new(c->plan, &c->sessions[w], err));
        c->traces[w] = pxi_calloc(batch, c->neurons * sizeof **c->traces);
        if (!c->traces[w])
            return px_fail(err, PX_E_NOMEM, "out of memory");
    }
    for (size_t n = 0; n < c->neurons; n++) {
        c->lows[n] = INFINITY;
        c->highs[n] = -INFINITY;
    }
    return PX_OK;
}

px_status pxi_corner_open(px_fuzz *fuzz, const px_probe *probe, pxi_corner **out, px_error *err)
{
    pxi_corner *c = pxi_calloc(1, sizeof *c);
    if (!c)
        return px_fail(err, PX_E_NOMEM, "out of memory");
    c->fuzz = fuzz;
    c->probe = probe;
    c->size = fuzz->size;
    c->neurons = (size_t)px_probe_neuron_count(probe);
    const px_status status = corner_init(c, err);
    if (status == PX_OK)
        *out = c;
    else
        pxi_corner_close(c);
    return status;
}

void pxi_corner_close(pxi_corner *c)
{
    if (!c)
        return;
    for (int w = 0; w < c->fuzz->workers; w++) {
        if (c->sessions)
            px_session_free(c->sessions[w]);
        if (c->traces)
            free(c->traces[w]);
    }
    free(c->sessions);
    free(c->traces);
    free(c->lows);
    free(c->highs);
    free(c->own);
    px_plan_free(c->plan);
    free(c);
}

/* --- values ------------------------------------------------------------------------------------
 */

typedef struct corner_run {
    pxi_corner *c;
    const float *inputs;
    int64_t count;
    double *out; /* NULL: learning */
} corner_run;

static void corner_learn_row(const pxi_corner *c, const float *values, float *lows, float *highs)
{
    for (size_t n = 0; n < c->neurons; n++) {
        lows[n] = fminf(lows[n], values[n]); /* NaN is no boundary */
        highs[n] = fmaxf(highs[n], values[n]);
    }
}

static double corner_row(const pxi_corner *c, const float *values)
{
    size_t beyond = 0;
    for (size_t n = 0; n < c->neurons; n++)
        beyond += values[n] < c->lows[n] || values[n] > c->highs[n];
    return (double)beyond / (double)(2 * c->neurons);
}

static px_status corner_batch(void *context, int worker, int64_t index, px_error *err)
{
    const corner_run *run = context;
    pxi_corner *c = run->c;
    px_session *session = c->sessions[worker];
    const int64_t batch = px_plan_batch(c->plan), first = index * batch;
    const int64_t samples = PX_MIN(batch, run->count - first);
    float *input = px_session_input(session, 0), *trace = c->traces[worker];
    float *lows = c->own + (size_t)worker * 2 * c->neurons, *highs = lows + c->neurons;
    memcpy(input, run->inputs + (size_t)first * c->size, (size_t)samples * c->size * sizeof *input);
    memset(input + (size_t)samples * c->size, 0,
           (size_t)(batch - samples) * c->size * sizeof *input);
    px_probe_watch watch = {.probe = c->probe, .samples = samples, .trace = trace};
    px_session_observe(session, px_probe_observer, &watch);
    const px_status status = px_session_forward(session, err);
    px_session_observe(session, NULL, NULL);
    PX_TRY(status);
    for (int64_t i = 0; i < samples; i++) {
        const float *values = trace + (size_t)i * c->neurons;
        if (run->out)
            run->out[first + i] = corner_row(c, values);
        else
            corner_learn_row(c, values, lows, highs);
    }
    return PX_OK;
}

static px_status corner_all(const corner_run *run, px_error *err)
{
    corner_run own = *run;
    const int64_t batch = px_plan_batch(run->c->plan);
    return pxi_pool_run(run->c->fuzz->pool, (run->count + batch - 1) / batch, corner_batch, &own,
                        NULL, NULL, err);
}

px_status pxi_corner_learn(pxi_corner *c, const float *inputs, int64_t count, px_error *err)
{
    const corner_run run = {.c = c, .inputs = inputs, .count = count};
    const size_t workers = (size_t)c->fuzz->workers;
    for (size_t w = 0; w < workers; w++)
        for (size_t n = 0; n < c->neurons; n++) {
            c->own[2 * w * c->neurons + n] = INFINITY;
            c->own[(2 * w + 1) * c->neurons + n] = -INFINITY;
        }
    PX_TRY(corner_all(&run, err));
    for (size_t w = 0; w < workers; w++) { /* in no order that matters: lowest and highest */
        const float *lows = c->own + 2 * w * c->neurons, *highs = lows + c->neurons;
        for (size_t n = 0; n < c->neurons; n++) {
            c->lows[n] = fminf(c->lows[n], lows[n]);
            c->highs[n] = fmaxf(c->highs[n], highs[n]);
        }
    }
    return PX_OK;
}

px_status pxi_corner_measure(pxi_corner *c, const float *inputs, int64_t count, double *out,
                             px_error *err)
{
    const corner_run run = {.c = c, .inputs = inputs, .count = count, .out = out};
    return corner_all(&run, err);
}
