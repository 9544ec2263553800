#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Writes correlation_golden.h and mann_whitney_golden.h: scipy's figures for the same values.

Values are made by value(): the tests make them by the same arithmetic.
"""
import os
import numpy as np
from scipy import special, stats

HERE = os.path.dirname(os.path.abspath(__file__))


def value(i, stream, grid):
    """A number in [0, 1), or on a grid of that many steps where grid > 0."""
    x = (i * 2654435761 + stream * 40503 + 12345) % 2**32
    x = (x ^ (x >> 15)) * 2246822519 % 2**32
    x = (x ^ (x >> 13)) * 3266489917 % 2**32
    u = (x ^ (x >> 16)) / 2**32
    return np.floor(u * grid) if grid else u


def column(n, stream, grid):
    return np.array([value(i, stream, grid) for i in range(n)])


with open(os.path.join(HERE, "correlation_golden.h"), "w") as out:
    out.write("/* made by make_tests.py */\n")
    out.write("static const struct {\n    double a, b, x, beta;\n} betas[] = {\n")
    for a in (0.5, 1, 2.5, 10, 300):
        for b in (0.5, 1, 7, 40):
            for x in (0, 1e-9, 0.01, 0.3, 0.5, 0.9, 0.999, 1):
                out.write("    {%.17g, %.17g, %.17g, %.17g},\n" % (a, b, x, special.betainc(a, b, x)))
    out.write("};\nstatic const struct {\n    double t, freedom, p;\n} students[] = {\n")
    for freedom in (1, 2, 3, 8, 30, 500, 1e6):
        for t in (0, 1e-8, 0.3, -1, 2, 5, 40):
            p = 2 * stats.t.sf(abs(t), freedom)
            out.write("    {%.17g, %.17g, %.17g},\n" % (t, freedom, p))
    out.write("};\nstatic const struct {\n    int count;\n    unsigned grid;\n"
              "    double share, pearson, pearson_p, spearman, spearman_p;\n} correlations[] = {\n")
    for n in (3, 5, 10, 60, 1000):
        for grid in (0, 4):
            for share in (0, 0.5, -3):
                x, y = column(n, 1, grid), column(n, 2, grid)
                y = y + share * x
                r, p = stats.pearsonr(x, y)
                s, q = stats.spearmanr(x, y)
                out.write("    {%d, %d, %.17g, %.17g, %.17g, %.17g, %.17g},\n"
                          % (n, grid, share, r, p, s, q))
    out.write("};\n")

with open(os.path.join(HERE, "mann_whitney_golden.h"), "w") as out:
    out.write("/* made by make_tests.py; methods: 0 auto, 1 normal; alternatives as in stats.h */\n")
    out.write("static const struct {\n    int a, b;\n    unsigned grid;\n    double shift;\n"
              "    int method, alternative;\n    double u, p;\n} tests_by_scipy[] = {\n")
    for n1, n2 in ((1, 1), (1, 5), (3, 4), (5, 5), (8, 8), (20, 20), (20, 7), (21, 5), (30, 60)):
        for grid, shift in ((0, 0), (0, 0.3), (0, -0.6), (5, 0), (5, 2)):
            a, b = column(n1, 3, grid) + shift, column(n2, 4, grid)
            ties = len(set(a) | set(b)) < n1 + n2
            for method in (0, 1):
                exact = method == 0 and not ties and n1 <= 20 and n2 <= 20
                for k, alternative in enumerate(("two-sided", "greater", "less")):
                    r = stats.mannwhitneyu(a, b, alternative=alternative,
                                           method="exact" if exact else "asymptotic")
                    if np.isnan(r.pvalue):
                        continue  # all values equal; ours says 1
                    out.write("    {%d, %d, %d, %.17g, %d, %d, %.17g, %.17g},\n"
                              % (n1, n2, grid, shift, method, k, r.statistic, r.pvalue))
    out.write("};\n")
