#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_tree.py TOP - who knows the field finds the file: its first line has the field's word. Speaks TAP.

Besides: rulers are one line, files have at most 600 lines.
"""
import glob
import os
import re
import sys

TOP = sys.argv[1]
MOST = 600
# what somebody looks for, and the file whose first line says it
WORDS = {
    "KMNC": "src/cover/crit_kmnc.c",
    "DSA": "src/cover/surprise_dsa.c",
    "KDE": "src/cover/surprise_lsa_kde.c",
    "NSS": "src/select/nss.c",
    "Ochiai": "src/localize/measures.c",
    "Shapley": "src/attribute/shapley.c",
    "conductance": "src/attribute/conductance.c",
    "Grad-CAM": "src/attribute/grad_cam.c",
    "LRP": "src/attribute/lrp_rules.c",
    "PGD": "src/attack/pgd.c",
    "Winograd": "src/engine/winograd.c",
    "set cover": "src/generate/minimize_inputs.c",
    "energy": "src/generate/fuzz_energy.c",
    "campaign's folder: making, locking": "src/store/campaign.c",
    "t-SNE": "src/stats/tsne.c",
    "SSIM": "src/picture/ssim.c",
    "WAV": "src/data/wav.c",
    "BatchNormalization": "src/ops/batch_norm.c",
}


def read(path):
    with open(os.path.join(TOP, path), encoding="utf-8") as file:
        return file.read()


def sources():
    for root in ("src", "include", "studies", "tests", "plugins", "examples"):
        for path in sorted(glob.glob(os.path.join(TOP, root, "**", "*.[ch]"), recursive=True)):
            if "golden" not in path:  # written by scripts
                yield os.path.relpath(path, TOP)


def main():
    texts = {path: read(path) for path in sources()}
    words, rulers, long = [], [], []
    for word, path in WORDS.items():
        if path not in texts:
            words.append(f"{word}: there is no {path}")
        elif word not in texts[path].split("\n", 1)[0]:
            words.append(f"{word}: not in the first line of {path}")
    for path, text in texts.items():
        lines = [line for line in text.splitlines() if "SPDX-License-Identifier" not in line]
        if len(lines) > MOST:
            long.append(f"{path} has {len(lines)} lines")
        for number, line in enumerate(lines, 1):
            if re.match(r"\s*/\* --- ", line) and not re.search(r"-(?: \*/)?$", line):
                rulers.append(f"{path}:{number}: {line.strip()}")
            if re.match(r"\s*\*?\s*-{20,}(?: \*/)?$", line):
                rulers.append(f"{path}:{number}: a ruler of two lines")
    cases = (f"{len(WORDS)} words of the field lead to their files", words), ("rulers are whole", rulers), \
            (f"files have at most {MOST} lines", long)
    print(f"1..{len(cases)}")
    for number, (title, faults) in enumerate(cases, 1):
        print(f"{'not ' if faults else ''}ok {number} - {title}")
        for fault in faults:
            print(f"# {fault}")
    return any(faults for _, faults in cases) or len(texts) < 500


sys.exit(main())
