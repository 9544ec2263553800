/* src/cli/cli_cover.c - what is learned from training data before criteria can measure */
#include "cli/cli_cover.h"

#include <inttypes.h>
#include <plexor/system.h>
#include <stdio.h>
#include <string.h>

enum { DEFAULT_SAMPLE = 1000 }; /* as NSGen, CAC and DeepSensor do */

px_status cli_training_inputs(const px_model *model, const cli_data *data,
                              const cli_training *training, const char *who, px_preprocess *pre,
                              px_dataset **out, px_error *err)
{
    const px_graph *graph = px_model_graph(model);
    const px_shape *input = &graph->values[graph->inputs[0]].shape;
    px_data_options options = px_model_data_options(model);
    options.split = "train";
    options.skip_damaged = data->skip_damaged;
    options.seed = (uint64_t)data->seed;
    options.limit = training->limit;
    if (!training->spec && !training->limit)
        options.limit = DEFAULT_SAMPLE;
    options.shuffle = options.limit > 0;
    if (training->first > 0) {
        if (training->limit > 0)
            return px_fail(err, PX_E_USAGE,
                           "--train-limit draws from all training data, --train-first takes the "
                           "first ones; give one of them");
        options.limit = training->first;
        options.shuffle = false;
    }
    PX_TRY(px_preprocess_init(pre, px_model_properties(model), px_model_property_count(model),
                              input, &data->pixels, err));
    PX_TRY(px_preprocess_audio(pre, data->audio, err));
    const char *spec = training->spec ? training->spec : data->spec;
    const px_status status =
        cli_part_open(pre, input, spec, &options, training->spec != NULL, out, err);
    if (status == PX_OK || training->spec)
        return status;
    char reason[256];
    snprintf(reason, sizeof reason, "%.250s", err->message);
    return px_fail(err, status,
                   "the %s need training data, and '%.100s' has no train part (%.200s); give "
                   "--train SPEC or --profile FILE, or choose %s that learn nothing",
                   who, spec, reason, who);
}

/* Runs the training data, which are opened unless they are there already. */
static px_status profile_learn(const cli_command *self, const px_model *model, const cli_data *data,
                               const cli_training *training, const cli_workers *workers,
                               const char *who, const px_lessons *lessons, px_preprocess *pre,
                               px_dataset **set, px_profile **out, px_error *err)
{
    char number[CLI_NUMBER_TEXT];
    if (!*set)
        PX_TRY(cli_training_inputs(model, data, training, who, pre, set, err));
    if (!training->spec && !training->first)
        cli_note(self,
                 "ranges and traces come from %s inputs of the train part of '%s', drawn by --seed "
                 "%" PRId64 "; --train, --train-limit and --profile change that",
                 cli_number(px_dataset_count(*set), number), data->spec, data->seed);
    px_profile_options make = px_profile_options_default();
    cli_progress progress = cli_progress_start("profile");
    make.batch = workers->batch;
    make.threads = (int)workers->threads;
    make.seed = (uint64_t)data->seed;
    make.memory_bytes = cli_memory_bytes(training);
    make.progress = cli_progress_tick;
    make.progress_context = &progress;
    const px_status status = px_profile_make(model, lessons, *set, pre, &make, out, err);
    cli_progress_end(&progress);
    if (status == PX_OK)
        cli_profile_remarks(self, model, *out);
    return status;
}

int64_t cli_memory_bytes(const cli_training *training)
{
    return training->memory_mib ? training->memory_mib << 20 : px_memory_bytes() / 4 * 3;
}

px_status cli_profile_learn(const cli_command *self, const px_model *model, const cli_data *data,
                            const cli_training *training, const cli_workers *workers,
                            const char *who, px_lessons *lessons, px_profile **out, px_error *err)
{
    px_preprocess pre = {0};
    px_dataset *set = NULL;
    const px_status status = lessons->count == 0
                                 ? PX_OK
                                 : profile_learn(self, model, data, training, workers, who, lessons,
                                                 &pre, &set, out, err);
    px_dataset_close(set);
    px_lessons_free(lessons);
    return status;
}

px_status cli_profile_make(const cli_command *self, const px_model *model, const cli_data *data,
                           const cli_training *training, const cli_workers *workers,
                           const px_shape *shape, const px_cover_options *options, px_profile **out,
                           px_error *err)
{
    px_lessons lessons = {0};
    px_preprocess pre = {0};
    px_dataset *set = NULL;
    px_shape own = {.rank = 0};
    if (!shape) {
        PX_TRY(cli_training_inputs(model, data, training, "criteria", &pre, &set, err));
        const px_shape sample = px_dataset_shape(set);
        own = (px_shape){.rank = sample.rank + 1, .dim = {1}};
        for (int d = 0; d < sample.rank; d++)
            own.dim[d + 1] = sample.dim[d];
    }
    px_status status = px_cover_lessons(model, shape ? shape : &own, options, &lessons, err);
    if (status == PX_OK && lessons.count > 0)
        status = profile_learn(self, model, data, training, workers, "criteria", &lessons, &pre,
                               &set, out, err);
    px_dataset_close(set);
    px_lessons_free(&lessons);
    return status;
}

void cli_profile_remarks(const cli_command *self, const px_model *model, const px_profile *profile)
{
    enum { NAMES = 10 };
    cli_classes names = cli_classes_of(model, NULL);
    px_text missing = {0};
    int count = 0;
    for (int c = 0; c < px_profile_classes(profile); c++) {
        char buffer[CLI_NUMBER_TEXT];
        if (px_profile_predicted(profile, c) > 0)
            continue;
        if (count < NAMES)
            px_text_format(&missing, "%s'%s'", count ? ", " : "",
                           cli_class_name(&names, c, buffer));
        count++;
    }
    if (count)
        cli_note(self,
                 "no training input is classified as %s%s: criteria that compare with training "
                 "inputs of the same class have nothing to compare with there",
                 px_text_get(&missing), count > NAMES ? " and others" : "");
    if (px_profile_rejected(profile))
        cli_note(self,
                 "%" PRId64 " training inputs have neurons that are not finite and were left out",
                 px_profile_rejected(profile));
    px_text_done(&missing);
}

void cli_print_remarks(const char *id, const char *text, bool json)
{
    const size_t name = strlen(id);
    while (*text) {
        const int length = (int)strcspn(text, "\n");
        const bool named = strncmp(text, id, name) == 0 && text[name] == ':';
        if (json)
            cli_note(cli_running(), "%s%s%.*s", named ? "" : id, named ? "" : ": ", length, text);
        else
            printf("%s%s%.*s\n", named ? "" : id, named ? "" : ": ", length, text);
        text += length + (text[length] == '\n');
    }
}
