#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""ONNX's node tests against `plexor onnx-test`, as TAP: node_tests.py PLEXOR FOLDER

Generates the tests into FOLDER once, then asks for at least as many passes as there are today, no
failure, and an operator's name and "not supported" behind every skip.
"""
import importlib.util
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

# What passes today should go on passing: tests that pass and tests in all, by onnx's version.
LEAST = {"1.12": (883, 922), "1.17": (1161, 1288)}
SHARE = 0.9  # of other versions

# Tests of a version of onnx whose expectation is wrong.
MISTAKEN = {"1.17": {
    # sums that leave the range of int8 wrap around: 20 where -236 is saturated to -128
    "test_qlinearmatmul_2D_int8_float16", "test_qlinearmatmul_2D_int8_float32",
    "test_qlinearmatmul_3D_int8_float16", "test_qlinearmatmul_3D_int8_float32",
    # cut off, not rounded to the nearest
    "test_cast_FLOAT_to_BFLOAT16", "test_castlike_FLOAT_to_BFLOAT16", "test_castlike_FLOAT_to_BFLOAT16_expanded",
    # cells beyond the padding, which ceil_mode adds, are counted or not
    "test_averagepool_3d_dilations_large_count_include_pad_is_1_ceil_mode_is_True",
}}


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


def onnx_test(plexor, folder):
    run = subprocess.run([plexor, "onnx-test", "--json", folder], capture_output=True, text=True)
    sys.stderr.write(run.stderr)
    return run.returncode, json.loads(run.stdout)


def refusals(plexor, folder):
    """The sentence of every skipped test."""
    run = subprocess.run([plexor, "onnx-test", "--verbose", folder], capture_output=True, text=True)
    return dict(re.findall(r"^skipped (\S+) \([^)]*\): (.*)", run.stdout, re.MULTILINE))


def sees_faults(plexor, folder):
    """One right test, one with a wrong expectation, one with a damaged model, one that is absent."""
    with tempfile.TemporaryDirectory() as name:
        scratch = pathlib.Path(name)
        for test in ("right", "wrong", "damaged"):
            shutil.copytree(folder / "node" / "test_relu", scratch / test)
        expected = scratch / "wrong" / "test_data_set_0" / "output_0.pb"
        expected.write_bytes(expected.read_bytes()[:-4] + b"\0\0\x80\x7f")  # the last element: infinity
        (scratch / "damaged" / "model.onnx").write_bytes(b"\xff" * 10)
        status, result = onnx_test(plexor, scratch)
        absent = subprocess.run([plexor, "onnx-test", scratch / "absent"], capture_output=True)
        return (status == 1 and result["passed"] == 1 and result["failures"] == ["damaged", "wrong"]
                and absent.returncode == 2)


def main(plexor, folder):
    import onnx

    generate(folder)
    status, result = onnx_test(plexor, folder / "node")
    total = result["passed"] + result["failed"] + result["skipped"]
    version = ".".join(onnx.__version__.split(".")[:2])
    mistaken = MISTAKEN.get(version, set())
    least, known = LEAST.get(version, (SHARE * total, total))
    sentences = refusals(plexor, folder / "node")
    unclear = [f"{test}: {text}" for test, text in sentences.items() if "not supported" not in text]
    wrong = set(result["failures"]) - mistaken
    checks = [
        (f"{result['passed']} of {total} node tests pass, at least {least:.0f} must",
         result["passed"] >= least and total >= known),
        (f"no node test fails, but {result['failed']} of onnx's mistakes: {' '.join(sorted(wrong))}",
         not wrong and len(result["failures"]) == result["failed"] and status == (result["failed"] > 0)),
        ("every skipped test names what is missing",
         len(result["skips"]) == result["skipped"] and "?" not in result["skips"].values()),
        (f"every refusal says \"not supported\", but {len(unclear)}: {'; '.join(unclear)}",
         sentences.keys() == result["skips"].keys() and not unclear),
        (f"{result['compiled']} run compiled as well, at least half of those that pass",
         2 * result["compiled"] >= result["passed"]),
        ("a wrong output and a damaged model are failures", sees_faults(plexor, folder)),
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
