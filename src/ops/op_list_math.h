/* src/ops/op_list_math.h - X(id) per descriptor px_op_<id>; ids are lower-case name_since, as
 * relu_6 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_OPS_LIST_MATH_H
#define PXI_OPS_LIST_MATH_H

/* clang-format off */
#define PXI_OPS_MATH(X) \
    X(abs_1) X(acos_7) X(acosh_9) X(add_1) X(add_7) X(and_1) X(and_7) X(asin_7) X(asinh_9) \
    X(atan_7) X(atanh_9) X(bitshift_11) X(bitwiseand_18) X(bitwisenot_18) \
    X(bitwiseor_18) X(bitwisexor_18) X(cast_1) X(castlike_15) X(ceil_1) X(celu_12) \
    X(clip_1) X(clip_11) X(cos_7) X(cosh_9) X(dequantizelinear_10) X(div_1) X(div_7) \
    X(dropout_1) X(dropout_12) X(dynamicquantizelinear_11) X(elu_1) X(equal_1) X(equal_7) \
    X(erf_9) X(exp_1) X(floor_1) X(gelu_20) X(greater_1) X(greater_7) X(greaterorequal_12) \
    X(hardsigmoid_1) X(hardswish_14) X(identity_1) X(isinf_10) X(isnan_9) X(leakyrelu_1) \
    X(less_1) X(less_7) X(lessorequal_12) X(log_1) X(max_1) X(mean_1) X(min_1) X(mish_18) \
    X(mod_10) X(mul_1) X(mul_7) X(neg_1) X(not_1) X(or_1) X(or_7) X(pow_1) X(pow_7) \
    X(prelu_1) X(prelu_7) X(quantizelinear_10) X(reciprocal_1) X(relu_1) X(round_11) \
    X(selu_1) X(selu_6) X(shrink_9) X(sigmoid_1) X(sign_9) X(sin_7) X(sinh_9) X(softplus_1) \
    X(softsign_1) X(sqrt_1) X(sub_1) X(sub_7) X(sum_1) X(swiglu_28) X(swish_24) X(tan_7) X(tanh_1) \
    X(thresholdedrelu_1) X(where_9) X(xor_1) X(xor_7)
/* clang-format on */

#endif
