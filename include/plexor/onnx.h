/* include/plexor/onnx.h - ONNX files to models and back
 *
 *     px_model *model = NULL;
 *     if (px_model_load("net.onnx", &model, &err) != PX_OK) ...
 *
 * The reader trusts nothing: see docs/onnx.md for the limits. It does not check operators; what
 * the engine cannot run is reported, all at once, by px_model_unsupported() in <plexor/engine.h>.
 */
#ifndef PLEXOR_ONNX_H
#define PLEXOR_ONNX_H

#include <plexor/graph.h>

PX_BEGIN_DECLS

/* On PX_OK the caller owns *out. External data is looked for inside the model's folder only. */
PX_API px_status px_model_load(const char *path, px_model **out, px_error *err);

/* The same from memory; external data is refused. `name` is used in messages. */
PX_API px_status px_model_parse(const void *bytes, size_t size, const char *name, px_model **out,
                                px_error *err);

/* Writes under a temporary name and renames. What px_model_load() reads back is the same graph. */
PX_API px_status px_model_save(const px_model *model, const char *path, px_error *err);

/* Copies a file, which `to` may be again, with these metadata: entries with their keys are
 * replaced, all other bytes are the same. Files with external data belong in the same folder. */
PX_API px_status px_model_annotate(const char *path, const char *to, const px_property *properties,
                                   size_t count, px_error *err);

/* Reads one serialised TensorProto (the input_0.pb files of ONNX's test data); owns its data.
 * *name (may be NULL) gets the tensor's name, to be freed by the caller. Tensors of strings and
 * other foreign types are PX_E_UNSUPPORTED; nothing in a file tells a sequence or an optional from
 * a tensor, so ask the model (px_value.foreign_type) before reading one. */
PX_API px_status px_tensor_load_pb(const char *path, px_tensor *out, char **name, px_error *err);

/* What the reader has to say about the model, one remark per line ("opset 19 is newer than ...");
 * "" if none. */
PX_API const char *px_model_warnings(const px_model *model);

PX_END_DECLS
#endif
