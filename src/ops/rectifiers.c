/* src/ops/rectifiers.c - activations with a kink: Relu, LeakyRelu, ThresholdedRelu, Shrink, and
 * Elu, Selu, Celu, which are smooth only for some parameters
 *
 * Subgradients at the kink are PyTorch's: Relu'(0) = 0, LeakyRelu'(0) = alpha, the threshold itself
 * belongs to the flat side. NaN goes through, and the gradient where it is,
 * so that the run reports it instead of hiding it.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "ops/unary.h"

/* x < 0 is false for NaN, which therefore goes through; max(x, 0) would hide it. */
PXI_UNARY_KERNELS(relu_1, (x < 0 ? 0 : x), (x <= 0 ? 0 : dy))
PXI_UNARY_SETUP(relu_1, PXI_TYPES_REAL | PXI_TYPES_SIGNED, {NULL, 0})
#define relu_1_INT_VALUE ((T)(x < 0 ? 0 : x))
PXI_UNARY_INT_FORWARD(relu_1, PXI_SIGNED_TYPES)
PXI_UNARY_DESCRIPTOR(relu_1, "Relu", 1)

PXI_UNARY_WITH(leakyrelu_1, "LeakyRelu", 1, (x < 0 ? a * x : x), (x > 0 ? dy : a * dy),
               {"alpha", 0.01f})

PXI_UNARY_WITH(thresholdedrelu_1, "ThresholdedRelu", 1, x <= a ? 0 : x, x <= a ? 0 : dy,
               {"alpha", 1.0f})

/* y = x + bias below -lambd, x - bias above lambd, else 0 */
PXI_UNARY_KERNELS(shrink_9, (x < -a ? x + b : (x <= a ? 0 : x - b)), (x < -a || x > a ? dy : 0))
PXI_UNARY_SETUP(shrink_9, PXI_TYPES_NUMBER, {"lambd", 0.5f}, {"bias", 0.0f})
#define shrink_9_INT_VALUE                             \
    ((double)x < -a   ? PXI_INT_FROM(T, (double)x + b) \
     : (double)x <= a ? (T)0                           \
                      : PXI_INT_FROM(T, (double)x - b))
PXI_UNARY_INT_FORWARD(shrink_9, PXI_INT_TYPES)
PXI_UNARY_DESCRIPTOR(shrink_9, "Shrink", 9)

PXI_UNARY_WITH(elu_1, "Elu", 1, (x < 0 ? a * expm1(x) : x), (x > 0 ? dy : dy * a * exp(x)),
               {"alpha", 1.0f})

#define SELU(id, SINCE, ALPHA, GAMMA)                                       \
    PXI_UNARY_WITH(id, "Selu", SINCE, (x < 0 ? b * (a * expm1(x)) : b * x), \
                   (x > 0 ? dy * b : dy * b * a * exp(x)), {"alpha", ALPHA}, {"gamma", GAMMA})
SELU(selu_1, 1, 1.6732f, 1.0507f)
SELU(selu_6, 6, 1.67326319217681884765625f, 1.05070102214813232421875f)

/* x / a is IEEE's: alpha = 0 makes the negative side 0. */
PXI_UNARY_WITH(celu_12, "Celu", 12, (x < 0 ? a * expm1(x / a) : x), (x > 0 ? dy : dy * exp(x / a)),
               {"alpha", 1.0f})
