# SPDX-License-Identifier: Apache-2.0
"""PyTorch as a peer of bench/engine and bench/train; the protocol is that of peer.h.

LAYOUT is contiguous or channels_last. Gradient: of the sum over the batch of each sample's own
cross-entropy, with respect to the input only. Training: cross-entropy, mean over the batch; SGD with
momentum, BatchNorm by the batch.
"""
import os
import sys
import time

import numpy as np
import torch
import torch.nn.functional as F

from onnx_to_torch import Network

SHOWN, SLOPES_SHOWN = 10, 256
CHECKED, RATE, REST, MOMENTUM = 3, 0.01, 1e-6, 0.9  # of training, as PEER_TRAIN_* of peer.h


def fill(count):
    """As peer_fill()."""
    with np.errstate(over="ignore"):
        h = np.arange(count, dtype=np.uint32) * np.uint32(2654435761)
        h ^= h >> np.uint32(15)
        h *= np.uint32(2246822519)
    return (h >> np.uint32(8)).astype(np.float32) * np.float32(2.0**-23) - np.float32(1)


class ZooNetwork:
    """A module of bench/zoo, with the face of Network."""

    def __init__(self, model):
        import zoo_networks  # needs torchvision, which the other benchmarks do without
        self.module, self.input_shape = zoo_networks.load(model)

    def channels_last(self):
        self.module.to(memory_format=torch.channels_last)

    def logits(self, x):
        return self.module(x)

    __call__ = logits


class Net:
    def __init__(self, model, kind, batch, threads, layout):
        is_zoo = os.path.exists(os.path.splitext(model)[0] + ".pt")
        self.network = (ZooNetwork(model) if is_zoo
                        else Network(model, trainable=kind == "train"))
        self.kind, self.batch, self.threads = kind, batch, threads
        shape = [batch] + self.network.input_shape
        self.x = torch.from_numpy(fill(int(np.prod(shape))).reshape(shape))
        if layout == "channels_last":
            self.network.channels_last()
            self.x = self.x.contiguous(memory_format=torch.channels_last)
        if kind == "grad":
            self.x.requires_grad_(True)
        self.labels = torch.arange(batch) % SHOWN
        if kind == "train":
            self.optimizer = torch.optim.SGD(list(self.network.parameters.values()), RATE,
                                             momentum=MOMENTUM)

    def train(self):
        self.optimizer.zero_grad(set_to_none=True)
        loss = F.cross_entropy(self.network.logits(self.x), self.labels)
        loss.backward()
        self.optimizer.step()
        return loss

    def step(self):
        if self.kind == "train":
            return self.train()
        if self.kind == "forward":
            with torch.inference_mode():
                return self.network(self.x)
        loss = F.cross_entropy(self.network.logits(self.x), self.labels, reduction="sum")
        return torch.autograd.grad(loss, self.x)[0]

    def check(self):
        if self.kind == "train":
            losses = [self.train().item() for _ in range(CHECKED)]
            self.optimizer.param_groups[0]["lr"] = REST
            return ",".join(f"{loss:.6g}" for loss in losses)
        first = self.step()[0].reshape(-1).numpy()
        count, shown = len(first), SLOPES_SHOWN if self.kind == "grad" else SHOWN
        return ",".join(f"{first[i * count // shown]:.6g}" for i in range(shown))

    def rate(self, seconds):
        torch.set_num_threads(self.threads)
        steps, elapsed, start, cpu = 0, 0.0, time.perf_counter(), time.process_time()
        while elapsed < seconds:
            self.step()
            steps += 1
            elapsed = time.perf_counter() - start
        images = steps * self.batch
        return images / elapsed, images * self.threads / (time.process_time() - cpu)


def answer(nets, words):
    if words[0] == "open":
        identity, model, kind, batch, threads, layout = words[1:7]
        net = Net(model, kind, int(batch), int(threads), layout)
        torch.set_num_threads(net.threads)
        nets[identity] = net
        return f"ready batch={batch} version={torch.__version__} check={net.check()}"
    if words[0] == "run":
        by_clock, by_cpu = nets[words[1]].rate(float(words[2]))
        return f"rate {by_clock:.2f} {by_cpu:.2f}"
    if words[0] == "close":
        del nets[words[1]]
        return "closed"
    return "error malformed request"


def main():
    nets = {}
    for line in sys.stdin:
        try:
            reply = answer(nets, line.split())
        except Exception as error:  # the driver skips what a peer cannot do, and says why
            reply = "error " + f"{type(error).__name__}: {error}".replace("\n", " ")
        print(reply, flush=True)


main()
