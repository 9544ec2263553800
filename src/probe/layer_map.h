/* src/probe/layer_map.h - what a map of inputs is made of */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_PROBE_LAYER_MAP_H
#define PXI_PROBE_LAYER_MAP_H

#include "base/arena.h"

#include <internal/map.h>

struct px_map {
    const px_model *model;
    px_map_options options; /* texts are in the arena */
    px_arena *arena;        /* names */
    px_probe *probe;
    px_scores scores;
    bool has_scores;
    px_shape sample; /* of an input */
    size_t width;    /* neurons */
    size_t count, row_capacity, point_capacity, name_capacity;
    float *rows;         /* [count][width] */
    px_map_point *point; /* [count] */
    const char **name;   /* [count] of inputs, in the arena */
    px_map_origin origin[PX_MAP_ORIGINS_MOST];
    int origin_count;
    const char **class_name; /* NULL: a number */
    size_t class_count, class_capacity;
    px_map_quality quality;
};

#endif
