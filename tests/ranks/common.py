# SPDX-License-Identifier: Apache-2.0
"""What the tests of ranks have in common: running commands, and comparing what they leave."""
import json
import os
import re
import subprocess
import sys
import tempfile

PLEXOR = os.path.abspath(sys.argv[1])
MODELS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli", "models")
NET = os.path.join(MODELS, "digits.onnx")
ENV = dict(os.environ, LC_ALL="C", OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
           OMPI_MCA_btl_vader_single_copy_mechanism="none")


MPIRUN = ["mpirun", "--oversubscribe", "--bind-to", "none"]


def call(words, **env):
    return subprocess.run(words, capture_output=True, text=True, check=False, timeout=300, env=dict(ENV, **env))


def steady(text):
    """JSON of a command without times, sizes of memory and the words it was started with."""
    def strip(value):
        if isinstance(value, dict):
            return {k: strip(v) for k, v in value.items() if not re.search("second|rate|per_s|command|threads|memory|rss|^fre$", k)}
        return [strip(v) for v in value] if isinstance(value, list) else value
    return strip(json.loads(text))


def tables(campaign):
    """Everything that a campaign has, as export writes it: bytes by file name."""
    out = campaign + ".out"
    done = call([PLEXOR, "export", campaign, "--split", "all", "--format", "csv,npz", "-q", "-o", out])
    assert done.returncode == 0, done.stderr
    return {os.path.relpath(os.path.join(d, f), out): open(os.path.join(d, f), "rb").read()
            for d, _, files in os.walk(out) for f in files if not f.startswith(".")}


def same(one, other):
    assert one.keys() == other.keys() and all(one[k] == other[k] for k in one), one.keys()


def ranks_of(command):
    """Process ids of ranks of a command, by its words."""
    found = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as words, open(f"/proc/{pid}/environ", "rb") as environ:
                if command.encode() in words.read().split(b"\0") and b"mpirun" not in open(f"/proc/{pid}/comm", "rb").read():
                    rank = re.search(rb"OMPI_COMM_WORLD_RANK=(\d+)", environ.read())
                    if rank:
                        found[int(rank.group(1))] = int(pid)
        except OSError:
            pass
    return found


def run_cases(cases, prefix):
    """TAP of functions that take an empty folder; the exit status."""
    print(f"1..{len(cases)}")
    failed = 0
    for number, case in enumerate(cases, 1):
        with tempfile.TemporaryDirectory(prefix=prefix) as folder:
            try:
                case(folder)
                print(f"ok {number} - {case.__name__}", flush=True)
            except (AssertionError, subprocess.SubprocessError) as error:
                failed = 1
                print(f"not ok {number} - {case.__name__}", flush=True)
                print("# " + str(error)[:2000].replace("\n", "\n# "), flush=True)
    return failed
