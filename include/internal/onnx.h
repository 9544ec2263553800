/* include/internal/onnx.h - <plexor/onnx.h>, and what only plexor itself uses of it */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_INTERNAL_ONNX_H
#define PXI_INTERNAL_ONNX_H

#include <plexor/onnx.h>

PX_BEGIN_DECLS

/* Reads one serialised TensorProto (the input_0.pb files of ONNX's test data); owns its data.
 * *name (may be NULL) gets the tensor's name, to be freed by the caller. Tensors of strings and
 * other foreign types are PX_E_UNSUPPORTED; nothing in a file tells a sequence or an optional from
 * a tensor, so ask the model (px_value.foreign_type) before reading one. */
px_status px_tensor_load_pb(const char *path, px_tensor *out, char **name, px_error *err);
/* The same of a SequenceProto of tensors; *out is a PX_SEQUENCE. */
px_status pxi_sequence_load_pb(const char *path, px_tensor *out, px_error *err);

/* Runs every data set of a backend test's folder (model.onnx, test_data_set_N/) twice: through the
 * interpreter, and, where shapes do not depend on the values of inputs, through a compiled plan.
 * Outputs agree where |ours - theirs| <= atol + rtol * |theirs|, NaN with NaN, and integers
 * exactly. */
void px_onnx_case_run(const char *folder, double rtol, double atol, px_onnx_case *out);

PX_END_DECLS
#endif
