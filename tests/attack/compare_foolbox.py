#!/usr/bin/python3
"""Compares plexor's attacks with what Foolbox 3.3.4 does to the same 200 digits, through the command line.

    compare_foolbox.py PLEXOR SHARED [--quick]    prints TAP; skips where torch, LeNet-5 or MNIST are absent

FOOLBOX has how many of the inputs that LeNet-5 gets right Foolbox turned wrong, without random starts. Foolbox is not
run here: the figures are those that it gave. The digits are drawn by numpy, so that they are the same everywhere.

- In floats, with Foolbox's steps, plexor turns as many, within one input, and PyTorch agrees about every one of them.
- `attack` without options and `check`, which judge 8-bit pixels, have the robust accuracy, within one input, of
  PyTorch's plain PGD with Foolbox's steps.
"""
import gzip
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "engine", "golden"))
try:
    import numpy as np
    import torch

    import torch_attacks
    from onnx_torch import Net
except ImportError as missing:
    print("1..0 # SKIP needs python3-torch, python3-onnx:", missing)
    sys.exit(0)

COUNT, RIGHT = 200, 195
FOOLBOX = {  # name: (turned, plexor's options); 40 steps of eps/30 are LinfPGD's, 10 of eps/5 LinfBasicIterative's
    "FGSM linf 0.1": (59, "--method fgsm --eps 0.1"),
    "FGSM l2 0.5": (4, "--method fgsm --norm l2 --eps 0.5"),
    "BIM linf 0.1": (113, "--method bim --eps 0.1"),
    "PGD linf 0.1": (112, "--method pgd --eps 0.1 --steps 40 --step-size 0.1/30 --no-random"),
    "DeepFool linf": (195, "--method deepfool --norm linf"),
    "DeepFool l2": (195, "--method deepfool --norm l2"),
}
QUICK = ("FGSM linf 0.1", "FGSM l2 0.5")


def draw(mnist, path):
    """The first 200 of 500 test digits."""
    with gzip.open(os.path.join(mnist, "t10k-images-idx3-ubyte.gz")) as file:
        x = np.frombuffer(file.read(), np.uint8, offset=16).reshape(-1, 1, 28, 28)
    with gzip.open(os.path.join(mnist, "t10k-labels-idx1-ubyte.gz")) as file:
        y = np.frombuffer(file.read(), np.uint8, offset=8).astype(np.int64)
    chosen = np.random.RandomState(3).choice(len(x), 500, replace=False)[:COUNT]
    np.savez(path, x=x[chosen], y=y[chosen])
    return torch.from_numpy(x[chosen].astype(np.float32) / np.float32(255)), torch.from_numpy(y[chosen])


class Bench:
    def __init__(self, plexor, model, folder, mnist):
        self.plexor, self.model, self.folder, self.count, self.failed = plexor, model, folder, 0, 0
        self.data = os.path.join(folder, "digits.npz")
        self.x, self.y = draw(mnist, self.data)
        self.net = Net(model, torch.float32)

    def scores(self, x):
        return self.net.run(x)["logits"]

    def right(self, x, y):
        with torch.no_grad():
            return torch.cat([self.scores(part).argmax(1) for part in x.split(50)]) == y

    def run(self, *words):
        done = subprocess.run([self.plexor, *words, "-q"], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise RuntimeError("plexor %s: %s" % (words[0], done.stderr.strip()))
        return done.stdout

    def check(self, good, what):
        self.count += 1
        self.failed += not good
        print("%s %d - %s" % ("ok" if good else "not ok", self.count, what), flush=True)

    def compare(self, name):
        turned, words = FOOLBOX[name]
        to, out = (os.path.join(self.folder, name.replace(" ", "-") + end) for end in (".campaign", ".out"))
        report = json.loads(self.run("attack", self.model, "--data", self.data, "--store", "float", "--json", "-o", to,
                                     *words.split()))
        self.run("export", to, "--split", "faults", "--format", "npz", "-o", out)
        with np.load(os.path.join(out, "inputs.npz")) as made:
            still = int((~self.right(torch.from_numpy(made["x"]), torch.from_numpy(made["y"]))).sum())
        ours = report["reached"]
        self.check(report["right"] == RIGHT and abs(ours - turned) <= 1 and abs(still - ours) <= 1,
                   "%s: %d of %d turned, Foolbox's %d; %d of them are wrong in PyTorch; L2 %.4f, Linf %.4f" % (
                       name, ours, report["right"], turned, still, report["l2"], report["linf"]))

    def compare_defaults(self):
        eps = 8 / 255
        keep = self.right(self.x, self.y)
        x, y = self.x[keep], self.y[keep]
        theirs = int(self.right(torch_attacks.descend(self.scores, x, x, y, eps, eps / 30, 40, "linf"), y).sum())
        attack = json.loads(self.run("attack", self.model, "--data", self.data, "--json"))
        folder = os.path.join(self.folder, "check")
        self.run("check", self.model, "--data", self.data, "--only", "attack", "--minutes", "4", "-o", folder)
        with open(os.path.join(folder, "attack.json"), encoding="utf-8") as file:
            stage = json.load(file)
        stage = stage.get("result", stage)
        self.check(abs(attack["robust"] - theirs) <= 1 and stage["robust_accuracy"] == attack["robust_accuracy"],
                   "without options: robust accuracy %.4f in attack, %.4f in check, %.4f of PyTorch's PGD" % (
                       attack["robust_accuracy"], stage["robust_accuracy"], theirs / COUNT))


def main():
    plexor, shared, quick = sys.argv[1], os.environ.get("PLEXOR_SHARED", sys.argv[2]), "--quick" in sys.argv
    model, mnist = (os.path.join(shared, *p) for p in (("models", "lenet5.onnx"), ("data", "mnist")))
    if not os.path.exists(model) or not os.path.exists(mnist):
        print("1..0 # SKIP needs LeNet-5 and MNIST of ../shared ($PLEXOR_SHARED)")
        return 0
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory(prefix="plexor-foolbox-") as folder:
        bench = Bench(plexor, model, folder, mnist)
        for name in QUICK if quick else FOOLBOX:
            bench.compare(name)
        if not quick:
            bench.compare_defaults()
    print("1..%d" % bench.count)
    return 1 if bench.failed else 0


sys.exit(main())
