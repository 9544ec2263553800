"""Laws that criteria keep, to be tried on one's own: plexor.testing.check_criterion(MyCriterion)."""
import copy
import math

import numpy

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


def check_criterion(cls, *, width=12, rows=64, seed=0, network=None, data=None, **settings):
    """Tries the laws of criteria on random rows; raises an AssertionError that names the first one that does not hold.

    With `network` and `data` the criterion, which must have been added, is also run by plexor: any number of threads
    gives the same value.
    """
    arguments = {n: s.default if isinstance(s, Setting) else float(s) for n, s in cls.settings.items()}
    arguments.update(settings)

    def state(values=None):
        made = cls(width, **arguments)
        if values is not None:
            made.observe(_Rows(values))
        return made
    random = numpy.random.default_rng(seed)
    values = random.normal(size=(rows, width)).astype(numpy.float32)
    values[rows // 2] = values[0]  # one comes twice
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
