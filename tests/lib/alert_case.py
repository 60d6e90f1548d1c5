# SPDX-License-Identifier: BSD-2-Clause
"""Ground of tests that have the packaged alerts in a real Prometheus that asks
a real exporter. Minutes that an alert has to last are seconds; what it asks for
is as it is packaged."""

import unittest

from prometheus import Prometheus
from rule_tester import quick_rules
from waiting import wait_until

# It fires where no log is read, or nobody may look into the queue.
OFF = "PostlagLossDetection"


class AlertCase(unittest.TestCase):
    def watch(self, port, *features):
        prometheus = self.enterContext(
            Prometheus(port, *features, rules=quick_rules()))
        prometheus.wait_for("up", 1)
        return prometheus

    def wait_for(self, prometheus, *names):
        """Until these fire, and no others."""
        def firing():
            return {labels["alertname"] for labels, _
                    in prometheus.query('ALERTS{alertstate="firing"}')}
        try:
            wait_until(lambda: firing() == set(names), f"{names} to fire",
                       pause=0.1)
        except AssertionError as error:
            raise AssertionError(f"{error}; there are {firing()}") from None
