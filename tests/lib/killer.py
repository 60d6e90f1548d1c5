# SPDX-License-Identifier: BSD-2-Clause
"""Kills a program at an exact system call, with strace(1): the call itself is
no longer carried out."""

import subprocess

from waiting import wait_until


class Killer:
    """Attaches to a running program; the `nth` of `calls` that one of its
    threads makes from then on is its last."""

    def __init__(self, program, calls, nth):
        self.program = program
        self.log = f"{program.directory}/strace.log"
        self.file = open(self.log, "w", encoding="utf-8")
        self.process = subprocess.Popen(
            ["strace", "-f", "-p", str(program.pid()), "-o", "/dev/null",
             "-e", f"trace={calls}",
             "-e", f"inject={calls}:signal=SIGKILL:when={nth}"],
            stdin=subprocess.DEVNULL, stdout=self.file, stderr=self.file)
        wait_until(self._attached, f"strace to attach to {program.name}")

    def _attached(self):
        with open(self.log, encoding="utf-8") as log:
            text = log.read()
        assert self.process.poll() is None, text
        return "attached" in text

    def killed(self):
        return not self.program.running()

    def detach(self):
        if self.process.poll() is None:
            self.process.terminate()
        self.process.wait()
        self.file.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.detach()


def possible():
    """Whether strace may attach to anything here."""
    with subprocess.Popen(["sleep", "60"]) as victim:
        done = subprocess.run(
            ["timeout", "-s", "INT", "0.3", "strace", "-p", str(victim.pid)],
            capture_output=True, text=True, check=False)
        victim.kill()
    return "attached" in done.stderr
