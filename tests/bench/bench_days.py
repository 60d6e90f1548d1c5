# SPDX-License-Identifier: BSD-2-Clause
"""Days of mail through the exporter, and then the questions people ask.

    python3 tests/bench/bench_days.py [MESSAGES [DAYS]]
    python3 tests/bench/bench_days.py --growth [MESSAGES [DAYS]]

make_days writes the journals of milter and hook, and a mail log with five lines
a message; one message in ten is deferred once first. The exporter reads all of
it as fast as it can. Then each question is asked over HTTP: cold, which is
first after a start and with nothing of the store in the page cache; warm; and
while a tenth more of mail comes in at once. Then that much again comes in
while ten others read all the time: half of them over HTTP, one the files with
SQL of its own, the others with the command line. Beside both sync_disk tells
what the disk alone took at most for a page. Last, as many days with as many
messages each are purged.

--growth measures with a tenth of the messages first, and tells how much longer
the answers take.
"""

import contextlib
import json
import os
import re
import socket
import sqlite3
import statistics
import subprocess
import sys
import threading
import time
import urllib.parse

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))

from exporter_alone import ExporterAlone  # noqa: E402
from programs import program_path  # noqa: E402

LINES = 5
TIMES = 200
COLD_TIMES = 3
HTTP_READERS = 5
COMMANDS = [
    ["search", "to:domain7.example", "status:deferred"],
    ["search", "--json", "--limit", "500", "since:30d"],
    ["slow"],
    ["stats", "--by", "relay"],
]
PAGES = 30
PATIENCE = 7200
DAY = re.compile(r"/day-\d+\.db$")

QUESTIONS = {
    "24 hours by 15 minutes": "latency?since=24h&step=15m",
    "24 hours by minute": "latency?since=24h&step=1m",
    "30 days by 6 hours": "latency?since=30d&step=6h",
    "30 days by 6 hours, a host":
        "latency?since=30d&step=6h&host=mx.example.com",
    "30 days by hour": "latency?since=30d&step=1h",
    "30 days, one phase": "latency?since=30d&step=1h&phase=queue",
    "30 days, one host": "latency?since=30d&step=1h&host=mx.example.com",
    "30 days, one relay":
        "latency?since=30d&step=1h&relay=unix:/run/dovecot/lmtp",
    "outcomes, 30 days": "outcomes?since=30d&step=1h",
    "to: and status:": "messages?q=to:domain7.example+status:deferred",
    "to: a domain": "messages?q=to:domain7.example",
    "from: an address": "messages?q=from:bounce%2B7@sender7.example",
    "to: nobody": "messages?q=to:nobody@nowhere.example",
    "newest": "messages?q=",
    "no index, nothing found": "messages?q=run:night",
}


class Client:
    """Costs less than http.client, which takes longer than some answers."""

    def __init__(self, port):
        self.port, self.socket = port, None

    def _receive(self):
        data = self.socket.recv(1 << 20)
        assert data, "the connection was closed"
        return data

    def _answer(self):
        data = self._receive()
        while b"\r\n\r\n" not in data:
            data += self._receive()
        head, body = data.split(b"\r\n\r\n", 1)
        head = head.lower()
        is_chunked = b"transfer-encoding: chunked" in head
        length = 0 if is_chunked else int(
            head.split(b"content-length:", 1)[1].split(b"\r\n", 1)[0])
        while not (body.endswith(b"0\r\n\r\n") if is_chunked
                   else len(body) >= length):
            body += self._receive()
        if b"connection: close" in head:
            self.socket = None
        return int(head.split(b" ", 2)[1]), body

    def ask(self, path):
        """(seconds, status, answer)"""
        if self.socket is None:
            self.socket = socket.create_connection(("127.0.0.1", self.port))
        started = time.perf_counter()
        self.socket.sendall(f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        status, body = self._answer()
        return time.perf_counter() - started, status, body


def deep_cursor(client):
    """Where the page behind so many pages begins, or the last one."""
    cursor = ""
    for _ in range(PAGES):
        body = client.ask("/api/v1/messages?q=&limit=500&before=" + cursor)[2]
        following = json.loads(body)["next"]
        if following is None:
            break
        cursor = following
    return cursor


def paths(client):
    """{question: its paths, asked in turn}"""
    cursor = deep_cursor(client)
    page = client.ask("/api/v1/messages?limit=500&before=" + cursor)[2]
    ids = [urllib.parse.quote(message["id"])
           for message in json.loads(page)["messages"]]
    found = {name: ["/api/v1/" + path] for name, path in QUESTIONS.items()}
    found["deep page"] = ["/api/v1/messages?before=" + cursor]
    found["by id"] = ["/api/v1/messages/" + id for id in ids]
    found["metrics"] = ["/metrics"]
    return {name: of for name, of in found.items()
            if client.ask(of[0])[1] == 200}


def percentile(values, share):
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


def ask_often(client, of, times):
    spent = []
    for i in range(times):
        seconds, status, body = client.ask(of[i % len(of)])
        assert status == 200, (of[i % len(of)], body)
        spent.append(seconds * 1e3)
    return spent


def memory_bytes(pid):
    with open(f"/proc/{pid}/status", encoding="ascii") as status:
        lines = dict(line.split(":", 1) for line in status)
    return int(lines["RssAnon"].split()[0]) * 1024


def files_of(directory):
    return [os.path.join(directory, name) for name in os.listdir(directory)
            if ".db" in name and not name.endswith("-shm")]


def forget_pages(directory):
    os.sync()
    for path in files_of(directory):
        with open(path, "rb") as file:
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


class Bench:
    def __init__(self, messages, days):
        self.messages, self.days = messages, days
        self.written = 0
        self.alone = ExporterAlone(start=False)
        self.program = self.alone.program
        self.program.settings["exporter"].update({
            "maillog": os.path.join(self.alone.directory, "mail.log"),
            "maillog_instances": "postfix=mx.example.com",
            "commit_interval": "200ms"})
        self.program.settings["store"]["queue_lifetime"] = f"{days + 2}d"
        self.warm = {}

    def close(self):
        self.program.stop()
        self.alone.private.remove()

    def write(self, messages, days):
        subprocess.run(
            [program_path("tests/bench/make_days"), self.alone.directory,
             str(messages), str(days)], check=True)
        # Producers write evenly; this would all go to the disk at once while
        # something else is measured.
        os.sync()
        self.written += messages

    def is_read(self):
        seen = self.alone.metrics()
        return seen.total("postlag_journal_behind_bytes") \
            + seen.total("postlag_log_behind_bytes") == 0 \
            and seen.total("postlag_messages_accepted_total") == self.written

    def longest_ms(self, what):
        return 1e3 * self.alone.metrics().total(
            f"postlag_store_longest_{what}_seconds")

    def wait_until_read(self):
        """Returns the most memory meanwhile."""
        started, most = time.monotonic(), 0
        while not self.is_read():
            most = max(most, memory_bytes(self.program.pid()))
            assert time.monotonic() - started < PATIENCE
            time.sleep(0.1)
        return most

    def restart(self):
        self.program.stop()
        forget_pages(self.alone.store)
        self.program.start(timeout=PATIENCE)

    def ingest(self):
        self.write(self.messages, self.days)
        started = time.monotonic()
        disk = self.sync_disk()
        self.program.start(timeout=PATIENCE)
        most = self.wait_until_read()
        wall = time.monotonic() - started
        cpu = self.program.cpu_seconds() / self.messages
        assert self.alone.metrics().total(
            "postlag_log_lines_total", kind="unknown") == 0
        print(f"ingest: {self.messages / wall:.0f} messages/s, "
              f"{LINES * self.messages / wall:.0f} line-equivalents/s, "
              f"{cpu * 1e6:.1f} us of CPU a message")
        print(self.longest(disk))
        print(f"memory: {most / 1e6:.0f} MB anonymous at most")
        self.program.stop()
        size = sum(map(os.path.getsize, files_of(self.alone.store)))
        print(f"store: {size / self.messages:.0f} bytes a message",
              flush=True)
        self.program.start(timeout=PATIENCE)

    def ask_cold(self, of):
        spent = []
        for _ in range(COLD_TIMES):
            self.restart()
            spent += ask_often(Client(self.alone.port), of, 1)
        return statistics.median(spent)

    def ask_all(self):
        questions = paths(Client(self.alone.port))
        for name in [*QUESTIONS, *questions]:
            if name not in questions and name in QUESTIONS:
                print(f"{name:26} cannot be asked")
        cold = {name: self.ask_cold(of) for name, of in questions.items()}
        client = Client(self.alone.port)
        warm = {name: ask_often(client, of, TIMES)
                for name, of in questions.items()}
        busy = self.ask_while_ingesting(questions)
        for name in questions:
            print(f"{name:26} cold {cold[name]:8.2f} ms  "
                  f"warm {told(warm[name])}  ingesting {told(busy[name])}")
            self.warm[name] = statistics.median(warm[name])
        print(f"memory: {memory_bytes(self.program.pid()) / 1e6:.0f} MB "
              "anonymous after that", flush=True)

    def ask_while_ingesting(self, questions):
        """In turn, until the mail is read; each question twice at least."""
        spent = {name: [] for name in questions}
        client = Client(self.alone.port)
        self.write(max(self.messages // 10, 1), 1)
        while min(map(len, spent.values())) < 2 or not self.is_read():
            for name, of in questions.items():
                spent[name] += ask_often(client, of, 1)
        return spent

    def read_over_http(self, questions, seen):
        # What reads the answers is usually on another machine; with Linux each
        # thread has a nice(2) of its own.
        os.nice(19)
        client = Client(self.alone.port)
        while not seen["stop"]:
            for of in questions.values():
                status, body = client.ask(of[0])[1:]
                seen["answers"] += 1
                if status != 200:
                    seen["errors"].append(f"{status} {body!r}")

    def read_files(self, seen):
        while not seen["stop"]:
            for path in files_of(self.alone.store):
                if not DAY.search(path):
                    continue
                try:
                    with contextlib.closing(sqlite3.connect(
                            f"file:{path}?mode=ro", uri=True,
                            timeout=0)) as reader:
                        reader.execute(
                            "SELECT count(*) FROM recipient").fetchall()
                    seen["answers"] += 1
                except sqlite3.Error as error:
                    seen["errors"].append(f"{path}: {error}")

    def read_by_command(self, command, seen):
        arguments = [program_path("postlag"), command[0], "--store",
                     self.alone.store, *command[1:]]
        while not seen["stop"]:
            done = subprocess.run(arguments, capture_output=True, check=False)
            seen["answers"] += 1
            if done.returncode == 2:
                seen["errors"].append(f"{command}: {done.stderr!r}")

    def sync_disk(self):
        """Ingest waits for the disk between two commits, when a log is begun;
        this for nothing else."""
        return subprocess.Popen(
            [program_path("tests/bench/sync_disk"),
             os.path.join(self.alone.directory, "synced")],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def longest(self, disk):
        """What is said of commits, behind what ran beside them."""
        return (f"longest commit {self.longest_ms('commit'):.1f} ms, longest "
                f"pause between two {self.longest_ms('pause'):.1f} ms, longest "
                f"sync of one page {float(disk.communicate()[0]):.1f} ms")

    def ingest_while_read(self):
        questions = paths(Client(self.alone.port))
        more = max(self.messages // 10, 1)
        self.program.stop()
        self.write(more, 1)
        self.program.start(timeout=PATIENCE)
        seen = {"stop": False, "answers": 0, "errors": []}
        readers = [threading.Thread(target=self.read_over_http,
                                    args=(questions, seen))
                   for _ in range(HTTP_READERS)]
        readers += [threading.Thread(target=self.read_by_command,
                                     args=(command, seen))
                    for command in COMMANDS]
        readers.append(threading.Thread(target=self.read_files, args=(seen,)))
        for reader in readers:
            reader.start()
        started = time.monotonic()
        disk = self.sync_disk()
        try:
            self.wait_until_read()
        finally:
            seen["stop"] = True
            for reader in readers:
                reader.join()
        wall = time.monotonic() - started
        print(f"{len(readers)} readers: {more / wall:.0f} messages/s, "
              f"{seen['answers']} answers, {len(seen['errors'])} errors, "
              f"{self.longest(disk)}", flush=True)
        assert not seen["errors"], seen["errors"][:3]


def told(spent):
    return (f"{statistics.median(spent):7.2f} p99 "
            f"{percentile(spent, 0.99):7.2f} ms")


def run(messages, days):
    """Returns {question: median in ms}."""
    bench = Bench(messages, days)
    print(f"{messages} messages in {days} days", flush=True)
    try:
        bench.ingest()
        bench.ask_all()
        bench.ingest_while_read()
    finally:
        bench.close()
    print("purge: ", end="", flush=True)
    subprocess.run([program_path("tests/bench/bench_purge"),
                    str(max(messages // days, 1000)), "5"], check=True)
    return bench.warm


def main():
    words = [word for word in sys.argv[1:] if word != "--growth"]
    messages = int(words[0]) if words else 200000
    days = int(words[1]) if len(words) > 1 else 30
    before = run(messages // 10, days) if "--growth" in sys.argv else {}
    after = run(messages, days)
    for name in before:
        print(f"{name:26} takes {after[name] / before[name]:5.2f} times as "
              "long")


main()
