#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""make_json_page.py PLEXOR [PAGE] - docs/json.md, from what `plexor help --json` says of results

Prints the page; with PAGE says in TAP whether it is the same. To write it anew:

    tests/docs/make_json_page.py build/plexor > docs/json.md
"""
import json
import subprocess
import sys

HEAD = """# What commands print with `--json`

Made from the tables of fields that results are written by (`<plexor/field.h>`), by `tests/docs/make_json_page.py`; `plexor help COMMAND --json` has the same for
programs. Every object begins with `version` and `command` and ends with `remarks` (sentences) and, where something failed, `error`;
[cli.md](cli.md) has the rules. `a.b` is a member of an object, `a[]` each item of a list, `a.{id}` each member of a map whose keys are ids. What is *left out*
in some cases is marked so. A number that is not one (NaN, infinite) is null. A *share* is between 0 and 1.
"""
COMMON = """
## What results of a network begin with

Commands that say *origin* or *preprocessing* below have these members at their place.
"""


def kind(field):
    of = {"list": "list of ", "map": "map of "}.get(field["type"])
    text = of + ("list of " + field["of_of"] if "of_of" in field else field["of"]) if of else field["type"]
    return text + (f", {field['unit']}" if "unit" in field else "")


def row(path, what, words):
    return f"| `{path}` | {what} | {words} |"


def cells(field):
    words = field["help"] or ""
    if "choices" in field:
        words += ": " + ", ".join(f"`{choice}`" for choice in field["choices"])
    return words + ("; *left out* in some cases" if field.get("optional") else "")


def rows(fields, before=""):
    for field in fields:
        name = field["key"]
        if field["type"] == "map":
            path = before + ("{" + field["by"] + "}" if name == "*" else name + ".{" + field["by"] + "}")
        else:
            path = before + name + ("[]" if field["type"] == "list" else "")
        yield row(path, kind(field), cells(field))
        if "fields" in field:
            yield from rows(field["fields"], path + ".")


def table(lines):
    return "\n| member | is | what |\n|---|---|---|\n" + "\n".join(lines) + "\n"


def page(plexor):
    said = json.loads(subprocess.run([plexor, "help", "--json"], capture_output=True, check=True).stdout)
    results = {command["name"]: command["result"] for command in said["commands"] if command.get("result")}
    info = results["clever"]
    origin = [field for field in info if field["key"] in ("model", "model_hash", "data", "data_hash", "damaged")]
    common = {"origin": origin, "preprocessing": [field for field in info if field["key"] == "preprocessing"]}
    text = HEAD + COMMON
    for fields in common.values():
        text += table(rows(fields))
    for name, fields in sorted(results.items()):
        lines, left = [], list(fields)
        for title, group in common.items():
            if all(field in left for field in group):
                lines.append(f"| *{title}* | | [above](#what-results-of-a-network-begin-with) |")
                left = [field for field in left if field not in group]
        text += f"\n## {name}\n" + table(lines + list(rows(left)))
    return text


def main():
    made = page(sys.argv[1])
    if len(sys.argv) < 3:
        sys.stdout.write(made)
        return 0
    print("1..1")
    with open(sys.argv[2], encoding="utf-8") as file:
        same = file.read() == made
    print(f"{'' if same else 'not '}ok 1 - docs/json.md is what results say of themselves")
    if not same:
        print(f"# write it anew: {sys.argv[0]} build/plexor > docs/json.md")
    return not same


if __name__ == "__main__":
    sys.exit(main())
