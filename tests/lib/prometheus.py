# SPDX-License-Identifier: BSD-2-Clause
"""A real Prometheus that scrapes one target every second.

    with Prometheus(port, "native-histograms") as prometheus:
        prometheus.wait_for('up', 1)
        prometheus.query('histogram_quantile(0.5, ...)')
"""

import json
import time
import urllib.parse
import urllib.request

from private_server import PrivateServer
from waiting import PATIENCE, wait_until

CONFIGURATION = """\
global:
  scrape_interval: 1s
scrape_configs:
  - job_name: postlag
    static_configs:
      - targets: ["127.0.0.1:{port}"]
"""

RULES = """\
  evaluation_interval: 1s
rule_files: ["{rules}"]
"""

ALERTING = """\
alerting:
  alertmanagers:
    - static_configs:
        - targets: ["127.0.0.1:{alertmanager}"]
"""


class Prometheus(PrivateServer):
    def __init__(self, port, *features, rules=None, alertmanager=None):
        """`rules` is the text of a file of rules, `alertmanager` the port of
        the one that is told of alerts."""
        super().__init__()
        config = self.write("prometheus.yml",
                            self._configuration(port, rules, alertmanager))
        command = ["prometheus", f"--config.file={config}",
                   f"--storage.tsdb.path={self.private.path}/data",
                   f"--web.listen-address=127.0.0.1:{self.port}",
                   "--log.level=warn"]
        if rules:
            # Otherwise what was told before the first Alertmanager was found
            # is told again after a minute.
            command.append("--rules.alert.resend-delay=1s")
        if features:
            command.append("--enable-feature=" + ",".join(features))
        self.run(command)

    def _configuration(self, port, rules, alertmanager):
        text = CONFIGURATION.format(port=port)
        if rules is None:
            return text
        head, scrapes = text.split("scrape_configs:")
        head += RULES.format(rules=self.write("rules.yml", rules))
        if alertmanager:
            head += ALERTING.format(alertmanager=alertmanager)
        return head + "scrape_configs:" + scrapes

    def ask(self, path, **arguments):
        """The data that the API answers with."""
        assert self.process.poll() is None, self.log()
        url = f"http://127.0.0.1:{self.port}/api/v1/{path}?" \
            + urllib.parse.urlencode(arguments)
        with urllib.request.urlopen(url, timeout=PATIENCE) as answer:
            return json.load(answer)["data"]

    def query(self, expression):
        """[(labels, number)]"""
        return [(row["metric"], float(row["value"][1])) for row
                in self.ask("query", query=expression)["result"]]

    def course(self, expression, seconds=300, step=5):
        """[(labels, numbers)] in steps until just now; of native histograms
        their counts."""
        now = time.time()
        data = self.ask("query_range", query=expression, start=now - seconds,
                        end=now, step=step)
        return [(row["metric"],
                 [float(value) for _, value in row.get("values", [])]
                 + [float(histogram["count"])
                    for _, histogram in row.get("histograms", [])])
                for row in data["result"]]

    def wait_for(self, expression, value, timeout=PATIENCE):
        """Until the only series has the value."""
        def has_come():
            try:
                return [number for _, number in self.query(expression)] \
                    == [value]
            except OSError:
                return False
        try:
            wait_until(has_come, f"{expression} to be {value}", timeout)
        except AssertionError as error:
            raise AssertionError(
                f"{error}: {self.ask('targets')}\n{self.log()}") from None
