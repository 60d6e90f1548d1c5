# SPDX-License-Identifier: BSD-2-Clause
"""Whatever was delivered is found, soon, by each of its names, and is what
mailboxes hold; whatever was refused is counted and never accepted."""

import os
import smtplib
import time

import tap
from fate_stack import FateCase
from mail_system import Listener
from truth import Copy

# Seconds; sanitizers and their company are slow.
SOON = 2 if "release" in os.environ.get("POSTLAG_BUILD", "release") else 20


class Found(FateCase):
    def test_delivered_is_known_soon(self):
        """Case 30: within two seconds of the 250 of the LMTP server"""
        for address in ("u1@example.test", "u1@direct.test"):
            queue_id = self.send([address])
            self.assert_fates(queue_id, {address: "delivered"})
            passed = time.time() - max(
                mail.saved_us for mail in self.stack.mailboxes()) / 1e6
            self.assertLess(passed, SOON)

    def test_delivered_set_is_what_mailboxes_hold(self):
        """Case 45: by queue id and recipient, with hook and without"""
        queue_ids = [self.send([f"a{n}@example.test", f"b{n}@direct.test",
                                "all@example.test"]) for n in range(10)]
        wanted = set()
        for number, queue_id in enumerate(queue_ids):
            fates = {f"a{number}@example.test": "delivered",
                     f"b{number}@direct.test": "delivered",
                     "all@example.test": "delivered"}
            self.assert_fates(queue_id, fates)
            wanted |= {(queue_id, address) for address in fates}
        copies = [Copy(mail) for mail in self.stack.mailboxes()]
        held = [(copy.queue_id, copy.recipient) for copy in copies
                if copy.queue_id in queue_ids]
        self.assertEqual(sorted(held), sorted(wanted))

    def test_found_by_each_of_its_names(self):
        """Case 50: id, queue id, Message-ID, with brackets and without"""
        code, text = self.stack.submit(
            "sender@direct.test", ["u1@example.test"],
            "Message-ID: <found@client.test>\r\n\r\nx\r\n")
        self.assertEqual(code, 250, text)
        record = self.assert_fates(text.split()[-1],
                                   {"u1@example.test": "delivered"})
        for key in (record["id"], "<found@client.test>", "found@client.test"):
            self.assertEqual(self.record(key)["id"], record["id"])

    def test_message_ids_of_every_kind(self):
        """Case 36: none, empty, twice the same, very long: each is a message
        """
        headers = ["", "Message-ID: <>\r\n", "Message-ID:\r\n",
                   "Message-ID: <same@client.test>\r\n",
                   "Message-ID: <same@client.test>\r\n",
                   f"Message-ID: <{'x' * 900}@client.test>\r\n"]
        replies = [self.stack.submit("sender@direct.test",
                                     ["u1@example.test", "u2@direct.test"],
                                     f"{header}Subject: x\r\n\r\nx\r\n")
                   for header in headers]
        found = set()
        for _, text in replies:
            record = self.assert_fates(text.split()[-1], {
                "u1@example.test": "delivered", "u2@direct.test": "delivered"})
            found.add(record["id"])
        self.assertEqual(len(found), len(headers))

    def test_in_the_queue_longer_than_a_loss_takes(self):
        """Case 33: deferred as long as one likes is not lost; then delivered
        """
        self.stack.dovecot.stop()
        queue_id = self.send(["late@example.test", "late@direct.test"])
        self.assert_fates(queue_id, {"late@example.test": "deferred",
                                     "late@direct.test": "deferred"})
        self.assert_never_lost(queue_id, 5)
        self.stack.dovecot.start()
        self.stack.wait_until_empty()
        self.assert_fates(queue_id, {"late@example.test": "delivered",
                                     "late@direct.test": "delivered"})
        self.assertEqual(self.stack.metrics().value(
            "postlag_recipients_recovered_total"), 0)


class Refused(FateCase):
    """Case 40: each stage by a listener of its own."""

    checks = {"connect": "smtpd_client_restrictions",
              "helo": "smtpd_helo_restrictions",
              "mail": "smtpd_sender_restrictions",
              "rcpt": "smtpd_recipient_restrictions",
              "data": "smtpd_data_restrictions",
              "end": "smtpd_end_of_data_restrictions"}
    listeners = [Listener(name, {"smtpd_delay_reject": "no", option: "reject"})
                 for name, option in checks.items()]

    def test_refused_at_each_stage(self):
        """Counted, never accepted, never lost"""
        for name in self.checks:
            with self.subTest(stage=name):
                self.assertNotEqual(self.try_to_send(name), 250)
        self.assert_eventually(lambda _: self.counted())
        seen = self.stack.metrics()
        for name in ("messages_accepted", "recipients_accepted",
                     "recipients_added", "recipients_lost"):
            self.assertEqual(seen.total(f"postlag_{name}_total"), 0, name)

    def try_to_send(self, listener):
        """The first reply that is not good."""
        try:
            client = self.stack.smtp(listener)
        except smtplib.SMTPConnectError as error:
            return error.smtp_code
        with client:
            for command in (lambda: client.ehlo(),
                            lambda: client.mail("s@direct.test"),
                            lambda: client.rcpt("u1@example.test"),
                            lambda: client.data("Subject: x\r\n\r\nx\r\n")):
                try:
                    code, _ = command()
                except OSError as error:
                    code = getattr(error, "smtp_code", 0)
                if code != 250:
                    return code
        return 250

    def counted(self):
        """By how far the milter saw it come: a refused MAIL FROM not even as
        that, a client refused at once not at all."""
        seen = self.stack.metrics()
        aborts = {phase: seen.value("postlag_smtp_aborts_total", phase=phase)
                  for phase in ("connect", "helo", "mail", "rcpt", "data")}
        return aborts == {"connect": 1, "helo": 1, "mail": 0, "rcpt": 2,
                          "data": 1} \
            and seen.value("postlag_smtp_rejects_total", phase="rcpt",
                           **{"class": "5"}) == 1


if __name__ == "__main__":
    tap.main()
