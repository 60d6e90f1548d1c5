# SPDX-License-Identifier: BSD-2-Clause
"""An LMTP server that does what its script says, and keeps every byte.

A script is a class with a method a verb that returns what to do: bytes to
send, CLOSE, RESET, SILENT (say nothing until the client has gone), a
threading.Event to wait for, or a list of such steps.

    class Busy(Script):
        def rcpt(self, session, address):
            return b"451 4.3.0 busy\\r\\n"

    with Server(Busy()) as server:
        ... server.address ...
        server.sessions[0].transactions[0].content
"""

import os
import select
import socket
import struct
import threading

from waiting import PATIENCE, wait_until

CLOSE = "close"
RESET = "reset"
SILENT = "silent"


class Script:
    """A server to which all is well."""

    capabilities = ("PIPELINING", "8BITMIME", "ENHANCEDSTATUSCODES")
    flush_each = False
    """One write a reply, and a moment for the reader between them."""

    def greeting(self, session):
        return b"220 backend.test LMTP\r\n"

    def lhlo(self, session, argument):
        lines = ["backend.test", *self.capabilities]
        return b"".join(
            f"250{' ' if n == len(lines) - 1 else '-'}{line}\r\n".encode()
            for n, line in enumerate(lines))

    def mail(self, session, address):
        return b"250 2.1.0 Ok\r\n"

    def rcpt(self, session, address):
        return b"250 2.1.5 Ok\r\n"

    def data(self, session):
        if not session.accepted:
            return b"503 5.5.1 No valid recipients\r\n"
        return b"354 Go ahead\r\n"

    def content(self, session):
        """At the end of data; by default one final() a recipient."""
        return [self.final(session, address) for address in session.accepted]

    def final(self, session, address):
        return f"250 2.0.0 <{address}> Saved\r\n".encode()

    def rset(self, session):
        return b"250 2.0.0 Ok\r\n"

    def quit(self, session):
        return [b"221 2.0.0 Bye\r\n", CLOSE]

    def other(self, session, line):
        return b"500 5.5.1 Unknown command\r\n"


class Transaction:
    def __init__(self, sender):
        self.sender = sender
        self.recipients = []
        self.content = None  # as it came, terminator included


class _Closed(Exception):
    pass


def address_of(line):
    """What stands between the first < and the last > of a line."""
    return line[line.find(b"<") + 1:line.rfind(b">")].decode()


class Session:
    def __init__(self, server, connection):
        self.server = server
        self.script = server.script
        self.socket = connection
        self.received = b""  # all of it
        self.transactions = []
        self.accepted = []
        self.ended = threading.Event()  # closed by either side
        self.lost = False  # closed by the client
        self.failure = None
        self._taken = 0
        self._output = b""

    @property
    def transaction(self):
        return self.transactions[-1]

    def run(self):
        try:
            self._do(self.script.greeting(self))
            while True:
                self._command(self._line())
        except (_Closed, OSError):
            pass
        except Exception as error:
            self.failure = error
        finally:
            self.socket.close()
            self.ended.set()

    def _flush(self):
        data, self._output = self._output, b""
        if data:
            self.socket.sendall(data)

    def _receive(self):
        self._flush()
        data = self.socket.recv(1 << 20)
        if not data:
            self.lost = True
            raise _Closed
        self.received += data

    def _until(self, terminator, start):
        """The bytes from what was taken last to the terminator's end."""
        searched = start
        while True:
            at = self.received.find(terminator, searched)
            if at >= 0:
                break
            searched = max(start, len(self.received) - len(terminator))
            self._receive()
        taken = self.received[self._taken:at + len(terminator)]
        self._taken = at + len(terminator)
        return taken

    def _line(self):
        return self._until(b"\n", self._taken)

    def _do(self, step):
        if isinstance(step, bytes):
            self._output += step
            if self.script.flush_each:
                self._flush()
        elif isinstance(step, (list, tuple)):
            for one in step:
                self._do(one)
        elif isinstance(step, threading.Event):
            self._flush()
            if not step.wait(PATIENCE):
                raise AssertionError("the event never came")
        elif step == CLOSE:
            self._flush()
            raise _Closed
        elif step == RESET:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                                   struct.pack("ii", 1, 0))
            raise _Closed
        elif step == SILENT:
            while True:
                self._receive()
        elif callable(step):
            self._flush()
            self._do(step())
        elif step is not None:
            raise TypeError(step)

    def _command(self, line):
        verb, _, argument = line.strip().partition(b" ")
        verb = verb.upper().decode("ascii", "replace")
        if verb == "LHLO":
            self._do(self.script.lhlo(self, argument))
        elif verb == "MAIL":
            self.transactions.append(Transaction(address_of(line)))
            self.accepted = []
            self._do(self.script.mail(self, self.transaction.sender))
        elif verb == "RCPT":
            self._rcpt(address_of(line))
        elif verb == "DATA":
            self._data()
        elif verb == "RSET":
            self.accepted = []
            self._do(self.script.rset(self))
        elif verb == "QUIT":
            self._do(self.script.quit(self))
        else:
            self._do(self.script.other(self, line))

    def _rcpt(self, address):
        step = self.script.rcpt(self, address)
        if self.transactions:
            self.transaction.recipients.append(address)
        if isinstance(step, bytes) and step.startswith(b"2"):
            self.accepted.append(address)
        self._do(step)

    def _data(self):
        step = self.script.data(self)
        self._do(step)
        steps = step if isinstance(step, (list, tuple)) else [step]
        if not any(isinstance(one, bytes) and one.startswith(b"3")
                   for one in steps):
            return
        # DATA's own CRLF stands before an empty content's dot.
        content = self._until(b"\r\n.\r\n", self._taken - 2)
        self.transaction.content = content
        self._do(self.script.content(self))
        self.accepted = []


class Server:
    """Listens as soon as it exists. `path` makes it a unix socket's."""

    def __init__(self, script=None, path=None, host="127.0.0.1"):
        self.script = script or Script()
        self.sessions = []
        if path:
            self.socket = socket.socket(socket.AF_UNIX)
            self.socket.bind(path)
            os.chmod(path, 0o777)
            self.address = path
        else:
            self.socket = socket.socket()
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            self.socket.bind((host, 0))
            self.address = self.socket.getsockname()
        self.socket.listen(128)
        self._wake, self._woken = os.pipe()
        self._threads = []
        self._accepting = threading.Thread(target=self._accept, daemon=True)
        self._accepting.start()

    @property
    def endpoint(self):
        if isinstance(self.address, str):
            return f"unix:{self.address}"
        return f"inet:{self.address[0]}:{self.address[1]}"

    @property
    def transactions(self):
        return [t for session in self.sessions for t in session.transactions]

    def wait_for_sessions(self, count):
        return wait_until(lambda: len(self.sessions) >= count and
                          self.sessions, f"{count} sessions")

    def wait_for_content(self, count=1):
        """Until so many transactions have been received whole."""
        def whole():
            done = [t for t in self.transactions if t.content is not None]
            return len(done) >= count and done
        return wait_until(whole, f"{count} messages")

    def _accept(self):
        while True:
            ready, _, _ = select.select([self.socket, self._wake], [], [])
            if self._wake in ready:
                return
            connection, _ = self.socket.accept()
            if connection.family != socket.AF_UNIX:
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY,
                                      1)
            connection.settimeout(PATIENCE)
            session = Session(self, connection)
            self.sessions.append(session)
            thread = threading.Thread(target=session.run, daemon=True)
            self._threads.append(thread)
            thread.start()

    def close(self):
        os.write(self._woken, b"x")
        self._accepting.join()
        self.socket.close()
        for session in self.sessions:
            try:
                session.socket.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
        for thread in self._threads:
            thread.join(PATIENCE)
        os.close(self._wake)
        os.close(self._woken)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
        for session in self.sessions:
            if session.failure:
                raise session.failure
