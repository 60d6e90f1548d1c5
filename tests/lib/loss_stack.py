# SPDX-License-Identifier: BSD-2-Clause
"""A whole mail system in which messages get lost: with short times, and queue
files that go away behind Postfix's back."""

import os
import shutil
import threading
import time

from fate_stack import FateCase, FateStack
from mail_system import Listener, service
from smtp_server import SmtpServer
from waiting import wait_until

AFTER, CONFIRM = 2, 1
PLACES = ("incoming", "active", "deferred", "hold")


class LossStack(FateStack):
    """With short times. `slow.test` is delivered by a server that waits,
    `down.test` by nobody."""

    def __init__(self, main_cf=None, exporter=None):
        super().__init__(
            [Listener("plain"), Listener("bare", {"smtpd_milters": ""}),
             Listener("hold", {
                 "smtpd_recipient_restrictions":
                     "check_recipient_access static:HOLD, permit"})],
            settings={"exporter": {
                "loss_after": f"{AFTER}s", "loss_confirm": f"{CONFIRM}s",
                "ghost_after": f"{AFTER}s", "looks_per_second": "5000",
                **(exporter or {}),
            }}, files={
                "transport":
                    "down.test smtp:[127.0.0.1]:1\n"
                    "slow.test slow:[127.0.0.1]:{slow}\n"},
            main_cf={
                "transport_maps": "texthash:{etc}/transport",
                "minimal_backoff_time": "1000s",
                "maximal_backoff_time": "1000s",
                **(main_cf or {}),
            }, services=[service("slow", "unix", "smtp")])
        self.may_reply = threading.Event()
        self.may_reply.set()
        self.is_asked = threading.Event()
        self.slow = SmtpServer(self.reply_late)
        instance = self.postfix.settings["myhostname"]
        self.settings["exporter"].setdefault(
            "queue_directories",
            f"{instance}={self.postfix.queue_directory}")
        self.saved = {}

    def reply_late(self, _):
        self.is_asked.set()
        self.may_reply.wait(60)
        return "250 2.0.0 Ok"

    def prepare(self):
        self.files["transport"] = self.files["transport"].replace(
            "{slow}", str(self.slow.port))
        super().prepare()

    def queue_file(self, queue_id):
        """(its directory's name, its path), or None."""
        for place in PLACES:
            top = f"{self.postfix.queue_directory}/{place}"
            for directory, _, names in os.walk(top):
                if queue_id in names:
                    return place, f"{directory}/{queue_id}"
        return None

    def wait_in(self, place, queue_id):
        wait_until(lambda: (self.queue_file(queue_id) or [None])[0] == place,
                   f"{queue_id} to be in {place}")

    def lose(self, queue_id):
        """Removes the queue file; put_back() undoes it."""
        place, path = self.queue_file(queue_id)
        copy = self.path(f"lost-{queue_id}")
        shutil.copy2(path, copy)
        os.unlink(path)
        self.saved[queue_id] = place, path, copy
        return place

    def put_back(self, queue_id):
        _, path, copy = self.saved.pop(queue_id)
        shutil.copy2(copy, path)
        shutil.chown(path, "postfix", "postfix")


class LossCase(FateCase):
    @classmethod
    def make_stack(cls):
        return LossStack()

    def setUp(self):
        self.began = {}

    def send(self, *arguments, **more):
        began = time.monotonic()
        queue_id = super().send(*arguments, **more)
        self.began[queue_id] = began
        return queue_id

    def tearDown(self):
        pass

    def counter(self, name, **labels):
        return self.stack.metrics().total(f"postlag_{name}", **labels)

    def wait_for_counter(self, wanted, name, **labels):
        """Rows can be found a moment before they are counted."""
        wait_until(lambda: self.counter(name, **labels) == wanted,
                   f"{name} to be {wanted}")

    def state(self, queue_id):
        return next(iter((self.fates(queue_id) or {}).values()), None)

    def wait_for_state(self, queue_id, state, timeout=60):
        try:
            wait_until(lambda: self.state(queue_id) == state,
                       f"{queue_id} to be {state}", timeout, 0.05)
        except AssertionError as error:
            raise AssertionError("\n".join(
                [f"{error}: {self.state(queue_id)}",
                 *self.stack.postfix.log_lines(queue_id),
                 self.stack.exporter.log()[-2000:]])) from None

    def wait_for_looks(self, answer, count):
        before = self.counter("queue_lookups_total", answer=answer)
        wait_until(lambda: self.counter("queue_lookups_total", answer=answer)
                   >= before + count, f"{count} looks", 60)

    def deferred(self, listener=None):
        queue_id = self.send(["u1@down.test"], listener=listener)
        self.stack.wait_in("deferred", queue_id)
        self.wait_for_state(queue_id, "deferred")
        return queue_id
