/* src/ops/op_list_math.h - X(id) per descriptor px_op_<id>; ids are lower-case name_since, as relu_6 */
#ifndef PXI_OPS_LIST_MATH_H
#define PXI_OPS_LIST_MATH_H

#define PXI_OPS_MATH(X)                                                                          \
    X(abs_1) X(acos_7) X(acosh_9) X(add_1) X(add_7) X(asin_7) X(asinh_9) X(atan_7) X(atanh_9)    \
    X(ceil_1) X(celu_12) X(cos_7) X(cosh_9) X(div_1) X(div_7) X(elu_1) X(erf_9) X(exp_1)         \
    X(floor_1) X(gelu_20) X(hardsigmoid_1) X(hardswish_14) X(leakyrelu_1) X(log_1) X(mish_18)    \
    X(mul_1) X(mul_7) X(neg_1) X(reciprocal_1) X(relu_1) X(round_11) X(selu_1) X(selu_6)         \
    X(shrink_9) X(sigmoid_1) X(sign_9) X(sin_7) X(sinh_9) X(softplus_1) X(softsign_1) X(sqrt_1)  \
    X(sub_1) X(sub_7) X(tan_7) X(tanh_1) X(thresholdedrelu_1)

#endif
