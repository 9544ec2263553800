#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Makes models/digits_torch.npy (Debian: python3-onnx python3-torch): what PyTorch says that digits.onnx should give.

    tests/cli/npy.py make x.npy f4 4,1,28,28 && tests/cli/make_expected.py x.npy

It is committed; this is how it was made. The network is made anew in PyTorch, with the weights of the file.
"""
import os
import sys

import numpy as np
import onnx
import torch
from onnx import numpy_helper
from torch import nn

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "models")
net = nn.Sequential(nn.Conv2d(1, 6, 5, stride=2), nn.ReLU(), nn.Conv2d(6, 10, 5, stride=2), nn.ReLU(),
                    nn.Flatten(), nn.Linear(160, 10), nn.Softmax(dim=1))
weights = onnx.load(os.path.join(HERE, "digits.onnx")).graph.initializer
net.load_state_dict({w.name: torch.tensor(numpy_helper.to_array(w)) for w in weights})
with torch.no_grad():
    np.save(os.path.join(HERE, "digits_torch.npy"), net(torch.tensor(np.load(sys.argv[1]))).numpy())
