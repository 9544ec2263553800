# SPDX-License-Identifier: Apache-2.0
"""Results as pictures by matplotlib."""
import numpy

_Y = {"attack": "robust_accuracy", "eval": "accuracy", "cover": "value"}


def _axes(axes):
    import matplotlib.pyplot as plt  # pylint: disable=import-outside-toplevel
    return axes if axes is not None else plt.subplots(figsize=(6, 4))[1]


def plot(result, axes=None):
    axes = _axes(axes)
    draw = {"eval": _confusion, "localize": _suspicious, "train": _history, "cover": _bars}.get(result.name, _bars)
    draw(result, axes)
    axes.set_title(f"plexor {result.name}")
    return axes


def _confusion(result, axes):
    matrix = numpy.asarray(result.confusion, float)
    rows = matrix / numpy.maximum(matrix.sum(axis=1, keepdims=True), 1)
    axes.imshow(rows, cmap="Blues", vmin=0, vmax=1)
    names = result.per_class["name"]
    axes.set_xticks(range(len(names)), names, rotation=90, fontsize=8)
    axes.set_yticks(range(len(names)), names, fontsize=8)
    axes.set_xlabel("predicted")
    axes.set_ylabel("label")
    if len(names) <= 20:
        for i, j in zip(*numpy.nonzero(matrix)):
            axes.text(j, i, int(matrix[i, j]), ha="center", va="center", fontsize=7,
                      color="white" if rows[i, j] > 0.5 else "black")


def _suspicious(result, axes):
    best = {}  # of all classes for which it is suspicious
    for row in result.rows():
        name = f"{row['layer']} {row['unit']}"
        best[name] = max(best.get(name, 0), row.get("score") or 0)
    names = sorted(best, key=best.get)[-20:]
    axes.barh(names, [best[n] for n in names], color="#c0392b")
    axes.set_xlabel(f"suspiciousness ({result.measure})")
    axes.tick_params(axis="y", labelsize=7)


def _history(result, axes):
    rows = result.rows()
    for key in ("loss", "test_loss"):
        points = [(r["epoch"], r[key]) for r in rows if r.get(key) is not None]
        if points:
            axes.plot(*zip(*points), marker="o", label=key)
    axes.set_xlabel("epoch")
    axes.legend()


def _bars(result, axes):
    rows = result.rows()
    label = next((k for k, v in rows[0].items() if isinstance(v, str)), None) if rows else None
    value = _Y.get(result.name) if rows and _Y.get(result.name) in rows[0] else next(
        (k for k, v in (rows[0] if rows else {}).items() if isinstance(v, (int, float)) and not isinstance(v, bool)), None)
    if value is None or len(rows) < 2 and result.name != "cover":
        raise ValueError(f"the result of {result.name}() has nothing that a picture would show better than its table")
    rows = rows[:30][::-1]
    axes.barh([str(r.get(label, i)) for i, r in enumerate(rows)], [r.get(value) or 0 for r in rows], color="#2a78b5")
    axes.set_xlabel(value)


def sweep(runs, y=None, axes=None):
    axes = _axes(axes)
    y = y or _Y.get(runs.name)
    rows = runs.rows()
    if y not in rows[0]:
        names = ", ".join(k for k, v in rows[0].items() if isinstance(v, (int, float)))
        raise ValueError(f"no '{y}' to draw; there are {names}")

    def value(of):
        top, _, bottom = str(of).partition("/")
        return float(top) / float(bottom or 1)
    axes.plot([value(v) for v in runs.values], [r[y] for r in rows], marker="o", color="#2a78b5")
    axes.set_xlabel(runs.option)
    axes.set_ylabel(y)
    axes.set_title(f"plexor {runs.name}")
    return axes
