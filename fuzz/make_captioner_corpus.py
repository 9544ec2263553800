#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""make_captioner_corpus.py - seeds for fuzz_captioner: the smallest captioners there are, in the form that the
target takes (zip_members.h)."""
import io
import json
import os
import struct

import numpy as np

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "corpus", "captioner")
KNOWN, D, H, A, F, K = 3, 2, 2, 3, 2, 2
V = KNOWN + 4
META = {"format": "plexor captioner", "version": 1, "words": KNOWN, "embedding": D, "hidden": H, "attention": A,
        "size": F, "k": K, "beam": 3, "steps": 4, "lambda": 0.2, "note": "fuzz"}
DECODER = {"embedding": (V, D), "start_h": (H, F), "start_c": (H, F), "start_h_bias": (H,), "start_c_bias": (H,),
           "key": (A, F), "key_bias": (A,), "query": (A, H), "gate": (F, H), "state": (4 * H, H), "query_bias": (A,),
           "gate_bias": (F,), "state_bias": (4 * H,), "score": (1, A), "score_bias": (1,), "input": (4 * H, D + F),
           "input_bias": (4 * H,), "out": (V, H), "out_bias": (V,)}
LANGUAGE = {"embedding": (V, D), "input_0": (4 * H, D), "state_0": (4 * H, H), "input_bias_0": (4 * H,),
            "state_bias_0": (4 * H,), "input_1": (4 * H, H), "state_1": (4 * H, H), "input_bias_1": (4 * H,),
            "state_bias_1": (4 * H,), "out": (V, H), "out_bias": (V,)}


def npy(array):
    out = io.BytesIO()
    np.save(out, array)
    return out.getvalue()


def text(words):
    return np.frombuffer(words.encode(), dtype=np.uint8)


def put(name, scale=1.0, words="red\nedges\n,\n", **meta):
    random = np.random.default_rng(10)
    arrays = {"meta": text(json.dumps({**META, **meta})), "words": text(words),
              "mean": np.zeros(F, np.float32), "scale": np.ones(F, np.float32)}
    for room, shapes in (("decoder", DECODER), ("language", LANGUAGE)):
        for tensor, shape in shapes.items():
            arrays[f"{room}/{tensor}"] = (scale * random.standard_normal(shape)).astype(np.float32)
    with open(os.path.join(FOLDER, name), "wb") as file:
        for member, array in arrays.items():
            data = npy(array)
            file.write(struct.pack("<BI", len(member) + 4, len(data)) + member.encode() + b".npy" + data)


os.makedirs(FOLDER, exist_ok=True)
put("plain")
put("huge", scale=1e37)
put("greedy", beam=1, steps=1, **{"lambda": 0})
put("twice", words="red\nred\n,\n")
put("wide", hidden=65536, k=4096)
