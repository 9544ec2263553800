#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Writes chi_square_golden.h: survival and critical values by scipy."""
import os
from scipy import stats

HERE = os.path.dirname(os.path.abspath(__file__))
with open(os.path.join(HERE, "chi_square_golden.h"), "w") as out:
    out.write("/* made by make_chi_square.py */\n")
    out.write("static const struct {\n    double x, freedom, survival;\n} survivals[] = {\n")
    for freedom in (1, 2, 3, 9, 49, 225, 961):
        for share in (0.01, 0.3, 0.9, 1, 1.1, 1.7, 4):
            x = share * freedom
            out.write("    {%.17g, %d, %.17g},\n" % (x, freedom, stats.chi2.sf(x, freedom)))
    out.write("};\nstatic const struct {\n    double p, freedom, x;\n} criticals[] = {\n")
    for freedom in (1, 2, 9, 49, 225, 961):
        for p in (0.9, 0.5, 0.1, 0.05, 0.01, 1e-6, 1e-12):
            out.write("    {%.17g, %d, %.17g},\n" % (p, freedom, stats.chi2.isf(p, freedom)))
    out.write("};\n")
