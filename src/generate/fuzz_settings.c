/* src/generate/fuzz_settings.c - settings of engines, and what identifies a campaign */
#include "generate/engines.h"

#include "base/memory.h"
#include "cover/settings.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const px_param common_settings[FUZZ_COMMON] = {
    [FUZZ_TWINS] = {.name = "twins",
                    .fallback = 20,
                    .most = 1e9,
                    .integer = true,
                    .help = "near repeats of one failure that are stored; others are counted"},
    [FUZZ_NEAR] = {.name = "near",
                   .fallback = 2,
                   .most = 255,
                   .help = "a failure repeats another one if it differs by at most so many levels, "
                           "on average over the picture reduced to 16 x 16"},
    [FUZZ_RESET] = {.name = "reset",
                    .fallback = 0,
                    .most = 1e9,
                    .integer = true,
                    .help = "turns in a row without an output after which the guide forgets all "
                            "coverage; 0: it never does"},
};

const px_param *px_fuzz_common_settings(size_t *count)
{
    *count = FUZZ_COMMON;
    return common_settings;
}

/* --- as texts ------------------------------------------------------------------------------------
 */

typedef struct fuzz_table { /* the engine's settings, then those that all have */
    px_param params[PXI_FUZZ_SETTINGS_MOST];
    pxi_settings settings;
} fuzz_table;

static fuzz_table *settings_table(const px_fuzz_engine *engine)
{
    fuzz_table *table = pxi_calloc(1, sizeof *table);
    if (!table)
        return NULL;
    memcpy(table->params, engine->settings, engine->setting_count * sizeof *table->params);
    memcpy(table->params + engine->setting_count, common_settings, sizeof common_settings);
    table->settings = (pxi_settings){
        .id = engine->id, .table = table->params, .count = engine->setting_count + FUZZ_COMMON};
    return table;
}

static pxi_settings engine_settings_get(size_t i)
{
    const px_fuzz_engine *engine = px_fuzz_engine_get(i);
    return (pxi_settings){
        .id = engine->id, .table = engine->settings, .count = engine->setting_count};
}

static const pxi_settings_family engine_family = {.noun = "engine",
                                                  .list = "engines",
                                                  .example = "energy=64",
                                                  .count = px_fuzz_engine_count,
                                                  .get = engine_settings_get};

static px_status settings_apply(px_fuzz *fuzz, const fuzz_table *table, const char *text,
                                px_error *err)
{
    char full[256];
    const char *equals = strchr(text, '=');
    const char *dot = strchr(text, '.');
    const bool named = dot && equals && dot < equals; /* "loop.energy=64" */
    const int used = named ? snprintf(full, sizeof full, "%s", text)
                           : snprintf(full, sizeof full, "%s.%s", table->settings.id, text);
    if (!equals || equals == text || used < 0 || (size_t)used >= sizeof full)
        return px_fail(err, PX_E_USAGE, "'%.100s' is no setting; write NAME=VALUE, as in energy=64",
                       text);
    return pxi_settings_apply(&engine_family, &table->settings, full, fuzz->settings, err);
}

static px_status settings_policy(px_fuzz *fuzz, px_error *err)
{
    const char *wanted = fuzz->options.policy ? fuzz->options.policy : fuzz->engine->policy;
    const char *id = fuzz->engine->shown.id;
    if (fuzz->options.policy && !fuzz->engine->policy)
        return px_fail(err, PX_E_USAGE, "engine '%s' takes no policy; '%.60s' is for loop", id,
                       fuzz->options.policy);
    if (!wanted)
        return PX_OK;
    fuzz->policy = px_fuzz_policy_find(wanted);
    if (fuzz->policy)
        return PX_OK;
    px_text names = {0};
    for (size_t i = 0; i < px_fuzz_policy_count(); i++)
        px_text_format(&names, "%s%s", i ? ", " : "", px_fuzz_policy_get(i)->id);
    const px_status status = px_fail(err, PX_E_USAGE, "there is no policy '%.60s'; there are %s",
                                     wanted, px_text_get(&names));
    px_text_done(&names);
    return status;
}

static bool settings_has_style(const px_mutations *from)
{
    for (size_t i = 0; i < from->set->entry_count; i++)
        if (from->entries >> i & 1 && strcmp(from->set->entries[i].mutation->id, "style") == 0)
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
                       fuzz->engine->shown.id);
    if (!text && fuzz->policy)
        text = px_dataset_audio(fuzz->options.set) ? "audio" : fuzz->policy->mutations;
    if (!text && fuzz->options.styles)
        return px_fail(err, PX_E_USAGE, "engine '%s' follows gradients and takes no styles",
                       fuzz->engine->shown.id);
    if (!text)
        return PX_OK;
    fuzz->has_mutations = true;
    fuzz->mutation_text = pxi_strdup(text);
    if (!fuzz->mutation_text)
        return px_fail(err, PX_E_NOMEM, "out of memory");
    PX_TRY(px_mutations_parse(text, &fuzz->mutations, err));
    PX_TRY(px_mutations_check(&fuzz->mutations, fuzz->options.set, err));
    return settings_styles(fuzz, err);
}

px_status pxi_fuzz_settings_read(px_fuzz *fuzz, px_error *err)
{
    const px_fuzz_engine *engine = &fuzz->engine->shown;
    PX_TRY(settings_policy(fuzz, err));
    PX_TRY(settings_mutations(fuzz, err));
    fuzz_table *table = settings_table(engine);
    if (!table)
        return px_fail(err, PX_E_NOMEM, "out of memory");
    px_status status = PX_OK;
    pxi_settings_fallback(&table->settings, fuzz->settings);
    for (size_t i = 0; fuzz->policy && fuzz->policy->texts[i] && status == PX_OK; i++)
        status = settings_apply(fuzz, table, fuzz->policy->texts[i], err);
    for (size_t i = 0; i < fuzz->options.setting_count && status == PX_OK; i++)
        status = settings_apply(fuzz, table, fuzz->options.settings[i], err);
    if (status == PX_OK) {
        memcpy(fuzz->common, fuzz->settings + engine->setting_count, sizeof fuzz->common);
        fuzz->setting_text = pxi_settings_text(&table->settings, fuzz->settings);
        if (!fuzz->setting_text)
            status = px_fail(err, PX_E_NOMEM, "out of memory");
    }
    free(table);
    return status;
}

/* --- all that decides the content ----------------------------------------------------------------
 */

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
    px_json_string(&json, "engine", fuzz->engine->shown.id);
    px_json_string(&json, "policy", fuzz->policy ? fuzz->policy->id : NULL);
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
    px_preprocess_json(fuzz->options.pre, &json);
    px_json_array(&json, "rivals");
    for (size_t i = 1; i < fuzz->model_count; i++)
        json_hash(&json, NULL, px_model_hash(fuzz->models[i]));
    px_json_end(&json);
    px_json_end(&json);
    const char *text = px_json_text(&json);
    *out = text ? pxi_strdup(text) : NULL;
    px_json_done(&json);
    return *out ? PX_OK : px_fail(err, PX_E_NOMEM, "out of memory");
}
