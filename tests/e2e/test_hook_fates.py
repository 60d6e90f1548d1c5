# SPDX-License-Identifier: BSD-2-Clause
"""What becomes of each recipient in a real Postfix: the same with the hook as
without it, whatever the LMTP server does (must-show 8, I4); and with the hook
absent, frozen, dying or cut off, mail goes past it (must-show 10, I1)."""

import collections
import re
import signal
import threading
import unittest

import tap
from hook import Hook
from lmtp_server import CLOSE, RESET, SILENT, Script, Server
from mail_system import HOOK_HOST, MailSystem
from waiting import free_port, wait_until

DELIVERY = re.compile(
    r": (\w+): to=<(u\d@[^>]*)>,.* dsn=([\d.]+), status=(\w+) \((.*)\)$")

Fate = collections.namedtuple("Fate", "status dsn text")


def script(**steps):
    """A script whose methods of these names return these steps."""
    return type("Scripted", (Script,), {
        name: lambda self, *_, s=step: s for name, step in steps.items()})()


class PerRecipient(Script):
    """Refuses u1 at RCPT, u2 for now; of the others each has a reply of its
    own after the dot."""

    def rcpt(self, session, address):
        if address.startswith("u1@"):
            return b"550 5.1.1 <u1> No such user\r\n"
        if address.startswith("u2@"):
            return b"451-4.3.0 Wait\r\n451 4.3.0 a little\r\n"
        return super().rcpt(session, address)

    def final(self, session, address):
        return {"u0": b"250 2.0.0 Saved\r\n",
                "u3": b"452 4.2.2 Mailbox full\r\n",
                "u4": b"552 5.2.2 Never\r\n"}.get(
                    address[:2], b"250-2.0.0 Saved\r\n250 2.0.0 twice\r\n")


class BetweenReplies(Script):
    """Closes when two of the recipients have their reply."""

    def content(self, session):
        return [b"250 2.0.0 one\r\n", b"551 5.0.0 two\r\n", CLOSE]


class NoPipelining(PerRecipient):
    capabilities = ("8BITMIME", "ENHANCEDSTATUSCODES")


class Slow(Script):
    def content(self, session):
        return [threading.Event().wait(1) or b"",
                *super().content(session)]


BEHAVIOURS = {
    "good": Script(),
    "mixed": PerRecipient(),
    "mixed without pipelining": NoPipelining(),
    "slow": Slow(),
    "refuses all": script(rcpt=b"550 5.1.1 No\r\n"),
    "refuses all, then says go ahead": script(rcpt=b"550 5.1.1 No\r\n",
                                              data=b"354 go\r\n"),
    "greets with 421": script(greeting=[b"421 4.3.2 Not now\r\n", CLOSE]),
    "greets with 554": script(greeting=b"554 5.3.2 Never\r\n"),
    "refuses LHLO": script(lhlo=b"550 5.0.0 No\r\n"),
    "refuses MAIL for now": script(mail=b"451 4.1.0 Later\r\n"),
    "refuses MAIL": script(mail=b"550 5.1.0 No\r\n"),
    "refuses DATA for now": script(data=b"451 4.0.0 Later\r\n"),
    "refuses DATA": script(data=b"554 5.0.0 No\r\n"),
    "closes at greeting": script(greeting=CLOSE),
    "closes at LHLO": script(lhlo=CLOSE),
    "closes at MAIL": script(mail=CLOSE),
    "closes at RCPT": script(rcpt=CLOSE),
    "closes at DATA": script(data=CLOSE),
    "resets at DATA": script(data=RESET),
    "closes within content": script(data=[b"354 go\r\n", CLOSE]),
    "closes after the dot": script(content=CLOSE),
    "closes between replies": BetweenReplies(),
    "421 after the dot": script(content=[b"421 4.3.2 Bye\r\n", CLOSE]),
    "garbage after the dot": script(content=[b"what?\r\n" * 5, CLOSE]),
    "garbage before replies": script(
        content=b"what?\r\n" + b"250 2.0.0 Saved\r\n" * 6),
    "a reply too many": script(content=b"250 2.0.0 Saved\r\n" * 7),
    "no enhanced codes": script(content=b"250 Saved\r\n" * 3
                                + b"450 full\r\n" * 3),
    "closes at QUIT": script(quit=CLOSE),
    "silent at QUIT": script(quit=SILENT),
    "silent at greeting": script(greeting=SILENT),
    "silent at MAIL": script(mail=SILENT),
    "silent after the dot": script(content=SILENT),
}

RECIPIENTS = 6

MESSAGE = b"Date: Mon, 30 Nov 2026 07:47:42 +0000\r\n" \
          b"Message-ID: <f@x.test>\r\n" \
          b"From: <s@client.test>\r\n\r\n.hello\r\n\r\nbye\r\n"

# Longer than the hook's, which come first, as they do with the defaults.
TIMEOUTS = {f"lmtp_{name}_timeout": "6s" for name in (
    "lhlo", "xforward", "mail", "rcpt", "data_init", "data_done", "quit",
    "rset")}
HOOK_TIMEOUTS = {"backend_connect_timeout": "3s",
                 "backend_reply_timeout": "3s", "backend_final_timeout": "3s"}


class Routes:
    """Domains of a Postfix, each with a transport of its own."""

    def __init__(self):
        self.transports = {}

    def add(self, domain, *endpoints, transport="lmtp"):
        # `inet:` only in front of the list: lmtp(8) takes it off once.
        nexthop = ", ".join(f"{host}:{port}" for host, port in endpoints)
        self.transports[domain] = f"{transport}:inet:{nexthop}"

    def mail_system(self, **main_cf):
        system = MailSystem(
            main_cf={"virtual_mailbox_domains": " ".join(self.transports),
                     "virtual_transport": "error:no route",
                     "minimal_backoff_time": "1h",
                     "queue_run_delay": "1h", **main_cf},
            hook_options=main_cf)
        path = system.path("transport")
        with open(path, "w", encoding="ascii") as out:
            for domain, transport in self.transports.items():
                out.write(f"{domain} {transport}\n")
        system.postfix.settings["transport_maps"] = f"texthash:{path}"
        return system


def fates(postfix):
    """{recipient: Fate} of the last delivery line of each."""
    found = {}
    for line in postfix.log().splitlines():
        match = DELIVERY.search(line)
        if match:
            found[match[2]] = Fate(match[4], match[3], match[5])
    return found


def normal(fate):
    """A fate without the words of a lost connection, which depend on who
    noticed it first. What a server said stays."""
    text = re.sub(r"@\w+\.test", "", fate.text)
    if not re.match(r"\d{3}|host .* (said|refused)", text):
        text = "may be sent more than once" \
            if "may be sent more than once" in text else "lost"
    return Fate(fate.status, fate.dsn, text)


# Four ways to the same behaviour; each pair is to have the same fates. As far
# as Postfix is concerned, a server that can be reached at two addresses gets a
# second chance at once, hook or not.
WAYS = {"direct": "only", "twice": "hooked"}


class SameFate(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.servers, cls.hooks = {}, []
        routes = Routes()
        domains = [(f"{way}{number}.test", way, behaviour)
                   for number, behaviour in enumerate(BEHAVIOURS.values())
                   for way in [*WAYS, *WAYS.values()]]
        for domain, way, behaviour in domains:
            cls.route(routes, domain, way, behaviour)
        cls.mail = routes.mail_system(**TIMEOUTS)
        cls.addClassCleanup(cls.end)
        cls.mail.start()
        with cls.mail.smtp() as client:
            for domain, _, _ in domains:
                client.sendmail("s@client.test", [
                    f"u{n}@{domain}" for n in range(RECIPIENTS)], MESSAGE)
        expected = len(domains) * RECIPIENTS
        cls.fates = wait_until(
            lambda: len(fates(cls.mail.postfix)) == expected and
            fates(cls.mail.postfix), f"the fate of {expected} recipients")

    @classmethod
    def route(cls, routes, domain, way, behaviour):
        server = cls.servers[domain] = Server(behaviour, host="0.0.0.0")
        first = HOOK_HOST, server.address[1]
        second = "127.0.0.1", server.address[1]
        if way in WAYS.values():
            hook = Hook(f"inet:127.0.0.1:{server.address[1]}", host=HOOK_HOST,
                        **HOOK_TIMEOUTS)
            hook.start()
            cls.hooks.append(hook)
            first = hook.address
        routes.add(domain, first,
                   *([second] if way in ("twice", "hooked") else []),
                   transport="postlag-lmtp")

    @classmethod
    def end(cls):
        cls.mail.stop()
        for hook in cls.hooks:
            hook.__exit__(None, None, None)
        for server in cls.servers.values():
            server.close()

    @staticmethod
    def pairs():
        """(name, way, domain without the hook, domain with it)"""
        return [(name, way, f"{without}{number}.test", f"{way}{number}.test")
                for number, name in enumerate(BEHAVIOURS)
                for without, way in WAYS.items()]

    def test_log(self):
        """8: status, dsn and reply text of each recipient are the same"""
        for name, way, direct, hooked in self.pairs():
            with self.subTest(name, way=way):
                self.assertEqual(
                    [normal(self.fates[f"u{n}@{hooked}"])
                     for n in range(RECIPIENTS)],
                    [normal(self.fates[f"u{n}@{direct}"])
                     for n in range(RECIPIENTS)])

    def test_queue(self):
        """8: the same recipients stay in the queue"""
        waiting = collections.defaultdict(set)
        for message in self.mail.queue():
            for recipient in message["recipients"]:
                local, _, domain = recipient["address"].partition("@")
                waiting[domain].add(local)
        for name, way, direct, hooked in self.pairs():
            with self.subTest(name, way=way):
                self.assertEqual(waiting[hooked], waiting[direct])

    def test_content(self):
        """8, I4: the server takes the same content as often as without"""
        for name, way, direct, hooked in self.pairs():
            with self.subTest(name, way=way):
                self.assertEqual(self.contents(hooked), self.contents(direct))

    def contents(self, domain):
        """What the server took, without Postfix's own headers."""
        return [t.content.partition(b"\r\nDate:")[2]
                for t in self.servers[domain].transactions
                if t.content is not None]


class Holding:
    """A server that answers all verbs but one, at which the hook before it is
    to get a signal."""

    def __init__(self, verb, number):
        self.domain = f"{verb}{number}.test"
        self.signal = number
        self.reached, self.go_on = threading.Event(), threading.Event()
        self.server = Server(type("Held", (Script,), {verb: self.hold})())

    def hold(self, *_):
        self.reached.set()
        return [self.go_on, CLOSE]

    def close(self):
        self.go_on.set()
        self.server.close()


class GoesPast(unittest.TestCase):
    """Through the transport that packaging ships."""

    def setUp(self):
        self.server = Server()
        self.addCleanup(self.server.close)

    def start(self, hook_address, port=None, **main_cf):
        routes = Routes()
        routes.add("example.test", hook_address, port or self.server.address,
                   transport="postlag-lmtp")
        self.mail = routes.mail_system(**main_cf)
        self.addCleanup(self.mail.stop)
        self.mail.start()

    def hook(self, backend=None, **options):
        hook = Hook(backend or self.server.endpoint, host=HOOK_HOST, **options)
        self.addCleanup(hook.__exit__, None, None, None)
        hook.start()
        return hook

    def send(self, count=1):
        for number in range(count):
            self.mail.send("s@client.test", [f"u{number}@example.test"])

    def check(self, count=1, copies=None):
        """All sent, nothing deferred or bounced on the way, nothing left."""
        wait_until(lambda: len(self.mail.log_lines("status=sent")) >= count,
                   f"{count} messages to be sent")
        self.assertEqual(self.mail.log_lines("status=deferred"), [])
        self.assertEqual(self.mail.log_lines("status=bounced"), [])
        wait_until(lambda: not self.mail.postfix.queue_ids(), "an empty queue")
        self.assertEqual(len([t for t in self.server.transactions
                              if t.content is not None]), copies or count)

    def test_absent(self):
        """10: no hook"""
        self.start(("127.0.0.1", free_port()))
        self.send(5)
        self.check(5)

    def test_frozen(self):
        """10: a hook stopped with SIGSTOP costs lmtp_lhlo_timeout"""
        hook = self.hook()
        hook.pause()
        self.start(hook.address)
        self.send()
        self.check()
        hook.resume()

    def test_frozen_between(self):
        """10: a hook that freezes between two transactions of a connection"""
        hook = self.hook()
        self.start(hook.address)
        self.send()
        wait_until(lambda: self.mail.log_lines("status=sent"), "the first")
        hook.pause()
        self.mail.send("s@client.test", ["v@example.test"])
        self.check(2)
        hook.resume()

    def test_backend_down(self):
        """10: a hook that cannot reach its backend"""
        hook = self.hook(f"inet:127.0.0.1:{free_port()}")
        self.start(hook.address)
        self.send(5)
        self.check(5)

    def test_backend_silent(self):
        """10: a hook whose backend does not greet"""
        silent = Server(script(greeting=SILENT))
        self.addCleanup(silent.close)
        hook = self.hook(silent.endpoint, backend_connect_timeout="1s")
        self.start(hook.address)
        self.send()
        self.check()

    def test_ended_before_the_dot(self):
        """10, 13: a hook that gets SIGKILL or SIGTERM before the dot"""
        held = [Holding(verb, number)
                for verb in ("lhlo", "mail", "rcpt", "data")
                for number in (signal.SIGKILL, signal.SIGTERM)]
        routes = Routes()
        for one in held:
            self.addCleanup(one.close)
            one.hook = self.hook(one.server.endpoint)
            routes.add(one.domain, one.hook.address, self.server.address,
                       transport="postlag-lmtp")
        self.mail = routes.mail_system()
        self.addCleanup(self.mail.stop)
        self.mail.start()
        for one in held:
            with self.subTest(one.domain):
                self.mail.send("s@client.test", [f"u@{one.domain}"])
                self.assertTrue(one.reached.wait(30))
                one.hook.signal(one.signal)
                one.hook.wait()
                self.mail.wait_for_log(f"to=<u@{one.domain}>", "status=sent")
        self.check(len(held))

    def test_killed_after_the_dot(self):
        """10: a hook killed after the dot: Postfix goes on, and says that this
        may be a second copy"""
        go_on = threading.Event()
        held = Server(type("Held", (Script,), {
            "content": lambda *_: [go_on, CLOSE]})())
        self.addCleanup(held.close)
        self.addCleanup(go_on.set)
        hook = self.hook(held.endpoint)
        self.start(hook.address)
        self.send()
        held.wait_for_content()
        hook.kill()
        self.check()
        self.mail.wait_for_log("may be sent more than once")

    def test_refused_for_now(self):
        """8: a 4xx for a recipient is asked for again past the hook"""
        class Full(Script):
            def final(self, session, address):
                return b"452 4.2.2 Full\r\n"
        full = Server(Full())
        self.addCleanup(full.close)
        self.start(self.hook(full.endpoint).address)
        self.send()
        self.check()
        self.mail.wait_for_log("said: 452 4.2.2 Full")

    def test_killed_in_a_kept_connection(self):
        """10: a hook killed before the dot of a second message on a connection
        that lmtp(8) had kept"""
        reached, go_on = threading.Event(), threading.Event()

        class HeldLater(Script):
            def mail(self, session, address):
                if len(session.transactions) == 1:
                    return super().mail(session, address)
                reached.set()
                return [go_on, CLOSE]
        held = Server(HeldLater())
        self.addCleanup(held.close)
        self.addCleanup(go_on.set)
        hook = self.hook(held.endpoint)
        self.start(hook.address,
                   lmtp_connection_cache_destinations="static:all",
                   lmtp_connection_cache_time_limit="60s")
        self.send()
        held.wait_for_content()
        self.mail.wait_for_log("status=sent")
        self.send()
        self.assertTrue(reached.wait(30))
        self.assertEqual(len(held.sessions), 1)
        hook.kill()
        self.check(2, copies=1)

    def test_restarted_while_mail_flows(self):
        """13, I1: SIGTERM and start again under load: nothing is deferred"""
        hook = self.hook()
        self.start(hook.address)
        source = self.mail.smtp_source(300, sessions=5, wait=False)
        for _ in range(3):
            before = len(self.server.transactions)
            wait_until(lambda: len(self.server.transactions) > before + 10,
                       "mail to flow")
            self.assertEqual(hook.stop(), 0)
            hook.start()
        source.communicate()
        self.check(300)


if __name__ == "__main__":
    tap.main()
