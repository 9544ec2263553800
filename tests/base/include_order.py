#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The tree keeps its promises: a room uses only rooms before it, others' through the headers in include/ but for few,
file names are unique, and every public header compiles alone as C17 and as C++.

include/plexor/ is what users have, include/internal/ what rooms have of each other, src/ROOM/ a room's own.

Speaks TAP. `--quiet` prints failures only.
"""
import os
import re
import subprocess
import sys

ROOMS = ("base stats picture data mutate graph onnx ops engine predict probe attack train text describe attribute "
         "cover localize select doctor assess store generate repair report check cli").split()
# Public headers that are not named after their room.
HEADER_ROOM = {name: "base" for name in "error field folder json param property ranks registry rng system tensor text".split()}
HEADER_ROOM.update(audio="data", in_memory="data", preprocess="data", build="graph", classes="graph", weights="graph", trace="probe", map="probe", tsne="stats", umap="stats", profile="cover", surprise="cover", fault_curve="select", clever="assess", shapley="attribute", shapley_tally="localize", synthesize="generate", failures="repair",
                   fuzz="generate", minimize="generate", pairs="generate", closeness="mutate", fuzz_mutant="generate", modes="store",
                   plexor="cli", call="cli", extend="select")
HEADER_ROOM.update(campaign_merge="generate", nearest_tokens="attack", run_plan="predict", eval="predict", mutants="mutate", replay="store", training="cover")
HEADER_ROOM.update({name: "stats" for name in "gauss_nodes kmeans".split()}, ssim="picture", mutation="mutate", lane_watch="probe")
HEADER_ROOM.update({name: "data" for name in "bytes data_index image inputs npz_meta pixel_rule recording source tree".split()})
HEADER_ROOM.update({name: "graph" for name in "graft model names reach".split()})
HEADER_ROOM.update({name: "ops" for name in "gemm nn_check norm op program".split()})
HEADER_ROOM.update({name: "engine" for name in "executor gradient_reach pass sample_plan task view_row".split()})
HEADER_ROOM.update({name: "cover" for name in "block_run row_reader".split()})
HEADER_ROOM.update({name: "describe" for name in "bank captioner concepts describe exemplars".split()})
HEADER_ROOM.update({name: "attribute" for name in "decision_path dpd".split()})
HEADER_ROOM.update({name: "train" for name in "arch feeder loss optimizer schedule".split()})
HEADER_ROOM.update(text_encoder="text")

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))


def files(folder, endings=(".c", ".h")):
    for path, folders, names in os.walk(os.path.join(ROOT, folder)):
        folders.sort()
        for name in sorted(names):
            if name.endswith(endings):
                yield os.path.relpath(os.path.join(path, name), ROOT)


def includes(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as source:
        for number, line in enumerate(source, 1):
            found = re.match(r'\s*#\s*include\s*([<"])([^>"]+)[>"]', line)
            if found:
                yield number, found.group(1) == "<", found.group(2)


def room_of_header(name):
    return HEADER_ROOM.get(name, name)


def room_of(path):
    parts = path.split(os.sep)
    if parts[0] == "src":
        return parts[1]
    return room_of_header(parts[-1][:-2])


def check_order():
    for folder in ("src", "include"):
        for path in files(folder):
            room = room_of(path)
            if room not in ROOMS:
                yield f"{path}: '{room}' is not a room"
                continue
            for number, angle, target in includes(path):
                where = f"{path}:{number}"
                public = re.match(r"(?:plexor|internal)/(\w+)\.h$", target)
                if angle and not public or path == MAIN and is_study(target):
                    continue
                used = room_of_header(public.group(1)) if public else target.split("/")[0]
                if not public and not re.match(r"\w+/\w+(\.pb-c)?\.h$", target) \
                        and not target.endswith(".pb-c.h"):
                    yield f"{where}: write \"{target}\" as \"room/{target}\""
                elif public and not angle:
                    yield f"{where}: public headers are included as <{target}>"
                elif target.endswith(".pb-c.h"):
                    if room != "onnx":
                        yield f"{where}: only onnx/ sees protobuf's types"
                elif used not in ROOMS:
                    yield f"{where}: '{used}' is not a room"
                elif ROOMS.index(used) > ROOMS.index(room):
                    yield f"{where}: {room}/ comes before {used}/"
                elif folder == "include" and not (public if path.startswith("include/plexor") else public or used == "base"):
                    yield f"{where}: a header of include/ includes one of a room's own"
                elif path.startswith("include/plexor") and not target.startswith("plexor/"):
                    yield f"{where}: a public header includes an internal one"


# What rooms include of others' own headers, besides base/: entanglement that is to fall, not to rise.
PRIVATE_MAX = 40


def check_private():
    found = []
    for path in files("src"):
        for number, angle, target in includes(path):
            used = target.split("/")[0]
            if not angle and used in ROOMS and used not in (room_of(path), "base"):
                found.append(f"{path}:{number} includes {target}")
    if len(found) > PRIVATE_MAX:
        yield f"{len(found)} private headers of other rooms are included, {PRIVATE_MAX} may be: declare them in include/internal"
        yield from found


# Studies stand on what the library gives, headers of include/ and base/; the library knows no studies, only main() does.
MAIN = "src/cli/main.c"
STUDY_COMMAND = ("cli/cli.h", "cli/list.h")


def is_study(target):
    return os.path.exists(os.path.join(ROOT, "studies", target))


def check_studies():
    for path in files("studies"):
        for number, angle, target in includes(path):
            own = target.startswith("base/") or is_study(target) or path.endswith("cmd_study.h") and target in STUDY_COMMAND
            if not angle and not own:
                yield f"{path}:{number} includes {target}"
    for path in files("src"):
        for number, angle, target in includes(path):
            if not angle and is_study(target) and path != MAIN:
                yield f"{path}:{number}: the library knows no studies"


PRINTERS = {"cli_print.c", "cli_safe.c"}  # they know which stream is whose


def check_printing():
    for path in files("src/cli"):
        if os.path.basename(path) in PRINTERS:
            continue
        with open(os.path.join(ROOT, path), encoding="utf-8") as source:
            for number, line in enumerate(source, 1):
                found = re.search(r'(?<![\w.>"])(printf|puts|putchar|vprintf|exit)\(|[(,] *stdout\)', line)
                if found:
                    yield f"{path}:{number}: commands print with cli_print() or to cli_out(), and return"


EXPORTS_MAX = 300


def check_exports():
    exported = sum(len(re.findall(r"(?m)^PX_API", open(os.path.join(ROOT, path), encoding="utf-8").read())) for path in files("include/plexor"))
    hidden = [path for path in files("include/internal") if re.search(r"(?m)^PX_API", open(os.path.join(ROOT, path), encoding="utf-8").read())]
    if exported > EXPORTS_MAX:
        yield f"{exported} functions are exported, {EXPORTS_MAX} may be: what only rooms need of each other belongs into include/internal"
    yield from (f"{path}: exports something" for path in hidden)


def check_names():
    seen = {}
    for folder in ("src", "include", "studies", "tests", "bench", "fuzz"):
        for path in files(folder):
            name = os.path.basename(path)
            if path.startswith("include/internal/") and os.path.exists(os.path.join(ROOT, "include/plexor", name)):
                continue  # the same header, and what only plexor itself uses of it
            if name in seen:
                yield f"{path}: {seen[name]} has the same name"
            seen[name] = path


def check_headers():
    compilers = (["cc", "-x", "c", "-std=c17"], ["c++", "-x", "c++", "-std=c++17"])
    for path in files("include/plexor"):
        for compiler in compilers:
            done = subprocess.run(
                compiler + ["-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only",
                            "-I", os.path.join(ROOT, "include"), "-"],
                input=f"#include <plexor/{os.path.basename(path)}>\n", text=True,
                stderr=subprocess.PIPE, check=False)
            if done.returncode:
                yield f"{path} alone, {compiler[2]}: {done.stderr.strip()}"


ENTRANCES = ("plexor.h", "extend.h", "engine.h", "probe.h", "trace.h")  # of the three tiers


def check_entrances():
    wanted = {os.path.basename(p) for p in files("include/plexor")}
    reached, ahead = set(), list(ENTRANCES)
    while ahead:
        name = ahead.pop()
        if name not in reached:
            reached.add(name)
            ahead += [t.split("/")[1] for _, _, t in includes("include/plexor/" + name) if t.startswith("plexor/")]
    for name in sorted(wanted - reached):
        yield f"include/plexor/{name}: none of {', '.join(ENTRANCES)} leads to it"


# JSON is written by fields; these write what is no result: states, identities, settings in chains, metadata of networks.
JSON_WRITERS = {"base": "field json", "data": "audio_settings npz_meta", "engine": "set_classes", "cover": "cover_state profile seen",
                "localize": "spectrum_file", "select": "selection_state", "describe": "caption_file milan_write", "check": "check check_default check_folder check_open",
                "generate": "adapt climb deepxplore dlfuzz fuzz_settings pair_settings", "cli": "cli_campaign cli_message", "train": "metadata",
                "frame": "cells"}
JSON_CALL = re.compile(r"(?<!\w)px_json_(?:object|array|string|int|real|bool|null)\(")


def check_json():
    writers = {f"{room}/{name}.c": 0 for room, names in JSON_WRITERS.items() for name in names.split()}
    for path in (*files("src", (".c",)), *files("studies", (".c",))):
        with open(os.path.join(ROOT, path), encoding="utf-8") as source:
            calls = len(JSON_CALL.findall(source.read()))
        name = "/".join(path.split(os.sep)[-2:])
        if name in writers:
            writers[name] += calls
        elif calls:
            yield f"{path}: writes JSON by hand, {calls} times: a result has fields (plexor/field.h)"
    yield from (f"{name}: writes no JSON any more, and need not be listed here" for name, calls in writers.items() if not calls)


# Where threads stop and a GPU or another executor goes on: nobody makes a session past it, but for what runs one by hand.
SESSION_MAKERS = ("src/engine/executor.c", "src/engine/executor_threads.c", "src/engine/onnx_case.c", "src/engine/session.c")


def check_sessions():
    for path in (*files("src", (".c",)), *files("studies", (".c",))):
        with open(os.path.join(ROOT, path), encoding="utf-8") as source:
            if path not in SESSION_MAKERS and re.search(r"(?<!\w)px_session_new\(", source.read()):
                yield f"{path}: makes a session itself; passes, teams and segments have those of the executor (executor.h)"


CHECKS = {"rooms include only rooms before them": check_order,
          "rooms include few private headers of others": check_private, "studies stand on the library's headers": check_studies, "few functions are exported": check_exports, "file names are unique": check_names,
          "results are written by their fields": check_json, "sessions are the executor's": check_sessions,
          "commands print by cli_print()": check_printing,
          "public headers compile alone, as C and as C++": check_headers,
          "the tiers of the API lead to every public header": check_entrances}

quiet = "--quiet" in sys.argv[1:]
failed = False
if not quiet:
    print(f"1..{len(CHECKS)}")
for index, (title, check) in enumerate(CHECKS.items(), 1):
    faults = list(check())
    failed = failed or bool(faults)
    if not quiet:
        print(f"{'not ' if faults else ''}ok {index} - {title}")
    for fault in faults:
        print(fault if quiet else f"# {fault}", file=sys.stderr if quiet else sys.stdout)
sys.exit(1 if failed else 0)
