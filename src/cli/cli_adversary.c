/* src/cli/cli_adversary.c - the options of adversarial training, for train and repair */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/cli_adversary.h"

#include "cli/cli_net.h"

#include <internal/field.h>
#include <internal/preprocess.h>
#include <inttypes.h>
#include <plexor/attack.h>

px_status cli_adversary_read(const cli_adversary *given, const px_dataset *set,
                             const px_preprocess *pre, px_adversary *out, px_error *err)
{
    px_adversary a = px_adversary_default();
    if (!given->method) {
        *out = a;
        return given->eps || given->step_size || given->range || given->steps || given->stages ||
                       given->share >= 0.0
                   ? px_fail(err, PX_E_USAGE,
                             "--eps, --step-size, --adversary-steps, --adversary-share, "
                             "--adversary-stages and --range go with --adversary fgsm, bim or pgd")
                   : PX_OK;
    }
    a.method = given->method;
    a.steps = given->steps;
    a.stages = given->stages;
    if (given->share >= 0.0)
        a.share = given->share;
    if (given->range)
        PX_TRY(cli_range(given->range, &a.low, &a.high, err));
    px_adversary ranged = a; /* percentages are of the range */
    ranged.steps = 0;
    PX_TRY(px_adversary_complete(&ranged, set, pre, err));
    if (given->eps)
        PX_TRY(px_length_parse(given->eps, "--eps", ranged.low, ranged.high, &a.eps, err));
    if (given->step_size)
        PX_TRY(px_length_parse(given->step_size, "--step-size", ranged.low, ranged.high,
                               &a.step_size, err));
    PX_TRY(px_adversary_complete(&a, set, pre, err));
    *out = a;
    return PX_OK;
}

static void print_length(double length, const px_dataset *set, const px_preprocess *pre)
{
    cli_print("%.4g", length);
    if (px_dataset_is_8bit(set))
        cli_print(" (%.4g of 255 levels)", px_length_levels(pre, length));
}

void cli_adversary_print(const px_adversary *a, const px_dataset *set, const px_preprocess *pre)
{
    if (!a->method)
        return;
    const px_attack_method *method = px_attack_method_find(a->method);
    cli_print("attacks  %s, eps ", a->method);
    print_length(a->eps, set, pre);
    if (method && method->iterates) {
        cli_print(", %" PRId64 " steps of ", a->steps);
        print_length(a->step_size, set, pre);
        cli_print(method->restarts ? " from random starts" : "");
    }
    if (a->stages > 1)
        cli_print(", growing in %" PRId64 " stages", a->stages);
    cli_print("\n         in place of %g%% of every batch; values stay in %g..%g\n",
              100.0 * a->share, a->low, a->high);
}

static const void *adversary_get(const void *of, size_t i, void *row)
{
    (void)row;
    return i == 0 && ((const px_adversary *)of)->method ? of : NULL;
}

static px_datum adversary_norm(const void *of, char *text)
{
    (void)of;
    (void)text;
    return px_datum_text("linf");
}

static const px_field attack_fields[] = {
    PX_FIELD(px_adversary, method, "method", "id of the attack"),
    PX_MADE(TEXT, adversary_norm, "norm", "that eps is measured in"),
    PX_FIELD(px_adversary, eps, "eps", "distance at most", .unit = "scaled units"),
    PX_FIELD(px_adversary, step_size, "step_size", "of each step", .unit = "scaled units"),
    PX_FIELD(px_adversary, steps, "steps", "of each attack"),
    PX_FIELD(px_adversary, share, "share", "of every batch that is replaced", .unit = PX_SHARE),
    PX_FIELD(px_adversary, stages, "stages",
             "equal parts of the epochs in which eps and step size grow; 0 and 1: they do not"),
    PX_FIELD(px_adversary, low, "low", "least that a scaled value may be"),
    PX_FIELD(px_adversary, high, "high", "most that it may be"),
    PX_FIELDS_END,
};

const px_field cli_adversary_fields[] = {
    PX_OBJECT_MADE(adversary_get, attack_fields, "adversary",
                   "attacks in place of training inputs; null: none"),
    PX_FIELDS_END,
};
