#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""digests.py PLEXOR [--record FILE | --against FILE] [--only WORD|--each] [--threads LIST] [--ranks LIST] - what every command writes, as digests

Runs a fixed list of commands with several numbers of threads, and of ranks of Open MPI's mpirun, and takes a digest of every file they write and of what
they print. Alone it is a test: threads must not change a byte. For a change that must not alter results:

    digests.py build/plexor --record before.txt     # before
    digests.py build/plexor --against before.txt    # after, on the same machine

Times, rates and other things that differ between any two runs are left out of JSON; campaigns are digested by what
`export` makes of them, since SQLite's own bytes depend on when it writes. Speaks TAP.
"""
import argparse
import hashlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
NET = os.path.join(HERE, "..", "cli", "models", "digits.onnx")

# name: commands, one a line. NET is a small network, DATA its data; -j is added to what takes it.
DATA = "--data digits --limit 300"
FUZZ = f"plexor fuzz NET {DATA} --seeds 40 -o run.campaign -q --json"
RUNS = {
    "eval": f"plexor eval NET {DATA} -q --json --wrong wrong.npz",
    "predict": "plexor predict NET digits --limit 300 -q -o predicted.npz",
    "doctor": f"plexor doctor NET {DATA} -q --json",
    "trace": f"plexor trace NET {DATA} -q --json -o trace.npz",
    "profile": "plexor profile NET --train digits --train-limit 500 --criteria all -q --json -o ranges.profile",
    "profile-few": "plexor profile NET --train digits --train-limit 500 --criteria kmnc,nlc,dsc -q --json -o ranges.profile",
    "cover-ranges": f"plexor cover NET {DATA} --criteria nc,kmnc,nbc,snac,tknc,tknp --train-limit 300 -q --json --state s",
    "cover-learned": f"plexor cover NET {DATA} --criteria cc,nlc,nlc-guided,lsc,dsc,mdsc --train-limit 300 -q --json --state s",
    "cover-paths": f"plexor cover NET {DATA} --criteria snpc,anpc,cac --train-limit 200 -q --json --state s",
    "cover-many": "plexor cover NET --data digits --limit 1700 --criteria nc,kmnc,nlc,dsc,cac --train-limit 1100 --curve c.csv -q --json --state s",
    "map": "plexor map NET --data digits --limit 200 -q -o map.csv",
    "select-scores": f"plexor select NET {DATA} --by softmax,entropy,pcs,gini,internal-gini,random,wobble,mc-dropout -q --json -o s",
    "select-learned": f"plexor select NET {DATA} --by dsa,lsa,mdsa,mlsa,mmdsa,npc,nac,kmnc --train-limit 200 -q --json -o s",
    "select-nss": f"plexor select NET {DATA} --by nss,ats --train-limit 200 --mutate nss --evaluate -q --json -o s",
    "select-prima": "plexor attack NET --data digits --limit 20 -q --json -o a.campaign\n"
                    "plexor export a.campaign --split all --format npz -q -o e\n"
                    "plexor select NET --data digits --limit 20 --by prima --labelled e/inputs.npz -q --json -o s",
    "localize": f"plexor localize NET {DATA} --scale 1/700 --theta 0.3 -q --json --state s -o suspicious.csv",
    "localize-shapley": "plexor localize NET --data digits --limit 12 --measure shapley --pooled -q --json -o s.csv",
    "synthesize": "plexor synthesize NET --data digits --limit 20 --pooled -k 2 -q --json -o made",
    "attack-fgsm": "plexor attack NET --data digits --limit 60 --method fgsm -q --json -o run.campaign",
    "attack-bim": "plexor attack NET --data digits --limit 60 --method bim -q --json -o run.campaign",
    "attack-pgd": "plexor attack NET --data digits --limit 60 --method pgd -q --json -o run.campaign",
    "attack-deepfool": "plexor attack NET --data digits --limit 60 --method deepfool -q --json -o run.campaign",
    "attack-jsma": "plexor attack NET --data digits --limit 20 --method jsma -q --json -o run.campaign",
    "clever": "plexor clever NET --data digits --limit 3 --batches 5 --samples 64 -q --json",
    "assess": "plexor attack NET --data digits --limit 40 -q --json -o a.campaign\nplexor assess NET --original digits --adversarial a.campaign -q --json",
    "fuzz-random": f"{FUZZ} --guide random --turns 20",
    "fuzz-nc": f"{FUZZ} --guide nc --turns 20",
    "fuzz-kmnc": f"{FUZZ} --guide kmnc --turns 20",
    "fuzz-tknp": f"{FUZZ} --guide tknp --policy nlc --turns 40",
    "fuzz-cc": f"{FUZZ} --guide cc --policy tensorfuzz --turns 20",
    "fuzz-nlc": f"{FUZZ} --guide nlc --policy nlc --turns 40",
    "fuzz-lsc": f"{FUZZ} --guide lsc --policy nsgen --turns 20",
    "fuzz-mdsc": f"{FUZZ} --guide mdsc --turns 20",
    "fuzz-cac": f"{FUZZ} --guide cac --turns 10",
    "fuzz-nsgen": f"plexor describe NET {DATA} --layers conv --describer dissect -q -o words\n"
                  f"{FUZZ} --guide nsgen --bank words/bank.jsonl --turns 10",
    "fuzz-deepxplore": "plexor train NET --data digits --train-limit 200 --epochs 1 --test none -o rival.onnx -q --json\n"
                       f"{FUZZ} --engine deepxplore --model2 rival.onnx --turns 4",
    "fuzz-dlfuzz": f"{FUZZ} --engine dlfuzz --turns 4",
    "fuzz-adapt": f"{FUZZ} --engine adapt --turns 3",
    "fuzz-deepsensor": f"{FUZZ} --engine deepsensor --turns 1",
    "minimize": f"{FUZZ} --guide kmnc --turns 10\nplexor minimize run.campaign --model NET -q --json -o less.campaign",
    "minimize-faults": f"{FUZZ} --guide kmnc --turns 10\nplexor minimize run.campaign --model NET --all-faults 12 -q --json",
    "replay": f"{FUZZ} --guide kmnc --turns 10\nplexor replay run.campaign --all --model NET -q --json",
    "mutate": "plexor mutate --data digits --limit 6 --mutation 'rotation angle=10' -o made -q",
    "train": "plexor train --arch lenet1 --data digits --train-limit 400 --test-limit 100 --epochs 2 --augment crop:2 "
             "--keep-checkpoint -q --json -o net.onnx",
    "train-norm": "plexor train --arch sadl-2 --data digits --train-limit 64 --test none --epochs 1 --batch 32 -q --json -o net.onnx",
    "train-adversary": "plexor train NET --data digits --train-limit 200 --test none --epochs 1 --adversary pgd -q --json -o net.onnx",
    "repair": "plexor attack NET --data digits --limit 60 -q --json -o a.campaign\n"
              "plexor repair NET --train digits --train-limit 300 --add a.campaign --test-limit 100 --epochs 1 -q --json -o net.onnx",
    "repair-generated": "plexor repair NET --train digits --train-limit 200 --generate dh --keep improving --test-limit 100 --epochs 1 -q "
                        "--json -o net.onnx",
    "describe": f"plexor describe NET {DATA} --layers conv --describer dissect -q --json -o words",
    "describe-trained": "plexor describe NET --data digits --limit 200 --layers conv --virtual 60 --epochs 1 --hidden 16 --beam 2 "
                        "-q --json -o words",
    "explain": "plexor explain NET 3 --data digits --mutation 'rotation angle=30' --steps 10 -q --json",
    "study": "plexor study fuzz -o s --data cifar-10=digits --model mobilenetv2=NET --arch mobilenetv2 --limit 60 --each 20 --runs 1 "
             "--parts random,kmnc -q >/dev/null",
    "check-few": "plexor check NET --data digits --limit 100 --train-limit 200 --only eval,cover,attack,localize -q --json -o examined",
    "check": f"plexor check NET {DATA} --train-limit 300 --skip fuzz -q --json -o examined",
}

# One run of every command that ranks divide.
OF_EACH = ("eval", "predict", "doctor", "trace", "profile-few", "cover-ranges", "map", "select-scores", "localize", "synthesize", "attack-fgsm",
           "clever", "assess", "fuzz-kmnc", "minimize", "minimize-faults", "train-norm", "repair", "describe", "explain", "check-few", "study")

# What differs between two runs of one binary, or with the number of threads, and says nothing of the result.
VOLATILE_KEY = re.compile(r"second|time|per_s$|^fre$|rate_s|threads|_ms$|speed|memory|rss|^pid$|started|ended|date|elapsed|command|host|clock|^at$")
VOLATILE_MEMBER = ("meta.npy", "history.npy")  # of checkpoints: seconds per epoch
VOLATILE_FILE = re.compile(r"(fuzzer_stats|plot_data|campaign\.db.*|campaign\.lock|\.plexor.*|report\.html|.*\.lock)$")


# One machine, few cores, and perhaps root in a container.
MPI_ENV = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_btl_vader_single_copy_mechanism": "none"}


def steady(value):
    """JSON without what differs between any two runs."""
    if isinstance(value, dict):
        return {k: steady(v) for k, v in value.items() if not VOLATILE_KEY.search(k)}
    if isinstance(value, list):
        return [steady(v) for v in value]
    return value


def digest(data, name=""):
    """Of JSON, and of a checkpoint's members, without what differs between any two runs."""
    if name.endswith(".ckpt"):
        with zipfile.ZipFile(io.BytesIO(data)) as members:
            data = "".join(f"{n} {digest(members.read(n))}\n" for n in members.namelist() if n not in VOLATILE_MEMBER).encode()
    try:
        if name.endswith(".jsonl"):
            data = "".join(json.dumps(steady(json.loads(line))) + "\n" for line in data.splitlines()).encode()
        else:
            data = json.dumps(steady(json.loads(data)), sort_keys=True).encode()
    except ValueError:
        pass
    return hashlib.sha256(data).hexdigest()[:16]


def run(plexor, name, threads, ranks=0):
    """Digests of one run: {what: digest}. A command that fails is a digest of its own. No ranks: without mpirun."""
    digests = {}
    mpirun = f"mpirun --oversubscribe --bind-to none -n {ranks} " if ranks else ""
    with tempfile.TemporaryDirectory(prefix="plexor-digests-") as folder:
        def call(line):
            return subprocess.run(["/bin/sh", "-c", line], cwd=folder, capture_output=True, check=False, timeout=600,
                                  env=dict(os.environ, **MPI_ENV, LC_ALL="C", PATH=os.path.dirname(plexor) + ":" + os.environ["PATH"]))
        for number, line in enumerate(RUNS[name].replace("NET", NET).split("\n")):
            threadless = line.startswith(("plexor mutate", "plexor status"))
            done = call(mpirun + (line if threadless else f"{line} -j {threads}"))
            if done.returncode not in (0, 1):
                digests[f"{name}: command {number + 1} ended with {done.returncode}"] = done.stderr.decode()[-300:]
                return digests
            digests[f"{name}: output {number + 1}"] = digest(done.stdout)
        campaigns = [d for d, _, files in os.walk(folder) if "campaign.db" in files]
        for campaign in campaigns:
            done = call(f"plexor export '{campaign}' --split all --format csv,npz -q -o '{campaign}/exported'")
            if done.returncode != 0:
                digests[f"{name}: export ended with {done.returncode}"] = done.stderr.decode()[-300:]
        for parent, folders, files in os.walk(folder):
            folders.sort()
            for file in sorted(files):
                if VOLATILE_FILE.search(file):
                    continue
                path = os.path.join(parent, file)
                with open(path, "rb") as opened:
                    digests[f"{name}: {os.path.relpath(path, folder)}"] = digest(opened.read(), file)
    return digests


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("plexor", type=os.path.abspath)
    parser.add_argument("--record")
    parser.add_argument("--against")
    parser.add_argument("--only", default="", metavar="WORD", help="runs whose name has this")
    parser.add_argument("--each", action="store_true", help="one run of each command that ranks divide")
    parser.add_argument("--threads", default="1,2,5", help="numbers of threads to compare")
    parser.add_argument("--ranks", default="", help="numbers of ranks to compare as well, each with all numbers of threads")
    args = parser.parse_args()
    if args.ranks and not (shutil.which("mpirun") and "Open MPI" in subprocess.run(
            ["mpirun", "--version"], capture_output=True, check=False, text=True).stdout):
        print("1..0 # SKIP no mpirun of Open MPI")
        return
    names = [n for n in RUNS if args.only in n and (n in OF_EACH or not args.each)]
    threads = args.threads.split(",")
    known = {}
    if args.against:
        with open(args.against, encoding="utf-8") as file:
            known = dict(line.rstrip("\n").split("\t") for line in file)
    print(f"1..{len(names)}", flush=True)
    failed, recorded = False, {}
    for number, name in enumerate(names, 1):
        first = run(args.plexor, name, threads[0])
        recorded.update(first)
        faults = [f"{k}: {v}" for k, v in first.items() if " ended with " in k]
        others = [(t, 0) for t in threads[1:]] + [(t, int(r)) for r in filter(None, args.ranks.split(",")) for t in threads]
        for more, ranks in others:
            other = run(args.plexor, name, more, ranks)
            faults += [f"{k} differs with {more} threads and {ranks or 'no'} ranks: {other.get(k)}"
                       for k in sorted(set(first) | set(other)) if first.get(k) != other.get(k)]
        if args.against:
            before = {k: v for k, v in known.items() if k.startswith(name + ": ")}
            faults += [f"{k} is not what it was" for k in sorted(set(first) | set(before)) if first.get(k) != before.get(k)]
        failed = failed or bool(faults)
        print(f"{'not ' if faults else ''}ok {number} - {name}", flush=True)
        for fault in faults:
            print(f"# {fault}", flush=True)
    if args.record:
        with open(args.record, "w", encoding="utf-8") as file:
            file.writelines(f"{k}\t{v}\n" for k, v in recorded.items())
    sys.exit(1 if failed else 0)


main()
