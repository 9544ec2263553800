#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Writes models/folded_*.onnx, as PyTorch exports them, and folded.npz: what PyTorch's hooks see.

    /usr/bin/python3 make_folded.py        (python3-torch, python3-onnx; 1.13 and 1.12)

folded_encoder is nn.TransformerEncoder, whose attention ends in a Gemm over [tokens * N, C], the
samples in turn. folded_windows has windows of its own, one sample's after the other's, before a
linear layer on [N * windows * places, C]. folded_halves has both: rows of a sample lie in runs of 4
of 8. folded_mixed mixes the samples of a batch on a way to a layer: no order holds.

folded.npz: x (5, 3, 8, 8); for each network NAME.LAYER the mean over a sample's places of that
layer's output, (5, C), where LAYER is the node's name.
"""
import os
import warnings

import numpy as np
import onnx
import torch
from torch import nn

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "models")


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.cut = nn.Conv2d(3, 8, 4, 4)
        self.place = nn.Parameter(torch.randn(4, 1, 8) * 0.5)
        layer = nn.TransformerEncoderLayer(8, 2, 12, dropout=0.0, activation="gelu")
        self.layers = nn.TransformerEncoder(layer, 2)
        self.head = nn.Linear(8, 5)

    def forward(self, x):
        tokens = self.cut(x).flatten(2).permute(2, 0, 1) + self.place
        return self.head(self.layers(tokens)[0])

    def wanted(self):
        return {f"/layers/layers.{i}/self_attn/Gemm": (layer.self_attn, lambda y: y[0].mean(0)) for i, layer in enumerate(self.layers.layers)}


class Windows(nn.Module):
    """Rows (N, windows, places)."""
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(3, 6)
        self.head = nn.Linear(6, 5)

    def forward(self, x):
        n = x.shape[0]
        cut = x.reshape(n, 3, 2, 4, 2, 4).permute(0, 2, 4, 3, 5, 1).reshape(-1, 3)
        y = torch.relu(self.inner(cut))
        return self.head(y.reshape(n, 64, 6).mean(1))

    def wanted(self):
        return {"/Relu": (self.inner, lambda y: torch.relu(y).reshape(-1, 64, 6).mean(1))}


class Halves(nn.Module):
    """Rows (halves, N, 4): a run of 4 is one sample's."""
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(24, 6)
        self.head = nn.Linear(6, 5)

    def forward(self, x):
        n = x.shape[0]
        cut = x.reshape(n, 3, 2, 4, 8).permute(2, 0, 3, 1, 4).reshape(-1, 24)
        y = torch.relu(self.inner(cut))
        return self.head(y.reshape(2, n, 4, 6).mean((0, 2)))

    def wanted(self):
        return {"/Relu": (self.inner, lambda y: torch.relu(y).reshape(2, -1, 4, 6).mean((0, 2)))}


class Mixed(nn.Module):
    """What each sample adds is the mean of the batch."""
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(24, 6)
        self.head = nn.Linear(6, 5)

    def forward(self, x):
        n = x.shape[0]
        mixed = x + x.mean(0, keepdim=True)
        y = torch.relu(self.inner(mixed.reshape(n, 3, 8, 8).permute(0, 2, 1, 3).reshape(-1, 24)))
        return self.head(y.reshape(n, 8, 6).mean(1))

    def wanted(self):
        return {}


def main():
    warnings.filterwarnings("ignore")
    torch.manual_seed(3)
    torch.backends.mha.set_fastpath_enabled(False) if hasattr(torch.backends, "mha") else None
    x = torch.rand(5, 3, 8, 8)
    arrays = {"x": x.numpy()}
    for name, net in (("encoder", Encoder()), ("windows", Windows()), ("halves", Halves()), ("mixed", Mixed())):
        path = os.path.join(HERE, f"folded_{name}.onnx")
        net.train()  # without dropout the same numbers, and no fused attention, which has no ONNX form
        with torch.no_grad():
            torch.onnx.export(net, x[:1], path, opset_version=13, input_names=["x"], output_names=["y"],
                              training=torch.onnx.TrainingMode.PRESERVE, dynamic_axes={"x": {0: "N"}, "y": {0: "N"}})
        model = onnx.load(path)
        for node in model.graph.node:  # where the exporter stood
            node.ClearField("doc_string")
        onnx.save(model, path)
        names = [node.name for node in model.graph.node]
        for layer, (module, view) in net.wanted().items():
            if layer not in names:
                raise SystemExit(f"{name} has no node '{layer}': {names}")
            seen = []
            hook = module.register_forward_hook(lambda module, inputs, output, seen=seen: seen.append(output))
            with torch.no_grad():
                net(x)
            hook.remove()
            arrays[f"folded_{name}.{layer}"] = view(seen[0]).numpy()
    np.savez(os.path.join(HERE, "folded.npz"), **arrays)


main()
