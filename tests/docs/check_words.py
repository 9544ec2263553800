#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_words.py PLEXOR TOP - one word for one thing. Speaks TAP.

docs/glossary.md has at most 25 words, those of `plexor list terms`, and what it retires does not come back: not into help and lists,
not into docs. Code (between backticks, in blocks) may have the old names, which scripts rely on; what commands print has them no more.
"""
import json
import os
import re
import subprocess
import sys

PLEXOR, TOP = os.path.abspath(sys.argv[1]), sys.argv[2]
MOST = 25
# what is said instead
RETIRED = {
    r"fault types?|types? of faults?": "kind",
    r"faults?(?!y)": "failure",
    r"unique (?:fault|failure)s?": "distinct failure",
    r"twins?": "repeat",
    r"uniq": "distinct",
    r"(?:that|which) leaves? (?:\S+ ){1,4}meaning alone": "should leave",  # whether they do is measured
}
# in blocks: output of a plexor of before
PRINTED = r"^ *faults: |fault types?\b|\d uniq\b|new fault\b|fault rate\b"
# pages that speak the language of papers are not looked at (docs/studies neither), nor the one that has the old names
PAGES = ["README.md"] + sorted("docs/" + name for name in os.listdir(os.path.join(TOP, "docs"))
                               if name.endswith(".md") and name not in ("study.md", "glossary.md"))
# names in help that scripts rely on: options and their values, gates, columns
NAMES = (r"--all-faults|--faults?\b|--fault-[a-z]+|--[a-z-]*twin[a-z-]*|faults(?:=|,| \(|:)|(?:, |, or |: )faults\b|faults/|fault-types|"
         r"fuzz-faults|twins=|default faults|faults, kept|--split [a-z, ]*faults|[a-z]+=fault[a-z-]*|faults\.csv|fault_[a-z]+")
# commands and lists whose words are those of papers, and the list of words itself
PAPERS = {"study", "train"}
LISTS_OF_PAPERS = {"measures", "studies", "archs", "terms"}


def retired(text):
    text = re.sub(r"(?i)default|fault localization", "", text)  # that is the field's
    for pattern, instead in RETIRED.items():
        for match in re.finditer(rf"(?i)\b(?:{pattern})\b", text):
            yield match[0], instead


def read(page):
    with open(os.path.join(TOP, page), encoding="utf-8") as file:
        return file.read()


def prose(text):
    text = re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S)
    text = re.sub(r"^    .*$", "", text, flags=re.M)
    return re.sub(r"`[^`]*`|\]\([^)]*\)", "", text)


def rows(heading):
    part = read("docs/glossary.md").split(heading, 1)[1].split("\n## ")[0]
    return dict(re.findall(r"^\| (?!---|word |head )(.*?) \| (.*?) \|$", part, re.M))


def run(*words):
    return subprocess.run([PLEXOR, *words], capture_output=True, text=True, check=True, timeout=60).stdout


def main():
    number, failed = 0, False

    def case(title, faults):
        nonlocal number, failed
        number, failed = number + 1, failed or bool(faults)
        print(f"{'not ' if faults else ''}ok {number} - {title}")
        for fault in faults:
            print(f"# {fault}")

    terms = json.loads(run("list", "terms", "--json"))
    words, heads = rows("# Words"), rows("## Heads of tables")
    case(f"at most {MOST} words", [] if 0 < len(words) <= MOST else [f"there are {len(words)}"])
    case("the program has the same words", [] if words == terms["terms"] else
         [f"docs/glossary.md: {k}" for k in set(words.items()) ^ set(terms["terms"].items())])
    case("and the same heads of tables", [] if heads == terms["heads"] else
         [f"docs/glossary.md: {k}" for k in set(heads.items()) ^ set(terms["heads"].items())])
    for page in PAGES:
        text = read(page)
        case(page, [f"'{old}': say {new}" for old, new in retired(prose(text))] +
             [f"'{m[0]}': commands print that no more" for m in re.finditer(PRINTED, text, re.M)])
    commands = [m for m in re.findall(r"^  ([a-z-]+)  ", run("help"), re.M) if m not in PAPERS]
    for command in commands:
        text = re.sub(NAMES, "", run("help", command))
        case(f"plexor help {command}", [f"'{old}': say {new}" for old, new in retired(text)])
    for name in re.findall(r"^plexor list ([a-z]+)  ", run("list"), re.M):
        if name not in LISTS_OF_PAPERS:
            text = re.sub(NAMES, "", re.sub(r"^\S+", "", run("list", name), flags=re.M))  # without the names in front
            case(f"plexor list {name}", [f"'{old}': say {new}" for old, new in retired(text)])
    print(f"1..{number}")
    sys.exit(1 if failed else 0)


main()
