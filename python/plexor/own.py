# SPDX-License-Identifier: Apache-2.0
"""Criteria, selectors and mutations of one's own, written in Python.

    class Peak(px.Criterion):
        id, title, unit = "peak", "largest value of any neuron", "values"
        settings = {"least": px.Setting(0.0, "what is below counts as this")}

        def __init__(self, width, least):
            self.peak = least
        def observe(self, rows):
            self.peak = rows.values.max(initial=self.peak)
        def gain(self, row):
            return max(0.0, row.max() - self.peak)
        def merge(self, other):
            self.peak = max(self.peak, other.peak)
        def value(self):
            return self.peak

    px.add_criterion(Peak)
    net.cover(data, ["nc", "peak"], set={"peak.least": 0.5})
    net.fuzz(data, guide="peak", out="run.campaign")

From then on commands, lists and settings know it, for as long as the process lives. plexor.testing.check_criterion(Peak)
tries whether it keeps the laws that criteria have. Functions are called from plexor's workers, one at a time: Python has
one lock for all threads.
"""
import ctypes
import itertools
import sys
import threading
from ctypes import POINTER, c_bool, c_char_p, c_double, c_float, c_int, c_int64, c_size_t, c_uint, c_uint8, c_uint64, c_void_p
from typing import NamedTuple

import numpy

from . import _library as c
from .errors import UnsupportedError, UsageError, causes, error_of

MADE_FOR = "0.1.0"  # whose <plexor/extend.h> the structs below are: unlike the door, they may change
_USAGE = 1


# --- <plexor/extend.h> in ctypes -------------------------------------------------------------------

class _Param(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("default", c_double), ("min", c_double), ("max", c_double), ("type", c_int),
                ("choices", c_void_p), ("help", c_char_p), ("none", c_bool), ("offset", c_size_t),
                ("size", c_size_t)]


class _Entry(ctypes.Structure):
    _fields_ = [("id", c_char_p), ("title", c_char_p), ("source", c_char_p), ("params", POINTER(_Param)),
                ("config_size", c_size_t)]


class _Facts(ctypes.Structure):
    _fields_ = [("index", c_int64), ("label", c_int64), ("predicted", c_int), ("confidence", c_float)]


class _Rows(ctypes.Structure):
    _fields_ = [("count", c_int64), ("width", c_int64), ("values", POINTER(c_float)), ("facts", POINTER(_Facts)),
                ("rejected", POINTER(c_bool))]


class _Extractor(ctypes.Structure):  # its first members
    _fields_ = [("kind", c_void_p), ("key", c_char_p), ("definition", c_char_p), ("width", c_int64)]


class _Coverage(ctypes.Structure):
    _fields_ = [("value", c_double), ("covered", c_int64), ("total", c_int64)]


_Tell = ctypes.CFUNCTYPE(None, c_void_p, POINTER(_Coverage))


class _ToldState(ctypes.Structure):
    _fields_ = [("tell", _Tell)]


class _CriterionRequest(ctypes.Structure):
    _fields_ = [("model", c_void_p), ("extractor", POINTER(_Extractor)), ("config", POINTER(c_double)),
                ("profile", c_void_p), ("learned", c_void_p), ("classes", c_int), ("seed", c_uint64),
                ("threads", c_int)]


_INT = 1  # of px_param_type


class _SelectorRequest(ctypes.Structure):  # its first members
    _fields_ = [("model", c_void_p), ("extractor", POINTER(_Extractor)), ("config", POINTER(c_double))]


_error = POINTER(c.CError)
_PrepareCriterion = ctypes.CFUNCTYPE(c_int, POINTER(_CriterionRequest), POINTER(c_void_p), _error)
_PrepareSelector = ctypes.CFUNCTYPE(c_int, POINTER(_SelectorRequest), POINTER(c_void_p), _error)
_Release = ctypes.CFUNCTYPE(None, c_void_p)
_Open = ctypes.CFUNCTYPE(c_int, c_void_p, POINTER(c_void_p), _error)
_Observe = ctypes.CFUNCTYPE(c_int, c_void_p, POINTER(_Rows), _error)
_Gain = ctypes.CFUNCTYPE(c_double, c_void_p, POINTER(_Rows), c_int64)
_Merge = ctypes.CFUNCTYPE(c_int, c_void_p, c_void_p, _error)
_Score = ctypes.CFUNCTYPE(c_int, c_void_p, c_void_p, POINTER(_Rows), POINTER(c_double), _error)


class _CCriterion(ctypes.Structure):
    _fields_ = [("entry", _Entry), ("unit", c_char_p), ("learners", c_void_p), ("layers", c_char_p), ("tap", c_int),
                ("neurons", c_int), ("ordered", c_bool), ("classes", c_bool), ("choose", c_void_p),
                ("extract", c_void_p), ("prepare", _PrepareCriterion), ("release", _Release), ("open", _Open),
                ("close", _Release), ("observe", _Observe), ("gain", _Gain), ("merge", _Merge), ("value", c_void_p),
                ("layer_value", c_void_p), ("neurons_covered", c_void_p), ("remark", c_void_p), ("save", c_void_p),
                ("load", c_void_p)]


class _CSelector(ctypes.Structure):
    _fields_ = [("entry", _Entry), ("learners", c_void_p), ("layers", c_char_p), ("tap", c_int), ("neurons", c_int),
                ("needs", c_uint), ("choose", c_void_p), ("extract", c_void_p), ("no_rows", c_bool),
                ("bytes", c_void_p), ("prepare", _PrepareSelector), ("release", _Release), ("open", c_void_p),
                ("close", c_void_p), ("score", _Score), ("kept", c_void_p), ("run", c_void_p),
                ("arrange", c_void_p), ("remark", c_void_p), ("result", c_void_p)]


_Apply = ctypes.CFUNCTYPE(c_int, POINTER(c_double), POINTER(c_uint8), POINTER(c_uint8), c_int, c_int, c_int, _error)


class _CMutation(ctypes.Structure):
    _fields_ = [("entry", _Entry), ("group", c_int), ("differentiable", c_bool), ("apply", _Apply),
                ("apply_near", c_void_p), ("apply_drawn", c_void_p), ("apply_samples", c_void_p), ("source", c_void_p)]


# --- what is written in Python ----------------------------------------------------------------------

class Setting(NamedTuple):
    """A number that --set changes: its default, what it is, and what it may be."""
    default: float
    help: str = ""
    min: float = -1e30
    max: float = 1e30
    integer: bool = False


class OwnRows:
    """Rows that a part is given, each what the network's neurons did on one input; none has a NaN or an infinity.

    values: float32 [n, width], plexor's own memory, only for the time of the call; indices of the inputs in the data;
    labels and predicted classes, -1 where there is none.
    """

    def __init__(self, rows):
        count, width = rows.count, rows.width
        values = numpy.ctypeslib.as_array(rows.values, (count, width))
        facts = numpy.ctypeslib.as_array(ctypes.cast(rows.facts, POINTER(ctypes.c_uint8)),
                                         (count * ctypes.sizeof(_Facts),)).view(_FACTS)
        rejected = numpy.ctypeslib.as_array(rows.rejected, (count,))
        self.kept = numpy.flatnonzero(~rejected) if rejected.any() else slice(None)
        self.values = values[self.kept]
        facts = facts[self.kept]
        self.indices, self.labels, self.predicted = facts["index"], facts["label"], facts["predicted"]

    def __len__(self):
        return len(self.values)


_FACTS = numpy.dtype([("index", "i8"), ("label", "i8"), ("predicted", "i4"), ("confidence", "f4")])


class Criterion:
    """A coverage criterion: subclass it, and give it to add_criterion(). An object is the state of one worker.

    id, title, unit (what it counts), source (a paper), settings {name: Setting or number}; layers: which neurons, as
    --layers has it; ordered: depends on the order of inputs. value() is a number, or (covered, total).
    """
    id = title = None
    unit = "values"
    source = layers = None
    settings: dict = {}
    ordered = False

    def __init__(self, width, **settings):
        raise NotImplementedError

    def observe(self, rows):
        raise NotImplementedError

    def gain(self, row):
        """What observing this row alone would add to value(), with nothing changed."""
        raise NotImplementedError

    def merge(self, other):
        raise NotImplementedError

    def value(self):
        raise NotImplementedError


class Selector:
    """A selector: subclass it, and give it to add_selector(). One object scores all candidates of a call.

    id, title, source, settings, layers as those of a Criterion. score(rows) gives a number for each row, the higher the
    better, and depends on nothing but the row.
    """
    id = title = None
    source = layers = None
    settings: dict = {}

    def __init__(self, width, **settings):
        raise NotImplementedError

    def score(self, rows):
        raise NotImplementedError


class Mutation:
    """A change of pictures: subclass it, and give it to add_mutation().

    id, title, source as those of a Criterion; settings (at most four) have bounds, which fuzzing draws from; one named
    "seed" is drawn anew each time. affine: moves content, which a lineage has once at most. apply() depends on nothing
    but what it is given; workers call it one at a time.
    """
    id = title = None
    source = None
    settings: dict = {}
    affine = False

    def apply(self, picture, **settings):
        """The mutant of a picture: uint8 [channels, height, width] to the same; `picture` is read only."""
        raise NotImplementedError


class _Part:
    """What C calls, for one class; kept for good, as the library does."""

    def __init__(self, cls, what):
        for name in ("id", "title"):
            if not isinstance(getattr(cls, name, None), str) or not getattr(cls, name):
                raise UsageError(f"a {what} needs a text {name}: {cls.__name__} has none")
        if c.version() != MADE_FOR:
            raise UnsupportedError(f"{what}s in Python need the library {MADE_FOR}, this is {c.version()}; install both "
                                   "from one release")
        self.cls, self.what = cls, what
        self.settings = {n: s if isinstance(s, Setting) else Setting(float(s)) for n, s in cls.settings.items()}
        self.numbers, self.made, self.lock = itertools.count(1), {}, threading.Lock()
        in_config = what != "mutation"  # whose values lie in an array of their own
        params = [_Param(n.encode(), s.default, s.min, s.max, _INT if s.integer else 0, None, (s.help or n).encode(),
                         False, 8 * i * in_config, 8 * in_config)
                  for i, (n, s) in enumerate(self.settings.items())] + [_Param()]
        self.params = (_Param * len(params))(*params)
        self.entry = _Entry(cls.id.encode(), cls.title.encode(), cls.source.encode() if cls.source else None,
                            self.params, 8 * max(len(self.settings), 1))

    def prepare(self, request, out, error):
        """What a state is made with, under a number that C takes for a pointer."""
        def work():
            asked = request[0]
            whole = ctypes.cast(asked.config, POINTER(c_int64))
            arguments = {n: (whole if s.integer else asked.config)[i] for i, (n, s) in enumerate(self.settings.items())}
            number = next(self.numbers)
            self.made[number] = (asked.extractor[0].width, arguments)
            out[0] = number
        return self.guard(work, error)

    def release(self, number):
        self.made.pop(number, None)

    def guard(self, work, error):
        """Runs it; what it raises becomes a status, and the cause of the exception of the call."""
        try:
            work()
            return 0
        except BaseException as failure:  # pylint: disable=broad-except; C has no exceptions
            message = f"{self.what} '{self.cls.id}' in Python: {type(failure).__name__}: {failure}"[:480]
            causes.append((message, failure))
            if error:
                error[0].status = _USAGE
                error[0].message = message.encode("utf-8", "replace")[:511]
            return _USAGE

    def unraisable(self, where):
        """Where C takes no status: Python's way to say it."""
        kind, failure, trace = sys.exc_info()
        sys.unraisablehook(type("Unraisable", (), {"exc_type": kind, "exc_value": failure, "exc_traceback": trace,
                                                   "err_msg": f"{where}() of {self.what} '{self.cls.id}'",
                                                   "object": self.cls})())


class _CriterionPart(_Part):
    def __init__(self, cls):
        super().__init__(cls, "criterion")
        self.states = {}
        self.tell_function = _Tell(self.tell)
        told = ctypes.cast(c.lib.px_criterion_told, c_void_p)
        self.c = _CCriterion(entry=self.entry, unit=cls.unit.encode(), ordered=cls.ordered,
                             layers=cls.layers.encode() if cls.layers else None,
                             prepare=_PrepareCriterion(self.prepare), release=_Release(self.release),
                             open=_Open(self.open), close=_Release(self.close), observe=_Observe(self.observe),
                             gain=_Gain(self.gain), merge=_Merge(self.merge), value=told)

    def open(self, prepared, out, error):
        def work():
            width, settings = self.made[prepared]
            state = _ToldState(self.tell_function)
            address = ctypes.addressof(state)
            self.states[address] = (state, self.cls(width, **settings))
            out[0] = address
        return self.guard(work, error)

    def close(self, address):
        self.states.pop(address, None)

    def observe(self, address, rows, error):
        return self.guard(lambda: self.states[address][1].observe(OwnRows(rows[0])), error)

    def gain(self, address, rows, i):
        try:
            if rows[0].rejected[i]:
                return 0.0
            width = rows[0].width
            at = ctypes.addressof(rows[0].values.contents) + 4 * i * width
            row = numpy.ctypeslib.as_array(ctypes.cast(at, POINTER(c_float)), (width,))
            return float(self.states[address][1].gain(row))
        except BaseException:  # pylint: disable=broad-except
            self.unraisable("gain")
            return 0.0

    def merge(self, address, other, error):
        return self.guard(lambda: self.states[address][1].merge(self.states[other][1]), error)

    def tell(self, address, out):
        try:
            value = self.states[address][1].value()
            if isinstance(value, tuple):
                covered, total = value
                out[0].covered, out[0].total = int(covered), int(total)
                out[0].value = covered / total if total else 0.0
            else:
                out[0].value = float(value)
        except BaseException:  # pylint: disable=broad-except
            out[0].value = float("nan")
            self.unraisable("value")


class _SelectorPart(_Part):
    def __init__(self, cls):
        super().__init__(cls, "selector")
        self.selectors = {}
        self.c = _CSelector(entry=self.entry, layers=cls.layers.encode() if cls.layers else None,
                            prepare=_PrepareSelector(self.begin), release=_Release(self.end), score=_Score(self.score))

    def begin(self, request, out, error):
        def work():
            status = self.prepare(request, out, error)
            if status == 0:
                width, settings = self.made[out[0]]
                self.selectors[out[0]] = self.cls(width, **settings)
        return self.guard(work, error)

    def end(self, number):
        self.selectors.pop(number, None)
        self.release(number)

    def score(self, prepared, _, rows, scores, error):
        def work():
            given = OwnRows(rows[0])
            made = numpy.asarray(self.selectors[prepared].score(given), float)
            if made.shape != (len(given),):
                raise ValueError(f"score() gave the shape {made.shape} for {len(given)} rows")
            out = numpy.ctypeslib.as_array(scores, (rows[0].count,))
            out[given.kept] = made
        return self.guard(work, error)


class _MutationPart(_Part):
    def __init__(self, cls):
        super().__init__(cls, "mutation")
        for name, setting in self.settings.items():
            if setting.max - setting.min > 1e15:
                raise UsageError(f"mutation '{cls.id}': the setting {name} needs bounds, which fuzzing draws from")
        self.object = cls()
        self.c = _CMutation(entry=self.entry, group=0 if cls.affine else 1, apply=_Apply(self.apply))

    def apply(self, values, picture, out, height, width, channels, error):
        def work():
            shape = channels, height, width
            given = numpy.ctypeslib.as_array(picture, shape)
            given.flags.writeable = False
            arguments = {n: int(values[i]) if s.integer else values[i]
                         for i, (n, s) in enumerate(self.settings.items())}
            made = numpy.asarray(self.object.apply(given, **arguments))
            if made.dtype != numpy.uint8 or made.shape != shape:
                raise ValueError(f"apply() gave {made.dtype} of the shape {made.shape}; uint8 of {shape} is needed")
            numpy.ctypeslib.as_array(out, shape)[...] = made
        return self.guard(work, error)


_parts = []  # the library borrows them for good


def _add(part, function):
    error = c.CError()
    if function(ctypes.byref(part.c), ctypes.byref(error)) != 0:
        raise error_of(c.STATUSES[error.status], error.message.decode("utf-8", "replace"))
    _parts.append(part)
    return part.cls


for _name, _takes in (("px_criterion_add", _CCriterion), ("px_selector_add", _CSelector),
                      ("px_mutation_add", _CMutation)):
    _function = getattr(c.lib, _name)
    _function.restype, _function.argtypes = c_int, [POINTER(_takes), _error]


def add_criterion(cls):
    """Adds a Criterion to plexor's; usable as a decorator."""
    return _add(_CriterionPart(cls), c.lib.px_criterion_add)


def add_selector(cls):
    """Adds a Selector to plexor's; usable as a decorator."""
    return _add(_SelectorPart(cls), c.lib.px_selector_add)


def add_mutation(cls):
    """Adds a Mutation to plexor's, and a set of its id that draws its settings; usable as a decorator."""
    return _add(_MutationPart(cls), c.lib.px_mutation_add)
