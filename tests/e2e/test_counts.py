# SPDX-License-Identifier: BSD-2-Clause
"""Thousands of messages through real Postfix, milter, hook and Dovecot, counted
independently: files in mailboxes against /metrics, and Dovecot's clock against
our stamps. No log is read, and everything about LMTP is right (case 31)."""

import collections
import math
import os
import unittest

import tap
from journal import Journal
from metrics import Metrics
from stack import Stack

LONG = bool(os.environ.get("POSTLAG_LONG"))
MESSAGES = 10000 if LONG else 3000
RECIPIENTS = range(1, 21)

SMTP_PHASES = ("connect_to_helo", "helo_to_mail", "mail_to_rcpt",
               "rcpt_to_data", "data_to_content", "content_to_eom")
LMTP_PHASES = ("queue", "lmtp_envelope", "lmtp_data", "lmtp_reply")


def plan():
    """{recipients: messages}: fewer messages the more recipients they have."""
    power = 1 if LONG else 2
    weight = sum(count ** -power for count in RECIPIENTS)
    messages = {count: int(MESSAGES / weight * count ** -power)
                for count in RECIPIENTS}
    messages[1] += MESSAGES - sum(messages.values())
    return messages


def send(stack, messages):
    """Two smtp-sources at a time, with 1 to 6 sessions each, every other one
    sending several messages a session."""
    running = []
    for count, number in messages.items():
        if len(running) == 2:
            finish(running.pop(0))
        running.append(stack.smtp_source(
            number, count, sessions=1 + count % 6, keep=count % 2 == 0,
            to=f"n{count}", wait=False))
    for process in running:
        finish(process)


def finish(process):
    output, _ = process.communicate(timeout=600)
    assert process.returncode == 0, output


class Counts(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        # One segment each, which stays when it was read.
        journal = {"segment_size": "1G"}
        cls.stack = Stack(settings={"milter": journal, "lmtp": journal})
        cls.stack.start()
        cls.addClassCleanup(cls.stack.stop)
        cls.text_before = cls.stack.get("/metrics")[1]
        messages = plan()
        cls.recipients = sum(count * n for count, n in messages.items())
        send(cls.stack, messages)
        cls.stack.wait_until_empty(300)
        cls.stack.wait_until_stored(MESSAGES, cls.recipients, 300)
        cls.mails = cls.stack.mailboxes()
        cls.metrics = cls.stack.metrics()

    def value(self, name, **labels):
        return self.metrics.value("postlag_" + name, **labels)

    def test_files_in_mailboxes_are_what_was_sent(self):
        self.assertEqual(len(self.mails), self.recipients)

    def test_counters_equal_the_files_in_mailboxes(self):
        """one row a message, one outcome a recipient (cases 3, 5, 39, I5)"""
        self.assertEqual(self.value("messages_accepted_total"), MESSAGES)
        self.assertEqual(self.value("recipients_accepted_total"),
                         len(self.mails))
        self.assertEqual(
            self.value("recipient_outcomes_total", outcome="delivered"),
            len(self.mails))
        for name in ("recipient_outcomes_total", "recipients_added_total",
                     "unstamped_total", "delivery_attempts_total",
                     "journal_events_dropped_total"):
            total = self.metrics.total("postlag_" + name)
            self.assertEqual(
                total, len(self.mails) if name.endswith(
                    ("outcomes_total", "attempts_total")) else 0, name)
        for name in ("duplicates_total", "forged_stamps_total",
                     "clock_skew_total", "messages_in_flight",
                     "deliveries_waiting"):
            self.assertEqual(self.value(name), 0, name)
        self.assertEqual(self.value("recipients", state="in_flight"), 0)

    def test_without_a_log_nothing_is_lost_and_metrics_say_so(self):
        """Case 31, must show 7"""
        self.assertEqual(self.value("loss_detection", state="off"), 1)
        for state in ("lost", "ghost", "unknown"):
            self.assertEqual(self.value("recipients", state=state), 0)
        for name in ("log_lines_total", "log_gaps_total"):
            self.assertEqual(self.metrics.total("postlag_" + name), 0)

    def test_nothing_is_not_a_number(self):
        """Case 17: neither before the first message nor later"""
        for text in (self.text_before, self.stack.get("/metrics")[1]):
            samples = Metrics(text).samples
            self.assertGreater(len(samples), 500)
            self.assertEqual([key for key, value in samples.items()
                              if not math.isfinite(value)], [])

    def test_every_histogram_counts_what_it_should(self):
        # All clients are on loopback.
        self.assertEqual(self.value("delivery_latency_seconds_count",
                                    route="internal"), len(self.mails))
        for phases, count in ((SMTP_PHASES, MESSAGES),
                              (LMTP_PHASES, len(self.mails))):
            for phase in phases:
                self.assertEqual(
                    self.value("phase_seconds_count", phase=phase), count,
                    phase)

    def test_buckets_are_cumulative_and_end_with_the_count(self):
        """case 68"""
        families = collections.defaultdict(list)
        for (name, labels), value in self.metrics.samples.items():
            if name.endswith("_bucket"):
                labels = dict(labels)
                bound = float(labels.pop("le"))
                families[name, *labels.items()].append((bound, value))
        self.assertGreaterEqual(len(families), 11)
        for (name, *labels), buckets in families.items():
            counts = [value for _, value in sorted(buckets)]
            self.assertEqual(counts, sorted(counts), (name, labels))
            count = self.metrics.value(
                name.removesuffix("_bucket") + "_count", **dict(labels))
            self.assertEqual(max(buckets), (float("inf"), count))

    def test_one_stamp_a_message_one_id_a_stamp(self):
        """case 53: nothing is left over from the message before"""
        ids, queue_ids = collections.defaultdict(set), set()
        for mail in self.mails:
            message = mail.message()
            stamps = message.get_all("X-Perf-Sent")
            self.assertEqual(len(stamps), 1, mail.path)
            self.assertNotIn("\r", stamps[0])
            _, name, queue_id = stamps[0].split()
            ids[name].add(message["Message-Id"])
            queue_ids.add(queue_id)
        self.assertEqual(len(ids), MESSAGES)
        self.assertEqual(len(queue_ids), MESSAGES)
        self.assertTrue(all(len(found) == 1 for found in ids.values()))

    def test_dovecots_clock_agrees_with_our_stamps(self):
        """Each file's name tells when Dovecot began to save it: after our DATA
        and before our reply, in microseconds, without tolerance (must-show 3).
        """
        deliveries = {}
        for event in Journal(self.stack.journals, "lmtp").deliveries():
            for recipient in event["recipients"]:
                key = event["queue_id"], recipient["address"]
                deliveries[key] = (wall_us(event["data_at"]),
                                   wall_us(recipient["final"]["at"]))
        self.assertEqual(len(deliveries), len(self.mails))
        for mail in self.mails:
            queue_id = mail.message()["X-Perf-Sent"].rpartition("q=")[2]
            data, reply = deliveries[queue_id, mail.recipient]
            self.assertLessEqual(data, mail.saved_us, mail.path)
            self.assertLessEqual(mail.saved_us, reply, mail.path)


def wall_us(stamp):
    return stamp["wall_ns"] // 1000


tap.main()
