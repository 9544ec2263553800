/* src/cli/synthesize_campaign.c - synthesised inputs as a campaign */
#include "cli/synthesize_campaign.h"

#include <internal/preprocess.h>
#include <internal/store.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
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

/* Of neurons and inputs, in their order: a run that goes on has the same of both. FNV-1a. */
static uint64_t campaign_choice(const px_synthesis_job *job)
{
    uint64_t hash = 14695981039346656037u;
    for (size_t l = 0; l < job->list_count; l++)
        for (size_t n = 0; n < job->lists[l].count; n++) {
            const px_synthesis_neuron *neuron = &job->lists[l].neurons[n];
            const uint64_t words[] = {l, neuron->layer, (uint64_t)neuron->unit};
            for (size_t i = 0; i < sizeof words / sizeof *words; i++)
                hash = (hash ^ words[i]) * 1099511628211u;
        }
    for (int64_t i = 0; i < job->count; i++)
        hash = (hash ^ (uint64_t)job->inputs[i]) * 1099511628211u;
    return hash;
}

static px_status campaign_identify(synthesize_campaign *to, const synthesize_about *about,
                                   px_error *err)
{
    const px_synthesis_options *o = about->options;
    char choice[24];
    px_json json = {0};
    snprintf(choice, sizeof choice, "%016" PRIx64, campaign_choice(about->job));
    px_json_object(&json, NULL);
    px_json_string(&json, "command", "synthesize");
    px_json_string(&json, "measure", about->suspects->measure);
    px_json_int(&json, "k", about->k);
    px_json_real(&json, "step", o->step);
    px_json_real(&json, "distance", o->distance);
    px_json_int(&json, "iterations", o->iterations);
    px_json_real(&json, "low", o->low);
    px_json_real(&json, "high", o->high);
    px_json_int(&json, "inputs", about->job->count);
    px_json_string(&json, "choice", choice);
    px_preprocess_json(&about->inputs->pre, &json);
    px_json_end(&json);
    const px_status status =
        pair_campaign_identify(&to->pairs, about->inputs, o->keep_float, about->model,
                               about->classes, px_json_text(&json), about->seed, err);
    px_json_done(&json);
    return status;
}

px_status synthesize_campaign_begin(synthesize_campaign *to, const synthesize_about *about,
                                    px_error *err)
{
    px_campaign *campaign = to->pairs.campaign;
    to->options = *about->options;
    PX_TRY(campaign_identify(to, about, err));
    if (px_campaign_get_real(campaign, PX_CAMPAIGN_INPUTS_PLANNED, -1.0) < 0.0)
        PX_TRY(campaign_neurons(campaign, about->suspects, about->k, err)); /* a new one */
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
