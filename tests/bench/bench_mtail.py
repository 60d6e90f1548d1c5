# SPDX-License-Identifier: BSD-2-Clause
"""CPU of the exporter a message, which reads the log and both journals and
stores everything, against mtail(1), which only counts lines of the same log.

    python3 tests/bench/bench_mtail.py [MESSAGES [ROUNDS]]

mtail must be installed; it runs the program for Postfix that comes with it.
"""

import os
import resource
import statistics
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))

from exporter_alone import ExporterAlone  # noqa: E402
from programs import program_path  # noqa: E402

PROGRAM = "/usr/share/doc/mtail/examples/postfix.mtail"


def mtail_cpu_seconds(log):
    def used():
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime
    before = used()
    subprocess.run(["mtail", "--one_shot", "--progs", PROGRAM, "--logs", log],
                   check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)
    return used() - before


def exporter_cpu_seconds(alone, messages):
    alone.program.start()
    alone.wait_for("postlag_messages_accepted_total", messages, 3600)
    alone.wait_for("postlag_log_behind_bytes", 0, 3600)
    alone.wait_for("postlag_journal_behind_bytes", 0, 3600)
    used = alone.program.cpu_seconds()
    assert alone.metrics().total("postlag_log_lines_total",
                                 kind="unknown") == 0
    return used


def measure(messages):
    """(mtail's, the exporter's) CPU seconds a message."""
    with ExporterAlone(start=False) as alone:
        log = os.path.join(alone.directory, "mail.log")
        alone.program.settings["exporter"].update(
            maillog=log, maillog_instances="postfix=mx.example.com",
            commit_interval="200ms")
        subprocess.run([program_path("tests/bench/make_days"),
                        alone.directory, str(messages), "1"], check=True)
        return (mtail_cpu_seconds(log) / messages,
                exporter_cpu_seconds(alone, messages) / messages)


def main():
    messages = int(sys.argv[1]) if len(sys.argv) > 1 else 100000
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    if not os.path.exists(PROGRAM):
        sys.exit(f"no {PROGRAM}: apt-get install mtail")
    theirs, ours = zip(*(measure(messages) for _ in range(rounds)))
    print(f"mtail    {statistics.median(theirs) * 1e6:6.1f} us a message")
    print(f"exporter {statistics.median(ours) * 1e6:6.1f} us a message")
    print("ratio    "
          f"{statistics.median(o / t for o, t in zip(ours, theirs)):6.2f}")


main()
