#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""If, Loop, Scan and sequences in networks with weights, against PyTorch: control_flow.py PLEXOR

Each network is built with onnx.helper, run by `plexor run` and differentiated by `plexor grad`, and
compared with the same written in PyTorch, for one input and for four; TAP.
"""
import importlib.util
import os
import pathlib
import subprocess
import sys
import tempfile

SIZE, CLASSES = 6, 3


def plexor(*words):
    run = subprocess.run([str(word) for word in words], capture_output=True, text=True)
    return run.returncode, run.stderr


def networks():
    """Name, the ONNX model, the same as a function of PyTorch tensors, or what plexor must say."""
    import numpy as np
    import torch
    from onnx import TensorProto, helper, numpy_helper
    F, I, B = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL
    random = np.random.default_rng(5)
    w = random.standard_normal((SIZE, SIZE)).astype(np.float32) * 0.5
    v = random.standard_normal((SIZE, CLASSES)).astype(np.float32)
    tw, tv = torch.tensor(w), torch.tensor(v)

    def info(name, kind, shape=None):
        return helper.make_tensor_value_info(name, kind, shape)

    def const(name, array):
        return numpy_helper.from_array(np.asarray(array), name)

    def model(nodes, consts=(), batch="N"):
        nodes = [*nodes, helper.make_node("MatMul", ["end", "v"], ["y"], name="head")]
        graph = helper.make_graph(nodes, "g", [info("x", F, [batch, SIZE])], [info("y", F, [batch, CLASSES])],
                                  [const("w", w), const("v", v), *consts])
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 16)], ir_version=8)

    def branch(name, nodes, out):
        return helper.make_graph(nodes, name, [], [info(out, F)])

    step = helper.make_node("MatMul", ["x", "w"], ["xw"], name="step")
    relu = branch("then", [helper.make_node("MatMul", ["x", "w"], ["t0"]), helper.make_node("Relu", ["t0"], ["t"])], "t")
    tanh = branch("else", [helper.make_node("Tanh", ["x"], ["e"])], "e")

    # Known when shapes are: the number of features is 6.
    shape = [helper.make_node("Shape", ["x"], ["s"]), helper.make_node("Gather", ["s", "one"], ["n"]),
             helper.make_node("Equal", ["n", "six"], ["c"])]
    numbers = [const("one", np.int64(1)), const("six", np.int64(SIZE))]
    yield "if_shape", model([*shape, helper.make_node("If", ["c"], ["end"], then_branch=relu, else_branch=tanh)],
                            numbers), lambda x: torch.relu(x @ tw) @ tv

    # Hangs on the values of the input.
    total = [helper.make_node("ReduceSum", ["x"], ["sum"], keepdims=0), helper.make_node("Greater", ["sum", "zero"], ["c"])]
    yield "if_values", model([*total, helper.make_node("If", ["c"], ["end"], then_branch=relu, else_branch=tanh)],
                             [const("zero", np.float32(0))]), \
        lambda x: torch.stack([torch.relu(r @ tw) if r.sum() > 0 else torch.tanh(r) for r in x]) @ tv

    # Three turns of a recurrence; what each of them gives is collected.
    body = helper.make_graph(
        [helper.make_node("Identity", ["go"], ["goes"]), helper.make_node("MatMul", ["h", "w"], ["hw"]),
         helper.make_node("Tanh", ["hw"], ["th"]), helper.make_node("Add", ["th", "x"], ["next"]),
         helper.make_node("Identity", ["th"], ["out"])],
        "body", [info("i", I, []), info("go", B, []), info("h", F, None)],
        [info("goes", B, []), info("next", F), info("out", F)])
    loop = helper.make_node("Loop", ["three", "", "x"], ["last", "all"], name="loop", body=body)

    def recur(x, turns):
        h, outs = x, []
        for _ in range(turns):
            t = torch.tanh(h @ tw)
            outs.append(t)
            h = t + x
        return h, torch.stack(outs)

    yield "loop", model([loop, helper.make_node("ReduceMean", ["all"], ["mean"], axes=[0], keepdims=0),
                         helper.make_node("Add", ["last", "mean"], ["end"])], [const("three", np.int64(3))]), \
        lambda x: (recur(x, 3)[0] + recur(x, 3)[1].mean(0)) @ tv

    # At most four turns, until the largest value passes 1: known at run time only.
    until = helper.make_graph(
        [helper.make_node("Add", ["h", "half"], ["next"]), helper.make_node("ReduceMax", ["next"], ["top"], keepdims=0),
         helper.make_node("Less", ["top", "bound"], ["goes"])],
        "until", [info("i", I, []), info("go", B, []), info("h", F, None)], [info("goes", B, []), info("next", F)])

    def climb(row):
        for _ in range(4):
            row = row + 0.5
            if row.max() >= 1:
                break
        return row

    yield "loop_until", model([helper.make_node("Loop", ["four", "yes", "x"], ["end"], body=until)],
                              [const("four", np.int64(4)), const("yes", np.bool_(True)),
                               const("half", np.float32(0.5)), const("bound", np.float32(1))]), \
        lambda x: torch.stack([climb(r) for r in x]) @ tv

    # Features one after the other, backwards, with a state.
    scan = helper.make_graph(
        [helper.make_node("Mul", ["s_in", "half"], ["s_half"]), helper.make_node("Add", ["s_half", "f"], ["s_out"]),
         helper.make_node("Tanh", ["s_out"], ["o"])],
        "scan", [info("s_in", F, None), info("f", F, None)], [info("s_out", F), info("o", F)])

    def scanned(x):
        s, outs = torch.zeros(x.shape[0]), [None] * SIZE
        for f in reversed(range(SIZE)):
            s = s * 0.5 + x[:, f]
            outs[f] = torch.tanh(s)
        return torch.stack(outs, 1)

    start = [helper.make_node("ReduceSum", ["x", "last"], ["sums"], keepdims=0), helper.make_node("Mul", ["sums", "none"], ["start"])]
    yield "scan", model([*start, helper.make_node("Scan", ["start", "x"], ["state", "end"], body=scan, num_scan_inputs=1,
                                                  scan_input_axes=[1], scan_input_directions=[1], scan_output_axes=[1],
                                                  scan_output_directions=[1])],
                        [const("half", np.float32(0.5)), const("none", np.float32(0)), const("last", np.int64([1]))]), \
        lambda x: scanned(x) @ tv

    # torch.split and a list, as exporters write them.
    parts = [step, helper.make_node("SplitToSequence", ["xw", "two"], ["parts"], axis=1),
             helper.make_node("SequenceAt", ["parts", "one"], ["middle"]), helper.make_node("Relu", ["middle"], ["m"]),
             helper.make_node("SequenceErase", ["parts", "one"], ["fewer"]), helper.make_node("SequenceInsert", ["fewer", "m"], ["more"]),
             helper.make_node("ConcatFromSequence", ["more"], ["end"], axis=1)]

    def split(x):
        a, b, c = (x @ tw).split(2, 1)
        return torch.cat([a, c, torch.relu(b)], 1) @ tv

    yield "sequence", model(parts, [const("one", np.int64(1)), const("two", np.int64(2))]), split

    # Nobody knows how often.
    yield "loop_forever", model([helper.make_node("Loop", ["", "yes", "x"], ["end"], name="loop", body=until)],
                                [const("yes", np.bool_(True)), const("half", np.float32(0.5)), const("bound", np.float32(1))]), \
        "node 'loop' (Loop): a number of turns that is known at run time only is not supported"

    # A body without nodes: a turn costs nothing but memory.
    idle = helper.make_graph([], "idle", [info("i", I, []), info("go", B, []), info("h", F)], [info("go", B, []), info("h", F)])
    yield "loop_of_nothing", model([helper.make_node("Loop", ["often", "yes", "x"], ["end"], name="loop", body=idle)],
                                   [const("often", np.int64(1 << 40)), const("yes", np.bool_(True))]), \
        "more than 262144 nodes, with all turns of loops, are not supported"


def compare(program, folder, model, same):
    """What is wrong, if anything."""
    import numpy as np
    import onnx
    import torch
    onnx.save(model, folder / "net.onnx")
    for count in (1, 4):
        x = np.random.default_rng(count).standard_normal((count, SIZE)).astype(np.float32)
        np.save(folder / "x.npy", x)
        np.save(folder / "labels.npy", np.zeros(count, np.int64))
        status, said = plexor(program, "run", folder / "net.onnx", "--input", folder / "x.npy", "-o", folder / "y.npy")
        if isinstance(same, str):
            return "" if status == 2 and same in said else f"status {status}: {said}"
        if status:
            return said
        tx = torch.tensor(x, requires_grad=True)
        ty = same(tx)
        torch.nn.functional.cross_entropy(ty, torch.zeros(count, dtype=torch.long), reduction="sum").backward()
        status, said = plexor(program, "grad", folder / "net.onnx", "--input", folder / "x.npy", "--of", "loss", "--labels",
                              folder / "labels.npy", "-o", folder / "g.npy")
        if status:
            return said
        for what, got, want in (("values", np.load(folder / "y.npy"), ty.detach().numpy()),
                                ("gradients", np.load(folder / "g.npy"), tx.grad.numpy())):
            if got.shape != want.shape or not np.allclose(got, want, rtol=1e-5, atol=1e-6):
                return f"{what} of {count} inputs: {got.ravel()[:4]} instead of {want.ravel()[:4]}"
    return ""


def main(program):
    cases = list(networks())
    print(f"1..{len(cases)}")
    with tempfile.TemporaryDirectory() as name:
        for number, (network, model, same) in enumerate(cases, 1):
            wrong = compare(program, pathlib.Path(name), model, same)
            print(f"{'not ok' if wrong else 'ok'} {number} - {network}{': ' if wrong else ''}{wrong.strip()}", flush=True)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    if any(importlib.util.find_spec(module) is None for module in ("torch", "onnx")):
        system = "/usr/bin/python3"  # Debian's modules belong to Debian's interpreter
        if sys.executable != system and os.access(system, os.X_OK) and "PLEXOR_RETRY" not in os.environ:
            os.execve(system, [system, *sys.argv], {**os.environ, "PLEXOR_RETRY": "1"})
        print("1..0 # SKIP python3-torch or python3-onnx is not installed")
        sys.exit(0)
    main(sys.argv[1])
