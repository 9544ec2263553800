/* src/train/schedule.c - learning rates over a run
 *
 * With t the step counted from 0, T the number of steps and e the epoch of t, lr the given rate:
 *
 *     constant  lr
 *     step      lr * factor^(number of listed epochs <= e)
 *     cosine    min + (lr - min) (1 + cos(pi t / T)) / 2         Loshchilov, Hutter, SGDR, 2017
 *     onecycle  up to lr, then down                              Smith, Topin, 2018
 *     inverse   lr / (1 + decay t)                               Keras' `decay`
 *     plateau   multiplied by factor when a watched value stops improving
 *     warmup    (t + 1) / W times the schedule behind the '+', while t < W
 *
 * Definitions are those of torch.optim.lr_scheduler: MultiStepLR, CosineAnnealingLR(T), OneCycleLR,
 * ReduceLROnPlateau, LinearLR(1 / W, total_iters=W - 1) chained with another.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "train/choice.h"

#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { STEP_FACTOR };
enum { COSINE_MIN };
enum { CYCLE_RISE, CYCLE_START, CYCLE_END, CYCLE_LINEAR, CYCLE_MOMENTUM, CYCLE_LOW, CYCLE_HIGH };
enum { INVERSE_DECAY };
enum {
    PLATEAU_FACTOR,
    PLATEAU_PATIENCE,
    PLATEAU_THRESHOLD,
    PLATEAU_COOLDOWN,
    PLATEAU_MIN,
    PLATEAU_MAX,
};
enum { STATE_LR, STATE_BEST, STATE_BAD, STATE_COOLDOWN, STATE_COUNT };

struct px_schedule {
    double lr;
    int64_t steps_per_epoch, steps, warmup; /* steps: of the run; warmup: in steps */
    pxi_chosen chosen;
    double state[STATE_COUNT]; /* of plateau */
};

static double rate_constant(const px_schedule *s, int64_t step)
{
    (void)step;
    return s->lr;
}

static double rate_step(const px_schedule *s, int64_t step)
{
    const double epoch = (double)(step / s->steps_per_epoch);
    double rate = s->lr;
    for (size_t i = 0; i < s->chosen.list_count; i++)
        if (s->chosen.list[i] <= epoch)
            rate *= s->chosen.values[STEP_FACTOR];
    return rate;
}

static double rate_cosine(const px_schedule *s, int64_t step)
{
    const double low = s->chosen.values[COSINE_MIN];
    return low + (s->lr - low) * (1.0 + cos(M_PI * (double)step / (double)s->steps)) / 2.0;
}

/* From `start` to `peak` over the first share of the run, then to `end`. */
static double cycle_between(const px_schedule *s, int64_t step, double start, double peak,
                            double end)
{
    const double *set = s->chosen.values;
    const double turn = set[CYCLE_RISE] * (double)s->steps - 1.0, last = (double)s->steps - 1.0;
    const bool rises = (double)step <= turn;
    const double from = rises ? start : peak, to = rises ? peak : end;
    const double span = rises ? turn : last - turn, gone = (double)step - (rises ? 0.0 : turn);
    const double share = span > 0.0 ? gone / span : 1.0; /* a phase of one step is at its end */
    return set[CYCLE_LINEAR] != 0.0 ? from + (to - from) * share
                                    : to + (from - to) / 2.0 * (1.0 + cos(M_PI * share));
}

static double rate_onecycle(const px_schedule *s, int64_t step)
{
    const double start = s->lr / s->chosen.values[CYCLE_START];
    return cycle_between(s, step, start, s->lr, start / s->chosen.values[CYCLE_END]);
}

static double rate_inverse(const px_schedule *s, int64_t step)
{
    return s->lr / (1.0 + s->chosen.values[INVERSE_DECAY] * (double)step);
}

static double rate_plateau(const px_schedule *s, int64_t step)
{
    (void)step;
    return s->state[STATE_LR];
}

static const px_setting step_settings[] = {
    {.name = "factor", .standard = 0.1, .most = 1e3, .above = true, .help = "at each epoch listed"},
    {0},
};
static const px_setting cosine_settings[] = {
    {.name = "min", .most = 1e6, .help = "the rate at the end"},
    {0},
};
static const px_setting onecycle_settings[] = {
    {.name = "rise",
     .standard = 0.3,
     .most = 1,
     .help = "share of the run in which the rate rises"},
    {.name = "start", .standard = 25, .least = 1, .most = 1e12, .help = "peak / first rate"},
    {.name = "end", .standard = 1e4, .least = 1, .most = 1e12, .help = "first rate / last rate"},
    {.name = "linear", .most = 1, .whole = true, .help = "1: straight lines in place of cosines"},
    {.name = "momentum", .most = 1, .whole = true, .help = "1: momentum goes the other way"},
    {.name = "low", .standard = 0.85, .most = 1, .below = true, .help = "momentum at the peak"},
    {.name = "high", .standard = 0.95, .most = 1, .below = true, .help = "momentum at both ends"},
    {0},
};
static const px_setting inverse_settings[] = {
    {.name = "decay", .most = 1e6, .help = "the rate has halved after 1/decay steps"},
    {0},
};
static const px_setting plateau_settings[] = {
    {.name = "factor",
     .standard = 0.1,
     .most = 1,
     .above = true,
     .below = true,
     .help = "per fall"},
    {.name = "patience", .standard = 10, .most = 1e9, .whole = true, .help = "bad epochs allowed"},
    {.name = "threshold", .standard = 1e-4, .most = 1, .help = "relative gain that counts"},
    {.name = "cooldown",
     .most = 1e9,
     .whole = true,
     .help = "epochs after a fall that do not count"},
    {.name = "min", .most = 1e6, .help = "the rate never falls below"},
    {.name = "max", .most = 1, .whole = true, .help = "1: the watched value should rise"},
    {0},
};
static const px_setting warmup_settings[] = {
    {.name = "epochs", .standard = 1, .most = 1e9, .above = true, .help = "may be a fraction"},
    {0},
};

typedef struct schedule_kind {
    px_choice choice;
    double (*rate)(const px_schedule *s, int64_t step); /* NULL: only in front of another */
} schedule_kind;

static const schedule_kind schedules[] = {
    {{.entry = {.id = "constant", .title = "one rate for the whole run"}, .usage = "constant"},
     rate_constant},
    {{.entry = {.id = "step",
                .title = "times a factor before each of the epochs listed, which count from 0"},
      .usage = "step:EPOCH,...[,factor=F]",
      .settings = step_settings,
      .list = "epochs"},
     rate_step},
    {{.entry = {.id = "cosine", .title = "down half a cosine over the whole run, step by step"},
      .usage = "cosine[:MIN]",
      .settings = cosine_settings,
      .bare = 1},
     rate_cosine},
    {{.entry = {.id = "onecycle",
                .title = "up to the given rate, then down far below where it began"},
      .usage = "onecycle[:KEY=VALUE,...]",
      .settings = onecycle_settings},
     rate_onecycle},
    {{.entry = {.id = "plateau",
                .title = "falls when a value watched once per epoch stops improving"},
      .usage = "plateau[:FACTOR[,PATIENCE][,KEY=VALUE,...]]",
      .settings = plateau_settings,
      .bare = 2},
     rate_plateau},
    {{.entry = {.id = "inverse", .title = "divided by 1 + decay * step"},
      .usage = "inverse:DECAY",
      .settings = inverse_settings,
      .bare = 1},
     rate_inverse},
    {{.entry = {.id = "warmup",
                .title = "rises in a straight line, on top of the schedule after the '+'"},
      .usage = "warmup:EPOCHS+SCHEDULE",
      .settings = warmup_settings,
      .bare = 1},
     NULL},
};
const px_registry pxi_schedules = {.kind = "schedule",
                                   .plural = "schedules",
                                   .count = PX_LEN(schedules),
                                   .first = &schedules->choice.entry,
                                   .stride = sizeof *schedules};

static const schedule_kind *schedule_kind_of(const px_schedule *s)
{
    return (const void *)s->chosen.choice;
}

static bool schedule_is(const px_schedule *s, double (*rate)(const px_schedule *s, int64_t step))
{
    return schedule_kind_of(s)->rate == rate;
}

/* What goes beyond ranges of single numbers. */
static px_status schedule_check_chosen(px_schedule *s, px_error *err)
{
    const double *set = s->chosen.values;
    for (size_t i = 0; i < s->chosen.list_count; i++)
        if (s->chosen.list[i] < 0.0 || s->chosen.list[i] != floor(s->chosen.list[i]))
            return px_fail(err, PX_E_USAGE, "schedule 'step': epochs are whole numbers, not %g",
                           s->chosen.list[i]);
    if (schedule_is(s, rate_step) && s->chosen.list_count == 0)
        return px_fail(err, PX_E_USAGE, "schedule 'step' needs epochs, as in 'step:20,30'");
    if (schedule_is(s, rate_cosine) && set[COSINE_MIN] > s->lr)
        return px_fail(err, PX_E_USAGE,
                       "schedule 'cosine' would end at %g, above the learning rate %g",
                       set[COSINE_MIN], s->lr);
    if (schedule_is(s, rate_onecycle) && set[CYCLE_LOW] > set[CYCLE_HIGH])
        return px_fail(err, PX_E_USAGE, "schedule 'onecycle': low=%g is above high=%g",
                       set[CYCLE_LOW], set[CYCLE_HIGH]);
    s->state[STATE_LR] = s->lr;
    s->state[STATE_BEST] =
        schedule_is(s, rate_plateau) && set[PLATEAU_MAX] != 0.0 ? -INFINITY : INFINITY;
    return PX_OK;
}

static bool schedule_warms(const char *spec)
{
    return strncmp(spec, "warmup", 6) == 0 && (spec[6] == '\0' || strchr(":+", spec[6]));
}

/* Takes "warmup:N+" off the front of `spec`. */
static px_status schedule_read_warmup(px_schedule *s, const char **spec, px_error *err)
{
    if (!schedule_warms(*spec))
        return PX_OK;
    const char *plus = strchr(*spec, '+'); /* the one before a name, not that of 1e+2 */
    while (plus && !(plus[1] >= 'a' && plus[1] <= 'z'))
        plus = strchr(plus + 1, '+');
    if (!plus)
        return px_fail(err, PX_E_USAGE, "'%.100s': a schedule must follow, as in 'warmup:5+cosine'",
                       *spec);
    pxi_chosen chosen;
    PX_TRY(pxi_choice_read(&pxi_schedules, *spec, (size_t)(plus - *spec), &chosen, err));
    const double steps = ceil(chosen.values[0] * (double)s->steps_per_epoch);
    s->warmup = steps < (double)s->steps ? (int64_t)steps : s->steps;
    *spec = plus + 1;
    return PX_OK;
}

static px_status schedule_read(px_schedule *s, const char *spec, px_error *err)
{
    PX_TRY(schedule_read_warmup(s, &spec, err));
    if (schedule_warms(spec))
        return px_fail(err, PX_E_USAGE, "'%.100s': one warm-up is enough", spec);
    PX_TRY(pxi_choice_read(&pxi_schedules, spec, strlen(spec), &s->chosen, err));
    return schedule_check_chosen(s, err);
}

px_status px_schedule_new(const char *spec, double lr, int64_t steps_per_epoch, int64_t epochs,
                          px_schedule **out, px_error *err)
{
    if (!(lr >= 0.0) || isinf(lr))
        return px_fail(err, PX_E_USAGE, "a learning rate of %g cannot be used", lr);
    if (steps_per_epoch < 1 || epochs < 1 || steps_per_epoch > INT64_MAX / epochs)
        return px_fail(err, PX_E_USAGE, "%lld epochs of %lld steps cannot be scheduled",
                       (long long)epochs, (long long)steps_per_epoch);
    px_schedule *s = NULL;
    PX_TRY(PX_NEW(s, 1, err));
    s->lr = lr;
    s->steps_per_epoch = steps_per_epoch;
    s->steps = steps_per_epoch * epochs;
    const px_status status = schedule_read(s, spec, err);
    return PX_GIVE(status, s, out, free);
}

void px_schedule_free(px_schedule *s)
{
    free(s);
}

static bool schedule_moves_momentum(const px_schedule *s)
{
    return schedule_is(s, rate_onecycle) && s->chosen.values[CYCLE_MOMENTUM] != 0.0;
}

px_pace px_schedule_at(const px_schedule *s, int64_t step)
{
    step = step < 0 ? 0 : step < s->steps ? step : s->steps - 1;
    px_pace pace = {.lr = schedule_kind_of(s)->rate(s, step), .momentum = NAN};
    if (step < s->warmup)
        pace.lr *= (double)(step + 1) / (double)s->warmup;
    if (schedule_moves_momentum(s))
        pace.momentum = cycle_between(s, step, s->chosen.values[CYCLE_HIGH],
                                      s->chosen.values[CYCLE_LOW], s->chosen.values[CYCLE_HIGH]);
    return pace;
}

bool px_schedule_listens(const px_schedule *s)
{
    return schedule_is(s, rate_plateau);
}

bool px_schedule_wants_more(const px_schedule *s)
{
    return schedule_is(s, rate_plateau) && s->chosen.values[PLATEAU_MAX] != 0.0;
}

px_status px_schedule_check(const px_schedule *s, const px_optimizer *optimizer, px_error *err)
{
    if (!schedule_moves_momentum(s) || px_optimizer_has_momentum(optimizer))
        return PX_OK;
    return px_fail(err, PX_E_MISMATCH,
                   "schedule 'onecycle' with momentum=1 needs an optimizer that has momentum, "
                   "not '%s'",
                   px_optimizer_spec(optimizer));
}

/* torch.optim.lr_scheduler.ReduceLROnPlateau.step(), threshold_mode='rel' */
bool px_schedule_report(px_schedule *s, double value)
{
    if (!px_schedule_listens(s))
        return false;
    const double least_fall = 1e-8;
    const double *set = s->chosen.values;
    double *state = s->state;
    const bool better = set[PLATEAU_MAX] != 0.0
                            ? value > state[STATE_BEST] * (1.0 + set[PLATEAU_THRESHOLD])
                            : value < state[STATE_BEST] * (1.0 - set[PLATEAU_THRESHOLD]);
    if (better)
        state[STATE_BEST] = value;
    state[STATE_BAD] = better ? 0.0 : state[STATE_BAD] + 1.0;
    if (state[STATE_COOLDOWN] > 0.0) {
        state[STATE_COOLDOWN] -= 1.0;
        state[STATE_BAD] = 0.0;
    }
    if (state[STATE_BAD] <= set[PLATEAU_PATIENCE])
        return false;
    state[STATE_COOLDOWN] = set[PLATEAU_COOLDOWN];
    state[STATE_BAD] = 0.0;
    const double lower = fmax(state[STATE_LR] * set[PLATEAU_FACTOR], set[PLATEAU_MIN]);
    if (!(state[STATE_LR] - lower > least_fall))
        return false;
    state[STATE_LR] = lower;
    return true;
}

px_tensor px_schedule_state(px_schedule *s)
{
    return (px_tensor){PX_FLOAT64, {.rank = 1, .dim = {STATE_COUNT}}, s->state};
}

px_status px_schedule_restore(px_schedule *s, const px_tensor *state, px_error *err)
{
    if (state->dtype != PX_FLOAT64 || state->shape.rank != 1 || state->shape.dim[0] != STATE_COUNT)
        return px_fail(err, PX_E_MISMATCH, "the schedule's state does not have %d numbers",
                       STATE_COUNT);
    double given[STATE_COUNT];
    memcpy(given, state->data, sizeof given);
    if (!(given[STATE_LR] >= 0.0 && given[STATE_LR] <= s->lr) || isnan(given[STATE_BEST]) ||
        !(given[STATE_BAD] >= 0.0 && given[STATE_BAD] <= 1e9) ||
        !(given[STATE_COOLDOWN] >= 0.0 && given[STATE_COOLDOWN] <= 1e9))
        return px_fail(err, PX_E_MISMATCH, "the schedule's state is not one of this run");
    memcpy(s->state, given, sizeof given);
    return PX_OK;
}
