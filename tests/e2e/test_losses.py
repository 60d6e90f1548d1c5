# SPDX-License-Identifier: BSD-2-Clause
"""Real losses on a real Postfix: queue files removed behind its back (must
show 2)."""

import os
import time
import unittest

import tap
from loss_stack import AFTER, LossCase
from waiting import wait_until

LONG = "POSTLAG_LONG" in os.environ


class Losses(LossCase):
    def lose_and_wait(self, queue_id):
        """Until it is lost; checks that this was not too early."""
        before = self.counter("recipients_lost_total")
        self.stack.lose(queue_id)
        self.wait_for_state(queue_id, "lost")
        self.assertGreaterEqual(time.monotonic() - self.began[queue_id],
                                AFTER)
        self.wait_for_counter(before + 1, "recipients_lost_total")

    def recover(self, queue_id):
        before = self.counter("recipients_recovered_total")
        self.stack.put_back(queue_id)
        self.assert_gone_from_lost(queue_id)
        self.wait_for_counter(before + 1, "recipients_recovered_total")

    def assert_gone_from_lost(self, queue_id):
        wait_until(lambda: self.state(queue_id) != "lost",
                   f"{queue_id} to be seen again", 60)

    def test_detection_is_on(self):
        self.send(["u1@example.test"])
        wait_until(lambda: self.counter("loss_detection", state="on") == 1,
                   "losses to be looked for")

    def test_lost_in_deferred_then_put_back_and_delivered(self):
        queue_id = self.deferred()
        self.lose_and_wait(queue_id)
        self.recover(queue_id)
        self.wait_for_state(queue_id, "deferred")

    def test_lost_in_hold_then_put_back_and_deleted(self):
        queue_id = self.deferred()
        self.stack.postfix.command("postsuper", "-h", queue_id)
        self.wait_for_state(queue_id, "held")
        self.lose_and_wait(queue_id)
        self.recover(queue_id)
        self.wait_for_state(queue_id, "held")
        self.stack.postfix.command("postsuper", "-d", queue_id)
        self.wait_for_state(queue_id, "deleted")

    def test_lost_in_hold_where_no_line_said_so(self):
        """A HOLD of the first recipient's: the look-up alone confirms it"""
        queue_id = self.send(["u1@example.test"], listener="hold")
        self.wait_for_state(queue_id, "held")
        self.wait_for_looks("hold", 1)
        self.lose_and_wait(queue_id)
        self.recover(queue_id)
        self.stack.postfix.command("postsuper", "-H", queue_id)
        self.stack.postfix.flush()
        self.wait_for_state(queue_id, "delivered")

    def test_lost_in_active(self):
        """While a delivery is under way that then fails"""
        self.stack.may_reply.clear()
        self.stack.is_asked.clear()
        queue_id = self.send(["u1@slow.test"])
        self.stack.wait_in("active", queue_id)
        self.assertTrue(self.stack.is_asked.wait(60))
        wait_until(lambda: self.state(queue_id) is not None, "its record")
        self.stack.lose(queue_id)
        self.wait_for_state(queue_id, "lost")
        self.stack.may_reply.set()
        self.wait_for_state(queue_id, "relayed")

    def test_what_stays_in_the_queue_is_not_lost(self):
        queue_id = self.deferred()
        self.wait_for_looks("deferred", 2)
        self.assertEqual(self.state(queue_id), "deferred")

    @unittest.skipUnless(LONG, "takes minutes")
    def test_a_hundred_losses_among_five_thousand(self):
        """[long] Exactly those that were lost"""
        queue_ids = [self.send([f"u{i}@down.test"]) for i in range(5000)]
        lost = set(queue_ids[::50])
        wait_until(lambda: list(self.stack.postfix.queue_ids().values())
                   .count("deferred") >= len(queue_ids),
                   "all to be deferred", 300, 1)
        for queue_id in lost:
            self.stack.lose(queue_id)
        before = self.counter("recipients_lost_total")
        wait_until(lambda: self.counter("recipients_lost_total")
                   == before + len(lost), "all losses", 600, 1)
        looks = self.counter("queue_lookups_total", answer="deferred")
        wait_until(lambda: self.counter(
            "queue_lookups_total", answer="deferred") > looks + 5000,
            "the others to be looked for again", 600, 1)
        self.assertEqual(self.counter("recipients", state="lost"), len(lost))
        for queue_id in queue_ids:
            self.assertEqual(self.state(queue_id) == "lost",
                             queue_id in lost, queue_id)


tap.main()
