# SPDX-License-Identifier: BSD-2-Clause
"""Checks of the whole: mailboxes, Postfix's log, rows and /metrics agree."""


class Balance:
    """For a unittest.TestCase with the members stack and truth."""

    def check_everything(self):
        self.stack.wait_until_settled()
        self.truth.read()
        rows = self.stack.rows()
        self.check_rows(rows)
        self.check_counters(rows)

    def check_rows(self, rows):
        """Every stamped message has exactly one row, every delivery through
        the hook its one outcome."""
        by_id = {}
        for row in rows:
            self.assertNotIn(row.id, by_id, "two rows for one message")
            by_id[row.id] = row
        for copy in self.truth.copies:
            if copy.stamp_id:
                self.assertIn(copy.stamp_id, by_id, copy.path)
                self._check_outcome(copy, by_id[copy.stamp_id])

    def _check_outcome(self, copy, row):
        states = [state for address, state in row.recipients
                  if address == copy.recipient]
        self.assertEqual(len(states), 1, (copy.path, row))
        if self.truth.sent_by_hook[copy.queue_id, copy.recipient]:
            self.assertEqual(states, ["delivered"], (copy.path, row))
        else:
            # The hook died after it recorded the reply, or never saw it.
            self.assertIn(states[0], ("delivered", "in_flight"), copy.path)

    def check_counters(self, rows):
        """What /metrics says equals the rows, and the balance closes (I3, I5).
        """
        metrics = self.stack.metrics()
        states = [state for row in rows for _, state in row.recipients]
        accepted = metrics.value("postlag_recipients_accepted_total")
        added = metrics.total("postlag_recipients_added_total")
        # Mail whose message is not known has an outcome, but no row of one.
        unjoined = metrics.value("postlag_recipients_added_total",
                                 reason="unjoined")
        outcomes = metrics.total("postlag_recipient_outcomes_total")
        in_flight = metrics.value("postlag_recipients", state="in_flight")
        self.assertEqual(
            metrics.value("postlag_messages_accepted_total"), len(rows))
        self.assertEqual(
            outcomes - unjoined,
            states.count("delivered") + states.count("bounced"))
        self.assertEqual(in_flight, states.count("in_flight"))
        recognized = metrics.total("postlag_recipients_recognized_total")
        self.assertEqual(
            accepted + added
            + metrics.total("postlag_outcome_revisions_total"),
            outcomes + recognized + in_flight)
        self.assertEqual(accepted + added - recognized,
                         metrics.total("postlag_recipients"))
        self.assertEqual(
            metrics.total("postlag_delivery_latency_seconds_count"),
            states.count("delivered"))
