#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Surprise adequacy on traces of real networks, worked out again with numpy, scipy and scikit-learn.

    compare_surprise.py PLEXOR SURPRISE_SCORES [--quick]        prints TAP

LeNet-5 on MNIST and ResNet-20 on CIFAR-10. LSA against scipy.stats.gaussian_kde, DSA against
scikit-learn's pairwise_distances and a full search in double, MDSA against an inverse by numpy, MLSA
against GaussianMixture (with two components a fit may end elsewhere: what must agree is the likelihood), the
number of clusters of MMDSA against KMeans and silhouette_score. One thread and two give the same bytes.
Nearest neighbours must be equal, values within 1e-6 (the singular covariances of dead neurons: within
1e-4). Networks and data lie in $PLEXOR_SHARED or ../shared; without them, or without the libraries,
everything is skipped and that is said.
"""
import json
import os
import subprocess
import sys
import tempfile

try:
    import numpy as np
    import scipy.stats
    from sklearn.cluster import KMeans
    from sklearn.metrics import pairwise_distances, silhouette_score
    from sklearn.mixture import GaussianMixture
except ImportError as missing:
    print("1..0 # SKIP needs python3-numpy, python3-scipy and python3-sklearn:", missing)
    sys.exit(0)

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", "..", ".."))
SHARED = os.environ.get("PLEXOR_SHARED") or os.path.join(os.path.dirname(ROOT), "shared")
PLEXOR, SCORES = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
QUICK = "--quick" in sys.argv[3:]
TEST, TRAIN = (100, 1000) if QUICK else (500, 4000)

NETWORKS = {
    "lenet5": ("data/mnist", []),
    "resnet20_cifar10": ("data/cifar10/cifar10-jpeg.tar.xz",
                         ["--mean", "0.485,0.456,0.406", "--std", "0.229,0.224,0.225"]),
}


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr.strip())
    return done.stdout


def traces(name, split, count, folder):
    data, options = NETWORKS[name]
    path = os.path.join(folder, f"{name}-{split}.npz")
    run(PLEXOR, "trace", os.path.join(SHARED, "models", name + ".onnx"), "--data",
        os.path.join(SHARED, data), "--split", split, "--limit", str(count), "--layers", "last-hidden",
        "--quiet", "-o", path, *options)
    arrays = np.load(path)
    layer = [n for n in arrays.files if n not in ("labels", "predictions", "indices", "meta")]
    out = {"traces": arrays[layer[0]].astype(np.float32),
           "predictions": arrays["predictions"].astype(np.int64)}
    np.savez(path, **out)
    return path, out


def ours(method, train, test, folder, threads=1):
    out = os.path.join(folder, f"{method}-{threads}.npz")
    facts = json.loads(run(SCORES, method, train, test, out, str(threads), "1"))
    return np.load(out), facts, open(out, "rb").read()


# --- the definitions ------------------------------------------------------------------------------


def classes(train):
    return [c for c in np.unique(train["predictions"])]


def each_class(train, test):
    for c in classes(train):
        own = train["traces"][train["predictions"] == c].astype(np.float64)
        at = np.flatnonzero(test["predictions"] == c)
        if len(at):
            yield c, own, at, test["traces"][at].astype(np.float64)


def lsa(train, test):
    keep = np.ones(train["traces"].shape[1], bool)
    for c in classes(train):
        own = train["traces"][train["predictions"] == c].astype(np.float64)
        if len(own) > 1:
            keep &= own.var(0) >= 1e-5
    out = np.full(len(test["traces"]), np.inf)
    for _, own, at, x in each_class(train, test):
        if len(own) > keep.sum():
            out[at] = -scipy.stats.gaussian_kde(own[:, keep].T).logpdf(x[:, keep].T)
    return out


def dsa(train, test):
    nearest = np.full(len(test["traces"]), -1)
    a, b = np.full(len(nearest), np.nan), np.full(len(nearest), np.nan)
    for c, _, at, x in each_class(train, test):
        rows = np.flatnonzero(train["predictions"] == c)
        others = train["traces"][train["predictions"] != c].astype(np.float64)
        own = train["traces"][rows].astype(np.float64)
        for i, row in zip(at, x):
            d = np.sqrt(((own - row) ** 2).sum(1))
            nearest[i] = rows[np.argmin(d)]
            a[i] = d.min()
            b[i] = np.sqrt(((others - own[np.argmin(d)]) ** 2).sum(1)).min()
    return nearest, a, b


def mdsa(train, test):
    """Of regular covariances, and of singular ones with the ridge; NaN: neither for certain."""
    regular, ridged = np.full(len(test["traces"]), np.nan), np.full(len(test["traces"]), np.nan)
    for _, own, at, x in each_class(train, test):
        cov = np.cov(own.T, bias=True)
        d, y = len(cov), x - own.mean(0)
        singular = len(own) <= d or (own.var(0) == 0).any()
        if singular:
            cov = cov + 1e-6 * np.trace(cov) / d * np.eye(d)
        elif np.linalg.eigvalsh(cov)[0] < 1e-10 * np.trace(cov):
            continue
        (ridged if singular else regular)[at] = np.sqrt(
            np.einsum("ij,jk,ik->i", y, np.linalg.inv(cov), y))
    return regular, ridged


# --- comparisons: None, or what is wrong ----------------------------------------------------------


def differ(got, want, tolerance, what):
    usable = np.isfinite(want)
    if not usable.any():
        return f"{what}: nothing to compare"
    error = np.abs(got[usable] - want[usable]) / np.maximum(np.abs(want[usable]), 1e-3)
    worst = error.max()
    print(f"# {what}: {usable.sum()} values, worst relative difference {worst:.2g}")
    return f"{what}: {worst:.3g} apart" if worst > tolerance else None


def check_lsa(train, test, files, folder):
    got, _, _ = ours("lsa", *files, folder)
    return differ(got["scores"], lsa(train, test), 1e-6, "lsa")


def check_dsa(train, test, files, folder):
    got, _, _ = ours("dsa", *files, folder)
    nearest, a, b = dsa(train, test)
    if (got["nearest"] != nearest).any():
        return f"{(got['nearest'] != nearest).sum()} nearest traces differ"
    for c, own, at, x in each_class(train, test): # and as scikit-learn has them, in its precision
        near = pairwise_distances(x, own).min(1)
        if np.abs(near - got["dist_a"][at]).max() > 1e-6 * near.max():
            return f"class {c}: scikit-learn's distances differ"
    return (differ(got["dist_a"], a, 1e-12, "dist_a") or differ(got["dist_b"], b, 1e-12, "dist_b")
            or differ(got["scores"], a / b, 1e-12, "dsa"))


def check_mdsa(train, test, files, folder):
    got, _, _ = ours("mdsa", *files, folder)
    regular, ridged = mdsa(train, test)
    wrong = differ(got["scores"], regular, 1e-6, "mdsa") if np.isfinite(regular).any() else None
    if not wrong and np.isfinite(ridged).any():
        wrong = differ(got["scores"], ridged, 1e-4, "mdsa with a ridge")
    return wrong


def check_mlsa(train, test, files, folder):
    got, _, _ = ours("mlsa", *files, folder)
    d = train["traces"].shape[1]
    worse = []
    for _, own, at, x in each_class(train, test):
        if len(own) < 2 * (d + 1):
            continue
        model = GaussianMixture(2, covariance_type="full", reg_covar=1e-6, tol=1e-3, n_init=3,
                                random_state=0).fit(own)
        worse.append((got["scores"][at].mean() + model.score(x)) / abs(model.score(x)))
    if not worse:
        return None
    print(f"# mlsa: mean -log density against GaussianMixture's: {min(worse):+.3f} .. {max(worse):+.3f}")
    return None if np.median(worse) < 0.25 else f"mlsa: {worse}"


def check_mlsa_of_one(train, test, files, folder):
    """With one component there is one answer."""
    got, _, _ = ours("mlsa:1", *files, folder)
    want = np.full(len(test["traces"]), np.nan)
    for _, own, at, x in each_class(train, test):
        model = GaussianMixture(1, covariance_type="full", reg_covar=1e-6).fit(own)
        want[at] = -model.score_samples(x)
    return differ(got["scores"], want, 1e-6, "mlsa of one component")


def check_mmdsa(train, test, files, folder):
    got, facts, _ = ours("mmdsa", *files, folder)
    x = train["traces"].astype(np.float64)
    best = {}
    for k in (2, 3, 4, 5):
        model = KMeans(k, n_init=10, random_state=0).fit(x)
        best[k] = (silhouette_score(x[::3], model.labels_[::3]), model)
    print("# silhouettes", {k: round(float(v[0]), 4) for k, v in best.items()}, "ours", facts["clusters"])
    top = max(v[0] for v in best.values())
    if best[facts["clusters"]][0] < top - 0.02: # a sample may prefer one that is as good
        return f"{facts['clusters']} clusters, silhouettes {[(k, v[0]) for k, v in best.items()]}"
    return None if np.isfinite(got["scores"]).all() else "not finite"


def check_threads(train, test, files, folder):
    for method in ("lsa", "dsa", "mdsa", "mlsa", "mmdsa"):
        one, two = ours(method, *files, folder, 1)[0], ours(method, *files, folder, 2)[0]
        if one["scores"].tobytes() != two["scores"].tobytes():
            return f"{method}: one thread and two differ"
    return None


def main():
    missing = [n for n in NETWORKS if not os.path.exists(os.path.join(SHARED, "models", n + ".onnx"))]
    if missing:
        print("1..0 # SKIP no trained networks in ../shared or $PLEXOR_SHARED")
        return 0
    checks = [check_lsa, check_dsa, check_mdsa, check_mlsa, check_mlsa_of_one, check_mmdsa, check_threads]
    print(f"1..{len(checks) * len(NETWORKS)}")
    failed, number = 0, 0
    with tempfile.TemporaryDirectory() as folder:
        for name in NETWORKS:
            train_file, train = traces(name, "train", TRAIN, folder)
            test_file, test = traces(name, "test", TEST, folder)
            for check in checks:
                number += 1
                try:
                    wrong = check(train, test, (train_file, test_file), folder)
                except Exception as trouble: # a case must not take the others along
                    wrong = repr(trouble)
                failed += wrong is not None
                print(f"{'not ok' if wrong else 'ok'} {number} - {name}: {check.__name__[6:]}")
                if wrong:
                    print("#", wrong)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
