# SPDX-License-Identifier: BSD-2-Clause
"""What becomes of recipients that the LMTP server refuses or defers: bounces,
expiry, retries, duplicates (facts 8.1)."""

import collections
import threading
import time

import tap
from fate_stack import FateCase, FateStack
from lmtp_server import Script, Server
from waiting import wait_until


# Seconds until the LMTP server's reply is read, on a busy machine.
ROOM = 0.5


class ByAddress(Script):
    """Answers as the local part says, and counts what it took."""

    def __init__(self):
        self.saved = collections.Counter()
        self.refused = collections.Counter()
        self.may_answer = threading.Event()
        self.saved_at = {}

    def rcpt(self, session, address):
        if address.startswith("unknown"):
            return b"550 5.1.1 No such user\r\n"
        if address.startswith("locked"):
            return b"450 4.2.0 Locked\r\n"
        return super().rcpt(session, address)

    def final(self, session, address):
        times = address.partition("@")[0].rpartition("busy")[2]
        self.refused[address] += 1
        if address.startswith("full"):
            return b"552 5.2.2 Mailbox full\r\n"
        if address.startswith("never") \
                or times.isdigit() and self.refused[address] <= int(times):
            return b"451 4.3.0 Busy\r\n"
        self.saved[address] += 1
        self.saved_at[address] = time.time()
        reply = super().final(session, address)
        if address.startswith("odd"):
            reply = b'250 2.0.0 ok delay=99, dsn=5.0.0, status=bounced "x\\\r\n'
        if address.startswith("slow") and self.saved[address] == 1:
            return [self.may_answer, reply]
        return reply


class ScriptedStack(FateStack):
    """The hook's LMTP server is a script. For example.test the hook is the
    only nexthop, because lmtp(8) goes on to the second one when the first says
    4xx; for past.test the script itself is the second."""

    def __init__(self, server):
        super().__init__(settings={"lmtp": {"backend": server.endpoint}},
                         hook_options={"lmtp_data_done_timeout": "2s"})
        self.server = server
        settings = self.postfix.settings
        hook, comma, _ = settings["virtual_transport"].partition(",")
        assert comma
        settings["virtual_transport"] = hook
        settings["virtual_mailbox_domains"] += " past.test"
        settings["transport_maps"] += " texthash:{etc}/transport"
        self.files["transport"] = \
            f"past.test {hook}, 127.0.0.1:{server.address[1]}\n"

    def mailbox_files(self):
        return super().mailbox_files() + self.server.script.saved.total()


class Attempts(FateCase):
    @classmethod
    def make_stack(cls):
        cls.server = Server(ByAddress())
        cls.addClassCleanup(cls.server.close)
        return ScriptedStack(cls.server)

    def flush_until(self, queue_id, wanted):
        """The queue is run until the message has these fates."""
        def reached():
            if self.fates(queue_id) == wanted:
                return True
            self.stack.postfix.flush()
            return False
        wait_until(reached, f"{queue_id}: {wanted}", pause=0.3)
        return self.assert_fates(queue_id, wanted)

    def test_bounce_of_one_recipient_of_three(self):
        """Bounce, per recipient; the notification is a message of its own"""
        queue_id = self.send(["u1@example.test", "unknown@example.test",
                              "u2@example.test"])
        self.assert_fates(queue_id, {
            "u1@example.test": "delivered", "unknown@example.test": "bounced",
            "u2@example.test": "delivered"})
        line = self.wait_for_line(f"{queue_id}: sender non-delivery")[0]
        self.assert_fates(line.split()[-1], {"sender@direct.test":
                                             "delivered"})

    def test_bounce_behind_the_content(self):
        queue_id = self.send(["full@example.test"])
        self.assert_fates(queue_id, {"full@example.test": "bounced"})

    def test_bounce_of_null_sender(self):
        """Bounced, removed, no notification"""
        queue_id = self.send(["unknown@example.test"], sender="")
        self.assert_fates(queue_id, {"unknown@example.test": "bounced"})
        self.wait_for_line(f"{queue_id}: removed")
        self.assertFalse(self.stack.log_lines(queue_id, "notification"))

    def test_deferred_and_still_queued(self):
        """Still queued, whatever its age; then deleted"""
        queue_id = self.send(["u1@example.test", "locked@example.test"])
        self.assert_fates(queue_id, {"u1@example.test": "delivered",
                                     "locked@example.test": "deferred"})
        self.stack.postfix.command("postsuper", "-d", queue_id)
        self.assert_fates(queue_id, {"u1@example.test": "delivered",
                                     "locked@example.test": "deleted"})

    def test_deferred_at_the_hook_delivered_past_it(self):
        """4xx sends lmtp(8) on to the second nexthop, in the same attempt"""
        queue_id = self.send(["busy1@past.test"])
        self.assert_fates(queue_id, {"busy1@past.test": "delivered"})
        self.assertEqual(len(self.stack.log_lines(f"{queue_id}: to=")), 1)

    def test_deferred_twice_then_delivered(self):
        """Cases 1 and 33, must show 8: one latency, three attempts"""
        before, began = self.stack.metrics(), time.time()
        queue_id = self.send(["busy2@example.test"])
        accepted = time.time()
        record = self.flush_until(queue_id,
                                  {"busy2@example.test": "delivered"})
        after = self.stack.metrics()
        count, seconds = (
            after.total(f"postlag_delivery_latency_seconds_{what}")
            - before.total(f"postlag_delivery_latency_seconds_{what}")
            for what in ("count", "sum"))
        self.assertEqual(count, 1)
        # MAIL FROM came between began and accepted.
        saved = self.server.script.saved_at["busy2@example.test"]
        self.assertGreaterEqual(seconds, saved - accepted)
        self.assertLessEqual(seconds, saved - began + ROOM)
        recipient = record["recipients"][0]
        self.assertEqual(recipient["attempts"], 3)
        self.assertEqual(
            self.server.script.refused["busy2@example.test"], 3)

    def test_mixed_results_on_one_message(self):
        """Case 39: 3 x 250, 1 x 550, 1 x 451"""
        queue_id = self.send(["u1@example.test", "u2@example.test",
                              "unknown@example.test", "never@example.test",
                              "u3@example.test"])
        wanted = {"u1@example.test": "delivered",
                  "u2@example.test": "delivered",
                  "unknown@example.test": "bounced",
                  "never@example.test": "deferred",
                  "u3@example.test": "delivered"}
        self.assert_fates(queue_id, wanted)
        self.stack.postfix.command("postsuper", "-d", queue_id)
        self.assert_fates(queue_id, {**wanted,
                                     "never@example.test": "deleted"})

    def test_each_outcome_is_counted(self):
        """Case 3: 3 sent, 2 bounced, 1 deferred are the 6 accepted"""
        wanted = {"a@example.test": "delivered", "b@example.test": "delivered",
                  "c@example.test": "delivered", "full1@example.test":
                  "bounced", "full2@example.test": "bounced",
                  "never@example.test": "deferred"}
        before = self.stack.metrics()
        # Without a sender there are no notifications.
        queue_ids = {address: self.send([address], "") for address in wanted}
        for address, state in wanted.items():
            self.assert_fates(queue_ids[address], {address: state})
        after = self.stack.metrics()

        def grown(name, **labels):
            return after.total(f"postlag_{name}", **labels) \
                - before.total(f"postlag_{name}", **labels)
        self.assertEqual(grown("recipients_accepted_total"), 6)
        self.assertEqual(grown("recipient_outcomes_total"), 5)
        for outcome, count in (("delivered", 3), ("bounced", 2)):
            self.assertEqual(
                grown("recipient_outcomes_total", outcome=outcome), count)
        self.assertEqual(grown("recipients", state="deferred"), 1)
        self.stack.postfix.command("postsuper", "-d",
                                   queue_ids["never@example.test"])
        self.assert_fates(queue_ids["never@example.test"],
                          {"never@example.test": "deleted"})

    def test_force_expired(self):
        """postsuper -e: returned to sender, no bounced line"""
        queue_id = self.send(["never@example.test", "u1@example.test"])
        self.assert_fates(queue_id, {"never@example.test": "deferred",
                                     "u1@example.test": "delivered"})
        self.stack.postfix.command("postsuper", "-e", queue_id)
        self.flush_until(queue_id, {"never@example.test": "expired",
                                    "u1@example.test": "delivered"})
        self.assertTrue(self.stack.log_lines(queue_id, "force-expired"))

    def test_expired(self):
        """maximal_queue_lifetime: covers all who are deferred still"""
        queue_id = self.send(["never@example.test", "locked@example.test",
                              "u1@example.test"])
        self.assert_fates(queue_id, {"never@example.test": "deferred",
                                     "locked@example.test": "deferred",
                                     "u1@example.test": "delivered"})
        settings = self.stack.postfix.settings
        settings["maximal_queue_lifetime"] = "1s"
        self.stack.postfix.reload()
        try:
            self.flush_until(queue_id, {"never@example.test": "expired",
                                        "locked@example.test": "expired",
                                        "u1@example.test": "delivered"})
        finally:
            del settings["maximal_queue_lifetime"]
            self.stack.postfix.reload()
        self.assertTrue(self.stack.log_lines(queue_id, "status=expired"))

    def test_reply_that_looks_like_fields(self):
        """Case 21: the reply's text decides nothing"""
        queue_id = self.send(["odd@example.test"])
        record = self.assert_fates(queue_id, {"odd@example.test": "delivered"})
        self.assertIn("status=bounced \"x\\",
                      record["recipients"][0]["reply"]["text"])

    def test_postfix_gives_up_before_the_reply(self):
        """Case 42: delivered once, a duplicate counted, nothing lost"""
        before = self.stack.metrics().total("postlag_duplicates_total")
        queue_id = self.send(["slow@example.test"])
        self.wait_for_line(queue_id, "may be sent more than once")
        self.server.script.may_answer.set()
        self.assert_fates(queue_id, {"slow@example.test": "delivered"})
        self.stack.postfix.flush()
        self.wait_for_line(f"{queue_id}: removed")
        self.assert_eventually(lambda fates: self.stack.metrics().total(
            "postlag_duplicates_total") == before + 1)
        # The balance compares recipients with mailboxes.
        self.server.script.saved["slow@example.test"] -= 1

    def test_many_recipients_with_every_result(self):
        """Case 44: 120 recipients, each its own outcome"""
        kinds = {"u": "delivered", "unknown": "bounced", "full": "bounced",
                 "locked": "deferred"}
        wanted = {f"{kind}{number}@example.test": state
                  for number in range(30) for kind, state in kinds.items()}
        queue_id = self.send(list(wanted))
        self.assert_fates(queue_id, wanted)
        self.stack.postfix.command("postsuper", "-d", queue_id)
        self.assert_fates(queue_id, {
            address: "deleted" if state == "deferred" else state
            for address, state in wanted.items()})


class LmtpServerAway(FateCase):
    def test_twenty_messages_wait_for_the_lmtp_server(self):
        """Cases 2, 27 and 30: connection refused is deferred, then delivered
        """
        self.stack.dovecot.stop()
        queue_ids = [self.send([f"u{n}@example.test"]) for n in range(20)]
        for number, queue_id in enumerate(queue_ids):
            self.assert_fates(queue_id, {
                f"u{number}@example.test": "deferred"})
        self.assertEqual(self.stack.metrics().value(
            "postlag_recipients", state="deferred"), 20)
        self.stack.dovecot.start()
        self.stack.wait_until_empty()
        for number, queue_id in enumerate(queue_ids):
            self.assert_fates(queue_id, {
                f"u{number}@example.test": "delivered"})
        removed = [line for line in self.stack.log_lines(": removed")]
        self.assertEqual(len(removed), 20)


if __name__ == "__main__":
    tap.main()
