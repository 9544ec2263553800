/* src/cli/synthesize_campaign.c - synthesised inputs as a campaign */
#include "cli/synthesize_campaign.h"

#include <math.h>
#include <string.h>

bool synthesize_is_campaign(const char *to)
{
    static const char end[] = ".campaign";
    size_t length = to ? strlen(to) : 0;
    while (length > 1 && to[length - 1] == '/') /* "out/" is "out" */
        length--;
    const size_t tail = sizeof end - 1;
    return length > tail && strncmp(to + length - tail, end, tail) == 0;
}

static px_status campaign_neurons(px_campaign *campaign, const px_suspicious *suspects, int64_t k,
                                  px_error *err)
{
    for (size_t i = 0; i < suspects->count; i++) {
        const px_suspect *s = &suspects->items[i];
        if (s->rank <= k)
            PX_TRY(px_campaign_put_neuron(campaign, suspects->measure, s->class_index, s->layer,
                                          s->unit, s->score, err));
    }
    return PX_OK;
}

px_status synthesize_campaign_begin(synthesize_campaign *to, const cli_inputs *inputs,
                                    const px_synthesis_options *options, const px_model *model,
                                    int classes, const px_suspicious *suspects, int64_t k,
                                    int64_t seed, px_error *err)
{
    px_json json = {0};
    to->options = *options;
    px_json_object(&json, NULL);
    px_json_string(&json, "command", "synthesize");
    px_json_string(&json, "measure", suspects->measure);
    px_json_int(&json, "k", k);
    px_json_real(&json, "step", options->step);
    px_json_real(&json, "distance", options->distance);
    px_json_int(&json, "iterations", options->iterations);
    px_json_real(&json, "low", options->low);
    px_json_real(&json, "high", options->high);
    px_preprocess_json(&inputs->pre, &json);
    px_json_end(&json);
    px_status status = pair_campaign_identify(&to->pairs, inputs, options->keep_float, model,
                                              classes, px_json_text(&json), seed, err);
    px_json_done(&json);
    return status == PX_OK ? campaign_neurons(to->pairs.campaign, suspects, k, err) : status;
}

px_status synthesize_campaign_add(void *context, const px_synthesis_made *made, px_error *err)
{
    synthesize_campaign *to = context;
    return px_pairs_put_synthesis(to->pairs.pairs, &to->options, made, /* before= */ NAN, NAN, err);
}
