# SPDX-License-Identifier: BSD-2-Clause
"""The whole path, SMTP client to mailbox, with us and without, in turns.

    PYTHONPATH=tests/lib python3 tests/bench/bench_path.py [MESSAGES [ROUNDS]]

One Postfix and one Dovecot serve both: with us a message passes the milter and
the hook while the exporter reads along, without us it comes in by a listener
without milter and goes to Dovecot directly. A round ends when all of its mail
is in the mailboxes. Medians over the rounds; ratios are of the same run.
"""

import os
import statistics
import sys
import time

from mail_system import DIRECT, HOOKED
from stack import Stack
from waiting import wait_until

SESSIONS = 4
RECIPIENTS = 2


def directory_bytes(path):
    return sum(os.path.getsize(os.path.join(folder, name))
               for folder, _, names in os.walk(path) for name in names)


def deliver(stack, messages, listener, domain):
    """Messages a second, from the first connection to the last mailbox."""
    wanted = stack.dovecot.count() + messages * RECIPIENTS
    begin = time.monotonic()
    stack.smtp_source(messages, RECIPIENTS, sessions=SESSIONS, keep=True,
                      listener=listener, to=f"u@{domain}")
    wait_until(lambda: stack.dovecot.count() >= wanted, "all mail", 300, 0.02)
    return messages / (time.monotonic() - begin)


def journal_bytes_a_message(stack):
    seen = stack.metrics()
    return {source: seen.value("postlag_journal_appended_bytes_total",
                               source=source)
            for source in ("milter", "lmtp")}


def main(messages=1000, rounds=7):
    rates = {"without": [], "with": []}
    with Stack(main_cf={"in_flow_delay": "0"}) as stack:
        deliver(stack, 100, "bare", DIRECT)
        deliver(stack, 100, "plain", HOOKED)
        before = {p.name: p.cpu_seconds() for p in stack.programs}
        store_before = directory_bytes(stack.store)
        for number in range(rounds):
            order = [("without", "bare", DIRECT), ("with", "plain", HOOKED)]
            for name, listener, domain in order[::1 - 2 * (number % 2)]:
                rates[name].append(deliver(stack, messages, listener, domain))
        stack.wait_until_settled()
        total = messages * rounds
        print(f"{messages} messages a round, {RECIPIENTS} recipients each,"
              f" {SESSIONS} sessions, {rounds} rounds, medians")
        for name, seen in rates.items():
            print(f"{name:8} us  {statistics.median(seen):8.1f} messages/s")
        ratio = statistics.median(
            mine / theirs for mine, theirs in zip(rates["with"],
                                                  rates["without"]))
        print(f"with / without, pair by pair: {ratio:.3f}")
        for program in stack.programs:
            used = program.cpu_seconds() - before[program.name]
            print(f"{program.name:17} {used / total * 1e6:7.0f} us of CPU"
                  " a message")
        appended = journal_bytes_a_message(stack)
        for source, size in appended.items():
            print(f"journal/{source:7} {size / (total + 100):7.0f} bytes a"
                  " message, heartbeats included")
        grown = directory_bytes(stack.store) - store_before
        print(f"store           {grown / total:7.0f} bytes a message, WAL"
              " included")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
