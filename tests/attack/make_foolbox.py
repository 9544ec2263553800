#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Makes foolbox.json: how many inputs Foolbox turns wrong, in blocks of 200 of the test split, from the first on.

    make_foolbox.py SHARED [BLOCKS]    needs Foolbox 3.3.4, PyTorch, onnx, and dataset-fashion-mnist

Of each attack: `turned` of those that the network gets right (`right`), by block, and the mean `l2` and `linf` of all of them.
"""
import json
import os
import sys

import foolbox
import torch

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "engine", "golden"))
from foolbox_cases import ATTACKS, BLOCK, NETWORKS, test_split
from onnx_torch import Net


class Module(torch.nn.Module):
    def __init__(self, path, mean, std):
        super().__init__()
        self.net, self.mean, self.std = Net(path, torch.float32), mean, std

    def forward(self, x):
        return self.net.run((x - self.mean) / self.std)["logits"]


def main():
    shared, blocks = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 5
    torch.set_num_threads(1)
    figures = {"foolbox": foolbox.__version__, "block": BLOCK}
    for number, (name, (model, data, mean, std)) in enumerate(NETWORKS.items()):
        top = os.path.join(HERE, "..", "..") if model.startswith("demo/") else shared
        module = Module(os.path.join(top, model), mean, std).eval()
        bounded = foolbox.PyTorchModel(module, bounds=(0, 1), device="cpu")
        x, y = map(torch.from_numpy, test_split(os.path.join(shared, data), blocks * BLOCK))
        with torch.no_grad():
            right = torch.cat([module(part).argmax(1) for part in x.split(BLOCK)]) == y
        ours = figures[name] = {"right": [int(part.sum()) for part in right.split(BLOCK)]}
        for attack, (kind, arguments, eps, _) in ATTACKS.items():
            torch.manual_seed(0)
            run = getattr(foolbox.attacks, kind)(**arguments)
            turned, moves = [], []
            for first in range(0, len(x), BLOCK):
                keep = right[first:first + BLOCK]
                before, labels = x[first:first + BLOCK][keep], y[first:first + BLOCK][keep]
                _, after, good = run(bounded, before, labels, epsilons=eps[number] if eps else None)
                turned.append(int(good.sum()))
                moves.append((after - before)[good].flatten(1))
            moves = torch.cat(moves)
            ours[attack] = {"turned": turned, "l2": round(float(moves.norm(dim=1).mean()), 6),
                            "linf": round(float(moves.abs().max(1).values.mean()), 6)}
            print(name, attack, ours[attack], flush=True)
    with open(os.path.join(HERE, "foolbox.json"), "w", encoding="utf-8") as file:
        json.dump(figures, file, indent=1)
        file.write("\n")


main()
