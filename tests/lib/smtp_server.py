# SPDX-License-Identifier: BSD-2-Clause
"""An SMTP server for what leaves Postfix: another host, or a content filter.

    with SmtpServer() as host:                    # keeps what it gets
    with SmtpServer(reinject(address)) as filter: # sends it on to Postfix

`reply` is asked at the end of each message and gives the reply line; every
recipient is accepted. XFORWARD is taken and kept, as filters do.
"""

import smtplib

from tcp_server import TcpServer
from waiting import PATIENCE

XFORWARD = "XFORWARD NAME ADDR PORT PROTO HELO IDENT SOURCE"


class Envelope:
    def __init__(self, sender, xforward):
        self.sender = sender
        self.recipients = []
        self.content = b""
        self.xforward = list(xforward)


class SmtpServer(TcpServer):
    def __init__(self, reply=None):
        self.reply = reply or (lambda envelope: "250 2.0.0 Ok")
        self.messages = []
        super().__init__()

    def serve(self, connection):
        connection.settimeout(PATIENCE)
        with connection, connection.makefile("rb") as lines:
            def say(*replies):
                connection.sendall("".join(
                    reply + "\r\n" for reply in replies).encode())
            say("220 host.test ESMTP")
            envelope, xforward = None, []
            while line := lines.readline().decode().rstrip("\r\n"):
                verb = line.split()[0].upper()
                if verb == "EHLO":
                    say("250-host.test", "250-8BITMIME", f"250 {XFORWARD}")
                elif verb == "XFORWARD":
                    xforward.append(line)
                    say("250 2.0.0 Ok")
                elif verb == "MAIL":
                    envelope = Envelope(_address(line), xforward)
                    xforward = []
                    say("250 2.1.0 Ok")
                elif verb == "RCPT":
                    envelope.recipients.append(_address(line))
                    say("250 2.1.5 Ok")
                elif verb == "DATA":
                    say("354 Go ahead")
                    envelope.content = _content(lines)
                    say(self._take(envelope))
                elif verb == "QUIT":
                    say("221 2.0.0 Bye")
                    return
                else:
                    say("250 2.0.0 Ok")

    def _take(self, envelope):
        reply = self.reply(envelope)
        self.messages.append(envelope)
        return reply

    def recipients(self):
        """How many recipients it has taken, all messages together."""
        return sum(len(message.recipients) for message in self.messages)


def _address(line):
    return line.partition("<")[2].partition(">")[0]


def _content(lines):
    content = b""
    while (line := lines.readline()) not in (b".\r\n", b""):
        content += line.removeprefix(b".")
    return content


def reinject(address):
    """A reply() that passes the message on to the SMTP listener at address,
    XFORWARD included, and hands its reply back. A message whose subject is
    `spam` it drops."""
    def reply(envelope):
        if b"Subject: spam\r\n" in envelope.content:
            return "250 2.7.0 Ok, discarded, id=1 - spam"
        with smtplib.SMTP(*address, "filter.test", PATIENCE) as client:
            client.ehlo()
            for line in envelope.xforward:
                client.docmd(line)
            client.mail(envelope.sender)
            for recipient in envelope.recipients:
                client.rcpt(recipient)
            code, text = client.data(envelope.content)
        return f"{code} 2.0.0 from MTA(smtp:[127.0.0.1]:{address[1]}):" \
               f" {code} {text.decode()}"
    return reply
