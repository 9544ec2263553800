#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""ranks.py PLEXOR - what happens around the work of ranks: how they find each other, and how they fail

What they compute is compared by digests.py --ranks. Needs mpirun of Open MPI. Speaks TAP.
"""
import os
import re
import shutil
import signal
import subprocess
import sys
import time

from common import ENV, MODELS, MPIRUN, NET, PLEXOR, call, ranks_of, run_cases, same, tables


def said(done):
    """What plexor printed on stderr, without what mpirun adds."""
    return [line for line in done.stderr.splitlines() if line.startswith("plexor")]


def no_plugin(folder):
    done = call(MPIRUN + ["-n", "3", PLEXOR, "eval", NET, "--data", "digits", "--limit", "20"], PLEXOR_MPI=folder + "/none.so")
    assert done.returncode == 2, done
    assert len(said(done)) == 1 and "libplexor-mpi.so cannot be loaded" in said(done)[0], done.stderr
    assert done.stdout == "", done.stdout


def each_alone(folder):
    one = call([PLEXOR, "eval", NET, "--data", "digits", "--limit", "20", "--json", "-q"])
    done = call(MPIRUN + ["-n", "2", PLEXOR, "eval", NET, "--data", "digits", "--limit", "20", "--json", "-q"], PLEXOR_MPI="off")
    assert done.returncode == 0 and done.stdout.count('"accuracy"') == 2 * one.stdout.count('"accuracy"'), done.stdout


def other_words(folder):
    words = [PLEXOR, "eval", NET, "--data", "digits", "--limit"]
    done = call(MPIRUN + ["-n", "1", *words, "20", ":", "-n", "1", *words, "30"])
    assert done.returncode == 2, done
    assert len(said(done)) == 1 and re.search("rank 1 on '.*' differs in the words of the command", said(done)[0]), done.stderr


def two_folders(folder, words):
    """The same words on rank 0 in folder/a, and on rank 1 in folder/b."""
    done = call(MPIRUN + ["-n", "1", "-wdir", folder + "/a", *words, ":", "-n", "1", "-wdir", folder + "/b", *words])
    return done


def make_two(folder):
    for name in "ab":
        os.makedirs(f"{folder}/{name}")
        shutil.copy(NET, f"{folder}/{name}/net.onnx")


def other_network(folder):
    make_two(folder)
    shutil.copy(os.path.join(MODELS, "odd.onnx"), folder + "/b/net.onnx")
    done = two_folders(folder, [PLEXOR, "eval", "net.onnx", "--data", "digits", "--limit", "20"])
    assert done.returncode == 2, done
    assert len(said(done)) == 1 and re.search("rank 1 on '.*' differs in the network", said(done)[0]), done.stderr


def no_network(folder):
    make_two(folder)
    os.unlink(folder + "/b/net.onnx")
    done = two_folders(folder, [PLEXOR, "eval", "net.onnx", "--data", "digits", "--limit", "20"])
    assert done.returncode == 2, done
    assert len(said(done)) == 1 and re.search("rank 1 on '.*': 'net.onnx': cannot open: No such file", said(done)[0]), done.stderr


def input_of_one(folder):
    """A picture that only rank 1 cannot read, in the middle of a pass."""
    make_two(folder)
    call([PLEXOR, "mutate", "--data", "digits", "--limit", "40", "--mutation", "rotation angle=5", "-o", folder + "/made", "-q"])
    data = [d for d, _, files in os.walk(folder + "/made") if sum(f.endswith(".png") for f in files) > 3]
    assert data, list(os.walk(folder))
    for name in "ab":
        shutil.copytree(data[0], f"{folder}/{name}/data/all")
    files = sorted(os.listdir(folder + "/b/data/all"))
    for file in [f for f in files if f.endswith(".png")]:  # whichever it gets
        path = f"{folder}/b/data/all/{file}"
        with open(path, "r+b") as opened:
            opened.seek(40)
            opened.write(b"\xff" * 24)
    done = two_folders(folder, [PLEXOR, "predict", "net.onnx", "data"])
    assert done.returncode in (2, 3), done
    assert len(said(done)) == 1 and re.search("rank 1 on '.*': ", said(done)[0]), done.stderr


def undivided(folder):
    words = [PLEXOR, "info", NET]
    one, done = call(words), call(MPIRUN + ["-n", "2", *words])
    assert done.returncode == 0 and done.stdout == one.stdout, done
    assert said(done) == ["plexor info: is not divided among ranks: the first does all of it"], done.stderr


def full_disk(folder):
    if not os.path.exists("/dev/full"):
        return
    done = call(MPIRUN + ["-n", "2", PLEXOR, "predict", NET, "digits", "--limit", "20", "-q", "-o", "/dev/full"])
    assert done.returncode in (2, 3), done
    assert len(said(done)) == 1, done.stderr


def killed(folder):
    """A rank that is killed ends all; with other numbers of ranks --resume goes on."""
    def words(to):
        return [PLEXOR, "attack", NET, "--data", "digits", "--limit", "1500", "--method", "pgd", "--steps", "60", "--batch", "16",
                "-j", "1", "-q", "--json", "-o", to]
    whole = call(words(folder + "/whole.campaign"))
    assert whole.returncode == 0, whole.stderr
    to = folder + "/hurt.campaign"
    hurt = subprocess.Popen(MPIRUN + ["-n", "3", *words(to)], env=ENV, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    status = None
    for _ in range(600):
        time.sleep(0.05)
        if hurt.poll() is not None:
            break
        status = call([PLEXOR, "status", to, "--json"])
        if status.returncode == 0 and re.search('"inputs_done": [1-9]', status.stdout):
            break
    ranks = ranks_of(to)
    assert hurt.poll() is None and len(ranks) == 3, (hurt.poll(), ranks)
    os.kill(ranks[1], signal.SIGKILL)
    assert hurt.wait(timeout=60) != 0
    resumed = call(MPIRUN + ["-n", "2", *words(to), "--resume"])
    assert resumed.returncode == 0, resumed.stderr
    same(tables(folder + "/whole.campaign"), tables(to))


def slow_rank(folder):
    """A rank that has the processor a fifth of the time gets less of the work, and the result is the same."""
    def words(to):
        return [PLEXOR, "attack", NET, "--data", "digits", "--limit", "1000", "--method", "pgd", "--steps", "60", "--batch", "16",
                "-j", "1", "-q", "--json", "-o", to]
    def seconds(pid):
        with open(f"/proc/{pid}/stat", encoding="ascii") as stat:
            fields = stat.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    assert call(words(folder + "/one.campaign")).returncode == 0
    to = folder + "/two.campaign"
    both = subprocess.Popen(MPIRUN + ["-n", "2", *words(to)], env=ENV, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    ranks, used = {}, [0, 0]
    for _ in range(6000):
        if both.poll() is not None:
            break
        if len(ranks) < 2:
            ranks = ranks_of(to)
            time.sleep(0.02)
            continue
        try:
            os.kill(ranks[1], signal.SIGSTOP)
            time.sleep(0.04)
            used = [seconds(ranks[0]), seconds(ranks[1])]
            os.kill(ranks[1], signal.SIGCONT)
        except (ProcessLookupError, FileNotFoundError):
            pass
        time.sleep(0.01)
    assert both.wait(timeout=60) == 0
    same(tables(folder + "/one.campaign"), tables(to))
    assert used[0] > 1.4 * used[1], f"{used[0]:.2f} s by the first rank, {used[1]:.2f} s by the one that was held up"


def campaign_of_one(folder):
    """A rank that does not see the campaign that is gone on with is refused."""
    make_two(folder)
    a = folder + "/a"
    words = [PLEXOR, "attack", os.path.abspath(NET), "--data", "digits", "--method", "fgsm", "-j", "1", "-q", "-o", "out.campaign"]
    begun = subprocess.Popen([*words, "--limit", "1500", "--method", "pgd", "--steps", "200"], cwd=a, env=ENV,
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    for _ in range(600):
        time.sleep(0.05)
        status = call([PLEXOR, "status", a + "/out.campaign", "--json"])
        if begun.poll() is not None or re.search('"inputs_done": [1-9]', status.stdout):
            break
    assert begun.poll() is None, "it was done before it could be stopped"
    begun.kill()
    begun.wait()
    done = two_folders(folder, [*words, "--limit", "1500", "--method", "pgd", "--steps", "200", "--resume"])
    assert done.returncode == 2, done
    assert "differs in the inputs that the campaign has" in done.stderr, done.stderr
    fuzz = [PLEXOR, "fuzz", os.path.abspath(NET), "--data", "digits", "--limit", "60", "--turns", "5", "-j", "1", "-q"]
    assert call([*fuzz, "-o", a + "/fuzz.campaign"]).returncode == 0
    assert call([*fuzz, "--seeds", "9", "-o", folder + "/b/fuzz.campaign"]).returncode == 0
    done = two_folders(folder, [PLEXOR, "fuzz", "--resume", "--turns", "9", "-q", "-j", "1", "-o", "fuzz.campaign"])
    assert done.returncode == 2 and re.search("rank 1 on '.*' differs in the inputs that the campaign has", done.stderr), done.stderr


def main():
    cases = [no_plugin, each_alone, other_words, other_network, no_network, input_of_one, undivided, full_disk, killed,
             slow_rank, campaign_of_one]
    version = call(["mpirun", "--version"]).stdout if shutil.which("mpirun") else ""
    if "Open MPI" not in version:
        print("1..0 # SKIP no mpirun of Open MPI")
        return
    sys.exit(run_cases(cases, "plexor-ranks-"))


main()
