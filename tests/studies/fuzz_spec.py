#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The tables of studies/fuzz/fuzz_paper.c and nsgen_paper.c against the CSV blocks of LGR H.1 (docs/spec).

Speaks TAP. `fuzz_spec.py PROGRAM`: a program that prints `TABLE|NAME|NAME|COLUMN|VALUE` for every number
(test_fuzz_paper --print).
"""
import csv
import math
import os
import re
import subprocess
import sys

PAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs", "spec", "localise-generate-repair.md")


def blocks(text):
    part = text[text.index("### H.1 P001"):text.index("### H.2")]
    found = re.findall(r"^# P001\.(T3|T4|T5|T12)\n((?:[^#`\n][^\n]*\n)+)", part, re.M)
    return {name: list(csv.DictReader(body.splitlines())) for name, body in found}  # rows have two names, then numbers


def number(text):
    try:
        return float(text)
    except ValueError:
        return math.nan


def main():
    printed = subprocess.run([sys.argv[1], "--print"], capture_output=True, text=True, check=True).stdout
    ours = {tuple(line.split("|")[:4]): float(line.split("|")[4]) for line in printed.splitlines()}
    wanted = {}
    with open(PAGE, encoding="utf-8") as file:
        for table, rows in blocks(file.read()).items():
            for row in rows:
                names = list(row.values())[:2]
                for column, value in list(row.items())[2:]:
                    wanted[table, names[0], names[1], column] = number(value)
    faults = [f"{key} is missing" for key in wanted.keys() - ours.keys()]
    faults += [f"{key} is not in the specification" for key in ours.keys() - wanted.keys()]
    for key in wanted.keys() & ours.keys():
        if not (ours[key] == wanted[key] or math.isnan(ours[key]) and math.isnan(wanted[key])):
            faults.append(f"{key}: {ours[key]}, the specification has {wanted[key]}")
    print("1..1")
    print(f"{'not ' if faults else ''}ok 1 - {len(wanted)} numbers")
    for fault in sorted(faults):
        print(f"# {fault}")
    return 1 if faults else 0


sys.exit(main())
