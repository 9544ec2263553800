# SPDX-License-Identifier: Apache-2.0
"""Inputs as pictures that can be looked at."""
import numpy


def as_pictures(x):
    """uint8 [N, H, W] or [N, H, W, 3] of inputs [N, H, W], [N, C, H, W] or [N, H, W, C]; None: these are no pictures."""
    x = numpy.asarray(x)
    if x.ndim == 4 and x.shape[1] in (1, 3):
        x = x.transpose(0, 2, 3, 1)
    if x.ndim == 4 and x.shape[3] == 1:
        x = x[..., 0]
    if x.ndim not in (3, 4) or (x.ndim == 4 and x.shape[3] != 3) or min(x.shape[1:3]) < 2:
        return None
    if x.dtype == numpy.uint8:
        return x
    low, high = float(numpy.nanmin(x)), float(numpy.nanmax(x))
    if 0.0 <= low and high <= 1.0:
        low, high = 0.0, 1.0
    return numpy.nan_to_num(255 * (x - low) / (high - low if high > low else 1.0)).clip(0, 255).astype(numpy.uint8)
