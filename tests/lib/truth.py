# SPDX-License-Identifier: BSD-2-Clause
"""What mailboxes and Postfix's log say about deliveries, independently of us."""

import collections
import re

SENT = re.compile(r": (\w+): to=<([^>]*)>,.* relay=([^,]*),.* status=(\w+)"
                  r" \((.*)\)$")
# What Postfix says when it goes on to the next nexthop after end of data.
MAYBE = re.compile(r": (\w+): lost connection .*may be sent more than once$")


class Copy:
    """One delivered file, and which message it is a copy of."""

    def __init__(self, mail):
        self.recipient = mail.recipient
        self.path = mail.path
        self.saved_us = mail.saved_us
        message = mail.message()
        self.message_id = message["Message-Id"]
        self.sender = message["Return-Path"].strip("<>")
        self.stamps = message.get_all("X-Perf-Sent") or []
        self.queue_id = queue_id(message)
        self.stamp_id = None
        if self.stamps:
            self.stamp_id = re.search(r"id=([0-9a-f-]{36})",
                                      self.stamps[0])[1]


def queue_id(message):
    """From Postfix's own Received:, the first by our host."""
    for received in message.get_all("Received"):
        match = re.search(r"by mx\.example\.test .*\bid (\w+)", received,
                          re.DOTALL)
        if match:
            return match[1]
    return None


class Truth:
    """Reads each file and each log line once, however often it is asked."""

    def __init__(self, stack):
        self.stack = stack
        self.copies = []
        self._seen = set()
        self._log_read = 0
        # (queue id, recipient), None for all: how often Postfix says...
        self.sent_by_hook = collections.Counter()
        self.sent_past_hook = collections.Counter()
        self.sent_maybe = collections.Counter()

    def read(self):
        for mail in self.stack.mailboxes():
            if mail.path not in self._seen:
                self._seen.add(mail.path)
                self.copies.append(Copy(mail))
        lines = self.stack.postfix.log().splitlines()
        for line in lines[self._log_read:]:
            self._line(line)
        self._log_read = len(lines)
        return self

    def _line(self, line):
        match = SENT.search(line)
        if not match:
            match = MAYBE.search(line)
            if match:
                self.sent_maybe[match[1], None] += 1
            return
        queue_id_, recipient, relay, status, text = match.groups()
        key = queue_id_, recipient
        if status == "sent" and relay.endswith(f":{self.stack.hook_port}"):
            self.sent_by_hook[key] += 1
        elif status == "sent":
            self.sent_past_hook[key] += 1
        elif "may be sent more than once" in text:
            self.sent_maybe[key] += 1

    def from_sender(self, sender):
        return [copy for copy in self.copies if copy.sender == sender]

    def wrong_copies(self, sender, messages, recipients):
        """What is lost, and what came more often than Postfix's log allows,
        of `messages` from `sender` to `recipients` each. [] when all is well.
        """
        copies = self.from_sender(sender)
        count = collections.Counter(
            (copy.message_id, copy.recipient) for copy in copies)
        wrong = []
        if len(count) != messages * recipients:
            wrong.append(f"{sender}: {len(count)} of {messages * recipients}"
                         " arrived")
        allowed = {(copy.message_id, copy.recipient): 1
                   + self.sent_maybe[copy.queue_id, copy.recipient]
                   + self.sent_maybe[copy.queue_id, None] for copy in copies}
        wrong += [f"{key}: {number} copies, {allowed[key]} allowed"
                  for key, number in count.items() if number > allowed[key]]
        return wrong
