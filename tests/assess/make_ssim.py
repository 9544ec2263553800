#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Writes ssim_golden.h: scikit-image's structural similarity of pictures that the test makes by the same arithmetic.

skimage.metrics.structural_similarity(x, y, data_range=L), everything else at its default, per plane.
"""
import os

import numpy as np
from skimage.metrics import structural_similarity

from planes import plane

HERE = os.path.dirname(os.path.abspath(__file__))


with open(os.path.join(HERE, "ssim_golden.h"), "w") as out:
    out.write("/* made by make_ssim.py */\n")
    out.write("static const struct {\n    int height, width, stream;\n    double share, range, ssim;\n} ssims[] = {\n")
    stream = 0
    for height, width in ((7, 7), (8, 11), (28, 28), (32, 32), (5, 9), (3, 4), (13, 7), (6, 6), (40, 21)):
        for share in (0.02, 0.3, 1.0):
            for range_ in (255.0, 2.0):
                stream += 2
                x, noise = plane(height, width, stream), plane(height, width, stream + 1)
                y = x + share * (noise - x)
                window = min(7, height - (height % 2 == 0), width - (width % 2 == 0))
                s = structural_similarity(x, y, win_size=window, data_range=range_)
                out.write("    {%d, %d, %d, %.17g, %.17g, %.17g},\n" % (height, width, stream, share, range_, s))
    out.write("};\n")
