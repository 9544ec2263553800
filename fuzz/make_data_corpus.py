#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Seeds for fuzz_idx, fuzz_npz, fuzz_png, fuzz_jpeg, fuzz_csv, fuzz_wav, fuzz_flac, fuzz_tar and fuzz_index: small good files
of every kind and bad ones that lie. Needs numpy; pictures and recordings are those of
tests/data/golden (make_golden.py, make_audio_golden.py)."""
import gzip
import io
import os
import shutil
import struct
import tarfile
import zipfile

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
GOLDEN = os.path.join(HERE, "..", "tests", "data", "golden")


def put(kind, name, data):
    folder = os.path.join(HERE, "corpus", kind)
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, name), "wb") as file:
        file.write(data)


def idx():
    def header(code, *extents):
        return struct.pack(">HBB", 0, code, len(extents)) + b"".join(
            struct.pack(">I", e) for e in extents)

    grey = header(8, 3, 2, 2) + bytes(range(12))
    put("idx", "grey", grey)
    put("idx", "rgb-last", header(8, 1, 2, 2, 3) + bytes(range(12)))
    put("idx", "grey.gz", gzip.compress(grey, mtime=0))
    put("idx", "two-members.gz", gzip.compress(grey[:9], mtime=0) + gzip.compress(grey[9:], mtime=0))
    put("idx", "bad-truncated", grey[:20])
    put("idx", "bad-truncated.gz", gzip.compress(grey, mtime=0)[:-9])
    put("idx", "bad-huge", header(8, 0xffffffff, 0xffffffff, 0xffffffff))
    put("idx", "bad-bomb.gz", gzip.compress(header(8, 1 << 20, 1, 1) + bytes(1 << 20), mtime=0))


def npy(array, version=(1, 0)):
    out = io.BytesIO()
    np.lib.format.write_array(out, array, version)
    return out.getvalue()


def npz(members, method=zipfile.ZIP_STORED):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        for name, data in members.items():
            archive.writestr(zipfile.ZipInfo(name + ".npy"), data, method)
    return out.getvalue()


def arrays():
    x = np.arange(24, dtype=np.uint8).reshape(2, 3, 2, 2)
    y = np.array([1, 0])
    pair = {"x": npy(x), "y": npy(y)}
    put("npz", "stored.npz", npz(pair))
    put("npz", "packed.npz", npz(pair, zipfile.ZIP_DEFLATED))
    put("npz", "splits.npz", npz({"x_train": npy(x), "x_test": npy(x), "y_test": npy(y)}))
    put("npz", "c.npy", npy(x.astype("<f4")))
    put("npz", "fortran.npy", npy(np.asfortranarray(x.astype(">i2")), (2, 0)))
    put("npz", "v3.npy", npy(x.astype("f2"), (3, 0)))
    put("npz", "bad-huge.npy", npy(np.zeros(3)).replace(b"(3,), }    ", b"(1099511627776,)}"))
    put("npz", "bad-object.npy", npy(x).replace(b"|u1", b"|O8"))
    put("npz", "bad-truncated.npz", npz(pair)[:-30])
    put("npz", "bad-labels.npz", npz({"x": npy(x), "y": npy(np.array([-1, 1 << 40]))}))


def pictures():
    for name in sorted(os.listdir(GOLDEN)):
        kind = {".png": "png", ".jpg": "jpeg"}.get(os.path.splitext(name)[1])
        if not kind:
            continue
        os.makedirs(os.path.join(HERE, "corpus", kind), exist_ok=True)
        shutil.copyfile(os.path.join(GOLDEN, name), os.path.join(HERE, "corpus", kind, name))
        with open(os.path.join(GOLDEN, name), "rb") as file:
            data = file.read()
        if name in ("rgb.png", "420.jpg"):
            put(kind, "bad-truncated-" + name, data[:len(data) * 2 // 3])


def manifests():
    put("csv", "plain.csv", b"a.png,1\nb.png,2\n")
    put("csv", "header.csv", b"split,label,path\r\ntest,dog,a.png\r\n")
    put("csv", "quotes.csv", b'"a, ""b"".png","x\ny"\n')
    put("csv", "bad-quote.csv", b'a.png,1\n"b.png,2\n')
    put("csv", "bad-binary.csv", b"a\0b,1\n")


def recordings():
    folder = os.path.join(GOLDEN, "audio")
    for name in sorted(os.listdir(folder)):
        kind = os.path.splitext(name)[1][1:]
        if kind not in ("wav", "flac"):
            continue
        with open(os.path.join(folder, name), "rb") as file:
            data = file.read()
        if kind == "flac":
            put(kind, name, data)
        elif name != "tone16.wav":
            size = data.rindex(b"data") + 4
            put(kind, name, data[:size] + struct.pack("<I", 24) + data[size + 4:size + 28])
        if name == "pcm16.wav":
            put(kind, "bad-truncated.wav", data[:60])
            put(kind, "bad-huge.wav", data[:40] + b"\xfe\xff\xff\xff" + data[44:60])
        if name == "mono16.flac":
            put(kind, "bad-truncated.flac", data[:len(data) // 2])


def shards():
    def tar(members, layout, **more):
        out = io.BytesIO()
        with tarfile.open(fileobj=out, mode="w", format=layout) as archive:
            for name, data in members:
                info = tarfile.TarInfo(name)
                info.size, info.mtime, info.pax_headers = len(data), 1.7e9 + 0.5, more
                archive.addfile(info, io.BytesIO(data))
        return out.getvalue().rstrip(bytes(1)) + bytes(1024)

    plain = [("a.png", b"p"), ("a.cls", b"3"), ("b.jpg", b"q"), ("b.json", b'{"label": 4}')]
    deep = [("d/" * 80 + n, d) for n, d in plain]
    put("tar", "ustar.tar", tar(plain, tarfile.USTAR_FORMAT)[:-512])
    put("tar", "pax.tar", tar(deep, tarfile.PAX_FORMAT, comment="x"))
    put("tar", "gnu.tar", tar(deep, tarfile.GNU_FORMAT))
    put("tar", "bad-cut.tar", tar(plain, tarfile.USTAR_FORMAT)[:1500])
    put("tar", "bad-size.tar", tar(deep[:1], tarfile.PAX_FORMAT).replace(b"path=d", b"size=9"))


def indexes():
    # As src/data/index_file.c writes them; checksums do not count for the fuzzer.
    def index(kind, place, names, part):
        records = b"".join(struct.pack("<QQII", place, 5, 0, 3 * (i + 1)) for i in range(2))
        blocks = records + names
        at = 16 + len(blocks)
        directory = struct.pack("<QQQQ", 16, 0, at, 0)
        about = b"\0\0cat\0dog\0" + struct.pack("<QQQ", 1024, 1, 2) + part + b"\0"
        foot = struct.pack("<QQQQQIIIIQ", 2, at, at + 32, at + 40, 0, kind, 2, 1, 1, 0)
        return b"plexor index 1\n\0" + blocks + directory + struct.pack("<ii", 0, 1) + about + foot

    put("index", "folders", index(0, 0, b"a.pb.p", b"n"))
    put("index", "shards", index(1, 512, b"a.pb.p", b"s.tar"))
    put("index", "bad-up", index(0, 0, b"../../", b"n"))
    put("index", "bad-part-up", index(0, 0, b"a.pb.p", b"../n"))
    put("index", "bad-far", index(1, 1 << 60, b"a.pb.p", b"s.tar"))


idx()
arrays()
shards()
indexes()
pictures()
manifests()
recordings()
