#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What `plexor train` writes, read by others.

    trained_in_torch.py PLEXOR        prints TAP; skips where torch or onnx is absent

Networks are trained for a moment on the procedural digits, then: onnx.checker accepts the file, with
shapes; PyTorch, rebuilt from the file, gives the logits that `plexor run` gives, within 1e-4 of the
largest; batch normalisation's statistics have moved; the preprocessing in the metadata is what
numpy measures on the data; and a step towards soft targets is PyTorch's, within 1e-5.
"""
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "bench"))

try:
    import numpy as np
    import onnx
    import torch

    from onnx_to_torch import Network
except ImportError as missing:
    print("1..0 # SKIP needs python3-torch and python3-onnx:", missing)
    sys.exit(0)

LIMIT = 1e-4
CASES = {  # options of train, and whether there are statistics that must have moved
    "lenet5": ([], False),
    "resnet8": (["--size", "16x16", "--augment", "crop:1"], True),
    "cifar-1x16": (["--dropout", "0.3"], False),
    "mlp-2x20": (["--optimizer", "adamw", "--loss", "mse"], False),
}


def run(*words):
    return subprocess.run(words, check=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE).stdout


def compare(plexor, folder, arch, options, moves):
    path, x_path, y_path = (os.path.join(folder, n) for n in ("net.onnx", "x.npy", "y.npy"))
    run(plexor, "train", "--arch", arch, "--data", "digits", "--train-limit", "256", "--test", "none",
        "--epochs", "2", "--batch", "64", "--quiet", "-o", path, *options)
    model = onnx.load(path)
    onnx.checker.check_model(model, full_check=True)
    if moves:
        means = [i for n in model.graph.node if n.op_type == "BatchNormalization" for i in n.input[3:4]]
        values = {t.name: onnx.numpy_helper.to_array(t) for t in model.graph.initializer}
        if not means or not all(np.abs(values[m]).max() > 0 for m in means):
            return "running statistics have not moved"
    net = Network(path)
    x = np.random.default_rng(1).standard_normal((5, *net.input_shape)).astype(np.float32)
    np.save(x_path, x)
    run(plexor, "run", path, "--input", x_path, "-o", y_path, "--tensor", "logits")
    with torch.no_grad():
        want = net.logits(torch.from_numpy(x)).numpy()
    error = float(np.abs(np.load(y_path) - want).max() / np.abs(want).max())
    return "" if error < LIMIT else f"logits differ by {error:.1e}"


def measured(plexor, folder):
    """Pixels come through a network that passes them on."""
    helper = onnx.helper
    path, npz = os.path.join(folder, "pass.onnx"), os.path.join(folder, "pixels.npz")
    value = [helper.make_tensor_value_info(n, onnx.TensorProto.FLOAT, ["N", 1, 28, 28]) for n in "xy"]
    graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"], name="pass")], "g", value[:1], value[1:])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=7), path)
    run(plexor, "trace", path, "--data", "digits", "--split", "train", "--limit", "256", "--layers", "all",
        "--neurons", "unit", "-o", npz)
    pixels = np.load(npz)["pass"].astype(np.float64)
    metadata = {p.key: p.value for p in onnx.load(os.path.join(folder, "net.onnx")).metadata_props}
    got = float(metadata["plexor.mean"]), float(metadata["plexor.std"])
    want = pixels.mean(), pixels.std()
    return "" if np.allclose(got, want, rtol=1e-3) else f"{got}, numpy says {want}"


def soft_step(plexor, folder):
    """One step towards soft targets, from a trained network's weights."""
    before, after, data = (os.path.join(folder, n) for n in ("net.onnx", "soft.onnx", "soft.npz"))
    run(plexor, "train", "--arch", "lenet5", "--data", "digits", "--train-limit", "64", "--test", "none", "--epochs", "1",
        "--quiet", "-o", before)
    rng = np.random.default_rng(2)
    x = rng.standard_normal((32, 1, 28, 28)).astype(np.float32)
    t = rng.dirichlet(np.full(10, 0.5), 32).astype(np.float32)
    faults = []
    for name, options, loss in (
            ("cross-entropy", [], lambda z, t: torch.nn.functional.cross_entropy(z, t)),
            ("smoothed", ["--label-smoothing", "0.2"],
             lambda z, t: torch.nn.functional.cross_entropy(z, t, label_smoothing=0.2)),
            ("mse", ["--loss", "mse"], lambda z, t: torch.nn.functional.mse_loss(z.softmax(1), t)),
            ("labels", ["--hard-labels"], lambda z, t: torch.nn.functional.cross_entropy(z, t.argmax(1)))):
        for order in "CF":
            np.savez(data, x=x, targets=np.asarray(t, order=order))
            run(plexor, "train", before, "--data", data, "--test", "none", "--epochs", "1", "--batch", "32", "--optimizer",
                "sgd", "--lr", "0.5", "--schedule", "constant", "--augment", "none", "--scale", "1", "--mean", "0", "--std",
                "1", "--quiet", "-o", after, *options)
            net = Network(before, trainable=True)
            loss(net.logits(torch.from_numpy(x)), torch.from_numpy(t)).backward()
            got = {i.name: onnx.numpy_helper.to_array(i) for i in onnx.load(after).graph.initializer}
            error = max(float(np.abs(got[n] - (p.detach() - 0.5 * p.grad).numpy()).max())
                        for n, p in net.parameters.items())
            moved = max(float(p.grad.abs().max()) for p in net.parameters.values()) * 0.5
            if not error <= 1e-5 < moved:
                faults.append(f"{name}, order {order}: weights differ by {error:.1e}, the step is {moved:.1e}")
    return "; ".join(faults)


def main():
    plexor = sys.argv[1]
    failed = False
    print(f"1..{len(CASES) + 2}")
    with tempfile.TemporaryDirectory(prefix="plexor-train-") as folder:
        for number, (arch, (options, moves)) in enumerate(CASES.items(), 1):
            fault = compare(plexor, folder, arch, options, moves)
            failed |= bool(fault)
            print(f"{'not ' if fault else ''}ok {number} - {arch} {fault}", flush=True)
        fault = measured(plexor, folder)
        failed |= bool(fault)
        print(f"{'not ' if fault else ''}ok {len(CASES) + 1} - mean and std {fault}")
        fault = soft_step(plexor, folder)
        failed |= bool(fault)
        print(f"{'not ' if fault else ''}ok {len(CASES) + 2} - a step towards soft targets {fault}")
    sys.exit(failed)


main()
