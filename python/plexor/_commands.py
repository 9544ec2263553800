# SPDX-License-Identifier: Apache-2.0
"""The command line as Python functions, made from `plexor help --json`: same names, defaults, checks and words.

An option --train-limit is a parameter train_limit; what Python reserves has an underscore behind it (lambda_). Arrays,
networks and results may stand wherever a command takes a file.
"""
import difflib
import functools
import inspect
import keyword
import numbers
import os
import re
import tempfile

import numpy

from ._call import call
from .data import Data, as_array, is_arrays
from .errors import UsageError
from .result import Result, Sweep, result_class

HIDDEN = {"json", "quiet", "help", "man", "ids", "completion"}
# What may be given without its name, behind the command's own words.
POSITIONAL = {"assess": ("original", "adversarial"), "attack": ("data", "method"), "cover": ("data", "criteria"),
              "fuzz": ("data", "guide"), "grad": ("input",), "localize": ("data", "measure"),
              "mutate": ("data", "mutation"), "profile": ("train",), "repair": ("train", "add"), "run": ("input",),
              "select": ("data", "by")}
ALIASES = {"out": "output", "gates": "fail_under"}
# Results whose arrays are made without being asked for: what --output would write goes to memory.
IN_MEMORY = {"grad": "gradient.npy", "mutate": "mutants.npz", "run": "outputs.npz", "trace": "traces.npz"}
FINDING = {"attack", "fuzz", "synthesize"}  # write failures into a campaign, and tell of each
TRAINING = {"repair", "train"}  # write beside the network, too: into a folder that lives as long as the result
ONE_NUMBER = {"X", "N", "P", "A", "FRACTION", "SHARE"}  # what a text like 8/255 or 10% is called
SEVERAL = re.compile("LIST|SET|STAGES|LAYERS|,")  # in what an option takes: a list is one value
NUMBER_OR_NAME = re.compile("CLASS|%|^(S|D|C|TIME)$")
ONE_FILE = {"grad", "run"}  # take .npy files, which a data set in memory is none of
ADVISED = ("attacks", "criteria", "engines", "measures", "metrics", "selectors")  # lists with papers


def python_name(name):
    name = name.lower().replace("-", "_")
    return name + "_" if keyword.iskeyword(name) else name


class Option:
    """One option of a command."""

    def __init__(self, about):
        self.flag = "--" + about["name"]
        self.letter = about["letter"]
        self.name = python_name(about["name"])
        self.kind = about["kind"]
        self.argument = about["argument"] or ""
        self.default = about["default"]
        self.choices = about.get("choices")
        self.list = about.get("list")
        self.least, self.most = about.get("min"), about.get("max")
        self.help = about["help"]
        self.path = about.get("path")
        self.takes_arrays = False

    @property
    def is_data(self):
        named = self.list is None and self.name != "encoder"  # the SPEC of an optimizer or an encoder is no data
        return self.list == "data" or (named and self.path == "file" and "SPEC" in self.argument)

    @property
    def is_single(self):
        """One number: of a list of them the command is run for each."""
        return self.kind in ("number", "integer") or (self.kind == "text" and self.argument in ONE_NUMBER)

    @property
    def annotation(self):
        if self.kind == "flag":
            return "bool"
        if self.is_single:  # or a list of them: a Sweep
            return "int | list" if self.kind == "integer" else "float | str | list"
        if self.is_data or self.takes_arrays:
            return "DataLike"
        if self.path:
            return "str | os.PathLike" + (" | list" if SEVERAL.search(self.argument) else "")
        if self.kind == "texts":
            return "str | list | dict"
        if SEVERAL.search(self.argument):
            return "str | float | list"
        return "str | float" if NUMBER_OR_NAME.search(self.argument) else "str"


class Command:
    """One command: its words, and what they are called in Python."""

    def __init__(self, about):
        self.name = about["name"]
        self.python = python_name(self.name)
        self.about = about
        self.arguments = [(python_name(a["name"]), a["optional"], a["several"]) for a in about["arguments"]]
        self.options = {o.name: o for o in map(Option, about["options"]) if o.flag[2:] not in HIDDEN}
        if self.name == "predict":  # data come by the option
            self.arguments = self.arguments[:1]
        if self.name == "check":  # --report alone needs no network
            self.arguments = [("model", False, False)]
        if self.name == "replay":  # or all=True
            self.arguments = [self.arguments[0], ("id", True, False)]
        for option in self.options.values():
            option.takes_arrays = self.name in ONE_FILE and option.path == "file" and option.name != "output"
        self.result = about.get("result") or []
        required = about["usage"].replace("MODEL --data", "--data").split("[")[0]
        self.required = {python_name(w[2:]) for w in required.split() if w.startswith("--")}
        if "output" in self.options and " -o " in f" {required}" and self.name not in {*IN_MEMORY, *TRAINING}:
            self.required.add("output")
        if self.name == "grad":  # the usage is that of --of loss
            self.required -= {"labels", "of"}
        self.of_network = bool(self.arguments) and self.arguments[0][0] == "model"

    @staticmethod
    def sibling(name):
        """Another command."""
        return all_commands()[name]

    # --- signature ---

    @functools.cached_property
    def aliases(self):
        """{another name of a parameter: the parameter}"""
        return {alias: name for alias, name in ALIASES.items() if name in self.options and alias not in self.options
                and (alias != "gates" or self.options[name].list == "gates")}

    @functools.cached_property
    def signature(self):
        parameters, taken = [], set()
        ordinary, only = inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY
        for name, optional, several in self.arguments:
            kind = inspect.Parameter.VAR_POSITIONAL if several else ordinary
            default = None if optional and not several else inspect.Parameter.empty
            parameters.append(inspect.Parameter(name, kind, default=default))
            taken.add(name)
        variadic = any(a[2] for a in self.arguments)
        for name in POSITIONAL.get(self.name, ("data",)):
            if name in self.options and not variadic:
                needed = name in self.required and all(p.default is inspect.Parameter.empty for p in parameters)
                parameters.append(self._parameter(name, ordinary, needed))
                taken.add(name)
        for name in self.options:
            if name not in taken:
                parameters.append(self._parameter(name, only, name in self.required))
        for alias, name in self.aliases.items():
            kind = self.options[name].annotation + " | None"
            parameters.append(inspect.Parameter(alias, only, default=None, annotation=kind))
        told = ("on_failure", "progress", "remark") if self.name in FINDING else ("progress", "remark")
        parameters += [inspect.Parameter(n, only, default=None) for n in told]
        return inspect.Signature(parameters)

    def _parameter(self, name, kind, needed):
        option = self.options[name]
        default = inspect.Parameter.empty if needed else option.default
        annotation = option.annotation + (" | None" if default is None else "")
        return inspect.Parameter(name, kind, default=default, annotation=annotation)

    # --- words ---

    def bind(self, args, kwargs):
        kwargs = dict(kwargs)
        letters = {o.letter: name for name, o in self.options.items() if o.letter}
        for alias, name in {**letters, **self.aliases}.items():
            if alias in kwargs and alias not in self.options:
                if name in kwargs:
                    raise TypeError(f"{self.name}(): '{alias}' and '{name}' are the same")
                kwargs[name] = kwargs.pop(alias)
        for name in kwargs:
            if name not in self.signature.parameters:
                near = difflib.get_close_matches(name, list(self.signature.parameters), 1)
                raise TypeError(f"{self.name}() has no parameter '{name}'" + (f", did you mean '{near[0]}'?" if near
                                                                              else f"; help(px.{self.python}) has all"))
        try:
            return self.signature.bind(*args, **kwargs).arguments
        except TypeError as error:
            raise TypeError(f"{self.name}(): {error}") from None

    def call(self, args, kwargs, defaults=None):
        """Runs it. `defaults`: options that are given where the command has them, a network's own."""
        given = self.bind(args, kwargs)
        for name, value in (defaults or {}).items():
            if name in self.options and name not in given:
                given[name] = value
        told = {name: given.pop(name, None) for name in ("progress", "remark", "on_failure")}
        if told["on_failure"] and "output" not in given:
            raise UsageError(f"{self.name}: on_failure hears of what goes into a campaign; name one with output=")
        swept = [n for n, v in given.items() if n in self.options and self.options[n].is_single
                 and isinstance(v, (list, tuple, numpy.ndarray))]
        if not swept:
            return self._call_once(given, told)
        if len(swept) > 1:
            raise UsageError(f"{self.name}: lists were given for {' and '.join(swept)}; one at a time can be varied")
        runs = [self._call_once({**given, swept[0]: value}, told) for value in given[swept[0]]]
        return Sweep(self.name, swept[0], list(given[swept[0]]), runs)

    def _call_once(self, given, told):
        words, held = [self.name], []
        if self.name in IN_MEMORY and "output" not in given:
            given = {**given, "output": "mem:" + IN_MEMORY[self.name]}
        elif self.name in TRAINING and "output" not in given:
            held.append(tempfile.TemporaryDirectory(prefix="plexor-"))
            given = {**given, "output": os.path.join(held[0].name, "network.onnx")}
        with tempfile.TemporaryDirectory(prefix="plexor-") if self.name in ONE_FILE else _Nothing() as folder:
            for name, _, several in self.arguments:
                values = given.get(name, ()) if several else [given[name]] if given.get(name) is not None else []
                words += [text_of(v, held) for v in values]
            split = given["data"].split if isinstance(given.get("data"), Data) else None
            if split and "split" in self.options and "split" not in given:
                given = {**given, "split": split}
            for name, value in given.items():
                if name in self.options:
                    words += self._option_words(self.options[name], value, held, folder)
            make = functools.partial(self._result, given=given, held=held)
            answer = call([*words, "--json"], result_of=make, **told)
        return make(answer)

    def _result(self, answer, given, held):
        return result_class(self.name)(self, answer, given, held)

    def _option_words(self, option, value, held, folder):
        if value is None or value is False:
            return []
        if option.kind == "flag":
            if value is not True and value != 1:
                raise UsageError(f"{self.name}: {option.name}={value!r}: expected True or False")
            return [option.flag]
        if option.takes_arrays:
            values = value if isinstance(value, (list, tuple)) else [value]
            return _words_of_arrays(option.flag, values, folder)
        if option.kind == "texts":
            if isinstance(value, dict):
                value = [f"{k}={_plain(v)}" for k, v in value.items()]
            several = isinstance(value, (list, tuple)) and not (option.is_data and is_arrays(value))
            values = value if several else [value]
            return [w for v in values for w in (option.flag, text_of(v, held, option.is_data))]
        if option.name == "fail_under":
            value = _gates(value)
        return [option.flag, text_of(value, held, option.is_data)]


class _Nothing:
    def __enter__(self):
        return None

    def __exit__(self, *_):
        return None


_SIGN = {"least": ">=", "most": "<="}


@functools.lru_cache(maxsize=None)
def _gate_signs():
    rows = call(["list", "gates", "--json"], progress=False).json["gates"]
    return {row["name"]: _SIGN.get(row["holds_at"]) for row in rows}


def _gates(value):
    """accuracy>=0.9 is what the command line writes as accuracy=0.9: the gate knows which way it holds."""
    if isinstance(value, dict):
        value = [f"{k}={_plain(v)}" for k, v in value.items()]
    parts = value if isinstance(value, (list, tuple)) else str(value).split(",")
    gates = []
    for part in (_plain(p).replace(" ", "") for p in parts):
        name, sign, number = re.match(r"([^<>=]*)([<>]=)?(.*)", part).groups()
        if sign and sign != (_gate_signs().get(name) or sign):
            raise UsageError(f"gate '{part}': {name} holds with {_gate_signs()[name]}")
        gates.append(f"{name}={number}" if sign else part)
    return ",".join(gates)


def _words_of_arrays(flag, values, folder):
    words = []
    for value in values:
        if not isinstance(value, (str, os.PathLike)):
            path = os.path.join(folder, f"{flag[2:]}{len(words)}.npy")
            numpy.save(path, numpy.ascontiguousarray(as_array(value)))
            value = path
        words += [flag, os.fspath(value)]
    return words


def _plain(value):
    if isinstance(value, str):
        return value
    if isinstance(value, (bool, numpy.bool_)):
        return "yes" if value else "no"
    if isinstance(value, numbers.Integral):
        return str(int(value))
    if isinstance(value, numbers.Real):
        return repr(int(value)) if float(value).is_integer() and abs(value) < 1e15 else repr(float(value))
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    raise UsageError(f"{type(value).__name__} cannot be told to plexor: expected a text, a number, data or a network")


def text_of(value, held, is_data=False):
    """A word of the command line; what it stands for is kept in `held` as long as it is needed."""
    spec = getattr(value, "spec", None)
    if isinstance(spec, str):
        held.append(value)
        return spec
    if isinstance(value, Result):
        held.append(value)
        return value.file
    if is_data and not isinstance(value, (str, os.PathLike)):
        data = Data(*value) if isinstance(value, tuple) else Data(value)
        held.append(data)
        return data.spec
    if isinstance(value, (list, tuple)):
        return ",".join(_plain(v) for v in value)
    return _plain(value)


# --- functions -------------------------------------------------------------------------------------

@functools.lru_cache(maxsize=None)
def all_commands():
    """{Python name: Command} of everything the library can do."""
    about = call(["help", "--json"], progress=False).json
    lists = about["lists"]
    commands = [Command(c) for c in about["commands"] if c["name"] != "study"]
    for command in commands:
        for option in command.options.values():
            option.choices = option.choices or (lists.get(option.list) if option.list != "data" else None)
    return {c.python: c for c in commands}


@functools.lru_cache(maxsize=None)
def _papers(name):
    items = call(["list", name, "--json"], progress=False).json[name]
    return [f"{i['name']}: {i.get('help') or ''}" + (f" ({i['source']})" if i.get("source") else "") for i in items]


def doc_of(command, papers=False):
    """The documentation of a function; with `papers`, what can be chosen and where it is from."""
    lines = [command.about["help"].capitalize() + ".", ""]
    if command.about.get("details"):
        lines += [command.about["details"], ""]
    lines.append("Parameters:")
    for option in command.options.values():
        limits = ""
        if option.kind in ("integer", "number") and option.least is not None and option.most < 1e15:
            limits = f" [{option.least:g} to {option.most:g}]"
        choices = f" One of {', '.join(option.choices)}." if option.choices and len(option.choices) <= 40 else ""
        lines.append(f"    {option.name} ({option.argument or 'True or False'}): {option.help}{limits}.{choices}")
    lines += [f"    {alias}: the same as {name}" for alias, name in command.aliases.items()]
    lines += ["    progress: True, False, or a function (label, done, total, text) that returns False to end the work",
              "    remark: a function that is told remarks, each a sentence"]
    if command.name in FINDING:
        lines.append("    on_failure: a function of each Failure as it is found: id, input, original, label, prediction, "
                     "confidence, chain; returns False to end the work")
    if command.result:
        lines += ["", "The result has:"]
        lines += [f"    {f['key']}: {f.get('help') or f['type']}" for f in command.result if f["key"] != "*"]
    for name in sorted({o.list for o in command.options.values() if o.list in ADVISED} if papers else ()):
        lines += ["", f"{name.capitalize()}:"] + ["    " + text for text in _papers(name)]
    if command.about.get("examples"):
        lines += ["", "On the command line:"] + ["    " + e for e in command.about["examples"]]
    return "\n".join(lines)


def function_of(command):
    """px.COMMAND()."""
    def function(*args, **kwargs):
        return command.call(args, kwargs)
    function.__name__ = function.__qualname__ = command.python
    function.__module__ = "plexor"
    function.__signature__ = command.signature
    function.__doc__ = doc_of(command, papers=True)
    return function


def method_of(command):
    """Network.COMMAND(): the network is the first word."""
    def method(self, *args, **kwargs):
        return command.call((self, *args), kwargs, self.options)
    first = inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY)
    method.__name__ = command.python
    method.__qualname__ = "Network." + command.python
    method.__module__ = "plexor"
    method.__signature__ = command.signature.replace(parameters=[first, *list(
        command.signature.parameters.values())[1:]])
    method.__doc__ = doc_of(command, papers=True)
    return method
