# SPDX-License-Identifier: Apache-2.0
"""torch_nets.py - the image classifiers of torchvision, exported to ONNX by torch.onnx

Weights are random but fixed. BatchNorm statistics come from a few passes over noise in training mode, so that
activations keep a sane size through all layers and no statistic is the 0 or 1 it started from. Networks are small
where the architecture allows it; `full` names the ones that are not.
"""
import warnings
import zlib
from dataclasses import dataclass
from typing import Callable, Tuple

import torch
from torch import nn
from torchvision import models
from torchvision.models import convnext, efficientnet, resnet, vgg

EVAL, PRESERVE = torch.onnx.TrainingMode.EVAL, torch.onnx.TrainingMode.PRESERVE


@dataclass
class Net:
    """An architecture and the way it is exported."""
    name: str
    make: Callable[[], nn.Module]
    shape: Tuple[int, ...]        # of one input
    opset: int = 13
    batch: int = 0                # 0: a free axis, else this many inputs are baked in
    folding: bool = True
    training: torch.onnx.TrainingMode = EVAL  # PRESERVE keeps BatchNormalization nodes
    loops: bool = False           # the baked batch cannot be changed: plexor has to say so
    full: bool = False            # only with --full

    def export(self, path):
        """Writes the file; gives the function that it should compute."""
        torch.manual_seed(zlib.crc32(self.name.encode()))
        module = settle(self.make(), self.shape)
        axes = {} if self.batch else {"input": {0: "batch"}, "logits": {0: "batch"}}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of tracing: sizes that are constants in these networks
            torch.onnx.export(module, torch.randn(self.batch or 2, *self.shape), path, opset_version=self.opset,
                              input_names=["input"], output_names=["logits"], dynamic_axes=axes,
                              do_constant_folding=self.folding, training=self.training)
        return lambda x: (module(x),) * 2


def settle(module, shape):
    """Parameters away from their special values, BatchNorm statistics of real activations."""
    with torch.no_grad():
        for parameter in module.parameters():
            if parameter.dim() < 2 or not parameter.any():  # biases, scales, heads that start as zero
                parameter.add_(torch.randn_like(parameter) * 0.1)
        module.train()
        for layer in module.modules():
            if isinstance(layer, nn.modules.batchnorm._BatchNorm):  # pylint: disable=protected-access
                layer.momentum = 0.5
        for _ in range(4):
            module(torch.randn(8, *shape))
    return module.eval()


def small_vgg(norm):
    """Configuration A with an eighth of the channels; its adaptive pooling asks for 7x7 maps."""
    config = [c if c == "M" else c // 8 for c in vgg.cfgs["A"]]
    net = vgg.VGG(nn.Identity(), num_classes=10)
    layers, channels = [], 3
    for c in config:
        if c == "M":
            layers.append(nn.MaxPool2d(2, 2))
            continue
        layers += [nn.Conv2d(channels, c, 3, padding=1)] + ([nn.BatchNorm2d(c)] if norm else []) + [nn.ReLU(True)]
        channels = c
    net.features = nn.Sequential(*layers)
    net.classifier = nn.Sequential(nn.Linear(channels * 49, 64), nn.ReLU(True), nn.Dropout(), nn.Linear(64, 10))
    return net


def small_efficientnet():
    """EfficientNet's blocks (expansion, depthwise, squeeze and excitation, SiLU), five of them."""
    block = efficientnet.MBConvConfig
    stages = [block(1, 3, 1, 16, 16, 1, 1, 1), block(6, 3, 2, 16, 24, 2, 1, 1), block(6, 5, 2, 24, 40, 2, 1, 1)]
    return efficientnet.EfficientNet(stages, dropout=0.2, stochastic_depth_prob=0.0, num_classes=10)


def small_convnext():
    block = convnext.CNBlockConfig
    return models.ConvNeXt([block(16, 32, 1), block(32, None, 2)], num_classes=10)


def small_vit():
    return models.VisionTransformer(image_size=64, patch_size=16, num_layers=3, num_heads=4, hidden_dim=64,
                                    mlp_dim=128, num_classes=10)


def small_swin():
    return models.SwinTransformer(patch_size=[4, 4], embed_dim=24, depths=[2, 2], num_heads=[2, 4],
                                  window_size=[4, 4], num_classes=10)


def ten(make, **options):
    return lambda: make(num_classes=10, **options)


NETS = [
    Net("resnet18", ten(models.resnet18), (3, 64, 64), opset=9),
    Net("resnet18, BatchNorm kept", ten(models.resnet18), (3, 32, 32), opset=17, training=PRESERVE, folding=False),
    Net("resnet50", ten(models.resnet50), (3, 64, 64), opset=13, full=True),
    Net("resnext", lambda: models.ResNet(resnet.Bottleneck, [1, 1, 1, 1], 10, groups=8, width_per_group=4),
        (3, 64, 64), opset=11),
    Net("vgg11", lambda: small_vgg(False), (3, 224, 224), opset=9, folding=False),
    Net("vgg11_bn", lambda: small_vgg(True), (3, 224, 224), opset=14, batch=1),
    Net("alexnet", ten(models.alexnet), (3, 224, 224), opset=11, full=True),
    Net("mobilenet_v2", ten(models.mobilenet_v2, width_mult=0.5), (3, 64, 64), opset=11),
    Net("mobilenet_v3_small", ten(models.mobilenet_v3_small), (3, 64, 64), opset=13, folding=False),
    Net("mobilenet_v3_large", ten(models.mobilenet_v3_large), (3, 64, 64), opset=14),
    Net("efficientnet", small_efficientnet, (3, 64, 64), opset=13),
    Net("efficientnet_b0", ten(models.efficientnet_b0), (3, 64, 64), opset=14, full=True),
    Net("efficientnet_v2_s", ten(models.efficientnet_v2_s), (3, 64, 64), opset=17, full=True),
    Net("densenet", lambda: models.DenseNet(12, (2, 3, 2), 24, num_classes=10), (3, 64, 64), opset=17),
    Net("densenet121", ten(models.densenet121), (3, 64, 64), opset=9, full=True),
    Net("inception_v3", ten(models.inception_v3, aux_logits=False, init_weights=False, transform_input=True),
        (3, 96, 96), opset=11),
    Net("googlenet", ten(models.googlenet, aux_logits=False, init_weights=False), (3, 64, 64), opset=13),
    Net("squeezenet1_0", ten(models.squeezenet1_0), (3, 64, 64), opset=9, full=True),
    Net("squeezenet1_1", ten(models.squeezenet1_1), (3, 64, 64), opset=14, batch=1),
    Net("shufflenet_v2", ten(models.shufflenet_v2_x0_5), (3, 64, 64), opset=13),
    Net("shufflenet_v2, batch 1", ten(models.shufflenet_v2_x0_5), (3, 64, 64), opset=14, batch=1,
        loops=True),
    Net("mnasnet", ten(models.mnasnet0_5), (3, 64, 64), opset=13, full=True),
    Net("regnet_y", ten(models.regnet_y_400mf), (3, 64, 64), opset=14, full=True),
    Net("vit", small_vit, (3, 64, 64), opset=14),
    Net("vit, batch 1", small_vit, (3, 64, 64), opset=17, batch=1, loops=True),
    Net("convnext", small_convnext, (3, 64, 64), opset=17),
    Net("swin", small_swin, (3, 64, 64), opset=14, full=True),
]
