#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The tables of studies/deepfault/deepfault_paper.c against the CSV blocks of LGR H.3 (docs/spec).

Speaks TAP. `deepfault_spec.py PROGRAM`: a program that prints `TABLE|SUBJECT|WORDS|VALUE` for every number
(test_deepfault_paper --print). A number whose last digit is lost, or that cannot be read, must be nan.
"""
import csv
import math
import os
import re
import subprocess
import sys

PAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs", "spec", "localise-generate-repair.md")
KS = {"MNIST": [1, 2, 3, 5, 10], "CIFAR": [10, 20, 30, 40, 50]}
LETTER = {"Tarantula": "T", "Ochiai": "O", "DStar": "D", "Random": "R"}


def blocks(text):
    part = text[text.index("### H.3 P004"):text.index("### H.4")]
    found = {}
    for name, body in re.findall(r"^# P004\.(\S+)[^\n]*\n((?:[^#`\n][^\n]*\n)+)", part, re.M):
        found[name] = list(csv.DictReader(body.splitlines()))
    return found


def expected(b):
    for row in b["T2"]:
        yield ("T2", row["model"], "accuracy"), row["accuracy"]
        yield ("T2", row["model"], "parameters"), row["parameters"]
    for data in ("MNIST", "CIFAR"):
        for row in b["T3." + data]:
            for column, value in list(row.items())[2:]:
                net, letter = column.split("_")
                yield ("T3", f"{data}_{net[1]}", f"{row['metric']} {letter} {row['k']}"), value
        for i, k in enumerate(KS[data]):
            for distance in ("L1", "L2", "Linf"):
                yield ("T4.k", data, f"{distance} {k}"), b["T4.k"][i][f"{data}_{distance}"]
            yield ("T5", data, str(k)), list([r for r in b["T5"] if r["dataset"] == data][0].values())[1 + i]
            for row in b["T10"]:
                if row["dataset"] == data:
                    yield ("T10", data, f"{row['measure']} {k}"), list(row.values())[2 + i]
            for row in b["T6" if data == "MNIST" else "T7"]:
                yield ("T6", data, f"{LETTER[row['measure']]} {row['k']} {k}"), row[f"k{k}"]
        for row in b["T4.measure"]:
            for distance in ("L1", "L2", "Linf"):
                yield ("T4.measure", data, f"{distance} {LETTER[row['measure']]}"), row[f"{data}_{distance}"]


def main():
    printed = subprocess.run([sys.argv[1], "--print"], capture_output=True, text=True, check=True).stdout
    ours = {tuple(line.split("|")[:3]): float(line.split("|")[3]) for line in printed.splitlines()}
    with open(PAGE, encoding="utf-8") as file:
        wanted = dict(expected(blocks(file.read())))
    faults = [f"{key} is missing" for key in wanted.keys() - ours.keys()]
    faults += [f"{key} is not in the specification" for key in ours.keys() - wanted.keys()]
    for key in wanted.keys() & ours.keys():
        try:
            value = float(wanted[key])
        except ValueError:
            value = math.nan
        if not (ours[key] == value or math.isnan(ours[key]) and math.isnan(value)):
            faults.append(f"{key}: {ours[key]}, the specification has {wanted[key]}")
    print("1..1")
    print(f"{'not ' if faults else ''}ok 1 - {len(wanted)} numbers")
    for fault in sorted(faults):
        print(f"# {fault}")
    return 1 if faults else 0


sys.exit(main())
