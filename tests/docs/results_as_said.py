#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""results_as_said.py PLEXOR NET - what commands print with --json has the members that `plexor help --json` names

Each member that is there is described, of that type, and each that is described is there unless it may be left out. Speaks TAP.
"""
import json
import os
import subprocess
import sys
import tempfile

DATA = "--data digits --limit 40"
RUNS = """
info NET --plan
clever NET --data digits --limit 2 --batches 3 --samples 8
cover NET DATA --criteria nc,tknc,kmnc --train-limit 50 --per-layer --per-class --uncovered --baseline --curve c.csv --state a.state
merge a.state -o b.state
localize NET --data digits --limit 2000 --scale 1/700 --theta 0.3 --compare --state h.state
localize NET --data digits --limit 2000 --scale 1/700 --theta 0.3 --measure random -k 2
merge h.state -o i.state
select NET DATA --by gini,nac --train-limit 50 --evaluate
select NET DATA --by random -o order.csv
attack NET DATA --method fgsm -o a.campaign
assess NET --adversarial a.campaign --explain
synthesize NET --data digits --limit 4 --pooled -k 1
export a.campaign -o exported
minimize a.campaign --criteria none
minimize a.campaign --model NET --criteria nc
minimize a.campaign --model NET --all-faults 1
map NET DATA
profile NET --train digits --train-limit 50 --criteria kmnc,lsc -o ranges.profile
embed red blue
describe NET DATA --describer dissect
calibrate NET DATA --images 1 -o tau.json
check NET DATA --only eval,cover -o checked
explain NET 0 1 --data digits --threshold tau.json
""".strip().replace("DATA", DATA).splitlines()

TYPES = {"bool": bool, "integer": int, "number": (int, float), "text": str, "object": dict, "map": dict, "list": list,
         "matrix": (list, dict), "shape": list}
ALWAYS = {"version", "command", "remarks", "error"}


def faults_of_value(field, what, value, path):
    if value is None:
        return []
    if not isinstance(value, TYPES[what]) or (isinstance(value, bool) and what != "bool"):
        return [f"{path} is {value!r}, not {what}"]
    if what == "object" and "fields" in field:
        return faults_of(field["fields"], value, path + ".")
    return []


def faults_of_field(field, value, path):
    found = faults_of_value(field, field["type"], value, path)
    if not found and value and field["type"] in ("list", "map"):
        for item in value if field["type"] == "list" else value.values():
            found += faults_of_value(field, field["of"], item, path + "[]")
    return found


def faults_of(fields, value, path=""):
    named = {}  # two results of one command may give a key two meanings
    for field in fields:
        named.setdefault(field["key"], []).append(field)
    unnamed = [field for field in fields if field["key"] == "*"]
    found = [f"there is no {path}{key}" for key, meant in named.items()
             if key not in value and key != "*" and not any(field.get("optional") for field in meant)]
    for key, member in value.items():
        if key in named:
            found += min((faults_of_field(field, member, path + key) for field in named[key]), key=len)
        elif not unnamed:
            found.append(f"{path}{key} is not described")
        elif unnamed[0]["type"] == "map":
            found += faults_of_value(unnamed[0], unnamed[0]["of"], member, path + key)
    return found


def main():
    plexor, net = map(os.path.abspath, sys.argv[1:])
    said = json.loads(subprocess.run([plexor, "help", "--json"], capture_output=True, check=True).stdout)
    results = {command["name"]: command.get("result", []) for command in said["commands"]}
    bad = 0
    print(f"1..{len(RUNS)}")
    with tempfile.TemporaryDirectory() as folder:
        for number, run in enumerate(RUNS, 1):
            words = [net if word == "NET" else word for word in run.split()]
            done = subprocess.run([plexor, *words, "-q", "--json"], cwd=folder, capture_output=True, check=False)
            value = json.loads(done.stdout)
            found = [value["error"]["message"]] if "error" in value else []
            found += faults_of(results[words[0]], {key: value[key] for key in value if key not in ALWAYS})
            bad += bool(found)
            print(f"{'not ' if found else ''}ok {number} - {run}")
            for fault in found[:20]:
                print("#", fault)
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())
