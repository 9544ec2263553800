#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Writes umap_golden.h: UMAP of a few points by numpy and scipy, step by step.

    tests/stats/make_umap.py > tests/stats/umap_golden.h

A second implementation from the formulas, in plain double: curves by scipy's curve_fit, sigmas by bisection (and, beside them, by a root
finder), weights, and layouts of a few epochs with Philox draws of the same addresses. Two of the 40 points are equal.
"""
import sys

import numpy
from scipy.optimize import brentq, curve_fit
from scipy.spatial.distance import pdist, squareform

K, SEED, UMAP = 8, 5, 65
MASK = 0xFFFFFFFF


class Random:
    def __init__(self, seed, item, iteration):
        self.key, self.counter, self.words = (seed & MASK, seed >> 32), [0, item, iteration, UMAP], []

    def u32(self):
        if not self.words:
            (c0, c1, c2, c3), (k0, k1) = self.counter, self.key
            for _ in range(10):
                p0, p1 = 0xD2511F53 * c0, 0xCD9E8D57 * c2
                c0, c1, c2, c3 = (p1 >> 32) ^ c1 ^ k0, p1 & MASK, (p0 >> 32) ^ c3 ^ k1, p0 & MASK
                k0, k1 = (k0 + 0x9E3779B9) & MASK, (k1 + 0xBB67AE85) & MASK
            self.counter[0] += 1
            self.words = [c0, c1, c2, c3]
        return self.words.pop(0)

    def u01(self):
        return (self.u32() >> 8) * 2.0 ** -24

    def normal(self):
        radius = numpy.sqrt(-2 * numpy.log(1 - self.u01()))
        return radius * numpy.cos(2 * numpy.pi * self.u01())

    def below(self, m):
        while True:
            product = self.u32() * m
            if (product & MASK) >= (2 ** 32 - m) % m:
                return product >> 32


def curve(min_dist, spread):
    x = numpy.linspace(0, 3 * spread, 300)
    y = numpy.where(x < min_dist, 1.0, numpy.exp(-(x - min_dist) / spread))
    return curve_fit(lambda x, a, b: 1 / (1 + a * x ** (2 * b)), x, y, xtol=1e-14, ftol=1e-14, gtol=1e-14)[0]


def band(d, target):
    """Of the distances to k - 1 others; the search begins at the mean, the point's own 0 included."""
    rho, mean = d[d > 0].min(), d.sum() / (len(d) + 1)

    def total(s):
        return numpy.exp(-numpy.maximum(0, d - rho) / s).sum()

    low, high, sigma = 0.0, numpy.inf, mean
    for _ in range(64):
        miss = total(sigma) - target
        if abs(miss) < 1e-5:
            break
        if miss > 0:
            high = sigma
        else:
            low = sigma
        sigma = 2 * sigma if high == numpy.inf else (low + high) / 2
    root = brentq(lambda s: total(s) - target, 1e-3 * mean, 1e3 * mean, xtol=1e-14)
    assert abs(sigma - root) < 1e-4 * root
    return rho, max(sigma, 1e-3 * mean), root


def start(x):
    u, s, _ = numpy.linalg.svd(x - x.mean(0), full_matrices=False)
    scores = (u * s)[:, :2]
    scores *= numpy.sign(scores[numpy.abs(scores).argmax(0), [0, 1]])
    y = scores * 10 / numpy.abs(scores).max()
    for i in range(len(x)):
        random = Random(SEED, i, 0)
        y[i] += [1e-4 * random.normal(), 1e-4 * random.normal()]
    return y


def layout(begin, weights, a, b, epochs):
    n, y, most = len(begin), begin.copy(), weights.max()
    edges = [[i, j, most / weights[i, j], most / weights[i, j]] for i in range(n) for j in range(n) if weights[i, j] >= most / epochs]
    for epoch in range(1, epochs + 1):
        alpha = 1 - (epoch - 1) / epochs
        for e, edge in enumerate(edges):
            i, j = edge[:2]
            if edge[3] > epoch:
                continue
            edge[3] += edge[2]
            delta = y[i] - y[j]
            d2 = delta @ delta
            step = alpha * numpy.clip(-2 * a * b * d2 ** (b - 1) / (1 + a * d2 ** b) * delta, -4, 4)
            y[i] += step
            y[j] -= step
            random = Random(SEED, e, 2 + epoch)
            for _ in range(5):
                delta = y[i] - y[random.below(n)]
                d2 = delta @ delta
                if d2 > 0:
                    y[i] += alpha * numpy.clip(2 * b / ((0.001 + d2) * (1 + a * d2 ** b)) * delta, -4, 4)
    return y - y.mean(0), len(edges)


def array(name, values, form="%.12g", kind="double"):
    lines, line = [], ""
    for v in numpy.asarray(values).ravel():
        word = form % v
        if kind == "float":
            word += ("" if "." in word or "e" in word else ".0") + "f"
        if len(line) + len(word) > 94:
            lines.append(line)
            line = ""
        line += (" " if line else "") + word + ","
    lines.append(line)
    print("static const %s %s[%d] = {\n    %s};\n" % (kind, name, numpy.size(values), "\n    ".join(lines)))


def main():
    random = numpy.random.RandomState(3)
    n = 40
    x = (random.randn(4, 5)[numpy.arange(n) % 4] * 2 + random.randn(n, 5)).astype(numpy.float32)
    x[17] = x[9]
    x64 = x.astype(numpy.float64)
    distances = squareform(pdist(x64))
    weights, rows = numpy.zeros((n, n)), []
    for i in range(n):
        others = numpy.array([j for j in range(n) if j != i])
        near = others[numpy.argsort(distances[i, others], kind="stable")[:K - 1]]
        rho, sigma, root = band(distances[i, near], numpy.log2(K))
        rows.append((rho, sigma, root))
        weights[i, near] = numpy.exp(-numpy.maximum(0, distances[i, near] - rho) / sigma)
    high, low = numpy.maximum(weights, weights.T), numpy.minimum(weights, weights.T)
    weights = high + low * (1 - high) # w + w^T - w w^T, and exactly 1 where either is
    print("/* tests/stats/umap_golden.h - written by make_umap.py; not to be edited */\n/* clang-format off */\n")
    print("enum { golden_n = %d, golden_d = 5, golden_k = %d, golden_seed = %d };\n" % (n, K, SEED))
    array("golden_x", x, "%.9g", "float")
    settings = [(0.1, 1), (0, 1), (0.5, 1), (1, 1), (0.25, 2), (0.01, 0.1), (20, 50)]
    print("static const struct {\n    double min_dist, spread, a, b;\n} golden_curves[] = {")
    for m, s in settings:
        a, b = curve(m, s) if s == 1 else curve_scaled(m, s)
        print("    {%.12g, %.12g, %.9g, %.9g}," % (m, s, a, b))
    print("};\n")
    array("golden_bands", rows) # rho, sigma, sigma of a root finder
    array("golden_weights", weights[numpy.tril_indices(n, -1)])
    begin = start(x64)
    array("golden_start", begin, "%.17g")
    # of the whole way with curve and start as they come, and of a longer one from just there: steps magnify what is rounded
    for name, epochs, (a, b) in (("one", 1, curve(0.1, 1)), ("five", 5, (1.5, 0.9))):
        y, edges = layout(begin, weights, a, b, epochs)
        moved, _ = layout(begin + 1e-13 * random.randn(n, 2), weights, a, b, epochs)
        sys.stderr.write("%s: 1e-13 at the start is %.2g at the end\n" % (name, numpy.abs(moved - y).max()))
        print("enum { golden_%s_edges = %d };" % (name, edges))
        array("golden_" + name, y)


def curve_scaled(min_dist, spread):
    """The same curve in units of the spread: curve_fit starts at 1, 1, which is far off otherwise."""
    a, b = curve(min_dist / spread, 1)
    return a / spread ** (2 * b), b


if __name__ == "__main__":
    main()
