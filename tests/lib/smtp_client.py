# SPDX-License-Identifier: BSD-2-Clause
"""An SMTP client under full control, which notes on both clocks when it began
to write each command and when it had read the reply.

    client = SmtpClient(address)
    client.command("EHLO client.example.test")
    client.moments["EHLO"].contains(stamp)
"""

import socket
import ssl
import time

from waiting import PATIENCE


class Moment:
    """From just before a command was written until just after its reply was
    read; of a group of commands, until after the last reply."""

    def __init__(self):
        self.before = self._now()
        self.after = None

    def end(self):
        self.after = self._now()

    @staticmethod
    def _now():
        return time.time_ns(), time.monotonic_ns()

    def contains(self, stamp):
        """On the wall clock and on the monotonic one."""
        wall, monotonic = stamp["wall_ns"], stamp["monotonic_ns"]
        return (self.before[0] <= wall <= self.after[0]
                and self.before[1] <= monotonic <= self.after[1])


class SmtpClient:
    def __init__(self, address):
        """Connects and reads the greeting; its moment is "CONNECT"."""
        self.moments = {}
        self.replies = []
        moment = self.moments["CONNECT"] = Moment()
        self.socket = socket.create_connection(address, PATIENCE)
        self.input = self.socket.makefile("rb")
        code, text = self.reply()
        moment.end()
        assert code == 220, (code, text)

    def reply(self):
        """(code, text) of the next reply, lines joined by \\n."""
        lines = []
        while True:
            line = self.input.readline()
            if not line:
                raise ConnectionError("the server closed the connection")
            lines.append(line[4:].decode("latin-1").rstrip("\r\n"))
            if line[3:4] != b"-":
                self.replies.append((int(line[:3]), "\n".join(lines)))
                return self.replies[-1]

    def write(self, data):
        self.socket.sendall(data if isinstance(data, bytes)
                            else data.encode("latin-1"))

    def command(self, line, expect=None):
        """One command. Its moment is found by its verb; by "RCPT 0", "RCPT
        1", ... for recipients."""
        return self.group([line], expect)[0]

    def group(self, lines, expect=None):
        """Commands in one write, and the replies to all. `expect` is the
        first digit that all replies have."""
        moment = Moment()
        for line in lines:
            self.moments[self._name(line)] = moment
        self.write("".join(line + "\r\n" for line in lines))
        replies = [self.reply() for _ in lines]
        moment.end()
        for code, text in replies:
            assert expect is None or code // 100 == expect, (lines, code, text)
        return replies

    def _name(self, line):
        verb = line.split()[0].upper()
        if verb != "RCPT":
            return verb
        count = sum(name.startswith("RCPT") for name in self.moments)
        return f"RCPT {count}"

    def content(self, data):
        """What comes behind the reply to DATA, the dot included; its moment is
        "CONTENT"."""
        moment = self.moments["CONTENT"] = Moment()
        self.write(data)
        self.write(b"\r\n.\r\n" if data and not data.endswith("\n")
                   else b".\r\n")
        reply = self.reply()
        moment.end()
        return reply

    def new_message(self):
        """Forgets the moments of the message before."""
        self.moments = {name: moment for name, moment in self.moments.items()
                        if name in ("CONNECT", "HELO", "EHLO")}

    def starttls(self):
        code, text = self.command("STARTTLS")
        assert code == 220, (code, text)
        context = ssl.create_default_context()
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        self.socket = context.wrap_socket(self.socket)
        self.input = self.socket.makefile("rb")

    def message(self, sender="sender@client.test",
                recipients=("u1@direct.test",),
                content="Subject: test\r\n\r\nhello\r\n"):
        """A whole message; returns the reply to its end."""
        self.new_message()
        self.command(f"MAIL FROM:<{sender}>", 2)
        for recipient in recipients:
            self.command(f"RCPT TO:<{recipient}>", 2)
        self.command("DATA", 3)
        return self.content(content)

    def quit(self):
        self.command("QUIT")
        self.close()

    def close(self):
        """Drops the connection."""
        self.input.close()
        self.socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
