#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""make_pictures.py - generated 32x32 pictures: class folders of PNGs, or shards as WebDataset writes them

    make_pictures.py FOLDER [--pictures N] [--classes C] [--per-shard N] [--layout folders|shards]

folders: FOLDER/c0007/000123.png. shards: FOLDER/shard-000004.tar with 000000123.png and
000000123.cls, whose headers are Python's tarfile's (PAX with a time of day in fractions, as
WebDataset's own writer leaves them). Picture i is of class i mod C; all follows from i alone.
"""
import argparse
import io
import os
import random
import struct
import tarfile
import zlib

SIDE = 32


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


HEAD = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", SIDE, SIDE, 8, 2, 0, 0, 0))
TAIL = chunk(b"IEND", b"")


def picture(i):
    """A row of random colours, moved on by some pixels from row to row."""
    draw = random.Random(i)
    row, step = draw.randbytes(3 * SIDE), 3 * draw.randrange(1, 5)
    twice = row * 2
    rows = b"".join(b"\0" + twice[(y * step) % (3 * SIDE):][:3 * SIDE] for y in range(SIDE))
    return HEAD + chunk(b"IDAT", zlib.compress(rows, 1)) + TAIL


def folders(where, pictures, classes):
    for c in range(classes):
        folder = os.path.join(where, f"c{c:04d}")
        os.makedirs(folder, exist_ok=True)
        for i in range(c, pictures, classes):
            with open(f"{folder}/{i // classes:06d}.png", "wb") as out:
                out.write(picture(i))


def member(shard, name, data, i):
    info = tarfile.TarInfo(name)
    info.size, info.mtime, info.mode = len(data), 1.7e9 + i + 0.25, 0o444
    shard.addfile(info, io.BytesIO(data))


def shards(where, pictures, classes, per_shard):
    os.makedirs(where, exist_ok=True)
    for n, first in enumerate(range(0, pictures, per_shard)):
        with tarfile.open(f"{where}/shard-{n:06d}.tar", "w", format=tarfile.PAX_FORMAT) as shard:
            for i in range(first, min(first + per_shard, pictures)):
                member(shard, f"{i:09d}.png", picture(i), i)
                member(shard, f"{i:09d}.cls", str(i % classes).encode(), i)


def main():
    ask = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ask.add_argument("folder")
    ask.add_argument("--pictures", type=int, default=1_000_000)
    ask.add_argument("--classes", type=int, default=1000)
    ask.add_argument("--per-shard", type=int, default=10_000)
    ask.add_argument("--layout", choices=["folders", "shards"], default="folders")
    told = ask.parse_args()
    if told.layout == "folders":
        folders(told.folder, told.pictures, told.classes)
    else:
        shards(told.folder, told.pictures, told.classes, told.per_shard)


if __name__ == "__main__":
    main()
