/* src/cli/pair_campaign.c - originals and what became of them, as a campaign */
#include "cli/pair_campaign.h"

#include <stdlib.h>

enum { COMMIT_EVERY = 256 };

px_status pair_campaign_open(pair_campaign *to, const char *folder, px_error *err)
{
    return px_campaign_open(folder, PX_CAMPAIGN_CREATE, &to->campaign, err);
}

px_status pair_campaign_identify(pair_campaign *to, const cli_inputs *inputs, bool keep_float,
                                 const px_model *model, int classes, const char *settings,
                                 int64_t seed, px_error *err)
{
    to->inputs = inputs;
    to->rounds = px_dataset_is_8bit(inputs->set) && !keep_float;
    to->pixels = calloc(inputs->floats, sizeof(float));
    if (!settings || !to->pixels)
        return px_fail(err, PX_E_NOMEM, "out of memory");
    const px_campaign_identity identity = {
        .model_hash = px_model_hash(model),
        .data_hash = px_dataset_hash(inputs->set),
        .seed = (uint64_t)seed,
        .dtype = to->rounds ? PX_UINT8 : PX_FLOAT32,
        .shape = px_dataset_shape(inputs->set),
        .classes = classes,
        .settings = settings,
    };
    return px_campaign_identify(to->campaign, &identity, err);
}

/* Raw values in the campaign's type: floats of 8-bit data are in scaled units. */
static void pair_pixels(pair_campaign *to, const float *values, const uint8_t *bytes)
{
    const bool levels = px_dataset_is_8bit(to->inputs->set);
    const double unit = px_length_levels(&to->inputs->pre, 1.0);
    for (size_t i = 0; i < to->inputs->floats; i++) {
        if (to->rounds)
            ((uint8_t *)to->pixels)[i] = bytes ? bytes[i] : (uint8_t)values[i];
        else
            ((float *)to->pixels)[i] = levels ? (float)((double)values[i] / unit) : values[i];
    }
}

px_status pair_campaign_put(pair_campaign *to, const pair_made *made, px_error *err)
{
    px_campaign_input in = {
        .kind = PX_INPUT_SEED,
        .data_index = px_dataset_index(to->inputs->set, made->input),
        .label = made->label,
        .prediction = made->before,
        .confidence = made->confidence_before,
        .step = to->executions,
    };
    int64_t seed = 0;
    pair_pixels(to, made->original, NULL);
    PX_TRY(px_campaign_put(to->campaign, &in, to->pixels, &seed, err));
    in.kind =
        made->predicted >= 0 && made->predicted != made->label ? PX_INPUT_FAULT : PX_INPUT_KEPT;
    in.parent = in.root = seed;
    in.prediction = made->predicted;
    in.confidence = made->confidence;
    in.l0 = made->l0;
    in.l2 = made->l2;
    in.linf = made->linf;
    in.step = to->executions += made->executions;
    in.chain = made->chain;
    pair_pixels(to, made->exact, made->bytes);
    PX_TRY(px_campaign_put(to->campaign, &in, to->pixels, NULL, err));
    return ++to->put % COMMIT_EVERY == 0 ? px_campaign_commit(to->campaign, err) : PX_OK;
}

px_status pair_campaign_finish(pair_campaign *to, const char *command, double seconds,
                               px_error *err)
{
    PX_TRY(px_campaign_set(to->campaign, "command", command, err));
    PX_TRY(px_campaign_set_int(to->campaign, "executions", to->executions, err));
    PX_TRY(px_campaign_set_real(to->campaign, "seconds", seconds, err));
    return px_campaign_commit(to->campaign, err);
}

void pair_campaign_close(pair_campaign *to)
{
    px_campaign_close(to->campaign);
    free(to->pixels);
}
