# SPDX-License-Identifier: BSD-2-Clause
"""SIGTERM under load does what it should, and doing nothing costs nothing."""

import os
import time
import unittest

import tap
from stack import Stack
from truth import Truth
from waiting import wait_until

LONG = bool(os.environ.get("POSTLAG_LONG"))
IDLE_SECONDS = 60 if LONG else 5
CPU_SECONDS = 0.1
MESSAGES = 1000 if LONG else 400


def cpu_seconds(programs):
    return sum(program.cpu_seconds() for program in programs)


class Idle(unittest.TestCase):
    def test_idle_costs_no_cpu(self):
        """All three together use less than 0.1 s (case 10)."""
        settings = {"milter": {"heartbeat_interval": "10s"},
                    "lmtp": {"heartbeat_interval": "10s"}}
        with Stack(settings=settings) as stack:
            stack.send("a@client.test", ["u@example.test"])
            stack.wait_until_stored(1, 1)
            # Postfix keeps a connection to the hook for a moment.
            stack.wait_for_log("removed")
            before = self.wait_until_still(stack.programs)
            time.sleep(IDLE_SECONDS)
            used = cpu_seconds(stack.programs) - before
            self.assertLess(used, CPU_SECONDS)

    @staticmethod
    def wait_until_still(programs):
        """Until none used the CPU for a second; what they had used then."""
        seen = [cpu_seconds(programs)]

        def still():
            seen.append(cpu_seconds(programs))
            return seen[-1] == seen[-2]
        wait_until(still, "the programs to stand still", pause=1)
        return seen[-1]


class Stop(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.stack = Stack()
        cls.stack.start()
        cls.addClassCleanup(cls.stack.stop)
        cls.truth = Truth(cls.stack)

    def stop_under_load(self, program, name, afterwards=lambda: None):
        """Ends the program while mail flows, does something, and starts it
        again; returns the copies that arrived."""
        sender = f"{name}@client.test"
        before = self.stack.dovecot.count()
        source = self.stack.smtp_source(MESSAGES, 2, sessions=4, keep=True,
                                        to=name, sender=sender, wait=False)
        wait_until(lambda: self.stack.dovecot.count() > before + MESSAGES // 4,
                   "the load to arrive", pause=0.005)
        self.assertEqual(program.stop(), 0)
        afterwards()
        program.start()
        output, _ = source.communicate(timeout=120)
        self.assertEqual(source.returncode, 0, output)
        self.stack.wait_until_empty(120)
        self.stack.wait_until_settled()
        self.truth.read()
        self.assertEqual(self.truth.wrong_copies(sender, MESSAGES, 2), [])
        return self.truth.from_sender(sender)

    def test_milter(self):
        """Sessions open at that moment go on, unstamped and counted; every
        stamped message has its event (I2)."""
        with self.stack.smtp() as client:
            client.ehlo()
            client.mail("open@client.test")
            client.rcpt("open@example.test")
            copies = self.stop_under_load(
                self.stack.milter, "milter",
                lambda: self.assertEqual(client.data("\r\nx\r\n")[0], 250))
        rows = {row.id for row in self.stack.rows()}
        self.assertLessEqual({copy.stamp_id for copy in copies} - {None}, rows)
        self.stack.wait_until_empty()
        copy, = self.truth.read().from_sender("open@client.test")
        self.assertEqual(copy.stamps, [])
        self.assertGreater(self.stack.metrics().value(
            "postlag_milter_unstamped_total", reason="stopped"), 0)

    def test_hook(self):
        """It waits for the replies to what was sent to the end, so that
        nothing arrives twice (I4)."""
        copies = self.stop_under_load(self.stack.hook, "hook")
        self.assertEqual(len(copies), MESSAGES * 2)

    def test_exporter(self):
        before = self.stack.metrics().value(
            "postlag_recipient_outcomes_total", outcome="delivered")
        self.stop_under_load(self.stack.exporter, "exporter")
        after = self.stack.metrics().value(
            "postlag_recipient_outcomes_total", outcome="delivered")
        self.assertEqual(after - before, MESSAGES * 2)


tap.main()
