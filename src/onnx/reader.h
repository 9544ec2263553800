/* src/onnx/reader.h - the steps from a decoded message to a graph
 *
 *   decode.c     bytes to messages, within limits
 *   flatten.c    the main graph's nodes, with model-local functions expanded
 *   build.c      values, nodes in topological order, inputs and outputs
 *   tensor_pb.c  TensorProto to px_tensor; external.c finds bytes that lie in other files
 *
 * The graph borrows names and numbers from the message, which lives as long as the model.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_ONNX_READER_H
#define PXI_ONNX_READER_H

#include <plexor/onnx.h>

#include "base/arena.h"
#include "onnx/decode.h"
#include "onnx/external.h"

enum {
    PXI_ONNX_MAX_NODES = 1 << 20,
    PXI_ONNX_MAX_VALUES = 1 << 22,
    PXI_ONNX_MAX_ATTRS = 64,    /* per node */
    PXI_ONNX_MAX_CALLS = 16,    /* functions calling functions */
    PXI_ONNX_NEWEST_OPSET = 24, /* newer ones are read with a warning */
};

/* Bytes that expanding functions may take: the base and so many times the file, up to the most. */
#define PXI_ONNX_EXPANSION_BASE ((size_t)1 << 20)
#define PXI_ONNX_EXPANSION_FACTOR 64
#define PXI_ONNX_EXPANSION_MOST ((size_t)256 << 20)

/* A node as the graph will have it: functions are gone, so are references to their attributes. */
typedef struct pxi_flat_node {
    const char *name, *type, *domain; /* domain "" for ai.onnx */
    int opset;
    size_t input_count, output_count, attr_count; /* build.c adds what inner graphs read */
    char *const *inputs, *const *outputs;         /* "" where left out */
    Onnx__AttributeProto *const *attrs;
    bool in_function;
    const px_attr *graphs; /* build.c: one per attribute, where there are inner graphs */
} pxi_flat_node;

/* All nodes of `graph`, the main one or one inside of it, in file order; the array is the caller's
 * to free, the rest lies in `arena` or in the message. */
px_status pxi_onnx_flatten(const Onnx__ModelProto *proto, const Onnx__GraphProto *graph,
                           px_arena *arena, pxi_flat_node **out, int *count, px_error *err);

/* The imported version of a domain ("" for ai.onnx); 0 if there is none. */
int pxi_onnx_opset(Onnx__OperatorSetIdProto *const *imports, size_t count, const char *domain);

/* Files from before imports existed (IR versions 1 and 2) mean ai.onnx 1; 0 for others. */
int pxi_onnx_implied_opset(const Onnx__ModelProto *proto);

/* Fills in model->graph. */
px_status pxi_onnx_build(px_model *model, const Onnx__ModelProto *proto, pxi_external *external,
                         px_error *err);

/* Orders nodes so that every one comes after what it reads; those already in order stay.
 * `inputs[n]` are value indices (-1: left out), `producer[v]` node indices (-1: none). A cycle
 * is PX_E_INPUT and names a node on it. */
px_status pxi_onnx_order(int node_count, int *const *inputs, const pxi_flat_node *nodes,
                         const int *producer, int *order, px_error *err);

px_status pxi_onnx_attr(const Onnx__AttributeProto *proto, px_arena *arena, pxi_external *external,
                        px_attr *out, px_error *err);

/* False: a type plexor has no tensors of; *foreign gets its name. */
bool pxi_onnx_dtype(int32_t number, px_dtype *dtype, const char **foreign);

/* A view of the message's or the external file's bytes where possible, else in arena memory. A type
 * that plexor does not know is PX_E_UNSUPPORTED. */
px_status pxi_onnx_tensor(const Onnx__TensorProto *proto, px_arena *arena, pxi_external *external,
                          px_tensor *out, px_error *err);

/* What px_model_save() writes, in memory; the caller frees *out. */
px_status pxi_onnx_pack(const px_model *model, uint8_t **out, size_t *size, px_error *err);

/* protobuf-c leaves absent texts NULL. */
static inline const char *pxi_text(const char *text)
{
    return text ? text : "";
}

#endif
