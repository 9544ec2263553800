/* src/store/campaign_preprocess.c - what a campaign remembers of how its inputs are fed
 *
 * Without it, whoever looks at a campaign would have to repeat --mean and --std, and would see
 * other predictions than were stored where that is forgotten.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include <internal/store.h>
#include <plexor/json.h>
#include <string.h>

static bool campaign_number(const px_json_value *value)
{
    return value && value->kind == PX_JSON_NUMBER;
}

/* A list that holds for every channel, by one number or by one each; else nothing changes. */
static bool campaign_numbers(const px_json_value *list, px_preprocess *pre, float *out)
{
    if (!list || list->kind != PX_JSON_ARRAY || list->count < 1 ||
        list->count > PX_PREPROCESS_CHANNELS ||
        (list->count > 1 && pre->channels > 1 && list->count != (size_t)pre->channels))
        return false;
    for (size_t c = 0; c < list->count; c++)
        if (!campaign_number(&list->items[c]))
            return false;
    for (; pre->channels < (int)list->count; pre->channels++) {
        pre->mean[pre->channels] = pre->mean[0];
        pre->stddev[pre->channels] = pre->stddev[0];
    }
    for (int c = 0; c < pre->channels; c++)
        out[c] = (float)list->items[list->count > 1 ? c : 0].number;
    return true;
}

static void campaign_take(const px_json_value *settings, px_preprocess *pre)
{
    const px_json_value *from =
        settings->kind == PX_JSON_OBJECT ? px_json_member(settings, "preprocess") : NULL;
    if (!from || from->kind != PX_JSON_OBJECT)
        return;
    const px_json_value *scale = px_json_member(from, "scale");
    if (strcmp(pre->scale_from, "default") == 0 && campaign_number(scale)) {
        pre->scale = (float)scale->number;
        pre->range = 0.0f;
        pre->scale_from = "campaign";
    }
    if (strcmp(pre->mean_from, "default") == 0 &&
        campaign_numbers(px_json_member(from, "mean"), pre, pre->mean))
        pre->mean_from = "campaign";
    if (strcmp(pre->std_from, "default") == 0 &&
        campaign_numbers(px_json_member(from, "std"), pre, pre->stddev))
        pre->std_from = "campaign";
}

void px_campaign_preprocess(const char *spec, const px_model *model, px_preprocess *pre)
{
    px_campaign *campaign = NULL;
    px_campaign_identity identity;
    px_json_document *document = NULL;
    if (!spec || !px_campaign_is(spec) ||
        px_campaign_open(spec, PX_CAMPAIGN_READ, &campaign, NULL) != PX_OK)
        return;
    if (px_campaign_identity_get(campaign, &identity) &&
        identity.model_hash == px_model_hash(model) && identity.settings &&
        px_json_parse(identity.settings, strlen(identity.settings), &document, NULL) == PX_OK)
        campaign_take(px_json_root(document), pre);
    px_json_free(document);
    px_campaign_close(campaign);
}
