/* src/cli/pair_campaign.c - the campaign that attack and synthesize write their pairs into */
#include "cli/pair_campaign.h"

px_status pair_campaign_open(pair_campaign *to, const char *folder, px_error *err)
{
    return px_campaign_open(folder, PX_CAMPAIGN_CREATE, &to->campaign, err);
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
        return px_fail(err, PX_E_NOMEM, "out of memory");
    PX_TRY(px_campaign_identify(to->campaign, &identity, err));
    return px_pairs_new(to->campaign, inputs->set, &inputs->pre, &to->pairs, err);
}

void pair_campaign_close(pair_campaign *to)
{
    px_pairs_free(to->pairs);
    px_campaign_close(to->campaign);
}
