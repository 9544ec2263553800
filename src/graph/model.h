/* src/graph/model.h - the inside of px_model, for the rooms that make one */
#ifndef PXI_GRAPH_MODEL_H
#define PXI_GRAPH_MODEL_H

#include <plexor/graph.h>

#include "base/arena.h"

struct px_model {
    px_arena *arena; /* owns everything below, but for what `owned` releases */
    px_graph graph;
    const char *path, *producer, *warnings;
    int opset, ir_version;
    uint64_t hash;
    size_t property_count;
    const px_property *properties;
    void *owned;                  /* e.g. the protobuf message whose bytes the constants view */
    void (*release)(void *owned); /* NULL if there is nothing to release */
};

/* Finds a value by name in O(1): built by pxi_graph_finish(), used by px_graph_find_value(). */
px_status pxi_graph_finish(px_model *model, px_error *err);

#endif
