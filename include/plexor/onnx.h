/* include/plexor/onnx.h - ONNX files to models and back
 *
 *     px_model *model = NULL;
 *     if (px_model_load("net.onnx", &model, &err) != PX_OK) ...
 *
 * The reader trusts nothing: see docs/onnx.md for the limits. It does not check operators; what
 * the engine cannot run is reported, all at once, by px_model_unsupported() in <plexor/engine.h>.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PLEXOR_ONNX_H
#define PLEXOR_ONNX_H

#include <plexor/graph.h>

PX_BEGIN_DECLS

/* On PX_OK the caller owns *out. External data is looked for inside the model's folder only. */
PX_API px_status px_model_load(const char *path, px_model **out, px_error *err);

/* The same from memory; external data is refused. `name` is used in messages. */
PX_API px_status px_model_parse(const void *bytes, size_t size, const char *name, px_model **out,
                                px_error *err);

/* Puts a network under a name: px_model_load("mem:NAME") reads a copy of these bytes, as does every
 * command whose MODEL is "mem:NAME". External data is refused. px_mem_remove() of
 * <plexor/in_memory.h> forgets it. */
PX_API px_status px_mem_put_model(const char *name, const void *bytes, size_t size, px_error *err);

/* Writes under a temporary name and renames. What px_model_load() reads back is the same graph. */
PX_API px_status px_model_save(const px_model *model, const char *path, px_error *err);

/* Copies a file, which `to` may be again, with these metadata: entries with their keys are
 * replaced, all other bytes are the same. Files with external data belong in the same folder. */
PX_API px_status px_model_annotate(const char *path, const char *to, const px_property *properties,
                                   size_t count, px_error *err);

typedef enum px_onnx_verdict { PX_ONNX_PASSED, PX_ONNX_FAILED, PX_ONNX_SKIPPED } px_onnx_verdict;

typedef struct px_onnx_case {
    px_onnx_verdict verdict;
    bool compiled;     /* a plan agreed too, not only the interpreter */
    char lacks[128];   /* skipped: the operator (or type) that plexor does not have */
    char message[512]; /* failed or skipped: why */
} px_onnx_case;

/* What the reader has to say about the model, one remark per line ("opset 19 is newer than ...");
 * "" if none. */
PX_API const char *px_model_warnings(const px_model *model);

PX_END_DECLS
#endif
