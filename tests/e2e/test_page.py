# SPDX-License-Identifier: BSD-2-Clause
"""The page in a real Chromium, on what a real Postfix and Dovecot did: from the
overview by a search to the waterfall, a search that is wrong, and a loss."""

import tap
from loss_stack import LossStack
from page_case import REPORTED, PageCase
from smtp_client import SmtpClient
from waiting import wait_until

BODY = "From: <sender@direct.test>\r\nSubject: test\r\n\r\nhello\r\n"


class Page(PageCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.stack = LossStack()
        cls.stack.start()
        cls.addClassCleanup(cls.stack.stop)
        for number in range(12):
            cls.send(f"u{number}@example.test", "u20@example.test")
        cls.deferred = cls.send("u1@example.test", "u1@down.test")
        cls.lost = cls.send("u2@down.test")
        cls.stack.wait_in("deferred", cls.lost)
        cls.wait_for_states(cls.deferred, ["deferred", "delivered"])
        cls.wait_for_states(cls.lost, ["deferred"])
        cls.stack.lose(cls.lost)
        cls.wait_for_states(cls.lost, ["lost"])
        cls.url = f"http://127.0.0.1:{cls.stack.http_port}/"

    @classmethod
    def send(cls, *recipients):
        with SmtpClient(cls.stack.address(None)) as client:
            client.command("EHLO client.example.test", 2)
            code, text = client.message("sender@direct.test", recipients, BODY)
            client.quit()
        assert code == 250, text
        return text.split()[-1]

    @classmethod
    def wait_for_states(cls, queue_id, states):
        def are_there():
            found = cls.stack.message(queue_id)
            return found and sorted(
                one["state"] for one in found["messages"][0]["recipients"]
            ) == states
        wait_until(are_there, f"{queue_id} to be {states}", 60)

    def test_the_overview_shows_phase_and_period_that_are_chosen(self):
        browser = self.browser
        browser.open(self.url)
        self.assertIn("14", browser.wait(".numbers"))
        browser.wait("#latency .plot canvas")
        browser.wait("#outcomes .totals", "delivered")
        self.look("overview")
        browser.click("nav >> text=Week")
        browser.wait("nav a[aria-current]", "Week")
        self.assertEqual(self.hash(), "#/?since=7d")
        browser.tell("choose", selector="#what", value="phase:queue")
        browser.wait("#latency h2", "Phase queue")
        self.assertEqual(self.hash(), "#/?since=7d&phase=queue")
        browser.click("nav >> text=Hour")
        browser.wait("#latency .as-table >> nth=0")
        browser.click("#latency summary")
        self.assertGreater(int(browser.wait("#latency tbody td >> nth=0")), 0)

    def test_the_address_is_all_it_takes(self):
        """Deep links, and the browser's way back"""
        browser = self.browser
        browser.open(f"{self.url}#/?since=6h&route=inbound")
        browser.wait("#latency h2", "Latency, inbound")
        browser.wait("nav a[aria-current]", "6 hours")
        browser.tell("go", hash=f"#/message/{self.deferred}")
        browser.wait(".waterfall")
        browser.tell("evaluate", code="history.back()")
        browser.wait("#latency h2", "Latency, inbound")

    def test_the_chart_can_be_read_by_keys(self):
        browser = self.browser
        browser.open(f"{self.url}#/?since=1h")
        browser.wait("#latency .plot canvas")
        browser.wait("#latency .readout", "The whole period")
        browser.tell("focus", selector=".plot")
        browser.tell("press", key="ArrowLeft")
        browser.wait("#latency .readout", "1 min")
        browser.tell("press", key="Enter")
        wait_until(lambda: "until=" in self.hash(), "the chart to zoom")

    def test_a_search_leads_to_the_waterfall(self):
        browser = self.browser
        browser.open(self.url)
        browser.wait("#search")
        browser.tell("press", key="/")
        browser.tell("fill", selector="#search:focus",
                     value="to:u1@down.test")
        browser.tell("press", key="Enter")
        browser.wait(".messages tbody tr", self.deferred)
        self.assertEqual(self.hash(), "#/search?q=to%3Au1%40down.test")
        self.look("search")
        browser.click(".messages tbody a")
        browser.wait("h1", "Message")
        browser.wait(".waterfall .group", "u1@down.test")
        rows = browser.tell("texts", selector=".waterfall tbody th")
        said = "\n".join(rows)
        for wanted in ("SMTP session", "rcpt to data", "queue",
                       "lmtp envelope", "lmtp data", "lmtp reply",
                       "smtp", "Connection refused"):
            self.assertIn(wanted, said)
        bars = browser.tell("texts", selector=".waterfall .bars svg")
        self.assertGreater(len(bars), 10)
        self.look("message")

    def test_a_search_that_is_wrong_points_at_the_word(self):
        """case: search errors point at the word"""
        browser = self.browser
        self.expected = (REPORTED,)
        browser.open(self.url)
        browser.wait("#search")
        browser.search("to:ä@example.test statsu:lost")
        self.assertIn("is it status?", browser.wait("#search-error"))
        self.assertEqual(browser.wait("#search-error mark"), "statsu")
        self.assertEqual(browser.tell("evaluate", code=(
            "(() => { const at = document.activeElement; return at.value"
            ".slice(at.selectionStart, at.selectionEnd); })()")), "statsu")
        self.look("search-error")
        browser.search("to:nobody@example.test")
        browser.wait("main", "No message is as you search")
        browser.tell("gone", selector="#search-error")

    def test_what_is_lost_stands_on_the_overview_and_says_why(self):
        browser = self.browser
        browser.open(self.url)
        browser.wait("#lost .messages", "u2@down.test")
        self.assertIn("! Lost recipients", browser.wait(".numbers .wrong"))
        browser.click("#lost .messages a")
        self.assertIn("The mail to u2@down.test is lost",
                      browser.wait("#is-lost"))
        self.look("lost")

    def test_the_id_of_an_exemplar_leads_to_its_message(self):
        message = self.stack.message(self.deferred)["messages"][0]
        trace_id = message["id"].replace("-", "")
        self.browser.open(f"{self.url}#/message/{trace_id}")
        self.browser.wait("h1", message["id"])
        self.browser.wait(".waterfall .group", "u1@down.test")

    def test_a_message_that_is_not_there_is_said(self):
        self.expected = (REPORTED,)
        self.browser.open(f"{self.url}#/message/nothing")
        self.browser.wait("main", "No message has this id")


tap.main()
