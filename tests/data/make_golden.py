#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Small pictures of every kind, and what PIL makes of them: tests/data/golden.

Made with Pillow 9.4 and numpy 1.24 of Debian 12 (libjpeg-turbo 2.1.5). expected.npz holds for every
file NAME the pixels after convert(), as NAME (H, W) or (H, W, 3), and after resize() with BILINEAR,
as NAME@HxW.
"""
import os

import numpy as np
from PIL import Image

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "golden")
WIDTH, HEIGHT = 19, 13


def picture(channels):
    """Smooth shapes with an edge, so that chroma upsampling and clipping show."""
    y, x = np.mgrid[0:HEIGHT, 0:WIDTH].astype(np.float64)
    planes = [127 + 127 * np.sin(x / (2 + c) + y / (3 + c) + c) for c in range(channels)]
    pixels = np.stack(planes, axis=-1)
    pixels[4:9, 6:12] = 255
    pixels[2:4, 12:17, 0] = 0
    return pixels.round().astype(np.uint8)


def main():
    os.makedirs(HERE, exist_ok=True)
    rgb, grey = Image.fromarray(picture(3)), Image.fromarray(picture(3)[..., 1])
    rgba, cmyk = Image.fromarray(picture(4), "RGBA"), Image.fromarray(picture(4), "CMYK")
    deep = Image.fromarray((picture(1)[..., 0].astype(np.uint16) * 257).astype(np.uint16))
    files = {
        "rgb.png": (rgb, {}),
        "grey.png": (grey, {}),
        "rgba.png": (rgba, {}),
        "la.png": (rgba.convert("LA"), {}),
        "palette.png": (rgb.quantize(7), {}),
        "bit.png": (grey.convert("1"), {}),
        "deep.png": (deep, {}),
        "420.jpg": (rgb, {"quality": 75, "subsampling": 2}),
        "422.jpg": (rgb, {"quality": 90, "subsampling": 1}),
        "444.jpg": (rgb, {"quality": 95, "subsampling": 0}),
        "progressive.jpg": (rgb, {"quality": 80, "progressive": True}),
        "grey.jpg": (grey, {"quality": 80}),
        "cmyk.jpg": (cmyk, {"quality": 90}),
    }
    expected = {}
    for name, (image, options) in files.items():
        path = os.path.join(HERE, name)
        image.save(path, **options)
        stored = Image.open(path)
        if stored.mode.startswith("I"):  # PIL clips 16 bits to 8; we scale
            stored = Image.fromarray((np.asarray(stored) // 257).astype(np.uint8))
        is_grey = stored.mode in ("1", "L", "LA")
        pixels = stored.convert("L" if is_grey else "RGB")
        expected[name] = np.asarray(pixels)
        expected[name + "@grey"] = np.asarray(pixels.convert("L"))
        for h, w in (5, 7), (40, 31), (13, 6), (29, 19):
            expected[f"{name}@{h}x{w}"] = np.asarray(pixels.resize((w, h), Image.BILINEAR))
    np.savez_compressed(os.path.join(HERE, "expected.npz"), **expected)


main()
