#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Compares training steps with PyTorch's: same network, same weights, same batch.

    compare_step.py TRAIN_STEP        prints TAP; skips where torch or onnx is absent

TRAIN_STEP (tests/train/train_step.c) builds LeNet-5 and ResNet-20 of the zoo, saves them, makes steps
on one batch of 32 inputs and saves them again. PyTorch starts from the same file, BatchNorm by the
batch, and makes the same steps in float32.

One step: every weight and every running statistic within 1e-5. Adam's first step is lr g / (|g| + eps), so it
doubles or turns where g is float32 rounding alone: there, and only there, the limit grows by
what an error of 1e-6 of the tensor's largest gradient does to the step. How many weights that
concerns is printed, beside how many of PyTorch's own differ between float32 and float64.

Three steps: the whole update by its relative distance in the 2-norm. Activations within rounding of
ReLU's kink, of which a batch of ResNet-20 always has some, make two runs part, and Adam doubles what
is small; PyTorch's float32 and float64 part as far, which is printed as well.
"""
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "..", "bench"))

try:
    import numpy as np
    import onnx
    import torch
    import torch.nn.functional as F

    from onnx_to_torch import Network
except ImportError as missing:
    print("1..0 # SKIP needs python3-torch and python3-onnx:", missing)
    sys.exit(0)

SEED, BATCH, CLASSES = 1, 32, 10  # a batch on which PyTorch's float32 and float64 agree on all kinks
LIMIT = 1e-5
ROUNDING = 2e-6  # error of a gradient, as a share of its tensor's largest (plexor's 3x3 convolutions go by tiles of 4x4)
NETWORKS = {"lenet5": ((1, 28, 28), 1e-3), "resnet20": ((3, 32, 32), 3e-2)}  # how far three steps may part


class Rule:
    def __init__(self, name, spec, lr, make):
        self.name, self.spec, self.lr, self.make = name, spec, lr, make

    def slack(self, gradient):
        """What rounding of the gradient does to a first step, per element."""
        if self.spec.startswith("sgd"):
            return 0.0
        def step(g):
            return g / (np.abs(g) + 1e-8)
        error = ROUNDING * np.abs(gradient).max()
        return self.lr * (step(gradient + error) - step(gradient - error))


RULES = [
    Rule("SGD with Nesterov momentum", "sgd:momentum=0.9,nesterov=1,decay=5e-4", 0.05,
         lambda p: torch.optim.SGD(p, 0.05, momentum=0.9, nesterov=True, weight_decay=5e-4)),
    Rule("Adam", "adam", 1e-3, lambda p: torch.optim.Adam(p, 1e-3)),
    Rule("AdamW", "adamw:decay=0.1", 1e-3,
         lambda p: torch.optim.AdamW(p, 1e-3, weight_decay=0.1)),
]


class Tap:
    def __init__(self):
        self.count = self.failed = 0

    def check(self, good, what):
        self.count += 1
        self.failed += not good
        print("%s %d - %s" % ("ok" if good else "not ok", self.count, what), flush=True)


def numbers(path):
    return {t.name: onnx.numpy_helper.to_array(t) for t in onnx.load(path).graph.initializer
            if t.data_type == onnx.TensorProto.FLOAT}


class Trained:
    """Where PyTorch arrives, and from which first gradient."""

    def __init__(self, path, x, y, make, steps, dtype):
        net = Network(path, trainable=True)
        for tensor in [*net.parameters.values(), *net.statistics.values()]:
            tensor.data = tensor.data.to(dtype)
        optimizer = make(list(net.parameters.values()))
        self.losses, self.first = [], None
        for _ in range(steps):
            optimizer.zero_grad()
            loss = F.cross_entropy(net.logits(torch.from_numpy(x).to(dtype)), torch.from_numpy(y))
            loss.backward()
            if self.first is None:
                self.first = {n: p.grad.numpy().copy() for n, p in net.parameters.items()}
            optimizer.step()
            self.losses.append(loss.item())
        self.parameters = {n: p.detach().numpy() for n, p in net.parameters.items()}
        self.statistics = {n: s.numpy() for n, s in net.statistics.items()}


def most(arrays):
    return max(float(np.abs(a).max()) for a in arrays)


def beyond(a, b):
    return sum(int((np.abs(a[n] - b[n]) > LIMIT).sum()) for n in b)


def distance(a, b, before):
    """|a - b| over |b - before|, all tensors together."""
    apart = sum(float(((a[n] - b[n]).astype(np.float64)**2).sum()) for n in b)
    moved = sum(float(((b[n] - before[n]).astype(np.float64)**2).sum()) for n in b)
    return (apart / moved)**0.5


def check_one(tap, what, rule, far, before, after, single, double):
    del far
    inside = all(np.all(np.abs(after[n] - w) <= LIMIT + rule.slack(single.first[n]))
                 for n, w in single.parameters.items())
    worst = most(after[n] - w for n, w in single.parameters.items())
    update = most(w - before[n] for n, w in single.parameters.items())
    scale = most(before[n] for n in single.parameters)
    tap.check(inside and before.keys() >= single.parameters.keys(),
              "%s, one step: weights differ by at most %.1e, %.1e of the largest update, %.1e of the "
              "largest weight; %d of %d by more than 1e-5, PyTorch's own precisions: %d"
              % (what, worst, worst / update, worst / scale, beyond(after, single.parameters),
                 sum(w.size for w in single.parameters.values()),
                 beyond(single.parameters, double.parameters)))
    if single.statistics:
        worst = most(after[n] - s for n, s in single.statistics.items())
        update = most(s - before[n] for n, s in single.statistics.items())
        tap.check(worst <= LIMIT, "%s, one step: running statistics differ by at most %.1e, %.1e of "
                  "the largest update" % (what, worst, worst / update))


def check_many(tap, what, rule, far, before, after, single, double):
    del rule
    apart = distance(after, single.parameters, before)
    tap.check(apart <= far, "%s, three steps: updates differ by %.1e, PyTorch's own precisions by "
              "%.1e" % (what, apart, distance(single.parameters, double.parameters, before)))
    if single.statistics:
        apart = distance(after, single.statistics, before)
        tap.check(apart <= far / 30, "%s, three steps: running statistics differ by %.1e" % (what, apart))


def compare(tap, program, folder, arch, far, rule, x, y):
    def run(steps, threads, after):
        paths = [os.path.join(folder, name) for name in ("batch.npz", "before.onnx", after)]
        done = subprocess.run([program, arch, paths[0], rule.spec, str(rule.lr), str(steps), "8",
                               str(threads), *paths[1:]], stdout=subprocess.PIPE, text=True, check=True)
        return [float(line) for line in done.stdout.split()], paths[1], paths[2]

    what = "%s, %s" % (arch, rule.name)
    for steps, check in ((1, check_one), (3, check_many)):
        losses, start, end = run(steps, 1, "after.onnx")
        before, after = numbers(start), numbers(end)
        single = Trained(start, x, y, rule.make, steps, torch.float32)
        double = Trained(start, x, y, rule.make, steps, torch.float64)
        check(tap, what, rule, far, before, after, single, double)
    tap.check(np.allclose(losses, single.losses, rtol=1e-4), "%s: losses %s" % (what, losses))
    _, _, other = run(3, 2, "other.onnx")
    with open(end, "rb") as one, open(other, "rb") as two:
        tap.check(one.read() == two.read(), "%s: the same file from two threads" % what)


def main():
    if len(sys.argv) != 2:
        print(__doc__)
        return 2
    torch.set_num_threads(1)
    rng, tap = np.random.RandomState(SEED), Tap()
    with tempfile.TemporaryDirectory() as folder:
        for arch, (shape, far) in NETWORKS.items():
            x = rng.rand(BATCH, *shape).astype(np.float32) * 2 - 1
            y = rng.randint(0, CLASSES, BATCH).astype(np.int64)
            np.savez(os.path.join(folder, "batch.npz"), x=x, y=y)
            for rule in RULES:
                compare(tap, sys.argv[1], folder, arch, far, rule, x, y)
    print("1..%d" % tap.count)
    return 1 if tap.failed else 0


if __name__ == "__main__":
    sys.exit(main())
