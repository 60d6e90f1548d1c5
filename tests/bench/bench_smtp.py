# SPDX-License-Identifier: BSD-2-Clause
"""SMTP throughput of a real Postfix with postlag-milter against the same with
a do-nothing filter, and with none.

    make bench-programs
    TMPDIR=/dev/shm PYTHONPATH=tests/lib python3 tests/bench/bench_smtp.py

Mail is discarded behind the queue; three listeners of one instance take turns.
Medians over the rounds, and of the ratio within a round.
"""

import os
import statistics
import subprocess
import sys
import time

from mail_system import Listener
from milter_stack import MilterStack
from programs import build_directory
from stack import MILTER
from waiting import wait_until

NOTHING = MILTER.replace("postlag/milter.sock", "postlag/nothing.sock")


def rate(stack, listener, messages):
    begin = time.monotonic()
    stack.smtp_source(messages, sessions=4, keep=True, listener=listener)
    return messages / (time.monotonic() - begin)


def main(messages=500, rounds=15):
    stack = MilterStack(
        [Listener("ours"), Listener("nothing", {"smtpd_milters": NOTHING}),
         Listener("none", {"smtpd_milters": ""})],
        main_cf={"virtual_transport": "discard:"})
    with stack:
        path = f"{stack.postfix.queue_directory}/postlag/nothing.sock"
        nothing = subprocess.Popen(
            [f"{build_directory()}/tests/bench/nothing_milter",
             f"unix:{path}"])
        try:
            wait_until(lambda: os.path.exists(path), "the filter")
            os.chmod(path, 0o666)
            names = ["ours", "nothing", "none"]
            seen = {name: [] for name in names}
            for number in range(rounds):
                for name in names[number % 3:] + names[:number % 3]:
                    seen[name].append(rate(stack, name, messages))
            for name in names:
                print(f"{name}={statistics.median(seen[name]):.0f}/s", end=" ")
            ratio = statistics.median(
                a / b for a, b in zip(seen["ours"], seen["nothing"]))
            print(f"ours/nothing={ratio:.3f}")
        finally:
            nothing.kill()
            nothing.wait()


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
