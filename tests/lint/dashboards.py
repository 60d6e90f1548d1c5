#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Dashboards for Grafana are what make_dashboards.py makes, and keep the rules
of the house."""

import json
import re
import sys

import yaml

sys.path[:0] = ["tests/lib", "packaging/grafana"]
sys.dont_write_bytecode = True
import lint  # noqa: E402
import make_dashboards  # noqa: E402
from dashboards import (SOURCE, fill, histogram_kinds, names_in,  # noqa: E402
                        panels, queries, read_dashboards, variables)
from exposed import exposed, faults  # noqa: E402

DATA_SOURCE = {"type": "prometheus", "uid": "${datasource}"}
VARIABLES = ["datasource", "job", "instance", "route", "histograms"]
COLUMNS = 24
RATE = "$__rate_interval"
SELECTOR = re.compile(r"\b(postlag_\w+|up)\{([^}]*)\}")


def name_of(dashboard, panel):
    return f"{dashboard['uid']}: {panel.get('title') or panel.get('id')}"


def all_panels():
    for dashboard in DASHBOARDS:
        for panel in panels(dashboard):
            yield name_of(dashboard, panel), panel


def all_queries():
    for dashboard in DASHBOARDS:
        for panel, target in queries(dashboard):
            yield name_of(dashboard, panel), target


def filled_queries():
    """(name, query without variables) with each kind of histograms."""
    routes = "|".join(KNOWN["postlag_delivery_latency_seconds"].labels["route"])
    for dashboard in DASHBOARDS:
        for kind in histogram_kinds(dashboard).values():
            values = {"histograms": kind, "route": routes, "job": "job",
                      "instance": "instance", "__rate_interval": "1m"}
            for panel, target in queries(dashboard):
                yield name_of(dashboard, panel), fill(target["expr"], values)


def generated():
    for path, text in make_dashboards.files().items():
        with open(path, encoding="utf-8") as file:
            if file.read() != text:
                yield f"{path} differs: run python3 " \
                      "packaging/grafana/make_dashboards.py"
    if len(make_dashboards.files()) != len(DASHBOARDS):
        yield "there are dashboards that make_dashboards.py does not make"


def undescribed():
    for name, panel in all_panels():
        if not panel.get("title"):
            yield f"{name}: no title"
        if not re.fullmatch(r"[A-Z0-9].*\.", panel.get("description", "")):
            yield f"{name}: its description is no sentence"
        if not panel["fieldConfig"]["defaults"].get("unit") \
                and not panel["options"].get("yAxis", {}).get("unit"):
            yield f"{name}: no unit"
        if not panel["targets"]:
            yield f"{name}: no query"


def twice(values, what):
    for value in {value for value in values if values.count(value) > 1}:
        yield f"{what} {value} is there twice"


def not_unique():
    yield from twice([one["uid"] for one in DASHBOARDS], "uid")
    yield from twice([one["title"] for one in DASHBOARDS], "dashboard")
    for dashboard in DASHBOARDS:
        uid = dashboard["uid"]
        yield from twice([one.get("id") for one in dashboard["panels"]],
                         f"{uid}: panel")
        yield from twice([one["title"] for one in dashboard["panels"]
                          if one["type"] != "row"], f"{uid}: title")
        if dashboard["id"] is not None:
            yield f"{uid}: its id is some Grafana's own"
    for name, panel in all_panels():
        yield from twice([one["refId"] for one in panel["targets"]],
                         f"{name}: query")


def places():
    for dashboard in DASHBOARDS:
        taken = {}
        for panel in dashboard["panels"]:
            name, grid = name_of(dashboard, panel), panel["gridPos"]
            if grid["x"] + grid["w"] > COLUMNS or min(grid.values()) < 0:
                yield f"{name}: sticks out"
            for place in ((x, y) for x in range(grid["x"],
                                                grid["x"] + grid["w"])
                          for y in range(grid["y"], grid["y"] + grid["h"])):
                if taken.setdefault(place, name) != name:
                    yield f"{name}: lies on {taken[place]}"
                    break


def data_sources():
    """Every data source that is named, wherever."""
    def named(value):
        if isinstance(value, dict):
            if "datasource" in value:
                yield value["datasource"]
            for part in value.values():
                yield from named(part)
        elif isinstance(value, list):
            for part in value:
                yield from named(part)
    for dashboard in DASHBOARDS:
        for found in named(dashboard):
            if found != DATA_SOURCE:
                yield f"{dashboard['uid']}: names the data source {found}"
    for name, target in all_queries():
        if "datasource" not in target:
            yield f"{name}: a query without data source"


def variable_faults():
    for dashboard in DASHBOARDS:
        uid, defined = dashboard["uid"], list(variables(dashboard))
        if defined != VARIABLES:
            yield f"{uid}: its variables are {defined}"
        used = {name for name in names_in(json.dumps(dashboard))
                if not name.startswith("__")}
        for name in used ^ set(defined):
            yield f"{uid}: ${name} is not both defined and used"
        for one in variables(dashboard).values():
            if not one.get("label"):
                yield f"{uid}: ${one['name']} has no label"
            if one["type"] == "query" and one["refresh"] != 2:
                yield f"{uid}: ${one['name']} stays when the time changes"


def unknown_metrics():
    for name, expression in filled_queries():
        for fault in faults(expression, KNOWN):
            yield f"{name}: {fault}"


def grouped_by(expression):
    return {label for listed in re.findall(r"\bby \(([^)]*)\)", expression)
            for label in listed.split(", ")}


def unknown_labels():
    for name, expression in filled_queries():
        # Native histograms have no le, and none is missing.
        have = {"le"}.union(*(KNOWN[metric].labels for metric, _ in
                              SELECTOR.findall(expression) if metric in KNOWN))
        for label in grouped_by(expression) - have:
            yield f"{name}: groups by {label}, which there is not"


def unselected():
    for name, expression in filled_queries():
        selectors = SELECTOR.findall(expression)
        for metric, matchers in selectors:
            for label in "job", "instance":
                if not re.search(rf'\b{label}=~?"{label}"', matchers):
                    yield f"{name}: {metric} of every {label}"
        if len(re.findall(r"\b(?:postlag_\w+|up)\b", expression)) \
                != len(selectors):
            yield f"{name}: a metric of which nothing is selected"


def rates():
    for name, target in all_queries():
        for interval in re.findall(r"\[([^]]*)\]", target["expr"]):
            if interval != RATE:
                yield f"{name}: over {interval}, not {RATE}"
    for name, expression in filled_queries():
        for function, metric in re.findall(
                r"(?:(\w+)\()?\b(postlag_\w+)\{", expression):
            kind = KNOWN[metric].kind if metric in KNOWN else "unknown"
            if (function in ("rate", "increase")) != (kind != "gauge"):
                yield f"{name}: {function}() of the {kind} {metric}"


def told_apart(target):
    """What of its query a legend does not say, or says and cannot know."""
    labels = grouped_by(target["expr"])
    if "histogram_quantile" in target["expr"]:
        labels -= {"le"}
    return labels ^ set(re.findall(r"{{(\w+)}}", target["legendFormat"]))


def legends():
    for name, panel in all_panels():
        if panel["type"] == "table":
            continue
        for target in panel["targets"]:
            if not target.get("legendFormat", "").strip("_"):
                yield f"{name}: a query without legend"
            elif told_apart(target):
                yield f"{name}: by its query, not by its legend, or the " \
                      f"other way round: {told_apart(target)}"
        yield from twice([target.get("legendFormat") for target
                          in panel["targets"]], f"{name}: legend")
        if panel["type"] in ("timeseries", "state-timeline") \
                and not panel["options"]["legend"]["showLegend"]:
            yield f"{name}: its legend is not shown"


def links():
    """From one dashboard to another: it is there, and has the variables."""
    have = {one["uid"]: variables(one) for one in DASHBOARDS}
    for dashboard in DASHBOARDS:
        for uid, query in re.findall(r'"/d/([^?"]*)\?([^"]*)"',
                                     json.dumps(dashboard)):
            given = re.findall(r"\bvar-(\w+)=|\{(\w+):queryparam\}", query)
            if uid not in have:
                yield f"{dashboard['uid']}: leads to {uid}, which there is not"
            elif missing := {a or b for a, b in given} - set(have[uid]):
                yield f"{dashboard['uid']}: {uid} has no {missing}"


def example():
    """The data source is the Prometheus of the other example."""
    with open(f"{SOURCE}/provisioning/datasources/postlag.yml",
              encoding="utf-8") as file:
        source, = yaml.safe_load(file)["datasources"]
    with open("packaging/prometheus/prometheus.yml", encoding="utf-8") as file:
        prometheus = yaml.safe_load(file)
    job, = prometheus["scrape_configs"]
    target, = job["static_configs"][0]["targets"]
    interval = prometheus["global"]["scrape_interval"]
    if source["jsonData"]["timeInterval"] != interval:
        yield f"its timeInterval is not {interval}"
    for to_page in source["jsonData"]["exemplarTraceIdDestinations"]:
        if not to_page["url"].startswith(f"http://{target}/#/message/"):
            yield f"{to_page['url']} is not a message on {target}"


DASHBOARDS = read_dashboards()
KNOWN = exposed()
report = lint.Report()
for what, found in (
        ("dashboards are what make_dashboards.py makes", generated()),
        ("panels say what they are about, and in which unit", undescribed()),
        ("ids, titles and queries are there once", not_unique()),
        ("panels do not lie on each other", places()),
        ("no data source but the variable", data_sources()),
        ("variables are defined and used", variable_faults()),
        ("queries ask for metrics, labels and values that there are",
         unknown_metrics()),
        ("queries group by labels that there are", unknown_labels()),
        ("queries are of the chosen jobs and instances", unselected()),
        ("counters, and only they, in rates over the rate interval", rates()),
        ("legends tell the series apart", legends()),
        ("links lead to dashboards that there are", links()),
        ("the data source's example fits Prometheus' example", example())):
    report.check(what, found)
report.note(f"{len(DASHBOARDS)} dashboards, "
            f"{sum(1 for _ in all_panels())} panels, "
            f"{sum(1 for _ in all_queries())} queries")
report.end()
