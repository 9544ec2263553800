#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_example.py EXAMPLE TOP - the example of docs/api.md says what the page says. Speaks TAP."""
import re
import subprocess
import sys

EXAMPLE, TOP = sys.argv[1:3]
MODEL = TOP + "/tests/cli/models/digits.onnx"

# words on the command line, exit status, what is said on stdout and stderr
CASES = [
    ("a network and data", [MODEL, "digits"], 0,
     r"(look at input \d+: class \d with confidence 0\.\d+\n){5}"
     r"attacked: \d+ of \d+ right ones turned wrong\n", r""),
    ("no network", ["no.onnx", "digits"], 2, r"", r".*no\.onnx.*\n"),
    ("no data", [MODEL, "no-such-data"], 2, r"", r".*no-such-data.*\n"),
    ("no words", [], 2, r"", r"usage: examine MODEL\.onnx DATA\n"),
]


def main():
    print(f"1..{len(CASES)}")
    failed = False
    for number, (title, words, status, out, err) in enumerate(CASES, 1):
        done = subprocess.run([EXAMPLE] + words, capture_output=True, text=True, check=False)
        good = (done.returncode == status and re.fullmatch(out, done.stdout)
                and re.fullmatch(err, done.stderr))
        failed = failed or not good
        print(f"{'' if good else 'not '}ok {number} - {title}")
        if not good:
            for line in [f"status {done.returncode}"] + (done.stdout + done.stderr).splitlines():
                print(f"# {line}")
    sys.exit(1 if failed else 0)


main()
