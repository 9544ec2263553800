#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Trains demo/fashion_lenet.onnx: a LeNet-like network for Fashion-MNIST (28x28 grey, 10 classes).

    scripts/make_demo_model.py [DATA] [OUT]

Needs PyTorch, ONNX and numpy (Debian: python3-torch python3-onnx python3-numpy) and the package
dataset-fashion-mnist. Takes a few minutes on one core. plexor itself needs none of them: the result
is committed. Preprocessing is not in the network but in its metadata, so that plexor has
something to find out.
"""
import gzip
import io
import json
import os
import sys

import numpy as np
import onnx
import torch
from torch import nn

DATA = sys.argv[1] if len(sys.argv) > 1 else "/usr/share/datasets/fashion-mnist"
OUT = sys.argv[2] if len(sys.argv) > 2 else os.path.join(os.path.dirname(__file__), "..", "demo",
                                                         "fashion_lenet.onnx")
CLASSES = ["T-shirt/top", "Trouser", "Pullover", "Dress", "Coat", "Sandal", "Shirt", "Sneaker",
           "Bag", "Ankle boot"]
MEAN, STD, EPOCHS, BATCH = 0.2860, 0.3530, 15, 128


def idx(name, offset):
    with gzip.open(os.path.join(DATA, name)) as f:
        return np.frombuffer(f.read(), np.uint8, offset=offset)


def load(prefix):
    x = idx(prefix + "-images-idx3-ubyte.gz", 16).reshape(-1, 1, 28, 28).astype(np.float32)
    return (torch.from_numpy((x / 255 - MEAN) / STD),
            torch.from_numpy(idx(prefix + "-labels-idx1-ubyte.gz", 8).astype(np.int64)))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 8, 5, padding=2)
        self.conv2 = nn.Conv2d(8, 16, 5)
        self.fc1 = nn.Linear(400, 84)
        self.fc2 = nn.Linear(84, 10)
        self.pool = nn.MaxPool2d(2)
        self.drop = nn.Dropout(0.2)

    def forward(self, x):
        x = self.pool(torch.relu(self.conv1(x)))
        x = self.pool(torch.relu(self.conv2(x)))
        return self.fc2(self.drop(torch.relu(self.fc1(x.flatten(1)))))


def main():
    torch.manual_seed(1)
    torch.set_num_threads(1)
    x, y = load("train")
    test_x, test_y = load("t10k")
    net = Net()
    optimiser = torch.optim.Adam(net.parameters())
    steps = (len(x) + BATCH - 1) // BATCH
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, 4e-3, EPOCHS * steps)
    for epoch in range(EPOCHS):
        net.train()
        for rows in torch.randperm(len(x)).split(BATCH):
            batch = x[rows]
            flip = torch.rand(len(rows)) < 0.5
            batch[flip] = batch[flip].flip(3)
            optimiser.zero_grad()
            nn.functional.cross_entropy(net(batch), y[rows]).backward()
            optimiser.step()
            schedule.step()
        net.eval()
        with torch.no_grad():
            right = (net(test_x).argmax(1) == test_y).float().mean().item()
        print(f"epoch {epoch + 1}: test accuracy {right:.4f}", flush=True)

    buffer = io.BytesIO()
    torch.onnx.export(net, x[:1], buffer, input_names=["input"], output_names=["logits"],
                      dynamic_axes={"input": {0: "N"}, "logits": {0: "N"}}, opset_version=13)
    model = onnx.load_from_string(buffer.getvalue())
    for key, value in {"plexor.mean": str(MEAN), "plexor.std": str(STD), "plexor.size": "28x28",
                       "plexor.channels": "gray", "plexor.classes": json.dumps(CLASSES),
                       "plexor.output": "logits"}.items():
        model.metadata_props.add(key=key, value=value)
    onnx.checker.check_model(model)
    onnx.save(model, OUT)
    print(OUT, os.path.getsize(OUT), "bytes")


main()
