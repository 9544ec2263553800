/* src/attack/attacks.c - the table of attacks, and their options */
/* SPDX-License-Identifier: Apache-2.0 */
#include "attack/methods.h"

#include "base/memory.h"

#include <internal/attack.h>
#include <inttypes.h>
#include <math.h>
#include <plexor/text.h>
#include <stdlib.h>
#include <string.h>

static const px_entry *const methods[] = {
#define ATTACK_ROW(id) &pxi_attack_##id.shown.entry,
    PXI_ATTACKS(ATTACK_ROW)};

const px_registry px_attacks = {.kind = "attack",
                                .plural = "attacks",
                                .example = "jsma.theta=0.5",
                                PX_REGISTRY_POINTERS(methods)};

const pxi_attack_method *pxi_attack_find(const char *id, px_error *err)
{
    const px_entry *entry = NULL;
    px_registry_choose(&px_attacks, id, &entry, err);
    return (const pxi_attack_method *)(const void *)entry;
}

/* --- norms ----------------------------------------------------------------------------------- */

static const char *const norm_names[] = {
    [PX_NORM_AUTO] = "auto",
    [PX_NORM_LINF] = "linf",
    [PX_NORM_L2] = "l2",
    [PX_NORM_L0] = "l0",
};

const char *px_norm_name(px_norm norm)
{
    return (size_t)norm < PX_LEN(norm_names) ? norm_names[norm] : "?";
}

px_status px_norm_parse(const char *text, px_norm *out, px_error *err)
{
    for (size_t i = 0; i < PX_LEN(norm_names); i++)
        if (strcmp(norm_names[i], text) == 0) {
            *out = (px_norm)i;
            return PX_OK;
        }
    return px_fail(err, PX_E_USAGE, "there is no norm '%.60s'; there are linf, l2 and l0", text);
}

static px_status norm_choose(const px_attack_method *method, px_norm *norm, px_error *err)
{
    px_text names = {0};
    if (*norm == PX_NORM_AUTO)
        *norm = method->norms[0];
    for (size_t i = 0; i < PX_LEN(method->norms) && method->norms[i] != PX_NORM_AUTO; i++) {
        if (method->norms[i] == *norm) {
            px_text_done(&names);
            return PX_OK;
        }
        px_text_format(&names, "%s%s", i ? " and " : "", px_norm_name(method->norms[i]));
    }
    const px_status status = px_fail(err, PX_E_USAGE, "%s works with the norm %s, not with %s",
                                     method->entry.id, px_text_get(&names), px_norm_name(*norm));
    px_text_done(&names);
    return status;
}

px_status px_attack_settings_text(const px_attack_options *options, char **out, px_error *err)
{
    const px_entry *entry = NULL;
    void *config = NULL;
    PX_TRY(px_registry_choose(&px_attacks, options->method, &entry, err));
    PX_TRY(px_entry_configure(&px_attacks, entry, options->settings, options->setting_count,
                              &config, err));
    char *text = px_params_text(entry->params, config);
    free(config);
    if (!text)
        return pxi_no_memory(err);
    *out = text;
    return PX_OK;
}

/* --- options --------------------------------------------------------------------------------- */

px_attack_options px_attack_options_default(void)
{
    return (px_attack_options){.method = "pgd",
                               .eps = (double)NAN,
                               .step_size = (double)NAN,
                               .restarts = 1,
                               .target = -1,
                               .low = (double)NAN,
                               .high = (double)NAN};
}

/* The largest difference that two inputs can have. */
static double widest(const px_attack_options *o, const px_dataset *set)
{
    const px_shape shape = px_dataset_shape(set);
    const double range = o->high - o->low;
    return o->norm == PX_NORM_L2 ? range * sqrt((double)px_shape_count(&shape)) : range;
}

static px_status complete_eps(px_attack_options *o, const pxi_attack_method *method,
                              const px_dataset *set, px_error *err)
{
    if (!method->shown.bounded)
        return isnan(o->eps) ? PX_OK
                             : px_fail(err, PX_E_USAGE,
                                       "%s looks for a small change by itself and takes no eps",
                                       method->shown.entry.id);
    if (isnan(o->eps))
        o->eps = 8.0 / 255.0 * (o->high - o->low);
    if (!(o->eps > 0.0))
        return px_fail(err, PX_E_USAGE, "an eps of %g lets nothing change", o->eps);
    if (o->eps > widest(o, set))
        return px_fail(err, PX_E_USAGE,
                       "an eps of %g is more than any two inputs differ by, which is %g by %s: "
                       "values are %g to %g in scaled units (8/255 is eight levels of 8-bit data)",
                       o->eps, widest(o, set), px_norm_name(o->norm), o->low, o->high);
    return PX_OK;
}

static px_status complete_steps(px_attack_options *o, const pxi_attack_method *method,
                                px_error *err)
{
    const double across = 2.5; /* eps: from one side of the ball to the other, and some */
    const int64_t steps = o->steps > 0 ? o->steps : method->steps;
    const double own = o->eps * (method->shown.iterates && steps < method->steps
                                     ? fmax(method->share, across / (double)steps)
                                     : method->share);
    if (isnan(o->step_size) && method->share > 0.0)
        o->step_size = own;
    else if (!method->shown.iterates && !isnan(o->step_size) && o->step_size != own)
        return px_fail(err, PX_E_USAGE, "%s takes no step size", method->shown.entry.id);
    else if (method->shown.iterates && !(o->step_size > 0.0 && isfinite(o->step_size)))
        return px_fail(err, PX_E_USAGE, "a step size of %g leads nowhere", o->step_size);
    if (o->steps == 0)
        o->steps = method->steps;
    else if (o->steps < 0 || o->steps > 1000000)
        return px_fail(err, PX_E_USAGE, "%" PRId64 " steps: expected 1 to 1000000", o->steps);
    else if (method->steps == 1 && o->steps > 1)
        return px_fail(err, PX_E_USAGE, "%s takes one step; bim takes several",
                       method->shown.entry.id);
    return PX_OK;
}

px_status px_attack_complete(px_attack_options *options, const px_dataset *set,
                             const px_preprocess *pre, px_error *err)
{
    px_attack_options o = *options;
    const pxi_attack_method *method = pxi_attack_find(o.method, err);
    void *config = NULL;
    if (!method)
        return PX_E_USAGE;
    PX_TRY(norm_choose(&method->shown, &o.norm, err));
    PX_TRY(px_entry_configure(&px_attacks, &method->shown.entry, o.settings, o.setting_count,
                              &config, err)); /* refuses wrong ones before anything runs */
    free(config);
    PX_TRY(
        pxi_pixel_range(set, pre, px_dataset_is_8bit(set) && !o.keep_float, &o.low, &o.high, err));
    PX_TRY(complete_eps(&o, method, set, err));
    PX_TRY(complete_steps(&o, method, err));
    if (o.restarts < 1 || o.restarts > 1000000)
        return px_fail(err, PX_E_USAGE, "%" PRId64 " restarts: expected 1 to 1000000", o.restarts);
    if (o.restarts > 1 && (!method->shown.restarts || o.no_random))
        return px_fail(err, PX_E_USAGE,
                       "%s begins at the input itself%s, so that all %" PRId64
                       " starts would be the same",
                       method->shown.entry.id,
                       method->shown.restarts ? " without random starts" : "", o.restarts);
    *options = o;
    return PX_OK;
}
