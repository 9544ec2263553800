# SPDX-License-Identifier: Apache-2.0
"""Calls: errors, progress, remarks, Ctrl-C, memory, threads, forks."""
import ctypes
import gc
import os
import pickle
import resource
import signal
import subprocess
import sys
import threading
import time
import unittest
import unittest.mock

import numpy
import plexor as px
from cases import DIGITS, SANITIZED, digits, needs, unless_sanitized
from plexor import _call

ERRORS = [  # what, its exception, the status, how the sentence begins, what is advised
    (lambda n: n.eval("nosuch"), px.InputError, "PX_E_INPUT", "'nosuch'", ""),
    (lambda n: n.cover("digits", "ncc", limit=5), px.UsageError, "PX_E_USAGE", "there is no criterion 'ncc'", "nc, kmnc"),
    (lambda n: n.cover(digits()[0], "kmnc"), px.UsageError, "PX_E_USAGE", "the criteria need", "give --train"),
    (lambda n: n.eval("digits", limit=-5), px.UsageError, "PX_E_USAGE", "option '--limit' is -5", ""),
    (lambda n: px.load(b"no network"), px.InputError, "PX_E_INPUT", "'mem:python-network-", ""),
    (lambda n: px.eval("no.onnx", "digits"), px.InputError, "PX_E_INPUT", "'no.onnx'", ""),
    (lambda n: n.eval(numpy.zeros((4, 3, 7), numpy.float32)), px.MismatchError, "PX_E_MISMATCH", "", ""),
    (lambda n: n.eval(numpy.array([["a"]])), px.InputError, "PX_E_INPUT", "inputs are of", "uint8"),
    (lambda n: px.Data(digits()[0][:9], [1, 2]), px.InputError, "PX_E_INPUT", "9 inputs, 2 labels", "each input has one"),
    (lambda n: n.eval(digits()[0][:0]), px.InputError, "PX_E_INPUT", "there is no input", ""),
    (lambda n: n.attack("digits", eps=[0.1], restarts=[1, 2]), px.UsageError, "PX_E_USAGE", "attack: lists", "one at"),
    (lambda n: n.eval("digits", limit=object()), px.UsageError, "PX_E_USAGE", "object cannot be told", ""),
    (lambda n: n.eval("digits", shuffle="yes"), px.UsageError, "PX_E_USAGE", "eval: shuffle='yes'", ""),
]


class Errors(unittest.TestCase):
    def setUp(self):
        self.network = px.load(DIGITS)

    def test_exceptions(self):
        for function, kind, status, begins, advice in ERRORS:
            with self.assertRaises(kind) as caught:
                function(self.network)
            error = caught.exception
            with self.subTest(error.sentence):
                self.assertIsInstance(error, px.Error)
                self.assertEqual(error.status, status)
                self.assertTrue(error.sentence.startswith(begins), error.sentence)
                self.assertEqual(str(error), error.sentence)
                self.assertIn(advice, error.advice)
                again = pickle.loads(pickle.dumps(error))
                self.assertEqual((type(again), again.sentence, again.status), (kind, error.sentence, status))

    def test_parameters(self):
        for function, said in ((lambda n: n.eval(), "'data'"), (lambda n: n.eval("digits", sede=1), "did you mean 'seed'"),
                               (lambda n: px.merge("a", "b"), "'output'"), (lambda n: px.load(3), "int is no path"),
                               (lambda n: px.load(DIGITS, spede=1), "'spede'")):
            with self.assertRaises(TypeError) as caught:
                function(self.network)
            self.assertIn(said, str(caught.exception))

    def test_a_gate_that_does_not_hold_is_no_error(self):
        with _folder() as folder:
            report = self.network.check("digits", limit=50, only="eval", out=folder, gates="accuracy>=1.01")
        self.assertFalse(report.ok)
        self.assertEqual(report.verdict, "fail")


def _folder():
    import tempfile  # pylint: disable=import-outside-toplevel
    return tempfile.TemporaryDirectory(prefix="plexor-test-")


class Told(unittest.TestCase):
    def setUp(self):
        self.network = px.load(DIGITS)

    def test_progress_and_remarks(self):
        here, told, remarks = threading.get_ident(), [], []

        def progress(label, done, total, text):
            told.append((label, done, total, text, threading.get_ident()))
        self.network.cover("digits", "kmnc", limit=500, progress=progress, remark=remarks.append)
        self.assertTrue(told)
        self.assertEqual(told[-1][1], told[-1][2])
        self.assertEqual({t[4] for t in told}, {here})
        self.assertTrue(any("train" in r for r in remarks), remarks)

    def test_progress_ends_the_work(self):
        with self.assertRaises(px.CancelledError):
            self.network.attack("digits", "pgd", eps=0.1, steps=1000, progress=lambda *_: False)

    def test_exceptions_in_callbacks(self):
        for where in ("progress", "remark"):
            with self.subTest(where), self.assertRaisesRegex(ZeroDivisionError, "division"):
                self.network.cover("digits", "kmnc", **{where: lambda *_: 1 // 0})
        self.assertEqual(self.network.eval("digits", limit=50).count, 50)  # nothing of it is left

    def test_failures_as_they_are_found(self):
        with _folder() as folder:
            where, told = {"limit": 40, "seed": 2, "executions": 10**6}, []
            with self.assertRaisesRegex(ZeroDivisionError, "division"):
                self.network.fuzz("digits", "nc", out=folder + "/a", on_failure=lambda f: 1 // 0, **where)
            run = self.network.fuzz("digits", "nc", out=folder + "/b", on_failure=lambda f: told.append(f) or False, **where)
            self.assertEqual(len(told), 1)
            self.assertEqual(run.stopped, "asked to")
            self.assertLess(run.executions, 10**6)
        with self.assertRaisesRegex(px.UsageError, "on_failure"):
            self.network.attack("digits", eps=0.1, limit=5, on_failure=print)
        with self.assertRaisesRegex(TypeError, "on_failure"):
            self.network.eval("digits", limit=5, on_failure=print)

    def test_in_another_thread(self):
        raised = []

        def work():
            try:
                self.network.cover("digits", "kmnc", progress=lambda *_: 1 // 0)
            except ZeroDivisionError as error:
                raised.append(error)
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        self.assertEqual(len(raised), 1)


SLOW = """
import signal, sys, time
import plexor as px
net = px.load(sys.argv[1])
def heard(number, frame):
    signals.append(time.process_time())
    signal.default_int_handler(number, frame)
signal.signal(signal.SIGINT, heard)
signals = []
try:
    print("begun", flush=True)
    {call}
    print("done")
except KeyboardInterrupt as stop:
    print(type(stop).__name__, getattr(getattr(stop, "result", None), "executions", None))
    print(time.process_time() - signals[0])  # CPU time of all threads: what goes on after Ctrl-C, whoever else works
print(net.eval("digits", limit=50).count)
"""


class CtrlC(unittest.TestCase):
    def _interrupt(self, call, after=1.0):
        with subprocess.Popen([sys.executable, "-c", SLOW.replace("{call}", call), DIGITS], stdout=subprocess.PIPE,
                              env={**os.environ, "PYTHONPATH": sys.path[0]}, text=True) as process:
            self.assertEqual(process.stdout.readline(), "begun\n")
            time.sleep(after)
            process.send_signal(signal.SIGINT)
            lines = process.communicate(timeout=60)[0].splitlines()
            seconds = float(lines.pop(1)) if len(lines) > 1 else float("inf")
            return lines, seconds

    def test_attack(self):
        lines, seconds = self._interrupt("net.attack('digits', 'pgd', eps=0.1, steps=10000)")
        self.assertEqual(lines, ["Interrupted None", "50"])
        self.assertLess(seconds, 10 if SANITIZED else 1)

    def test_at_any_moment(self):
        """Also while Python handles what it is told, not only while it waits."""
        class Run(_call._Run):
            handled = 0

            def _handle(self, event):
                self.handled += 1
                if self.handled == 2:
                    raise KeyboardInterrupt
                super()._handle(event)
        network = px.load(DIGITS)
        with unittest.mock.patch.object(_call, "_Run", Run), self.assertRaises(px.Interrupted):
            network.attack("digits", "pgd", eps=0.1, steps=2000, progress=False)
        self.assertNotIn("plexor", [t.name for t in threading.enumerate()])

    def test_fuzz_keeps_what_it_has(self):
        with _folder() as folder:
            campaign = os.path.join(folder, "c")
            lines, _ = self._interrupt(f"net.fuzz('digits', 'nc', out={campaign!r}, time='60s')")
            self.assertEqual(lines[0].split()[0], "Interrupted")
            self.assertGreater(int(lines[0].split()[1]), 0)
            self.assertEqual(lines[1], "50")
            status = px.status(campaign, check=True)
            self.assertEqual(status.executions, int(lines[0].split()[1]))


def _peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


MEMORY = """
import resource, sys
import numpy as np, plexor as px
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
net = px.load(sys.argv[1], threads=1)
x = np.zeros((150000, 1, 28, 28), np.float32)
x += 0.5
net.eval((x[:1000], np.zeros(1000, int)), allow_chance=True)
view = x[::-1][:, :, ::-1]
before = peak()
net.eval((x, np.zeros(len(x), int)), allow_chance=True)
net.predict(view, limit=10)
net.eval((view, np.zeros(len(x), int)), allow_chance=True)
print((peak() - before) / x.nbytes)
"""


class Memory(unittest.TestCase):
    @unless_sanitized
    def test_pixels_are_not_copied(self):
        said = subprocess.run([sys.executable, "-c", MEMORY, DIGITS], stdout=subprocess.PIPE, check=True, text=True,
                              env={**os.environ, "PYTHONPATH": sys.path[0]}).stdout
        self.assertLess(float(said), 0.05)

    def test_strides(self):
        x, y, _ = digits()
        network = px.load(DIGITS)
        for name, view in (("every second", x[:200:2]), ("backwards", x[99::-1]), ("turned", x[:100, :, :, ::-1]),
                           ("Fortran", numpy.asfortranarray(x[:100]))):
            with self.subTest(name):
                got = network.predict(view, output="mem:p.npz").arrays()["probabilities"]
                want = network.predict(view.copy(), output="mem:p.npz").arrays()["probabilities"]
                numpy.testing.assert_array_equal(got, want)

    @needs("torch")
    def test_torch(self):
        import torch  # pylint: disable=import-outside-toplevel
        x, y, _ = digits()
        network = px.load(DIGITS)
        data = px.Data(torch.from_numpy(x[:100]), torch.from_numpy(y[:100]))
        self.assertEqual(network.eval(data).to_dict()["confusion"], network.eval((x[:100], y[:100])).to_dict()["confusion"])

    def test_arrays_outlive_all(self):
        arrays = px.load(DIGITS).trace("digits", limit=50).arrays()
        name = next(n for n in arrays if n not in ("labels", "predictions", "indices"))
        want = arrays[name].copy()
        view = arrays[name][10:20]
        del arrays
        gc.collect()
        trash = [numpy.full(want.shape, 7, want.dtype) for _ in range(200)]
        numpy.testing.assert_array_equal(view, want[10:20])
        del trash

    def test_data_that_is_freed_while_it_is_read(self):
        x, y, _ = digits()
        network, done = px.load(DIGITS), []
        data = px.Data(x.copy(), y)
        want = network.eval(data).to_dict()["confusion"]

        def work():
            done.append(network.eval(held.pop()).to_dict()["confusion"])
        for _ in range(5):
            held = [px.Data(x.copy(), y)]
            thread = threading.Thread(target=work)
            thread.start()
            gc.collect()
            thread.join()
        self.assertEqual(done, [want] * 5)

    def test_nothing_is_left(self):
        from plexor import data as inside  # pylint: disable=import-outside-toplevel
        x, y, _ = digits()
        network = px.load(DIGITS)

        def call():
            kept = network.trace((x[:10], y[:10])).arrays()
            with self.assertRaises(px.UsageError):
                network.cover((x[:10], y[:10]), "ncc")
            del kept
        for _ in range(100):
            call()
        gc.collect()
        before, used = _resident(), _allocated()
        for _ in range(1000):
            call()
        gc.collect()
        self.assertEqual(len(inside._borrowed), 0)
        if not SANITIZED:
            self.assertLess(_allocated() - used, 64 << 10)  # 64 bytes a call would show
            self.assertLess(_resident() - before, 8 << 20)


class _Mallinfo(ctypes.Structure):
    _fields_ = [(n, ctypes.c_size_t) for n in ("arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks",
                                               "uordblks", "fordblks", "keepcost")]


def _allocated():
    """Bytes of malloc() that are in use, in all arenas, and of its large pieces."""
    mallinfo = ctypes.CDLL(None).mallinfo2
    mallinfo.restype = _Mallinfo
    now = mallinfo()
    return now.uordblks + now.hblkhd


def _resident():
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * resource.getpagesize()


class Together(unittest.TestCase):
    def test_threads(self):
        x, y, _ = digits()
        networks = [px.load(DIGITS), px.load(open(DIGITS, "rb").read())]
        want = [n.eval((x[:500], y[:500])).to_dict()["confusion"] for n in networks]
        got = [[], []]

        def work(i):
            for _ in range(10):
                got[i].append(networks[i].eval((x[:500], y[:500])).to_dict()["confusion"])
        threads = [threading.Thread(target=work, args=(i,)) for i in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(got, [[want[0]] * 10, [want[1]] * 10])

    def test_python_goes_on_meanwhile(self):
        network, ticks, stop = px.load(DIGITS), [], []

        def tick():
            while not stop:
                ticks.append(time.monotonic())
                time.sleep(0.005)
        thread = threading.Thread(target=tick, daemon=True)
        thread.start()
        before = len(ticks)
        network.attack("digits", "pgd", limit=500, eps=0.1, steps=50)
        stop.append(True)
        self.assertGreater(len(ticks), before + 5)

    def test_fork(self):
        x, y, _ = digits()
        network, data = px.load(open(DIGITS, "rb").read()), px.Data(x[:200], y[:200])
        want = network.eval(data).correct
        child = os.fork()
        if child == 0:
            try:
                os._exit(0 if network.eval(data).correct == want else 1)
            finally:
                os._exit(2)
        end = time.monotonic() + 60
        status = 0
        while time.monotonic() < end and not status:
            pid, code = os.waitpid(child, os.WNOHANG)
            if pid:
                status = ("ended", code)
            time.sleep(0.05)
        if not status:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
        self.assertEqual(status, ("ended", 0))
        self.assertEqual(network.eval(data).correct, want)

    def test_pickle(self):
        network = pickle.loads(pickle.dumps(px.load(open(DIGITS, "rb").read(), batch=16)))
        self.assertEqual(network.options, {"batch": 16})
        self.assertEqual(network.eval("digits", limit=50).count, 50)


if __name__ == "__main__":
    unittest.main()
