#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Writes closeness_golden.h: similarity and inside by NumPy and SciPy, of pictures that the test makes by the same arithmetic.

Maps are written down here from docs/mutate.md, not taken from the library: (x, y) of the result to (x, y) of the picture.
"""
import os
import sys

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from scipy.ndimage import map_coordinates

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "assess"))
from planes import plane


def blob(height, width, stream):
    """A bright block in the upper left quarter of a black picture, off the border."""
    out = np.zeros((height, width))
    noise = plane(height, width, stream)
    top, left, bottom, right = 2, 2, height // 2, width // 2
    out[top:bottom, left:right] = 128 + np.floor(noise[top:bottom, left:right] / 2)
    return out


def about_centre(a, t, height, width):
    """s = A (o - c) + c + t in (row, column), as homogeneous map of (x, y)."""
    cy, cx = (height - 1) / 2, (width - 1) / 2
    m = np.eye(3)
    m[0] = [a[1][1], a[1][0], cx + t[1] - a[1][1] * cx - a[1][0] * cy]
    m[1] = [a[0][1], a[0][0], cy + t[0] - a[0][1] * cx - a[0][0] * cy]
    return m


def source(name, v, height, width):
    if name == "rotation":
        s, c = np.sin(np.radians(v["angle"])), np.cos(np.radians(v["angle"]))
        return about_centre([[c, -s], [s, c]], [0, 0], height, width)
    if name == "scale":
        return about_centre([[1 / v["ratio"], 0], [0, 1 / v["ratio"]]], [0, 0], height, width)
    if name == "shear":
        s, c = np.sin(np.radians(v["angle"])), np.cos(np.radians(v["angle"]))
        return about_centre([[1, -s], [0, c]], [0, 0], height, width)
    if name == "shift":
        return about_centre([[1, 0], [0, 1]], [-v["y"] * height, -v["x"] * width], height, width)
    if name == "cv-translation":
        return np.array([[1, 0, -v["x"]], [0, 1, -v["y"]], [0, 0, 1.0]])
    if name == "cv-shear":
        return np.linalg.inv(np.array([[1, -v["factor"], 0], [0, 1, 0], [0, 0, 1.0]]))
    if name == "cv-rotation":  # cv2.getRotationMatrix2D((width / 2, height / 2), angle, 1)
        a, b = np.cos(np.radians(v["angle"])), np.sin(np.radians(v["angle"]))
        x, y = width / 2, height / 2
        return np.linalg.inv(np.array([[a, b, (1 - a) * x - b * y], [-b, a, b * x + (1 - a) * y], [0, 0, 1.0]]))
    return None  # nothing moves


def seen_and_points(maps, height, width):
    y, x = np.mgrid[0:height, 0:width].astype(float)
    seen = np.ones((height, width), bool)
    for m in reversed(maps):
        x, y = m[0, 0] * x + m[0, 1] * y + m[0, 2], m[1, 0] * x + m[1, 1] * y + m[1, 2]
        seen &= (x >= -1e-6) & (y >= -1e-6) & (x <= width - 1 + 1e-6) & (y <= height - 1 + 1e-6)
    return seen, x, y


def similarity(maps, original, changed):
    height, width = original.shape
    seen, x, y = seen_and_points(maps, height, width)
    moved = map_coordinates(original, [np.clip(y, 0, height - 1), np.clip(x, 0, width - 1)], order=1, mode="nearest")
    w = min(7, height - (height % 2 == 0), width - (width % 2 == 0))
    a, b, s = (sliding_window_view(p, (w, w)) for p in (moved, changed, seen))
    n = w * w
    ux, uy = a.mean((2, 3)), b.mean((2, 3))
    vx, vy = a.var((2, 3)) * n / (n - 1), b.var((2, 3)) * n / (n - 1)
    vxy = ((a * b).mean((2, 3)) - ux * uy) * n / (n - 1)
    c1, c2 = (0.01 * 255) ** 2, (0.03 * 255) ** 2
    ssim = (2 * ux * uy + c1) * (2 * vxy + c2) / ((ux**2 + uy**2 + c1) * (vx + vy + c2))
    whole = s.all((2, 3))
    return max(0.0, ssim[whole].mean()) if whole.any() else 0.0


def inside(maps, original):
    height, width = original.shape
    ring = np.ones((height, width), bool)
    ring[1:-1, 1:-1] = False
    edge = np.sort(original[ring])
    weight = np.abs(original - edge[len(edge) // 2])
    limit = 24.0
    plain = (weight[ring] <= limit).mean() >= 0.7
    weight[weight <= limit] = 0
    if not plain or weight.sum() == 0:
        weight = np.ones((height, width))
    y, x = np.mgrid[0:height, 0:width].astype(float)
    kept = np.ones((height, width), bool)
    for m in maps:
        f = np.linalg.inv(m)
        x, y = f[0, 0] * x + f[0, 1] * y + f[0, 2], f[1, 0] * x + f[1, 1] * y + f[1, 2]
        kept &= (x >= -0.5 - 1e-6) & (y >= -0.5 - 1e-6) & (x <= width - 0.5 + 1e-6) & (y <= height - 0.5 + 1e-6)
    return (weight * kept).sum() / weight.sum()


CHAINS = (
    [], [("rotation", {"angle": 31.5})], [("rotation", {"angle": -8})], [("scale", {"ratio": 1.4})],
    [("scale", {"ratio": 0.75})], [("shear", {"angle": 25})], [("shift", {"x": 0.23, "y": -0.4})],
    [("cv-translation", {"x": -5, "y": 3})], [("cv-shear", {"factor": 0.4})], [("cv-rotation", {"angle": 45})],
    [("contrast", {"gain": 1.25}), ("rotation", {"angle": 20}), ("shift", {"x": -0.2, "y": 0.1})],
    [("cv-translation", {"x": 40, "y": 0})],
)

with open(os.path.join(HERE, "closeness_golden.h"), "w") as out:
    out.write("/* made by make_closeness.py */\n")
    out.write("static const struct {\n    int height, width, stream;\n    bool blob;\n    double share;\n    const char *chain;\n"
              "    double similarity, inside;\n} closenesses[] = {\n")
    stream = 0
    for height, width in ((28, 28), (19, 32), (9, 9)):
        for chain in CHAINS:
            for is_blob in (False, True):
                stream += 2
                share = (0.1, 0.5)[stream // 4 % 2]
                x = blob(height, width, stream) if is_blob else plane(height, width, stream)
                y = np.floor(x + share * (plane(height, width, stream + 1) - x))
                maps = [m for m in (source(n, v, height, width) for n, v in chain) if m is not None]
                text = ",".join('\\"%s %s\\"' % (n, " ".join("%s=%g" % i for i in v.items())) for n, v in chain)
                out.write('    {%d, %d, %d, %s, %g, "[%s]", %.17g, %.17g},\n' % (
                    height, width, stream, str(is_blob).lower(), share, text, similarity(maps, x, y), inside(maps, x)))
    out.write("};\n")
