# SPDX-License-Identifier: Apache-2.0
"""The benchmark networks in PyTorch, read from their ONNX files.

Written as one would write them by hand: a list of torch.nn.functional calls, weights as plain
tensors that need no gradient, BatchNorm in eval mode and not folded. What depends on constants only
(the shape arithmetic that exporters leave behind) is computed once, with numpy.

    net = Network("resnet20.onnx", trainable=True)

has its weights in net.parameters, by the names that the file gives them and with gradients; BatchNorm
goes by the batch and moves net.statistics, and Dropout drops.
"""
import numpy as np
import onnx
import torch
import torch.nn.functional as F
from onnx import helper, numpy_helper


LEARNING = ("Conv", "BatchNormalization", "Gemm", "MatMul")


class Unsupported(Exception):
    pass


def attributes(node):
    return {a.name: helper.get_attribute_value(a) for a in node.attribute}


def fold(node, at, x):
    """The value of a node whose inputs are all known, as a numpy array."""
    kind = node.op_type
    if kind == "Constant":
        return numpy_helper.to_array(at["value"])
    if kind == "Shape":
        return np.array(x[0].shape, dtype=np.int64)
    if kind == "Gather":
        return np.take(x[0], x[1], axis=at.get("axis", 0))
    if kind in ("Add", "Sub", "Mul"):
        return {"Add": np.add, "Sub": np.subtract, "Mul": np.multiply}[kind](x[0], x[1])
    if kind == "ConstantOfShape":
        value = numpy_helper.to_array(at["value"]) if "value" in at else np.zeros(1, np.float32)
        return np.full(x[0], value[0])
    if kind == "Concat":
        return np.concatenate(x, axis=at["axis"])
    if kind == "Reshape":
        return x[0].reshape([x[0].shape[i] if d == 0 else d for i, d in enumerate(x[1])])
    if kind == "Transpose":
        return np.transpose(x[0], at.get("perm"))
    if kind == "Cast":
        return x[0].astype(onnx.mapping.TENSOR_TYPE_TO_NP_TYPE[at["to"]])
    if kind == "Slice":
        return x[0][slices(x[0].ndim, x)]
    if kind == "Identity":
        return x[0]
    raise Unsupported(f"{kind} of constants (node '{node.name}')")


def slices(rank, x):
    """Slice's inputs as Python slices; numpy takes negative steps, torch does not."""
    starts, ends = x[1], x[2]
    axes = x[3] if len(x) > 3 and x[3] is not None else range(len(starts))
    steps = x[4] if len(x) > 4 and x[4] is not None else [1] * len(starts)
    out = [slice(None)] * rank
    for start, end, axis, step in zip(starts, ends, axes, steps):
        start, end, step = int(start), int(end), int(step)
        if step < 0 and end < -2**31:
            end = None
        out[int(axis)] = slice(start, end, step)
    return tuple(out)


def symmetric(pads, node):
    half = len(pads) // 2
    if list(pads[:half]) != list(pads[half:]):
        raise Unsupported(f"uneven pads (node '{node.name}')")
    return tuple(pads[:half])


def linear(weight, bias, transposed, trainable):
    if transposed:
        return lambda x: F.linear(x, weight, bias)
    if trainable:  # a copy would not be the parameter
        return lambda x: F.linear(x, weight.t(), bias)
    copy = weight.t().contiguous()
    return lambda x: F.linear(x, copy, bias)


def translate(node, at, const, weights, trainable):
    """A function of the node's non-constant inputs. const: one numpy array or None per input;
    weights: the same as tensors."""
    kind = node.op_type
    if kind == "Conv":
        stride, dilation = tuple(at.get("strides", (1, 1))), tuple(at.get("dilations", (1, 1)))
        pads, groups = symmetric(at.get("pads", (0, 0, 0, 0)), node), at.get("group", 1)
        weight, bias = weights[1], weights[2] if len(weights) > 2 else None
        return lambda x: F.conv2d(x, weight, bias, stride, pads, dilation, groups)
    if kind == "BatchNormalization":
        scale, shift, mean, variance = weights[1:5]
        eps = at.get("epsilon", 1e-5)
        moves = 1.0 - at.get("momentum", 0.9) if trainable else 0.0
        return lambda x: F.batch_norm(x, mean, variance, scale, shift, trainable, moves, eps)
    if kind == "Relu":
        return F.relu
    if kind == "Clip":
        low, high = float(const[1]), float(const[2])
        if (low, high) == (0.0, 6.0):
            return F.relu6
        return lambda x: torch.clamp(x, low, high)
    if kind == "Add":
        if const[0] is not None or const[1] is not None:
            raise Unsupported(f"Add of a constant (node '{node.name}')")
        return torch.add
    if kind in ("MaxPool", "AveragePool"):
        window, stride = tuple(at["kernel_shape"]), tuple(at.get("strides", (1, 1)))
        pads = symmetric(at.get("pads", (0, 0, 0, 0)), node)
        pool = F.max_pool2d if kind == "MaxPool" else F.avg_pool2d
        return lambda x: pool(x, window, stride, pads)
    if kind == "GlobalAveragePool":
        return lambda x: F.adaptive_avg_pool2d(x, 1)
    if kind == "Flatten":
        axis = at.get("axis", 1)
        return lambda x: torch.flatten(x, axis)
    if kind == "Transpose":
        perm = tuple(at["perm"])
        return lambda x: x.permute(perm)
    if kind == "Gemm":
        if at.get("alpha", 1.0) != 1.0 or at.get("beta", 1.0) != 1.0 or at.get("transA", 0):
            raise Unsupported(f"Gemm with alpha, beta or transA (node '{node.name}')")
        bias = weights[2] if len(weights) > 2 else None
        return linear(weights[1], bias, bool(at.get("transB", 0)), trainable)
    if kind == "MatMul":
        return linear(weights[1], None, False, trainable)
    if kind == "Slice":
        index = slices(len(const[1]) + 4, const)[:4]
        return lambda x: x[index]
    if kind == "Pad":
        pads = [int(p) for p in const[1]]
        if not any(pads):
            return lambda x: x
        half = len(pads) // 2
        flat = [p for axis in reversed(range(half)) for p in (pads[axis], pads[half + axis])]
        value = float(const[2]) if len(const) > 2 and const[2] is not None else 0.0
        return lambda x: F.pad(x, flat, "constant", value)
    if kind == "Softmax":
        axis = at.get("axis", -1)
        return lambda x: F.softmax(x, axis)
    if kind == "LeakyRelu":
        alpha = at.get("alpha", 0.01)
        return lambda x: F.leaky_relu(x, alpha)
    if kind == "Dropout" and trainable:
        rate = float(const[1]) if len(const) > 1 and const[1] is not None else 0.5
        return lambda x: F.dropout(x, rate)
    if kind in ("Identity", "Dropout"):
        return lambda x: x
    raise Unsupported(f"{kind} (node '{node.name}')")


class Network:
    """net(x) gives the class probabilities, net.logits(x) what goes into the last Softmax."""

    def __init__(self, path, trainable=False):
        model = onnx.load(path)
        graph = model.graph
        known = {t.name: numpy_helper.to_array(t) for t in graph.initializer}
        known[""] = None
        inputs = [i for i in graph.input if i.name not in known]
        shape = inputs[0].type.tensor_type.shape.dim
        self.input_shape = [d.dim_value for d in shape[1:]]
        self.input_name = inputs[0].name
        self.steps = []
        self.parameters, self.statistics = {}, {}
        softmax_input = None
        for node in graph.node:
            at = attributes(node)
            if all(name in known for name in node.input):
                known[node.output[0]] = fold(node, at, [known[name] for name in node.input])
                continue
            const = [known.get(name) for name in node.input]
            variable = [name for name in node.input if name not in known]
            weights = [self.weight(node, i, const[i], trainable) for i in range(len(const))]
            self.steps.append((translate(node, at, const, weights, trainable), variable,
                               node.output[0]))
            if node.op_type == "Softmax":
                softmax_input = node.input[0]
        self.output_name = graph.output[-1].name
        self.logits_name = softmax_input or self.output_name

    def weight(self, node, i, array, trainable):
        """Input `i` as a tensor, one per name; None if it is not constant."""
        if array is None:
            return None
        name, statistic = node.input[i], node.op_type == "BatchNormalization" and i > 2
        kept = self.statistics if statistic else self.parameters
        if name not in kept and array.dtype == np.float32 and node.op_type in LEARNING:
            kept[name] = torch.from_numpy(np.array(array)).requires_grad_(trainable and not statistic)
        return kept[name] if name in kept else torch.from_numpy(np.array(array))

    def channels_last(self):
        """Weights of convolutions in the layout of the data; closures share the tensors."""
        for function, _, _ in self.steps:
            for cell in getattr(function, "__closure__", None) or ():
                value = cell.cell_contents
                if isinstance(value, torch.Tensor) and value.dim() == 4:
                    value.data = value.data.contiguous(memory_format=torch.channels_last)
        return self

    def run(self, x, last):
        values = {self.input_name: x}
        for function, inputs, output in self.steps:
            values[output] = function(*[values[name] for name in inputs])
            if output == last:
                break
        return values[last]

    def __call__(self, x):
        return self.run(x, self.output_name)

    def logits(self, x):
        return self.run(x, self.logits_name)
