#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""What every file has in common: licence line, white space, width."""

import re
import subprocess
import sys

sys.path.insert(0, "tests/lib")
import lint  # noqa: E402

SPDX = "SPDX-License-Identifier: BSD-2-Clause"
COLUMNS = 80
# Given byte by byte, whatever it looks like.
VERBATIM = r"tests/(fuzz/corpus|exporter/scenarios)/|.*\.(ref|in|bin|png|ico|woff2|eml|jnl)$"


def files():
    """Every text file of the repository, also those not yet committed."""
    names = subprocess.run(
        ["git", "ls-files", "-z", "-c", "-o", "--exclude-standard"],
        stdout=subprocess.PIPE, check=True).stdout.decode().split("\0")
    for name in names:
        if not name or re.match(VERBATIM, name):
            continue
        try:
            with open(name, "rb") as file:
                yield name, file.read()
        except FileNotFoundError:
            continue


def is_code(path):
    return re.search(r"\.([ch]|py|sh|proto|m?jsx?|css)$", path)


def licences():
    for path, content in FILES:
        head = b"\n".join(content.split(b"\n")[:2]).decode()
        if SPDX not in head and (is_code(path) or head.startswith("#!")):
            yield f"{path}: no {SPDX} in its first two lines"


def introductions():
    for path, content in FILES:
        lines = content.decode().splitlines()
        if path.endswith((".c", ".h")) and (
                len(lines) < 2 or not lines[1].startswith("/*")):
            yield f"{path}:2: no comment that says what the file is"


def white_space():
    for path, content in FILES:
        if content and not content.endswith(b"\n"):
            yield f"{path}: no newline at the end"
        if content.endswith(b"\n\n"):
            yield f"{path}: empty lines at the end"
        for number, line in enumerate(content.split(b"\n"), 1):
            if line != line.rstrip():
                yield f"{path}:{number}: white space at the end of the line"


def indentation():
    for path, content in FILES:
        for number, line in enumerate(content.decode().splitlines(), 1):
            blank = line[:len(line) - len(line.lstrip())]
            if path.endswith((".c", ".h")):
                if not re.fullmatch(r"\t*( {0,7})", blank) \
                        and line.strip() != "\\":
                    yield f"{path}:{number}: blanks other than tabs, then " \
                          "fewer than 8 spaces"
                if len(line.expandtabs(8)) > COLUMNS:
                    yield f"{path}:{number}: wider than {COLUMNS} columns"
            elif path.endswith(".py") and "\t" in blank:
                yield f"{path}:{number}: a tab"


def promises():
    for path, content in FILES:
        if path.startswith("tests/"):
            continue
        for number, line in enumerate(content.decode().splitlines(), 1):
            if re.search(r"\b(TODO|FIXME|XXX)\b", line):
                yield f"{path}:{number}: {line.strip()}"


FILES = [(path, content) for path, content in files() if b"\0" not in content]
report = lint.Report()
report.check("files name their licence", licences())
report.check("files say what they are", introductions())
report.check("no stray white space", white_space())
report.check("indentation and width", indentation())
report.check("nothing is left for later", promises())
report.end()
