#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes ONNX's own node tests: make_node_tests.py FOLDER

They come from the installed onnx package (Debian: python3-onnx) and go to FOLDER/node/<test>.
"""
import os
import sys
import warnings

import numpy as np

# Numpy 1.24 took away aliases that the package's test cases still use.
for alias, real in (("float", float), ("int", int), ("bool", bool), ("object", object)):
    if alias not in np.__dict__:
        setattr(np, alias, real)


def main(folder):
    warnings.simplefilter("ignore")
    np.random.seed(0)  # some cases draw their inputs
    from onnx.backend.test import cmd_tools

    os.makedirs(os.path.join(folder, "node"), exist_ok=True)  # onnx 1.17 lists it before it makes it
    sys.argv = ["onnx", "generate-data", "--output", folder]
    cmd_tools.main()


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(os.path.abspath(sys.argv[1]))
