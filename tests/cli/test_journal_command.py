# SPDX-License-Identifier: BSD-2-Clause
"""postlag journal dump and verify: what is in the journals' files."""

import glob
import json
import os
import subprocess
import tempfile
import unittest

import tap
from programs import build_directory, program_path

TIME = "2026-11-30T07:47:42.123456Z"


def postlag(*arguments):
    return subprocess.run([program_path("postlag"), "journal", *arguments],
                          capture_output=True, text=True, timeout=60)


class JournalCommand(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.directory = holder.name

    def tool(self, source, *arguments, **options):
        path = os.path.join(build_directory(), "tests/cli/tool_events")
        return subprocess.Popen([path, self.directory, source, *arguments],
                                text=True, **options)

    def write(self, source):
        """Returns the path of the segment written."""
        before = set(self.segments(source))
        with self.tool(source) as process:
            self.assertEqual(process.wait(60), 0)
        (path,) = set(self.segments(source)) - before
        return path

    def segments(self, source):
        return glob.glob(f"{self.directory}/{source}/*.journal")

    def test_text(self):
        """dump prints a line an event, quoted and harmless to a terminal"""
        path = self.write("milter")
        result = postlag("dump", path)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        lines = result.stdout.splitlines()
        self.assertEqual([line.split()[0] for line in lines],
                         ["heartbeat", "message", "delivery", "operation",
                          "heartbeat"])
        self.assertIn(" start=yes ", lines[0])
        self.assertIn(" increases.events_appended=3 ", lines[4])
        for part in ('queue_id=4Kt8Fh2vZlz9', 'ending=accepted',
                     'phase=eom', 'sender=""', f'mail_at={TIME}',
                     'helo="\ufffd\\x1b[31m café \\x9b"',
                     'recipients[0].address=user@example.org',
                     'recipients[1].address=""',
                     'recipients[1].rejected=yes',
                     'recipients[1].reject_text="User \\"unknown\\"\\nhere"'):
            self.assertIn(f" {part} ", lines[1])
        for part in ('ending=completed', 'recipients[0].final.code=250',
                     'recipients[0].final.text=Saved', 'source=milter'):
            self.assertIn(f" {part} ", lines[2])
        for part in ('kind=acknowledge', f'at={TIME}', 'who=root',
                     'message=01020304-0506-7708-8900-000000000000',
                     'comment="restored\\nto mx2"'):
            self.assertIn(f" {part} ", lines[3])

    def test_json(self):
        """dump --json prints an object an event, with both clocks"""
        path = self.write("milter")
        result = postlag("dump", "--json", path)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        _, message, delivery, operation, last = map(json.loads,
                                         result.stdout.splitlines())
        self.assertEqual(message["type"], "message")
        self.assertEqual(message["mail_at"], {
            "time": TIME, "wall_ns": 1796024862123456789, "monotonic_ns": 2})
        self.assertEqual(message["sender"], "")
        self.assertNotIn("client_name", message)
        self.assertEqual(message["recipients"][0]["address"],
                         "user@example.org")
        self.assertEqual(message["recipients"][1]["reject_text"],
                         'User "unknown"\nhere')
        self.assertEqual(message["helo"], "\ufffd\x1b[31m caf\xe9 \x9b")
        self.assertEqual(delivery["stamp_mail_wall_ns"], 1796024862123456789)
        self.assertEqual(delivery["recipients"][0]["envelope"]["enhanced"],
                         "2.1.5")
        self.assertEqual(message["segment"], os.path.basename(path))
        self.assertEqual(operation["type"], "operation")
        self.assertEqual(operation["comment"], "restored\nto mx2")
        self.assertEqual(last["increases"]["events_appended"], 3)

    def test_directories(self):
        """a source's directory and that of all sources are read"""
        self.write("lmtp")
        self.write("milter")
        self.write("milter")
        one = postlag("dump", f"{self.directory}/milter")
        every = postlag("dump", self.directory)
        files = postlag("dump", *sorted(self.segments("lmtp")),
                        *sorted(self.segments("milter")))
        self.assertEqual(one.stdout.count("\n"), 10)
        self.assertEqual(every.stdout.count("\n"), 15)
        self.assertEqual(every.stdout, files.stdout)
        verified = postlag("verify", self.directory)
        self.assertEqual(verified.returncode, 0)
        self.assertIn("total: files=3 records=15 damaged_records=0 ",
                      verified.stdout)

    def test_damage(self):
        """verify counts damage by kind and says so with status 1"""
        damaged = self.write("milter")
        torn = self.write("milter")
        sound = self.write("milter")
        with open(damaged, "r+b") as file:
            data = bytearray(file.read())
            data[20] ^= 1
            data[data.index(b"4Kt8Fh2vZlz9")] ^= 1
            file.seek(0)
            file.write(data)
        os.truncate(torn, os.path.getsize(torn) - 3)
        result = postlag("verify", self.directory)
        self.assertEqual(result.returncode, 1)
        lines = dict(line.split(": ", 1)
                     for line in result.stdout.splitlines())
        self.assertRegex(lines[damaged],
                         r"records=4 damaged_records=1 damaged_bytes=\d+ "
                         r"torn=0 damaged_headers=1 unreadable=0")
        self.assertRegex(lines[torn],
                         r"records=4 damaged_records=0 damaged_bytes=\d+ "
                         r"torn=1 damaged_headers=0 unreadable=0")
        self.assertIn("records=5 damaged_records=0 damaged_bytes=0 ",
                      lines[sound])
        self.assertIn("files=3 records=13 ", lines["total"])
        self.assertEqual(postlag("dump", damaged).returncode, 1)
        self.assertEqual(postlag("verify", sound).returncode, 0)

    def test_no_segment(self):
        """a file that is no segment is damaged, one that is not there status 2
        """
        path = os.path.join(self.directory, "garbage")
        with open(path, "wb") as file:
            file.write(b"garbage" * 1000)
        self.assertEqual(postlag("verify", path).returncode, 1)
        for arguments in (["verify", path + ".missing"],
                          ["verify", self.directory + "/nothing"],
                          ["dump"], ["verify"], ["frobnicate"], [],
                          ["verify", "--json", path],
                          ["dump", "--wrong", path]):
            result = postlag(*arguments)
            self.assertEqual(result.returncode, 2, arguments)
            self.assertTrue(result.stderr)
            self.assertEqual(result.stdout.count("\n"),
                             1 if "verify" in arguments[:1] and
                             len(arguments) == 2 else 0)
        empty = os.path.join(self.directory, "empty")
        os.mkdir(empty)
        self.assertEqual(postlag("dump", empty).returncode, 2)

    def test_live(self):
        """what a living writer is about to complete is not called torn"""
        with self.tool("milter", "hold", stdin=subprocess.PIPE,
                       stdout=subprocess.PIPE) as process:
            self.assertEqual(process.stdout.readline(), "ready\n")
            (path,) = self.segments("milter")
            with open(path, "ab") as file:
                file.write(self.beginning_of_a_frame(path))
            for argument in (path, self.directory):
                self.assertEqual(postlag("verify", argument).returncode, 0)
            process.kill()
            process.wait(60)
        self.assertEqual(postlag("verify", path).returncode, 1)

    def beginning_of_a_frame(self, path):
        """The first bytes of the first record, whose marker is the segment's.
        """
        first = json.loads(postlag("dump", "--json", path).stdout
                           .splitlines()[0])
        with open(path, "rb") as file:
            file.seek(first["offset"])
            return file.read(10)


if __name__ == "__main__":
    tap.main()
