/* src/ops/trigonometric.c - circular and hyperbolic functions and their inverses
 *
 * Outside their domains the inverses are NaN and at its ends their gradients infinite, as IEEE 754
 * and PyTorch have it.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "ops/unary.h"

PXI_UNARY(sin_7, "Sin", 7, sin(x), (dy * cos(x)))
PXI_UNARY(cos_7, "Cos", 7, cos(x), (-dy * sin(x)))
PXI_UNARY(tan_7, "Tan", 7, tan(x), (dy * (1 + y * y)))
PXI_UNARY(asin_7, "Asin", 7, asin(x), dy / sqrt((1 - x) * (1 + x)))
PXI_UNARY(acos_7, "Acos", 7, acos(x), -dy / sqrt((1 - x) * (1 + x)))
PXI_UNARY(atan_7, "Atan", 7, atan(x), dy / (1 + x * x))
PXI_UNARY(sinh_9, "Sinh", 9, sinh(x), (dy * cosh(x)))
PXI_UNARY(cosh_9, "Cosh", 9, cosh(x), (dy * sinh(x)))
PXI_UNARY(asinh_9, "Asinh", 9, asinh(x), dy / sqrt(x * x + 1))
PXI_UNARY(acosh_9, "Acosh", 9, acosh(x), dy / sqrt((x - 1) * (x + 1)))
PXI_UNARY(atanh_9, "Atanh", 9, atanh(x), dy / ((1 - x) * (1 + x)))
