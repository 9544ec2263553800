# SPDX-License-Identifier: Apache-2.0
"""PyTorch and numpy as a peer of bench/fuzz; the protocol is that of peer.h.

    fuzz_torch.py SEEDS.npz

The loop of DeepHunter or NLC as one would write it: a queue of numpy pictures, mutants of a pick made with numpy and
scipy, one forward pass for all of them, KMNC (k = 1000, channel means of all hidden layers) over numpy arrays. Mutants
are looked at in order, as plexor does. What comes out is compressed and goes into a database, as there; without chains,
state or twins. Filters that scipy has in another form stay as scipy has them, and the bilateral filter is left out. In NLC's
loop the first accepted mutant ends a pick: one is tried first, then eight at a time.
"""
import sqlite3
import sys
import time
import zlib

import numpy as np
import scipy.ndimage as nd
import torch

from onnx_to_torch import Network

K = 1000
MEAN = np.array([0.485, 0.456, 0.406], np.float32).reshape(1, 3, 1, 1)
STD = np.array([0.229, 0.224, 0.225], np.float32).reshape(1, 3, 1, 1)


def warp(x, matrix, offset):
    return np.stack([nd.affine_transform(plane, matrix, offset, order=1, output=np.uint8) for plane in x])


def rotate(x, degrees):
    a, centre = np.deg2rad(degrees), (np.array(x.shape[1:]) - 1) / 2
    m = np.array([[np.cos(a), -np.sin(a)], [np.sin(a), np.cos(a)]])
    return warp(x, m, centre - m @ centre)


def scale(x, ratio):
    m, centre = np.eye(2) / ratio, (np.array(x.shape[1:]) - 1) / 2
    return warp(x, m, centre - m @ centre)


def level(x):
    return np.clip(x + 0.5, 0, 255).astype(np.uint8)


def blur(x, kind):
    if kind < 3:
        return nd.uniform_filter(x, (0, 3 + kind, 3 + kind), mode="mirror")
    if kind < 6:
        return level(nd.gaussian_filter(x.astype(np.float32), (0, 0.5 * kind, 0.5 * kind), mode="mirror"))
    return nd.median_filter(x, (1, 3 if kind == 6 else 5, 3 if kind == 6 else 5))


def noise(x, r):
    return level(x + r.normal(0, 0.32, x.shape)) if r.random() < 0.5 else level(x * (1 + r.normal(0, 0.1, x.shape)))


def pixel_change(x, r):
    y = x.copy()
    y.reshape(-1)[r.integers(0, y.size, r.integers(1, 10))] = r.integers(0, 256)
    return y


AFFINE = {
    "deephunter": [
        lambda x, r: nd.shift(x, (0, s := r.integers(-3, 3), s), order=0),
        lambda x, r: scale(x, r.integers(7, 12) / 10),
        lambda x, r: warp(x, np.array([[1, 0], [r.integers(-6, 6) / 10, 1]]), 0),
        lambda x, r: rotate(x, r.integers(-50, 50)),
    ],
    "nlc": [
        lambda x, r: nd.shift(x, (0, r.integers(-1, 2) * 5, r.integers(-1, 2) * 5), order=0),
        lambda x, r: scale(x, r.integers(16, 20) / 20),
        lambda x, r: rotate(x, r.integers(-30, 30)),
    ],
}
PIXEL = {
    "deephunter": [
        lambda x, r: level(x * (r.integers(5, 13) / 10)),
        lambda x, r: level(x.astype(np.int16) + r.integers(-20, 20)),
        lambda x, r: blur(x, r.integers(0, 8)),
        pixel_change, noise,
    ],
    "nlc": [
        lambda x, r: level(x * (r.integers(4, 11) / 5)),
        lambda x, r: level(x.astype(np.int16) + 10 * r.integers(1, 8)),
        lambda x, r: blur(x, r.integers(0, 8)),
    ],
}


class Loop:
    def __init__(self, model, policy, threads, seeds):
        self.network, self.policy, self.threads = Network(model), policy, threads
        self.nlc = policy == "nlc"
        self.alpha, self.beta, self.tries = (0.4, 0.8, 49) if self.nlc else (0.02, 0.2, 50)
        self.energy = 64 if self.nlc else 20
        self.random = np.random.default_rng(1)
        self.layers = [output for function, _, output in self.network.steps if function is torch.relu
                       or "relu" in getattr(function, "__name__", "").lower() or output in relus(model)]
        data = np.load(seeds)
        self.labels = data["y"]
        scores, rows = self.forward(data["x"])
        self.low, self.high = rows.min(0), rows.max(0)
        self.width = np.maximum(self.high - self.low, 1e-12)
        self.covered = np.zeros((rows.shape[1], K), bool)
        self.neurons = np.arange(rows.shape[1])
        self.queue = []  # picture, reference, affine used, label, times counted
        for x, y, row in zip(data["x"], self.labels, rows):
            self.observe(row)
            self.queue.append([x, x, False, y, 0])
        self.cursor = self.executions = 0
        self.database = sqlite3.connect("")  # a file that goes away by itself
        self.database.execute("CREATE TABLE input(id INTEGER PRIMARY KEY, label, prediction, pixels BLOB)")

    def forward(self, pictures):
        rows, scores = [], []
        with torch.inference_mode():
            for first in range(0, len(pictures), 64):
                x = (pictures[first:first + 64].astype(np.float32) / np.float32(255) - MEAN) / STD
                values = {self.network.input_name: torch.from_numpy(x)}
                for function, inputs, output in self.network.steps:
                    values[output] = function(*[values[name] for name in inputs])
                rows.append(torch.cat([values[name].mean((2, 3)) for name in self.layers], 1).numpy())
                scores.append(values[self.network.steps[-1][2]].numpy())
        return np.concatenate(scores), np.concatenate(rows)

    def sections(self, row):
        inside = (row >= self.low) & (row <= self.high)
        return inside, np.minimum(((row - self.low) / self.width * K).astype(np.int64), K - 1)

    def gains(self, row):
        inside, at = self.sections(row)
        return bool((~self.covered[self.neurons[inside], at[inside]]).any())

    def observe(self, row):
        inside, at = self.sections(row)
        self.covered[self.neurons[inside], at[inside]] = True

    def chance(self, count):
        return 1 - count / 5 if count < 0.99 * 5 else 0.01

    def pick(self):
        if self.nlc:
            weights = np.array([self.chance(e[4]) for e in self.queue])
            return self.queue[self.random.choice(len(self.queue), p=weights / weights.sum())]
        while True:
            self.cursor = (self.cursor + 1) % len(self.queue)
            entry = self.queue[self.cursor]
            if self.random.random() < self.chance(entry[4]):
                entry[4] += 1
                return entry

    def valid(self, reference, mutant):
        change = np.abs(reference.astype(np.int16) - mutant)
        size = np.count_nonzero(reference) if self.nlc else reference.size
        return np.count_nonzero(change) < self.alpha * size or change.max() <= self.beta * 255

    def mutate(self, entry):
        picture, reference, moved, label, _ = entry
        affine, pixel = AFFINE[self.policy], PIXEL[self.policy]
        for _ in range(self.tries):
            i = self.random.integers(0, len(pixel) if moved else len(pixel) + len(affine))
            if i < len(pixel):
                mutant = pixel[i](picture, self.random)
                if self.valid(reference, mutant):
                    return [mutant, reference, moved, label, 0]
            else:
                mutant = affine[i - len(pixel)](picture, self.random)
                if not self.nlc or self.valid(reference, mutant):
                    return [mutant, mutant if reference is picture else reference, True, label, 0]
        return None

    def store(self, mutant, answer):
        self.database.execute("INSERT INTO input(label, prediction, pixels) VALUES (?, ?, ?)",
                              (int(mutant[3]), int(answer), zlib.compress(mutant[0].tobytes(), 3)))

    def turn(self):
        entry = self.pick()
        for step in [1] + [8] * (self.energy // 8) if self.nlc else [self.energy]:
            mutants = [m for m in (self.mutate(entry) for _ in range(step))
                       if m is not None and not np.array_equal(m[0], entry[0])]
            if not mutants:
                continue
            scores, rows = self.forward(np.stack([m[0] for m in mutants]))
            for mutant, answer, row in zip(mutants, scores.argmax(1), rows):
                self.executions += 1
                fails = answer != mutant[3]
                if fails and not self.nlc:
                    self.store(mutant, answer)
                    continue
                if not self.gains(row):
                    continue
                self.observe(row)
                self.store(mutant, answer)
                self.queue.append(mutant)
                if self.nlc:
                    entry[4] += 1
                    return

    def rate(self, seconds):
        torch.set_num_threads(self.threads)
        before, elapsed, start, cpu = self.executions, 0.0, time.perf_counter(), time.process_time()
        while elapsed < seconds:
            self.turn()
            elapsed = time.perf_counter() - start
        self.database.commit()
        done = self.executions - before
        return done / elapsed, done * self.threads / (time.process_time() - cpu)


def relus(path, known={}):
    import onnx
    if path not in known:
        known[path] = {node.output[0] for node in onnx.load(path).graph.node if node.op_type == "Relu"}
    return known[path]


def answer(loops, words, seeds):
    if words[0] == "open":
        identity, model, policy, _, threads, _ = words[1:7]
        torch.set_num_threads(int(threads))
        loop = loops[identity] = Loop(model, policy, int(threads), seeds)
        loop.turn()
        return f"ready batch={loop.energy} version={torch.__version__} neurons={loop.covered.shape[0]}"
    if words[0] == "run":
        by_clock, by_cpu = loops[words[1]].rate(float(words[2]))
        return f"rate {by_clock:.2f} {by_cpu:.2f}"
    if words[0] == "close":
        del loops[words[1]]
        return "closed"
    return "error malformed request"


def main():
    loops = {}
    for line in sys.stdin:
        try:
            reply = answer(loops, line.split(), sys.argv[1])
        except Exception as error:  # the driver skips what a peer cannot do, and says why
            reply = "error " + f"{type(error).__name__}: {error}".replace("\n", " ")
        print(reply, flush=True)


main()
