/* src/attack/attack_run.c - a run over all inputs: plan, chunks, workers */
/* SPDX-License-Identifier: Apache-2.0 */
#include "attack/attack_internal.h"

#include "base/memory.h"

#include <internal/attack.h>
#include <internal/data.h>
#include <internal/ranks.h>
#include <inttypes.h>
#include <plexor/system.h>
#include <stdlib.h>

static const size_t CHUNK_BYTES = (size_t)128 << 20; /* pixels that are held at a time */

/* Results are handed out so many at a time: what is lost when a run is killed. Each worker fills
 * its seats about twice, so that few stand idle at the end of a chunk; searches that end at the
 * goal are shorter and do not end together, which takes many more. */
enum { CHUNK_LEAST = 64, CHUNK_FILLS = 4, CHUNK_FILLS_EARLY = 64 };

/* --- before the run -------------------------------------------------------------------------- */

static px_status run_take_known(px_attack *a, const px_attack_job *job, px_error *err)
{
    if (job->known_count < 0 || job->known_count > a->count)
        return px_fail(err, PX_E_USAGE, "%" PRId64 " of %" PRId64 " results are known",
                       job->known_count, a->count);
    for (int64_t i = 0; i < job->known_count; i++) {
        if (job->known[i].input != a->rows[i].input || job->known[i].label != a->rows[i].label)
            return px_fail(err, PX_E_INPUT, "result %" PRId64 " that is known is of another input",
                           i);
        a->rows[i] = job->known[i];
    }
    return PX_OK;
}

static px_status run_rows(px_attack *a, const px_attack_job *job, px_error *err)
{
    const int64_t all = px_dataset_count(job->set);
    a->count = job->inputs ? job->count : all;
    PX_TRY(PX_NEW(a->rows, (size_t)PX_MAX(a->count, 1), err));
    for (int64_t i = 0; i < a->count; i++) {
        const int64_t input = job->inputs ? job->inputs[i] : i;
        if (input < 0 || input >= all)
            return px_fail(err, PX_E_USAGE, "there is no input %" PRId64, input);
        a->rows[i] = (px_attack_row){
            .input = input, .label = px_dataset_label(job->set, input), .target = -1};
    }
    return run_take_known(a, job, err);
}

static px_status run_check(const pxi_attack_run *run, px_error *err)
{
    const int classes = run->scores.classes;
    const px_attack_options *o = &run->options;
    if (classes < 2)
        return px_fail(err, PX_E_MISMATCH, "the network has %d class: there is no wrong one",
                       classes);
    if (px_dataset_has_labels(run->job->set))
        PX_TRY(px_dataset_check_labels(run->job->set, classes, err));
    if (o->goal == PX_GOAL_CLASS && (o->target < 0 || o->target >= classes))
        return px_fail(err, PX_E_USAGE,
                       "there is no class %" PRId64 " to aim at; the network has 0 to %d",
                       o->target, classes - 1);
    return PX_OK;
}

static px_status run_settings(pxi_attack_run *run, px_error *err)
{
    const px_attack_options *o = &run->options;
    const pxi_attack_method *method = run->method;
    const pxi_pixel_bounds bounds = {
        .step = method->shown.bounded ? o->step_size : 0.0,
        .distance = method->shown.bounded ? o->eps : o->high - o->low,
        .low = o->low,
        .high = o->high,
    };
    PX_TRY(px_entry_configure(&px_attacks, &method->shown.entry, o->settings, o->setting_count,
                              &run->config, err));
    pxi_pixel_rule_init(&run->rule, run->job->set, run->job->pre, &bounds);
    run->eps = run->rule.distance;
    run->step = run->rule.step;
    run->limit = method->limit ? method->limit(run) : o->steps;
    run->passes = method->passes ? method->passes(run) : 1;
    run->state_bytes = method->state_bytes ? method->state_bytes(run) : 0;
    run->early = o->stop_early || !method->shown.bounded;
    run->random = method->shown.restarts && !o->no_random;
    return PX_OK;
}

static px_status run_room(pxi_attack_run *run, px_error *err)
{
    const size_t count = run->rule.count;
    const size_t each = count * (2 * sizeof *run->original + sizeof *run->bytes);
    const int64_t fit = (int64_t)(CHUNK_BYTES / PX_MAX(each, 1)), batch = pxi_pass_batch(run->pass);
    const int workers = run->options.threads > 0 ? run->options.threads : px_cpu_count();
    const int ranks = pxi_ranks_together() ? pxi_rank_count() : 1;
    const int64_t fills = run->early ? CHUNK_FILLS_EARLY : CHUNK_FILLS;
    const int64_t chunk = PX_MAX(fills * batch * workers * ranks, CHUNK_LEAST);
    run->room = PX_MAX(PX_MIN(PX_MIN(fit, chunk), run->out->count), 2 * batch);
    run->original = pxi_calloc((size_t)run->room, count * sizeof *run->original);
    run->exact = pxi_calloc((size_t)run->room, count * sizeof *run->exact);
    if (run->out->rounds)
        run->bytes = pxi_calloc((size_t)run->room, count);
    if (!run->original || !run->exact || (run->out->rounds && !run->bytes))
        return pxi_no_memory_for(err, "the pixels of %" PRId64 " inputs", run->room);
    return PX_OK;
}

/* --- the run --------------------------------------------------------------------------------- */

static px_status run_emit(const pxi_attack_run *run, px_error *err)
{
    const px_attack_options *o = &run->options;
    for (int64_t i = 0; o->emit && i < run->samples; i++) {
        const size_t at = (size_t)i * run->rule.count;
        const px_attack_made made = {
            .row = &run->out->rows[run->first + i],
            .place = run->first + i,
            .original = run->original + at,
            .exact = run->exact + at,
            .bytes = run->bytes ? run->bytes + at : NULL,
        };
        PX_TRY(o->emit(o->emit_context, &made, err));
    }
    return PX_OK;
}

static px_status run_chunks(pxi_attack_run *run, px_error *err)
{
    px_attack *a = run->out;
    for (run->first = run->job->known_count; run->first < a->count; run->first += run->room) {
        run->samples = PX_MIN(run->room, a->count - run->first);
        const px_status status = pxi_attack_work(run, err);
        if (status == PX_E_CANCELLED)
            return px_fail(err, status, "interrupted after %" PRId64 " of %" PRId64 " inputs",
                           run->first, a->count);
        PX_TRY(status);
        const double start = px_clock_s();
        PX_TRY(run_emit(run, err));
        a->emit_seconds += px_clock_s() - start;
    }
    return PX_OK;
}

/* Targets that are all the true class: nothing was attacked. */
static px_status run_some(const px_attack *a, px_error *err)
{
    for (int64_t i = 0; i < a->count; i++)
        if (!a->rows[i].skipped)
            return PX_OK;
    return a->count == 0 ? PX_OK
                         : px_fail(err, PX_E_INPUT,
                                   "the target is the true class of every input; choose another");
}

static px_status run_all(pxi_attack_run *run, const px_attack_options *options, px_error *err)
{
    const px_attack_job *job = run->job;
    px_attack *a = run->out;
    run->options = *options;
    PX_TRY(px_attack_complete(&run->options, job->set, job->pre, err));
    run->method = pxi_attack_find(run->options.method, err);
    a->options = run->options;
    a->rounds = px_dataset_is_8bit(job->set) && !run->options.keep_float;
    PX_TRY(px_model_scores(job->model, &run->scores, err));
    a->classes = run->scores.classes;
    PX_TRY(run_check(run, err));
    PX_TRY(run_settings(run, err));
    PX_TRY(run_rows(a, job, err));
    if (a->count == job->known_count)
        return run_some(a, err);
    PX_TRY(pxi_attack_open(run, err));
    PX_TRY(run_room(run, err));
    PX_TRY(run_chunks(run, err));
    return run_some(a, err);
}

px_status px_attack_run(const px_attack_job *job, const px_attack_options *options, px_attack **out,
                        px_error *err)
{
    const double start = px_clock_s();
    px_attack *a = NULL;
    PX_TRY(PX_NEW(a, 1, err));
    pxi_attack_run run = {.job = job, .out = a};
    const px_status status = run_all(&run, options, err);
    pxi_pass_close(run.pass);
    free(run.original);
    free(run.exact);
    free(run.bytes);
    free(run.config);
    a->seconds = px_clock_s() - start - a->emit_seconds;
    return PX_GIVE(status, a, out, px_attack_free);
}

void px_attack_free(px_attack *a)
{
    if (!a)
        return;
    free(a->rows);
    free(a);
}

int64_t px_attack_count(const px_attack *a)
{
    return a->count;
}

const px_attack_row *px_attack_rows(const px_attack *a)
{
    return a->rows;
}

const px_attack_options *px_attack_used(const px_attack *a)
{
    return &a->options;
}

bool px_attack_rounds(const px_attack *a)
{
    return a->rounds;
}
