# SPDX-License-Identifier: Apache-2.0
"""Gates: in pytest, as scorers, at the end of an epoch."""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

import numpy
import plexor as px
from cases import DIGITS, digits, needs

FILE = f"""
import plexor as px
import pytest

@pytest.fixture(scope="module")
def plexor_network():
    return px.load({DIGITS!r})

@pytest.fixture(scope="module")
def plexor_data():
    return px.Data("digits")[:200]

test_accuracy = px.gate("accuracy>=0.9")
test_too_much = px.gate("accuracy>99.9%")
test_classes = px.gate("accuracy>=0.96", each_class=10)
test_all_classes = px.gate("accuracy>=0.9", each_class=True)
test_robust = px.gate("robust_accuracy<=1", of="attack", method="fgsm", eps=0.01, limit=20)

def test_of_another_kind():
    assert True
"""


@needs("pytest")
class Pytest(unittest.TestCase):
    def run_pytest(self, *options):
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "test_net.py"), "w", encoding="utf-8") as file:
                file.write(FILE)
            said = subprocess.run([sys.executable, "-m", "pytest", "-p", "plexor.pytest_plugin", "-p", "no:cacheprovider",
                                   "-v", "--plexor-report=report" if "report" in options else "--verbose",
                                   *[o for o in options if o != "report"]], cwd=folder, capture_output=True, text=True,
                                  check=False, env={**os.environ, "PYTHONPATH": sys.path[0]})
            report = os.path.join(folder, "report", "results.json")
            kept = json.load(open(report, encoding="utf-8")) if os.path.exists(report) else None
            page = os.path.exists(os.path.join(folder, "report", "index.html"))
        return said.stdout + said.stderr, kept, page

    def test_gates_are_tests(self):
        said, kept, page = self.run_pytest("report")
        for name, verdict in (("test_accuracy", "PASSED"), ("test_too_much", "FAILED"), ("test_classes[0]", "PASSED"),
                              ("test_classes[8]", "FAILED"), ("test_all_classes", "PASSED"), ("test_robust", "PASSED"),
                              ("test_of_another_kind", "PASSED")):
            self.assertRegex(said, rf"::{name.replace('[', '.').replace(']', '.')} {verdict}", said)
        self.assertIn("accuracy is 0.99, the gate wants accuracy>99.9%", said)
        self.assertIn("accuracy of class '8' is 0.95", said)
        self.assertEqual(len(kept["gates"]), 14)
        self.assertEqual(len(kept["results"]), 2)  # calls are shared
        self.assertTrue(page)

    def test_fixtures_of_the_plug_in(self):
        for said, given, ini in (("2 passed", ["--plexor-network", DIGITS, "--plexor-data", "digits"], ""),
                                 ("2 passed", [], "[pytest]\nplexor_network = kept/net.onnx\nplexor_data = digits\n"
                                                  "plexor_options =\n    threads=1\n    batch = 16\n"),
                                 ("there is no data: give --plexor-data", ["--plexor-network", DIGITS], ""),
                                 ("2 skipped", None, "")):
            with self.subTest(said), tempfile.TemporaryDirectory() as folder:
                os.mkdir(folder + "/kept")
                shutil.copy(DIGITS, folder + "/kept/net.onnx")
                for name, text in (("pytest.ini", ini), ("test_net.py", "import plexor as px\n"
                                                        "test_accuracy = px.gate('accuracy>=0.9', limit=100)\n"
                                                        "def test_network(plexor_network, plexor_data):\n"
                                                        "    assert plexor_network.options in ({}, {'threads': '1', 'batch': '16'})\n")):
                    if text:
                        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                            file.write(text)
                done = subprocess.run([sys.executable, "-m", "pytest", "-p", "plexor.pytest_plugin", "-p", "no:cacheprovider",
                                       *(["--plexor", *given] if given is not None else [])], cwd=folder, text=True,
                                      capture_output=True, check=False, env={**os.environ, "PYTHONPATH": sys.path[0]})
                self.assertIn(said, done.stdout + done.stderr)

    def test_without_plexor_they_are_skipped(self):
        said, kept, _ = self.run_pytest()
        self.assertIn("1 passed, 14 skipped", said)
        self.assertIsNone(kept)


class Elsewhere(unittest.TestCase):
    def test_gate_by_hand(self):
        network, (x, y, _) = px.load(DIGITS), digits()
        self.assertEqual(px.gate("accuracy>=0.9").check(network, (x[:200], y[:200])).count, 200)
        with self.assertRaisesRegex(AssertionError, "accuracy is 0.99, the gate wants accuracy>=100%"):
            px.gate("accuracy>=100%").check(network, (x[:200], y[:200]))
        px.gate("nc>=0.5", of="cover", criteria="nc,tknc").check(network, x[:200])
        with self.assertRaisesRegex(AssertionError, "nc is 0.9.*, the gate wants nc<=0.5"):
            px.gate("nc<=0.5", of="cover", criteria="nc,tknc").check(network, x[:200])
        with self.assertRaisesRegex(px.UsageError, "has no number 'acuracy'; it has .*accuracy"):
            px.gate("acuracy>=0.9").check(network, (x[:200], y[:200]))
        with self.assertRaisesRegex(px.UsageError, "expected a name"):
            px.gate("accuracy 0.9")

    def test_scorer(self):
        network, (x, y, _) = px.load(DIGITS), digits()
        score = px.scorer()
        self.assertEqual(score(network, x[:200], y[:200]), network.eval((x[:200], y[:200])).accuracy)
        self.assertLess(px.scorer("robust_accuracy", of="attack", method="fgsm", eps=0.3)(network, x[:50], y[:50]), 1)

    @needs("torch")
    def test_epoch_end(self):
        import torch  # pylint: disable=import-outside-toplevel
        torch.manual_seed(0)
        x, y, _ = digits()
        values = x[:500].astype(numpy.float32) / 255
        module = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(784, 10))
        hook = px.EpochEnd(module, torch.from_numpy(values[:1]), (values, y[:500]), "accuracy>=0.9", every=2, scale=1)
        optimizer, held = torch.optim.Adam(module.parameters(), 0.01), []
        for epoch in range(8):
            torch.nn.functional.cross_entropy(module(torch.from_numpy(values)), torch.from_numpy(y[:500])).backward()
            optimizer.step()
            optimizer.zero_grad()
            held.append(hook(epoch))
        self.assertEqual(len(hook.history), 4)
        with torch.no_grad():
            right = float((module(torch.from_numpy(values)).argmax(1).numpy() == y[:500]).mean())
        self.assertAlmostEqual(hook.history[-1][1][0].accuracy, right)
        self.assertTrue(held[0])
        self.assertTrue(module.training)
        with tempfile.TemporaryDirectory() as folder:  # the whole examination, at the end of each epoch
            whole = px.EpochEnd(module, torch.from_numpy(values[:1]), (values, y[:500]), scale=1, gates=[
                px.gate(text, of="check", minutes=0.05, only="eval", out=folder + "/check", fresh=True)
                for text in ("accuracy>=0.5", "ece<0")])
            self.assertEqual([whole(0), whole(1)], [False, False])  # ece is never below 0
            self.assertRegex(whole.said[0], "ece is .*, the gate wants ece<0")
            self.assertEqual([len(results) for _, results in whole.history], [1, 1])
            self.assertTrue(os.path.exists(whole.history[-1][1][0].report))
        strict = px.EpochEnd(module, torch.from_numpy(values[:1]), (values, y[:500]), "accuracy>1", stop=True, scale=1)
        with self.assertRaisesRegex(AssertionError, "epoch 0: accuracy is"):
            strict(0)


if __name__ == "__main__":
    unittest.main()
