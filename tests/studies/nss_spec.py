#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The tables of studies/nss/nss_paper.c against the CSV blocks of CSM E.1 (docs/spec).

Speaks TAP. `nss_spec.py PROGRAM`: a program that prints `TABLE|SUBJECT|COLUMN|ROW|VALUE` for every number
(test_nss_paper --print).
"""
import csv
import io
import os
import re
import subprocess
import sys

PAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs", "spec", "criteria-selection-metrics.md")
SHORT = ["MNIST (L-1)", "MNIST (L-5)", "Fashion (L-1)", "Fashion (R-20)", "SVHN (L-5)", "SVHN (V-16)",
         "CIFAR-10 (V-16)", "CIFAR-10 (R-20)"]
COLUMN = ["MNIST_L1", "MNIST_L5", "Fashion_L1", "Fashion_R20", "SVHN_L5", "SVHN_V16", "CIFAR10_V16", "CIFAR10_R20"]
LONG = ["MNIST (LeNet-1)", "MNIST (LeNet-5)", "Fashion (LeNet-1)", "Fashion (ResNet-20)", "SVHN (LeNet-5)",
        "SVHN (VGG-16)", "CIFAR-10 (VGG-16)", "CIFAR-10 (ResNet-20)"]
METHOD8 = {"Softmax": "Vanilla Softmax", "Dropout": "MC Dropout"}
LAYER = {"Layer 1": "Layer1", "Layer 2": "Layer2", "Layer -2": "Layer-2", "Layer -1": "Layer-1",
         "Gini-Layer": "GiniLayer"}


def expected(blocks):
    """(table, subject, column, row) -> text, as test_nss_paper names them."""
    for table in (7, 10):
        for row in blocks[table]:
            for method, value in list(row.items())[2:]:
                yield (table, row["dataset_model"], row["select_pct"], method), value
    for row in blocks[9]:
        for method, value in list(row.items())[1:]:
            yield (9, row["dataset_model"], "-", method), value
    for table in (6, 8, 11):
        for row in blocks[table]:
            name = list(row.values())[0]
            name = {v: k for k, v in METHOD8.items()}.get(name, name)
            for subject, column in zip(SHORT, COLUMN):
                yield (table, subject, "-", name), row[column]
    for row in blocks[12]:
        for share, value in list(row.items())[1:]:
            yield (12, SHORT[LONG.index(row["dataset_model"])], "-", share), value
    for row in blocks[13]:
        for layer, value in list(row.items())[1:]:
            yield (13, SHORT[LONG.index(row["dataset_model"])], "-", layer), value
    for table in (14, 15):
        for row in blocks[table]:
            for key, value in list(row.items())[1:]:
                net, rate = key.split("_")
                subject = "CIFAR-10 (R-20)" if net == "R20" else "CIFAR-10 (V-16)"
                yield (table, subject, rate, row["mutation"].lower()), value
    for row in blocks[1]:
        subject = "MNIST (L-1)" if row["dataset_model"] == "MNIST-LeNet1" else "MNIST (L-5)"
        for rate in ("5", "10", "15", "20"):
            yield (1, subject, rate, row["strategy"]), row[rate]
    for row in blocks[3]:
        subject = SHORT[LONG.index(f"{row['dataset']} ({row['model']})")]
        yield (3, subject, "-", "accuracy"), row["original_accuracy_pct"]
        yield (3, subject, "-", "parameters"), row["neurons"]


def main():
    with open(PAGE, encoding="utf-8") as text:
        spec = text.read()
    spec = spec[spec.index("### E.1"):spec.index("### E.2")]
    blocks = {int(number): list(csv.DictReader(io.StringIO(body)))
              for number, body in re.findall(r"\*\*NSS Table (\d+)[^\n]*\n+```csv\n(.*?)```", spec, re.S)}
    wanted = dict(expected(blocks))
    got = {}
    for line in subprocess.run([sys.argv[1], "--print"], check=True, capture_output=True, text=True).stdout.splitlines():
        table, subject, column, row, value = line.split("|")
        got[(int(table), subject, column, LAYER.get(row, row))] = value
    wrong = [key for key in wanted if key not in got or float(got[key]) != float(wanted[key])]
    wrong += [key for key in got if key not in wanted]
    print("1..1")
    print(f"{'not ok' if wrong else 'ok'} 1 - {len(wanted)} numbers are the specification's")
    for key in wrong[:20]:
        print(f"# {key}: {got.get(key)}, expected {wanted.get(key)}")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
