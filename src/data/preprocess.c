/* src/data/preprocess.c - from stored pixels to a network's input: (pixel * scale - mean) / std */
#include <plexor/data.h>

#include "base/memory.h"
#include <plexor/json.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- texts ----------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    int count;
    double mean[3], stddev[3];
} presets[] = {
    {"imagenet", 3, {0.485, 0.456, 0.406}, {0.229, 0.224, 0.225}},
    {"cifar10", 3, {0.4914, 0.4822, 0.4465}, {0.2470, 0.2435, 0.2616}},
    {"mnist", 1, {0.1307}, {0.3081}},
};

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
    for (size_t i = 0; i < PX_LEN(presets); i++)
        if (strcmp(text, presets[i].name) == 0) {
            memcpy(out, is_std ? presets[i].stddev : presets[i].mean, sizeof presets[i].mean);
            return presets[i].count;
        }
    return parse_list(text, out);
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

static pre_text pre_find(const char *option, const char *flag, const px_property *properties,
                         size_t count, const char *key)
{
    if (option)
        return (pre_text){option, "option", flag};
    const char *value = px_property_find(properties, count, key);
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
            return pre_fail(text, "numbers such as 0.485,0.456,0.406, or imagenet, cifar10, mnist",
                            err);
    }
    for (int i = 0; i < PX_PREPROCESS_CHANNELS; i++) {
        to[i] = (float)values[*count == 1 ? 0 : PX_MIN(i, *count - 1)];
        if (is_std && !(to[i] > 0.0f))
            return pre_fail(text, "a standard deviation above 0", err);
    }
    return PX_OK;
}

px_status px_preprocess_init(px_preprocess *out, const px_property *properties,
                             size_t property_count, const px_shape *input_shape, const char *scale,
                             const char *mean, const char *std, const char *size, px_error *err)
{
    px_preprocess pre = {.scale = 1.0f, .channels = 1};
    const px_property *p = properties;
    const size_t n = property_count;
    const pre_text scale_text = pre_find(scale, "--scale", p, n, "plexor.scale");
    const pre_text mean_text = pre_find(mean, "--mean", p, n, "plexor.mean");
    const pre_text std_text = pre_find(std, "--std", p, n, "plexor.std");
    const pre_text size_text = pre_find(size, "--size", p, n, "plexor.size");

    pre_axes(&pre, input_shape);
    PX_TRY(pre_size(&pre, &size_text, err));
    PX_TRY(pre_picture(&pre, px_property_find(p, n, "plexor.channels"), err));
    pre.scale_from = scale_text.from;
    pre.mean_from = mean_text.from;
    pre.std_from = std_text.from;
    const char *audio = px_property_find(p, n, "plexor.audio");
    pre.audio = px_audio_default();
    pre.audio_from = audio ? "metadata" : "default";
    if (audio)
        PX_TRY(px_audio_from_json(audio, &pre.audio, err));

    if (scale_text.text) {
        double list[PX_PREPROCESS_CHANNELS];
        const int count = parse_list(scale_text.text, list);
        for (int i = 1; i < count; i++)
            if (list[i] != list[0])
                return pre_fail(&scale_text, "the same scale for every channel; use std for others",
                                err);
        if (count < 1 || list[0] == 0.0)
            return pre_fail(&scale_text, "a number such as 1/255", err);
        pre.scale = (float)list[0];
    }
    int means, stds;
    PX_TRY(pre_list(&mean_text, false, &means, pre.mean, err));
    PX_TRY(pre_list(&std_text, true, &stds, pre.stddev, err));
    if (means > 1 && stds > 1 && means != stds)
        return px_fail(err, PX_E_MISMATCH, "mean has %d values, std has %d", means, stds);
    pre.channels = PX_MAX(means, stds);
    if (pre.channels > 1 && pre.picture && pre.channels != pre.picture)
        return px_fail(err, PX_E_MISMATCH,
                       "mean or std has %d values, the network's input has %d channels",
                       pre.channels, pre.picture);
    if (pre.channels == 1 && pre.picture)
        pre.channels = pre.picture;
    *out = pre;
    return PX_OK;
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
    if (strcmp(pre->scale_from, "default") == 0)
        pre->scale = px_dataset_is_8bit(set) ? 1.0f / 255.0f : 1.0f;
    if (px_dataset_audio(set))
        pre->audio = *px_dataset_audio(set);
    *out = set;
    return PX_OK;
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
    float *planes = pxi_calloc(channels * count, sizeof *planes);
    if (!planes)
        return px_fail(err, PX_E_NOMEM, "out of memory");
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

/* --- class names ----------------------------------------------------------------------------- */

void px_class_names_free(char **names, int count)
{
    for (int i = 0; names && i < count; i++)
        free(names[i]);
    free(names);
}

px_status px_class_names_parse(const char *json, char ***out, int *count, px_error *err)
{
    px_json_document *document = NULL;
    char **names = NULL;
    int used = 0;
    PX_TRY(px_json_parse(json, strlen(json), &document, err));
    const px_json_value *root = px_json_root(document);
    px_status status = PX_OK;
    const bool object = root->kind == PX_JSON_OBJECT;
    if ((!object && root->kind != PX_JSON_ARRAY) || root->count == 0) {
        status = px_fail(err, PX_E_INPUT, "plexor.classes: expected a JSON list of names");
        goto done;
    }
    names = pxi_calloc(root->count, sizeof *names);
    for (size_t i = 0; names && i < root->count && status == PX_OK; i++) {
        char key[24];
        snprintf(key, sizeof key, "%zu", i);
        const px_json_value *item = object ? px_json_member(root, key) : &root->items[i];
        if (!item || item->kind != PX_JSON_STRING)
            status = px_fail(err, PX_E_INPUT, "plexor.classes: class %zu has no name", i);
        else if ((names[used] = pxi_strdup(item->string)) != NULL)
            used++;
        else
            status = px_fail(err, PX_E_NOMEM, "out of memory");
    }
    if (!names)
        status = px_fail(err, PX_E_NOMEM, "out of memory");
    if (status == PX_OK) {
        *out = names;
        *count = used;
        names = NULL;
    }
done:
    px_class_names_free(names, used);
    px_json_free(document);
    return status;
}

void px_preprocess_json(const px_preprocess *pre, px_json *json)
{
    px_json_object(json, "preprocess");
    px_json_real(json, "scale", (double)pre->scale);
    px_json_array(json, "mean");
    for (int c = 0; c < pre->channels; c++)
        px_json_real(json, NULL, (double)pre->mean[c]);
    px_json_end(json);
    px_json_array(json, "std");
    for (int c = 0; c < pre->channels; c++)
        px_json_real(json, NULL, (double)pre->stddev[c]);
    px_json_end(json);
    px_json_bool(json, "bgr", pre->bgr);
    px_json_end(json);
}
