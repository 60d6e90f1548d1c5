# SPDX-License-Identifier: BSD-2-Clause
"""`postlag search`: what it prints of what it finds, and its exit statuses."""

import json
import os
import re
import subprocess
import unittest

import tap
from exporter_alone import ExporterAlone
from programs import program_path

MESSAGES = 12


class Search(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.alone = ExporterAlone()
        cls.addClassCleanup(cls.alone.__exit__, None)
        for number in range(MESSAGES):
            cls.alone.message(f"m{number}", f"Q{number}",
                              f"u{number}@example.test", "z@other.test")
            cls.alone.delivery(f"m{number}", f"Q{number}",
                               f"u{number}@example.test=250",
                               "z@other.test=550")
        cls.alone.wait_for("postlag_recipient_outcomes_total", MESSAGES,
                           outcome="bounced")

    def search(self, *arguments, wanted=0):
        done = subprocess.run(
            [program_path("postlag"), "search", "--store",
             self.alone.store, *arguments],
            capture_output=True, text=True, check=False,
            env={**os.environ, "LC_ALL": "C.UTF-8"})
        self.assertEqual(done.returncode, wanted, done)
        return done

    def test_what_is_found_is_printed_newest_first(self):
        done = self.search("to:other.test", "-queue:Q3")
        self.assertEqual(
            re.findall(r"(?m)^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d  (Q\d+) ",
                       done.stdout),
            [f"Q{n}" for n in reversed(range(MESSAGES)) if n != 3])
        self.assertEqual(done.stderr, "")

    def test_only_the_recipients_meant_are_printed(self):
        done = self.search("queue:Q5", "status:bounced")
        self.assertRegex(done.stdout, r"(?m)^    bounced     z@other\.test")
        self.assertIn("550", done.stdout)
        self.assertNotIn("u5@", done.stdout)
        done = self.search("queue:Q5", "status:delivered")
        self.assertRegex(done.stdout,
                         r"(?m)^    delivered   u5@example\.test, in \d")
        self.assertNotIn("z@", done.stdout)

    def test_pages_go_on_where_the_one_before_ended(self):
        """Options may stand behind the terms; the next page is named"""
        found, more = [], []
        while True:
            done = self.search("other.test", "--limit", "5", *more)
            found += re.findall(r"  (Q\d+) ", done.stdout)
            named = re.search(r"--page (\S+)", done.stderr)
            if not named:
                break
            more = ["--page", named[1]]
        self.assertEqual(found, [f"Q{n}" for n in reversed(range(MESSAGES))])

    def test_json_is_what_the_api_says(self):
        done = self.search("to:u7@example.test", "--json")
        status, _, body = self.alone.request(
            "/api/v1/messages?q=to:u7@example.test")
        self.assertEqual(status, 200)
        self.assertEqual(json.loads(done.stdout), json.loads(body))

    def test_nothing_found_is_status_1(self):
        done = self.search("to:nobody@example.test", wanted=1)
        self.assertEqual((done.stdout, done.stderr),
                         ("", "postlag: nothing found\n"))

    def test_an_error_marks_the_word(self):
        done = self.search("to:a", "form:b", wanted=2)
        self.assertEqual(done.stderr,
                         'postlag: no key is called "form"; is it from?\n'
                         "  to:a form:b\n"
                         "       ^^^^\n")

    def test_misuse_is_status_2(self):
        for arguments in ([], ["--page", "x", "a"], ["--limit", "0", "a"],
                          ["--nothing", "a"], ["-a"]):
            self.assertIn("postlag", self.search(*arguments, wanted=2).stderr)


class Slow(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.alone = ExporterAlone()
        cls.addClassCleanup(cls.alone.__exit__, None)
        for number in range(MESSAGES):
            cls.alone.message(f"m{number}", f"Q{number}",
                              f"u{number}@example.test")
        # The first ones wait longest.
        for number in range(MESSAGES):
            cls.alone.delivery(f"m{number}", f"Q{number}",
                               f"u{number}@example.test=250")
        cls.alone.message("open", "Q99", "open@example.test")
        cls.alone.wait_for("postlag_messages_accepted_total", MESSAGES + 1)
        cls.alone.wait_for("postlag_recipient_outcomes_total", MESSAGES,
                           outcome="delivered")

    def slow(self, *arguments, wanted=0):
        done = subprocess.run(
            [program_path("postlag"), "slow", "--store", self.alone.store,
             *arguments], capture_output=True, text=True, check=False,
            env={**os.environ, "LC_ALL": "C.UTF-8"})
        self.assertEqual(done.returncode, wanted, done)
        return done

    def took(self, message):
        return message["recipients"][0]["latency_seconds"]

    def test_the_slowest_come_first_and_the_limit_keeps_these(self):
        delivered = [m for m in self.alone.all_messages()
                     if m["recipients"][0]["state"] == "delivered"]
        wanted = sorted(delivered, key=self.took, reverse=True)
        for limit in (1, 3, MESSAGES):
            found = json.loads(self.slow(
                "--json", "--limit", str(limit)).stdout)["messages"]
            self.assertLessEqual(len(found), limit)
            found = [m["queue_id"] for m in found if m["queue_id"] != "Q99"]
            self.assertEqual(found, [m["queue_id"]
                                     for m in wanted[:len(found)]])

    def test_what_is_in_the_queue_counts_with_its_age(self):
        found = json.loads(self.slow("--json").stdout)["messages"]
        self.assertIn("Q99", [m["queue_id"] for m in found])
        self.assertEqual(len(found), MESSAGES + 1)

    def test_an_empty_period_is_no_error(self):
        self.assertEqual(self.slow("--since", "3d", "--before", "2d").stdout,
                         "")
        self.slow("a", wanted=2)
        self.slow("--page", "1", wanted=2)


tap.main()
