# SPDX-License-Identifier: BSD-2-Clause
"""Alert rules under a clock of their own: `promtool test rules` on two hosts,
one of which something happens to.

    tester = RuleTester()
    tester.check(Scenario(
        {'postlag_recipients{state="lost"}': at((0, 0), (10, 1))},
        firing={5: [], 10: [alert("PostlagMailLost", state="lost")]}))

Time is in minutes. Every series of an exporter without mail is there, for both
hosts, but for those that the scenario gives the first one.
"""

import json
import os
import re
import subprocess

import yaml

RULES = "packaging/prometheus/postlag.rules.yml"
FAMILIES = "tests/exporter/families.golden"
HOST, OTHER = "mx1.example:9154", "mx2.example:9154"
MINUTE = 60

# What is not 0 of an exporter that has nothing to do.
IDLE = {
    'postlag_source_last_event_timestamp_seconds{source="milter"}':
        lambda minute: MINUTE * minute,
    'postlag_source_last_event_timestamp_seconds{source="lmtp"}':
        lambda minute: MINUTE * minute,
    'postlag_loss_detection{state="on"}': lambda minute: 1,
    'postlag_disk_available_bytes{directory="journal"}':
        lambda minute: 50 << 30,
    'postlag_disk_available_bytes{directory="store"}':
        lambda minute: 50 << 30,
    'postlag_build_info{version="1"}': lambda minute: 1,
    'up': lambda minute: 1,
}


def read_rules():
    """{name: rule} of all alerts."""
    with open(RULES, encoding="utf-8") as file:
        groups = yaml.safe_load(file)["groups"]
    return {rule["alert"]: rule for group in groups for rule in group["rules"]}


def quick_rules():
    """The rules' text; minutes that an alert has to last are seconds."""
    with open(RULES, encoding="utf-8") as file:
        text = file.read()
    text = text.replace("for: 1h", "for: 60m")
    return re.sub(r"\bfor: (\d+)m\b", r"for: \1s", text)


def families_in(expression):
    """The families that an expression asks for."""
    names = re.findall(r"\bpostlag_\w+", expression)
    return {re.sub(r"_(bucket|count)$", "", name) for name in names}


def at(*values):
    """A series that has each value from its minute on: (minute, value)."""
    def value_at(minute):
        return [value for since, value in values if since <= minute][-1]
    return value_at


def growing(*rates):
    """A counter that grows by so much a minute from each minute on."""
    def value_at(minute):
        return sum(rate * (min(minute, until) - since)
                   for (since, rate), until in zip(
                       rates, [since for since, _ in rates[1:]] + [minute])
                   if since < minute)
    return value_at


def alert(name, instance=HOST, **labels):
    """The labels of one that fires."""
    if instance:
        labels.update(instance=instance, job="postlag")
    return {"alertname": name, **labels}


class Scenario:
    def __init__(self, series=None, *, firing, says=None, away=(), hosts=None,
                 step=1):
        """`series` are {name with labels: function of the minute}; `firing` is
        {minute: [alert(...)]}, complete; `says` are the summaries at the first
        minute at which anything fires. In `away`, (first, end), the first
        host's exporter does not answer. `hosts` are those that are asked,
        each `step` minutes."""
        self.series = series or {}
        self.firing = firing
        self.says = says
        self.away = away
        self.hosts = [HOST, OTHER] if hosts is None else hosts
        self.step = step
        self.minutes = range(0, max(firing) + 1, step)


class RuleTester:
    def __init__(self):
        self.rules = read_rules()
        wanted = set().union(*(families_in(rule["expr"])
                               for rule in self.rules.values()))
        self.idle = {**self._zeros(wanted), **IDLE}

    @staticmethod
    def _zeros(wanted):
        with open(FAMILIES, encoding="utf-8") as file:
            names = [line.strip() for line in file if line[0] != "#"]
        names = [name for name in names
                 if families_in(name.partition("{")[0]) & wanted
                 and not name.startswith("postlag_build_info")]
        names += [f'postlag_delivery_latency_seconds_bucket{{'
                  f'route="inbound",le="{le}"}}'
                  for le in ("1", "60", "300", "+Inf")]
        return {name: lambda minute: 0 for name in names}

    def check(self, scenario, directory):
        """Returns what is wrong, as promtool says it; empty if nothing is."""
        path = os.path.join(directory, "test.yml")
        with open(path, "w", encoding="utf-8") as out:
            json.dump(self._document(scenario), out)
        done = subprocess.run(["promtool", "test", "rules", path],
                              capture_output=True, text=True, check=False)
        return "" if done.returncode == 0 else done.stdout + done.stderr

    def _document(self, scenario):
        test = {
            "interval": f"{scenario.step}m",
            "input_series": [
                series for host in scenario.hosts
                for series in self._host(scenario, host)],
            "promql_expr_test": [
                {"expr": 'ALERTS{alertstate="firing"}',
                 "eval_time": f"{minute}m",
                 "exp_samples": [{"labels": self._sample(labels), "value": 1}
                                 for labels in alerts]}
                for minute, alerts in scenario.firing.items()],
            "alert_rule_test": list(self._texts(scenario)),
        }
        return {"rule_files": [os.path.abspath(RULES)],
                "evaluation_interval": f"{scenario.step}m",
                "tests": [test]}

    def _host(self, scenario, host):
        first = host == scenario.hosts[0]
        known = {**self.idle, **(scenario.series if first else {})}
        for name, value_at in known.items():
            values = [self._value(scenario, first, name, value_at, minute)
                      for minute in scenario.minutes]
            yield {"series": with_labels(name, instance=host, job="postlag"),
                   "values": " ".join(values)}

    @staticmethod
    def _value(scenario, first, name, value_at, minute):
        begin, end = scenario.away if first and scenario.away else (0, 0)
        if not begin <= minute < end:
            value = value_at(minute)
            return "_" if value is None else repr(float(value))
        if name == "up":
            return "0"
        return "stale" if minute == begin else "_"

    def _sample(self, labels):
        severity = self.rules[labels["alertname"]]["labels"]["severity"]
        return with_labels("ALERTS", alertstate="firing", severity=severity,
                           **labels)

    def _texts(self, scenario):
        if scenario.says is None:
            return
        minute = min(minute for minute, alerts in scenario.firing.items()
                     if alerts)
        for labels, summary in zip(scenario.firing[minute], scenario.says,
                                   strict=True):
            rule = self.rules[labels["alertname"]]
            expected = {name: value for name, value in labels.items()
                        if name != "alertname"}
            yield {"eval_time": f"{minute}m",
                   "alertname": labels["alertname"],
                   "exp_alerts": [{
                       "exp_labels": {**rule["labels"], **expected},
                       "exp_annotations": {**rule["annotations"],
                                           "summary": summary}}]}


def with_labels(name, **labels):
    """The series' name with these labels among its own."""
    stem, _, own = name.partition("{")
    further = [f'{label}="{value}"' for label, value in sorted(labels.items())]
    return stem + "{" + ",".join([own.rstrip("}")] * bool(own) + further) + "}"
