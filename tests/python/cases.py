# SPDX-License-Identifier: Apache-2.0
"""What the module's tests share."""
import os
import subprocess
import unittest

import plexor as px

TOP = os.environ["PLEXOR_TOP"]
PROGRAM = os.path.join(os.environ["PLEXOR_BUILD"], "plexor")
MODELS = os.path.join(TOP, "tests", "cli", "models")
DIGITS = os.path.join(MODELS, "digits.onnx")


def program(*words, **more):
    """Runs the command line; its stdout."""
    return subprocess.run([PROGRAM, *words], capture_output=True, text=True, check=False, **more).stdout


SANITIZED = "PLEXOR_SANITIZED" in os.environ  # the library was built with AddressSanitizer
unless_sanitized = unittest.skipIf(SANITIZED, "AddressSanitizer keeps what was freed")


def has(module):
    try:
        __import__(module)
    except ImportError:
        return False
    return True


def needs(module):
    return unittest.skipUnless(has(module), f"{module} is not installed")


_digits = []


def digits():
    """(pixels, labels, classes) of the procedural digits."""
    if not _digits:
        data = px.Data("digits")
        _digits.append((data.x, data.y, data.classes))
    return _digits[0]
