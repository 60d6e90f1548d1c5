# SPDX-License-Identifier: BSD-2-Clause
"""A Dovecot of our own: LMTP on TCP and on a unix socket, AUTH for Postfix,
one Maildir for every recipient address that mail comes for."""

import email
import email.policy
import glob
import os
import pwd
import re
import shutil
import signal
import subprocess

from waiting import free_port, wait_until

CONFIGURATION = """\
base_dir = {directory}/run
state_dir = {directory}/run
log_path = {directory}/dovecot.log
protocols = lmtp
listen = 127.0.0.1
ssl = no
hostname = lmtp.example.test
postmaster_address = postmaster@example.test
disable_plaintext_auth = no
auth_mechanisms = plain login
first_valid_uid = 1
default_process_limit = 200
default_vsz_limit = 0
passdb {{
  driver = static
  args = nopassword=y allow_all_users=yes
}}
userdb {{
  driver = static
  args = uid={user} gid={user} home={mail}/%u allow_all_users=yes
}}
mail_location = maildir:~/Maildir
mail_fsync = never
lmtp_save_to_detail_mailbox = no
recipient_delimiter =
service lmtp {{
  inet_listener lmtp {{
    address = 127.0.0.1
    port = {port}
  }}
  unix_listener hook-lmtp {{
    mode = 0666
  }}
  vsz_limit = 0
}}
service auth {{
  unix_listener auth-smtpd {{
    mode = 0666
  }}
}}
{further}
"""

USER = "postlag-vmail"


class Mail:
    """A delivered message: one file in one mailbox."""

    def __init__(self, recipient, mailbox, path):
        self.recipient = recipient
        self.mailbox = mailbox
        self.path = path
        seconds, micros = re.match(r"(\d+)\.M(\d+)P", os.path.basename(path)
                                   ).groups()
        # When Dovecot began to save it, rounded down to a microsecond.
        self.saved_us = int(seconds) * 1_000_000 + int(micros)

    def bytes(self):
        with open(self.path, "rb") as file:
            return file.read()

    def message(self):
        """Parsed; header values as they stand in the file."""
        return email.message_from_bytes(
            self.bytes(), policy=email.policy.compat32)


class Dovecot:
    def __init__(self, directory, further="", command=()):
        """`further` is more configuration text, `command` runs Dovecot's."""
        self.directory = directory
        self.mail = os.path.join(directory, "mail")
        self.socket = os.path.join(directory, "run", "hook-lmtp")
        self.auth_socket = os.path.join(directory, "run", "auth-smtpd")
        self.port = free_port()
        self.further = further
        self.command = list(command)
        self.config = os.path.join(directory, "dovecot.conf")
        self.process = None

    def prepare(self):
        os.makedirs(os.path.join(self.directory, "run"), mode=0o755)
        os.mkdir(self.mail)
        shutil.chown(self.mail, USER, pwd.getpwnam(USER).pw_gid)
        with open(self.config, "w", encoding="utf-8") as out:
            out.write(CONFIGURATION.format(
                directory=self.directory, mail=self.mail, user=USER,
                port=self.port, further=self.further))

    def start(self):
        self.process = subprocess.Popen(
            [*self.command, "dovecot", "-F", "-c", self.config], stdin=subprocess.DEVNULL,
            start_new_session=True)
        wait_until(self._ready, "Dovecot to listen")

    def _ready(self):
        assert self.process.poll() is None, "Dovecot ended:\n" + self.log()
        return os.path.exists(self.auth_socket) \
            and os.path.exists(os.path.join(self.directory, "run/master.pid"))

    def stop(self):
        """At once: what is delivered is delivered."""
        if self.process is not None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
            self.process = None

    def pause(self, number=signal.SIGSTOP):
        os.killpg(self.process.pid, number)

    def resume(self):
        self.pause(signal.SIGCONT)

    def log(self):
        try:
            with open(os.path.join(self.directory, "dovecot.log"),
                      encoding="utf-8", errors="replace") as file:
                return file.read()
        except FileNotFoundError:
            return ""

    def mailboxes(self):
        """Every delivered message, oldest first."""
        mails = [Mail(*file) for file in self._files()]
        return sorted(mails, key=lambda mail: (mail.saved_us, mail.path))

    def count(self):
        return sum(1 for _ in self._files())

    def _files(self):
        """(user, mailbox, path); a mailbox but INBOX is a folder ".NAME"."""
        for user in os.listdir(self.mail):
            top = os.path.join(glob.escape(self.mail), glob.escape(user),
                               "Maildir")
            for folder in ("", ".[!.]*"):
                for path in glob.glob(os.path.join(top, folder, "new", "*")) \
                        + glob.glob(os.path.join(top, folder, "cur", "*")):
                    name = os.path.basename(
                        os.path.dirname(os.path.dirname(path)))
                    yield user, name[1:] if folder else "INBOX", path
