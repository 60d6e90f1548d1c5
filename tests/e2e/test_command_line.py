# SPDX-License-Identifier: BSD-2-Clause
"""`postlag` as a member of the group uses it, whatever the exporter is doing;
and the commands of the README, copied."""

import fcntl
import json
import os
import pty
import re
import signal
import struct
import subprocess
import termios
import unittest

import tap
from programs import ROOT
from stack import READER, Stack

TEXT = ("From: <a@client.test>\r\nSubject: test\r\n"
        "Message-ID: <{id}@client.test>\r\n\r\nhello\r\n")


def send(stack, name, recipients):
    """Sends a message; returns Postfix's queue id."""
    with stack.smtp() as client:
        client.ehlo()
        client.mail("a@client.test")
        for recipient in recipients:
            client.rcpt(recipient)
        code, reply = client.data(TEXT.format(id=name))
        assert code == 250, (code, reply)
        return reply.decode().split()[-1]


class CommandLine(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.stack = Stack()
        cls.stack.start()
        cls.addClassCleanup(cls.stack.stop)
        cls.queue_id = send(cls.stack, "one",
                            [f"u{n}@example.test" for n in range(1, 4)])
        cls.other = send(cls.stack, "two", ["u1@example.test"])
        cls.stack.wait_until_delivered(4)
        cls.stack.wait_until_stored(2, 4)
        cls.found = json.loads(cls.show("--json", cls.queue_id).stdout)

    @classmethod
    def show(cls, *arguments, **more):
        return cls.stack.postlag("show", *arguments, **more)

    def check(self):
        """By id, queue id and Message-ID the same message is found."""
        for key in (self.found["id"], self.queue_id, "<one@client.test>",
                    "one@client.test"):
            done = self.show(key, "--json")
            self.assertEqual(json.loads(done.stdout), self.found, key)
            text = self.show(key).stdout
            for part in (self.queue_id, "<one@client.test>", "3 delivered",
                         "u1@example.test", "u2@example.test", "queue",
                         "lmtp_reply", "250 2.0.0"):
                self.assertIn(part, text)
        done = self.show("nothing@client.test", check=False)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("nothing@client.test", done.stderr)

    def files(self):
        """The store's files and who owns them."""
        return {entry.name: entry.stat().st_uid
                for entry in os.scandir(self.stack.store)}

    def check_as_reader(self):
        before = self.files()
        self.check()
        self.assertEqual(self.files(), before)

    def test_1_while_the_exporter_is_up(self):
        """Must show 14: a group member's postlag show, exporter up"""
        self.check_as_reader()
        status, answer = self.stack.get(f"/api/v1/messages/{self.queue_id}")
        self.assertEqual((status, json.loads(answer)["messages"]),
                         (200, [self.found]))

    def test_2_while_the_exporter_stands_still(self):
        """Must show 14: the same, exporter stopped with SIGSTOP"""
        self.stack.exporter.pause()
        try:
            self.check_as_reader()
        finally:
            self.stack.exporter.resume()

    def test_3_after_the_exporter_was_killed(self):
        """Must show 14: the same, exporter killed with SIGKILL"""
        self.stack.exporter.kill()
        self.check_as_reader()
        self.stack.exporter.start()
        self.check_as_reader()

    def test_4_after_the_exporter_was_stopped(self):
        """Must show 14: the same, exporter stopped with SIGTERM"""
        self.assertEqual(self.stack.exporter.stop(), 0)
        try:
            self.check_as_reader()
        finally:
            self.stack.exporter.start()

    def test_5_who_is_not_in_the_group_may_not(self):
        """Others cannot read the store: status 2 and the reason"""
        done = self.show(self.queue_id, check=False, **{
            **READER, "group": "nogroup"})
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("Permission denied", done.stderr)
        self.assertIn("group, postlag", done.stderr)

    def test_5_journals_are_read_and_sound(self):
        """A group member dumps and verifies the journals"""
        for source, count in (("milter", 2), ("lmtp", 2)):
            path = f"{self.stack.journals}/{source}"
            self.stack.postlag("journal", "verify", path)
            lines = self.stack.postlag("journal", "dump", "--json",
                                       path).stdout.splitlines()
            events = [json.loads(line) for line in lines]
            self.assertGreaterEqual(len(events), count)

    def test_6_several_matches_come_newest_first(self):
        """A Message-ID that came three times: newest first, --limit"""
        sent = [send(self.stack, "again", [f"u{n}@example.test"])
                for n in range(1, 4)]
        self.stack.wait_until_stored(5, 7)
        text = self.show("again@client.test").stdout
        self.assertEqual(re.findall(r"(?m)^queue id +(\w+)$", text),
                         sent[::-1])
        self.assertEqual(len(re.findall(r"(?m)^[-─]{40,}$", text)), 2)
        done = self.show("again@client.test", "--limit", "2")
        self.assertEqual(re.findall(r"(?m)^queue id +(\w+)$", done.stdout),
                         sent[:0:-1])
        self.assertIn("--limit", done.stderr)
        found = self.show("--json", "again@client.test").stdout
        self.assertEqual(re.findall(r'(?m)^  "queue_id": "(\w+)"', found),
                         sent[::-1])

    def test_7_a_reader_that_goes_away_is_no_trouble(self):
        """`postlag show | head -1` ends, without a word"""
        command = f"{self.stack.path('bin', 'postlag')} -c" \
                  f" {self.stack.config} show {self.queue_id} | head -1"
        done = subprocess.run(["sh", "-c", command], capture_output=True,
                              text=True, check=True,
                              preexec_fn=lambda: signal.signal(
                                  signal.SIGPIPE, signal.SIG_DFL))
        self.assertRegex(done.stdout, r"^message +" + self.found["id"])
        self.assertEqual(done.stderr, "")


    def on_terminal(self, columns, **environment):
        """What `postlag show` writes to a terminal."""
        master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ,
                    struct.pack("HHHH", 24, columns, 0, 0))
        done = subprocess.Popen(
            [self.stack.path("bin", "postlag"), "-c", self.stack.config,
             "show", self.queue_id], stdout=slave, stdin=subprocess.DEVNULL,
            env={"TERM": "xterm", "LC_ALL": "C.UTF-8", **environment},
            **READER)
        os.close(slave)
        output = b""
        try:
            while piece := os.read(master, 65536):
                output += piece
        except OSError:
            pass
        os.close(master)
        self.assertEqual(done.wait(60), 0)
        return output.decode().replace("\r\n", "\n")

    def test_7_a_full_disk_is_told(self):
        """Output that cannot be written: status 2 and the reason"""
        with open("/dev/full", "w", encoding="ascii") as full:
            done = subprocess.run(
                [self.stack.path("bin", "postlag"), "-c", self.stack.config,
                 "show", self.queue_id], stdout=full, stderr=subprocess.PIPE,
                text=True, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("No space left", done.stderr)

    def test_8_colours_only_where_they_are_wanted(self):
        """Colours on a terminal; none with NO_COLOR, TERM=dumb or a pipe"""
        self.assertIn("\x1b[", self.on_terminal(100))
        for plain in (self.on_terminal(100, NO_COLOR="1"),
                      self.on_terminal(100, TERM="dumb"),
                      self.show(self.queue_id).stdout):
            self.assertNotIn("\x1b", plain)

    def test_9_lines_fit_the_terminal(self):
        """Width and UTF-8 are the terminal's"""
        for columns in (60, 80, 132):
            text = self.on_terminal(columns, NO_COLOR="1")
            longest = max(len(line) for line in text.splitlines())
            self.assertLessEqual(longest, columns)
            self.assertIn("\N{FULL BLOCK}", text)
        text = self.on_terminal(80, NO_COLOR="1", LC_ALL="C")
        self.assertTrue(text.isascii())


class Readme(unittest.TestCase):
    """The README's lines make a Postfix that knows nothing of us use us."""

    def setUp(self):
        with open(f"{ROOT}/README.md", encoding="utf-8") as file:
            text = file.read()
        self.text = text
        block = re.search(r"<!-- postfix begin -->\n(.*?)<!-- postfix end -->",
                          text, re.DOTALL)
        self.lines = [line.strip() for line in block[1].splitlines()
                      if line.strip()]

    def bare_stack(self):
        stack = Stack()
        stack.postfix.services = []
        stack.postfix.settings.update({
            "smtpd_milters": "", "non_smtpd_milters": "",
            "virtual_transport": f"lmtp:inet:127.0.0.1:{stack.dovecot.port}"})
        return stack

    def test_the_lines_of_the_readme_enable_it(self):
        """Must show 14: the README's five lines for Postfix, copied, work"""
        self.assertEqual(len(self.lines), 5)
        with self.bare_stack() as stack:
            script = "\n".join(self.lines)
            self.assertIn("127.0.0.2:2424, 127.0.0.1:24'", script)
            script = script.replace(
                "127.0.0.2:2424, 127.0.0.1:24'",
                f"127.0.0.2:{stack.hook_port}, "
                f"127.0.0.1:{stack.dovecot.port}'").replace(
                    "/etc/postfix/", stack.postfix.etc + "/")
            subprocess.run(["sh", "-ec", script], check=True, cwd=ROOT,
                           capture_output=True,
                           env={**os.environ,
                                "MAIL_CONFIG": stack.postfix.etc})
            queue_id = send(stack, "readme", ["u1@example.test"])
            stack.postfix.sendmail(
                "Message-ID: <local@client.test>\n\nhello\n",
                "-f", "a@client.test", "u2@example.test")
            stack.wait_until_delivered(2)
            stack.wait_until_stored(2, 2)
            command = re.search(r"^    (postlag show QUEUE_ID)$", self.text,
                                re.MULTILINE)[1]
            words = command.replace("QUEUE_ID", queue_id).split()[1:]
            self.assertIn("1 delivered", stack.postlag(*words).stdout)
            self.assertIn("1 delivered",
                          stack.postlag("show", "local@client.test").stdout)

    def test_the_two_commands_are_targets(self):
        """`make check` and `make demo` of the README are the Makefile's"""
        with open(f"{ROOT}/Makefile", encoding="utf-8") as file:
            makefile = file.read()
        for target in ("check", "demo"):
            self.assertIn(f"    make {target}\n", self.text)
            self.assertRegex(makefile, rf"(?m)^{target}( \S+)*:")

    def test_the_snippets_say_what_the_readme_says(self):
        """packaging/postfix/main.cf.snippet sets the README's values"""
        with open(f"{ROOT}/packaging/postfix/main.cf.snippet",
                  encoding="utf-8") as file:
            snippet = re.sub(r"\n[ \t]+", " ", file.read())
        for line in self.lines[:3]:
            setting = line.removeprefix("postconf -e '").rstrip("'")
            if not setting.endswith("$smtpd_milters"):
                self.assertIn(setting + "\n", snippet)


tap.main()
