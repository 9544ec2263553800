/* src/generate/minimize_guide.c - the criterion that a campaign was guided by, to choose inputs by
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"

#include <internal/fuzz.h>
#include <internal/minimize.h>
#include <plexor/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "k=1000 variant=ceil" of the guide becomes "kmnc.k=1000", "kmnc.variant=ceil". */
static px_status guide_settings(px_minimize_guide *guide, const char *id, const char *settings,
                                px_error *err)
{
    while (*settings) {
        const int length = (int)strcspn(settings, " ");
        PX_TRY(PX_GROW(guide->settings, guide->setting_capacity, guide->setting_count + 1, err));
        char **next = &guide->settings[guide->setting_count];
        if (length && asprintf(next, "%s.%.*s", id, length, settings) < 0)
            return pxi_no_memory(err);
        guide->setting_count += length > 0;
        settings += length + (settings[length] == ' ');
    }
    return PX_OK;
}

/* "layers=conv tap=post neurons=chan: 2 layers, ..." fills what the options leave open. */
static px_status guide_neurons(px_minimize_guide *guide, const char *definition,
                               px_cover_options *options, px_error *err)
{
    char *text = guide->neurons = strdup(definition);
    if (!text)
        return pxi_no_memory(err);
    char *tap = strstr(text, " tap="), *neurons = tap ? strstr(tap, " neurons=") : NULL;
    char *end = neurons ? strchr(neurons, ':') : NULL;
    if (strncmp(text, "layers=", 7) != 0 || !end)
        return PX_OK;
    *tap = *neurons = *end = '\0';
    options->layers = options->layers ? options->layers : text + 7;
    options->tap = options->tap ? options->tap : tap + 5;
    options->neurons = options->neurons ? options->neurons : neurons + 9;
    return PX_OK;
}

static const char *text_of(const px_json_value *root, const char *key)
{
    const px_json_value *value = px_json_member(root, key);
    return value && value->kind == PX_JSON_STRING ? value->string : NULL;
}

static px_status guide_take(px_minimize_guide *guide, const px_json_value *root,
                            px_cover_options *options, px_error *err)
{
    const char *id = text_of(root, "guide"), *settings = text_of(root, "guide_settings"),
               *neurons = text_of(root, "guide_neurons");
    const px_criterion *criterion = id ? px_criterion_find(id) : NULL;
    if (!criterion || criterion->ordered || !*criterion->unit)
        return PX_OK;
    options->criteria = criterion->entry.id;
    if (settings && !options->setting_count) {
        PX_TRY(guide_settings(guide, criterion->entry.id, settings, err));
        options->settings = (const char *const *)guide->settings;
        options->setting_count = guide->setting_count;
    }
    return neurons ? guide_neurons(guide, neurons, options, err) : PX_OK;
}

px_status px_minimize_guide_open(px_campaign *campaign, px_cover_options *options,
                                 px_minimize_guide *guide, px_error *err)
{
    px_campaign_identity identity = {0};
    px_json_document *document = NULL;
    *guide = (px_minimize_guide){0};
    options->criteria = "nc";
    if (!px_campaign_identity_get(campaign, &identity) || !identity.settings)
        return PX_OK;
    px_status status = px_json_parse(identity.settings, strlen(identity.settings), &document, err);
    if (status == PX_E_INPUT) /* not those of fuzz */
        return PX_OK;
    PX_THEN(status, guide_take(guide, px_json_root(document), options, err));
    px_json_free(document);
    return status;
}

void px_minimize_guide_close(px_minimize_guide *guide)
{
    for (size_t i = 0; i < guide->setting_count; i++)
        free(guide->settings[i]);
    free(guide->settings);
    free(guide->neurons);
    *guide = (px_minimize_guide){0};
}
