#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Checks that packaging/postlag.conf and postlag.conf(5) name every option of
the programs with its default and meaning, as the programs' -R prints them.

    python3 tests/lint/packaging.py [--write]
"""

import os
import re
import subprocess
import sys
import textwrap

sys.path.insert(0, "tests/lib")
import lint  # noqa: E402

BUILD = os.environ.get("POSTLAG_BUILD", "build/release")
PROGRAMS = ["postlag-milter", "postlag-lmtp", "postlag-exporter", "postlag"]

CONF = "packaging/postlag.conf"
MANUAL = "packaging/man/postlag.conf.5"
BEGIN, END = '.\\" options begin\n', '.\\" options end\n'


def sections():
    """[(section, [(option, default, meaning)])] of all programs."""
    found = []
    for program in PROGRAMS:
        text = subprocess.run([os.path.join(BUILD, program), "-R"],
                              capture_output=True, text=True,
                              check=True).stdout
        for line in text.splitlines():
            cells = [cell.strip() for cell in line.strip("|").split(" | ", 2)]
            if len(cells) != 3:
                continue
            name, default, meaning = cells
            if name.startswith("`["):
                found.append((name.strip("`[]"), []))
            else:
                default = "" if default == "empty" else default.strip("`")
                found[-1][1].append((name.strip("`"), default,
                                     meaning.rstrip(" |")))
    return found


def conf_text(found):
    lines = []
    for section, options in found:
        lines += [f"[{section}]", ""]
        for name, default, meaning in options:
            lines += textwrap.wrap(meaning.replace("`", ""), 76,
                                   initial_indent="# ",
                                   subsequent_indent="# ",
                                   break_on_hyphens=False)
            lines += [f"#{name} = {default}".rstrip(), ""]
    return "\n".join(lines).rstrip() + "\n"


def roff(text):
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("`", "")
    return re.sub(r"^([.'])", r"\\&\1", text)


def manual_text(found):
    lines = []
    for section, options in found:
        lines.append(f".SH \"SECTION [{section}]\"")
        for name, default, meaning in options:
            shown = roff(default) if default else "empty"
            lines += [".TP", f".BR {roff(name)} \" (default: {shown})\"",
                      roff(meaning)]
    return "\n".join(lines) + "\n"


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def wanted(found):
    """{path: what it has to be}."""
    head = re.split(r"^\[", read(CONF), maxsplit=1, flags=re.MULTILINE)[0]
    head = head.rstrip() + "\n\n"
    manual = read(MANUAL)
    before, rest = manual.split(BEGIN)
    return {CONF: head + conf_text(found),
            MANUAL: before + BEGIN + manual_text(found) + END
            + rest.split(END)[1]}


def findings(write):
    for path, text in wanted(sections()).items():
        if read(path) == text:
            continue
        if write:
            with open(path, "w", encoding="utf-8") as out:
                out.write(text)
        else:
            yield f"{path} differs: run python3 tests/lint/packaging.py" \
                  " --write"


report = lint.Report()
report.check("sample configuration and manual name every option",
             findings("--write" in sys.argv))
report.end()
