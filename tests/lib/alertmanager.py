# SPDX-License-Identifier: BSD-2-Clause
"""A real Alertmanager with the packaged example as its configuration, and the
webhook that it tells.

    with Webhook() as webhook, Alertmanager(webhook.port) as alertmanager:
        ... Prometheus(..., alertmanager=alertmanager.port)
        webhook.wait_for("firing", alertname="PostlagMailLost")
"""

import http.server
import json
import re
import threading

from private_server import PrivateServer
from waiting import PATIENCE, wait_until

EXAMPLE = "packaging/prometheus/alertmanager.yml"


class Webhook:
    """`told` is what came: (status, labels, annotations) of each alert."""

    def __init__(self):
        self.told = []
        webhook = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                size = int(self.headers["Content-Length"])
                for alert in json.loads(self.rfile.read(size))["alerts"]:
                    webhook.told.append((alert["status"], alert["labels"],
                                         alert["annotations"]))
                self.send_response(200)
                self.end_headers()

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0),
                                                      Handler)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()

    def statuses(self, name):
        """What was said of the alert, in order."""
        return [status for status, labels, _ in list(self.told)
                if labels["alertname"] == name]

    def names(self):
        return {labels["alertname"] for _, labels, _ in list(self.told)}

    def wait_for(self, name, *statuses, timeout=PATIENCE):
        """Until exactly these were said of it. Returns the last one's labels
        and annotations."""
        try:
            wait_until(lambda: self.statuses(name) == list(statuses),
                       f"{name} to be {statuses}", timeout, 0.1)
        except AssertionError as error:
            raise AssertionError(f"{error}: {self.told}") from None
        return [(labels, annotations) for _, labels, annotations in self.told
                if labels["alertname"] == name][-1]


class Alertmanager(PrivateServer):
    def __init__(self, webhook_port):
        super().__init__()
        config = self.write("alertmanager.yml",
                            self._configuration(webhook_port))
        self.run(["prometheus-alertmanager", f"--config.file={config}",
                  f"--storage.path={self.private.path}/data",
                  f"--web.listen-address=127.0.0.1:{self.port}",
                  "--cluster.listen-address="])

    @staticmethod
    def _configuration(webhook_port):
        """The example, with our webhook and without its waiting times."""
        with open(EXAMPLE, encoding="utf-8") as file:
            text = file.read()
        text, found = re.subn(r"http://127\.0\.0\.1:\d+/",
                              f"http://127.0.0.1:{webhook_port}/", text)
        assert found == 1, text
        return re.sub(r"(group_wait|group_interval): \w+", r"\1: 1s", text)
