# SPDX-License-Identifier: BSD-2-Clause
"""Forged stamps through a real Postfix: never believed, counted, and with the
milter up only ours reaches the mailbox, once (case 61)."""

import tap
from mail_system import Listener
from milter_case import FORGED, STAMP, stamps
from milter_stack import MilterStack, MilterStackCase
from stack import MILTER


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

    def test_while_the_milter_is_away_a_forged_stamp_stays(self):
        """The mailbox then shows it; that nobody believes it is the join's
        business."""
        self.stack.milter.stop()
        with self.stack.client() as client:
            client.command("EHLO client.example.test", 2)
            client.message(content=content(header(FORGED)))
            client.quit()
        mail = self.mails(1)[0]
        self.assertEqual(stamps(mail.message().items()), [FORGED])
        self.stack.milter.start()
        self.events(0)


if __name__ == "__main__":
    tap.main()
