# SPDX-License-Identifier: BSD-2-Clause
"""Mail first (I1): with the milter, the hook or the exporter absent, standing
still, or its disk full, mail reaches the mailbox within the configured
timeouts, no client sees a refusal, and what was dropped is counted and shown
afterwards."""

import time
import unittest

import tap
from stack import SmallDisk, Stack
from waiting import wait_until

# connect_timeout, command_timeout and content_timeout of the packaged milter
# line; lmtp_lhlo_timeout of the packaged transport; and room for a machine
# that is busy with other tests.
MILTER_SECONDS = 1 + 2 + 5
HOOK_SECONDS = 5
ROOM_SECONDS = 20


class Absence(unittest.TestCase):
    @classmethod
    def start(cls, **options):
        cls.stack = Stack(**options)
        cls.stack.start()
        cls.addClassCleanup(cls.stack.stop)

    def mail(self, name, seconds=0, count=2):
        """Sends `count` messages to one mailbox each; they must be taken
        without complaint and arrive. Returns them."""
        started = time.monotonic()
        before = self.stack.dovecot.count()
        for number in range(count):
            refused = self.stack.send(
                "a@client.test", [f"{name}{number}@example.test"])
            self.assertEqual(refused, {})
        self.stack.wait_until_delivered(
            before + count, count * seconds + ROOM_SECONDS)
        self.assertLess(time.monotonic() - started,
                        count * seconds + ROOM_SECONDS)
        return [mail for mail in self.stack.mailboxes()
                if mail.recipient.startswith(name)]

    def stamped(self, mails):
        return sum("X-Perf-Sent" in mail.message() for mail in mails)

    def value(self, name, **labels):
        return self.stack.metrics().value(f"postlag_{name}", **labels)

    def total(self, name, **labels):
        return self.stack.metrics().total(f"postlag_{name}", **labels)

    def wait_for_value(self, wanted, name, **labels):
        wait_until(lambda: self.value(name, **labels) == wanted,
                   f"{name} {labels} to be {wanted}", pause=0.1)

    def check_recovered(self, name):
        """Everything is as on the first day."""
        self.stack.wait_until_empty()
        self.stack.wait_until_settled()
        before = self.value("recipient_outcomes_total", outcome="delivered")
        self.assertEqual(self.stamped(self.mail(name)), 2)
        self.wait_for_value(before + 2, "recipient_outcomes_total",
                            outcome="delivered")


class Milter(Absence):
    @classmethod
    def setUpClass(cls):
        cls.start()

    def unstamped(self):
        return self.value("unstamped_total", reason="no_message")

    def test_absent(self):
        before = self.unstamped()
        self.assertEqual(self.stack.milter.stop(), 0)
        self.assertEqual(self.stamped(self.mail("absent")), 0)
        self.wait_for_value(before + 2, "unstamped_total",
                            reason="no_message")
        self.stack.milter.start()
        self.check_recovered("absent-after")

    def test_standing_still_before_a_session(self):
        """case 58"""
        before = self.unstamped()
        self.stack.milter.pause()
        self.assertEqual(self.stamped(self.mail("still", MILTER_SECONDS)), 0)
        self.wait_for_value(before + 2, "unstamped_total",
                            reason="no_message")
        self.stack.milter.resume()
        self.check_recovered("still-after")

    def test_standing_still_before_each_command(self):
        """The session goes on at the cost of one timeout, whatever command it
        was that found no answer."""
        stops = ["mail", "rcpt", "data", "content"]
        try:
            for stop in stops:
                self.session_with_pause(stop)
                self.stack.milter.resume()
        finally:
            self.stack.milter.resume()
        self.stack.wait_until_empty()
        found = [mail.recipient for mail in self.stack.mailboxes()]
        for stop in stops:
            self.assertEqual(found.count(f"pause-{stop}@example.test"), 1)
        self.check_recovered("pause-after")

    def session_with_pause(self, stop):
        """One message, the milter standing still from `stop` on."""
        started = time.monotonic()
        commands = [("mail", "MAIL FROM:<a@client.test>", 250),
                    ("rcpt", f"RCPT TO:<pause-{stop}@example.test>", 250),
                    ("data", "DATA", 354),
                    ("content", "Subject: pause\r\n\r\nhello\r\n.", 250)]
        with self.stack.smtp() as client:
            client.ehlo()
            for name, command, code in commands:
                if name == stop:
                    self.stack.milter.pause()
                client.send(command + "\r\n")
                self.assertEqual(client.getreply()[0], code, command)
        self.assertLess(time.monotonic() - started,
                        MILTER_SECONDS + ROOM_SECONDS)


class Hook(Absence):
    @classmethod
    def setUpClass(cls):
        cls.start()

    def test_absent(self):
        self.assertEqual(self.stack.hook.stop(), 0)
        self.assertEqual(self.stamped(self.mail("absent")), 2)
        self.stack.hook.start()
        self.check_recovered("absent-after")

    def test_standing_still(self):
        self.stack.hook.pause()
        self.assertEqual(self.stamped(self.mail("still", HOOK_SECONDS)), 2)
        self.stack.hook.resume()
        self.check_recovered("still-after")

    def test_deliveries_come_back_under_load(self):
        """Once the hook is there again, mail goes through it again, although
        Postfix went past it under load before."""
        messages = 1500
        before = self.stack.dovecot.count()
        source = self.stack.smtp_source(messages, sessions=4, keep=True,
                                        to="back", wait=False)
        wait_until(lambda: self.stack.dovecot.count() > before + 30,
                   "the load to arrive")
        self.stack.hook.kill()
        arrived = self.stack.dovecot.count()
        wait_until(lambda: self.stack.dovecot.count() > arrived + 100,
                   "mail to go past the hook")
        self.stack.hook.start()
        still_to_come = before + messages - self.stack.dovecot.count()
        seen = self.outcomes()
        output, _ = source.communicate(timeout=120)
        self.assertEqual(source.returncode, 0, output)
        self.stack.wait_until_empty(120)
        self.stack.wait_until_settled()
        self.assertGreater(still_to_come, messages // 2)
        self.assertGreater(self.outcomes() - seen, still_to_come // 2)

    def outcomes(self):
        return self.value("recipient_outcomes_total", outcome="delivered")

    def nothing_arrives(self):
        """Since it was asked last, although there is mail."""
        last = getattr(self, "arrived", None)
        self.arrived = self.stack.dovecot.count()
        return self.arrived == last and self.stack.postfix.queue_ids()

    def test_standing_still_for_a_while_under_load(self):
        """Nothing is lost; a second copy only where Postfix itself says that
        there may be one."""
        before = self.stack.dovecot.count()
        source = self.stack.smtp_source(300, 3, sessions=3, keep=True,
                                        to="load", wait=False)
        wait_until(lambda: self.stack.dovecot.count() > before + 30,
                   "the load to arrive")
        self.stack.hook.pause()
        wait_until(self.nothing_arrives, "the load to wait", pause=0.3)
        self.stack.hook.resume()
        self.assertEqual(source.wait(120), 0)
        source.stdout.close()
        self.stack.wait_until_empty(120)
        twice = len(self.stack.log_lines("may be sent more than once"))
        self.assertGreaterEqual(self.stack.dovecot.count(), before + 900)
        self.assertLessEqual(self.stack.dovecot.count(),
                             before + 900 + twice)


class Silence(Absence):
    @classmethod
    def setUpClass(cls):
        cls.start()

    def test_a_producer_that_stands_still_shows(self):
        """Case 9: its last event gets old while the other's does not; at the
        time of the scrape it is as old as it looks"""
        for silent, source, other in (
                (self.stack.hook, "lmtp", "milter"),
                (self.stack.milter, "milter", "lmtp")):
            wait_until(lambda: self.age(source) < 5, "heartbeats")
            silent.pause()
            last = self.last_event(source)
            wait_until(lambda: self.age(source) > 3, f"{source} to get old")
            # One that was under way may have been read since.
            self.assertLess(self.last_event(source) - last, 2)
            wait_until(lambda: self.age(other) < 2, f"{other} not to")
            silent.resume()
            wait_until(lambda: self.age(source) < 2, f"{source} to be back")

    def last_event(self, source):
        return self.value("source_last_event_timestamp_seconds",
                          source=source)

    def age(self, source):
        return time.time() - self.last_event(source)


class Exporter(Absence):
    @classmethod
    def setUpClass(cls):
        cls.start()

    def check_all_counted(self, delivered):
        self.wait_for_value(delivered, "recipient_outcomes_total",
                            outcome="delivered")

    def test_absent_standing_still_and_killed(self):
        """Events wait in the journal and are counted afterwards, once (I2,
        case 29)."""
        exporter = self.stack.exporter
        count = self.value("recipient_outcomes_total", outcome="delivered")
        self.assertEqual(exporter.stop(), 0)
        self.assertEqual(self.stamped(self.mail("absent")), 2)
        exporter.start()
        self.check_all_counted(count + 2)
        exporter.pause()
        self.assertEqual(self.stamped(self.mail("still")), 2)
        exporter.resume()
        self.check_all_counted(count + 4)
        exporter.kill()
        self.assertEqual(self.stamped(self.mail("killed")), 2)
        exporter.start()
        self.check_all_counted(count + 6)
        self.assertEqual(self.value("recipients", state="in_flight"), 0)


class Everything(Absence):
    @classmethod
    def setUpClass(cls):
        cls.start()

    def test_all_three_absent(self):
        for program in self.stack.programs:
            program.kill()
        self.assertEqual(self.stamped(self.mail("none")), 0)
        for program in self.stack.programs:
            program.start()
        self.check_recovered("none-after")

    def test_all_three_standing_still(self):
        for program in self.stack.programs:
            program.pause()
        self.mail("frozen", MILTER_SECONDS + HOOK_SECONDS, count=1)
        for program in self.stack.programs:
            program.resume()
        self.check_recovered("frozen-after")


class FullDisk(Absence):
    @classmethod
    def setUpClass(cls):
        if not SmallDisk.possible():
            raise unittest.SkipTest("may not mount here")
        cls.start(disks={"journal/milter": "512k", "journal/lmtp": "512k",
                         "store": "16m"},
                  settings={"milter": {"segment_size": "64K"},
                            "lmtp": {"segment_size": "64K"}})
        cls.milter_disk, cls.hook_disk, cls.store_disk = cls.stack.disks

    def dropped(self, source):
        return self.total("journal_events_dropped_total", source=source)

    def mail_until_dropped(self, name):
        """A journal's last page takes some events still. Returns how many
        messages were sent."""
        for number in range(1, 50):
            mails = self.mail(f"{name}-{number}-", count=1)
            if name == "milter" and self.stamped(mails) == 0:
                return number
            if name == "lmtp" and number == 40:
                return number
        raise AssertionError("every message was stamped on a full disk")

    def check_producer(self, name, disk):
        before = self.dropped(name)
        disk.fill()
        self.mail_until_dropped(name)
        disk.make_room()
        wait_until(lambda: self.dropped(name) > before,
                   f"drops of {name} to be shown", pause=0.1)
        self.check_recovered(f"{name}-after")

    def test_milter(self):
        self.check_producer("milter", self.milter_disk)

    def test_hook(self):
        self.check_producer("lmtp", self.hook_disk)

    def test_exporter(self):
        """What could not be stored waits in the journals."""
        before = self.value("recipient_outcomes_total", outcome="delivered")
        self.store_disk.fill()
        sent = 40
        self.assertEqual(self.stamped(self.mail("store", count=sent)), sent)
        self.store_disk.make_room()
        self.wait_for_value(before + sent, "recipient_outcomes_total",
                            outcome="delivered")
        self.check_recovered("store-after")


tap.main()
