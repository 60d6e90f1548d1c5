# SPDX-License-Identifier: BSD-2-Clause
"""A whole mail system whose log the exporter reads, and the ground of tests
about what became of recipients.

    class Holds(FateCase):
        listeners = [...]

        def test_hold_by_the_access_map(self):
            queue_id = self.send(["hold@example.test"])
            self.assert_fates(queue_id, {"hold@example.test": "held"})

After each test the balance is compared with what mailboxes, queue and log say.
"""

import collections
import os
import re
import shutil
import time
import unittest

from openapi import message_faults
from smtp_client import SmtpClient
from stack import GROUP, Stack
from waiting import wait_until

FATE_PATIENCE = 60.0

OPEN = ("in_flight", "deferred", "held")
FINAL = ("delivered", "bounced", "relayed", "handed_off", "expired",
         "discarded", "deleted", "ghost", "lost", "unknown", "expanded",
         "merged")
DEFERRALS = ("other", "address", "mailbox", "system", "network", "protocol",
             "content", "policy")

LINE = re.compile(
    r"\S+\[\d+\]: (?P<queue_id>\w+): to=<(?P<to>[^>]*)>,"
    r"(?: orig_to=<(?P<orig_to>[^>]*)>,)? relay=(?P<relay>[^,]*),.*"
    r" dsn=(?P<dsn>[\d.]+), status=(?P<status>\w+) \((?P<text>.*)\)$")


def queue_id_of(line):
    """The queue id that a log line is about."""
    return re.search(r"\]: (?:warning: )?(\w+): ", line)[1]


class FateStack(Stack):
    def __init__(self, listeners=None, *, files=None, settings=None, **more):
        """`files` are {name: text} in Postfix's configuration directory, which
        `{etc}` in settings stands for."""
        super().__init__(listeners, settings=settings, **more)
        self.files = dict(files or {})
        # Deliveries with a 2xx for which Dovecot makes no file.
        self.without_file = 0
        # Recipients that bounced without a line of Postfix's.
        self.without_line = 0
        # The shortest ages: whoever is called lost falsely shows it soon.
        self.settings["exporter"].update({
            "maillog": self.postfix.log_path,
            "maillog_instances": "postfix=mx.example.test",
            "queue_directories":
                f"mx.example.test={self.postfix.queue_directory}",
            "loss_after": "2s", "loss_confirm": "1s", "ghost_after": "2s",
            **(settings or {}).get("exporter", {})})

    def prepare(self):
        self._expand(self.postfix.etc)
        super().prepare()
        for name, text in self.files.items():
            with open(f"{self.postfix.etc}/{name}", "w",
                      encoding="utf-8") as out:
                out.write(text)
        # The exporter wants to see the queue when it starts.
        self.postfix.command("postfix", "check")
        self.make_log()

    def make_log(self, path=None):
        """As the README tells the administrator, before Postfix makes it."""
        path = path or self.postfix.log_path
        with open(path, "ab") as log:
            shutil.chown(path, "root", GROUP)
            os.fchmod(log.fileno(), 0o640)

    def _expand(self, etc):
        for options in (self.postfix.settings,
                        *(listener.options for listener in
                          self.postfix.listeners.values())):
            for name, value in options.items():
                options[name] = value.replace("{etc}", etc)
        self.postfix.services = [line.replace("{etc}", etc)
                                 for line in self.postfix.services]

    def submit(self, sender, recipients, content, listener=None):
        """One message in a session of its own; the reply to its end."""
        with SmtpClient(self.address(listener)) as client:
            client.command("EHLO client.example.test", 2)
            reply = client.message(sender, recipients, content)
            client.quit()
        return reply

    def mailbox_files(self):
        """How many deliveries mailboxes show."""
        return self.dovecot.count() + self.without_file

    def attempts_logged(self):
        """Every delivery agent's line, as a dictionary."""
        matches = (LINE.search(line)
                   for line in self.postfix.log().splitlines())
        return [match.groupdict() for match in matches if match]


class FateCase(unittest.TestCase):
    """All tests of a class share one stack."""

    listeners = None
    options = {}

    @classmethod
    def setUpClass(cls):
        cls.stack = cls.make_stack()
        cls.stack.start()
        cls.addClassCleanup(cls.stack.stop)

    @classmethod
    def make_stack(cls):
        return FateStack(cls.listeners, **cls.options)

    def send(self, recipients, sender="sender@direct.test", listener=None,
             subject="test", body="hello"):
        """The queue id that Postfix told the client."""
        code, text = self.stack.submit(
            sender, recipients,
            f"From: <{sender}>\r\nSubject: {subject}\r\n\r\n{body}\r\n",
            listener)
        self.assertEqual(code, 250, text)
        return text.split()[-1]

    def record(self, key):
        """The newest message that the API knows by this key, or None."""
        found = self.stack.message(key)
        if not found:
            return None
        self.assertEqual(message_faults(found["messages"][0]), [])
        return found["messages"][0]

    def fates(self, key):
        """{address: state or (state, reason)} as the API tells them; a list
        of them for an address that several recipients have."""
        record = self.record(key)
        if record is None:
            return None
        fates = {}
        for recipient in record["recipients"]:
            address, fate = recipient["address"], self._fate(recipient)
            if address in fates:
                fate = [fates[address], fate]
            fates[address] = fate
        return fates

    @staticmethod
    def _fate(recipient):
        reason = recipient.get("reason")
        if reason in (None, "none"):
            return recipient["state"]
        return recipient["state"], reason

    def assert_fates(self, key, wanted, timeout=FATE_PATIENCE):
        """Waits until the message has exactly these recipients in these
        states, and they are counted. Returns its record."""
        deadline = time.monotonic() + timeout
        seen = collections.OrderedDict()
        while (fates := self.fates(key)) != wanted:
            seen[str(fates)] = True
            if time.monotonic() > deadline:
                self.fail(self._explain(key, wanted, seen))
            time.sleep(0.05)
        for state in seen:
            self.assertNotIn("lost", state, "never, not even for a moment")
        self.stack.wait_until_shown()
        return self.record(key)

    def assert_eventually(self, condition, key="", timeout=FATE_PATIENCE):
        """Waits until condition(fates) holds of the message's fates."""
        try:
            wait_until(lambda: condition(self.fates(key) or {}), key, timeout,
                       0.05)
        except AssertionError:
            self.fail(self._explain(key, condition, [str(self.fates(key))]))

    def assert_never_lost(self, key, seconds):
        """Watches the message for so long."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            self.assertNotIn("lost", str(self.fates(key)))
            time.sleep(0.1)

    def _explain(self, key, wanted, seen):
        return "\n".join([f"{key}: wanted {wanted}", *seen,
                          *self.stack.log_lines(f": {key}: "),
                          self.stack.exporter.log()[-2000:]])

    def wait_for_line(self, *parts):
        return self.stack.wait_for_log(*parts, timeout=FATE_PATIENCE)

    def tearDown(self):
        Balance(self.stack).wait()


def not_closed(seen):
    """What of the balance does not close within one look at /metrics: [] at
    any moment (I5)."""
    wrong = []

    def compare(what, ours, theirs):
        if ours != theirs:
            wrong.append(f"{what}: {ours} and not {theirs}")

    def entered(state):
        return seen.value("postlag_recipient_outcomes_total", outcome=state) \
            - seen.total("postlag_outcome_revisions_total", **{"from": state})

    known = seen.total("postlag_recipients_accepted_total") \
        + seen.total("postlag_recipients_added_total") \
        - seen.total("postlag_recipients_recognized_total")
    compare("accepted and added", known, seen.total("postlag_recipients"))
    compare("accepted, added and revised", known
            + seen.total("postlag_outcome_revisions_total")
            - seen.total("postlag_outcome_revisions_total",
                         **{"from": "aborted"}),
            seen.total("postlag_recipient_outcomes_total")
            + sum(seen.value("postlag_recipients", state=state)
                  for state in OPEN))
    for state in FINAL:
        compare(f"entries into {state}", entered(state),
                seen.value("postlag_recipients", state=state))
    wrong += [f"{key}: {value}" for key, value in seen.samples.items()
              if key[0] == "postlag_recipients" and value < 0]
    return wrong


class Balance:
    """What is known against what mailboxes, queue and log say."""

    def __init__(self, stack):
        self.stack = stack
        self.seen = None
        self.wrong = []

    def wait(self):
        """Until it closes, because the exporter is a moment behind."""
        try:
            wait_until(self._closes, "the balance", FATE_PATIENCE, 0.1)
        except AssertionError as error:
            raise AssertionError(f"{error}: {self.wrong}") from None

    def _closes(self):
        self.seen = self.stack.metrics()
        self.wrong = not_closed(self.seen)
        self._compare("mailboxes", self._now("delivered"),
                      self.stack.mailbox_files())
        self._compare("queue", sum(self._now(state) for state in OPEN),
                      self._queue())
        self._compare("bounce lines", self._now("bounced"),
                      self._bounced() + self.stack.without_line)
        for subject, reason in enumerate(DEFERRALS):
            self._compare(
                f"deferred: {reason}",
                self.seen.value("postlag_deferrals_total", reason=reason),
                self._deferred(str(subject)))
        return not self.wrong

    def _compare(self, what, ours, theirs):
        if ours != theirs:
            self.wrong.append(f"{what}: {ours} and not {theirs}")

    def _now(self, state):
        return self.seen.value("postlag_recipients", state=state)

    def _queue(self):
        return sum(len(message["recipients"])
                   for message in self.stack.queue())

    def _deferred(self, subject):
        """Attempts, by the second number of their enhanced status code."""
        return sum(line["status"] == "deferred"
                   and line["dsn"].split(".")[1] == subject
                   for line in self.stack.attempts_logged())

    def _bounced(self):
        return len({(line["queue_id"], line["to"])
                    for line in self.stack.attempts_logged()
                    if line["status"] == "bounced"})
