/* src/check/stage_profile.c - what training data look like from inside: ranges for the criteria */
#include "check/check_criteria.h"

#include <plexor/system.h>
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
    px_status status = path ? px_profile_open(path, &c->profile, err) : pxi_check_nomem(err);
    if (status == PX_OK)
        status = px_profile_check(c->profile, c->model, err);
    free(path);
    return status;
}

static px_status profile_learn(px_check *c, const px_lessons *lessons, px_dataset *set,
                               const px_preprocess *pre, px_error *err)
{
    px_profile_options make = px_profile_options_default();
    char *path = pxi_check_path(c, PXI_PROFILE_FILE);
    if (!path)
        return pxi_check_nomem(err);
    make.batch = c->o.batch;
    make.threads = c->o.threads;
    make.seed = c->o.seed;
    make.memory_bytes = px_memory_bytes() / 4 * 3;
    make.progress = pxi_check_tick;
    make.progress_context = c;
    px_status status = px_profile_make(c->model, lessons, set, pre, &make, &c->profile, err);
    if (status == PX_OK)
        status = px_profile_save(c->profile, path, err);
    free(path);
    return status;
}

static px_status profile_run(px_check *c, px_json *out, px_error *err)
{
    static const char *const files[] = {PXI_PROFILE_FILE};
    const px_cover_options wish = pxi_cover_wish(c, PXI_CRITERIA_ALL);
    px_lessons lessons = {0};
    px_preprocess pre = {0};
    px_dataset *set = NULL;
    PX_TRY(pxi_check_open_train(c, c->o.train_limit, &pre, &set, err));
    px_status status = px_cover_lessons(c->model, &c->shape, &wish, &lessons, err);
    if (status == PX_OK)
        status = profile_learn(c, &lessons, set, &pre, err);
    if (status == PX_OK) {
        px_json_string(out, "data", px_dataset_describe(set));
        px_json_int(out, "count", px_profile_count(c->profile));
        px_json_int(out, "rejected", px_profile_rejected(c->profile));
        px_json_string(out, "definition",
                       px_profile_section_count(c->profile) ? px_profile_definition(c->profile, 0)
                                                            : NULL);
        int empty = 0;
        for (int i = 0; i < px_profile_classes(c->profile); i++)
            empty += px_profile_predicted(c->profile, i) == 0;
        px_json_int(out, "classes_without_inputs", empty);
        status = pxi_check_files(c, files, PX_LEN(files), out, err);
    }
    px_lessons_free(&lessons);
    px_dataset_close(set);
    return status;
}

const pxi_stage pxi_stage_profile = {
    .public = {.id = "profile",
               .title = "Profile",
               .help = "the ranges of neurons on 1,000 training inputs, for coverage"},
    .version = 1,
    .thousands = 2.2,
    .run = profile_run,
};
