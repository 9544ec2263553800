#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the small networks in tests/cli/models (Debian: python3-onnx python3-numpy python3-torch).

    tests/cli/make_models.py PLEXOR

They are committed; this is how they were made. `digits.onnx` is trained on plexor's own procedural digits,
which are read through PLEXOR with a network that passes pixels on.
"""
import json
import os
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "models")
FLOAT, INT64 = TensorProto.FLOAT, TensorProto.INT64


def value(name, shape, dtype=FLOAT):
    return helper.make_tensor_value_info(name, dtype, shape)


def save(name, nodes, inputs, outputs, constants=(), metadata=None, opset=13, domains=()):
    graph = helper.make_graph(nodes, name, inputs, outputs,
                              [numpy_helper.from_array(v, k) for k, v in dict(constants).items()])
    imports = [helper.make_opsetid("", opset)] + [helper.make_opsetid(d, 1) for d in domains]
    model = helper.make_model(graph, opset_imports=imports, ir_version=7, producer_name="make_models")
    for key, text in (metadata or {}).items():
        model.metadata_props.add(key=key, value=text)
    if not domains:
        onnx.checker.check_model(model)
    onnx.save(model, os.path.join(HERE, name + ".onnx"))


def small():
    node = helper.make_node
    rng = np.random.default_rng(1)

    # two inputs, and an output with one row per sample
    save("two", [node("Add", ["a", "b"], ["sum"], name="add")],
         [value("a", ["N", 3]), value("b", ["N", 3])], [value("sum", ["N", 3])])
    # the batch axis does not survive: must run as a whole
    save("mean", [node("ReduceMean", ["x"], ["mean"], name="mean", axes=[0], keepdims=0)],
         [value("x", ["N", 3])], [value("mean", [3])])
    # whole numbers in, a table row out
    save("table", [node("Gather", ["rows", "index"], ["y"], name="gather")],
         [value("index", ["N"], INT64)], [value("y", ["N", 2])],
         {"rows": np.arange(8, dtype=np.float32).reshape(4, 2)})
    # height and width are left open
    weights = rng.standard_normal((4, 1, 3, 3)).astype(np.float32)
    save("open", [node("Conv", ["x", "w"], ["c"], name="conv", pads=[1, 1, 1, 1]),
                  node("Relu", ["c"], ["r"], name="relu"),
                  node("GlobalAveragePool", ["r"], ["g"], name="pool"),
                  node("Flatten", ["g"], ["logits"], name="flat")],
         [value("x", ["N", 1, "H", "W"])], [value("logits", ["N", 4])], {"w": weights})
    # nothing goes in
    save("none", [node("Relu", ["c"], ["y"], name="relu")], [], [value("y", [1, 3])], {"c": np.ones((1, 3), np.float32)})
    # the exporter's own batch is in the graph, so it cannot be changed
    save("baked", [node("Reshape", ["x", "one"], ["r"], name="reshape"), node("Relu", ["r"], ["y"], name="relu")],
         [value("x", [1, 3])], [value("y", [1, 3])], {"one": np.array([1, 3], np.int64)})
    # logits first, probabilities second
    save("heads", [node("Gemm", ["x", "w"], ["logits"], name="fc"),
                   node("Softmax", ["logits"], ["probs"], name="prob", axis=1)],
         [value("x", ["N", 3])], [value("logits", ["N", 2]), value("probs", ["N", 2])],
         {"w": rng.standard_normal((3, 2)).astype(np.float32)})
    # an operator nobody has
    save("odd", [node("Relu", ["x"], ["r"], name="relu"),
                 node("Warp", ["r"], ["y"], name="warp_3", domain="com.example"),
                 node("Warp", ["y"], ["z"], name="warp_4", domain="com.example")],
         [value("x", ["N", 3])], [value("z", ["N", 3])], domains=["com.example"])
    # scores that are not numbers, and scores that are all the same
    head = [node("GlobalAveragePool", ["x"], ["g"], name="pool"),
            node("Flatten", ["g"], ["f"], name="flat")]
    images, scores = [value("x", ["N", 1, 28, 28])], [value("logits", ["N", 10])]
    save("nan", head + [node("Sub", ["f", "two"], ["m"], name="sub"), node("Log", ["m"], ["l"], name="log"),
                        node("Gemm", ["l", "w"], ["logits"], name="fc")], images, scores,
         {"two": np.full((), 2, np.float32), "w": np.ones((1, 10), np.float32)})
    save("guess", head + [node("Gemm", ["f", "w"], ["logits"], name="fc")], images, scores,
         {"w": np.zeros((1, 10), np.float32)})
    # for train: fewer classes than the digits, and something flat on the way to the weights
    few = [value("logits", ["N", 2])]
    save("two_classes", head + [node("Gemm", ["f", "w"], ["logits"], name="fc")], images, few,
         {"w": np.zeros((1, 2), np.float32)})
    save("no_gradient", head + [node("Gemm", ["f", "v"], ["h"], name="fc1"),
                                node("QuantizeLinear", ["h", "one", "zero"], ["q"], name="quantize"),
                                node("MatMulInteger", ["q", "wq"], ["i"], name="matmul_int"),
                                node("Cast", ["i"], ["c"], name="cast", to=FLOAT),
                                node("Gemm", ["c", "w"], ["logits"], name="fc2")], images, scores,
         {"v": np.ones((1, 4), np.float32), "wq": np.ones((4, 4), np.int8), "w": np.ones((4, 10), np.float32),
          "one": np.ones((), np.float32), "zero": np.zeros((), np.uint8)})


def digits(plexor):
    import torch
    from torch import nn

    def pixels(split, count):
        with tempfile.TemporaryDirectory() as folder:
            path, out = os.path.join(folder, "pass.onnx"), os.path.join(folder, "t.npz")
            graph = helper.make_graph(
                [helper.make_node("Conv", ["x", "w"], ["y"], name="pass")], "pass",
                [value("x", ["N", 1, 28, 28])], [value("y", ["N", 1, 28, 28])],
                [numpy_helper.from_array(np.ones((1, 1, 1, 1), np.float32), "w")])
            onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)],
                                        ir_version=7), path)
            subprocess.run([plexor, "trace", path, "--data", "digits", "--split", split, "--limit",
                            str(count), "--layers", "all", "--neurons", "unit", "-q", "-o", out],
                           check=True, stdout=subprocess.DEVNULL)
            arrays = np.load(out)
            return (torch.from_numpy(arrays["pass"].reshape(-1, 1, 28, 28)),
                    torch.from_numpy(arrays["labels"]))

    torch.manual_seed(1)
    torch.set_num_threads(1)
    x, y = pixels("train", 5000)
    test_x, test_y = pixels("test", 1000)
    net = nn.Sequential(nn.Conv2d(1, 6, 5, stride=2), nn.ReLU(), nn.Conv2d(6, 10, 5, stride=2), nn.ReLU(),
                        nn.Flatten(), nn.Linear(160, 10), nn.Softmax(1))
    optimiser = torch.optim.Adam(net.parameters(), 3e-3)
    for _ in range(8):
        for rows in torch.randperm(len(x)).split(64):
            optimiser.zero_grad()
            nn.functional.cross_entropy(net[:-1](x[rows]), y[rows]).backward()
            optimiser.step()
    net.eval()
    print("digits: test accuracy", (net(test_x).argmax(1) == test_y).float().mean().item())
    path = os.path.join(HERE, "digits.onnx")
    torch.onnx.export(net, x[:1], path, input_names=["input"], output_names=["probs"], opset_version=13,
                      dynamic_axes={"input": {0: "N"}, "probs": {0: "N"}})
    model = onnx.load(path)
    model.metadata_props.add(key="plexor.classes", value=json.dumps([f"digit {i}" for i in range(10)]))
    onnx.save(model, path)


os.makedirs(HERE, exist_ok=True)
small()
if len(sys.argv) > 1:
    digits(sys.argv[1])
