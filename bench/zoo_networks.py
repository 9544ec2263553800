#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The networks of bench/zoo: torchvision's architectures with random weights, as ONNX and for PyTorch

    zoo_networks.py FOLDER NAME...        writes NAME.onnx, and NAME.pt with its weights

Weights are torchvision's own initialisation with a fixed seed; running statistics of BatchNorm come
from a dozen random pictures, so that values stay in the range that a trained network has. The input
is `input` (N, 3, side, side) with N left open, the output `logits`.
"""
import os
import sys

import torch
import torchvision
from torch import nn

OPSET = 17


class Vgg16BnSmall(nn.Module):
    """VGG-16 with BatchNorm for 32x32 pictures, as it is used on CIFAR: 15 million parameters."""

    def __init__(self):
        super().__init__()
        self.features = torchvision.models.vgg16_bn(weights=None).features
        self.classifier = nn.Sequential(nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 512),
                                        nn.ReLU(), nn.Linear(512, 10))

    def forward(self, x):
        return self.classifier(torch.flatten(self.features(x), 1))


class ResidualBlock(nn.Module):
    def __init__(self, channels_in, channels, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(channels_in, channels, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(channels)
        self.conv2 = nn.Conv2d(channels, channels, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(channels)
        self.shortcut = nn.Identity() if stride == 1 else nn.Sequential(
            nn.Conv2d(channels_in, channels, 1, stride, bias=False), nn.BatchNorm2d(channels))

    def forward(self, x):
        y = self.bn2(self.conv2(torch.relu(self.bn1(self.conv1(x)))))
        return torch.relu(y + self.shortcut(x))


class ResNet56(nn.Module):
    """He et al., CVPR 2016, section 4.2, n = 9."""

    def __init__(self):
        super().__init__()
        layers, channels = [nn.Conv2d(3, 16, 3, 1, 1, bias=False), nn.BatchNorm2d(16), nn.ReLU()], 16
        for width in (16, 32, 64):
            for block in range(9):
                layers.append(ResidualBlock(channels, width, 2 if width > channels else 1))
                channels = width
        self.features = nn.Sequential(*layers)
        self.fc = nn.Linear(64, 10)

    def forward(self, x):
        return self.fc(self.features(x).mean((2, 3)))


def mobilenet_small():
    """MobileNetV2 with the first two reductions left out, as it is used on CIFAR."""
    made = torchvision.models.mobilenet_v2(weights=None, num_classes=10, inverted_residual_setting=[
        [1, 16, 1, 1], [6, 24, 2, 1], [6, 32, 3, 2], [6, 64, 4, 2], [6, 96, 3, 1], [6, 160, 3, 2],
        [6, 320, 1, 1]])
    made.features[0][0].stride = (1, 1)
    return made


def of_torchvision(name):
    return lambda: getattr(torchvision.models, name)(weights=None)


NETWORKS = {  # name: (side, maker)
    "resnet50": (224, of_torchvision("resnet50")),
    "mobilenet_v2": (224, of_torchvision("mobilenet_v2")),
    "efficientnet_b0": (224, of_torchvision("efficientnet_b0")),
    "densenet121": (224, of_torchvision("densenet121")),
    "convnext_tiny": (224, of_torchvision("convnext_tiny")),
    "vit_b_16": (224, of_torchvision("vit_b_16")),
    "swin_t": (224, of_torchvision("swin_t")),
    "vgg16_bn_32": (32, Vgg16BnSmall),
    "resnet56_32": (32, ResNet56),
    "mobilenet_v2_32": (32, mobilenet_small),
}


def network(name):
    """The module in evaluation mode, with weights that are the same every time."""
    side, make = NETWORKS[name]
    torch.manual_seed(1)
    module = make()
    with torch.no_grad():
        for layer in module.modules():
            if isinstance(layer, nn.BatchNorm2d):
                layer.momentum = None  # the mean over all that it sees
        module.train()
        for _ in range(3):
            module(torch.randn(4, 3, side, side))
    module.eval().requires_grad_(False)
    return side, module


def load(path):
    """The module of an ONNX file that export() wrote, and the shape of its input."""
    name = os.path.splitext(os.path.basename(path))[0]
    side, make = NETWORKS[name]
    module = make()
    module.load_state_dict(torch.load(os.path.splitext(path)[0] + ".pt"))
    return module.eval().requires_grad_(False), [3, side, side]


def export(name, folder):
    side, module = network(name)
    torch.save(module.state_dict(), os.path.join(folder, name + ".pt.part"))
    # In evaluation mode nn.MultiheadAttention takes a path that has no ONNX form; without dropout
    # that of training is the same function.
    for layer in module.modules():
        if isinstance(layer, nn.MultiheadAttention):
            layer.register_forward_pre_hook(lambda m, _: setattr(m, "training", True))
            layer.register_forward_hook(lambda m, _, __: setattr(m, "training", False))
    path = os.path.join(folder, name + ".onnx")
    torch.onnx.export(module, torch.zeros(2, 3, side, side), path + ".part", opset_version=OPSET,
                      input_names=["input"], output_names=["logits"],
                      dynamic_axes={"input": {0: "N"}, "logits": {0: "N"}})
    os.rename(os.path.join(folder, name + ".pt.part"), os.path.join(folder, name + ".pt"))
    os.rename(path + ".part", path)


if __name__ == "__main__":
    if len(sys.argv) < 3 or not set(sys.argv[2:]) <= set(NETWORKS):
        sys.exit(__doc__ + "\nNAME is one of " + ", ".join(NETWORKS))
    os.makedirs(sys.argv[1], exist_ok=True)
    for wanted in sys.argv[2:]:
        export(wanted, sys.argv[1])
