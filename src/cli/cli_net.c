/* src/cli/cli_net.c - openings that commands with a network share */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/cli_net.h"

#include "cli/cli_campaign.h"

#include <internal/audio.h>
#include <internal/data.h>
#include <internal/field.h>
#include <internal/graph.h>
#include <internal/preprocess.h>
#include <internal/ranks.h>
#include <internal/store.h>
#include <inttypes.h>
#include <math.h>
#include <plexor/system.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

px_status cli_model_load_file(const cli_command *self, const char *path, px_model **out,
                              px_error *err)
{
    const char *class_list = cli_now()->class_list;
    px_model *model = NULL;
    PX_TRY(px_model_load(path, &model, err));
    px_status status = pxi_ranks_agree("the network", px_model_hash(model), err);
    if (status == PX_OK && class_list)
        status = px_model_set_classes(model, class_list, err);
    if (status != PX_OK) {
        px_model_free(model);
        return status;
    }
    *out = model;
    const char *line = px_model_warnings(*out);
    while (*line) {
        const int length = (int)strcspn(line, "\n");
        cli_note(self, "'%s': %.*s", path, length, line);
        line += length + (line[length] == '\n');
    }
    return PX_OK;
}

px_status cli_tolerance(double *out, px_error *err)
{
    const char *task = cli_now()->task, *text = cli_now()->tolerance;
    const bool regression = task && strcmp(task, "regression") == 0;
    char *end = NULL;
    *out = (double)NAN;
    if (task && !regression && strcmp(task, "classification") != 0)
        return px_fail(err, PX_E_USAGE, "--task '%.60s': expected classification or regression",
                       task);
    if (!text && !regression)
        return PX_OK;
    if (!text)
        return px_fail(err, PX_E_USAGE,
                       "--task regression needs --tolerance X: how far an output may be from its "
                       "target");
    if (task && !regression)
        return px_fail(err, PX_E_USAGE, "--tolerance is for --task regression");
    *out = strtod(text, &end);
    if (end == text || *end || !isfinite(*out) || *out < 0.0)
        return px_fail(err, PX_E_USAGE, "--tolerance '%.60s': expected a number, 0 or more", text);
    return PX_OK;
}

px_status cli_model_load(const cli_command *self, const char *path, px_model **out, px_error *err)
{
    const cli_call *call = cli_now();
    px_model *model = NULL;
    double tolerance;
    PX_TRY(cli_tolerance(&tolerance, err));
    PX_TRY(cli_model_load_file(self, path, &model, err));
    px_status status = px_model_join_inputs(model, err);
    if (status == PX_OK && (call->tokenizer || call->tokens))
        status = px_model_set_tokenizer(model, call->tokenizer, call->tokens, err);
    if (status == PX_OK && !isnan(tolerance))
        status = px_model_set_regression(model, tolerance, err);
    if (status == PX_OK)
        *out = model;
    else
        px_model_free(model);
    return status;
}

px_status cli_part_open(const px_model *model, px_preprocess *pre, const char *spec,
                        const px_data_options *options, bool may_be_whole, px_dataset **out,
                        px_error *err)
{
    px_data_options shown = *options;
    shown.progress = cli_tick;
    shown.context = CLI_WORDS("reading");
    const px_shape *input = model ? px_model_input_shape(model) : NULL;
    PX_TRY(px_dataset_open_part(pre, input, spec, &shown, may_be_whole, out, err));
    return pxi_ranks_agree("the data", px_dataset_hash(*out), err);
}

px_status cli_inputs_open(const px_model *model, const cli_data *data, cli_inputs *out,
                          px_error *err)
{
    px_task_options options = px_task_options_default();
    px_preprocess pre;
    PX_TRY(px_model_preprocess(model, &data->pixels, data->audio, &pre, err));
    px_campaign_preprocess(data->spec, model, &pre);
    options.pre = &pre;
    options.data = (px_data_options){.split = data->split,
                                     .limit = data->limit,
                                     .offset = data->offset,
                                     .shuffle = data->shuffle,
                                     .seed = (uint64_t)data->seed,
                                     .skip_damaged = data->skip_damaged,
                                     .any_classes = data->any_classes,
                                     .progress = cli_tick,
                                     .context = CLI_WORDS("reading")};
    PX_TRY(px_task_open(model, data->spec, &options, out, err));
    PX_TRY(pxi_ranks_agree("the data", px_dataset_hash(out->set), err));
    cli_note(cli_now()->command, "%s", out->pre.note);
    for (size_t i = 0; i < px_dataset_remark_count(out->set); i++)
        cli_note(cli_now()->command, "%s", px_dataset_remark(out->set, i));
    return PX_OK;
}

static void inputs_flaw(const px_dataset *set, int64_t count, int64_t first, const char *what)
{
    char name[256];
    if (count > 0)
        cli_note(NULL, "%" PRId64 " of %" PRId64 " recordings %s %s, '%s'%s", count,
                 px_dataset_count(set), count == 1 ? "is" : "are", what,
                 px_dataset_name(set, first, name, sizeof name), count > 1 ? " is the first" : "");
}

void cli_inputs_close(cli_inputs *inputs)
{
    if (inputs->set && px_dataset_audio(inputs->set)) {
        const px_audio_flaws flaws = px_dataset_audio_flaws(inputs->set);
        inputs_flaw(inputs->set, flaws.silent, flaws.first_silent, "silent");
        inputs_flaw(inputs->set, flaws.clipped, flaws.first_clipped, "clipped");
    }
    char sizes[PX_SIZES_TEXT];
    if (inputs->set && px_dataset_sizes_remark(inputs->set, sizes))
        cli_note(cli_now()->command, "%s", sizes);
    px_task_close(inputs);
}

static void inputs_list(char *buffer, size_t size, const float *values, int count)
{
    size_t used = 0;
    buffer[0] = '\0';
    for (int c = 0; c < count && used < size; c++)
        used +=
            (size_t)snprintf(buffer + used, size - used, "%s%.4g", c ? "," : "", (double)values[c]);
}

static void inputs_print_scores(const px_model *model, const px_scores *scores)
{
    const px_regression *regression = px_model_regression(model);
    if (regression)
        cli_print("output   '%s', %d number%s; wrong beyond %g from the target\n",
                  px_model_graph(model)->values[regression->output].name, regression->count,
                  regression->count == 1 ? "" : "s", regression->tolerance);
    else
        cli_print("scores   %s, %d classes: %s\n",
                  scores->probabilities ? "probabilities" : "logits", scores->classes, scores->why);
}

static void inputs_print_parts(const px_inputs *in)
{
    char shape[PX_SHAPE_TEXT];
    for (int i = 0; i < in->count; i++) {
        px_shape open = in->part[i].shape;
        memmove(open.dim + 1, open.dim, (size_t)open.rank++ * sizeof *open.dim);
        open.dim[0] = -1;
        cli_print("%s'%s' %s %s, as it is\n", i ? "         " : "inputs   ", in->part[i].name,
                  px_dtype_name(in->part[i].dtype), px_shape_text(&open, shape));
    }
}

void cli_inputs_print(const cli_inputs *inputs, const px_model *model, const px_scores *scores)
{
    char shape[PX_SHAPE_TEXT], mean[256], std[256], scale[CLI_NUMBER_TEXT];
    const px_preprocess *pre = &inputs->pre;
    const px_graph *graph = px_model_graph(model);
    px_shape open = inputs->shape;
    open.dim[0] = -1;
    inputs_list(mean, sizeof mean, pre->mean, pre->channels);
    inputs_list(std, sizeof std, pre->stddev, pre->channels);
    const double inverse = 1.0 / (double)pre->scale;
    if (pre->scale < 1.0f && inverse > 1.5 && inverse - (double)(int)(inverse + 0.5) < 1e-3)
        snprintf(scale, sizeof scale, "1/%d", (int)(inverse + 0.5));
    else
        snprintf(scale, sizeof scale, "%.6g", (double)pre->scale);
    cli_print("data     %s\n", px_dataset_describe(inputs->set));
    if (px_model_inputs(model)) {
        inputs_print_parts(px_model_inputs(model));
        inputs_print_scores(model, scores);
        return;
    }
    const px_audio *audio = px_dataset_audio(inputs->set);
    if (audio)
        cli_print("audio    %d Hz, frames of %d every %d samples, %d mels of %g to %g Hz (%s)\n",
                  audio->sample_rate, audio->win_length, audio->hop_length, audio->n_mels,
                  audio->f_min, audio->f_max, pre->audio_from ? pre->audio_from : "default");
    cli_print("input    '%s' %s = (%s * scale - mean) / std%s\n",
              graph->values[graph->inputs[0]].name, px_shape_text(&open, shape),
              audio ? "feature" : "pixel", pre->bgr ? ", channels as BGR" : "");
    cli_print("         scale %s (%s), mean %s (%s), std %s (%s), size (%s)\n", scale,
              pre->scale_from, mean, pre->mean_from, std, pre->std_from, pre->size_from);
    inputs_print_scores(model, scores);
}

static bool inputs_are_audio(const void *of)
{
    return px_dataset_audio(((const cli_inputs *)of)->set) != NULL;
}

static void inputs_write_audio(const void *of, px_json *json)
{
    px_audio_json(px_dataset_audio(((const cli_inputs *)of)->set), "audio", json);
}

static px_datum inputs_channels(const void *of, char *text)
{
    const cli_inputs *inputs = of;
    (void)text;
    return px_datum_text(inputs->pre.bgr ? "bgr" : inputs->shape.dim[1] == 1 ? "gray" : "rgb");
}

static const px_field preprocessing_fields[] = {
    PX_FIELD(cli_inputs, pre.scale, "scale", "values are multiplied by this first"),
    PX_FIELD(cli_inputs, pre.scale_from, "scale_from",
             "where that comes from: option, metadata, default, ..."),
    PX_ARRAY_USED(cli_inputs, pre.mean, pre.channels, "mean",
                  "then subtracted, for each channel or for all"),
    PX_FIELD(cli_inputs, pre.mean_from, "mean_from", "where that comes from"),
    PX_ARRAY_USED(cli_inputs, pre.stddev, pre.channels, "std", "then divided by"),
    PX_FIELD(cli_inputs, pre.std_from, "std_from", "where that comes from"),
    PX_FIELD(cli_inputs, pre.size_from, "size_from", "where the size of pictures comes from"),
    PX_WRITTEN(inputs_write_audio, "audio", "how recordings become features",
               .when = inputs_are_audio),
    PX_FIELD(cli_inputs, pre.audio_from, "audio_from", "where that comes from",
             .when = inputs_are_audio),
    PX_MADE(TEXT, inputs_channels, "channels", "rgb, bgr or gray"),
    PX_FIELDS_END,
};

const px_field cli_inputs_fields[] = {
    PX_OBJECT_OF(preprocessing_fields, "preprocessing",
                 "what is done to inputs before the network sees them"),
    PX_FIELDS_END,
};

void cli_note_baked(const cli_command *self, const px_model *model, int64_t batch)
{
    cli_note(self,
             "'%s' was exported for %" PRId64 " input%s at a time, which cannot be changed "
             "safely; it runs in a loop",
             px_model_path(model), batch, batch == 1 ? "" : "s");
}

void cli_note_run(const cli_command *self, const px_model *model, const px_run_facts *facts)
{
    if (facts->batch_baked && facts->batch < facts->count)
        cli_note_baked(self, model, facts->batch);
}

cli_classes cli_classes_of(const px_model *model, const px_dataset *set)
{
    return (cli_classes){.model = model, .set = set};
}

const char *cli_class_name(const cli_classes *classes, int c, char buffer[CLI_NUMBER_TEXT])
{
    const char *name = classes->model ? px_model_class_name(classes->model, c) : NULL;
    if (!name && classes->set)
        name = px_dataset_class_name(classes->set, c);
    snprintf(buffer, CLI_NUMBER_TEXT, "%d", c);
    return name ? name : buffer;
}

void cli_classes_doubt(const cli_command *self, const px_dataset *set, int classes)
{
    char sentence[PX_CLASSES_TEXT];
    if (px_dataset_classes_doubt(set, classes, sentence))
        cli_note(self, "%s", sentence);
}

px_status cli_range(const char *text, double *low, double *high, px_error *err)
{
    char first[64];
    const char *comma = strchr(text, ',');
    if (!comma || (size_t)(comma - text) >= sizeof first)
        return px_fail(err, PX_E_USAGE, "--range '%.60s': expected LOW,HIGH, such as 0,1", text);
    memcpy(first, text, (size_t)(comma - text));
    first[comma - text] = '\0';
    PX_TRY(px_length_parse(first, "--range", 0, 1, low, err));
    return px_length_parse(comma + 1, "--range", 0, 1, high, err);
}

px_status cli_range_of(const cli_command *self, const char *text, const cli_inputs *inputs,
                       double *low, double *high, px_error *err)
{
    if (text)
        return cli_range(text, low, high, err);
    PX_TRY(px_dataset_range(inputs->set, &inputs->pre, low, high, err));
    if (!px_dataset_is_8bit(inputs->set) && (*low != 0.0 || *high != 1.0))
        cli_note(self, "values run from %.4g to %.4g: taken as the range; --range to set it", *low,
                 *high);
    return PX_OK;
}

px_status cli_shard(const char *text, int64_t *shard, int64_t *shards, px_error *err)
{
    long long i = 0, n = 1;
    int used = 0;
    if (text && (sscanf(text, "%lld/%lld%n", &i, &n, &used) != 2 || text[used] != '\0' || i < 0 ||
                 n < 1 || i >= n))
        return px_fail(err, PX_E_USAGE, "--shard %.60s: expected I/N with 0 <= I < N, as in 0/4",
                       text);
    *shard = i;
    *shards = n;
    return PX_OK;
}

cli_origin cli_origin_of(const px_model *model, const px_dataset *set)
{
    cli_origin origin = {0};
    if (model) {
        origin.model = px_model_path(model);
        origin.model_hash = px_model_hash(model);
    }
    if (set) {
        origin.data = px_dataset_describe(set);
        origin.data_hash = px_dataset_hash(set);
        origin.damaged = px_dataset_skipped(set, &origin.damaged_count);
    }
    return origin;
}

static const px_field damage_fields[] = {
    PX_FIELD(px_damage, index, "index", "in the data"),
    PX_FIELD(px_damage, name, "name", "of its file"),
    PX_FIELD(px_damage, reason, "reason", "why it cannot be read"),
    PX_FIELDS_END,
};

const px_field cli_origin_fields[] = {
    PX_FIELD(cli_origin, model, "model", "path of the network", .optional = true),
    PX_HASH(cli_origin, model_hash, "model_hash", "of its contents", PX_IF(cli_origin, model)),
    PX_FIELD(cli_origin, data, "data", "what was read", PX_IF(cli_origin, data)),
    PX_HASH(cli_origin, data_hash, "data_hash", "of which inputs they are",
            PX_IF(cli_origin, data)),
    PX_LIST(cli_origin, damaged, damaged_count, damage_fields, "damaged",
            "inputs that --skip-damaged left out", .optional = true),
    PX_FIELDS_END,
};
