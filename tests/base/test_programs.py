# SPDX-License-Identifier: BSD-2-Clause
"""What every daemon does with its command line and its configuration."""

import os
import re
import subprocess
import tempfile
import unittest

import programs
import tap

DAEMONS = ("postlag-milter", "postlag-lmtp", "postlag-exporter")


def run(daemon, *arguments):
    return subprocess.run([programs.program_path(daemon), *arguments],
                          capture_output=True, text=True, timeout=60,
                          check=False)


class Programs(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)
        self.path = os.path.join(self.directory.name, "postlag.conf")

    def write(self, text):
        with open(self.path, "w", encoding="utf-8") as out:
            out.write(text)

    def test_defaults_are_valid(self):
        """An empty file is a configuration; -p prints it as another."""
        for daemon in DAEMONS:
            with self.subTest(daemon):
                self.write("")
                first = run(daemon, "-c", self.path, "-p")
                self.assertEqual((first.returncode, first.stderr), (0, ""))
                self.write(first.stdout)
                checked = run(daemon, "-c", self.path, "-t")
                self.assertEqual((checked.returncode, checked.stdout,
                                  checked.stderr),
                                 (0, self.path + ": OK\n", ""))
                again = run(daemon, "-c", self.path, "-p")
                self.assertEqual(again.stdout, first.stdout)

    def test_reference_lists_the_options(self):
        """-R and -p list the same options, each explained by a sentence."""
        for daemon in DAEMONS:
            with self.subTest(daemon):
                self.write("")
                printed = run(daemon, "-c", self.path, "-p").stdout
                reference = run(daemon, "-R").stdout
                options = re.findall(r"^(\w+) =", printed, re.MULTILINE)
                rows = re.findall(r"^\| `(\w+)` \| .*? \| (.*) \|$",
                                  reference, re.MULTILINE)[:len(options)]
                self.assertEqual([name for name, _ in rows], options)
                for name, meaning in rows:
                    self.assertRegex(meaning, r"^[A-Z].*\.$", name)

    def test_errors_are_one_line(self):
        """An error names file and line, once, and the status is 1."""
        for daemon in DAEMONS:
            with self.subTest(daemon):
                section = programs.SECTIONS[daemon]
                for text, error in (
                        (f"[{section}]\nnonsense = 1\n",
                         f":2: unknown option nonsense in [{section}]"),
                        ("[nonsense]\n", ":1: unknown section [nonsense]"),
                        (f"[{section}]\nlog_level = loud\n",
                         f':2: log_level in [{section}]: "loud" is not error, '
                         "warn, info or debug")):
                    self.write(text)
                    for option in ("-t", "-p"):
                        result = run(daemon, "-c", self.path, option)
                        self.assertEqual(
                            (result.returncode, result.stdout, result.stderr),
                            (1, "", f"{daemon}: error: {self.path}{error}\n"))

    def test_other_sections_are_not_its_business(self):
        """One file serves all programs: foreign sections are skipped."""
        for daemon in DAEMONS:
            with self.subTest(daemon):
                own = {"postlag-exporter": {"exporter", "store"}}.get(
                    daemon, {programs.SECTIONS[daemon]})
                foreign = {"milter", "lmtp", "exporter", "store"} - own
                self.write("".join(f"[{name}]\nwhatever = 1\n"
                                   for name in sorted(foreign)))
                checked = run(daemon, "-c", self.path, "-t")
                self.assertEqual(checked.returncode, 0)

    def test_packaged_file_is_valid(self):
        """The packaged configuration is accepted by every program."""
        for daemon in DAEMONS:
            with self.subTest(daemon):
                result = run(daemon, "-t", "-c", os.path.join(
                    programs.ROOT, "packaging/postlag.conf"))
                self.assertEqual((result.returncode, result.stderr), (0, ""))

    def test_version(self):
        """-V names program and version."""
        for daemon in DAEMONS:
            with self.subTest(daemon):
                self.assertRegex(run(daemon, "-V").stdout,
                                 rf"^{daemon} \d+\.\d+\.\d+\n$")


tap.main()
