#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes mcnemar_golden.h: McNemar's test by scipy, the reference for tests/stats/test_mcnemar.c."""
from scipy.stats import binomtest, chi2

CASES = [(0, 0), (1, 0), (0, 1), (1, 1), (2, 5), (5, 2), (10, 0), (12, 12), (3, 20), (9, 16),
         (25, 25), (59, 6), (121, 59), (300, 412), (1000, 1010), (5000, 4000), (40000, 41000),
         (300, 3), (0, 900)]

print("/* made by make_mcnemar.py: b, c, chi2, its p, the exact p */")
for b, c in CASES:
    n = b + c
    statistic = max(0, abs(b - c) - 1) ** 2 / n if n else 0.0
    exact = binomtest(b, n, 0.5).pvalue if n else 1.0
    print(f"{{{b}, {c}, {statistic!r}, {float(chi2.sf(statistic, 1))!r}, {float(exact)!r}}},")
