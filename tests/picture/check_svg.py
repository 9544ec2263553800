#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_svg.py GALLERY - the charts of gallery.c, read again by a strict XML parser.

The same bytes twice; well-formed; nothing outside the canvas and nothing from outside the file; a curve's points, read
off the axes' own labels, are the data; a contact sheet's pictures are whole. Speaks TAP.
"""
import base64
import math
import os
import re
import struct
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET
import zlib

SVG = "{http://www.w3.org/2000/svg}"
HREF = "{http://www.w3.org/1999/xlink}href"
TAGS = {SVG + t for t in "svg title rect polyline polygon circle text image".split()}


def png(data):
    """(width, height, rows of RGB bytes)"""
    assert data[:8] == b"\x89PNG\r\n\x1a\n", "not a PNG"
    at, body = 8, b""
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at:at + 8])
        chunk = data[at + 8:at + 8 + size]
        assert zlib.crc32(kind + chunk) == struct.unpack(">I", data[at + 8 + size:at + 12 + size])[0]
        if kind == b"IHDR":
            width, height, depth, colour = struct.unpack(">IIBB", chunk[:10])
            assert (depth, colour) == (8, 2)
        elif kind == b"IDAT":
            body += chunk
        at += 12 + size
    raw, rows, before = zlib.decompress(body), [], bytearray(3 * width)
    for y in range(height):
        kind = raw[y * (3 * width + 1)]
        row = bytearray(raw[y * (3 * width + 1) + 1:(y + 1) * (3 * width + 1)])
        for i in range(3 * width):
            a = row[i - 3] if i >= 3 else 0
            b, c = before[i], before[i - 3] if i >= 3 else 0
            if kind == 4:
                p = a + b - c
                guess = min((abs(p - a), 0, a), (abs(p - b), 1, b), (abs(p - c), 2, c))[2]
            else:
                guess = (0, a, b, (a + b) // 2)[kind]
            row[i] = (row[i] + guess) & 255
        rows.append(row)
        before = row
    return width, height, rows


def numbers(element, *names):
    return [float(element.get(name)) for name in names]


def points(element):
    return [tuple(float(v) for v in pair.split(",")) for pair in element.get("points").split()]


def check_structure(name, root):
    width, height = numbers(root, "width", "height")
    assert root.tag == SVG + "svg" and root.get("viewBox") == f"0 0 {width:.0f} {height:.0f}"
    for e in root.iter():
        assert e.tag in TAGS, e.tag
        for key, value in e.attrib.items():
            assert key == HREF or not re.search(r"nan|inf\b", value, re.I), (key, value)
        if e.tag == SVG + "rect":
            x, y = float(e.get("x", 0)), float(e.get("y", 0))
            w, h = numbers(e, "width", "height")
            assert x >= 0 and y >= 0 and x + w <= width and y + h <= height, ET.tostring(e)
        elif e.tag == SVG + "text":
            x, y = numbers(e, "x", "y")
            assert 0 <= x <= width and 0 <= y <= height and e.text.strip(), ET.tostring(e)
        elif e.tag in (SVG + "polyline", SVG + "polygon"):
            assert all(0 <= x <= width and 0 <= y <= height for x, y in points(e)), ET.tostring(e)
        elif e.tag == SVG + "image":
            kind, data = e.get(HREF).split(",")
            assert kind == "data:image/png;base64"
            png(base64.b64decode(data, validate=True))
    texts = [e.text for e in root.iter(SVG + "text")]
    assert texts, f"{name} has no words"


def axis(root, anchor, at):
    """(pixel, value) of labelled ticks"""
    found = []
    for e in root.iter(SVG + "text"):
        if e.get("text-anchor") == anchor and re.fullmatch(r"-?[\d,.]+", e.text) and not e.get("transform"):
            found.append((float(e.get(at)), float(e.text.replace(",", ""))))
    assert len(found) >= 3, "too few labels"
    return found


def reader(ticks, log=False):
    """pixel -> value, from the outer ticks"""
    f = math.log10 if log else (lambda v: v)
    usable = [t for t in ticks if t[1] > 0] if log else ticks
    (p0, v0), (p1, v1) = usable[0], usable[-1]
    return lambda p: f(v0) + (p - p0) * (f(v1) - f(v0)) / (p1 - p0)


def check_curve(root, log):
    ys = [(p - 5 + 0.5, v) for p, v in axis(root, "end", "y")]  # a label stands 5 below its line
    xs = [(p + 0.5, v) for p, v in axis(root, "middle", "x")]
    x_of, y_of = reader(xs, log), reader(ys)
    curves = [points(e) for e in root.iter(SVG + "polyline")
              if e.get("stroke") == "#0072b2" and len(points(e)) > 2]
    assert len(curves) == 1 and len(curves[0]) > 100, "the curve is not there"
    for px, py in curves[0]:
        x = 10 ** x_of(px) if log else x_of(px)
        want = 100 * (1 - math.exp(-x / 50 / 30))
        assert abs(y_of(py) - want) < 1, f"at {x:.1f}: {y_of(py):.2f}, not {want:.2f}"
    orange = [e for e in root.iter(SVG + "polyline") if e.get("stroke") == "#d55e00"]
    assert len(orange) == 3, "a NaN must part the second curve"  # with the legend's
    assert any(e.get("stroke-dasharray") for e in root.iter(SVG + "polyline"))
    assert "Coverage grows with inputs <& \"quotes\">" in [e.text for e in root.iter(SVG + "text")]
    assert root.find(SVG + "title").text == "Coverage grows with inputs <& \"quotes\">"


def check_sheet(root, picture):
    """The PNG of a contact sheet is as large as its SVG, and its pictures lie where they do there."""
    width, height, rows = png(picture)
    assert [width, height] == numbers(root, "width", "height"), "SVG and PNG differ in size"
    images = list(root.iter(SVG + "image"))
    for e in images:
        x, y, w, h = (int(v) for v in numbers(e, "x", "y", "width", "height"))
        wide, high, own = png(base64.b64decode(e.get(HREF).split(",")[1]))
        for i in range(0, h, 5):
            for j in range(0, w, 5):
                a, b = i * high // h, j * wide // w
                assert rows[y + i][3 * (x + j):3 * (x + j) + 3] == own[a][3 * b:3 * b + 3], (i, j)
    assert len(images) == 20, len(images)


def main():
    tests = []
    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as two:
        for folder in (one, two):
            subprocess.run([sys.argv[1], folder], check=True)
        names = sorted(os.listdir(one))

        def same():
            assert names == sorted(os.listdir(two)) and len(names) == 10, names
            for name in names:
                with open(os.path.join(one, name), "rb") as a, open(os.path.join(two, name), "rb") as b:
                    assert a.read() == b.read(), name
        tests.append(("the same bytes twice", same))

        roots, pictures = {}, {}
        for name in names:
            stem, ending = os.path.splitext(name)
            with open(os.path.join(one, name), "rb") as file:
                data = file.read()
            if ending == ".svg":
                roots[stem] = ET.fromstring(data.decode("utf-8"))
            else:
                pictures[stem] = data
        for stem in sorted(roots):
            tests.append((f"structure of {stem}.svg",
                          lambda s=stem: check_structure(s, roots[s])))
        tests += [
            ("the curve is the data", lambda: check_curve(roots["line"], False)),
            ("the curve is the data on a logarithmic axis", lambda: check_curve(roots["line-log"], True)),
            ("a sheet in SVG and PNG", lambda: check_sheet(roots["sheet"], pictures["sheet"])),
        ]
        print(f"1..{len(tests)}")
        failed = 0
        for i, (title, test) in enumerate(tests, 1):
            try:
                test()
                print(f"ok {i} - {title}")
            except (AssertionError, ValueError, KeyError, AttributeError, TypeError) as trouble:
                failed += 1
                print(f"not ok {i} - {title}\n# {trouble!r}")
    return 1 if failed else 0


sys.exit(main())
