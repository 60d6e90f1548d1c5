# SPDX-License-Identifier: BSD-2-Clause
"""CPU a message of postlag-lmtp against a proxy that only pumps bytes.

    make bench-programs
    PYTHONPATH=tests/lib python3 tests/bench/bench_lmtp.py

Both stand in turns between the same client and smtp-sink; what is printed are
medians over the rounds. The client pipelines as Postfix's lmtp(8) does; the
shapes are recipients and bytes of a message, and messages a connection.
"""

import statistics
import subprocess
import sys

from hook import Hook
from lmtp_client import Client
from programs import build_directory
from waiting import free_port, wait_until

SHAPES = [(1, 4000, 1, 1500), (1, 4000, 20, 3000), (20, 4000, 20, 1000),
          (1, 1000000, 5, 300)]
"""(recipients, content bytes, messages of a connection, messages a round)"""

HEADER = b"".join(f"{name}: {value}\r\n".encode() for name, value in [
    ("Return-Path", "<sender@example.com>"),
    ("X-Perf-Sent", "2026-11-30T07:47:42.123456Z;\r\n"
     "\tid=019ad3a1-5c00-7abc-8def-0123456789ab; q=4F5E3A1C00"),
    ("Received", "from client.example.com (client.example.com [192.0.2.1])"
     "\r\n\tby mx.test (Postfix) with ESMTPS id 4F5E3A1C00"
     "\r\n\tfor <recipient@example.test>; Mon, 30 Nov 2026 07:47:42 +0000"),
    ("From", "A Sender <sender@example.com>"),
    ("To", "A Recipient <recipient@example.test>"),
    ("Subject", "a subject of some length, as subjects are"),
    ("Message-ID", "<20261130074742.4F5E3A1C00@client.example.com>"),
])


def content_of(size):
    line = b"A line of some words, as they are in mail. With a dot or two.\r\n"
    body = line * (max(size - len(HEADER), 0) // len(line))
    return HEADER + b"\r\n" + body + b".\r\n"


def feed(address, shape):
    recipients, size, per_connection, messages = shape
    content = content_of(size)
    envelope = "".join(f"{command}\r\n" for command in [
        "MAIL FROM:<sender@example.com>",
        *(f"RCPT TO:<u{n}@example.test>" for n in range(recipients)),
        "DATA"]).encode()
    for _ in range(messages // per_connection):
        with Client(address) as client:
            client.hello()
            for _ in range(per_connection):
                client.send(envelope)
                for _ in range(recipients + 2):
                    client.reply()
                client.send(content)
                for _ in range(recipients):
                    assert client.reply().code == 250
            client.quit()


def cpu_nanoseconds(pid):
    """Of all threads; finer than the ticks of /proc/PID/stat."""
    total = 0
    threads = subprocess.run(["ls", f"/proc/{pid}/task"], check=True,
                             capture_output=True, text=True).stdout.split()
    for thread in threads:
        with open(f"/proc/{pid}/task/{thread}/schedstat",
                  encoding="ascii") as file:
            total += int(file.read().split()[0])
    return total


def measure(targets, shape, rounds):
    """{name: microseconds a message}, medians."""
    seen = {name: [] for name in targets}
    for number in range(rounds):
        for name in sorted(targets, reverse=number % 2):
            address, pid = targets[name]
            before = cpu_nanoseconds(pid)
            feed(address, shape)
            seen[name].append((cpu_nanoseconds(pid) - before)
                              / shape[3] / 1000)
    return {name: statistics.median(times) for name, times in seen.items()}


def listening(port):
    def answers():
        try:
            Client(("127.0.0.1", port), greet=False).close()
            return True
        except ConnectionRefusedError:
            return False
    wait_until(answers, f"port {port}")


def main(rounds=7):
    sink_port, pump_port = free_port(), free_port()
    sink = subprocess.Popen(["smtp-sink", "-L", "-u", "nobody",
                             f"inet:127.0.0.1:{sink_port}", "100"])
    pump = subprocess.Popen([f"{build_directory()}/tests/bench/pump_proxy",
                             str(pump_port), str(sink_port)])
    try:
        listening(sink_port)
        listening(pump_port)
        with Hook(f"inet:127.0.0.1:{sink_port}") as hook:
            targets = {"pump": (("127.0.0.1", pump_port), pump.pid),
                       "ours": (hook.address, hook.pid())}
            for shape in SHAPES:
                result = measure(targets, shape, rounds)
                print(f"recipients={shape[0]} bytes={shape[1]} "
                      f"per_connection={shape[2]} "
                      f"pump={result['pump']:.1f}us "
                      f"ours={result['ours']:.1f}us "
                      f"ratio={result['ours'] / result['pump']:.3f}",
                      flush=True)
    finally:
        for process in (pump, sink):
            process.kill()
            process.wait()


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
