/* src/generate/fuzz_settings.c - settings of engines, and what identifies a campaign */
/* SPDX-License-Identifier: Apache-2.0 */
#include "generate/engines.h"

#include "base/memory.h"

#include <internal/data.h>
#include <internal/decision_path.h>
#include <internal/fuzz.h>
#include <internal/mutate.h>
#include <internal/param.h>
#include <internal/preprocess.h>
#include <internal/profile.h>
#include <internal/store.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const px_param px_fuzz_common_params[] = {
    PX_PARAM_INT(pxi_fuzz_common, twins, 20, 0, 1e9,
                 "near repeats of one failure that are stored; others are counted"),
    PX_PARAM_REAL(pxi_fuzz_common, near, 2, 0, 255,
                  "a failure repeats another one if it differs by at most so many levels, "
                  "on average over the picture reduced to 16 x 16"),
    PX_PARAM_INT(pxi_fuzz_common, reset, 0, 0, 1e9,
                 "turns in a row without an output after which the guide forgets all "
                 "coverage; 0: it never does"),
    PX_PARAM_END,
};

/* --- as texts -------------------------------------------------------------------------------- */

enum { SETTINGS_MOST = 32 };

typedef struct fuzz_table { /* the engine's settings, then those that all have, over one struct */
    px_entry entry;
    px_param params[SETTINGS_MOST + 1];
    size_t common; /* where they begin in it */
} fuzz_table;

static void settings_table(const px_entry *engine, fuzz_table *table)
{
    const size_t own = px_params_count(engine->params), align = _Alignof(max_align_t);
    const size_t more = px_params_count(px_fuzz_common_params);
    *table = (fuzz_table){.entry = *engine};
    table->common = (engine->config_size + align - 1) / align * align;
    if (own)
        memcpy(table->params, engine->params, own * sizeof *table->params);
    memcpy(table->params + own, px_fuzz_common_params, more * sizeof *table->params);
    for (size_t i = own; i < own + more; i++)
        table->params[i].offset += table->common;
    table->entry.params = table->params;
    table->entry.config_size = table->common + sizeof(pxi_fuzz_common);
}

static px_status settings_apply(px_fuzz *fuzz, const px_entry *entry, const char *text,
                                px_error *err)
{
    char full[256];
    const char *equals = strchr(text, '=');
    const char *dot = strchr(text, '.');
    const bool named = dot && equals && dot < equals; /* "loop.energy=64" */
    const int used = named ? snprintf(full, sizeof full, "%s", text)
                           : snprintf(full, sizeof full, "%s.%s", entry->id, text);
    if (!equals || equals == text || used < 0 || (size_t)used >= sizeof full)
        return px_fail(err, PX_E_USAGE, "'%.100s' is no setting; write NAME=VALUE, as in energy=64",
                       text);
    return px_entry_set(&px_fuzz_engines, entry, full, fuzz->config, err);
}

static px_status settings_policy(px_fuzz *fuzz, px_error *err)
{
    const char *wanted = fuzz->options.policy ? fuzz->options.policy : fuzz->engine->policy;
    const char *id = fuzz->engine->shown.entry.id;
    if (fuzz->options.policy && !fuzz->engine->policy)
        return px_fail(err, PX_E_USAGE, "engine '%s' takes no policy; '%.60s' is for loop", id,
                       fuzz->options.policy);
    if (!wanted)
        return PX_OK;
    return px_fuzz_policy_choose(wanted, &fuzz->policy, err);
}

/* What a preset of an engine with a guide of its own says. */
static px_status settings_preset(px_fuzz *fuzz, const px_entry *entry, px_error *err)
{
    const px_fuzz_engine *engine = &fuzz->engine->shown;
    const px_entry *found = NULL;
    if (!fuzz->options.preset || engine->guided)
        return PX_OK;
    if (!engine->presets)
        return px_fail(err, PX_E_USAGE, "engine '%s' has no presets, so '%.60s' is none",
                       engine->entry.id, fuzz->options.preset);
    PX_TRY(px_registry_choose(engine->presets, fuzz->options.preset, &found, err));
    const char *const *texts = ((const px_preset *)(const void *)found)->texts;
    for (; *texts; texts++)
        PX_TRY(settings_apply(fuzz, entry, *texts, err));
    return PX_OK;
}

static bool settings_has_style(const px_mutations *from)
{
    for (size_t i = 0; i < from->set->entry_count; i++)
        if (from->entries >> i & 1 &&
            strcmp(from->set->entries[i].mutation->entry.id, "style") == 0)
            return true;
    return false;
}

/* Given ones, or those that the campaign was begun with; else the generated ones. */
static px_status settings_styles(px_fuzz *fuzz, px_error *err)
{
    const bool wanted = settings_has_style(&fuzz->mutations);
    if (fuzz->options.styles && !wanted)
        return px_fail(err, PX_E_USAGE,
                       "'%.60s' has no style, which style pictures are for; nsgen+style has",
                       fuzz->mutation_text);
    if (wanted && !fuzz->options.styles)
        PX_TRY(px_campaign_get_styles(fuzz->campaign, &fuzz->styles, err));
    fuzz->mutations.styles = fuzz->options.styles ? fuzz->options.styles : fuzz->styles;
    return PX_OK;
}

static px_status settings_mutations(px_fuzz *fuzz, px_error *err)
{
    const char *text = fuzz->options.mutations;
    if (text && !fuzz->policy)
        return px_fail(err, PX_E_USAGE, "engine '%s' follows gradients and takes no mutations",
                       fuzz->engine->shown.entry.id);
    if (!text && fuzz->policy)
        text = px_dataset_audio(fuzz->options.set) ? "audio" : fuzz->policy->mutations;
    if (!text && fuzz->options.styles)
        return px_fail(err, PX_E_USAGE, "engine '%s' follows gradients and takes no styles",
                       fuzz->engine->shown.entry.id);
    if (!text)
        return PX_OK;
    fuzz->has_mutations = true;
    PX_TRY(PX_DUP(fuzz->mutation_text, text, err));
    PX_TRY(px_mutations_parse(text, &fuzz->mutations, err));
    PX_TRY(px_mutations_check(&fuzz->mutations, fuzz->options.set, err));
    return settings_styles(fuzz, err);
}

px_status pxi_fuzz_settings_read(px_fuzz *fuzz, px_error *err)
{
    fuzz_table table;
    PX_TRY(settings_policy(fuzz, err));
    PX_TRY(settings_mutations(fuzz, err));
    settings_table(&fuzz->engine->shown.entry, &table);
    PX_TRY(px_entry_configure(&px_fuzz_engines, &table.entry, NULL, 0, &fuzz->config, err));
    fuzz->common = (const void *)((const char *)fuzz->config + table.common);
    for (size_t i = 0; fuzz->policy && fuzz->policy->texts[i]; i++)
        PX_TRY(settings_apply(fuzz, &table.entry, fuzz->policy->texts[i], err));
    PX_TRY(settings_preset(fuzz, &table.entry, err));
    for (size_t i = 0; i < fuzz->options.setting_count; i++)
        PX_TRY(settings_apply(fuzz, &table.entry, fuzz->options.settings[i], err));
    fuzz->setting_text = px_params_text(table.params, fuzz->config);
    return fuzz->setting_text ? PX_OK : pxi_no_memory(err);
}

/* --- all that decides the content ------------------------------------------------------------ */

static void json_hash(px_json *json, const char *key, uint64_t hash)
{
    char text[20];
    snprintf(text, sizeof text, "%016" PRIx64, hash);
    px_json_string(json, key, text);
}

px_status pxi_fuzz_settings_json(const px_fuzz *fuzz, char **out, px_error *err)
{
    px_json json = {0};
    px_json_object(&json, NULL);
    px_json_string(&json, "engine", fuzz->engine->shown.entry.id);
    px_json_string(&json, "policy", fuzz->policy ? fuzz->policy->entry.id : NULL);
    px_json_string(&json, "mutations", fuzz->mutation_text);
    if (fuzz->mutations.styles)
        json_hash(&json, "styles", px_styles_hash(fuzz->mutations.styles));
    px_json_string(&json, "settings", fuzz->setting_text);
    px_json_int(&json, "seeds", fuzz->options.seeds);
    if (fuzz->options.least.similarity > 0.0)
        px_json_real(&json, "min_similarity", fuzz->options.least.similarity);
    if (fuzz->options.least.inside > 0.0)
        px_json_real(&json, "min_inside", fuzz->options.least.inside);
    if (!fuzz->rounds && !fuzz->samples && (fuzz->low != 0.0 || fuzz->high != 1.0)) {
        px_json_real(&json, "low", fuzz->low); /* of stored values: what chains are replayed with */
        px_json_real(&json, "high", fuzz->high);
    }
    px_json_string(&json, "guide", fuzz->guide);
    if (fuzz->cover) {
        px_json_string(&json, "guide_settings", px_cover_settings_text(fuzz->cover, 0));
        px_json_string(&json, "guide_neurons", px_cover_definition(fuzz->cover, 0));
    }
    if (fuzz->paths) {
        const px_threshold *t = fuzz->paths->threshold;
        px_json_string(&json, "guide_settings", px_paths_describe(fuzz->paths->paths));
        px_json_string(&json, "guide_compares", fuzz->paths->root ? "root" : "parent");
        px_json_real(&json, "tau", t->of[fuzz->paths->mode].tau);
        json_hash(&json, "bank", t->bank);
        json_hash(&json, "encoder", t->encoder);
        json_hash(&json, "paths", t->paths);
    }
    if (fuzz->options.profile)
        json_hash(&json, "profile", px_profile_hash(fuzz->options.profile));
    px_fields_object(px_preprocess_fields, fuzz->options.pre, "preprocess", &json);
    px_json_array(&json, "rivals");
    for (size_t i = 1; i < fuzz->model_count; i++)
        json_hash(&json, NULL, px_model_hash(fuzz->models[i]));
    px_json_end(&json);
    px_json_end(&json);
    const char *text = px_json_text(&json);
    *out = text ? pxi_strdup(text) : NULL;
    px_json_done(&json);
    return *out ? PX_OK : pxi_no_memory(err);
}
