#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Makes tests/generate/models/rival.onnx and ascent_golden.npz (Debian: python3-onnx python3-torch).

rival.onnx has the architecture of raise.onnx (make_golden.py) and other weights and preprocessing. ascent_golden.npz
has, for the pictures of raise.npz, what PyTorch makes of one step of each engine that follows gradients: the gradient
by scaled pixels, and the pixels in levels after the step, unrounded. Objectives are spelt out in PLAN; units are counted
as DeepXplore does: act1 5, pool1 5, act2 4, act3 8, logits 4.
"""
import os

import numpy as np
import onnx
import torch
import torch.nn.functional as F
from onnx import numpy_helper

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "models")
# per engine: (network, {class: weight}, {unit: weight}); the sum is climbed
PLAN = {
    "deepxplore": [("raise", {2: -1.0}, {3: 0.1}), ("rival", {2: 1.0}, {12: 0.1})],
    "dlfuzz": [("raise", {0: -1.0, 1: 0.5, 2: 0.5, 3: 0.5}, {1: 0.5, 7: 0.5, 15: -0.5, 23: 0.5})],
    "adapt": [("raise", {1: -0.5}, {0: 0.5, 6: 0.5, 11: 0.5, 20: 0.5, 25: 0.5})],
}
STEP = {"deepxplore": 0.3, "dlfuzz": 0.02, "adapt": 0.1}


def load(name):
    model = onnx.load(os.path.join(HERE, name + ".onnx"))
    props = {p.key: [float(v) for v in p.value.split(",")] for p in model.metadata_props}
    return {t.name: torch.from_numpy(numpy_helper.to_array(t).copy()) for t in model.graph.initializer}, props


def make_rival():
    model = onnx.load(os.path.join(HERE, "raise.onnx"))
    rng = np.random.default_rng(8)
    for t in model.graph.initializer:
        old = numpy_helper.to_array(t)
        scale = np.sqrt(np.prod(old.shape[1:])) if old.ndim > 1 else 2.0
        t.CopyFrom(numpy_helper.from_array((rng.standard_normal(old.shape) / scale).astype(np.float32), t.name))
    del model.metadata_props[:]
    for key, text in (("plexor.mean", "0.2,0.3,0.4"), ("plexor.std", "0.5,0.5,0.25")):
        model.metadata_props.add(key=key, value=text)
    model.producer_name = "make_ascent"
    onnx.checker.check_model(model)
    onnx.save(model, os.path.join(HERE, "rival.onnx"))


def units(w, x):
    a1 = F.leaky_relu(F.conv2d(x, w["w1"], w["b1"], padding=1), 0.01)
    p1 = F.max_pool2d(a1, 2)
    a2 = F.relu(F.conv2d(p1, w["w2"], w["b2"], padding=1))
    a3 = F.leaky_relu(a2.flatten(1) @ w["w3"].T + w["b3"], 0.01)
    logits = a3 @ w["w4"].T + w["b4"]
    plain = torch.cat([a1.mean((2, 3)), p1.mean((2, 3)), a2.mean((2, 3)), a3, logits], 1)
    scaled = []
    for t in (a1, p1, a2, a3, logits):
        flat = t.flatten(1)
        low, high = flat.min(1).values, flat.max(1).values
        shape = [-1] + [1] * (t.dim() - 1)
        s = (t - low.view(shape)) / (high - low).view(shape)
        scaled.append(s.mean((2, 3)) if s.dim() == 4 else s)
    return plain, logits, torch.cat(scaled, 1)


def main():
    make_rival()
    pixels = np.load(os.path.join(HERE, "raise.npz"))["x"][:6]
    out = {}
    nets = {name: load(name) for name in ("raise", "rival")}
    for engine, parts in PLAN.items():
        gradients, moved = [], []
        for picture in pixels:
            s = (torch.from_numpy(picture).double() / 255)[None].requires_grad_()
            total = 0
            for name, classes, neurons in parts:
                w, props = nets[name]
                w = {k: v.double() for k, v in w.items()}
                mean, std = (torch.tensor(props["plexor." + k]).double()[:, None, None] for k in ("mean", "std"))
                plain, logits, _ = units(w, (s - mean) / std)
                total = total + sum(v * logits[0, c] for c, v in classes.items())
                total = total + sum(v * plain[0, u] for u, v in neurons.items())
            g = torch.autograd.grad(total, s)[0][0].numpy()
            gradients.append(g)
            move = g if engine == "adapt" else g / (np.sqrt((g * g).mean()) + 1e-5)
            if engine == "deepxplore":  # light
                move = np.full_like(move, move.mean())
            moved.append(np.clip(picture + STEP[engine] * 255 * move, 0, 255))
        out[engine + "_gradient"] = np.stack(gradients).astype(np.float32)
        out[engine + "_moved"] = np.stack(moved).astype(np.float32)
    w, props = nets["raise"]
    mean, std = (torch.tensor(props["plexor." + k])[:, None, None] for k in ("mean", "std"))
    _, logits, scaled = units(w, (torch.from_numpy(pixels).float() / 255 - mean) / std)
    out["scores"], out["scaled"] = logits.numpy(), scaled.numpy()
    # the mean incoming weight of each unit; none for pooling
    out["weights"] = np.concatenate([w["w1"].mean((1, 2, 3)), np.zeros(5), w["w2"].mean((1, 2, 3)), w["w3"].mean(1),
                                     w["w4"].mean(1)]).astype(np.float64)
    np.savez_compressed(os.path.join(HERE, "ascent_golden.npz"), **out)


if __name__ == "__main__":
    main()
