#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes nn_golden.h: neural-network operators as PyTorch computes them.

ONNX's node tests leave gaps: groups with dilations, 3-d transposed convolution, ceil_mode with
count_include_pad, two directions, linear_before_reset, peculiar reductions. Run with PyTorch:

    python3 tests/ops/make_nn_golden.py > tests/ops/nn_golden.h
"""
import numpy as np
import torch
import torch.nn.functional as F

torch.manual_seed(2)
rows = []


def numbers(t):
    return " ".join("%.7g" % v for v in np.asarray(t.detach().numpy()).reshape(-1))


def text(shape):
    return ",".join(str(d) for d in shape)


def entry(t):
    if t is None:
        return '{.shape = "-"}'
    dtype = {torch.int64: ".dtype = PX_INT64, ", torch.int32: ".dtype = PX_INT32, "}.get(t.dtype, "")
    return '{.shape = "%s", %s.values = "%s"}' % (text(t.shape), dtype, numbers(t))


def row(op, opset, attrs, inputs, outputs):
    rows.append(
        '{.test = {.type = "%s", .opset = %d, .attrs = "%s", .outputs = %d,\n  .in = {%s}},\n .out = {%s}},'
        % (op, opset, attrs, len(outputs), ",\n         ".join(entry(t) for t in inputs),
           ",\n         ".join('{"%s", "%s"}' % (text(t.shape), numbers(t)) for t in outputs)))


def rand(*shape):
    return torch.round(torch.rand(*shape) * 200 - 100) / 50  # few digits, the same in text and in float


# --- convolution
x, w, b = rand(1, 4, 6, 5), rand(6, 2, 3, 2), rand(6)
row("Conv", 11, "group=2 dilations=[2,1] strides=[1,2] pads=[2,1,2,1]", [x, w, b],
    [F.conv2d(x, w, b, stride=(1, 2), padding=(2, 1), dilation=(2, 1), groups=2)])
x, w = rand(1, 3, 4, 4), rand(3, 1, 3, 3)
row("Conv", 11, "group=3 pads=[1,1,1,1]", [x, w], [F.conv2d(x, w, padding=1, groups=3)])
x, w = rand(1, 2, 3, 4, 3), rand(2, 2, 2, 2, 2)
row("Conv", 11, "strides=[1,2,1] pads=[1,0,1,1,0,1]", [x, w],
    [F.conv3d(x, w, stride=(1, 2, 1), padding=(1, 0, 1))])
x, w, b = rand(1, 4, 3, 3), rand(4, 2, 3, 2), rand(4)
row("ConvTranspose", 11,
    "group=2 dilations=[2,1] strides=[2,3] pads=[1,0,1,0] output_padding=[1,2]", [x, w, b],
    [F.conv_transpose2d(x, w, b, stride=(2, 3), padding=(1, 0), output_padding=(1, 2), groups=2,
                        dilation=(2, 1))])
x, w = rand(1, 2, 2, 2, 3), rand(2, 1, 2, 3, 2)
row("ConvTranspose", 11, "strides=[2,1,2]", [x, w], [F.conv_transpose3d(x, w, stride=(2, 1, 2))])

# --- pooling
x = rand(1, 2, 5, 6)
row("AveragePool", 11, "kernel_shape=[3,3] strides=[2,2] pads=[1,1,1,1] ceil_mode=1 count_include_pad=1",
    [x], [F.avg_pool2d(x, 3, 2, 1, ceil_mode=True, count_include_pad=True)])
row("AveragePool", 11, "kernel_shape=[3,3] strides=[2,2] pads=[1,1,1,1] ceil_mode=1",
    [x], [F.avg_pool2d(x, 3, 2, 1, ceil_mode=True, count_include_pad=False)])
row("AveragePool", 11, "kernel_shape=[2,2] strides=[3,3] pads=[1,1,1,1] ceil_mode=1",
    [x], [F.avg_pool2d(x, 2, 3, 1, ceil_mode=True, count_include_pad=False)])
y, i = F.max_pool2d(x, 3, 2, 1, dilation=2, ceil_mode=True, return_indices=True)
planes = torch.arange(2).reshape(1, 2, 1, 1) * 30  # ONNX counts through the whole tensor
row("MaxPool", 12, "kernel_shape=[3,3] strides=[2,2] pads=[1,1,1,1] dilations=[2,2] ceil_mode=1", [x],
    [y, i + planes])
row("LpPool", 11, "kernel_shape=[2,3] p=3", [x.abs()], [F.lp_pool2d(x.abs(), 3, (2, 3), 1)])

# --- normalisation
x, s, b = rand(2, 4, 3), rand(4), rand(4)
mean, var = rand(4), rand(4).abs() + 0.5
m2, v2 = mean.clone(), var.clone()
y = F.batch_norm(x, None, None, s, b, training=True, eps=0.01)
flat = x.transpose(0, 1).reshape(4, -1)
row("BatchNormalization", 15, "training_mode=1 momentum=0.75 epsilon=0.01", [x, s, b, mean, var],
    [y, 0.75 * mean + 0.25 * flat.mean(1), 0.75 * var + 0.25 * flat.var(1, unbiased=False)])
row("GroupNormalization", 21, "num_groups=2 epsilon=0.01", [x, s, b], [F.group_norm(x, 2, s, b, 0.01)])
row("InstanceNormalization", 6, "epsilon=0.01", [x, s, b], [F.instance_norm(x, None, None, s, b, eps=0.01)])
x = rand(1, 5, 2, 2)
row("LRN", 13, "size=3 alpha=0.5 beta=0.75 bias=2.0", [x], [F.local_response_norm(x, 3, 0.5, 0.75, 2.0)])
row("LpNormalization", 1, "axis=1 p=1", [x], [F.normalize(x, p=1, dim=1)])
row("LpNormalization", 1, "axis=1 p=2", [x], [F.normalize(x, p=2, dim=1)])
row("Softmax", 11, "axis=1", [x], [F.softmax(x.reshape(1, -1), 1).reshape(x.shape)])
row("LogSoftmax", 13, "axis=1", [x], [F.log_softmax(x, 1)])

# --- products
a, b = rand(2, 3, 4), rand(2, 5, 4)
row("Einsum", 12, "equation=bid,bjd->bij", [a, b], [torch.einsum("bid,bjd->bij", a, b)])
row("Einsum", 12, "equation=...ij,...kj", [a, b], [torch.einsum("...ij,...kj->...ik", a, b)])
a, b = rand(2, 1, 2, 3), rand(3, 3, 2)
row("MatMul", 13, "", [a, b], [a @ b])

# --- losses
x, t, w = rand(2, 3, 2), torch.tensor([[1, 2], [0, 1]]), rand(3).abs() + 0.1
row("SoftmaxCrossEntropyLoss", 13, "ignore_index=2", [x, t, w],
    [F.cross_entropy(x, t, w, ignore_index=2), F.log_softmax(x, 1)])
row("SoftmaxCrossEntropyLoss", 13, "reduction=none", [x, t, w], [F.cross_entropy(x, t, w, reduction="none")])


# --- recurrence: PyTorch's gates are i f g o and r z n, ONNX's i o f c and z r h
def reorder(t, order):
    parts = t.chunk(len(order), 0)
    return torch.cat([parts[i] for i in order], 0)


def recurrent(net, order):
    dirs = ["", "_reverse"] if net.bidirectional else [""]
    get = lambda name: [reorder(getattr(net, name + "_l0" + d), order) for d in dirs]
    bias = [torch.cat(p, 0) for p in zip(get("bias_ih"), get("bias_hh"))]
    return [torch.stack(v, 0) for v in (get("weight_ih"), get("weight_hh"), bias)]


def pack(net, x, lengths, state):
    packed = torch.nn.utils.rnn.pack_padded_sequence(x, lengths, enforce_sorted=False)
    y, last = net(packed, state)
    y, _ = torch.nn.utils.rnn.pad_packed_sequence(y, total_length=x.shape[0])
    seq, batch, _ = y.shape
    return y.reshape(seq, batch, -1, net.hidden_size).transpose(1, 2), last


def coarse(net):
    for p in net.parameters():
        p.data = torch.round(p.data * 100) / 100
    return net


x, lengths = rand(3, 2, 2), torch.tensor([2, 3])
h, c = rand(2, 2, 3), rand(2, 2, 3)
net = coarse(torch.nn.LSTM(2, 3, bidirectional=True))
y, (hn, cn) = pack(net, x, lengths, (h, c))
row("LSTM", 14, "hidden_size=3 direction=bidirectional", [x] + recurrent(net, [0, 3, 1, 2]) +
    [lengths.int(), h, c], [y, hn, cn])
net = coarse(torch.nn.GRU(2, 3, bidirectional=True))
y, hn = pack(net, x, lengths, h)
row("GRU", 14, "hidden_size=3 direction=bidirectional linear_before_reset=1",
    [x] + recurrent(net, [1, 0, 2]) + [lengths.int(), h], [y, hn])
net = coarse(torch.nn.RNN(2, 3, nonlinearity="relu", bidirectional=True))
y, hn = pack(net, x, lengths, h)
row("RNN", 14, "hidden_size=3 direction=bidirectional activations=[Relu,Relu]",
    [x] + recurrent(net, [0]) + [lengths.int(), h], [y, hn])

# --- Fourier
x, w = rand(2, 9), rand(4)
s = torch.stft(x, 4, 2, 4, w, center=False, onesided=True, return_complex=True).transpose(1, 2)
step = '{.shape = "", .dtype = PX_INT64, .values = "2", .constant = true}'
rows.append('{.test = {.type = "STFT", .opset = 17, .outputs = 1, .in = {%s, %s, %s}}, .out = {{"%s", "%s"}}},'
            % (entry(x.reshape(2, 9, 1)), step, entry(w), text(s.shape) + ",2", numbers(torch.view_as_real(s).contiguous())))

print("/* tests/ops/nn_golden.h - made by make_nn_golden.py with PyTorch %s; not to be edited */" %
      torch.__version__.split("+")[0])
print("/* clang-format off */")
print("\n".join(rows))
