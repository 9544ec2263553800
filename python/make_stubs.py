#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""make_stubs.py [--check] - python/plexor/__init__.pyi: what type checkers and editors are told of the module.

Made from `plexor help --json` as the functions themselves are; --check fails where it would change.
"""
import inspect
import keyword
import os
import re
import sys

TOP = os.path.dirname(os.path.abspath(__file__))
PATH = os.path.join(TOP, "plexor", "__init__.pyi")
sys.path.insert(0, TOP)

from plexor import _commands  # noqa: E402
from plexor.result import result_class  # noqa: E402

HEAD = '''# Made by python/make_stubs.py: what it says of commands comes from `plexor help --json`.
import builtins
import os
from collections.abc import Callable, Sequence
from typing import Any

from .campaign import Failure
from .data import Data as Data
from .errors import (CancelledError as CancelledError, Error as Error, FileError as FileError,
                     InputError as InputError, InternalError as InternalError, Interrupted as Interrupted,
                     MismatchError as MismatchError, OutOfMemoryError as OutOfMemoryError,
                     UnsupportedError as UnsupportedError, UsageError as UsageError)
from .gate import EpochEnd as EpochEnd, Gate as Gate, gate as gate, scorer as scorer
from .network import Network as _Network
from .own import (Criterion as Criterion, Mutation as Mutation, Selector as Selector, Setting as Setting,
                  add_criterion as add_criterion, add_mutation as add_mutation, add_selector as add_selector)
from .result import (Attack, Eval, Explained, Mutants, Record as Record, Result as Result, Rows as Rows, Select,
                     Sweep as Sweep, Trained)
from ._progress import Settings

DataLike = Any  # Data, an array, (inputs, labels), a result with a campaign, or a text as the command line takes it
Several = builtins.list[Any] | tuple[Any, ...]
Progress = bool | Callable[[str, int, int, str | None], bool | None] | None
settings: Settings
__version__: str

def load(source: Any, **options: Any) -> Network: ...
def from_torch(module: Any, example: Any, *, opset: int = 13, **options: Any) -> Network: ...

'''


# Of a result's members; what matrices are is NumPy's affair.
KINDS = {"text": "str", "integer": "int", "number": "float", "bool": "bool", "object": "Record", "map": "Record",
         "list": "Sequence[Any]", "matrix": "Any"}


def of(annotation):
    """The module has a function list(), so that the name is no type in its stubs."""
    return re.sub(r"\blist\b", "Several", annotation)


def parameter(p, may_be_left_out):
    if p.kind is inspect.Parameter.VAR_POSITIONAL:
        return f"*{p.name}: Any"
    kind = "Any" if p.annotation is inspect.Parameter.empty else of(p.annotation)
    if p.name == "progress":
        kind = "Progress"
    elif p.name == "on_failure":
        kind = "Callable[[Failure], bool | None] | None"
    elif p.name == "remark":
        kind = "Callable[[str], Any] | None"
    if p.default is inspect.Parameter.empty:
        return f"{p.name}: {kind}" + (" = ..." if may_be_left_out else "")
    return f"{p.name}: {kind}{' | None' if p.default is None and '| None' not in kind and kind not in ('Any', 'Progress') else ''} = {p.default!r}"


def result_of(command):
    """What the command's result is called here."""
    return f"_{command.name.title().replace('-', '')}" if command.result else result_class(command.name).__name__


def members_of(command):
    """The result's class, with what this command has."""
    base, members = result_class(command.name), {}
    for field in command.result:
        name = re.sub(r"\W", "_", field["key"])
        if field["key"] != "*" and name.isidentifier() and not keyword.iskeyword(name) and not hasattr(base, name):
            of_objects = field["type"] == "list" and field.get("of") == "object"
            kind = "Rows" if of_objects else KINDS[field["type"]]
            members[name] = kind + (" | None" if field.get("optional") and kind != "Any" else "")
    if base.__name__ == "Trained":
        members["network"] = "Network"
    return f"class {result_of(command)}({base.__name__}): " + ("; ".join(f"{n}: {k}" for n, k in members.items()) or "...")


def lines_of(command, method):
    parameters = list(command.signature.parameters.values())
    words = ["self"] if method else []
    star = any(p.kind is inspect.Parameter.VAR_POSITIONAL for p in parameters)
    for p in parameters[1 if method else 0:]:
        if p.kind is inspect.Parameter.KEYWORD_ONLY and not star:
            words.append("*")
            star = True
        words.append(parameter(p, p.name in command.aliases.values()))
    swept = any(o.is_single for o in command.options.values())
    indent = "    " if method else ""
    summary = " ".join(command.about["help"].split())
    return [f"{indent}def {command.python}({', '.join(words)}) -> {result_of(command)}{' | Any' if swept else ''}:",
            f'{indent}    """{summary[:1].upper() + summary[1:]}."""']


def made():
    commands = _commands.all_commands().values()
    lines = HEAD.splitlines() + [members_of(c) for c in commands if c.result] + ["", "class Network(_Network):"]
    for command in commands:
        if command.of_network:
            lines += lines_of(command, True)
    lines.append("")
    for command in commands:
        lines += lines_of(command, False)
    return "\n".join(lines) + "\n"


def main():
    text = made()
    if "--check" in sys.argv[1:]:
        with open(PATH, encoding="utf-8") as file:
            if file.read() != text:
                sys.exit("make_stubs.py: __init__.pyi is not what the commands are now; run python/make_stubs.py")
        return
    with open(PATH, "w", encoding="utf-8") as file:
        file.write(text)


main()
