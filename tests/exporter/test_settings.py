# SPDX-License-Identifier: BSD-2-Clause
"""postlag-exporter -t says what is wrong with a configuration, so that a start
will not."""

import os
import subprocess
import unittest

import tap
from programs import program_path, write_configuration
from waiting import PrivateDirectory

GOOD = (
    {},
    {"maillog_instances": "postfix=mx.example.org, postfix-out=out.test"},
    {"queue_directories": "/var/spool/postfix",
     "config_directories": "/etc/postfix"},
    {"queue_directories": "a.test=/var/spool/a, b.test=/var/spool/b"},
)

BAD = (
    ({"maillog_instances": "mx.example.org"}, "is not name=instance"),
    ({"maillog_instances": "postfix="}, "lacks a name"),
    ({"maillog_instances": "postfix=a, postfix=b"}, "postfix is named twice"),
    ({"queue_directories": "a.test="}, "queue_directories: an instance or "
     "value is empty"),
    ({"queue_directories": "a=/a, a=/b"}, "instance a is named twice"),
    ({"queue_directories": "spool/postfix"}, "spool/postfix\" is no absolute "
     "path"),
    ({"config_directories": "a=/a,"}, "config_directories: "),
    ({"config_directories": "a=etc"}, "config_directories: \"etc\" is no "
     "absolute path"),
)


def check(options):
    with PrivateDirectory() as directory:
        path = os.path.join(directory, "postlag.conf")
        write_configuration(path, {"exporter": options})
        return subprocess.run(
            [program_path("postlag-exporter"), "-t", "-c", path],
            capture_output=True, text=True, check=False)


class Settings(unittest.TestCase):
    def test_what_is_right_is_accepted(self):
        for options in GOOD:
            done = check(options)
            self.assertEqual((done.returncode, done.stderr), (0, ""), options)

    def test_lists_of_instances_are_checked(self):
        for options, reason in BAD:
            done = check(options)
            self.assertEqual(done.returncode, 1, options)
            self.assertIn(reason, done.stderr, options)


if __name__ == "__main__":
    tap.main()
