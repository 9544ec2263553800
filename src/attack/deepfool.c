/* src/attack/deepfool.c - DeepFool: to the nearest boundary as if the scores were linear
 *
 * Moosavi-Dezfooli, Fawzi, Frossard, DeepFool: a simple and accurate method to fool deep neural
 * networks, CVPR 2016, Algorithm 2. With c0 the class of the input, and the best classes k at it,
 *
 *     w_k = grad z_k - grad z_c0, f_k = z_k - z_c0, l = argmin |f_k| / |w_k|
 *     r = (|f_l| / |w_l| + nudge) w_l / |w_l|        (Linf: (|f_l| / |w_l|_1 + nudge) sign(w_l))
 *     x = clip(x_0 + (1 + overshoot) sum r)
 *
 * until the class changes (LGR E.4). The paper has no range. With one, a value at its end cannot
 * go further: for Linf, where all values go the same way, |w|_1 is the sum over those that still
 * can. Otherwise each step falls short by the same share, and the boundary is come near for ever.
 * Seeds (+1 at k, -1 at c0) give w_k itself, so K candidates cost K - 1 backward passes on one
 * forward pass. With a target only its boundary is looked for, and from the class that the input
 * has by then.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "attack/methods.h"

#include "base/memory.h"

#include <math.h>
#include <string.h>

typedef struct fool_config {
    int64_t candidates;
    double overshoot;
    double nudge;
} fool_config;

static const px_param fool_params[] = {
    PX_PARAM_INT(fool_config, candidates, 10, 2, 1000,
                 "classes that are looked at: the input's own and the next best"),
    PX_PARAM_REAL(fool_config, overshoot, 0.02, 0, 10,
                  "how much further than the boundary, as a share of the way"),
    PX_PARAM_REAL(fool_config, nudge, 1e-4, 0, 1, "added to each step, in scaled units"),
    PX_PARAM_END,
};

typedef struct fool_state { /* then sum[count], best[count], and classes */
    int count;              /* of classes */
    int from;               /* the class that is left */
    int chosen;             /* of classes; -1: none has a gradient */
    double distance, norm;  /* of the chosen one */
} fool_state;

static int fool_most(const pxi_attack_run *run)
{
    const fool_config *config = run->config;
    return PX_MIN((int)config->candidates, run->scores.classes) - 1;
}

static int fool_passes(const pxi_attack_run *run)
{
    return run->options.goal == PX_GOAL_WRONG ? PX_MAX(fool_most(run), 1) : 1;
}

static size_t fool_bytes(const pxi_attack_run *run)
{
    return sizeof(fool_state) + 2 * run->rule.count * sizeof(float) +
           (size_t)fool_passes(run) * sizeof(int);
}

static float *fool_sum(const pxi_slot *slot)
{
    return (float *)(void *)((fool_state *)slot->state + 1);
}

static float *fool_best(const pxi_slot *slot)
{
    return fool_sum(slot) + slot->run->rule.count;
}

static int *fool_classes(const pxi_slot *slot)
{
    return (int *)(void *)(fool_best(slot) + slot->run->rule.count);
}

/* The best classes beside the input's own, best first; of equals the lowest. */
static int fool_choose(const pxi_slot *slot, int *classes)
{
    const int most = fool_passes(slot->run);
    int count = 0;
    for (int c = 0; c < slot->run->scores.classes; c++) {
        if (c == slot->before || isnan(slot->scores[c]))
            continue;
        int at = PX_MIN(count, most);
        while (at > 0 && slot->scores[c] > slot->scores[classes[at - 1]])
            at--;
        if (at == most)
            continue;
        count = PX_MIN(count + 1, most);
        for (int i = count - 1; i > at; i--)
            classes[i] = classes[i - 1];
        classes[at] = c;
    }
    return count;
}

static bool fool_look(pxi_slot *slot)
{
    fool_state *s = slot->state;
    if (slot->target >= 0) {
        fool_classes(slot)[0] = slot->target;
        s->count = 1;
        s->from = slot->predicted;
    } else if (slot->step == 0) {
        s->count = fool_choose(slot, fool_classes(slot));
        s->from = slot->before;
    }
    s->chosen = -1;
    return s->count > 0;
}

static bool fool_seed(const pxi_slot *slot, int pass, float *cotangent)
{
    const fool_state *s = slot->state;
    if (pass >= s->count)
        return false;
    cotangent[fool_classes(slot)[pass]] = 1.0f;
    cotangent[s->from] = -1.0f;
    return true;
}

/* Whether value i can follow w: it is not at the end of the range that w leads to. */
static bool fool_free(const pxi_slot *slot, size_t i, float w)
{
    const pxi_pixel_rule *rule = &slot->run->rule;
    return w > 0.0f ? slot->x[i] < (float)rule->high : w < 0.0f && slot->x[i] > (float)rule->low;
}

static void fool_gradient(pxi_slot *slot, int pass, const float *g)
{
    static const double GUARD = 1e-8;
    fool_state *s = slot->state;
    const size_t count = slot->run->rule.count;
    double norm = 0.0;
    if (slot->run->options.norm == PX_NORM_L2) {
        for (size_t i = 0; i < count; i++)
            norm += (double)g[i] * (double)g[i];
        norm = sqrt(norm);
    } else {
        for (size_t i = 0; i < count; i++)
            norm += fool_free(slot, i, g[i]) ? fabs((double)g[i]) : 0.0;
    }
    const double f = (double)slot->scores[fool_classes(slot)[pass]] - (double)slot->scores[s->from];
    const double distance = fabs(f) / (norm + GUARD);
    if (!(norm > 0.0) || (s->chosen >= 0 && !(distance < s->distance)))
        return;
    s->chosen = pass;
    s->distance = distance;
    s->norm = norm;
    memcpy(fool_best(slot), g, count * sizeof *g);
}

static bool fool_move(pxi_slot *slot)
{
    const fool_state *s = slot->state;
    const pxi_attack_run *run = slot->run;
    const pxi_pixel_rule *rule = &run->rule;
    float *sum = fool_sum(slot);
    const float *w = fool_best(slot);
    if (s->chosen < 0)
        return false;
    const double f =
        fabs((double)slot->scores[fool_classes(slot)[s->chosen]] - (double)slot->scores[s->from]);
    const bool l2 = run->options.norm == PX_NORM_L2;
    const fool_config *config = run->config;
    const double length = f / s->norm + config->nudge;
    const double unit = pxi_pixel_levels(rule, 1.0 + config->overshoot);
    for (size_t i = 0; i < rule->count; i++) {
        const double along = l2                          ? (double)w[i] / s->norm
                             : !fool_free(slot, i, w[i]) ? 0.0
                             : w[i] > 0.0f               ? 1.0
                                                         : -1.0;
        sum[i] = (float)((double)sum[i] + length * along);
        const double moved = (double)slot->original[i] + unit * (double)sum[i];
        slot->x[i] = (float)(moved < rule->low    ? rule->low
                             : moved > rule->high ? rule->high
                                                  : moved);
    }
    return true;
}

const pxi_attack_method pxi_attack_deepfool = {
    .shown = {.entry = {.id = "deepfool",
                        .title = "the nearest boundary, step by step, as if scores were linear",
                        .source = "Moosavi-Dezfooli et al., CVPR 2016",
                        .params = fool_params,
                        .config_size = sizeof(fool_config)},
              .norms = {PX_NORM_L2, PX_NORM_LINF}},
    .steps = 50,
    .passes = fool_passes,
    .state_bytes = fool_bytes,
    .look = fool_look,
    .seed = fool_seed,
    .gradient = fool_gradient,
    .move = fool_move,
};
