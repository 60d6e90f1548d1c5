# SPDX-License-Identifier: BSD-2-Clause
"""The packaged alerts in a real Prometheus that asks a real exporter: what has
to happen for them to come, and to go (issue 5, must show 4). test_alerts shows
each of them under a clock of its own, those that take hours, too."""

import os

import tap
from alert_case import OFF, AlertCase
from exporter_alone import ExporterAlone, LogAlone
from hook import Hook
from lmtp_client import Client
from lmtp_server import Server
from prometheus import Prometheus
from rule_tester import quick_rules
from waiting import free_port

LOG_LIMIT = 200
RSYSLOG = f"""\
module(load="imuxsock" SysSock.RateLimit.Interval="3600"
       SysSock.RateLimit.Burst="{LOG_LIMIT}")
mail.*  -{{log}}
"""


class Mail(AlertCase):
    def test_deferred_growing(self):
        """It goes when the mail is delivered, while what the LMTP server
        refused still counts"""
        exporter = self.enterContext(ExporterAlone())
        prometheus = self.watch(exporter.port)
        self.wait_for(prometheus, OFF)
        exporter.latencies(*[200] * 40)
        exporter.journals.tell("defer", 30)
        self.wait_for(prometheus, OFF, "PostlagDeferredGrowing",
                      "PostlagDeferralRatio")
        for number in range(30):
            exporter.delivery("-", f"{number:08x}A1B2C3",
                              f"user{number:07}@mail.example.org=250")
        self.wait_for(prometheus, OFF, "PostlagDeferralRatio")

    def test_backlog_queue_stalled_and_source_silent(self):
        """A message of yesterday, and nothing since"""
        exporter = self.enterContext(ExporterAlone())
        exporter.journals.tell("open", "a", "QOPEN", 1)
        exporter.wait_for("postlag_recipients", 2, state="in_flight")
        prometheus = self.watch(exporter.port)
        self.wait_for(prometheus, OFF, "PostlagBacklog", "PostlagQueueStalled",
                      "PostlagSourceSilent")
        exporter.delivery("a", "QOPEN", "u1@example.test=250",
                          "u2@example.test=250")
        self.wait_for(prometheus, OFF, "PostlagSourceSilent")
        exporter.message("b", "QNEW", "u1@example.test")
        self.wait_for(prometheus, OFF)


class Log(AlertCase):
    def start(self):
        exporter = LogAlone(start=False)
        root = os.path.join(exporter.directory, "root")
        os.makedirs(f"{root}/etc")
        with open(f"{root}/etc/rsyslog.conf", "w", encoding="ascii") as out:
            out.write(RSYSLOG.format(log=exporter.log.path))
        exporter.program.configure(rate_limit_root=root)
        exporter.program.start()
        return self.enterContext(exporter)

    def test_what_it_says_and_does_not_say(self):
        exporter = self.start()
        prometheus = self.watch(exporter.port)
        for number in range(12):
            exporter.log.message(f"0000B{number:03}", "u1@x.test")
        exporter.wait_for("postlag_unstamped_total", 12)
        self.wait_for(prometheus, OFF, "PostlagUnstamped")
        for _ in range(LOG_LIMIT * 9 // 10 - 12 * 5):
            exporter.log.line("qmgr", "statistics: nothing")
        self.wait_for(prometheus, OFF, "PostlagUnstamped",
                      "PostlagLogRateLimit")
        exporter.message("a", "0000A001", "u1@x.test")
        exporter.log.line("qmgr", "0000A001: from=<s@c.test>, size=500, "
                          "nrcpt=1 (queue active)")
        exporter.wait_for("postlag_recipients", 1, state="in_flight")
        exporter.log.copy_and_truncate()
        exporter.log.line("qmgr", "0000A001: removed")
        self.wait_for(prometheus, OFF, "PostlagUnstamped",
                      "PostlagLogRateLimit", "PostlagLogGap", "PostlagUnknown")


class Dropped(AlertCase):
    def deliver(self, hook, count):
        recipients = [f"recipient{number}@example.test"
                      for number in range(100)]
        with Client(hook.address) as client:
            client.hello()
            for _ in range(count):
                result = client.deliver("a@x.test", recipients, b"text\r\n")
                self.assertEqual({reply.code for reply in result.final}, {250})

    def test_events_of_a_full_journal(self):
        """While the exporter is away. The mail goes on; without a milter it is
        unstamped, too"""
        server = self.enterContext(Server())
        hook = self.enterContext(Hook(
            server.endpoint, journal_limit="256K", segment_size="64K",
            heartbeat_interval="100ms"))
        exporter = self.enterContext(ExporterAlone(journal=hook.journal))
        prometheus = self.watch(exporter.port)
        self.assertEqual(exporter.program.stop(), 0)
        self.deliver(hook, 100)
        exporter.program.start()
        self.wait_for(prometheus, OFF, "PostlagEventsDropped",
                      "PostlagUnstamped")


class Nobody(AlertCase):
    def test_there_to_ask(self):
        prometheus = self.enterContext(
            Prometheus(free_port(), rules=quick_rules()))
        prometheus.wait_for("up", 0)
        self.wait_for(prometheus, "PostlagAbsent", "PostlagDown")


tap.main()
