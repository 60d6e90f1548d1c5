# SPDX-License-Identifier: BSD-2-Clause
"""What becomes of mail that access maps, header and body checks and milters
behind ours hold, discard, redirect or refuse (facts 8.1 and 1.4)."""

import tap
from fate_stack import FateCase, FateStack, queue_id_of
from mail_system import Listener, service
from milter_server import MilterServer
from smtp_client import SmtpClient
from stack import MILTER

ACCESS = """\
hold@example.test HOLD by the access map
discard@example.test DISCARD by the access map
redirect@example.test REDIRECT other@example.test
bcc@example.test BCC copy@example.test
filter@example.test FILTER discard:by the access map
"""

HEADER_CHECKS = """\
/^Subject: discard/ DISCARD by the header
/^Subject: hold/ HOLD by the header
/^Subject: redirect/ REDIRECT other@example.test
/^Subject: reject/ REJECT by the header
/^Subject: bcc/ BCC copy@example.test
/^Subject: filter/ FILTER discard:by the header
/^Subject: pass/ PASS by the header
"""

BODY_CHECKS = """\
/^discard/ DISCARD by the body
/^redirect/ REDIRECT other@example.test
/^reject/ REJECT by the body
"""


def cleanup(name, options):
    """A listener with a cleanup(8) of its own, and that service."""
    return Listener(name, {"cleanup_service_name": f"cleanup-{name}"}), \
        service(f"cleanup-{name}", "unix", "cleanup", options, "0",
                public=True)


class AccessMaps(FateCase):
    listeners = [Listener("access", {
        "smtpd_recipient_restrictions":
            "check_recipient_access texthash:{etc}/access, permit"})]
    options = {"files": {"access": ACCESS}}

    def test_hold_of_the_first_recipient_then_released(self):
        """HOLD, access map: NOQUEUE, and no line of qmgr at all"""
        queue_id = self.send(["hold@example.test", "u1@example.test"])
        self.wait_for_line("NOQUEUE: hold: RCPT")
        self.assert_fates(queue_id, {"hold@example.test": "held",
                                     "u1@example.test": "held"})
        self.stack.postfix.command("postsuper", "-H", queue_id)
        self.stack.postfix.flush()
        self.assert_fates(queue_id, {"hold@example.test": "delivered",
                                     "u1@example.test": "delivered"})

    def test_hold_of_the_second_recipient(self):
        """HOLD, access map, with a queue id; released, deleted"""
        queue_id = self.send(["u1@example.test", "hold@example.test"])
        self.wait_for_line(f"{queue_id}: hold: RCPT")
        self.assert_fates(queue_id, {"hold@example.test": "held",
                                     "u1@example.test": "held"})
        self.stack.postfix.command("postsuper", "-d", queue_id)
        self.assert_fates(queue_id, {"hold@example.test": "deleted",
                                     "u1@example.test": "deleted"})

    def test_discard_by_the_first_recipient(self):
        """DISCARD, access map: NOQUEUE, the milter sees no end of message"""
        queue_id = self.send(["discard@example.test", "u1@example.test"])
        self.wait_for_line("NOQUEUE: discard: RCPT")
        fates = self.wait_until_discarded(queue_id)
        self.assertIn("discard@example.test", fates)

    def test_discard_by_the_second_recipient(self):
        queue_id = self.send(["u1@example.test", "discard@example.test"])
        self.wait_for_line(f"{queue_id}: discard: RCPT")
        fates = self.wait_until_discarded(queue_id)
        self.assertIn("discard@example.test", fates)

    def wait_until_discarded(self, queue_id):
        """Which recipients are known depends on how far the milter saw."""
        self.assert_eventually(
            lambda fates: set(fates.values()) == {"discarded"}, queue_id)
        return self.fates(queue_id)

    def test_redirect(self):
        """REDIRECT: one line, the other recipients vanish silently"""
        queue_id = self.send(["redirect@example.test", "u1@example.test"])
        self.assert_fates(queue_id, {
            "redirect@example.test": "expanded",
            "u1@example.test": ("merged", "redirected"),
            "other@example.test": "delivered"})

    def test_bcc(self):
        """BCC: a recipient that nobody named"""
        queue_id = self.send(["bcc@example.test"])
        self.assert_fates(queue_id, {"bcc@example.test": "delivered",
                                     "copy@example.test": "delivered"})

    def test_filter_to_the_discard_transport(self):
        """FILTER to discard: is an outcome, not a content filter's leg"""
        queue_id = self.send(["filter@example.test", "u1@example.test"])
        self.assert_fates(queue_id, {"filter@example.test": "discarded",
                                     "u1@example.test": "discarded"})


class HeaderAndBodyChecks(FateCase):
    checked, service = cleanup("checked", {
        "header_checks": "regexp:{etc}/header_checks",
        "body_checks": "regexp:{etc}/body_checks"})
    listeners = [checked]
    options = {"services": [service], "files": {
        "header_checks": HEADER_CHECKS, "body_checks": BODY_CHECKS}}

    def test_discard_by_header(self):
        """DISCARD, header_checks: the client gets 250, the milter ABORT"""
        queue_id = self.send(["u1@example.test", "u2@example.test"],
                             subject="discard")
        self.assert_fates(queue_id, {"u1@example.test": "discarded",
                                     "u2@example.test": "discarded"})

    def test_discard_by_body(self):
        queue_id = self.send(["u1@example.test"], body="discard")
        self.assert_fates(queue_id, {"u1@example.test": "discarded"})

    def test_hold_by_header(self):
        """HOLD, header_checks; and postsuper -H"""
        queue_id = self.send(["u1@example.test"], subject="hold")
        self.assert_fates(queue_id, {"u1@example.test": "held"})
        self.stack.postfix.command("postsuper", "-H", queue_id)
        self.stack.postfix.flush()
        self.assert_fates(queue_id, {"u1@example.test": "delivered"})

    def test_redirect_by_header(self):
        """REDIRECT, header_checks: queued, although the milter got ABORT"""
        queue_id = self.send(["u1@example.test", "u2@example.test"],
                             subject="redirect")
        self.assert_fates(queue_id, {
            "u1@example.test": "expanded",
            "u2@example.test": ("merged", "redirected"),
            "other@example.test": "delivered"})

    def test_redirect_by_body(self):
        queue_id = self.send(["u1@example.test"], body="redirect")
        self.assert_fates(queue_id, {"u1@example.test": "expanded",
                                     "other@example.test": "delivered"})

    def test_pass_by_header(self):
        """PASS: queued and delivered, although the milter got ABORT"""
        queue_id = self.send(["u1@example.test"], subject="pass")
        self.assert_fates(queue_id, {"u1@example.test": "delivered"})

    def test_bcc_by_header(self):
        queue_id = self.send(["u1@example.test"], subject="bcc")
        self.assert_fates(queue_id, {"u1@example.test": "delivered",
                                     "copy@example.test": "delivered"})

    def test_filter_by_header(self):
        queue_id = self.send(["u1@example.test"], subject="filter")
        self.assert_fates(queue_id, {"u1@example.test": "discarded"})

    def test_reject_by_header_and_by_body(self):
        """REJECT before the milter's end of message: never accepted (case 40)
        """
        for what in ({"subject": "reject"}, {"body": "reject"}):
            code, text = self.stack.submit(
                "sender@direct.test", ["u1@example.test"],
                f"Message-ID: <{what}@client.test>\r\n"
                f"Subject: {what.get('subject', '')}\r\n\r\n"
                f"{what.get('body', '')}\r\n")
            self.assertEqual(code, 550, text)
        queue_id = queue_id_of(self.wait_for_line(": reject: body")[0])
        self.assert_fates(queue_id, {"u1@example.test": "aborted"})


class LaterMilters(FateCase):
    """Our end of message was accepted; then somebody else decided."""

    @classmethod
    def make_stack(cls):
        cls.milter = MilterServer()
        cls.addClassCleanup(cls.milter.close)
        small = {"message_size_limit": "20000"}
        refusing, refusing_service = cleanup("refusing", {
            "milter_header_checks": "regexp:{etc}/refuse_stamp"})
        dropping, dropping_service = cleanup("dropping", {
            "milter_header_checks": "regexp:{etc}/drop_stamp"})
        sized, sized_service = cleanup("small", small)
        sized.options.update(small)
        return FateStack(
            [Listener("later", {
                "smtpd_milters":
                    f"{MILTER}, inet:127.0.0.1:{cls.milter.port}"}),
             refusing, dropping, sized],
            services=[refusing_service, dropping_service, sized_service],
            files={"refuse_stamp": "/^X-Perf-Sent:/ REJECT no stamps here\n",
                   "drop_stamp": "/^X-Perf-Sent:/ DISCARD no stamps here\n"})

    def send_from(self, sender, recipients=("u1@example.test",)):
        return self.send(list(recipients), f"{sender}@direct.test")

    def refused(self, content, listener, expected, sender="s@direct.test"):
        code, text = self.stack.submit(sender, ["u1@example.test"], content,
                                       listener)
        self.assertEqual(code, expected, text)

    def newest_queue_id(self, *parts):
        return queue_id_of(self.wait_for_line(*parts)[-1])

    def test_discarded_by_a_later_milter(self):
        """milter-discard: our end of message was accepted, 250 to the client
        """
        queue_id = self.send_from("milter-discard")
        self.assert_fates(queue_id, {"u1@example.test": "discarded"})

    def test_quarantined_by_a_later_milter_then_deleted(self):
        """HOLD, quarantine"""
        queue_id = self.send_from("milter-quarantine")
        self.assert_fates(queue_id, {"u1@example.test": "held"})
        self.stack.postfix.command("postsuper", "-d", queue_id)
        self.assert_fates(queue_id, {"u1@example.test": "deleted"})

    def test_recipient_added_by_a_later_milter(self):
        queue_id = self.send_from("milter-addrcpt")
        self.assert_fates(queue_id, {"u1@example.test": "delivered",
                                     "added@example.test": "delivered"})

    def test_recipient_deleted_by_a_later_milter(self):
        queue_id = self.send_from("milter-delrcpt", [
            "u1@example.test", "gone@example.test"])
        self.assert_fates(queue_id, {
            "u1@example.test": "delivered",
            "gone@example.test": ("merged", "duplicate")})

    def test_refused_by_a_later_milter(self):
        """Ghost: 550 or 451 behind our accepted end of message"""
        for action, code in (("reject", 550), ("tempfail", 451)):
            self.refused("Subject: x\r\n\r\nx\r\n", "later", code,
                         f"milter-{action}@direct.test")
            queue_id = self.newest_queue_id("milter-reject: END-OF-MESSAGE",
                                            f"milter-{action}@")
            self.assert_fates(queue_id, {
                "u1@example.test": ("ghost", "refused")})

    def test_stamp_refused_by_milter_header_checks(self):
        """Ghost: milter_header_checks REJECT our own header"""
        self.refused("Subject: x\r\n\r\nx\r\n", "refusing", 550)
        queue_id = self.newest_queue_id("milter-header-reject")
        self.assert_fates(queue_id, {"u1@example.test": ("ghost", "refused")})

    def test_discarded_by_milter_header_checks(self):
        """milter_header_checks DISCARD: 250 to the client"""
        queue_id = self.send(["u1@example.test"], listener="dropping")
        self.assert_fates(queue_id, {"u1@example.test": "discarded"})

    def test_too_big_with_the_stamp(self):
        """Ghost: message_size_limit is reached by our header, 552"""
        line = "x" * 72 + "\r\n"
        for size in range(18800, 20001, 25):
            content = "Subject: x\r\n\r\n" + line * (size // 74)
            content += "y" * (size - len(content) - 2) + "\r\n"
            code, text = self.stack.submit(
                "s@direct.test", ["u1@example.test"], content, "small")
            if code != 250:
                break
        self.assertEqual(code, 552, text)
        queue_id = self.newest_queue_id("queue file size limit exceeded")
        self.assert_fates(queue_id, {"u1@example.test": ("ghost", "refused")})


class BesideTheMilter(FateCase):
    """Accepted with no end of message that our milter saw."""

    listeners = [
        Listener("plain"), Listener("bare", {"smtpd_milters": ""}),
        Listener("override", {"receive_override_options": "no_milters"}),
        Listener("disabled", {
            "smtpd_milter_maps": "inline:{ { 127.0.0.1 = DISABLE } }"})]

    def test_no_milter_at_all(self):
        """Unstamped mail has its timeline from log and hook alone"""
        queue_ids = [self.send(["u1@example.test", "u2@direct.test"],
                               listener=listener)
                     for listener in ("bare", "override", "disabled")]
        for queue_id in queue_ids:
            record = self.assert_fates(queue_id, {
                "u1@example.test": "delivered", "u2@direct.test": "delivered"})
            self.assertEqual(record["sender"], "sender@direct.test")

    def test_milter_down_in_the_middle_of_a_session(self):
        """This and every later message of the session bypass the milter"""
        with SmtpClient(self.stack.address()) as client:
            client.command("EHLO client.example.test", 2)
            queue_ids = [client.message(recipients=["u1@example.test"])]
            self.stack.milter.kill()
            queue_ids += [client.message(recipients=["u1@example.test"])
                          for _ in range(2)]
            self.stack.milter.start()
            queue_ids += [client.message(recipients=["u1@example.test"])]
            client.quit()
        for code, text in queue_ids:
            self.assertEqual(code, 250, text)
            self.assert_fates(text.split()[-1],
                              {"u1@example.test": "delivered"})

    def test_client_gone_behind_the_final_dot(self):
        """Queued and delivered; the client never saw the 250 and sends again:
        two messages, no duplicate of ours"""
        for _ in range(2):
            with SmtpClient(self.stack.address()) as client:
                client.command("EHLO client.example.test", 2)
                client.group(["MAIL FROM:<sender@direct.test>",
                              "RCPT TO:<twice@example.test>"], 2)
                client.command("DATA", 3)
                client.write("Message-ID: <twice@client.test>\r\n\r\nx\r\n"
                             ".\r\n")
        self.assert_eventually(
            lambda _: len(self.stack.log_lines("message-id=<twice@")) == 2)
        for line in self.stack.log_lines("message-id=<twice@"):
            self.assert_fates(queue_id_of(line),
                              {"twice@example.test": "delivered"})

    def test_sendmail(self):
        """Non-SMTP mail, stamped"""
        self.stack.postfix.sendmail(
            "Message-ID: <local@client.test>\nSubject: x\n\nhello\n",
            "-f", "sender@direct.test", "u1@example.test", "u2@direct.test")
        line = self.wait_for_line("message-id=<local@client.test>")[0]
        self.assert_fates(queue_id_of(line), {
            "u1@example.test": "delivered", "u2@direct.test": "delivered"})


if __name__ == "__main__":
    tap.main()
