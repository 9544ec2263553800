#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""PyTorch's side of bench/shapley: a loop that masks one neuron at a time.

    shapley_torch.py MODEL X MOVED LABEL PERMUTATIONS THREADS
"""
import json
import sys
import time

import numpy as np
import torch


class LeNet(torch.nn.Module):
    """LeNet-5 with the weights of the file, as one would write it in PyTorch; stages end at the four hidden layers."""

    def __init__(self, path):
        super().__init__()
        import onnx
        from onnx import numpy_helper
        w = {t.name: torch.tensor(numpy_helper.to_array(t)) for t in onnx.load(path).graph.initializer}

        def conv(name, cin, cout):
            made = torch.nn.Conv2d(cin, cout, 5, padding=2)
            made.weight.data, made.bias.data = w[name + ".weight"], w[name + ".bias"]
            return made

        def dense(name):
            weight = w[name + ".weight"]
            rows, cols = weight.shape if weight.shape[0] == w[name + ".bias"].shape[0] else weight.shape[::-1]
            made = torch.nn.Linear(cols, rows)
            made.weight.data = weight if weight.shape == (rows, cols) else weight.t().contiguous()
            made.bias.data = w[name + ".bias"]
            return made
        relu, pool = torch.nn.ReLU(), torch.nn.MaxPool2d(2)
        self.stages = torch.nn.ModuleList([
            torch.nn.Sequential(conv("block1_conv1", 1, 6), relu),
            torch.nn.Sequential(pool, conv("block2_conv1", 6, 16), relu),
            torch.nn.Sequential(pool, Rows(), dense("fc1"), relu),
            torch.nn.Sequential(dense("fc2"), relu),
            dense("before_softmax"),
        ])

    def forward(self, x, first=0):
        for stage in self.stages[first:]:
            x = stage(x)
        return x


class Rows(torch.nn.Module):
    """Flattens as the file does: channels last."""

    def forward(self, x):
        return x.permute(0, 2, 3, 1).flatten(1)


def orders(n, permutations, layer):
    rng = np.random.RandomState(7 + layer)
    for _ in range(permutations // 2):
        order = rng.permutation(n)
        yield order
        yield order[::-1]


def sample(net, both, labels, layer, permutations, restart):
    """Values of one layer, by pairs of an order and its reverse."""
    mask = {"m": None}
    with torch.no_grad():
        tap = both
        for stage in net.stages[:layer + 1]:
            tap = stage(tap)
        n = tap.shape[1]
        shape = (1, n) + (1,) * (tap.dim() - 2)
        hook = None
        if not restart:
            hook = net.stages[layer].register_forward_hook(lambda module, inputs, out: out * mask["m"])

        def utility(m):
            mask["m"] = m
            logits = net(tap * m, layer + 1) if restart else net(both)
            losses = torch.nn.functional.cross_entropy(logits, labels, reduction="none")
            return (losses[1] - losses[0]).item()
        means = []
        for order in orders(n, permutations, layer):
            m = torch.ones(shape)
            before, marginals = utility(m), np.zeros(n)
            for unit in order:
                m[0, unit] = 0.0
                after = utility(m)
                marginals[unit] = before - after
                before = after
            means.append(marginals)
        if hook:
            hook.remove()
    means = np.array(means).reshape(-1, 2, n).mean(axis=1)
    return means.mean(axis=0), means.std(axis=0, ddof=1) / len(means) ** 0.5


def main():
    model, x, moved, label, permutations, threads = sys.argv[1:7]
    torch.set_num_threads(int(threads))
    net = LeNet(model).eval()
    both = torch.tensor(np.stack([np.fromfile(f, dtype=np.float32) for f in (x, moved)])).reshape(2, 1, 28, 28)
    labels = torch.tensor([int(label)] * 2)
    result = {}
    for key, restart in (("hooked", False), ("restarted", True)):
        start, used = time.monotonic(), time.process_time()
        parts = [sample(net, both, labels, layer, int(permutations), restart) for layer in range(4)]
        result[key], result[key + "_processor"] = time.monotonic() - start, time.process_time() - used
        result["values"] = [float(v) for values, _ in parts for v in values]
        result["errors"] = [float(e) for _, errors in parts for e in errors]
    print(json.dumps(result))


if __name__ == "__main__":
    main()
