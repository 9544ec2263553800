/* src/cli/onnx_compare.h - is this the tensor that was expected? */
#ifndef PLEXOR_CLI_ONNX_COMPARE_H
#define PLEXOR_CLI_ONNX_COMPARE_H

#include <plexor/tensor.h>

/* PX_OK, or PX_E_MISMATCH saying how they differ. Types and shapes must be the same, but for
 * halves, which plexor gives back as float32. */
px_status onnx_compare(const px_tensor *got, const px_tensor *expected, double rtol, double atol,
                       px_error *err);

#endif
