# SPDX-License-Identifier: BSD-2-Clause
"""Kills a program at an exact system call, with strace(1): the call itself is
no longer carried out."""

import subprocess


class Killer:
    """Attaches to a running program; the `nth` of `call` that one of its
    threads makes from then on is its last."""

    def __init__(self, program, call, nth):
        self.program = program
        self.tracer = program.trace(
            "-e", f"trace={call}",
            "-e", f"inject={call}:signal=SIGKILL:when={nth}")

    def killed(self):
        return not self.program.running()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.tracer.terminate()
        self.tracer.wait()


def possible():
    """Whether strace may attach to anything here."""
    with subprocess.Popen(["sleep", "60"]) as victim:
        done = subprocess.run(
            ["timeout", "-s", "INT", "0.3", "strace", "-p", str(victim.pid)],
            capture_output=True, text=True, check=False)
        victim.kill()
    return "attached" in done.stderr
