#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Writes tsne_golden.h: scikit-learn's affinities, divergences and trustworthiness of the same points.

    tests/stats/make_tsne.py > tests/stats/tsne_golden.h

The small points are four clouds of 5 dimensions; the large ones the first 300 of scikit-learn's digits (8 x 8, values
0 to 16), which are written out too, a letter from A for each value. Precise affinities come from a root finder in double, beside scikit-learn's, whose
bisection stops at an entropy within 1e-5 and whose distances are float32. Run it with OMP_NUM_THREADS=1 on a busy machine.
"""
import numpy
from scipy.optimize import brentq
from scipy.spatial.distance import pdist, squareform
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.manifold import TSNE, trustworthiness
from sklearn.manifold._t_sne import _joint_probabilities, _joint_probabilities_nn
from sklearn.neighbors import NearestNeighbors

PERPLEXITY = 7.0


def precise(distances):
    n = len(distances)
    given = numpy.zeros((n, n))
    for i in range(n):
        d = numpy.delete(distances[i], i)
        d = d - d.min()

        def miss(u):
            w = numpy.exp(-numpy.exp(u) * d)
            p = w / w.sum()
            return -(p[p > 0] * numpy.log(p[p > 0])).sum() - numpy.log(PERPLEXITY)

        u = brentq(miss, -20.0, 20.0, xtol=1e-14)
        w = numpy.exp(-numpy.exp(u) * d)
        given[i, numpy.arange(n) != i] = w / w.sum()
    return (given + given.T) / (2 * n)


def array(name, values, form="%.9g", kind="double"):
    values = numpy.asarray(values).ravel()
    lines, line = [], ""
    for v in values:
        word = form % v
        if kind == "float" and "." not in word and "e" not in word:
            word += ".0"
        word += "f," if kind == "float" else ","
        if len(line) + len(word) > 94:
            lines.append(line)
            line = ""
        line += (" " if line else "") + word
    lines.append(line)
    print("static const %s %s[%d] = {\n    %s};\n" % (kind, name, len(values), "\n    ".join(lines)))


def main():
    rng = numpy.random.RandomState(11)
    n = 40
    x = (rng.randn(4, 5)[numpy.arange(n) % 4] * 2 + rng.randn(n, 5)).astype(numpy.float32)
    distances = squareform(pdist(x.astype(numpy.float64), "sqeuclidean"))
    print("/* tests/stats/tsne_golden.h - written by make_tsne.py; not to be edited */\n/* clang-format off */\n")
    print("enum { golden_n = %d, golden_d = 5, golden_near = 21 };" % n)
    print("static const double golden_perplexity = %.1f;\n" % PERPLEXITY)
    array("golden_x", x, "%.9g", "float")
    lower = numpy.tril_indices(n, -1)
    array("golden_p", precise(distances)[lower], "%.12g")
    array("golden_sklearn_p", squareform(_joint_probabilities(distances, PERPLEXITY, 0))[lower], "%.9g")
    graph = NearestNeighbors(n_neighbors=21, algorithm="brute").fit(x.astype(numpy.float64)).kneighbors_graph(mode="distance")
    graph.data **= 2
    array("golden_sklearn_near_p", _joint_probabilities_nn(graph, PERPLEXITY, 0).toarray()[lower], "%.9g")
    pca = PCA(3, svd_solver="full").fit(x.astype(numpy.float64))
    array("golden_variance", pca.explained_variance_, "%.12g")
    array("golden_scores", pca.transform(x.astype(numpy.float64)), "%.12g")

    digits = load_digits().data[:300].astype(numpy.float32)
    print("enum { digits_n = 300, digits_d = 64 };\nstatic const char *const golden_digits[digits_n] = {")
    for row in digits:
        print('    "%s",' % "".join(chr(65 + int(v)) for v in row))
    print("};\n")
    plane = PCA(2, svd_solver="full").fit_transform(digits.astype(numpy.float64))
    print("static const double golden_trust5 = %.12g, golden_trust12 = %.12g; /* of the first two components */"
          % (trustworthiness(digits.astype(numpy.float64), plane, n_neighbors=5),
             trustworthiness(digits.astype(numpy.float64), plane, n_neighbors=12)))
    for method in ("exact", "barnes_hut"):
        peer = TSNE(n_components=2, perplexity=30, n_iter=1000, early_exaggeration=12, learning_rate="auto", init="pca",
                    method=method, random_state=0, n_jobs=1)
        y = peer.fit_transform(digits)
        print("static const double golden_%s_kl = %.9g, golden_%s_trust = %.9g;"
              % (method, peer.kl_divergence_, method, trustworthiness(digits, y, n_neighbors=5)))


if __name__ == "__main__":
    main()
