#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes fuzz/corpus/engine: small networks for the engine's fuzz target and its tests.

    /usr/bin/python3 fuzz/make_engine_corpus.py      # needs python3-onnx; the result is committed

Each covers a family of operators and runs forward and, where it can, backward. The bytes depend on
this script alone.
"""
import pathlib

import numpy as np

from make_onnx_corpus import FLOAT, model, node, ramp, value, weights

OUT = pathlib.Path(__file__).resolve().parent / "corpus" / "engine"
BOOL, INT64 = 9, 7


def ints(*numbers):
    return np.array(numbers, np.int64)


def net(nodes, shape, outputs, batch="N", opset=13, **arrays):
    return model(nodes, [value("x", [batch, *shape])], [value(name) for name in outputs],
                 weights(**arrays), opset=opset)


def conv_norm():
    return net([node("Conv", ["x", "w", "b"], ["c"], "conv", pads=[1, 1, 1, 1]),
                node("BatchNormalization", ["c", "g", "h", "m", "v"], ["n"], "norm"),
                node("Relu", ["n"], ["r"]), node("MaxPool", ["r"], ["p"], kernel_shape=[2, 2], strides=[2, 2]),
                node("Conv", ["p", "w2"], ["c2"], "conv2", strides=[2, 1], dilations=[1, 2], group=2),
                node("GlobalAveragePool", ["c2"], ["q"]), node("Flatten", ["q"], ["f"]),
                node("Gemm", ["f", "d", "e"], ["logits"], "dense", transB=1),
                node("Softmax", ["logits"], ["y"], axis=1)], [1, 8, 8], ["y"],
               w=ramp((4, 1, 3, 3)), b=ramp((4,)), g=ramp((4,)), h=ramp((4,)), m=ramp((4,)),
               v=np.ones(4, np.float32), w2=ramp((4, 2, 2, 2)), d=ramp((3, 4)), e=ramp((3,)))


def residual():
    return net([node("Conv", ["x", "w"], ["a"], pads=[1, 1, 1, 1]), node("Relu", ["a"], ["b"]),
                node("Conv", ["b", "w"], ["c"], pads=[1, 1, 1, 1]), node("Add", ["c", "b"], ["d"]),
                node("Clip", ["d", "low", "high"], ["e"]),
                node("AveragePool", ["e"], ["f"], kernel_shape=[3, 3], auto_pad="SAME_UPPER"),
                node("Conv", ["f", "w"], ["g"], pads=[1, 1, 1, 1]), node("Add", ["e", "g"], ["y"])],
               [2, 5, 5], ["y", "b"], w=ramp((2, 2, 3, 3)), low=np.float32(0), high=np.float32(6))


def shapes():
    return net([node("Shape", ["x"], ["s"]), node("Gather", ["s", "zero"], ["n"], axis=0),
                node("Unsqueeze", ["n", "zeros"], ["n1"]), node("Concat", ["n1", "minus"], ["to"], axis=0),
                node("Reshape", ["x", "to"], ["r"]), node("MatMul", ["r", "w"], ["m"]),
                node("Add", ["m", "b"], ["y"])], [2, 3], ["y"],
               zero=np.int64(0), zeros=ints(0), minus=ints(-1), w=ramp((6, 4)), b=ramp((4,)))


def slices():
    return net([node("Slice", ["x", "from", "end", "axes", "steps"], ["a"]),
                node("Split", ["x", "sizes"], ["b", "c"], axis=1), node("Concat", ["c", "b", "a"], ["d"], axis=1),
                node("Transpose", ["d"], ["e"], perm=[0, 2, 3, 1]),
                node("Gather", ["e", "index"], ["f"], axis=3), node("Pad", ["f", "pads", "fill"], ["g"]),
                node("Squeeze", ["g", "last"], ["h"]), node("ReduceMean", ["h"], ["y"], axes=[1], keepdims=0)],
               [3, 4, 4], ["y", "d"], **{"from": ints(0, -1), "end": ints(2, -9), "axes": ints(1, 3),
                                         "steps": ints(1, -2)},
               sizes=ints(1, 2), index=ints(1), pads=ints(0, 1, 0, 0, 0, 0, 1, 0), fill=np.float32(2),
               last=ints(3))


def slices_runnable():
    """As above, with extents that fit each other."""
    return net([node("Split", ["x", "sizes"], ["b", "c"], axis=1), node("Concat", ["c", "b", "x"], ["d"], axis=1),
                node("Slice", ["d", "from", "end", "axes", "steps"], ["a"]),
                node("Transpose", ["a"], ["e"], perm=[0, 2, 3, 1]), node("Gather", ["e", "index"], ["f"], axis=3),
                node("Pad", ["f", "pads", "fill"], ["g"]), node("ReduceMean", ["g"], ["y"], axes=[1, 2], keepdims=0)],
               [3, 4, 4], ["y"], **{"from": ints(0, -1), "end": ints(4, -9), "axes": ints(1, 3), "steps": ints(1, -2)},
               sizes=ints(1, 2), index=ints(1, 3), pads=ints(0, 1, 0, 0, 0, 0, 1, 0), fill=np.float32(2))


def resize():
    return net([node("Resize", ["x", "", "scales"], ["a"], mode="linear"),
                node("Conv", ["a", "w"], ["b"]), node("Resize", ["b", "", "", "sizes"], ["c"], mode="nearest"),
                node("DepthToSpace", ["c"], ["d"], blocksize=2), node("InstanceNormalization", ["d", "g", "g"], ["y"])],
               [2, 3, 3], ["y"], scales=np.array([1, 1, 2, 1.5], np.float32), w=ramp((4, 2, 2, 2)),
               sizes=ints(1, 4, 6, 6), g=ramp((1,)))


def lstm():
    return net([node("Transpose", ["x"], ["t"], perm=[1, 0, 2]),
                node("LSTM", ["t", "w", "r", "b"], ["s", "h", "c"], hidden_size=3, direction="bidirectional"),
                node("GRU", ["t", "w2", "r2"], ["s2", "h2"], hidden_size=2, linear_before_reset=1),
                node("ReduceMax", ["s"], ["m"], axes=[0, 1], keepdims=0), node("LogSoftmax", ["m"], ["y"], axis=1),
                node("Squeeze", ["h2", "zeros"], ["z"])], [4, 2], ["y", "z"],
               w=ramp((2, 12, 2)), r=ramp((2, 12, 3)), b=ramp((2, 24)), w2=ramp((1, 6, 2)), r2=ramp((1, 6, 2)),
               zeros=ints(0))


def choices():
    return net([node("Greater", ["x", "zero"], ["g"]), node("Where", ["g", "x", "zero"], ["a"]),
                node("Cast", ["g"], ["i"], to=INT64), node("TopK", ["x", "k"], ["v", "at"], axis=1),
                node("ArgMax", ["x"], ["m"], axis=1), node("OneHot", ["m", "depth", "two"], ["o"]),
                node("GatherElements", ["x", "at"], ["e"], axis=1), node("Sub", ["e", "v"], ["y"]),
                node("CumSum", ["a", "axis"], ["s"]), node("Not", ["g"], ["n"])],
               [5], ["y", "o", "i", "s", "n"], zero=np.float32(0), k=ints(2), depth=ints(5),
               two=np.array([0, 1], np.float32), axis=np.int32(1))


def attention():
    return net([node("MatMul", ["x", "wq"], ["q"]), node("MatMul", ["x", "wk"], ["k"]),
                node("Transpose", ["k"], ["kt"], perm=[0, 2, 1]), node("MatMul", ["q", "kt"], ["s"]),
                node("Div", ["s", "root"], ["d"]), node("Softmax", ["d"], ["p"], axis=-1),
                node("MatMul", ["p", "x"], ["o"]), node("Add", ["o", "x"], ["r"]),
                node("LayerNormalization", ["r", "g", "h"], ["n"], axis=-1), node("Erf", ["n"], ["e"]),
                node("Mul", ["n", "e"], ["y"])], [3, 4], ["y"], opset=17,
               wq=ramp((4, 4)), wk=ramp((4, 4)), root=np.float32(2), g=ramp((4,)), h=ramp((4,)))


def einsum():
    return net([node("Einsum", ["x", "w"], ["a"], equation="nij,jk->nik"), node("Expand", ["b", "to"], ["c"]),
                node("Mul", ["a", "c"], ["d"]), node("Tile", ["d", "times"], ["e"]), node("PRelu", ["e", "slope"], ["y"]),
                node("NonZero", ["b"], ["nz"]), node("ConstantOfShape", ["to"], ["cs"])], [2, 3], ["y", "nz", "cs"],
               w=ramp((3, 2)), b=ramp((1, 2)), to=ints(2, 2), times=ints(1, 2, 1), slope=ramp((1,)))


def upconv():
    return net([node("ConvTranspose", ["x", "w"], ["a"], strides=[2, 2], output_padding=[1, 1], pads=[1, 1, 1, 1]),
                node("LRN", ["a"], ["b"], size=3), node("LpPool", ["b"], ["c"], kernel_shape=[2, 2]),
                node("MaxPool", ["a"], ["d", "i"], kernel_shape=[2, 2], ceil_mode=1), node("Elu", ["c"], ["y"])],
               [2, 3, 3], ["y", "d", "i"], w=ramp((2, 3, 3, 3)))


def quantised():
    return net([node("QuantizeLinear", ["x", "s", "z"], ["q"]), node("DequantizeLinear", ["q", "s", "z"], ["d"]),
                node("Conv", ["d", "w"], ["c"]), node("Reshape", ["c", "to"], ["y"])], [1, 4, 4], ["y"],
               batch=2, to=ints(2, 8), s=np.float32(0.5), z=np.uint8(3),
               w=ramp((2, 1, 3, 3)))


def indices():
    return model([node("Gather", ["table", "x"], ["a"]), node("ScatterElements", ["a", "at", "up"], ["b"], axis=1),
                  node("ReduceSum", ["b", "axis"], ["y"], keepdims=0)], [value("x", ["N", 3], INT64)], [value("y")],
                 weights(table=ramp((4, 2)), at=np.zeros((1, 1, 1), np.int64), up=ramp((1, 1, 1)), axis=ints(1)))


def main():
    OUT.mkdir(parents=True, exist_ok=True)
    for make in (conv_norm, residual, shapes, slices, slices_runnable, resize, lstm, choices, attention, einsum,
                 upconv, quantised, indices):
        (OUT / f"{make.__name__}.onnx").write_bytes(make().SerializeToString(deterministic=True))


if __name__ == "__main__":
    main()
