# SPDX-License-Identifier: BSD-2-Clause
"""Mail of many kinds, to be recorded by record_scenarios.py: which recipients,
with or without a stamp, and what is done to the message then."""

import itertools

from fate_stack import FateCase
from lmtp_server import Server
from mail_system import Listener
from smtp_client import SmtpClient
from smtp_server import SmtpServer
from test_fates_addresses import AddressStack
from test_fates_attempts import ByAddress, ScriptedStack
from waiting import wait_until

# What an address does; see ByAddress. {n} makes it the scenario's own.
KINDS = {
    "good": "u{i}.{n}@example.test",
    "direct": "u{i}.{n}@direct.test",
    "unknown": "unknown{i}.{n}@example.test",
    "full": "full{i}.{n}@example.test",
    "locked": "locked{i}.{n}@example.test",
    "never": "never{i}.{n}@example.test",
    "once": "n{i}.{n}busy1@example.test",
    "twice": "n{i}.{n}busy2@example.test",
    "thrice": "n{i}.{n}busy3@example.test",
    "past": "n{i}.{n}busy1@past.test",
    "odd": "odd{i}.{n}@example.test",
}

DONE = ["good", "direct", "unknown", "full", "odd", "past", "good good",
        "good unknown", "unknown full", "good direct",
        "unknown " * 4 + "good " * 4, "good " * 12 + "direct " * 3]
OPEN = ["locked", "never", "good locked", "good never unknown",
        "full locked direct", "once locked good", "never locked never good"]
LATE = ["once", "twice good", "once thrice unknown", "once direct full",
        "good once once once"]
ALIASES = ["team", "nested", "one", "null", "spam", "dead", "later",
           "team u1", "one u1", "u1 one team", "nested team", "null dead spam",
           "later later team"]


class Scenes(FateCase):
    """Each method whose name begins with `scene_` yields scenarios: pairs of a
    name and a function that plays it."""

    def setUp(self):
        self.addCleanup(self.empty_queue)

    def empty_queue(self):
        if self.stack.postfix.queue_ids():
            self.stack.postfix.command("postsuper", "-d", "ALL")

    def tearDown(self):
        """The exporter does not run: there is nothing to compare."""

    @classmethod
    def scenes(cls):
        for name in sorted(dir(cls)):
            if name.startswith("scene_"):
                yield from getattr(cls, name)()

    def postsuper(self, *arguments):
        self.stack.postfix.command("postsuper", *arguments)

    def wait_until_tried(self):
        """Until nothing is under way."""
        wait_until(lambda: set(self.stack.postfix.queue_ids().values())
                   <= {"deferred", "hold"}, "the first attempt", pause=0.05)

    def flush(self):
        self.wait_until_tried()
        self.stack.wait_until_empty()

    def requeue(self, queue_id):
        self.postsuper("-r", queue_id)
        self.stack.postfix.wake_pickup()
        self.wait_for_line(f"orig_id={queue_id}")
        self.wait_until_tried()

    def requeued_id(self, queue_id):
        line = self.wait_for_line(f"orig_id={queue_id}")[0]
        return line.partition("]: ")[2].partition(":")[0]


# What is done to a message of which a recipient is deferred.

def leave(scene, queue_id):
    pass


def delete(scene, queue_id):
    scene.postsuper("-d", queue_id)


def expire(scene, queue_id):
    scene.postsuper("-e", queue_id)
    scene.flush()


def hold(scene, queue_id):
    scene.postsuper("-h", queue_id)


def release(scene, queue_id):
    scene.postsuper("-h", queue_id)
    scene.postsuper("-H", queue_id)
    scene.stack.postfix.flush()
    scene.wait_until_tried()


def requeue(scene, queue_id):
    scene.requeue(queue_id)


def requeue_and_delete(scene, queue_id):
    scene.requeue(queue_id)
    scene.postsuper("-d", scene.requeued_id(queue_id))


def requeue_and_expire(scene, queue_id):
    scene.requeue(queue_id)
    expire(scene, scene.requeued_id(queue_id))


def flush(scene, queue_id):
    scene.flush()


def requeue_and_flush(scene, queue_id):
    scene.requeue(queue_id)
    scene.flush()


def requeue_twice(scene, queue_id):
    scene.requeue(queue_id)
    scene.requeue(scene.requeued_id(queue_id))
    scene.flush()


def release_and_flush(scene, queue_id):
    scene.postsuper("-h", queue_id)
    scene.postsuper("-H", queue_id)
    scene.flush()


class Mixed(Scenes):
    """The LMTP server does what an address says."""

    number = itertools.count(1)

    @classmethod
    def make_stack(cls):
        cls.server = Server(ByAddress())
        cls.addClassCleanup(cls.server.close)
        return ScriptedStack(cls.server)

    def addresses(self, kinds):
        number = next(self.number)
        return [KINDS[kind].format(i=i, n=number)
                for i, kind in enumerate(kinds.split())]

    @classmethod
    def _one(cls, kinds, listener, then, sender="sender@direct.test"):
        def play(self):
            queue_id = self.send(self.addresses(kinds), sender, listener)
            self.wait_until_tried()
            then(self, queue_id)
        words = kinds.split()
        name = "-".join(words) if len(words) < 5 \
            else f"{len(words)}-recipients"
        null = "" if sender else "-null-sender"
        return f"{name}-{then.__name__}-{listener}{null}", play

    @classmethod
    def scene_done(cls):
        for kinds, listener in itertools.product(DONE, ("plain", "bare")):
            yield cls._one(kinds, listener, leave)
        for kinds in ("unknown", "full good", "good"):
            yield cls._one(kinds, "plain", leave, "")
        yield cls._one("unknown", "bare", leave, "")

    @classmethod
    def scene_open(cls):
        for kinds, then, listener in itertools.product(
                OPEN, (leave, delete, expire, hold, release, requeue,
                       requeue_and_delete, requeue_and_expire),
                ("plain", "bare")):
            yield cls._one(kinds, listener, then)

    @classmethod
    def scene_late(cls):
        for kinds, then, listener in itertools.product(
                LATE, (flush, requeue_and_flush, requeue_twice,
                       release_and_flush), ("plain", "bare")):
            # The first requeue delivers what is deferred once.
            if then is not requeue_twice or "thrice" in kinds:
                yield cls._one(kinds, listener, then)

    def session(self, listener, messages, between=()):
        """Several messages in one session."""
        with SmtpClient(self.stack.address(listener)) as client:
            client.command("EHLO client.example.test", 2)
            for kinds in messages:
                for line in between:
                    client.command(line)
                client.message("sender@direct.test", self.addresses(kinds))
            client.quit()
        self.wait_until_tried()

    @classmethod
    def scene_sessions(cls):
        reset = ("MAIL FROM:<gone@direct.test>",
                 "RCPT TO:<gone@example.test>", "RSET")
        data = ("MAIL FROM:<gone@direct.test>", "RCPT TO:<gone away>",
                "DATA", "RSET")
        for messages, (word, between), listener in itertools.product(
                (["good", "good"], ["good", "unknown", "never"],
                 ["good direct", "once", "full"]),
                (("", ()), ("-reset", reset), ("-refused", data)),
                ("plain", "bare")):
            def play(self, messages=messages, between=between,
                     listener=listener):
                self.session(listener, messages, between)
            name = "_".join(kinds.replace(" ", "-") for kinds in messages)
            yield f"session-{name}{word}-{listener}", play

    @classmethod
    def scene_programs_away(cls):
        def milter_restarted(self):
            self.send(self.addresses("good"))
            self.stack.milter.kill()
            self.send(self.addresses("good unknown"))
            self.stack.milter.start()
            self.send(self.addresses("good direct"))

        def hook_restarted(self):
            self.send(self.addresses("twice good"))
            self.wait_until_tried()
            self.stack.hook.stop()
            self.stack.postfix.flush()
            self.wait_until_tried()
            self.stack.hook.start()
            self.flush()

        def hook_away(self):
            self.stack.hook.stop()
            self.send(self.addresses("good direct"))
            self.send(self.addresses("past"))
            self.wait_until_tried()
            self.stack.hook.start()
            self.flush()

        def both_restarted(self):
            self.send(self.addresses("once good"))
            self.wait_until_tried()
            self.stack.milter.stop()
            self.stack.milter.start()
            self.stack.hook.stop()
            self.stack.hook.start()
            self.send(self.addresses("good"))
            self.flush()
        for play in (milter_restarted, hook_restarted, hook_away,
                     both_restarted):
            yield play.__name__, play


class MixedShort(Mixed):
    """With the short queue ids that are used again."""

    @classmethod
    def make_stack(cls):
        stack = super().make_stack()
        stack.postfix.settings["enable_long_queue_ids"] = "no"
        return stack

    @classmethod
    def scenes(cls):
        for kinds, then in (("good direct", leave), ("twice good", flush),
                            ("locked good", expire), ("never good", delete),
                            ("once", requeue_and_flush),
                            ("unknown never", requeue_and_delete)):
            for listener in ("plain", "bare"):
                name, play = cls._one(kinds, listener, then)
                yield f"short-{name}", play


class Aliases(Scenes):
    """Aliases, with each listener's way to treat them."""

    @classmethod
    def make_stack(cls):
        cls.relay = SmtpServer(
            lambda envelope: "250 2.0.0 Ok: queued as 4Zz9Zz9Zz9z1a2B")
        cls.addClassCleanup(cls.relay.close)
        stack = AddressStack(cls.relay.port)
        stack.postfix.listeners["bare"] = Listener(
            "bare", {"smtpd_milters": ""})
        return stack

    @classmethod
    def scene_aliases(cls):
        for names, listener in itertools.product(
                ALIASES, ("plain", "bare", "bcc", "short")):
            def play(self, names=names, listener=listener):
                self.send([f"{name}@example.test" for name in names.split()],
                          listener=listener)
                self.wait_until_tried()
            yield f"alias-{names.replace(' ', '-')}-{listener}", play
