#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""manual.py PAGE... - manual pages are roff that man and mandoc have nothing to say against.

The pages are those of the build. groff and mandoc need not be there; what cannot be asked is
skipped. Speaks TAP.
"""
import os
import re
import shutil
import subprocess
import sys

PAGES = sys.argv[1:]
# Pages of no date are the same whenever they are built; the text is wide where a name is.
FINE = re.compile(r"missing date|cannot break line|can't break line|cannot adjust line")


def complaints(command):
    done = subprocess.run(command, capture_output=True, text=True, check=False,
                          env=dict(os.environ, LC_ALL="C.UTF-8", MANROFFOPT="", MANWIDTH="80"))
    said = (done.stderr + (done.stdout if "-Tlint" in command else "")).splitlines()
    return [line for line in said if not FINE.search(line)], done.stdout


def check_form(page):
    with open(page, encoding="utf-8") as file:
        text = file.read()
    name = os.path.basename(page)[:-2]
    faults = []
    for section in ("NAME", "SYNOPSIS", "EXIT STATUS", "SEE ALSO"):
        if f"\n.SH {section}\n" not in text:
            faults.append(f"{name}: no section {section}")
    if not re.search(rf"\n\.SH NAME\n{name}".replace("-", r"\\-") + r" \\- [^\n]+\n", text):
        faults.append(f"{name}: the section NAME is not 'name - what it is'")
    for number, line in enumerate(text.splitlines(), 1):
        if re.match(r"['.](?!TH |SH |TP$|PP$|br$|nf$|fi$|B |BR )", line):
            faults.append(f"{name}:{number}: an unexpected request '{line[:40]}'")
    return faults


def check_man(page):
    said, shown = complaints(["man", "--warnings", "-l", page])
    if "EXIT STATUS" not in shown:
        said.append(f"{page}: is not shown to its end")
    return said


def check_mandoc(page):
    return complaints(["mandoc", "-Tlint", "-W", "warning", page])[0]


def main():
    checks = [("the pages' form", None, check_form), ("man --warnings", "man", check_man),
              ("mandoc -Tlint", "mandoc", check_mandoc)]
    print(f"1..{len(checks)}")
    failed = False
    for number, (title, program, check) in enumerate(checks, 1):
        if program and not shutil.which(program):
            print(f"ok {number} - {title} # SKIP {program} is not installed")
            continue
        if program == "man" and not shutil.which("groff"):
            print(f"ok {number} - {title} # SKIP groff is not installed")
            continue
        faults = [fault for page in PAGES for fault in check(page)]
        failed = failed or bool(faults)
        print(f"{'not ' if faults else ''}ok {number} - {title}")
        for fault in faults[:40]:
            print(f"# {fault}")
    sys.exit(1 if failed else 0)


main()
