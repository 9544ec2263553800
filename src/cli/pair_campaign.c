/* src/cli/pair_campaign.c - the campaign that attack and synthesize write their pairs into */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/pair_campaign.h"

#include "base/memory.h"
#include "cli/cli_campaign.h"

#include <internal/store.h>
#include <plexor/json.h>
#include <stdio.h>
#include <string.h>

bool pair_place_check(const cli_command *self, const pair_place *place, bool is_campaign)
{
    if (place->resume && place->fresh)
        cli_usage_error(self, "--resume and --fresh exclude each other");
    else if (place->resume && !is_campaign)
        cli_usage_error(self, "--resume is about a campaign: it needs -o %s",
                        strcmp(self->name, "synthesize") == 0 ? "NAME.campaign" : "FOLDER");
    else if (place->fresh && !place->folder)
        cli_usage_error(self, "--fresh is about a folder: it needs -o");
    else
        return true;
    return false;
}

/* The command whose campaign it is, as its settings say; "" where they do not. */
static void identity_command(const px_campaign_identity *identity, char name[32])
{
    px_json_document *document = NULL;
    name[0] = '\0';
    if (px_json_parse(identity->settings, strlen(identity->settings), &document, NULL) != PX_OK)
        return;
    const px_json_value *value = px_json_member(px_json_root(document), "command");
    if (value && value->kind == PX_JSON_STRING)
        snprintf(name, 32, "%s", value->string);
    px_json_free(document);
}

static const char *campaign_noun(const char *command)
{
    return strcmp(command, "synthesize") == 0 ? "synthesis" : command;
}

/* What is there, and what to do; PX_OK where nothing is in it yet. */
static px_status campaign_refuse(const char *command, const char *folder, px_error *err)
{
    px_campaign *there = NULL;
    px_campaign_identity identity;
    char name[32];
    if (px_campaign_open(folder, PX_CAMPAIGN_READ, &there, NULL) != PX_OK)
        return PX_OK; /* empty; or damaged, which opening it for writing will tell */
    const double planned = px_campaign_get_real(there, PX_CAMPAIGN_INPUTS_PLANNED, -1.0);
    const double done = px_campaign_get_real(there, PX_CAMPAIGN_INPUTS_DONE, -1.0);
    px_status status = PX_OK;
    if (px_campaign_identity_get(there, &identity)) {
        identity_command(&identity, name);
        if (strcmp(name, command) != 0)
            status = px_fail(err, PX_E_USAGE,
                             "'%.200s' holds a campaign of another command; name another folder, "
                             "or use --fresh, which removes it",
                             folder);
        else if (done < planned)
            status = px_fail(err, PX_E_USAGE,
                             "'%.200s' holds an unfinished %s (%.0f of %.0f inputs); go on with "
                             "--resume, or begin anew with --fresh",
                             folder, campaign_noun(command), done, planned);
        else
            status = px_fail(err, PX_E_USAGE,
                             "'%.200s' holds a finished %s; name another folder or use --fresh",
                             folder, campaign_noun(command));
    }
    px_campaign_close(there);
    return status;
}

px_status pair_campaign_open(pair_campaign *to, const cli_command *self, const pair_place *place,
                             px_error *err)
{
    const bool there = px_campaign_is(place->folder);
    to->command = self->name;
    if (there && !place->resume && !place->fresh)
        PX_TRY(campaign_refuse(self->name, place->folder, err));
    PX_TRY(px_campaign_open(place->folder,
                            place->fresh             ? PX_CAMPAIGN_FRESH
                            : place->resume || there ? PX_CAMPAIGN_RESUME
                                                     : PX_CAMPAIGN_CREATE,
                            &to->campaign, err));
    cli_campaign_watch(to->campaign);
    return PX_OK;
}

px_status pair_campaign_identify(pair_campaign *to, const cli_inputs *inputs, bool keep_float,
                                 const px_model *model, int classes, const char *settings,
                                 int64_t seed, px_error *err)
{
    const px_campaign_identity identity = {
        .model_hash = px_model_hash(model),
        .data_hash = px_dataset_hash(inputs->set),
        .seed = (uint64_t)seed,
        .dtype = px_dataset_is_8bit(inputs->set) && !keep_float ? PX_UINT8 : PX_FLOAT32,
        .shape = px_dataset_shape(inputs->set),
        .classes = classes,
        .settings = settings,
    };
    if (!settings)
        return pxi_no_memory(err);
    PX_TRY(px_campaign_identify(to->campaign, &identity, err));
    return px_pairs_new(to->campaign, inputs->set, &inputs->pre, &to->pairs, err);
}

void pair_campaign_stopped(const pair_campaign *to, px_error *err)
{
    if (!to->pairs || !err || err->status < PX_E_IO)
        return;
    px_campaign_rollback(to->campaign);
    const double done = px_campaign_get_real(to->campaign, PX_CAMPAIGN_INPUTS_DONE, -1.0);
    const double planned = px_campaign_get_real(to->campaign, PX_CAMPAIGN_INPUTS_PLANNED, -1.0);
    const px_error why = *err;
    if (done < 0.0)
        return;
    px_fail(err, why.status, "%.250s%s%.0f of %.0f inputs are in '%.150s'; go on with --resume",
            why.status == PX_E_CANCELLED ? "interrupted" : why.message,
            why.status == PX_E_CANCELLED ? ": " : "; ", done, planned,
            px_campaign_folder(to->campaign));
}

void pair_campaign_close(pair_campaign *to)
{
    px_pairs_free(to->pairs);
    px_campaign_close(to->campaign);
}
