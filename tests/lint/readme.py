#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Checks the parts of the documentation that programs and tests know better:
they stand between <!-- NAME begin --> and <!-- NAME end -->.

    python3 tests/lint/readme.py [--write]
"""

import os
import re
import subprocess
import sys

sys.path.insert(0, "tests/lib")
import lint  # noqa: E402

BUILD = os.environ.get("POSTLAG_BUILD", "build/release")
README = "README.md"
METRICS = "packaging/prometheus/metrics.md"
EXAMPLES = {
    "example": ("postlag show 4XyZab1234z5",
                "tests/cli/timeline_text/simple.ref"),
    "lost": ("postlag lost", "tests/cli/list_text/lost.ref"),
    "queue": ("postlag queue", "tests/cli/list_text/queue.ref"),
}
PROGRAMS = ["postlag-milter", "postlag-lmtp", "postlag-exporter", "postlag"]


def output(program, *arguments):
    return subprocess.run([os.path.join(BUILD, program), *arguments],
                          capture_output=True, text=True, check=True).stdout


def tables(text):
    """The Markdown tables in it, each with its newline at the end."""
    return re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE)


def parts():
    """{file: {name: what has to stand there}}."""
    found = {}
    for name, (command, path) in EXAMPLES.items():
        with open(path, encoding="utf-8") as file:
            found[name] = f"```\n$ {command}\n{file.read()}```\n"
    options = [table for program in PROGRAMS
               for table in tables(output(program, "-R"))]
    metrics, phases = tables(output("postlag-exporter", "-m"))
    return {README: {**found, "options": "\n".join(options),
                     "phases": phases},
            METRICS: {"metrics": metrics}}


def filled(before, texts):
    after = before
    for name, text in texts.items():
        begin, end = f"<!-- {name} begin -->\n", f"<!-- {name} end -->\n"
        assert before.count(begin) == before.count(end) == 1, name
        head, rest = after.split(begin)
        after = head + begin + text + end + rest.split(end)[1]
    return after


def findings(write):
    for path, texts in parts().items():
        with open(path, encoding="utf-8") as file:
            before = file.read()
        after = filled(before, texts)
        if after == before:
            continue
        if write:
            with open(path, "w", encoding="utf-8") as out:
                out.write(after)
        else:
            yield f"{path} differs: run python3 tests/lint/readme.py --write"


report = lint.Report()
report.check("the documentation shows what programs and tests say",
             findings("--write" in sys.argv))
report.end()
