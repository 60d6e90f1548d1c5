# SPDX-License-Identifier: BSD-2-Clause
"""The systemd journal as the log: read, joined, once, whatever happens. The
journal is real, written by systemd-journal-remote."""

import os
import random
import subprocess
import time
import unittest

import tap
from exporter_alone import ExporterAlone
from mail_log import REMOTE, SystemdJournal
from programs import program_path, write_configuration
from waiting import PrivateDirectory

LONG = "POSTLAG_LONG" in os.environ


def check(directory, maillog):
    """postlag-exporter -t with this log."""
    path = os.path.join(directory, "checked.conf")
    write_configuration(path, {"exporter": {"maillog": maillog}})
    return subprocess.run([program_path("postlag-exporter"), "-t", "-c", path],
                          capture_output=True, text=True, check=False)


def is_supported():
    with PrivateDirectory() as private:
        return check(private, "journal").returncode == 0


SUPPORTED = is_supported()


class JournalAlone(ExporterAlone):
    def __init__(self):
        super().__init__(start=False, maillog_instances="postfix=mx.test")
        self.log = SystemdJournal(os.path.join(self.directory, "systemd"))
        self.program.settings["exporter"]["maillog"] = \
            f"journal:{self.log.directory}"
        self.program.start()

    def queued(self, number):
        queue_id = f"{number:08X}"
        self.message(f"m{number}", queue_id, "u1@x.test", "u2@x.test")
        self.log.message(queue_id, "u1@x.test", "u2@x.test")
        return queue_id


@unittest.skipUnless(SUPPORTED and os.access(REMOTE, os.X_OK),
                     "no libsystemd or no systemd-journal-remote")
class Lines(unittest.TestCase):
    def test_lines_are_joined_to_their_messages(self):
        with JournalAlone() as alone:
            queue_id = alone.queued(1)
            alone.log.flush()
            metrics = alone.wait_for("postlag_recipient_outcomes_total", 2,
                                     outcome="delivered")
            self.assertEqual(metrics.total("postlag_log_behind_bytes"), 0)
            [message] = alone.messages(queue_id)
            self.assertEqual(message["ending"], "accepted")
            self.assertEqual(len(message["attempts"]), 2)

    def test_new_entries_wake_the_exporter(self):
        """Nothing else does: there is no other source."""
        with JournalAlone() as alone:
            for number in range(1, 4):
                queue_id = f"000000B{number}"
                alone.log.message(queue_id, "u1@x.test")
                # journald begins a file of its own now and then.
                alone.log.flush("system" if number < 3 else "system@1")
                alone.wait_for("postlag_recipient_outcomes_total", number,
                               outcome="delivered")
                [message] = alone.messages(queue_id)
                self.assertEqual(message["ending"], "logged")

    def test_an_idle_exporter_sleeps(self):
        """The journal's descriptor does not stay readable."""
        with JournalAlone() as alone:
            alone.queued(1)
            alone.log.flush()
            alone.wait_for("postlag_recipient_outcomes_total", 2,
                           outcome="delivered")
            before = alone.program.cpu_seconds()
            time.sleep(1)
            self.assertLess(alone.program.cpu_seconds() - before, 0.5)

    def test_case_29_killed_at_random_it_applies_each_line_once(self):
        """I2, I3."""
        rounds, count = (60, 60) if LONG else (8, 20)
        with JournalAlone() as alone:
            number = 0
            for _ in range(rounds):
                for _ in range(count):
                    number += 1
                    alone.queued(number)
                    if number % 7 == 0:
                        alone.log.message(f"B{number:07X}", "u3@x.test")
                alone.log.flush()
                time.sleep(random.uniform(0, 0.1))
                alone.program.kill()
                alone.program.start()
            unseen = number // 7
            metrics = alone.wait_for("postlag_recipient_outcomes_total",
                                     2 * number + unseen,
                                     outcome="delivered")
            self.assertEqual(metrics.total("postlag_unstamped_total"), unseen)
            for state in ("in_flight", "deferred", "held"):
                self.assertEqual(
                    metrics.value("postlag_recipients", state=state), 0)
            self.assertEqual(metrics.total("postlag_log_gaps_total"), 0)
            self.assertEqual(
                metrics.total("postlag_outcome_revisions_total"), 0)
            for one in range(1, number + 1):
                [message] = alone.messages(f"{one:08X}")
                self.assertEqual(len(message["attempts"]), 2)


class Checked(unittest.TestCase):
    def test_a_build_without_libsystemd_refuses_it(self):
        if SUPPORTED:
            self.skipTest("built with libsystemd")
        with PrivateDirectory() as private:
            for maillog in ("journal", "/a, journal:/b"):
                result = check(private, maillog)
                self.assertEqual(result.returncode, 1)
                self.assertIn("libsystemd", result.stderr)
            for maillog in ("/journal", "journals", ""):
                self.assertEqual(check(private, maillog).returncode, 0)

    @unittest.skipUnless(SUPPORTED, "no libsystemd")
    def test_a_journal_that_is_not_there_is_an_error_at_start(self):
        alone = ExporterAlone(start=False, maillog="journal:/nonexistent")
        try:
            alone.program.start(wait=False)
            self.assertEqual(alone.program.process.wait(30), 1)
            self.assertIn("/nonexistent", alone.program.log())
        finally:
            alone.program.kill()
            alone.private.remove()


if __name__ == "__main__":
    tap.main()
