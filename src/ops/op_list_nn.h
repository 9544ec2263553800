/* src/ops/op_list_nn.h - X(id) per descriptor px_op_<id>; ids are lower-case name_since, as relu_6
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_OPS_LIST_NN_H
#define PXI_OPS_LIST_NN_H

/* clang-format off */
#define PXI_OPS_NN(X)               \
    X(adagrad_1)                    \
    X(attention_23)                 \
    X(averagepool_1)                \
    X(batchnormalization_1)         \
    X(batchnormalization_14)        \
    X(blackmanwindow_17)            \
    X(conv_1)                       \
    X(convinteger_10)               \
    X(convtranspose_1)              \
    X(deformconv_19)                \
    X(dft_17)                       \
    X(dft_20)                       \
    X(einsum_12)                    \
    X(gemm_1)                       \
    X(globalaveragepool_1)          \
    X(globallppool_1)               \
    X(globalmaxpool_1)              \
    X(groupnormalization_18)        \
    X(gru_1)                        \
    X(hammingwindow_17)             \
    X(hannwindow_17)                \
    X(hardmax_1)                    \
    X(hardmax_13)                   \
    X(instancenormalization_1)      \
    X(layernormalization_17)        \
    X(logsoftmax_1)                 \
    X(logsoftmax_13)                \
    X(lpnormalization_1)            \
    X(lppool_1)                     \
    X(lrn_1)                        \
    X(lstm_1)                       \
    X(matmul_1)                     \
    X(matmulinteger_10)             \
    X(maxpool_1)                    \
    X(meanvariancenormalization_9)  \
    X(melweightmatrix_17)           \
    X(momentum_1)                   \
    X(negativeloglikelihoodloss_12) \
    X(qlinearconv_10)               \
    X(qlinearmatmul_10)             \
    X(rmsnormalization_23)          \
    X(rnn_1)                        \
    X(rotaryembedding_23)           \
    X(softmax_1)                    \
    X(softmax_13)                   \
    X(softmaxcrossentropyloss_12)   \
    X(stft_17)
/* clang-format on */

#endif
