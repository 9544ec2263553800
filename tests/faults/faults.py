#!/usr/bin/env python3
"""faults.py PLEXOR CALLS.so MEMORY.so [--all] - commands that write, with one system call or allocation failing.

Each command runs once undisturbed, to count its calls, and then again and again with the n-th of them failing. Whatever fails: the process ends by itself, in time,
with a status of docs/cli.md; a result that was there before is whole, the old one or the new; no temporary file stays; and the same command, undisturbed, then works.
A sample of all n is taken, and with --all up to MOST of each call. Speaks TAP, and prints a table of counts.
"""
import os
import random
import shutil
import subprocess
import sys
import tempfile

CALLS = ["open", "read", "pread", "write", "pwrite", "fsync", "fdatasync", "ftruncate", "close", "rename", "mkdir", "unlink", "mmap", "memory"]
MOST = 60  # of one call in one command, with --all
SAMPLE = 1  # without
TIMEOUT = 120
STATUSES = (0, 1, 2, 3)
OLD = b"what was there before\n"
MODEL = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli", "models", "digits.onnx")
DATA = ["--data", "digits", "--limit", "30"]

# name, arguments, arguments that run it again, the result (a file that is there before; None: a folder, which is not)
COMMANDS = [
    ("eval", ["eval", MODEL, *DATA, "--wrong", "out.npz"], None, "out.npz"),
    ("profile", ["profile", MODEL, "--train", "digits", "--train-limit", "30", "-o", "out.npz"], None, "out.npz"),
    ("trace", ["trace", MODEL, *DATA, "-o", "out.npz"], None, "out.npz"),
    ("select", ["select", MODEL, *DATA, "--budget", "5", "-o", "out.csv"], None, "out.csv"),
    ("localize", ["localize", MODEL, "--data", "base.campaign", "--split", "all", "--include-uninformative", "-o", "out.csv"], None, "out.csv"),
    ("minimize", ["minimize", "base.campaign", "--model", MODEL, "-o", "out.csv"], None, "out.csv"),
    ("mutate", ["mutate", "--data", "digits", "--limit", "4", "--mutation", "blur size=3", "-o", "out"], ["--fresh"], None),
    ("export", ["export", "base.campaign", "-o", "out"], ["--fresh"], None),
    ("fuzz", ["fuzz", MODEL, *DATA, "--seeds", "10", "--executions", "60", "--guide", "nc", "-o", "out"], ["--fresh"], None),
    ("train", ["train", MODEL, "--data", "digits", "--train-limit", "60", "--test-limit", "20", "--epochs", "1", "-o", "out.onnx"], ["--resume"], "out.onnx"),
    ("describe", ["describe", MODEL, *DATA, "-o", "out"], None, None),
    ("check", ["check", MODEL, *DATA, "--minutes", "0.002", "--train-limit", "30", "--skip", "synthesize,cluster", "-o", "out"], None, None),
]


class Faults:
    def __init__(self, plexor, calls, memory, base):
        self.plexor, self.libraries, self.base = plexor, {"memory": memory}, base
        self.calls = calls
        self.clean = dict(os.environ, LC_ALL="C", XDG_CACHE_HOME=os.path.join(base, "cache"))

    def run(self, folder, arguments, fault=None):
        """The exit status, negative for a signal, "hang"; and what was said."""
        environment = self.clean
        if fault:
            environment = dict(environment, LD_PRELOAD=self.libraries.get(fault["FAULT_CALL"], self.calls), **fault)
        try:
            done = subprocess.run([self.plexor, *arguments, "-q"], cwd=folder, env=environment, stdin=subprocess.DEVNULL, capture_output=True, timeout=TIMEOUT, check=False)
        except subprocess.TimeoutExpired:
            return "hang", b""
        return done.returncode, done.stderr

    def fresh(self, result):
        folder = tempfile.mkdtemp(dir=self.base)
        shutil.copytree(os.path.join(self.base, "base.campaign"), os.path.join(folder, "base.campaign"))
        if result:
            with open(os.path.join(folder, result), "wb") as out:
                out.write(OLD)
        return folder

    def count(self, name, call):
        _, arguments, _, result = name
        folder = self.fresh(result)
        log = os.path.join(self.base, "count")
        if os.path.exists(log):
            os.remove(log)
        status, said = self.run(folder, arguments, {"FAULT_CALL": call, "FAULT_LOG": log})
        shutil.rmtree(folder)
        if status not in (0, 1):
            raise SystemExit(f"Bail out! {name[0]} does not work undisturbed: {status} {said.decode('utf-8', 'replace')}")
        with open(log, encoding="ascii") as text:
            return int(text.read())

    def try_one(self, command, call, at, number, onwards):
        """What is wrong after one fault; and the status."""
        _, arguments, again, result = command
        folder = self.fresh(result)
        fault = {"FAULT_CALL": call, "FAULT_AT": str(at), "FAULT_ERRNO": number}
        if onwards:
            fault["FAULT_ONWARDS"] = "1"
        status, said = self.run(folder, arguments, fault)
        wrong = []
        if status not in STATUSES:
            wrong.append(f"status {status}")
        if status in (2, 3) and not said.strip():
            wrong.append("says nothing")
        if result and status in (2, 3):
            with open(os.path.join(folder, result), "rb") as text:
                now = text.read()
            if not now or (now != OLD and OLD[:8] in now):
                wrong.append("the old result is damaged")
        if call != "unlink" and not (onwards and call in ("open", "close", "memory")):
            left = [f for f in os.listdir(folder) if ".tmp-" in f]
            if left:
                wrong.append(f"left {left}")
        rerun = list(arguments)
        if again and any(os.path.exists(os.path.join(folder, f)) for f in ("out", "out.onnx.ckpt")):
            rerun += again
        if status != "hang":
            then, said_then = self.run(folder, rerun)
            if then not in (0, 1):
                wrong.append(f"cannot be run again: {then} {said_then.decode('utf-8', 'replace').strip()}")
        shutil.rmtree(folder)
        if wrong:
            wrong.append(said.decode("utf-8", "replace").strip())
        return wrong, status


def places(count, most):
    """Up to `most` of 1..count, the first and the last among them."""
    if count <= most:
        return list(range(1, count + 1))
    if most == 1:
        return [random.randint(1, count)]
    return sorted({1 + i * (count - 1) // (most - 1) for i in range(most)})


def main():
    plexor, calls, memory = (os.path.abspath(p) for p in sys.argv[1:4])
    complete = "--all" in sys.argv
    only = [a for a in sys.argv[4:] if not a.startswith("--")]
    random.seed(int(os.environ.get("FAULT_SEED", "1")))
    commands = [c for c in COMMANDS if not only or c[0] in only]
    print(f"1..{len(commands)}")
    table, bad = [], False
    with tempfile.TemporaryDirectory(prefix="plexor-faults-") as base:
        faults = Faults(plexor, calls, memory, base)
        made, said = faults.run(base, ["fuzz", MODEL, *DATA, "--seeds", "10", "--executions", "60", "--guide", "nc", "-o", "base.campaign"])
        if made != 0:
            raise SystemExit(f"Bail out! {said.decode('utf-8', 'replace')}")
        for number, command in enumerate(commands, 1):
            tried, statuses, wrong = 0, {}, []
            chosen = CALLS if complete else random.sample(CALLS[:-1], 5) + ["memory"]
            for call in chosen:
                for i, at in enumerate(places(faults.count(command, call), MOST if complete else SAMPLE)):
                    errno = ("EIO", "ENOSPC", "SHORT")[i % 3]
                    found, status = faults.try_one(command, call, at, errno, onwards=i % 3 == 1)
                    tried += 1
                    statuses[status] = statuses.get(status, 0) + 1
                    if found:
                        wrong.append(f"{call} {at} {errno}{' and on' if i % 3 == 1 else ''}: {'; '.join(found)}")
            bad = bad or bool(wrong)
            print(f"{'not ' if wrong else ''}ok {number} - {command[0]}: {tried} faults", flush=True)
            for line in wrong:
                print(f"#   {line}", flush=True)
            table.append((command[0], tried, statuses, len(wrong)))
    print("# command     faults  status 0     1     2     3  wrong")
    for name, tried, statuses, wrong in table:
        print(f"# {name:10} {tried:7} {statuses.get(0, 0):9} {statuses.get(1, 0):5} {statuses.get(2, 0):5} {statuses.get(3, 0):5} {wrong:6}")
    print(f"# {'all':10} {sum(t[1] for t in table):7} {'':27} {sum(t[3] for t in table):6}")
    sys.exit(1 if bad else 0)


main()
