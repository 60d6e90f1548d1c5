# SPDX-License-Identifier: BSD-2-Clause
"""Records what the milter's and the hook's journals and the mail log hold of
each kind of mail, for tests/exporter/test_scenarios.c.

    python3 tests/e2e/record_scenarios.py [DIRECTORY [PART...]]

Runs, on a private Postfix and Dovecot, the tests of what becomes of recipients
(test_fates_*.py) and the mixtures of mixed_scenarios.py, each as a scenario,
and writes one file each to DIRECTORY, by default tests/exporter/scenarios. PART
chooses by parts of class and test names. Run by hand, as root, when there is a new kind
of mail or of record; then the expected ends are to be written again
(POSTLAG_GOLDEN=1) and the difference read.
"""

import os
import sys
import unittest

os.environ["TZ"] = "UTC"
# What this machine is called is nobody's business.
os.environ["DOVECOT_HOSTNAME"] = "mx.example.test"
sys.path[:0] = [os.path.join(os.path.dirname(os.path.abspath(__file__)),
                             "..", "lib")]

# pylint: disable=wrong-import-position
import mixed_scenarios
import test_fates_actions
import test_fates_addresses
import test_fates_admin
import test_fates_attempts
import test_fates_found
import test_fates_ghosts
import test_fates_reinjection
from fate_stack import FateCase
from programs import ROOT
from scenario_recorder import Recorder

TESTS = (test_fates_actions, test_fates_addresses, test_fates_admin,
         test_fates_attempts, test_fates_found, test_fates_ghosts,
         test_fates_reinjection)

# Long, and of nothing but one kind of message; or about heartbeats, which are
# not recorded.
LEFT_OUT = {"test_refused_at_each_stage",
            "test_too_big_with_the_stamp", "test_delivered_is_known_soon",
            "test_delivered_set_is_what_mailboxes_hold",
            "test_twenty_messages_wait_for_the_lmtp_server",
            "test_many_recipients_with_every_result"}


def classes():
    for module in (*TESTS, mixed_scenarios):
        for value in vars(module).values():
            if isinstance(value, type) and issubclass(value, FateCase) \
                    and value.__module__ == module.__name__:
                yield value


def as_test(play):
    return lambda self: play(self)


def with_scenes(case):
    """Its scenes as tests."""
    return {f"test_{name}": as_test(play) for name, play in case.scenes()}


def recorded(case, recorder):
    """The class with each test recorded."""
    class Recorded(case):
        @classmethod
        def make_stack(cls):
            stack = super().make_stack()
            for section in ("milter", "lmtp"):
                stack.settings[section]["heartbeat_interval"] = "1h"
            if issubclass(case, mixed_scenarios.Scenes):
                stack.programs.remove(stack.exporter)
            return stack

        def setUp(self):
            recorder.begin(self.stack)
            super().setUp()

        def tearDown(self):
            super().tearDown()
            method = self._testMethodName.removeprefix("test_")
            about = (getattr(self, self._testMethodName).__doc__ or "")
            module = case.__module__.removeprefix("test_fates_")
            if issubclass(case, mixed_scenarios.Scenes):
                module = "mixed"
            name = f"{module}-{method.replace('_', '-')}"
            recorder.end(name, [line.strip() for line in about.splitlines()])

    if issubclass(case, mixed_scenarios.Scenes):
        for name, play in with_scenes(case).items():
            setattr(Recorded, name, play)
    return Recorded


def suite_of(case, recorder, parts):
    ready = recorded(case, recorder)
    names = unittest.defaultTestLoader.getTestCaseNames(ready)
    return unittest.TestSuite(
        ready(name) for name in names if name not in LEFT_OUT
        and any(part in f"{case.__name__}.{name}" for part in parts))


def main():
    directory = sys.argv[1] if len(sys.argv) > 1 \
        else f"{ROOT}/tests/exporter/scenarios"
    parts = sys.argv[2:] or [""]
    recorder = Recorder(directory)
    os.makedirs(directory, exist_ok=True)
    suite = unittest.TestSuite(
        suite_of(case, recorder, parts) for case in classes())
    result = unittest.TextTestRunner(verbosity=2).run(suite)
    sys.exit(0 if result.wasSuccessful() else 1)


if __name__ == "__main__":
    main()
