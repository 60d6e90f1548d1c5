# SPDX-License-Identifier: BSD-2-Clause
"""PostlagDeliverySlow, with classic histograms and with native ones, which
promtool cannot be given: each in a real Prometheus."""

import tap
from alert_case import OFF, AlertCase
from exporter_alone import ExporterAlone
from waiting import wait_until

NAME = "PostlagDeliverySlow"
SLOW_MS = 120000
# More than it has to last.
EVALUATIONS = 6


class DeliverySlow(AlertCase):
    def evaluations(self):
        """{(Prometheus, group): time of the last one}"""
        return {(prometheus.port, group["name"]): group["lastEvaluation"]
                for prometheus in (self.classic, self.native)
                for group in prometheus.ask("rules")["groups"]}

    def wait_for_evaluations(self):
        """Some of each rule from now on."""
        for _ in range(EVALUATIONS):
            before = self.evaluations()
            wait_until(
                lambda: not before.items() & self.evaluations().items(),
                "the rules to be evaluated", pause=0.1)

    def deliver(self, *values_ms):
        self.exporter.latencies(*values_ms)
        self.count += len(values_ms)
        self.classic.wait_for(
            'postlag_delivery_latency_seconds_count{route="inbound"}',
            self.count)
        self.native.wait_for('histogram_count(postlag_delivery_latency_seconds'
                             '{route="inbound"})', self.count)

    def check_never(self):
        for prometheus in self.classic, self.native:
            self.assertEqual(prometheus.query(
                f'count_over_time(ALERTS{{alertname="{NAME}"}}[1h])'), [])

    def test_it_comes_with_five_of_a_hundred(self):
        """Not with four, whatever their share, nor with nine of a thousand"""
        self.exporter = self.enterContext(ExporterAlone())
        self.count = 0
        self.classic = self.watch(self.exporter.port)
        self.native = self.watch(self.exporter.port, "native-histograms")
        # Before there are some, an increase is little more than a guess.
        self.wait_for_evaluations()
        self.deliver(*[SLOW_MS] * 4)
        self.wait_for_evaluations()
        self.deliver(*[200] * 991, *[SLOW_MS] * 5)
        self.wait_for_evaluations()
        self.check_never()
        self.deliver(*[SLOW_MS] * 20)
        for prometheus, below, above in ((self.classic, 60, 300),
                                         (self.native, 117, 123)):
            self.wait_for(prometheus, OFF, NAME)
            alert, = [alert for alert in prometheus.ask("alerts")["alerts"]
                      if alert["labels"]["alertname"] == NAME]
            self.assertEqual(alert["labels"]["route"], "inbound")
            self.assertLess(below, float(alert["value"]))
            self.assertLess(float(alert["value"]), above)


tap.main()
