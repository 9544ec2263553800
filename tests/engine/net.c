/* tests/engine/net.c - small networks made in memory */
/* SPDX-License-Identifier: Apache-2.0 */
#include "net.h"

#include <internal/model.h>

#include <math.h>
#include <plexor/rng.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void net_check(bool ok, const char *what)
{
    if (!ok) {
        fprintf(stderr, "net: %s\n", what);
        abort();
    }
}

static px_shape net_shape(const char *text)
{
    px_shape shape = {0};
    for (char *end; *text; text = *end == ',' ? end + 1 : end)
        shape.dim[shape.rank++] = strtoll(text, &end, 10);
    return shape;
}

void net_fill(float *data, size_t count, uint64_t seed, double low, double high)
{
    uint64_t state = seed * 0x9e3779b97f4a7c15u + 1;
    for (size_t i = 0; i < count; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        data[i] = (float)(low + (high - low) * (double)(state >> 40) * 0x1p-24);
    }
}

static int net_value(net *n, px_value value)
{
    net_check(n->value_count < NET_VALUES, "too many values");
    char name[32];
    snprintf(name, sizeof name, "%s%d", value.constant ? "w" : "v", n->value_count);
    value.name = pxi_arena_strdup(n->arena, name);
    n->values[n->value_count] = value;
    return n->value_count++;
}

static int net_integers(net *n, const char *text)
{
    const px_shape given = net_shape(text);
    px_tensor *t = pxi_arena_alloc(n->arena, 1, sizeof *t);
    t->dtype = PX_INT64;
    t->shape = (px_shape){.rank = 1, .dim = {given.rank}};
    t->data = pxi_arena_alloc(n->arena, PX_MAX_RANK, sizeof(int64_t));
    memcpy(t->data, given.dim, (size_t)given.rank * sizeof(int64_t));
    return net_value(n, (px_value){.dtype = PX_INT64,
                                   .has_shape = true,
                                   .shape = t->shape,
                                   .constant = t,
                                   .producer = -1});
}

static int net_constant(net *n, const net_in *in)
{
    if (in->weight[0] == '=')
        return net_integers(n, in->weight + 1);
    px_tensor *t = pxi_arena_alloc(n->arena, 1, sizeof *t);
    t->dtype = PX_FLOAT32;
    t->shape = net_shape(in->weight);
    const int64_t count = px_shape_count(&t->shape);
    t->data = pxi_arena_alloc(n->arena, (size_t)count, sizeof(float));
    const double fan = t->shape.rank > 1 && count > 0 ? (double)(count / t->shape.dim[0]) : 1.0;
    const double reach = sqrt(3.0 / fan);
    const bool given = in->low != 0.0 || in->high != 0.0;
    net_fill(t->data, (size_t)count, ++n->seed, given ? in->low : -reach, given ? in->high : reach);
    return net_value(n, (px_value){.dtype = PX_FLOAT32,
                                   .has_shape = true,
                                   .shape = t->shape,
                                   .constant = t,
                                   .producer = -1});
}

int net_tensor(net *n, px_dtype dtype, const char *shape, const void *data)
{
    px_tensor *t = pxi_arena_alloc(n->arena, 1, sizeof *t);
    t->dtype = dtype;
    t->shape = net_shape(shape);
    t->data = pxi_arena_alloc(n->arena, px_tensor_bytes(t), 1);
    memcpy(t->data, data, px_tensor_bytes(t));
    return net_value(
        n,
        (px_value){
            .dtype = dtype, .has_shape = true, .shape = t->shape, .constant = t, .producer = -1});
}

int net_input(net *n, px_dtype dtype, const char *shape)
{
    net_check(n->input_count < NET_ENDS, "too many inputs");
    const int made = net_value(
        n,
        (px_value){.dtype = dtype, .has_shape = true, .shape = net_shape(shape), .producer = -1});
    n->inputs[n->input_count++] = made;
    return made;
}

/* "pads=1,1,1,1": a dot makes a float, a letter a string, more than one number or a known name a
 * list */
static px_attr net_attr(px_arena *arena, const char *text)
{
    static const char *const lists[] = {"pads",         "strides", "dilations",
                                        "kernel_shape", "perm",    "axes"};
    char *copy = pxi_arena_strdup(arena, text);
    char *value = strchr(copy, '=');
    net_check(value != NULL, text);
    *value++ = '\0';
    px_attr attr = {.name = copy, .kind = PX_ATTR_INT};
    int64_t *ints = pxi_arena_alloc(arena, 16, sizeof *ints);
    if (value[0] >= 'A') {
        attr.kind = PX_ATTR_STRING;
        attr.s = value;
    } else if (strchr(value, '.')) {
        attr.kind = PX_ATTR_FLOAT;
        attr.f = strtof(value, NULL);
    } else {
        for (char *at = value, *end; *at; at = *end == ',' ? end + 1 : end)
            ints[attr.count++] = strtoll(at, &end, 10);
        attr.i = ints[0];
        for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
            if (strcmp(copy, lists[i]) == 0)
                attr.kind = PX_ATTR_INTS;
        attr.ints = ints;
    }
    return attr;
}

void net_init(net *n, uint64_t seed, const char *input_shape)
{
    memset(n, 0, sizeof *n);
    n->arena = pxi_arena_new();
    n->seed = seed * 1000;
    n->x = net_input(n, PX_FLOAT32, input_shape);
    n->values[n->x].shape.dim[0] = -1;
}

int net_add_many(net *n, const char *type, const char *attrs, const net_in *inputs, int outputs)
{
    net_check(n->node_count < NET_NODES, "too many nodes");
    px_node *node = &n->nodes[n->node_count];
    size_t given = 0;
    while (inputs[given].value >= 0)
        given++;
    int *in = pxi_arena_alloc(n->arena, given, sizeof *in);
    int *out = pxi_arena_alloc(n->arena, (size_t)outputs, sizeof *out);
    px_attr *made = pxi_arena_alloc(n->arena, 8, sizeof *made);
    char name[64];
    snprintf(name, sizeof name, "%s_%d", type, n->node_count);
    *node = (px_node){.name = pxi_arena_strdup(n->arena, name),
                      .type = type,
                      .domain = "",
                      .opset = 13,
                      .inputs = in,
                      .outputs = out,
                      .output_count = outputs,
                      .attrs = made};
    for (; inputs->value >= 0; inputs++)
        in[node->input_count++] = inputs->weight ? net_constant(n, inputs) : inputs->value;
    char *copy = pxi_arena_strdup(n->arena, attrs);
    for (char *save, *word = strtok_r(copy, " ", &save); word; word = strtok_r(NULL, " ", &save))
        made[node->attr_count++] = net_attr(n->arena, word);
    for (int i = 0; i < outputs; i++)
        out[i] = net_value(n, (px_value){.producer = n->node_count});
    n->node_count++;
    return out[0];
}

int net_add(net *n, const char *type, const char *attrs, const net_in *inputs)
{
    return net_add_many(n, type, attrs, inputs, 1);
}

px_model *net_take(net *n, int value)
{
    return net_take_many(n, &value, 1);
}

px_model *net_take_many(net *n, const int *outputs, int count)
{
    px_model *model = calloc(1, sizeof *model);
    int *ends = pxi_arena_alloc(n->arena, (size_t)(n->input_count + count), sizeof *ends);
    px_node *nodes = pxi_arena_alloc(n->arena, NET_NODES, sizeof *nodes);
    px_value *values = pxi_arena_alloc(n->arena, NET_VALUES, sizeof *values);
    net_check(model && ends && nodes && values, "out of memory");
    memcpy(ends, n->inputs, (size_t)n->input_count * sizeof *ends);
    memcpy(ends + n->input_count, outputs, (size_t)count * sizeof *ends);
    memcpy(nodes, n->nodes, sizeof n->nodes);
    memcpy(values, n->values, sizeof n->values);
    *model = (px_model){.arena = n->arena,
                        .path = "",
                        .producer = "",
                        .warnings = "",
                        .opset = 13,
                        .graph = {.name = "net",
                                  .nodes = nodes,
                                  .values = values,
                                  .node_count = n->node_count,
                                  .value_count = n->value_count,
                                  .inputs = ends,
                                  .outputs = ends + n->input_count,
                                  .input_count = n->input_count,
                                  .output_count = count}};
    px_error err = {0};
    net_check(pxi_graph_finish(model, &err) == PX_OK, err.message);
    return model;
}

int net_weight(const px_model *model, int k)
{
    const px_graph *graph = px_model_graph(model);
    for (int v = 0; v < graph->value_count; v++)
        if (graph->values[v].constant && k-- == 0)
            return v;
    return -1;
}
