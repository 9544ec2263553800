#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Writes ../cover/models/lrp_net.onnx and lrp_golden.h: relevance by the definition (CSM A.9 step 1).

Every linear operator is written out as a matrix (its response to unit vectors, by PyTorch), and
relevance is shared out term by term in double: nothing here convolves backwards.
"""
import os
import numpy as np
import onnx
import torch
from onnx import TensorProto, helper, numpy_helper

HERE = os.path.dirname(os.path.abspath(__file__))
BETA = 0.5
rng = np.random.default_rng(20)


def weights(*shape):
    return rng.normal(0, 0.5, shape).astype(np.float32)


def share(a, matrix, relevance):
    """matrix[j, i]; a[i]; relevance[j] -> relevance[i]"""
    z = matrix * a[None, :]
    zp, zn = np.where(z > 0, z, 0), np.where(z < 0, z, 0)
    p, n = zp.sum(1), zn.sum(1)
    out = np.zeros_like(a)
    for j in range(len(relevance)):
        fp = 1 + BETA if n[j] != 0 else 1
        fn = -BETA if p[j] != 0 else 1
        if p[j] != 0:
            out += relevance[j] * fp * zp[j] / (p[j] + 1e-6)
        if n[j] != 0:
            out += relevance[j] * fn * zn[j] / (n[j] - 1e-6)
    return out


def matrix_of(op, shape):
    size = int(np.prod(shape))
    eye = torch.eye(size, dtype=torch.float64).reshape((size,) + tuple(shape))
    return op(eye).reshape(size, -1).numpy().T.copy()


class Linear:
    def __init__(self, op, bias, shape):
        self.matrix, self.bias, self.shape = matrix_of(op, shape), bias, shape

    def forward(self, a):
        return self.matrix @ a + self.bias

    def back(self, a, relevance):
        return share(a, self.matrix, relevance)


def conv(w, shape, **options):
    return lambda x: torch.nn.functional.conv2d(x, torch.tensor(w, dtype=torch.float64), **options)


# input (2, 6, 6): may be negative
w1, b1 = weights(4, 2, 3, 3), weights(4)
w2, b2 = weights(4, 2, 3, 3), weights(4)      # two groups
w3, b3 = weights(6, 4, 3, 3), weights(6)      # stride 2
gamma, beta = 1 + weights(4) * 0.2, weights(4) * 0.1
mean, var = weights(4) * 0.1, 1 + np.abs(weights(4))
w4, b4 = weights(5, 18), weights(5) * 0.2
x = rng.normal(0, 1, (3, 2, 6, 6)).astype(np.float32)


def expand(bias, places):
    return np.repeat(bias.astype(np.float64), places)


l1 = Linear(conv(w1, None, padding=1), expand(b1, 36), (2, 6, 6))
l2 = Linear(conv(w2, None, padding=1, groups=2), expand(b2, 36), (4, 6, 6))
l3 = Linear(conv(w3, None, padding=1, stride=2), expand(b3, 9), (4, 6, 6))
pool = Linear(lambda v: torch.nn.functional.avg_pool2d(v, 3, 2), 0, (6, 3, 3))
l4 = Linear(lambda v: v @ torch.tensor(w4.T, dtype=torch.float64), b4.astype(np.float64), (18,))
scale = expand(gamma / np.sqrt(var + 1e-5), 36)
shift = expand(beta - mean * gamma / np.sqrt(var + 1e-5), 36)


def relu(v):
    return np.maximum(v, 0)


def one(sample):
    v = {}
    v["x"] = sample.astype(np.float64).reshape(-1)
    v["r1"] = relu(l1.forward(v["x"]))
    v["n2"] = l2.forward(v["r1"]) * scale + shift
    v["s"] = v["n2"] + v["r1"]
    v["r2"] = relu(v["s"])
    v["r3"] = np.tanh(l3.forward(v["r2"]))           # mixed signs behind it
    v["m"] = pool.forward(v["r3"])                   # (6, 1, 1)
    windows = v["r3"].reshape(6, 3, 3)[:, :2, :2]
    windows = np.stack([windows.reshape(6, 4)], 0)[0]
    v["c"] = np.concatenate([v["m"], windows.max(1), v["m"]])
    v["logits"] = l4.forward(v["c"])
    c = int(np.argmax(v["logits"]))
    r = {"logits": np.where(np.arange(5) == c, v["logits"], 0)}
    r["c"] = l4.back(v["c"], r["logits"])
    r["m"] = r["c"][:6] + r["c"][12:]
    r["r3"] = pool.back(v["r3"], r["m"])
    for ch in range(6):
        k = int(np.argmax(windows[ch]))
        r["r3"][ch * 9 + (k // 2) * 3 + k % 2] += r["c"][6 + ch]
    r["r2"] = l3.back(v["r2"], r["r3"])
    total = np.where(v["s"] == 0, 1, v["s"])
    r["n2"] = np.where(v["s"] == 0, r["r2"] / 2, r["r2"] * v["n2"] / total)
    skip = np.where(v["s"] == 0, r["r2"] / 2, r["r2"] * v["r1"] / total)
    r["r1"] = l2.back(v["r1"], r["n2"]) + skip
    r["x"] = l1.back(v["x"], r["r1"])
    return c, r


def tensor(name, value):
    return numpy_helper.from_array(value.astype(np.float32), name)


nodes = [
    helper.make_node("Conv", ["x", "w1", "b1"], ["c1"], "conv1", pads=[1, 1, 1, 1]),
    helper.make_node("Relu", ["c1"], ["r1"], "relu1"),
    helper.make_node("Conv", ["r1", "w2", "b2"], ["c2"], "conv2", pads=[1, 1, 1, 1], group=2),
    helper.make_node("BatchNormalization", ["c2", "gamma", "beta", "mean", "var"], ["n2"], "norm"),
    helper.make_node("Add", ["n2", "r1"], ["s"], "add"),
    helper.make_node("Relu", ["s"], ["r2"], "relu2"),
    helper.make_node("Conv", ["r2", "w3", "b3"], ["c3"], "conv3", pads=[1, 1, 1, 1],
                     strides=[2, 2]),
    helper.make_node("Tanh", ["c3"], ["r3"], "tanh"),
    helper.make_node("AveragePool", ["r3"], ["m"], "mean", kernel_shape=[3, 3], strides=[2, 2]),
    helper.make_node("MaxPool", ["r3"], ["q"], "max", kernel_shape=[2, 2], strides=[2, 2]),
    helper.make_node("Concat", ["m", "q", "m"], ["cat"], "concat", axis=1),
    helper.make_node("Flatten", ["cat"], ["c"], "flatten"),
    helper.make_node("Gemm", ["c", "w4", "b4"], ["logits"], "fc", transB=1),
]
graph = helper.make_graph(
    nodes, "lrp", [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 2, 6, 6])],
    [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["N", 5])],
    [tensor(n, v) for n, v in dict(w1=w1, b1=b1, w2=w2, b2=b2, w3=w3, b3=b3, w4=w4, b4=b4,
                                   gamma=gamma, beta=beta, mean=mean, var=var).items()])
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])
model.ir_version = 7
onnx.checker.check_model(model)
onnx.save(model, os.path.join(HERE, "..", "cover", "models", "lrp_net.onnx"))


def numbers(name, values):
    text = ",\n    ".join(", ".join(f"{float(v):.9g}" for v in values[i:i + 6])
                          for i in range(0, len(values), 6))
    return f"static const double {name}[] = {{\n    {text},\n}};\n"


with open(os.path.join(HERE, "lrp_golden.h"), "w") as out:
    out.write("/* made by make_lrp.py */\n")
    out.write(numbers("lrp_x", x.reshape(-1)))
    found = [one(s) for s in x]
    out.write("static const int lrp_classes[] = {%s};\n" % ", ".join(str(c) for c, _ in found))
    for name in ("x", "r1", "n2", "r2", "r3", "m", "c"):
        out.write(numbers("lrp_of_" + name, np.concatenate([r[name] for _, r in found])))
