# SPDX-License-Identifier: Apache-2.0
"""Results: what --json prints as attributes, arrays, frames, tables and pictures."""
import functools
import re
from collections.abc import Mapping

import numpy

# Which member is the table of a command's result; others have one row of all that is a single value.
TABLES = {"assess": None, "check": "gates", "cover": "criteria", "doctor": "findings", "eval": "per_class",
          "info": "layers", "localize": "suspicious", "mutate": "mutants", "predict": "predictions", "run": "tensors",
          "select": "selectors", "train": "history", "fuzz": "modes", "status": "modes", "repair": "per_class",
          "replay": None, "map": None}
BORING = {"version", "command", "remarks", "model_hash", "data_hash"}


def _value(value):
    if isinstance(value, dict):
        return Record(value)
    if isinstance(value, list):
        if value and all(isinstance(v, dict) for v in value):
            return Rows(value)
        if value and all(isinstance(v, list) for v in value) and len({len(v) for v in value}) == 1 and value[0]:
            flat = [x for v in value for x in v]
            if all(x is None or (isinstance(x, (int, float)) and not isinstance(x, bool)) for x in flat):
                return numpy.array([[numpy.nan if x is None else x for x in v] for v in value])
    return value


def _attribute(name):
    return re.sub(r"\W", "_", name)


class Record(Mapping):
    """An object of JSON: record.name, record["name"]."""

    def __init__(self, values):
        object.__setattr__(self, "_values", values)

    def __getitem__(self, name):
        return _value(self._values[name])

    def __iter__(self):
        return iter(self._values)

    def __len__(self):
        return len(self._values)

    def __getattr__(self, name):
        values = self.__dict__.get("_values", {})
        for key in values:
            if _attribute(key) == name:
                return _value(values[key])
        raise AttributeError(f"no '{name}'; there are {', '.join(_attribute(k) for k in values)}")

    def __dir__(self):
        return [*super().__dir__(), *(_attribute(k) for k in self._values)]

    def to_dict(self):
        """What the command line prints with --json."""
        return self._values

    def __repr__(self):
        single = {k: v for k, v in self._values.items() if not isinstance(v, (dict, list))}
        return f"{type(self).__name__}({', '.join(f'{k}={v!r}' for k, v in single.items())})"


class Rows(list):
    """A list of objects: rows[0].name, rows["name"] (a column), rows.frame()."""

    def __getitem__(self, at):
        if isinstance(at, str):
            return [row.get(at) for row in self.to_dict()]
        got = super().__getitem__(at)
        return Rows(got) if isinstance(at, slice) else _value(got)

    def __iter__(self):
        return (_value(v) for v in super().__iter__())

    def to_dict(self):
        return list(super().__iter__())

    def frame(self):
        return _pandas().DataFrame([_flat(row) for row in self.to_dict()])


def _pandas():
    try:
        import pandas  # pylint: disable=import-outside-toplevel
    except ImportError:
        raise ImportError("frame() needs pandas; rows() gives the same as a list of dicts") from None
    return pandas


def _flat(row, before=""):
    """Objects inside become columns a.b; lists of numbers stay."""
    flat = {}
    for key, value in row.items():
        if isinstance(value, dict):
            flat.update(_flat(value, before + key + "."))
        else:
            flat[before + key] = value
    return flat


class Result(Record):
    """What a command found. Attributes are the members of its JSON; `remarks` are sentences to read."""

    def __init__(self, command, answer, given, held):
        super().__init__(answer.json or {})
        self.__dict__.update(_command=command, _given=given, _held=held, _files=answer.files, status=answer.status,
                             text=answer.text)

    @property
    def name(self):
        return self._command.name

    @property
    def ok(self):
        """Whether all gates that were asked for held."""
        return self.status == 0

    @property
    def file(self):
        """What the command wrote: a campaign, a folder, a file."""
        from .errors import UsageError  # pylint: disable=import-outside-toplevel
        path = self._values.get("campaign") or self._given.get("output") or self._values.get("folder")
        if not path or str(path).startswith("mem:"):
            raise UsageError(f"the result of {self.name}() has no file; give it one with output=")
        return str(path)

    @property
    def has_file(self):
        path = self._values.get("campaign") or self._given.get("output")
        return bool(path) and not str(path).startswith("mem:")

    @property
    def inputs(self):
        """The data that it is about, as Data; None where the command has none."""
        from .data import Data  # pylint: disable=import-outside-toplevel
        data = self._given.get("data")
        if data is None or isinstance(data, Data):
            return data
        return next((h for h in self._held if isinstance(h, Data)), None) or Data(data, split=self._given.get("split"))

    def failures(self, most=None):
        """Failures of a campaign, each with the input it comes from: a list of Failure."""
        from .campaign import failures  # pylint: disable=import-outside-toplevel
        return failures(self.file, most)

    def arrays(self):
        """{name: array} of what was made in memory. They are views on plexor's memory and keep it."""
        files = list(self._files.values())
        if len(files) == 1:
            return dict(files[0])
        return {f"{file}/{name}" if name else file: v for file, f in self._files.items() for name, v in f.items()}

    def rows(self):
        """The main table as a list of dicts."""
        table = self._values.get(TABLES.get(self.name, self._given.get("list")) or "")
        if isinstance(table, dict):
            return [{"name": name, **_flat(row)} if isinstance(row, dict) else {"name": name, "value": row}
                    for name, row in table.items()]
        if isinstance(table, list) and table and all(isinstance(row, dict) for row in table):
            return [_flat(row) for row in table]
        if self.name in TABLES and TABLES[self.name] and table is not None:
            return []
        return [self.single()]

    def single(self):
        """All that is a single value."""
        flat = _flat({k: v for k, v in self._values.items() if k not in BORING})
        return {k: v for k, v in flat.items() if not isinstance(v, list)}

    def frame(self):
        """The main table as a pandas frame."""
        return _pandas().DataFrame(self.rows())

    def __getattr__(self, name):
        try:
            return super().__getattr__(name)
        except AttributeError:
            known = {_attribute(f["key"]) for f in self._command.result} if "_command" in self.__dict__ else ()
            if name in known:  # a member that is left out in some cases, as in this one
                return None
            raise

    def _repr_html_(self):
        from . import _html  # pylint: disable=import-outside-toplevel
        return _html.result(self)

    def plot(self, axes=None):
        """A picture of it by matplotlib; returns the axes."""
        from . import _plot  # pylint: disable=import-outside-toplevel
        return _plot.plot(self, axes)


class Eval(Result):
    """How right a network is."""

    def _predictions(self):
        if "_predicted" not in self.__dict__:
            # what eval and predict both have: the data, the preprocessing, the workers
            predict = self._command.sibling("predict")
            given = {k: v for k, v in self._given.items() if k in predict.options or k == "model"}
            given["output"] = "mem:predictions.npz"
            self.__dict__["_predicted"] = predict.call((given.pop("model"),), given).arrays()
        return self._predicted

    @property
    def was_labelled(self):
        return bool(self._values.get("per_class"))

    @property
    def probs(self):
        """Probabilities [inputs, classes], by another pass when they are first asked for."""
        return self._predictions()["probabilities"]

    @property
    def predicted(self):
        return self._predictions()["predicted"]

    @property
    def labels(self):
        return self._predictions()["label"]

    @property
    def wrong_indices(self):
        """Which of the inputs are misclassified."""
        predicted, labels = self.predicted, self.labels
        return numpy.flatnonzero((predicted != labels) & (labels >= 0))

    @property
    def wrong(self):
        """The misclassified inputs, as Data. Of data by name they are read."""
        for name, what in (("shuffle", "shuffled"), ("skip_damaged", "thinned out")):
            if self._given.get(name):
                from .errors import UsageError  # pylint: disable=import-outside-toplevel
                raise UsageError(f"wrong: the inputs were {what}; evaluate them without {name}")
        return self.inputs[self.wrong_indices + (self._given.get("offset") or 0)]


class Select(Result):
    """What to look at first."""

    @property
    def indices(self):
        """Numbers of the selected inputs in the data, best first; of one selector. See of() for several."""
        selectors = self._values.get("selectors") or {}
        if len(selectors) != 1:
            raise ValueError(f"several selectors: of(name) has the inputs of one; there are {', '.join(selectors)}")
        return self.of(next(iter(selectors)))

    def of(self, selector):
        """The same of one of several selectors."""
        chosen = self._values["selectors"][selector].get("selected") or []
        return numpy.array([row["index"] for row in chosen], numpy.int64)

    def rows(self):
        return [{"selector": name, **_flat(row)} for name, found in (self._values.get("selectors") or {}).items()
                for row in found.get("selected") or []] or super().rows()


class Explained(Result):
    """What decided."""

    def rows(self):
        """A row for each layer of the path, of each input."""
        return [{"input": image["name"], **{k: v for k, v in layer.items() if k != "contributions"}}
                for image in self._values.get("images") or [] for layer in image["path"]] or super().rows()

    @property
    def picture(self):
        """Maps of the path, a PNG; drawn by another call when first asked for."""
        if "_png" not in self.__dict__:
            given = {**self._given, "output": "mem:path.png"}
            words = [given.pop(name) for name, _, _ in self._command.arguments if given.get(name) is not None]
            self.__dict__["_png"] = self._command.call(words, given).arrays()[""].tobytes()
        return self._png


class Trained(Result):
    """A network that was trained or repaired."""

    @functools.cached_property
    def network(self):
        from .network import Network  # pylint: disable=import-outside-toplevel
        model = self._given.get("model")
        options = dict(getattr(model, "options", {}))
        with open(self.file, "rb") as file:
            return Network(file.read(), **options)


class Mutants(Result):
    """Changed inputs."""

    @property
    def data(self):
        """The mutants, as Data."""
        from .data import Data  # pylint: disable=import-outside-toplevel
        arrays = self.arrays()
        if not arrays:
            return Data(self.file)
        return Data(arrays["x"], arrays.get("y"), classes=self.inputs.classes)


class Attack(Result):
    """What became of the inputs under attack."""

    @property
    def data(self):
        """The adversarial inputs, where output= named a campaign."""
        from .data import Data  # pylint: disable=import-outside-toplevel
        return Data(self.file)


class Sweep(list):
    """Results of one command for several values of one option."""

    def __init__(self, name, option, values, runs):
        super().__init__(runs)
        self.name, self.option, self.values = name, option, values

    def rows(self):
        return [{self.option: value, **{k: v for k, v in run.single().items() if k != self.option}}
                for value, run in zip(self.values, self)]

    def frame(self):
        return _pandas().DataFrame(self.rows())

    def to_dict(self):
        return [run.to_dict() for run in self]

    def _repr_html_(self):
        from . import _html  # pylint: disable=import-outside-toplevel
        return _html.block(f"{self.name}: {len(self)} values of {self.option}", _html.table(self.rows()))

    def plot(self, y=None, axes=None):
        """A curve of `y` (attack: the robust accuracy) over the option."""
        from . import _plot  # pylint: disable=import-outside-toplevel
        return _plot.sweep(self, y, axes)


_CLASSES = {"attack": Attack, "eval": Eval, "explain": Explained, "mutate": Mutants, "repair": Trained, "select": Select, "train": Trained}


def result_class(name):
    return _CLASSES.get(name, Result)
