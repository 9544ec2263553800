# SPDX-License-Identifier: Apache-2.0
"""Networks: an ONNX file, bytes, a model of the package onnx, or a PyTorch module."""
import copy
import ctypes
import io
import itertools
import os
import weakref

from . import _library as c
from ._commands import all_commands, method_of
from .errors import InputError, error_of

_NUMBER = itertools.count(1)


class Network:
    """A network. Every command that begins with MODEL is a method: net.eval(data), net.cover(data, ["nc", "kmnc"]).

    `options` are given to each command that has them, unless a call says otherwise: preprocess, mean, std, scale,
    size, classes, threads, batch, seed ... `with_options()` gives the same network with others.
    """

    def __init__(self, source, **options):
        self._install()
        self._know(options)
        self.options = options
        self._bytes = None
        if isinstance(source, (str, os.PathLike)):
            self.spec = os.fspath(source)
        else:
            self._bytes = source
            self.spec = self._put(source)
        all_commands()["info"].call((self.spec,), {})  # is it one?

    @staticmethod
    def _know(options):
        known = {name for command in all_commands().values() if command.of_network for name in command.options}
        for name in options:
            if name not in known:
                raise TypeError(f"no command of a network has the option '{name}'")

    def _put(self, source):
        name, error = f"python-network-{next(_NUMBER)}".encode(), c.CError()
        data = ctypes.c_char_p(source)
        if c.lib.px_mem_put_model(name, data, len(source), ctypes.byref(error)) != 0:
            raise error_of(c.STATUSES[error.status], error.message.decode("utf-8", "replace"))
        weakref.finalize(self, c.lib.px_mem_remove, name)
        return "mem:" + name.decode()

    @classmethod
    def _install(cls):
        """The methods are made when there is a first network: that asks the library what it can do."""
        if "eval" in vars(cls):
            return
        for command in all_commands().values():
            if command.of_network and not hasattr(cls, command.python):
                setattr(cls, command.python, method_of(command))

    def with_options(self, **options):
        """The same network, and no copy of it, with other options."""
        self._know(options)
        made = copy.copy(self)
        made.options, made._first = {**self.options, **options}, self  # what is in memory is there as long as the first is
        return made

    def trace_batches(self, data, size=1024, **options):
        """Neurons' values batch by batch: a generator of {name: array}, `size` inputs at a time."""
        from .data import Data  # pylint: disable=import-outside-toplevel
        if not isinstance(data, Data):
            data = Data(*data) if isinstance(data, tuple) else Data(data)
        if size < 1:
            raise InputError(f"size={size}: at least one input at a time is needed")
        first = options.pop("offset", 0)
        limit = options.pop("limit", 0)
        end = min(len(data), first + limit) if limit else len(data)
        for at in range(first, end, size):
            yield self.trace(data, offset=at, limit=min(size, end - at), **options).arrays()

    def save(self, path):
        """Writes the network into a file."""
        if self._bytes is None:
            with open(self.spec, "rb") as file:
                content = file.read()
        else:
            content = self._bytes
        with open(path, "wb") as file:
            file.write(content)

    def __copy__(self):
        made = object.__new__(type(self))
        made.__dict__.update(self.__dict__)
        return made

    def __reduce__(self):
        source = self.spec if self._bytes is None else self._bytes
        return _again, (source, self.options)

    def __repr__(self):
        options = "".join(f", {k}={v!r}" for k, v in self.options.items())
        return f"Network({self.spec!r}{options})"

    def _repr_html_(self):
        return self.info()._repr_html_()


def _again(source, options):
    return Network(source, **options)


def load(source, **options):
    """A network: the path of an ONNX file, its bytes, a model of the package onnx, or a result that has one.

    Options are those that its commands then have: load("net.onnx", preprocess="imagenet").
    """
    if isinstance(source, Network):
        return source.with_options(**options)
    if hasattr(source, "SerializeToString"):  # onnx.ModelProto
        source = source.SerializeToString()
    elif hasattr(source, "network"):
        return source.network.with_options(**options)
    if isinstance(source, (bytearray, memoryview)):
        source = bytes(source)
    if not isinstance(source, (str, os.PathLike, bytes)):
        raise TypeError(f"load(): {type(source).__name__} is no path, bytes or ONNX model; from_torch() takes modules")
    return Network(source, **options)


def from_torch(module, example, *, opset=13, **options):
    """A network of a PyTorch module, exported to ONNX in evaluation mode, with any number of inputs at a time.

    example: a tensor as the module takes it, or a tuple of some. The module is left as it was. plexor's data are
    scaled from pixels to 0..1 unless `options` say otherwise (preprocess, mean, std, scale).
    """
    import torch  # pylint: disable=import-outside-toplevel
    examples = example if isinstance(example, tuple) else (example,)
    modes = [(m, m.training) for m in module.modules()]
    names = [f"input{i}" if i else "input" for i in range(len(examples))]
    made = io.BytesIO()
    module.eval()
    try:
        with torch.no_grad():
            torch.onnx.export(module, examples, made, opset_version=opset, input_names=names, output_names=["output"],
                              dynamic_axes={n: {0: "batch"} for n in [*names, "output"]})
    finally:
        for part, mode in modes:
            part.training = mode
    return Network(made.getvalue(), **options)
