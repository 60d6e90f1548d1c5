# SPDX-License-Identifier: BSD-2-Clause
"""What the lints share: the product's files, its functions, and TAP."""

import glob
import re
import sys

LAYERS = ("base", "proto", "milter", "lmtp", "store", "exporter", "cli")


def product_files(endings=(".c", ".h")):
    """The product's source files, without the tests."""
    return sorted(path for layer in LAYERS
                  for path in glob.glob(f"{layer}/**", recursive=True)
                  if path.endswith(endings))


def read_lines(path):
    with open(path, encoding="utf-8") as file:
        return file.read().splitlines()


class Function:
    """A function's definition; line numbers from 1, both ends included."""

    def __init__(self, path, name, first, lines):
        self.path = path
        self.name = name
        self.first = first
        self.lines = lines

    def __str__(self):
        return f"{self.path}:{self.first}: {self.name}()"

    @property
    def parameters(self):
        """How many, without the reason of a failure."""
        text = " ".join(self.lines)
        text = text[text.index("(") + 1:text.index("{")].rstrip(") ")
        text = re.sub(r"\([^()]*\)", "", text)
        return sum(1 for parameter in text.split(",")
                   if parameter.strip() not in ("", "void")
                   and "struct reason *" not in parameter)

    @property
    def nesting(self):
        """Blocks within blocks, the body itself not counted."""
        deepest = 0
        depth = 0
        for line in self.lines:
            code = re.sub(r'"(\\.|[^"\\])*"|\'(\\.|[^\'\\])*\'', "", line)
            code = re.sub(r"\b(const )?struct \w+\b.*= *{.*};", "", code)
            depth += code.count("{") - code.count("}")
            deepest = max(deepest, depth)
        return deepest - 1


def functions(path):
    """Every function a file defines: its name begins a line, as does its
    closing brace; what stands between is never that far left."""
    lines = read_lines(path)
    start = name = None
    for number, line in enumerate(lines):
        opening = re.match(r"(\w+)\(", line)
        if opening and start is None:
            start, name = number, opening[1]
        elif start is not None and line.endswith(";") and "{" not in lines[
                start:number + 1] and re.match(r"\S|    \S", line):
            start = None  # a declaration
        elif start is not None and line == "}":
            yield Function(path, name, start + 1, lines[start:number + 1])
            start = None


class Report:
    """Collects findings under one test name each and prints TAP."""

    def __init__(self):
        self.number = 0
        self.failed = False

    def check(self, name, findings):
        findings = list(findings)
        self.number += 1
        print(f"{'not ok' if findings else 'ok'} {self.number} - {name}")
        for finding in findings:
            print(f"# {finding}")
        self.failed |= bool(findings)

    def note(self, text):
        print(f"# {text}")

    def end(self):
        print(f"1..{self.number}")
        sys.exit(1 if self.failed else 0)
