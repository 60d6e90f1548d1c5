# SPDX-License-Identifier: BSD-2-Clause
"""Killed at its system calls while it reads journals, upgrades files of older
versions, seals and purges days, or forgets an address, and started again, the
exporter's store is the same as that of one that nobody killed: rows, counters
and roll-ups (I2, I3, I5)."""

import collections
import contextlib
import glob
import http.client
import os
import random
import shutil
import sqlite3
import subprocess
import time
import unittest

import killer
import tap
from exporter_alone import ExporterAlone
from programs import ROOT, program_path
from waiting import wait_until

LONG = "POSTLAG_LONG" in os.environ
KILLS = 40 if LONG else 2  # of each kind of work
CALLS = ("pwrite64", "fdatasync", "fsync", "ftruncate", "unlink", "openat")
DAY = 86400
DAYS = 4
MESSAGES = 400
OF_BATCHES = ("position", "lower_bound", "feed")
OUTCOMES = {"outcome_minute", "outcome_hour", "outcome"}
RECOUNTED = """SELECT min((key >> 20) / 60000000, 1439), state, count(*)
    FROM recipient GROUP BY 1, 2"""
FORGOTTEN = "u7.0@example.test"


def read_table(database, sql):
    return database.execute(sql).fetchall()


def read_file(path):
    """What a file says, but for the numbers of rows and what is of batches."""
    database = sqlite3.connect(path)
    try:
        assert read_table(database, "PRAGMA integrity_check") == [("ok",)], \
            path
        tables = [name for name, in read_table(
            database, "SELECT name FROM sqlite_schema WHERE type = 'table' "
            "AND name NOT LIKE 'sqlite%' ORDER BY name")]
        said = {name: read_table(database, f"SELECT count(*) FROM {name}")
                for name in tables if name not in OF_BATCHES}
        if "counter" in tables:
            said["counter"] = read_table(database, "SELECT * FROM counter")
        for name in OUTCOMES.intersection(tables):
            # What came and went leaves a zero, or not.
            said[name] = read_table(
                database, f"SELECT * FROM {name} WHERE count <> 0")
        if "recipient" in tables:
            assert said["outcome_minute"] == read_table(database, RECOUNTED)
        for name in {"total", "minute", "hour"}.intersection(tables):
            said[name] = sorted(read_table(
                database, f"SELECT series.name, {name}.* FROM {name} "
                "JOIN series ON series.id = series"))
        return said
    finally:
        database.close()


class Kills(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if not killer.possible():
            raise unittest.SkipTest("strace may not attach here")
        cls.seed = int(os.environ.get("POSTLAG_SEED", random.getrandbits(32)))
        print(f"# POSTLAG_SEED={cls.seed}")
        cls.random = random.Random(cls.seed)

    def setUp(self):
        # Not over midnight, which would make one day more.
        wait_until(lambda: time.time() % DAY < DAY - 300, "the next day", 320)
        # Batches of a number of events, not of a time.
        self.alone = ExporterAlone(start=False, commit_interval="1s",
                                   commit_events=20)
        self.addCleanup(self.alone.__exit__, None)
        self.alone.program.settings["operator"] = {
            "journal": self.alone.journal}
        self.calls_path = os.path.join(self.alone.directory, "calls")
        self.kept = os.path.join(self.alone.directory, "kept")

    def load(self):
        """Mail of some days in the journals, nothing in the store."""
        self.wanted = self.alone.load(MESSAGES, 2, DAYS)
        self.alone.journals.close()

    def store_it(self):
        self.load()
        self.alone.program.start()
        self.alone.wait_for("postlag_delivery_attempts_total",
                            self.wanted["attempts"])
        self.alone.program.stop()

    def keep(self):
        """What each run begins with."""
        os.mkdir(self.kept)
        for path in (self.alone.store, self.alone.journal):
            shutil.copytree(path, os.path.join(self.kept,
                                               os.path.basename(path)))

    def take_back(self):
        for path in (self.alone.store, self.alone.journal):
            shutil.rmtree(path)
            shutil.copytree(os.path.join(self.kept, os.path.basename(path)),
                            path)

    def start(self, *strace):
        prefix = ["strace", "-f", "-qq", "-o",
                  self.calls_path, "-e", "trace=" + ",".join(CALLS), *strace]
        self.alone.program.start(prefix=prefix if strace else (), wait=False)

    def has(self, is_done):
        """It may not answer yet, or be killed while it is asked."""
        try:
            return self.alone.request("/-/ready")[0] == 200 and is_done()
        except (OSError, http.client.HTTPException):
            return False

    def notes(self, name):
        with contextlib.closing(sqlite3.connect(
                f"{self.alone.store}/control.db", timeout=30)) as database:
            return database.execute(
                "SELECT value FROM note WHERE name = ?", [name]).fetchall()

    def is_synced(self):
        """Bounds and notes follow what is on the disk."""
        return self.notes("synced") != []

    def finish(self, is_done):
        """Runs it to the end of its work; returns what its store says."""
        wait_until(lambda: self.has(is_done), "the work to be done")
        wait_until(self.is_synced, "the disk")
        messages = self.alone.all_messages()
        counted = {key: value for key, value
                   in self.alone.metrics().counters().items()
                   if not key[0].startswith((
                       "postlag_store_", "postlag_log_", "postlag_queue_",
                       "postlag_source_", "postlag_build_"))}
        self.alone.program.kill()
        files = {os.path.basename(path): read_file(path)
                 for path in glob.glob(f"{self.alone.store}/*.db")}
        return {"counters": counted, "messages": messages, **files}

    def count_calls(self):
        """{call: how many one thread made at most}."""
        threads = collections.Counter()
        with open(self.calls_path, encoding="utf-8") as calls:
            for line in calls:
                thread, _, call = line.partition(" ")
                name = call.strip().partition("(")[0]
                if name in CALLS:
                    threads[name, thread] += 1
        counts = {}
        for (name, _), count in threads.items():
            counts[name] = max(counts.get(name, 0), count)
        return counts

    def places(self, counts):
        """Each kind of call in turn, spread over all of them at random."""
        names = sorted(counts, key=counts.get)
        for number in range(KILLS):
            name = names[-1 - number % len(names)]
            # Some calls depend on time.
            yield name, self.random.randint(1, 1 + counts[name] * 3 // 4)

    def check(self, is_done):
        self.keep()
        self.start("-e", "signal=none")
        wanted = self.finish(is_done)
        counts = self.count_calls()
        kills = 0
        for name, number in self.places(counts):
            with self.subTest(f"{name} {number}"):
                self.take_back()
                self.start("-e", f"inject={name}:signal=SIGKILL:when={number}")
                wait_until(lambda: not self.alone.program.running()
                           or self.has(is_done),
                           "its death or the work to be done")
                kills += not self.alone.program.running()
                self.alone.program.kill()
                self.start()
                self.compare(self.finish(is_done), wanted)
        print(f"# {kills} kills; calls to kill it at: {counts}")
        self.assertGreater(kills, KILLS / 2)

    def compare(self, found, wanted):
        self.assertEqual(found.keys(), wanted.keys())
        for part, said in wanted.items():
            if isinstance(said, dict):
                for name, rows in said.items():
                    self.assertEqual(found[part].get(name), rows,
                                     (part, name))
            self.assertEqual(found[part], said, part)

    def bytes_of(self, name):
        return os.path.getsize(os.path.join(self.alone.store, name))

    def day_name(self, days):
        return time.strftime("day-%Y%m%d.db", time.gmtime(
            (int(time.time()) // DAY - days) * DAY))

    def configure(self, **options):
        self.alone.program.settings["store"].update(options)

    def value(self, name, **labels):
        return self.alone.metrics().total(f"postlag_{name}", **labels)

    def test_while_it_reads_journals(self):
        self.load()
        self.check(lambda: self.value("delivery_attempts_total")
                   == self.wanted["attempts"])

    def sealing(self):
        self.alone.journals.tell("open", "a", "QOPEN", DAYS - 1)
        self.store_it()
        self.configure(queue_lifetime="0")

    def test_while_it_seals_days(self):
        """And what outlived the queue becomes unknown."""
        self.sealing()
        self.configure(retention="0")
        self.check(lambda: self.value("recipient_outcomes_total",
                                      outcome="unknown") == 2
                   and not any(self.bytes_of(self.day_name(day) + "-wal")
                               for day in range(2, DAYS)))

    def test_while_it_purges_days(self):
        self.sealing()
        self.configure(retention="1d")
        self.check(lambda: self.value("store_files") == 2
                   and len(glob.glob(f"{self.alone.store}/day-*.db")) == 2)

    def test_while_it_forgets_an_address(self):
        self.store_it()
        os.mkdir(f"{self.alone.journal}/operator")
        subprocess.run([program_path("postlag"), "forget", "-c",
                        self.alone.program.config, "--yes", FORGOTTEN],
                       check=True, capture_output=True)
        self.check(self.is_forgotten)

    def is_forgotten(self):
        note = self.notes("forget")
        return note and b"@" not in note[0][0]

    def test_while_it_upgrades_files_of_older_versions(self):
        for days in range(DAYS):
            self.make_old(self.day_name(days), 1 + days % 3)
        self.make_control()
        self.check(lambda: True)

    def make_old(self, name, version):
        with open(f"{ROOT}/tests/store/version{version}.sql",
                  encoding="utf-8") as script:
            database = sqlite3.connect(f"{self.alone.store}/{name}")
            database.executescript(script.read())
            database.execute("PRAGMA journal_mode = WAL")
            database.close()

    def make_control(self):
        database = sqlite3.connect(f"{self.alone.store}/control.db")
        database.executescript(
            "PRAGMA application_id = 0x506f4c67; PRAGMA user_version = 1;"
            "CREATE TABLE lower_bound(source ANY PRIMARY KEY, "
            "segment INTEGER NOT NULL, offset INTEGER NOT NULL) "
            "STRICT, WITHOUT ROWID;")
        database.close()


tap.main()
