/* src/attack/attack_worker.c - one lane: seats that fill, move and empty
 *
 * A lane has twice as many seats as its micro-batch has rows. Seats that want gradients share
 * batches with each other, and so do those that only want to be judged (an original, a result, a
 * rounded result): so no backward pass is wasted on the latter, and a seat that is done makes room
 * for the next input at once. Rows do not depend on their neighbours, so neither do results.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "attack/attack_seat.h"

#include "base/memory.h"
#include <internal/view_row.h>

#include <string.h>

typedef struct crew {
    pxi_attack_run *run;
    int64_t batch;
    size_t seat_count;
    pxi_seat *seats, **chosen;
    bool *wants, *mine; /* per chosen seat: gradients; this pass */
    float *pixels;      /* per seat */
    char *states;       /* per seat */
    float *scores;      /* per chosen seat */
    float *cotangent;   /* of one */
    float *net, *unit;  /* a gradient by the network's input, and by scaled units */
} crew;

/* The first seats that want steps, or that want to be judged; at most a batch. */
static int64_t crew_choose(crew *c, bool steps)
{
    int64_t count = 0;
    for (size_t i = 0; i < c->seat_count && count < c->batch; i++)
        if (c->seats[i].phase != SEAT_EMPTY && (c->seats[i].phase == SEAT_STEP) == steps)
            c->chosen[count++] = &c->seats[i];
    return count;
}

static px_status crew_forward(pxi_lane *lane, int64_t count, px_error *err)
{
    const crew *c = lane->state;
    const pxi_attack_run *run = c->run;
    const px_shape shape = px_dataset_shape(run->job->set);
    for (int64_t i = 0; i < count; i++) {
        float *to = pxi_lane_input(lane, i);
        memcpy(to, c->chosen[i]->seen.x, run->rule.count * sizeof *to);
        PX_TRY(px_preprocess_apply(run->job->pre, &shape, to, err));
        PX_TRY(pxi_lane_beside(lane, i, run->job->set, c->chosen[i]->row->input, err));
    }
    PX_TRY(pxi_lane_forward(lane, count, err));
    for (int64_t i = 0; i < count; i++) {
        PX_TRY(pxi_scores_row(lane->session, &run->scores, i, c->scores + i * run->scores.classes,
                              err));
        c->chosen[i]->row->forwards++;
    }
    return PX_OK;
}

static px_status crew_judge(pxi_lane *lane, int64_t count, px_error *err)
{
    const crew *c = lane->state;
    PX_TRY(crew_forward(lane, count, err));
    for (int64_t i = 0; i < count; i++)
        pxi_seat_judge(c->chosen[i], c->scores + i * c->run->scores.classes);
    return PX_OK;
}

/* Pass number `pass` for all that want it; *some is false where none does. */
static px_status crew_backward(pxi_lane *lane, int64_t count, int pass, bool *some, px_error *err)
{
    const crew *c = lane->state;
    const pxi_attack_run *run = c->run;
    const int classes = run->scores.classes;
    PX_TRY(px_session_seed_clear(lane->session, err));
    const px_place seed = px_session_seed(lane->session, run->scores.value);
    *some = false;
    for (int64_t i = 0; i < count; i++) {
        memset(c->cotangent, 0, (size_t)classes * sizeof *c->cotangent);
        c->mine[i] = c->wants[i] && run->method->seed(&c->chosen[i]->seen, pass, c->cotangent);
        *some |= c->mine[i];
        for (int k = 0; c->mine[i] && k < classes; k++)
            seed.data[i * seed.stride[0] + k * seed.stride[1]] = c->cotangent[k];
    }
    if (!*some)
        return PX_OK;
    PX_TRY(px_session_backward(lane->session, err));
    const px_view view = px_session_grad(lane->session, run->input);
    for (int64_t i = 0; i < count; i++) {
        pxi_seat *s = c->chosen[i];
        if (!c->mine[i])
            continue;
        pxi_view_row(&view, i, c->net, run->rule.count);
        s->row->flat |= pxi_seat_gradient(s, c->net, c->unit);
        s->row->backwards++;
        run->method->gradient(&s->seen, pass, c->unit);
    }
    return PX_OK;
}

static px_status crew_step(pxi_lane *lane, int64_t count, px_error *err)
{
    const crew *c = lane->state;
    const pxi_attack_run *run = c->run;
    bool some = false;
    PX_TRY(crew_forward(lane, count, err));
    for (int64_t i = 0; i < count; i++) {
        c->wants[i] = pxi_seat_look(c->chosen[i], c->scores + i * run->scores.classes);
        some |= c->wants[i];
    }
    for (int pass = 0; pass < run->passes && some; pass++)
        PX_TRY(crew_backward(lane, count, pass, &some, err));
    for (int64_t i = 0; i < count; i++) {
        pxi_seat *s = c->chosen[i];
        if (!c->wants[i])
            continue;
        if (run->method->move && !run->method->move(&s->seen))
            pxi_seat_settle(s, s->seen.scores); /* x is where it was judged */
        else if (++s->seen.step >= run->limit)
            s->phase = SEAT_EXACT;
    }
    return PX_OK;
}

/* --- the stream ------------------------------------------------------------------------------ */

static px_status lane_begin(pxi_lane *lane, size_t slot, int64_t place, px_error *err)
{
    const crew *c = lane->state;
    return pxi_seat_load(&c->seats[slot], place, err);
}

static px_status lane_step(pxi_lane *lane, px_error *err)
{
    crew *c = lane->state;
    const int64_t judged = crew_choose(c, /* steps= */ false);
    const int64_t steps = judged < c->batch ? crew_choose(c, true) : 0;
    if (judged > 0 && steps < c->batch)
        return crew_judge(lane, crew_choose(c, false), err);
    return crew_step(lane, steps, err);
}

static bool lane_done(const pxi_lane *lane, size_t slot)
{
    const crew *c = lane->state;
    return c->seats[slot].phase == SEAT_EMPTY;
}

px_status pxi_attack_work(pxi_attack_run *run, px_error *err)
{
    const pxi_stream stream = {.slots = 2 * (size_t)pxi_pass_batch(run->pass),
                               .begin = lane_begin,
                               .step = lane_step,
                               .done = lane_done};
    const pxi_share share = {.before = run->first, .each = 1, .total = run->out->count};
    const size_t pixels = run->rule.count;
    const pxi_left left = {.each = 1,
                           .count = run->samples,
                           .array = {{run->out->rows + run->first, sizeof *run->out->rows},
                                     {run->original, pixels * sizeof *run->original},
                                     {run->exact, pixels * sizeof *run->exact},
                                     {run->bytes, pixels}}};
    pxi_pass_leaves(run->pass, &left);
    return pxi_pass_stream(run->pass, run->samples, &share, &stream, err);
}

static px_status lane_open(pxi_lane *lane, px_error *err)
{
    pxi_attack_run *run = lane->context;
    crew *c = lane->state;
    const size_t count = run->rule.count, classes = (size_t)run->scores.classes;
    const size_t state = (run->state_bytes + 15) / 16 * 16;
    (void)err;
    c->run = run;
    c->batch = pxi_pass_batch(lane->pass);
    c->seat_count = 2 * (size_t)c->batch;
    c->seats = pxi_lane_array(lane, c->seat_count, sizeof *c->seats);
    c->chosen = pxi_lane_array(lane, (size_t)c->batch, sizeof(pxi_seat *));
    c->wants = pxi_lane_array(lane, (size_t)c->batch, sizeof *c->wants);
    c->mine = pxi_lane_array(lane, (size_t)c->batch, sizeof *c->mine);
    c->pixels = pxi_lane_array(lane, c->seat_count, count * sizeof *c->pixels);
    c->states = pxi_lane_array(lane, c->seat_count, state);
    c->scores = pxi_lane_array(lane, (size_t)c->batch, classes * sizeof *c->scores);
    c->cotangent = pxi_lane_array(lane, classes, sizeof *c->cotangent);
    c->net = pxi_lane_array(lane, count, sizeof *c->net);
    c->unit = pxi_lane_array(lane, count, sizeof *c->unit);
    for (size_t i = 0; c->seats && c->pixels && c->states && i < c->seat_count; i++) {
        c->seats[i].run = run;
        c->seats[i].seen =
            (pxi_slot){.run = run, .x = c->pixels + i * count, .state = c->states + i * state};
    }
    return PX_OK;
}

px_status pxi_attack_open(pxi_attack_run *run, px_error *err)
{
    const px_attack_job *job = run->job;
    const px_attack_options *o = &run->options;
    const pxi_task task = {.model = job->model,
                           .set = job->set,
                           .pre = job->pre,
                           .count = run->out->count,
                           .threads = o->threads,
                           .batch = o->batch,
                           .progress = o->progress,
                           .progress_context = o->progress_context};
    const pxi_visitor visitor = {.context = run, .state_size = sizeof(crew), .open = lane_open};
    px_plan_options wants;
    PX_TRY(pxi_wants_gradient(job->model, &run->scores, &run->input, &wants, err));
    wants.repeat = run->passes > 1;
    return pxi_pass_open(&task, &wants, &visitor, &run->pass, err);
}
