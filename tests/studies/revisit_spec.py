#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The tables of studies/revisit/revisit_paper.c against the CSV blocks of CSM E.2 (docs/spec).

Speaks TAP. `revisit_spec.py PROGRAM`: a program that prints `TABLE|ROW|COLUMN|VALUE` for every number
(test_revisit_verdict --print).
"""
import csv
import os
import re
import subprocess
import sys

PAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs", "spec", "criteria-selection-metrics.md")


def wanted(text):
    part = text[text.index("### E.2 [REV]"):text.index("## F. Public")]
    first, second, rates, defended = (list(csv.DictReader(b.splitlines()))
                                      for b in re.findall(r"```csv\n(.*?)```", part, re.S))
    found = {}
    for row in first:
        for column in ("layers", "parameters", "accuracy_pct"):
            found["I", f"{row['dataset']}, {row['model']}", column] = float(row[column])
    for column, value in list(second[0].items())[1:]:
        found["II", "p", column] = float(value)
    for row in rates:
        for column, value in list(row.items())[2:]:
            found["MR", f"{row['dataset']}, {row['model']}", column] = float(value)
    for row in defended:
        model, data = re.fullmatch(r"(.*) \((.*)\)", row["model"]).groups()
        for column, value in list(row.items())[2:]:
            found["AT", f"{data}, {model}, {row['defence']}", column] = float(value)
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
