# SPDX-License-Identifier: BSD-2-Clause
"""Hostile mail through real Postfix and Dovecot: what lies in the mailbox is
the same through the hook and past it (must-show 7, I4)."""

import random
import unittest

import tap
from hook import Hook
from lmtp_client import stuff
from mail_system import HOOK_HOST, MailSystem
from waiting import free_port, wait_until

# With these, Postfix adds nothing but what stands in front of them.
HEADER = b"Date: Mon, 30 Nov 2026 07:47:42 +0000\r\n" \
         b"Message-ID: <bytes@client.test>\r\nFrom: <s@client.test>\r\n" \
         b"To: <r@client.test>\r\n"

MESSAGES = {
    "ordinary": HEADER + b"\r\nhello\r\n",
    "empty body": HEADER,
    "empty": b"",
    "no header": b"\r\nhello\r\n",
    "leading dots": HEADER + b"\r\n.\r\n..\r\n.a\r\n...\r\n.\r\n",
    "line of 1 MB": HEADER + b"\r\n" + b"x" * (1 << 20) + b"\r\n",
    "line of 1 MB of dots": HEADER + b"\r\n" + b"." * (1 << 20) + b"\r\n",
    "NUL": HEADER + b"\r\na\0b\0\r\n\0\r\n",
    "bare CR": HEADER + b"\r\na\rb\r\r\n\r.\r\r\nc\r\n",
    "bare LF": HEADER + b"\r\na\nb\n\n.c\n..\nd\r\n",
    "8-bit": HEADER + b"\r\n" + bytes(range(128, 256)) * 100 + b"\r\n",
    "header of 90 KB": HEADER + b"X-Long: " + b"y" * 90000 + b"\r\n\r\nz\r\n",
    "header of 1 MB": HEADER + b"X-Many: y\r\n" * 100000 + b"\r\nz\r\n",
    "5 MB": HEADER + b"\r\n" + b"\r\n".join(
        random.Random(1).randbytes(57).hex().encode()
        for _ in range(43000)) + b"\r\n",
}


class HookBytes(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        port = free_port(HOOK_HOST)
        cls.mail = MailSystem(hook_port=port, main_cf={
            "message_size_limit": "20000000"})
        cls.addClassCleanup(cls.mail.stop)
        cls.mail.start()
        cls.hook = Hook(f"inet:127.0.0.1:{cls.mail.dovecot.port}",
                        host=HOOK_HOST, host_name="mx.example.test",
                        listen=f"inet:{HOOK_HOST}:{port}")
        cls.addClassCleanup(cls.hook.__exit__, None, None, None)
        cls.hook.start()

    def send(self, recipient, content):
        with self.mail.smtp() as client:
            client.ehlo()
            client.docmd("MAIL", "FROM:<s@client.test> BODY=8BITMIME")
            client.docmd("RCPT", f"TO:<{recipient}>")
            client.docmd("DATA")
            client.sock.sendall(stuff(content))
            code, text = client.getreply()
            self.assertEqual(code, 250, text)

    def arrived(self, recipient):
        """What is in the recipient's mailbox, from our first header on."""
        def found():
            return [mail for mail in self.mail.mailboxes()
                    if mail.recipient == recipient]
        mail, = wait_until(found, f"mail for {recipient}")
        content = mail.bytes()
        ours = content.find(b"\nDate: Mon, 30 Nov 2026 07:47:42")
        return content[ours:] if ours >= 0 else content.partition(b"\n\n")[2]

    def test_same_in_the_mailbox(self):
        """7: hostile mail through Postfix and Dovecot, with and without"""
        for number, (name, message) in enumerate(MESSAGES.items()):
            with self.subTest(name):
                for domain in ("example.test", "direct.test"):
                    self.send(f"u{number}@{domain}", message)
                hooked = self.arrived(f"u{number}@example.test")
                direct = self.arrived(f"u{number}@direct.test")
                self.assertTrue(hooked == direct, "not the same")
        relays = self.mail.log_lines("to=<u", f"relay={HOOK_HOST}",
                                     "status=sent")
        self.assertEqual(len(relays), len(MESSAGES))

    def test_queue_id_is_postfixs(self):
        """the recorded queue id is Postfix's own, whatever the sender wrote"""
        forged = b"Received: from x (x [192.0.2.1])\r\n" \
                 b"\tby mx.example.test (Postfix) with ESMTP id FORGED;\r\n" \
                 b"\tMon, 30 Nov 2026 07:47:42 +0000\r\n"
        self.send("forged@example.test", forged + HEADER + b"\r\nx\r\n")
        line, = wait_until(
            lambda: self.mail.log_lines("to=<forged@example.test>"), "a line")
        delivery, = [d for d in self.hook.deliveries()
                     if d["recipients"][0]["address"] == "forged@example.test"]
        self.assertIn(f" {delivery['queue_id']}: ", line)
        self.assertEqual(delivery["ident"], delivery["queue_id"])

    def test_local_mail(self):
        """mail by sendmail has no XFORWARD IDENT but a queue id"""
        self.mail.postfix.sendmail("Subject: x\n\nhello\n", "-f",
                                   "s@client.test", "local@example.test")
        line, = wait_until(
            lambda: self.mail.log_lines("to=<local@example.test>"), "a line")
        delivery, = [d for d in self.hook.deliveries()
                     if d["recipients"][0]["address"] == "local@example.test"]
        self.assertIn(f" {delivery['queue_id']}: ", line)
        self.assertEqual(delivery["ident"], "")

    def test_address_probe(self):
        """sendmail -bv makes a transaction without DATA, which is recorded"""
        self.mail.postfix.sendmail("", "-bv", "-f", "s@client.test",
                                   "probe@example.test")
        wait_until(lambda: self.mail.log_lines("to=<probe@example.test>",
                                               "status=deliverable"), "a probe")
        delivery, = wait_until(
            lambda: [d for d in self.hook.deliveries() if d["recipients"] and
                     d["recipients"][0]["address"] == "probe@example.test"],
            "the record of the probe")
        self.assertIsNone(delivery["recipients"][0]["final"] or None)


if __name__ == "__main__":
    tap.main()
