#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tap.py FILE LIBRARY TOP - runs the unittest cases of a file on the module in TOP/python. Speaks TAP.

What a machine does not have is said: without NumPy all are skipped, a case that needs more skips itself.
"""
import importlib.util
import os
import sys
import unittest

FILE, LIBRARY, TOP = map(os.path.abspath, sys.argv[1:4])
os.environ.update(PLEXOR_LIBRARY=LIBRARY, PLEXOR_TOP=TOP, PLEXOR_BUILD=os.path.dirname(LIBRARY))
sys.path[:0] = [os.path.join(TOP, "python"), os.path.join(TOP, "tests", "python")]
sys.dont_write_bytecode = True


class Tap(unittest.TestResult):
    def _line(self, ok, test, more=""):
        print(f"{'ok' if ok else 'not ok'} {self.testsRun} - {test.id().split('.', 1)[-1]}{more}", flush=True)

    def addSuccess(self, test):
        self._line(True, test)

    def addSkip(self, test, reason):
        self._line(True, test, f" # SKIP {reason}")

    def _fault(self, test, fault):
        self._line(False, test)
        for line in self._exc_info_to_string(fault, test).splitlines():
            print("# " + line)

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self._fault(test, err)

    def addError(self, test, err):
        super().addError(test, err)
        self._fault(test, err)

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err is not None:
            print(f"# {subtest}")
            self._fault(test, err)


def main():
    try:
        import numpy  # pylint: disable=import-outside-toplevel,unused-import
    except ImportError:
        print("1..0 # SKIP NumPy is not installed")
        return 0
    spec = importlib.util.spec_from_file_location(os.path.basename(FILE)[:-3], FILE)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    suite = unittest.defaultTestLoader.loadTestsFromModule(module)
    print(f"1..{suite.countTestCases()}")
    result = Tap()
    suite.run(result)
    return 0 if result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
