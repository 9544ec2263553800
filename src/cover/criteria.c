/* src/cover/criteria.c - the table of criteria, and their settings with presets */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cover/criteria.h"
#include "base/memory.h"
#include "cover/nlc.h"

#include "base/additions.h"

#include <internal/cover.h>
#include <stdlib.h>
#include <string.h>

static const px_entry *const criteria[] = {
#define CRITERION_ROW(id) &px_criterion_##id.entry,
    PXI_CRITERIA(CRITERION_ROW)};
static struct px_additions added;

const px_registry px_criteria = {.kind = "criterion",
                                 .plural = "criteria",
                                 .example = "kmnc.k=1000",
                                 .added = &added,
                                 PX_REGISTRY_POINTERS(criteria)};

px_status px_criterion_add(const px_criterion *criterion, px_error *err)
{
    if (!criterion->unit || !criterion->open || !criterion->close || !criterion->observe ||
        !criterion->gain || !criterion->merge || !criterion->value ||
        !criterion->save != !criterion->load || (criterion->release && !criterion->prepare))
        return px_fail(err, PX_E_USAGE,
                       "the criterion '%.60s' cannot be added: it lacks one of unit, open, close, "
                       "observe, gain, merge, value, or has half of save and load",
                       criterion->entry.id ? criterion->entry.id : "");
    return pxi_registry_add(&px_criteria, &criterion->entry, err);
}

px_coverage px_criterion_told(const void *state)
{
    px_coverage value = {0};
    ((const px_told_state *)state)->tell(state, &value);
    return value;
}

size_t pxi_criterion_state_bytes(const px_criterion *criterion, const void *prepared)
{
    return criterion == &px_criterion_nlc ? pxi_nlc_bytes(prepared) : 0;
}

/* What the preset says of the criterion: "kmnc.k=100", but not "nc.t=0.75". */
static px_status preset_apply(const px_entry *entry, const px_preset *preset, void *config,
                              px_error *err)
{
    const size_t length = strlen(entry->id);
    for (size_t i = 0; preset->texts[i]; i++)
        if (strncmp(preset->texts[i], entry->id, length) == 0 && preset->texts[i][length] == '.')
            PX_TRY(px_entry_set(&px_criteria, entry, preset->texts[i], config, err));
    return PX_OK;
}

px_status px_criterion_configure(const px_criterion *criterion, const char *preset,
                                 const char *const *texts, size_t text_count, void **out,
                                 px_error *err)
{
    const px_entry *entry = &criterion->entry;
    const px_preset *found = NULL;
    void *config = NULL;
    if (preset)
        PX_TRY(px_preset_choose(preset, &found, err));
    PX_TRY(px_entry_configure(&px_criteria, entry, NULL, 0, &config, err));
    px_status status = found ? preset_apply(entry, found, config, err) : PX_OK;
    for (size_t i = 0; i < text_count && status == PX_OK; i++)
        status = px_entry_set(&px_criteria, entry, texts[i], config, err);
    return PX_GIVE(status, config, out, free);
}
