# SPDX-License-Identifier: BSD-2-Clause
"""The dashboards as Grafana reads them, and what it makes of their variables.

    for dashboard in read_dashboards():
        for panel, target in queries(dashboard):
            fill(target["expr"], {"job": "postlag", ...})
"""

import glob
import json
import re

SOURCE = "packaging/grafana"
# $name, ${name} and ${name:format}, as everywhere in Grafana.
VARIABLE = re.compile(r"\$(?:(\w+)|\{([\w.]+)(?::\w+)?\})")


def read_dashboards():
    return [json.load(open(path, encoding="utf-8"))
            for path in sorted(glob.glob(f"{SOURCE}/dashboards/*.json"))]


def variables(dashboard):
    """{name: its model}"""
    return {one["name"]: one for one in dashboard["templating"]["list"]}


def panels(dashboard):
    """All but the headings of rows."""
    return [panel for panel in dashboard["panels"] if panel["type"] != "row"]


def queries(dashboard):
    """[(panel, target)]"""
    return [(panel, target) for panel in panels(dashboard)
            for target in panel["targets"]]


def names_in(text):
    """The variables that a text names, Grafana's own (__...) too."""
    return [first or second for first, second in VARIABLE.findall(text)]


def fill(text, values):
    """With the variables' values in it. What has none is an error."""
    return VARIABLE.sub(lambda found: values[found[1] or found[2]], text)


def histogram_kinds(dashboard):
    """{"classic": value of the variable, "native": ...}"""
    return {option["text"]: option["value"] for option
            in variables(dashboard)["histograms"]["options"]}
