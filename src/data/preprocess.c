/* src/data/preprocess.c - from stored pixels to a network's input: (pixel * scale - mean) / std */
/* SPDX-License-Identifier: Apache-2.0 */
#include <internal/audio.h>
#include <internal/data.h>
#include <internal/preprocess.h>
#include <internal/property.h>

#include "base/memory.h"
#include "data/preprocess_source.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- texts ----------------------------------------------------------------------------------- */

/* A number or a fraction such as 1/255; leaves *text behind it. */
static bool parse_number(const char **text, double *value)
{
    char *end;
    double v = strtod(*text, &end);
    if (end == *text)
        return false;
    if (*end == '/') {
        const char *below = end + 1;
        const double divisor = strtod(below, &end);
        if (end == below || divisor == 0.0)
            return false;
        v /= divisor;
    }
    while (*end == ' ')
        end++;
    *text = end;
    *value = v;
    return isfinite(v);
}

/* Returns how many numbers the comma list holds; -1 if it is not one. */
static int parse_list(const char *text, double out[PX_PREPROCESS_CHANNELS])
{
    for (int count = 0; count < PX_PREPROCESS_CHANNELS;) {
        if (!parse_number(&text, &out[count++]))
            return -1;
        if (*text == '\0')
            return count;
        if (*text++ != ',')
            return -1;
    }
    return -1;
}

static int parse_mean_or_std(const char *text, bool is_std, double out[PX_PREPROCESS_CHANNELS])
{
    const px_preprocess_preset *preset = px_preprocess_preset_named(text);
    if (!preset)
        return parse_list(text, out);
    memcpy(out, is_std ? preset->stddev : preset->mean, sizeof preset->mean);
    return preset->channels;
}

/* "HxW", or one number for a square. */
static bool parse_size(const char *text, int *height, int *width)
{
    char *end;
    const long h = strtol(text, &end, 10);
    long w = h;
    if (end == text)
        return false;
    if (*end == 'x' || *end == 'X') {
        const char *second = end + 1;
        w = strtol(second, &end, 10);
        if (end == second)
            return false;
    }
    if (*end != '\0' || h < 1 || w < 1 || h > 65500 || w > 65500)
        return false;
    *height = (int)h;
    *width = (int)w;
    return true;
}

/* --- what the network wants ------------------------------------------------------------------ */

typedef struct pre_text { /* an option or a metadata value, and what messages call it */
    const char *text, *from, *label;
} pre_text;

typedef struct pre_places { /* where settings are looked for */
    const px_preprocess_options *options;
    const pxi_preprocess_source *source; /* NULL: no --preprocess */
    const px_property *properties;
    size_t property_count;
} pre_places;

static pre_text pre_find(const pre_places *at, const char *option, const char *flag,
                         const char *source, const char *key)
{
    if (option)
        return (pre_text){option, "option", flag};
    if (at->source && *source)
        return (pre_text){source, "option", "--preprocess"};
    const char *value = px_property_find(at->properties, at->property_count, key);
    return value ? (pre_text){value, "metadata", key} : (pre_text){NULL, "default", key};
}

static px_status pre_fail(const pre_text *text, const char *expected, px_error *err)
{
    return px_fail(err, PX_E_USAGE, "%s '%.100s': expected %s", text->label, text->text, expected);
}

/* Which axes of the declared input are what. A grey or RGB extent decides; in doubt channels are
 * first, as ONNX operators have them. */
static void pre_axes(px_preprocess *pre, const px_shape *shape)
{
    if (!shape || shape->rank != 4)
        return;
    const int64_t *d = shape->dim;
    pre->channels_last = (d[3] == 1 || d[3] == 3) && d[1] != 1 && d[1] != 3;
    const int64_t c = pre->channels_last ? d[3] : d[1];
    const int64_t h = pre->channels_last ? d[1] : d[2], w = pre->channels_last ? d[2] : d[3];
    if (c == 1 || c == 3)
        pre->picture = (int)c;
    if (h > 0 && h <= 65500)
        pre->height = (int)h;
    if (w > 0 && w <= 65500)
        pre->width = (int)w;
}

static px_status pre_size(px_preprocess *pre, const pre_text *size, px_error *err)
{
    int height, width;
    pre->size_from = size->from;
    if (!size->text)
        return PX_OK;
    if (!parse_size(size->text, &height, &width))
        return pre_fail(size, "HEIGHTxWIDTH, such as 224x224", err);
    if ((pre->height && pre->height != height) || (pre->width && pre->width != width))
        return px_fail(err, PX_E_MISMATCH, "%s %dx%d: the network takes %dx%d", size->label, height,
                       width, pre->height, pre->width);
    pre->height = height;
    pre->width = width;
    return PX_OK;
}

static px_status pre_picture(px_preprocess *pre, const char *text, px_error *err)
{
    if (!text)
        return PX_OK;
    const bool grey = strcmp(text, "gray") == 0 || strcmp(text, "grey") == 0;
    pre->bgr = strcmp(text, "bgr") == 0;
    if (!grey && !pre->bgr && strcmp(text, "rgb") != 0)
        return px_fail(err, PX_E_INPUT, "plexor.channels '%.100s': expected gray, rgb or bgr",
                       text);
    const int picture = grey ? 1 : 3;
    if (pre->picture && pre->picture != picture)
        return px_fail(err, PX_E_MISMATCH,
                       "plexor.channels '%s' does not fit the network's input of %d channels", text,
                       pre->picture);
    pre->picture = picture;
    return PX_OK;
}

/* One value holds for all channels; otherwise there is one for each. */
static px_status pre_list(const pre_text *text, bool is_std, int *count, float *to, px_error *err)
{
    double values[PX_PREPROCESS_CHANNELS] = {is_std ? 1.0 : 0.0};
    *count = 1;
    if (text->text) {
        *count = parse_mean_or_std(text->text, is_std, values);
        if (*count < 0)
            return pre_fail(
                text, "numbers such as 0.485,0.456,0.406, or one of 'plexor list preprocess'", err);
    }
    for (int i = 0; i < PX_PREPROCESS_CHANNELS; i++) {
        to[i] = (float)values[*count == 1 ? 0 : PX_MIN(i, *count - 1)];
        if (is_std && !(to[i] > 0.0f))
            return pre_fail(text, "a standard deviation above 0", err);
    }
    return PX_OK;
}

static px_status pre_scale(px_preprocess *pre, const pre_text *text, px_error *err)
{
    double list[PX_PREPROCESS_CHANNELS];
    pre->scale_from = text->from;
    if (!text->text)
        return PX_OK;
    const int count = parse_list(text->text, list);
    for (int i = 1; i < count; i++)
        if (list[i] != list[0])
            return pre_fail(text, "the same scale for every channel; use std for others", err);
    if (count < 1 || list[0] == 0.0)
        return pre_fail(text, "a number such as 1/255", err);
    pre->scale = (float)list[0];
    pre->range = 0.0f;
    return PX_OK;
}

/* The size in a file is a wish: a network that has its own keeps it. */
static px_status pre_wanted_size(px_preprocess *pre, const pre_places *at, px_error *err)
{
    const char *wish = at->source && !pre->height ? at->source->size : "";
    const pre_text size = pre_find(at, at->options->size, "--size", wish, "plexor.size");
    return pre_size(pre, &size, err);
}

static px_status pre_numbers(px_preprocess *pre, const pre_places *at, px_error *err)
{
    const pxi_preprocess_source *source = at->source;
    const pre_text mean =
        pre_find(at, at->options->mean, "--mean", source ? source->mean : "", "plexor.mean");
    const pre_text std =
        pre_find(at, at->options->std, "--std", source ? source->std : "", "plexor.std");
    pre_text scale = {NULL, "option", "--scale"}; /* of a source: its range and the data's kind */
    if (!source || at->options->scale)
        scale = pre_find(at, at->options->scale, "--scale", "", "plexor.scale");
    else
        pre->range = (float)source->range;
    int means, stds;
    PX_TRY(pre_scale(pre, &scale, err));
    PX_TRY(pre_list(&mean, false, &means, pre->mean, err));
    PX_TRY(pre_list(&std, true, &stds, pre->stddev, err));
    pre->mean_from = mean.from;
    pre->std_from = std.from;
    if (means > 1 && stds > 1 && means != stds)
        return px_fail(err, PX_E_MISMATCH, "mean has %d values, std has %d", means, stds);
    pre->channels = PX_MAX(means, stds);
    if (pre->channels > 1 && pre->picture && pre->channels != pre->picture)
        return px_fail(err, PX_E_MISMATCH,
                       "mean or std has %d values, the network's input has %d channels",
                       pre->channels, pre->picture);
    if (pre->channels == 1 && pre->picture)
        pre->channels = pre->picture;
    return PX_OK;
}

static px_status pre_init(px_preprocess *pre, const pre_places *at, const px_shape *input_shape,
                          px_error *err)
{
    const char *channels = px_property_find(at->properties, at->property_count, "plexor.channels");
    const char *audio = px_property_find(at->properties, at->property_count, "plexor.audio");
    *pre = (px_preprocess){.scale = 1.0f, .range = 1.0f, .channels = 1};
    pre_axes(pre, input_shape);
    PX_TRY(pre_wanted_size(pre, at, err));
    PX_TRY(pre_picture(pre, channels, err));
    if (at->source)
        pre->bgr = at->source->bgr;
    pre->audio = px_audio_default();
    pre->audio_from = audio ? "metadata" : "default";
    if (audio)
        PX_TRY(px_audio_from_json(audio, &pre->audio, err));
    return pre_numbers(pre, at, err);
}

/* Which of mean, std and channel order --preprocess would have otherwise than `pre` (or `pre`
 * otherwise than the metadata); "": none. */
static const char *pre_difference(const px_preprocess *a, const px_preprocess *b)
{
    bool mean = false, std = false;
    for (int c = 0; c < PX_MAX(a->channels, b->channels); c++) {
        mean |= fabsf(a->mean[c] - b->mean[c]) > 1e-6f * (1.0f + fabsf(b->mean[c]));
        std |= fabsf(a->stddev[c] - b->stddev[c]) > 1e-6f * (1.0f + b->stddev[c]);
    }
    return mean && std        ? "mean and std"
           : mean             ? "mean"
           : std              ? "std"
           : a->bgr != b->bgr ? "channel order"
                              : "";
}

/* Says what takes whose place, where they differ. */
static void pre_conflicts(px_preprocess *pre, const pre_places *at, const px_shape *input_shape)
{
    static const px_preprocess_options none = {0};
    const px_preprocess_options *o = at->options;
    const char *what;
    px_preprocess other;
    pre_places own = *at, given = *at;
    own.options = given.options = &none;
    own.source = NULL;
    if ((o->mean || o->std) && pre_init(&other, &given, input_shape, NULL) == PX_OK &&
        *(what = pre_difference(pre, &other)))
        snprintf(pre->note, sizeof pre->note, "%s the place of the %s of --preprocess '%.80s'",
                 !o->std    ? "--mean takes"
                 : !o->mean ? "--std takes"
                            : "--mean and --std take",
                 what, o->preprocess);
    else if (pre_init(&other, &own, input_shape, NULL) == PX_OK &&
             (strcmp(other.mean_from, "metadata") == 0 ||
              strcmp(other.std_from, "metadata") == 0) &&
             *(what = pre_difference(pre, &other)))
        snprintf(pre->note, sizeof pre->note,
                 "--preprocess '%.80s' takes the place of the %s in the network's metadata",
                 o->preprocess, what);
}

px_status px_preprocess_init(px_preprocess *out, const px_property *properties,
                             size_t property_count, const px_shape *input_shape,
                             const px_preprocess_options *options, px_error *err)
{
    static const px_preprocess_options none = {0};
    pxi_preprocess_source source;
    px_preprocess pre;
    pre_places at = {.options = options ? options : &none,
                     .properties = properties,
                     .property_count = property_count};
    if (at.options->preprocess) {
        PX_TRY(pxi_preprocess_source_read(at.options->preprocess, &source, err));
        at.source = &source;
    }
    PX_TRY(pre_init(&pre, &at, input_shape, err));
    if (at.source)
        pre_conflicts(&pre, &at, input_shape);
    if (at.source && !*pre.note)
        memcpy(pre.note, source.note, sizeof pre.note);
    *out = pre;
    return PX_OK;
}

void px_preprocess_fit(px_preprocess *pre, bool is_8bit)
{
    if (pre->range > 0.0f)
        pre->scale = is_8bit ? pre->range / 255.0f : pre->range;
}

static bool pre_has_audio(const px_preprocess *pre)
{
    return pre->audio_from && strcmp(pre->audio_from, "default") != 0;
}

px_status px_preprocess_audio(px_preprocess *pre, const char *text, px_error *err)
{
    if (!text)
        return PX_OK;
    if (!pre_has_audio(pre)) { /* then the network's input says the shape */
        if (pre->height)
            pre->audio.frames = pre->height;
        if (pre->width)
            pre->audio.n_mels = pre->width;
    }
    const px_status status = px_audio_parse(text, &pre->audio, err);
    if (status != PX_OK)
        return px_fail_in(err, status, "--audio");
    pre->audio_from = "option";
    return PX_OK;
}

/* --- data in that shape ---------------------------------------------------------------------- */

/* The batch axis is free; so is what the network leaves open. */
static bool shape_accepts(const px_shape *input, const px_shape *sample, bool channels_last)
{
    int64_t known = 1;
    bool open = false;
    for (int i = 1; i < input->rank; i++) {
        if (input->dim[i] < 0)
            open = true;
        else
            known *= input->dim[i];
    }
    const int64_t count = px_shape_count(sample);
    if (!open)
        return known == count;
    if (input->rank != sample->rank + 1)
        return false;
    for (int i = 0; i < sample->rank; i++) {
        const int at = !channels_last ? i + 1 : i == 0 ? input->rank - 1 : i;
        if (input->dim[at] >= 0 && input->dim[at] != sample->dim[i])
            return false;
    }
    return true;
}

px_status px_dataset_open_for(px_preprocess *pre, const px_shape *input_shape, const char *spec,
                              const px_data_options *options, px_dataset **out, px_error *err)
{
    px_data_options local = options ? *options : px_data_options_default();
    px_dataset *set = NULL;
    if (pre->height) {
        local.height = pre->height;
        local.width = pre->width;
    }
    if (pre->picture)
        local.channels = pre->picture;
    if (pre_has_audio(pre))
        local.audio = &pre->audio;
    PX_TRY(px_dataset_open(spec, &local, &set, err));
    const px_shape shape = px_dataset_shape(set);
    if (input_shape && !shape_accepts(input_shape, &shape, pre->channels_last)) {
        char a[PX_SHAPE_TEXT], b[PX_SHAPE_TEXT];
        px_dataset_close(set);
        return px_fail(err, PX_E_MISMATCH, "'%s': its samples are %s, the network takes %s", spec,
                       px_shape_text(&shape, a), px_shape_text(input_shape, b));
    }
    if (pre->channels > 1 && (shape.rank != 3 || shape.dim[0] != pre->channels)) {
        char a[PX_SHAPE_TEXT];
        px_dataset_close(set);
        return px_fail(err, PX_E_MISMATCH, "'%s': its samples are %s, mean or std has %d values",
                       spec, px_shape_text(&shape, a), pre->channels);
    }
    px_preprocess_fit(pre, px_dataset_is_8bit(set));
    if (px_dataset_audio(set))
        pre->audio = *px_dataset_audio(set);
    *out = set;
    return PX_OK;
}

/* Whether data come in one piece: no train and no test part. Parts that cannot be read are parts.
 */
static bool data_is_whole(const char *spec, const struct px_inputs *inputs)
{
    static const char *const splits[] = {"train", "test"};
    for (int i = 0; i < 2; i++) {
        px_data_options options = px_data_options_default();
        px_dataset *set = NULL;
        options.split = splits[i];
        options.inputs = inputs;
        const px_status status = px_dataset_open(spec, &options, &set, NULL);
        px_dataset_close(set);
        if (status != PX_E_USAGE)
            return false;
    }
    return true;
}

px_status px_dataset_open_part(px_preprocess *pre, const px_shape *input_shape, const char *spec,
                               const px_data_options *options, bool may_be_whole, px_dataset **out,
                               px_error *err)
{
    px_data_options local = *options;
    for (;;) {
        const px_status status = input_shape
                                     ? px_dataset_open_for(pre, input_shape, spec, &local, out, err)
                                     : px_dataset_open(spec, &local, out, err);
        if (status != PX_E_USAGE || !may_be_whole || !local.split ||
            !data_is_whole(spec, local.inputs))
            return status;
        local.split = NULL;
    }
}

static void swap_planes(float *a, float *b, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const float v = a[i];
        a[i] = b[i];
        b[i] = v;
    }
}

px_status px_preprocess_apply(const px_preprocess *pre, const px_shape *shape, float *input,
                              px_error *err)
{
    const size_t channels = shape->rank == 3 ? (size_t)shape->dim[0] : 1;
    const size_t count = (size_t)px_shape_count(shape) / channels;
    /* 1/255 has no exact float: dividing by 255 gives what everyone else's x / 255 gives. */
    const float whole = roundf(1.0f / pre->scale);
    const bool divide = fabsf(pre->scale * whole - 1.0f) < 1e-6f;
    if (pre->bgr && channels == 3)
        swap_planes(input, input + 2 * count, count);
    for (size_t c = 0; c < channels; c++) {
        float *plane = input + c * count;
        const size_t at = pre->channels == 1 ? 0 : PX_MIN(c, (size_t)pre->channels - 1);
        const float mean = pre->mean[at], stddev = pre->stddev[at];
        if (divide)
            for (size_t i = 0; i < count; i++)
                plane[i] = (plane[i] / whole - mean) / stddev;
        else
            for (size_t i = 0; i < count; i++)
                plane[i] = (plane[i] * pre->scale - mean) / stddev;
    }
    if (!pre->channels_last || channels == 1)
        return PX_OK;
    float *planes = NULL;
    PX_TRY(PX_NEW(planes, channels * count, err));
    memcpy(planes, input, channels * count * sizeof *planes);
    for (size_t c = 0; c < channels; c++)
        for (size_t i = 0; i < count; i++)
            input[i * channels + c] = planes[c * count + i];
    free(planes);
    return PX_OK;
}

px_status px_dataset_input(const px_dataset *set, const px_preprocess *pre, int64_t index,
                           float *input, px_error *err)
{
    const px_shape shape = px_dataset_shape(set);
    PX_TRY(px_dataset_pixels(set, index, input, err));
    return px_preprocess_apply(pre, &shape, input, err);
}

const px_field px_preprocess_fields[] = {
    PX_FIELD(px_preprocess, scale, "scale", "values are multiplied by this first"),
    PX_ARRAY_USED(px_preprocess, mean, channels, "mean", "then subtracted, by channel"),
    PX_ARRAY_USED(px_preprocess, stddev, channels, "std", "then divided by"),
    PX_FIELD(px_preprocess, bgr, "bgr", "channels are in this order"),
    PX_FIELDS_END,
};
