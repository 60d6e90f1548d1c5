# SPDX-License-Identifier: BSD-2-Clause
"""The ground of tests that drive postlag-milter by the MTA simulator."""

import os
import re
import unittest

from journal import Journal
from mta_simulator import MtaSession
from programs import Program
from waiting import PrivateDirectory

STAMP = "X-Perf-Sent"
VALUE = re.compile(
    r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z;\n"
    r"\tid=([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}); q=([0-9A-Za-z]*)")

FORGED = ("2026-11-30T07:47:42.123456Z;\n"
          "\tid=0193a4c8-6f00-7abc-8def-0123456789ab; q=4fXyz")


def stamps(headers):
    """The values of all stamps, as a delivered message would show them."""
    return [value.lstrip(" ") for name, value in headers
            if name.lower() == STAMP.lower()]


class MilterCase(unittest.TestCase):
    """Each test has a milter of its own, started."""

    settings = {}

    def setUp(self):
        private = PrivateDirectory()
        self.addCleanup(private.remove)
        self.directory = private.path
        self.socket = f"{self.directory}/milter.sock"
        self.journal = Journal(f"{self.directory}/journal", "milter")
        os.mkdir(f"{self.directory}/journal")
        self.milter = Program("postlag-milter", {"milter": {
            "socket": f"unix:{self.socket}", "instance": "mx.example.test",
            "journal": f"{self.directory}/journal",
            "heartbeat_interval": "20ms", **self.settings}}, self.directory)
        self.addCleanup(self.stop_milter)
        self.milter.start()

    def stop_milter(self):
        if self.milter.running():
            self.assertEqual(self.milter.stop(), 0, self.milter.log())

    def session(self, *arguments, **more):
        """A session that has said CONNECT and HELO."""
        return MtaSession(self.socket).connect(*arguments, **more).helo()

    def assert_stamped(self, headers, message):
        """The header begins with the message's own stamp, its only one."""
        self.assertEqual(headers[0][0], STAMP)
        self.assertEqual(len(stamps(headers)), 1, headers)
        value = headers[0][1]
        match = VALUE.fullmatch(value)
        self.assertTrue(match, value)
        self.assertEqual(match.groups(), (message["id"], message["queue_id"]))
        for line in f"{STAMP}: {value}".expandtabs(8).split("\n"):
            self.assertLessEqual(len(line), 78)
        self.assertNotIn("\r", value)
