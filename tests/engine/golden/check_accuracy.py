#!/usr/bin/python3
"""Evaluates real networks with plexor and compares the accuracies with known ones.

    check_accuracy.py PLEXOR SHARED       prints TAP; skips where the networks are absent

The numbers, to be met within 0.1 point, are those of SHARED/models/README.md, top-1 over 10,000 test images.
"""
import json
import os
import subprocess
import sys

TOLERANCE = 0.001
CIFAR = ["--mean", "0.485,0.456,0.406", "--std", "0.229,0.224,0.225"]
NETWORKS = [  # model, correct of 10,000, data, options
    ("deepfault_mnist_1", 9663, "mnist", []),
    ("deepfault_mnist_2", 9588, "mnist", []),
    ("deepfault_mnist_3", 9508, "mnist", []),
    ("deepfault_mnist_3x50", 9696, "mnist", []),
    ("lenet1", 9788, "mnist", []),
    ("lenet4", 9852, "mnist", []),
    ("lenet5", 9881, "mnist", []),
    ("resnet20_cifar10", 8103, "cifar10/cifar10-jpeg.tar.xz", CIFAR),
    ("resnet32_cifar10", 8256, "cifar10/cifar10-jpeg.tar.xz", CIFAR),
    ("mobilenetv2_cifar10", 8976, "cifar10/cifar10-jpeg.tar.xz", CIFAR),
]


def main():
    if len(sys.argv) != 3:
        print(__doc__)
        return 2
    plexor, shared = sys.argv[1], os.environ.get("PLEXOR_SHARED", sys.argv[2])
    if not os.path.isdir(os.path.join(shared, "models")):
        print("1..0 # SKIP no real networks at '%s'; set PLEXOR_SHARED" % shared)
        return 0
    print("1..%d" % len(NETWORKS))
    failed = 0
    for number, (name, correct, data, options) in enumerate(NETWORKS, 1):
        args = [plexor, "eval", os.path.join(shared, "models", name + ".onnx"), "--data",
                os.path.join(shared, "data", data), "--json", *options]
        done = subprocess.run(args, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if done.returncode != 0:
            print("not ok %d - %s: %s" % (number, name, done.stderr.strip()), flush=True)
            failed += 1
            continue
        got = json.loads(done.stdout)
        good = got["count"] == 10000 and abs(got["accuracy"] - correct / 10000) <= TOLERANCE
        failed += not good
        print("%s %d - %s: %.4f of %d, expected %.4f" %
              ("ok" if good else "not ok", number, name, got["accuracy"], got["count"],
               correct / 10000), flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
