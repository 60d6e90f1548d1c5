# SPDX-License-Identifier: BSD-2-Clause
"""The command line's arguments, exit statuses and sentences. What it prints of
messages is test_timeline_text's and tests/e2e/test_command_line's."""

import glob
import json
import os
import re
import shutil
import sqlite3
import subprocess
import tempfile
import time
import unittest

import tap
from exporter_alone import ExporterAlone
from programs import program_path

ID = "019ad3c7-5c8b-7abc-8def-0123456789ab"


def postlag(*arguments, **environment):
    return subprocess.run(
        [program_path("postlag"), *arguments], capture_output=True, text=True,
        check=False, stdin=subprocess.DEVNULL, cwd="/",
        env={**os.environ, "LC_ALL": "C.UTF-8", **environment})


class Usage(unittest.TestCase):
    def test_help_goes_to_standard_output_with_status_0(self):
        """-h, --help and help print the same list of subcommands, status 0"""
        said = [postlag(*a) for a in (["-h"], ["--help"], ["help"])]
        for done in said:
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertEqual(done.stdout, said[0].stdout)
        for name in ("show", "search", "slow", "stats", "queue", "lost", "ack", "journal"):
            self.assertRegex(said[0].stdout, rf"(?m)^  {name} +\w")

    def test_each_subcommand_has_help(self):
        """help NAME and NAME -h print the same, status 0"""
        names = re.findall(r"(?m)^  (\w+) ", postlag("-h").stdout)
        self.assertIn("show", names)
        for name in names:
            done = postlag(name, "-h")
            self.assertEqual((done.returncode, done.stderr), (0, ""), name)
            self.assertIn(f"postlag {name}", done.stdout)
            self.assertEqual(postlag("help", name).stdout, done.stdout)

    def test_version(self):
        """-V and --version print name and version"""
        for option in ("-V", "--version"):
            done = postlag(option)
            self.assertEqual(done.returncode, 0)
            self.assertRegex(done.stdout, r"^postlag \d+\.\d+\.\d+\n$")

    def test_misuse_is_status_2_and_says_so_on_standard_error(self):
        """Missing and wrong arguments: status 2, nothing on standard output"""
        for arguments in ([], ["-c"], ["-x"], ["show"], ["show", "a", "b"],
                          ["show", ""], ["show", "--limit", "0", "a"],
                          ["show", "--limit", "many", "a"],
                          ["show", "--nothing", "a"], ["show", "--store"],
                          ["queue", "a"], ["queue", "--limit", "0"],
                          ["lost", "a"], ["lost", "--nothing"],
                          ["lost", "--since", "yesterday"],
                          ["lost", "--before", "0"], ["queue", "--all"],
                          ["show", "--since", "1d", "a"], ["ack"],
                          ["ack", ""], ["ack", "--lost", "a"],
                          ["ack", "--since", "1d", "a"],
                          ["ack", "--yes", "a"], ["ack", "--json", "a"],
                          ["ack", "--comment", "x" * 1001, "a"],
                          ["help", "nothing"], ["journal"]):
            done = postlag(*arguments)
            self.assertEqual((done.returncode, done.stdout), (2, ""), arguments)
            self.assertIn("postlag", done.stderr, arguments)

    def test_a_misspelt_subcommand_gets_a_suggestion(self):
        """Unknown subcommands: the nearest is suggested, if any is near"""
        for word, meant in (("shwo", "show"), ("sho", "show"),
                            ("jurnal", "journal"), ("journals", "journal"),
                            ("hlep", "help"), ("xyzzy", None),
                            ("s" * 5000, None)):
            done = postlag(word)
            self.assertEqual(done.returncode, 2)
            if meant:
                self.assertIn(f'did you mean "{meant}"?', done.stderr)
            else:
                self.assertNotIn("did you mean", done.stderr)


class Show(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.mkdtemp(prefix="postlag-cli-")
        self.addCleanup(shutil.rmtree, self.directory)

    def test_an_empty_store_is_told_apart(self):
        """Not found in an empty store: status 1, and the store is named"""
        done = postlag("show", ID, "--store", self.directory)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn(self.directory, done.stderr.replace("\n", ""))
        self.assertIn("empty", done.stderr)

    def test_the_store_of_the_configuration_is_read(self):
        """-c before or behind the subcommand, options behind the key"""
        config = f"{self.directory}/postlag.conf"
        store = f"{self.directory}/store"
        os.mkdir(store)
        with open(config, "w", encoding="utf-8") as file:
            file.write(f"[store]\ndirectory = {store}\n"
                       "[exporter]\nnot_ours = 1\n")
        for arguments in (["-c", config, "show", ID],
                          ["-c" + config, "show", ID],
                          ["show", "-c", config, ID],
                          ["show", ID, "-c", config]):
            done = postlag(*arguments)
            self.assertEqual(done.returncode, 1, done)
            self.assertIn(store, done.stderr.replace("\n", ""))

    def test_what_cannot_be_read_is_status_2(self):
        """No store directory, no or a broken configuration: status 2"""
        missing = f"{self.directory}/missing"
        broken = f"{self.directory}/broken.conf"
        with open(broken, "w", encoding="utf-8") as file:
            file.write("[store]\ndirectroy = /tmp\n")
        for arguments in (["--store", missing], ["-c", missing],
                          ["-c", broken]):
            done = postlag("show", ID, *arguments)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertIn(arguments[1], done.stderr)
        self.assertIn(f"{broken}:2: ", postlag("show", ID, "-c",
                                               broken).stderr)

    def test_a_key_with_escape_sequences_is_printed_harmlessly(self):
        """The key that was not found reaches the terminal without control
        characters"""
        done = postlag("show", "\x1b]0;x\x07\x9b31m", "--store",
                       self.directory)
        self.assertEqual(done.returncode, 1)
        self.assertFalse(re.search(r"[^\n\x20-\x7e]", done.stderr), done)


class Queue(unittest.TestCase):
    def setUp(self):
        self.alone = ExporterAlone()
        self.addCleanup(self.alone.__exit__, None)
        for number in (1, 2, 3):
            self.alone.message(f"m{number}", f"Q{number}", "u1@example.test")
        self.alone.delivery("m2", "Q2", "u1@example.test=451")
        self.alone.delivery("m3", "Q3", "u1@example.test=250")
        self.alone.wait_for("postlag_delivery_attempts_total", 2)
        self.alone.wait_for("postlag_messages_accepted_total", 3)

    def ask(self, *arguments):
        return postlag(*arguments, "--store", self.alone.store)

    def test_queue_lists_what_is_open(self):
        """postlag queue: open messages, oldest first, in text and as JSON"""
        done = self.ask("queue")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertRegex(done.stdout, r"^2 messages, 2 recipients: ")
        self.assertEqual(re.findall(r"\bQ\d\b", done.stdout), ["Q1", "Q2"])
        self.assertIn("no attempt seen yet", done.stdout)
        self.assertIn("451", done.stdout)
        found = json.loads(self.ask("queue", "--json", "--limit", "1").stdout)
        self.assertEqual(found["total_messages"], 2)
        self.assertEqual(sum(found["total_recipients"].values()), 2)
        self.assertEqual([m["queue_id"] for m in found["messages"]], ["Q1"])

    def test_nothing_lost_is_said_of_a_store_that_is_kept_up_only(self):
        """postlag lost: status 2 when nothing is known to be lost, but the
        exporter has not written for a minute"""
        self.assertEqual(self.alone.program.stop(), 0)
        for path in glob.glob(f"{self.alone.store}/*"):
            os.utime(path, (time.time() - 90, time.time() - 90))
        done = self.ask("lost")
        self.assertEqual((done.returncode, done.stdout),
                         (2, "nothing known to be lost\n"))
        self.assertIn("is postlag-exporter running?", done.stderr)
        self.assertEqual(self.ask("queue").returncode, 0)

    def test_ack_needs_the_operators_journal(self):
        """postlag ack: status 2 without the directory, which it does not make;
        1 for what is not lost"""
        self.assertEqual(self.alone.program.stop(), 0)
        for path in glob.glob(f"{self.alone.store}/*-2*.db"):
            with sqlite3.connect(path) as day:
                day.execute("UPDATE recipient SET state = 14 WHERE state = 0")
            day.close()
        journal = ["--journal", self.alone.journal]
        done = self.ask("ack", "Q1", "--dry-run", *journal)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("Q1", done.stdout)
        done = self.ask("ack", "Q1", *journal)
        self.assertEqual(done.returncode, 2)
        self.assertIn(f"{self.alone.journal}/operator is missing", done.stderr)
        self.assertFalse(os.path.exists(f"{self.alone.journal}/operator"))
        done = self.ask("ack", "Q3", "\x1b[31m", *journal)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("nothing of it is lost (1 delivered)", done.stderr)
        self.assertNotIn("\x1b", done.stderr)

    def test_lost_tells_by_its_status(self):
        """postlag lost: 1 with losses, 2 when it cannot be told, as where no
        log is read; 0 is e2e/test_losses'"""
        done = self.ask("lost")
        self.assertEqual((done.returncode, done.stdout),
                         (2, "nothing known to be lost\n"))
        self.assertIn("losses are not looked for", done.stderr)
        self.assertEqual(self.alone.program.stop(), 0)
        for path in glob.glob(f"{self.alone.store}/*-2*.db"):
            with sqlite3.connect(path) as day:
                day.execute("UPDATE recipient SET state = 13 WHERE state = 0")
            day.close()
        done = self.ask("lost")
        self.assertEqual((done.returncode, done.stderr), (1, ""))
        self.assertIn(" lost ", done.stdout)
        self.assertIn("Q1", done.stdout)
        self.assertNotIn("Q3", done.stdout)
        found = json.loads(self.ask("lost", "--json").stdout)
        self.assertEqual(found["total_recipients"]["unknown"], 0)
        self.assertIn("Q1", [m["queue_id"] for m in found["messages"]])
        with open(f"{self.alone.store}/day-20200101.db", "wb") as file:
            file.write(b"not a database " * 1000)
        done = self.ask("lost")
        self.assertEqual(done.returncode, 2)
        self.assertIn("day-20200101.db", done.stderr)


tap.main()
