#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Selections by the baselines, worked out again with numpy, scipy and scikit-learn.

    compare_select.py PLEXOR [--quick]        prints TAP

LeNet-5 on MNIST and ResNet-20 on CIFAR-10 from $PLEXOR_SHARED or ../shared where they are, and always the
small network of tests/cli/models on the procedural digits. `plexor trace` gives class scores and neuron
values; the definitions (CSM B.3 to B.9) are followed in the plainest way. Scores must be within 1e-6 (lsa:
1e-5), orders equal but for scores that close. Without the libraries everything is skipped and that is said.
"""
import csv
import os
import subprocess
import sys
import tempfile

try:
    import numpy as np
    import scipy.special
    import scipy.stats
    from sklearn.metrics import pairwise_distances
except ImportError as missing:
    print("1..0 # SKIP needs python3-numpy, python3-scipy and python3-sklearn:", missing)
    sys.exit(0)

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", "..", ".."))
SHARED = os.environ.get("PLEXOR_SHARED") or os.path.join(os.path.dirname(ROOT), "shared")
PLEXOR = os.path.abspath(sys.argv[1])
QUICK = "--quick" in sys.argv[2:]
TEST, TRAIN = (120, 600) if QUICK else (400, 2000)

NETWORKS = {
    "digits": (os.path.join(ROOT, "tests/cli/models/digits.onnx"), "digits", []),
    "lenet5": (os.path.join(SHARED, "models/lenet5.onnx"), os.path.join(SHARED, "data/mnist"), []),
    # unpacking takes longer than everything else, so only canonical settings are run there
    "resnet20": (os.path.join(SHARED, "models/resnet20_cifar10.onnx"),
                 os.path.join(SHARED, "data/cifar10/cifar10-jpeg.tar.xz"),
                 ["--mean", "0.485,0.456,0.406", "--std", "0.229,0.224,0.225"]),
}
PLAIN = ["softmax", "entropy", "pcs", "gini", "internal-gini", "nac", "kmnc", "dsa", "lsa", "ats"]
FACTS = ("labels", "predictions", "indices", "meta")


class Network:
    """Traces of a network, and what plexor selects with it."""

    def __init__(self, name, folder):
        self.model, self.data, self.options = NETWORKS[name]
        self.folder, self.kept = folder, {}
        self.variants = not self.data.endswith(".xz")

    def run(self, *command):
        done = subprocess.run([PLEXOR, *map(str, command), *self.options], capture_output=True, text=True,
                              check=False)
        if done.returncode:
            raise RuntimeError(done.stderr.strip())

    def trace(self, layers, neurons="chan", train=False):
        """Rows in double, and predicted classes."""
        key = (layers, neurons, train)
        if key not in self.kept:
            path = os.path.join(self.folder, "traces.npz")
            part = (["--split", "train", "--shuffle", "--seed", 0, "--limit", TRAIN] if train
                    else ["--limit", TEST])
            self.run("trace", self.model, "--data", self.data, *part, "--layers", layers, "--neurons", neurons,
                     "--quiet", "-o", path)
            arrays = np.load(path)
            rows = [arrays[n] for n in arrays.files if n not in FACTS]
            self.kept[key] = np.concatenate(rows, 1).astype(np.float64), arrays["predictions"]
        return self.kept[key]

    def probabilities(self):
        return scipy.special.softmax(self.trace("logits", "unit")[0], 1)

    def select(self, by, *settings):
        """Order and scores, both by place; all selectors without settings come from one run."""
        if not settings and (by,) in self.kept:
            return self.kept[by,]
        folder = os.path.join(self.folder, "selected")
        named = [by] if settings else PLAIN
        self.run("select", self.model, "--data", self.data, "--limit", TEST, "--by", ",".join(named), "--budget",
                 "100%", "--train", self.data, "--train-limit", TRAIN, "--seed", 0, "--quiet", "--fresh", "-o", folder,
                 *[word for text in settings for word in ("--set", f"{by}.{text}")])
        for name in named:
            with open(os.path.join(folder, name + ".csv"), newline="", encoding="utf-8") as file:
                rows = list(csv.DictReader(file))
            found = (np.array([int(r["index"]) for r in rows]), np.array([float(r["score"]) for r in rows]))
            if settings:
                return found
            self.kept[name,] = found
        return self.kept[by,]


# --- comparisons: None, or what is wrong ----------------------------------------------------------


def differ(network, by, want, tolerance=1e-6, settings=()):
    """A plain score: each input's, and the order as far as it is certain."""
    order, scores = network.select(by, *settings)
    if sorted(order) != list(range(TEST)):
        return f"{by}: not a permutation"
    want = np.asarray(want)[order]
    both = np.isfinite(want) & np.isfinite(scores)
    if (np.isinf(want) != np.isinf(scores)).any() or not both.any():
        return f"{by}: infinite where it should not be"
    scale = np.maximum(np.abs(want[both]), 1e-3)
    error = (np.abs(scores[both] - want[both]) / scale).max()
    print(f"# {by} {' '.join(settings)}: worst difference {error:.2g}")
    if error > tolerance:
        return f"{by}: {error:.3g} apart"
    falls = np.diff(want[both])
    return f"{by}: out of order" if (falls > 2 * tolerance * scale[1:]).any() else None


def same_order(network, by, want, *settings):
    order, _ = network.select(by, *settings)
    places = np.flatnonzero(order != want)
    print(f"# {by} {' '.join(settings)}: {len(want)} places")
    if not len(places):
        return None
    return f"{by}: place {places[0]} has {order[places[0]]}, not {want[places[0]]}"


def check_unsure(n):
    p = n.probabilities()
    best = np.sort(p, 1)
    bits = -np.where(p > 0, p * np.log2(np.where(p > 0, p, 1)), 0).sum(1)
    return (differ(n, "softmax", 1 - best[:, -1]) or differ(n, "entropy", bits)
            or differ(n, "entropy", scipy.stats.entropy(p, base=2, axis=1))
            or differ(n, "pcs", best[:, -2] - best[:, -1]) or differ(n, "gini", 1 - (p ** 2).sum(1)))


def check_internal_gini(n):
    a = n.trace("last-encoder", "unit")[0]
    positive = np.maximum(a, 0)
    total = positive.sum(1, keepdims=True)
    l1 = np.where(total[:, 0] > 0, 1 - ((positive / np.where(total > 0, total, 1)) ** 2).sum(1), 0)
    wrong = differ(n, "internal-gini", l1)
    if wrong or not n.variants:
        return wrong
    return (differ(n, "internal-gini", 1 - (scipy.special.softmax(a, 1) ** 2).sum(1), settings=["norm=softmax"])
            or differ(n, "internal-gini", 1 - (a ** 2).sum(1), 1e-5, settings=["norm=raw"]))


def greedy(sets):
    """CAM, the rest by CTM: sets of elements per input."""
    left, order, covered = list(range(len(sets))), [], set()
    while left:
        best = max(left, key=lambda i: (len(sets[i] - covered), -i))
        if not sets[best] - covered:
            break
        order.append(best)
        covered |= sets[best]
        left.remove(best)
    return np.array(order + sorted(left, key=lambda i: (-len(sets[i]), i)))


def check_nac(n):
    above = [set(np.flatnonzero(row)) for row in n.trace("hidden")[0] > 0.5]
    total = np.array(sorted(range(TEST), key=lambda i: (-len(above[i]), i)))
    wrong = same_order(n, "nac", greedy(above))
    return same_order(n, "nac", total, "order=total") if n.variants and not wrong else wrong


def check_kmnc(n):
    x, train = n.trace("hidden")[0], n.trace("hidden", train=True)[0]
    low, high = train.min(0), train.max(0)
    wrong = None
    for k in (1000, 10)[:2 if n.variants else 1]:
        with np.errstate(divide="ignore", invalid="ignore"):
            at = np.minimum(np.floor((x - low) * (k / (high - low))), k - 1)
        inside = (x >= low) & (x <= high) & (high > low)
        sets = [{(j, at[i, j]) for j in np.flatnonzero(inside[i])} for i in range(TEST)]
        wrong = wrong or same_order(n, "kmnc", greedy(sets), *([f"k={k}"] if k != 1000 else []))
    if wrong or not n.variants:
        return wrong
    corners = [{(j, 1) for j in np.flatnonzero(row > high)} | {(j, 0) for j in np.flatnonzero(row < low)}
               for row in x]
    return same_order(n, "kmnc", greedy(corners), "elements=nbc")


def check_dsa(n):
    (x, classes), (train, of) = n.trace("last-hidden"), n.trace("last-hidden", train=True)
    want = np.full(TEST, np.inf)
    for c in np.unique(of):
        at, own, others = np.flatnonzero(classes == c), train[of == c], train[of != c]
        if not len(at):
            continue
        far = pairwise_distances(x[at], own) # good to a few digits less, so only to find the nearest
        for i, row in zip(at, far):
            near = np.flatnonzero(row <= row.min() + 1e-6 * (1 + row.min()))
            exact = np.sqrt(((own[near] - x[i]) ** 2).sum(1))
            nearest = own[near[np.argmin(exact)]]
            want[i] = exact.min() / np.sqrt(((others - nearest) ** 2).sum(1)).min()
    return differ(n, "dsa", want)


def check_lsa(n):
    (x, classes), (train, of) = n.trace("last-hidden"), n.trace("last-hidden", train=True)
    kept = np.all([train[of == c].var(0) >= 1e-5 for c in np.unique(of) if (of == c).sum() > 1], 0)
    want = np.full(TEST, np.nan)
    for c in np.unique(of):
        at, own = np.flatnonzero(classes == c), train[of == c][:, kept]
        if len(at) and len(own) > kept.sum():
            want[at] = -scipy.stats.gaussian_kde(own.T).logpdf(x[at][:, kept].T)
    order, scores = n.select("lsa")
    usable = np.isfinite(want[order])
    if not usable.any():
        print("# lsa: no class has more traces than neurons")
        return None
    error = np.abs(scores[usable] / want[order][usable] - 1).max()
    print(f"# lsa: {usable.sum()} values, worst difference {error:.2g}")
    return f"lsa: {error:.3g} apart" if error > 1e-5 else None


def check_ats(n):
    p, up, least = n.probabilities().astype(np.float32).astype(np.float64), 0.99, 0.001
    predicted = n.trace("logits", "unit")[1]
    chosen, others, sure = [], [], set()
    for own in range(p.shape[1]):
        rest = [c for c in range(p.shape[1]) if c != own]
        pairs = [(a, b) for i, a in enumerate(rest) for b in rest[i + 1:]]
        pieces = {}
        for i in np.flatnonzero(predicted == own):
            if p[i, own] >= up:
                sure.add(i)
                continue
            pieces[i] = set()
            for number, (a, b) in enumerate(pairs):
                at = [(3 * p[i, c] - p[i, own] - p[i, a] - p[i, b] + 1) / 3 for c in (own, a)]
                t, r = at[1] / (1 - at[0]), 0.005 * (up - at[0])
                if r >= 0 and 0 <= t <= 1:
                    ends = round(max(t - r, 0) * 1e5), round(min(t + r, 1) * 1e5)
                    pieces[i] |= {(number, u) for u in range(*ends)}
        covered, left = set(), sorted(pieces)
        while left:
            best = max(left, key=lambda i: (len(pieces[i] - covered), -i))
            gain = len(pieces[best] - covered)
            if gain <= least * 1e5 + 1e-6:
                break
            chosen.append((-gain, best))
            covered |= pieces[best]
            left.remove(best)
        others += [(-len(pieces[i]), i) for i in left]
    want = [i for _, i in sorted(chosen) + sorted(others)]
    order, _ = n.select("ats")
    print(f"# ats: {len(chosen)} chosen, {len(others)} others, {len(sure)} sure")
    if set(order[len(want):]) != sure:
        return "ats: others are sure"
    places = np.flatnonzero(order[:len(want)] != np.array(want, int))
    return f"ats: place {places[0]} differs" if len(places) else None


def check_mc_dropout(n):
    """Nothing dropped is the network itself; with much dropped, votes and entropies keep their bounds."""
    p = n.probabilities()
    wrong = differ(n, "mc-dropout", 1 - p.max(1), 1e-5, ["rate=0", "passes=2", "score=softmax"])
    if wrong or not n.variants:
        return wrong
    _, variation = n.select("mc-dropout", "passes=20")
    _, entropy = n.select("mc-dropout", "passes=20", "score=entropy")
    _, information = n.select("mc-dropout", "passes=20", "score=information")
    if not wrong and not (0 <= variation.min() <= variation.max() <= 1 - 1 / p.shape[1] + 1e-9):
        wrong = "mc-dropout: impossible votes"
    if not wrong and not ((variation * 20 - np.round(variation * 20) < 1e-9).all() and variation.max() > 0):
        wrong = "mc-dropout: no votes"
    if not wrong and not (entropy.max() <= np.log2(p.shape[1]) and information.min() >= -1e-9):
        wrong = "mc-dropout: impossible entropies"
    return wrong


def main():
    names = [n for n in NETWORKS if os.path.exists(NETWORKS[n][0])]
    checks = [check_unsure, check_internal_gini, check_nac, check_kmnc, check_dsa, check_lsa, check_ats,
              check_mc_dropout]
    print(f"1..{len(checks) * len(NETWORKS)}")
    failed, number = 0, 0
    for name in NETWORKS:
        with tempfile.TemporaryDirectory() as folder:
            network = Network(name, folder)
            for check in checks:
                number += 1
                what = f"{number} - {name}: {check.__name__[6:]}"
                if name not in names:
                    print(f"ok {what} # SKIP not in ../shared or $PLEXOR_SHARED")
                    continue
                try:
                    wrong = check(network)
                except Exception as trouble: # a case must not take the others along
                    wrong = repr(trouble)
                failed += wrong is not None
                print(f"{'not ok' if wrong else 'ok'} {what}")
                if wrong:
                    print("#", wrong)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
