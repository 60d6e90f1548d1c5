# SPDX-License-Identifier: BSD-2-Clause
"""The hook changes no byte (must-show 7, I4)."""

import random
import unittest

import tap
from hook import Hook, codes
from lmtp_client import Client, stuff
from lmtp_server import Script, Server

HEADER = b"From: <a@x.test>\r\nSubject: test\r\n\r\n"

BODIES = {
    "ordinary": HEADER + b"hello\r\n",
    "empty": b"",
    "no header": b"\r\nhello\r\n",
    "only a line end": b"\r\n",
    "leading dots": HEADER + b".\r\n..\r\n.a\r\n...\r\n.\r\n",
    "a dot first": b".\r\n.a\r\n",
    "one line of 1 MB": HEADER + b"x" * (1 << 20) + b"\r\n",
    "dots in a line of 1 MB": HEADER + b"." * (1 << 20) + b"\r\n",
    "1 MB of line ends": HEADER + b"\r\n" * (1 << 19),
    "1 MB of dots in lines": HEADER + b".\r\n" * (1 << 18),
    "NUL": HEADER + b"a\0b\0\r\n\0",
    "bare CR": HEADER + b"a\rb\r\r\n\r.\r\r\n",
    "bare LF": HEADER + b"a\nb\n\n.\n.\nc\r\n",
    "CR at the end": HEADER + b"a\r",
    "LF dot CRLF": HEADER + b"a\n.\r\nb\r\n",
    "8-bit": HEADER + bytes(range(128, 256)) * 100 + b"\r\n",
    "every byte": HEADER + bytes(range(256)) + b"\r\n",
    "a header of 1 MB": b"X-Long: " + b"y" * (1 << 20) + b"\r\n" + HEADER,
    "a header of 1 MB in lines": b"X: " + b"y\r\n z" * (1 << 18) + b"\r\n\r\n",
    "100,000 headers": b"X-Many: y\r\n" * 100000 + b"\r\nhello\r\n",
    "no line end": HEADER + b"last line",
    "10 MB": HEADER + random.Random(1).randbytes(10 << 20),
}


class Bytes(unittest.TestCase):
    def setUp(self):
        self.server = Server()
        self.addCleanup(self.server.close)
        self.hook = Hook(self.server.endpoint)
        self.hook.start()
        self.addCleanup(self.hook.__exit__, None, None, None)

    def through(self, address, content, number):
        """What arrives of the content sent to `address`."""
        with Client(address) as client:
            client.hello()
            result = client.deliver("a@x.test", ["b@y.test"], content,
                                    stuffed=True)
            self.assertEqual([r.code for r in result.final], [250])
        return self.server.wait_for_content(number)[-1].content

    def test_hostile_bodies(self):
        """7: hostile bodies arrive identical through the hook and past it"""
        number = 0
        for name, body in BODIES.items():
            with self.subTest(name):
                content = stuff(body)
                hooked = self.through(self.hook.address, content, number + 1)
                direct = self.through(self.server.address, content, number + 2)
                number += 2
                self.assertTrue(hooked == content, "changed by the hook")
                self.assertTrue(direct == content, "changed without it")
        self.hook.wait_for_deliveries(len(BODIES))

    def test_sizes_are_recorded(self):
        """the recorded size is that of the content as transmitted"""
        sizes = []
        for body in (b"", b"\r\n", HEADER + b"x" * 100000 + b"\r\n"):
            content = stuff(body)
            self.through(self.hook.address, content, len(sizes) + 1)
            sizes.append(len(content) - len(b".\r\n"))
        deliveries = self.hook.wait_for_deliveries(3)
        self.assertEqual([d["content_bytes"] for d in deliveries], sizes)

    def test_dot_and_quit_in_one_segment(self):
        """7: dot and QUIT in one segment"""
        with Client(self.hook.address) as client:
            client.hello()
            client.send(b"MAIL FROM:<a@x.test>\r\nRCPT TO:<b@y.test>\r\n"
                        b"DATA\r\n")
            self.assertEqual([client.reply().code for _ in range(3)],
                             [250, 250, 354])
            client.send(HEADER + b"hello\r\n.\r\nQUIT\r\n")
            self.assertEqual([client.reply().code for _ in range(2)],
                             [250, 221])
            self.assertEqual(client.rest(), b"")
        self.assertEqual(self.server.transactions[0].content,
                         HEADER + b"hello\r\n.\r\n")
        self.assertTrue(self.server.sessions[0].received.endswith(
            b"\r\n.\r\nQUIT\r\n"))

    def test_any_chunking(self):
        """7: however client and backend cut their bytes, none changes"""
        class Chopped(Script):
            flush_each = True

            def final(self, session, address):
                whole = f"250-2.0.0 <{address}>\r\n250 2.0.0 Saved\r\n"
                return [bytes([byte]) for byte in whole.encode()]

        self.server.script = Chopped()
        content = stuff(HEADER + b".\r\n..a\r\n\r\n.\r\r\n" + b"x" * 50)
        stream = b"MAIL FROM:<a@x.test>\r\nRCPT TO:<b@y.test>\r\nDATA\r\n"
        chance = random.Random(2)
        for step in (1, 2, 3, 5, 7, 0):
            with self.subTest(step=step), Client(self.hook.address) as client:
                client.hello()
                self.send_chopped(client, stream, step, chance)
                self.assertEqual([client.reply().code for _ in range(3)],
                                 [250, 250, 354])
                self.send_chopped(client, content, step, chance)
                self.assertEqual(client.reply().raw,
                                 b"250-2.0.0 <b@y.test>\r\n250 2.0.0 Saved\r\n")
                client.quit()
                self.assertEqual(self.server.transactions[-1].content, content)

    @staticmethod
    def send_chopped(client, data, step, chance):
        """`step` bytes at a time; 0: now so many, now so many."""
        while data:
            size = step or chance.randrange(1, 12)
            client.send(data[:size])
            data = data[size:]

    def test_addresses_and_unknown_commands(self):
        """commands pass as they are, line ends and odd spelling included"""
        lines = [b"mail From:<> BODY=8BITMIME\r\n",
                 b"RCPT TO:<\"a b>c\"@y.test>\n",
                 b"rcpt to: <gr\xc3\xbc@y.test> X=Y\r\n", b"NOOP  x \r\n",
                 b"HELP\r\n", b"RSET\r\n"]
        with Client(self.hook.address) as client:
            client.hello()
            client.send(b"".join(lines))
            for _ in lines:
                client.reply()
            client.quit()
        received = self.server.sessions[0].received
        self.assertEqual(received, b"LHLO client.test\r\n" + b"".join(lines)
                         + b"QUIT\r\n")
        self.assertEqual(
            [address for address, _, _ in
             codes(self.hook.wait_for_deliveries(1)[0])],
            ["\"a b>c\"@y.test", "grü@y.test"])

    def test_unix_sockets(self):
        """7: the same over unix sockets on both sides"""
        with Server(path=f"{self.hook.directory}/backend") as server, \
                Hook(server.endpoint, path="hook") as hook:
            with Client(hook.address) as client:
                client.hello()
                result = client.deliver("a@x.test", ["b@y.test"],
                                        BODIES["leading dots"])
            self.assertEqual([r.code for r in result.final], [250])
            self.assertEqual(server.transactions[0].content,
                             stuff(BODIES["leading dots"]))


if __name__ == "__main__":
    tap.main()
