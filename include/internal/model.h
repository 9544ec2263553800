/* include/internal/model.h - the inside of px_model, for the rooms that make one */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_INTERNAL_MODEL_H
#define PXI_INTERNAL_MODEL_H

#include <plexor/graph.h>

#include "base/arena.h"
#include <internal/names.h>

struct px_model {
    px_arena *arena; /* owns everything below, but for `names` and what `owned` releases */
    px_graph graph;
    const char *path, *producer, *warnings;
    int opset, ir_version;
    uint64_t hash;
    size_t property_count;
    const px_property *properties;
    const char *const *class_names; /* NULL: unknown */
    int class_count;
    const struct px_inputs *inputs;         /* NULL: one of float32 */
    const struct px_regression *regression; /* NULL: it classifies */
    pxi_names names;                        /* of values; filled in by pxi_graph_finish() */
    void *owned;                  /* e.g. the protobuf message whose bytes the constants view */
    void (*release)(void *owned); /* NULL if there is nothing to release */
};

/* The last step of making a model: indexes the values by name for px_graph_find_value(). Two values
 * of the same name are PX_E_INPUT. */
px_status pxi_graph_finish(px_model *model, px_error *err);

/* Class names from the metadata, for whoever makes a model; metadata that are no list of names are
 * passed over. */
px_status pxi_model_read_classes(px_model *model, px_error *err);
/* Copies the names; then the metadata say the same where the second one is called. */
px_status pxi_model_take_classes(px_model *model, char *const *names, int count, px_error *err);
px_status pxi_model_write_classes(px_model *model, const char *text, px_error *err);

#endif
