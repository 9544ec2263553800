#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Writes boosted_trees_golden.h: scikit-learn's histogram boosting on the same rows.

Values are made as in make_tests.py; test_boosted_trees.c makes the same rows. On the coarse grid
both cut between the same values and grow the same trees, so that scores can be compared one by
one; on fine values only the quality can.
"""
import os
import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import roc_auc_score

HERE = os.path.dirname(os.path.abspath(__file__))
N, D = 3000, 6


def rows(grid):
    i = (np.arange(N, dtype=np.uint64)[:, None] * D + np.arange(D, dtype=np.uint64)) % 2**32
    stream = np.uint64(9)

    def draw(i, stream):
        x = (i * np.uint64(2654435761) + np.uint64(stream) * np.uint64(40503)
             + np.uint64(12345)) % np.uint64(2**32)
        x = (x ^ (x >> np.uint64(15))) * np.uint64(2246822519) % np.uint64(2**32)
        x = (x ^ (x >> np.uint64(13))) * np.uint64(3266489917) % np.uint64(2**32)
        return (x ^ (x >> np.uint64(16))) / 2.0**32

    x = draw(i, 9)
    if grid:
        x = np.floor(x * grid)
    x = x.astype(np.float32)
    u = x / (grid - 1 if grid else 1)
    signal = 2 * u[:, 0] - 1 + (2 * u[:, 1] - 1) * (2 * u[:, 2] - 1) * 2 + (u[:, 3] > 0.75)
    noise = draw(np.arange(N, dtype=np.uint64), 10)
    y = noise < 1 / (1 + np.exp(-3 * signal.astype(np.float64)))
    return x, y


def auc_of(grid):
    x, y = rows(grid)
    half = N // 2
    model = HistGradientBoostingClassifier(max_iter=100, learning_rate=0.05, max_depth=5,
                                           max_leaf_nodes=None, min_samples_leaf=1,
                                           l2_regularization=1.0, max_bins=255,
                                           early_stopping=False)
    model.fit(x[:half], y[:half])
    score = model.decision_function(x[half:])
    return roc_auc_score(y[half:], score), score, int(y.sum())


with open(os.path.join(HERE, "boosted_trees_golden.h"), "w") as out:
    fine, _, fine_yes = auc_of(0)
    coarse, score, coarse_yes = auc_of(13)
    out.write("/* made by make_boosted_trees.py */\n")
    out.write("enum { FINE_YES = %d, COARSE_YES = %d };\n" % (fine_yes, coarse_yes))
    out.write("static const double fine_auc = %.17g, coarse_auc = %.17g;\n" % (fine, coarse))
    out.write("static const double coarse_scores[] = {\n")
    for s in score[:200]:
        out.write("    %.9g,\n" % s)
    out.write("};\n")
