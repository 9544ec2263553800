#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""no_false_alarm.py PLEXOR [--all] [--keep FOLDER] - advice on preprocessing: none where it is right, the right one where it was
forgotten.

Trains small networks on Fashion-MNIST, and with --all on MNIST and more kinds of networks, on data that are dark, inverted or of
three classes, with labels that are wrong, networks that are under-trained, over-trained, smoothed or hardened. Each is evaluated
with its metadata, and without any. Without them a network of values between 0 and 1 is still fed rightly: no advice. Any other
is not: its preset is named. The figures of --all are in docs/doctor.md. Speaks TAP; skips what is not there.
"""
import gzip
import json
import os
import subprocess
import sys
import tempfile

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
SHARED = os.environ.get("PLEXOR_SHARED") or os.path.join(os.path.dirname(ROOT), "shared")
PLEXOR = os.path.abspath(sys.argv[1])
ALL = "--all" in sys.argv[2:]
KEEP = sys.argv[sys.argv.index("--keep") + 1] if "--keep" in sys.argv else None
FASHION, MNIST = "/usr/share/datasets/fashion-mnist", os.path.join(SHARED, "data/mnist")

SHORT = ["--train-limit", "3000", "--epochs", "2"]
QUICK = [ # architecture, data, preset, training
    ("lenet1", FASHION, "none", SHORT), ("mlp-3x40", FASHION, "none", SHORT),
    ("lenet1", FASHION, "mnist", SHORT), ("mlp-3x40", FASHION, "half", SHORT),
]
LONG = ["--train-limit", "4000", "--epochs", "2"]
MORE = [
    (arch, data, preset, LONG)
    for arch in ("lenet1", "lenet5", "mlp-5x30") for data in (FASHION, MNIST) for preset in ("none", "mnist", "half")
] + [
    (arch, data, preset, training)
    for arch, data in (("lenet1-valid", MNIST), ("mlp-3x50", FASHION))
    for preset in ("none", "mnist")
    for training in (["--train-limit", "1000", "--epochs", "1"], ["--train-limit", "2000", "--epochs", "25"],
                     LONG + ["--label-noise", "0.3"], LONG + ["--label-smoothing", "0.1"], LONG + ["--label-smoothing", "0.3"],
                     LONG + ["--augment", "dh-d"])
] + [
    ("lenet1-valid", MNIST, "none", ["--train-limit", "1500", "--epochs", "2", "--adversary", "fgsm", "--eps", "0.1"]),
    ("lenet5-valid", FASHION, "none", LONG + ["--optimizer", "adam"]),
    ("lenet4-valid", FASHION, "fashion-mnist", LONG), ("lenet1", MNIST, "fashion-mnist", LONG),
    ("lenet4", FASHION, "bytes", LONG + ["--lr", "0.0005"]),
    ("mlp-2x60", MNIST, "bytes", LONG + ["--lr", "0.0005"]),
] + [
    (arch, (data, change), preset, LONG)
    for arch, data in (("lenet1", FASHION), ("mlp-3x50", MNIST)) for change in ("dark", "inverted", "three classes")
    for preset in ("none", "mnist")
]

CHANGES = {"dark": bytes(v // 3 for v in range(256)), "inverted": bytes(255 - v for v in range(256)),
           "three classes": bytes(range(256))}


def varied(folder, change, to):
    """Writes IDX files of `folder` with other pixels, or only of the first three classes."""
    os.makedirs(to, exist_ok=True)
    for part in ("train", "t10k"):
        with gzip.open(f"{folder}/{part}-images-idx3-ubyte.gz") as f:
            head, pixels = f.read(16), f.read()
        with gzip.open(f"{folder}/{part}-labels-idx1-ubyte.gz") as f:
            f.read(8)
            labels = f.read()
        chosen = [i for i, label in enumerate(labels) if change != "three classes" or label < 3]
        count = len(chosen).to_bytes(4, "big")
        with open(f"{to}/{part}-images-idx3-ubyte", "wb") as f:
            f.write(head[:4] + count + head[8:])
            f.write(b"".join(pixels[784 * i:784 * (i + 1)] for i in chosen).translate(CHANGES[change]))
        with open(f"{to}/{part}-labels-idx1-ubyte", "wb") as f:
            f.write(b"\0\0\x08\x01" + count + bytes(labels[i] for i in chosen))
    return to


def varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 127) << shift
        at, shift = at + 1, shift + 7
        if data[at - 1] < 128:
            return value, at


def strip(source, target):
    """Leaves out metadata_props, field 14 of an ONNX ModelProto, whose fields are varints and lengths."""
    with open(source, "rb") as f:
        data = f.read()
    kept, at = [], 0
    while at < len(data):
        start = at
        key, at = varint(data, at)
        value, at = varint(data, at)
        at += value if key & 7 == 2 else 0
        if key >> 3 != 14:
            kept.append(data[start:at])
    with open(target, "wb") as f:
        f.write(b"".join(kept))


def advice(*arguments):
    done = subprocess.run([PLEXOR, "eval", *arguments, "--json", "--quiet", "--allow-chance"], capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr.strip())
    result = json.loads(done.stdout)
    found = [f["advice"] for f in result["doctor"]["findings"] if f["id"] == "preprocess"]
    return (found[0] if found else None), result["accuracy"]


def main():
    folder = KEEP or tempfile.mkdtemp()
    os.makedirs(folder, exist_ok=True)
    number = failed = 0
    counts = {"right": 0, "alarms": 0, "forgotten": 0, "named": 0, "other": 0}

    def case(fine, title):
        nonlocal number, failed
        number += 1
        failed += not fine
        print(f"{'ok' if fine else 'not ok'} {number} - {title}", flush=True)

    for i, (arch, data, preset, training) in enumerate(QUICK + (MORE if ALL else [])):
        source, change = data if isinstance(data, tuple) else (data, "")
        words = " ".join([arch, os.path.basename(source), change, preset, *training[4:]]) + f" {training[1]}x{training[3]}"
        if not os.path.isdir(source):
            number += 1
            print(f"ok {number} - {words} # SKIP '{os.path.basename(source)}' is not there")
            continue
        if change:
            source = varied(source, change, f"{folder}/{os.path.basename(source)} {change}")
        network, bare = f"{folder}/{i}.onnx", f"{folder}/{i}-bare.onnx"
        if not os.path.exists(network):
            subprocess.run([PLEXOR, "train", "--arch", arch, "--data", source, "--preprocess", preset, "--seed", str(i + 1), "--test-limit",
                            "500", "--eval-every", "0", "--checkpoint", "none", "-o", network, "--quiet",
                            *training], check=True, stdout=subprocess.DEVNULL)
        strip(network, bare)
        said, accuracy = advice(network, "--data", source)
        case(said is None, f"{words}: {100 * accuracy:.1f}% with metadata; advice: {said}")
        said, accuracy = advice(bare, "--data", source)
        if preset == "none":
            counts["right"] += 1
            counts["alarms"] += said is not None
            case(said is None, f"{words}: {100 * accuracy:.1f}% without metadata; advice: {said}")
        else:
            counts["forgotten"] += 1
            counts["named"] += said == f"give --preprocess {preset}"
            counts["other"] += said not in (None, f"give --preprocess {preset}")
            case(ALL or said == f"give --preprocess {preset}", f"{words}: {100 * accuracy:.1f}% forgotten; advice: {said}")
    print(f"# {counts['alarms']} alarms for {counts['right']} networks fed rightly without metadata; preprocessing forgotten: "
          f"{counts['named']} of {counts['forgotten']} named, {counts['other']} another")
    print(f"1..{number}")
    return failed > 0


sys.exit(main())
