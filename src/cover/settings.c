/* src/cover/settings.c - settings of criteria: "kmnc.k=1000", and the papers' own */
#include <plexor/cover.h>

#include "base/memory.h"
#include "cover/presets.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

size_t px_preset_count(void)
{
    return pxi_preset_count;
}

const px_preset *px_preset_get(size_t i)
{
    return i < pxi_preset_count ? &pxi_presets[i] : NULL;
}

static const px_preset *preset_find(const char *id, px_error *err)
{
    for (size_t i = 0; i < pxi_preset_count; i++)
        if (strcmp(pxi_presets[i].id, id) == 0)
            return &pxi_presets[i];
    px_text names = {0};
    for (size_t i = 0; i < pxi_preset_count; i++)
        px_text_format(&names, "%s%s", i ? ", " : "", pxi_presets[i].id);
    px_fail(err, PX_E_USAGE, "there is no preset '%.60s'; there are %s", id, px_text_get(&names));
    px_text_done(&names);
    return NULL;
}

static size_t setting_index(const px_criterion *criterion, const char *name, size_t length)
{
    size_t i = 0;
    while (i < criterion->setting_count &&
           (strlen(criterion->settings[i].name) != length ||
            strncmp(criterion->settings[i].name, name, length) != 0))
        i++;
    return i;
}

static px_status setting_value(const px_criterion *criterion, const px_param *setting,
                               const char *text, double *out, px_error *err)
{
    if (setting->choices) {
        px_text names = {0};
        for (size_t i = 0; setting->choices[i]; i++) {
            if (strcmp(setting->choices[i], text) == 0) {
                px_text_done(&names);
                *out = (double)i;
                return PX_OK;
            }
            px_text_format(&names, "%s%s", i ? ", " : "", setting->choices[i]);
        }
        const px_status status = px_fail(err, PX_E_USAGE, "'%s.%s=%.60s': it can be %s",
                                         criterion->id, setting->name, text, px_text_get(&names));
        px_text_done(&names);
        return status;
    }
    char *end;
    errno = 0;
    const double value = strtod(text, &end);
    if (end == text || *end != '\0' || isnan(value) || errno == ERANGE)
        return px_fail(err, PX_E_USAGE, "'%s.%s=%.60s': '%.60s' is not a number", criterion->id,
                       setting->name, text, text);
    if (setting->integer && value != floor(value))
        return px_fail(err, PX_E_USAGE, "'%s.%s=%.60s': a whole number is needed", criterion->id,
                       setting->name, text);
    if (value < setting->least || value > setting->most)
        return px_fail(err, PX_E_USAGE, "'%s.%s=%.60s': it must be between %g and %g",
                       criterion->id, setting->name, text, setting->least, setting->most);
    *out = value;
    return PX_OK;
}

/* One text "id.name=value"; those of other criteria are checked by whoever has them. */
static px_status setting_apply(const px_criterion *criterion, const char *text, double *values,
                               px_error *err)
{
    const char *dot = strchr(text, '.'), *equals = strchr(text, '=');
    if (!dot || !equals || dot > equals || dot == text)
        return px_fail(err, PX_E_USAGE,
                       "'%.100s' is no setting; write CRITERION.NAME=VALUE, as in kmnc.k=1000",
                       text);
    const size_t length = (size_t)(dot - text);
    const px_criterion *owner = NULL;
    for (size_t i = 0; i < px_criterion_count(); i++) {
        const px_criterion *c = px_criterion_get(i);
        if (strlen(c->id) == length && strncmp(c->id, text, length) == 0)
            owner = c;
    }
    if (strlen(criterion->id) == length && strncmp(criterion->id, text, length) == 0)
        owner = criterion; /* one that is not in the table: a test's */
    if (!owner)
        return px_fail(err, PX_E_USAGE,
                       "'%.100s': there is no criterion '%.*s'; 'plexor list criteria' names them",
                       text, (int)PX_MIN(length, 60), text);
    const size_t i = setting_index(owner, dot + 1, (size_t)(equals - dot - 1));
    if (i == owner->setting_count) {
        px_text names = {0};
        for (size_t k = 0; k < owner->setting_count; k++)
            px_text_format(&names, "%s%s", k ? ", " : "; it has ", owner->settings[k].name);
        const px_status status = px_fail(err, PX_E_USAGE, "'%.100s': %s has no such setting%s",
                                         text, owner->id, px_text_get(&names));
        px_text_done(&names);
        return status;
    }
    double value = 0.0;
    PX_TRY(setting_value(owner, &owner->settings[i], equals + 1, &value, err));
    if (owner == criterion)
        values[i] = value;
    return PX_OK;
}

px_status px_settings_read(const px_criterion *criterion, const char *preset,
                           const char *const *texts, size_t text_count, double *values,
                           px_error *err)
{
    for (size_t i = 0; i < criterion->setting_count; i++)
        values[i] = criterion->settings[i].fallback;
    if (preset) {
        const px_preset *found = preset_find(preset, err);
        if (!found)
            return PX_E_USAGE;
        for (size_t i = 0; found->texts[i]; i++) {
            const size_t length = strlen(criterion->id);
            if (strncmp(found->texts[i], criterion->id, length) == 0 &&
                found->texts[i][length] == '.')
                PX_TRY(setting_apply(criterion, found->texts[i], values, err));
        }
    }
    for (size_t i = 0; i < text_count; i++)
        PX_TRY(setting_apply(criterion, texts[i], values, err));
    return PX_OK;
}

char *px_settings_text(const px_criterion *criterion, const double *values)
{
    px_text text = {0};
    char number[PX_REAL_TEXT];
    px_text_add(&text, "");
    for (size_t i = 0; i < criterion->setting_count; i++) {
        const px_param *s = &criterion->settings[i];
        px_text_format(&text, "%s%s=", i ? " " : "", s->name);
        if (s->choices)
            px_text_add(&text, s->choices[(size_t)values[i]]);
        else if (s->integer)
            px_text_format(&text, "%.0f", values[i]);
        else
            px_text_add(&text, px_real_text(values[i], number));
    }
    return px_text_take(&text);
}
