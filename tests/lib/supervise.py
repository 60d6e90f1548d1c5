# SPDX-License-Identifier: BSD-2-Clause
"""Runs one test program so that nothing it started can outlive it.

    python3 supervise.py SECONDS REPORT PROGRAM [ARGUMENT...]

The supervisor adopts every orphan among the program's descendants, daemons
included. When the program has ended, or the time is up, it waits a moment for
the descendants to follow, kills the rest, and writes to REPORT, as JSON, what
happened: status (negative: the signal), timed_out, left (command lines).
"""

import ctypes
import json
import os
import signal
import subprocess
import sys
import time

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
GRACE_SECONDS = 3


def adopt_orphans():
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl")
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)


def parents():
    """The parent of every process, zombies left out."""
    found = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat") as stat:
                    state, parent = stat.read().rsplit(")", 1)[1].split()[:2]
            except (OSError, IndexError):
                continue
            if state != "Z":
                found[int(name)] = int(parent)
    return found


def descendants():
    parent_of = parents()
    found, grown = {os.getpid()}, True
    while grown:
        more = {p for p, up in parent_of.items() if up in found} - found
        found |= more
        grown = bool(more)
    return found - {os.getpid()}


def command_line(process):
    try:
        with open(f"/proc/{process}/cmdline", "rb") as file:
            words = file.read().rstrip(b"\0").replace(b"\0", b" ")
        return f"{process} {words.decode(errors='replace')}"
    except OSError:
        return str(process)


def reap():
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass


def kill_descendants():
    while True:
        reap()
        rest = descendants()
        if not rest:
            return
        for process in rest:
            try:
                os.kill(process, signal.SIGKILL)
            except ProcessLookupError:
                pass
        time.sleep(0.02)


def leftovers():
    """What still runs after a moment of grace."""
    deadline = time.monotonic() + GRACE_SECONDS
    while True:
        reap()
        rest = descendants()
        if not rest or time.monotonic() > deadline:
            return [command_line(process) for process in sorted(rest)]
        time.sleep(0.02)


def stop(program):
    """Time is up: ask the program itself first, so that it can clean up."""
    program.send_signal(signal.SIGINT)
    try:
        program.wait(timeout=10)
    except subprocess.TimeoutExpired:
        program.kill()
        program.wait()


def main():
    seconds, report, command = float(sys.argv[1]), sys.argv[2], sys.argv[3:]
    adopt_orphans()

    def ended(*_):
        kill_descendants()
        os._exit(1)

    signal.signal(signal.SIGTERM, ended)
    program = subprocess.Popen(command)
    timed_out = False
    try:
        program.wait(timeout=seconds)
    except subprocess.TimeoutExpired:
        timed_out = True
        stop(program)
    left = leftovers()
    kill_descendants()
    with open(report, "w") as file:
        json.dump({"status": program.returncode, "timed_out": timed_out,
                   "left": left}, file)


main()
