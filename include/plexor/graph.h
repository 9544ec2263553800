/* include/plexor/graph.h - a network as data: values, nodes, attributes, metadata
 *
 *     const px_graph *g = px_model_graph(model);
 *     for (int i = 0; i < g->node_count; i++)
 *         puts(g->nodes[i].type);
 *
 * A px_model is immutable once made and may be shared by all threads; everything reachable from
 * it is borrowed and dies with px_model_free(). Values and nodes are named by their index. The
 * reader guarantees: nodes are in topological order, every node input is an earlier node's output,
 * a graph input or a constant, every value has at most one producer, names are unique.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PLEXOR_GRAPH_H
#define PLEXOR_GRAPH_H

#include <plexor/property.h>
#include <plexor/tensor.h>

PX_BEGIN_DECLS

typedef struct px_model px_model;
typedef struct px_graph px_graph;

typedef enum px_attr_kind {
    PX_ATTR_INT,
    PX_ATTR_FLOAT,
    PX_ATTR_STRING,
    PX_ATTR_TENSOR,
    PX_ATTR_INTS,
    PX_ATTR_FLOATS,
    PX_ATTR_STRINGS,
    PX_ATTR_GRAPH, /* of If, Loop, Scan */
    PX_ATTR_OTHER, /* sparse tensors, types: kept by name only */
} px_attr_kind;

typedef struct px_attr {
    const char *name;
    px_attr_kind kind;
    int64_t i;
    float f;
    const char *s; /* NUL-terminated copy */
    size_t count;  /* of ints, floats or strings; of a graph: see `graph` */
    const int64_t *ints;
    const float *floats;
    const char *const *strings;
    px_tensor tensor;
    /* A graph's own values. Its last `count` inputs are not its own, but what it reads of the graph
     * around it: those are also inputs of the node, from input i on. */
    const px_graph *graph;
} px_attr;

typedef struct px_node {
    const char *name;   /* as in the file; "" where it has none */
    const char *type;   /* "Conv" */
    const char *domain; /* "" for ai.onnx */
    int opset;          /* the version of that domain that the model imports */
    int input_count, output_count;
    const int *inputs;  /* value indices; -1: optional input left out */
    const int *outputs; /* value indices; -1: optional output left out */
    int attr_count;
    const px_attr *attrs;
} px_node;

typedef struct px_value {
    const char *name;
    px_dtype dtype;               /* as declared in the file; PX_NONE where it says nothing */
    bool has_shape;               /* whether the file declares one */
    px_shape shape;               /* as declared; -1: symbolic or unknown */
    const char *const *dim_names; /* NULL, or shape.rank symbolic names (NULL where a number) */
    const char *foreign_type;  /* NULL, or what it is declared as that plexor cannot hold: "string",
                                  "sequence", "complex64" ...; dtype is PX_NONE then */
    const px_tensor *constant; /* an initialiser; NULL otherwise */
    int producer;              /* node index; -1 for graph inputs and constants */
} px_value;

struct px_graph {
    const char *name;
    int node_count, value_count, input_count, output_count;
    const px_node *nodes;
    const px_value *values;
    const int *inputs; /* true inputs only: initialisers that are repeated as inputs are not here */
    const int *outputs;
};

PX_API const px_graph *px_model_graph(const px_model *model);
PX_API const char *px_model_path(const px_model *model); /* "" if it was not read from a file */
PX_API int px_model_opset(const px_model *model);        /* of ai.onnx; 0 if not imported */
PX_API int px_model_ir_version(const px_model *model);
PX_API uint64_t px_model_hash(const px_model *model); /* XXH3 of the file's bytes */
PX_API size_t px_model_property_count(const px_model *model);
PX_API const px_property *px_model_properties(const px_model *model);         /* metadata_props */
PX_API const char *px_model_property(const px_model *model, const char *key); /* NULL if absent */

/* Sum of the elements of float initialisers; what people call the number of parameters. BatchNorm
 * running statistics (inputs 3 and 4 of BatchNormalization) are counted apart in *statistics. */
PX_API int64_t px_model_parameters(const px_model *model, int64_t *statistics);

/* Of a network as px_model_load() left it, before it is shared by threads, where it takes several
 * inputs or whole numbers (a text classifier: `input_ids` and `attention_mask`): gives it one input
 * of float32 in their place, all of a sample in one row, which data sets can be fed to. Other
 * networks stay as they are. After a failure the network is of no use. */
PX_API px_status px_model_join_inputs(px_model *model, px_error *err);

PX_API void px_model_free(px_model *model); /* NULL is fine */

/* -1 if there is no value of that name. */
PX_API int px_graph_find_value(const px_graph *graph, const char *name);

/* NULL if the node has no attribute of that name. */
PX_API const px_attr *px_node_attr(const px_node *node, const char *name);
PX_API int64_t px_node_int(const px_node *node, const char *name, int64_t fallback);
PX_API float px_node_float(const px_node *node, const char *name, float fallback);
PX_API const char *px_node_string(const px_node *node, const char *name, const char *fallback);

/* Values that must be fed to restart after `value`: first itself, then every value that does not
 * depend on it and is either read by a node that does or is a graph output. What follows from
 * constants alone is left out. Returns the count, or -1 if out of memory; the caller frees *out. */
PX_API int px_graph_restart(const px_graph *graph, int value, int **out);

PX_END_DECLS
#endif
