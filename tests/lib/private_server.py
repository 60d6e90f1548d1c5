# SPDX-License-Identifier: BSD-2-Clause
"""A server of somebody else's with a directory of its own, which ends with the
`with` block, or with Python."""

import atexit
import os
import subprocess

from waiting import PATIENCE, PrivateDirectory, free_port


class PrivateServer:
    def __init__(self):
        self.private = PrivateDirectory()
        self.port = free_port()
        self.log_path = os.path.join(self.private.path, "log")
        self.process = None

    def write(self, name, text):
        """Makes a file in its directory; returns the path."""
        path = os.path.join(self.private.path, name)
        with open(path, "w", encoding="utf-8") as out:
            out.write(text)
        return path

    def run(self, command):
        with open(self.log_path, "wb") as log:
            self.process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        atexit.register(self._end)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._end()
        self.private.remove()

    def _end(self):
        if self.process.poll() is None:
            self.process.terminate()
            self.process.wait(PATIENCE)

    def log(self):
        with open(self.log_path, encoding="utf-8") as log:
            return log.read()
