#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run_tutorial.py PLEXOR PAGE [NET] - runs a page's commands as they are written, in an empty folder.

A fenced block "sh" is run by a shell, each in its turn in the same folder and with the same
variables. What a block "text" behind it shows must be there: its lines, in this order, among what
was printed. Spaces may differ, and "..." stands for what is left out. Another processor rounds and so trains a little
differently: shares (60.00%) must be within twenty points of those that are shown, other numbers may be anything.

With NET, which becomes net.onnx, the page is README.md: commands are lines "$ plexor ..." of its indented blocks, with what
they print below them, and shares must be within two points. Studies are left out.

The pages work on Fashion-MNIST. Where Debian's package is not installed, the procedural digits take
its place, as the page itself advises; then commands must succeed, and what they print is not
compared. Speaks TAP, a case for every block.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

DATA = "/usr/share/datasets/fashion-mnist"
END = "=== end of block ==="


def read(page):
    """[(title, commands, shown or None)]"""
    with open(page, encoding="utf-8") as file:
        text = file.read()
    found = []
    title = ""
    for match in re.finditer(r"^##? ([^\n]*)$|^```(sh|text)\n(.*?)^```$", text, re.M | re.S):
        if match[1]:
            title = match[1]
        elif match[2] == "sh":
            found.append([title, match[3], None])
        elif found:
            found[-1][2] = match[3]
    return found


def read_answers(page):
    """The same of "    $ command" lines; the title is the question."""
    with open(page, encoding="utf-8") as file:
        lines = file.read().splitlines()
    found, title, shown = [], "", False
    for line in lines:
        question = re.match(r"\*\*(.*?)\*\*", line)
        title = question[1] if question else title
        if line.startswith("    $ "):
            shown = line.startswith("    $ plexor ") and "plexor study" not in line
            if shown:
                found.append([title, line[6:], ""])
        elif not line.startswith("    ") and line:
            shown = False
        elif shown:
            found[-1][2] += line + "\n"
    return found


def plain(line):
    return " ".join(re.sub(r"[+-]?\d[\d,.]*", "#", line).split())


def about(shown, printed, points):
    """Whether a line says the same, and with about the same shares."""
    shares = [[float(n) for n in re.findall(r"([\d.]+)%", line)] for line in (shown, printed)]
    begins, cut, _ = plain(shown).partition(" ...")
    same = plain(printed).startswith(begins) if cut else plain(printed) == begins
    return same and all(abs(a - b) <= points for a, b in zip(*shares))


def missing(shown, printed, points):
    """The first line that is shown but was not printed in this order; None: all are there."""
    rest = iter(printed.splitlines())
    for line in shown.splitlines():
        if plain(line) not in ("", "...") and not any(about(line, other, points) for other in rest):
            return line
    return None


def main():
    plexor, page = os.path.abspath(sys.argv[1]), sys.argv[2]
    net = sys.argv[3] if len(sys.argv) > 3 else None
    steps = read_answers(page) if net else read(page)
    have = os.path.isdir(DATA)
    if net and not have:
        print("1..0 # SKIP dataset-fashion-mnist is not installed")
        return
    print(f"1..{len(steps)}")
    if not have:
        print("# dataset-fashion-mnist is not installed: the tutorial is run on digits")
    failed = False
    environment = dict(os.environ, PATH=os.path.dirname(plexor) + os.pathsep + os.environ["PATH"],
                       LC_ALL="C.UTF-8")
    with tempfile.TemporaryDirectory(prefix="plexor-tutorial-") as folder:
        if net:
            shutil.copy(net, os.path.join(folder, "net.onnx"))
        with subprocess.Popen(["sh"], cwd=folder, env=environment, text=True,
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT) as shell:
            for number, (title, commands, shown) in enumerate(steps, 1):
                if not have:
                    commands = commands.replace("data=fashion-mnist", "data=digits")
                began = time.monotonic()
                shell.stdin.write(f"{{\nset -e\n{commands}\n}} </dev/null\necho '{END}'\n")
                shell.stdin.flush()
                printed, ended = "", False
                for line in shell.stdout:
                    ended = line.rstrip("\n") == END
                    if ended:
                        break
                    printed += line
                lost = missing(shown, printed, 2 if net else 20) if ended and have and shown else None
                good = ended and lost is None
                failed = failed or not good
                print(f"{'' if good else 'not '}ok {number} - {title}: "
                      f"{commands.strip().splitlines()[-1][:60]} ({time.monotonic() - began:.1f} s)",
                      flush=True)
                if not ended:
                    print("# a command failed")
                if lost is not None:
                    print(f"# the page shows, and nothing like it was printed: {lost}")
                if not good:
                    print("".join(f"#   {line}\n" for line in printed.splitlines()[-40:]), end="")
                if not ended:
                    break
    sys.exit(1 if failed else 0)


main()
