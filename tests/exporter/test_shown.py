# SPDX-License-Identifier: BSD-2-Clause
"""What a power cut could take back is not shown as counted (I3), and the
journals it would be read from again stay."""

import glob
import time
import unittest

import killer
import tap
from exporter_alone import ExporterAlone
from store_rows import read_rows
from waiting import wait_until

DISK_S = 20
SEGMENT = 4096


class Shown(unittest.TestCase):
    def setUp(self):
        if not killer.possible():
            self.skipTest("strace may not attach here")
        self.alone = ExporterAlone(segment_bytes=SEGMENT)
        self.addCleanup(self.alone.__exit__, None)
        self.alone.message("a", "Q0", "u0@example.test")
        self.alone.wait_for("postlag_messages_accepted_total", 1)

    def segments(self):
        return len(glob.glob(f"{self.alone.journal}/milter/*.journal"))

    def accepted(self):
        return self.alone.metrics().value("postlag_messages_accepted_total")

    def test_counters_and_journals_wait_for_the_disk(self):
        """Rows can be found meanwhile."""
        tracer = self.alone.program.trace(
            "-e", f"inject=fdatasync:delay_enter={DISK_S * 1000000}")
        # One may be on its way to the disk already.
        self.alone.message("a", "Q1", "u1@example.test")
        for number in range(2, 60):
            self.alone.message("a", f"Q{number}", f"u{number}@example.test")
        began = time.monotonic()
        wait_until(lambda: len(read_rows(self.alone.store)) == 60, "the rows")
        segments, accepted = self.segments(), self.accepted()
        self.assertLess(time.monotonic() - began, DISK_S, "no news of a disk")
        self.assertLess(accepted, 60)
        self.assertGreater(segments, 2)
        tracer.terminate()
        tracer.wait()
        self.alone.wait_for("postlag_messages_accepted_total", 60)
        wait_until(lambda: self.segments() == 1, "the journals to be removed")


tap.main()
