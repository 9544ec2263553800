#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""swarm_picture.py FOLDER OUT.png - seeds, and below each the last example that a swarm made of it; says how many are wrong

FOLDER is of `plexor export CAMPAIGN --split all --format npz,csv`, grey pictures, 8 bits. Ten seeds to a row, in their order.
docs/deepsensor-default.png is of

    plexor fuzz lenet5.onnx --data mnist --engine deepsensor --seeds 20 --seed 1 -o s.campaign
    plexor export s.campaign -o s --split all --format npz,csv
"""
import csv
import os
import struct
import sys
import zlib

import numpy

COLUMNS, SCALE, GAP = 10, 3, 4


def png(path, grey):
    """An 8-bit grey picture."""
    def chunk(name, data):
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
    height, width = grey.shape
    rows = b"".join(b"\0" + row.tobytes() for row in grey.astype(numpy.uint8))
    with open(path, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)) +
                   chunk(b"IDAT", zlib.compress(rows, 9)) + chunk(b"IEND", b""))


def main():
    folder, out = sys.argv[1:]
    pictures = numpy.load(os.path.join(folder, "inputs.npz"))["x"]
    with open(os.path.join(folder, "index.csv"), encoding="utf-8", newline="") as file:
        index = [dict(row, place=place) for place, row in enumerate(csv.DictReader(file))]
    seeds = sorted((row for row in index if row["kind"] == "seed"), key=lambda row: int(row["id"]))
    last = {row["root"]: row for row in sorted(index, key=lambda row: int(row["id"])) if row["kind"] != "seed"}
    side = pictures.shape[-1] * SCALE + GAP
    sheet = numpy.full((2 * side * -(-len(seeds) // COLUMNS), side * COLUMNS), 255)
    for number, seed in enumerate(seeds):
        for below, row in enumerate((seed, last[seed["id"]])):
            tile = numpy.kron(pictures[row["place"]].reshape(pictures.shape[-2:]), numpy.ones((SCALE, SCALE)))
            y, x = (2 * (number // COLUMNS) + below) * side, number % COLUMNS * side
            sheet[y:y + tile.shape[0], x:x + tile.shape[1]] = tile
    png(out, sheet)
    wrong = sum(row["label"] != row["prediction"] for row in last.values())
    print(f"{wrong} of {len(seeds)} last examples are wrong")


main()
