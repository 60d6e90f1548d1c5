# SPDX-License-Identifier: BSD-2-Clause
"""What Dovecot and its Sieve do with mail that it took, by its own log: which
mailbox, discarded, redirected, answered, rejected (cases 34, 35, 37, 45, 50).
"""

import re

import tap
from fate_stack import FateCase
from sieve_stack import SieveStack
from waiting import wait_until

SENDER = "sender@direct.test"


class Filed(FateCase):
    """Without tests of its own: what every way to log must show."""

    def filings(self, queue_id, count):
        """{address: {(action, mailbox or address)}} once there are so many of
        them."""
        def known():
            record = self.record(queue_id)
            found = {recipient["address"]: {
                (filing["action"], filing["mailbox"] or filing["address"])
                for filing in recipient["filings"]}
                for recipient in record["recipients"]} if record else {}
            return sum(map(len, found.values())) == count and found
        return wait_until(known, f"{count} filings of {queue_id}", 30, 0.05)

    def in_mailboxes(self, queue_id):
        """{(address, mailbox)} of the files that hold the message."""
        return {(mail.recipient, mail.mailbox)
                for mail in self.stack.mailboxes()
                if any(f" id {queue_id}\n" in received for received
                       in mail.message().get_all("Received"))}

    def assert_filed(self, queue_id, mailboxes):
        """The API and the files in Maildirs say the same (case 45)."""
        filings = self.filings(queue_id, len(mailboxes))
        self.assertEqual({(address, name) for address in filings
                          for _, name in filings[address]}, mailboxes)
        self.assertEqual(self.in_mailboxes(queue_id), mailboxes)

    def redirected(self, queue_id, domain):
        """The mail that a redirect of this one made."""
        original = self.record(queue_id)

        def copy():
            found = self.stack.message(original["message_id"])
            return [record for record in found["messages"]
                    if record["id"] != original["id"]]
        copies = wait_until(copy, f"a copy of {queue_id}", 30, 0.05)
        self.assertEqual([record["previous"] for record in copies],
                         [original["id"]])
        self.assert_fates(copies[0]["queue_id"],
                          {"other@direct.test": "delivered"})
        self.assertEqual(self.filings(queue_id, 1 + (domain is not None)), {
            f"{'copy' if domain else 'redirect'}@example.test":
            {("forwarded", "other@direct.test")}
            | ({("stored", "INBOX")} if domain else set())})
        return copies[0]


class EveryWay:
    """The tests that each way to log passes."""

    def test_fileinto(self):
        for domain in ("example.test", "direct.test"):
            queue_id = self.send([f"fileinto@{domain}"])
            self.assert_fates(queue_id, {f"fileinto@{domain}": "delivered"})
            self.assert_filed(queue_id, {(f"fileinto@{domain}", "Junk Mail")})
            self.assertEqual(
                self.record(queue_id)["recipients"][0]["mailbox"],
                "Junk Mail")

    def test_discard(self):
        """case 35: not delivered, not lost; with hook and without"""
        for domain in ("example.test", "direct.test"):
            queue_id = self.send([f"discard@{domain}"])
            self.assert_fates(queue_id, {f"discard@{domain}": "discarded"})
            self.assertEqual(self.in_mailboxes(queue_id), set())

    def test_redirect_with_a_copy(self):
        """case 34: two linked legs, the original delivered"""
        queue_id = self.send(["copy@example.test"])
        self.assert_fates(queue_id, {"copy@example.test": "delivered"})
        copy = self.redirected(queue_id, "example.test")
        self.assertEqual(self.in_mailboxes(queue_id),
                         {("copy@example.test", "INBOX"),
                          ("other@direct.test", "INBOX")})
        self.assertEqual(self.in_mailboxes(copy["queue_id"]),
                         {("other@direct.test", "INBOX")})

    def test_one_transaction(self):
        """each recipient its own outcome"""
        names = ("keep", "fileinto", "discard", "plain")
        queue_id = self.send([f"{name}@example.test" for name in names])
        self.assert_fates(queue_id, {
            f"{name}@example.test":
            "discarded" if name == "discard" else "delivered"
            for name in names})
        self.assertEqual(len(self.record(queue_id)["legs"]), 1)
        self.assertEqual(self.filings(queue_id, 4), {
            "keep@example.test": {("stored", "INBOX")},
            "fileinto@example.test": {("stored", "Junk Mail")},
            "plain@example.test": {("stored", "INBOX")},
            "discard@example.test": {("discarded", None)}})


class OwnFile(EveryWay, Filed):
    """log_path names a file of Dovecot's own."""

    @classmethod
    def make_stack(cls):
        return SieveStack()

    def session(self, queue_id):
        """As Postfix logs it."""
        line = self.wait_for_line(f"{queue_id}: to=<", "status=sent")[0]
        return re.search(r"> (\S+) Saved\)", line)[1]

    def test_no_script(self):
        queue_id = self.send(["u1@example.test"])
        self.assert_fates(queue_id, {"u1@example.test": "delivered"})
        self.assert_filed(queue_id, {("u1@example.test", "INBOX")})

    def test_several_mailboxes(self):
        queue_id = self.send(["several@example.test"])
        self.assert_fates(queue_id, {"several@example.test": "delivered"})
        self.assert_filed(queue_id, {("several@example.test", name)
                                     for name in ("A", "B", "INBOX")})
        self.stack.without_file -= 2

    def test_discarded_and_filed(self):
        """Dovecot says that it discards what it files after all"""
        queue_id = self.send(["filed@example.test"])
        self.assert_fates(queue_id, {"filed@example.test": "delivered"})
        self.assertEqual(self.filings(queue_id, 2), {
            "filed@example.test": {("discarded", None), ("stored", "Kept")}})
        self.assertEqual(self.in_mailboxes(queue_id),
                         {("filed@example.test", "Kept")})

    def test_a_discarded_mail_has_its_latency(self):
        """case 35: the LMTP server took it"""
        before = self.stack.metrics().total(
            "postlag_delivery_latency_seconds_count")
        queue_id = self.send(["discard@example.test"])
        record = self.assert_fates(queue_id,
                                   {"discard@example.test": "discarded"})
        self.assertGreater(record["recipients"][0]["latency_seconds"], 0)
        self.assertEqual(self.stack.metrics().total(
            "postlag_delivery_latency_seconds_count"), before + 1)

    def test_redirect(self):
        """without a copy the mail is handed off"""
        queue_id = self.send(["redirect@example.test"])
        self.assert_fates(queue_id, {"redirect@example.test": "handed_off"})
        self.redirected(queue_id, None)

    def test_vacation(self):
        # Only who was addressed answers.
        queue_id = self.send(["vacation@example.test"], sender=SENDER,
                             subject="test\r\nTo: <vacation@example.test>")
        self.assert_fates(queue_id, {"vacation@example.test": "delivered"})
        self.assertEqual(self.filings(queue_id, 2), {
            "vacation@example.test": {("answered", SENDER),
                                      ("stored", "INBOX")}})

    def test_reject(self):
        """the sender is told, as by a bounce"""
        self.stack.without_line += 1
        queue_id = self.send(["reject@example.test"], sender=SENDER)
        self.assert_fates(queue_id, {"reject@example.test": "bounced"})
        self.assertEqual(self.filings(queue_id, 1),
                         {"reject@example.test": {("rejected", SENDER)}})
        self.assertEqual(self.in_mailboxes(queue_id), set())

    def test_over_quota(self):
        """5xx: what Dovecot logs has no session in a reply"""
        queue_id = self.send(["full@example.test", "full@direct.test"],
                             body=("x" * 70 + "\r\n") * 20000)
        record = self.assert_fates(queue_id, {
            "full@example.test": "bounced", "full@direct.test": "bounced"})
        for recipient in record["recipients"]:
            self.assertEqual(recipient["filings"], [])
            self.assertIsNone(recipient["mailbox"])

    def test_found_by_session(self):
        """case 50: API and command line, with hook and without"""
        sessions = {}
        for domain in ("example.test", "direct.test"):
            for number in range(4):
                queue_id = self.send([f"u{number}@{domain}"])
                sessions[self.session(queue_id)] = queue_id
        for session, queue_id in sessions.items():
            record = wait_until(lambda key=session: self.record(key), session,
                                30, 0.05)
            self.assertEqual(record["queue_id"], queue_id)
            shown = self.stack.postlag("show", session).stdout
            self.assertIn(queue_id, shown)
            self.assertIn("stored in INBOX", shown)

    def test_mail_of_others(self):
        """lines that no reply of our Postfix is about are waited for"""
        before = self.stack.metrics().total("postlag_filings_total")
        with open(self.stack.dovecot_log, "a", encoding="ascii") as log:
            log.write("Nov 30 12:00:00 lmtp(u1@other.test)<1><0therS/ssion>: "
                      "Info: msgid=<m@other.test>: saved mail to INBOX\n")
        wait_until(lambda: self.stack.metrics().value(
            "postlag_filings_waiting") > 0, "the line", 30, 0.05)
        self.assertEqual(
            self.stack.metrics().total("postlag_filings_total"), before)
        self.assertIsNone(self.record("0therS/ssion"))

    def test_the_exporter_was_down(self):
        """Dovecot's lines of that time are read, once"""
        before = self.stack.metrics().value("postlag_filings_total",
                                            action="stored")
        self.stack.exporter.kill()
        down = self.send(["fileinto@example.test", "discard@example.test"])
        self.wait_for_line(f"{down}: removed")
        self.stack.exporter.start()
        self.assert_fates(down, {"fileinto@example.test": "delivered",
                                 "discard@example.test": "discarded"})
        self.stack.exporter.kill()
        self.stack.exporter.start()
        queue_id = self.send(["fileinto@example.test"])
        self.assert_fates(queue_id, {"fileinto@example.test": "delivered"})
        self.assert_filed(queue_id, {("fileinto@example.test", "Junk Mail")})
        self.stack.wait_until_shown()
        self.assertEqual(self.stack.metrics().value(
            "postlag_filings_total", action="stored"), before + 2)


class Rfc3339(EveryWay, Filed):
    """log_timestamp in another form."""

    @classmethod
    def make_stack(cls):
        return SieveStack(dovecot_settings='log_timestamp = '
                          '"%Y-%m-%dT%H:%M:%S.%{usecs}%z "\n')


class Syslog(EveryWay, Filed):
    """Dovecot's lines between Postfix's."""

    @classmethod
    def make_stack(cls):
        return SieveStack(syslog=True)


if __name__ == "__main__":
    tap.main()
