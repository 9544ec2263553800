/* src/train/adversary_batch.c - attacks on the inputs of one training step (spec F.2, E.1-E.3)
 *
 * The network is compiled a second time, in evaluation mode and with gradients to its input, on the
 * weights that training moves. What a step replaces is packed into micro-batches of one size, a job
 * each; a job takes its inputs through all steps of the attack. The forward pass of the last result
 * is the training step's own: the attack never looks at where it ended.
 */
#include "train/adversary.h"

#include "attack/attack_inside.h"
#include "base/memory.h"
#include "base/worker_pool.h"
#include "engine/sample_plan.h"
#include "engine/view_row.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BASE, ADDED, SIDES };

typedef struct adversary_crew { /* one worker's own */
    px_session *session;
    float *original, *x;       /* levels, per row of the micro-batch */
    float *net, *unit;         /* a gradient, per value of one input */
    float *scores, *cotangent; /* per row and class; per class */
    pxi_slot *slots;           /* per row */
    int64_t odd;
} adversary_crew;

struct pxi_adversary {
    pxi_adversary_job job;
    px_adversary settings;
    pxi_attack_run run[SIDES]; /* what the attack's own functions want to know */
    px_shape shape;
    size_t floats; /* per input */
    px_plan *plan;
    int input; /* value */
    px_pool *pool;
    adversary_crew *crews;
    int crew_count;

    int64_t step;
    int64_t count;      /* of positions that are replaced */
    int64_t *positions; /* ascending */
    int64_t *place;     /* per position of the batch: where in `inputs`; -1: not replaced */
    float *inputs;      /* preprocessed */
};

/* --- making ------------------------------------------------------------------------------------
 */

static bool adversary_has_side(const pxi_adversary *a, int side)
{
    const px_feeder_counts counts = px_feeder_count(a->job.feeder);
    return (side == ADDED ? counts.added : counts.base) > 0;
}

static void adversary_rules(pxi_adversary *a, const pxi_attack_method *method)
{
    const pxi_pixel_bounds bounds = {
        .step = a->settings.step_size,
        .distance = a->settings.eps,
        .low = a->settings.low,
        .high = a->settings.high,
    };
    for (int side = BASE; side < SIDES; side++) {
        pxi_attack_run *run = &a->run[side];
        if (!adversary_has_side(a, side))
            continue;
        pxi_pixel_rule_of(&run->rule, &a->shape, px_feeder_preprocess(a->job.feeder, side == ADDED),
                          &bounds);
        run->method = method;
        run->options = px_attack_options_default();
        run->options.method = a->settings.method;
        run->options.norm = PX_NORM_LINF;
        run->scores = *a->job.scores;
        run->eps = run->rule.distance;
        run->step = run->rule.step;
        run->limit = a->settings.steps;
        run->passes = 1;
        run->random = method->shown.restarts;
    }
}

static px_status adversary_plan(pxi_adversary *a, bool channels_last, px_error *err)
{
    const pxi_gradient_wish wish = {
        .model = a->job.model,
        .sample = a->shape,
        .channels_last = channels_last,
        .scores = a->job.scores->value,
        .batch = a->job.micro_batch,
        .most = px_feeder_batch(a->job.feeder),
        .weights = a->job.weights,
    };
    return pxi_sample_gradients(&wish, &a->input, &a->plan, err);
}

static px_status crew_init(const pxi_adversary *a, adversary_crew *c, px_error *err)
{
    const size_t rows = (size_t)px_plan_batch(a->plan), classes = (size_t)a->job.scores->classes;
    c->original = pxi_calloc(rows, a->floats * sizeof *c->original);
    c->x = pxi_calloc(rows, a->floats * sizeof *c->x);
    c->net = pxi_calloc(a->floats, sizeof *c->net);
    c->unit = pxi_calloc(a->floats, sizeof *c->unit);
    c->scores = pxi_calloc(rows, classes * sizeof *c->scores);
    c->cotangent = pxi_calloc(classes, sizeof *c->cotangent);
    c->slots = pxi_calloc(rows, sizeof *c->slots);
    if (!c->original || !c->x || !c->net || !c->unit || !c->scores || !c->cotangent || !c->slots)
        return px_fail(err, PX_E_NOMEM, "out of memory for attacks");
    return px_session_new(a->plan, &c->session, err);
}

static void crew_done(adversary_crew *c)
{
    px_session_free(c->session);
    free(c->original);
    free(c->x);
    free(c->net);
    free(c->unit);
    free(c->scores);
    free(c->cotangent);
    free(c->slots);
}

static px_status adversary_room(pxi_adversary *a, px_error *err)
{
    const size_t batch = (size_t)px_feeder_batch(a->job.feeder);
    const size_t most = (size_t)llround(a->settings.share * (double)batch);
    if (most < 1)
        return px_fail(err, PX_E_USAGE,
                       "a share of %g is less than one attacked input in a batch of %zu",
                       a->settings.share, batch);
    a->positions = pxi_calloc(batch, sizeof *a->positions);
    a->place = pxi_calloc(batch, sizeof *a->place);
    a->inputs = pxi_calloc(most, a->floats * sizeof *a->inputs);
    if (!a->positions || !a->place || !a->inputs)
        return px_fail(err, PX_E_NOMEM, "out of memory for %zu attacked inputs", most);
    PX_TRY(pxi_pool_new(a->job.threads, &a->pool, err));
    const int threads = pxi_pool_threads(a->pool);
    a->crews = pxi_calloc((size_t)threads, sizeof *a->crews);
    if (!a->crews)
        return px_fail(err, PX_E_NOMEM, "out of memory");
    a->crew_count = threads;
    for (int i = 0; i < threads; i++)
        PX_TRY(crew_init(a, &a->crews[i], err));
    return PX_OK;
}

static px_status adversary_setup(pxi_adversary *a, px_error *err)
{
    const px_feeder *feeder = a->job.feeder;
    const px_feeder_item first = px_feeder_item_at(feeder, 0, 0);
    const px_preprocess *pre = px_feeder_preprocess(feeder, first.added);
    if (a->job.scores->classes < 2)
        return px_fail(err, PX_E_MISMATCH, "the network has %d class: there is no wrong one",
                       a->job.scores->classes);
    a->shape = px_feeder_shape(feeder);
    a->floats = px_feeder_floats(feeder);
    PX_TRY(px_adversary_complete(&a->settings, first.set, pre, err));
    const pxi_attack_method *method = pxi_attack_find(a->settings.method, err);
    if (!method)
        return PX_E_USAGE;
    adversary_rules(a, method);
    PX_TRY(adversary_plan(a, pre->channels_last, err));
    return adversary_room(a, err);
}

px_status pxi_adversary_new(const pxi_adversary_job *job, px_adversary *settings,
                            pxi_adversary **out, px_error *err)
{
    pxi_adversary *a = pxi_calloc(1, sizeof *a);
    if (!a)
        return px_fail(err, PX_E_NOMEM, "out of memory");
    a->job = *job;
    a->settings = *settings;
    const px_status status = adversary_setup(a, err);
    if (status != PX_OK) {
        pxi_adversary_free(a);
        return status;
    }
    *settings = a->settings;
    *out = a;
    return PX_OK;
}

void pxi_adversary_free(pxi_adversary *a)
{
    if (!a)
        return;
    for (int i = 0; i < a->crew_count; i++)
        crew_done(&a->crews[i]);
    free(a->crews);
    pxi_pool_free(a->pool);
    px_plan_free(a->plan);
    free(a->positions);
    free(a->place);
    free(a->inputs);
    free(a);
}

/* --- one micro-batch ---------------------------------------------------------------------------
 */

static px_status crew_load(const pxi_adversary *a, adversary_crew *c, int64_t row, int64_t position,
                           px_error *err)
{
    const px_feeder_item item = px_feeder_item_at(a->job.feeder, a->step, position);
    const pxi_attack_run *run = &a->run[item.added ? ADDED : BASE];
    float *original = c->original + (size_t)row * a->floats, *x = c->x + (size_t)row * a->floats;
    int64_t label;
    PX_TRY(px_feeder_pixels(a->job.feeder, a->step, position, original, &label, err));
    const size_t bad = pxi_pixels_outside(&run->rule, original);
    if (bad < a->floats) {
        char name[128];
        return px_fail(err, PX_E_INPUT,
                       "training input '%s' has the value %g, outside the range %g..%g that "
                       "attacks stay in; --range LOW,HIGH says what values may be",
                       px_dataset_name(item.set, item.index, name, sizeof name),
                       pxi_pixel_units(&run->rule, (double)original[bad]), a->settings.low,
                       a->settings.high);
    }
    memcpy(x, original, a->floats * sizeof *x);
    if (run->random) {
        px_random r = px_rng(a->job.seed, PX_RNG_ADVERSARY, item.number, (uint32_t)item.round);
        pxi_attack_draw(run, &r, original, x);
    }
    c->slots[row] = (pxi_slot){
        .run = run,
        .original = original,
        .x = x,
        .scores = c->scores + row * a->job.scores->classes,
        .truth = (int)label,
        .target = -1,
    };
    return PX_OK;
}

/* Where a row stands, as the network sees it. */
static px_status crew_dress(const pxi_adversary *a, const pxi_slot *slot, float *to, px_error *err)
{
    const bool added = slot->run == &a->run[ADDED];
    memcpy(to, slot->x, a->floats * sizeof *to);
    return px_preprocess_apply(px_feeder_preprocess(a->job.feeder, added), &a->shape, to, err);
}

static px_status crew_forward(const pxi_adversary *a, adversary_crew *c, int64_t rows,
                              px_error *err)
{
    const int classes = a->job.scores->classes;
    float *to = px_session_input(c->session, 0);
    for (int64_t i = 0; i < rows; i++, to += a->floats)
        PX_TRY(crew_dress(a, &c->slots[i], to, err));
    memset(to, 0, (size_t)(px_plan_batch(a->plan) - rows) * a->floats * sizeof *to);
    PX_TRY(px_session_forward(c->session, err));
    const px_view view = px_session_view(c->session, a->job.scores->value);
    for (int64_t i = 0; i < rows; i++)
        for (int k = 0; k < classes; k++)
            c->scores[i * classes + k] = view.data[i * view.stride[0] + k * view.stride[1]];
    return PX_OK;
}

static px_status crew_step(const pxi_adversary *a, adversary_crew *c, int64_t rows, px_error *err)
{
    const int classes = a->job.scores->classes;
    PX_TRY(crew_forward(a, c, rows, err));
    PX_TRY(px_session_seed_clear(c->session, err));
    const px_place seed = px_session_seed(c->session, a->job.scores->value);
    for (int64_t i = 0; i < rows; i++) {
        const pxi_slot *slot = &c->slots[i];
        memset(c->cotangent, 0, (size_t)classes * sizeof *c->cotangent);
        slot->run->method->seed(slot, 0, c->cotangent);
        for (int k = 0; k < classes; k++)
            seed.data[i * seed.stride[0] + k * seed.stride[1]] = c->cotangent[k];
    }
    PX_TRY(px_session_backward(c->session, err));
    const px_view view = px_session_grad(c->session, a->input);
    for (int64_t i = 0; i < rows; i++) {
        pxi_slot *slot = &c->slots[i];
        pxi_view_row(&view, i, c->net, a->floats);
        pxi_attack_gradient(&slot->run->rule, c->net, c->unit, &c->odd);
        slot->run->method->gradient(slot, 0, c->unit);
        slot->step++;
    }
    return PX_OK;
}

static px_status adversary_work(void *context, int worker, int64_t index, px_error *err)
{
    pxi_adversary *a = context;
    adversary_crew *c = &a->crews[worker];
    const int64_t first = index * px_plan_batch(a->plan);
    const int64_t rows = PX_MIN(px_plan_batch(a->plan), a->count - first);
    for (int64_t i = 0; i < rows; i++)
        PX_TRY(crew_load(a, c, i, a->positions[first + i], err));
    for (int64_t step = 0; step < a->settings.steps; step++)
        PX_TRY(crew_step(a, c, rows, err));
    for (int64_t i = 0; i < rows; i++)
        PX_TRY(crew_dress(a, &c->slots[i], a->inputs + (size_t)(first + i) * a->floats, err));
    return PX_OK;
}

/* --- one step ----------------------------------------------------------------------------------
 */

/* round(share * samples) positions at even distances: an epoch's order is random, so they are too,
 * and inputs that a mode puts side by side get their part each. */
static void adversary_choose(pxi_adversary *a, int64_t samples)
{
    const int64_t take = llround(a->settings.share * (double)samples);
    a->count = 0;
    for (int64_t i = 0; i < samples; i++) {
        const bool taken = (i + 1) * take / samples > i * take / samples;
        a->place[i] = taken ? a->count : -1;
        if (taken)
            a->positions[a->count++] = i;
    }
}

px_status pxi_adversary_make(pxi_adversary *a, int64_t step, px_error *err)
{
    const int64_t batch = px_plan_batch(a->plan);
    a->step = step;
    adversary_choose(a, px_feeder_samples(a->job.feeder, step));
    PX_TRY(px_plan_refresh(a->plan, err));
    return pxi_pool_run(a->pool, (a->count + batch - 1) / batch, adversary_work, a, NULL, NULL,
                        err);
}

const float *pxi_adversary_input(const pxi_adversary *a, int64_t position)
{
    const int64_t place = a->place[position];
    return place < 0 ? NULL : a->inputs + (size_t)place * a->floats;
}
