# SPDX-License-Identifier: BSD-2-Clause
"""postlag-milter as a process: sockets, signals, load, and what may happen to
its journal."""

import contextlib
import grp
import os
import shutil
import signal
import socket
import stat
import statistics
import threading
import time

import tap
from milter_case import FORGED, STAMP, MilterCase, stamps
from mta_simulator import MtaSession
from stack import SmallDisk
from waiting import free_port, wait_until

LONG = os.environ.get("POSTLAG_LONG") == "1"


class Load:
    """Sessions on several threads until told to stop; knows which stamped
    messages came back whole. A milter that is gone is asked again."""

    def __init__(self, address, threads=4):
        self.address = address
        self.stopping = threading.Event()
        self.lock = threading.Lock()
        self.stamped = []
        self.unstamped = 0
        self.threads = [threading.Thread(target=self._run, daemon=True)
                        for _ in range(threads)]

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.stopping.set()
        for thread in self.threads:
            thread.join()

    def _run(self):
        while not self.stopping.is_set():
            # The milter may be killed at any moment.
            with contextlib.suppress(OSError):
                session = MtaSession(self.address)
                try:
                    session.connect().helo()
                    for _ in range(5):
                        self._note(session.message())
                finally:
                    session.close()

    def _note(self, headers):
        found = stamps(headers)
        with self.lock:
            self.stamped += found
            self.unstamped += not found

    def wait_for(self, count):
        wait_until(lambda: len(self.stamped) >= count, f"{count} messages")


def identifier(stamp):
    return stamp.split("id=")[1].split(";")[0]


class Sockets(MilterCase):
    def test_mode_of_the_socket_is_the_configured_one(self):
        self.assertEqual(stat.S_IMODE(os.stat(self.socket).st_mode), 0o660)
        self.milter.stop()
        self.milter.configure(socket_mode="0666", socket_group="mail")
        self.milter.start()
        self.assertEqual(stat.S_IMODE(os.stat(self.socket).st_mode), 0o666)
        self.assertEqual(os.stat(self.socket).st_gid,
                         grp.getgrnam("mail").gr_gid)

    def test_a_socket_left_over_is_replaced_and_a_live_one_is_not(self):
        self.milter.kill()
        self.assertTrue(os.path.exists(self.socket))
        self.milter.start()
        self.session().message()
        self.milter.configure(source="other")
        first, self.milter.process = self.milter.process, None
        with self.assertRaisesRegex(AssertionError, "another process"):
            self.milter.start()
        self.milter.process = first
        self.session().message()

    def test_inet_and_inet6(self):
        for host, written in (("127.0.0.1", "127.0.0.1"), ("::1", "[::1]")):
            with self.subTest(host=host):
                port = free_port(host)
                self.milter.stop()
                self.milter.configure(socket=f"inet:{written}:{port}")
                self.milter.start()
                session = MtaSession((host, port)).connect().helo()
                self.assertTrue(stamps(session.message()))
                session.quit()

    def test_a_socket_handed_over_survives_a_restart(self):
        self.milter.stop()
        path = f"{self.directory}/inherited.sock"
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(path)
            listener.listen(10)
            for _ in range(2):
                self.milter.start(sockets=[listener])
                session = MtaSession(path).connect().helo()
                self.assertTrue(stamps(session.message()))
                session.quit()
                self.assertEqual(self.milter.stop(), 0)
                self.assertTrue(os.path.exists(path))

    def test_what_is_no_milter_protocol_harms_nobody_else(self):
        session = self.session()
        for garbage in (b"", b"\0", b"GET / HTTP/1.0\r\n\r\n", b"\xff" * 100,
                        b"\0\0\0\0", b"\0\0\0\x01O", b"\0\0\0\x01E",
                        b"\x7f\xff\xff\xffO", b"\0\0\0\x0dO" + b"\0" * 12):
            with socket.socket(socket.AF_UNIX) as other:
                other.connect(self.socket)
                other.sendall(garbage)
        self.assertTrue(stamps(session.message()))
        session.quit()


class Signals(MilterCase):
    def test_sigterm_under_load_ends_at_once_with_status_0(self):
        seconds = []
        with Load(self.socket) as load:
            for _ in range(200 if LONG else 20):
                load.wait_for(len(load.stamped) + 10)
                begin = time.monotonic()
                self.assertEqual(self.milter.stop(), 0, self.milter.log())
                seconds.append(time.monotonic() - begin)
                self.milter.start()
        # libmilter itself would take 0 to 5 s. (The thread sanitizer sleeps
        # for 1 s at the end.)
        self.assertLess(statistics.median(seconds), 2)
        self.assertNotIn("gave up", self.milter.log())
        self.every_stamp_has_its_event(load)

    def every_stamp_has_its_event(self, load):
        """I2."""
        recorded = [m["id"] for m in self.journal.messages()]
        self.assertEqual(len(recorded), len(set(recorded)))
        self.assertEqual(
            {identifier(s) for s in load.stamped} - set(recorded), set())

    def test_open_sessions_are_counted_when_it_stops(self):
        sessions = [self.session() for _ in range(3)]
        sessions[0].mail()
        sessions[1].envelope()
        self.assertEqual(self.milter.stop(), 0)
        self.journal.wait_for_counter("unstamped_stopped", 3)
        for session in sessions:
            session.close()

    def test_reloads_in_any_number_do_not_stop_it(self):
        session = self.session()
        for number in (signal.SIGHUP, signal.SIGUSR1) * 200:
            self.milter.signal(number)
        self.milter.wait_for_log("reload=done")
        self.assertTrue(stamps(session.message()))
        self.assertNotIn("ending=accepted", self.milter.log())
        self.milter.configure(log_level="debug")
        self.milter.reload()

        def told():
            session.message()
            return "ending=accepted" in self.milter.log()
        wait_until(told, "lines of level debug")
        session.quit()

    def test_sigint_stops_it_too(self):
        self.milter.signal(signal.SIGINT)
        self.assertEqual(self.milter.wait(), 0)

    def test_killed_at_any_moment_no_stamp_is_without_its_event(self):
        """I2."""
        with Load(self.socket) as load:
            for _ in range(50 if LONG else 10):
                load.wait_for(len(load.stamped) + 7)
                self.milter.kill()
                self.milter.start()
        self.every_stamp_has_its_event(load)


class KilledBetween(MilterCase):
    """SIGKILL exactly where it hurts: instead of a chosen write."""

    # No heartbeat comes between.
    settings = {"heartbeat_interval": "1h"}

    def killed_at_end_of_message(self, *options):
        """Sends a message to a milter that is killed in its end-of-message
        callback. Returns how many events there are then."""
        session = self.session().envelope()
        session.header("Subject", "x")
        self.milter.trace(*options)
        with self.assertRaises(OSError):
            session.eom()
        session.close()
        self.assertEqual(self.milter.wait(), -signal.SIGKILL)
        return len(self.journal.messages())

    def test_before_the_append(self):
        segment = self.journal.segments()[-1]
        self.assertEqual(self.killed_at_end_of_message(
            "-P", segment, "-e", "inject=write:signal=SIGKILL"), 0)

    def test_between_append_and_insertion_of_the_header(self):
        """I2: the event is there, the stamp is not; one more than was needed,
        never one less."""
        self.assertEqual(self.killed_at_end_of_message(
            "-e", "inject=writev:signal=SIGKILL"), 1)

    def test_between_insertion_of_the_header_and_the_reply(self):
        """I2."""
        self.assertEqual(self.killed_at_end_of_message(
            "-e", "inject=writev:signal=SIGKILL:when=2"), 1)

    def test_instead_of_the_reply_to_each_command(self):
        for number, command in enumerate(
                ("connect", "helo", "mail", "rcpt", "data")):
            with self.subTest(command=command):
                if not self.milter.running():
                    self.milter.start()
                session = MtaSession(self.socket)
                for earlier in ("connect", "helo", "mail", "rcpt")[:number]:
                    getattr(session, earlier)()
                self.milter.trace("-e", "inject=writev:signal=SIGKILL")
                with self.assertRaises(OSError):
                    getattr(session, command)()
                session.close()
                self.assertEqual(self.milter.wait(), -signal.SIGKILL)
        self.assertEqual(self.journal.messages(), [])


class Crowd(MilterCase):
    def test_many_sessions_at_once(self):
        """I8."""
        count = 3000 if LONG else 300
        sessions = [MtaSession(self.socket) for _ in range(count)]
        for session in sessions:
            session.connect().helo().mail(f"s{id(session)}@example.com")
        for session in reversed(sessions):
            session.rcpt().data()
        for session in sessions:
            self.assertEqual(len(session.eom()), 1)
        for session in sessions:
            session.quit()
        messages = self.journal.wait_for_messages(count)
        self.assertEqual(len({m["id"] for m in messages}), count)
        self.assertEqual(len({m["queue_id"] for m in messages}), count)
        self.assertEqual(len({m["session"] for m in messages}), count)

    def test_a_burst_of_short_sessions(self):
        count = 5000 if LONG else 500
        with Load(self.socket, threads=8) as load:
            load.wait_for(count)
        self.journal.wait_for_messages(len(load.stamped))


class JournalTrouble(MilterCase):
    """I1: whatever happens to the journal, mail passes."""

    def test_a_full_disk_costs_the_stamp_and_is_counted(self):
        """Case 59."""
        self.milter.stop()
        if not SmallDisk.possible():
            self.skipTest("needs the right to mount")
        disk = SmallDisk(f"{self.directory}/small", "200k")
        disk.mount()
        self.addCleanup(disk.unmount)
        self.addCleanup(self.stop_milter)
        self.milter.configure(journal=disk.path, segment_size="64K")
        self.milter.start()
        self.journal.directory = f"{disk.path}/milter"
        session = self.session()
        recipients = [f"recipient{n}@example.com" for n in range(100)]
        disk.fill()
        for _ in range(60):
            result = session.message(recipients=recipients)
        self.assertEqual(stamps(result), [])
        # Stamps of others are removed all the same.
        result = session.message(headers=[(STAMP, FORGED), ("Subject", "x")],
                                 recipients=recipients)
        self.assertEqual(result, [("Subject", "x")])
        disk.make_room()
        wait_until(lambda: stamps(session.message()), "stamps again")
        session.quit()
        wait_until(lambda: self.journal.counters()["unstamped_dropped"] > 0,
                   "the count of unstamped messages")
        seen = self.journal.counters()
        self.assertEqual(seen["events_dropped_error"]
                         + seen["events_dropped_limit"],
                         seen["unstamped_dropped"])

    def test_the_size_limit_costs_the_stamp_and_is_counted(self):
        self.milter.stop()
        self.milter.configure(journal_limit="256K", segment_size="64K")
        self.milter.start()
        session = self.session()
        recipients = [f"recipient{n}@example.com" for n in range(100)]
        results = [stamps(session.message(recipients=recipients))
                   for _ in range(100)]
        session.quit()
        self.assertTrue(results[0])
        self.assertFalse(results[-1])
        dropped = results.count([])
        self.journal.wait_for_counter("unstamped_dropped", dropped)
        self.assertEqual(len(self.journal.messages()), 100 - dropped)
        self.assertLessEqual(self.journal.bytes(), 300 << 10)

    def test_refused_transactions_fill_half_of_the_limit_at_most(self):
        """I8."""
        self.milter.stop()
        self.milter.configure(journal_limit="256K", segment_size="64K",
                              aborts_per_second="100000",
                              aborts_burst="100000")
        self.milter.start()
        session = self.session()
        for _ in range(2000):
            session.mail().rcpt_rejected().abort()
        self.assertTrue(stamps(session.message()))
        session.quit()
        self.assertLessEqual(self.journal.bytes(), 140 << 10)

    def test_the_journal_may_be_removed_under_it(self):
        session = self.session()
        self.assertTrue(stamps(session.message()))
        shutil.rmtree(f"{self.directory}/journal")
        for _ in range(20):
            session.message()
        session.quit()

    def test_it_does_not_start_where_it_cannot_write(self):
        self.milter.stop()
        self.milter.configure(journal=f"{self.directory}/none/journal")
        with self.assertRaisesRegex(AssertionError, "ended with 1"):
            self.milter.start()


if __name__ == "__main__":
    tap.main()
