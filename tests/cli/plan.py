#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""plan.py PLEXOR - what `plexor plan` predicts is what runs take, as far as a busy machine lets it

Memory and traffic are held to a third; processor time to a factor of two, since short runs on a
machine that does other things are all there is; seconds only to their parts. Speaks TAP.
"""
import json
import os
import subprocess
import sys
import tempfile

PLEXOR = os.path.abspath(sys.argv[1])
NET = os.path.join(os.path.dirname(os.path.abspath(__file__)), "models", "digits.onnx")


def call(words, **env):
    return subprocess.run([PLEXOR] + words, capture_output=True, text=True, check=False, env=dict(os.environ, **env))


def plan(words):
    done = call(["plan"] + words + ["--json", "-q"])
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def really(words):
    """Processor seconds, MiB and MiB of traffic of the whole run, as one of several ranks does it."""
    with tempfile.TemporaryFile() as told:
        os.dup2(told.fileno(), 9)
        os.set_inheritable(9, True)
        child = subprocess.Popen([PLEXOR] + words + ["-q"], stdout=subprocess.DEVNULL, close_fds=False,
                                 env=dict(os.environ, PLEXOR_REHEARSAL="9"))
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = status
        assert status == 0, words
        told.seek(0)
        traffic, buffers, _ = map(float, told.read().split())
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024 - buffers / 2**20, traffic / 2**20


def near(one, other, factor, what):
    assert other / factor <= one <= other * factor, f"{what}: {one} is predicted, and it is {other}"


def predictions(folder):
    state = ["--state", os.path.join(folder, "all.state")]
    for words in (["cover", NET, "--data", "digits", "--criteria", "nc,tknc", "--threads", "1"] + state,
                  ["eval", NET, "--data", "digits", "--threads", "1"],
                  ["attack", NET, "--data", "digits", "--method", "pgd", "--steps", "5", "--threads", "1", "--limit", "4000"]):
        told, (processor, memory, traffic) = plan(words + ["--ranks", "2", "--measure", "3"]), really(words)
        two = told["measured"]
        near(two["memory"]["base"] / 2**20 + two["memory"]["per_input"] * told["images"] / 2**20, memory, 1.33, "memory")
        near(told["traffic_mib"] * 2, traffic, 1.33, "traffic")
        near(two["processor"]["base"] + two["processor"]["per_input"] * told["images"], processor, 2, "processor time")
        assert told["divided"] and told["images"] == (4000 if "attack" in words else 10000)
        assert abs(told["seconds"] - told["divided_seconds"] - told["own_seconds"] - told["network_seconds"]) < 1e-6
        assert 0 < told["efficiency"] <= 1.01
    assert os.path.exists(state[1]) and not [f for f in os.listdir(folder) if f != "all.state"]


def many_ranks(_):
    told = plan(["eval", NET, "--data", "digits", "--measure", "1", "--ranks", "64", "--images", "1.28e6"])
    assert told["images"] == 1280000 and told["ranks"] == 64
    assert 1 <= told["speedup"] <= 64 and told["traffic_mib"] > 30 and told["memory_mib"] > 30, told


def refused(_):
    for words, says in ((["plan"], "COMMAND is missing"), (["plan", "covr", "x"], "is no command"),
                        (["plan", "eval", NET], "--data"), (["plan", "eval", "none.onnx", "--data", "digits"], "none.onnx"),
                        (["plan", "cover", NET, "--data", "digits", "--shard", "0/2"], "--shard is another way"),
                        (["plan", "train", "--arch", "lenet1", "--data", "digits", "-o", "x.onnx"], "--limit")):
        done = call(words)
        assert done.returncode == 2 and says in done.stderr, (words, done.stderr)


def main():
    cases, failed = [predictions, many_ranks, refused], 0
    print(f"1..{len(cases)}")
    for number, case in enumerate(cases, 1):
        with tempfile.TemporaryDirectory(prefix="plexor-plan-test-") as folder:
            try:
                case(folder)
                print(f"ok {number} - {case.__name__}", flush=True)
            except AssertionError as error:
                failed = 1
                print(f"not ok {number} - {case.__name__}\n# " + str(error)[:2000].replace("\n", "\n# "), flush=True)
    return failed


if __name__ == "__main__":
    sys.exit(main())
