# SPDX-License-Identifier: BSD-2-Clause
"""How soon a browser has painted the page, and how much it is sent for that,
with days of mail in the store.

    python3 tests/bench/bench_page.py [MESSAGES [DAYS]]

For each period: median and worst of TIMES visits of a browser that has nothing
of the page, from the visit's beginning to the first paint with words in it and
to the last answer, and all bytes that came, headers included.
"""

import json
import os
import statistics
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))

from browser import Browser  # noqa: E402
from exporter_alone import ExporterAlone  # noqa: E402
from programs import program_path  # noqa: E402

PERIODS = ("24h", "7d", "30d")
TIMES = 5
PATIENCE = 7200
# [milliseconds to the first paint, to the last answer, bytes]
FIGURES = """
JSON.stringify((() => {
  const got = performance.getEntriesByType("resource")
    .concat(performance.getEntriesByType("navigation"));
  const paint = performance.getEntriesByName("first-contentful-paint")[0];
  return [paint.startTime, Math.max(...got.map((one) => one.responseEnd)),
    got.reduce((sum, one) => sum + one.transferSize, 0)];
})())
"""


def fill(alone, messages, days):
    subprocess.run([program_path("tests/bench/make_days"), alone.directory,
                    str(messages), str(days)], check=True)
    alone.program.start(timeout=PATIENCE)
    while True:
        seen = alone.metrics()
        if seen.total("postlag_messages_accepted_total") == messages \
                and seen.total("postlag_journal_behind_bytes") == 0:
            return
        time.sleep(0.5)


def visit(browser, url):
    """(first paint in ms, last answer in ms, bytes)."""
    browser.open(url)
    for part in (".totals", ".plot canvas", "#in-flight p, #in-flight table"):
        browser.wait(part)
    return json.loads(browser.tell("evaluate", code=FIGURES))


def main():
    messages = int(sys.argv[1]) if len(sys.argv) > 1 else 200000
    days = int(sys.argv[2]) if len(sys.argv) > 2 else 30
    with ExporterAlone(start=False) as alone, Browser() as browser:
        alone.program.settings["store"]["queue_lifetime"] = f"{days + 2}d"
        fill(alone, messages, days)
        print(f"{messages} messages in {days} days")
        for period in PERIODS:
            visits = [visit(browser, f"http://127.0.0.1:{alone.port}/"
                            f"#/?since={period}") for _ in range(TIMES)]
            print(f"{period:4}", *(
                f"{name} {statistics.median(times):.0f}, worst "
                f"{max(times):.0f} ms;" for name, times in zip(
                    ("painted", "answered"), zip(*visits))),
                f"{max(size for *_, size in visits) / 1000:.1f} kB",
                flush=True)


main()
