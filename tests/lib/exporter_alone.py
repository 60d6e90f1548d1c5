# SPDX-License-Identifier: BSD-2-Clause
"""The exporter alone, fed with journals that a tool of ours writes.

    with ExporterAlone() as alone:
        id = alone.message("a", "Q1", "u1@example.test")
        alone.delivery("a", "Q1", "u1@example.test=250")
        alone.wait_for("postlag_recipient_outcomes_total", 1,
                       outcome="delivered")
"""

import http.client
import json
import os
import subprocess

from mail_log import Log
from metrics import Metrics
from programs import Program, build_directory
from waiting import PATIENCE, PrivateDirectory, free_port, wait_until


class Journals:
    """Writes the journals "milter" and "lmtp" (tests/exporter/tool_journal)."""

    def __init__(self, directory, segment_bytes=16 << 20):
        tool = os.path.join(build_directory(), "tests/exporter/tool_journal")
        self.process = subprocess.Popen(
            [tool, directory, str(segment_bytes)], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, text=True)

    def tell(self, *words):
        self.process.stdin.write(" ".join(map(str, words)) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline().strip()
        assert answer, f"no answer to {words}"
        return answer

    def close(self):
        if self.process.poll() is None:
            self.process.stdin.close()
            assert self.process.wait(PATIENCE) == 0
        self.process.stdout.close()


class ExporterAlone:
    def __init__(self, segment_bytes=16 << 20, start=True, **options):
        self.private = PrivateDirectory()
        self.directory = self.private.path
        self.journal = os.path.join(self.directory, "journal")
        self.store = os.path.join(self.directory, "store")
        os.mkdir(self.journal)
        os.mkdir(self.store)
        self.port = free_port()
        settings = {
            "exporter": {"journal": self.journal,
                         "listen": f"inet:127.0.0.1:{self.port}",
                         "commit_interval": "20ms", **options},
            "store": {"directory": self.store},
        }
        self.program = Program("postlag-exporter", settings, self.directory)
        self.segment_bytes = segment_bytes
        self.writer = None
        if start:
            self.program.start()

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        try:
            if self.program.running():
                self.program.resume()
                status = self.program.stop()
                assert kind or status == 0, self.program.log()
        finally:
            self.program.kill()
            if self.writer:
                self.writer.close()
            self.private.remove()

    @property
    def journals(self):
        if self.writer is None:
            self.writer = Journals(self.journal, self.segment_bytes)
        return self.writer

    def message(self, label, queue_id, *recipients):
        return self.journals.tell("message", label, queue_id, *recipients)

    def delivery(self, label, queue_id, *results):
        return self.journals.tell("delivery", label, queue_id, *results)

    def latencies(self, *values_ms):
        """The ids of messages that were delivered after so long."""
        return self.journals.tell("latency", *values_ms).split()

    def load(self, count, recipients=1, days=1):
        """What must have come of all loads together."""
        return json.loads(self.journals.tell("load", count, recipients, days))

    def request(self, path, method="GET", body=None, headers=None):
        """(status, headers, body) of one request on a connection of its own.
        """
        connection = http.client.HTTPConnection("127.0.0.1", self.port,
                                                timeout=PATIENCE)
        try:
            connection.request(method, path, body, headers or {})
            answer = connection.getresponse()
            return answer.status, dict(answer.getheaders()), answer.read()
        finally:
            connection.close()

    def all_messages(self):
        """Page by page: one has what was found in 100 ms, which is short on a
        machine that has other things to do."""
        found, cursor = [], ""
        while cursor is not None:
            status, _, body = self.request(
                f"/api/v1/messages?limit=500&before={cursor}")
            page = json.loads(body)
            assert status == 200 and "incomplete" not in page, body
            found += page["messages"]
            cursor = page["next"]
        return found

    def metrics(self):
        status, _, body = self.request("/metrics")
        assert status == 200, (status, body)
        return Metrics(body.decode())

    def wait_for(self, name, value, timeout=PATIENCE, **labels):
        """Until the metric's total has the value; returns the metrics."""
        seen = []

        def has_come():
            seen.append(self.metrics())
            del seen[:-1]
            return seen[0].total(name, **labels) == value
        try:
            wait_until(has_come, f"{name}{labels} to be {value}", timeout)
        except AssertionError as error:
            raise AssertionError(f"{error}; it is "
                                 f"{seen[0].total(name, **labels)}") from None
        return seen[0]

    def messages(self, key):
        status, _, body = self.request(f"/api/v1/messages/{key}")
        assert status in (200, 404), (status, body)
        return json.loads(body)["messages"] if status == 200 else []


class LogAlone(ExporterAlone):
    """Reads a log of Postfix's, too, which the test writes."""

    def __init__(self, traditional=False, start=True, **options):
        super().__init__(start=False, maillog_instances="postfix=mx.test",
                         **options)
        self.log = Log(os.path.join(self.directory, "mail.log"), traditional)
        self.program.settings["exporter"]["maillog"] = self.log.path
        if start:
            self.program.start()

    def queued(self, number, *recipients, **how):
        queue_id = f"{number:08X}"
        self.message(f"m{number}", queue_id, *recipients)
        self.log.message(queue_id, *recipients, **how)
        return queue_id
