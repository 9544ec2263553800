# SPDX-License-Identifier: Apache-2.0
"""Data: arrays as they are in memory, a source of one's own, or whatever the command line takes by name."""
import ctypes
import itertools
import os
import threading
import weakref

import numpy

from . import _library as c
from .errors import InputError, causes, error_of

_NUMBER = itertools.count(1)
_LAYOUTS = {None: 0, "first": 1, "last": 2}
_borrowed = {}  # what plexor has, by number, until it gives it back
_lock = threading.Lock()


def is_arrays(value):
    """Inputs, or inputs and labels."""
    return isinstance(value, tuple) and len(value) in (2, 3) and not isinstance(value[0], (str, os.PathLike))


def _release(number):
    with _lock:
        last = _borrowed.pop(number, None)
    del last  # not under the lock: what ends with it may own data, too


_RELEASE = c.ReleaseFunction(_release)


def as_array(value):
    """A NumPy array of anything that is one, on the same memory where that can be (NumPy, torch, DLPack)."""
    if isinstance(value, numpy.ndarray):
        return value
    if hasattr(value, "detach"):  # torch
        return value.detach().cpu().numpy()
    if hasattr(value, "to_numpy"):  # pandas
        return value.to_numpy()
    if hasattr(value, "__dlpack__"):
        return numpy.from_dlpack(value)
    return numpy.asarray(value)


def _c_array(array):
    made = c.Array()
    if array.ndim > c.MAX_RANK:
        raise InputError(f"an array of {array.ndim} axes; at most {c.MAX_RANK} can be read")
    made.data = array.ctypes.data
    made.dtype = c.NUMBERS[array.dtype.name]
    made.shape.rank = array.ndim
    for i in range(array.ndim):
        made.shape.dim[i] = array.shape[i]
        made.stride[i] = array.strides[i]
    return made


def _texts(values):
    return (ctypes.c_char_p * len(values))(*[str(v).encode() for v in values])


def _check(status, error):
    if status != 0:
        raise error_of(c.STATUSES[status], error.message.decode("utf-8", "replace"))


def _put(make, argument, kept):
    """A data set under a name of its own, and what forgets it."""
    number = next(_NUMBER)
    name = f"python-{number}".encode()
    argument.context = number
    handle, error = ctypes.c_void_p(), c.CError()
    with _lock:
        _borrowed[number] = kept
    try:
        _check(make(ctypes.byref(argument), name, ctypes.byref(handle), ctypes.byref(error)), error)
    except BaseException:
        _release(number)
        raise
    try:
        _check(c.lib.px_mem_put(name, handle, ctypes.byref(error)), error)
    finally:
        c.lib.px_dataset_close(handle)
    return name


def _put_arrays(x, y, targets, classes, names, layout):
    arrays = c.Arrays(size=ctypes.sizeof(c.Arrays), inputs=_c_array(x), layout=_LAYOUTS[layout], release=_RELEASE)
    if y is not None:
        arrays.labels = _c_array(y)
    if targets is not None:
        arrays.targets = _c_array(targets)
    if classes is not None:
        arrays.class_names, arrays.class_count = _texts(classes), len(classes)
    if names is not None:
        arrays.names = _texts(names)
    return _put(c.lib.px_dataset_from_arrays, arrays, x)


def _put_source(source):
    """A source of one's own: `shape`, len(), source[i] gives an array, and perhaps label(i) and classes."""
    shape = tuple(source.shape)
    is_8bit = numpy.dtype(getattr(source, "dtype", "float32")) == numpy.uint8
    made = c.Source(size=ctypes.sizeof(c.Source), count=len(source), is_8bit=is_8bit, free=_RELEASE)
    made.shape.rank = len(shape)
    made.shape.dim[:len(shape)] = shape
    classes = getattr(source, "classes", None)
    if classes is not None:
        made.class_names, made.class_count = _texts(classes), len(classes)
    size = int(numpy.prod(shape))

    def read(_, index, values, error):
        try:
            out = numpy.ctypeslib.as_array(values, (size,)).reshape(shape)
            given = numpy.asarray(as_array(source[index]))
            if given.shape != shape:
                raise ValueError(f"has the shape {given.shape}, {shape} was promised")
            out[...] = given
            return 0
        except BaseException as failure:  # pylint: disable=broad-except; C has no exceptions
            message = f"input {index} of a source in Python: {type(failure).__name__}: {failure}"
            causes.append((message[:400], failure))
            error[0].status = 2
            error[0].message = message.encode("utf-8", "replace")[:511]
            return 2

    def label(_, index):
        try:
            return int(source.label(index))
        except BaseException:  # pylint: disable=broad-except
            return -1

    made.read = c.ReadFunction(read)
    if hasattr(source, "label"):
        made.label = c.LabelFunction(label)
    return _put(c.lib.px_dataset_from_source, made, (made.read, made.label, source))


class Data:
    """Inputs, with labels and names where they are known.

    x: an array whose first axis counts inputs (NumPy, torch, anything with DLPack), which is read where it lies: uint8
    are pixels of 0 to 255, floats are taken as they are; other types than uint8 and float32 are converted, which
    copies them. Or a text: whatever `px.list("data")` names, a folder, a file, a campaign, "fashion-mnist". Or an
    object of one's own with shape, len(), [i], and perhaps label(i), classes and dtype, which is asked when inputs are
    needed, from several threads.
    y: labels, integers or one-hot; targets: probabilities of soft labels; classes: their names; names: of the inputs;
    meta: whatever belongs to the inputs, a pandas frame say, which is indexed along; layout: "first" or "last", where
    the channels are; split: of data by name.
    """

    def __init__(self, x, y=None, *, classes=None, targets=None, names=None, meta=None, layout=None, split=None):
        self._put, self._set = None, None
        self.meta, self.split, self.layout = meta, split, layout
        self._x = self._y = self._targets = self._source = self._classes = None
        self._names = None if names is None else [str(n) for n in names]
        self._numbers = None  # of a part: what its inputs are in the whole
        if layout not in _LAYOUTS:
            raise InputError(f"layout={layout!r}: expected 'first' or 'last'")
        if isinstance(x, Data):
            x._only_by_name("Data of Data")
            x = x._spec
        elif hasattr(x, "file") and hasattr(x, "to_dict"):  # a result with a campaign
            x = x.file
        if isinstance(x, (str, os.PathLike)):
            self._spec = os.fspath(x)
            for what, value in (("labels", y), ("classes", classes), ("targets", targets), ("names", names)):
                if value is not None:
                    raise InputError(f"'{self._spec}' has {what} of its own; they go with arrays")
        elif hasattr(x, "shape") and hasattr(x, "__getitem__") and not _is_array(x):
            self._spec, self._source = None, x
        else:
            self._spec = None
            self._x = _values(as_array(x))
            self._y = None if y is None else _labels(as_array(y))
            self._targets = None if targets is None else numpy.ascontiguousarray(as_array(targets), numpy.float32)
            self._classes = None if classes is None else [str(n) for n in classes]
            self._check_lengths()

    def _only_by_name(self, what):
        if self._spec is None:
            raise InputError(f"{what}: these are arrays; index them instead")

    def _check_lengths(self):
        if self._x.ndim < 2:
            raise InputError(f"inputs have the shape {self._x.shape}; the first axis counts inputs, others are needed")
        for what, value in (("labels", self._y), ("targets", self._targets), ("names", self._names),
                            ("rows of meta", self.meta)):
            if value is not None and len(value) != len(self._x):
                raise InputError(f"{len(self._x)} inputs, {len(value)} {what}; each input has one")

    # --- for commands ---

    @property
    def spec(self):
        """What stands for the data on a command line."""
        if self._spec is not None:
            return self._spec
        if self._x is not None and len(self._x) == 0:  # a part of others may be empty, what is wrong of a perfect network say
            raise InputError("there is no input: the first axis has length 0")
        if self._put is None:
            name = _put_source(self._source) if self._source is not None else _put_arrays(
                self._x, self._y, self._targets, self._classes,
                self._names if self._numbers is None else self.names, self.layout)
            self._put = name
            weakref.finalize(self, c.lib.px_mem_remove, name)
        return "mem:" + self._put.decode()

    # --- for people ---

    def _opened(self):
        if self._set is None:
            handle, error = ctypes.c_void_p(), c.CError()
            split = self.split.encode() if self.split else None
            _check(c.lib.px_dataset_open_split(self.spec.encode(), split, ctypes.byref(handle), ctypes.byref(error)),
                   error)
            self._set = handle
            weakref.finalize(self, c.lib.px_dataset_close, handle)
        return self._set

    def __len__(self):
        return len(self._x) if self._x is not None else c.lib.px_dataset_count(self._opened())

    def _read(self, indices):
        handle, error = self._opened(), c.CError()
        shape = c.lib.px_dataset_shape(handle)
        sample = numpy.empty(tuple(shape.dim[:shape.rank]), numpy.float32)
        out = numpy.empty((len(indices), *sample.shape),
                          numpy.uint8 if c.lib.px_dataset_is_8bit(handle) else numpy.float32)
        for i, index in enumerate(indices):
            _check(c.lib.px_dataset_pixels(handle, int(index), sample.ctypes.data, ctypes.byref(error)), error)
            out[i] = sample
        return out

    @property
    def x(self):
        """The inputs as an array; data by name are read."""
        return self._x if self._x is not None else self._read(range(len(self)))

    @property
    def y(self):
        """The labels, None without any; -1 where an input has none."""
        if self._x is not None:
            return self._y
        handle = self._opened()
        labels = numpy.array([c.lib.px_dataset_label(handle, i) for i in range(len(self))], numpy.int64)
        return None if (labels < 0).all() else labels

    @property
    def classes(self):
        """Names of the classes, None where they are unknown."""
        if self._x is not None:
            return self._classes
        handle = self._opened()
        names = [c.lib.px_dataset_class_name(handle, i) for i in range(c.lib.px_dataset_class_count(handle))]
        return None if not names or None in names else [n.decode("utf-8", "replace") for n in names]

    @property
    def names(self):
        """Names of the inputs."""
        if self._names is not None:
            return self._names
        if self._x is not None:
            return [str(i) for i in (range(len(self)) if self._numbers is None else self._numbers)]
        buffer, handle = ctypes.create_string_buffer(4096), self._opened()
        return [c.lib.px_dataset_name(handle, i, buffer, len(buffer)).decode("utf-8", "replace")
                for i in range(len(self))]

    def __getitem__(self, chosen):
        """Some of the inputs: a slice (no copy of arrays), numbers, a mask, or the result of select()."""
        chosen = getattr(chosen, "indices", chosen) if not isinstance(chosen, slice) else chosen
        if isinstance(chosen, (int, numpy.integer)):
            chosen = [int(chosen)]
        if not isinstance(chosen, slice):
            chosen = as_array(chosen)
            chosen = numpy.flatnonzero(chosen) if chosen.dtype == bool else chosen.astype(numpy.int64)
        if self._x is not None:
            x, y = self._x[chosen], None if self._y is None else self._y[chosen]
            targets = None if self._targets is None else self._targets[chosen]
        else:
            numbers = numpy.arange(len(self))[chosen]
            x, targets = self._read(numbers), None
            y = self.y
            y = None if y is None else y[numbers]
        named = self._names is not None or self._x is None
        names = numpy.array(self.names, object)[chosen] if named else None
        meta = self.meta
        if meta is not None:
            meta = meta.iloc[chosen] if hasattr(meta, "iloc") else as_array(meta)[chosen]
        part = Data(x, y, classes=self.classes, targets=targets, names=names, meta=meta, layout=self.layout)
        if not named:  # their numbers here are what they are called; as texts where those are asked for
            part._numbers = (numpy.arange(len(self)) if self._numbers is None else self._numbers)[chosen]
        return part

    def frame(self):
        """A pandas frame of names, labels and meta."""
        import pandas  # pylint: disable=import-outside-toplevel
        columns = {"name": self.names}
        if self.y is not None:
            columns["label"] = self.y if self.y.ndim == 1 else self.y.argmax(axis=1)
        made = pandas.DataFrame(columns)
        return made if self.meta is None else made.join(pandas.DataFrame(self.meta).reset_index(drop=True))

    def __repr__(self):
        if self._x is None:
            return f"Data({self._spec or self._source!r})"
        return f"Data({self._x.shape} {self._x.dtype}{', labels' if self._y is not None else ''})"

    def _repr_html_(self):
        from . import _html  # pylint: disable=import-outside-toplevel
        count = len(self)
        if count == 0:
            return _html.block("no inputs")
        shown = self[:min(count, 24)]
        labels = shown.y if shown.y is not None and shown.y.ndim == 1 else [None] * len(shown)
        texts = [_html.class_text(label, shown.classes) for label in labels]
        return _html.block(f"{count:,} inputs of {tuple(shown.x.shape[1:])}", _html.gallery(shown.x, texts))


def _is_array(value):
    return isinstance(value, numpy.ndarray) or any(hasattr(value, n) for n in ("__dlpack__", "__array__", "to_numpy"))


def _values(x):
    if x.dtype == numpy.uint8 or x.dtype == numpy.dtype("=f4"):
        return x
    if x.dtype.kind not in "fiub":
        raise InputError(f"inputs are of {x.dtype}; numbers are needed, uint8 (pixels) or float32")
    return x.astype(numpy.float32)


def _labels(y):
    if y.dtype.kind in "fb":
        return numpy.ascontiguousarray(y, numpy.float32)
    if y.dtype.kind not in "iu":
        raise InputError(f"labels are of {y.dtype}; integers are needed, the numbers of the classes")
    return numpy.ascontiguousarray(y, numpy.int64)
