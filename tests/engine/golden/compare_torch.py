#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Compares plexor with PyTorch on real networks, through the command line.

    compare_torch.py PLEXOR SHARED        prints TAP; skips where torch or the networks are absent

SHARED has models/ and data/ as described in their README files. Checked on 64 test images:
probabilities of every network within 1e-4; on LeNet-5, ResNet-20 and MobileNetV2 the gradients of the
summed loss (whole batch), of single neurons (each sample) and of the loss with respect to weights,
each as |g - g'| / |g'| < 1e-4 in the 2-norm.

A sample of MobileNetV2 has 1.5 million activations, and always a few that lie within float32 rounding of
a kink of ReLU6. Each one that two programs put on different sides changes a gradient by about 1e-3
of its length: PyTorch's own float32 and float64 gradients differ that much. So gradients are compared on the
same side of every kink, plexor's; the sides may differ only where the activation is within 1e-4 of
the kink. The plain difference is printed as well. (Plans for weight gradients do not fold BatchNormalization
into convolutions and round otherwise; asking `run` for the convolutions' outputs does the same.)
"""
import gzip
import io
import os
import subprocess
import sys
import tarfile
import tempfile

try:
    import numpy as np
    import torch
    from PIL import Image

    from onnx_torch import Net
except ImportError as missing:
    print("1..0 # SKIP needs python3-torch, python3-onnx, python3-pil:", missing)
    sys.exit(0)

BATCH = 64
CHUNK = 8  # samples that PyTorch works on at a time
LIMIT = 1e-4
MNIST = ["deepfault_mnist_1", "deepfault_mnist_2", "deepfault_mnist_3", "deepfault_mnist_3x50", "lenet1",
         "lenet4", "lenet5"]
CIFAR = ["resnet20_cifar10", "resnet32_cifar10", "mobilenetv2_cifar10"]

# network: neurons (LAYER:INDEX, channel means after the activation), weights
GRADIENTS = {
    "lenet5": (["block1_conv1_relu:3", "block2_conv1_relu:7", "fc1_relu:11", "before_softmax:4"],
               ["block1_conv1.weight", "block2_conv1.bias", "fc2.weight"]),
    "resnet20_cifar10": (["/Relu:5", "/layer2/layer2.0/Relu_1:9", "/layer3/layer3.2/Relu:33"],
                         ["conv1.weight", "layer1.0.bn1.weight", "layer2.0.conv1.weight",
                          "layer3.2.bn2.bias", "linear.weight"]),
    "mobilenetv2_cifar10": (["/m/features/features.1/conv/conv.0/conv.0.2/Clip:3",
                             "/m/features/features.3/conv/conv.3/BatchNormalization:20",
                             "/m/features/features.18/features.18.2/Clip:600"],
                            ["m.features.0.0.weight", "m.features.2.conv.1.0.weight",
                             "m.features.5.conv.2.weight", "m.classifier.1.weight"]),
}


def mnist(shared):
    def idx(name):
        with gzip.open(os.path.join(shared, "data", "mnist", name)) as f:
            return f.read()
    pixels = np.frombuffer(idx("t10k-images-idx3-ubyte.gz"), np.uint8, offset=16)
    labels = np.frombuffer(idx("t10k-labels-idx1-ubyte.gz"), np.uint8, offset=8)
    x = pixels[:BATCH * 784].reshape(BATCH, 1, 28, 28).astype(np.float32) / 255
    return x, labels[:BATCH].astype(np.int64)


def cifar(shared):
    """The first images of every class in turn."""
    classes = {}
    with tarfile.open(os.path.join(shared, "data", "cifar10", "cifar10-jpeg.tar.xz"), "r|xz") as tar:
        for member in tar:
            part = member.name.split("/")
            if part[0] != "test" and classes:
                break
            if not member.isfile():
                continue
            images = classes.setdefault(part[1], [])
            if len(images) <= BATCH // 10:
                image = Image.open(io.BytesIO(tar.extractfile(member).read())).convert("RGB")
                images.append(np.asarray(image, np.float32).transpose(2, 0, 1) / 255)
    rows = [(images[i], label) for i in range(BATCH // 10 + 1)
            for label, (_, images) in enumerate(sorted(classes.items()))][:BATCH]
    mean = np.array([0.485, 0.456, 0.406], np.float32).reshape(1, 3, 1, 1)
    std = np.array([0.229, 0.224, 0.225], np.float32).reshape(1, 3, 1, 1)
    x = (np.stack([r[0] for r in rows]) - mean) / std
    return x.astype(np.float32), np.array([r[1] for r in rows], np.int64)


class Comparison:
    def __init__(self, plexor, folder):
        self.plexor, self.folder, self.count, self.failed = plexor, folder, 0, 0

    def call(self, command, model, x, *options, out=None):
        """Runs plexor on x.npy; returns the array it writes."""
        array = out is None
        out = out or os.path.join(self.folder, "out.npy")
        source = os.path.join(self.folder, "x.npy")
        np.save(source, x)
        args = [self.plexor, command, model, "--input", source, "-o", out, *options]
        done = subprocess.run(args, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        if done.returncode != 0:
            raise RuntimeError("plexor %s %s: %s" % (command, model, done.stderr.strip()))
        return np.load(out) if array else None

    def tensors(self, model, x, names):
        """Inner tensors by name."""
        out = os.path.join(self.folder, "out.npz")
        options = [word for name in names for word in ("--tensor", name)]
        self.call("run", model, x, *options, out=out)
        with np.load(out) as arrays:
            return {name: arrays[name] for name in names}

    def save(self, name, array):
        path = os.path.join(self.folder, name)
        np.save(path, array)
        return path

    def check(self, what, error, plain=None):
        good = bool(error < LIMIT)  # false for NaN
        self.count += 1
        self.failed += not good
        print("%s %d - %s: %.2e%s" % ("ok" if good else "not ok", self.count, what, error,
                                      "" if plain is None else ", plain %.2e" % plain), flush=True)


def distance(got, want):
    return float(np.linalg.norm(got.astype(np.float64) - want) / np.linalg.norm(want))


def compare_outputs(c, name, path, x):
    net = Net(path, torch.float64)
    with torch.no_grad():
        values = net.run(torch.from_numpy(x).double())
    got = c.call("run", path, x, "--tensor", "probs")
    c.check(name + " probabilities", float(np.abs(got - values["probs"].numpy()).max()))


def torch_gradients(c, path, x, labels, neurons, weights, keep=None):
    """Gradients by input of the loss and of each neuron, by weights of the loss; astray. On the
    sides where plexor is when it keeps the outputs of operators of the types `keep`; None: PyTorch's."""
    net = Net(path)
    by_input, by_weight, astray = [[] for _ in range(1 + len(neurons))], 0, 0.0
    for first in range(0, BATCH, CHUNK):
        rows = slice(first, first + CHUNK)
        data = torch.from_numpy(x[rows]).requires_grad_(True)
        sides = None
        if keep is not None:
            kept = [n.output[0] for n in net.graph.node if n.op_type in keep]
            sides = c.tensors(path, x[rows], net.kinked() + kept)
        values = net.run(data, sides)
        astray = max(astray, net.astray)
        loss = torch.nn.functional.cross_entropy(values["logits"], torch.from_numpy(labels[rows]),
                                                 reduction="sum")
        grads = torch.autograd.grad(loss, [data] + [net.weights[w] for w in weights],
                                    retain_graph=True)
        by_input[0].append(grads[0].numpy())
        by_weight = [g.double().numpy() + (by_weight[i] if first else 0)
                     for i, g in enumerate(grads[1:])]
        for i, neuron in enumerate(neurons):
            layer, index = neuron.rsplit(":", 1)
            channel = values[net.node_output(layer)][:, int(index)].reshape(CHUNK, -1)
            grad, = torch.autograd.grad(channel.mean(1).sum(), data, retain_graph=True)
            by_input[1 + i].append(grad.numpy())
    return [np.concatenate(g) for g in by_input], by_weight, astray


def worst_sample(got, want):
    # a dead channel has no gradient on that sample, in both
    errors = [distance(g, w) if w.any() else float("inf") if g.any() else 0.0
              for g, w in zip(got, want)]
    return max(errors)


def compare_gradients(c, name, path, x, labels):
    neurons, weights = GRADIENTS[name]
    truth = c.save("labels.npy", labels)
    of_loss = ["--of", "loss", "--labels", truth]
    got = [c.call("grad", path, x, *of_loss)]
    got += [c.call("grad", path, x, "--of", neuron) for neuron in neurons]
    got_weights = [c.call("grad", path, x, *of_loss, "--wrt", weight) for weight in weights]
    plain, plain_weights, _ = torch_gradients(c, path, x, labels, neurons, weights)
    same, _, astray = torch_gradients(c, path, x, labels, neurons, [], [])
    _, same_weights, unfolded = torch_gradients(c, path, x, labels, [], weights, ["Conv"])
    c.check(name + ": distance to a kink where the side differs", max(astray, unfolded))
    c.check(name + " loss by input", distance(got[0], same[0]), distance(got[0], plain[0]))
    for weight, g, s, p in zip(weights, got_weights, same_weights, plain_weights):
        c.check("%s loss by %s" % (name, weight), distance(g, s), distance(g, p))
    for neuron, g, s, p in zip(neurons, got[1:], same[1:], plain[1:]):
        c.check("%s %s by input, worst sample" % (name, neuron), worst_sample(g, s),
                worst_sample(g, p))


def main():
    if len(sys.argv) != 3:
        print(__doc__)
        return 2
    plexor, shared = sys.argv[1], os.environ.get("PLEXOR_SHARED", sys.argv[2])
    if not os.path.isdir(os.path.join(shared, "models")):
        print("1..0 # SKIP no real networks at '%s'; set PLEXOR_SHARED" % shared)
        return 0
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        c = Comparison(plexor, folder)
        for names, (x, labels) in ((MNIST, mnist(shared)), (CIFAR, cifar(shared))):
            for name in names:
                path = os.path.join(shared, "models", name + ".onnx")
                compare_outputs(c, name, path, x)
                if name in GRADIENTS:
                    compare_gradients(c, name, path, x, labels)
    print("1..%d" % c.count)
    return 1 if c.failed else 0


if __name__ == "__main__":
    sys.exit(main())
