/* src/probe/gradient.c - gradients of the loss or of neurons, for inputs that come as arrays
 *
 * By the input or an inner tensor every sample has a gradient of its own. By a weight they are
 * added up: a partial sum per micro-batch, joined in their order.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "engine/run_arrays.h"

#include <internal/probe.h>
#include <stdlib.h>

static const size_t partial_bytes = (size_t)64 << 20; /* of partial sums at a time */
enum { MOST_PARTS = 256 };

typedef struct gradient {
    const px_gradient_options *options;
    pxi_array_pass arrays;
    px_scores scores;
    int wrt;
    bool summed;
    px_tensor result;
    int64_t size; /* elements of the weight */
    int64_t base; /* the round's first sample */
    float *partials;
    double *sum;
} gradient;

static px_status gradient_copy(const gradient *g, const px_session *session, int64_t first,
                               int64_t samples, px_error *err)
{
    const px_view view = px_session_grad(session, g->wrt);
    if (!view.data)
        return px_fail(err, PX_E_INTERNAL, "the plan has no gradient for value %d", g->wrt);
    const int rank = view.shape.rank;
    const int64_t row = g->summed ? g->size : px_shape_count(&view.shape) / g->arrays.batch;
    float *out = g->summed ? g->partials + (first - g->base) / g->arrays.batch * g->size
                           : (float *)g->result.data + first * row;
    int64_t at[PX_MAX_RANK] = {0};
    for (int64_t i = 0; i < (g->summed ? row : samples * row); i++) { /* logical order */
        int64_t offset = 0;
        for (int d = 0; d < rank; d++)
            offset += at[d] * view.stride[d];
        out[i] = view.data[offset];
        for (int d = rank - 1; d >= 0 && ++at[d] == view.shape.dim[d]; d--)
            at[d] = 0;
    }
    return PX_OK;
}

static px_status gradient_job(void *context, pxi_lane *lane, int64_t job, px_error *err)
{
    const gradient *g = context;
    const px_gradient_options *o = g->options;
    px_session *session = lane->session;
    const int64_t first = g->base + job * g->arrays.batch;
    const int64_t samples = PX_MIN(g->arrays.batch, g->arrays.count - first);
    pxi_array_pass_fill(&g->arrays, lane, first, samples);
    PX_TRY(px_session_forward(session, err));
    PX_TRY(px_session_seed_clear(session, err));
    if (!o->probe)
        PX_TRY(px_session_seed_loss(session, &g->scores, o->labels + first, samples, NULL, err));
    for (size_t t = 0; t < o->neuron_count; t++)
        for (int64_t s = 0; s < samples; s++) /* not the padding: a weight would feel it */
            PX_TRY(px_probe_seed(o->probe, session, o->neurons[t].layer, o->neurons[t].unit, s,
                                 /* weight= */ 1.0f, err));
    PX_TRY(px_session_backward(session, err));
    return gradient_copy(g, session, first, samples, err);
}

/* Jobs of one round: all, or as many as there is memory for partial sums. */
static px_status gradient_parts(gradient *g, int64_t jobs, int64_t *parts, px_error *err)
{
    *parts = jobs;
    if (!g->summed)
        return PX_OK;
    const size_t fit = partial_bytes / ((size_t)(g->size + 1) * sizeof *g->partials);
    *parts = (int64_t)PX_MIN(PX_MAX(fit, (size_t)1), (size_t)MOST_PARTS);
    PX_TRY(PX_NEW(g->partials, *parts * (g->size + 1), err));
    return PX_NEW(g->sum, g->size + 1, err);
}

static px_status gradient_run(gradient *g, px_error *err)
{
    const int64_t batch = g->arrays.batch, count = g->arrays.count;
    int64_t jobs = (count + batch - 1) / batch, parts;
    PX_TRY(gradient_parts(g, jobs, &parts, err));
    for (; jobs > 0; jobs -= parts, g->base += parts * batch) {
        const int64_t now = PX_MIN(jobs, parts);
        const pxi_share share = {.before = g->base, .each = batch, .total = count};
        PX_TRY(pxi_pass_each(g->arrays.pass, now, &share, gradient_job, g, err));
        for (int64_t j = 0; g->summed && j < now; j++)
            for (int64_t i = 0; i < g->size; i++)
                g->sum[i] += (double)g->partials[j * g->size + i];
    }
    for (int64_t i = 0; g->summed && i < g->size; i++)
        ((float *)g->result.data)[i] = (float)g->sum[i];
    return PX_OK;
}

/* The values where it starts, each once; *count of them. */
static px_status gradient_seeds(gradient *g, const px_model *model, int **out, size_t *count,
                                px_error *err)
{
    const px_gradient_options *o = g->options;
    int *seeds = NULL;
    if (!o->probe)
        PX_TRY(px_model_scores(model, &g->scores, err));
    PX_TRY(PX_NEW(seeds, o->neuron_count + 2, err)); /* one more for what is kept besides */
    *count = 0;
    if (!o->probe)
        seeds[(*count)++] = g->scores.value;
    for (size_t t = 0; t < o->neuron_count; t++) {
        const int value = px_probe_layer(o->probe, o->neurons[t].layer)->tap_value;
        size_t i = 0;
        while (i < *count && seeds[i] != value)
            i++;
        if (i == *count)
            seeds[(*count)++] = value;
    }
    *out = seeds;
    return PX_OK;
}

static px_status gradient_open(gradient *g, const px_model *model, const px_tensor *input,
                               px_error *err)
{
    const px_graph *graph = px_model_graph(model);
    px_plan_options wants = px_plan_options_default();
    int *seeds = NULL;
    if (graph->input_count != 1)
        return px_fail(err, PX_E_UNSUPPORTED,
                       "'%s' has %d inputs; gradients are of networks with one",
                       px_model_path(model), graph->input_count);
    if (input->dtype != PX_FLOAT32)
        return px_fail(err, PX_E_UNSUPPORTED, "the network's input is %s; gradients need float32",
                       px_dtype_name(input->dtype));
    g->wrt = g->options->wrt < 0 ? graph->inputs[0] : g->options->wrt;
    const px_tensor *weight = graph->values[g->wrt].constant;
    g->summed = weight != NULL;
    PX_TRY(gradient_seeds(g, model, &seeds, &wants.seed_count, err));
    wants.keep = wants.seeds = seeds;
    wants.keep_count = wants.seed_count;
    if (!g->summed && g->wrt != graph->inputs[0])
        seeds[wants.keep_count++] = g->wrt;
    wants.wrt = &g->wrt;
    wants.wrt_count = 1;
    wants.no_outputs = true;
    const px_status status = pxi_array_pass_open(model, input, &g->options->run, &wants, seeds,
                                                 wants.keep_count, &g->arrays, err);
    free(seeds);
    PX_TRY(status);
    px_shape shape = px_plan_shape(pxi_pass_plan(g->arrays.pass), g->wrt);
    if (g->summed) {
        shape = weight->shape;
        g->size = px_shape_count(&shape);
    } else if (g->wrt == graph->inputs[0]) {
        shape = input->shape;
    } else if (shape.rank > 0 && !g->arrays.whole) {
        shape.dim[0] = g->arrays.count;
    }
    return px_tensor_init(&g->result, PX_FLOAT32, &shape, err);
}

px_gradient_options px_gradient_options_default(void)
{
    return (px_gradient_options){.wrt = -1};
}

px_status px_gradient(const px_model *model, const px_tensor *input,
                      const px_gradient_options *options, px_tensor *out, px_run_facts *facts,
                      px_error *err)
{
    gradient g = {.options = options};
    px_status status = gradient_open(&g, model, input, err);
    PX_THEN(status, gradient_run(&g, err));
    if (status == PX_OK) {
        *out = g.result;
        if (facts)
            *facts = pxi_array_pass_facts(&g.arrays);
    } else {
        px_tensor_done(&g.result);
    }
    free(g.sum);
    free(g.partials);
    pxi_pass_close(g.arrays.pass);
    return status;
}
