/* src/train/adversary.c - the settings of adversarial training (LGR F.2)
 *
 * The defaults for inputs of one channel are Madry et al.'s for MNIST, those for others ART's for
 * CIFAR-10. An eps of the user's own keeps the ratio of step to eps.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include <internal/train.h>

#include <internal/text.h>
#include <plexor/attack.h>

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

static const struct adversary_preset {
    double eps; /* of the range */
    double step_share;
    int64_t steps;
} ONE_CHANNEL = {0.3, 1.0 / 30, 40}, COLOUR = {8.0 / 255, 0.25, 7};

px_adversary px_adversary_default(void)
{
    return (px_adversary){
        .eps = (double)NAN,
        .step_size = (double)NAN,
        .share = 1.0,
        .low = (double)NAN,
        .high = (double)NAN,
    };
}

static bool adversary_is_one_channel(const px_dataset *set)
{
    const px_shape shape = px_dataset_shape(set);
    return shape.rank < 3 || shape.dim[shape.rank - 3] == 1;
}

/* Attacks that follow the loss within a ball: those whose results can be trained on. */
static const px_attack_method *adversary_method(const char *id)
{
    const px_attack_method *method = px_attack_method_find(id);
    return method && method->bounded ? method : NULL;
}

px_status px_adversary_complete(px_adversary *adversary, const px_dataset *set,
                                const px_preprocess *pre, px_error *err)
{
    px_adversary a = *adversary;
    if (!a.method)
        return PX_OK;
    const px_attack_method *method = adversary_method(a.method);
    if (!method)
        return px_fail(err, PX_E_USAGE,
                       "adversary '%.60s': expected fgsm, bim or pgd, which stay within eps",
                       a.method);
    if (!(a.share > 0.0 && a.share <= 1.0))
        return px_fail(err, PX_E_USAGE,
                       "replacing a share of %g of every batch: expected one above 0 and up to 1",
                       a.share);
    if (a.stages < 0)
        return px_fail(err, PX_E_USAGE, "%" PRId64 " stages of an adversary: expected 1 or more",
                       a.stages);
    const struct adversary_preset *preset = adversary_is_one_channel(set) ? &ONE_CHANNEL : &COLOUR;
    px_attack_options o = px_attack_options_default();
    o.method = a.method = method->entry.id;
    o.norm = PX_NORM_LINF;
    o.keep_float = true; /* nothing is rounded, so the range may be any */
    o.low = a.low;
    o.high = a.high;
    px_attack_options ranged = o;
    PX_TRY(px_attack_complete(&ranged, set, pre, err));
    o.eps = isnan(a.eps) ? preset->eps * (ranged.high - ranged.low) : a.eps;
    o.step_size = isnan(a.step_size) && method->iterates ? o.eps * preset->step_share : a.step_size;
    o.steps = a.steps == 0 && method->iterates ? preset->steps : a.steps;
    PX_TRY(px_attack_complete(&o, set, pre, err));
    a.eps = o.eps;
    a.step_size = o.step_size;
    a.steps = o.steps;
    a.low = o.low;
    a.high = o.high;
    *adversary = a;
    return PX_OK;
}

const char *px_adversary_text(const px_adversary *a, char text[PX_ADVERSARY_TEXT])
{
    char number[5][PX_REAL_TEXT], steps[96] = "", stages[48] = "";
    if (!a->method) {
        snprintf(text, PX_ADVERSARY_TEXT, "none");
        return text;
    }
    const px_attack_method *method = adversary_method(a->method);
    if (method && method->iterates)
        snprintf(steps, sizeof steps, ", %" PRId64 " steps of %s%s", a->steps,
                 px_real_text(a->step_size, number[0]),
                 method->restarts ? " from random starts" : "");
    if (a->stages > 1)
        snprintf(stages, sizeof stages, ", in %" PRId64 " stages", a->stages);
    snprintf(text, PX_ADVERSARY_TEXT, "%s eps %s%s%s, %s of every batch, values %s to %s",
             a->method, px_real_text(a->eps, number[1]), steps, stages,
             px_real_text(a->share, number[2]), px_real_text(a->low, number[3]),
             px_real_text(a->high, number[4]));
    return text;
}
