# SPDX-License-Identifier: BSD-2-Clause
"""What each recipient is answered, and what is recorded of it (must-show 8, the
part without Postfix; I4; case 44)."""

import os
import resource
import socket
import threading
import time
import unittest

import tap
from hook import Hook, codes
from lmtp_client import Client, Lost
from lmtp_server import CLOSE, RESET, SILENT, Script, Server
from waiting import free_port, wait_until

CONTENT = b"Subject: x\r\n\r\nhello\r\n"
HUGE = b"x" * 100000 + b"\r\n"


def mixed(number):
    """A final reply of each class, some of several lines."""
    return [b"250 2.0.0 Saved\r\n",
            b"452-4.2.2 Mailbox\r\n452 4.2.2 full\r\n",
            b"550 5.2.0 No\r\n", b"250-2.0.0 a\r\n250-2.0.0 b\r\n250 ok\r\n",
            b"451\r\n"][number % 5]


class Mixed(Script):
    """Refuses every seventh recipient; others get a reply of each class."""

    def __init__(self):
        self.replies = []

    def rcpt(self, session, address):
        number = len(session.transaction.recipients)
        if number % 7 == 6:
            return b"550 5.1.1 No such user\r\n"
        return b"250 2.1.5 Ok\r\n"

    def content(self, session):
        self.replies = [mixed(n) for n in range(len(session.accepted))]
        return self.replies


class Case(unittest.TestCase):
    def start(self, script=None, **options):
        self.server = Server(script)
        self.addCleanup(self.server.close)
        return self.start_hook(self.server.endpoint, **options)

    def start_hook(self, backend, **options):
        self.hook = Hook(backend, **options)
        self.hook.start()
        self.addCleanup(self.hook.__exit__, None, None, None)
        return self.hook

    def client(self, hello=True):
        client = Client(self.hook.address)
        self.addCleanup(client.close)
        if hello:
            client.hello()
        return client


class Recipients(Case):
    def deliver(self, count, pipelined):
        recipients = [f"user{n % (count - 3 if count > 5 else count)}@y.test"
                      for n in range(count)]
        client = self.client()
        result = client.deliver("a@x.test", recipients, CONTENT, pipelined)
        client.quit()
        return recipients, result

    def check_record(self, recipients, result, delivery):
        expected = []
        finals = iter(result.final)
        for address, reply in zip(recipients, result.rcpt):
            final = next(finals).code if reply.code == 250 else 0
            expected.append((address, reply.code, final))
        self.assertEqual(codes(delivery), expected)
        self.assertEqual([r["position"] for r in delivery["recipients"]],
                         list(range(len(recipients))))

    def test_many_mixed(self):
        """case 44, 8: 1, 2, 50 and 1,000 recipients, mixed results, in order"""
        self.start(Mixed())
        number = 0
        for count in (1, 2, 50, 1000):
            for pipelined in (True, False):
                with self.subTest(count=count, pipelined=pipelined):
                    recipients, result = self.deliver(count, pipelined)
                    self.assertEqual(result.accepted(), len(result.final))
                    self.assertEqual([r.raw for r in result.final],
                                     self.server.script.replies)
                    number += 1
                    delivery = self.hook.wait_for_deliveries(number)[-1]
                    self.assertEqual(delivery["ending"], "completed")
                    self.check_record(recipients, result, delivery)

    def test_same_recipient_twice(self):
        """8: the same recipient three times has three replies and records"""
        class Counting(Script):
            def content(self, session):
                return [f"250 2.0.0 copy {n}\r\n".encode()
                        for n in range(len(session.accepted))]
        self.start(Counting())
        result = self.client().deliver("a@x.test", ["u@y.test"] * 3, CONTENT)
        self.assertEqual([r.text for r in result.final],
                         ["2.0.0 copy 0", "2.0.0 copy 1", "2.0.0 copy 2"])
        delivery = self.hook.wait_for_deliveries(1)[0]
        self.assertEqual(codes(delivery), [("u@y.test", 250, 250)] * 3)
        self.assertEqual([r["final"]["text"] for r in delivery["recipients"]],
                         ["copy 0", "copy 1", "copy 2"])

    def test_all_refused(self):
        """8: when every recipient is refused, DATA is refused by the backend"""
        class Refusing(Script):
            def rcpt(self, session, address):
                return b"550 5.1.1 No\r\n"
        self.start(Refusing())
        for pipelined in (True, False):
            result = self.client().deliver("a@x.test", ["u@y.test"] * 2,
                                           CONTENT, pipelined)
            self.assertEqual([r.code for r in result.rcpt], [550, 550])
            self.assertEqual(result.data.raw,
                             b"503 5.5.1 No valid recipients\r\n")
        for delivery in self.hook.wait_for_deliveries(2):
            self.assertEqual(codes(delivery), [("u@y.test", 550, 0)] * 2)

    def test_replies_one_by_one(self):
        """8: each reply passes as soon as it came, recorded before that"""
        class OneByOne(Script):
            def __init__(self):
                self.go_on = [threading.Event() for _ in range(3)]

            def content(self, session):
                steps = []
                for number, event in enumerate(self.go_on):
                    steps += [event, mixed(number)]
                return steps
        script = OneByOne()
        self.start(script)
        client = self.client()
        client.send(b"MAIL FROM:<>\r\n" + b"RCPT TO:<u@y.test>\r\n" * 3
                    + b"DATA\r\n")
        for _ in range(5):
            client.reply()
        client.send(b"\r\n.\r\n")
        for number, event in enumerate(script.go_on):
            event.set()
            self.assertEqual(client.reply().raw, mixed(number))
            # No waiting: it must be there by now.
            deliveries = self.hook.deliveries()
            self.assertEqual(len(deliveries), number + 1)
            self.assertEqual(deliveries[-1]["part"], number)
            self.assertEqual(deliveries[-1]["id"], deliveries[0]["id"])
            self.assertEqual([d["ending"] for d in deliveries[:2]],
                             ["none"] * min(number + 1, 2))
        self.assertEqual(deliveries[-1]["ending"], "completed")

    def test_several_transactions(self):
        """8, case 53's kind: nothing of one transaction is left in the next"""
        self.start(Mixed())
        client = self.client()
        results = [client.deliver(f"s{n}@x.test", [f"r{n}@y.test"], CONTENT,
                                  before=[f"XFORWARD IDENT=Q{n}"] * (n < 2))
                   for n in range(3)]
        client.quit()
        self.assertTrue(all(len(r.final) == 1 for r in results))
        deliveries = self.hook.wait_for_deliveries(3)
        self.assertEqual([d["sequence"] for d in deliveries], [1, 2, 3])
        self.assertEqual([d["queue_id"] for d in deliveries], ["Q0", "Q1", ""])
        self.assertEqual(len({d["session"] for d in deliveries}), 1)
        self.assertEqual([codes(d)[0][0] for d in deliveries],
                         ["r0@y.test", "r1@y.test", "r2@y.test"])


class Capabilities(Case):
    def test_list(self):
        """the list is the backend's, less what must not pass, plus XFORWARD"""
        class Dovecot(Script):
            capabilities = ("8BITMIME", "CHUNKING", "ENHANCEDSTATUSCODES",
                            "PIPELINING", "STARTTLS", "DSN", "SIZE 1000",
                            "XCLIENT ADDR PORT", "XRCPTFORWARD", "SMTPUTF8")
        self.start(Dovecot())
        self.assertEqual(self.client().capabilities, [
            "8BITMIME", "ENHANCEDSTATUSCODES", "PIPELINING", "SIZE 1000",
            "SMTPUTF8", "XFORWARD IDENT"])

    def test_without_pipelining(self):
        """a backend without PIPELINING gets one command at a time"""
        seen = []

        class Strict(Script):
            capabilities = ("8BITMIME",)

            def mail(self, session, address):
                seen.append(len(session.received) - session._taken)
                return super().mail(session, address)

            def rcpt(self, session, address):
                seen.append(len(session.received) - session._taken)
                return super().rcpt(session, address)
        self.start(Strict())
        client = self.client()
        self.assertNotIn("PIPELINING", client.capabilities)
        result = client.deliver("a@x.test", ["b@y.test"] * 20, CONTENT)
        self.assertEqual(len(result.final), 20)
        self.assertEqual(set(seen), {0})

    def test_xforward_is_consumed(self):
        """XFORWARD never reaches the backend"""
        self.start()
        result = self.client().deliver(
            "a@x.test", ["b@y.test"], CONTENT,
            before=["XFORWARD NAME=n ADDR=a PORT=1", "XFORWARD IDENT=ABC"])
        self.assertEqual(len(result.final), 1)
        self.assertNotIn(b"XFORWARD", self.server.sessions[0].received)
        delivery = self.hook.wait_for_deliveries(1)[0]
        self.assertEqual(delivery["ident"], "ABC")

    def test_header(self):
        """queue id, stamp, Message-ID and run are read from the header"""
        header = (
            b"X-Perf-Sent: 2026-11-30T07:47:42.123456Z;\r\n"
            b"\tid=019ad3a1-5c00-7abc-8def-0123456789ab; q=STAMPQ\r\n"
            b"Received: from x (x [192.0.2.1])\r\n"
            b"\tby mx.test (Postfix) with ESMTP id OURS\r\n\tfor <b@y>; Mon\r\n"
            b"Received: by evil.test (Postfix) id THEIRS; Mon\r\n"
            b"Message-ID: <m@x>\r\nX-Perf-Run: night\r\n\r\n")
        self.start()
        self.client().deliver("a@x.test", ["b@y.test"], header,
                              before=["XFORWARD IDENT=IDENT"])
        delivery = self.hook.wait_for_deliveries(1)[0]
        self.assertEqual(
            [delivery[name] for name in ("queue_id", "ident", "stamp_queue_id",
                                         "message_id", "run", "stamps_seen")],
            ["OURS", "IDENT", "STAMPQ", "<m@x>", "night", 1])
        self.assertEqual(delivery["stamp_id"],
                         "019ad3a1-5c00-7abc-8def-0123456789ab")


CLOSINGS = {
    "greeting": 0, "lhlo": 0, "mail": 1, "rcpt": 1, "data": 1,
}


def closing_at(verb, how):
    """A script that closes instead of answering the verb."""
    return type("Closing", (Script,), {verb: lambda *_: how})()


class BackendCloses(Case):
    """8: the backend closes everywhere. The client then sees the end, and never
    a reply that the backend did not give."""

    def attempt(self):
        """All that the client got, until it was closed."""
        raw = b""
        try:
            client = self.client(hello=False)
            raw += client.greeting.raw
            raw += client.command("LHLO c").raw
            client.send(b"MAIL FROM:<a@x.test>\r\nRCPT TO:<b@y.test>\r\n"
                        b"RCPT TO:<c@y.test>\r\nDATA\r\n")
            for _ in range(4):
                raw += client.reply().raw
            client.send(CONTENT + b".\r\n")
            for _ in range(2):
                raw += client.reply().raw
        except Lost as lost:
            self.assertEqual(lost.raw, b"")
            return raw
        raise AssertionError("not closed")

    def test_before_the_dot(self):
        """8: the backend closes after each verb before the dot"""
        for verb, recorded in CLOSINGS.items():
            for how in (CLOSE, RESET):
                with self.subTest(verb, how=how):
                    self.start(closing_at(verb, how))
                    raw = self.attempt()
                    self.assertNotIn(b"354", raw)
                    self.assertNotIn(b"2.0.0", raw)
                    if recorded:
                        delivery, = self.hook.wait_for_deliveries(1)
                        self.assertEqual(delivery["ending"], "backend_lost")
                        self.assertTrue(all(final == 0 for _, _, final
                                            in codes(delivery)))

    def test_after_the_dot(self):
        """8: the backend closes after the dot, between replies, within one"""
        rows = {
            "no reply": ([CLOSE], [], [0, 0]),
            "one reply": ([b"250 2.0.0 one\r\n", CLOSE],
                          [b"250 2.0.0 one\r\n"], [250, 0]),
            "a reply and a half": ([b"250 2.0.0 one\r\n250 2.0", CLOSE],
                                   [b"250 2.0.0 one\r\n"], [250, 0]),
            "half of a line of one": ([b"250-2.0.0 one\r\n250", CLOSE],
                                      [], [0, 0]),
            "one temporary": ([b"451 4.0.0 one\r\n", CLOSE],
                              [b"451 4.0.0 one\r\n"], [451, 0]),
        }
        for name, (steps, replies, finals) in rows.items():
            with self.subTest(name):
                self.start(type("Closing", (Script,), {
                    "content": lambda self, session, s=steps: s})())
                raw = self.attempt()
                self.assertTrue(raw.endswith(b"354 Go ahead\r\n"
                                             + b"".join(replies)), raw)
                self.assertEqual(raw.count(b"2.0.0 one"),
                                 b"".join(replies).count(b"2.0.0 one"))
                # One part or two, depending on what was read at once.
                wait_until(self.backend_lost_told, "the end")
                told = {address: final for delivery in self.hook.deliveries()
                        for address, _, final in codes(delivery)}
                self.assertEqual(list(told.values()), finals)

    def backend_lost_told(self):
        deliveries = self.hook.deliveries()
        return deliveries and deliveries[-1]["ending"] == "backend_lost"

    def test_in_the_middle_of_content(self):
        """8: the backend closes while content is under way"""
        class Impatient(Script):
            def data(self, session):
                return [b"354 Go ahead\r\n", CLOSE]
        self.start(Impatient())
        client = self.client()
        client.send(b"MAIL FROM:<>\r\nRCPT TO:<b@y.test>\r\nDATA\r\n")
        with self.assertRaises(Lost):
            for _ in range(3):
                client.reply()
            while True:
                client.send(HUGE)
        delivery, = self.hook.wait_for_deliveries(1)
        self.assertEqual(delivery["ending"], "backend_lost")
        self.assertEqual(codes(delivery), [("b@y.test", 250, 0)])

    def test_421_when_idle(self):
        """a backend that says 421 and closes is passed on"""
        class Leaving(Script):
            def lhlo(self, session, argument):
                return [super().lhlo(session, argument),
                        b"421 4.3.2 Shutting down\r\n", CLOSE]
        self.start(Leaving())
        client = self.client()
        self.assertEqual(client.reply().raw, b"421 4.3.2 Shutting down\r\n")
        self.assertEqual(client.rest(), b"")


class BackendMisbehaves(Case):
    def test_refusing_connections(self):
        """8: a backend that refuses: the client is closed without a word"""
        self.start_hook(f"inet:127.0.0.1:{free_port()}")
        with self.assertRaises(Lost) as caught:
            self.client()
        self.assertEqual(caught.exception.raw, b"")

    def test_missing_socket(self):
        """8: a backend whose unix socket is not there"""
        self.start_hook("unix:/nonexistent/socket")
        with self.assertRaises(Lost):
            self.client()

    def test_silent_greeting(self):
        """8: a silent backend costs backend_connect_timeout"""
        self.start(closing_at("greeting", SILENT),
                   backend_connect_timeout="100ms")
        with self.assertRaises(Lost) as caught:
            self.client()
        self.assertEqual(caught.exception.raw, b"")

    def test_silent_verbs(self):
        """8: a backend silent to a verb costs backend_reply_timeout"""
        for verb in ("lhlo", "mail", "rcpt", "data"):
            with self.subTest(verb):
                self.start(closing_at(verb, SILENT),
                           backend_reply_timeout="1s")
                with self.assertRaises(Lost):
                    self.client().deliver("a@x.test", ["b@y.test"], CONTENT)
                if verb != "lhlo":
                    delivery, = self.hook.wait_for_deliveries(1)
                    self.assertEqual(delivery["ending"], "timed_out")

    def test_silent_after_the_dot(self):
        """8: a backend silent after the dot: closed without a reply"""
        self.start(closing_at("content", SILENT),
                   backend_final_timeout="100ms")
        with self.assertRaises(Lost) as caught:
            self.client().deliver("a@x.test", ["b@y.test"], CONTENT)
        self.assertEqual(caught.exception.raw, b"")
        delivery, = self.hook.wait_for_deliveries(1)
        self.assertEqual(delivery["ending"], "timed_out")
        self.assertEqual(codes(delivery), [("b@y.test", 250, 0)])

    def test_slow(self):
        """8: a slow backend is waited for"""
        class Slow(Script):
            def __init__(self):
                self.go_on = threading.Event()

            def content(self, session):
                return [self.go_on, *super().content(session)]
        script = Slow()
        # The shorter timeouts must not count after the dot.
        self.start(script, backend_reply_timeout="2s", client_timeout="2s")
        client = self.client()
        threading.Timer(3, script.go_on.set).start()
        result = client.deliver("a@x.test", ["b@y.test"], CONTENT)
        self.assertEqual(result.final[0].code, 250)

    def test_garbage(self):
        """8: garbage within a reply passes with it, as Postfix would read it"""
        class Garbled(Script):
            def content(self, session):
                return b"rubbish\r\n250 2.0.0 one\r\n250x\r\n250 2.0.0 two\r\n"
        self.start(Garbled())
        result = self.client().deliver("a@x.test", ["b@y.test"] * 2, CONTENT)
        self.assertEqual([r.raw for r in result.final],
                         [b"rubbish\r\n250 2.0.0 one\r\n",
                          b"250x\r\n250 2.0.0 two\r\n"])

    def test_endless_garbage(self):
        """8: garbage without end is given up, without a reply"""
        class Endless(Script):
            def content(self, session):
                return [b"garbage\r\n" * 20000, SILENT]
        self.start(Endless())
        with self.assertRaises(Lost) as caught:
            self.client().deliver("a@x.test", ["b@y.test"], CONTENT)
        self.assertEqual(caught.exception.raw, b"")
        delivery, = self.hook.wait_for_deliveries(1)
        self.assertEqual(delivery["ending"], "backend_lost")

    def test_too_many_replies(self):
        """8: a success more than recipients reaches nobody"""
        class Generous(Script):
            def content(self, session):
                return b"250 2.0.0 Saved\r\n" * 3 + b"250 2.0.0 more\r\n"
        self.start(Generous())
        client = self.client()
        result = client.deliver("a@x.test", ["b@y.test"] * 3, CONTENT)
        self.assertEqual(len(result.final), 3)
        self.assertEqual(client.rest(), b"")
        delivery, = self.hook.wait_for_deliveries(1)
        self.assertEqual(delivery["ending"], "completed")

    def test_does_not_read(self):
        """8: a backend that takes no content stops the client, not memory"""
        class Deaf(Script):
            def data(self, session):
                session.socket.setsockopt(socket.SOL_SOCKET,
                                          socket.SO_RCVBUF, 4096)
                self.deaf = threading.Event()
                return [b"354 Go ahead\r\n", self.deaf, CLOSE]
        script = Deaf()
        self.start(script)
        client = self.client()
        client.send(b"MAIL FROM:<>\r\nRCPT TO:<b@y.test>\r\nDATA\r\n")
        for _ in range(3):
            client.reply()
        before = self.anonymous_bytes()
        client.socket.settimeout(1)
        with self.assertRaises(TimeoutError):
            for _ in range(1000):
                client.send(HUGE)
        self.assertLess(self.anonymous_bytes() - before, 2 << 20)
        script.deaf.set()

    def anonymous_bytes(self):
        with open(f"/proc/{self.hook.pid()}/status", encoding="ascii") as file:
            for line in file:
                if line.startswith("RssAnon:"):
                    return int(line.split()[1]) * 1024
        raise AssertionError("no RssAnon")


class ClientCloses(Case):
    """8: the client closes everywhere."""

    def backend_is_left(self):
        session, = self.server.sessions
        self.assertTrue(session.ended.wait(30), "the backend is kept")
        self.assertTrue(session.lost)
        return session

    def test_after_each_verb(self):
        """8: the client leaves after each verb: the backend's side closes"""
        commands = ["LHLO c", "MAIL FROM:<a@x.test>", "RCPT TO:<b@y.test>",
                    "DATA"]
        for count in range(len(commands) + 1):
            for how in ("close", "reset"):
                with self.subTest(count=count, how=how):
                    self.start()
                    client = self.client(hello=False)
                    for command in commands[:count]:
                        client.command(command)
                    getattr(client, how)()
                    self.backend_is_left()
                    if count < 2:
                        self.assertEqual(self.hook.deliveries(), [])
                        continue
                    delivery, = self.hook.wait_for_deliveries(1)
                    self.assertEqual(delivery["ending"], "client_lost")
                    self.assertEqual(
                        codes(delivery),
                        [("b@y.test", 250, 0)] if count > 2 else [])

    def test_in_the_middle_of_content(self):
        """8: the client leaves within content: nothing is delivered"""
        self.start()
        client = self.client()
        client.send(b"MAIL FROM:<>\r\nRCPT TO:<b@y.test>\r\nDATA\r\n")
        for _ in range(3):
            client.reply()
        client.send(CONTENT + b".\r")
        client.close()
        session = self.backend_is_left()
        self.assertIsNone(session.transactions[0].content)
        delivery, = self.hook.wait_for_deliveries(1)
        self.assertEqual(delivery["ending"], "client_lost")

    def test_after_the_dot(self):
        """8, I2: the client leaves after the dot: what was delivered is told"""
        class Slow(Script):
            def __init__(self):
                self.go_on = threading.Event()

            def content(self, session):
                return [self.go_on, b"250 2.0.0 one\r\n452 4.2.2 two\r\n"]
        for how in ("close", "reset"):
            with self.subTest(how):
                script = Slow()
                self.start(script)
                client = self.client()
                client.send(b"MAIL FROM:<>\r\nRCPT TO:<b@y.test>\r\n"
                            b"RCPT TO:<c@y.test>\r\nDATA\r\n")
                for _ in range(4):
                    client.reply()
                client.send(CONTENT + b".\r\n")
                self.server.wait_for_content()
                getattr(client, how)()
                wait_until(lambda: self.client_is_gone(client_lost=how),
                           "the hook to notice")
                script.go_on.set()
                delivery, = self.hook.wait_for_deliveries(1)
                self.assertEqual(codes(delivery), [("b@y.test", 250, 250),
                                                   ("c@y.test", 250, 452)])
                self.backend_is_left()

    def client_is_gone(self, client_lost):
        """Whether the hook has no connection from a living client."""
        own = f"{self.hook.address[1]:04X}"
        with open("/proc/net/tcp", encoding="ascii") as file:
            lines = [line.split() for line in list(file)[1:]]
        return not any(line[1].endswith(f":{own}") and line[3] == "01"
                       for line in lines)

    def test_half_closed(self):
        """8: a client that only stops sending gets all its replies"""
        self.start()
        client = self.client()
        client.send(b"MAIL FROM:<>\r\nRCPT TO:<b@y.test>\r\nDATA\r\n")
        for _ in range(3):
            client.reply()
        client.send(CONTENT + b".\r\nQUIT\r\n")
        client.socket.shutdown(socket.SHUT_WR)
        self.assertEqual(client.rest(), b"250 2.0.0 <b@y.test> Saved\r\n"
                         b"221 2.0.0 Bye\r\n")

    def test_silent(self):
        """a silent client is told after client_timeout"""
        self.start(client_timeout="1s")
        client = self.client()
        self.assertEqual(client.reply().raw, b"421 4.4.2 Timeout\r\n")
        self.assertEqual(client.rest(), b"")

    def test_never_reads(self):
        """8: a client that reads nothing stops itself, not memory"""
        self.start(client_timeout="1s", backend_reply_timeout="1s")
        client = self.client()
        client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.socket.settimeout(5)
        with self.assertRaises((TimeoutError, Lost)):
            while True:
                client.send(b"HELP me please\r\n" * 1000)
        self.assertTrue(self.hook.running())


class Probes(Case):
    def test_reset_before_data(self):
        """an address probe is recorded at its RSET or QUIT"""
        self.start()
        client = self.client()
        for command in ("MAIL FROM:<>", "RCPT TO:<b@y.test>", "RSET",
                        "MAIL FROM:<c@x.test>"):
            self.assertEqual(client.command(command).code, 250)
        client.quit()
        deliveries = self.hook.wait_for_deliveries(2)
        self.assertEqual([d["ending"] for d in deliveries], ["reset"] * 2)
        self.assertEqual([codes(d) for d in deliveries],
                         [[("b@y.test", 250, 0)], []])


class Stamps(Case):
    def test_causal(self):
        """4: stamps lie between the client's clock before it wrote and after it
        read the reply"""
        self.start()
        before, after = {}, {}

        def ask(name, action):
            before[name] = time.time_ns()
            action()
            after[name] = time.time_ns()
        client = None

        def connect():
            nonlocal client
            client = self.client(hello=False)
        ask("connect_at", connect)
        client.hello()
        ask("mail_at", lambda: client.command("MAIL FROM:<>"))
        ask("rcpt_at", lambda: client.command("RCPT TO:<b@y.test>"))
        ask("data_at", lambda: client.command("DATA"))

        def content():
            client.send(CONTENT + b".\r\n")
            client.reply()
        ask("content_end_at", content)
        delivery, = self.hook.wait_for_deliveries(1)
        recipient, = delivery["recipients"]
        stamps = {name: delivery[name] for name in before if name != "rcpt_at"}
        stamps["rcpt_at"] = recipient["rcpt_at"]
        for name, stamp in stamps.items():
            self.assertLessEqual(before[name], stamp["wall_ns"], name)
            self.assertLessEqual(stamp["wall_ns"], after[name], name)
        order = [stamps["connect_at"], stamps["mail_at"], stamps["rcpt_at"],
                 recipient["envelope"]["at"], stamps["data_at"],
                 stamps["content_end_at"], recipient["final"]["at"]]
        monotonic = [stamp["monotonic_ns"] for stamp in order]
        self.assertEqual(monotonic, sorted(monotonic))
        self.assertLessEqual(recipient["final"]["at"]["wall_ns"],
                             after["content_end_at"])


class Crowd(Case):
    def test_many_at_once(self):
        """8: 50 clients at once, each gets its own replies"""
        self.start()
        failures = []

        def deliver(number):
            try:
                with Client(self.hook.address) as client:
                    client.hello()
                    for turn in range(5):
                        addresses = [f"u{number}.{turn}.{n}@y.test"
                                     for n in range(number % 4 + 1)]
                        result = client.deliver("a@x.test", addresses, CONTENT)
                        assert [r.text for r in result.final] == [
                            f"2.0.0 <{a}> Saved" for a in addresses]
                    client.quit()
            except Exception as error:
                failures.append(error)
        threads = [threading.Thread(target=deliver, args=(n,))
                   for n in range(50)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])
        deliveries = self.hook.wait_for_deliveries(250)
        self.assertEqual(len({d["id"] for d in deliveries}), 250)

    def test_max_connections(self):
        """beyond max_connections clients wait until one has gone"""
        self.start(max_connections=2)
        first, _ = self.client(), self.client()
        third = Client(self.hook.address, greet=False)
        self.addCleanup(third.close)
        third.socket.settimeout(0.2)
        with self.assertRaises(TimeoutError):
            third.reply()
        first.quit()
        third.socket.settimeout(30)
        self.assertEqual(third.reply().code, 220)

    def test_no_descriptors(self):
        """without descriptors left clients are turned away, not kept"""
        self.start()
        soft = len(os.listdir(f"/proc/{self.hook.pid()}/fd")) + 3
        resource.prlimit(self.hook.pid(), resource.RLIMIT_NOFILE, (soft, soft))
        kept = [self.client()]
        for _ in range(5):
            with self.assertRaises(Lost):
                self.client()
        kept[0].quit()
        wait_until(self.can_deliver, "a client to be served again")

    def can_deliver(self):
        try:
            with Client(self.hook.address) as client:
                client.hello()
                return client.deliver("", ["b@y.test"], CONTENT).final
        except Lost:
            return None


if __name__ == "__main__":
    tap.main()
