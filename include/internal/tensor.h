/* include/internal/tensor.h - <plexor/tensor.h>, and what only plexor itself uses of it */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_INTERNAL_TENSOR_H
#define PXI_INTERNAL_TENSOR_H

#include <plexor/tensor.h>

PX_BEGIN_DECLS

/* The type of what is no tensor but a sequence of them: `data` are shape.dim[0] px_tensors, of which
 * px_tensor_done() ends each. Only the interpreter takes and gives such. */
#define PX_SEQUENCE ((px_dtype)100)

/* Refuses negative extents, ranks beyond PX_MAX_RANK and shapes whose element count times 8 does
 * not fit an int64_t. Everything read from a file goes through this before it is multiplied. */
px_status px_shape_check(const px_shape *shape, px_error *err);

/* IEEE half and bfloat16, both to nearest even on the way down. */
float px_half_to_float(uint16_t half);

uint16_t px_float_to_half(float value);

float px_bfloat_to_float(uint16_t bfloat);

uint16_t px_float_to_bfloat(float value);

PX_END_DECLS
#endif
