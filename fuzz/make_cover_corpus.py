#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""make_cover_corpus.py PLEXOR - seeds for fuzz_cover: a state and a profile of a small network, in
the form that the target takes (see there), and a profile of the neurons that the target asks for."""
import io
import json
import os
import subprocess
import sys
import tempfile

import numpy as np

from zip_members import convert, put

HERE = os.path.dirname(os.path.abspath(__file__))
MODEL = os.path.join(HERE, "..", "tests", "cli", "models", "digits.onnx")
FOLDER = os.path.join(HERE, "corpus", "cover")


def npy(array):
    out = io.BytesIO()
    np.save(out, array)
    return out.getvalue()


def profile():
    meta = {"format": "plexor profile", "version": 1, "model": "0" * 16, "data": "0" * 16,
            "seed": "0" * 16, "count": 4, "rejected": 0, "classes": 2, "labelled": True,
            "sections": [{"learned": "ranges of fuzz", "neurons": "fuzz", "prefix": ""},
                         {"learned": "traces of fuzz", "neurons": "fuzz", "prefix": ""}]}
    members = [("meta.npy", npy(np.frombuffer(json.dumps(meta).encode(), np.uint8))),
               ("class_labels.npy", npy(np.array([2, 2]))),
               ("class_predictions.npy", npy(np.array([1, 3]))),
               ("ranges_count.npy", npy(np.array([4]))),
               ("traces.npy", npy(np.arange(20, dtype=np.float32).reshape(4, 5))),
               ("labels.npy", npy(np.array([0, 0, 1, 1]))),
               ("predictions.npy", npy(np.array([0, 1, 1, 1])))]
    for layer, count in (("a", 2), ("b", 3)):
        values = np.arange(count)
        for what, dtype in (("min", np.float32), ("max", np.float32), ("mean", float), ("m2", float)):
            members.append((f"{layer}/{what}.npy", npy(values.astype(dtype))))
    put(os.path.join(FOLDER, "profile-layers"), members)


plexor = os.path.abspath(sys.argv[1])
os.makedirs(FOLDER, exist_ok=True)
profile()
listed = subprocess.run([plexor, "list", "criteria", "--json"], check=True, capture_output=True)
with tempfile.TemporaryDirectory() as folder:
    learned = os.path.join(folder, "p")
    subprocess.run([plexor, "profile", MODEL, "--train", "digits", "--train-limit", "40", "-q",
                    "--set", "kmnc.k=4", "-o", learned], check=True, stdout=subprocess.DEVNULL)
    convert(os.path.join(FOLDER, "profile"), learned)
    for criterion in json.loads(listed.stdout)["criteria"]:
        name = criterion["name"]
        state = os.path.join(folder, name)
        subprocess.run([plexor, "cover", MODEL, "--data", "digits", "--limit", "5", "-q", "--profile",
                        learned, "--set", "kmnc.k=4", "--criteria", name, "--state", state],
                       check=True, stdout=subprocess.DEVNULL)
        convert(os.path.join(FOLDER, "state-" + name), state)
