# SPDX-License-Identifier: BSD-2-Clause
"""Our end of message was accepted, and then Postfix itself failed: ghosts, and
never losses (facts 1.4)."""

import os
import signal
import subprocess

import tap
from fate_stack import FateCase, FateStack, queue_id_of
from mail_system import Listener, service
from smtp_client import SmtpClient
from stack import MILTER

CONTENT = "Message-ID: <{id}@client.test>\r\nSubject: x\r\n\r\nhello\r\n"


class Trouble(FateCase):
    @classmethod
    def make_stack(cls):
        hasty = MILTER.replace("content_timeout=5s", "content_timeout=1s")
        return FateStack(
            [Listener("plain", {"cleanup_service_name": "cleanup-single"}),
             Listener("hasty", {"smtpd_milters":
                 hasty.replace("=accept", "=tempfail")})],
            services=[service("cleanup-single", "unix", "cleanup", {}, "0",
                              public=True)])

    def trace_cleanup(self, fault):
        """The system call of every cleanup(8) of listener plain that waits for
        work suffers this: `fsync:error=EIO`."""
        queue_id = self.send(["u1@example.test"])
        self.assert_fates(queue_id, {"u1@example.test": "delivered"})
        pids = self.cleanup_pids()
        command = ["strace", "-f", "-o", "/dev/null", "-e", f"inject={fault}"]
        tracer = subprocess.Popen(
            command + [word for pid in pids for word in ("-p", pid)],
            stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
        self.addCleanup(tracer.stderr.close)
        self.addCleanup(tracer.wait)
        self.addCleanup(tracer.terminate)
        for _ in pids:
            self.assertIn(b"attached", tracer.stderr.readline())

    def cleanup_pids(self):
        master = str(self.stack.postfix.master_pid())
        found = subprocess.run(["pgrep", "-P", master, "-f", "cleanup-single"],
                               check=True, capture_output=True, text=True)
        return found.stdout.split()

    def refused(self, name, listener="plain"):
        """Sends a message that must not be taken; its queue id."""
        code, text = self.stack.submit(
            "sender@direct.test", ["u1@example.test"],
            CONTENT.format(id=name), listener)
        self.assertEqual(code // 100, 4, text)
        return queue_id_of(self.wait_for_line(f"message-id=<{name}@")[0])

    def assert_ghost(self, queue_id):
        self.assert_eventually(
            lambda fates: fates.get("u1@example.test") in (
                ("ghost", "refused"), ("ghost", "never_queued")), queue_id)

    def test_queue_file_that_cannot_be_synced(self):
        """fsync fails with EIO: 451"""
        self.trace_cleanup("fsync:error=EIO")
        self.assert_ghost(self.refused("eio"))

    def test_full_disk_behind_the_end_of_message(self):
        """fsync fails with ENOSPC: 451 or 452"""
        self.trace_cleanup("fsync:error=ENOSPC")
        self.assert_ghost(self.refused("enospc"))

    def test_cleanup_killed_before_the_commit(self):
        """SIGKILL at fchmod: the queue file stays behind without its x bit,
        until Postfix cleans up"""
        self.trace_cleanup("fchmod:signal=SIGKILL")
        queue_id = self.refused("before")
        self.assertEqual(self.stack.postfix.queue_ids()[queue_id], "incoming")
        self.assert_fates(queue_id, {"u1@example.test": "in_flight"})
        os.unlink(f"{self.stack.postfix.queue_directory}/incoming/{queue_id}")
        self.assert_ghost(queue_id)

    def test_cleanup_killed_behind_the_commit(self):
        """SIGKILL at fsync: 451 to the client, and delivered all the same"""
        self.trace_cleanup("fsync:signal=SIGKILL")
        queue_id = self.refused("behind")
        self.stack.postfix.flush()
        self.assert_fates(queue_id, {"u1@example.test": "delivered"})

    def test_postfix_does_not_wait_for_our_answer(self):
        """The event is recorded, the answer late, default_action tempfail"""
        directory = f"{self.stack.journals}/milter"
        newest = max(os.scandir(directory), key=lambda e: e.stat().st_mtime)
        tracer = self.stack.milter.trace(
            "-P", newest.path, "-e", "inject=write:delay_exit=2000000")
        try:
            queue_id = self.refused("late", "hasty")
        finally:
            tracer.send_signal(signal.SIGTERM)
            tracer.wait()
        self.assert_ghost(queue_id)

    def test_session_killed_at_each_phase(self):
        """Cases 47 and 54: aborted, never ghost or lost"""
        for last in range(1, 4):
            with SmtpClient(self.stack.address()) as client:
                client.command("EHLO client.example.test", 2)
                for line in ("MAIL FROM:<gone@direct.test>",
                             "RCPT TO:<gone@example.test>", "DATA")[:last]:
                    client.command(line)
                if last == 3:
                    client.write("Subject: half\r\n\r\nhal")
        def all_seen():
            seen = self.stack.metrics()
            return [seen.value("postlag_smtp_aborts_total", phase=phase)
                    for phase in ("mail", "rcpt", "data")] == [1, 1, 1]
        self.assert_eventually(lambda _: all_seen())


if __name__ == "__main__":
    tap.main()
