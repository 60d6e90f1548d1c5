# SPDX-License-Identifier: BSD-2-Clause
"""CPU a message of postlag-milter against a do-nothing libmilter filter with
the same flags and one header.

    make bench-programs && PYTHONPATH=tests/lib python3 tests/bench/bench_milter.py

The MTA simulator feeds both the same sessions, in turns; what is printed are
medians over the rounds. Messages with one and with five recipients, one and
ten a session.
"""

import os
import statistics
import subprocess
import sys
import time

from mta_simulator import MtaSession
from programs import Program, build_directory
from waiting import PrivateDirectory, wait_until

HEADERS = [
    ("Received", "from client.example.com (client.example.com [192.0.2.1])"
     "\n\tby mx.example.test (Postfix) with ESMTPS id 4F5E3A1C00"
     "\n\tfor <recipient@example.test>; Mon, 30 Nov 2026 07:47:42 +0000 (UTC)"),
    ("From", "A Sender <sender@example.com>"),
    ("To", "A Recipient <recipient@example.test>"),
    ("Subject", "a subject of some length, as subjects are"),
    ("Date", "Mon, 30 Nov 2026 07:47:42 +0000"),
    ("Message-ID", "<20261130074742.4F5E3A1C00@client.example.com>"),
    ("MIME-Version", "1.0"),
    ("Content-Type", "text/plain; charset=utf-8"),
]

SHAPES = [(1, 1), (1, 10), (5, 10)]
"""(recipients of a message, messages of a session)"""


def cpu_seconds(pid):
    """Of all threads, dead ones too, in ns: clock_getcpuclockid(3)."""
    return time.clock_gettime(~pid << 3 | 2)


def feed(path, messages, recipients, per_session):
    addresses = [f"recipient{n}@example.test" for n in range(recipients)]
    for _ in range(messages // per_session):
        session = MtaSession(path).connect().helo()
        for _ in range(per_session):
            session.message("sender@example.com", addresses, HEADERS)
        session.quit()


def measure(targets, shape, messages, rounds):
    """Microseconds a message of each target, and the ratio of ours to nothing
    within a round; medians over the rounds."""
    seen = {name: [] for name in targets}
    for number in range(rounds):
        order = sorted(targets, reverse=number % 2)
        for name in order:
            path, pid = targets[name]
            before = cpu_seconds(pid)
            feed(path, messages, *shape)
            seen[name].append((cpu_seconds(pid) - before) / messages * 1e6)
    ratios = [ours / nothing
              for ours, nothing in zip(seen["ours"], seen["nothing"])]
    return {name: statistics.median(times) for name, times in seen.items()}, \
        statistics.median(ratios)


def main(messages=500, rounds=41):
    with PrivateDirectory() as directory:
        nothing_path = f"{directory}/nothing.sock"
        nothing = subprocess.Popen(
            [f"{build_directory()}/tests/bench/nothing_milter",
             f"unix:{nothing_path}"])
        try:
            wait_until(lambda: os.path.exists(nothing_path), "the filter")
            ours_path = f"{directory}/ours.sock"
            os.mkdir(f"{directory}/journal")
            settings = {"socket": f"unix:{ours_path}", "instance": "mx",
                        "journal": f"{directory}/journal"}
            with Program("postlag-milter", {"milter": settings},
                         directory) as ours:
                targets = {"nothing": (nothing_path, nothing.pid),
                           "ours": (ours_path, ours.pid())}
                for shape in SHAPES:
                    result, ratio = measure(targets, shape, messages, rounds)
                    print(f"recipients={shape[0]} per_session={shape[1]} "
                          f"nothing={result['nothing']:.1f}us "
                          f"ours={result['ours']:.1f}us "
                          f"ratio={ratio:.3f}",
                          flush=True)
        finally:
            nothing.kill()
            nothing.wait()


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
