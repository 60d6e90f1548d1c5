# SPDX-License-Identifier: BSD-2-Clause
"""Kill anything (I2, I3, I4): while mail flows, one of the programs is killed
with SIGKILL and started again, round after round. Nothing is lost, nothing is
counted twice, no counter ever decreases."""

import http.client
import os
import random
import threading
import unittest

import tap
from balance import Balance
from stack import Stack
from truth import Truth
from waiting import wait_until

ROUNDS = 200 if os.environ.get("POSTLAG_LONG") else 10
MESSAGES = 300

# Counted since the exporter's start, and say so.
SINCE_START = ("postlag_store_commits_total", "postlag_store_errors_total")


class Scraper(threading.Thread):
    """Looks at /metrics all the time."""

    def __init__(self, stack):
        super().__init__()
        self.stack = stack
        self.stopping = threading.Event()
        self.scrapes = 0
        self.decreases = []

    def run(self):
        last = None
        while not self.stopping.wait(0.05):
            try:
                now = self.stack.metrics()
            except (OSError, http.client.HTTPException):
                continue
            self.scrapes += 1
            if last:
                self.decreases += [
                    item for item in now.decreased_since(last).items()
                    if item[0][0] not in SINCE_START]
            last = now

    def end(self):
        self.stopping.set()
        self.join()


class KillAnything(Balance, unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.seed = int(os.environ.get("POSTLAG_SEED", random.getrandbits(32)))
        print(f"# POSTLAG_SEED={cls.seed}")
        cls.random = random.Random(cls.seed)
        cls.stack = Stack()
        cls.stack.start()
        cls.addClassCleanup(cls.stack.stop)
        cls.truth = Truth(cls.stack)

    def test_rounds(self):
        scraper = Scraper(self.stack)
        scraper.start()
        try:
            for number in range(ROUNDS):
                self.round(number)
        finally:
            scraper.end()
        self.check_everything()
        self.assertEqual(scraper.decreases, [])
        self.assertGreater(scraper.scrapes, ROUNDS)

    def victim(self, number):
        programs = self.stack.programs
        if number < 2 * len(programs):
            return programs[number % len(programs)]
        return self.random.choice(programs)

    def round(self, number):
        recipients = 1 + number % 3
        sender = f"round{number}@client.test"
        before = self.stack.dovecot.count()
        source = self.stack.smtp_source(
            MESSAGES, recipients, sessions=4, keep=number % 2 == 0,
            to=f"r{number}", sender=sender, wait=False)
        arrived = before + self.random.randrange(MESSAGES * recipients * 3 // 4)
        wait_until(lambda: self.stack.dovecot.count() >= arrived,
                   f"mail of round {number}", pause=0.002)
        victim = self.victim(number)
        victim.kill()
        victim.start()
        output, _ = source.communicate(timeout=120)
        self.assertEqual(source.returncode, 0, output)
        self.stack.wait_until_empty(120)
        self.assertEqual(self.truth.read().wrong_copies(
            sender, MESSAGES, recipients), [], victim.name)


tap.main()
