#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Golden values for tests/mutate/test_style.c: generated styles and style mutants by an independent numpy implementation.

    /usr/bin/python3 tests/mutate/style_golden.py > tests/mutate/style_golden.h

Written from the definitions in docs/mutate.md: matrices for the colour statistics, dense matrices for the steps of the pyramid, libm's
cosine. Checksums of the textures and of mutants are kept, and the statistics of a few textures in full.
"""
import math

import numpy as np

SIDE, COUNT = 64, 32
SHAPES = [(1, 28, 28), (3, 32, 32), (1, 1, 1), (1, 2, 3), (3, 5, 4), (4, 17, 33), (1, 1, 9), (2, 40, 7), (3, 1, 1), (3, 64, 30)]


class Philox:
    """px_rng(seed 0, component, item, 0): words of consecutive blocks."""

    def __init__(self, component, item):
        self.counter, self.words, self.address = 0, [], (item, 0, component)

    def u32(self):
        if not self.words:
            c, k = [self.counter, *self.address], [0, 0]
            for _ in range(10):
                p0, p1 = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
                c = [p1 >> 32 ^ c[1] ^ k[0], p1 & 0xFFFFFFFF, p0 >> 32 ^ c[3] ^ k[1], p0 & 0xFFFFFFFF]
                k = [(k[0] + 0x9E3779B9) & 0xFFFFFFFF, (k[1] + 0xBB67AE85) & 0xFFFFFFFF]
            self.words = c
            self.counter += 1
        return self.words.pop(0)

    def u01(self):
        return (self.u32() >> 8) * 2.0**-24

    def below(self, m):
        while True:
            product = self.u32() * m
            if product & 0xFFFFFFFF >= (2**32 - m) % m:
                return product >> 32

    def between(self, least, most):
        return least + (most - least) * self.u01()


def level(v):
    return np.clip(np.floor(v + 0.5 + 2**-30), 0, 255).astype(np.int64)


Y, X = np.mgrid[0:SIDE, 0:SIDE]


def wave(turns):
    return 0.5 + 0.5 * np.cos(2 * np.pi * turns)


def stripes(r):
    across, down = r.between(2, 12), r.between(2, 12)
    return wave((across * X + down * Y) / SIDE)


def checks(r):
    across, down = 2 + r.below(10), 2 + r.below(10)
    return ((X // across + Y // down) % 2).astype(float)


def clouds(r):
    t = np.zeros((SIDE, SIDE))
    for octave in range(4):
        cell = 16 >> octave
        n = SIDE // cell
        grid = np.array([[r.u01() for _ in range(n + 1)] for _ in range(n + 1)])
        v, u, y, x = Y % cell / cell, X % cell / cell, Y // cell, X // cell
        t += 8 / 15 / 2**octave * ((1 - v) * ((1 - u) * grid[y, x] + u * grid[y, x + 1]) + v *
                                   ((1 - u) * grid[y + 1, x] + u * grid[y + 1, x + 1]))
    return t


def cells(r):
    at = [(SIDE * r.u01(), SIDE * r.u01()) for _ in range(24)]
    return np.minimum(np.min([np.hypot(Y - a, X - b) for a, b in at], axis=0) / 12, 1)


def rings(r):
    cy, cx, width = SIDE * r.u01(), SIDE * r.u01(), r.between(5, 20)
    return wave(np.hypot(Y - cy, X - cx) / width)


def weave(r):
    across, down = r.between(3, 14), r.between(3, 14)
    return wave(across * X / SIDE) * wave(down * Y / SIDE)


def speckle(r):
    size, t = 1 + r.below(3), np.zeros((SIDE, SIDE))
    for y in range(0, SIDE, size):
        for x in range(0, SIDE, size):
            t[y:y + size, x:x + size] = r.u01()
    return t


def dabs(r):
    t, long_side = np.zeros((SIDE, SIDE)), 6 + r.below(14)
    for _ in range(160):
        top, left, length, thick = r.below(SIDE), r.below(SIDE), 2 + r.below(long_side), 2 + r.below(4)
        height, width = (length, thick) if r.below(2) else (thick, length)
        t[top:top + height, left:left + width] = r.u01()
    return t


def texture(i):
    r = Philox(30, i)
    colours = np.array([[255 * r.u01() for _ in range(3)] for _ in range(3)])
    grain = r.between(0, 60)
    t = [stripes, checks, clouds, cells, rings, weave, speckle, dabs][i % 8](r)
    more = grain * (np.array([r.u01() for _ in range(SIDE * SIDE)]).reshape(SIDE, SIDE) - 0.5)
    ramp = np.array([np.interp(t, [0, 0.5, 1], colours[:, c]) for c in range(3)])
    return level(ramp + more)


# --- statistics ---------------------------------------------------------------------------------

BASIS = np.array([[1, 1, 1], [1, 0, -1], [1, -2, 1]]) / np.sqrt([[3], [2], [6]])


def half_matrix(n):
    m, out = np.zeros(((n + 1) // 2, n)), (n + 1) // 2
    for i in range(out):
        for k, w in zip(range(-2, 3), (1, 4, 6, 4, 1)):
            j = 2 * i + k
            if n > 1:
                j %= 2 * (n - 1)
                j = 2 * (n - 1) - j if j >= n else j
            else:
                j = 0
            m[i, j] += w / 16
    return m


def double_matrix(n):
    s = (n + 1) // 2
    m = np.zeros((n, s))
    for i in range(n):
        for j, w in ([(i // 2, 1 / 2), (i // 2 + 1, 1 / 2)] if i % 2 else [(i // 2 - 1, 1 / 8), (i // 2, 6 / 8), (i // 2 + 1, 1 / 8)]):
            m[i, min(max(j, 0), s - 1)] += w
    return m


def pyramid(plane):
    bands = []
    for _ in range(3):
        h, w = plane.shape
        small = half_matrix(h) @ plane @ half_matrix(w).T
        bands.append(plane - double_matrix(h) @ small @ double_matrix(w).T)
        plane = small
    return bands, plane


def join(bands, rest):
    for band in reversed(bands):
        h, w = band.shape
        rest = band + double_matrix(h) @ rest @ double_matrix(w).T
    return rest


def lab(rgb):
    return np.tensordot(BASIS, rgb.astype(float), axes=1)


def measure(rgb):
    x = lab(rgb)
    flat = x.reshape(3, -1)
    return flat.mean(axis=1), np.cov(flat, bias=True), [[pyramid(x[c])[0][k].std() for c in range(3)] for k in range(3)]


def retexture(plane, wanted):
    bands, rest = pyramid(plane)
    for k in range(3):
        gain = np.sqrt((wanted[k]**2 + 1) / (bands[k].std()**2 + 1))
        bands[k] = bands[k] * min(max(gain, 1 / 4), 4)
    return join(bands, rest)


def style(x, strength, stats):
    mean, cov, band = stats
    out = np.zeros(x.shape)
    if len(x) == 3:
        y = lab(x).reshape(3, -1)
        factor = [np.linalg.cholesky(c + 4 * np.eye(3)) for c in (np.cov(y, bias=True), cov)]
        y = factor[1] @ np.linalg.inv(factor[0]) @ (y - y.mean(axis=1, keepdims=True)) + mean[:, None]
        y = y.reshape(x.shape)
        y = np.array([retexture(y[c], [band[k][c] for k in range(3)]) for c in range(3)])
        out = np.tensordot(BASIS.T, y, axes=1)
    else:
        for c, plane in enumerate(x):
            gain = np.sqrt((cov[0, 0] / 3 + 4) / (plane.var() + 4))
            out[c] = retexture(gain * (plane - plane.mean()) + mean[0] / np.sqrt(3), [band[k][0] / np.sqrt(3) for k in range(3)])
    return level(x + strength * (out - x))


# --- out ----------------------------------------------------------------------------------------


def picture(c, h, w):
    state, out = 12345 + 1000 * c + 100 * h + w, []
    for _ in range(c * h * w):
        state = (state * 1664525 + 1013904223) % 2**32
        out.append(state >> 24)
    return np.array(out, dtype=np.int64).reshape(c, h, w)


def smooth(c, h, w):
    """Less noise than that: every value is one of a slope, and a sixteenth of the noise."""
    slope = np.add.outer(np.arange(c) * 20, np.add.outer(np.arange(h) * 3, np.arange(w) * 2))
    return (slope + picture(c, h, w) // 16) % 256


def fnv(x):
    h = 0xcbf29ce484222325
    for v in x.reshape(-1).tolist():
        h = (h ^ v) * 0x100000001b3 % 2**64
    return h


def main():
    textures = [texture(i) for i in range(COUNT)]
    stats = [measure(t) for t in textures]
    print("/* made by tests/mutate/style_golden.py; do not edit */\n// clang-format off")
    print("static const uint64_t texture_sums[] = {")
    for i in range(0, COUNT, 4):
        print("    " + " ".join("0x%016x," % fnv(t) for t in textures[i:i + 4]))
    print("};\nstatic const struct { size_t image; double numbers[18]; } style_numbers[] = {")
    for i in (0, 1, 2, 3, 12, 21, 30, 31):
        mean, cov, band = stats[i]
        numbers = [*mean, *[cov[a, b] for a in range(3) for b in range(a + 1)], *np.array(band).reshape(-1)]
        print("    {%d, {%s}}," % (i, ", ".join("%.12g" % v for v in numbers)))
    print("};\nstatic const int style_shapes[][3] = {" + ", ".join("{%d, %d, %d}" % s for s in SHAPES) + "};")
    print("static const struct { const char *text; uint64_t noise[%d], smooth[%d]; } style_golden[] = {" % (len(SHAPES), len(SHAPES)))
    for strength, image in ((0.4, 0), (0.6, 9), (0.8, 18), (0.4, 27), (0.6, 4), (0.8, 13), (1, 22), (0, 31)):
        sums = [[fnv(style(make(*s), strength, stats[image])) for s in SHAPES] for make in (picture, smooth)]
        print('    {"style strength=%g image=%d",\n     {%s},\n     {%s}},' %
              (strength, image, ", ".join("0x%016x" % s for s in sums[0]), ", ".join("0x%016x" % s for s in sums[1])))
    print("};\n// clang-format on")


main()
