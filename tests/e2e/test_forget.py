# SPDX-License-Identifier: BSD-2-Clause
"""`postlag forget`: what is stored of an address is overwritten in every day,
while messages flow and whoever is killed; fates and counts stay (I2, I3)."""

import contextlib
import datetime
import glob
import os
import shutil
import sqlite3
import subprocess
import threading

import tap
from fate_stack import FateCase, FateStack
from mail_system import Listener
from smtp_client import SmtpClient
from waiting import wait_until

NAME = "aliceforgetme"
OTHER = "bobkeepme"
# Sealed, and not purged yet.
OLD_DAY = (datetime.datetime.now(datetime.timezone.utc)
           - datetime.timedelta(days=20)).strftime("day-%Y%m%d.db")
ADMIN = {"user": "root", "group": "root"}


class ForgetStack(FateStack):
    def __init__(self):
        super().__init__(
            [Listener("plain")],
            main_cf={
                "mydestination": "local.test", "myorigin": "local.test",
                "local_recipient_maps": "", "alias_maps": "",
                "virtual_alias_maps":
                    f"inline:{{ {{ team@example.test = {NAME}@example.test"
                    f" {OTHER}@example.test }} }}",
                "transport_maps": "texthash:{etc}/transport",
                "defer_transports": "slow"})
        self.postfix.services.append("slow unix - - n - - lmtp")

    def prepare(self):
        to_dovecot = f"inet:127.0.0.1:{self.dovecot.port}"
        self.files = {"transport": f"{NAME}@direct.test slow:{to_dovecot}\n"
                                   f"direct.test lmtp:{to_dovecot}\n"}
        super().prepare()


class Forget(FateCase):
    @classmethod
    def make_stack(cls):
        return ForgetStack()

    def forget(self, *arguments):
        return self.stack.postlag("forget", *arguments, check=False, **ADMIN)

    def found(self, name):
        """Where the name is on the disk: store, WALs, operator's journal."""
        places = []
        for path in glob.glob(f"{self.stack.store}/*") \
                + glob.glob(f"{self.stack.journals}/operator/*"):
            try:
                with open(path, "rb") as file:
                    if name.encode() in file.read().lower():
                        places.append(os.path.basename(path))
            except FileNotFoundError:
                pass
        return places

    def send_some(self):
        """As recipient, member of an alias, sender, refused, unknown to
        local(8), deferred."""
        sender = f"{NAME}@client.test"
        wanted = {
            self.send([f"{NAME}@example.test", f"{OTHER}@example.test"],
                      sender):
            [("example.test", "delivered"), ("example.test", "delivered")],
            self.send(["team@example.test"], "x@direct.test"):
            [("example.test", "delivered"), ("example.test", "delivered"),
             ("example.test", "expanded")],
            self.send([f"{NAME}@local.test"], "x@direct.test"):
            [("local.test", "bounced")],
            self.send([f"{NAME.upper()}@direct.test",
                       f"{OTHER}@direct.test"], "x@direct.test"):
            [("direct.test", "deferred"), ("direct.test", "delivered")]}
        for queue_id, fates in wanted.items():
            self.assert_eventually(
                lambda _, q=queue_id, f=fates: self.outline(q) == f,
                f"{queue_id}: {self.outline(queue_id)} and not {fates}")
        return wanted

    def outline(self, queue_id):
        record = self.record(queue_id)
        return record and sorted(
            (recipient["address"].rpartition("@")[2], recipient["state"])
            for recipient in record["recipients"])

    def old_day(self):
        """A day that was sealed long ago: a copy of today's."""
        stack = self.stack
        self.assertEqual(stack.exporter.stop(), 0)
        day, = glob.glob(f"{stack.store}/day-????????.db")
        for suffix in ("", "-wal", "-shm"):
            if os.path.exists(day + suffix):
                old = f"{stack.store}/{OLD_DAY}{suffix}"
                shutil.copy2(day + suffix, old)
                shutil.chown(old, "postlag-exporter", "postlag")
        stack.exporter.start()
        stack.wait_until_settled()

    def stop_slow(self):
        """The deferred one is delivered now."""
        del self.stack.postfix.settings["defer_transports"]
        self.stack.postfix.reload()
        self.stack.wait_until_empty()

    def test_a_name_is_nowhere_any_more(self):
        """Also in a sealed day and from a message still in the queue, whose
        recipient stays the same one (I5)"""
        stack = self.stack
        wanted = self.send_some()
        stack.wait_until_settled()
        self.old_day()
        try:
            self.forget_and_look(wanted)
        finally:
            self.restore_days()

    def forget_and_look(self, wanted):
        stack = self.stack
        places = self.found(NAME)
        self.assertGreater(len(places), 1, places)
        before = stack.metrics()
        addresses = [f"{NAME}@{domain}" for domain in
                     ("example.test", "client.test", "local.test",
                      "direct.test")]

        shown = self.forget("--dry-run", *addresses)
        self.assertEqual(shown.returncode, 0, shown)
        self.assertIn(f"{NAME}@local.test: in 2 messages", shown.stdout)
        self.assertIn("not forgotten", shown.stdout)
        shown = self.forget(*addresses)
        self.assertIn("--yes does it", shown.stdout)
        self.assertEqual(self.found(NAME), places)

        done = self.forget("--yes", *addresses)
        self.assertEqual((done.returncode, done.stderr), (0, ""),
                         (done, stack.exporter.log()[-3000:]))
        self.assertIn("\nforgotten\n", done.stdout)
        wait_until(lambda: not self.found(NAME), f"{self.found(NAME)}")
        self.assertNotEqual(self.found(OTHER), [])
        self.assertNotIn(NAME, stack.exporter.log())
        again = self.forget("--dry-run", *addresses)
        self.assertEqual(again.returncode, 1, again)

        for queue_id, fates in wanted.items():
            self.assertEqual(self.outline(queue_id), fates)
        after = stack.metrics()
        for name in ("postlag_recipients", "postlag_messages_accepted_total",
                     "postlag_recipient_outcomes_total"):
            self.assertEqual(after.total(name), before.total(name), name)
        # Whoever is under way is known by the pseudonym, also after a restart.
        self.assertEqual(stack.exporter.stop(), 0)
        stack.exporter.start()
        self.stop_slow()
        slow = list(wanted)[-1]
        self.assert_eventually(lambda _: self.outline(slow) == [
            ("direct.test", "delivered")] * 2, f"{self.outline(slow)}")

    def restore_days(self):
        """The copied day counts everything twice: without it, and without the
        note of what was counted, the balance closes."""
        stack = self.stack
        self.assertEqual(stack.exporter.stop(), 0)
        for path in glob.glob(f"{stack.store}/{OLD_DAY}*"):
            os.unlink(path)
        with contextlib.closing(sqlite3.connect(
                f"{stack.store}/control.db", isolation_level=None)) as control:
            control.execute("DELETE FROM note WHERE name = 'counted'")
        stack.exporter.start()
        stack.wait_until_settled()

    def test_unknown_addresses_and_wrong_ones(self):
        nobody = self.forget("nobody-at-all@example.test")
        self.assertEqual(nobody.returncode, 1, nobody)
        for wrong in ([], [""], ["@example.test"], ["a\nb@example.test"]):
            self.assertEqual(self.forget(*wrong).returncode, 2, wrong)
        reader = self.stack.postlag("forget", "--yes", "a@example.test",
                                    check=False)
        self.assertEqual(reader.returncode, 2, reader)
        self.assertIn("postlag-admin", reader.stderr)

    def test_while_messages_flow_and_the_exporter_is_killed(self):
        """What came before is forgotten, what comes later is stored"""
        stack = self.stack
        name, stop = "carolflowing", threading.Event()
        sent = []

        def flow():
            with SmtpClient(stack.address(None)) as client:
                client.command("EHLO client.example.test", 2)
                while not stop.is_set():
                    code, text = client.message(
                        "x@direct.test",
                        [f"{name}@example.test",
                         f"flow{len(sent)}@example.test"],
                        "Subject: x\r\n\r\nx\r\n")
                    assert code == 250, text
                    sent.append(text.split()[-1])
                client.quit()

        thread = threading.Thread(target=flow)
        thread.start()
        try:
            wait_until(lambda: len(sent) > 20, "some mail")
            for _ in range(3):
                process = subprocess.Popen(
                    [stack.path("bin", "postlag"), "-c", stack.config,
                     "forget", "--yes", f"{name}@example.test"],
                    stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                count = len(sent)
                wait_until(lambda c=count: len(sent) > c + 5, "more mail")
                stack.exporter.kill()
                stack.exporter.start()
                process.wait()
        finally:
            stop.set()
            thread.join()
        stack.wait_until_empty()
        stack.wait_until_settled()
        done = self.forget("--yes", f"{name}@example.test")
        self.assertIn("\nforgotten\n", done.stdout,
                      (done, stack.exporter.log()[-3000:]))
        wait_until(lambda: not self.found(name), f"{self.found(name)}")
        for queue_id in sent:
            self.assertEqual(self.outline(queue_id),
                             [("example.test", "delivered")] * 2)
        self.send([f"{name}@example.test"], "x@direct.test")
        wait_until(lambda: self.found(name), "it is stored again")
        stack.wait_until_empty()


if __name__ == "__main__":
    tap.main()
