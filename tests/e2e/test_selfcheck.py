# SPDX-License-Identifier: BSD-2-Clause
"""`postlag selfcheck` sends one message and names the link that is broken
(case 71)."""

import re
import unittest

import tap
from fate_stack import FateStack
from tcp_server import TcpServer

TO = "u1@example.test"


class OneReply(TcpServer):
    def __init__(self, reply):
        self.reply = reply
        super().__init__()

    def serve(self, connection):
        with connection:
            connection.sendall(self.reply)


class Selfcheck(unittest.TestCase):
    def start(self, settings=None, **main_cf):
        stack = FateStack(main_cf=main_cf, settings=settings)
        stack.start()
        self.addCleanup(stack.stop)
        return stack

    def check(self, stack, *arguments, wait="3s"):
        """(exit status, {link: "ok" or "BROKEN"}, output)"""
        host, port = stack.address()
        done = stack.postlag("selfcheck", "--smtp", f"{host}:{port}",
                             "--wait", wait, *(arguments or [TO]),
                             check=False)
        links = dict(re.findall(r"(?m)^(\w+) +(ok|BROKEN): ", done.stdout))
        return done.returncode, links, done.stdout + done.stderr

    def assert_broken(self, stack, broken, words):
        status, links, text = self.check(stack)
        self.assertEqual(status, 1, text)
        self.assertEqual([link for link, said in links.items()
                          if said == "BROKEN"], [broken], text)
        self.assertIn(words, text)

    def test_all_is_well(self):
        """And the message is found by the queue id that it tells"""
        stack = self.start()
        status, links, text = self.check(stack, wait="60s")
        self.assertEqual((status, links), (0, dict.fromkeys(
            ["postfix", "exporter", "milter", "hook", "join"], "ok")), text)
        queue_id = re.search(r"took the message as (\w+)", text)[1]
        shown = stack.postlag("show", queue_id).stdout
        self.assertIn(f"from        <{TO}>", shown)
        self.assertIn("1 delivered", shown)

    def test_the_sender_may_be_another(self):
        stack = self.start()
        status, _, text = self.check(stack, "--from", "me@direct.test", TO,
                                     wait="60s")
        self.assertEqual(status, 0, text)
        queue_id = re.search(r"took the message as (\w+)", text)[1]
        self.assertIn("from        <me@direct.test>",
                      stack.postlag("show", queue_id).stdout)

    def test_the_milter_is_named(self):
        stack = self.start()
        stack.milter.kill()
        self.assert_broken(stack, "milter", "smtpd_milters")

    def test_the_hook_is_named(self):
        stack = self.start()
        stack.hook.kill()
        self.assert_broken(stack, "hook", "delivered the message past it")

    def test_the_exporter_is_named(self):
        """Of the others nothing is said then"""
        stack = self.start()
        stack.exporter.kill()
        self.assert_broken(stack, "exporter", "not known while the exporter")

    def test_what_is_not_joined_is_named(self):
        """Where the stamp is taken out, and the hook says that it is of
        another Postfix"""
        stack = self.start(
            {"lmtp": {"instance": "other.test"}},
            milter_header_checks="regexp:{ {/^X-Perf-Sent:/ IGNORE} }")
        self.assert_broken(stack, "join", "does the header reach the hook")

    def test_postfix_is_named(self):
        stack = self.start(smtpd_sender_restrictions="check_sender_access"
                           " inline:{ bad@direct.test=REJECT }")
        status, links, text = self.check(stack, "--from", "bad@direct.test",
                                         TO)
        self.assertEqual((status, links), (1, {"postfix": "BROKEN"}), text)
        self.assertIn("Access denied", text)
        stack.postfix.kill()
        status, links, text = self.check(stack)
        self.assertEqual((status, links), (1, {"postfix": "BROKEN"}), text)
        self.assertIn("Connection refused", text)

    def test_replies_that_are_none_are_told(self):
        """One of several lines is one; half a line, garbage, too much and an
        end are not"""
        stack = self.start()
        for said, told in ((b"421-mx of\r\n421 4.3.2 Busy\r\n", "421-mx"),
                           (b"421 4.3.2 Bu\x1bsy\r\n", "421 4.3.2 Bu?sy"),
                           (b"hello\r\n", "hello"), (b"220 mx", "no whole"),
                           (b"220-" + b"x" * 9000, "no whole"),
                           (b"", "no whole")):
            with OneReply(said) as server:
                done = stack.postlag("selfcheck", "--smtp",
                                     f"127.0.0.1:{server.port}", TO,
                                     check=False)
            self.assertEqual(done.returncode, 1, done)
            self.assertRegex(done.stdout, r"\Apostfix +BROKEN: .*\n\Z")
            self.assertIn(told, done.stdout)

    def test_what_cannot_be_an_address_is_misuse(self):
        stack = self.start()
        for wrong in "nobody", "a b@example.test", "a@b\r\nDATA":
            status, links, text = self.check(stack, wrong)
            self.assertEqual((status, links), (2, {}), text)


tap.main()
