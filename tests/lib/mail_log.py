# SPDX-License-Identifier: BSD-2-Clause
"""Postfix's log, written by a test: to a file or to a systemd journal."""

import datetime
import os
import shutil
import subprocess
import time

REMOTE = "/lib/systemd/systemd-journal-remote"


class Log:
    """A file, written as Postfix would, now."""

    def __init__(self, path, traditional=False, syslog_name="postfix"):
        self.path = path
        self.traditional = traditional
        self.syslog_name = syslog_name
        self.seconds_ago = 0
        self.file = open(path, "a", encoding="utf-8", buffering=1)

    def stamp(self):
        if self.traditional:
            return time.strftime(
                "%b %e %H:%M:%S",
                time.localtime(time.time() - self.seconds_ago))
        return (datetime.datetime.now(datetime.timezone.utc)
                - datetime.timedelta(seconds=self.seconds_ago)).isoformat()

    def line(self, program, text):
        self.file.write(f"{self.stamp()} mx {self.syslog_name}/{program}[7]: "
                        f"{text}\n")

    def message(self, queue_id, *recipients, agent="virtual",
                status="status=sent (delivered to maildir)"):
        self.line("smtpd", f"{queue_id}: client=c.test[192.0.2.1]")
        self.line("cleanup", f"{queue_id}: message-id=<{queue_id}@c.test>")
        self.line("qmgr", f"{queue_id}: from=<s@c.test>, size=500, "
                  f"nrcpt={len(recipients)} (queue active)")
        for recipient in recipients:
            self.line(agent, f"{queue_id}: to=<{recipient}>, relay=x, "
                      f"delay=1, delays=0/0/0/1, dsn=2.0.0, {status}")
        self.line("qmgr", f"{queue_id}: removed")

    def rotate(self):
        self.file.close()
        for number in (2, 1):
            if os.path.exists(f"{self.path}.{number}"):
                os.rename(f"{self.path}.{number}",
                          f"{self.path}.{number + 1}")
        os.rename(self.path, f"{self.path}.1")
        self.file = open(self.path, "a", encoding="utf-8", buffering=1)


    def copy_and_truncate(self):
        """As logrotate's copytruncate; no line comes in between."""
        shutil.copyfile(self.path, f"{self.path}.1")
        os.truncate(self.path, 0)


class SystemdJournal(Log):
    """A systemd journal in a directory; flush() appends the lines."""

    def __init__(self, directory):
        self.directory = directory
        self.entries = []
        self.last_us = 0
        os.mkdir(directory)

    def line(self, program, text):
        self.last_us = max(time.time_ns() // 1000, self.last_us + 1)
        self.entries.append(
            f"__REALTIME_TIMESTAMP={self.last_us}\n"
            f"__MONOTONIC_TIMESTAMP={time.monotonic_ns() // 1000}\n"
            f"_BOOT_ID={'1' * 32}\n_MACHINE_ID={'2' * 32}\n"
            "SYSLOG_FACILITY=2\n_HOSTNAME=mx\nSYSLOG_PID=7\n"
            f"SYSLOG_IDENTIFIER=postfix/{program}\nMESSAGE={text}\n\n")

    def flush(self, file="system"):
        """To the journal's file of that name; returns when it has them."""
        subprocess.run(
            [REMOTE, "-o", os.path.join(self.directory, f"{file}.journal"),
             "-"], input="".join(self.entries), text=True, check=True,
            stderr=subprocess.DEVNULL)
        self.entries = []
