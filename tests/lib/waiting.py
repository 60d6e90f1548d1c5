# SPDX-License-Identifier: BSD-2-Clause
"""Waiting for conditions, and things that are private to one test."""

import random
import shutil
import socket
import tempfile
import time

PATIENCE = 60.0
"""Seconds after which a condition is taken for one that never comes."""


def wait_until(condition, what, timeout=PATIENCE, pause=0.01):
    """Returns the first true value of condition(); fails naming `what`."""
    deadline = time.monotonic() + timeout
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > deadline:
            raise AssertionError(f"waited {timeout:.0f} s in vain for {what}")
        time.sleep(pause)


def free_port(host="127.0.0.1"):
    """A TCP port that nobody listens on at this moment, and that no other test
    gets while this process lives. Not one of those that the kernel gives to
    outgoing connections: until our program listens there, a busy machine would
    take it."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    while True:
        port = random.randrange(10000, _first_ephemeral_port())
        if not _reserve(port):
            continue
        with socket.socket(family) as listener:
            try:
                listener.bind((host, port))
                return port
            except OSError:
                continue


_reserved = []


def _reserve(port):
    """By a name that the kernel lets only one have, until it ends."""
    name = socket.socket(socket.AF_UNIX)
    try:
        name.bind(f"\0postlag-test-port-{port}")
    except OSError:
        name.close()
        return False
    _reserved.append(name)
    return True


def _first_ephemeral_port():
    with open("/proc/sys/net/ipv4/ip_local_port_range",
              encoding="ascii") as file:
        return max(int(file.read().split()[0]), 12000)


class PrivateDirectory:
    """A directory that other users may enter, gone at the end."""

    def __init__(self, prefix="postlag-test-"):
        self.path = tempfile.mkdtemp(prefix=prefix)
        # Milter and Postfix run as different users and meet in here.
        shutil.os.chmod(self.path, 0o755)

    def __enter__(self):
        return self.path

    def __exit__(self, *_):
        self.remove()

    def remove(self):
        shutil.rmtree(self.path, ignore_errors=True)
