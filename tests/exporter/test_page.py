# SPDX-License-Identifier: BSD-2-Clause
"""The page in a real Chromium where things are not as they should be: an empty
store, an exporter that is gone or catches up."""

import tap
from exporter_alone import ExporterAlone
from page_case import REPORTED, PageCase


class Page(PageCase):
    def alone(self, **options):
        alone = ExporterAlone(**options)
        self.addCleanup(alone.__exit__, None)
        return alone, f"http://127.0.0.1:{alone.port}/"

    def test_an_empty_store_says_what_may_be_missing(self):
        """And shows the first message when it comes"""
        alone, url = self.alone()
        self.browser.open(url)
        self.browser.wait("h1", "No mail has been seen yet")
        self.look("empty")
        alone.message("a", "Q1", "u1@example.test")
        self.browser.wait("#in-flight .messages", "u1@example.test")

    def test_a_dead_exporter_is_told_and_what_was_shown_stays(self):
        alone, url = self.alone()
        alone.message("a", "Q1", "u1@example.test")
        alone.wait_for("postlag_messages_accepted_total", 1)
        self.browser.open(url)
        self.browser.wait("#in-flight .messages", "u1@example.test")
        self.expected = (REPORTED,)
        alone.program.kill()
        self.assertIn("does not answer", self.browser.wait("#dead"))
        self.browser.wait("#in-flight .messages", "u1@example.test")
        self.look("dead")
        alone.program.start()
        self.browser.tell("gone", selector="#dead")

    def test_catching_up_shows_how_far_it_is(self):
        # A commit for each event, so that it takes its time.
        alone, url = self.alone(start=False, commit_events=1)
        alone.load(60000)
        alone.program.start()
        self.browser.open(url)
        said = self.browser.wait("#catch-up")
        self.assertRegex(said, r"milter [\d.]+ [kM]B, about [\d,]+ events")
        self.browser.wait("#catch-up", "left")
        self.look("catching-up")
        self.expected = (REPORTED,)
        alone.program.kill()


tap.main()
