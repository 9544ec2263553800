/* src/train/adversary_batch.c - attacks on the inputs of one training step (LGR F.2, E.1-E.3)
 *
 * The network is compiled a second time, in evaluation mode and with gradients to its input, on the
 * weights that training moves. What a step replaces is packed into micro-batches of one size, a job
 * each; a job takes its inputs through all steps of the attack. The forward pass of the last result
 * is the training step's own: the attack never looks at where it ended.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "train/adversary.h"

#include "attack/attack_internal.h"
#include "base/memory.h"
#include <internal/view_row.h>

#include <internal/engine.h>
#include <internal/rng.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BASE, ADDED, SIDES };

typedef struct adversary_lane {
    float *original, *x;       /* levels, per row of the micro-batch */
    float *net, *unit;         /* a gradient, per value of one input */
    float *scores, *cotangent; /* per row and class; per class */
    pxi_slot *slots;           /* per row */
    int64_t odd;
} adversary_lane;

struct pxi_adversary {
    pxi_adversary_job job;
    px_adversary settings;
    int64_t stage;             /* that `run` is of, from 1 */
    pxi_attack_run run[SIDES]; /* what the attack's own functions want to know */
    px_shape shape;
    size_t floats; /* per input */
    pxi_pass *pass;
    int input; /* value */

    int64_t step;
    int64_t count;      /* of positions that are replaced */
    int64_t *positions; /* ascending */
    int64_t *place;     /* per position of the batch: where in `inputs`; -1: not replaced */
    float *inputs;      /* preprocessed */
};

/* --- making ---------------------------------------------------------------------------------- */

static bool adversary_has_side(const pxi_adversary *a, int side)
{
    const px_feeder_counts counts = px_feeder_count(a->job.feeder);
    return (side == ADDED ? counts.added : counts.base) > 0;
}

static int64_t adversary_stages(const pxi_adversary *a)
{
    return PX_MAX(a->settings.stages, (int64_t)1);
}

static void adversary_rules(pxi_adversary *a, const pxi_attack_method *method, int64_t stage)
{
    const double strength = (double)stage / (double)adversary_stages(a);
    const pxi_pixel_bounds bounds = {
        .step = strength * a->settings.step_size,
        .distance = strength * a->settings.eps,
        .low = a->settings.low,
        .high = a->settings.high,
    };
    a->stage = stage;
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

static px_status lane_open(pxi_lane *lane, px_error *err)
{
    const pxi_adversary *a = lane->context;
    const size_t rows = (size_t)pxi_pass_batch(lane->pass);
    const size_t classes = (size_t)a->job.scores->classes;
    adversary_lane *c = lane->state;
    (void)err;
    c->original = pxi_lane_array(lane, rows, a->floats * sizeof *c->original);
    c->x = pxi_lane_array(lane, rows, a->floats * sizeof *c->x);
    c->net = pxi_lane_array(lane, a->floats, sizeof *c->net);
    c->unit = pxi_lane_array(lane, a->floats, sizeof *c->unit);
    c->scores = pxi_lane_array(lane, rows, classes * sizeof *c->scores);
    c->cotangent = pxi_lane_array(lane, classes, sizeof *c->cotangent);
    c->slots = pxi_lane_array(lane, rows, sizeof *c->slots);
    return PX_OK;
}

static px_status adversary_open(pxi_adversary *a, const px_preprocess *pre, px_error *err)
{
    const pxi_task task = {.model = a->job.model,
                           .pre = pre,
                           .sample = a->shape,
                           .count = px_feeder_batch(a->job.feeder),
                           .threads = a->job.threads,
                           .batch = a->job.micro_batch};
    const pxi_visitor visitor = {
        .context = a, .state_size = sizeof(adversary_lane), .open = lane_open};
    px_plan_options wants;
    PX_TRY(pxi_wants_gradient(a->job.model, a->job.scores, &a->input, &wants, err));
    wants.weights = a->job.weights;
    return pxi_pass_open(&task, &wants, &visitor, &a->pass, err);
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
        return pxi_no_memory_for(err, "%zu attacked inputs", most);
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
    adversary_rules(a, method, 1);
    PX_TRY(adversary_open(a, pre, err));
    return adversary_room(a, err);
}

px_status pxi_adversary_new(const pxi_adversary_job *job, px_adversary *settings,
                            pxi_adversary **out, px_error *err)
{
    pxi_adversary *a = NULL;
    PX_TRY(PX_NEW(a, 1, err));
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
    pxi_pass_close(a->pass);
    free(a->positions);
    free(a->place);
    free(a->inputs);
    free(a);
}

/* --- one micro-batch ------------------------------------------------------------------------- */

static px_status crew_load(const pxi_adversary *a, const adversary_lane *c, int64_t row,
                           int64_t position, px_error *err)
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

static px_status crew_forward(const pxi_adversary *a, pxi_lane *lane, int64_t rows, px_error *err)
{
    const adversary_lane *c = lane->state;
    for (int64_t i = 0; i < rows; i++)
        PX_TRY(crew_dress(a, &c->slots[i], pxi_lane_input(lane, i), err));
    PX_TRY(pxi_lane_forward(lane, rows, err));
    for (int64_t i = 0; i < rows; i++)
        PX_TRY(pxi_scores_row(lane->session, a->job.scores, i,
                              c->scores + i * a->job.scores->classes, err));
    return PX_OK;
}

static px_status crew_step(const pxi_adversary *a, pxi_lane *lane, int64_t rows, px_error *err)
{
    adversary_lane *c = lane->state;
    const int classes = a->job.scores->classes;
    PX_TRY(crew_forward(a, lane, rows, err));
    PX_TRY(px_session_seed_clear(lane->session, err));
    const px_place seed = px_session_seed(lane->session, a->job.scores->value);
    for (int64_t i = 0; i < rows; i++) {
        const pxi_slot *slot = &c->slots[i];
        memset(c->cotangent, 0, (size_t)classes * sizeof *c->cotangent);
        slot->run->method->seed(slot, 0, c->cotangent);
        for (int k = 0; k < classes; k++)
            seed.data[i * seed.stride[0] + k * seed.stride[1]] = c->cotangent[k];
    }
    PX_TRY(px_session_backward(lane->session, err));
    const px_view view = px_session_grad(lane->session, a->input);
    for (int64_t i = 0; i < rows; i++) {
        pxi_slot *slot = &c->slots[i];
        pxi_view_row(&view, i, c->net, a->floats);
        pxi_attack_gradient(&slot->run->rule, c->net, c->unit, &c->odd);
        slot->run->method->gradient(slot, 0, c->unit);
        slot->step++;
    }
    return PX_OK;
}

static px_status adversary_work(void *context, pxi_lane *lane, int64_t index, px_error *err)
{
    const pxi_adversary *a = context;
    const adversary_lane *c = lane->state;
    const int64_t batch = pxi_pass_batch(lane->pass), first = index * batch;
    const int64_t rows = PX_MIN(batch, a->count - first);
    for (int64_t i = 0; i < rows; i++)
        PX_TRY(crew_load(a, c, i, a->positions[first + i], err));
    for (int64_t step = 0; step < a->settings.steps; step++)
        PX_TRY(crew_step(a, lane, rows, err));
    for (int64_t i = 0; i < rows; i++)
        PX_TRY(crew_dress(a, &c->slots[i], a->inputs + (size_t)(first + i) * a->floats, err));
    return PX_OK;
}

/* --- one step -------------------------------------------------------------------------------- */

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

/* That of the epoch, rounded up: of fewer epochs than stages, the last one still has all of it. */
static int64_t adversary_stage(const pxi_adversary *a, int64_t epoch, int64_t epochs)
{
    return (adversary_stages(a) * (epoch + 1) + epochs - 1) / epochs;
}

px_status pxi_adversary_make(pxi_adversary *a, int64_t epoch, int64_t epochs, int64_t step,
                             px_error *err)
{
    const int64_t batch = pxi_pass_batch(a->pass), stage = adversary_stage(a, epoch, epochs);
    const int side = adversary_has_side(a, BASE) ? BASE : ADDED;
    if (stage != a->stage)
        adversary_rules(a, a->run[side].method, stage);
    a->step = step;
    adversary_choose(a, px_feeder_samples(a->job.feeder, step));
    PX_TRY(px_plan_refresh(pxi_pass_plan(a->pass), err));
    const pxi_left left = {.each = batch,
                           .count = a->count,
                           .in_turn = true,
                           .array = {{a->inputs, a->floats * sizeof *a->inputs}}};
    pxi_pass_leaves(a->pass, &left);
    return pxi_pass_each(a->pass, (a->count + batch - 1) / batch, NULL, adversary_work, a, err);
}

const float *pxi_adversary_input(const pxi_adversary *a, int64_t position)
{
    const int64_t place = a->place[position];
    return place < 0 ? NULL : a->inputs + (size_t)place * a->floats;
}
