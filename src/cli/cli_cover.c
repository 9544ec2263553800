/* src/cli/cli_cover.c - what is learned from training data before criteria can measure */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/cli_cover.h"

#include <internal/system.h>
#include <internal/training.h>
#include <inttypes.h>
#include <string.h>

px_status cli_training_of(const px_model *model, const cli_data *data, const cli_training *training,
                          const cli_workers *workers, px_preprocess *pre, px_training *out,
                          px_error *err)
{
    PX_TRY(px_model_preprocess(model, &data->pixels, data->audio, pre, err));
    *out = (px_training){.spec = training->spec,
                         .own = data->spec,
                         .pre = pre,
                         .limit = training->limit,
                         .first = training->first,
                         .skip_damaged = data->skip_damaged,
                         .seed = (uint64_t)data->seed,
                         .memory_bytes = cli_memory_bytes(training),
                         .threads = (int)workers->threads,
                         .batch = workers->batch,
                         .progress = cli_tick_step,
                         .note = cli_note_step};
    return PX_OK;
}

int64_t cli_memory_bytes(const cli_training *training)
{
    return training->memory_mib ? training->memory_mib << 20 : px_memory_bytes() / 4 * 3;
}

px_status cli_profile_learn(const px_model *model, const cli_data *data,
                            const cli_training *training, const cli_workers *workers,
                            const char *who, px_lessons *lessons, px_profile **out, px_error *err)
{
    px_preprocess pre;
    px_training from;
    px_status status = PX_OK;
    if (lessons->count > 0) {
        status = cli_training_of(model, data, training, workers, &pre, &from, err);
        PX_THEN(status, px_training_learn(model, &from, who, lessons, NULL, NULL, out, err));
    }
    px_lessons_free(lessons);
    return status;
}

px_status cli_profile_make(const px_model *model, const cli_data *data,
                           const cli_training *training, const cli_workers *workers,
                           const px_shape *shape, const px_cover_options *options, px_profile **out,
                           px_error *err)
{
    px_lessons lessons = {0};
    px_preprocess pre, fitted;
    px_training from;
    px_dataset *set = NULL;
    px_shape own = {.rank = 0};
    PX_TRY(cli_training_of(model, data, training, workers, &pre, &from, err));
    if (!shape) {
        PX_TRY(px_training_open(model, &from, "criteria", &fitted, &set, err));
        const px_shape sample = px_dataset_shape(set);
        own = (px_shape){.rank = sample.rank + 1, .dim = {1}};
        for (int d = 0; d < sample.rank; d++)
            own.dim[d + 1] = sample.dim[d];
    }
    px_status status = px_cover_lessons(model, shape ? shape : &own, options, &lessons, err);
    PX_THEN_IF(status, lessons.count > 0,
               px_training_learn(model, &from, "criteria", &lessons, set, &fitted, out, err));
    px_dataset_close(set);
    px_lessons_free(&lessons);
    return status;
}

void cli_profile_remarks(const px_model *model, const px_profile *profile)
{
    const px_training from = {.note = cli_note_step};
    px_training_remarks(&from, model, profile);
}

void cli_print_remarks(const char *id, const char *text, bool json)
{
    const size_t name = strlen(id);
    while (*text) {
        const int length = (int)strcspn(text, "\n");
        const bool named = strncmp(text, id, name) == 0 && text[name] == ':';
        if (json)
            cli_note(cli_now()->command, "%s%s%.*s", named ? "" : id, named ? "" : ": ", length,
                     text);
        else
            cli_print("%s%s%.*s\n", named ? "" : id, named ? "" : ": ", length, text);
        text += length + (text[length] == '\n');
    }
}
