# SPDX-License-Identifier: BSD-2-Clause
"""Inbound and submitted mail, to mailboxes and to another host: the direction
is right everywhere it is shown (case 19)."""

import datetime
import threading

import tap
from fate_stack import FATE_PATIENCE, FateCase, FateStack
from mail_system import Listener
from smtp_client import SmtpClient
from smtp_server import SmtpServer
from waiting import wait_until

ROUTES = ("inbound", "internal", "outbound", "transit")


class Syslog(threading.Thread):
    """Writes what Postfix logs with whole seconds into a file of its own, as
    rsyslogd would: with the time to the microsecond."""

    def __init__(self, source, target):
        super().__init__(daemon=True)
        self.source, self.target = source, target
        self.ended = threading.Event()

    def run(self):
        with open(self.source, encoding="utf-8") as source, \
                open(self.target, "a", encoding="utf-8") as target:
            rest = ""
            while not self.ended.wait(0.001):
                rest += source.read()
                *lines, rest = rest.split("\n")
                for line in lines:
                    now = datetime.datetime.now(datetime.timezone.utc)
                    target.write(f"{now.isoformat()} {line[16:]}\n")
                target.flush()

    def end(self):
        self.ended.set()
        self.join()


class Routes(FateCase):
    @classmethod
    def make_stack(cls):
        cls.far = SmtpServer()
        cls.addClassCleanup(cls.far.close)
        stack = FateStack(
            [Listener("mx", {"smtpd_authorized_xclient_hosts": "127.0.0.1"}),
             Listener("submission", sasl=True)],
            main_cf={"relay_domains": "far.test"})
        stack.postfix.settings["transport_maps"] += \
            f" inline:{{ {{ far.test = smtp:[127.0.0.1]:{cls.far.port} }} }}"
        cls.postfix_log = stack.postfix.log_path
        stack.settings["exporter"]["maillog"] = cls.postfix_log + ".exact"
        return stack

    @classmethod
    def setUpClass(cls):
        stack = cls.stack = cls.make_stack()
        stack.prepare()
        exact = stack.settings["exporter"]["maillog"]
        with open(exact, "w", encoding="utf-8"):
            pass
        syslog = Syslog(cls.postfix_log, exact)
        syslog.start()
        cls.addClassCleanup(syslog.end)
        cls.addClassCleanup(stack.stop)
        stack.run()

    def submit(self, listener, before, recipients):
        """The queue id of a message in a session that begins so."""
        with SmtpClient(self.stack.address(listener)) as client:
            client.command("EHLO client.example.test", 2)
            for line in before:
                client.command(line, 2)
            code, text = client.message(recipients=recipients)
            client.quit()
        self.assertEqual(code, 250, text)
        return text.split()[-1]

    def inbound(self, recipients):
        return self.submit("mx", ["XCLIENT ADDR=192.0.2.1 NAME=c.test",
                                  "EHLO c.test"], recipients)

    def submission(self, recipients):
        return self.submit("submission", ["AUTH PLAIN AGFsaWNlAHNlY3JldA=="],
                           recipients)

    def latencies(self):
        seen = self.stack.metrics()
        return [seen.value("postlag_delivery_latency_seconds_count",
                           route=route) for route in ROUTES]

    def assert_routes(self, queue_id, routes, latencies):
        """{address: route}, and what the latencies of each became."""
        record = self.assert_fates(queue_id, {
            address: "relayed" if address.endswith("far.test")
            else "delivered" for address in routes})
        self.assertEqual({recipient["address"]: recipient["route"]
                          for recipient in record["recipients"]}, routes)
        lines = self.stack.postlag("show", queue_id).stdout.splitlines()
        shown = [line.split(None, 1)[1] for line in lines
                 if line.startswith("route ")]
        self.assertEqual(shown, [", ".join(dict.fromkeys(routes.values()))])
        wait_until(lambda: self.latencies() == latencies, f"{latencies}",
                   FATE_PATIENCE, 0.1)

    def test_each_way(self):
        before = self.latencies()
        self.assertEqual(before, [0, 0, 0, 0])
        self.assert_routes(self.inbound(["u1@example.test"]),
                           {"u1@example.test": "inbound"}, [1, 0, 0, 0])
        self.assert_routes(self.submission(["a@far.test"]),
                           {"a@far.test": "outbound"}, [1, 0, 1, 0])
        self.assert_routes(
            self.submission(["u1@example.test", "b@far.test"]),
            {"u1@example.test": "internal", "b@far.test": "outbound"},
            [1, 1, 2, 0])
        self.assert_routes(self.inbound(["c@far.test"]),
                           {"c@far.test": "transit"}, [1, 1, 2, 1])
        self.assert_exact()

    def assert_exact(self):
        """A relayed latency is not more than the whole test took."""
        seen = self.stack.metrics()
        for route in ("outbound", "transit"):
            count = seen.value("postlag_delivery_latency_seconds_count",
                               route=route)
            total = seen.value("postlag_delivery_latency_seconds_sum",
                               route=route)
            self.assertGreater(total, 0.0)
            self.assertLess(total / count, 30.0)


if __name__ == "__main__":
    tap.main()
