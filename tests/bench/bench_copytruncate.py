# SPDX-License-Identifier: BSD-2-Clause
"""How many lines logrotate's copytruncate takes from a log that is written to,
and how many of them the exporter had read before.

    PYTHONPATH=tests/lib python3 tests/bench/bench_copytruncate.py [RATE]
"""

import glob
import os
import re
import subprocess
import sys
import threading
import time

from exporter_alone import ExporterAlone
from mail_log import Log
from waiting import wait_until

ROUNDS = 20
PAUSE = 0.7


class Writer(threading.Thread):
    """Writes numbered lines, so many a second."""

    def __init__(self, log, rate):
        super().__init__(daemon=True)
        self.log, self.rate = log, rate
        self.count = 0
        self.ended = threading.Event()

    def run(self):
        due = time.monotonic()
        while not self.ended.wait(max(0.0, due - time.monotonic())):
            self.log.line("qmgr", f"statistics: number {self.count}")
            self.count += 1
            due += 1 / self.rate

    def end(self):
        self.ended.set()
        self.join()


def numbers_in_files(path):
    found = set()
    for name in glob.glob(path + "*"):
        with open(name, encoding="utf-8") as file:
            found.update(map(int, re.findall(r"number (\d+)\n", file.read())))
    return found


def rotate(directory, path):
    config = os.path.join(directory, "logrotate.conf")
    with open(config, "w", encoding="ascii") as out:
        out.write(f"{path} {{\n copytruncate\n rotate {ROUNDS + 1}\n"
                  " size 1\n su root root\n}\n")
    for _ in range(ROUNDS):
        time.sleep(PAUSE)
        subprocess.run(["logrotate", "-f", "-s", f"{directory}/state",
                        config], check=True)


def runs(missing):
    """How many rotations lost some."""
    return sum(number - 1 not in missing for number in missing)


def measure(rate):
    with ExporterAlone(start=False, maillog_instances="postfix=mx.test",
                       rate_limit_root="") as alone:
        log = Log(os.path.join(alone.directory, "mail.log"))
        alone.program.settings["exporter"]["maillog"] = log.path
        alone.program.start()
        writer = Writer(log, rate)
        writer.start()
        rotate(alone.directory, log.path)
        time.sleep(PAUSE)
        writer.end()
        wait_until(lambda: alone.metrics().value(
            "postlag_log_behind_bytes") == 0, "the exporter to have read all")
        read = alone.metrics().total("postlag_log_lines_total")
        missing = set(range(writer.count)) - numbers_in_files(log.path)
    print(f"{rate} lines/s, {ROUNDS} rotations, {writer.count} lines: "
          f"{len(missing)} in no file, lost in {runs(missing)} rotations; "
          f"the exporter read {int(read)}")


for arguments in sys.argv[1:] or ["200", "2000"]:
    measure(int(arguments))
