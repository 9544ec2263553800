/* src/cli/cli_campaign.c - a campaign that a command works on: what it finds, how it was begun */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/cli_campaign.h"

#include "base/memory.h"

#include <internal/field.h>
#include <internal/store.h>
#include <limits.h>
#include <math.h>
#include <plexor/json.h>
#include <stdlib.h>
#include <string.h>

/* --- what is found --------------------------------------------------------------------------- */

typedef struct found {
    const char *campaign;
    px_campaign_input input;
    double similarity, inside; /* NaN: not measured */
} found;

static const px_field found_fields[] = {
    PX_FIELD(found, campaign, "campaign", "its folder"),
    PX_FIELD(found, input.id, "id", "of the input in it"),
    PX_FIELD(found, input.root, "root", "id of the seed it was made from"),
    PX_FIELD(found, input.data_index, "index", "of the seed in the data; -1: not known"),
    PX_FIELD(found, input.label, "label", "of the seed"),
    PX_FIELD(found, input.prediction, "prediction", "of the network"),
    PX_FIELD(found, input.confidence, "confidence", "in the prediction"),
    PX_FIELD(found, input.l2, "l2", "distance to the seed"),
    PX_FIELD(found, input.linf, "linf", "largest change of a value"),
    PX_FIELD(found, similarity, "similarity", "to the seed; null: not measured"),
    PX_FIELD(found, inside, "inside", "share of changes inside the object; null: not measured"),
    PX_FIELD(found, input.twin, "twin", "id of the failure that it nearly repeats; 0: none"),
    PX_FIELD(found, input.chain, "chain", "how it was made"),
    PX_FIELD(found, input.found_s, "found_s", "seconds into the campaign"),
    PX_FIELDS_END,
};

/* A px_campaign_told. */
static px_status found_tell(void *context, px_campaign *campaign, int64_t id, px_error *err)
{
    cli_call *call = context;
    px_campaign_identity identity;
    px_campaign_input root;
    found fault = {
        .campaign = px_campaign_folder(campaign), .similarity = (double)NAN, .inside = (double)NAN};
    char *json = NULL;
    px_call_finding finding = {.size = sizeof finding};
    if (call->stopped || !px_campaign_identity_get(campaign, &identity))
        return PX_OK;
    px_status status = px_tensor_init(&finding.input, identity.dtype, &identity.shape, err);
    PX_THEN(status, px_tensor_init(&finding.original, identity.dtype, &identity.shape, err));
    PX_THEN(status, px_campaign_read(campaign, id, &fault.input, finding.input.data, err));
    if (status == PX_OK && fault.input.measured) {
        fault.similarity = fault.input.near.similarity;
        fault.inside = fault.input.near.inside;
    }
    PX_THEN(status, px_fields_text(found_fields, &fault, &json, err));
    PX_THEN(status,
            px_campaign_read(campaign, fault.input.root, &root, finding.original.data, err));
    finding.json = json;
    if (status == PX_OK && !call->io->found(call->io->context, &finding))
        call->stopped = true;
    free(json);
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
