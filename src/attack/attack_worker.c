/* src/attack/attack_worker.c - one worker: seats that fill, move and empty
 *
 * A worker has twice as many seats as its micro-batch has rows. Seats that want gradients share
 * batches with each other, and so do those that only want to be judged (an original, a result, a
 * rounded result): so no backward pass is wasted on the latter, and a seat that is done makes room
 * for the next input at once. Rows do not depend on their neighbours, so neither do results.
 */
#include "attack/attack_seat.h"

#include "base/memory.h"
#include "engine/view_row.h"

#include <stdlib.h>
#include <string.h>

typedef struct crew {
    pxi_attack_run *run;
    px_session *session;
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

static size_t crew_state_bytes(const pxi_attack_run *run)
{
    return (run->state_bytes + 15) / 16 * 16;
}

/* Inputs are handed out in ascending order, and all that were are tried: so the first that fails is
 * the same for any number of workers. */
static px_status crew_load(crew *c, pxi_seat *seat, int64_t place, px_error *err)
{
    pxi_attack_run *run = c->run;
    px_error own = {0};
    const px_status status = pxi_seat_load(seat, place, &own);
    if (status == PX_OK)
        return PX_OK;
    pthread_mutex_lock(&run->lock);
    if (run->failed < 0 || place < run->failed) {
        run->failed = place;
        run->failure = own;
    }
    pthread_mutex_unlock(&run->lock);
    if (err)
        *err = own;
    return status;
}

static px_status crew_fill(crew *c, px_error *err)
{
    for (size_t i = 0; i < c->seat_count; i++) {
        if (c->seats[i].phase != SEAT_EMPTY)
            continue;
        if (atomic_load(&c->run->next) >= c->run->samples)
            return PX_OK;
        const int64_t place = atomic_fetch_add(&c->run->next, 1);
        if (place >= c->run->samples)
            return PX_OK;
        PX_TRY(crew_load(c, &c->seats[i], place, err));
    }
    return PX_OK;
}

/* The first seats that want steps, or that want to be judged; at most a batch. */
static int64_t crew_choose(crew *c, bool steps)
{
    int64_t count = 0;
    for (size_t i = 0; i < c->seat_count && count < c->batch; i++)
        if (c->seats[i].phase != SEAT_EMPTY && (c->seats[i].phase == SEAT_STEP) == steps)
            c->chosen[count++] = &c->seats[i];
    return count;
}

static px_status crew_forward(crew *c, int64_t count, px_error *err)
{
    const pxi_attack_run *run = c->run;
    const px_shape shape = px_dataset_shape(run->job->set);
    const size_t size = run->rule.count;
    float *to = px_session_input(c->session, 0);
    for (int64_t i = 0; i < count; i++, to += size) {
        memcpy(to, c->chosen[i]->seen.x, size * sizeof *to);
        PX_TRY(px_preprocess_apply(run->job->pre, &shape, to, err));
    }
    memset(to, 0, (size_t)(c->batch - count) * size * sizeof *to);
    PX_TRY(px_session_forward(c->session, err));
    const px_view view = px_session_view(c->session, run->scores.value);
    const int classes = run->scores.classes;
    for (int64_t i = 0; i < count; i++) {
        for (int k = 0; k < classes; k++)
            c->scores[i * classes + k] = view.data[i * view.stride[0] + k * view.stride[1]];
        c->chosen[i]->row->forwards++;
    }
    return PX_OK;
}

static px_status crew_judge(crew *c, int64_t count, px_error *err)
{
    PX_TRY(crew_forward(c, count, err));
    for (int64_t i = 0; i < count; i++)
        pxi_seat_judge(c->chosen[i], c->scores + i * c->run->scores.classes);
    return PX_OK;
}

/* Pass number `pass` for all that want it; *some is false where none does. */
static px_status crew_backward(crew *c, int64_t count, int pass, bool *some, px_error *err)
{
    const pxi_attack_run *run = c->run;
    const int classes = run->scores.classes;
    PX_TRY(px_session_seed_clear(c->session, err));
    const px_place seed = px_session_seed(c->session, run->scores.value);
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
    PX_TRY(px_session_backward(c->session, err));
    const px_view view = px_session_grad(c->session, run->input);
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

static px_status crew_step(crew *c, int64_t count, px_error *err)
{
    const pxi_attack_run *run = c->run;
    bool some = false;
    PX_TRY(crew_forward(c, count, err));
    for (int64_t i = 0; i < count; i++) {
        c->wants[i] = pxi_seat_look(c->chosen[i], c->scores + i * run->scores.classes);
        some |= c->wants[i];
    }
    for (int pass = 0; pass < run->passes && some; pass++)
        PX_TRY(crew_backward(c, count, pass, &some, err));
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

static px_status crew_work(crew *c, px_error *err)
{
    while (!atomic_load(&c->run->stop)) {
        PX_TRY(crew_fill(c, err));
        int64_t judged = crew_choose(c, /* steps= */ false);
        const int64_t steps = judged < c->batch ? crew_choose(c, true) : 0;
        if (judged == 0 && steps == 0)
            break;
        if (judged > 0 && steps < c->batch) {
            judged = crew_choose(c, false);
            PX_TRY(crew_judge(c, judged, err));
        } else {
            PX_TRY(crew_step(c, steps, err));
        }
    }
    return PX_OK;
}

static bool crew_init(crew *c)
{
    const pxi_attack_run *run = c->run;
    const size_t batch = (size_t)c->batch, classes = (size_t)run->scores.classes;
    const size_t state = crew_state_bytes(run);
    c->seat_count = 2 * batch;
    c->seats = pxi_calloc(c->seat_count, sizeof *c->seats);
    c->chosen = pxi_calloc(batch, sizeof *c->chosen);
    c->wants = pxi_calloc(batch, sizeof *c->wants);
    c->mine = pxi_calloc(batch, sizeof *c->mine);
    c->pixels = pxi_calloc(c->seat_count, run->rule.count * sizeof *c->pixels);
    c->states = pxi_calloc(c->seat_count, PX_MAX(state, 1));
    c->scores = pxi_calloc(batch, classes * sizeof *c->scores);
    c->cotangent = pxi_calloc(classes, sizeof *c->cotangent);
    c->net = pxi_calloc(run->rule.count, sizeof *c->net);
    c->unit = pxi_calloc(run->rule.count, sizeof *c->unit);
    if (!c->seats || !c->chosen || !c->wants || !c->mine || !c->pixels || !c->states ||
        !c->scores || !c->cotangent || !c->net || !c->unit)
        return false;
    for (size_t i = 0; i < c->seat_count; i++) {
        c->seats[i].run = c->run;
        c->seats[i].seen = (pxi_slot){
            .run = run, .x = c->pixels + i * run->rule.count, .state = c->states + i * state};
    }
    return true;
}

px_status pxi_attack_work(void *context, int worker, int64_t index, px_error *err)
{
    pxi_attack_run *run = context;
    crew c = {.run = run, .session = run->sessions[worker], .batch = px_plan_batch(run->plan)};
    (void)index;
    px_status status = PX_OK;
    if (atomic_load(&run->next) < run->samples)
        status = crew_init(&c) ? crew_work(&c, err) : px_fail(err, PX_E_NOMEM, "out of memory");
    if (status != PX_OK)
        atomic_store(&run->stop, true);
    free(c.seats);
    free(c.chosen);
    free(c.wants);
    free(c.mine);
    free(c.pixels);
    free(c.states);
    free(c.scores);
    free(c.cotangent);
    free(c.net);
    free(c.unit);
    return status;
}
