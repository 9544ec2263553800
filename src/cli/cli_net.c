/* src/cli/cli_net.c - openings that commands with a network share */
#include "cli/cli_net.h"

#include "cli/cli_campaign.h"

#include <inttypes.h>
#include <plexor/system.h>
#include <stdio.h>
#include <string.h>

const char *cli_class_list;

px_status cli_model_load(const cli_command *self, const char *path, px_model **out, px_error *err)
{
    px_model *model = NULL;
    PX_TRY(px_model_load(path, &model, err));
    const px_status status =
        cli_class_list ? px_model_set_classes(model, cli_class_list, err) : PX_OK;
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

/* Once each, however often a command opens its data. */
static void inputs_note(const char *note)
{
    static px_text said;
    if (!*note || strstr(px_text_get(&said), note))
        return;
    px_text_format(&said, "%s\n", note);
    cli_note(cli_running(), "%s", note);
}

px_status cli_inputs_open(const px_model *model, const cli_data *data, cli_inputs *out,
                          px_error *err)
{
    const px_graph *graph = px_model_graph(model);
    cli_inputs inputs = {0};
    if (graph->input_count != 1)
        return px_fail(err, PX_E_UNSUPPORTED,
                       "'%s' has %d inputs; data sets can be fed to networks with one",
                       px_model_path(model), graph->input_count);
    const px_value *value = &graph->values[graph->inputs[0]];
    if (value->dtype != PX_FLOAT32 && value->dtype != PX_NONE)
        return px_fail(err, PX_E_UNSUPPORTED,
                       "'%s': input '%s' is %s; data sets can be fed to float32 inputs",
                       px_model_path(model), value->name, px_dtype_name(value->dtype));
    PX_TRY(px_preprocess_init(&inputs.pre, px_model_properties(model),
                              px_model_property_count(model), &value->shape, &data->pixels, err));
    PX_TRY(px_preprocess_audio(&inputs.pre, data->audio, err));
    cli_campaign_preprocess(model, data, &inputs.pre);
    px_data_options options = px_model_data_options(model);
    options.split = data->split;
    options.limit = data->limit;
    options.offset = data->offset;
    options.shuffle = data->shuffle;
    options.seed = (uint64_t)data->seed;
    cli_progress reading = cli_progress_start("reading");
    options.skip_damaged = data->skip_damaged;
    options.progress = cli_progress_tick;
    options.context = &reading;
    const px_status status =
        px_dataset_open_for(&inputs.pre, &value->shape, data->spec, &options, &inputs.set, err);
    if (data->skip_damaged)
        cli_progress_end(&reading);
    PX_TRY(status);
    inputs_note(inputs.pre.note);
    for (size_t i = 0; i < px_dataset_remark_count(inputs.set); i++)
        inputs_note(px_dataset_remark(inputs.set, i));
    inputs.count = px_dataset_count(inputs.set);
    const px_shape sample = px_dataset_shape(inputs.set);
    inputs.shape.rank = sample.rank + 1;
    inputs.shape.dim[0] = 1;
    for (int d = 0; d < sample.rank; d++)
        inputs.shape.dim[d + 1] = sample.dim[d];
    inputs.floats = (size_t)px_shape_count(&sample);
    if (inputs.count == 0) {
        px_dataset_close(inputs.set);
        return px_fail(err, PX_E_INPUT, "'%s': no inputs are left; see --offset and --limit",
                       data->spec);
    }
    *out = inputs;
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
        inputs_note(sizes);
    px_dataset_close(inputs->set);
    inputs->set = NULL;
}

/* Whether data come in one piece: no train and no test part. Parts that cannot be read are parts.
 */
static bool data_is_whole(const char *spec)
{
    static const char *const splits[] = {"train", "test"};
    for (int i = 0; i < 2; i++) {
        px_data_options options = px_data_options_default();
        px_dataset *set = NULL;
        options.split = splits[i];
        const px_status status = px_dataset_open(spec, &options, &set, NULL);
        px_dataset_close(set);
        if (status != PX_E_USAGE)
            return false;
    }
    return true;
}

px_status cli_part_open(px_preprocess *pre, const px_shape *input, const char *spec,
                        const px_data_options *options, bool may_be_whole, px_dataset **out,
                        px_error *err)
{
    const px_status status = input ? px_dataset_open_for(pre, input, spec, options, out, err)
                                   : px_dataset_open(spec, options, out, err);
    if (status != PX_E_USAGE || !may_be_whole || !data_is_whole(spec))
        return status;
    px_data_options whole = *options;
    whole.split = NULL;
    return input ? px_dataset_open_for(pre, input, spec, &whole, out, err)
                 : px_dataset_open(spec, &whole, out, err);
}

static void inputs_list(char *buffer, size_t size, const float *values, int count)
{
    size_t used = 0;
    buffer[0] = '\0';
    for (int c = 0; c < count && used < size; c++)
        used +=
            (size_t)snprintf(buffer + used, size - used, "%s%.4g", c ? "," : "", (double)values[c]);
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
    printf("data     %s\n", px_dataset_describe(inputs->set));
    const px_audio *audio = px_dataset_audio(inputs->set);
    if (audio)
        printf("audio    %d Hz, frames of %d every %d samples, %d mels of %g to %g Hz (%s)\n",
               audio->sample_rate, audio->win_length, audio->hop_length, audio->n_mels,
               audio->f_min, audio->f_max, pre->audio_from ? pre->audio_from : "default");
    printf("input    '%s' %s = (%s * scale - mean) / std%s\n", graph->values[graph->inputs[0]].name,
           px_shape_text(&open, shape), audio ? "feature" : "pixel",
           pre->bgr ? ", channels as BGR" : "");
    printf("         scale %s (%s), mean %s (%s), std %s (%s), size (%s)\n", scale, pre->scale_from,
           mean, pre->mean_from, std, pre->std_from, pre->size_from);
    printf("scores   %s, %d classes: %s\n", scores->probabilities ? "probabilities" : "logits",
           scores->classes, scores->why);
}

void cli_inputs_json(const cli_inputs *inputs, px_json *json)
{
    const px_preprocess *pre = &inputs->pre;
    px_json_object(json, "preprocessing");
    px_json_real(json, "scale", (double)pre->scale);
    px_json_string(json, "scale_from", pre->scale_from);
    px_json_array(json, "mean");
    for (int c = 0; c < pre->channels; c++)
        px_json_real(json, NULL, (double)pre->mean[c]);
    px_json_end(json);
    px_json_string(json, "mean_from", pre->mean_from);
    px_json_array(json, "std");
    for (int c = 0; c < pre->channels; c++)
        px_json_real(json, NULL, (double)pre->stddev[c]);
    px_json_end(json);
    px_json_string(json, "std_from", pre->std_from);
    px_json_string(json, "size_from", pre->size_from);
    if (px_dataset_audio(inputs->set)) {
        px_audio_json(px_dataset_audio(inputs->set), "audio", json);
        px_json_string(json, "audio_from", pre->audio_from);
    }
    px_json_string(json, "channels", pre->bgr ? "bgr" : inputs->shape.dim[1] == 1 ? "gray" : "rgb");
    px_json_end(json);
}

px_status cli_plan_new(const cli_command *self, const px_model *model, const px_shape *shape,
                       int64_t batch, int64_t count, px_plan_options options, px_plan **out,
                       px_error *err)
{
    const px_graph *graph = px_model_graph(model);
    const px_value *value = &graph->values[graph->inputs[0]];
    bool free_axes = !value->has_shape;
    for (int d = 1; d < value->shape.rank; d++)
        free_axes |= value->shape.dim[d] < 0;
    options.batch = batch <= 0 && free_axes && count < CLI_OPEN_BATCH ? count : batch;
    PX_TRY(cli_plan_open(model, free_axes ? shape : NULL, options, out, err));
    const int64_t baked = px_plan_batch(*out);
    if (px_plan_batch_is_baked(*out) && baked < count)
        cli_note_baked(self, model, baked);
    return PX_OK;
}

void cli_note_baked(const cli_command *self, const px_model *model, int64_t batch)
{
    cli_note(self,
             "'%s' was exported for %" PRId64 " input%s at a time, which cannot be changed "
             "safely; it runs in a loop",
             px_model_path(model), batch, batch == 1 ? "" : "s");
}

px_status cli_inputs_fill(const cli_inputs *inputs, const px_plan *plan, px_session *session,
                          int64_t first, int64_t samples, px_error *err)
{
    float *to = px_session_input(session, 0);
    for (int64_t i = 0; i < samples; i++)
        PX_TRY(px_dataset_input(inputs->set, &inputs->pre, first + i,
                                to + (size_t)i * inputs->floats, err));
    memset(to + (size_t)samples * inputs->floats, 0,
           (size_t)(px_plan_batch(plan) - samples) * inputs->floats * sizeof *to);
    return PX_OK;
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

/* A member `damaged`, where something was left out. */
static void inputs_skipped(const px_dataset *set, px_json *json)
{
    size_t count = 0;
    const px_damage *skipped = px_dataset_skipped(set, &count);
    if (count == 0)
        return;
    px_json_array(json, "damaged");
    for (size_t i = 0; i < count; i++) {
        px_json_object(json, NULL);
        px_json_int(json, "index", skipped[i].index);
        px_json_string(json, "name", skipped[i].name);
        px_json_string(json, "reason", skipped[i].reason);
        px_json_end(json);
    }
    px_json_end(json);
}

void cli_json_origin(px_json *json, const px_model *model, const px_dataset *set, int argc,
                     char **argv)
{
    char hash[32];
    cli_json_command(json, argc, argv);
    snprintf(hash, sizeof hash, "%016" PRIx64, px_model_hash(model));
    px_json_string(json, "model", px_model_path(model));
    px_json_string(json, "model_hash", hash);
    if (set) {
        snprintf(hash, sizeof hash, "%016" PRIx64, px_dataset_hash(set));
        px_json_string(json, "data", px_dataset_describe(set));
        px_json_string(json, "data_hash", hash);
        inputs_skipped(set, json);
    }
}
