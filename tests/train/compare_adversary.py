#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""One step of adversarial training beside PyTorch's: same network, batch, random starts, optimiser.

    compare_adversary.py PLEXOR       prints TAP; skips where torch or onnx is absent

`plexor train MODEL --adversary ...` makes one step on one batch. PyTorch attacks the same weights in
evaluation mode (batch normalisation by its running statistics), begins at the same random points,
then makes the same step in training mode. Compared: the whole update by its relative distance in
the 2-norm, and the running statistics. Signs of gradients that are rounding alone may differ between
two programs, and a pixel that goes the other way shows; in this batch there is none. That the limit
means something is seen from what is left out in turn: the attack, its random start, its steps after
the first, evaluation mode. Each of these is much further away.
"""
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "..", "bench"), os.path.join(HERE, "..", "attack")]

try:
    import numpy as np
    import onnx
    import torch
    import torch.nn.functional as F

    import torch_attacks
    from onnx_to_torch import Network
except ImportError as missing:
    print("1..0 # SKIP needs python3-torch and python3-onnx:", missing)
    sys.exit(0)

ADVERSARY = 52  # PX_RNG_ADVERSARY
SEED, BATCH, CLASSES, SIDE, MEAN, STD = 5, 48, 10, 14, 0.4, 0.5
LIMIT, CLEAR = 2e-5, 3e-2  # how far the updates may part; how far something left out must be
RULES = {
    "sgd:momentum=0.9,decay=1e-3": (0.05, lambda p: torch.optim.SGD(p, 0.05, momentum=0.9, weight_decay=1e-3)),
    "adam:eps=1e-3": (1e-3, lambda p: torch.optim.Adam(p, 1e-3, eps=1e-3)),
}
ATTACKS = {  # eps, step size, steps, random start
    "fgsm": (0.1, 0.1, 1, False),
    "bim": (0.1, 0.03, 4, False),
    "pgd": (0.1, 0.03, 4, True),
}


def numbers(path):
    return {t.name: onnx.numpy_helper.to_array(t) for t in onnx.load(path).graph.initializer
            if t.data_type == onnx.TensorProto.FLOAT}


def attack(path, x, y, eps, a, steps, random, train_mode):
    net = Network(path, trainable=train_mode)
    torch_attacks.ATTACK = ADVERSARY
    x0 = torch.from_numpy(x)
    now = x0
    if random:
        now = torch.from_numpy(torch_attacks.start(x, range(len(x)), eps, "linf", SEED))
    for _ in range(steps):
        _, g = torch_attacks.gradient(lambda v: net.logits((v - MEAN) / STD), now, y)
        now = torch_attacks.step(now, x0, g, a, eps, "linf")
    return now


class Step:
    """Where PyTorch arrives."""

    def __init__(self, path, x, y, make, settings, train_mode=False):
        eps, a, steps, random = settings
        y = torch.from_numpy(y)
        attacked = attack(path, x, y, eps, a, steps, random, train_mode)
        net = Network(path, trainable=True)
        optimizer = make(list(net.parameters.values()))
        F.cross_entropy(net.logits((attacked - MEAN) / STD), y).backward()
        optimizer.step()
        self.parameters = {n: p.detach().numpy() for n, p in net.parameters.items()}
        self.statistics = {n: s.numpy() for n, s in net.statistics.items()}


def distance(a, b, before):
    """|a - b| over |b - before|, all tensors together."""
    apart = sum(float(((a[n] - b[n]).astype(np.float64)**2).sum()) for n in b)
    moved = sum(float(((b[n] - before[n]).astype(np.float64)**2).sum()) for n in b)
    return (apart / moved)**0.5


class Tap:
    def __init__(self):
        self.count = self.failed = 0

    def check(self, good, what):
        self.count += 1
        self.failed += not good
        print("%s %d - %s" % ("ok" if good else "not ok", self.count, what), flush=True)


def train(plexor, folder, rule, lr, name, threads=1):
    eps, a, steps, _ = ATTACKS[name]
    after = os.path.join(folder, "after.onnx")
    more = [] if name == "fgsm" else ["--step-size", str(a), "--adversary-steps", str(steps)]
    subprocess.run([plexor, "train", os.path.join(folder, "before.onnx"), "--data", os.path.join(folder, "batch.npz"),
                    "--test", "none", "--epochs", "1", "--batch", str(BATCH), "--optimizer", rule, "--lr", str(lr),
                    "--schedule", "constant", "--scale", "1", "--mean", str(MEAN), "--std", str(STD), "--seed", str(SEED),
                    "--adversary", name, "--eps", str(eps), "--micro-batch", "8", "-j", str(threads), "-q",
                    "-o", after, *more], check=True, stdout=subprocess.DEVNULL)
    with open(after, "rb") as file:
        return numbers(after), file.read()


def compare(tap, plexor, folder, arch, x, y):
    path = os.path.join(folder, "before.onnx")
    before = numbers(path)
    for rule, (lr, make) in RULES.items():
        for name, settings in ATTACKS.items():
            if rule.startswith("adam") and name != "pgd":
                continue
            what = "%s, %s, %s" % (arch, rule.split(":")[0], name)
            after, one = train(plexor, folder, rule, lr, name)
            single = Step(path, x, y, make, settings)
            apart = distance(after, single.parameters, before)
            tap.check(apart <= LIMIT, "%s: updates differ by %.1e" % (what, apart))
            if single.statistics:
                apart = distance(after, single.statistics, before)
                tap.check(apart <= LIMIT, "%s: running statistics differ by %.1e" % (what, apart))
            tap.check(train(plexor, folder, rule, lr, name, threads=2)[1] == one,
                      "%s: the same file from two threads" % what)
            if name != "pgd":
                continue
            eps, a, steps, _ = settings
            others = {"no attack": Step(path, x, y, make, (eps, 0.0, 0, False)),
                      "no random start": Step(path, x, y, make, (eps, a, steps, False)),
                      "one step": Step(path, x, y, make, (eps, a, 1, True))}
            if single.statistics:
                others["attack in training mode"] = Step(path, x, y, make, settings, train_mode=True)
            for other, made in others.items():
                apart = distance(after, made.parameters, before)
                tap.check(apart >= CLEAR, "%s: %s would be %.1e away" % (what, other, apart))


def main():
    if len(sys.argv) != 2:
        print(__doc__)
        return 2
    torch.set_num_threads(1)
    rng, tap = np.random.RandomState(SEED), Tap()
    with tempfile.TemporaryDirectory() as folder:
        x = rng.rand(BATCH, 1, SIDE, SIDE).astype(np.float32)
        y = rng.randint(0, CLASSES, BATCH).astype(np.int64)
        y[0] = CLASSES - 1
        np.savez(os.path.join(folder, "batch.npz"), x=x, y=y)
        for arch in ("mlp-1x32", "resnet8"):  # running statistics that differ from the batch's
            subprocess.run([sys.argv[1], "train", "--arch", arch, "--data", "digits", "--size", "%dx%d" % (SIDE, SIDE),
                            "--train-limit", "256", "--test", "none", "--epochs", "2", "--batch", "64", "-q",
                            "-o", os.path.join(folder, "before.onnx")], check=True, stdout=subprocess.DEVNULL)
            compare(tap, sys.argv[1], folder, arch, x, y)
    print("1..%d" % tap.count)
    return 1 if tap.failed else 0


if __name__ == "__main__":
    sys.exit(main())
