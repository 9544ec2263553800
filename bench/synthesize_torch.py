# SPDX-License-Identifier: Apache-2.0
"""PyTorch in bench/synthesize: Algorithm 2 of DeepFault with one gradient per neuron and input.

The first line on stdin is the job (model, folder that `plexor synthesize --store float` wrote, neurons per class,
threads, step, distance); every further line is one round over the inputs. A reply has the seconds, and by how much the
pixels differ from plexor's, as a share of the range. PyTorch has the better of one thread and of as many as plexor.
"""
import json
import sys
import time

import numpy as np
import onnx
import torch

from onnx_to_torch import Network


class Loop:
    def __init__(self, job):
        self.threads = sorted({1, job["threads"]})
        self.network = Network(job["model"])
        model = onnx.load(job["model"])
        # A layer is named by its activation; its neurons before that are what goes into it.
        self.before = {node.name: node.input[0] for node in model.graph.node if node.input}
        self.before.update({node.output[0]: node.input[0] for node in model.graph.node if node.input})
        keys = {p.key: p.value for p in model.metadata_props}
        numbers = lambda key, default: np.array([float(v) for v in keys.get(key, default).split(",")], np.float32)
        self.mean, self.std = (numbers(f"plexor.{n}", d).reshape(-1, 1, 1) for n, d in (("mean", "0"), ("std", "1")))
        originals = np.load(job["data"] + "/originals.npz")
        self.made = np.load(job["data"] + "/inputs.npz")["x"][:job["inputs"]]
        self.x = originals["x"][:job["inputs"]].astype(np.float32) / np.float32(255)
        self.lists = [job["lists"][str(y)] for y in originals["y"][:job["inputs"]]]
        self.step, self.distance = job["step"], job["distance"]

    def values(self, x, names):
        values = {self.network.input_name: x}
        for function, inputs, output in self.network.steps:
            values[output] = function(*[values[name] for name in inputs])
        return [values[name] for name in names]

    def one(self, pixels, neurons):
        shape = [1] + [d if d > 0 else 1 for d in self.network.input_shape]
        x = torch.from_numpy((pixels - self.mean) / self.std).reshape(shape).requires_grad_()
        tensors = self.values(x, [self.before[layer] for layer, _ in neurons])
        total = torch.zeros_like(x)
        for (_, unit), tensor in zip(neurons, tensors):
            phi = tensor[0, unit].mean()  # of a channel; a dense neuron is its own mean
            total += torch.autograd.grad(phi, x, retain_graph=True)[0]
        gradient = (total / len(neurons)).reshape(pixels.shape).numpy() / self.std
        moved = np.clip(self.step * gradient, -self.distance, self.distance)
        return np.clip(pixels + moved, 0, 1)

    def round(self):
        best = float("inf")
        for threads in self.threads:  # two inside an operator are not always faster than one
            torch.set_num_threads(threads)
            start = time.perf_counter()
            made = [self.one(x, neurons) for x, neurons in zip(self.x, self.lists)]
            best = min(best, time.perf_counter() - start)
        return {"seconds": best, "difference": float(np.abs(np.stack(made) - self.made).max())}


def main():
    loop = None
    for line in sys.stdin:
        request = json.loads(line)
        if loop is None:
            loop = Loop(request)
            loop.round()  # to warm up
            print("{}", flush=True)
        else:
            print(json.dumps(loop.round()), flush=True)


main()
