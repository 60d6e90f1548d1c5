# SPDX-License-Identifier: BSD-2-Clause
"""Percentiles over time through the API and `postlag stats`, against what
/metrics and the messages themselves say."""

import json
import os
import subprocess
import unittest
import urllib.parse

import tap
from exporter_alone import ExporterAlone
from programs import program_path

MESSAGES = 40


class Latency(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.alone = ExporterAlone()
        cls.addClassCleanup(cls.alone.__exit__, None)
        for number in range(MESSAGES):
            cls.alone.message(f"m{number}", f"Q{number}", "u@example.test")
            cls.alone.delivery(f"m{number}", f"Q{number}",
                               "u@example.test=250")
        cls.seen = cls.alone.wait_for(
            "postlag_delivery_latency_seconds_count", MESSAGES)
        cls.exact = sorted(message["recipients"][0]["latency_seconds"]
                           for message in cls.alone.all_messages())
        assert len(cls.exact) == MESSAGES

    def ask(self, wanted=200, **arguments):
        status, headers, body = self.alone.request(
            "/api/v1/latency?" + urllib.parse.urlencode(arguments))
        self.assertEqual(status, wanted, body)
        self.assertEqual(headers["Content-Type"], "application/json")
        return json.loads(body)

    def assert_near(self, ours, exact):
        self.assertLessEqual(abs(ours - exact), 0.0111 * exact + 1e-9)

    def check(self, latency):
        self.assertEqual(latency["count"], MESSAGES)
        self.assertAlmostEqual(
            latency["sum"], self.seen.total(
                "postlag_delivery_latency_seconds_sum"), 6)
        for name, share in (("p50", 50), ("p90", 90), ("p95", 95),
                            ("p99", 99)):
            rank = -(-share * MESSAGES // 100)
            self.assert_near(latency[name], self.exact[rank - 1])
        self.assertGreaterEqual(latency["max"], self.exact[-1] - 1e-6)

    def test_percentiles_are_those_of_the_messages(self):
        self.check(self.ask()["whole"])
        self.check(self.ask(since="3d", step="1h")["whole"])

    def test_the_points_are_the_whole(self):
        answer = self.ask(since="2h", step="1m", cells="1")
        self.assertEqual(answer["step"], 60)
        self.assertIn(len(answer["points"]), (120, 121))
        self.assertEqual(sum(p["count"] for p in answer["points"]), MESSAGES)
        self.assertEqual(
            sum(count for point in answer["points"]
                for _, count in point.get("cells", [])), MESSAGES)
        empty = next(p for p in answer["points"] if p["count"] == 0)
        self.assertIsNone(empty["p50"])

    def test_phases_and_routes(self):
        self.assertEqual(self.ask(phase="queue")["whole"]["count"], MESSAGES)
        counts = {route: self.ask(route=route)["whole"]["count"]
                  for route in ("inbound", "internal", "outbound", "transit")}
        self.assertEqual(sum(counts.values()), MESSAGES)
        for route, count in counts.items():
            self.assertEqual(
                count, self.seen.value("postlag_delivery_latency_seconds_count",
                                       route=route))

    def test_hosts_and_providers(self):
        self.check(self.ask(host="mx.test")["whole"])
        self.check(self.ask(provider="Example.TEST")["whole"])
        self.check(self.ask(provider="example.test", host="mx.test",
                            since="3d")["whole"])
        self.assertEqual(
            self.ask(host="mx.test", phase="queue")["whole"]["count"],
            MESSAGES)
        for arguments in ({"host": "mx"}, {"provider": "example.org"},
                          {"relay": "mx.test"}, {"provider": "other"}):
            self.assertEqual(self.ask(**arguments)["whole"]["count"], 0)

    def labels(self, alone, kind):
        status, _, body = alone.request(f"/api/v1/labels?by={kind}")
        self.assertEqual(status, 200, body)
        return json.loads(body)

    def test_the_labels_are_those_that_have_latencies(self):
        for kind, labels in (("host", ["mx.test"]), ("relay", []),
                             ("provider", ["example.test"])):
            self.assertEqual(self.labels(self.alone, kind),
                             {"labels": labels})

    def test_of_very_many_labels_the_first_are_listed(self):
        """Of a day there are 64, of ten days more than fit"""
        with ExporterAlone(start=False) as alone:
            alone.program.settings["store"]["queue_lifetime"] = "20d"
            alone.program.start()
            self.assertEqual(self.labels(alone, "provider"), {"labels": []})
            alone.journals.tell("strangers", 600, 10)
            alone.wait_for("postlag_delivery_latency_seconds_count", 600)
            found = self.labels(alone, "provider")
            self.assertEqual(found, {"more": True, "labels": sorted(
                f"host{number}.example.org" for number in range(600))[:500]})

    def test_what_cannot_be_answered_is_refused(self):
        for arguments in ({"phase": "x"}, {"route": "x"}, {"since": "x"},
                          {"until": "x"}, {"step": "x"}, {"step": "30s"},
                          {"since": "1h", "until": "2h"},
                          {"since": "30d", "step": "1m"},
                          {"phase": "queue", "route": "inbound"},
                          {"phase": "queue", "relay": "x"},
                          {"relay": "x", "step": "5m"},
                          {"relay": "x", "provider": "y"}):
            self.assertIn("error", self.ask(wanted=400, **arguments),
                          arguments)

    def test_outcomes_are_those_of_a_search(self):
        for arguments in ({}, {"since": "3d", "step": "1h"},
                          {"since": "2h", "step": "1m"}):
            status, _, body = self.alone.request(
                "/api/v1/outcomes?" + urllib.parse.urlencode(arguments))
            self.assertEqual(status, 200, body)
            answer = json.loads(body)
            for part in ([answer["whole"]], answer["points"]):
                self.assertEqual(sum(p["delivered"] for p in part), MESSAGES)
            self.assertEqual(sum(count for state, count
                                 in answer["whole"].items()
                                 if state != "start"), MESSAGES)

    def stats(self, *arguments):
        return subprocess.run(
            [program_path("postlag"), "stats", "--store", self.alone.store,
             *arguments], capture_output=True, text=True, check=False,
            env={**os.environ, "LC_ALL": "C.UTF-8"})

    def test_the_summary_is_that_of_the_metrics(self):
        _, _, body = self.alone.request("/api/v1/summary")
        said = json.loads(body)
        self.assertTrue(said["ready"])
        self.assertEqual(said["loss_detection"], "off")
        self.assertEqual(said["messages"],
                         {"accepted": MESSAGES, "in_flight": 0})
        self.assertIsNone(said["oldest_in_flight"])
        for state, count in said["recipients"].items():
            self.assertEqual(count, self.seen.value("postlag_recipients",
                                                    state=state), state)
        self.assertEqual(said["recipients"]["delivered"], MESSAGES)
        for route, latency in said["latency_since_ever"].items():
            for name in ("count", "sum"):
                self.assertAlmostEqual(latency[name], self.seen.value(
                    f"postlag_delivery_latency_seconds_{name}", route=route),
                    6)

    def test_the_command_line_says_the_same(self):
        for since in ((), ("--since", "3d"), ("--since", "90d")):
            done = self.stats("--json", *since)
            self.assertEqual(done.returncode, 0, done.stderr)
            rows = json.loads(done.stdout)["latencies"]
            routes = [row["latency"] for row in rows if "route" in row]
            self.assertEqual(len(routes), 4)
            self.check(next(row for row in routes if row["count"] > 0))
        done = self.stats()
        self.assertRegex(done.stdout, r"(?m)^queue +40( +[\d.]+ \S+){5}$")
        self.assertRegex(done.stdout, r"(?m)^deliveries +count +p50")

    def test_the_command_line_says_whose(self):
        for kind, name in (("host", "mx.test"), ("provider", "example.test")):
            done = self.stats("--by", kind, "--json")
            rows = json.loads(done.stdout)["latencies"]
            self.assertEqual([row[kind] for row in rows], [name])
            self.check(rows[0]["latency"])
            self.assertRegex(self.stats("--by", kind).stdout,
                             rf"(?m)^{name} +40( +[\d.]+ \S+){{5}}$")
        self.assertIn("nothing was delivered",
                      self.stats("--by", "relay").stdout)
        self.assertEqual(self.stats("--by", "x").returncode, 2)

    def test_an_empty_period_says_so(self):
        done = self.stats("--since", "20d", "--before", "10d")
        self.assertIn("nothing was delivered", done.stdout)
        self.assertEqual(self.stats("--before", "2d").returncode, 2)
        self.assertEqual(self.stats("a").returncode, 2)
        self.assertEqual(self.stats("--limit", "x").returncode, 2)


tap.main()
