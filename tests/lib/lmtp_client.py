# SPDX-License-Identifier: BSD-2-Clause
"""An LMTP client that hides nothing: replies byte for byte, one a recipient,
pipelining or not, closing anywhere.

    with Client(("127.0.0.1", 24)) as client:
        client.hello()
        result = client.deliver("a@x.test", ["u@y.test"], b"text\\r\\n")
        assert [reply.code for reply in result.final] == [250]
"""

import re
import socket
import struct

from waiting import PATIENCE


class Lost(Exception):
    """The other side closed; `raw` is what came of an unfinished reply."""

    def __init__(self, raw=b""):
        super().__init__(f"connection lost after {raw!r}")
        self.raw = raw


class Reply:
    def __init__(self, raw):
        self.raw = raw
        self.lines = raw.splitlines()
        self.code = int(self.lines[-1][:3])

    @property
    def text(self):
        return self.lines[-1][4:].decode("utf-8", "replace")

    def __repr__(self):
        return f"Reply({self.raw!r})"


class Result:
    """What a transaction was answered; None and [] where it did not come to
    that."""

    def __init__(self):
        self.mail = self.data = None
        self.rcpt = []
        self.final = []

    def accepted(self):
        return sum(reply.code // 100 == 2 for reply in self.rcpt)

    def raw(self):
        replies = [self.mail, *self.rcpt, self.data, *self.final]
        return b"".join(reply.raw for reply in replies if reply)


LAST_LINE = re.compile(rb"\d{3}( [^\n]*)?\r?\n")


def stuff(content):
    """Content as LMTP carries it: dots doubled at the start of lines, the
    terminator at the end. Only CRLF ends a line."""
    if not content.endswith(b"\r\n") and content:
        content += b"\r\n"
    content = content.replace(b"\r\n.", b"\r\n..")
    if content.startswith(b"."):
        content = b"." + content
    return content + b".\r\n"


class Client:
    def __init__(self, address, timeout=PATIENCE, greet=True):
        """`address` is (host, port) or the path of a unix socket."""
        family = socket.AF_UNIX if isinstance(address, str) else \
            socket.AF_INET6 if ":" in address[0] else socket.AF_INET
        self.socket = socket.socket(family)
        self.socket.settimeout(timeout)
        if family != socket.AF_UNIX:
            self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.pending = b""
        self.capabilities = []
        self.greeting = None
        try:
            self.socket.connect(address)
            if greet:
                self.greeting = self.reply()
        except BaseException:
            self.socket.close()
            raise

    def send(self, data):
        try:
            self.socket.sendall(data)
        except (BrokenPipeError, ConnectionResetError) as error:
            raise Lost() from error

    def _receive(self):
        try:
            data = self.socket.recv(65536)
        except ConnectionResetError as error:
            raise Lost(self.pending) from error
        if not data:
            raise Lost(self.pending)
        self.pending += data

    def reply(self):
        """The next reply: as many lines as it takes."""
        end = 0
        while True:
            newline = self.pending.find(b"\n", end)
            if newline < 0:
                self._receive()
                continue
            line = self.pending[end:newline + 1]
            end = newline + 1
            if LAST_LINE.fullmatch(line):
                raw, self.pending = self.pending[:end], self.pending[end:]
                return Reply(raw)

    def rest(self):
        """Everything until the other side closes."""
        try:
            while True:
                self._receive()
        except Lost:
            rest, self.pending = self.pending, b""
            return rest

    def command(self, text):
        self.send(text.encode() + b"\r\n")
        return self.reply()

    def hello(self, name="client.test"):
        reply = self.command(f"LHLO {name}")
        assert reply.code == 250, reply
        self.capabilities = [line[4:].decode() for line in reply.lines[1:]]
        return reply

    def deliver(self, sender, recipients, content=b"", pipelined=True,
                stuffed=False, before=()):
        """One transaction, up to the last final reply or as far as it gets.
        `before` are commands to be sent in front of MAIL."""
        commands = [*before, f"MAIL FROM:<{sender}>",
                    *(f"RCPT TO:<{recipient}>" for recipient in recipients),
                    "DATA"]
        content = content if stuffed else stuff(content)
        result = Result()
        if pipelined:
            self.send("".join(f"{c}\r\n" for c in commands).encode())
        replies = []
        for command in commands:
            if not pipelined:
                self.send(command.encode() + b"\r\n")
            replies.append(self.reply())
        replies = replies[len(before):]
        result.mail, *result.rcpt, result.data = replies
        if result.data.code // 100 == 3:
            self.send(content)
            for _ in range(result.accepted()):
                result.final.append(self.reply())
        return result

    def quit(self):
        reply = self.command("QUIT")
        assert self.rest() == b""
        return reply

    def close(self):
        self.socket.close()

    def reset(self):
        """Closes so that the other side gets an error, not an end."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                               struct.pack("ii", 1, 0))
        self.socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
