# SPDX-License-Identifier: BSD-2-Clause
"""Speaks the milter protocol as Postfix's client does (src/milter/milter8.c),
so that a milter can be driven without Postfix, to places Postfix never goes.

    session = MtaSession(milter_socket).connect().helo()
    headers = session.message("a@example.com", ["b@example.com"])
    session.quit()

Every event's reply is waited for, except where Postfix does not: headers (when
so negotiated) and ABORT, which also stays in the buffer until something else
is written. `moments[verb]` keeps the wall clock in ns just before the event
was written and just after its reply was read.
"""

import itertools
import socket
import struct
import time

from waiting import PATIENCE

VERSION = 6
ACTIONS = 0x1ff
STEPS = 0x1fffff

NO_BODY, NO_EOH, NR_HEADER, RCPT_REJ = 0x10, 0x40, 0x80, 0x800
NR_EOH = 0x40000
REPLIED_COMMANDS = 0x1f000
"""NR_CONN, NR_HELO, NR_MAIL, NR_RCPT and NR_DATA: those must not be set."""

STAGES = {"C": 0, "H": 1, "M": 2, "R": 3, "T": 4, "E": 5}

DEFAULT_MACROS = {
    "C": "j {daemon_name} {daemon_addr} v _",
    "H": "{tls_version} {cipher} {cipher_bits} {cert_subject} {cert_issuer}",
    "M": "i {auth_type} {auth_authen} {auth_author} {mail_addr} {mail_host}"
         " {mail_mailer}",
    "R": "i {rcpt_addr} {rcpt_host} {rcpt_mailer}",
    "T": "i",
    "E": "i",
}

_queue_ids = (f"{n:X}" for n in itertools.count(0x4F5E3A1C00))


def _strings(*values):
    return b"".join(_bytes(value) + b"\0" for value in values)


def _bytes(value):
    return value if isinstance(value, bytes) else value.encode()


class MtaSession:
    """One SMTP session seen from the milter's side. `address` is a path or a
    (host, port) pair."""

    def __init__(self, address, actions=ACTIONS, steps=STEPS):
        family = (socket.AF_UNIX if isinstance(address, str) else
                  socket.AF_INET6 if ":" in address[0] else socket.AF_INET)
        self.socket = socket.socket(family)
        self.socket.settimeout(PATIENCE)
        self.socket.connect(address)
        self.buffer = b""
        self.received = b""
        self.macros = {"j": "mx.example.test", "v": "Postfix 3.7.11",
                       "{daemon_name}": "mx.example.test"}
        self.macro_lists = dict(DEFAULT_MACROS)
        self.moments = {}
        self.is_smtp = True
        self._negotiate(actions, steps)

    def _negotiate(self, actions, steps):
        self._put("O", struct.pack("!III", VERSION, actions, steps))
        self._flush()
        command, data = self._get()
        assert command == "O", command
        self.version, self.actions, self.steps = struct.unpack("!III",
                                                               data[:12])
        stages = {number: verb for verb, number in STAGES.items()}
        rest = data[12:]
        while rest:
            stage = struct.unpack("!I", rest[:4])[0]
            names, _, rest = rest[4:].partition(b"\0")
            self.macro_lists[stages[stage]] = names.decode()

    # Packets.

    def _put(self, command, data=b""):
        self.buffer += struct.pack("!I", len(data) + 1) + command.encode() \
            + data

    def _flush(self):
        self.socket.sendall(self.buffer)
        self.buffer = b""

    def _read(self, size):
        while len(self.received) < size:
            data = self.socket.recv(65536)
            if not data:
                raise ConnectionError("the milter closed the connection")
            self.received += data
        data, self.received = self.received[:size], self.received[size:]
        return data

    def _get(self):
        size = struct.unpack("!I", self._read(4))[0]
        packet = self._read(size)
        return chr(packet[0]), packet[1:]

    def _event(self, command, data, replied=True):
        """Sends the stage's macros and the event; returns the reply."""
        values = []
        for name in self.macro_lists.get(command, "").split():
            if self.macros.get(name):
                values += [name, self.macros[name]]
        before = time.time_ns()
        if values:
            self._put("D", command.encode() + _strings(*values))
        self._put(command, data)
        if not replied:
            return None
        self._flush()
        reply = self._get()
        self.moments[command] = (before, time.time_ns())
        return reply

    def _continue(self, command, data):
        reply, _ = self._event(command, data)
        assert reply == "c", f"{command} was answered {reply}"
        return self

    # Events.

    def connect(self, name="client.example.test", address="192.0.2.1",
                port=4711):
        """An address of None is an unknown one."""
        if address is None:
            return self._continue("C", _strings(name) + b"U")
        family = b"6" if ":" in address else b"4"
        return self._continue("C", _strings(name) + family
                              + struct.pack("!H", port) + _strings(address))

    def connect_non_smtp(self):
        """What cleanup(8) plays for mail by sendmail(1)."""
        self.is_smtp = False
        self.connect("localhost", "127.0.0.1", 0)
        return self.helo("localhost")

    def helo(self, name="client.example.test"):
        return self._continue("H", _strings(name))

    def mail(self, sender="sender@example.com", *parameters):
        """Begins a message. Non-SMTP mail has its queue id from here on."""
        self.macros["i"] = None if self.is_smtp else next(_queue_ids)
        return self._continue("M", _strings(self._path(sender), *parameters))

    def rcpt(self, address="recipient@example.com", *parameters):
        """Postfix opens the queue file behind the first recipient."""
        bare = address.decode("latin-1") if isinstance(address, bytes) \
            else address
        self.macros.update({"{rcpt_mailer}": "lmtp", "{rcpt_addr}": bare,
                            "{rcpt_host}": "unix:private/hook"})
        if not self.is_smtp:
            self.macros.update({"{rcpt_mailer}": None, "{rcpt_host}": None})
        self._continue("R", _strings(self._path(address), *parameters))
        if not self.macros["i"]:
            self.macros["i"] = next(_queue_ids)
        return self

    def rcpt_rejected(self, address="nobody@example.com", dsn="5.1.1",
                      text="<nobody@example.com>: User unknown"):
        self.macros.update({"{rcpt_mailer}": "error", "{rcpt_host}": dsn,
                            "{rcpt_addr}": text})
        return self._continue("R", _strings(self._path(address)))

    def _path(self, address):
        return b"<" + _bytes(address) + b">" if self.is_smtp \
            else _bytes(address)

    def data(self):
        return self._continue("T", b"")

    def header(self, name, value):
        if self.steps & NR_HEADER:
            self._event("L", _strings(name, value), replied=False)
            return self
        return self._continue("L", _strings(name, value))

    def _end_of_header(self):
        if self.steps & NO_EOH:
            return
        if self.steps & NR_EOH:
            self._event("N", b"", replied=False)
        else:
            self._continue("N", b"")

    def eom(self):
        """The end of the message, that of the header in front of it. Returns
        the list of changes: (kind, index, name, value)."""
        self._end_of_header()
        changes = []
        reply, data = self._event("E", b"")
        while reply in "imh":
            index = 0
            if reply in "im":
                index = struct.unpack("!I", data[:4])[0]
                data = data[4:]
            name, value, _ = data.split(b"\0")
            changes.append((reply, index, name.decode(), value.decode()))
            reply, data = self._get()
        self.moments["E"] = (self.moments["E"][0], time.time_ns())
        assert reply in "ca", f"end of message was answered {reply}"
        return changes

    def abort(self):
        """RSET, and what Postfix sends behind each message: stays in the
        buffer."""
        self._put("A")
        return self

    def quit(self):
        self._put("Q")
        self._flush()
        self.close()

    def close(self):
        """Drops the connection, with whatever is in the buffer."""
        self.socket.close()

    # Whole messages.

    def envelope(self, sender="sender@example.com",
                 recipients=("recipient@example.com",)):
        self.mail(sender)
        for recipient in recipients:
            self.rcpt(recipient)
        return self.data()

    def message(self, sender="sender@example.com",
                recipients=("recipient@example.com",),
                headers=(("Subject", "test"),)):
        """One message, then the ABORT that follows also a good one. Returns
        the header as it is then: a list of (name, value)."""
        self.envelope(sender, recipients)
        for name, value in headers:
            self.header(name, value)
        changes = self.eom()
        self.abort()
        return apply_changes(headers, changes)

    def queue_id(self):
        return self.macros["i"]


def apply_changes(headers, changes):
    """What Postfix makes of the header: instances renumber after a removal, a
    change of one that is not there does nothing."""
    result = list(headers)
    for kind, index, name, value in changes:
        if kind == "h":
            result.append((name, value))
        elif kind == "i":
            result.insert(index, (name, value))
        else:
            _change(result, index, name, value)
    return result


def _change(headers, index, name, value):
    found = [i for i, header in enumerate(headers)
             if header[0].lower() == name.lower()]
    if not 1 <= index <= len(found):
        return
    if value:
        headers[found[index - 1]] = (name, value)
    else:
        del headers[found[index - 1]]
