# SPDX-License-Identifier: Apache-2.0
"""Networks with the shapes of the benchmark's, for a clone that has no trained ones.

    standin.py FOLDER        writes lenet5.onnx, resnet20_cifar10.onnx, mobilenetv2_cifar10.onnx

Weights are random (He initialisation, fixed seed): speed does not depend on what a network has
learnt, so the ratios mean the same; the bars are held on the trained networks only.
"""
import os
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


class Builder:
    def __init__(self, name, channels, size):
        self.name, self.random = name, np.random.default_rng(7)
        self.nodes, self.weights, self.last = [], [], "input"
        self.channels, self.size = channels, size
        self.input = helper.make_tensor_value_info(
            "input", TensorProto.FLOAT, ["N", channels, size, size])

    def weight(self, array):
        name = f"w{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def node(self, kind, inputs=(), output=None, data=True, **attributes):
        output = output or f"{kind.lower()}{len(self.nodes)}"
        inputs = ([self.last] if data else []) + list(inputs)
        self.nodes.append(helper.make_node(kind, inputs, [output], name=output, **attributes))
        self.last = output
        return output

    def conv(self, out, kernel, stride=1, pad=None, groups=1, bias=False):
        fan_in = self.channels // groups * kernel * kernel
        shape = (out, self.channels // groups, kernel, kernel)
        values = self.random.normal(0, np.sqrt(2 / fan_in), shape).astype(np.float32)
        pad = kernel // 2 if pad is None else pad
        inputs = [self.weight(values)]
        if bias:
            inputs.append(self.weight(np.zeros(out, np.float32)))
        self.node("Conv", inputs, kernel_shape=[kernel] * 2, strides=[stride] * 2, pads=[pad] * 4,
                  group=groups, dilations=[1, 1])
        self.channels = out
        return self

    def norm(self):
        ones, zeros = np.ones(self.channels, np.float32), np.zeros(self.channels, np.float32)
        self.node("BatchNormalization", [self.weight(a) for a in (ones, zeros, zeros, ones)])
        return self

    def relu(self):
        self.node("Relu")
        return self

    def relu6(self):
        self.node("Clip", [self.weight(np.float32(0)), self.weight(np.float32(6))])
        return self

    def add(self, other):
        self.node("Add", [other])
        return self

    def dense(self, features_in, out, output=None):
        values = self.random.normal(0, np.sqrt(2 / features_in), (out, features_in))
        self.node("Gemm", [self.weight(values.astype(np.float32)),
                           self.weight(np.zeros(out, np.float32))], output, transB=1)
        return self

    def save(self, folder):
        self.node("Softmax", output="probs", axis=1)
        output = helper.make_tensor_value_info("probs", TensorProto.FLOAT, ["N", 10])
        graph = helper.make_graph(self.nodes, self.name, [self.input], [output], self.weights)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)],
                                  producer_name="plexor bench", ir_version=7)
        onnx.checker.check_model(model)
        onnx.save(model, os.path.join(folder, self.name + ".onnx"))


def lenet5(folder):
    b = Builder("lenet5", 1, 28)
    b.conv(6, 5, bias=True).relu().node("MaxPool", kernel_shape=[2, 2], strides=[2, 2])
    b.conv(16, 5, bias=True).relu().node("MaxPool", kernel_shape=[2, 2], strides=[2, 2])
    b.node("Transpose", perm=[0, 2, 3, 1])
    b.node("Flatten", axis=1)
    b.dense(784, 120).relu().dense(120, 84).relu().dense(84, 10, "logits").save(folder)


def resnet20(folder):
    b = Builder("resnet20_cifar10", 3, 32)
    b.conv(16, 3).norm().relu()
    for stage, width in enumerate((16, 32, 64)):
        for block in range(3):
            shortcut, stride = b.last, 2 if stage and not block else 1
            b.conv(width, 3, stride).norm().relu().conv(width, 3).norm()
            if stride == 2:  # option A: every second pixel, new channels zero
                main, b.last = b.last, shortcut
                b.node("Slice", [b.weight(np.array(v, np.int64)) for v in
                                 ([0, 0], [2**31, 2**31], [2, 3], [2, 2])])
                half = width // 4
                pads = np.array([0, half, 0, 0, 0, half, 0, 0], np.int64)
                shortcut = b.node("Pad", [b.weight(pads), b.weight(np.float32(0))])
                b.last = main
            b.add(shortcut).relu()
    b.node("AveragePool", kernel_shape=[8, 8], strides=[8, 8])
    b.node("Flatten", axis=1)
    b.dense(64, 10, "logits").save(folder)


def mobilenetv2(folder):
    b = Builder("mobilenetv2_cifar10", 3, 32)
    b.conv(32, 3).norm().relu6()
    for expand, width, repeats, first_stride in (
            (1, 16, 1, 1), (6, 24, 2, 1), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1),
            (6, 160, 3, 2), (6, 320, 1, 1)):
        for block in range(repeats):
            shortcut, narrow = b.last, b.channels
            stride = first_stride if block == 0 else 1
            if expand > 1:
                b.conv(narrow * expand, 1).norm().relu6()
            b.conv(b.channels, 3, stride, groups=b.channels).norm().relu6()
            b.conv(width, 1).norm()
            if stride == 1 and narrow == width:
                b.add(shortcut)
    b.conv(1280, 1).norm().relu6()
    b.node("GlobalAveragePool")
    b.node("Flatten", axis=1)
    b.dense(1280, 10, "logits").save(folder)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    os.makedirs(sys.argv[1], exist_ok=True)
    for make in (lenet5, resnet20, mobilenetv2):
        make(sys.argv[1])
