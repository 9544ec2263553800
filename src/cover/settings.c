/* src/cover/settings.c - settings as texts: "kmnc.k=1000", and the papers' own */
#include "cover/settings.h"
#include "cover/presets.h"

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

/* --- of criteria
 * ------------------------------------------------------------------------------------------ */

static pxi_settings criterion_settings(const px_criterion *c)
{
    return (pxi_settings){.id = c->id, .table = c->settings, .count = c->setting_count};
}

static pxi_settings criterion_settings_get(size_t i)
{
    return criterion_settings(px_criterion_get(i));
}

static const pxi_settings_family criterion_family = {.noun = "criterion",
                                                     .list = "criteria",
                                                     .example = "kmnc.k=1000",
                                                     .count = px_criterion_count,
                                                     .get = criterion_settings_get};

px_status px_settings_read(const px_criterion *criterion, const char *preset,
                           const char *const *texts, size_t text_count, double *values,
                           px_error *err)
{
    const pxi_settings own = criterion_settings(criterion);
    pxi_settings_fallback(&own, values);
    if (preset) {
        const px_preset *found = preset_find(preset, err);
        if (!found)
            return PX_E_USAGE;
        for (size_t i = 0; found->texts[i]; i++) {
            const size_t length = strlen(criterion->id);
            if (strncmp(found->texts[i], criterion->id, length) == 0 &&
                found->texts[i][length] == '.')
                PX_TRY(pxi_settings_apply(&criterion_family, &own, found->texts[i], values, err));
        }
    }
    for (size_t i = 0; i < text_count; i++)
        PX_TRY(pxi_settings_apply(&criterion_family, &own, texts[i], values, err));
    return PX_OK;
}

char *px_settings_text(const px_criterion *criterion, const double *values)
{
    const pxi_settings own = criterion_settings(criterion);
    return pxi_settings_text(&own, values);
}
