/* src/cli/synthesize_campaign.c - synthesised inputs as a campaign */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/synthesize_campaign.h"

#include <math.h>
#include <stdlib.h>
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

px_status synthesize_campaign_begin(synthesize_campaign *to, const synthesize_about *about,
                                    px_error *err)
{
    to->options = *about->options;
    char *settings = NULL;
    PX_TRY(px_pairs_synthesis_settings(about->options, about->job, about->suspects->measure,
                                       about->k, &settings, err));
    const px_status status =
        pair_campaign_identify(&to->pairs, about->inputs, about->options->keep_float, about->model,
                               about->classes, settings, about->seed, err);
    free(settings);
    PX_TRY(status);
    if (px_campaign_get_real(to->pairs.campaign, PX_CAMPAIGN_INPUTS_PLANNED, -1.0) < 0.0) /* new */
        PX_TRY(px_pairs_put_neurons(to->pairs.pairs, about->suspects, about->k, err));
    PX_TRY(px_pairs_plan(to->pairs.pairs, about->job->count, err));
    return px_pairs_synthesis_rows(to->pairs.pairs, &to->known, &to->known_count, err);
}

void synthesize_campaign_close(synthesize_campaign *to)
{
    pair_campaign_close(&to->pairs);
    free(to->known);
}

px_status synthesize_campaign_add(void *context, const px_synthesis_made *made, px_error *err)
{
    synthesize_campaign *to = context;
    return px_pairs_put_synthesis(to->pairs.pairs, &to->options, made, /* before= */ NAN, NAN, err);
}
