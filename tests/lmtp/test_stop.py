# SPDX-License-Identifier: BSD-2-Clause
"""Stopping, killing, starting again, and a journal without room (must-show 13
and 10 for the hook alone; I1, I2, I4)."""

import contextlib
import os
import signal
import socket
import stat
import threading
import unittest

import tap
from hook import Hook, codes
from journal import Journal
from lmtp_client import Client, Lost
from lmtp_server import Script, Server
from stack import SmallDisk
from waiting import PATIENCE, wait_until

CONTENT = b"Subject: x\r\n\r\nhello\r\n"
ENVELOPE = b"MAIL FROM:<a@x.test>\r\nRCPT TO:<b@y.test>\r\nDATA\r\n"
GOODBYE = b"421 4.3.2 Service shutting down\r\n"


class Held(Script):
    """Answers the dot when it is told to."""

    def __init__(self):
        self.go_on = threading.Event()

    def content(self, session):
        return [self.go_on, *super().content(session)]


class Case(unittest.TestCase):
    def start(self, script=None, **options):
        self.server = Server(script)
        self.addCleanup(self.server.close)
        self.hook = Hook(self.server.endpoint, **options)
        self.addCleanup(self.hook.__exit__, None, None, None)
        self.hook.start()
        return self.hook

    def client(self):
        client = Client(self.hook.address)
        self.addCleanup(client.close)
        client.hello()
        return client

    def under_way(self, content=b""):
        """A client that was told to go ahead, and sent so much content."""
        client = self.client()
        client.send(ENVELOPE)
        self.assertEqual([client.reply().code for _ in range(3)],
                         [250, 250, 354])
        client.send(content)
        return client

    def wait_until_refusing(self):
        def refused():
            try:
                socket.create_connection(self.hook.address, 1).close()
                return False
            except ConnectionRefusedError:
                return True
            except OSError:
                return False
        wait_until(refused, "the hook not to listen any more")


class Stop(Case):
    def test_idle(self):
        """13: SIGTERM: idle clients are told 421, the exit status is 0"""
        self.start()
        clients = [self.client() for _ in range(3)]
        clients[0].deliver("", ["b@y.test"], CONTENT)
        self.hook.signal(signal.SIGTERM)
        for client in clients:
            self.assertEqual(client.rest(), GOODBYE)
            client.close()
        self.assertEqual(self.hook.wait(), 0)

    def test_before_the_dot(self):
        """13: SIGTERM: a transaction without content is cut"""
        self.start()
        client = self.client()
        client.command("MAIL FROM:<>")
        client.command("RCPT TO:<b@y.test>")
        self.assertEqual(self.hook.stop(), 0)
        self.assertEqual(client.rest(), b"")
        delivery, = self.hook.deliveries()
        self.assertEqual(delivery["ending"], "stopped")

    def test_after_the_dot(self):
        """13: SIGTERM: after the dot the replies are waited for"""
        script = Held()
        self.start(script, drain_timeout="60s")
        waiting = self.under_way(CONTENT + b".\r\n")
        sending = self.under_way(CONTENT)
        self.server.wait_for_content()
        self.hook.signal(signal.SIGTERM)
        self.wait_until_refusing()
        sending.send(b"more\r\n.\r\n")
        self.server.wait_for_content(2)
        script.go_on.set()
        for client in (waiting, sending):
            self.assertEqual(client.rest(),
                             b"250 2.0.0 <b@y.test> Saved\r\n" + GOODBYE)
            client.close()
        self.assertEqual(self.hook.wait(), 0)
        self.assertEqual([d["ending"] for d in self.hook.deliveries()],
                         ["completed"] * 2)

    def test_drain_timeout(self):
        """13: SIGTERM: not longer than drain_timeout"""
        script = Held()
        self.start(script, drain_timeout="300ms")
        client = self.under_way(CONTENT + b".\r\n")
        self.server.wait_for_content()
        self.assertEqual(self.hook.stop(), 0)
        self.assertEqual(client.rest(), b"")
        delivery, = self.hook.deliveries()
        self.assertEqual(delivery["ending"], "stopped")
        self.assertEqual(codes(delivery), [("b@y.test", 250, 0)])
        script.go_on.set()

    def test_under_load(self):
        """13, I4: SIGTERM under load: a client either has a reply for what the
        backend took, or the backend took nothing"""
        self.start(drain_timeout="60s")
        answered, enough = [], threading.Event()

        def deliver(number):
            turn = 0
            try:
                with Client(self.hook.address) as client:
                    client.hello()
                    while True:
                        address = f"u{number}.{turn}@y.test"
                        turn += 1
                        result = client.deliver("", [address], CONTENT)
                        if not result.final:
                            return
                        answered.append(address)
                        if len(answered) > 200:
                            enough.set()
            except (Lost, OSError):
                pass
        threads = [threading.Thread(target=deliver, args=(n,))
                   for n in range(20)]
        for thread in threads:
            thread.start()
        self.assertTrue(enough.wait(PATIENCE))
        self.assertEqual(self.hook.stop(), 0)
        for thread in threads:
            thread.join()
        taken = [t.recipients[0] for t in self.server.transactions
                 if t.content is not None]
        self.assertEqual(sorted(answered), sorted(taken))
        recorded = [codes(d)[0][0] for d in self.hook.deliveries()
                    if d["ending"] == "completed"]
        self.assertEqual(sorted(recorded), sorted(taken))

    def test_twice(self):
        """a second SIGTERM changes nothing"""
        script = Held()
        self.start(script, drain_timeout="60s")
        client = self.under_way(CONTENT + b".\r\n")
        self.server.wait_for_content()
        self.hook.signal(signal.SIGTERM)
        self.hook.wait_for_log("reason=stopping")
        self.hook.signal(signal.SIGTERM)
        script.go_on.set()
        self.assertEqual(client.reply().code, 250)
        client.close()
        self.assertEqual(self.hook.wait(), 0)


class Kill(Case):
    def test_what_the_client_saw_is_recorded(self):
        """I2: SIGKILL at the reply: the event is in the journal"""
        self.start()
        for number in range(10):
            with self.subTest(number):
                client = self.under_way(CONTENT + b".\r\n")
                self.assertEqual(client.reply().code, 250)
                self.hook.kill()
                self.assertEqual(len(self.hook.deliveries()), number + 1)
                self.assertEqual(client.rest(), b"")
                self.hook.start()

    def test_before_the_reply_nobody_is_told(self):
        """I4: SIGKILL before the backend's reply: no reply"""
        script = Held()
        self.start(script)
        client = self.under_way(CONTENT + b".\r\n")
        self.server.wait_for_content()
        self.hook.kill()
        self.assertEqual(client.rest(), b"")
        script.go_on.set()

    def test_a_stale_unix_socket_is_replaced(self):
        """after SIGKILL it listens on its unix socket again"""
        with Server() as server, \
                Hook(server.endpoint, path="hook", socket_mode="0600") as hook:
            hook.kill()
            hook.start()
            mode = stat.S_IMODE(os.stat(hook.address).st_mode)
            self.assertEqual(mode, 0o600)
            with Client(hook.address) as client:
                client.hello()


class Start(Case):
    def test_inherited_sockets(self):
        """sockets of a supervisor survive restarts, and those who wait there"""
        with Server() as server, socket.socket() as inherited, \
                socket.socket(socket.AF_UNIX) as second:
            inherited.bind(("127.0.0.1", 0))
            inherited.listen(20)
            hook = Hook(server.endpoint)
            self.addCleanup(hook.__exit__, None, None, None)
            path = f"{hook.directory}/second"
            second.bind(path)
            second.listen(20)
            address = inherited.getsockname()
            for _ in range(2):
                early = [Client(address, greet=False) for _ in range(3)]
                hook.start(sockets=[inherited, second])
                for client in early:
                    self.assertEqual(client.reply().code, 220)
                    client.close()
                with Client(path) as client:
                    client.hello()
                self.assertEqual(hook.stop(), 0)
            with self.assertRaises(ConnectionRefusedError):
                Client(hook.address)

    def test_more_sockets_than_it_takes(self):
        """it says so rather than leave some of them unserved"""
        with Server() as server, contextlib.ExitStack() as sockets:
            hook = Hook(server.endpoint)
            self.addCleanup(hook.__exit__, None, None, None)
            listening = [sockets.enter_context(socket.create_server(
                ("127.0.0.1", 0))) for _ in range(17)]
            with self.assertRaises(AssertionError):
                hook.start(sockets=listening)
            self.assertIn("17 sockets handed over", hook.log())

    def test_reload(self):
        """a reload changes the log level and disturbs nobody"""
        self.start()
        client = self.under_way(CONTENT)
        self.hook.configure(log_level="debug")
        self.hook.reload()
        self.hook.wait_for_log("reload=done")
        client.send(b".\r\n")
        self.assertEqual(client.reply().code, 250)

    def test_one_writer(self):
        """two hooks with one journal: the second does not start"""
        self.start()
        other = Hook(self.server.endpoint, journal=self.hook.journal)
        self.addCleanup(other.__exit__, None, None, None)
        with self.assertRaises(AssertionError):
            other.start()


class FullDisk(Case):
    def setUp(self):
        if not SmallDisk.possible():
            self.skipTest("may not mount")

    def test_mail_goes_on(self):
        """10, I1: a full journal disk changes no reply; drops are told later"""
        server = Server()
        self.addCleanup(server.close)
        hook = Hook(server.endpoint, heartbeat_interval="100ms")
        disk = SmallDisk(hook.journal, "256k")
        disk.mount()
        self.addCleanup(hook.private.remove)
        self.addCleanup(disk.unmount)
        self.addCleanup(hook.kill)
        hook.start()

        def deliver(count):
            with Client(hook.address) as client:
                client.hello()
                for _ in range(count):
                    result = client.deliver("", ["b@y.test"] * 20, CONTENT)
                    self.assertEqual([r.code for r in result.final],
                                     [250] * 20)
        deliver(5)
        disk.fill()
        deliver(50)
        self.assertLess(len(hook.deliveries()), 55)
        disk.make_room()

        def recovered():
            deliver(1)
            return self.told(hook) > 0
        wait_until(recovered, "drops in a heartbeat")
        recorded = len(hook.deliveries())
        delivered = len(server.transactions)
        self.assertGreater(recorded, 5)
        wait_until(lambda: self.told(hook) == delivered - recorded,
                   "every drop to be told")
        self.assertEqual(hook.stop(), 0)

    @staticmethod
    def told(hook):
        """Drops that the heartbeats tell of."""
        counters = Journal(hook.journal, "lmtp").counters()
        return counters["events_dropped_error"]


if __name__ == "__main__":
    tap.main()
