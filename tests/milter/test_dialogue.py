# SPDX-License-Identifier: BSD-2-Clause
"""postlag-milter's side of the milter protocol: what is negotiated, recorded
and written into messages."""

import itertools

import mta_simulator
import tap
from milter_case import FORGED, STAMP, MilterCase, stamps
from mta_simulator import MtaSession
from waiting import wait_until

VERBS = ["CONNECT", "HELO", "MAIL", "RCPT", "DATA", "HEADER", "EOM"]


def play(session, last):
    """The events of one message up to and including `last`, a verb."""
    steps = [session.connect, session.helo, session.mail, session.rcpt,
             session.data, lambda: session.header("Subject", "x"),
             session.eom]
    for step in steps[:VERBS.index(last) + 1]:
        step()


def play_message(session, last):
    for verb, step in zip(VERBS[2:], (
            session.mail, session.rcpt, session.data,
            lambda: session.header("Subject", "x"), session.eom)):
        step()
        if verb == last:
            break


class Negotiation(MilterCase):
    def test_commands_are_replied_to_and_content_is_not_asked_for(self):
        session = MtaSession(self.socket)
        self.assertEqual(session.steps & mta_simulator.REPLIED_COMMANDS, 0)
        for step in (mta_simulator.NO_BODY, mta_simulator.NR_HEADER,
                     mta_simulator.NR_EOH, mta_simulator.RCPT_REJ):
            self.assertTrue(session.steps & step, hex(session.steps))
        session.close()

    def test_it_is_the_same_for_every_connection(self):
        seen = set()
        for _ in range(20):
            session = MtaSession(self.socket)
            seen.add((session.actions, session.steps,
                      str(session.macro_lists)))
            session.close()
        self.assertEqual(len(seen), 1)

    def test_headers_are_replied_to_where_the_other_side_wants_it(self):
        session = MtaSession(self.socket, steps=mta_simulator.STEPS
                             & ~mta_simulator.NR_HEADER
                             & ~mta_simulator.NR_EOH)
        headers = session.connect().helo().message(
            headers=[("Subject", "x"), (STAMP, "x"), ("To", "x")])
        session.quit()
        self.assert_stamped(headers, self.journal.wait_for_messages(1)[0])

    def test_works_with_the_macro_lists_of_main_cf(self):
        session = MtaSession(self.socket, actions=0xff).connect().helo()
        self.assertEqual(session.macro_lists, mta_simulator.DEFAULT_MACROS)
        headers = session.mail().rcpt_rejected().rcpt().data().eom()
        session.quit()
        self.assertTrue(headers)
        message = self.journal.wait_for_messages(1)[0]
        self.assertEqual(message["queue_id"], session.queue_id())
        self.assertTrue(message["recipients"][0]["rejected"])
        self.assertFalse(message["recipients"][1]["rejected"])


class Sessions(MilterCase):
    def test_several_messages_in_one_session_share_nothing(self):
        """Case 53."""
        session = self.session()
        results = []
        for number in range(3):
            recipients = [f"r{number}{n}@example.com" for n in range(number)]
            recipients.append("last@example.com")
            results.append((session.message(
                f"s{number}@example.com", recipients,
                [("Message-ID", f"<{number}@example.com>")]),
                session.queue_id(), recipients))
        session.quit()
        messages = self.journal.wait_for_messages(3)
        self.assertEqual(len({m["id"] for m in messages}), 3)
        for number, (headers, queue_id, recipients) in enumerate(results):
            message = messages[number]
            self.assert_stamped(headers, message)
            self.assertEqual(message["sequence"], number + 1)
            self.assertEqual(message["sender"], f"s{number}@example.com")
            self.assertEqual(message["queue_id"], queue_id)
            self.assertEqual(message["message_id"], f"<{number}@example.com>")
            self.assertEqual(message["ending"], "accepted")
            self.assertEqual([r["address"] for r in message["recipients"]],
                             recipients)
            self.assertEqual(message["session"], messages[0]["session"])
            self.assertEqual(message["connect_at"], messages[0]["connect_at"])

    def test_every_stamp_lies_between_command_and_reply(self):
        session = self.session()
        session.envelope()
        session.eom()
        session.quit()
        message = self.journal.wait_for_messages(1)[0]
        moments = {"C": message["connect_at"], "H": message["helo_at"],
                   "M": message["mail_at"], "T": message["data_at"],
                   "R": message["recipients"][0]["rcpt_at"],
                   "E": message["eom_at"]}
        for verb, stamp in moments.items():
            before, after = session.moments[verb]
            self.assertLessEqual(before, stamp["wall_ns"], verb)
            self.assertLessEqual(stamp["wall_ns"], after, verb)

    def test_reset_after_each_verb_leaves_nothing_over(self):
        """Case 53."""
        for last in VERBS[2:]:
            with self.subTest(after=last):
                known = len(self.journal.messages())
                session = self.session()
                session.macros["{auth_authen}"] = "user"
                play_message(session, last)
                session.abort()
                session.macros["{auth_authen}"] = None
                headers = session.message("second@example.com",
                                          ["second@example.net"])
                session.quit()
                first, second = self.journal.wait_for_messages(known + 2)[-2:]
                self.assert_stamped(headers, second)
                self.assertEqual(second["sequence"], 2)
                self.assertEqual(first["sasl_user"], "user")
                self.assertEqual(second["sasl_user"], "")
                self.assertEqual(len(second["recipients"]), 1)
                if last == "EOM":
                    self.assertEqual(first["ending"], "accepted")
                    continue
                self.assertEqual(first["ending"], "aborted")
                phase = "content" if last == "HEADER" else last.lower()
                self.assertEqual(first["phase"], phase)
                # We are told with the next command.
                self.assertGreaterEqual(first["end_at"]["wall_ns"],
                                        session.moments["M"][0])

    def test_disconnect_after_each_verb_ends_the_message(self):
        for last in VERBS[2:]:
            with self.subTest(after=last):
                known = len(self.journal.messages())
                session = MtaSession(self.socket)
                play(session, last)
                session.close()
                message = self.journal.wait_for_messages(known + 1)[-1]
                if last == "EOM":
                    self.assertEqual(message["ending"], "accepted")
                    self.assertEqual(message["end_at"]["wall_ns"], 0)
                else:
                    self.assertIn(message["ending"], ("aborted", "closed"))
                    # What is written right before the close is lost.
                    phases = (["data", "content"] if last == "HEADER"
                              else [last.lower()])
                    self.assertIn(message["phase"], phases)

    def test_sessions_without_mail_are_counted(self):
        MtaSession(self.socket).close()
        MtaSession(self.socket).connect().close()
        MtaSession(self.socket).connect().quit()
        self.session().quit()
        self.journal.wait_for_counter("aborts_connect", 2)
        self.journal.wait_for_counter("aborts_helo", 1)
        self.journal.wait_for_counter("sessions", 3)
        self.assertEqual(self.journal.messages(), [])

    def test_a_second_helo_is_the_one_that_counts(self):
        session = self.session()
        session.macros.update({"{tls_version}": "TLSv1.3",
                               "{cipher}": "TLS_AES_256_GCM_SHA384"})
        session.helo("again.example.test").message()
        session.quit()
        message = self.journal.wait_for_messages(1)[0]
        self.assertEqual(message["helo"], "again.example.test")
        self.assertEqual(message["tls_version"], "TLSv1.3")
        self.assertEqual(message["tls_cipher"], "TLS_AES_256_GCM_SHA384")
        before, after = session.moments["H"]
        self.assertTrue(before <= message["helo_at"]["wall_ns"] <= after)


class Clients(MilterCase):
    def test_clients_of_every_kind_are_recorded_and_stamped(self):
        """Case 55."""
        for name, address, port, recorded in [
                ("client.example", "192.0.2.1", 4711, "192.0.2.1"),
                ("[192.0.2.2]", "192.0.2.2", 1, "192.0.2.2"),
                ("client.example", "2001:db8::1", 4711, "2001:db8::1"),
                ("client.example", "::ffff:192.0.2.3", 9, "192.0.2.3"),
                ("unknown", None, 0, "")]:
            with self.subTest(address=address):
                known = len(self.journal.messages())
                session = self.session(name, address, port)
                headers = session.message()
                session.quit()
                message = self.journal.wait_for_messages(known + 1)[-1]
                self.assert_stamped(headers, message)
                self.assertEqual(message["client_name"], "unknown"
                                 if name.startswith("[") else name)
                self.assertEqual(message["client_address"], recorded)
                self.assertEqual(message["client_port"], port)

    def test_mail_by_sendmail_has_addresses_without_brackets(self):
        session = MtaSession(self.socket).connect_non_smtp()
        headers = session.message("root", ["user@example.com"])
        session.quit()
        message = self.journal.wait_for_messages(1)[0]
        self.assert_stamped(headers, message)
        self.assertEqual(message["sender"], "root")
        self.assertEqual(message["recipients"][0]["address"],
                         "user@example.com")
        self.assertEqual(message["queue_id"], session.queue_id())

    def test_macros_of_service_and_login_are_recorded(self):
        session = MtaSession(self.socket)
        session.macros.update({"{daemon_name}": "submission",
                               "{auth_type}": "PLAIN",
                               "{auth_authen}": "user@example.com"})
        session.connect().helo().message()
        session.quit()
        message = self.journal.wait_for_messages(1)[0]
        self.assertEqual(message["daemon_name"], "submission")
        self.assertEqual(message["sasl_method"], "PLAIN")
        self.assertEqual(message["sasl_user"], "user@example.com")


class Recipients(MilterCase):
    settings = {"max_recipients": 1500}

    def test_refused_recipients_are_recorded_with_their_reply(self):
        """Case 40."""
        session = self.session()
        session.mail().rcpt("a@example.com").rcpt_rejected(
            "b@example.com", "5.7.1", "<b@example.com>: Access denied")
        session.rcpt("c@example.com").data()
        session.eom()
        session.quit()
        recipients = self.journal.wait_for_messages(1)[0]["recipients"]
        self.assertEqual([(r["address"], r["rejected"], r["reject_dsn"],
                           r["reject_text"]) for r in recipients],
                         [("a@example.com", False, "", ""),
                          ("b@example.com", True, "5.7.1",
                           "<b@example.com>: Access denied"),
                          ("c@example.com", False, "", "")])

    def test_a_thousand_recipients(self):
        addresses = [f"r{n}@example.com" for n in range(1000)]
        session = self.session()
        headers = session.message("s@example.com", addresses)
        session.quit()
        message = self.journal.wait_for_messages(1)[0]
        self.assert_stamped(headers, message)
        self.assertEqual([r["address"] for r in message["recipients"]],
                         addresses)
        self.assertEqual(message["recipients_omitted"], 0)

    def test_recipients_beyond_the_limit_are_counted(self):
        """I8."""
        session = self.session()
        headers = session.message(
            "s@example.com", [f"r{n}@example.com" for n in range(3000)])
        session.quit()
        message = self.journal.wait_for_messages(1)[0]
        self.assert_stamped(headers, message)
        self.assertEqual(len(message["recipients"]), 1500)
        self.assertEqual(message["recipients_omitted"], 1500)

    def test_sizes_are_read_and_null_senders_kept(self):
        session = self.session()
        session.mail("", "SIZE=12345", "BODY=8BITMIME").rcpt().data()
        session.eom()
        session.quit()
        message = self.journal.wait_for_messages(1)[0]
        self.assertEqual(message["declared_bytes"], 12345)
        self.assertEqual(message["sender"], "<>")

    def test_a_message_without_any_header_is_stamped_too(self):
        session = self.session()
        headers = session.message(headers=[])
        session.quit()
        message = self.journal.wait_for_messages(1)[0]
        self.assert_stamped(headers, message)
        self.assertEqual(message["content_at"], message["eom_at"])


class Aborts(MilterCase):
    settings = {"aborts_per_second": 1, "aborts_burst": 5}

    def test_refused_transactions_beyond_the_rate_are_counted(self):
        """I8."""
        session = self.session()
        for _ in range(40):
            session.mail().rcpt_rejected().abort()
        for _ in range(10):
            session.mail().abort()
        session.mail().rcpt().abort()
        session.quit()

        def all_told():
            seen = self.journal.counters()
            return len(self.journal.messages()) + seen["aborts_rcpt"] \
                + seen["aborts_mail"] == 51
        wait_until(all_told, "51 ends")
        messages = self.journal.messages()
        refused = [m for m in messages if m["recipients"] == []
                   or all(r["rejected"] for r in m["recipients"])]
        self.assertGreaterEqual(len(refused), 5)
        self.assertLess(len(refused), 25)
        # The one with an accepted recipient is always recorded.
        self.assertEqual(len(messages), len(refused) + 1)
        self.assertGreater(self.journal.counters()["aborts_rcpt"], 0)


class Stamps(MilterCase):
    FORGERIES = {
        "one": [FORGED],
        "three": [FORGED, "x", FORGED],
        "oversized": ["x" * 60000],
        "larger than a packet of libmilter's default": ["x" * 100000],
        "folded oddly": ["\n\t\n " + FORGED.replace(" ", "\n \n\t")],
        "1970": [FORGED.replace("2026-11-30", "1970-01-01")],
        "2100": [FORGED.replace("2026", "2100")],
        "empty": [""],
        "eight-bit": [b"\xff\xfe"],
    }

    def test_forged_stamps_are_removed_and_counted(self):
        """Case 61."""
        for name, values in self.FORGERIES.items():
            with self.subTest(forgery=name):
                known = len(self.journal.messages())
                headers = [("Subject", "x")]
                for value, header in zip(values, itertools.cycle(
                        [STAMP, STAMP.lower(), STAMP.upper()])):
                    headers += [(header, value), ("X-Other", "y")]
                session = self.session()
                result = session.message(headers=headers)
                session.quit()
                message = self.journal.wait_for_messages(known + 1)[-1]
                self.assert_stamped(result, message)
                self.assertEqual(message["forged_stamps"], len(values))
                self.assertEqual(message["previous"], "")
                self.assertEqual(
                    result[1:], [h for h in headers
                                 if h[0].lower() != STAMP.lower()])

    def test_a_genuine_stamp_copied_by_a_stranger_is_not_believed(self):
        session = self.session()
        genuine = stamps(session.message())[0]
        result = session.message(headers=[(STAMP, genuine)])
        session.quit()
        first, second = self.journal.wait_for_messages(2)
        self.assert_stamped(result, second)
        self.assertNotEqual(first["id"], second["id"])
        self.assertEqual(second["forged_stamps"], 1)
        self.assertEqual(second["previous"], "")

    def test_a_trusted_reinjector_links_to_the_message_before(self):
        """Case 26."""
        session = self.session()
        genuine = stamps(session.message())[0]
        session.quit()
        first = self.journal.wait_for_messages(1)[0]
        sessions = [self.session("localhost", "127.0.0.1", 4711),
                    self.session("localhost", "::1", 4711),
                    MtaSession(self.socket).connect_non_smtp()]
        for number, session in enumerate(sessions):
            result = session.message(headers=[(STAMP, genuine)])
            session.quit()
            message = self.journal.wait_for_messages(number + 2)[-1]
            self.assert_stamped(result, message)
            self.assertEqual(message["previous"], first["id"])
            self.assertEqual(message["forged_stamps"], 0)

    def test_a_malformed_stamp_is_forged_whoever_sends_it(self):
        session = self.session("localhost", "127.0.0.1", 4711)
        session.message(headers=[(STAMP, "x")])
        session.quit()
        message = self.journal.wait_for_messages(1)[0]
        self.assertEqual(message["forged_stamps"], 1)
        self.assertEqual(message["previous"], "")

    def test_thousands_of_headers_and_hundreds_of_stamps(self):
        """I8."""
        headers = [(f"X-{n}", "y") for n in range(5000)]
        headers += [(STAMP, str(n)) for n in range(500)]
        session = self.session()
        result = session.message(headers=headers)
        session.quit()
        message = self.journal.wait_for_messages(1)[0]
        self.assert_stamped(result, message)
        self.assertEqual(message["forged_stamps"], 500)

    def test_a_huge_message_id_is_cut_and_the_run_is_recorded(self):
        """Case 36."""
        session = self.session()
        result = session.message(headers=[
            ("Message-ID", "<" + "a" * 5000 + ">"), ("X-Perf-Run", "run 7")])
        session.quit()
        message = self.journal.wait_for_messages(1)[0]
        self.assert_stamped(result, message)
        self.assertEqual(message["message_id"], "<" + "a" * 997)
        self.assertEqual(message["run"], "run 7")


class OtherSettings(MilterCase):
    settings = {"header": "X-Other-Name", "trusted_reinjectors": "192.0.2.0/24"}

    def test_header_name_and_reinjectors_are_configurable(self):
        session = self.session("client", "192.0.2.9", 1)
        result = session.message(headers=[("x-other-name", FORGED),
                                          (STAMP, "kept")])
        session.quit()
        self.assertEqual(result[0][0], "X-Other-Name")
        self.assertEqual(result[1:], [(STAMP, "kept")])
        message = self.journal.wait_for_messages(1)[0]
        self.assertEqual(message["previous"],
                         "0193a4c8-6f00-7abc-8def-0123456789ab")
        session = MtaSession(self.socket).connect_non_smtp()
        session.message(headers=[("X-Other-Name", FORGED)])
        session.quit()
        message = self.journal.wait_for_messages(2)[1]
        self.assertEqual(message["previous"], "")
        self.assertEqual(message["forged_stamps"], 1)


if __name__ == "__main__":
    tap.main()
