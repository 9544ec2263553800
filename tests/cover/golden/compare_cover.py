#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Coverage of real networks on real data, worked out again in numpy from their traces.

    compare_cover.py PLEXOR [--quick]        prints TAP

LeNet-5 on MNIST with every variant of every criterion about neurons and layers, ResNet-20 on CIFAR-10
with the canonical ones. `plexor trace` gives the neurons' values; numpy follows the definitions
(CSM A.1 to A.7, A.11) in the plainest way. Counts must be equal, real values within 1e-5. Networks and
data lie in $PLEXOR_SHARED, or in ../shared beside the source tree; without them, or without numpy, everything
is skipped and that is said. --quick takes fewer inputs.
"""
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

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", "..", ".."))
SHARED = os.environ.get("PLEXOR_SHARED") or os.path.join(os.path.dirname(ROOT), "shared")
PLEXOR = os.path.abspath(sys.argv[1])
QUICK = "--quick" in sys.argv[2:]
TEST, TRAIN = (300, 100) if QUICK else (1500, 500)
TOLERANCE = 1e-5

NETWORKS = {
    "lenet5": ("data/mnist", []),
    "resnet20_cifar10": ("data/cifar10/cifar10-jpeg.tar.xz",
                         ["--mean", "0.485,0.456,0.406", "--std", "0.229,0.224,0.225"]),
}

# --- the definitions ------------------------------------------------------------------------------
# x: a list of [inputs, neurons] per layer, float64. r: low, high, deviation per neuron.


def nc(x, t, variant="raw"):
    if variant == "sigmoid":
        cut = -np.inf if t <= 0 else np.log(t / (1 - t))
        return sum(int((a > cut).any(0).sum()) for a in x)
    if variant == "suite":
        return sum(int(((a - a.min()) / (a.max() - a.min()) > t).any(0).sum()) for a in x)
    return sum(int((a > t).any(0).sum()) for a in x)


def kmnc(x, r, k, variant="canonical"):
    covered = 0
    for v, low, high in zip(np.concatenate(x, 1).T, r[0], r[1]):
        if variant == "digitize":
            if high == low:
                states = {0 if a < low else k for a in v}
            else:
                edges = low + np.arange(k) * ((high - low) / (k - 1))
                edges[-1] = high
                states = set(np.digitize(v, edges))
        elif high <= low:
            continue
        else:
            v = v[(v >= low) & (v <= high)]
            at = (v - low) * (k / (high - low))
            if variant == "canonical":
                states = set(np.minimum(np.floor(at), k - 1))
            elif variant == "ceil":
                states = set(np.minimum(np.ceil(at), k)) - {0}
            else:
                states = set(np.minimum(np.floor(at[v < high]), k - 1))
        covered += len(states)
    return covered


def corners(x, r, lower, s=0.0, variant="canonical"):
    a = np.concatenate(x, 1)
    low, high = r[0] - s * r[2], r[1] + s * r[2]
    if variant == "ge":
        up, down = a >= high, a <= low
    else:
        up, down = a > high, a < low
    if variant == "buckets":
        width = np.where(high > low, (r[1] - r[0]) / 1000, 0.05)
        covered = 0
        for n in range(a.shape[1]):
            out = list((a[up[:, n], n] - high[n]) / width[n])
            if lower:
                out += list((low[n] - a[down[:, n], n]) / width[n])
            covered += len({min(int(o), 10) for o in out})
        return covered
    return int(up.any(0).sum()) + (int(down.any(0).sum()) if lower else 0)


def tops(a, k, tail=False):
    """Indices of the k largest of every row, by rank; ties to the lower index, or the higher."""
    if tail:
        return a.shape[1] - 1 - np.argsort(-a[:, ::-1], axis=1, kind="stable")[:, :k]
    return np.argsort(-a, axis=1, kind="stable")[:, :k]


def tknc(x, k, variant="canonical"):
    if variant == "pattern-count":
        return sum(len({tuple(sorted(row)) for row in tops(a, k)}) for a in x)
    return sum(len(np.unique(tops(a, k, variant == "tail-index"))) for a in x)


def tknp(x, k, variant="set"):
    layers = [tops(a, k) if variant == "ordered" else np.sort(tops(a, k), 1) for a in x]
    return len({tuple(row) for row in np.concatenate(layers, 1)})


def cc(x, t):
    centres = 0
    for a in x:
        kept = a[:1]
        for row in a[1:]:
            if ((kept - row) ** 2).sum(1).min() > t:
                kept = np.concatenate([kept, row[None]])
        centres += len(kept)
    return centres


def nlc(x, norm="mean", start=0):
    value = 0.0
    for a in x:
        a = np.concatenate([np.zeros((start, a.shape[1])), a])
        s = np.abs(np.atleast_2d(np.cov(a.T, bias=True)))
        value += s.mean() if norm == "mean" else s.sum()
    return value


def nlc_guided(x):
    value = 0.0
    for a in x:
        n, mean, s, best = 1, a[0].copy(), np.zeros((a.shape[1],) * 2), 0.0
        for row in a[1:]:
            w, d = 1 / (n + 1), mean - row
            tried = (1 - w) * s + w * (1 - w) * np.outer(d, d)
            if np.abs(tried).sum() > best:
                n, s, mean, best = n + 1, tried, mean - w * d, np.abs(tried).sum()
        value += best / a.shape[1] ** 2
    return value


# --- plexor ---------------------------------------------------------------------------------------


def plexor(*arguments):
    done = subprocess.run([PLEXOR, *map(str, arguments)], capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(map(str, arguments))}: {done.stderr.strip()}")
    return done.stdout


class Network:
    """A network with its data; traces are made once."""

    def __init__(self, name, folder):
        data, self.options = NETWORKS[name]
        self.model = os.path.join(SHARED, "models", name + ".onnx")
        self.data, self.folder, self.traces = os.path.join(SHARED, data), folder, {}

    def trace(self, neurons="chan", tap="post", layers="hidden", train=False):
        key = (neurons, tap, layers, train)
        if key not in self.traces:
            part = (["--split", "train", "--shuffle", "--seed", 0, "--limit", TRAIN] if train
                    else ["--limit", TEST])
            path = os.path.join(self.folder, "traces.npz")
            plexor("trace", self.model, "--data", self.data, *self.options, *part, "--neurons", neurons,
                   "--tap", tap, "--layers", layers, "-o", path, "--quiet")
            with np.load(path) as arrays:
                self.traces[key] = [arrays[n].astype(np.float64) for n in arrays.files
                                    if n not in ("labels", "predictions", "indices")]
        return self.traces[key]

    def ranges(self):
        a = np.concatenate(self.trace(train=True), 1)
        return a.min(0), a.max(0), a.std(0)

    def cover(self, criteria, *settings, **options):
        more = [part for key, value in options.items() for part in (f"--{key}", value)]
        sets = [part for text in settings for part in ("--set", text)]
        text = plexor("cover", self.model, "--data", self.data, *self.options, "--limit", TEST,
                      "--train", self.data, "--train-limit", TRAIN, "--seed", 0, "--criteria", criteria,
                      *sets, *more, "--json", "--quiet")
        return json.loads(text)["criteria"]


results = []


def check(what, got, wanted):
    count = isinstance(wanted, (int, np.integer))
    good = got == wanted if count else abs(got - wanted) <= TOLERANCE * abs(wanted)
    results.append(good)
    print(f"{'ok' if good else 'not ok'} {len(results)} - {what}: "
          f"{got}{'' if good else f' instead of {wanted}'}", flush=True)


def canonical(name, net):
    x, r = net.trace(), net.ranges()
    got = net.cover("nc,kmnc,nbc,snac,tknc,tknp,cc,nlc,nlc-guided")
    logits, pre = net.trace(layers="logits"), net.trace(tap="pre")
    neurons = sum(a.shape[1] for a in x)
    check(f"{name}, nc", got["nc"]["covered"], nc(x, 0.5))
    check(f"{name}, nc of", got["nc"]["total"], neurons)
    check(f"{name}, kmnc", got["kmnc"]["covered"], kmnc(x, r, 1000))
    check(f"{name}, kmnc of", got["kmnc"]["total"], 1000 * neurons)
    check(f"{name}, nbc", got["nbc"]["covered"], corners(x, r, True))
    check(f"{name}, snac", got["snac"]["covered"], corners(x, r, False))
    check(f"{name}, tknc", got["tknc"]["covered"], tknc(x, 10))
    check(f"{name}, tknp", got["tknp"]["covered"], tknp(x, 50))
    check(f"{name}, cc", got["cc"]["covered"], cc(logits, 10))
    check(f"{name}, nlc", got["nlc"]["value"], nlc(pre))
    check(f"{name}, nlc-guided", got["nlc-guided"]["value"], nlc_guided(pre))


def variants(name, net):
    x, r, pre = net.trace(), net.ranges(), net.trace(tap="pre")
    for variant, neurons in (("scaled", "chan-scaled"), ("rescaled", "chan-rescaled")):
        got = net.cover("nc", "nc.t=0.75", f"nc.variant={variant}")["nc"]
        check(f"{name}, nc {variant}", got["covered"], nc(net.trace(neurons=neurons), 0.75))
    unit = net.trace(neurons="unit")
    got = net.cover("nc", "nc.t=0.5", "nc.variant=suite")["nc"]
    check(f"{name}, nc suite", got["covered"], nc(unit, 0.5, "suite"))
    got = net.cover("nc", "nc.t=0.75", neurons="unit")["nc"]
    check(f"{name}, nc unit", got["covered"], nc(unit, 0.75))
    got = net.cover("nc,tknc,tknp,nlc", "nc.t=0.6", "nc.variant=sigmoid", "tknc.k=2",
                    "tknc.variant=pattern-count", "tknp.k=3", "tknp.variant=ordered", "nlc.norm=sum",
                    "nlc.start=1")
    check(f"{name}, nc sigmoid", got["nc"]["covered"], nc(x, 0.6, "sigmoid"))
    check(f"{name}, tknc patterns", got["tknc"]["covered"], tknc(x, 2, "pattern-count"))
    check(f"{name}, tknp ordered", got["tknp"]["covered"], tknp(x, 3, "ordered"))
    check(f"{name}, nlc sum", got["nlc"]["value"], nlc(pre, "sum", 1))
    for variant in ("ceil", "half-open", "upper-open", "digitize"):
        got = net.cover("kmnc", "kmnc.k=100", f"kmnc.variant={variant}")["kmnc"]
        check(f"{name}, kmnc {variant}", got["covered"], kmnc(x, r, 100, variant))
    for variant in ("ge", "buckets"):
        got = net.cover("nbc,snac", f"nbc.variant={variant}", f"snac.variant={variant}")
        check(f"{name}, nbc {variant}", got["nbc"]["covered"], corners(x, r, True, 0, variant))
        check(f"{name}, snac {variant}", got["snac"]["covered"], corners(x, r, False, 0, variant))
    got = net.cover("nbc,snac,tknc,tknp,cc", "nbc.s=0.5", "snac.s=0.5", "tknc.k=3",
                    "tknc.variant=tail-index", "tknp.k=2", "cc.t=3", layers="hidden")
    check(f"{name}, nbc beyond half a deviation", got["nbc"]["covered"], corners(x, r, True, 0.5))
    check(f"{name}, snac beyond half a deviation", got["snac"]["covered"], corners(x, r, False, 0.5))
    check(f"{name}, tknc from the end", got["tknc"]["covered"], tknc(x, 3, "tail-index"))
    check(f"{name}, tknp of 2", got["tknp"]["covered"], tknp(x, 2))
    check(f"{name}, cc of all layers", got["cc"]["covered"], cc(x, 3.0))


def main():
    if not all(os.path.exists(os.path.join(SHARED, "models", n + ".onnx"))
               and os.path.exists(os.path.join(SHARED, d)) for n, (d, _) in NETWORKS.items()):
        print(f"1..0 # SKIP no real networks and data at '{SHARED}'; set PLEXOR_SHARED")
        return 0
    with tempfile.TemporaryDirectory() as folder:
        net = Network("lenet5", folder)
        canonical("LeNet-5", net)
        variants("LeNet-5", net)
        canonical("ResNet-20", Network("resnet20_cifar10", folder))
    print(f"1..{len(results)}")
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
