/* src/ops/convert.h - arrays from one element type to another */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_OPS_CONVERT_H
#define PXI_OPS_CONVERT_H

#include "ops/op_types.h"

/* Converts as Cast does: to bool, whatever is not 0 is true; integers wrap; floats go to integers
 * towards zero, to the nearest limit when out of range, and NaN to 0. Both types are in
 * PXI_TYPES_ANY or PXI_TYPES_NIBBLE. */
void pxi_convert(px_dtype to, void *out, px_dtype from, const void *in, int64_t count);

#endif
