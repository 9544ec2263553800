#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Relevance of a trained LeNet-5 beside PyTorch's, in double.

    compare_relevance.py RELEVANCE_ROWS      prints TAP; skips where torch, onnx or ../shared is absent

The rule is written with autograd: R_in = a+ dP/da+ (S+) ... of one layer at a time.
"""
import os
import subprocess
import sys


def skip(why):
    print("1..0 # SKIP " + why)
    sys.exit(0)


try:
    import numpy as np
    import onnx
    import torch
    from onnx import numpy_helper
except ImportError as missing:
    skip(str(missing))

HERE = os.path.dirname(os.path.abspath(__file__))
SHARED = os.environ.get("PLEXOR_SHARED", os.path.join(HERE, "..", "..", "..", "shared"))
MODEL = os.path.join(SHARED, "models", "lenet5.onnx")
if not os.path.exists(MODEL):
    skip("no " + MODEL)

W = {i.name: torch.tensor(numpy_helper.to_array(i), dtype=torch.float64)
     for i in onnx.load(MODEL).graph.initializer}
F = torch.nn.functional
BETA = 0.5


def rule(op, a, w, r):
    """All activations here are behind a ReLU, so a- is zero."""
    out = torch.zeros_like(a)
    p, n = op(a, w.clamp(min=0)), op(a, w.clamp(max=0))
    for total, other, part, factor in ((p, n, w.clamp(min=0), 1 + BETA),
                                       (n, p, w.clamp(max=0), -BETA)):
        scale = torch.where(other == 0, torch.ones_like(r), torch.full_like(r, factor))
        moved = total + 1e-6 * torch.sign(total)
        s = torch.where(total == 0, torch.zeros_like(r),
                        scale * r / torch.where(total == 0, torch.ones_like(r), moved))
        x = a.clone().requires_grad_(True)
        out += a * torch.autograd.grad((op(x, part) * s).sum(), x)[0]
    return out


def conv(a, w):
    return F.conv2d(a, w, padding=2)


def product(a, w):
    return a @ w


rng = np.random.default_rng(3)
COUNT = 16
x = rng.random((COUNT, 1, 28, 28)).astype(np.float32)
x[:, :, :, :10] *= rng.random((COUNT, 1, 1, 1)) < 0.5
a0 = torch.tensor(x, dtype=torch.float64)
a1 = torch.relu(conv(a0, W["block1_conv1.weight"]) + W["block1_conv1.bias"][:, None, None])
q1, k1 = F.max_pool2d(a1, 2, return_indices=True)
a2 = torch.relu(conv(q1, W["block2_conv1.weight"]) + W["block2_conv1.bias"][:, None, None])
q2, k2 = F.max_pool2d(a2, 2, return_indices=True)
flat = q2.permute(0, 2, 3, 1).reshape(COUNT, -1)
a3 = torch.relu(flat @ W["fc1.weight"] + W["fc1.bias"])
a4 = torch.relu(a3 @ W["fc2.weight"] + W["fc2.bias"])
z = a4 @ W["before_softmax.weight"] + W["before_softmax.bias"]
top = torch.zeros_like(z)
top[range(COUNT), z.argmax(1)] = z.max(1).values
r4 = rule(product, a4, W["before_softmax.weight"], top)
r3 = rule(product, a3, W["fc2.weight"], r4)
rf = rule(product, flat, W["fc1.weight"], r3).reshape(COUNT, 7, 7, 16).permute(0, 3, 1, 2)
r2 = F.max_unpool2d(rf.contiguous(), k2, 2, output_size=a2.shape[2:])
r1 = F.max_unpool2d(rule(conv, q1, W["block2_conv1.weight"], r2), k1, 2, output_size=a1.shape[2:])
want = np.concatenate([r1.sum((2, 3)), r2.sum((2, 3)), r3, r4], 1)

run = subprocess.run([sys.argv[1], MODEL, "hidden", str(COUNT)], input=x.tobytes(),
                     capture_output=True, check=True)
got = np.frombuffer(run.stdout, np.float32).reshape(COUNT, -1)[:, :want.shape[1]]
scale = np.abs(want).max(1, keepdims=True)
error = np.abs(got - want) / scale
print("1..1")
print(f"# largest difference {error.max():.3g} of the largest relevance of an input")
print(("ok" if error.max() <= 1e-4 else "not ok") + " 1 - LeNet-5")
sys.exit(0 if error.max() <= 1e-4 else 1)
