#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""README.md's table "Where does a message flow?": each `file`: `function` in it
exists, and the way leads through every layer that a message passes."""

import os
import re
import sys

sys.path.insert(0, "tests/lib")
import lint  # noqa: E402

HEADING = "## Where does a message flow?"
PASSED = {"milter", "proto", "lmtp", "exporter", "store", "cli"}


def table():
    """The lines of the table, without its head."""
    lines = lint.read_lines("README.md")
    if HEADING not in lines:
        return []
    after = lines[lines.index(HEADING) + 1:]
    end = next((number for number, line in enumerate(after)
                if line.startswith("#")), len(after))
    return [line for line in after[:end] if line.startswith("|")][2:]


def hops(row):
    return re.findall(r"`([\w/]+\.\w+)`: `(\w+)`", row)


def missing():
    for row in ROWS:
        if not hops(row):
            yield f"no `file`: `function` in: {row}"
        for path, name in hops(row):
            if not os.path.isfile(path):
                yield f"{path} does not exist"
            elif name not in [f.name for f in lint.functions(path)]:
                yield f"{path} does not define {name}()"


ROWS = table()
layers = {path.split("/")[0] for row in ROWS for path, _ in hops(row)}
report = lint.Report()
report.check(f"README.md has a table under '{HEADING}'",
             [] if ROWS else ["there is none"])
report.check("each file and function of the flow table exists", missing())
report.check("the flow passes every layer",
             [f"no row in {layer}/" for layer in sorted(PASSED - layers)])
report.note(f"{len(ROWS)} rows")
report.end()
