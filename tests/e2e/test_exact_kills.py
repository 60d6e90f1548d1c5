# SPDX-License-Identifier: BSD-2-Clause
"""Kills at exact places (I2, I3, I4): between the milter's journal append and
its header, at each of the hook's writes, at each of the exporter's syncs."""

import unittest

import killer
import tap
from balance import Balance
from killer import Killer
from stack import Stack
from truth import Truth
from waiting import wait_until

# More system calls of a kind than handling one message can take.
CALLS_MAX = 60


class ExactKills(Balance, unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if not killer.possible():
            raise unittest.SkipTest("strace may not attach here")
        # No writes but those for the message.
        quiet = {"heartbeat_interval": "1h"}
        cls.stack = Stack(settings={"milter": quiet, "lmtp": quiet})
        cls.stack.start()
        cls.addClassCleanup(cls.stack.stop)
        cls.truth = Truth(cls.stack)

    def send(self, name):
        self.stack.send(f"{name}@client.test", [f"{name}@example.test"])

    def copies(self, name):
        return self.truth.read().from_sender(f"{name}@client.test")


class Milter(ExactKills):
    def kill_at_end_of_message(self, name, call, nth):
        """Sends one message; the milter dies at a call that it makes for its
        content. Returns the copy and the message's rows."""
        milter = self.stack.milter
        with self.stack.smtp() as client:
            client.ehlo()
            client.mail(f"{name}@client.test")
            client.rcpt(f"{name}@example.test")
            client.putcmd("DATA")
            self.assertEqual(client.getreply()[0], 354)
            with Killer(milter, call, nth):
                client.send("Subject: kill\r\n\r\nhello\r\n.\r\n")
                self.assertEqual(client.getreply()[0], 250)
                milter.wait()
        milter.start()
        self.stack.wait_until_empty()
        self.check_everything()
        copies = self.copies(name)
        self.assertEqual(len(copies), 1)
        return copies[0], [row for row in self.stack.rows()
                           if row.recipients[0][0].startswith(name + "@")]

    def test_before_the_append(self):
        copy, rows = self.kill_at_end_of_message("before", "write", 1)
        self.assertEqual(copy.stamps, [])
        self.assertEqual(rows, [])

    def test_between_append_and_header(self):
        """The event is there, the stamp is not: the queue id joins them."""
        copy, rows = self.kill_at_end_of_message("between", "writev", 1)
        self.assertEqual(copy.stamps, [])
        self.assertEqual([row.recipients for row in rows],
                         [[("between@example.test", "delivered")]])

    def test_between_header_and_reply(self):
        """Postfix has the header already, and keeps it."""
        copy, rows = self.kill_at_end_of_message("after", "writev", 2)
        self.assertEqual([row.id for row in rows], [copy.stamp_id])
        self.assertEqual(rows[0].recipients,
                         [("after@example.test", "delivered")])


class Hook(ExactKills):
    def test_at_each_write(self):
        """Before and after the append, before and after each reply."""
        for call in ("write", "writev", "sendto", "sendmsg"):
            kills = 0
            while self.killed_at(f"{call}{kills + 1}", call, kills + 1):
                kills += 1
                self.assertLess(kills, CALLS_MAX)
            print(f"# {kills} kills at {call}")
        self.check_everything()

    def killed_at(self, name, call, nth):
        hook = self.stack.hook
        with Killer(hook, call, nth) as strace:
            self.send(name)
            self.stack.wait_until_empty()
            killed = strace.killed()
        if killed:
            hook.start()
        copies = self.copies(name)
        self.assertGreaterEqual(len(copies), 1)
        self.assertEqual(self.truth.wrong_copies(
            f"{name}@client.test", 1, 1), [])
        return killed


class Exporter(ExactKills):
    def test_at_each_write_and_sync_of_its_commits(self):
        """Between two commits included: files are committed one by one."""
        messages = 0
        for call in ("fdatasync", "fsync", "pwrite64"):
            kills = 0
            while self.killed_at(f"{call}{kills + 1}", call, kills + 1):
                kills += 1
                self.assertLess(kills, CALLS_MAX)
            messages += kills + 1
            print(f"# {kills} kills at {call}")
        self.check_everything()
        metrics = self.stack.metrics()
        self.assertEqual(metrics.value("postlag_messages_accepted_total"),
                         messages)
        self.assertEqual(metrics.value("postlag_recipient_outcomes_total",
                                       outcome="delivered"), messages)

    def killed_at(self, name, call, nth):
        exporter = self.stack.exporter
        self.stack.wait_until_settled()
        before = self.stack.metrics().value("postlag_messages_accepted_total")
        with Killer(exporter, call, nth) as strace:
            self.send(name)
            self.stack.wait_until_empty()
            wait_until(lambda: strace.killed() or self.settled(before + 1),
                       "the exporter to store the message, or to die")
            killed = strace.killed()
        if killed:
            exporter.start()
        self.stack.wait_until_stored(before + 1)
        return killed

    def settled(self, messages):
        """Everything of the message is in the store. The exporter may die
        while it is asked."""
        try:
            seen = self.stack.metrics()
        except OSError:
            return False
        return seen.value("postlag_messages_accepted_total") == messages \
            and seen.value("postlag_recipients", state="in_flight") == 0 \
            and seen.value("postlag_journal_behind_bytes", source="lmtp") == 0


tap.main()
