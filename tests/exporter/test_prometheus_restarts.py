# SPDX-License-Identifier: BSD-2-Clause
"""What a real Prometheus says of an increase over a restart of the exporter,
over kills in the middle of its work, and over a replay is exactly what was
written meanwhile (issue 5, must show 3; I3).

increase() extrapolates from the first and the last sample in its range to the
ends of the range. Here these samples lie on the ends, which leaves nothing to
extrapolate: a subquery with a step of a second has a sample at each full
second, the ends included. That no reset lies between two of them is seen in the
samples as they were scraped.
"""

import glob
import math
import os
import random
import threading
import time
import unittest
from collections import Counter

import tap
from exporter_alone import ExporterAlone
from prometheus import Prometheus
from scraper import SINCE_START
from waiting import wait_until

LATENCY = "postlag_delivery_latency_seconds"
INBOUND = '{route="inbound"}'
KILLS = 3
SCHEMA = 5
# Nothing of the journals is removed, so that all of it can be read again.
SEGMENT_BYTES = 256 << 20

# All that may only grow.
COUNTED = '{__name__=~"postlag_.*_total|postlag_(delivery_latency|phase)_.*",' \
    f'__name__!~"{"|".join(SINCE_START)}"}}'

# By the words of tool_journal; "" was never written.
WRITTEN = {
    "postlag_messages_accepted_total": "messages",
    "postlag_recipients_accepted_total": "accepted",
    'postlag_recipients_added_total{reason="unjoined"}': "unjoined",
    'postlag_recipient_outcomes_total{outcome="delivered"}': "delivered",
    'postlag_recipient_outcomes_total{outcome="bounced"}': "bounced",
    'postlag_recipient_outcomes_total{outcome="lost"}': "",
    "postlag_delivery_attempts_total": "attempts",
    'postlag_deferrals_total{reason="mailbox"}': "deferrals",
    'postlag_deferrals_total{reason="other"}': "",
    "postlag_duplicates_total": "duplicates",
    'postlag_unstamped_total{reason="no_stamp"}': "no_stamp",
    'postlag_unstamped_total{reason="no_message"}': "no_message",
    "postlag_forged_stamps_total": "",
}


def parts(histogram):
    """{edges: number} of a native histogram in an answer; its count, too."""
    return {"count": float(histogram["count"]),
            **{(float(low), float(high)): float(number) for _, low, high,
               number in histogram.get("buckets", [])}}


class Increases:
    """One exporter, of which two know: a Prometheus with native histograms and
    one without."""

    @classmethod
    def setUpClass(cls):
        cls.alone = ExporterAlone(segment_bytes=SEGMENT_BYTES)
        cls.addClassCleanup(cls.alone.__exit__, None)
        cls.classic = cls.enterClassContext(Prometheus(cls.alone.port))
        cls.native = cls.enterClassContext(
            Prometheus(cls.alone.port, "native-histograms"))
        cls.events = {"milter": 0, "lmtp": 0}
        for prometheus in cls.classic, cls.native:
            prometheus.wait_for("up", 1)
        cls.write(100)

    def settle(self):
        """Waits until everything is in the store and both have asked since;
        returns a second at which they knew it."""
        self.wait_until_stored()
        since = time.time()

        def asked_since(prometheus, second):
            return [float(row["value"][1]) > since for row in prometheus.ask(
                "query", query="timestamp(postlag_build_info)",
                time=second)["result"]] == [True]

        def known():
            second = int(time.time())
            return asked_since(self.classic, second) \
                and asked_since(self.native, second) and second
        return wait_until(known, "both to ask again")

    def increase(self, prometheus, selector):
        """[(labels, number or parts)] between the two seconds."""
        rows = prometheus.ask(
            "query", time=self.last,
            query=f"increase({selector}[{self.last - self.first}s:1s])")
        return [(row["metric"], float(row["value"][1]) if "value" in row
                 else parts(row["histogram"][1])) for row in rows["result"]]

    def check(self, disturb):
        self.first = self.settle()
        before = self.alone.metrics()
        self.begin()
        disturb()
        self.last = self.settle()
        self.check_samples(before, self.alone.metrics())
        self.check_written()
        for prometheus in self.classic, self.native:
            self.check_no_reset(prometheus)

    def check_samples(self, before, after):
        """Of every counter, and every part of every histogram."""
        seen = 0
        for name in sorted({name for name, _ in before.counters()
                            if name not in SINCE_START}):
            for labels, number in self.increase(self.classic, name):
                own = {label: value for label, value in labels.items()
                       if label not in ("job", "instance")}
                self.assertEqual(
                    number, after.value(name, **own)
                    - before.value(name, **own), (name, own))
                seen += 1
        self.assertEqual(seen, sum(name not in SINCE_START
                                   for name, _ in before.counters()))

    def check_no_reset(self, prometheus):
        """In the samples as they were scraped, from those of before on."""
        rows = prometheus.ask(
            "query", time=self.last,
            query=f"{COUNTED}[{self.last - self.first + 10}s]")["result"]
        for row in rows:
            numbers = [{"": float(value)} for _, value
                       in row.get("values", ())] \
                + [parts(histogram) for _, histogram
                   in row.get("histograms", ())]
            self.assertGreater(len(numbers), 1)
            for earlier, later in zip(numbers, numbers[1:]):
                for part, number in earlier.items():
                    self.assertLessEqual(number, later.get(part, -1),
                                         (row["metric"], part))
        names = {row["metric"]["__name__"] for row in rows}
        self.assertIn("postlag_messages_accepted_total", names)
        self.assertIn(f"{LATENCY}_bucket" if prometheus is self.classic
                      else LATENCY, names)

    def test_over_a_restart(self):
        def restart():
            self.write(300)
            self.assertEqual(self.alone.program.stop(), 0)
            self.write(300)
            self.alone.program.start()
        self.check(restart)

    def asked_so_far(self):
        """What the one that has seen less knows."""
        return min(number for prometheus in (self.classic, self.native)
                   for _, number in prometheus.query(
                       "last_over_time(postlag_messages_accepted_total[1m])"))

    def kill(self):
        """When both have seen a part of what is being written."""
        before = self.asked_so_far()
        wait_until(lambda: self.asked_so_far() > before, "both to ask")
        self.alone.program.kill()

    def test_over_kills_while_it_reads(self):
        def write_on():
            while not at_end.wait(0.02):
                self.write(40)

        def be_killed():
            writer = threading.Thread(target=write_on)
            writer.start()
            try:
                for _ in range(KILLS):
                    self.kill()
                    self.alone.program.start()
            finally:
                at_end.set()
                writer.join()
        at_end = threading.Event()
        self.check(be_killed)

    def test_over_a_replay(self):
        """Of all that was ever written: how far it was is lost."""
        def replay():
            self.write(100)
            self.assertEqual(self.alone.program.stop(), 0)
            for path in glob.glob(f"{self.alone.store}/control.db*"):
                os.unlink(path)
            self.write(100)
            self.alone.program.start()
        self.check(replay)
        for source, number in self.events.items():
            self.assertGreaterEqual(self.alone.metrics().value(
                "postlag_source_events_total", source=source), number)


class Counters(Increases, unittest.TestCase):
    """Of mail with every kind of complication."""

    @classmethod
    def write(cls, count):
        cls.wanted = cls.alone.load(count, 2, 3)
        cls.events = {"milter": cls.wanted["messages"],
                      "lmtp": cls.wanted["deliveries"]}

    def wait_until_stored(self):
        self.alone.wait_for("postlag_messages_accepted_total",
                            self.wanted["messages"])
        self.alone.wait_for("postlag_delivery_attempts_total",
                            self.wanted["attempts"])

    def begin(self):
        self.before = self.wanted

    def check_written(self):
        for name, word in WRITTEN.items():
            written = self.wanted.get(word, 0) - self.before.get(word, 0)
            for prometheus in self.classic, self.native:
                self.assertEqual(
                    sum(number for _, number
                        in self.increase(prometheus, name)), written, name)


class Histograms(Increases, unittest.TestCase):
    """Of deliveries that took known times."""

    values_ms = []
    chance = random.Random(3)

    @classmethod
    def write(cls, count):
        values_ms = [int(1000 * cls.chance.lognormvariate(-1, 2)) + 1
                     for _ in range(count)]
        cls.alone.latencies(*values_ms)
        cls.values_ms = cls.values_ms + values_ms
        cls.events = dict.fromkeys(cls.events, len(cls.values_ms))

    def wait_until_stored(self):
        self.alone.wait_for(f"{LATENCY}_count", len(self.values_ms))

    def begin(self):
        self.before = len(self.values_ms)

    def check_written(self):
        seconds = [ms / 1000 for ms in self.values_ms[self.before:]]
        (_, number), = self.increase(self.classic, f"{LATENCY}_count{INBOUND}")
        self.assertEqual(number, len(seconds))
        buckets = self.increase(self.classic, f"{LATENCY}_bucket{INBOUND}")
        self.assertGreater(len(buckets), 10)
        for labels, number in buckets:
            edge = float(labels["le"])
            self.assertEqual(
                number, sum(value <= edge for value in seconds), edge)
        (_, found), = self.increase(self.native, f"{LATENCY}{INBOUND}")
        self.assertEqual(found.pop("count"), len(seconds))
        self.assertEqual(
            {round(math.log2(high) * 2 ** SCHEMA): number
             for (_, high), number in found.items() if number},
            Counter(math.ceil(math.log2(value) * 2 ** SCHEMA)
                    for value in seconds))


tap.main()
