#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""SIGINT and SIGTERM at random moments of every long command.

    tests/cli/signals.py build/plexor [NAME...]

Each command is given more work than it can do before a signal that comes soon after it has
started, and another time later; on two processors, so that a larger machine is not done early. It
must be gone within a second, with the exit status that docs/cli.md says, one sentence on stderr, and
no temporary file. On a machine that is busy otherwise, which gives it no whole second, it is a second
of processors that it may use after the signal. PLEXOR_SIGNAL_SEED repeats the moments. Prints TAP,
and the seconds that each one took, of processors in brackets.
"""

import os
import random
import resource
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import zlib

ALLOWED_S = 1.0
BUSY_S, BUSY_SHARE = 30.0, 0.25  # of a machine that does other things for a quarter of its time
TICKS = os.sysconf("SC_CLK_TCK")
SEED = int(os.environ.get("PLEXOR_SIGNAL_SEED", str(time.time_ns() % 10**9)))
DONE, TROUBLE = 0, 3

# name, exit status, command line; NET is a network of 56 layers, NOISE data for it, SMALL a network
# for the built-in digits, DEEP one of 56 layers for them, FOUND a campaign of SMALL, ARRAY inputs for
# NET, LARGE a folder of large pictures, OUT a fresh name. Each takes two seconds of a processor or
# more if nobody interrupts it.
COMMANDS = [
    ("eval", TROUBLE, "eval NET --data NOISE"),
    ("eval that looks for damage", TROUBLE, "eval SMALL --data LARGE --size 28x28 --skip-damaged"),
    ("train that looks for damage", TROUBLE, "train --arch lenet5 --data LARGE --size 28x28 --skip-damaged -o OUT.onnx"),
    ("check that looks for damage", TROUBLE, "check SMALL --data LARGE --size 28x28 --skip-damaged -o OUT"),
    ("run", TROUBLE, "run NET --input ARRAY -o OUT.npy"),
    ("grad", TROUBLE, "grad NET --input ARRAY --of #20:0 -o OUT.npy"),
    ("predict", TROUBLE, "predict NET NOISE -o OUT.csv"),
    ("doctor", TROUBLE, "doctor NET --data NOISE --limit 0"),
    ("profile", TROUBLE, "profile NET --train NOISE -o OUT.npz"),
    ("trace", TROUBLE, "trace NET --data NOISE --layers all -o OUT.npz"),
    ("cover", TROUBLE, "cover NET --data NOISE --criteria all"),
    ("select", TROUBLE, "select DEEP --data digits --by nss,mc-dropout --train-limit 2000"),
    ("select wobble", TROUBLE, "select NET --data NOISE --by wobble"),
    ("localize", TROUBLE, "localize NET --data NOISE --pooled"),
    ("localize shapley", TROUBLE, "localize NET --data NOISE --measure shapley"),
    ("localize shapley of a small one", TROUBLE, "localize SMALL --data digits --split train --measure shapley"),
    ("clever", TROUBLE, "clever NET --data NOISE"),
    ("attack", TROUBLE, "attack NET --data NOISE -o OUT"),
    ("attack deepfool", TROUBLE, "attack NET --data NOISE --method deepfool -o OUT"),
    ("fuzz", (DONE, TROUBLE), "fuzz NET --data NOISE --guide nlc -o OUT"),
    ("synthesize", TROUBLE, "synthesize NET --data NOISE --pooled -o OUT"),
    ("describe", TROUBLE, "describe NET --data NOISE -o OUT"),
    ("explain", TROUBLE, "explain NET 0 1 --data NOISE --steps 1000"),
    ("calibrate", TROUBLE, "calibrate NET --data NOISE -o OUT.npz"),
    ("train", TROUBLE, "train --arch vgg16-cifar --data NOISE -o OUT.onnx"),
    ("train small", TROUBLE, "train --arch lenet5 --data digits --epochs 500 -o OUT.onnx"),
    ("repair", TROUBLE, "repair SMALL --train digits --add digits --epochs 500 -o OUT.onnx"),
    ("map", TROUBLE, "map NET --data NOISE --limit 0 -o OUT.svg"),
    ("map umap", TROUBLE, "map NET --data NOISE --limit 0 --method umap -o OUT.svg"),
    ("map tsne", TROUBLE, "map NET --data NOISE --limit 0 --method tsne -o OUT.svg"),
    ("bench", TROUBLE, "bench NET --seconds 20"),
    ("check", TROUBLE, "check NET --data NOISE --minutes 10 --allow-chance -o OUT"),
    ("study", TROUBLE, "study deepfault --data mnist=digits --arch 5x30 --runs 500 -o OUT"),
    ("minimize", TROUBLE, "minimize FOUND --model SMALL --all-faults 5000 -o OUT"),
    ("replay", TROUBLE, "replay FOUND --all --model DEEP --classes none"),
    ("export", TROUBLE, "export FOUND --split all -o OUT"),
    ("assess", TROUBLE, "assess DEEP --original digits --adversarial FOUND --classes none"),
    ("mutate", TROUBLE, "mutate --data NOISE --set nss -o OUT"),
]


def make_noise(work, chance):
    """Random pictures in CIFAR-10's binary form, the same in all six files."""
    folder = os.path.join(work, "pictures")
    os.mkdir(folder)
    test = os.path.join(folder, "test_batch.bin")
    with open(test, "wb") as file:
        for i in range(10000):
            file.write(bytes([i % 10]) + chance.randbytes(3072))
    for i in range(1, 6):
        os.link(test, os.path.join(folder, f"data_batch_{i}.bin"))
    return "pictures"


def make_array(work, count):
    """Zeros as float32, [count, 3, 32, 32]; a sparse file."""
    header = repr({"descr": "<f4", "fortran_order": False, "shape": (count, 3, 32, 32)}).ljust(117) + "\n"
    with open(os.path.join(work, "array.npy"), "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
        file.truncate(file.tell() + count * 3 * 32 * 32 * 4)
    return "array.npy"


def make_large(work, chance):
    """One grey picture under many names, in two classes."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    side = 1000
    rows = b"".join(b"\0" + chance.randbytes(side) for _ in range(side))
    picture = os.path.join(work, "picture.png")
    with open(picture, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", side, side, 8, 0, 0, 0, 0))
                   + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))
    for name in "digit 0", "digit 1":
        os.makedirs(os.path.join(work, "large", name))
        for i in range(2000):
            os.link(picture, os.path.join(work, "large", name, f"{i}.png"))
    return "large"


def run(plexor, work, *args):
    done = subprocess.run([plexor, *args], cwd=work, capture_output=True, text=True)
    assert done.returncode == 0, f"{args}: {done.returncode} {done.stderr}"


def machine():
    """Seconds of the processors that are used here, since the machine was started, and those in which one had nothing
    to do."""
    ours = {f"cpu{number}" for number in os.sched_getaffinity(0)}
    with open("/proc/stat", encoding="ascii") as stat:
        lines = [line.split() for line in stat]
    ticks = [[int(t) for t in line[1:9]] for line in lines if line[0] in ours]
    return sum(map(sum, ticks)) / TICKS, sum(t[3] for t in ticks) / TICKS


def is_late(seconds, used, since):
    """`since`: the machine() of the signal."""
    if seconds <= ALLOWED_S or used > ALLOWED_S:
        return seconds > ALLOWED_S
    now = machine()
    total, idle = now[0] - since[0], now[1] - since[1]
    return seconds > BUSY_S or total - idle - used < BUSY_SHARE * total


def used_by(pid):
    """Seconds of processors, of all threads."""
    with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as stat:
        fields = stat.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def used_by_children():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def interrupt(plexor, work, line, number, after):
    """Runs a command and interrupts it: how long it went on, on the clock and of processors, whether that is too
    long; its status, None: it had to be killed; its stderr; whether it was done before."""
    before = used_by_children()
    process = subprocess.Popen([plexor, *line], cwd=work, stdout=subprocess.DEVNULL,
                               stderr=subprocess.PIPE, text=True)
    try:
        process.wait(after)
    except subprocess.TimeoutExpired:
        pass
    early = process.poll() is not None
    used = 0.0 if early else used_by(process.pid)
    since = machine()
    start = time.monotonic()
    if not early:
        process.send_signal(number)
    try:
        _, said = process.communicate(timeout=60)
        status = process.returncode
    except subprocess.TimeoutExpired:
        process.kill()
        _, said = process.communicate()
        status = None
    seconds = time.monotonic() - start
    used = used_by_children() - before - used
    return seconds, used, not early and is_late(seconds, used, since), status, said, early


def leftovers(work):
    return [os.path.join(folder, name) for folder, _, names in os.walk(work) for name in names
            if ".tmp" in name]


def main():
    plexor = os.path.abspath(sys.argv[1])
    only = sys.argv[2:]
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:2])
    signal.signal(signal.SIGINT, signal.default_int_handler)  # not ignored, as in the background of a shell
    chance, picture = random.Random(SEED), random.Random(1)  # the same network each time, interrupted at other moments
    work = tempfile.mkdtemp(prefix="plexor-signal-")
    chosen = [c for c in COMMANDS if not only or c[0] in only]
    print(f"1..{len(chosen)}\n# PLEXOR_SIGNAL_SEED={SEED}", flush=True)
    noise, array, large = make_noise(work, picture), make_array(work, 8000), make_large(work, picture)
    run(plexor, work, "train", "--arch", "resnet56", "--data", noise, "--train-limit", "32",
        "--test-limit", "32", "--epochs", "1", "-o", "net.onnx", "-q")
    small = os.path.join(os.path.dirname(os.path.abspath(__file__)), "models", "digits.onnx")
    run(plexor, work, "fuzz", small, "--data", "digits", "--guide", "nc", "--seeds", "200",
        "--executions", "300000", "-o", "found", "-q")
    run(plexor, work, "train", "--arch", "resnet56", "--data", "digits", "--train-limit", "32",
        "--test-limit", "32", "--epochs", "1", "-o", "deep.onnx", "-q")
    failed = 0
    for number, (name, statuses, text) in enumerate(chosen, 1):
        problems, took = [], []
        for turn, after in enumerate((chance.uniform(0.02, 0.4), chance.uniform(1.0, 3.0))):
            names = {"ARRAY": array, "LARGE": large, "NET": "net.onnx", "SMALL": small,
                     "DEEP": "deep.onnx", "NOISE": noise, "FOUND": "found"}
            kind = chance.choice((signal.SIGINT, signal.SIGTERM))
            line = [names.get(w, w.replace("OUT", f"out{number}_{turn}")) for w in text.split()]
            seconds, used, late, status, said, early = interrupt(plexor, work, line, kind, after)
            took.append("ended by itself" if early else f"{seconds:.2f} s ({used:.2f})")
            wanted = statuses if isinstance(statuses, tuple) else (statuses,)
            if early and turn == 0:
                problems.append(f"ended by itself with {status}: {said.strip()[:300]}")
            elif late:
                problems.append(f"{seconds:.2f} s after the signal, {used:.2f} of processors")
            if turn == 0 and status == -kind:
                continue  # before main(): nothing had begun
            if not early and status not in wanted:
                problems.append(f"exit status {status}, not {wanted}: {said.strip()[-300:]}")
            elif not early and status == TROUBLE and "plexor " not in said:
                problems.append(f"nothing was said: {said.strip()[-300:]}")
            left = leftovers(work)
            if left:
                problems.append(f"left {left}")
                for path in left:
                    os.remove(path)
        failed += bool(problems)
        print(f"{'not ok' if problems else 'ok'} {number} - {name}: {', '.join(took)}")
        for problem in problems:
            print("#", problem.replace("\n", "\n# "))
        sys.stdout.flush()
    shutil.rmtree(work, ignore_errors=True)
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
