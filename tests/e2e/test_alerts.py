# SPDX-License-Identifier: BSD-2-Clause
"""From a queue file that goes away to whoever is on duty: the packaged rules in
a real Prometheus, the packaged routes in a real Alertmanager, and a webhook
(issue 5, must show 4)."""

import contextlib
import re

import tap
from alertmanager import Alertmanager, Webhook
from loss_stack import LossCase
from prometheus import Prometheus
from rule_tester import quick_rules, read_rules
from waiting import wait_until

LOST, DOWN = "PostlagMailLost", "PostlagDown"


class Alerts(LossCase):
    def setUp(self):
        super().setUp()
        # Then the log is known to tell of everything.
        self.send(["u1@example.test"])
        wait_until(lambda: self.counter("loss_detection", state="on") == 1,
                   "losses to be looked for")
        with contextlib.ExitStack() as running:
            self.webhook = running.enter_context(Webhook())
            alertmanager = running.enter_context(
                Alertmanager(self.webhook.port))
            self.prometheus = running.enter_context(Prometheus(
                self.stack.http_port, rules=quick_rules(),
                alertmanager=alertmanager.port))
            self.prometheus.wait_for("up", 1)
            self.addCleanup(running.pop_all().close)

    def restart_exporter(self):
        self.stack.exporter.kill()
        self.prometheus.wait_for("up", 0)
        self.stack.exporter.start()
        self.prometheus.wait_for("up", 1)
        self.prometheus.wait_for('postlag_recipients{state="lost"}', 1)

    def test_a_loss_and_its_end_are_told(self):
        """Once each, over a restart of the exporter, and nothing else is
        (case 75)"""
        queue_id = self.deferred()
        self.assertEqual(self.webhook.told, [])
        self.stack.lose(queue_id)
        labels, annotations = self.webhook.wait_for(LOST, "firing")
        instance = f"127.0.0.1:{self.stack.http_port}"
        self.assertEqual(labels, {
            "alertname": LOST, "instance": instance, "job": "postlag",
            "severity": "critical", "state": "lost"})
        self.assertEqual(annotations, {
            **read_rules()[LOST]["annotations"],
            "summary": f"{instance}: mail for 1 recipients is lost"})
        self.restart_exporter()
        self.webhook.wait_for(LOST, "firing")
        self.stack.put_back(queue_id)
        self.stack.postfix.flush()
        self.webhook.wait_for(LOST, "firing", "resolved")
        self.assertEqual(self.webhook.names(), {LOST})

    def test_an_exporter_that_is_down_is_told(self):
        self.stack.exporter.kill()
        self.addCleanup(lambda: self.stack.exporter.running()
                        or self.stack.exporter.start())
        self.webhook.wait_for(DOWN, "firing")
        self.stack.exporter.start()
        self.webhook.wait_for(DOWN, "firing", "resolved")
        self.assertEqual(self.webhook.names(), {DOWN})

    def test_every_rule_can_be_evaluated(self):
        """And asks for series that a real scrape brings"""
        def rules():
            return [rule for group in
                    self.prometheus.ask("rules")["groups"]
                    for rule in group["rules"]]
        wait_until(lambda: all(rule["health"] != "unknown"
                               for rule in rules()), "all rules", pause=0.1)
        self.assertEqual({rule["name"]: rule.get("lastError", "")
                          for rule in rules()},
                         {name: "" for name in read_rules()})
        for rule in rules():
            for series in re.findall(r"\bpostlag_\w+(?:\{[^}]*\})?",
                                     rule["query"]):
                # Native histograms have the family's name.
                if re.match(r"postlag_delivery_latency_seconds\b(?!_)",
                            series):
                    continue
                self.assertTrue(self.prometheus.query(series), series)


tap.main()
