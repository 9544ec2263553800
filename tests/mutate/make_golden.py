#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Golden values for tests/mutate/test_mutation_golden.c: mutants by an independent numpy implementation.

    /usr/bin/python3 tests/mutate/make_golden.py > tests/mutate/mutation_golden.h

Everything is written from the definitions in docs/mutate.md, pixel by pixel where that is plain, with libm's sines
and exponentials. Pictures are made by the same small generator as in the test. Only a checksum of each mutant is kept.
"""
import math
import sys

import numpy as np

SHAPES = [(1, 28, 28), (3, 32, 32), (1, 1, 1), (1, 2, 3), (3, 5, 4), (4, 17, 33), (1, 1, 9), (2, 40, 7)]


def picture(c, h, w):
    state, out = 12345 + 1000 * c + 100 * h + w, []
    for _ in range(c * h * w):
        state = (state * 1664525 + 1013904223) % 2**32
        out.append(state >> 24)
    return np.array(out, dtype=np.int64).reshape(c, h, w)


def level(v):
    return np.clip(np.floor(v + 0.5 + 2**-30), 0, 255).astype(np.int64)  # halves up, last digits aside


def reflect(i, n):
    if n == 1:
        return 0
    period = 2 * (n - 1)
    i %= period
    return period - i if i >= n else i


# --- canonical ----------------------------------------------------------------------------------


def warp(x, a, t=(0, 0), fill="edge"):
    c, h, w = x.shape
    cy, cx = (h - 1) / 2, (w - 1) / 2
    out = np.zeros(x.shape)
    for r in range(h):
        for q in range(w):
            sy = a[0][0] * (r - cy) + a[0][1] * (q - cx) + cy + t[0]
            sx = a[1][0] * (r - cy) + a[1][1] * (q - cx) + cx + t[1]
            iy, ix = math.floor(sy), math.floor(sx)
            fy, fx = sy - iy, sx - ix
            total = 0
            for dy, wy in ((0, 1 - fy), (1, fy)):
                for dx, wx in ((0, 1 - fx), (1, fx)):
                    y, z = iy + dy, ix + dx
                    if fill == "edge":
                        total = total + wy * wx * x[:, min(max(y, 0), h - 1), min(max(z, 0), w - 1)]
                    elif 0 <= y < h and 0 <= z < w:
                        total = total + wy * wx * x[:, y, z]
            out[:, r, q] = total
    return level(out)


def turn(degrees):
    r = math.radians(degrees)
    return math.cos(r), math.sin(r)


def rotation(x, angle, fill="edge"):
    c, s = turn(angle)
    return warp(x, ((c, -s), (s, c)), fill=fill)


def shear(x, angle):
    c, s = turn(angle)
    return warp(x, ((1, -s), (0, c)))


def shift(x, sx, sy):
    return warp(x, ((1, 0), (0, 1)), (-sy * x.shape[1], -sx * x.shape[2]))


def scale(x, ratio):
    return warp(x, ((1 / ratio, 0), (0, 1 / ratio)))


def contrast(x, gain):
    mean = x.mean(axis=(1, 2), keepdims=True)
    return level(mean + gain * (x - mean))


def windows(x, size, anchor, border):
    """All size x size neighbourhoods, as [size * size, c, h, w]."""
    c, h, w = x.shape
    rows = [[border(r + k - anchor, h) for r in range(h)] for k in range(size)]
    cols = [[border(q + k - anchor, w) for q in range(w)] for k in range(size)]
    return np.array([x[:, rows[i]][:, :, cols[j]] for i in range(size) for j in range(size)])


def blur(x, size):
    return level(windows(x, size, size // 2, reflect).sum(axis=0) / size**2)


# --- as OpenCV ----------------------------------------------------------------------------------


def rne(v):
    return int(np.rint(v))


def cv_warp(x, m):
    c, h, w = x.shape
    det = m[0] * m[4] - m[1] * m[3]
    i0, i1, i3, i4 = m[4] / det, -m[1] / det, -m[3] / det, m[0] / det
    i2, i5 = -i0 * m[2] - i1 * m[5], -i3 * m[2] - i4 * m[5]
    out = np.zeros_like(x)
    for r in range(h):
        for q in range(w):
            sx = (rne(i0 * q * 1024) + rne((i1 * r + i2) * 1024) + 16) >> 5
            sy = (rne(i3 * q * 1024) + rne((i4 * r + i5) * 1024) + 16) >> 5
            ix, fx, iy, fy = sx >> 5, sx & 31, sy >> 5, sy & 31
            total = np.zeros(c, dtype=np.int64)
            for dy, wy in ((0, 32 - fy), (1, fy)):
                for dx, wx in ((0, 32 - fx), (1, fx)):
                    if 0 <= iy + dy < h and 0 <= ix + dx < w:
                        total += wy * wx * x[:, iy + dy, ix + dx]
            out[:, r, q] = (total + 512) >> 10
    return out


def cv_rotation(x, angle):
    c, h, w = x.shape
    a, b = turn(angle)
    cx, cy = w / 2, h / 2
    return cv_warp(x, (a, b, (1 - a) * cx - b * cy, -b, a, b * cx + (1 - a) * cy))


def cv_shear(x, p):
    return cv_warp(x, (1, -p, 0, 0, 1, 0))


def cv_translation(x, dx, dy):
    c, h, w = x.shape
    out = np.zeros_like(x)
    for r in range(h):
        for q in range(w):
            if 0 <= r - dy < h and 0 <= q - dx < w:
                out[:, r, q] = x[:, r - dy, q - dx]
    return out


def cubic(ratio, n):
    f = np.float32
    size, a = max(rne(ratio * n), 1), f(-0.75)
    matrix = np.zeros((size, n), dtype=np.int64)
    for o in range(size):
        v = f((o + 0.5) / ratio - 0.5)
        first = math.floor(v)
        t = v - f(first)
        one = f(1)
        k = [((a * (t + one) - f(5) * a) * (t + one) + f(8) * a) * (t + one) - f(4) * a,
             ((a + f(2)) * t - (a + f(3))) * t * t + one,
             ((a + f(2)) * (one - t) - (a + f(3))) * (one - t) * (one - t) + one]
        k.append(one - k[0] - k[1] - k[2])
        for i, weight in enumerate(k):
            matrix[o, min(max(first - 1 + i, 0), n - 1)] += rne(weight * f(2048))
    return matrix


def cv_scale(x, ratio, canvas):
    c, h, w = x.shape
    rows, cols = cubic(ratio, h), cubic(ratio, w)
    y = np.einsum("yh,chw,xw->cyx", rows, x, cols)
    y = np.clip((y + 2**21) >> 22, 0, 255)
    out = np.full_like(x, canvas)
    (th, tw) = y.shape[1:]
    if ratio > 1:
        y = y[:, th // 2 - h // 2 if th > h else 0:][:, :h]
        y = y[:, :, tw // 2 - w // 2 if tw > w else 0:][:, :, :w]
    top, left = (h - y.shape[1]) // 2, (w - y.shape[2]) // 2
    out[:, top:top + y.shape[1], left:left + y.shape[2]] = y
    return out


BOX = {2: (3, 2097152), 3: (4, 932068), 4: (9, 524288), 5: (13, 335544), 6: (18, 233017), 7: (25, 171196)}
GAUSS = {3: (1, 2, 1), 5: (1, 4, 6, 4, 1), 7: (2, 7, 14, 18, 14, 7, 2)}


def cv_box(x, size):
    add, times = BOX[size]
    return ((windows(x, size, size // 2, reflect).sum(axis=0) + add) * times) >> 23


def cv_gauss(x, size):
    k = np.array(GAUSS[size])
    weights = np.outer(k, k).reshape(-1, 1, 1, 1)
    return (2 * (windows(x, size, size // 2, reflect) * weights).sum(axis=0) + k.sum()**2) // (2 * k.sum()**2)


def cv_median(x, size):
    return np.median(windows(x, size, size // 2, lambda i, n: min(max(i, 0), n - 1)), axis=0).astype(np.int64)


def cv_bilateral(x, d, sigma):
    radius = d // 2
    all_values = windows(x, 2 * radius + 1, radius, reflect)
    total, weights = np.zeros(x.shape), np.zeros(x.shape[1:])
    for k, values in enumerate(all_values):
        dy, dx = k // (2 * radius + 1) - radius, k % (2 * radius + 1) - radius
        if dy * dy + dx * dx <= radius * radius:
            weight = np.exp(-(dy * dy + dx * dx) / (2 * sigma**2) - np.abs(values - x).sum(axis=0)**2 / (2 * sigma**2))
            total += weight * values
            weights += weight
    return np.rint(total / weights).astype(np.int64)


CASES = [
    ("shift x=0.13 y=-0.06", lambda x: shift(x, .13, -.06)),
    ("rotation angle=-17.3", lambda x: rotation(x, -17.3)),
    ("rotation angle=24 fill=black", lambda x: rotation(x, 24, "black")),
    ("rotation angle=200", lambda x: rotation(x, 200)),
    ("scale ratio=0.83", lambda x: scale(x, .83)),
    ("scale ratio=1.17", lambda x: scale(x, 1.17)),
    ("shear angle=27.5", lambda x: shear(x, 27.5)),
    ("contrast gain=0.57", lambda x: contrast(x, .57)),
    ("contrast gain=1.43", lambda x: contrast(x, 1.43)),
    ("brightness factor=1.31", lambda x: level(1.31 * x)),
    ("blur size=2", lambda x: blur(x, 2)),
    ("blur size=5", lambda x: blur(x, 5)),
    ("blur size=7", lambda x: blur(x, 7)),
    ("cv-translation x=-3 y=2", lambda x: cv_translation(x, -3, 2)),
    ("cv-scale ratio=0.7", lambda x: cv_scale(x, .7, 0)),
    ("cv-scale ratio=0.85 canvas=white", lambda x: cv_scale(x, .85, 255)),
    ("cv-scale ratio=1.1", lambda x: cv_scale(x, 1.1, 0)),
    ("cv-shear factor=-0.6", lambda x: cv_shear(x, -.6)),
    ("cv-rotation angle=-37", lambda x: cv_rotation(x, -37)),
    ("cv-rotation angle=29", lambda x: cv_rotation(x, 29)),
    ("cv-contrast gain=0.6", lambda x: level(.6 * x)),
    ("cv-brightness bias=-18", lambda x: level(x - 18)),
    ("cv-brightness bias=-18 as=abs", lambda x: level(np.abs(x - 18))),
    ("cv-brightness bias=40 as=first", lambda x: np.concatenate([level(x[:1] + 40), x[1:]])),
] + [(f"cv-blur kind=box{k}", lambda x, k=k: cv_box(x, k)) for k in BOX] + [
    (f"cv-blur kind=gauss{k}", lambda x, k=k: cv_gauss(x, k)) for k in GAUSS
] + [(f"cv-blur kind=median{k}", lambda x, k=k: cv_median(x, k)) for k in (3, 5)] + [
    ("cv-blur kind=bilateral6", lambda x: cv_bilateral(x, 6, 50)),
    ("cv-blur kind=bilateral9", lambda x: cv_bilateral(x, 9, 75)),
]


def fnv(x):
    h = 0xcbf29ce484222325
    for v in x.reshape(-1).tolist():
        h = (h ^ v) * 0x100000001b3 % 2**64
    return h


def main():
    if len(sys.argv) > 1:  # the pixels of one case, to see where they differ: TEXT C H W
        x = dict(CASES)[sys.argv[1]](picture(*map(int, sys.argv[2:5])))
        print(x)
        return
    print("/* made by tests/mutate/make_golden.py; do not edit */\n// clang-format off")
    print("static const int golden_shapes[][3] = {" + ", ".join("{%d, %d, %d}" % s for s in SHAPES) + "};")
    print("static const struct { const char *text; uint64_t sum[%d]; } golden[] = {" % len(SHAPES))
    for text, function in CASES:
        sums = [fnv(function(picture(*s))) for s in SHAPES]
        print('    {"%s", {%s}},' % (text, ", ".join("0x%016x" % s for s in sums)))
    print("};\n// clang-format on")


main()
