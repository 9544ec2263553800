#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Makes tests/generate/models/raise.onnx and raise.npz (Debian: python3-onnx python3-torch).

raise.onnx is a small convolutional network that takes 8-bit pictures with its own scale, mean and std. raise.npz is a
data set for it (x, y), and what PyTorch makes of it by Algorithm 2 of DeepFault, spelt out neuron by neuron: for each
tap the mean gradient of each row's neurons with respect to the network's input, and the pixels after a step.
"""
import os

import numpy as np
import onnx
import torch
import torch.nn.functional as F
from onnx import TensorProto, helper, numpy_helper

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "models")
MEAN, STD = (0.5, 0.4, 0.3), (0.25, 0.2, 0.5)
STEP, DISTANCE = 0.4, 0.05
# rows take turns; (layer, unit) of conv1, conv2, fc1: units of convolutions are channel means
LISTS = [[(0, 1)], [(0, 4), (1, 0), (2, 7)], [(2, 3), (2, 4), (2, 5), (1, 2)]]


def network():
    rng = np.random.default_rng(6)
    draw = lambda *shape: (rng.standard_normal(shape) / np.sqrt(np.prod(shape[1:]))).astype(np.float32)
    w = {"w1": draw(5, 3, 3, 3), "b1": draw(5, 1)[:, 0], "w2": draw(4, 5, 3, 3), "b2": draw(4, 1)[:, 0],
         "w3": draw(8, 64), "b3": draw(8, 1)[:, 0], "w4": draw(4, 8), "b4": draw(4, 1)[:, 0]}
    node = helper.make_node
    nodes = [node("Conv", ["x", "w1", "b1"], ["c1"], name="conv1", pads=[1, 1, 1, 1]),
             node("LeakyRelu", ["c1"], ["a1"], name="act1", alpha=0.01),
             node("MaxPool", ["a1"], ["p1"], name="pool1", kernel_shape=[2, 2], strides=[2, 2]),
             node("Conv", ["p1", "w2", "b2"], ["c2"], name="conv2", pads=[1, 1, 1, 1]),
             node("Relu", ["c2"], ["a2"], name="act2"),
             node("Flatten", ["a2"], ["f"], name="flat"),
             node("Gemm", ["f", "w3", "b3"], ["g1"], name="fc1", transB=1),
             node("LeakyRelu", ["g1"], ["a3"], name="act3", alpha=0.01),
             node("Gemm", ["a3", "w4", "b4"], ["logits"], name="fc2", transB=1)]
    graph = helper.make_graph(nodes, "raise",
                              [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 3, 8, 8])],
                              [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["N", 4])],
                              [numpy_helper.from_array(v, k) for k, v in w.items()])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=7,
                              producer_name="make_golden")
    for key, text in (("plexor.mean", "0.5,0.4,0.3"), ("plexor.std", "0.25,0.2,0.5")):
        model.metadata_props.add(key=key, value=text)
    onnx.checker.check_model(model)
    onnx.save(model, os.path.join(HERE, "raise.onnx"))
    return {k: torch.from_numpy(v) for k, v in w.items()}


def neurons(w, x, tap):
    c1 = F.conv2d(x, w["w1"], w["b1"], padding=1)
    a1 = F.leaky_relu(c1, 0.01)
    c2 = F.conv2d(F.max_pool2d(a1, 2), w["w2"], w["b2"], padding=1)
    a2 = F.relu(c2)
    g1 = a2.flatten(1) @ w["w3"].T + w["b3"]
    a3 = F.leaky_relu(g1, 0.01)
    chosen = (c1, c2, g1) if tap == "pre" else (a1, a2, a3)
    views = [t.mean((2, 3)) if t.dim() == 4 else t for t in chosen]
    return views, a3 @ w["w4"].T + w["b4"]


def main():
    w = network()
    rng = np.random.default_rng(7)
    pixels = rng.integers(0, 256, (12, 3, 8, 8), dtype=np.uint8)
    mean, std = (torch.tensor(v)[:, None, None] for v in (MEAN, STD))
    arrays = {"x": pixels}
    scaled = torch.from_numpy(pixels).float() / 255
    for tap in ("pre", "post"):
        gradients, made = [], []
        for row, s in enumerate(scaled):
            x = ((s - mean) / std)[None].requires_grad_()
            views, logits = neurons(w, x, tap)
            chosen = LISTS[row % len(LISTS)]
            # one gradient per neuron, then their mean: what plexor does in one pass
            each = [torch.autograd.grad(views[layer][0, unit], x, retain_graph=True)[0][0]
                    for layer, unit in chosen]
            mean_gradient = sum(g.double() for g in each) / len(each)
            gradients.append(mean_gradient.float().numpy())
            step = (STEP * mean_gradient / std.double()).clamp(-DISTANCE, DISTANCE)
            made.append(((s.double() + step).clamp(0, 1) * 255).numpy())
        arrays[f"gradient_{tap}"] = np.stack(gradients)
        arrays[f"exact_{tap}"] = np.stack(made).astype(np.float32)
    arrays["y"] = neurons(w, (scaled - mean) / std, "pre")[1].argmax(1).numpy().astype(np.int64)
    np.savez(os.path.join(HERE, "raise.npz"), **{k: arrays[k] for k in ("x", "y")})
    np.savez(os.path.join(HERE, "raise_golden.npz"), **{k: v for k, v in arrays.items() if k not in ("x", "y")})
    print(np.bincount(arrays["y"], minlength=4), {k: v.nbytes for k, v in arrays.items()})


main()
