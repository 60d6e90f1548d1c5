# SPDX-License-Identifier: BSD-2-Clause
"""What becomes of recipients that Postfix renames, expands, merges, adds, or
delivers by other ways than LMTP (facts 8.1)."""

import os

import tap
from fate_stack import FateCase, FateStack
from mail_system import Listener, service
from smtp_server import SmtpServer
from users import ensure_users

ALIASES = """\
team@example.test u1@example.test, u2@example.test
nested@example.test team@example.test, u3@example.test
one@example.test u1@example.test
null@example.test null@local.test
away@example.test someone@relay.test
spam@example.test catcher@script.test
dead@example.test u1@error.test
later@example.test u1@retry.test
"""

LOCAL_ALIASES = """\
null /dev/null
command "|/bin/cat > /dev/null"
file {directory}/local/file
pair postlag-vmail, u7@example.test
both /dev/null, {directory}/local/file
forward u8@example.test
"""

TRANSPORTS = """\
direct.test lmtp:inet:127.0.0.1:{dovecot}
discard.test discard:as configured
error.test error:5.1.1 no such user
retry.test retry:4.3.0 not now
script.test script:
virtual.test virtual:
relay.test smtp:[127.0.0.1]:{relay}
"""

SCRIPT = """\
#!/bin/sh
cat > /dev/null
case $1 in
refuse*) echo "not this one"; exit 69 ;;
busy*) echo "not now"; exit 75 ;;
esac
"""


class AddressStack(FateStack):
    """With every delivery agent there is."""

    def __init__(self, relay_port):
        ensure_users()
        rewriting = {
            "always_bcc": "archive@example.test",
            "sender_bcc_maps":
                "inline:{ { boss@direct.test = sent@example.test } }",
            "recipient_bcc_maps":
                "inline:{ { watched@example.test = watch@example.test } }"}
        super().__init__(
            [Listener("plain"),
             Listener("bcc", {"cleanup_service_name": "cleanup-bcc"}),
             Listener("short", {"cleanup_service_name": "cleanup-short"})],
            main_cf={
                "mydestination": "local.test",
                "myorigin": "local.test",
                "alias_maps": "texthash:{etc}/aliases",
                "virtual_alias_maps": "texthash:{etc}/virtual",
                "recipient_canonical_maps":
                    "inline:{ { old@example.test = new@example.test } }",
                "virtual_mailbox_domains":
                    "example.test direct.test virtual.test",
                "transport_maps": "texthash:{etc}/transport",
                "script_destination_recipient_limit": "1",
                "relay_domains": "discard.test error.test retry.test"
                                 " script.test relay.test"},
            services=[
                service("cleanup-bcc", "unix", "cleanup", rewriting, "0",
                        public=True),
                service("cleanup-short", "unix", "cleanup",
                        {"enable_original_recipient": "no"}, "0",
                        public=True)])
        self.relay_port = relay_port
        self.mailbox_directories = [self.path("virtual"), self.path("local")]
        self.postfix.settings.update({
            "virtual_mailbox_base": self.path("virtual"),
            "mail_spool_directory": self.path("local") + "/"})
        self.postfix.services += [
            "virtual unix - n n - - virtual"
            " -o virtual_mailbox_maps=static:box/ -o virtual_minimum_uid=1"
            " -o virtual_uid_maps=static:65534"
            " -o virtual_gid_maps=static:65534",
            "script unix - n n - - pipe user=nobody"
            f" argv={self.path('script')} ${{recipient}}"]

    def prepare(self):
        self.files = {
            "virtual": ALIASES,
            "aliases": LOCAL_ALIASES.format(directory=self.directory),
            "transport": TRANSPORTS.format(dovecot=self.dovecot.port,
                                           relay=self.relay_port)}
        super().prepare()
        for directory in self.mailbox_directories:
            os.mkdir(directory)
            os.chmod(directory, 0o777)
        with open(self.path("script"), "w", encoding="ascii") as script:
            script.write(SCRIPT)
        os.chmod(self.path("script"), 0o755)

    def mailbox_files(self):
        """In Dovecot's mailboxes and in those of virtual(8) and local(8)."""
        count = super().mailbox_files()
        for directory in self.mailbox_directories:
            for parent, _, names in os.walk(directory):
                if os.path.basename(parent) == "new":
                    count += len(names)
            if os.path.exists(f"{directory}/file"):
                with open(f"{directory}/file", encoding="utf-8") as file:
                    count += file.read().count("\nX-Original-To: ")
        return count


class Addresses(FateCase):
    @classmethod
    def make_stack(cls):
        cls.relay = SmtpServer(
            lambda envelope: "250 2.0.0 Ok: queued as 4Zz9Zz9Zz9z1a2B")
        cls.addClassCleanup(cls.relay.close)
        return AddressStack(cls.relay.port)

    def originals(self, record):
        """{address: the address Postfix had before aliases}"""
        return {recipient["address"]: recipient["original"]
                for recipient in record["recipients"]
                if recipient.get("original")}

    def test_virtual_alias_to_two_mailboxes(self):
        """Alias: expanded, not delivered; the members are (case 48)"""
        queue_id = self.send(["team@example.test"])
        record = self.assert_fates(queue_id, {
            "team@example.test": "expanded", "u1@example.test": "delivered",
            "u2@example.test": "delivered"})
        self.assertEqual(self.originals(record), {
            "u1@example.test": "team@example.test",
            "u2@example.test": "team@example.test"})

    def test_alias_in_an_alias(self):
        queue_id = self.send(["nested@example.test"])
        self.assert_fates(queue_id, {
            "nested@example.test": "expanded", "u1@example.test": "delivered",
            "u2@example.test": "delivered", "u3@example.test": "delivered"})

    def test_alias_and_a_member_of_it(self):
        """nrcpt is 3 and not 2: u1 is two recipients; Dovecot puts one file
        into the mailbox"""
        queue_id = self.send(["team@example.test", "u1@example.test"])
        self.stack.without_file += 1
        self.assert_fates(queue_id, {
            "team@example.test": "expanded",
            "u1@example.test": ["delivered", "delivered"],
            "u2@example.test": "delivered"})

    def test_two_aliases_merged_without_original_recipients(self):
        """Duplicate suppression: the alias has no line of its own"""
        queue_id = self.send(["u1@example.test", "one@example.test"],
                             listener="short")
        self.assert_fates(queue_id, {
            "one@example.test": ("merged", "duplicate"),
            "u1@example.test": "delivered"})

    def test_same_address_in_other_letters(self):
        """Duplicate suppression folds case: one line, one mailbox"""
        queue_id = self.send(["u1@example.test", "U1@Example.Test",
                              "u1@example.test"])
        self.assert_eventually(
            lambda fates: fates.get("u1@example.test") == "delivered"
            and set(fates.values()) <= {"delivered", ("merged", "duplicate")},
            queue_id)

    def test_canonical_renames(self):
        queue_id = self.send(["old@example.test"])
        record = self.assert_fates(queue_id, {
            "old@example.test": "expanded", "new@example.test": "delivered"})
        self.assertEqual(self.originals(record),
                         {"new@example.test": "old@example.test"})

    def test_always_sender_and_recipient_bcc(self):
        """Three recipients that nobody named"""
        queue_id = self.send(["watched@example.test"], "boss@direct.test",
                             "bcc")
        self.assert_fates(queue_id, {
            "watched@example.test": "delivered",
            "watch@example.test": "delivered",
            "sent@example.test": "delivered",
            "archive@example.test": "delivered"})

    def test_discard_transport(self):
        queue_id = self.send(["u1@discard.test", "u1@example.test"])
        self.assert_fates(queue_id, {"u1@discard.test": "discarded",
                                     "u1@example.test": "delivered"})

    def test_alias_to_dev_null(self):
        """local(8) to /dev/null: discarded, not delivered (case 37)"""
        queue_id = self.send(["null@example.test"])
        self.assert_fates(queue_id, {"null@example.test": "expanded",
                                     "null@local.test": "discarded"})

    def test_alias_to_a_command_and_to_a_file(self):
        """Cases 22 and 37: a command is no mailbox, a file is"""
        queue_id = self.send(["command@local.test", "file@local.test"])
        self.assert_fates(queue_id, {"command@local.test": "handed_off",
                                     "file@local.test": "delivered"})

    def test_local_mailbox(self):
        queue_id = self.send(["postlag-vmail@local.test"])
        self.assert_fates(queue_id, {
            "postlag-vmail@local.test": "delivered"})

    def test_local_forward(self):
        """sent (forwarded as NEW): goes on under another queue id"""
        queue_id = self.send(["forward@local.test"])
        record = self.assert_fates(queue_id, {
            "forward@local.test": "expanded", "u8@example.test": "delivered"})
        line = self.wait_for_line(f"{queue_id}: to=", "forwarded as")[0]
        new = line.rpartition("forwarded as ")[2].rstrip(")")
        self.assertEqual(self.record(new)["id"], record["id"])

    def test_local_alias_to_mailbox_and_forward(self):
        """One line, forwarded as NEW with two recipients"""
        queue_id = self.send(["pair@local.test"])
        self.assert_fates(queue_id, {
            "pair@local.test": "expanded", "u7@example.test": "delivered",
            "postlag-vmail@local.test": "delivered"})

    def test_local_alias_to_dev_null_and_a_file(self):
        """One recipient, two lines of local(8): the better counts"""
        queue_id = self.send(["both@local.test"])
        self.assert_fates(queue_id, {"both@local.test": "delivered"})

    def test_virtual_mailbox(self):
        queue_id = self.send(["u1@virtual.test"])
        self.assert_fates(queue_id, {"u1@virtual.test": "delivered"})

    def test_pipe(self):
        """Handed off; refused by its exit status; alias to it (case 37)"""
        queue_id = self.send(["u1@script.test", "refuse@script.test",
                              "spam@example.test"])
        self.assert_fates(queue_id, {
            "u1@script.test": "handed_off", "refuse@script.test": "bounced",
            "spam@example.test": "expanded",
            "catcher@script.test": "handed_off"})

    def test_pipe_that_is_busy(self):
        """Deferred by pipe and by the retry transport, bounced by the error
        transport (case 2); deleted"""
        queue_id = self.send(["busy@script.test", "later@example.test",
                              "dead@example.test"])
        aliases = {"later@example.test": "expanded",
                   "dead@example.test": "expanded"}
        self.assert_fates(queue_id, {
            "busy@script.test": "deferred", "u1@retry.test": "deferred",
            "u1@error.test": "bounced", **aliases})
        self.stack.postfix.command("postsuper", "-d", queue_id)
        self.assert_fates(queue_id, {
            "busy@script.test": "deleted", "u1@retry.test": "deleted",
            "u1@error.test": "bounced", **aliases})

    def test_relayed_to_another_host(self):
        """Relayed, although it says queued as and is on loopback (case 19)
        """
        before = self.relay.recipients()
        queue_id = self.send(["a@relay.test", "away@example.test",
                              "u1@example.test"])
        self.assert_fates(queue_id, {
            "a@relay.test": "relayed", "away@example.test": "expanded",
            "someone@relay.test": "relayed", "u1@example.test": "delivered"})
        self.assertEqual(self.relay.recipients(), before + 2)

    def test_every_way_in_one_message(self):
        """Cases 3 and 22: the outcomes add up to what was accepted"""
        queue_id = self.send([
            "a@example.test", "a@direct.test", "a@virtual.test",
            "postlag-vmail@local.test", "command@local.test", "a@script.test",
            "a@discard.test", "dead@example.test", "a@relay.test"])
        self.assert_fates(queue_id, {
            "a@example.test": "delivered", "a@direct.test": "delivered",
            "a@virtual.test": "delivered",
            "postlag-vmail@local.test": "delivered",
            "command@local.test": "handed_off", "a@script.test": "handed_off",
            "a@discard.test": "discarded", "dead@example.test": "expanded",
            "u1@error.test": "bounced", "a@relay.test": "relayed"})


if __name__ == "__main__":
    tap.main()
