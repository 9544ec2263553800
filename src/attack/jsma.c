/* src/attack/jsma.c - JSMA: few values, changed a lot, two at a time
 *
 * Papernot et al., The Limitations of Deep Learning in Adversarial Settings, EuroS&P 2016,
 * Algorithm
 * 3. For the class t that is wanted, alpha = grad z_t and beta = grad of the sum of all others; the
 * pair of free values with the largest -(alpha_p + alpha_q)(beta_p + beta_q), the first sum above 0
 * and the second below, goes up by theta; a value at the end of the range is free no more. It ends
 * at the goal, without a pair, or after gamma D / 2 steps (LGR E.5). Without a target, t is the
 * most likely wrong class of the input, and any wrong class ends it.
 *
 * On scores this takes two backward passes. Probabilities sum to 1, so beta = -alpha, and with
 * out=softmax one is enough. search=lite is ART's: the two free values with the largest alpha.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "attack/methods.h"

#include "base/memory.h"

#include <math.h>
#include <string.h>

enum { OUT_LOGITS, OUT_SOFTMAX };
enum { SEARCH_PAIR, SEARCH_LITE };

static const char *const jsma_outs[] = {"logits", "softmax", NULL};
static const char *const jsma_searches[] = {"pair", "lite", NULL};

typedef struct jsma_config {
    double theta;
    double gamma;
    int out;
    int search;
} jsma_config;

static const px_param jsma_params[] = {
    PX_PARAM_REAL(jsma_config, theta, 1, 1e-6, 1e6,
                  "how much a value goes up at a time, in scaled units"),
    PX_PARAM_REAL(jsma_config, gamma, 0.1, 0, 1, "share of the values that may change"),
    PX_PARAM_CHOICE(jsma_config, out, OUT_LOGITS, jsma_outs, "what the gradients are of"),
    PX_PARAM_CHOICE(jsma_config, search, SEARCH_PAIR, jsma_searches,
                    "the best pair, or the two largest alphas"),
    PX_PARAM_END,
};

static bool jsma_one_pass(const pxi_attack_run *run)
{
    const jsma_config *config = run->config;
    return config->out == OUT_SOFTMAX || config->search == SEARCH_LITE;
}

static int jsma_passes(const pxi_attack_run *run)
{
    return jsma_one_pass(run) ? 1 : 2;
}

typedef struct jsma_state { /* then alpha[count], beta[count], free[count] */
    int aim;
} jsma_state;

static size_t jsma_bytes(const pxi_attack_run *run)
{
    return sizeof(jsma_state) + run->rule.count * (2 * sizeof(float) + 1);
}

static int64_t jsma_limit(const pxi_attack_run *run)
{
    const jsma_config *config = run->config;
    const double most = config->gamma * (double)run->rule.count / 2.0;
    const int64_t steps = (int64_t)floor(most);
    return run->options.steps > 0 ? PX_MIN(run->options.steps, steps) : steps;
}

static float *jsma_row(const pxi_slot *slot, int pass)
{
    return (float *)(void *)((jsma_state *)slot->state + 1) + (size_t)pass * slot->run->rule.count;
}

static uint8_t *jsma_free(const pxi_slot *slot)
{
    return (uint8_t *)(void *)jsma_row(slot, 2);
}

static bool jsma_look(pxi_slot *slot)
{
    jsma_state *s = slot->state;
    if (slot->step > 0)
        return true;
    s->aim = slot->target;
    for (int c = 0; slot->target < 0 && c < slot->run->scores.classes; c++)
        if (c != slot->truth && (s->aim < 0 || slot->scores[c] > slot->scores[s->aim]))
            s->aim = c;
    for (size_t i = 0; i < slot->run->rule.count; i++)
        jsma_free(slot)[i] = (double)slot->x[i] < slot->run->rule.high;
    return s->aim >= 0;
}

/* d p_t / d z_k = p_t ((k = t) - p_k), with 1 - p_t as the sum of the others. */
static void jsma_softmax(const pxi_slot *slot, int aim, float *cotangent)
{
    const int classes = slot->run->scores.classes;
    const double loss = px_softmax_loss(slot->scores, classes, aim, cotangent);
    for (int c = 0; c < classes; c++) /* the loss's own derivative is p_k - (k = t) */
        cotangent[c] = (float)(-exp(-loss) * (double)cotangent[c]);
}

static bool jsma_seed(const pxi_slot *slot, int pass, float *cotangent)
{
    const int aim = ((const jsma_state *)slot->state)->aim;
    const jsma_config *config = slot->run->config;
    if (config->out == OUT_SOFTMAX && !slot->run->scores.probabilities)
        jsma_softmax(slot, aim, cotangent);
    else
        for (int c = 0; c < slot->run->scores.classes; c++)
            cotangent[c] = (c == aim) == (pass == 0) ? 1.0f : 0.0f;
    return true;
}

static void jsma_gradient(pxi_slot *slot, int pass, const float *g)
{
    const size_t count = slot->run->rule.count;
    memcpy(jsma_row(slot, pass), g, count * sizeof *g);
    if (!jsma_one_pass(slot->run))
        return;
    float *beta = jsma_row(slot, 1);
    for (size_t i = 0; i < count; i++)
        beta[i] = -g[i];
}

/* The two free values with the largest alpha; false: there are not two. */
static bool jsma_lite(const float *alpha, const uint8_t *free, size_t count, size_t *p, size_t *q)
{
    size_t best[2] = {count, count};
    for (size_t i = 0; i < count; i++) {
        if (!free[i])
            continue;
        if (best[0] == count || alpha[i] > alpha[best[0]]) {
            best[1] = best[0];
            best[0] = i;
        } else if (best[1] == count || alpha[i] > alpha[best[1]]) {
            best[1] = i;
        }
    }
    *p = best[0];
    *q = best[1];
    return best[1] < count;
}

static bool jsma_move(pxi_slot *slot)
{
    const pxi_attack_run *run = slot->run;
    const jsma_config *config = run->config;
    const float *alpha = jsma_row(slot, 0), *beta = jsma_row(slot, 1);
    uint8_t *free = jsma_free(slot);
    size_t pair[2];
    if (config->search == SEARCH_LITE
            ? !jsma_lite(alpha, free, run->rule.count, &pair[0], &pair[1])
            : !pxi_jsma_pair(alpha, beta, free, run->rule.count, &pair[0], &pair[1]))
        return false;
    const double theta = pxi_pixel_levels(&run->rule, config->theta);
    for (int i = 0; i < 2; i++) {
        const double moved = (double)slot->x[pair[i]] + theta;
        free[pair[i]] = moved < run->rule.high;
        slot->x[pair[i]] = (float)PX_MIN(moved, run->rule.high);
    }
    return true;
}

const pxi_attack_method pxi_attack_jsma = {
    .shown = {.entry = {.id = "jsma",
                        .title = "few values, changed a lot, two at a time",
                        .source = "Papernot et al., EuroS&P 2016",
                        .params = jsma_params,
                        .config_size = sizeof(jsma_config)},
              .norms = {PX_NORM_L0}},
    .passes = jsma_passes,
    .state_bytes = jsma_bytes,
    .limit = jsma_limit,
    .look = jsma_look,
    .seed = jsma_seed,
    .gradient = jsma_gradient,
    .move = jsma_move,
};
