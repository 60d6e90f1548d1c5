# SPDX-License-Identifier: BSD-2-Clause
"""`postlag queue`, `postlag lost` and `postlag show` of mail that only Postfix's
log tells of."""

import json
import time
import unittest

import tap
from stack import Stack
from waiting import wait_until

TEXT = "From: <a@client.test>\r\nSubject: test\r\n\r\nhello\r\n"
REFUSED = "[127.0.0.3]"  # nobody listens there


class Queue(unittest.TestCase):
    def setUp(self):
        self.stack = Stack()
        postfix = self.stack.postfix
        self.stack.settings["exporter"].update({
            "maillog": postfix.log_path,
            "maillog_instances": "postfix=" + postfix.settings["myhostname"]})
        self.stack.start()
        self.addCleanup(self.stack.stop)

    def send(self, *recipients):
        with self.stack.smtp() as client:
            client.ehlo()
            client.mail("a@client.test")
            for recipient in recipients:
                client.rcpt(recipient)
            code, reply = client.data(TEXT)
            self.assertEqual(code, 250, reply)
            return reply.decode().split()[-1]

    def queue(self):
        return json.loads(self.stack.postlag("queue", "--json").stdout)

    def wait_for(self, **states):
        wait_until(lambda: {**states} == {
            state: count for state, count
            in self.queue()["total_recipients"].items() if count},
            f"the queue to hold {states}")

    def test_what_postfix_puts_off_or_holds_is_listed(self):
        """Deferred and held recipients, oldest first, with their reasons;
        nothing is lost; what was deleted leaves the queue"""
        first = self.send("u1@example.test", f"x@{REFUSED}")
        second = self.send(f"y@{REFUSED}")
        self.wait_for(deferred=2)
        self.stack.postfix.command("postsuper", "-h", second)
        self.wait_for(deferred=1, held=1)
        found = self.queue()
        self.assertEqual([m["queue_id"] for m in found["messages"]],
                         [first, second])
        done = self.stack.postlag("queue")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        for part in (first, second, f"x@{REFUSED}", "Connection refused"):
            self.assertIn(part, done.stdout)
        self.assertNotIn("u1@example.test", done.stdout)
        shown = self.stack.postlag("show", first).stdout
        self.assertRegex(shown, r"(?m)^recipients  1 deferred, 1 delivered$|"
                                r"^recipients  1 delivered, 1 deferred$")
        self.assertRegex(shown, r"smtp +deferred +4\.4\.1 connect to")
        self.stack.postfix.command("postsuper", "-d", second)
        self.wait_for(deferred=1)
        done = self.stack.postlag("lost", check=False)
        self.assertEqual((done.returncode, done.stdout),
                         (2, "nothing known to be lost\n"))
        self.assertIn("losses are not looked for", done.stderr)

    def oldest_in_flight(self):
        return self.stack.metrics().value(
            "postlag_oldest_in_flight_timestamp_seconds")

    def test_the_oldest_in_flight_is_as_old_as_its_mail_from(self):
        """Deferring it again changes nothing; what is delivered does not
        count (case 72)"""
        began = time.time()
        queue_id = self.send(f"x@{REFUSED}")
        sent = time.time()
        self.wait_for(deferred=1)
        wait_until(self.oldest_in_flight, "a message to be in flight")
        oldest = self.oldest_in_flight()
        self.assertTrue(began <= oldest <= sent, (began, oldest, sent))
        self.send("u1@example.test")
        self.stack.postfix.command("postqueue", "-i", queue_id)
        wait_until(lambda: self.stack.postlag("show", queue_id).stdout.count(
            "Connection refused") >= 2, "a second attempt")
        self.stack.wait_until_stored(2, 1)
        self.assertEqual(self.oldest_in_flight(), oldest)
        self.stack.postfix.command("postsuper", "-d", queue_id)
        wait_until(lambda: self.oldest_in_flight() == 0,
                   "nothing to be in flight")

    def test_mail_that_the_milter_did_not_see_is_shown(self):
        """A message of a listener without the milter, relayed in vain"""
        with self.stack.smtp("bare") as client:
            client.ehlo()
            client.mail("a@client.test")
            client.rcpt(f"z@{REFUSED}")
            code, reply = client.data(TEXT)
            self.assertEqual(code, 250, reply)
        queue_id = reply.decode().split()[-1]
        self.wait_for(deferred=1)
        shown = self.stack.postlag("show", queue_id).stdout
        self.assertIn("not seen by the milter", shown)
        self.assertIn("Connection refused", shown)


tap.main()
