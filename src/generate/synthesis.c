/* src/generate/synthesis.c - inputs that excite chosen neurons: settings, chunks, sums */
/* SPDX-License-Identifier: Apache-2.0 */
#include "generate/synthesis_internal.h"

#include "base/memory.h"

#include <internal/data.h>
#include <internal/graph.h>
#include <internal/ranks.h>
#include <inttypes.h>
#include <math.h>
#include <plexor/system.h>
#include <stdlib.h>
#include <string.h>

static const size_t CHUNK_BYTES = (size_t)64 << 20; /* pixels that are held at a time */

/* Results are handed out so many at a time: what is lost when a run is killed. */
enum { CHUNK_LEAST = 64, CHUNK_BATCHES = 4 };

/* --- settings -------------------------------------------------------------------------------- */

px_synthesis_options px_synthesis_options_default(void)
{
    return (px_synthesis_options){.step = 1.0,
                                  .distance = (double)NAN,
                                  .low = (double)NAN,
                                  .high = (double)NAN,
                                  .iterations = 1};
}

pxi_pixel_bounds pxi_synthesis_bounds(const px_synthesis_options *options)
{
    return (pxi_pixel_bounds){options->step, options->distance, options->low, options->high};
}

px_status px_synthesis_complete(px_synthesis_options *options, const px_dataset *set,
                                const px_preprocess *pre, px_error *err)
{
    px_synthesis_options o = *options;
    PX_TRY(
        pxi_pixel_range(set, pre, px_dataset_is_8bit(set) && !o.keep_float, &o.low, &o.high, err));
    if (isnan(o.distance))
        o.distance = 0.1 * (o.high - o.low);
    if (!(o.distance > 0.0) || !isfinite(o.distance))
        return px_fail(err, PX_E_USAGE, "a distance of %g lets nothing change", o.distance);
    if (!isfinite(o.step) || o.step == 0.0)
        return px_fail(err, PX_E_USAGE, "a step of %g leads nowhere", o.step);
    if (o.iterations < 1 || o.iterations > 1000000)
        return px_fail(err, PX_E_USAGE, "%" PRId64 " iterations: expected 1 to 1000000",
                       o.iterations);
    *options = o;
    return PX_OK;
}

/* --- before the run -------------------------------------------------------------------------- */

static px_status job_check_lists(const px_synthesis_job *job, px_error *err)
{
    const size_t layers = px_probe_layer_count(job->probe);
    for (size_t l = 0; l < job->list_count; l++) {
        const px_synthesis_list *list = &job->lists[l];
        if (list->count < 1 || list->seeded > list->count)
            return px_fail(err, PX_E_USAGE, "list %zu has %zu neurons, of which %zu to raise", l,
                           list->count, list->seeded);
        for (size_t n = 0; n < list->count; n++) {
            const px_synthesis_neuron *neuron = &list->neurons[n];
            if (neuron->layer >= layers)
                return px_fail(err, PX_E_USAGE, "there is no chosen layer %zu", neuron->layer);
            const px_layer *layer = px_probe_layer(job->probe, neuron->layer);
            if (neuron->unit < 0 || neuron->unit >= layer->neuron_count)
                return px_fail(err, PX_E_USAGE,
                               "layer '%.100s' has neurons 0 to %" PRId64 ", not %" PRId64,
                               layer->name, layer->neuron_count - 1, neuron->unit);
        }
    }
    return PX_OK;
}

static px_status synthesis_take_known(px_synthesis *s, const px_synthesis_job *job, px_error *err)
{
    if (job->known_count < 0 || job->known_count > s->count)
        return px_fail(err, PX_E_USAGE, "%" PRId64 " of %" PRId64 " results are known",
                       job->known_count, s->count);
    for (int64_t i = 0; i < job->known_count; i++) {
        const px_synthesis_row *known = &job->known[i], *row = &s->rows[i];
        if (known->input != row->input || known->label != row->label || known->list != row->list ||
            known->neurons != row->neurons)
            return px_fail(err, PX_E_INPUT, "result %" PRId64 " that is known is of another input",
                           i);
        s->rows[i] = *known;
    }
    return PX_OK;
}

/* Room for the results, with what is known beforehand. */
static px_status synthesis_init(px_synthesis *s, const px_synthesis_job *job, px_error *err)
{
    s->count = job->count;
    PX_TRY(PX_NEW(s->rows, (size_t)PX_MAX(s->count, 1), err));
    PX_TRY(PX_NEW(s->rose_at, (size_t)s->count + 1, err));
    for (int64_t i = 0; i < s->count; i++) {
        const size_t list = job->list_of ? job->list_of[i] : 0;
        const int64_t input = job->inputs[i];
        if (list >= job->list_count)
            return px_fail(err, PX_E_USAGE, "there is no list %zu of neurons", list);
        if (input < 0 || input >= px_dataset_count(job->set))
            return px_fail(err, PX_E_USAGE, "there is no input %" PRId64, input);
        const px_synthesis_list *neurons = &job->lists[list];
        s->rows[i] = (px_synthesis_row){
            .input = input,
            .label = px_dataset_label(job->set, input),
            .list = list,
            .neurons = (int64_t)(neurons->seeded ? neurons->seeded : neurons->count),
        };
        s->rose_at[i + 1] = s->rose_at[i] + neurons->count;
    }
    PX_TRY(synthesis_take_known(s, job, err));
    return PX_NEW(s->rose, PX_MAX(s->rose_at[s->count], 1), err);
}

/* The tensors that the lists have neurons in, and the class scores behind them. */
static px_status run_values(pxi_synthesis_run *run, px_error *err)
{
    const px_synthesis_job *job = run->job;
    const size_t layers = px_probe_layer_count(job->probe);
    PX_TRY(PX_NEW(run->used, layers, err));
    PX_TRY(PX_NEW(run->values, layers + 1, err));
    for (size_t l = 0; l < job->list_count; l++)
        for (size_t n = 0; n < job->lists[l].count; n++)
            run->used[job->lists[l].neurons[n].layer] = true;
    for (size_t l = 0; l < layers; l++) {
        const int value = px_probe_layer(job->probe, l)->tap_value;
        size_t i = 0;
        while (i < run->value_count && run->values[i] != value)
            i++;
        if (run->used[l] && i == run->value_count)
            run->values[run->value_count++] = value;
    }
    run->values[run->value_count] = run->scores.value;
    return PX_OK;
}

/* Room for as many inputs as are made at a time: whole micro-batches. */
static px_status run_room(pxi_synthesis_run *run, px_error *err)
{
    const int64_t batch = pxi_pass_batch(run->pass);
    const size_t count = run->rule.count;
    const size_t each = count * (2 * sizeof *run->original + sizeof *run->bytes);
    const int64_t fit = (int64_t)(CHUNK_BYTES / PX_MAX(each, 1)) / batch * batch;
    const int64_t need = (run->out->count + batch - 1) / batch * batch;
    const int workers = run->out->options.threads > 0 ? run->out->options.threads : px_cpu_count();
    const int ranks = pxi_ranks_together() ? pxi_rank_count() : 1;
    const int64_t chunk =
        PX_MAX(CHUNK_BATCHES * workers * ranks, (CHUNK_LEAST + batch - 1) / batch) * batch;
    run->room = PX_MAX(PX_MIN(PX_MIN(fit, chunk), need), batch);
    run->original = pxi_calloc((size_t)run->room, count * sizeof *run->original);
    run->exact = pxi_calloc((size_t)run->room, count * sizeof *run->exact);
    run->spent = pxi_calloc((size_t)(run->room / batch), sizeof *run->spent);
    if (run->out->rounds)
        run->bytes = pxi_calloc((size_t)run->room, count);
    if (!run->original || !run->exact || !run->spent || (run->out->rounds && !run->bytes))
        return pxi_no_memory_for(err, "the pixels of %" PRId64 " inputs", run->room);
    return PX_OK;
}

/* --- the run --------------------------------------------------------------------------------- */

static px_status run_emit(const pxi_synthesis_run *run, int64_t samples, px_error *err)
{
    const px_synthesis_options *o = &run->out->options;
    for (int64_t i = 0; o->emit && i < samples; i++) {
        const size_t at = (size_t)i * run->rule.count;
        const px_synthesis_made made = {
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

static px_status run_chunks(pxi_synthesis_run *run, px_error *err)
{
    px_synthesis *s = run->out;
    const int64_t batches = run->room / pxi_pass_batch(run->pass);
    for (run->first = run->job->known_count; run->first < s->count; run->first += run->room) {
        const int64_t samples = PX_MIN(run->room, s->count - run->first);
        memset(run->spent, 0, (size_t)batches * sizeof *run->spent);
        const px_status status = pxi_synthesis_work(run, samples, err);
        if (status == PX_E_CANCELLED)
            return px_fail(err, status, "interrupted after %" PRId64 " of %" PRId64 " inputs",
                           run->first, s->count);
        PX_TRY(status);
        for (int64_t b = 0; b < batches; b++)
            for (int t = 0; t < SYNTHESIS_TIMES; t++)
                s->spent[t] += run->spent[b][t];
        const double start = px_clock_s();
        PX_TRY(run_emit(run, samples, err));
        s->emit_seconds += px_clock_s() - start;
    }
    return PX_OK;
}

static px_status run_all(pxi_synthesis_run *run, const px_synthesis_options *options, px_error *err)
{
    const px_synthesis_job *job = run->job;
    px_synthesis *s = run->out;
    s->options = *options;
    PX_TRY(px_synthesis_complete(&s->options, job->set, job->pre, err));
    if (px_model_takes_tokens(job->model))
        return px_fail(err, PX_E_UNSUPPORTED,
                       "the network takes token numbers, which cannot be changed a little");
    PX_TRY(px_model_scores(job->model, &run->scores, err));
    PX_TRY(px_dataset_check_labels(job->set, run->scores.classes, err));
    PX_TRY(job_check_lists(job, err));
    PX_TRY(synthesis_init(s, job, err));
    s->classes = run->scores.classes;
    s->rounds = px_dataset_is_8bit(job->set) && !s->options.keep_float;
    const pxi_pixel_bounds bounds = pxi_synthesis_bounds(&s->options);
    pxi_pixel_rule_init(&run->rule, job->set, job->pre, &bounds);
    run->wide = px_probe_neuron_count(job->probe);
    if (s->count == job->known_count)
        return PX_OK;
    PX_TRY(run_values(run, err));
    PX_TRY(pxi_synthesis_open(run, err));
    PX_TRY(run_room(run, err));
    return run_chunks(run, err);
}

px_status px_synthesize(const px_synthesis_job *job, const px_synthesis_options *options,
                        px_synthesis **out, px_error *err)
{
    const double start = px_clock_s();
    px_synthesis *s = NULL;
    PX_TRY(PX_NEW(s, 1, err));
    pxi_synthesis_run run = {.job = job, .out = s};
    const px_status status = run_all(&run, options, err);
    pxi_pass_close(run.pass);
    free(run.values);
    free(run.used);
    free(run.original);
    free(run.exact);
    free(run.bytes);
    free(run.spent);
    s->seconds = px_clock_s() - start - s->emit_seconds;
    return PX_GIVE(status, s, out, px_synthesis_free);
}

void px_synthesis_free(px_synthesis *s)
{
    if (!s)
        return;
    free(s->rows);
    free(s->rose_at);
    free(s->rose);
    free(s);
}

/* --- results --------------------------------------------------------------------------------- */

int64_t px_synthesis_count(const px_synthesis *s)
{
    return s->count;
}

const px_synthesis_row *px_synthesis_rows(const px_synthesis *s)
{
    return s->rows;
}

const uint8_t *px_synthesis_rose(const px_synthesis *s, int64_t place)
{
    return s->rose + s->rose_at[place];
}

const px_synthesis_options *px_synthesis_used(const px_synthesis *s)
{
    return &s->options;
}

bool px_synthesis_rounds(const px_synthesis *s)
{
    return s->rounds;
}

static px_synthesis_mean synthesis_mean(const px_synthesis *s, bool stored)
{
    px_synthesis_mean m = {0};
    const double n = (double)s->count;
    double neurons = 0.0;
    for (int64_t i = 0; i < s->count; i++) {
        const px_synthesis_form *f = stored ? &s->rows[i].stored : &s->rows[i].exact;
        m.accuracy += f->predicted == s->rows[i].label;
        m.loss += f->loss;
        m.l1 += f->l1;
        m.l2 += f->l2;
        m.linf += f->linf;
        m.linf_most = fmax(m.linf_most, f->linf);
        m.raised += (double)f->rose;
        neurons += (double)s->rows[i].neurons;
    }
    m.accuracy /= n; /* all NaN without inputs */
    m.loss /= n;
    m.l1 /= n;
    m.l2 /= n;
    m.linf /= n;
    m.raised /= neurons;
    return m;
}

px_synthesis_summary px_synthesis_sum(const px_synthesis *s)
{
    px_synthesis_summary sum = {
        .count = s->count,
        .exact = synthesis_mean(s, false),
        .stored = synthesis_mean(s, true),
        .forward_seconds = s->spent[SYNTHESIS_FORWARD],
        .backward_seconds = s->spent[SYNTHESIS_BACKWARD],
        .judge_seconds = s->spent[SYNTHESIS_JUDGE],
        .seconds = s->seconds,
        .emit_seconds = s->emit_seconds,
    };
    sum.other_seconds =
        s->spent[SYNTHESIS_ALL] - sum.forward_seconds - sum.backward_seconds - sum.judge_seconds;
    for (int c = 0; c < s->classes; c++) {
        bool some = false;
        for (int64_t i = 0; i < s->count && !some; i++)
            some = s->rows[i].label == c;
        sum.classes += some;
    }
    for (int64_t i = 0; i < s->count; i++) {
        sum.unchanged += s->rows[i].unchanged;
        sum.unchanged_stored += s->rows[i].unchanged_stored;
        sum.wrong_before += s->rows[i].before != s->rows[i].label;
        sum.loss_before += s->rows[i].loss_before / (double)s->count;
    }
    return sum;
}
