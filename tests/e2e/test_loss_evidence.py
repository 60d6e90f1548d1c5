# SPDX-License-Identifier: BSD-2-Clause
"""Where queue files are found, and when their absence proves nothing: a gap in
the log, downtime of our own (must show 3)."""

import os
import shutil
import time

import tap
from loss_stack import AFTER, CONFIRM, LossCase, LossStack


class Layouts(LossCase):
    """Where Postfix puts its queue files, found by their ids alone."""

    def check(self, main_cf):
        names = "incoming, active, deferred, hold, defer"
        stack = LossStack(
            {"hash_queue_names": names, **main_cf},
            {"hash_queue_names": names, "hash_queue_depth":
                main_cf["hash_queue_depth"]})
        stack.start()
        try:
            self.stack = stack
            queue_ids = [self.deferred() for _ in range(8)]
            held = queue_ids[0]
            stack.postfix.command("postsuper", "-h", held)
            self.wait_for_looks("deferred", len(queue_ids))
            self.wait_for_looks("hold", 1)
            self.assertEqual(self.counter("queue_lookups_total",
                                          answer="absent"), 0)
            self.assertEqual(self.counter("queue_lookups_total",
                                          answer="unknown"), 0)
            stack.lose(held)
            self.wait_for_state(held, "lost")
        finally:
            stack.stop()

    @classmethod
    def setUpClass(cls):
        pass

    def test_long_queue_ids_two_levels_deep(self):
        self.check({"hash_queue_depth": "2"})

    def test_short_queue_ids_three_levels_deep(self):
        self.check({"hash_queue_depth": "3",
                    "enable_long_queue_ids": "no"})


class Listing(LossCase):
    """Without the right to look into the queue: by postqueue."""

    @classmethod
    def make_stack(cls):
        # Another configuration than the default one is for root only.
        stack = LossStack(exporter={
            "queue_directories": "", "user": "",
            "postqueue_interval": "500ms"})
        stack.settings["exporter"]["config_directories"] = \
            f"{stack.postfix.settings['myhostname']}={stack.postfix.etc}"
        return stack

    def test_lost_then_put_back(self):
        queue_id = self.deferred()
        self.wait_for_looks("deferred", 2)
        self.assertEqual(self.state(queue_id), "deferred")
        self.stack.lose(queue_id)
        self.wait_for_state(queue_id, "lost")
        self.stack.put_back(queue_id)
        self.wait_for_state(queue_id, "deferred")
        self.wait_for_counter(1, "recipients_recovered_total")


class Gaps(LossCase):
    """Must show 3."""

    def rotate_away(self):
        """What logrotate does, but the old file is gone."""
        os.unlink(self.stack.postfix.log_path)
        with open(self.stack.postfix.log_path, "ab") as log:
            shutil.chown(log.name, "root", "postlag")
            os.fchmod(log.fileno(), 0o640)
        self.stack.postfix.command("postfix", "reload")

    def test_a_log_rotated_away_while_we_were_down(self):
        """unknown, not lost; and when the evidence appears it heals"""
        queue_id = self.deferred()
        self.stack.exporter.stop()
        self.send(["u2@example.test"])
        self.rotate_away()
        self.stack.lose(queue_id)
        self.send(["u3@example.test"])
        self.stack.exporter.start()
        self.wait_for_state(queue_id, ("unknown", "log_gap"))
        self.stack.put_back(queue_id)
        self.wait_for_state(queue_id, "deferred")
        self.stack.postfix.command("postsuper", "-d", queue_id)
        self.wait_for_state(queue_id, "deleted")
        self.assertEqual(self.counter("recipients_lost_total"), 0)
        # What came after the gap can be lost.
        queue_id = self.deferred()
        self.stack.lose(queue_id)
        self.wait_for_state(queue_id, "lost")


class Downtime(LossCase):
    def test_our_own_downtime_makes_nothing_unknown(self):
        """Must show 3: the log of it is still there"""
        waiting = self.deferred()
        gone = self.deferred()
        self.stack.exporter.kill()
        self.stack.lose(gone)
        delivered = self.send(["u1@example.test"])
        expanded = self.deferred_while_down()
        time.sleep(AFTER + CONFIRM)
        self.stack.exporter.start()
        self.wait_for_state(delivered, "delivered")
        self.wait_for_state(expanded, "deferred")
        self.wait_for_state(gone, "lost")
        self.assertEqual(self.state(waiting), "deferred")
        self.wait_for_counter(1, "recipients", state="lost")
        self.assertEqual(self.counter("recipients", state="unknown"), 0)
        self.assertEqual(self.counter("recipients", state="ghost"), 0)

    def deferred_while_down(self):
        queue_id = self.send(["u2@down.test"])
        self.stack.wait_in("deferred", queue_id)
        return queue_id


tap.main()
