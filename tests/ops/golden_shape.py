#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Writes golden_shape.h: shape operators' results according to numpy and PyTorch.

    /usr/bin/python3 tests/ops/golden_shape.py > tests/ops/golden_shape.h
"""
import numpy as np
import torch
import torch.nn.functional as F

rng = np.random.default_rng(7)


def text(array):
    return " ".join("%.9g" % v for v in np.asarray(array, dtype=np.float64).ravel())


def shape(array):
    return ",".join(str(d) for d in array.shape)


def real(array):
    return '{.shape = "%s", .values = "%s"}' % (shape(array), text(array))


def ints(values, constant=True):
    a = np.array(values)
    return '{.shape = "%s", .dtype = PX_INT64, .constant = %s, .values = "%s"}' % (
        shape(a), "true" if constant else "false", " ".join(str(v) for v in a.ravel()))


def floats(values):
    a = np.array(values, dtype=np.float32)
    return '{.shape = "%s", .constant = true, .values = "%s"}' % (shape(a), text(a))


NONE = '{.shape = "-"}'


def row(kind, opset, attrs, inputs, result):
    result = np.asarray(result)
    print('{{.type = "%s", .opset = %d, .attrs = "%s", .in = {%s}}, "%s", "%s"},' % (
        kind, opset, attrs, ", ".join(inputs), shape(result), text(result)))


def data(*dims):
    return np.round(rng.uniform(-2, 2, dims), 3).astype(np.float32)


print("/* tests/ops/golden_shape.h - written by golden_shape.py: {case, result's shape, values} */")
print("/* clang-format off */")

x = data(2, 3, 4)
for mode in ["edge", "reflect", "wrap"]:
    # numpy before 1.25 does not wrap round more than once
    pads = [(1, 0), (2, 1), (0, 3)] if mode == "wrap" else [(1, 0), (4, 2), (0, 7)]
    row("Pad", 19, "mode=" + mode,
        [real(x), ints([p[0] for p in pads] + [p[1] for p in pads])], np.pad(x, pads, mode))
row("Pad", 2, "pads=[0,1,-1,1,0,2] value=1.5", [real(x)],
    np.pad(x, [(0, 1), (1, 0), (0, 2)], constant_values=1.5)[:, :, 1:])

row("Slice", 13, "", [real(x), ints([3, -1]), ints([-9, -100]), ints([2, 1]), ints([-2, -1])],
    x[:, ::-1, 3::-2])
row("Slice", 13, "", [real(x), ints([1, -2]), ints([9223372036854774784, 9]), ints([-1, 0]),
                      ints([3, 9223372036854774784])], x[0:1, :, 1::3])
row("Transpose", 13, "perm=[2,0,1]", [real(x)], x.transpose(2, 0, 1))
row("Tile", 13, "", [real(x), ints([1, 2, 3])], np.tile(x, (1, 2, 3)))
row("Expand", 13, "", [real(x[:, :1]), ints([2, 1, 3, 1])], np.broadcast_to(x[:, :1], (2, 2, 3, 4)))

for name, f in [("Sum", np.sum), ("Mean", np.mean), ("Max", np.max), ("Min", np.min),
                ("Prod", np.prod), ("L1", lambda a, **k: np.sum(np.abs(a), **k)),
                ("L2", lambda a, **k: np.sqrt(np.sum(a * a, **k))),
                ("LogSum", lambda a, **k: np.log(np.sum(a, **k))),
                ("LogSumExp", lambda a, **k: np.log(np.sum(np.exp(a), **k))),
                ("SumSquare", lambda a, **k: np.sum(a * a, **k))]:
    z = np.abs(data(2, 3, 4, 2)) + 0.1
    row("Reduce" + name, 11, "axes=[1,-1]", [real(z)], f(z.astype(np.float64), axis=(1, 3), keepdims=True))
    row("Reduce" + name, 18, "keepdims=0", [real(z), ints([2])], f(z.astype(np.float64), axis=2))
    row("Reduce" + name, 18, "", [real(z)], f(z.astype(np.float64), keepdims=True))

y = data(1, 1, 6, 7)
t = torch.tensor(y)
for mode, aligned in [("bilinear", True), ("bicubic", True), ("bilinear", False), ("bicubic", False)]:
    onnx_mode = {"bilinear": "linear", "bicubic": "cubic"}[mode]
    coordinate = "align_corners" if aligned else "half_pixel"
    for size in [(9, 4), (3, 1)]:
        row("Resize", 13, "mode=%s coordinate_transformation_mode=%s" % (onnx_mode, coordinate),
            [real(y), NONE, NONE, ints([1, 1, *size])],
            F.interpolate(t, size, mode=mode, align_corners=aligned).numpy())
for mode, a in [("bilinear", ""), ("bicubic", " cubic_coeff_a=-0.5")]:
    for size in [(3, 4), (2, 9)]:
        row("Resize", 18, "mode=%s antialias=1 exclude_outside=1 axes=[2,3]%s" % (mode[2:], a),
            [real(y), NONE, NONE, ints(size)],
            F.interpolate(t, size, mode=mode, align_corners=False, antialias=True).numpy())
row("Resize", 13, "coordinate_transformation_mode=asymmetric nearest_mode=floor",
    [real(y), NONE, NONE, ints([1, 1, 8, 5])], F.interpolate(t, (8, 5), mode="nearest").numpy())
g = np.round(rng.uniform(-1.6, 1.6, (1, 3, 4, 2)), 3).astype(np.float32)
im = data(1, 2, 4, 5)
for mode in ["bilinear", "nearest", "bicubic"]:
    for padding in ["zeros", "border", "reflection"]:
        for align in [False, True]:
            row("GridSample", 16, "mode=%s padding_mode=%s align_corners=%d" % (mode, padding, align),
                [real(im), real(g)],
                F.grid_sample(torch.tensor(im), torch.tensor(g), mode, padding, align).numpy())

v = data(3, 5)
row("TopK", 11, "axis=0 largest=0", [real(v), ints([2])],
    torch.topk(torch.tensor(v), 2, 0, largest=False)[0].numpy())
row("CumSum", 14, "exclusive=1", [real(v), ints(1)], np.cumsum(v, 1) - v)
index = np.array([[0, 2, 2, 1, 0], [1, 2, 0, 0, 0]])
up = data(2, 5)
for reduction, torch_name in [("add", "sum"), ("mul", "prod"), ("max", "amax"), ("min", "amin")]:
    row("ScatterElements", 18, "reduction=" + reduction,
        [real(v), ints(index, False), real(up)],
        torch.tensor(v).scatter_reduce(0, torch.tensor(index), torch.tensor(up), torch_name).numpy())
row("Det", 11, "", [real(data(2, 3, 3) * 0 + v[:, :3])], [np.linalg.det(v[:, :3])] * 2)
print("/* clang-format on */")
