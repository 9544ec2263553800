#!/usr/bin/env python3
"""The tables of studies/deepsensor/deepsensor_paper.c against the CSV blocks of the specification's H.2.

Speaks TAP; skips where the specification is not there (../shared or $PLEXOR_SHARED). `deepsensor_spec.py PROGRAM`: a program that
prints `TABLE|ROW|COLUMN|VALUE` for every number (test_deepsensor_paper --print).
"""
import csv
import os
import re
import subprocess
import sys

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
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
    for folder in (os.environ.get("PLEXOR_SHARED"), os.path.join(ROOT, "..", "shared")):
        path = folder and os.path.join(folder, "spec", "localise-generate-repair.md")
        if path and os.path.exists(path):
            break
    else:
        print("1..0 # SKIP there is no specification")
        return 0
    printed = subprocess.run([sys.argv[1], "--print"], capture_output=True, text=True, check=True).stdout
    ours = {tuple(line.split("|")[:3]): float(line.split("|")[3]) for line in printed.splitlines()}
    with open(path, encoding="utf-8") as file:
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
