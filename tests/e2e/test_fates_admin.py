# SPDX-License-Identifier: BSD-2-Clause
"""What becomes of mail that an administrator deletes, requeues, holds or
breaks with Postfix's own commands; probes; several instances (facts 8.1)."""

import os

import tap
from fate_stack import FateCase, FateStack, queue_id_of
from mail_system import Listener
from postfix import Postfix
from smtp_client import SmtpClient


class Commands(FateCase):
    """Everything to held.test is deferred until the transport is opened."""

    @classmethod
    def make_stack(cls):
        return FateStack(
            [Listener("plain"), Listener("verified", {
                "smtpd_recipient_restrictions":
                    "reject_unverified_recipient, permit"})],
            main_cf={"defer_transports": "lmtp",
                     "unverified_recipient_reject_code": "550",
                     "address_verify_poll_delay": "1s",
                     "address_verify_map": ""})

    def setUp(self):
        # direct.test goes by lmtp, example.test by postlag-lmtp.
        self.addCleanup(self.empty_queue)

    def empty_queue(self):
        if self.stack.postfix.queue_ids():
            self.stack.postfix.command("postsuper", "-d", "ALL")

    def deferred(self, recipients=("u1@direct.test",)):
        queue_id = self.send(list(recipients))
        self.assert_fates(queue_id, dict.fromkeys(recipients, "deferred"))
        return queue_id

    def postsuper(self, *arguments):
        self.stack.postfix.command("postsuper", *arguments)

    def requeue(self, queue_id):
        self.postsuper("-r", queue_id)
        self.stack.postfix.wake_pickup()
        return queue_id_of(self.wait_for_line(f"orig_id={queue_id}")[0])

    def open_transports(self):
        del self.stack.postfix.settings["defer_transports"]
        self.addCleanup(self.stack.postfix.reload)
        self.addCleanup(self.stack.postfix.settings.__setitem__,
                        "defer_transports", "lmtp")
        self.stack.postfix.reload()
        # A flush may come too early for the new qmgr(8).
        self.stack.wait_until_empty()

    def test_deleted(self):
        """postsuper -d ID; whoever was delivered before stays delivered"""
        queue_id = self.send(["u1@example.test", "u1@direct.test"])
        self.assert_fates(queue_id, {"u1@example.test": "delivered",
                                     "u1@direct.test": "deferred"})
        self.postsuper("-d", queue_id)
        self.assert_fates(queue_id, {"u1@example.test": "delivered",
                                     "u1@direct.test": "deleted"})

    def test_deleted_with_all_others(self):
        """postsuper -d ALL logs only a count: in doubt, never lost"""
        queue_ids = [self.deferred() for _ in range(2)]
        self.postsuper("-d", "ALL")
        self.wait_for_line("postsuper", "Deleted: 2 messages")
        for queue_id in queue_ids:
            self.assert_eventually(
                lambda fates: fates.get("u1@direct.test") in (
                    "deleted", ("unknown", "bulk_delete")), queue_id)

    def test_held_and_released(self):
        """postsuper -h, -H"""
        queue_id = self.deferred()
        self.postsuper("-h", queue_id)
        self.assert_fates(queue_id, {"u1@direct.test": "held"})
        self.postsuper("-H", queue_id)
        self.assert_fates(queue_id, {"u1@direct.test": "deferred"})
        self.open_transports()
        self.assert_fates(queue_id, {"u1@direct.test": "delivered"})

    def test_requeued(self):
        """postsuper -r: a new queue id of the same message (case 50)"""
        queue_id = self.deferred(["u1@direct.test", "u2@direct.test"])
        new = self.requeue(queue_id)
        self.open_transports()
        wanted = {"u1@direct.test": "delivered", "u2@direct.test": "delivered"}
        record = self.assert_fates(queue_id, wanted)
        self.assertEqual(self.record(new)["id"], record["id"])

    def test_requeued_after_a_part_was_delivered(self):
        queue_id = self.send(["u1@example.test", "u1@direct.test"])
        wanted = {"u1@example.test": "delivered", "u1@direct.test": "deferred"}
        self.assert_fates(queue_id, wanted)
        new = self.requeue(queue_id)
        self.assert_eventually(
            lambda _: self.stack.log_lines(f"{new}: to=", "deferred"))
        self.assert_fates(new, wanted)
        self.postsuper("-d", new)
        self.assert_fates(queue_id, {**wanted, "u1@direct.test": "deleted"})

    def test_corrupt(self):
        """A queue file that qmgr cannot read: lost, with the reason"""
        queue_id = self.deferred()
        path = next(os.path.join(parent, queue_id)
                    for parent, _, names in os.walk(
                        f"{self.stack.postfix.queue_directory}/deferred")
                    if queue_id in names)
        with open(path, "r+b") as file:
            file.seek(0, os.SEEK_END)
            file.truncate(file.tell() // 2)
        self.stack.postfix.flush()
        self.wait_for_line("saving corrupt file", queue_id)
        self.assert_eventually(
            lambda fates: fates.get("u1@direct.test") == ("lost", "corrupt"),
            queue_id)

    def test_probes_are_not_mail(self):
        """sendmail -bv and the probes of verify(8)"""
        before = self.stack.mailbox_files()
        self.stack.postfix.command("sendmail", "-bv", "-f",
                                   "sender@example.test", "u1@example.test")
        line = self.wait_for_line("to=<u1@example.test>",
                                  "status=deliverable")[0]
        self.assert_fates(queue_id_of(line), {"u1@example.test": "discarded"})
        queue_id = self.send(["u2@example.test"], listener="verified")
        self.assert_fates(queue_id, {"u2@example.test": "delivered"})
        self.wait_for_line("to=<u2@example.test>", "status=deliverable")
        # The report of -bv, and the message.
        self.stack.wait_until_delivered(before + 2)


class ShortQueueIds(FateCase):
    """Case 12."""

    options = {"main_cf": {"enable_long_queue_ids": "no"}}

    def test_short_queue_ids_and_their_reuse(self):
        """Cases 12 and 41: whoever is asked for by a queue id is the newest
        """
        for number in range(10):
            address = f"u{number}@example.test"
            queue_id = self.send([address, "u1@direct.test"])
            self.assertRegex(queue_id, "^[0-9A-F]{6,}$")
            self.assert_fates(queue_id, {address: "delivered",
                                         "u1@direct.test": "delivered"})
        self.assertEqual(self.stack.metrics().total(
            "postlag_messages_accepted_total"), 10)


class TwoInstances(FateCase):
    """Case 13: two instances write one log; the first relays by the second,
    which is another host to it."""

    @classmethod
    def make_stack(cls):
        out = cls.out_listener = Listener("out")
        stack = FateStack([
            Listener("plain"),
            Listener("submission", {"syslog_name": "postfix/submission"})])
        cls.out = Postfix(
            stack.path("out"), [out], {
                "myhostname": "out.example.test",
                "syslog_name": "postfix-out",
                "mynetworks": "127.0.0.0/8",
                "maillog_file": stack.postfix.log_path,
                "maillog_file_prefixes": stack.directory,
                "transport_maps":
                    "inline:{ { relay.test = discard:there } }"})
        out.options["syslog_name"] = "postfix-out/out"
        stack.postfix.settings["transport_maps"] += \
            f" inline:{{ {{ relay.test = smtp:[127.0.0.1]:{out.port} }} }}"
        stack.postfix.settings["relay_domains"] = "relay.test"
        stack.settings["exporter"]["maillog_instances"] = \
            "postfix=mx.example.test, postfix-out=out.example.test"
        stack.settings["exporter"]["queue_directories"] += \
            f", out.example.test={cls.out.queue_directory}"
        os.mkdir(cls.out.directory)
        cls.out.prepare()
        cls.out.command("postfix", "check")
        return stack

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.addClassCleanup(cls.out.kill)
        cls.out.start()

    def test_relayed_to_the_other_instance(self):
        """Relayed by the one, a message of its own in the other"""
        queue_id = self.send(["a@relay.test", "u1@example.test"],
                             listener="submission")
        record = self.assert_fates(queue_id, {"a@relay.test": "relayed",
                                              "u1@example.test": "delivered"})
        self.assertEqual(record["instance"], "mx.example.test")
        line = self.wait_for_line(f"{queue_id}: to=<a@relay.test>")[0]
        there = line.rpartition("queued as ")[2].rstrip(")")
        record = self.assert_fates(there, {"a@relay.test": "discarded"})
        self.assertEqual(record["instance"], "out.example.test")

    def test_mail_of_the_other_instance_alone(self):
        """Its own instance, although it never saw a milter"""
        with SmtpClient(self.out_listener.address) as client:
            client.command("EHLO client.example.test", 2)
            code, text = client.message(recipients=["b@relay.test"])
            client.quit()
        self.assertEqual(code, 250, text)
        queue_id = text.split()[-1]
        record = self.assert_fates(queue_id, {"b@relay.test": "discarded"})
        self.assertEqual(record["instance"], "out.example.test")


if __name__ == "__main__":
    tap.main()
