# SPDX-License-Identifier: BSD-2-Clause
"""Rate limits that would blind us at the present traffic are seen before they
do, and where they may have, losses are not told."""

import os
import unittest

import tap
from exporter_alone import ExporterAlone
from mail_log import Log
from waiting import wait_until

USED = "postlag_log_rate_limit_used_ratio"


class Limited(ExporterAlone):
    """A log that rsyslogd writes, whose configuration says this."""

    def __init__(self, rsyslog, **options):
        super().__init__(start=False, maillog_instances="postfix=mx.test")
        self.log = Log(os.path.join(self.directory, "mail.log"))
        self.root = os.path.join(self.directory, "root")
        self.conf = os.path.join(self.root, "etc", "rsyslog.conf")
        os.makedirs(os.path.dirname(self.conf))
        with open(self.conf, "w", encoding="ascii") as out:
            out.write(rsyslog.format(log=self.log.path))
        self.program.settings["exporter"].update({
            "maillog": self.log.path, "rate_limit_root": self.root, **options})
        self.program.start()

    def lines(self, count):
        for _ in range(count):
            self.log.line("qmgr", "statistics: nothing")

    def used(self, limit="imuxsock"):
        return self.metrics().value(USED, limit=limit)

    def gaps(self):
        return self.metrics().value("postlag_log_gaps_total",
                                    reason="limited")

    def warnings(self):
        return [line for line in self.program.log().splitlines()
                if "limit=" in line]


SOCKET = """\
module(load="imuxsock" SysSock.RateLimit.Interval="60"
       SysSock.RateLimit.Burst="200")
mail.*  -{log}
"""


class Limits(unittest.TestCase):
    def test_lines_that_come_near_are_warned_of_once(self):
        with Limited(SOCKET) as alone:
            alone.lines(90)
            wait_until(lambda: alone.used() == 0.45, "0.45")
            self.assertEqual(alone.warnings(), [])
            alone.lines(30)
            wait_until(lambda: alone.used() == 0.6, "0.6")
            [warning] = alone.warnings()
            for part in (alone.conf, "SysSock.RateLimit.Burst",
                         "limit=imuxsock"):
                self.assertIn(part, warning)
            alone.lines(30)
            wait_until(lambda: alone.used() == 0.75, "0.75")
            self.assertEqual(len(alone.warnings()), 1)
            self.assertEqual(alone.gaps(), 0)

    def test_a_limit_that_is_used_up_is_a_gap(self):
        with Limited(SOCKET) as alone:
            alone.lines(250)
            wait_until(lambda: alone.used() == 1.25, "1.25")
            wait_until(lambda: alone.gaps() == 1, "a gap")

    def test_who_is_open_then_is_not_called_a_duplicate(self):
        """postfix is done with it, and a line may be missing: unknown"""
        with Limited(SOCKET) as alone:
            alone.message("a", "0000A001", "u1@x.test")
            alone.log.line("qmgr", "0000A001: from=<s@x.test>, size=5, "
                           "nrcpt=1 (queue active)")
            alone.lines(250)
            wait_until(lambda: alone.gaps() == 1, "a gap")
            alone.log.line("qmgr", "0000A001: removed")
            alone.wait_for("postlag_recipient_outcomes_total", 1,
                           outcome="unknown")

    def test_all_lines_count_together_for_imjournal(self):
        with Limited('module(load="imjournal" Ratelimit.Interval="60" '
                     'Ratelimit.Burst="100")\nmail.* {log}\n') as alone:
            alone.lines(40)
            wait_until(lambda: alone.used("imjournal") == 0.4, "0.4")
            # journald's, whose defaults hold where nothing is said.
            self.assertEqual(alone.used("journald"), 0.004)
            self.assertEqual(alone.used(), 0)

    def test_there_may_be_no_limit(self):
        """rsyslogd's default, a file that Postfix writes itself, and the
        option that switches it off"""
        for rsyslog, options in (
                ('module(load="imuxsock")\nmail.* {log}\n', {}),
                (SOCKET.replace("{log}", "/var/log/other"), {}),
                (SOCKET, {"rate_limit_root": ""})):
            with Limited(rsyslog, **options) as alone:
                alone.lines(300)
                alone.wait_for("postlag_log_lines_total", 300, kind="unknown")
                self.assertEqual(alone.metrics().total(USED), 0)
                self.assertEqual(alone.gaps(), 0)
                self.assertEqual(alone.warnings(), [])


if __name__ == "__main__":
    tap.main()
