# SPDX-License-Identifier: BSD-2-Clause
"""A private Postfix and Dovecot, together, on loopback.

    with MailSystem([Listener("plain")]) as mail:
        mail.send("a@example.test", ["u1@example.test"])
        mail.wait_until_delivered(1)

Mail for example.test goes through the hook, when `hook_port` is given, by the
two-nexthop transport that the package ships; mail for direct.test always goes
to Dovecot directly. Several can run side by side; nothing is left.
"""

import os
import smtplib
import subprocess

from dovecot import Dovecot
from postfix import Listener, Postfix, packaged_hook_transport, service
from users import ensure_users
from waiting import PATIENCE, PrivateDirectory, wait_until

__all__ = ["Listener", "MailSystem", "service"]

HOOKED = "example.test"
DIRECT = "direct.test"

# Not Dovecot's address: when a connection that lmtp(8) had kept is lost, it
# passes over all nexthops of the same address, whatever their ports.
HOOK_HOST = "127.0.0.2"


class MailSystem:
    def __init__(self, listeners=None, *, hook_port=None, main_cf=None,
                 services=(), dovecot_further="", dovecot_command=(),
                 hook_options=None):
        """`hook_options` override the hook's transport options."""
        ensure_users()
        self.private = PrivateDirectory("postlag-")
        self.directory = self.private.path
        self.hook_port = hook_port
        self.dovecot = Dovecot(f"{self.directory}/dovecot", dovecot_further,
                               dovecot_command)
        transport = service("postlag-lmtp", "unix", "lmtp",
                            {**packaged_hook_transport(),
                             **(hook_options or {})})
        self.postfix = Postfix(
            f"{self.directory}/postfix",
            [Listener("plain")] if listeners is None else listeners,
            {**self._routes(), **(main_cf or {})}, [transport, *services])

    def _routes(self):
        direct = f"lmtp:inet:127.0.0.1:{self.dovecot.port}"
        hooked = direct
        if self.hook_port:
            # `inet:` only in front of the list: lmtp(8) takes it off once.
            hooked = f"postlag-lmtp:inet:{HOOK_HOST}:{self.hook_port}," \
                     f" 127.0.0.1:{self.dovecot.port}"
        return {
            "virtual_mailbox_domains": f"{HOOKED} {DIRECT}",
            "virtual_mailbox_maps": "static:ok",
            "virtual_transport": hooked,
            "transport_maps": f"inline:{{ {{ {DIRECT} = {direct} }} }}",
            "smtpd_sasl_path": self.dovecot.auth_socket,
        }

    def prepare(self):
        """Directories and configuration; nothing runs yet."""
        self.dovecot.prepare()
        self.postfix.prepare()

    def run(self):
        self.dovecot.start()
        self.postfix.start()

    def start(self):
        try:
            self.prepare()
            self.run()
        except BaseException:
            self.stop()
            raise
        return self

    def stop(self):
        self.postfix.kill()
        self.dovecot.stop()
        self.private.remove()

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        self.stop()

    def address(self, listener=None):
        """(host, port) of a listener, by default the first."""
        name = listener or next(iter(self.postfix.listeners))
        return self.postfix.listeners[name].address

    def smtp(self, listener=None, timeout=PATIENCE):
        """A connected smtplib client."""
        host, port = self.address(listener)
        return smtplib.SMTP(host, port, "client.example.test", timeout)

    def send(self, sender, recipients, text=None, listener=None):
        """One message in a session of its own."""
        text = text or f"From: <{sender}>\r\nSubject: test\r\n\r\nhello\r\n"
        with self.smtp(listener) as client:
            return client.sendmail(sender, recipients, text)

    def smtp_source(self, messages, recipients=1, *, sessions=1, to="u",
                    keep=False, listener=None, size=200, wait=True,
                    sender="sender@client.test"):
        """Runs smtp-source. With several recipients Postfix's own program
        numbers them: 1u@..., 2u@... `keep` reuses a session."""
        host, port = self.address(listener)
        command = ["smtp-source", "-m", str(messages), "-r", str(recipients),
                   "-s", str(sessions), "-l", str(size), "-f", sender,
                   "-t", to if "@" in to else f"{to}@{HOOKED}",
                   "-M", "client.example.test"]
        if keep:
            command.append("-d")
        command.append(f"inet:{host}:{port}")
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, text=True)
        if not wait:
            return process
        output, _ = process.communicate(timeout=600)
        assert process.returncode == 0, output
        return process

    def mailboxes(self):
        return self.dovecot.mailboxes()

    def wait_until_delivered(self, count, timeout=PATIENCE):
        """Until the mailboxes hold exactly so many messages."""
        wait_until(lambda: self.dovecot.count() >= count,
                   f"{count} messages in mailboxes", timeout, 0.05)
        assert self.dovecot.count() == count, self.dovecot.count()

    def wait_until_empty(self, timeout=PATIENCE, flush=True):
        """Until Postfix's queue is empty; deferred mail is tried again."""
        def empty():
            left = self.postfix.queue_ids()
            if flush and left and set(left.values()) <= {"deferred"}:
                self.postfix.flush()
            return not left
        wait_until(empty, "an empty queue", timeout, 0.2)

    def queue(self):
        return self.postfix.queue()

    def log_lines(self, *parts):
        return self.postfix.log_lines(*parts)

    def wait_for_log(self, *parts, timeout=PATIENCE):
        return wait_until(lambda: self.log_lines(*parts),
                          f"{parts} in the mail log", timeout, 0.05)

    def path(self, *names):
        return os.path.join(self.directory, *names)
