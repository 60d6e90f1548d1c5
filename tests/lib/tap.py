# SPDX-License-Identifier: BSD-2-Clause
"""Runs a module's unittest cases and prints TAP, which tests/run.py counts."""

import sys
import time
import unittest


class _TapResult(unittest.TestResult):
    def __init__(self):
        super().__init__()
        self.number = 0

    def startTest(self, test):
        super().startTest(test)
        self.started = time.monotonic()

    def _line(self, word, test, remark=""):
        self.number += 1
        name = test.id().removeprefix("__main__.")
        if test.shortDescription():
            name += f": {test.shortDescription()}"
        seconds = time.monotonic() - getattr(self, "started", time.monotonic())
        print(f"{word} {self.number} - {name} ({seconds:.1f} s){remark}",
              flush=True)

    def addSuccess(self, test):
        super().addSuccess(test)
        self._line("ok", test)

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self._line("ok", test, f" # SKIP {reason}")

    def _failed(self, test, error):
        self._line("not ok", test)
        # The base class leaves out its own frames.
        for line in self._exc_info_to_string(error, test).splitlines():
            print(f"# {line}", flush=True)

    def addFailure(self, test, error):
        super().addFailure(test, error)
        self._failed(test, error)

    def addError(self, test, error):
        super().addError(test, error)
        self._failed(test, error)

    def addSubTest(self, test, subtest, error):
        if error is not None:
            super().addSubTest(test, subtest, error)
            self._failed(subtest, error)


def main():
    """To be called as the last line of a test file. Arguments name tests."""
    names = [a for a in sys.argv[1:] if not a.startswith("-")]
    loader = unittest.defaultTestLoader
    module = sys.modules["__main__"]
    suite = (loader.loadTestsFromNames(names, module) if names
             else loader.loadTestsFromModule(module))
    result = _TapResult()
    suite.run(result)
    print(f"1..{result.number}", flush=True)
    sys.exit(0 if result.wasSuccessful() else 1)
