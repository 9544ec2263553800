/* src/engine/bench.c - how many random inputs a network takes per second */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include <internal/pass.h>
#include <internal/sample_plan.h>

#include <internal/engine.h>
#include <internal/rng.h>
#include <math.h>
#include <plexor/system.h>
#include <stdlib.h>
#include <string.h>

typedef struct bench {
    const px_bench_options *options;
    pxi_pass *pass;
    px_scores scores;
    size_t feed_count;
    void **inputs;   /* one micro-batch per feed */
    size_t *bytes;   /* per feed */
    int64_t *labels; /* of one micro-batch */
} bench;

static px_status bench_job(void *context, pxi_lane *lane, int64_t job, px_error *err)
{
    const bench *b = context;
    px_session *session = lane->session;
    (void)job;
    for (size_t f = 0; f < b->feed_count; f++)
        memcpy(px_session_input(session, f), b->inputs[f], b->bytes[f]);
    PX_TRY(px_session_forward(session, err));
    if (!b->options->backward)
        return PX_OK;
    PX_TRY(px_session_seed_clear(session, err));
    PX_TRY(px_session_seed_loss(session, &b->scores, b->labels, pxi_pass_batch(lane->pass), NULL,
                                err));
    return px_session_backward(session, err);
}

static px_status bench_measure(bench *b, double *out, px_error *err)
{
    const int64_t batch = pxi_pass_batch(b->pass), lanes = pxi_pass_lanes(b->pass);
    const double seconds = b->options->seconds;
    double best = 0.0;
    int64_t jobs = lanes;
    for (int64_t round = 0; round < b->options->rounds;) {
        const pxi_share share = {.each = batch, .total = jobs * batch};
        const double start = px_clock_s();
        PX_TRY(pxi_pass_each(b->pass, jobs, &share, bench_job, b, err));
        const double took = px_clock_s() - start;
        if (took < 0.5 * seconds && round == 0) { /* not yet long enough to count */
            const double more = fmin(10.0, fmax(1.5, 1.1 * seconds / took));
            jobs = ((int64_t)((double)jobs * more) + lanes - 1) / lanes * lanes;
            continue;
        }
        best = fmax(best, (double)share.total / took);
        round++;
    }
    *out = best;
    return PX_OK;
}

/* Standard normal numbers where the input is float32, zeros elsewhere: every index is valid then.
 */
static px_status bench_prepare(bench *b, px_error *err)
{
    const px_plan *plan = pxi_pass_plan(b->pass);
    const px_graph *graph = px_model_graph(px_plan_model(plan));
    const int64_t batch = pxi_pass_batch(b->pass);
    b->feed_count = px_plan_feed_count(plan);
    PX_TRY(PX_NEW(b->inputs, b->feed_count + 1, err));
    PX_TRY(PX_NEW(b->bytes, b->feed_count + 1, err));
    PX_TRY(PX_NEW(b->labels, batch, err));
    for (int64_t i = 0; i < batch && b->scores.classes > 0; i++)
        b->labels[i] = i % b->scores.classes;
    for (size_t f = 0; f < b->feed_count; f++) {
        const px_shape shape = px_plan_feed_shape(plan, f);
        const px_dtype declared = graph->values[graph->inputs[f]].dtype;
        const px_dtype dtype = declared == PX_NONE ? PX_FLOAT32 : declared;
        const bool real = dtype == PX_FLOAT32 || dtype == PX_FLOAT16 || dtype == PX_BFLOAT16;
        const size_t count = (size_t)px_shape_count(&shape);
        b->bytes[f] = count * (real ? sizeof(float) : px_dtype_size(dtype));
        char *input = NULL;
        PX_TRY(PX_NEW(input, b->bytes[f] + 1, err));
        b->inputs[f] = input;
        px_random r = px_rng(0, PX_RNG_BENCH, (uint32_t)f, 0);
        for (size_t i = 0; real && i < count; i++)
            ((float *)b->inputs[f])[i] = (float)px_rng_normal(&r);
    }
    return PX_OK;
}

static px_status bench_open(bench *b, const px_model *model, px_error *err)
{
    const px_bench_options *o = b->options;
    px_feed feed;
    px_plan_options wants = px_plan_options_default();
    pxi_task task = {.model = model, .threads = o->threads, .batch = o->batch};
    wants.input_grad = o->backward;
    if (o->backward)
        PX_TRY(px_model_scores(model, &b->scores, err));
    if (o->open && o->open->rank) {
        if (task.batch <= 0)
            task.batch = PXI_OPEN_BATCH;
        feed = (px_feed){.value = px_model_graph(model)->inputs[0], .shape = *o->open};
        feed.shape.dim[0] = task.batch;
        task.feeds = &feed;
        task.feed_count = 1;
    }
    return pxi_pass_open(&task, &wants, &(pxi_visitor){0}, &b->pass, err);
}

px_status px_bench(const px_model *model, const px_bench_options *options, px_bench_result *out,
                   px_error *err)
{
    bench b = {.options = options};
    double per_s = 0.0;
    px_status status = bench_open(&b, model, err);
    PX_THEN(status, bench_prepare(&b, err));
    PX_THEN(status, bench_measure(&b, &per_s, err));
    if (status == PX_OK) {
        const int64_t batch = pxi_pass_batch(b.pass);
        *out = (px_bench_result){.per_s = per_s,
                                 .batch = batch,
                                 .flops =
                                     (double)px_plan_flops(pxi_pass_plan(b.pass)) / (double)batch};
    }
    for (size_t f = 0; b.inputs && f < b.feed_count; f++)
        free(b.inputs[f]);
    free(b.inputs);
    free(b.bytes);
    free(b.labels);
    pxi_pass_close(b.pass);
    return status;
}
