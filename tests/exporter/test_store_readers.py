# SPDX-License-Identifier: BSD-2-Clause
"""Whoever asks while an address is forgotten and days are purged gets an
answer, and always the same sums (I3)."""

import json
import os
import subprocess
import threading
import time
import unittest

import tap
from exporter_alone import ExporterAlone
from programs import program_path
from waiting import wait_until

DAY = 86400
DAYS = 5
MESSAGES = 20000 if os.environ.get("POSTLAG_LONG") else 1500
FORGOTTEN = "u7.0@example.test"
READERS = 3


class Readers:
    """Ask for the same all the time, each on its own."""

    def __init__(self, alone, path, seen):
        self.alone, self.path, self.seen = alone, path, seen
        self.answers, self.wrong = [], []
        self.stopping = threading.Event()
        self.threads = [threading.Thread(target=self._run)
                        for _ in range(READERS)]

    def _run(self):
        while not self.stopping.is_set():
            try:
                status, _, body = self.alone.request(self.path)
            except OSError:
                continue  # it is started again
            if status == 200 and b'"incomplete"' not in body:
                self.answers.append(self.seen(json.loads(body)))
            else:
                self.wrong.append((status, body[-300:]))

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.stopping.set()
        for thread in self.threads:
            thread.join()


class Asked(unittest.TestCase):
    def setUp(self):
        # Not over midnight, which would make one day more.
        wait_until(lambda: time.time() % DAY < DAY - 120, "the next day", 180)
        self.alone = ExporterAlone(start=False)
        self.addCleanup(self.alone.__exit__, None)
        self.alone.program.settings["operator"] = {
            "journal": self.alone.journal}
        wanted = self.alone.load(MESSAGES, 2, DAYS)
        self.alone.program.start()
        self.alone.wait_for("postlag_delivery_attempts_total",
                            wanted["attempts"], timeout=300)
        self.delivered = wanted["delivered"]

    def check(self, readers, wanted):
        self.assertEqual(readers.wrong[:3], [])
        self.assertGreater(len(readers.answers), READERS)
        self.assertIn(wanted, readers.answers)
        for answer in readers.answers:
            self.assertEqual(answer, wanted)
        self.assertEqual(
            self.alone.metrics().value("postlag_recipient_outcomes_total",
                                       outcome="delivered"), self.delivered)

    def test_while_an_address_is_forgotten_messages_are_found(self):
        path = "/api/v1/messages?q=status:bounced&limit=20"

        def identities(page):
            return [message["id"] for message in page["messages"]]

        def seen(page):
            """One that takes long is handed out as far as it is."""
            found = identities(page)
            return found + wanted[len(found):]
        pages = []
        wait_until(lambda: pages.append(identities(json.loads(
            self.alone.request(path)[2]))) or len(pages[-1]) == 20, "a page")
        wanted = pages[-1]
        os.mkdir(f"{self.alone.journal}/operator")
        with Readers(self.alone, path, seen) as readers:
            subprocess.run([program_path("postlag"), "forget", "-c",
                            self.alone.program.config, "--yes", FORGOTTEN],
                           check=True, capture_output=True)
            self.alone.program.wait_for_log("operation=forget messages=")
        self.check(readers, wanted)

    def test_case_8_while_days_are_purged_latencies_stay(self):
        since = time.strftime("%Y-%m-%d",
                              time.gmtime(time.time() - (DAYS + 2) * DAY))
        path = f"/api/v1/latency?since={since}&step=1h"

        def count(answer):
            return answer["whole"]["count"]
        wanted = count(json.loads(self.alone.request(path)[2]))
        self.assertGreater(wanted, MESSAGES)
        self.alone.program.stop()
        self.alone.program.settings["store"].update(
            queue_lifetime="0", retention="1d")
        with Readers(self.alone, path, count) as readers:
            self.alone.program.start()
            self.alone.wait_for("postlag_store_purges_total", DAYS - 2)
            wait_until(lambda: self.alone.metrics().value(
                "postlag_store_files") == 2, "the purge")
        self.check(readers, wanted)


tap.main()
