/* tests/generate/fuzz_helpers.c */
/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz_helpers.h"

#include <internal/bank.h>
#include <internal/decision_path.h>
#include <internal/fuzz.h>
#include <internal/store.h>
#include <internal/text_encoder.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Ranges come from other digits than the seeds. */
static px_status scene_profile(const fuzz_case *c, fuzz_scene *s, const px_cover_options *how,
                               const px_shape *shape, px_error *err)
{
    px_lessons lessons = {0};
    px_dataset *train = NULL;
    px_data_options options = px_data_options_default();
    px_profile_options make = px_profile_options_default();
    options.split = "train";
    options.limit = 100;
    make.threads = c->threads;
    PX_TRY(px_fuzz_profile_load(s->campaign, &s->profile, err));
    if (s->profile)
        return PX_OK;
    px_preprocess pre = s->pre;
    const px_graph *graph = px_model_graph(s->model);
    px_status status = px_cover_lessons(s->model, shape, how, &lessons, err);
    if (status == PX_OK && lessons.count)
        status = px_dataset_open_for(&pre, &graph->values[graph->inputs[0]].shape, "digits",
                                     &options, &train, err);
    if (status == PX_OK && lessons.count)
        status = px_profile_make(s->model, &lessons, train, &pre, &make, &s->profile, err);
    px_dataset_close(train);
    px_lessons_free(&lessons);
    return status;
}

/* Every unit of the layers that paths go through gets one of four colours and one of three places.
 */
static px_status scene_bank(fuzz_scene *s, px_error *err)
{
    static const char *const colours[] = {"red", "orange", "blue", "green"};
    static const char *const places[] = {"top", "left", "center"};
    const px_bank_about about = {.model = px_model_hash(s->model), .describer = PX_DESCRIBER_OTHER};
    PX_TRY(px_bank_new(&about, &s->bank, err));
    for (size_t l = 0; l < px_paths_layer_count(s->paths); l++) {
        const px_path_layer *layer = px_paths_layer(s->paths, l);
        for (int64_t u = 0; u < layer->units; u++) {
            char phrase[64];
            snprintf(phrase, sizeof phrase, "%s regions at %s", colours[u % 4], places[u % 3]);
            const px_bank_unit unit = {.layer = layer->name, .unit = u, .phrase = phrase};
            PX_TRY(px_bank_add(s->bank, &unit, err));
        }
    }
    return PX_OK;
}

static px_status scene_threshold(const fuzz_case *c, fuzz_scene *s, px_error *err)
{
    px_calibration how = px_calibration_default();
    px_data_options options = px_data_options_default();
    px_dataset *train = NULL;
    px_preprocess pre = s->pre;
    const px_graph *graph = px_model_graph(s->model);
    how.images = 4;
    options.split = "train";
    options.limit = 40;
    (void)c;
    PX_TRY(px_dataset_open_for(&pre, &graph->values[graph->inputs[0]].shape, "digits", &options,
                               &train, err));
    const px_status status =
        px_calibrate(s->paths, s->judge, train, &pre, &how, &s->threshold, NULL, err);
    px_dataset_close(train);
    return status;
}

static px_status scene_paths(const fuzz_case *c, fuzz_scene *s, px_path_mode mode, px_error *err)
{
    static const char *const names[] = {"zero", "one", "two",   "three", "four",
                                        "five", "six", "seven", "eight", "nine"};
    const px_shape sample = px_dataset_shape(s->set);
    px_paths_options options = px_paths_options_default();
    options.threads = c->threads;
    options.steps = 8;
    options.most_steps = 8;
    PX_TRY(px_paths_new(s->model, &sample, &s->pre, &options, &s->paths, err));
    PX_TRY(scene_bank(s, err));
    px_paths_free(s->paths);
    s->paths = NULL;
    options.bank = s->bank;
    PX_TRY(px_paths_new(s->model, &sample, &s->pre, &options, &s->paths, err));
    px_text_encoder_options words = px_text_encoder_options_default();
    PX_TRY(px_path_encoder_open(s->bank, names, 10, &words, &s->encoder, err));
    PX_TRY(px_path_judge_new(s->paths, s->encoder, names, 10, NULL, &s->judge, err));
    PX_TRY(scene_threshold(c, s, err));
    s->by_paths = (px_fuzz_paths){
        .paths = s->paths, .judge = s->judge, .threshold = &s->threshold, .mode = mode};
    return PX_OK;
}

static px_status scene_cover(const fuzz_case *c, fuzz_scene *s, px_error *err)
{
    px_path_mode mode;
    if (!c->guide)
        return PX_OK;
    PX_TRY(px_fuzz_paths_parse(c->guide, &s->has_paths, &mode, err));
    if (s->has_paths)
        return scene_paths(c, s, mode, err);
    const px_shape sample = px_dataset_shape(s->set);
    px_shape shape = {.rank = sample.rank + 1, .dim = {1}};
    for (int d = 0; d < sample.rank; d++)
        shape.dim[d + 1] = sample.dim[d];
    px_cover_options options = px_cover_options_default();
    options.criteria = c->guide;
    options.threads = c->threads;
    PX_TRY(scene_profile(c, s, &options, &shape, err));
    options.profile = s->profile;
    return px_cover_new(s->model, &shape, &options, &s->cover, err);
}

static px_status scene_make(const fuzz_case *c, fuzz_scene *s, px_error *err)
{
    px_data_options data = px_data_options_default();
    px_fuzz_options options = px_fuzz_options_default();
    data.limit = c->limit ? c->limit : 200;
    PX_TRY(px_campaign_open(c->folder, c->resume ? PX_CAMPAIGN_RESUME : PX_CAMPAIGN_CREATE,
                            &s->campaign, err));
    PX_TRY(px_model_load(c->model ? c->model : DIGITS, &s->model, err));
    const px_graph *graph = px_model_graph(s->model);
    const px_shape *input = &graph->values[graph->inputs[0]].shape;
    PX_TRY(px_preprocess_init(&s->pre, px_model_properties(s->model),
                              px_model_property_count(s->model), input, NULL, err));
    PX_TRY(px_dataset_open_for(&s->pre, input, c->data ? c->data : "digits", &data, &s->set, err));
    PX_TRY(scene_cover(c, s, err));
    while (options.setting_count < FUZZ_TEXTS && c->settings[options.setting_count])
        options.setting_count++;
    options.campaign = s->campaign;
    options.model = s->model;
    options.set = s->set;
    options.pre = &s->pre;
    options.cover = s->cover;
    options.paths = s->has_paths ? &s->by_paths : NULL;
    options.profile = s->profile;
    options.engine = c->engine ? c->engine : "loop";
    const px_fuzz_engine *engine = px_fuzz_engine_find(options.engine);
    options.guide.name = !c->guide && engine && engine->guided ? "random" : NULL;
    options.policy = c->policy;
    options.preset = c->preset;
    options.mutations = c->mutations;
    options.settings = c->settings;
    options.seeds = c->seeds ? c->seeds : 20;
    options.seed = c->seed;
    options.threads = c->threads;
    options.store_float = c->store_float;
    options.command = "a test";
    options.progress = c->progress;
    options.context = c->context;
    return px_fuzz_new(&options, &s->fuzz, err);
}

px_status fuzz_scene_open(const fuzz_case *c, fuzz_scene *out, px_error *err)
{
    *out = (fuzz_scene){0};
    const px_status status = scene_make(c, out, err);
    if (status != PX_OK)
        fuzz_scene_close(out);
    return status;
}

void fuzz_scene_close(fuzz_scene *s)
{
    px_fuzz_free(s->fuzz);
    px_cover_free(s->cover);
    px_path_judge_free(s->judge);
    px_text_encoder_free(s->encoder);
    px_paths_free(s->paths);
    px_bank_free(s->bank);
    px_profile_free(s->profile);
    px_dataset_close(s->set);
    px_model_free(s->model);
    px_campaign_close(s->campaign);
    *s = (fuzz_scene){0};
}

px_status fuzz_case_run(const fuzz_case *c, const px_fuzz_limits *limits, px_fuzz_report *report,
                        px_error *err)
{
    fuzz_scene s;
    PX_TRY(fuzz_scene_open(c, &s, err));
    const px_status status = px_fuzz_run(s.fuzz, limits, err);
    if (report)
        *report = px_fuzz_report_get(s.fuzz);
    fuzz_scene_close(&s);
    return status;
}

px_status fuzz_digest(const char *folder, uint64_t *out, px_error *err)
{
    px_campaign *campaign = NULL;
    PX_TRY(px_campaign_open(folder, PX_CAMPAIGN_READ, &campaign, err));
    const px_status status = px_campaign_digest(campaign, out, err);
    px_campaign_close(campaign);
    return status;
}
