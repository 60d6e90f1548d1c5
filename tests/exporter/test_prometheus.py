# SPDX-License-Identifier: BSD-2-Clause
"""A real Prometheus reads what the exporter says, in every way it can."""

import math
import random
import subprocess
import time
import unittest

import tap
from exporter_alone import ExporterAlone
from prometheus import Prometheus
from scraper import SINCE_START
from waiting import PATIENCE

MESSAGES = 400
STRANGERS = 20000
LATENCY = "postlag_delivery_latency_seconds"
INBOUND = '{route="inbound"}'
QUANTILES = (0.1, 0.5, 0.9, 0.95, 0.99, 1)


def exact_quantile(values, q):
    return values[max(math.ceil(q * len(values)), 1) - 1]


class RealPrometheus(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.alone = ExporterAlone()
        cls.addClassCleanup(cls.alone.__exit__, None)
        cls.classic = cls.enterClassContext(
            Prometheus(cls.alone.port, "exemplar-storage"))
        cls.native = cls.enterClassContext(
            Prometheus(cls.alone.port, "exemplar-storage",
                       "native-histograms"))
        chance = random.Random(5)
        cls.latencies_ms = [int(1000 * chance.lognormvariate(-1, 2)) + 1
                            for _ in range(MESSAGES)]
        cls.ids = cls.alone.latencies(*cls.latencies_ms)
        cls.values = sorted(ms / 1000 for ms in cls.latencies_ms)
        cls.alone.wait_for(f"{LATENCY}_count", MESSAGES)
        cls.classic.wait_for(f"{LATENCY}_count{INBOUND}", MESSAGES)
        cls.native.wait_for(f"histogram_count({LATENCY}{INBOUND})", MESSAGES)

    def bucket_of(self, value):
        """Its bounds by what /metrics says."""
        below = 0
        for (name, labels), _ in self.alone.metrics().samples.items():
            edge = dict(labels).get("le")
            if name == f"{LATENCY}_bucket" and edge:
                if value <= float(edge):
                    return below, float(edge)
                below = float(edge)
        return None

    def test_it_is_up(self):
        for prometheus in self.classic, self.native:
            self.assertEqual([up for _, up in prometheus.query("up")], [1])

    def test_all_samples_are_those_of_the_text(self):
        """Case 70. But for those that a scrape ago were others."""
        seen = self.alone.metrics()
        for prometheus in self.classic, self.native:
            answer = prometheus.query('{__name__=~"postlag_.*_total"}')
            self.assertTrue(answer)
            for labels, value in answer:
                own = {name: text for name, text in labels.items()
                       if name not in ("__name__", "job", "instance")}
                if labels["__name__"] not in SINCE_START:
                    self.assertEqual(
                        value, seen.value(labels["__name__"], **own), labels)

    def test_native_quantiles_are_near_the_exact_ones(self):
        for q in QUANTILES:
            (_, answer), = self.native.query(
                f"histogram_quantile({q}, {LATENCY}{INBOUND})")
            ratio = answer / exact_quantile(self.values, q)
            self.assertLessEqual(abs(math.log2(ratio)), 1 / 32, q)

    def test_native_sums_are_exact(self):
        (_, answer), = self.native.query(f"histogram_sum({LATENCY}{INBOUND})")
        self.assertAlmostEqual(answer, sum(self.values), 6)

    def test_empty_histograms_are_native_too(self):
        counts = self.native.query(f"histogram_count({LATENCY})")
        self.assertEqual(sorted(labels["route"] for labels, _ in counts),
                         ["inbound", "internal", "outbound", "transit"])
        self.assertEqual(sum(count for _, count in counts), MESSAGES)
        self.assertEqual(self.native.query(f"{LATENCY}_count"), [])

    def test_classic_quantiles_lie_in_the_bucket_of_the_exact_ones(self):
        """Case 72."""
        for q in QUANTILES:
            (_, answer), = self.classic.query(
                f"histogram_quantile({q}, {LATENCY}_bucket{INBOUND})")
            below, edge = self.bucket_of(exact_quantile(self.values, q))
            self.assertLessEqual(below, answer, q)
            self.assertLessEqual(answer, edge, q)

    def exemplars(self, prometheus, name):
        data = prometheus.ask("query_exemplars", query=name + INBOUND,
                              start=time.time() - 3600,
                              end=time.time() + 86400)
        return [exemplar for series in data
                for exemplar in series["exemplars"]]

    def check_exemplars(self, exemplars):
        """Each leads to the message that took so long."""
        self.assertTrue(exemplars)
        known = dict(zip(self.ids, self.latencies_ms))
        for exemplar in exemplars:
            message_id = exemplar["labels"]["trace_id"]
            value = float(exemplar["value"])
            self.assertEqual(value, known[message_id] / 1000)
            message, = self.alone.messages(message_id)
            self.assertEqual(message["recipients"][0]["latency_seconds"],
                             value)

    def test_exemplars_lead_from_slow_buckets_to_their_messages(self):
        exemplars = self.exemplars(self.classic, f"{LATENCY}_bucket")
        self.check_exemplars(exemplars)
        used = {self.bucket_of(value) for value in self.values}
        self.assertEqual({self.bucket_of(float(exemplar["value"]))
                          for exemplar in exemplars}, used)
        self.check_exemplars(self.exemplars(self.native, LATENCY))

    def test_promtool_finds_nothing_to_say(self):
        _, _, body = self.alone.request("/metrics")
        done = subprocess.run(
            ["promtool", "check", "metrics"], input=body, check=False,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.assertEqual((done.returncode, done.stdout), (0, b""))


class LabelSets(unittest.TestCase):
    def test_no_sender_makes_a_label_set(self):
        """Labels are bounded, whoever writes mail (case 14, I8)."""
        with ExporterAlone() as alone:
            before = alone.metrics()
            alone.journals.tell("strangers", STRANGERS)
            # Many for an exporter under a sanitizer.
            after = alone.wait_for("postlag_recipient_outcomes_total",
                                   STRANGERS, timeout=3 * PATIENCE,
                                   outcome="delivered")
            self.assertEqual(set(before.samples), set(after.samples))


tap.main()
