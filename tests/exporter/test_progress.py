# SPDX-License-Identifier: BSD-2-Clause
"""How far the exporter is behind after it was away, on /metrics, in the API
and for those who watch."""

import json
import os
import subprocess
import time
import unittest

import tap
from exporter_alone import ExporterAlone
from openapi import Schema, document
from programs import program_path
from waiting import PATIENCE, wait_until

MESSAGES = 8000


class Progress(unittest.TestCase):
    def setUp(self):
        # A commit for each event, so that it takes its time.
        self.alone = ExporterAlone(start=False, commit_events=1)
        self.addCleanup(self.alone.__exit__, None)
        self.wanted = self.alone.load(MESSAGES)

    def summary(self):
        status, _, body = self.alone.request("/api/v1/summary")
        self.assertEqual(status, 200)
        answer = json.loads(body)
        self.assertEqual(list(Schema(document()).faults(
            {"$ref": "#/components/schemas/Summary"}, answer, "summary")), [])
        return answer

    def journal_bytes(self):
        return sum(
            os.path.getsize(os.path.join(self.alone.journal, source, name))
            for source in ("milter", "lmtp")
            for name in os.listdir(os.path.join(self.alone.journal, source)))

    def check_behind(self, behind):
        sources = behind["sources"]
        self.assertEqual(sorted(sources), ["lmtp", "milter"])
        self.assertLess(sum(one["bytes"] for one in sources.values()),
                        self.journal_bytes())
        for source in sources.values():
            self.assertGreater(source["events"], MESSAGES / 100)
            self.assertLess(source["events"], MESSAGES * 2)
        metrics = self.alone.metrics()
        self.assertNotEqual(metrics.total("postlag_catch_up_seconds"), 0)
        for source in sources:
            for name in ("journal_behind_bytes", "behind_events",
                         "source_events_total"):
                self.assertGreater(
                    metrics.total(f"postlag_{name}", source=source), 0, name)

    def start_watching(self):
        errors = open(os.path.join(self.alone.directory, "errors"), "w+",
                      encoding="utf-8")
        self.addCleanup(errors.close)
        watching = subprocess.Popen(
            [program_path("postlag"), "watch", "--store", self.alone.store,
             "status:lost"], stderr=errors)
        self.addCleanup(watching.wait, PATIENCE)
        self.addCleanup(watching.terminate)
        return errors.name

    def test_what_is_behind_shows_until_it_has_caught_up(self):
        def said():
            with open(errors, encoding="utf-8") as file:
                return file.read()
        errors = self.start_watching()
        self.alone.program.start()
        behind = wait_until(lambda: self.summary()["behind"], "to be behind")
        self.check_behind(behind)
        wait_until(lambda: self.summary()["behind"]["seconds_left"],
                   "an estimate")
        wait_until(lambda: "the exporter catches up: milter " in said(),
                   "who watches to be told")
        self.assertRegex(said(), r"[kM]B to read, about \d+ events, \d+ a second")
        self.alone.program.kill()
        del self.alone.program.settings["exporter"]["commit_events"]
        self.alone.program.start()
        self.alone.wait_for("postlag_delivery_attempts_total",
                            self.wanted["attempts"])
        wait_until(lambda: self.summary()["behind"] is None, "none")
        wait_until(lambda: "the exporter has caught up" in said(),
                   "who watches to be told")
        metrics = self.alone.metrics()
        for name in ("behind_events", "journal_behind_bytes",
                     "catch_up_seconds"):
            self.assertEqual(metrics.total(f"postlag_{name}"), 0, name)


class Steady(unittest.TestCase):
    def test_who_reads_all_that_comes_is_not_behind(self):
        """Each batch is full before the end was seen, for longer than what
        passes for keeping up"""
        alone = self.enterContext(ExporterAlone(commit_events=1))
        started, number = time.monotonic(), 0
        while time.monotonic() - started < 3:
            number += 1
            alone.message(f"m{number}", f"Q{number}", "u@example.test")
            alone.wait_for("postlag_messages_accepted_total", number)
        wait_until(lambda: alone.metrics().value("postlag_catch_up_seconds")
                   == 0, "it to have caught up", 20)


tap.main()
