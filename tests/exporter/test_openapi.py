# SPDX-License-Identifier: BSD-2-Clause
"""packaging/openapi.json against the running server: every path, argument,
status and member that there is, and no others."""

import json
import os
import re
import unittest
import urllib.parse

import tap
from exporter_alone import ExporterAlone
from openapi import ROOT, Schema, document


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


class OpenApi(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.document = document()
        cls.schema = Schema(cls.document)
        cls.alone = ExporterAlone()
        cls.addClassCleanup(cls.alone.__exit__, None)
        cls.alone.message("a", "Q1", "u1@example.test", "u2@example.test",
                          "u3@example.test")
        cls.alone.delivery("a", "Q1", "u1@example.test=250",
                           "u2@example.test=550", "u3@example.test=451")
        cls.alone.message("b", "Q2", "u1@example.test")
        cls.alone.wait_for("postlag_recipient_outcomes_total", 1,
                           outcome="bounced")
        cls.alone.wait_for("postlag_messages_accepted_total", 2)

    def ask(self, path, wanted, key=None, **arguments):
        """Compares an answer with what the document says of it."""
        operation = self.document["paths"][path]["get"]
        for name in arguments:
            self.assertIn(name, [p["name"] for p in operation["parameters"]])
        url = path.replace("{key}", urllib.parse.quote(key or "", safe=""))
        if arguments:
            url += "?" + urllib.parse.urlencode(arguments)
        status, headers, body = self.alone.request(url)
        self.assertEqual(status, wanted, (url, body))
        content = operation["responses"][str(status)]["content"]
        self.assertIn(headers["Content-Type"], content)
        answer = json.loads(body)
        self.assertEqual(list(self.schema.faults(
            content[headers["Content-Type"]]["schema"], answer, url)), [])
        return answer

    def test_every_path_is_documented_and_no_other(self):
        served = set(re.findall(r'\{"(/api/[^"]*)", (?:true|false),',
                                read("exporter/serve/routes.c")))
        self.assertEqual({path.replace("{key}", "")
                          for path in self.document["paths"]}, served)

    def test_every_argument_is_documented_and_no_other(self):
        source = read("exporter/serve/routes.c")
        bodies = dict(re.findall(r"^(\w+)\((?:const|void).*?^\{(.*?)^\}",
                                 source, re.M | re.S))
        served = re.findall(r'\{"(/api/[^"]*)", (?:true|false), (\w+)\}',
                            source)
        self.assertEqual(len(served), len(self.document["paths"]))
        for path, handler in served:
            body = bodies[handler]
            if "take_period(" in body:
                body += bodies["take_period"]
            operation = next(
                item["get"] for name, item in self.document["paths"].items()
                if name.replace("{key}", "") == path)
            self.assertEqual(
                sorted(re.findall(r'take\(request, "(\w+)"', body)),
                sorted(parameter["name"]
                       for parameter in operation["parameters"]
                       if parameter["in"] == "query"), path)

    def messages(self, **question):
        """Of all pages: one has what was found in 100 ms."""
        page = self.ask("/api/v1/messages", 200, **question)
        found = page["messages"]
        while page["next"] is not None:
            page = self.ask("/api/v1/messages", 200, **question,
                            before=page["next"])
            found += page["messages"]
        return found

    def test_answers_are_as_documented(self):
        self.assertEqual(len(self.messages()), 2)
        self.assertEqual(len(self.messages(q="u2@", limit="1")), 1)
        page = self.ask("/api/v1/messages", 200, limit="1")
        self.ask("/api/v1/messages", 200, limit="1", before=page["next"])
        self.ask("/api/v1/messages", 400, q="form:x")
        self.ask("/api/v1/messages", 400, limit="x")
        self.ask("/api/v1/messages", 414, q="x" * 2000)
        self.ask("/api/v1/messages/{key}", 200, key="Q1")
        self.ask("/api/v1/messages/{key}", 404, key="Q3")
        self.ask("/api/v1/messages/{key}", 414, key="x" * 1500)
        self.ask("/api/v1/latency", 200)
        self.ask("/api/v1/latency", 200, phase="queue", since="2h",
                 until="1m", step="5m", cells="1")
        self.ask("/api/v1/latency", 200, route="inbound")
        self.ask("/api/v1/latency", 200, host="mx.test", relay="x", step="1h")
        self.ask("/api/v1/latency", 200, provider="example.test")
        self.ask("/api/v1/latency", 400, route="x")
        self.ask("/api/v1/latency", 414, since="x" * 2000)
        for kind in "host", "relay", "provider":
            self.ask("/api/v1/labels", 200, by=kind)
        self.ask("/api/v1/labels", 400, by="x")
        self.ask("/api/v1/labels", 414, by="x" * 2000)
        self.ask("/api/v1/outcomes", 200)
        self.ask("/api/v1/outcomes", 200, since="2h", until="1m", step="5m")
        self.ask("/api/v1/outcomes", 400, step="1s")
        self.ask("/api/v1/outcomes", 414, until="x" * 2000)
        found = self.ask("/api/v1/pseudonym", 200, local="alice")["pseudonym"]
        self.assertEqual(self.ask("/api/v1/pseudonym", 200, local="alice"),
                         {"pseudonym": found})
        self.assertNotEqual(self.ask("/api/v1/pseudonym", 200, local="bob"),
                            {"pseudonym": found})
        self.ask("/api/v1/pseudonym", 400, local="")
        self.ask("/api/v1/pseudonym", 414, local="x" * 2000)
        self.ask("/api/v1/summary", 200)

    def test_an_unreadable_store_is_as_documented(self):
        os.rename(self.alone.store, self.alone.store + ".away")
        try:
            for path in ("/api/v1/messages", "/api/v1/latency",
                         "/api/v1/outcomes"):
                self.ask(path, 503)
            self.ask("/api/v1/labels", 503, by="host")
            self.ask("/api/v1/messages/{key}", 503, key="Q1")
            self.ask("/api/v1/pseudonym", 404, local="alice")
        finally:
            os.rename(self.alone.store + ".away", self.alone.store)

    def test_the_messages_tried_have_every_part(self):
        """What no answer had was not compared"""
        for key in ("Q1", "Q2"):
            self.ask("/api/v1/messages/{key}", 200, key=key)
        for name in ("Recipient", "Leg", "LegRecipient", "Reply", "Client",
                     "Phase", "State"):
            self.assertIn(name, self.schema.used)


tap.main()
