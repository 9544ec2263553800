# SPDX-License-Identifier: Apache-2.0
"""hand_nets.py - networks as other exporters write them, node by node with onnx.helper

What tf2onnx and older exporters do and torch.onnx does not: images channels-last with a Transpose at either end of a
convolution, Pad nodes, dense layers as MatMul and Add, a Softmax at the end; files of IR version 3, whose initialisers
are inputs too; weights as float16, weights in a file of their own.
"""
import os
import warnings

import numpy as np
import onnx
import torch
from onnx import TensorProto, helper, numpy_helper
from torch.nn import functional as F


class Builder:
    """A graph in the making; every method gives the name of what it made."""

    def __init__(self, name, seed):
        self.name, self.random = name, np.random.default_rng(seed)
        self.nodes, self.weights, self.count = [], [], 0

    def add(self, kind, *inputs, outputs=1, **attributes):
        self.count += 1
        made = [f"{kind.lower()}_{self.count}" + (f":{i}" if i else "") for i in range(outputs)]
        self.nodes.append(helper.make_node(kind, list(inputs), made, name=f"node_{self.count}", **attributes))
        return made[0] if outputs == 1 else made

    def constant(self, array):
        self.count += 1
        self.weights.append(numpy_helper.from_array(np.ascontiguousarray(array), f"weight_{self.count}"))
        return f"weight_{self.count}"

    def weight(self, *shape, low=None, high=None):
        """Random numbers of a size that keeps activations alive, or between two bounds; name and tensor."""
        bound = 1.5 / np.sqrt(np.prod(shape[1:]) if len(shape) > 1 else shape[0])
        array = self.random.uniform(-bound if low is None else low, bound if high is None else high, shape)
        return self.constant(array.astype(np.float32)), torch.from_numpy(array.astype(np.float32))

    def save(self, path, result, shape, opset, ir_version=8, weights_are_inputs=False, classes=10, batch="batch"):
        inputs = [helper.make_tensor_value_info("input", TensorProto.FLOAT, [batch, *shape])]
        if weights_are_inputs:
            inputs += [helper.make_tensor_value_info(w.name, w.data_type, w.dims) for w in self.weights]
        outputs = [helper.make_tensor_value_info(result, TensorProto.FLOAT, [batch, classes])]
        graph = helper.make_graph(self.nodes, self.name, inputs, outputs, self.weights)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=ir_version)
        onnx.checker.check_model(model)
        onnx.save(model, path)
        return model


def keras_cnn(path):
    """tf2onnx of a small Keras network: channels-last in, Transpose pairs, SAME padding as Pad, Softmax."""
    b = Builder("keras", 1)
    w1, t1 = b.weight(16, 3, 3, 3)
    w2, t2 = b.weight(16, 1, 3, 3)
    w3, t3 = b.weight(24, 16, 1, 1)
    scale, ts = b.weight(24, low=0.5, high=1.5)
    shift, th = b.weight(24)
    mean, tm = b.weight(24)
    variance, tv = b.weight(24, low=0.5, high=2.0)
    w4, t4 = b.weight(24, 10)
    b4, tb4 = b.weight(10)
    x = b.add("Transpose", "input", perm=[0, 3, 1, 2])
    x = b.add("Pad", x, b.constant(np.array([0, 0, 0, 0, 0, 0, 1, 1], np.int64)), b.constant(np.float32(0.0)))
    x = b.add("Conv", x, w1, kernel_shape=[3, 3], strides=[2, 2], auto_pad="VALID")
    x = b.add("Transpose", x, perm=[0, 2, 3, 1])
    x = b.add("Clip", x, b.constant(np.float32(0.0)), b.constant(np.float32(6.0)))  # ReLU6, channels-last
    x = b.add("Transpose", x, perm=[0, 3, 1, 2])
    x = b.add("Conv", x, w2, kernel_shape=[3, 3], group=16, auto_pad="SAME_UPPER")
    x = b.add("Relu", x)
    x = b.add("Conv", x, w3, kernel_shape=[1, 1])
    x = b.add("BatchNormalization", x, scale, shift, mean, variance, epsilon=1e-3)
    x = b.add("Relu", x)
    x = b.add("Transpose", x, perm=[0, 2, 3, 1])
    x = b.add("ReduceMean", x, axes=[1, 2], keepdims=0)
    x = b.add("MatMul", x, w4)
    x = b.add("Add", x, b4)
    result = b.add("Softmax", x, axis=-1)
    b.save(path, result, (33, 33, 3), opset=13)

    def run(images):
        y = F.pad(images.permute(0, 3, 1, 2), (0, 1, 0, 1))
        y = F.conv2d(y, t1, stride=2).clamp(0, 6)
        y = F.relu(F.conv2d(y, t2, padding=1, groups=16))
        y = F.relu(F.batch_norm(F.conv2d(y, t3), tm, tv, ts, th, eps=1e-3))
        logits = y.mean((2, 3)) @ t4 + tb4
        return F.softmax(logits, -1), logits
    return run, (33, 33, 3)


def audio_cnn(path):
    """A one-dimensional network on raw samples: strided, dilated and grouped Conv of rank 3, pools of rank 3."""
    b = Builder("audio", 2)
    w1, t1 = b.weight(16, 1, 16)
    b1, tb1 = b.weight(16)
    w2, t2 = b.weight(32, 16, 3)
    scale, ts = b.weight(32, low=0.5, high=1.5)
    shift, th = b.weight(32)
    mean, tm = b.weight(32)
    variance, tv = b.weight(32, low=0.5, high=2.0)
    w3, t3 = b.weight(32, 8, 3)
    w4, t4 = b.weight(32, 32, 1)
    w5, t5 = b.weight(10, 32)
    b5, tb5 = b.weight(10)
    x = b.add("Conv", "input", w1, b1, kernel_shape=[16], strides=[4], pads=[6, 6])
    x = b.add("Relu", x)
    x = b.add("MaxPool", x, kernel_shape=[4], strides=[4])
    x = b.add("Conv", x, w2, kernel_shape=[3], pads=[2, 2], dilations=[2])
    x = b.add("BatchNormalization", x, scale, shift, mean, variance)
    skip = x = b.add("Relu", x)
    x = b.add("AveragePool", x, kernel_shape=[2], strides=[2])
    x = b.add("Conv", x, w3, kernel_shape=[3], pads=[1, 1], group=4)
    x = b.add("LeakyRelu", x, alpha=0.1)
    y = b.add("Conv", skip, w4, kernel_shape=[1], strides=[2])
    x = b.add("Add", y, x)
    x = b.add("GlobalAveragePool", x)
    x = b.add("Flatten", x)
    result = b.add("Gemm", x, w5, b5, transB=1)
    b.save(path, result, (1, 2048), opset=9)

    def run(sound):
        z = F.max_pool1d(F.relu(F.conv1d(sound, t1, tb1, stride=4, padding=6)), 4)
        z = F.relu(F.batch_norm(F.conv1d(z, t2, padding=2, dilation=2), tm, tv, ts, th))
        u = F.leaky_relu(F.conv1d(F.avg_pool1d(z, 2), t3, padding=1, groups=4), 0.1)
        logits = F.linear((F.conv1d(z, t4, stride=2) + u).mean(2), t5, tb5)
        return logits, logits
    return run, (1, 2048)


def lstm_classifier(path):
    """A bidirectional LSTM over (batch, time, features), as torch.onnx and tf2onnx write it: time first inside."""
    torch.manual_seed(3)
    steps, features, hidden = 12, 8, 16
    lstm = torch.nn.LSTM(features, hidden, batch_first=True, bidirectional=True)
    head = torch.nn.Linear(2 * hidden, 10)

    class Classifier(torch.nn.Module):
        def forward(self, x):
            return head(lstm(x)[0][:, -1])
    net = Classifier().eval()
    net.lstm, net.head = lstm, head
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of LSTM: a free batch is what is wanted here
        torch.onnx.export(net, torch.randn(2, steps, features), path, opset_version=11, input_names=["input"],
                          output_names=["logits"], dynamic_axes={"input": {0: "batch"}, "logits": {0: "batch"}})
    return lambda x: (net(x),) * 2, (steps, features)


def lenet(b, half=False):
    """A small network in opset 7 forms; `half`: its weights lie in the file as float16, each behind a Cast."""
    def weight(*shape):
        name, tensor = b.weight(*shape)
        if not half:
            return name, tensor
        array = numpy_helper.to_array(b.weights.pop()).astype(np.float16)
        return b.add("Cast", b.constant(array), to=TensorProto.FLOAT), torch.from_numpy(array.astype(np.float32))
    (w1, t1), (b1, tb1) = weight(6, 1, 5, 5), weight(6)
    (w2, t2), (b2, tb2) = weight(16, 6, 5, 5), weight(16)
    (w3, t3), (b3, tb3) = weight(256, 32), weight(32)
    (w4, t4), (b4, tb4) = weight(10, 32), weight(10)
    x = b.add("Conv", "input", w1, b1, kernel_shape=[5, 5])
    x = b.add("MaxPool", b.add("Tanh", x), kernel_shape=[2, 2], strides=[2, 2])
    x = b.add("Conv", x, w2, b2, kernel_shape=[5, 5])
    x = b.add("MaxPool", b.add("Relu", x), kernel_shape=[2, 2], strides=[2, 2])
    x = b.add("Reshape", x, b.constant(np.array([-1, 256], np.int64)))
    x = b.add("Gemm", x, w3, b3, alpha=1.0, beta=1.0)
    x = b.add("Dropout", b.add("Sigmoid", x), ratio=0.5)
    logits = b.add("Gemm", x, w4, b4, transB=1)

    def run(images):
        y = F.max_pool2d(torch.tanh(F.conv2d(images, t1, tb1)), 2)
        y = F.max_pool2d(F.relu(F.conv2d(y, t2, tb2)), 2)
        y = torch.sigmoid(y.flatten(1) @ t3 + tb3)
        scores = F.linear(y, t4, tb4)
        return F.softmax(scores, 1), scores
    return b.add("Softmax", logits, axis=1), run


def old_file(path):
    """IR version 3 and opset 7: initialisers are repeated as inputs of the graph."""
    b = Builder("old", 4)
    result, run = lenet(b)
    b.save(path, result, (1, 28, 28), opset=7, ir_version=3, weights_are_inputs=True)
    return run, (1, 28, 28)


def half_weights(path):
    b = Builder("half", 5)
    result, run = lenet(b, half=True)
    b.save(path, result, (1, 28, 28), opset=9, batch=1)
    return run, (1, 28, 28)


def half_network(path):
    """float16 all through, as a converter leaves it: plexor widens it to float32."""
    torch.manual_seed(6)
    b = Builder("half all through", 6)
    w1, t1 = b.weight(8, 3, 3, 3)
    w2, t2 = b.weight(8 * 14 * 14, 10)
    half = [numpy_helper.from_array(numpy_helper.to_array(w).astype(np.float16), w.name) for w in b.weights]
    t1, t2 = t1.half().float(), t2.half().float()
    x = b.add("Cast", "input", to=TensorProto.FLOAT16)
    x = b.add("Relu", b.add("Conv", x, w1, kernel_shape=[3, 3]))
    x = b.add("MatMul", b.add("Flatten", x), w2)
    result = b.add("Cast", x, to=TensorProto.FLOAT)
    b.weights = half
    b.save(path, result, (3, 16, 16), opset=13)

    def run(images):
        rounded = images + (images.half().float() - images).detach()  # what Cast loses, derivative 1
        logits = F.relu(F.conv2d(rounded, t1)).flatten(1) @ t2
        return logits, logits
    return run, (3, 16, 16)


def external_weights(path):
    """Weights in a file beside the model."""
    b = Builder("external", 7)
    result, run = lenet(b)
    model = b.save(path, result, (1, 28, 28), opset=8)
    onnx.save(model, path, save_as_external_data=True, all_tensors_to_one_file=True,
              location=os.path.basename(path) + ".data", size_threshold=64)
    return run, (1, 28, 28)


def upsampling(path):
    """An encoder and a decoder: ConvTranspose, Upsample in its opset 9 form, Concat of a skip, LRN, PRelu."""
    b = Builder("upsampling", 8)
    w1, t1 = b.weight(16, 3, 3, 3)
    slope, tp = b.weight(16, 1, 1, low=0.1, high=0.4)
    w2, t2 = b.weight(16, 12, 2, 2)
    w3, t3 = b.weight(10, 28, 3, 3)
    x = b.add("PRelu", b.add("Conv", "input", w1, kernel_shape=[3, 3], pads=[1, 1, 1, 1]), slope)
    skip = x = b.add("LRN", x, size=5, alpha=1e-2, beta=0.75, bias=1.0)
    x = b.add("MaxPool", x, kernel_shape=[4, 4], strides=[4, 4])
    x = b.add("Upsample", x, b.constant(np.array([1, 1, 2, 2], np.float32)), mode="nearest")
    x = b.add("ConvTranspose", x, w2, kernel_shape=[2, 2], strides=[2, 2])
    x = b.add("Concat", skip, x, axis=1)
    x = b.add("Conv", x, w3, kernel_shape=[3, 3])
    result = b.add("Flatten", b.add("GlobalMaxPool", x))
    b.save(path, result, (3, 16, 16), opset=9)

    def run(images):
        y = F.prelu(F.conv2d(images, t1, padding=1), tp.flatten())
        kept = y = F.local_response_norm(y, 5, 1e-2, 0.75, 1.0)
        y = F.conv_transpose2d(F.interpolate(F.max_pool2d(y, 4), scale_factor=2), t2, stride=2)
        logits = F.conv2d(torch.cat([kept, y], 1), t3).amax((2, 3))
        return logits, logits
    return run, (3, 16, 16)


NETS = [("keras cnn", keras_cnn), ("audio cnn", audio_cnn), ("lstm", lstm_classifier), ("IR 3, opset 7", old_file),
        ("float16 weights", half_weights), ("float16 network", half_network), ("external data", external_weights),
        ("upsampling", upsampling)]
