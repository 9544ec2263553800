/* src/ops/exponential.c - Sqrt, Exp, Log, Reciprocal, Erf
 *
 * Roots and logarithms of negative numbers, and divisions by zero, give what IEEE 754 says (NaN,
 * infinity): that is a finding about the network, not an error. So do their gradients.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "ops/unary.h"

PXI_UNARY(sqrt_1, "Sqrt", 1, sqrt(x), dy / (2 * y))
PXI_UNARY(exp_1, "Exp", 1, pxi_exp(x), (dy * y))
PXI_UNARY(log_1, "Log", 1, log(x), dy / x)
PXI_UNARY(reciprocal_1, "Reciprocal", 1, 1 / x, (-dy * y * y))

/* d erf(x) / dx = 2 / sqrt(pi) exp(-x^2) */
PXI_UNARY(erf_9, "Erf", 9, pxi_erf(x), (dy * (T)1.12837916709551257390 * pxi_exp(-x * x)))
