#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the small networks in models/ that test_layers.c reads.

    /usr/bin/python3 make_models.py        (python3-onnx)

A network is a few lines `Type input ... -> output ... [name=value ...]`. A name that starts with a
capital letter is a constant with the shape given in `constants`. Nodes are named after their first
output, unless the line ends in `!` (unnamed) or has `node=NAME`.
"""
import os
import zlib

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "models")


def attribute(text):
    if text.startswith("["):
        return [int(v) for v in text[1:-1].split(",")]
    return float(text) if "." in text else int(text) if text.lstrip("-").isdigit() else text


def net(name, shape, lines, constants, output="y", opset=13):
    rng = np.random.RandomState(zlib.crc32(name.encode()) & 0xffff)
    weights = []
    for key, value in constants.items():
        if isinstance(value, tuple):
            value = (rng.standard_normal(value) * 0.5).astype(np.float32)
        elif isinstance(value, list):
            value = np.asarray(value, np.int64)
        else:
            value = np.asarray(value, np.float32)
        weights.append(numpy_helper.from_array(value, key))
    nodes = []
    for line in lines.strip().splitlines():
        left, right = line.split("->")
        type_, *inputs = left.split()
        words = right.split()
        unnamed = words[-1] == "!"
        outputs = [w for w in words if "=" not in w and w != "!"]
        outputs = ["" if o == "-" else o for o in outputs]
        attributes = dict(w.split("=", 1) for w in words if "=" in w)
        node_name = attributes.pop("node", next(o for o in outputs if o))
        nodes.append(helper.make_node(type_, ["" if i == "-" else i for i in inputs], outputs,
                                      name="" if unnamed else node_name,
                                      **{k: attribute(v) for k, v in attributes.items()}))
    graph = helper.make_graph(
        nodes, name, [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info(output, TensorProto.FLOAT, ["N", "C"])], weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
    onnx.checker.check_model(model)
    onnx.save(model, os.path.join(HERE, name + ".onnx"))


IMAGE = ["N", 3, 8, 8]
HEAD = """
GlobalAveragePool {0} -> gap
Flatten gap -> flat
Gemm flat Wh -> logits
Softmax logits -> y
"""


def image_net(name, lines, last, channels, constants, **more):
    constants = dict(constants, Wh=(channels, 5))
    net(name, more.pop("shape", IMAGE), lines + HEAD.format(last).lstrip("\n"), constants, **more)


CONV = {"W1": (4, 3, 3, 3)}

image_net("silu", """
Conv x W1 -> conv
Sigmoid conv -> gate
Mul conv gate -> silu
""", "silu", 4, CONV)

image_net("quick_gelu", """
Conv x W1 -> conv
Mul conv Scale -> scaled
Sigmoid scaled -> gate
Mul gate conv -> act
""", "act", 4, dict(CONV, Scale=1.702))

image_net("mish", """
Conv x W1 -> conv
Softplus conv -> soft
Tanh soft -> tanh
Mul conv tanh -> mish
""", "mish", 4, CONV)

image_net("hard_swish", """
Conv x W1 B1 -> conv
Add conv Three -> shifted
Clip shifted Zero Six -> clip
Mul conv clip -> product
Div product Six -> act
""", "act", 4, dict(CONV, B1=(4,), Three=3.0, Zero=0.0, Six=6.0))

image_net("keras_relu6", """
Conv x W1 -> conv
Relu conv -> relu
Min relu Six -> relu6
""", "relu6", 4, dict(CONV, Six=6.0))

image_net("relu_after_pool", """
Conv x W1 -> conv
MaxPool conv -> pool kernel_shape=[2,2] strides=[2,2]
Relu pool -> relu
""", "relu", 4, CONV)

image_net("squeeze_excite", """
Conv x W1 -> conv
BatchNormalization conv S B M V -> bn
Sigmoid bn -> gate
Mul bn gate -> silu
GlobalAveragePool silu -> squeeze
Conv squeeze W2 B2 -> reduce
Relu reduce -> reduced
Conv reduced W3 B3 -> expand
Sigmoid expand -> excite
Mul silu excite -> weighted
Conv weighted W4 -> project
BatchNormalization project S B M V -> projected
Add projected weighted -> sum
""", "sum", 4, dict(CONV, S=(4,), B=(4,), M=(4,), V=np.ones(4), W2=(2, 4, 1, 1), B2=(2,),
                    W3=(4, 2, 1, 1), B3=(4,), W4=(4, 4, 1, 1)))

image_net("residual", """
Conv x W1 -> stem
Relu stem -> relu0
Conv relu0 W2 -> conv1
Relu conv1 -> relu1
Conv relu1 W2 -> conv2
BatchNormalization conv2 S B M V -> bn2
Conv relu0 W3 -> short
BatchNormalization short S B M V -> bn3
Add bn3 bn2 -> sum
Relu sum -> relu2
""", "relu2", 4, dict(CONV, W2=(4, 4, 1, 1), W3=(4, 4, 1, 1), S=(4,), B=(4,), M=(4,), V=np.ones(4)))

image_net("pre_activation", """
Conv x W1 -> stem
BatchNormalization stem S B M V -> bn1
Relu bn1 -> relu1
Conv relu1 W2 -> conv1
Add stem conv1 -> sum
BatchNormalization sum S B M V -> bn2
Relu bn2 -> relu2
""", "relu2", 4, dict(CONV, W2=(4, 4, 1, 1), S=(4,), B=(4,), M=(4,), V=np.ones(4)))

image_net("dense_block", """
Conv x W1 -> conv1
Relu conv1 -> relu1
Conv relu1 W2 -> conv2
Concat relu1 conv2 -> joined axis=1
Relu joined -> relu2
""", "relu2", 6, dict(CONV, W2=(2, 4, 1, 1)))

image_net("highway", """
Conv x W1 -> conv
Sigmoid conv -> gate
Sub One gate -> carry
Conv x W2 -> feature
Tanh feature -> tanh
Mul gate tanh -> taken
Mul carry tanh -> kept
Concat taken kept -> both axis=1
""", "both", 8, dict(CONV, W2=(4, 3, 3, 3), One=1.0))

image_net("channels_last", """
Conv x W1 -> conv
Transpose conv -> nhwc perm=[0,2,3,1]
Add nhwc B1 -> biased
Relu biased -> relu
Transpose relu -> nchw perm=[0,3,1,2]
""", "nchw", 4, dict(CONV, B1=(4,)))

image_net("names", """
Conv x W1 -> a !
Relu a -> b !
Conv b W2 -> c node=twice
Relu c -> d node=again
Conv d W2 -> e node=twice
Relu e -> f node=again
""", "f", 4, dict(CONV, W2=(4, 4, 1, 1)))

net("squeeze_net", IMAGE, """
Conv x W1 -> conv1
Relu conv1 -> relu1
Dropout relu1 -> drop
Conv drop W2 -> conv2
Relu conv2 -> relu2
GlobalAveragePool relu2 -> gap
Reshape gap Shape -> logits
Softmax logits -> y
""", dict(CONV, W2=(5, 4, 1, 1), Shape=[-1, 5]))

net("binary", ["N", 6], """
Gemm x W1 B1 -> dense1
Tanh dense1 -> tanh
Gemm tanh W2 -> dense2
Sigmoid dense2 -> y
""", {"W1": (6, 4), "B1": (4,), "W2": (4, 1)})

ATTENTION = {"Wq": (6, 6), "Wk": (6, 6), "Wv": (6, 6), "Wo": (6, 6), "Bq": (6,), "Bo": (6,),
             "W1": (6, 8), "B1": (8,), "W2": (8, 6), "B2": (6,), "Wh": (6, 5), "Scale": 0.4,
             "Root2": 1.41421356, "One": 1.0, "Half": 0.5, "First": [0]}
net("transformer", ["N", 3, 6], """
LayerNormalization x Bq Bo -> norm1
MatMul norm1 Wq -> q_mul
Add Bq q_mul -> q
MatMul norm1 Wk -> k
MatMul norm1 Wv -> v
Transpose k -> kt perm=[0,2,1]
MatMul q kt -> scores
Mul scores Scale -> scaled
Softmax scaled -> attention
MatMul attention v -> mixed
MatMul mixed Wo -> o_mul
Add o_mul Bo -> o
Add x o -> residual1
LayerNormalization residual1 Bq Bo -> norm2
MatMul norm2 W1 -> fc1_mul
Add fc1_mul B1 -> fc1
Div fc1 Root2 -> divided
Erf divided -> erf
Add erf One -> plus
Mul fc1 plus -> times
Mul times Half -> gelu
MatMul gelu W2 -> fc2_mul
Add fc2_mul B2 -> fc2
Add residual1 fc2 -> residual2
Gather residual2 First -> token axis=1
Squeeze token One1 -> pooled
MatMul pooled Wh -> logits
Softmax logits -> y
""", dict(ATTENTION, One1=[1]), opset=17)

net("gelu_tanh", ["N", 6], """
Gemm x W1 B1 -> dense
Pow dense Three -> cube
Mul cube Small -> small
Add dense small -> inner
Mul inner Root -> rooted
Tanh rooted -> tanh
Add tanh One -> plus
Mul dense Half -> halved
Mul halved plus -> gelu
Gemm gelu Wh -> logits
Softmax logits -> y
""", {"W1": (6, 4), "B1": (4,), "Wh": (4, 5), "Three": 3.0, "Small": 0.044715, "Root": 0.79788456,
      "One": 1.0, "Half": 0.5})

net("lstm", ["N", 3, 2], """
Transpose x -> steps perm=[1,0,2]
LSTM steps W R B -> states last cell hidden_size=4 node=lstm
Squeeze last Zero -> flat
Gemm flat Wh -> logits
Softmax logits -> y
""", {"W": (1, 16, 2), "R": (1, 16, 4), "B": (1, 32), "Zero": [0], "Wh": (4, 5)})

net("gru_last", ["N", 3, 2], """
Transpose x -> steps perm=[1,0,2]
GRU steps W R -> - last hidden_size=4 direction=bidirectional node=gru
Transpose last -> batch perm=[1,0,2]
Flatten batch -> flat
Gemm flat Wh -> logits
Softmax logits -> y
""", {"W": (2, 12, 2), "R": (2, 12, 4), "Wh": (8, 5)})

image_net("baked_batch", """
Conv x W1 -> conv
Relu conv -> relu
Reshape relu Shape -> flat4
""", "flat4", 4, dict(CONV, Shape=[1, 4, 6, 6]), shape=[1, 3, 8, 8])

image_net("windows", """
Reshape x Cut -> cut
Conv cut W1 -> conv
Relu conv -> relu
Reshape relu Join -> joined
""", "joined", 4, {"W1": (4, 3, 1, 1), "Cut": [-1, 3, 4, 4], "Join": [-1, 4, 8, 8]})

net("vector", ["N", 2, 2, 2], """
Conv x W1 -> conv
Flatten conv -> flat
Gemm flat W2 -> dense
Gemm dense W3 -> logits
Softmax logits -> y
""", {"W1": (2, 2, 1, 1), "W2": (8, 3), "W3": (3, 2)})
