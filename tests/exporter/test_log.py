# SPDX-License-Identifier: BSD-2-Clause
"""A log file beside the journals: read, joined, once, whatever happens."""

import os
import random
import time
import unittest

import tap
from exporter_alone import LogAlone
from mail_log import Log

LONG = "POSTLAG_LONG" in os.environ


def recipients(message):
    return {recipient["address"]: recipient["state"]
            for recipient in message["recipients"]}


class Lines(unittest.TestCase):
    def check(self, alone):
        ours = alone.queued(1, "u1@x.test", "u2@x.test")
        alone.log.message("000000B2", "u3@x.test")
        metrics = alone.wait_for("postlag_recipient_outcomes_total", 3,
                                 outcome="delivered")
        self.assertEqual(metrics.total("postlag_unstamped_total",
                                       reason="no_message"), 1)
        self.assertEqual(metrics.total("postlag_recipients_added_total",
                                       reason="unstamped"), 1)
        [message] = alone.messages(ours)
        self.assertEqual(recipients(message), {"u1@x.test": "delivered",
                                               "u2@x.test": "delivered"})
        self.assertEqual(len(message["attempts"]), 2)
        [message] = alone.messages("000000B2")
        self.assertEqual(message["ending"], "logged")

    def test_with_exact_stamps(self):
        with LogAlone() as alone:
            self.check(alone)

    def test_with_whole_seconds_of_local_time(self):
        with LogAlone(traditional=True) as alone:
            self.check(alone)

    def test_case_6_rotated_while_it_is_read(self):
        with LogAlone() as alone:
            # What was rotated before the first line was read is not ours.
            alone.queued(1, "u1@x.test")
            alone.wait_for("postlag_recipient_outcomes_total", 1,
                           outcome="delivered")
            for number in range(2, 301):
                alone.queued(number, "u1@x.test")
                if number % 100 == 50:
                    alone.log.rotate()
            alone.wait_for("postlag_recipient_outcomes_total", 300,
                           outcome="delivered")

    def test_who_is_open_while_the_log_is_copied_and_truncated(self):
        """Lines may be lost: what they would have said is unknown, and who is
        still in the queue stays what it is"""
        with LogAlone() as alone:
            for number in (1, 2, 3):
                alone.message(f"m{number}", f"0000000{number}", "u1@x.test")
                alone.log.line("qmgr", f"0000000{number}: from=<s@c.test>, "
                               "size=500, nrcpt=1 (queue active)")
            alone.log.line("smtp", "00000002: to=<u1@x.test>, relay=none, "
                           "delay=1, delays=0/0/0/1, dsn=4.0.0, "
                           "status=deferred (x)")
            alone.wait_for("postlag_recipients", 1, state="deferred")
            alone.log.copy_and_truncate()
            alone.log.line("qmgr", "00000001: removed")
            alone.wait_for("postlag_log_gaps_total", 1, reason="copied")
            self.assertIn("gap=copied", alone.program.log())
            alone.wait_for("postlag_recipients", 1, state="unknown")
            [message] = alone.messages("00000001")
            self.assertEqual(message["recipients"][0]["reason"], "log_gap")
            metrics = alone.metrics()
            for state in ("deferred", "in_flight"):
                self.assertEqual(
                    metrics.value("postlag_recipients", state=state), 1)
            alone.log.line("smtp", "00000002: to=<u1@x.test>, relay=x, "
                           "delay=1, delays=0/0/0/1, dsn=2.0.0, "
                           "status=sent (250 Ok)")
            alone.wait_for("postlag_recipients", 1, state="relayed")
            self.assertEqual(alone.metrics().total(
                "postlag_outcome_revisions_total"), 0)

    def test_what_is_told_of_behind_a_gap_may_have_lines_in_it(self):
        """The milter's event is read after the gap that the message's lines
        were lost in"""
        with LogAlone() as alone:
            alone.queued(1, "u1@x.test")
            alone.wait_for("postlag_recipient_outcomes_total", 1,
                           outcome="delivered")
            alone.log.copy_and_truncate()
            # Until that line something may be missing.
            alone.log.seconds_ago = -60
            alone.log.line("smtpd", "connect from c.test[192.0.2.1]")
            alone.wait_for("postlag_log_gaps_total", 1, reason="copied")
            alone.log.seconds_ago = 0
            alone.message("m2", "00000002", "u2@x.test")
            alone.wait_for("postlag_messages_accepted_total", 2)
            alone.log.line("qmgr", "00000002: removed")
            alone.wait_for("postlag_recipients", 1, state="unknown")
            [message] = alone.messages("00000002")
            self.assertEqual(message["recipients"][0]["reason"], "log_gap")

    def test_mail_that_is_held_shows_without_another_line(self):
        with LogAlone() as alone:
            alone.message("a", "000000A1", "u1@x.test")
            alone.log.line("smtpd", "NOQUEUE: hold: RCPT from c.test"
                           "[192.0.2.1]: <u1@x.test>: x; from=<s@c.test> "
                           "to=<u1@x.test> proto=ESMTP helo=<c>")
            alone.log.line("smtpd", "000000A1: client=c.test[192.0.2.1]")
            alone.log.line("cleanup", "000000A1: message-id=<1@c.test>")
            alone.wait_for("postlag_recipients", 1, state="held")

    def test_case_29_killed_at_random_it_applies_each_line_once(self):
        """I2, I3."""
        rounds, count = (60, 60) if LONG else (10, 40)
        with LogAlone() as alone:
            number = 0
            for _ in range(rounds):
                for _ in range(count):
                    number += 1
                    alone.queued(number, "u1@x.test", "u2@x.test")
                    if number % 7 == 0:
                        alone.log.message(f"B{number:07X}", "u3@x.test")
                time.sleep(random.uniform(0, 0.1))
                alone.program.kill()
                alone.program.start()
            unseen = number // 7
            metrics = alone.wait_for("postlag_recipient_outcomes_total",
                                     2 * number + unseen,
                                     outcome="delivered")
            self.assertEqual(metrics.total("postlag_unstamped_total"),
                             unseen)
            for state in ("in_flight", "deferred", "held"):
                self.assertEqual(
                    metrics.value("postlag_recipients", state=state), 0)
            self.assertEqual(
                metrics.total("postlag_outcome_revisions_total"), 0)
            for one in range(1, number + 1):
                [message] = alone.messages(f"{one:08X}")
                self.assertEqual(len(message["attempts"]), 2)


class QueueIds(unittest.TestCase):
    """Case 13, case 41, must show 9: equal queue ids stay apart."""

    def begin(self, log, queue_id, *recipients):
        log.line("smtpd", f"{queue_id}: client=c.test[192.0.2.1]")
        log.line("cleanup", f"{queue_id}: message-id=<{queue_id}@c.test>")
        log.line("qmgr", f"{queue_id}: from=<s@c.test>, size=500, "
                 f"nrcpt={len(recipients)} (queue active)")

    def end(self, log, queue_id, recipient, status):
        log.line("virtual", f"{queue_id}: to=<{recipient}>, relay=x, delay=1, "
                 f"delays=0/0/0/1, dsn=2.0.0, status={status} (as told)")
        log.line("qmgr", f"{queue_id}: removed")

    def test_of_a_message_whose_event_comes_late(self):
        """It is the milter's own from then on; case 4 wants it counted"""
        with LogAlone() as alone:
            alone.log.message("0000000B", "u1@x.test")
            alone.wait_for("postlag_recipient_outcomes_total", 1,
                           outcome="delivered")
            alone.message("late", "0000000B", "u1@x.test")
            alone.wait_for("postlag_recipients_recognized_total", 1)
            [message] = alone.messages("0000000B")
            self.assertEqual(message["ending"], "accepted")
            self.assertEqual(recipients(message), {"u1@x.test": "delivered"})

    def test_of_two_instances_at_the_same_time(self):
        with LogAlone() as alone:
            out = Log(alone.log.path, syslog_name="postfix-out")
            alone.message("m", "0000000A", "in@x.test")
            self.begin(alone.log, "0000000A", "in@x.test")
            self.begin(out, "0000000A", "out@y.test")
            self.end(out, "0000000A", "out@y.test", "bounced")
            self.end(alone.log, "0000000A", "in@x.test", "sent")
            alone.wait_for("postlag_recipient_outcomes_total", 1,
                           outcome="delivered")
            alone.wait_for("postlag_recipient_outcomes_total", 1,
                           outcome="bounced")
            found = {message["instance"]: recipients(message)
                     for message in alone.messages("0000000A")}
            self.assertEqual(found, {
                "mx.test": {"in@x.test": "delivered"},
                "postfix-out": {"out@y.test": "bounced"}})

    def test_of_one_that_is_used_again_after_it_was_removed(self):
        """Two that the milter did not see, then one that it saw"""
        with LogAlone() as alone:
            for ago, recipient, status in ((120, "a@x.test", "sent"),
                                           (60, "b@x.test", "bounced")):
                alone.log.seconds_ago = ago
                self.begin(alone.log, "0000000A", recipient)
                self.end(alone.log, "0000000A", recipient, status)
            alone.wait_for("postlag_recipient_outcomes_total", 1,
                           outcome="bounced")
            alone.log.seconds_ago = 0
            alone.message("third", "0000000A", "a@x.test")
            self.begin(alone.log, "0000000A", "a@x.test")
            alone.log.line("virtual", "0000000A: to=<a@x.test>, relay=none, "
                           "delay=1, delays=1/0/0/0, dsn=4.0.0, "
                           "status=deferred (later)")
            alone.wait_for("postlag_recipients", 1, state="deferred")
            found = [recipients(message)
                     for message in alone.messages("0000000A")]
            self.assertEqual(found, [{"a@x.test": "deferred"},
                                     {"b@x.test": "bounced"},
                                     {"a@x.test": "delivered"}])


if __name__ == "__main__":
    tap.main()
