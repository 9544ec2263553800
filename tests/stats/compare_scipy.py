#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Compares every statistic with scipy's on 200 random cases.

    compare_scipy.py STATS_CASES    prints TAP; skips where scipy is absent

What scipy does not have is formed from what it has (A12 from its U, McNemar from its binomial test and chi-square
tail).
"""
import subprocess
import sys
import warnings

try:
    import numpy as np
    from scipy import optimize, stats
except ImportError as missing:
    print("1..0 # SKIP needs python3-scipy:", missing)
    sys.exit(0)

warnings.simplefilter("ignore")
CASES = 200
SIDES = ("two-sided", "greater", "less")
random = np.random.default_rng(8)


def column(n, grid):
    """Numbers with ties where grid is not 0."""
    return random.integers(0, grid, n).astype(float) if grid else random.normal(size=n)


def sizes(least, most):
    return int(random.integers(least, most + 1))


def grid_or_none():
    return int(random.choice([0, 0, 3, 8]))


def pairs(function):
    def make():
        n, grid = sizes(6, 60), grid_or_none()  # fewer may lie on a line, where p has no digits
        x = column(n, grid)
        y = column(n, grid) + random.normal() * x
        return (0, 0, x, y), function(x, y)
    return make


def pointbiserial():
    n = sizes(4, 60)
    flags, values = random.integers(0, 2, n).astype(float), column(n, grid_or_none())
    flags[:2] = 0, 1
    return (0, 0, flags, values), stats.pointbiserialr(flags > 0.5, values)


def mannwhitneyu():
    n1, n2, grid, side = sizes(1, 30), sizes(1, 30), grid_or_none(), sizes(0, 2)
    a, b = column(n1, grid) + (random.normal() if not grid else sizes(0, 2)), column(n2, grid)
    normal = sizes(0, 1)
    ties = len(set(a) | set(b)) < n1 + n2
    exact = not normal and not ties and n1 <= 20 and n2 <= 20
    r = stats.mannwhitneyu(a, b, alternative=SIDES[side], method="exact" if exact else "asymptotic")
    return (side, normal, a, b), (r.statistic, 1.0 if np.isnan(r.pvalue) else r.pvalue)


def wilcoxon():
    n, grid, side, normal = sizes(2, 80), grid_or_none(), sizes(0, 2), sizes(0, 1)
    a, b = column(n, grid), column(n, grid)
    a += sizes(0, 1) if grid else random.normal() / 2
    d = (a - b)[a != b]
    exact = not normal and n <= 50 and len(d) == n and len(set(abs(d))) == n
    if len(d) == 0:
        return (side, normal, a, b), (0.0, 1.0)
    r = stats.wilcoxon(a, b, correction=True, alternative=SIDES[side], mode="exact" if exact else "approx")
    return (side, normal, a, b), r


def a12():
    n1, n2, grid = sizes(1, 40), sizes(1, 40), grid_or_none()
    a, b = column(n1, grid), column(n2, grid)
    return (0, 0, a, b), [stats.mannwhitneyu(a, b, method="asymptotic").statistic / (n1 * n2)]


def mcnemar():
    b, c = sizes(0, 60), sizes(1, 60)
    chi2 = max(0, abs(b - c) - 1) ** 2 / (b + c)
    return (0, 0, [b, c], []), (stats.chi2.sf(chi2, 1), stats.binomtest(b, b + c).pvalue)


def tight(function, start, args=(), disp=0):
    """Nelder-Mead until little moves; scipy's own stopping rule leaves four digits."""
    return optimize.fmin(function, start, args=args, disp=0, xtol=1e-9, ftol=1e-11)


def weibull():
    n, c, s = sizes(5, 100), np.exp(random.uniform(-1, 3)), np.exp(random.normal())
    v = stats.weibull_min.rvs(c, scale=s, size=n, random_state=random)
    shape, _, scale = stats.weibull_min.fit(v, floc=0, optimizer=tight)
    return (0, 0, v, []), (shape, scale, np.sum(stats.weibull_min.logpdf(v, shape, scale=scale)))


def reverse():
    """scipy's own search for three parameters gets lost; what it says of ours is what can be compared."""
    n, c, s = sizes(20, 300), random.uniform(1.5, 12), np.exp(random.normal())
    return (0, 0, stats.weibull_max.rvs(c, loc=10, scale=s, size=n, random_state=random), []), None


def kolmogorov():
    n = int(np.exp(random.uniform(0, np.log(141))))  # scipy approximates beyond 140
    d = min(0.99, max(0.5 / n, random.uniform(0.3, 2.5) / np.sqrt(n)))
    return (0, 0, [d, n], []), [stats.kstwo.sf(d, n)]


def quantile():
    v, p = column(sizes(1, 60), grid_or_none()), random.random()
    return (0, 0, v, [p]), [np.quantile(v, p)]


KINDS = {  # made by, relative error that is allowed
    "pearson": (pairs(stats.pearsonr), 1e-7),
    "spearman": (pairs(stats.spearmanr), 1e-7),
    "pointbiserial": (pointbiserial, 1e-7),
    "mannwhitneyu": (mannwhitneyu, 1e-11),
    "wilcoxon": (wilcoxon, 1e-11),
    "a12": (a12, 1e-14),
    "mcnemar": (mcnemar, 1e-9),
    "weibull": (weibull, 1e-6),
    "reverse": (reverse, 1e-9),
    "kolmogorov": (kolmogorov, 1e-6),
    "quantile": (quantile, 1e-13),
}


def reverse_good(case, got):
    """The likelihood, distance and p of the fit are scipy's, and no scipy start finds a better one with shape >= 1."""
    note, end, shape, scale, likelihood, ks, p = got
    values = np.array(case[2])
    if note == 2:  # no maximum in reach
        return True
    own = stats.weibull_max(shape, loc=end, scale=scale)
    test = stats.kstest(values, own.cdf)
    good = np.allclose([likelihood, ks], [np.sum(own.logpdf(values)), test.statistic], rtol=1e-7)
    good &= np.isclose(p, test.pvalue, rtol=1e-6 if len(values) <= 140 else 1e-3)  # scipy approximates beyond 140
    best = max(np.sum(stats.weibull_max.logpdf(values, shape * f, loc=end + m, scale=scale * f + m))
               for f in (0.97, 1, 1.03) for m in np.array([-0.02, 0, 0.02]) * (end - values.max()))
    return good and likelihood >= best - 1e-9 * abs(best)


def line(name, case):
    side, normal, a, b = case
    numbers = " ".join("%.17g" % x for x in list(a) + list(b))
    return "%s %d %d %d %d %s\n" % (name, side, normal, len(a), len(b), numbers)


def main():
    print("1..%d" % len(KINDS))
    failed = False
    for i, (name, (make, allowed)) in enumerate(KINDS.items(), 1):
        made = [make() for _ in range(CASES)]
        text = "".join(line(name, case) for case, _ in made)
        out = subprocess.run([sys.argv[1]], input=text, capture_output=True, text=True, check=True).stdout.splitlines()
        worst, bad = 0.0, len(out) != CASES
        for (case, want), answer in zip(made, out):
            got = [float(x) for x in answer.split()]
            if want is None:
                good = reverse_good(case, got)
            else:
                want = np.asarray(list(want), float)
                error = np.max(np.abs(got - want) / np.maximum(np.abs(want), 1e-8)) if len(got) == len(want) else np.inf
                error = 0.0 if len(got) == len(want) and np.array_equal(got, want, equal_nan=True) else error
                worst = max(worst, error)
                good = error <= allowed
            if not good:
                bad = True
                print("# %s: %s, not %s" % (line(name, case)[:200].strip(), got, want))
        failed |= bad
        print("%s %d - %s: %d cases, worst relative error %.1e" % ("not ok" if bad else "ok", i, name, CASES, worst))
    return failed


if __name__ == "__main__":
    sys.exit(main())
