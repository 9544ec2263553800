#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""kills.py PLEXOR [KILLS] - ranks that are killed, again and again, and what others make of the rest

Of each command, a run is begun by some ranks, one of which is killed at a random moment; another number
of ranks goes on with what was committed, and is killed in turn. What comes out in the end is what one
process gives that nobody disturbed. KILLS (25) for each of four commands. Needs mpirun of Open MPI.
Speaks TAP.
"""
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time

from common import ENV, MPIRUN, NET, PLEXOR, call, ranks_of, run_cases, same, tables

KILLS = int(sys.argv[2]) if len(sys.argv) > 2 else 25
CHAIN = 5  # kills before a run is let finish


def campaign_begun(to):
    """Whether there is something to go on with."""
    status = call([PLEXOR, "status", to, "--json"])
    return status.returncode == 0 and any(json.loads(status.stdout).get(k) for k in ("seeds", "inputs", "executions"))


def file_of(path):
    with open(path, "rb") as file:
        return {"file": file.read()}


class Command:
    def __init__(self, words, output, content, begun):
        self.words, self.output, self.content, self.begun = words, output, content, begun


COMMANDS = {
    "fuzz": Command(lambda to: ["fuzz", NET, "--data", "digits", "--limit", "300", "--seeds", "60", "--turns", "1500", "-o", to],
                    "run.campaign", tables, campaign_begun),
    "attack": Command(lambda to: ["attack", NET, "--data", "digits", "--limit", "800", "--steps", "60", "--batch", "16", "-o", to],
                      "run.campaign", tables, campaign_begun),
    "train": Command(lambda to: ["train", "--arch", "lenet5", "--data", "digits", "--train-limit", "640", "--test", "none", "--epochs", "6",
                                 "--checkpoint-steps", "2", "-o", to],
                     "net.onnx", file_of, lambda to: os.path.exists(to + ".ckpt")),
    "cover": Command(lambda to: ["cover", NET, "--data", "digits", "--limit", "6000", "--train-limit", "600", "--criteria", "kmnc,nlc,dsc",
                                 "--state", to],
                     "all.state", file_of, None),
}


def words_of(name, to):
    """A campaign that is there is gone on with; a state is counted anew, there is nothing in between."""
    command = COMMANDS[name]
    resumes = [] if not command.begun else ["--resume"] if command.begun(to) else ["--fresh"]
    return [PLEXOR, *command.words(to), *resumes, "-j", "1", "-q"]


def ended(run, to):
    """Exit status of mpirun. That of Open MPI 4.1 does not always notice that all its ranks are gone."""
    try:
        return run.wait(timeout=60)
    except subprocess.TimeoutExpired:
        assert not ranks_of(to), "ranks are left that do not end"
        run.kill()
        print("# mpirun had to be ended: it had no ranks any more", flush=True)
        return run.wait()


def kill_one(name, to, ranks, after, dice):
    """Begins, kills a random one of the ranks after so many seconds of theirs. False: it had finished before."""
    run = subprocess.Popen(MPIRUN + ["-n", str(ranks), *words_of(name, to)], env=ENV, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    found = {}
    while run.poll() is None and len(found) < ranks:
        time.sleep(0.02)
        found = ranks_of(to)
    end = time.monotonic() + after
    while run.poll() is None and time.monotonic() < end:
        time.sleep(0.01)
    try:
        if run.poll() is None:
            os.kill(found[dice.choice(sorted(found))], signal.SIGKILL)
            assert ended(run, to) != 0, "the others went on without a rank that was killed"
            return True
    except ProcessLookupError:
        pass
    ended(run, to)
    return False


def case_of(name):
    def case(folder):
        dice = random.Random(name)
        command = COMMANDS[name]
        start = time.monotonic()
        whole = call(words_of(name, f"{folder}/{command.output}"))
        assert whole.returncode == 0, whole.stderr
        seconds = time.monotonic() - start
        expected = command.content(f"{folder}/{command.output}")
        kills = finished = 0
        while kills < KILLS:
            hurt = f"{folder}/hurt"
            shutil.rmtree(hurt, ignore_errors=True)
            os.mkdir(hurt)
            to, ranks, chain = f"{hurt}/{command.output}", dice.randint(2, 4), 0
            while chain < CHAIN and kills < KILLS and kill_one(name, to, ranks, dice.uniform(0.1, 0.8) * seconds / 2, dice):
                chain += 1
                kills += 1
                ranks = dice.choice([n for n in (1, 2, 3, 4) if n != ranks])
            done = call(MPIRUN + ["-n", str(ranks), *words_of(name, to)])
            assert done.returncode == 0, f"after {chain} kills: {done.stderr}"
            same(expected, command.content(to))
            finished += 1
            assert finished <= 4 * KILLS, "most runs end before they are killed"
        print(f"# {name}: {kills} kills, {finished} runs that went on to the end")
    case.__name__ = name
    return case


def main():
    version = call(["mpirun", "--version"]).stdout if shutil.which("mpirun") else ""
    if "Open MPI" not in version:
        print("1..0 # SKIP no mpirun of Open MPI")
        return
    sys.exit(run_cases([case_of(name) for name in COMMANDS], "plexor-kills-"))


main()
