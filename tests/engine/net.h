/* tests/engine/net.h - small networks made in memory, with weights that are random but fixed
 *
 *     net n;
 *     net_init(&n, 7, "2,3,8,8");                    // seed, shape of the input
 *     int y = net_add(&n, "Conv", "pads=1,1,1,1", (net_in[]){{n.x}, {.weight = "16,3,3,3"}, {-1}});
 *     px_model *model = net_take(&n, y);
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_ENGINE_NET_H
#define TESTS_ENGINE_NET_H

#include <plexor/graph.h>

#include "base/arena.h"

enum { NET_NODES = 64, NET_VALUES = 256, NET_ENDS = 8 };

typedef struct net_in {
    int value;          /* -1: end of the list */
    const char *weight; /* shape of a new random constant instead; "=1,-1": these integers */
    double low, high;   /* its range; both 0: scaled to keep activations near one */
} net_in;

typedef struct net {
    px_arena *arena;
    px_node nodes[NET_NODES];
    px_value values[NET_VALUES];
    int node_count, value_count, input_count;
    int inputs[NET_ENDS];
    int x; /* the first input */
    uint64_t seed;
} net;

void net_init(net *n, uint64_t seed, const char *input_shape);
/* Adds a node with one output; attributes are "name=1,2 name=0.5 name=text". Returns the output. */
int net_add(net *n, const char *type, const char *attrs, const net_in *inputs);
/* The same with several outputs, which follow each other from the one that is returned. */
int net_add_many(net *n, const char *type, const char *attrs, const net_in *inputs, int outputs);
/* A further input; an extent of -1 is open. */
int net_input(net *n, px_dtype dtype, const char *shape);
/* A constant with these very bytes, which are copied. */
int net_tensor(net *n, px_dtype dtype, const char *shape, const void *data);
/* The finished model, whose output is `value`; the net is used up. */
px_model *net_take(net *n, int value);
px_model *net_take_many(net *n, const int *values, int count);
/* The value index of the k-th weight that was added. */
int net_weight(const px_model *model, int k);

/* The same numbers for the same seed, between low and high. */
void net_fill(float *data, size_t count, uint64_t seed, double low, double high);

#endif
