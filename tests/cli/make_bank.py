#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""make_bank.py HASH LAYER:UNITS ... - a small bank of measured labels for the network of that hash, on standard output.

Unit i of every layer has the i-th of a few phrases; the last one of each layer is inactive.
"""
import json
import sys

PHRASES = ["dark regions", "bright regions", "thick strokes", "thin strokes", "stroke ends", "loops", "gray regions"]


def main():
    score = {"count": 0, "bleu": None, "exact": None, "precision": None, "recall": None}
    share = {"value": None, "chance": None, "sd": None}
    gates = {"held_out": score, "unseen_pairs": score, "labelled": 0, "top1": share, "top3": share, "selective": 0, "cosine": share,
             "named": share, "units": 0, "inactive": 0, "distinct": 0, "most_frequent": None, "permutations": 0}
    units = []
    for word in sys.argv[2:]:
        layer, count = word.rsplit(":", 1)
        for i in range(int(count)):
            last = i + 1 == int(count)
            units.append({"layer": layer, "unit": i, "phrase": "" if last else PHRASES[i % len(PHRASES)], "inactive": last, "level": 0.5,
                          "labels": [], "class": None, "class_share": 0, "exemplars": []})
    print(json.dumps({"format": "plexor bank", "version": 1, "plexor": "0.1.0", "model": sys.argv[1], "data": "0" * 16, "images": 100,
                      "describer": "dissect", "encoder": None, "seed": "0" * 16, "units": len(units), "validation": "measured labels",
                      "gates": gates, "sentences": []}))
    for unit in units:
        print(json.dumps(unit))


if __name__ == "__main__":
    main()
