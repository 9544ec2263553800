#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_page.py - the committed page was built from the sources beside it. Speaks TAP.

The built page names the identity of its sources (web/build/sources.ts computes it when it is built); this is the same
computation, for machines without Node. tests/report/browser also builds the page again where Node is.
"""
import hashlib
import os
import re
import sys

WEB = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "web")
SINGLE = ["index.html", "package-lock.json", "package.json", "tsconfig.json", "vite.config.ts"]
FOLDERS = ["build", "src"]


def sources_id():
    paths = SINGLE + [f"{folder}/{name}" for folder in FOLDERS for name in os.listdir(os.path.join(WEB, folder))]
    total = hashlib.sha256()
    for path in sorted(paths):
        with open(os.path.join(WEB, path), "rb") as file:
            data = file.read()
        total.update(f"{path} {len(data)}\n".encode() + data)
    return total.hexdigest()[:16]


with open(os.path.join(WEB, "dist", "report.html"), encoding="utf-8") as built:
    page = built.read()
named = re.search(r'<meta name="plexor-sources" content="([0-9a-f]{16})">', page)
wanted = sources_id()
good = bool(named) and named.group(1) == wanted
print("1..1")
print(f"{'ok' if good else 'not ok'} 1 - the committed page is built from the sources beside it")
if not good:
    print(f"# web/dist/report.html names {named.group(1) if named else 'nothing'}, the sources are {wanted}; "
          "build it again: cd web && npm ci --ignore-scripts && npm run build")
sys.exit(0 if good else 1)
