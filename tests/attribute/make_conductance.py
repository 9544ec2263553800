#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Writes conductance_golden.h: contributions of a small convolutional network, by PyTorch.

Every unit's conductance is worked out the long way, from its definition with one backward pass per
point and layer, in float64; the three rules of LGR C.6, and what balances them. Run it in this
folder:

    /usr/bin/python3 make_conductance.py > conductance_golden.h
"""
import textwrap

import numpy as np
import torch

torch.manual_seed(10)
STEPS = 10
INPUT = (2, 6, 6)


def weights(*shape, scale=0.6):
    return (torch.rand(*shape, dtype=torch.float64) * 2 - 1) * scale


PARTS = {"conv1": weights(4, 2, 3, 3), "bias1": weights(4), "conv2": weights(5, 4, 3, 3),
         "bias2": weights(5), "dense": weights(3, 5), "bias3": weights(3)}
for name in PARTS:
    PARTS[name] = PARTS[name].float().double()
X = (torch.rand(2, *INPUT, dtype=torch.float64) * 2 - 1).float().double()
LABELS = (2, 0)


def first(x):
    return torch.relu(torch.nn.functional.conv2d(x, PARTS["conv1"], PARTS["bias1"], padding=1))


def second(h):
    h = torch.nn.functional.max_pool2d(h, 2)
    return torch.relu(torch.nn.functional.conv2d(h, PARTS["conv2"], PARTS["bias2"], padding=1))


def scores(h):
    return h.mean((2, 3)) @ PARTS["dense"].T + PARTS["bias3"]


def at(x, layer, label):
    """The layer's values at x, the gradient of the class score by them, and the score."""
    h = first(x)
    h = second(h) if layer == 1 else h
    h = h.detach().requires_grad_()
    score = scores(h if layer == 1 else second(h))[0, label]
    score.backward()
    return h.detach()[0], h.grad[0], score.item()


def conductance(x, label, layer, rule):
    if rule == "code":
        points = (np.polynomial.legendre.leggauss(STEPS + 1)[0] + 1) / 2
    else:
        points = np.arange(STEPS + 1) / STEPS
    seen = [at(x[None] * w, layer, label) for w in points]
    total = 0
    for (h0, g0, f0), (h1, g1, f1) in zip(seen, seen[1:]):
        part = (h1 - h0) * ((g0 + g1) / 2 if rule in ("trapezoid", "balanced") else g0)
        if rule == "balanced":
            spread = ((h1 - h0) * (g1 - g0)) ** 2
            if spread.sum() > 0:
                part = part + (f1 - f0 - part.sum()) * spread / spread.sum()
        total = total + part
    return total.mean((1, 2))


def numbers(values, suffix=""):
    texts = [f"{float(v):.9g}" for v in np.ravel(values)]
    if suffix:
        texts = [(t if "." in t or "e" in t else t + ".0") + suffix for t in texts]
    return ", ".join(texts)


def array(kind, name, values):
    suffix = "f" if kind == "float" else ""
    text = f"static const {kind} golden_{name}[] = {{{numbers(values, suffix)}}};"
    print("\n".join(textwrap.wrap(text, 98, subsequent_indent="    ")))


print("/* tests/attribute/conductance_golden.h - made by make_conductance.py */")
print("/* clang-format off */")
print(f"enum {{ GOLDEN_STEPS = {STEPS}, GOLDEN_UNITS = 9 }};")
for name, values in PARTS.items():
    array("float", name, values)
array("float", "inputs", X)
array("int64_t", "labels", LABELS)
print("/* [rule][input][unit] */")
print("static const double golden_contributions[4][2][GOLDEN_UNITS] = {")
for rule in ("trapezoid", "left", "code", "balanced"):
    rows = [numbers(torch.cat([conductance(x, label, layer, rule) for layer in (0, 1)]))
            for x, label in zip(X, LABELS)]
    text = "{" + ", ".join("{" + row + "}" for row in rows) + f"}}, /* {rule} */"
    print("\n".join(textwrap.wrap(text, 98, initial_indent="    ", subsequent_indent="     ")))
print("};")
print("/* clang-format on */")
