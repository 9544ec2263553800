#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""follow_steps.py PAGE TOP PATH=OUT... - do to copies of files what a page says, for the build.

A fenced block "c PATH" or "ts PATH" is all of a new file; of a C file that is there already it is a
test, which goes before main() and is called by it. "diff PATH" adds lines: one that begins with a
space is looked for, and those with a plus go behind it.
"""
import os
import re
import sys

PAGE, TOP = sys.argv[1:3]


def blocks(page):
    with open(page, encoding="utf-8") as file:
        return re.findall(r"^```(c|ts|diff) (\S+)\n(.*?)^```$", file.read(), re.M | re.S)


def apply(path, text, steps):
    at = None
    for line in steps.splitlines():
        if line[0] == " ":
            at = text.find(line[1:] + "\n")
            if at < 0 or text.find(line[1:] + "\n", at + 1) >= 0:
                sys.exit(f"{PAGE}: {path} does not have, or has twice: {line[1:]}")
            at += len(line[1:]) + 1
        elif line[0] == "+":
            text = text[:at] + line[1:] + "\n" + text[at:]
            at += len(line)
    return text


def add_test(path, text, code):
    name = re.search(r"^static void (test_\w+)", code, re.M)[1]
    text, first = re.subn(r"^int main\(", code + "\nint main(", text, count=1, flags=re.M)
    text, second = re.subn(r"(CMUnitTest \w+\[\] = \{\n)", rf"\1        cmocka_unit_test({name}),\n",
                           text, count=1)
    if not first or not second:
        sys.exit(f"{PAGE}: cannot add a test to {path}")
    return text


def main():
    files = {}
    for kind, path, code in blocks(PAGE):
        source = os.path.join(TOP, path)
        if path not in files and os.path.exists(source):
            with open(source, encoding="utf-8") as file:
                files[path] = file.read()
        if kind == "diff":
            files[path] = apply(path, files[path], code)
        elif path in files:
            files[path] = add_test(path, files[path], code)
        else:
            files[path] = code
    for place in sys.argv[3:]:
        path, out = place.split("=")
        if path not in files: # a test that needs no change
            with open(os.path.join(TOP, path), encoding="utf-8") as file:
                files[path] = file.read()
        with open(out, "w", encoding="utf-8") as file:
            file.write(files[path])


main()
