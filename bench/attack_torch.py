# SPDX-License-Identifier: Apache-2.0
"""PyTorch in bench/attack: PGD written plainly, all inputs, all steps.

The first line on stdin is the job (model, inputs.npz of 8-bit pictures, mean, std, eps, step, steps, seed); every further
line asks for a round (threads, batch, layout, inputs). A reply has the seconds and the robust accuracy. Weights need no
gradient, starts are drawn beforehand and are plexor's, and the loop's own forward passes are the only ones: the last
result is judged, originals are not.
"""
import json
import os
import sys
import time

import numpy as np
import torch

from onnx_to_torch import Network

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "attack"))
import torch_attacks  # noqa: E402


class Loop:
    def __init__(self, job):
        self.job = job
        self.networks = {layout: Network(job["model"]) for layout in ("contiguous", "channels_last")}
        self.networks["channels_last"].channels_last()
        self.network = None
        self.mean, self.std = (torch.tensor(job[k]).reshape(1, -1, 1, 1) for k in ("mean", "std"))
        with np.load(job["data"]) as arrays:
            x = arrays["x"].astype(np.float32) / np.float32(255)
            self.labels = torch.from_numpy(arrays["y"])
        self.x = torch.from_numpy(x)
        self.begin = torch.from_numpy(torch_attacks.start(x, range(len(x)), job["eps"], "linf", job["seed"]))

    def scores(self, x):
        return self.network.logits((x - self.mean) / self.std)

    def round(self, request):
        torch.set_num_threads(request["threads"])
        layout = torch.channels_last if request["layout"] == "channels_last" else torch.contiguous_format
        count = min(request["inputs"], len(self.x))
        self.network = self.networks[request["layout"]]
        x0, begin = (t[:count].contiguous(memory_format=layout) for t in (self.x, self.begin))
        y, job = self.labels[:count], self.job
        start = time.perf_counter()
        x = torch_attacks.descend(self.scores, x0, begin, y, job["eps"], job["step"], job["steps"], "linf",
                                  batch=request["batch"])
        with torch.no_grad():
            right = sum(int((self.scores(part).argmax(1) == part_y).sum())
                        for part, part_y in zip(x.split(request["batch"]), y.split(request["batch"])))
        return {"seconds": time.perf_counter() - start, "robust_accuracy": right / count}


def main():
    loop = None
    for line in sys.stdin:
        request = json.loads(line)
        if loop is None:
            loop = Loop(request)
            print("{}", flush=True)
        else:
            print(json.dumps(loop.round(request)), flush=True)


main()
