# SPDX-License-Identifier: BSD-2-Clause
"""A milter that does at end of message what the sender's address says: the
other side of mta_simulator.py, kept as small as Postfix allows.

    with MilterServer() as milter:
        ... smtpd_milters = inet:127.0.0.1:PORT, milter.port ...
        ... MAIL FROM:<milter-discard@client.test>

Senders that are not in ACTIONS pass.
"""

import struct

from tcp_server import TcpServer

VERSION = 6
CHANGES = 0x4 | 0x8 | 0x20  # add and delete recipients, quarantine
NO_BODY = 0x10

ACTIONS = {
    "milter-reject": [("r", b"")],
    "milter-tempfail": [("t", b"")],
    "milter-discard": [("d", b"")],
    "milter-quarantine": [("q", b"looks odd\0"), ("c", b"")],
    "milter-addrcpt": [("+", b"<added@example.test>\0"), ("c", b"")],
    "milter-delrcpt": [("-", b"<gone@example.test>\0"), ("c", b"")],
}
"""Local part of the sender: what is answered to end of message."""


class MilterServer(TcpServer):
    def serve(self, connection):
        with connection, connection.makefile("rb") as packets:
            actions = [("c", b"")]
            while size := packets.read(4):
                packet = packets.read(struct.unpack("!I", size)[0])
                command, data = chr(packet[0]), packet[1:]
                if command == "Q":
                    return
                if command == "M":
                    sender = data.split(b"\0")[0].strip(b"<>").decode()
                    actions = ACTIONS.get(sender.split("@")[0], [("c", b"")])
                replies = [("c", b"")]
                if command == "O":
                    replies = [("O", struct.pack(
                        "!III", VERSION, CHANGES, NO_BODY))]
                elif command == "E":
                    replies = actions
                elif command in "DA":
                    replies = []
                connection.sendall(b"".join(
                    struct.pack("!I", len(more) + 1) + reply.encode() + more
                    for reply, more in replies))
