#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""shared_models.py PLEXOR [--quick] - real networks on whole test sets give the accuracies on record.

The networks and data lie in $PLEXOR_SHARED, or in ../shared beside the source tree; without them every case
is skipped and says so. Also: the neuron counts of three networks, and that peak memory of eval does not
grow with the number of inputs. With --quick, for builds with sanitizers: 200 inputs each, accuracies as near as
that allows, nothing about memory. Speaks TAP.
"""
import json
import os
import subprocess
import sys

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
SHARED = os.environ.get("PLEXOR_SHARED") or os.path.join(os.path.dirname(ROOT), "shared")
PLEXOR = os.path.abspath(sys.argv[1])
QUICK = "--quick" in sys.argv[2:]
COUNT = 200 if QUICK else 10000
SLACK = 20 if QUICK else 10 # right answers

MNIST, CIFAR = "data/mnist", "data/cifar10/cifar10-jpeg.tar.xz"
NORMAL = ["--mean", "0.485,0.456,0.406", "--std", "0.229,0.224,0.225"]
# network, data, options, correct answers of 10,000, (hidden layers, channel neurons)
NETWORKS = [
    ("deepfault_mnist_1", MNIST, [], 9663, None), ("deepfault_mnist_2", MNIST, [], 9588, None),
    ("deepfault_mnist_3", MNIST, [], 9508, None), ("deepfault_mnist_3x50", MNIST, [], 9696, None),
    ("lenet1", MNIST, [], 9788, None), ("lenet4", MNIST, [], 9852, None),
    ("lenet5", MNIST, [], 9881, (4, 226)), ("resnet20_cifar10", CIFAR, NORMAL, 8103, (19, 688)),
    ("resnet32_cifar10", CIFAR, NORMAL, 8256, None),
    ("mobilenetv2_cifar10", CIFAR, NORMAL, 8976, (52, 17056)),
]
FULL = {} # results on whole test sets, by network


def plexor(*arguments):
    done = subprocess.run([PLEXOR, *arguments, "--json", "--quiet"], capture_output=True, text=True,
                          check=False)
    if done.returncode:
        raise RuntimeError(done.stderr.strip())
    return json.loads(done.stdout)


def check_accuracy(name, data, options, correct, _):
    limit = ["--limit", str(COUNT)] if QUICK else []
    got = FULL[name] = plexor("eval", model(name), "--data", os.path.join(SHARED, data), *options, *limit)
    if got["count"] != COUNT or abs(got["correct"] - correct * COUNT / 10000) > SLACK:
        return f"{got['correct']} of {got['count']} right, {correct} of 10000 on record"
    return None


def check_neurons(name, _data, _options, _correct, counts):
    got = plexor("info", model(name))
    if (len(got["layers"]), got["neurons"]) != counts:
        return f"{len(got['layers'])} layers and {got['neurons']} neurons, expected {counts}"
    return None


def check_memory(name, data, options, *_):
    few = plexor("eval", model(name), "--data", os.path.join(SHARED, data), *options, "--limit", "1000")
    few, many = few["peak_rss_mib"], FULL[name]["peak_rss_mib"]
    return None if many < few * 1.1 + 4 else f"{few} MiB for 1,000 inputs, {many} for 10,000"


def model(name):
    return os.path.join(SHARED, "models", name + ".onnx")


CASES = [(f"accuracy of {n[0]}", check_accuracy, n) for n in NETWORKS]
CASES += [(f"neurons of {n[0]}", check_neurons, n) for n in NETWORKS if n[4]]
if not QUICK:
    CASES += [("memory of eval does not grow with the data", check_memory, NETWORKS[-1])]

print(f"1..{len(CASES)}", flush=True)
failed = False
for number, (title, check, network) in enumerate(CASES, 1):
    if not os.path.exists(model(network[0])) or not os.path.exists(os.path.join(SHARED, network[1])):
        print(f"ok {number} - {title} # SKIP {network[0]} and its data are not in ../shared")
        continue
    try:
        fault = check(*network)
    except RuntimeError as error:
        fault = str(error)
    failed = failed or fault is not None
    print(f"{'not ' if fault else ''}ok {number} - {title}", flush=True)
    if fault:
        print(f"# {fault}")
sys.exit(1 if failed else 0)
