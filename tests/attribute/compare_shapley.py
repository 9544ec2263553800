#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Shapley and Aumann-Shapley values worked out again in PyTorch, in double.

    compare_shapley.py PLEXOR        prints TAP

The small network of the command line tests on digits that Python draws itself, changed by noise that Python adds. Layers of six and ten
channels: every coalition is run through the whole network, and Eq. 5 of DeepSensor is followed by the letter. The diagonal is integrated
with numpy's Gauss-Legendre nodes and autograd's gradients by the masks, one layer at a time and both at once. Without PyTorch, numpy or
onnx everything is skipped and that is said.
"""
import itertools
import json
import math
import os
import subprocess
import sys
import tempfile

try:
    import numpy as np
    import onnx
    import torch
    from onnx import numpy_helper
except ImportError as missing:
    print("1..0 # SKIP needs python3-torch, python3-numpy and python3-onnx:", missing)
    sys.exit(0)

HERE = os.path.dirname(os.path.abspath(__file__))
PLEXOR = os.path.abspath(sys.argv[1])
MODEL = os.path.join(HERE, "..", "cli", "models", "digits.onnx")
PAIRS = 4


class Net:
    """The network with a factor per channel behind both rectifiers."""

    def __init__(self):
        w = {t.name: torch.tensor(numpy_helper.to_array(t)).double() for t in onnx.load(MODEL).graph.initializer}
        self.w = w

    def __call__(self, x, masks):
        f, w = torch.nn.functional, self.w
        h = torch.relu(f.conv2d(x, w["0.weight"], w["0.bias"], stride=2)) * masks[0].reshape(-1, 6, 1, 1)
        h = torch.relu(f.conv2d(h, w["2.weight"], w["2.bias"], stride=2)) * masks[1].reshape(-1, 10, 1, 1)
        return h.flatten(1) @ w["5.weight"].t() + w["5.bias"]

    def loss(self, x, label, masks):
        rows = max(m.shape[0] for m in masks)
        logits = self(x, masks)
        logits = logits.expand(rows, -1) if logits.shape[0] == 1 else logits
        return torch.nn.functional.cross_entropy(logits, torch.full((rows,), label), reduction="none")


def ones(channels):
    return torch.ones(1, channels, dtype=torch.float64)


def exact(net, x, moved, label, layer, channels):
    coalitions = torch.tensor(list(itertools.product((0.0, 1.0), repeat=channels)), dtype=torch.float64)
    masks = [coalitions if k == layer else ones(6 if k == 0 else 10) for k in (0, 1)]
    with torch.no_grad():
        u = (net.loss(moved, label, masks) - net.loss(x, label, masks)).numpy()
    value = {tuple(map(int, s)): v for s, v in zip(coalitions.tolist(), u)}
    psi = np.zeros(channels)
    for s, v in value.items():
        size = sum(s)
        for n in range(channels):
            if s[n]:
                without = s[:n] + (0,) + s[n + 1:]
                psi[n] += math.factorial(size - 1) * math.factorial(channels - size) / math.factorial(channels) * (v - value[without])
    return psi


def diagonal(net, x, moved, label, layers, nodes):
    at, weights = np.polynomial.legendre.leggauss(nodes)
    psi = [np.zeros(6), np.zeros(10)]
    for sign, side in ((1.0, moved), (-1.0, x)):
        for q, weight in zip(0.5 + 0.5 * at, 0.5 * weights):
            masks = [(ones(c) * (q if k in layers else 1.0)).requires_grad_(True) for k, c in enumerate((6, 10))]
            net.loss(side, label, masks).sum().backward()
            for k in layers:
                psi[k] += sign * weight * masks[k].grad[0].numpy()
    return psi


def draw(rng):
    """Strokes on black: something that the network has an opinion about."""
    picture = np.zeros((28, 28), dtype=np.float32)
    for _ in range(3):
        y, x, dy, dx = rng.uniform(6, 22), rng.uniform(6, 22), rng.uniform(-1, 1), rng.uniform(-1, 1)
        for _ in range(14):
            picture[int(min(max(y, 0), 26)):int(min(max(y, 0), 26)) + 2, int(min(max(x, 0), 26)):int(min(max(x, 0), 26)) + 2] = 1.0
            y, x = y + dy, x + dx
    return picture


def main():
    net, rng = Net(), np.random.RandomState(3)
    xs = np.stack([draw(rng) for _ in range(PAIRS)])[:, None]
    moved = np.clip(xs + rng.uniform(-0.3, 0.3, xs.shape), 0, 1).astype(np.float32)
    one = [torch.ones(1, c, dtype=torch.float64) for c in (6, 10)]
    with torch.no_grad():
        labels = net(torch.tensor(xs).double(), one).argmax(1).numpy().astype(np.int64)
    cases = [("sampled", ["--estimator", "sampled", "--permutations", "400"], lambda *a: [exact(*a, 0, 6), exact(*a, 1, 10)]),
             ("aumann-layer", ["--estimator", "aumann-layer", "--nodes", "8"],
              lambda *a: [diagonal(*a, (0,), 8)[0], diagonal(*a, (1,), 8)[1]]),
             ("aumann", ["--estimator", "aumann", "--nodes", "11"], lambda *a: diagonal(*a, (0, 1), 11))]
    print("1..%d" % len(cases))
    with tempfile.TemporaryDirectory() as folder:
        paths = [os.path.join(folder, name) for name in ("x.npz", "moved.npz")]
        for path, inputs in zip(paths, (xs, moved)):
            np.savez(path, inputs=inputs, labels=labels)
        for number, (name, options, reference) in enumerate(cases, 1):
            words = [PLEXOR, "localize", MODEL, "--data", paths[0], "--adversarial", paths[1], "--measure", "shapley", "--pooled", "--json", "-q"]
            done = subprocess.run(words + options, capture_output=True, text=True)
            if done.returncode:
                print("not ok %d - %s\n# %s" % (number, name, done.stderr.strip()))
                continue
            got = json.loads(done.stdout)
            want = [sum(parts) / PAIRS for parts in zip(*(
                reference(net, torch.tensor(a)[None].double(), torch.tensor(b)[None].double(), int(y)) for a, b, y in zip(xs, moved, labels)))]
            worst = max(float(np.abs(np.array(layer["values"]) - v).max()) for layer, v in zip(got["layers"], want))
            scale = max(float(np.abs(v).max()) for v in want)
            ok = got["used"] == PAIRS and worst < 2e-5 * (1.0 + scale)
            print("%s %d - %s: %d pairs, largest difference %.2g of values up to %.3g" % ("ok" if ok else "not ok", number, name, got["used"], worst, scale))


if __name__ == "__main__":
    main()
