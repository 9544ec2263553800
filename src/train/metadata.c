/* src/train/metadata.c - what a network says about itself: its metadata */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"

#include <internal/audio.h>
#include <internal/classes.h>
#include <internal/data.h>
#include <internal/train.h>
#include <math.h>
#include <plexor/predict.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static px_text *meta_add(px_properties *properties, const char *key)
{
    px_text *text = &properties->text[properties->count];
    properties->item[properties->count++].key = key;
    return text;
}

/* The shortest decimal that reads back as the same float. */
static void meta_float(px_text *text, float value)
{
    char buffer[32];
    for (int digits = 1; digits <= 9; digits++) {
        snprintf(buffer, sizeof buffer, "%.*g", digits, (double)value);
        if (strtof(buffer, NULL) == value)
            break;
    }
    px_text_add(text, buffer);
}

static void meta_list(px_text *text, const float *values, int count)
{
    bool same = true;
    for (int i = 1; i < count; i++)
        same = same && values[i] == values[0];
    for (int i = 0; i < (same ? 1 : count); i++) {
        if (i)
            px_text_add(text, ",");
        meta_float(text, values[i]);
    }
}

static void meta_scale(px_text *text, float scale)
{
    const float whole = roundf(1.0f / scale);
    if (whole > 1.0f && whole < 65536.0f && 1.0f / whole == scale)
        px_text_format(text, "1/%d", (int)whole);
    else
        meta_float(text, scale);
}

/* On one line: a writer's line breaks and indents stand outside of strings, where none can be. */
static bool meta_json(px_text *text, const px_json *json)
{
    const char *words = px_json_text(json);
    for (const char *p = words ? words : ""; *p;) {
        const size_t line = strcspn(p, "\n");
        px_text_add_bytes(text, p, line);
        const char *next = p + line + strspn(p + line, "\n ");
        if (line && p[line - 1] == ',')
            px_text_add(text, " ");
        p = next;
    }
    return words != NULL;
}

px_status px_properties_classes(px_properties *out, const px_model *model, const px_dataset *set,
                                int classes, px_error *err)
{
    char buffer[PX_CLASS_NUMBER];
    px_json json = {0};
    px_json_array(&json, NULL);
    for (int c = 0; c < classes; c++)
        px_json_string(&json, NULL, px_predict_class_name(model, set, c, buffer));
    px_json_end(&json);
    const bool good = meta_json(meta_add(out, "plexor.classes"), &json);
    px_json_done(&json);
    return good ? PX_OK : pxi_no_memory(err);
}

void px_properties_preprocess(px_properties *out, const px_preprocess *pre, const px_dataset *set,
                              bool scale)
{
    const px_shape shape = px_dataset_shape(set);
    if (scale)
        meta_scale(meta_add(out, "plexor.scale"), pre->scale);
    meta_list(meta_add(out, "plexor.mean"), pre->mean, pre->channels);
    meta_list(meta_add(out, "plexor.std"), pre->stddev, pre->channels);
    if (px_dataset_audio(set) || shape.rank != 3 || (shape.dim[0] != 1 && shape.dim[0] != 3))
        return;
    px_text_format(meta_add(out, "plexor.size"), "%lldx%lld", (long long)shape.dim[1],
                   (long long)shape.dim[2]);
    px_text_add(meta_add(out, "plexor.channels"), shape.dim[0] == 1 ? "gray"
                                                  : pre->bgr        ? "bgr"
                                                                    : "rgb");
}

px_status px_properties_end(px_properties *out, px_error *err)
{
    bool failed = false;
    for (size_t i = 0; i < out->count; i++) {
        out->item[i].value = px_text_get(&out->text[i]);
        failed = failed || px_text_failed(&out->text[i]);
    }
    return failed ? pxi_no_memory(err) : PX_OK;
}

px_status px_properties_describe(px_properties *out, const px_model *model, const px_scores *scores,
                                 const px_preprocess *pre, const px_dataset *set,
                                 const px_json *train, px_error *err)
{
    const px_graph *graph = px_model_graph(model);
    *out = (px_properties){.count = 0};
    px_properties_preprocess(out, pre, set, /* scale= */ true);
    if (px_dataset_audio(set)) {
        px_json json = {0};
        px_audio_json(px_dataset_audio(set), NULL, &json);
        const bool good = meta_json(meta_add(out, "plexor.audio"), &json);
        px_json_done(&json);
        if (!good)
            return pxi_no_memory(err);
    }
    /* Scores inside the graph are logits whose softmax is the output. */
    bool inner = true;
    for (int i = 0; i < graph->output_count; i++)
        inner = inner && graph->outputs[i] != scores->value;
    px_text_add(meta_add(out, "plexor.output"),
                inner || scores->probabilities ? "probs" : "logits");
    PX_TRY(px_properties_classes(out, model, set, scores->classes, err));
    if (!meta_json(meta_add(out, "plexor.train"), train))
        return pxi_no_memory(err);
    return px_properties_end(out, err);
}

void px_properties_done(px_properties *properties)
{
    for (size_t i = 0; i < properties->count; i++)
        px_text_done(&properties->text[i]);
    properties->count = 0;
}
