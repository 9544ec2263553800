/* src/generate/minimize_faults.c - faults of a campaign brought back towards their seeds, a fault
 * to a worker */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "generate/minimize_shrink.h"
#include <internal/pass.h>

#include <internal/engine.h>
#include <internal/minimize.h>
#include <internal/mutate.h>
#include <internal/store.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct fault_work { /* a fault to be shrunk */
    uint8_t *root;
    px_drawn *links;
    size_t link_count;
} fault_work;

typedef struct shrink_job {
    const px_shrink_options *options;
    const px_preprocess *pre;
    pxi_pass *pass;
    px_scores scores;
    px_shape shape; /* of an input */
    size_t size;
    px_styles *styles; /* that chains may take; NULL: none */
    fault_work *work;
    px_shrunk_fault *faults;
    size_t count;
} shrink_job;

px_shrink_options px_shrink_options_default(void)
{
    return (px_shrink_options){.executions = 20000};
}

void px_shrunk_done(px_shrunk_fault *fault)
{
    free(fault->chain);
    free(fault->pixels);
    *fault = (px_shrunk_fault){0};
}

/* --- asking the network ---------------------------------------------------------------------- */

typedef struct oracle {
    const shrink_job *job;
    px_session *session;
    int64_t label, only; /* only: the answer that counts; -1: any but the label */
    float *logits;
} oracle;

static px_status oracle_ask(const oracle *o, const uint8_t *pixels, int64_t *answer, px_error *err)
{
    const shrink_job *job = o->job;
    float *input = px_session_input(o->session, 0);
    for (size_t i = 0; i < job->size; i++)
        input[i] = (float)pixels[i];
    PX_TRY(px_preprocess_apply(job->pre, &job->shape, input, err));
    PX_TRY(px_session_forward(o->session, err));
    return px_session_judge(o->session, &job->scores, NULL, 1, answer, NULL, err);
}

static px_status oracle_errs(void *context, const uint8_t *pixels, bool *out, px_error *err)
{
    const oracle *o = context;
    int64_t answer = -1;
    PX_TRY(oracle_ask(o, pixels, &answer, err));
    *out = answer >= 0 && answer != o->label && (o->only < 0 || answer == o->only);
    return PX_OK;
}

/* Of what was asked last. */
static px_status oracle_confidence(const oracle *o, int64_t answer, double *out, px_error *err)
{
    const px_scores *scores = &o->job->scores;
    PX_TRY(px_session_read(o->session, scores->value, 1, o->logits, err));
    *out = scores->probabilities ? (double)o->logits[answer]
                                 : exp(-px_softmax_loss(o->logits, scores->classes, answer, NULL));
    return PX_OK;
}

/* --- one fault ------------------------------------------------------------------------------- */

static px_distance distance_between(const shrink_job *job, const uint8_t *root,
                                    const uint8_t *pixels)
{
    px_distance distance = {0};
    int64_t squares = 0;
    int most = 0;
    for (size_t i = 0; i < job->size; i++) {
        const int d = abs((int)pixels[i] - (int)root[i]);
        distance.l0 += d > 0;
        squares += d * d;
        most = PX_MAX(most, d);
    }
    distance.l2 = sqrt((double)squares) * (double)job->pre->scale;
    distance.linf = most * (double)job->pre->scale;
    return distance;
}

static px_status fault_chain(const fault_work *work, const bool *kept, px_shrunk_fault *fault,
                             px_error *err)
{
    px_drawn *left = NULL;
    PX_TRY(PX_NEW(left, work->link_count + 1, err));
    fault->links = 0;
    for (size_t i = 0; i < work->link_count; i++)
        if (kept[i])
            left[fault->links++] = work->links[i];
    fault->chain = px_chain_text(left, fault->links);
    free(left);
    return fault->chain ? PX_OK : pxi_no_memory(err);
}

static px_status fault_shrink(oracle *o, const fault_work *work, px_shrunk_fault *fault, bool *kept,
                              px_error *err)
{
    const shrink_job *job = o->job;
    const px_shape *shape = &job->shape;
    const bool picture = shape->rank == 3;
    int64_t answer = -1;
    fault->before = distance_between(job, work->root, fault->pixels);
    fault->after = fault->before;
    PX_TRY(oracle_ask(o, fault->pixels, &answer, err));
    fault->executions = 1;
    if (answer < 0 || answer == fault->label || answer != fault->prediction_before)
        return PX_OK;
    pxi_shrink shrink = {.channels = picture ? (int)shape->dim[0] : 1,
                         .height = picture ? (int)shape->dim[1] : 1,
                         .width = picture ? (int)shape->dim[2] : (int)job->size,
                         .root = work->root,
                         .now = fault->pixels,
                         .errs = oracle_errs,
                         .context = o,
                         .executions = 1,
                         .most = job->options->executions};
    PX_TRY(pxi_shrink_run(&shrink, work->links, work->link_count, kept, err));
    fault->errs = true;
    fault->after = distance_between(job, work->root, fault->pixels);
    PX_TRY(oracle_ask(o, fault->pixels, &fault->prediction, err)); /* what is handed out */
    PX_TRY(oracle_confidence(o, fault->prediction, &fault->confidence, err));
    fault->executions = shrink.executions + 1;
    return work->links ? fault_chain(work, kept, fault, err) : PX_OK;
}

static px_status shrink_one(void *context, pxi_lane *lane, int64_t i, px_error *err)
{
    shrink_job *job = context;
    const fault_work *work = &job->work[i];
    oracle o = {.job = job,
                .session = lane->session,
                .label = job->faults[i].label,
                .only = job->options->same_class ? job->faults[i].prediction_before : -1,
                .logits = lane->state};
    bool *kept = NULL;
    PX_TRY(PX_NEW(kept, work->link_count + 1, err));
    for (size_t k = 0; k < work->link_count; k++)
        kept[k] = true;
    pxi_lane_pad(lane, 0); /* a network may insist on more inputs than the one that is asked */
    const px_status status = fault_shrink(&o, work, &job->faults[i], kept, err);
    free(kept);
    return status == PX_OK ? PX_OK : px_fail_in(err, status, "failure %" PRId64, job->faults[i].id);
}

/* What a fault became, for other ranks: itself, its pixels, its chain. */
static px_status shrink_pack(void *context, int64_t i, px_text *to, px_error *err)
{
    const shrink_job *job = context;
    const px_shrunk_fault *fault = &job->faults[i];
    (void)err;
    px_text_add_bytes(to, (const char *)fault, sizeof *fault);
    px_text_add_bytes(to, (const char *)fault->pixels, job->size);
    if (fault->chain)
        px_text_add_bytes(to, fault->chain, strlen(fault->chain) + 1);
    return PX_OK;
}

static px_status shrink_unpack(void *context, int64_t i, const char *bytes, size_t size,
                               px_error *err)
{
    shrink_job *job = context;
    px_shrunk_fault *fault = &job->faults[i];
    uint8_t *pixels = fault->pixels;
    const size_t head = sizeof *fault + job->size;
    if (size < head || (size > head && bytes[size - 1] != '\0'))
        return px_fail(err, PX_E_INTERNAL, "another rank's failure cannot be read");
    memcpy(fault, bytes, sizeof *fault);
    fault->pixels = pixels;
    fault->chain = NULL;
    memcpy(pixels, bytes + sizeof *fault, job->size);
    if (size > head)
        PX_TRY(PX_DUP(fault->chain, bytes + head, err));
    return PX_OK;
}

/* --- all of them ----------------------------------------------------------------------------- */

static px_status shrink_read(px_campaign *campaign, int64_t id, const shrink_job *job,
                             fault_work *work, px_shrunk_fault *fault, px_error *err)
{
    px_campaign_input in, seed;
    bool replayable = false;
    fault->pixels = pxi_calloc(job->size, 1);
    work->root = pxi_calloc(job->size, 1);
    if (!fault->pixels || !work->root)
        return pxi_no_memory(err);
    PX_TRY(px_campaign_read(campaign, id, &in, fault->pixels, err));
    if (in.kind != PX_INPUT_FAULT)
        return px_fail(err, PX_E_USAGE, "'%s': input %" PRId64 " is no failure, it is %s",
                       px_campaign_folder(campaign), id,
                       in.kind == PX_INPUT_SEED ? "a seed" : "one that was kept");
    if (in.label < 0)
        return px_fail(err, PX_E_INPUT, "'%s': failure %" PRId64 " has no label",
                       px_campaign_folder(campaign), id);
    fault->id = id;
    fault->root = in.root;
    fault->label = in.label;
    fault->prediction_before = fault->prediction = in.prediction;
    fault->confidence = in.confidence;
    const px_status status =
        px_chain_parse(in.chain, &work->links, &work->link_count, &replayable, err);
    if (status != PX_OK)
        return px_fail_in(err, status, "'%s': the chain of input %" PRId64,
                          px_campaign_folder(campaign), id);
    for (size_t i = 0; i < work->link_count; i++)
        work->links[i].styles = job->styles;
    fault->links_before = fault->links = work->link_count;
    return px_campaign_read(campaign, fault->root, &seed, work->root, err);
}

static px_status shrink_check(px_campaign *campaign, const px_model *model, shrink_job *job,
                              px_error *err)
{
    const char *folder = px_campaign_folder(campaign);
    px_campaign_identity identity;
    if (!px_campaign_identity_get(campaign, &identity))
        return px_fail(err, PX_E_INPUT, "'%s': holds nothing yet", folder);
    if (identity.model_hash != px_model_hash(model))
        return px_fail(err, PX_E_MISMATCH, "'%s': was made with another model", folder);
    if (identity.dtype != PX_UINT8)
        return px_fail(err, PX_E_UNSUPPORTED,
                       "'%s': holds float inputs; only 8-bit ones go back level by level", folder);
    job->shape = identity.shape;
    job->size = px_campaign_size(campaign);
    return px_model_scores(model, &job->scores, err);
}

static px_status shrink_open(px_campaign *campaign, const px_model *model, shrink_job *job,
                             px_error *err)
{
    const pxi_task task = {.model = model,
                           .pre = job->pre,
                           .sample = job->shape,
                           .count = (int64_t)job->count,
                           .threads = job->options->threads,
                           .batch = 1, /* the answers come one after another */
                           .progress = job->options->progress,
                           .progress_context = job->options->progress_context};
    const pxi_visitor visitor = {.state_size = (size_t)job->scores.classes * sizeof(float)};
    const px_plan_options wants = pxi_wants_scores(&job->scores);
    PX_TRY(pxi_pass_open(&task, &wants, &visitor, &job->pass, err));
    const px_shape takes = px_plan_feed_shape(pxi_pass_plan(job->pass), 0);
    int64_t values = 1;
    for (int d = 1; d < takes.rank; d++)
        values *= takes.dim[d];
    return (size_t)values == job->size
               ? PX_OK
               : px_fail(err, PX_E_MISMATCH,
                         "'%s': its inputs have %zu values, the network takes %" PRId64,
                         px_campaign_folder(campaign), job->size, values);
}

static px_status shrink_work(px_campaign *campaign, const px_model *model, const int64_t *ids,
                             shrink_job *job, px_error *err)
{
    const pxi_share share = {.each = 1, .total = (int64_t)job->count};
    PX_TRY(shrink_check(campaign, model, job, err));
    PX_TRY(shrink_open(campaign, model, job, err));
    PX_TRY(px_campaign_get_styles(campaign, &job->styles, err));
    PX_TRY(PX_NEW(job->work, job->count + 1, err));
    for (size_t i = 0; i < job->count; i++)
        PX_TRY(shrink_read(campaign, ids[i], job, &job->work[i], &job->faults[i], err));
    const pxi_left left = {.context = job, .pack = shrink_pack, .unpack = shrink_unpack};
    pxi_pass_leaves(job->pass, &left);
    return pxi_pass_each(job->pass, share.total, &share, shrink_one, job, err);
}

px_status px_shrink_faults(px_campaign *campaign, const px_model *model, const px_preprocess *pre,
                           const int64_t *ids, size_t count, const px_shrink_options *options,
                           px_shrunk_fault *faults, px_error *err)
{
    shrink_job job = {.options = options, .pre = pre, .faults = faults, .count = count};
    memset(faults, 0, count * sizeof *faults);
    const px_status status = shrink_work(campaign, model, ids, &job, err);
    for (size_t i = 0; job.work && i < count; i++) {
        free(job.work[i].root);
        free(job.work[i].links);
    }
    free(job.work);
    px_styles_free(job.styles);
    pxi_pass_close(job.pass);
    for (size_t i = 0; status != PX_OK && i < count; i++)
        px_shrunk_done(&faults[i]);
    return status;
}

px_shrunk_means px_shrunk_sum(const px_shrunk_fault *faults, size_t count)
{
    px_shrunk_means m = {0};
    for (size_t i = 0; i < count; i++) {
        const px_shrunk_fault *fault = &faults[i];
        m.executions += fault->executions;
        if (!fault->errs)
            continue;
        m.count++;
        m.links[0] += (double)fault->links_before;
        m.links[1] += (double)fault->links;
        for (int k = 0; k < 2; k++) {
            const px_distance *d = k ? &fault->after : &fault->before;
            m.l0[k] += (double)d->l0;
            m.l2[k] += d->l2;
            m.linf[k] += d->linf;
        }
    }
    for (int k = 0; k < 2 && m.count; k++) {
        m.links[k] /= (double)m.count;
        m.l0[k] /= (double)m.count;
        m.l2[k] /= (double)m.count;
        m.linf[k] /= (double)m.count;
    }
    return m;
}
