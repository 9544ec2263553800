#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Compares plexor's attacks with what Foolbox 3.3.4 does to the same inputs, through the command line.

    compare_foolbox.py PLEXOR SHARED [--all]    prints TAP; skips networks and data that are absent, and without torch what PyTorch judges

foolbox.json has how many inputs Foolbox turned wrong (make_foolbox.py made it; Foolbox is not run here), in blocks of 200 of
the test split, from its first input on. The first block is compared, or with --all every one. As many means: within one input,
or 2.5% of them; where a gradient is rounding its sign is chance, and paths along signs part.

- In floats, with Foolbox's steps, plexor turns as many in every block, and PyTorch finds them wrong too. With --all the mean
  distances are the same to 0.5%; of DeepFool in Linf plexor's is up to 10% longer, since it leaves values out that cannot move.
- `attack` without options turns as many as Foolbox with the same steps and its own random starts, and no fewer than Foolbox
  without one; `check` has the same robust accuracy to the digit.
- DeepFool ends where the same formula in PyTorch ends.
"""
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "engine", "golden"))
try:
    import numpy as np

    from foolbox_cases import ATTACKS, BLOCK, NETWORKS, test_split
except ImportError as missing:
    print("1..0 # SKIP needs python3-numpy:", missing)
    sys.exit(0)
try:
    import torch

    import torch_attacks
    from onnx_torch import Net
except ImportError:
    torch = None

STEP_SIZES = {"pgd": 1 / 30, "bim": 1 / 5}  # of eps; Foolbox's


def near(ours, theirs):
    return all(abs(a - b) <= max(1, 0.025 * b) for a, b in zip(ours, theirs))


class Bench:
    def __init__(self, plexor, name, number, model, data, folder, figures, blocks):
        _, _, self.mean, self.std = NETWORKS[name]
        self.plexor, self.name, self.number, self.model, self.data = plexor, name, number, model, data
        self.folder, self.figures, self.made = os.path.join(folder, name), figures, None
        self.blocks, self.right = blocks, figures["right"][:blocks]
        self.whole = blocks == len(figures["right"])
        self.x, self.y = test_split(data, self.blocks * BLOCK)
        self.net = torch and Net(model, torch.float32)
        os.mkdir(self.folder)

    def scores(self, x):
        return self.net.run((x - self.mean) / self.std)["logits"]

    def run(self, *words):
        done = subprocess.run([self.plexor, *words, "-q"], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise RuntimeError("plexor %s: %s" % (words[0], done.stderr.strip()))
        return done.stdout

    def attack(self, attack, *words):
        """The report, and how many became wrong by block; `made` has those, with labels and indices."""
        to, out = (os.path.join(self.folder, attack.replace(" ", "-") + end) for end in (".campaign", ".out"))
        report = json.loads(self.run("attack", self.model, "--data", self.data, "--limit", str(len(self.x)), "--json", "-o", to,
                                     *ATTACKS[attack][3].split(), *words))
        self.run("export", to, "--split", "faults", "--format", "npz", "-o", out)
        with np.load(os.path.join(out, "inputs.npz")) as made:
            order = np.argsort(made["indices"])
            self.made = [made[key][order] for key in ("x", "y", "indices")]
        return report, np.bincount(self.made[2] // BLOCK, minlength=self.blocks).tolist()

    def wrong_in_torch(self):
        """How many of those that plexor made PyTorch finds wrong."""
        x, y = (torch.from_numpy(part) for part in self.made[:2])
        with torch.no_grad():
            return int((torch.cat([self.scores(part).argmax(1) for part in x.split(BLOCK)]) != y).sum())

    def compare(self, attack):
        """(good, what)"""
        eps, figures = ATTACKS[attack][2], self.figures[attack]
        words = ["--store", "float"]
        if eps:
            words += ["--eps", repr(eps[self.number])]
        if attack in STEP_SIZES:
            words += ["--step-size", repr(eps[self.number] * STEP_SIZES[attack])]
        report, turned = self.attack(attack, *words)
        good = report["right"] == sum(self.right) and near(turned, figures["turned"])
        if self.whole and attack == "deepfool linf":
            good = good and report["linf"] <= 1.1 * figures["linf"]
        elif self.whole:
            good = good and abs(report["l2"] / figures["l2"] - 1) <= 0.005
        what = "turned %s, Foolbox %s" % (turned, figures["turned"][:self.blocks])
        if torch:
            still, made = self.wrong_in_torch(), len(self.made[1])
            good = good and abs(still - made) <= self.blocks
            what += "; %d of %d wrong in PyTorch" % (still, made)
        if self.whole:
            what += "; L2 %.4f and %.4f, Linf %.4f and %.4f" % (report["l2"], figures["l2"], report["linf"], figures["linf"])
        return good, what

    def compare_defaults(self):
        report, turned = self.attack("default")
        plain, random = (self.figures[key]["turned"][:self.blocks] for key in ("default", "default, random"))
        folder = os.path.join(self.folder, "check")
        self.run("check", self.model, "--data", self.data, "--limit", str(BLOCK), "--only", "attack", "--minutes", "4",
                 "-o", folder)
        with open(os.path.join(folder, "attack.json"), encoding="utf-8") as file:
            stage = json.load(file)
        robust = stage.get("result", stage)["robust_accuracy"]
        mine = (self.right[0] - turned[0]) / BLOCK
        good = near(turned, random) and near([min(pair) for pair in zip(turned, plain)], plain) and robust == mine
        return good and report["robust"] == sum(self.right) - sum(turned), (
            "turned %s, Foolbox %s, without a random start %s; robust accuracy of the first block %.4f, in check %.4f" % (
                turned, random, plain, mine, robust))

    def compare_deepfool(self, norm):
        """Where the inputs of the first block end, and where the same formula in PyTorch ends."""
        if not torch:
            return True, "# SKIP needs python3-torch, python3-onnx"
        x, y, indices = (torch.from_numpy(part[self.made[2] < BLOCK]) for part in self.made)
        theirs = torch_attacks.deepfool(self.scores, torch.from_numpy(self.x)[indices], y, norm, free=True)
        off = (x - theirs).abs().flatten(1).max(1).values
        same = int((off <= 1e-3).sum())
        return same >= 0.95 * len(y), "%d of %d end within 0.001 of PyTorch's in every pixel, the median within %.1g" % (
            same, len(y), float(off.median()))

    def comparisons(self):
        """(name, good, what), one by one."""
        for attack in ("fgsm", "fgsm l2", "bim", "pgd", "deepfool linf", "deepfool l2"):
            yield attack, *self.compare(attack)
            if attack.startswith("deepfool"):
                yield attack + " in PyTorch", *self.compare_deepfool(attack.split()[1])
        yield "without options", *self.compare_defaults()


def main():
    plexor, shared, every = sys.argv[1], os.environ.get("PLEXOR_SHARED", sys.argv[2]), "--all" in sys.argv
    with open(os.path.join(HERE, "foolbox.json"), encoding="utf-8") as file:
        figures = json.load(file)
    if torch:
        torch.set_num_threads(1)
    count, failed = 0, 0
    with tempfile.TemporaryDirectory(prefix="plexor-foolbox-") as folder:
        for number, (name, (model, data, _, _)) in enumerate(NETWORKS.items()):
            top = os.path.join(HERE, "..", "..") if model.startswith("demo/") else shared
            model, data = os.path.join(top, model), os.path.join(shared, data)
            if not os.path.exists(model) or not os.path.exists(data):
                count += 1
                print("ok %d - %s # SKIP needs %s and %s" % (count, name, model, data))
                continue
            bench = Bench(plexor, name, number, model, data, folder, figures[name],
                          len(figures[name]["right"]) if every else 1)
            for attack, good, what in bench.comparisons():
                count += 1
                failed += not good
                print("%s %d - %s, %s%s%s" % ("ok" if good else "not ok", count, name, attack, " " if what[0] == "#" else ": ", what), flush=True)
    print("1..%d" % count)
    return 1 if failed else 0


sys.exit(main())
