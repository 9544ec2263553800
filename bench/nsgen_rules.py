#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""How near do rules for conductance come? ResNet-20, CIFAR-10, five cut layers, all in PyTorch (docs/explain.md has the table).

    bench/nsgen_rules.py [--build DIR] [--shared DIR] [--first N] [--inputs N]

The truth is taken from 800 trapezoids. Every rule may look at the network 51 times (or at 17, 101, ...: its name says so). For each: the
gap, |sum of contributions - change of the score| as a share of that change, in an image's worst layer; and the error of units, the sum of
|phi - phi'| as a share of the sum of |phi'|, mean over layers. Points that a rule chooses are among the 801. Takes some five seconds an image.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

import numpy as np
import torch

from contest import ROOT, say, shared
from nsgen_torch import Paths

LAYERS = "#0,#6,#12,#14,#18"  # as bench/nsgen: all are cuts
FINE = 800
BATCH = 89  # of the 801 points


class Way:
    """Score, values and gradients of an image's layers at some points between the baseline and the image."""

    def __init__(self, paths, image, points):
        network, label = paths.networks["channels_last"], int(paths.labels[image])
        score, values, gradients = [], [], []
        for some in torch.tensor(points, dtype=torch.float32).split(BATCH):
            x = (some[:, None, None, None] * paths.x[image]).contiguous(memory_format=torch.channels_last).requires_grad_()
            scores, taps = paths.forward(network, x, paths.taps)
            gradients.append(torch.autograd.grad(scores[:, label].sum(), taps))
            score.append(scores[:, label].detach().double())
            values.append([t.detach() for t in taps])
        self.score = torch.cat(score)
        self.values, self.gradients = ([torch.cat(layer) for layer in zip(*batches)] for batches in (values, gradients))

    def steps(self, points):
        """Per layer: change of values, gradients at both ends; and the changes of the score."""
        score = self.score[points]
        layers = [(h[points].diff(dim=0), g[points][:-1], g[points][1:]) for h, g in zip(self.values, self.gradients)]
        return layers, score.diff()

    def missing(self, a, b):
        """What trapezoids lack in the step from point a to b, in the worst layer."""
        layers, change = self.steps([a, b])
        return max(abs(float(change - ((g0 + g1) * h).sum(dtype=torch.float64) / 2)) for h, g0, g1 in layers)


def total(parts):
    return parts.sum((1, 2, 3), dtype=torch.float64)


def each(factor, parts):
    return factor.float()[:, None, None, None] * parts


def trapezoid(h, g0, g1, change):
    return h * (g0 + g1) / 2


def shared_out(power):
    """What a step lacks is shared out by a power of the spreads; 2: `balanced`."""
    def rule(h, g0, g1, change):
        parts, shares = trapezoid(h, g0, g1, change), (h * (g1 - g0)).abs() ** power
        whole = total(shares)
        return parts + each(torch.where(whole > 0, (change - total(parts)) / whole, 0.0), shares)
    return rule


def one_weight(most):
    """One weight between both gradients for a whole layer that makes the step add up, at most so far from their middle."""
    def rule(h, g0, g1, change):
        parts, spread = trapezoid(h, g0, g1, change), h * (g1 - g0)
        whole = total(spread)
        weight = torch.where(whole != 0, (change - total(parts)) / whole, 0.0).clamp(-most, most)
        return parts + each(weight, spread)
    return rule


def units(way, points, rule):
    layers, change = way.steps(points)
    return [rule(*layer, change).sum((0, 2, 3), dtype=torch.float64).numpy() for layer in layers]


def simpson(way, points):
    """Values and gradients are parabolas through three points."""
    found = []
    for h, g in zip(way.values, way.gradients):
        h, g = h[points], g[points]
        h0, h1, h2, g0, g1, g2 = h[:-2:2], h[1:-1:2], h[2::2], g[:-2:2], g[1:-1:2], g[2::2]
        slope, bend = (4 * h1 - 3 * h0 - h2) / 2, h0 - 2 * h1 + h2
        parts = (slope * g0 + 4 * (slope + bend) * g1 + (slope + 2 * bend) * g2) / 3
        found.append(parts.sum((0, 2, 3), dtype=torch.float64).numpy())
    return found


def where_off_most(way, first, steps, at_once):
    """Begins with `first` uniform steps and halves those that lack most, some at once."""
    points = list(range(0, FINE + 1, FINE // first))
    lacks = [way.missing(a, b) for a, b in zip(points, points[1:])]
    while len(lacks) < steps:
        halved = [i for i in np.argsort(lacks)[::-1] if points[i + 1] - points[i] > 1][:min(at_once, steps - len(lacks))]
        for i in sorted(halved, reverse=True):
            a, b = points[i:i + 2]
            points.insert(i + 1, (a + b) // 2)
            lacks[i:i + 1] = [way.missing(a, points[i + 1]), way.missing(points[i + 1], b)]
    return points


def all_rules(paths, image, way):
    """(name, contributions) of every rule."""
    balanced = shared_out(2)
    for steps in (16, 50, 100, 200, 400):
        points = list(range(0, FINE + 1, FINE // steps))
        yield f"{steps} trapezoids", units(way, points, trapezoid)
        yield f"{steps} balanced", units(way, points, balanced)
    points = list(range(0, FINE + 1, FINE // 50))
    yield "50, by the spreads themselves", units(way, points, shared_out(1))
    yield "50, one weight", units(way, points, one_weight(float("inf")))
    yield "50, one weight, within both", units(way, points, one_weight(0.5))
    yield "50, Simpson", simpson(way, points)
    for at_once in (1, 17):
        points = where_off_most(way, 16, 50, at_once)
        yield f"16, then {at_once} more where off most", units(way, points, trapezoid)
        yield f"16, then {at_once} more ..., balanced", units(way, points, balanced)
    u = np.arange(51) / 50
    for name, points in (("u^1.5", u ** 1.5), ("u^2", u ** 2), ("Chebyshev's", (1 - np.cos(np.pi * u)) / 2)):
        other = Way(paths, image, points)
        yield f"50, points {name}", units(other, range(51), trapezoid)
        yield f"50, points {name}, balanced", units(other, range(51), balanced)


def judge(found, truth, change):
    gap = max(abs(f.sum() - change) for f in found) / abs(change)
    error = np.mean([np.abs(f - t).sum() / np.abs(t).sum() for f, t in zip(found, truth)])
    return gap, error, np.mean([f.argmax() == t.argmax() for f, t in zip(found, truth)])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=os.path.join(ROOT, "build"))
    parser.add_argument("--shared", default=shared())
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--inputs", type=int, default=100)
    args = parser.parse_args()
    if not args.shared:
        print("skipped: needs ResNet-20 and CIFAR-10 in ../shared")
        return 0
    model = os.path.join(args.shared, "models", "resnet20_cifar10.onnx")
    data = os.path.join(args.shared, "data", "cifar10", "cifar10-jpeg.tar.xz")
    count = args.first + args.inputs
    with tempfile.TemporaryDirectory() as scratch:
        inputs = os.path.join(scratch, "inputs.f32")
        ours = json.loads(subprocess.run([os.path.join(args.build, "bench", "nsgen_speed"), model, data, str(count), LAYERS, "50",
                                          "balanced", "2", "1", inputs], stdout=subprocess.PIPE, check=True).stdout)
        paths = Paths({"model": model, "inputs": inputs, "labels": ours["labels"], "layers": ours["layers"], "steps": 50})
    contributions = np.array(ours["contributions"]).reshape(count, -1)
    rows, differ = {}, 0.0
    for image in range(args.first, count):
        way = Way(paths, image, np.arange(FINE + 1) / FINE)
        truth, change = units(way, range(FINE + 1), trapezoid), float(way.score[-1] - way.score[0])
        for name, found in all_rules(paths, image, way):
            rows.setdefault(name, []).append(judge(found, truth, change))
            if name == "50 balanced":
                places = [h[0, 0].numel() for h in way.values]
                mean = np.concatenate([f / p for f, p in zip(found, places)])
                differ = max(differ, np.abs(mean - contributions[image]).max() / np.abs(mean).max())
        say(f"  image {image + 1 - args.first} of {args.inputs}")
    print(f"{args.inputs} images from number {args.first} on; plexor's own `balanced` differs by {differ:.1e} of the largest contribution")
    print("| points and rule | median gap | mean | largest | images above 5 % | error of units, mean | worst image | same critical unit |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for name, row in rows.items():
        gap, error, same = np.array(row).T * 100
        print(f"| {name} | {np.median(gap):.2f} % | {gap.mean():.2f} % | {gap.max():.1f} % | {(gap > 5).sum()} | {error.mean():.2f} % | "
              f"{error.max():.1f} % | {same.mean():.1f} % |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
