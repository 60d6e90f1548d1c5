# SPDX-License-Identifier: BSD-2-Clause
"""Kill anything (I2, I3, I4): while mail flows, one of the programs is killed
with SIGKILL and started again, round after round. Nothing is lost, nothing is
counted twice, no counter ever decreases."""

import os
import random
import unittest

import tap
from balance import Balance
from scraper import Scraper
from stack import Stack
from truth import Truth
from waiting import wait_until

ROUNDS = 200 if os.environ.get("POSTLAG_LONG") else 10
MESSAGES = 300


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
        with Scraper(self.stack) as scraper:
            for number in range(ROUNDS):
                self.round(number)
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
