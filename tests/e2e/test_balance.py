# SPDX-License-Identifier: BSD-2-Clause
"""The balance closes at any moment and at the end equals what others count
(must show 5; cases 3, 5, 6, 27 and 29; I3, I5, I6): mail of every fate, while
the exporter is killed again and again, also within rotations of its log."""

import collections
import glob
import itertools
import os
import random
import re
import shutil
import signal
import subprocess
import threading
import time

import lmtp_client
import lmtp_server
import tap
from fate_stack import OPEN, FateCase, FateStack, not_closed
from mail_system import Listener, service
from programs import pause_process
from scraper import Scraper
from smtp_server import SmtpServer
from waiting import wait_until

# Messages are a hundred times that.
UNITS = 200 if os.environ.get("POSTLAG_LONG") else 6
PATIENCE = 120 + 6 * UNITS
# Rotations of the log are among the first kills and then rare.
ROTATIONS = {2, 4, 7, 9, *range(30, 100000, 40)}

SENDER = "sender@direct.test"

# So many messages of a unit, each to so many recipients, by that listener. The
# local part says what becomes of them; smtp-source puts digits before it.
Batch = collections.namedtuple("Batch", "to messages recipients listener")
BATCHES = [
    Batch("plain@example.test", 30, 1, "plain"),
    Batch("plain@example.test", 8, 3, "plain"),
    Batch("plain@example.test", 5, 2, "bare"),
    Batch("busy1@example.test", 8, 1, "plain"),
    Batch("busy3@example.test", 4, 2, "plain"),
    Batch("locked@example.test", 4, 2, "plain"),
    Batch("unknown@example.test", 4, 2, "plain"),
    Batch("full@example.test", 3, 1, "bare"),
    Batch("team@example.test", 6, 1, "plain"),
    Batch("same@example.test", 3, 3, "short"),
    Batch("away@relay.test", 6, 1, "plain"),
    Batch("drop@discard.test", 4, 2, "plain"),
    Batch("held@example.test", 6, 1, "hold"),
    Batch("never@example.test", 1, 2, "plain"),
]
MIXED = 8
MIXED_RECIPIENTS = [
    "plain@example.test", "busy1@example.test", "full@example.test",
    "other@direct.test", "away@relay.test", "drop@discard.test"]

TEAM = ["plain@example.test", "busy1@example.test", "unknown@example.test",
        "away@relay.test", "drop@discard.test"]
ALIASES = rf"""
/^[0-9]*team@example\.test$/ {", ".join(TEAM)}
/^[0-9]*same@example\.test$/ one@example.test
"""

TRANSPORTS = """\
direct.test lmtp:inet:127.0.0.1:{dovecot}
relay.test smtp:[127.0.0.1]:{relay}
discard.test discard:as configured
"""

OUTCOMES = {"plain": "delivered", "busy": "delivered", "locked": "delivered",
            "other": "delivered", "unknown": "bounced", "full": "bounced",
            "away": "relayed", "drop": "discarded"}


class Mailboxes(lmtp_server.Script):
    """Refuses, or refuses for now, as the local part says; all else it puts
    into Dovecot's mailboxes, each recipient by itself."""

    def __init__(self, dovecot):
        self.dovecot = dovecot
        self.unlocked = threading.Event()
        self.tries = collections.Counter()

    def rcpt(self, session, address):
        if "unknown" in address:
            return b"550 5.1.1 No such user\r\n"
        if "locked" in address and not self.unlocked.is_set():
            return b"450 4.2.0 Locked\r\n"
        return super().rcpt(session, address)

    def content(self, session):
        with lmtp_client.Client(("127.0.0.1", self.dovecot.port)) as client:
            client.hello()
            return [self.refusal(session, address)
                    or self.deliver(client, session, address)
                    for address in session.accepted]

    def refusal(self, session, address):
        if "full" in address:
            return b"552 5.2.2 Mailbox full\r\n"
        busy = re.search(r"busy(\d)", address)
        key = self.message(session), address
        self.tries[key] += 1
        if "never" in address or busy and self.tries[key] <= int(busy[1]):
            return b"451 4.3.0 Busy\r\n"
        return None

    @staticmethod
    def message(session):
        content = session.transaction.content
        return re.search(rb"\nMessage-I[dD]: (\S+)", content)[1]

    @staticmethod
    def deliver(client, session, address):
        transaction = session.transaction
        result = client.deliver(transaction.sender, [address],
                                transaction.content, stuffed=True)
        return result.final[0].raw


class BalanceStack(FateStack):
    def __init__(self):
        self.relay = SmtpServer()
        super().__init__(
            [Listener("plain"), Listener("bare", {"smtpd_milters": ""}),
             Listener("short", {"cleanup_service_name": "cleanup-short"}),
             Listener("hold", {"smtpd_recipient_restrictions":
                               "check_recipient_access static:HOLD, permit"})],
            main_cf={
                "virtual_alias_maps": "regexp:{etc}/aliases",
                "transport_maps": "texthash:{etc}/transport",
                "relay_domains": "relay.test discard.test",
                "queue_run_delay": "1s", "minimal_backoff_time": "1s",
                "maximal_backoff_time": "20s"},
            services=[service("cleanup-short", "unix", "cleanup",
                              {"enable_original_recipient": "no"}, "0",
                              public=True)])
        self.backend = lmtp_server.Server(Mailboxes(self.dovecot))
        self.settings["lmtp"]["backend"] = self.backend.endpoint
        # A hook's 4xx sends lmtp(8) on to the second nexthop.
        hook, comma, _ = \
            self.postfix.settings["virtual_transport"].partition(",")
        assert comma
        self.postfix.settings["virtual_transport"] = \
            f"{hook}, 127.0.0.1:{self.backend.address[1]}"
        self.files = {
            "aliases": ALIASES,
            "transport": TRANSPORTS.format(dovecot=self.dovecot.port,
                                           relay=self.relay.port)}

    def stop(self):
        super().stop()
        self.backend.close()
        self.relay.close()

    def grep(self, pattern):
        """How many lines of the log match, by grep(1)."""
        files = glob.glob(f"{glob.escape(self.postfix.log_path)}*")
        done = subprocess.run(["grep", "-hE", pattern, *files], check=False,
                              capture_output=True, text=True)
        return len(done.stdout.splitlines())


class Load(threading.Thread):
    """Sends everything, two smtp-sources and a client of our own at a time,
    and counts the 250s."""

    def __init__(self, stack):
        super().__init__()
        self.stack = stack
        self.failure = None
        self.messages = collections.Counter()  # by listener
        self.recipients = collections.Counter()
        self.outcomes = collections.Counter()  # as it must be in the end

    def run(self):
        try:
            queue = list(BATCHES)
            random.shuffle(queue)
            running = [self.source(queue.pop()), self.source(queue.pop())]
            for _ in range(MIXED * UNITS):
                self.send_mixed()
                if queue and running[0][1].poll() is not None:
                    self.finish(*running.pop(0))
                    running.append(self.source(queue.pop()))
            while running:
                self.finish(*running.pop(0))
                if queue:
                    running.append(self.source(queue.pop()))
        except BaseException as error:
            self.failure = error

    def source(self, batch):
        return batch, self.stack.smtp_source(
            batch.messages * UNITS, batch.recipients, sessions=3, keep=True,
            to=batch.to, sender=SENDER, listener=batch.listener, wait=False)

    def finish(self, batch, process):
        output, _ = process.communicate(timeout=PATIENCE)
        assert process.returncode == 0, output
        self.count(batch.messages * UNITS, [batch.to] * batch.recipients,
                   batch.listener)

    def send_mixed(self):
        code, text = self.stack.submit(
            SENDER, MIXED_RECIPIENTS, f"From: <{SENDER}>\r\n\r\nmixed\r\n",
            "plain")
        assert code == 250, text
        self.count(1, MIXED_RECIPIENTS, "plain")

    def count(self, messages, recipients, listener):
        self.messages[listener] += messages
        self.recipients[listener] += messages * len(recipients)
        members = list(recipients)
        if recipients[0].startswith("team"):
            members = TEAM * len(recipients)
        elif recipients[0].startswith("same"):
            members = ["plain"]
        if members != recipients:
            self.outcomes["renamed"] += messages * len(recipients)
        for member in members:
            kind = re.match("[a-z]+", member)[0]
            self.outcomes[OUTCOMES.get(kind, kind)] += messages

    def seen_by_the_milter(self, counts):
        return counts.total() - counts["bare"]


class Balances(FateCase):
    @classmethod
    def make_stack(cls):
        return BalanceStack()

    def setUp(self):
        seed = int(os.environ.get("POSTLAG_SEED", random.getrandbits(32)))
        print(f"# POSTLAG_SEED={seed}")
        random.seed(seed)
        self.kills = itertools.count(1)
        self.numbers = itertools.count(1)
        self.removed = collections.Counter()

    def test_mail_of_every_fate_while_the_exporter_is_killed(self):
        """Every scrape closes; in the end all agree, outcome by outcome"""
        with Scraper(self.stack, not_closed) as scraper:
            self.load = Load(self.stack)
            self.load.start()
            while self.load.is_alive():
                self.disturb()
            self.assertIsNone(self.load.failure)
            self.stack.backend.script.unlocked.set()
            self.disturb_until(self.only_the_held_and_the_never_left)
            self.take_from_the_queue()
            self.disturb()
            self.wait_until_all_agree()
        print(f"# {self.load.messages.total()} messages, "
              f"{next(self.kills) - 1} kills, {scraper.scrapes} scrapes, "
              f"{self.known()}")
        self.assertEqual(scraper.wrong, [])
        self.assertEqual(scraper.decreases, [])
        self.assertGreater(scraper.scrapes, UNITS)
        gaps = self.stack.metrics()
        self.assertEqual(
            gaps.total("postlag_log_gaps_total"),
            gaps.value("postlag_log_gaps_total", reason="copied"),
            [key for key, value in gaps.samples.items()
             if key[0] == "postlag_log_gaps_total" and value > 0])

    # What happens meanwhile.

    def disturb(self):
        number = next(self.kills)
        time.sleep(random.uniform(0.05, 1.5))
        if number not in ROTATIONS:
            self.interrupted([])
        elif number % 2:
            self.interrupted(self.rotation_by_copying())
        else:
            self.interrupted(self.rotation_by_renaming())

    def disturb_until(self, condition):
        deadline = time.monotonic() + PATIENCE
        while not condition():
            self.assertLess(time.monotonic(), deadline)
            self.stack.postfix.flush()
            self.disturb()

    def interrupted(self, steps):
        """Takes the steps; the exporter is killed before one of them and
        started again behind it or a later one."""
        first = random.randrange(len(steps) + 1)
        last = random.randrange(first, len(steps) + 1)
        for number, step in enumerate([*steps, lambda: None]):
            if number == first:
                self.stack.exporter.kill()
            step()
            if number == last:
                self.stack.exporter.start()

    def shift(self):
        path = self.stack.postfix.log_path
        number = 1
        while os.path.exists(f"{path}.{number}"):
            number += 1
        return [lambda n=n: os.rename(f"{path}.{n}", f"{path}.{n + 1}")
                for n in range(number - 1, 0, -1)]

    def rotation_by_renaming(self):
        path = self.stack.postfix.log_path
        return [*self.shift(), lambda: os.rename(path, f"{path}.1"),
                self.stack.make_log, self.stack.postfix.reload_in_silence]

    def rotation_by_copying(self):
        """No line falls between copying and truncating here; usually some may.
        """
        path = self.stack.postfix.log_path
        writers = self.stack.postfix.processes("postlogd")
        self.assertEqual(len(writers), 1)
        return [lambda: pause_process(writers[0], "postlogd"), *self.shift(),
                lambda: self.stack.make_log(f"{path}.1"),
                lambda: shutil.copyfile(path, f"{path}.1"),
                lambda: os.truncate(path, 0),
                lambda: os.kill(writers[0], signal.SIGCONT)]

    # What is left in the queue, and what an administrator does to it.

    def only_the_held_and_the_never_left(self):
        return self.load.outcomes["held"] + self.load.outcomes["never"] == sum(
            len(message["recipients"]) for message in self.stack.queue())

    def take_from_the_queue(self):
        # One that moves meanwhile may be listed twice.
        queue = {message["queue_id"]: message
                 for message in self.stack.queue()}.values()
        held = [message for message in queue
                if message["queue_name"] == "hold"]
        never = [message for message in queue
                 if message["queue_name"] != "hold"]
        released = held[::3]
        self.take("-H", released, "released")
        self.disturb()
        self.take("-d", held[1::3], "deleted")
        self.take("-d", never[::3], "deleted")
        self.disturb()
        self.take("-e", never[1::3], "expired")
        self.stack.postfix.flush()

    def take(self, option, messages, name):
        self.stack.postfix.command(
            "postsuper", option, "-", text="".join(
                message["queue_id"] + "\n" for message in messages))
        self.removed[name] += sum(
            len(message["recipients"]) for message in messages)

    # What we say, and what others say.

    def wait_until_all_agree(self):
        try:
            wait_until(lambda: self.known() == self.others(), "all to agree",
                       PATIENCE, 0.5)
        except AssertionError as error:
            raise AssertionError(f"{error}:\n{self.known()} we say,\n"
                                 f"{self.others()} others say") from None
        self.assertEqual(self.as_planned(), self.known())

    def known(self):
        seen = self.stack.metrics()
        known = {state: int(seen.value("postlag_recipients", state=state))
                 for state in (*OPEN, "delivered", "bounced", "relayed",
                               "discarded", "deleted", "expired", "ghost",
                               "lost", "unknown", "handed_off")}
        known["renamed"] = sum(
            int(seen.value("postlag_recipients", state=state))
            for state in ("expanded", "merged"))
        known["messages accepted"] = int(
            seen.value("postlag_messages_accepted_total"))
        known["recipients accepted"] = int(
            seen.value("postlag_recipients_accepted_total"))
        known["duplicates"] = int(seen.value("postlag_duplicates_total"))
        return known

    def others(self):
        stack, load = self.stack, self.load
        waiting = collections.Counter()
        for message in stack.queue():
            waiting[message["queue_name"]] += len(message["recipients"])
        return {
            "in_flight": waiting["incoming"],
            "deferred": waiting["deferred"] + waiting["active"],
            "held": waiting["hold"], "delivered": stack.mailbox_files(),
            "bounced": stack.grep("status=bounced"),
            "relayed": stack.relay.recipients(),
            "discarded": stack.grep(r"postfix/discard\["),
            "deleted": self.removed["deleted"],
            "expired": self.removed["expired"],
            "ghost": 0, "lost": 0, "unknown": 0, "handed_off": 0,
            "renamed": load.outcomes["renamed"],
            "messages accepted": load.seen_by_the_milter(load.messages),
            "recipients accepted": load.seen_by_the_milter(load.recipients),
            "duplicates": 0}

    def as_planned(self):
        """What the addresses say that must become of them."""
        planned = self.load.outcomes
        notices = self.stack.grep("sender non-delivery notification: ")
        gone_held = (planned["held"] + 1) // 3
        gone_never = self.removed["deleted"] - gone_held \
            + self.removed["expired"]
        return {
            **self.others(),
            "delivered": planned["delivered"] + notices
            + self.removed["released"],
            "held": planned["held"] - self.removed["released"] - gone_held,
            "deferred": planned["never"] - gone_never,
            "bounced": planned["bounced"], "relayed": planned["relayed"],
            "discarded": planned["discarded"]}


if __name__ == "__main__":
    tap.main()
