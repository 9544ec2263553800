/* src/select/selectors.c - the table of selectors, and their settings */
#include "select/selectors.h"

#include "base/memory.h"
#include "cover/settings.h"

#include <string.h>

static const px_selector *const selectors[] = {
#define SELECTOR_ROW(id) &px_selector_##id,
    PXI_SELECTORS(SELECTOR_ROW) NULL,
};

size_t px_selector_count(void)
{
    return PX_LEN(selectors) - 1;
}

const px_selector *px_selector_get(size_t i)
{
    return i < PX_LEN(selectors) ? selectors[i] : NULL;
}

const px_selector *px_selector_find(const char *id)
{
    for (size_t i = 0; selectors[i]; i++)
        if (strcmp(selectors[i]->id, id) == 0)
            return selectors[i];
    return NULL;
}

/* --- settings
 * ------------------------------------------------------------------------------------------ */

static pxi_settings selector_settings(const px_selector *s)
{
    return (pxi_settings){.id = s->id, .table = s->settings, .count = s->setting_count};
}

static pxi_settings selector_settings_get(size_t i)
{
    return selector_settings(selectors[i]);
}

static const pxi_settings_family selector_family = {.noun = "selector",
                                                    .list = "selectors",
                                                    .example = "nss.k=10",
                                                    .count = px_selector_count,
                                                    .get = selector_settings_get};

px_status px_selector_settings_read(const px_selector *selector, const char *const *texts,
                                    size_t text_count, double *values, px_error *err)
{
    const pxi_settings own = selector_settings(selector);
    pxi_settings_fallback(&own, values);
    for (size_t i = 0; i < text_count; i++)
        PX_TRY(pxi_settings_apply(&selector_family, &own, texts[i], values, err));
    return PX_OK;
}

char *px_selector_settings_text(const px_selector *selector, const double *values)
{
    const pxi_settings own = selector_settings(selector);
    return pxi_settings_text(&own, values);
}
