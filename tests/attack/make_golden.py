#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Makes tests/attack/models/net.onnx, data.npz and golden.npz (Debian: python3-onnx python3-torch).

net.onnx is a small convolutional network that takes 8-bit pictures with its own mean and std; data.npz is a data set
for it. golden.npz has what PyTorch makes of them: for each case the pixels after every step (scaled units), and in
`sure` whether every gradient so far was at least a thousandth of the largest one of its input, which had p_y < 0.99: float32
signs of smaller ones are noise.
"""
import os

import numpy as np
import onnx
import torch
import torch.nn.functional as F
from onnx import TensorProto, helper, numpy_helper

import torch_attacks

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "models")
MEAN, STD = (0.5, 0.4, 0.3), (0.25, 0.2, 0.5)
COUNT, CLASSES = 6, 5
CASES = {  # name: (norm, eps, step size, steps, random start)
    "fgsm_linf": ("linf", 0.05, 0.05, 1, False),
    "fgsm_l2": ("l2", 0.5, 0.5, 1, False),
    "bim_linf": ("linf", 0.04, 0.015, 4, False),
    "bim_l2": ("l2", 0.4, 0.15, 4, False),
    "pgd_linf": ("linf", 0.05, 0.02, 5, True),
    "pgd_l2": ("l2", 0.6, 0.2, 5, True),
}
SEED = 7


def network():
    rng = np.random.default_rng(3)
    draw = lambda *shape: (1.5 * rng.standard_normal(shape) / np.sqrt(np.prod(shape[1:]))).astype(np.float32)
    w = {"w1": draw(6, 3, 3, 3), "b1": draw(6, 1)[:, 0], "w2": draw(4, 6, 3, 3), "b2": draw(4, 1)[:, 0],
         "w3": draw(CLASSES, 64), "b3": draw(CLASSES, 1)[:, 0]}
    node = helper.make_node
    nodes = [node("Conv", ["x", "w1", "b1"], ["c1"], name="conv1", pads=[1, 1, 1, 1]),
             node("Relu", ["c1"], ["a1"], name="act1"),
             node("MaxPool", ["a1"], ["p1"], name="pool1", kernel_shape=[2, 2], strides=[2, 2]),
             node("Conv", ["p1", "w2", "b2"], ["c2"], name="conv2", pads=[1, 1, 1, 1]),
             node("Relu", ["c2"], ["a2"], name="act2"),
             node("Flatten", ["a2"], ["f"], name="flat"),
             node("Gemm", ["f", "w3", "b3"], ["logits"], name="fc", transB=1)]
    graph = helper.make_graph(nodes, "net",
                              [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 3, 8, 8])],
                              [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["N", CLASSES])],
                              [numpy_helper.from_array(v, k) for k, v in w.items()])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=7,
                              producer_name="make_golden")
    for key, values in (("plexor.mean", MEAN), ("plexor.std", STD)):
        model.metadata_props.add(key=key, value=",".join(str(v) for v in values))
    onnx.checker.check_model(model)
    onnx.save(model, os.path.join(HERE, "net.onnx"))
    return {k: torch.from_numpy(v) for k, v in w.items()}


def scores_of(w):
    mean, std = (torch.tensor(v).reshape(1, 3, 1, 1) for v in (MEAN, STD))

    def scores(x):
        h = F.relu(F.conv2d((x - mean) / std, w["w1"], w["b1"], padding=1))
        h = F.relu(F.conv2d(F.max_pool2d(h, 2), w["w2"], w["b2"], padding=1))
        return h.flatten(1) @ w["w3"].T + w["b3"]
    return scores


def main():
    torch.set_num_threads(1)
    scores = scores_of(network())
    x = np.random.default_rng(5).integers(0, 256, (COUNT, 3, 8, 8), dtype=np.uint8)
    units = x.astype(np.float32) / np.float32(255)
    with torch.no_grad():
        z = scores(torch.from_numpy(units))
    y = z.argmax(1).numpy().astype(np.int64)
    y[4] = (y[4] + 1) % CLASSES  # one that is wrong to begin with
    np.savez_compressed(os.path.join(HERE, "data.npz"), x=x, y=y)
    golden = {"logits": z.numpy()}
    labels, x0 = torch.from_numpy(y), torch.from_numpy(units)
    for name, (norm, eps, a, steps, random) in CASES.items():
        begin = torch.from_numpy(torch_attacks.start(units, range(COUNT), eps, norm, SEED)) if random else x0
        trace = []
        last = torch_attacks.descend(scores, x0, begin, labels, eps, a, steps, norm, trace=trace)
        after = [t[2] for t in trace[1:]] + [last]
        sure, so_far = [], torch.ones_like(x0, dtype=torch.bool)
        for _, _, _, g, zt in trace:
            most = g.abs().flatten(1).max(1).values.reshape(-1, 1, 1, 1)
            p = torch.softmax(zt, 1)[torch.arange(COUNT), labels].reshape(-1, 1, 1, 1)
            so_far = so_far & (g.abs() >= 1e-3 * most) & (p < 0.99)
            sure.append(so_far)
        golden[name] = torch.stack(after).numpy()
        golden[name + ".sure"] = torch.stack(sure).numpy().astype(np.uint8)
        if random:
            golden[name + ".start"] = begin.numpy()
    np.savez_compressed(os.path.join(HERE, "golden.npz"), **golden)


main()
