#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""PyTorch in bench/nsgen: decision paths the way Captum's LayerConductance finds them, and the way we would write it.

The first line on stdin is the job (model, inputs, labels, layers, steps); every further line asks for a round (way, threads, layout,
images at a time, inputs). A reply has the seconds, those of processors, and the contributions [input][unit].

`captum`: per layer, as LayerConductance._attribute does: all points of the images in one batch that requires gradients, a forward pass with
the layer's value kept, torch.autograd.grad of the unbound target scores by it, differences between neighbouring points times the gradient
at the left one. NSGen's published code calls it for one layer after the other. `onepass`: all layers from one forward and one backward pass,
by the trapezoid rule. Networks are those of bench/onnx_to_torch.py: weights need no gradient, which LayerConductance leaves to its caller.
"""
import json
import sys
import time

import numpy as np
import onnx
import torch

from onnx_to_torch import Network


class Paths:
    def __init__(self, job):
        graph = onnx.load(job["model"]).graph
        made = {node.name: node.output[0] for node in graph.node}
        self.taps = [made[name] for name in job["layers"]]
        self.networks = {"contiguous": Network(job["model"]), "channels_last": Network(job["model"]).channels_last()}
        self.labels = torch.tensor(job["labels"])
        shape = [len(job["labels"])] + self.networks["contiguous"].input_shape
        self.x = torch.from_numpy(np.fromfile(job["inputs"], dtype=np.float32).reshape(shape))
        self.steps = job["steps"]
        self.nodes = (np.polynomial.legendre.leggauss(self.steps + 1)[0] + 1) / 2

    def forward(self, network, x, taps):
        """Class scores, and the values of some layers."""
        values = {network.input_name: x}
        for function, inputs, output in network.steps:
            values[output] = function(*[values[name] for name in inputs])
            if output == network.logits_name:
                break
        return values[network.logits_name], [values[t] for t in taps]

    def captum(self, network, x, labels, layout):
        found = []
        for tap in self.taps:
            points = torch.cat([a * x for a in self.nodes.tolist()]).contiguous(memory_format=layout).requires_grad_()
            scores, (value,) = self.forward(network, points, [tap])
            chosen = scores.gather(1, labels.repeat(len(self.nodes))[:, None])[:, 0]
            gradient, = torch.autograd.grad(torch.unbind(chosen), value)
            value = value.detach()
            count = len(x)
            parts = (value[count:] - value[:-count]) * gradient[:-count]
            total = parts.reshape(self.steps, count, *parts.shape[1:]).sum(0)
            found.append(total.mean((2, 3)))
        return torch.cat(found, 1)

    def onepass(self, network, x, labels, layout):
        weights = torch.arange(self.steps + 1) / self.steps
        points = (weights[:, None, None, None, None] * x[None]).flatten(0, 1).contiguous(memory_format=layout)
        points.requires_grad_()
        scores, values = self.forward(network, points, self.taps)
        total = scores.gather(1, labels.repeat(self.steps + 1)[:, None]).sum()
        gradients = torch.autograd.grad(total, values)
        found, count = [], len(x)
        for value, gradient in zip(values, gradients):
            value = value.detach()
            parts = (value[count:] - value[:-count]) * (gradient[count:] + gradient[:-count]) * 0.5
            found.append(parts.reshape(self.steps, count, *parts.shape[1:]).sum(0).mean((2, 3)))
        return torch.cat(found, 1)

    def round(self, request):
        torch.set_num_threads(request["threads"])
        layout = torch.channels_last if request["layout"] == "channels_last" else torch.contiguous_format
        network, find = self.networks[request["layout"]], getattr(self, request["way"])
        count, size = min(request["inputs"], len(self.x)), request["images"]
        start, used = time.perf_counter(), time.process_time()
        found = [find(network, self.x[i:min(i + size, count)], self.labels[i:min(i + size, count)], layout)
                 for i in range(0, count, size)]
        reply = {"seconds": time.perf_counter() - start, "processor": time.process_time() - used}
        if request.get("values"):
            reply["contributions"] = torch.cat(found).double().flatten().tolist()
        return reply


def main():
    paths = None
    for line in sys.stdin:
        request = json.loads(line)
        if paths is None:
            paths = Paths(request)
            print("{}", flush=True)
        else:
            print(json.dumps(paths.round(request)), flush=True)


if __name__ == "__main__":
    main()
