# SPDX-License-Identifier: BSD-2-Clause
"""LMTP throughput through the hook against none, into a real Dovecot, and
through a proxy that only pumps bytes.

    make bench-programs
    PYTHONPATH=tests/lib python3 tests/bench/bench_hook_throughput.py

Four clients, a connection a message as the packaged transport has it, in
turns; what is printed are medians over the rounds.
"""

import multiprocessing
import statistics
import subprocess
import sys
import time

from hook import Hook
from lmtp_client import Client
from mail_system import MailSystem
from programs import build_directory
from waiting import free_port

CLIENTS = 4
CONTENT = b"Subject: x\r\n\r\n" + b"hello, world\r\n" * 300


def deliver(address, user, messages):
    for _ in range(messages):
        with Client(address) as client:
            client.hello()
            result = client.deliver("s@client.test", [f"{user}@example.test"],
                                    CONTENT)
            assert result.final[0].code == 250, result.final
            client.quit()


def messages_per_second(address, messages):
    workers = [multiprocessing.Process(
        target=deliver, args=(address, f"u{n}", messages // CLIENTS))
        for n in range(CLIENTS)]
    begin = time.monotonic()
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
        assert worker.exitcode == 0
    return messages / (time.monotonic() - begin)


def measure(ways, messages, rounds):
    """{name: messages a second}, medians."""
    seen = {name: [] for name in ways}
    for number in range(rounds):
        names = list(ways)
        for name in names[number % 3:] + names[:number % 3]:
            seen[name].append(messages_per_second(ways[name], messages))
    return {name: statistics.median(rates) for name, rates in seen.items()}


def main(messages=800, rounds=9):
    with MailSystem() as mail:
        backend, port = mail.dovecot.port, free_port()
        pump = subprocess.Popen([f"{build_directory()}/tests/bench/pump_proxy",
                                 str(port), str(backend)])
        try:
            with Hook(f"inet:127.0.0.1:{backend}") as hook:
                rates = measure({"direct": ("127.0.0.1", backend),
                                 "pump": ("127.0.0.1", port),
                                 "hooked": hook.address}, messages, rounds)
        finally:
            pump.kill()
            pump.wait()
    for name, rate in rates.items():
        print(f"{name}={rate:.0f}/s ratio={rate / rates['direct']:.3f}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
