/* src/attack/attack_seat.c - one input on its way through an attack */
/* SPDX-License-Identifier: Apache-2.0 */
#include "attack/attack_seat.h"

#include <assert.h>
#include <internal/engine.h>
#include <internal/rng.h>
#include <math.h>
#include <string.h>

static double scores_loss(const pxi_attack_run *run, const float *scores, int64_t label)
{
    if (label < 0)
        return (double)NAN;
    return run->scores.probabilities ? px_probability_loss(scores, run->scores.classes, label, NULL)
                                     : px_softmax_loss(scores, run->scores.classes, label, NULL);
}

static int scores_least(const float *scores, int classes)
{
    int least = -1;
    for (int c = 0; c < classes; c++)
        if (!isnan(scores[c]) && (least < 0 || scores[c] < scores[least]))
            least = c;
    return least;
}

static int seat_target(const pxi_seat *s, const float *scores)
{
    const pxi_attack_run *run = s->run;
    const int classes = run->scores.classes, truth = s->seen.truth;
    switch (run->options.goal) {
    case PX_GOAL_CLASS:
        return (int)run->options.target;
    case PX_GOAL_NEXT:
        return (truth + 1) % classes;
    case PX_GOAL_RANDOM: {
        const int64_t item = px_dataset_index(run->job->set, s->row->input);
        px_random r = px_rng(run->options.seed, PX_RNG_ATTACK_AIM, (uint32_t)item, 0);
        const int drawn = (int)px_rng_below(&r, (uint32_t)classes - 1);
        return drawn + (drawn >= truth);
    }
    case PX_GOAL_LEAST_LIKELY:
        return scores_least(scores, classes);
    case PX_GOAL_WRONG:
        break;
    }
    return -1;
}

static bool seat_reached(const pxi_seat *s, int64_t predicted)
{
    if (predicted < 0)
        return false;
    return s->seen.target >= 0 ? predicted == s->seen.target : predicted != s->seen.truth;
}

/* What the network makes of x. */
static px_attack_form seat_form(const pxi_seat *s, const float *scores)
{
    const pxi_attack_run *run = s->run;
    const int predicted = px_argmax(scores, run->scores.classes);
    const pxi_pixel_distance moved = pxi_pixels_distance(&run->rule, s->seen.original, s->seen.x);
    return (px_attack_form){
        .predicted = predicted,
        .reached = seat_reached(s, predicted),
        .loss = scores_loss(run, scores, s->seen.truth),
        .confidence = exp(-scores_loss(run, scores, predicted)),
        .l0 = moved.l0,
        .l2 = moved.l2,
        .linf = moved.linf,
    };
}

/* The scores of the original say what is true where no label does, and what to aim at. False: the
 * target is the true class. */
static bool seat_clean(pxi_seat *s, const float *scores)
{
    const pxi_attack_run *run = s->run;
    px_attack_row *row = s->row;
    row->before = px_argmax(scores, run->scores.classes);
    row->truth = row->label >= 0 ? row->label : row->before;
    row->loss_before = scores_loss(run, scores, row->truth);
    row->confidence_before = exp(-scores_loss(run, scores, row->before));
    s->seen.before = (int)row->before;
    s->seen.truth = (int)row->truth;
    s->seen.target = row->before >= 0 ? seat_target(s, scores) : -1;
    row->target = s->seen.target;
    return s->seen.target < 0 || s->seen.target != s->seen.truth;
}

static float *seat_exact(const pxi_seat *s)
{
    return s->run->exact + (size_t)s->place * s->run->rule.count;
}

/* `exact` has the result: now its stored form. */
static void seat_round(pxi_seat *s)
{
    const pxi_attack_run *run = s->run;
    const size_t count = run->rule.count;
    const float *exact = seat_exact(s);
    s->row->stored = s->row->exact;
    if (run->bytes) {
        uint8_t *bytes = run->bytes + (size_t)s->place * count;
        if (run->method->shown.bounded)
            pxi_pixels_round(s->seen.original, exact, count, bytes);
        else
            pxi_pixels_round_nearest(exact, count, bytes);
        bool differs = false;
        for (size_t i = 0; i < count; i++) {
            s->seen.x[i] = (float)bytes[i];
            differs |= s->seen.x[i] != exact[i];
        }
        if (differs && !s->row->skipped) {
            s->phase = SEAT_STORED;
            return;
        }
    }
    s->phase = SEAT_EMPTY;
}

static void seat_begin(pxi_seat *s)
{
    const pxi_attack_run *run = s->run;
    if (run->state_bytes)
        memset(s->seen.state, 0, run->state_bytes);
    s->seen.step = 0;
    if (run->random)
        pxi_attack_start(run, s->seen.original, px_dataset_index(run->job->set, s->row->input),
                         s->restart, s->seen.x);
    s->phase = SEAT_STEP;
}

void pxi_seat_settle(pxi_seat *s, const float *scores)
{
    const pxi_attack_run *run = s->run;
    const px_attack_form form = seat_form(s, scores);
    const double goal = s->seen.target >= 0 ? -scores_loss(run, scores, s->seen.target) : form.loss;
    if (!s->kept || form.reached || goal > s->goal) {
        memcpy(seat_exact(s), s->seen.x, run->rule.count * sizeof *s->seen.x);
        s->row->exact = form;
        s->row->steps = s->seen.step;
        s->row->restart = s->restart;
        s->goal = goal;
        s->kept = true;
    }
    if (form.reached || form.predicted < 0 || s->row->skipped ||
        s->restart + 1 >= run->options.restarts) {
        seat_round(s);
        return;
    }
    s->restart++;
    seat_begin(s);
}

px_status pxi_seat_load(pxi_seat *s, int64_t place, px_error *err)
{
    assert(place >= 0);
    const pxi_attack_run *run = s->run;
    const size_t count = run->rule.count;
    float *original = run->original + (size_t)place * count;
    px_attack_row *row = &run->out->rows[run->first + place];
    PX_TRY(px_dataset_pixels(run->job->set, row->input, original, err));
    const size_t bad = pxi_pixels_outside(&run->rule, original);
    if (bad < count) {
        char name[128];
        return px_fail(err, PX_E_INPUT,
                       "input '%s' has the value %g, outside the range %g..%g; --range LOW,HIGH "
                       "says what values may be, --scale what a pixel is multiplied by",
                       px_dataset_name(run->job->set, row->input, name, sizeof name),
                       pxi_pixel_units(&run->rule, (double)original[bad]), run->options.low,
                       run->options.high);
    }
    memcpy(s->seen.x, original, count * sizeof *original);
    s->seen.original = original;
    s->seen.step = 0;
    s->row = row;
    s->place = place;
    s->restart = 0;
    s->kept = false;
    s->phase = SEAT_CLEAN;
    if (!run->random)
        seat_begin(s); /* its first scores are those of the original */
    return PX_OK;
}

void pxi_seat_judge(pxi_seat *s, const float *scores)
{
    if (s->phase == SEAT_STORED) {
        s->row->stored = seat_form(s, scores);
        s->phase = SEAT_EMPTY;
        return;
    }
    if (s->phase == SEAT_EXACT) {
        pxi_seat_settle(s, scores);
        return;
    }
    s->row->skipped = !seat_clean(s, scores);
    const bool over =
        s->row->skipped || s->row->before < 0 || (s->run->early && seat_reached(s, s->row->before));
    if (over)
        pxi_seat_settle(s, scores);
    else
        seat_begin(s);
}

bool pxi_seat_look(pxi_seat *s, const float *scores)
{
    const pxi_attack_run *run = s->run;
    s->seen.scores = scores;
    s->seen.predicted = px_argmax(scores, run->scores.classes);
    if (!run->random && s->seen.step == 0)
        s->row->skipped = !seat_clean(s, scores);
    const bool over = s->row->skipped || s->seen.predicted < 0 || s->seen.step >= run->limit ||
                      (run->early && seat_reached(s, s->seen.predicted));
    if (!over && (!run->method->look || run->method->look(&s->seen)))
        return true;
    pxi_seat_settle(s, scores);
    return false;
}

bool pxi_attack_gradient(const pxi_pixel_rule *rule, const float *net, float *unit, int64_t *odd)
{
    bool flat = true;
    for (size_t k = 0; k < rule->channels; k++) {
        size_t first, stride;
        const float stddev = (float)pxi_pixel_channel(rule, k, &first, &stride);
        for (size_t i = 0; i < rule->plane; i++) {
            float g = net[first + i * stride] / stddev;
            if (!isfinite(g)) {
                (*odd)++;
                g = 0.0f;
            }
            flat &= g == 0.0f;
            unit[k * rule->plane + i] = g;
        }
    }
    return flat;
}

bool pxi_seat_gradient(pxi_seat *s, const float *net, float *unit)
{
    return pxi_attack_gradient(&s->run->rule, net, unit, &s->row->odd_gradients);
}
