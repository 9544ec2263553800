#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_install.py TOP BUILD - `make install` into an empty folder: is everything there, does it work?

Nothing outside the folder is touched. The example is built as its first lines say, with pkg-config
and the compiler, from what was installed alone. Speaks TAP.
"""
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

TOP, BUILD = sys.argv[1:3]


def run(*command, **settings):
    return subprocess.run(command, capture_output=True, text=True, check=True, **settings).stdout


class Tree:
    """An installation below a DESTDIR."""

    def __init__(self, root):
        run("meson", "install", "-C", BUILD, "--no-rebuild", "--destdir", root)
        self.root = root
        self.prefix = os.path.dirname(os.path.dirname(self.one("bin/plexor")))
        self.lib = os.path.dirname(self.one("libplexor.so"))
        self.environment = dict(os.environ, LD_LIBRARY_PATH=self.lib)

    def one(self, end):
        found = [os.path.join(folder, name) for folder, _, names in os.walk(self.root)
                 for name in names if os.path.join(folder, name).endswith("/" + end)]
        if len(found) != 1:
            raise AssertionError(f"{len(found)} files end in {end}")
        return found[0]


def check_program(tree):
    said = run(tree.prefix + "/bin/plexor", "version", env=tree.environment)
    assert re.fullmatch(r"plexor \d+\.\d+\.\d+\n", said), said
    # commands that nobody can find in a manual are none
    for command in re.findall(r"^  ([a-z-]+) ", run(tree.prefix + "/bin/plexor", "help",
                                                    env=tree.environment), re.M):
        tree.one(f"man1/plexor-{command}.1")
    tree.one("man1/plexor.1")


def check_completion(tree):
    for place in ("bash-completion/completions/plexor", "fish/vendor_completions.d/plexor.fish"):
        tree.one(place)
    tree.one("_plexor")


def check_library(tree):
    shared = os.path.realpath(tree.lib + "/libplexor.so")
    version = run(tree.prefix + "/bin/plexor", "version", env=tree.environment).split()[1]
    assert shared.endswith(f"libplexor.so.{version}"), shared
    soname = re.search(r"SONAME.*\[(.*)\]", run("readelf", "-d", shared))
    assert soname and soname[1] == "libplexor.so.0", soname
    assert os.path.exists(tree.lib + "/libplexor.so.0") and os.path.exists(tree.lib + "/libplexor.a")


def check_headers(tree):
    sources = {os.path.basename(p) for p in glob.glob(TOP + "/include/plexor/*.h")}
    there = {os.path.basename(p) for p in glob.glob(tree.prefix + "/include/plexor/*.h")}
    assert sources == there, sources ^ there


DIGITS = TOP + "/tests/cli/models/digits.onnx"
# what each example is given, and what it prints
EXAMPLES = {
    "examine": ([DIGITS, "digits"], r"(look at input \d+: class \d with confidence 0\.\d+\n){5}"
                                    r"attacked: \d+ of \d+ right ones turned wrong\n"),
    "eval_arrays": ([DIGITS], r"right: 4\d\d of 500, loss 0\.\d+\n"),
    "cover_stream": ([DIGITS], r"nc [01]\.\d+\ntknc [01]\.\d+\n"),
    "read_campaign": (["run.campaign"], r"(failure \d+: label \d, the network says \d\n"
                                        r"  \d+ of 784 bytes differ from input \d+\n)+"),
    "own_criterion": (["cover", DIGITS, "--data", "digits", "--criteria", "nc,peak", "--json"],
                      r'(?s)\{.*"peak": \{\s*"value": \d+\.\d+.*\}\n'),
    "call_commands": ([DIGITS, "digits"], r"(\w+ \w+ \[[\d,]+\]\n){3,}and \d+ bytes of JSON\n"),
}


def check_examples(tree):
    """At most 60 lines each, as C and as C++."""
    environment = dict(tree.environment, PKG_CONFIG_PATH=tree.lib + "/pkgconfig",
                       PKG_CONFIG_SYSROOT_DIR=tree.root)
    flags = run("pkg-config", "--cflags", "--libs", "plexor", env=environment).split()
    flags = [f for f in flags if not f.startswith("-I") or f[2:].startswith(tree.root)]
    run(tree.prefix + "/bin/plexor", "fuzz", DIGITS, "--data", "digits", "--seeds", "20", "--executions", "200",
        "--guide", "nc", "-q", "-o", tree.root + "/run.campaign", env=tree.environment)
    there = {os.path.basename(p)[:-2] for p in glob.glob(TOP + "/examples/*.c")}
    assert there == EXAMPLES.keys(), there ^ EXAMPLES.keys()
    for name, (words, wanted) in EXAMPLES.items():
        source, program = f"{TOP}/examples/{name}.c", f"{tree.root}/{name}"
        with open(source, encoding="utf-8") as file:
            lines = [line for line in file if "SPDX-License-Identifier" not in line]
            assert len(lines) <= 60, f"{source} has more than 60 lines"
        for compiler in (["cc", "-std=c17"], ["c++", "-std=c++17", "-x", "c++"]):
            run(*compiler, "-Wall", "-Wextra", "-Werror", source, *flags, "-o", program)
            said = run(program, *words, env=tree.environment, cwd=tree.root)
            assert re.fullmatch(wanted, said), f"{name}: {said}"


def check_autopkgtests(tree):
    """What Debian runs on its packages; the module is tried by check_packages.py."""
    environment = dict(tree.environment, PATH=f"{tree.prefix}/bin:{os.environ['PATH']}", AUTOPKGTEST_TMP=tree.root,
                       PKG_CONFIG_PATH=tree.lib + "/pkgconfig", PKG_CONFIG_SYSROOT_DIR=tree.root)
    for name in ("program", "library"):
        run(f"{TOP}/debian/tests/{name}", cwd=TOP, env=environment)
    with open(TOP + "/debian/tests/control", encoding="utf-8") as file:
        named = set(re.findall(r"^Tests: (\w+)", file.read(), re.M))
    assert named == set(os.listdir(TOP + "/debian/tests")) - {"control"}, named


def check_versions(_):
    """Whoever releases changes all of them."""
    with open(TOP + "/meson.build", encoding="utf-8") as file:
        version = re.search(r"version: '([\d.]+)'", file.read())[1]
    with open(TOP + "/debian/changelog", encoding="utf-8") as file:
        packaged = re.match(r"plexor \(([\d.]+)\)", file.readline())[1]
    assert version == packaged, f"meson.build has {version}, debian/changelog {packaged}"
    with open(TOP + "/CHANGELOG.md", encoding="utf-8") as file:
        newest = re.search(r"^## .*?(\d+\.\d+\.\d+)", file.read(), re.M)[1]
    assert version == newest, f"meson.build has {version}, CHANGELOG.md {newest}"


def main():
    checks = [("program and manual", check_program), ("completion", check_completion),
              ("library", check_library), ("headers", check_headers),
              ("examples, as C and C++", check_examples), ("tests of the packages", check_autopkgtests),
              ("versions", check_versions)]
    print(f"1..{len(checks)}")
    if not shutil.which("meson"):
        print("Bail out! meson is not installed")
        sys.exit(1)
    failed = False
    with tempfile.TemporaryDirectory(prefix="plexor-install-") as folder:
        tree = Tree(folder)
        for number, (title, check) in enumerate(checks, 1):
            fault = None
            try:
                check(tree)
            except subprocess.CalledProcessError as e:
                fault = f"{' '.join(e.cmd)}: {e.stderr}"
            except AssertionError as e:
                fault = str(e)
            failed = failed or fault is not None
            print(f"{'not ' if fault is not None else ''}ok {number} - {title}")
            for line in (fault or "").splitlines():
                print(f"# {line}")
    sys.exit(1 if failed else 0)


main()
