#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Exemplars, levels and masks worked out again in PyTorch and numpy.

    compare_exemplars.py PLEXOR      prints TAP

The small network of the command line tests on strokes that Python draws itself. Every map of every input is kept, sorted and upsampled:
top inputs by maximum, levels by numpy's quantile, masks by torch's bilinear interpolation and, for the published code's variant, by
grid_sample with zeros around the maps. Without PyTorch, numpy or onnx everything is skipped and that is said.
"""
import csv
import json
import os
import subprocess
import sys
import tempfile

try:
    import numpy as np
    import onnx
    import torch
    from onnx import numpy_helper
except ImportError as missing:
    print("1..0 # SKIP needs python3-torch, python3-numpy and python3-onnx:", missing)
    sys.exit(0)

HERE = os.path.dirname(os.path.abspath(__file__))
PLEXOR = os.path.abspath(sys.argv[1])
MODEL = os.path.join(HERE, "..", "cli", "models", "digits.onnx")
INPUTS, TOP, SIDE = 200, 15, 28


def draw(rng):
    picture = np.zeros((SIDE, SIDE), dtype=np.uint8)
    for _ in range(rng.randint(1, 5)):
        y, x, dy, dx = rng.uniform(4, 24), rng.uniform(4, 24), rng.uniform(-1, 1), rng.uniform(-1, 1)
        shade = rng.randint(80, 256)
        for _ in range(14):
            v, h = int(min(max(y, 0), 26)), int(min(max(x, 0), 26))
            picture[v:v + 2, h:h + 2] = shade
            y, x = y + dy, x + dx
    return picture


def maps_of(pictures):
    w = {t.name: torch.tensor(numpy_helper.to_array(t)) for t in onnx.load(MODEL).graph.initializer}
    with torch.no_grad():
        x = torch.tensor(pictures)[:, None].float() / 255.0
        first = torch.relu(torch.nn.functional.conv2d(x, w["0.weight"], w["0.bias"], stride=2))
        return [first, torch.relu(torch.nn.functional.conv2d(first, w["2.weight"], w["2.bias"], stride=2))]


def upsample(maps, padded):
    if not padded:
        return torch.nn.functional.interpolate(maps, size=(SIDE, SIDE), mode="bilinear", align_corners=False)
    # grid_sample's -1..1 spans the map with its half pixels: the same places, zeros outside
    at = (torch.arange(SIDE).float() + 0.5) / SIDE * 2.0 - 1.0
    grid = torch.stack(torch.meshgrid(at, at, indexing="ij")[::-1], -1)[None].expand(maps.shape[0], -1, -1, -1)
    return torch.nn.functional.grid_sample(maps, grid, mode="bilinear", padding_mode="zeros", align_corners=False)


def rows(path):
    with open(path, newline="") as file:
        return list(csv.reader(file))


def check(folder, layer, name, maps, padded):
    """Yields what differs."""
    where = os.path.join(folder, "exemplars", name)
    ids = np.array(rows(os.path.join(where, "ids.csv")), dtype=np.int64)
    scores = np.array(rows(os.path.join(where, "activations.csv")), dtype=np.float64)
    levels = np.array([r[1] for r in rows(os.path.join(where, "levels.csv"))[1:]], dtype=np.float64)
    masks = np.load(os.path.join(where, "masks.npy"))
    kept = np.load(os.path.join(where, "maps.npy"))
    best = maps.amax((2, 3)).numpy()
    for u in range(maps.shape[1]):
        order = np.lexsort((np.arange(INPUTS), -best[:, u].astype(np.float64)))[:TOP]
        if np.abs(best[order, u] - scores[u]).max() > 1e-4:
            yield f"layer {layer} unit {u}: scores differ by {np.abs(best[order, u] - scores[u]).max():.2g}"
        # where the two engines' rounding swaps near ties, the scores above still have to agree
        clear = np.abs(best[ids[u], u] - best[order, u]) < 1e-4
        if not clear.all():
            yield f"layer {layer} unit {u}: inputs {ids[u].tolist()}, expected {order.tolist()}"
        level = np.quantile(maps[:, u].numpy().astype(np.float64), 0.99)
        if abs(level - levels[u]) > 1e-4 * (1.0 + abs(level)):
            yield f"layer {layer} unit {u}: level {levels[u]}, expected {level}"
        if np.abs(kept[u] - maps[ids[u], u].numpy()).max() > 1e-4:
            yield f"layer {layer} unit {u}: maps differ"
        up = upsample(maps[ids[u], u][:, None], padded).numpy()
        sure = np.abs(up - levels[u]) > 1e-4
        dead = not best[:, u].max() > levels[u]
        if ((masks[u] != 0) != ((up > levels[u]) & (not dead)))[sure].any():
            yield f"layer {layer} unit {u}: masks differ"


def main():
    rng = np.random.RandomState(5)
    pictures = np.stack([draw(rng) for _ in range(INPUTS)])
    maps = maps_of(pictures)
    cases = [("exact levels, two threads", ["-j", "2"], False), ("one thread", ["-j", "1"], False),
             ("zeros around the maps", ["--compat", "code"], True)]
    print(f"1..{len(cases)}")
    with tempfile.TemporaryDirectory() as folder:
        data = os.path.join(folder, "x.npz")
        np.savez(data, inputs=pictures[:, None], labels=np.arange(INPUTS) % 10)
        for number, (title, options, padded) in enumerate(cases, 1):
            out = os.path.join(folder, f"out{number}")
            done = subprocess.run([PLEXOR, "describe", MODEL, "--data", data, "--describer", "dissect", "--layers", "conv", "-o", out, "--json",
                                   "-q"] + options, capture_output=True, text=True, check=False)
            faults = [done.stderr.strip()] if done.returncode else []
            if not faults:
                names = json.load(open(os.path.join(out, "exemplars", "exemplars.json")))["layers"]
                for layer, name in enumerate(names):
                    escaped = "".join(c if c.isalnum() or c in "_-" or (c == "." and i) else f"%{ord(c):02X}" for i, c in enumerate(name))
                    faults += check(out, layer, escaped, maps[layer], padded)
            print(f"{'not ' if faults else ''}ok {number} - {title}: {sum(m.shape[1] for m in maps)} units of {INPUTS} inputs")
            for fault in faults[:10]:
                print("#", fault)


if __name__ == "__main__":
    main()
