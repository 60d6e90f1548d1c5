# SPDX-License-Identifier: BSD-2-Clause
"""`postlag ack`: losses that an operator accounts for, on a real Postfix whose
queue files go away behind its back (facts 8.1: queue moved or renamed by an
administrator)."""

import concurrent.futures
import json
import os
import re
import threading
import unittest

import killer
import tap
from fate_stack import Balance
from journal import Journal
from loss_stack import LossCase
from waiting import wait_until

OPERATOR = {"user": "nobody", "group": "postlag",
            "extra_groups": ["postlag-admin"]}
READER = {"user": "nobody", "group": "postlag", "extra_groups": []}
ROOT = {"user": 0, "group": 0, "extra_groups": []}


class Acknowledged(LossCase):
    def lose(self, *queue_ids):
        for queue_id in queue_ids:
            self.stack.lose(queue_id)
        for queue_id in queue_ids:
            self.wait_for_state(queue_id, "lost")

    def lost(self, count=1):
        """So many messages that are lost."""
        queue_ids = [self.deferred() for _ in range(count)]
        self.lose(*queue_ids)
        return queue_ids

    def ack(self, *arguments, status=0, **identity):
        done = self.stack.postlag("ack", *arguments, check=False,
                                  **(identity or OPERATOR))
        self.assertEqual(done.returncode, status, done)
        return done

    def listed(self, *arguments):
        """(exit status, queue ids) of postlag lost."""
        done = self.stack.postlag("lost", "--json", *arguments, check=False)
        return done.returncode, {message["queue_id"] for message in
                                 json.loads(done.stdout)["messages"]}

    def assert_acknowledged(self, queue_id):
        """Without waiting: postlag ack does."""
        self.assertEqual(self.fates(queue_id),
                         {"u1@down.test": ("deleted", "acknowledged")})

    def operations(self, queue_id):
        return self.record(queue_id)["operations"]

    def revised(self, before, after):
        return self.counter("outcome_revisions_total",
                            **{"from": before, "to": after})

    def tearDown(self):
        """Whatever was lost is accounted for, and the balance closes."""
        self.ack("--lost", "--yes")
        wait_until(lambda: self.listed() == (0, set()), "nothing to be lost")
        Balance(self.stack).wait()

    def test_a_loss_is_acknowledged_and_the_balance_closes(self):
        """lost -> ack -> deleted, with name and comment; postlag lost is
        status 0 again and lists it only with --all"""
        found = self.counter("recipients_lost_total")
        queue_id, = self.lost()
        self.assertEqual(self.listed(), (1, {queue_id}))
        self.wait_for_counter(found + 1, "recipients_lost_total")
        revised = self.revised("lost", "deleted")
        done = self.ack(queue_id, "--comment", "restored on mx2")
        self.assertIn(queue_id, done.stdout)
        self.assertTrue(done.stdout.endswith("\nacknowledged\n"), done)
        self.assertEqual(done.stderr, "")
        self.assert_acknowledged(queue_id)
        operation, = self.operations(queue_id)
        self.assertEqual((operation["who"], operation["comment"]),
                         ("nobody", "restored on mx2"))
        self.assertEqual(self.listed(), (0, set()))
        self.assertEqual(self.listed("--all"), (0, {queue_id}))
        shown = self.stack.postlag("show", queue_id).stdout
        self.assertRegex(shown, r"(?m)^operator +nobody acknowledged the loss "
                                r"at \S+:\s+restored on mx2$")
        self.wait_for_counter(revised + 1, "outcome_revisions_total",
                              **{"from": "lost", "to": "deleted"})
        self.assertEqual(self.counter("recipients_lost_total"), found + 1)
        self.assertEqual(self.counter("recipients", state="lost"), 0)

    def test_what_comes_back_after_it_is_delivered_and_recovered(self):
        """The file put back and delivered after ack: relayed, recovered"""
        self.stack.may_reply.clear()
        self.stack.is_asked.clear()
        queue_id = self.send(["u1@slow.test"])
        wait_until(self.stack.is_asked.is_set, "smtp(8) to have sent it")
        wait_until(lambda: self.state(queue_id) is not None, "its record")
        self.lose(queue_id)
        self.ack(queue_id)
        recovered = self.counter("recipients_recovered_total")
        self.stack.may_reply.set()
        self.wait_for_state(queue_id, "relayed")
        self.wait_for_counter(recovered + 1, "recipients_recovered_total")
        self.assertEqual(len(self.operations(queue_id)), 1)

    def test_what_is_back_in_the_queue_can_be_lost_again(self):
        """An acknowledgement holds for one loss: the file put back is in the
        queue, and gone once more it is lost"""
        queue_id, = self.lost()
        self.ack(queue_id)
        self.stack.put_back(queue_id)
        self.wait_for_state(queue_id, "deferred")
        done = self.ack(queue_id, status=1)
        self.assertIn("not known to have left the queue", done.stderr)
        self.lose(queue_id)

    def test_what_is_not_lost_cannot_be_acknowledged(self):
        """Open, delivered, unknown or acknowledged already: status 1, the
        reason, and nothing is written; the others are acknowledged"""
        delivered = self.send(["u1@example.test"])
        self.wait_for_state(delivered, "delivered")
        queued = self.deferred()
        first, second = self.lost(2)
        self.ack(first, "--comment", "mine")
        written = self.journal()
        for key, reason in ((delivered, "nothing of it is lost (1 delivered)"),
                            (queued, "left the queue (1 deferred)"),
                            (first, "nobody has acknowledged it, at 20"),
                            ("4NoSuchId", "no message has that id")):
            done = self.ack(key, status=1)
            self.assertEqual(done.stdout, "")
            self.assertRegex(done.stderr, f"^postlag: {key} is not ")
            self.assertIn(reason, done.stderr)
        # What the exporter has read is removed meanwhile.
        self.assertEqual([event for event in self.journal()
                          if event not in written], [])
        done = self.ack(delivered, second, first, status=1)
        self.assertEqual(done.stderr.count("\n"), 2)
        self.assert_acknowledged(second)
        self.assertEqual(len(self.operations(first)), 1)
        self.stack.postfix.command("postsuper", "-d", queued)

    def journal(self):
        return [event for kind, event in
                Journal(self.stack.journals, "operator").events()
                if kind == "operation"]

    def test_everything_lost_at_once(self):
        """ack --lost shows, and with --yes does it; --since and --before
        choose by age"""
        self.ack("--lost", "--yes")
        queue_ids = set(self.lost(3))
        done = self.ack("--lost")
        self.assertIn("3 messages", done.stdout)
        self.assertIn("--yes does it", done.stdout)
        self.assertEqual(self.listed(), (1, queue_ids))
        for arguments in (["--before", "1h"], ["--since", "1s"]):
            wait_until(lambda: self.listed(*arguments) == (0, set()),
                       f"none to be {arguments}")
            done = self.ack("--lost", "--yes", *arguments)
            self.assertEqual(done.stdout, "nothing known to be lost\n")
            self.assertEqual(self.listed(*arguments), (0, set()))
        self.assertEqual(self.listed("--since", "1h"), (1, queue_ids))
        done = self.ack("--lost", "--yes", "--since", "1h", "--limit", "1")
        self.assertEqual(len(re.findall(r"u1@down\.test", done.stdout)), 1)
        self.assertEqual(self.listed(), (0, set()))
        for queue_id in queue_ids:
            self.assert_acknowledged(queue_id)

    def test_the_exporter_need_not_run(self):
        """ack while the exporter is stopped, twice at a time: recorded, and
        counted once when it is back"""
        queue_id, = self.lost()
        revised = self.revised("lost", "deleted")
        self.assertEqual(self.stack.exporter.stop(), 0)
        with concurrent.futures.ThreadPoolExecutor() as pool:
            for done in pool.map(self.ack, [queue_id] * 2):
                self.assertIn("acknowledged", done.stdout)
                self.assertIn("is it running?", done.stderr)
        self.assertEqual(self.listed(), (1, {queue_id}))
        self.stack.exporter.start()
        wait_until(lambda: self.listed() == (0, set()), "it to be applied")
        self.wait_for_counter(revised + 1, "outcome_revisions_total",
                              **{"from": "lost", "to": "deleted"})
        self.assertEqual(len(self.operations(queue_id)), 1)

    def test_killed_at_any_time_it_counts_once(self):
        """I2, I3: the exporter killed in its commits while an operator
        acknowledges: each is applied exactly once"""
        if not killer.possible():
            self.skipTest("strace may not attach")
        points = [("fdatasync", 1), ("pwrite64", 1), ("pwrite64", 3)]
        queue_ids = self.lost(len(points))
        revised = self.revised("lost", "deleted")
        for queue_id, point in zip(queue_ids, points):
            with killer.Killer(self.stack.exporter, *point) as kill:
                acknowledging = threading.Thread(target=self.ack,
                                                 args=[queue_id])
                acknowledging.start()
                wait_until(kill.killed, f"the exporter to be killed: {point}")
            self.stack.exporter.start()
            acknowledging.join()
        wait_until(lambda: self.listed() == (0, set()), "all to be applied")
        self.wait_for_counter(
            revised + len(queue_ids), "outcome_revisions_total",
            **{"from": "lost", "to": "deleted"})
        for queue_id in queue_ids:
            self.assertEqual(len(self.operations(queue_id)), 1)

    def test_only_operators_may(self):
        """A member of group postlag alone may read and not acknowledge; root
        may; both write files that the other may go on with"""
        queue_id, other = self.lost(2)
        done = self.ack(queue_id, status=2, **READER)
        self.assertIn("postlag-admin", done.stderr)
        self.assertIn("Permission denied", done.stderr)
        self.assertEqual(self.state(queue_id), "lost")
        self.ack(queue_id, **ROOT)
        self.assertEqual(self.operations(queue_id)[0]["who"],
                         os.environ.get("SUDO_USER") or "root")
        self.ack(other)
        self.assert_acknowledged(other)


tap.main()
