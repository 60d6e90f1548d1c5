# SPDX-License-Identifier: BSD-2-Clause
"""From journals to totals: complete, exact, once, whatever happens."""

import datetime
import glob
import os
import random
import re
import shutil
import sqlite3
import subprocess
import threading
import time
import unittest

import tap
from exporter_alone import ExporterAlone
from waiting import wait_until

LONG = "POSTLAG_LONG" in os.environ


def expected(wanted):
    """{(metric, label, value): number} of what tool_journal promised."""
    return {
        ("messages_accepted_total", None, None): wanted["messages"],
        ("recipients_accepted_total", None, None): wanted["accepted"],
        ("recipients_added_total", "reason", "unjoined"): wanted["unjoined"],
        ("recipient_outcomes_total", "outcome", "delivered"):
            wanted["delivered"],
        ("recipient_outcomes_total", "outcome", "bounced"): wanted["bounced"],
        ("delivery_attempts_total", None, None): wanted["attempts"],
        ("duplicates_total", None, None): wanted["duplicates"],
        ("unstamped_total", "reason", "no_stamp"): wanted["no_stamp"],
        ("unstamped_total", "reason", "no_message"): wanted["no_message"],
        ("delivery_latency_seconds_count", None, None): wanted["latencies"],
        ("recipients", "state", "in_flight"): 0,
        ("deliveries_waiting", None, None): 0,
        ("forged_stamps_total", None, None): 0,
        ("clock_skew_total", None, None): 0,
    }


class Ingest(unittest.TestCase):
    def assert_totals(self, alone, wanted):
        """Waits until everything was read; then all must be exact."""
        alone.wait_for("postlag_delivery_attempts_total", wanted["attempts"])
        metrics = alone.metrics()
        for (name, label, value), number in expected(wanted).items():
            labels = {label: value} if label else {}
            self.assertEqual(metrics.total(f"postlag_{name}", **labels),
                             number, (name, labels))
        return metrics

    def test_totals_are_exact(self):
        with ExporterAlone() as alone:
            self.assert_totals(alone, alone.load(3000, 3, 3))

    def test_what_was_written_while_it_was_away_is_read(self):
        """Case 38."""
        with ExporterAlone(start=False) as alone:
            wanted = alone.load(20000 if LONG else 4000, 2, 2)
            alone.program.start()
            self.assert_totals(alone, wanted)

    def test_case_30_a_delivery_shows_within_two_seconds(self):
        with ExporterAlone(commit_interval="200ms") as alone:
            alone.message("a", "Q1", "u1@example.test")
            started = time.monotonic()
            alone.delivery("a", "Q1", "u1@example.test=250")
            wait_until(lambda: alone.messages("Q1") and alone.messages("Q1")
                       [0]["recipients"][0]["state"] == "delivered",
                       "the delivery to show")
            self.assertLess(time.monotonic() - started, 2)

    def test_case_29_killed_at_random_it_counts_everything_once(self):
        """I2, I3."""
        rounds, count = (100, 200) if LONG else (12, 150)
        with ExporterAlone(segment_bytes=64 << 10) as alone:
            last = alone.metrics()
            for _ in range(rounds):
                loading = threading.Thread(target=alone.load,
                                           args=(count, 2, 3))
                loading.start()
                time.sleep(random.uniform(0, 0.15))
                alone.program.kill()
                loading.join()
                alone.program.start()
                now = alone.metrics()
                self.assertEqual(self.decreased(now, last), {})
                last = now
            self.assert_totals(alone, alone.load(0))

    def decreased(self, now, earlier):
        live = {"postlag_store_commits_total", "postlag_store_errors_total",
                "postlag_source_events_total"}
        return {key: values
                for key, values in now.decreased_since(earlier).items()
                if key[0] not in live}

    def test_terminated_at_random_it_ends_with_0_and_loses_nothing(self):
        with ExporterAlone() as alone:
            for _ in range(5):
                loading = threading.Thread(target=alone.load,
                                           args=(300, 2, 2))
                loading.start()
                time.sleep(random.uniform(0, 0.1))
                self.assertEqual(alone.program.stop(10), 0)
                loading.join()
                alone.program.start()
            self.assert_totals(alone, alone.load(0))

    def test_what_was_read_is_removed_but_for_the_newest(self):
        with ExporterAlone(segment_bytes=64 << 10) as alone:
            wanted = alone.load(2000, 2, 1)
            self.assert_totals(alone, wanted)
            for source in ("milter", "lmtp"):
                path = os.path.join(alone.journal, source)
                # The writer opens its next segment when it is needed.
                wait_until(lambda: len([name for name in os.listdir(path)
                                        if name.endswith(".journal")]) <= 2,
                           f"{source} to be removed")
            wanted = alone.load(2000, 2, 1)
            self.assert_totals(alone, wanted)

    def test_a_journal_that_appears_later_is_read(self):
        with ExporterAlone() as alone:
            self.assertEqual(os.listdir(alone.journal), [])
            self.assert_totals(alone, alone.load(100))
            os.mkdir(os.path.join(alone.journal, "lmtp2"))
            wait_until(lambda: "source=lmtp2 state=opened"
                       in alone.program.log(), "the new journal to be seen")

    def test_case_74_a_locked_store_loses_nothing_and_says_so(self):
        with ExporterAlone() as alone:
            alone.load(10, 2, 3)
            alone.wait_for("postlag_messages_accepted_total", 10)
            # One of three: what goes to the others is committed meanwhile.
            day = sorted(name for name in os.listdir(alone.store)
                         if re.fullmatch(r"day-\d+\.db", name))[1]
            lock = sqlite3.connect(os.path.join(alone.store, day),
                                   isolation_level=None)
            lock.execute("BEGIN IMMEDIATE")
            wanted = alone.load(200, 2, 3)
            wait_until(lambda: alone.request("/-/ready")[0] == 503,
                       "it to say that it is not ready")
            self.assertEqual(alone.request("/metrics")[0], 200)
            self.assertGreater(
                alone.metrics().value("postlag_store_errors_total"), 0)
            self.assertEqual(alone.messages("nothing"), [])
            lock.execute("ROLLBACK")
            lock.close()
            self.assert_totals(alone, wanted)
            wait_until(lambda: alone.request("/-/ready")[0] == 200,
                       "it to say that it is ready")

    def test_a_full_disk_loses_nothing_and_says_so(self):
        if os.geteuid() != 0:
            self.skipTest("only root can mount a small disk")
        with ExporterAlone(start=False) as alone:
            subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs",
                            alone.store], check=True)
            try:
                self.fill_and_free(alone)
            finally:
                alone.program.kill()
                subprocess.run(["umount", alone.store], check=True)

    def fill_and_free(self, alone):
        filler = os.path.join(alone.store, "filler")
        alone.program.start()
        alone.load(10)
        alone.wait_for("postlag_messages_accepted_total", 10)
        fd = os.open(filler, os.O_WRONLY | os.O_CREAT)
        with self.assertRaises(OSError):
            while True:
                os.write(fd, b"x" * 4096)
        os.close(fd)
        wanted = alone.load(1500)
        wait_until(lambda: alone.request("/-/ready")[0] == 503,
                   "it to say that it is not ready")
        self.assertEqual(alone.request("/metrics")[0], 200)
        os.unlink(filler)
        self.assert_totals(alone, wanted)
        wait_until(lambda: alone.request("/-/ready")[0] == 200,
                   "it to say that it is ready")

    def test_damage_costs_its_record_and_is_counted_once(self):
        with ExporterAlone(start=False) as alone:
            for i in range(50):
                alone.message(f"m{i}", f"Q{i}", "u1@example.test")
            alone.journals.close()
            path = os.path.join(alone.journal, "milter")
            segment = os.path.join(path, [
                name for name in os.listdir(path)
                if name.endswith(".journal")][0])
            with open(segment, "r+b") as file:
                file.seek(os.path.getsize(segment) // 2)
                byte = file.read(1)
                file.seek(-1, os.SEEK_CUR)
                file.write(bytes([byte[0] ^ 0x55]))
            for _ in range(2):
                alone.program.start()
                alone.wait_for("postlag_messages_accepted_total", 49)
                alone.wait_for("postlag_journal_damaged_records_total", 1,
                               source="milter")
                alone.program.stop()
            shutil.rmtree(alone.store)
            os.mkdir(alone.store)
            alone.program.start()
            alone.wait_for("postlag_messages_accepted_total", 49)
            alone.wait_for("postlag_journal_damaged_records_total", 1)

    def test_a_disk_that_fails_for_a_while_costs_nothing(self):
        """And is told once, however often it is tried."""
        with ExporterAlone() as alone:
            alone.message("a", "QA", "u1@example.test")
            alone.wait_for("postlag_messages_accepted_total", 1)
            path = os.path.join(alone.journal, "milter")
            segment = os.path.join(path, [
                name for name in os.listdir(path)
                if name.endswith(".journal")][0])
            calls = os.path.join(alone.directory, "calls")
            tracer = alone.program.trace(
                "-o", calls, "-P", segment, "-e", "inject=pread64:error=EIO")
            alone.message("b", "QB", "u1@example.test")

            def tried():
                with open(calls, encoding="utf-8") as file:
                    return file.read().count("(INJECTED)")
            wait_until(lambda: tried() >= 3, "three attempts")
            self.assertEqual(
                alone.metrics().total("postlag_messages_accepted_total"), 1)
            tracer.terminate()
            alone.wait_for("postlag_messages_accepted_total", 2)
            alone.program.wait_for_log("source=milter reason=read again")
            self.assertEqual(
                alone.program.log().count("Input/output error"), 1)
            self.assertEqual(alone.metrics().total(
                "postlag_journal_damaged_records_total"), 0)

    def test_a_segment_that_cannot_be_read_is_counted_once(self):
        with ExporterAlone() as alone:
            alone.message("m", "Q", "u1@example.test")
            alone.wait_for("postlag_messages_accepted_total", 1)
            number = time.time_ns() // 1000 + 1000000
            os.mkdir(f"{alone.journal}/milter/{number:016x}.journal")
            alone.journals.close()
            for _ in range(2):
                alone.wait_for("postlag_journal_unreadable_segments_total", 1,
                               source="milter")
                alone.program.stop()
                alone.program.start()
            alone.wait_for("postlag_messages_accepted_total", 1)

    def test_a_stamp_that_nobody_knows_is_foreign_after_stamp_wait(self):
        with ExporterAlone(stamp_wait="300ms") as alone:
            alone.delivery("?", "Q1", "u1@example.test=250")
            metrics = alone.wait_for("postlag_unstamped_total", 1,
                                     reason="foreign")
            self.assertEqual(
                metrics.value("postlag_forged_stamps_total"), 1)
            self.assertEqual(
                metrics.value("postlag_deliveries_waiting"), 0)

    def test_case_10_idle_it_takes_no_cpu(self):
        seconds = 60 if LONG else 8
        with ExporterAlone() as alone:
            self.assert_totals(alone, alone.load(200, 2, 2))
            before = alone.program.cpu_seconds()
            time.sleep(seconds)
            self.assertLess(alone.program.cpu_seconds() - before, 0.03)

    def test_case_4_what_is_rare_is_counted_too(self):
        """Of clocks that went wrong, a torn journal, and a damaged file."""
        with ExporterAlone(start=False) as alone:
            alone.journals.tell("strange")
            alone.message("a", "Q1", "u1@example.test")
            alone.journals.close()
            segment, = glob.glob(f"{alone.journal}/milter/*.journal")
            os.truncate(segment, os.path.getsize(segment) - 5)
            day = datetime.datetime.now(datetime.timezone.utc) \
                - datetime.timedelta(1)
            with open(f"{alone.store}/day-{day:%Y%m%d}.db", "wb") as file:
                file.write(b"no database" * 1000)
            alone.program.start()
            alone.wait_for("postlag_recipient_outcomes_total", 1,
                           outcome="delivered")
            alone.wait_for("postlag_journal_torn_records_total", 1)
            metrics = alone.metrics()
            for name in ("clock_skew_total", "odd_messages_total",
                         "recipients_omitted_total", "store_damaged_files"):
                self.assertGreater(metrics.value(f"postlag_{name}"), 0, name)

    def test_it_ends_quickly_when_told_to(self):
        with ExporterAlone(commit_interval="60s") as alone:
            wanted = alone.load(100)
            alone.program.wait_for_log("source=milter state=opened")
            started = time.monotonic()
            self.assertEqual(alone.program.stop(), 0)
            self.assertLess(time.monotonic() - started, 5)
            alone.program.configure(commit_interval="20ms")
            alone.program.start()
            self.assert_totals(alone, wanted)


if LONG:
    class Throughput(unittest.TestCase):
        def test_how_long_a_backlog_takes(self):
            count = 100000
            with ExporterAlone(start=False) as alone:
                wanted = alone.load(count, 1, 1)
                started = time.monotonic()
                alone.program.start()
                alone.wait_for("postlag_delivery_attempts_total",
                               wanted["attempts"])
                took = time.monotonic() - started
                print(f"# {count / took:.0f} messages/s with both events")


tap.main()
