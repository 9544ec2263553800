/* src/base/param_texts.c - settings as texts: "kmnc.k=1000" */
#include "base/param_texts.h"

#include "base/memory.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <plexor/text.h>
#include <stdlib.h>
#include <string.h>

static size_t setting_index(const pxi_settings *of, const char *name, size_t length)
{
    size_t i = 0;
    while (i < of->count &&
           (strlen(of->table[i].name) != length || strncmp(of->table[i].name, name, length) != 0))
        i++;
    return i;
}

static px_status setting_value(const char *id, const px_param *setting, const char *text,
                               double *out, px_error *err)
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
        const px_status status = px_fail(err, PX_E_USAGE, "'%s.%s=%.60s': it can be %s", id,
                                         setting->name, text, px_text_get(&names));
        px_text_done(&names);
        return status;
    }
    char *end;
    errno = 0;
    if (setting->none && strcmp(text, "none") == 0) {
        *out = INFINITY;
        return PX_OK;
    }
    double value = strtod(text, &end);
    if (end != text && *end == '/' && !setting->integer) { /* 8/255 */
        const char *below = end + 1;
        value /= strtod(below, &end);
        end = end == below ? (char *)text : end;
    }
    if (end == text || *end != '\0' || isnan(value) || errno == ERANGE)
        return px_fail(err, PX_E_USAGE, "'%s.%s=%.60s': '%.60s' is not a number", id, setting->name,
                       text, text);
    if (setting->integer && value != floor(value))
        return px_fail(err, PX_E_USAGE, "'%s.%s=%.60s': a whole number is needed", id,
                       setting->name, text);
    if (value < setting->least || value > setting->most)
        return px_fail(err, PX_E_USAGE, "'%s.%s=%.60s': it must be between %g and %g", id,
                       setting->name, text, setting->least, setting->most);
    *out = value;
    return PX_OK;
}

static bool setting_of(const char *id, const char *text, size_t length)
{
    return strlen(id) == length && strncmp(id, text, length) == 0;
}

px_status pxi_settings_apply(const pxi_settings_family *family, const pxi_settings *own,
                             const char *text, double *values, px_error *err)
{
    const char *dot = strchr(text, '.'), *equals = strchr(text, '=');
    if (!dot || !equals || dot > equals || dot == text) {
        px_text noun = {0};
        for (const char *c = family->noun; *c; c++)
            px_text_format(&noun, "%c", toupper((unsigned char)*c));
        const px_status status =
            px_fail(err, PX_E_USAGE, "'%.100s' is no setting; write %s.NAME=VALUE, as in %s", text,
                    px_text_get(&noun), family->example);
        px_text_done(&noun);
        return status;
    }
    const size_t length = (size_t)(dot - text);
    const bool mine = setting_of(own->id, text, length);
    pxi_settings owner = mine ? *own : (pxi_settings){0};
    for (size_t i = 0; !owner.id && i < family->count(); i++)
        if (setting_of(family->get(i).id, text, length))
            owner = family->get(i);
    if (!owner.id)
        return px_fail(err, PX_E_USAGE,
                       "'%.100s': there is no %s '%.*s'; 'plexor list %s' names them", text,
                       family->noun, (int)PX_MIN(length, 60), text, family->list);
    const size_t i = setting_index(&owner, dot + 1, (size_t)(equals - dot - 1));
    if (i == owner.count) {
        px_text names = {0};
        for (size_t k = 0; k < owner.count; k++)
            px_text_format(&names, "%s%s", k ? ", " : "; it has ", owner.table[k].name);
        const px_status status = px_fail(err, PX_E_USAGE, "'%.100s': %s has no such setting%s",
                                         text, owner.id, px_text_get(&names));
        px_text_done(&names);
        return status;
    }
    double value = 0.0;
    PX_TRY(setting_value(owner.id, &owner.table[i], equals + 1, &value, err));
    if (mine)
        values[i] = value;
    return PX_OK;
}

void pxi_settings_fallback(const pxi_settings *own, double *values)
{
    for (size_t i = 0; i < own->count; i++)
        values[i] = own->table[i].fallback;
}

char *pxi_settings_text(const pxi_settings *own, const double *values)
{
    px_text text = {0};
    char number[PX_REAL_TEXT];
    px_text_add(&text, "");
    for (size_t i = 0; i < own->count; i++) {
        const px_param *s = &own->table[i];
        px_text_format(&text, "%s%s=", i ? " " : "", s->name);
        if (s->choices)
            px_text_add(&text, s->choices[(size_t)values[i]]);
        else if (s->none && isinf(values[i]))
            px_text_add(&text, "none");
        else if (s->integer)
            px_text_format(&text, "%.0f", values[i]);
        else
            px_text_add(&text, px_real_text(values[i], number));
    }
    return px_text_take(&text);
}
