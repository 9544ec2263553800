#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Writes what PyTorch makes of NaN and infinity, for test_not_finite.c.

    /usr/bin/python3 make_not_finite.py    (python3-torch, python3-onnx; writes beside itself)

NAME.onnx, or one of make_golden.py's networks, comes with not_finite_NAME.npz: x, the values of
`keep` as `value/TENSOR`, and `loss/input`, the gradient of the sum of the first output. Samples:
finite; one NaN; one +infinity; one -infinity; both infinities side by side; all NaN.
"""
import os

import numpy as np
import torch

from make_golden import HERE, Builder
from onnx_torch import Net

SAMPLES = 6
torch.backends.mkldnn.enabled = False  # plain sums, nothing that spreads or hides what is not finite


def save(b, outputs, opset=14):
    import onnx
    from onnx import TensorProto, helper
    graph = helper.make_graph(
        b.nodes, b.name,
        [helper.make_tensor_value_info("input", TensorProto.FLOAT, ["N"] + b.shape)],
        [helper.make_tensor_value_info(o, TensorProto.FLOAT, None) for o in outputs], b.weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=7)
    path = os.path.join(HERE, b.name + ".onnx")
    onnx.save(model, path)
    return path


def inputs(shape):
    x = np.random.RandomState(7).standard_normal([SAMPLES] + shape).astype(np.float32)
    at = tuple(n // 2 for n in shape)
    beside = at[:-1] + (at[-1] - 1,)
    for sample, value in ((1, np.nan), (2, np.inf), (3, -np.inf), (4, np.inf)):
        x[(sample,) + at] = value
    x[(4,) + beside] = -np.inf
    x[5] = np.nan
    return x


def operators():
    """Every operator that could hide what is not finite, on the input itself."""
    b = Builder("wild_operators", [3, 6, 6], 11)
    b.constant("low", np.float32(-0.5))
    b.constant("high", np.float32(0.75))
    other = b.constant("other", np.linspace(-1, 1, 6, dtype=np.float32))
    slope = b.weight("slope", 3, 1, 1, scale=0.2)
    made = [b.bn("BatchNormalization", "input", 3)]
    for type_, extra, attributes in (
            ("Relu", [], {}), ("LeakyRelu", [], {"alpha": 0.2}), ("Clip", ["low", "high"], {}),
            ("Elu", [], {}), ("Selu", [], {}), ("PRelu", [slope], {}), ("Sigmoid", [], {}),
            ("Tanh", [], {}), ("HardSigmoid", [], {}), ("HardSwish", [], {}), ("Softplus", [], {}),
            ("Max", [other], {}), ("Min", [other], {}), ("Erf", [], {}),
            ("Softmax", [], {"axis": 1}), ("LogSoftmax", [], {"axis": 1}),
            ("MaxPool", [], {"kernel_shape": [2, 2], "strides": [2, 2]}),
            ("AveragePool", [], {"kernel_shape": [2, 2], "strides": [2, 2]}),
            ("GlobalMaxPool", [], {}), ("GlobalAveragePool", [], {}),
            ("ReduceMax", [], {"axes": [1]}), ("ReduceMean", [], {"axes": [1]})):
        made.append(b.node(type_, type_, ["input"] + extra, **attributes))
    made.append(b.node("MaxPool", "MaxPool3", ["input"], kernel_shape=[3, 3], strides=[2, 2]))
    made.append(b.node("Max", "Max2", [other, "input"]))
    made.append(b.node("Softmax", "Softmax3", ["input"], axis=3))
    return b, made


def activations(b, x, tag, which):
    made = []
    for kind in which:
        name = "%s_%s" % (tag, kind)
        if kind == "relu6":
            made.append(b.relu6(name, x(name)))
        else:
            attributes = {"alpha": 0.1} if kind == "LeakyRelu" else {}
            made.append(b.node(kind, name, [x(name)], **attributes))
    return made


def fused():
    """Each activation behind each kind of convolution and product."""
    b = Builder("wild_fused", [16, 5, 5], 12)
    smooth = ["LeakyRelu", "Sigmoid", "Tanh", "Elu", "HardSwish"]
    both = ["Relu", "relu6"]
    made = activations(b, lambda n: b.conv(n + "_c", "input", 16, 16, 3, 1), "square", both)
    made += activations(b, lambda n: b.conv(n + "_c", "input", 16, 24, 1), "point", both)
    made += activations(b, lambda n: b.conv(n + "_c", "input", 16, 16, 3, 1, group=16), "deep", both)
    made += activations(b, lambda n: b.conv(n + "_c", "input", 16, 8, 3, 1, 2), "stride",
                        both + smooth)
    made += activations(b, lambda n: b.node("Add", n + "_a", [
        b.conv(n + "_c", "input", 16, 16, 3, 1), "input"]), "sum", both)
    flat = b.node("Flatten", "flat", ["input"], axis=1)
    made += activations(b, lambda n: b.node("Gemm", n + "_g", [
        flat, b.weight(n + ".weight", 400, 6), b.weight(n + ".bias", 6, scale=0.1)]), "dense",
        both + smooth)
    return b, made


def narrow():
    """Few result channels on wide rows: a kernel of its own."""
    b = Builder("wild_narrow", [2, 4, 9], 13)
    return b, activations(b, lambda n: b.conv(n + "_c", "input", 2, 3, 3, 1), "narrow",
                          ["Relu", "relu6", "LeakyRelu"])


def golden(path, shape, keep):
    net = Net(path)
    x = inputs(shape)
    data = torch.from_numpy(x).requires_grad_(True)
    values = net.run(data)
    out = {"x": x}
    out["loss/input"], = torch.autograd.grad(values[keep[0]].sum(), data)
    for name in keep:
        out["value/" + name] = values[name].detach().numpy()
    name = os.path.basename(path)[:-len(".onnx")]
    np.savez_compressed(os.path.join(HERE, "not_finite_%s.npz" % name), **out)
    print(name, len(keep), "values,", int(np.isnan(out["value/" + keep[-1]]).sum()), "NaN at the end")


if __name__ == "__main__":
    for make in (operators, fused, narrow):
        builder, made = make()
        golden(save(builder, made), builder.shape, made)
    for name, shape, keep in (
            ("tiny_lenet", [1, 12, 12], ["probs", "relu1", "pool1", "relu2", "pool2", "leaky1", "logits"]),
            ("tiny_residual", [3, 8, 8], ["probs", "stem", "b1_relu2", "b2_relu1", "b2_relu2", "logits"]),
            ("tiny_mobile", [3, 8, 8], ["probs", "stem", "b1_clip", "b1_bn2", "b2_clip2", "b2_add",
                                        "last", "logits"])):
        golden(os.path.join(HERE, name + ".onnx"), shape, keep)
