# SPDX-License-Identifier: BSD-2-Clause
"""`make demo`: real mail through a private Postfix, milter, hook and Dovecot,
one message that cannot be delivered and one that gets lost, and what Postlag
knows about them afterwards.

On a terminal everything stays up until Ctrl-C; otherwise it ends by itself.
"""

import os
import signal
import socket
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))

from loss_stack import AFTER, CONFIRM, LossStack  # noqa: E402
from waiting import wait_until  # noqa: E402

MESSAGE = ("From: Ada <ada@client.test>\r\nTo: friends@example.test\r\n"
           "Subject: Hello\r\nMessage-ID: <{id}@client.test>\r\n\r\n"
           "Can you hear me?\r\n")
FRIENDS = [f"friend{n}@example.test" for n in range(1, 4)]
UNREACHABLE = "somebody@down.test"


def say(text=""):
    print(text, flush=True)


class SlowClient:
    """Thinks before every command, so that each phase has a length."""

    def __init__(self, address):
        self.socket = socket.create_connection(address, 60)
        self.lines = self.socket.makefile("rb")
        self.reply()

    def reply(self):
        while True:
            line = self.lines.readline().decode()
            if line[3:4] != "-":
                assert line[:1] in "23", line
                return line.strip()

    def command(self, text, thinking_seconds):
        time.sleep(thinking_seconds)
        self.socket.sendall(text.encode() + b"\r\n")
        return self.reply()

    def close(self):
        self.command("QUIT", 0)
        self.lines.close()
        self.socket.close()


def send_slowly(stack):
    """Returns Postfix's queue id of the message."""
    client = SlowClient(stack.address())
    client.command("EHLO client.test", 0.1)
    client.command("MAIL FROM:<ada@client.test>", 0.15)
    for friend in FRIENDS:
        client.command(f"RCPT TO:<{friend}>", 0.05)
    client.command("DATA", 0.1)
    reply = client.command(MESSAGE.format(id="slow") + ".", 0.25)
    client.close()
    return reply.split()[-1]


def send_all(stack):
    queue_id = send_slowly(stack)
    for number in range(1, 5):
        stack.send("ada@client.test", FRIENDS[:1 + number % 3],
                   MESSAGE.format(id=f"quick{number}"))
    stack.postfix.sendmail(MESSAGE.format(id="local").replace("\r", ""),
                           "-f", "root@client.test", FRIENDS[0])
    recipients = 3 + 2 + 3 + 1 + 2 + 1
    say(f"Sent 6 messages to {recipients} recipients; waiting for them in the"
        " mailboxes.")
    stack.wait_until_delivered(recipients)
    stack.wait_until_stored(6, recipients)
    return queue_id


def send_in_vain(stack, message_id):
    """A message that Postfix defers; its queue id."""
    with stack.smtp() as client:
        client.ehlo()
        client.mail("ada@client.test")
        client.rcpt(UNREACHABLE)
        _, reply = client.data(MESSAGE.format(id=message_id))
    queue_id = reply.decode().split()[-1]
    stack.wait_in("deferred", queue_id)
    return queue_id


def recipients(stack, state):
    return stack.metrics().value("postlag_recipients", state=state)


def lose_one(stack):
    """Two messages wait; the queue file of one goes away behind Postfix's
    back."""
    send_in_vain(stack, "waits")
    queue_id = send_in_vain(stack, "lost")
    wait_until(lambda: recipients(stack, "deferred") == 2,
               "two deferred recipients")
    stack.lose(queue_id)
    wait_until(lambda: recipients(stack, "lost") == 1, "one lost recipient")


def show_command(stack, *arguments):
    say(f"$ postlag {' '.join(arguments)}")
    # 1 is not a failure: there is something to tell.
    say(stack.postlag(*arguments, check=False).stdout)


def show_counts(stack):
    say("The counts, from /metrics:\n")
    for (name, labels), value in stack.metrics().samples.items():
        part = name.endswith(("_bucket", "_sum", "_info"))
        if value and not part and name.startswith("postlag_"):
            text = ",".join(f'{n}="{v}"' for n, v in labels)
            say(f"    {name}{{{text}}} {value:g}" if text
                else f"    {name} {value:g}")
    say()


def show(stack):
    started = time.monotonic()
    queue_id = send_all(stack)
    say(f"All there after {time.monotonic() - started:.1f} s. The first one:\n")
    show_command(stack, "show", queue_id)
    say("Two more, to a host that is down. Then the queue file of one of them"
        " is removed,\nbehind Postfix's back; without a sign of it for"
        f" {AFTER + CONFIRM} s, it is lost.\n")
    lose_one(stack)
    show_command(stack, "queue")
    show_command(stack, "lost")
    show_counts(stack)
    host, port = stack.address()
    say(f"SMTP:    {host}:{port}, any recipient @example.test; @down.test is"
        " down")
    say(f"Page:    http://127.0.0.1:{stack.http_port}/")
    say(f"Metrics: http://127.0.0.1:{stack.http_port}/metrics")
    say(f"API:     http://127.0.0.1:{stack.http_port}/api/v1/messages/{queue_id}")


def main():
    # However we are ended: clean up on the way.
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.default_int_handler)
    try:
        say("Starting Postfix, Dovecot and the three programs.")
        with LossStack() as stack:
            show(stack)
            if sys.stdout.isatty():
                say("\nEverything stays up until Ctrl-C.")
                signal.pause()
    except KeyboardInterrupt:
        pass
    say("Stopped; nothing is left running.")


main()
