# SPDX-License-Identifier: BSD-2-Clause
"""30 days of mail through the exporter, and then the questions people ask.

    python3 tests/bench/bench_days.py [MESSAGES [DAYS]]

make_days writes the journals of milter and hook, and a mail log with five lines
a message; one message in ten is deferred once first. The exporter reads all of
it as fast as it can. Then each question is asked over HTTP, the first time and
many times, while the exporter is idle; medians and 99th percentiles.
"""

import http.client
import json
import os
import statistics
import subprocess
import sys
import time
import urllib.parse

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))

from exporter_alone import ExporterAlone  # noqa: E402
from programs import program_path  # noqa: E402

LINES = 5
TIMES = 200
PATIENCE = 7200

QUESTIONS = {
    "24 hours by 15 minutes": "latency?since=24h&step=15m",
    "24 hours by minute": "latency?since=24h&step=1m",
    "30 days by 6 hours": "latency?since=30d&step=6h",
    "30 days by hour": "latency?since=30d&step=1h",
    "30 days, one phase": "latency?since=30d&step=1h&phase=queue",
    "to: and status:, 30 days": "messages?q=to:domain7.example+status:deferred",
    "to: a domain": "messages?q=to:domain7.example",
    "from: an address": "messages?q=from:bounce%2B7@sender7.example",
    "to: nobody": "messages?q=to:nobody@nowhere.example",
    "newest": "messages?q=",
    "without an index, nothing found": "messages?q=run:night",
}


class Client:
    def __init__(self, port):
        self.connection = http.client.HTTPConnection("127.0.0.1", port)

    def ask(self, path):
        """(seconds, answer)"""
        started = time.perf_counter()
        self.connection.request("GET", path)
        answer = self.connection.getresponse()
        body = answer.read()
        spent = time.perf_counter() - started
        assert answer.status == 200, (path, body)
        return spent, body


def memory_bytes(pid):
    """Anonymous memory, now and at most."""
    with open(f"/proc/{pid}/status", encoding="ascii") as status:
        lines = dict(line.split(":", 1) for line in status)
    return [int(lines[name].split()[0]) * 1024
            for name in ("RssAnon", "VmHWM")]


def store_bytes(directory):
    return sum(os.path.getsize(os.path.join(directory, name))
               for name in os.listdir(directory) if ".db" in name
               and not name.endswith("-shm"))


def ingest(alone, messages):
    program = alone.program
    program.start(timeout=PATIENCE)
    started = time.monotonic()
    while True:
        seen = alone.metrics()
        if seen.total("postlag_journal_behind_bytes") \
                + seen.total("postlag_log_behind_bytes") == 0 \
                and seen.total("postlag_messages_accepted_total") == messages:
            break
        assert time.monotonic() - started < PATIENCE
        time.sleep(0.1)
    wall = time.monotonic() - started
    assert seen.total("postlag_log_lines_total", kind="unknown") == 0
    cpu = program.cpu_seconds()
    print(f"ingest: {messages / wall:.0f} messages/s, "
          f"{LINES * messages / wall:.0f} line-equivalents/s, "
          f"{cpu / messages * 1e6:.1f} us of CPU a message", flush=True)
    longest = seen.total("postlag_store_longest_commit_seconds")
    print(f"longest commit: {longest * 1e3:.1f} ms")


def percentile(values, share):
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


def measure(name, ask):
    first = ask()
    spent = [ask() for _ in range(TIMES)]
    print(f"{name:34} first {first * 1e3:8.2f} ms  median "
          f"{statistics.median(spent) * 1e3:7.2f} ms  p99 "
          f"{percentile(spent, 0.99) * 1e3:7.2f} ms", flush=True)


def deep_cursor(client, pages):
    """Where the page behind so many pages begins."""
    cursor = ""
    for _ in range(pages):
        _, body = client.ask("/api/v1/messages?q=&limit=500&before=" + cursor)
        cursor = json.loads(body)["next"]
    return cursor


def ask_all(alone):
    client = Client(alone.port)
    for name, path in QUESTIONS.items():
        measure(name, lambda path=path: client.ask("/api/v1/" + path)[0])
    cursor = deep_cursor(client, 30)
    measure("deep page",
            lambda: client.ask("/api/v1/messages?before=" + cursor)[0])
    _, body = client.ask("/api/v1/messages?limit=500&before=" + cursor)
    ids = [urllib.parse.quote(message["id"])
           for message in json.loads(body)["messages"]]
    turn = iter(ids * TIMES)
    measure("by id",
            lambda: client.ask("/api/v1/messages/" + next(turn))[0])
    measure("metrics", lambda: client.ask("/metrics")[0])


def main():
    messages = int(sys.argv[1]) if len(sys.argv) > 1 else 200000
    days = int(sys.argv[2]) if len(sys.argv) > 2 else 30
    alone = ExporterAlone(start=False)
    alone.program.settings["exporter"].update({
        "maillog": os.path.join(alone.directory, "mail.log"),
        "maillog_instances": "postfix=mx.example.com",
        "commit_interval": "200ms"})
    alone.program.settings["store"]["queue_lifetime"] = f"{days + 2}d"
    try:
        subprocess.run([program_path("tests/bench/make_days"), alone.directory,
                        str(messages), str(days)], check=True)
        ingest(alone, messages)
        print(f"store: {store_bytes(alone.store) / messages:.0f} bytes a "
              "message")
        ask_all(alone)
        now, most = memory_bytes(alone.program.pid())
        print(f"memory: {now / 1e6:.0f} MB anonymous, "
              f"{most / 1e6:.0f} MB at most with files")
    finally:
        alone.program.stop()
        alone.private.remove()


main()
