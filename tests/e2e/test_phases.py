# SPDX-License-Identifier: BSD-2-Clause
"""Phases are true: every stamp that the milter stores lies between the client's
clock just before it wrote the command and just after it read the reply, on a
real Postfix. No tolerance is needed: it is causal."""

import datetime
import time
import unittest

import tap
from mail_system import Listener
from milter_stack import MilterStackCase
from smtp_client import SmtpClient
from stack import Stack
from waiting import wait_until

# Seconds before each command; all different.
PAUSES = [0.03, 0.11, 0.07, 0.19, 0.05, 0.15, 0.09]


class Phases(MilterStackCase):
    listeners = [Listener("plain"), Listener("tls", tls=True),
                 Listener("v6", host="::1")]

    def assert_moments(self, client, event, helo="EHLO"):
        """Each stamp of the event lies in its command's moment."""
        stamps = {"CONNECT": event["connect_at"], helo: event["helo_at"],
                  "MAIL": event["mail_at"]}
        for number, recipient in enumerate(event["recipients"]):
            stamps[f"RCPT {number}"] = recipient["rcpt_at"]
        if "DATA" in client.moments:
            stamps["DATA"] = event["data_at"]
        for name, stamp in stamps.items():
            self.assertTrue(
                client.moments[name].contains(stamp),
                (name, stamp, vars(client.moments[name])))
        if "CONTENT" in client.moments:
            for name in ("content_at", "eom_at"):
                self.assertTrue(
                    client.moments["CONTENT"].contains(event[name]), name)
        self.assert_ordered(event)

    def assert_ordered(self, event):
        """I7."""
        names = ["connect_at", "helo_at", "mail_at", "data_at", "content_at",
                 "eom_at"]
        order = [event[name]["monotonic_ns"] for name in names
                 if event[name]["monotonic_ns"]]
        self.assertEqual(order, sorted(order))
        self.assertEqual(event["end_at"]["wall_ns"] == 0,
                         event["ending"] == "accepted")

    def slowly(self, client, helo="EHLO", recipients=3):
        """One message with a different pause before each command."""
        pauses = iter(PAUSES)

        def command(line, expect=2):
            time.sleep(next(pauses))
            client.command(line, expect)
        command(f"{helo} client.example.test")
        command("MAIL FROM:<sender@client.test>")
        for number in range(recipients):
            command(f"RCPT TO:<u{number}@direct.test>")
        command("DATA", 3)
        time.sleep(next(pauses))
        code, text = client.content("Subject: phases\r\n\r\nhello\r\n")
        self.assertEqual(code, 250, text)
        client.quit()

    def test_each_command_is_stamped_when_it_arrives(self):
        for listener in ("plain", "v6"):
            for helo in ("EHLO", "HELO"):
                with self.subTest(listener=listener, helo=helo):
                    self.setUp()
                    client = self.stack.client(listener)
                    self.slowly(client, helo)
                    event = self.events(1)[0]
                    self.assert_moments(client, event, helo)
                    self.assertEqual(event["ending"], "accepted")
                    self.assertEqual(len(event["recipients"]), 3)

    def test_pauses_are_in_the_phases_that_they_were_made_in(self):
        client = self.stack.client()
        self.slowly(client)
        event = self.events(1)[0]
        names = ["connect_at", "helo_at", "mail_at"]
        stamps = [event[name]["monotonic_ns"] for name in names]
        stamps += [r["rcpt_at"]["monotonic_ns"] for r in event["recipients"]]
        stamps += [event["data_at"]["monotonic_ns"],
                   event["content_at"]["monotonic_ns"]]
        for pause, begin, end in zip(PAUSES, stamps, stamps[1:]):
            self.assertGreaterEqual(end - begin, pause * 1e9)

    def test_pipelined_commands_are_stamped_within_their_group(self):
        client = self.stack.client()
        client.command("EHLO client.example.test", 2)
        time.sleep(PAUSES[0])
        replies = client.group(
            ["MAIL FROM:<sender@client.test>", "RCPT TO:<u1@direct.test>",
             "RCPT TO:<u2@direct.test>", "DATA"])
        self.assertEqual([code for code, _ in replies], [250, 250, 250, 354])
        time.sleep(PAUSES[1])
        self.assertEqual(client.content("Subject: x\r\n\r\nx\r\n")[0], 250)
        client.quit()
        event = self.events(1)[0]
        self.assert_moments(client, event)
        self.assertEqual(len(event["recipients"]), 2)

    def test_after_starttls_the_second_ehlo_counts(self):
        client = self.stack.client("tls")
        client.command("EHLO before.example.test", 2)
        client.starttls()
        self.slowly(client)
        event = self.events(1)[0]
        self.assert_moments(client, event)
        self.assertEqual(event["helo"], "client.example.test")
        self.assertTrue(event["tls_version"].startswith("TLSv1"), event)
        self.assertTrue(event["tls_cipher"])

    def test_with_starttls_and_pipelining(self):
        client = self.stack.client("tls")
        client.command("EHLO before.example.test", 2)
        client.starttls()
        time.sleep(PAUSES[2])
        client.command("EHLO client.example.test", 2)
        time.sleep(PAUSES[3])
        client.group(["MAIL FROM:<sender@client.test>",
                      "RCPT TO:<u1@direct.test>", "DATA"])
        self.assertEqual(client.content("Subject: x\r\n\r\nx\r\n")[0], 250)
        client.quit()
        self.assert_moments(client, self.events(1)[0])

    def test_bdat_counts_as_data(self):
        client = self.stack.client()
        client.command("EHLO client.example.test", 2)
        client.command("MAIL FROM:<sender@client.test>", 2)
        client.command("RCPT TO:<u1@direct.test>", 2)
        time.sleep(PAUSES[0])
        content = "Subject: x\r\n\r\nhello\r\n"
        client.command(f"BDAT {len(content)}\r\n{content[:-2]}", 2)
        time.sleep(PAUSES[1])
        client.moments["FIRST"] = client.moments["BDAT"]
        client.command("BDAT 0 LAST", 2)
        client.quit()
        event = self.events(1)[0]
        self.assertTrue(client.moments["FIRST"].contains(event["data_at"]))
        self.assertTrue(client.moments["BDAT"].contains(event["eom_at"]))
        self.assert_ordered(event)

    def test_every_message_of_a_session_has_its_own_stamps(self):
        """Case 53."""
        client = self.stack.client()
        client.command("EHLO client.example.test", 2)
        moments = []
        for pause in PAUSES[:3]:
            time.sleep(pause)
            self.assertEqual(client.message()[0], 250)
            moments.append(client.moments)
        client.quit()
        for event, seen in zip(self.events(3), moments):
            client.moments = seen
            self.assert_moments(client, event)


class Stored(unittest.TestCase):
    """The same of what the store keeps, through all programs."""

    @classmethod
    def setUpClass(cls):
        cls.stack = Stack([Listener("plain"), Listener("tls", tls=True)])
        cls.stack.start()
        cls.addClassCleanup(cls.stack.stop)

    def assert_within(self, text, moment):
        """A stored time, rounded down to a microsecond."""
        at = datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))
        begin = datetime.datetime.fromtimestamp(0, datetime.timezone.utc)
        micros = (at - begin) // datetime.timedelta(microseconds=1)
        self.assertLessEqual(moment.before[0] // 1000, micros)
        self.assertLessEqual(micros, moment.after[0] // 1000)

    def stored(self, queue_id):
        """The message once it is delivered."""
        def delivered():
            found = self.stack.message(queue_id)
            message = found and found["messages"][0]
            states = {r["state"] for r in message["recipients"]} \
                if message else {"none"}
            return message if states == {"delivered"} else None
        return wait_until(delivered, f"{queue_id} to be stored, delivered")

    def test_stored_stamps_lie_between_command_and_reply(self):
        for listener in ("plain", "tls"):
            with self.subTest(listener=listener):
                client = SmtpClient(self.stack.address(listener))
                if listener == "tls":
                    client.command("EHLO before.example.test", 2)
                    client.starttls()
                pauses = iter(PAUSES)
                for line, code in (("EHLO client.example.test", 2),
                                   ("MAIL FROM:<sender@client.test>", 2),
                                   ("RCPT TO:<u1@example.test>", 2),
                                   ("RCPT TO:<u2@example.test>", 2),
                                   ("DATA", 3)):
                    time.sleep(next(pauses))
                    client.command(line, code)
                time.sleep(next(pauses))
                text = client.content("Subject: x\r\n\r\nx\r\n")[1]
                client.quit()
                message = self.stored(text.rpartition(" ")[2])
                stamps = message["stamps"]
                for name, verb in (
                        ("connect", "CONNECT"), ("helo", "EHLO"),
                        ("mail", "MAIL"), ("data", "DATA"),
                        ("content", "CONTENT"), ("eom", "CONTENT")):
                    self.assert_within(stamps[name], client.moments[verb])
                for number, recipient in enumerate(message["recipients"]):
                    self.assert_within(recipient["rcpt"],
                                       client.moments[f"RCPT {number}"])
                self.assert_durations(message)

    def assert_durations(self, message):
        """I7: phases hold the pauses that were made in them."""
        seconds = {p["phase"]: p["duration_seconds"]
                   for p in message["phases"]}
        least = {"connect_to_helo": PAUSES[0], "helo_to_mail": PAUSES[1],
                 "mail_to_rcpt": PAUSES[2], "rcpt_to_data": PAUSES[4],
                 "data_to_content": PAUSES[5], "content_to_eom": 0}
        for name, pause in least.items():
            self.assertGreaterEqual(seconds[name], pause, name)
        for recipient in message["recipients"]:
            self.assertGreater(recipient["latency_seconds"], sum(PAUSES[2:6]))
            for phase in recipient["phases"]:
                self.assertGreaterEqual(phase["duration_seconds"], 0, phase)


if __name__ == "__main__":
    tap.main()
