/* src/probe/trace_run.c - a data set through a network, its neurons to a file */
/* SPDX-License-Identifier: Apache-2.0 */
#include <internal/engine.h>
#include <internal/probe.h>
#include <plexor/trace.h>

#include "base/memory.h"
#include "probe/trace_writer.h"
#include <internal/lane_watch.h>

#include <plexor/system.h>
#include <stdlib.h>
#include <string.h>

typedef struct trace_run {
    const px_trace_job *job;
    px_scores scores;
    bool has_scores;
    pxi_trace_writer *writer; /* NULL: to nowhere */
    int64_t *labels, *predictions, *indices;
    bool *rejected; /* by input: rows that are not finite */
    int64_t batch;
    pxi_left left;
} trace_run;

typedef struct trace_lane {
    px_probe_watch watch; /* first */
    float *rows;          /* of a batch; NULL: there is no probe */
    bool *rejected;
} trace_lane;

static px_status trace_open(pxi_lane *lane, px_error *err)
{
    const trace_run *run = lane->context;
    const size_t batch = (size_t)pxi_pass_batch(lane->pass);
    trace_lane *own = lane->state;
    (void)err;
    if (!run->job->probe)
        return PX_OK;
    own->rows = pxi_lane_array(lane, batch,
                               (size_t)px_probe_neuron_count(run->job->probe) * sizeof *own->rows);
    own->rejected = pxi_lane_array(lane, batch, sizeof *own->rejected);
    return PX_OK;
}

static px_status trace_begin(pxi_lane *lane, const pxi_batch *batch, px_error *err)
{
    const trace_run *run = lane->context;
    trace_lane *own = lane->state;
    (void)err;
    own->watch =
        (px_probe_watch){.probe = run->job->probe, .samples = batch->count, .trace = own->rows};
    return PX_OK;
}

static px_status trace_visit(pxi_lane *lane, const pxi_batch *batch, px_error *err)
{
    trace_run *run = lane->context;
    const px_trace_job *job = run->job;
    const trace_lane *own = lane->state;
    if (own->rows) {
        px_probe_reject(job->probe, own->rows, batch->count, own->rejected);
        memcpy(run->rejected + batch->first, own->rejected,
               (size_t)batch->count * sizeof *run->rejected);
        if (run->writer)
            PX_TRY(pxi_trace_put(run->writer, batch->first, batch->count, own->rows, err));
    }
    for (int64_t i = batch->first; i < batch->first + batch->count; i++) {
        run->labels[i] = px_dataset_label(job->set, i);
        run->indices[i] = px_dataset_index(job->set, i);
    }
    if (!run->has_scores)
        return PX_OK;
    return px_session_judge(lane->session, &run->scores, NULL, batch->count,
                            run->predictions + batch->first, NULL, err);
}

/* The rows of a job, which are the batch's, from one spill file to the others. */
static px_status trace_pack(void *context, int64_t job, px_text *to, px_error *err)
{
    const trace_run *run = context;
    return pxi_trace_pack(run->writer, job * run->batch, run->batch, to, err);
}

static px_status trace_unpack(void *context, int64_t job, const char *bytes, size_t size,
                              px_error *err)
{
    const trace_run *run = context;
    return pxi_trace_unpack(run->writer, job * run->batch, bytes, size, err);
}

static px_status trace_pass(trace_run *run, pxi_pass **out, px_error *err)
{
    const px_trace_job *job = run->job;
    const pxi_task task = {.model = job->model,
                           .set = job->set,
                           .pre = job->pre,
                           .count = px_dataset_count(job->set),
                           .threads = job->run.threads,
                           .batch = pxi_probe_batch(job->probe, job->run.batch),
                           .progress = job->run.progress,
                           .progress_context = job->run.progress_context};
    const pxi_visitor visitor = {.context = run,
                                 .state_size = sizeof(trace_lane),
                                 .open = trace_open,
                                 .begin = trace_begin,
                                 .observe = job->probe ? pxi_lane_observe : NULL,
                                 .visit = trace_visit,
                                 .left = &run->left};
    px_plan_options wants = px_plan_options_default();
    const px_status scored = px_model_scores(job->model, &run->scores, err);
    if (scored == PX_E_NOMEM) /* else it has none, which is fine */
        return scored;
    run->has_scores = scored == PX_OK;
    wants.keep = &run->scores.value;
    wants.keep_count = run->has_scores ? 1 : 0;
    if (job->probe)
        wants.observe = px_probe_values(job->probe, &wants.observe_count);
    wants.no_outputs = run->has_scores || job->probe;
    PX_TRY(PX_NEW(run->labels, task.count, err));
    PX_TRY(PX_NEW(run->predictions, task.count, err));
    PX_TRY(PX_NEW(run->indices, task.count, err));
    PX_TRY(PX_NEW(run->rejected, task.count, err));
    run->left = (pxi_left){.array = {{run->labels, sizeof *run->labels},
                                     {run->predictions, sizeof *run->predictions},
                                     {run->indices, sizeof *run->indices},
                                     {run->rejected, sizeof *run->rejected}},
                           .context = run,
                           .pack = job->path ? trace_pack : NULL,
                           .unpack = job->path ? trace_unpack : NULL};
    return pxi_pass_open(&task, &wants, &visitor, out, err);
}

static px_status trace_all(trace_run *run, pxi_pass *pass, px_trace_facts *facts, px_error *err)
{
    const px_trace_job *job = run->job;
    const int64_t count = px_dataset_count(job->set);
    if (job->path)
        PX_TRY(pxi_trace_create(job->path, job->probe, count, &run->writer, err));
    run->batch = pxi_pass_batch(pass);
    const double start = px_clock_s();
    PX_TRY(pxi_pass_run(pass, err));
    int64_t not_finite = 0;
    for (int64_t i = 0; i < count; i++)
        not_finite += run->rejected[i];
    *facts = (px_trace_facts){.run = {.count = count,
                                      .batch = pxi_pass_batch(pass),
                                      .batch_baked = px_plan_batch_is_baked(pxi_pass_plan(pass))},
                              .not_finite = not_finite,
                              .seconds = px_clock_s() - start};
    if (!run->writer)
        return PX_OK;
    pxi_trace_writer *writer = run->writer;
    run->writer = NULL;
    return pxi_trace_commit(writer, px_dataset_has_labels(job->set) ? run->labels : NULL,
                            run->has_scores ? run->predictions : NULL, run->indices, err);
}

px_status px_trace(const px_trace_job *job, px_trace_facts *facts, px_error *err)
{
    trace_run run = {.job = job};
    px_trace_facts found = {0};
    pxi_pass *pass = NULL;
    if (job->path && !job->probe)
        return px_fail(err, PX_E_USAGE, "without neurons there is nothing to write to '%s'",
                       job->path);
    px_status status = trace_pass(&run, &pass, err);
    PX_THEN(status, trace_all(&run, pass, &found, err));
    if (status == PX_OK && facts)
        *facts = found;
    pxi_trace_abandon(run.writer);
    pxi_pass_close(pass);
    free(run.labels);
    free(run.predictions);
    free(run.indices);
    free(run.rejected);
    return status;
}
