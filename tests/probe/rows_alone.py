#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Rows of a batch are rows alone, on every layer of thirteen architectures: rows_alone.py PLEXOR

torchvision's networks in small forms with random weights, exported by PyTorch; TAP. Without PyTorch
there is nothing to export, and the test is skipped.
"""
import importlib.util
import os
import pathlib
import subprocess
import sys
import tempfile
import warnings

INPUTS, BATCH = 7, 5


def networks():
    """Name, network, side of its pictures, whether it is exported in training mode (dropout-free)."""
    import torch
    from torch import nn
    from torchvision import models
    from torchvision.models import convnext, densenet, resnet, swin_transformer, vision_transformer

    class Encoder(nn.Module):
        def __init__(self):
            super().__init__()
            self.cut = nn.Conv2d(3, 16, 8, 8)
            layer = nn.TransformerEncoderLayer(16, 2, 24, dropout=0.0, activation="gelu")
            self.layers = nn.TransformerEncoder(layer, 2)
            self.head = nn.Linear(16, 5)

        def forward(self, x):
            return self.head(self.layers(self.cut(x).flatten(2).permute(2, 0, 1))[0])

    def vgg():
        net = models.vgg11_bn(num_classes=5)
        net.avgpool = nn.AdaptiveAvgPool2d(1)
        net.classifier = nn.Sequential(nn.Linear(512, 16), nn.ReLU(), nn.Linear(16, 5))
        return net

    def convnext_tiny():
        block = convnext.CNBlockConfig
        return convnext.ConvNeXt([block(16, 32, 1), block(32, 64, 1), block(64, None, 1)], num_classes=5)

    yield "resnet18", models.resnet18(num_classes=5), 32, False
    yield "resnet50", resnet.ResNet(resnet.Bottleneck, [1, 1, 1, 1], 5, width_per_group=16), 32, False
    yield "mobilenet_v2", models.mobilenet_v2(num_classes=5, width_mult=0.25), 32, False
    yield "mobilenet_v3", models.mobilenet_v3_small(num_classes=5, width_mult=0.5), 32, False
    yield "efficientnet_b0", models.efficientnet_b0(num_classes=5), 32, False
    yield "densenet121", densenet.DenseNet(8, (2, 2, 2, 2), 16, num_classes=5), 32, False
    yield "convnext_tiny", convnext_tiny(), 32, False
    yield "vit_b_16", vision_transformer.VisionTransformer(32, 8, 2, 2, 16, 24, num_classes=5), 32, True
    yield "swin_t", swin_transformer.SwinTransformer([4, 4], 16, [2, 2], [2, 4], [2, 2], num_classes=5,
                                                     stochastic_depth_prob=0.0), 32, True
    yield "vgg11_bn", vgg(), 32, False
    yield "shufflenet_v2", models.shufflenet_v2_x0_5(num_classes=5), 32, False
    yield "regnet_y_400mf", models.regnet_y_400mf(num_classes=5), 32, False
    yield "transformer_encoder", Encoder(), 32, True


def export(folder):
    """Name and file of each, and pictures for all of them."""
    import numpy as np
    import torch
    warnings.filterwarnings("ignore")
    torch.manual_seed(11)
    torch.set_num_threads(1)
    np.save(folder / "x.npy", torch.rand(INPUTS, 3, 32, 32).numpy())
    for name, net, side, training in networks():
        for parameter in net.parameters():  # some begin as zeros, which would hide who reads what
            if float(parameter.detach().abs().max()) == 0.0:
                torch.nn.init.normal_(parameter, std=0.2)
        net.train(training)
        mode = torch.onnx.TrainingMode.PRESERVE if training else torch.onnx.TrainingMode.EVAL
        path = folder / f"{name}.onnx"
        with torch.no_grad():
            torch.onnx.export(net, torch.rand(1, 3, side, side), path, opset_version=13, training=mode,
                              input_names=["x"], output_names=["y"], dynamic_axes={"x": {0: "N"}, "y": {0: "N"}})
        yield name, path


def traces(plexor, path, folder, batch, neurons):
    """Every layer's values, and what was said about them."""
    import numpy as np
    out = folder / f"trace{batch}.npz"
    command = [plexor, "trace", path, "--data", folder / "x.npy", "--layers", "all", "--neurons", neurons,
               "--batch", str(batch), "-j", "1", "-o", out]
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode:
        raise SystemExit(run.stderr)
    with np.load(out) as arrays:
        return {key: arrays[key] for key in arrays.files}, run.stderr + run.stdout


def main(plexor):
    import numpy as np
    print("1..13")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for number, (network, path) in enumerate(export(folder), 1):
            differ, layers = [], 0
            for neurons in ("chan", "unit"):
                alone, _ = traces(plexor, path, folder, 1, neurons)
                batch, said = traces(plexor, path, folder, BATCH, neurons)
                layers = len(alone)
                differ += [key for key in alone if not np.array_equal(alone[key], batch[key])]
                if "one input at a time" in said:
                    differ.append("ran one at a time")
            path.unlink()
            good = not differ and layers > 3
            print(f"{'ok' if good else 'not ok'} {number} - {network}: {layers} arrays, chan and unit"
                  + (f"; differ: {' '.join(differ[:5])}" if differ else ""), flush=True)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    if any(importlib.util.find_spec(module) is None for module in ("torch", "torchvision", "onnx")):
        system = "/usr/bin/python3"  # Debian's modules belong to Debian's interpreter
        if sys.executable != system and os.access(system, os.X_OK) and "PLEXOR_RETRY" not in os.environ:
            os.execve(system, [system, *sys.argv], {**os.environ, "PLEXOR_RETRY": "1"})
        print("1..0 # SKIP python3-torchvision or python3-onnx is not installed")
        sys.exit(0)
    main(sys.argv[1])
