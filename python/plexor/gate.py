# SPDX-License-Identifier: Apache-2.0
"""Gates: what a network must reach, as a test, a score or a hook of training."""
import re

import numpy

from .errors import UsageError

_GATE = re.compile(r"^\s*([\w.\-]+)\s*(>=|<=|>|<)\s*([0-9.eE+\-]+%?)\s*$")
_HOLDS = {">=": lambda a, b: a >= b, "<=": lambda a, b: a <= b, ">": lambda a, b: a > b, "<": lambda a, b: a < b}


class Gate:
    """A condition on a result: gate("accuracy>=0.9"), gate("value>=0.5", of="cover", criteria="nc").

    The first word is a member of the result of the command `of` (eval unless said otherwise), or of its table's row
    where it has one row, or the name of a row that has a value: gate("nc>=0.5", of="cover", criteria="nc,kmnc"); other parameters go to the command. each_class: the condition is on each class; with their
    names or their number pytest has a case for each, with True one for all.
    """

    def __init__(self, condition, *, of="eval", each_class=False, **options):
        found = _GATE.match(condition)
        if not found:
            raise UsageError(f"gate '{condition}': expected a name, one of >= <= > <, and a number, as in accuracy>=0.9")
        self.condition, self.of, self.options = condition, of, options
        self.each_class = bool(each_class)
        self.classes = None if isinstance(each_class, bool) else [
            str(n) for n in (range(each_class) if isinstance(each_class, int) else each_class)]
        self.name, self.holds = found[1], _HOLDS[found[2]]
        number = found[3]
        self.number = float(number[:-1]) / 100 if number.endswith("%") else float(number)
        if each_class and of != "eval":
            raise UsageError("each_class is for gates of eval")

    def __str__(self):
        return f"{self.of}: {self.condition}"

    @property
    def key(self):
        """Gates with the same key can be judged by one call."""
        return self.of, repr(sorted(self.options.items(), key=repr))

    def call(self, network, data):
        options = dict(self.options)
        if self.of == "eval":
            options.setdefault("allow_chance", True)  # it is the gate that judges
        return getattr(network, self.of)(data, **options)

    def judge(self, result, case=None):
        """(whether it holds, what there is to say); case: the name or number of a class."""
        if case is None and self.each_class:
            cases = [str(r.get("name", r.get("class"))) for r in result.rows() if r.get("count")]
            said = [text for held, text in (self.judge(result, c) for c in cases) if not held]
            return not said, "; ".join(said) or f"all {len(cases)} classes hold {self.condition}"
        value = self._value(result, case)
        of = f" of class '{case}'" if case is not None else ""
        if value is None or numpy.isnan(value):
            return False, f"{self.name}{of} has no value here; the gate wants {self.condition}"
        held = bool(self.holds(value, self.number))
        return held, f"{self.name}{of} is {value:.6g}, the gate wants {self.condition}"

    def _value(self, result, case):
        if case is not None:
            row = next((r for r in result.rows() if case in (r.get("name"), str(r.get("class")))), None)
            if row is None:
                raise UsageError(f"the data have no class '{case}'")
            return None if not row.get("count") else row.get(self.name)
        single = result.single()
        if self.name in single:
            return single[self.name]
        rows = result.rows()
        if len(rows) == 1 and isinstance(rows[0].get(self.name), (int, float)):
            return rows[0][self.name]
        named = next((r for r in rows if r.get("name") == self.name), None)
        if named is not None and isinstance(named.get("value"), (int, float)):
            return named["value"]
        numbers = ", ".join(k for k, v in single.items() if isinstance(v, (int, float)) and not isinstance(v, bool))
        raise UsageError(f"the result of {self.of} has no number '{self.name}'; it has {numbers}")

    def check(self, network, data):
        """Judges a network now: raises an AssertionError where the gate does not hold."""
        result = self.call(network, data)
        held, said = self.judge(result)
        if not held:
            raise AssertionError(said)
        return result


def gate(condition, *, of="eval", each_class=False, **options):
    """A Gate; in a test file of pytest it is a test (see plexor.pytest_plugin)."""
    return Gate(condition, of=of, each_class=each_class, **options)


def scorer(member="accuracy", *, of="eval", **options):
    """A scorer as scikit-learn takes them, score(network, x, y): a member of a command's result, higher is better."""
    def score(network, x, y=None):
        made = Gate(f"{member}>=0", of=of, **options)
        return made._value(made.call(network, x if y is None else (x, y)), None)  # pylint: disable=protected-access
    return score


class EpochEnd:
    """A hook of training in PyTorch: gates on the module as it is, called at the end of an epoch.

        hook = px.EpochEnd(module, x[:1], data, ["accuracy>=0.8"], every=2)
        for epoch in range(10):
            train_one(module)
            if not hook(epoch):
                print(hook.said)

    stop: raise AssertionError where a gate does not hold. `history` has (epoch, results) of all calls.
    """

    def __init__(self, module, example, data, gates, *, every=1, stop=False, **options):
        self.module, self.example, self.data, self.options = module, example, data, options
        self.gates = [g if isinstance(g, Gate) else Gate(g) for g in ([gates] if isinstance(gates, (str, Gate)) else gates)]
        self.every, self.stop, self.said, self.history = every, stop, [], []

    def __call__(self, epoch):
        if (epoch + 1) % self.every:
            return True
        from .network import from_torch  # pylint: disable=import-outside-toplevel
        network, results = from_torch(self.module, self.example, **self.options), {}
        self.said = []
        for one in self.gates:
            if one.key not in results:
                results[one.key] = one.call(network, self.data)
            held, text = one.judge(results[one.key])
            if not held:
                self.said.append(text)
        self.history.append((epoch, list(results.values())))
        if self.said and self.stop:
            raise AssertionError(f"epoch {epoch}: " + "; ".join(self.said))
        return not self.said
