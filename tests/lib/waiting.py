# SPDX-License-Identifier: BSD-2-Clause
"""Waiting for conditions, and things that are private to one test."""

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
    """A TCP port that nobody listens on at this moment."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as listener:
        listener.bind((host, 0))
        return listener.getsockname()[1]


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
