#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""python_speed.py PROGRAM LIBRARY MODEL DATA [ROUNDS] - what the Python module costs beside the program and beside C.

In alternation: `plexor eval MODEL --data DATA` and net.eval() of the same inputs in memory, in time by the clock, and in
CPU time, which says enough where others are at work; then ten inputs, by px_call() as C makes it and by the function.
"""
import ctypes
import json
import os
import resource
import statistics
import subprocess
import sys
import time

PROGRAM, LIBRARY, MODEL, DATA = sys.argv[1:5]
ROUNDS = int(sys.argv[5]) if len(sys.argv) > 5 else 7
TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
os.environ["PLEXOR_LIBRARY"] = LIBRARY
sys.path.insert(0, os.path.join(TOP, "python"))

import plexor as px  # noqa: E402
from plexor import _library as c  # noqa: E402


def spent(who):
    used = resource.getrusage(who)
    return time.perf_counter(), used.ru_utime + used.ru_stime


def whole_eval():
    data = px.Data(DATA)
    memory = px.Data(data.x, data.y, classes=data.classes)
    network, program, module = px.load(MODEL), [], []
    network.info()
    for _ in range(ROUNDS):
        before = spent(resource.RUSAGE_CHILDREN)
        said = json.loads(subprocess.run([PROGRAM, "eval", MODEL, "--data", DATA, "--json", "--quiet"],
                                         stdout=subprocess.PIPE, check=True).stdout)
        program.append([b - a for a, b in zip(before, spent(resource.RUSAGE_CHILDREN))])
        before = spent(resource.RUSAGE_SELF)
        got = network.eval(memory)
        module.append([b - a for a, b in zip(before, spent(resource.RUSAGE_SELF))])
        assert got.correct == said["correct"]
    for i, what in enumerate(("by the clock", "in CPU time")):
        a, b = (len(memory) / statistics.median(r[i] for r in runs) for runs in (program, module))
        print(f"{len(memory)} inputs, {what}: program {a:.0f}/s, module {b:.0f}/s: {b / a:.3f}x", flush=True)


def ten_inputs():
    data = px.Data(DATA)[:10]
    network, ms = px.load(open(MODEL, "rb").read()), ([], [])
    words = [w.encode() for w in ("eval", network.spec, "--data", data.spec, "--json", "--allow-chance")]
    argv = (ctypes.c_char_p * len(words))(*words)
    for _ in range(50):
        began = time.perf_counter()
        result = c.CallResult(size=ctypes.sizeof(c.CallResult))
        c.lib.px_call(len(words), argv, None, ctypes.byref(result))
        c.lib.px_call_done(ctypes.byref(result))
        ms[0].append(1e3 * (time.perf_counter() - began))
        began = time.perf_counter()
        network.eval(data, allow_chance=True)
        ms[1].append(1e3 * (time.perf_counter() - began))
    a, b = map(statistics.median, ms)
    print(f"10 inputs: px_call() {a:.2f} ms, module {b:.2f} ms: {b - a:.2f} ms more")


whole_eval()
ten_inputs()
