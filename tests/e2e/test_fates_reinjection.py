# SPDX-License-Identifier: BSD-2-Clause
"""What becomes of mail that leaves the queue and comes back: content filters,
forwards by the LMTP server, Sieve (facts 8.1)."""

import os

import tap
from fate_stack import FateCase, FateStack, queue_id_of
from mail_system import Listener, service
from smtp_server import SmtpServer, reinject
from waiting import wait_until

XFORWARD = {"smtpd_authorized_xforward_hosts": "127.0.0.0/8",
            "content_filter": "", "receive_override_options":
                "no_header_body_checks, no_unknown_recipient_checks"}

SIMPLE_FILTER = """\
#!/usr/bin/python3
import smtplib, sys
with smtplib.SMTP("127.0.0.1", {port}, "filter.test", 60) as client:
    client.sendmail(sys.argv[1], sys.argv[2:], sys.stdin.buffer.read())
"""


class ContentFilters(FateCase):
    @classmethod
    def make_stack(cls):
        after = Listener("after", XFORWARD)
        unseen = Listener("unseen", {**XFORWARD, "smtpd_milters": ""})
        listeners = [after, unseen]
        for target in (after, unseen):
            server = SmtpServer(reinject(target.address))
            cls.addClassCleanup(server.close)
            listeners.append(Listener(f"filtered-{target.name}", {
                "content_filter": f"scan:[127.0.0.1]:{server.port}"}))
        listeners.append(Listener("simple", {"content_filter": "simple:x"}))
        proxied = SmtpServer(reinject(after.address))
        cls.addClassCleanup(proxied.close)
        listeners.append(Listener("before", {
            "smtpd_proxy_filter": f"127.0.0.1:{proxied.port}"}))
        stack = FateStack(
            listeners, services=[
                service("scan", "unix", "smtp", {
                    "smtp_send_xforward_command": "yes",
                    "disable_dns_lookups": "yes"})])
        stack.postfix.services.append(
            "simple unix - n n - - pipe flags=Rq user=nobody null_sender="
            f" argv={stack.path('filter')} ${{sender}} ${{recipient}}")
        cls.after = after
        return stack

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        path = cls.stack.path("filter")
        with open(path, "w", encoding="ascii") as script:
            script.write(SIMPLE_FILTER.format(port=cls.after.port))
        os.chmod(path, 0o755)

    def reinjected_as(self, queue_id):
        line = self.wait_for_line(f"{queue_id}: to=", "queued as")[0]
        return line.rpartition("queued as ")[2].rstrip(")")

    def test_filter_and_a_second_pass_of_the_milter(self):
        """Case 26: two messages linked, the second delivered, nothing twice
        in the mailbox"""
        queue_id = self.send(["u1@example.test", "u2@direct.test"],
                             listener="filtered-after")
        second = self.reinjected_as(queue_id)
        self.assert_fates(second, {"u1@example.test": "delivered",
                                   "u2@direct.test": "delivered"})
        first = self.assert_fates(queue_id, {"u1@example.test": "handed_off",
                                             "u2@direct.test": "handed_off"})
        self.assertEqual(self.record(second)["previous"], first["id"])

    def test_filter_and_no_milter_behind_it(self):
        """Case 26: one message with two queue ids, delivered once"""
        queue_id = self.send(["u1@example.test", "u2@direct.test"],
                             listener="filtered-unseen")
        second = self.reinjected_as(queue_id)
        record = self.assert_fates(queue_id, {"u1@example.test": "delivered",
                                              "u2@direct.test": "delivered"})
        self.assertEqual(self.record(second)["id"], record["id"])

    def test_discarded_by_the_filter(self):
        """250 and no new message: a filter cannot be told from another host
        """
        for listener in ("filtered-after", "filtered-unseen"):
            queue_id = self.send(["u1@example.test"], listener=listener,
                                 subject="spam")
            self.assert_eventually(
                lambda fates: fates.get("u1@example.test") in (
                    "handed_off", "relayed"), queue_id)

    def test_simple_filter_by_pipe(self):
        """The stamp links what comes back; the log alone could not"""
        queue_id = self.send(["u1@example.test"], listener="simple")
        first = self.assert_fates(queue_id, {"u1@example.test": "handed_off"})
        second = queue_id_of(self.wait_for_line(
            f"message-id=<{queue_id}@")[-1])
        self.assertNotEqual(second, queue_id)
        record = self.assert_fates(second, {"u1@example.test": "delivered"})
        self.assertEqual(record["previous"], first["id"])

    def test_proxy_filter_before_the_queue(self):
        """smtpd_proxy_filter: the outer session has no queue id"""
        queue_id = self.send(["u1@example.test"], listener="before")
        self.assert_fates(queue_id, {"u1@example.test": "delivered"})


SIEVE = """\
protocol lmtp {{
  mail_plugins = sieve
}}
plugin {{
  sieve = file:{directory}/sieve/%u.sieve
}}
submission_host = 127.0.0.1:{port}
"""

SCRIPTS = {
    "discard@example.test": "discard;\n",
    "reject@example.test": 'require "reject"; reject "not wanted";\n',
    "redirect@example.test": 'redirect "elsewhere@example.test";\n',
    "copy@example.test":
        'require "copy"; redirect :copy "elsewhere@example.test";\n',
}


class SieveStack(FateStack):
    """Dovecot obeys SCRIPTS and sends by the listener `again`."""

    def __init__(self):
        again = Listener("again")
        super().__init__([Listener("plain"), again])
        self.dovecot.further = SIEVE.format(directory=self.directory,
                                            port=again.port)

    def prepare(self):
        super().prepare()
        directory = self.path("sieve")
        os.mkdir(directory)
        os.chmod(directory, 0o777)
        for user, script in SCRIPTS.items():
            with open(f"{directory}/{user}.sieve", "w",
                      encoding="ascii") as file:
                file.write(script)


class Sieve(FateCase):
    """Until Dovecot's log is read, what Sieve does with a message counts as
    delivered: the LMTP server took it over with 250 (cases 34 and 35)."""

    @classmethod
    def make_stack(cls):
        return SieveStack()

    def test_discarded_by_sieve(self):
        """Case 35, as far as it goes without Dovecot's log"""
        queue_id = self.send(["discard@example.test"])
        self.assert_fates(queue_id, {"discard@example.test": "delivered"})
        self.stack.without_file += 1

    def test_redirected_by_sieve(self):
        """Case 34: the original's fate is its own; the new mail is linked"""
        for address, kept in (("redirect@example.test", 0),
                              ("copy@example.test", 1)):
            first = self.send([address])
            record = self.assert_fates(first, {address: "delivered"})
            second = self.second_queue_id(first)
            linked = self.assert_fates(second, {
                "elsewhere@example.test": "delivered"})
            self.assertEqual(linked["previous"], record["id"])
            self.stack.without_file += 1 - kept

    def second_queue_id(self, first):
        """That of the mail with the same Message-ID."""
        def seen():
            return [line for line in
                    self.stack.log_lines(f"message-id=<{first}@")
                    if queue_id_of(line) != first]
        return queue_id_of(wait_until(seen, f"{first} to come back")[0])

    def test_rejected_by_sieve(self):
        queue_id = self.send(["reject@example.test"])
        self.assert_fates(queue_id, {"reject@example.test": "delivered"})
        self.stack.without_file += 1


if __name__ == "__main__":
    tap.main()
