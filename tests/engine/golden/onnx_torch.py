# SPDX-License-Identifier: Apache-2.0
"""A small interpreter of ONNX graphs on PyTorch tensors, as a reference for plexor.

    net = Net("lenet5.onnx", torch.float64)
    values = net.run(x)                    # every tensor by name; autograd goes through
    values = net.run(x, pattern)           # on the pieces that the given activations lie on

It knows the operators of the networks that the comparisons use, in the opsets those have (13, 14), and
refuses everything else.
"""
import numpy as np
import onnx
import torch
import torch.nn.functional as F
from onnx import numpy_helper


def _attributes(node):
    return {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}


def _pads2(pads):
    """ONNX's [top, left, bottom, right] for F.pad, which counts from the last axis."""
    n = len(pads) // 2
    out = []
    for axis in reversed(range(n)):
        out += [pads[axis], pads[axis + n]]
    return out


def _conv(a, x, w, b=None):
    assert a.get("auto_pad", b"NOTSET") == b"NOTSET"
    n = x.dim() - 2
    x = F.pad(x, _pads2(a.get("pads", [0] * 2 * n)))
    conv = {1: F.conv1d, 2: F.conv2d}[n]
    return conv(x, w, b, a.get("strides", [1] * n), 0, a.get("dilations", [1] * n), a.get("group", 1))


def _gemm(a, x, w, c=None):
    x = x.T if a.get("transA", 0) else x
    w = w.T if a.get("transB", 0) else w
    y = a.get("alpha", 1.0) * (x @ w)
    return y if c is None else y + a.get("beta", 1.0) * c


def _batchnorm(a, x, scale, bias, mean, var):
    # not F.batch_norm: it has no gradient for the statistics
    shape = [1, -1] + [1] * (x.dim() - 2)
    factor = scale / torch.sqrt(var + a.get("epsilon", 1e-5))
    return (x - mean.reshape(shape)) * factor.reshape(shape) + bias.reshape(shape)


def _maxpool(a, x):
    assert not a.get("ceil_mode", 0) and "dilations" not in a
    pads = a.get("pads", [0, 0, 0, 0])
    return F.max_pool2d(F.pad(x, _pads2(pads), value=float("-inf")), a["kernel_shape"],
                        a.get("strides", [1, 1]))


def _averagepool(a, x):
    pads = a.get("pads", [0, 0, 0, 0])
    assert not a.get("ceil_mode", 0) and (not any(pads) or a.get("count_include_pad", 0))
    return F.avg_pool2d(F.pad(x, _pads2(pads)), a["kernel_shape"], a.get("strides", [1, 1]))


def _slice(a, x, starts, ends, axes=None, steps=None):
    axes = range(len(starts)) if axes is None else axes.tolist()
    steps = [1] * len(starts) if steps is None else steps.tolist()
    for start, end, axis, step in zip(starts.tolist(), ends.tolist(), axes, steps):
        index = range(x.shape[axis])[slice(start, end if abs(end) < 2**31 or step > 0 else None, step)]
        x = x.index_select(axis, torch.tensor(list(index), dtype=torch.long))
    return x


def _pad(a, x, pads, value=None):
    assert a.get("mode", b"constant") == b"constant"
    return F.pad(x, _pads2(pads.tolist()), value=0.0 if value is None else float(value))


def _clip(a, x, low=None, high=None):
    return torch.clamp(x, None if low is None else float(low), None if high is None else float(high))


def _constant_of_shape(a, shape):
    value = numpy_helper.to_array(a["value"]) if "value" in a else np.zeros(1, np.float32)
    return torch.full(shape.tolist(), value.item(), dtype=torch.from_numpy(value.copy()).dtype)


def _constant(a):
    return torch.from_numpy(numpy_helper.to_array(a["value"]).copy())


def _relu_piece(a, y, x, *bounds):
    return x * (y > 0)


def _leaky_piece(a, y, x):
    return torch.where(y > 0, x, a.get("alpha", 0.01) * x)


def _clip_piece(a, y, x, low, high):
    return torch.where(y <= low, low, torch.where(y >= high, high, x))


# Activations with kinks: the piece that `y`, the activation's value elsewhere, lies on.
PIECES = {"Relu": _relu_piece, "LeakyRelu": _leaky_piece, "Clip": _clip_piece}

OPERATORS = {
    "Add": lambda a, x, y: x + y,
    "AveragePool": _averagepool,
    "BatchNormalization": _batchnorm,
    "Cast": lambda a, x: x.to({1: torch.float32, 7: torch.int64}[a["to"]]),
    "Clip": _clip,
    "Concat": lambda a, *x: torch.cat(x, a["axis"]),
    "Constant": _constant,
    "ConstantOfShape": _constant_of_shape,
    "Conv": _conv,
    "Div": lambda a, x, y: x / y,
    "Dropout": lambda a, x, *ratio: x,
    "Elu": lambda a, x: F.elu(x, a.get("alpha", 1.0)),
    "Erf": lambda a, x: torch.erf(x),
    "Flatten": lambda a, x: x.reshape(int(np.prod(x.shape[:a.get("axis", 1)])), -1),
    "Gather": lambda a, x, i: torch.take_along_dim(x, i.reshape(-1), 0).reshape(i.shape)
    if x.dim() == 1 else x.index_select(a.get("axis", 0), i),
    "Gemm": _gemm,
    "GlobalAveragePool": lambda a, x: x.mean(tuple(range(2, x.dim())), keepdim=True),
    "GlobalMaxPool": lambda a, x: x.amax(tuple(range(2, x.dim())), keepdim=True),
    "HardSigmoid": lambda a, x: torch.clamp(a.get("alpha", 0.2) * x + a.get("beta", 0.5), 0, 1),
    "HardSwish": lambda a, x: F.hardswish(x),
    "Identity": lambda a, x: x,
    "LeakyRelu": lambda a, x: F.leaky_relu(x, a.get("alpha", 0.01)),
    "LogSoftmax": lambda a, x: torch.log_softmax(x, a.get("axis", -1)),
    "MatMul": lambda a, x, y: x @ y,
    "Max": lambda a, x, y: torch.maximum(x, y),
    "MaxPool": _maxpool,
    "Min": lambda a, x, y: torch.minimum(x, y),
    "Mul": lambda a, x, y: x * y,
    "PRelu": lambda a, x, w: torch.where(x < 0, w * x, x),
    "Pad": _pad,
    "ReduceMax": lambda a, x: x.amax(a["axes"], keepdim=bool(a.get("keepdims", 1))),
    "ReduceMean": lambda a, x: x.mean(a["axes"], keepdim=bool(a.get("keepdims", 1))),
    "Relu": lambda a, x: torch.relu(x),
    "Reshape": lambda a, x, s: x.reshape([x.shape[i] if d == 0 else d for i, d in enumerate(s.tolist())]),
    "Selu": lambda a, x: F.selu(x),
    "Shape": lambda a, x: torch.tensor(x.shape),
    "Sigmoid": lambda a, x: torch.sigmoid(x),
    "Slice": _slice,
    "Softmax": lambda a, x: torch.softmax(x, a.get("axis", -1)),
    "Softplus": lambda a, x: F.softplus(x),
    "Sub": lambda a, x, y: x - y,
    "Tanh": lambda a, x: torch.tanh(x),
    "Transpose": lambda a, x: x.permute(*a["perm"]),
}


class Net:
    """An ONNX file; `weights` are leaf tensors by name, with gradients."""

    def __init__(self, path, dtype=torch.float32):
        self.graph = onnx.load(path).graph
        self.dtype = dtype
        self.weights = {}
        for tensor in self.graph.initializer:
            value = torch.from_numpy(numpy_helper.to_array(tensor).copy())
            if value.is_floating_point():
                value = value.to(dtype).requires_grad_(True)
            self.weights[tensor.name] = value

    def kinked(self):
        """Names of the tensors that `pattern` is about."""
        return [node.output[0] for node in self.graph.node if node.op_type in PIECES]

    def run(self, x, pattern=None):
        """All values by name, `x` being the only true input. `pattern` has the values of kinked()
        as another program computed them; where rounding put an input on the other side of a kink,
        its side is taken, and `self.astray` is the largest distance to that kink."""
        self.astray = 0.0
        values = dict(self.weights)
        inputs = [i.name for i in self.graph.input if i.name not in values]
        assert len(inputs) == 1
        values[inputs[0]] = x
        for node in self.graph.node:
            if node.op_type not in OPERATORS:
                raise NotImplementedError("operator " + node.op_type)
            args = [values[name] if name else None for name in node.input]
            result = OPERATORS[node.op_type](_attributes(node), *args)
            if pattern is not None and node.op_type in PIECES:
                y = torch.from_numpy(pattern[node.output[0]])
                piece = PIECES[node.op_type](_attributes(node), y, *args)
                # both agree but near a kink, where they differ by at most the distance to it
                self.astray = max(self.astray, float((piece - result).detach().abs().max()))
                result = piece
            if node.op_type == "Constant" and result.is_floating_point():
                result = result.to(self.dtype)
            values[node.output[0]] = result
        return values

    def node_output(self, name):
        """The first output of the node called `name`."""
        return next(n.output[0] for n in self.graph.node if n.name == name)

    def output(self):
        return self.graph.output[-1].name
