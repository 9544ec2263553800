# SPDX-License-Identifier: Apache-2.0
"""docs/python.md: what its examples say happens. And types, as editors and mypy are told of them."""
import ast
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import numpy
import plexor as px
from cases import TOP, has, needs

PAGE = os.path.join(TOP, "docs", "python.md")


def _blocks():
    with open(PAGE, encoding="utf-8") as file:
        return re.findall(r"^```python\n(.*?)^```", file.read(), re.M | re.S)


def _pictures(count, seed):
    """Colour pictures of three classes, told by the channel that is brightest."""
    random = numpy.random.default_rng(seed)
    y = numpy.arange(count) % 3
    x = random.integers(0, 140, (count, 3, 32, 32), numpy.uint8)
    x[numpy.arange(count), y] += random.integers(60, 110, (count, 1, 1), numpy.uint8)
    return x, y


@needs("pandas")
@needs("matplotlib")
class Examples(unittest.TestCase):
    """The page is read from top to bottom, as somebody does who has a network and arrays."""

    @classmethod
    def setUpClass(cls):
        cls.before, cls.folder = os.getcwd(), tempfile.TemporaryDirectory(prefix="plexor-docs-")
        os.chdir(cls.folder.name)
        import matplotlib  # pylint: disable=import-outside-toplevel
        matplotlib.use("Agg")
        x_train, y_train = _pictures(600, 1)
        x_test, y_test = _pictures(600, 2)
        names = ["red", "green", "blue"]
        cls.shown = []
        cls.names = {"x_test": x_test, "y_test": y_test, "names": names, "frame": None, "show": cls.shown.append,
                     "train": px.Data(x_train, y_train, classes=names)}
        px.train(cls.names["train"], arch="lenet1", preprocess="imagenet", epochs=3, lr=0.01, test="none", seed=1,
                 output="net.onnx")

    @classmethod
    def tearDownClass(cls):
        os.chdir(cls.before)
        cls.folder.cleanup()

    def test_they_run(self):
        blocks = _blocks()
        self.assertGreater(len(blocks), 4)
        for block in blocks:
            if "pytest.fixture" in block:  # test_gate.py has these
                continue
            with self.subTest(block.splitlines()[0]):
                exec(compile(block, PAGE, "exec"), self.names)  # pylint: disable=exec-used
        self.assertGreater(self.names["found"].accuracy, 0.9)
        self.assertEqual(len(self.shown), self.names["run"].faults)
        self.assertIsInstance(self.names["better"], px.Network)


# Somebody's program, as a type checker sees it; what is wrong in it has to be found.
TYPED = """
import plexor as px
net = px.load("net.onnx", preprocess="imagenet")
data = px.Data("digits")
share: float = net.eval(data).accuracy
adv = net.attack(data[:1000], "pgd", eps=[1/255, "2/255"])
run = net.fuzz(data, guide="kmnc", executions=20_000, out="run.campaign", on_failure=lambda f: print(f.id))
rep = net.check(data, gates=["accuracy>=0.9"], minutes=2, out="check")
px.list("criteria")
again: px.Network = net.repair(data, run, epochs=1).network
for batch in net.trace_batches(data, 100):
    batch.keys()
"""
WRONG = [("net.eval(dta=data)", "dta"), ("net.eval(data, limit='all')", "limit"),
         ("net.evil(data)", "evil"), ("px.cover(net)", "data")]


class Types(unittest.TestCase):
    def setUp(self):
        with open(os.path.join(TOP, "python", "plexor", "__init__.pyi"), encoding="utf-8") as file:
            self.stubs = ast.parse(file.read())

    def test_types_are_types(self):
        """What a function is called is no type: the module has list(), help(), map() ..."""
        functions = {n.name for n in self.stubs.body if isinstance(n, ast.FunctionDef)}
        named = set()
        for node in ast.walk(self.stubs):
            for kind in (getattr(node, "annotation", None), getattr(node, "returns", None)):
                named |= {n.id for n in ast.walk(kind) if isinstance(n, ast.Name)} if kind else set()
        self.assertIn("Sequence", named)
        self.assertEqual(named & functions, set())

    @unittest.skipUnless(has("mypy"), "mypy is not installed")
    def test_programs(self):
        with tempfile.TemporaryDirectory() as folder:
            shutil.copytree(os.path.join(TOP, "python", "plexor"), folder + "/plexor", ignore=shutil.ignore_patterns("_*.py"))
            for name, text in (("right.py", TYPED), ("wrong.py", TYPED + "\n".join(w for w, _ in WRONG) + "\n")):
                with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                    file.write(text)
            said = [subprocess.run([sys.executable, "-m", "mypy", "--ignore-missing-imports", "--follow-imports=silent",
                                    "--cache-dir", folder + "/cache", name], cwd=folder, stdout=subprocess.PIPE, text=True,
                                   check=False).stdout for name in ("right.py", "wrong.py")]
        self.assertIn("Success", said[0])
        for (_, word), line in zip(WRONG, said[1].splitlines()):
            self.assertRegex(line, f'error: .*"{word}"')


if __name__ == "__main__":
    unittest.main()
