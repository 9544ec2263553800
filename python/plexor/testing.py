# SPDX-License-Identifier: Apache-2.0
"""Laws that parts of plexor keep, to be tried on one's own.

    plexor.testing.check_criterion(MyCriterion, network=net, data=data)
    plexor.testing.check_selector(MySelector, network=net, data=data)
    plexor.testing.check_mutation(MyMutation, network=net, data=data)
    plexor.testing.check_source(my_source)

Each raises an AssertionError that names the first law that does not hold.
"""
import copy
import math
import os
import tempfile
from concurrent.futures import ThreadPoolExecutor

import numpy

from . import _commands
from .own import Setting


class _Rows:
    """Rows as C gives them."""

    def __init__(self, values):
        self.values = values
        self.indices = numpy.arange(len(values))
        self.labels = self.indices % 3
        self.predicted = self.indices % 2

    def __len__(self):
        return len(self.values)


def _number(state):
    value = state.value()
    if isinstance(value, tuple):
        covered, total = value
        assert 0 <= covered <= total, f"value: covered {covered} of {total}"
        return float(covered)
    return float(value)


def _near(a, b):
    return math.isclose(a, b, rel_tol=1e-6, abs_tol=1e-9)


def _defaults(cls):
    return {n: s.default if isinstance(s, Setting) else float(s) for n, s in cls.settings.items()}


def _random_rows(width, rows, seed):
    """Rows, one of which comes twice, and the generator that made them."""
    random = numpy.random.default_rng(seed)
    values = random.normal(size=(rows, width)).astype(numpy.float32)
    values[rows // 2] = values[0]
    return values, random


def check_criterion(cls, *, width=12, rows=64, seed=0, network=None, data=None, **settings):
    """Tries the laws of criteria on random rows.

    With `network` and `data` the criterion, which must have been added, is also run by plexor: any number of threads
    gives the same value.
    """
    arguments = {**_defaults(cls), **settings}

    def state(values=None):
        made = cls(width, **arguments)
        if values is not None:
            made.observe(_Rows(values))
        return made
    values, random = _random_rows(width, rows, seed)
    whole, half = _number(state(values)), rows // 2

    assert math.isfinite(_number(state())), "empty: a state that has seen nothing has a value"
    assert _near(_number(state(values)), whole), "the same: two states that saw the same have the same value"
    kept = values.copy()
    state(values)
    assert numpy.array_equal(kept, values), "rows: observe() changes nothing in them"

    parts = state()
    for at in range(0, rows, 7):
        before = _number(parts)
        parts.observe(_Rows(values[at:at + 7]))
        assert _number(parts) >= before - 1e-9, "growth: value() never falls"
    assert _near(_number(parts), whole), "blocks: it does not matter how rows are shared out over observe()"

    a, b = state(values[:half]), state(values[half:])
    saw = _number(b)
    a.merge(b)
    assert _near(_number(a), whole), "merge: two halves make the whole"
    assert _near(_number(b), saw), "merge: the other state does not change"
    a.merge(state())
    assert _near(_number(a), whole), "merge: an empty state adds nothing"
    if not cls.ordered:
        assert _near(_number(state(values[random.permutation(rows)])), whole), "order: it does not matter"
        other = state(values[half:])
        other.merge(state(values[:half]))
        assert _near(_number(other), whole), "merge: it does not matter which one is merged into which"

    some = state(values[:3])
    for row in values[2:half + 6]:
        before = _number(some)
        gain, again = float(some.gain(row)), float(some.gain(row))
        assert gain == again and _number(some) == before, "gain: asking changes nothing"
        after = copy.deepcopy(some)
        after.observe(_Rows(row[None]))
        value, total = after.value(), 1
        if isinstance(value, tuple):  # a gain is one of value(), which is a share then
            total = value[1]
        assert math.isclose(gain, (_number(after) - before) / total, rel_tol=1e-5, abs_tol=1e-7), (
            f"gain: {gain:g} was told, observing the row adds {(_number(after) - before) / total:g}")

    if network is not None:
        found = [network.cover(data, cls.id, threads=n).rows()[0]["value"] for n in (1, 2, 5)]
        assert found[0] == found[1] == found[2], f"threads: 1, 2 and 5 give {found}"


def check_selector(cls, *, width=12, rows=64, seed=0, network=None, data=None, **settings):
    """Tries the laws of selectors on random rows.

    With `network` and `data` the selector, which must have been added, is also run by plexor: any number of threads
    chooses the same inputs.
    """
    values, random = _random_rows(width, rows, seed)
    made = cls(width, **{**_defaults(cls), **settings})

    def scores(of):
        got = numpy.asarray(made.score(_Rows(of)), float)
        assert got.shape == (len(of),), f"shape: score() gave {got.shape} for {len(of)} rows"
        return got
    kept = values.copy()
    whole = scores(values)
    assert numpy.array_equal(kept, values), "rows: score() changes nothing in them"
    assert numpy.isfinite(whole).all(), "finite: a row without NaN and infinity has a score that is neither"
    assert numpy.allclose(scores(values), whole), "the same: asked again, score() gives the same"
    assert numpy.isclose(whole[0], whole[rows // 2]), "the same: equal rows have equal scores"
    alone = numpy.concatenate([scores(values[i:i + 1]) for i in range(rows)])
    assert numpy.allclose(alone, whole), "blocks: a row has the same score alone as among others"
    order = random.permutation(rows)
    assert numpy.allclose(scores(values[order]), whole[order]), "order: it does not matter"
    if network is not None:
        found = [network.select(data, cls.id, budget=20, threads=n).indices.tolist() for n in (1, 2, 5)]
        assert found[0] == found[1] == found[2], "threads: 1, 2 and 5 choose the same inputs"


def _draws(cls, random, count):
    """Values within the bounds of its settings: the lowest, the highest, and some between."""
    settings = {n: s if isinstance(s, Setting) else Setting(float(s)) for n, s in cls.settings.items()}

    def value(setting, share):
        at = setting.min + share * (setting.max - setting.min)
        return int(round(at)) if setting.integer else float(at)
    for i in range(count):
        yield {n: value(s, i if i < 2 else random.random()) for n, s in settings.items()}


def check_mutation(cls, *, shapes=((1, 28, 28), (3, 9, 14), (1, 1, 1)), draws=8, seed=0, network=None, data=None):
    """Tries the laws of mutations on random pictures, with values from all over the range of its settings.

    With `network` and `data` the mutation, which must have been added, also mutates inputs and guides a campaign,
    whose failures are then made again from their chains.
    """
    random, made, changed = numpy.random.default_rng(seed), cls(), False
    for shape in shapes:
        picture = random.integers(0, 256, shape, numpy.uint8)
        given = picture.copy()
        given.flags.writeable = False
        for arguments in _draws(cls, random, draws):
            text = f"{cls.id} {arguments} of {shape}"
            first = numpy.asarray(made.apply(given, **arguments))
            assert first.dtype == numpy.uint8 and first.shape == shape, (
                f"type: {text} gave {first.dtype} of {first.shape}; uint8 of the picture's shape is needed")
            kept = first.copy()
            assert numpy.array_equal(given, picture), f"picture: {text} changed it"
            again = numpy.asarray(cls().apply(given, **arguments))
            assert numpy.array_equal(kept, again), f"the same: {text} gave other pixels when it was asked again"
            changed = changed or not numpy.array_equal(first, picture)
    assert changed, "change: no value of its settings changes any picture"
    if network is not None:
        a, b = (_commands.all_commands()["mutate"].call((data,), {"set": cls.id, "seed": seed}).data.x for _ in range(2))
        assert numpy.array_equal(a, b), "the same: two calls with one seed give the same mutants"
        with tempfile.TemporaryDirectory(prefix="plexor-law-") as folder:
            run = network.fuzz(data, "random", out=os.path.join(folder, "c"), mutations=cls.id, executions=400, seed=seed)
            for failure in run.failures(5):
                replayed = _commands.all_commands()["replay"].call((run.file, str(failure.id)), {})
                assert replayed.ok, f"replay: the chain {failure.chain} gives other pixels than were stored"


def check_source(source, *, threads=4):
    """Tries what Data needs of a source: shape, len(), [i], and label(i) and classes where it has them."""
    shape, count = tuple(source.shape), len(source)
    assert count > 0, "length: there is an input"
    picked = sorted({0, count // 2, count - 1})
    first = {i: numpy.array(source[i]) for i in picked}
    for i, values in first.items():
        assert values.shape == shape, f"shape: input {i} has {values.shape}, {shape} was promised"
        assert numpy.isfinite(values.astype(float)).all(), f"finite: input {i} has a value that is no number"
        if numpy.dtype(getattr(source, "dtype", "float32")) == numpy.uint8:
            assert (values == numpy.asarray(values).astype(numpy.uint8)).all(), f"type: input {i} is not made of bytes"
    with ThreadPoolExecutor(threads) as pool:
        for i, values in zip(picked * threads, pool.map(lambda i: numpy.array(source[i]), picked * threads)):
            assert numpy.array_equal(values, first[i]), f"the same: input {i} differs when several threads ask for it"
    classes = getattr(source, "classes", None)
    if hasattr(source, "label"):
        for i in picked:
            label = int(source.label(i))
            assert label >= -1, f"label: input {i} has {label}; -1 where there is none"
            assert classes is None or label < len(classes), f"label: input {i} has {label}, there are {len(classes)} classes"
