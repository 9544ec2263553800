# SPDX-License-Identifier: Apache-2.0
"""What the benchmarks share: peers, their entries, options, and how a run ends."""
import glob
import json
import math
import os
import platform
import shutil
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)

ORT_PACKAGE = "onnxruntime-node@1.30"
BATCHES = {"plexor": [0, 1, 2, 4, 8, 16, 32, 64], "ort": [1, 4, 8, 16, 32, 64, 128, 256],
           "torch": [1, 4, 8, 16, 32, 64, 128, 256]}
TOLERANCE = 1e-3    # of the largest value shown: peers must agree on it
SLOPE_TOLERANCE = 5e-2  # of the norm of a deep network's gradient
PEER_NAMES = {"plexor": "plexor", "ort": "ONNX Runtime", "torch": "PyTorch"}


def say(text):
    print(text, file=sys.stderr, flush=True)


class Trouble(RuntimeError):
    pass


class Peer:
    """A process that answers one line per request (bench/peer.h)."""

    def __init__(self, name, command):
        self.name, self.opened, self.command = name, 0, command
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True, bufsize=1)

    def ask(self, request):
        try:
            self.process.stdin.write(request + "\n")
            reply = self.process.stdout.readline().strip()
        except BrokenPipeError:
            reply = ""
        word, _, rest = reply.partition(" ")
        if not reply:
            raise Trouble(f"{self.name} ended unexpectedly at '{request}'")
        if word == "error":
            raise Trouble(f"{self.name}: {rest} (at '{request}')")
        return rest

    def close(self):
        self.process.stdin.close()
        self.process.wait()


class Entry:
    """One peer with one network, batch size, thread count and layout."""

    cpu = False  # rates per second of CPU time (--cpu)

    def __init__(self, peer, model, kind, batch, threads, layout):
        self.peer, self.kind, self.layout, self.threads = peer, kind, layout, threads
        peer.opened += 1
        self.identity = peer.opened % 256
        reply = peer.ask(f"open {self.identity} {model} {kind} {batch} {threads} {layout}")
        self.facts = dict(pair.split("=", 1) for pair in reply.split())
        self.batch, self.rates = int(self.facts["batch"]), []

    def run(self, seconds):
        time.sleep(0.05)  # threads of the peer before this one stop spinning
        by_clock, by_cpu = self.peer.ask(f"run {self.identity} {seconds}").split()
        rate = float(by_cpu if self.cpu else by_clock)
        self.rates.append(rate)
        return rate

    def close(self):
        if self.identity is not None:
            self.peer.ask(f"close {self.identity}")
        self.identity = None

    def check(self):
        return [float(v) for v in self.facts["check"].split(",")] if "check" in self.facts else []

    def best(self):
        return max(self.rates)


def layouts(peer, threads):
    if peer == "ort":
        return ["intra"] if threads == 1 else ["intra", "sessions"]
    return ["contiguous", "channels_last"] if peer == "torch" else ["own"]


def search(peer, model, kind, threads, seconds, keep, most=256):
    """The `keep` fastest entries of a peer. Batches grow, up to `most`, until they have clearly stopped
    to help."""
    entries = []
    for layout in layouts(peer.name, threads):
        best, worse = 0.0, 0
        for batch in (b for b in BATCHES[peer.name] if b <= most):
            entry = Entry(peer, model, kind, batch, threads, layout)
            entries.append(entry)
            entry.run(seconds / 4)  # warm
            rate = max(entry.run(seconds), entry.run(seconds))
            worse = worse + 1 if rate < 0.93 * best else 0
            best = max(best, rate)
            if worse == 2:
                break
    entries.sort(key=Entry.best, reverse=True)
    for entry in entries[keep:]:
        entry.close()
    for entry in entries[:keep]:
        entry.rates.clear()
    return entries[:keep]


def agree(a, b):
    x, y = a.check(), b.check()
    if not x or len(x) != len(y):
        return False
    scale = max(abs(v) for v in y) or 1.0
    return all(abs(v - w) <= TOLERANCE * scale for v, w in zip(x, y))


def agree_as_slopes(a, b):
    """Whether gradients are the same as a whole. Behind hundreds of kinks (ReLU, maxima) single values may differ
    by a few per cent, as float32 itself does from float64: a rounding puts an element on the other side."""
    x, y = a.check(), b.check()
    if not x or len(x) != len(y):
        return False
    return math.dist(x, y) <= SLOPE_TOLERANCE * (math.hypot(*y) or 1.0)


def fastest(entries):
    return max(entries, key=Entry.best)


def record(entry):
    return {"images_per_s": round(entry.best(), 1), "batch": entry.batch, "layout": entry.layout,
            "rounds": [round(r, 1) for r in entry.rates], "version": entry.facts.get("version")}


def verdict(held):
    return "-" if held is None else "held" if held else "NOT HELD"


def find_python(modules):
    for python in (os.environ.get("PLEXOR_PYTHON"), "/usr/bin/python3", sys.executable):
        if python and subprocess.run([python, "-c", f"import {modules}"], capture_output=True,
                                     check=False).returncode == 0:
            return python
    return None


def blas_of(python, modules="numpy"):
    """What the interpreter's numpy and PyTorch multiply matrices with: OpenBLAS with the processor
    it takes this one for, MKL, or the path of a library."""
    code = f"""import {modules}
import ctypes, re
paths = sorted({{line.split()[-1] for line in open('/proc/self/maps')
                if re.search(r'/[^/]*(blas|mkl|blis)[^/]*$', line)}})
paths = [p for p in paths if '/libblas' in p] or paths  # libblas.so.3 is what is called, whatever else is there
for path in paths:
    library = ctypes.CDLL(path)
    if hasattr(library, 'openblas_get_corename'):
        library.openblas_get_corename.restype = ctypes.c_char_p
        library.openblas_get_config.restype = ctypes.c_char_p
        print(library.openblas_get_config().decode(), 'as', library.openblas_get_corename().decode())
        break
else:
    print(' '.join(paths))
"""
    done = subprocess.run([python, "-c", code], capture_output=True, text=True, check=False)
    return done.stdout.strip()


def require_blas(python, modules="numpy"):
    """Says which BLAS an interpreter that is measured has, and refuses the reference one: it is what
    Debian has where no other is installed, and up to 40 times slower."""
    blas = blas_of(python, modules)
    if not any(name in blas.lower() for name in ("openblas", "mkl", "blis")):
        raise Trouble(f"{python} multiplies by the reference BLAS ({blas or 'none found'}), and would be "
                      "no honest peer; install libopenblas0-pthread")
    say(f"BLAS of {python}: {blas}")


def find_peer_python(modules):
    """As find_python(), for an interpreter that is measured."""
    python = find_python(modules)
    if python:
        require_blas(python, modules)
    return python


def shared():
    """The folder with trained networks and real data; None: not here."""
    for folder in (os.environ.get("PLEXOR_SHARED"), os.path.join(ROOT, "..", "shared")):
        if folder and os.path.exists(os.path.join(folder, "models", "resnet20_cifar10.onnx")):
            return os.path.realpath(folder)
    return None


def find_model(build, name):
    """The network's file, and whether it is a trained one."""
    folder = shared()
    if folder:
        return os.path.join(folder, "models", name + ".onnx"), True
    folder = os.path.join(build, "standins")
    model = os.path.join(folder, name + ".onnx")
    if not os.path.exists(model):
        python = find_python("onnx, numpy")
        if not python:
            raise Trouble("no trained networks (../shared) and no python3-onnx to make stand-ins")
        subprocess.run([python, os.path.join(HERE, "standin.py"), folder], check=True)
    return model, False


def find_ort(build):
    """Path of libonnxruntime.so, fetched if need be; None with a message if there is none."""
    if os.environ.get("PLEXOR_ORT"):
        return os.environ["PLEXOR_ORT"]
    machine = {"x86_64": "x64", "aarch64": "arm64"}.get(platform.machine(), platform.machine())
    folder = os.path.join(build, "ort")
    pattern = os.path.join(folder, "node_modules", "onnxruntime-node", "bin", "napi-v*", "linux",
                           machine, "libonnxruntime.so.1")
    if not glob.glob(pattern):
        if not shutil.which("npm"):
            say("ONNX Runtime left out: it comes from npm, which is not installed")
            return None
        say(f"fetching {ORT_PACKAGE} into {folder}")
        os.makedirs(folder, exist_ok=True)
        done = subprocess.run(["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund",
                               "--no-save", "--prefix", folder, ORT_PACKAGE],
                              stdout=sys.stderr, check=False)
        if done.returncode != 0 or not glob.glob(pattern):
            say("ONNX Runtime left out: npm could not fetch it")
            return None
    return glob.glob(pattern)[0]


def start_peers(names, build):
    peers = {}
    if "plexor" in names:
        peers["plexor"] = Peer("plexor", [os.path.join(build, "peer_plexor")])
    if "ort" in names:
        library = find_ort(build)
        if library:
            peers["ort"] = Peer("ort", [os.path.join(build, "peer_ort"), library])
    if "torch" in names:
        python = find_peer_python("torch, onnx, numpy")
        if python:
            peers["torch"] = Peer("torch", [python, os.path.join(HERE, "peer_torch.py")])
        else:
            say("PyTorch left out: install python3-torch and python3-onnx")
    return peers


def machine_name():
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as info:
            for line in info:
                if line.startswith("model name"):
                    return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.machine()


def common_options(parser, networks):
    parser.add_argument("--build", default=os.path.join(ROOT, "build"), help="build folder")
    parser.add_argument("--networks", default=",".join(networks), help="comma-separated names")
    parser.add_argument("--threads", default="1,2", help="comma-separated numbers of threads")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=1.0, help="length of a round per peer")
    parser.add_argument("--search", type=float, default=0.25, help="seconds per setting tried")
    parser.add_argument("--quick", action="store_true", help="three short rounds: a first look")
    parser.add_argument("--cpu", action="store_true",
                        help="count CPU time instead of the clock's: for a machine that is not idle")
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout")
    parser.add_argument("--gate", action="store_true", help="exit with 1 if a bar does not hold")


def numbers(parser, option, text):
    try:
        return [int(t) for t in text.split(",")]
    except ValueError:
        return parser.error(f"{option} wants numbers, as in 1,2")


def read_options(parser, networks):
    options = parser.parse_args()
    if options.quick:
        options.rounds, options.seconds, options.search = 3, 0.3, 0.1
    Entry.cpu = options.cpu
    options.networks = [name for name in options.networks.split(",") if name]
    options.threads = numbers(parser, "--threads", options.threads)
    for name in options.networks:
        if name not in networks:
            parser.error(f"'{name}' is not known; there is {', '.join(networks)}")
    return options


def finish(report, options, print_report):
    """Prints the report; the exit status."""
    if options.json:
        print(json.dumps(report, indent=2))
    else:
        print_report(report)
    if report["failures"] and options.gate:
        for failure in report["failures"]:
            say(f"bar not held: {failure}")
        return 1
    return 0
