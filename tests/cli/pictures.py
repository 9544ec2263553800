#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""pictures.py - small pictures for command line tests, without numpy and PIL

    pictures.py png FILE KIND WIDTH HEIGHT    a plain one; KIND is grey, rgb, rgba, grey16 or palette
    pictures.py folders NPZ FOLDER NAMES N    the first N pictures of each class of an NPZ (x: uint8 [n,h,w] or
                                              [n,1,h,w], y: labels) as FOLDER/NAME/i.png; NAMES: a list with commas, an
                                              empty name leaves its class out
    pictures.py remake NPZ FILE KIND          an NPZ of colour pictures otherwise: bgr (channels swapped), floats (0 to 255), normalised
                                              (as torchvision does)
    pictures.py npz FILE N KIND               an NPZ of N grey 28x28 pictures; labels by KIND: good, one-hot, soft, negative, large
    pictures.py zip-bomb FILE                 a small .zip that says, and holds, one picture of 3 GB
    pictures.py tar-bomb FILE                 a .tar.gz that says so
    pictures.py gz-bomb FILE BYTES HEADER     a gzip of zeros behind some bytes in hex
"""
import os
import struct
import sys
import tarfile
import zipfile
import zlib

import npy


def png(path, kind, width, height, rows=None):
    channels = {"grey": 1, "rgb": 3, "rgba": 4, "grey16": 2, "palette": 1}[kind]
    colour, depth = {"grey": (0, 8), "rgb": (2, 8), "rgba": (6, 8), "grey16": (0, 16), "palette": (3, 8)}[kind]
    if rows is None:
        rows = [bytes((x * 7 + y * 13 + c) % 251 for x in range(width) for c in range(channels)) for y in range(height)]

    def chunk(name, data):
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    with open(path, "wb") as out:
        out.write(b"\x89PNG\r\n\x1a\n")
        out.write(chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, 0)))
        if kind == "palette":
            out.write(chunk(b"PLTE", bytes(i % 256 for i in range(3 * 256))))
        out.write(chunk(b"IDAT", zlib.compress(b"".join(b"\0" + row for row in rows))))
        out.write(chunk(b"IEND", b""))


def folders(source, folder, names, most):
    names, written = names.split(","), {}
    with zipfile.ZipFile(source) as archive:
        with archive.open("x.npy") as file:
            _, shape, pixels = npy.load(file)
        with archive.open("y.npy") as file:
            labels = npy.load(file)[2]
    height, width = shape[-2:]
    for i, label in enumerate(labels):
        name, number = names[int(label)], written.get(label, 0)
        if not name or number >= int(most):
            continue
        written[label] = number + 1
        at = i * height * width
        rows = [bytes(int(p) for p in pixels[at + y * width:at + (y + 1) * width]) for y in range(height)]
        png(f"{folder}/{name}/{number}.png", "grey", width, height, rows)


def array(descr, shape, data):
    text = repr({"descr": descr, "fortran_order": False, "shape": shape})
    header = text.encode() + b" " * ((-11 - len(text)) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + data


def remake(source, path, kind):
    with zipfile.ZipFile(source) as archive:
        with archive.open("x.npy") as file:
            _, shape, pixels = npy.load(file)
        labels = archive.read("y.npy")
    plane, mean, std = shape[2] * shape[3], (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
    channel = [i // plane % 3 for i in range(len(pixels))]
    if kind == "bgr":
        x = array("|u1", shape, bytes(pixels[i + plane * (2 - 2 * c)] for i, c in enumerate(channel)))
    else:
        values = pixels if kind == "floats" else [(v / 255 - mean[c]) / std[c] for v, c in zip(pixels, channel)]
        x = array("<f4", shape, struct.pack(f"<{len(pixels)}f", *values))
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("x.npy", x)
        archive.writestr("y.npy", labels)


def npz(path, count, kind):
    count = int(count)
    labels = [i % 10 for i in range(count)]
    if kind in ("negative", "large"):
        labels[count // 2] = -1 if kind == "negative" else 12
    y = array("<i8", (count,), struct.pack(f"<{count}q", *labels))
    if kind in ("one-hot", "soft"):
        rows = [[float(c == label) for c in range(10)] for label in labels]
        if kind == "soft":
            rows[3] = [0.1] * 10
        y = array("<f4", (count, 10), struct.pack(f"<{10 * count}f", *sum(rows, [])))
    x = array("|u1", (count, 28, 28), bytes(i * 31 % 256 for i in range(count * 784)))
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("x.npy", x)
        archive.writestr("y.npy", y)


def zip_bomb(path):
    zeros = bytes(1 << 20)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, size in (("a/1.png", 3000), ("b/2.png", 1)):
            with archive.open(zipfile.ZipInfo(name), "w", force_zip64=True) as out:
                for _ in range(size):
                    out.write(zeros)


def tar_bomb(path):
    head = tarfile.TarInfo("a/1.png")
    head.size = 3000 << 20
    gz_bomb(path, 64 << 20, head.tobuf(tarfile.GNU_FORMAT).hex())  # cut off: nobody gets that far


def gz_bomb(path, size, header):
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    zeros = bytes(1 << 20)
    with open(path, "wb") as out:
        out.write(packer.compress(bytes.fromhex(header)))
        for _ in range(int(size) >> 20):
            out.write(packer.compress(zeros))
        out.write(packer.flush())


def main():
    what, args = sys.argv[1], sys.argv[2:]
    if what == "png":
        png(args[0], args[1], int(args[2]), int(args[3]))
    else:
        {"folders": folders, "remake": remake, "npz": npz, "zip-bomb": zip_bomb, "tar-bomb": tar_bomb, "gz-bomb": gz_bomb}[what](*args)


if __name__ == "__main__":
    main()
