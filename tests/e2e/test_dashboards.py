# SPDX-License-Identifier: BSD-2-Clause
"""Grafana's dashboards on what a real Prometheus kept of real mail, in classic
and in native histograms (issue 5, must show 5)."""

import contextlib
import math
import re
import time
import unittest

import tap
import yaml
from browser import Browser
from dashboards import (SOURCE, fill, histogram_kinds, queries,
                        read_dashboards, variables)
from exposed import exposed
from loss_stack import LossStack
from prometheus import Prometheus
from smtp_client import SmtpClient
from waiting import wait_until

BODY = "From: <sender@direct.test>\r\nSubject: test\r\n\r\nhello\r\n"
JOB = "postlag"
# From here to a mailbox here.
ROUTE = "internal"
FEATURES = {"classic": ["exemplar-storage"],
            "native": ["exemplar-storage", "native-histograms"]}
# What the large numbers have to say, and which series of others have to rise.
NUMBERS = {"In flight": 0, "Deferred": 1, "Held": 1, "Lost": 1,
           "Not known": 0, "Looking for losses": 1, "Exporters down": 0}
RISING = {"Outcomes": {"delivered", "lost"},
          "Losses": {"lost"},
          "Lost and not known now": {"lost"},
          "In the queue": {"deferred", "held"},
          "LMTP attempts": {"delivered"}}


class View:
    """A dashboard as it is with one kind of histograms chosen."""

    def __init__(self, dashboard, kind, prometheus, values):
        self.name = f"{dashboard['uid']}, {kind}"
        self.prometheus = prometheus
        self.values = values
        self.variables = variables(dashboard)
        self.queries = [(f"{self.name}: {panel['title']}", panel, target)
                        for panel, target in queries(dashboard)]

    def fill(self, text):
        return fill(text, self.values)

    def answer(self, target):
        """[(labels, numbers)] as Grafana would ask for them."""
        expression = self.fill(target["expr"])
        if target.get("instant"):
            return [(labels, [number]) for labels, number
                    in self.prometheus.query(expression)]
        return self.prometheus.course(expression)


def legend_of(target, labels):
    return re.sub(r"{{(\w+)}}", lambda found: labels[found[1]],
                  target["legendFormat"])


class Dashboards(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.began = time.time()
        cls.stack = LossStack()
        cls.stack.start()
        cls.addClassCleanup(cls.stack.stop)
        cls.instance = f"127.0.0.1:{cls.stack.http_port}"
        cls.prometheus = {}
        with contextlib.ExitStack() as running:
            for kind, features in FEATURES.items():
                cls.prometheus[kind] = running.enter_context(
                    Prometheus(cls.stack.http_port, *features))
                # What increases is seen before it does.
                cls.prometheus[kind].wait_for("up", 1)
            cls.addClassCleanup(running.pop_all().close)
        cls.make_mail()
        for one in cls.prometheus.values():
            for state in "lost", "deferred", "held":
                one.wait_for(f'postlag_recipients{{state="{state}"}}', 1)
            one.wait_for('postlag_recipients{state="delivered"}', 20)
        cls.views = [
            View(dashboard, kind, cls.prometheus[kind], {
                "job": JOB, "instance": cls.instance, "route": ROUTE,
                "histograms": value, "__rate_interval": "5m"})
            for dashboard in read_dashboards()
            for kind, value in histogram_kinds(dashboard).items()]
        # (where, panel, target, what the query returns)
        cls.answers = [(where, panel, target, view.answer(target))
                       for view in cls.views
                       for where, panel, target in view.queries]

    @classmethod
    def make_mail(cls):
        for number in range(20):
            cls.send(f"u{number}@example.test")
        lost, _ = cls.send("u1@down.test"), cls.send("u2@down.test")
        cls.send("u3@example.test", listener="hold")
        cls.stack.wait_in("deferred", lost)
        wait_until(lambda: cls.state(lost) == "deferred", "it to be deferred",
                   60)
        cls.stack.lose(lost)
        wait_until(lambda: cls.state(lost) == "lost", "it to be lost", 60)

    @classmethod
    def send(cls, recipient, listener=None):
        with SmtpClient(cls.stack.address(listener)) as client:
            client.command("EHLO client.example.test", 2)
            code, text = client.message("sender@direct.test", [recipient],
                                        BODY)
            client.quit()
        assert code == 250, text
        return text.split()[-1]

    @classmethod
    def state(cls, queue_id):
        found = cls.stack.message(queue_id)
        return found and found["messages"][0]["recipients"][0]["state"]

    def test_every_query_returns_data(self):
        """Case 32."""
        empty = [
            f"{where}: {target['expr']}"
            for where, _, target, found in self.answers
            if not any(math.isfinite(number)
                       for _, numbers in found for number in numbers)]
        self.assertEqual(empty, [])

    def test_every_phase_and_the_heatmaps_have_seen_mail(self):
        phases = set(exposed()["postlag_phase_seconds"].labels["phase"])
        for where, panel, target, found in self.answers:
            if "postlag_phase_" in target["expr"]:
                self.assertEqual(
                    {labels["phase"] for labels, numbers in found
                     if any(number >= 0 for number in numbers)},
                    phases, where)
            if panel["type"] == "heatmap":
                self.assertTrue(any(
                    number > 0 for _, numbers in found
                    for number in numbers), where)

    def test_what_happened_is_shown(self):
        shown, rising = {}, {}
        for where, panel, target, found in self.answers:
            title = panel["title"]
            if title in NUMBERS and panel["type"] == "stat":
                self.assertEqual(found[0][1][-1], NUMBERS[title], where)
                shown[title] = NUMBERS[title]
            elif title in RISING:
                rising.setdefault(where, (title, set()))[1].update(
                    legend_of(target, labels) for labels, numbers in found
                    if max(numbers) > 0)
        self.assertEqual(shown, NUMBERS)
        self.assertEqual({title for title, _ in rising.values()}, set(RISING))
        for where, (title, series) in rising.items():
            self.assertLessEqual(RISING[title], series, where)

    def test_variables_offer_what_there_is(self):
        routes = exposed()["postlag_delivery_latency_seconds"].labels["route"]
        for view in self.views:
            offered = {}
            for name, one in view.variables.items():
                if one["type"] != "query":
                    continue
                series, label = re.fullmatch(
                    r"label_values\((.*), (\w+)\)", one["query"]).groups()
                offered[name] = view.prometheus.ask(
                    f"label/{label}/values", **{"match[]": view.fill(series)})
            self.assertEqual(offered, {
                "job": [JOB], "instance": [self.instance],
                "route": sorted(routes)}, view.name)

    def points(self, view, target):
        """The exemplars that Grafana asks for beside a query."""
        return [exemplar for series in view.prometheus.ask(
                    "query_exemplars", query=view.fill(target["expr"]),
                    start=self.began, end=time.time())
                for exemplar in series["exemplars"]]

    def test_points_lead_to_messages(self):
        """By the address of the data source's example"""
        with open(f"{SOURCE}/provisioning/datasources/postlag.yml",
                  encoding="utf-8") as file:
            source, = yaml.safe_load(file)["datasources"]
        to_page, = source["jsonData"]["exemplarTraceIdDestinations"]
        ids = set()
        for view in self.views:
            with_points = set()
            for where, panel, target in view.queries:
                if target.get("exemplar"):
                    found = self.points(view, target)
                    self.assertTrue(found, where)
                    with_points.add(panel["type"])
                    ids |= {point["labels"][to_page["name"]]
                            for point in found}
            self.assertEqual(with_points, {"heatmap", "timeseries"})
        # In files of provisioning $$ stands for $.
        url = fill(to_page["url"].replace("$$", "$"),
                   {"__value.raw": ids.pop()})
        with Browser() as browser:
            browser.open(url.replace("127.0.0.1:9154", self.instance))
            browser.wait("h1", "Message")
            browser.wait(".waterfall .group", "@example.test")

    def links(self):
        """Each address that a series leads to on the exporter's page."""
        for _, panel, target, found in self.answers:
            for link in panel["fieldConfig"]["defaults"].get("links", []):
                for labels, _ in found:
                    yield fill(link["url"], {
                        "instance": self.instance,
                        **{f"__field.labels.{name}": value
                           for name, value in labels.items()}})

    def test_links_lead_to_what_the_page_knows(self):
        asked = set()
        for url in self.links():
            page, view = url.split("#/")
            self.assertEqual(page, f"http://{self.instance}/")
            path, query = view.split("?")
            asked.add("/api/v1/" + {"search": "messages", "": "latency"}[path]
                      + f"?{query}")
        self.assertIn("/api/v1/messages?q=status:lost", asked)
        self.assertIn("/api/v1/latency?phase=queue", asked)
        for path in asked:
            status, text = self.stack.get(path)
            self.assertEqual(status, 200, text)


tap.main()
