#!/usr/bin/env python3
"""ONNX's node tests against `plexor onnx-test`, as TAP: node_tests.py PLEXOR FOLDER

Generates the tests into FOLDER once, then asks for at least LEAST passes, no failure, and a name
behind every skip.
"""
import importlib.util
import json
import os
import pathlib
import shutil
import subprocess
import sys

LEAST = 640
TOTAL = 922  # in onnx 1.12; another version may have more


def generate(folder):
    """FOLDER/node, made in one go: a run that was cut off leaves nothing that looks finished."""
    if (folder / "node").is_dir():
        return
    script = pathlib.Path(__file__).with_name("make_node_tests.py")
    partial = folder.with_name(folder.name + ".part")
    shutil.rmtree(partial, ignore_errors=True)
    shutil.rmtree(folder, ignore_errors=True)
    subprocess.run([sys.executable, script, partial], check=True, stdout=subprocess.DEVNULL)
    partial.rename(folder)


def main(plexor, folder):
    generate(folder)
    run = subprocess.run([plexor, "onnx-test", "--json", folder / "node"], capture_output=True, text=True)
    sys.stderr.write(run.stderr)
    result = json.loads(run.stdout)
    total = result["passed"] + result["failed"] + result["skipped"]
    checks = [
        (f"{result['passed']} of {total} node tests pass, at least {LEAST} must",
         result["passed"] >= LEAST and total >= TOTAL),
        (f"no node test fails: {' '.join(result['failures'])}",
         result["failed"] == 0 and not result["failures"] and run.returncode == 0),
        ("every skipped test names what is missing",
         len(result["skips"]) == result["skipped"] and "?" not in result["skips"].values()),
        (f"{result['compiled']} run compiled as well, at least half of those that pass",
         2 * result["compiled"] >= result["passed"]),
    ]
    print(f"1..{len(checks)}")
    for number, (text, holds) in enumerate(checks, 1):
        print(f"{'ok' if holds else 'not ok'} {number} - {text}")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    if importlib.util.find_spec("onnx") is None:
        system = "/usr/bin/python3"  # Debian's modules belong to Debian's interpreter
        if sys.executable != system and os.access(system, os.X_OK) and "PLEXOR_RETRY" not in os.environ:
            os.execve(system, [system, *sys.argv], {**os.environ, "PLEXOR_RETRY": "1"})
        print("1..0 # SKIP python3-onnx is not installed")
        sys.exit(0)
    main(sys.argv[1], pathlib.Path(sys.argv[2]).absolute())
