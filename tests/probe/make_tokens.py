#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Writes models/tokens_*.onnx, transformers as PyTorch exports them, and tokens.npz: what its hooks see.

    /usr/bin/python3 make_tokens.py        (python3-torchvision, python3-onnx; 0.14 and 1.12)

tokens_vit is torchvision's VisionTransformer (pre-norm, class token, samples first), tokens_encoder
nn.TransformerEncoder (post-norm, tokens first), both with two blocks of two heads.

tokens.npz: x (9, 3, 8, 8); for every layer, all of them, NETWORK:LAYER#mean is the mean of each
feature over tokens (of each head over tokens and features), NETWORK:LAYER#class its value at the
token that the head reads, or, where a layer's places are not those tokens, the mean again.
"""
import os
import warnings

import numpy as np
import onnx
import torch
from torch import nn
from torchvision.models.vision_transformer import VisionTransformer

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


class Seen:
    """What goes into and out of modules while a network runs."""
    def __init__(self, net):
        self.inputs, self.outputs = {}, {}
        for name, module in net.named_modules():
            module.register_forward_hook(lambda _, i, o, name=name: self.note(name, i, o))

    def note(self, name, inputs, outputs):
        self.inputs[name] = inputs[0] if inputs else None
        self.outputs[name] = outputs[0] if isinstance(outputs, tuple) else outputs


def heads(qkv, count):
    """softmax(q k^T / sqrt(d)) v of [N, T, 3 C], as [N, heads, T, d]."""
    n, t, c = qkv.shape
    q, k, v = (x.reshape(n, t, count, c // 3 // count).transpose(1, 2) for x in qkv.chunk(3, dim=2))
    return torch.softmax(q @ k.transpose(2, 3) / (c / 3 / count) ** 0.5, dim=-1) @ v


def attention(seen, net, name, x, first):
    """QKV, heads and the projection of one nn.MultiheadAttention that reads x, samples first."""
    module = net.get_submodule(name)
    x = x if first else x.transpose(0, 1)
    qkv = nn.functional.linear(x, module.in_proj_weight, module.in_proj_bias)
    out = seen.outputs[name] if first else seen.outputs[name].transpose(0, 1)
    return qkv, heads(qkv, module.num_heads), out


def vit_layers(net, seen):
    """[N, T, C] of every layer, in order; [N, C] where it has no tokens."""
    rows = [("/conv_proj/Conv", seen.outputs["conv_proj"].flatten(2).transpose(1, 2))]
    for i in range(2):
        block = f"encoder.layers.encoder_layer_{i}"
        at = f"/encoder/layers/encoder_layer_{i}"
        qkv, by_head, out = attention(seen, net, block + ".self_attention", seen.outputs[block + ".ln_1"], True)
        rows += [(at + "/self_attention/Add", qkv), (at + "/self_attention/MatMul_2", by_head),
                 (at + "/self_attention/Gemm", out), (at + "/Add", seen.inputs[block + ".ln_2"]),
                 (at + "/mlp/mlp.1/Mul_1", seen.outputs[block + ".mlp.1"]),
                 (at + "/mlp/mlp.3/Add", seen.outputs[block + ".mlp.3"]), (at + "/Add_1", seen.outputs[block])]
    rows += [("/encoder/ln/Add_1", seen.outputs["encoder"]), ("/Gather_4", seen.inputs["heads"]),
             ("/heads/head/Gemm", seen.outputs["heads"])]
    return rows, 5


def encoder_layers(net, seen):
    rows = [("/cut/Conv", seen.outputs["cut"].flatten(2).transpose(1, 2))]
    for i in range(2):
        block = f"layers.layers.{i}"
        at = f"/layers/layers.{i}"
        qkv, by_head, out = attention(seen, net, block + ".self_attn", seen.inputs[block], False)
        rows += [(at + "/self_attn/Add", qkv), (at + "/self_attn/MatMul_2", by_head), (at + "/self_attn/Gemm", out),
                 (at + "/norm1/Add_1", seen.outputs[block + ".norm1"].transpose(0, 1)),
                 (at + "/Mul_1", nn.functional.gelu(seen.outputs[block + ".linear1"]).transpose(0, 1)),
                 (at + "/linear2/Add", seen.outputs[block + ".linear2"].transpose(0, 1)),
                 (at + "/norm2/Add_1", seen.outputs[block].transpose(0, 1))]
    rows += [("/Gather", seen.inputs["head"]), ("/head/Gemm", seen.outputs["head"])]
    return rows, 4


def main():
    warnings.filterwarnings("ignore")
    torch.manual_seed(7)
    vit = VisionTransformer(8, 4, 2, 2, 8, 12, num_classes=5)
    for parameter in vit.parameters():  # the class token and the head begin as zeros
        nn.init.normal_(parameter, std=0.4)
    x = torch.rand(9, 3, 8, 8)
    arrays = {"x": x.numpy()}
    for name, net, layers in (("tokens_vit", vit, vit_layers), ("tokens_encoder", Encoder(), encoder_layers)):
        path = os.path.join(HERE, name + ".onnx")
        net.train()  # without dropout the same numbers, and no fused attention, which has no ONNX form
        with torch.no_grad():
            torch.onnx.export(net, x[:1], path, opset_version=13, input_names=["x"], output_names=["y"],
                              training=torch.onnx.TrainingMode.PRESERVE, dynamic_axes={"x": {0: "N"}, "y": {0: "N"}})
        model = onnx.load(path)
        for node in model.graph.node:  # where the exporter stood
            node.ClearField("doc_string")
        onnx.save(model, path)
        seen = Seen(net)
        with torch.no_grad():
            net(x)
            rows, tokens = layers(net, seen)
        for layer, value in rows:
            by_head = value.dim() == 4
            mean = value.mean((2, 3)) if by_head else value.mean(1) if value.dim() == 3 else value
            has_tokens = value.dim() == 3 and value.shape[1] == tokens
            arrays[f"{name}:{layer}#mean"] = mean.numpy()
            arrays[f"{name}:{layer}#class"] = (value[:, 0] if has_tokens else mean).numpy()
    np.savez(os.path.join(HERE, "tokens.npz"), **arrays)


main()
