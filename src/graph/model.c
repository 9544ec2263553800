/* src/graph/model.c - what a model holds, and how values are found by name */
/* SPDX-License-Identifier: Apache-2.0 */
#include <internal/model.h>

#include "base/memory.h"

#include <internal/graph.h>
#include <internal/property.h>
#include <stdlib.h>

px_status pxi_graph_finish(px_model *model, px_error *err)
{
    for (int i = 0; i < model->graph.value_count; i++) {
        const char *name = model->graph.values[i].name;
        const int held = pxi_names_add(&model->names, name, i);
        if (held < 0)
            return pxi_no_memory_for(err, "%d value names", model->graph.value_count);
        if (held != i)
            return px_fail(err, PX_E_INPUT, "the name '%s' is given to two values", name);
    }
    return PX_OK;
}

int px_graph_find_value(const px_graph *graph, const char *name)
{
    /* A px_graph only ever exists inside its model. */
    const px_model *model = (const px_model *)((const char *)graph - offsetof(px_model, graph));
    return pxi_names_find(&model->names, name);
}

void px_model_free(px_model *model)
{
    if (!model)
        return;
    pxi_names_done(&model->names);
    if (model->release)
        model->release(model->owned);
    pxi_arena_free(model->arena);
    free(model);
}

const px_graph *px_model_graph(const px_model *model)
{
    return &model->graph;
}

const char *px_model_path(const px_model *model)
{
    return model->path ? model->path : "";
}

const char *px_model_producer(const px_model *model)
{
    return model->producer ? model->producer : "";
}

int px_model_opset(const px_model *model)
{
    return model->opset;
}

int px_model_ir_version(const px_model *model)
{
    return model->ir_version;
}

uint64_t px_model_hash(const px_model *model)
{
    return model->hash;
}

size_t px_model_property_count(const px_model *model)
{
    return model->property_count;
}

const px_property *px_model_properties(const px_model *model)
{
    return model->properties;
}

const char *px_model_property(const px_model *model, const char *key)
{
    return px_property_find(model->properties, model->property_count, key);
}
