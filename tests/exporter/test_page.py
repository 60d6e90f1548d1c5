# SPDX-License-Identifier: BSD-2-Clause
"""The page in a real Chromium where things are not as they should be: an empty
store, an exporter that is gone or catches up."""

import tap
from exporter_alone import ExporterAlone
from page_case import REPORTED, PageCase

# Notes down which parts of the chart are taken away, to come back or not.
WATCH = """
globalThis.gone = [];
new MutationObserver((changes) => {
  for (const { removedNodes } of changes)
    for (const { nodeType, outerHTML } of removedNodes)
      if (nodeType === Node.ELEMENT_NODE) gone.push(outerHTML);
}).observe(document.querySelector("#latency"),
  { childList: true, subtree: true });
"""


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

    def test_news_come_without_drawing_anew(self):
        alone, url = self.alone()
        alone.message("a", "Q1", "u1@example.test")
        alone.delivery("a", "Q1", "u1@example.test=250")
        alone.wait_for("postlag_recipient_outcomes_total", 1,
                       outcome="delivered")
        self.browser.open(f"{url}#/?since=1h")
        self.browser.wait("#latency .legend >> text=count")
        self.browser.wait(".plot canvas")
        self.browser.tell("evaluate", code=WATCH)
        alone.message("b", "Q2", "u2@example.test")
        alone.delivery("b", "Q2", "u2@example.test=250")
        self.browser.wait("#latency .legend > :last-child dd", "2")
        self.assertEqual(
            self.browser.tell("evaluate", code="globalThis.gone"), [])

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
