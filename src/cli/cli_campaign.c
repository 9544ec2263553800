/* src/cli/cli_campaign.c - what a campaign remembers of how its inputs are fed, and of how it was
 * begun
 *
 * Without it, whoever looks at a campaign would have to repeat --mean and --std, and would see
 * other predictions than were stored where that is forgotten.
 */
#include "cli/cli_campaign.h"

#include "base/memory.h"

#include <internal/store.h>
#include <limits.h>
#include <math.h>
#include <plexor/json.h>
#include <stdlib.h>
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

void cli_campaign_preprocess(const px_model *model, const cli_data *data, px_preprocess *pre)
{
    px_campaign *campaign = NULL;
    px_campaign_identity identity;
    px_json_document *document = NULL;
    if (!data->spec || !px_campaign_is(data->spec) ||
        px_campaign_open(data->spec, PX_CAMPAIGN_READ, &campaign, NULL) != PX_OK)
        return;
    if (px_campaign_identity_get(campaign, &identity) &&
        identity.model_hash == px_model_hash(model) && identity.settings &&
        px_json_parse(identity.settings, strlen(identity.settings), &document, NULL) == PX_OK)
        campaign_take(px_json_root(document), pre);
    px_json_free(document);
    px_campaign_close(campaign);
}

/* --- what is found --------------------------------------------------------------------------- */

static void found_json(px_json *json, const px_campaign *campaign, const px_campaign_input *fault)
{
    px_json_object(json, NULL);
    px_json_string(json, "campaign", px_campaign_folder(campaign));
    px_json_int(json, "id", fault->id);
    px_json_int(json, "root", fault->root);
    px_json_int(json, "index", fault->data_index);
    px_json_int(json, "label", fault->label);
    px_json_int(json, "prediction", fault->prediction);
    px_json_real(json, "confidence", fault->confidence);
    px_json_real(json, "l2", fault->l2);
    px_json_real(json, "linf", fault->linf);
    px_json_real(json, "similarity", fault->measured ? fault->near.similarity : NAN);
    px_json_real(json, "inside", fault->measured ? fault->near.inside : NAN);
    px_json_int(json, "twin", fault->twin);
    px_json_string(json, "chain", fault->chain);
    px_json_real(json, "found_s", fault->found_s);
    px_json_end(json);
}

/* A px_campaign_told. */
static px_status found_tell(void *context, px_campaign *campaign, int64_t id, px_error *err)
{
    cli_call *call = context;
    px_campaign_identity identity;
    px_campaign_input fault, root;
    px_json json = {0};
    px_call_finding finding = {.size = sizeof finding};
    if (call->stopped || !px_campaign_identity_get(campaign, &identity))
        return PX_OK;
    px_status status = px_tensor_init(&finding.input, identity.dtype, &identity.shape, err);
    PX_THEN(status, px_tensor_init(&finding.original, identity.dtype, &identity.shape, err));
    PX_THEN(status, px_campaign_read(campaign, id, &fault, finding.input.data, err));
    if (status == PX_OK)
        found_json(&json, campaign, &fault);
    PX_THEN(status, px_campaign_read(campaign, fault.root, &root, finding.original.data, err));
    finding.json = px_json_text(&json);
    if (status == PX_OK && !finding.json)
        status = pxi_no_memory(err);
    if (status == PX_OK && !call->io->found(call->io->context, &finding))
        call->stopped = true;
    px_json_done(&json);
    px_tensor_done(&finding.input);
    px_tensor_done(&finding.original);
    return status;
}

void cli_campaign_watch(px_campaign *campaign)
{
    cli_call *call = cli_now();
    if (call->io && call->io->found)
        px_campaign_watch(campaign, found_tell, call);
}

/* --- how it was begun ------------------------------------------------------------------------ */

#define BEGUN_WITH "arguments" /* a JSON array */

px_status cli_campaign_begin(px_campaign *campaign, int argc, char **argv, px_error *err)
{
    char *had = NULL;
    px_json json = {0};
    PX_TRY(px_campaign_get(campaign, BEGUN_WITH, &had, err));
    if (had) {
        free(had);
        return PX_OK;
    }
    px_json_array(&json, NULL);
    for (int i = 0; i < argc; i++)
        px_json_string(&json, NULL, argv[i]);
    px_json_end(&json);
    const char *text = px_json_text(&json);
    const px_status status =
        text ? px_campaign_set(campaign, BEGUN_WITH, text, err) : pxi_no_memory(err);
    px_json_done(&json);
    PX_TRY(status);
    return px_campaign_commit(campaign, err);
}

static px_status begun_words(const px_json_value *list, const char *folder, char ***words,
                             int *count, px_error *err)
{
    bool good = list->kind == PX_JSON_ARRAY && list->count > 0 && list->count < INT_MAX;
    for (size_t i = 0; good && i < list->count; i++)
        good = list->items[i].kind == PX_JSON_STRING;
    if (!good)
        return px_fail(err, PX_E_INPUT, "'%.200s': is damaged: '" BEGUN_WITH "' is not readable",
                       folder);
    char **made = cli_keep_alloc(list->count, sizeof *made);
    for (size_t i = 0; made && i < list->count; i++) {
        const size_t size = strlen(list->items[i].string) + 1;
        if (!(made[i] = cli_keep_alloc(size, 1)))
            return pxi_no_memory(err);
        memcpy(made[i], list->items[i].string, size);
    }
    *words = made;
    *count = (int)list->count;
    return made ? PX_OK : pxi_no_memory(err);
}

px_status cli_campaign_begun(const char *folder, char ***words, int *count, px_error *err)
{
    px_campaign *campaign = NULL;
    px_json_document *document = NULL;
    char *text = NULL;
    PX_TRY(px_campaign_open(folder, PX_CAMPAIGN_READ, &campaign, err));
    px_status status = px_campaign_get(campaign, BEGUN_WITH, &text, err);
    px_campaign_close(campaign);
    if (status == PX_OK && !text)
        status =
            px_fail(err, PX_E_USAGE,
                    "'%.200s' does not say what it was begun with: give MODEL and --data", folder);
    PX_THEN(status, px_json_parse(text, strlen(text), &document, err));
    PX_THEN(status, begun_words(px_json_root(document), folder, words, count, err));
    px_json_free(document);
    free(text);
    return status;
}
