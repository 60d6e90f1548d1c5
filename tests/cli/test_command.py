# SPDX-License-Identifier: BSD-2-Clause
"""The command line's arguments, exit statuses and sentences. What it prints of
messages is test_timeline_text's and tests/e2e/test_command_line's."""

import os
import re
import shutil
import subprocess
import tempfile
import unittest

import tap
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
        for name in ("show", "journal"):
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


tap.main()
