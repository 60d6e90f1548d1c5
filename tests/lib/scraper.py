# SPDX-License-Identifier: BSD-2-Clause
"""Looks at /metrics all the time, also while the exporter is killed."""

import http.client
import threading

# Counted since the exporter's start, and say so.
SINCE_START = ("postlag_store_commits_total", "postlag_store_errors_total",
               "postlag_log_lines_total", "postlag_queue_lookups_total",
               "postlag_source_events_total")

# Of what is wrong in every scrape a few are enough.
WRONG_MAX = 10


class Scraper(threading.Thread):
    """`check` takes Metrics and returns a list of what is wrong in them.

        with Scraper(stack) as scraper:
            ...
        self.assertEqual(scraper.decreases, [])
    """

    def __init__(self, stack, check=None):
        super().__init__()
        self.stack = stack
        self.check = check or (lambda metrics: [])
        self.stopping = threading.Event()
        self.scrapes = 0
        self.decreases = []
        self.wrong = []

    def run(self):
        last = None
        while not self.stopping.wait(0.05):
            try:
                now = self.stack.metrics()
            except (OSError, http.client.HTTPException):
                continue
            self.scrapes += 1
            if len(self.wrong) < WRONG_MAX:
                self.wrong += self.check(now)
            if last:
                self.decreases += [
                    item for item in now.decreased_since(last).items()
                    if item[0][0] not in SINCE_START]
            last = now

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.stopping.set()
        self.join()
