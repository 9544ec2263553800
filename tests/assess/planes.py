# SPDX-License-Identifier: Apache-2.0
"""Pictures that C tests make by the same arithmetic."""
import numpy as np


def value(i, stream):
    x = (i * 2654435761 + stream * 40503 + 12345) % 2**32
    x = (x ^ (x >> 15)) * 2246822519 % 2**32
    x = (x ^ (x >> 13)) * 3266489917 % 2**32
    return (x ^ (x >> 16)) >> 24


def plane(height, width, stream):
    return np.array([value(i, stream) for i in range(height * width)], float).reshape(height, width)
