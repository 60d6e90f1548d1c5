# SPDX-License-Identifier: BSD-2-Clause
"""Days that are past: sealed and purged by the exporter itself, with readers
and kills, and nothing that was counted changes (case 8, I3, I5)."""

import contextlib
import json
import os
import random
import shutil
import sqlite3
import time
import unittest

import tap
from exporter_alone import ExporterAlone
from store_rows import STATES
from waiting import wait_until

LONG = os.environ.get("POSTLAG_LONG")
MESSAGES = 200000 if LONG else 3000
KILLS = 60 if LONG else 8
DAYS = 6  # with mail; by a shorter queue lifetime all but two are past
PURGED = DAYS - 2
DAY = 86400
# Of the moment, or of this process.
LIVE = ("postlag_store_", "postlag_log_lines", "postlag_queue_lookups",
        "postlag_source_events", "postlag_build_info")
# As in store/record.h.
LOST, UNKNOWN = map(STATES.index, ("lost", "unknown"))
SHORTER = {"queue_lifetime": "0", "retention": "1d"}


class Days(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.alone = ExporterAlone()
        cls.addClassCleanup(cls.alone.__exit__, None)
        cls.open_id = cls.alone.journals.tell("open", "a", "QOPEN", 4)
        # Not over midnight, which would make one day more.
        wait_until(lambda: time.time() % DAY < DAY - 120,
                   "the next day", 180)
        loaded = cls.alone.load(MESSAGES, 2, DAYS)
        cls.before = cls.alone.wait_for(
            "postlag_recipient_outcomes_total", loaded["delivered"],
            outcome="delivered", timeout=300)
        cls.latency = cls.ask_latency()
        cls.alone.program.stop()
        cls.kept = cls.alone.store + ".kept"
        shutil.copytree(cls.alone.store, cls.kept)

    def setUp(self):
        self.alone.program.kill()
        shutil.rmtree(self.alone.store)
        shutil.copytree(self.kept, self.alone.store)

    @classmethod
    def ask_latency(cls):
        since = int(time.time()) // DAY - 8
        status, _, body = cls.alone.request(
            f"/api/v1/latency?since={cls.date(since)}"
            f"&until={cls.date(since + 10)}&step=1h&cells=1")
        assert status == 200, body
        answer = json.loads(body)
        return answer["whole"], [p for p in answer["points"] if p["count"]]

    @staticmethod
    def date(day):
        return time.strftime("%Y-%m-%d", time.gmtime(day * DAY))

    def restart(self, wait=True, **options):
        if self.alone.program.running():
            self.alone.program.stop()
        store = self.alone.program.settings["store"]
        store.clear()
        store.update(directory=self.alone.store, **options)
        self.alone.program.start(wait=wait)

    def day_files(self):
        return sorted(name for name in os.listdir(self.alone.store)
                      if name.startswith("day-"))

    def check_counted(self, metrics, sealed):
        """As before, but for the message that nothing was heard of."""
        unknown = ("postlag_recipient_outcomes_total",
                   (("outcome", "unknown"),))
        for key, value in self.before.counters().items():
            if not key[0].startswith(LIVE):
                wanted = 2 if sealed and key == unknown else value
                self.assertEqual(metrics.samples[key], wanted, key)
        self.assertEqual(
            metrics.value("postlag_recipients_accepted_total")
            + metrics.total("postlag_recipients_added_total"),
            metrics.total("postlag_recipients"))
        self.assertEqual(
            metrics.value("postlag_recipients", state="in_flight"),
            0 if sealed else 2)

    def open_files(self):
        """Some are open for a moment only."""
        descriptors = f"/proc/{self.alone.program.process.pid}/fd"
        for fd in os.listdir(descriptors):
            with contextlib.suppress(FileNotFoundError):
                yield os.readlink(f"{descriptors}/{fd}")

    def all_are_purged(self):
        self.assertEqual(self.ask_latency(), self.latency)
        status, _, body = self.alone.request(
            "/api/v1/messages?q=status:bounced&limit=5")
        self.assertEqual(status, 200, body)
        return self.alone.metrics().value(
            "postlag_store_purges_total") == PURGED


class Retention(Days):
    def test_case_8_old_days_are_purged_and_their_counts_stay(self):
        before = self.before.value("postlag_store_bytes")
        self.restart(**SHORTER)
        wait_until(self.all_are_purged, "the purge")
        metrics = self.alone.metrics()
        self.check_counted(metrics, sealed=True)
        self.assertEqual(metrics.value("postlag_store_files"), 2)
        self.assertLess(metrics.value("postlag_store_bytes"), before / 2)
        self.assertEqual(
            metrics.value("postlag_store_oldest_day_timestamp_seconds"),
            (int(time.time()) // DAY - 1) * DAY)
        self.assertEqual(self.alone.messages("QOPEN"), [])
        self.assertEqual(self.alone.program.log().count("purged="), PURGED)
        # Nobody keeps the room that they took.
        self.assertEqual([], [
            target for target in self.open_files()
            if "day-" in target and target.endswith("(deleted)")])
        self.restart()
        self.check_counted(self.alone.metrics(), sealed=True)
        self.assertEqual(self.ask_latency(), self.latency)

    def test_what_has_outlived_the_queue_is_unknown(self):
        self.restart(queue_lifetime="0", retention="0")
        self.alone.wait_for("postlag_recipient_outcomes_total", 2,
                            outcome="unknown")
        self.check_counted(self.alone.metrics(), sealed=True)
        message, = self.alone.messages("QOPEN")
        self.assertEqual(message["id"], self.open_id)
        for recipient in message["recipients"]:
            self.assertEqual((recipient["state"], recipient["reason"]),
                             ("unknown", "outlived_the_queue"))
        # Late, but evidence.
        self.alone.delivery("a", "QOPEN", "u1@example.test=250")
        metrics = self.alone.wait_for(
            "postlag_outcome_revisions_total", 1,
            **{"from": "unknown", "to": "delivered"})
        self.assertEqual(
            metrics.value("postlag_recipients", state="unknown"), 1)

    def test_the_oldest_days_go_when_there_is_no_room(self):
        sizes = {name: os.path.getsize(f"{self.alone.store}/{name}")
                 for name in self.day_files() if name.endswith(".db")}
        oldest, second = sorted(sizes)[:2]
        limit = sum(sizes.values()) - sizes[oldest] - sizes[second] // 2
        self.restart(queue_lifetime="0", retention_bytes=limit)
        self.alone.wait_for("postlag_store_purges_total", 2)
        self.assertNotIn(second, self.day_files())
        self.assertIn(sorted(sizes)[2], self.day_files())
        self.check_counted(self.alone.metrics(), sealed=True)
        self.assertLessEqual(
            self.alone.metrics().value("postlag_store_bytes"), limit)

    def test_killed_while_purging_nothing_is_counted_twice(self):
        left = []
        for _ in range(KILLS):
            self.setUp()
            self.restart(wait=False, **SHORTER)
            while not os.path.exists(f"{self.alone.store}/archive.db"):
                self.assertTrue(self.alone.program.running())
            time.sleep(random.uniform(0, 0.006))
            self.alone.program.kill()
            left.append(len([name for name in self.day_files()
                             if name.endswith(".db")]))
            self.restart(**SHORTER)
            wait_until(lambda: len(self.day_files()) <= 6
                       and self.alone.metrics().value("postlag_store_files")
                       == 2, "the purge")
            self.check_counted(self.alone.metrics(), sealed=True)
            self.assertEqual(self.ask_latency(), self.latency)
        print(f"# {sorted(left)} day files after kills")


class Remembered(Days):
    """Of its own: journals are not taken back by setUp()."""

    def test_what_was_purged_is_not_remembered(self):
        self.restart(**SHORTER)
        wait_until(self.all_are_purged, "the purge")
        self.alone.delivery("a", "QOPEN", "u1@example.test=250")
        metrics = self.alone.wait_for("postlag_deliveries_waiting", 1)
        self.assertEqual(metrics.value("postlag_store_errors_total"), 0)


class Lost(Days):
    """Of its own, likewise."""

    def make_lost(self):
        """What is unknown, as if it had been found lost."""
        of_day = [f"UPDATE {table} SET state = {LOST} WHERE state = {UNKNOWN}"
                  for table in ("recipient", "outcome_minute", "outcome_hour")]
        of_day.append("UPDATE counter "
                      "SET name = replace(name, 'unknown', 'lost') WHERE name "
                      "LIKE 'postlag_recipient_outcomes_total%unknown%'")
        self.change("control.db", "DELETE FROM note WHERE name = 'counted'")
        for name in self.day_files():
            if name.endswith(".db"):
                self.change(name, *of_day)

    def change(self, name, *statements):
        with contextlib.closing(sqlite3.connect(
                f"{self.alone.store}/{name}",
                isolation_level=None)) as database:
            for statement in statements:
                database.execute(statement)

    def test_what_is_lost_in_a_day_is_not_any_more_when_it_is_purged(self):
        """Nobody could acknowledge it any more; the balance closes (I5)."""
        self.restart(queue_lifetime="0", retention="0")
        self.alone.wait_for("postlag_recipients", 2, state="unknown")
        self.alone.program.stop()
        self.make_lost()
        self.restart(queue_lifetime="0", retention="0")
        self.alone.wait_for("postlag_recipients", 2, state="lost")
        self.restart(**SHORTER)
        self.alone.wait_for("postlag_store_purges_total", PURGED)
        for _ in range(2):
            metrics = self.alone.wait_for("postlag_recipients", 0,
                                          state="lost")
            self.assertEqual(
                metrics.value("postlag_recipients", state="deleted"), 2)
            self.assertEqual(metrics.value(
                "postlag_outcome_revisions_total",
                **{"from": "lost", "to": "deleted"}), 2)
            self.assertEqual(
                metrics.value("postlag_recipients_accepted_total")
                + metrics.total("postlag_recipients_added_total"),
                metrics.total("postlag_recipients"))
            self.restart(**SHORTER)


if __name__ == "__main__":
    tap.main()
