# SPDX-License-Identifier: BSD-2-Clause
"""A private mail system with the milter alone: mail goes from Postfix past the
absent hook to Dovecot."""

import unittest

from journal import Journal
from milter_case import STAMP, VALUE
from smtp_client import SmtpClient
from stack import Stack


class MilterStack(Stack):
    def __init__(self, listeners=None, **more):
        super().__init__(listeners, **more)
        self.programs = [self.milter]
        self.journal = Journal(self.journals, "milter")

    def client(self, listener=None):
        return SmtpClient(self.address(listener))


class MilterStackCase(unittest.TestCase):
    """All tests of a class share one stack."""

    listeners = None
    options = {}

    @classmethod
    def setUpClass(cls):
        cls.stack = cls.make_stack().start()
        cls.addClassCleanup(cls.stack.stop)

    @classmethod
    def make_stack(cls):
        return MilterStack(cls.listeners, **cls.options)

    def setUp(self):
        self.known = len(self.stack.journal.messages())
        self.delivered = self.stack.dovecot.count()

    def events(self, count):
        """The test's own message events, exactly so many."""
        return self.stack.journal.wait_for_messages(
            self.known + count)[self.known:]

    def mails(self, count):
        """The test's own mailbox files, exactly so many, oldest first."""
        self.stack.wait_until_delivered(self.delivered + count)
        return self.stack.mailboxes()[self.delivered:]

    def assert_stamped(self, mail, event):
        """The delivered file has the stamp of this event and no other."""
        raw = mail.bytes()
        values = mail.message().get_all(STAMP) or []
        self.assertEqual(len(values), 1, raw)
        match = VALUE.fullmatch(values[0])
        self.assertTrue(match, values)
        self.assertEqual(match.groups(), (event["id"], event["queue_id"]))
        self.assertNotIn(b"\r", raw)
        for line in f"{STAMP}: {values[0]}".expandtabs(8).split("\n"):
            self.assertLessEqual(len(line), 78)
