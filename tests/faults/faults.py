#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""faults.py PLEXOR CALLS.so MEMORY.so [--all] [NAME...] - commands that write, with one system call or allocation failing.

Each command runs twice undisturbed, to count its calls and to see what it writes, and then again and again with the n-th call failing, or killed there. Whatever
happens: the process ends by itself, in time, with the status that docs/cli.md has for it and a sentence; files that it only reads are as they were; a result that was
there before is whole, the old one or the new; what it calls done is what it writes undisturbed; no temporary file stays; and the same command then works.

A sample of all n is taken, and with --all up to FAULT_MOST of each call. FAULT_SEED chooses another sample. Speaks TAP, and prints a table of counts.
"""
import hashlib
import os
import random
import shutil
import subprocess
import sys
import tempfile

CALLS = ["open", "read", "pread", "write", "pwrite", "fsync", "fdatasync", "ftruncate", "close", "rename", "mkdir", "unlink", "mmap", "memory"]
HALVES = ("read", "pread", "write", "pwrite")
MODES = ("EIO", "ENOSPC and on", "KILL", "SHORT")  # the last one only for HALVES
MOST = int(os.environ.get("FAULT_MOST", "60"))  # of one call in one command, with --all
SAMPLED_CALLS = 3  # without, beside memory: one fault each
NAMES = {"EIO": ("Input/output error", "I/O error"), "ENOSPC": ("No space left on device", "disk is full"), "memory": ("memory",), "SHORT": ("",), "KILL": ("",)}
TIMEOUT = 120
WHOLE = ("describe", "select folder", "synthesize", "mutate", "export", "minimize campaign", "minimize failures")  # folders that appear as a whole
PROBLEMS = ("crashed", "hung", "damaged", "status", "result", "left", "stuck")
OLD = b"what was there before\n"
TESTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
MODEL = os.path.join(TESTS, "cli", "models", "digits.onnx")
DATA = ["--data", "digits", "--limit", "30"]
TRAIN = ["--train", "digits", "--train-limit", "30"]
PAIRS = ["--pooled", "-k", "5", "--iterations", "2"]
FEW = ["--train-limit", "60", "--test-limit", "20", "--epochs", "1"]
STUDY = ["--data", "cifar-10=digits", "--model", "mobilenetv2=" + MODEL, "--arch", "mobilenetv2", "--limit", "20", "--each", "5", "--runs", "1", "--parts", "random"]

# What commands read, made once: name of the file, and the command.
FIXTURES = [
    ("base.campaign", ["fuzz", MODEL, *DATA, "--seeds", "10", "--executions", "60", "--guide", "nc", "-o"]),
    ("kmnc.campaign", ["fuzz", MODEL, *DATA, *TRAIN, "--seeds", "10", "--executions", "60", "--guide", "kmnc", "-o"]),
    ("pictures", ["export", "base.campaign", "--split", "seeds", "--format", "png", "-o"]),
    ("data.npz", ["mutate", "--data", "digits", "--limit", "30", "--mutation", "brightness factor=1.1", "-o"]),
    ("words", ["describe", MODEL, *DATA, "-o"]),
    ("a.state", ["cover", MODEL, *DATA, "--criteria", "nc,kmnc", *TRAIN, "--shard", "0/2", "--state"]),
    ("b.state", ["cover", MODEL, *DATA, "--criteria", "nc,kmnc", *TRAIN, "--shard", "1/2", "--state"]),
]

# name, arguments, what runs it again where a result is there already, results that are there before: a file, or a fixture under the name "out"
COMMANDS = [
    ("eval", ["eval", MODEL, "--data", "data.npz", "--wrong", "out.npz"], [], ["out.npz"]),
    ("predict", ["predict", MODEL, "pictures/seeds", "-o", "out.csv"], [], ["out.csv"]),
    ("predict npz", ["predict", MODEL, "digits", "--limit", "30", "-o", "out.npz"], [], ["out.npz"]),
    ("doctor", ["doctor", "out.onnx", *DATA, "--preprocess", "none", "--write"], [], ["net.onnx"]),
    ("run", ["run", MODEL, "--input", "x.npy", "-o", "out.npy"], [], ["out.npy"]),
    ("grad", ["grad", MODEL, "--input", "x.npy", "--labels", "y.npy", "-o", "out.npy"], [], ["out.npy"]),
    ("trace", ["trace", MODEL, *DATA, "-o", "out.npz"], [], ["out.npz"]),
    ("map", ["map", MODEL, *DATA, "--iterations", "5", "-o", "out.svg", "-o", "out.csv"], [], ["out.svg", "out.csv"]),
    ("cover", ["cover", MODEL, *DATA, "--criteria", "nc,kmnc", *TRAIN, "--state", "out.state"], [], ["out.state"]),
    ("profile", ["profile", MODEL, *TRAIN, "-o", "out.npz"], [], ["out.npz"]),
    ("merge", ["merge", "a.state", "b.state", "-o", "out.state"], [], ["out.state"]),
    ("describe", ["describe", MODEL, *DATA, "-o", "out"], ["--fresh"], []),
    ("localize", ["localize", MODEL, "--data", "base.campaign", "--split", "all", "--include-uninformative", "-o", "out.csv", "--state", "out.state", "--plot", "out.svg"],
     [], ["out.csv", "out.state", "out.svg"]),
    ("select", ["select", MODEL, *DATA, "--budget", "5", "-o", "out.csv"], [], ["out.csv"]),
    ("select folder", ["select", MODEL, *DATA, "--by", "gini,random", "--budget", "5", "-o", "out"], ["--fresh"], []),
    ("select part", ["select", MODEL, *DATA, "--budget", "5", "--shard", "1/2", "--state", "out.state"], [], ["out.state"]),
    ("explain", ["explain", MODEL, "3", "--data", "digits", "--bank", "words/bank.jsonl", "--steps", "2", "-o", "out.png"], [], ["out.png"]),
    ("calibrate", ["calibrate", MODEL, "--data", "digits", "--bank", "words/bank.jsonl", "--images", "2", "--steps", "2", "-o", "out.json"], [], ["out.json"]),
    ("synthesize", ["synthesize", MODEL, *DATA, *PAIRS, "-o", "out"], ["--fresh"], []),
    ("synthesize campaign", ["synthesize", MODEL, *DATA, *PAIRS, "-o", "out.campaign"], ["--fresh"], []),
    ("attack", ["attack", MODEL, *DATA, "--steps", "2", "-o", "out"], ["--fresh"], []),
    ("mutate", ["mutate", "--data", "digits", "--limit", "4", "--mutation", "blur size=3", "-o", "out"], ["--fresh"], []),
    ("mutate npz", ["mutate", "--data", "digits", "--limit", "4", "--mutation", "blur size=3", "-o", "out.npz"], [], ["out.npz"]),
    ("fuzz", ["fuzz", MODEL, *DATA, "--seeds", "10", "--executions", "60", "--guide", "nc", "-o", "out"], ["--fresh"], []),
    ("fuzz --resume", ["fuzz", MODEL, *DATA, *TRAIN, "--seeds", "10", "--executions", "120", "--guide", "kmnc", "-o", "out", "--resume"], [], ["kmnc.campaign"]),
    ("export", ["export", "base.campaign", "-o", "out"], ["--fresh"], []),
    ("minimize", ["minimize", "base.campaign", "--model", MODEL, "-o", "out.csv"], [], ["out.csv"]),
    ("minimize campaign", ["minimize", "base.campaign", "--model", MODEL, "-o", "out"], ["--fresh"], []),
    ("minimize failures", ["minimize", "base.campaign", "--model", MODEL, "--all-faults", "2", "--executions", "20", "-o", "out"], ["--fresh"], []),
    ("train", ["train", MODEL, "--data", "digits", *FEW, "-o", "out.onnx"], ["--resume"], ["out.onnx"]),
    ("repair", ["repair", MODEL, "--train", "digits", "--add", "base.campaign", *FEW, "-o", "out.onnx"], ["--resume"], ["out.onnx"]),
    ("study", ["study", "fuzz", *STUDY, "-o", "out", "--report", "out.md"], [], ["out.md"]),
    ("check", ["check", MODEL, *DATA, "--minutes", "0.002", "--train-limit", "30", "--skip", "synthesize,cluster", "-o", "out", "--junit", "out.xml"], [], ["out.xml"]),
]

# Faults that were found once, and are tried each time: a command and one of its calls, the first of them.
FOUND_FIRST = 12
FOUND = [
    ("eval", "open", "EIO"),  # trouble with data was the user's (D14)
    ("predict", "read", "EIO"),
    ("explain", "write", "ENOSPC and on"),  # a full disk had another name (D14)
    ("mutate", "write", "ENOSPC and on"),
    ("fuzz --resume", "write", "ENOSPC and on"),
    ("train", "memory", "EIO"),  # the name of the checkpoint was empty (D15)
    ("study", "memory", "EIO"),  # the report had no command line
    ("export", "pread", "EIO"),  # damage, with status 0 (D3); names were left out
]


def files_below(folder):
    """The files of a folder, but for locks and for what SQLite puts beside a database; with a hash each.

    A mark's lines are in the order of claims, which a failure may change; and a network that is there before its cell could be written is no longer the study's own."""
    found = {}
    for place, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(place, name)
            if name.endswith((".lock", "-wal", "-shm", "-journal")) or name == "lock":
                continue
            with open(path, "rb") as file:
                content = file.read() if name != ".plexor" else b"".join(sorted(line for line in file if not line.startswith(b"name models/")))
            found[os.path.relpath(path, folder)] = hashlib.sha256(content).digest()
    return found


class Faults:
    def __init__(self, plexor, calls, memory, base):
        self.plexor, self.calls, self.memory, self.base = plexor, calls, memory, base
        self.fixtures = os.path.join(base, "fixtures")
        os.mkdir(self.fixtures)
        npy = [sys.executable, os.path.join(TESTS, "cli", "npy.py"), "make"]
        subprocess.run([*npy, os.path.join(self.fixtures, "x.npy"), "f4", "4,1,28,28"], check=True)
        subprocess.run([*npy, os.path.join(self.fixtures, "y.npy"), "i8", "4"], check=True)
        for name, arguments in FIXTURES:
            status, said = self.run(self.fixtures, [*arguments, name])
            if status != 0:
                raise SystemExit(f"Bail out! {name} cannot be made: {status} {said}")
        shutil.rmtree(os.path.join(self.fixtures, "cache"), ignore_errors=True)
        shutil.copy(MODEL, os.path.join(self.fixtures, "net.onnx"))
        self.given = files_below(self.fixtures)
        self.given_folders = [n for n in os.listdir(self.fixtures) if os.path.isdir(os.path.join(self.fixtures, n))]

    def run(self, folder, arguments, fault=None):
        """The exit status, negative for a signal, "hang"; and what was said."""
        environment = dict(os.environ, LC_ALL="C", XDG_CACHE_HOME=os.path.join(folder, "cache"))
        if fault:
            environment.update(fault, LD_PRELOAD=self.memory if fault["FAULT_CALL"] == "memory" else self.calls)
        try:
            done = subprocess.run([self.plexor, *arguments, "-q"], cwd=folder, env=environment, stdin=subprocess.DEVNULL, capture_output=True, timeout=TIMEOUT, check=False)
        except subprocess.TimeoutExpired:
            return "hang", ""
        return done.returncode, done.stderr.decode("utf-8", "replace").strip()

    def place(self, results):
        """A new folder with the fixtures and old results."""
        folder = os.path.join(self.base, "work")
        shutil.copytree(self.fixtures, folder)
        for result in results:
            if result in self.given_folders:
                shutil.copytree(os.path.join(self.fixtures, result), os.path.join(folder, "out"))
                continue
            if result in self.given:
                shutil.copy(os.path.join(self.fixtures, result), os.path.join(folder, "out" + os.path.splitext(result)[1]))
                continue
            with open(os.path.join(folder, result), "wb") as out:
                out.write(OLD)
        return folder

    def results(self, folder):
        """What is there beside the fixtures and the cache; and whether the fixtures are as they were."""
        there = files_below(folder)
        same = all(there.pop(name, None) == digest for name, digest in self.given.items())
        return {n: d for n, d in there.items() if not n.startswith("cache/")}, same

    def counts(self, command, calls):
        """How many of each call an undisturbed run has; and its results, None where they are another time others."""
        _, arguments, _, results = command
        log, counted, seen = os.path.join(self.base, "count"), {}, []
        for call in calls:
            folder = self.place(results)
            status, said = self.run(folder, arguments, {"FAULT_CALL": call, "FAULT_LOG": log})
            if status not in (0, 1):
                raise SystemExit(f"Bail out! {command[0]} does not work undisturbed: {status} {said}")
            seen.append(self.results(folder)[0])
            shutil.rmtree(folder)
            with open(log, encoding="ascii") as text:
                counted[call] = int(text.read())
        names = set.intersection(*(set(s) for s in seen))
        same = {n for n in names if all(s[n] == seen[0][n] for s in seen) and not n.endswith(".db")}  # a database has the second it was made in
        return counted, {n: seen[0][n] if n in same else None for n in names}

    def try_one(self, command, call, at, mode, expected):
        """What is wrong after one fault, as (kind, sentence); and the status."""
        name, arguments, again, results = command
        folder, wrong = self.place(results), []
        fault = {"FAULT_CALL": call, "FAULT_AT": str(at), "FAULT_ERRNO": mode.split()[0]}
        fault.update({"FAULT_KILL": "1"} if mode == "KILL" else {"FAULT_ONWARDS": "1"} if "on" in mode else {})
        status, said = self.run(folder, arguments, fault)
        killed = mode == "KILL" and status == -9
        now, same = self.results(folder)
        if status == "hang":
            wrong.append(("hung", f"not within {TIMEOUT} s"))
        elif status not in (0, 1, 2, 3) and not killed:
            wrong.append(("crashed", f"ended with {status}"))
        if status in (2, 3) and not said:
            wrong.append(("status", f"{status} without a word"))
        if status == 2 and mode != "SHORT":
            wrong.append(("status", "2 for trouble that is not the user's"))
        if status == 3 and not any(word in said for word in NAMES["memory" if call in ("memory", "mmap") else mode.split()[0]]):
            wrong.append(("status", "3, and the trouble has another name"))
        if not same:
            wrong.append(("damaged", "what it reads was changed"))
        for result in results:
            if result in self.given_folders:
                checked, why = self.run(folder, ["status", "out", "--check"])
                wrong += [("damaged", why)] if checked != 0 else []
                continue
            there = "out" + os.path.splitext(result)[1] if result in self.given else result
            kept = result in self.given and now.get(there) == self.given[result]
            if not kept and not self.is_whole(os.path.join(folder, there), now.get(there), expected.get(there)):
                wrong.append(("damaged", f"{there} is neither the old nor the new one"))
        if name in WHOLE and status not in (0, 1) and any(n.startswith("out/") for n in now) and self.unlike(now, expected):
            wrong.append(("damaged", "half a folder"))
        if status in (0, 1):
            wrong += [("result", w) for w in self.unlike(now, expected)]
        temporary = [n for n in now if ".tmp-" in n]
        if temporary and not killed and call != "unlink" and not ("on" in mode and call in ("open", "close", "memory")):
            wrong.append(("left", str(temporary)))
        if status != "hang":
            again_wrong = self.run_again(folder, arguments, again, expected)
            may_stay = call == "unlink" or name == "study"  # of a stage that is over; other machines may write to the folder of a study
            wrong += [w for w in again_wrong if not (may_stay and w[0] == "left")]
        shutil.rmtree(folder)
        return wrong, said, status

    def run_again(self, folder, arguments, again, expected):
        there = any(os.path.exists(os.path.join(folder, f)) for f in ("out", "out.campaign", "out.onnx.ckpt"))
        status, said = self.run(folder, arguments + (again if there else []))
        if status not in (0, 1):
            return [("stuck", f"cannot be run again: {status} {said}")]
        now, _ = self.results(folder)
        wrong = [("stuck", f"run again: {w}") for w in self.unlike(now, expected)]
        wrong += [("left", f"{n}, also after another run") for n in now if ".tmp-" in n and "/" in n]
        return wrong

    @staticmethod
    def is_whole(path, now, expected):
        if now is None:
            return False
        with open(path, "rb") as file:
            text = file.read()
        return text == OLD or (now == expected if expected else bool(text) and OLD not in text)

    @staticmethod
    def unlike(now, expected):
        """How results differ from those of an undisturbed run; temporary files are another matter."""
        missing = [f"{n} is missing" for n in expected if n not in now]
        others = [f"{n} is another" for n, digest in expected.items() if digest and n in now and now[n] != digest]
        return missing + others


def places(count, most):
    """Up to `most` of 1..count, the first and the last among them."""
    if count <= most:
        return list(range(1, count + 1))
    if most == 1:
        return [random.randint(1, count)]
    return sorted({1 + i * (count - 1) // (most - 1) for i in range(most)})


def faults_of(name, counted, complete):
    for found, call, mode in FOUND:
        if found == name and not complete:
            yield from ((call, at, mode) for at in range(1, min(counted[call], FOUND_FIRST) + 1))
    for call, count in counted.items():
        modes = MODES if call in HALVES else MODES[:-1]
        first = 0 if complete else random.randrange(len(modes))
        for i, at in enumerate(places(count, MOST if complete else 1)):
            yield call, at, modes[(first + i) % len(modes)]


def main():
    plexor, calls, memory = (os.path.abspath(p) for p in sys.argv[1:4])
    complete = "--all" in sys.argv
    only = [a for a in sys.argv[4:] if not a.startswith("--")]
    random.seed(int(os.environ.get("FAULT_SEED", "1")))
    commands = [c for c in COMMANDS if not only or c[0] in only]
    print(f"1..{len(commands)}", flush=True)
    table = []
    with tempfile.TemporaryDirectory(prefix="plexor-faults-") as base:
        faults = Faults(plexor, calls, memory, base)
        for number, command in enumerate(commands, 1):
            row = dict.fromkeys(("faults", 0, 1, 2, 3, -9) + PROBLEMS, 0)
            lines = []
            found = [call for name, call, _ in FOUND if name == command[0]]
            chosen = CALLS if complete else sorted({*random.sample(CALLS[:-1], SAMPLED_CALLS), "memory", *found})
            counted, expected = faults.counts(command, chosen)
            for call, at, mode in faults_of(command[0], counted, complete):
                wrong, said, status = faults.try_one(command, call, at, mode, expected)
                row["faults"] += 1
                row[status] = row.get(status, 0) + 1
                for kind in {k for k, _ in wrong}:
                    row[kind] += 1
                if wrong:
                    lines.append(f"#   {call} {at} of {counted[call]} {mode}: {'; '.join(k + ': ' + w for k, w in wrong)}; said: {said}")
            print(f"{'not ' if lines else ''}ok {number} - {command[0]}: {row['faults']} faults", flush=True)
            print("\n".join(lines), end="\n" if lines else "", flush=True)
            table.append((command[0], row))
    columns = ("faults", 0, 1, 2, 3, -9) + PROBLEMS
    print("# command             " + "".join(f"{'killed' if c == -9 else c:>8}" for c in columns))
    for name, row in table + [("all", {c: sum(r[c] for _, r in table) for c in columns})]:
        print(f"# {name:20}" + "".join(f"{row[c]:8}" for c in columns))
    sys.exit(1 if any(row[p] for _, row in table for p in PROBLEMS) else 0)


main()
