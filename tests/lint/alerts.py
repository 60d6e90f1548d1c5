#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Alert rules say what they are about, ask for what there is, and have their
section in the runbook."""

import os
import re
import sys

sys.path.insert(0, "tests/lib")
import lint  # noqa: E402
from exposed import exposed, faults  # noqa: E402
from rule_tester import read_rules  # noqa: E402

RUNBOOK = "packaging/prometheus/runbook.md"
TESTS = "tests/exporter/test_alerts.py"
TEXTS = ("summary", "description", "runbook_url")


def sections():
    with open(RUNBOOK, encoding="utf-8") as file:
        text = file.read()
    return {title: body.strip() for title, body in re.findall(
        r"^## (.*)\n((?:(?!## ).*\n)*)", text, re.MULTILINE)}


def incomplete():
    for name, rule in RULES.items():
        if not re.fullmatch(r"Postlag[A-Z]\w*", name):
            yield f"{name}: not called Postlag..."
        if rule.get("labels", {}).get("severity") not in ("critical",
                                                          "warning"):
            yield f"{name}: neither critical nor a warning"
        texts = rule.get("annotations", {})
        for text in TEXTS:
            if not texts.get(text):
                yield f"{name}: no {text}"
        if not texts.get("description", "").endswith("."):
            yield f"{name}: its description is no sentence"


def unknown_metrics():
    known = exposed()
    for name, rule in RULES.items():
        for fault in faults(rule["expr"], known):
            yield f"{name}: {fault}"


def one_sided():
    """Prometheus has a histogram in classic buckets, or as a native one, or
    both, by its configuration."""
    histograms = {name.removesuffix("_bucket") for name in exposed()
                  if name.endswith("_bucket")}
    for name, rule in RULES.items():
        asked = set(re.findall(r"\bpostlag_\w+", rule["expr"]))
        for histogram in histograms:
            classic = asked & {f"{histogram}_{part}"
                               for part in ("bucket", "count", "sum")}
            if bool(classic) != (histogram in asked):
                yield f"{name}: asks for {histogram} in one form only"


def runbook():
    have = sections()
    if list(have) != list(RULES):
        yield "its sections are not the alerts, in their order: " \
              f"{sorted(set(have) ^ set(RULES))}"
    for name, rule in RULES.items():
        wanted = f"{os.path.basename(RUNBOOK)}#{name.lower()}"
        if rule.get("annotations", {}).get("runbook_url") != wanted:
            yield f"{name}: its runbook_url is not {wanted}"
    for name, body in have.items():
        if len(body) < 80:
            yield f"{name}: nothing in its section"
        for other in re.findall(r"\bPostlag[A-Z]\w*", body):
            if other not in RULES:
                yield f"{name}: speaks of {other}, which is no alert"


def untested():
    with open(TESTS, encoding="utf-8") as file:
        text = file.read()
    for name in RULES:
        if f'alert("{name}"' not in text:
            yield f"{name}: does not come in {TESTS}"


RULES = read_rules()
report = lint.Report()
report.check("alerts say what they are about", incomplete())
report.check("alerts ask for metrics and labels that there are",
             unknown_metrics())
report.check("alerts ask for histograms in both forms", one_sided())
report.check("each alert has a section in the runbook, each section an alert",
             runbook())
report.check("each alert comes in a test", untested())
report.note(f"{len(RULES)} alerts")
report.end()
