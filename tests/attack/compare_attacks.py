#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Compares plexor's attacks with PyTorch's on real networks, through the command line.

    compare_attacks.py PLEXOR SHARED [--quick]    prints TAP; skips where torch or the networks are absent

- Each step of BIM (the first one is FGSM's) moves every pixel as PyTorch does, where the gradient is at least a
  thousandth of the input's largest and p_y < 0.99; elsewhere its sign is noise in float32, and one step of difference
  is allowed. Where an activation lies within float32 rounding of a kink of Relu, PyTorch's own float32 and float64
  gradients differ by more: pixels whose sign they do not agree on are left out, and counted.
- Robust accuracy under PGD from the same starts, before rounding, at strengths that leave 30 to 70 percent, is
  within half a point.
"""
import json
import os
import shutil
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

SEED = 3
NETWORKS = {  # data, mean, std, eps of PGD with 20 steps, inputs
    "lenet5": ("mnist", None, None, 0.1, 1000),
    "resnet20_cifar10": ("cifar10/cifar10-jpeg.tar.xz", (0.485, 0.456, 0.406), (0.229, 0.224, 0.225), 0.5 / 255, 200),
}


class Tap:
    def __init__(self):
        self.count, self.failed = 0, 0

    def check(self, good, what):
        self.count += 1
        self.failed += not good
        print("%s %d - %s" % ("ok" if good else "not ok", self.count, what), flush=True)


class Case:
    def __init__(self, plexor, shared, name, folder, limit):
        data, mean, std, self.eps, self.limit = NETWORKS[name]
        self.limit = min(self.limit, limit)
        self.name, self.plexor, self.folder = name, plexor, folder
        self.model = os.path.join(shared, "models", name + ".onnx")
        self.words = ["--data", os.path.join(shared, "data", data), "--seed", str(SEED), "-q"]
        if mean:
            self.words += ["--mean", ",".join(map(str, mean)), "--std", ",".join(map(str, std))]
        self.mean, self.std = (torch.tensor(v or d).reshape(1, -1, 1, 1) for v, d in ((mean, (0.0,)), (std, (1.0,))))
        self.nets = {t: Net(self.model, t) for t in (torch.float32, torch.float64)}

    def scores(self, x):
        return self.nets[x.dtype].run((x - self.mean.to(x.dtype)) / self.std.to(x.dtype))["logits"]

    def attack(self, limit, *words):
        """The report, and (originals, results) of the inputs that were right before, with labels and indices."""
        to = os.path.join(self.folder, "campaign")
        shutil.rmtree(to, ignore_errors=True)
        done = self.run("attack", self.model, *self.words, "--limit", str(limit), "--store", "float", "--json",
                        "-o", to, *words)
        sets = {}
        for split in ("seeds", "generated"):
            out = os.path.join(self.folder, "out")
            shutil.rmtree(out, ignore_errors=True)
            self.run("export", to, "--split", split, "--format", "npz", "-o", out, "-q")
            with np.load(os.path.join(out, "inputs.npz")) as arrays:
                order = np.argsort(arrays["indices"], kind="stable")  # results come closest first
                sets[split] = {k: arrays[k][order] if arrays[k].shape[:1] == order.shape else arrays[k]
                               for k in arrays.files}
        assert (sets["seeds"]["indices"] == sets["generated"]["indices"]).all()
        return json.loads(done), sets["seeds"], sets["generated"]

    def run(self, *words):
        done = subprocess.run([self.plexor, *words], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise RuntimeError("plexor %s: %s" % (words[0], done.stderr.strip()))
        return done.stdout


def compare_steps(tap, case, count):
    """BIM step by step: PyTorch takes each from where plexor stands."""
    a = case.eps / 4
    before = None
    for t in range(3):
        _, seeds, made = case.attack(count, "--method", "bim", "--eps", repr(case.eps), "--steps", str(t + 1),
                                     "--step-size", repr(a))
        x0, y = torch.from_numpy(seeds["x"]), torch.from_numpy(seeds["y"])
        x = x0 if before is None else torch.from_numpy(before)
        z, g = torch_attacks.gradient(case.scores, x, y)
        _, exact = torch_attacks.gradient(case.scores, x.double(), y)
        want = torch_attacks.step(x, x0, g, a, case.eps, "linf")
        most = g.abs().flatten(1).max(1).values.reshape(-1, 1, 1, 1)
        p = torch.softmax(z, 1)[torch.arange(len(y)), y].reshape(-1, 1, 1, 1)
        sure = (g.abs() >= 1e-3 * most) & (p < 0.99)
        odd = sure & (exact.sign() != g.sign())
        sure &= ~odd
        off = (torch.from_numpy(made["x"]) - want).abs()
        wrong = int((off[sure] > 1e-6).sum())
        far = int((off > 2 * a + 1e-6).sum())
        tap.check(wrong == 0 and far == 0,
                  "%s, step %d of bim: %d of %d pixels with a clear gradient differ, %.3f%% of the others; "
                  "PyTorch contradicts itself on %d" % (
                      case.name, t + 1, wrong, int(sure.sum()), 100 * float((off[~sure] > 1e-6).float().mean()),
                      int(odd.sum())))
        before = made["x"]


def compare_robustness(tap, case):
    steps, a = 20, case.eps / 15
    report, seeds, made = case.attack(case.limit, "--method", "pgd", "--eps", repr(case.eps), "--steps", str(steps),
                                      "--step-size", repr(a))
    x0, y = torch.from_numpy(seeds["x"]), torch.from_numpy(seeds["y"])
    begin = torch.from_numpy(torch_attacks.start(seeds["x"], seeds["indices"], case.eps, "linf", SEED))
    x = torch_attacks.descend(case.scores, x0, begin, y, case.eps, a, steps, "linf")
    with torch.no_grad():
        stays = torch.cat([case.scores(part).argmax(1) for part in x.split(64)]) == y
    theirs = float(stays.sum()) / report["count"]
    ours = report["float"]["robust_accuracy"]
    same = float((torch.from_numpy(made["predictions"]) == y).eq(stays).float().mean())
    tap.check(abs(ours - theirs) <= 0.005 and 0.3 <= theirs <= 0.7,
              "%s, pgd: robust accuracy %.4f, PyTorch's %.4f, of %d inputs; %.2f%% of the verdicts are the same" % (
                  case.name, ours, theirs, report["count"], 100 * same))


def main():
    plexor, shared, quick = sys.argv[1], sys.argv[2], "--quick" in sys.argv
    shared = os.environ.get("PLEXOR_SHARED", shared)
    torch.set_num_threads(1)
    if not all(os.path.exists(os.path.join(shared, "models", n + ".onnx")) for n in NETWORKS):
        print("1..0 # SKIP needs the networks of ../shared ($PLEXOR_SHARED)")
        return 0
    tap = Tap()
    with tempfile.TemporaryDirectory(prefix="plexor-attack-") as folder:
        for name in NETWORKS:
            case = Case(plexor, shared, name, folder, 60 if quick else 10000)
            compare_steps(tap, case, 20 if quick else 60)
            if not quick:
                compare_robustness(tap, case)
    print("1..%d" % tap.count)
    return 1 if tap.failed else 0


sys.exit(main())
