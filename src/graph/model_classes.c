/* src/graph/model_classes.c - a network and data for it: names of classes, preprocessing */
/* SPDX-License-Identifier: Apache-2.0 */
#include <internal/model.h>

#include "base/memory.h"

#include <internal/classes.h>
#include <internal/data.h>
#include <internal/graph.h>
#include <internal/preprocess.h>
#include <string.h>

static const char classes_key[] = "plexor.classes";

px_status pxi_model_take_classes(px_model *model, char *const *names, int count, px_error *err)
{
    const char **copies = pxi_arena_alloc(model->arena, (size_t)count, sizeof *copies);
    bool failed = !copies;
    for (int i = 0; !failed && i < count; i++)
        failed = !(copies[i] = pxi_arena_strdup(model->arena, names[i]));
    if (failed)
        return pxi_no_memory_for(err, "%d class names", count);
    model->class_names = copies;
    model->class_count = count;
    return PX_OK;
}

px_status pxi_model_read_classes(px_model *model, px_error *err)
{
    const char *text = px_model_property(model, classes_key);
    char **names = NULL;
    int count = 0;
    px_error why = {0};
    if (!text)
        return PX_OK;
    px_status status = px_class_names_parse(text, &names, &count, &why);
    if (status != PX_OK && status != PX_E_NOMEM)
        return PX_OK; /* names are a courtesy: numbers do as well */
    if (status == PX_E_NOMEM)
        return px_fail(err, status, "%s", why.message);
    status = pxi_model_take_classes(model, names, count, err);
    px_class_names_free(names, count);
    return status;
}

/* With another text of the key; NULL: without the key. */
px_status pxi_model_write_classes(px_model *model, const char *text, px_error *err)
{
    size_t used = 0;
    px_property *properties =
        pxi_arena_alloc(model->arena, model->property_count + 1, sizeof *properties);
    const char *copy = text ? pxi_arena_strdup(model->arena, text) : NULL;
    if (!properties || (text && !copy))
        return pxi_no_memory(err);
    for (size_t i = 0; i < model->property_count; i++)
        if (strcmp(model->properties[i].key, classes_key) != 0)
            properties[used++] = model->properties[i];
    if (copy)
        properties[used++] = (px_property){.key = classes_key, .value = copy};
    model->properties = properties;
    model->property_count = used;
    return PX_OK;
}

const char *px_model_class_name(const px_model *model, int c)
{
    return c >= 0 && c < model->class_count ? model->class_names[c] : NULL;
}

px_data_options px_model_data_options(const px_model *model)
{
    px_data_options options = px_data_options_default();
    options.class_names = model->class_names;
    options.class_count = model->class_count;
    options.inputs = model->inputs;
    options.targets = model->regression ? model->regression->count : 0;
    if (options.targets) /* the verdicts' names are no classes of the data */
        options.class_names = NULL;
    return options;
}

const px_shape *px_model_input_shape(const px_model *model)
{
    const px_graph *graph = px_model_graph(model);
    return &graph->values[graph->inputs[0]].shape;
}

px_status px_model_preprocess(const px_model *model, const px_preprocess_options *pixels,
                              const char *audio, px_preprocess *out, px_error *err)
{
    const bool beside = model->regression || (model->inputs && model->inputs->table);
    const int inputs = px_model_graph(model)->input_count - beside;
    if (inputs != 1)
        return px_fail(err, PX_E_UNSUPPORTED,
                       "'%.200s' has %d inputs; data sets can be fed to networks with one",
                       px_model_path(model), inputs);
    PX_TRY(px_preprocess_init(out, px_model_properties(model), px_model_property_count(model),
                              px_model_input_shape(model), pixels, err));
    return px_preprocess_audio(out, audio, err);
}
