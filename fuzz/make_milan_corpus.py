#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""make_milan_corpus.py - seeds of fuzz_milan: one byte that says which file of the folder, then the file"""
import os
import struct

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "corpus", "milan")


def npy(descr, shape, data):
    head = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}".encode()
    head += b" " * (-(len(head) + 11) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head + data


SEEDS = (
    ("images", npy("|u1", "(2, 3, 3, 4, 4)", bytes(288))),
    ("masks", npy("|u1", "(2, 3, 1, 4, 4)", b"\1" * 96)),
    ("maps", npy("<f4", "(2, 3, 2, 2)", bytes(96))),
    ("units", npy("<i8", "(2,)", struct.pack("<2q", 5, 9))),
    ("ids", b"1,2,3\n4,5,-1\n"),
    ("levels", b"unit,level,least,most,inactive,not_finite\n0,1,0,2,0,0\n1,nan,0,2,1,0\n"),
    ("activations", b"1.5,1e3,nan\n4,5,6"),
    ("json", b'{"version": 1, "layers": ["layer"], "model_hash": "ff", "inputs": 3}'),
    ("annotations", b'layer,unit,summary\nlayer,0,"red, ""and""\nblue"\n'),
)

os.makedirs(TOP, exist_ok=True)
for which, (name, content) in enumerate(SEEDS):
    with open(os.path.join(TOP, name), "wb") as file:
        file.write(bytes([which]) + content)
