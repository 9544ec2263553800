#!/usr/bin/env python3
"""The tables of studies/fuzz/fuzz_paper.c and nsgen_paper.c against the CSV blocks of the specification's H.1.

Speaks TAP; skips where the specification is not there (../shared or $PLEXOR_SHARED). `fuzz_spec.py PROGRAM`: a program that
prints `TABLE|NAME|NAME|COLUMN|VALUE` for every number (test_fuzz_paper --print).
"""
import csv
import math
import os
import re
import subprocess
import sys

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))


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
    for folder in (os.environ.get("PLEXOR_SHARED"), os.path.join(ROOT, "..", "shared")):
        path = folder and os.path.join(folder, "spec", "localise-generate-repair.md")
        if path and os.path.exists(path):
            break
    else:
        print("1..0 # SKIP there is no specification")
        return 0
    printed = subprocess.run([sys.argv[1], "--print"], capture_output=True, text=True, check=True).stdout
    ours = {tuple(line.split("|")[:4]): float(line.split("|")[4]) for line in printed.splitlines()}
    wanted = {}
    with open(path, encoding="utf-8") as file:
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
