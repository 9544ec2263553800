/* src/check/stage_profile.c - what training data look like from inside: ranges for the criteria */
/* SPDX-License-Identifier: Apache-2.0 */
#include "check/check_criteria.h"

#include <internal/profile.h>
#include <internal/system.h>
#include <inttypes.h>
#include <stdlib.h>

px_cover_options pxi_cover_wish(const px_check *c, const char *criteria)
{
    px_cover_options options = px_cover_options_default();
    options.criteria = criteria;
    options.profile = c->profile;
    options.seed = c->o.seed;
    options.threads = c->o.threads;
    return options;
}

px_status pxi_profile_need(px_check *c, px_error *err)
{
    if (c->profile || !c->result[PXI_STAGE_profile])
        return PX_OK;
    char *path = pxi_check_path(c, PXI_PROFILE_FILE);
    px_status status = path ? px_profile_open(path, &c->profile, err) : pxi_no_memory(err);
    PX_THEN(status, px_profile_check(c->profile, c->model, err));
    free(path);
    return status;
}

static px_status profile_learn(px_check *c, const px_lessons *lessons, px_dataset *set,
                               const px_preprocess *pre, px_error *err)
{
    px_profile_options make = px_profile_options_default();
    char *path = pxi_check_path(c, PXI_PROFILE_FILE);
    if (!path)
        return pxi_no_memory(err);
    make.batch = c->o.batch;
    make.threads = c->o.threads;
    make.seed = c->o.seed;
    make.memory_bytes = px_memory_bytes() / 4 * 3;
    make.progress = pxi_check_tick;
    make.progress_context = c;
    px_status status = px_profile_make(c->model, lessons, set, pre, &make, &c->profile, err);
    PX_THEN(status, px_profile_save(c->profile, path, err));
    free(path);
    return status;
}

typedef struct profile_result {
    const char *data, *definition;
    int64_t count, rejected, empty;
} profile_result;

static const px_field profile_fields[] = {
    PX_FIELD(profile_result, data, "data", "what was learned from"),
    PX_FIELD(profile_result, count, "count", "inputs that were"),
    PX_FIELD(profile_result, rejected, "rejected", "inputs with values that are not finite"),
    PX_FIELD(profile_result, definition, "definition", "what a neuron is here"),
    PX_FIELD(profile_result, empty, "classes_without_inputs", "classes that are no input's answer"),
    PX_FIELDS_END,
};

static px_status profile_run(px_check *c, px_json *out, px_error *err)
{
    const px_cover_options wish = pxi_cover_wish(c, PXI_CRITERIA_ALL PXI_CRITERION_COVARIANCES);
    px_lessons lessons = {0};
    px_preprocess pre = {0};
    px_dataset *set = NULL;
    PX_TRY(pxi_check_open_train(c, c->o.train_limit, &pre, &set, err));
    px_status status = px_cover_lessons(c->model, &c->shape, &wish, &lessons, err);
    PX_THEN(status, profile_learn(c, &lessons, set, &pre, err));
    if (status == PX_OK) {
        profile_result result = {
            .data = px_dataset_describe(set),
            .count = px_profile_count(c->profile),
            .rejected = px_profile_rejected(c->profile),
            .definition =
                px_profile_section_count(c->profile) ? px_profile_definition(c->profile, 0) : NULL,
        };
        for (int i = 0; i < px_profile_classes(c->profile); i++)
            result.empty += px_profile_predicted(c->profile, i) == 0;
        px_fields_json(profile_fields, &result, out);
    }
    px_lessons_free(&lessons);
    px_dataset_close(set);
    return status;
}

static void profile_line(const px_check *c, const px_json_value *result, px_text *out)
{
    char count[PXI_COUNT_TEXT];
    (void)c;
    px_text_format(out, "ranges from %s training inputs",
                   pxi_count_text(pxi_json_int(result, "count", 0), count));
}

static void profile_command(const px_check *c, const px_json_value *result, px_text *out)
{
    (void)result;
    pxi_command_model(c, "profile", out);
    pxi_command_option(out, "train", pxi_shown_path(c->o.train ? c->o.train : c->data_spec));
    px_text_format(out,
                   " --train-limit %" PRId64
                   " --criteria " PXI_CRITERIA_ALL PXI_CRITERION_COVARIANCES " -o profile.npz",
                   c->o.train_limit > 0 ? c->o.train_limit : 1000);
    pxi_command_values(c, /* range= */ false, out);
}

const pxi_stage pxi_stage_profile = {
    .public = {.entry = {.id = "profile", .title = "Profile"},
               .help = "the ranges of neurons on 1,000 training inputs, for coverage"},
    .version = 1,
    .thousands = 2.2,
    .run = profile_run,
    .files = {{PXI_PROFILE_FILE, "ranges of neurons on training data", false}},
    .line = profile_line,
    .command = profile_command,
};
