#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The tables of studies/deepsensor/deepsensor_paper.c against the CSV blocks of LGR H.2 (docs/spec).

Speaks TAP. `deepsensor_spec.py PROGRAM`: a program that prints `TABLE|ROW|COLUMN|VALUE` for every number
(test_deepsensor_paper --print).
"""
import csv
import os
import re
import subprocess
import sys

PAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs", "spec", "localise-generate-repair.md")
KEYS = {"T1": ["model"], "T2": ["model"], "T3": ["model", "method"], "T4": ["model", "alpha"], "T5": ["model", "training"],
        "T6": ["model", "method"], "T7": ["model", "training"], "time": ["model"]}


def wanted(text):
    part = text[text.index("### H.2 P003"):text.index("### H.3")]
    found = {}
    for table, body in re.findall(r"^# P003\.(\w+)[^\n]*\n((?:[^#`\n][^\n]*\n)+)", part, re.M):
        for row in csv.DictReader(body.splitlines()):
            key = " ".join(row[name] for name in KEYS[table])
            for column, value in row.items():
                if column not in KEYS[table] + ["dataset", "polluted_class"]:
                    found[table, key, column] = float(value)
    return found


def main():
    printed = subprocess.run([sys.argv[1], "--print"], capture_output=True, text=True, check=True).stdout
    ours = {tuple(line.split("|")[:3]): float(line.split("|")[3]) for line in printed.splitlines()}
    with open(PAGE, encoding="utf-8") as file:
        theirs = wanted(file.read())
    faults = [f"{key} is missing" for key in theirs.keys() - ours.keys()]
    faults += [f"{key} is not in the specification" for key in ours.keys() - theirs.keys()]
    faults += [f"{key}: {ours[key]}, the specification has {theirs[key]}"
               for key in theirs.keys() & ours.keys() if ours[key] != theirs[key]]
    print("1..1")
    print(f"{'not ' if faults else ''}ok 1 - {len(theirs)} numbers")
    for fault in sorted(faults):
        print(f"# {fault}")
    return 1 if faults else 0


sys.exit(main())
