#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run_family.py PLEXOR FAMILY - runs one family of command lines and compares what they do.

A family is a text file:

    == what is tested              a case; one folder, empty at first, is the current one for all
    $ plexor version               a shell command; several make a script, $HERE is this folder, $TOP the source tree
    > plexor 0.1.0                 expected standard output
    ! plexor: ...                  expected standard error
    ? 2                            expected exit status of the last command; 0 if not given
    needs: /usr/share/x            a file or folder the case needs: skipped, saying so, without it

In expected lines {*} stands for anything, and a line of ... alone for any number of lines. Speaks TAP.
"""
import os
import re
import string
import subprocess
import sys
import tempfile


def parse(path):
    cases, case = [], None
    with open(path, encoding="utf-8") as family:
        for number, line in enumerate(family, 1):
            line = line.rstrip("\n")
            if line.startswith("== "):
                case = {"title": line[3:], "script": [], ">": [], "!": [], "?": 0, "needs": []}
                cases.append(case)
            elif line.startswith("$ "):
                case["script"].append(line[2:])
            elif line[:1] in (">", "!"):
                case[line[0]].append(line[2:])
            elif line.startswith("? "):
                case["?"] = int(line[2:])
            elif line.startswith("needs: "):
                case["needs"] += line[7:].split()
            elif line and not line.startswith("#"):
                sys.exit(f"{path}:{number}: cannot read '{line}'")
    return cases


def pattern(lines):
    parts = []
    for line in lines:
        if line == "...":
            parts.append(r"(?:[^\n]*\n)*?")
        else:
            parts.append("[^\n]*".join(re.escape(p) for p in line.split("{*}")) + r"\n")
    return re.compile("".join(parts) + r"\Z")


def run(case, folder, environment):
    done = subprocess.run(["/bin/sh", "-c", "\n".join(case["script"])], cwd=folder, env=environment,
                          stdin=subprocess.DEVNULL, capture_output=True, check=False, timeout=600)
    out, err = (s.decode("utf-8", "replace") for s in (done.stdout, done.stderr))
    faults = []
    if done.returncode != case["?"]:
        faults.append(f"exit status {done.returncode}, expected {case['?']}")
    for name, key, got in (("stdout", ">", out), ("stderr", "!", err)):
        if not pattern(case[key]).match(got):
            faults += [f"{name} was:"] + ["  " + line for line in got.splitlines()]
            faults += ["expected:"] + ["  " + line for line in case[key]]
    return faults


def main():
    plexor, family = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    cases = parse(family)
    environment = dict(os.environ, HERE=os.path.dirname(family),
                       TOP=os.path.dirname(os.path.dirname(os.path.dirname(family))), PYTHON=sys.executable, LC_ALL="C",
                       PATH=os.path.dirname(plexor) + os.pathsep + os.environ["PATH"])
    print(f"1..{len(cases)}")
    failed = False
    with tempfile.TemporaryDirectory(prefix="plexor-cli-") as folder:
        for number, case in enumerate(cases, 1):
            needs = [string.Template(p).safe_substitute(environment) for p in case["needs"]]
            absent = [p for p in needs if not os.path.exists(p)]
            if absent:
                print(f"ok {number} - {case['title']} # SKIP there is no {' '.join(absent)}")
                continue
            faults = run(case, folder, environment)
            failed = failed or bool(faults)
            print(f"{'not ' if faults else ''}ok {number} - {case['title']}")
            for line in faults:
                print(f"# {line}")
    sys.exit(1 if failed else 0)


main()
