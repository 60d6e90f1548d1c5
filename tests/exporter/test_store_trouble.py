# SPDX-License-Identifier: BSD-2-Clause
"""Trouble with the store's files while the exporter runs: it stays up and
answers what it can, says what is wrong and which file has it, and catches up by
itself. Nothing is counted twice, nothing that was counted is forgotten, and no
message is lost but what others took away (I2, I3, I5)."""

import glob
import os
import sqlite3
import unittest

import tap
from disks import Ext4Disk
from store_rows import read_bounds
from store_trouble import PATHS, Trouble, Visitor
from waiting import wait_until


def remove_with_log(path):
    for file in glob.glob(f"{path}*"):
        os.unlink(file)


def overwrite(path):
    with open(path, "r+b") as file:
        file.write(b"something else\n" * 4096)


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
        self.assert_consistent(has_all_rows=False)
        self.assert_counted()

    def test_a_day_file_that_is_removed_with_its_log(self):
        self.begin()
        self.check(remove_with_log, self.days()[-1], "removed or replaced",
                   store_replaced_files=1)
        self.assert_consistent(has_all_rows=False)
        self.assert_counted()

    def test_day_files_that_are_removed_while_it_is_stopped(self):
        """What they counted stays, whether it was stopped or killed."""
        for number, end in enumerate((self.alone.program.stop,
                                      self.alone.program.kill)):
            with self.subTest(end.__name__):
                self.begin()
                path = self.days()[number]
                end()
                remove_with_log(path)
                self.alone.program.start()
                self.wait_until_ready()
                self.assert_said(path, "others removed it",
                                 store_replaced_files=1)
                self.assert_counted()
                self.load()
                self.assert_consistent(has_all_rows=False)
                self.assert_counted()
                self.alone.program.stop()
        self.alone.program.start()
        self.assert_counted()
        self.assertEqual(self.alone.program.log().count("others removed it"),
                         2)

    def test_a_day_file_that_is_damaged_while_it_is_stopped(self):
        self.begin()
        path = self.days()[0]
        self.alone.program.stop()
        overwrite(path)
        self.alone.program.start()
        self.wait_until_ready()
        self.assert_said(path, "set aside", store_damaged_files=1)
        self.assert_counted()
        self.assert_consistent(has_all_rows=False)
        self.assert_counted()

    def test_a_day_file_that_is_cut_short(self):
        for size in (40960, 0):
            with self.subTest(size):
                self.setUp()
                self.begin(600)
                self.wait_for_copy(self.days()[-1])
                self.load(50)
                self.check(lambda path: os.truncate(path, size),
                           self.days()[-1], "set aside", store_damaged_files=1)
                self.assert_consistent(has_all_rows=False)
                self.assert_counted()

    def test_a_day_file_that_is_overwritten(self):
        self.begin(600)
        self.wait_for_copy(self.days()[-1])
        self.check(overwrite, self.days()[-1], "set aside",
                   store_damaged_files=1)
        self.assert_consistent(has_all_rows=False)
        self.assert_counted()

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

    def test_locked_day_files_are_written_later(self):
        """Case 74."""
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
        """What a search lists."""
        return len(self.alone.all_messages())

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
