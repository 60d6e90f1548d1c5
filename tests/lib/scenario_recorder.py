# SPDX-License-Identifier: BSD-2-Clause
"""Cuts what the sources held of one scenario out of a running mail system.

    recorder = Recorder(directory)
    recorder.begin(stack)
    ... mail ...
    recorder.end("bounced", about=["what this shows"])

A scenario is a file of text:

    # what it shows
    clock 1796024862000000000             when it was recorded, in ns
    instances postfix=mx.example.test     as in postlag.conf
    log                                   the log's lines, each behind a |
    |Nov 30 07:47:42 mx postfix/qmgr[9]: ...
    journal milter 00065ff9a3a8e1c2       a source and a segment's number
    base64 of the segment: its header and the frames of this scenario

Segments are exact, byte by byte; only what other scenarios wrote is not in
them. In the log, names and directories of the machine are those of a mail
server's.
"""

import base64
import os
import re
import shutil
import socket
import tempfile
import textwrap
import time

from journal import HEADER, Journal
from waiting import wait_until

# How long nothing is written when a scenario is over.
QUIET_SECONDS = 0.7
SOURCES = ("milter", "lmtp")
HEADER_FRAMES = 2


def _header_size(data):
    """Of both copies of a segment's header."""
    offset = 0
    for _ in range(HEADER_FRAMES):
        offset += HEADER.size + HEADER.unpack_from(data, offset)[1]
    return offset


def _read(path):
    with open(path, "rb") as file:
        return file.read()


class Recorder:
    def __init__(self, directory):
        """Scenarios are written to `directory`."""
        self.directory = directory
        self.stack = None
        self.kept = None
        self.log_start = 0
        self.read_before = {}
        self.names = set()

    def _segments(self):
        return {(source, os.path.basename(path)): path for source in SOURCES
                for path in Journal(self.stack.journals, source).segments()}

    def _keep(self):
        """The exporter removes segments that it has read."""
        for (source, name), path in self._segments().items():
            kept = f"{self.kept}/{source}-{name}"
            if not os.path.exists(kept):
                try:
                    os.link(path, kept)
                except FileNotFoundError:
                    pass

    def _kept(self):
        """{(source, name): bytes} in the order of their numbers."""
        found = {}
        for entry in sorted(os.listdir(self.kept)):
            source, _, name = entry.partition("-")
            found[source, name] = _read(f"{self.kept}/{entry}")
        return found

    def _log(self):
        try:
            return _read(self.stack.postfix.log_path)
        except FileNotFoundError:
            return b""

    def wait_until_quiet(self):
        """Until nothing is under way and nothing is written any more."""
        seen = [None, time.monotonic()]

        def quiet():
            self._keep()
            busy = [name for name in self.stack.postfix.queue_ids().values()
                    if name in ("active", "incoming", "maildrop")]
            now = (len(self._log()), [
                len(data) for data in self._kept().values()])
            if busy or now != seen[0]:
                seen[:] = now, time.monotonic()
            return time.monotonic() - seen[1] > QUIET_SECONDS
        wait_until(quiet, "the mail system to be quiet", pause=0.05)

    def begin(self, stack):
        self.stack = stack
        # Links do not cross file systems.
        self.kept = tempfile.mkdtemp(prefix="kept.", dir=stack.directory)
        self.wait_until_quiet()
        self.log_start = len(self._log())
        self.read_before = {key: len(data)
                            for key, data in self._kept().items()}

    def end(self, name, about=()):
        """Writes the scenario."""
        self.wait_until_quiet()
        assert name not in self.names, name
        self.names.add(name)
        instances = self.stack.settings["exporter"]["maillog_instances"]
        lines = [f"# {line}" for line in about]
        lines += [f"clock {time.time_ns()}", f"instances {instances}", "log"]
        log = self._normalize(self._log()[self.log_start:].decode(
            "utf-8", "surrogateescape"))
        lines += [f"|{line}" for line in log.split("\n")[:-1]]
        for key, data in self._kept().items():
            lines += self._segment(key, data)
        with open(f"{self.directory}/{name}.scenario", "w", encoding="utf-8",
                  errors="surrogateescape") as out:
            out.write("\n".join(lines) + "\n")
        shutil.rmtree(self.kept)

    def _segment(self, key, data):
        source, name = key
        header = _header_size(data)
        begin = max(self.read_before.get(key, 0), header)
        if begin == len(data):
            return []
        text = base64.b64encode(data[:header] + data[begin:]).decode()
        return [f"journal {source} {name.removesuffix('.journal')}",
                *textwrap.wrap(text, 79)]

    def _normalize(self, log):
        log = log.replace(self.stack.directory, "/srv/mail")
        host = socket.gethostname().partition(".")[0]
        return re.sub(rf"^(\w+ +\d+ [\d:]+) {re.escape(host)} ", r"\1 mx ",
                      log, flags=re.M)
