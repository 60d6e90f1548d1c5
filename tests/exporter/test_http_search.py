# SPDX-License-Identifier: BSD-2-Clause
"""Searches through the API: pages, and what is said of what cannot be read."""

import json
import unittest
import urllib.parse

import tap
from exporter_alone import ExporterAlone

MESSAGES = 25


class Search(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.alone = ExporterAlone()
        cls.addClassCleanup(cls.alone.__exit__, None)
        for number in range(MESSAGES):
            to = f"u{number % 5}@example.test"
            cls.alone.message(f"m{number}", f"Q{number}", to, "z@other.test")
            if number % 2 == 0:
                cls.alone.delivery(f"m{number}", f"Q{number}", f"{to}=250",
                                   "z@other.test=550")
        cls.alone.wait_for("postlag_messages_accepted_total", MESSAGES)
        cls.alone.wait_for("postlag_recipient_outcomes_total",
                           (MESSAGES + 1) // 2, outcome="bounced")

    def ask(self, text=None, wanted=200, **more):
        """The answer to a search."""
        if text is not None:
            more["q"] = text
        status, headers, body = self.alone.request(
            "/api/v1/messages?" + urllib.parse.urlencode(more))
        self.assertEqual(status, wanted, body)
        self.assertEqual(headers["Content-Type"], "application/json")
        return json.loads(body)

    def queue_ids(self, answer):
        return [message["queue_id"] for message in answer["messages"]]

    def test_the_newest_come_first_and_recipients_meant_are_named(self):
        answer = self.ask("to:U3@example.test status:delivered")
        self.assertEqual(self.queue_ids(answer), ["Q18", "Q8"])
        self.assertIsNone(answer["next"])
        self.assertNotIn("incomplete", answer)
        for message in answer["messages"]:
            self.assertEqual(message["matched"], [0])
        answer = self.ask("queue:Q4 other.test")
        self.assertEqual(answer["messages"][0]["matched"], [1])

    def test_pages_put_together_are_the_whole(self):
        found, more = [], {}
        while True:
            answer = self.ask("other.test", limit=7, **more)
            found += self.queue_ids(answer)
            if answer["next"] is None:
                break
            more["before"] = answer["next"]
        self.assertEqual(
            found, [f"Q{n}" for n in reversed(range(MESSAGES))])

    def test_without_a_search_everything_is_listed(self):
        self.assertEqual(len(self.ask()["messages"]), MESSAGES)

    def test_nothing_found_is_an_empty_page(self):
        self.assertEqual(self.ask("to:nobody@example.test"),
                         {"messages": [], "next": None})

    def test_an_error_says_where_it_is(self):
        """case: search errors point at the word"""
        self.assertEqual(
            self.ask("to:a statsu:lost", wanted=400),
            {"error": 'no key is called "statsu"; is it status?',
             "at": 5, "size": 6})

    def test_wrong_arguments_are_refused(self):
        for more in ({"limit": "0"}, {"limit": "501"}, {"limit": "x"},
                     {"limit": "-1"}, {"before": "x"}):
            self.assertIn("error", self.ask("a", wanted=400, **more), more)
        self.assertIn("error", self.ask("a" * 1024, wanted=414))
        self.assertIn("error", self.ask("a" * 1010, wanted=400))
        status, _, _ = self.alone.request("/api/v1/messages?q=%zz")
        self.assertEqual(status, 414)

    def test_head_has_no_body(self):
        status, headers, body = self.alone.request(
            "/api/v1/messages?q=to:example.test", method="HEAD")
        self.assertEqual((status, body), (200, b""))
        self.assertGreater(int(headers["Content-Length"]), 0)


tap.main()
