/* src/select/prima_pass.c - a data set through all mutants, block by block
 *
 * The inputs of a block are read once and stay; then every changed network runs over all of them in
 * full batches, one network after the other, and last every input's own mutants run together
 * through the unchanged network. What is kept of a mutant's prediction is sums. They grow in the
 * order of the mutants, and each belongs to one input: who adds to them does not matter.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"
#include "base/memory.h"
#include "select/prima.h"
#include <internal/pass.h>

#include <internal/engine.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH_MOST = 64, BLOCK_MOST = 4096, BLOCK_BYTES = 64 << 20 };

typedef struct prima_lane {
    float *scores;   /* [batch][classes] */
    double *q;       /* [classes] */
    float *variants; /* [PXI_PRIMA_INPUT_RULES][floats] */
    float *pixels;   /* [floats] */
    int32_t *wrong;  /* [PXI_PRIMA_INPUT_RULES][classes] */
    int64_t *mutant; /* [batch], which are in the batch */
} prima_lane;

typedef struct prima_run {
    const pxi_prima_pass *pass;
    pxi_pass *lanes;   /* of the network as it is; the states are here */
    pxi_pass *changed; /* of a changed one, on the same workers */
    px_shape shape;
    size_t floats, classes;
    int64_t batch, block;
    pxi_prima_patch *patches;
    int64_t patch_count;
    /* the block at hand */
    int64_t first, count;
    pxi_prima_rule rule; /* of networks */
    px_arena *memory;    /* of the blocks */
    float *inputs;       /* [block][floats] */
    double *p;           /* [block][classes] */
    int32_t *predicted;
    pxi_prima_sum *sums; /* [block], of this rule */
    int32_t *wrong;      /* [block][classes] */
    float *features;     /* [block][PXI_PRIMA_WIDTH] */
    int64_t done, total; /* runs of a network on one input */
} prima_run;

static int64_t input_runs(const pxi_prima_settings *s, int64_t patches)
{
    return 1 + (int64_t)PXI_PRIMA_MODEL_RULES * s->mutants + PXI_PRIMA_INPUT_RULES * patches;
}

px_status pxi_prima_cost(const px_shape *shape, const pxi_prima_settings *settings, int64_t *runs,
                         px_error *err)
{
    pxi_prima_patch *patches = NULL;
    int64_t count = 0;
    PX_TRY(pxi_prima_patches(shape, settings->patch, settings->patches, settings->seed, &patches,
                             &count, err));
    free(patches);
    *runs = input_runs(settings, count);
    return PX_OK;
}

/* --- setting up ------------------------------------------------------------------------------ */

static px_status lane_open(pxi_lane *lane, px_error *err)
{
    const prima_run *r = lane->context;
    const size_t batch = (size_t)pxi_pass_batch(lane->pass);
    prima_lane *w = lane->state;
    (void)err;
    w->scores = pxi_lane_array(lane, batch, r->classes * sizeof *w->scores);
    w->q = pxi_lane_array(lane, r->classes, sizeof *w->q);
    w->variants = pxi_lane_array(lane, PXI_PRIMA_INPUT_RULES, r->floats * sizeof *w->variants);
    w->pixels = pxi_lane_array(lane, r->floats, sizeof *w->pixels);
    w->wrong = pxi_lane_array(lane, PXI_PRIMA_INPUT_RULES, r->classes * sizeof *w->wrong);
    w->mutant = pxi_lane_array(lane, batch, sizeof *w->mutant);
    return PX_OK;
}

static px_status run_open(prima_run *r, px_error *err)
{
    const pxi_prima_pass *pass = r->pass;
    pxi_task task = {.model = pxi_prima_net_model(pass->net),
                     .set = pass->set,
                     .pre = pass->pre,
                     .indices = pass->index,
                     .count = pass->count,
                     .threads = pass->threads,
                     .batch = pass->batch,
                     .max_batch = BATCH_MOST,
                     .progress = pass->progress,
                     .progress_context = pass->progress_context};
    const pxi_visitor visitor = {.context = r, .state_size = sizeof(prima_lane), .open = lane_open};
    px_plan_options wants = pxi_wants_scores(&pass->scores);
    PX_TRY(pxi_pass_open(&task, &wants, &visitor, &r->lanes, err));
    r->batch = pxi_pass_batch(r->lanes);
    wants.weights = pxi_prima_net_weights(pass->net);
    task.workers = pxi_pass_workers(r->lanes);
    task.batch = r->batch;
    return pxi_pass_open(&task, &wants, &(pxi_visitor){0}, &r->changed, err);
}

static px_status runner_blocks(prima_run *r, px_error *err)
{
    const size_t each = r->floats * sizeof *r->inputs + sizeof *r->sums +
                        r->classes * (sizeof *r->p + sizeof *r->wrong) +
                        PXI_PRIMA_WIDTH * sizeof *r->features;
    const int64_t fits = (int64_t)PX_MAX(BLOCK_BYTES / each, 1);
    r->block = PX_MIN(PX_MIN(fits, BLOCK_MOST), r->pass->count);
    r->block = (r->block + r->batch - 1) / r->batch * r->batch;
    const size_t block = (size_t)r->block;
    r->memory = pxi_arena_new();
    r->inputs = pxi_arena_alloc(r->memory, block, r->floats * sizeof *r->inputs);
    r->p = pxi_arena_alloc(r->memory, block, r->classes * sizeof *r->p);
    r->predicted = pxi_arena_alloc(r->memory, block, sizeof *r->predicted);
    r->sums = pxi_arena_alloc(r->memory, block, sizeof *r->sums);
    r->wrong = pxi_arena_alloc(r->memory, block, r->classes * sizeof *r->wrong);
    r->features = pxi_arena_alloc(r->memory, block, PXI_PRIMA_WIDTH * sizeof *r->features);
    return pxi_arena_whole(r->memory)
               ? PX_OK
               : pxi_no_memory_for(err, "%" PRId64 " inputs at a time", r->block);
}

/* --- the three steps of a block -------------------------------------------------------------- */

static int64_t index_of(const pxi_prima_pass *pass, int64_t i)
{
    return pass->index ? pass->index[i] : i;
}

static px_status run_batch(const prima_run *r, const prima_lane *w, px_session *session,
                           int64_t samples, px_error *err)
{
    PX_TRY(px_session_forward(session, err));
    return px_session_read(session, r->pass->scores.value, samples, w->scores, err);
}

/* Puts inputs [at, at + samples) of the block into the session, and nothing behind them. */
static void fill_batch(const prima_run *r, px_session *session, int64_t at, int64_t samples)
{
    float *to = px_session_input(session, 0);
    memcpy(to, r->inputs + (size_t)at * r->floats, (size_t)samples * r->floats * sizeof *to);
    memset(to + (size_t)samples * r->floats, 0,
           (size_t)(r->batch - samples) * r->floats * sizeof *to);
}

/* Step 1: reads a batch of inputs, and predicts them. */
static px_status job_read(void *context, pxi_lane *lane, int64_t number, px_error *err)
{
    const prima_run *r = context;
    prima_lane *w = lane->state;
    const pxi_prima_pass *pass = r->pass;
    const int64_t at = number * r->batch, samples = PX_MIN(r->batch, r->count - at);
    for (int64_t i = at; i < at + samples; i++)
        PX_TRY(pxi_lane_read(lane, r->first + i, r->inputs + (size_t)i * r->floats, err));
    fill_batch(r, lane->session, at, samples);
    PX_TRY(run_batch(r, w, lane->session, samples, err));
    for (int64_t i = 0; i < samples; i++) {
        const float *row = w->scores + (size_t)i * r->classes;
        double *p = r->p + (size_t)(at + i) * r->classes;
        bool finite = true;
        px_scores_probabilities(&pass->scores, row, p);
        for (size_t c = 0; c < r->classes; c++)
            finite &= isfinite(p[c]) != 0;
        r->predicted[at + i] = finite ? px_argmax(row, pass->scores.classes) : -1;
    }
    return PX_OK;
}

/* Step 2: a batch of inputs through the changed network. */
static px_status job_network(void *context, pxi_lane *lane, int64_t number, px_error *err)
{
    const prima_run *r = context;
    prima_lane *w = lane->state;
    const int64_t at = number * r->batch, samples = PX_MIN(r->batch, r->count - at);
    px_session *changed = pxi_pass_lane(r->changed, lane->number)->session;
    fill_batch(r, changed, at, samples);
    PX_TRY(run_batch(r, w, changed, samples, err));
    for (int64_t i = at; i < at + samples; i++) {
        const int c = r->predicted[i];
        if (c < 0)
            continue;
        px_scores_probabilities(&r->pass->scores, w->scores + (size_t)(i - at) * r->classes, w->q);
        const pxi_prima_outcome outcome =
            pxi_prima_compare(r->p + (size_t)i * r->classes, w->q, (int)r->classes, c);
        pxi_prima_add(&r->sums[i], r->wrong + (size_t)i * r->classes, &outcome, c);
    }
    return PX_OK;
}

/* What the rules make of the whole picture, as network inputs. */
static px_status make_variants(const prima_run *r, const prima_lane *w, int64_t index,
                               px_error *err)
{
    const pxi_prima_pass *pass = r->pass;
    const pxi_prima_settings *s = pass->settings;
    const bool bytes = px_dataset_is_8bit(pass->set);
    PX_TRY(px_dataset_pixels(pass->set, index, w->pixels, err));
    pxi_prima_variants(&r->shape, w->pixels, s->patch, s->noise, bytes ? 255.0f : 1.0f, bytes,
                       s->seed, (uint32_t)px_dataset_index(pass->set, index), w->variants);
    for (size_t v = 0; v < PXI_PRIMA_INPUT_RULES; v++)
        PX_TRY(px_preprocess_apply(pass->pre, &r->shape, w->variants + v * r->floats, err));
    return PX_OK;
}

typedef struct mutants { /* of one input: what waits for the batch to be full */
    const prima_run *r;
    prima_lane *w;
    px_session *session;
    const float *base;
    const double *p;
    int c;
    pxi_prima_sum sums[PXI_PRIMA_INPUT_RULES];
    int64_t waiting;
} mutants;

static void mutants_add(mutants *m, int64_t mutant, const double *q)
{
    const size_t rule = (size_t)(mutant / m->r->patch_count);
    const pxi_prima_outcome outcome = pxi_prima_compare(m->p, q, (int)m->r->classes, m->c);
    pxi_prima_add(&m->sums[rule], m->w->wrong + rule * m->r->classes, &outcome, m->c);
}

/* Runs what waits; then each place of the batch holds the input itself again. */
static px_status mutants_run(mutants *m, px_error *err)
{
    const prima_run *r = m->r;
    const prima_lane *w = m->w;
    float *to = px_session_input(m->session, 0);
    if (m->waiting == 0)
        return PX_OK;
    PX_TRY(run_batch(r, w, m->session, m->waiting, err));
    for (int64_t k = 0; k < m->waiting; k++) {
        px_scores_probabilities(&r->pass->scores, w->scores + (size_t)k * r->classes, w->q);
        mutants_add(m, w->mutant[k], w->q);
        pxi_prima_patch_copy(&r->shape, r->pass->pre->channels_last,
                             &r->patches[w->mutant[k] % r->patch_count], m->base,
                             to + (size_t)k * r->floats);
    }
    m->waiting = 0;
    return PX_OK;
}

/* Step 3: all mutants of one input. Each place of the batch holds the input itself; a mutant's
 * patch is put there for one run. Where a rule changes nothing (black made black), the prediction
 * is known. */
static px_status job_input(void *context, pxi_lane *lane, int64_t i, px_error *err)
{
    const prima_run *r = context;
    prima_lane *w = lane->state;
    const pxi_prima_pass *pass = r->pass;
    const bool channels_last = pass->pre->channels_last;
    mutants m = {.r = r,
                 .w = w,
                 .session = lane->session,
                 .base = r->inputs + (size_t)i * r->floats,
                 .p = r->p + (size_t)i * r->classes,
                 .c = r->predicted[i]};
    float *to = pxi_lane_input(lane, 0);
    if (m.c < 0)
        return PX_OK;
    PX_TRY(make_variants(r, w, index_of(pass, r->first + i), err));
    memset(w->wrong, 0, PXI_PRIMA_INPUT_RULES * r->classes * sizeof *w->wrong);
    for (int64_t k = 0; k < r->batch; k++)
        memcpy(to + (size_t)k * r->floats, m.base, r->floats * sizeof *to);
    for (int64_t mutant = 0; mutant < PXI_PRIMA_INPUT_RULES * r->patch_count; mutant++) {
        const pxi_prima_patch *patch = &r->patches[mutant % r->patch_count];
        const float *variant = w->variants + (size_t)(mutant / r->patch_count) * r->floats;
        if (pxi_prima_patch_same(&r->shape, channels_last, patch, m.base, variant)) {
            mutants_add(&m, mutant, m.p);
            continue;
        }
        pxi_prima_patch_copy(&r->shape, channels_last, patch, variant,
                             to + (size_t)m.waiting * r->floats);
        w->mutant[m.waiting++] = mutant;
        if (m.waiting == r->batch)
            PX_TRY(mutants_run(&m, err));
    }
    PX_TRY(mutants_run(&m, err));
    for (size_t rule = 0; rule < PXI_PRIMA_INPUT_RULES; rule++)
        pxi_prima_features(&m.sums[rule], w->wrong + rule * r->classes, (int)r->classes,
                           r->features + (size_t)i * PXI_PRIMA_WIDTH +
                               (PXI_PRIMA_MODEL_RULES + rule) * PXI_PRIMA_FEATURES);
    return PX_OK;
}

/* --- the whole ------------------------------------------------------------------------------- */

static px_status run_step(prima_run *r, pxi_job_fn job, int64_t jobs, int64_t runs, px_error *err)
{
    const pxi_share share = {.before = r->done, .each = runs / jobs, .total = r->total};
    PX_TRY(pxi_pass_each(r->lanes, jobs, &share, job, r, err));
    r->done += runs;
    return PX_OK;
}

static px_status run_networks(prima_run *r, px_error *err)
{
    const pxi_prima_settings *s = r->pass->settings;
    const int64_t jobs = (r->count + r->batch - 1) / r->batch;
    memset(r->sums, 0, (size_t)r->count * sizeof *r->sums);
    memset(r->wrong, 0, (size_t)r->count * r->classes * sizeof *r->wrong);
    for (uint32_t m = 0; m < (uint32_t)s->mutants; m++) {
        pxi_prima_net_mutate(r->pass->net, r->rule, s->ratio, s->gf_scale, s->seed, m);
        PX_TRY(px_plan_refresh(pxi_pass_plan(r->changed), err));
        PX_TRY(run_step(r, job_network, jobs, r->count, err));
    }
    for (int64_t i = 0; i < r->count; i++)
        pxi_prima_features(&r->sums[i], r->wrong + (size_t)i * r->classes, (int)r->classes,
                           r->features + (size_t)i * PXI_PRIMA_WIDTH +
                               (size_t)r->rule * PXI_PRIMA_FEATURES);
    return PX_OK;
}

static px_status run_block(prima_run *r, px_error *err)
{
    const pxi_prima_pass *pass = r->pass;
    const int64_t batches = (r->count + r->batch - 1) / r->batch;
    PX_TRY(run_step(r, job_read, batches, r->count, err));
    for (int rule = 0; rule < PXI_PRIMA_MODEL_RULES; rule++) {
        r->rule = (pxi_prima_rule)rule;
        PX_TRY(run_networks(r, err));
    }
    PX_TRY(
        run_step(r, job_input, r->count, PXI_PRIMA_INPUT_RULES * r->patch_count * r->count, err));
    for (int64_t i = 0; i < r->count; i++) {
        const int c = r->predicted[i];
        const pxi_prima_row row = {
            .index = index_of(pass, r->first + i),
            .predicted = c,
            .confidence = c < 0 ? NAN : (float)r->p[(size_t)i * r->classes + (size_t)c],
            .features = r->features + (size_t)i * PXI_PRIMA_WIDTH};
        PX_TRY(pass->visit(pass->context, &row, err));
    }
    return PX_OK;
}

px_status pxi_prima_run(const pxi_prima_pass *pass, px_error *err)
{
    prima_run r = {.pass = pass,
                   .shape = px_dataset_shape(pass->set),
                   .classes = (size_t)pass->scores.classes};
    r.floats = (size_t)px_shape_count(&r.shape);
    px_status status = pxi_prima_patches(&r.shape, pass->settings->patch, pass->settings->patches,
                                         pass->settings->seed, &r.patches, &r.patch_count, err);
    PX_THEN(status, run_open(&r, err));
    PX_THEN(status, runner_blocks(&r, err));
    r.total = pass->count * input_runs(pass->settings, r.patch_count);
    for (; r.first < pass->count && status == PX_OK; r.first += r.count) {
        r.count = PX_MIN(r.block, pass->count - r.first);
        status = run_block(&r, err);
    }
    pxi_pass_close(r.changed);
    pxi_pass_close(r.lanes);
    pxi_arena_free(r.memory);
    free(r.patches);
    return status;
}
