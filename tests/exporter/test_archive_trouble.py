# SPDX-License-Identifier: BSD-2-Clause
"""archive.db, which has what is left of purged days, is removed, damaged or
locked by others: the exporter stays up or starts, says what is wrong, and what
was counted stays so (I3, I5)."""

import os
import sqlite3
import time

import tap
from store_trouble import PATHS, Trouble, Visitor
from waiting import wait_until

PAGE = 4096
DAY = 86400


def remove(path):
    os.unlink(path)


def empty(path):
    os.truncate(path, 0)


def cut(path):
    os.truncate(path, 2 * PAGE)


def spoil(path, since=0):
    with open(path, "r+b") as file:
        size = file.seek(0, os.SEEK_END) - file.seek(since)
        file.write((b"something else\n" * size)[:size])


def spoil_middle(path):
    spoil(path, PAGE)


class Archive(Trouble):
    def setUp(self):
        # Not over midnight, which would make one day more.
        wait_until(lambda: time.time() % DAY < DAY - 120, "the next day", 180)
        super().setUp()
        self.archive = f"{self.alone.store}/archive.db"

    def begin_purged(self):
        """The oldest of the days is in the archive, and only there."""
        self.begin()
        self.alone.program.stop()
        self.alone.program.settings["store"].update(
            queue_lifetime="0", retention="1d")
        self.alone.program.start()
        self.alone.wait_for("postlag_store_purges_total", 1)
        wait_until(lambda: os.path.getsize(f"{self.archive}-wal") == 0,
                   "the archive to be closed")
        self.wait_until_ready()
        self.assert_counted()

    def check(self, act, text, **metrics):
        with Visitor(self.alone) as visitor:
            act(self.archive)
            self.load(50)
            self.wait_until_ready()
        self.assertEqual(visitor.wrong, [])
        self.assertEqual(set(visitor.answers), set(PATHS))
        if text:
            self.assert_said(self.archive, text, **metrics)
        self.assert_counted()
        self.assert_consistent(has_all_rows=False)
        self.assert_counted()

    def check_stopped(self, act, path, text, **metrics):
        self.alone.program.stop()
        act(self.archive)
        self.alone.program.start()
        self.wait_until_ready()
        self.assert_said(path, text, **metrics)
        self.assert_counted()
        self.load(50)
        self.assert_consistent(has_all_rows=False)
        self.assert_counted()

    def test_one_that_is_removed(self):
        self.begin_purged()
        self.check(remove, "others removed or replaced it",
                   store_replaced_files=1, store_damaged_files=0)

    def test_one_that_is_cut_short(self):
        self.begin_purged()
        self.check(cut, "set aside", store_replaced_files=1,
                   store_damaged_files=1)

    def test_one_that_is_emptied(self):
        self.begin_purged()
        self.check(empty, "others cut it short", store_replaced_files=1,
                   store_damaged_files=0)

    def test_one_that_is_damaged_is_noticed_by_who_reads_it(self):
        """Answers lack what it had, and say so; mail and counters go on."""
        for act in spoil, spoil_middle:
            with self.subTest(act.__name__):
                self.setUp()
                self.begin_purged()
                self.check(act, None)

    def test_one_that_is_removed_while_it_is_stopped(self):
        self.begin_purged()
        self.check_stopped(remove, self.archive, "others removed it",
                           store_replaced_files=1, store_damaged_files=0)

    def test_one_that_is_emptied_while_it_is_stopped(self):
        self.begin_purged()
        self.check_stopped(empty, self.alone.store, "hold less than",
                           store_replaced_files=1, store_damaged_files=0)

    def test_one_that_is_damaged_while_it_is_stopped(self):
        for act in cut, spoil, spoil_middle:
            with self.subTest(act.__name__):
                self.setUp()
                self.begin_purged()
                self.check_stopped(act, self.archive, "set aside",
                                   store_replaced_files=0,
                                   store_damaged_files=1)

    def lock(self, *statements):
        lock = sqlite3.connect(self.archive, isolation_level=None)
        self.addCleanup(lock.close)
        for statement in statements:
            lock.execute(statement)
        return lock

    def test_case_74_a_locked_one_holds_up_neither_mail_nor_a_start(self):
        self.begin_purged()
        lock = self.lock("BEGIN IMMEDIATE")
        self.check(lambda path: None, None)
        self.assertEqual(
            self.alone.metrics().value("postlag_store_errors_total"), 0)
        lock.execute("ROLLBACK")

    def test_one_that_others_keep_from_being_read(self):
        self.begin_purged()
        self.alone.program.stop()
        lock = self.lock("PRAGMA locking_mode = EXCLUSIVE", "BEGIN IMMEDIATE",
                         "DELETE FROM day WHERE day < 0")
        self.alone.program.start()
        self.wait_until_ready()
        self.assert_said(self.archive, "database is locked",
                         store_errors_total=1, store_damaged_files=0)
        self.assert_counted()
        lock.close()
        self.load(50)
        self.assert_consistent(has_all_rows=False)
        self.assert_counted()
        self.assertEqual(
            self.alone.metrics().value("postlag_store_errors_total"), 0)


tap.main()
