/* include/internal/build.h - a graph being made
 *
 *     px_builder *b = NULL;
 *     px_builder_new("net", &b, &err);
 *     const px_shape shape = {.rank = 2, .dim = {-1, 4}}, of_w = {.rank = 2, .dim = {3, 4}};
 *     const int x = px_builder_input(b, "x", PX_FLOAT32, &shape);
 *     const int w = px_builder_constant(b, "fc.weight", PX_FLOAT32, &of_w, numbers);
 *     const px_attr attrs[] = {{.name = "transB", .kind = PX_ATTR_INT, .i = 1}};
 *     const int y = px_builder_node(b, "Gemm", "fc", (int[]){x, w}, 2, attrs, 1);
 *     px_builder_output(b, y, PX_FLOAT32, NULL);
 *     px_builder_finish(b, &model, &err);                     // b is used up, whatever happens
 *
 * Steps return the index of the value they make. The first one that fails is remembered and makes
 * the later ones do nothing, so they need not be checked one by one: px_builder_finish() reports
 * it. Nodes are put in the order of the calls and can read only what exists already, so a finished
 * model keeps every promise of <plexor/graph.h>. Texts, numbers and attributes are copied. A
 * builder belongs to one thread.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_INTERNAL_BUILD_H
#define PXI_INTERNAL_BUILD_H

#include <plexor/graph.h>

PX_BEGIN_DECLS

typedef struct px_builder px_builder;

enum { PX_BUILD_OPSET = 13, PX_BUILD_IR_VERSION = 7 }; /* of what px_builder_new() begins */

/* An empty graph of that name. */
px_status px_builder_new(const char *name, px_builder **out, px_error *err);

/* A copy of a model's graph, operator sets and properties, to be changed. Values keep their
 * indices. Constant nodes that hold more than one float32 become initialisers; the other nodes keep
 * their order. `model` must live until px_builder_finish() or px_builder_free(). */
px_status px_builder_from_model(const px_model *model, px_builder **out, px_error *err);
void px_builder_free(px_builder *builder); /* NULL is fine */

/* A graph input. An extent of -1 is open; on axis 0 it is given the name "N". */
int px_builder_input(px_builder *builder, const char *name, px_dtype dtype, const px_shape *shape);

/* An initialiser; `data` NULL: zeros. */
int px_builder_constant(px_builder *builder, const char *name, px_dtype dtype,
                        const px_shape *shape, const void *data);

/* The numbers of such an initialiser, to be written to until the next step; NULL where `value` was
 * not made by px_builder_constant(), or after a failure. */
void *px_builder_data(px_builder *builder, int value);

/* Other numbers for an initialiser, of the same type and shape. They are copied only when the model
 * is finished and must live until then. */
void px_builder_replace(px_builder *builder, int value, const void *data);

/* A node of ai.onnx with one output, which is named like the node. -1 among the inputs leaves an
 * optional one out. */
int px_builder_node(px_builder *builder, const char *type, const char *name, const int *inputs,
                    int input_count, const px_attr *attrs, int attr_count);

/* Makes `value` the next graph output. `shape` (may be NULL) is declared as for an input. */
void px_builder_output(px_builder *builder, int value, px_dtype dtype, const px_shape *shape);

/* Renames a value, e.g. the output to "logits". */
void px_builder_rename(px_builder *builder, int value, const char *name);

/* Sets a property, or removes it (`value` NULL). */
void px_builder_property(px_builder *builder, const char *key, const char *value);

/* Remembers a failure of the caller's own, unless there was one already. */
void px_builder_fail(px_builder *builder, px_status status, const char *format, ...)
    PX_PRINTF(3, 4);

/* The model, which the caller owns, or the first failure. The producer is "plexor VERSION"; the
 * hash is of the contents (names, types, attributes, numbers, properties), not of a file's bytes:
 * the same steps give the same hash, the file that the model is saved as has another. Frees
 * `builder` in any case. */
px_status px_builder_finish(px_builder *builder, px_model **out, px_error *err);

PX_END_DECLS
#endif
