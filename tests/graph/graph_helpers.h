/* tests/graph/graph_helpers.h - small graphs for tests of the builder and of weights */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_GRAPH_HELPERS_H
#define TESTS_GRAPH_HELPERS_H

#include <internal/build.h>
#include <plexor/weights.h>
#include <stdio.h>
#include <string.h>

#include "cmocka_all.h"

#define SHAPE(count, ...) (&(const px_shape){.rank = (count), .dim = {__VA_ARGS__}})

static inline px_builder *begin(const char *name)
{
    px_builder *b = NULL;
    px_error err = {0};
    if (px_builder_new(name, &b, &err) != PX_OK)
        fail_msg("%s", err.message);
    return b;
}

static inline px_model *finish(px_builder *b)
{
    px_model *model = NULL;
    px_error err = {0};
    if (px_builder_finish(b, &model, &err) != PX_OK)
        fail_msg("%s", err.message);
    return model;
}

static inline int constant(px_builder *b, const char *name, int count)
{
    const int value = px_builder_constant(b, name, PX_FLOAT32, SHAPE(1, count), NULL);
    float *data = px_builder_data(b, value);
    for (int i = 0; i < count && data; i++)
        data[i] = (float)i + 0.5f;
    return value;
}

/* A Constant node of float32. */
static inline int constant_node(px_builder *b, const char *name, const px_shape *shape)
{
    static float numbers[64] = {1, 2, 3, 4};
    const px_attr attr = {.name = "value",
                          .kind = PX_ATTR_TENSOR,
                          .tensor = {.dtype = PX_FLOAT32, .shape = *shape, .data = numbers}};
    return px_builder_node(b, "Constant", name, NULL, 0, &attr, 1);
}

#define NODE(b, type, name, ...)                               \
    px_builder_node(b, type, name, (const int[]){__VA_ARGS__}, \
                    (int)(sizeof((const int[]){__VA_ARGS__}) / sizeof(int)), NULL, 0)

#endif
