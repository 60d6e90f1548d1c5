# SPDX-License-Identifier: BSD-2-Clause
"""SMTP sessions of every kind through a real Postfix: own stamps, own header
once, the right ending, nothing left over from the message before."""

import base64
import unittest

import tap
from mail_system import Listener
from milter_stack import MilterStack, MilterStackCase
from smtp_client import SmtpClient
from stack import Stack
from waiting import wait_until

VERBS = ["CONNECT", "EHLO", "MAIL", "RCPT", "DATA"]

HEADERLESS = ["", "\r\nno header\r\n", "no header, no empty line\r\n"]


def play(client, last):
    """The commands of a message up to and including `last`."""
    commands = {"EHLO": "EHLO client.example.test",
                "MAIL": "MAIL FROM:<first@client.test> SIZE=1000",
                "RCPT": "RCPT TO:<first@direct.test>",
                "DATA": "DATA"}
    for verb in VERBS[1:VERBS.index(last) + 1]:
        code, text = client.command(commands[verb])
        assert code in (250, 354), (verb, code, text)


class Sessions(MilterStackCase):
    listeners = [
        Listener("plain"), Listener("v6", host="::1"),
        Listener("login", sasl=True, options={
            "smtpd_client_restrictions": "permit_sasl_authenticated, reject"}),
        Listener("proxy", {"smtpd_authorized_xclient_hosts": "127.0.0.1"}),
        Listener("checked", {
            "smtpd_recipient_restrictions":
                "check_recipient_access inline:{ { bad@direct.test ="
                " 550 5.7.1 not this one } }, permit_mynetworks, reject"})]

    def connect(self, listener=None, helo="client.example.test"):
        client = self.stack.client(listener)
        client.command(f"EHLO {helo}", 2)
        return client

    def test_three_messages_in_one_session(self):
        """Case 53."""
        client = self.connect()
        for number in range(3):
            reply = client.message(
                f"s{number}@client.test", [f"r{number}@direct.test"],
                f"Message-ID: <{number}@client.test>\r\n\r\nx\r\n")
            self.assertEqual(reply[0], 250)
        client.quit()
        events, mails = self.events(3), self.mails(3)
        by_recipient = {mail.recipient: mail for mail in mails}
        for number, event in enumerate(events):
            self.assertEqual(event["sender"], f"s{number}@client.test")
            self.assertEqual(event["sequence"], number + 1)
            self.assertEqual(event["session"], events[0]["session"])
            self.assertEqual(event["message_id"], f"<{number}@client.test>")
            self.assertEqual([r["address"] for r in event["recipients"]],
                             [f"r{number}@direct.test"])
            self.assert_stamped(by_recipient[f"r{number}@direct.test"],
                                event)

    def test_reset_after_each_verb(self):
        """Case 53."""
        for last in VERBS[:-1]:
            with self.subTest(after=last):
                self.setUp()
                client = self.stack.client()
                play(client, last)
                client.command("RSET", 2)
                if last == "CONNECT":
                    client.command("EHLO client.example.test", 2)
                reply = client.message("second@client.test",
                                       ["second@direct.test"])
                self.assertEqual(reply[0], 250)
                client.quit()
                aborted = last in ("MAIL", "RCPT")
                events = self.events(1 + aborted)
                if aborted:
                    self.assertEqual(events[0]["ending"], "aborted")
                    self.assertEqual(events[0]["phase"], last.lower())
                    self.assertEqual(events[0]["declared_bytes"], 1000)
                event = events[-1]
                self.assertEqual(event["ending"], "accepted")
                self.assertEqual(event["sequence"], 1 + aborted)
                self.assertEqual(event["declared_bytes"], 0)
                self.assertEqual([r["address"] for r in event["recipients"]],
                                 ["second@direct.test"])
                self.assert_stamped(self.mails(1)[0], event)

    def test_disconnect_after_each_verb(self):
        for last in ("MAIL", "RCPT", "DATA"):
            with self.subTest(after=last):
                self.setUp()
                client = self.stack.client()
                play(client, last)
                client.close()
                event = self.events(1)[0]
                self.assertIn(event["ending"], ("aborted", "closed"))
                self.assertEqual(event["phase"], last.lower())
                self.assertGreater(event["end_at"]["wall_ns"],
                                   event["mail_at"]["wall_ns"])

    def test_disconnect_before_mail_from_is_counted(self):
        before = self.stack.journal.counters()
        for last in ("CONNECT", "EHLO"):
            client = self.stack.client()
            play(client, last)
            client.close()

        def counted():
            now = self.stack.journal.counters()
            return all(now[name] > before[name]
                       for name in ("aborts_connect", "aborts_helo"))
        wait_until(counted, "the counts of both sessions")
        self.events(0)

    def test_disconnect_within_the_content(self):
        client = self.stack.client()
        play(client, "DATA")
        client.write("Subject: never ends\r\n\r\n")
        client.close()
        event = self.events(1)[0]
        self.assertIn(event["ending"], ("aborted", "closed"))
        self.assertEqual(event["phase"], "data")

    def test_login_is_recorded(self):
        client = self.connect("login")
        token = base64.b64encode(b"\0user@example.test\0secret").decode()
        self.assertEqual(client.command(f"AUTH PLAIN {token}")[0], 235)
        self.assertEqual(client.message()[0], 250)
        client.quit()
        event = self.events(1)[0]
        self.assertEqual(event["sasl_method"].upper(), "PLAIN")
        self.assertEqual(event["sasl_user"], "user@example.test")
        self.assertEqual(event["daemon_name"], "login")
        self.assert_stamped(self.mails(1)[0], event)

    def test_ipv6(self):
        """Case 55."""
        client = self.connect("v6")
        self.assertEqual(client.message()[0], 250)
        port = client.socket.getsockname()[1]
        client.quit()
        event = self.events(1)[0]
        self.assertEqual(event["client_address"], "::1")
        self.assertEqual(event["client_port"], port)
        self.assert_stamped(self.mails(1)[0], event)

    def proxied(self, attributes):
        """A session whose client is somebody else."""
        client = self.connect("proxy", "proxy.example.test")
        code, text = client.command(f"XCLIENT {attributes}")
        self.assertEqual(code, 220, text)
        client.command("EHLO behind.example.test", 2)
        return client

    def test_clients_behind_a_proxy(self):
        """Case 55."""
        for attributes, name, address, port in (
                ("NAME=a.example.test ADDR=192.0.2.7 PORT=4711",
                 "a.example.test", "192.0.2.7", 4711),
                ("NAME=b.example.test ADDR=IPV6:2001:db8::7 PORT=4712",
                 "b.example.test", "2001:db8::7", 4712),
                ("NAME=[UNAVAILABLE] ADDR=192.0.2.8 PORT=1",
                 "unknown", "192.0.2.8", 1)):
            with self.subTest(attributes=attributes):
                self.setUp()
                client = self.proxied(attributes)
                self.assertEqual(client.message()[0], 250)
                client.quit()
                event = self.events(1)[0]
                self.assertEqual(event["client_name"], name)
                self.assertEqual(event["client_address"], address)
                self.assertEqual(event["client_port"], port)
                self.assertEqual(event["helo"], "behind.example.test")
                self.assert_stamped(self.mails(1)[0], event)

    def test_without_the_client_s_address_mail_passes_unstamped(self):
        """I1. Postfix then writes "unknown" where the milter protocol has an
        IPv4 address, and libmilter hangs up before it calls anybody."""
        client = self.proxied("NAME=[UNAVAILABLE] ADDR=[UNAVAILABLE]")
        self.assertEqual(client.message()[0], 250)
        client.quit()
        self.assertNotIn(b"X-Perf-Sent", self.mails(1)[0].bytes())
        self.events(0)

    def test_refused_recipients(self):
        """Case 40."""
        client = self.connect("checked")
        client.command("MAIL FROM:<sender@client.test>", 2)
        client.command("RCPT TO:<good@direct.test>", 2)
        client.command("RCPT TO:<bad@direct.test>", 5)
        client.command("DATA", 3)
        self.assertEqual(client.content("Subject: x\r\n\r\nx\r\n")[0], 250)
        client.command("MAIL FROM:<sender@client.test>", 2)
        client.command("RCPT TO:<bad@direct.test>", 5)
        client.quit()
        accepted, refused = self.events(2)
        self.assertEqual([r["rejected"] for r in accepted["recipients"]],
                         [False, True])
        for recipient in (accepted["recipients"][1],
                          refused["recipients"][0]):
            self.assertEqual(recipient["address"], "bad@direct.test")
            self.assertEqual(recipient["reject_dsn"], "5.7.1")
            self.assertIn("not this one", recipient["reject_text"])
        self.assertEqual(refused["ending"], "aborted")
        self.assertEqual(refused["phase"], "rcpt")
        self.assert_stamped(self.mails(1)[0], accepted)

    def test_a_thousand_recipients(self):
        names = [f"many{n}@direct.test" for n in range(1000)]
        client = self.connect()
        self.assertEqual(client.message(recipients=names)[0], 250)
        client.quit()
        event = self.events(1)[0]
        self.assertEqual([r["address"] for r in event["recipients"]], names)
        mails = self.mails(1000)
        self.assert_stamped(mails[0], event)
        self.assert_stamped(mails[-1], event)

    def test_mail_by_sendmail(self):
        """Case 55."""
        self.stack.postfix.sendmail(
            "Subject: local\n\nhello\n", "-f", "root@client.test",
            "local@direct.test")
        event = self.events(1)[0]
        self.assertEqual(event["sender"], "root@client.test")
        self.assertEqual([r["address"] for r in event["recipients"]],
                         ["local@direct.test"])
        self.assertEqual(event["client_name"], "localhost")
        self.assertEqual(event["client_port"], 0)
        self.assertEqual(event["ending"], "accepted")
        self.assert_stamped(self.mails(1)[0], event)

    def test_messages_without_a_header_are_not_held_up(self):
        """I1: from abroad, where Postfix adds no header of its own."""
        for content in HEADERLESS:
            with self.subTest(content=content):
                self.setUp()
                client = self.proxied("ADDR=192.0.2.9 NAME=x.example.test")
                self.assertEqual(client.message(content=content)[0], 250)
                moment = client.moments["CONTENT"]
                client.quit()
                event = self.events(1)[0]
                # content_timeout is 5 s.
                self.assertLess(moment.after[1] - moment.before[1], 4e9)
                self.assert_stamped(self.mails(1)[0], event)

    def test_a_huge_header_passes(self):
        client = self.connect()
        lines = "".join(f" {n:060}\r\n" for n in range(1400))
        reply = client.message(content=f"X-Huge:\r\n{lines}\r\nx\r\n")
        self.assertEqual(reply[0], 250)
        client.quit()
        self.assert_stamped(self.mails(1)[0], self.events(1)[0])

    def test_null_sender_and_odd_addresses(self):
        client = self.connect()
        self.assertEqual(client.message("", ['"a b"@direct.test'])[0], 250)
        client.quit()
        event = self.events(1)[0]
        self.assertEqual(event["sender"], "<>")
        self.assertEqual(event["recipients"][0]["address"],
                         '"a b"@direct.test')


class OtherPostfix(MilterStackCase):
    """header_checks that drop Received, another mail_name, queue files opened
    early, short queue ids."""

    options = {"main_cf": {
        "mail_name": "Another Mailer",
        "smtpd_delay_open_until_valid_rcpt": "no",
        "enable_long_queue_ids": "no"}}

    @classmethod
    def make_stack(cls):
        stack = MilterStack([Listener("plain")], **cls.options)
        checks = stack.path("header_checks")
        with open(checks, "w", encoding="ascii") as out:
            out.write("/^Received:/ IGNORE\n/^Subject: discard/ DISCARD\n")
        stack.postfix.settings["header_checks"] = f"regexp:{checks}"
        return stack

    def test_messages_are_stamped_all_the_same(self):
        with self.stack.client() as client:
            client.command("EHLO client.example.test", 2)
            for _ in range(2):
                reply = client.message(
                    content="Received: from a by b (Postfix) id ABCDEF;\r\n"
                            "Subject: x\r\n\r\nx\r\n")
                self.assertEqual(reply[0], 250)
            client.quit()
        events = self.events(2)
        mails = self.mails(2)
        self.assertEqual({m.message()["X-Perf-Sent"].split("q=")[1]
                          for m in mails}, {e["queue_id"] for e in events})
        for event in events:
            mail = next(m for m in mails if event["id"].encode() in m.bytes())
            self.assert_stamped(mail, event)

    def test_discarded_mail_ends_early_for_us(self):
        with self.stack.client() as client:
            client.command("EHLO client.example.test", 2)
            reply = client.message(content="Subject: discard\r\n\r\nx\r\n")
            self.assertEqual(reply[0], 250)
            client.quit()
        event = self.events(1)[0]
        self.assertEqual(event["ending"], "aborted")
        self.assertTrue(event["queue_id"])


class WholePath(unittest.TestCase):
    """The same sessions joined with their deliveries, where Received is gone
    and mail_name is another: nothing is mixed up, nothing unstamped."""

    @classmethod
    def setUpClass(cls):
        cls.stack = Stack([Listener("plain"), Listener("login", sasl=True),
                           Listener("v6", host="::1")],
                          main_cf={"mail_name": "Another Mailer"})
        checks = cls.stack.path("header_checks")
        with open(checks, "w", encoding="ascii") as out:
            out.write("/^Received:.*mx.example.test/ IGNORE\n")
        cls.stack.postfix.settings["header_checks"] = f"regexp:{checks}"
        cls.stack.start()
        cls.addClassCleanup(cls.stack.stop)

    def submit(self, client, name, count=1, foreign=False):
        """One message to `count` recipients of its own; its queue id."""
        text = f"Subject: {name}\r\n\r\nx\r\n"
        if foreign:
            text = "Received: from a by other.example.test (Postfix)" \
                   " with ESMTP id 4FOREIGN;\r\n" + text
        code, reply = client.message(
            f"{name}@client.test",
            [f"{name}{n}@example.test" for n in range(count)], text)
        self.assertEqual(code, 250)
        return reply.rpartition(" ")[2]

    def connect(self, listener="plain"):
        client = SmtpClient(self.stack.address(listener))
        client.command("EHLO client.example.test", 2)
        return client

    def test_every_message_is_joined_with_its_own_deliveries(self):
        """Case 53."""
        sent = {}
        client = self.connect()
        for number in range(3):
            sent[f"same{number}"] = self.submit(
                client, f"same{number}", number + 1, foreign=number == 1)
        client.quit()
        client = self.connect()
        client.command("MAIL FROM:<reset@client.test>", 2)
        client.command("RCPT TO:<reset@example.test>", 2)
        client.command("RSET", 2)
        sent["afterreset"] = self.submit(client, "afterreset")
        client.command("MAIL FROM:<lost@client.test>", 2)
        client.command("RCPT TO:<lost@example.test>", 2)
        client.close()
        client = self.connect("login")
        token = base64.b64encode(b"\0user@example.test\0secret").decode()
        client.command(f"AUTH PLAIN {token}", 2)
        sent["login"] = self.submit(client, "login")
        client.quit()
        client = self.connect("v6")
        sent["v6"] = self.submit(client, "v6")
        client.quit()
        self.stack.postfix.sendmail("Subject: local\n\nx\n", "-f",
                                    "local@client.test", "local0@example.test")
        deliveries = 3 + 2 + 1 + 1 + 1 + 1 + 1
        self.stack.wait_until_delivered(deliveries)
        for mail in self.stack.mailboxes():
            self.assertNotIn(b"by mx.example.test", mail.bytes())
        self.stack.wait_until_stored(7, deliveries)
        for name, queue_id in sent.items():
            found = self.stack.message(queue_id)["messages"]
            self.assertEqual(len(found), 1)
            message = found[0]
            self.assertEqual(message["sender"], f"{name}@client.test")
            for number, recipient in enumerate(message["recipients"]):
                self.assertEqual(recipient["address"],
                                 f"{name}{number}@example.test")
                self.assertEqual(recipient["state"], "delivered")
                self.assertGreater(recipient["latency_seconds"], 0)
        seen = self.stack.metrics()
        self.assertEqual(seen.total("postlag_messages_accepted_total"), 7)
        self.assertEqual(seen.total("postlag_unstamped_total"), 0)
        self.assertEqual(seen.total("postlag_forged_stamps_total"), 0)
        self.assertEqual(
            seen.total("postlag_delivery_latency_seconds_count"), deliveries)
        self.assertEqual(
            seen.total("postlag_smtp_aborts_total", phase="rcpt"), 2)


if __name__ == "__main__":
    tap.main()
