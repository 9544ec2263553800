# SPDX-License-Identifier: Apache-2.0
"""What make_foolbox.py and compare_foolbox.py have in common: networks, their data, and attacks."""
import gzip
import os

import numpy as np

BLOCK = 200
NETWORKS = {  # name: (network, folder of IDX files, mean, std); the first is among the shared networks
    "lenet5": ("models/lenet5.onnx", "data/mnist", 0.0, 1.0),
    "fashion_lenet": ("demo/fashion_lenet.onnx", "/usr/share/datasets/fashion-mnist", 0.2860, 0.3530),
}
ATTACKS = {  # name: (class in foolbox.attacks, its arguments, eps by network, plexor's options without eps)
    "fgsm": ("LinfFastGradientAttack", {"random_start": False}, (0.1, 8 / 255), "--method fgsm"),
    "fgsm l2": ("L2FastGradientAttack", {"random_start": False}, (0.5, 0.5), "--method fgsm --norm l2"),
    "bim": ("LinfBasicIterativeAttack", {"random_start": False}, (0.1, 8 / 255), "--method bim"),
    "pgd": ("LinfPGD", {"random_start": False}, (0.1, 4 / 255), "--method pgd --steps 40 --no-random"),
    "deepfool linf": ("LinfDeepFoolAttack", {}, None, "--method deepfool --norm linf"),
    "deepfool l2": ("L2DeepFoolAttack", {}, None, "--method deepfool --norm l2"),
    # against `attack` without options: pgd, 20 steps of eps/4 from a random start
    "default": ("LinfPGD", {"random_start": False}, (8 / 255, 8 / 255), ""),
    "default, random": ("LinfPGD", {"steps": 20, "rel_stepsize": 0.25}, (8 / 255, 8 / 255), ""),
}


def test_split(folder, count):
    """The first inputs of the test split, as 0 to 1, and their labels."""
    with gzip.open(os.path.join(folder, "t10k-images-idx3-ubyte.gz")) as file:
        x = np.frombuffer(file.read(), np.uint8, offset=16).reshape(-1, 1, 28, 28)[:count]
    with gzip.open(os.path.join(folder, "t10k-labels-idx1-ubyte.gz")) as file:
        y = np.frombuffer(file.read(), np.uint8, offset=8).astype(np.int64)[:count]
    return x.astype(np.float32) / np.float32(255), y
