# SPDX-License-Identifier: BSD-2-Clause
"""Trouble with the store's files: an exporter alone, mail of some days, somebody
who asks all the time, and what must be true afterwards."""

import collections
import glob
import os
import sqlite3
import threading
import unittest

from exporter_alone import ExporterAlone
from store_rows import read_rows
from waiting import wait_until

DAYS = 3
# Of a total there is one row, of a minute or an hour one for each host; others
# are of further labels.
CELLS = """SELECT substr(name, 1, instr(name || '|', '|') - 1) AS whole,
    sum(count), sum(sum_ns) FROM {0} JOIN series ON id = series
    WHERE length(name) - length(replace(name, '|', '')) <= 1
    GROUP BY whole"""
# Of this process.
LIVE = ("postlag_store_", "postlag_log_lines", "postlag_queue_lookups",
        "postlag_source_events", "postlag_build_info")
PATHS = ("/metrics", "/api/v1/summary", "/api/v1/messages?q=status:bounced",
         "/api/v1/latency?step=1h", "/-/healthy")


class Visitor:
    """Asks all the time; every answer must be one."""

    def __init__(self, alone):
        self.alone = alone
        self.answers = collections.Counter()
        self.wrong = []
        self.stopping = threading.Event()
        self.thread = threading.Thread(target=self._run)

    def _run(self):
        while not self.stopping.is_set():
            for path in PATHS:
                try:
                    status, _, body = self.alone.request(path)
                except OSError as error:
                    status, body = error, b""
                self.answers[path] += 1
                if status != 200:
                    self.wrong.append((path, status, body[:200]))

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.stopping.set()
        self.thread.join()


class Trouble(unittest.TestCase):
    def setUp(self):
        self.alone = ExporterAlone(start=False)
        self.addCleanup(self.alone.__exit__, None)
        self.wanted = None

    def begin(self, count=300):
        """Mail of three days is in the store."""
        self.alone.program.start()
        self.load(count)

    def load(self, count=100, wait=True):
        self.wanted = self.alone.load(count, 2, DAYS)
        if wait:
            self.wait_until_counted()

    def wait_until_counted(self):
        self.alone.wait_for("postlag_delivery_attempts_total",
                            self.wanted["attempts"])

    def days(self):
        return sorted(glob.glob(f"{self.alone.store}/day-*.db"))

    def control(self):
        return f"{self.alone.store}/control.db"

    def wait_for_copy(self, path):
        """Until the log is in the file."""
        wait_until(lambda: os.path.getsize(f"{path}-wal") == 0
                   and os.path.getsize(path) > 65536,
                   f"the log of {path} to be copied")

    def wait_until_ready(self, ready=True):
        wait_until(lambda: self.alone.request("/-/ready")[0]
                   == (200 if ready else 503), f"ready to be {ready}")

    def assert_said(self, path, text, **metrics):
        """The log names the file, and metrics count it."""
        lines = [line for line in self.alone.program.log().splitlines()
                 if f"{path}" in line and text in line]
        self.assertNotEqual(lines, [], self.alone.program.log())
        seen = self.alone.metrics()
        for name, value in metrics.items():
            self.assertEqual(seen.value(f"postlag_{name}"), value, name)

    def assert_counted(self):
        """All that was sent is counted, once."""
        seen = self.alone.metrics()
        for name, wanted in (("messages_accepted_total", "messages"),
                             ("recipients_added_total", "unjoined"),
                             ("duplicates_total", "duplicates"),
                             ("delivery_latency_seconds_count", "latencies"),
                             ("deferrals_total", "deferrals"),
                             ("delivery_attempts_total", "attempts")):
            self.assertEqual(seen.total(f"postlag_{name}"),
                             self.wanted[wanted], name)
        for outcome in ("delivered", "bounced"):
            self.assertEqual(
                seen.value("postlag_recipient_outcomes_total",
                           outcome=outcome), self.wanted[outcome], outcome)

    def assert_consistent(self, has_all_rows=True):
        """Killed and started again, it counts what it counted before, and what
        the rows say, as far as they are there."""
        before = self.alone.metrics()
        self.alone.program.kill()
        self.alone.program.start()
        self.wait_until_ready()
        seen = self.alone.metrics()
        self.assert_same_counters(seen, before)
        for path in glob.glob(f"{self.alone.store}/*.db"):
            self.assert_sound(path)
        self.assert_balanced(seen)
        if has_all_rows:
            self.assert_rows(seen)

    def assert_same_counters(self, seen, before):
        for key, value in before.counters().items():
            if not key[0].startswith(LIVE):
                self.assertEqual(seen.samples[key], value, key)

    def assert_balanced(self, seen):
        self.assertEqual(
            seen.total("postlag_recipients"),
            seen.total("postlag_recipients_accepted_total")
            + seen.total("postlag_recipients_added_total")
            - seen.total("postlag_recipients_recognized_total"))

    def assert_rows(self, seen):
        rows = read_rows(self.alone.store)
        states = collections.Counter(
            state for row in rows for _, state in row.recipients)
        for name, wanted in (
                ("messages_accepted_total", len({row.id for row in rows})),
                ("recipients_accepted_total", sum(states.values())),
                ("delivery_latency_seconds_count", states["delivered"])):
            self.assertEqual(seen.total(f"postlag_{name}"), wanted, name)

    def assert_sound(self, path):
        """As SQLite sees it, and minutes and hours add up to the totals."""
        database = sqlite3.connect(path)
        self.assertEqual(
            database.execute("PRAGMA integrity_check").fetchall(),
            [("ok",)], path)
        if "/day-" in path:
            total, minutes, hours = [
                {series: sums for series, *sums in database.execute(CELLS.format(
                    table))} for table in ("total", "minute", "hour")]
            self.assertNotEqual(minutes, {})
            self.assertEqual(minutes, total, path)
            self.assertEqual(hours, total, path)
        database.close()
