# SPDX-License-Identifier: BSD-2-Clause
"""Forged stamps through a real Postfix: never believed, counted, and with the
milter up only ours reaches the mailbox, once (case 61)."""

import unittest

import tap
from mail_system import Listener
from milter_case import FORGED, STAMP
from milter_stack import MilterStack, MilterStackCase
from smtp_client import SmtpClient
from stack import MILTER, Stack
from waiting import wait_until


def header(value, name=STAMP):
    return f"{name}: {value}\n".replace("\n", "\r\n")


FORGERIES = {
    "one": header(FORGED),
    "three": header(FORGED) + "X-Other: y\r\n" + header("x", STAMP.lower())
             + header(FORGED, STAMP.upper()),
    "oversized": header("\n".join([" " + "x" * 900] * 60)),
    "folded oddly": header("\n \n\t " + FORGED.replace(" ", "\n \t \n ")),
    "1970": header(FORGED.replace("2026-11-30", "1970-01-01")),
    "2100": header(FORGED.replace("2026", "2100")),
    "empty": header(""),
    "eight-bit": header("\xe4\xf6\xfc"),
    "hundred": header("x") * 100,
}


def content(stamp_headers):
    return f"Subject: forged\r\n{stamp_headers}\r\nhello\r\n"


class FromStrangers(MilterStackCase):
    """Loopback, where all tests come from, is no trusted re-injector here."""

    options = {"settings": {"milter": {"trusted_reinjectors": ""}}}

    @classmethod
    def make_stack(cls):
        return MilterStack([Listener("plain")], **cls.options)

    def send(self, text, **more):
        with self.stack.client() as client:
            client.command("EHLO client.example.test", 2)
            self.assertEqual(client.message(content=text, **more)[0], 250)
            client.quit()

    def test_only_ours_reaches_the_mailbox(self):
        for name, forged in FORGERIES.items():
            with self.subTest(forgery=name):
                self.setUp()
                self.send(content(forged))
                event, mail = self.events(1)[0], self.mails(1)[0]
                self.assert_stamped(mail, event)
                lines = forged.lower().split("\r\n")
                self.assertEqual(
                    event["forged_stamps"],
                    sum(line.startswith("x-perf-sent:") for line in lines))
                self.assertEqual(event["previous"], "")
                self.assertEqual(mail.message()["X-Other"],
                                 "y" if name == "three" else None)

    def test_a_genuine_stamp_copied_from_another_message(self):
        self.send(content(""))
        first = self.events(1)[0]
        genuine = self.mails(1)[0].message()[STAMP]
        self.send(content(header(genuine)))
        event = self.events(2)[1]
        self.assertEqual(event["forged_stamps"], 1)
        self.assertEqual(event["previous"], "")
        self.assertNotEqual(event["id"], first["id"])
        mail = next(m for m in self.mails(2)
                    if event["id"].encode() in m.bytes())
        self.assert_stamped(mail, event)


class FromTrusted(MilterStackCase):
    """Case 26: what a content filter hands back keeps its link."""

    @classmethod
    def make_stack(cls):
        return MilterStack([
            Listener("plain"), Listener("bare", {"smtpd_milters": ""}),
            Listener("again", {"smtpd_milters": MILTER})])

    def test_the_id_of_the_first_leg_is_kept(self):
        with self.stack.client() as client:
            client.command("EHLO client.example.test", 2)
            client.message(content=content(""))
            client.quit()
        first = self.events(1)[0]
        leg = self.mails(1)[0].bytes().decode("latin-1")
        with self.stack.client("again") as client:
            client.command("EHLO filter.example.test", 2)
            client.message(content=leg.replace("\n", "\r\n"))
            client.quit()
        second = self.events(2)[1]
        self.assertEqual(second["previous"], first["id"])
        self.assertEqual(second["forged_stamps"], 0)
        mail = next(m for m in self.mails(2)
                    if second["id"].encode() in m.bytes())
        self.assert_stamped(mail, second)


class WhileTheMilterIsAway(unittest.TestCase):
    """Forged stamps then reach the mailbox and the hook; the join believes
    none."""

    FORGERIES = {
        **FORGERIES,
        # One that nothing in it gives away but that we never made it.
        "without a queue id": header(FORGED.replace("4fXyz", "")),
    }

    @staticmethod
    def count(forged):
        return sum(line.lower().startswith("x-perf-sent:")
                   for line in forged.split("\r\n"))

    def setUp(self):
        self.stack = Stack(settings={"exporter": {"stamp_wait": "500ms"}})
        self.stack.start()
        self.addCleanup(self.stack.stop)

    def send(self, text, recipient="u1@example.test"):
        with SmtpClient(self.stack.address()) as client:
            client.command("EHLO client.example.test", 2)
            reply = client.message(recipients=[recipient], content=text)
            self.assertEqual(reply[0], 250)
            client.quit()

    def seen(self, name, **labels):
        return self.stack.metrics().total(name, **labels)

    def test_none_is_believed_and_all_are_counted(self):
        self.send(content(""), "genuine@example.test")
        self.stack.wait_until_delivered(1)
        self.stack.wait_until_stored(1, 1)
        genuine = self.stack.mailboxes()[0].message()[STAMP]
        self.stack.milter.stop()
        forgeries = {**self.FORGERIES, "copied": header(genuine),
                     "copied, another queue id":
                         header(genuine.split("q=")[0] + "q=4fXyz")}
        for forged in forgeries.values():
            self.send(content(forged))
        self.stack.wait_until_delivered(1 + len(forgeries))
        expected = sum(self.count(forged) for forged in forgeries.values())
        wait_until(lambda: self.seen("postlag_forged_stamps_total")
                   >= expected, "the count of all forged stamps")
        self.assertEqual(self.seen("postlag_forged_stamps_total"), expected)
        self.assertEqual(self.seen("postlag_unstamped_total"),
                         len(forgeries))
        # All that was believed is the one genuine message, once.
        self.assertEqual(self.seen("postlag_messages_accepted_total"), 1)
        self.assertEqual(
            self.seen("postlag_delivery_latency_seconds_count"), 1)
        self.assertEqual(self.seen("postlag_recipients_accepted_total"), 1)
        self.assertEqual(self.seen("postlag_recipients_added_total",
                                   reason="unjoined"), len(forgeries))
        self.assertEqual(self.seen("postlag_recipient_outcomes_total",
                                   outcome="delivered"), 1 + len(forgeries))
        self.assertEqual(self.seen("postlag_duplicates_total"), 0)
        queue_id = genuine.split("q=")[1]
        message = self.stack.message(queue_id)["messages"][0]
        self.assertEqual([r["address"] for r in message["recipients"]],
                         ["genuine@example.test"])
        self.assertEqual(len(message["legs"]), 1)


if __name__ == "__main__":
    tap.main()
