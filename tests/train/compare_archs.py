#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The zoo's networks in PyTorch: same outputs, and torchvision's own where it has them.

    compare_archs.py MAKE_ARCH PLEXOR        prints TAP; skips where torch or onnx is absent

Each network is made small, checked by onnx.checker with its shapes, run by `plexor run` and by an
interpreter of its ONNX file in PyTorch (float64): logits within 1e-4 of the largest. Those that
torchvision has get the same weights there, by name, and must give the same logits, too.
"""
import os
import subprocess
import sys
import tempfile

try:
    import numpy as np
    import onnx
    import torch

    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "engine",
                                    "golden"))
    from onnx_torch import Net
except ImportError as missing:
    print("1..0 # SKIP needs python3-torch, python3-onnx:", missing)
    sys.exit(0)
try:
    import torchvision
except ImportError:
    torchvision = None

LIMIT = 1e-4

# name: channels, height, width, classes; odd sizes and channels on purpose
SMALL = {
    "lenet1": (1, 28, 28, 10), "lenet4": (2, 9, 11, 3), "lenet5": (3, 32, 32, 10),
    "lenet1-valid": (1, 28, 28, 10), "lenet4-valid": (1, 16, 20, 4), "lenet5-valid": (1, 28, 28, 10),
    "mlp-5x30": (1, 28, 28, 10), "mlp-6x25": (3, 5, 4, 2), "mlp-8x20": (1, 28, 28, 10),
    "cifar-4x128": (3, 32, 32, 10), "cifar-2x256": (1, 28, 28, 10), "cifar-1x512": (3, 15, 17, 5),
    "sadl-1": (3, 16, 16, 10), "sadl-2": (3, 32, 32, 10), "sadl-3": (1, 19, 16, 10),
    "resnet20": (3, 32, 32, 10), "resnet32": (1, 28, 28, 10), "resnet56": (3, 15, 9, 100),
    "resnet56-b": (3, 16, 16, 10), "resnet20-keras": (3, 33, 32, 10), "resnet44": (3, 16, 16, 10),
    "resnet18": (3, 64, 65, 10), "resnet34": (3, 17, 16, 10), "resnet50": (3, 64, 64, 10),
    "resnet50-keras": (3, 65, 64, 10), "resnet34-audio": (1, 70, 64, 30),
    "vgg16": (3, 32, 32, 10), "vgg16-bn": (1, 32, 33, 10), "vgg16-cifar": (3, 32, 32, 10),
    "mobilenet": (3, 65, 64, 10), "mobilenetv2": (3, 32, 32, 10),
    "mobilenetv2-large": (3, 64, 96, 12), "deepspeaker": (1, 33, 32, 30),
    "speaker-small": (1, 30, 33, 6),
}
# Those that are torchvision's as they are, at 64 pixels and more; VGG there pools to 7x7.
TORCHVISION = {"resnet18": "resnet18", "resnet50": "resnet50", "mobilenetv2-large": "mobilenet_v2"}
COUNTS = {"resnet18": "resnet18", "resnet34": "resnet34", "resnet50": "resnet50", "vgg16": "vgg16",
          "vgg16-bn": "vgg16_bn", "mobilenetv2": "mobilenet_v2"}

done = 0
failed = 0


def check(what, good, more=""):
    global done, failed
    done += 1
    failed += not good
    print(f"{'ok' if good else 'not ok'} {done} - {what}{more}", flush=True)


def distance(got, want):
    return float(np.abs(got - want).max() / np.abs(want).max())


def disturb(model):
    """Statistics and scales that batch normalisation cannot hide behind."""
    for index, tensor in enumerate(model.graph.initializer):
        if tensor.data_type != onnx.TensorProto.FLOAT or len(tensor.dims) != 1:
            continue
        value = onnx.numpy_helper.to_array(tensor)
        noise = np.random.default_rng(index).uniform(0, 0.2, value.shape).astype(np.float32)
        tensor.CopyFrom(onnx.numpy_helper.from_array(value + noise, tensor.name))


def run(plexor, folder, path, x):
    source, out = os.path.join(folder, "x.npy"), os.path.join(folder, "y.npy")
    np.save(source, x)
    subprocess.run([plexor, "run", path, "--input", source, "-o", out, "--tensor", "logits"],
                   check=True, stdout=subprocess.DEVNULL)
    return np.load(out)


def torchvision_logits(name, model, x, classes):
    net = getattr(torchvision.models, TORCHVISION[name])(weights=None, num_classes=classes).eval()
    weights = {t.name: torch.from_numpy(onnx.numpy_helper.to_array(t).copy())
               for t in model.graph.initializer}
    missing = net.load_state_dict(weights, strict=False)
    strange = [k for k in missing.missing_keys if not k.endswith("num_batches_tracked")]
    if strange or missing.unexpected_keys:
        raise RuntimeError("weights differ: %s %s" % (strange, missing.unexpected_keys))
    with torch.no_grad():
        return net.double()(torch.from_numpy(x).double()).numpy()


def compare(make_arch, plexor, folder, name, shape):
    arch = name.replace("-large", "")
    path = os.path.join(folder, arch + ".onnx")
    subprocess.run([make_arch, folder, arch, *map(str, shape)], check=True,
                   stdout=subprocess.DEVNULL)
    model = onnx.load(path)
    onnx.checker.check_model(model, full_check=True)
    disturb(model)
    onnx.save(model, path)
    x = np.random.default_rng(5).uniform(-1, 1, (2, *shape[:3])).astype(np.float32)
    with torch.no_grad():
        want = Net(path, torch.float64).run(torch.from_numpy(x).double())["logits"].numpy()
    got = run(plexor, folder, path, x)
    error = distance(got, want)
    spread = float(np.abs(want - want.mean()).max())
    check(name, error < LIMIT and got.shape == (2, shape[3]) and spread > 1e-6, ": %.1e" % error)
    if torchvision and name in TORCHVISION:
        error = distance(got, torchvision_logits(name, model, x, shape[3]))
        check(f"{name} is torchvision's", error < LIMIT, ": %.1e" % error)
    os.remove(path)


def main():
    if len(sys.argv) != 3:
        print(__doc__)
        return 2
    make_arch, plexor = sys.argv[1:]
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        listed = subprocess.run([make_arch, folder], check=True, stdout=subprocess.PIPE, text=True)
        counts = {line.split()[0]: int(line.split()[1]) for line in listed.stdout.splitlines()}
        check("every network of the list is compared", set(counts) <= set(SMALL))
        for name, shape in SMALL.items():
            compare(make_arch, plexor, folder, name, shape)
        if torchvision is None:
            print("# skipped: comparison with torchvision needs python3-torchvision")
        for name, theirs in COUNTS.items() if torchvision else ():
            with torch.no_grad():
                net = getattr(torchvision.models, theirs)
                total = count_without_drawing(net)
            check(f"{name} has torchvision's number of parameters", total == counts[name],
                  f": {counts[name]} and {total}")
    print(f"1..{done}")
    return 1 if failed else 0


def count_without_drawing(make):
    """Initialising 138 million numbers takes longer than counting them."""
    draws = [getattr(torch.nn.init, name) for name in ("kaiming_normal_", "kaiming_uniform_",
                                                       "normal_", "uniform_")]
    try:
        for draw in draws:
            setattr(torch.nn.init, draw.__name__, lambda tensor, *_, **__: tensor)
        return sum(p.numel() for p in make(weights=None).parameters())
    finally:
        for draw in draws:
            setattr(torch.nn.init, draw.__name__, draw)


if __name__ == "__main__":
    sys.exit(main())
