#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""abi.py LIBRARY TOP [--write] - the stable door is as it was: its functions and the layout of its structs. Speaks TAP.

The door is what programs built with an older plexor go on using: <plexor/call.h>, <plexor/in_memory.h> and what they
need. tests/install/door.txt has it as it was released; --write makes it anew. Beside that, everything the library
exports is declared in a header.
"""
import os
import re
import subprocess
import sys
import tempfile

LIBRARY, TOP = sys.argv[1:3]
DOOR = os.path.join(TOP, "tests", "install", "door.txt")
HEADERS = {"call.h": None, "in_memory.h": None, "tensor.h": {"px_tensor", "px_shape"}, "error.h": {"px_error"},
           "data.h": {"px_dataset_" + n for n in ("close", "count", "shape", "is_8bit", "pixels", "label", "name", "class_count", "class_name")}, "onnx.h": {"px_mem_put_model"}, "system.h": {"px_version"}}
NOT_THE_DOOR = {"px_main"}  # the program's, of the same release


def header(name):
    with open(os.path.join(TOP, "include", "plexor", name), encoding="utf-8") as file:
        return re.sub(r"/\*.*?\*/", "", file.read(), flags=re.S)


def members(body):
    body = re.sub(r"\(\*(?:const )?(\w+)\)\s*\([^;]*\)", r" \1", body)  # functions by their names
    for line in body.split(";"):
        for part in re.sub(r"\[[^\]]*\]", "", line).split(","):
            found = re.search(r"(\w+)\s*$", part)
            if found:
                yield found[1]


def door():
    functions, structs = [], []
    for name, only in HEADERS.items():
        text = header(name)
        for function in re.findall(r"^PX_API[^;]*?\b(px_\w+)\(", text, re.M):
            if (only is None or function in only) and function not in NOT_THE_DOOR:
                functions.append(function)
        for body, struct in re.findall(r"^typedef struct \w+ \{(.*?)^\} (\w+);", text, re.M | re.S):
            if only is None or struct in only:
                structs.append((struct, list(members(body))))
    return sorted(functions), structs


def layout(structs):
    lines = ["#include <plexor/plexor.h>", "#include <stdio.h>", "int main(void)", "{",
             'printf("abi %d\\n", PX_ABI_VERSION);']
    for struct, names in structs:
        lines.append(f'printf("struct {struct} %zu:", sizeof({struct}));')
        lines += [f'printf(" {n} %zu", offsetof({struct}, {n}));' for n in names]
        lines.append('puts("");')
    with tempfile.TemporaryDirectory(prefix="plexor-abi-") as folder:
        program = folder + "/layout"
        subprocess.run(["cc", "-std=c17", "-x", "c", "-I", os.path.join(TOP, "include"), "-", "-o", program],
                       input="\n".join(lines + ["return 0;", "}"]), text=True, check=True)
        return subprocess.run([program], capture_output=True, text=True, check=True).stdout.splitlines()


def exported():
    said = subprocess.run(["nm", "-D", "--defined-only", LIBRARY], capture_output=True, text=True, check=True).stdout
    names = {line.split()[-1].split("@")[0] for line in said.splitlines() if line.split()[-2] in "TDRBWi"}
    return {name for name in names if "." not in name}  # what the compiler names has a dot


def check_door(now):
    with open(DOOR, encoding="utf-8") as file:
        before = file.read().splitlines()
    there = exported()
    for line in before:
        kind, name = line.split(" ", 2)[:2]
        if kind == "function" and (line not in now or name not in there):
            yield (f"{name}() is gone: programs that were built before would not start. Put it back, or raise "
                   "PX_ABI_VERSION and the SONAME, and run tests/install/abi.py LIBRARY TOP --write")
        elif kind == "struct":
            after = next((n for n in now if n.startswith(f"struct {name} ")), "")
            old, new = line.split(": ")[-1], after.split(": ")[-1]
            if not new.startswith(old):
                yield (f"{name} was '{line}', is '{after}': programs that were built before would read the wrong "
                       "members. New ones go at the end; else raise PX_ABI_VERSION and the SONAME, and run "
                       "tests/install/abi.py LIBRARY TOP --write")
    for line in now:
        if line not in before and not any(line.split(" ")[1] == b.split(" ")[1] for b in before):
            yield f"'{line}' is new in the stable door: if it is to stay, run tests/install/abi.py LIBRARY TOP --write"


def check_map(functions):
    with open(os.path.join(TOP, "src", "plexor.map"), encoding="utf-8") as file:
        mapped = re.findall(r"^    (px_\w+);", file.read(), re.M)
    for name in sorted(set(functions) ^ set(mapped)):
        yield f"{name} is in the door or in src/plexor.map, and not in both"


def check_exports():
    headers = "".join(header(n) for n in sorted(os.listdir(os.path.join(TOP, "include", "plexor"))))
    declared = set(re.findall(r"\b(px_\w+)\b", headers))
    for name in sorted(exported() - declared):
        yield f"the library exports {name}, which no header has: it is internal and begins with pxi_, or is static"


def main():
    functions, structs = door()
    now = layout(structs) + [f"function {f}" for f in functions]
    if "--write" in sys.argv[3:]:
        with open(DOOR, "w", encoding="utf-8") as file:
            file.write("\n".join(now) + "\n")
        return
    checks = [("the stable door", list(check_door(now))), ("the linker's map", list(check_map(functions))), ("exports are declared", list(check_exports()))]
    print(f"1..{len(checks)}")
    for number, (title, faults) in enumerate(checks, 1):
        print(f"{'not ' if faults else ''}ok {number} - {title}")
        for fault in faults:
            print(f"# {fault}")
    sys.exit(1 if any(faults for _, faults in checks) else 0)


main()
