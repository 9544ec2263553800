#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Hit spectra, scores and rankings of real networks on real data, worked out again in numpy.

    compare_localize.py PLEXOR [--quick]        prints TAP

DeepFault's three MNIST networks, LeNet-5 on MNIST and ResNet-20 on CIFAR-10. `plexor trace` gives the neurons'
values, labels and predictions; numpy follows the definitions (LGR A.2 to A.5) in the plainest way. Counts and
orders must be equal, scores to eleven digits. Networks and data lie in $PLEXOR_SHARED, or in ../shared
beside the source tree; without them, or without numpy, everything is skipped and that is said. --quick takes
fewer inputs and networks.
"""
import csv
import json
import os
import subprocess
import sys
import tempfile

try:
    import numpy as np
except ImportError as missing:
    print("1..0 # SKIP needs python3-numpy:", missing)
    sys.exit(0)

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
SHARED = os.environ.get("PLEXOR_SHARED") or os.path.join(os.path.dirname(ROOT), "shared")
PLEXOR = os.path.abspath(sys.argv[1])
QUICK = "--quick" in sys.argv[2:]

CIFAR = ["--mean", "0.485,0.456,0.406", "--std", "0.229,0.224,0.225"]
# name, data, preprocessing, inputs (0: all), what is asked of the neurons, theta
CASES = [
    ("deepfault_mnist_1", "data/mnist", [], 0, [], 0.0),
    ("deepfault_mnist_2", "data/mnist", [], 0, [], 0.0),
    ("deepfault_mnist_3", "data/mnist", [], 0, ["--tap", "pre"], 0.0),
    ("lenet5", "data/mnist", [], 3000, ["--tap", "pre"], 0.1),
    ("resnet20_cifar10", "data/cifar10/cifar10-jpeg.tar.xz", CIFAR, 1000, ["--layers", "conv"], 0.25),
]

# --- the definitions: arrays of as, af, ns, nf over the neurons --------------------------------------


def over(a, b):
    """A ratio in which 0/0 is 0 and x/0 infinite."""
    a, b = np.broadcast_arrays(np.asarray(a, float), np.asarray(b, float))
    out = np.where(a > 0, np.inf, 0.0)
    np.divide(a, b, out=out, where=b != 0)
    return out


def wong3(s):
    return np.where(s <= 2, s, np.where(s <= 10, 2 + 0.1 * (s - 2), 2.8 + 0.001 * (s - 10)))


def measures(s, f, ns, nf):
    """The formulas as they are printed; scores that are equal but for rounding are made equal."""
    fails, passes = f + nf, s + ns
    scores = {
        "tarantula": over(over(f, fails), over(f, fails) + over(s, passes)),
        "ochiai": over(f, np.sqrt(fails * (f + s))),
        "dstar": over(f ** 3, s + nf),
        "barinel": np.where(f == 0, 0, 1 - over(s, s + f)),
        "op2": f - s / (passes + 1),
        "op1": np.where(nf > 0, -1, ns),
        "jaccard": over(f, fails + s),
        "dice": over(2 * f, 2 * f + s + nf),
        "zoltar": np.where(f == 0, 0, over(f, fails + s + 10000 * nf * s / np.maximum(f, 1))),
        "kulczynski2": (over(f, fails) + over(f, f + s)) / 2,
        "overlap": over(f, np.minimum(fails, f + s)),
        "ample": np.round(np.abs(over(f, fails) - over(s, passes)), 13),  # what differences leave of 0
        "wong2": f - s,
        "wong3": f - wong3(s),
        "gp13": np.where(f == 0, 0, f * (1 + 1 / np.maximum(2 * s + f, 1))),
        "mccon": np.where(f + s == 0, 0, (f * f - nf * s) / np.maximum(fails * (f + s), 1)),
        "rogers-tanimoto": (f + ns) / (f + ns + 2 * (nf + s)),
        "simple-matching": (f + ns) / (fails + passes),
        "m2": f / (f + ns + 2 * (nf + s)),
    }
    return {name: np.array([float(f"{v:.12g}") for v in values]) for name, values in scores.items()}


def spearman(a, b):
    def ranks(v):
        _, inverse, counts = np.unique(v, return_inverse=True, return_counts=True)
        return (np.cumsum(counts) - (counts - 1) / 2)[inverse]
    a, b = ranks(a), ranks(b)
    return np.corrcoef(a, b)[0, 1] if a.std() and b.std() else np.nan


# --- plexor ---------------------------------------------------------------------------------------------

results = []


def check(what, ok, more=""):
    results.append(bool(ok))
    print(f"{'ok' if ok else 'not ok'} {len(results)} - {what}")
    if not ok and more:
        print("#", more)


def plexor(*arguments):
    done = subprocess.run([PLEXOR, *map(str, arguments)], capture_output=True, text=True)
    if done.returncode:
        print(f"Bail out! plexor {' '.join(map(str, arguments))}: {done.stderr.strip()}")
        sys.exit(1)
    return done.stdout


class Case:
    def __init__(self, name, data, options, limit, neurons, theta, folder):
        self.name, self.folder, self.theta = name, folder, theta
        if QUICK:
            limit = min(limit or 2000, 2000)
        self.model = os.path.join(SHARED, "models", name + ".onnx")
        self.state = os.path.join(folder, "hits.npz")
        self.data = ["--data", os.path.join(SHARED, data), *options, "--limit", limit, *neurons, "--quiet"]
        path = os.path.join(folder, "traces.npz")
        plexor("trace", self.model, *self.data, "-o", path)
        with np.load(path) as arrays:
            self.layers = [n for n in arrays.files if n not in ("labels", "predictions", "indices")]
            values = [arrays[n].astype(np.float64) for n in self.layers]
            self.labels, predictions = arrays["labels"], arrays["predictions"]
        self.active = np.concatenate(values, 1) > theta
        self.layer_of = np.concatenate([np.full(v.shape[1], i) for i, v in enumerate(values)])
        self.unit = np.concatenate([np.arange(v.shape[1]) for v in values])
        self.right = self.labels == predictions

    def count(self, *arguments):
        return plexor("localize", self.model, *self.data, "--theta", self.theta, "--state", self.state, "--include-uninformative", *arguments)

    def rank(self, *arguments):
        return plexor("localize", self.model, "--spectrum", self.state, "--include-uninformative", "--quiet", *arguments)

    def hits(self, c):
        of = np.ones_like(self.labels, bool) if c is None else self.labels == c
        good, bad = self.active[of & self.right], self.active[of & ~self.right]
        s, f = good.sum(0).astype(float), bad.sum(0).astype(float)
        return s, f, len(good) - s, len(bad) - f

    def classes(self):
        return [c for c in np.unique(self.labels)
                if 0 < self.right[self.labels == c].sum() < (self.labels == c).sum()]

    def order(self, scores, f):
        """The whole ranking: score, af among infinite ones, deeper layer, lower unit."""
        af = np.where(np.isinf(scores), f, 0)
        return np.lexsort((self.unit, -self.layer_of, -af, -scores))


def spectra(case):
    direct = json.loads(case.count("--pooled", "--json"))["suspicious"]
    check(f"{case.name}: a ranking from data is that of the counts it saves",
          direct == json.loads(case.rank("--pooled", "--json"))["suspicious"])
    with np.load(case.state) as state:
        numbers = list(state["hits/classes"])
        ok = numbers == sorted(np.unique(case.labels))
        for i, c in enumerate(numbers):
            s, f, ns, nf = case.hits(c)
            ok = ok and (state["hits/as"][i] == s).all() and (state["hits/af"][i] == f).all()
            ok = ok and state["hits/passed"][i] == s[0] + ns[0] and state["hits/failed"][i] == f[0] + nf[0]
    check(f"{case.name}: hits of {len(numbers)} classes, {case.active.shape[1]} neurons, "
          f"{len(case.labels)} inputs", ok)


def rankings(case):
    for pooled in (False, True):
        kind = "pooled" if pooled else "per class"
        wanted = [None] if pooled else case.classes()
        for measure in measures(*case.hits(None)):
            report = json.loads(case.rank("--measure", measure, "-k", case.active.shape[1], "--json",
                                          *(["--pooled"] if pooled else [])))
            rows = report["suspicious"]
            worst, ok = 0.0, len(rows) == len(wanted) * case.active.shape[1]
            for i, c in enumerate(wanted):
                part = rows[i * case.active.shape[1]:(i + 1) * case.active.shape[1]]
                s, f, ns, nf = case.hits(c)
                scores = measures(s, f, ns, nf)[measure]
                got = np.array([np.inf if r["infinite"] else r["score"] for r in part], float)
                place = {(n, u): k for k, (n, u) in enumerate(zip(
                    [case.layers[l] for l in case.layer_of], case.unit))}
                at = [place[(r["layer"], r["unit"])] for r in part]
                same = got == scores[at]
                off = np.abs(np.where(same, 0, got) - np.where(same, 0, scores[at]))
                worst = max(worst, (off / np.maximum(1, np.abs(np.where(same, 1, got)))).max())
                ok = ok and list(case.order(scores, f)) == at and all(
                    (r["as"], r["af"], r["ns"], r["nf"]) == (s[k], f[k], ns[k], nf[k])
                    for r, k in zip(part, at))
            check(f"{case.name}, {kind}: {measure}", ok and worst < 1e-10, f"scores differ by {worst}")


def comparison(case, k=5):
    report = json.loads(case.rank("--compare", "--json", "-k", k))
    names = list(measures(*case.hits(None)))
    overlap, correlation = {}, {}
    for c in case.classes():
        hits = case.hits(c)
        scores = measures(*hits)
        tops = {m: set(case.order(v, hits[1])[:k]) for m, v in scores.items()}
        for a in names:
            for b in names:
                overlap.setdefault((a, b), []).append(len(tops[a] & tops[b]) / k)
                correlation.setdefault((a, b), []).append(
                    spearman(scores[a], scores[b]))
    worst = {"overlap": 0.0, "spearman": 0.0}
    for (a, b), values in correlation.items():
        mean = np.nanmean(values) if not np.isnan(values).all() else None
        got = report["spearman"][a][b]
        worst["spearman"] = max(worst["spearman"],
                                float("inf") if (mean is None) != (got is None) else
                                abs(mean - got) if mean is not None else 0)
        worst["overlap"] = max(worst["overlap"], abs(np.mean(overlap[a, b]) - report["overlap"][a][b]))
    check(f"{case.name}: overlap and rank correlation of all pairs", max(worst.values()) < 1e-9, str(worst))


def baseline(case, k=3):
    path = os.path.join(case.folder, "list.csv")
    lists = {}
    for measure in ("tarantula", "ochiai", "dstar", "random"):
        case.rank("--measure", measure, "-k", k, "-o", path)
        with open(path, encoding="utf-8", newline="") as file:
            lists[measure] = list(csv.DictReader(file))
    ok = True
    for c in case.classes():
        chosen = [(r["layer"], r["unit"]) for m in ("tarantula", "ochiai", "dstar")
                  for r in lists[m] if int(r["class"]) == c]
        share = np.array([sum(layer == n for layer, _ in chosen) for n in case.layers]) * k
        quota, rest = share // len(chosen), share % len(chosen)
        for i in np.lexsort((-np.arange(len(rest)), -rest))[:k - quota.sum()]:
            quota[i] += 1
        drawn = [(r["layer"], r["unit"]) for r in lists["random"] if int(r["class"]) == c]
        ok = ok and len(set(drawn)) == k and not set(drawn) & set(chosen)
        ok = ok and list(quota) == [sum(layer == n for layer, _ in drawn) for n in case.layers]
    check(f"{case.name}: random neurons lie in the layers of the measures', and are none of theirs", ok)


def main():
    cases = CASES[:1] if QUICK else CASES
    if not all(os.path.exists(os.path.join(SHARED, "models", c[0] + ".onnx"))
               and os.path.exists(os.path.join(SHARED, c[1])) for c in cases):
        print(f"1..0 # SKIP no real networks and data at '{SHARED}'; set PLEXOR_SHARED")
        return 0
    with tempfile.TemporaryDirectory() as folder:
        for entry in cases:
            case = Case(*entry, folder)
            spectra(case)
            rankings(case)
            comparison(case)
            baseline(case)
    print(f"1..{len(results)}")
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
