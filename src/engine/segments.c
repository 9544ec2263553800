/* src/engine/segments.c - parts of a network by themselves, forward and back */
/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/segments.h"

#include "base/memory.h"

#include <internal/executor.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

typedef struct segment_plans { /* of one batch size; does not change once it is listed */
    int64_t batch;
    px_plan **plans;  /* per segment */
    px_shape *shapes; /* per value */
    struct segment_plans *next;
} segment_plans;

struct pxi_segments {
    pxi_segment *segments;
    size_t count, value_count;
    pxi_segment_shapes shapes;
    const void *context;
    pthread_mutex_t lock;
    segment_plans *first; /* under the lock */
};

static void plans_free(segment_plans *made, size_t count)
{
    if (!made)
        return;
    for (size_t i = 0; made->plans && i < count; i++)
        px_plan_free(made->plans[i]);
    free(made->plans);
    free(made->shapes);
    free(made);
}

px_status pxi_segments_new(const pxi_segment *segments, size_t count, int value_count,
                           pxi_segment_shapes shapes, const void *context, pxi_segments **out,
                           px_error *err)
{
    pxi_segments *made = NULL;
    PX_TRY(PX_NEW(made, 1, err));
    const px_status status = PX_NEW(made->segments, count, err);
    if (status != PX_OK) {
        free(made);
        return status;
    }
    memcpy(made->segments, segments, count * sizeof *segments);
    made->count = count;
    made->value_count = (size_t)value_count;
    made->shapes = shapes;
    made->context = context;
    pthread_mutex_init(&made->lock, NULL);
    *out = made;
    return PX_OK;
}

void pxi_segments_free(pxi_segments *segments)
{
    if (!segments)
        return;
    while (segments->first) {
        segment_plans *next = segments->first->next;
        plans_free(segments->first, segments->count);
        segments->first = next;
    }
    pthread_mutex_destroy(&segments->lock);
    free(segments->segments);
    free(segments);
}

static px_status segment_plan(const pxi_segment *segment, int64_t batch, const px_shape *shapes,
                              px_plan **out, px_error *err)
{
    px_feed *feeds = NULL;
    PX_TRY(PX_NEW(feeds, segment->in_count, err));
    for (int i = 0; i < segment->in_count; i++)
        feeds[i] = (px_feed){.value = segment->in[i], .shape = shapes[segment->in[i]]};
    px_plan_options options = px_plan_options_default();
    options.batch = batch;
    options.feeds = feeds;
    options.feed_count = (size_t)segment->in_count;
    options.keep = options.seeds = segment->out;
    options.keep_count = options.seed_count = (size_t)segment->out_count;
    options.wrt = segment->in;
    options.wrt_count = (size_t)segment->in_count;
    options.no_outputs = true;
    options.direct = true; /* sums of one sign keep it, and are zero where nothing is added */
    const px_status status = px_plan_new(segment->model, &options, out, err);
    free(feeds);
    return status;
}

static px_status plans_make(const pxi_segments *segments, int64_t batch, segment_plans **out,
                            px_error *err)
{
    segment_plans *made = NULL;
    PX_TRY(PX_NEW(made, 1, err));
    made->batch = batch;
    px_status status = PX_NEW(made->plans, segments->count, err);
    PX_THEN(status, PX_NEW(made->shapes, segments->value_count, err));
    PX_THEN(status, segments->shapes(segments->context, batch, made->shapes, err));
    for (size_t i = 0; status == PX_OK && i < segments->count; i++)
        if (segments->segments[i].model)
            status =
                segment_plan(&segments->segments[i], batch, made->shapes, &made->plans[i], err);
    if (status == PX_OK)
        *out = made;
    else
        plans_free(made, segments->count);
    return status;
}

/* Workers wait for the one that makes the plans. */
static px_status plans_get(pxi_segments *segments, int64_t batch, const segment_plans **out,
                           px_error *err)
{
    px_status status = PX_OK;
    pthread_mutex_lock(&segments->lock);
    segment_plans *made = segments->first;
    while (made && made->batch != batch)
        made = made->next;
    if (!made && (status = plans_make(segments, batch, &made, err)) == PX_OK) {
        made->next = segments->first;
        segments->first = made;
    }
    pthread_mutex_unlock(&segments->lock);
    *out = made;
    return status;
}

px_status pxi_segment_run_open(pxi_segments *segments, int64_t batch, pxi_segment_run *out,
                               px_error *err)
{
    const segment_plans *made = NULL;
    PX_TRY(plans_get(segments, batch, &made, err));
    *out =
        (pxi_segment_run){.plans = made->plans, .count = segments->count, .shapes = made->shapes};
    return PX_NEW(out->sessions, out->count, err);
}

px_status pxi_segment_run_begin(pxi_segment_run *run, const px_session *from, px_error *err)
{
    for (size_t i = 0; i < run->count; i++)
        if (run->plans[i] && !run->sessions[i])
            PX_TRY(pxi_session_beside(from, run->plans[i], &run->sessions[i], err));
    return PX_OK;
}

void pxi_segment_run_close(pxi_segment_run *run)
{
    for (size_t i = 0; run->sessions && i < run->count; i++)
        px_session_free(run->sessions[i]);
    free(run->sessions);
    *run = (pxi_segment_run){0};
}
