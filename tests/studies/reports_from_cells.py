#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""reports_from_cells.py PLEXOR - every studies/NAME/cells.jsonl gives docs/studies/NAME.md, charts and all, in seconds.

studies/NAME/cells-PART.jsonl gives docs/studies/NAME-PART.md: a part that was run by itself.

Speaks TAP; skips while no study has its cells in the tree.
"""
import glob
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))


def text_of(path):
    with open(path, encoding="utf-8") as file:
        return re.sub(r"version \d+\.\d+\.\d+", "version", file.read())


def faults_of(cells, folder):
    study = os.path.basename(os.path.dirname(cells))
    name = study + os.path.basename(cells)[len("cells"):-len(".jsonl")]
    done = subprocess.run([sys.argv[1], "study", study, "--from", cells, "--report", os.path.join(folder, name + ".md")],
                          capture_output=True, text=True, timeout=60, check=False)
    if done.returncode:
        return [done.stderr.strip()]
    made = {os.path.basename(path) for path in glob.glob(os.path.join(folder, name + "*"))}
    return [f"docs/studies/{file} is not what the cells give" for file in sorted(made)
            if not os.path.exists(os.path.join(ROOT, "docs", "studies", file))
            or text_of(os.path.join(folder, file)) != text_of(os.path.join(ROOT, "docs", "studies", file))]


def main():
    there = sorted(glob.glob(os.path.join(ROOT, "studies", "*", "cells*.jsonl")))
    print(f"1..{len(there)}" if there else "1..0 # SKIP no study has its cells in the tree")
    failed = False
    for number, cells in enumerate(there, 1):
        with tempfile.TemporaryDirectory() as folder:
            faults = faults_of(cells, folder)
        failed = failed or bool(faults)
        print(f"{'not ' if faults else ''}ok {number} - {os.path.relpath(cells, ROOT)}")
        for fault in faults:
            print(f"# {fault}")
    return 1 if failed else 0


sys.exit(main())
