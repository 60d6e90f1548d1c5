# SPDX-License-Identifier: BSD-2-Clause
"""The page in a real Chromium where things are not as they should be: an empty
store, an exporter that is gone or catches up."""

import tap
from exporter_alone import ExporterAlone
from page_case import REPORTED, PageCase
from waiting import wait_until

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

    def field(self, label):
        return f'#whose label:has-text("{label}") input'

    def check_latencies(self, heading, count):
        self.browser.wait("#latency h2", heading)
        if count == 0:
            self.browser.wait("#latency .notice", "Nothing was delivered")
        self.browser.wait("#latency .legend > :last-child dd", str(count))

    def known(self, kind):
        """What can be chosen from."""
        return self.browser.tell(
            "evaluate", code="[...document.querySelectorAll("
            f"'#known-{kind} option')].map((option) => option.value)")

    def strangers(self):
        """Five messages to providers, by relays, of their own."""
        alone, url = self.alone()
        alone.journals.tell("strangers", 5)
        alone.wait_for("postlag_delivery_latency_seconds_count", 5)
        return url

    def test_latencies_of_one_host_relay_or_provider_are_chosen(self):
        """From what there is, by keys; the address has it"""
        browser = self.browser
        browser.open(f"{self.strangers()}#/?since=24h&phase=queue")
        self.check_latencies("Phase queue", 5)
        browser.tell("focus", selector="#whose summary")
        browser.tell("press", key="Enter")
        hosts = [f"host{number}.example.org" for number in range(5)]
        for kind, labels in (("host", ["mx.test"]), ("relay", hosts),
                             ("provider", hosts)):
            wait_until(lambda: self.known(kind) == labels, f"each {kind}")
        browser.tell("fill", selector=self.field("Host"), value="mx.test")
        browser.tell("press", key="Enter")
        self.check_latencies("Phase queue, of mx.test", 5)
        browser.tell("fill", selector=self.field("Relay"), value=hosts[1])
        browser.tell("fill", selector=self.field("Provider"), value=hosts[3])
        browser.tell("press", key="Enter")
        self.check_latencies(f"Latency, of mx.test, to {hosts[3]}", 1)
        self.assertEqual(self.hash(), "#/?since=24h&host=mx.test"
                         f"&provider={hosts[3]}")
        browser.wait("#outcomes .notice", "Of all mail")
        self.look("whose")
        browser.click('[aria-label="Every host"]')
        self.check_latencies(f"Latency, to {hosts[3]}", 1)
        browser.tell("choose", selector="#what", value="phase:queue")
        self.check_latencies("Phase queue", 5)
        self.assertEqual(self.hash(), "#/?since=24h&phase=queue")

    def test_the_address_says_whose_latencies(self):
        """What was never seen is no error; what cannot be asked is told"""
        browser = self.browser
        url = self.strangers()
        browser.open(f"{url}#/?since=1h&relay=host2.example.org")
        self.check_latencies("Latency, by host2.example.org", 1)
        browser.tell("go", hash="#/?provider=nobody.test")
        self.check_latencies("Latency, to nobody.test", 0)
        self.expected = (REPORTED,)
        browser.tell("go", hash="#/?provider=a.test&phase=queue")
        browser.wait("#latency .notice", "a phase has no route, relay or")

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
