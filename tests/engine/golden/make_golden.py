#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the small networks and golden values that test_golden.c checks.

    /usr/bin/python3 make_golden.py        (python3-torch, python3-onnx; writes beside itself)

Each network NAME.onnx comes with NAME.npz: x, labels, logits, probs, `loss/input` (gradient of the
summed cross-entropy), `loss/WEIGHT` for every weight, and `neuron/LAYER:INDEX` (per sample gradient
of a channel's spatial mean). PyTorch computes them in double from the float32 weights.
"""
import os

import numpy as np
import onnx
import torch
from onnx import TensorProto, helper, numpy_helper

from onnx_torch import Net

HERE = os.path.dirname(os.path.abspath(__file__))
SAMPLES = 4


class Builder:
    def __init__(self, name, shape, seed):
        self.name, self.shape, self.rng = name, shape, np.random.RandomState(seed)
        self.nodes, self.weights = [], []

    def weight(self, name, *shape, scale=None, shift=0.0):
        fan_in = int(np.prod(shape[1:])) if len(shape) > 1 else 1
        scale = (2.0 / max(fan_in, 1))**0.5 if scale is None else scale
        value = (self.rng.standard_normal(shape) * scale + shift).astype(np.float32)
        return self.constant(name, value)

    def constant(self, name, value):
        self.weights.append(numpy_helper.from_array(np.asarray(value), name))
        return name

    def node(self, type_, name, inputs, output=None, **attributes):
        output = output or name
        self.nodes.append(helper.make_node(type_, inputs, [output], name=name, **attributes))
        return output

    def conv(self, name, x, cin, cout, kernel, pad=0, stride=1, group=1, bias=True):
        inputs = [x, self.weight(name + ".weight", cout, cin // group, kernel, kernel)]
        if bias:
            inputs.append(self.weight(name + ".bias", cout, scale=0.1))
        return self.node("Conv", name, inputs, kernel_shape=[kernel] * 2, pads=[pad] * 4,
                         strides=[stride] * 2, group=group)

    def bn(self, name, x, c):
        return self.node("BatchNormalization", name, [
            x,
            self.weight(name + ".scale", c, scale=0.2, shift=1.0),
            self.weight(name + ".bias", c, scale=0.1),
            self.weight(name + ".mean", c, scale=0.2),
            self.constant(name + ".var", self.rng.uniform(0.5, 2.0, c).astype(np.float32)),
        ], epsilon=1e-5)

    def relu6(self, name, x):
        for bound, value in (("low", 0.0), ("high", 6.0)):
            if not any(w.name == bound for w in self.weights):
                self.constant(bound, np.float32(value))
        return self.node("Clip", name, [x, "low", "high"])

    def classify(self, x, features, classes, trans):
        shape = (classes, features) if trans else (features, classes)
        scale = (1.0 / features)**0.5
        self.node("Gemm", "fc", [x, self.weight("fc.weight", *shape, scale=scale),
                                 self.weight("fc.bias", classes, scale=0.1)], "logits", transB=trans)
        self.node("Softmax", "softmax", ["logits"], "probs", axis=-1)

    def save(self):
        graph = helper.make_graph(
            self.nodes, self.name,
            [helper.make_tensor_value_info("input", TensorProto.FLOAT, ["N"] + self.shape)],
            [helper.make_tensor_value_info("probs", TensorProto.FLOAT, ["N", "classes"])],
            self.weights)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=7)
        onnx.checker.check_model(model)
        path = os.path.join(HERE, self.name + ".onnx")
        onnx.save(model, path)
        return path


def lenet():
    b = Builder("tiny_lenet", [1, 12, 12], 1)
    x = b.conv("conv1", "input", 1, 4, 3, pad=1)
    x = b.node("Relu", "relu1", [x])
    x = b.node("MaxPool", "pool1", [x], kernel_shape=[2, 2], strides=[2, 2])
    x = b.conv("conv2", x, 4, 6, 3)
    x = b.node("Relu", "relu2", [x])
    x = b.node("AveragePool", "pool2", [x], kernel_shape=[2, 2], strides=[2, 2])
    x = b.node("Transpose", "nhwc", [x], perm=[0, 2, 3, 1])
    x = b.node("Flatten", "flatten", [x], axis=1)
    x = b.node("MatMul", "dense1", [x, b.weight("dense1.weight", 24, 12, scale=0.3)])
    x = b.node("Add", "dense1_bias", [x, b.weight("dense1.bias", 12, scale=0.1)])
    x = b.node("LeakyRelu", "leaky1", [x], alpha=0.1)
    b.classify(x, 12, 5, trans=0)
    return b, ["relu1:2", "relu2:5", "leaky1:3", "fc:1"]


def residual():
    b = Builder("tiny_residual", [3, 8, 8], 2)
    x = b.node("Relu", "stem", [b.bn("bn0", b.conv("conv0", "input", 3, 4, 3, 1, bias=False), 4)])
    y = b.node("Relu", "b1_relu1", [b.bn("b1_bn1", b.conv("b1_conv1", x, 4, 4, 3, 1, bias=False), 4)])
    y = b.bn("b1_bn2", b.conv("b1_conv2", y, 4, 4, 3, 1, bias=False), 4)
    x = b.node("Relu", "b1_relu2", [b.node("Add", "b1_add", [y, x])])
    y = b.conv("b2_conv1", x, 4, 8, 3, 1, 2, bias=False)
    y = b.node("Relu", "b2_relu1", [b.bn("b2_bn1", y, 8)])
    y = b.bn("b2_bn2", b.conv("b2_conv2", y, 8, 8, 3, 1, bias=False), 8)
    s = b.bn("b2_bn3", b.conv("b2_short", x, 4, 8, 1, 0, 2, bias=False), 8)
    x = b.node("Relu", "b2_relu2", [b.node("Add", "b2_add", [y, s])])
    x = b.node("Flatten", "flatten", [b.node("GlobalAveragePool", "gap", [x])], axis=1)
    b.classify(x, 8, 5, trans=1)
    return b, ["stem:0", "b1_relu2:3", "b2_relu1:6", "b2_relu2:7"]


def mobile():
    b = Builder("tiny_mobile", [3, 8, 8], 3)
    x = b.relu6("stem", b.bn("bn0", b.conv("conv0", "input", 3, 8, 3, 1, bias=False), 8))
    y = b.conv("b1_deep", x, 8, 8, 3, 1, group=8, bias=False)
    y = b.relu6("b1_clip", b.bn("b1_bn1", y, 8))
    x = b.bn("b1_bn2", b.conv("b1_point", y, 8, 4, 1, bias=False), 4)
    y = b.relu6("b2_clip1", b.bn("b2_bn1", b.conv("b2_wide", x, 4, 12, 1, bias=False), 12))
    y = b.conv("b2_deep", y, 12, 12, 3, 1, group=12, bias=False)
    y = b.relu6("b2_clip2", b.bn("b2_bn2", y, 12))
    y = b.bn("b2_bn3", b.conv("b2_point", y, 12, 4, 1, bias=False), 4)
    x = b.node("Add", "b2_add", [x, y])
    y = b.conv("b3_deep", x, 4, 4, 3, 1, 2, group=4, bias=False)
    y = b.relu6("b3_clip", b.bn("b3_bn1", y, 4))
    x = b.relu6("last", b.bn("b3_bn2", b.conv("b3_point", y, 4, 16, 1, bias=False), 16))
    x = b.node("Flatten", "flatten", [b.node("GlobalAveragePool", "gap", [x])], axis=1)
    b.classify(x, 16, 5, trans=1)
    return b, ["stem:7", "b1_bn2:1", "b2_clip2:11", "b2_bn3:2", "last:9"]


def golden(make):
    builder, neurons = make()
    net = Net(builder.save(), torch.float64)
    rng = np.random.RandomState(99)
    x = rng.standard_normal([SAMPLES] + builder.shape).astype(np.float32)
    labels = rng.randint(0, 5, SAMPLES).astype(np.int64)
    out = {"x": x, "labels": labels}
    data = torch.from_numpy(x).double().requires_grad_(True)
    values = net.run(data)
    loss = torch.nn.functional.cross_entropy(values["logits"], torch.from_numpy(labels),
                                             reduction="sum")
    leaves = {n: w for n, w in net.weights.items() if n not in ("low", "high")}
    grads = torch.autograd.grad(loss, [data] + list(leaves.values()), retain_graph=True)
    out["logits"], out["probs"] = values["logits"], values["probs"]
    out["loss/input"] = grads[0]
    for name, grad in zip(leaves, grads[1:]):
        out["loss/" + name] = grad
    for neuron in neurons:
        layer, index = neuron.rsplit(":", 1)
        channel = values[net.node_output(layer)][:, int(index)]
        out["neuron/" + neuron], = torch.autograd.grad(
            channel.reshape(SAMPLES, -1).mean(1).sum(), data, retain_graph=True)
        assert float(out["neuron/" + neuron].abs().max()) > 0, "dead neuron " + neuron
    arrays = {k: v.detach().float().numpy() if torch.is_tensor(v) else v for k, v in out.items()}
    np.savez(os.path.join(HERE, builder.name + ".npz"), **arrays)
    print(builder.name, "samples", SAMPLES, "loss", float(loss))


if __name__ == "__main__":
    for network in (lenet, residual, mobile):
        golden(network)
