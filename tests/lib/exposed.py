# SPDX-License-Identifier: BSD-2-Clause
"""What the exporter exposes, by its own word, and what in a PromQL expression
does not fit it."""

import os
import re
import subprocess

from programs import build_directory

# What Prometheus adds of its own accord.
TARGET_LABELS = ("job", "instance")
SELECTOR = re.compile(r"\b(postlag_\w+)(?:\{([^}]*)\})?")
MATCHER = re.compile(r'(\w+)(=~|!~|!=|=)"([^"]*)"')


class Series:
    """`kind` is counter, gauge or histogram (of native ones; what they are
    made of in the classic way are counters), `labels` {label: its values}, or
    None for any."""

    def __init__(self, kind, labels):
        self.kind = kind
        self.labels = {**labels, **{label: None for label in TARGET_LABELS}}


def exposed():
    """{name: Series}"""
    text = subprocess.run(
        [os.path.join(build_directory(), "postlag-exporter"), "-m"],
        capture_output=True, text=True, check=True).stdout
    found = {}
    for name, kind, labels in re.findall(
            r"^\| `(postlag_\w+)` \| (\w+) \| (.*?) \|", text, re.MULTILINE):
        values = {label: listed.split(", ") for label, listed in re.findall(
            r"`(\w+)`: ([^;]*)", labels)}
        found[name] = Series(kind, values)
        if kind == "histogram":
            found[f"{name}_bucket"] = Series("counter", {**values, "le": None})
            for part in "count", "sum":
                found[f"{name}_{part}"] = Series("counter", values)
    return found


def faults(expression, known):
    """What it asks for that there is not in `known`, which is exposed()."""
    for name, matchers in SELECTOR.findall(expression):
        if name not in known:
            yield f"there is no {name}"
            continue
        labels = known[name].labels
        for label, _, value in MATCHER.findall(matchers):
            if label not in labels:
                yield f"{name} has no label {label}"
            elif labels[label] is not None and not set(
                    value.split("|")) <= set(labels[label]):
                yield f"{label} of {name} is never {value}"
