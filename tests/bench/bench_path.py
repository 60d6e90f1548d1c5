# SPDX-License-Identifier: BSD-2-Clause
"""What Postlag costs on the whole way, from SMTP client to mailbox.

    python3 tests/bench/bench_path.py [ROUNDS [MESSAGES]]

The same load, in turn with milter and hook and without, on one private Postfix
and Dovecot; medians of all rounds. Then the CPU time of each of our programs,
and the bytes a message takes in journal and store.
"""

import os
import statistics
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))

from mail_system import DIRECT, HOOKED  # noqa: E402
from stack import Stack  # noqa: E402

SESSIONS = 4


def send(stack, messages, domain, listener):
    """Messages per second, until the last one is in its mailbox."""
    before = stack.dovecot.count()
    started = time.monotonic()
    sources = [stack.smtp_source(messages // SESSIONS, keep=True, wait=False,
                                 to=f"u{number}@{domain}", listener=listener)
               for number in range(SESSIONS)]
    for source in sources:
        output, _ = source.communicate()
        assert source.returncode == 0, output
    sent = messages // SESSIONS * SESSIONS
    stack.wait_until_delivered(before + sent, 600)
    return sent / (time.monotonic() - started)


def directory_bytes(path):
    return sum(os.path.getsize(os.path.join(top, file))
               for top, _, files in os.walk(path) for file in files)


def compare(stack, rounds, messages):
    rates = {"without": [], "with": []}
    cpu = {program.name: -program.cpu_seconds() for program in stack.programs}
    for _ in range(rounds):
        rates["without"].append(send(stack, messages, DIRECT, "bare"))
        rates["with"].append(send(stack, messages, HOOKED, "plain"))
    stack.wait_until_settled(600)
    for program in stack.programs:
        cpu[program.name] += program.cpu_seconds()
    return rates, cpu


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 7
    messages = int(sys.argv[2]) if len(sys.argv) > 2 else 2000
    with Stack() as stack:
        send(stack, messages, DIRECT, "bare")
        send(stack, messages, HOOKED, "plain")
        stack.wait_until_settled()
        rates, cpu = compare(stack, rounds, messages)
        metrics = stack.metrics()
        stack.exporter.stop()
        stored = metrics.value("postlag_messages_accepted_total")
        journal = metrics.total("postlag_journal_appended_bytes_total")
        store = directory_bytes(stack.store)
    medians = {way: statistics.median(found) for way, found in rates.items()}
    for way, found in rates.items():
        print(f"{way:8} {medians[way]:7.0f} messages/s"
              f"  (from {min(found):.0f} to {max(found):.0f})")
    print(f"ratio    {medians['with'] / medians['without']:7.3f}")
    for name, seconds in cpu.items():
        print(f"{name:17} {seconds / rounds / messages * 1e6:6.0f} us of CPU"
              " a message")
    print(f"journal  {journal / stored:7.0f} bytes a message")
    print(f"store    {store / stored:7.0f} bytes a message")


main()
