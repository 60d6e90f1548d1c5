# SPDX-License-Identifier: BSD-2-Clause
"""Trouble with the store's files while the exporter runs: it stays up and
answers what it can, says what is wrong and which file has it, and catches up by
itself. Nothing is counted twice, and nothing is lost but what others took
away (I2, I3, I5)."""

import collections
import glob
import json
import os
import sqlite3
import threading
import unittest

import tap
from disks import Ext4Disk
from exporter_alone import ExporterAlone
from stack import SmallDisk
from store_rows import read_bounds, read_rows
from waiting import wait_until

DAYS = 3
# Of a total there is one row, of a minute or an hour one for each host; others
# are of further labels.
CELLS = """SELECT substr(name, 1, instr(name || '|', '|') - 1) AS whole,
    sum(count), sum(sum_ns) FROM {0} JOIN series ON id = series
    WHERE length(name) - length(replace(name, '|', '')) <= 1
    GROUP BY whole"""
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
                             ("delivery_attempts_total", "attempts")):
            self.assertEqual(seen.total(f"postlag_{name}"),
                             self.wanted[wanted], name)
        for outcome in ("delivered", "bounced"):
            self.assertEqual(
                seen.value("postlag_recipient_outcomes_total",
                           outcome=outcome), self.wanted[outcome], outcome)

    def assert_consistent(self):
        """Killed and started again, it counts what the rows say."""
        self.alone.program.kill()
        self.alone.program.start()
        self.wait_until_ready()
        seen = self.alone.metrics()
        rows = read_rows(self.alone.store)
        states = collections.Counter(
            state for row in rows for _, state in row.recipients)
        for name, wanted in (
                ("messages_accepted_total", len({row.id for row in rows})),
                ("recipients_accepted_total", sum(states.values())),
                ("delivery_latency_seconds_count", states["delivered"])):
            self.assertEqual(seen.total(f"postlag_{name}"), wanted, name)
        self.assertEqual(
            seen.total("postlag_recipients"), sum(states.values())
            + seen.total("postlag_recipients_added_total"))
        for path in glob.glob(f"{self.alone.store}/*.db"):
            self.assert_sound(path)

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


class Removed(Trouble):
    """By hand, while it is written."""

    def check(self, act, path, text, **metrics):
        """Others do something to a file; mail goes on."""
        with Visitor(self.alone) as visitor:
            act(path)
            self.load()
            self.wait_until_ready()
        self.assertEqual(visitor.wrong, [])
        self.assertEqual(set(visitor.answers), set(PATHS))
        self.assert_said(path, text, **metrics)
        self.assert_counted()

    def test_a_day_file_that_is_removed_costs_only_what_was_in_it(self):
        self.begin()
        for number, path in enumerate(self.days()):
            with self.subTest(path):
                self.check(os.unlink, path, "removed or replaced",
                           store_replaced_files=number + 1)
        self.assert_consistent()

    def test_a_day_file_that_is_removed_with_its_log(self):
        def remove(path):
            for file in glob.glob(f"{path}*"):
                os.unlink(file)
        self.begin()
        self.check(remove, self.days()[-1], "removed or replaced",
                   store_replaced_files=1)
        self.assert_consistent()

    def test_a_day_file_that_is_cut_short(self):
        for size in (40960, 0):
            with self.subTest(size):
                self.setUp()
                self.begin(600)
                self.wait_for_copy(self.days()[-1])
                self.load(50)
                self.check(lambda path: os.truncate(path, size),
                           self.days()[-1], "set aside", store_damaged_files=1)
                self.assert_consistent()

    def test_a_day_file_that_is_overwritten(self):
        def overwrite(path):
            with open(path, "r+b") as file:
                file.write(b"something else\n" * 4096)
        self.begin(600)
        self.wait_for_copy(self.days()[-1])
        self.check(overwrite, self.days()[-1], "set aside",
                   store_damaged_files=1)
        self.assert_consistent()

    def test_a_day_file_that_is_compacted_loses_nothing(self):
        def change(path, *statements):
            database = sqlite3.connect(path, isolation_level=None)
            for statement in statements:
                database.execute(statement)
            database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            database.close()
        self.begin()
        path = self.days()[-1]
        change(path, "CREATE TABLE filler(content BLOB)",
               "INSERT INTO filler VALUES(zeroblob(1 << 20))",
               "DROP TABLE filler")
        self.load()
        self.assertGreater(os.path.getsize(path), 1 << 20)
        self.check(lambda path: change(path, "VACUUM"), path, "cut it short",
                   store_replaced_files=1, store_damaged_files=0)
        self.assertLess(os.path.getsize(path), 1 << 20)
        self.assert_consistent()
        self.assert_counted()

    def test_a_log_or_its_index_that_is_removed_loses_nothing(self):
        self.begin()
        for number, suffix in enumerate(("-wal", "-shm")):
            with self.subTest(suffix):
                self.check(lambda path: os.unlink(path + suffix),
                           self.days()[-1], "log", store_damaged_files=0,
                           store_replaced_files=number + 1)
        self.assert_consistent()
        self.assert_counted()

    def check_control(self, act, text, **metrics):
        self.begin()
        self.check(act, self.control(), text, **metrics)
        bounds = read_bounds(self.alone.store)
        self.assertGreater(min(bounds), (0, 0))
        self.assert_consistent()
        self.assert_counted()
        self.assertGreaterEqual(read_bounds(self.alone.store), bounds)

    def test_control_db_that_is_removed_is_made_anew(self):
        self.check_control(os.unlink, "removed or replaced",
                           store_replaced_files=1)

    def test_control_db_that_is_cut_short_is_made_anew(self):
        def cut(path):
            os.truncate(path, 0)
        self.check_control(cut, "cut it short", store_replaced_files=1)


class Locked(Trouble):
    """By another process. Longer than the exporter waits at a time."""

    def lock(self, path):
        lock = sqlite3.connect(path, isolation_level=None)
        self.addCleanup(lock.close)
        lock.execute("BEGIN IMMEDIATE")
        return lock

    def test_case_74_locked_day_files_are_written_later(self):
        self.begin()
        locks = [self.lock(path) for path in self.days()]
        with Visitor(self.alone) as visitor:
            self.load(wait=False)
            self.wait_until_ready(False)
            self.assertIn(b"database is locked",
                          self.alone.request("/-/ready")[2])
            for lock in locks:
                lock.execute("ROLLBACK")
            self.wait_until_counted()
            self.wait_until_ready()
        self.assertEqual(visitor.wrong, [])
        self.assert_said(self.alone.store, "database is locked")
        self.assert_counted()
        self.assert_consistent()

    def test_a_locked_control_db_does_not_hold_up_mail(self):
        """And is told once."""
        self.begin()
        lock = self.lock(self.control())
        with Visitor(self.alone) as visitor:
            for _ in range(5):
                self.load(50)
        self.assertEqual(visitor.wrong, [])
        self.assertEqual(self.alone.program.log().count(
            f"{self.control()}: database is locked"), 1)
        before = read_bounds(self.alone.store)
        lock.execute("ROLLBACK")
        self.load(50)
        self.alone.program.wait_for_log("written again")
        self.assertGreater(read_bounds(self.alone.store), before)
        self.assert_counted()
        self.assert_consistent()


@unittest.skipUnless(SmallDisk.possible(), "cannot mount")
class Full(Trouble):
    def setUp(self):
        super().setUp()
        # Room for logs that nobody has had the time to copy.
        self.disk = SmallDisk(self.alone.store, "128m")
        self.disk.mount()
        self.addCleanup(self.disk.unmount)
        self.addCleanup(self.alone.program.kill)

    def test_disk_full_the_exporter_says_so_and_catches_up(self):
        self.begin(100)
        for _ in range(3):
            self.disk.fill()
            with Visitor(self.alone) as visitor:
                self.load(500, wait=False)
                self.wait_until_ready(False)
                self.assertIn(b" full", self.alone.request("/-/ready")[2])
                self.disk.make_room()
                self.wait_until_counted()
                self.wait_until_ready()
            self.assertEqual(visitor.wrong, [])
        self.assert_counted()
        self.assert_consistent()

    def test_killed_while_the_disk_is_full(self):
        """And started when there is room again."""
        self.begin(100)
        self.disk.fill()
        self.load(500, wait=False)
        self.wait_until_ready(False)
        self.alone.program.kill()
        self.disk.make_room()
        self.alone.program.start()
        self.wait_until_counted()
        self.assert_counted()
        self.assert_consistent()


@unittest.skipUnless(Ext4Disk.possible(), "cannot mount")
class ReadOnly(Trouble):
    def setUp(self):
        super().setUp()
        self.disk = Ext4Disk(self.alone.store)
        self.disk.mount()
        self.addCleanup(self.disk.unmount)
        self.addCleanup(self.alone.program.kill)

    def check_while_read_only(self):
        """No mail is lost, and queries are answered."""
        self.load(wait=False)
        self.wait_until_ready(False)
        with Visitor(self.alone) as visitor:
            errors = self.alone.metrics().value("postlag_store_errors_total")
            self.alone.wait_for("postlag_store_errors_total", errors + 3)
        self.assertEqual(visitor.wrong, [])
        self.assertIn(b"/lock: ", self.alone.request("/-/ready")[2])
        self.assert_said(self.alone.store, "store=failed")
        self.assertEqual(self.count_found(), self.known)

    def count_found(self):
        """What a search lists, page by page."""
        count, cursor = 0, ""
        while cursor is not None:
            status, _, body = self.alone.request(
                f"/api/v1/messages?limit=500&before={cursor}")
            page = json.loads(body)
            self.assertEqual((status, page.get("incomplete")), (200, None))
            count, cursor = count + len(page["messages"]), page["next"]
        return count

    def begin(self, count=300):
        super().begin(count)
        self.known = self.alone.metrics().value(
            "postlag_messages_accepted_total") \
            + self.wanted["no_message"]

    def test_read_only_files_are_written_when_they_can_be(self):
        self.begin()
        self.disk.protect()
        self.check_while_read_only()
        self.disk.unprotect()
        with Visitor(self.alone) as visitor:
            self.wait_until_counted()
            self.wait_until_ready()
        self.assertEqual(visitor.wrong, [])
        self.assert_counted()
        self.load()
        self.assert_consistent()
        self.assert_counted()

    def test_a_file_system_with_an_error_is_read_only_until_mounted_again(
            self):
        self.begin()
        # What is mapped and not written out yet could still be changed.
        os.sync()
        self.disk.fail()
        self.check_while_read_only()
        self.assertEqual(self.alone.program.stop(), 0)
        self.disk.unmount()
        self.disk.mount()
        self.alone.program.start()
        self.wait_until_counted()
        self.assert_counted()
        self.assert_consistent()


tap.main()
