# SPDX-License-Identifier: Apache-2.0
"""Criteria, selectors and mutations written in Python, and the laws that such parts keep."""
import ctypes
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

import numpy
import plexor as px
from cases import DIGITS, TOP, digits
from plexor import own, testing


class Over(px.Criterion):
    """NC once more: neurons above a threshold."""
    id, title, unit, source = "py-over", "neurons above a threshold", "neurons", "a test"
    settings = {"t": px.Setting(0.5, "threshold", 0, 10)}

    def __init__(self, width, t):
        self.t, self.hit = t, numpy.zeros(width, bool)

    def observe(self, rows):
        self.hit |= (rows.values > self.t).any(axis=0)

    def gain(self, row):
        return float(((row > self.t) & ~self.hit).sum()) / len(self.hit)

    def merge(self, other):
        self.hit |= other.hit

    def value(self):
        return int(self.hit.sum()), len(self.hit)


class Peak(px.Criterion):
    id, title = "py-peak", "largest value"

    def __init__(self, width):
        self.peak = 0.0

    def observe(self, rows):
        self.peak = float(rows.values.max(initial=self.peak))

    def gain(self, row):
        return max(0.0, float(row.max()) - self.peak)

    def merge(self, other):
        self.peak = max(self.peak, other.peak)

    def value(self):
        return self.peak


class Sum(px.Selector):
    id, title = "py-sum", "sum of neurons"
    settings = {"sign": 1}

    def __init__(self, width, sign):
        self.width, self.sign = width, sign

    def score(self, rows):
        assert rows.values.shape == (len(rows), self.width)
        return self.sign * rows.values.sum(axis=1)


class Block(px.Mutation):
    id, title = "py-block", "a black square"
    settings = {"size": px.Setting(6, "its side", 1, 12, integer=True), "at": px.Setting(0.5, "where", 0, 1),
                "seed": px.Setting(0, "of its place across", 0, 2**32 - 1, integer=True)}

    def apply(self, picture, size, at, seed):
        out = picture.copy()
        height, width = picture.shape[1:]
        y, x = int(at * max(height - size, 0)), seed % max(width - size, 1)
        out[:, y:y + size, x:x + size] = 0
        return out


class Torn(Block):
    id = "py-torn"

    def apply(self, picture, size, at, seed):
        return picture[:, 1:]


class Broken(Peak):
    id = "py-broken"

    def observe(self, rows):
        raise KeyError("nothing here")


for _criterion in (Over, Peak, Broken):
    px.add_criterion(_criterion)
px.add_selector(Sum)
px.add_mutation(Block)
px.add_mutation(Torn)


class Own(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.network = px.load(DIGITS)
        x, y, _ = digits()
        cls.data = px.Data(x[:700], y[:700])

    def test_as_plexors_own(self):
        for t in (0.5, 2):
            found = {r["name"]: r for r in self.network.cover(self.data, ["nc", "py-over"], set={
                "nc.t": t, "py-over.t": t}).rows()}
            self.assertEqual((found["nc"]["covered"], found["nc"]["total"]),
                             (found["py-over"]["covered"], found["py-over"]["total"]))

    def test_listed_and_checked(self):
        row = next(r for r in px.list("criteria").rows() if r["name"] == "py-over")
        self.assertIn("neurons above a threshold", str(row))
        with self.assertRaisesRegex(px.UsageError, "t"):
            self.network.cover(self.data, "py-over", set="py-over.t=11")
        with self.assertRaisesRegex(px.UsageError, "py-over"):
            px.add_criterion(Over)  # the id is taken
        with self.assertRaisesRegex(px.UsageError, "needs a text id"):
            px.add_criterion(px.Criterion)

    def test_guides_fuzzing(self):
        with tempfile.TemporaryDirectory() as folder:
            runs = [self.network.fuzz(self.data[:30], guide, out=f"{folder}/{guide}", executions=400, seed=5,
                                      set={f"{guide}.t": 0.5}) for guide in ("nc", "py-over")]
            self.assertEqual(runs[0].outputs, runs[1].outputs)
            self.assertEqual(runs[0].faults, runs[1].faults)
            self.assertEqual(runs[0].coverage["nc"], runs[1].coverage["py-over"])

    def test_selector(self):
        trace = self.network.trace(self.data).arrays()
        total = sum(v.sum(axis=1) for k, v in trace.items() if k not in ("labels", "predictions", "indices"))
        chosen = self.network.select(self.data, by="py-sum", budget=20).indices
        numpy.testing.assert_allclose(total[chosen], numpy.sort(total)[::-1][:20], rtol=1e-5)
        chosen = self.network.select(self.data, by="py-sum", budget=20, set="py-sum.sign=-1").indices
        numpy.testing.assert_allclose(total[chosen], numpy.sort(total)[:20], rtol=1e-5)

    def test_mutation(self):
        made = px.mutate(self.data[:3], mutation="py-block size=5 at=0.5 seed=3").data.x
        want = self.data.x[:3].copy()
        want[:, :, 11:16, 3:8] = 0
        numpy.testing.assert_array_equal(made, want)
        self.assertIn("py-block", px.list("mutations").rows()[-2]["name"])
        with self.assertRaisesRegex(px.UsageError, "size"):
            px.mutate(self.data[:3], mutation="py-block size=13 at=0.5 seed=3")
        with self.assertRaisesRegex(px.Error, "mutation 'py-torn' in Python: ValueError: apply.. gave uint8 of the shape"):
            px.mutate(self.data[:3], mutation="py-torn size=5 at=0.5 seed=3")

        class Endless(Block):
            id, settings = "py-endless", {"size": 3}
        with self.assertRaisesRegex(px.UsageError, "size needs bounds"):
            px.add_mutation(Endless)

    def test_mutation_makes_failures(self):
        told = []
        with tempfile.TemporaryDirectory() as folder:
            run = self.network.fuzz(self.data[:40], "nc", out=f"{folder}/c", executions=800, seed=2,
                                    mutations="py-block", on_failure=told.append)
            failures = run.failures()
            self.assertGreater(run.faults, 0)
            self.assertEqual([(f.id, f.chain, f.text) for f in told], [(f.id, f.chain, f.text) for f in failures])
            for one, other in zip(told, failures):
                numpy.testing.assert_array_equal(one.input, other.input)
                numpy.testing.assert_array_equal(one.original, other.original)
                self.assertIn("py-block size=", one.chain)

    def test_what_they_raise(self):
        with self.assertRaisesRegex(px.UsageError, "criterion 'py-broken' in Python: KeyError: 'nothing here'") as caught:
            self.network.cover(self.data, "py-broken")
        self.assertIsInstance(caught.exception.__cause__, KeyError)

    def test_nothing_is_left(self):
        self.network.cover(self.data, "py-over,py-peak")
        self.assertEqual([len(p.made) + len(getattr(p, "states", ())) + len(getattr(p, "selectors", ()))
                          for p in own._parts], [0] * len(own._parts))

    def test_laws(self):
        for criterion in (Over, Peak):
            testing.check_criterion(criterion, network=self.network, data=self.data)

    def test_laws_of_others(self):
        testing.check_selector(Sum, network=self.network, data=self.data)
        testing.check_mutation(Block, network=self.network, data=self.data[:40])

        class Mine:
            shape, dtype, classes = (1, 28, 28), "uint8", ["a", "b"]

            def __len__(self):
                return 5

            def __getitem__(self, index):
                return numpy.full(self.shape, index, self.kind)

            def label(self, index):
                return index % self.count
            kind, count = numpy.uint8, 2
        testing.check_source(Mine())

        class Position(Sum):
            def score(self, rows):
                return numpy.arange(len(rows))

        class Nan(Sum):
            def score(self, rows):
                return numpy.full(len(rows), numpy.nan)

        class InPlace(Block):
            def apply(self, picture, size, at, seed):
                picture[:] = 0
                return picture

        class Chance(Block):
            def apply(self, picture, size, at, seed):
                return numpy.random.default_rng().integers(0, 256, picture.shape, numpy.uint8)

        class Idle(Block):
            def apply(self, picture, size, at, seed):
                return picture

        class Fraction(Mine):
            kind = float

            def __getitem__(self, index):
                return super().__getitem__(index) + 0.5

        class ManyClasses(Mine):
            count = 5
        for check, wrong, law in ((testing.check_selector, Position, "the same|blocks"), (testing.check_selector, Nan, "finite"),
                                  (testing.check_mutation, Chance, "the same"), (testing.check_mutation, Torn, "type"),
                                  (testing.check_mutation, Idle, "change"), (testing.check_source, Fraction(), "type"),
                                  (testing.check_source, ManyClasses(), "label: input 2 has 2")):
            with self.subTest(str(wrong)), self.assertRaisesRegex(AssertionError, law):
                check(wrong)
        with self.assertRaisesRegex(ValueError, "read-only"):
            testing.check_mutation(InPlace)

    def test_laws_find_what_is_wrong(self):
        class NoMerge(Peak):
            def merge(self, other):
                pass

        class Forgets(Peak):
            def observe(self, rows):
                self.peak = float(rows.values.max())

        class Changes(Peak):
            def gain(self, row):
                got = super().gain(row)
                self.peak += got
                return got

        class Counts(Peak):
            def gain(self, row):
                return 1.0
        for wrong, law in ((NoMerge, "merge"), (Forgets, "growth|blocks"), (Changes, "gain: asking"),
                           (Counts, "gain: 1 was told")):
            with self.subTest(wrong.__name__), self.assertRaisesRegex(AssertionError, law):
                testing.check_criterion(wrong)


STRUCTS = [("px_criterion", own._CCriterion, {}), ("px_selector", own._CSelector, {}), ("px_rows", own._Rows, {}),
           ("px_input_facts", own._Facts, {}), ("px_param", own._Param, {"default": "def"}),
           ("px_entry", own._Entry, {}), ("px_coverage", own._Coverage, {}),
           ("px_criterion_request", own._CriterionRequest, {}), ("px_selector_request", own._SelectorRequest, {}),
           ("px_told_state", own._ToldState, {}), ("px_mutation", own._CMutation, {}),
           ("px_call_finding", own.c.Finding, {}), ("px_call_io", own.c.CallIO, {}),
           ("px_call_result", own.c.CallResult, {}), ("px_call_array", own.c.CallArray, {}),
           ("px_call_progress", own.c.Progress, {}), ("px_arrays", own.c.Arrays, {}), ("px_source", own.c.Source, {}),
           ("px_array", own.c.Array, {}), ("px_tensor", own.c.Tensor, {}), ("px_error", own.c.CError, {})]


FIRST = {"px_extractor", "px_selector_request"}  # of these the module has the first members alone
STRUCTS.append(("px_extractor", own._Extractor, {}))


@unittest.skipUnless(shutil.which("cc"), "there is no C compiler")
class Layout(unittest.TestCase):
    def test_structs_are_those_of_the_headers(self):
        lines = ["#include <plexor/plexor.h>", "#include <plexor/extend.h>", "#include <stdio.h>", "int main(void) {"]
        want = []
        for name, struct, other in STRUCTS:
            lines.append(f'printf("{name} %zu", (size_t){0 if name in FIRST else f"sizeof({name})"});')
            text = f"{name} {0 if name in FIRST else ctypes.sizeof(struct)}"
            for field, _ in struct._fields_:
                lines.append(f'printf(" {field} %zu", offsetof({name}, {other.get(field, field)}));')
                text += f" {field} {getattr(struct, field).offset}"
            lines.append('puts("");')
            want.append(text)
        with tempfile.TemporaryDirectory() as folder:
            program = os.path.join(folder, "layout")
            subprocess.run(["cc", "-std=c17", "-x", "c", "-I", TOP + "/include", "-", "-o", program],
                           input="\n".join(lines + ["return 0; }"]), text=True, check=True)
            self.assertEqual(subprocess.run([program], stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines(),
                             want)

    def test_stubs_are_what_the_commands_are(self):
        subprocess.run([sys.executable, TOP + "/python/make_stubs.py", "--check"], check=True)


if __name__ == "__main__":
    unittest.main()
