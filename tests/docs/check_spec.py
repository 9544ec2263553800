#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_spec.py TOP - what code, tests and pages cite of docs/spec is there. Speaks TAP.

A citation is `CSM` or `LGR` and sections, with commas, "and", "to" or a dash between them: LGR D.6, CSM A.5 to A.7, A.11, LGR
C.12.2, CSM TV-B9, LGR 0.4, LGR parts B and H.2. docs/spec/README.md says which page each is.
"""
import os
import re
import subprocess
import sys

TOP = sys.argv[1]
ROOTS = ["src", "include", "tests", "docs", "studies", "python", "plugins", "fuzz", "bench", "web/src", "README.md", "CONTRIBUTING.md"]
TEXT = (".c", ".h", ".py", ".md", ".build", ".family", ".ts", ".in")
SECTION = r"(?:TV-[A-Z]\d+[a-z]?|[A-I]\.\d+(?:\.\d+)*|0\.\d|[A-I](?![\w.']))"
CITED = re.compile(rf"\b(CSM|LGR)((?:,? (?:parts?|and|to|or) |, | |-)(?={SECTION}){SECTION}(?:(?:, | and | to |-)(?={SECTION}){SECTION})*)?")
# what was said before there was docs/spec, and tells a reader nothing
UNRESOLVED = re.compile(rf"\b[Ss]pec (?={SECTION})|\b[Pp]aper 00\d|shared/spec")


def headings(page):
    """Sections of a page, by its headings; worked examples by their bold names."""
    found = set()
    for line in page.splitlines():
        if line.startswith("#"):
            found.update(re.findall(r"(?:^#+ |, and )((?:[A-I]|0)(?:\.\d+)*)\.? ", line + " "))
        found.update(re.findall(r"\*\*(TV-\w+)", line))
        for first, more in re.findall(r"\*\*(TV-[A-Z]\d+), (\w+) ", line):
            found.update((first, "TV-" + more))
    return found


def spec():
    folder = os.path.join(TOP, "docs", "spec")
    with open(os.path.join(folder, "README.md"), encoding="utf-8") as file:
        pages = dict(re.findall(r"^\| ([A-Z]{3}) \| \[[^]]*\]\(([^)]*)\)", file.read(), re.M))
    found = {}
    for name, page in pages.items():
        with open(os.path.join(folder, page), encoding="utf-8") as file:
            found[name] = headings(file.read())
    return found


def files():
    listed = subprocess.run(["git", "-C", TOP, "ls-files", *ROOTS], capture_output=True, text=True)
    names = listed.stdout.splitlines() or ROOTS[-2:] + [  # the latter: from a tarball
        os.path.relpath(os.path.join(folder, name), TOP)
        for root in ROOTS for folder, _, names in os.walk(os.path.join(TOP, root)) for name in names]
    return [name for name in names if os.path.exists(os.path.join(TOP, name))]


def plain(text):
    """Comments that go on in the next line are one line."""
    return re.sub(r"\s*\n[ \t]*(?:\*|//|#)?[ \t]*", " ", text)


def main():
    there, cited, faults = spec(), 0, []
    mine = os.path.relpath(os.path.abspath(__file__), os.path.abspath(TOP))
    for path in files():
        program = path.startswith("bench/") and "." not in os.path.basename(path)
        if path == mine or not (path.endswith(TEXT) or program):
            continue
        with open(os.path.join(TOP, path), encoding="utf-8") as file:
            text = plain(file.read())
        for match in UNRESOLVED.finditer(text):
            faults.append(f"{path}: '{text[match.start():match.end() + 8]}' says no page")
        if path.startswith("docs/spec/") and path.endswith("README.md"):
            text = re.sub(r"\| (CSM|LGR) \||(CSM|LGR) says|(CSM|LGR): ", "", text)  # its own table
        for match in CITED.finditer(text):
            sections = re.findall(SECTION, match[2] or "")
            if not sections and not path.startswith("docs/spec/"):
                faults.append(f"{path}: {match[1]} without a section: '{text[match.start():match.end() + 20]}'")
            for section in sections:
                cited += 1
                if section not in there[match[1]]:
                    faults.append(f"{path}: there is no {match[1]} {section}")
    print("1..2")
    print(f"{'ok' if min(len(v) for v in there.values()) > 50 else 'not ok'} 1 - "
          f"{', '.join(f'{k} has {len(v)} sections' for k, v in sorted(there.items()))}")
    print(f"{'not ' if faults or cited < 100 else ''}ok 2 - {cited} citations")
    for fault in faults:
        print(f"# {fault}")
    return bool(faults) or cited < 100


sys.exit(main())
