# SPDX-License-Identifier: BSD-2-Clause
"""`privacy`: the same mail under full, domain and hash has the same fates and
counts, and neither store nor log nor API hold more of an address than they may
(I9)."""

import concurrent.futures
import glob
import json
import os
import shutil
import urllib.parse

import tap
from fate_stack import FINAL, OPEN, FateCase, FateStack, queue_id_of
from mail_system import Listener
from smtp_client import SmtpClient

# Nothing else in a store or log reads like one of these.
NAMES = ["alicewonder", "bobbuilder", "carolsinger", "davegone", "evelate",
         "frankforward", "gracealias", "heidisender", "ivanbcc", "judylogin"]
ALICE, BOB, CAROL, DAVE, EVE, FRANK, GRACE, HEIDI, IVAN, JUDY = NAMES


class PrivacyStack(FateStack):
    def __init__(self):
        super().__init__(
            [Listener("plain"),
             Listener("bare", {"smtpd_milters": ""}),
             Listener("submission", {"smtpd_sasl_auth_enable": "yes",
                                     "smtpd_sasl_type": "dovecot"})],
            main_cf={
                "mydestination": "local.test", "myorigin": "local.test",
                "alias_maps": "texthash:{etc}/aliases",
                "virtual_alias_maps":
                    f"inline:{{ {{ {GRACE}@example.test = {ALICE}@example.test"
                    f" {BOB}@direct.test }} {{ {DAVE}@example.test ="
                    f" {DAVE}@error.test }} }}",
                "local_recipient_maps": "",
                "virtual_mailbox_domains":
                    "example.test direct.test error.test",
                "smtpd_recipient_restrictions":
                    f"check_recipient_access inline:{{ {{ {CAROL}@example.test"
                    " = REJECT no such singer } }, permit",
                "transport_maps": "texthash:{etc}/transport",
                "defer_transports": "slow"})
        self.postfix.services.append("slow unix - - n - - lmtp")

    def prepare(self):
        self.files = {
            "aliases": f"{FRANK} {EVE}@example.test\n",
            "transport":
                f"direct.test lmtp:inet:127.0.0.1:{self.dovecot.port}\n"
                "error.test error:5.1.1 no such user here\n"
                f"{EVE}@direct.test slow:inet:127.0.0.1:{self.dovecot.port}\n"}
        super().prepare()


class Privacy(FateCase):
    """All mail is sent once, with `full`; further exporters with stores of
    their own read the same journals and log from the start."""

    @classmethod
    def make_stack(cls):
        return PrivacyStack()

    def send_all(self):
        """Queue ids with their fates."""
        stack = self.stack
        sender = f"{HEIDI}@direct.test"
        wanted = {}

        def send(recipients, fates, listener=None):
            queue_id = self.send(recipients, sender, listener)
            wanted[queue_id] = fates

        send([f"{ALICE}@example.test", f"{BOB}@example.test",
              f"{ALICE}@example.test"],
             {f"{ALICE}@example.test": "delivered",
              f"{BOB}@example.test": "delivered"})
        send([f"{BOB}@direct.test", f"{EVE}@direct.test"],
             {f"{BOB}@direct.test": "delivered",
              f"{EVE}@direct.test": "deferred"})
        send([f"{GRACE}@example.test"],
             {f"{GRACE}@example.test": "expanded",
              f"{ALICE}@example.test": "delivered",
              f"{BOB}@direct.test": "delivered"})
        send([f"{DAVE}@example.test", f"{ALICE}@direct.test"],
             {f"{DAVE}@error.test": "bounced",
              f"{ALICE}@direct.test": "delivered"}, "bare")
        send([f"{DAVE}@local.test", f"{FRANK}@local.test"],
             {f"{DAVE}@local.test": "bounced",
              f"{FRANK}@local.test": "expanded",
              f"{EVE}@example.test": "delivered"})
        self.refuse(sender)
        for queue_id, fates in wanted.items():
            self.assert_fates(queue_id, fates)
        wanted[self.requeue(sender)] = None
        return wanted

    def refuse(self, sender):
        """RCPT TO refused, the other recipient is not."""
        with SmtpClient(self.stack.address(None)) as client:
            client.command("EHLO client.example.test", 2)
            client.command(f"MAIL FROM:<{sender}>", 2)
            client.command(f"RCPT TO:<{CAROL}@example.test>", 5)
            client.command(f"RCPT TO:<{IVAN}@example.test>", 2)
            client.command("RSET", 2)
            client.quit()

    def requeue(self, sender):
        """Two recipients of one domain, one of whom goes on under another
        queue id."""
        queue_id = self.send([f"{ALICE}@direct.test", f"{EVE}@direct.test"],
                             sender)
        self.assert_fates(queue_id, {f"{ALICE}@direct.test": "delivered",
                                     f"{EVE}@direct.test": "deferred"})
        self.stack.postfix.command("postsuper", "-r", queue_id)
        self.stack.postfix.wake_pickup()
        new = queue_id_of(self.wait_for_line(f"orig_id={queue_id}")[0])
        self.wait_for_line(f"{new}: to=<{EVE}@direct.test>")
        self.assert_fates(queue_id, {f"{ALICE}@direct.test": "delivered",
                                     f"{EVE}@direct.test": "deferred"})
        return queue_id

    def outline(self, queue_ids):
        """What must be the same under every mode."""
        self.stack.wait_until_settled()
        self.assert_eventually(lambda _: self.gauges() is not None)
        fates = {}
        for queue_id in queue_ids:
            record = self.record(queue_id)
            fates[queue_id] = sorted(
                (str(recipient["address"]).rpartition("@")[2],
                 str(recipient.get("original")).rpartition("@")[2],
                 str(self._fate(recipient)))
                for recipient in record["recipients"])
        return fates

    def gauges(self):
        seen = self.stack.metrics()
        return {state: seen.value("postlag_recipients", state=state)
                for state in OPEN + FINAL} | {
            "accepted": seen.total("postlag_recipients_accepted_total"),
            "added": seen.total("postlag_recipients_added_total"),
            "duplicates": seen.total("postlag_duplicates_total"),
            "attempts": seen.total("postlag_delivery_attempts_total")}

    def start_over(self, mode):
        """An exporter that knows nothing yet."""
        stack = self.stack
        assert stack.exporter.stop() == 0
        stack.store = stack.path(f"store-{mode}")
        stack.settings["store"] = {"directory": stack.store, "privacy": mode}
        os.mkdir(stack.store)
        os.chmod(stack.store, 0o2750)
        shutil.chown(stack.store, "postlag-exporter", "postlag")
        stack.exporter.start()

    def everything(self):
        """What is stored and logged, and what is served of all messages."""
        found = {}
        for path in glob.glob(f"{self.stack.store}/*"):
            with open(path, "rb") as file:
                found[path] = file.read()
        found["log"] = self.stack.exporter.log().encode()
        for path in ("/metrics", "/api/v1/messages?q=&limit=500"):
            found[path] = self.stack.get(path)[1].encode()
        return found

    def assert_no_names(self):
        for place, content in self.everything().items():
            for name in NAMES:
                self.assertNotIn(name.encode(), content.lower(), place)

    def search(self, text):
        status, body = self.stack.get(
            "/api/v1/messages?q=" + urllib.parse.quote(text))
        self.assertEqual(status, 200, body)
        return len(json.loads(body)["messages"])

    def test_same_fates_and_no_names(self):
        wanted = self.send_all()
        full, counts = self.outline(wanted), self.gauges()
        self.assertTrue(any(ALICE.encode() in content for content
                            in self.everything().values()))
        searches = {text: self.search(text) for text in (
            f"to:{ALICE}@example.test", f"to:{ALICE.upper()}@Example.Test",
            f"to:{ALICE}", f"from:{HEIDI}@direct.test",
            f"{BOB}@direct.test", f"-to:{ALICE}@example.test",
            f"to:nobody@example.test")}
        self.assertGreater(searches[f"to:{ALICE}@example.test"], 1)
        domains = {text: self.search(text) for text in (
            "to:example.test", "to:*@direct.test status:deferred")}
        for mode in ("domain", "hash"):
            with self.subTest(mode):
                self.start_over(mode)
                self.stack.wait_until_settled()
                self.assert_eventually(
                    lambda _: self.gauges() == counts,
                    f"{mode}: {self.gauges()} and not {counts}")
                self.assertEqual(self.outline(wanted), full)
                self.assert_no_names()
                for text, count in domains.items():
                    self.assertEqual(self.search(text), count, text)
        for text, count in searches.items():
            self.assertEqual(self.search(text), count, text)
        self.look_with_the_command_line()

    def look_with_the_command_line(self):
        """The key is for root; for others the exporter makes the pseudonyms,
        also for those who watch."""
        text = f"to:{ALICE}@example.test"
        key = self.stack.path("store-hash", "address.key")
        self.assertEqual(os.stat(key).st_mode & 0o777, 0o600)
        for word in (text, f"to:{ALICE}", f"from:{HEIDI}@direct.test"):
            done = self.stack.postlag("search", word)
            self.assertEqual(
                done.stdout, self.stack.postlag(
                    "search", word, user="root", group="root").stdout)
            self.assertNotIn(ALICE, done.stdout)
            self.assertIn("@example.test", done.stdout)
        self.assertEqual(self.stack.postlag(
            "search", "to:nobody@example.test", check=False).returncode, 1)
        self.watch_with_the_command_line(text)
        self.stack.exporter.stop()
        done = self.stack.postlag("search", text, check=False)
        self.assertEqual(done.returncode, 2, done)
        self.assertIn("the exporter cannot be asked", done.stderr)
        self.stack.postlag("search", "to:example.test")
        self.stack.exporter.start()

    def watch_with_the_command_line(self, text):
        """The first two lines are about her alone."""
        with concurrent.futures.ThreadPoolExecutor() as executor:
            done = executor.submit(self.stack.postlag, "watch", "--json",
                                   "--limit", "2", text)
            while not done.done():
                self.send([f"{ALICE}@example.test", f"{BOB}@example.test"],
                          f"{HEIDI}@direct.test")
        lines = [json.loads(line) for line in done.result().stdout.split("\n")
                 if line]
        self.assertEqual(len(lines), 2)
        self.assertEqual(len({line["to"] for line in lines}), 1)
        self.assertNotIn(ALICE, done.result().stdout)


if __name__ == "__main__":
    tap.main()
