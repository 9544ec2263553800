#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""help_json.py PLEXOR - what `plexor help --json` says is what help, lists and commands say. Speaks TAP."""
import json
import re
import subprocess
import sys

PLEXOR = sys.argv[1]


def say(*words):
    return subprocess.run([PLEXOR, *words], capture_output=True, text=True, check=True).stdout


ALL = json.loads(say("help", "--json"))
COMMANDS = {c["name"]: c for c in ALL["commands"]}


def check_commands():
    listed = re.findall(r"^  ([a-z-]+) ", say("help"), re.M)
    if listed != list(COMMANDS):
        yield f"help lists {listed}"
    if [str(s) for s in ALL["statuses"]] != re.findall(r"^  \d  (.*)$", say("help", "eval"), re.M):
        yield "exit statuses differ"
    one = json.loads(say("help", "eval", "--json"))["commands"]
    if one != [COMMANDS["eval"]]:
        yield "of one command it says something else"


def shown(name):
    """Options as --help prints them: name to the text behind it, words put together again."""
    text = say("help", name).split("\noptions:\n")[1].split("\n\n")[0].split("\nexit status:")[0]
    rows = re.split(r"^  (?:-(.), |    )--([a-z0-9-]+)", text, flags=re.M)[1:]
    return {rows[i + 1]: (rows[i], " ".join(rows[i + 2].split())) for i in range(0, len(rows), 3)}


def check_options():
    for name, command in COMMANDS.items():
        printed, options = shown(name), {o["name"]: o for o in command["options"]}
        if set(printed) != set(options):
            yield f"{name}: {set(printed) ^ set(options)}"
            continue
        for o in options.values():
            letter, text = printed[o["name"]]
            if o["letter"] != letter or not text.startswith(o["argument"] or "") \
                    or " ".join(o["help"].split()) not in text:
                yield f"{name} --{o['name']}: printed as '{text}'"
            default = re.search(r"\(default ([^)]*)\)$", text)
            if default and o["kind"] in ("integer", "number") and float(default[1]) != o["default"]:
                yield f"{name} --{o['name']}: default {o['default']}, printed {default[1]}"
            if default and o["kind"] == "text" and default[1] != o["default"]:
                yield f"{name} --{o['name']}: default {o['default']}, printed {default[1]}"


def check_values():
    kinds = {"text": (str, type(None)), "texts": type(None), "flag": bool, "integer": (int, type(None)),
             "number": (int, float, type(None))}
    for name, command in COMMANDS.items():
        for o in command["options"]:
            where = f"{name} --{o['name']}"
            if not isinstance(o["default"], kinds[o["kind"]]):
                yield f"{where}: {o['kind']} with default {o['default']!r}"
            if o["default"] is not None and "min" in o and not o["min"] <= o["default"] <= o["max"]:
                yield f"{where}: default {o['default']} is not from {o['min']} to {o['max']}"
            if (o["argument"] is None) != (o["kind"] == "flag"):
                yield f"{where}: argument {o['argument']}"
            if "list" in o and o["list"] not in ALL["lists"]:
                yield f"{where}: there is no list '{o['list']}'"
            if "choices" in o and not o["choices"]:
                yield f"{where}: no choices"


def check_lists():
    for name, ids in ALL["lists"].items():
        if ids != say("list", name, "--ids").split():
            yield f"{name}: {ids}"


def check_arguments():
    wanted = {"eval": "MODEL", "explain": "MODEL IMAGE [IMAGE2]", "embed": "TEXT...", "help": "[COMMAND]",
              "predict": "MODEL FILE...", "mutate": "", "check": "[MODEL]", "onnx-test": "DIR..."}
    for name, text in wanted.items():
        got = " ".join(("[%s]" if a["optional"] else "%s") % (a["name"] + ("..." if a["several"] else ""))
                       for a in COMMANDS[name]["arguments"])
        if got != text:
            yield f"{name}: {got}"


def check_results():
    """What a command prints has the fields that are told, and only those."""
    model = sys.argv[2]
    said = json.loads(say("cover", model, "--data", "digits", "--limit", "50", "--criteria", "nc", "--json", "-q"))
    told = {f["key"]: f for f in COMMANDS["cover"]["result"]}
    for key in said:
        if key not in told and key not in ("version", "command", "remarks"):
            yield f"cover prints '{key}', which is not told"
    for key, field in told.items():
        if key != "*" and key not in said and not field.get("optional"):
            yield f"cover does not print '{key}'"


CHECKS = [check_commands, check_options, check_values, check_lists, check_arguments, check_results]
print(f"1..{len(CHECKS)}")
failed = False
for number, check in enumerate(CHECKS, 1):
    faults = list(check())
    failed = failed or bool(faults)
    print(f"{'not ' if faults else ''}ok {number} - {check.__name__[6:]}")
    for fault in faults:
        print(f"# {fault}")
sys.exit(1 if failed else 0)
