# SPDX-License-Identifier: Apache-2.0
"""FGSM, BIM, PGD and DeepFool in PyTorch, written plainly, with plexor's random starts.

Pixels are in scaled units (0..1). `scores(x)` gives logits; x has no gradient yet. The starts come from the same
addresses as plexor's: Philox4x32-10 with key = seed, counter = (block, item, restart, 48).
"""
import numpy as np
import torch
import torch.nn.functional as F

ATTACK = 48  # PX_RNG_ATTACK


def philox(seed, item, iteration, blocks):
    """(blocks, 4) words."""
    u64 = np.uint64
    low = u64(0xFFFFFFFF)
    c = [np.arange(blocks, dtype=u64)] + [np.full(blocks, v, u64) for v in (item, iteration, ATTACK)]
    k0, k1 = seed & 0xFFFFFFFF, seed >> 32
    for _ in range(10):
        p0, p1 = u64(0xD2511F53) * c[0], u64(0xCD9E8D57) * c[2]
        c = [(p1 >> u64(32)) ^ c[1] ^ u64(k0), p1 & low, (p0 >> u64(32)) ^ c[3] ^ u64(k1), p0 & low]
        k0, k1 = (k0 + 0x9E3779B9) & 0xFFFFFFFF, (k1 + 0xBB67AE85) & 0xFFFFFFFF
    return np.stack(c, axis=1)


def uniform(seed, item, restart, count):
    words = philox(seed, item, restart, -(-count // 4)).reshape(-1)[:count]
    return (words >> np.uint64(8)).astype(np.float64) * 2.0 ** -24


def start(x, items, eps, norm, seed=0, restart=0):
    """Where plexor begins: x (N, ...) is float32 in units."""
    out = np.empty_like(x)
    size = x[0].size
    for i, item in enumerate(items):
        if norm == "linf":
            move = eps * (2 * uniform(seed, int(item), restart, size) - 1)
        else:
            u = uniform(seed, int(item), restart, 2 * size + 1)
            z = np.sqrt(-2 * np.log(1 - u[0:-1:2])) * np.cos(2 * np.pi * u[1:-1:2])
            move = eps * u[-1] ** (1 / size) * z / np.linalg.norm(z)
        out[i] = np.clip(x[i] + move.reshape(x[i].shape), 0, 1)
    return out


def gradient(scores, x, labels):
    x = x.clone().requires_grad_(True)
    z = scores(x)
    F.cross_entropy(z, labels, reduction="sum").backward()
    return z.detach(), x.grad


def step(x, x0, g, a, eps, norm):
    if norm == "linf":
        x = x + a * g.sign()
        return torch.min(torch.max(x, x0 - eps), x0 + eps).clamp(0, 1)
    size = g.flatten(1).norm(dim=1).clamp_min(1e-12).reshape(-1, *[1] * (g.dim() - 1))
    d = x + a * g / size - x0
    length = d.flatten(1).norm(dim=1).reshape(-1, *[1] * (g.dim() - 1))
    return (x0 + d * (eps / length.clamp_min(1e-30)).clamp_max(1)).clamp(0, 1)


def descend(scores, x0, begin, labels, eps, a, steps, norm, batch=64, trace=None):
    """The results of all steps; `trace` gets (x, gradient, scores) before each."""
    done = []
    for first in range(0, len(x0), batch):
        rows = slice(first, first + batch)
        x = begin[rows].clone()
        for t in range(steps):
            z, g = gradient(scores, x, labels[rows])
            if trace is not None:
                trace.append((t, first, x, g, z))
            x = step(x, x0[rows], g, a, eps, norm)
        done.append(x)
    return torch.cat(done)


def deepfool(scores, x0, labels, norm, free, steps=50, overshoot=0.02, nudge=1e-4):
    """DeepFool towards the nearest of all classes. `free`: for linf |w|_1 is taken over values that are not at the end of the
    range that w leads to, and only these move, as in plexor; without it as in Foolbox."""
    x, total = x0.clone(), torch.zeros_like(x0)
    rows, shape = torch.arange(len(x0)), (-1, *[1] * (x0.dim() - 1))
    for _ in range(steps):
        x.requires_grad_(True)
        z = scores(x)
        moving = z.argmax(1) == labels
        if not moving.any():
            break
        best, direction = torch.full((len(x0),), float("inf")), torch.zeros_like(x0)
        for k in range(1, z.shape[1]):
            f = z[rows, (labels + k) % z.shape[1]] - z[rows, labels]
            w, = torch.autograd.grad(f.sum(), x, retain_graph=True)
            if norm == "l2":
                size = w.flatten(1).norm(dim=1)
                way = w / (size + 1e-8).reshape(shape)
            else:
                way = w.sign()
                if free:
                    way = torch.where(((x < 1) & (w > 0)) | ((x > 0) & (w < 0)), way, torch.zeros_like(w))
                size = (w * way).flatten(1).sum(1)
            distance = (f.abs() / (size + 1e-8)).detach()
            nearer = (distance < best) & (size > 0)
            best = torch.where(nearer, distance, best)
            direction[nearer] = way[nearer]
        length = torch.where(best.isfinite(), best + nudge, torch.zeros_like(best))
        total = total + length.reshape(shape) * direction
        moved = (x0 + (1 + overshoot) * total).clamp(0, 1)
        x = torch.where(moving.reshape(shape), moved, x.detach())
    return x.detach()
