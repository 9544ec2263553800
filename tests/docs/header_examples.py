#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""header_examples.py TOP - the examples at the head of headers call what there is, as it is: those of include/plexor
what users have, those of include/internal that and what rooms have of each other. Speaks TAP.

They are fragments. All are compiled as one C++ file, each as a function; names that a fragment takes for granted are
declared as things that may be anything, so that what is left to fail is a function, a type, a constant or a member
that the headers do not have, and a call with other arguments.
"""
import glob
import os
import re
import subprocess
import sys

TOP = sys.argv[1]
ANY = """#include <cstdio>
#include <cstdlib>
#include <cstring>
struct any_address {
    template <class T> operator T *() const;
};
struct any { /* a value, an array, a struct of values */
    template <class T> operator T() const;
    template <class T> any &operator=(const T &);
    any_address operator&() const;
    any operator[](long) const;
    any operator++(int);
    template <class T> bool operator<(const T &) const;
    friend bool operator<(int64_t, const any &);
    template <class T> any operator-(const T &) const;
    template <class T> friend any operator/(const T &, const any &);
};
struct any_error : px_error { /* said as `err` and as `&err` */
    operator px_error *() const;
    px_error *operator&() const;
};
#undef PX_TRY
#define PX_TRY(call) do { px_status s_ = (call); if (s_ != PX_OK) return s_; } while (0)
"""


C_ALONE = {"build.h": "compound literals", "field.h": "nested designators"}  # what C++ does not have


def example(path):
    """The indented blocks of the first comment that are code: (line, text)."""
    with open(path, encoding="utf-8") as file:
        head = file.read().split("*/")[0].split("\n")
    lines = []
    blocks = [[]]
    for number, line in enumerate(head, 1):
        code = re.match(r" \*     (.*)", line)
        if code:
            blocks[-1].append((number, code[1]))
        elif blocks[-1]:
            blocks.append([])
    for block in blocks:
        if any(re.search(r";\s*(/[/*].*)?$", text) for _, text in block):
            lines += block
    return lines


def shared(path):
    """Whether it is one that C++ reads."""
    with open(path, encoding="utf-8") as file:
        return "PX_BEGIN_DECLS" in file.read()


def source(examples, known):
    text = ["#include <plexor/plexor.h>", "#include <plexor/extend.h>", "#include <plexor/trace.h>"]
    if any("/internal/" in path for path in examples):
        text += [f"#include <internal/{os.path.basename(p)}>" for p in sorted(glob.glob(TOP + "/include/internal/*.h")) if shared(p)]
    text.append(ANY)
    for n, (path, lines) in enumerate(examples.items()):
        text.append(f"static px_status example_{n}() {{ any_error err;")
        text += [f"any {name};" for name in sorted(known[path])]
        text.append("{")
        for number, line in lines:
            line = re.sub(r"/\*.*|//.*", "", line)
            line = re.sub(r"px_error err = \{0\};", "", line)
            line = line.replace("(...)", "(;;)").replace(", ...", ", any()")
            line = re.sub(r"(^|[);{}\s])\.\.\.;?", r"\1;", line)
            text.append(f'#line {number} "{os.path.relpath(path, TOP)}"\n{line}')
        text.append("; } return PX_OK; }")
    return "\n".join(text) + "\n"


def compile_all(examples, known):
    done = subprocess.run(["c++", "-std=c++20", "-w", "-fpermissive", "-fsyntax-only", "-fmax-errors=0",
                           "-fdiagnostics-color=never", "-I", os.path.join(TOP, "include"), "-x", "c++", "-"],
                          input=source(examples, known), text=True, stderr=subprocess.PIPE,
                          env=dict(os.environ, LC_ALL="C"), check=False)
    return [m.groups() for m in re.finditer(r"^(\S+?):(\d+):\d+: error: (.*)$", done.stderr, re.M)]


def judge(folder):
    """The examples of a folder's headers, and what is wrong with them."""
    examples = {p: example(p) for p in sorted(glob.glob(f"{TOP}/include/{folder}/*.h")) if shared(p)}
    examples = {p: lines for p, lines in examples.items() if lines}
    used = {p: set(re.findall(r"\b(index|select|random)\b(?!\()", " ".join(t for _, t in lines)))
            for p, lines in examples.items()}
    known = {p: names for p, names in used.items()}  # else they are functions of the C library
    errors = []
    for _ in range(6):
        errors = compile_all(examples, known)
        new = 0
        for path, _, message in errors:
            name = re.match(r"'(\w+)' was not declared in this scope", message)
            path = os.path.join(TOP, path)
            if name and path in known and not name[1].lower().startswith(("px_", "px")):
                new += name[1] not in known[path]
                known[path].add(name[1])
        if not new:
            break
    return examples, errors


def main():
    examples, errors = {}, []
    for folder in ("plexor", "internal"):
        found, wrong = judge(folder)
        examples.update(found)
        errors += wrong
    print(f"1..{len(examples)}")
    failed = False
    for n, path in enumerate(examples, 1):
        here = os.path.relpath(path, TOP)
        if os.path.basename(path) in C_ALONE:
            print(f"ok {n} - {os.path.basename(path)} # SKIP {C_ALONE[os.path.basename(path)]}")
            continue
        faults = [f"{here}:{line}: {message}" for at, line, message in errors if at == here]
        failed = failed or bool(faults)
        print(f"{'not ' if faults else ''}ok {n} - {os.path.basename(path)}")
        for fault in faults:
            print("#", fault)
    sys.exit(1 if failed or not examples else 0)


main()
