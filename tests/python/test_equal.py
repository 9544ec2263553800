# SPDX-License-Identifier: Apache-2.0
"""What functions return is what the command line prints with --json, command by command."""
import json
import os
import re
import shutil
import tempfile
import unittest

import numpy
import plexor as px
from cases import DIGITS, MODELS, digits, program

# How long it took, and how much memory: of each run its own.
MEASURED = re.compile(r"(^|_)(seconds|ms|per_s|times|rss_mib|s|stamp|speed|rate_per_s|pid|fre)$|seconds|_per_s$|^now$")
# What a call is asked for, as on the command line: the words, and what Python is told.
CALLS = [
    ("version", [], lambda: px.version()),
    ("list criteria", ["list", "criteria"], lambda: px.list("criteria")),
    ("list attacks", ["list", "attacks"], lambda: px.list("attacks")),
    ("list measures", ["list", "measures"], lambda: px.list("measures")),
    ("info", [DIGITS], lambda n: n.info()),
    ("info two", ["info", MODELS + "/two.onnx"], lambda: px.info(MODELS + "/two.onnx")),
    ("info plan", ["info", DIGITS, "--plan"], lambda n: n.info(plan=True)),
    ("eval", [DIGITS, "--data", "digits", "--limit", "300"], lambda n: n.eval("digits", limit=300)),
    ("eval shuffled", ["eval", DIGITS, "--data", "digits", "--limit", "100", "--shuffle", "--seed", "3"],
     lambda n: n.eval("digits", limit=100, shuffle=True, seed=3)),
    ("eval std", ["eval", DIGITS, "--data", "digits", "--limit", "100", "--mean", "0.1", "--std", "0.5",
                  "--allow-chance"], lambda n: n.eval("digits", limit=100, mean=0.1, std=0.5, allow_chance=True)),
    ("eval preprocess", ["eval", DIGITS, "--data", "digits", "--limit", "100", "--scale", "1/255", "--batch", "16"],
     lambda n: px.load(DIGITS, scale="1/255", batch=16).eval("digits", limit=100)),
    ("predict", [DIGITS, "--data", "digits", "--limit", "20"], lambda n: n.predict("digits", limit=20)),
    ("predict top", ["predict", DIGITS, "--data", "digits", "--offset", "5", "--limit", "9", "--top", "2"],
     lambda n: n.predict("digits", offset=5, limit=9, top=2)),
    ("doctor", [DIGITS, "--data", "digits", "--limit", "200"], lambda n: n.doctor("digits", limit=200)),
    ("cover", [DIGITS, "--data", "digits", "--limit", "100", "--criteria", "nc,kmnc,nbc"],
     lambda n: n.cover("digits", ["nc", "kmnc", "nbc"], limit=100)),
    ("cover set", ["cover", DIGITS, "--data", "digits", "--limit", "50", "--criteria", "nc,tknc", "--set", "nc.t=0.25",
                   "--set", "tknc.k=2"],
     lambda n: n.cover("digits", ["nc", "tknc"], limit=50, set={"nc.t": 0.25, "tknc.k": 2})),
    ("cover train", ["cover", DIGITS, "--data", "digits", "--limit", "50", "--criteria", "snac", "--train", "digits",
                     "--train-limit", "60"],
     lambda n: n.cover("digits", "snac", limit=50, train="digits", train_limit=60)),
    ("cover all", ["cover", DIGITS, "--data", "digits", "--limit", "30", "--criteria", "all"],
     lambda n: n.cover("digits", "all", limit=30)),
    ("localize", [DIGITS, "--data", "digits", "--include-uninformative"],
     lambda n: n.localize("digits", include_uninformative=True)),
    ("localize ochiai", ["localize", DIGITS, "--data", "digits", "--measure", "ochiai", "-k", "3",
                         "--include-uninformative"],
     lambda n: n.localize("digits", "ochiai", k=3, include_uninformative=True)),
    ("select", [DIGITS, "--data", "digits", "--limit", "200", "--by", "gini", "--budget", "10"],
     lambda n: n.select("digits", "gini", limit=200, budget=10)),
    ("select two", ["select", DIGITS, "--data", "digits", "--limit", "100", "--by", "gini,random", "--budget", "10%"],
     lambda n: n.select("digits", by=["gini", "random"], limit=100, budget="10%")),
    ("select stratified", ["select", DIGITS, "--data", "digits", "--limit", "100", "--by", "entropy", "--budget", "20",
                           "--stratify"],
     lambda n: n.select("digits", by="entropy", limit=100, budget=20, stratify=True)),
    ("attack fgsm", ["attack", DIGITS, "--data", "digits", "--limit", "40", "--method", "fgsm", "--eps", "0.1"],
     lambda n: n.attack("digits", "fgsm", limit=40, eps=0.1)),
    ("attack pgd", ["attack", DIGITS, "--data", "digits", "--limit", "20", "--method", "pgd", "--eps", "8/255",
                    "--steps", "5"], lambda n: n.attack("digits", "pgd", limit=20, eps="8/255", steps=5)),
    ("attack l2", ["attack", DIGITS, "--data", "digits", "--limit", "20", "--method", "bim", "--norm", "l2", "--eps",
                   "1"], lambda n: n.attack("digits", method="bim", limit=20, norm="l2", eps=1)),
    ("clever", [DIGITS, "--data", "digits", "--limit", "5", "--batches", "5", "--samples", "20"],
     lambda n: n.clever("digits", limit=5, batches=5, samples=20)),
    ("mutate", ["mutate", "--data", "digits", "--limit", "4", "--mutation", "rotation angle=12", "-o", "OUT.npz"],
     lambda: px.mutate("digits", "rotation angle=12", limit=4, output="OUT.npz")),
    ("trace", [DIGITS, "--data", "digits", "--limit", "20", "-o", "OUT.npz"],
     lambda n: n.trace("digits", limit=20, output="OUT.npz")),
    ("profile", [DIGITS, "--train", "digits", "--train-limit", "50", "-o", "OUT.npz"],
     lambda n: n.profile("digits", train_limit=50, output="OUT.npz")),
    ("fuzz", [DIGITS, "--data", "digits", "--limit", "20", "-o", "OUT.campaign", "--executions", "300", "--guide",
              "nc"],
     lambda n: n.fuzz("digits", "nc", limit=20, output="OUT.campaign", executions=300)),
    ("status", ["status", "OUT.campaign"], lambda: px.status("OUT.campaign")),
    ("replay", ["replay", "OUT.campaign", "--all"], lambda: px.replay("OUT.campaign", all=True)),
    ("assess", [DIGITS, "--original", "digits", "--adversarial", "digits", "--limit", "20"],
     lambda n: n.assess("digits", "digits", limit=20)),
    ("synthesize", [DIGITS, "--data", "digits", "--limit", "40", "--measure", "random", "-k", "2"],
     lambda n: n.synthesize("digits", limit=40, measure="random", k=2)),
    ("map", [DIGITS, "--data", "digits", "--limit", "40", "-o", "OUT.csv"],
     lambda n: n.map("digits", limit=40, output="OUT.csv")),
    ("run", ["run", DIGITS, "--input", "IN.npy", "-o", "OUT.npy"],
     lambda n: n.run("IN.npy", output="OUT.npy")),
    ("grad", ["grad", DIGITS, "--input", "IN.npy", "-o", "OUT.npy", "--of", "loss", "--labels", "LABELS.npy"],
     lambda n: n.grad("IN.npy", output="OUT.npy", of="loss", labels="LABELS.npy")),
    ("embed", ["embed", "a cat", "a dog", "--captions", "CAPTIONS.txt", "--dimensions", "4"],
     lambda: px.embed("a cat", "a dog", captions="CAPTIONS.txt", dimensions=4)),
    ("train", ["train", "--arch", "lenet5", "--data", "SOME.npz", "-o", "OUT.onnx", "--epochs", "1", "--test", "none"],
     lambda: px.train("SOME.npz", arch="lenet5", output="OUT.onnx", epochs=1, test="none")),
    ("repair", [DIGITS, "--train", "SOME.npz", "--add", "SOME.npz", "-o", "OUT.onnx", "--epochs", "1", "--test",
                "SOME.npz"],
     lambda n: n.repair("SOME.npz", "SOME.npz", output="OUT.onnx", epochs=1, test="SOME.npz")),
    ("check", [DIGITS, "--data", "digits", "--limit", "60", "--only", "eval", "-o", "OUT.check", "--fail-under",
               "accuracy=0.9"],
     lambda n: n.check("digits", limit=60, only="eval", out="OUT.check", gates="accuracy>=0.9")),
    ("eval arrays", ["eval", DIGITS, "--data", "SOME.npz"], lambda n: n.eval(_some())),
    ("cover arrays", ["cover", DIGITS, "--data", "SOME.npz", "--criteria", "nc"], lambda n: n.cover(_some(), "nc")),
    ("select arrays", ["select", DIGITS, "--data", "SOME.npz", "--by", "gini", "--budget", "5"],
     lambda n: n.select(_some(), "gini", budget=5)),
]
KEPT = {"status", "replay"}  # they look at what the call before left
FROM_MEMORY = {"eval arrays", "cover arrays", "select arrays"}


def _some():
    x, y, _ = digits()
    return x[:100], y[:100]


def comparable(value, skip):
    """Without what was measured, and without the words that asked for it."""
    if isinstance(value, dict):
        return {k: comparable(v, skip) for k, v in value.items() if k not in skip and not MEASURED.search(k)}
    if isinstance(value, list):
        return [comparable(v, skip) for v in value]
    return value


def clean():
    for name in os.listdir("."):
        if name.startswith("OUT"):
            (shutil.rmtree if os.path.isdir(name) else os.remove)(name)


class Equal(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.before = os.getcwd()
        cls.folder = tempfile.TemporaryDirectory(prefix="plexor-equal-")
        os.chdir(cls.folder.name)
        x, y, _ = digits()
        numpy.save("IN.npy", x[:3].astype(numpy.float32) / 255)
        numpy.save("LABELS.npy", y[:3])
        numpy.savez("SOME.npz", x=x[:100], y=y[:100])
        with open("CAPTIONS.txt", "w", encoding="utf-8") as file:
            file.write("a cat sits\na dog runs\na cat and a dog play\nthe dog sits\n" * 5)
        cls.network = px.load(DIGITS)

    @classmethod
    def tearDownClass(cls):
        os.chdir(cls.before)
        cls.folder.cleanup()


def case_of(name, words, function):
    def test(self):
        command = name.split()[0]
        skip = {"command"} | ({"data"} if name in FROM_MEMORY else set())
        words_now = words if words[:1] == [command] else [command, *words]
        if command not in KEPT:
            clean()
        said = json.loads(program(*words_now, "--json"))
        if command not in KEPT:
            clean()
        got = function(self.network) if function.__code__.co_argcount else function()
        self.assertNotIn("error", said)
        want = comparable(said, skip)
        self.assertEqual(comparable(got.to_dict(), skip), want)
        self.assertTrue(command in ("version",) or len(want) > 2, want)
    return test


for _name, _words, _function in CALLS:
    setattr(Equal, "test_" + re.sub(r"\W", "_", f"{CALLS.index((_name, _words, _function)):02} {_name}"),
            case_of(_name, _words, _function))


class Complete(unittest.TestCase):
    def test_every_command_with_a_result_is_a_function(self):
        commands = json.loads(program("help", "--json"))["commands"]
        for command in commands:
            if command.get("result"):
                with self.subTest(command["name"]):
                    self.assertTrue(callable(getattr(px, command["name"].replace("-", "_"))))

    def test_forty_calls(self):
        self.assertGreaterEqual(len(CALLS), 40)
