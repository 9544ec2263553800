# SPDX-License-Identifier: Apache-2.0
"""plexor: test neural networks from the inside.

    import plexor as px
    net = px.load("net.onnx", preprocess="imagenet")
    data = px.Data(x_test, y_test, classes=names)
    net.eval(data).accuracy
    first = data[net.select(data, by="gini", budget=500)]

Every command of the program is a function here, px.eval(net, data), and a method of a network. They are made from
what the library says of itself: same names, defaults and results. docs/python.md has a tour.
"""
from ._library import version as _version
from ._progress import settings
from .data import Data
from .errors import (CancelledError, Error, FileError, InputError, InternalError, Interrupted, MismatchError,
                     OutOfMemoryError, UnsupportedError, UsageError)
from .gate import EpochEnd, Gate, gate, scorer
from .network import Network, from_torch, load
from .own import Criterion, Mutation, Selector, Setting, add_criterion, add_mutation, add_selector
from .result import Record, Result, Rows, Sweep

__version__ = _version()
__all__ = ["CancelledError", "Criterion", "Data", "EpochEnd", "Error", "FileError", "Gate", "InputError", "InternalError", "Interrupted",
           "MismatchError", "Mutation", "Network", "OutOfMemoryError", "Record", "Result", "Rows", "Selector", "Setting", "Sweep", "UnsupportedError",
           "UsageError", "add_criterion", "add_mutation", "add_selector", "from_torch", "gate", "load", "scorer", "settings"]


def __getattr__(name):
    from . import _commands  # pylint: disable=import-outside-toplevel
    if name.startswith("_") or name not in _commands.all_commands():
        raise AttributeError(f"module 'plexor' has no '{name}'")
    function = _commands.function_of(_commands.all_commands()[name])
    globals()[name] = function
    return function


def __dir__():
    from . import _commands  # pylint: disable=import-outside-toplevel
    return sorted({*globals(), *_commands.all_commands()})
