#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_links.py TOP - links between pages lead to files, and to headings, that are there. Speaks TAP."""
import glob
import os
import re
import sys

TOP = sys.argv[1]


def anchors(page):
    """What GitHub makes of headings."""
    with open(page, encoding="utf-8") as file:
        text = re.sub(r"^```.*?^```$", "", file.read(), flags=re.M | re.S)
    names = []
    for heading in re.findall(r"^#+ +(.*)$", text, re.M):
        name = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower().replace(" ", "-")
        names.append(re.sub(r"[^\w-]", "", name))
    return names


def faults(page):
    with open(page, encoding="utf-8") as file:
        text = re.sub(r"^```.*?^```$|`[^`\n]*`", "", file.read(), flags=re.M | re.S)
    found = []
    for link in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"[a-z]+:", link):
            continue
        path, _, anchor = link.partition("#")
        target = os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page
        if not os.path.exists(target):
            found.append(f"there is no {link}")
        elif anchor and target.endswith(".md") and anchor not in anchors(target):
            found.append(f"{path or 'the page'} has no heading #{anchor}")
    return found


def main():
    pages = sorted(glob.glob(TOP + "/*.md") + glob.glob(TOP + "/docs/**/*.md", recursive=True))
    print(f"1..{len(pages)}")
    failed = False
    for number, page in enumerate(pages, 1):
        found = faults(page)
        failed = failed or bool(found)
        print(f"{'not ' if found else ''}ok {number} - {os.path.relpath(page, TOP)}")
        for fault in found:
            print(f"# {fault}")
    sys.exit(1 if failed else 0)


main()
