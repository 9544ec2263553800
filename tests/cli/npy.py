#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""npy.py - small arrays for command line tests, without numpy

    npy.py make FILE TYPE SHAPE [COUNT]   TYPE f4 f8 i8 u1, SHAPE 4,1,8,8; values are fixed; floats lie
                                          in [0,1), whole numbers below COUNT (10)
    npy.py show FILE [N]                  type, shape and the first N values (4), or all names of an NPZ
    npy.py close A B TOLERANCE            exit status 1 where two arrays differ by more
"""
import ast
import io
import struct
import sys
import zipfile

CODES = {"f4": "f", "f8": "d", "i8": "q", "i4": "i", "u1": "B", "b1": "?"}


def make(path, kind, shape, below="10"):
    dims = tuple(int(d) for d in shape.split(",")) if shape else ()
    count = 1
    for d in dims:
        count *= d
    if kind[0] == "f":
        values = [(i * 7919 % 1009) / 1009 for i in range(count)]
    else:
        values = [i * 7 % int(below) for i in range(count)]
    descr = ("|" if kind[1] == "1" else "<") + kind
    text = repr({"descr": descr, "fortran_order": False, "shape": dims})
    header = text.encode() + b" " * ((-11 - len(text)) % 64) + b"\n"
    with open(path, "wb") as out:
        out.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header)
        out.write(struct.pack(f"<{count}{CODES[kind]}", *values))


def load(source):
    data = source.read()
    length = struct.unpack("<H", data[8:10])[0]
    header = ast.literal_eval(data[10:10 + length].decode())
    kind = header["descr"][1:]
    count = 1
    for d in header["shape"]:
        count *= d
    return kind, header["shape"], struct.unpack(f"<{count}{CODES[kind]}", data[10 + length:])


def show_one(name, source, count):
    kind, shape, values = load(source)
    first = " ".join(f"{v:.4f}" if kind[0] == "f" else str(v) for v in values[:count])
    print(f"{name}{kind} {','.join(map(str, shape))}: {first}".rstrip())


def show(path, count="4"):
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            for entry in archive.namelist():
                show_one(entry[:-4] + " ", io.BytesIO(archive.read(entry)), int(count))
    else:
        with open(path, "rb") as source:
            show_one("", source, int(count))


def close(a, b, tolerance):
    with open(a, "rb") as first, open(b, "rb") as second:
        (_, shape_a, x), (_, shape_b, y) = load(first), load(second)
    worst = max((abs(p - q) for p, q in zip(x, y)), default=0)
    if shape_a != shape_b or not worst <= float(tolerance):
        print(f"shapes {shape_a} and {shape_b}, largest difference {worst}")
        sys.exit(1)


if __name__ == "__main__":
    {"make": make, "show": show, "close": close}[sys.argv[1]](*sys.argv[2:])
