# SPDX-License-Identifier: BSD-2-Clause
"""What open messages cost the exporter: memory, time to start again, and looks
into the queue, which must not grow with it.

    python3 tests/bench/bench_open.py [MESSAGES...]

Deferred messages with one recipient each, by default 10,000 and 1,000,000,
through journals, join and store; each has a queue file to be found. The
directory for all that is made in TMPDIR.
"""

import os
import re
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))

from exporter_alone import ExporterAlone  # noqa: E402
from waiting import wait_until  # noqa: E402

PLACES = ("incoming", "active", "deferred", "hold", "maildrop", "corrupt",
          "saved")
# One inode may have so many names.
LINKS_MAX = 30000
LOOK_SECONDS = 10
PATIENCE = 3600


def make_queue(directory, messages):
    """A queue with a committed file for each, as tool_journal names them."""
    for place in PLACES:
        os.makedirs(f"{directory}/{place}")
    for digit in "0123456789ABCDEF":
        os.mkdir(f"{directory}/deferred/{digit}")
    for number in range(messages):
        if number % LINKS_MAX == 0:
            file = f"{directory}/saved/{number}"
            with open(file, "wb"):
                os.chmod(file, 0o700)
        name = f"{number:08X}A1B2C3"
        os.link(file, f"{directory}/deferred/{name[0]}/{name}")


def anonymous_bytes(program):
    with open(f"/proc/{program.pid()}/status", encoding="ascii") as status:
        return int(re.search(r"RssAnon:\s+(\d+) kB", status.read())[1]) * 1024


def wait_until_deferred(alone, messages):
    """Returns the seconds that it took from now."""
    started = time.monotonic()
    wait_until(lambda: alone.metrics().value(
        "postlag_recipients", state="deferred") == messages,
        f"{messages} deferred", PATIENCE, 0.1)
    return time.monotonic() - started


def start(alone, messages):
    started = time.monotonic()
    alone.program.start(timeout=PATIENCE)
    wait_until_deferred(alone, messages)
    return time.monotonic() - started


def looks(alone):
    """(looks, CPU seconds) in one second."""
    before = alone.metrics().total("postlag_queue_lookups_total")
    wait_until(lambda: alone.metrics().total("postlag_queue_lookups_total")
               > before, "looks", 60)
    before = alone.metrics().total("postlag_queue_lookups_total")
    used, started = alone.program.cpu_seconds(), time.monotonic()
    time.sleep(LOOK_SECONDS)
    seconds = time.monotonic() - started
    return (alone.metrics().total("postlag_queue_lookups_total") - before) \
        / seconds, (alone.program.cpu_seconds() - used) / seconds


def measure(messages):
    with ExporterAlone(start=False, loss_after="10s") as alone:
        queue = os.path.join(alone.directory, "queue")
        make_queue(queue, messages)
        alone.program.settings["exporter"].update(
            queue_directories=f"mx.test={queue}")
        alone.journals.tell("defer", messages)
        print(f"{messages} open messages")
        print(f"  to take them in      {start(alone, messages):8.1f} s")
        rate, cpu = looks(alone)
        print(f"  looks a second       {rate:8.0f}, with {cpu:.3f} s of CPU")
        bytes_each = anonymous_bytes(alone.program) / messages
        alone.program.kill()
        print(f"  to start again       {start(alone, messages):8.1f} s")
        print(f"  memory then          "
              f"{anonymous_bytes(alone.program) / messages:8.0f} bytes each"
              f" ({bytes_each:.0f} before)", flush=True)


for count in map(int, sys.argv[1:] or (10_000, 1_000_000)):
    measure(count)
