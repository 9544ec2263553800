/* src/generate/pair_settings.c - what decides the content of a campaign of pairs, as JSON */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"

#include <internal/pairs.h>
#include <internal/preprocess.h>
#include <inttypes.h>
#include <stdio.h>

static px_status settings_end(px_json *json, const px_preprocess *pre, char **out, px_error *err)
{
    px_fields_object(px_preprocess_fields, pre, "preprocess", json);
    px_json_end(json);
    *out = px_text_take(&json->text);
    return *out ? PX_OK : pxi_no_memory(err);
}

px_status px_pairs_attack_settings(const px_attack_options *o, const char *settings, int64_t inputs,
                                   const px_preprocess *pre, char **out, px_error *err)
{
    px_json json = {0};
    px_json_object(&json, NULL);
    px_json_string(&json, "command", "attack");
    px_json_string(&json, "method", o->method);
    px_json_string(&json, "settings", settings);
    px_json_string(&json, "norm", px_norm_name(o->norm));
    px_json_real(&json, "eps", o->eps);
    px_json_int(&json, "steps", o->steps);
    px_json_real(&json, "step_size", o->step_size);
    px_json_int(&json, "restarts", o->restarts);
    px_json_bool(&json, "all_steps", !o->stop_early);
    px_json_bool(&json, "random_start", !o->no_random);
    px_json_int(&json, "goal", o->goal);
    px_json_int(&json, "target", o->target);
    px_json_real(&json, "low", o->low);
    px_json_real(&json, "high", o->high);
    px_json_int(&json, "inputs", inputs);
    return settings_end(&json, pre, out, err);
}

/* Of neurons and inputs, in their order: a run that goes on has the same of both. FNV-1a. */
static uint64_t synthesis_choice(const px_synthesis_job *job)
{
    uint64_t hash = 14695981039346656037u;
    for (size_t l = 0; l < job->list_count; l++)
        for (size_t n = 0; n < job->lists[l].count; n++) {
            const px_synthesis_neuron *neuron = &job->lists[l].neurons[n];
            const uint64_t words[] = {l, neuron->layer, (uint64_t)neuron->unit};
            for (size_t i = 0; i < PX_LEN(words); i++)
                hash = (hash ^ words[i]) * 1099511628211u;
        }
    for (int64_t i = 0; i < job->count; i++)
        hash = (hash ^ (uint64_t)job->inputs[i]) * 1099511628211u;
    return hash;
}

px_status px_pairs_synthesis_settings(const px_synthesis_options *o, const px_synthesis_job *job,
                                      const char *measure, int64_t k, char **out, px_error *err)
{
    char choice[24];
    px_json json = {0};
    snprintf(choice, sizeof choice, "%016" PRIx64, synthesis_choice(job));
    px_json_object(&json, NULL);
    px_json_string(&json, "command", "synthesize");
    px_json_string(&json, "measure", measure);
    px_json_int(&json, "k", k);
    px_json_real(&json, "step", o->step);
    px_json_real(&json, "distance", o->distance);
    px_json_int(&json, "iterations", o->iterations);
    px_json_real(&json, "low", o->low);
    px_json_real(&json, "high", o->high);
    px_json_int(&json, "inputs", job->count);
    px_json_string(&json, "choice", choice);
    return settings_end(&json, job->pre, out, err);
}
