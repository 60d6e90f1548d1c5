# SPDX-License-Identifier: BSD-2-Clause
"""What a real Postfix refuses is counted by stage, once, and is neither
accepted nor lost (cases 20 and 40)."""

import collections

import tap
from fate_stack import FATE_PATIENCE, FateCase, FateStack
from mail_system import Listener, service
from milter_server import MilterServer
from programs import write_configuration
from smtp_client import SmtpClient
from stack import MILTER
from waiting import wait_until

ACCESS = """\
bad.example.test 504 5.5.2 bad name
bad@client.test 550 5.1.8 bad sender
later@client.test 450 4.1.8 not this sender now
no@example.test 550 5.7.1 not this recipient
busy@example.test 450 4.2.0 not now
"""

EARLY = {
    "smtpd_delay_reject": "no",
    "smtpd_helo_restrictions": "check_helo_access texthash:{etc}/access",
    "smtpd_sender_restrictions": "check_sender_access texthash:{etc}/access",
    "smtpd_recipient_restrictions":
        "check_recipient_access texthash:{etc}/access, permit",
    "smtpd_data_restrictions": "reject_unauth_pipelining",
}
LATE = {**EARLY, "smtpd_delay_reject": "yes",
        "smtpd_recipient_restrictions":
            "check_sender_access texthash:{etc}/access,"
            " check_recipient_access texthash:{etc}/access, permit"}


def refusals(metrics):
    """{(phase, class): count}, without zeros."""
    return collections.Counter({
        (dict(labels)["phase"], dict(labels)["class"]): int(value)
        for (name, labels), value in metrics.samples.items()
        if name == "postlag_smtp_rejects_total" and value})


class Refusals(FateCase):
    @classmethod
    def make_stack(cls):
        cls.behind = MilterServer()
        cls.addClassCleanup(cls.behind.close)
        return FateStack(
            [Listener("early", EARLY), Listener("late", LATE),
             Listener("bare", {**LATE, "smtpd_milters": ""}),
             Listener("closed", {"smtpd_delay_reject": "no",
                                 "smtpd_client_restrictions": "reject"}),
             Listener("checks", {"cleanup_service_name": "cleanup-checks"}),
             Listener("behind", {
                 "smtpd_milters":
                     f"{MILTER}, inet:127.0.0.1:{cls.behind.port}"})],
            main_cf={"message_size_limit": "20000"},
            services=[service("cleanup-checks", "unix", "cleanup", {
                "header_checks": "regexp:{etc}/header_checks"}, "0",
                public=True)],
            files={"access": ACCESS,
                   "header_checks": "/^Subject: reject/ REJECT by the header"})

    def setUp(self):
        self.before = self.stack.metrics()

    def assert_refused(self, **wanted):
        """What was refused since the test began: rcpt5=2, connect5=1."""
        wanted = collections.Counter({
            (name[:-1], name[-1]): count for name, count in wanted.items()})
        seen = []

        def counted():
            now = refusals(self.stack.metrics())
            now.subtract(refusals(self.before))
            seen.append({key: value for key, value in now.items() if value})
            return seen[-1] == wanted
        try:
            wait_until(counted, f"{wanted}", FATE_PATIENCE, 0.1)
        except AssertionError as error:
            raise AssertionError(f"{error}: {seen[-1]}") from None

    def assert_none_lost(self):
        now = self.stack.metrics()
        for name in ("messages_accepted_total", "recipients_lost_total",
                     "recipients_added_total"):
            self.assertEqual(now.total(f"postlag_{name}"),
                             self.before.total(f"postlag_{name}"), name)

    def dialogue(self, listener, *commands):
        """The replies to these commands, after the greeting."""
        with SmtpClient(self.stack.address(listener)) as client:
            replies = [client.command(command)[0] for command in commands]
            client.quit()
        return replies

    def test_a_client_at_connect(self):
        with self.assertRaisesRegex(AssertionError, "554"):
            SmtpClient(self.stack.address("closed"))
        self.assert_refused(connect5=1)
        self.assert_none_lost()

    def test_a_name_at_helo(self):
        self.assertEqual(self.dialogue("early", "EHLO bad.example.test",
                                       "HELO bad.example.test"), [504, 504])
        self.assert_refused(helo5=2)
        self.assert_none_lost()

    def test_a_sender_at_mail(self):
        self.assertEqual(
            self.dialogue("early", "EHLO c.test",
                          "MAIL FROM:<bad@client.test>",
                          "MAIL FROM:<later@client.test>",
                          "MAIL FROM:<s@client.test> SIZE=30000"),
            [250, 550, 450, 552])
        self.assert_refused(mail5=2, mail4=1)
        self.assert_none_lost()

    def test_a_recipient_at_rcpt_that_the_milter_sees_too(self):
        """its event and the log's line are one refusal"""
        for listener in ("early", "late"):
            self.assertEqual(
                self.dialogue(listener, "EHLO c.test",
                              "MAIL FROM:<s@client.test>",
                              "RCPT TO:<no@example.test>",
                              "RCPT TO:<busy@example.test>"),
                [250, 250, 550, 450])
        self.assert_refused(rcpt5=2, rcpt4=2)
        self.assert_none_lost()

    def test_a_recipient_of_a_session_without_the_milter(self):
        self.assertEqual(
            self.dialogue("bare", "EHLO c.test",
                          "MAIL FROM:<bad@client.test>",
                          "RCPT TO:<u1@example.test>", "RSET",
                          "MAIL FROM:<s@client.test>",
                          "RCPT TO:<no@example.test>"),
            [250, 250, 550, 250, 250, 550])
        self.assert_refused(rcpt5=2)
        self.assert_none_lost()

    def test_one_recipient_of_a_message_that_is_delivered(self):
        with SmtpClient(self.stack.address("late")) as client:
            client.command("EHLO c.test", 2)
            client.command("MAIL FROM:<s@client.test>", 2)
            client.command("RCPT TO:<no@example.test>", 5)
            client.command("RCPT TO:<u1@example.test>", 2)
            client.command("RCPT TO:<no@example.test>", 5)
            client.command("DATA", 3)
            code, text = client.content("Subject: x\r\n\r\nhello\r\n")
            client.quit()
        self.assertEqual(code, 250)
        self.assert_refused(rcpt5=2)
        self.assert_eventually(
            lambda fates: fates.get("u1@example.test") == "delivered",
            text.split()[-1])

    def test_data_without_recipients(self):
        """RCPT is refused, so DATA is: that is no line of the log"""
        self.assertEqual(
            self.dialogue("late", "EHLO c.test", "MAIL FROM:<s@client.test>",
                          "RCPT TO:<no@example.test>", "DATA"),
            [250, 250, 550, 554])
        self.assert_refused(rcpt5=1)

    def test_content_by_a_header_check(self):
        code, _ = self.stack.submit("s@client.test", ["u1@example.test"],
                                    "Subject: reject\r\n\r\nhello\r\n",
                                    "checks")
        self.assertEqual(code, 550)
        self.assert_refused(content5=1)
        self.assert_none_lost()

    def test_a_message_at_its_end_by_a_later_milter(self):
        for sender, code in (("milter-reject", 550), ("milter-tempfail", 451)):
            reply = self.stack.submit(
                f"{sender}@client.test", ["u1@example.test"],
                "Subject: x\r\n\r\nhello\r\n", "behind")
            self.assertEqual(reply[0], code)
        self.assert_refused(eom5=1, eom4=1)
        self.assert_eventually(lambda _: self.stack.metrics().total(
            "postlag_messages_ghost_total") == self.before.total(
                "postlag_messages_ghost_total") + 2)

    def test_a_message_that_is_too_large(self):
        code, _ = self.stack.submit("s@client.test", ["u1@example.test"],
                                    "Subject: x\r\n\r\n" + "hello\r\n" * 4000,
                                    "late")
        self.assertEqual(code, 552)
        self.assert_refused(eom5=1)

    def test_they_survive_a_kill(self):
        """I3: counted once although the log is read again"""
        self.dialogue("late", "EHLO c.test", "MAIL FROM:<s@client.test>",
                      "RCPT TO:<no@example.test>")
        self.stack.exporter.kill()
        self.dialogue("late", "EHLO c.test", "MAIL FROM:<s@client.test>",
                      "RCPT TO:<no@example.test>")
        self.stack.exporter.start()
        self.assert_refused(rcpt5=2)
        self.assertEqual(
            len(self.stack.log_lines(": reject: RCPT from ")),
            sum(count for (phase, _), count in
                refusals(self.stack.metrics()).items() if phase == "rcpt"))


class LogComesLater(FateCase):
    """The milter counts until a log is read, and again when none is."""

    @classmethod
    def make_stack(cls):
        stack = FateStack([Listener("late", LATE)], files={"access": ACCESS})
        cls.log = stack.settings["exporter"]["maillog"]
        stack.settings["exporter"]["maillog"] = ""
        return stack

    def restart(self, maillog):
        self.assertEqual(self.stack.exporter.stop(), 0)
        self.stack.settings["exporter"]["maillog"] = maillog
        write_configuration(self.stack.config, self.stack.settings)
        self.stack.exporter.start()

    def refuse(self, wanted):
        with SmtpClient(self.stack.address("late")) as client:
            client.command("EHLO c.test", 2)
            client.command("MAIL FROM:<s@client.test>", 2)
            client.command("RCPT TO:<no@example.test>", 5)
            client.quit()
        self.wait_for(wanted)

    def wait_for(self, wanted):
        wait_until(lambda: refusals(self.stack.metrics()) == {
            ("rcpt", "5"): wanted}, f"{wanted} refusals", FATE_PATIENCE, 0.1)

    def test_each_counts_once_whoever_counts_then(self):
        self.refuse(1)
        self.refuse(2)
        self.restart(self.log)
        # The log reaches back to both, and the boundary is a whole second.
        wait_until(lambda: self.stack.metrics().total(
            "postlag_log_lines_total", kind="known") > 5, "the log read")
        self.wait_for(2)
        self.wait_for_next_second()
        self.refuse(3)
        self.restart(self.log)
        self.wait_for(3)
        self.refuse(4)
        self.restart("")
        self.wait_for(4)
        self.refuse(5)

    def wait_for_next_second(self):
        """By the log's own clock."""
        def now():
            with SmtpClient(self.stack.address("late")) as client:
                client.quit()
            return self.stack.log_lines("disconnect from")[-1][:15]
        first = now()
        wait_until(lambda: now() != first, "another second", 10, 0.2)


if __name__ == "__main__":
    tap.main()
