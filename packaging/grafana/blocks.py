# SPDX-License-Identifier: BSD-2-Clause
"""Grafana's dashboard JSON from a few words: queries, panels, rows and
variables. What they show is said elsewhere.

A panel comes with its size only; lay_out() gives it place and number.
"""

DATA_SOURCE = {"type": "prometheus", "uid": "${datasource}"}
COLUMNS = 24
# Grafana 10.
SCHEMA_VERSION = 39


def query(expression, legend, **more):
    return {"datasource": DATA_SOURCE, "editorMode": "code",
            "expr": expression, "legendFormat": legend, "range": True, **more}


def table_query(expression):
    """Of now only, a row for each series."""
    return {"datasource": DATA_SOURCE, "editorMode": "code",
            "expr": expression, "format": "table", "instant": True,
            "range": False}


def link(title, url):
    return {"title": title, "url": url, "targetBlank": True}


def steps(*colors):
    """Thresholds: the first colour, then (value, colour) pairs."""
    first, *rest = colors
    return {"mode": "absolute", "steps": [
        {"color": first, "value": None},
        *({"color": color, "value": value} for value, color in rest)]}


def words(mapping):
    """Values shown as {value: (text, colour)}."""
    return [{"type": "value", "options": {
        str(value): {"text": text, "color": color, "index": index}
        for index, (value, (text, color)) in enumerate(mapping.items())}}]


def fixed(color):
    return {"mode": "fixed", "fixedColor": color}


def override(name, **properties):
    """Of the field with this name; `custom__x` stands for custom.x."""
    return {"matcher": {"id": "byName", "options": name},
            "properties": [{"id": key.replace("__", "."), "value": value}
                           for key, value in properties.items()]}


def _panel(kind, title, description, queries, size, *, options, defaults,
           overrides=()):
    width, height = size
    return {
        "type": kind,
        "title": title,
        "description": description,
        "datasource": DATA_SOURCE,
        "gridPos": {"w": width, "h": height},
        "targets": [{"refId": chr(ord("A") + number), **target}
                    for number, target in enumerate(queries)],
        "options": options,
        "fieldConfig": {"defaults": defaults, "overrides": list(overrides)},
    }


def _legend(shown_values=()):
    return {"calcs": list(shown_values), "placement": "bottom",
            "displayMode": "table" if shown_values else "list",
            "showLegend": True}


def stat(title, description, expression, unit="short", *, thresholds=None,
         mappings=None, links=(), width=4):
    """The last value, large, its course below it."""
    defaults = {"unit": unit, "color": fixed("text")}
    if links:
        defaults["links"] = list(links)
    if thresholds:
        defaults.update(color={"mode": "thresholds"}, thresholds=thresholds)
    if mappings:
        defaults["mappings"] = mappings
    return _panel(
        "stat", title, description, [query(expression, title)], (width, 4),
        defaults=defaults, options={
            "colorMode": "value",
            "graphMode": "none" if mappings else "area",
            "justifyMode": "auto",
            "orientation": "auto",
            "percentChangeColorMode": "standard",
            "reduceOptions": {"calcs": ["lastNotNull"], "fields": "",
                              "values": False},
            "showPercentChange": False,
            "textMode": "value",
            "wideLayout": True,
        })


def time_series(title, description, queries, unit, *, width=8, height=8,
                stacked=False, bars=False, logarithmic=False, colors=None,
                minimum=0, links=(), values=()):
    """Lines, areas on each other, or bars. `colors` are {series: colour},
    `values` what of each series stands beside its name."""
    scale = {"type": "log", "log": 10} if logarithmic else {"type": "linear"}
    custom = {
        "drawStyle": "bars" if bars else "line",
        "fillOpacity": 70 if stacked or bars else 0,
        "lineWidth": 1,
        "pointSize": 4,
        "scaleDistribution": scale,
        "showPoints": "auto",
        "spanNulls": False,
        "stacking": {"group": "A",
                     "mode": "normal" if stacked or bars else "none"},
    }
    defaults = {"unit": unit, "color": {"mode": "palette-classic"},
                "custom": custom}
    if links:
        defaults["links"] = list(links)
    if minimum is not None and not logarithmic:
        defaults["min"] = minimum
    return _panel(
        "timeseries", title, description, queries, (width, height),
        defaults=defaults,
        overrides=[override(name, color=fixed(color))
                   for name, color in (colors or {}).items()],
        options={"legend": _legend(values),
                 "tooltip": {"mode": "multi", "sort": "desc"}})


def heatmap(title, description, expression, *, width=12, height=9):
    """Of a histogram, classic (by le) or native."""
    return _panel(
        "heatmap", title, description,
        [query(expression, "{{le}}", format="heatmap", exemplar=True)],
        (width, height),
        defaults={"custom": {
            "hideFrom": {"legend": False, "tooltip": False, "viz": False},
            "scaleDistribution": {"type": "linear"}}},
        options={
            "calculate": False,
            "cellGap": 1,
            "cellValues": {"unit": "suffix:/s"},
            "color": {"mode": "scheme", "scheme": "Blues", "fill": "blue",
                      "scale": "exponential", "exponent": 0.5, "steps": 64,
                      "reverse": False},
            "exemplars": {"color": "rgba(255,120,10,0.8)"},
            "filterValues": {"le": 1e-9},
            "legend": {"show": True},
            "rowsFrame": {"layout": "auto"},
            "showValue": "never",
            "tooltip": {"mode": "single", "yHistogram": True},
            "yAxis": {"axisPlacement": "left", "reverse": False, "unit": "s"},
        })


def state_timeline(title, description, queries, mappings, *, width=8,
                   height=8):
    return _panel(
        "state-timeline", title, description, queries, (width, height),
        defaults={"unit": "none", "color": {"mode": "thresholds"},
                  "custom": {"fillOpacity": 70, "lineWidth": 0},
                  "mappings": mappings},
        options={"alignValue": "left", "legend": _legend(),
                 "mergeValues": True, "rowHeight": 0.9, "showValue": "auto",
                 "tooltip": {"mode": "single", "sort": "none"}})


def table(title, description, columns, *, labels, sort_by, height=8):
    """A row for each set of labels that the columns have in common. `columns`
    are (name, expression, override's properties), without a name if only
    their labels are of interest; `labels` are {label: (name, properties)}."""
    named = {f"Value #{chr(ord('A') + number)}": name
             for number, (name, _, _) in enumerate(columns)}
    named |= {label: name for label, (name, _) in labels.items()}
    return _panel(
        "table", title, description,
        [table_query(expression) for _, expression, _ in columns],
        (COLUMNS, height),
        defaults={"unit": "short", "custom": {
            "align": "auto", "cellOptions": {"type": "auto"},
            "inspect": False}},
        overrides=[override(name, **properties) for name, properties in
                   [*labels.values(),
                    *((name, more) for name, _, more in columns)]
                   if properties],
        options={"cellHeight": "sm", "frameIndex": 0, "showHeader": True,
                 "sortBy": [{"displayName": sort_by, "desc": False}]},
    ) | {"transformations": [
        {"id": "merge", "options": {}},
        {"id": "organize", "options": {
            "excludeByName": {"Time": True, **{
                field: True for field, name in named.items() if not name}},
            "renameByName": {
                field: name for field, name in named.items() if name}}},
    ]}


def row(title, panels, repeat=None):
    """A heading and its panels; `repeat` names the variable each of whose
    values has a row of its own."""
    heading = {"type": "row", "title": title, "collapsed": False,
               "panels": [], "gridPos": {"w": COLUMNS, "h": 1}}
    if repeat:
        heading["repeat"] = repeat
    return [heading, *panels]


def lay_out(rows):
    """Panels from left to right, on a new line when one has no room."""
    placed = []
    x = y = height = 0
    for panel in (panel for panels in rows for panel in panels):
        size = panel["gridPos"]
        if x + size["w"] > COLUMNS:
            x, y, height = 0, y + height, 0
        placed.append(panel | {"id": len(placed) + 1, "gridPos": {
            "x": x, "y": y, **size}})
        x += size["w"]
        height = max(height, size["h"])
    return placed


def data_source_variable():
    return {"name": "datasource", "label": "Data source",
            "type": "datasource", "query": "prometheus",
            "hide": 0, "includeAll": False, "multi": False, "options": [],
            "refresh": 1, "regex": "", "skipUrlSync": False}


def query_variable(name, label, values_of, *, many):
    """The values of a label, all of them at first if `many` may be chosen."""
    chosen = {"current": {"selected": True, "text": ["All"],
                          "value": ["$__all"]}} if many else {}
    return {"name": name, "label": label, "type": "query",
            "datasource": DATA_SOURCE, "query": values_of, **chosen,
            "hide": 0, "includeAll": many, "multi": many, "options": [],
            "refresh": 2, "regex": "", "skipUrlSync": False, "sort": 1}


def custom_variable(name, label, description, values):
    """One of {text: value}, the first at first."""
    options = [{"text": text, "value": value, "selected": number == 0}
               for number, (text, value) in enumerate(values.items())]
    return {"name": name, "label": label, "description": description,
            "type": "custom", "current": options[0], "options": options,
            "query": ",".join(f"{text} : {value}"
                              for text, value in values.items()),
            "hide": 0, "includeAll": False, "multi": False,
            "skipUrlSync": False}


def dashboard_link(title, url, *, keep_time):
    """Beside the variables."""
    return {"type": "link", "title": title, "url": url, "tags": [],
            "asDropdown": False, "icon": "external link",
            "includeVars": False, "keepTime": keep_time,
            "targetBlank": not keep_time, "tooltip": ""}


def dashboard(uid, title, description, *, tag, links, variables, rows):
    return {
        "id": None,
        "uid": uid,
        "title": title,
        "description": description,
        "tags": [tag],
        "schemaVersion": SCHEMA_VERSION,
        "editable": True,
        "graphTooltip": 1,
        "refresh": "1m",
        "time": {"from": "now-6h", "to": "now"},
        "timepicker": {},
        "timezone": "browser",
        "annotations": {"list": []},
        "links": links,
        "templating": {"list": variables},
        "panels": lay_out(rows),
    }
