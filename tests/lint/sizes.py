#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Files, headers and functions stay small."""

import re
import sys

sys.path.insert(0, "tests/lib")
import lint  # noqa: E402

FILE_LINES = 499
HEADER_LINES = 150  # without the sentences that make it a contract
FUNCTION_LINES = 60
MAIN_LINES = 40
PARAMETERS = 5  # and the reason
NESTING = 4
MEDIAN_LINES = 15
NINETIETH_LINES = 40

# Whose parameters a library has decided.
LIBRARY_CALLBACKS = {"on_negotiate", "on_request"}


def long_files():
    for path in lint.product_files((".c", ".h", ".py", ".js", ".mjs",
                                     ".jsx", ".css", ".html")):
        count = len(lint.read_lines(path))
        if count > FILE_LINES:
            yield f"{path}: {count} lines, not at most {FILE_LINES}"


def long_headers():
    for path in lint.product_files((".h",)):
        count = len(code_lines(path))
        if count > HEADER_LINES:
            yield f"{path}: {count} lines, not at most {HEADER_LINES}"


def code_lines(path):
    """The lines that hold more than comment or nothing."""
    text = "\n".join(lint.read_lines(path))
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
    return [line for line in text.split("\n") if line.strip()]


def above(value, most, what):
    for function in FUNCTIONS:
        if value(function) > most(function):
            yield f"{function}: {value(function)} {what}, " \
                  f"not at most {most(function)}"


FUNCTIONS = [function for path in lint.product_files((".c",))
             for function in lint.functions(path)]
lengths = sorted(len(function.lines) for function in FUNCTIONS)
median, ninetieth = (lengths[len(lengths) * part // 100] for part in (50, 90))

report = lint.Report()
report.check("files are short", long_files())
report.check("headers declare little", long_headers())
report.check("functions are short", above(
    lambda f: len(f.lines),
    lambda f: MAIN_LINES if f.name == "main" else FUNCTION_LINES, "lines"))
report.check("functions take few parameters", above(
    lambda f: f.parameters,
    lambda f: 99 if f.name in LIBRARY_CALLBACKS else PARAMETERS,
    "parameters"))
report.check("blocks are not nested deeply", above(
    lambda f: f.nesting, lambda f: NESTING, "blocks in each other"))
report.check("half of the functions and nearly all are shorter still", [
    f"{part}: {got} lines, not at most {most}"
    for part, got, most in (("half", median, MEDIAN_LINES),
                            ("nine of ten", ninetieth, NINETIETH_LINES))
    if got > most])
report.note(f"{len(FUNCTIONS)} functions, half up to {median} lines, nine of "
            f"ten up to {ninetieth}, the longest {lengths[-1]}")
report.end()
