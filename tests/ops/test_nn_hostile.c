/* tests/ops/test_nn_hostile.c - what a stranger's file may say about neural-network operators
 *
 * Every row is refused by setup(), or by forward() where only values can tell, with the right
 * status and a message that names the node; nothing is read or written out of bounds on the way.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "op_case.h"

#include "base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define F_(SHAPE)      \
    {                  \
        .shape = SHAPE \
    }
#define I64_(SHAPE, VALUES)                                 \
    {                                                       \
        .shape = SHAPE, .dtype = PX_INT64, .values = VALUES \
    }
#define I32_(SHAPE, VALUES)                                 \
    {                                                       \
        .shape = SHAPE, .dtype = PX_INT32, .values = VALUES \
    }
#define SIZE_(VALUE)                                                      \
    {                                                                     \
        .shape = "", .dtype = PX_INT64, .values = VALUE, .constant = true \
    }

static const struct {
    px_status status;
    op_case test;
} cases[] = {
    /* clang-format off */
    {PX_E_INPUT, {.type = "Conv", .opset = 11, .attrs = "strides=[0,1]", .in = {F_("1,2,4,4"), F_("3,2,3,3")}}},
    {PX_E_INPUT, {.type = "Conv", .opset = 11, .attrs = "dilations=[1,0]", .in = {F_("1,2,4,4"), F_("3,2,3,3")}}},
    {PX_E_INPUT, {.type = "Conv", .opset = 11, .attrs = "pads=[-1,0,0,0]", .in = {F_("1,2,4,4"), F_("3,2,3,3")}}},
    {PX_E_INPUT, {.type = "Conv", .opset = 11, .attrs = "pads=[1,1]", .in = {F_("1,2,4,4"), F_("3,2,3,3")}}},
    {PX_E_INPUT, {.type = "Conv", .opset = 11, .attrs = "pads=3", .in = {F_("1,2,4,4"), F_("3,2,3,3")}}},
    {PX_E_INPUT, {.type = "Conv", .opset = 11, .attrs = "pads=[9000000000,0,0,0]", .in = {F_("1,2,4,4"), F_("3,2,3,3")}}},
    {PX_E_INPUT, {.type = "Conv", .opset = 11, .attrs = "auto_pad=SAME", .in = {F_("1,2,4,4"), F_("3,2,3,3")}}},
    {PX_E_INPUT, {.type = "Conv", .opset = 11, .attrs = "group=0", .in = {F_("1,2,4,4"), F_("3,2,3,3")}}},
    {PX_E_INPUT, {.type = "Conv", .opset = 11, .attrs = "group=2", .in = {F_("1,2,4,4"), F_("3,1,3,3")}}},
    {PX_E_INPUT, {.type = "Conv", .opset = 11, .attrs = "group=3", .in = {F_("1,2,4,4"), F_("3,2,3,3")}}},
    {PX_E_INPUT, {.type = "Conv", .opset = 11, .name = "no kernel", .in = {F_("1,2,4,4"), F_("3,2,0,3")}}},
    {PX_E_MISMATCH, {.type = "Conv", .opset = 11, .name = "kernel larger than data", .in = {F_("1,2,4,4"), F_("3,2,5,5")}}},
    {PX_E_MISMATCH, {.type = "Conv", .opset = 11, .attrs = "dilations=[2000000000,1]", .in = {F_("1,2,4,4"), F_("3,2,3,3")}}},
    {PX_E_MISMATCH, {.type = "Conv", .opset = 11, .attrs = "kernel_shape=[2,2]", .in = {F_("1,2,4,4"), F_("3,2,3,3")}}},
    {PX_E_MISMATCH, {.type = "Conv", .opset = 11, .name = "wrong channels", .in = {F_("1,2,4,4"), F_("3,4,3,3")}}},
    {PX_E_MISMATCH, {.type = "Conv", .opset = 11, .name = "weights of other rank", .in = {F_("1,2,4,4"), F_("3,2,3")}}},
    {PX_E_MISMATCH, {.type = "Conv", .opset = 11, .name = "wrong bias", .in = {F_("1,2,4,4"), F_("3,2,3,3"), F_("2")}}},
    {PX_E_MISMATCH, {.type = "Conv", .opset = 11, .name = "scalar data", .in = {F_(""), F_("3,2,3,3")}}},
    {PX_E_MISMATCH, {.type = "Conv", .opset = 11, .name = "four spatial axes", .in = {F_("1,1,2,2,2,2"), F_("1,1,1,1,1,1")}}},
    {PX_E_INPUT, {.type = "Conv", .opset = 11, .name = "one input", .in = {F_("1,2,4,4")}}},
    {PX_E_INPUT, {.type = "Conv", .opset = 11, .name = "weights left out", .in = {F_("1,2,4,4"), F_("-"), F_("2")}}},
    {PX_E_UNSUPPORTED, {.type = "Conv", .opset = 11, .name = "integers", .in = {I64_("1,2,4,4", "1"), F_("3,2,3,3")}}},

    {PX_E_INPUT, {.type = "ConvTranspose", .opset = 11, .attrs = "output_padding=[2,2]", .in = {F_("1,2,3,3"), F_("2,3,3,3")}}},
    {PX_E_INPUT, {.type = "ConvTranspose", .opset = 11, .attrs = "output_padding=[-1,0]", .in = {F_("1,2,3,3"), F_("2,3,3,3")}}},
    {PX_E_INPUT, {.type = "ConvTranspose", .opset = 11, .attrs = "output_shape=[5]", .in = {F_("1,2,3,3"), F_("2,3,3,3")}}},
    {PX_E_MISMATCH, {.type = "ConvTranspose", .opset = 11, .attrs = "output_shape=[0,5]", .in = {F_("1,2,3,3"), F_("2,3,3,3")}}},
    {PX_E_MISMATCH, {.type = "ConvTranspose", .opset = 11, .attrs = "pads=[3,0,3,0]", .in = {F_("1,2,3,3"), F_("2,3,3,3")}}},
    {PX_E_MISMATCH, {.type = "ConvTranspose", .opset = 11, .attrs = "strides=[2147483647,1]", .in = {F_("1,2,3,3"), F_("2,3,3,3")}}},
    {PX_E_MISMATCH, {.type = "ConvTranspose", .opset = 11, .name = "empty data", .in = {F_("1,2,0,3"), F_("2,3,3,3")}}},
    {PX_E_MISMATCH, {.type = "ConvTranspose", .opset = 11, .name = "wrong channels", .in = {F_("1,2,3,3"), F_("3,3,3,3")}}},
    {PX_E_INPUT, {.type = "ConvTranspose", .opset = 11, .attrs = "group=2", .in = {F_("1,3,3,3"), F_("3,3,3,3")}}},

    {PX_E_INPUT, {.type = "MaxPool", .opset = 12, .name = "no kernel_shape", .in = {F_("1,2,4,4")}}},
    {PX_E_INPUT, {.type = "MaxPool", .opset = 12, .attrs = "kernel_shape=[0,2]", .in = {F_("1,2,4,4")}}},
    {PX_E_INPUT, {.type = "MaxPool", .opset = 12, .attrs = "kernel_shape=[2]", .in = {F_("1,2,4,4")}}},
    {PX_E_INPUT, {.type = "MaxPool", .opset = 12, .attrs = "kernel_shape=[2,2] strides=[0,0]", .in = {F_("1,2,4,4")}}},
    {PX_E_INPUT, {.type = "MaxPool", .opset = 12, .attrs = "kernel_shape=[2,2] pads=[2,2,2,2]", .in = {F_("1,2,4,4")}}},
    {PX_E_INPUT, {.type = "MaxPool", .opset = 12, .attrs = "kernel_shape=[2,2] storage_order=2", .in = {F_("1,2,4,4")}}},
    {PX_E_MISMATCH, {.type = "MaxPool", .opset = 12, .attrs = "kernel_shape=[5,5]", .in = {F_("1,2,4,4")}}},
    {PX_E_MISMATCH, {.type = "AveragePool", .opset = 11, .attrs = "kernel_shape=[2147483647,2147483647]", .in = {F_("1,2,4,4")}}},
    {PX_E_INPUT, {.type = "LpPool", .opset = 11, .attrs = "kernel_shape=[2,2] p=0", .in = {F_("1,2,4,4")}}},
    {PX_E_INPUT, {.type = "GlobalLpPool", .opset = 2, .attrs = "p=-2", .in = {F_("1,2,4,4")}}},
    {PX_E_MISMATCH, {.type = "GlobalAveragePool", .opset = 1, .name = "empty plane", .in = {F_("1,2,0,4")}}},

    {PX_E_MISMATCH, {.type = "Gemm", .opset = 13, .in = {F_("2,3"), F_("2,3")}}},
    {PX_E_MISMATCH, {.type = "Gemm", .opset = 13, .name = "wrong C", .in = {F_("2,3"), F_("3,4"), F_("3,4")}}},
    {PX_E_MISMATCH, {.type = "Gemm", .opset = 13, .name = "C of rank 3", .in = {F_("2,3"), F_("3,4"), F_("1,1,4")}}},
    {PX_E_MISMATCH, {.type = "Gemm", .opset = 13, .name = "A of rank 3", .in = {F_("1,2,3"), F_("3,4")}}},
    {PX_E_MISMATCH, {.type = "MatMul", .opset = 13, .in = {F_("2,3"), F_("2,3")}}},
    {PX_E_MISMATCH, {.type = "MatMul", .opset = 13, .name = "scalar", .in = {F_(""), F_("2,3")}}},
    {PX_E_MISMATCH, {.type = "MatMul", .opset = 13, .name = "batches", .in = {F_("2,2,3"), F_("3,3,2")}}},
    {PX_E_MISMATCH, {.type = "MatMul", .opset = 13, .name = "two types", .in = {F_("2,2"), I64_("2,2", "1")}}},
    {PX_E_INPUT, {.type = "Einsum", .opset = 12, .attrs = "equation=i!j->i", .in = {F_("2,3")}}},
    {PX_E_INPUT, {.type = "Einsum", .opset = 12, .attrs = "equation=ij->ik", .in = {F_("2,3")}}},
    {PX_E_INPUT, {.type = "Einsum", .opset = 12, .attrs = "equation=ij->ii", .in = {F_("2,3")}}},
    {PX_E_INPUT, {.type = "Einsum", .opset = 12, .attrs = "equation=i......", .in = {F_("2,3")}}},
    {PX_E_MISMATCH, {.type = "Einsum", .opset = 12, .attrs = "equation=ijk", .in = {F_("2,3")}}},
    {PX_E_MISMATCH, {.type = "Einsum", .opset = 12, .attrs = "equation=ij,jk", .in = {F_("2,3")}}},
    {PX_E_MISMATCH, {.type = "Einsum", .opset = 12, .attrs = "equation=ij", .in = {F_("2,3"), F_("3,2")}}},
    {PX_E_MISMATCH, {.type = "Einsum", .opset = 12, .attrs = "equation=ij,jk", .name = "extents differ", .in = {F_("2,3"), F_("2,3")}}},
    {PX_E_MISMATCH, {.type = "Einsum", .opset = 12, .name = "no equation", .in = {F_("2,3")}}},
    {PX_E_UNSUPPORTED, {.type = "Einsum", .opset = 12, .attrs = "equation=abcdefghijklmnop->", .in = {F_("1,1,1,1,1,1,1,1")}}},
    {PX_E_UNSUPPORTED, {.type = "Einsum", .opset = 12, .attrs = "equation=abcdefgh,ijklmnop,qrstuvwx->", .in = {F_("1,1,1,1,1,1,1,1"), F_("1,1,1,1,1,1,1,1"), F_("1,1,1,1,1,1,1,1")}}},

    {PX_E_UNSUPPORTED, {.type = "GridSample", .opset = 20, .name = "cubes", .attrs = "mode=cubic", .in = {F_("1,1,2,3,3"), F_("1,2,2,2,3")}}},
    {PX_E_MISMATCH, {.type = "GridSample", .opset = 20, .name = "grid of two numbers", .in = {F_("1,1,2,3,3"), F_("1,2,2,2,2")}}},

    {PX_E_INPUT, {.type = "Attention", .opset = 23, .name = "no heads", .in = {F_("1,2,4"), F_("1,2,4"), F_("1,2,4")}}},
    {PX_E_INPUT, {.type = "Attention", .opset = 23, .attrs = "q_num_heads=3 kv_num_heads=3", .name = "odd heads", .in = {F_("1,2,4"), F_("1,2,4"), F_("1,2,4")}}},
    {PX_E_MISMATCH, {.type = "Attention", .opset = 23, .name = "other sizes", .in = {F_("1,2,3,4"), F_("1,2,3,5"), F_("1,2,3,4")}}},
    {PX_E_MISMATCH, {.type = "Attention", .opset = 23, .name = "heads that share nothing", .in = {F_("1,3,2,4"), F_("1,2,2,4"), F_("1,2,2,4")}}},
    {PX_E_MISMATCH, {.type = "Attention", .opset = 23, .name = "no heads of keys", .in = {F_("1,2,2,4"), F_("1,0,2,4"), F_("1,0,2,4")}}},
    {PX_E_MISMATCH, {.type = "Attention", .opset = 23, .name = "wide mask", .in = {F_("1,2,2,4"), F_("1,2,2,4"), F_("1,2,2,4"), F_("2,3")}}},
    {PX_E_INPUT, {.type = "Attention", .opset = 23, .attrs = "qk_matmul_output_mode=4", .in = {F_("1,2,2,4"), F_("1,2,2,4"), F_("1,2,2,4")}}},
    {PX_E_MISMATCH, {.type = "RotaryEmbedding", .opset = 23, .in = {F_("1,2,3,4"), F_("1,3,3"), F_("1,3,3")}}},
    {PX_E_INPUT, {.type = "RotaryEmbedding", .opset = 23, .attrs = "rotary_embedding_dim=3", .in = {F_("1,2,3,4"), F_("1,3,1"), F_("1,3,1")}}},
    {PX_E_MISMATCH, {.type = "DeformConv", .opset = 19, .in = {F_("1,1,4,4"), F_("1,1,3,3"), F_("1,17,2,2")}}},
    {PX_E_UNSUPPORTED, {.type = "DeformConv", .opset = 19, .name = "DeformConv in 1-d", .in = {F_("1,1,4"), F_("1,1,3"), F_("1,3,2")}}},
    {PX_E_MISMATCH, {.type = "RMSNormalization", .opset = 23, .in = {F_("2,3"), F_("2")}}},
    {PX_E_MISMATCH, {.type = "GridSample", .opset = 20, .name = "grid of other rank", .in = {F_("1,1,3,3"), F_("1,2,2,2,3")}}},

    {PX_E_MISMATCH, {.type = "BatchNormalization", .opset = 15, .in = {F_("2,3,2"), F_("2"), F_("3"), F_("3"), F_("3")}}},
    {PX_E_MISMATCH, {.type = "BatchNormalization", .opset = 15, .attrs = "training_mode=1", .outputs = 3, .name = "empty batch", .in = {F_("0,3,2"), F_("3"), F_("3"), F_("3"), F_("3")}}},
    {PX_E_INPUT, {.type = "BatchNormalization", .opset = 15, .attrs = "epsilon=-1.0", .in = {F_("2,3,2"), F_("3"), F_("3"), F_("3"), F_("3")}}},
    {PX_E_INPUT, {.type = "BatchNormalization", .opset = 15, .name = "no statistics", .in = {F_("2,3,2"), F_("3"), F_("3")}}},
    {PX_E_MISMATCH, {.type = "InstanceNormalization", .opset = 6, .in = {F_("2,3,2"), F_("2"), F_("3")}}},
    {PX_E_INPUT, {.type = "GroupNormalization", .opset = 18, .attrs = "num_groups=0", .in = {F_("2,3,2"), F_("3"), F_("3")}}},
    {PX_E_INPUT, {.type = "GroupNormalization", .opset = 18, .attrs = "num_groups=2", .in = {F_("2,3,2"), F_("2"), F_("2")}}},
    {PX_E_INPUT, {.type = "LayerNormalization", .opset = 17, .attrs = "axis=3", .in = {F_("2,3,2"), F_("2")}}},
    {PX_E_MISMATCH, {.type = "LayerNormalization", .opset = 17, .in = {F_("2,3,2"), F_("3")}}},
    {PX_E_INPUT, {.type = "LRN", .opset = 13, .attrs = "size=0", .in = {F_("2,3,2,2")}}},
    {PX_E_INPUT, {.type = "LpNormalization", .opset = 1, .attrs = "p=3", .in = {F_("2,3")}}},
    {PX_E_INPUT, {.type = "MeanVarianceNormalization", .opset = 13, .name = "no axis 3", .in = {F_("2,3")}}},
    {PX_E_INPUT, {.type = "Softmax", .opset = 13, .attrs = "axis=2", .in = {F_("2,3")}}},
    {PX_E_INPUT, {.type = "Softmax", .opset = 11, .attrs = "axis=-3", .in = {F_("2,3")}}},
    {PX_E_INPUT, {.type = "Softmax", .opset = 13, .name = "scalar", .in = {F_("")}}},

    {PX_E_INPUT, {.type = "SoftmaxCrossEntropyLoss", .opset = 13, .in = {F_("2,3"), I64_("2", "0 3")}}},
    {PX_E_INPUT, {.type = "SoftmaxCrossEntropyLoss", .opset = 13, .in = {F_("2,3"), I64_("2", "-1 0")}}},
    {PX_E_INPUT, {.type = "NegativeLogLikelihoodLoss", .opset = 13, .attrs = "reduction=max", .in = {F_("2,3"), I64_("2", "0")}}},
    {PX_E_INPUT, {.type = "NegativeLogLikelihoodLoss", .opset = 13, .name = "real labels", .in = {F_("2,3"), F_("2")}}},
    {PX_E_MISMATCH, {.type = "NegativeLogLikelihoodLoss", .opset = 13, .in = {F_("2,3"), I64_("3", "0")}}},
    {PX_E_MISMATCH, {.type = "NegativeLogLikelihoodLoss", .opset = 13, .in = {F_("2,3"), I64_("2", "0"), F_("2")}}},

    {PX_E_MISMATCH, {.type = "LSTM", .opset = 14, .attrs = "hidden_size=4", .in = {F_("2,1,2"), F_("1,12,2"), F_("1,12,3")}}},
    {PX_E_MISMATCH, {.type = "LSTM", .opset = 14, .attrs = "direction=bidirectional", .in = {F_("2,1,2"), F_("1,12,2"), F_("1,12,3")}}},
    {PX_E_MISMATCH, {.type = "LSTM", .opset = 14, .name = "W of other width", .in = {F_("2,1,2"), F_("1,12,3"), F_("1,12,3")}}},
    {PX_E_MISMATCH, {.type = "LSTM", .opset = 14, .name = "R of rank 2", .in = {F_("2,1,2"), F_("1,12,2"), F_("12,3")}}},
    {PX_E_INPUT, {.type = "LSTM", .opset = 14, .attrs = "direction=sideways", .in = {F_("2,1,2"), F_("1,12,2"), F_("1,12,3")}}},
    {PX_E_INPUT, {.type = "LSTM", .opset = 14, .attrs = "activations=[Tanh]", .in = {F_("2,1,2"), F_("1,12,2"), F_("1,12,3")}}},
    {PX_E_UNSUPPORTED, {.type = "GRU", .opset = 14, .attrs = "activations=[Tanh,Mystery]", .in = {F_("2,1,2"), F_("1,9,2"), F_("1,9,3")}}},
    {PX_E_INPUT, {.type = "GRU", .opset = 14, .attrs = "clip=-1.0", .in = {F_("2,1,2"), F_("1,9,2"), F_("1,9,3")}}},
    {PX_E_INPUT, {.type = "RNN", .opset = 14, .name = "sequence too long", .in = {F_("2,1,2"), F_("1,3,2"), F_("1,3,3"), F_("-"), I32_("1", "3")}}},
    {PX_E_INPUT, {.type = "RNN", .opset = 14, .name = "sequence of negative length", .in = {F_("2,1,2"), F_("1,3,2"), F_("1,3,3"), F_("-"), I32_("1", "-1")}}},
    {PX_E_INPUT, {.type = "RNN", .opset = 14, .name = "lengths in int64", .in = {F_("2,1,2"), F_("1,3,2"), F_("1,3,3"), F_("-"), I64_("1", "1")}}},

    {PX_E_INPUT, {.type = "MatMulInteger", .opset = 10, .in = {F_("2,3"), F_("3,2")}}},
    {PX_E_MISMATCH, {.type = "MatMulInteger", .opset = 10, .in = {{.shape = "2,3", .dtype = PX_UINT8, .values = "1"}, {.shape = "3,2", .dtype = PX_UINT8, .values = "1"}, {.shape = "3", .dtype = PX_UINT8, .values = "1"}}}},
    {PX_E_MISMATCH, {.type = "ConvInteger", .opset = 10, .in = {{.shape = "1,1,3,3", .dtype = PX_UINT8, .values = "1"}, {.shape = "1,1,2,2", .dtype = PX_UINT8, .values = "1"}, {.shape = "2", .dtype = PX_UINT8, .values = "1"}}}},

    {PX_E_INPUT, {.type = "DFT", .opset = 17, .in = {F_("1,4,1"), SIZE_("0")}}},
    {PX_E_INPUT, {.type = "DFT", .opset = 17, .in = {F_("1,4,1"), SIZE_("-4")}}},
    {PX_E_INPUT, {.type = "DFT", .opset = 17, .in = {F_("1,4,3")}}},
    {PX_E_INPUT, {.type = "DFT", .opset = 17, .attrs = "axis=2", .in = {F_("1,4,2")}}},
    {PX_E_UNSUPPORTED, {.type = "DFT", .opset = 17, .attrs = "onesided=1", .in = {F_("1,4,2")}}},
    {PX_E_INPUT, {.type = "STFT", .opset = 17, .in = {F_("1,9,1"), SIZE_("0"), F_("4")}}},
    {PX_E_INPUT, {.type = "STFT", .opset = 17, .in = {F_("1,9,1"), SIZE_("1"), F_("10")}}},
    {PX_E_INPUT, {.type = "STFT", .opset = 17, .name = "neither window nor length", .in = {F_("1,9,1"), SIZE_("1")}}},
    {PX_E_MISMATCH, {.type = "STFT", .opset = 17, .in = {F_("1,9,1"), SIZE_("1"), F_("3"), SIZE_("4")}}},
    {PX_E_INPUT, {.type = "HannWindow", .opset = 17, .in = {SIZE_("-1")}}},
    {PX_E_UNSUPPORTED, {.type = "HannWindow", .opset = 17, .attrs = "output_datatype=7", .in = {SIZE_("3")}}},
    {PX_E_UNSUPPORTED, {.type = "HannWindow", .opset = 17, .name = "size not constant", .in = {I64_("", "3")}}},
    {PX_E_INPUT, {.type = "MelWeightMatrix", .opset = 17, .in = {SIZE_("2"), SIZE_("8"), SIZE_("0"), F_(""), F_("")}}},
    /* clang-format on */
};

static void test_refused(void **state)
{
    (void)state;
    int wrong = 0;
    for (size_t i = 0; i < PX_LEN(cases); i++) {
        const op_case *test = &cases[i].test;
        op_run run;
        px_error err = {0};
        px_status status = op_run_init(&run, test, (unsigned)i, &err);
        if (status == PX_OK)
            status = op_run_forward(&run, &err);
        if (status != cases[i].status || !strstr(err.message, op_case_name(test))) {
            print_error("case %d '%s' (attributes '%s'): %s, expected %s: '%s'\n", (int)i,
                        op_case_name(test), test->attrs ? test->attrs : "", px_status_name(status),
                        px_status_name(cases[i].status), err.message);
            wrong++;
        }
        op_run_done(&run);
    }
    assert_int_equal(wrong, 0);
}

/* Legal corners: nothing to compute, or more padding than data. */
static const op_case corners[] = {
    /* clang-format off */
    {.type = "Conv", .opset = 11, .name = "no samples", .in = {F_("0,2,4,4"), F_("3,2,3,3")}},
    {.type = "Conv", .opset = 11, .attrs = "pads=[9,9,9,9] dilations=[3,3]", .in = {F_("1,1,1,1"), F_("1,1,3,3")}},
    {.type = "Conv", .opset = 11, .attrs = "auto_pad=SAME_UPPER strides=[5,5]", .in = {F_("1,1,3,3"), F_("1,1,2,2")}},
    {.type = "ConvTranspose", .opset = 11, .attrs = "output_shape=[20,20]", .in = {F_("1,1,3,3"), F_("1,1,2,2")}},
    {.type = "MaxPool", .opset = 12, .name = "a window that misses the data", .attrs = "kernel_shape=[2] pads=[1,1] dilations=[2]", .outputs = 2, .in = {F_("1,1,1")}},
    {.type = "AveragePool", .opset = 19, .name = "a window that misses the data", .attrs = "kernel_shape=[2] pads=[1,1] dilations=[2]", .in = {F_("1,1,1")}},
    {.type = "MatMul", .opset = 13, .name = "no columns", .in = {F_("2,3"), F_("3,0")}},
    {.type = "MatMul", .opset = 13, .name = "nothing to sum", .in = {F_("2,0"), F_("0,3")}},
    {.type = "Gemm", .opset = 13, .name = "nothing to sum", .in = {F_("2,0"), F_("0,3"), F_("3")}},
    {.type = "Einsum", .opset = 12, .name = "nothing to sum", .attrs = "equation=ij,jk->ik", .in = {F_("2,0"), F_("0,3")}},
    {.type = "Softmax", .opset = 13, .name = "no classes", .in = {F_("2,0")}},
    {.type = "Softmax", .opset = 11, .attrs = "axis=2", .name = "axis behind the last", .in = {F_("2,3")}},
    {.type = "LSTM", .opset = 14, .name = "no steps", .outputs = 3, .in = {F_("0,2,2"), F_("1,12,2"), F_("1,12,3")}},
    {.type = "SoftmaxCrossEntropyLoss", .opset = 13, .attrs = "reduction=sum ignore_index=0", .name = "all ignored", .in = {F_("2,3"), I64_("2", "0")}},
    {.type = "LayerNormalization", .opset = 17, .name = "no rows", .in = {F_("0,3"), F_("3")}},
    /* clang-format on */
};

static void test_corners(void **state)
{
    (void)state;
    for (size_t i = 0; i < PX_LEN(corners); i++) {
        op_run run;
        px_error err = {0};
        if (op_run_init(&run, &corners[i], (unsigned)i, &err) != PX_OK ||
            op_run_forward(&run, &err) != PX_OK)
            fail_msg("case '%s': %s", op_case_name(&corners[i]), err.message);
        for (int k = 0; k < run.ctx.in_count; k++) {
            run.in_grad[k] = run.in[k];
            run.in_grad[k].data = NULL;
            if (run.in[k].dtype == PX_FLOAT32)
                assert_int_equal(
                    px_tensor_init(&run.in_grad[k], PX_FLOAT32, &run.in[k].shape, &err), PX_OK);
        }
        for (int64_t k = 0; k < px_shape_count(&run.out[0].shape); k++)
            if (op_get(&run.out[0], k) != op_get(&run.out[0], k))
                fail_msg("case '%s': element %d was not written", op_case_name(&corners[i]),
                         (int)k);
        op_run_backward(&run, (unsigned)i);
        op_run_done(&run);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_corners),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
